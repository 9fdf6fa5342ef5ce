# Exact distributions of rank statistics, against R's own without ties and enumeration with ties.

# The p-values of all three definitions, by enumeration of the values of the statistic.
enumerated_p_values <- function(all, observed) {
  mean <- mean(all)
  share <- table(round(all, 8)) / length(all)
  own <- share[[which.min(abs(as.numeric(names(share)) - observed))]]
  c(doubled = min(1, 2 * min(mean(all <= observed + 1e-9), mean(all >= observed - 1e-9))),
    distance = mean(abs(all - mean) >= abs(observed - mean) - 1e-9),
    likelihood = sum(share[share <= own * (1 + 1e-9)]))
}

# The statistic for all groups, or for all signs.
of_all_groups <- function(scores, size) combn(length(scores), size, function(index) sum(scores[index]))
of_all_signs <- function(scores) {
  as.vector(as.matrix(expand.grid(rep(list(0:1), length(scores)))) %*% scores)
}

error_against_all <- function(law, all) {
  share <- table(round(all, 8)) / length(all)
  expect_equal(sum(law$prob > 0), length(share))
  max(abs(dpmf(law, as.numeric(names(share))) / as.vector(share) - 1))
}

test_that("without ties the distributions are those of R", {
  for (n in c(1, 6, 20, 50)) {
    v <- 0:(n * (n + 1) / 2)
    expect_lt(max(abs(dpmf(pmf_signed_rank(seq_len(n)), v) / dsignrank(v, n) - 1)), 1e-14)
    expect_equal(ppmf(pmf_signed_rank(seq_len(n)), v), psignrank(v, n), tolerance = 1e-13)
  }
  for (sizes in list(c(1, 1), c(3, 7), c(25, 20))) {
    w <- 0:prod(sizes)
    law <- pmf_rank_sum(seq_len(sizes[1]), sizes[1] + seq_len(sizes[2]))
    expect_lt(max(abs(dpmf(law, w) / dwilcox(w, sizes[1], sizes[2]) - 1)), 1e-14)
    expect_equal(ppmf(law, w), pwilcox(w, sizes[1], sizes[2]), tolerance = 1e-13)
  }
  set.seed(1)
  x <- rnorm(9)
  y <- rnorm(12, 0.8)
  for (alternative in c("two.sided", "less", "greater")) {
    expect_equal(rank_test(x, y, alternative = alternative)$p.value,
      wilcox.test(x, y, alternative = alternative)$p.value)
    expect_equal(rank_test(x, y[1:9], TRUE, 0.1, alternative)$p.value,
      wilcox.test(x, y[1:9], paired = TRUE, mu = 0.1, alternative = alternative)$p.value)
    parts <- c("statistic", "p.value", "null.value", "alternative")
    expect_equal(rank_test(x, mu = 0.3, alternative = alternative)[parts],
      wilcox.test(x, mu = 0.3, alternative = alternative)[parts], ignore_attr = TRUE)
  }
})

test_that("with ties the distributions are those of all permutations", {
  x <- c(3, 3, 5, 6, 7, 7)
  y <- c(1, 3, 3, 4, 5, 9, 9)
  ranks <- rank(c(x, y))
  all <- of_all_groups(ranks, 6) - 21
  law <- pmf_rank_sum(x, y)
  expect_lt(error_against_all(law, all), 1e-14)
  observed <- sum(ranks[1:6]) - 21
  for (method in c("doubled", "distance", "likelihood")) {
    expect_equal(rank_test(x, y, method = method)$p.value, enumerated_p_values(all, observed)[[method]])
  }
  expect_equal(unname(rank_test(x, y)$statistic), observed)
  expect_equal(rank_test(x, y, alternative = "less")$p.value, mean(all <= observed))
  expect_equal(rank_test(x, y, alternative = "greater")$p.value, mean(all >= observed))
  # More in the first group than in the second.
  expect_lt(error_against_all(pmf_linear_rank(ranks, 10), of_all_groups(ranks, 10)), 1e-14)
  expect_identical(mean(pmf_linear_rank(ranks, 13)), sum(ranks))
  expect_identical(mean(pmf_linear_rank(ranks, 0)), 0)

  d <- c(2, 1, 1, 3, 2, 1, 0, 1, -4, -1)
  dropped <- d[d != 0]
  expect_lt(error_against_all(pmf_signed_rank(d), of_all_signs(rank(abs(dropped)))), 1e-14)
  with_zero <- rank(abs(d))[d != 0]
  expect_lt(error_against_all(pmf_signed_rank(d, zeros = "pratt"), of_all_signs(with_zero)), 1e-14)
  expect_equal(rank_test(d, zeros = "pratt")$p.value,
    enumerated_p_values(of_all_signs(with_zero), sum(with_zero[dropped > 0]))[["doubled"]])
})

test_that("scores that are not whole numbers", {
  scores <- c(-1.5, 0.25, 0.25, 1.75, 2, 3.5, -0.125, 10)
  expect_silent(law <- pmf_linear_rank(scores, 3))
  expect_lt(error_against_all(law, of_all_groups(scores, 3)), 1e-14)
  expect_silent(law <- pmf_signed_scores(scores))
  expect_lt(error_against_all(law, of_all_signs(scores)), 1e-14)
  expect_lt(error_against_all(pmf_linear_rank(rep(0.3, 5), 2), rep(0.6, 10)), 1e-14)
  # Scores of other units have the same probabilities.
  expect_equal(pmf_linear_rank(scores * 1e-3, 3)$prob, pmf_linear_rank(scores, 3)$prob)
  # Normal scores have no step: they are rounded, and that is said.
  normal <- function(r) qnorm(r / (length(r) + 1))
  x <- c(1.1, 2.5, 3.7, 4)
  y <- c(0.3, 1.9, 2.1, 2.2, 3)
  expect_message(test <- rank_test(x, y, scores = normal), "scores are rounded to multiples of [125]e-0",
    class = "warpbayes_rounded")
  scores <- normal(rank(c(x, y)))
  expect_equal(test$p.value, enumerated_p_values(of_all_groups(scores, 4), sum(scores[1:4]))[["doubled"]])
  expect_equal(unname(test$statistic), sum(scores[1:4]), tolerance = 1e-5)
  expect_silent(test <- rank_test(x, y, scores = normal, by = 0.5))
  rounded <- round(scores / 0.5) * 0.5
  expect_equal(test$p.value, enumerated_p_values(of_all_groups(rounded, 4), sum(rounded[1:4]))[["doubled"]])
  expect_identical(as.data.frame(pmf_linear_rank(5, 1)), data.frame(value = 5, prob = 1))
  expect_identical(as.data.frame(pmf_signed_scores(c(0, 0))), data.frame(value = 0, prob = 1))
  expect_message(pmf_signed_scores(c(pi, exp(1), sqrt(2))), "rounded", class = "warpbayes_rounded")
})

test_that("scores are rounded finely, and too many groups are refused", {
  skip_where_repeated()
  law <- suppressMessages(pmf_linear_rank(qnorm(1:60 / 61), 30))
  # The variance of the sum of a group drawn at random, of scores rounded as the message says.
  expect_equal(variance(law), 30 * 30 / 60 * var(round(qnorm(1:60 / 61) / law$by) * law$by), tolerance = 1e-12)
  expect_lt(law$by, 0.0021)
  expect_input_error(pmf_rank_sum(1:20000, 1:20000), "`x` has too many values \\(40000\\) to count all groups")
  expect_input_error(pmf_linear_rank(1:1e6, 2), "`scores` has too many values \\(1000000\\) to count all groups")
  # The number of groups of 300 is far above 2^53.
  expect_equal(dpmf(pmf_linear_rank(rep(0:1, each = 300), 300), 0:300), dhyper(0:300, 300, 300, 300), tolerance = 1e-12)
})

test_that("laws of samples too large to count groups have the stated errors", {
  skip_where_repeated()
  # Two scores: hypergeometric, with 2e901 groups.
  x <- pmf_linear_rank(rep(0:1, each = 1500), 1500)
  exact <- dhyper(650:850, 1500, 1500, 1500)
  expect_lt(max(abs(dpmf(x, 650:850) / exact - 1)), 1e-11)
  # Both ways, where both are possible, with ties and without.
  for (values in list(60, 7)) {
    set.seed(values)
    at <- sort(2 * rank(sample(values, 60, TRUE)))
    at <- at - at[[1L]]
    counted <- count_groups(at, 25)$weights
    run <- resolve_run("cpu", work = 0)
    transformed <- native(C_pmf_groups, at, 25, length(counted), FALSE, run)
    expect_identical(transformed > 0, counted > 0)
    expect_lt(max(abs(transformed / counted * sum(counted) - 1)[counted > 0]), 1e-9)
    near <- counted > 1e-4 * max(counted)
    expect_lt(max(abs(transformed / counted * sum(counted) - 1)[near]), 1e-12)
  }
  # Mean and variance of the rank sum with ties, and a normal approximation with a correction for them.
  set.seed(1)
  x <- sample(5, 1000, TRUE)
  y <- sample(5, 1000, TRUE, prob = c(1, 1, 1, 1, 1.5))
  test <- rank_test(x, y)
  expect_equal(mean(test$distribution), 5e5, tolerance = 1e-12)
  expect_equal(variance(test$distribution), 1e6 / (2000 * 1999) * 1999 * var(rank(c(x, y))), tolerance = 1e-10)
  expect_equal(test$p.value, suppressWarnings(wilcox.test(x, y)$p.value), tolerance = 0.05)
})

test_that("rounding breaks no ties, units do not matter, and missing values are left out", {
  before <- c(0.3, 0.7, 1.1, 1.6, 2.2)
  after <- c(0.2, 0.6, 1.0, 1.3, 2.2)
  expect_gt(length(unique(abs(before - after))), 3)
  expect_identical(rank_test(before, after, paired = TRUE)[c("statistic", "p.value")],
    rank_test(round(10 * before), round(10 * after), paired = TRUE)[c("statistic", "p.value")])
  expect_identical(pmf_signed_rank(before, after), pmf_signed_rank(c(1, 1, 1, 3)))
  expect_equal(rank_test(before * 1e6, after * 1e6)$p.value, rank_test(before, after)$p.value)
  expect_identical(rank_test(c(before, NA), c(NA, after))$p.value, rank_test(before, after)$p.value)
  expect_identical(pmf_signed_rank(c(before, NA), c(after, 1)), pmf_signed_rank(before, after))
})

test_that("p-values of any distribution", {
  x <- pmf(c(0.1, 0.2, 0.4, 0.3), from = 1)
  expect_equal(exact_p_value(x, 1:4), c(0.2, 0.6, 1, 0.6))
  expect_equal(exact_p_value(x, 1:4, "less"), c(0.1, 0.3, 0.7, 1))
  expect_equal(exact_p_value(x, 1:4, "greater"), c(1, 0.9, 0.7, 0.3))
  expect_equal(exact_p_value(x, c(1, 2, 4), method = "likelihood"), c(0.1, 0.3, 0.6))
  # The mean is 2.9, so 4 is farther away than 2.
  expect_equal(exact_p_value(x, c(1, 2, 3, 4), method = "distance"), c(0.1, 0.6, 1, 0.4))
  # Numbers that are no values, and missing ones.
  expect_equal(exact_p_value(x, c(0, 2.5, NA), "greater"), c(1, 0.7, NA))
  expect_equal(exact_p_value(x, c(0, 2.5, NA), "two.sided"), c(0, 0.6, NA))
  expect_equal(exact_p_value(x, c(0, NA), method = "likelihood"), c(0, NA))
  # The two-sided p-value of Fisher's test.
  table <- matrix(c(3, 9, 11, 4), 2)
  law <- pmf_hypergeometric(12, 15, 14)
  expect_equal(exact_p_value(law, 3, method = "likelihood"), fisher.test(table)$p.value)
})

test_that("arguments that cannot be used", {
  expect_input_error(pmf_signed_rank("a"), "`x` must be a vector of finite numbers, not \"a\"")
  expect_input_error(pmf_signed_rank(c(0, 0)), "`x` has no differences other than 0")
  expect_input_error(pmf_signed_rank(1:3, 1:2), "`y` has 2 values and `x` has 3")
  expect_input_error(pmf_rank_sum(NA, 1), "`x` has no values|`x` must be a vector")
  expect_input_error(pmf_rank_sum(1, NA_real_), "`y` has no values")
  expect_input_error(pmf_linear_rank(c(1, NA), 1), "`scores` must be finite numbers")
  expect_input_error(pmf_linear_rank(1:3, 4), "`size` must be one whole number from 0 to 3, not 4")
  expect_input_error(pmf_linear_rank(1:3, 2, by = 0), "`by` must be one finite number above 0")
  expect_input_error(pmf_linear_rank(1:3, 2, by = 1e-300), "`by` is 1e-300: scores are more than 2\\^52 such steps")
  expect_input_error(rank_test(1:3, paired = TRUE), "`y` is missing: pairs need it")
  expect_input_error(rank_test(1:3, 4:5, scores = "normal"), "`scores` must be a function of ranks")
  expect_input_error(rank_test(1:3, 4:5, scores = function(r) 1), "must give a finite number for each of 5 ranks")
  expect_input_error(rank_test(1:3, alternative = "more"), "`alternative` must be one of")
  expect_input_error(rank_test(1:3, zeros = "keep"), "`zeros` must be one of")
  expect_input_error(exact_p_value(1, 1), "`x` must be a distribution")
  expect_input_error(exact_p_value(pmf(1), "a"), "`statistic` must be a numeric vector")
})
