# The sampler of zero-inflated and hurdle counts. A sweep draws what completes the data, and then takes a sweep of each
# of two regressions that know nothing of zeros:
#   zero-inflated: a Bernoulli variable says of each count of 0 whether it is an excess zero. These are the successes of
#     the regression of zeros. The other rows are those of the regression of counts.
#   hurdle: a count above 0 is a draw from the counts after `missed` draws of 0 that nobody saw, whose number is
#     geometric. The missed zeros are rows of the regression of counts, and the product of both laws is that of the
#     truncated count. Whether a count is 0 is the response of the regression of zeros.
# Since the data change, each sweep opens sessions of its own. All random numbers of a sweep come from the chain's key
# and the sweep's number.

zero_sampler <- function(fit) {
  model <- zero_model(fit)
  c(zero_plan(fit), list(
    open = function(run) run,
    close = function(session) NULL,
    step = function(sessions, states, sweeps, keep) {
      Map(function(run, state) zero_slice(model, run, state, sweeps), sessions, states)
    },
    together = FALSE,
    finish = function(fit) fit
  ))
}

# What a sweep reads of both regressions, and of one of them.
zero_model <- function(fit) {
  model <- with_counted(list(
    kind = fit$zero$kind, y = as.double(fit$response$observed), count = zero_sampler_part(count_view(fit)),
    zero = zero_sampler_part(zero_view(fit))
  ))
  if (can_move(model)) with_normal_prior(model) else model
}

zero_sampler_part <- function(view) {
  design <- view$design
  prior <- compiled_logit_prior(view$prior, dispersion_counts(view))
  prior$effect_scale <- effect_scales(design$terms, view$prior)
  list(
    family = view$family, data = regression_data(view), prior = prior, design = design, terms = outcome_terms(view),
    order = if (is.null(design$order)) seq_along(view$offset) else design$order, offset = view$offset,
    log_surrogate = view$response$log_surrogate, y = as.double(view$response$observed),
    scaled = unname(design$x - rep(design$center, each = nrow(design$x))) / rep(design$scale, each = nrow(design$x))
  )
}

# Linear predictors, in the order of the data. The sum has a fixed order.
scaled_sum <- function(scaled, coefficients, linear = 0) {
  for (column in seq_len(ncol(scaled))) linear <- linear + scaled[, column] * coefficients[[column]]
  linear
}

sampler_linear <- function(part, state) {
  linear <- scaled_sum(part$scaled, state$coefficients, part$offset)
  if (!is.null(part$design$group)) linear <- linear + state$intercepts[as.integer(part$design$group)]
  first <- 0L
  for (term in part$terms) {
    q <- length(term$columns)
    for (column in seq_len(q)) {
      effect <- state$effects[first + (term$level - 1L) * q + column]
      linear <- linear + (if (is.null(term$z)) effect else effect * term$z[, column] / term$scale[[column]])
    }
    first <- first + q * length(term$levels)
  }
  linear
}

# What completes the data, from the linear predictors, by uniform numbers `u`, or the expectations if `u` is NULL: the
# `weight` of each count, the zeros that were `missed` before it, and whether it is an excess zero.
complete_zeros <- function(model, linear, u = NULL) {
  none <- log_no_count(linear$count, size_at(linear))
  y <- model$y
  if (model$kind == "zi") {
    share <- stats::plogis(linear$zero - none)
    zero <- (y == 0) * (if (is.null(u)) share else u < share)
    return(list(weight = 1 - zero, missed = 0 * y, zero = zero))
  }
  # The number is at least j with probability exp(none)^j.
  missed <- if (is.null(u)) exp(none - log_rest(none)) else floor(log(u) / none)
  # Larger numbers are those of means below 1e-15.
  missed <- pmin(missed, 1e15)
  list(weight = (y > 0) + 0, missed = (y > 0) * missed, zero = (y == 0) + 0)
}

# The data and the prior of the regression of counts. A Poisson count after missed zeros is a Poisson count of a longer
# exposure.
completed_counts <- function(part, complete) {
  y <- part$y
  order <- part$order
  rows <- complete$weight + complete$missed
  data <- part$data
  prior <- part$prior
  if (part$family == "poisson") {
    r <- ifelse(rows > 0, exp(part$log_surrogate), 0)
    counted <- ifelse(rows > 0, y, 0)
    data$shape <- (counted + r)[order]
    data$kappa <- matrix((counted - r)[order] / 2)
    data$offset <- (part$offset - part$log_surrogate + log(ifelse(rows > 0, rows, 1)))[order]
  } else {
    data$shape <- (complete$weight * y)[order]
    data$kappa <- matrix(data$shape / 2)
    data$dispersed <- rows[order]
    # Only rows of 0 come and go.
    prior$counts$weight[prior$counts$value == 0] <- sum(complete$weight[y == 0])
    prior$counts$rows <- sum(complete$weight)
  }
  list(data = data, prior = prior)
}

completed_zeros <- function(part, complete) {
  data <- part$data
  data$kappa <- matrix((complete$zero - 0.5)[part$order])
  list(data = data, prior = part$prior)
}

state_parts <- function(part) {
  c("coefficients", "statistics", "intercepts", "group_statistics", "shrinkage", "scalars", "ellipse",
    if (length(part$terms)) c("effects", "covariances"))
}

# One sweep of a regression, or, with `spread`, its start. Returns the state and the slice.
sweep_part <- function(part, given, state, key, run, spread = 0) {
  session <- native(C_regression_open, given$data, run)
  on.exit(.Call(C_regression_close, session))
  names <- state_parts(part)
  state[c("key", "sweep")] <- list(key, 0)
  state[names] <- native(C_regression_start, session, given$prior, state, spread)[names]
  if (spread > 0) return(list(state = state))
  slice <- native(C_regression_sweeps, list(list(session, given$prior, state, c(1L, 0L, 1L, 1L))))[[1L]]
  state[names] <- slice[names]
  list(state = state, slice = slice)
}

# The keys of a sweep: of counts, of zeros, and of what completes the data.
sweep_keys <- function(key, sweep) {
  seed <- sum(as.integer(key[1:6]) * 256^(0:5))
  lapply(3 * sweep + 0:2, function(number) chain_key(seed, number))
}

key_uniforms <- function(key, count) {
  seed <- readBin(key, "integer", 1L)
  if (is.na(seed)) seed <- 0L
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
  stats::runif(count)
}

zero_linears <- function(model, state) {
  c(list(count = sampler_linear(model$count, state$count), zero = sampler_linear(model$zero, state$zero)),
    if (has_dispersion(model)) list(log_size = log(state$count$scalars[[1L]])))
}

# A chain starts near the mode: steps of the EM algorithm find it.
zero_started <- function(model, run, state) {
  if (state$sweep > 0) return(state)
  keys <- sweep_keys(state$key, 0)
  for (step in 1:8) {
    complete <- complete_zeros(model, zero_linears(model, state))
    spread <- if (step < 8L) 1e-6 else start_spread
    state$count <- sweep_part(model$count, completed_counts(model$count, complete), state$count, keys[[1L]], run,
      spread)$state
    state$zero <- sweep_part(model$zero, completed_zeros(model$zero, complete), state$zero, keys[[2L]], run,
      spread)$state
    # Moves need the mode, which the last step leaves.
    if (step == 7L && can_move(model)) {
      ellipse <- zero_ellipse(model, state)
      state$ellipse <- ellipse
      state <- with_position(model, state, ellipse$mode)
    }
  }
  # These moves take the place of those of each regression, where they change all parameters.
  for (part in if (can_move(model)) c("count", "zero")) {
    if (is.null(model[[part]]$design$group) && length(model[[part]]$terms) == 0L) state[[part]]$ellipse[[1L]] <- 0
  }
  state
}

zero_slice <- function(model, run, state, sweeps) {
  if (!exists(".Random.seed", globalenv(), inherits = FALSE)) stats::runif(1L)
  before <- get(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(assign(".Random.seed", before, globalenv()))
  first <- state$sweep
  state <- zero_started(model, run, state)
  linear <- zero_linears(model, state)
  ellipse <- state$ellipse
  if (!is.null(ellipse)) ellipse$inverse <- backsolve(ellipse$root, diag(nrow(ellipse$root)))
  done <- lapply(seq_len(sweeps), function(i) {
    keys <- sweep_keys(state$key, first + i)
    complete <- complete_zeros(model, linear, key_uniforms(keys[[3L]], length(model$y)))
    counts <- sweep_part(model$count, completed_counts(model$count, complete), state$count, keys[[1L]], run)
    zeros <- sweep_part(model$zero, completed_zeros(model$zero, complete), state$zero, keys[[2L]], run)
    next_state <- state
    next_state[c("count", "zero")] <- list(counts$state, zeros$state)
    base <- if (!is.null(ellipse)) linear_base(model, next_state)
    if (!is.null(ellipse)) next_state <- move_along_ellipse(model, next_state, ellipse, base)
    state <<- next_state
    linear <<- zero_linears(model, state)
    list(count = moved_slice(counts$slice, state$count), zero = moved_slice(zeros$slice, state$zero),
      log_likelihood = sum_log_likelihood(model, linear))
  })
  counts <- slice_traces(joined_slice(done, "count"), model$count$design, model$count$terms)
  zeros <- slice_traces(joined_slice(done, "zero"), model$zero$design, model$zero$terms)
  traces <- counts$traces
  traces$coefficient_trace <- cbind(traces$coefficient_trace, zeros$traces$coefficient_trace)
  traces[c("zero_group_deviation", "zero_group_correlation")] <- zeros$traces[c("group_deviation", "group_correlation")]
  traces$log_likelihood <- vapply(done, `[[`, 0, "log_likelihood")
  list(state = state, traces = traces,
    draw = c(counts$draw, stats::setNames(zeros$draw, paste0("zero_", names(zeros$draw)))))
}

# A slice of one sweep after moves.
moved_slice <- function(slice, state) {
  slice$coefficient_trace <- matrix(state$coefficients, 1L)
  if (!is.null(slice$dispersion_trace)) slice$dispersion_trace <- state$scalars[[1L]]
  slice
}

# Sweeps of one regression as one slice, with the effects of the last.
joined_slice <- function(done, part) {
  slices <- lapply(done, `[[`, part)
  joined <- slices[[length(slices)]]
  of_rows <- function(name) do.call(rbind, lapply(slices, function(slice) matrix(slice[[name]], 1L)))
  for (name in intersect(c("coefficient_trace", "covariance_trace"), names(joined))) {
    if (!is.null(joined[[name]])) joined[[name]] <- of_rows(name)
  }
  for (name in c("dispersion_trace", "group_deviation")) {
    if (!is.null(joined[[name]])) joined[[name]] <- vapply(slices, function(slice) slice[[name]][[1L]], 0)
  }
  joined
}

zero_sampler_words <- function(fit) {
  drawn <- c(zi = "which zeros are excess zeros", hu = "the zeros that truncation hides")[[fit$zero$kind]]
  paste0("Polya-Gamma sweeps of both regressions, each after a draw of ", drawn,
    if (!is.null(fit$state[[1L]]$ellipse)) " and before an elliptical slice move of all coefficients")
}
