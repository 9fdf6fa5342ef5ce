# Many pairs of short vectors. Their weights are checked while they are convolved, and a graphics card takes them in
# chunks.

with_device_memory <- function(bytes, code) {
  old <- options(warpbayes.device_memory = bytes)
  on.exit(options(old))
  force(code)
}

test_that("pairs in chunks give the same results as pairs one by one", {
  for (size in list(c(3, 5), c(33, 20), c(70, 120))) {
    x <- matrix(random_factor(101 * size[[1L]], 1), 101)
    y <- matrix(random_factor(101 * size[[2L]], 2), 101)
    pair <- function(i, j) convolve_pmf(x[i, ], y[j, ], backend = "cpu", threads = 2)
    expected <- t(vapply(1:101, function(i) pair(i, i), numeric(sum(size) - 1)))
    shared <- t(vapply(1:101, function(i) pair(1L, i), numeric(sum(size) - 1)))
    # All at once, in many chunks, and in pieces, where memory does not hold one pair in each slot.
    for (limit in c(0, 60000, (sum(size) + 1100) * 80 / 9)) {
      with_device_memory(limit, {
        expect_identical(convolve_pmf(x, y, threads = 2), expected)
        expect_identical(convolve_pmf(x[1L, , drop = FALSE], y, threads = 2), shared)
        expect_identical(convolve_pmf(y, x[1L, ], threads = 2), shared)
      })
    }
  }
})

test_that("weights that cannot be used are found in any pair", {
  good <- matrix(random_factor(75 * 9, 3), 75)
  for (columns in c(9, 1)) {
    other <- good[, seq_len(columns), drop = FALSE]
    for (row in c(1, 8, 75)) {
      for (bad in if (row == 8) c(NaN, Inf, -1, -1e-320) else NaN) {
        x <- other
        x[row, columns] <- bad
        words <- sprintf("`x`.*row %d", row)
        expect_error(convolve_pmf(x, good, threads = 2), words, class = "warpbayes_error_input")
        expect_error(convolve_pmf(good, x, threads = 2), sprintf("`y`.*row %d", row), class = "warpbayes_error_input")
      }
      x <- other
      x[row, ] <- 0
      expect_error(convolve_pmf(x, good, threads = 2), sprintf("`x`.*row %d", row), class = "warpbayes_error_input")
      x[row, columns] <- 5e-324
      expect_silent(convolve_pmf(x, good, threads = 2))
    }
  }
  # Vectors that one thread gathers, and one vector for all pairs.
  long <- matrix(1, 3, 2000)
  long[2L, 1999L] <- -1
  expect_error(convolve_pmf(long, long, accuracy = 0, threads = 2), "`x`.*row 2", class = "warpbayes_error_input")
  expect_error(convolve_pmf(good, c(1, NaN), threads = 2), "`y`", class = "warpbayes_error_input")
  expect_identical(convolve_pmf(cbind(good, -0), good, threads = 2), convolve_pmf(cbind(good, 0), good, threads = 2))
  with_device_memory(20000,
    expect_error(convolve_pmf(good, cbind(good[, 1:3], c(rep(1, 74), -1)), threads = 2), "`y`.*row 75")
  )
})

test_that("a sum above the largest double is an error in pairs too", {
  x <- matrix(1, 20, 4)
  x[17L, 2L] <- 1e200
  expect_identical(max(convolve_pmf(x, matrix(1, 20, 4), threads = 2)), 1e200 + 3)
  expect_error(convolve_pmf(x, x, threads = 2), "the result has weights above 1.8e308", class = "warpbayes_error_input")
})

test_that("a failure of any CUDA call gives an error with a message and leaves nothing behind", {
  cuda <- emulator()
  # The pairs are so long that they are not tried again with other checks.
  x <- matrix(random_factor(51 * 40, 1), 51)
  expect_gt(length(x)^2, short_work)
  sums <- function(backend) tryCatch(convolve_pmf(x, x, backend = backend, threads = 2), warpbayes_error = identity)
  expected <- sums("cpu")
  quietly(for (limit in c(0, 60000)) {
    with_device_memory(limit, {
      cuda$usage()
      start <- cuda$calls()
      expect_identical(sums("cuda"), expected)
      calls <- cuda$calls() - start
      expect_gt(calls, 10)
      # In five days all calls if the pairs go at once, and some of the calls if they go in many chunks.
      at <- todays(seq(1, calls, by = if (limit > 0) 3 else 1))
      for (error in names(cuda_errors)[if (limit > 0) c(1, 3) else 1:4]) {
        failures <- count_failures(cuda, function() sums("cuda"), at, error, expected, sprintf("limit %g", limit))
        expect_gt(failures, length(at) / 4)
      }
    })
  })
  expect_identical(sums("cuda"), expected)
})
