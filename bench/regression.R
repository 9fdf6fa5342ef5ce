# Logistic regression by Polya-Gamma variables: a sweep of bayes_logit() against the same Gibbs sampler in R around
# BayesLogit::rpg, and how a sweep divides into its parts. One thread each, in turn. Without BayesLogit its rows are
# left out.
#   cd bench && Rscript regression.R          n = 1e5, p = 10
#   cd bench && Rscript regression.R quick    n = 1e4
source("common.R")
quick <- "quick" %in% commandArgs(TRUE)
n <- if (quick) 1e4 else 1e5
p <- 10
sweeps <- 20
set.seed(1)
x <- cbind(1, matrix(rnorm(n * (p - 1)), n))
beta <- rnorm(p, 0, 0.5)
y <- rbinom(n, 1, plogis(x %*% beta))
d <- data.frame(y = y, x[, -1])

ours <- function() {
  fit <- bayes_logit(y ~ ., d,
    chains = 1, iter = sweeps, warmup = 1, seed = 1, threads = 1, backend = "cpu", progress = FALSE
  )
  fit$elapsed[["sweeps"]] / sweeps
}
# As the authors of BayesLogit write it.
around <- function(draw) {
  function() {
    at <- numeric(p)
    z <- crossprod(x, y - 0.5)
    one <- rep(1, n)
    elapsed(for (i in seq_len(sweeps)) {
      omega <- draw(one, as.vector(x %*% at))
      root <- chol(crossprod(x, x * omega) + diag(0.16, p))
      at <- backsolve(root, backsolve(root, z, transpose = TRUE) + rnorm(p))
    }) / sweeps
  }
}
psi <- as.vector(x %*% beta)
draws <- function(shape, tilt) rpolyagamma(n, shape, tilt, threads = 1, backend = "cpu")
peer <- function(shape, tilt) BayesLogit::rpg(n, shape, tilt)
runs <- list(
  "bayes_logit()" = ours,
  "the same in R around rpolyagamma()" = around(draws),
  "rpolyagamma() of a sweep alone" = function() elapsed(for (i in seq_len(sweeps)) draws(1, psi)) / sweeps
)
if (requireNamespace("BayesLogit", quietly = TRUE)) {
  runs[["in R around BayesLogit::rpg"]] <- around(peer)
  runs[["BayesLogit::rpg of a sweep alone"]] <- function() elapsed(for (i in seq_len(2)) peer(1, psi)) / 2
}
seconds <- medians(do.call(interleave, c(runs, times = if (quick) 3 else 5)))
save_results(data.frame(
  rows = n, columns = p, what = names(seconds), milliseconds_a_sweep = 1000 * seconds,
  times_ours = seconds / seconds[[1]], row.names = NULL
), "regression")
