# Whole fits, and calls that a program repeats, while other programs keep cores busy: one thread, all threads, and all
# threads with WARPBAYES_FIXED_THREADS, which turns the look at the load off. The script makes the load itself: shells
# that loop. Takes about a quarter of an hour. Run it on an otherwise quiet machine: Rscript load.R > results/load.md
cores <- warpbayes::warp_info()$cores
fits <- c(
  "mixture, 9,083 cells" = "x <- cbind(matrix(rnorm(9083 * 3), 9083), c(rnorm(4083, 5), rnorm(5000)))
    run <- function() dp_mixture(x, iter = 60, seed = 1, threads = threads, progress = FALSE)",
  "regression, 100,000 rows" = "x <- data.frame(matrix(rnorm(1e6), 1e5))
    x$y <- rbinom(1e5, 1, plogis(x$X1))
    run <- function() bayes_logit(y ~ ., x, iter = 60, seed = 1, threads = threads, progress = FALSE)",
  "topic model, 2,000 documents" = "x <- matrix(rpois(2e6, .1), 2000)
    run <- function() topic_model(x, 50, iter = 60, seed = 1, threads = threads, progress = FALSE)",
  "25 sums of 20,000 pairs" = "x <- matrix(runif(64 * 2e4), 2e4)
    run <- function() for (i in 1:25) convolve_pmf(x, x, threads = threads)",
  "100 draws from 20,000 vectors, 5 times" = "x <- matrix(runif(2e6), 2e4)
    run <- function() for (i in 1:5) rcategorical(x, 100, seed = 1, threads = threads)",
  "25 predictions of 20,000 rows" = "x <- data.frame(matrix(rnorm(2e5), 2e4))
    x$y <- rbinom(2e4, 1, plogis(x$X1))
    fit <- bayes_logit(y ~ ., x, chains = 1, iter = 200, seed = 1, progress = FALSE)
    run <- function() for (i in 1:25) predict(fit, x, threads = threads)",
  "log density of 100,000 cells, 3 times" = "x <- matrix(rnorm(4e5), 1e5)
    fit <- dp_mixture(x[1:5000, ], 16, iter = 100, seed = 1, progress = FALSE)
    run <- function() for (i in 1:3) predict(fit, x, type = 'log_density', threads = threads)",
  "copula, 60 resamples of 500 steps" = "x <- rnorm(300)
    run <- function() predictive_resample(x, copula_density(), draws = 60, horizon = 500, seed = 1, threads = threads)"
)

# Seconds of a fit in a process of its own. The first fit loads and warms up.
seconds <- function(fit, threads, fixed) {
  script <- tempfile()
  on.exit(unlink(script))
  writeLines(c(
    "suppressMessages(library(warpbayes)); options(warpbayes.backend = 'cpu'); set.seed(1)",
    sprintf("threads <- %d", threads), fit, "invisible(run())",
    "cat(median(replicate(3, system.time(run())[['elapsed']])))"
  ), script)
  variable <- if (fixed) "WARPBAYES_FIXED_THREADS=yes" else character()
  as.double(system2(file.path(R.home("bin"), "Rscript"), script, stdout = TRUE, stderr = FALSE, env = variable))
}

cat("# Fits and calls on a busy machine\n\n")
cat(cores, " cores. Seconds of wall-clock time, medians of three.\n\n", sep = "")
cat("| fit or calls | busy programs | 1 thread |", cores, "threads |", cores, "threads, fixed number | all / one |\n")
cat("|---|---|---|---|---|---|\n")
for (load in unique(round(cores * c(0, 0.5, 1, 2, 5)))) {
  busy <- vapply(seq_len(load), function(i) {
    system2("sh", c("-c", shQuote("while :; do :; done > /dev/null 2>&1 & echo $!")), stdout = TRUE)
  }, "")
  Sys.sleep(1)
  for (name in names(fits)) {
    one <- seconds(fits[[name]], 1, FALSE)
    all <- seconds(fits[[name]], cores, FALSE)
    fixed <- seconds(fits[[name]], cores, TRUE)
    cat(sprintf("| %s | %d | %.2f | %.2f | %.2f | %.2f |\n", name, load, one, all, fixed, all / one))
  }
  tools::pskill(as.integer(busy))
}
