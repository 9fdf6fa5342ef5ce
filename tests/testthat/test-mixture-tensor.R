# Squared distances and sums of rows by tensor cores (src/cuda/mixture/draw_tensor.cuh, sums_tensor.cu): the same fits
# as without them and on the processor.

fit_on <- function(backend, n, p, k, ...) {
  set.seed(n + p + k)
  x <- matrix(rnorm(n * p), n) + rnorm(5, sd = 2)[sample(5, n, TRUE)]
  dp_mixture(x, k,
    iter = 2, warmup = 0, keep = c("weights", "means", "labels"), init = sample(k, n, TRUE), seed = 1, backend = backend,
    progress = FALSE, ...
  )
}

parts <- function(fit) fit[c("weights", "means", "labels", "log_likelihood")]

test_that("a card with tensor cores, one without and the processor draw the same", {
  cuda <- emulator()
  on.exit(cuda$capability(9, 0))
  # Columns on both sides of a multiple of four, up to the most and past it; components on both sides of sixteen; rows
  # that fill no block.
  for (case in list(
    c(130, 3, 16), c(129, 4, 32), c(127, 5, 33), c(2, 8, 16), c(300, 14, 21), c(65, 16, 17), c(64, 17, 48), c(33, 29, 16),
    c(70, 45, 31), c(40, 48, 16), c(40, 49, 16)
  )) {
    reference <- parts(fit_on("cpu", case[[1L]], case[[2L]], case[[3L]]))
    for (major in c(8, 9)) {
      cuda$capability(major, 0)
      expect_identical(parts(fit_on("cuda", case[[1L]], case[[2L]], case[[3L]])), reference, label = toString(c(case, major)))
    }
  }
})

test_that("samples that share components, missing values and several leaves are drawn by them too", {
  cuda <- emulator()
  on.exit(cuda$capability(9, 0))
  set.seed(3)
  x <- matrix(rnorm(4300 * 6), ncol = 6) + rnorm(5, sd = 2)[sample(5, 4300, TRUE)]
  holes <- x
  holes[cbind(sample(4300, 300), sample(6, 300, TRUE))] <- NA
  fit <- function(backend, data, ...) {
    parts(dp_mixture(data, 20, iter = 2, warmup = 0, keep = c("weights", "means", "labels"), seed = 1, backend = backend, progress = FALSE, ...))
  }
  sample <- rep(c("a", "b", "c"), length.out = 4300)
  for (major in c(8, 9)) {
    cuda$capability(major, 0)
    expect_identical(fit("cuda", x, sample = sample), fit("cpu", x, sample = sample))
    expect_identical(fit("cuda", holes, missing = "model"), fit("cpu", holes, missing = "model"))
  }
})

test_that("sums of several leaves at a time are the processor's", {
  skip_on_sanitized_emulator()
  cuda <- emulator()
  fit <- function(backend, n, p, k, precision) {
    set.seed(n + p)
    x <- matrix(rnorm(n * p), n)
    # Components of no rows, of few and of many.
    init <- pmin(sample(k, n, TRUE), sample(c(1L, 5L, k), n, TRUE))
    parts(dp_mixture(x, k,
      iter = 1, warmup = 0, keep = c("weights", "means"), init = init, seed = 1, backend = backend, moves = FALSE,
      precision = precision, progress = FALSE
    ))
  }
  # All numbers of leaves in a node, all numbers of values over eight, the most columns and one more.
  for (case in list(c(2300, 3, 64), c(4200, 7, 70), c(6150, 8, 65), c(8200, 16, 64), c(8300, 24, 64), c(4100, 33, 64), c(4100, 47, 64), c(2100, 48, 64))) {
    for (precision in c("double", "single")) {
      expect_identical(
        fit("cuda", case[[1L]], case[[2L]], case[[3L]], precision), fit("cpu", case[[1L]], case[[2L]], case[[3L]], precision),
        label = toString(c(case, precision))
      )
    }
  }
  # Several groups of the tree in a launch, and memory for a few leaves of a group only.
  expect_identical(fit("cuda", 66 * 2048 - 5, 1, 64, "double"), fit("cpu", 66 * 2048 - 5, 1, 64, "double"))
  previous <- options(warpbayes.device_memory = 1.2e6)
  on.exit(options(previous))
  expect_identical(fit("cuda", 9 * 2048 + 3, 2, 70, "double"), fit("cpu", 9 * 2048 + 3, 2, 70, "double"))
})
