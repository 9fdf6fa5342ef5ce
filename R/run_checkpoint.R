# Writes checkpoints: files for continuing a killed run. R/run_resume.R reads them.
#
# A checkpoint has a head of text, which R/run_fields.R describes. The values of the fields of checkpoint_head(), traces
# and kept draws follow as in memory; src/checkpoint/file.h has the bytes around them.

# Fails before any sweep if the file cannot be written. The path is absolute, since the folder may change.
check_checkpoint <- function(checkpoint, every, given = list(), argument = "checkpoint") {
  every <- check_every(every)
  if (is.null(checkpoint)) return(NULL)
  file <- check_target(checkpoint, argument, function(file) {
    failure <- .Call(C_checkpoint_is_one, file)
    if (is_failure(failure)) paste0("names a file that ", failure$message, ", and is not overwritten")
  })
  target <- list(file = file, every = every, given = given, argument = argument)
  free_checkpoint(hold_checkpoint(target))
  failure <- .Call(C_checkpoint_try, file)
  if (is_failure(failure)) {
    stop_input(argument, "cannot be written to ", dQuote(shorten(checkpoint), FALSE), ": ", shorten(failure$message))
  }
  target
}

check_every <- function(every) {
  must_be(is_one_number(every) && every >= 0, "checkpoint_every", "a number of seconds of at least 0", every)
  as.double(every)
}

# The absolute name of a file to write. `refusal`: a function of an existing file, with the words why it must stay.
check_target <- function(file, argument, refusal, advice = NULL) {
  must_be(is_text(file, 1L) && nzchar(file), argument, "NULL or the name of a file", file)
  shown <- dQuote(shorten(file), FALSE)
  path <- path.expand(file)
  if (!dir.exists(dirname(path))) {
    stop_input(argument, "is ", shown, ", but there is no folder ", dQuote(shorten(dirname(path)), FALSE))
  }
  if (!file.exists(path)) {
    is_link <- nzchar(Sys.readlink(path), keepNA = TRUE) %in% TRUE
    if (is_link) stop_input(argument, "is a symbolic link to a file that does not exist: ", shown)
    return(file.path(normalizePath(dirname(path)), basename(path)))
  }
  refused <- refusal(path)
  if (length(refused)) stop_input(argument, refused, ": ", shown, advice)
  normalizePath(path)
}

hold_checkpoint <- function(checkpoint) {
  if (is.null(checkpoint)) return(NULL)
  lock <- .Call(C_checkpoint_hold, checkpoint$file)
  if (is_failure(lock)) {
    stop_input(checkpoint$argument, "is in use, ", dQuote(shorten(checkpoint$file), FALSE), ": ", lock$message)
  }
  list(file = checkpoint$file, lock = lock)
}

free_checkpoint <- function(held) if (!is.null(held)) .Call(C_checkpoint_free, held$file, held$lock)

# Checkpoints take at most this share of the time, unless `checkpoint_every` is 0.
checkpoint_share <- 1 / 20

checkpoint_writer <- function(fit, plan, total, checkpoint) {
  if (is.null(checkpoint)) return(function(...) invisible())
  now <- function() proc.time()[["elapsed"]]
  head <- checkpoint_head(fit, plan, total, checkpoint)
  before <- fit$elapsed[["sweeps"]]
  saved <- -1
  due <- -Inf
  warned <- FALSE
  function(fit, store, seconds, always = FALSE) {
    started <- now()
    done <- fit$state[[1L]]$sweep
    if (done == saved || !(always || started >= due)) return(invisible())
    head$fit$iter <- done
    # A state keeps sums that grow while a sampler runs in an environment, as `store`. A checkpoint has copies of them.
    head$state <- lapply(fit$state, lapply, function(part) {
      if (is.environment(part)) c(mget(setdiff(ls(part), "store"), part), native(C_store_copy, part$store)) else part
    })
    head$fit$elapsed[["sweeps"]] <- before + seconds
    failure <- write_checkpoint(checkpoint$file, head, plan, store)
    if (!is.null(failure)) {
      message <- paste0("the checkpoint ", dQuote(checkpoint$file, FALSE), " cannot be written: ", failure$message)
      if (saved < 0) stop_warpbayes("input", paste0("`checkpoint`: ", message), argument = "checkpoint")
      if (!warned) {
        warning(message, ". The one after sweep ", format(saved, scientific = FALSE), " stands, and the fit goes on",
          call. = FALSE, immediate. = TRUE)
        warned <<- TRUE
      }
    } else {
      saved <<- done
    }
    due <<- now() + if (checkpoint$every > 0) max(checkpoint$every, (now() - started) / checkpoint_share) else 0
    invisible()
  }
}

# `total`: sweeps of each chain, including those done; `every`: seconds from one checkpoint to the next; `given`: what
# resume() needs to read the user's data; `arrays`: the names of traces and draws. The writer adds the chains' `state`.
checkpoint_head <- function(fit, plan, total, checkpoint) {
  topic <- resumable(fit)
  light <- topic$without_data(fit)
  light[setdiff(names(light), sub("[$].*", "", names(topic$fields)))] <- list(NULL)
  light$interrupted <- FALSE
  refuse <- function(path, rule) {
    stop_input("checkpoint", "cannot hold the part `", paste(path, collapse = "$"), "` of the fit, which is not ", rule)
  }
  check_fields(unclass(light), topic$fields, refuse)
  check_fields(checkpoint["given"], c(given = "list", topic$given), refuse)
  list(package = package_version_text(), class = class(fit)[[1L]], total = as.double(total), every = checkpoint$every,
    given = checkpoint$given, fingerprint = topic$fingerprint(fit), arrays = names(c(plan$traces, plan$draws)),
    fit = unclass(light))
}

write_checkpoint <- function(file, head, plan, store) {
  kept <- kept_draws(head$fit$iter, head$fit)
  length <- vapply(c(store$traces, store$draws), prod, 0)
  stride <- chain_lengths(store$traces, store$draws)
  run <- c(rep(head$fit$iter, length(store$traces)), vapply(store$draws, draw_size, 0) * kept)
  runs <- ifelse(stride > 0, length / pmax(stride, 1), 0)
  type <- vapply(c(plan$traces, plan$draws), function(part) typeof(part$blank), "")
  fields <- to_fields(head)
  lines <- c(fields$lines, paste(type, format(runs * run, scientific = FALSE, trim = TRUE))[seq_along(type)])
  failure <- undivided(.Call(C_checkpoint_write, file, charToRaw(paste(lines, collapse = "\n")), fields$values,
    store$pointer, as.double(stride), as.double(run)))
  if (is_failure(failure)) failure
}

# For a class with checkpoints a list, otherwise NULL. The list has
#   sampler       as R/run_chains.R describes it;
#   without_data  function(fit): the fit with its data set to NULL, so that the order of its elements stays;
#   with_data     function(saved, x, envir): the fit in the head `saved`, with its data made from the user's `x`;
#   fingerprint   function(fit): the fingerprint of the data in a fit;
#   fields        the table of the fields of a fit without its data (R/run_fields.R);
#   given         the same for `given` in the head;
#   state         the table of the fields of a chain's state, and
#   sizes         NULL, or function(fit): further sizes that this table needs, as a list.
resumable <- function(x) UseMethod("resumable")

resumable.default <- function(x) NULL

resumable_class <- function(class) resumable(structure(list(), class = class))
