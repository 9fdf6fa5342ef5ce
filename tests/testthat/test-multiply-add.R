# The measured rate of multiply-adds.

test_that("both precisions have a plausible rate on every available backend", {
  backends <- c("cpu", if (warp_info()$cuda$available) "cuda")
  for (backend in backends) {
    for (precision in c("double", "single")) {
      rate <- warpbayes:::measure_multiply_add_rate(1, precision, backend)
      # From software fma to the fastest cards.
      expect_gt(rate, 1e6)
      expect_lt(rate, 1e15)
    }
  }
})

test_that("vector instructions count all multiply-adds", {
  skip_where_repeated()
  isa <- warp_info()$isa
  skip_if_not(isa %in% c("avx2", "avx512"))
  # A processor with AVX2 does 1e10 to 1e11 in a second, in at most 1e9 rounds of the loop.
  expect_gt(warpbayes:::measure_multiply_add_rate(1, "single", "cpu"), 3e9)
})

test_that("a precision that does not exist is refused", {
  expect_error(warpbayes:::measure_multiply_add_rate(1, "half"), "`precision`", class = "warpbayes_error_input")
})

test_that("the bus to a device has a plausible rate, and a processor has none", {
  expect_error(warpbayes:::measure_bus_rate("cpu"),
    "the CPU backend has no bus to a device", class = "warpbayes_error_backend"
  )
  expect_null(.Call(C_backend_release, resolve_run("cpu")))
  skip_if_not(warp_info()$cuda$available)
  rate <- warpbayes:::measure_bus_rate("cuda")
  expect_named(rate, c("to_device", "from_device"))
  expect_true(all(rate > 1e7 & rate < 1e14))
})
