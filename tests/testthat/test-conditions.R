# Errors name the call of the user, by whatever way the package came to them.

# The call in the error of `code`. It runs as if typed at the console: functions of a test would count as functions of
# the package, because testthat puts tests into its namespace.
call_of <- function(code, values = list()) {
  code <- substitute(code)
  error <- tryCatch(eval(code, list2env(values, parent = globalenv())), error = identity)
  expect_s3_class(error, "warpbayes_error")
  conditionCall(error)
}
environment(call_of) <- globalenv()

die <- pmf(rep(1 / 6, 6), from = 1)
wrong <- matrix(-1, 2, 2)

test_that("errors name the call that the user made", {
  skip_where_repeated()
  values <- list(die = die, wrong = wrong)
  expect_identical(call_of(rcategorical(wrong), values), quote(rcategorical(wrong)))
  expect_identical(call_of(warpbayes::rcategorical(wrong), values), quote(warpbayes::rcategorical(wrong)))
  expect_identical(call_of(value_at_risk(pmf(c(0.5, 0.5)), 2)), quote(value_at_risk(pmf(c(0.5, 0.5)), 2)))
  # An argument was called by the user, too.
  expect_identical(call_of(pmf(rcategorical(wrong)), values), quote(rcategorical(wrong)))
  # In a loop of the package, and in a handler of an error.
  expect_identical(call_of(sum_pmf(list(die, NULL)), values), quote(sum_pmf(list(die, NULL))))
  expect_identical(call_of(condition_on_sum_pmf(die, die, 90), values), quote(condition_on_sum_pmf(die, die, 90)))
})

test_that("errors name the call within functions of the user and of R", {
  skip_where_repeated()
  values <- list(die = die, wrong = wrong, as_user = function(x) rcategorical(x))
  environment(values$as_user) <- globalenv()
  expect_identical(call_of(as_user(wrong), values), quote(rcategorical(x)))
  expect_identical(call_of(lapply(list(wrong), function(w) rcategorical(w)), values), quote(rcategorical(w)))
  expect_identical(call_of(lapply(list(wrong), rcategorical), values), quote(lapply(list(wrong), rcategorical)))
  expect_identical(call_of(Reduce(rep_sum_pmf, list(die, -1)), values), quote(Reduce(rep_sum_pmf, list(die, -1))))
  expect_identical(call_of(do.call(rcategorical, list(wrong)), values), quote(do.call(rcategorical, list(wrong))))
  expect_identical(call_of(do.call("rpmf", list(-1, die)), values), call("rpmf", -1, quote(...)))
  expect_identical(call_of(suppressWarnings(rcategorical(wrong)), values), quote(rcategorical(wrong)))
  expect_identical(call_of(local(rcategorical(wrong)), values), quote(rcategorical(wrong)))
  expect_identical(call_of(eval(quote(rcategorical(wrong))), values), quote(rcategorical(wrong)))
  # Functions that the user gives to the package.
  expect_identical(call_of(map_pmf(die, function(v) rcategorical(wrong)), values), quote(rcategorical(wrong)))
  expect_identical(call_of(mix_over_pmf(die, function(v) rpmf(-1, die)), values), quote(rpmf(-1, die)))
  expect_identical(call_of(mix_over_pmf(die, sqrt), values), quote(mix_over_pmf(die, sqrt)))
})

test_that("errors of methods name their generics and operators", {
  skip_where_repeated()
  values <- list(die = die)
  expect_identical(call_of(mean(die, 3), values), quote(mean(die, 3)))
  expect_identical(call_of(print(die, digits = "a"), values), quote(print(die, digits = "a")))
  expect_identical(call_of(die + 2^52, values), quote(die + 2^52))
  expect_identical(call_of(cumsum(die), values), quote(cumsum(die)))
  expect_identical(call_of(die[2], values), quote(die[2]))
  # R calls these methods with values.
  expect_identical(call_of(round(die, 0), values), quote(round(..., 0)))
  # Generics that are refused.
  expect_identical(call_of(coef(die), values), quote(coef(die)))
  if (requireNamespace("posterior", quietly = TRUE)) {
    expect_identical(call_of(posterior::summarise_draws(die), values), quote(summarise_draws(die)))
  }
})

test_that("errors of fits name the call that the user made", {
  skip_where_repeated()
  fit <- bayes_logit(am ~ wt, mtcars, chains = 1, iter = 20, warmup = 5, seed = 1, progress = FALSE)
  topics <- topic_model(matrix(1:12, 3), 2, iter = 4, seed = 1, progress = FALSE)
  changed <- summary(fit)
  changed$coefficients <- "a"
  values <- list(fit = fit, topics = topics, changed = changed, wrong = wrong)
  expect_identical(call_of(predict(fit, ndraws = -1), values), quote(predict(fit, ndraws = -1)))
  expect_identical(call_of(print(changed), values), quote(print(changed)))
  # update() evaluates another call.
  expect_identical(call_of(update(fit, iter = -1), values), quote(update(fit, iter = -1)))
  expect_identical(call_of(bayes_logit(am ~ rcategorical(wrong), mtcars), values),
    quote(bayes_logit(am ~ rcategorical(wrong), mtcars)))
  expect_identical(call_of(topic_names(topics) <- 5, values), quote(`topic_names<-`(`*tmp*`, value = 5)))
  if (requireNamespace("generics", quietly = TRUE)) {
    expect_identical(call_of(generics::tidy(topics, matrix = 4), values), quote(tidy(topics, matrix = 4)))
  }
  expect_identical(
    call_of(predictive_resample(1:9, bayesian_bootstrap(), draws = 4, seed = 1,
      functional = function(y, weights) "a"))[[1L]],
    quote(predictive_resample)
  )
  skip_if_not_installed("emmeans")
  classes <- bayes_logit(factor(cyl) ~ wt, mtcars, "multinomial", chains = 1, iter = 20, warmup = 5, seed = 1)
  expect_identical(call_of(emmeans::emmeans(classes, ~ wt, mode = "a"), list(classes = classes)),
    quote(emmeans::emmeans(classes, ~ wt, mode = "a")))
})
