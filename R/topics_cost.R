# What sweeps of a topic model cost, for the choice of the backend (R/run_backend_cost.R).

topic_cost <- function(documents, pairs, topics, sweeps) {
  operations <- as.double(documents) * topics * 5 + pairs * (topics / 4 + 20)
  sweep <- call_cost(serial = 1e-4, parallel = operations * 4e-9, most = 1 + operations / 2e5,
    fixed = 3.5e-4, memory = operations * 1.25e-10)
  times_cost(sweeps, sweep, 4 * pairs)
}

fit_cost.topic_model <- function(fit, sweeps) {
  topic_cost(length(fit$documents), length(fit$x$count), fit$topics, sweeps * fit$chains)
}
