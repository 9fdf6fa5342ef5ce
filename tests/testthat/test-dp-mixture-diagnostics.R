# Rhat, effective sample size, and the verdict on convergence.

autoregressive <- function(sweeps, chains, correlation, shift = 0) {
  draws <- vapply(seq_len(chains), function(chain) {
    as.numeric(arima.sim(list(ar = correlation), sweeps)) + shift * chain
  }, numeric(sweeps))
  matrix(draws, sweeps)
}

test_that("Rhat and bulk effective sample size agree with package posterior", {
  skip_where_repeated()
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
  # n (1 - r) / (1 + r) = 2 * 20000 / 3 = 13,333 for r = 1/2. With 40,000 draws the relative standard error is about 3%,
  # so the bound of 20% is more than 6 of them.
  set.seed(41)
  expect_equal(bulk_size(autoregressive(20000, 2, 0.5)), 40000 / 3, tolerance = 0.2)
})

test_that("Rhat finds differences in location, spread and trend, and no difference in equal chains", {
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

test_that("Rhat is NA if it cannot be computed and infinite for stuck chains", {
  expect_identical(split_rhat(matrix(3, 100, 2)), NA_real_)
  expect_identical(bulk_size(matrix(3, 100, 2)), NA_real_)
  expect_identical(split_rhat(matrix(1:6, 3)), NA_real_)
  expect_identical(split_rhat(matrix(c(NA, 1:99), 100)), NA_real_)
  expect_identical(split_rhat(matrix(rep(1:2, each = 100), 100)), Inf)
})

test_that("many quantities at a time have the statistics of each", {
  skip_where_repeated()
  set.seed(43)
  for (sweeps in c(3, 11, 12, 101)) {
    for (chains in c(1, 3, 4)) {
      draws <- function(...) matrix(c(...), sweeps, chains)
      count <- sweeps * chains
      quantities <- list(normal = draws(rnorm(count)), tied = draws(rpois(count, 1)), constant = draws(0.1),
        stuck = draws(rep(seq_len(chains), each = sweeps)), missing = draws(NA, rnorm(count - 1)),
        infinite = draws(rnorm(count - 1), Inf), one = draws(1, numeric(count - 1)), skew = draws(rexp(count)^8))
      table <- diagnose_quantities(quantities, tail = TRUE)
      each <- function(f, ...) unname(vapply(quantities, f, 0, ...))
      expect_equal(table$rhat, each(split_rhat), tolerance = 1e-12)
      expect_equal(table$ess_bulk, each(bulk_size), tolerance = 1e-12)
      expect_equal(table$mean, each(mean))
      expect_equal(table$sd, each(sd))
      points <- vapply(quantities, quantile, c(0, 0, 0), c(0.05, 0.5, 0.95), names = FALSE, na.rm = TRUE)
      expect_equal(unname(as.matrix(table[c("q5", "median", "q95")])), unname(t(points)))
    }
  }
  # More draws than are diagnosed at a time.
  draws <- matrix(rnorm(404), 101)
  many <- stats::setNames(lapply(1:700, function(i) draws + i), seq_len(700))
  table <- diagnose_quantities(many)
  expect_equal(table$mean, mean(draws) + 1:700)
  expect_equal(range(table$ess_bulk), rep(bulk_size(draws), 2))
  skip_if_not_installed("posterior")
  draws <- autoregressive(300, 4, 0.5)
  expect_equal(diagnose_quantities(list(a = draws), TRUE)$ess_tail, posterior::ess_tail(draws), tolerance = 1e-10)
})

verdict_of_chains <- function(fit) new_verdict("the mixture", convergence_reasons(fit, diagnose(fit)))
said <- function(fit) as.character(verdict_of_chains(fit))
usable <- function(fit) is_usable(verdict_of_chains(fit))

test_that("the verdict names the quantity and its value", {
  fit <- simulate_fit(sweeps = 600, warmup = 100, chains = 2)
  expect_true(usable(fit))
  expect_match(said(fit)[[2]], "No sign against convergence: Rhat is at most 1.0")
  one <- simulate_fit(sweeps = 600, warmup = 100, chains = 1)
  expect_match(said(one)[[3]], "With one chain, its halves are compared")

  apart <- simulate_fit(chains = 4)
  apart$probe_density[, 4, 2] <- apart$probe_density[, 4, 2] - 20
  expect_false(usable(apart))
  expect_match(said(apart)[[2]], "Not converged: Rhat is above 1.05 for the log density at point 2 \\(1.[0-9]+\\)")
  expect_match(said(apart)[[3]],
    "^Chain 4 stands apart: its median of the log density at point 2 is -[0-9.]+, the others' are between"
  )
  # The log likelihood does not rank modes, so it says nothing.
  expect_identical(verdict_of_chains(simulate_fit(shift = -60)), verdict_of_chains(simulate_fit()))

  rising <- simulate_fit(sweeps = 200, warmup = 100, chains = 2)
  rising$probe_density[, , 1] <- rising$probe_density[, , 1] + seq_len(200)
  expect_match(said(rising), "log density at point 1 is still rising: a longer warmup", all = FALSE)
  rising$probe_density <- -rising$probe_density
  expect_match(said(rising), "log density at point 1 is still falling", all = FALSE)

  short <- simulate_fit(sweeps = 65, warmup = 50)
  expect_identical(usable(short), NA)
  expect_match(said(short),
    "Too few draws to be sure: .* 40 \\(20 per chain\\) are needed to tell. The highest Rhat is 1", all = FALSE
  )
  rough <- simulate_fit(sweeps = 110, warmup = 50)
  expect_true(usable(rough))
  expect_match(said(rough),
    "Intervals of the log .* are rough; with 200 effective draws \\(100 per chain\\) they are not", all = FALSE
  )
})

test_that("small components are mentioned but do not decide, and a binding truncation is reported", {
  fit <- simulate_fit(sweeps = 600, warmup = 100)
  fit$occupied[] <- rep(2:3, each = 600)
  expect_true(usable(fit))
  expect_match(said(fit),
    "What is said of the number of occupied components \\(Rhat infinite, .* is rough: it moves slowly", all = FALSE
  )
  binding <- paste("All 6 components hold cells in 100% of the sweeps: the data may need more; fit again with",
    "components = 12.")
  expect_no_match(as.character(verdict(fit)), "All 6")
  fit$occupied[] <- 6
  expect_true(binding %in% as.character(verdict(fit)))
  expect_identical(summary(fit)$verdict, verdict(fit))
  expect_output(print(fit), "All[ \n]6")
  fit$occupied[] <- c(rep(5, 595), rep(6, 5))
  expect_no_match(as.character(verdict(fit)), "All 6")
})

test_that("the verdict says when chains are too short or do not move", {
  expect_match(said(simulate_fit(sweeps = 55, warmup = 50))[[2]], "there are 5 sweeps after the warmup")
  expect_match(said(simulate_fit(sweeps = 51, warmup = 50))[[2]], "there is one sweep after the warmup")
  fit <- simulate_fit()
  fit$log_likelihood <- fit$log_likelihood[1:30, ]
  expect_match(said(fit)[[2]], "there is no sweep after the warmup")
  expect_true(is.na(usable(fit)))
  still <- simulate_fit()
  still$log_likelihood[] <- still$concentration_trace[] <- still$occupied[] <- still$probe_density[] <- 1
  expect_match(said(still)[[2]], "no quantity varies")
})

# The verdict on a mixture covers six quantities. Each line of `alarms` has a rate of at most 5% (bench/convergence.R),
# so 13 or more of 40 have a probability below 1e-7.
test_that("false alarms about convergence are rare, and chains that differ are found", {
  skip_where_repeated()
  skip_if(resolve_run()$backend == "cuda", "nothing here depends on the backend")
  verdict_on <- function(n, chains, phi, shift = 0) {
    draws <- lapply(1:6, function(i) {
      noise <- rnorm((n + 50) * chains, sd = sqrt(1 - phi^2))
      one <- matrix(stats::filter(noise, phi, "recursive"), n + 50)[-(1:50), , drop = FALSE]
      one[, chains] <- one[, chains] + shift * (i == 2)
      one
    })
    names(draws) <- letters[1:6]
    is_usable(new_verdict("", judge_convergence(draws, diagnose_quantities(draws), identity)))
  }
  fits <- if (extended()) 400 else 40
  alarms <- function(n, chains, phi) mean(replicate(fits, verdict_on(n, chains, phi)) %in% FALSE)
  set.seed(1)
  expect_lt(alarms(60, 1, 0), 0.31)
  expect_lt(alarms(60, 4, 0), 0.31)
  expect_lt(alarms(200, 2, 0.7), 0.31)
  # Two chains of 200 independent draws each, one of them shifted by 1.5 standard deviations. No shift was missed in 300
  # simulated fits.
  found <- replicate(20, verdict_on(200, 2, 0, 1.5))
  expect_identical(found, rep(FALSE, 20))
  expect_identical(verdict_on(200, 1, 0), TRUE)
})

test_that("the test of a difference between chains handles special cases", {
  set.seed(1)
  x <- matrix(rnorm(400), 100)
  # For independent draws the correction is near 1, and the probability is that of the F distribution.
  expect_lt(correlation_time(x), 1.5)
  expect_identical(batch_correction(1, 10), 1)
  expect_gt(batch_correction(20, 10), 2)
  expect_identical(correlation_time(matrix(2, 10, 2)), 1)
  expect_identical(chance_of_difference(matrix(3, 100, 2)), 1)
  expect_identical(chance_of_difference(x[1:8, ]), 1)
  expect_identical(chance_of_difference(matrix(rep(1:2, each = 100), 100)), 0)
  expect_gt(chance_of_difference(x), 0.01)
  expect_lt(chance_of_difference(x + rep(c(0, 0, 0, 2), each = 100)), 1e-6)
  expect_lt(chance_of_difference(x * rep(c(1, 1, 1, 5), each = 100)), 1e-6)
  # With autocorrelations phi^lag the correlation time is (1 + phi) / (1 - phi).
  slow <- matrix(stats::filter(rnorm(20000, sd = sqrt(1 - 0.81)), 0.9, "recursive"), 5000)
  expect_equal(correlation_time(slow), 19, tolerance = 0.3)
})

test_that("two clusters are called converged", {
  skip_where_repeated()
  skip_if(resolve_run()$backend == "cuda", "slow on the emulator")
  converged <- vapply(1:3, function(seed) {
    set.seed(seed)
    x <- rbind(matrix(rnorm(400), ncol = 2), matrix(rnorm(200, 6), ncol = 2))
    summary(dp_mixture(x, components = 8, chains = 2, iter = 400, seed = seed, threads = 2))$converged
  }, NA)
  expect_identical(converged, rep(TRUE, 3))
})

test_that("chains that agree but are worth few draws are not called free of signs against convergence", {
  slow <- function(x) as.vector(stats::filter(x, 0.96, "recursive"))
  set.seed(1)
  draws <- list(a = matrix(rnorm(4000), 1000), b = apply(matrix(rnorm(4000), 1000), 2, slow))
  judged <- judge_convergence(draws, diagnose_quantities(draws), identity)
  expect_identical(judged[[1]]$answer, "usable with reservations")
  expect_match(judged[[1]]$words, "^The chains agree .* but they move slowly: b has an effective .* of 4,000 draws")
  expect_match(judged[[1]]$words, "Intervals of b are rough; with 400 effective draws \\(100 per chain\\)")
  judged <- judge_convergence(draws["a"], diagnose_quantities(draws["a"]), identity)
  expect_match(judged[[1]]$words, "^No sign against convergence")
  few <- list(a = draws$a[1:60, ])
  judged <- judge_convergence(few, diagnose_quantities(few), identity)
  expect_match(judged[[1]]$words, "but there are few draws: a has")
})
