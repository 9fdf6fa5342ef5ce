# Passes a run's interrupt on to R, to end a loop around it, after the result has been assigned.

# As if Ctrl-C were typed. R checks for interrupts once in about a thousand evaluations. This restarts the counts, so
# that R checks only after the result has been assigned. On Windows a signal would end R.
pass_interrupt_on <- function() {
  if (.Platform$OS.type != "windows") {
    restart_count(for (i in 1:10000) NULL)
    restart_count(eval(quote(for (i in 1:10000) (i))))
    interrupt_process()
  }
}

# Interrupts and SIGUSR1 and SIGUSR2 wait. At a limit of the size of files, writing fails instead of ending R.
undivided <- function(code) holding_signals(suspendInterrupts(code))

holding_signals <- function(code) {
  if (.Call(C_signals_hold)) on.exit(.Call(C_signals_release))
  code
}

let_stop <- function() allowInterrupts(for (i in 1:6) Sys.sleep(0))

interrupt_process <- function() tools::pskill(Sys.getpid(), tools::SIGINT)

# Evaluates `code` until R finds the interrupt, or to its end if the process ignores interrupts.
restart_count <- function(code) {
  tryCatch(
    {
      interrupt_process()
      code
    },
    interrupt = function(condition) NULL
  )
}
