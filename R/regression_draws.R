# A regression for other packages: draws of posterior and coda, tidy(), glance() and augment().

array_of_draws.bayes_logit <- function(x, groups = FALSE, pars = NULL, ...) {
  check_dots_empty(...)
  parts <- logit_quantities(x, all = TRUE)
  groups <- check_flag(groups, "groups") || is.character(pars) && !all(pars %in% names(parts))
  draws <- nrow(parts[[1L]])
  for (part in if (groups) regressions_of(x)) {
    effects <- group_quantities(part)
    if (isTRUE(part$design$single)) names(effects) <- sprintf("intercept[%s]", part$design$terms[[1L]]$levels)
    for (name in names(effects)) parts[[paste0(part$prefix, name)]] <- effects[[name]]
  }
  bind_draws(parts[chosen_parameters(pars, names(parts), names(parts), "pars")], draws, x$chains)
}

#' Tables of a fitted regression
#'
#' Methods for the generics of package generics, which broom re-exports.
#' @param x a fit from [bayes_logit()].
#' @param conf.int,conf.level whether to give intervals, and their probability.
#' @param effects `NULL`: all parameters. As in broom.mixed, `"fixed"`: coefficients; `"ran_pars"`: deviations and
#'   correlations; `"ran_vals"`: effects of groups. The columns `effect`, `group` and `level` come first.
#' @param exponentiate `TRUE`: coefficients as odds ratios (counts: rate ratios). `std.error` stays as it is.
#' @param data a data frame of the fitted rows, for the result; `NULL` for the model frame of the fit.
#' @param newdata a data frame of other rows for the result, as in [predict.bayes_logit()].
#' @param ... must be empty.
#' @return `tidy()`: for each parameter `term`, `estimate` (posterior mean), `std.error` (posterior standard deviation),
#'   `conf.low`, `conf.high`, `rhat`, `ess_bulk`. Where the mean does not exist, `estimate` is the median and
#'   `std.error` is `NA`. `glance()`: one row with `nobs`, `log_likelihood` (mean), `chains`, `draws`, `rhat` (largest),
#'   `ess_bulk` (smallest), `converged`, `verdict` and `seconds`. `augment()`: the data with `.fitted` and `.resid`, or
#'   for classes with the fitted probability of each class.
#' @examples
#' fit <- bayes_logit(am ~ wt, mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#' if (requireNamespace("generics", quietly = TRUE)) generics::tidy(fit)
#' @name tidy.bayes_logit
NULL

#' @rdname tidy.bayes_logit
#' @method tidy bayes_logit
#' @exportS3Method generics::tidy bayes_logit
tidy.bayes_logit <- function(x, conf.int = TRUE, conf.level = 0.9, exponentiate = FALSE, effects = NULL, ...) {
  check_dots_empty(...)
  conf.int <- check_flag(conf.int, "conf.int")
  exponentiate <- check_flag(exponentiate, "exponentiate")
  conf.level <- check_number(conf.level, "conf.level", min = 0, max = 1)
  quantities <- logit_quantities(x, likelihood = FALSE)
  if (!is.null(effects)) {
    kinds <- tidy_kinds(x, effects, names(quantities))
    quantities <- c(quantities, if ("ran_vals" %in% effects) group_quantities(x))[kinds$quantity]
  }
  table <- diagnose_quantities(quantities)
  long <- table$quantity %in% long_tailed(x)
  table$mean[long] <- table$median[long]
  table$sd[long] <- NA
  bound <- function(p) vapply(quantities, stats::quantile, 0, p, names = FALSE)
  result <- data.frame(
    term = table$quantity, estimate = table$mean, std.error = table$sd, conf.low = bound((1 - conf.level) / 2),
    conf.high = bound((1 + conf.level) / 2), rhat = table$rhat, ess_bulk = table$ess_bulk, row.names = NULL
  )
  if (!is.null(effects)) result <- cbind(kinds[c("effect", "group", "level")], result)
  if (exponentiate) {
    coefficients <- result$term %in% x$coefficient_names
    exponentiated <- c("estimate", "conf.low", "conf.high")
    result[coefficients, exponentiated] <- exp(result[coefficients, exponentiated])
  }
  if (!conf.int) result$conf.low <- result$conf.high <- NULL
  as_table(result)
}

group_quantities <- function(fit) {
  values <- stored_effects(fit)
  draws <- lapply(seq_len(NROW(values)), function(i) matrix(values[i, , ], dim(values)[[2L]]))
  stats::setNames(draws, effect_names(outcome_terms(fit)))
}

tidy_kinds <- function(fit, effects, quantities) {
  terms <- outcome_terms(fit)
  of_each <- function(part) unlist(lapply(terms, part))
  smooths <- smooth_deviation_names(fit)
  rows <- function(effect, quantity, group = NA, level = NA) {
    columns <- lapply(list(quantity, effect, group, level), function(one) rep_len(as.character(one), length(quantity)))
    data.frame(stats::setNames(columns, c("quantity", "effect", "group", "level")))
  }
  parts <- list(
    fixed = rows("fixed", intersect(quantities, fit$coefficient_names)),
    ran_pars = rows("ran_pars", c(group_parameter_names(fit), smooths), c(
      of_each(function(term) rep(term$group, length(term$columns))),
      of_each(function(term) rep(term$group, nrow(correlated_pairs(term)))), rep(NA, length(smooths))
    )),
    ran_vals = rows("ran_vals", effect_names(terms),
      of_each(function(term) rep(term$group, length(term$columns) * length(term$levels))),
      of_each(function(term) rep(term$levels, each = length(term$columns))))
  )
  if (!is.character(effects) || length(effects) == 0L || !all(effects %in% names(parts))) {
    stop_input("effects", "must be among ", paste(dQuote(names(parts), FALSE), collapse = ", "), ", not ",
      show_value(effects))
  }
  lacking <- effects[vapply(parts[effects], nrow, 0L) == 0L]
  if (length(lacking) && (identical(effects, lacking) || "ran_vals" %in% lacking)) {
    stop_input("effects", "has ", dQuote(lacking[[1L]], FALSE), ", but the fit has no grouping terms",
      if (lacking[[1L]] == "ran_pars") " and no smooths")
  }
  do.call(rbind, unname(parts[unique(effects)]))
}

glance_of.bayes_logit <- function(x) {
  table <- logit_table(x)
  verdict <- logit_verdict(x, table)
  data.frame(nobs = x$rows, log_likelihood = table$mean[[nrow(table)]], chains = x$chains,
    draws = x$chains * kept_draws(x$iter, x), rhat = extreme(table$rhat, max), ess_bulk = extreme(table$ess_bulk, min),
    converged = is_usable(verdict), verdict = verdict$answer, seconds = elapsed_seconds(x$elapsed))
}

#' @rdname tidy.bayes_logit
#' @method augment bayes_logit
#' @exportS3Method generics::augment bayes_logit
augment.bayes_logit <- function(x, data = NULL, newdata = NULL, ...) {
  check_method(x, "x", ...)
  if (!is.null(newdata)) {
    mean <- predicted_means(predict.bayes_logit(x, newdata))
    return(as_table(cbind(newdata, if (is.matrix(mean)) class_columns(mean) else data.frame(.fitted = unname(mean)))))
  }
  if (is.null(data)) data <- x$frame else check_container(data, "data")
  padded <- pad_rows(x, seq_len(x$rows))
  if (!is.data.frame(data) || !nrow(data) %in% c(x$rows, length(padded))) {
    stop_input("data", sprintf("must be a data frame of the %s rows that were fitted, not ", format(x$rows)),
      show_value(data))
  }
  at <- if (nrow(data) == x$rows) seq_len(x$rows) else padded
  mean <- fitted_means(x)
  if (is.matrix(mean)) return(as_table(cbind(data, class_columns(mean)[at, , drop = FALSE])))
  as_table(cbind(data, .fitted = unname(mean)[at], .resid = unname(observed_shares(x) - mean)[at]))
}

class_columns <- function(mean) {
  matrix(mean, nrow(mean), dimnames = list(NULL, paste0(".fitted_", colnames(mean))))
}
