# The Gibbs sampler of regressions, as R/run_chains.R runs it: how chains start, and how a slice of sweeps runs.

logit_sampler <- function(fit) {
  own <- family_of(fit)$sampling
  if (!is.null(own)) return(own$sampler(fit))
  data <- regression_data(fit)
  if (isTRUE(fit$prior_only)) {
    rows <- c("shape", "kappa", "dispersed")
    data[rows] <- lapply(data[rows], function(values) if (!is.null(values)) 0 * values)
  }
  c(logit_plan(fit), list(open = function(run) native(C_regression_open, data, run),
    close = function(session) .Call(C_session_close, session), step = logit_step(fit), together = TRUE,
    several = Inf, finish = identity))
}

regression_data <- function(fit) {
  family <- family_of(fit)
  fit <- family$rows(fit)
  design <- fit$design
  response <- fit$response
  order <- design$order
  rows <- function(values) if (is.null(order) || is.null(values)) values else offset_rows(values, order)
  offset <- fit$offset
  if (family$has_surrogates) offset <- offset - response$log_surrogate
  if (all(offset == 0)) offset <- NULL
  terms <- c(if (!isTRUE(design$single)) regression_terms(design$terms, order), banded_terms(design, order))
  design <- sampled_design(design)
  x <- if (is.null(order)) design$x else design$x[order, , drop = FALSE]
  is_sparse <- is_sparse_matrix(x)
  if (is_sparse && any(design$center != 0)) x <- centred_sparse(x, design$center)
  c(if (is_sparse) sparse_rows(x, design$scale), list(
    x = if (!is_sparse) x, center = design$center, inverse_scale = 1 / design$scale,
    offset = rows(offset), shape = rows(response$shape), kappa = rows(response$kappa),
    dispersed = rows(response$dispersed), poisson = if (family$has_surrogates) 1L,
    primal = if (isTRUE(design$primal)) 1L, group_start = design$group_start, terms = if (length(terms)) terms
  ))
}

state_parts <- function(has_terms) {
  c("coefficients", "statistics", "intercepts", "group_statistics", "shrinkage", "scalars", "ellipse",
    if (has_terms) c("effects", "covariances"))
}

# Chains start at draws about the mode whose scale is this multiple of the posterior's.
start_spread <- 2

logit_step <- function(fit) {
  prior <- compiled_logit_prior(fit, dispersion_counts(fit))
  constant <- if (isTRUE(fit$prior_only)) 0 else fit$response$constant
  parts <- state_parts(length(prior$effect_scale) > 0L)
  started <- function(session, state) {
    if (state$sweep > 0) return(state)
    start <- native(C_regression_start, session, prior, state, start_spread)
    state[parts] <- start[parts]
    if (has_level_moves(start)) state$moves <- start$moves
    state
  }
  function(sessions, states, sweeps, keep) {
    states <- Map(started, sessions, states)
    numbers <- as.integer(c(sweeps, kept_in_slice(fit, states, sweeps, keep)))
    slices <- native(C_regression_sweeps, Map(function(session, state) {
      list(session, prior, state, numbers)
    }, sessions, states))
    Map(function(state, slice) {
      state[parts] <- slice[parts]
      if (!is.null(state$moves)) state$moves <- slice$moves
      parts <- slice_traces(slice, fit)
      parts$traces$log_likelihood <- slice$log_likelihood + constant
      c(list(state = state), parts)
    }, states, slices)
  }
}

# The traces and the kept draws of a slice in the data's units, but for the log likelihood.
slice_traces <- function(slice, fit) {
  terms <- if (!isTRUE(fit$design$single)) outcome_terms(fit)
  coefficients <- slice$coefficient_trace
  if (length(banded_smooths(fit$design))) coefficients <- coefficients[, traced_columns(fit), drop = FALSE]
  traces <- list(coefficient_trace = to_data_units(coefficients, fit$design),
    dispersion_trace = slice$dispersion_trace, group_deviation = slice$group_deviation,
    smooth_deviation = slice$block_deviation)
  if (length(terms) == 0L) return(list(traces = traces, draw = list(intercepts = slice$kept)))
  parameters <- deviations_and_correlations(slice$covariance_trace, terms)
  traces[c("group_deviation", "group_correlation")] <- parameters[c("deviations", "correlations")]
  scale <- unlist(lapply(terms, function(term) rep(term$scale, length(term$levels))))
  list(traces = traces, draw = list(effects = slice$kept / scale))
}

has_level_moves <- function(state) length(state$moves) > 0L && state$moves[[1L]] > 0

# The length of the vector of src/regression/ellipse.h: the moves after each sweep, lambda, and the approximation of the
# log likelihood about the mode. `levels` and `columns` are the numbers of levels and columns of each grouping term.
ellipse_size <- function(p, levels = 0, columns = 1, is_group = TRUE, outcomes = 1) {
  main <- which.max(levels)
  p <- p * outcomes
  others <- outcomes * sum(as.double(levels[-main]) * columns[-main])
  q <- columns[[main]] * outcomes
  effects <- as.double(levels[[main]]) * q
  too_many <- effects > 4096 || others > 64 || effects * (p + others) > 4096 * 128 || (outcomes > 1 && q > 16)
  if ((!is_group && too_many) || (outcomes > 1 && p > 256)) return(2)
  d <- p + others + 1
  2 + d + d * (d + 1) / 2 + effects * (d + (q + 1) / 2 + 1)
}

ellipse_start <- function(fit) {
  terms <- fit$design$terms
  if (length(banded_smooths(fit$design))) return(numeric(2L))
  size <- function(part) if (length(terms)) lengths(lapply(terms, `[[`, part)) else as.numeric(part == "columns")
  numeric(ellipse_size(ncol(fit$design$x), size("levels"), size("columns"),
    length(terms) == 0L || isTRUE(fit$design$single), outcomes_of(fit)))
}

logit_sampler_words <- function(fit) {
  if (isTRUE(fit$prior_only)) return("draws from the prior: the responses were not used (prior_only = TRUE)")
  own <- family_of(fit)$sampling
  if (!is.null(own)) return(own$words(fit))
  if (has_level_moves(fit$state[[1L]])) {
    return(sprintf(paste("%slliptical slice moves of the coefficients and the %s, then new effects of each group",
      "(Polya-Gamma sweeps would have about %s in 1,000)"),
      if (length(banded_smooths(fit$design))) "Polya-Gamma sweeps, each followed by e" else "e",
      if (length(group_parameter_names(fit)) > 1L) "groups' covariances" else "groups' deviation",
      count_words(max(1, signif(fit$state[[1L]]$moves[[2L]], 1)), "effective draw")
    ))
  }
  if (is_dual(fit$design)) {
    return(paste("Polya-Gamma sweeps, which draw coefficients by a system of", count_words(fit$rows, "equation")))
  }
  moves <- fit$state[[1L]]$ellipse[1L]
  if (length(moves) == 0L || moves == 0) return("Polya-Gamma sweeps")
  sprintf("Polya-Gamma sweeps, each followed by %s (alone, sweeps would have about 1 effective draw in %s)",
    count_words(moves, "elliptical slice move"), format(signif(2 * fit$state[[1L]]$ellipse[[2L]] - 1, 2)))
}

# Scales of the prior at the start, as src/regression/regression.h orders them.
shrinkage_start <- function(prior, p) {
  local <- ifelse(rep_len(as.double(prior$law), p) == 2, prior$law_scale^2, 1)
  c(if (is.null(prior$law)) rep(1, p) else local, rep(1, p), 1, 1,
    if (is.null(prior$slab_scale)) 1 else prior$slab_scale^2)
}

# The common start of all chains. The compiled code climbs from here to the mode, and then moves the chains apart.
logit_start <- function(fit) {
  family <- family_of(fit)
  if (!is.null(family$sampling)) return(family$sampling$start(fit))
  design <- sampled_design(fit$design)
  p <- ncol(design$x)
  groups <- if (isTRUE(fit$design$single)) length(fit$design$terms[[1L]]$levels) else 0
  outcomes <- outcomes_of(fit)
  dual <- is_dual(fit$design)
  coefficients <- matrix(0, p, outcomes)
  if (any(design$is_intercept)) coefficients[design$is_intercept, ] <- family$start(fit$response)
  c(list(coefficients = as.double(coefficients),
    statistics = numeric(if (dual) 2 * nrow(fit$design$x) else p * (p + 1) / 2 + p), intercepts = numeric(groups),
    group_statistics = numeric(groups * ((if (dual) 0 else p) + 2)),
    shrinkage = rep(shrinkage_start(fit$prior, p), outcomes), scalars = c(as.double(family$has_dispersion), 1, 1),
    ellipse = if (dual) numeric(2L + nrow(fit$design$x)) else ellipse_start(fit)), start_terms(fit))
}

# The distinct counts and their weights, for the gamma functions in the law of the dispersion.
dispersion_counts <- function(fit) {
  if (!family_of(fit)$has_dispersion) return(NULL)
  y <- fit$response$observed
  value <- sort(unique(y))
  rows <- fit$response$dispersed * !isTRUE(fit$prior_only)
  list(value = value, weight = as.double(rowsum(rows, factor(match(y, value), seq_along(value)))), rows = sum(rows))
}

# Converts sweeps x coefficients from the sampler's units to the data's. Columns are added one by one in a fixed order,
# because the rounding of a matrix product could depend on the length of the slice.
to_data_units <- function(values, design) {
  for (first in seq(0, ncol(values) - 1, by = length(design$scale))) {
    shift <- 0
    for (column in which(!design$is_intercept & (design$scale != 1 | design$center != 0))) {
      values[, first + column] <- values[, first + column] / design$scale[[column]]
      shift <- shift + values[, first + column] * design$center[[column]]
    }
    for (column in which(design$is_intercept)) values[, first + column] <- values[, first + column] - shift
  }
  values
}
