# A fitted mixture in the forms of other packages: the draws of posterior and coda, and
# the tables of tidy(), glance() and augment(). The methods are registered when those
# packages are loaded.

#' Draws of a fitted mixture for posterior and coda
#'
#' By default, these are the quantities that do not depend on how components are numbered
#' and can be compared between draws and chains: `log_likelihood`, `log_posterior`
#' (whose stick-breaking prior does depend on the order of the components),
#' `concentration`, `occupied` (components that hold cells) and `log_density[1]` to
#' `log_density[5]` (of the mixture, at the five rows of `fit$probe`), and the parts
#' of the prior that are learned: `prior_mean[marker]`, `prior_mean_scale`, `prior_df`, and `sample_concentration` of several samples. With
#' `components = TRUE` also `weight[j]` and `mean[j,marker]`, if the fit kept them;
#' component `j` need not be the same population in all draws.
#'
#' One iteration per kept draw, chains side by side. The methods for the
#' generics `as_draws()`, `as_draws_array()`, `as_draws_matrix()`, `as_draws_df()`,
#' `as_draws_list()` and `as_draws_rvars()` of package posterior and
#' `as.mcmc.list()` of package coda can be used when those packages are installed.
#'
#' @param x a fit from [dp_mixture()].
#' @param components whether to add the parameters of the components.
#' @param ... not used.
#' @return An object of the class that the generic's name says.
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(400), 200)
#' fit <- dp_mixture(x, components = 5, iter = 100, chains = 2, seed = 1, threads = 2)
#' if (requireNamespace("posterior", quietly = TRUE)) {
#'   posterior::summarise_draws(posterior::as_draws(fit), "mean", "rhat")
#' }
#' if (requireNamespace("coda", quietly = TRUE)) {
#'   coda::effectiveSize(coda::as.mcmc.list(fit))
#' }
#' @name as_draws.dp_mixture
NULL

# iterations x chains x variables.
array_of_draws <- function(fit, components = FALSE, call = sys.call(-1L)) {
  components <- check_flag(components, "components")
  need_sampler(fit, "there is nothing to make a table of", call)
  sweeps <- kept_sweeps(fit)
  parts <- lapply(trace_quantities(fit, warmup = TRUE), function(draws) draws[sweeps, , drop = FALSE])
  parts <- append(parts, list(log_posterior = fit$log_posterior[sweeps, , drop = FALSE]), after = 1L)
  for (name in intersect(c("prior_mean_scale", "prior_df", "sample_concentration"), names(fit$draws))) {
    parts[[name]] <- fit$draws[[name]]
  }
  for (j in seq_len(NROW(fit$draws$prior_mean))) {
    parts[[sprintf("prior_mean[%s]", fit$markers[[j]])]] <- fit$draws$prior_mean[j, , ]
  }
  if (components) {
    need_draws(fit, c("weights", "means"), call)
    for (j in seq_len(fit$components)) {
      parts[[sprintf("weight[%d]", j)]] <- fit$draws$weights[j, , ]
    }
    for (marker in fit$markers) {
      for (j in seq_len(fit$components)) {
        parts[[sprintf("mean[%d,%s]", j, marker)]] <- fit$draws$means[j, match(marker, fit$markers), , ]
      }
    }
  }
  array(unlist(parts, use.names = FALSE), c(length(sweeps), fit$chains, length(parts)),
    dimnames = list(NULL, NULL, names(parts))
  )
}

#' @rdname as_draws.dp_mixture
#' @exportS3Method posterior::as_draws_array
as_draws_array.dp_mixture <- function(x, components = FALSE, ...) {
  check_dots_empty(...)
  posterior::as_draws_array(array_of_draws(x, components))
}

#' @rdname as_draws.dp_mixture
#' @exportS3Method posterior::as_draws
as_draws.dp_mixture <- function(x, components = FALSE, ...) {
  check_dots_empty(...)
  posterior::as_draws_array(array_of_draws(x, components))
}

#' @rdname as_draws.dp_mixture
#' @exportS3Method posterior::as_draws_matrix
as_draws_matrix.dp_mixture <- function(x, components = FALSE, ...) {
  check_dots_empty(...)
  posterior::as_draws_matrix(posterior::as_draws_array(array_of_draws(x, components)))
}

#' @rdname as_draws.dp_mixture
#' @exportS3Method posterior::as_draws_df
as_draws_df.dp_mixture <- function(x, components = FALSE, ...) {
  check_dots_empty(...)
  posterior::as_draws_df(posterior::as_draws_array(array_of_draws(x, components)))
}

#' @rdname as_draws.dp_mixture
#' @exportS3Method posterior::as_draws_list
as_draws_list.dp_mixture <- function(x, components = FALSE, ...) {
  check_dots_empty(...)
  posterior::as_draws_list(posterior::as_draws_array(array_of_draws(x, components)))
}

#' @rdname as_draws.dp_mixture
#' @exportS3Method posterior::as_draws_rvars
as_draws_rvars.dp_mixture <- function(x, components = FALSE, ...) {
  check_dots_empty(...)
  posterior::as_draws_rvars(posterior::as_draws_array(array_of_draws(x, components)))
}

#' @rdname as_draws.dp_mixture
#' @exportS3Method coda::as.mcmc.list
as.mcmc.list.dp_mixture <- function(x, components = FALSE, ...) {
  check_dots_empty(...)
  draws <- array_of_draws(x, components)
  sweeps <- kept_sweeps(x)
  # Package coda has no chains without draws.
  need_draws(x, "concentration")
  coda::mcmc.list(lapply(seq_len(x$chains), function(chain) {
    values <- matrix(draws[, chain, ], dim(draws)[[1L]], dimnames = list(NULL, dimnames(draws)[[3L]]))
    coda::mcmc(values, start = sweeps[[1L]], thin = x$thin)
  }))
}

#' Tables of a fitted mixture
#'
#' Methods for the generics of package generics (and of broom, which re-exports
#' them), which can be used when that package is installed. `tidy()` has one row per component and
#' marker, `glance()` one row for the fit, and `augment()` one row per cell. Everything
#' that refers to single components comes from the reference draw; see
#' [predict.dp_mixture()].
#'
#' @param x a fit from [dp_mixture()]; for `augment()` also cell types from [cell_types()].
#' @param data the cells, as `newdata` of [predict.dp_mixture()]; `NULL` for those that
#'   were fitted.
#' @param draws number of draws that the density is averaged over; `NULL` for all. With many cells, 20 are faster by as much and often enough.
#' @inheritParams predict.dp_mixture
#' @return `tidy()`: a data frame with `component`, `weight`, `marker`, `mean` and `sd`,
#'   heaviest component first. `glance()`: a data frame with `rows`, `markers`, `components`,
#'   `occupied` (median), `concentration` (mean), `log_likelihood` (mean), `chains`,
#'   `draws`, `rhat` (largest) and `ess_bulk` (smallest) of the quantities in
#'   [summary.dp_mixture()], `converged`, `seconds`. `augment()`: all columns of `data`, or else the
#'   markers in the data's units, with `.class`, `.prob` (of that class) and
#'   `.log_density`, which agree with [predict.dp_mixture()]; for the result of [relabel()] with [predict.relabelled_mixture()], and
#'   for cell types `.type` and `.prob` with [predict.cell_types()].
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(400), 200, dimnames = list(NULL, c("CD4", "CD8")))
#' fit <- dp_mixture(x, components = 5, iter = 100, seed = 1, threads = 2)
#' if (requireNamespace("generics", quietly = TRUE)) {
#'   generics::glance(fit)
#'   head(generics::tidy(fit))
#'   head(generics::augment(fit, x, threads = 2))
#' }
#' @name tidy.dp_mixture
NULL

#' @rdname tidy.dp_mixture
#' @exportS3Method generics::tidy
tidy.dp_mixture <- function(x, ...) {
  check_dots_empty(...)
  reference <- reference_draw(x)
  order <- order(-reference$weights)
  p <- length(x$markers)
  deviation <- matrix(apply(reference$covariances, 3L, function(covariance) sqrt(diag(as.matrix(covariance)))), p)
  data.frame(
    component = rep(order, each = p), weight = rep(reference$weights[order], each = p),
    marker = rep(x$markers, length(order)),
    mean = as.vector(t(reference$means[order, , drop = FALSE])), sd = as.vector(deviation[, order])
  )
}

#' @rdname tidy.dp_mixture
#' @exportS3Method generics::glance
glance.dp_mixture <- function(x, ...) {
  check_dots_empty(...)
  if (is_bem(x)) {
    return(glance_bem(x))
  }
  table <- diagnose(x)
  value <- function(quantity, column) table[[column]][[match(quantity, table$quantity)]]
  extreme <- function(values, of) if (all(is.na(values))) NA_real_ else of(values, na.rm = TRUE)
  data.frame(
    rows = x$rows, markers = length(x$markers), components = x$components,
    occupied = value("occupied", "median"), concentration = value("concentration", "mean"),
    log_likelihood = value("log_likelihood", "mean"), chains = x$chains, draws = count_kept(x),
    rhat = extreme(table$rhat, max), ess_bulk = extreme(table$ess_bulk, min),
    converged = convergence_verdict(x, table)$converged, seconds = elapsed_seconds(x$elapsed)
  )
}

#' @rdname tidy.dp_mixture
#' @exportS3Method generics::augment
augment.dp_mixture <- function(x, data = NULL, draws = NULL, backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  call <- sys.call()
  need_draws(x, c("weights", "means", "covariances"))
  if (!is.null(draws)) {
    draws <- check_count(draws, "draws")
  }
  cells <- cells_of(x, data, argument = "data", call = call)
  run <- resolve_run(backend, threads, call = call)
  reference <- reference_draw(x)
  used <- spaced_draws(x, draws)
  class <- integer(nrow(cells))
  probability <- numeric(nrow(cells))
  density <- mean_log_density(x, used, cells, run, if (is.null(data)) x$sample)
  # 2^24 probabilities at a time: 128 MB.
  for (slice in row_slices(nrow(cells), max(1, floor(2^24 / x$components)))) {
    some <- cells_in(cells, slice)
    sample <- if (is.null(data)) x$sample[slice]
    part <- evaluate_mixture(x, reference, some, "prob", run, sample)
    class[slice] <- max.col(part, ties.method = "first")
    probability[slice] <- part[cbind(seq_along(slice), class[slice])]
  }
  cbind(all_columns(x, data, cells, call), .class = class, .prob = probability, .log_density = density)
}

#' @rdname tidy.dp_mixture
#' @exportS3Method generics::augment
augment.relabelled_mixture <- function(x, data = NULL, draws = NULL, backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  call <- sys.call()
  cells <- cells_of(x, data, argument = "data", call = call)
  get <- function(type, ...) unname(predict(x, data, type = type, ..., backend = backend, threads = threads))
  cbind(all_columns(x, data, cells, call), .class = get("class"), .prob = 1 - get("uncertainty"), .log_density = get("log_density", draws = draws))
}

#' @rdname tidy.dp_mixture
#' @exportS3Method generics::augment
augment.cell_types <- function(x, data = NULL, backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  call <- sys.call()
  cells <- cells_of(x$fit, data, argument = "data", call = call)
  get <- function(type) unname(predict(x, data, type = type, backend = backend, threads = threads))
  found <- if (is.null(data)) list(type = x$type, prob = x$probability) else list(type = get("type"), prob = 1 - get("uncertainty"))
  cbind(all_columns(x$fit, data, cells, call), .type = found$type, .prob = found$prob)
}

# All columns that the user gave, as a data frame; without `data` the markers in the data's units.
all_columns <- function(fit, data, cells, call) {
  if (is.null(data)) {
    return(as.data.frame(in_data_units(fit, cells)))
  }
  if (is.data.frame(data)) {
    return(data)
  }
  values <- expression_matrix(data, NULL, "data", call)
  if (is.null(colnames(values))) {
    colnames(values) <- fit$markers
  }
  as.data.frame(values)
}
