# Ordinal regressions by continuation ratio. test-bayes-logit-calibration.R has their posterior.
skip_where_repeated()

set.seed(4)
grades <- data.frame(x = rnorm(90, 3), f = rep(c("u", "v", "w"), 30), g = rep(1:6, each = 15), o = rnorm(90))
steps_up <- function(eta, intercepts) {
  y <- rep(1, length(eta))
  for (k in seq_along(intercepts)) y <- y + (y == k & runif(length(eta)) < plogis(intercepts[[k]] + eta))
  y
}
grades$y <- ordered(c("low", "middle", "high")[steps_up(grades$x - 3 + rnorm(6)[grades$g], c(0.7, -0.2))],
  c("low", "middle", "high"))
quick <- function(formula, data = grades, ...) {
  eval(substitute(bayes_logit(formula, data, "cratio", ...,
    chains = 2, iter = 40, warmup = 20, seed = 1, threads = 2, progress = FALSE
  )), parent.frame())
}
input <- "warpbayes_error_input"

# Probabilities of three classes, draws x classes, by the definition of the model.
shares_of <- function(first, second) {
  cbind(low = 1 - plogis(first), middle = plogis(first) * (1 - plogis(second)), high = plogis(first) * plogis(second))
}

test_that("probabilities, log likelihoods and the generics of other packages follow the definition", {
  fit <- quick(y ~ x + f + offset(o / 2) + (x | g))
  expect_identical(fit$coefficient_names, c("(Intercept):low", "(Intercept):middle", "x", "fv", "fw"))
  beta <- coefficient_draws(fit)
  effect <- function(name) as.vector(fit$draws$effects[sprintf("b[%s g:4]", name), , ])
  new <- data.frame(x = 2.5, f = "w", g = 4, o = 0.3, y = "middle")
  eta <- 2.5 * beta[, "x"] + beta[, "fw"] + 0.15 + effect("(Intercept)") + 2.5 * effect("x")
  linear <- cbind(middle = beta[, "(Intercept):low"] + eta, high = beta[, "(Intercept):middle"] + eta)
  share <- shares_of(linear[, 1], linear[, 2])
  predicted <- predict(fit, new, level = 0.8)
  expect_equal(predicted[1, , "mean"], colMeans(share), tolerance = 1e-12)
  expect_equal(predicted[1, , "sd"], apply(share, 2, sd), tolerance = 1e-12)
  expect_equal(unname(predicted[1, , 3:4]), unname(t(apply(share, 2, quantile, c(0.1, 0.9)))), tolerance = 1e-12)
  expect_equal(predict(fit, new, "link")[1, , "mean"], colMeans(linear), tolerance = 1e-12)
  expect_equal(posterior_epred.bayes_logit(fit, new)[, 1, ], share, ignore_attr = TRUE, tolerance = 1e-12)
  expect_equal(posterior_linpred.bayes_logit(fit, new)[, 1, ], linear, ignore_attr = TRUE, tolerance = 1e-12)
  expect_equal(log_lik(fit, new)[, 1], log(share[, "middle"]), ignore_attr = TRUE, tolerance = 1e-12)
  # Rows of the fit: one log likelihood for each observation, whose sum is the sampler's.
  expect_identical(dim(log_lik(fit)), c(40L, 90L))
  expect_equal(fit$log_likelihood[21:40, ], matrix(rowSums(log_lik(fit)), 20), tolerance = 1e-10)
  expect_equal(predict(fit, grades[5:9, ]), predict(fit)[5:9, , ], tolerance = 1e-12)
  expect_equal(fitted(fit), predict(fit)[, , "mean"], tolerance = 1e-12)
  expect_equal(rowSums(fitted(fit)), rep(1, 90), ignore_attr = TRUE, tolerance = 1e-12)
  expect_equal(predict(fit, new, re_formula = NA), predict(fit, transform(new, g = 99), re_formula = NA))
  expect_true(all(is.na(predict(fit, transform(new, x = NA_real_)))))
  expect_true(is.ordered(simulate(fit, 2, seed = 1)$sim_2))
  drawn <- posterior_predict.bayes_logit(fit, seed = 1)
  expect_identical(attr(drawn, "levels"), levels(grades$y))
  expect_true(all(drawn %in% 1:3) && identical(dim(drawn), c(40L, 90L)))
  expect_identical(dim(predictive_interval.bayes_logit(fit)), c(90L, 2L))
  expect_identical(names(ranef.bayes_logit(fit)$g), c("(Intercept)", "x"))
  expect_identical(dim(VarCorr.bayes_logit(fit)$g), c(2L, 2L))
  expect_equal(deviance(fit), -2 * sum(log(fitted(fit)[cbind(1:90, as.integer(grades$y))])), tolerance = 1e-10)
  expect_identical(df.residual(fit), 175L)
  eta <- cbind(c(-1, 0.5), c(2, -0.3))
  inverse <- family(fit)$linkinv(eta)
  expect_equal(inverse, shares_of(eta[, 1], eta[, 2]), ignore_attr = TRUE, tolerance = 1e-12)
  expect_equal(family(fit)$linkfun(inverse), eta, tolerance = 1e-12)
  expect_identical(names(augment.bayes_logit(fit))[-(1:4)], c("g", paste0(".fitted_", levels(grades$y))))
  expect_output(print(fit), "Continuation ratio regression: y ~ x + f", fixed = TRUE)
  for (assess in list(bayes_R2.bayes_logit, loo_R2.bayes_logit)) {
    expect_error(assess(fit), "is an ordinal regression, whose classes have no variance", class = input)
  }
  expect_error(predictive_error.bayes_logit(fit), "an ordinal regression, whose classes have no errors", class = input)
  half <- bayes_logit(y ~ x + f + offset(o / 2) + (x | g), grades, "cratio",
    chains = 2, iter = 25, warmup = 20, seed = 1, threads = 2, progress = FALSE)
  expect_identical(continue(half, 15)[c("coefficient_trace", "draws")], fit[c("coefficient_trace", "draws")])
})

test_that("single and aggregated responses, weights and duplicated rows have one posterior", {
  counts <- outer(as.integer(grades$y), 1:3, `==`) + 0
  few <- as.data.frame(rowsum(counts, grades$f))
  few$f <- rownames(few)
  draws <- function(...) {
    values <- logit_draws(bayes_logit(..., family = "cratio", chains = 2, iter = 1200, warmup = 200, seed = 1,
      progress = FALSE))
    apply(values, 3, function(x) c(mean(x), sd(x) / sqrt(effective_size(split_chains(x)))))
  }
  single <- draws(y ~ f, grades)
  twice <- draws(y ~ f, grades[rep(1:90, 2), ], weights = rep(0.5, 180))
  for (other in list(draws(cbind(V1, V2, V3) ~ f, few), twice)) {
    # Five standard errors: 6e-7 for each of ten comparisons.
    expect_lt(max(abs(other[1, ] - single[1, ]) / sqrt(other[2, ]^2 + single[2, ]^2)), 5)
  }
  fit <- quick(cbind(V1, V2, V3) ~ f, few)
  expect_equal(quick(y ~ f)$prior[c("mean", "deviation")], fit$prior[c("mean", "deviation")], tolerance = 1e-12)
  expect_equal(fit$log_likelihood[21:40, ], matrix(rowSums(log_lik(fit)), 20), tolerance = 1e-10)
  expect_identical(rowSums(simulate(fit, 1, seed = 1)[[1]]), rowSums(few[1:3]), ignore_attr = TRUE)
  expect_error(predictive_interval.bayes_logit(fit), "counts of classes", class = input)
})

test_that("two classes are a logistic regression", {
  d <- transform(grades, y = ordered(y == "high"))
  two <- quick(y ~ x + (1 | g), d)
  one <- bayes_logit((y == "TRUE") ~ x + (1 | g), d, chains = 2, iter = 40, warmup = 20, seed = 1, progress = FALSE)
  expect_equal(two$coefficient_trace, one$coefficient_trace, tolerance = 1e-8)
  expect_equal(fitted(two)[, "TRUE"], fitted(one), ignore_attr = TRUE, tolerance = 1e-8)
})

test_that("what the data cannot say is said in words of classes", {
  words <- function(...) support_said(suppressMessages(quick(...)))
  expect_identical(words(y ~ x + f), character())
  expect_match(words(cbind(a = c(3, 2), b = c(1, 4), c = 0) ~ 1, data.frame(row = 1:2))[[1]],
    "No response is of class `c`")
  at <- transform(grades, old = as.numeric(y == "low" & x < 3))
  expect_match(words(y ~ old, at), "`old` (only the lowest class where `old` is 1)", fixed = TRUE)
  apart <- data.frame(x = 1:9, y = ordered(rep(1:3, each = 3)))
  fit <- bayes_logit(y ~ x, apart, "cratio", chains = 1, iter = 400, seed = 1, progress = FALSE)
  expect_match(support_said(fit), "The predictors separate the classes of all rows", fixed = TRUE)
  expect_match(words(y ~ x + I(2 * x)), "rank deficient (rank 3 of 4 columns)", fixed = TRUE)
})

test_that("responses that are not ordinal, and models of other packages, are refused", {
  expect_error(quick(as.character(y) ~ x), "an ordinal one is an ordered factor", class = input)
  expect_error(quick(as.integer(y) ~ x), "an ordinal one is an ordered factor", class = input)
  expect_error(quick(y ~ 0 + x), "the steps of an ordinal response have intercepts", class = input)
  expect_error(quick(y ~ x, control = warp_control(sparse = TRUE)),
    "`sparse` is not known for family \"cratio\"", class = input)
  expect_error(bayes_logit(y ~ x, grades, "cumulative"), "the ordinal family of this package is \"cratio\"",
    class = input)
  expect_error(bayes_logit(y ~ x, grades, "sratio"), "opposite signs", class = input)
  expect_error(quick(cbind(1, 2.5) ~ 1, data.frame(a = 1)), "not whole numbers", class = input)
  expect_error(predict(quick(y ~ x + f), transform(grades, f = "z")), "new level \"z\"", class = input)
  expect_error(log_lik(quick(y ~ x), data.frame(x = 1, y = "best")), "\"best\"", class = input)
})

test_that("package emmeans has contrasts of the linear predictor", {
  skip_if_not_installed("emmeans")
  fit <- quick(y ~ x + f)
  means <- suppressMessages(emmeans::emmeans(fit, ~f))
  expect_equal(colMeans(as.matrix(emmeans::contrast(means, "trt.vs.ctrl")@post.beta %*%
    t(emmeans::contrast(means, "trt.vs.ctrl")@linfct))), unname(coef(fit)[c("fv", "fw")]), ignore_attr = TRUE,
    tolerance = 1e-10)
})
