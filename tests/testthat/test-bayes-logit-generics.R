# Generics of other packages for fits of bayes_logit().

set.seed(13)
small <- data.frame(x = rnorm(60), g = rep(1:6, 10))
small$y <- rbinom(60, 1, plogis(small$x))
small$k <- rnbinom(60, mu = exp(small$x), size = 3)
input <- "warpbayes_error_input"
quick <- function(formula, ...) {
  bayes_logit(formula, small, ..., iter = 60, warmup = 20, seed = 1, threads = 2, progress = FALSE)
}

test_that("generics of other packages give what the draws say, or refuse", {
  fit <- quick(y ~ x + (1 | g), chains = 2)
  means <- posterior_epred.bayes_logit(fit)
  expect_identical(dim(means), c(80L, 60L))
  expect_equal(colMeans(means), fitted(fit), tolerance = 1e-12)
  expect_equal(stats::plogis(posterior_linpred.bayes_logit(fit, small[1:3, ])), means[, 1:3], ignore_attr = TRUE)
  without <- posterior_linpred.bayes_logit(fit, data.frame(x = 2), re_formula = NA)
  expect_equal(mean(without), sum(coef(fit) * 1:2))
  expect_error(posterior_epred.bayes_logit(fit, data.frame(x = NA, g = 1)), "missing values in row 1", class = input)
  drawn <- posterior_predict.bayes_logit(fit, seed = 1)
  expect_true(all(drawn %in% 0:1))
  expect_identical(posterior_predict.bayes_logit(fit, seed = 1), drawn)
  expect_identical(colnames(as.matrix(fit)), c("(Intercept)", "x", "sd(g)"))
  expect_equal(colMeans(as.matrix(fit))[1:2], coef(fit))
  expect_identical(fixef.bayes_logit(fit), coef(fit))
  expect_identical(dim(ranef.bayes_logit(fit)$g), c(6L, 1L))
  expect_equal(ranef.bayes_logit(fit)$g[[1L]], unname(rowMeans(fit$draws$intercepts)))
  expect_equal(VarCorr.bayes_logit(fit)$g[[1L]], mean(as.matrix(fit)[, "sd(g)"]^2))
  expect_error(ranef.bayes_logit(quick(y ~ x, chains = 1)), "no grouping terms", class = input)
  expect_error(sigma(fit), "no residual standard deviation", class = input)
  expect_identical(family(fit), "binomial")
  expect_identical(ncol(model.matrix(fit)), 2L)
  expect_identical(prior_summary.bayes_logit(fit), fit$prior)
  expect_error(as.mcmc.bayes_logit(fit), "has 2 chains", class = input)
  counts <- quick(k ~ x, family = "negbinomial", chains = 1)
  expect_identical(dim(posterior_predict.bayes_logit(counts, small[1:2, ], draws = 7)), c(7L, 2L))
})
