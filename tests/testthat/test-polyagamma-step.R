# The Gibbs step of a logistic regression by itself.

set.seed(2)
x <- cbind(one = 1, a = rnorm(40), b = rnorm(40))
y <- rbinom(40, 3, 0.4)
step <- function(..., seed = 1) polyagamma_step(x, y, ..., trials = 3, seed = seed, threads = 2)

test_that("a step is a draw from the normal law that it returns", {
  skip_where_repeated()
  first <- step(c(0.3, 0, -1), prior_precision = 0.5, prior_mean = 1, offset = 0.2)
  expect_named(first$beta, colnames(x))
  expect_identical(step(c(0.3, 0, -1), prior_precision = diag(0.5, 3), prior_mean = c(1, 1, 1), offset = rep(0.2, 40)),
    first
  )
  second <- step(c(0.3, 0, -1), prior_precision = 0.5, prior_mean = 1, offset = 0.2, iteration = 2)
  expect_false(identical(second$beta, first$beta))
  skip_if(resolve_run()$backend != "cpu", "many steps")
  # Standardised draws are independent standard normals. False alarms 1e-6.
  z <- t(vapply(1:3000, function(i) {
    one <- step(c(0.3, 0, -1), prior_precision = 0.5, iteration = i)
    as.vector(chol(one$precision) %*% (one$beta - solve(one$precision, one$linear)))
  }, numeric(3)))
  for (k in 1:3) expect_distribution(z[, k], pnorm, 3)
  # The precision has its expected value: E omega = 3 tanh(psi/2) / (2 psi).
  psi <- as.vector(x %*% c(0.3, 0, -1))
  draws <- t(vapply(1:3000, function(i) {
    step(c(0.3, 0, -1), prior_precision = 0.5, iteration = i)$precision[lower.tri(diag(3), TRUE)]
  }, numeric(6)))
  expected <- crossprod(x, x * (3 * tanh(psi / 2) / (2 * psi))) + diag(0.5, 3)
  expect_means(draws, expected[lower.tri(expected, TRUE)])
})

test_that("messages name the arguments that cannot be used", {
  input <- "warpbayes_error_input"
  expect_error(polyagamma_step(1:3, 1, 1), "`x` must be a numeric matrix", class = input)
  expect_error(polyagamma_step(cbind(c(1, NA)), c(1, 1), 1), "`x` has values that are not finite", class = input)
  expect_error(polyagamma_step(x, y[-1], numeric(3)), "`y` must be 40 finite numbers", class = input)
  expect_error(polyagamma_step(x, y, 0, trials = 3), "`beta` must be 3 finite numbers", class = input)
  expect_error(polyagamma_step(x, y, numeric(3), trials = -1), "`trials` must not be negative", class = input)
  expect_error(polyagamma_step(x, y, numeric(3), trials = 1:2),
    "`trials` must be 40 finite numbers, or one for all", class = input
  )
  expect_error(step(numeric(3), prior_precision = diag(2)),
    "`prior_precision` must be a symmetric 3 x 3", class = input
  )
  expect_error(step(numeric(3), prior_mean = Inf), "`prior_mean`", class = input)
  expect_error(step(numeric(3), iteration = 0), "`iteration`", class = input)
  for (precision in list(-1, c(1, 1, -1), matrix(c(1, 2, 0, 2, 1, 0, 0, 0, 1), 3))) {
    expect_error(step(numeric(3), prior_precision = precision), "`prior_precision` must not be negative", class = input)
  }
  expect_error(polyagamma_step(x, y, numeric(3), trials = 1), "must be from 0 to the trials, 1 there", class = input)
  expect_error(polyagamma_step(x, -y, numeric(3), trials = 3), "must be from 0 to the trials", class = input)
  # Rounding leaves this precision positive.
  near <- cbind(x, x[, 2] + 1e-8 * x[, 3])
  expect_error(polyagamma_step(near, y, numeric(4), trials = 3, threads = 2), "not positive|depend", class = input)
  expect_error(polyagamma_step(), "`x` is missing", class = input)
  expect_error(step(numeric(3), nothing = 0), "`nothing` is not known", class = input)
  expect_error(polyagamma_step(cbind(x, 0), y, numeric(4), trials = 3, threads = 2), "not positive", class = input)
})
