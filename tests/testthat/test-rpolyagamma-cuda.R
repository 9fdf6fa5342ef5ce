# Draws, weights and sums travel between R and a graphics card in pieces, through a few slots of page-locked memory. The
# emulator has slots of 16 KB, so that small vectors take several turns.

# Calls whose vectors of n numbers travel in one piece, in part of a slot, in several slots, or in more turns than there
# are slots.
copied <- function(backend, threads, n) {
  set.seed(n)
  tilt <- rnorm(n)
  weights <- matrix(rexp(7 * n), n)
  few <- matrix(rexp(21), 3)
  sparse <- methods::as(weights * (weights > 0.5) + (col(weights) == 1), "CsparseMatrix")
  list(
    alike = rpolyagamma(n, 1, 2, seed = 1, backend = backend, threads = threads),
    own = rpolyagamma(n, 1, tilt, seed = 1, backend = backend, threads = threads),
    recycled = rpolyagamma(n, c(1, 0.3, 20), tilt[seq_len((n + 1) %/% 2)], seed = 1, backend = backend,
      threads = threads),
    density = dpolyagamma(rexp(min(n, 3000)), 1, 1, backend = backend, threads = threads),
    items = rcategorical(weights, seed = 1, backend = backend, threads = threads),
    more = rcategorical(weights, 4, seed = 1, backend = backend, threads = threads),
    narrow = rcategorical(weights, seed = 1, backend = backend, threads = threads, precision = "single"),
    one = rcategorical(few[1, ], n, seed = 1, backend = backend, threads = threads),
    few = rcategorical(few, n, seed = 1, backend = backend, threads = threads),
    sparse = rcategorical(sparse, 2, seed = 1, backend = backend, threads = threads),
    sums = convolve_pmf(weights, weights, log = FALSE, accuracy = 0, backend = backend, threads = threads)
  )
}

test_that("copies of any size, by any number of threads, bring the processor's numbers", {
  skip_without_cuda()
  skip_if_not_installed("Matrix")
  for (n in c(1, 128, 129, 2049, 9000)) {
    expected <- copied("cpu", 2, n)
    for (threads in if (n == 9000) c(1, 2, 5) else 2) {
      found <- copied("cuda", threads, n)
      for (name in setdiff(names(expected), "sums")) {
        expect_identical(found[[name]], expected[[name]], label = paste(name, n, threads))
      }
      expect_equal(found$sums, expected$sums, tolerance = 1e-13)
    }
  }
})

test_that("copies and kernels wait for each other", {
  cuda <- emulator()
  old <- Sys.getenv("WB_EMULATOR_DEFER", NA)
  on.exit(if (is.na(old)) Sys.unsetenv("WB_EMULATOR_DEFER") else Sys.setenv(WB_EMULATOR_DEFER = old))
  expected <- copied("cuda", 2, 5000)
  for (defer in c("1", "kernels")) {
    Sys.setenv(WB_EMULATOR_DEFER = defer)
    expect_identical(copied("cuda", 2, 5000), expected)
  }
  expect_identical(cuda$usage(), c(device = 0, pinned = 0, handles = 0))
})

test_that("with little device memory the draws are the same", {
  skip_without_cuda()
  expected <- rpolyagamma(9000, 1, 2, seed = 1, backend = "cpu", threads = 2)
  for (limit in c(60000, 200000)) {
    with_options(list(warpbayes.device_memory = limit), {
      expect_identical(rpolyagamma(9000, 1, 2, seed = 1, backend = "cuda", threads = 2), expected)
    })
  }
})

test_that("a failure of any CUDA call gives an error with a message and leaves nothing behind", {
  cuda <- emulator()
  tilt <- seq(-3, 3, length.out = 5000)
  calls_of <- list(
    alike = function(backend) rpolyagamma(9000, 1, 2, seed = 1, threads = 2, backend = backend),
    own = function(backend) rpolyagamma(5000, 1, tilt, seed = 1, threads = 2, backend = backend)
  )
  quietly(for (name in names(calls_of)) {
    run <- function(backend) tryCatch(calls_of[[name]](backend), warpbayes_error = identity)
    expected <- run("cpu")
    start <- cuda$calls()
    expect_identical(run("cuda"), expected)
    calls <- cuda$calls() - start
    expect_gt(calls, 30)
    for (error in c("memory", "kernel")) {
      at <- todays(seq(1, calls, by = if (full_run() || error == "memory") 1 else 3))
      failures <- count_failures(cuda, function() run("cuda"), at, error, expected, name)
      expect_gt(failures, length(at) / 4)
    }
    expect_identical(run("cuda"), expected)
  })
})
