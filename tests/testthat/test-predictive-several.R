# Densities of two and three variables: axes, calibration and quantities.

three <- cbind(a = c(2, 1, 4, 3, 6, 5, 9, 4, 2), b = c(1, 0, 3, 4, 4, 5, 9, 2, 3), c = c(3, 9, 2, 5, 4, 4, 1, 6, 7))

test_that("points stand for a law by their weights", {
  # Normal data; the weights of a correlated normal law have its moments and quantiles.
  y <- cbind(qnorm(sample_of(60)), qnorm(sample_of(60)[c(7:60, 1:6)]))
  points <- several_points(list(model = list(kind = "copula_density"), data = list(y = y)), 2000L)
  wanted <- dnorm(points$y[, 1]) * dnorm(points$y[, 2], 0.7 * points$y[, 1], sqrt(0.51))
  weight <- drop(point_weights(points, cbind(wanted / exp(rowSums(dnorm(points$y, log = TRUE))))))
  mean <- colSums(weight * points$y)
  expect_lt(max(abs(mean)), 0.02)
  expect_equal(crossprod(sweep(points$y, 2, mean) * sqrt(weight)), matrix(c(1, 0.7, 0.7, 1), 2), tolerance = 0.02)
  expect_equal(weighted_quantile(sort(points$y[, 2]), weight[order(points$y[, 2])], c(0.05, 0.5, 0.95)),
    qnorm(c(0.05, 0.5, 0.95)), tolerance = 0.03)
  # Their number in the region of the data does not fall with the number of data.
  many <- several_points(list(model = list(kind = "copula_density"), data = list(y = y[rep(1:60, 20), ])), 400L)
  expect_equal(sort(unique(table(findInterval(many$y[seq(2, 400, 2), 1], c(-9, 0, 9))))), c(97, 103), tolerance = 0.2)
})

test_that("calibrated resamples of several variables agree with plain R", {
  points <- three[2:3, ] + 0.3
  fit <- predictive_resample(three, copula_density(c(0.75, 0.8, 0.9), points, permutations = 0), 2, 3, seed = 6,
    threads = 2)
  place <- fit$calibration
  z <- apply(three, 2, standardised)
  at <- sweep(sweep(points, 2, colMeans(three)), 2, apply(three, 2, function(y) sqrt(mean((y - mean(y))^2))), "/")
  log_scale <- sum(log(apply(three, 2, function(y) sqrt(mean((y - mean(y))^2)))))
  if (!is.null(fit$axes)) {
    expect_equal(fit$axes %*% t(fit$axes), cor(three), ignore_attr = TRUE)
    z <- t(solve(fit$axes, t(z)))
    at <- t(solve(fit$axes, t(at)))
    log_scale <- log_scale + log(det(fit$axes))
  }
  expect_equal(fit$density0, reference_copula(z, fit$rho, at)$p[, 3] / exp(log_scale), tolerance = 1e-10)
  # A resample has the law of the data on another place, given by a lower triangular matrix.
  stretch <- diag(place$stretch[2, ])
  stretch[place$pairs] <- place$b[2, ]
  matrix <- place$to %*% stretch %*% solve(place$from)
  start <- t(solve(matrix, t(at) - place$middle - as.vector(place$to %*% place$shift[2, ])) + place$center)
  now <- reference_copula(z, fit$rho, start)
  u <- vapply(0:2, function(j) reference_step_uniforms(6, 160, 1, 2, block = j %/% 2, word = j %% 2 + 1), numeric(2))
  for (t in 1:2) {
    now <- reference_update(now$u, now$p, qnorm(u[t, ]), min(2 - 1 / (9 + t), place$most) / (10 + t), place$rho)
  }
  expect_equal(fit$cdf[2, ], now$u[, 3], tolerance = 1e-10)
  expect_equal(fit$density[2, ], now$p[, 3] / det(matrix) / exp(log_scale), tolerance = 1e-10)
  expect_identical(predict(fit, points[2:1, ], level = 1, threads = 2)$upper, apply(fit$density[, 2:1], 2, max))
  expect_identical(continue(predictive_resample(three, fit$model, 1, 3, seed = 6), 1)$density, fit$density)
})

test_that("posteriors of several variables have the width of the data, and densities their quantities", {
  skip_where_repeated()
  skip_if(on_cuda())
  set.seed(2)
  x <- rnorm(40)
  y <- cbind(x, y = 100 * (0.7 * x + sqrt(0.51) * rnorm(40)))
  names <- c("mean", "sd", "median", "correlation")
  model <- copula_density(0.8, y[1:2, ], permutations = 2)
  fit <- predictive_resample(y, model, 300, 300, c(names, "quantile"), seed = 1, threads = 2)
  expect_identical(colnames(fit$draws)[c(1:7, 12)], c("mean[x]", "mean[y]", "sd[x]", "sd[y]", "median[x]", "median[y]",
    "correlation", "q75[x]"))
  centre <- apply(fit$draws, 2, median)
  spread <- apply(fit$draws, 2, sd)
  # 300 draws of 300 steps, which leave out a tenth: the mean's deviation is 1.1 sd/sqrt(n), that of the correlation
  # (1 - r^2)/sqrt(n); standard errors 4%.
  expect_equal(spread[1:2] / apply(y, 2, sd) * sqrt(40), c(1.05, 1.05), tolerance = 0.2, ignore_attr = TRUE)
  expect_equal(centre[1:2] / apply(y, 2, sd), colMeans(y) / apply(y, 2, sd), tolerance = 0.1, ignore_attr = TRUE)
  expect_equal(centre[3:4], apply(y, 2, sd), tolerance = 0.1, ignore_attr = TRUE)
  r <- cor(y)[[2]]
  expect_equal(centre[[7]], r, tolerance = 0.07)
  expect_equal(spread[[7]] * sqrt(40) / (1 - r^2), 1.1, tolerance = 0.3)
  expect_match(said_of(fit, "bandwidth"),
    "Calibrated resampling: the posterior of each mean is about 1.1 times as wide")
  expect_match(said_of(fit, "scale"), "axes without correlation: the score per observation rises by 0\\.[0-9]+\\.$")
  # The density is that of the quantities: the second mean from a grid.
  grid <- as.matrix(expand.grid(seq(-5, 5, 0.5), seq(-500, 500, 50)))
  one <- predictive_resample(y, model, 20, 3, "mean", seed = 1, threads = 2)
  density <- predict(one, grid, level = NULL, threads = 2)
  expect_equal(sum(density$estimate) * 0.5 * 50, 1, tolerance = 0.02)
  expect_equal(cor(one$draws)[1, 2] > 0.3, TRUE)
})

test_that("words about several variables appear where they must, and only there", {
  skip_where_repeated()
  x <- qnorm(sample_of(50))
  y <- x + qnorm(sample_of(50)[c(20:50, 1:19)])
  words <- function(y, functional = c("mean", "sd"), ...) {
    summary(predictive_resample(y, copula_density(0.8, y[1:2, ], permutations = 1, ...), 5, 3, functional, seed = 1,
      threads = 2))
  }
  found <- words(cbind(x, y))
  expect_null(said_of(found, "unsupported"))
  expect_null(said_of(words(cbind(x, y - x)), "scale"))
  heavy <- said_of(words(cbind(x, y = exp(4 * y))), "unsupported")
  expect_match(heavy, "mean\\[y\\]: [0-9]+% of the mean deviation comes .* sd\\[y\\]: [0-9]+% of the variance comes")
  expect_no_match(heavy, "[x]", fixed = TRUE)
  far <- cbind(x, z = c(y[-1], 1e3))
  expect_match(said_of(words(far, "correlation"), "unsupported"), "^correlation: 9[0-9]% of the variance comes")
  expect_null(said_of(words(cbind(x, exp(4 * y)), "median"), "unsupported"))
  # A density that the copulas smooth, between two clusters, and one that they do not.
  clusters <- cbind(x, y - x)[rep(1:50, 4), ] + 3 * (-1)^(1:200)
  density <- function(y, at) {
    said_of(predictive_resample(y, copula_density(0.7, rbind(at, at + 0.1), permutations = 1, scale = "data"), 0, 2,
      seed = 1, threads = 2), "unsupported")
  }
  expect_match(density(clusters, c(0, 0)), "^density\\[1\\], density\\[2\\]: about [0-9]+, [0-9]+ data .* nearest 15")
  expect_null(density(cbind(x, y), c(0, 0)))
  # Two groups in a small sample on the data's scale, in any unit; and where there are none.
  small <- function(y, scale = "data") {
    found <- said_of(predictive_resample(y, copula_density(points = y[1:2, ], permutations = 1, scale = scale), 0, 2,
      seed = 1, threads = 2), "unsupported")
    if (is.null(found)) "nothing" else found
  }
  u <- sample_of(25)
  v <- u[order(cos(5 * 1:25))]
  w <- u[order(cos(9 * 1:25))]
  two <- cbind(qnorm(u), qnorm(v)) + 2 * (-1)^(1:25)
  said <- "^Along one direction the data fall into groups of 1[23] and 1[23]: [0-9.]+% of the variance is within"
  expect_match(small(two), said)
  expect_match(small(cbind(1000 * two[, 1], 7 - two[, 2])), said)
  expect_match(small(cbind(two, qnorm(w))), said)
  for (none in list(cbind(qnorm(u), qnorm(v)), cbind(qgamma(u, 4), qnorm(v)), cbind(qnorm(u), qnorm(v), qnorm(w)),
    cbind(qnorm(u), qnorm(v))[1:5, ])) {
    expect_identical(small(none), "nothing")
  }
  expect_match(said_of(words(cbind(x, y), NULL, calibrate = FALSE), "bandwidth"), "^This density is not calibrated")
  four <- said_of(words(cbind(x, y, x^2, y^2), NULL), "bandwidth")
  expect_match(four, "^This density of more than three variables is not calibrated")
  # Columns that determine others, and as many data as variables, are as published.
  expect_match(said_of(words(cbind(x, 2 * x), NULL), "bandwidth"), "is not calibrated")
  expect_match(said_of(words(cbind(x, y)[1:2, ], NULL), "bandwidth"), "is not calibrated")
  expect_true(all(is.finite(predictive_resample(cbind(x * 1e200, y * 1e-200)[1:5, ], copula_density(0.8), 2, 2,
    c("mean", "sd", "correlation"), seed = 1)$draws)))
})

test_that("a pair that bends is straightened by a curve, whose coefficient is drawn, in any unit", {
  skip_where_repeated()
  u <- sample_of(60)
  x <- qnorm(u)
  noise <- qnorm(u[order(cos(5 * 1:60))])
  bent <- cbind(a = x, b = x^2 + 0.5 * noise)
  fit <- function(y, at, functional = NULL, ...) {
    predictive_resample(y, copula_density(points = at, ...), 200, 60, functional, seed = 1, threads = 2)
  }
  at <- rbind(c(0, 0), c(1, 1), c(-1.5, 2.25))
  truth <- dnorm(at[, 1]) * dnorm(0, 0, 0.5)
  found <- fit(bent, at)
  expect_match(said_of(found, "scale"), "without correlation, one of them less a quadratic curve in a")
  expect_null(said_of(found, "data"))
  expect_lt(max(abs(log(colMeans(found$density) / truth))), 0.35)
  # Without the curve the density in the middle is at least 15% lower.
  expect_lt(mean(fit(bent, at, scale = "data")$density[, 1]), 0.85 * truth[[1]])
  expect_gt(sd(found$bend$drawn), 0.02)
  quantities <- fit(bent, at, list("mean", "sd"))
  expect_lt(max(abs(colMeans(quantities$draws)[1:2] - colMeans(bent))), 0.4 * sd(bent[, 2]) / sqrt(60))
  units <- function(y) sweep(sweep(y, 2, c(1e4, 1e-3), "*"), 2, c(7, 0), "+")
  other <- fit(units(bent), units(at))
  expect_equal(other$density * 10, found$density, tolerance = 1e-6)
  grid <- as.matrix(expand.grid(seq(-7, 7, 0.2), seq(-6, 14, 0.2)))
  expect_equal(rowSums(predictive_resample(bent, copula_density(points = grid), 20, 3, seed = 1, threads = 2)$density),
    rep(1 / 0.04, 3), tolerance = 0.02)
  expect_equal(as.vector(t(predict(found, at, threads = 2)[, 2:3])),
    as.vector(apply(found$density, 2, quantile, c(0.05, 0.95))), tolerance = 1e-8)
  # Of three variables the pair that bends most; straight pairs keep their axes.
  expect_identical(fit(cbind(bent, c = qnorm(u[order(cos(9 * 1:60))])), cbind(at, 0))$bend$to, 2L)
  expect_null(fit(cbind(x, 0.6 * x + 0.8 * noise), at)$bend)
})

test_that("skewed columns are predicted on scales of their own, in any unit, and others as they are", {
  skip_where_repeated()
  u <- sample_of(60)
  skewed <- cbind(a = qgamma(u, 2), b = qgamma(u[order(cos(5 * 1:60))], 2))
  fit <- function(y, at, functional = NULL, ...) {
    predictive_resample(y, copula_density(points = at, ...), 60, 60, functional, seed = 1, threads = 2)
  }
  at <- rbind(c(0.5, 1), c(1, 2), c(3, 2))
  truth <- apply(dgamma(at, 2), 1, prod)
  found <- fit(skewed, at)
  expect_match(said_of(found, "scale")[[1L]], "work on asinh scales of a and b: the score per observation rises by 0")
  expect_lt(max(abs(log(colMeans(found$density) / truth))), 0.35)
  # On the data's scales half of the density near the corner is missing.
  expect_lt(mean(fit(skewed, at, scale = "data")$density[, 1]), 0.75 * truth[[1]])
  quantities <- fit(skewed, at, list("mean", "sd", "median"))
  expect_lt(max(abs(colMeans(quantities$draws) - c(2, 2, sqrt(c(2, 2)), rep(qgamma(0.5, 2), 2)))), 0.3)
  units <- function(y) sweep(sweep(y, 2, c(1e4, 1e-3), "*"), 2, c(7, 0), "+")
  expect_equal(fit(units(skewed), units(at))$density * 10, found$density, tolerance = 1e-6)
  grid <- as.matrix(expand.grid(seq(-3, 25, 0.5), seq(-3, 25, 0.5)))
  wide <- predictive_resample(skewed, copula_density(points = grid), 20, 3, seed = 1, threads = 2)
  expect_equal(rowSums(wide$density), rep(4, 3), tolerance = 0.02)
  one <- fit(cbind(a = qnorm(u), b = skewed[, 2]), at)
  expect_match(said_of(one, "scale")[[1L]], "asinh scales of b:")
  expect_null(fit(qnorm(cbind(u, u[order(cos(5 * 1:60))])), at)$scales)
  # Values that repeat have no density that a scale could raise.
  for (discrete in list(rep(0:1, 30), rep(c(0, 0, 1), 20) * skewed[, 1])) {
    expect_identical(lengths(bent_scales(cbind(discrete, skewed[, 2]))), c(0L, 2L))
  }
})
