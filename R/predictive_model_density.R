# Densities by copulas (R/predictive_scale.R, R/predictive_calibration.R).

#' Densities by copulas as predictive models
#'
#' A nonparametric model for [predictive_resample()]: a density of one or several variables. It starts from a standard
#' normal distribution of the standardised data. Observation i is mixed in with the weight
#' \eqn{\alpha_i = (2 - 1/i)/(i + 1)}, through a Gaussian copula of correlation `rho` (Fong, Holmes and Walker 2023,
#' \doi{10.1093/jrsssb/qkad005}). A larger `rho` is a smaller bandwidth.
#'
#' @section Calibration:
#' With the published settings posteriors are too wide or too narrow. For up to three variables `rho` is therefore
#' chosen within \[0.7, 0.95\] (several: \[0.5, 0.95\]), and the standard deviation of the mean is about s/sqrt(n).
#'
#' @section Scale and point masses:
#' One variable is predicted on the scale with the best prequential score: the data's own, one for long tails, or one
#' for two groups. Point masses are values far more frequent than others, such as 0 in amounts, values on a bound of
#' `support`, and far outliers. The density is that of the rest. If few values are distinct, as in answers from 1 to 5,
#' all form an urn as in [bayesian_bootstrap()]; counts with a long tail are point masses and a density.
#'
#' Two and three variables may be predicted on axes without correlation, one of them less a quadratic curve in another.
#'
#' @param rho correlation of the copula, between 0 and 1: one, or one for each coordinate. `NULL`: the best log score.
#' @param points where distributions are evaluated: a vector, or a matrix with the data's columns. `NULL` takes 200
#'   values over the range of the data or, for several columns, the rows of the data.
#' @param standardize whether to standardise the columns. If not, the data should look like standard normal draws.
#' @param permutations number of random orders of the data to average over; 0 for the order as given.
#' @param bandwidths if correlations are chosen: `"one"` for all coordinates, or one for `"each"`.
#' @param calibrate whether to calibrate. `FALSE` chooses `rho` within \[0.001, 0.999\] and resamples as published.
#' @param support ends of the possible values of one variable, such as `c(0, Inf)` for amounts.
#' @param scale `"auto"` chooses scale, urn and axes; `"data"` (and `calibrate = FALSE`) keeps the data's scale.
#' @return A list of class `predictive_model`.
#' @examples
#' copula_density(support = c(0, Inf))
#' @export
copula_density <- function(rho = NULL, points = NULL, standardize = TRUE, permutations = 10,
                           bandwidths = c("one", "each"), calibrate = TRUE, support = c(-Inf, Inf),
                           scale = c("auto", "data")) {
  must_be(is.numeric(support) && length(support) == 2L && support[[1L]] < support[[2L]], "support",
    "two numbers, the first the smaller", support)
  copula_model("copula_density", support = as.double(support), scale = check_choice(scale, "scale", c("auto", "data")),
    points = given_data(points, "points"), rho = rho, standardize = standardize, permutations = permutations,
    bandwidths = bandwidths, choices = c("one", "each"), calibrate = calibrate)
}

density_kind <- function(...) {
  copula_kind(
    words = function(model) {
      copula_words(model, "density by copula updates", if (!isTRUE(model$calibrate)) "; published settings")
    },
    read = read_density, types = c("density", "cdf", "log_density"), new_points = density_new_points, ...
  )
}

add_kind("copula_density", function() density_kind(
  choose = on_better_scale, ends = function(fit) if (is_calibrated(fit)) calibrated_ends else rho_ends,
  inner = function(fit) {
    at <- points_beyond(fit$data$y, 0.6, 64L, c(0.4, 0.9, 1.5, 2.2, 3, 4))
    at <- sort(unique(c(at, stats::quantile(fit$data$y, stats::ppoints(48L), names = FALSE))))
    list(y = matrix(at), x = matrix(0, length(at), 0L))
  },
  calibrate = calibrate_one, unplaced = unplaced_one, base = density_base, own = density_quantities,
  remaining = density_remaining, simulate = simulate_density, picture = density_picture,
  reasons = list(density_unsupported, width_reasons, atoms_reasons, density_scale_reason, density_support_reason,
    points_reason, density_checks)
))

add_kind("densities", function() density_kind(
  choose = on_better_axes, ends = function(fit) if (is_calibrated(fit)) several_ends else rho_ends,
  inner = function(fit) if (ncol(fit$data$y) < 4L && is.list(fit$functional)) several_points(fit, 400L),
  calibrate = calibrate_several, unplaced = several_unplaced, base = several_base, own = several_quantities,
  reasons = list(several_unsupported, densities_bandwidth, axes_reason, several_checks)
))

read_density <- function(fit, y) {
  y <- as_columns(y, "y")
  model <- fit$model
  d <- ncol(y)
  columns <- count_words(d, "column")
  if (!length(model$rho) %in% c(0L, 1L, d)) {
    stop_input("rho", sprintf("has %d values; the data have %s", length(model$rho), columns))
  }
  fit$model$rho <- by_names(model$rho, colnames(y), "rho", "variable")
  n <- nrow(y)
  atoms <- NULL
  support <- model$support
  check_gini(y, fit$functional)
  if (d > 1L) {
    if (any(is.finite(support))) stop_input("support", "is for one variable; the data have ", columns)
  } else {
    outside <- match(TRUE, y < support[[1L]] | y > support[[2L]])
    if (!is.na(outside)) {
      stop_input("support", sprintf("is %s to %s, and `y` has the value %s at position %d", format(support[[1L]]),
        format(support[[2L]]), format(y[[outside]]), outside))
    }
    if (isTRUE(model$calibrate)) atoms <- find_point_masses(drop(y), support)
    rest <- function() y[!y %in% atoms$value, , drop = FALSE]
    if (isTRUE(model$calibrate) && model$scale == "auto" && is.null(model$rho) &&
      (length(unique(rest())) < 2L && diff(range(y)) > 0 || is_discrete(rest()))) {
      atoms <- before_tail(drop(y))
      if (is.null(atoms)) return(start_discrete(fit, drop(y)))
      support <- atoms$support
    }
    y <- rest()
    if (nrow(y) == 0L) stop_input("y", "has only values on the bounds of `support`: bayesian_bootstrap() takes them")
  }
  points <- model$points
  if (is.null(points)) {
    points <- if (d > 1L) unique(y) else {
      margin <- standard_of(y, model$standardize, "y")$scale
      seq(max(min(y) - margin, support[[1L]]), min(max(y) + margin, support[[2L]]), length.out = 200L)
    }
  }
  points <- as_columns(points, "points")
  if (ncol(points) != d) stop_input("points", "has ", count_words(ncol(points), "column"), "; the data have ", d)
  fit <- with_parts(fit, n = n, points = if (d == 1L) drop(unname(points)) else points, atoms = atoms)
  if (d == 1L) return(on_scale(fit, drop(y), new_scale(support)))
  standard <- c(standard_of(y, model$standardize, "y"), list(names = column_labels(y)))
  fit <- with_parts(fit, kind = "densities", standard = standard, data = density_data(y, standard))
  with_parts(fit, at = density_points(fit, points))
}

density_data <- function(y, standard) list(binary = FALSE, y = apply_standard(y, standard), x = matrix(0, nrow(y), 0L))

on_scale <- function(fit, y, scale) {
  scale <- with_ends(scale, y)
  y <- matrix(to_scale(scale, y))
  standard <- standard_of(y, fit$model$standardize, "y")
  fit <- with_parts(fit, scale = scale, standard = standard, data = density_data(y, standard))
  with_parts(fit, at = density_points(fit, matrix(fit$points)))
}

density_new_points <- function(fit, newdata, type) {
  points <- as_columns(if (is.null(newdata)) fit$points else newdata, "newdata")
  if (ncol(points) != ncol(fit$data$y)) {
    stop_input("newdata", sprintf("has %d columns; the data have %d", ncol(points), ncol(fit$data$y)))
  }
  list(at = density_points(fit, points), points = points)
}

on_better_scale <- function(fit, run) {
  fit <- fit_bandwidth(fit, run)
  if (is_calibrated(fit) && fit$model$scale == "auto") {
    y <- own_units(fit)
    score <- function(fit) fit$score - log(fit$standard$scale) + mean(log_slope(fit$scale, y))
    others <- function(scales) lapply(Filter(length, scales), function(one) fit_bandwidth(on_scale(fit, y, one), run))
    for (other in others(list(soften_log(fit$scale, y)))) if (score(other) > score(fit)) fit <- other
    base <- score(fit)
    plain <- new_scale(fit$scale$support, fit$scale$softness)
    for (other in others(list(find_bend(plain, y), find_mixture(plain, y)))) {
      other$scale$gain <- score(other) - base
      if ((other$scale$gain - max(0, fit$scale$gain)) * length(y) > 2) fit <- other
    }
  }
  atoms <- fit$atoms
  if (is.null(atoms)) return(fit)
  # Their probabilities in each resample, draws x atoms, and that of the density: the limit of Polya's urn.
  weight <- draw_shares(fit, atoms$count, nrow(fit$data$y))
  fit$atoms$weight <- t(weight[seq_along(atoms$value), , drop = FALSE])
  fit$atoms$density <- weight[nrow(weight), ]
  fit
}

density_base <- function(fit, at) {
  if (!is_placed(fit)) return(at$density)
  slope <- if (is.null(fit$calibration$groups)) at$slope else at$slope_before + group_places(fit, at, "log_slope")
  density <- stats::dnorm(unplaced_one(fit, at), log = TRUE) + slope
  exp(density - rep(log(fit$calibration$stretch * fit$standard$scale), each = nrow(density)))
}

density_quantities <- function(fit, functional) {
  refuse_kinds(functional)
  if (is.null(functional)) {
    if (length(fit$points) < 2L) return(cbind(cdf = fit$cdf[, 1L], density = fit$density[, 1L]))
    functional <- lapply(c("mean", "sd", "median"), new_functional)
  }
  functional <- lapply(functional, in_rounding_cell, fit)
  grid <- grid_with_atoms(fit$atoms, inner_places(fit), inner_cdf(fit))
  grid_functional(grid$points, grid$cdf, functional)
}

# The probability of one value, which a density puts at 0, where ties say that values are rounded: of a value among the
# data by Polya's urn of its count, since values may be heaped, and of another one by the density within half a step.
in_rounding_cell <- function(part, fit) {
  one <- part$kind == "probability" && part$lower == part$upper && !part$lower %in% fit$atoms$value
  y <- unlist(fit$given, use.names = FALSE)
  if (!one || !anyDuplicated(y)) return(part)
  count <- sum(y == part$lower)
  if (count > 0) part$drawn <- draw_shares(fit, count, fit$n - count)[1L, ]
  replace(part, c("lower", "upper"), part$lower + c(-0.5, 0.5) * rounding_step(y))
}

density_remaining <- function(fit) {
  # E H(u|v)^2 is the probability that two standard normals of correlation rho^2 are both below qnorm(u).
  inside <- fit$inner$cdf0 > 0.01 & fit$inner$cdf0 < 0.99
  if (!any(inside)) return(NULL)
  u <- inner_cdf(fit)[, inside, drop = FALSE]
  spread <- both_below(stats::qnorm(pmin(pmax(u, 1e-6), 1 - 1e-6)), step_bandwidth(fit)$rho^2) - u^2
  left <- colMeans(spread) * copula_tail(nrow(fit$data$y) + fit$horizon, most_of(fit))
  mean(left / (left + apply(u, 2L, stats::var)))
}

# P(X < h, Y < h) for standard normals of correlation r: Phi(h)^2 plus the integral of the density at (h, h) over
# correlations from 0 to r, by 16-point Gauss-Legendre quadrature.
both_below <- function(h, r) {
  node <- c(0.0950125098376374, 0.2816035507792589, 0.4580167776572274, 0.6178762444026438,
    0.7554044083550030, 0.8656312023878318, 0.9445750230732326, 0.9894009349916499)
  weight <- c(0.1894506104550685, 0.1826034150449236, 0.1691565193950025, 0.1495959888165767,
    0.1246289712555339, 0.0951585116824928, 0.0622535239386479, 0.0271524594117541)
  # In the angle asin(r) the integrand is smooth up to r = 1.
  half <- asin(r) / 2
  parts <- Map(function(node, weight) weight * exp(-h^2 / (1 + sin(half * (1 + node)))), c(-node, node), weight)
  stats::pnorm(h)^2 + Reduce(`+`, parts) * half / (2 * pi)
}

simulate_density <- function(fit, r) {
  one <- as_one(fit, r)
  one$state$conditional <- fit$state$conditional[, , r, drop = FALSE]
  grid <- grid_with_atoms(atoms_of(fit$atoms, r), inner_places(one), inner_cdf(one))
  invert_cdf(drop(grid$points), drop(grid$cdf), stats::runif(fit$n))
}
