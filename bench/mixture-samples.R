# Several samples in one fit: the time of a sweep beside that of one sample. The cells of a sample lie together, or in
# any order.
#   cd bench && Rscript mixture-samples.R [backend]
source("common.R")
backend <- c(commandArgs(TRUE), "cpu")[[1]]

one_case <- function(n, p, k, samples, times = 5) {
  set.seed(1)
  x <- matrix(rnorm(n * p), n) + 3 * sample(0:4, n, TRUE)
  sorted <- sort(rep_len(seq_len(samples), n))
  ways <- list(plain = FALSE, sorted = sorted, mixed = sample(sorted))
  # The difference of two fits of different length leaves out what is done once.
  fit <- function(way, sweeps) {
    elapsed(dp_mixture(
      x, k, iter = sweeps, warmup = 1, seed = 1, sample = way, threads = 1, backend = backend,
      progress = FALSE,
      control = warp_control(keep = "weights", moves = FALSE, start = rep_len(seq_len(k), n))
    ))
  }
  seconds <- do.call(interleave, c(lapply(ways, function(way) {
    force(way)
    function() fit(way, 7) - fit(way, 2)
  }), times = times))
  data.frame(
    cells = n, markers = p, components = k, samples = samples, way = names(ways),
    seconds_a_sweep = medians(seconds) / 5, ratio = apply(seconds / rep(seconds["plain", ], each = 3), 1, median),
    row.names = NULL
  )
}

results <- rbind(one_case(50000, 10, 64, 10), one_case(50000, 10, 64, 100), one_case(20000, 4, 32, 6))
save_results(results, paste0("mixture-samples", if (backend != "cpu") paste0("-", backend)))
