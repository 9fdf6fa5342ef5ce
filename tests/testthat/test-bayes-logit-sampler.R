# The samplers of regressions draw from their posteriors. See helper-regression.R.

# 1,000 replicates of 8 rows on the processor, and twenty times as many in the long form.
toys <- list(
  binomial = regression_toy(), "binomial, Zellner" = regression_toy(prior = "zellner"),
  "binomial, horseshoe" = regression_toy(prior = "horseshoe"), "binomial, groups" = regression_toy(groups = 4),
  "negative binomial" = regression_toy("negbinomial"),
  "negative binomial, horseshoe" = regression_toy("negbinomial", "horseshoe"),
  "negative binomial, groups" = regression_toy("negbinomial", groups = 4),
  "binomial, moves" = regression_toy(moves = 2), "binomial, groups, moves" = regression_toy(groups = 4, moves = 1),
  "negative binomial, no moves" = regression_toy("negbinomial", moves = 0),
  "binomial, Student t" = regression_toy(prior = "student", moves = 1),
  "binomial, regularised horseshoe" = regression_toy(prior = "regularised"),
  multinomial = regression_toy("multinomial"), "multinomial, horseshoe" = regression_toy("multinomial", "horseshoe"),
  "multinomial, moves" = regression_toy("multinomial", "zellner", trials = 5, moves = 2),
  "negative binomial, half-Cauchy" = regression_toy("negbinomial", dispersion_scale = 1),
  "negative binomial, half-Cauchy, no moves" = regression_toy("negbinomial", dispersion_scale = 0.7, moves = 0),
  Poisson = regression_toy("poisson", moves = 0), "Poisson, moves" = regression_toy("poisson", "student", moves = 1),
  "Poisson, groups" = regression_toy("poisson", groups = 4, moves = 0),
  "Poisson, groups, moves" = regression_toy("poisson", groups = 4, moves = 1, offset = TRUE)
)
replicates <- if (extended()) 20000 else 1000

test_that("sweeps leave the joint law of parameters and responses invariant", {
  skip_where_repeated()
  expect_joint_laws(toys, if (resolve_run()$backend != "cpu") 40 else replicates)
})

test_that("the comparison of joint laws finds planted errors", {
  skip_if(!extended(), "a test of the test")
  skip_if(resolve_run()$backend != "cpu", "many sweeps")
  expect_gt(planted_distance(toys$binomial, "kappa"), 1)
  expect_gt(planted_distance(toys$binomial, "shape"), 1)
  expect_gt(planted_distance(toys$binomial, "prior"), 1)
  expect_gt(planted_distance(toys[["binomial, Zellner"]], "prior"), 1)
  expect_gt(planted_distance(toys[["binomial, horseshoe"]], "global", 40), 1)
  expect_gt(planted_distance(toys[["binomial, regularised horseshoe"]], "slab", 10), 1)
  expect_gt(planted_distance(toys[["binomial, Student t"]], "df", 10), 1)
  expect_gt(planted_distance(toys[["binomial, groups"]], "group", 40), 1)
  expect_gt(planted_distance(toys[["negative binomial"]], "dispersion"), 1)
  expect_gt(planted_distance(toys[["negative binomial"]], "kappa"), 1)
  expect_gt(planted_distance(toys[["negative binomial, half-Cauchy"]], "dispersion"), 1)
  # Without the correction, draws are from the posterior of the surrogates.
  expect_gt(planted_distance(toys$Poisson, "surrogate"), 1)
  expect_gt(planted_distance(toys[["Poisson, groups"]], "group", 40), 1)
  # Only the moves read the counts' own part of the likelihood and the prior of the dispersion.
  expect_gt(planted_distance(toys[["negative binomial"]], "counts"), 1)
  expect_gt(planted_distance(toys$multinomial, "shape"), 1)
  expect_gt(planted_distance(toys$multinomial, "kappa"), 1)
})

test_that("posterior means and quartiles agree with quadrature", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "many sweeps")
  set.seed(3)
  d <- data.frame(x = rnorm(12, 3, 2), g = rep(1:4, each = 3))
  d$y <- rbinom(12, 3, 0.3)
  d$n <- rnbinom(12, mu = 4, size = 2)
  unit <- function(fit) fit$design$scale[[2]]
  long_fit <- function(...) {
    bayes_logit(..., chains = 2, iter = 6500, warmup = 500, threads = 1, progress = FALSE)
  }
  # The second parameter, a scale, by its logarithm.
  log_scale_draws <- function(fit) {
    draws <- logit_draws(fit)
    draws[, , 2] <- log(draws[, , 2])
    draws
  }
  # The prior of the intercept is for the mean of the predictor.
  fit <- long_fit(cbind(y, 3 - y) ~ x, d, seed = 1)
  expect_posterior(logit_draws(fit), function(a, b) {
    sum(dbinom(d$y, 3, plogis(a + b * d$x), log = TRUE)) +
      dnorm(a + b * mean(d$x), qlogis(mean(d$y) / 3), 2.5, log = TRUE) +
      dnorm(b, 0, 2.5 / unit(fit), log = TRUE)
  }, list(c(-8, 6), c(-2, 2)), "binomial")

  fit <- long_fit(n ~ 1, d, "negbinomial", seed = 2)
  expect_posterior(log_scale_draws(fit), function(a, r) {
    sum(dnbinom(d$n, mu = exp(a), size = exp(r), log = TRUE)) + dnorm(a, log(mean(d$n)), 2.5, log = TRUE) +
      dcauchy(exp(-r / 2), log = TRUE) - r / 2
  }, list(c(-2, 5), c(-5, 14)), "negative binomial")

  fit <- long_fit(n ~ x, d, "poisson", seed = 2)
  expect_posterior(logit_draws(fit), function(a, b) {
    sum(dpois(d$n, exp(a + b * d$x), log = TRUE)) + dnorm(a + b * mean(d$x), log(mean(d$n)), 2.5, log = TRUE) +
      dnorm(b, 0, 2.5 / unit(fit), log = TRUE)
  }, list(c(-2, 4), c(-1, 1)), "Poisson")

  # With groups, the comparison sums out the intercepts.
  fit <- long_fit(cbind(y, 3 - y) ~ 1 + (1 | g), d, seed = 3)
  z <- seq(-5, 5, 0.25)
  expect_posterior(log_scale_draws(fit), function(a, s) {
    by_group <- vapply(1:4, function(g) {
      y <- d$y[d$g == g]
      p <- plogis(a + exp(s) * z)
      log(sum(dnorm(z) * exp(sum(y) * log(p) + (9 - sum(y)) * log1p(-p))))
    }, 0)
    sum(by_group) + dnorm(a, qlogis(mean(d$y) / 3), 2.5, log = TRUE) + dcauchy(exp(s), 0, 2.5, log = TRUE) + s
  }, list(c(-6, 5), c(-9, 4)), "groups")

  fit <- long_fit(n ~ 1 + (1 | g), d, "poisson", seed = 3)
  expect_posterior(log_scale_draws(fit), function(a, s) {
    by_group <- vapply(1:4, function(g) {
      y <- d$n[d$g == g]
      eta <- a + exp(s) * z
      log(sum(dnorm(z) * exp(sum(y) * eta - 3 * exp(eta) - 3 * sum(y))))
    }, 0)
    sum(by_group) + dnorm(a, log(mean(d$n)), 2.5, log = TRUE) + dcauchy(exp(s), 0, 2.5, log = TRUE) + s
  }, list(c(-4, 6), c(-9, 4)), "Poisson, groups")

  m <- factor(c("u", "v", "w")[1 + d$y %% 3], c("u", "v", "w"))
  fit <- long_fit(m ~ 1, family = "multinomial", seed = 4)
  counts <- tabulate(m, 3)
  expect_posterior(logit_draws(fit), function(a, b) {
    sum(counts * c(0, a, b)) - 12 * log(1 + exp(a) + exp(b)) +
      -sum((c(a, b) - log(counts[-1] / counts[1])) * (solve(2.5^2 / 2 * (diag(2) + 1)) %*%
        (c(a, b) - log(counts[-1] / counts[1])))) / 2
  }, list(c(-6, 6), c(-6, 6)), "multinomial")
})

test_that("counts of any size and rare events mix, and a fit says which sampler ran", {
  skip_on_cran()
  skip_if(resolve_run()$backend != "cpu", "many sweeps")
  set.seed(4)
  x <- rnorm(200)
  worst <- function(...) {
    fit <- bayes_logit(..., chains = 2, iter = 700, warmup = 200, seed = 1, threads = 2, progress = FALSE)
    table <- summary(fit)$coefficients
    list(ess = min(table$ess_bulk), rhat = max(table$rhat), fit = fit)
  }
  for (log_mean in c(2, 12)) {
    y <- rnbinom(200, mu = exp(log_mean + 0.5 * x), size = 2)
    counts <- worst(y ~ x, family = "negbinomial")
    expect_gt(counts$ess, 300)
    expect_lt(counts$rhat, 1.03)
  }
  # Counts that vary like Poisson counts say only that the dispersion is large. A Poisson regression has about the same
  # intervals: measured 1.04 to 1.09 in the mean of 12 sets of 30, 50 or 200 rows with means of 10 to 1e4.
  y <- rpois(200, exp(9 + 0.5 * x))
  counts <- worst(y ~ x, family = "negbinomial")
  expect_gt(counts$ess, 300)
  poisson <- worst(y ~ x, family = "poisson")
  expect_gt(poisson$ess, 600)
  width <- function(one) sd(one$fit$coefficient_trace[201:700, , 2])
  expect_lt(abs(width(counts) / width(poisson) - 1), 0.12)
  expect_lt(abs(width(poisson) / summary(glm(y ~ x, "poisson"))$coefficients[2, 2] - 1), 0.1)
  g <- rep(1:50, 4)
  y <- rpois(200, exp(1 + 0.5 * x + rnorm(50, 0, 0.5)[g]))
  expect_gt(worst(y ~ x + (1 | g), family = "poisson")$ess, 60)
  # Polya-Gamma sweeps alone would have one effective draw in hundreds of sweeps.
  rare <- worst(cbind(rbinom(200, 1e4, plogis(-7 + 0.3 * x)), 1e4) ~ x)
  expect_gt(rare$ess, 300)
  expect_output(print(rare$fit), "Polya-Gamma sweeps, each followed by 3 elliptical slice moves \\(alone")
  g <- rep(1:10, 20)
  y <- rnbinom(200, mu = exp(9 + 0.5 * x + rnorm(10, 0, 0.5)[g] + rnorm(10, 0, 0.3)[g] * x), size = 2)
  terms <- summary(worst(y ~ x + (x | g), family = "negbinomial")$fit)
  expect_gt(min(terms$coefficients$ess_bulk[1:3]), 300)
  expect_output(print(terms), "each followed by 3 elliptical slice moves")
  # One of three classes is rare, and another model separates a class.
  y <- factor(c("a", "b", "c")[1 + (x > 0) + (seq_along(x) %% 50 == 0)])
  classes <- worst(y ~ sin(1:200), family = "multinomial")
  expect_gt(classes$ess, 300)
  expect_output(print(classes$fit), "Polya-Gamma sweeps, each followed by 3 elliptical slice moves \\(alone")
  expect_gt(worst(Species ~ Sepal.Length + Sepal.Width, data = iris, family = "multinomial")$ess, 300)
  easy <- worst(rep(0:1, 100) ~ x)
  expect_output(print(easy$fit), "Polya-Gamma sweeps\n", fixed = TRUE)
  # A fitted intercept above 10: the start is not clipped.
  expect_gt(coef(worst(rnbinom(200, mu = exp(12), size = 2) ~ x, family = "negbinomial")$fit)[[1L]], 11.5)
})
