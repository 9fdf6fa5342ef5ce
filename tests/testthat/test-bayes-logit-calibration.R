# Posteriors of bayes_logit(), as users call it, are calibrated: units of predictors, centring, priors, warm-up and
# draws of groups. See helper-calibration.R. bench/regression-calibration.R has all families, groups and priors.
skip_where_repeated()

sets <- if (extended()) 1000 else 40
calibrated <- function(...) {
  model <- calibration_model(...)
  table <- calibration_table(lapply(seq_len(sets), function(i) calibration_ranks(model, i, 600, 20)))
  min(table$p) * nrow(table)
}

test_that("ranks of parameters among draws are uniform", {
  skip_if(resolve_run()$backend != "cpu", "many fits")
  # False alarms: 1e-4 for each model.
  expect_gt(calibrated("binomial", "slopes", "student_t"), 1e-4)
  expect_gt(calibrated("negbinomial", "none", "regularised"), 1e-4)
  expect_gt(calibrated("multinomial", "none", "normal"), 1e-4)
  expect_gt(calibrated("poisson", "slopes", "normal"), 1e-4)
  skip_if(sets < 1000, "steps are rows of a binomial regression")
  expect_gt(calibrated("cratio", "one", "normal"), 1e-4)
})

test_that("ranks find planted errors", {
  skip_if(!extended(), "a test of the test")
  skip_if(resolve_run()$backend != "cpu", "many fits")
  expect_lt(calibrated("binomial", "slopes", "normal", "correlation"), 1e-4)
  expect_lt(calibrated("negbinomial", "none", "normal", "dispersion"), 1e-4)
  skip_if(sets < 1000, "finer errors need more data sets")
  expect_lt(calibrated("binomial", "none", "normal", "scale"), 1e-4)
  expect_lt(calibrated("cratio", "none", "normal", "steps"), 1e-4)
  expect_lt(calibrated("binomial", "slopes", "normal", "degrees"), 1e-4)
})
