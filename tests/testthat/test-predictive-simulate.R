# Future observations from resamples, and coefficients.

test_that("future observations follow the resamples", {
  skip_where_repeated()
  skip_if(on_cuda())
  # About 8,000 values from 200 resamples, compared with the resamples' own quantities. The deviation of a mean over
  # resamples is bounded by what the resamples and the values give: false alarms 1e-6.
  close <- function(simulated, target, between) {
    means <- vapply(simulated, mean, 0)
    expect_lt(abs(mean(means) - target), 4.9 * sd(means) / sqrt(length(means)) + between)
  }
  y <- precip[1:40]
  fits <- list(
    predictive_resample(y, copula_density(), 200, 200, seed = 1, threads = 2),
    predictive_resample(y, copula_density(0.9, calibrate = FALSE), 200, 200, seed = 1, threads = 2),
    predictive_resample(y, normal_mean(NULL), 200, 200, seed = 1, threads = 2),
    predictive_resample(y, normal_mean(150, c(mean = 35, variance = 100)), 200, 200, seed = 1, threads = 2),
    predictive_resample(y, bayesian_bootstrap(), draws = 200, seed = 1, threads = 2)
  )
  for (fit in fits) {
    new <- simulate(fit, 200, seed = 3)
    expect_identical(dim(new), c(40L, 200L))
    close(new, mean(fit$draws[, "mean"]), 0)
    # Data sets differ by the resample and by their values.
    between <- var(fit$draws[, "mean"])
    within <- mean(vapply(new, var, 0)) / 40
    expect_equal(var(vapply(new, mean, 0)), between + within, tolerance = 0.45)
    expect_equal(sqrt(mean(vapply(new, var, 0))), sd(y), tolerance = 0.25)
  }
  expect_identical(simulate(fits[[1]], 5, seed = 2), simulate(fits[[1]], 5, seed = 2))
  expect_identical(dim(simulate(fits[[5]], 500)), c(40L, 500L))
})

test_that("responses are simulated at the points", {
  line <- predictive_resample(cars, copula_regression(dist ~ speed, cars[c(3, 30), "speed", drop = FALSE], c(0, 50),
    0.7, 0.6), 5, 8, seed = 1, threads = 2)
  new <- t(simulate(line, 4000, seed = 1))
  expect_lt(max(abs(colMeans(new) - colMeans(line$draws)) / (apply(new, 2, sd) / sqrt(4000))), 5)
  frame <- data.frame(x = c(1, 2, 4, 3, 6), y = c("a", "b", "b", "b", "a"))
  classes <- predictive_resample(frame, copula_classification(y ~ x, rho = 0.5, rho_x = 0.5), 5, 8, seed = 1)
  new <- simulate(classes, 4000, seed = 1)
  expect_identical(levels(new[[1]]), c("a", "b"))
  p <- colMeans(classes$probability)
  expect_lt(max(abs(rowMeans(new == "b") - p) / sqrt(p * (1 - p) / 4000)), 5)
  rows <- simulate(predictive_resample(cars, bayesian_bootstrap(), draws = 3, seed = 1,
    functional = coefficients_of(dist ~ speed)), 2)
  expect_identical(lapply(rows, dim), list(sim_1 = dim(cars), sim_2 = dim(cars)))
  both <- predictive_resample(cars, copula_density(0.5, permutations = 2), 3, 2, seed = 1)
  expect_error(simulate(both), "several variables", class = "warpbayes_error_input")
  expect_error(simulate(line, 0), "`nsim`", class = "warpbayes_error_input")
  line$n <- 3
  expect_error(simulate(line), "has been changed", class = "warpbayes_error_input")
})

test_that("coef and vcov are the moments of the draws", {
  fit <- predictive_resample(mtcars, bayesian_bootstrap(), draws = 20, seed = 1, functional = coefficients_of(mpg ~ wt))
  expect_identical(coef(fit), colMeans(fit$draws))
  expect_equal(vcov(fit), var(fit$draws))
  fit$draws[3, 2] <- NA
  expect_equal(vcov(fit), var(fit$draws[-3, ]))
  expect_equal(coef(fit)[["wt"]], mean(fit$draws[-3, 2]))
})
