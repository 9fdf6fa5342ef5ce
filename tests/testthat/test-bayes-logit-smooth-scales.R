# Variances of blocks of coefficients, which smooths have, are drawn from their posterior. See helper-regression.R.
skip_where_repeated()

toys <- list(
  block = regression_toy(prior = "block", moves = 0), "blocks, moves" = regression_toy(prior = "blocks", moves = 1),
  groups = regression_toy(prior = "block", groups = 4, moves = 0),
  slopes = regression_toy(prior = "blocks", terms = "slopes", moves = 0),
  "negative binomial" = regression_toy("negbinomial", "blocks"),
  multinomial = regression_toy("multinomial", "block"),
  Poisson = regression_toy("poisson", "blocks", moves = 0),
  "Poisson, groups, moves" = regression_toy("poisson", "block", groups = 4, moves = 1),
  "Poisson, both" = regression_toy("poisson", "blocks", terms = "both", moves = 0),
  autoregression = regression_toy(prior = "autoregression", columns = 6, trials = 6),
  "autoregression, groups" = regression_toy("poisson", "autoregression", groups = 4, columns = 6),
  "autoregression, terms" = regression_toy("poisson", "autoregression", terms = "both", columns = 6)
)
replicates <- if (extended()) 20000 else 300

test_that("sweeps leave the joint law of parameters, variances of blocks and responses invariant", {
  expect_joint_laws(toys, if (resolve_run()$backend != "cpu") 20 else replicates)
})

test_that("the comparison of joint laws finds planted errors of blocks", {
  skip_if(!extended(), "a test of the test")
  skip_if(resolve_run()$backend != "cpu", "many sweeps")
  expect_gt(planted_distance(toys$block, "scale"), 1)
  expect_gt(planted_distance(toys$block, "prior"), 1)
  expect_gt(planted_distance(toys$Poisson, "surrogate"), 1)
  expect_gt(planted_distance(toys$autoregression, "gap"), 1)
})
