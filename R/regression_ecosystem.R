# What packages bayesplot, bayestestR, lme4 and loo ask of a regression by their generics.

#' @rdname log_lik.bayes_logit
#' @method waic bayes_logit
#' @exportS3Method loo::waic bayes_logit
waic.bayes_logit <- function(x, ndraws = NULL, ...) {
  judged(loo::waic(log_lik.bayes_logit(x, ndraws = ndraws), ...), "the estimate", list(x))
}

parameter_table <- function(fit, pars) {
  quantities <- logit_quantities(fit, likelihood = FALSE)
  diagnose_quantities(quantities[chosen_parameters(pars, names(quantities), names(quantities))])
}

#' @exportS3Method bayesplot::rhat
rhat.bayes_logit <- function(object, pars = NULL, ...) {
  table <- parameter_table(object, pars)
  stats::setNames(table$rhat, table$quantity)
}

#' @exportS3Method bayesplot::neff_ratio
neff_ratio.bayes_logit <- function(object, pars = NULL, ...) {
  table <- parameter_table(object, pars)
  stats::setNames(table$ess_bulk / nrow(coefficient_draws(object)), table$quantity)
}

#' @exportS3Method bayestestR::describe_posterior
describe_posterior.bayes_logit <- function(posteriors, ...) {
  draws <- coefficient_draws(posteriors)[, posteriors$coefficient_names[is_shown_coefficient(posteriors)], drop = FALSE]
  getExportedValue("bayestestR", "describe_posterior")(as.data.frame(draws, optional = TRUE), ...)
}

#' @exportS3Method parameters::model_parameters
model_parameters.bayes_logit <- function(model, ...) {
  getExportedValue("parameters", "model_parameters")(posterior::as_draws_df(as.array(model)), ...)
}

#' @exportS3Method insight::get_predicted
get_predicted.bayes_logit <- function(x, data = NULL, predict = "expectation", ci = 0.95, ...) {
  type <- if (identical(predict, "link")) "link" else "response"
  values <- predict.bayes_logit(x, data, type, level = if (is.null(ci)) 0.95 else ci)
  if (!is.matrix(values)) stop_input("x", "has classes: predict() gives the probability of each")
  interval <- data.frame(SE = values[, "sd"], CI_low = values[, "lower"], CI_high = values[, "upper"])
  structure(unname(predicted_means(values)), ci_data = interval, data = if (is.null(data)) x$frame else data, ci = ci,
    ci_method = "quantile", class = c("get_predicted", "numeric"))
}

#' @rdname ranef.bayes_logit
#' @method ngrps bayes_logit
#' @exportS3Method lme4::ngrps bayes_logit
ngrps.bayes_logit <- function(object, ...) {
  check_method(object, "object", ...)
  vapply(of_groupings(object, "object", function(fit, terms) lapply(terms, `[[`, "levels")), length, 0L)
}
