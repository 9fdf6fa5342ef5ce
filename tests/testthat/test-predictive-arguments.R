# Input that copula models refuse, and unusual data that they accept.

expect_input <- function(call, pattern) expect_error(call, pattern, class = "warpbayes_error_input")
quick <- function(y, model, ...) predictive_resample(y, model, horizon = 3, draws = 2, seed = 1, ...)

test_that("data that cannot be standardised or used are refused", {
  expect_input(quick(rep(3, 5), copula_density(0.5)), "`y` is constant: it cannot be standardised")
  expect_input(quick(cbind(a = 1:3, b = 2), copula_density(0.5)), "constant in column \"b\"")
  expect_input(quick(cbind(1:3, 2), copula_density(0.5)), "constant in column 2")
  expect_input(quick(4, copula_density(0.5)), "has one observation: it cannot be standardised")
  expect_input(quick(4, copula_density(standardize = FALSE, points = 0)), "`rho` must be given: one observation")
  expect_input(quick(c(1, NaN, 2), copula_density(0.5)), "NaN at position 2")
  expect_input(quick(cbind(c(1, 2), c(NA, 1)), copula_density(0.5)), "row 1, column 2")
  expect_input(quick(iris, copula_density(0.5)), "column \"Species\"")
  expect_input(quick(matrix(numeric(), 0, 2), copula_density(0.5)), "is empty")
  expect_input(quick(matrix("a"), copula_density(0.5)), "must be numeric")
  expect_input(quick(1:5, copula_density(0.5, points = cbind(1, 2))), "`points` has 2 columns; the data have 1")
  expect_input(quick(1:5, copula_density(0.5, points = c(1, NA))), "`points` has the value NA at position 2")
  expect_input(quick(1:5, copula_density(c(0.5, 0.6))), "`rho` has 2 values")
  expect_input(quick(1:5, copula_density(0.5), tolerance = 1), "`tolerance` must be one number strictly between 0 and")
})

test_that("constant data, one observation and ties work if nothing is divided by their spread", {
  fit <- quick(4, copula_density(0.5, standardize = FALSE, points = c(0, 4, 8)))
  expect_true(all(is.finite(fit$density)))
  ties <- quick(rep(c(0, 0, 1), 20), copula_density(0.9, points = c(-30, 0, 0, 1, 1e6)))
  expect_true(all(is.finite(ties$density)))
  expect_identical(ties$cdf[, 2], ties$cdf[, 3])
  # Points far outside the data's range work.
  expect_true(all(ties$cdf >= 0 & ties$cdf <= 1))
  expect_lt(max(ties$density[, 5]), 1e-300)
  expect_true(all(is.finite(quick(rep(3, 5), copula_density(0.5, standardize = FALSE, points = 3))$density)))
})

test_that("correlations lie strictly between 0 and 1", {
  for (bad in list(0, 1, -0.5, NA_real_, 2, Inf)) {
    expect_input(copula_density(rho = bad), "`rho` must be strictly between 0 and 1")
  }
  expect_input(copula_density(c(0.5, 1)), "at position 2")
  expect_input(copula_density("0.5"), "`rho`")
  expect_input(copula_regression(y ~ x, rho = c(0.5, 0.6)), "one number")
  expect_input(copula_regression(y ~ x, rho_x = 1), "`rho_x`")
  expect_input(copula_classification(y ~ x, rho_x = 0), "`rho_x`")
  expect_true(all(is.finite(quick(1:5, copula_density(0.9999))$density)))
})

test_that("models check their arguments", {
  expect_input(copula_density(standardize = NA), "`standardize`")
  expect_input(copula_density(permutations = -1), "`permutations`")
  expect_input(copula_density(bandwidths = "two"), "`bandwidths`")
  expect_input(copula_regression("y ~ x"), "`formula`")
  expect_input(copula_regression(~x), "`formula`")
  expect_input(copula_classification(y ~ x, points = 1:3), "`points`")
  expect_output(print(copula_density(0.5)), "rho = 0.5")
  expect_output(print(copula_regression(y ~ x)), "chosen by prequential log score")
  expect_output(print(copula_classification(y ~ x, permutations = 0)), "in the order given")
  expect_output(print(normal_mean(NULL)), "unknown variance")
  expect_output(print(bayesian_bootstrap()), "Polya")
})

test_that("regressions accept factors, and messages name what is wrong", {
  frame <- data.frame(y = c(1, 3, 2, 5, 4, 6), x = c(1, 2, 4, 3, 6, 5), g = factor(c("a", "b", "c", "a", "b", "c")))
  model <- function(...) copula_regression(y ~ x + g, ..., rho = 0.5, rho_x = 0.5)
  fit <- quick(frame, model())
  expect_identical(names(fit$rho_x), c("x", "ga", "gb", "gc"))
  # The same columns made by hand.
  by_hand <- cbind(frame, outer(frame$g, c(a = "a", b = "b", c = "c"), "==") + 0)
  again <- quick(by_hand, copula_regression(y ~ x + a + b + c, rho = 0.5, rho_x = 0.5))
  expect_identical(again$cdf, fit$cdf)
  # A correlation for each covariate, or for each column.
  each <- quick(frame, copula_regression(y ~ x + g, rho = 0.5, rho_x = c(0.3, 0.6)))
  expect_identical(unname(each$rho_x), c(0.3, 0.6, 0.6, 0.6))
  columns <- quick(frame, copula_regression(y ~ x + g, rho = 0.5, rho_x = c(0.3, 0.6, 0.6, 0.6)))
  expect_identical(columns$cdf, each$cdf)
  expect_equal(nrow(predict(fit, data.frame(x = 2, g = "b"))), 1)
  expect_input(predict(fit, data.frame(x = 2, g = "d")), "has the new level \"d\" of \"g\"")
  expect_input(predict(fit, data.frame(x = 2)), "lacks \"g\"")
  expect_input(predict(fit, data.frame(x = NA, g = "a")), "row 1 of \"x\"")
  expect_input(predict(fit, 3), "data frame")
  expect_input(predict(fit, frame[c("x", "g")], "log_density"), "lacks the response")
  expect_input(predict(fit, type = "class"), "`type`")
  expect_input(predict(fit, level = 2), "`level`")
  expect_input(quick(1:5, model()), "must be a data frame")
  expect_input(quick(frame["y"], model()), "cannot be evaluated")
  expect_input(quick(frame[0, ], model()), "no rows|cannot be evaluated")
  expect_input(quick(transform(frame, x = c(1, NA, 3:6)), model()), "row 2 of \"x\"")
  expect_input(quick(transform(frame, x = 1), model()), "constant in column \"x\"")
  expect_input(quick(frame, copula_regression(y ~ 1, rho = 0.5)), "no covariates")
  expect_input(quick(frame, copula_regression(g ~ x, rho = 0.5, rho_x = 0.5)), "numeric response")
  expect_input(quick(frame, copula_regression(y ~ x, rho = 0.5, rho_x = c(0.5, 0.4))), "`rho_x` has 2 values")
  expect_input(quick(frame, model(points = data.frame(x = 1))), "`points` lacks \"g\"")
  expect_input(quick(frame, model(at = c(1, NA))), "`at`")
  expect_input(quick(frame, copula_classification(g ~ x, rho = 0.5, rho_x = 0.5)), "two classes; it has 3")
  expect_input(quick(frame[1, ], copula_classification(g ~ x, rho = 0.5, rho_x = 0.5)), "two classes|one observation")
})

test_that("covariates of mixed kinds do not depend on how their levels are ordered or stored", {
  skip_where_repeated()
  set.seed(5)
  frame <- data.frame(x = rnorm(24), g = rep(c("a", "b", "c"), 8), h = rep(c("u", "v"), 12), l = rnorm(24) > 0)
  frame$o <- factor(rep(c("low", "middle", "high", "top"), each = 6), c("low", "middle", "high", "top"), ordered = TRUE)
  frame$y <- frame$x + 2 * (frame$g == "b") - (frame$h == "v") + rnorm(24) / 4
  new <- data.frame(x = 0.3, g = "b", h = "v", l = TRUE, o = "high")
  fitted <- function(frame, ...) quick(frame, copula_regression(y ~ x + g + h + l + o, rho = 0.8, ...))
  fit <- fitted(frame)
  expect_identical(names(fit$rho_x), c("x", "ga", "gb", "gc", "hv", "lTRUE", "o"))
  # The columns of g share a correlation.
  expect_identical(length(unique(fit$rho_x)), 5L)
  expect_identical(length(unique(fit$rho_x[c("ga", "gb", "gc")])), 1L)
  expect_identical(length(unique(quick(frame, copula_regression(y ~ x + l + o, rho = 0.8, mean = "none"))$rho_x)), 3L)
  # Other orders of the levels give the same but for rounding, and the search for correlations with it.
  other <- transform(frame, g = factor(g, c("c", "b", "a")), h = factor(h, c("v", "u")))
  expect_equal(predict(fitted(other, rho_x = 0.7), new), predict(fitted(frame, rho_x = 0.7), new), tolerance = 1e-10)
  expect_equal(fitted(other)$score, fit$score, tolerance = 1e-5)
  # What g stands for matters: treating b as c predicts less.
  expect_gt(predict(fit, new)$estimate, predict(fit, transform(new, g = "c"))$estimate + 1)
  expect_identical(predict(fit, transform(new, g = factor("b", ordered = TRUE))), predict(fit, new))
  expect_identical(predict(fit, transform(new, o = factor("high", levels(frame$o), ordered = TRUE))), predict(fit, new))
  expect_false(identical(predict(fit, transform(new, o = "low")), predict(fit, new)))
  numbers <- fitted(transform(frame, o = as.integer(o)), rho_x = 0.7)
  expect_identical(numbers$cdf, fitted(frame, rho_x = 0.7)$cdf)
  classes <- quick(frame, copula_classification(h ~ x + g + o, rho = 0.8, rho_x = 0.7))
  expect_identical(levels(predict(classes, new, "class")), c("u", "v"))
  expect_input(predict(fit, transform(new, g = 2)), "has \"g\" as numbers, but the fit had a factor")
  expect_input(predict(fit, transform(new, l = "TRUE")), "has \"l\" as text, but the fit had logical")
  expect_input(predict(fit, transform(new, x = "1")), "has \"x\" as text, but the fit had numbers")
  expect_input(fitted(transform(frame, g = "a")), "has only the level \"a\" of the predictor \"g\": leave it out")
  expect_input(copula_regression(y ~ g + offset(x)), "has the term \"offset\\(x\\)\", but this model has no offsets")
  expect_input(quick(frame, copula_regression(g ~ x, rho = 0.5)), "use copula_classification\\(\\) for classes")
  several <- transform(frame, g = factor(g))
  expect_input(quick(several, copula_classification(g ~ x)), "has 3: .* such as \\(response == \"a\"\\)")
})

test_that("points far from the data and ties work, and a constant response is refused", {
  frame <- data.frame(y = c(1, 3, 3, 5, 4, 6), x = c(1, 2, 2, 3, 6, 5), class = rep(c("a", "b"), 3))
  away <- data.frame(x = c(-1e6, 2, 1e6))
  regression <- quick(frame, copula_regression(y ~ x, away, c(-1e6, 3, 1e6), rho = 0.5, rho_x = 0.9, mean = "none"))
  expect_true(all(is.finite(regression$density)) && all(regression$cdf >= 0 & regression$cdf <= 1))
  expect_equal(regression$cdf[, c(1, 3)], matrix(0:1, 2, 2, byrow = TRUE), tolerance = 1e-12)
  classes <- quick(frame, copula_classification(class ~ x, away, rho = 0.5, rho_x = 0.9, mean = "none"))
  # No observation has weight at these points.
  expect_equal(classes$probability[, c(1, 3)], matrix(0.5, 2, 2), tolerance = 1e-12)
  expect_input(quick(transform(frame, y = 2), copula_regression(y ~ x, rho = 0.5, rho_x = 0.5)), "is constant")
  expect_input(quick(transform(frame, class = "a"), copula_classification(class ~ x, rho = 0.5, rho_x = 0.5)),
    "two classes; it has 1"
  )
  expect_input(quick(frame[1, ], copula_regression(y ~ x, rho = 0.5, rho_x = 0.5)), "has one observation")
  changing <- function(points, cdf, density) if (cdf[[1]] == first) 1 else 1:2
  first <- quick(1:5, copula_density(0.5))$cdf[1, 1]
  expect_input(quick(1:5, copula_density(0.5), functional = changing), "2 values on resample 2 and 1 on resample 1")
})

test_that("quantities that a model does not have are refused", {
  expect_input(quick(1:5, copula_density(0.5), functional = "correlation"), "bayesian_bootstrap")
  expect_input(quick(1:5, copula_density(0.5), functional = coefficients_of(y ~ x)), "bayesian_bootstrap")
  four <- matrix(sin(1:40), 10)
  expect_input(quick(four, copula_density(0.5), functional = "mean"), "density of more than three variables")
  frame <- data.frame(y = c(0, 1, 0, 1), x = c(1, 2, 4, 3))
  expect_input(quick(frame, copula_classification(y ~ x, rho = 0.5, rho_x = 0.5), functional = "mean"),
    "classification"
  )
  expect_input(quick(1:5, copula_density(0.5), functional = function(points, cdf, density) stop("no")),
    "failed on resample 1: no"
  )
  fit <- quick(1:5, copula_density(0.5), functional = function(points, cdf, density) c(top = max(density)))
  expect_equal(unname(fit$draws[, "top"]), apply(fit$density, 1, max))
  fit <- quick(frame, copula_classification(y ~ x, rho = 0.5, rho_x = 0.5),
    functional = function(points, probability) mean(probability)
  )
  expect_equal(fit$draws[, "value"], rowMeans(fit$probability))
  fit <- quick(frame, copula_regression(y ~ x, rho = 0.5, rho_x = 0.5),
    functional = function(points, cdf, density) nrow(points)
  )
  expect_equal(fit$draws[, "value"], rep(200, 2))
})

test_that("quantities of a grid are right for a known distribution", {
  # A standard normal law.
  points <- seq(-8, 8, length.out = 4001)
  fit <- list(cdf = rbind(pnorm(points)))
  of <- function(functional) grid_functional(points, fit$cdf, check_functional(functional, record(copula_density())))
  value <- of(c("mean", "variance", "sd", "median"))
  expect_equal(unname(value[1, ]), c(0, 1, 1, 0), tolerance = 1e-5)
  expect_equal(unname(of(quantiles_of(c(0.1, 0.9)))[1, ]), qnorm(c(0.1, 0.9)), tolerance = 1e-5)
  expect_equal(unname(of(probability_of(-1, 2))[1, ]), pnorm(2) - pnorm(-1), tolerance = 1e-6)
  expect_equal(unname(of(probability_of(-Inf, Inf))[1, ]), 1)
  # The mean of a normal tail is its density over its probability.
  expect_equal(of(list("tail_mean", tail_mean_of(0.3)))[1, ],
    c(tail_mean95 = dnorm(qnorm(0.95)) / 0.05, tail_mean30 = dnorm(qnorm(0.3)) / 0.7), tolerance = 1e-5)
  # The Gini coefficient of an exponential law is 1/2.
  at <- qexp(seq(0, 1 - 1e-9, length.out = 20001))
  expect_equal(grid_functional(at, rbind(pexp(at)), list(new_functional("gini")))[[1]], 0.5, tolerance = 1e-3)
  # Each draw may have its own points, and a repeated point is an atom.
  points <- rbind(c(0, 0, 1, 2), c(0, 1, 1, 3))
  cdf <- rbind(c(0, 0.4, 0.7, 1), c(0, 0.2, 0.8, 1))
  value <- grid_functional(points, cdf, check_functional(list("mean", "sd", quantiles_of(c(0.3, 0.75)),
    probability_of(0, 1), probability_of(1, 2), tail_mean_of(0.6)), record(copula_density())))
  expect_equal(unname(value[, 1]), c(0.3 * 0.5 + 0.3 * 1.5, 0.2 * 0.5 + 0.6 + 0.2 * 2))
  expect_equal(unname(value[, 2]^2 + value[, 1]^2), c(0.3 / 3 + 0.3 * 7 / 3, 0.2 / 3 + 0.6 + 0.2 * 13 / 3))
  expect_equal(unname(value[, 3:4]), rbind(c(0, 1 + 1 / 6), c(1, 1)))
  expect_equal(unname(value[, 5:6]), rbind(c(0.7, 0.3), c(0.8, 0.7)))
  expect_equal(unname(value[, 7]), c((0.1 * 5 / 6 + 0.3 * 1.5) / 0.4, (0.2 + 0.2 * 2) / 0.4))
})

test_that("results that are too large are refused before they are computed", {
  expect_error(predictive_resample(1:5, copula_density(0.5), draws = 1e9),
    "[0-9]{3},000,000,000 values", class = "warpbayes_error_memory"
  )
})

test_that("print, summary, predict and other methods work", {
  y <- c(2.1, 0.4, 3.9, 3.3, 2.2, 7.5)
  fit <- quick(y, copula_density(0.5, points = seq(0, 8, length.out = 20)))
  expect_output(print(fit), "rho 0.5; prequential log score")
  expect_output(print(fit), "intervals are too narrow. continue")
  expect_output(print(summary(fit)), "quantity")
  expect_identical(dim(quantile(fit)), c(3L, 5L))
  expect_identical(colnames(quantile(fit, c(0.025, 0.5))), c("2.5%", "50.0%"))
  expect_identical(quantile(fit, c(0.9, 0.1)), quantile(fit, c(0.1, 0.9))[, 2:1])
  for (bad in list(2, -1, NA_real_, "a", numeric())) {
    expect_input(quantile(fit, probs = bad), "`probs` must be probabilities")
    expect_input(summary(fit, probs = bad), "`probs` must be probabilities")
  }
  expect_input(continue(fit, 0), "`more`")
  expect_input(continue(predictive_resample(y, bayesian_bootstrap(), draws = 3), 1), "infinite horizon")
  expect_output(print(predictive_resample(y, bayesian_bootstrap(), draws = 3)), "nothing is missing")
  expect_match(horizon_reason(list(kind = "normal_mean", interrupted = TRUE, horizon = 12345))[[1]]$words,
    "^Interrupted after 12,345 steps: continue")
  expect_input(predict(predictive_resample(y, bayesian_bootstrap(), draws = 3)), "Bayesian bootstrap")
  expect_input(predict(fit, cbind(1, 2)), "`newdata` has 2 columns")
  # Predictions at the points of the fit, and their bands.
  again <- predict(fit, type = "cdf", level = 1)
  expect_identical(again$estimate, fit$cdf0)
  expect_identical(again$lower, apply(fit$cdf, 2, min))
  expect_identical(names(predict(fit, 1:2, level = NULL)), "estimate")
  expect_equal(predict(fit, y, "log_density"), log(predict(fit, y, level = NULL)$estimate), tolerance = 1e-12)
  normal <- predictive_resample(y, normal_mean(1, c(variance = 1)), 5, 3, seed = 1)
  expect_equal(predict(normal)$estimate, sum(y) / 7)
  expect_lt(predict(predictive_resample(y, normal_mean(NULL), 5, 3, seed = 1))$lower, mean(y))
  many <- predictive_resample(y, copula_density(0.5), 1, 2, seed = 1,
    functional = function(points, cdf, density) cdf[1:30]
  )
  expect_output(print(many), "and 24 more quantities")
  expect_output(print(summary(many)), "and 10 more quantities")
  frame <- data.frame(y = c("a", "b", "a", "b"), x = c(1, 2, 4, 3))
  classes <- quick(frame, copula_classification(y ~ x, rho = 0.5, rho_x = 0.5))
  expect_identical(levels(predict(classes, type = "class")), c("a", "b"))
  expect_equal(predict(classes, frame, "log_density"),
    log(ifelse(frame$y == "b", classes$probability0, 1 - classes$probability0))
  )
  expect_input(predict(classes, data.frame(y = "c", x = 1), "log_density"), "row 1 that is none of the classes")
  expect_equal(predict(classes, level = 1)$upper, apply(classes$probability, 2, max))
})

test_that("methods of posterior and generics work", {
  fit <- predictive_resample(c(1, 4, 2), normal_mean(NULL), 5, 20, seed = 1)
  skip_if_not_installed("posterior")
  expect_identical(posterior::variables(posterior::as_draws(fit)), c("mean", "variance"))
  formats <- list(
    posterior::as_draws_array, posterior::as_draws_df, posterior::as_draws_list, posterior::as_draws_matrix,
    posterior::as_draws_rvars
  )
  for (as in formats) {
    expect_equal(posterior::ndraws(as(fit)), 20)
  }
  skip_if_not_installed("generics")
  expect_equal(generics::tidy(fit)$estimate, unname(colMeans(fit$draws)))
})

test_that("every plot works", {
  skip_where_repeated()
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  y <- c(2.1, 0.4, 3.9, 3.3, 2.2, 7.5)
  frame <- data.frame(y = y, x = c(1, 2, 4, 3, 6, 5), z = c(3, 1, 2, 6, 5, 4), class = rep(c("a", "b"), 3))
  grid <- expand.grid(x = 1:3, z = 2:4)
  fits <- list(
    predictive_resample(y, normal_mean(), 20, 30, trajectories = 10, seed = 1),
    predictive_resample(y, normal_mean(NULL), 0, 30, seed = 1),
    quick(y, copula_density(0.5)), quick(cbind(y, rev(y)^2), copula_density(0.5)),
    predictive_resample(y, bayesian_bootstrap(), draws = 9, seed = 1),
    quick(frame, copula_regression(y ~ x, rho = 0.5, rho_x = 0.5)),
    quick(frame, copula_regression(y ~ x + z, rho = 0.5, rho_x = 0.5)),
    quick(frame, copula_classification(class ~ x, rho = 0.5, rho_x = 0.5)),
    quick(frame, copula_classification(class ~ x + z, grid, rho = 0.5, rho_x = 0.5)),
    quick(frame, copula_classification(class ~ x + z, rho = 0.5, rho_x = 0.5))
  )
  for (fit in fits) {
    expect_identical(plot(fit), fit)
    expect_identical(plot(fit, "draws"), fit)
  }
  # Panels follow the user's layout.
  graphics::par(mfrow = c(2, 3))
  expect_identical(plot(fits[[4]], "draws"), fits[[4]])
  expect_identical(graphics::par("mfrow"), c(2L, 3L))
  plot(fits[[1]])
  expect_identical(graphics::par("mfrow"), c(2L, 3L))
  graphics::par(mfrow = c(1, 1))
  # Two covariates have two curves, at the medians of each other.
  effects <- resample_picture(fits[[7]], "model", 0.9, 9, NULL)
  expect_identical(vapply(effects$panels, `[[`, "", "title"), c("x", "z"))
  line <- effects$panels[[2]]$layers[[2]]$data
  expect_equal(line$y, predict(fits[[7]], data.frame(x = 3.5, z = line$x), level = NULL)$estimate)
  frame$f <- factor(c("u", "v", "v", "u", "v", "u"))
  mixed <- quick(frame, copula_classification(class ~ x + f, rho = 0.5, rho_x = 0.5))
  expect_identical(plot(mixed), mixed)
  expect_identical(resample_picture(mixed, "model", 0.9, 9, NULL)$panels[[2]]$x$labels, c("u", "v"))
  zeros <- quick(c(rep(0, 6), y), copula_density(0.5))
  expect_identical(resample_picture(zeros, "model", 0.9, 9, NULL)$caption, "P(0) = 0.5")
  kept <- quick(y, copula_density(0.5), trajectories = 3)
  expect_identical(plot(kept, "trajectories"), kept)
  expect_identical(plot(fits[[1]], "trajectories"), fits[[1]])
  expect_input(plot(fits[[3]], "trajectories"), "none were kept")
  expect_input(plot(fits[[1]], "trace"), "`type`")
  expect_input(plot(fits[[1]], level = 3), "`level`")
  expect_input(plot(fits[[1]], paths = 0), "`paths`")
})

test_that("beside the paths of a mean its exact density is drawn over the whole height", {
  skip_where_repeated()
  file <- tempfile(fileext = ".pdf")
  on.exit(unlink(file))
  fit <- predictive_resample(c(2.1, 0.4, 3.9, 3.3), normal_mean(), 20, 30, trajectories = 10, seed = 1, threads = 2)
  grDevices::pdf(file, compress = FALSE)
  plot(fit)
  grDevices::dev.off()
  # Some lines of a PDF file are bytes that are no text.
  lines <- readLines(file, warn = FALSE)
  lines <- lines[validUTF8(lines)]
  # The last dashed line of the page has 200 points.
  dashed <- max(grep("^\\[.+\\] 0 d$", lines))
  points <- regmatches(lines, regexec("^([0-9.-]+) ([0-9.-]+) [ml]$", lines))[dashed + 1:200]
  y <- as.numeric(vapply(points, `[[`, "", 3))
  expect_false(is.unsorted(y))
  # The page has 504 points of 1/72 inch.
  expect_gt(diff(range(y)), 350)
})

test_that("a failure after completed steps keeps them and says why", {
  fail_later <- function(kind) {
    in_slices(10, 3, FALSE, function(done, steps) if (done > 0) stop_warpbayes(kind, "the card is lost"))
  }
  expect_identical(fail_later("device"), list(interrupted = FALSE, failure = "the card is lost"))
  expect_identical(fail_later("memory")$failure, "the card is lost")
  # Errors of the user's functions, and failures before anything is done, stay errors.
  expect_input_error(fail_later("input"), "the card is lost")
  expect_error(in_slices(10, 3, FALSE, function(done, steps) stop_warpbayes("device", "lost")), "lost",
    class = "warpbayes_error_device")
  fit <- predictive_resample(1:9, normal_mean(), 100, draws = 5, seed = 1, threads = 2)
  stopped <- with_parts(fit, parts = fail_later("device"))
  expect_output(print(stopped),
    "Stopped by an error \\(the card is lost\\) after 100 steps:\\s+continue\\(fit, more\\)")
  expect_warning(finish_resamples(stopped, 0), "Stopped by an error \\(the card is lost\\) after 100 steps")
  # The next steps are those of a fit that never stopped.
  more <- continue(stopped, 10, threads = 2)
  expect_null(more$failure)
  expect_identical(more$draws, continue(fit, 10, threads = 2)$draws)
})

test_that("a list of data sets gives the fits of each, bit by bit", {
  sets <- list(one = sample_of(12), two = qnorm(sample_of(15)), three = 1:9 + 0)
  all <- function(sets, ..., threads = 2) {
    predictive_resample(sets, copula_density(points = 1), 20, 5, "mean", seed = 4, threads = threads, ...)
  }
  fits <- all(sets)
  expect_named(fits, names(sets))
  for (i in seq_along(sets)) {
    alone <- predictive_resample(sets[[i]], copula_density(points = 1), 20, 5, "mean", seed = 3 + i, threads = 1)
    expect_identical(fits[[i]]$draws, alone$draws)
  }
  expect_identical(all(sets, threads = 1)[[3]]$density, fits[[3]]$density)
  expect_error(all(list(1:3, "a")), "set of data, number 2, with an error: `y` must be",
    class = "warpbayes_error_input")
  expect_error(all(list()), "`y` is an empty list of data sets", class = "warpbayes_error_input")
  # The system ends the processes.
  skip_if(.Platform$OS.type == "windows" || resolve_run()$backend != "cpu")
  ended <- function(data, weights) tools::pskill(Sys.getpid(), 9)
  expect_warning(expect_error(
    predictive_resample(list(1:9, 2:9), bayesian_bootstrap(), 20, 5, ended, seed = 1, threads = 2),
    "number 1, with an error: its process ended", class = "warpbayes_error_input"
  ), NA)
})

test_that("update() fits again, also where a function made the fit", {
  made <- function() {
    inside <- sample_of(12)
    points <- c(0.2, 0.8)
    predictive_resample(inside, copula_density(points = points), 20, 5, functional = list("mean"), seed = 1)
  }
  fit <- made()
  again <- update(fit, draws = 9)
  expect_identical(again$draws[1:5, ], fit$draws[, 1])
  expect_identical(again$call$y, quote(inside))
  expect_identical(again$call$draws, 9)
  expect_identical(update(fit, model = bayesian_bootstrap(), horizon = Inf, evaluate = FALSE)$model,
    quote(bayesian_bootstrap()))
  expect_identical(colnames(update(fit, functional = "sd")$draws), "sd")
  expect_error(update(fit, 9), "with their names", class = "warpbayes_error_input")
})

test_that("predictions print a few lines and a verdict", {
  fit <- predictive_resample(sample_of(20), copula_density(), 20, 5, seed = 1, threads = 2)
  shown <- capture.output(print(predict(fit, threads = 2)))
  expect_lt(length(shown), 12L)
  expect_match(shown, "and 194 more rows", all = FALSE)
  expect_match(shown, "^Not yet. It rests on", all = FALSE)
  expect_no_match(capture.output(print(predict(fit, 1:3 / 4, threads = 2))), "more rows")
  expect_true(all(nchar(capture.output(print(fit))) <= 80))
})
