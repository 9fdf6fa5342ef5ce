# A fitted regression in the forms of other packages: the draws of posterior and coda, and the tables of tidy(),
# glance() and augment(). The methods are registered when those packages are loaded.

#' Draws of a fitted regression for posterior and coda
#'
#' Gives the kept draws, one iteration per draw and the chains side by side: the coefficients, `dispersion`,
#' `sd(group)` and `log_likelihood`. With `groups = TRUE` the groups' intercepts, `intercept[group]`, are added, or the
#' effects of other grouping terms, `b[x g:level]`. The
#' methods need package posterior or coda.
#'
#' @param x a fit from [bayes_logit()].
#' @param groups whether to add the intercepts of groups.
#' @param ... must be empty.
#' @return An object of the class that the generic is named after, such as `draws_array` or `mcmc.list`.
#' @examples
#' fit <- bayes_logit(am ~ wt, mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#' if (requireNamespace("posterior", quietly = TRUE)) {
#'   posterior::summarise_draws(posterior::as_draws(fit), "mean", "rhat")
#' }
#' @name as_draws.bayes_logit
NULL

logit_array <- function(fit, groups = FALSE) {
  groups <- check_flag(groups, "groups")
  parts <- logit_quantities(fit)
  for (group in if (groups) levels(fit$design$group)) {
    parts[[sprintf("intercept[%s]", group)]] <- matrix(fit$draws$intercepts[group, , ], nrow(parts[[1L]]))
  }
  for (effect in if (groups && is.null(fit$group_name)) dimnames(fit$draws$effects)[[1L]]) {
    parts[[effect]] <- matrix(fit$draws$effects[effect, , ], nrow(parts[[1L]]))
  }
  array(
    unlist(parts, use.names = FALSE), c(nrow(parts[[1L]]), fit$chains, length(parts)), list(NULL, NULL, names(parts))
  )
}

#' @rdname as_draws.bayes_logit
#' @method as_draws_array bayes_logit
#' @exportS3Method posterior::as_draws_array bayes_logit
as_draws_array.bayes_logit <- function(x, groups = FALSE, ...) {
  check_dots_empty(...)
  posterior::as_draws_array(logit_array(x, groups))
}

#' @rdname as_draws.bayes_logit
#' @method as_draws bayes_logit
#' @exportS3Method posterior::as_draws bayes_logit
as_draws.bayes_logit <- function(x, groups = FALSE, ...) {
  check_dots_empty(...)
  posterior::as_draws_array(logit_array(x, groups))
}

#' @rdname as_draws.bayes_logit
#' @method as_draws_matrix bayes_logit
#' @exportS3Method posterior::as_draws_matrix bayes_logit
as_draws_matrix.bayes_logit <- function(x, groups = FALSE, ...) {
  check_dots_empty(...)
  posterior::as_draws_matrix(posterior::as_draws_array(logit_array(x, groups)))
}

#' @rdname as_draws.bayes_logit
#' @method as_draws_df bayes_logit
#' @exportS3Method posterior::as_draws_df bayes_logit
as_draws_df.bayes_logit <- function(x, groups = FALSE, ...) {
  check_dots_empty(...)
  posterior::as_draws_df(posterior::as_draws_array(logit_array(x, groups)))
}

#' @rdname as_draws.bayes_logit
#' @method as_draws_list bayes_logit
#' @exportS3Method posterior::as_draws_list bayes_logit
as_draws_list.bayes_logit <- function(x, groups = FALSE, ...) {
  check_dots_empty(...)
  posterior::as_draws_list(posterior::as_draws_array(logit_array(x, groups)))
}

#' @rdname as_draws.bayes_logit
#' @method as_draws_rvars bayes_logit
#' @exportS3Method posterior::as_draws_rvars bayes_logit
as_draws_rvars.bayes_logit <- function(x, groups = FALSE, ...) {
  check_dots_empty(...)
  posterior::as_draws_rvars(posterior::as_draws_array(logit_array(x, groups)))
}

#' @rdname as_draws.bayes_logit
#' @method as.mcmc.list bayes_logit
#' @exportS3Method coda::as.mcmc.list bayes_logit
as.mcmc.list.bayes_logit <- function(x, groups = FALSE, ...) {
  check_dots_empty(...)
  draws <- logit_array(x, groups)
  coefficient_draws(x)
  coda_chains(draws, x$warmup + x$thin, x$thin)
}

#' Tables of a fitted regression
#'
#' Methods for the generics of package generics (package broom re-exports them).
#'
#' @param x a fit from [bayes_logit()].
#' @param conf.int,conf.level whether to give intervals, and their probability.
#' @param exponentiate `TRUE`: odds ratios (for counts: rate ratios) in the place of `estimate`, `conf.low` and
#'   `conf.high`. As in broom, `std.error` is still the standard error of the coefficient. `dispersion` and `sd(group)`
#'   stay as they are.
#' @param data a data frame of the fitted rows, for the result; `NULL` for the model frame of the fit.
#' @param newdata a data frame of other rows for the result, as in [predict.bayes_logit()].
#' @param ... must be empty.
#' @return `tidy()` gives a data frame with a row for each coefficient (and for `dispersion` and `sd(group)`) and
#'   columns `term`, `estimate` (posterior mean), `std.error` (standard deviation), `conf.low`, `conf.high`, `rhat`,
#'   `ess_bulk`.
#'
#'   `glance()` gives one row with `nobs`, `log_likelihood` (mean), `chains`, `draws`, `rhat` (largest), `ess_bulk`
#'   (smallest), `converged`, `seconds`.
#'
#'   `augment()` gives the data with columns `.fitted` and `.resid`, as in [predict.bayes_logit()]. For a multinomial
#'   it adds one column of fitted probabilities for each class instead.
#' @examples
#' fit <- bayes_logit(am ~ wt, mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#' if (requireNamespace("generics", quietly = TRUE)) {
#'   generics::tidy(fit)
#'   generics::glance(fit)
#'   head(generics::augment(fit))
#' }
#' @name tidy.bayes_logit
NULL

#' @rdname tidy.bayes_logit
#' @method tidy bayes_logit
#' @exportS3Method generics::tidy bayes_logit
tidy.bayes_logit <- function(x, conf.int = TRUE, conf.level = 0.9, exponentiate = FALSE, ...) {
  check_dots_empty(...)
  conf.int <- check_flag(conf.int, "conf.int")
  exponentiate <- check_flag(exponentiate, "exponentiate")
  conf.level <- check_number(conf.level, "conf.level", min = 0, max = 1)
  quantities <- logit_quantities(x)
  quantities$log_likelihood <- NULL
  table <- diagnose_quantities(quantities)
  bound <- function(p) vapply(quantities, stats::quantile, 0, p, names = FALSE)
  result <- data.frame(
    term = table$quantity, estimate = table$mean, std.error = table$sd, conf.low = bound((1 - conf.level) / 2),
    conf.high = bound((1 + conf.level) / 2), rhat = table$rhat, ess_bulk = table$ess_bulk, row.names = NULL
  )
  if (exponentiate) {
    coefficients <- result$term %in% x$coefficient_names
    exponentiated <- c("estimate", "conf.low", "conf.high")
    result[coefficients, exponentiated] <- exp(result[coefficients, exponentiated])
  }
  if (!conf.int) {
    result$conf.low <- result$conf.high <- NULL
  }
  as_table(result)
}

#' @rdname tidy.bayes_logit
#' @method glance bayes_logit
#' @exportS3Method generics::glance bayes_logit
glance.bayes_logit <- function(x, ...) {
  check_dots_empty(...)
  table <- diagnose_quantities(logit_quantities(x))
  extreme <- function(values, of) if (all(is.na(values))) NA_real_ else of(values, na.rm = TRUE)
  as_table(data.frame(
    nobs = x$rows, log_likelihood = table$mean[[nrow(table)]], chains = x$chains,
    draws = x$chains * kept_draws(x$iter, x), rhat = extreme(table$rhat, max), ess_bulk = extreme(table$ess_bulk, min),
    converged = logit_verdict(x, table)$converged, seconds = elapsed_seconds(x$elapsed)
  ))
}

#' @rdname tidy.bayes_logit
#' @method augment bayes_logit
#' @exportS3Method generics::augment bayes_logit
augment.bayes_logit <- function(x, data = NULL, newdata = NULL, ...) {
  check_dots_empty(...)
  if (!is.null(newdata)) {
    mean <- predict_means(x, newdata)
    return(as_table(cbind(newdata, if (is.matrix(mean)) class_columns(mean) else data.frame(.fitted = unname(mean)))))
  }
  if (is.null(data)) {
    data <- x$frame
  }
  padded <- pad_rows(x, seq_len(x$rows))
  if (!is.data.frame(data) || !nrow(data) %in% c(x$rows, length(padded))) {
    stop_input("data", sprintf("must be a data frame of the %s rows that were fitted, not ", format(x$rows)),
      show_value(data)
    )
  }
  at <- if (nrow(data) == x$rows) seq_len(x$rows) else padded
  mean <- fitted_means(x)
  if (is.matrix(mean)) {
    return(as_table(cbind(data, class_columns(mean)[at, , drop = FALSE])))
  }
  as_table(cbind(data, .fitted = unname(mean)[at], .resid = unname(observed_shares(x) - mean)[at]))
}

class_columns <- function(mean) {
  colnames(mean) <- paste0(".fitted_", colnames(mean))
  rownames(mean) <- NULL
  mean
}
