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
    coefficients = plot_coefficients(x, parameters, check_flag(standardise, "standardise"), main, sys.call()),
    trace = plot_logit_trace(x, parameters, main, sys.call()),
    calibration = plot_calibration(x, main)
  )
  invisible(x)
}

chosen_parameters <- function(parameters, names, default, call) {
  if (is.null(parameters)) {
    return(default)
  }
  at <- if (is.character(parameters)) match(parameters, names) else parameters
  if (!is.numeric(at) || length(at) == 0L || anyNA(at) || !all(at %in% seq_along(names))) {
    stop_input("parameters", "must be names or numbers of the fit's ", length(names), " parameters, not ",
      show_value(parameters), call = call)
  }
  names[at]
}

plot_coefficients <- function(fit, parameters, standardise, main, call) {
  draws <- logit_draws(fit)
  names <- dimnames(draws)[[3L]]
  is_intercept <- rep(fit$design$is_intercept, length.out = length(fit$coefficient_names))
  slopes <- setdiff(fit$coefficient_names, fit$coefficient_names[is_intercept])
  shown <- chosen_parameters(parameters, names, if (length(slopes)) slopes else names, call)
  unit <- stats::setNames(rep(fit$design$scale, length.out = length(fit$coefficient_names)), fit$coefficient_names)
  points <- vapply(shown, function(name) {
    values <- as.vector(draws[, , name]) * if (standardise && name %in% names(unit)) unit[[name]] else 1
    c(stats::quantile(values, c(0.05, 0.25, 0.75, 0.95), names = FALSE), mean(values))
  }, numeric(5L))
  at <- rev(seq_along(shown))
  old <- graphics::par(
    mar = c(3.6, 2 + 0.55 * max(nchar(shown)), if (is.null(main)) 1 else 2.4, 1), mgp = c(2.2, 0.6, 0), tcl = -0.25,
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
  graphics::title(main = main, xlab = paste0(
    "posterior mean, 50% and 90% intervals", if (standardise) ", for a standard deviation of the predictor"
  ))
}

plot_logit_trace <- function(fit, parameters, main, call) {
  quantities <- logit_quantities(fit, warmup = TRUE)
  default <- unique(c("log_likelihood", utils::head(names(quantities), 5L)))
  shown <- chosen_parameters(parameters, names(quantities), default, call)
  table <- diagnose_quantities(logit_quantities(fit))
  old <- graphics::par(
    mfrow = c(length(shown), 1L), mar = c(0.4, 4.6, 1.7, 4.2), oma = c(3.6, 0, if (is.null(main)) 0 else 2, 0),
    las = 1, mgp = c(3.4, 0.6, 0), tcl = -0.25
  )
  on.exit(graphics::par(old))
  for (name in shown) {
    draws <- quantities[[name]]
    settled <- draws[seq_len(fit$iter) > fit$warmup / 3, , drop = FALSE]
    graphics::plot.new()
    graphics::plot.window(c(1, max(fit$iter, 2)), grDevices::extendrange(range(settled[is.finite(settled)]), f = 0.06))
    usr <- graphics::par("usr")
    if (fit$warmup > 0) {
      graphics::rect(usr[[1L]], usr[[3L]], fit$warmup + 0.5, usr[[4L]], col = "#EEEEEE", border = NA)
    }
    for (chain in seq_len(fit$chains)) {
      graphics::lines(draws[, chain], col = rep_len(chain_colours, fit$chains)[[chain]], lwd = 0.6)
    }
    graphics::axis(2L)
    graphics::box()
    graphics::mtext(if (name == "log_likelihood") "log likelihood" else name, side = 3L, adj = 0, line = 0.2, cex = 0.8)
    graphics::mtext(format_rhat(table$rhat[match(name, table$quantity)]), side = 4L, line = 0.5, cex = 0.75)
  }
  graphics::axis(1L)
  graphics::mtext("sweep", side = 1L, line = 2.2, cex = 0.8)
  if (!is.null(main)) {
    graphics::mtext(main, outer = TRUE, line = 0.5, font = 2L)
  }
  paint_chain_key(fit$chains)
}

plot_calibration <- function(fit, main) {
  mean <- as.vector(fitted_means(fit, sys.call()))
  observed <- as.vector(observed_shares(fit))
  weight <- if (fit$family == "negbinomial") {
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
