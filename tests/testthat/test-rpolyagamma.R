# rpolyagamma(): the law of its draws, backends and arguments.

expect_polyagamma_error <- function(code, message) {
  expect_error(code, message, class = "warpbayes_error_input")
}

test_that("moments and Laplace transforms are right for every method of drawing", {
  # 33 cases of up to four statistics: a false alarm in 3e-7 of runs.
  n <- polyagamma_draws(1e5)
  for (shape in c(0.01, 0.3, 0.999, 1, 1.7, 4, 11.999, 12, 29.9, 30, 1000)) {
    for (tilt in c(0, 2, 9)) {
      x <- rpolyagamma(n, shape, tilt, seed = 11, threads = 2)
      expect_true(all(x > 0))
      expect_lt(polyagamma_worst_z(x, shape, tilt), 6)
    }
  }
})

test_that("draws are right at the borders between methods", {
  n <- polyagamma_draws(1e5)
  cases <- list(
    c(1, 2.3999), c(1, 2.4), c(7, 2.4), c(0.4, 14.999), c(0.4, 15), c(20, 16.49), c(20, 16.5), c(1e6, 21.9), c(1e6, 22)
  )
  for (case in cases) {
    x <- rpolyagamma(n, case[[1L]], case[[2L]], seed = 12, threads = 2)
    expect_lt(polyagamma_worst_z(x, case[[1L]], case[[2L]]), 6)
  }
})

test_that("draws are right where other samplers fail", {
  n <- polyagamma_draws(2e5)
  good <- function(shape, tilt) {
    x <- rpolyagamma(n, shape, tilt, seed = 13, threads = 2)
    expect_lt(polyagamma_worst_z(x, shape, tilt), 6)
  }
  # Integer tilts and shapes, read as doubles elsewhere.
  expect_identical(rpolyagamma(10, 2L, 3L, seed = 1), rpolyagamma(10, 2, 3, seed = 1))
  good(2L, -3L)
  # Others: means 10% too large.
  good(170, 80)
  good(170, 150)
  good(100, 150)
  # Others: means 175% too large, and a variance of 0.
  good(20, 50)
  good(60, 50)
  # Others: overflow of cosh, and cancellation.
  good(1, 800)
  good(200, 1e-9)
  # Others: a fractional part added to whole draws, and truncated sums of gammas.
  good(2.7, 0)
  good(2.7, 1)
  good(0.05, 0.5)
})

test_that("draws have the distribution function of their law", {
  # 13 cases, or 50 in the long form with ten million draws each: a false alarm in 1e-7 of runs.
  n <- if (on_emulator()) 300 else if (extended()) 1e7 else 2e4
  cases <- expand.grid(shape = c(0.02, 0.7, 1, 4.5, 11.5, 12.5, 29, 31, 400, 1e5), tilt = c(0, 1.5, 3, 7, 16))
  if (!extended()) cases <- cases[c(1, 2, 3, 4, 5, 6, 18, 24, 29, 33, 35, 37, 42), ]
  for (i in seq_len(nrow(cases))) {
    x <- rpolyagamma(n, cases$shape[[i]], cases$tilt[[i]], seed = i, threads = 2)
    expect_lt(polyagamma_ks(x, cases$shape[[i]], cases$tilt[[i]]), 3.2)
  }
})

test_that("the methods of the literature can be chosen and draw from the law", {
  n <- if (on_emulator()) 200 else 2e4
  for (tilt in if (on_emulator()) c(2, 60) else c(0, 2, 5, 60)) {
    expect_lt(polyagamma_ks(rpolyagamma(n, 1, tilt, "devroye", seed = 2, threads = 2), 1, tilt), 3.2)
    expect_lt(polyagamma_ks(rpolyagamma(n, 5, tilt, "sum", seed = 3, threads = 2), 5, tilt), 3.2)
    expect_lt(polyagamma_ks(rpolyagamma(n, 2.5, tilt, "alternate", seed = 4, threads = 2), 2.5, tilt), 3.2)
    # Their distances from the law are too small to show in this number of draws.
    expect_lt(polyagamma_ks(rpolyagamma(n / 10, 200, tilt, "saddlepoint", seed = 5, threads = 2), 200, tilt), 3.2)
    expect_lt(polyagamma_ks(rpolyagamma(n / 10, 1e5, tilt, "normal", seed = 6, threads = 2), 1e5, tilt), 3.2)
  }
  expect_identical(rpolyagamma(5, 1, 0:4, "devroye", seed = 1), rpolyagamma(5, 1, 0:4, "sum", seed = 1))
})

test_that("methods refuse shapes that they cannot draw", {
  expect_polyagamma_error(rpolyagamma(1, 2, method = "devroye"),
    "`shape` has the entry 2 at position 1: method \"devroye\""
  )
  expect_polyagamma_error(rpolyagamma(1, c(1, 2.5), method = "sum"),
    "entry 2.5 at position 2: method \"sum\" draws whole"
  )
  expect_polyagamma_error(rpolyagamma(1, 2^21, method = "sum"), "whole shapes up to 2\\^20")
  expect_polyagamma_error(rpolyagamma(1, 4.5, method = "alternate"), "draws shapes up to 4")
  expect_polyagamma_error(rpolyagamma(1, 0.5, method = "saddlepoint"), "draws shapes from 1 on")
  expect_polyagamma_error(rpolyagamma(1, 170, method = "normal"), "draws shapes above 170")
  expect_polyagamma_error(rpolyagamma(1, method = "exact"), "`method` must be one of")
})

test_that("a draw depends on the seed, its position and its own parameters alone", {
  shape <- rep_len(c(0.2, 1, 3.5, 9, 15, 50, 1), 500)
  tilt <- seq(-18, 18, length.out = 500)
  x <- rpolyagamma(500, shape, tilt, seed = 5, threads = 1)
  expect_identical(rpolyagamma(300, shape, tilt, seed = 5, threads = 2), x[1:300])
  for (i in c(1, 77, 500)) {
    # With other neighbours, and as one of many equal elements.
    other <- rep(33, 500)
    other[[i]] <- shape[[i]]
    expect_identical(rpolyagamma(500, other, tilt, seed = 5)[[i]], x[[i]])
    expect_identical(rpolyagamma(500, shape[[i]], tilt[[i]], seed = 5)[[i]], x[[i]])
  }
  expect_identical(rpolyagamma(500, shape, -tilt, seed = 5), x)
  expect_false(any(rpolyagamma(500, shape, tilt, seed = 6) == x))
  expect_false(anyDuplicated(rpolyagamma(1000, 1, 0, seed = 1)) > 0)
})

test_that("threads, instruction sets and backends give the same bits", {
  n <- if (on_emulator()) 3000 else 20000
  set.seed(3)
  shape <- exp(rnorm(n, 1, 2))
  shape[sample(n, n / 2)] <- 1
  tilt <- rnorm(n, 0, 7)
  draws <- function(...) rpolyagamma(n, shape, tilt, seed = 9, ...)
  x <- draws(backend = "cpu", threads = 1)
  expect_identical(draws(threads = 2), x)
  expect_identical(draws(backend = "cpu", threads = 7), x)
  for (isa in instruction_sets()) {
    old <- options(warpbayes.isa = isa)
    expect_identical(draws(backend = "cpu", threads = 2), x)
    expect_identical(rpolyagamma(50, 3, 5, "alternate", seed = 1),
      rpolyagamma(50, 3, 5, "alternate", seed = 1, backend = "cpu")
    )
    options(old)
  }
  cases <- list(
    list(1, "devroye"), list(7, "sum"), list(3.5, "alternate"), list(14, "saddlepoint"), list(500, "normal")
  )
  for (case in cases) {
    by <- function(...) rpolyagamma(120, case[[1L]], seq(0, 60, length.out = 40), case[[2L]], seed = 4, ...)
    expect_identical(by(threads = 2), by(backend = "cpu", threads = 1))
  }
})

test_that("parameters are recycled, and n may be a vector, as in R's own functions", {
  x <- rpolyagamma(7, c(1, 20), c(0, 1, 2), seed = 1)
  expect_identical(x, rpolyagamma(7, rep_len(c(1, 20), 7), rep_len(0:2, 7), seed = 1))
  expect_identical(rpolyagamma(c(10, 20, 30), seed = 1), rpolyagamma(3, seed = 1))
  expect_identical(rpolyagamma(2.9, seed = 1), rpolyagamma(2, seed = 1))
  expect_identical(rpolyagamma(0, seed = 1), numeric())
  expect_silent(rpolyagamma(5, 1:3, 1:2, seed = 1))
  # More draws than a slice of the host algorithm or a device's memory holds.
  if (on_emulator()) {
    old <- options(warpbayes.device_memory = 60000)
    on.exit(options(old))
    x <- rpolyagamma(4000, c(1, 4.5, 40), 1:7, seed = 2)
    options(old)
    expect_identical(x, rpolyagamma(4000, c(1, 4.5, 40), 1:7, seed = 2))
  }
})

test_that("without a seed, R's generator gives one", {
  set.seed(8)
  x <- rpolyagamma(3)
  set.seed(8)
  expect_identical(rpolyagamma(3), x)
  expect_false(identical(rpolyagamma(3), x))
})

test_that("missing and infinite parameters give NaN and a warning", {
  expect_warning(x <- rpolyagamma(4, c(1, NA, 2, NaN), 1, seed = 1), "NAs produced")
  expect_identical(is.na(x), c(FALSE, TRUE, FALSE, TRUE))
  expect_warning(x <- rpolyagamma(3, c(1, Inf, 2), c(0, 1, -Inf), seed = 1), "NAs produced")
  expect_identical(is.nan(x), c(FALSE, TRUE, TRUE))
  expect_warning(x <- rpolyagamma(2, numeric(), seed = 1), "NAs produced")
  expect_identical(x, c(NA_real_, NA_real_))
  expect_warning(rpolyagamma(2, 1, NA, seed = 1), "NAs produced")
})

test_that("shapes and tilts may be extreme", {
  tiny <- rpolyagamma(200, 1e-200, c(0, 1), seed = 1)
  expect_true(all(tiny > 0 & tiny < 1e-300))
  expect_equal(rpolyagamma(3, 1e200, 1, seed = 1), rep(polyagamma_cumulant(1e200, 1), 3))
  expect_equal(rpolyagamma(3, 1e300, 1e300, seed = 1), rep(0.5, 3))
  expect_equal(mean(rpolyagamma(1e4, 3, 1e200, seed = 1)) / polyagamma_cumulant(3, 1e200), 1, tolerance = 1e-6)
})

test_that("messages name bad arguments", {
  expect_polyagamma_error(rpolyagamma(-1), "`n` must be a number of draws from 0 to 2\\^52, not -1")
  expect_polyagamma_error(rpolyagamma(NA), "`n` must be a number of draws")
  expect_polyagamma_error(rpolyagamma(numeric()), "`n` must be a number of draws")
  expect_polyagamma_error(rpolyagamma("a"), "`n` must be a number of draws")
  expect_polyagamma_error(rpolyagamma(2, c(1, -3)), "`shape` has the entry -3 at position 2: shapes are positive")
  expect_polyagamma_error(rpolyagamma(2, 0L), "shapes are positive")
  expect_polyagamma_error(rpolyagamma(2, "1"), "`shape` must be a numeric vector")
  expect_polyagamma_error(rpolyagamma(2, 1, "1"), "`tilt` must be a numeric vector")
  expect_polyagamma_error(rpolyagamma(2, seed = -1), "`seed` must be")
  expect_polyagamma_error(rpolyagamma(2, tild = 1), "`tild` is not known here")
  expect_error(rpolyagamma(2^50), "draws", class = "warpbayes_error_memory")
  expect_error(rpolyagamma(2, backend = "gpu"), "must be one of", class = "warpbayes_error_input")
})

test_that("the message says when a device has too little memory", {
  skip_if_not(on_emulator())
  old <- options(warpbayes.device_memory = 20000)
  on.exit(options(old))
  expect_error(rpolyagamma(10, seed = 1), "too little for any draws", class = "warpbayes_error_memory")
  expect_error(ppolyagamma(1), "too little for any points of a law", class = "warpbayes_error_memory")
})
