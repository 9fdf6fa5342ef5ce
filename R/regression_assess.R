# How well a regression predicts: errors of predictions, and the explained variance of left-out rows.

#' @rdname posterior_predict.bayes_logit
#' @method predictive_error bayes_logit
#' @exportS3Method rstantools::predictive_error bayes_logit
predictive_error.bayes_logit <- function(object, newdata = NULL, re_formula = NULL, ndraws = NULL, seed = NULL, ...) {
  check_method(object, "object", ...)
  refuse_classes(object, "errors")
  response <- if (is.null(newdata)) object$response else new_response(object, newdata)
  predicted <- posterior_predict.bayes_logit(object, newdata, re_formula, ndraws, seed)
  rep(response$observed, each = nrow(predicted)) - predicted
}

#' @rdname log_lik.bayes_logit
#' @method loo_R2 bayes_logit
#' @exportS3Method rstantools::loo_R2 bayes_logit
loo_R2.bayes_logit <- function(object, ndraws = 4000, seed = NULL, ...) {
  check_method(object, "object", ...)
  ndraws <- check_count(ndraws, "ndraws")
  refuse_classes(object, "variance")
  if (isTRUE(object$prior_only)) stop_input("object", "has draws from the prior, which no row changes")
  observed <- observed_shares(object)
  counts <- object$weights > 0 & !is.na(observed)
  observed <- observed[counts]
  error <- left_out_means(object)[counts, 1L] - observed
  as.vector(draw_with_seed(seed, vapply(seq_len(ndraws), function(draw) {
    weight <- stats::rexp(length(observed))
    weight <- weight / sum(weight)
    variance <- function(values) sum(weight * (values - sum(weight * values))^2)
    1 - variance(error) / variance(observed)
  }, 0)))
}

refuse_classes <- function(object, lack) {
  family <- family_of(object)
  if (family$has_classes) stop_input("object", "is ", family$kind, " regression, whose classes have no ", lack)
}
