# A mixture at given rows: classes, densities, probabilities.

# A mixture with parameters in the data's units (weights k, means k x p,
# covariances p x p x k) at the rows of x: a list with `class`, `log_density` and
# `prob` (rows x k), each NULL unless in `what`.
mixture_evaluate_rows <- function(x, center, scale, weights, means, covariances, what, run, precision) {
  session <- native(C_mixture_open, x, as.double(center), 1 / scale, as.integer(precision == "single"), run)
  on.exit(.Call(C_mixture_close, session))
  result <- native(
    C_mixture_evaluate, session, as.double(weights), as.double(means), as.double(covariances),
    as.double(center), 1 / scale, 0, as.double(nrow(x)), c("class", "log_density", "prob") %in% what
  )
  if (!is.null(result$log_density)) {
    result$log_density <- result$log_density - sum(log(scale))
  }
  result
}
