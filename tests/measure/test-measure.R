# Tests that the measured functions compute what the package computes, on the processor and on the card or the emulator.

here <- Sys.getenv("WARPBAYES_MEASURE_SOURCE")
source(file.path(here, "measure.R"))
source(file.path(here, "../testthat/helper-categorical.R"))

backends <- c("cpu", if (warp_info()$cuda$available) "cuda")

test_that("neither the lanes of a row nor the way through a tree changes what is drawn", {
  skip_if_not("cuda" %in% backends)
  set.seed(11)
  for (size in list(c(1, 1), c(33, 70), c(5, 1100), c(3, 2100))) {
    x <- matrix(rexp(prod(size)), size[[1L]])
    x[, 1L] <- 0
    x[, size[[2L]]] <- 1
    for (precision in c("double", "single")) {
      measure <- function(x, ...) measure_categorical(x, precision, ..., times = 2, backend = "cuda")
      by_rows <- rcategorical(x, seed = 1, threads = 2, precision = precision, backend = "cpu")
      for (lanes in c(0, 1, 4, 32)) {
        measured <- measure(x, lanes = lanes)
        expect_identical(measured$index, by_rows)
        expect_gte(measured$seconds, 0)
      }
      by_trees <- measure_categorical(t(x), precision, "butterfly", backend = "cpu")$index
      for (way in categorical_ways) {
        expect_identical(measure(t(x), way = way)$index, by_trees)
      }
    }
  }
})

test_that("draws by trees follow the weights", {
  for (count in c(1, 31, 32, 33, 100, 1100)) {
    # Weights are zero at the borders of trees and grow between them.
    weights <- replace(seq_len(count), unique(c(seq(1, count, 31), max(1, count - 1))), 0)
    weights[[count]] <- count
    for (precision in c("double", "single")) {
      drawn <- measure_categorical(matrix(weights, count, 10000), precision, "butterfly", backend = "cpu")
      expect_law(drawn$index, weights)
    }
  }
})

test_that("a part of a direct sum is that part of the whole", {
  set.seed(1)
  x <- runif(2000)
  y <- runif(2500)
  for (backend in backends) {
    whole <- convolve_pmf(x, y, accuracy = 0, threads = 2, backend = backend)
    parts <- lapply(c(0, 1000, 4096), function(first) {
      direct_sum(x, y, first, min(1000, 4499 - first), backend = backend)
    })
    expect_identical(parts, list(whole[1:1000], whole[1001:2000], whole[4097:4499]))
  }
})

test_that("rates and times are plausible", {
  for (backend in backends) {
    rate <- measure_read_rate(2, backend)
    # The emulator reads little on a busy machine.
    expect_gt(rate, if (backend == "cuda") 1e5 else 1e7)
    expect_lt(rate, 1e14)
  }
  for (backend in backends) {
    for (precision in c("double", "single")) {
      rate <- measure_multiply_add_rate(1, precision, backend)
      # From software fma to the fastest cards.
      expect_gt(rate, 1e6)
      expect_lt(rate, 1e15)
    }
  }
  # A processor with AVX2 does 1e10 to 1e11 in a second, in at most 1e9 rounds of the loop.
  if (warp_info()$isa %in% c("avx2", "avx512")) expect_gt(measure_multiply_add_rate(1, "single", "cpu"), 3e9)
  skip_if_not("cuda" %in% backends)
  bus <- measure_bus_rate()
  expect_named(bus, c("to_device", "from_device"))
  expect_true(all(bus > 1e7 & bus < 1e14))
  times <- c(
    vapply(c(1, 4.5, 200), function(shape) measure_polyagamma(300, shape, 2, times = 2), 0),
    vapply(c("skew", "tiled"), function(kernel) measure_convolution(20, 32, kernel, times = 2), 0)
  )
  expect_true(all(times > 0 & times < 100))
})
