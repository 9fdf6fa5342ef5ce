# Combinations of features of dp_mixture(): samples, missing values, Bayesian EM, checkpoints.

set.seed(1)
cells <- matrix(rnorm(600), 300, dimnames = list(NULL, c("a", "b"))) + 4 * (runif(300) < 0.4)
holes <- cells
holes[seq(1, 300, by = 8), "a"] <- NA
holes[seq(2, 300, by = 8), "b"] <- NA
of <- rep(c("one", "two", "three"), 100)
input <- "warpbayes_error_input"

quick <- function(x, ...) {
  fit_mixture(x, components = 4, iter = 12, warmup = 4, chains = 2, seed = 1, threads = 2, progress = FALSE, ...)
}
without_times <- function(fit) {
  fit[c("elapsed", "call", "backend", "threads")] <- NULL
  fit
}

test_that("samples and missing values can be combined in all functions of fits", {
  fit <- quick(holes, sample = of, missing = "model")
  expect_identical(fit$samples, c("one", "two", "three"))
  expect_true(all(is.finite(fit$log_likelihood)))
  longer <- continue(quick(holes, sample = of, missing = "model"), 4, threads = 1, progress = FALSE)
  expect_identical(longer$log_likelihood[1:12, ], fit$log_likelihood)
  types <- cell_types(fit, threads = 2)
  expect_s3_class(type_proportions(types), "data.frame")
  expect_length(predict(fit, type = "log_density", threads = 2), 300)
  expect_true(all(is.finite(log_lik(fit, threads = 2))))
})

test_that("a checkpoint with samples and missing values can be resumed", {
  file <- scratch(fileext = ".checkpoint")
  frame <- data.frame(holes, tube = of)
  by_tube <- split(as.data.frame(cells), factor(of, unique(of)))
  cases <- list(
    list(x = holes, arguments = list(sample = of, missing = "model")),
    list(x = frame, arguments = list(sample = "tube", missing = "model")),
    list(x = by_tube, arguments = list()),
    list(x = by_tube, arguments = list(sample = FALSE))
  )
  for (case in cases) {
    whole <- do.call(quick, c(list(case$x), case$arguments))
    # The fit stops in the middle. The sweeps before are in the file.
    part <- do.call(quick, c(list(case$x), case$arguments, list(checkpoint = file, checkpoint_every = 0)))
    resumed <- resume(file, case$x, threads = 1, progress = FALSE)
    for (name in c("draws", "log_likelihood", "state", "samples", "sample", "missing")) {
      expect_identical(resumed[[name]], whole[[name]], label = name)
    }
  }
  do.call(quick, list(by_tube, checkpoint = file))
  expect_error(resume(file, rev(by_tube), progress = FALSE), "has other values in column", class = input)
  moved <- by_tube
  moved[[2]] <- rbind(moved[[2]], moved[[3]][1:50, ])
  moved[[3]] <- moved[[3]][-(1:50), ]
  expect_error(resume(file, moved, progress = FALSE), "has other samples of the cells than the data", class = input)
})

test_that("Bayesian EM refuses samples and missing values, and its fit can start a sampler with either", {
  climb <- function(x, ...) fit_mixture(x, 4, "bem", warmup = 5, iter = 5, seed = 1, threads = 2, progress = FALSE, ...)
  expect_error(climb(cells, sample = of), "`method` is \"bem\", which fits one sample", class = input)
  expect_error(climb(holes, missing = "model"), "`method` is \"bem\", which takes no missing values", class = input)
  mode <- climb(split(as.data.frame(cells), of), sample = FALSE)
  expect_null(mode$samples)
  fit <- quick(cells, sample = of, start = climb(cells))
  expect_identical(fit$samples, c("one", "two", "three"))
  expect_true(all(is.finite(quick(holes, missing = "model", start = climb(cells))$log_likelihood)))
  # And back: Bayesian EM from a fit of samples, with the same cells and with others.
  expect_true(is.finite(max(climb(cells, start = fit)$log_posterior)))
  expect_true(is.finite(max(climb(cells[1:200, ], start = fit)$log_posterior)))
})

test_that("Bayesian EM has checkpoints", {
  file <- scratch(fileext = ".checkpoint")
  climb <- function(...) {
    fit_mixture(cells, 4, "bem",
      warmup = 5, iter = 6, tolerance = 0, chains = 2, seed = 1, threads = 2, progress = FALSE, ...
    )
  }
  whole <- climb()
  climb(checkpoint = file, checkpoint_every = 0)
  resumed <- resume(file, cells, progress = FALSE)
  for (name in c("draws", "log_posterior", "steps", "converged", "sizes")) {
    expect_identical(resumed[[name]], whole[[name]], label = name)
  }
})
