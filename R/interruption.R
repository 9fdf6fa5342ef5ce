# An interrupted run returns what is done, with a warning. The interrupt itself goes on to R, so that a loop around the
# run ends after the run has been assigned, as it would after any other interrupt.

# Called as the last thing before an interrupted run is returned: interrupts this process again, as if Ctrl-C were
# typed. R looks for interrupts once in about a thousand evaluations, and counts those of compiled code apart. Both
# counts begin anew here, so that R looks after the run has been assigned. On Windows a signal would end R:
# there the interrupt ends the run alone.
pass_interrupt_on <- function() {
  if (.Platform$OS.type != "windows") {
    restart_count(for (i in 1:10000) NULL)
    restart_count(eval(quote(for (i in 1:10000) (i))))
    interrupt_process()
  }
}

interrupt_process <- function() tools::pskill(Sys.getpid(), tools::SIGINT)

# Evaluates `code` until R looks for interrupts. Where the process ignores them, all of it.
restart_count <- function(code) {
  tryCatch(
    {
      interrupt_process()
      code
    },
    interrupt = function(condition) NULL
  )
}
