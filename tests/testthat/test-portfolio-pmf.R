# Losses: discretize_pmf(), portfolio_pmf(), mix_over_pmf(), map_pmf(), layer_pmf() and risk measures.

die <- pmf(rep(1 / 6, 6), from = 1)

# E min(X, x) of a gamma variable.
limited_gamma <- function(x, shape, rate) {
  shape / rate * pgamma(x, shape + 1, rate) + x * pgamma(x, shape, rate, lower.tail = FALSE)
}

test_that("each method puts the probability between two values where its definition says", {
  f <- function(q) pgamma(q, 2, 1)
  h <- 0.5
  at <- seq(h, 19.5, h)
  make <- function(method) discretize_pmf(pgamma, h, method, limit = 20, shape = 2, rate = 1)
  expect_equal(dpmf(make("rounding"), c(0, at)), c(f(h / 2), f(at + h / 2) - f(at - h / 2)), tolerance = 1e-12)
  expect_equal(dpmf(make("up"), c(0, at)), c(0, f(at) - f(at - h)), tolerance = 1e-12)
  expect_equal(dpmf(make("down"), c(0, at)), c(f(h), f(at + h) - f(at)), tolerance = 1e-12)
  lev <- function(x) limited_gamma(x, 2, 1)
  expect_equal(dpmf(make("unbiased"), at), (2 * lev(at) - lev(at - h) - lev(at + h)) / h, tolerance = 1e-11)
  for (method in c("rounding", "up", "down", "unbiased")) {
    expect_equal(sum(make(method)$prob), 1, tolerance = 1e-14)
  }
  # Unbiased: the mean and all limited means at the values stay. The bounds enclose the distribution function.
  expect_equal(mean(make("unbiased")), lev(20), tolerance = 1e-13)
  for (limit in c(1, 4.5, 12)) {
    expect_equal(mean(min(make("unbiased"), limit)), lev(limit), tolerance = 1e-12)
  }
  q <- seq(0, 19.5, h)
  expect_true(all(ppmf(make("up"), q) <= f(q) + 1e-15))
  expect_true(all(ppmf(make("down"), q) >= f(q) - 1e-15))
  # Far tails keep their digits, because pgamma() has lower.tail.
  far <- discretize_pmf(pgamma, h, limit = 400, shape = 2, rate = 1)
  beyond <- pgamma(c(299.75, 300.25), 2, 1, lower.tail = FALSE)
  expect_equal(dpmf(far, 300) / (beyond[[1]] - beyond[[2]]), 1, tolerance = 1e-12)
})

test_that("deductible, limit and the default end", {
  lev <- function(x) limited_gamma(x, 5, 0.6)
  make <- function(...) discretize_pmf(pgamma, 0.1, "unbiased", ..., shape = 5, rate = 0.6)
  expect_equal(mean(make(deductible = 1, limit = 10)), lev(10) - lev(1), tolerance = 1e-12)
  expect_equal(mean(make(deductible = 1, limit = 10, per = "payment")),
    (lev(10) - lev(1)) / pgamma(1, 5, 0.6, lower.tail = FALSE), tolerance = 1e-12
  )
  expect_identical(warpbayes:::last_of(make(deductible = 1, limit = 10)), 9)
  whole <- make()
  last <- warpbayes:::last_of(whole)
  expect_lte(pgamma(last, 5, 0.6, lower.tail = FALSE), 1e-10)
  expect_gt(pgamma(last - 0.1, 5, 0.6, lower.tail = FALSE), 1e-10)
  expect_equal(mean(whole), 5 / 0.6, tolerance = 1e-9)
  expect_warning(cut <- make(to = 12), "payments above `to`, 12, have the probability 0.15.*They are counted as `to`")
  expect_equal(cut, make(limit = 12))
  expect_silent(make(to = 80))
  # A function without lower.tail, and one that jumps at 0.
  expect_equal(discretize_pmf(function(q) pexp(q, 2), 0.1)$prob[1:50], discretize_pmf(pexp, 0.1, rate = 2)$prob[1:50],
    tolerance = 1e-9
  )
  rare <- discretize_pmf(function(q) ifelse(q < 0, 0, 1 - 0.1 * exp(-q)), 0.1, "up")
  expect_equal(dpmf(rare, 0), 0.9)
})

test_that("observed losses and other distributions are put onto a step", {
  x <- c(120, 455, 460, 2300)
  expect_equal(discretize_pmf(x, 100)$from, 0)
  expect_equal(dpmf(discretize_pmf(x, 100), c(100, 500, 2300)), c(1, 2, 1) / 4)
  expect_equal(dpmf(discretize_pmf(x, 100, "up"), c(200, 500, 2300)), c(1, 2, 1) / 4)
  expect_equal(dpmf(discretize_pmf(x, 100, "down"), c(100, 400, 2300)), c(1, 2, 1) / 4)
  expect_equal(mean(discretize_pmf(x, 100, "unbiased")), mean(x))
  expect_equal(mean(discretize_pmf(x, 100, "unbiased", weights = c(4, 3, 2, 1))), sum(x * 4:1) / 10)
  expect_equal(mean(discretize_pmf(x, 100, "unbiased", deductible = 400, limit = 1000)), mean(c(0, 55, 60, 600)))
  expect_equal(mean(discretize_pmf(x, 100, "unbiased", deductible = 400, per = "payment")), mean(c(55, 60, 1900)))
  # 0.3 / 0.1 is below 3 as a double.
  expect_identical(discretize_pmf(0.3, 0.1, "down")$prob, c(0, 0, 0, 1))
  expect_equal(discretize_pmf(die, 2, "unbiased")$prob, c(0.5, 2, 2, 1.5) / 6)
})

# All policies one by one.
brute_force <- function(size, prob) {
  Reduce(`+`, Map(function(one, p) mix_pmf(list(pmf(1), one), c(1 - p, p)), size, prob))
}

test_that("a portfolio is the sum of its policies", {
  set.seed(1)
  size <- sample(c(1, 2.5, 4, 60), 40, TRUE)
  prob <- runif(40, 0, 0.3)
  exact <- brute_force(lapply(size, function(b) pmf(1, from = b)), prob)
  x <- portfolio_pmf(size, prob, tail = 1e-30, threads = 2)
  value <- as.data.frame(x)$value
  expect_identical(x$by, 0.5)
  expect_lt(max(abs(dpmf(x, value) / dpmf(exact, value) - 1)[dpmf(exact, value) > 1e-12]), 1e-11)
  expect_equal(mean(x), sum(size * prob))
  expect_equal(variance(x), sum(size^2 * prob * (1 - prob)))
  sizes <- list(die, 3 * die, pmf(c(0.5, 0.5), values = c(2, 40)))
  class <- sample(3, 40, TRUE)
  exact <- brute_force(sizes[class], prob)
  x <- portfolio_pmf(sizes, prob, class, tail = 1e-30, threads = 2)
  value <- as.data.frame(x)$value
  expect_lt(max(abs(dpmf(x, value) / dpmf(exact, value) - 1)[dpmf(exact, value) > 1e-12]), 1e-11)
  # Equal policies: a binomial number of claims.
  expect_equal(dpmf(portfolio_pmf(die, rep(0.1, 30), threads = 2), 0:40),
    dpmf(compound_pmf("binomial", die, trials = 30, prob = 0.1, threads = 2), 0:40), tolerance = 1e-12
  )
  expect_equal(dpmf(portfolio_pmf(rep(5, 30), 0.1, threads = 2), 5 * (0:15)), dbinom(0:15, 30, 0.1), tolerance = 1e-12)
  # Poisson numbers: a compound Poisson variable.
  x <- portfolio_pmf(c(1, 2, 3), c(4, 5, 6), number = "poisson", threads = 2)
  expect_equal(mean(x), 32)
  expect_equal(variance(x), 78)
  expect_identical(portfolio_pmf(c(1, 2), 0)$prob, 1)
  expect_identical(summary(portfolio_pmf(c(1, 2), c(0, 1), threads = 2))$support, c(2, 2))
})

test_that("many sizes: the tails that are left out stay within `tail`", {
  skip_where_repeated()
  skip_on_other_days(4L)
  set.seed(2)
  size <- sample(1:2000, 3000, TRUE)
  prob <- runif(3000, 0.001, 0.02)
  x <- portfolio_pmf(size, prob, tail = 1e-10, threads = 2)
  expect_lt(abs(sum(x$prob) - 1), 2e-10)
  expect_equal(mean(x), sum(size * prob), tolerance = 1e-8)
  expect_equal(variance(x), sum(size^2 * prob * (1 - prob)), tolerance = 1e-8)
  expect_equal(portfolio_pmf(size, prob, tail = 1e-10, threads = 1), x)
})

test_that("a common factor makes losses dependent", {
  year <- pmf(c(0.25, 0.5, 0.25), values = c(0.5, 1, 1.5))
  given <- function(v) compound_pmf("poisson", die, lambda = 20 * v, threads = 2)
  x <- mix_over_pmf(year, given)
  expect_equal(mean(x), 70)
  expect_equal(variance(x), 20 * 91 / 6 + 70^2 * 0.125)
  # A gamma factor of the Poisson mean gives negative binomial numbers.
  factor <- discretize_pmf(pgamma, 0.02, "unbiased", shape = 4, rate = 4, limit = 6)
  x <- mix_over_pmf(factor, function(v) pmf_poisson(10 * v))
  expect_equal(dpmf(x, 0:60), dnbinom(0:60, 4, mu = 10), tolerance = 1e-3)
  expect_input_error(mix_over_pmf(year, die), "`given` must be a function")
  expect_input_error(mix_over_pmf(year, function(v) v), "`given` must give a distribution for each value of the factor")
})

test_that("layers, functions of a variable and risk measures", {
  total <- compound_pmf("poisson", 10 * die, lambda = 5, threads = 2)
  ceded <- layer_pmf(total, 200, 150)
  expect_equal(mean(ceded), stop_loss_premium(total, 200) - stop_loss_premium(total, 350))
  expect_equal(as.data.frame(ceded), as.data.frame(map_pmf(total, function(v) pmin(pmax(v - 200, 0), 150))))
  kept <- map_pmf(total, function(v) v - pmin(pmax(v - 200, 0), 150))
  expect_equal(mean(kept) + mean(ceded), mean(total))
  expect_equal(mean(layer_pmf(total, 200)), stop_loss_premium(total, 200))
  expect_equal(map_pmf(die, function(v) v %% 2)$prob, c(0.5, 0.5))
  expect_equal(map_pmf(die, function(v) v / 3, by = 1 / 3)$by, 1 / 3)
  expect_input_error(pmin(total, 100), "min\\(\\) and max\\(\\) take the place of pmin\\(\\) and pmax\\(\\)")
  p <- c(0, 0.5, 0.9, 0.995)
  expect_identical(value_at_risk(total, p), qpmf(total, p))
  expect_equal(lorenz_share(total, p), 1 - (1 - p) * tail_value_at_risk(total, p) / mean(total))
  expect_equal(lorenz_share(pmf(c(0.8, 0.2), values = c(0, 7)), c(0.8, 0.9, 1)), c(0, 0.5, 1))
  expect_equal(lorenz_share(die, c(0.5, NA)), c(6 / 21, NA))
  expect_input_error(value_at_risk(total, 1), "`p` has the entry 1: levels are below 1")
  expect_input_error(lorenz_share(-die, 0.5), "`x` has negative values: nothing is shared")
  expect_input_error(lorenz_share(pmf(1), 0.5), "`x` is always 0: nothing is shared")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (type in c("lorenz", "stop_loss")) {
    expect_silent(plot(total, type = type))
    expect_silent(plot(total, kept, type = type, legend = c("total", "kept")))
    expect_silent(lines(ceded, type = type))
  }
})

# The figures are those of package actuar 3.3-2 for the example of its vignette on risk theory: gamma claims (shape 2,
# rate 1), unbiased on a step of 0.5 up to 22, and a Poisson number with mean 10. bench/insurance.R computes them.
test_that("the example of package actuar gives its figures", {
  claim <- discretize_pmf(pgamma, 0.5, "unbiased", limit = 22, shape = 2, rate = 1)
  year <- compound_pmf("poisson", claim, lambda = 10, threads = 2)
  expect_equal(mean(year), 20, tolerance = 1e-8)
  expect_identical(value_at_risk(year, c(0.9, 0.95, 0.975, 0.99, 0.995)), c(30.5, 34, 37, 41, 43.5))
  # actuar's CTE() is the mean beyond the value at risk and leaves out the value itself.
  at_risk <- c(30.5, 34, 41)
  beyond <- at_risk + stop_loss_premium(year, at_risk) / ppmf(year, at_risk, lower.tail = FALSE)
  expect_equal(beyond, c(35.41873757, 38.54920060, 45.01066191), tolerance = 1e-4)
})

test_that("each bad argument of losses and portfolios has its message", {
  expect_input_error(discretize_pmf(pgamma, 0, shape = 2), "`by` must be one finite number above 0")
  expect_input_error(discretize_pmf("a", 1), "`x` must be a distribution function, a vector of losses")
  expect_input_error(discretize_pmf(pnorm, 1), "`x` gives the probability 0.5 to losses below 0")
  expect_input_error(discretize_pmf(dexp, 0.1, rate = 50, limit = 9), "`x` must be a distribution function")
  expect_input_error(discretize_pmf(function(q) 1 - pexp(q), 0.1), "`x` gives the probability 1 to losses below 0")
  expect_input_error(discretize_pmf(function(q) ifelse(q < 0, 0, abs(sin(q))), 0.1, limit = 9), "`x` is not a dist")
  constant <- function(q) if (length(q) > 1) 0.5 else q > 0
  expect_input_error(discretize_pmf(constant, 1, limit = 9), "it must give a probability for each of")
  expect_input_error(discretize_pmf(pgamma, 1, shape = 2, deductible = 5, limit = 5), "`limit` is 5, not above")
  expect_input_error(discretize_pmf(pgamma, 1, shape = 2, limit = 5.5), "must be a multiple of `by`; it is 5.5 steps")
  expect_input_error(discretize_pmf(pgamma, 1, shape = 2, limit = 5, to = 6), "`to` and `limit` are both given")
  expect_input_error(discretize_pmf(punif, 1, deductible = 5, per = "payment"), "`deductible` is 5, which no loss")
  pareto <- function(q) 1 - pmax(1 + q, 1)^-0.5
  expect_input_error(discretize_pmf(pareto, 1, tail = 1e-12), "`tail` is not reached within 2\\^52 steps")
  expect_input_error(discretize_pmf(c(1, -2), 1), "`x` has the entry -2 at position 2; losses are numbers from 0")
  expect_input_error(discretize_pmf(-die, 1), "`x` has the value -6; losses")
  expect_input_error(discretize_pmf(1:3, 1, weights = 1), "`weights` has 1 entries for 3 losses")
  expect_input_error(discretize_pmf(pexp, 1, weights = 1), "`weights` are for observed losses")
  expect_input_error(discretize_pmf(die, 1, weights = 1), "`weights` are for observed losses")
  expect_input_error(discretize_pmf(1:3, 1, to = 2), "`to` is for distribution functions")
  expect_input_error(discretize_pmf(1:3, 1, rate = 2), "unused argument: `rate`")
  expect_input_error(discretize_pmf(1:3, 1, deductible = 4, per = "payment"), "`deductible` is 4, which no loss")
  expect_input_error(portfolio_pmf(1:3, c(0.1, 2, 0.1)), "`prob` has the entry 2 at position 2")
  expect_input_error(portfolio_pmf(1:3, "a"), "`prob` must be a vector of probabilities, not \"a\"")
  expect_input_error(portfolio_pmf(1:3, -1, number = "poisson"), "`prob` has the entry -1 at position 1; mean numbers")
  expect_input_error(portfolio_pmf(1:3, c(0.1, 0.2)), "`prob` has 2 entries for 3 policies")
  expect_input_error(portfolio_pmf(c(1, 0), 0.1), "`size` has the entry 0 at position 2; sizes are numbers above 0")
  expect_input_error(portfolio_pmf("a", 0.1), "`size` must be a number for each policy, a distribution or a list")
  expect_input_error(portfolio_pmf(list(die), 0.1, 2), "`class` must be the index of each policy's size, from 1 to 1")
  expect_input_error(portfolio_pmf(list(die, 3), 0.1, 1), "`size\\[\\[2\\]\\]` must be a distribution")
  expect_input_error(portfolio_pmf(die, 0.1, 1), "`class` is for a list of sizes")
  expect_input_error(portfolio_pmf(3, 0.1, 1), "`class` is for a list of sizes")
  expect_input_error(map_pmf(die, 3), "`f` must be a function, not 3")
  expect_input_error(map_pmf(die, function(v) 1), "`f` must give one number for each of 6 values, not 1")
  expect_input_error(map_pmf(die, function(v) v * 1e300), "`f` gives values beyond 2\\^52")
  expect_input_error(map_pmf(die, sqrt), "`f` gives values that are neither whole numbers nor decimal fractions")
  expect_input_error(layer_pmf(die, 2, 0), "`limit` must be one number above 0, not 0")
  for (call in list(quote(discretize_pmf()), quote(portfolio_pmf()), quote(mix_over_pmf()), quote(map_pmf()),
    quote(layer_pmf()), quote(value_at_risk()), quote(lorenz_share()))) {
    expect_input_error(eval(call), "is missing")
  }
})
