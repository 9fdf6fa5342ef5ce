# Zero-inflated and hurdle counts.
skip_where_repeated()

set.seed(9)
visits <- data.frame(x = rnorm(80, 1), z = rnorm(80), g = rep(1:8, 10), e = runif(80, 1, 3))
visits$y <- ifelse(runif(80) < plogis(-0.5 + visits$z), 0,
  rnbinom(80, mu = visits$e * exp(0.3 * visits$x + rnorm(8, 0, 0.4)[visits$g]), size = 3))
quick <- function(formula = y ~ x, data = visits, family = "negbinomial", ...) {
  suppressMessages(bayes_logit(formula, data, family, ...,
    chains = 2, iter = 30, warmup = 10, seed = 1, threads = 2, progress = FALSE
  ))
}
input <- "warpbayes_error_input"

# Probabilities of counts by the definitions: `p` of excess zeros, or of zeros.
zero_density <- function(kind, y, mean, p, size) {
  count <- if (is.infinite(size[[1]])) dpois(y, mean) else dnbinom(y, size = size, mu = mean)
  none <- if (is.infinite(size[[1]])) dpois(0, mean) else dnbinom(0, size = size, mu = mean)
  if (kind == "zi") return((y == 0) * p + (1 - p) * count)
  (y == 0) * p + (y > 0) * (1 - p) * count / (1 - none)
}

test_that("log likelihoods, means and simulations follow the definitions", {
  new <- data.frame(x = c(0.4, 1.2), z = c(1, -1), g = c(3, 5), e = 2, y = c(0, 4))
  for (kind in c("zi", "hu")) {
    for (family in if (extended()) c("poisson", "negbinomial") else c(zi = "poisson", hu = "negbinomial")[[kind]]) {
      zero <- stats::setNames(list(if (family == "poisson") ~ z + (1 | g) else ~z), kind)
      formula <- if (family == "poisson") y ~ x + offset(log(e)) else y ~ x + offset(log(e)) + (x | g)
      fit <- do.call(quick, c(list(formula, visits, family), zero))
      names <- c("(Intercept)", "x", paste0(kind, c("_(Intercept)", "_z")))
      expect_identical(fit$coefficient_names, names)
      beta <- coefficient_draws(fit)
      size <- if (family == "negbinomial") as.vector(fit$dispersion_trace[11:30, ]) else Inf
      for (i in if (extended()) 1:2 else c(zi = 1, hu = 2)[[kind]]) {
        mean <- 2 * exp(beta[, 1] + beta[, 2] * new$x[[i]])
        p <- beta[, 3] + beta[, 4] * new$z[[i]]
        if (family == "poisson") {
          p <- p + as.vector(fit$draws$zero_intercepts[new$g[[i]], , ])
        } else {
          effects <- matrix(fit$draws$effects[2 * new$g[[i]] - 1:0, , ], 2)
          mean <- mean * exp(effects[1, ] + effects[2, ] * new$x[[i]])
        }
        p <- plogis(p)
        of <- function(y) zero_density(kind, y, mean, p, size)
        expect_equal(log_lik(fit, new)[, i], log(of(new$y[[i]])), tolerance = 1e-10)
        values <- 0:2000
        masses <- vapply(values, of, mean)
        expect_equal(posterior_epred.bayes_logit(fit, new)[, i], drop(masses %*% values), tolerance = 1e-8)
        second <- drop(masses %*% values^2) - drop(masses %*% values)^2
        rows <- prediction_rows(fit, new)
        expect_equal(zero_moments(fit, linear_draws(fit, rows, 1:40, 1:2), TRUE)[, i, 1], second, tolerance = 1e-6)
        expect_equal(predict(fit, new, "zero")[i, "mean"], mean(p), tolerance = 1e-10, ignore_attr = TRUE)
        expect_equal(predict(fit, new, "count")[i, "mean"], base::mean(mean), tolerance = 1e-10, ignore_attr = TRUE)
        expect_equal(predict(fit, new, "link")[i, "mean"], base::mean(log(mean)), tolerance = 1e-10,
          ignore_attr = TRUE)
        # The law of simulated responses: a false alarm in 1e6.
        shares <- rep(1:40, each = 50)
        linear <- linear_draws(fit, rows, shares, i)
        set.seed(2)
        drawn <- as.vector(draw_zero_responses(fit, linear))
        expected <- colMeans(masses)[1:4]
        expect_lt(max(abs(colMeans(outer(drawn, 0:3, `==`)) - expected) / sqrt(expected / 2000)), 5.2)
      }
      # The sampler's log likelihood is that of its draws, in which excess zeros are summed out.
      expect_equal(fit$log_likelihood[11:30, ], matrix(rowSums(log_lik(fit)), 20), tolerance = 1e-10)
    }
  }
})

test_that("methods of other packages know both regressions", {
  fit <- quick(y ~ x + (1 | g), zi = ~ z + (1 | g))
  parameters <- c("(Intercept)", "x", "zi_(Intercept)", "zi_z", "dispersion", "sd(g)", "zi_sd(g)")
  expect_identical(dimnames(logit_draws(fit))[[3]], parameters)
  expect_identical(dimnames(as.array(fit, groups = TRUE))[[3]][c(8, 16)], c("intercept[1]", "zi_intercept[1]"))
  expect_identical(names(ranef.bayes_logit(fit)), c("g", "zi_g"))
  expect_output(print(VarCorr.bayes_logit(fit)), "zi_g")
  expect_identical(tidy.bayes_logit(fit)$term, parameters)
  expect_identical(dim(posterior_linpred.bayes_logit(fit)), c(40L, 80L))
  drawn <- posterior_predict.bayes_logit(fit, seed = 1)
  expect_true(identical(dim(drawn), c(40L, 80L)) && all(drawn >= 0 & drawn == floor(drawn)))
  expect_identical(dim(simulate(fit, 3, seed = 1)), c(80L, 3L))
  expect_equal(fitted(fit), predict(fit)[, "mean"], tolerance = 1e-12)
  expect_equal(residuals(fit), visits$y - fitted(fit), tolerance = 1e-12)
  expect_true(all(is.finite(residuals(fit, "pearson"))) && is.finite(bayes_R2.bayes_logit(fit)[[1]]))
  expect_length(calibration_points(fit)$observed, 10L)
  expect_true(is.list(coefficient_picture(fit, NULL, TRUE, NULL)))
  expect_output(print(summary(fit)), "regression of zeros, intercept", fixed = TRUE)
  expect_output(print(fit), "Zero-inflated negative binomial regression: y ~ x + (1 | g), zi = ~ z + (1 | g)",
    fixed = TRUE)
  expect_error(deviance(fit), "zero-inflated counts, which have no deviance", class = input)
  expect_error(family(fit), "no family object", class = input)
  expect_error(predict(fit, re_formula = ~ (1 | g)), "must be NULL or NA", class = input)
  expect_error(predict(quick(), type = "zero"), "`type`", class = input)
  expect_error(predict(fit, data.frame(x = 1, g = 1)), "lacks \"z\"", class = input)
  broken <- fit
  broken$zero$part$design$x <- 1
  expect_error(coef(broken), "zero|design", class = input)
})

test_that("more sweeps, threads and missing values do not change draws", {
  parts <- c("coefficient_trace", "dispersion_trace", "group_deviation", "zero_group_deviation", "draws", "state")
  set.seed(3)
  before <- .Random.seed
  fit <- quick(y ~ x + (x | g), hu = ~ z + (1 | g))
  expect_identical(.Random.seed, before)
  half <- suppressMessages(bayes_logit(y ~ x + (x | g), visits, "negbinomial", hu = ~ z + (1 | g), chains = 2,
    iter = 20, warmup = 10, seed = 1, threads = 1, progress = FALSE))
  expect_identical(continue(half, 10)[parts], fit[parts])
  holes <- rbind(visits, transform(visits[1:2, ], z = NA), transform(visits[3, ], x = NA))
  expect_identical(quick(y ~ x + (x | g), holes, hu = ~ z + (1 | g))$coefficient_trace, fit$coefficient_trace)
  expect_identical(drop_warmup(fit, 5)$warmup, 15)
  # Chance numbers of the two regressions differ, although their design is the same.
  both <- quick(y ~ x, hu = ~x)$coefficient_trace[, 1, ]
  expect_lt(abs(cor(both[, 1], both[, 3])), 0.7)
})

test_that("rows are weighed, chosen and left out", {
  parts <- c("coefficient_trace", "dispersion_trace", "log_likelihood")
  some <- visits$x > 0.5
  for (kind in c("zi", "hu")) {
    of <- function(...) do.call(quick, c(list(...), stats::setNames(list(~z), kind)))
    chosen <- of(subset = some)
    expect_identical(chosen[parts], of(data = visits[some, ])[parts])
    expect_identical(of(weights = as.double(some))$weights, as.double(some))
    # A row of weight 2 is two rows: the same likelihood at the same parameters.
    double <- of(weights = rep(2, 80))
    expect_equal(rowSums(log_lik(double)), 2 * rowSums(log_lik(double, visits)), tolerance = 1e-12)
    expect_equal(double$log_likelihood[11:30, ], matrix(rowSums(log_lik(double)), 20), tolerance = 1e-10)
  }
  skip_if_not_installed("loo")
  fit <- suppressMessages(bayes_logit(y ~ x, visits, "negbinomial", zi = ~z, chains = 2, iter = 30, warmup = 10,
    seed = 1, threads = 2, progress = FALSE))
  folds <- rep(1:2, 40)
  left_out <- suppressWarnings(loo::kfold(fit, folds = folds))
  again <- quick(zi = ~z, weights = as.double(folds != 1))
  expected <- log(colMeans(exp(log_lik(again, visits)[, folds == 1])))
  expect_equal(unname(left_out$pointwise[folds == 1, 1]), expected, tolerance = 1e-10)
  skip_if_not_installed("emmeans")
  skip_if_not_installed("coda")
  grid <- as.data.frame(summary(emmeans::emmeans(fit, ~x, at = list(x = 1), type = "response"), point.est = mean))
  beta <- coefficient_draws(fit)
  expect_equal(grid$response, mean(exp(beta[, 1] + beta[, 2])), tolerance = 1e-6)
})

test_that("excess zeros and a small dispersion, which explain the same zeros, mix", {
  set.seed(1)
  d <- data.frame(x = rnorm(500))
  d$y <- rnbinom(500, mu = exp(1 + d$x / 2), size = 0.15) * rbinom(500, 1, 0.7)
  for (zi in c(~1, if (full_run()) ~x)) {
    fit <- bayes_logit(y ~ x, d, "negbinomial", zi = zi, chains = 1, iter = 1500, warmup = 500, seed = 1, threads = 1,
      progress = FALSE)
    expect_gt(min(apply(logit_draws(fit), 3, effective_size)), 50)
  }
  # The mean count is known, whatever makes the zeros.
  mean <- rowMeans(posterior_epred.bayes_logit(fit))
  expect_lt(abs(log(mean(mean) / mean(d$y))), 0.2)
})

test_that("groups mix in both regressions, and moves of levels have the posterior of sweeps", {
  skip_if(resolve_run()$backend != "cpu", "many sweeps")
  set.seed(2)
  d <- data.frame(g = rep(1:24, 6), x = rnorm(144))
  d$y <- rpois(144, exp(0.7 + d$x / 2 + rnorm(24, 0, 0.5)[d$g])) * rbinom(144, 1, plogis(0.7 + rnorm(24))[d$g])
  for (kind in c("zi", "hu")) {
    fit <- do.call(bayes_logit, c(list(y ~ x + (1 | g), d, "poisson", chains = 1, iter = 3500, warmup = 500, seed = 1,
      threads = 1, progress = FALSE), stats::setNames(list(~ (1 | g)), kind)))
    expect_output(print(fit), "slice moves of both regressions")
    moved <- logit_draws(fit)[, 1, ]
    for (part in c("count", "zero")) fit$state[[1]][[part]]$moves <- NULL
    fit <- continue(fit, 6000, threads = 1, progress = FALSE)
    expect_output(print(fit), "Polya-Gamma sweeps of both")
    swept <- logit_draws(fit)[-seq_len(3100), 1, ]
    size <- function(draws) apply(draws, 2, function(x) effective_size(split_chains(matrix(x))))
    expect_gt(min(size(moved)), 300)
    for (share in c(0.1, 0.5, 0.9)) {
      limit <- apply(swept, 2, stats::quantile, share)
      below <- list(t(t(moved) <= limit) + 0, t(t(swept) <= limit) + 0)
      error <- sqrt(rowSums(vapply(below, function(x) apply(x, 2, stats::var) / size(x), numeric(ncol(swept)))))
      # False alarms: 1e-6 for each comparison.
      expect_lt(max(abs(colMeans(below[[1]]) - colMeans(below[[2]])) / error), 5, label = paste(kind, share))
    }
  }
})

test_that("posteriors agree with quadrature", {
  skip_if(resolve_run()$backend != "cpu", "many sweeps")
  y <- 0:3
  times <- c(4, 2, 1, 1)
  # Parameters are the log of the mean, and the log odds of zeros or the log dispersion.
  # The dispersion is learned where the probability of zeros is nearly known.
  check <- function(kind, family, moves) {
    zeros <- logit_prior(intercept_location = 0, intercept_scale = if (family == "poisson") 1 else 1e-3)
    prior <- list(count = logit_prior(intercept_location = 0.2, intercept_scale = 0.8, dispersion = c(4, 2)),
      zero = zeros)
    formulas <- stats::setNames(list(~1), kind)
    iter <- if (extended()) 20000 else if (moves) 2000 else 6000
    arguments <- list(y ~ 1, data.frame(y = rep(y, times)), family, prior = prior, chains = 2, iter = 40, warmup = 20,
      seed = 1, threads = 1, progress = FALSE)
    fit <- do.call(bayes_logit, c(arguments, formulas))
    # Sweeps of completed data alone, or with moves about a point that is not the mode.
    for (chain in 1:2) {
      expect_gt(fit$state[[chain]]$ellipse[[1]], 0)
      if (!moves) fit$state[[chain]]$ellipse[[1]] <- 0
      d <- if (family == "poisson") 2 else 3
      fit$state[[chain]]$ellipse[1 + 1:d] <- fit$state[[chain]]$ellipse[1 + 1:d] + c(0.4, 0, 0.4)[1:d]
    }
    fit <- continue(fit, iter, progress = FALSE)
    draws <- logit_draws(fit)[-(1:100), , ]
    if (family == "poisson") {
      log_density <- function(mean, p) {
        sum(times * log(zero_density(kind, y, exp(mean), plogis(p), Inf))) + dnorm(mean, 0.2, 0.8, log = TRUE) +
          dnorm(p, 0, 1, log = TRUE)
      }
      range <- list(c(-2.5, 2.5), c(-4, 4))
    } else {
      draws <- array(c(draws[, , 1], log(draws[, , "dispersion"])), c(dim(draws)[1:2], 2L))
      log_density <- function(mean, size) {
        sum(times * log(zero_density(kind, y, exp(mean), 0.5, exp(size)))) + dnorm(mean, 0.2, 0.8, log = TRUE) +
          4 * size - 2 * exp(size)
      }
      range <- list(c(-3, 3.5), c(-3, 3))
    }
    expect_posterior(draws, log_density, range, paste(kind, family, moves))
  }
  check("zi", "poisson", FALSE)
  check("hu", "negbinomial", FALSE)
  check("zi", "negbinomial", TRUE)
  skip_if(!extended(), "the other combinations")
  check("hu", "negbinomial", TRUE)
  check("zi", "negbinomial", FALSE)
  check("hu", "poisson", FALSE)
  check("hu", "poisson", TRUE)
  check("zi", "poisson", TRUE)
})

test_that("ranks of parameters among draws are uniform, and planted errors are found", {
  skip_if(!extended(), "minutes of fits")
  for (kind in c("zi", "hu")) {
    for (family in c("poisson", "negbinomial")) {
      p <- function(planted) {
        model <- zero_calibration_model(kind, family, planted)
        table <- calibration_table(lapply(1:300, function(i) calibration_ranks(model, i, 600, 20)))
        min(table$p) * nrow(table)
      }
      # False alarms: 1e-4 for each model.
      expect_gt(p(""), 1e-4, label = paste(kind, family))
      expect_lt(p("kind"), 1e-4, label = paste(kind, family, "planted"))
    }
  }
})

test_that("data that say nothing of zeros, and wrong arguments, are named", {
  some <- transform(visits, y = y + 1)
  expect_match(support_said(quick(y ~ x, some, zi = ~1)), "No count is 0", all = FALSE)
  expect_match(support_said(quick(y ~ x, some, hu = ~1)), "Regression of zeros: All responses are counts above 0",
    all = FALSE)
  apart <- transform(visits, y = ifelse(x > 1, 0, y + 1))
  fit <- bayes_logit(y ~ 1, apart, "poisson", zi = ~x, chains = 1, iter = 200, seed = 1, progress = FALSE)
  expect_match(support_said(fit), "Regression of zeros: The predictors separate all counts of 0 from all counts above",
    all = FALSE)
  few <- transform(visits, y = pmin(y, 1))
  expect_match(support_said(quick(y ~ x, few, hu = ~1)), "No count is above 1: the prior decides how small",
    all = FALSE)
  expect_match(support_said(quick(y ~ x, few, zi = ~1)), "No count is above 1: the prior decides which zeros",
    all = FALSE)
  expect_identical(support_said(quick(zi = ~z)), character())
  expect_match(support_said(quick(zi = ~ z + I(2 * z))), "Regression of zeros: The design is rank deficient",
    all = FALSE)
  expect_error(quick(zi = ~z, hu = ~z), "`hu` is given besides `zi`", class = input)
  expect_error(quick(zi = y ~ z), "`zi` must be a formula without a response", class = input)
  expect_error(quick(zi = "z"), "`zi` must be a formula", class = input)
  expect_error(quick(I(y > 0) ~ x, family = "binomial", zi = ~z), "is for counts, but `family` is \"binomial\"",
    class = input)
  expect_error(quick(zi = ~z, weights = visits$e), "`weights` must be whole numbers", class = input)
  expect_identical(quick(zi = ~z, weights = NULL, control = warp_control(sparse = FALSE))$rows, 80L)
  expect_error(quick(transform(visits, y = 0), formula = y ~ x, zi = ~z), "without a count above 0", class = input)
  expect_error(quick(zi = ~z, prior = list(1)), "two such priors named count and zero", class = input)
  expect_error(quick(y / 2 ~ x, zi = ~z), "not a vector of counts", class = input)
})

test_that("methods refuse a fit whose regression of zeros was changed", {
  rows <- data.frame(y = rep(c(0, 0, 1, 3), 10), x = rep(1:5, 8))
  fit <- bayes_logit(y ~ x, rows, "poisson", zi = ~ 1, chains = 1, iter = 6, seed = 1, threads = 1)
  for (wrong in list(3, "zi", list(kind = "other"), list(kind = "zi", part = 1))) {
    changed <- fit
    changed$zero <- wrong
    for (method in list(print, summary, predict, coef)) {
      expect_error(method(changed), "part `zero`", class = "warpbayes_error_input")
    }
  }
  changed <- fit
  for (order in list(c(1e9, 2:fit$rows), NaN, rep(1, fit$rows))) {
    changed$zero$part$design$order <- order
    expect_error(continue(changed, 1), "part `design\\$order`", class = "warpbayes_error_input")
  }
})
