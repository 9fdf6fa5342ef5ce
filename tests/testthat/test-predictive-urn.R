# Dirichlet and Pitman-Yor processes given data.

test_that("the limit of a Dirichlet process has its moments and Dirichlet masses", {
  skip_where_repeated()
  y <- c(1, 4, 4, 6, 9)
  base <- function(p) qnorm(p, 10, 3)
  draws <- 2500
  moments <- predictive_resample(y, dirichlet_process(3, base), functional = c("mean", "variance"), draws = draws,
    seed = 1)
  expect_mean(moments$draws[, "mean"], (sum(y) + 3 * 10) / 8)
  # The predictive law F has variance v. The population's mean has variance v/(theta + n + 1). False alarms 1e-6.
  second <- (sum(y^2) + 3 * (100 + 9)) / 8
  v <- second - ((sum(y) + 30) / 8)^2
  expect_mean((moments$draws[, "mean"] - (sum(y) + 30) / 8)^2, v / 9)
  expect_mean(moments$draws[, "variance"], v * 8 / 9)
  masses <- predictive_resample(y, dirichlet_process(3, base), draws = draws, seed = 1,
    functional = function(y, weight) c(weight[1:4], sum(weight[-(1:4)])))$draws
  for (j in 1:5) {
    shape <- c(1, 2, 1, 1, 3)[[j]]
    expect_gt(ks.test(masses[, j], "pbeta", shape, 8 - shape)$p.value, 1e-6)
  }
})

test_that("the limit of a Pitman-Yor process has its masses, and its sticks their law", {
  skip_where_repeated()
  y <- c(1, 4, 4, 6, 9)
  fit <- predictive_resample(y, pitman_yor(1, 0.4, qexp), draws = 2500, seed = 2,
    functional = function(y, weight) c(weight[1:4], weight[[5]] / sum(weight[-(1:4)]), y[[5]]))
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

test_that("urns depend on seed and resample alone, and bad ones are refused", {
  y <- c(1, 4, 4, 6, 9)
  fit <- predictive_resample(y, pitman_yor(1, 0.4, qnorm), draws = 30, seed = 2)
  expect_identical(predictive_resample(y, pitman_yor(1, 0.4, qnorm), "auto", draws = 4, seed = 2)$draws,
    fit$draws[1:4, , drop = FALSE])
  expect_output(print(fit), "Pitman-Yor process, concentration 1, discount 0.4")
  expect_output(print(predictive_resample(y, dirichlet_process(2, qnorm), draws = 3)), "Dirichlet process, conc")
  expect_identical(dim(simulate(fit, 7, seed = 1)), c(5L, 7L))
  # Close to 0, both parameters give the Bayesian bootstrap's law.
  near <- predictive_resample(y, dirichlet_process(1e-6, qnorm), draws = 500, seed = 1)
  expect_mean(near$draws[, 1], mean(y))
  expect_equal(var(near$draws[, 1]), mean((y - mean(y))^2) / 6, tolerance = 0.35)
  refused <- function(call, pattern) expect_error(call, pattern, class = "warpbayes_error_input")
  refused(dirichlet_process(0, qnorm), "`concentration`")
  refused(pitman_yor(1, 1, qnorm), "`discount` must be one number of at least 0 and below 1")
  refused(pitman_yor(1, 0.5, 3), "`base` must be a quantile function")
  refused(pitman_yor(1, 0.5, function(p) 1), "for each of 2 probabilities")
  refused(pitman_yor(1, 0.5, function(p) stop("no")), "`base` failed: no")
  model <- pitman_yor(1, 0.5, qnorm)
  refused(predictive_resample(y, model, 10), "`horizon` must be \"auto\" or Inf")
  refused(predictive_resample(y, model, trajectories = 3), "`trajectories` are not kept for urns")
  refused(predictive_resample(cbind(y, y), model), "numeric vector")
  refused(predictive_resample(y, model, functional = "correlation"), "two columns")
  refused(predict(fit), "limit of an urn")
  refused(continue(fit, 3), "infinite horizon")
})
