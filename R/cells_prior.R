# The prior of the Dirichlet-process mixture as the user gives it. R/cells_prior_resolve.R sets the other parts.

prior_parts <- c("mean", "mean_scale", "df", "scale")

or_else <- function(given, default) if (is.null(given)) default else given

#' Prior of a Dirichlet-process mixture
#'
#' The prior distribution of the components and weights of [dp_mixture()]; [mixture_model] has the formulas. A part that
#' is `NULL` is set from the data when the mixture is fitted; `mean`, `mean_scale`, `df` and `scale` are then also
#' learned. `scale` changes the fit most: smaller values give more and tighter components.
#' @param mean \eqn{m}, the centre of the component means: one number per marker, or one for all, in the data's units.
#'   `NULL`: the mean of each marker.
#' @param mean_scale \eqn{\gamma > 0}: the covariance of a component's mean, in units of the component's own. `NULL`: 5.
#' @param df \eqn{\nu > 0}: the number of cells that the prior's `scale` counts as. `NULL`: p + 2 for p markers.
#' @param scale \eqn{\Phi}, the expected covariance of a component: a positive definite matrix, one variance per marker,
#'   or one for all, in the data's units squared. `NULL`: diagonal, from half of each marker's standard deviation.
#' @param concentration shape \eqn{e} and rate \eqn{f} of the gamma distribution of the concentration \eqn{\alpha}: two
#'   positive numbers. `NULL`: 1 and 1. Larger \eqn{\alpha} means more components with weight. It is always learned.
#' @param sample_concentration for [several samples][mixture_samples]: shape and rate of the gamma distribution of their
#'   concentration \eqn{a}. `NULL`: 2 and 0.1, with mean 20. The larger \eqn{a}, the more alike the samples.
#' @param floor the standard deviation to within which values are known, in the data's units: one number per marker, or
#'   one for all; 0: exactly. `NULL`: a thousandth of each marker's standard deviation, or the error of rounding.
#' @param learn which of `"mean"`, `"mean_scale"`, `"df"`, `"scale"` to learn. `NULL`: those not given. `character()`:
#'   none.
#' @return An object of class `dp_prior`: a list of the arguments. If the fit has a `transform`, they are in its units.
#' @references
#' Suchard, M. A., Wang, Q., Chan, C., Frelinger, J., Cron, A. and West, M. (2010). Understanding GPU programming for
#' statistical computation: studies in massively parallel massive mixtures. *Journal of Computational and Graphical
#' Statistics* **19**, 419-438.
#' @examples
#' dp_prior()
#' # Standard deviations of about 30, which count as much as 200 cells, are then learned.
#' dp_prior(scale = 30^2, df = 200, learn = "scale")
#' @export
dp_prior <- function(mean = NULL, mean_scale = NULL, df = NULL, scale = NULL,
                     concentration = NULL, floor = NULL, learn = NULL, sample_concentration = NULL) {
  if (!is.null(mean)) check_prior_numbers(mean, "mean", "finite numbers, one per marker or one for all")
  if (!is.null(mean_scale)) mean_scale <- check_number(mean_scale, "mean_scale", min = 0)
  if (!is.null(df)) df <- check_number(df, "df", min = 0)
  if (!is.null(scale)) check_prior_scale(scale)
  if (!is.null(concentration)) concentration <- check_concentration(concentration)
  if (!is.null(sample_concentration)) {
    sample_concentration <- check_concentration(sample_concentration, "sample_concentration")
  }
  if (!is.null(floor)) {
    check_prior_numbers(floor, "floor", "standard deviations, one per marker or one for all")
    if (any(floor < 0)) stop_input("floor", "has a negative standard deviation: ", format(floor[floor < 0][[1L]]))
  }
  if (!is.null(learn)) learn <- check_some(learn, "learn", prior_parts)
  structure(list(mean = mean, mean_scale = mean_scale, df = df, scale = scale, concentration = concentration,
    floor = floor, learn = learn, sample_concentration = sample_concentration), class = c("dp_prior", "warpbayes"))
}

check_prior_numbers <- function(value, argument, what) {
  if (!is.numeric(value) || length(value) == 0L) stop_input(argument, "must be ", what, ", not ", show_value(value))
  if (!all(is.finite(value))) {
    stop_input(argument, "must be ", what, ", but has ", format(value[!is.finite(value)][[1L]]))
  }
}

check_prior_scale <- function(scale) {
  check_prior_numbers(scale, "scale", "a positive definite matrix, variances, or one variance")
  if (!is.matrix(scale)) {
    if (any(scale <= 0)) stop_input("scale", "has a variance that is not positive: ", format(scale[scale <= 0][[1L]]))
    return(invisible())
  }
  if (nrow(scale) != ncol(scale)) {
    stop_input("scale", sprintf("must be a square matrix, not %d x %d", nrow(scale), ncol(scale)))
  }
  if (!isSymmetric(unname(scale), tol = 1e-10)) stop_input("scale", "must be symmetric")
  variances <- diag(scale)
  smallest <- if (all(variances > 0)) {
    min(eigen(stats::cov2cor(unname(scale)), symmetric = TRUE, only.values = TRUE)$values)
  }
  if (is.null(smallest) || smallest < 1e-12) {
    stop_input("scale", "must be positive definite, but ", if (is.null(smallest)) {
      paste("has the variance", format(variances[variances <= 0][[1L]]))
    } else {
      paste("the smallest eigenvalue of its correlation matrix is", format(smallest, digits = 3))
    })
  }
}

check_concentration <- function(value, argument = "concentration") {
  if (!is.numeric(value) || length(value) != 2L || !all(is.finite(value)) || any(value <= 0)) {
    stop_input(argument, "must be the shape and the rate of a gamma distribution, two positive numbers, not ",
      if (is.numeric(value) && length(value) == 2L) paste(format(value), collapse = ", ") else show_value(value))
  }
  if (is.null(names(value))) return(c(shape = as.double(value[[1L]]), rate = as.double(value[[2L]])))
  if (!setequal(names(value), c("shape", "rate"))) {
    stop_input(argument, "has the names ", list_some(names(value)), " instead of \"shape\" and \"rate\"")
  }
  c(shape = as.double(value[["shape"]]), rate = as.double(value[["rate"]]))
}

in_console.dp_prior <- function(x, ...) {
  cat("Prior of a Dirichlet-process mixture of Gaussians\n")
  for (sentence in prior_words(x)) {
    cat(strwrap(sentence, width = 0.95 * getOption("width"), indent = 2L, exdent = 4L), sep = "\n")
  }
}

prior_words <- function(prior) {
  resolved <- inherits(prior, "dp_prior_resolved")
  if (resolved) prior <- data_units(prior)
  spread <- or_else(prior$mean_scale, prior_defaults$mean_scale)
  law <- or_else(prior$concentration, prior_defaults$concentration)
  counted <- sprintf("p + %d cells, p being the markers", prior_defaults$extra_df)
  learn <- or_else(prior$learn, prior_parts[vapply(unclass(prior)[prior_parts], is.null, NA)])
  c(sprintf("Means: normal around %s, with %s times the component's own covariance; the centre counts as %s.",
      if (is.null(prior$mean)) "the mean of each marker" else named_numbers(prior$mean), short_number(spread),
      cells_words(1 / spread)),
    sprintf("Covariances: inverse Wishart, expected standard deviation %s; the guess counts as %s.",
      deviation_words(prior$scale), if (is.null(prior$df)) counted else cells_words(prior$df)),
    sprintf("Weights: stick-breaking with concentration alpha, %s, 95%% of it between %s and %s).", gamma_words(law),
      short_number(stats::qgamma(0.025, law[["shape"]], law[["rate"]])),
      short_number(stats::qgamma(0.975, law[["shape"]], law[["rate"]]))),
    if (!is.null(prior$sample_concentration)) {
      sprintf("Samples: weights of each Dirichlet around the shared ones, with concentration a, %s).",
        gamma_words(prior$sample_concentration))
    },
    if (length(learn)) {
      sprintf("Learned along with the mixture: %s%s.", paste(learn, collapse = ", "),
        if (resolved) "; the values above are where it starts" else "")
    },
    if (any(prior$floor > 0)) {
      sprintf("Floor: values are known to within the standard deviation %s.", named_numbers(prior$floor))
    },
    if (is.null(prior$mean) || is.null(prior$scale)) {
      "What refers to the markers is set from the data when the mixture is fitted."
    })
}

cells_words <- function(count) paste(short_number(count), if (count == 1) "cell" else "cells")

named_numbers <- function(values) {
  few <- utils::head(values, 6L)
  numbers <- short_number(unname(few))
  text <- paste(if (is.null(names(few))) numbers else paste(names(few), numbers), collapse = ", ")
  if (length(values) > 6L) paste0(text, ", ...") else text
}

deviation_words <- function(scale) {
  if (is.null(scale)) return(paste(short_number(prior_defaults$sd), "times that of each marker"))
  if (is.matrix(scale)) scale <- stats::setNames(diag(scale), rownames(scale))
  named_numbers(sqrt(scale))
}
