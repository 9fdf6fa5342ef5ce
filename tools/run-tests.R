# Runs tests/testthat with the installed package. WARPBAYES_TEST_BACKEND and WARPBAYES_TEST_PLUGIN choose the backend.
# WARPBAYES_TEST_FILTER is a regular expression for the names of the files to run. With WARPBAYES_TEST_ROTATE a fifth of
# the other files runs too, each day another one. Tests take a fifth of their long lists of cases. WARPBAYES_TEST_PART,
# 0 to 4, chooses the fifth instead of the date. The last line is "N passed, N failed, N skipped".
set <- function(option, variable) {
  value <- Sys.getenv(variable)
  if (nzchar(value)) options(structure(list(value), names = option))
}
set("warpbayes.backend", "WARPBAYES_TEST_BACKEND")
set("warpbayes.plugin", "WARPBAYES_TEST_PLUGIN")
filter <- Sys.getenv("WARPBAYES_TEST_FILTER")
# Tests of one run, which may last over midnight, have the same part.
part <- as.integer(Sys.getenv("WARPBAYES_TEST_PART", as.integer(Sys.Date()) %% 5L))
Sys.setenv(WARPBAYES_TEST_PART = part)
if (nzchar(Sys.getenv("WARPBAYES_TEST_ROTATE"))) {
  names <- sub("^test-(.*)[.]R$", "\\1", list.files("tests/testthat", "^test-.*[.]R$"))
  others <- grep(filter, names, value = TRUE, invert = TRUE)
  chosen <- c(grep(filter, names, value = TRUE), others[seq_along(others) %% 5L == part])
  filter <- sprintf("^(%s)$", paste(chosen, collapse = "|"))
}

library(testthat)
library(warpbayes)
print(warp_info())
cat(sprintf("part %d of 0 to 4\n", part))

tests <- test_dir("tests/testthat",
  reporter = "check", filter = if (nzchar(filter)) filter, stop_on_failure = FALSE,
  package = "warpbayes", load_package = "installed"
)
result <- as.data.frame(tests)
# The reporter leaves a list of problems of its own.
unlink("tests/testthat/testthat-problems.rds")
failed <- result$failed > 0 | result$error
skipped <- !failed & result$skipped
# Seconds of the processor, because other work on the machine changes the elapsed time. Processes that a test starts do
# not count.
result$seconds <- result$user + result$system
slow <- utils::head(result[order(-result$seconds), c("file", "test", "seconds")], 25L)
cat("slowest (processor time):\n", sprintf("  %5.1f s  %s: %s\n", slow$seconds, slow$file, slow$test), sep = "")
by_file <- sort(tapply(result$seconds, result$file, sum), decreasing = TRUE)
cat("by file (processor time):\n", sprintf("  %5.1f s  %s\n", by_file, names(by_file)), sep = "")
# Why tests were skipped, on a line that tests/campaigns/full-run.R puts on record.
reasons <- unlist(lapply(tests, function(test) {
  unlist(lapply(test$results, function(x) if (inherits(x, "expectation_skip")) sub("^Reason: ", "", x$message)))
}))
if (length(reasons)) {
  cat("skipped because:", paste(sprintf("%s (%d)", names(table(reasons)), table(reasons)), collapse = "; "), "\n")
}
# Once more at the end: tools/step and logs of continuous integration show only the last lines.
for (test in tests[failed]) {
  problems <- Filter(function(x) inherits(x, c("expectation_failure", "expectation_error")), test$results)
  shown <- vapply(problems, function(x) {
    sprintf("line %s: %s", c(x$srcref[1L], NA)[1L], substr(conditionMessage(x), 1L, 1000L))
  }, "")
  cat(sprintf("FAILED %s: %s\n%s\n", test$file, test$test, paste(utils::head(shown, 3L), collapse = "\n")))
}
cat(sprintf("%d passed, %d failed, %d skipped\n", sum(!failed & !skipped), sum(failed), sum(skipped)))
quit(status = as.integer(any(failed) || nrow(result) == 0L))
