# The delay between two events that are known to the day, against closed forms and simulation.

# The recorded delay of an exponential delay with this rate, if first events grow by `growth` a day.
exponential_delay <- function(k, rate, growth) {
  average <- if (growth == 0) expm1(rate) / rate else growth / expm1(growth) * expm1(rate + growth) / (rate + growth)
  # P(U + T >= k) for k from 1.
  beyond <- exp(-rate * pmax(k, 1)) * average
  ifelse(k == 0, 1 - exp(-rate) * average, beyond * -expm1(-rate))
}

test_that("exponential delays have a closed form, with and without growth", {
  for (growth in c(0, 0.2, -0.3, 5, -15)) {
    law <- pmf_doubly_censored(pexp, growth = growth, tail = 1e-200, rate = 0.4)
    exact <- exponential_delay(0:1000, 0.4, growth)
    expect_lt(max(abs(dpmf(law, 0:1000) / exact - 1)), 1e-11)
    # In hours instead of days.
    hours <- pmf_doubly_censored(pexp, by = 24, growth = growth / 24, tail = 1e-200, rate = 0.4 / 24)
    expect_equal(hours$prob[1:100], law$prob[1:100], tolerance = 1e-13)
    expect_identical(hours$by, 24)
  }
  # Without an argument lower.tail.
  plain <- pmf_doubly_censored(function(q) ifelse(q < 0, 0, 1 - exp(-0.4 * q)), growth = 0.2)
  expect_equal(dpmf(plain, 0:10), exponential_delay(0:10, 0.4, 0.2), tolerance = 1e-10)
})

test_that("without growth it is the method \"unbiased\", and keeps the mean", {
  law <- pmf_doubly_censored(plnorm, meanlog = 1.6, sdlog = 0.5)
  expect_identical(law, discretize_pmf(plnorm, 1, "unbiased", meanlog = 1.6, sdlog = 0.5))
  expect_equal(mean(law), exp(1.6 + 0.5^2 / 2), tolerance = 1e-6)
  # It is continuous in the growth.
  expect_equal(dpmf(pmf_doubly_censored(plnorm, growth = 1e-12, meanlog = 1.6, sdlog = 0.5), 0:20), dpmf(law, 0:20),
    tolerance = 1e-10)
})

test_that("simulated delays have these frequencies, also if data end early", {
  skip_where_repeated()
  set.seed(1)
  n <- 2e5
  growth <- 0.7
  first <- log1p(runif(n) * expm1(growth)) / growth
  days <- floor(first + rgamma(n, 2, 0.5))
  for (truncation in c(Inf, 6)) {
    law <- pmf_doubly_censored(pgamma, growth = growth, truncation = truncation, shape = 2, rate = 0.5)
    seen <- days[days < truncation]
    # The false-alarm rate is 1e-4.
    counts <- tabulate(pmin(seen, 12) + 1, min(13, truncation))
    expected <- c(dpmf(law, 0:11), ppmf(law, 11, lower.tail = FALSE))[seq_along(counts)]
    expect_gt(suppressWarnings(chisq.test(counts, p = expected, rescale.p = TRUE))$p.value, 1e-4)
  }
})

test_that("truncation conditions on delays that are seen", {
  law <- pmf_doubly_censored(pgamma, shape = 2, rate = 0.5)
  seen <- pmf_doubly_censored(pgamma, truncation = 6, shape = 2, rate = 0.5)
  expect_equal(seen$prob, dpmf(law, 0:5) / ppmf(law, 5))
  expect_equal(pmf_doubly_censored(pgamma, by = 0.1, truncation = 0.3, shape = 2, rate = 5)$prob, seen$prob[1:3] / sum(
    seen$prob[1:3]))
  expect_identical(pmf_doubly_censored(pexp, truncation = 1)$prob, 1)
})

test_that("arguments that cannot be used", {
  expect_input_error(pmf_doubly_censored(3), "`x` must be the distribution function of the delay, not 3")
  expect_input_error(pmf_doubly_censored(pnorm), "gives the probability 0.5 to losses below 0")
  expect_input_error(pmf_doubly_censored(pexp, truncation = 1.5), "`truncation` must be a multiple of `by`, 1, not 1.5")
  expect_input_error(pmf_doubly_censored(pexp, truncation = 0), "`truncation` must be a multiple")
  expect_input_error(pmf_doubly_censored(pexp, growth = 30), "`growth` is 30: more than 20 in a day")
  expect_input_error(pmf_doubly_censored(pexp, by = 0), "`by` must be one finite number above 0")
})
