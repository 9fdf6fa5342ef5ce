# Sums of discrete variables: seconds, the share of the machine's own rate of multiply-adds (measured in between), and
# the seconds of other R functions, in the same run. Medians of repetitions that take turns; a minute or two in all.
#   cd bench && ../tests/measure/build.sh ../build/measure && Rscript convolution.R
source("common.R")
options(warpbayes.backend = "cpu")

# Seconds of one call, from so many calls that they take 30 ms.
each <- function(call) {
  repetitions <- 1
  while (elapsed(for (i in seq_len(repetitions)) call()) < 0.03) {
    repetitions <- 2 * repetitions
  }
  function() elapsed(for (i in seq_len(repetitions)) call()) / repetitions
}

# The direct sum, one thread ------------------------------------------------------
set.seed(1)
sizes <- c(256, 512, 1024, 4096, 16384, 1e5)
runs <- lapply(sizes, function(n) {
  a <- runif(n)
  # Many times over within one call, since R takes 5 microseconds for one.
  times <- max(1, round(2e9 / n^2))
  function() elapsed(direct_sum(a, a, times = times)) / times
})
names(runs) <- sizes
rates <- numeric()
seconds <- do.call(interleave, c(list(rate = function() {
  rates <<- c(rates, rate(1))
  0
}), runs, times = 7))
here <- median(rates)
direct <- data.frame(
  size = sizes, seconds = medians(seconds)[-1L], multiply_adds_per_second = sizes^2 / medians(seconds)[-1L]
)
direct$share_of_machine <- direct$multiply_adds_per_second / here
save_results(direct, "convolution-direct")

# Against what R has ------------------------------------------------------------
a <- runif(1024)
b <- runif(1024)
narrow_a <- dbinom(0:1023, 1023, 0.5)
rows <- 1e4
p <- matrix(runif(rows * 32), rows)
q <- matrix(runif(rows * 32), rows)
shift_and_add <- function() {
  r <- matrix(0, rows, 63)
  for (j in 1:32) {
    r[, j:(j + 31)] <- r[, j:(j + 31)] + p[, j] * q
  }
  r
}
probability <- runif(1e4)
bernoulli <- cbind(1 - probability, probability)
bernoulli_log <- log(bernoulli)
calls <- list(
  ours_1024 = each(function() convolve_pmf(a, b)),
  ours_narrow = each(function() convolve_pmf(narrow_a, narrow_a)),
  stats_1024 = each(function() convolve(a, rev(b), type = "open")),
  ours_batch = each(function() convolve_pmf(p, q, threads = 1)),
  shift_and_add_batch = each(shift_and_add),
  ours_binomial = each(function() sum_pmf(bernoulli, threads = 1)),
  ours_binomial_log = each(function() sum_pmf(bernoulli_log, log = TRUE, threads = 1))
)
if (requireNamespace("PoissonBinomial", quietly = TRUE)) {
  calls$peer_binomial <- each(function() PoissonBinomial::dpbinom(NULL, probability, method = "Convolve"))
}
m <- medians(do.call(interleave, c(calls, times = 9)))
peers <- data.frame(
  task = c(
    "1,024 x 1,024, uniform random", "1,024 x 1,024, binomial", "1e4 pairs of 32 x 32", "Poisson-binomial 1e4",
    "Poisson-binomial 1e4, log scale"
  ),
  seconds = m[c("ours_1024", "ours_narrow", "ours_batch", "ours_binomial", "ours_binomial_log")],
  peer = rep(c("stats::convolve", "shift and add", "PoissonBinomial Convolve"), c(2, 1, 2)),
  peer_seconds = m[c("stats_1024", "stats_1024", "shift_and_add_batch", "peer_binomial", "peer_binomial")]
)
peers$times_faster <- peers$peer_seconds / peers$seconds
save_results(peers, "convolution-peers")
