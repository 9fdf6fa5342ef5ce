# predict(type = "log_density") of a million cells, averaged over 50 draws, on a graphics card and on all
# processors, against the multiply-adds that it takes at the rate measured in the same run. Prints a table
# in Markdown; tools/gpu-test runs it. With the emulator named in WARPBAYES_TEST_PLUGIN, at sizes for a rehearsal.
suppressMessages(library(warpbayes))
if (nzchar(plugin <- Sys.getenv("WARPBAYES_TEST_PLUGIN"))) options(warpbayes.plugin = plugin)
rehearsal <- nzchar(plugin)
n <- if (rehearsal) 3000 else 1e6
p <- if (rehearsal) 3 else 14
draws <- if (rehearsal) 4 else 50

set.seed(1)
x <- matrix(rnorm(n * p), n) + rnorm(n, sd = 2)
number <- function(x) format(signif(x, 3))
rate <- function(backend, precision) warpbayes:::measure_multiply_add_rate(precision = precision, backend = backend)

cat(sprintf("Log densities of %s cells, %d markers, the mean over %d draws.\n\n", format(n, big.mark = ",", scientific = FALSE), p, draws))
cat("| components | precision | backend | seconds | seconds of multiply-adds alone | times that | identical |\n| --- | --- | --- | --- | --- | --- | --- |\n")
for (k in if (rehearsal) 5 else c(64, 256)) {
  for (precision in c("double", "single")) {
    fit <- dp_mixture(x, k, iter = draws + 10, warmup = 10, precision = precision, seed = 1, backend = "cuda", progress = FALSE)
    found <- list()
    for (backend in c("cuda", "cpu")) {
      ask <- function() found[[backend]] <<- predict(fit, type = "log_density", draws = draws, backend = backend)
      ask()
      seconds <- median(vapply(seq_len(if (backend == "cuda") 5 else 2), function(i) system.time(ask())[["elapsed"]], 0))
      least <- as.double(n) * k * draws * p * (p + 3) / 2 / rate(backend, precision)
      cat(sprintf("| %d | %s | %s | %s | %s | %s | %s |\n", k, precision, backend, number(seconds), number(least), number(seconds / least),
        identical(found$cuda, found[[backend]])))
    }
  }
}
