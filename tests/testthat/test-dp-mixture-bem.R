# Bayesian EM: one step against plain R, the closed form of one component, a log posterior that
# never falls, the same numbers everywhere, and what a fit by this method can and cannot do.

set.seed(41)
population <- sample(3, 600, replace = TRUE, prob = c(5, 3, 2))
cells <- matrix(rnorm(1200), ncol = 2, dimnames = list(NULL, c("a", "b"))) + 4 * cbind(population == 2, population == 3)
bem <- function(x = cells, components = 6, seed = 1, ..., threads = 2) {
  dp_mixture(x, components = components, method = "bem", seed = seed, ..., threads = threads, progress = FALSE)
}

# One step in plain R, in the units of the sampler: parameters from weights r (rows x components) and alpha.
reference_step <- function(z, r, alpha, prior, estimate) {
  p <- ncol(z)
  k <- ncol(r)
  n <- colSums(r)
  behind <- rev(cumsum(rev(n))) - n
  extra <- if (estimate == "mean") 1 else 0
  v <- (n + extra) / (n + extra + alpha + behind)
  v[[k]] <- 1
  rest <- log1p(-v[-k])
  alpha <- if (k == 1) alpha else (prior$concentration[["shape"]] + k - 2 + extra) / (prior$concentration[["rate"]] - sum(rest))
  gamma <- prior$mean_scale
  means <- matrix(0, k, p)
  covariances <- array(0, c(p, p, k))
  for (j in seq_len(k)) {
    total <- colSums(r[, j] * z)
    average <- if (n[[j]] > 0) total / n[[j]] else prior$mean
    deviation <- z - rep(average, each = nrow(z))
    scatter <- crossprod(deviation, r[, j] * deviation)
    pull <- n[[j]] / (1 + gamma * n[[j]]) * tcrossprod(average - prior$mean)
    posterior <- prior$df * prior$scale + scatter + diag(n[[j]] * prior$floor, p) + pull
    means[j, ] <- (prior$mean + gamma * total) / (1 + gamma * n[[j]])
    covariances[, , j] <- posterior / (prior$df + n[[j]] + if (estimate == "mean") 0 else 2 * p + 3)
  }
  list(v = v, rest = rest, alpha = alpha, weights = v * exp(c(0, cumsum(rest))), means = means, covariances = covariances)
}

# Log weights with the floor, rows x components.
reference_weights <- function(z, step, prior) {
  traces <- apply(step$covariances, 3L, function(covariance) sum(diag(solve(covariance)) * prior$floor))
  matrix(reference_joint(z, step$weights, step$means, step$covariances), nrow(z)) - rep(traces / 2, each = nrow(z))
}

reference_log_prior <- function(step, prior) {
  p <- ncol(step$means)
  df <- prior$df + p + 1
  shape <- prior$concentration[["shape"]]
  rate <- prior$concentration[["rate"]]
  components <- vapply(seq_along(step$weights), function(j) {
    covariance <- as.matrix(step$covariances[, , j])
    deviation <- step$means[j, ] - prior$mean
    df / 2 * (p * log(prior$df) + log(det(prior$scale))) - df * p / 2 * log(2) - p * (p - 1) / 4 * log(pi) - sum(lgamma((df + 1 - seq_len(p)) / 2)) -
      (df + p + 1) / 2 * log(det(covariance)) - prior$df / 2 * sum(diag(prior$scale %*% solve(covariance))) -
      p / 2 * log(2 * pi * prior$mean_scale) - log(det(covariance)) / 2 - sum(deviation * solve(covariance, deviation)) / (2 * prior$mean_scale)
  }, 0)
  sum(components) + sum(log(step$alpha) + step$alpha * step$rest) + dgamma(step$alpha, shape, rate, log = TRUE)
}

test_that("steps are those of plain R, with modes and with means", {
  for (case in list(list(p = 2, k = 4, n = 150), list(p = 1, k = 3, n = 40), list(p = 3, k = 2, n = 90), list(p = 2, k = 1, n = 50))) {
    for (estimate in c("mode", "mean")) {
      set.seed(case$p + 10 * case$k)
      x <- matrix(rnorm(case$n * case$p, 100, 15), ncol = case$p)
      init <- sample(c(seq_len(case$k), NA), case$n, replace = TRUE)
      fit <- bem(x, case$k, init = init, warmup = 0, iter = 3, tolerance = 0, estimate = estimate)
      z <- t((t(x) - fit$center) / fit$scale)
      prior <- fit$prior
      r <- outer(init, seq_len(case$k), function(a, b) ifelse(is.na(a), 0, a == b))
      r <- r[, order(-colSums(r)), drop = FALSE]
      alpha <- prior$concentration[["shape"]] / prior$concentration[["rate"]]
      for (i in 1:3) {
        step <- reference_step(z, r, alpha, prior, estimate)
        alpha <- step$alpha
        log_weight <- reference_weights(z, step, prior)
        top <- apply(log_weight, 1L, max)
        density <- top + log(rowSums(exp(log_weight - top)))
        r <- exp(log_weight - density)
        log_unit <- sum(log(fit$scale))
        expect_equal(fit$log_likelihood[[i, 1]], sum(density) - case$n * log_unit, tolerance = 1e-11)
        log_posterior <- sum(density) + reference_log_prior(step, prior) - (case$n + case$k * (case$p + 2)) * log_unit
        expect_equal(fit$log_posterior[[i, 1]], log_posterior, tolerance = 1e-11)
        expect_equal(fit$concentration_trace[[i, 1]], alpha, tolerance = 1e-10)
      }
      expect_equal(fit$draws$weights[, 1, 1], step$weights, tolerance = 1e-9)
      expect_equal(fit$draws$means[, , 1, 1], t(t(step$means) * fit$scale + fit$center), tolerance = 1e-9, ignore_attr = TRUE)
      expect_equal(as.vector(fit$draws$covariances), as.vector(step$covariances) * as.vector(outer(fit$scale, fit$scale)), tolerance = 1e-9)
      expect_equal(fit$probe_density[3, 1, ], reference_log_density(fit$probe, fit$draws$weights[, 1, 1],
        matrix(fit$draws$means, case$k), array(fit$draws$covariances, c(case$p, case$p, case$k))), tolerance = 1e-9)
      expect_equal(sum(fit$state[[1]]$sizes), case$n, tolerance = 1e-9)
    }
  }
})

test_that("one component ends in one step at the closed form", {
  fit <- bem(components = 1, warmup = 0, prior = dp_prior(mean_scale = 2, df = 5, scale = 1, mean = 0, floor = 0), tolerance = 0)
  n <- 600
  center <- colMeans(cells)
  posterior <- 5 * diag(2) + crossprod(cells - rep(center, each = n)) + n / (1 + 2 * n) * tcrossprod(center)
  expect_equal(fit$draws$means[1, , 1, 1], 2 * n * center / (1 + 2 * n), tolerance = 1e-12)
  expect_equal(fit$draws$covariances[, , 1, 1, 1], posterior / (5 + n + 7), tolerance = 1e-12, ignore_attr = TRUE)
  expect_identical(fit$draws$weights[1, 1, 1], 1)
  expect_identical(unname(fit$steps), 2)
  expect_true(fit$converged)
  mean <- bem(components = 1, warmup = 0, estimate = "mean", prior = fit$prior)
  expect_equal(mean$draws$covariances * (5 + n), fit$draws$covariances * (5 + n + 7), tolerance = 1e-12)
})

test_that("the log posterior never falls, and with means it may", {
  # 150 random problems: what falls is rounding, at most 1e-12 of the value.
  problems <- if (identical(getOption("warpbayes.backend"), "cuda")) 12 else 150
  largest_fall <- function(estimate) {
    vapply(seq_len(problems), function(seed) {
      set.seed(seed)
      p <- sample(4, 1)
      k <- sample(8, 1)
      n <- sample(c(5, 30, 200), 1)
      x <- matrix(rnorm(n * p), n) * exp(rnorm(n))
      if (seed %% 3 == 0) x <- round(x)
      prior <- dp_prior(
        concentration = rgamma(2, 1) + 0.05, df = exp(rnorm(1, 1)), mean_scale = exp(rnorm(1)), scale = exp(rnorm(1, -1)),
        floor = if (seed %% 2) 0.01 else 0
      )
      fit <- suppressWarnings(bem(x, k, init = sample(k, n, replace = TRUE), warmup = 0, prior = prior, iter = 60, tolerance = 0, estimate = estimate))
      if (fit$iter == 1) 0 else max(-diff(fit$log_posterior[, 1])) / max(abs(fit$log_posterior))
    }, 0)
  }
  expect_lt(max(largest_fall("mode")), 1e-12)
  if (problems > 100) expect_gt(sum(largest_fall("mean") > 1e-9), 20)
})

test_that("a component without cells is cut, and stays at its prior's mode", {
  fit <- bem(init = rep(1:2, 300), warmup = 0, iter = 5, tolerance = 0)
  weights <- fit$draws$weights[, 1, 1]
  # The last component has what the sticks before it leave.
  expect_identical(weights == 0, c(FALSE, FALSE, TRUE, TRUE, TRUE, FALSE))
  expect_equal(fit$draws$means[3, , 1, 1], fit$prior$mean * fit$scale + fit$center, tolerance = 1e-12, ignore_attr = TRUE)
  expect_equal(fit$draws$covariances[, , 3, 1, 1], fit$prior$df * fit$prior$scale / (fit$prior$df + 7) * outer(fit$scale, fit$scale),
    tolerance = 1e-12, ignore_attr = TRUE)
  expect_true(all(is.finite(fit$log_posterior)))
})
