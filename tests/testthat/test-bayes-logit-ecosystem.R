# Calls of other packages on one fit. Each is against the package itself, where it is installed.
skip_where_repeated()

# Some packages look for the data by their name in the global environment.
fit <- suppressWarnings(bayes_logit(case ~ age + education, infert, chains = 2, iter = 600, seed = 1, threads = 1,
  progress = FALSE))
draws <- coefficient_draws(fit)

# A function of a package that this one does not declare.
of <- function(package, name) getExportedValue(package, name)

test_that("parameters, bayestestR and insight describe a fit", {
  skip_if_not_installed("bayestestR")
  expect_equal(of("bayestestR", "describe_posterior")(fit)$Median, unname(apply(draws, 2, median)))
  skip_if_not_installed("parameters")
  skip_if_not_installed("posterior")
  table <- as.data.frame(of("parameters", "model_parameters")(fit))
  expect_identical(table$Parameter, names(coef(fit)))
  expect_equal(table$Median, unname(apply(draws, 2, median)))
  skip_if_not_installed("insight")
  means <- predict(fit)
  predicted <- as.data.frame(of("insight", "get_predicted")(fit))
  expect_equal(predicted$Predicted, unname(means[, "mean"]))
})

test_that("ggeffects, effects, car and multcomp read coefficients and their covariance", {
  skip_if_not_installed("ggeffects")
  at <- suppressMessages(of("ggeffects", "ggpredict")(fit, "age [25, 30]", condition = c(education = "12+ yrs")))
  expect_equal(at$predicted, unname(predict(fit, data.frame(age = c(25, 30), education = "12+ yrs"))[, "mean"]))
  skip_if_not_installed("effects")
  expect_s3_class(suppressMessages(of("ggeffects", "ggeffect")(fit, "age [25, 30]")), "ggeffects")
  linear <- of("effects", "Effect")("age", fit, xlevels = list(age = c(25, 30)))
  average <- as.vector(table(infert$education)) / nrow(infert)
  expected <- coef(fit)[[1]] + c(25, 30) * coef(fit)[[2]] + sum(average[-1] * coef(fit)[3:4])
  expect_equal(as.vector(linear$fit), expected)
  if (requireNamespace("emmeans", quietly = TRUE) && requireNamespace("coda", quietly = TRUE)) {
    expect_s3_class(suppressMessages(of("ggeffects", "ggemmeans")(fit, "age [25, 30]")), "ggeffects")
  }
  skip_if_not_installed("car")
  wald <- of("car", "Anova")(fit)
  expect_equal(wald["age", "Chisq"], (coef(fit)[["age"]] / sqrt(vcov(fit)["age", "age"]))^2, ignore_attr = TRUE)
  skip_if_not_installed("multcomp")
  pairs <- of("multcomp", "glht")(fit, linfct = of("multcomp", "mcp")(education = "Tukey"))
  expect_equal(unname(coef(pairs)), unname(c(coef(fit)[3:4], coef(fit)[[4]] - coef(fit)[[3]])))
})

test_that("bayesplot and loo have their statistics", {
  skip_if_not_installed("bayesplot")
  table <- summary(fit)$coefficients
  expect_equal(unname(bayesplot::rhat(fit)), head(table$rhat, -1))
  expect_equal(unname(bayesplot::neff_ratio(fit, pars = "age")), table$ess_bulk[[2]] / 600)
  skip_if_not_installed("loo")
  expect_equal(suppressWarnings(loo::waic(fit))$estimates, suppressWarnings(loo::waic(log_lik(fit)))$estimates)
})

test_that("arguments have the names that lme4, rstanarm and brms have", {
  expect_identical(vcov(fit, complete = FALSE), vcov(fit))
  expect_equal(unname(coef(summary(fit))), unname(cbind(coef(fit), sqrt(diag(vcov(fit))))))
  expect_false(fit == "auto")
  expect_true(fit == fit)
  expect_identical(colnames(as.matrix(fit, pars = c("age", "(Intercept)"))), c("age", "(Intercept)"))
  expect_error(as.matrix(fit, pars = "ages"), "`pars` must be names or numbers of the fit's 5 parameters",
    class = "warpbayes_error_input")
  table <- summary(fit, probs = c(0.1, 0.5))$coefficients
  expect_equal(table$q10[[2]], quantile(draws[, 2], 0.1, names = FALSE))
  expect_output(print(summary(fit, probs = c(0.1, 0.9))), "10%\\s+90%")
  groups <- suppressWarnings(bayes_logit(am ~ wt + (1 | cyl), mtcars, chains = 1, iter = 100, seed = 1, threads = 1,
    progress = FALSE))
  new <- data.frame(wt = 3, cyl = c("4", "5"))
  expect_identical(predict(groups, new, re.form = NA), predict(groups, new, re_formula = NA))
  expect_error(predict(groups, new, allow_new_levels = FALSE), "in row 2 a group that the fit has not seen",
    class = "warpbayes_error_input")
  expect_error(predict(groups, new, re.from = NA), "is it misspelt", class = "warpbayes_error_input")
  expect_identical(colnames(as.matrix(groups, pars = "intercept[6]")), "intercept[6]")
  skip_if_not_installed("lme4")
  expect_identical(of("lme4", "ngrps")(groups), c(cyl = 3L))
})

test_that("emmeans gives the probabilities of ordinal classes", {
  skip_if_not_installed("emmeans")
  skip_if_not_installed("coda")
  gears <- transform(mtcars, gear = ordered(gear))
  ordinal <- suppressWarnings(bayes_logit(gear ~ wt, gears, "cratio", chains = 2, iter = 400, seed = 1, threads = 1,
    progress = FALSE))
  grid <- emmeans::emmeans(ordinal, ~ gear | wt, mode = "prob", at = list(wt = c(2, 3)))
  table <- as.data.frame(summary(grid, point.est = mean))
  shares <- predict(ordinal, data.frame(wt = c(2, 3)))[, , "mean"]
  expect_equal(table$prob, as.vector(t(shares)), tolerance = 1e-6)
})
