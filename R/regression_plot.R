# Pictures of a fitted regression.

#' Plot a fitted regression
#'
#' `plot()` draws one of four pictures. `pp_check()` of package bayesplot compares observed with replicated responses.
#' @param x,object a fit from [bayes_logit()].
#' @param type `"coefficients"`: posterior means with intervals of 50% and 90%; "(per sd)" marks coefficients multiplied
#'   by the standard deviation of the predictor. `"trace"`: the log likelihood and the first coefficients over the
#'   sweeps of each chain. `"calibration"`: mean observed against mean predicted response of ten groups of rows, with
#'   two standard errors; a row is predicted without itself (by truncated importance sampling: Ionides 2008, *Journal of
#'   Computational and Graphical Statistics* **17**, 295-311). `"smooths"`: the effect of each [smooth][smooth_terms] of
#'   one variable, with intervals of 50% and 90%. For `pp_check()`: a function of package bayesplot without its `ppc_`.
#' @param parameters names or numbers of parameters or smooths; `NULL`: all but the intercept, or the first traces.
#' @param standardize `FALSE` shows coefficients in the units of the data.
#' @param main title, `NULL` for none.
#' @param ndraws number of replications.
#' @param seed for the replications, as in [predict.bayes_logit()].
#' @param ... for `pp_check()`, arguments of the function of bayesplot. Otherwise it must be empty.
#' @return `plot()` gives `x`, invisibly; `pp_check()` a ggplot object.
#' @examples
#' plot(bayes_logit(am ~ wt + hp, mtcars, chains = 2, iter = 400, seed = 1, threads = 2))
#' @export
plot.bayes_logit <- function(x, type = c("coefficients", "trace", "calibration", "smooths"), parameters = NULL,
                             main = NULL, standardize = TRUE, ...) {
  check_dots_empty(...)
  paint_picture(logit_picture(x, type, parameters, standardize, main))
  invisible(x)
}

logit_picture <- function(fit, type, parameters, standardize, main) {
  check_title(main)
  coefficient_draws(fit)
  standardize <- check_flag(standardize, "standardize")
  switch(check_choice(type, "type", c("coefficients", "trace", "calibration", "smooths")),
    coefficients = coefficient_picture(fit, parameters, standardize, main),
    trace = trace_picture(logit_trace_parts(fit, parameters), main),
    calibration = calibration_picture(fit, main),
    smooths = smooth_picture(fit, parameters, main)
  )
}

coefficient_picture <- function(fit, parameters, standardize, main) {
  draws <- logit_draws(fit)
  names <- dimnames(draws)[[3L]]
  views <- regressions_of(fit)
  is_intercept <- unlist(lapply(views, function(view) rep(view$design$is_intercept, outcomes_of(view))))
  slopes <- fit$coefficient_names[!is_intercept & unlist(lapply(views, is_shown_coefficient))]
  shown <- chosen_parameters(parameters, names, if (length(slopes)) slopes else names)
  unit <- unlist(lapply(views, function(view) {
    rep(ifelse(is_numeric_column(view), view$design$scale, 1), outcomes_of(view))
  }))
  unit <- stats::setNames(unit, fit$coefficient_names)
  if (!standardize) unit[] <- 1
  points <- vapply(shown, function(name) {
    values <- as.vector(draws[, , name]) * if (name %in% names(unit)) unit[[name]] else 1
    c(stats::quantile(values, c(0.05, 0.25, 0.75, 0.95), names = FALSE), mean(values))
  }, numeric(5L))
  scaled <- shown %in% names(unit)[unit != 1]
  rows <- data.frame(name = paste0(shown, ifelse(scaled, " (per sd)", "")), estimate = points[5L, ],
    lower = points[1L, ], upper = points[4L, ], inner_lower = points[2L, ], inner_upper = points[3L, ],
    colour = chain_colours[[1L]])
  interval_picture(rows, main, paste0("posterior mean, 50% and 90% intervals",
    if (any(scaled)) ",\nper sd: for a standard deviation of the predictor"))
}

is_numeric_column <- function(fit) {
  x <- fit$design$x
  has_several <- vapply(seq_len(ncol(x)), function(column) {
    values <- x[, column]
    length(unique(utils::head(values, 100L))) > 2L || length(unique(values)) > 2L
  }, NA)
  assigned <- attr(x, "assign")
  factors <- attr(fit$terms, "factors")
  if (is.null(assigned) || length(factors) == 0L) return(has_several)
  classes <- attr(attr(fit$frame, "terms"), "dataClasses")[rownames(factors)]
  is_category <- classes %in% c("factor", "ordered", "character", "logical")
  has_several & !c(FALSE, colSums(factors[is_category, , drop = FALSE] > 0) > 0)[assigned + 1L] %in% TRUE
}

logit_trace_parts <- function(fit, parameters) {
  quantities <- logit_quantities(fit, warmup = TRUE)
  default <- unique(c("log_likelihood", utils::head(names(quantities), 5L)))
  shown <- chosen_parameters(parameters, names(quantities), default)
  settled <- logit_quantities(fit)
  table <- diagnose_quantities(settled)
  rows <- match(shown, table$quantity)
  list(draws = quantities[shown], sweeps = fit$iter, warmup = min(fit$warmup, fit$iter), chains = fit$chains,
    titles = ifelse(shown == "log_likelihood", "log likelihood", shown),
    range = lapply(quantities[shown], settled_range, fit$warmup), rhat = table$rhat[rows],
    differs = differing(settled, table)[rows], axis = "Sweep")
}

calibration_picture <- function(fit, main) {
  points <- calibration_points(fit)
  ends <- around(unlist(points))
  picture(list(panel(ends, ends, list(
    layer("segments", x = ends[[1L]], y = ends[[1L]], xend = ends[[2L]], yend = ends[[2L]], colour = "#BBBBBB"),
    layer("segments", x = points$predicted, y = points$low, xend = points$predicted, yend = points$high,
      colour = chain_colours[[1L]]),
    layer("points", x = points$predicted, y = points$observed, fill = "white", colour = chain_colours[[1L]])
  ))), main, "predicted without the row itself", "observed, with two standard errors")
}

# A draw has the weight 1/likelihood of the row, at most the mean weight times the root of the number of draws.
left_out_means <- function(fit) {
  if (isTRUE(fit$prior_only)) return(fitted_means(fit))
  used <- draws_used(fit, max(100, min(1000, floor(1e7 / fit$rows))))
  means <- for_blocks(fit, prediction_rows(fit, NULL), used, seq_len(fit$rows), function(linear, block) {
    log_weight <- matrix(-row_log_likelihood(fit, linear, used, block, fit$response, fit$weights), length(used))
    log_weight[!is.finite(log_weight)] <- 0
    weight <- exp(log_weight - rep(apply(log_weight, 2L, max), each = length(used)))
    weight <- pmin(weight, rep(colMeans(weight) * sqrt(length(used)), each = length(used)))
    values <- family_of(fit)$mean(linear)
    dim(values) <- c(length(used), length(block), length(values) / length(weight))
    matrix(colSums(as.vector(weight) * values) / colSums(weight), length(block))
  })
  do.call(rbind, means)
}

calibration_points <- function(fit) {
  mean <- as.vector(left_out_means(fit))
  observed <- as.vector(observed_shares(fit))
  weight <- rep(fit$weights * family_of(fit)$trials(fit$response), length.out = length(mean))
  used <- weight > 0
  part <- ceiling(10 * rank(mean[used], ties.method = "first") / sum(used))
  summaries <- vapply(split(seq_along(part), part), function(i) {
    w <- weight[used][i] / sum(weight[used][i])
    average <- sum(w * observed[used][i])
    c(sum(w * mean[used][i]), average, 2 * sqrt(sum(w^2 * (observed[used][i] - mean[used][i])^2)))
  }, numeric(3L))
  list(predicted = summaries[1L, ], observed = summaries[2L, ], low = summaries[2L, ] - summaries[3L, ],
    high = summaries[2L, ] + summaries[3L, ])
}

#' @exportS3Method ggplot2::autoplot
autoplot.bayes_logit <- function(object, type = c("coefficients", "trace", "calibration", "smooths"), parameters = NULL,
                                 main = NULL, standardize = TRUE, ...) {
  check_dots_empty(...)
  gg_draw(logit_picture(object, type, parameters, standardize, main))
}
