# The kept draws of a mixture: one draw, the reference draw, and all draws in the forms of packages posterior and coda.

# The kept draw with the highest log posterior. It represents the fit wherever a single mixture is needed.
# A caller that has checked the fit passes `checked`.
reference_draw <- function(fit, checked = FALSE) {
  if (!checked) need_draws(fit, c("weights", "means", "covariances"))
  log_posterior <- fit$log_posterior[mixture_sweeps(fit), , drop = FALSE]
  best <- which.max(log_posterior)
  draw <- (best - 1L) %% nrow(log_posterior) + 1L
  chain <- (best - 1L) %/% nrow(log_posterior) + 1L
  c(list(draw = draw, chain = chain, log_posterior = log_posterior[[best]]), mixture_of_draw(fit, draw, chain))
}

# The sweeps whose draws were kept; of modes the last.
mixture_sweeps <- function(fit) {
  if (is_bem(fit)) return(if (fit$iter > 0) fit$iter else integer())
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
  if (length(fit$draws[[parts[[1L]]]]) == 0L) stop_without_draws(fit)
}

count_kept <- function(fit) {
  length(fit$draws$concentration)
}

array_of_draws.dp_mixture <- function(x, components = FALSE, ...) {
  check_dots_empty(...)
  components <- check_flag(components, "components")
  need_sampler(x, "there is nothing to make a table of")
  sweeps <- mixture_sweeps(x)
  parts <- lapply(trace_quantities(x, warmup = TRUE), function(draws) draws[sweeps, , drop = FALSE])
  parts <- append(parts, list(log_posterior = x$log_posterior[sweeps, , drop = FALSE]), after = 1L)
  for (name in intersect(c("prior_mean_scale", "prior_df", "sample_concentration"), names(x$draws))) {
    parts[[name]] <- x$draws[[name]]
  }
  for (j in seq_len(NROW(x$draws$prior_mean))) {
    parts[[sprintf("prior_mean[%s]", x$markers[[j]])]] <- x$draws$prior_mean[j, , ]
  }
  if (components) {
    need_draws(x, c("weights", "means"))
    for (j in seq_len(x$components)) {
      parts[[sprintf("weight[%d]", j)]] <- x$draws$weights[j, , ]
    }
    for (marker in x$markers) {
      for (j in seq_len(x$components)) {
        parts[[sprintf("mean[%d,%s]", j, marker)]] <- x$draws$means[j, match(marker, x$markers), , ]
      }
    }
  }
  bind_draws(parts, length(sweeps), x$chains)
}

#' @rdname summary.dp_mixture
#' @method prior_summary dp_mixture
#' @exportS3Method rstantools::prior_summary dp_mixture
prior_summary.dp_mixture <- function(object, ...) {
  check_method(object, "object", ...)
  object$prior
}
