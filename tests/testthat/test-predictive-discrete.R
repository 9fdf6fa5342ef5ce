# Data with few distinct values: an urn of them, or an urn and the density of a long tail.

five_answers <- rep(c(1, 2, 3, 4, 5), c(6, 13, 22, 14, 5))
resampled <- function(y, functional = NULL, ..., model = copula_density()) {
  predictive_resample(y, model, functional = functional, draws = 200, seed = 1, threads = 2, ...)
}

test_that("answers from 1 to 5 are an urn, with the draws of the Bayesian bootstrap", {
  what <- list("mean", "sd", "median", quantiles_of(c(0.05, 0.95)), "gini", probability_of(3, 3))
  fit <- resampled(five_answers, what)
  expect_identical(fit$kind, "discrete_density")
  same <- resampled(five_answers, what, model = bayesian_bootstrap())
  expect_equal(fit$draws, same$draws, tolerance = 1e-12)
  expect_match(said_of(fit, "scale"), "^Only 5 of 60 values are distinct")
  expect_identical(verdict(fit)$answer, "usable")
  # Distributions at the values, between them, and given by the user.
  expect_identical(fit$points, c(1, 2, 3, 4, 5))
  expect_equal(rowSums(fit$density), rep(1, 200))
  expect_equal(fit$cdf[, 5], rep(1, 200))
  expect_equal(fit$density0, c(6, 13, 22, 14, 5) / 60)
  found <- predict(fit, c(2, 2.5, 0), type = "cdf")
  expect_equal(found$estimate, c(19, 19, 0) / 60)
  expect_true(all(found$lower <= found$estimate & found$estimate <= found$upper))
  expect_equal(predict(fit, c(3, 3.5), type = "log_density"), log(c(22 / 60, 0)))
  expect_equal(predict(fit)$estimate, fit$density0)
  mean_of <- function(points, cdf, density) sum(points * density)
  expect_equal(drop(resampled(five_answers, mean_of)$draws), fit$draws[, "mean"], ignore_attr = TRUE)
  expect_setequal(unlist(simulate(fit, 5, seed = 1)), 1:5)
  grDevices::pdf(NULL)
  expect_silent(plot(fit))
  grDevices::dev.off()
  # A finite horizon goes on; paths are not kept.
  short <- resampled(five_answers, horizon = 20)
  expect_identical(continue(short, 30)$draws, resampled(five_answers, horizon = 50)$draws)
  expect_error(resampled(five_answers, trajectories = 5), "not kept for an urn", class = "warpbayes_error_input")
  expect_error(resampled(five_answers, "correlation"), class = "warpbayes_error_input")
})

test_that("counts with a long tail are point masses and a density of the tail; who wants a density gets one", {
  counts <- qnbinom(ppoints(60), 0.7, mu = 3)[order(sample_of(60))]
  fit <- resampled(counts, list("mean", "median", probability_of(0, 0)), horizon = 100)
  expect_identical(fit$kind, "copula_density")
  expect_identical(fit$atoms$value[[1]], 0)
  expect_gt(fit$scale$support[[1]], max(fit$atoms$value))
  expect_lt(abs(mean(fit$draws[, "probability"]) - mean(counts == 0)), 0.03)
  expect_true(all(fit$draws[, "median"] >= 0) && mean(fit$draws[, "median"] %% 1 == 0) > 0.9)
  expect_lt(abs(mean(fit$draws[, "mean"]) - mean(counts)), 0.3)
  # The same on the other side.
  mirrored <- resampled(10 - counts, "mean", horizon = 100)
  expect_lt(mirrored$scale$support[[2]], 11)
  expect_lt(abs(mean(mirrored$draws) - 10 + mean(counts)), 0.3)
  expect_null(resampled(five_answers, "mean", horizon = 5, model = copula_density(scale = "data"))$values)
  expect_null(resampled(five_answers, "mean", horizon = 5, model = copula_density(0.8))$values)
  expect_null(resampled(round(qnorm(sample_of(60)), 1), "mean", horizon = 5)$values)
})

test_that("one value of rounded data has the probability of its count, or that of its rounding step", {
  ages <- round(45 + 15 * qnorm(sample_of(60)))
  ages[1:20] <- 5 * round(ages[1:20] / 5)
  at <- as.double(names(which.max(table(ages))))
  count <- sum(ages == at)
  fit <- resampled(ages, list("mean", probability_of(at, at), quantiles_of(c(0.2, 0.8))), horizon = 100)
  expect_identical(fit$kind, "copula_density")
  expect_null(fit$atoms)
  expect_gt(ks.test(fit$draws[, "probability"], "pbeta", count, 60 - count)$p.value, 1e-6)
  free <- setdiff(35:55, ages)[[1]]
  cell <- resampled(ages, list(probability_of(free, free), probability_of(free - 0.5, free + 0.5)), horizon = 100)
  expect_identical(cell$draws[, 1], cell$draws[, 2])
  # Values without ties are not rounded, and a value that an urn lacks is named.
  expect_true(all(resampled(sample_of(60), probability_of(0.5, 0.5), horizon = 20)$draws == 0))
  expect_match(said_of(resampled(five_answers, probability_of(6, 6)), "unsupported"), "all resamples say 0; up to 0.05")
  expect_match(said_of(resampled(five_answers[seq(1, 60, 3)]), "unsupported"), "only repeat the 20 values")
  expect_null(said_of(resampled(five_answers, probability_of(1, 1)), "unsupported"))
})

test_that("heaped values are discrete, in any unit and order, and values that are only rounded are not", {
  age <- round(qnorm(sample_of(200), 45, 15))
  heaped <- ifelse(seq_along(age) %% 5 < 3, 5 * round(age / 5), age)
  # The oldest are a tail.
  expect_gt(length(resampled(heaped)$atoms$value), 30)
  price <- round(qlnorm(sample_of(200), 3, 0.7), 2)
  at_99 <- ifelse(seq_along(price) %% 5 < 3, floor(price) + 0.99, price)
  minutes <- round(qexp(sample_of(200), 1 / 40))
  quarters <- ifelse(seq_along(minutes) %% 5 < 3, 15 * round(minutes / 15), minutes)
  for (y in list(heaped, 1e6 + heaped, -0.01 * heaped, heaped[order(cos(1:200))], at_99, quarters)) {
    expect_true(is_heaped(y))
  }
  for (y in list(age, minutes, price, 100 * age, qnorm(sample_of(200)), c(1, 1, 1), c(1, 2), 1:10 + 0)) {
    expect_false(is_heaped(y))
  }
})
