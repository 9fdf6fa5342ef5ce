# Autoregressions of times. test-bayes-logit-smooth-scales.R compares the sampler with the prior.

skip_where_repeated()
skip_if(resolve_run()$backend != "cpu", "what R does")
set.seed(3)
d <- data.frame(t = c(1, 2, 4, 8, 9, 2, 3, 5, 6, 7), u = rep(c("a", "b"), each = 5), z = rnorm(10))
d$y <- rbinom(10, 6, 0.5)
cases <- cbind(y, 6 - y) ~ z + ar1(t | u)
fits <- function(formula, data = d, family = "binomial", ..., iter = 40) {
  bayes_logit(formula, data, family, ..., chains = 2, iter = iter, seed = 1, threads = 1, progress = FALSE)
}

# Their covariance for a deviation of 1.
covariance_of <- function(time, unit, correlation, step = 1) {
  correlation^(abs(outer(time, time, `-`)) / step) * outer(unit, unit, `==`)
}

test_that("effects have the covariance of an autoregression with gaps, a half-Cauchy deviation and any correlation", {
  fit <- fits(cases, iter = 1500, warmup = 100, control = warp_control(prior_only = TRUE))
  draws <- as.array(fit)
  names <- sprintf("ar1(t | u).%s.%s", d$u, d$t)
  probability <- apply(draws, c(1, 2), function(one) {
    root <- one[["sd(ar1(t | u))"]] * chol(covariance_of(d$t, d$u, one[["cor(ar1(t | u))"]]))
    c(pnorm(backsolve(root, one[names], transpose = TRUE)), 2 * pcauchy(one[["sd(ar1(t | u))"]]) - 1,
      one[["cor(ar1(t | u))"]])
  })
  for (i in seq_len(nrow(probability))) {
    for (q in c(0.1, 0.5, 0.9)) {
      below <- (probability[i, , ] <= q) + 0
      # Six standard errors, as in expect_posterior().
      expect_lt(abs(mean(below) - q) * sqrt(effective_size(split_chains(below))) / sd(below), 6, label = paste(i, q))
    }
  }
  expect_output(print(fit$prior), "ar1\\(t \\| u\\) .* at the distance 1 is uniform between 0 and 1")
})

test_that("the prior does not depend on the unit of time, on aggregation or on rows without weight", {
  fit <- fits(cases)
  expect_identical(fit$design$smooths[[1]]$gap, c(0, 1, 2, 4, 1, 0, 1, 2, 1, 1))
  other <- fits(cbind(y, 6 - y) ~ z + ar1(I(7 * t + 100) | u))
  expect_identical(other$design$smooths[[1]]$gap, fit$design$smooths[[1]]$gap)
  expect_identical(unname(coef(other)), unname(coef(fit)))
  days <- transform(d, t = as.Date("2024-01-01") + 7 * t)
  expect_identical(unname(coef(fits(cases, days))), unname(coef(fit)))
  expect_equal(predict(fits(cases, days), days[3, ]), predict(fit)[3, , drop = FALSE], ignore_attr = TRUE)
  more <- fits(cases, rbind(d, transform(d, t = t + 0.1)), weights = rep(1:0, each = 10))
  expect_identical(more$design$smooths[[1]]$lattice$step, 1)
  # The intercept's prior is where predictors have their means, and autoregressions are about 0.
  expect_identical(fit$design$center[-(1:2)], numeric(10))
  rows <- d[rep(1:10, each = 6), ]
  rows$y <- rep(1:6, 10) <= rows$y
  expanded <- fits(y ~ z + ar1(t | u), rows)
  expect_identical(expanded$prior$law_gap, fit$prior$law_gap)
})

test_that("new times and units are predicted from their law given the times that the fit has seen", {
  known <- c(0.3, -1, 2)
  from <- c(1, 2, 5)
  to <- c(3, 0, 7, 4, 1.5)
  n <- 20000
  set.seed(1)
  drawn <- draw_path(from, matrix(known, n, 3, byrow = TRUE), to, rep(1.5, n), rep(0.7, n), 2)
  all <- 1.5^2 * covariance_of(c(from, to), rep(1, 8), 0.7, 2)
  gain <- all[4:8, 1:3] %*% solve(all[1:3, 1:3])
  law <- all[4:8, 4:8] - gain %*% all[1:3, 4:8]
  # 5 standard errors.
  expect_lt(max(abs(colMeans(drawn) - gain %*% known) / sqrt(diag(law) / n)), 5)
  expect_lt(max(abs(cov(drawn) - law) / sqrt((outer(diag(law), diag(law)) + law^2) / n)), 5)
  alone <- draw_path(numeric(0), matrix(0, n, 0), c(1, 2), rep(1.5, n), rep(0.7, n), 1)
  expect_lt(max(abs(cov(alone) - 1.5^2 * covariance_of(1:2, c(1, 1), 0.7))), 0.1)
  expect_identical(draw_path(c(1, 3), cbind(4, 4), 2, 1, 1, 1), matrix(4))
  fit <- fits(cases, iter = 400)
  rows <- data.frame(t = c(2, 2 + 1e-9, 3, 1e9, 8, 8 + 1e-9, NA), u = c("a", "a", "a", "b", "c", "c", "a"), z = 0)
  linear <- posterior_linpred.bayes_logit(fit, rows[1:6, ])
  expect_equal(linear[, 2], linear[, 1], tolerance = 1e-3)
  expect_equal(linear[, 6], linear[, 5], tolerance = 1e-3)
  # Far from the data, and for a new unit, an effect has the stationary deviation.
  draws <- as.array(fit)
  effect <- (linear[, 4:5] - as.vector(draws[, , "(Intercept)"])) / as.vector(draws[, , "sd(ar1(t | u))"])
  expect_lt(max(abs(colMeans(effect^2) - 1)), 6 * sqrt(2 / nrow(effect)))
  predicted <- predict(fit, rows, type = "link")
  expect_identical(is.na(predicted[, "mean"]), rows$t %in% NA, ignore_attr = TRUE)
  expect_equal(predict(fit, d), predict(fit), ignore_attr = TRUE)
  expect_identical(dim(log_lik.bayes_logit(fit, transform(d, t = t + 0.5))), dim(log_lik.bayes_logit(fit)))
  expect_input_error(predict(fit, data.frame(t = Inf, u = "a", z = 0)), "`newdata` has an infinite time in ar1")
})

test_that("methods know autoregressions, also of many times and of several classes", {
  skip_if_not_installed("Matrix")
  many <- data.frame(week = rep(1:40, 2), n = rpois(80, 5), class = gl(3, 1, 80), u = gl(2, 40))
  fit <- fits(n ~ ar1(week) + (1 | u), many, "poisson")
  expect_true(is_sparse_matrix(fit$design$x))
  expect_equal(predict(fit, many[7:9, ]), predict(fit)[7:9, ], ignore_attr = TRUE)
  # A mean count at a new time does not exist.
  at <- predict(fit, data.frame(week = 41, u = "3"))
  expect_identical(colnames(at)[is.na(at)], c("mean", "sd"))
  expect_identical(fit$design$smooths[[1]]$gap, c(0, rep(1, 39)))
  shown <- summary(fit)$coefficients$quantity
  expect_identical(shown[2:4], c("sd(u)", "sd(ar1(week))", "cor(ar1(week))"))
  # update() puts the term in parentheses.
  expect_length(split_formula(update(n ~ z + ar1(week | u), . ~ . - z))$smooths, 1L)
  again <- continue(fits(n ~ ar1(week) + (1 | u), many, "poisson", iter = 30, warmup = 20), 10)
  expect_identical(again$smooth_deviation, fit$smooth_deviation)
  expect_true(all(is.finite(predict(fits(n ~ ar1(t), data.frame(t = 1:600, n = 5), "poisson", iter = 2)))))
  classes <- fits(class ~ ar1(week), many[1:20, ], "multinomial")
  expect_identical(smooth_deviation_names(classes)[2:3], c("2:cor(ar1(week))", "3:sd(ar1(week))"))
  expect_identical(dim(predict(classes, data.frame(week = c(1, 1.5)))), c(2L, 3L, 4L))
  pdf(NULL)
  on.exit(dev.off())
  expect_invisible(plot(fits(cases), "smooths"))
  expect_length(smooth_picture(fits(cases), NULL, NULL)$panels, 2L)
})

test_that("autoregressions that cannot be used are refused", {
  refused <- function(formula, message, data = d) expect_input_error(fits(formula, data), message)
  refused(y > 2 ~ ar1(t, u), "such a term is written ar1\\(time\\) or ar1\\(time \\| unit\\)")
  refused(y > 2 ~ ar1(u), "must be times")
  refused(y > 2 ~ ar1(t), "at least 3 times of one unit", d[1:2, ])
  refused(y > 2 ~ ar1(t | z), "at least 3 times of one unit, or 2 of several")
  refused(y > 2 ~ ar1(t) * z, "inside another term")
  refused(y > 2 ~ 0 + ar1(t), "has 1100 levels: .* an intercept", data.frame(t = 1:1100, y = 1:1100 %% 4))
})
