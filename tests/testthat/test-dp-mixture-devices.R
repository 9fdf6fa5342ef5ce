# Several graphics cards share the rows of a mixture and give bit for bit the result of one card or of the processor.

fit_of <- function(x, ..., devices = NULL, backend = "cuda") {
  fit_mixture(x, components = 5, iter = 6, warmup = 2, thin = 2, keep = c("weights", "means", "covariances", "labels"),
    chains = 2, seed = 3, threads = 2, devices = devices, backend = backend, progress = FALSE, ...)
}

same_fit <- function(one, other) {
  compared <- c(
    "draws", "log_likelihood", "log_posterior", "concentration_trace", "occupied", "probe_density", "sizes", "state"
  )
  for (part in compared) {
    expect_identical(one[[part]], other[[part]], label = part)
  }
}

test_that("any number of cards gives the result of the processor", {
  set.seed(1)
  for (leaves in c(1, 2, 5)) {
    n <- 2048 * leaves - 2000
    x <- matrix(rnorm(3 * n), n) + 4 * (runif(n) < 0.3)
    processor <- fit_of(x, backend = "cpu")
    with_devices(3, for (devices in list(0, c(0, 1), c(2, 0, 1))) {
      same_fit(fit_of(x, devices = devices), processor)
    })
  }
})

test_that("cards return sums of the largest nodes that they have all leaves of", {
  set.seed(6)
  one_sweep <- function(x, k, ...) {
    fit_mixture(x, k,
      iter = 1, warmup = 0, start = rep_len(seq_len(k), nrow(x)), seed = 1, threads = 2, progress = FALSE, ...
    )
  }
  # More sums than one thread adds up at a time.
  wide <- matrix(rnorm(14 * 2048 * 5), 2048 * 5)
  with_devices(2, same_fit(one_sweep(wide, 40, backend = "cuda", devices = 0:1), one_sweep(wide, 40, backend = "cpu")))
  # 34 leaves: parts that begin in the middle of nodes, and a last node that lacks leaves.
  many <- matrix(rnorm(2048 * 33 + 5) + 4 * (runif(2048 * 33 + 5) < 0.3))
  expected <- one_sweep(many, 2, backend = "cpu")
  for (cards in 2:5) {
    with_devices(cards, same_fit(one_sweep(many, 2, backend = "cuda", devices = seq_len(cards) - 1L), expected))
  }
})

test_that("single precision, samples, no moves and predictions give the same result too", {
  set.seed(2)
  n <- 2048 * 7 + 11
  x <- matrix(rnorm(2 * n), n) + 4 * (runif(n) < 0.3)
  with_devices(2, {
    same_fit(fit_of(x, precision = "single", devices = 0:1), fit_of(x, precision = "single", devices = 1))
    same_fit(fit_of(x, moves = FALSE, devices = 0:1), fit_of(x, moves = FALSE, backend = "cpu"))
    one <- native(C_mixture_open, x, c(0, 0), c(1, 1), 0L, FALSE, resolve_run("cuda", 1))
    run <- resolve_run("cuda", 1, devices = 0:1)
    both <- native(C_mixture_open, x, c(0, 0), c(1, 1), 0L, FALSE, run)
    covariances <- array(diag(2), c(2, 2, 2))
    ask <- function(session, first, count) {
      native(C_mixture_evaluate, session, c(.5, .5), rbind(c(0, 0), c(4, 4)), covariances, c(0, 0), c(1, 1), first,
        count, c(TRUE, TRUE, TRUE)
      )
    }
    # Rows of the first card, of the second, and of both.
    for (range in list(c(5, 100), c(2048 * 5, 500), c(3000, 9000), c(0, n))) {
      expect_identical(ask(both, range[[1L]], range[[2L]]), ask(one, range[[1L]], range[[2L]]))
    }
    .Call(C_session_close, one)
    .Call(C_session_close, both)
  })
})

test_that("a fit can be continued on other cards", {
  set.seed(4)
  x <- matrix(rnorm(9000 * 2), 9000)
  whole <- with_devices(2, {
    part <- fit_of(x, devices = 0:1)
    expect_identical(part$devices, 0:1)
    continue(part, 4, backend = "cpu", threads = 1, progress = FALSE)
  })
  with_devices(2, same_fit(continue(fit_of(x, devices = 1), 4, backend = "cuda", threads = 1, progress = FALSE), whole))
  # Only one of the two cards that the fit names is present.
  with_devices(1, same_fit(
    continue(whole, 2, backend = "cuda", progress = FALSE), continue(whole, 2, backend = "cpu", progress = FALSE)
  ))
})

test_that("work that is too small for several cards is done by one", {
  with_devices(3, {
    run <- resolve_run("cuda", 1)
    expect_null(spread_over_devices(run, NULL, 2 * device_work - 1)$devices)
    expect_identical(spread_over_devices(run, NULL, 2 * device_work)$devices, 0:1)
    expect_identical(spread_over_devices(run, NULL, 9 * device_work)$devices, 0:2)
    old <- options(warpbayes.device = 1L)
    expect_null(spread_over_devices(resolve_run("cuda", 1), NULL, 9 * device_work)$devices)
    options(old)
    expect_identical(resolve_run("cuda", 1, devices = c(2, 0))$device, 2L)
  })
})

test_that("devices that cannot be used are refused", {
  x <- matrix(rnorm(40), 20)
  fit <- function(...) fit_mixture(x, 3, iter = 2, progress = FALSE, ...)
  expect_error(fit(backend = "cpu", devices = 0),
    "`devices` names graphics cards, but the backend is \"cpu\"", class = "warpbayes_error_input"
  )
  for (wrong in list(-1, 0.5, c(0, 0), NA, "0", integer())) {
    expect_error(fit(backend = "cpu", devices = wrong),
      "`devices` must be NULL or indices", class = "warpbayes_error_input"
    )
  }
  with_devices(2, {
    expect_error(fit(backend = "cuda", devices = c(0, 7)),
      "`devices`: there is no CUDA device 7", class = "warpbayes_error_backend"
    )
  })
  with_devices(16, expect_error(resolve_run("cuda", 1, devices = c(0:15, 15.5)), "`devices` must be NULL"))
})

fit_few <- function(x) {
  dp_mixture(
    x, 2, iter = 1, warmup = 0, seed = 1, backend = "cuda", threads = 1, progress = FALSE,
    control = warp_control(devices = 0:1)
  )
}

test_that("a failure of any CUDA call of any card gives an error and leaves nothing behind", {
  set.seed(5)
  x <- matrix(rnorm(2 * 2048 * 2), ncol = 2)
  with_devices(2, {
    cuda <- emulator()
    work <- function() fit_few(x)
    cuda$reset()
    on.exit(cuda$reset())
    before <- cuda$calls()
    expected <- work()
    calls <- cuda$calls() - before
    named <- FALSE
    # The first calls open the session. Later calls are the same in each sweep.
    for (at in todays(unique(round(seq(1, calls, length.out = min(calls, 60)))))) {
      cuda$fail(at, 2)
      result <- quietly(tryCatch(work(), warpbayes_error = identity))
      usage <- cuda$usage()
      cuda$reset()
      if (inherits(result, "error")) {
        named <- named || grepl("graphics card 1: ", conditionMessage(result), fixed = TRUE)
      } else {
        # If memory is refused, the rows go in chunks.
        expect_identical(result$log_likelihood, expected$log_likelihood)
      }
      expect_identical(usage,
        c(device = 0, pinned = 0, handles = 0), label = sprintf("memory after a failure of call %d of %d", at, calls)
      )
    }
    expect_true(named)
  })
})
