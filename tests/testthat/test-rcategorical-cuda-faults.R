# Every call of the CUDA runtime that a categorical draw makes fails in turn, on the
# emulator: an R error in words, nothing left behind, and the next call works.

test_that("a failure of any CUDA call is an error in words that leaves nothing behind", {
  skip_if_not_installed("Matrix")
  cuda <- emulator()
  set.seed(1)
  x <- matrix(rexp(60 * 40), 60)
  sparse <- methods::as(x * (x > 0.5), "CsparseMatrix")
  calls_of <- list(
    double = function(backend) rcategorical(x, 3, seed = 1, threads = 2, backend = backend),
    single = function(backend) rcategorical(x, 3, seed = 1, threads = 2, backend = backend, precision = "single"),
    sparse = function(backend) rcategorical(sparse, 3, seed = 1, threads = 2, backend = backend),
    trees = function(backend) warpbayes:::measure_categorical(x, way = "butterfly", backend = backend, threads = 2)$index,
    pass = function(backend) warpbayes:::measure_categorical(x, lanes = 4, backend = backend, threads = 2)$index,
    read = function(backend) warpbayes:::measure_read_rate(2, backend) > 0,
    bus = function(backend) backend == "cpu" || all(warpbayes:::measure_bus_rate(backend) > 0)
  )
  errors <- c(memory = 2, kernel = 719)
  words <- c(memory = "out of memory", kernel = "unspecified launch failure")
  quietly(for (name in names(calls_of)) {
    run <- function(backend) tryCatch(calls_of[[name]](backend), warpbayes_error = identity)
    expected <- run("cpu")
    start <- cuda$calls()
    expect_identical(run("cuda"), expected)
    calls <- cuda$calls() - start
    for (error in names(errors)) {
      failures <- 0
      for (at in seq_len(min(calls, 60))) {
        cuda$fail(at, errors[[error]])
        result <- run("cuda")
        usage <- cuda$usage()
        cuda$reset()
        where <- sprintf("%s, %s at call %d of %d", name, error, at, calls)
        expect_identical(usage, c(device = 0, pinned = 0, handles = 0), label = where)
        if (inherits(result, "error")) {
          failures <- failures + 1
          expect_match(conditionMessage(result), paste0(": CUDA says \"", words[[error]]), label = where)
          expect_s3_class(result, if (error == "memory") "warpbayes_error_memory" else "warpbayes_error_device")
        } else {
          # Freeing memory may fail unheard.
          expect_identical(result, expected, label = where)
        }
      }
      expect_gt(failures, min(calls, 60) / 3)
    }
    expect_identical(run("cuda"), expected)
  })
})
