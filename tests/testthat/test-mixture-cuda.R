# Mixtures on a graphics card, or on the emulator that plays one: to the last bit
# what the processor computes, however many rows, columns, components and chunks.

# One call of each function of the backend on one session: two sweeps with labels,
# then predictions for rows in the middle.
session_results <- function(x, k, backend, precision = "double", first = nrow(x) %/% 3, count = nrow(x) %/% 2) {
  p <- ncol(x)
  session <- native(C_mixture_open, x, colMeans(x), rep(0.5, p), as.integer(precision == "single"), FALSE, resolve_run(backend, 2))
  on.exit(.Call(C_mixture_close, session))
  key <- .Call(C_chain_key, 11, 1L)
  prior <- sampler_prior(p)
  statistics <- numeric(k * statistics_size(p))
  sweep <- function(statistics, iteration) {
    run_sweeps(session, prior, statistics, 2, key, p, iteration)
  }
  one <- sweep(statistics, 1)
  two <- sweep(one$statistics, 2)
  set.seed(k)
  covariances <- array(diag(p) + 0.5, c(p, p, k))
  evaluated <- native(
    C_mixture_evaluate, session, rep(1 / k, k), x[sample(nrow(x), k, replace = TRUE), , drop = FALSE], covariances,
    colMeans(x), rep(0.5, p), first, count, c(TRUE, TRUE, TRUE)
  )
  list(one = one, two = two, evaluated = evaluated)
}

expect_same_session <- function(x, k, ...) {
  cpu <- session_results(x, k, "cpu", ...)
  cuda <- session_results(x, k, "cuda", ...)
  for (part in names(cpu)) {
    for (name in names(cpu[[part]])) {
      expect_identical(cuda[[part]][[name]], cpu[[part]][[name]],
        label = sprintf("%s$%s of %d x %d, k = %d", part, name, nrow(x), ncol(x), k)
      )
    }
  }
  # The comparison is of numbers, not of two failures.
  expect_true(all(is.finite(cpu$two$log_likelihood), is.finite(cpu$evaluated$prob)))
  expect_identical(sum(matrix(cuda$two$statistics, ncol = k)[1L, ]), as.double(nrow(x)))
  cuda
}

test_that("sweeps and predictions are identical for every number of columns", {
  skip_without_cuda()
  # Under a sanitizer each kernel once, with a column too few.
  for (p in if (sanitized()) c(seq(1, 23, by = 2), 27, 31, 39, 47) else c(1:41, 47)) {
    expect_same_session(clustered(131 + p, p, p), k = 19)
  }
})

test_that("sweeps and predictions are identical for every number of components", {
  skip_without_cuda()
  for (k in c(1, 2, 15, 16, 17, 31, 32, 33, 64, 100, 256, 1000)) {
    expect_same_session(clustered(277, 3, k), k)
  }
})

test_that("single precision gives the same bits too", {
  skip_without_cuda()
  for (p in c(1, 2, 5, 14, 23, 40, 43)) {
    expect_same_session(clustered(300 + p, p, p), k = 37, precision = "single")
  }
  for (k in c(1, 16, 33, 256)) {
    expect_same_session(clustered(277, 4, k), k, precision = "single")
  }
})

test_that("components and what is learned of their prior are identical for every number of columns", {
  skip_without_cuda()
  # Blocks of one warp and of four; factors in shared memory and not; one
  # component, several, more than a warp has lanes; more probes than are measured at a time.
  for (case in list(c(1, 1), c(1, 40), c(2, 3), c(7, 17), c(31, 5), c(32, 4), c(33, 5), c(40, 2), c(55, 3), c(56, 3), c(70, 2))) {
    p <- case[[1L]]
    k <- case[[2L]]
    x <- clustered(90, p, p)
    probe <- t(x[1:11, , drop = FALSE])
    key <- .Call(C_chain_key, 6, 1L)
    prior <- learned_prior(p)
    run <- function(backend) {
      session <- native(C_mixture_open, x, numeric(p), rep(1, p), 0L, FALSE, resolve_run(backend, 2))
      on.exit(.Call(C_mixture_close, session))
      swept <- native(
        C_mixture_sweep, session, prior, sampler_state(prior, numeric(k * statistics_size(p)), 2, key, 1), 3L, TRUE,
        matrix(0, 2L, 0L), probe, rep(TRUE, 3L), numeric(p), rep(1, p)
      )
      list(swept, run_sweeps(session, prior, swept$statistics, 2, key, p, 5, moves = TRUE))
    }
    cpu <- run("cpu")
    expect_identical(run("cuda"), cpu, label = sprintf("%d columns, %d components", p, k))
    expect_true(all(is.finite(cpu[[1L]]$log_prior), is.finite(cpu[[1L]]$probe_density), is.finite(cpu[[2L]]$log_prior)))
    expect_false(identical(cpu[[1L]]$prior, prior$values))
  }
})

test_that("rows of several leaves, and of one row, are identical", {
  skip_without_cuda()
  for (n in c(1, 63, 64, 257, 2047, 2048, 2049, 5 * 2048 + 37)) {
    expect_same_session(clustered(n, 2, n), k = 9, first = 0, count = n)
  }
})

test_that("more leaves than a group of the summation tree are identical", {
  skip_without_cuda()
  expect_same_session(clustered(67 * 2048 + 11, 1, 5), k = 3, first = 4000, count = 3)
})

test_that("with too little device memory rows go in chunks, with the same result", {
  skip_without_cuda()
  x <- clustered(9 * 2048 + 100, 4, 8)
  bytes <- 8 * length(x)
  for (precision in c("double", "single")) {
    for (k in if (sanitized()) 6 else c(6, 40)) {
      whole <- expect_same_session(x, k, precision = precision)
      for (limit in bytes * if (sanitized()) c(0.6, 1.05) else c(0.6, 0.9, 1.05, 2)) {
        with_options(list(warpbayes.device_memory = limit), {
          expect_identical(session_results(x, k, "cuda", precision), whole)
        })
      }
    }
  }
})

test_that("values as far out as can be are identical", {
  skip_without_cuda()
  x <- clustered(200, 3, 1)
  x[1, ] <- 1e300
  x[2, 2] <- -1e200
  x[3, 1] <- .Machine$double.xmin
  for (precision in c("double", "single")) {
    cpu <- session_results(x, 18, "cpu", precision)
    expect_identical(session_results(x, 18, "cuda", precision), cpu)
  }
})

test_that("whole fits and their predictions are identical", {
  skip_without_cuda()
  x <- clustered(2500, 5, 3)
  colnames(x) <- paste0("marker", 1:5)
  keep <- c("weights", "means", "covariances", "labels")
  for (precision in c("double", "single")) {
    fits <- lapply(c("cpu", "cuda"), function(backend) {
      dp_mixture(x, components = 21, iter = 6, warmup = 2, chains = 2, seed = 5, threads = 2, keep = keep,
        precision = precision, backend = backend
      )
    })
    expect_identical(fits[[2L]]$backend, "cuda")
    varying <- c("backend", "elapsed", "call")
    expect_identical(unclass(fits[[2L]])[setdiff(names(fits[[2L]]), varying)], unclass(fits[[1L]])[setdiff(names(fits[[1L]]), varying)])
    for (type in c("class", "prob", "log_density")) {
      expect_identical(
        predict(fits[[1L]], x[100:900, ], type = type, backend = "cuda", threads = 2),
        predict(fits[[1L]], x[100:900, ], type = type, backend = "cpu", threads = 2)
      )
    }
  }
})

test_that("a session takes turns between sweeps, predictions and numbers of components", {
  skip_without_cuda()
  x <- clustered(3000, 3, 4)
  key <- .Call(C_chain_key, 2, 1L)
  turns <- function(backend) {
    session <- native(C_mixture_open, x, numeric(3), rep(1, 3), 0L, FALSE, resolve_run(backend, 2))
    on.exit(.Call(C_mixture_close, session))
    lapply(c(4, 20, 20, 4), function(k) {
      list(
        run_sweeps(session, sampler_prior(3), numeric(k * statistics_size(3)), 2, key, 3, sweeps = 2L, moves = TRUE),
        native(
          C_mixture_evaluate, session, rep(1 / k, k), x[seq_len(k), ], array(diag(3), c(3, 3, k)), numeric(3), rep(1, 3),
          0, 10, c(TRUE, FALSE, k == 4)
        )
      )
    })
  }
  expect_identical(turns("cuda"), turns("cpu"))
})

test_that("what a graphics card cannot take is refused in words", {
  skip_without_cuda()
  expect_error(native(C_mixture_open, matrix(0, 1, 6001), numeric(6001), rep(1, 6001), 0L, FALSE, resolve_run("cuda", 1)),
    "6001 columns: a graphics card takes up to 6000", class = "warpbayes_error_input"
  )
  with_options(list(warpbayes.device_memory = 20000), {
    expect_error(session_results(clustered(3000, 2, 1), 50, "cuda"),
      "MB of device memory are needed at least for 50 components in 2 columns, but 0.0[12] MB can be used",
      class = "warpbayes_error_memory"
    )
  })
})
