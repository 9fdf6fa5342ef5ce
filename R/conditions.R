# Raises the errors of warpbayes. Each has class `warpbayes_error` and one of the subclasses `warpbayes_error_input`,
# `_device`, `_memory` and `_backend`.

# In the order of wb_status in src/backend/types.h, from 1.
status_class <- c("input", "device", "memory", "backend")

stop_warpbayes <- function(kind, message, ..., call = sys.call(-1L)) {
  # A part of the message that has no element or several must not empty or repeat it.
  if (length(message) != 1L) message <- if (length(message)) message[[1L]] else "a value has a length that is not 1"
  stop(structure(
    class = c(paste0("warpbayes_error_", kind), "warpbayes_error", "error", "condition"),
    list(message = message, call = call, ...)
  ))
}

# Raises the error about an argument. The message names the argument; callers show its value in `...`.
stop_input <- function(argument, ..., call = sys.call(-1L)) {
  stop_warpbayes("input", paste0("`", argument, "` ", ...), argument = argument, call = call)
}

# Calls an entry of the compiled code, which is the first argument. Entries raise no errors: they return a failure as an
# object, and the error is raised here. There is no argument for the entry because R CMD check looks up what .Call()
# names.
native <- function(...) {
  result <- .Call(...)
  if (is_failure(result)) {
    stop_failure(result, sys.call(-1L))
  }
  result
}

is_failure <- function(result) inherits(result, "warpbayes_failure")

# The status of an entry that found an interrupt between slices of its work.
status_interrupted <- 5L

stop_failure <- function(failure, call) {
  if (failure$status == status_interrupted) {
    stop_interrupted()
  }
  stop_warpbayes(status_class[[failure$status]], failure$message, call = call)
}

# Does what R does when it finds an interrupt.
stop_interrupted <- function() {
  signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
  invokeRestart("abort")
}

# Evaluates `code`, which prints `x`, and returns `x` invisibly. Anybody can change a part of a summary or a table. R's
# error then becomes an error that says so.
printed <- function(x, code, call = sys.call(-1L)) {
  tryCatch(code, error = function(error) {
    if (inherits(error, "warpbayes_error")) {
      error$call <- call
      stop(error)
    }
    stop_input("x", "cannot be printed, because a part of it was changed since it was made: ",
      shorten(paste(conditionMessage(error), collapse = " ")), call = call)
  })
  invisible(x)
}
