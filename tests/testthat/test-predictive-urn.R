# Dirichlet and Pitman-Yor processes and Gnedin's urn given data.

test_that("the limit of a Dirichlet process has its moments and Dirichlet masses", {
  skip_where_repeated()
  y <- c(1, 4, 4, 6, 9)
  base <- function(p) qnorm(p, 10, 3)
  draws <- 2500
  moments <- predictive_resample(y, pitman_yor(3, base = base), functional = c("mean", "variance"), draws = draws,
    seed = 1)
  expect_mean(moments$draws[, "mean"], (sum(y) + 3 * 10) / 8)
  # The predictive law F has variance v. The population's mean has variance v/(theta + n + 1). False alarms 1e-6.
  second <- (sum(y^2) + 3 * (100 + 9)) / 8
  v <- second - ((sum(y) + 30) / 8)^2
  expect_mean((moments$draws[, "mean"] - (sum(y) + 30) / 8)^2, v / 9)
  expect_mean(moments$draws[, "variance"], v * 8 / 9)
  masses <- predictive_resample(y, pitman_yor(3, base = base), draws = draws, seed = 1,
    functional = function(y, weights) c(weights[1:4], sum(weights[-(1:4)])))$draws
  for (j in 1:5) {
    shape <- c(1, 2, 1, 1, 3)[[j]]
    expect_gt(ks.test(masses[, j], "pbeta", shape, 8 - shape)$p.value, 1e-6)
  }
})

test_that("the limit of a Pitman-Yor process has its masses, and its sticks their law", {
  skip_where_repeated()
  y <- c(1, 4, 4, 6, 9)
  fit <- predictive_resample(y, pitman_yor(1, 0.4, qexp), draws = 2500, seed = 2,
    functional = function(y, weights) c(weights[1:4], weights[[5]] / sum(weights[-(1:4)]), y[[5]]))
  for (j in 1:4) {
    shape <- c(1, 2, 1, 1)[[j]] - 0.4
    expect_gt(ks.test(fit$draws[, j], "pbeta", shape, 6 - shape)$p.value, 1e-6)
  }
  # The first stick of a process of concentration 1 + 4 (0.4) takes Beta(0.6, 3).
  expect_gt(ks.test(fit$draws[, 5], "pbeta", 0.6, 3)$p.value, 1e-6)
  expect_gt(ks.test(fit$draws[, 6], "pexp")$p.value, 1e-6)
  # Sticks leave a thousandth of their mass.
  expect_identical(sticks_for(1, 0), 11L)
  expect_identical(sticks_for(1, 0.9), 2000L)
})

# The law of the number of types from its prior (Gnedin 2010) and the likelihood of the counts: given K types of masses
# that are uniform on the simplex, n observations show k types in a given order with probability proportional to
# K!/(K - k)! Gamma(K)/Gamma(K + n). Probabilities of K = k, ..., most, normalised over a million values of K.
types_law <- function(n, k, gamma, most) {
  K <- k:1e6
  prior <- lgamma(K - gamma) - lgamma(K + 1)
  log_p <- prior + lgamma(K + 1) - lgamma(K - k + 1) + lgamma(K) - lgamma(K + n)
  p <- exp(log_p - max(log_p))
  p[seq_len(most - k + 1)] / sum(p)
}

test_that("the number of types of Gnedin's urn has its law, and the masses theirs", {
  skip_where_repeated()
  y <- c(1, 1, 1, 1, 2, 2, 2, 3, 3, 4)
  fit <- predictive_resample(y, gnedin(0.5, qexp), draws = 2000, seed = 3,
    functional = function(y, weights) c(length(y), weights[1:4], sum(weights[-(1:4)]), mean(y[-(1:4)] > log(2))))
  types <- fit$draws[, 1]
  # False alarms 1e-6. A share of .2 that is really .3 is found with probability above .99.
  expect_counts <- function(types, p, k) {
    group <- findInterval(cumsum(p), c(0.2, 0.4, 0.6, 0.8, 0.95))
    share <- tapply(p, group, sum)[as.character(0:4)]
    share <- ifelse(is.na(share), 0, share)
    share <- c(share, 1 - sum(share))
    found <- tabulate(c(group, 5)[pmin(types - k + 1, length(p) + 1)] + 1, 6)
    expect_gt(chisq.test(found[share > 0], p = share[share > 0])$p.value, 1e-6)
  }
  expect_counts(types, types_law(10, 4, 0.5, 60), 4)
  # Means are the urn's predictions; given 4 types, masses are Dirichlet.
  expect_mean(fit$draws[, 6], 4 * 3.5 / (10 * 10.5))
  for (j in 1:4) expect_mean(fit$draws[, 1 + j], ((4:1)[[j]] + 1) * 6.5 / (10 * 10.5))
  expect_gt(ks.test(fit$draws[types == 4, 2], "pbeta", 5, 9)$p.value, 1e-6)
  expect_mean(fit$draws[types > 4, 7], 0.5)
  # Distinct values ask for many types, and for Poisson draws of large means.
  many <- predictive_resample(1:12, gnedin(0.9, qexp), draws = 1500, seed = 4,
    functional = function(y, weights) c(length(y), weights[[1]]))
  expect_counts(many$draws[, 1], types_law(12, 12, 0.9, 2011), 12)
  capped <- sum(many$draws[, 1] == 2012)
  expect_gt(capped, 0)
  expect_output(print(summary(many)), sprintf("In %d of 1,500 resamples 2,000 new values stand\\s+for more", capped))
  expect_output(print(summary(fit)), "nothing is missing")
  expect_mean(many$draws[, 2], 2 * 0.9 / (12 * 12.9))
})

test_that("urns depend on seed and resample alone, and bad ones are refused", {
  y <- c(1, 4, 4, 6, 9)
  fit <- predictive_resample(y, pitman_yor(1, 0.4, qnorm), draws = 30, seed = 2)
  expect_identical(predictive_resample(y, pitman_yor(1, 0.4, qnorm), "auto", draws = 4, seed = 2)$draws,
    fit$draws[1:4, , drop = FALSE])
  expect_output(print(fit), "Pitman-Yor process, concentration 1, discount 0.4")
  expect_output(print(predictive_resample(y, pitman_yor(2, base = qnorm), draws = 3)), "Dirichlet process, conc")
  expect_identical(dim(simulate(fit, 7, seed = 1)), c(5L, 7L))
  # Close to 0, both parameters give the Bayesian bootstrap's law.
  near <- predictive_resample(y, pitman_yor(1e-6, base = qnorm), draws = 500, seed = 1)
  expect_mean(near$draws[, 1], mean(y))
  expect_equal(var(near$draws[, 1]), mean((y - mean(y))^2) / 6, tolerance = 0.35)
  refused <- function(call, pattern) expect_error(call, pattern, class = "warpbayes_error_input")
  refused(pitman_yor(0, base = qnorm), "`concentration`")
  refused(pitman_yor(1, 1, qnorm), "`discount` must be one number of at least 0 and below 1")
  refused(pitman_yor(1, 0.5, 3), "`base` must be a quantile function")
  refused(pitman_yor(1, 0.5, function(p) 1), "for each of 2 probabilities")
  refused(pitman_yor(1, 0.5, function(p) stop("no")), "`base` failed: no")
  model <- pitman_yor(1, 0.5, qnorm)
  refused(predictive_resample(y, model, 10), "`horizon` must be \"auto\" or Inf")
  refused(predictive_resample(y, model, trajectories = 3), "`trajectories` are not kept for urns")
  refused(predictive_resample(cbind(y, y), model), "numeric vector")
  refused(predictive_resample(y, model, functional = "correlation"), "two columns")
  few <- predictive_resample(y, gnedin(0.3, qnorm), draws = 30, seed = 2)
  expect_identical(predictive_resample(y, gnedin(0.3, qnorm), draws = 4, seed = 2)$draws,
    few$draws[1:4, , drop = FALSE])
  expect_output(print(few), "Gnedin's urn, gamma 0.3")
  expect_identical(dim(simulate(few, 7, seed = 1)), c(5L, 7L))
  # One type and gamma close to 1: almost surely no other.
  one <- predictive_resample(rep(3, 50), gnedin(1 - 1e-12, qnorm), draws = 20)
  expect_identical(unname(one$draws), matrix(3, 20, 1))
  # Very many types are one mass, and no overflow.
  expect_true(all(is.finite(predictive_resample(1:3, gnedin(1e-12, qnorm), draws = 20, seed = 1)$draws)))
  refused(gnedin(1, qnorm), "`gamma` must be one number strictly between 0 and 1, not 1")
  refused(gnedin(NA, qnorm), "`gamma` must be")
  refused(gnedin(0.5, 3), "`base` must be a quantile function")
  refused(predictive_resample(y, gnedin(0.5, qnorm), 10), "`horizon` must be \"auto\" or Inf")
  refused(predict(few), "limit of an urn")
  refused(predict(fit), "limit of an urn")
  refused(continue(fit, 3), "infinite horizon")
})
