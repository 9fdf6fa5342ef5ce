# Entropy, cumulants, modes, generating functions, and joint totals with a common count.
skip_where_repeated()

die <- pmf(rep(1 / 6, 6), from = 1)

test_that("entropy, in nats and bits, in any units and on the log scale", {
  expect_equal(shannon_entropy(die), log(6))
  expect_equal(shannon_entropy(pmf_uniform(1, 8) * 0.01, base = 2), 3)
  expect_identical(shannon_entropy(pmf(1)), 0)
  expect_equal(shannon_entropy(pmf(c(0.25, 0, 0.75))), -0.25 * log(0.25) - 0.75 * log(0.75))
  logs <- pmf(c(log1p(-exp(-1000)), -1000), log = TRUE)
  expect_equal(shannon_entropy(logs), 0)
  expect_equal(shannon_entropy(pmf(log(die$prob), log = TRUE)), log(6))
})

test_that("cumulants of Poisson, binomial and scaled variables", {
  expect_equal(cumulants(pmf_poisson(3, tail = 1e-40), 8), rep(3, 8), tolerance = 1e-9)
  p <- 0.3
  q <- 0.7
  expect_equal(cumulants(pmf_binomial(5, p), 6), 5 * c(p, p * q, p * q * (1 - 2 * p), p * q * (1 - 6 * p * q),
    p * q * (1 - 2 * p) * (1 - 12 * p * q), p * q * (1 - 30 * p * q + 120 * p^2 * q^2)), tolerance = 1e-11)
  x <- pmf(c(0.1, 0.2, 0.7), values = c(-1e6, 0.5, 3))
  expect_equal(cumulants(x + x, 4), 2 * cumulants(x, 4), tolerance = 1e-9)
  expect_equal(cumulants(1e-3 * die, 6), 1e-3^(1:6) * cumulants(die, 6), tolerance = 1e-12)
  expect_identical(cumulants(pmf(1, from = 7), 3), c(7, 0, 0))
  expect_identical(cumulants(die, 1), 3.5)
})

test_that("modes and the number of possible values", {
  expect_identical(modes(die), c(1, 2, 3, 4, 5, 6))
  expect_identical(modes(die + die), 7)
  expect_identical(modes(pmf_binomial(3, 0.5)), c(1, 2))
  expect_identical(modes(pmf(log(c(0.2, 0.4, 0.4)), log = TRUE)), c(1, 2))
})

test_that("the probability generating function", {
  z <- c(0, 0.5, 1, 2, -0.5, NA)
  expect_equal(generating_function(pmf_poisson(3, tail = 1e-40), z), exp(3 * (z - 1)), tolerance = 1e-13)
  expect_equal(generating_function(die - 3, 0.5), sum(0.5^(-2:3)) / 6)
  expect_identical(generating_function(die, 0), 0)
  expect_identical(generating_function(die - 2, 0), Inf)
  expect_equal(generating_function(die / 2, 4), sum(4^(1:6 / 2)) / 6)
  # The cumulant generating function, where powers are beyond doubles.
  expect_equal(generating_function(1000 * die, exp(1), log = TRUE), 6000 + log(1 / 6 + exp(-1000) / 6))
  expect_input_error(generating_function(die / 2, -1), "`z` has the entry -1, but not all values of `x` are whole")
  expect_input_error(generating_function(die, -1, log = TRUE), "`z` has the entry -1, and with `log`")
})

test_that("joint totals with a common number of claims", {
  # At most three claims: all outcomes are enumerated.
  number <- pmf(c(0.4, 0.3, 0, 0.3))
  x <- pmf(c(0.5, 0.3, 0.2), values = c(1, 2, 5))
  y <- pmf(c(0.8, 0.1, 0.1), values = c(0, 0.5, 10))
  joint <- compound_table(number, x, y)
  exact <- array(0, dim(joint), dimnames(joint))
  exact["0", "0.0"] <- 0.4
  for (n in c(1, 3)) {
    for (i in seq_len(9^n) - 1) {
      pair <- (i %/% 9^(seq_len(n) - 1)) %% 9
      a <- pair %% 3 + 1
      b <- pair %/% 3 + 1
      row <- format(sum(c(1, 2, 5)[a]))
      column <- format(sum(c(0, 0.5, 10)[b]), nsmall = 1)
      exact[row, column] <- exact[row, column] + 0.3 * prod(c(0.5, 0.3, 0.2)[a] * c(0.8, 0.1, 0.1)[b])
    }
  }
  expect_identical(which(joint > 0), which(exact > 0))
  expect_lt(max(abs(joint / exact - 1), na.rm = TRUE), 1e-14)
  # The margins are the totals of each line, and the covariance has a closed form.
  number <- pmf_negative_binomial(3, mu = 2)
  joint <- compound_table(number, x, y)
  total <- compound_pmf(number, x)
  s <- as.numeric(rownames(joint))
  t <- as.numeric(colnames(joint))
  expect_equal(unname(rowSums(joint)), dpmf(total, s), tolerance = 1e-11)
  covariance <- sum(joint * outer(s - sum(s * rowSums(joint)), t - sum(t * colSums(joint))))
  expect_equal(covariance, variance(number) * mean(x) * mean(y), tolerance = 1e-8)
  # In other units.
  expect_equal(unname(unclass(compound_table(number, x * 0.01, y * 100))), unname(unclass(joint)), tolerance = 1e-13)
  expect_identical(dim(compound_table(pmf(1), x, y)), c(1L, 1L))
  expect_input_error(compound_table(3, x, y), "`number` must be a distribution made by pmf\\(\\), not 3")
  expect_input_error(compound_table(number, x - 2, y), "`x` has negative values, such as -1")
  expect_input_error(compound_table(number / 2, x, y), "`number` must be a distribution on 0, 1, 2")
  expect_input_error(compound_table(number, x, 1), "`y` must be a distribution")
})

test_that("arguments that cannot be used", {
  expect_input_error(shannon_entropy(1), "`x` must be a distribution made by pmf\\(\\), not 1")
  expect_input_error(shannon_entropy(die, base = 1), "`base` must not be 1")
  expect_input_error(cumulants(die, 21), "`order` must be one whole number from 1 to 20, not 21")
  expect_input_error(modes("a"), "`x` must be a distribution")
  expect_input_error(generating_function(die, "a"), "`z` must be a numeric vector")
})
