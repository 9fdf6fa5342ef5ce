# Pictures of regressions.

test_that("the calibration picture accepts right models with groups, and rejects a wrong one", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "many fits")
  beyond <- function(seed, curve = 0) {
    set.seed(seed)
    g <- rep(1:40, each = 10)
    x <- rnorm(400)
    linear <- -0.5 + x + curve * x^2 + rnorm(40, 0, 1.2)[g]
    family <- c("binomial", "poisson", "negbinomial")[[seed %% 3 + 1]]
    y <- switch(family, binomial = rbinom(400, 1, plogis(linear)), poisson = rpois(400, exp(linear)),
      negbinomial = rnbinom(400, mu = exp(linear), size = 2))
    fit <- bayes_logit(y ~ x + (1 | g), family = family, chains = 1, iter = 600, warmup = 200, seed = seed,
      threads = 1, progress = FALSE)
    points <- calibration_points(fit)
    expect_lt(max(abs(unlist(points))), Inf)
    mean(points$low > points$predicted | points$high < points$predicted)
  }
  # 12 right models have 0 to 4 of 120 deciles beyond two standard errors. Fitted values, which contain the row's own
  # effect, had 16%.
  expect_lt(mean(vapply(1:6, beyond, 0)), 0.1)
  expect_gt(mean(vapply(c(1, 4), beyond, 0, curve = 0.5)), 0.25)
})

test_that("only numeric predictors are standardised, and their names say so", {
  d <- transform(mtcars, f = factor(gear), two = am + 1)
  fit <- bayes_logit(vs ~ wt + two + f + f:hp + poly(qsec, 2), d, chains = 1, iter = 40, seed = 1, threads = 1,
    progress = FALSE)
  rows <- function(...) coefficient_picture(fit, NULL, main = NULL, ...)
  shown <- warpbayes:::is_numeric_column(fit)
  expect_identical(colnames(fit$design$x)[shown], c("wt", "poly(qsec, 2)1", "poly(qsec, 2)2"))
  texts <- unlist(rapply(rows(standardize = TRUE), identity, "character", how = "list"))
  expect_true(all(c("wt (per sd)", "two", "f4") %in% texts))
  expect_match(texts, "per sd: for a standard deviation of the predictor", all = FALSE)
  expect_no_match(unlist(rapply(rows(standardize = FALSE), identity, "character", how = "list")), "per sd")
})
