# Steps of Bayesian EM on a graphics card, or on the emulator that plays one: to the last bit what
# the processor computes.

# Two steps from labels, then a sweep and a prediction in the same session, and one step more.
steps_on <- function(backend, x, k, precision = "double", labels = sample(k, nrow(x), replace = TRUE), sweep = nrow(x) < 400) {
  p <- ncol(x)
  session <- native(C_mixture_open, x, colMeans(x), rep(0.5, p), as.integer(precision == "single"), FALSE, resolve_run(backend, 2))
  on.exit(.Call(C_mixture_close, session))
  key <- .Call(C_chain_key, 11, 1L)
  prior <- sampler_prior(p)
  climb <- function(state) {
    native(C_mixture_climb, session, prior, state, 2L, FALSE, 0, t(x[1, , drop = FALSE]), colMeans(x), rep(2, p))
  }
  start <- native(C_mixture_start, x, colMeans(x), rep(0.5, p), prior, as.integer(k), key, FALSE, matrix(0, 2, 0), labels)
  state <- c(sampler_state(prior, start, 2, key, 1), log_posterior = NaN)
  out <- list(first = climb(state))
  if (sweep) {
    out$swept <- run_sweeps(session, prior, start, 2, key, p, 1)
    out$evaluated <- native(
      C_mixture_evaluate, session, exp(out$first$log_weight), out$first$means, out$first$covariances, colMeans(x), rep(0.5, p), 0,
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
  for (p in if (sanitized()) c(1, 6, 17, 47) else c(1:9, 14, 16, 17, 25, 41, 47)) {
    expect_same_steps(clustered(131 + p, p, p), k = 7)
  }
  # One row's values take more shared memory than a block has without asking: more than the
  # 256 columns of which a few rows are read at a time.
  expect_same_steps(clustered(9, 300, 1), k = 2)
})

test_that("steps are identical for every number of components, and where some are cut", {
  skip_without_cuda()
  for (k in c(1, 2, 15, 16, 17, 33, 64, 256)) {
    expect_same_steps(clustered(277, 3, k), k)
  }
  x <- clustered(200, 2, 1)
  cut <- expect_same_steps(x, 40, labels = rep(c(3L, 17L), 100))
  expect_identical(sum(cut$first$sizes > 0), 3L)
})

test_that("steps in single precision are identical too", {
  skip_without_cuda()
  for (p in c(1, 2, 5, 14, 23, 43)) {
    expect_same_steps(clustered(300 + p, p, p), k = 37, precision = "single")
  }
})

test_that("rows of several leaves and groups of them are identical, in any chunks", {
  skip_without_cuda()
  x <- clustered(3 * 2048 + 77, 2, 5)
  whole <- expect_same_steps(x, 6)
  expect_same_steps(clustered(1, 2, 5), 3)
  # Every row counts for every component: the lists of rows are as long as can be.
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
  skip_if(sanitized())
  # More leaves than a group of the tree.
  expect_same_steps(clustered(67 * 2048, 1, 2), 2)
})

test_that("a failure of any CUDA call is an error in words that leaves nothing behind", {
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
    steps <- seq(1, calls, by = if (sanitized()) 6 else 1)
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

test_that("whole fits are identical", {
  skip_without_cuda()
  x <- clustered(300, 2, 8)
  fit <- function(backend) {
    made <- dp_mixture(x, components = 5, method = "bem", chains = 2, warmup = 6, iter = 10, seed = 2, threads = 2, backend = backend, progress = FALSE)
    made[setdiff(names(made), c("elapsed", "backend", "call"))]
  }
  expect_identical(fit("cuda"), fit("cpu"))
})
