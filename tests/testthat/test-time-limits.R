# A time limit inside compiled code is an ordinary error of R, in a batch session too.
skip_where_repeated()

# Long calls along each way into compiled code that can be stopped, without those that R code stops between slices.
long_calls <- c(
  repeated = "rep_sum_pmf(pmf(rep(1 / 5e4, 5e4)), 2000)",
  sum = "sum_pmf(rep(list(pmf(rep(1 / 2e4, 2e4))), 2000))",
  convolution = "convolve_pmf(rep(1, 4e6), rep(1, 4e6), accuracy = 0)",
  compound = "compound_pmf(\"poisson\", pmf(rep(1 / 3e4, 3e4)), lambda = 3000)",
  draws = "rpolyagamma(2e8, 30.3, 1)",
  law = "ppolyagamma(seq(0.1, 1, length.out = 1e7), 2.5, 1)",
  quantiles = "qpolyagamma(seq(0.1, 0.9, length.out = 1e5), 2.5, 1)",
  categorical = "rcategorical(matrix(1, 4e4, 1e3), 3e3)",
  bootstrap = "predictive_resample(rnorm(1e4), bayesian_bootstrap(), functional = \"mean\", draws = 1e6, seed = 1)",
  mixture = "dp_mixture(matrix(rnorm(4e5), ncol = 4), components = 64, iter = 1e4, seed = 1, progress = FALSE)",
  regression = "bayes_logit(am ~ wt, mtcars, iter = 1e7, chains = 1, seed = 1, progress = FALSE)",
  topics = "topic_model(matrix(1:4e5 %% 3, 1000), 50, iter = 1e5, seed = 1, progress = FALSE)"
)

test_that("time limits and interrupts inside compiled code leave a batch session as any error does", {
  skip_on_cran()
  script <- tempfile(fileext = ".R")
  said <- tempfile()
  on.exit(unlink(c(script, said)))
  # Some fits end with what they have, in a warning.
  writeLines(c(
    sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")),
    "library(warpbayes)",
    # R's compiler of functions catches every error, and so an error about a limit that ends while it compiles.
    "invisible(compiler::enableJIT(0))",
    "options(warpbayes.threads = 1, warpbayes.backend = \"cpu\")",
    sprintf("said <- file(%s, \"w\")", deparse(said)),
    "stopped <- function(name, code) {",
    "  how <- tryCatch({",
    "    setTimeLimit(elapsed = 0.3, transient = TRUE)",
    "    code",
    "    \"ended\"",
    "  }, error = function(error) conditionMessage(error), warning = function(warning) \"kept\")",
    "  setTimeLimit()",
    "  writeLines(paste(name, how, sep = \": \"), said)",
    "}",
    sprintf("stopped(%s, %s)", vapply(names(long_calls), deparse, ""), long_calls),
    "close(said)"
  ), script)
  output <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), stdout = TRUE, stderr = TRUE)
  expect_null(attr(output, "status"), info = output)
  how <- readLines(said)
  expect_identical(sub(":.*", "", how), names(long_calls))
  expect_true(all(grepl("reached elapsed time limit|: kept$", how)), info = how)
})

test_that("an interrupt inside compiled code ends a batch session", {
  skip_on_cran()
  skip_on_os("windows")
  # A shell starts children in the background with SIGINT ignored, and R from 4.5 on leaves it so.
  heeding <- "env --default-signal=INT"
  skip_if(system(paste(heeding, "true"), ignore.stderr = TRUE) != 0L, "env cannot restore a signal here")
  for (how in c("interrupt = function(condition) \"caught\"", "error = function(error) \"caught\"")) {
    ready <- tempfile()
    process <- start_child(list(run = c(
      sprintf("said <- tryCatch(rep_sum_pmf(pmf(rep(1 / 5e4, 5e4)), 2000, threads = 1, backend = \"cpu\"), %s)", how),
      sprintf("writeLines(said, %s)", deparse(paste0(ready, ".said")))
    )), ready, heeding)
    Sys.sleep(0.5)
    interrupt(process)
    wait_for(function() !is_running(process), paste0(ready, ".log"))
    # A handler of errors does not catch an interrupt: R ends the script.
    expect_identical(file.exists(paste0(ready, ".said")), startsWith(how, "interrupt"))
  }
})
