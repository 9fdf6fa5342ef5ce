# The families pmf_poisson(), pmf_binomial() and others, compared with R.

test_that("families agree with R and leave out no more than `tail`", {
  check <- function(x, density, distribution, tail) {
    value <- as.data.frame(x)$value
    expect_lt(max(abs(x$prob / density(value) - 1)[x$prob > 1e-290]), 1e-11)
    expect_lte(distribution(value[[1]] - 1, TRUE), tail)
    expect_lte(distribution(value[[length(value)]], FALSE), tail)
    # No shorter range would be enough.
    if (length(value) > 1) expect_gt(distribution(value[[length(value)]] - 1, FALSE), tail)
  }
  for (tail in c(1e-15, 1e-8, 1e-300)) {
    for (lambda in c(0, 0.01, 3, 5000)) {
      check(pmf_poisson(lambda, tail = tail), function(x) dpois(x, lambda), function(q, lower) ppois(q, lambda, lower),
        tail
      )
    }
    check(pmf_binomial(200, 0.3, tail = tail), function(x) dbinom(x, 200, 0.3),
      function(q, lower) pbinom(q, 200, 0.3, lower), tail
    )
    check(pmf_negative_binomial(2.5, 0.1, tail = tail), function(x) dnbinom(x, 2.5, 0.1),
      function(q, lower) pnbinom(q, 2.5, 0.1, lower.tail = lower), tail
    )
    check(pmf_geometric(0.2, tail = tail), function(x) dgeom(x, 0.2), function(q, lower) pgeom(q, 0.2, lower), tail)
    check(pmf_hypergeometric(500, 700, 300, tail = tail), function(x) dhyper(x, 500, 700, 300),
      function(q, lower) phyper(q, 500, 700, 300, lower), tail
    )
  }
  expect_identical(pmf_binomial(5, 0.3, tail = 0)$prob, dbinom(0:5, 5, 0.3))
  expect_identical(pmf_hypergeometric(5, 6, 7, tail = 0)$from, 1)
  expect_equal(mean(pmf_negative_binomial(3, mu = 4)), 4)
  expect_identical(pmf_uniform(1, 6)$prob, rep(1 / 6, 6))
  expect_equal(pmf_uniform(-1, 1, log = TRUE)$log_prob, rep(-log(3), 3))
  expect_identical(pmf_poisson(3, log = TRUE)$log_prob, dpois(0:(length(pmf_poisson(3)$prob) - 1), 3, log = TRUE))
  logarithmic <- pmf_logarithmic(0.9)
  expect_equal(sum(logarithmic$prob), 1, tolerance = 1e-14)
  expect_equal(mean(logarithmic), -0.9 / 0.1 / log(0.1))
  expect_equal(exp(pmf_logarithmic(0.9, log = TRUE)$log_prob), logarithmic$prob, tolerance = 1e-12)
})

test_that("Poisson-binomial variables with weights", {
  p <- c(0.1, 0.5, 0.9)
  w <- c(150, 0, 3)
  x <- pmf_poisson_binomial(p, w, threads = 2)
  expect_equal(x$prob, reference_convolve(dbinom(0:150, 150, 0.1), dbinom(0:3, 3, 0.9)), tolerance = 1e-12)
  l <- pmf_poisson_binomial(p, w, log = TRUE, threads = 2)
  expect_equal(exp(l$log_prob), x$prob, tolerance = 1e-12)
  expect_equal(pmf_poisson_binomial(p, threads = 2)$prob, sum_pmf(cbind(1 - p, p), threads = 2))
  expect_identical(pmf_poisson_binomial(0.5, 0, threads = 2)$prob, 1)
  # For the binomial distribution all digits can be compared.
  same <- pmf_poisson_binomial(rep(0.25, 80), threads = 2)
  expect_lt(max(abs(same$prob / dbinom(0:80, 80, 0.25) - 1)), 1e-12)
})

test_that("each bad parameter has its message", {
  expect_input_error(pmf_poisson(-1), "`lambda` must be one number between 0 and")
  expect_input_error(pmf_poisson(3, tail = 0.1), "`tail` must be one number from 1e-300 to 1e-08, or 0, not 0.1")
  expect_input_error(pmf_binomial(5, 0.3, tail = 0.1), "`tail` must be one number from 1e-300 to 1e-08, or 0, not 0.1")
  expect_input_error(pmf_poisson(3, log = 1), "`log` must be TRUE or FALSE")
  expect_input_error(pmf_binomial(-1, 0.5), "`trials` must be one whole number")
  expect_input_error(pmf_binomial(5, 1.5), "`prob` must be one number from 0 to 1, not 1.5")
  expect_input_error(pmf_negative_binomial(2), "`prob` or `mu` must be given, and not both")
  expect_input_error(pmf_negative_binomial(5e-324, mu = 2), "so much smaller than `mu` that successes / .* is 0")
  expect_input_error(pmf_negative_binomial(2, 0.5, 3), "`prob` or `mu` must be given, and not both")
  expect_input_error(pmf_negative_binomial(0, 0.5), "`successes` must be one finite number above 0, not 0")
  expect_input_error(pmf_geometric(0), "`prob` must be one number above 0 to 1, not 0")
  expect_input_error(pmf_hypergeometric(3, 4, 8), "`k` must be one whole number from 0 to 7, not 8")
  expect_input_error(pmf_logarithmic(1), "`prob` must be one number above 0 and below 1, not 1")
  expect_input_error(pmf_uniform(3, 2), "`to` must be one whole number from 3")
  expect_input_error(pmf_poisson_binomial(2), "`prob` has the entry 2")
  expect_input_error(pmf_poisson_binomial(NA), "`prob` has missing entries")
  expect_input_error(pmf_poisson_binomial(numeric()), "`prob` is empty")
  expect_input_error(pmf_poisson_binomial(c(0.5, 0.5), 1),
    "`weights` must be whole numbers from 0, as many as probabilities \\(2\\)"
  )
  expect_error(pmf_uniform(0, 2^50), class = "warpbayes_error_memory")
})
