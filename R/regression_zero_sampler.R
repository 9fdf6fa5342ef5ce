# The sampler of zero-inflated and hurdle counts: src/regression/zeros.h says what a sweep does. A session has the rows
# of both regressions, and a state has the states of both.

zero_sampler <- function(fit) {
  counts <- count_view(fit)
  zeros <- zero_view(fit)
  data <- list(count = zero_count_data(fit, counts, zeros), zero = c(regression_data(zeros), zeros = 1L))
  c(logit_plan(fit), list(
    open = function(run) {
      count <- native(C_regression_open, data$count, run)
      list(count = count, zero = tryCatch(native(C_regression_open, data$zero, run), error = function(error) {
        .Call(C_session_close, count)
        stop(error)
      }))
    },
    close = function(session) for (part in session) .Call(C_session_close, part),
    step = zero_step(fit, counts, zeros), together = TRUE, several = Inf, finish = identity
  ))
}

zero_count_data <- function(fit, counts, zeros) {
  order_of <- function(view) if (is.null(view$design$order)) seq_along(fit$weights) else view$design$order
  order <- order_of(counts)
  y <- as.double(fit$response$observed)[order]
  weight <- fit$weights[order]
  # The dispersions of Poisson rows' surrogates are powers of 2.
  unit <- if (family_of(fit)$has_surrogates) 2^round(fit$response$log_surrogate / log(2))[order] else 0 * y + 1
  replace(regression_data(counts), c("shape", "kappa", "dispersed", "zeros"), list(
    weight * y, matrix(weight * y / 2), weight * unit,
    list(hurdle = as.integer(fit$zero$kind == "hu"), count = y, weight = weight, unit = unit,
      row = match(order, order_of(zeros)) - 1L)
  ))
}

zero_step <- function(fit, counts, zeros) {
  views <- list(count = counts, zero = zeros)
  priors <- lapply(views, function(view) {
    counts <- dispersion_counts(view)
    # Counts of 0 have no part in the gamma functions of the dispersion, and only they come and go.
    some <- counts$value > 0
    if (!is.null(counts)) counts <- list(value = counts$value[some], weight = counts$weight[some],
      rows = sum(counts$weight[some]))
    compiled_logit_prior(view, counts)
  })
  constant <- fit$response$constant
  parts <- lapply(views, function(view) state_parts(length(effect_scales(view)) > 0L))
  both <- function(session, state) {
    unlist(lapply(c("count", "zero"), function(part) {
      list(session[[part]], priors[[part]], c(state[c("key", "sweep")], state[[part]]))
    }), recursive = FALSE)
  }
  with_parts <- function(state, from) {
    for (part in c("count", "zero")) {
      state[[part]][parts[[part]]] <- from[[part]][parts[[part]]]
      if (has_level_moves(from[[part]])) state[[part]]$moves <- from[[part]]$moves
    }
    state$ellipse <- from$ellipse
    state
  }
  started <- function(session, state) {
    if (state$sweep > 0) return(state)
    with_parts(state, native(C_regression_start_both, both(session, state), start_spread))
  }
  function(sessions, states, sweeps, keep) {
    states <- Map(started, sessions, states)
    numbers <- as.integer(c(sweeps, kept_in_slice(fit, states, sweeps, keep)))
    slices <- native(C_regression_sweeps_both, Map(function(session, state) {
      c(both(session, state), list(state$ellipse, numbers))
    }, sessions, states))
    Map(function(state, slice) {
      of_part <- function(part) slice_traces(slice[[part]], views[[part]])
      done <- of_part("count")
      other <- of_part("zero")
      done$traces$coefficient_trace <- cbind(done$traces$coefficient_trace, other$traces$coefficient_trace)
      own <- other$traces[names(other$traces) != "coefficient_trace"]
      done$traces[paste0("zero_", names(own))] <- own
      done$traces$log_likelihood <- slice$count$log_likelihood + constant
      done$draw <- c(done$draw, stats::setNames(other$draw, paste0("zero_", names(other$draw))))
      c(list(state = with_parts(state, slice)), done)
    }, states, slices)
  }
}

zero_sampler_words <- function(fit) {
  drawn <- c(zi = "which zeros are excess zeros", hu = "the zeros that truncation hides")[[fit$zero$kind]]
  state <- fit$state[[1L]]
  moved <- vapply(state[c("count", "zero")], has_level_moves, NA)
  parts <- function(which) if (all(which)) "both regressions" else c("the counts", "the zeros")[which]
  paste(c(
    if (!all(moved)) paste0("Polya-Gamma sweeps of ", parts(!moved), ", each after a draw of ", drawn),
    if (any(moved)) paste("elliptical slice moves of", parts(moved), "with the effects of groups"),
    if (isTRUE(state$ellipse[[1L]] > 0)) "before an elliptical slice move of all coefficients"
  ), collapse = " and ")
}
