# print() and summary() of fits.

test_that("print shows the model and the verdict on convergence", {
  fit <- simulate_fit(n = 2000, k = 6)
  old <- options(width = 80)
  on.exit(options(old))
  expect_lte(max(nchar(capture.output(print(fit)), type = "width")), 80)
  options(width = 120)
  text <- capture.output(result <- withVisible(print(fit)))
  expect_false(result$visible)
  expect_match(text, "2,000 cells x 3 markers, up to 6 components", all = FALSE)
  expect_match(text,
    "2 chains of 100 sweeps \\(50 warmup\\): 100 draws kept, 1.5 s on cpu, double precision, seed 1", all = FALSE
  )
  expect_match(text, "Components that hold cells: [0-9.]+ \\(90% of draws", all = FALSE)
  expect_match(text, "Largest, in the last sweep of chain 1: [0-9.]+%,", all = FALSE)
  fit$interrupted <- TRUE
  fit$thin <- 5
  fit$draws <- list(concentration = fit$draws$concentration[5 * 1:10, ])
  expect_output(print(fit), "1 sweep in 5 kept\\), interrupted")
})

test_that("summary has diagnostics, components of the reference draw and a verdict", {
  fit <- simulate_fit()
  result <- summary(fit)
  expect_s3_class(result, "summary.dp_mixture")
  expect_identical(result$diagnostics$quantity[1:4], c("occupied", "concentration", "score", "log_density[1]"))
  best <- which(fit$log_posterior == max(fit$log_posterior[51:100, ]), arr.ind = TRUE)
  expect_identical(result$reference, list(draw = best[[1]] - 50L, chain = best[[2]]))
  weights <- fit$draws$weights[, result$reference$draw, result$reference$chain]
  expect_identical(result$components$weight, sort(weights, decreasing = TRUE))
  expect_identical(
    result$components$CD2,
    unname(fit$draws$means[order(-weights), "CD2", result$reference$draw, result$reference$chain])
  )
  expect_identical(dim(result$occupied), c(50L, 2L))
  expect_output(print(result, all = TRUE), "Largest components.*in the data's units.*Convergence")
  expect_output(print(result, all = TRUE, components = 2), "and 4 more components with")
  expect_error(summary(fit, digit = 3), "`digit` is not known here", class = "warpbayes_error_input")
})

test_that("a fit without kept draws can still be printed and summarised", {
  fit <- simulate_fit()
  fit$draws$covariances <- NULL
  expect_null(summary(fit)$components)
  expect_output(print(summary(fit)), "Convergence")
  expect_output(print(fit), "2,000 cells")
})

test_that("numbers have as many digits as their spread justifies", {
  expect_identical(format_to_spread(c(-1234567.891, 3), 12.3), c("-1,234,568", "3"))
  expect_identical(format_to_spread(0.123456, 0.01), "0.123")
  expect_identical(format_to_spread(5, 0), "5")
})

test_that("arguments of print() are checked", {
  summary <- summary(simulate_fit())
  expect_error(print(summary, components = -1),
    "`components` must be one whole number from 0", class = "warpbayes_error_input"
  )
  expect_error(print(summary, digits = "a"),
    "`digits` must be one whole number from 1 to 15, not \"a\"", class = "warpbayes_error_input"
  )
  # print() of a list passes its arguments on to the elements.
  expect_output(print(list(simulate_fit()), digits = 3), "Dirichlet-process mixture")
  shown <- capture.output(print(summary, all = TRUE, components = 0))
  expect_false(any(grepl("Largest components", shown)))
  expect_error(print(summary, all = 2), "`all` must be", class = "warpbayes_error_input")
})

test_that("with a decimal comma, thousands are not separated by commas", {
  old <- options(OutDec = ",")
  on.exit(options(old))
  fit <- simulate_fit(n = 2000)
  expect_warning(output <- capture.output(print(fit), print(summary(fit)), print(dp_prior(df = 1234.5))), NA)
  expect_match(output, "2,000 cells", all = FALSE)
})

test_that("the summary shows what was learned, and says when df is at an end of its range", {
  set.seed(1)
  x <- cbind(CD4 = rnorm(300, 10), CD8 = rnorm(300))
  fit <- dp_mixture(x, components = 4, iter = 40, seed = 1, threads = 2)
  table <- summary(fit)$learned
  expect_identical(table$part, c("mean_scale", "df", "mean[CD4]", "mean[CD8]", "sd[CD4]", "sd[CD8]"))
  expect_equal(table$mean[[1]], mean(fit$draws$prior_mean_scale))
  expect_equal(table$q95[[4]], quantile(fit$draws$prior_mean[2, , 1], 0.95, names = FALSE))
  expect_output(print(summary(fit), all = TRUE), "Learned of the prior")
  expect_no_match(as.character(verdict(fit)), "prior's df")
  fit$draws$prior_df[] <- max(fit$prior$df_grid)
  expect_match(as.character(verdict(fit)), all = FALSE,
    "df is at the upper end of the values that it can take, 32, in 100% of the draws: higher values"
  )
  fixed <- dp_mixture(x, components = 4, iter = 40, seed = 1, threads = 2, prior = dp_prior(learn = character()))
  expect_null(summary(fixed)$learned)
  one <- dp_mixture(x, components = 4, iter = 2, warmup = 1, seed = 1, threads = 2)
  expect_output(print(one), "1 draw kept")
})

test_that("the call of a fit does not hold a second copy of the data", {
  x <- matrix(rnorm(2000), 1000)
  fit <- do.call(dp_mixture, list(x, components = 2, iter = 4, threads = 2))
  expect_lt(as.numeric(object.size(fit$call)), 2000)
  expect_identical(fit$call$x, quote(x))
})

test_that("the first screen of a summary has at most 25 lines and three reasons", {
  old <- options(width = 80)
  on.exit(options(old))
  apart <- simulate_fit(n = 20000, k = 14, p = 12, chains = 4)
  apart$probe_density[, 4, 2] <- apart$probe_density[, 4, 2] - 20
  for (fit in list(simulate_fit(p = 12), apart)) {
    shown <- capture.output(print(summary(fit)))
    expect_lte(length(shown), 25)
    expect_lte(max(nchar(shown)), 80)
    expect_gt(length(capture.output(print(summary(fit), all = TRUE))), length(shown))
  }
})
