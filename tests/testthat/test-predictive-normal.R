# Predictive resampling of normal means, whose law is known.

data_of <- function(n) {
  set.seed(n)
  rnorm(n, 2)
}

# A known variance of 1 and a prior N(0, 1).
unit_normal <- normal_mean(1, c(variance = 1))

test_that("the variance after N steps is 1/(n + 1) - 1/(n + N + 1) and the law is normal", {
  skip_where_repeated()
  # With 60,000 draws the variance is known to 0.6%, and a Kolmogorov distance above 0.011 is found. False alarms: 1e-6
  # for each of the 18 tests.
  draws <- if (on_cuda()) 1500 else 6e4
  horizons <- if (on_cuda()) c(1, 10) else c(1, 10, 1000)
  if (extended() && !on_cuda()) horizons <- c(horizons, 1e5)
  for (n in c(1, 10, 100)) {
    for (horizon in horizons) {
      y <- data_of(n)
      fit <- predictive_resample(y, unit_normal, horizon, draws, seed = 10 * n + horizon, threads = 2)
      variance <- 1 / (n + 1) - 1 / (n + horizon + 1)
      standard <- (fit$draws[, "mean"] - sum(y) / (n + 1)) / sqrt(variance)
      expect_gt(pchisq(sum(standard^2), draws), 5e-7)
      expect_lt(pchisq(sum(standard^2), draws), 1 - 5e-7)
      expect_gt(suppressWarnings(ks.test(standard, "pnorm"))$p.value, 1e-6)
      expect_equal(fit$remaining, (n + 1) / (n + horizon + 1))
    }
  }
})

test_that("the steps agree with plain R", {
  y <- data_of(4)
  fit <- predictive_resample(y, unit_normal, 7, 40, trajectories = 7, seed = 5, threads = 2)
  expect_identical(fit$times, as.double(0:7))
  for (r in c(1, 33, 40)) {
    words <- vapply(0:1, function(word) reference_step_uniforms(5, 163, r - 1, 4, word = word + 1), numeric(4))
    normal <- qnorm(as.vector(t(words)))[1:7]
    theta <- sum(y) / 5
    path <- theta
    for (t in 1:7) {
      n <- 4 + t - 1
      drawn <- theta + sqrt(1 + 1 / (n + 1)) * normal[[t]]
      theta <- (theta * (n + 1) + drawn) / (n + 2)
      path <- c(path, theta)
    }
    expect_equal(fit$trajectories[r, ], path, tolerance = 1e-13)
  }
})

test_that("the variance and the prior can be given", {
  y <- data_of(3)
  fit <- predictive_resample(y, normal_mean(4, c(mean = 10, variance = 2)), 0, 3, seed = 1)
  expect_equal(fit$draws[, "mean"], rep((2 * 10 + sum(y)) / 5, 3))
  fit <- predictive_resample(y, normal_mean(4, c(variance = 2)), 400, 20000, seed = 1, threads = 2)
  skip_if(on_cuda())
  expect_mean((fit$draws[, 1] - sum(y) / 5)^2, 4 / 5 - 4 / 405)
})

test_that("with unknown variance the law is the conjugate posterior", {
  skip_where_repeated()
  # 1e4 draws, false alarms 1e-6 each.
  draws <- if (on_cuda()) 300 else 1e4
  y <- data_of(8)
  horizon <- if (on_cuda()) 40 else 1000
  fit <- predictive_resample(y, normal_mean(NULL), horizon, draws, seed = 2, threads = 2)
  expect_identical(colnames(fit$draws), c("mean", "variance"))
  # The mean is a martingale, and so is the mean of the inverse gamma law of the variance.
  expect_mean(fit$draws[, "mean"], mean(y))
  expect_mean(fit$draws[, "variance"], sum((y - mean(y))^2) / 2 / (7 / 2 - 1))
  skip_if(on_cuda())
  t <- (fit$draws[, "mean"] - mean(y)) / sqrt(var(y) / 8 * (1 - 8 / 1008))
  expect_gt(suppressWarnings(ks.test(t, "pt", 7))$p.value, 1e-6)
  chi <- sum((y - mean(y))^2) / fit$draws[, "variance"]
  expect_gt(suppressWarnings(ks.test(chi, "pchisq", 7))$p.value, 1e-6)
})

test_that("the default interval is the t interval, in any unit", {
  skip_where_repeated()
  skip_if(on_cuda())
  # Of 1e4 draws. The standard error of a ratio is 1.4% for a normal law and 2.5% for 3 degrees of freedom, and the
  # horizon leaves out 1% of the width. Data: zeros and ties, an outlier, skewness, an origin far away.
  set.seed(1)
  for (y in list(faithful$waiting, c(0, 0, 0, 1, 1, 7), c(rnorm(20), 50), rlnorm(15), 1e6 + 1:4)) {
    fit <- predictive_resample(y, normal_mean(), draws = 1e4, seed = 1, threads = 2)
    ends <- (quantile(fit, c(0.025, 0.975))["mean", ] - mean(y)) / (sd(y) / sqrt(length(y)))
    expect_lt(max(abs(ends / qt(c(0.025, 0.975), length(y) - 1) - 1)), 0.06)
    expect_null(said_of(fit, "unsupported"))
  }
  # Units that are powers of 2 change no rounding. A flat prior of a known variance depends on no unit either.
  y <- precip[1:9]
  draws <- function(y, ...) predictive_resample(y, normal_mean(...), 20, 50, seed = 1, threads = 2)$draws
  expect_identical(draws(1024 * y), draws(y) %*% diag(c(1024, 1024^2)), ignore_attr = TRUE)
  expect_identical(draws(1024 * y, 9 * 1024^2), 1024 * draws(y, 9))
  expect_equal(draws(1e5 + y), draws(y) + rep(c(1e5, 0), each = 50), tolerance = 1e-9)
  expect_output(print(normal_mean(2)), "variance 2; flat prior")
  expect_output(print(normal_mean()), "reference prior")
  expect_output(print(normal_mean(prior = c(rate = 2))), "rate 2")
})

test_that("data that disagree with the model are said", {
  said <- function(y, ...) {
    words <- said_of(predictive_resample(y, normal_mean(...), 1, 2, seed = 1, threads = 2), "unsupported")
    if (is.null(words)) "" else words
  }
  y <- faithful$waiting
  expect_identical(said(y, 1), paste("The given variance is 1, and that of the 272 values is 185:",
    "intervals of the mean are about 14 times too narrow. variance = NULL estimates it."))
  # The same in other units, and for too large a variance.
  expect_match(said(60 * y, 3600), "14 times too narrow")
  expect_match(said(y, 1e6), "74 times too wide")
  expect_match(said(rep(3, 30), 2), "that of the 30 values is 0: intervals of the mean are wider")
  expect_match(said(c(1, 2, 3) * 1e200, 1), "times too narrow")
  # Chance, one value, and differences that do not matter.
  expect_identical(said(y, 185), "")
  expect_identical(said(5, 1e-9), "")
  expect_identical(said(c(1, 2, 4), 1), "")
  expect_identical(said(qnorm(ppoints(1e5)), 1.1), "")
  expect_match(said(qnorm(ppoints(1e5)), 1.3), "about 1.1 times too wide")
  expect_match(said(y, 184, c(mean = 0, variance = 1)), "prior expects a mean near 0, and the data have 70.9: .*42.29")
  expect_match(said(y, prior = c(weight = 5)), "prior expects a mean near 0")
  expect_identical(said(y, 184, c(mean = 70, variance = 1)), "")
  expect_identical(said(y, prior = c(mean = 60, weight = 1)), "")
  expect_match(said(c(1, 2)), "With 2 values .* Student's t with 1 degree of freedom: it has no standard deviation")
  expect_match(said(c(1, 2, 4)), "with 2 degrees of freedom")
  expect_identical(said(c(1, 2, 4, 5)), "")
  expect_identical(said(c(1, 2), prior = c(shape = 1, rate = 1)), "")
})

test_that("the source's experiment: 4,096 chains of 1,000 steps", {
  skip_where_repeated()
  skip_if(on_cuda())
  fit <- predictive_resample(data_of(10), unit_normal, 1000, 4096, trajectories = 1000, seed = 1, threads = 2)
  expect_identical(dim(fit$trajectories), c(4096L, 1001L))
  expect_identical(fit$trajectories[, 1001], unname(fit$draws[, 1]))
  # Dividing by the square root, as the source's code does, would give 0.914 times this value.
  expect_lt(abs(var(fit$draws[, 1]) / (1 / 11 - 1 / 1011) - 1), 4.9 * sqrt(2 / 4095))
})

test_that("a draw depends on seed, resample and step alone", {
  y <- data_of(5)
  fit <- predictive_resample(y, unit_normal, 21, 70, trajectories = 21, seed = 3, threads = 1)
  fewer <- predictive_resample(y, unit_normal, 21, 33, trajectories = 21, seed = 3, threads = 2)
  expect_identical(fewer$trajectories, fit$trajectories[1:33, ])
  longer <- continue(predictive_resample(y, unit_normal, 10, 70, seed = 3), 11, threads = 2)
  expect_identical(longer$draws, fit$draws)
  thinned <- predictive_resample(y, unit_normal, 21, 70, trajectories = 7, seed = 3)
  expect_identical(thinned$trajectories, fit$trajectories[, seq(1, 22, 3)])
  unknown <- predictive_resample(y, normal_mean(NULL), 21, 70, seed = 3)
  expect_identical(continue(predictive_resample(y, normal_mean(NULL), 4, 70, seed = 3), 17)$draws, unknown$draws)
  set.seed(1)
  a <- predictive_resample(y, unit_normal, 3, 2)
  set.seed(1)
  expect_identical(predictive_resample(y, unit_normal, 3, 2)$draws, a$draws)
})

test_that("a function gets the whole population", {
  y <- data_of(5)
  fit <- predictive_resample(y, unit_normal, 12, 30, functional = function(y) c(n = length(y), sum = sum(y)),
    seed = 3
  )
  plain <- predictive_resample(y, unit_normal, 12, 30, seed = 3)
  expect_equal(fit$draws[, "n"], rep(17, 30))
  # The mean of the population and the prior, which counts as one observation at 0.
  expect_equal(fit$draws[, "sum"] / 18, plain$draws[, "mean"], tolerance = 1e-12)
})

test_that("medians, quantiles and probabilities describe the population", {
  y <- data_of(5)
  fit <- function(functional, model = unit_normal) {
    predictive_resample(y, model, 12, 30, functional = functional, seed = 3)$draws
  }
  own <- function(f) fit(f)[, 1]
  expect_identical(fit("median")[, 1], own(function(y) median(y)))
  expect_identical(fit(c("median", "mean"))[, "mean"], fit(NULL)[, "mean"])
  expect_identical(colnames(fit(c("median", "mean"))), c("median", "mean"))
  quantiles <- fit(quantiles_of(c(0.1, 0.9)))
  expect_identical(colnames(quantiles), c("q10", "q90"))
  # The second and the sixteenth of 17 values.
  expect_identical(quantiles[, "q10"], own(function(y) sort(y)[[2]]))
  expect_identical(quantiles[, "q90"], own(function(y) sort(y)[[16]]))
  expect_identical(fit(probability_of(1, 3))[, "probability"], own(function(y) sum(y >= 1 & y <= 3) / 17))
  unknown <- fit(c("sd", "variance"), normal_mean(NULL))
  expect_identical(unknown[, "sd"], sqrt(unknown[, "variance"]))
  expect_error(fit("sd"), "this model has \"mean\"", class = "warpbayes_error_input")
  expect_error(fit(coefficients_of(y ~ x)), "bayesian_bootstrap", class = "warpbayes_error_input")
  failing <- function(y) if (length(unique(y)) > 3) stop("too many") else 1
  expect_error(fit(failing), "failed on resample 1: too many", class = "warpbayes_error_input")
  skip_if(on_cuda())
  # 30,000 steps of 300 resamples go in several parts. Resample 200 fails.
  calls <- 0
  late <- function(y) if ((calls <<- calls + 1) == 200) c(1, 2) else 1
  expect_error(predictive_resample(y, unit_normal, 3e4, 300, functional = late, seed = 1), "2 values on resample 200",
    class = "warpbayes_error_input")
})

test_that("horizon \"auto\" leaves out no more than the tolerance", {
  y <- data_of(5)
  fit <- predictive_resample(y, unit_normal, "auto", 10, tolerance = 0.1, seed = 1)
  expect_lte(fit$remaining, 0.1)
  expect_identical(fit$horizon, 54)
})
