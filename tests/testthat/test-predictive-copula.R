# Copula updates: comparison with plain R, published numbers, and the martingale property.

few <- list(
  one = list(y = standardised(c(2.1, 0.4, 3.9, 3.3, 2.2, 7.5, -1)), rho = 0.8),
  three = list(
    y = apply(matrix(c(1, 4, 2, 9, 3, 3, 8, 1, 5, 2, 7, 6, 0, 3, 5), 5), 2, standardised),
    rho = c(0.9, 0.5, 0.7)
  )
)

test_that("galaxies in file order: the published prequential score and distribution function", {
  skip_if_not_installed("MASS")
  # MODEL: rho = .93, data standardised by the population's standard deviation, values clipped to [1e-6, 1 - 1e-6] for
  # scores.
  y <- MASS::galaxies / 1000
  fit <- predictive_resample(y, copula_density(rho = 0.93, points = mean(y), permutations = 0), horizon = 0, draws = 1,
    seed = 1
  )
  expect_equal(fit$score, -0.9040748779, tolerance = 1e-10)
  expect_equal(fit$cdf0, 0.2626804348, tolerance = 1e-9)
  raw <- predictive_resample(standardised(y),
    copula_density(rho = 0.93, points = 0, permutations = 0, standardize = FALSE),
    horizon = 0, draws = 1, seed = 1)
  expect_equal(raw$cdf0, fit$cdf0, tolerance = 1e-12)
  # Sorted data are an unusual order: other orders differ by 0.03 in P(0).
  skip_if(on_cuda())
  orders <- predictive_resample(y, copula_density(rho = 0.93, points = mean(y), permutations = 400), horizon = 0,
    draws = 1, seed = 1
  )
  cdf <- state_at(orders, orders$at, resolve_run(NULL, 2))$conditional
  expect_gt(sd(cdf), 0.02)
  expect_lt(sd(cdf), 0.04)
  expect_equal(orders$cdf0, mean(cdf))
})

test_that("densities of one and more coordinates agree with plain R", {
  for (case in few) {
    y <- as.matrix(case$y)
    points <- rbind(y[2:3, , drop = FALSE] + 0.1, rep(5, ncol(y)), rep(-0.7, ncol(y)))
    expected <- reference_copula(y, case$rho, points)
    fit <- predictive_resample(y,
      copula_density(rho = case$rho, points = points, permutations = 0, standardize = FALSE, calibrate = FALSE),
      horizon = 3, draws = 2, seed = 6, threads = 2)
    d <- ncol(y)
    expect_equal(fit$score, mean(expected$score), tolerance = 1e-11)
    expect_equal(fit$cdf0, expected$u[, d], tolerance = 1e-11)
    expect_equal(fit$density0, expected$p[, d], tolerance = 1e-11)
    # Three more steps of the second resample.
    u <- vapply(seq_len(d) - 1, function(j) reference_step_uniforms(6, 160, 1, 3, block = j %/% 2, word = j %% 2 + 1),
      numeric(3)
    )
    now <- expected[c("u", "p")]
    for (t in 1:3) {
      now <- reference_update(now$u, now$p, qnorm(u[t, ]), reference_alpha(nrow(y) + t), rep_len(case$rho, d))
    }
    expect_equal(fit$cdf[2, ], now$u[, d], tolerance = 1e-11)
    expect_equal(fit$density[2, ], now$p[, d], tolerance = 1e-11)
  }
})

test_that("the average over orders is the mixture of their predictions", {
  y <- few$three$y
  fit <- predictive_resample(y, copula_density(rho = 0.6, points = y[1:2, ], permutations = 3, standardize = FALSE,
    calibrate = FALSE), horizon = 0, draws = 1, seed = 8)
  each <- lapply(1:3, function(p) reference_copula(y[fit$order[, p] + 1L, ], rep(0.6, 3), y[1:2, ]))
  expect_equal(fit$density0, rowMeans(vapply(each, function(e) e$p[, 3], numeric(2))), tolerance = 1e-11)
  before <- vapply(each, function(e) e$p[, 2], numeric(2))
  conditional <- vapply(each, function(e) e$u[, 3], numeric(2))
  expect_equal(fit$cdf0, rowSums(before * conditional) / rowSums(before), tolerance = 1e-11)
  expect_equal(fit$orders$score, vapply(each, function(e) mean(e$score), 0), tolerance = 1e-11)
  # Orders are permutations.
  expect_identical(apply(fit$order, 2, sort), matrix(0:4, 5, 3))
})

test_that("many columns at d = 1 equal one column", {
  y <- few$one$y
  as_vector <- predictive_resample(y, copula_density(0.8, points = y, permutations = 2), 5, 4, seed = 1)
  as_matrix <- predictive_resample(matrix(y), copula_density(0.8, points = matrix(y), permutations = 2), 5, 4, seed = 1)
  for (name in c("cdf", "density", "cdf0", "density0", "score", "orders", "draws")) {
    expect_identical(as_matrix[[name]], as_vector[[name]], label = name)
  }
  # A second coordinate does not change the marginal law of the first.
  data <- list(binary = FALSE, y = cbind(y, rev(y)), x = matrix(0, 7, 0))
  bandwidth <- list(rho = c(0.8, 0.5), rho_x = numeric())
  order <- matrix(0:6)
  both <- native(C_predictive_fit, data, bandwidth, order, resolve_run())
  state <- native(C_predictive_state, data, bandwidth, order, both$score, list(y = data$y, x = matrix(0, 7, 0)),
    resolve_run()
  )
  data$y <- matrix(y)
  bandwidth$rho <- 0.8
  one <- native(C_predictive_fit, data, bandwidth, order, resolve_run())
  alone <- native(C_predictive_state, data, bandwidth, order, one$score, list(y = data$y, x = matrix(0, 7, 0)),
    resolve_run()
  )
  expect_identical(state$conditional[, 1, 1], alone$conditional[, 1, 1])
  expect_identical(state$gain[, 1, 1], alone$gain[, 1, 1])
})

test_that("regressions agree with plain R", {
  x <- cbind(a = c(1, 3, 2, 5, 4, 9), b = c(0, 1, 0, 0, 1, 1))
  y <- c(2, 1, 4, 3, 6, 5)
  frame <- data.frame(y = y, x)
  model <- copula_regression(y ~ a + b, points = frame[1:2, ], at = c(1, 3, 5), rho = 0.7, rho_x = c(0.6, 0.3),
    permutations = 0
  )
  fit <- predictive_resample(frame, model, horizon = 3, draws = 2, seed = 6)
  sx <- apply(x, 2, standardised)
  points_x <- sx[rep(1:2, each = 3), ]
  at <- (rep(c(1, 3, 5), 2) - mean(y)) / sqrt(mean((y - mean(y))^2))
  expected <- reference_copula(matrix(standardised(y)), 0.7, matrix(at), sx, c(0.6, 0.3), points_x)
  expect_equal(fit$score, mean(expected$score), tolerance = 1e-11)
  expect_equal(fit$cdf0, expected$u[, 1], tolerance = 1e-11)
  expect_equal(fit$density0, expected$p[, 1] / sqrt(mean((y - mean(y))^2)), tolerance = 1e-11)
  words <- reference_philox(key_words(.Call(C_chain_key, 6, 0L)), 0, 0:5, 162 * 65536, 1)
  weights <- -log((words[, 1:2] %*% c(0, 2^20) +
    words[, 1] %/% 2^12 + 0.5) / 2^52)
  rows <- findInterval(reference_step_uniforms(6, 161, 1, 3) * sum(weights), cumsum(weights)) + 1
  z <- qnorm(reference_step_uniforms(6, 160, 1, 3))
  now <- expected[c("u", "p")]
  for (t in 1:3) {
    now <- reference_update(now$u, now$p, z[[t]],
      reference_weight(reference_alpha(6 + t), points_x, sx[rows[[t]], ], c(0.6, 0.3)), 0.7
    )
  }
  expect_equal(fit$cdf[2, ], now$u[, 1], tolerance = 1e-11)
})

test_that("classifications agree with plain R", {
  x <- matrix(c(1, 3, 2, 5, 4, 9, 7, 6))
  y <- c(0, 1, 0, 0, 1, 1, 1, 0)
  frame <- data.frame(class = c("no", "yes")[y + 1], x = x)
  plain <- copula_classification(class ~ x, rho = 0.8, rho_x = 0.7, permutations = 0, mean = "none")
  fit <- predictive_resample(frame, plain,
    horizon = 0, draws = 1, seed = 1
  )
  expected <- reference_binary(y, apply(x, 2, standardised), 0.8, 0.7)
  expect_equal(fit$score, mean(expected$score), tolerance = 1e-11)
  expect_equal(fit$probability0, expected$q, tolerance = 1e-11)
  expect_identical(fit$classes, c("no", "yes"))
  # Logical and factor responses give the same result.
  frame$class <- factor(frame$class)
  again <- predictive_resample(frame, plain,
    horizon = 0, draws = 1, seed = 1
  )
  expect_identical(again$probability0, fit$probability0)
  frame$class <- frame$class == "yes"
  again <- predictive_resample(frame, plain,
    horizon = 0, draws = 1, seed = 1
  )
  expect_identical(again$probability0, fit$probability0)
})

test_that("every model is a martingale", {
  skip_where_repeated()
  # 3,000 resamples; the mean at each of up to 9 points with false alarms 1e-6. The points lie among the data, because
  # far from them densities have too heavy tails for a mean of 3,000.
  skip_if(on_cuda())
  iris2 <- droplevels(iris[c(51:70, 101:120), ])
  fits <- list(
    predictive_resample(few$one$y, copula_density(0.7, points = seq(-1.5, 1.5, length.out = 9), calibrate = FALSE),
      60, 3000, seed = 2, threads = 2
    ),
    predictive_resample(trees, copula_density(0.7, points = trees[14:18, ], calibrate = FALSE), 60, 3000, seed = 2,
      threads = 2),
    predictive_resample(cars[1:20, ],
      copula_regression(dist ~ speed, data.frame(speed = c(5, 9, 20)), c(5, 15, 30), 0.7, 0.6, mean = "none"), 60, 3000,
      seed = 2, threads = 2),
    predictive_resample(iris2,
      copula_classification(Species ~ Petal.Length, data.frame(Petal.Length = c(3.5, 4.5, 5)), 0.9, 0.7, mean = "none"),
      60, 3000, seed = 2, threads = 2)
  )
  for (fit in fits) {
    if (is.null(fit$cdf)) {
      for (i in 1:3) expect_mean(fit$probability[, i], fit$probability0[[i]])
    } else {
      for (i in seq_along(fit$cdf0)) {
        # For several coordinates the joint density is a martingale.
        if (NCOL(fit$points) == 1L || is.data.frame(fit$points)) expect_mean(fit$cdf[, i], fit$cdf0[[i]])
        expect_mean(fit$density[, i], fit$density0[[i]])
      }
    }
  }
})

test_that("the chosen correlations give the best score", {
  skip_on_cran()
  set.seed(3)
  y <- c(rnorm(30, -2), rnorm(30, 2))
  score <- function(rho) {
    predictive_resample(y, copula_density(rho, points = 0, scale = "data"), 0, 1, seed = 1)$score
  }
  fit <- predictive_resample(y, copula_density(points = 0, scale = "data"), 0, 1, seed = 1)
  for (rho in fit$rho + c(-0.01, 0.01)) {
    expect_lt(score(rho), fit$score)
  }
  skip_if(on_cuda())
  frame <- data.frame(y = y + rnorm(60), a = y, b = rnorm(60))
  each <- predictive_resample(frame, copula_regression(y ~ a + b, frame[1, ], 0, mean = "none"), 0, 1, seed = 1)
  shared <- copula_regression(y ~ a + b, frame[1, ], 0, bandwidths = "one", mean = "none")
  one <- predictive_resample(frame, shared, 0, 1, seed = 1)
  expect_gte(each$score, one$score)
  expect_lt(each$rho_x[["b"]], each$rho_x[["a"]])
  expect_identical(one$rho_x[["a"]], one$rho_x[["b"]])
  coordinates <- cbind(y, rnorm(60))
  expect_gte(
    predictive_resample(
      coordinates, copula_density(bandwidths = "each", points = coordinates[1:2, ]), 0, 1, seed = 1
    )$score,
    predictive_resample(coordinates, copula_density(points = coordinates[1:2, ]), 0, 1, seed = 1)$score
  )
})

test_that("results depend on seed, resample and step alone", {
  skip_on_cran()
  iris2 <- droplevels(iris[c(51:60, 101:110), ])
  calls <- list(
    function(...) {
      model <- copula_density(0.9, points = seq(1, 5, length.out = 37), permutations = 2, calibrate = FALSE)
      predictive_resample(faithful$eruptions[1:20], model, ...)
    },
    function(...) {
      model <- copula_density(0.6, points = seq(1, 5, length.out = 37), permutations = 2)
      predictive_resample(faithful$eruptions[1:20], model, ...)
    },
    function(...) predictive_resample(few$three$y, copula_density(0.9, permutations = 2), ...),
    function(...) {
      model <- copula_regression(dist ~ speed, cars[1:3, ], 1:5 * 10, 0.7, 0.6, permutations = 2)
      predictive_resample(cars[1:12, ], model, ...)
    },
    function(...) {
      model <- copula_classification(Species ~ Petal.Length, iris2[1:3, ], 0.9, 0.6, permutations = 2)
      predictive_resample(iris2, model, ...)
    }
  )
  results <- c("draws", "cdf", "density", "probability", "cdf0", "density0", "probability0", "score", "orders")
  for (call in calls) {
    fit <- call(horizon = 140, draws = 5, seed = 9, threads = 1)
    expect_identical(call(horizon = 140, draws = 5, seed = 9, threads = 2)[results], fit[results])
    longer <- continue(call(horizon = 3, draws = 5, seed = 9), 137, threads = 2)
    expect_identical(longer[results], fit[results])
    expect_identical(longer$horizon, 140)
    fewer <- call(horizon = 140, draws = 2, seed = 9)
    expect_identical(fewer$draws, fit$draws[1:2, ])
    for (isa in setdiff(instruction_sets(), if (!extended() && "avx2" %in% instruction_sets()) "baseline")) {
      old <- options(warpbayes.isa = isa)
      expect_identical(call(horizon = 140, draws = 5, seed = 9)[results], fit[results])
      options(old)
    }
    if (warp_info()$cuda$available) {
      for (backend in c("cpu", "cuda")) {
        expect_identical(call(horizon = 140, draws = 5, seed = 9, backend = backend)[results], fit[results])
      }
    }
  }
})

test_that("horizon 0 is the prediction, and \"auto\" stops by the variance", {
  skip_on_cran()
  y <- few$one$y
  fit <- predictive_resample(y, copula_density(0.8, points = c(0, 3), calibrate = FALSE), 0, 3, seed = 1)
  expect_equal(fit$cdf, matrix(fit$cdf0, 3, 2, byrow = TRUE))
  expect_output(print(fit), "Horizon 0")
  skip_where_repeated()
  model <- copula_density(0.8, points = 0, calibrate = FALSE)
  fit <- predictive_resample(y, model, "auto", 200, tolerance = 0.1, seed = 1, threads = 2)
  expect_lte(fit$remaining, 0.1)
  # The remaining share of the variance, compared with a horizon that leaves out a hundredth. With 1,000 draws the ratio
  # of variances has a standard error of 0.014, because both runs start with the same steps.
  inside <- fit$inner$cdf0 > 0.01 & fit$inner$cdf0 < 0.99
  spread <- function(fit) apply(inner_cdf(fit)[, inside], 2, var)
  long <- predictive_resample(y, model, 800, 1000, seed = 1, threads = 2)
  short <- predictive_resample(y, model, 30, 1000, seed = 1, threads = 2)
  gap <- 1 - mean(spread(short) / spread(long))
  expect_lt(abs(gap - short$remaining), 0.06)
})

test_that("sums of squares of the weights are in closed form", {
  i <- 8:2000000
  expect_equal(copula_tail(7), sum(reference_alpha(i)^2) + 4 / 2e6, tolerance = 1e-9)
  # With a numerator of at most 1.95, which binds from i = 20 on.
  expect_equal(copula_tail(7, 1.95), sum((pmin(2 - 1 / i, 1.95) / (i + 1))^2) + 1.95^2 / 2e6, tolerance = 1e-9)
  expect_equal(copula_tail(7, 1.2), sum((1.2 / (i + 1))^2) + 1.2^2 / 2e6, tolerance = 1e-9)
  h <- c(-2, 0, 0.7)
  expect_equal(both_below(h, 0), pnorm(h)^2, tolerance = 1e-14)
  expect_equal(both_below(h, 1), pnorm(h), tolerance = 1e-7)
  expect_equal(both_below(0, 0.5), 1 / 4 + asin(0.5) / (2 * pi), tolerance = 1e-14)
})

test_that("trajectories of the quantities are kept on request", {
  y <- few$one$y
  model <- copula_density(0.8, points = seq(-2, 2, length.out = 11), permutations = 2)
  fit <- predictive_resample(y, model, 20, 4, trajectories = 4, seed = 1, threads = 2)
  expect_identical(dim(fit$trajectories), c(4L, 5L, 3L))
  expect_identical(fit$times, c(0, 5, 10, 15, 20))
  expect_identical(fit$trajectories[, 5, ], fit$draws)
  expect_identical(fit$trajectories[, 3, ], predictive_resample(y, model, 10, 4, seed = 1)$draws)
  expect_identical(fit$trajectories[, 1, ], predictive_resample(y, model, 0, 4, seed = 1)$draws)
  expect_identical(predictive_resample(y, model, 20, 4, seed = 1)[c("cdf", "density", "draws")],
    fit[c("cdf", "density", "draws")]
  )
  # Trajectories continue with the steps.
  longer <- continue(predictive_resample(y, model, 8, 4, trajectories = 2, seed = 1), 14, threads = 2)
  expect_identical(longer$times, c(0, 4, 8, 12, 16, 20))
  expect_identical(longer$trajectories[, 6, ], fit$draws)
  one <- predictive_resample(y, model, 6, 1, trajectories = 3, functional = "mean", seed = 1)
  expect_identical(dim(one$trajectories), c(1L, 4L, 1L))
  iris2 <- droplevels(iris[c(51:60, 101:110), ])
  classes <- predictive_resample(iris2,
    copula_classification(Species ~ Petal.Length, iris2[1:3, ], 0.9, 0.6, permutations = 2), 6, 2,
    trajectories = 2, seed = 1)
  expect_identical(classes$trajectories[, 3, ], classes$draws)
})

test_that("a fit changed by hand is refused before compiled code reads it", {
  expect_changed <- function(call) {
    expect_error(call, "has been changed since it was made", class = "warpbayes_error_input")
  }
  fit <- predictive_resample(1:9 / 9, copula_density(0.9, permutations = 2), 5, 3, seed = 1, threads = 2)
  for (part in c("data", "order", "bandwidth", "state", "normal_score")) {
    changed <- fit
    changed[[part]] <- if (is.list(fit[[part]])) lapply(fit[[part]], `[`, 1L) else fit[[part]][1L]
    expect_changed(continue(changed, 5, threads = 2))
    expect_changed(predict(changed, 0.5, threads = 2))
  }
  # Values of the right type that are sizes or positions.
  for (part in c("n", "count", "horizon")) {
    changed <- fit
    changed[[part]] <- fit[[part]] + 1
    expect_changed(continue(changed, 5, threads = 2))
    expect_changed(predict(changed, 0.5, threads = 2))
  }
  changed <- fit
  changed$order[[1L]] <- 1000000L
  expect_changed(predict(changed, 0.5, threads = 2))
  expect_changed(predict(`[[<-`(fit, "sizes", NULL), 0.5, threads = 2))
  normal <- predictive_resample(1:9 / 9, normal_mean(), 5, 3, seed = 1, threads = 2)
  normal$start$mean <- "a"
  expect_changed(predict(normal))
  # Parts that compiled code does not read may be changed.
  fit$draws <- fit$draws[, 1L, drop = FALSE]
  expect_identical(nrow(predict(fit, 0.5, threads = 2)), 1L)
})
