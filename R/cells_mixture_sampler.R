# The Gibbs sampler of the mixture as R/run_chains.R runs it, and where the cells lie while sweeps run.

mixture_sampler <- function(fit, atoms = find_atoms(fit)) {
  plan <- mixture_plan(fit)
  c(plan, list(
    several = mixture_kept_together(plan$draws),
    open = function(run) open_fit(fit, spread_over_devices(run, fit$devices, sweep_work(fit, fit$rows))),
    close = close_fit,
    step = mixture_step(fit, atoms),
    together = TRUE,
    finish = function(fit) {
      fit$sizes <- matrix(as.integer(unlist(lapply(fit$state, `[[`, "sizes"))), fit$components, fit$chains)
      fit
    }
  ))
}

# A sampler whose start has used the atoms. It is sent to workers, so it holds nothing else.
with_atoms <- function(sampler, atoms) {
  force(sampler)
  force(atoms)
  function(fit) sampler(fit, atoms)
}

# How many draws a slice may keep. They exist twice until they are stored: 2^19 values take at most 8 MB.
mixture_kept_together <- function(draws) {
  max(1, floor(2^19 / sum(vapply(draws, function(part) prod(part$dim), 0))))
}

mixture_step <- function(fit, atoms = find_atoms(fit)) {
  prior <- compiled_prior(fit$prior)
  probe <- (t(fit$probe) - fit$center) / fit$scale
  log_unit <- sum(log(fit$scale))
  delayedAssign("jacobian", unit_jacobian(fit))
  keep_parts <- c("labels", "means", "covariances") %in% fit$keep
  carried <- c("statistics", "concentration", "sizes", "prior", if (!is.null(fit$state[[1L]]$search)) "search",
    if (!is.null(fit$samples)) c("sample_sizes", "log_share", "sample_concentration"))
  function(sessions, states, sweeps, keep) {
    kept <- kept_in_slice(fit, states, sweeps, keep)
    slices <- native(C_mixture_sweeps, Map(function(session, state) {
      list(session, prior, state, as.integer(c(sweeps, kept)), fit$moves, atoms, probe, keep_parts, fit$center,
        fit$scale)
    }, sessions, states))
    Map(function(state, slice) {
      state[carried] <- slice[carried]
      traces <- list(
        log_likelihood = slice$log_likelihood + jacobian[["rows"]],
        log_posterior = slice$log_likelihood + slice$log_prior + sum(jacobian),
        score = slice$score + jacobian[["rows"]], concentration_trace = slice$concentration_trace,
        occupied = slice$occupied, probe_density = slice$probe_density - log_unit
      )
      list(state = state, traces = traces, draw = if (kept[[3L]] > 0) kept_draws_of(fit, slice, kept))
    }, states, slices)
  }
}

# The draws that a slice kept, one after the other, in the data's units. `kept` is from kept_in_slice().
kept_draws_of <- function(fit, slice, kept) {
  draws <- c(list(weights = exp(slice$log_weight)), slice[c("means", "covariances", "labels")])
  draws$concentration <- slice$concentration_trace[kept[[1L]] + 1 + (seq_len(kept[[3L]]) - 1) * kept[[2L]]]
  if (!is.null(fit$samples)) {
    draws$sample_weights <- exp(slice$sample_log_weight)
    draws$sample_sizes <- slice$kept_sample_sizes
    draws$sample_concentration <- slice$kept_sample_concentration
  }
  if (!length(fit$prior$learn)) return(draws)
  p <- length(fit$markers)
  # As compiled_prior() has them.
  values <- matrix(slice$kept_prior, ncol = kept[[3L]])
  scale <- values[p + 2L + unpack(seq_len(p * (p + 1) / 2), p), ] * c(outer(fit$scale, fit$scale))
  c(draws, list(prior_mean = values[seq_len(p), ] * fit$scale + fit$center, prior_mean_scale = values[p + 1, ],
    prior_df = values[p + 2, ], prior_scale = scale))
}

# The resolved prior for the entries. `values` may be learned: m, gamma, nu, and the lower triangle of Phi by rows.
compiled_prior <- function(prior) {
  list(values = c(prior$mean, prior$mean_scale, prior$df, pack(prior$scale)), concentration = prior$concentration,
    sample_concentration = prior$sample_concentration,
    floor = or_else(prior$floor, numeric(length(prior$mean))),
    # The prior distributions of the learned parts, around their values.
    hyper = if (length(prior$learn)) {
      list(learn = c("mean", "mean_scale", "scale", "df") %in% prior$learn, mean = prior$mean,
        mean_scale = c(2, prior$mean_scale), scale_df = length(prior$mean) + 2, packed_scale = pack(prior$scale),
        df_grid = prior$df_grid)
    })
}

# Log Jacobians to the data's units: of values, means (1 per marker), covariances (p + 1), and a learned mean and scale.
unit_jacobian <- function(fit) {
  p <- length(fit$markers)
  log_unit <- sum(log(fit$scale))
  # If missing values are errors, there are none. Looking for them takes as long as some sweeps.
  rows <- if (identical(fit$missing, "model") && anyNA(fit$x)) sum(log_units(fit$x, fit$scale)) else fit$rows * log_unit
  learned <- sum(c(mean = 1, scale = p + 1)[intersect(fit$prior$learn, c("mean", "scale"))])
  c(rows = -rows, parameters = -(fit$components * (p + 2) + learned) * log_unit)
}

# Values that many cells have in a marker, at most 20: five times as many as have the values next to it, so that whole
# numbers alone are none. Columns: the number of the marker, from 0, and the value in the sampler's units.
find_atoms <- function(fit) {
  found <- lapply(seq_along(fit$markers), function(j) {
    some <- some_values(cells_at_hand(fit), j)
    values <- if (anyDuplicated(some)) sort(unique(some)) else numeric()
    counts <- tabulate(match(some, values), length(values))
    often <- which(counts >= max(5, length(some) / 200))
    # The median of the ten nearest counts, NA if there is no other.
    beside <- vapply(often, function(i) {
      stats::median(counts[utils::head(order(abs(seq_along(counts) - i))[-1L], 10L)])
    }, 0)
    often <- often[which(counts[often] >= 5 * beside)]
    value <- values[utils::head(often[order(counts[often], decreasing = TRUE)], 20L)]
    rbind(rep(j - 1, length(value)), (value - fit$center[j]) * (1 / fit$scale[j]))
  })
  do.call(cbind, found)
}

#' Memory of a mixture fit, and saving it
#'
#' How much memory [dp_mixture()] needs for \eqn{p} markers and \eqn{k} components, and how to make a fit smaller.
#' @section On the processor:
#' Besides the data, a fit takes 40 MB and about 12 bytes per cell. Each kept draw takes \eqn{8 k p^2} bytes for the
#' covariances, \eqn{8 k p} for the means, and 4 bytes per cell for labels.
#' @section On a graphics card:
#' The card holds the scaled cells, \eqn{8 p} bytes each (\eqn{4 p} in single precision), and about a tenth more. Cells
#' that do not fit, or that `options(warpbayes.device_memory)` leaves out, travel to the card in each sweep.
#' @section Saving a fit:
#' A fit holds the data. To save it without them: `fit$x <- NULL; saveRDS(fit, file)`. [continue()], [relabel()],
#' [cell_types()] and `logLik()` need them back: `fit$x <- x`, the matrix of the chosen markers as doubles, after the
#' transformation.
#' @name mixture_memory
NULL

open_fit <- function(fit, run, keep_labels = fit$moves) {
  if (!is.null(run$cluster)) return(open_on_cluster(fit, run, keep_labels))
  single <- as.integer(fit$precision == "single")
  run <- allow_copies(run)
  inverse <- 1 / fit$scale
  if (is.null(fit$samples)) return(native(C_mixture_open, fit$x, fit$center, inverse, single, keep_labels, run))
  samples <- length(fit$samples)
  native(C_mixture_open_samples, fit$x, fit$center, inverse, single, keep_labels, run, fit$sample, samples)
}

# A card may copy cells beyond its memory (src/cuda/mixture/stream.cu) to half of the available host memory.
allow_copies <- function(run) {
  if (run$backend == "cuda") run$host_memory <- floor(memory_available() / 2)
  run
}

close_fit <- function(session) {
  .Call(C_session_close, session)
  if (!is.null(attr(session, "cluster"))) close_workers(attr(session, "cluster"))
}

# Multiply-adds of a sweep over so many rows.
sweep_work <- function(fit, rows) {
  p <- length(fit$markers)
  rows * fit$components * p * (p + 3) / 2
}
