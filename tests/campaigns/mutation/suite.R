# Runs tests until the first failure, which ends R with status 10.
#   Rscript suite.R LIBRARY PROGRESS LIMITS TEST...
# TEST is the name of a file without "test-" and ".R"; known-answers:TOPIC is one topic of the known answers. The file
# PROGRESS has the test that runs and its limit, or what failed. LIMITS are seconds, joined by commas.
arguments <- commandArgs(TRUE)
library(warpbayes, lib.loc = arguments[[1L]])
suppressPackageStartupMessages(library(testthat))
progress <- arguments[[2L]]
limits <- as.numeric(strsplit(arguments[[3L]], ",")[[1L]])
tests <- arguments[-(1:3)]
for (option in c("backend", "plugin")) {
  value <- Sys.getenv(paste0("WARPBAYES_TEST_", toupper(option)))
  if (nzchar(value)) options(structure(list(value), names = paste0("warpbayes.", option)))
}
note <- function(...) {
  writeLines(paste(...), paste0(progress, ".new"))
  file.rename(paste0(progress, ".new"), progress)
}

first_failure <- R6::R6Class("first_failure", inherit = testthat::Reporter, public = list(
  current = "",
  add_result = function(context, test, result) {
    if (inherits(result, c("expectation_failure", "expectation_error"))) {
      note("failed", paste0(self$current, ":"), gsub("\\s+", " ", paste(test, collapse = " ")))
      cat(format(result), "\n")
      tools::pskill(Sys.getpid(), 9L)
    }
  }
))$new()

for (i in seq_along(tests)) {
  part <- strsplit(tests[[i]], ":", fixed = TRUE)[[1L]]
  first_failure$current <- tests[[i]]
  note("running", tests[[i]], limits[[i]])
  env <- test_env("warpbayes")
  if (length(part) > 1L) {
    wanted <- paste("known answers:", part[[2L]])
    env$test_that <- function(desc, code) {
      if (desc == wanted) eval.parent(substitute(testthat::test_that(desc, code)))
    }
  }
  start <- sum(proc.time()[1:2])
  test_file(file.path("tests/testthat", paste0("test-", part[[1L]], ".R")), reporter = first_failure,
    package = "warpbayes", load_package = "installed", env = env)
  cat("passed", tests[[i]], sum(proc.time()[1:2]) - start, "\n")
}
note("passed")
