# What went wrong for users of other packages by their public threads, rebuilt small: each with the right value.

skip_where_repeated()
skip_if(resolve_run()$backend != "cpu", "what R does")
set.seed(8)
d <- data.frame(x = rnorm(60), z = runif(60, 1, 9), size = runif(60, 1, 4), g = rep(c("a", "b", "c"), 20))
d$on <- d$x > 0
d$k <- rpois(60, d$size * exp(0.3 * d$x))
d$y <- rbinom(60, 1, plogis(d$x))
d$class <- factor(sample(c("High", "Low", "Mid"), 60, TRUE), c("Low", "Mid", "High"))
d$ordered <- factor(d$class, ordered = TRUE)
fits <- function(formula, data = d, family = "poisson", ..., chains = 1, iter = 60, seed = 1) {
  suppressWarnings(bayes_logit(formula, data, family, ..., chains = chains, iter = iter, seed = seed, threads = 1,
    progress = FALSE))
}
rows_of <- function(values, rows) if (is.matrix(values)) values[rows, ] else values[rows, , ]

# emmeans 424, glmmTMB 334
test_that("an offset or weights that cannot be found are an error, and wrappers read them in the data", {
  elsewhere <- `environment<-`(k ~ x, globalenv())
  unseen <- log(d$size)
  expect_input_error(bayes_logit(elsewhere, d, "poisson", offset = unseen), "`offset` is \"unseen\", which is not in")
  expect_input_error(bayes_logit(k ~ x, d, "poisson", weights = no_such), "`weights` is \"no_such\"")
  expect_input_error(bayes_logit(k ~ x, d, "poisson", zi = ~1, weights = no_such), "`weights` is \"no_such\"")
  direct <- fits(k ~ x + offset(log(size)))
  size <- rep(1, 60)
  for (fit in list(fits(k ~ x, offset = log(size)), fits(elsewhere, offset = log(size)),
    fits(elsewhere, offset = unseen))) {
    expect_identical(fit$draws, direct$draws)
    expect_identical(fit$coefficient_trace, direct$coefficient_trace)
  }
  weight <- rep(2, 60)
  expect_identical(fits(k ~ x, weights = size)$weights, d$size)
  expect_identical(fits(k ~ x, weights = weight)$weights, weight)
})

# brms 1859, brms 562, gratia 37
test_that("smooths without a linear part, or by text, logical values or ordered factors, predict single rows", {
  skip_if_not_installed("mgcv")
  d$o <- factor(d$g, c("c", "a", "b", "unused"), ordered = TRUE)
  for (formula in c(k ~ z + s(z, m = c(2, 0)), k ~ g + s(z, by = g), k ~ on + s(z, by = on), k ~ o + s(z, by = o))) {
    fit <- fits(formula, d)
    whole <- predict(fit)
    for (rows in list(7, c(9, 3))) {
      new <- transform(d[rows, ], g = factor(g), o = as.character(o))
      expect_equal(predict(fit, new), rows_of(whole, rows), ignore_attr = TRUE, tolerance = 1e-12)
    }
  }
})
