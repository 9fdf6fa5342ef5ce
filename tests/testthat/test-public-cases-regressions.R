# What users of glm(), lme4, rstanarm and brms asked in public threads, one case a line, where no other test has it. New
# levels of factors, exposures, trials of new data, count matrices and extreme shapes are in other files.

skip_where_repeated()
skip_if(resolve_run()$backend != "cpu", "what R does")
set.seed(2)
d <- data.frame(x = rnorm(60), a = rep(1:5, 12), b = rep(c("p", "q"), 30), y = rbinom(60, 1, 0.5))
d$size <- factor(rep(c("small", "medium", "large"), 20), c("small", "medium", "large"), ordered = TRUE)
d$n <- rpois(60, 4)
fits <- function(formula, data = d, family = "binomial", ..., iter = 60) {
  suppressMessages(bayes_logit(formula, data, family, ..., chains = 2, iter = iter, seed = 1, threads = 1,
    progress = FALSE))
}

test_that("bases of splines and polynomials are those of glm(), in new data too", {
  formula <- y ~ poly(x, 2) + splines::ns(x, 3) + splines::bs(x, df = 4) + scale(n)
  fit <- fits(formula)
  peer <- suppressWarnings(glm(formula, binomial, d))
  expect_equal(fit$design$x, model.matrix(peer), ignore_attr = TRUE)
  new <- data.frame(x = c(-0.3, 0.8), n = c(0, 9))
  basis <- model.matrix(delete.response(terms(peer)), model.frame(delete.response(terms(peer)), new))
  expect_equal(prediction_rows(fit, new)$x, basis, ignore_attr = TRUE)
})

test_that("an empty cell is predicted by the prior, and does not harm predict() and loo()", {
  cells <- subset(expand.grid(a = c("1", "2"), b = c("p", "q", "r"), row = 1:10), !(a == "2" & b == "r"))
  cells$y <- rep(0:1, 25)
  fit <- fits(y ~ a * b, cells, iter = 400)
  link <- predict(fit, data.frame(a = c("1", "2"), b = "r"), type = "link")
  expect_true(all(is.finite(link)))
  expect_gt(link[2, "sd"], 3 * link[1, "sd"])
  skip_if_not_installed("loo")
  expect_true(is.finite(loo::loo(fit)$estimates["elpd_loo", "Estimate"]))
})

test_that("new data need no response for predictions, and ordered factors may be text", {
  fit <- fits(y ~ size + x)
  rows <- d[4:6, c("size", "x")]
  expect_equal(predict(fit, rows), predict(fit)[4:6, ], ignore_attr = TRUE)
  expect_identical(predict(fit, transform(rows, size = as.character(size))), predict(fit, rows))
})

test_that("proportions with weights as trials are refused, with the way to write them", {
  expect_input_error(fits(y / 4 ~ x, weights = rep(4, 60)), "cbind\\(")
})

test_that("rows of one new level share a draw, different new levels are independent, and groups may be text", {
  fit <- fits(n ~ x + (1 | a), family = "poisson", iter = 1000)
  new <- posterior_linpred.bayes_logit(fit, data.frame(x = 0, a = c("6", "6", "7")))
  expect_identical(new[, 1], new[, 2])
  effect <- new - as.vector(as.array(fit)[, , "(Intercept)"])
  expect_lt(abs(cor(effect[, 1], effect[, 3], method = "spearman")), 0.2)
  expect_identical(predict(fit, data.frame(x = 0, a = "3")), predict(fit, data.frame(x = 0, a = 3)))
})

test_that("a new level within a known level of (1 | a/b) has the effect of the known level", {
  fit <- fits(n ~ (1 | b / a), family = "poisson", iter = 400)
  linear <- posterior_linpred.bayes_logit(fit, data.frame(b = c("p", "p"), a = c(9, 1)), re_formula = ~ (1 | b))
  expect_identical(linear[, 1], linear[, 2])
  effects <- matrix(fit$draws$effects, dim(fit$draws$effects)[[1L]], dimnames = list(rownames(fit$draws$effects), NULL))
  expect_equal(linear[, 1], coefficient_draws(fit)[, 1] + effects["b[(Intercept) b:p]", ], ignore_attr = TRUE)
  whole <- predict(fit, data.frame(b = "p", a = c(9, 9, 10)), type = "link")
  expect_identical(whole[1, ], whole[2, ])
  expect_gt(whole[1, "sd"], sd(linear[, 1]))
})

test_that("separation by a combination of predictors is named", {
  set.seed(1)
  apart <- data.frame(u = rnorm(40), v = rnorm(40))
  apart$y <- apart$u + apart$v > 0
  expect_match(support_said(fits(y ~ u + v, apart)), "separate all successes", all = FALSE)
  crossed <- transform(expand.grid(u = 0:1, v = 0:1, row = 1:6), y = ifelse(u == 1 & v == 1, 1, row %% 2))
  expect_match(support_said(fits(y ~ u * v, crossed)), "u:v", all = FALSE)
})
