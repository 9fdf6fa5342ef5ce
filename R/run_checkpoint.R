# Writes checkpoints: files for continuing a killed run. advance() of R/run_chains.R writes one when it begins, between
# slices, and when it ends. R/run_resume.R reads them.
#
# A checkpoint has a head, serialized by R. The traces and kept draws follow as they are in memory, one array after the
# other. The head is a list of
#   package      the version of warpbayes, as text;
#   class        the class of the fit; see resumable() below;
#   fit          the fit, with NULL in the places of its data, traces and draws;
#   total        sweeps that each chain is to run, including those done;
#   every        seconds from one checkpoint to the next;
#   given        a list of other arguments that resume() needs to read the user's data;
#   fingerprint  of the data, see fingerprint_of();
#   arrays       a data frame of the names, types and lengths of the arrays.
# src/checkpoint/file.h describes the bytes around them.

# Checks the arguments `checkpoint` and `checkpoint_every`. Returns NULL, or a list of `file` (an absolute path, because
# the working directory may change), `every` and `given`. A file that cannot be written is an error here, before any
# sweep.
check_checkpoint <- function(checkpoint, every, given = list(), argument = "checkpoint") {
  every <- check_every(every)
  if (is.null(checkpoint)) return(NULL)
  if (!is.character(checkpoint) || length(checkpoint) != 1L || is.na(checkpoint) || !nzchar(checkpoint)) {
    stop_input(argument, "must be NULL or the name of a file, not ", show_value(checkpoint))
  }
  file <- path.expand(checkpoint)
  if (!dir.exists(dirname(file))) {
    stop_input(argument, "is ", dQuote(shorten(checkpoint), FALSE), ", but there is no folder ",
      dQuote(shorten(dirname(file)), FALSE))
  }
  if (is_dangling(file)) {
    stop_input(argument, "is a symbolic link to a file that does not exist: ", dQuote(shorten(checkpoint), FALSE))
  }
  if (file.exists(file)) {
    failure <- .Call(C_checkpoint_is_one, file)
    if (is_failure(failure)) {
      stop_input(argument, "names a file that ", failure$message, ", and is not overwritten: ",
        dQuote(shorten(checkpoint), FALSE))
    }
    file <- normalizePath(file)
  } else {
    file <- file.path(normalizePath(dirname(file)), basename(file))
  }
  remove_leftovers(file)
  failure <- .Call(C_checkpoint_try, file)
  if (is_failure(failure)) {
    stop_input(argument, "cannot be written to ", dQuote(shorten(checkpoint), FALSE), ": ", shorten(failure$message))
  }
  list(file = file, every = every, given = given)
}

check_every <- function(every) {
  if (!is.numeric(every) || length(every) != 1L || is.na(every) || every < 0) {
    stop_input("checkpoint_every", "must be a number of seconds of at least 0, not ", show_value(every))
  }
  as.double(every)
}

is_link <- function(file) nzchar(Sys.readlink(file), keepNA = TRUE) %in% TRUE
is_dangling <- function(file) !file.exists(file) && is_link(file)

# Deletes temporary files of processes of this machine that were killed while they wrote. src/checkpoint/file.h has the
# form of their names. A file that holds anything else stays. Signal 0 asks whether a process exists. On
# Windows it would end the process.
remove_leftovers <- function(file) {
  if (.Platform$OS.type == "windows") return(invisible())
  names <- list.files(dirname(file), all.files = TRUE)
  end <- substring(names, nchar(basename(file)) + 1L)
  form <- sprintf("^\\.%s\\.([0-9]{1,9})\\.[0-9a-f]{16}\\.tmp$", .Call(C_checkpoint_host))
  fits <- startsWith(names, basename(file)) & grepl(form, end)
  process <- as.integer(sub(form, "\\1", end[fits]))
  left <- file.path(dirname(file), names[fits][!vapply(process, tools::pskill, NA, signal = 0L)])
  for (name in left[!is_link(left)]) {
    # A process may be killed before it writes the first byte.
    if (identical(file.size(name), 0) || !is_failure(.Call(C_checkpoint_is_one, name))) unlink(name)
  }
}

# Writing -----------------------------------------------------------------------

# Checkpoints take at most this share of the time, unless `checkpoint_every` is 0.
checkpoint_share <- 1 / 20

# Returns save(fit, store, seconds, always), which writes a checkpoint if one is due or if `always`. It has the states
# in `fit`, and the traces and draws in `store` up to these states. `seconds` is the time since the run began. If the
# first checkpoint fails, that is an error. If a later one fails, there is one warning, and the last checkpoint stays.
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
    head$fit$state <- lapply(fit$state, function(state) lapply(state, without_environment))
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

# A state keeps sums that grow while a sampler runs in an environment, as `store`, with `added` beside it. A checkpoint
# has copies of the sums.
without_environment <- function(part) {
  if (is.environment(part)) c(list(added = part$added), native(C_store_copy, part$store)) else part
}

checkpoint_head <- function(fit, plan, total, checkpoint) {
  topic <- resumable(fit)
  light <- topic$without_data(fit)
  light[intersect(names(light), c("draws", "state", names(plan$traces)))] <- list(NULL)
  light$interrupted <- FALSE
  list(
    package = package_version_text(), class = class(fit)[[1L]], fit = light, total = total, every = checkpoint$every,
    given = checkpoint$given, fingerprint = topic$fingerprint(fit)
  )
}

# Returns NULL, or a failure.
write_checkpoint <- function(file, head, plan, store) {
  done <- head$fit$iter
  kept <- kept_draws(done, head$fit)
  parts <- c(plan$traces, plan$draws)
  length <- vapply(c(store$traces, store$draws), prod, 0)
  stride <- chain_lengths(store$traces, store$draws)
  run <- c(rep(done, length(store$traces)), vapply(store$draws, draw_size, 0) * kept)
  runs <- ifelse(stride > 0, length / pmax(stride, 1), 0)
  type <- vapply(parts, function(part) typeof(part$blank), "")
  head$arrays <- data.frame(name = names(parts), type = type, length = runs * run, stringsAsFactors = FALSE)
  failure <- .Call(
    C_checkpoint_write, file, serialize(head, NULL, xdr = TRUE, version = 3L), store$pointer, as.double(stride),
    as.double(run)
  )
  if (is_failure(failure)) failure
}

# What each class of fits adds --------------------------------------------------------

# For a class with checkpoints a list, otherwise NULL. The list has
#   sampler       as R/run_chains.R describes it;
#   without_data  function(fit): the fit with its data set to NULL, so that the order of its elements stays;
#   with_data     function(saved, x, envir): the fit in the head `saved`, with its data made from the user's `x`;
#   fingerprint   function(fit): the fingerprint of the data in a fit;
#   check_state   function(fit): raises an error if R code cannot use the states. The compiled code checks them too.
resumable <- function(x) UseMethod("resumable")

resumable.default <- function(x) NULL

# The same by the name of the class, which a file holds.
resumable_class <- function(class) resumable(structure(list(), class = class))
