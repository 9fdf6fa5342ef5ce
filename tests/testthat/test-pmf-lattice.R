# Distributions on multiples of a step.

die <- pmf(rep(1 / 6, 6), from = 1)

# Sums of values and products of probabilities of all pairs, grouped by R.
pairs_of <- function(x, y) {
  a <- as.data.frame(x)
  b <- as.data.frame(y)
  value <- as.vector(outer(a$value, b$value, "+"))
  sums <- tapply(as.vector(outer(a$prob, b$prob)), round(value, 8), sum)
  values <- tapply(value, round(value, 8), mean)
  list(value = as.vector(sort(values)), prob = as.vector(sums[order(values)]))
}

values_in <- function(x) as.data.frame(x)$value

expect_same <- function(x, expected, tolerance = 1e-12) {
  frame <- as.data.frame(x)
  frame <- frame[frame$prob > 0, ]
  expect_equal(frame$value, expected$value, tolerance = 1e-12)
  expect_equal(frame$prob, expected$prob, tolerance = tolerance)
}

test_that("multiples and shifts change only the values", {
  expect_identical(as.data.frame(2 * die)$value, 2 * (1:6))
  expect_identical((2 * die)$prob, die$prob)
  expect_identical(as.data.frame(die / 2)$value, (1:6) / 2)
  expect_identical(as.data.frame(die / 10)$value, (1:6) / 10)
  expect_identical(as.data.frame(die / 3)$value, (1:6) / 3)
  expect_identical(as.data.frame(-2 * die)$value, -2 * (6:1))
  expect_identical(as.data.frame(die * 0.25 + 0.1)$value, 0.1 + 0.25 * (1:6))
  expect_identical(1 * die, die)
  expect_identical((die / 10) * 10, die)
  expect_identical(unclass(0 * die), list(prob = 1, from = 0))
  expect_equal(mean(3 * die - 0.5), 10)
  expect_equal(variance(die / 2), 35 / 48)
  expect_equal(summary(2 * die)$kurtosis, summary(die)$kurtosis)
  expect_equal(summary(die)$kurtosis, -1.268571, tolerance = 1e-6)
  expect_identical(format(die / 2), "pmf on 0.5..3 by 0.5")
  expect_output(print(die / 2), "on 0.5..3 by 0.5\nmean 1.75, sd 0.8539; quartiles 1, 1.5, 2.5\n")
})

test_that("d, p, q and r functions use the step", {
  x <- die / 10
  expect_identical(dpmf(x, c(0.3, 0.1 * 3, 0.35, 0.7, NA)), c(1 / 6, 1 / 6, 0, 0, NA))
  expect_equal(ppmf(x, c(-1, 0.1, 0.29, 0.3, 0.1 * 3, 0.6, 9, NA, Inf, -Inf)), c(0, 1, 2, 3, 3, 6, 6, NA, 6, 0) / 6)
  expect_equal(ppmf(x, c(0.3, 0.6), lower.tail = FALSE), c(0.5, 0))
  expect_identical(qpmf(x, c(0, 0.5, 1)), c(0.1, 0.3, 0.6))
  expect_identical(sort(unique(rpmf(x, 1000, seed = 1))), (1:6) / 10)
  expect_identical(qpmf(x, ppmf(x, (1:6) / 10)), (1:6) / 10)
  # The distribution may come first.
})

test_that("a sum of different steps has the common step", {
  tens <- pmf(c(0.2, 0.3, 0.5), from = 0.1, by = 0.1)
  fives <- pmf(c(0.4, 0.6), from = -1, by = 0.25)
  sum <- tens + fives
  expect_equal(sum$by, 0.05)
  expect_same(sum, pairs_of(tens, fives))
  expect_same(2 * die + die, pairs_of(2 * die, die))
  expect_same(die / 3 - die / 2, pairs_of(die / 3, -(die / 2)))
  expect_same(sum_pmf(list(2 * die, die / 2, tens), threads = 2), pairs_of(2 * die + die / 2, tens))
  expect_equal(rep_sum_pmf(die / 2, 4, threads = 2)$prob, rep_sum_pmf(die, 4, threads = 2)$prob)
  expect_identical(rep_sum_pmf(die / 2, 4, threads = 2)$by, 0.5)
  l <- pmf(log(die$prob), from = 1, log = TRUE, by = 0.5)
  expect_equal(exp((l + die)$log_prob), (pmf(die$prob, from = 1, by = 0.5) + die)$prob)
  expect_identical(warpbayes:::common_step(c(12, 18, 30)), 6)
  expect_equal(warpbayes:::common_step(c(1 / 3, 1 / 7)), 1 / 21)
  expect_same(die + die * pi, pairs_of(die, die * pi))
  expect_equal(as.data.frame(max(pmf(1, from = 12345678), pmf(c(0.5, 0.5), from = 1 / 3, by = 1e6)))$value, 12345678)
  expect_identical(values_in(die + die * (1 + 5e-13))[1:3], c(2.0000000000005, 3.0000000000005, 3.000000000001))
  expect_input_error(die * pi + die * (pi * (1 + 5e-13)),
    "the steps 3.14159265358979 and 3.14159265359136 of the distributions have no common step"
  )
  expect_same(die * pi + die * exp(1), pairs_of(die * pi, die * exp(1)))
  expect_input_error(pmf(c(0.5, 0.5), by = 1e200) + die,
    "the values of the distributions would be more than 2\\^53 common steps, 1, apart")
  expect_input_error(pmf(c(0.5, 0.5), by = 1e-290) + die, "more than 2\\^53 common steps, 1e-290, apart")
})

test_that("values determine the step, may repeat and may be far apart", {
  x <- pmf(c(0.3, 0.5, 0.2), values = c(1.95, 1.5, 2.5))
  expect_identical(x$by, 0.05)
  expect_identical(dpmf(x, c(1.5, 1.95, 2.5, 2)), c(0.5, 0.3, 0.2, 0))
  expect_equal(pmf(c(0.3, 0.5, 0.2), values = c(7, 3, 7))$prob, c(0.5, 0.5))
  expect_identical(pmf(1, values = 2.75)$from, 2.75)
  expect_equal(pmf(c(0.5, 0.5), values = c(0, 1 / 3), by = 1 / 3)$by, 1 / 3)
  far <- pmf(c(0.9, 0.1), values = c(0, 1e9 + 1))
  expect_identical(far$by, 1e9 + 1)
  expect_input_error(pmf(c(0.5, 0.5), values = 1),
    "`values` must be numbers of at most 2\\^52 in absolute value, as many as probabilities \\(2\\)"
  )
  expect_input_error(pmf(c(0.5, 0.5), values = c(1, NA)), "`values` must be numbers")
  expect_input_error(pmf(c(0.5, 0.5), values = c(0, sqrt(2))),
    "`values` are neither whole numbers nor decimal fractions: give the step"
  )
  expect_input_error(pmf(c(0.5, 0.5), values = c(0, 0.3), by = 0.2),
    "`values` must be multiples of `by`, 0.2, apart.* 0.3 is not"
  )
  expect_input_error(pmf(1, from = 2, values = 2), "`from` and `values` are both given")
  expect_input_error(pmf(1, by = 0), "`by` must be one finite number above 0, not 0")
  expect_input_error(die * "a", "`e2` of \\* must be one number, and the other a distribution, not \"a\"")
  expect_input_error(die * die, "`e2` of \\* must be one number")
  expect_input_error(die / 0, "`e2` of / must be one number other than 0")
  expect_input_error(2 / die, "`e2` of / must be one number")
  expect_input_error((die + 2^50) * 2^10, "`e2` is 1024: the values would be beyond 2\\^52")
})

test_that("a few values far apart take little memory", {
  set.seed(2)
  values <- c(sort(floor(runif(999) * 1e9)), 1e9 + 1)
  prob <- rexp(1000)
  x <- pmf(prob, values = values, normalize = TRUE)
  expect_lt(as.numeric(object.size(x)), 2e4)
  expect_identical(as.data.frame(x)$value, values)
  expect_identical(dpmf(x, values[c(5, 500)]), x$prob[c(5, 500)])
  expect_identical(dpmf(x, values[[5]] + 1), 0)
  expect_equal(ppmf(x, values), cumsum(x$prob))
  expect_identical(qpmf(x, cumsum(x$prob)[1:900]), values[1:900])
  expect_equal(mean(x), sum(values * x$prob))
  expect_true(all(rpmf(x, 100, seed = 1) %in% values))
  expect_identical(format(x), sprintf("pmf on 1000 values in %.0f..1000000001", values[[1]]))
  few <- pmf(c(0.5, 0.25, 0.25), values = c(0, 123456789, 987654321))
  expect_same(few + few, pairs_of(few, few))
  expect_same(few - few, pairs_of(few, -few))
  expect_same(few + die, pairs_of(few, die))
  expect_same(rep_sum_pmf(few, 3, threads = 2), pairs_of(few, few + few))
  expect_same(sum_pmf(list(few, die, few), threads = 2), pairs_of(few + few, die))
  expect_identical((2 * few)$at, few$at)
  expect_equal(variance(rep_sum_pmf(x, 2, threads = 2)), 2 * variance(x))
  l <- pmf(log(few$prob), values = c(0, 123456789, 987654321), log = TRUE)
  expect_equal(exp((l + l)$log_prob), (few + few)$prob)
  expect_equal((l + few)$log_prob, (l + l)$log_prob)
  expect_identical(rep_sum_pmf(few, 0, threads = 2)$prob, 1)
  # Products that exceed the range of doubles.
  small <- pmf(c(1e-200, 1), values = c(0, 1e9 + 7))
  expect_identical((small + small)$prob[[2]], 2e-200)
})

test_that("conditioning on a sum handles steps and gaps", {
  tens <- pmf(c(0.2, 0.3, 0.5), from = 0.1, by = 0.1)
  fives <- pmf(c(0.4, 0.6), by = 0.2)
  given <- condition_on_sum_pmf(tens, fives, 0.3)
  expect_equal(dpmf(given$x, c(0.1, 0.3)), c(0.2 * 0.6, 0.5 * 0.4) / 0.32)
  expect_equal(dpmf(given$y, c(0.2, 0)), c(0.2 * 0.6, 0.5 * 0.4) / 0.32)
  few <- pmf(c(0.5, 0.25, 0.25), values = c(0, 123456789, 987654321))
  expect_equal(dpmf(condition_on_sum_pmf(few, few, 123456789)$x, c(0, 123456789)), c(0.5, 0.5))
  expect_input_error(condition_on_sum_pmf(tens, fives, 0.25),
    "`total` is 0.25, a value that the sum takes with probability zero"
  )
  expect_input_error(condition_on_sum_pmf(few, few, 5),
    "`total` is 5, a value that the sum takes with probability zero")
})

test_that("equal values are equal doubles, whatever they were computed from", {
  claim <- discretize_pmf(pgamma, by = 0.1, shape = 2, rate = 1)
  total <- compound_pmf("poisson", claim, lambda = 3)
  for (retention in seq(1, 300, by = if (repeated()) 37 else 7) / 10) {
    layer <- layer_pmf(total, retention, 5)
    mapped <- map_pmf(total, function(v) pmin(pmax(v - retention, 0), 5))
    expect_identical(values_in(layer), (0:50) / 10)
    expect_identical(values_in(mapped), values_in(layer))
    expect_equal(dpmf(layer, 0), ppmf(total, retention), tolerance = 1e-14)
    expect_equal(mean(zero_modify_pmf(layer, dpmf(layer, 0))), mean(layer))
  }
  cents <- pmf(rep(0.01, 100), by = 0.01)
  for (r in if (repeated()) 29 else 1:99) {
    expect_identical(values_in(max(cents - r / 100, 0)), (0:(99 - r)) / 100)
    expect_identical(cents - r / 100 + r / 100, cents)
  }
  start <- max(pmf(c(0.5, 0.5), values = c(-1000, -999)), pmf(c(0.25, 0.75), from = 0.2, by = 0.2))
  expect_identical(values_in(start), c(0.2, 0.4))
  constant <- max(pmf(1, from = 0.3), pmf(1, from = 0.1 + 0.2))
  expect_identical(constant, pmf(1, from = 0.3))
  expect_identical(values_in(constant + pmf(c(0.5, 0.5), by = 0.1)), c(0.3, 0.4))
  # The same distribution by different ways is the same object.
  expect_identical(die / 10 + 0.1 + 0.2, die / 10 + 0.3)
  expect_identical((die / 3) * 3 / 7, die / 7)
  expect_identical(die / 3 / 0.1 + 1 / 7 - 1 / 7, die * 10 / 3)
  expect_identical(values_in(die * pi), pi * (1:6))
  expect_identical(die * pi + exp(1) - exp(1), die * pi)
  sums <- list(die / 10 + die / 4, die / 4 + die / 10, sum_pmf(die / 10, die / 4), (2 * die + 5 * die) / 20)
  for (one in sums) expect_identical(values_in(one), (7:42) / 20)
  given <- as.data.frame(condition_on_sum_pmf(die / 10, die / 4, 0.1 + 0.75)$x)
  expect_identical(given$value[given$prob > 0], c(0.1, 0.6))
  expect_identical(as.numeric(colnames(joint_table(die / 10, die / 10))), (2:12) / 10)
  # A first value that is tiny beside the step is not 0.
  tiny <- pmf(c(0.25, 0.75), values = c(1e-9, 3e9))
  expect_identical(values_in(tiny), c(1e-9, 3e9))
  expect_identical(dpmf(tiny, c(0, 1e-9, 3e9)), c(0, 0.25, 0.75))
  expect_identical(values_in(tiny + tiny), c(2e-9, 3e9, 6e9))
})

test_that("objects that were changed by hand have the same values", {
  x <- die / 10
  old <- structure(list(prob = die$prob, from = 0.1, by = 0.1), class = c("pmf", "warpbayes"))
  expect_identical(values_in(old), values_in(x))
  expect_identical(old + 0.5, x + 0.5)
  expect_identical(values_in(old + old), values_in(x + x))
  x$from <- 0.25
  expect_equal(values_in(x), 0.25 + (0:5) / 10)
  expect_identical(values_in(x + 0), values_in(x))
  x$parts <- "a"
  expect_input_error(mean(x), "`parts` is \"a\"")
})

# Distributions on all kinds of supports, some with impossible values.
random_support <- function() {
  steps <- c(1, 1, 2, 3, 0.5, 0.1, 0.25, 1 / 3, 1e6, 7)
  n <- sample(c(1, 2, 3, 6, 10), 1)
  prob <- rexp(n)^sample(c(1, 8), 1)
  prob[sample(n, n %/% 3)] <- 0
  prob <- prob / sum(prob)
  if (runif(1) < 0.6) return(pmf(prob, from = sample(-3:5, 1) * sample(c(1, 0.5, 1 / 3), 1), by = sample(steps, 1)))
  pmf(prob, values = sort(sample(c(-5:20, 1e9 + 1:10, 12345678), n)))
}

# The distribution of f of two independent variables, from all pairs.
expect_pairs <- function(result, x, y, f, prob = NULL) {
  a <- as.data.frame(x)
  b <- as.data.frame(y)
  value <- as.vector(outer(a$value, b$value, f))
  if (is.null(prob)) prob <- as.vector(outer(a$prob, b$prob))
  sorted <- order(value)
  group <- cumsum(c(TRUE, diff(value[sorted]) > 1e-6))
  sums <- as.vector(tapply(prob[sorted], group, sum))
  frame <- as.data.frame(result)
  frame <- frame[frame$prob > 0, ]
  expect_identical(nrow(frame), sum(sums > 0))
  expect_lt(max(abs(frame$value - value[sorted][!duplicated(group)][sums > 0])), 1e-6)
  expect_lt(max(abs(frame$prob / sums[sums > 0] - 1)), 1e-12)
}

test_that("sums, extremes and mixtures on random supports agree with all pairs", {
  set.seed(5)
  for (i in seq_len(if (extended()) 1000 else if (repeated()) 5 else 15)) {
    x <- random_support()
    y <- random_support()
    expect_pairs(x + y, x, y, `+`)
    expect_pairs(x - y, x, y, `-`)
    expect_pairs(max(x, y), x, y, pmax)
    expect_pairs(min(x, y), x, y, pmin)
    expect_pairs(sum_pmf(list(x, y, x), threads = 2), x + y, x, `+`)
    expect_pairs(rep_sum_pmf(x, 2, threads = 2), x, x, `+`)
    only <- pmf(1)
    a <- as.data.frame(x)
    expect_pairs((x * 3 / 3 + 0.7) - 0.7, x, only, `+`)
    expect_identical(dpmf(x, a$value), a$prob)
    total <- rpmf(x + y, 1, seed = i)
    given <- condition_on_sum_pmf(x, y, total)$x
    joint <- outer(a$prob, as.data.frame(y)$prob)
    joint <- joint * (abs(outer(a$value, as.data.frame(y)$value, `+`) - total) < 1e-6)
    expect_pairs(given, x, y, function(u, v) u, as.vector(joint / sum(joint)))
  }
})
