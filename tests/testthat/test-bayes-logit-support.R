# Words where the data leave the answer to the prior, and none where they do not.

said <- function(...) {
  fit <- suppressMessages(bayes_logit(..., chains = 1, iter = 60, seed = 1))
  warpbayes:::support_words(fit)
}

test_that("nothing is said of data that answer", {
  skip_where_repeated()
  expect_identical(said(am ~ wt, mtcars), character())
  expect_identical(said(cbind(ncases, ncontrols) ~ alcgp, esoph), character())
  expect_identical(said(cyl ~ hp, transform(mtcars, cyl = factor(cyl)), "multinomial"), character())
  expect_identical(said(carb ~ wt + (1 | gear), mtcars, "negbinomial"), character())
  # The rows are separated but for one.
  expect_identical(said(y ~ x, data.frame(x = 1:8, y = c(0, 0, 0, 1, 0, 1, 1, 1))), character())
  expect_identical(said(y ~ x, data.frame(x = 1:4, y = c(0, 0, 0, 0)), prior_only = TRUE), character())
})

test_that("equal responses, absent classes and groupings of one level are named", {
  skip_where_repeated()
  expect_identical(said(y ~ x, data.frame(x = 1:6, y = 0)),
    "All responses are failures: the prior decides how far the coefficients lie from 0.")
  expect_match(said(cbind(y, 0) ~ x, data.frame(x = 1:6, y = 3)), "All responses are successes")
  expect_match(said(y ~ x, data.frame(x = 1:6, y = 0), "negbinomial"), "All counts are 0")
  expect_match(said(y ~ x, data.frame(x = 1:6, y = factor("yes", levels = c("no", "yes")))),
    "(`yes` is the first level, which counts as failure.)", fixed = TRUE)
  expect_identical(said(cbind(a = c(3, 2, 4), b = c(1, 2, 2), c = 0) ~ 1, NULL, "multinomial"),
    "No response is of class `c`: the prior decides what is said of it.")
  for (term in c("(1 | g)", "(x | g)")) {
    data <- data.frame(x = 1:8, y = c(0, 0, 1, 0, 1, 0, 1, 1), g = "only")
    expect_match(said(stats::as.formula(paste("y ~ x +", term)), data), "The grouping `g` has one level", fixed = TRUE)
  }
})

test_that("separation is named, complete or at one value of a predictor", {
  skip_where_repeated()
  data <- data.frame(x = 1:6, y = c(0, 0, 0, 1, 1, 1))
  expect_match(said(y ~ x, data), "^The predictors separate all successes from all failures")
  expect_match(said(y ~ x, data, prior = logit_prior(scale = 100)), "separate all successes")
  # Rows without weight do not count.
  weighed <- cbind(rbind(data, data.frame(x = 6, y = 0)), w = c(1, 1, 1, 1, 1, 1, 0))
  fit <- suppressMessages(bayes_logit(y ~ x, weighed, weights = w, chains = 1, iter = 60, seed = 1))
  expect_match(warpbayes:::support_words(fit), "separate all")
  # Two values of a factor, one of which has only successes.
  drug <- data.frame(drug = rep(c("old", "new"), c(6, 6)), y = c(0, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1))
  expect_identical(said(y ~ drug, drug), paste(
    "The data do not limit the coefficient of `drugold` (only successes where it is 0) in one direction: the prior",
    "decides how large it is."))
  expect_output(print(suppressMessages(bayes_logit(y ~ x, data, chains = 1, iter = 60, seed = 1))), "separate all")
})
