# Rows that do not fit on a graphics card: some stay there, and the others are streamed in every pass. Each way of
# streaming must give bit for bit the result of the processor.

stream_rows <- clustered(2048 * 9 - 5, 2, 8)

# Limits with room for some of the leaves, in chunks of one leaf or a few, and for none.
stream_limits <- list(double = c(2.6e5, 3.2e5, 2.1e5), single = c(2.1e5, 2.3e5, 1.9e5))

# The sources of streamed rows: a copy in single precision, the matrix page-locked in place, or buffers.
stream_ways <- list(double = c("locked", "staged"), single = c("packed", "locked", "staged"))

# A session with or without a `limit` of device memory: three sweeps, the second with moves, and predictions. `pinned`
# is the page-locked host memory in use after the first sweep.
stream_session <- function(backend, precision = "double", limit = 0, way = "locked", x = stream_rows, devices = NULL,
                           moves = TRUE, cuda = NULL) {
  p <- ncol(x)
  k <- 6
  with_options(list(warpbayes.device_memory = limit), {
    run <- resolve_run(backend, 2, devices = devices)
    run$host_memory <- if (way == "packed") 1e9 else 0
    if (way == "staged") {
      Sys.setenv(WB_EMULATOR_UNLOCKABLE = "1")
      on.exit(Sys.unsetenv("WB_EMULATOR_UNLOCKABLE"))
    }
    session <- native(C_mixture_open, x, numeric(p), rep(1, p), as.integer(precision == "single"), moves, run)
    on.exit(.Call(C_session_close, session), add = TRUE)
    key <- .Call(C_chain_key, 3, 1L)
    prior <- sampler_prior(p)
    sweep <- function(statistics, iteration, moves) {
      run_sweeps(session, prior, statistics, 2, key, p, iteration, moves = moves)
    }
    one <- sweep(numeric(k * statistics_size(p)), 1, FALSE)
    pinned <- if (!is.null(cuda)) cuda$usage()[["pinned"]]
    two <- sweep(one$statistics, 2, moves)
    evaluated <- native(
      C_mixture_evaluate, session, rep(1 / k, k), x[1:6 * 9, ], array(diag(p), c(p, p, k)), numeric(p), rep(1, p),
      3000, nrow(x) - 5000, c(TRUE, TRUE, TRUE)
    )
    list(result = list(one, two, sweep(two$statistics, 3, FALSE), evaluated), pinned = pinned)
  })
}

same_result <- function(one, other, label) {
  for (part in seq_along(other$result)) {
    for (name in names(other$result[[part]])) {
      expect_identical(one$result[[part]][[name]], other$result[[part]][[name]], label = paste(label, part, name))
    }
  }
}

test_that("streamed rows give the same result as resident rows, in each way", {
  skip_without_cuda()
  for (precision in c("double", "single")) {
    whole <- stream_session("cpu", precision)
    limits <- stream_limits[[precision]]
    for (way in stream_ways[[precision]]) {
      for (limit in if (way == "locked") limits else limits[[1L]]) {
        same_result(stream_session("cuda", precision, limit, way), whole, paste(precision, limit, way))
      }
    }
  }
})

test_that("rows are streamed from a copy in single precision, and from the matrix in double", {
  cuda <- emulator()
  bytes <- 8 * length(stream_rows)
  pinned <- function(precision, limit, way) {
    stream_session("cuda", precision, limit, way, moves = FALSE, cuda = cuda)$pinned
  }
  without <- pinned("double", 0, "locked")
  # The copy starts at a multiple of 64 leaves, here the first leaf. Its last leaf is padded.
  expect_identical(pinned("single", 2.1e5, "packed") - pinned("single", 0, "packed"), 9 * 2048 * 2 * 4)
  expect_identical(pinned("double", 2.6e5, "packed") - without, bytes)
  expect_identical(pinned("single", 2.1e5, "locked") - pinned("single", 0, "locked"), bytes)
  # Two buffers of all leaves, because these take less than 16 MB.
  expect_identical(pinned("double", 2.6e5, "staged") - without, 2 * 9 * 2048 * 2 * 8)
  expect_identical(cuda$usage(), c(device = 0, pinned = 0, handles = 0))
})

test_that("in large data, leaves that stay and leaves that travel take turns", {
  skip_without_cuda()
  skip_if(!extended(), "long: two million cells on the emulator")
  # 1,030 leaves. About 400 stay, in three spans.
  x <- matrix(seq(-2, 2, length.out = 2048 * 1030 - 7)^3)
  limits <- list(double = c(locked = 14e6), single = c(packed = 8e6, locked = 8e6))
  for (precision in names(limits)) {
    whole <- stream_session("cpu", precision, x = x, moves = FALSE)
    for (way in names(limits[[precision]])) {
      one <- stream_session("cuda", precision, limits[[precision]][[way]], way, x, moves = FALSE)
      same_result(one, whole, paste(precision, way))
    }
  }
})

test_that("copies and kernels wait for each other", {
  cuda <- emulator()
  old <- Sys.getenv("WB_EMULATOR_DEFER", NA)
  on.exit(if (is.na(old)) Sys.unsetenv("WB_EMULATOR_DEFER") else Sys.setenv(WB_EMULATOR_DEFER = old))
  for (precision in c("double", "single")) {
    whole <- stream_session("cpu", precision)
    # Work is done as late as events allow, then copies as early as events allow.
    for (defer in c("1", "kernels")) {
      Sys.setenv(WB_EMULATOR_DEFER = defer)
      for (way in stream_ways[[precision]]) {
        same_result(stream_session("cuda", precision, stream_limits[[precision]][[1L]], way), whole,
          paste(precision, defer, way)
        )
      }
    }
  }
})

test_that("each of several cards streams its own rows", {
  for (precision in c("double", "single")) {
    whole <- stream_session("cpu", precision)
    # Each card has half of the rows. In single precision they fit, except for the copy's chunks.
    limit <- c(double = 1.9e5, single = 1.4e5)[[precision]]
    with_devices(2, for (way in if (precision == "double") stream_ways$double else "packed") {
      same_result(stream_session("cuda", precision, limit, way, devices = 0:1), whole,
        paste("two cards", precision, way)
      )
    })
  }
})

test_that("samples can be streamed, and whole fits are the same", {
  skip_without_cuda()
  fit <- function(backend, precision, limit = 0, ...) {
    with_options(list(warpbayes.device_memory = limit), fit_mixture(stream_rows, 5,
      iter = 4, warmup = 2, seed = 2, chains = 2, threads = 2, keep = c("weights", "labels"), backend = backend,
      precision = precision, progress = FALSE, ...
    ))
  }
  for (precision in c("double", "single")) {
    whole <- fit("cpu", precision)
    part <- fit("cuda", precision, stream_limits[[precision]][[1L]])
    expect_identical(part$draws, whole$draws)
    expect_identical(part$log_likelihood, whole$log_likelihood)
  }
  sample <- rep_len(c("a", "b", "b"), nrow(stream_rows))
  together <- fit("cuda", "single", 3e5, sample = sample)
  expect_identical(together$draws, fit("cpu", "single", sample = sample)$draws)
})

test_that("predictions of rows with missing values can be streamed", {
  skip_without_cuda()
  x <- stream_rows
  x[seq(1, nrow(x), by = 7), 2] <- NA
  ask <- function(backend, limit) {
    with_options(list(warpbayes.device_memory = limit), {
      session <- native(C_mixture_open, x, numeric(2), rep(1, 2), 0L, FALSE, resolve_run(backend, 2))
      on.exit(.Call(C_session_close, session))
      native(C_mixture_evaluate, session, c(.5, .5), rbind(c(0, 0), c(4, 4)), array(diag(2), c(2, 2, 2)), numeric(2),
        rep(1, 2),
        0, as.double(nrow(x)), c(TRUE, TRUE, TRUE))
    })
  }
  expect_identical(ask("cuda", 2.6e5), ask("cpu", 0))
})

test_that("a failure of any CUDA call while rows are streamed gives an error and leaves nothing behind", {
  cuda <- emulator()
  x <- stream_rows[seq_len(2048 * 5 - 3), ]
  limits <- c(packed = 1.2e5, locked = 1.7e5, staged = 1.7e5)
  # Each way has its five days.
  ways <- stream_ways$single
  for (way in if (full_run()) ways else ways[as.integer(Sys.Date()) %/% 5L %% length(ways) + 1L]) {
    precision <- if (way == "packed") "single" else "double"
    run <- function() {
      tryCatch(
        stream_session("cuda", precision, limits[[way]], way, x, moves = FALSE)$result,
        warpbayes_error = identity
      )
    }
    quietly({
      before <- cuda$calls()
      expected <- run()
      expect_false(inherits(expected, "error"))
      calls <- cuda$calls() - before
      # Over a thousand on all machines: otherwise the calls below would not be those of the fit.
      expect_gt(calls, 500)
      # The errors are lack of memory, and, in every third place, a failed kernel, after which no call works. A failure
      # while the session is closed is not reported, and rows have other ways.
      at <- todays(unique(round(seq(1, calls, length.out = min(calls, if (full_run()) 40 else 25)))))
      third <- seq_along(at) %% 3 == 0
      failures <- count_failures(cuda, run, at[!third], "memory", expected, way) +
        count_failures(cuda, run, at[third], "kernel", expected, way)
      expect_gt(failures, length(at) / 8)
    })
  }
})
