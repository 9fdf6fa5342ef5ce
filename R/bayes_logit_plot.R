# plot() of a fitted regression in base graphics.

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
#' @param standardise for `"coefficients"`: `FALSE` shows the coefficients in the units of the data.
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
                             standardise = TRUE, ...) {
  check_dots_empty(...)
  check_title(main)
  type <- check_choice(type, "type", c("coefficients", "trace", "calibration"))
  coefficient_draws(x)
  switch(type,
    coefficients = plot_coefficients(coefficient_parts(x, parameters, check_flag(standardise, "standardise")), main),
    trace = plot_trace(logit_trace_parts(x, parameters), main),
    calibration = plot_calibration(x, main)
  )
  invisible(x)
}

chosen_parameters <- function(parameters, names, default) {
  if (is.null(parameters)) {
    return(default)
  }
  at <- if (is.character(parameters)) match(parameters, names) else parameters
  if (!is.numeric(at) || length(at) == 0L || anyNA(at) || !all(at %in% seq_along(names))) {
    stop_input("parameters", "must be names or numbers of the fit's ", length(names), " parameters, not ",
      show_value(parameters))
  }
  names[at]
}

# Posterior means of parameters with intervals of 50% and 90%, from the first to the last; and what the axis shows.
coefficient_parts <- function(fit, parameters, standardise) {
  draws <- logit_draws(fit)
  names <- dimnames(draws)[[3L]]
  is_intercept <- rep(fit$design$is_intercept, length.out = length(fit$coefficient_names))
  slopes <- setdiff(fit$coefficient_names, fit$coefficient_names[is_intercept])
  shown <- chosen_parameters(parameters, names, if (length(slopes)) slopes else names)
  unit <- stats::setNames(rep(fit$design$scale, length.out = length(fit$coefficient_names)), fit$coefficient_names)
  points <- vapply(shown, function(name) {
    values <- as.vector(draws[, , name]) * if (standardise && name %in% names(unit)) unit[[name]] else 1
    c(stats::quantile(values, c(0.05, 0.25, 0.75, 0.95), names = FALSE), mean(values))
  }, numeric(5L))
  list(names = shown, points = points, xlab = paste0(
    "posterior mean, 50% and 90% intervals", if (standardise) ",\nfor a standard deviation of the predictor"
  ))
}

plot_coefficients <- function(parts, main) {
  shown <- parts$names
  points <- parts$points
  at <- rev(seq_along(shown))
  old <- graphics::par(
    mar = c(4.6, 2 + 0.55 * max(nchar(shown)), if (is.null(main)) 1 else 2.4, 1), mgp = c(3.2, 0.6, 0), tcl = -0.25,
    las = 1
  )
  on.exit(graphics::par(old))
  graphics::plot.new()
  graphics::plot.window(range(0, points), c(0.5, length(shown) + 0.5))
  graphics::abline(v = 0, col = "#BBBBBB")
  graphics::segments(points[1L, ], at, points[4L, ], at, col = chain_colours[[1L]])
  graphics::segments(points[2L, ], at, points[3L, ], at, col = chain_colours[[1L]], lwd = 4, lend = 1)
  graphics::points(points[5L, ], at, pch = 21, bg = "white", col = chain_colours[[1L]])
  graphics::axis(1L)
  graphics::axis(2L, at, shown, tick = FALSE)
  graphics::title(main = main, xlab = parts$xlab)
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

# Groups of rows: the mean fitted and observed response, and two standard errors of the latter.
calibration_parts <- function(fit) {
  mean <- as.vector(fitted_means(fit))
  observed <- as.vector(observed_shares(fit))
  weight <- if (fit$family == "negbinomial") {
    fit$weights
  } else {
    as.vector(matrix(fit$weights * fit$response$trials, fit$rows, length(mean) / fit$rows))
  }
  used <- weight > 0
  part <- ceiling(10 * rank(mean[used], ties.method = "first") / sum(used))
  vapply(split(seq_along(part), part), function(i) {
    w <- weight[used][i] / sum(weight[used][i])
    average <- sum(w * observed[used][i])
    c(sum(w * mean[used][i]), average, 2 * sqrt(sum(w^2 * (observed[used][i] - mean[used][i])^2)))
  }, numeric(3L))
}

plot_calibration <- function(fit, main) {
  summaries <- calibration_parts(fit)
  old <- graphics::par(mar = c(3.6, 3.8, if (is.null(main)) 1 else 2.4, 1), mgp = c(2.4, 0.6, 0), tcl = -0.25, las = 1)
  on.exit(graphics::par(old))
  range <- range(summaries[1L, ], summaries[2L, ] - summaries[3L, ], summaries[2L, ] + summaries[3L, ])
  graphics::plot.new()
  graphics::plot.window(range, range)
  graphics::abline(0, 1, col = "#BBBBBB")
  graphics::segments(summaries[1L, ], summaries[2L, ] - summaries[3L, ], summaries[1L, ],
    summaries[2L, ] + summaries[3L, ],
    col = chain_colours[[1L]]
  )
  graphics::points(summaries[1L, ], summaries[2L, ], pch = 21, bg = "white", col = chain_colours[[1L]])
  graphics::axis(1L)
  graphics::axis(2L)
  graphics::box()
  graphics::title(main = main, xlab = "fitted", ylab = "observed, with two standard errors")
}
