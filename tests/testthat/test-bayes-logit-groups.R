# Regressions with grouping terms (x | g). See helper-regression.R for the test of joint laws.

term_toys <- list(
  one = regression_toy(terms = "one"), slopes = regression_toy(terms = "slopes"),
  independent = regression_toy(terms = "independent"), crossed = regression_toy(terms = "crossed"),
  nested = regression_toy(terms = "nested"), both = regression_toy(terms = "both"),
  "negative binomial, slopes" = regression_toy("negbinomial", terms = "slopes"),
  "horseshoe, crossed" = regression_toy(prior = "horseshoe", terms = "crossed")
)
term_replicates <- if (nzchar(Sys.getenv("WARPBAYES_EXTENDED_TESTS"))) 20000 else 1000

test_that("sweeps with grouping terms leave the joint law of parameters and responses invariant", {
  skip_where_repeated()
  # False alarms: 1e-6 for each model.
  if (resolve_run()$backend != "cpu") term_replicates <- 40
  for (name in names(term_toys)) {
    expect_lt(toy_distance(term_toys[[name]], term_replicates, 5), 1, label = name)
  }
})

test_that("the comparison of joint laws finds planted errors in grouping terms", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "many sweeps")
  wrong <- function(name, error, sweeps = 15, trials = 2) {
    toy <- term_toys[[name]]
    toy[c("wrong", "trials")] <- list(error, trials)
    toy_distance(toy, 1000, sweeps)
  }
  expect_gt(wrong("one", "group", 40), 1)
  expect_gt(wrong("slopes", "group", 40), 1)
  expect_gt(wrong("slopes", "independent", 40), 1)
  expect_gt(wrong("crossed", "kappa"), 1)
  expect_gt(wrong("nested", "parent", 30, trials = 30), 1)
})
