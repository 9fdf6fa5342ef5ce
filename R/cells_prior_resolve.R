# The prior in the units of the sampler: parts that the user gives, and parts that are set from the data.

#' The model of Dirichlet-process mixtures
#'
#' The formulas behind [dp_mixture()] and [dp_prior()].
#' @section The mixture:
#' For cells \eqn{x_i} with \eqn{p} markers, and at most \eqn{k} components,
#' \deqn{x_i \sim \sum_{j=1}^k \pi_j N(\mu_j, \Sigma_j),\quad
#'   \mu_j \mid \Sigma_j \sim N(m, \gamma\Sigma_j),\quad
#'   \Sigma_j \sim IW,\ E\,\Sigma_j = \Phi,}
#' \deqn{\pi_1 = v_1,\ \pi_j = v_j \prod_{r<j}(1 - v_r),\ v_k = 1,\quad
#'   v_j \sim Be(1, \alpha),\quad \alpha \sim Ga(e, f).}
#' The inverse Wishart distribution has \eqn{\nu + p + 1} degrees of freedom and scale matrix \eqn{\nu\Phi}.
#' @section Parts that are learned:
#' A part that is learned has a prior distribution around its value, in units of each marker's standard deviation:
#' `mean` is normal with variance 1; `mean_scale` is inverse gamma with shape 2 and the value as its mean; `scale` is
#' Wishart with p + 2 degrees of freedom and the value as its mean; `df` is uniform on 25 numbers, evenly spaced on the
#' log scale: from 1/4 to 8 (p + 2) or, if a value is given, from an eighth of it to eight times it.
#' @section Several samples:
#' [Several samples][mixture_samples] have the same components, and each sample \eqn{s} has its own weights \eqn{\pi_s},
#' as in the hierarchical Dirichlet process of Teh et al. (2006), truncated at \eqn{k} components:
#' \deqn{\beta_1 = v_1,\ \beta_j = v_j \prod_{r<j}(1 - v_r),\quad
#'   \pi_s \mid \beta \sim Dirichlet(a\beta_1, \ldots, a\beta_k),\quad a \sim Ga,}
#' with sticks \eqn{v_j} as above.
#' @section The floor:
#' If many cells agree exactly in a marker, a component could shrink without end. So each value is known only to within
#' a standard deviation, the `floor`. The posterior is proportional to the prior times \eqn{\prod_i N(x_i \mid
#' \mu_{z_i}, \Sigma_{z_i}) \exp(-\mathrm{tr}(\Sigma_{z_i}^{-1} E) / 2)}, where \eqn{z_i} is the component of cell
#' \eqn{i}, and \eqn{E} is the diagonal matrix of squared floors. The log likelihood and log posterior of a fit include
#' this factor; predicted densities do not. If most values of a marker lie on a grid, the default floor is at least its
#' gap divided by \eqn{\sqrt{12}}.
#' @references
#' Teh, Y. W., Jordan, M. I., Beal, M. J. and Blei, D. M. (2006). Hierarchical Dirichlet processes. *Journal of the
#' American Statistical Association* **101**, 1566-1581.
#' @name mixture_model
NULL

# In units of each marker's standard deviation; df is p + extra_df. narrow_prior() starts some scales at piled_sd.
prior_defaults <- list(mean_scale = 5, extra_df = 2, sd = 0.5, piled_sd = 0.1, floor = 1e-3,
  concentration = c(shape = 1, rate = 1), sample_concentration = c(shape = 2, rate = 0.1))

# The prior of the standardised data (x - center) / unit: mean (p), mean_scale, df, scale (p x p), concentration, floor
# (p variances). `given`: parts from the user. `resolution`: each marker's error of rounding (standard deviation).
resolve_prior <- function(prior, center, unit, markers, resolution = numeric(length(markers))) {
  if (!inherits(prior, "dp_prior")) stop_input("prior", "must come from dp_prior(), not ", show_value(prior))
  if (inherits(prior, "dp_prior_resolved")) prior <- data_units(prior)
  p <- length(markers)
  mean <- numeric(p)
  if (!is.null(prior$mean)) mean <- (per_marker(prior$mean, "prior$mean", markers) - center) / unit
  floor <- pmax(prior_defaults$floor, resolution / unit)
  if (!is.null(prior$floor)) floor <- per_marker(prior$floor, "prior$floor", markers) / unit
  parts <- c(prior_parts, "concentration", "sample_concentration", "floor")
  given <- names(Filter(Negate(is.null), unclass(prior)[parts]))
  structure(list(
    mean = unname(mean), mean_scale = or_else(prior$mean_scale, prior_defaults$mean_scale),
    df = or_else(prior$df, p + prior_defaults$extra_df), scale = resolve_scale(prior$scale, unit, markers),
    concentration = or_else(prior$concentration, prior_defaults$concentration),
    sample_concentration = or_else(prior$sample_concentration, prior_defaults$sample_concentration),
    floor = unname(floor)^2, learn = or_else(prior$learn, setdiff(prior_parts, given)),
    df_grid = or_else(prior$df_grid, df_grid(prior$df, p)),
    given = given, markers = markers, center = unname(center), unit = unname(unit)
  ), class = c("dp_prior_resolved", "dp_prior", "warpbayes"))
}

resolve_scale <- function(given, unit, markers) {
  scale <- if (is.null(given)) {
    diag(prior_defaults$sd^2, length(markers))
  } else if (is.matrix(given)) {
    if (nrow(given) != length(markers)) {
      stop_input("prior$scale", sprintf("is %d x %d; %s", nrow(given), ncol(given), there_are(markers)))
    }
    by_dimnames(given, markers, "prior$scale", "marker") / outer(unit, unit)
  } else {
    diag(per_marker(given, "prior$scale", markers) / unit^2, length(markers))
  }
  unname((scale + t(scale)) / 2)
}

# In the units of the data, as dp_prior() gives it, so that another fit can use it.
data_units <- function(prior) {
  prior$mean <- stats::setNames(prior$mean * prior$unit + prior$center, prior$markers)
  prior$scale <- prior$scale * outer(prior$unit, prior$unit)
  prior$floor <- stats::setNames(sqrt(prior$floor) * prior$unit, prior$markers)
  dimnames(prior$scale) <- list(prior$markers, prior$markers)
  prior
}

df_grid <- function(df, p) {
  ends <- if (is.null(df)) c(0.25, 8 * (p + prior_defaults$extra_df)) else df * c(1 / 8, 8)
  exp(seq(log(ends[[1L]]), log(ends[[2L]]), length.out = 25L))
}

# Each marker's error of rounding, (median) gap / sqrt(12), if its values lie on a grid; otherwise 0.
resolution <- function(data) {
  vapply(seq_along(data$markers), function(j) {
    values <- data_values(some_values(data$x, j), data$transform, j)
    stats::median(grid_gap(values) / units_of_scale(values, data$transform, j)) / sqrt(12)
  }, 0)
}

# The gap of a grid on which most values come more than once; 0 without such a grid.
grid_gap <- function(values) {
  distinct <- unique(signif(values, 10))
  if (length(distinct) < 2L || length(distinct) > length(values) / 2) return(0)
  steps <- diff(sort(distinct))
  gap <- min(steps)
  if (all(abs(steps / gap - round(steps / gap)) < 0.01)) gap else 0
}

per_marker <- function(value, argument, markers) {
  p <- length(markers)
  if (!length(value) %in% c(1L, p)) {
    stop_input(argument, sprintf("has length %d; %s", length(value), there_are(markers)))
  }
  rep_len(as.double(by_names(value, markers, argument, "marker")), p)
}
