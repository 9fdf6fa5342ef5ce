# The prior of the Dirichlet-process mixture: the parts that the user gives, those that
# are set from the data, and all of them in the standardised units of the sampler.

# What the user does not give, in units of each marker's standard deviation; df is
# p + extra_df. These are where the learned parts start (bench/mixture-density.R).
prior_defaults <- list(mean_scale = 5, extra_df = 2, sd = 0.5, floor = 1e-3, concentration = c(shape = 1, rate = 1),
  sample_concentration = c(shape = 2, rate = 0.1))

# The parts of the prior that can be learned.
prior_parts <- c("mean", "mean_scale", "df", "scale")

# With fewer degrees of freedom than this, many markers and few cells a cluster, the start
# would join clusters that are far apart.
start_df <- 50

#' Prior of a Dirichlet-process mixture
#'
#' The prior distribution of components and weights. Every part that is left `NULL` is set
#' from the data when the mixture is fitted; `dp_prior()` without arguments is the default
#' of [dp_mixture()]. A prior prints as a description in words.
#'
#' The model is
#' \deqn{x_i \sim \sum_{j=1}^k \pi_j N(\mu_j, \Sigma_j),\quad
#'   \mu_j \mid \Sigma_j \sim N(m, \gamma\Sigma_j),\quad
#'   \Sigma_j \sim IW,\ E\,\Sigma_j = \Phi,}
#' \deqn{\pi_1 = v_1,\ \pi_j = v_j \prod_{r<j}(1 - v_r),\ v_k = 1,\quad
#'   v_j \sim Be(1, \alpha),\quad \alpha \sim Ga(e, f).}
#' The inverse Wishart distribution has \eqn{\nu + p + 1} degrees of freedom in the
#' usual parametrisation and scale matrix \eqn{\nu\Phi}, so that a component with
#' \eqn{n} cells and scatter \eqn{S} about the prior mean has expected covariance
#' about \eqn{(\nu\Phi + S)/(\nu + n)}: `df` counts as that many cells.
#'
#' @section What is set from the data:
#' If left `NULL`, `mean` is the mean of each marker; `scale` is diagonal with
#' standard deviations half of each marker's; `mean_scale` is 5, so that
#' component means spread a little wider than the data; `df` is p + 2 for p markers; and
#' `concentration` is gamma with shape 1 and rate 1. For a marker that does not
#' vary, 1 is used as its standard deviation. All this is on the scale on which the
#' mixture is fitted, which is that of the transformed values if `transform = "arcsinh"`.
#'
#' @section What is learned:
#' `mean`, `mean_scale`, `df` and `scale` are learned along with the mixture where they are left
#' `NULL`: then the values above are only where the chain starts. A part that is given is fixed,
#' unless `learn` names it. `learn = character()` fixes all.
#'
#' A part that is learned has a prior distribution around its value. In units of each marker's
#' standard deviation, `mean` is
#' normal with the value as its mean and variance 1; `mean_scale` is inverse gamma with
#' shape 2 and the value as its mean; `scale` is Wishart with p + 2 degrees of freedom and
#' the value as its mean; and `df` is uniform on 25 numbers, evenly spaced on the log scale,
#' from 1/4 to 8 (p + 2), or from an eighth of the value to eight times the value where
#' one is given. If nearly all draws of `df` are at an end of these numbers, the fit says so.
#' [summary()][summary.dp_mixture()] of the fit has the values that were learned.
#'
#' Of all parts, `scale` changes the fit most. Smaller values give more and tighter
#' components, several of which describe a population that is not Gaussian.
#'
#' @section Several samples:
#' Where [dp_mixture()] is given several samples, they have the same components and each its own weights, as in the
#' hierarchical Dirichlet process of Teh et al. (2006), truncated at \eqn{k} components:
#' \deqn{\beta_1 = v_1,\ \beta_j = v_j \prod_{r<j}(1 - v_r),\quad \pi_s \mid \beta \sim Dirichlet(a\beta_1, \ldots, a\beta_k),\quad
#'   a \sim Ga,}
#' with sticks \eqn{v_j} as above. A share \eqn{\beta_j} varies between samples with variance \eqn{\beta_j(1 - \beta_j)/(a + 1)}: with
#' \eqn{a} = 20 a population of 20% has standard deviation 9%. `sample_concentration` is the prior of \eqn{a}, which is learned. A sample of few
#' cells is drawn towards \eqn{\beta}, that is to the other samples.
#'
#' @section The floor:
#' Cells that agree exactly in a marker, as where an instrument writes zero for all that it
#' cannot see, would let a component shrink on to that value without end. So each cell is taken
#' to be known only to within a standard deviation, the `floor`: the posterior is proportional to
#' the prior times \eqn{\prod_i N(x_i \mid \mu_{z_i}, \Sigma_{z_i})
#' \exp(-\mathrm{tr}(\Sigma_{z_i}^{-1} E) / 2)} with \eqn{E} the diagonal matrix of squared floors,
#' which is the geometric mean of the density over errors with covariance \eqn{E}. It
#' adds \eqn{E} once for each of its cells to the scale matrix of a component. The log
#' likelihood and log posterior of a fit include this factor; predicted densities do not.
#'
#' If left `NULL`, the floor of a marker is a thousandth of its standard deviation. If its values lie
#' on a grid (whole numbers, for instance) of which more than half of them share points with others,
#' it is at least the standard deviation of rounding to that grid, the distance of neighbouring values
#' divided by \eqn{\sqrt{12}}; after `transform = "arcsinh"`, the median of these
#' distances is used. Up to 10,000 cells, evenly spaced over the rows, are looked at.
#'
#' @param mean \eqn{m}, the centre of the component means: one number per marker,
#'   or one for all, in the data's units.
#' @param mean_scale \eqn{\gamma > 0}: the covariance of a component's mean, as a multiple of the
#'   component's own covariance. The prior mean counts as `1 / mean_scale` cells.
#' @param df \eqn{\nu > 0}: the number of cells that the prior's `scale` counts as.
#' @param scale \eqn{\Phi}, the expected covariance of a component: a positive
#'   definite matrix, or the variances of the markers, or one variance for all, in
#'   the data's units squared.
#' @param concentration shape \eqn{e} and rate \eqn{f} of the gamma distribution of
#'   \eqn{\alpha}: two positive numbers. Larger \eqn{\alpha} means more components
#'   that carry weight.
#' @param sample_concentration shape and rate of the gamma distribution of \eqn{a}, two positive numbers, where
#'   several samples are fitted together; see the section on several samples. By default 2 and 0.1: mean 20.
#' @param floor the standard deviation to within which values are known, in the data's units: one
#'   number per marker, or one for all; 0 for none. See the section on the floor.
#' @param learn names of the parts to be learned along with the mixture: any of
#'   `"mean"`, `"mean_scale"`, `"df"`, `"scale"`. The others are fixed. `NULL`: those that are not
#'   given. \eqn{\alpha} is always learned.
#'
#' @return An object of class `dp_prior`: a list of the arguments.
#' @section Errors:
#' `warpbayes_error_input`, naming the argument: values that are not finite
#' numbers, a `mean_scale`, `df` or `concentration` that is not positive, a negative `floor`, a `scale`
#' that is not symmetric and positive definite; and, when the mixture is fitted, a
#' `mean` or `scale` whose size or names are not those of the markers.
#' @references
#' Ishwaran, H. and James, L. F. (2001). Gibbs sampling methods for stick-breaking
#' priors. *Journal of the American Statistical Association* **96**, 161-173.
#'
#' Teh, Y. W., Jordan, M. I., Beal, M. J. and Blei, D. M. (2006). Hierarchical Dirichlet processes. *Journal of the
#' American Statistical Association* **101**, 1566-1581.
#'
#' Suchard, M. A., Wang, Q., Chan, C., Frelinger, J., Cron, A. and West, M. (2010).
#' Understanding GPU programming for statistical computation: studies in massively
#' parallel massive mixtures. *Journal of Computational and Graphical Statistics*
#' **19**, 419-438.
#' @examples
#' dp_prior()
#' # Components are expected to have standard deviation 30 in every marker, which counts
#' # as much as 200 cells.
#' dp_prior(scale = 30^2, df = 200)
#' # The same, but the covariance is learned, starting from there.
#' dp_prior(scale = 30^2, df = 200, learn = "scale")
#' # Fewer components.
#' dp_prior(concentration = c(shape = 1, rate = 10))
#' @export
dp_prior <- function(mean = NULL, mean_scale = NULL, df = NULL, scale = NULL,
                     concentration = NULL, floor = NULL, learn = NULL, sample_concentration = NULL) {
  if (!is.null(mean)) {
    check_prior_numbers(mean, "mean", "finite numbers, one per marker or one for all")
  }
  if (!is.null(mean_scale)) {
    mean_scale <- check_number(mean_scale, "mean_scale", min = 0)
  }
  if (!is.null(df)) {
    df <- check_number(df, "df", min = 0)
  }
  if (!is.null(scale)) {
    check_prior_scale(scale)
  }
  if (!is.null(concentration)) {
    concentration <- check_concentration(concentration)
  }
  if (!is.null(sample_concentration)) {
    sample_concentration <- check_concentration(sample_concentration, "sample_concentration")
  }
  if (!is.null(floor)) {
    check_prior_numbers(floor, "floor", "standard deviations, one per marker or one for all")
    if (any(floor < 0)) {
      stop_input("floor", "has a negative standard deviation: ", format(floor[floor < 0][[1L]]))
    }
  }
  if (!is.null(learn)) {
    learn <- check_learn(learn)
  }
  structure(
    list(
      mean = mean, mean_scale = mean_scale, df = df, scale = scale,
      concentration = concentration, floor = floor, learn = learn, sample_concentration = sample_concentration
    ),
    class = "dp_prior"
  )
}

check_learn <- function(learn, call = sys.call(-1L)) {
  choices <- prior_parts
  if (!is.character(learn) || !all(learn %in% choices)) {
    wrong <- if (is.character(learn)) dQuote(setdiff(learn, choices)[[1L]], FALSE) else show_value(learn)
    stop_input("learn", "must be some of ", paste(dQuote(choices, FALSE), collapse = ", "), ", not ", wrong, call = call)
  }
  choices[choices %in% learn]
}

check_prior_numbers <- function(value, argument, what, call = sys.call(-1L)) {
  if (!is.numeric(value) || length(value) == 0L || is.factor(value)) {
    stop_input(argument, "must be ", what, ", not ", show_value(value), call = call)
  }
  if (!all(is.finite(value))) {
    stop_input(argument, "must be ", what, ", but has ", format(value[!is.finite(value)][[1L]]), call = call)
  }
}

check_prior_scale <- function(scale, call = sys.call(-1L)) {
  check_prior_numbers(scale, "scale", "a positive definite matrix, variances, or one variance", call)
  if (!is.matrix(scale)) {
    if (any(scale <= 0)) {
      stop_input("scale", "has a variance that is not positive: ", format(scale[scale <= 0][[1L]]), call = call)
    }
    return(invisible())
  }
  if (nrow(scale) != ncol(scale)) {
    stop_input("scale", sprintf("must be a square matrix, not %d x %d", nrow(scale), ncol(scale)), call = call)
  }
  if (!isSymmetric(unname(scale), tol = 1e-10)) {
    stop_input("scale", "must be symmetric", call = call)
  }
  variances <- diag(scale)
  smallest <- if (all(variances > 0)) {
    min(eigen(stats::cov2cor(unname(scale)), symmetric = TRUE, only.values = TRUE)$values)
  }
  # An eigenvalue this small of the correlations is rounding error around zero.
  if (is.null(smallest) || smallest < 1e-12) {
    stop_input("scale", "must be positive definite, but ", if (is.null(smallest)) {
      paste("has the variance", format(variances[variances <= 0][[1L]]))
    } else {
      paste("the smallest eigenvalue of its correlation matrix is", format(smallest, digits = 3))
    }, call = call)
  }
}

check_concentration <- function(value, argument = "concentration", call = sys.call(-1L)) {
  if (!is.numeric(value) || length(value) != 2L || !all(is.finite(value)) || any(value <= 0)) {
    stop_input(argument, "must be the shape and the rate of a gamma distribution, two positive numbers, not ",
      if (is.numeric(value) && length(value) == 2L) paste(format(value), collapse = ", ") else show_value(value),
      call = call
    )
  }
  if (is.null(names(value))) {
    return(c(shape = as.double(value[[1L]]), rate = as.double(value[[2L]])))
  }
  if (!setequal(names(value), c("shape", "rate"))) {
    stop_input(argument, "has the names ", list_some(names(value)), " instead of \"shape\" and \"rate\"", call = call)
  }
  c(shape = as.double(value[["shape"]]), rate = as.double(value[["rate"]]))
}

# The prior of the standardised data (x - center) / unit: mean (p), mean_scale,
# df, scale (p x p), concentration, floor (p variances). `given` says which parts the user gave.
# `resolution`: for each marker the standard deviation of the error of rounding.
resolve_prior <- function(prior, center, unit, markers, resolution = numeric(length(markers)), call = sys.call(-1L)) {
  if (!inherits(prior, "dp_prior")) {
    stop_input("prior", "must come from dp_prior(), not ", show_value(prior), call = call)
  }
  if (inherits(prior, "dp_prior_resolved")) {
    prior <- data_units(prior)
  }
  p <- length(markers)
  mean <- numeric(p)
  if (!is.null(prior$mean)) {
    mean <- (per_marker(prior$mean, "prior$mean", markers, call) - center) / unit
  }
  scale <- diag(prior_defaults$sd^2, p)
  if (is.matrix(prior$scale)) {
    scale <- match_scale(prior$scale, markers, call) / outer(unit, unit)
  } else if (!is.null(prior$scale)) {
    scale <- diag(per_marker(prior$scale, "prior$scale", markers, call) / unit^2, p)
  }
  # The compiled code reads the lower triangle.
  scale <- (scale + t(scale)) / 2
  choose <- function(given, default) if (is.null(given)) default else given
  floor <- if (is.null(prior$floor)) {
    pmax(prior_defaults$floor, resolution / unit)
  } else {
    per_marker(prior$floor, "prior$floor", markers, call) / unit
  }
  given <- names(Filter(Negate(is.null), unclass(prior)[c(prior_parts, "concentration", "sample_concentration", "floor")]))
  structure(
    list(
      mean = unname(mean),
      mean_scale = choose(prior$mean_scale, prior_defaults$mean_scale),
      df = choose(prior$df, p + prior_defaults$extra_df),
      scale = unname(scale),
      concentration = choose(prior$concentration, prior_defaults$concentration),
      sample_concentration = choose(prior$sample_concentration, prior_defaults$sample_concentration),
      floor = unname(floor)^2,
      learn = choose(prior$learn, setdiff(prior_parts, given)),
      df_grid = choose(prior$df_grid, df_grid(prior$df, p)),
      given = given,
      markers = markers, center = unname(center), unit = unname(unit)
    ),
    class = c("dp_prior_resolved", "dp_prior")
  )
}

# The prior of a fit, changed from the units of that fit to those of the data, as
# dp_prior() gives it: another fit, which has units of its own, can use it.
data_units <- function(prior) {
  prior$mean <- stats::setNames(prior$mean * prior$unit + prior$center, prior$markers)
  prior$scale <- prior$scale * outer(prior$unit, prior$unit)
  prior$floor <- stats::setNames(sqrt(prior$floor) * prior$unit, prior$markers)
  dimnames(prior$scale) <- list(prior$markers, prior$markers)
  prior
}

# The prior distributions of the parts that are learned, around their resolved values.
resolve_hyperprior <- function(prior) {
  p <- length(prior$mean)
  list(
    learn = c("mean", "mean_scale", "scale", "df") %in% prior$learn,
    mean = prior$mean, mean_scale = c(2, prior$mean_scale), scale_df = p + 2,
    packed_scale = pack(prior$scale), df_grid = prior$df_grid
  )
}

# The values that a learned df can take: around the value given, or from 1/4 to 8 (p + 2).
df_grid <- function(df, p) {
  ends <- if (is.null(df)) c(0.25, 8 * (p + prior_defaults$extra_df)) else df * c(1 / 8, 8)
  exp(seq(log(ends[[1L]]), log(ends[[2L]]), length.out = 25L))
}

# The prior by which a start joins clusters.
start_prior <- function(prior) {
  prior$df <- max(prior$df, start_df)
  prior
}

# For each marker the standard deviation of the error of rounding, gap / sqrt(12), where
# its values lie on a grid; 0 where they do not. After the arcsinh transformation the gap
# at the median distance is meant. Of a grid many values come more than once.
resolution <- function(data) {
  vapply(seq_along(data$markers), function(j) {
    values <- some_values(data$x, j)
    if (!is.null(data$transform)) {
      cofactor <- data$transform$cofactor[[j]]
      values <- cofactor * sinh(values)
    }
    gap <- grid_gap(values)
    if (!is.null(data$transform)) {
      gap <- stats::median(gap / sqrt(values^2 + cofactor^2))
    }
    gap / sqrt(12)
  }, 0)
}

grid_gap <- function(values) {
  distinct <- sort(unique(signif(values, 10)))
  if (length(distinct) < 2L || length(distinct) > length(values) / 2) {
    return(0)
  }
  steps <- diff(distinct)
  gap <- min(steps)
  if (all(abs(steps / gap - round(steps / gap)) < 0.01)) gap else 0
}

per_marker <- function(value, argument, markers, call) {
  p <- length(markers)
  if (!length(value) %in% c(1L, p)) {
    stop_input(argument, sprintf("has length %d; there %s %d marker%s", length(value), if (p == 1L) "is" else "are", p, if (p == 1L) "" else "s"), call = call)
  }
  if (length(value) == p && !is.null(names(value))) {
    check_prior_names(names(value), argument, markers, call)
    value <- value[markers]
  }
  rep_len(as.double(value), p)
}

match_scale <- function(scale, markers, call) {
  p <- length(markers)
  if (nrow(scale) != p) {
    stop_input("prior$scale", sprintf("is %d x %d; there %s %d marker%s", nrow(scale), ncol(scale), if (p == 1L) "is" else "are", p, if (p == 1L) "" else "s"), call = call)
  }
  given <- rownames(scale)
  if (is.null(given)) {
    given <- colnames(scale)
  }
  if (!is.null(given)) {
    check_prior_names(given, "prior$scale", markers, call)
    order <- match(markers, given)
    scale <- scale[order, order, drop = FALSE]
  }
  scale
}

check_prior_names <- function(given, argument, markers, call) {
  if (!setequal(given, markers)) {
    stop_input(argument, "has names other than the markers ", list_some(markers), ": ",
      list_some(c(setdiff(given, markers), setdiff(markers, given))),
      call = call
    )
  }
}

#' @param x an object of class `dp_prior`.
#' @param ... not used.
#' @rdname dp_prior
#' @export
print.dp_prior <- function(x, ...) {
  cat("Prior of a Dirichlet-process mixture of Gaussians\n")
  for (sentence in prior_words(x)) {
    cat(strwrap(sentence, width = 0.95 * getOption("width"), indent = 2L, exdent = 4L), sep = "\n")
  }
  invisible(x)
}

# One sentence each on means, covariances and weights.
prior_words <- function(prior) {
  resolved <- inherits(prior, "dp_prior_resolved")
  number <- function(value) format(signif(value, 3), trim = TRUE, big.mark = ",", decimal.mark = ".", scientific = any(abs(value) >= 1e6))
  cells <- function(value) paste(number(value), if (value == 1) "cell" else "cells")
  named <- function(value, markers) {
    few <- seq_len(min(length(value), 6L))
    text <- paste(c(if (is.null(markers)) number(value[few]) else paste(markers[few], number(value[few]))), collapse = ", ")
    if (length(value) > 6L) paste0(text, ", ...") else text
  }
  center <- if (resolved) {
    named(prior$mean * prior$unit + prior$center, prior$markers)
  } else if (is.null(prior$mean)) {
    "the mean of each marker"
  } else {
    named(prior$mean, names(prior$mean))
  }
  spread <- if (is.null(prior$mean_scale)) prior_defaults$mean_scale else prior$mean_scale
  sd <- if (resolved) {
    named(sqrt(diag(prior$scale)) * prior$unit, prior$markers)
  } else if (is.null(prior$scale)) {
    paste(number(prior_defaults$sd), "times that of each marker")
  } else if (is.matrix(prior$scale)) {
    named(sqrt(diag(prior$scale)), rownames(prior$scale))
  } else {
    named(sqrt(prior$scale), names(prior$scale))
  }
  df <- if (is.null(prior$df)) sprintf("p + %d cells, p being the markers", prior_defaults$extra_df) else cells(prior$df)
  learn <- if (is.null(prior$learn)) {
    prior_parts[vapply(unclass(prior)[prior_parts], is.null, NA)]
  } else {
    prior$learn
  }
  concentration <- if (is.null(prior$concentration)) prior_defaults$concentration else prior$concentration
  shape <- concentration[["shape"]]
  rate <- concentration[["rate"]]
  c(
    sprintf("Means: normal around %s, with %s times the component's own covariance; the centre counts as %s.",
      center, number(spread), cells(1 / spread)),
    sprintf("Covariances: inverse Wishart, expected standard deviation %s; the guess counts as %s.",
      sd, df),
    sprintf("Weights: stick-breaking with concentration alpha, gamma with shape %s and rate %s (mean %s, 95%% of it between %s and %s).",
      number(shape), number(rate), number(shape / rate),
      number(stats::qgamma(0.025, shape, rate)), number(stats::qgamma(0.975, shape, rate))),
    if (!is.null(prior$sample_concentration)) {
      law <- prior$sample_concentration
      sprintf("Samples: weights of each Dirichlet around the shared ones, with concentration a, gamma with shape %s and rate %s (mean %s).",
        number(law[["shape"]]), number(law[["rate"]]), number(law[["shape"]] / law[["rate"]]))
    },
    if (length(learn)) {
      sprintf("Learned along with the mixture: %s%s.", paste(learn, collapse = ", "),
        if (resolved) "; the values above are where it starts" else "")
    },
    if (!is.null(prior$floor) && any(prior$floor > 0)) {
      sprintf("Floor: values are known to within the standard deviation %s.",
        if (resolved) named(sqrt(prior$floor) * prior$unit, prior$markers) else named(prior$floor, names(prior$floor)))
    },
    if (!resolved && is.null(prior$mean) || !resolved && is.null(prior$scale)) {
      "What refers to the markers is set from the data when the mixture is fitted."
    }
  )
}
