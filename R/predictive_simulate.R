# Future observations, and coefficients with their covariances, from a martingale posterior.

#' Future observations from a martingale posterior
#'
#' `simulate()` draws new data from the posterior predictive distribution. Each simulated data set comes from another
#' resample: its observations are independent draws from what this resample predicts. `coef()` gives the posterior
#' means of the quantities, `vcov()` their covariances, and `confint()` credible intervals.
#'
#' @param object a fit from [predictive_resample()].
#' @param nsim number of data sets. More than there are resamples use each of them several times.
#' @param seed passed to [set.seed()] if not `NULL`.
#' @param ... must be empty.
#' @return `simulate()` gives a data frame with a column for each data set, of as many values as there are observations.
#'   A regression or classification has a value, or a class, for each row of its `points`. A bootstrap of a matrix or
#'   data frame gives a list of resampled data. `coef()` gives a named vector, and `vcov()` a matrix; resamples without
#'   a value are left out.
#' @section Errors:
#' `warpbayes_error_input` for a density of several variables, for a fit whose parts were changed by hand, and for
#' `nsim` that is not a whole number of at least 1.
#' @examples
#' fit <- predictive_resample(precip, copula_density(),
#'   horizon = 300, draws = 100, seed = 1, threads = 2
#' )
#' new <- simulate(fit, nsim = 20, seed = 1)
#' quantile(unlist(new), c(0.05, 0.95))
#' coef(fit)
#' vcov(fit)
#' @export
simulate.martingale_posterior <- function(object, nsim = 1, seed = NULL, ...) {
  check_dots_empty(...)
  nsim <- check_count(nsim, "nsim")
  check_parts(object, "object")
  if (object$model$kind == "copula_density" && NCOL(object$points) > 1L) {
    stop_input("object", "is a density of several variables, of which no observations are drawn")
  }
  check_result_size(nsim * max(object$n, NROW(object$points)), "nsim", "simulated values")
  draw <- switch(object$model$kind,
    normal_mean = simulate_normal, bayesian_bootstrap = simulate_bootstrap,
    pitman_yor = simulate_urn, gnedin = simulate_urn,
    copula_density = simulate_density, copula_regression = simulate_regression,
    copula_classification = simulate_classes
  )
  draw_with_seed(seed, {
    simulated <- lapply(rep_len(sample.int(object$count), nsim), function(r) draw(object, r))
    names(simulated) <- paste0("sim_", seq_len(nsim))
    if (is.null(dim(simulated[[1L]]))) as.data.frame(simulated, optional = TRUE) else simulated
  })
}

simulate_normal <- function(fit, r) {
  weight <- fit$start$weight + fit$horizon
  if (is.null(fit$state$scale)) return(stats::rnorm(fit$n, fit$state$mean[[r]], fit$start$sd * sqrt(1 + 1 / weight)))
  shape <- fit$start$shape + fit$horizon / 2
  spread <- sqrt(fit$state$scale[[r]] * (1 + 1 / weight) / shape)
  fit$state$mean[[r]] + spread * stats::rt(fit$n, 2 * shape)
}

simulate_bootstrap <- function(fit, r) {
  steps <- if (is.infinite(fit$horizon)) 0 else fit$horizon
  weight <- if (fit$horizon == 0) NULL else {
    drop(native(C_predictive_bootstrap, fit$n, r - 1, 1, steps, fit$seed, resolve_run(fit$backend, fit$threads)))
  }
  rows <- sample.int(fit$n, fit$n, TRUE, weight)
  if (is.null(dim(fit$y))) fit$y[rows] else fit$y[rows, , drop = FALSE]
}

# The values where a distribution function, given at sorted points, reaches uniforms.
invert_cdf <- function(points, cdf, u) {
  cdf <- cummax(cdf)
  stats::approx(cdf, points, pmin(pmax(u, cdf[[1L]]), cdf[[length(cdf)]]), ties = "ordered")$y
}

simulate_density <- function(fit, r) {
  one <- fit
  one$count <- 1L
  one$state$conditional <- fit$state$conditional[, , r, drop = FALSE]
  if (is_placed(fit)) one$calibration[c("shift", "stretch")] <- lapply(fit$calibration[c("shift", "stretch")], `[`, r)
  one$calibration$groups <- fit$calibration$groups[r, , drop = FALSE]
  grid <- grid_with_atoms(atoms_of(fit$atoms, r), inner_places(one), inner_cdf(one))
  invert_cdf(drop(grid$points), drop(grid$cdf), stats::runif(fit$n))
}

simulate_regression <- function(fit, r) {
  last <- dim(fit$state$conditional)[[2L]]
  cdf <- matrix(fit$state$conditional[, last, r], values_each(fit))[-seq_along(fit$response_at), , drop = FALSE]
  u <- stats::runif(ncol(cdf))
  vapply(seq_along(u), function(i) invert_cdf(fit$inner_at, cdf[, i], u[[i]]), 0) + fit$at$trend
}

simulate_classes <- function(fit, r) {
  p <- fit$probability[r, ]
  factor(fit$classes[1L + (stats::runif(length(p)) < p)], fit$classes)
}

#' @rdname simulate.martingale_posterior
#' @export
coef.martingale_posterior <- function(object, ...) {
  check_method(object, "object", ...)
  colMeans(object$draws, na.rm = TRUE)
}

#' @rdname simulate.martingale_posterior
#' @export
vcov.martingale_posterior <- function(object, ...) {
  check_method(object, "object", ...)
  stats::var(object$draws[rowSums(is.na(object$draws)) == 0, , drop = FALSE])
}

#' @rdname simulate.martingale_posterior
#' @param parm,level which quantities, by name or number, `NULL` for all; and the probability of `confint()`.
#' @importFrom stats confint
#' @export
confint.martingale_posterior <- function(object, parm = NULL, level = 0.9, ...) {
  check_method(object, "object", ...)
  level <- check_number(level, "level", min = 0, max = 1)
  names <- colnames(object$draws)
  chosen <- if (is.null(parm)) seq_along(names) else if (is.character(parm)) match(parm, names) else parm
  if (!is.numeric(chosen) || anyNA(chosen) || !all(chosen %in% seq_along(names))) {
    stop_input("parm", "must be names or numbers of the quantities ", list_some(names), ", not ", show_value(parm))
  }
  quantile(object, c((1 - level) / 2, (1 + level) / 2))[chosen, , drop = FALSE]
}
