# On the emulator, every CUDA runtime call of a categorical draw fails in turn: R gets an error with a message, nothing
# stays allocated, and the next call works.

test_that("a failure of any CUDA call gives an error with a message and leaves nothing behind", {
  skip_if_not_installed("Matrix")
  cuda <- emulator()
  set.seed(1)
  x <- matrix(rexp(60 * 40), 60)
  sparse <- methods::as(x * (x > 0.5), "CsparseMatrix")
  calls_of <- list(
    double = function(backend) rcategorical(x, 3, seed = 1, threads = 2, backend = backend),
    single = function(backend) rcategorical(x, 3, seed = 1, threads = 2, backend = backend, precision = "single"),
    sparse = function(backend) rcategorical(sparse, 3, seed = 1, threads = 2, backend = backend)
  )
  quietly(for (name in names(calls_of)) {
    run <- function(backend) tryCatch(calls_of[[name]](backend), warpbayes_error = identity)
    expected <- run("cpu")
    start <- cuda$calls()
    expect_identical(run("cuda"), expected)
    calls <- cuda$calls() - start
    # In five days each call of a plain draw without memory, and some calls of what has most calls in common with it.
    for (error in c("memory", "kernel")) {
      step <- if (full_run() || name == "double" && error == "memory") 1 else 3
      at <- todays(seq(1, min(calls, 60), by = step))
      failures <- count_failures(cuda, function() run("cuda"), at, error, expected, name)
      expect_gt(failures, length(at) / 4)
    }
    expect_identical(run("cuda"), expected)
  })
})
