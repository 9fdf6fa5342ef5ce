# What predictive resampling costs, for the choice of the backend (R/run_backend_cost.R).

# `steps` steps of each of `draws` resamples of a copula model at `points` points, or of normal means.
copula_cost <- function(observations, points, draws, steps) {
  updates <- as.double(points) * draws * (steps + observations)
  call_cost(serial = 2e-2, parallel = updates * 6e-8, fixed = 3e-2, down = 8 * as.double(points) * draws,
    compute = updates * 1.2e-9)
}

normal_mean_cost <- function(draws, steps) {
  call_cost(serial = 1e-3, parallel = draws * steps * 4.6e-9, fixed = 2e-3, down = 16 * draws,
    compute = draws * steps * 3e-11)
}

# Predictive resampling. The horizon "auto" is not known yet; it is often about this long. The weights of a bootstrap
# are drawn on the processor as fast as they come back from a card.
predictive_cost <- function(model, y, draws, horizon) {
  steps <- if (is.numeric(horizon) && length(horizon) == 1L) horizon else 2000
  if (model$kind == "normal_mean") return(normal_mean_cost(draws, steps))
  if (is_urn(model)) return(call_cost())
  copula_cost(NROW(y), if (is.numeric(model$points)) length(model$points) else 100, draws, steps)
}
