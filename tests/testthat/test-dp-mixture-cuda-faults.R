# On the emulator, every CUDA runtime call of a mixture session fails in turn: R gets an error with a message, nothing
# stays allocated, and the processor still works.

with_memory <- function(limit, code) {
  old <- options(warpbayes.device_memory = limit)
  on.exit(options(old))
  force(code)
}

set.seed(4)
rows <- matrix(rnorm(2 * (2048 + 5)), ncol = 2)

# Opens a session, sweeps and predicts. Returns the results or the error.
session <- function(backend) {
  run <- function() {
    k <- 5
    pointer <- native(C_mixture_open, rows, c(0, 0), c(1, 1), 0L, TRUE, resolve_run(backend, 2))
    on.exit(.Call(C_session_close, pointer))
    key <- .Call(C_chain_key, 3, 1L)
    swept <- run_sweeps(pointer, learned_prior(2), numeric(k * statistics_size(2)), 2, key, 2, moves = TRUE)
    list(swept, native(
      C_mixture_evaluate, pointer, rep(1 / k, k), rows[1:5, ], array(diag(2), c(2, 2, k)), c(0, 0), c(1, 1),
      100, 1950, c(TRUE, TRUE, TRUE)
    ))
  }
  tryCatch(run(), warpbayes_error = identity)
}

test_that("a failure of any CUDA call gives an error with a message and leaves nothing behind", {
  cuda <- emulator()
  before <- rows + 0
  expected <- session("cpu")
  # All rows on the device, and rows in chunks.
  for (limit in c(0, 150000)) {
    with_memory(limit, quietly({
      start <- cuda$calls()
      expect_identical(session("cuda"), expected)
      calls <- cuda$calls() - start
      expect_gt(calls, 50)
      expect_identical(cuda$usage(), c(device = 0, pinned = 0, handles = 0))
      # In fifteen days every call fails once for lack of memory. Other errors use the same code for cleaning up, and
      # chunks only repeat the calls: each of these has its day, on which every third call fails in five turns.
      others <- if (limit > 0) c("memory", "kernel") else setdiff(names(cuda_errors), "memory")
      if (!full_run()) others <- others[test_part %% length(others) + 1L]
      for (error in union(if (limit == 0) "memory", others)) {
        first <- if (error == "memory") as.integer(Sys.Date()) %/% 5L %% 3L else 0L
        at <- todays(if (full_run()) seq_len(calls) else seq(1L + first, calls, by = 3L))
        # Failures while the session is closed are not reported. Without memory for all rows, rows go in chunks.
        failures <- count_failures(cuda, function() session("cuda"), at, error, expected, sprintf("limit %g", limit))
        expect_gt(failures, length(at) / 4)
      }
    }))
  }
  expect_identical(session("cuda"), expected)
  expect_identical(session("cpu"), expected)
  expect_identical(rows, before)
})

test_that("a fit that fails in its first sweep ends with an error, and the CPU still works", {
  cuda <- emulator()
  fit <- function(backend) dp_mixture(rows, components = 4, iter = 5, seed = 1, threads = 2, backend = backend)
  reference <- fit("cpu")
  quietly({
    start <- cuda$calls()
    fit("cuda")
    calls <- cuda$calls() - start
    # The failures are before the first sweep ends. A failure to return to the caller's device is not reported, and a
    # failed query does not lose the device. Then one of the next calls is made to fail.
    for (at in calls %/% 8 + 0:5) {
      cuda$reset()
      cuda$fail(at, 719)
      failed <- tryCatch(fit("cuda"), error = identity)
      again <- tryCatch(fit("cuda"), error = identity)
      if (inherits(failed, "error") && inherits(again, "error")) break
    }
    # The device stays lost. The processor still works.
    for (failure in list(failed, again)) {
      expect_s3_class(failure, "warpbayes_error_device")
      expect_match(conditionMessage(failure), "CUDA says \"unspecified launch failure\"", fixed = TRUE)
    }
    expect_identical(fit("cpu")$draws, reference$draws)
    cuda$reset()
  })
  expect_identical(cuda$usage(), c(device = 0, pinned = 0, handles = 0))
  expect_identical(fit("cuda")$draws, reference$draws)
})

test_that("device memory stays within the limit", {
  cuda <- emulator()
  x <- matrix(rnorm(6 * 24 * 2048), ncol = 6)
  use <- function(k, limit) {
    with_memory(limit, {
      pointer <- native(C_mixture_open, x, numeric(6), rep(1, 6), 0L, FALSE, resolve_run("cuda", 1))
      on.exit(.Call(C_session_close, pointer))
      opened <- cuda$usage()[["device"]]
      run_sweeps(pointer, sampler_prior(6), numeric(k * statistics_size(6)), 2, .Call(C_chain_key, 3, 1L), 6,
        keep = FALSE
      )
      c(opened = opened, swept = cuda$usage()[["device"]])
    })
  }
  bytes <- 8 * length(x)
  # The rows and two numbers for each column.
  expect_identical(use(3, 0)[["opened"]], bytes + 96)
  for (limit in bytes * c(0.2, 0.3, 0.8, 1.09, 1.2, 2)) {
    used <- use(3, limit)
    expect_lte(used[["swept"]], limit)
    expect_identical(used[["opened"]] > bytes, limit > bytes * (1 + 1 / 12) + 96)
  }
  # The memory of the card itself is too small.
  on.exit(cuda$memory(0))
  cuda$memory(bytes * 0.7)
  expect_lte(use(3, 0)[["swept"]], bytes * 0.7)
  cuda$memory(100000)
  expect_error(use(3, 0),
    "MB of device memory are needed at least for 3 components in 6 columns, but 0\\.[0-9]* MB can be used",
    class = "warpbayes_error_memory"
  )
})

test_that("for larger data a sweep takes less than a tenth of the memory of the data", {
  skip_if(!full_run(), "long: 400 MB on the emulator")
  cuda <- emulator()
  for (precision in 0:1) {
    p <- 10L * (precision + 1L)
    x <- matrix(rnorm(p), 128 * 20 * 2048, p, byrow = TRUE)
    bytes <- length(x) * (if (precision) 4 else 8)
    pointer <- native(C_mixture_open, x, numeric(p), rep(1, p), precision, FALSE, resolve_run("cuda", 1))
    for (k in c(2, 100)) {
      run_sweeps(pointer, sampler_prior(p), numeric(k * statistics_size(p)), 2, .Call(C_chain_key, 3, 1L), p,
        keep = FALSE
      )
      expect_gt(cuda$usage()[["device"]], bytes)
      expect_lt(cuda$usage()[["device"]], 1.1 * bytes)
    }
    .Call(C_session_close, pointer)
  }
})

test_that("a missing device is an error that says so", {
  cuda <- emulator()
  run <- resolve_run("cuda", 1)
  run$device <- 7L
  expect_error(quietly(native(C_mixture_open, rows, c(0, 0), c(1, 1), 0L, FALSE, run)),
    "choosing device 7: CUDA says \"invalid device ordinal\"",
    class = "warpbayes_error_backend"
  )
})

test_that("a forked child cannot use the parent's session and gets an error that says so", {
  skip_on_os("windows")
  skip_if(sanitized(), "no forks under sanitizers")
  cuda <- emulator()
  pointer <- native(C_mixture_open, rows, c(0, 0), c(1, 1), 0L, FALSE, resolve_run("cuda", 1))
  on.exit(.Call(C_session_close, pointer))
  said <- parallel::mclapply(1:2, function(i) {
    c(
      tryCatch(run_sweeps(
        pointer, sampler_prior(2), numeric(5 * statistics_size(2)), 2, .Call(C_chain_key, 3, 1L), 2, keep = FALSE
      ), warpbayes_error_backend = conditionMessage),
      # Closing the session in the child, or the end of the child, does not disturb the parent's session.
      tryCatch({
        .Call(C_session_close, pointer)
        "closed"
      }, error = conditionMessage)
    )
  }, mc.cores = 2)
  for (child in said) {
    expect_identical(child, c("CUDA was used before this process was forked and does not work in the child", "closed"))
  }
  expect_identical(native(
    C_mixture_evaluate, pointer, 1, rows[1, , drop = FALSE], array(diag(2), c(2, 2, 1)), c(0, 0), c(1, 1), 0, 10,
    c(TRUE, FALSE, FALSE)
  )$class, rep(1L, 10))
})
