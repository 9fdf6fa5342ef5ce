# Refuses each allocation of each call in turn; tests/campaigns/allocations/run.sh says how to run it.
source("tests/campaigns/audit/fixtures.R")
most <- as.numeric(commandArgs(TRUE))
dll <- dyn.load("build/allocations/allocations.so")
arm <- function(at) invisible(.C(getNativeSymbolInfo("allocations_arm", dll)$address, as.integer(at)))
count <- function() unlist(.C(getNativeSymbolInfo("allocations_count", dll)$address, 0L, 0L))
invisible(list2env(fixtures(), globalenv()))
pdf(NULL)
sink(file("/dev/null", "w"))

# Times differ from run to run.
timeless <- function(x) {
  if (is.list(x)) x[intersect(names(x), c("elapsed", "call"))] <- NULL
  x
}
attempt <- function(call) {
  set.seed(1)
  tryCatch(suppressMessages(suppressWarnings(eval(call, new.env(parent = globalenv())))), error = identity)
}

calls <- read_calls(paste0(pmf_calls, fit_calls))$call
refusals <- errors <- parts <- 0
wrong <- character()
for (call in calls) {
  # The first run fills what is kept between calls.
  arm(0)
  expected <- timeless(attempt(call))
  if (inherits(expected, "error") || count()[[1L]] == 0) next
  arm(0)
  again <- timeless(attempt(call))
  made <- count()[[1L]]
  same <- identical(expected, again, ignore.environment = TRUE, ignore.bytecode = TRUE)
  again <- NULL
  invisible(gc())
  held <- count()[[2L]]
  for (at in unique(round(seq(1, made, length.out = min(made, most))))) {
    cat(at, deparse1(call), "\n", file = "build/allocations/last.txt")
    arm(at)
    found <- timeless(attempt(call))
    arm(0)
    refusals <- refusals + 1
    text <- if (inherits(found, "error")) conditionMessage(found)
    if (inherits(found, "warpbayes_error")) {
      errors <- errors + 1
      if (!nzchar(text)) wrong <- c(wrong, paste(at, deparse1(call), "an empty message"))
    } else if (!is.null(text)) {
      wrong <- c(wrong, paste(at, deparse1(call), "an error of R:", text))
    } else if (is.list(found) && isTRUE(found$interrupted) && found$iter < expected$iter) {
      parts <- parts + 1
    } else if (same && !identical(expected, found, ignore.environment = TRUE, ignore.bytecode = TRUE)) {
      wrong <- c(wrong, paste(at, deparse1(call), "another value"))
    }
    found <- NULL
  }
  invisible(gc())
  left <- count()[[2L]]
  if (left > held) wrong <- c(wrong, sprintf("%s: %d allocations are left", deparse1(call), left - held))
}
sink()
cat(substr(wrong, 1L, 300L), sep = "\n")
cat(sprintf("%d refusals of memory: %d errors of warpbayes, %d fits of the sweeps before\n", refusals, errors, parts))
cat(sprintf("%d passed, %d failed\n", refusals - length(wrong), length(wrong)))
quit(status = as.integer(length(wrong) > 0L || refusals < 100L))
