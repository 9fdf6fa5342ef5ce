# An interrupted run returns what is done. In a loop, the next run would start as if nothing had
# happened: it stops instead, if it belongs to the same command.

interruption <- new.env(parent = emptyenv())
interruption$pending <- FALSE
interruption_callback <- "warpbayes_interruption"

# Until the command that is being run ends.
note_interruption <- function() {
  if (!interruption$pending) {
    interruption$pending <- TRUE
    addTaskCallback(function(...) {
      interruption$pending <- FALSE
      FALSE
    }, name = interruption_callback)
  }
}

forget_interruption <- function() {
  if (interruption$pending) {
    interruption$pending <- FALSE
    removeTaskCallback(interruption_callback)
  }
}

# Called where a run begins.
heed_interruption <- function() {
  if (interruption$pending) {
    forget_interruption()
    message("The run before this one was interrupted; the command ends here.")
    stop_interrupted()
  }
}
