# Simulation-based calibration (Talts et al. 2018) of the proportions of cell types. Mixtures are drawn from the prior,
# and cells from the mixtures. The rank of the true proportion of the first cell's type among its posterior draws must
# be uniform. Components are a hundred standard deviations of their cells apart, so each component with cells is a type.
# Proportions of types count only components that have cells.

sizes <- list(k = 4, n = 80, p = 2)
law <- list(mean_scale = 1e4, df = 20, shape = 2, rate = 2)

draw_truth <- function() {
  k <- sizes$k
  p <- sizes$p
  stick <- c(rbeta(k - 1, 1, rgamma(1, law$shape, law$rate)), 1)
  weights <- stick * cumprod(c(1, 1 - stick[-k]))
  covariance <- lapply(seq_len(k), function(j) solve(stats::rWishart(1, law$df + p + 1, diag(p) / law$df)[, , 1L]))
  mean <- vapply(covariance, function(s) drop(t(chol(law$mean_scale * s)) %*% rnorm(p)), numeric(p))
  component <- sample.int(k, sizes$n, TRUE, weights)
  x <- t(vapply(component, function(j) drop(mean[, j] + t(chol(covariance[[j]])) %*% rnorm(p)), numeric(p)))
  list(x = x, proportion = weights[component[[1L]]] / sum(weights[unique(component)]))
}

rank_of_truth <- function(seed) {
  set.seed(seed)
  truth <- draw_truth()
  prior <- dp_prior(mean = 0, mean_scale = law$mean_scale, df = law$df, scale = 1, floor = 0, learn = character(),
    concentration = c(law$shape, law$rate))
  # Draws a few sweeps apart are nearly independent, because the components of the cells are known.
  fit <- dp_mixture(
    truth$x, components = sizes$k, prior = prior, iter = 177, warmup = 30, seed = seed, threads = 1,
    progress = FALSE, control = warp_control(thin = 3)
  )
  types <- cell_types(fit, ndraws = NULL, threads = 1)
  draws <- types$proportions[, as.integer(types$type[[1L]])]
  stopifnot(length(draws) == 49)
  # Planted error: intervals half as wide.
  narrow <- mean(draws) + (draws - mean(draws)) / 2
  # With a single type all proportions are 1, so the rank is drawn at random.
  place <- function(draws) sum(draws < truth$proportion) + floor(runif(1) * (1 + sum(draws == truth$proportion)))
  c(right = place(draws), narrow = place(narrow))
}

test_that("proportions of cell types are calibrated", {
  skip_where_repeated()
  skip_if(identical(getOption("warpbayes.backend"), "cuda"), "slow")
  many <- if (extended()) 1000 else 100
  ranks <- vapply(seq_len(many), rank_of_truth, numeric(2))
  # False alarms 1e-6.
  bound <- stats::qchisq(1e-6, 9, lower.tail = FALSE)
  expect_lt(unevenness(ranks["right", ]), bound)
  expect_gt(unevenness(ranks["narrow", ]), bound)
})
