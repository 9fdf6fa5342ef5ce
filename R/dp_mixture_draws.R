# The kept draws of a mixture: one draw, the reference draw, and all draws in the forms of packages posterior and coda.

# The kept draw with the highest log posterior. It represents the fit wherever a single mixture is needed.
reference_draw <- function(fit) {
  need_draws(fit, c("weights", "means", "covariances"))
  log_posterior <- fit$log_posterior[kept_sweeps(fit), , drop = FALSE]
  best <- which.max(log_posterior)
  draw <- (best - 1L) %% nrow(log_posterior) + 1L
  chain <- (best - 1L) %/% nrow(log_posterior) + 1L
  c(list(draw = draw, chain = chain, log_posterior = log_posterior[[best]]), mixture_of_draw(fit, draw, chain))
}

# The sweeps whose draws were kept, in order.
kept_sweeps <- function(fit) {
  if (is_bem(fit)) {
    return(if (fit$iter > 0) fit$iter else integer())
  }
  fit$warmup + fit$thin * seq_len(dim(fit$draws$concentration)[[1L]])
}

# One draw: weights (k), means (k x p) and covariances (p x p x k); sample_weights (k x samples) where there are
# several.
mixture_of_draw <- function(fit, draw, chain) {
  k <- fit$components
  p <- length(fit$markers)
  list(
    weights = fit$draws$weights[, draw, chain],
    sample_weights = if (!is.null(fit$draws$sample_weights)) matrix(fit$draws$sample_weights[, , draw, chain], k),
    means = matrix(fit$draws$means[, , draw, chain], k, p, dimnames = list(NULL, fit$markers)),
    covariances = array(
      fit$draws$covariances[, , , draw, chain], c(p, p, k), dimnames = list(fit$markers, fit$markers, NULL)
    )
  )
}

# Stops if the fit did not keep the `parts` of its draws, or has no draw.
need_draws <- function(fit, parts) {
  check_mixture_fit(fit)
  absent <- parts[vapply(fit$draws[parts], is.null, TRUE)]
  if (length(absent)) {
    stop_warpbayes("input", sprintf(
      "this needs the draws of %s, which the fit did not keep; fit with keep = c(%s)",
      paste(absent, collapse = " and "), paste(dQuote(union(fit$keep, absent), FALSE), collapse = ", ")
    ), argument = "keep")
  }
  if (length(fit$draws[[parts[[1L]]]]) == 0L) {
    stop_warpbayes("input", sprintf(
      paste(
        "the fit has no kept draws: it ended after %d sweeps, and the first draw is kept after %s;",
        "continue(fit, iter) adds sweeps"
      ), nrow(fit$log_likelihood), format(fit$warmup + fit$thin)
    ), argument = "iter")
  }
}

count_kept <- function(fit) {
  length(fit$draws$concentration)
}

# In the forms of other packages ---------------------------------------------------------

#' Draws of a fitted mixture for posterior and coda
#'
#' Methods for the generics `as_draws()`, `as_draws_array()`, `as_draws_matrix()`, `as_draws_df()`, `as_draws_list()`
#' and `as_draws_rvars()` of package posterior and `as.mcmc.list()` of package coda. They can be used when these
#' packages are installed.
#'
#' @param x a fit from [dp_mixture()].
#' @param components whether to add the parameters of the components.
#' @param object as `x`.
#' @param row.names,optional not used.
#' @param ... not used.
#' @return `as.matrix()` and `as.data.frame()` give the same draws, chain after chain, as draws x variables.
#'   `prior_summary()` of package rstantools gives the prior.
#'
#'   The others give an object of the class that the generic's name says, with one iteration per kept draw and chains
#'   side by side. By default its variables do not depend on how components are numbered, so that they can be compared
#'   between draws and chains:
#'   \describe{
#'     \item{`log_likelihood`, `log_posterior`}{as in the fit. The stick-breaking prior in `log_posterior` does depend
#'       on the order of the components.}
#'     \item{`concentration`, `occupied`}{the concentration, and the number of components that hold cells.}
#'     \item{`log_density[1]` to `log_density[5]`}{of the mixture, at the five cells of `fit$probe`.}
#'     \item{`prior_mean[marker]`, `prior_mean_scale`, `prior_df`}{the learned parts of the prior.}
#'     \item{`sample_concentration`}{for several samples.}
#'   }
#'   With `components = TRUE` also `weight[j]` and `mean[j,marker]`, if the fit kept them. Component `j` need not be the
#'   same population in all draws; [relabel()] makes it so.
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
array_of_draws <- function(fit, components = FALSE) {
  components <- check_flag(components, "components")
  need_sampler(fit, "there is nothing to make a table of")
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
    need_draws(fit, c("weights", "means"))
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
#' @method as_draws_array dp_mixture
#' @exportS3Method posterior::as_draws_array dp_mixture
as_draws_array.dp_mixture <- function(x, components = FALSE, ...) {
  check_dots_empty(...)
  posterior::as_draws_array(array_of_draws(x, components))
}

#' @rdname as_draws.dp_mixture
#' @method as_draws dp_mixture
#' @exportS3Method posterior::as_draws dp_mixture
as_draws.dp_mixture <- function(x, components = FALSE, ...) {
  check_dots_empty(...)
  posterior::as_draws_array(array_of_draws(x, components))
}

#' @rdname as_draws.dp_mixture
#' @method as_draws_matrix dp_mixture
#' @exportS3Method posterior::as_draws_matrix dp_mixture
as_draws_matrix.dp_mixture <- function(x, components = FALSE, ...) {
  check_dots_empty(...)
  posterior::as_draws_matrix(posterior::as_draws_array(array_of_draws(x, components)))
}

#' @rdname as_draws.dp_mixture
#' @method as_draws_df dp_mixture
#' @exportS3Method posterior::as_draws_df dp_mixture
as_draws_df.dp_mixture <- function(x, components = FALSE, ...) {
  check_dots_empty(...)
  posterior::as_draws_df(posterior::as_draws_array(array_of_draws(x, components)))
}

#' @rdname as_draws.dp_mixture
#' @method as_draws_list dp_mixture
#' @exportS3Method posterior::as_draws_list dp_mixture
as_draws_list.dp_mixture <- function(x, components = FALSE, ...) {
  check_dots_empty(...)
  posterior::as_draws_list(posterior::as_draws_array(array_of_draws(x, components)))
}

#' @rdname as_draws.dp_mixture
#' @method as_draws_rvars dp_mixture
#' @exportS3Method posterior::as_draws_rvars dp_mixture
as_draws_rvars.dp_mixture <- function(x, components = FALSE, ...) {
  check_dots_empty(...)
  posterior::as_draws_rvars(posterior::as_draws_array(array_of_draws(x, components)))
}

#' @rdname as_draws.dp_mixture
#' @method as.mcmc.list dp_mixture
#' @exportS3Method coda::as.mcmc.list dp_mixture
as.mcmc.list.dp_mixture <- function(x, components = FALSE, ...) {
  check_dots_empty(...)
  draws <- array_of_draws(x, components)
  sweeps <- kept_sweeps(x)
  # Package coda has no chains without draws.
  need_draws(x, "concentration")
  coda_chains(draws, sweeps[[1L]], x$thin)
}

#' @rdname as_draws.dp_mixture
#' @method as.mcmc dp_mixture
#' @exportS3Method coda::as.mcmc dp_mixture
as.mcmc.dp_mixture <- function(x, components = FALSE, ...) {
  one_coda_chain(as.mcmc.list.dp_mixture(x, components, ...))
}

#' @rdname as_draws.dp_mixture
#' @export
as.matrix.dp_mixture <- function(x, components = FALSE, ...) {
  check_dots_empty(...)
  draws <- array_of_draws(x, components)
  matrix(draws, ncol = dim(draws)[[3L]], dimnames = list(NULL, dimnames(draws)[[3L]]))
}

#' @rdname as_draws.dp_mixture
#' @export
as.data.frame.dp_mixture <- function(x, row.names = NULL, optional = FALSE, components = FALSE, ...) {
  as.data.frame(as.matrix.dp_mixture(x, components, ...), optional = TRUE)
}

#' @rdname as_draws.dp_mixture
#' @method prior_summary dp_mixture
#' @exportS3Method rstantools::prior_summary dp_mixture
prior_summary.dp_mixture <- function(object, ...) {
  check_dots_empty(...)
  check_mixture_fit(object, "object")
  object$prior
}
