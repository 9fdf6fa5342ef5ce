# The same data, p = 14: seconds per sweep or EM step, and nanoseconds per cell and component, of warpbayes and of R
# packages, one thread each, in the same run.
source("common.R")
set.seed(1)
p <- 14
k <- 32
n <- 20000
centers <- matrix(rnorm(k * p, 0, 3), k)
x <- centers[sample.int(k, n, TRUE), ] + matrix(rnorm(n * p), n)

sweeps <- 50
ours <- function() {
  fit <- dp_mixture(x,
    components = k, iter = sweeps, warmup = sweeps - 1, seed = 1, threads = 1, backend = "cpu", progress = FALSE
  )
  fit$elapsed[["sweeps"]] / sweeps
}
peers <- list(warpbayes = ours)
if (requireNamespace("bayesm", quietly = TRUE)) {
  peers$bayesm <- function() {
    draws <- 10
    seconds <- elapsed(capture.output(bayesm::rnmixGibbs(
      Data = list(y = x), Prior = list(ncomp = k), Mcmc = list(R = draws, keep = 1, nprint = 0)
    )))
    seconds / draws
  }
}
if (requireNamespace("mclust", quietly = TRUE)) {
  start <- mclust::unmap(sample.int(k, n, TRUE), groups = seq_len(k))
  peers$mclust <- function() {
    control <- mclust::emControl(itmax = 5, tol = 0)
    elapsed(mclust::meVVV(x, z = start, control = control)) / 5
  }
}
seconds <- do.call(interleave, c(peers, times = 3))
per_step <- medians(seconds)
save_results(data.frame(
  package = names(per_step), n = n, p = p, k = k, seconds_per_step = per_step,
  ns_per_cell = 1e9 * per_step / n / k, times_slower = per_step / per_step[["warpbayes"]]
), "mixture-peers")
