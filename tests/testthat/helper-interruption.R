# Interrupts and other ways to stop a fit while it runs.

# A shell starts background jobs with SIGINT ignored, and R from 4.5 on leaves it ignored. Such a process cannot be
# interrupted.
skip_if_uninterruptible <- function() {
  skip_on_os("windows")
  status <- "/proc/self/status"
  ignored <- if (file.exists(status)) grep("^SigIgn:", readLines(status), value = TRUE) else character()
  last_digit <- strtoi(sub(".*(.)$", "\\1", ignored), 16L)
  skip_if(any(bitwAnd(last_digit, 2L) != 0L), "SIGINT is ignored: started in the background")
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

# Runs `code`, a fit, and calls act() in place of the progress signal after slice number `at`. Slices end where draws
# are kept.
after_slice <- function(at, act, code) {
  namespace <- asNamespace("warpbayes")
  original <- namespace$progress_signal
  set <- function(value) {
    unlockBinding("progress_signal", namespace)
    assign("progress_signal", value, envir = namespace)
    lockBinding("progress_signal", namespace)
  }
  on.exit(set(original))
  slices <- 0
  set(function(steps, bar) function(amount) if (!is.null(amount) && (slices <<- slices + 1) == at) act())
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
