# Residuals of a fitted regression and what is summed from them.

#' Residuals and deviance of a fitted regression
#'
#' As [stats::glm()] defines them, at the posterior means.
#' @param object a fit from [bayes_logit()].
#' @param type `"response"`: observed minus fitted shares of successes, counts, or shares of classes. `"pearson"`: these
#'   divided by the standard deviation of the response at the fitted mean. `"deviance"`: their squares sum to the
#'   deviance.
#' @param ... must be empty.
#' @return `residuals()`: a vector, or for classes a matrix, rows x classes. Rows without trials are `NA`, and so are
#'   rows that `na.action = na.exclude` left out. `deviance()`: a number. `df.residual()`: the number of rows with a
#'   part in the likelihood (for classes times their number less 1), less the number of coefficients.
#' @examples
#' head(residuals(bayes_logit(am ~ wt, mtcars, chains = 2, iter = 400, seed = 1, threads = 2)))
#' @export
residuals.bayes_logit <- function(object, type = c("response", "pearson", "deviance"), ...) {
  check_method(object, "object", ...)
  pad_rows(object, row_residuals(object, check_choice(type, "type", c("response", "pearson", "deviance"))))
}

# The observed values of residuals: shares of successes or classes, or counts.
observed_shares <- function(fit) {
  trials <- family_of(fit)$trials(fit$response)
  fit$response$observed / ifelse(trials > 0, trials, NA)
}

row_residuals <- function(fit, type) {
  mean <- fitted_means(fit)
  observed <- observed_shares(fit)
  difference <- observed - mean
  if (type == "response") return(difference)
  family <- family_of(fit)
  weights <- family$residual_weights(fit, family$trials(fit$response))
  size <- dispersion_estimate(fit)
  if (type == "pearson") return(ifelse(difference == 0, 0, difference * sqrt(weights / family$variance(mean, size))))
  sign(difference) * sqrt(2 * weights * pmax(family$lost(observed, mean, size), 0))
}

#' @rdname residuals.bayes_logit
#' @export
deviance.bayes_logit <- function(object, ...) {
  check_dots_empty(...)
  sum(row_residuals(object, "deviance")^2, na.rm = TRUE)
}

#' @rdname residuals.bayes_logit
#' @export
df.residual.bayes_logit <- function(object, ...) {
  check_dots_empty(...)
  each <- max(1L, length(object$response$classes) - 1L)
  sum(object$response$information > 0) * each - length(object$coefficient_names)
}
