# The measured multiply-add rate.

test_that("both precisions have a plausible rate on every backend that is there", {
  backends <- c("cpu", if (warp_info()$cuda$available) "cuda")
  for (backend in backends) {
    for (precision in c("double", "single")) {
      rate <- warpbayes:::measure_multiply_add_rate(1, precision, backend)
      # From software fma to the fastest of cards.
      expect_gt(rate, 1e6)
      expect_lt(rate, 1e15)
    }
  }
})

test_that("a precision that does not exist is refused", {
  expect_error(warpbayes:::measure_multiply_add_rate(1, "half"), "`precision`", class = "warpbayes_error_input")
})
