# The scale on which the copulas of one variable work, and point masses.

# Skewed and heavy-tailed data without a random number.
skewed <- exp(1.2 * qnorm(ppoints(40)[c(seq(1, 39, 2), seq(40, 2, -2))]))

test_that("a scale and its inverse agree, within the data and beyond", {
  bent <- function(scale) utils::modifyList(scale, list(bends = TRUE, center = 0.3, width = 0.5))
  soft <- function(scale) utils::modifyList(scale, list(softness = 0.2))
  y <- c(0.02, 0.1, 0.3, 0.35, 0.6, 0.9, 0.97)
  at <- c(-40, -2, -0.5, 0.001, 0.2, 0.5, 0.999, 1.2, 10, 60)
  for (support in list(c(-Inf, Inf), c(0, Inf), c(-Inf, 1), c(0, 1))) {
    for (change in list(identity, bent, soft)) {
      scale <- with_ends(change(new_scale(support)), y)
      inside <- at[at > support[[1]] & at < support[[2]]]
      expect_equal(from_scale(scale, to_scale(scale, inside)), inside, tolerance = 1e-9)
      step <- 1e-6 * pmin(1, abs(inside), abs(1 - inside))
      slope <- (to_scale(scale, inside + step) - to_scale(scale, inside - step)) / (2 * step)
      expect_equal(log(slope), log_slope(scale, inside), tolerance = 1e-4)
      expect_identical(to_scale(scale, c(support[[1]] - 1, support[[2]] + 1)), c(-Inf, Inf))
    }
  }
})

test_that("a fit on a scale is the fit of the transformed data", {
  points <- c(0.2, 1, 3, 20)
  quick <- function(y, model, ...) predictive_resample(y, model, 20, 4, seed = 3, threads = 2, ...)
  fit <- quick(skewed, copula_density(points = points, permutations = 2), functional = c("median", "mean"))
  expect_true(fit$scale$bends)
  z <- to_scale(fit$scale, skewed)
  same <- quick(z, copula_density(points = to_scale(fit$scale, points), permutations = 2, scale = "data"),
    functional = "median")
  expect_equal(fit$cdf, same$cdf, tolerance = 1e-12)
  expect_equal(fit$density, same$density * rep(exp(log_slope(fit$scale, points)), each = 4), tolerance = 1e-12)
  expect_equal(fit$draws[, "median"], from_scale(fit$scale, same$draws[, "median"]), tolerance = 1e-2)
  # Other units give the same posterior in these units, and so does the mirror image.
  for (unit in c(1000, -1e-3)) {
    other <- quick(unit * skewed + 7, copula_density(points = 0, permutations = 2), functional = c("median", "mean"))
    expect_equal(other$draws[, "median"], 7 + unit * fit$draws[, "median"], tolerance = if (unit > 0) 1e-6 else 0.5)
  }
  # On a log scale units are exact, too.
  positive <- lapply(c(1, 100), function(unit) {
    quick(unit * skewed, copula_density(points = 1, permutations = 2, support = c(0, Inf)), functional = "mean")$draws
  })
  expect_equal(positive[[2]], 100 * positive[[1]], tolerance = 1e-8)
})

test_that("densities on a scale integrate to one, and stay in the support", {
  skip_where_repeated()
  at <- seq(-3, 80, 0.01)
  middle <- function(x) (x[-1] + x[-length(x)]) / 2
  for (support in list(c(-Inf, Inf), c(0, Inf))) {
    fit <- predictive_resample(skewed, copula_density(points = at, support = support), 20, 3, seed = 3, threads = 2)
    expect_equal(apply(fit$density, 1, function(p) sum(middle(p)) * 0.01), fit$cdf[, length(at)] - fit$cdf[, 1],
      tolerance = 1e-2)
    expect_equal(apply(fit$cdf[, 290:800], 1, diff) / 0.01, t((fit$density[, 290:799] + fit$density[, 291:800]) / 2),
      tolerance = 1e-2)
  }
  expect_true(all(fit$cdf[, at <= 0] == 0) && all(fit$density[, at < 0] == 0))
  unit <- predictive_resample(plogis(2 * qnorm(ppoints(30))), copula_density(points = c(-1, 0, 0.5, 1, 2),
    support = c(0, 1)), 20, 3, seed = 3, threads = 2)
  expect_true(all(unit$cdf[, 1:2] == 0) && all(unit$cdf[, 4:5] == 1))
  expect_true(all(unlist(simulate(unit, 20, seed = 1)) > 0 & unlist(simulate(unit, 20, seed = 1)) < 1))
})

test_that("one outlier leaves the posterior of the median and the quantiles alone", {
  skip_where_repeated()
  skip_if(on_cuda())
  y <- c(qnorm(sample_of(49)), 1000)
  fit <- function(y) {
    predictive_resample(y, copula_density(points = 0), 600, 400, seed = 1, threads = 2,
      functional = list("median", quantiles_of(c(0.05, 0.75, 0.95))))
  }
  with <- fit(y)
  without <- fit(y[-50])
  expect_match(said_of(with, "scale"), "^1 of 50 values is 1000: a point mass of probability 0.00[0-9]* to 0.0")
  expect_null(said_of(without, "scale"))
  # The 95% quantile is near the outlier, so it is left out.
  shift <- abs(apply(with$draws, 2, median) - apply(without$draws, 2, median)) / apply(without$draws, 2, sd)
  expect_lt(max(shift[1:3]), 0.6)
  width <- apply(with$draws, 2, IQR) / apply(without$draws, 2, IQR)
  expect_true(all(width[1:3] > 0.7 & width[1:3] < 1.4))
})

test_that("a support does not draw the mean of skewed data away", {
  skip_where_repeated()
  quick <- function(y, support = c(0, Inf), ...) {
    predictive_resample(y, copula_density(points = 0, support = support, ...), 0, 400, "mean", seed = 1, threads = 2)
  }
  away <- function(fit, y) abs(median(fit$draws) / mean(y) - 1)
  u <- sample_of(20)
  # By a log the ratios of the means are 1.52, 1.18, 1.15 and 1.01. The standard error of the first one is 0.02.
  for (y in list(qgamma(u, 0.6), qexp(u), abs(qnorm(0.5 + u / 2)), qgamma(u, 4) + 0.5)) {
    fit <- quick(y)
    expect_true(is.finite(fit$scale$softness))
    expect_lt(away(fit, y), 0.1)
    expect_equal(quick(3 - y, c(-Inf, 3))$scale$softness, fit$scale$softness)
    expect_equal(quick(1000 * y)$draws, 1000 * fit$draws, tolerance = 1e-8)
  }
  expect_gt(away(quick(qexp(u), scale = "data"), qexp(u)), 0.1)
  # These look normal on a log.
  expect_identical(quick(exp(1.5 * qnorm(u)))$scale$softness, Inf)
})

test_that("point masses are found among ties by rounding", {
  found <- function(y, support = c(-Inf, Inf)) find_point_masses(y, support)$value
  set.seed(1)
  expect_identical(found(c(rep(0, 3), rexp(12))), 0)
  expect_identical(found(c(rep(0, 30), rep(9, 20), rexp(40))), c(0, 9))
  expect_identical(found(c(0, rexp(20)), c(0, Inf)), 0)
  # Far outliers are, a tenth of the data at most, and on a log scale they may be none.
  expect_identical(found(c(-300, qnorm(ppoints(40)), 100, 90)), c(-300, 90, 100))
  expect_null(found(c(qnorm(ppoints(20)), 100 + 1:3)))
  expect_null(found(c(qlnorm(ppoints(40)), 30), c(0, Inf)))
  expect_null(found(rnorm(30)))
  expect_null(found(rep(1:10, 5) + 0))
  expect_null(found(c(rep(0, 10), 1)))
  expect_null(found(c(0, 1)))
  # Rounded data have none, in any of 100 samples.
  expect_false(any(replicate(100, length(found(round(rnorm(200), 1))) > 0)))
})

test_that("a point mass has the law of Polya's urn, and the density is that of the other values", {
  draws <- if (on_cuda()) 100 else 1000
  y <- c(rep(0, 35), qgamma(ppoints(25), 2))
  fit <- predictive_resample(y, copula_density(points = c(-1, 0, 1, 8), support = c(0, Inf)), 50, draws, seed = 1,
    threads = 2, functional = list("mean", probability_of(0, 1e-30), quantiles_of(0.5)))
  expect_gt(ks.test(fit$draws[, "probability"], "pbeta", 35, 25)$p.value, 1e-6)
  expect_gt(mean(fit$draws[, "q50"] == 0), 0.5)
  expect_identical(fit$cdf[, 1], rep(0, draws))
  expect_equal(fit$cdf[, 2], unname(fit$draws[, "probability"]), tolerance = 1e-9)
  expect_equal(fit$cdf0[[2]], 35 / 60)
  other <- predictive_resample(y[36:60], copula_density(points = c(1, 8), support = c(0, Inf)), 50, draws, seed = 1,
    threads = 2, functional = "mean")
  expect_equal(unname(fit$draws[, "mean"]), unname((1 - fit$draws[, "probability"]) * other$draws[, 1]),
    tolerance = 1e-7)
  expect_equal(fit$cdf[, 3:4], fit$cdf[, 2] + (1 - fit$cdf[, 2]) * other$cdf, tolerance = 1e-12)
  expect_equal(fit$density[, 3:4], (1 - fit$cdf[, 2]) * other$density, tolerance = 1e-12)
  expect_identical(predict(fit, type = "cdf", threads = 2)$estimate, fit$cdf0)
  expect_identical(predict(fit, type = "density", level = 1, threads = 2)$upper, apply(fit$density, 2, max))
  expect_equal(predict(fit, c(0, 1), "log_density"), log(c(35 / 60, predict(fit, 1, level = NULL)$estimate)))
  new <- unlist(simulate(fit, 40, seed = 1))
  expect_true(all(new >= 0) && abs(mean(new == 0) - 35 / 60) < 4.9 * sqrt(0.25 / 60 / 40 + 0.25 / 61 / 40) * 2)
  expect_null(said_of(fit, "beyond"))
  expect_match(said_of(fit, "scale"),
    "^35 of 60 values are 0: a point mass of probability 0.4[0-9]* to 0.[67][0-9]* \\(90%\\)")
  # With the published settings zeros are values like others.
  expect_null(predictive_resample(y, copula_density(points = 0, calibrate = FALSE), 5, 2, seed = 1)$atoms)
})

test_that("words about scale and support appear where they must, and only there", {
  skip_where_repeated()
  words <- function(y, ...) {
    fit <- predictive_resample(y, copula_density(points = 0, ...), 5, 3, seed = 1, threads = 2)
    found <- c(said_of(fit, "scale"), said_of(fit, "data_ties"))
    if (is.null(found)) "none" else paste(found, collapse = " ")
  }
  normal <- qnorm(sample_of(40))
  positive <- qgamma(sample_of(40), 1.2)
  expect_identical(words(normal), "none")
  expect_identical(words(normal + 100), "none")
  expect_match(words(positive, scale = "data"),
    "All values are at least 0, and [0-9.]+% of the predicted distribution is not: support")
  expect_no_match(words(positive, support = c(0, Inf)), "support =")
  expect_match(words(sample_of(40)), "All values are in \\[0, 1\\], .* support = c\\(0, 1\\) excludes")
  expect_identical(words(sample_of(40), support = c(0, 1)), "none")
  expect_match(words(skewed), "the scale asinh\\(\\(y - .*\\)/.*\\): the score per observation rises by 0")
  expect_no_match(words(skewed, scale = "data"), "asinh")
  expect_match(words(rep(1:6, 10) + 0), "Only 6 of 60 values are distinct, so these are the values of an urn")
  expect_match(words(rep(1:6, 10) + 0, scale = "data"), "Only 6 of 60 values are distinct: a density spreads")
  expect_no_match(words(round(normal, 1)), "distinct")
})

test_that("summary() names quantities that the data do not support, and no others", {
  skip_where_repeated()
  said <- function(y, functional = list("mean", "sd", "median", quantiles_of(c(0.05, 0.95))), ...) {
    found <- summary(predictive_resample(y, copula_density(points = 0, ...), 30, 40, functional, seed = 1, threads = 2))
    said <- said_of(found, "unsupported")
    if (is.null(said)) "nothing" else said
  }
  u <- sample_of(60)
  # Where nothing must be said: normal, uniform, gamma, two modes, zeros, in any units.
  for (y in list(qnorm(u), 1e6 * u, qgamma(u, 2), qgamma(u, 4) * 1e-5, c(qnorm(u), qnorm(u) + 9),
    c(rep(0, 30), qgamma(u, 2)))) {
    expect_identical(said(y), "nothing")
  }
  # Heavy tails: the standard deviation of lognormal data and, for a larger sigma, the mean.
  expect_match(said(exp(qnorm(u))), "^sd: [0-9]+% of the predicted variance comes from the 5% of values")
  expect_match(said(exp(2 * qnorm(u))), "^mean: [0-9]+% of the predicted mean deviation comes .* sd: [0-9]+% of the")
  expect_match(said(1000 * exp(2 * qnorm(u))), "^mean: ")
  expect_identical(said(exp(2 * qnorm(u)), "median"), "nothing")
  # A far outlier: all that it decides, the quantiles that such values may be, and none within the bulk.
  expect_match(said(c(qnorm(u), 1000)), "^mean, sd, q95: 1 of 61 values is far from the others")
  expect_match(said(-c(qnorm(u), 1000)), "^mean, sd, q5: 1 of 61 values is far from the others")
  expect_match(said(c(qnorm(u), -1000, 1000)), "^mean, sd, q5, q95: 2 of 62 values are far from the others")
  expect_match(said(c(qnorm(sample_of(200)), 1000)), "^mean, sd: 1 of 201 values is far from the others")
  expect_match(said(c(qnorm(u[1:10]), 1000)), "^mean, sd, q95: 1 of 11 values is far")
  expect_identical(said(c(qnorm(u), 1000), "median"), "nothing")
})

test_that("a support that does not fit is refused", {
  expect_input <- function(call, pattern) expect_error(call, pattern, class = "warpbayes_error_input")
  expect_input(predictive_resample(c(1, 2, -3), copula_density(support = c(0, Inf))),
    "`support` is 0 to Inf, and `y` has the value -3 at position 3")
  expect_input(predictive_resample(cbind(1:3, 3:1), copula_density(support = c(0, Inf))), "is for one variable")
  for (bad in list(3, c(1, 0), c(NA, 1), "a", c(1, 1))) expect_input(copula_density(support = bad), "`support` must be")
  expect_input(copula_density(scale = "log"), "`scale`")
  expect_input(predictive_resample(c(0, 1, 1), copula_density(0.8, support = c(0, 1))), "only values on the bounds")
  expect_input(predictive_resample(c(-1, 1, 2), copula_density(), functional = "gini"), "needs values of at least 0")
})
