# The joint method of copula_regression(): plain R, the mean function, methods and errors.

pairs <- data.frame(y = c(2, 1, 4, 3, 6, 5, 9, 2), a = c(1, 3, 2, 5, 4, 9, 8, 7), b = c(0.5, 1, -2, 0, 1.5, 1.2, 3, 2))

joint_model <- function(...) {
  copula_regression(y ~ a + b, pairs[1:2, ], c(1, 3, 5), 0.7, c(0.6, 0.3), method = "joint", ...)
}

test_that("joint regressions agree with plain R, and resamples with drawn covariates", {
  fit <- predictive_resample(pairs, joint_model(permutations = 0, calibrate = FALSE), 3, 2, seed = 6, threads = 2)
  z <- apply(pairs[c("a", "b", "y")], 2, standardised)
  scale <- sqrt(mean((pairs$y - mean(pairs$y))^2))
  points <- cbind(z[rep(1:2, each = 3), 1:2], (rep(c(1, 3, 5), 2) - mean(pairs$y)) / scale)
  rho <- c(0.6, 0.3, 0.7)
  expected <- reference_copula(z, rho, points)
  # The score is that of the response given the covariates, whose own score does not depend on the response.
  expect_equal(fit$score, mean(expected$score - reference_copula(z[, 1:2], rho[1:2])$score), tolerance = 1e-11)
  expect_equal(fit$cdf0, expected$u[, 3], tolerance = 1e-11)
  expect_equal(fit$density0, expected$p[, 3] / expected$p[, 2] / scale, tolerance = 1e-11)
  u <- vapply(0:2, function(j) reference_step_uniforms(6, 160, 1, 3, block = j %/% 2, word = j %% 2 + 1), numeric(3))
  now <- expected[c("u", "p")]
  for (t in 1:3) now <- reference_update(now$u, now$p, qnorm(u[t, ]), reference_alpha(8 + t), rho)
  expect_equal(fit$cdf[2, ], now$u[, 3], tolerance = 1e-11)
  expect_equal(fit$density[2, ], now$p[, 3] / now$p[, 2] / scale, tolerance = 1e-11)
  # The chosen correlations have the best of these scores.
  score <- function(...) {
    model <- copula_regression(y ~ a + b, pairs[1, ], 1, permutations = 2, calibrate = FALSE, method = "joint", ...)
    predictive_resample(pairs, model, 0, 1, seed = 1)$score
  }
  expect_gte(score(), max(score(0.7, c(0.6, 0.3)), score(0.5, 0.5), score(0.9, 0.7)))
})

test_that("the average over orders is that of the joint law, and densities are derivatives with integral 1", {
  at <- seq(-12, 24, 0.05)
  model <- copula_regression(y ~ a + b, pairs[3, ], at, 0.7, c(0.6, 0.3), permutations = 3, calibrate = FALSE,
    method = "joint")
  fit <- predictive_resample(pairs, model, 20, 3, seed = 8, threads = 2)
  for (law in list(list(fit$cdf0, fit$density0), list(fit$cdf[3, ], fit$density[3, ]))) {
    expect_equal(diff(law[[1L]]), (law[[2L]][-1L] + law[[2L]][-length(at)]) / 2 * 0.05, tolerance = 1e-3)
    expect_equal(sum(law[[2L]]) * 0.05, 1, tolerance = 1e-4)
  }
  # Each order's density counts by the density that it has for the covariates, so the average of densities is another.
  states <- state_at(fit, fit$at, resolve_run(NULL, 2))
  average <- joint_loops$response(.Call(C_predictive_average, states))$gain
  expect_false(isTRUE(all.equal(average[, 1], rowMeans(joint_loops$response(states)$gain[, 1, ]), tolerance = 1e-4)))
})

test_that("a joint regression has a mean function, and all methods", {
  fit <- predictive_resample(pairs, joint_model(mean = "linear"), 2, 3, "mean", seed = 6, threads = 2)
  expect_identical(fit$trend$rank, 2L)
  z <- apply(pairs[c("a", "b")], 2, standardised)
  left <- standardised(unname(residuals(lm(y ~ a + b, pairs))))
  alone <- reference_copula(z, c(0.6, 0.3))$score
  orders <- vapply(1:10, function(p) {
    k <- fit$order[, p] + 1
    both <- reference_copula(cbind(z, left)[k, ], c(0.6, 0.3, 0.7))$score
    mean(both - reference_copula(z[k, ], c(0.6, 0.3))$score)
  }, 0)
  expect_equal(fit$orders$score, orders - log(fit$trend$spread), tolerance = 1e-10)
  expect_identical(continue(predictive_resample(pairs, fit$model, 1, 3, "mean", seed = 6), 1)$draws, fit$draws)
  again <- predict(fit, pairs[2:1, ], level = 1, threads = 2)
  expect_identical(again$estimate, fit$mean0[2:1])
  expect_equal(again$upper, unname(apply(fit$draws[, 2:1], 2, max)), tolerance = 1e-14)
  again <- predict(fit, regression_points(fit), "density", 1, threads = 2)
  expect_identical(again$upper, apply(fit$density, 2, max))
  expect_identical(exp(predict(fit, pairs, "log_density", threads = 2)),
    predict(fit, pairs, "density", NULL, threads = 2)$estimate, tolerance = 1e-12)
  expect_identical(dim(simulate(fit, 4, seed = 1)), c(2L, 4L))
  fit$kind <- "copula_regression"
  expect_error(predict(fit, pairs), "has been changed", class = "warpbayes_error_input")
})

test_that("the joint method needs numeric covariates, and says so", {
  expect_error(copula_regression(y ~ a, method = "both"), "`method` must be one of \"conditional\", \"joint\", not",
    class = "warpbayes_error_input")
  expect_output(print(joint_model()), "regression by joint copula updates: y ~ a + b, rho = 0.7;", fixed = TRUE)
  skip_where_repeated()
  few <- data.frame(y = sin(1:24), a = qnorm(sample_of(24)), g = rep(0:3, 6))
  try_out <- function(formula, frame) {
    model <- copula_regression(formula, frame[1, ], 0, 0.7, 0.5, mean = "none", method = "joint")
    predictive_resample(frame, model, 2, 2, seed = 1, threads = 2)
  }
  expect_match(said_of(try_out(y ~ a + g, few), "covariates"),
    "g has only 4 distinct values, and the joint method models a density of it: method = \"conditional\" does not.",
    fixed = TRUE)
  expect_no_match(said_of(try_out(y ~ a, few), "covariates"), "distinct values")
  for (column in list(factor(few$g), ordered(few$g), as.character(few$g), few$g > 1)) {
    few$h <- column
    expect_error(try_out(y ~ a + h, few), "`method` is \"joint\", which models a density .* \"h\" has levels: use",
      class = "warpbayes_error_input")
  }
  # Rows that repeat, far values and other units.
  odd <- pairs[rep(1:4, 12), ]
  odd$y[[1L]] <- 1e6
  fit <- predictive_resample(odd, copula_regression(y ~ a + b, odd[1:3, ], permutations = 2, method = "joint"), 5, 3,
    seed = 1, threads = 2)
  expect_true(all(is.finite(fit$draws)) && is.finite(fit$score))
  # Densities of many columns of few different rows.
  many <- data.frame(y = sin(1:4), matrix(cos(1:120), 4))[rep(1:4, 50), ]
  overflow <- function(...) {
    model <- copula_regression(y ~ ., many[1:2, ], 0, permutations = 1, mean = "none", method = "joint", ...)
    predictive_resample(many, model, 0, 1, seed = 1, threads = 2)
  }
  expect_error(overflow(rho = 0.9, rho_x = 0.999), "`y` has rows that repeat so often that densities",
    class = "warpbayes_error_input")
  expect_error(overflow(rho_x = 0.999), "rows that repeat", class = "warpbayes_error_input")
  expect_true(is.finite(overflow(bandwidths = "one")$score))
  scaled <- function(frame) {
    model <- copula_regression(y ~ a + b, frame[1:2, ], rho = 0.7, rho_x = 0.5, method = "joint")
    predictive_resample(frame, model, 5, 3, seed = 1, threads = 2)$draws
  }
  units <- transform(pairs, y = 1e150 * y, a = 1e-150 * a - 1e-148)
  expect_equal(scaled(units), scaled(pairs) * 1e150, tolerance = 1e-8)
})

test_that("resamples of a joint regression are a martingale", {
  skip_where_repeated()
  skip_if(on_cuda())
  x <- qnorm(sample_of(30))
  frame <- data.frame(x, y = x + 0.5 * cos(1:30))
  fit <- predictive_resample(frame, copula_regression(y ~ x, data.frame(x = c(-1, 1)), c(-1, 0, 1), 0.8, 0.8,
    permutations = 2, calibrate = FALSE, method = "joint"), 100, 2000, seed = 1, threads = 2)
  # The joint law is a martingale: densities of covariate and response, and of the covariate alone, keep their means.
  state <- fit$state
  shown <- fit$at$shown
  start <- .Call(C_predictive_average, state_at(fit, fit$at, resolve_run(NULL, 2)))
  for (row in shown) {
    expect_mean(state$gain[row, 1, ], start$gain[row, 1])
    expect_mean(state$gain[row, 2, ], start$gain[row, 2])
    expect_mean(state$gain[row, 1, ] * state$conditional[row, 2, ], start$gain[row, 1] * start$conditional[row, 2])
  }
})
