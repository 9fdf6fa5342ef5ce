# Fits of which a part was changed are refused by their methods, with the name of the part.

with_part <- function(fit, part, value) {
  class <- oldClass(fit)
  fit <- unclass(fit)
  fit[part] <- list(value)
  structure(fit, class = class)
}

test_that("methods refuse a mixture of which a part was changed, and name the part", {
  set.seed(1)
  fit <- dp_mixture(matrix(rnorm(60), 30), 3, iter = 6, warmup = 2, seed = 1, threads = 1)
  wrong <- list(components = 0, components = 2^31, iter = 1e9, warmup = NA, thin = "a", chains = -1, rows = 1e9,
    markers = 1, log_posterior = matrix(0, 1, 1), x = matrix(0, 2, 2), center = 1, sizes = 0, draws = 0)
  for (i in seq_along(wrong)) {
    part <- names(wrong)[[i]]
    changed <- with_part(fit, part, wrong[[i]])
    for (method in list(print, summary, predict, simulate, nobs)) {
      error <- tryCatch(method(changed), error = identity)
      expect_s3_class(error, "warpbayes_error_input")
      expect_match(conditionMessage(error), "changed since it was made")
    }
  }
  expect_error(predict(with_part(fit, "iter", 1e9)), "part `log_likelihood`", class = "warpbayes_error_input")
  expect_silent(predict(fit))
})

test_that("methods refuse a regression of which a part was changed, and name the part", {
  set.seed(1)
  rows <- data.frame(y = rep(0:1, 10), x = rnorm(20), g = rep(1:4, 5))
  fit <- bayes_logit(y ~ x + (1 | g), rows, chains = 1, iter = 6, seed = 1, threads = 1)
  wrong <- list(family = "normal", iter = 1e9, warmup = NA, thin = numeric(), chains = -1, rows = 2^31, design = 0,
    coefficient_trace = array(0, c(1, 1, 1)), offset = 1, weights = "a", draws = "a", coefficient_names = 1)
  for (i in seq_along(wrong)) {
    changed <- with_part(fit, names(wrong)[[i]], wrong[[i]])
    for (method in list(print, summary, predict, simulate, log_lik, residuals, vcov, function(fit) continue(fit, 2))) {
      error <- tryCatch(method(changed), error = identity)
      expect_s3_class(error, "warpbayes_error_input")
      parts <- c(names(wrong)[[i]], "log_likelihood", "design", "offset", "weights")
      expect_match(conditionMessage(error), paste0("part `(", paste(parts, collapse = "|"), ")"))
    }
  }
  expect_silent(predict(fit))
})

test_that("simulate() leaves R's generator as it was if it has a seed", {
  set.seed(1)
  fits <- list(
    dp_mixture(matrix(rnorm(60), 30), 3, iter = 4, seed = 1, threads = 1),
    predictive_resample(rnorm(6), normal_mean(), 4, 3, seed = 1, threads = 1)
  )
  for (fit in fits) {
    before <- .Random.seed
    once <- simulate(fit, 2, seed = 5)
    expect_identical(.Random.seed, before)
    expect_identical(once, simulate(fit, 2, seed = 5))
    simulate(fit, 2)
    expect_false(identical(.Random.seed, before))
    expect_error(simulate(fit, 2, seed = "a"), "`seed`", class = "warpbayes_error_input")
    expect_error(simulate(fit, 1e12), class = "warpbayes_error")
  }
})

test_that("generics pass objects on to another package only if it has a method for them", {
  skip_if_not_installed("posterior")
  skip_if_not_installed("rstantools")
  loadNamespace("posterior")
  loadNamespace("rstantools")
  expect_error(variance(y ~ x), "`x`", class = "warpbayes_error_input")
  expect_error(log_lik(1), "`object`", class = "warpbayes_error_input")
  expect_s3_class(tryCatch(log_lik(), error = identity), "warpbayes_error_input")
  expect_equal(variance(posterior::rvar(c(1, 2, 3))), 1)
})
