# Rhat, effective sample size, and the sentences about convergence.

autoregressive <- function(sweeps, chains, correlation, shift = 0) {
  draws <- vapply(seq_len(chains), function(chain) {
    as.numeric(arima.sim(list(ar = correlation), sweeps)) + shift * chain
  }, numeric(sweeps))
  matrix(draws, sweeps)
}

test_that("Rhat and bulk effective sample size are those of package posterior", {
  skip_if_not_installed("posterior")
  set.seed(40)
  for (sweeps in c(12, 21, 100, 501)) {
    for (chains in c(1, 2, 4)) {
      for (correlation in c(-0.5, 0.01, 0.5, 0.95)) {
        for (shift in c(0, 0.5)) {
          draws <- autoregressive(sweeps, chains, correlation, shift)
          if (shift > 0) draws <- round(draws) # ties
          expect_equal(split_rhat(draws), posterior::rhat(draws), tolerance = 1e-10)
          expect_equal(bulk_size(draws), suppressWarnings(posterior::ess_bulk(draws)), tolerance = 1e-10)
        }
      }
    }
  }
})

test_that("the effective size of an autoregression is near its theoretical value", {
  # n (1 - r) / (1 + r) = 2 * 20000 / 3 = 13,333 for r = 1/2, with a relative
  # standard error of some 3% for 40,000 draws: 20% off is beyond 6 of them.
  set.seed(41)
  expect_equal(bulk_size(autoregressive(20000, 2, 0.5)), 40000 / 3, tolerance = 0.2)
})

test_that("Rhat sees chains that differ in place, in spread, or not at all", {
  set.seed(42)
  same <- matrix(rnorm(2000), 500)
  expect_lt(split_rhat(same), 1.02)
  place <- same + rep(c(0, 0, 0, 2), each = 500)
  expect_gt(split_rhat(place), 1.2)
  spread <- same * rep(c(1, 1, 1, 5), each = 500)
  expect_gt(split_rhat(spread), 1.1)
  trend <- same + seq(0, 4, length.out = 500)
  expect_gt(split_rhat(trend), 1.2)
})

test_that("quantities that cannot be judged give NA, stuck chains infinity", {
  expect_identical(split_rhat(matrix(3, 100, 2)), NA_real_)
  expect_identical(bulk_size(matrix(3, 100, 2)), NA_real_)
  expect_identical(split_rhat(matrix(1:6, 3)), NA_real_)
  expect_identical(split_rhat(matrix(c(NA, 1:99), 100)), NA_real_)
  expect_identical(split_rhat(matrix(rep(1:2, each = 100), 100)), Inf)
})

verdict <- function(fit) convergence_verdict(fit, diagnose(fit))

test_that("the verdict is in words, with the quantity and by how much", {
  fit <- simulate_fit(sweeps = 600, warmup = 100, chains = 2)
  expect_true(verdict(fit)$converged)
  expect_match(verdict(fit)$sentences[[1]], "No sign against convergence: Rhat is at most 1.0")
  one <- simulate_fit(sweeps = 600, warmup = 100, chains = 1)
  expect_match(verdict(one)$sentences[[2]], "With one chain, its halves are compared")

  apart <- verdict(simulate_fit(chains = 4, shift = -60))
  expect_false(apart$converged)
  expect_match(apart$sentences[[1]], "Not converged: Rhat is above 1.05 for the log likelihood \\(1.[0-9]+\\)")
  expect_match(apart$sentences[[2]], "^Chain 4 stands apart: its median of the log likelihood is -6,0[0-9.]+, the others' are between")

  rising <- simulate_fit(sweeps = 200, warmup = 100, chains = 2)
  rising$log_likelihood <- rising$log_likelihood + seq_len(200)
  expect_match(verdict(rising)$sentences, "log likelihood is still rising: a longer warmup", all = FALSE)
  rising$log_likelihood <- -rising$log_likelihood
  expect_match(verdict(rising)$sentences, "log likelihood is still falling", all = FALSE)

  short <- verdict(simulate_fit(sweeps = 130, warmup = 50))
  expect_false(short$converged)
  expect_match(short$sentences, "Too few draws to be sure: .* 200 \\(100 per chain\\) are wanted")
})

test_that("chains too short or too still to judge are said to be so", {
  expect_match(verdict(simulate_fit(sweeps = 55, warmup = 50))$sentences, "there are 5 sweeps after the warmup")
  expect_match(verdict(simulate_fit(sweeps = 51, warmup = 50))$sentences, "there is one sweep after the warmup")
  fit <- simulate_fit()
  fit$log_likelihood <- fit$log_likelihood[1:30, ]
  expect_match(verdict(fit)$sentences, "there is no sweep after the warmup")
  expect_true(is.na(verdict(fit)$converged))
  still <- simulate_fit()
  still$log_likelihood[] <- still$concentration_trace[] <- still$occupied[] <- still$probe_density[] <- 1
  expect_match(verdict(still)$sentences, "no quantity varies")
})
