# predict(type = "log_density") of a million cells, averaged over 50 draws, on a graphics card and on all processors,
# against the multiply-adds that it takes at the rate measured in the same run. Prints a table in Markdown.
source("common.R")
rehearsal <- use_card()
n <- if (rehearsal) 3000 else 1e6
p <- if (rehearsal) 3 else 14
draws <- if (rehearsal) 4 else 50

set.seed(1)
x <- matrix(rnorm(n * p), n) + rnorm(n, sd = 2)

cat(sprintf("Log densities of %s cells, %d markers, the mean over %d draws.\n\n", count(n), p, draws))
header("components", "precision", "backend", "seconds", "seconds of multiply-adds alone", "times that", "identical")
for (k in if (rehearsal) 5 else c(64, 256)) {
  for (precision in c("double", "single")) {
    fit <- dp_mixture(
      x, k, iter = draws + 10, warmup = 10, seed = 1, progress = FALSE,
      control = warp_control(precision = precision)
    )
    found <- list()
    for (backend in c("cuda", "cpu")) {
      ask <- function() found[[backend]] <<- predict(fit, type = "log_density", ndraws = draws, backend = backend)
      seconds <- median_seconds(ask, times = if (backend == "cuda") 5 else 2)
      least <- as.double(n) * k * draws * p * (p + 3) / 2 / rate(NULL, precision, backend)
      line(k, precision, backend, number(seconds), number(least), number(seconds / least),
        identical(found$cuda, found[[backend]]))
    }
  }
}
