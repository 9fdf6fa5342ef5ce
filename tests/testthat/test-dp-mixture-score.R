# The score of a mode (src/mixture/score.c), against plain R.

# By the labels of a kept draw, and the parameters that they were drawn from.
score_of <- function(fit, draw, chain) {
  d <- fit$draws
  p <- ncol(fit$x)
  n <- nrow(fit$x)
  s <- fit$scale
  x <- scale(fit$x, fit$center, s)
  z <- d$labels[, draw, chain]
  alpha <- d$concentration[draw, chain]
  m <- (d$prior_mean[, draw, chain] - fit$center) / s
  gamma <- d$prior_mean_scale[draw, chain]
  nu <- d$prior_df[draw, chain]
  phi <- d$prior_scale[, , draw, chain] / outer(s, s)
  floor <- diag(fit$prior$floor, p)
  log_det <- function(a) as.numeric(determinant(a)$modulus)
  multigamma <- function(a) p * (p - 1) / 4 * log(pi) + sum(lgamma(a - (seq_len(p) - 1) / 2))
  df <- nu + p + 1
  own <- vapply(unique(z), function(j) {
    y <- x[z == j, , drop = FALSE]
    count <- nrow(y)
    center <- (m + gamma * colSums(y)) / (1 + gamma * count)
    psi <- nu * phi + crossprod(y) + outer(m, m) / gamma - outer(center, center) * (count + 1 / gamma) + count * floor
    marginal <- df / 2 * log_det(nu * phi) - multigamma(df / 2) + multigamma((df + count) / 2) -
      (df + count) / 2 * log_det(psi) - p / 2 * log1p(gamma * count) - count * p / 2 * log(pi)
    covariance <- d$covariances[, , j, draw, chain] / outer(s, s)
    mean <- (d$means[j, , draw, chain] - fit$center) / s
    complete <- count * (log(d$weights[j, draw, chain]) - p / 2 * log(2 * pi) - log_det(covariance) / 2 -
      sum(solve(covariance) * floor) / 2) - sum(mahalanobis(y, mean, covariance)) / 2
    marginal + lgamma(count) + log(alpha) - complete
  }, 0)
  shape <- fit$prior$concentration
  sweep <- method_of(fit)$kept(fit)[[draw]]
  sum(own) + fit$log_likelihood[sweep, chain] + lgamma(alpha) - lgamma(alpha + n) + shape[[1]] * log(alpha) -
    shape[[2]] * alpha - sum(m^2) / 2 - 3 * log(gamma) - 5 / gamma + log_det(phi) / 2 - 2 * (p + 2) * sum(diag(phi))
}

test_that("the score is that of plain R, up to one constant", {
  set.seed(1)
  x <- matrix(rnorm(900), ncol = 3) + 4 * rep(c(0, 1, 1), each = 100)
  fit <- fit_mixture(x, components = 8, chains = 2, iter = 30, seed = 1, threads = 2,
    control = warp_control(keep = c("weights", "means", "covariances", "labels")))
  differences <- vapply(1:15, function(draw) {
    vapply(1:2, function(chain) fit$score[15 + draw, chain] - score_of(fit, draw, chain), 0)
  }, numeric(2))
  expect_lt(diff(range(differences)), 1e-6)
  expect_gt(sd(fit$score[16:30, ]), 1)
})

test_that("samples with weights of their own have no score, and sweeps do not depend on how they are cut", {
  set.seed(2)
  x <- matrix(rnorm(400), ncol = 2)
  pooled <- fit_mixture(x, components = 4, iter = 20, seed = 1, threads = 2)
  expect_true(all(is.finite(pooled$score)))
  cut <- continue(fit_mixture(x, components = 4, iter = 12, warmup = 10, seed = 1, threads = 2), 8, threads = 2)
  expect_identical(cut$score, pooled$score)
  several <- fit_mixture(x, components = 4, iter = 20, sample = rep(1:2, 100), seed = 1, threads = 2)
  expect_true(all(is.na(several$score[11:20, ])))
  expect_false("score" %in% diagnose(several)$quantity)
})
