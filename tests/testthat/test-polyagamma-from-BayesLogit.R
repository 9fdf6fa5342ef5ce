# The statements of ?polyagamma_from_BayesLogit about this package. Its examples run the lines themselves.

test_that("arguments in the order of rpg() and of any numeric type are those of rpolyagamma()", {
  z <- c(-1, 0.5, 3)
  expect_identical(rpolyagamma(3, 2, z, seed = 1), rpolyagamma(3, shape = 2, tilt = z, seed = 1))
  expect_identical(rpolyagamma(3L, 2L, z, seed = 1), rpolyagamma(3, 2, z, seed = 1))
  # Recycled to the number of draws, and not read beyond it.
  expect_identical(rpolyagamma(2, 1:2, c(z, 9, 9), seed = 1), rpolyagamma(2, c(1, 2), z[1:2], seed = 1))
  expect_identical(rpolyagamma(c(7, 7, 7), 1, 0, seed = 1), rpolyagamma(3, 1, 0, seed = 1))
})

test_that("set.seed() repeats the draws, and a seed leaves R's generator alone", {
  set.seed(3)
  first <- rpolyagamma(4, 1, 0)
  next_uniform <- stats::runif(1)
  set.seed(3)
  expect_identical(rpolyagamma(4, 1, 0), first)
  rpolyagamma(4, 1, 0, seed = 1)
  expect_identical(stats::runif(1), next_uniform)
})

test_that("shapes of 0 and fractions of method \"sum\" are refused, missing values give NaN", {
  expect_error(rpolyagamma(2, c(1, 0), 0), "shapes are positive", class = "warpbayes_error_input")
  expect_error(rpolyagamma(1, 1.5, 0, method = "sum"), "whole shapes", class = "warpbayes_error_input")
  expect_warning(draws <- rpolyagamma(2, 1, c(NA, 1), seed = 1), "NAs produced")
  expect_identical(is.nan(draws), c(TRUE, FALSE))
})

test_that("a flat prior of one sweep of logit() is prior_precision = 0", {
  x <- cbind(1, mtcars$wt)
  step <- polyagamma_step(x, mtcars$am, c(0, 0), trials = rep(1, 32), prior_mean = 0, prior_precision = 0, seed = 1)
  expect_length(step$beta, 2)
  expect_equal(step$linear, drop(crossprod(x, mtcars$am - 0.5)))
  expect_true(all(eigen(step$precision)$values > 0))
})
