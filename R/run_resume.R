# resume(): reads a checkpoint, checks that the data are the same, and runs the remaining sweeps.

#' Resume a run from its checkpoint
#'
#' A fit with `control = warp_control(checkpoint = "file")` saves its progress to that file at intervals.
#' `resume("file", x)` runs the remaining sweeps, on any threads, workers or, in double precision, graphics cards, and
#' updates the checkpoint. The result is the same, to the last bit, as without the stop.
#'
#' @param file name of the checkpoint.
#' @param x the fitted data, in the same form as in the first call: `x` of [dp_mixture()] or [topic_model()], the
#'   [row_reader()], or `data` of [bayes_logit()].
#' @param checkpoint_every seconds from one checkpoint to the next; `NULL`: as before.
#' @param ... must be empty.
#' @inheritParams computing_arguments
#' @return The fit, of the class of the function that wrote the checkpoint.
#' @section The file:
#' A checkpoint holds the model, the states, draws and traces, and digests of the data. The disk needs room for two. If
#' one after the first cannot be written, there is a warning and the fit goes on. Another fit's checkpoint is
#' overwritten, unless a process still writes it. Other files are never overwritten.
#'
#' @section Trust:
#' Of a checkpoint only the formula is evaluated, with functions of models, such as `log()` or `poly()`, and functions
#' in your workspace. To allow another function, assign it there first.
#'
#' @section Errors:
#' `warpbayes_error_input` if the file is not a checkpoint, damaged or of another version, or if the data differ.
#' @examples
#' x <- cbind(a = c(rnorm(200), rnorm(100, 6)), b = rnorm(300))
#' file <- tempfile()
#' control <- warp_control(checkpoint = file)
#' fit <- dp_mixture(x, components = 4, iter = 100, threads = 2, control = control)
#' # Had the fit been stopped, this would run the remaining sweeps.
#' again <- resume(file, x, threads = 2)
#' identical(again$draws, fit$draws)
#' unlink(file)
#' @export
resume <- function(file, x, backend = NULL, threads = NULL, progress = NULL, checkpoint_every = NULL, ...,
                   cluster = NULL) {
  check_dots_empty(...)
  require_arguments("file")
  if (!is_text(file, 1L) || !nzchar(file)) stop_input("file", "must be the name of a file, not ", show_value(file))
  if (missing(x) && file.exists(path.expand(file))) {
    stop_input("x", "is missing: the checkpoint does not hold the data, which are needed again")
  }
  progress <- check_progress(progress)
  if (!is.null(checkpoint_every)) checkpoint_every <- check_every(checkpoint_every)
  name <- path.expand(file)
  # A file that another process replaces could change while it is read.
  if (file.exists(name) && !is_failure(.Call(C_checkpoint_is_one, name))) {
    free_checkpoint(hold_checkpoint(list(file = normalizePath(name), argument = "file")))
  }
  saved <- read_checkpoint(name, file)
  if (!is.null(cluster) && saved$class != "dp_mixture") {
    stop_input("cluster", "is given, but the checkpoint is of a fit from ", saved$class,
      "(): only dp_mixture() runs on a cluster")
  }
  run <- resolve_run(backend, threads, cluster = cluster)
  topic <- resumable_class(saved$class)
  envir <- parent.frame()
  if (!is.null(run$cluster)) {
    run$cluster$keeps <- TRUE
    on.exit(leave_cluster(run$cluster))
    x <- on_cluster(x, run$cluster)
  }
  intact(file, {
    unknown <- unknown_call(saved$fit$formula, envir)
    if (length(unknown)) {
      stop("its formula calls ", unknown, "(), which is not in your workspace: assign it there if you trust the file")
    }
    saved$fit["call"] <- list(trusted_call(saved$fit$call, saved$class, envir))
    # The user gave no markers and no formula here, so errors about these are reported as errors about `x`.
    fit <- tryCatch(topic$with_data(saved, x, envir), warpbayes_error_input = function(error) {
      if (identical(error$argument, "x")) stop(error)
      stop_input("x", "is not the data of the checkpoint: ", conditionMessage(error))
    })
    check_fingerprint(saved$fingerprint, topic$fingerprint(fit))
    check_states(fit, topic, refuse_field(file, "fit"))
    run <- faster_run(run, fit_cost(fit, saved$total - fit$iter))
    fit <- put_arrays(fit, saved, topic$sampler, file)
    saved$arrays <- NULL
    fit$backend <- run_backend(run)
    fit$threads <- run$threads
    if (fit$iter < saved$total) {
      checkpoint <- check_checkpoint(file, c(checkpoint_every, saved$every)[[1L]], saved$given, argument = "file")
      advance_chains(fit, saved$total - fit$iter, topic$sampler, run, progress, threads, checkpoint)
    } else {
      topic$sampler(fit)$finish(fit)
    }
  })
}

on_cluster <- function(x, connection) UseMethod("on_cluster")

on_cluster.default <- function(x, connection) x

# Evaluates `code`. An error that is not about the user's data becomes one about the file.
intact <- function(file, code) {
  tryCatch(code, error = function(error) {
    pass_on(error)
    is_own <- inherits(error, "warpbayes_error")
    if (is_own && (identical(error$argument, "x") || startsWith(conditionMessage(error), "`file`"))) stop(error)
    if (!is_own) refuse_checkpoint(file, "does not hold a fit that can go on (", short_message(error), ")")
    error$message <- paste0("`file`, ", show_value(file), ", cannot be resumed: ", conditionMessage(error))
    stop(error)
  })
}

refuse_checkpoint <- function(file, ...) {
  stop_warpbayes("input", paste0("`file`, ", show_value(file), ", ", ...), argument = "file")
}

refuse_field <- function(file, place) {
  function(path, rule) {
    refuse_checkpoint(file, "has a field ", shorten(paste(c(place, path), collapse = "$")), " that is not ", rule,
      ": no version of warpbayes has written it")
  }
}

formula_functions <- c("~", "+", "-", "*", "/", "^", ":", "%in%", "%%", "%/%", "|", "||", "(", "[", "[[", "$", "c", "I",
  "!", "&", "&&", "==", "!=", "<", ">", "<=", ">=", "is.na", "ifelse", "log", "log2", "log10", "log1p", "exp", "expm1",
  "sqrt", "abs", "sign", "sin", "cos", "tan", "plogis", "qlogis", "floor", "ceiling", "round", "signif", "pmin", "pmax",
  "mean", "median", "sd", "min", "max", "sum", "factor", "as.factor", "ordered", "as.ordered", "as.numeric",
  "as.integer", "as.character", "as.logical", "as.Date", "cut", "findInterval", "interaction", "relevel", "droplevels",
  "poly", "scale", "offset", "cbind", "list", "ns", "bs", "s", "t2", "car", "rw", "ar1", "qr", "rank", "nchar", "rev")

# The call of a fit, which predict() and update() evaluate in parts. An argument that calls other functions is lost.
trusted_call <- function(call, maker, envir) {
  known <- c(formula_functions, "warp_control", "dp_prior", "logit_prior")
  if (length(call)) call[[1L]] <- as.name(maker)
  for (name in setdiff(names(call), "")) {
    if (length(unknown_call(call[[name]], envir, known))) call[[name]] <- as.name(name)
  }
  if (length(unknown_call(call, envir, c(maker, known)))) stop("its call has arguments without names")
  call
}

# The first function in `code` that is neither known nor the user's own, between `envir` and the workspace.
unknown_call <- function(code, envir, known = formula_functions) {
  if (!is.call(code)) return(NULL)
  name <- if (is.name(code[[1L]])) as.character(code[[1L]]) else ""
  is_own <- function(place) {
    if (isNamespace(place) || identical(place, emptyenv())) return(FALSE)
    if (exists(name, place, mode = "function", inherits = FALSE)) return(TRUE)
    !identical(place, globalenv()) && is_own(parent.env(place))
  }
  if (!nzchar(name) || !name %in% known && !is_own(envir)) {
    return(shorten(paste(deparse(code[[1L]], nlines = 1L), collapse = "")))
  }
  unlist(lapply(Filter(is.call, as.list(code)[-1L]), unknown_call, envir, known))[1L]
}

# `shown`: the file as the user named it.
read_checkpoint <- function(file, shown) {
  refuse <- function(...) refuse_checkpoint(shown, ...)
  if (!file.exists(file)) refuse("does not exist")
  read <- function(result) {
    if (is_failure(result) && result$status == 1L) refuse(result$message)
    if (is_failure(result)) stop_failure(result)
    result
  }
  found <- read(.Call(C_checkpoint_head, file))
  sizes <- tryCatch(stored_sizes(rawToChar(found[[1L]])), error = pass_on)
  if (is.null(sizes)) refuse("has a head that no version of warpbayes has written")
  if (64 + length(found[[1L]]) + sizes$bytes != found[[3L]]) {
    refuse("is damaged: its parts do not have the size that it states")
  }
  stored <- nzchar(sizes$type)
  values <- read(.Call(C_checkpoint_arrays, file, found[[2L]], sizes$type[stored], sizes$length[stored]))
  intact(shown, check_head(from_fields(sizes, values), shown))
}

check_head <- function(read, shown) {
  head <- read$value
  if (!is.list(head) || !is_text(head$package, 1L) || !is_text(head$class, 1L)) {
    refuse_checkpoint(shown, "has a head that no version of warpbayes has written")
  }
  written <- shorten(head$package)
  if (written != package_version_text()) {
    refuse_checkpoint(shown, "was written by warpbayes ", written, "; this is version ", package_version_text(),
      ", whose sweeps may be others: resume it with version ", written)
  }
  topic <- resumable_class(head$class)
  if (is.null(topic)) {
    refuse_checkpoint(shown, "holds a fit of class ", show_value(head$class), ", which cannot be resumed")
  }
  parts <- names(head) %in% c("fit", "state")
  check_fields(head[!parts], c(head_fields, topic$given), refuse_field(shown, "head"))
  sizes <- check_fields(head$fit, topic$fields, refuse_field(shown, "fit"))
  if (!is.list(head$state) || length(head$state) != sizes$chains || sizes$iter > head$total ||
    length(read$rest) != length(head$arrays)) {
    refuse_checkpoint(shown, "is damaged: its chains, sweeps and draws do not agree")
  }
  head$fit <- structure(unclass(head$fit), class = c(head$class, "warpbayes_fit", "warpbayes"))
  head$fit["state"] <- list(lapply(head$state, unclass))
  head$arrays <- stats::setNames(read$rest, head$arrays)
  head
}

check_states <- function(fit, topic, refuse) {
  sizes <- c(if (!is.null(topic$sizes)) topic$sizes(fit), field_sizes(unclass(fit)))
  rules <- field_rules(topic$state)
  for (chain in seq_along(fit$state)) {
    check_fields(fit$state[[chain]], topic$state, function(path, rule) {
      refuse(paste(c(sprintf("state[[%d]]", chain), path), collapse = "$"), rule)
    }, sizes, rules)
  }
}

put_arrays <- function(fit, saved, sampler, file) {
  plan <- sampler(fit)
  dims <- stored_dims(plan, fit$iter, kept_draws(fit$iter, fit), fit$chains)
  dims <- c(dims$traces, dims$draws)
  parts <- c(plan$traces, plan$draws)
  fits <- identical(names(saved$arrays), names(parts)) && all(lengths(saved$arrays) == vapply(dims, prod, 0)) &&
    identical(lapply(saved$arrays, typeof), lapply(parts, function(part) typeof(part$blank)))
  if (!fits) refuse_checkpoint(file, "is damaged: its chains, sweeps and draws do not agree")
  values <- Map(`dim<-`, saved$arrays, dims)
  fit[names(plan$traces)] <- values[names(plan$traces)]
  fit$draws <- lapply(stats::setNames(nm = names(plan$draws)), function(name) {
    kept <- values[[name]]
    names <- plan$draws[[name]]$names
    if (!is.null(names)) dimnames(kept) <- c(names, list(NULL, NULL))
    kept
  })
  fit
}

# do.call() puts the values of the data into the call. They are replaced by the name of the argument.
call_without_data <- function(call, argument) {
  if (!is.null(call[[argument]]) && !is.language(call[[argument]])) call[[argument]] <- as.name(argument)
  call
}
