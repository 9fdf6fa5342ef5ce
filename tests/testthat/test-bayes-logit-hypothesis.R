# Posterior probabilities of statements.
skip_where_repeated()

input <- "warpbayes_error_input"
fit <- bayes_logit(am ~ wt + hp + factor(cyl) + wt:hp, mtcars, chains = 2, iter = 300, seed = 1, threads = 1,
  progress = FALSE)

test_that("statements are computed from the draws of coefficients", {
  draws <- as.matrix(fit)
  one <- function(statement, ...) hypothesis(fit, statement, ...)
  share <- mean(draws[, "wt"] + 100 * draws[, "hp"] < -exp(draws[, "wt:hp"] / 2))
  table <- one(c(a = "wt + 100 * hp < -exp(wt:hp / 2)", "hp", "Intercept > `factor(cyl)6`"), level = 0.5)
  expect_identical(table$probability[1:2], c(share, NA))
  expect_equal(table$evidence_ratio[[1]], share / (1 - share))
  expect_equal(table$mean[[2]], mean(draws[, "hp"]))
  expect_equal(c(table$lower[[2]], table$upper[[2]]), unname(quantile(draws[, "hp"], c(0.25, 0.75))))
  expect_equal(table$mean[[3]], mean(draws[, "(Intercept)"] - draws[, "factor(cyl)6"]))
  expect_identical(rownames(table), c("a", "2", "3"))
  expect_equal(one("sqrt(abs(wt)) - qlogis(plogis(hp)) ^ 2")$median,
    median(sqrt(abs(draws[, "wt"])) - draws[, "hp"]^2))
  expect_equal(one("wt > 0")$probability + one("wt <= 0")$probability, 1)
  all <- one("abs(wt) > -1")
  expect_identical(c(all$probability, all$mcse, all$evidence_ratio), c(1, NA, Inf))
  skip_if_not_installed("posterior")
  holds <- matrix(draws[, "hp"] < 0.05, 150) + 0
  expect_equal(one("hp < 0.05")$mcse, posterior::mcse_mean(holds), tolerance = 0.01)
})

test_that("parameters of variables whose names stand in backticks have names with and without them", {
  data <- stats::setNames(mtcars[c("am", "wt", "cyl")], c("am", "the weight", "no. of cylinders"))
  fit <- bayes_logit(am ~ `the weight` * factor(`no. of cylinders`), data, chains = 1, iter = 100, seed = 1,
    threads = 1, progress = FALSE)
  expect_identical(hypothesis(fit, "`the weight` < 0")$probability,
    mean(as.matrix(fit)[, "`the weight`"] < 0))
  for (name in colnames(as.matrix(fit))[-1L]) {
    expect_equal(hypothesis(fit, sprintf("`%s`", gsub("`", "", name)))$mean, mean(as.matrix(fit)[, name]))
  }
})

test_that("probabilities agree with a known distribution", {
  prior <- bayes_logit(am ~ wt, mtcars, prior = logit_prior(scale = 2, autoscale = FALSE),
    control = warp_control(prior_only = TRUE),
    chains = 2, iter = 2000, seed = 1, threads = 1, progress = FALSE)
  table <- hypothesis(prior, c("wt < 1", "exp(wt) > 5", "wt < -3"))
  right <- pnorm(c(1, -log(5), -3), sd = 2)
  expect_lt(max(abs(table$probability - right) / table$mcse), 3)
  expect_true(all(table$mcse > 0.003 & table$mcse < 0.02))
})

test_that("means that may not exist are not shown", {
  apart <- data.frame(x = 1:20, y = rep(0:1, each = 10))
  long <- bayes_logit(y ~ x, apart, prior = logit_prior("cauchy"), chains = 1, iter = 100, seed = 1, threads = 1,
    progress = FALSE)
  table <- hypothesis(long, c("x > 0", "Intercept < 0"))
  expect_true(all(is.na(table$mean)) && all(is.finite(table$median)))
})

test_that("statements run no code, and what cannot be read is an error", {
  said <- function(statement, message) expect_error(hypothesis(fit, statement), message, class = input)
  unknown <- c("system('true') > 0", "base::exp(wt) > 0", "(function() 1)() > 0", "wt[1] > 0", "`wt`(3) > 0", "quit()",
    "x <- 3", "wt > TRUE", "wt > 'a'", "wt > NULL", "wt > 1i", "wt & hp", "weight > 0")
  for (text in unknown) said(text, "is no parameter of the fit")
  for (text in c("", "wt >", "wt > 0; hp > 0", "wt < hp < 0", strrep("(", 900))) said(text, "cannot be read as one")
  for (text in c("wt = 0", "wt == hp")) said(text, "probability of an equality is 0")
  said("(wt > 0) + 1", "comparison within an expression")
  said("1 > 0", "has no parameter")
  said("log(wt - 1000) > 0", "not a finite number in each draw")
  said("wt > Inf", "not a finite number in each draw")
  said("exp(x = wt)", "exp takes .* without names")
  said("log(wt, 2) > 0", "log takes .* without names")
  said(paste0(strrep("-", 3000), "wt"), "more than 1,000 characters")
  said(paste0(strrep("-", 996), "wt"), "more than 100 levels")
  expect_equal(hypothesis(fit, paste0(strrep("-", 100), "wt"))$mean, mean(as.matrix(fit)[, "wt"]))
  said(3, "must be text")
  said(character(), "must be text")
  expect_error(hypothesis(fit), "`statement` is missing", class = input)
  expect_error(hypothesis(mtcars, "wt > 0"), "must come from bayes_logit", class = input)
})
