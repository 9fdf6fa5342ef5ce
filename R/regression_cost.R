# What sweeps of a regression cost, for the choice of the backend (R/run_backend_cost.R).

# `outcomes`: classes of a multinomial less one. With more columns than rows, a system of the rows is solved.
regression_cost <- function(rows, columns, family, outcomes, sweeps) {
  n <- as.double(rows)
  operations <- n * (0.5 * (if (columns > n) n * columns + n^2 / 3 else columns^2) + 150)
  times <- logit_families[[family]]$cost(outcomes)
  sweep <- call_cost(serial = 5e-6 * times[[1L]], parallel = operations * times[[1L]] * 2.9e-10,
    most = 1 + operations / 5e5, fixed = 9e-5 * times[[2L]], compute = operations * times[[1L]] * 1.2e-12)
  times_cost(sweeps, sweep, 8 * n * columns)
}

logit_cost <- function(rows, coefficients, family, response, sweeps) {
  outcomes <- max(1, length(predictor_classes(response)) - 1)
  regression_cost(rows, coefficients / outcomes, family, outcomes, sweeps)
}

fit_cost.bayes_logit <- function(fit, sweeps) {
  logit_cost(fit$rows, length(fit$coefficient_names), fit$family, fit$response, sweeps * fit$chains)
}
