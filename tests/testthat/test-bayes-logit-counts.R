# Poisson regressions through what users call, and priors that do not depend on how data are written down.

set.seed(11)
counted <- data.frame(x = rnorm(60, 3), g = rep(letters[1:6], 10), e = rexp(60) + 0.1)
counted$y <- rpois(60, counted$e * exp(0.4 * counted$x))
few <- function(...) bayes_logit(..., chains = 1, iter = 60, warmup = 20, seed = 1, threads = 1, progress = FALSE)

test_that("a Poisson regression has the methods of other families", {
  skip_if_not_installed("rstantools")
  fit <- few(y ~ x + (1 | g) + offset(log(e)), counted, "poisson")
  expect_output(print(fit), "Poisson regression")
  expect_output(print(summary(fit)), "normal with mean")
  linear <- fit$coefficient_trace[21:60, 1, ] %*% t(cbind(1, counted$x)) +
    t(fit$draws$intercepts[as.integer(factor(counted$g)), , 1]) + rep(log(counted$e), each = 40)
  expect_equal(log_lik(fit), matrix(dpois(rep(counted$y, each = 40), exp(linear), log = TRUE), 40))
  expect_equal(fit$log_likelihood[21:60, 1], rowSums(log_lik(fit)), tolerance = 1e-9)
  expect_equal(unname(fitted(fit)), unname(colMeans(exp(linear))))
  mean <- fitted(fit)
  expect_equal(residuals(fit, "pearson"), (counted$y - mean) / sqrt(mean))
  expect_equal(deviance(fit), sum(poisson()$dev.resids(counted$y, mean, 1)))
  drawn <- rstantools::posterior_predict(fit, seed = 1)
  expect_identical(dim(drawn), c(40L, 60L))
  expect_true(all(drawn == floor(drawn) & drawn >= 0))
  expect_identical(dim(simulate(fit, 2, seed = 1)), c(60L, 2L))
  expect_identical(nrow(predict(fit, data.frame(x = 1, g = "new", e = 2))), 1L)
  zeros <- few(y ~ x, data.frame(x = 1:6, y = 0), "poisson")
  expect_match(as.character(summary(zeros)$verdict), "All counts are 0", all = FALSE)
  none <- few(y ~ x, counted, "poisson", control = warp_control(prior_only = TRUE))
  expect_true(all(none$log_likelihood == 0))
  expect_error(few(-y ~ x, counted, "poisson"), "not a vector of counts", class = "warpbayes_error_input")
})

# What the compiled code reads of a prior, as it is in the units of the data.
prior_in_data_units <- function(fit) {
  prior <- fit$prior
  unit <- fit$design$scale
  p <- length(unit)
  precision <- matrix(0, p, p)
  precision[upper.tri(precision, TRUE)] <- prior$precision
  precision <- precision + t(precision * upper.tri(precision))
  list(mean = prior$mean / unit, precision = precision * outer(unit, unit), scale = prior$law_scale / unit,
    intercept = prior$intercept_location - log_mean_exposure(0 * fit$offset, fit$weights), centre = fit$design$center,
    effects = lapply(fit$design$terms, function(term) term$scale))
}

test_that("aggregated rows and the rows that they come from have the same prior and posterior", {
  skip_where_repeated()
  rows <- data.frame(x = rep(c(0, 1, 4), c(40, 50, 20)), z = rep(c(2, 3), 55))
  rows$y <- rep(c(0, 1, 0, 1, 1), 22)
  rows$k <- rep(c("a", "b", "b", "c", "a"), 22)
  cells <- interaction(rows$x, rows$z, drop = TRUE)
  by_cell <- function(values) as.vector(rowsum(as.double(values), cells))
  cell <- rows[match(levels(cells), cells), c("x", "z")]
  cell$s <- by_cell(rows$y)
  cell$n <- by_cell(rep(1, 110))
  cell$a <- by_cell(rows$k == "a")
  cell$b <- by_cell(rows$k == "b")
  cell$c <- by_cell(rows$k == "c")
  twice <- rbind(rows, rows)
  priors <- list(logit_prior(), logit_prior("zellner"), logit_prior("horseshoe", slab_scale = 1),
    logit_prior(c("normal", x = "cauchy"), location = 0.3), logit_prior("student_t", autoscale = FALSE))
  same <- function(one, other) expect_equal(prior_in_data_units(one), prior_in_data_units(other), tolerance = 1e-10)
  for (prior in priors) {
    same(few(y ~ x + z, rows, prior = prior), few(cbind(s, n - s) ~ x + z, cell, prior = prior))
    same(few(y ~ x + z, rows, "poisson", prior), few(s ~ x + z + offset(log(n)), cell, "poisson", prior))
    same(few(k ~ x + z, rows, "multinomial", prior), few(cbind(a, b, c) ~ x + z, cell, "multinomial", prior))
    same(few(y ~ x + z, twice, "negbinomial", prior),
      few(y ~ x + z, rows, "negbinomial", prior, weights = rep(2, 110)))
    same(few(y ~ x + z, rows, prior = prior, control = warp_control(sparse = TRUE)),
      few(cbind(s, n - s) ~ x + z, cell, prior = prior, control = warp_control(sparse = TRUE)))
  }
  same(few(y ~ x + (x | z), rows), few(cbind(s, n - s) ~ x + (x | z), cell))
  # The posterior, too: intervals of slope and intercept of 2 aggregated rows and of their 110 rows.
  whole <- function(...) {
    fit <- bayes_logit(..., chains = 2, iter = 3000, warmup = 500, seed = 1, threads = 1, progress = FALSE)
    draws <- coefficient_draws(fit)
    c(apply(draws, 2, quantile, c(0.1, 0.5, 0.9)))
  }
  two <- data.frame(x = c(0, 1), s = c(0, 3), n = c(60, 50))
  expanded <- data.frame(x = rep(0:1, c(60, 50)), y = rep(c(0, 1), c(107, 3)))
  # Two standard deviations of Monte Carlo errors are about 0.2.
  expect_lt(max(abs(whole(y ~ x, expanded) - whole(cbind(s, n - s) ~ x, two))), 0.4)
})

test_that("units of offsets, weights and predictors do not change what a prior says", {
  counted$w <- rep(1:3, 20)
  for (family in c("poisson", "negbinomial")) {
    first <- few(y ~ x + offset(log(e)), counted, family)
    other <- few(y ~ x + offset(log(1000 * e)), counted, family)
    own <- prior_in_data_units(first)
    shifted <- prior_in_data_units(other)
    expect_equal(shifted$intercept, own$intercept - log(1000))
    expect_equal(shifted[c("precision", "scale", "centre")], own[c("precision", "scale", "centre")])
  }
  for (type in c("normal", "zellner", "student_t")) {
    prior <- logit_prior(type)
    own <- few(y ~ x, counted, "poisson", prior, weights = counted$w)
    heavy <- few(y ~ x, counted, "poisson", prior, weights = 100 * counted$w)
    expect_equal(prior_in_data_units(heavy), prior_in_data_units(own))
    metres <- few(y ~ I(1000 * x), counted, "poisson", prior, weights = counted$w)
    expect_equal(prior_in_data_units(metres)$precision[2, 2], prior_in_data_units(own)$precision[2, 2] * 1e6)
  }
})
