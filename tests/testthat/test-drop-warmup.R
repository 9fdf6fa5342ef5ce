# drop_warmup(): a longer warm-up for an existing fit.

test_that("the draws equal those of a fit with the longer warm-up", {
  set.seed(1)
  x <- matrix(rnorm(120), 60, dimnames = list(NULL, c("a", "b")))
  short <- dp_mixture(
    x, components = 3, iter = 24, warmup = 4, chains = 2, seed = 1, threads = 2,
    control = warp_control(thin = 2, start = rep(1, 60), keep = c("weights", "means", "covariances", "labels"))
  )
  long <- dp_mixture(
    x, components = 3, iter = 24, warmup = 10, chains = 2, seed = 1, threads = 2,
    control = warp_control(thin = 2, start = rep(1, 60), keep = c("weights", "means", "covariances", "labels"))
  )
  dropped <- drop_warmup(short, 5)
  expect_identical(dropped$warmup, 10)
  expect_identical(dropped$draws, long$draws)
  expect_identical(summary(dropped)$diagnostics, summary(long)$diagnostics)
  expect_identical(drop_warmup(short)$warmup, 12)
  expect_identical(drop_warmup(long, 0)$draws, long$draws)
  more <- continue(dropped, 6, threads = 2)
  expect_identical(more$draws, continue(long, 6, threads = 2)$draws)
  expect_identical(drop_warmup(more)$warmup, 16)
  matched <- drop_warmup(relabel(short, threads = 2), 2)
  expect_s3_class(matched, c("dp_mixture", "warpbayes_fit", "warpbayes"), exact = TRUE)
  expect_null(matched$match)
  expect_identical(dim(matched$draws$weights), c(3L, 9L, 2L))
})

test_that("drop_warmup() works for regressions with and without groups", {
  set.seed(1)
  d <- data.frame(y = rbinom(80, 1, 0.5), x = rnorm(80), g = rep(1:4, 20))
  for (formula in list(y ~ x, y ~ x + (1 | g))) {
    short <- bayes_logit(formula, d, chains = 2, iter = 30, warmup = 10, seed = 1, threads = 2)
    long <- bayes_logit(formula, d, chains = 2, iter = 30, warmup = 20, seed = 1, threads = 2)
    dropped <- drop_warmup(short, 10)
    expect_identical(dropped$draws, long$draws)
    expect_identical(coef(dropped), coef(long))
  }
})

test_that("a warm-up that leaves no draw is refused", {
  error <- "warpbayes_error_input"
  fit <- simulate_fit()
  expect_error(drop_warmup(fit, 50),
    "`n` is 50, but 50 sweeps follow the warm-up: no draw would remain; continue", class = error
  )
  expect_error(drop_warmup(fit, -1), "`n` must be one whole number from 0", class = error)
  expect_error(drop_warmup(fit, 1, warmup = 3), "`warmup` is not known here", class = error)
  expect_error(drop_warmup(1), "`fit` must come from dp_mixture\\(\\) or bayes_logit\\(\\), not 1", class = error)
  topics <- structure(list(), class = c("topic_model", "warpbayes_fit", "warpbayes"))
  expect_error(drop_warmup(topics), "fit again with a longer `warmup`", class = error)
})
