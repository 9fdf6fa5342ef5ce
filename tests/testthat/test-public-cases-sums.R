# Questions that people asked in public, with the figures of their sources.
skip_where_repeated()

dice <- function(sides, times = 1) rep_sum_pmf(pmf_uniform(1, sides), times, threads = 1)

test_that("100d6 are below 50d12 with probability .19627", {
  expect_equal(round(ppmf(dice(6, 100) - dice(12, 50), -1), 5), 0.19627)
})

test_that("eight different dice show at least 65 with probability 64800983/163215360", {
  total <- sum_pmf(lapply(c(4, 7, 9, 11, 16, 20, 23, 24), pmf_uniform, from = 1), threads = 1)
  expect_equal(ppmf(total, 64, lower.tail = FALSE), 64800983 / 163215360, tolerance = 1e-15)
})

test_that("4d6 keep 3: the 1296 rolls by their totals, 1 for 3 to 21 for 18", {
  kept <- as.data.frame(sum_of_highest_pmf(rep(pmf_uniform(1, 6), 4), 3, threads = 1))
  expect_identical(kept$value, as.numeric(3:18))
  expect_equal(kept$prob * 1296, c(1, 4, 10, 21, 38, 62, 91, 122, 148, 167, 172, 160, 131, 94, 54, 21),
    tolerance = 1e-14)
})

test_that("exploding dice: a 6 is rolled again and added", {
  total <- compound_pmf("geometric", pmf(1, from = 6), prob = 5 / 6, tail = 1e-300, threads = 1) + pmf_uniform(1, 5)
  value <- c(outer(1:5, 6 * (0:50), "+"))
  expect_lt(max(abs(dpmf(total, value) / rep(6^-(1:51), each = 5) - 1)), 2e-14)
  expect_equal(mean(total), 4.2)
  expect_identical(dpmf(total, c(6, 12, 18)), c(0, 0, 0))
})

test_that("a Poisson-binomial of n = 1,500: log pmf, moments and quantiles", {
  set.seed(1500)
  p <- runif(1500)
  x <- pmf_poisson_binomial(p, log = TRUE, threads = 1)
  # All or nothing, and one or all but one.
  expect_equal(dpmf(x, c(0, 1500), log = TRUE), c(sum(log1p(-p)), sum(log(p))), tolerance = 1e-13)
  expect_equal(dpmf(x, c(1, 1499), log = TRUE) - dpmf(x, c(0, 1500), log = TRUE),
    log(c(sum(p / (1 - p)), sum((1 - p) / p))), tolerance = 1e-11)
  expect_equal(c(mean(x), variance(x)), c(sum(p), sum(p * (1 - p))), tolerance = 1e-12)
  quantiles <- qpmf(x, c(0.01, 0.5, 0.99))
  expect_true(all(ppmf(x, quantiles) >= c(0.01, 0.5, 0.99) & ppmf(x, quantiles - 1) < c(0.01, 0.5, 0.99)))
})

test_that("a convolution of magnitudes from 1e0 to 1e162 keeps the small entries", {
  x <- 10^seq(0, 162, by = 0.5)
  y <- rep(c(1, 3, 2), 200)
  expected <- vapply(seq_len(length(x) + length(y) - 1), function(k) {
    i <- max(1, k - length(y) + 1):min(k, length(x))
    sum(x[i] * y[k + 1 - i])
  }, 0)
  expect_lt(max(abs(convolve_pmf(x, y, threads = 1) / expected - 1)), 1e-14)
})

test_that("signed ranks with ties have p = .0078125 (SciPy issue 19872)", {
  first <- c(62, 66, 61, 68, 74, 62, 68, 62, 55, 59)
  second <- c(71, 71, 69, 61, 75, 71, 77, 72, 62, 65)
  apart <- first - second
  rank <- rank(abs(apart))
  less <- rank_test(first, second, paired = TRUE, alternative = "less")$p.value
  expect_identical(less, rank_test(second, first, paired = TRUE, alternative = "greater")$p.value)
  # The same as a sum of variables, and by all 1024 signs.
  sum <- sum_pmf(lapply(rank, function(r) pmf(c(0.5, 0.5), by = r)), threads = 1)
  expect_identical(less, ppmf(sum, sum(rank[apart > 0])))
  signs <- as.matrix(expand.grid(rep(list(0:1), 10)))
  expect_identical(less, mean(signs %*% rank <= sum(rank[apart > 0])))
  # Eight differences of one sign.
  expect_identical(rank_test(c(1, 1, 2, 2, 2, 3, 4, 4))$p.value, 0.0078125)
})

test_that("the electoral college of 2012: 270 votes or more with probability .97722", {
  # Probabilities of FiveThirtyEight, 4 November 2012, as listed at cs.oberlin.edu/~bbetchar/electors.php, which finds
  # 0.977. 141 votes are certain.
  votes <- c(15, 3, 1, 3, 11, 1, 18, 7, 9, 16, 20, 7, 10, 3, 9, 10, 3, 29, 3, 16, 1, 1, 13, 11, 6, 12, 6, 4, 5, 6, 14,
    10, 5)
  p <- c(0.213, 0.001, 0.999, 0.001, 0.033, 0.9, 0.85, 0.989, 0.681, 0.988, 0.966, 0.999, 0.991, 0.998, 0.004, 0.007,
    0.005, 0.462, 0.02, 0.002, 0.005, 0.133, 0.71, 0.002, 0.895, 0.999, 0.831, 0.794, 0.001, 0.001, 0.998, 0.942, 0.992)
  safe <- 141
  total <- sum_pmf(Map(function(v, p) pmf(c(1 - p, p), by = v), votes, p), threads = 1) + safe
  wins <- ppmf(total, 269, lower.tail = FALSE)
  expect_identical(c(round(wins, 3), trunc(1e5 * wins)), c(0.977, 97722))
})

test_that("Panjer's recursion at lambda = 5,000, where P(0) = e^-5000 underflows", {
  die <- pmf_uniform(1, 6)
  total <- compound_pmf("poisson", die, lambda = 5000, threads = 1)
  # The numbers of claims of each size are independent Poisson variables.
  parts <- sum_pmf(lapply(1:6, function(size) size * pmf_poisson(5000 / 6, tail = 1e-300)), threads = 1)
  expect_equal(c(mean(total), variance(total)), c(17500, 5000 * 91 / 6), tolerance = 1e-12)
  value <- seq(15500, 19500, by = 50)
  expect_lt(max(abs(dpmf(total, value) / dpmf(parts, value) - 1)), 1e-11)
})

test_that("ubiquitin's isotopes at nominal mass", {
  atoms <- c(378, 629, 105, 118, 1)
  isotopes <- list(c(0.9893, 0.0107), c(0.999885, 0.000115), c(0.99636, 0.00364), c(0.99757, 0.00038, 0.00205),
    c(0.9499, 0.0075, 0.0425, 0, 0.0001))
  heavy <- sum_pmf(Map(function(prob, n) rep_sum_pmf(pmf(prob), n, threads = 1), isotopes, atoms), threads = 1)
  # No heavy isotope at all, and one heavier by 1.
  expect_equal(dpmf(heavy, 0), prod(mapply(function(prob, n) prob[[1]]^n, isotopes, atoms)), tolerance = 1e-13)
  one <- sum(mapply(function(prob, n) n * prob[[2]] / prob[[1]], isotopes, atoms))
  expect_equal(dpmf(heavy, 1) / dpmf(heavy, 0), one, tolerance = 1e-12)
  expect_identical(summary(heavy)$mode, 5)
  expect_equal(mean(heavy), sum(atoms * vapply(isotopes, function(p) sum(p * (seq_along(p) - 1)), 0)))
})

test_that("dice that explode before the highest are kept (DiceMaiden 165)", {
  # Of ten coins with the sides 1 and 2, each 2 is thrown once more and added; three are kept.
  coin <- mix_pmf(list(pmf(1, from = 1), pmf_uniform(1, 2) + 2), c(0.5, 0.5))
  kept <- sum_of_highest_pmf(rep(coin, 10), 3, threads = 1)
  expect_equal(dpmf(kept, 12), pbinom(2, 10, 0.25, lower.tail = FALSE), tolerance = 1e-14)
  expect_equal(dpmf(kept, 3), 2^-10, tolerance = 1e-14)
  # Two dice whose sixes explode, of which the higher counts: P(10 or less) for each die is 1 - P(6) P(5 or 6).
  die <- compound_pmf("geometric", pmf(1, from = 6), prob = 5 / 6, tail = 1e-300, threads = 1) + pmf_uniform(1, 5)
  expect_equal(ppmf(max(die, die), 10), (1 - 1 / 6 * 2 / 6)^2, tolerance = 1e-14)
})

test_that("signed ranks with ties and zeros (SciPy issues 13689 and 10223), and tiny p-values (26026)", {
  expect_identical(rank_test(c(1, 1, 2, 3, 4))$p.value, 0.0625)
  # As many wins as losses, and many zeros: no evidence at all.
  for (zeros in c(0, 34, 40)) {
    x <- rep(c(1, 0, -1), c(15, zeros, 15))
    expect_identical(rank_test(x, zeros = "pratt")$p.value, 1)
  }
  expect_equal(rank_test(1:54, alternative = "greater")$p.value, 2^-54, tolerance = 1e-14)
  expect_equal(rank_test(1:54, alternative = "less")$p.value, 1)
})

test_that("tails of large parameters are no plateaus (SciPy issues 13079, 17809, 18506, 8692)", {
  expect_equal(ppmf(pmf_binomial(2e7, 0.5), 1e7 - 1, lower.tail = FALSE), 0.5 + dbinom(1e7, 2e7, 0.5) / 2,
    tolerance = 1e-12)
  # Ten of ten: m!/(m - 10)! over N!/(N - 10)!.
  for (population in 10^c(6, 7, 9)) {
    law <- pmf_hypergeometric(1e5, population - 1e5, 10, tail = 1e-300)
    exact <- sum(log(1e5 - 0:9)) - sum(log(population - 0:9))
    expect_equal(ppmf(law, 9, lower.tail = FALSE, log.p = TRUE), exact, tolerance = 1e-13)
  }
  expect_equal(ppmf(pmf_hypergeometric(50, 1550, 300, tail = 0), 40, lower.tail = FALSE), 7.565148879228534e-23,
    tolerance = 1e-12)
})

test_that("a negative binomial number of a huge size is a Poisson number (Stan math issue 428)", {
  for (size in 10^c(9, 12, 15, 100)) {
    x <- pmf_negative_binomial(size, mu = 13.9, log = TRUE)
    expect_equal(dpmf(x, 0:40, log = TRUE), dpois(0:40, 13.9, log = TRUE), tolerance = 1e-7)
    total <- compound_pmf("negative_binomial", pmf_uniform(1, 2), successes = size, mu = 13.9, threads = 1)
    expect_equal(dpmf(total, 0:40), dpmf(compound_pmf("poisson", pmf_uniform(1, 2), lambda = 13.9, threads = 1), 0:40),
      tolerance = 1e-7)
  }
})

test_that("draws have values of the law alone, and quantiles invert the distribution (Squiggle 1717, OpenTURNS 2893)", {
  law <- pmf(c(0.1, 0.2, 0.7), values = c(0.1, 1, 3))
  expect_true(all(rpmf(law, 1000, seed = 1) %in% c(0.1, 1, 3)))
  poisson <- pmf_poisson(2)
  expect_identical(qpmf(poisson, ppmf(poisson, 0:9)), as.numeric(0:9))
  expect_identical(qpmf(poisson, ppmf(poisson, 0:9, lower.tail = FALSE), lower.tail = FALSE), as.numeric(0:9))
})

test_that("rare events have negative binomial probabilities to all digits (OpenQuake engine 8015)", {
  # By log gamma functions of 50 digits (mpmath).
  cases <- list(
    list(1, 1e-7, c(0.99999990000001, 9.9999980000003e-8, 9.9999970000006e-15, 9.999996000001e-22)),
    list(0.5, 1e-9, c(0.9999999990000000015, 9.99999997e-10, 1.4999999925000000262e-18, 2.4999999825000000787e-27)),
    list(2, 1e-12, c(0.999999999999, 9.99999999998500e-13, 7.499999999985e-25, 4.9999999999875e-37))
  )
  for (case in cases) {
    law <- pmf_negative_binomial(case[[1]], mu = case[[2]], tail = 0)
    expect_lt(max(abs(dpmf(law, 0:3) / case[[3]] - 1) / (1 - log(case[[3]]))), 5e-15)
    expect_equal(mean(law), case[[2]], tolerance = 1e-13)
    expect_equal(ppmf(law, 0, lower.tail = FALSE), sum(case[[3]][-1]), tolerance = 1e-13)
  }
})

test_that("differences that rounding separates are ties, tiny ones are not (SciPy issues 17667 and 26082)", {
  # Ranks 1, 3, 3, 3, of which the first and one more belong to losses.
  first <- c(0.5, 0.825, 0.375, 0.5)
  second <- c(0.525, 0.775, 0.325, 0.55)
  test <- rank_test(first, second, paired = TRUE, alternative = "greater")
  expect_identical(unname(test$statistic), 6)
  expect_identical(test$p.value, 0.5)
  # 0.3 - 0.2 - 0.1 is zero as a difference of pairs, and 1e-100 is not.
  p <- function(x, y = NULL) rank_test(x, y, paired = !is.null(y), alternative = "greater")$p.value
  expect_identical(p(c(10, 20, 30, 0)), 0.125)
  expect_identical(p(c(10, 20, 30, 0.3), c(0, 0, 0, 0.1 + 0.2)), 0.125)
  expect_identical(p(c(10, 20, 30, 1e-100)), 0.0625)
  expect_identical(p(c(10, 20, 30, -1e-100)), 0.125)
})

test_that("the higher of two different exploding dice (Sidekick 65 and 182)", {
  explode <- function(sides) {
    compound_pmf("geometric", pmf(1, from = sides), prob = 1 - 1 / sides, tail = 1e-300, threads = 1) +
      pmf_uniform(1, sides - 1)
  }
  best <- max(explode(4), explode(6))
  # At least 4: one die explodes, or the six-sided one shows 4 or 5.
  expect_equal(ppmf(best, 3, lower.tail = FALSE), 1 - 3 / 4 * 3 / 6, tolerance = 1e-14)
  # At least 8: 4 + 4, or 6 + 2 or more.
  expect_equal(ppmf(best, 7, lower.tail = FALSE), 1 - (1 - 1 / 16) * (1 - 5 / 36), tolerance = 1e-14)
})

test_that("ranges that no whole number holds are refused (NumPy issue 18997)", {
  for (size in c(9223372037481356288, 10e20)) {
    expect_error(pmf_negative_binomial(size, 0.5), "range of values that passes", class = "warpbayes_error_input")
  }
  expect_true(all(rpmf(pmf_negative_binomial(1e9, 0.5), 100, seed = 1) > 0))
})

test_that("a negative binomial number with certain success is 0 (statrs issue 463)", {
  for (successes in c(1, 2.5, 1e10)) {
    law <- pmf_negative_binomial(successes, 1)
    expect_identical(c(dpmf(law, 0:1), ppmf(law, 0)), c(1, 0, 1))
    expect_identical(dpmf(pmf_negative_binomial(successes, 1, log = TRUE), 0:1, log = TRUE), c(0, -Inf))
    expect_identical(dpmf(pmf_negative_binomial(successes, mu = 0), 0:1), c(1, 0))
  }
})

test_that("rare events in 1e15 trials (SciPy issue 17146)", {
  law <- pmf_binomial(2^50, 1.0477878413173978e-18, tail = 1e-300)
  # Powers of 50 digits (mpmath).
  exact <- c(0.99882099134455638149, 0.0011783133514286042151, 6.9503062419918327093e-7)
  expect_lt(max(abs(dpmf(law, 0:2) / exact - 1)), 2e-14)
  expect_lte(sum(law$prob), 1 + 1e-15)
})
