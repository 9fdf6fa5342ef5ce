# predict(): comparisons with densities in plain R, and bad input.

fit <- simulate_fit(n = 500, k = 5)
x <- fit$x
reference <- reference_draw(fit)

test_that("classes and probabilities are those of the draw with the highest log posterior", {
  joint <- reference_joint(x, reference$weights, reference$means, reference$covariances)
  prob <- exp(joint - reference_log_density(x, reference$weights, reference$means, reference$covariances))
  expect_equal(predict(fit, x, type = "prob", threads = 2), prob, tolerance = 1e-10, ignore_attr = TRUE)
  class <- predict(fit, x, threads = 2)
  expect_type(class, "integer")
  expect_identical(predict(fit, threads = 2), class)
  expect_identical(class, max.col(joint, "first"))
  expect_identical(colnames(predict(fit, x, type = "prob", threads = 2)), as.character(1:5))
})

test_that("the density, not its log, is averaged over the kept draws", {
  density <- 0
  for (chain in 1:2) {
    for (draw in 1:50) {
      one <- mixture_of_draw(fit, draw, chain)
      density <- density + exp(reference_log_density(x, one$weights, one$means, one$covariances)) / 100
    }
  }
  expect_equal(predict(fit, x, type = "log_density", threads = 2), log(density), tolerance = 1e-10)
  some <- predict(fit, x, type = "log_density", ndraws = 10, threads = 2)
  expect_equal(some, log(density), tolerance = 0.01)
  # Far from the data, where the density itself underflows.
  far <- matrix(1e4, 1, 3, dimnames = list(NULL, fit$markers))
  expect_lt(predict(fit, far, type = "log_density", threads = 2), -1e6)
  expect_true(is.finite(predict(fit, far, type = "log_density", threads = 2)))
})

test_that("slices do not change the result", {
  whole <- predict(fit, x, type = "log_density", ndraws = 3, threads = 2)
  halves <- c(predict(fit, x[1:123, ], type = "log_density", ndraws = 3, threads = 2),
    predict(fit, x[124:500, ], type = "log_density", ndraws = 3, threads = 2))
  expect_identical(whole, halves)
})

test_that("cells may be given in any form, order and number", {
  class <- predict(fit, x, threads = 2)
  expect_identical(predict(fit, data.frame(other = "a", x[, 3:1]), threads = 2), class)
  expect_identical(predict(fit, unname(x), threads = 2), class)
  expect_identical(predict(fit, x[7, , drop = FALSE], threads = 2), class[[7]])
  expect_identical(predict(fit, x[0, ], threads = 2), integer())
  expect_identical(dim(predict(fit, x[0, ], type = "prob", threads = 2)), c(0L, 5L))
  expect_identical(predict(fit, x[0, ], type = "log_density", threads = 2), numeric())
  named <- x[1:3, ]
  rownames(named) <- c("a", "b", "c")
  expect_named(predict(fit, named, threads = 2), c("a", "b", "c"))
  expect_identical(rownames(predict(fit, named, type = "prob", threads = 2)), c("a", "b", "c"))
})

test_that("the transformation of the fit is applied to new cells", {
  transformed <- fit
  transformed$transform <- list(type = "arcsinh", cofactor = c(5, 5, 5))
  expect_equal(predict(transformed, 5 * sinh(x), type = "log_density", ndraws = 5, threads = 2),
    predict(fit, x, type = "log_density", ndraws = 5, threads = 2), tolerance = 1e-8)
})

test_that("invalid arguments of predict() are refused", {
  error <- "warpbayes_error_input"
  lost <- fit
  lost$x <- NULL
  expect_error(predict(lost), "`newdata` is NULL, and the fit has lost its own cells", class = error)
  expect_error(predict(fit, x, type = "classes"),
    "`type` must be one of \"class\", \"type\", \"prob\", \"log_density\"", class = error
  )
  expect_error(predict(fit, x[, 1:2]), "lacks the marker of the fit \"CD3\"", class = error)
  expect_error(predict(fit, unname(x[, 1:2])), "2 columns without names; the fit has 3 markers", class = error)
  expect_error(predict(fit, x, ndraws = 0), "`ndraws` must be one whole number from 1", class = error)
  expect_error(predict(fit, x, probs = 1), "`probs` is not known here", class = error)
  broken <- x
  broken[3, 2] <- NA
  expect_error(predict(fit, broken), "`newdata` has NA in row 3, column 2 \\(\"CD2\"\\)", class = error)
  without <- fit
  without$draws$covariances <- NULL
  without$keep <- c("weights", "means")
  expect_error(predict(without, x),
    "did not keep; fit with warp_control\\(keep = c\\(\"weights\", \"means\", \"covariances\"\\)", class = error
  )
  none <- simulate_fit(n = 50, sweeps = 51, warmup = 50)
  none$draws <- lapply(none$draws, function(draws) array(0, 0))
  none$iter <- 20
  none$probe_density <- NULL
  for (name in c("log_likelihood", "log_posterior", "score", "concentration_trace", "occupied")) {
    none[[name]] <- none[[name]][1:20, ]
  }
  expect_error(predict(none, x), "ended after 20 sweeps, and the first draw is kept after 51", class = error)
})

test_that("draws are chosen evenly over the chains", {
  expect_identical(nrow(spaced_draws(fit)), 100L)
  some <- spaced_draws(fit, 10)
  expect_identical(nrow(some), 10L)
  expect_identical(as.integer(table(some$chain)), c(5L, 5L))
  expect_identical(anyDuplicated(some), 0L)
  expect_identical(nrow(spaced_draws(fit, 1)), 1L)
  expect_identical(nrow(spaced_draws(fit, 99)), 99L)
  expect_identical(anyDuplicated(spaced_draws(fit, 99)), 0L)
})

test_that("probabilities that exceed memory are refused", {
  # This is refused before a backend is used. The fit uses the CPU because the emulator would take long.
  fit <- dp_mixture(matrix(1:4, 4), components = 1e5, iter = 2, seed = 1, threads = 2, backend = "cpu")
  expect_error(predict(fit, matrix(0, 4e6, 1), type = "prob", threads = 2),
    "the result would have 400,000,000,000 probabilities \\(3.2 TB\\)", class = "warpbayes_error_memory"
  )
})

test_that("predictions of more cells than a slice has are those of its cells", {
  set.seed(1)
  fit <- dp_mixture(matrix(rnorm(100, c(0, 5))), components = 3, iter = 20, seed = 1, threads = 1)
  many <- matrix(rnorm(slice_rows + 10, c(0, 5)))
  ends <- c(1:3, slice_rows + -2:3, nrow(many))
  for (type in c("class", "prob")) {
    all <- predict(fit, many, type, threads = 2)
    expect_identical(if (type == "prob") all[ends, ] else all[ends], predict(fit, many[ends, , drop = FALSE], type))
  }
})
