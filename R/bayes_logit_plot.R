# Pictures of a fitted regression.

#' Plot a fitted regression
#'
#' Draws the coefficients, the chains, or how well the fitted responses agree with the observed ones.
#'
#' \describe{
#'   \item{`"coefficients"`}{Posterior means, with intervals that hold 50% and 90% of the draws. A coefficient is
#'     multiplied by the standard deviation of its predictor, so that predictors in small and in large units compare.}
#'   \item{`"trace"`}{The log likelihood and the first coefficients over the sweeps, with a line for each chain. The
#'     warm-up is shaded, and \eqn{\hat R} stands in the margin.}
#'   \item{`"calibration"`}{Rows are divided into ten groups of equal size by their fitted response. The picture shows
#'     the mean observed response of each group against its mean fitted response, with two standard errors of the
#'     observed mean. For a multinomial each class of a row counts as a row.}
#' }
#'
#' @param x a fit from [bayes_logit()].
#' @param type which picture.
#' @param parameters for `"coefficients"` and `"trace"`: names or numbers of parameters. `NULL` shows all coefficients
#'   except the intercept, or the traces of the log likelihood and of the first five parameters.
#' @param standardize for `"coefficients"`: `FALSE` shows the coefficients in the units of the data.
#' @param main title, `NULL` for none.
#' @param ... must be empty.
#' @return `x`, invisibly.
#' @section Errors:
#' `warpbayes_error_input` for parameters that the fit does not have.
#' @examples
#' fit <- bayes_logit(am ~ wt + hp, mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#' plot(fit)
#' plot(fit, "trace")
#' plot(fit, "calibration")
#' @export
plot.bayes_logit <- function(x, type = c("coefficients", "trace", "calibration"), parameters = NULL, main = NULL,
                             standardize = TRUE, ...) {
  check_dots_empty(...)
  check_title(main)
  type <- check_choice(type, "type", c("coefficients", "trace", "calibration"))
  coefficient_draws(x)
  standardize <- check_flag(standardize, "standardize")
  paint_picture(switch(type,
    coefficients = coefficient_picture(x, parameters, standardize, main),
    trace = trace_picture(logit_trace_parts(x, parameters), main),
    calibration = calibration_picture(x, main)
  ))
  invisible(x)
}

chosen_parameters <- function(parameters, names, default) {
  if (is.null(parameters)) return(default)
  at <- if (is.character(parameters)) match(parameters, names) else parameters
  if (!is.numeric(at) || length(at) == 0L || anyNA(at) || !all(at %in% seq_along(names))) {
    stop_input("parameters", "must be names or numbers of the fit's ", length(names), " parameters, not ",
      show_value(parameters))
  }
  names[at]
}

# Posterior means of parameters with intervals of 50% and 90%, from the first to the last.
coefficient_picture <- function(fit, parameters, standardize, main) {
  draws <- logit_draws(fit)
  names <- dimnames(draws)[[3L]]
  is_intercept <- rep(fit$design$is_intercept, length.out = length(fit$coefficient_names))
  slopes <- setdiff(fit$coefficient_names, fit$coefficient_names[is_intercept])
  shown <- chosen_parameters(parameters, names, if (length(slopes)) slopes else names)
  unit <- stats::setNames(rep(fit$design$scale, length.out = length(fit$coefficient_names)), fit$coefficient_names)
  points <- vapply(shown, function(name) {
    values <- as.vector(draws[, , name]) * if (standardize && name %in% names(unit)) unit[[name]] else 1
    c(stats::quantile(values, c(0.05, 0.25, 0.75, 0.95), names = FALSE), mean(values))
  }, numeric(5L))
  rows <- data.frame(name = shown, estimate = points[5L, ], lower = points[1L, ], upper = points[4L, ],
    inner_lower = points[2L, ], inner_upper = points[3L, ], colour = chain_colours[[1L]])
  interval_picture(rows, main, paste0(
    "posterior mean, 50% and 90% intervals", if (standardize) ",\nfor a standard deviation of the predictor"
  ))
}

# As trace_parts() of a mixture.
logit_trace_parts <- function(fit, parameters) {
  quantities <- logit_quantities(fit, warmup = TRUE)
  default <- unique(c("log_likelihood", utils::head(names(quantities), 5L)))
  shown <- chosen_parameters(parameters, names(quantities), default)
  settled <- logit_quantities(fit)
  table <- diagnose_quantities(settled)
  rows <- match(shown, table$quantity)
  list(
    draws = quantities[shown], sweeps = fit$iter, warmup = min(fit$warmup, fit$iter), chains = fit$chains,
    titles = ifelse(shown == "log_likelihood", "log likelihood", shown),
    range = lapply(quantities[shown], settled_range, fit$warmup), rhat = table$rhat[rows],
    differs = differing(settled, table)[rows], axis = "Sweep"
  )
}

# The mean observed response of groups of rows against their mean fitted response, with two standard errors.
calibration_picture <- function(fit, main) {
  mean <- as.vector(fitted_means(fit))
  observed <- as.vector(observed_shares(fit))
  weight <- if (is_count_family(fit$family)) {
    fit$weights
  } else {
    as.vector(matrix(fit$weights * fit$response$trials, fit$rows, length(mean) / fit$rows))
  }
  used <- weight > 0
  part <- ceiling(10 * rank(mean[used], ties.method = "first") / sum(used))
  summaries <- vapply(split(seq_along(part), part), function(i) {
    w <- weight[used][i] / sum(weight[used][i])
    average <- sum(w * observed[used][i])
    c(sum(w * mean[used][i]), average, 2 * sqrt(sum(w^2 * (observed[used][i] - mean[used][i])^2)))
  }, numeric(3L))
  fitted <- summaries[1L, ]
  low <- summaries[2L, ] - summaries[3L, ]
  high <- summaries[2L, ] + summaries[3L, ]
  ends <- around(c(fitted, low, high))
  picture(list(panel(ends, ends, list(
    layer("segments", x = ends[[1L]], y = ends[[1L]], xend = ends[[2L]], yend = ends[[2L]], colour = "#BBBBBB"),
    layer("segments", x = fitted, y = low, xend = fitted, yend = high, colour = chain_colours[[1L]]),
    layer("points", x = fitted, y = summaries[2L, ], fill = "white", colour = chain_colours[[1L]])
  ))), main, "fitted", "observed, with two standard errors")
}
