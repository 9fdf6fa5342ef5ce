# condition_on_sum_pmf(): known laws and arguments.

test_that("two binomials given their sum are hypergeometric", {
  x <- pmf(dbinom(0:20, 20, 0.3))
  y <- pmf(dbinom(0:30, 30, 0.3))
  for (total in c(0, 1, 13, 25, 50)) {
    given <- condition_on_sum_pmf(x, y, total)
    value <- given$x$from + seq_along(given$x$prob) - 1
    expect_identical(range(value), c(max(0, total - 30), min(20, total)))
    expect_equal(given$x$prob, dhyper(value, 20, 30, total), tolerance = 1e-12)
    expect_identical(given$y$prob, rev(given$x$prob))
    expect_identical(given$y$from, total - max(value))
  }
})

test_that("the conditional distribution is right for a total whose probability underflows", {
  x <- pmf(dpois(0:5000, 1, log = TRUE), log = TRUE)
  y <- pmf(dpois(0:5000, 2, log = TRUE), log = TRUE)
  given <- condition_on_sum_pmf(x, y, 4000)
  expect_equal(given$x$log_prob, dbinom(0:4000, 4000, 1 / 3, log = TRUE), tolerance = 1e-12)
  plain <- condition_on_sum_pmf(x, y, 4000, log = FALSE)
  expect_equal(plain$x$prob, dbinom(0:4000, 4000, 1 / 3), tolerance = 1e-10)
  # All products of these doubles underflow.
  far <- pmf(dnorm(0:300, 0, 8), normalize = TRUE)
  expect_equal(condition_on_sum_pmf(far, far, 600)$x$prob, 1)
  middle <- condition_on_sum_pmf(far, far, 599)
  expect_equal(middle$x$prob, c(0.5, 0.5))
  expect_identical(middle$x$from, 299)
})

test_that("origins and weights of the arguments are used", {
  die <- pmf(rep(1 / 6, 6), from = 1)
  given <- condition_on_sum_pmf(die, -die, 3)
  expect_identical(given$x$from, 4)
  expect_equal(given$x$prob, rep(1 / 3, 3))
  expect_identical(given$y$from, -3)
  expect_equal(condition_on_sum_pmf(c(1, 2), c(3, 4), 1)$x$prob, c(4, 6) / 10)
  expect_equal(exp(condition_on_sum_pmf(log(c(1, 2)), log(c(3, 4)), 1, log = TRUE)$x$log_prob), c(4, 6) / 10)
  log_die <- pmf(die$prob, from = 1)
  expect_equal(condition_on_sum_pmf(die, die, 2, log = TRUE)$x$log_prob, 0)
})

test_that("each bad argument has its message", {
  die <- pmf(rep(1 / 6, 6), from = 1)
  expect_input_error(condition_on_sum_pmf(die, die, 13), "`total` is 13, a value that the sum takes with prob")
  expect_input_error(condition_on_sum_pmf(die, die, 1), "`total` is 1, a value that the sum takes with prob")
  expect_input_error(condition_on_sum_pmf(die, die, 2.5), "`total` is 2.5, a value that the sum takes with prob")
  expect_input_error(condition_on_sum_pmf(die, die, NA_real_), "`total` must be one finite number, not NA")
  expect_input_error(condition_on_sum_pmf(die, die, c(3, 4)), "`total` must be one finite number")
  even <- pmf(c(0.5, 0, 0.5))
  expect_input_error(condition_on_sum_pmf(even, even, 1),
    "`total` is 1, a value that the sum takes with probability zero")
  expect_input_error(condition_on_sum_pmf(c(1, -1), die, 3), "`x` has the entry -1 at position 2")
  expect_input_error(condition_on_sum_pmf(die, "a", 3), "`y` must be a numeric vector")
  expect_input_error(condition_on_sum_pmf(die, die, 3, log = 1), "`log` must be TRUE or FALSE")
})
