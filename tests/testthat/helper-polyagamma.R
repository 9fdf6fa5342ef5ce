# Shared by the tests of Polya-Gamma variables. A test statistic z is nearly standard normal: |z| < 6 fails with
# probability 2e-9. sqrt(n) times a Kolmogorov distance passes 3.2 with probability 2.6e-9.

on_emulator <- function() identical(getOption("warpbayes.backend"), "cuda") && !is.null(getOption("warpbayes.plugin"))

# The number of draws of a test: few on the emulator, ten million in the long form.
polyagamma_draws <- function(usual) {
  if (on_emulator()) min(usual, 2000) else if (extended()) 1e7 else usual
}

# E exp(-t X), computed with exponentials that do not overflow.
polyagamma_laplace <- function(t, shape, tilt) {
  log_cosh <- function(x) x + log1p(exp(-2 * x)) - log(2)
  exp(shape * (log_cosh(abs(tilt) / 2) - log_cosh(sqrt((tilt^2 / 2 + t) / 2))))
}

# The largest |z| of the mean, the variance and the Laplace transforms.
polyagamma_worst_z <- function(x, shape, tilt) {
  n <- length(x)
  mean <- polyagamma_cumulant(shape, tilt)
  var <- polyagamma_cumulant(shape, tilt, 2)
  fourth <- polyagamma_cumulant(shape, tilt, 4) + 2 * var^2
  # For very small shapes a few draws dominate the moments, so only the transforms are compared.
  moments <- if (shape * n >= 1e4) c((mean(x) - mean) / sqrt(var / n), (mean((x - mean)^2) - var) / sqrt(fourth / n))
  rate <- c(0.3, 3) / mean
  expected <- polyagamma_laplace(rate, shape, tilt)
  second <- polyagamma_laplace(2 * rate, shape, tilt)
  transforms <- vapply(1:2, function(i) {
    (mean(exp(-rate[[i]] * x)) - expected[[i]]) / sqrt((second[[i]] - expected[[i]]^2) / n)
  }, numeric(1))
  max(abs(c(moments, transforms)))
}

# sqrt(n) times the Kolmogorov distance between draws and their law. It uses at most a thousand order statistics of the
# draws, which can only make it smaller.
polyagamma_ks <- function(x, shape, tilt) {
  n <- length(x)
  rank <- unique(round(seq(1, n, length.out = min(n, 1000))))
  p <- ppolyagamma(sort(x)[rank], shape, tilt, threads = 2)
  sqrt(n) * max(abs(p - (rank - 0.5) / n) + 0.5 / n)
}
