# Cumulants, densities, probabilities and quantiles of the Polya-Gamma law.

expect_law_error <- function(code, message) {
  expect_error(code, message, class = "warpbayes_error_input")
}

test_that("cumulants of PG(1, 0) are the known fractions, and scale with the shape", {
  known <- c(1 / 4, 1 / 24, 1 / 60, 17 / 1680, 31 / 3780, 691 / 83160, 5461 / 540540, 929569 / 64864800)
  expect_equal(polyagamma_cumulant(1, 0, 1:8), known, tolerance = 1e-15)
  expect_equal(polyagamma_cumulant(2.5, 0, 1:8), 2.5 * known, tolerance = 1e-15)
  expect_identical(polyagamma_mean(3, 2), polyagamma_cumulant(3, 2, 1))
  expect_identical(polyagamma_var(3, -2), polyagamma_cumulant(3, 2, 2))
})

test_that("cumulants are the sums over the gammas' rates at every tilt", {
  for (tilt in c(1e-9, 9.9e-4, 1.1e-3, 0.3, 0.69999, 0.70001, 2, 5, 11.999, 12.001, 30)) {
    rate <- 2 * pi^2 * (seq_len(2e4) - 0.5)^2 + tilt^2 / 2
    for (order in c(3:8, 13, 20)) {
      # The smallest terms first.
      expect_equal(polyagamma_cumulant(1.7, tilt, order),
        1.7 * factorial(order - 1) * sum(rev(rate^-order)), tolerance = 2e-14
      )
    }
    expect_equal(polyagamma_cumulant(1.7, tilt, 2), 1.7 * (sum(rev(rate^-2)) + 2e4^-3 / (12 * pi^4)), tolerance = 1e-14)
  }
})

test_that("moments neither cancel nor overflow", {
  # Cumulants of the inverse Gaussian: b/(2c), b/(2c^3), 3b/(2c^5).
  for (tilt in c(100, 711, 1e4, 1e50)) {
    expect_equal(polyagamma_cumulant(3, tilt, 1:3), c(3 / 2 / tilt, 3 / 2 / tilt^3, 9 / 2 / tilt^5), tolerance = 1e-14)
  }
  expect_equal(polyagamma_cumulant(1, c(2e-6, 1e-300), 2), c(1, 1) / 24, tolerance = 1e-12)
  expect_equal(polyagamma_cumulant(1, 1e-300), 0.25)
})

test_that("shape 1 without tilt agrees with the known series", {
  x <- c(0.12, 0.2, 0.25, 0.5, 1, 3, 10)
  k <- 0:40
  upper <- vapply(x, function(x) sum((-1)^k * 4 / (pi * (2 * k + 1)) * exp(-(2 * k + 1)^2 * pi^2 * x / 2)), numeric(1))
  density <- vapply(x, function(x) sum((-1)^k * 2 * pi * (2 * k + 1) * exp(-(2 * k + 1)^2 * pi^2 * x / 2)), numeric(1))
  expect_equal(ppolyagamma(x, lower.tail = FALSE), upper, tolerance = 1e-13)
  expect_equal(dpolyagamma(x), density, tolerance = 1e-13)
  expect_equal(ppolyagamma(x), 1 - upper, tolerance = 1e-13)
  # In the far tails, the leading terms.
  expect_equal(ppolyagamma(50, lower.tail = FALSE, log.p = TRUE), log(4 / pi) - 25 * pi^2, tolerance = 1e-14)
  expect_equal(dpolyagamma(1e-3, log = TRUE), -log(sqrt(2 * pi * 1e-9)) - 125, tolerance = 1e-14)
})

test_that("a tilt multiplies the density by an exponential", {
  x <- c(0.01, 0.1, 0.5, 2)
  for (shape in c(0.2, 1, 3.3)) {
    for (tilt in c(0.5, 3, 10)) {
      expect_equal(
        dpolyagamma(x, shape, tilt, log = TRUE),
        dpolyagamma(x, shape, log = TRUE) + shape * log(cosh(tilt / 2)) - tilt^2 * x / 2, tolerance = 1e-12
      )
    }
  }
})

test_that("densities convolve when shapes are added", {
  # The density of shape 0.7 + 1.6 is the convolution of two.
  for (x in c(0.2, 0.6, 1.5)) {
    sum <- integrate(function(y) dpolyagamma(y, 0.7) * dpolyagamma(x - y, 1.6), 0, x, rel.tol = 1e-9)$value
    expect_equal(dpolyagamma(x, 2.3), sum, tolerance = 1e-7)
  }
})

test_that("the density is the derivative of the probabilities and has the law's mean", {
  cases <- expand.grid(shape = c(0.004, 0.5, 1, 7.5, 40, 3e3), tilt = c(0, 0.01, 3, 25))
  for (i in seq_len(nrow(cases))) {
    b <- cases$shape[[i]]
    c <- cases$tilt[[i]]
    q <- qpolyagamma(c(0.1, 0.4, 0.8), b, c)
    h <- 1e-4 * pmin(q, sqrt(polyagamma_cumulant(b, c, 2)))
    slope <- (ppolyagamma(q + h, b, c) - ppolyagamma(q - h, b, c)) / (2 * h)
    expect_equal(slope, dpolyagamma(q, b, c), tolerance = 1e-6)
  }
})

test_that("quantiles invert probabilities in both tails", {
  log_p <- -c(1e-12, 0.01, 0.5, 1, 5, 50, 600)
  for (b in c(0.01, 1, 4.4, 300)) {
    for (c in c(0, 1, 30)) {
      for (lower in c(TRUE, FALSE)) {
        q <- qpolyagamma(log_p, b, c, lower.tail = lower, log.p = TRUE)
        expect_equal(ppolyagamma(q, b, c, lower.tail = lower, log.p = TRUE), log_p, tolerance = 1e-11)
        expect_true(all(diff(q) * (if (lower) -1 else 1) > 0))
      }
    }
  }
  expect_identical(qpolyagamma(c(0, 1)), c(0, Inf))
  expect_identical(qpolyagamma(c(0, 1), lower.tail = FALSE), c(Inf, 0))
  expect_equal(ppolyagamma(qpolyagamma(c(0.1, 0.9), 5, 2), 5, 2), c(0.1, 0.9))
})

test_that("the tails add up to one", {
  for (b in c(0.001, 0.3, 1, 20, 1e4, 1e6)) {
    for (c in c(0, 2, 40, 1e4)) {
      mean <- polyagamma_cumulant(b, c)
      x <- mean * exp(2 * asinh(c(-5, -1, 0, 1, 5) * sqrt(polyagamma_cumulant(b, c, 2)) / mean))
      p <- ppolyagamma(x, b, c)
      expect_equal(p + ppolyagamma(x, b, c, lower.tail = FALSE), rep(1, 5), tolerance = 1e-14)
      expect_true(all(diff(p) >= 0) && all(p >= 0 & p <= 1))
    }
  }
})

test_that("for large tilts the law is an inverse Gaussian", {
  b <- 3
  c <- 200
  x <- b / (2 * c) * c(0.8, 1, 1.3)
  r <- sqrt(b^2 / 4 / x)
  m <- b / (2 * c)
  expected <- pnorm(r * (x / m - 1)) + exp(b * c + pnorm(-r * (x / m + 1), log.p = TRUE))
  expect_equal(ppolyagamma(x, b, c), expected, tolerance = 1e-12)
})

test_that("values outside the law, missing values and recycling are as in R's own functions", {
  expect_identical(dpolyagamma(c(-1, 0, 5e-324, 1e-309, Inf)), numeric(5))
  expect_identical(dpolyagamma(c(-1, 0, 5e-324, 1e-309, Inf), log = TRUE), rep(-Inf, 5))
  expect_identical(ppolyagamma(c(-1, 0, Inf)), c(0, 0, 1))
  expect_identical(ppolyagamma(c(-1, 0, Inf), lower.tail = FALSE, log.p = TRUE), c(0, 0, -Inf))
  expect_identical(is.nan(dpolyagamma(c(NA, NaN, 1), c(1, 1, Inf))), c(FALSE, TRUE, TRUE))
  expect_identical(polyagamma_cumulant(c(2, 2, Inf, 2), c(Inf, -Inf, Inf, NA)), c(0, 0, NaN, NA))
  expect_identical(c(polyagamma_cumulant(1, Inf, 2), polyagamma_cumulant(1, Inf, 7)), c(0, 0))
  expect_identical(is.nan(qpolyagamma(0.5, 1, c(Inf, NaN))), c(TRUE, TRUE))
  expect_identical(polyagamma_cumulant(c(1, NA), 0), c(0.25, NA))
  expect_identical(dpolyagamma(1:6, 1:2, 1:3),
    vapply(1:6, function(i) dpolyagamma(i, (i - 1) %% 2 + 1, (i - 1) %% 3 + 1), 0)
  )
  expect_identical(dpolyagamma(1, numeric()), numeric())
  expect_identical(polyagamma_cumulant(numeric(), 1, 2), numeric())
  expect_identical(ppolyagamma(1e-200), 0)
  expect_true(ppolyagamma(1e-200, log.p = TRUE) < -1e198)
  expect_true(is.finite(dpolyagamma(1e-140, log = TRUE)))
  expect_identical(ppolyagamma(1e-140, lower.tail = FALSE), 1)
})

test_that("threads and backends give the same bits", {
  n <- if (on_emulator()) 60 else 400
  set.seed(5)
  x <- exp(rnorm(n, 0, 2))
  b <- exp(rnorm(n, 1, 2))
  c <- rnorm(n, 0, 5)
  p <- runif(n)
  for (f in list(dpolyagamma, ppolyagamma)) {
    expect_identical(f(x, b, c, threads = 2), f(x, b, c, backend = "cpu", threads = 1))
  }
  i <- seq_len(n / 10)
  expect_identical(qpolyagamma(p[i], b[i], c[i], threads = 2),
    qpolyagamma(p[i], b[i], c[i], backend = "cpu", threads = 1)
  )
})

test_that("messages name bad arguments", {
  expect_law_error(dpolyagamma("1"), "`x` must be a numeric vector")
  expect_law_error(ppolyagamma("1"), "`q` must be a numeric vector")
  expect_law_error(dpolyagamma(1, -1), "`shape` has the entry -1 at position 1: shapes are positive")
  expect_law_error(dpolyagamma(1, 1, "0"), "`tilt` must be a numeric vector")
  expect_law_error(dpolyagamma(1, log = NA), "`log` must be TRUE or FALSE")
  expect_law_error(ppolyagamma(1, lower.tail = 2), "`lower.tail` must be TRUE or FALSE")
  expect_law_error(ppolyagamma(1, log.p = 2), "`log.p` must be TRUE or FALSE")
  expect_law_error(qpolyagamma(1.5), "`p` has the entry 1.5: probabilities lie between 0 and 1")
  expect_law_error(qpolyagamma(1, log.p = TRUE), "logarithms of probabilities are at most 0")
  expect_law_error(polyagamma_cumulant(0), "shapes are positive")
  expect_law_error(polyagamma_cumulant("1", order = 2), "`shape` must be a numeric vector")
  expect_law_error(polyagamma_cumulant(1, 0, 1.5), "`order` has the entry 1.5: orders are whole numbers from 1 to 20")
  expect_law_error(polyagamma_cumulant(1, 0, 21), "orders are whole numbers from 1 to 20")
  expect_law_error(polyagamma_cumulant(1, 0, "2"), "`order` must be a numeric vector")
})

test_that("values far beyond the law's scale have the limits of the law", {
  expect_identical(dpolyagamma(c(1e200, 1e308), 1, 1, threads = 1), c(0, 0))
  # Far to the right the pole next to the origin decides: the log density is -x (pi^2 + c^2)/2.
  expect_equal(dpolyagamma(1e300, 3, 1, log = TRUE, threads = 1), -1e300 * (pi^2 + 1) / 2, tolerance = 1e-14)
  far <- c(1e59, 1e61)
  expect_equal(dpolyagamma(far, 3, 1, log = TRUE, threads = 1), -far * (pi^2 + 1) / 2, tolerance = 1e-14)
  expect_identical(ppolyagamma(c(1e300, 1e131), 1, 1, threads = 1), c(1, 1))
  expect_equal(polyagamma_cumulant(2, c(9.1e307, 1e160)), c(1 / 9.1e307, 1e-160), tolerance = 1e-14)
  expect_identical(polyagamma_cumulant(2, 9.1e307, 2), 0)
  input <- "warpbayes_error_input"
  expect_error(polyagamma_cumulant(), "`shape` is missing", class = input)
  expect_error(qpolyagamma(), "`p` is missing", class = input)
  expect_error(rpolyagamma(), "`n` is missing", class = input)
  expect_identical(tryCatch(dpolyagamma("a"), error = conditionCall), quote(dpolyagamma("a")))
})
