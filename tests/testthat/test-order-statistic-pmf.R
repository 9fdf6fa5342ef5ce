# Order statistics, sums of the highest and lowest, and opposed pools, against enumeration of all outcomes.

die <- pmf(rep(1 / 6, 6), from = 1)

# The distribution of f(outcome) over all outcomes of independent variables.
enumerated <- function(pool, f) {
  frames <- lapply(pool, as.data.frame)
  outcomes <- as.matrix(expand.grid(lapply(frames, function(frame) frame$value)))
  prob <- Reduce(`*`, expand.grid(lapply(frames, function(frame) frame$prob)))
  value <- round(apply(outcomes, 1, f), 9)
  sums <- tapply(prob, value, sum)
  data.frame(value = as.numeric(names(sums)), prob = as.vector(sums))
}

# The largest relative error of all probabilities that are not zero. Other values must be impossible.
error_against <- function(x, exact) {
  exact <- exact[exact$prob > 0, ]
  frame <- as.data.frame(x)
  expect_equal(sum(is.finite(frame$value) & frame[[2]] > if (is_log(x)) -Inf else 0), nrow(exact))
  max(abs(dpmf(x, exact$value) / exact$prob - 1))
}

highest_sum <- function(k) function(v) sum(sort(v, decreasing = TRUE)[seq_len(k)])
lowest_sum <- function(k) function(v) sum(sort(v)[seq_len(k)])

test_that("order statistics and sums of the highest equal enumeration", {
  expect_lt(error_against(sum_of_highest_pmf(rep(die, 4), 3), enumerated(rep(die, 4), highest_sum(3))), 1e-14)
  pools <- list(
    dice = list(die, pmf_uniform(1, 8), pmf_uniform(1, 10)),
    # Negative values, halves, gaps, a constant, and equal variables.
    ugly = list(pmf(c(0.2, 0, 0.8), from = -1.5), pmf(c(0.1, 0.2, 0.3, 0.4), from = -1, by = 0.5), pmf(1, from = 0.5),
      pmf(c(0.1, 0.2, 0.3, 0.4), from = -1, by = 0.5), pmf(c(1e-9, 1 - 1e-9), values = c(-0.5, 3)))
  )
  for (pool in pools) {
    n <- length(pool)
    for (k in seq_len(n)) {
      expect_lt(error_against(sum_of_highest_pmf(pool, k), enumerated(pool, highest_sum(k))), 1e-14)
      expect_lt(error_against(sum_of_lowest_pmf(pool, k), enumerated(pool, lowest_sum(k))), 1e-14)
      expect_lt(error_against(order_statistic_pmf(pool, k), enumerated(pool, function(v) sort(v)[k])), 1e-14)
      expect_identical(order_statistic_pmf(pool, k, highest = TRUE), order_statistic_pmf(pool, n + 1 - k))
    }
  }
  expect_equal(order_statistic_pmf(pools$dice, 3), do.call(max, pools$dice))
  expect_identical(sum_of_highest_pmf(die, 1), die)
})

test_that("eleven dice of which eight are kept, whether they are one kind or not", {
  # The sorted outcomes of 11 dice, with their multinomial probabilities: 4,368 of them.
  counts <- as.matrix(expand.grid(rep(list(0:11), 5)))
  counts <- counts[rowSums(counts) <= 11, ]
  counts <- cbind(counts, 11 - rowSums(counts))
  prob <- exp(lfactorial(11) - rowSums(lfactorial(counts)) - 11 * log(6))
  kept <- apply(counts, 1, function(count) sum(rev(rep(1:6, count))[1:8]))
  exact <- tapply(round(prob * 6^11), kept, sum) / 6^11
  same <- sum_of_highest_pmf(rep(die, 11), 8)
  expect_lt(max(abs(dpmf(same, as.numeric(names(exact))) / exact - 1)), 1e-14)
  # A die on the same values that is not identical takes the other way.
  mixed <- sum_of_highest_pmf(c(rep(die, 10), pmf(c(die$prob, 0), from = 1)), 8)
  expect_lt(max(abs(mixed$prob / same$prob - 1)), 1e-14)
})

test_that("other units, and logarithms of probabilities", {
  pool <- list(die, pmf_uniform(1, 8), pmf_uniform(1, 10), die)
  cents <- lapply(pool, function(one) one * 0.01)
  expect_equal(sum_of_highest_pmf(cents, 2)$prob, sum_of_highest_pmf(pool, 2)$prob, tolerance = 1e-15)
  expect_identical(as.data.frame(order_statistic_pmf(cents, 2))$value, (1:6) / 100)
  expect_identical(as.data.frame(sum_of_highest_pmf(cents, 2))$value, (2:18) / 100)
  logs <- lapply(pool, function(one) pmf(log(one$prob), from = one$from, log = TRUE))
  expect_equal(exp(sum_of_highest_pmf(logs, 2)$log_prob), sum_of_highest_pmf(pool, 2)$prob, tolerance = 1e-14)
  expect_equal(exp(sum_of_highest_pmf(logs[c(1, 1, 1)], 2)$log_prob), sum_of_highest_pmf(pool[c(1, 1, 1)], 2)$prob,
    tolerance = 1e-14)
  expect_equal(exp(order_statistic_pmf(logs, 3)$log_prob), order_statistic_pmf(pool, 3)$prob, tolerance = 1e-14)
  expect_equal(opposed_pools_pmf(logs[1:2], logs[3:4]), opposed_pools_pmf(pool[1:2], pool[3:4]), tolerance = 1e-14)
  expect_equal(sorted_pool(logs, 2), sorted_pool(pool, 2), tolerance = 1e-14)
  # Far beyond doubles: the least of 20 variables that are 1 with the probability e^-100.
  rare <- pmf(c(log1p(-exp(-100)), -100), log = TRUE)
  expect_equal(dpmf(order_statistic_pmf(rep(rare, 20), 1), 1, log = TRUE), -2000)
  expect_equal(dpmf(sum_of_highest_pmf(rep(rare, 20), 19), 19, log = TRUE), -1900 + log(20))
})

test_that("the ten highest of 20 dice of different kinds", {
  skip_where_repeated()
  pool <- lapply(1 + 1:20, function(sides) pmf_uniform(1, sides))
  kept <- sum_of_highest_pmf(pool, 10)
  expect_equal(sum(kept$prob), 1, tolerance = 1e-14)
  # The expected sum of the ten highest is the sum of ten expected order statistics.
  expect_equal(mean(kept), sum(vapply(1:10, function(k) mean(order_statistic_pmf(pool, k, TRUE)), 0)),
    tolerance = 1e-13)
})

test_that("k out of n, against the binomial distribution", {
  lifetime <- pmf_geometric(0.05, tail = 1e-15)
  system <- order_statistic_pmf(rep(lifetime, 10), 7, highest = TRUE)
  # The system works beyond t as long as at least 7 of 10 parts do.
  expect_equal(ppmf(system, 0:40, lower.tail = FALSE),
    pbinom(6, 10, pgeom(0:40, 0.05, lower.tail = FALSE), lower.tail = FALSE), tolerance = 1e-12)
})

test_that("opposed pools, against enumeration", {
  wins <- function(n, m, pairs, beats) {
    function(v) {
      x <- sort(v[seq_len(n)], decreasing = TRUE)
      y <- sort(v[n + seq_len(m)], decreasing = TRUE)
      sum(beats(x[seq_len(pairs)], y[seq_len(pairs)]))
    }
  }
  # The published odds of the game Risk, three dice against two: 2275, 2611 and 2890 of 7776.
  expect_equal(opposed_pools_pmf(rep(die, 3), rep(die, 2))$prob * 7776, c(2275, 2611, 2890), tolerance = 1e-14)
  x <- list(die, pmf_uniform(1, 4), die)
  y <- list(pmf_uniform(2, 7), die)
  expect_lt(error_against(opposed_pools_pmf(x, y), enumerated(c(x, y), wins(3, 2, 2, `>`))), 1e-14)
  expect_lt(error_against(opposed_pools_pmf(y, x, ties = "win"), enumerated(c(y, x), wins(2, 3, 2, `>=`))), 1e-14)
  expect_lt(error_against(opposed_pools_pmf(x, y, pairs = 1), enumerated(c(x, y), wins(3, 2, 1, `>`))), 1e-14)
  scaled <- function(pool) lapply(pool, function(one) one * 0.1)
  expect_equal(opposed_pools_pmf(scaled(x), scaled(y)), opposed_pools_pmf(x, y))
})

test_that("the joint distribution of sorted values, against enumeration", {
  pool <- list(die, pmf_uniform(1, 4) * 0.5, pmf(c(0.9, 0.1), values = c(-1, 6)), die)
  frames <- lapply(pool, as.data.frame)
  outcomes <- as.matrix(expand.grid(lapply(frames, function(frame) frame$value[frame$prob > 0])))
  prob <- Reduce(`*`, expand.grid(lapply(frames, function(frame) frame$prob[frame$prob > 0])))
  for (k in 1:4) {
    for (highest in c(TRUE, FALSE)) {
      sorted <- sorted_pool(pool, k, highest)
      labels <- do.call(paste, sorted[seq_len(k)])
      kept <- apply(outcomes, 1, function(v) paste(sort(v, decreasing = highest)[seq_len(k)], collapse = " "))
      exact <- tapply(prob, kept, sum)
      expect_setequal(labels, names(exact))
      expect_lt(max(abs(sorted$prob / exact[labels] - 1)), 1e-14)
    }
  }
  expect_identical(nrow(sorted_pool(rep(die, 3))), 56L)
  expect_equal(sorted_pool(die), data.frame(x1 = 1:6, prob = rep(1 / 6, 6)))
})

test_that("random pools on decimal lattices equal enumeration", {
  skip_where_repeated()
  set.seed(3)
  worst <- 0
  # The long form has been run with 2,000 pools: the largest relative error was 6.7e-16.
  for (i in seq_len(if (extended()) 2000 else 10)) {
    pool <- lapply(seq_len(sample(2:4, 1)), function(j) {
      size <- sample(1:5, 1)
      prob <- rexp(size)^4
      by <- sample(c(0.1, 0.2, 0.05, 1, 2.5), 1)
      pmf(prob / sum(prob), from = sample(-9:9, 1) * by, by = by)
    })
    k <- sample(length(pool), 1)
    worst <- max(worst, error_against(sum_of_highest_pmf(pool, k), enumerated(pool, highest_sum(k))),
      error_against(sum_of_lowest_pmf(pool, k), enumerated(pool, lowest_sum(k))),
      error_against(order_statistic_pmf(pool, k), enumerated(pool, function(v) sort(v)[k])))
  }
  expect_lt(worst, 1e-14)
})

test_that("what variables leave out is left out of their order statistics", {
  cut <- pmf_poisson(3, tail = 1e-9)
  expect_equal(left_out(order_statistic_pmf(list(cut, die, cut), 2))[["above"]], sum(left_out(cut)) * 2)
  expect_equal(left_out(sum_of_highest_pmf(list(cut, die, cut), 2))[["below"]], sum(left_out(cut)) * 2)
  expect_equal(left_out(opposed_pools_pmf(list(cut, die), cut))[["above"]], sum(left_out(cut)) * 2)
  expect_identical(unname(left_out(sum_of_highest_pmf(rep(die, 3), 2))), c(0, 0))
})

test_that("arguments that cannot be used", {
  expect_input_error(order_statistic_pmf(1:3, 2), "`x` must be a list of distributions")
  expect_input_error(order_statistic_pmf(list(), 1), "`x` must be a list of distributions")
  expect_input_error(sum_of_highest_pmf(list(die, 3), 1), "`x\\[\\[2\\]\\]` must be a distribution")
  expect_input_error(sum_of_highest_pmf(rep(die, 3), 4), "`k` must be one whole number from 1 to 3, not 4")
  expect_input_error(sum_of_lowest_pmf(rep(die, 3), 0), "`k` must be one whole number from 1 to 3, not 0")
  expect_input_error(order_statistic_pmf(rep(die, 3), 1.5), "`k` must be one whole number")
  expect_input_error(opposed_pools_pmf(rep(die, 3), rep(die, 2), pairs = 3), "`pairs` must be one whole number from 1")
  expect_input_error(opposed_pools_pmf(rep(die, 3), die, ties = "draw"), "`ties` must be one of")
  expect_input_error(sorted_pool(die, 2), "`k` must be one whole number from 1 to 1, not 2")
  expect_input_error(sorted_pool(rep(die, 3), 2, "low"), "`highest` must be TRUE or FALSE")
  expect_error(sorted_pool(rep(pmf_uniform(1, 100), 30)), class = "warpbayes_error")
  far <- pmf(c(0.5, 0.5), values = c(0, 1e14 + 1))
  expect_equal(mean(sum_of_highest_pmf(list(far, die), 1)), (1e14 + 1 + 3.5) / 2)
  expect_equal(mean(sum_of_highest_pmf(list(far, die, die), 2)), (1e14 + 1 + 161 / 36 + 7) / 2)
  expect_error(opposed_pools_pmf(lapply(1:40, pmf_uniform, from = 0), die), class = "warpbayes_error")
})

test_that("c() joins lists of distributions and single ones", {
  pool <- c(rep(die, 2), -die, rep(2 * die, 2))
  expect_s3_class(pool, "pmf_list")
  expect_length(pool, 5)
  expect_identical(pool[[3]], -die)
})
