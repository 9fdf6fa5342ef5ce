# Mixtures on a graphics card, or on the emulator, give bit for bit the processor's results: sweeps and predictions,
# steps of Bayesian EM, and the results of tensor cores.

# Sweeps and predictions -------------------------------------------------------

# Calls each function of the backend on one session: two sweeps with labels, then predictions for rows in the middle.
session_results <- function(x, k, backend, precision = "double", first = nrow(x) %/% 3, count = nrow(x) %/% 2) {
  p <- ncol(x)
  session <- native(C_mixture_open, x, colMeans(x), rep(0.5, p), as.integer(precision == "single"), FALSE,
    resolve_run(backend, 2)
  )
  on.exit(.Call(C_session_close, session))
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
  # Two failures would compare equal too.
  expect_true(all(is.finite(cpu$two$log_likelihood), is.finite(cpu$evaluated$prob)))
  expect_identical(sum(matrix(cuda$two$statistics, ncol = k)[1L, ]), as.double(nrow(x)))
  cuda
}

test_that("sweeps and predictions are identical for every number of columns", {
  skip_without_cuda()
  for (p in c(todays(1:41), 47)) {
    expect_same_session(clustered(131 + p, p, p), k = 19)
  }
})

test_that("sweeps and predictions are identical for every number of components", {
  skip_without_cuda()
  for (k in c(1, 2, 15, 16, 17, 31, 32, 33, 64, 100, 256, 1000)) {
    expect_same_session(clustered(277, 3, k), k)
  }
})

test_that("single precision gives the same bits too, but for products of halves", {
  skip_without_cuda()
  same <- function(p) expect_same_session(clustered(300 + p, p, p), k = 37, precision = "single")
  for (p in c(1, 2, 5)) same(p)
  for (k in c(1, 16, 33, 256)) {
    expect_same_session(clustered(277, 4, k), k, precision = "single")
  }
  # But for products of halves.
  cuda <- emulator()
  on.exit(cuda$capability(9, 0))
  cuda$capability(8, 0)
  for (p in c(14, 23, 40)) same(p)
})

test_that("components and what is learned of their prior are identical for every number of columns", {
  skip_without_cuda()
  # Blocks of one warp and of four. Factors in shared memory and outside it. One component, several, and more than a
  # warp has lanes. More probes than are measured at a time.
  sizes <- list(
    c(1, 1), c(1, 40), c(2, 3), c(7, 17), c(31, 5), c(32, 4), c(33, 5), c(40, 2), c(55, 3), c(56, 3), c(70, 2)
  )
  for (case in sizes) {
    p <- case[[1L]]
    k <- case[[2L]]
    x <- clustered(90, p, p)
    probe <- t(x[1:11, , drop = FALSE])
    key <- .Call(C_chain_key, 6, 1L)
    prior <- learned_prior(p)
    run <- function(backend) {
      session <- native(C_mixture_open, x, numeric(p), rep(1, p), 0L, FALSE, resolve_run(backend, 2))
      on.exit(.Call(C_session_close, session))
      swept <- native_one(
        C_mixture_sweeps, session, prior, sampler_state(prior, numeric(k * statistics_size(p)), 2, key, 1), 3L, TRUE,
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

test_that("if device memory is short, rows go in chunks with the same result", {
  skip_without_cuda()
  x <- clustered(9 * 2048 + 100, 4, 8)
  bytes <- 8 * length(x)
  for (precision in c("double", "single")) {
    for (k in c(6, 40)) {
      whole <- expect_same_session(x, k, precision = precision)
      for (limit in bytes * c(0.6, 1.05)) {
        with_options(list(warpbayes.device_memory = limit), {
          expect_identical(session_results(x, k, "cuda", precision), whole)
        })
      }
    }
  }
})

test_that("results for extreme values are identical", {
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
      dp_mixture(
        x, components = 21, iter = 6, warmup = 2, chains = 2, seed = 5, threads = 2, backend = backend,
        control = warp_control(keep = keep, precision = precision)
      )
    })
    expect_identical(fits[[2L]]$backend, "cuda")
    varying <- c("backend", "elapsed", "call")
    expect_identical(unclass(fits[[2L]])[setdiff(names(fits[[2L]]), varying)],
      unclass(fits[[1L]])[setdiff(names(fits[[1L]]), varying)]
    )
    for (type in c("class", "prob", "log_density")) {
      expect_identical(
        predict(fits[[1L]], x[100:900, ], type = type, backend = "cuda", threads = 2),
        predict(fits[[1L]], x[100:900, ], type = type, backend = "cpu", threads = 2)
      )
    }
  }
})

test_that("a session can switch between sweeps, predictions and numbers of components", {
  skip_without_cuda()
  x <- clustered(3000, 3, 4)
  key <- .Call(C_chain_key, 2, 1L)
  turns <- function(backend) {
    session <- native(C_mixture_open, x, numeric(3), rep(1, 3), 0L, FALSE, resolve_run(backend, 2))
    on.exit(.Call(C_session_close, session))
    lapply(c(4, 20, 20, 4), function(k) {
      list(
        run_sweeps(session, sampler_prior(3), numeric(k * statistics_size(3)), 2, key, 3, sweeps = 2L, moves = TRUE),
        native(
          C_mixture_evaluate, session, rep(1 / k, k), x[seq_len(k), ], array(diag(3), c(3, 3, k)), numeric(3),
          rep(1, 3),
          0, 10, c(TRUE, FALSE, k == 4)
        )
      )
    })
  }
  expect_identical(turns("cuda"), turns("cpu"))
})

test_that("sizes that a graphics card cannot handle are refused with a message", {
  skip_without_cuda()
  run <- resolve_run("cuda", 1)
  open <- function() native(C_mixture_open, matrix(0, 1, 6001), numeric(6001), rep(1, 6001), 0L, FALSE, run)
  expect_error(open(),
    "6001 columns: a graphics card takes up to 6000", class = "warpbayes_error_input"
  )
  with_options(list(warpbayes.device_memory = 20000), {
    expect_error(session_results(clustered(3000, 2, 1), 50, "cuda"),
      "MB of device memory are needed at least for 50 components in 2 columns, but 0.0[12] MB can be used",
      class = "warpbayes_error_memory"
    )
  })
})

# Bayesian EM -----------------------------------------------------------------

# Two steps from labels, a sweep and a prediction in the same session, and one more step.
steps_on <- function(backend, x, k, precision = "double", labels = sample(k, nrow(x), replace = TRUE),
                     sweep = nrow(x) < 400) {
  p <- ncol(x)
  session <- native(C_mixture_open, x, colMeans(x), rep(0.5, p), as.integer(precision == "single"), FALSE,
    resolve_run(backend, 2)
  )
  on.exit(.Call(C_session_close, session))
  key <- .Call(C_chain_key, 11, 1L)
  prior <- sampler_prior(p)
  climb <- function(state) {
    native(C_mixture_climb, session, prior, state, 2L, FALSE, 0, t(x[1, , drop = FALSE]), colMeans(x), rep(2, p))
  }
  start <- native(C_mixture_start, x, colMeans(x), rep(0.5, p), prior, as.integer(k), key, FALSE, matrix(0, 2, 0),
    labels
  )
  state <- c(sampler_state(prior, start, 2, key, 1), log_posterior = NaN)
  out <- list(first = climb(state))
  if (sweep) {
    out$swept <- run_sweeps(session, prior, start, 2, key, p, 1)
    out$evaluated <- native(
      C_mixture_evaluate, session, exp(out$first$log_weight), out$first$means, out$first$covariances, colMeans(x),
      rep(0.5, p), 0,
      as.double(nrow(x)), c(TRUE, TRUE, TRUE)
    )
    out$second <- climb(utils::modifyList(state, out$first[c("statistics", "concentration", "log_posterior")]))
  }
  out
}

expect_same_steps <- function(x, k, ...) {
  force(x)
  set.seed(k)
  cpu <- steps_on("cpu", x, k, ...)
  set.seed(k)
  cuda <- steps_on("cuda", x, k, ...)
  for (part in names(cpu)) {
    expect_identical(cuda[[part]], cpu[[part]], label = sprintf("%s of %d x %d, k = %d", part, nrow(x), ncol(x), k))
  }
  expect_true(all(is.finite(cpu$first$log_likelihood), is.finite(cpu$first$statistics)))
  expect_equal(sum(cpu$first$sizes), nrow(x), tolerance = if (identical(list(...)$precision, "single")) 1e-5 else 1e-9)
  cuda
}

test_that("steps are identical for every number of columns", {
  skip_without_cuda()
  for (p in c(1:9, 14, 16, 17, 25, 41, 47)) {
    expect_same_steps(clustered(131 + p, p, p), k = 7)
  }
  # Wide rows: the values of one row exceed a block's default limit of shared memory, and there are more than the 256
  # columns of which a few rows are read at a time.
  expect_same_steps(clustered(9, 300, 1), k = 2)
})

test_that("steps are identical for every number of components, also if some are dropped", {
  skip_without_cuda()
  for (k in c(1, 2, 15, 16, 17, 33, 64, 256)) {
    expect_same_steps(clustered(277, 3, k), k)
  }
  x <- clustered(200, 2, 1)
  cut <- expect_same_steps(x, 40, labels = rep(c(3L, 17L), 100))
  expect_identical(sum(cut$first$sizes > 0), 3L)
})

test_that("steps in single precision are identical too, but for products of halves", {
  skip_without_cuda()
  same <- function(p) expect_same_steps(clustered(300 + p, p, p), k = 37, precision = "single")
  for (p in c(1, 2, 5)) same(p)
  cuda <- emulator()
  on.exit(cuda$capability(9, 0))
  cuda$capability(8, 0)
  for (p in c(14, 23, 40)) same(p)
})

fit_on <- function(backend, n, p, k, ..., keep = c("weights", "means", "labels")) {
  set.seed(n + p + k)
  x <- matrix(rnorm(n * p), n) + rnorm(5, sd = 2)[sample(5, n, TRUE)]
  fit_mixture(x, k,
    iter = 2, warmup = 0, keep = keep, start = sample(k, n, TRUE), seed = 1, backend = backend, progress = FALSE, ...
  )
}

# The evaluation of all components, of one mixture and of several, from rows that do not begin a block.
evaluated_on <- function(backend, fit, rows) {
  options <- c("class", "prob", "log_density")
  lapply(stats::setNames(nm = options), function(type) predict(fit, fit$x[rows, ], type, backend = backend))
}

test_that("in single precision tensor cores draw for many columns as in double, but for rounding of the data", {
  skip_without_cuda()
  for (case in c(list(c(150, 112, 20)), todays(list(c(300, 104, 37))))) {
    fit <- function(precision) fit_on("cuda", case[[1L]], case[[2L]], case[[3L]], precision = precision)
    single <- fit("single")
    double <- fit("double")
    expect_identical(single$draws$labels[1, , ], double$draws$labels[1, , ])
    expect_equal(single$log_likelihood[1, ], double$log_likelihood[1, ], tolerance = 1e-6)
    whole <- fit_on("cuda", case[[1L]], case[[2L]], case[[3L]], keep = c("weights", "means", "covariances"))
    whole$precision <- "single"
    expect_equal(evaluated_on("cuda", whole, -1), evaluated_on("cpu", whole, -1), tolerance = 1e-5)
  }
})

# Products of halves (src/cuda/mixture/draw_half.cuh) serve 9 to 103 columns, and so many components that they are
# faster.
test_that("in single precision log densities of products of halves are off by less than 2e-6", {
  skip_without_cuda()
  for (case in todays(list(c(11, 88), c(15, 64), c(16, 100), c(24, 70), c(30, 25), c(40, 35), c(41, 20),
    c(43, 24), c(57, 9), c(65, 30), c(80, 12), c(103, 40)))) {
    set.seed(sum(case))
    x <- clustered(273, case[[1L]], case[[1L]])
    expect_off <- function(x) {
      out <- sweep_once(x, case[[2L]], seed = 1, precision = "single", backend = "cuda")
      top <- apply(out$joint, 1, max)
      expect_lt(abs(out$log_likelihood / sum(top + log(rowSums(exp(out$joint - top)))) - 1), 2e-6)
    }
    expect_off(x)
    # One row: far away, with one number far away, very near, and zero.
    for (row in list(1e6 * x[1, ], replace(x[1, ], 7, 1e5), 1e-6 * x[1, ], 0 * x[1, ])) expect_off(t(row))
  }
})

test_that("in single precision draws by products of halves have their law", {
  skip_without_cuda()
  # P values of sixteen independent tests.
  set.seed(8)
  for (case in list(c(14, 68), c(30, 29), c(66, 40), c(90, 31))) {
    k <- case[[2L]]
    p <- case[[1L]]
    n <- if (p > 40) 300 else 1250
    rows <- clustered(4, p, 3)
    # Components of many columns are alike, or else each row has one that is certain.
    alike <- if (p > 40) rep(1e6 * c(1, numeric(p), diag(p)[upper.tri(diag(p), TRUE)]), k)
    out <- sweep_once(rows[rep(1:4, each = n), ], k, seed = k, alike, precision = "single", backend = "cuda")
    for (i in 1:4) {
      joint <- out$joint[n * i, ]
      expected <- n * exp(joint - max(joint)) / sum(exp(joint - max(joint)))
      counts <- tabulate(out$labels[n * (i - 1) + seq_len(n)], k)
      rare <- expected < 5
      pool <- function(x) c(x[!rare], if (any(rare)) sum(x[rare]))
      statistic <- sum((pool(counts) - pool(expected))^2 / pool(expected))
      expect_gt(stats::pchisq(statistic, max(1, length(pool(counts)) - 1), lower.tail = FALSE), false_alarm / 16)
    }
  }
})

test_that("rows of several leaves and groups of them are identical, in any chunks", {
  skip_without_cuda()
  x <- clustered(3 * 2048 + 77, 2, 5)
  whole <- expect_same_steps(x, 6)
  expect_same_steps(clustered(1, 2, 5), 3)
  # Every row belongs to every component, so the lists of rows have their greatest length.
  full <- expect_same_steps(matrix(rnorm(2048 * 2 + 5), ncol = 1), 4)
  expect_true(all(full$first$sizes > 100))
  # Room for two leaves, and for one at a time.
  for (limit in c(750000, 350000)) {
    set.seed(6)
    chunks <- with_options(list(warpbayes.device_memory = limit), steps_on("cuda", x, 6))
    expect_identical(chunks, whole, label = format(limit))
  }
  expect_error(with_options(list(warpbayes.device_memory = 100000), steps_on("cuda", x, 6)),
    "MB of device memory are needed at least for 6 components in 2 columns", class = "warpbayes_error_memory"
  )
  # More leaves than a group of the summation tree.
  expect_same_steps(clustered(67 * 2048, 1, 2), 2)
})

test_that("a failure of any CUDA call in a step gives an error with a message and leaves nothing behind", {
  cuda <- emulator()
  x <- clustered(2048 + 5, 2, 4)
  attempt <- function(backend) {
    set.seed(3)
    tryCatch(steps_on(backend, x, 3), warpbayes_error = identity)
  }
  expected <- attempt("cpu")
  quietly({
    start <- cuda$calls()
    expect_identical(attempt("cuda"), expected)
    calls <- cuda$calls() - start
    failures <- 0
    steps <- todays(seq_len(calls))
    for (at in steps) {
      cuda$fail(at, if (at %% 2) 2 else 719)
      result <- attempt("cuda")
      usage <- cuda$usage()
      cuda$reset()
      expect_identical(usage, c(device = 0, pinned = 0, handles = 0), label = sprintf("call %d of %d", at, calls))
      if (inherits(result, "error")) {
        failures <- failures + 1
        expect_match(conditionMessage(result), "CUDA says")
      } else {
        expect_identical(result, expected)
      }
    }
    expect_gt(failures, length(steps) / 4)
  })
  expect_identical(attempt("cuda"), expected)
})

test_that("whole fits by Bayesian EM are identical", {
  skip_without_cuda()
  x <- clustered(300, 2, 8)
  fit <- function(backend) {
    made <- dp_mixture(x, components = 5, method = "bem", chains = 2, warmup = 6, iter = 10, seed = 2, threads = 2,
      backend = backend, progress = FALSE
    )
    made[setdiff(names(made), c("elapsed", "backend", "call"))]
  }
  expect_identical(fit("cuda"), fit("cpu"))
})

# Tensor cores ----------------------------------------------------------------
# Squared distances (src/cuda/mixture/draw_tensor.cuh, draw_wide.cuh) and sums of rows (sums_tensor.cu).

parts <- function(fit) c(fit$draws[c("weights", "means", "labels")], fit["log_likelihood"])

test_that("cards with and without tensor cores draw the same as the processor", {
  cuda <- emulator()
  on.exit(cuda$capability(9, 0))
  # Columns around multiples of four, up to the limit and past it. Components around sixteen. Rows that do not fill a
  # block.
  for (case in list(
    c(130, 3, 16), c(129, 4, 32), c(127, 5, 33), c(2, 2, 16), c(8, 8, 16), c(300, 14, 21), c(65, 16, 17),
    c(64, 17, 48), c(33, 29, 16), c(70, 45, 31), c(50, 48, 16), c(50, 49, 16), c(140, 52, 33), c(80, 71, 16)
  )) {
    keep <- c("weights", "means", "covariances", "labels")
    whole <- fit_on("cpu", case[[1L]], case[[2L]], case[[3L]], keep = keep)
    reference <- parts(whole)
    evaluated <- if (case[[2L]] > 32) evaluated_on("cpu", whole, -1)
    for (major in c(8, 9)) {
      cuda$capability(major, 0)
      expect_identical(parts(fit_on("cuda", case[[1L]], case[[2L]], case[[3L]])),
        reference, label = toString(c(case, major))
      )
      if (!is.null(evaluated)) expect_identical(evaluated_on("cuda", whole, -1), evaluated, label = toString(case))
    }
  }
})

test_that("tensor cores also draw with samples, missing values and several leaves", {
  cuda <- emulator()
  on.exit(cuda$capability(9, 0))
  set.seed(3)
  x <- matrix(rnorm(4300 * 6), ncol = 6) + rnorm(5, sd = 2)[sample(5, 4300, TRUE)]
  holes <- x
  holes[cbind(sample(4300, 300), sample(6, 300, TRUE))] <- NA
  fit <- function(backend, data, ...) {
    parts(fit_mixture(data, 20,
      iter = 2, warmup = 0, keep = c("weights", "means", "labels"), seed = 1, backend = backend, progress = FALSE, ...
    ))
  }
  groups <- rep(c("a", "b", "c"), length.out = 4300)
  for (major in c(8, 9)) {
    cuda$capability(major, 0)
    expect_identical(fit("cuda", x, sample = groups), fit("cpu", x, sample = groups))
    expect_identical(fit("cuda", holes, missing = "model"), fit("cpu", holes, missing = "model"))
  }
  # Products of halves. Components of the first pass are the same.
  wide <- cbind(x, x + rnorm(4300), x - rnorm(4300), x, x)[1:300, ] + rnorm(9000)
  expect_first <- function(...) {
    fits <- lapply(c("cuda", "cpu"), function(backend) {
      fit(backend, wide, precision = "single", start = rep_len(1:20, 300), ...)
    })
    expect_equal(fits[[1L]]$log_likelihood[1, ], fits[[2L]]$log_likelihood[1, ], tolerance = 1e-6)
    expect_false(identical(fits[[1L]]$labels, fits[[2L]]$labels))
  }
  expect_first(sample = groups[1:300])
  wide[cbind(sample(300, 50), sample(30, 50, TRUE))] <- NA
  expect_first(missing = "model")
})

test_that("sums of several leaves at a time equal the processor's", {
  cuda <- emulator()
  fit <- function(backend, n, p, k, precision) {
    set.seed(n + p)
    x <- matrix(rnorm(n * p), n)
    # Components without rows, with few and with many.
    init <- pmin(sample(k, n, TRUE), sample(c(1L, 5L, k), n, TRUE))
    parts(dp_mixture(
      x, k, iter = 1, warmup = 0, seed = 1, backend = backend, progress = FALSE,
      control = warp_control(keep = c("weights", "means"), start = init, moves = FALSE, precision = precision)
    ))
  }
  # All numbers of leaves in a node, all remainders of the number of values by eight, the most columns and one more.
  cases <- list(
    c(2300, 3, 64), c(4200, 7, 70), c(6150, 8, 65), c(8200, 16, 64), c(8300, 24, 64), c(4100, 33, 64), c(4100, 47, 64),
    c(2100, 48, 64)
  )
  for (case in cases) {
    # With more columns log densities in single precision are others (draw_half.cuh, draw_wide.cuh).
    for (precision in c("double", if (case[[2L]] < 24) "single")) {
      expect_identical(
        fit("cuda", case[[1L]], case[[2L]], case[[3L]], precision),
        fit("cpu", case[[1L]], case[[2L]], case[[3L]], precision),
        label = toString(c(case, precision))
      )
    }
  }
  # Several groups of the tree in one launch, and memory for only a few leaves of a group.
  expect_identical(fit("cuda", 66 * 2048 - 5, 1, 64, "double"), fit("cpu", 66 * 2048 - 5, 1, 64, "double"))
  previous <- options(warpbayes.device_memory = 1.2e6)
  on.exit(options(previous))
  expect_identical(fit("cuda", 9 * 2048 + 3, 2, 70, "double"), fit("cpu", 9 * 2048 + 3, 2, 70, "double"))
})
