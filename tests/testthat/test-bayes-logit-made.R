# What is made from a fitted regression: verdicts that are never stronger, numbers that exist, rows of predictions.
skip_where_repeated()

quick <- function(formula, data, ..., iter = 300, chains = 2) {
  suppressWarnings(bayes_logit(formula, data, ..., chains = chains, iter = iter, seed = 1, threads = 1,
    progress = FALSE))
}
rows <- local({
  set.seed(1)
  d <- data.frame(x = runif(60), z = rnorm(60), g = gl(6, 10, labels = letters[1:6]), t = rep(1:10, 6))
  d$y <- rbinom(60, 1, 0.5)
  d$n <- rpois(60, 2)
  d$class <- factor(c("u", "v", "w")[1 + rbinom(60, 2, 0.4)])
  d$M <- cbind(d$x, d$z)
  d
})

test_that("nothing that is made from a fit has a stronger verdict than the fit", {
  place <- function(x) match(verdict(x)$answer, answers)
  apart <- data.frame(x = 1:20, y = rep(0:1, each = 10))
  fits <- list(quick(y ~ x, rows, iter = 1000), quick(y ~ x, rows, iter = 30), quick(y ~ x, apart),
    quick(n ~ x + (1 | g), rows, "negbinomial"), quick(class ~ x, rows, "multinomial", chains = 1),
    quick(n ~ x, rows, "poisson", zi = ~1))
  expect_gt(length(unique(vapply(fits, place, 0L))), 2L)
  for (fit in fits) {
    made <- list(predict(fit), hypothesis(fit, paste0("`", fit$coefficient_names[[2]], "` > 0")))
    if (requireNamespace("rstantools", quietly = TRUE)) {
      made <- c(made, list(rstantools::posterior_epred(fit), rstantools::posterior_predict(fit, seed = 1)))
    }
    if (requireNamespace("loo", quietly = TRUE)) {
      one <- suppressWarnings(loo::loo(fit))
      made <- c(made, list(one, suppressWarnings(loo::loo_compare(one, one))))
    }
    for (one in made) expect_gte(place(one), place(fit))
    expect_identical(glance_of(fit)$verdict, verdict(fit)$answer)
  }
  expect_output(print(predict(fits[[2]])), "It rests on the regression")
  expect_no_match(capture.output(print(predict(fits[[1]]))), "Usable")
  expect_identical(dim(as.data.frame(predict(fits[[1]]))), c(60L, 4L))
})

test_that("no number is shown whose expectation does not exist", {
  fit <- quick(n ~ x + (1 | g), rows, "negbinomial")
  table <- summary(fit)$coefficients
  at <- match("dispersion", table$quantity)
  expect_identical(is.na(unlist(table[at, c("mean", "sd", "median")])), c(mean = TRUE, sd = TRUE, median = FALSE))
  tidied <- tidy.bayes_logit(fit)
  expect_equal(tidied$estimate[[at]], table$median[[at]])
  expect_identical(which(is.na(tidied$std.error)), at)
  expect_false(anyNA(summary(quick(n ~ x, rows, "negbinomial", logit_prior(dispersion = c(4, 2))))$coefficients$mean))
  new <- predict(fit, data.frame(x = c(0.5, 0.5), g = c("a", "new")))
  expect_identical(colnames(new), c("mean", "sd", "median", "lower", "upper"))
  expect_identical(unname(is.na(new[, "mean"])), c(FALSE, TRUE))
  expect_true(all(is.finite(new[, c("median", "lower", "upper")])))
  expect_match(as.character(verdict(new)), "The mean of row 2 does not exist", all = FALSE)
  # Probabilities and linear predictors of a new group have means.
  expect_false(anyNA(predict(fit, data.frame(x = 0.5, g = "new"), type = "link")))
  expect_false(anyNA(predict(quick(y ~ x + (1 | g), rows), data.frame(x = 0.5, g = "new"))))
  apart <- data.frame(x = 1:20, y = rep(0:1, each = 10))
  long <- quick(y ~ x, apart, prior = logit_prior("cauchy"))
  expect_equal(coef(long)[["x"]], summary(long)$coefficients$median[[2]])
  expect_true(all(is.na(vcov(long))))
  expect_true(all(is.na(predict(long, type = "link")[, "mean"])))
})

test_that("an area without data has a median", {
  near <- matrix(0, 5, 5, dimnames = list(letters[1:5], letters[1:5]))
  near[cbind(1:4, 2:5)] <- near[cbind(2:5, 1:4)] <- 1
  areas <- data.frame(area = rep(letters[1:4], 10), n = rpois(40, 3))
  fit <- quick(n ~ car(area, near), areas, "poisson")
  expect_identical(unname(is.na(predict(fit, data.frame(area = letters[1:5]))[, "mean"])), 1:5 == 5)
})

test_that("a prediction of one row is that row of the prediction of many, in any order, and of no rows", {
  formulas <- list(y ~ poly(x, 2), y ~ M, y ~ x * g + (x | g), y ~ ar1(t), y ~ rw(t), y ~ offset(x) + z, y ~ 1,
    y ~ scale(x) + log(x), n ~ splines::ns(x, 3), class ~ x + (1 | g), ordered(class) ~ x)
  if (requireNamespace("mgcv", quietly = TRUE)) {
    formulas <- c(formulas, y ~ s(x, k = 5), y ~ s(x, by = g, k = 3), y ~ t2(x, z, k = 3), n ~ s(x, k = 4) + (1 | g))
  }
  for (formula in formulas) {
    response <- deparse1(formula[[2]])
    family <- switch(response, y = "binomial", n = "poisson", class = "multinomial", "cratio")
    fit <- quick(formula, rows, family, iter = 40)
    plain <- function(data) unclass(predict(fit, data))
    shape <- function(values) matrix(values, dim(values)[[1]], prod(dim(values)[-1]))
    all <- shape(plain(rows))
    same <- function(data, at) expect_equal(shape(plain(data)), all[at, , drop = FALSE], tolerance = 1e-12,
      label = deparse1(formula))
    for (row in c(3, 44)) same(rows[row, , drop = FALSE], row)
    same(rows[60:1, ], 60:1)
    same(rows[0, ], integer())
  }
  for (formula in c(y ~ I(x - mean(x)), y ~ cut(x, 3), y ~ z + rank(x))) {
    expect_error(predict(quick(formula, rows, iter = 40), rows[1:3, ]), "in a row depends on other rows",
      class = "warpbayes_error_input")
  }
  skip_if_not_installed("mgcv")
  expect_identical(dim(predict(quick(y ~ s(x, k = 5), rows), data.frame(x = 0.5))), c(1L, 4L))
})

test_that("checks of the data are under the law that was fitted", {
  set.seed(7)
  says <- function(pattern, ...) any(grepl(pattern, support_said(quick(..., iter = 100))))
  small <- data.frame(y = ifelse(runif(400) < 0.5, 0, qpois(runif(400, exp(-0.15), 1), 0.15)))
  expect_false(says("vary", y ~ 1, small, "poisson", hu = ~1))
  more <- data.frame(y = rnbinom(300, mu = 3, size = 0.5), x = rnorm(300))
  expect_true(says("as much as Poisson counts", y ~ 1, more, "poisson"))
  expect_true(says("as much as zero-inflated Poisson counts", y ~ 1, more, "poisson", zi = ~1))
  expect_false(says("vary|counts are 0", y ~ 1, more, "negbinomial"))
  extra <- data.frame(y = ifelse(runif(600) < 0.4, 0, rnbinom(600, mu = 8, size = 4)))
  expect_false(says("vary|counts are 0", y ~ 1, extra, "negbinomial", zi = ~1))
  more$k <- rbinom(300, 20, plogis(rnorm(300)))
  expect_true(says("shares of successes vary", cbind(k, 20 - k) ~ 1, more))
  more$b <- rbinom(300, 1, plogis(-2 + 2 * more$x^2))
  expect_true(says("Observed shares of successes differ", b ~ x, more))
  expect_false(says("Observed shares", b ~ x + I(x^2), more))
})

test_that("the level whose probability is modelled is named", {
  rows$answer <- factor(ifelse(rows$y == 1, "no", "yes"), c("yes", "no"))
  fit <- quick(answer ~ x, rows)
  words <- "Modelled is the probability of \"no\", the second level of answer."
  for (shown in list(fit, summary(fit), predict(fit))) expect_output(print(shown), words, fixed = TRUE)
  expect_no_match(capture.output(print(quick(y ~ x, rows))), "Modelled")
})

test_that("values near overflow and offsets that are not finite are errors that name their place", {
  large <- transform(rows, far = x * 1e300, o = ifelse(seq_along(x) == 7, 0, t))
  input <- "warpbayes_error_input"
  expect_error(quick(y ~ far, large), "predictor \"far\" that are too large to be squared", class = input)
  expect_error(quick(y ~ x + (far | g), large), "\"far\" that are too large", class = input)
  expect_error(quick(n ~ x + offset(log(o)), large, "poisson"), "-Inf in row \"7\": is it the log of 0?", class = input)
  expect_error(quick(n ~ x + offset(far), large, "poisson"), "`offset` must be finite numbers up to 1e8", class = input)
})
