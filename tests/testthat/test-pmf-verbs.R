# Operations on distributions: extremes, truncation, mixtures, expectations and joint tables.

expect_input_error <- function(code, message) {
  expect_error(code, message, class = "warpbayes_error_input")
}

die <- pmf(rep(1 / 6, 6), from = 1)

test_that("max() and min() are the extremes of independent variables, with a small relative error", {
  expect_equal(max(die, die)$prob, (2 * (1:6) - 1) / 36)
  expect_equal(min(die, die)$prob, (2 * (6:1) - 1) / 36)
  expect_equal(max(die, die, die)$prob, ((1:6)^3 - (0:5)^3) / 216)
  expect_identical(max(die - 3, 0)$from, 0)
  expect_equal(max(die - 3, 0)$prob, c(3, 1, 1, 1) / 6)
  expect_equal(as.data.frame(min(die, 2.5))$value[c(1, 3, 4)], c(1, 2, 2.5))
  expect_equal(dpmf(c(1, 2, 2.5), min(die, 2.5)), c(1, 1, 4) / 6)
  expect_equal(max(pmf(c(0.5, 0.5), by = 0.5), die / 3)$by, 1 / 6)
  # The minimum of geometric variables is geometric. Its tail loses no digits.
  x <- pmf(dgeom(0:5000, 0.02))
  y <- pmf(dgeom(0:5000, 0.03))
  together <- 1 - 0.98 * 0.97
  expect_lt(max(abs(min(x, y)$prob[1:3000] / dgeom(0:2999, together) - 1)), 1e-9)
  logs <- function(p) pmf(dgeom(0:5000, p, log = TRUE), log = TRUE, tolerance = 1)
  expect_equal(min(logs(0.02), logs(0.03))$log_prob[1:4000], dgeom(0:3999, together, log = TRUE), tolerance = 1e-12)
  far <- pmf(c(0.5, 0.5), values = c(0, 1e9 + 1))
  expect_equal(as.data.frame(max(far, 7)), data.frame(value = c(7, 1e9 + 1), prob = c(0.5, 0.5)))
  expect_input_error(max(die, "a"), "`argument 2 of max\\(\\)` must be a distribution or one number, not \"a\"")
})

test_that("truncate() conditions, or moves probability to the ends", {
  x <- pmf(dpois(0:60, 5))
  expect_equal(truncate(x, 2, 7)$prob, dpois(2:7, 5) / sum(dpois(2:7, 5)))
  expect_identical(truncate(x, 2, 7)$from, 2)
  expect_identical(truncate(x), x)
  expect_equal(truncate(x, 2.5, 4.5)$prob, dpois(3:4, 5) / sum(dpois(3:4, 5)))
  ends <- truncate(x, 2, 7, outside = "ends")
  expect_equal(ends$prob, c(ppois(2, 5), dpois(3:6, 5), ppois(6, 5, lower.tail = FALSE)))
  l <- pmf(dpois(0:600, 5, log = TRUE), log = TRUE)
  expect_equal(truncate(l, 300, 302)$log_prob,
    dpois(300:302, 5, TRUE) - log(sum(exp(dpois(300:302, 5, TRUE) + 1000))) + 1000
  )
  expect_equal(truncate(l, upper = 7, outside = "ends")$log_prob[[8]], ppois(6, 5, FALSE, TRUE))
  expect_input_error(truncate(x, 70), "`lower` to `upper`, 70 to Inf, has no possible value")
  expect_input_error(truncate(x, 3, 2), "`lower` is 3, above `upper`, 2")
  expect_equal(truncate(x, 2, matrix(7)), truncate(x, 2, 7))
  expect_input_error(truncate(x, "a"), "`lower` must be one number, not \"a\"")
  expect_input_error(truncate(x, outside = "keep"), "`outside` must be one of \"condition\", \"ends\"")
  expect_input_error(truncate(x, 1, 2, "ends", 3), "unused argument")
})

test_that("mixtures and modified zeros", {
  mixed <- mix_pmf(list(die, 2 * die + 0.5), c(0.9, 0.1))
  expect_equal(mean(mixed), 0.9 * 3.5 + 0.1 * 7.5)
  expect_equal(dpmf(c(2, 2.5, 3), mixed), c(0.15, 0.1 / 6, 0.15))
  expect_identical(mix_pmf(list(die, die), c(1, 0)), die)
  l <- pmf(log(die$prob), from = 1, log = TRUE)
  expect_equal(exp(mix_pmf(list(l, die + 1), c(0.5, 0.5))$log_prob), c(1, 2, 2, 2, 2, 2, 1) / 12)
  x <- pmf(dpois(0:80, 2))
  expect_equal(zero_modify(x, 0.5)$prob, c(0.5, 0.5 * dpois(1:80, 2) / sum(dpois(1:80, 2))))
  expect_equal(zero_modify(x, 0)$prob, dpois(1:80, 2) / sum(dpois(1:80, 2)))
  expect_identical(zero_modify(x, 0)$from, 1)
  expect_equal(zero_modify(die, 0.4)$prob, c(0.4, rep(0.1, 6)))
  expect_identical(zero_modify(die, 1)$prob, 1)
  expect_equal(exp(zero_modify(pmf(log(x$prob), log = TRUE), 0.5)$log_prob), zero_modify(x, 0.5)$prob)
  expect_input_error(mix_pmf(die, 1), "`x` must be a list of distributions")
  expect_input_error(mix_pmf(list(die, 3), c(0.5, 0.5)), "`x` must be a list of distributions")
  expect_input_error(mix_pmf(list(die), c(0.5, 0.5)), "`weights` has 2 entries for 1 distributions")
  expect_input_error(mix_pmf(list(die, die), c(0.5, 0.6)), "`weights` sums to 1.1, not 1 to within 1e-08")
  expect_input_error(mix_pmf(list(die, die), c(1.5, -0.5)), "`weights` has the entry -0.5")
  expect_input_error(zero_modify(pmf(1), 0.5), "`x` is the constant 0")
  expect_input_error(zero_modify(die, 2), "`prob` must be one number between 0 and 1, not 2")
  expect_input_error(zero_modify(3, 0.5), "`x` must be a distribution made by pmf\\(\\), not 3")
})

test_that("expectations and events", {
  x <- pmf(dbinom(0:20, 20, 0.3), from = -5)
  expect_equal(expected_value(x, identity), mean(x))
  expect_equal(expected_value(x, function(v, power) (v - mean(x))^power, power = 2), variance(x))
  expect_equal(expected_value(x, function(v) v > 3), ppmf(3, x, lower.tail = FALSE))
  # A function that is infinite only where the probability is zero.
  expect_equal(expected_value(pmf(c(0, 1)), function(v) 1 / v), 1)
  expect_equal(probability(x, function(v) v %% 2 == 0), sum(dbinom(seq(1, 20, 2), 20, 0.3)))
  expect_equal(probability(x, c(-5, -5, 15, 99)), dbinom(0, 20, 0.3) + dbinom(20, 20, 0.3))
  expect_identical(probability(x, 0.5), 0)
  expect_identical(probability(x, 0.5, log = TRUE), -Inf)
  l <- pmf(dpois(0:3000, 5, log = TRUE), log = TRUE)
  expect_equal(probability(l, function(v) v > 1500, log = TRUE), ppois(1500, 5, FALSE, TRUE), tolerance = 1e-12)
  expect_equal(probability(l, function(v) v > 15), ppois(15, 5, FALSE))
  expect_equal(expected_value(l, identity), 5)
  expect_input_error(expected_value(x, 3), "`f` must be a function, not 3")
  expect_input_error(expected_value(x, sum), "`f` must give one number for each of 21 values, not 105")
  expect_input_error(probability(x, function(v) v), "`event` must give TRUE or FALSE for each of 21 values")
  expect_input_error(probability(x, "a"), "`event` must be a function or a vector of values")
  expect_input_error(probability(x, 1, log = NA), "`log` must be TRUE or FALSE")
})

test_that("stop-loss premiums and tail values at risk agree with their definitions", {
  set.seed(3)
  value <- sort(sample(1e6, 40))
  for (x in list(die, die / 4 - 1, pmf(rexp(40), values = value, normalize = TRUE), pmf(dnbinom(0:900, 2, 0.1)))) {
    frame <- as.data.frame(x)
    d <- c(frame$value[c(1, 3)], frame$value[[1]] - 2.5, mean(frame$value[2:3]), max(frame$value), max(frame$value) + 1)
    direct <- vapply(d, function(d) sum(frame$prob * pmax(frame$value - d, 0)), 0)
    expect_equal(stop_loss_premium(x, d), direct, tolerance = 1e-12)
    # The mean of the quantiles above the level.
    p <- 0.37
    cumulative <- cumsum(frame$prob)
    share <- pmax(cumulative, p) - pmax(c(0, cumulative[-length(cumulative)]), p)
    expect_equal(tail_value_at_risk(x, p), sum(share * frame$value) / (1 - p), tolerance = 1e-9)
    expect_equal(tail_value_at_risk(x, 0), mean(x), tolerance = 1e-12)
  }
  # Geometric: E(X - d)+ = (1 - p)^(d + 1) / p, also for the smallest values.
  x <- pmf(dgeom(0:20000, 0.05))
  expect_equal(stop_loss_premium(x, c(0, 100, 5000)) / (0.95^c(1, 101, 5001) / 0.05), c(1, 1, 1), tolerance = 1e-11)
  expect_identical(stop_loss_premium(pmf(1, from = 3), c(1, 3, NA)), c(2, 0, NA))
  expect_input_error(tail_value_at_risk(die, 1), "`p` has the entry 1: levels are below 1")
  expect_input_error(tail_value_at_risk(die, -1), "`p` has the entry -1")
  expect_input_error(stop_loss_premium(die, "a"), "`retention` must be a numeric vector")
  expect_input_error(stop_loss_premium(3, 1), "`x` must be a distribution")
})

test_that("joint tables have both marginal distributions", {
  table <- joint_table(die, die)
  expect_s3_class(table, "table")
  expect_identical(dimnames(table), list(x = as.character(1:6), total = as.character(2:12)))
  expect_equal(as.vector(rowSums(table)), die$prob)
  expect_equal(as.vector(colSums(table)), (die + die)$prob)
  expect_equal(addmargins(table)[["Sum", "Sum"]], 1)
  expect_equal(table[["3", "7"]], 1 / 36)
  expect_equal(table[["6", "2"]], 0)
  given <- joint_table(die, 2 * die, totals = c(3, 8), given = TRUE)
  expect_equal(as.vector(given[, "8"]), c(0, 1, 0, 1, 0, 1) / 3)
  expect_equal(as.vector(given[, "3"]), c(1, 0, 0, 0, 0, 0))
  expect_input_error(joint_table(die, die, totals = 13, given = TRUE),
    "`totals` has the entry 13, a value that the sum takes with probability zero"
  )
  expect_input_error(joint_table(die, 2 * die, totals = c(3, 3.5), given = TRUE), "`totals` has the entry 3.5")
  # By default totals that are impossible are left out, and with joint probabilities they are columns of zeros.
  gaps <- pmf(c(0.5, 0, 0, 0.5))
  expect_identical(colnames(joint_table(gaps, gaps, given = TRUE)), c("0", "3", "6"))
  expect_equal(colSums(joint_table(gaps, gaps, given = TRUE)), c("0" = 1, "3" = 1, "6" = 1))
  expect_equal(sum(joint_table(die, die, totals = 13)), 0)
  tens <- joint_table(die / 10, c(0.5, 0.5), totals = c(0.3, 1.3))
  expect_equal(as.vector(tens[, "1.3"]), c(0, 0, 1, 0, 0, 0) / 12)
  expect_input_error(joint_table(die, die, "a"), "`totals` must be a numeric vector")
  expect_input_error(joint_table(die, die, c(2, NA)), "`totals` has the entry NA")
  expect_input_error(joint_table(die, die, given = 1), "`given` must be TRUE or FALSE")
})
