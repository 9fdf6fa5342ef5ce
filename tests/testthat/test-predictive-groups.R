test_that("the layer of groups is inverted, has its slope, and goes on straight", {
  skip_where_repeated()
  groups <- rbind(c(0, -3, 3, 0, 0), c(1, -2.5, 3.2, -0.4, 0.3), c(-2, 4, -1, -1, 1))
  layer <- straightened(group_layer(groups), c(-6, 7))
  y <- rep(seq(-12, 12, 0.5), 3)
  z <- layer$to(y)
  expect_true(all(diff(matrix(z, ncol = 3)) > 0))
  expect_equal(layer$from(z), y, tolerance = 1e-9)
  h <- 1e-5
  inside <- !y %in% c(-6, 7)
  expect_equal(((layer$to(y + h) - layer$to(y - h)) / (2 * h))[inside], exp(layer$log_slope(y))[inside],
    tolerance = 1e-6)
  direct <- plogis(1) * pnorm(2, -2.5, exp(-0.4)) + plogis(-1) * pnorm(2, 3.2, exp(0.3))
  expect_equal(pnorm(group_layer(groups[2, , drop = FALSE])$to(2)), direct)
})

test_that("data in two groups get the scale of two groups, in any unit, and others do not", {
  skip_where_repeated()
  y <- c(qnorm(ppoints(24)) - 2.8, qnorm(ppoints(36)) + 2.8)
  fit <- function(y, points = 1, ..., draws = 200) {
    predictive_resample(y, copula_density(points = points, ...), 200, draws, list("mean", "sd"), seed = 1, threads = 2)
  }
  found <- fit(y, points = seq(-9, 9, 0.25))
  expect_match(said_of(found, "scale"),
    "on the scale of two groups, 4[0-9]?% about -2.[0-9] and (60|59|58)% about [23]")
  expect_equal(rowSums(found$density) * 0.25, rep(1, 200), tolerance = 1e-3)
  # Posterior means are the data's, and deviations those of a bootstrap with the factors of the calibration.
  expect_lt(abs(mean(found$draws[, 1]) - mean(y)), 0.3 * sd(y) / sqrt(60))
  expect_lt(abs(sd(found$draws[, 1]) / (sqrt(60 / 55 + 0.21) * sd(y) / sqrt(60)) - 1), 0.2)
  expect_lt(abs(mean(found$draws[, 2]) / sd(y) - 1), 0.04)
  # On the scale of the data all resamples have more than 3 times the true density halfway.
  halfway <- quantile(found$density[, 37], c(0.05, 0.95))
  expect_true(halfway[[1]] < dnorm(2.8) && dnorm(2.8) < halfway[[2]])
  before <- fit(y, points = 0, scale = "data", draws = 50)
  expect_gt(min(before$density), 3 * dnorm(2.8))
  other <- fit(y * 1e6 - 3e6, points = 0)
  expect_equal(other$draws[, 1], found$draws[, 1] * 1e6 - 3e6, tolerance = 1e-6)
  # With a bound, zeros and ties.
  for (more in list(list(exp(y / 4), c(0, Inf)), list(c(exp(y / 4), numeric(20)), c(0, Inf)),
    list(round(6 * y) / 6, c(-Inf, Inf)), list(c(y, 1000), c(-Inf, Inf)),
    list(c(qnorm(ppoints(56)), qnorm(ppoints(4)) + 12), c(-Inf, Inf)))) {
    one <- fit(more[[1]], support = more[[2]], draws = 20)
    expect_match(said_of(one, "scale"), "on the scale of two groups")
    expect_true(all(is.finite(one$draws)) && all(is.finite(one$density)) && all(one$density >= 0))
  }
  for (one in list(qnorm(ppoints(60)), qt(ppoints(60), 3), qgamma(ppoints(60), 2), qlnorm(ppoints(200)),
    c(qnorm(ppoints(40)), 1000), rep(1:2, 30))) {
    fitted <- fit(one, draws = 2)
    expect_null(fitted$scale$groups)
    expect_no_match(paste("", said_of(fitted, "scale")), "two groups")
  }
})
