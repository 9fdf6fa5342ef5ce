# sum_pmf(): accuracy, lists of distributions and arguments.

test_that("a Poisson-binomial of 10,000 events is right in every entry and tail", {
  p <- random_factor(1e4, 1)
  reference <- convolution_reference("poisson_binomial_log")
  tail <- convolution_reference("poisson_binomial_tail_log")$value
  result <- sum_pmf(log(cbind(1 - p, p)), log = TRUE, threads = 2)
  # The given logarithms are rounded by 1e-16 each, which makes 1e-14 in a sum. The result is rounded by half a unit in
  # the last place: 1e-12 for -1e4.
  expect_lt(max(abs(result[reference$index + 1] - reference$value)), 2e-12)
  upper <- ppmf(pmf(result, log = TRUE), 9000, lower.tail = FALSE, log.p = TRUE)
  expect_equal(upper, -5482.33221125, tolerance = 1e-13)
  expect_lt(abs(upper - tail), 2e-12)

  plain <- sum_pmf(cbind(1 - p, p), threads = 2)
  seen <- reference$value > log(1e-300)
  expect_true(all(plain >= 0))
  expect_lt(max(abs(plain[reference$index[seen] + 1] / exp(reference$value[seen]) - 1)), 1e-12)
})

test_that("a 256-fold sum is right in every entry", {
  x <- numeric(51)
  x[[1L]] <- 0.006737946999085467
  for (k in 0:49) {
    x[[k + 2]] <- x[[k + 1]] * 5 / (k + 1)
  }
  r <- rep_sum_pmf(x, 256, threads = 2)
  expect_length(r, 12801)
  expect_true(all(r >= 0))
  expect_lt(worst_relative_error(r, convolution_reference("repeat")), 1e-12)
  l <- rep_sum_pmf(log(x), 256, log = TRUE, threads = 2)
  reference <- convolution_reference("repeat_log")
  # 256 logarithms, each rounded by up to 64 * 2^-53.
  expect_lt(max(abs(l[reference$index + 1] - reference$value) / pmax(1, abs(reference$value))), 1e-13)
})

test_that("sums of lists equal repeated sums of pairs, in any order", {
  set.seed(1)
  vectors <- lapply(c(3, 1, 10, 2, 7, 30), rexp)
  expected <- Reduce(reference_convolve, vectors)
  expect_equal(sum_pmf(vectors, threads = 2), expected, tolerance = 1e-14)
  expect_equal(sum_pmf(rev(vectors), threads = 2), expected, tolerance = 1e-14)
  expect_equal(exp(sum_pmf(lapply(vectors, log), log = TRUE, threads = 2)), expected, tolerance = 1e-13)
  expect_identical(sum_pmf(vectors[1], threads = 2), vectors[[1L]])
  expect_equal(sum_pmf(list(log(vectors[[1L]])), log = TRUE, threads = 2), log(vectors[[1L]]))
  rows <- matrix(rexp(35), 7)
  expect_equal(sum_pmf(rows, threads = 2), Reduce(reference_convolve, split(rows, row(rows))), tolerance = 1e-14)
  expect_identical(sum_pmf(rows[1, , drop = FALSE], threads = 2), rows[1, ])
})

test_that("distributions in a list keep their origins and scales", {
  x <- pmf(c(0.5, 0.5), from = 3)
  y <- pmf(c(0.2, 0.8), from = -10)
  s <- sum_pmf(list(x, y, c(0.25, 0.75)), threads = 2)
  expect_identical(s$from, -7)
  expect_equal(s$prob, (x + y + pmf(c(0.25, 0.75)))$prob)
  l <- sum_pmf(list(x, y), log = TRUE, threads = 2)
  expect_equal(exp(l$log_prob), (x + y)$prob)
  expect_equal(sum_pmf(list(l, x), threads = 2)$log_prob, log((x + y + x)$prob))
  expect_equal(sum_pmf(list(l, x), log = FALSE, threads = 2)$prob, (x + y + x)$prob)
})

test_that("sums of copies of one variable", {
  x <- pmf(c(0.5, 0.3, 0.2), from = -1)
  expect_identical(rep_sum_pmf(x, 1, threads = 2), x)
  expect_identical(rep_sum_pmf(x, 0), pmf(1))
  expect_identical(rep_sum_pmf(c(1, 2), 0), 1)
  expect_identical(rep_sum_pmf(c(0, 1), 0, log = TRUE), 0)
  for (times in c(2, 3, 5, 16, 31)) {
    expected <- Reduce(reference_convolve, rep(list(x$prob), times))
    r <- rep_sum_pmf(x, times, threads = 2)
    expect_identical(r$from, -times)
    expect_equal(r$prob, expected, tolerance = 1e-14)
    expect_equal(exp(rep_sum_pmf(x, times, log = TRUE, threads = 2)$log_prob), expected, tolerance = 1e-13)
  }
  expect_equal(rep_sum_pmf(c(0.5, 0.5), 1000, threads = 2), dbinom(0:1000, 1000, 0.5), tolerance = 1e-12)
  l <- rep_sum_pmf(pmf(log(c(0.999, 0.001)), log = TRUE), 20000, threads = 2)
  expect_equal(l$log_prob, dbinom(0:20000, 20000, 0.001, log = TRUE), tolerance = 1e-11)
})

test_that("long sums use the fast method within the accuracy asked", {
  set.seed(2)
  wide <- runif(3000)
  direct <- rep_sum_pmf(wide, 8, accuracy = 0, threads = 2)
  fast <- rep_sum_pmf(wide, 8, threads = 2)
  expect_false(identical(fast, direct))
  expect_lt(max(abs(fast / direct - 1)), 1e-12)
  list <- lapply(c(9000, 9500, 12000), runif)
  expect_lt(max(abs(sum_pmf(list, threads = 2) / sum_pmf(list, accuracy = 0, threads = 2) - 1)), 1e-12)
})

test_that("each bad argument has its message", {
  expect_input_error(sum_pmf(list()), "`x` is an empty list")
  both <- list(pmf_poisson(3), pmf_binomial(10, 0.3))
  expect_equal(sum_pmf(both[[1]], both[[2]]), sum_pmf(both))
  expect_input_error(sum_pmf(both[1], both[[2]]), "`x` is a list, which must hold all distributions")
  expect_input_error(sum_pmf(both[1], both[2]), "`x` is a list, which must hold all")
  expect_input_error(sum_pmf(matrix(0.5, 2, 2), both[[2]]), "`x` is a matrix, which must hold all")
  expect_input_error(sum_pmf(both, lgo = TRUE), "`lgo`")
  expect_input_error(sum_pmf(c(0.5, 0.5)), "`x` must be a distribution, a list of distributions, or a matrix")
  expect_input_error(sum_pmf(list(1, c(2, -1))), "`x\\[\\[2\\]\\]` has the entry -1 at position 2")
  expect_input_error(sum_pmf(list(pmf(1), c(2, NaN))), "`x\\[\\[2\\]\\]` has the entry NaN at position 2")
  expect_input_error(sum_pmf(list(pmf(1), 2)), "`x\\[\\[2\\]\\]` is a vector that sums to 2, not 1")
  expect_input_error(sum_pmf(list(1, numeric())), "`x\\[\\[2\\]\\]` is empty")
  expect_input_error(sum_pmf(list(1, "a")), "`x\\[\\[2\\]\\]` must be a numeric vector")
  expect_input_error(sum_pmf(matrix(0, 0, 3)), "`x` is empty: a 0 x 3 matrix")
  expect_input_error(sum_pmf(rbind(1, 0)), "`x` is all zero in row 2")
  expect_input_error(sum_pmf(list(1), log = 3), "`log` must be TRUE or FALSE")
  expect_input_error(sum_pmf(list(1), accuracy = "high"), "`accuracy` must be one number")
  expect_input_error(rep_sum_pmf(1, -1), "`times` must be one whole number from 0")
  expect_input_error(rep_sum_pmf(1, 1.5), "`times` must be one whole number from 0")
  expect_input_error(rep_sum_pmf(1, NA), "`times` must be one whole number from 0")
  expect_input_error(rep_sum_pmf(numeric(), 2), "`x` is empty")
  expect_input_error(rep_sum_pmf(pmf(1, from = 2^40), 2^20), "beyond 2\\^52")
  expect_error(rep_sum_pmf(c(0.5, 0.5), 1e12), "the result would have 1,000,000,000,001 probabilities \\(8 TB\\)",
    class = "warpbayes_error_memory"
  )
})

test_that("a data frame is refused, because rows or columns could be the distributions", {
  expect_error(sum_pmf(data.frame(a = c(0.5, 0.5), b = c(0.2, 0.8))),
    "`x` is a data frame; give as.matrix\\(x\\)", class = "warpbayes_error_input"
  )
})
