# On the emulator, CUDA calls of regressions, topic models and martingale posteriors fail in turn, for lack of memory or
# because the card is lost. A fit returns the sweeps, steps or resamples before, in words, or raises an error
# if there are none. Then the session goes on on the processor.

set.seed(5)
counts <- matrix(rpois(12 * 9, 2), 12)
cars <- mtcars
# Enough for several slices, in which the few failures of the short form fall.
sweeps <- if (full_run()) 14 else 30
fits <- list(
  regression = function(backend) {
    bayes_logit(am ~ wt + hp, cars, chains = 1, iter = sweeps, warmup = 2, seed = 1, threads = 2, backend = backend)
  },
  topics = function(backend) {
    topic_model(counts, 3, iter = sweeps, warmup = 2, seed = 1, threads = 2, backend = backend)
  },
  normal = function(backend, horizon = 12) {
    predictive_resample(cars$wt, normal_mean(), horizon = horizon, draws = 20, functional = c("mean", "median"),
      seed = 1, threads = 2, backend = backend)
  },
  copula = function(backend, horizon = 12) {
    predictive_resample(cars$wt, copula_density(rho = 0.8), horizon = horizon, draws = 5, seed = 1, threads = 2,
      backend = backend)
  },
  bootstrap = function(backend) {
    predictive_resample(cars$wt, bayesian_bootstrap(), functional = "median", draws = 50, seed = 1, threads = 2,
      backend = backend)
  }
)

# Whether a fit that stopped has the first sweeps, steps or resamples of the `whole` fit. `again(horizon)` is a shorter
# martingale posterior.
is_part <- function(fit, whole, again) {
  first <- function(trace) trace[seq_len(fit$iter), ]
  if (inherits(fit, "bayes_logit")) {
    fit$iter < whole$iter && identical(first(fit$log_likelihood), first(whole$log_likelihood))
  } else if (inherits(fit, "topic_model")) {
    fit$iter < whole$iter && identical(first(fit$log_posterior), first(whole$log_posterior))
  } else if (fit$model$kind == "bayesian_bootstrap") {
    identical(fit$draws, whole$draws[seq_len(fit$count), , drop = FALSE]) && fit$count < whole$count
  } else {
    identical(fit$draws, again(fit$horizon)$draws) && fit$horizon < whole$horizon
  }
}

# In slices of a few steps, so that there is something to keep.
in_small_slices <- function(code) {
  kept <- warpbayes:::in_slices
  small <- function(total, unit, progress, work) kept(total, 3, progress, work)
  environment(small) <- list2env(list(kept = kept), parent = asNamespace("warpbayes"))
  utils::assignInNamespace("in_slices", small, "warpbayes")
  on.exit(utils::assignInNamespace("in_slices", kept, "warpbayes"))
  force(code)
}

# The value or error, and the warnings.
outcome <- function(code) {
  said <- character()
  value <- withCallingHandlers(
    tryCatch(code, warpbayes_error = identity),
    warning = function(warning) {
      said <<- c(said, conditionMessage(warning))
      invokeRestart("muffleWarning")
    }
  )
  list(value = value, said = said)
}

test_that("a fit whose card fails at any call returns what it had, in words, and the processor goes on", {
  cuda <- emulator()
  quietly(in_small_slices(for (name in names(fits)) {
    fit <- fits[[name]]
    whole <- fit("cpu")
    # All but what names the backend, also in the environment of the formula.
    apart <- c("backend", "elapsed", "call", "formula", "terms", "frame")
    parts <- function(value) unclass(value)[setdiff(names(value), apart)]
    start <- cuda$calls()
    expect_identical(parts(fit("cuda")), parts(whole), label = name)
    calls <- cuda$calls() - start
    for (error in c("memory", "lost")) {
      kept <- 0
      # Errors of both kinds use the same code for cleaning up, so in the long form each has another third of the calls.
      # It takes 49 s of processor time.
      first <- match(error, c("memory", "lost"))
      at <- if (full_run()) seq(first, calls, by = 3) else unique(round(seq(4 + first, calls, length.out = 7)))
      for (call in at) {
        where <- sprintf("%s, %s at call %d of %d", name, error, call, calls)
        cuda$fail(call, cuda_errors[[error]])
        got <- outcome(fit("cuda"))
        words <- sprintf("CUDA says \"%s\"", cuda_words[[error]])
        if (inherits(got$value, "error")) {
          expect_match(conditionMessage(got$value), words, label = where)
          expect_s3_class(got$value, paste0("warpbayes_error_", if (error == "memory") "memory" else "device"))
        } else if (length(got$said)) {
          expect_length(got$said, 1L)
          expect_match(got$said, words, label = where)
          if (grepl("quantities are computed on the processor", got$said, fixed = TRUE)) {
            expect_identical(parts(got$value), parts(whole), label = where)
          } else {
            kept <- kept + 1
            expect_true(is_part(got$value, whole, function(horizon) fit("cpu", horizon)), label = where)
            said <- if (inherits(got$value, "martingale_posterior")) "Stopped by an error \\(.*CUDA says" else "sweeps?"
            expect_output(print(got$value), said)
          }
        } else {
          expect_identical(parts(got$value), parts(whole), label = where)
        }
        if (call == at[[length(at) %/% 2]]) expect_identical(parts(fit("cpu")), parts(whole), label = where)
        usage <- cuda$usage()
        cuda$reset()
        expect_identical(usage, c(device = 0, pinned = 0, handles = 0), label = where)
      }
      expect_gt(kept, 0)
    }
    expect_identical(parts(fit("cuda")), parts(whole), label = name)
  }))
})

test_that("after the card is lost, the package chooses the processor", {
  cuda <- emulator()
  old <- options(warpbayes.backend = NULL)
  on.exit({
    options(old)
    cuda$reset()
  })
  x <- matrix(rnorm(4096), ncol = 2)
  draw <- function(...) rcategorical(abs(x), 3, seed = 1, threads = 2, ...)
  expect_identical(warp_info()$backend, "cuda")
  expected <- draw(backend = "cuda")
  quietly({
    # A call that fails for lack of memory, or once, does not lose the card.
    for (error in c("memory", "invalid")) {
      cuda$fail(3, cuda_errors[[error]])
      expect_error(draw(backend = "cuda"), "CUDA says")
      expect_identical(warp_info()$backend, "cuda")
    }
    cuda$fail(3, cuda_errors[["lost"]])
    expect_error(draw(backend = "cuda"), "uncorrectable ECC error", class = "warpbayes_error_device")
    expect_identical(warp_info()$backend, "cpu")
    expect_match(warp_info()$why, "^the graphics card failed: .*uncorrectable ECC error")
    expect_identical(resolve_run()$backend, "cpu")
    expect_identical(draw(), expected)
    # Who asks for it gets the error.
    expect_error(draw(backend = "cuda"), "uncorrectable ECC error", class = "warpbayes_error_device")
  })
  cuda$reset()
  expect_identical(warp_info()$backend, "cuda")
})
