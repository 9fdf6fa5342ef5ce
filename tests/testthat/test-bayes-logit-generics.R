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
  # The seed is also that of the effects of new groups.
  of_new <- function() posterior_predict.bayes_logit(fit, data.frame(x = 1:30, g = 1:30 + 100), seed = 1)
  expect_identical(of_new(), of_new())
  expect_identical(colnames(as.matrix(fit)), c("(Intercept)", "x", "sd(g)"))
  intervals <- posterior_interval.bayes_logit(fit, 0.95)
  expect_identical(dimnames(intervals), list(colnames(as.matrix(fit)), c("2.5%", "97.5%")))
  expect_identical(intervals[1:2, ], confint(fit, level = 0.95))
  expect_identical(posterior_interval.bayes_logit(fit, 0.95, "sd(g)"), intervals[3, , drop = FALSE])
  expect_error(posterior_interval.bayes_logit(fit, pars = "z"), "must be names or numbers of the fit's",
    class = input)
  expect_error(posterior_interval.bayes_logit(fit, pars = 99), "must be names or numbers", class = input)
  expect_error(posterior_interval.bayes_logit(fit, prob = 2), "prob", class = input)
  expect_identical(predictive_interval.bayes_logit(fit, 0.5, seed = 1)[7, ],
    c("25%" = quantile(drawn[, 7], 0.25, names = FALSE), "75%" = quantile(drawn[, 7], 0.75, names = FALSE)))
  classes <- quick(factor(k %% 3) ~ x, family = "multinomial", chains = 1)
  expect_error(predictive_interval.bayes_logit(classes), "have no order", class = input)
  expect_equal(colMeans(as.matrix(fit))[1:2], coef(fit))
  expect_identical(fixef.bayes_logit(fit), coef(fit))
  expect_identical(dim(ranef.bayes_logit(fit)$g), c(6L, 1L))
  expect_equal(ranef.bayes_logit(fit)$g[[1L]], unname(rowMeans(fit$draws$intercepts)))
  expect_equal(VarCorr.bayes_logit(fit)$g[[1L]], mean(as.matrix(fit)[, "sd(g)"]^2))
  expect_error(ranef.bayes_logit(quick(y ~ x, chains = 1)), "no grouping terms", class = input)
  expect_identical(sigma(fit), 1)
  expect_identical(unname(weights(fit)), fit$weights)
  expect_identical(case.names(fit), rownames(model.frame(fit)))
  expect_identical(variable.names(fit), names(coef(fit)))
  expect_equal(family(fit), binomial())
  expect_identical(ncol(model.matrix(fit)), 2L)
  expect_identical(attr(terms(fit), "term.labels"), "x")
  expect_identical(names(model.frame(fit)), c("y", "x", "g"))
  expect_identical(as.vector(as.array(fit)), as.vector(as.matrix(fit)))
  expect_equal(dim(as.array(fit))[2:3], c(fit$chains, 3))
  expect_identical(prior_summary.bayes_logit(fit), fit$prior)
  if (requireNamespace("coda", quietly = TRUE)) expect_error(as.mcmc.warpbayes_fit(fit), "has 2 chains", class = input)
  counts <- quick(k ~ x, family = "negbinomial", chains = 1)
  expect_identical(dim(posterior_predict.bayes_logit(counts, small[1:2, ], ndraws = 7)), c(7L, 2L))
})

test_that("residuals, deviance and their degrees of freedom are those of glm() at the same means", {
  small$w <- rep(1:3, 20)
  small$n <- rep(1:4, 15)
  small$s <- rbinom(60, small$n, plogis(small$x))
  fit <- bayes_logit(cbind(s, n - s) ~ x, small, weights = w, chains = 1, iter = 60, seed = 1, threads = 2)
  same <- stats::binomial()
  mean <- fitted(fit)
  expect_equal(residuals(fit), small$s / small$n - mean)
  expect_equal(residuals(fit, "pearson"), (small$s - small$n * mean) * sqrt(small$w / (small$n * mean * (1 - mean))))
  expect_equal(deviance(fit), sum(same$dev.resids(small$s / small$n, mean, small$n * small$w)))
  expect_equal(sign(residuals(fit, "deviance")), sign(residuals(fit)))
  expect_identical(df.residual(fit), 58L)
  # At the posterior means of many draws the deviance exceeds the least one by less than the coefficients' share.
  least <- stats::glm(cbind(s, n - s) ~ x, stats::binomial(), small, weights = w)
  expect_gt(deviance(fit), deviance(least))
  expect_lt(deviance(fit), deviance(least) + 10)

  skip_if_not_installed("MASS")
  fit <- quick(k ~ x, family = "negbinomial", chains = 1)
  mean <- fitted(fit)
  size <- median(as.matrix(fit)[, "dispersion"])
  same <- MASS::negative.binomial(size)
  expect_equal(deviance(fit), sum(same$dev.resids(small$k, mean, 1)))
  expect_equal(residuals(fit, "pearson"), (small$k - mean) / sqrt(same$variance(mean)))
  expect_error(residuals(fit, "working"), "must be one of", class = input)
})

test_that("residuals of a multinomial have the deviance of its log likelihood, and rows without trials are NA", {
  set.seed(14)
  counts <- t(rmultinom(60, 5, c(0.2, 0.3, 0.5)))
  counts[7, ] <- 0
  fit <- quick(counts ~ x, family = "multinomial", chains = 1)
  observed <- counts[-7, ] / 5
  mean <- fitted(fit)[-7, ]
  loss <- 2 * 5 * sum(ifelse(observed > 0, observed * log(observed / mean), 0))
  expect_equal(deviance(fit), loss)
  expect_true(all(is.na(residuals(fit, "deviance")[7, ])))
  expect_equal(df.residual(fit), 59 * 2 - 4)
  pearson <- (observed - mean) / sqrt(mean * (1 - mean) / 5)
  expect_equal(residuals(fit, "pearson")[-7, ], pearson, ignore_attr = TRUE)

  # False alarms below 1e-6: the counts of 40 x 60 x 5 trials from their means.
  drawn <- posterior_predict.bayes_logit(fit, ndraws = 40, seed = 1)
  expect_identical(dim(drawn), c(40L, 60L, 3L))
  expect_true(all(rowSums(drawn, dims = 2L)[, -7] == 5) && all(drawn[, 7, ] == 0))
  law <- posterior_epred.bayes_logit(fit, ndraws = 40)[, -7, ]
  z <- (apply(drawn, 3L, sum) - 5 * apply(law, 3L, sum)) / sqrt(5 * apply(law * (1 - law), 3L, sum))
  expect_lt(max(abs(z)), 5.2)
  one <- quick(factor(max.col(counts)) ~ x, family = "multinomial", chains = 1)
  drawn <- posterior_predict.bayes_logit(one, small[1:4, ], ndraws = 9)
  expect_identical(dim(drawn), c(9L, 4L))
  expect_identical(attr(drawn, "levels"), c("1", "2", "3"))
  expect_true(all(drawn %in% 1:3))
  expect_error(pp_check.bayes_logit(fit), "has counts of classes", class = input)
})

test_that("log_lik() of new data has their response, and refuses one that the fit could not have had", {
  fit <- quick(y ~ x + (1 | g), chains = 2)
  own <- log_lik(fit)
  expect_equal(log_lik(fit, small[c(5, 2), ]), own[, c(5, 2)], tolerance = 1e-12)
  expect_identical(log_lik(fit, small, ndraws = 7), log_lik(fit, ndraws = 7))
  mean <- posterior_epred.bayes_logit(fit, small[1:3, ], re_formula = NA)
  y <- rep(small$y[1:3], each = 80)
  expect_equal(log_lik(fit, small[1:3, ], re_formula = NA), log(ifelse(y == 1, mean, 1 - mean)), ignore_attr = TRUE)
  # Rows of the same new group share its effect in each draw.
  new <- log_lik(fit, transform(small[c(1, 1), ], g = "new"))
  expect_identical(new[, 1], new[, 2])
  expect_error(log_lik(fit, small["x"]), "lacks", class = input)
  expect_error(log_lik(fit, data.frame(x = 1, g = 1)), "lacks \"y\"", class = input)
  expect_error(log_lik(fit, data.frame(x = 1, g = 1, y = 2)), "response that is not binary", class = input)
  expect_error(log_lik(fit, data.frame(x = 1, g = 1, y = NA)), "missing values in row 1", class = input)
  expect_error(log_lik(fit, data.frame(x = 1, g = 1, y = factor(1))), "as a factor, but the fit", class = input)
  counts <- quick(cbind(k, 40 - k) ~ x, chains = 1)
  expect_equal(log_lik(counts, small[3:4, ]), log_lik(counts)[, 3:4])
  # A level alone is not taken for the first.
  small$f <- factor(ifelse(small$y == 1, "yes", "no"))
  fit <- bayes_logit(f ~ x, small, chains = 1, iter = 60, seed = 1, threads = 2)
  yes <- which(small$f == "yes")[1:2]
  expect_equal(log_lik(fit, transform(small[yes, ], f = "yes")), log_lik(fit)[, yes])
  expect_error(log_lik(fit, data.frame(x = 1, f = "maybe")), "has the response \"maybe\"", class = input)
})

test_that("drawn responses of new data have the trials of their response, or those that the user gives", {
  of_small <- function(formula, ...) {
    bayes_logit(formula, small, ..., chains = 1, iter = 60, warmup = 20, seed = 1, threads = 2, progress = FALSE)
  }
  small$n <- rep(c(0, 1, 12, 30), 15)
  small$s <- rbinom(60, small$n, plogis(small$x))
  fit <- of_small(cbind(s, n - s) ~ x)
  draw <- function(newdata, ...) posterior_predict.bayes_logit(fit, newdata, seed = 3, ...)
  own <- posterior_predict.bayes_logit(fit, seed = 3)
  expect_identical(draw(small), own)
  expect_identical(draw(small["x"], trials = small$n), own)
  expect_identical(draw(small[c(4, 3), ]), draw(small[c(4, 3), "x", drop = FALSE], trials = c(30, 12)))
  # `trials` goes before the response.
  expect_identical(draw(transform(small, n = 5, s = 0), trials = small$n), own)
  expect_identical(draw(small[1:3, "x", drop = FALSE], trials = 7), draw(data.frame(x = small$x[1:3], n = 7, s = 2)))
  expect_true(all(draw(small["x"], trials = 0) == 0))
  expect_identical(predictive_interval.bayes_logit(fit, newdata = small["x"], trials = small$n, seed = 3),
    predictive_interval.bayes_logit(fit, seed = 3))
  # The draws have the law that log_lik() gives each number of successes. False alarms below 1e-6.
  row <- data.frame(x = 0.4, n = 6, s = 0:6)
  law <- exp(log_lik(fit, row))
  expect_equal(rowSums(law), rep(1, nrow(law)))
  drawn <- draw(row[rep(1, 500), ])
  z <- (tabulate(drawn + 1, 7) - 500 * colSums(law)) / sqrt(500 * colSums(law * (1 - law)))
  expect_lt(max(abs(z)), 5.5)

  expect_error(draw(small["x"]), "lacks \"s\", \"n\".* come from the response or from `trials`", class = input)
  expect_error(draw(small[c("x", "n")]), "lacks \"s\", which the fit reads .* `trials`", class = input)
  expect_error(draw(transform(small, s = NA)), "missing values in row 1.* `trials`", class = input)
  expect_error(draw(transform(small, s = n + 1)), "not whole numbers from 0", class = input)
  expect_error(predictive_interval.bayes_logit(fit, newdata = small["x"]), "or from `trials`", class = input)
  for (wrong in list(2.5, -1, NA, Inf, "a", c(1, 2), factor(1), list(1))) {
    expect_error(draw(small["x"], trials = wrong), "`trials` must be one whole number from 0, or one for each of the",
      class = input)
  }
  expect_error(draw(small["x"], trials = rep(c(1, 0.5), 30)), "not a numeric of length 60 with 0.5 in row 2",
    class = input)
  expect_error(draw(NULL, trials = 3), "`trials` is 3, but is for `newdata`", class = input)
  # A fit whose rows all have one trial still reads those of new data.
  fit <- of_small(cbind(y, 1 - y) ~ x)
  expect_true(all(draw(small["x"], trials = 1) %in% 0:1))
  expect_gt(max(draw(data.frame(x = 3), trials = 9)), 1)
  expect_error(draw(data.frame(x = 3)), "or from `trials`", class = input)
  # The response is a constant.
  small <- small[1, ]
  fit <- of_small(cbind(2, 3) ~ 1)
  expect_error(draw(small[c(1, 1), ]), "its response has 1. The numbers of trials", class = input)
})

test_that("0/1 responses have one trial and counts none, and counts of classes have those of their rows", {
  of_small <- function(formula, ...) {
    bayes_logit(formula, small, ..., chains = 1, iter = 60, warmup = 20, seed = 1, threads = 2, progress = FALSE)
  }
  for (fit in list(of_small(y ~ x), of_small(factor(y) ~ x), of_small(y == 1 ~ x))) {
    drawn <- posterior_predict.bayes_logit(fit, small["x"], seed = 3)
    expect_identical(drawn, posterior_predict.bayes_logit(fit, seed = 3))
    expect_true(all(drawn %in% 0:1))
    expect_error(posterior_predict.bayes_logit(fit, small["x"], trials = 3), "`trials` is 3, but the response of the",
      class = input)
  }
  counts <- of_small(k ~ x, family = "negbinomial")
  expect_identical(posterior_predict.bayes_logit(counts, small["x"], seed = 3),
    posterior_predict.bayes_logit(counts, seed = 3))
  expect_error(posterior_predict.bayes_logit(counts, small["x"], trials = 3), "has no numbers of trials", class = input)

  small$u <- cbind(a = small$y, b = small$k, c = 2)
  fit <- of_small(u ~ x, family = "multinomial")
  own <- posterior_predict.bayes_logit(fit, seed = 3)
  expect_identical(posterior_predict.bayes_logit(fit, small, seed = 3), own)
  expect_identical(posterior_predict.bayes_logit(fit, small["x"], seed = 3, trials = rowSums(small$u)), own)
  expect_error(posterior_predict.bayes_logit(fit, small["x"]), "lacks \"u\".* `trials`", class = input)
  # Where each row of the fit has one trial, rows of more trials give counts.
  small$u <- cbind(small$y, 1 - small$y)
  fit <- of_small(u ~ x, family = "multinomial")
  drawn <- posterior_predict.bayes_logit(fit, small["x"], seed = 3, trials = 4)
  expect_identical(dim(drawn), c(40L, 60L, 2L))
  expect_true(all(rowSums(drawn, dims = 2L) == 4))
})

test_that("loo() is that of the log likelihoods, without rows of no weight, and warns of a row that matters much", {
  skip_where_repeated()
  skip_if_not_installed("loo")
  small$w <- rep(c(0, 1, 1), 20)
  fit <- bayes_logit(y ~ x, small, weights = w, chains = 2, iter = 600, seed = 1, threads = 2)
  expect_silent(found <- loo::loo(fit))
  values <- log_lik(fit)[, small$w > 0]
  share <- loo::relative_eff(exp(values), chain_id = rep(1:2, each = 300))
  expect_equal(found$estimates, loo::loo(values, r_eff = share)$estimates)
  expect_output(print(found), "All Pareto k estimates are (good|ok)")
  expect_identical(dim(suppressWarnings(loo::loo(fit, ndraws = 81))), c(82L, 40L))
  small$k[[1]] <- 3000
  small$x[[1]] <- -9
  fit <- bayes_logit(k ~ x, small, "negbinomial", chains = 2, iter = 600, seed = 1, threads = 2)
  expect_warning(found <- loo::loo(fit), "Pareto k")
  expect_identical(which.max(found$diagnostics$pareto_k), 1L)
  expect_error(loo::loo(fit, ndraws = 3), "leaves 2 of each chain's draws", class = input)
  prior <- quick(y ~ x, chains = 1, control = warp_control(prior_only = TRUE))
  expect_error(loo::loo(prior), "draws of the prior alone", class = input)
})

test_that("pp_check() plots observed and replicated responses of rows with weight", {
  skip_where_repeated()
  skip_if_not_installed("bayesplot")
  small$w <- rep(c(0, 1, 1), 20)
  fit <- bayes_logit(y ~ x, small, weights = w, chains = 1, iter = 60, seed = 1, threads = 2)
  bars <- bayesplot::pp_check(fit, ndraws = 5)
  expect_identical(sum(bars$data$y_obs, na.rm = TRUE), as.double(sum(small$w > 0)), tolerance = 0)
  counts <- quick(k ~ x, family = "negbinomial", chains = 1)
  expect_s3_class(bayesplot::pp_check(counts), "ggplot")
  expect_s3_class(bayesplot::pp_check(counts, "stat", stat = "sd", binwidth = 1), "ggplot")
  classes <- quick(factor(pmin(k, 2)) ~ x, family = "multinomial", chains = 1)
  expect_setequal(bayesplot::pp_check(classes, ndraws = 3)$data$x, 1:3)
  expect_error(bayesplot::pp_check(fit, "nothing"), "must be the name of a function of package bayesplot",
    class = input)
})
