# Log likelihoods of rows, fitted or new, and what package loo makes of them.

#' Log likelihoods of rows, cross-validation and explained variance
#'
#' `log_lik()` gives the log likelihood of each row under each draw. `loo()` (Vehtari et al. 2017) and `waic()` estimate
#' from it how well the fit predicts a new row. `bayes_R2()` gives the share of the variance of the responses that the
#' means explain, and `loo_R2()` the share that predictions of rows from the other rows explain.
#' @param object,x a fit from [bayes_logit()].
#' @param newdata a data frame with predictors and response, whose rows have weight 1; `NULL` for the rows that were
#'   fitted, with their weights.
#' @param ndraws how many of the kept draws to use; `NULL` for all. For `loo_R2()`: draws of the Bayesian bootstrap over
#'   rows.
#' @param re_formula,seed as in [predict.bayes_logit()].
#' @param ... `loo()` passes it on, for example `cores`. Otherwise it must be empty.
#' @return `log_lik()`: a matrix, draws x rows. `bayes_R2()` and `loo_R2()`: a vector of draws. `loo()`: the object of
#'   package loo, about new rows of the same groups. If it warns of high Pareto k, see [kfold.bayes_logit()].
#' @references Vehtari, A., Gelman, A. and Gabry, J. (2017). Practical Bayesian model evaluation using leave-one-out
#' cross-validation and WAIC. *Statistics and Computing* **27**, 1413-1432. \doi{10.1007/s11222-016-9696-4}
#' @examples
#' fit <- bayes_logit(am ~ wt, mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#' log_lik(fit, data.frame(wt = c(2, 3), am = 1), ndraws = 3)
#' if (requireNamespace("loo", quietly = TRUE)) loo::loo(fit)
#' @name log_lik.bayes_logit
NULL

#' @rdname log_lik.bayes_logit
#' @export
log_lik <- function(object, ...) UseMethod("log_lik")

# If attached after rstantools, this hides its generic, so other objects are passed on to it.
#' @export
log_lik.default <- function(object, ...) {
  check_present(!missing(object), "object")
  if (has_foreign_method("log_lik", "rstantools", object)) {
    return(getExportedValue("rstantools", "log_lik")(object, ...))
  }
  stop_input("object", "must come from bayes_logit() or dp_mixture(), not ", show_value(object))
}

#' @rdname log_lik.bayes_logit
#' @rawNamespace S3method(rstantools::log_lik, bayes_logit)
#' @export
log_lik.bayes_logit <- function(object, newdata = NULL, ndraws = NULL, re_formula = NULL, ...) {
  check_method(object, "object", ...)
  log_likelihoods(object, newdata, draws_used(object, ndraws), re_formula)
}

log_likelihoods <- function(fit, newdata, used, re_formula) {
  newdata <- given_data(newdata, "newdata")
  rows <- prediction_rows(fit, newdata, groups = check_re_formula(re_formula, fit))
  n <- nrow(rows$x)
  of_rows <- list(response = fit$response, weights = fit$weights)
  if (!is.null(newdata)) {
    if (!all(rows$complete)) stop_input("newdata", "has missing values in row ", which(!rows$complete)[[1L]])
    of_rows <- list(response = new_response(fit, newdata), weights = rep(1, n))
  }
  check_result_size(length(used) * as.double(n), "ndraws", "log likelihoods", copies = 1)
  out <- matrix(0, length(used), n)
  for_blocks(fit, rows, used, seq_len(n), function(linear, block) {
    out[, block] <<- row_log_likelihood(fit, linear, used, block, of_rows$response, of_rows$weights)
  })
  out
}

# The response of new data, with the fit's levels. `advice` ends the error without response.
new_response <- function(fit, newdata, advice = "") {
  expression <- fit$formula[[2L]]
  check_new_variables(expression, fit, newdata, advice = advice)
  values <- tryCatch(eval(expression, newdata, environment(fit$formula)), error = function(error) {
    pass_on(error)
    stop_input("newdata", "has no response: ", short_message(error), advice)
  })
  size <- NROW(values)
  if (size != nrow(newdata)) {
    stop_input("newdata", sprintf("has %d rows, but its response has %d", nrow(newdata), size), advice)
  }
  name <- names(attr(attr(fit$frame, "terms"), "dataClasses"))[[1L]]
  frame <- stats::setNames(structure(list(values), row.names = seq_len(size), class = "data.frame"), name)
  values <- as_fitted_classes(fit, frame)[[1L]]
  missing <- if (is.matrix(values)) rowSums(is.na(values)) > 0 else is.na(values)
  if (any(missing)) stop_input("newdata", "has missing values in row ", which(missing)[[1L]], advice)
  classes <- if (is.null(fit$response$classes)) fit$response$levels else fit$response$classes
  if (is.matrix(values)) {
    if (!is.null(classes) && !is.null(colnames(values)) && !identical(colnames(values), classes)) {
      stop_input("newdata", "has a response with the columns ", show_value(colnames(values)), ", but the fit had ",
        show_value(classes))
    }
  } else if (!is.null(classes)) {
    unknown <- setdiff(as.character(values), classes)
    if (length(unknown)) {
      stop_input("newdata", sprintf("has the response %s, which the fit has not seen",
        dQuote(substr(unknown[[1L]], 1L, 60L), FALSE)))
    }
    values <- factor(as.character(values), classes, ordered = isTRUE(fit$response$ordered))
  }
  logit_response(values, fit$family, rep(1, size), "newdata")
}

row_log_likelihood <- function(fit, linear, used, block, response, weights) {
  each <- function(values) rep(values[block], each = length(used))
  observed <- response$observed
  observed <- if (is.matrix(observed)) observed[each(seq_len(nrow(observed))), , drop = FALSE] else each(observed)
  each(weights) * family_of(fit)$log_likelihood(linear, observed, each(response$trials), dispersion_used(fit, used))
}

#' @rdname log_lik.bayes_logit
#' @method loo bayes_logit
#' @exportS3Method loo::loo bayes_logit
loo.bayes_logit <- function(x, ndraws = NULL, ...) {
  check_logit_fit(x, "x")
  if (isTRUE(x$prior_only)) stop_input("x", "has draws of the prior alone, from which no row can be left out")
  kept <- kept_draws(x$iter, x)
  of_chain <- unique(round(seq(1, kept, length.out = ceiling(length(draws_used(x, ndraws)) / x$chains))))
  if (length(of_chain) < 10L) {
    stop_input(if (is.null(ndraws)) "x" else "ndraws", sprintf("leaves %d of each chain's draws, but loo() needs 10",
      length(of_chain)))
  }
  values <- log_likelihoods(x, NULL, as.vector(outer(of_chain, kept * (seq_len(x$chains) - 1), `+`)), NULL)
  values <- values[, x$response$information > 0, drop = FALSE]
  # Effective sizes do not depend on the unit of likelihoods: the largest of a row avoids zeros.
  likelihoods <- exp(values - rep(apply(values, 2L, max), each = nrow(values)))
  share <- loo::relative_eff(likelihoods, chain_id = rep(seq_len(x$chains), each = length(of_chain)))
  judged(loo::loo(values, r_eff = ifelse(is.finite(share), share, 1), ...), "the estimate", list(x))
}
