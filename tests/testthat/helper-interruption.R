# Interrupts and other ways to stop a fit while it runs.

# A shell starts background jobs with SIGINT ignored, and R from 4.5 on leaves it ignored. Such a process cannot be
# interrupted.
skip_if_uninterruptible <- function() {
  skip_on_os("windows")
  skip_if(ignores_interrupts("self"), "SIGINT is ignored: started in the background")
}

# Whether a process ignores SIGINT, as Linux tells it; FALSE elsewhere.
ignores_interrupts <- function(process) {
  status <- sprintf("/proc/%s/status", process)
  ignored <- if (file.exists(status)) grep("^SigIgn:", readLines(status), value = TRUE) else character()
  last_digit <- strtoi(sub(".*(.)$", "\\1", ignored), 16L)
  any(bitwAnd(last_digit, 2L) != 0L)
}

# Sends each of these processes the signal of Ctrl-C.
interrupt <- function(process = Sys.getpid()) tools::pskill(process, tools::SIGINT)

# The value of `code`, a fit that was interrupted. The interrupt stays pending after the fit and must end the loop
# below.
then_interrupted <- function(code) {
  fit <- NULL
  heeded <- tryCatch({
    fit <- code
    for (i in 1:10000) (i)
    FALSE
  }, interrupt = function(condition) TRUE)
  testthat::expect_true(heeded)
  fit
}

# Runs `code`, a fit, and calls act() in place of the progress signal after slice number `at`. Slices of a mixture end
# where draws are kept meanwhile.
after_slice <- function(at, act, code) {
  namespace <- asNamespace("warpbayes")
  # Without a loop, in which R would notice the interrupt that the fit left pending.
  set <- function(name, value) {
    unlockBinding(name, namespace)
    assign(name, value, envir = namespace)
    lockBinding(name, namespace)
  }
  signal <- namespace$progress_signal
  together <- namespace$mixture_kept_together
  on.exit({
    set("progress_signal", signal)
    set("mixture_kept_together", together)
  })
  slices <- 0
  set("progress_signal", function(steps, bar) {
    function(amount) if (!is.null(amount) && (slices <<- slices + 1) == at) act()
  })
  set("mixture_kept_together", function(draws) 1)
  code
}

# The value of `code` and its last warning.
with_warning <- function(code) {
  said <- NULL
  value <- withCallingHandlers(code, warning = function(condition) {
    said <<- conditionMessage(condition)
    invokeRestart("muffleWarning")
  })
  list(value = value, said = said)
}
