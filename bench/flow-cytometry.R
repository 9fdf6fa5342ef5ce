# Seconds for 100 Gibbs sweeps at p = 14, k = 256 and n = 1e4 .. 5e6 cells: the rows of Table 1 of Suchard and others
# (2010), on this machine. The whole of dp_mixture() is timed except its start; there are no splits and joins, as in
# that table. Large cases run fewer sweeps, whose time is scaled to 100.
#   cd bench && Rscript flow-cytometry.R [backend]
source("common.R")
backend <- c(commandArgs(TRUE), "cpu")[[1]]
p <- 14
k <- 256
set.seed(1)

# Overlapping cells: every component's density is needed for every cell.
simulate <- function(n) {
  x <- matrix(0, n, p)
  for (j in seq_len(p)) x[, j] <- rnorm(n)
  x
}

measure <- function(x, threads, precision, budget = 4) {
  n <- nrow(x)
  init <- sample.int(k, n, replace = TRUE)
  run <- function(sweeps) {
    fit <- dp_mixture(
      x, components = k, iter = sweeps, warmup = sweeps - 1, seed = 1, threads = threads, backend = backend,
      progress = FALSE,
      control = warp_control(moves = FALSE, keep = "weights", start = init, precision = precision)
    )
    fit$elapsed[["sweeps"]] / sweeps
  }
  once <- run(1)
  sweeps <- max(1, min(100, floor(budget / once / 3)))
  seconds <- vapply(1:3, function(i) run(sweeps), 0)
  cat(sprintf("%s n = %g, %d threads, %s: %.3f s for 100 sweeps\n", backend, n, threads, precision,
    100 * median(seconds)))
  data.frame(
    backend = backend, n = n, p = p, k = k, threads = threads, precision = precision, sweeps = sweeps,
    seconds_per_100 = 100 * median(seconds), ns_per_cell = 1e9 * median(seconds) / n / k
  )
}

sizes <- c(1e4, 5e4, 1e5, 5e5, 1e6, 5e6)
cores <- if (backend == "cpu") unique(c(1, warp_info()$threads)) else 1
cases <- expand.grid(threads = cores, precision = c("double", "single"), stringsAsFactors = FALSE)
results <- do.call(rbind, lapply(sizes, function(n) {
  x <- simulate(n)
  do.call(rbind, lapply(seq_len(nrow(cases)), function(i) measure(x, cases$threads[[i]], cases$precision[[i]])))
}))
results$device <- if (backend == "cuda") warp_info()$cuda$devices$name[[1]] else machine()
save_results(results, paste0("flow-cytometry-", backend))
