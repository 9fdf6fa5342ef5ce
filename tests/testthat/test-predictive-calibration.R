# Calibrated resampling of one variable: the width of the posterior, and what is said about it.

test_that("the moments of a law under a copula are those of the normal law", {
  # For a normal law E[Y | z] = rho z and E[Y^2 - 1 | z] = rho^2 (z^2 - 1).
  at <- seq(-7, 7, length.out = 1001)
  for (rho in c(0.3, 0.7, 0.95)) {
    law <- law_moments(at * 2 + 5, pnorm(at), rho)
    expect_equal(c(law$mean, law$variance, law$kurtosis), c(5, 4, 3), tolerance = 1e-3)
    expect_equal(law$r1, rho, tolerance = 0.02)
    # 60 normal scores have a standard deviation of 0.98, and their squares one of 1.30, not 1.41.
    expect_equal(law$r2, rho^2 * sd(qnorm(ppoints(60))^2) / sqrt(2), tolerance = 0.01)
  }
})

test_that("shift and stretch have their laws, and depend on seed and resample alone", {
  place <- .Call(C_predictive_places, 3, 4000L, 7.5, 0.4)
  expect_identical(.Call(C_predictive_places, 3, 10L, 7.5, 0.4), place[1:10, ])
  # 4,000 draws, false alarms 1e-6 each.
  expect_gt(ks.test(7.5 / place[, 2]^2, "pchisq", 7.5)$p.value, 1e-6)
  expect_gt(ks.test(place[, 1] / place[, 2] / 0.4, "pnorm")$p.value, 1e-6)
  expect_lt(abs(cor(place[, 1] / place[, 2], place[, 2])), 4.9 / sqrt(4000))
  expect_identical(.Call(C_predictive_places, 3, 5L, 0, 0), cbind(rep(0, 5), rep(1, 5)))
})

test_that("calibrated resamples agree with plain R", {
  y <- standardised(c(2.1, 0.4, 3.9, 3.3, 2.2, 7.5, -1))
  points <- c(-1, 0.3, 2)
  for (rho in c(0.3, 0.8)) {
    fit <- predictive_resample(y, copula_density(rho, points, permutations = 0, standardize = FALSE), horizon = 3,
      draws = 2, seed = 6, threads = 2)
    place <- fit$calibration
    # At rho = 0.3 the steps cannot give the mean its variance: the shift does.
    expect_identical(place$most == 2, rho == 0.3)
    start <- (points - place$center - place$shift[[2]]) / place$stretch[[2]] + place$center
    state <- reference_copula(matrix(y), rho, matrix(start))
    z <- qnorm(reference_step_uniforms(6, 160, 1, 3))
    for (t in 1:3) {
      state <- reference_update(state$u, state$p, z[[t]], min(2 - 1 / (7 + t), place$most) / (8 + t),
        place$rho)
    }
    expect_equal(fit$cdf[2, ], state$u[, 1], tolerance = 1e-11)
    expect_equal(fit$density[2, ], state$p[, 1] / place$stretch[[2]], tolerance = 1e-11)
    # The same resamples at other points.
    again <- predict(fit, c(2, -1), "density", level = 1, threads = 2)
    expect_identical(again$upper, apply(fit$density[, c(3, 1)], 2, max))
  }
})

test_that("steps give a density the variance of the prediction's error", {
  skip_where_repeated()
  # The weight of an eigenvalue by the recursion itself, and sums over all products of powers.
  weight <- function(power, n) {
    kept <- 1
    for (i in seq_len(n)) kept <- kept * (1 - power * (2 - 1 / i) / (i + 1))
    1 - kept
  }
  for (rho in list(0.7, 0.9, c(0.5, 0.7), c(0.6, 0.5, 0.5))) {
    for (n in c(10, 200)) {
      powers <- as.matrix(expand.grid(lapply(rho, function(rho) rho^(0:ceiling(log(0.01) / log(rho))))))
      error <- sum(weight(apply(powers, 1, prod)[-1], n)^2)
      steps <- step_rho(n, rho)
      most <- min(2, 1.1 / max(steps))
      expect_equal(most^2 * (1 / prod(1 - steps^2) - 1), error, tolerance = 0.01)
      expect_equal(diff(range(log(steps) / log(rho))), 0)
    }
  }
  # More data show more of the shape. Steps are never smoother than the prediction.
  expect_gt(step_rho(1000, 0.7), step_rho(50, 0.7))
  expect_identical(step_rho(1, 0.7), 0.7)
  for (d in 1:3) expect_true(all(step_rho(100, rep(0.9999, d)) < 1))
})

test_that("calibrated posteriors have the width of the data", {
  skip_where_repeated()
  skip_if(on_cuda())
  # 30 normal values: the deviation of the mean is 1.1 s/sqrt(n), that of log sd about 1/sqrt(2 n). With 1,000 draws the
  # standard error of a deviation is 2.2%, and the horizon leaves out 3% of the variance: false alarms below 1e-5. With
  # the published settings the mean's deviation is 0.002 s/sqrt(n), and 2 s/sqrt(n) at rho near 1.
  set.seed(4)
  y <- qnorm(sample(ppoints(30)))
  fit <- predictive_resample(y, copula_density(points = 0), 1000, 1000, functional = c("mean", "sd"), seed = 1,
    threads = 2)
  expect_equal(fit$rho, 0.7, tolerance = 1e-6)
  expect_equal(fit$calibration$width, 1.1)
  expect_equal(sd(fit$draws[, "mean"]) / (sd(y) / sqrt(30)), 1.1, tolerance = 0.13)
  expect_equal(sd(log(fit$draws[, "sd"])) * sqrt(60), 1.15 * sqrt(calibrated_stretch), tolerance = 0.15)
  expect_equal(mean(fit$draws[, "mean"]), mean(y), tolerance = 0.05)
  expect_equal(median(fit$draws[, "sd"]), sd(y), tolerance = 0.05)
  # Given a small correlation, shift and stretch make the normal-inverse-gamma posterior.
  exact <- predictive_resample(y, copula_density(0.01, points = 0), 10, 2000, functional = "mean", seed = 1,
    threads = 2)
  expect_equal(sd(exact$draws[, "mean"]) / (sd(y) / sqrt(30)), 1.02, tolerance = 0.12)
})

test_that("quantities do not depend on the points", {
  fit <- function(points, ...) {
    predictive_resample(precip, copula_density(points = points, ...), 20, 5, seed = 1, threads = 2,
      functional = c("mean", "sd", "variance", "median"))
  }
  wide <- fit(seq(-100, 200, 0.5))
  narrow <- fit(seq(20, 60, 5))
  expect_identical(narrow$draws, wide$draws)
  expect_identical(fit(c(-1e300, 1e300))$draws, wide$draws)
  expect_equal(narrow$draws[, "variance"], narrow$draws[, "sd"]^2)
  # They are those of the distribution on a fine grid.
  expect_equal(wide$draws, grid_functional(wide$points, wide$cdf, wide$functional), tolerance = 1e-3)
  inner <- predictive_resample(precip, copula_density(points = 0:80), 20, 5, seed = 1,
    functional = probability_of(30, 40))
  expect_equal(inner$draws[, 1], inner$cdf[, 41] - inner$cdf[, 31], tolerance = 1e-3)
  expect_identical(narrow$remaining, wide$remaining)
  expect_match(said_of(narrow, "beyond"), "^1[0-9]% of the predicted distribution lies beyond `points`")
  expect_null(said_of(wide, "beyond"))
  # So do means of a regression.
  line <- function(at) {
    predictive_resample(cars, copula_regression(dist ~ speed, cars[c(3, 30), "speed", drop = FALSE], at, 0.7, 0.6),
      5, 3, seed = 1, threads = 2)
  }
  expect_identical(line(c(0, 50))$draws, line(NULL)$draws)
  expect_identical(unname(predict(line(c(0, 50)))), unname(predict(line(NULL))))
})

test_that("a verdict says what the bandwidth does to the posterior", {
  skip_where_repeated()
  words <- function(y, ...) {
    said_of(predictive_resample(y, copula_density(...), 5, 3, seed = 1, threads = 2), "bandwidth")
  }
  normal <- qnorm(ppoints(25))[c(seq(1, 25, 2), seq(2, 25, 2))]
  peaks <- c(normal - 6, normal + 6)
  expect_match(words(normal), "1.1 times as wide as s/sqrt\\(n\\)\\.$")
  # Lognormal data are not said to look normal.
  expect_no_match(words(exp(normal)), "normal")
  expect_match(words(peaks, scale = "data"), "1.1 times as wide as s/sqrt\\(n\\)\\.$")
  expect_match(words(peaks), "1.1 times as wide as s/sqrt\\(n\\)\\.$")
  expect_match(words(peaks, rho = 0.9), "1.1 times as wide as s/sqrt\\(n\\)\\.$")
  published <- words(normal, calibrate = FALSE)
  expect_match(published, "only about 0.002 times as wide.*Intervals are too narrow;\\s+calibrate = TRUE")
  expect_match(words(normal, rho = 0.95, calibrate = FALSE), "1.9 times as wide.*wider than the data ask for")
  expect_match(words(normal, rho = 0.5, calibrate = FALSE), "about (0.9[0-9]|1) times as wide as s/sqrt\\(n\\)\\.$")
  fit <- predictive_resample(normal, copula_density(calibrate = FALSE), 5, 3, seed = 1)
  expect_output(print(fit), "too narrow;\\s+calibrate = TRUE")
  # Other models are not calibrated: what is wrong is said, and nothing else.
  pairs <- cbind(normal, rev(normal)[c(2:25, 1)]^2)
  said <- function(y, model) said_of(predictive_resample(y, model, 5, 3, seed = 1, threads = 2), "bandwidth")
  expect_match(said(pairs, copula_density(0.9, permutations = 2, calibrate = FALSE)),
    "not calibrated: for normal data .* 2 rho, about 1.8, times as wide as s/sqrt\\(n\\)\\.$")
  expect_match(said(pairs, copula_density(0.1, permutations = 2, calibrate = FALSE)),
    "rho = 0.1 the resamples hardly differ")
  frame <- data.frame(y = normal, x = seq_along(normal), class = rep(c("a", "b"), length.out = 25))
  expect_match(said(frame, copula_regression(y ~ x, rho = 0.2, rho_x = 0.5)), "hardly differ: a step moves a mean")
  expect_null(said(frame, copula_regression(y ~ x, rho = 0.8, rho_x = 0.5)))
  expect_match(said(frame, copula_classification(class ~ x, rho = 0.1, rho_x = 0.5, mean = "none")),
    "moves a probability")
  # Responses that do not depend on the covariate: the smallest rho, by the published settings.
  frame$y <- normal[c(5:25, 1:4)]
  frame$class <- rep(c("a", "b", "b", "a", "b"), 5)
  for (model in list(
    function(...) copula_regression(y ~ x, frame[1, ], c(-1, 1), rho_x = 0.3, permutations = 2, mean = "none", ...),
    function(...) copula_classification(class ~ x, frame[1, ], rho_x = 0.3, permutations = 2, mean = "none", ...)
  )) {
    expect_null(said(frame, model()))
    expect_match(said(frame, model(calibrate = FALSE)), "resamples hardly differ: a step moves")
  }
  expect_null(said(normal, normal_mean()))
  expect_null(said(normal, bayesian_bootstrap()))
})

test_that("few, large and small values are calibrated", {
  skip_on_cran()
  for (y in list(c(1, 2), c(0, 1, 1), c(5, 5, 5, 5, 6), 1:9 * 1e299, 1:9 * 1e-200, c(1:8, 1e200))) {
    fit <- predictive_resample(y, copula_density(), 5, 4, seed = 1, threads = 2)
    expect_true(all(is.finite(fit$draws)))
    expect_true(all(fit$cdf >= 0 & fit$cdf <= 1))
  }
  expect_error(copula_density(calibrate = NA), "`calibrate`", class = "warpbayes_error_input")
  frame <- as.data.frame(cbind(1:3, letters[1:3]))
  names(frame) <- c("a", "")
  expect_error(predictive_resample(frame["a"], copula_density(0.5), 1, 1), "column \"a\"")
  names(frame)[[1]] <- ""
  expect_error(predictive_resample(frame[1], copula_density(0.5), 1, 1), "column 1 is")
  unnamed <- matrix(c(1:3, 2, 2, 2), 3, dimnames = list(NULL, c("a", "")))
  expect_error(predictive_resample(unnamed, copula_density(0.5), 1, 1), "constant in column 2")
  named <- colnames(predictive_resample(unnamed, bayesian_bootstrap(), draws = 3, functional = c("mean", "sd"))$draws)
  expect_identical(named, c("mean[a]", "mean[2]", "sd[a]", "sd[2]"))
  frame <- stats::setNames(data.frame(c(1, NA), 1:2), c("", "b"))
  expect_error(predictive_resample(frame, bayesian_bootstrap()), "row 2, column 1$", class = "warpbayes_error_input")
  expect_error(predictive_resample(1:4 * 1e300, normal_mean(NULL), 3, 2), "squares are not finite",
    class = "warpbayes_error_input")
  expect_error(predictive_resample(1:4 * 1e-300, normal_mean(NULL), 3, 2), "squares are 0",
    class = "warpbayes_error_input")
  expect_error(predictive_resample(c(1, 1.5, 1.5) * 1e308, normal_mean(1), 3, 2), "sum that is not finite",
    class = "warpbayes_error_input")
})

test_that("two to four values are not taken for knowledge of means and deviations", {
  said <- function(y) verdict(predictive_resample(y, copula_density(), 5, 3, seed = 1, threads = 2))
  expect_match(said_of(said(c(-840, 586)), "unsupported"), "^With 2 values the posterior has very long tails")
  expect_null(said_of(said(qnorm(ppoints(5))), "unsupported"))
})
