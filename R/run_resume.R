# resume(): reads a checkpoint, checks that the data are the same, and runs the remaining sweeps.

#' Resume a run from its checkpoint
#'
#' A fit with `control = warp_control(checkpoint = "file")` saves its progress to that file at intervals. If the run
#' stops, `resume("file", x)` runs the remaining sweeps. The result is the same, to the last bit, as that of a run that
#' was never stopped.
#'
#' The remaining sweeps may run on another number of threads, on a `cluster` or, in double precision, on a graphics
#' card. They update the same checkpoint.
#'
#' @param file name of the checkpoint.
#' @param x the fitted data, in the same form as in the first call: `x` of [dp_mixture()] or [topic_model()], the
#'   [row_reader()] if the fit had one, or `data` of [bayes_logit()] (`NULL` if it had none). Variables of a formula
#'   that are not in `data` are looked up where `resume()` is called.
#' @param checkpoint_every seconds from one checkpoint to the next; `NULL`: as before.
#' @param ... must be empty.
#' @inheritParams computing_arguments
#' @return The fit, of the class of the function that wrote the checkpoint.
#'
#' @section The file:
#' A checkpoint holds the model, the states of all chains, and all draws and traces so far. It does not hold the data,
#' but digests of them, so that `resume()` can refuse other data.
#'
#' If a checkpoint after the first cannot be written, there is a warning and the fit goes on. The disk needs room for
#' two checkpoints. A checkpoint is overwritten, even if it is of another fit: runs at the same time need a file each.
#' Other files are never overwritten.
#'
#' @section Trust:
#' Resume only from files whose source you trust: `unserialize()` reads the head, and the formula of a regression is
#' evaluated. A regression with a checkpoint takes only functions of package stats, by their names, as `na.action` and
#' `contrasts`, and contrasts as matrices.
#'
#' @section Errors:
#' `warpbayes_error_input` if the file is missing, not a checkpoint, damaged or from another version of warpbayes, or if
#' the data differ.
#' @seealso [continue()], which runs more sweeps than were asked for at first.
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
  if (!is.character(file) || length(file) != 1L || is.na(file) || !nzchar(file)) {
    stop_input("file", "must be the name of a file, not ", show_value(file))
  }
  if (missing(x) && file.exists(path.expand(file))) {
    stop_input("x", "is missing: the checkpoint does not hold the data, which are needed again")
  }
  progress <- check_progress(progress)
  if (!is.null(checkpoint_every)) checkpoint_every <- check_every(checkpoint_every)
  saved <- read_checkpoint(path.expand(file), file)
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
  fit <- intact(file, fit_with_data(topic, saved, x, envir))
  intact(file, check_fingerprint(saved$fingerprint, topic$fingerprint(fit)))
  run <- faster_run(run, fit_cost(fit, saved$total - fit$iter))
  intact(file, topic$check_state(fit))
  fit <- intact(file, put_arrays(fit, saved, topic$sampler, file))
  saved$arrays <- NULL
  fit$backend <- run_backend(run)
  fit$threads <- run$threads
  if (fit$iter < saved$total) {
    every <- if (is.null(checkpoint_every)) saved$every else checkpoint_every
    checkpoint <- check_checkpoint(file, every, saved$given, argument = "file")
    advance_chains(fit, saved$total - fit$iter, topic$sampler, run, progress, threads, checkpoint)
  } else {
    topic$sampler(fit)$finish(fit)
  }
}

# The data for workers that a connection leads to.
on_cluster <- function(x, connection) UseMethod("on_cluster")

on_cluster.default <- function(x, connection) x

# The user of resume() gave no markers and no formula, so errors about these are reported as errors about `x`.
fit_with_data <- function(topic, saved, x, envir) {
  tryCatch(topic$with_data(saved, x, envir), warpbayes_error_input = function(error) {
    if (identical(error$argument, "x")) stop(error)
    stop_input("x", "is not the data of the checkpoint: ", conditionMessage(error))
  })
}

# Evaluates `code`, which uses the content of the file. Even an undamaged file may hold nonsense, which raises errors
# of R. They become errors about the file.
intact <- function(file, code) {
  tryCatch(code, error = function(error) {
    if (inherits(error, "warpbayes_error")) stop(error)
    pass_on(error)
    refuse_checkpoint(file, "has a content that no version of warpbayes has written (", conditionMessage(error), ")")
  })
}

refuse_checkpoint <- function(file, ...) {
  stop_warpbayes("input", paste0("`file`, ", dQuote(shorten(file), FALSE), ", ", ...), argument = "file")
}

# Reading ------------------------------------------------------------------------

# The head of the checkpoint; its `arrays` are the values instead of their description. `shown` is the name of the file
# as the user gave it.
read_checkpoint <- function(file, shown) {
  refuse <- function(...) refuse_checkpoint(shown, ...)
  if (!file.exists(file)) refuse("does not exist")
  read <- function(result) {
    if (is_failure(result)) {
      if (result$status == 1L) refuse(result$message) else stop_failure(result)
    }
    result
  }
  found <- read(.Call(C_checkpoint_head, file))
  head <- tryCatch(unserialize(found[[1L]]), error = pass_on)
  reason <- intact(shown, wrong_head(head))
  if (!is.null(reason)) refuse(reason)
  bytes <- sum(head$arrays$length * ifelse(head$arrays$type == "integer", 4, 8))
  if (64 + length(found[[1L]]) + bytes != found[[3L]]) {
    refuse("is damaged: its parts do not have the size that it states")
  }
  values <- read(.Call(C_checkpoint_arrays, file, found[[2L]], head$arrays$type, head$arrays$length))
  head$arrays <- stats::setNames(values, head$arrays$name)
  head
}

# What is wrong with a head, in words, or NULL.
wrong_head <- function(head) {
  is_whole <- function(value, min, max) {
    is.double(value) && length(value) == 1L && !is.na(value) && value >= min && value <= max && value == floor(value)
  }
  is_text <- function(value) is.character(value) && length(value) == 1L && !is.na(value)
  unknown <- "has a head that no version of warpbayes has written"
  if (!is.list(head) || !is_text(head$package) || !is_text(head$class)) return(unknown)
  if (head$package != package_version_text()) {
    return(sprintf(
      "was written by warpbayes %s; this is version %s, whose sweeps may be others: resume it with version %s",
      head$package, package_version_text(), head$package
    ))
  }
  if (is.null(resumable_class(head$class))) {
    return(sprintf("holds a fit of class %s, which cannot be resumed", dQuote(head$class, FALSE)))
  }
  fit <- head$fit
  arrays <- head$arrays
  most <- .Machine$integer.max
  place <- place_of_code(head)
  if (!is.null(place)) {
    return(paste0("holds code or an environment in ", place, ", where no version of warpbayes writes any: ",
      "nothing of it was run"))
  }
  right <- is.list(fit) && inherits(fit, head$class) && is.call(fit$call) &&
    is_fingerprint(head$fingerprint) && is.list(head$given) &&
    is_whole(fit$chains, 1, 1e4) && is_whole(fit$warmup, 0, most) && is_whole(fit$thin, 1, most) &&
    is_whole(fit$seed, 0, 2^53) && is_whole(fit$iter, 0, most) && is_whole(head$total, fit$iter, most) &&
    is.numeric(head$every) && isTRUE(head$every >= 0) && length(head$every) == 1L &&
    is.double(fit$elapsed) && identical(names(fit$elapsed), c("start", "sweeps")) &&
    is.data.frame(arrays) && is.character(arrays$name) && all(arrays$type %in% c("double", "integer")) &&
    is.double(arrays$length) &&
    all(is.finite(arrays$length) & arrays$length >= 0 & arrays$length == floor(arrays$length)) &&
    is.list(fit$state) && length(fit$state) == fit$chains &&
    all(vapply(fit$state, function(state) {
      is.list(state) && is.raw(state$key) && length(state$key) == 8L && identical(state$sweep, fit$iter)
    }, NA))
  if (right) NULL else unknown
}

# Where `value` holds anything but plain values and names, as text, or NULL. The call of a fit may hold code, because
# resume() never evaluates it, and the formula is the code that the help page names.
place_of_code <- function(value, place = "head", depth = 0L) {
  if (place %in% c("head$fit$call", "head$fit$formula") && is.call(value)) return(NULL)
  plain <- c("NULL", "logical", "integer", "double", "complex", "character", "raw", "list", "symbol", "S4")
  if (depth > 50L || !typeof(value) %in% plain) return(shorten(place))
  # Names are attributes too, and are plain.
  inner <- attributes(value)
  inner <- inner[names(inner) != "names"]
  if (is.list(value)) inner <- c(inner, unclass(value))
  for (i in seq_along(inner)) {
    name <- if (is.null(names(inner))) i else names(inner)[[i]]
    found <- place_of_code(inner[[i]], paste0(place, "$", name), depth + 1L)
    if (!is.null(found)) return(found)
  }
}

is_fingerprint <- function(value) {
  is.list(value) && is.numeric(value$size) && is.character(names(value$size)) && is.character(value$parts) &&
    is.raw(value$digests) && identical(dim(value$digests), c(16L, length(value$parts)))
}

# The fit with the traces and draws of the checkpoint, in the dimensions that they have after fit$iter sweeps.
put_arrays <- function(fit, saved, sampler, file) {
  plan <- sampler(fit)
  dims <- stored_dims(plan, fit$iter, kept_draws(fit$iter, fit), fit$chains)
  dims <- c(dims$traces, dims$draws)
  parts <- c(plan$traces, plan$draws)
  fits <- identical(names(saved$arrays), names(parts)) && all(lengths(saved$arrays) == vapply(dims, prod, 0)) &&
    all(mapply(function(values, part) typeof(values) == typeof(part$blank), saved$arrays, parts))
  if (!fits) refuse_checkpoint(file, "is damaged: its chains, sweeps and draws do not agree")
  values <- Map(function(values, dim) {
    dim(values) <- dim
    values
  }, saved$arrays, dims)
  for (name in names(plan$traces)) {
    fit[[name]] <- values[[name]]
  }
  fit$draws <- lapply(stats::setNames(nm = names(plan$draws)), function(name) {
    kept <- values[[name]]
    names <- plan$draws[[name]]$names
    if (!is.null(names)) dimnames(kept) <- c(names, list(NULL, NULL))
    kept
  })
  fit
}

without_parts <- function(fit, names) {
  fit[names] <- list(NULL)
  fit
}

# do.call() puts the values of the data into the call. They are replaced by the name of the argument.
call_without_data <- function(call, argument) {
  if (!is.null(call[[argument]]) && !is.language(call[[argument]])) call[[argument]] <- as.name(argument)
  call
}
