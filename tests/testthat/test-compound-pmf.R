# compound_pmf(): known laws, truncated tails, backends and arguments.

compound <- function(...) compound_pmf(..., threads = 2)

# The largest relative error of entries that are normal doubles.
worst <- function(x, law, least = 1e-290) {
  frame <- as.data.frame(x)
  exact <- law(frame$value)
  seen <- exact > least
  expect_gt(sum(seen), 1)
  max(abs(frame$prob[seen] / exact[seen] - 1))
}

# Negative binomial probabilities by their own recursion, with an error of a few 1e-16 a step.
negative_binomial <- function(value, size, q) {
  k <- seq_len(max(value))
  p <- exp(size * log1p(-q)) * cumprod(c(1, q * (size + k - 1) / k))
  p[value + 1]
}

coin <- pmf(c(0.75, 0.25))
die <- pmf(rep(1 / 6, 6), from = 1)

test_that("compounds with a known law are right in every entry", {
  # A Poisson number of logarithmic variables is negative binomial.
  for (lambda in c(0.5, 20, 300)) {
    x <- compound("poisson", pmf_logarithmic(0.75, tail = 1e-300), lambda = lambda, tail = 1e-280)
    expect_lt(worst(x, function(k) negative_binomial(k, -lambda / log1p(-0.75), 0.75)), 1e-12)
  }
  # A geometric number of geometric variables.
  for (p in c(0.25, 0.0625)) {
    s <- 0.5
    x <- compound("geometric", pmf_geometric(s, tail = 1e-300) + 1, prob = p, tail = 1e-280)
    law <- function(k) ifelse(k == 0, p, p * s * (1 - p) * exp((k - 1) * log1p(-p * s)))
    expect_lt(worst(x, law), 1e-12)
  }
  # Bernoulli variables thin the number.
  for (lambda in c(3, 400, 4e4)) {
    expect_lt(worst(compound("poisson", coin, lambda = lambda, tail = 1e-200), function(k) dpois(k, lambda / 4)), 1e-12)
  }
  for (n in c(3, 400, 4000)) {
    expect_lt(worst(compound("binomial", coin, trials = n, prob = 0.5, tail = 1e-200), function(k) dbinom(k, n, 1 / 8)),
      1e-12
    )
  }
  for (size in c(0.5, 4, 64)) {
    x <- compound("negative_binomial", coin, successes = size, prob = 0.25, tail = 1e-200)
    expect_lt(worst(x, function(k) negative_binomial(k, size, 1 - 0.25 / (1 - 0.75 * 0.75))), 1e-12)
  }
})

test_that("names, distributions and modified zeros agree", {
  skip_where_repeated()
  given <- list(
    list("poisson", lambda = 4, pmf_poisson(4, tail = 1e-100)),
    list("binomial", trials = 9, prob = 0.3, pmf_binomial(9, 0.3, tail = 0)),
    list("negative_binomial", successes = 0.4, mu = 3, pmf_negative_binomial(0.4, mu = 3, tail = 1e-100)),
    list("negative_binomial", successes = 3.5, prob = 0.6, pmf_negative_binomial(3.5, 0.6, tail = 1e-100)),
    list("geometric", prob = 0.3, pmf_geometric(0.3, tail = 1e-100)),
    list("logarithmic", prob = 0.8, pmf_logarithmic(0.8, tail = 1e-100))
  )
  for (one in given) {
    number <- one[[length(one)]]
    for (size in list(die, coin + coin, pmf(c(0.5, 0.2, 0.3), values = c(0, 2.5, 4)))) {
      for (zero in list(NULL, 0.35)) {
        x <- do.call(compound, c(one[-length(one)][1], list(size), one[-c(1, length(one))], list(zero = zero)))
        y <- compound(number, size, zero = zero)
        expect_identical(x$by, y$by)
        expect_equal(x$from, y$from)
        both <- seq_len(min(length(x$prob), length(y$prob)))
        expect_lt(max(abs(x$prob[both] - y$prob[both]) / pmax(y$prob[both], 1e-300)), 1e-12)
        expect_lt(abs(length(x$prob) - length(y$prob)), 3)
        expect_equal(sum(x$prob), 1, tolerance = 1e-13)
        modified <- if (is.null(zero)) number else zero_modify_pmf(number, zero)
        expect_equal(mean(x), mean(modified) * mean(size))
        expect_equal(variance(x), mean(modified) * variance(size) + variance(modified) * mean(size)^2)
      }
    }
  }
})

test_that("with any distribution of the number, the result is the weighted sum of powers", {
  number <- pmf(c(0.1, 0, 0.4, 0.3, 0, 0.2))
  x <- compound(number, die)
  powers <- lapply(0:5, function(n) rep_sum_pmf(die, n, threads = 2))
  expect_equal(x$prob, mix_pmf(powers, number$prob)$prob, tolerance = 1e-13)
  expect_equal(compound(number, 2 * die)$by, 2)
  expect_identical(compound(pmf(1, from = 3), die)$from, 3)
  expect_equal(compound(pmf(1, from = 3), die)$prob, rep_sum_pmf(die, 3, threads = 2)$prob, tolerance = 1e-13)
  far <- pmf(c(0.5, 0.25, 0.25), from = 100)
  expect_equal(compound(number, far)$prob[1 + c(0, 200, 201)], c(0.1, 0.4 * 0.25, 0.4 * 0.25))
  expect_equal(compound(pmf(log(number$prob), log = TRUE), pmf(log(die$prob), from = 1, log = TRUE))$prob, x$prob)
})

test_that("the truncated tail is within the limit, and does not wrap around to the lower end", {
  for (tail in c(1e-8, 1e-15, 1e-100)) {
    x <- compound("poisson", coin, lambda = 40, tail = tail)
    last <- length(x$prob) - 1
    expect_lte(ppois(last, 10, lower.tail = FALSE), tail)
    expect_gt(ppois(last - 2, 10, lower.tail = FALSE), tail)
    # `often` scales the tail by 0.1, `rarely` by 1 / (1 - exp(-0.01)), about 100.
    often <- compound("poisson", coin, lambda = 40, tail = tail, zero = 0.9)$prob
    expect_lte(0.1 / -expm1(-40) * ppois(length(often) - 1, 10, FALSE), tail)
    rarely <- compound("poisson", coin, lambda = 0.01, tail = tail, zero = 0)$prob
    expect_lte(ppois(length(rarely), 0.0025, FALSE) / -expm1(-0.01), tail)
  }
  # Entries from 0 on are tiny. A transform that is too short would wrap the upper tail onto them.
  x <- compound("poisson", die, lambda = 600, tail = 1e-12)
  expect_equal(dpmf(x, 0:2) / exp(-600), c(1, 100, 100 + 100^2 / 2), tolerance = 1e-12)
})

test_that("constants, zeros and single values", {
  expect_lt(worst(compound("poisson", pmf(c(0, 1)), lambda = 2), function(k) dpois(k, 2)), 1e-12)
  expect_identical(unclass(compound("poisson", die, lambda = 0)), list(prob = 1, from = 0))
  expect_identical(compound("binomial", die, trials = 0, prob = 0.5)$prob, 1)
  expect_identical(compound("poisson", pmf(1), lambda = 5)$prob, 1)
  expect_identical(compound(pmf(1), die)$prob, 1)
  expect_identical(compound(pmf_poisson(3), pmf(1))$prob, 1)
  expect_identical(compound("poisson", die, lambda = 3, zero = 1)$prob, 1)
  x <- compound("poisson", pmf(1, from = 2.5), lambda = 3)
  expect_identical(x$by, 2.5)
  expect_equal(x$prob, dpois(seq_along(x$prob) - 1, 3), tolerance = 1e-13)
  expect_equal(compound("binomial", die, trials = 2, prob = 1)$prob, (die + die)$prob)
  expect_equal(compound("poisson", die / 2 + 0.25, lambda = 3)$by, 0.25)
})

test_that("threads, instruction sets and backends do not change a bit", {
  size <- pmf(dnbinom(0:3500, 0.7, mu = 300), normalize = TRUE)
  x <- compound("negative_binomial", size, successes = 2, mu = 3, tail = 1e-10)
  expect_gt(length(x$prob), 8192)
  expect_identical(
    compound_pmf("negative_binomial", size, successes = 2, mu = 3, tail = 1e-10, threads = 1, backend = "cpu"), x
  )
  skip_if(on_cuda())
  old <- options(warpbayes.isa = "baseline")
  on.exit(options(old))
  expect_identical(compound("negative_binomial", size, successes = 2, mu = 3, tail = 1e-10), x)
})

test_that("the fast method for long recursions keeps the error bound", {
  skip_if(on_cuda(), "the emulator would take minutes; shorter recursions run there")
  skip_where_repeated()
  size <- pmf(dgeom(0:60000, 1 / 9000), normalize = TRUE)
  fast <- compound("poisson", size, lambda = 3, tail = 1e-9)
  direct <- compound("poisson", size, lambda = 3, tail = 1e-9, accuracy = 0)
  expect_gt(length(fast$prob), 262144)
  expect_false(identical(fast, direct))
  expect_lt(max(abs(fast$prob / direct$prob - 1)), 1e-12)
})

test_that("each bad argument has its message", {
  expect_input_error(compound("gamma", die), "`number` must be one of \"poisson\", \"binomial\"")
  expect_input_error(compound("poisson", 3, lambda = 2), "`size` must be a distribution made by pmf\\(\\), not 3")
  expect_input_error(compound("poisson", die), "`lambda` is missing: \"poisson\" needs it")
  expect_input_error(compound("poisson", die, lambda = 2, prob = 0.5), "`prob` is not a parameter of \"poisson\"")
  expect_input_error(compound(die, die, lambda = 2), "`lambda` is not a parameter of a distribution")
  expect_input_error(compound("negative_binomial", die, successes = 2, mu = 3, prob = 0.5),
    "`prob` is not a parameter of"
  )
  expect_input_error(compound("binomial", die, trials = 2), "`prob` is missing: \"binomial\" needs it")
  expect_input_error(compound("poisson", die, lambda = -2), "`lambda` must be one number between 0 and")
  expect_input_error(compound("logarithmic", die, prob = 0), "`prob` must be one number above 0 and below 1, not 0")
  expect_input_error(compound("geometric", die, prob = 0), "`prob` must be one number above 0 to 1, not 0")
  expect_input_error(compound("poisson", -die, lambda = 2), "`size` has negative values, such as -6")
  expect_input_error(compound(-die, die), "`number` must be a distribution on 0, 1, 2, ..., without -6")
  expect_input_error(compound(die / 2, die), "`number` must be a distribution on 0, 1, 2, ..., without 0.5")
  expect_input_error(compound("poisson", die, lambda = 1, tail = 2),
    "`tail` must be one number from 1e-300 to 1e-08, or 0, not 2"
  )
  expect_input_error(compound("poisson", die, lambda = 2, zero = 2), "`zero` must be one number between 0 and 1, not 2")
  expect_input_error(compound("poisson", die, lambda = 0, zero = 0.5), "`zero` is 0.5, but the number is always 0")
  expect_input_error(compound("poisson", die, lambda = 2, accuracy = 1), "`accuracy` must be one number from 0 to 0.01")
  expect_equal(dpmf(compound("poisson", pmf(c(0.5, 0.5), values = c(1, 1e13)), lambda = 2), 2e13 + 3),
    dpois(2, 1) * dpois(3, 1), tolerance = 1e-14)
})
