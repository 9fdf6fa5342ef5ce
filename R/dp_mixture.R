# The fit of a Dirichlet-process mixture: arguments, chains, what is kept.

#' Dirichlet-process mixture of Gaussians
#'
#' Fits a truncated Dirichlet-process mixture of multivariate normal distributions
#' by blocked Gibbs sampling. Made for flow cytometry: up to tens of millions of
#' cells, tens of markers, hundreds of components.
#'
#' The model is that of [dp_prior()]. Each sweep draws means, covariances, weights
#' and the concentration given the cells of each component, then the component of
#' every cell given these. The cells-by-components matrix of probabilities is never
#' stored. Data are centred and scaled inside; everything comes back in the data's
#' units (after the transformation, if there is one).
#'
#' The same `seed` gives the same draws on any number of threads, any processor and,
#' with `precision = "double"`, on a graphics card.
#'
#' @section Memory:
#' Beyond the data, the sampler takes 4 bytes a cell if labels are kept, and about
#' \eqn{10 k p^2} bytes for each of a few buffers. Kept draws take
#' \eqn{8 k} bytes each for the weights, \eqn{8 k p} for the means,
#' \eqn{8 k p^2} for the covariances and 4 bytes a cell for the labels: with 256
#' components and 14 markers 0.4 MB a draw, or 200 MB for 500 draws. Ask for less
#' with `keep` or `thin`. The fit refers to the data, which costs no memory while
#' the data are in use anyway.
#'
#' @param x cells by markers: a numeric matrix or data frame, or an object of class
#'   `flowFrame`, `flowSet`, `cytoframe`, `cytoset` or `SummarizedExperiment`.
#' @param components \eqn{k}, the truncation of the Dirichlet process: at most this
#'   many components. May exceed the number of cells.
#' @param method `"gibbs"`: blocked Gibbs sampling.
#' @param prior from [dp_prior()], or the `prior` of another fit to the same markers.
#' @param chains number of chains; each starts from its own clustering of its own
#'   subsample of the cells. The threads work on one sweep of one chain at a time; with
#'   the future.apply package and a `future::plan()` of several workers, chains run on
#'   these, which pays where there are few cells. The draws are the same.
#' @param iter sweeps per chain, those of the warm-up included.
#' @param warmup sweeps at the start of each chain of which no draws are kept.
#' @param thin after the warm-up, every `thin`-th draw is kept.
#' @param init `NULL`, or the components from which every chain starts: one whole number
#'   from 1 to `components` for each cell, `NA` for cells left open.
#' @param keep which draws are kept: any of `"weights"`, `"means"`, `"covariances"`,
#'   `"labels"`. Prediction needs the first three.
#' @param markers columns of `x` to use, by name or number; `NULL` for all.
#' @param transform `"none"`, or `"arcsinh"` to fit asinh(x / cofactor).
#' @param cofactor of the arcsinh transformation: one number, or one per marker.
#' @param moves whether labels of neighbouring components are exchanged in each sweep,
#'   which leaves the posterior unchanged and speeds up its exploration.
#' @param seed one whole number in \eqn{[0, 2^{53})}, or `NULL` to draw it from R's
#'   generator, so that `set.seed()` governs.
#' @param backend `"cpu"`, `"cuda"`, `"auto"`, or `NULL` for
#'   `getOption("warpbayes.backend", "auto")`. See [warp_info()].
#' @param threads CPU threads; `NULL` for all that this process may use. Never more than there
#'   are cores, or eight.
#' @param precision of log densities and weights: `"double"` or `"single"`. Sums over cells are
#'   always in double precision.
#' @param progress whether to show a progress bar; `NULL` for interactive sessions
#'   only. Progress is signalled to the progressr package, if installed, in any case.
#' @param ... must be empty: a misspelt argument is an error.
#'
#' @return An object of class `dp_mixture`. Let S be the sweeps, D the draws kept per chain,
#'   C the chains, k the components, p the markers, n the cells. It has
#'   \item{draws}{`weights` (k x D x C), `means` (k x p x D x C), `covariances`
#'     (p x p x k x D x C), `labels` (n x D x C, from 1), as far as kept;
#'     `concentration` (D x C); and what was learned of the prior, `prior_mean`
#'     (p x D x C), `prior_mean_scale` and `prior_df` (D x C), `prior_scale`
#'     (p x p x D x C).}
#'   \item{log_likelihood, log_posterior}{S x C: log density of the data given the
#'     parameters of each sweep, and with the log density of the parameters added.}
#'   \item{concentration_trace, occupied}{S x C: the concentration, and the number of
#'     components that hold cells, after each sweep.}
#'   \item{probe, probe_density}{five cells (5 x p), and the log density of the mixture
#'     there (S x C x 5).}
#'   \item{sizes}{k x C: cells of each component in the last sweep.}
#'   \item{prior}{the prior with what the data decided, printed in the data's units and kept in
#'     those of the sampler, (x - `prior$center`) / `prior$unit`. Another fit takes it as `prior`: it
#'     is then the same prior in the data's units.}
#'   \item{components, chains, iter, warmup, thin, keep, method, moves, seed, backend, precision, threads,
#'     elapsed, interrupted, markers, rows, center, scale, transform, x, call}{how the fit was made;
#'     `elapsed` in seconds, `x` the matrix of cells that was fitted.}
#'   \item{state}{from which [continue()] runs on.}
#' @section Interruption:
#' When the fit is interrupted from the keyboard, the sweeps done so far come back as
#' a fit, with a warning; [continue()] takes it up where it stopped.
#' @section Errors:
#' `warpbayes_error_input` for arguments that cannot be used, naming the argument, and
#' for values that are not finite the first row and column;
#' `warpbayes_error_memory` when memory runs out; `warpbayes_error_backend` or
#' `warpbayes_error_device` when a graphics card was asked for and fails. A warning where there are
#' more than 100 markers and fewer cells, as in a matrix turned the wrong way.
#' @references
#' Ishwaran, H. and James, L. F. (2001). Gibbs sampling methods for stick-breaking
#' priors. *Journal of the American Statistical Association* **96**, 161-173.
#'
#' Suchard, M. A., Wang, Q., Chan, C., Frelinger, J., Cron, A. and West, M. (2010).
#' Understanding GPU programming for statistical computation: studies in massively
#' parallel massive mixtures. *Journal of Computational and Graphical Statistics*
#' **19**, 419-438.
#' @seealso [dp_prior()], [predict.dp_mixture()], [plot.dp_mixture()], [continue()]
#' @examples
#' # Three populations in two markers.
#' set.seed(1)
#' population <- sample(3, 2000, replace = TRUE, prob = c(5, 3, 2))
#' x <- matrix(rnorm(4000), ncol = 2, dimnames = list(NULL, c("CD4", "CD8")))
#' x <- x + 5 * cbind(population == 2, population == 3)
#' fit <- dp_mixture(x, components = 8, iter = 200, threads = 2)
#' fit
#' table(population, predict(fit))
#' @export
dp_mixture <- function(x, components = 64, method = "gibbs", prior = dp_prior(), chains = 1,
                       iter = 1000, warmup = floor(iter / 2), thin = 1, init = NULL,
                       keep = c("weights", "means", "covariances"), markers = NULL,
                       transform = c("none", "arcsinh"), cofactor = 5, moves = TRUE,
                       seed = NULL, backend = NULL, threads = NULL,
                       precision = c("double", "single"), progress = NULL, ...) {
  check_dots_empty(...)
  transform <- check_choice(transform, "transform", c("none", "arcsinh"))
  data <- as_marker_matrix(x, markers, transform, cofactor)
  if (length(data$markers) > max(100, nrow(data$x))) {
    warning(sprintf("`x` has %d rows and %d columns; rows are cells and columns are markers: is t(x) meant?", nrow(data$x), ncol(data$x)), call. = FALSE)
  }
  components <- check_count(components, "components", max = 1e5)
  method <- check_choice(method, "method", "gibbs")
  chains <- check_count(chains, "chains", max = 1e4)
  iter <- check_count(iter, "iter")
  warmup <- check_warmup(warmup, iter)
  thin <- check_count(thin, "thin")
  if (iter - warmup < thin) {
    stop_input("thin", sprintf("is %s, but only %s sweeps follow the warm-up: no draw would be kept", format(thin), format(iter - warmup)))
  }
  keep <- check_keep(keep)
  init <- check_init(init, nrow(data$x), components)
  moves <- check_flag(moves, "moves")
  precision <- check_precision(precision)
  progress <- if (is.null(progress)) interactive() else check_flag(progress, "progress")
  unit <- ifelse(data$sd > 0 & is.finite(1 / data$sd), data$sd, 1)
  prior <- resolve_prior(prior, data$mean, unit, data$markers)
  run <- resolve_run(backend, threads)
  seed <- check_seed(seed)

  fit <- structure(list(
    draws = NULL, components = components, chains = chains, iter = 0, warmup = warmup, thin = thin,
    keep = keep, seed = seed, method = method, moves = moves, backend = run$backend,
    precision = precision, threads = run$threads, prior = prior, markers = data$markers,
    rows = nrow(data$x), center = unname(data$mean), scale = unname(unit), transform = data$transform,
    x = data$x, elapsed = c(start = 0, sweeps = 0), interrupted = FALSE, call = match.call()
  ), class = "dp_mixture")
  fit$probe <- fit$x[probe_rows(fit$rows), , drop = FALSE]
  dimnames(fit$probe) <- list(NULL, fit$markers)

  started <- proc.time()[["elapsed"]]
  fit$state <- lapply(seq_len(chains), function(chain) {
    key <- .Call(C_mixture_key, seed, as.integer(chain))
    list(
      key = key, sweep = 0,
      statistics = native(C_mixture_start, fit$x, fit$center, 1 / fit$scale, compiled_prior(prior), as.integer(components), key, init),
      concentration = prior$concentration[["shape"]] / prior$concentration[["rate"]],
      prior = compiled_prior(prior)$values
    )
  })
  fit$elapsed[["start"]] <- proc.time()[["elapsed"]] - started
  advance_chains(fit, iter, run, progress, threads)
}

#' Continue a fit
#'
#' Runs more sweeps of every chain. The result is what one run of the whole length
#' would have given, to the last bit.
#'
#' @param fit from [dp_mixture()].
#' @param iter how many more sweeps.
#' @inheritParams dp_mixture
#' @return The longer fit, of class `dp_mixture`. Errors are those of [dp_mixture()].
#' @examples
#' x <- cbind(a = c(rnorm(200), rnorm(100, 6)), b = rnorm(300))
#' fit <- dp_mixture(x, components = 4, iter = 50, seed = 1, threads = 2)
#' longer <- continue(fit, 50, threads = 2)
#' at_once <- dp_mixture(x, components = 4, iter = 100, warmup = 25, seed = 1, threads = 2)
#' identical(longer$draws, at_once$draws)
#' @export
continue <- function(fit, iter, backend = NULL, threads = NULL, progress = NULL, ...) {
  check_dots_empty(...)
  if (!inherits(fit, "dp_mixture")) {
    stop_input("fit", "must come from dp_mixture(), not ", show_value(fit))
  }
  iter <- check_count(iter, "iter")
  if (is.null(fit$x)) {
    stop_input("fit", "has lost its data, `fit$x`: a continued run needs them")
  }
  if (!is.double(fit$x) || !identical(dim(fit$x), c(as.integer(fit$rows), length(fit$markers)))) {
    stop_input("fit", sprintf("has other data, `fit$x`, than the %s x %d matrix that was fitted: ", format(fit$rows), length(fit$markers)), show_value(fit$x))
  }
  whole <- length(fit$state) == fit$chains && identical(dim(fit$log_likelihood), as.integer(c(fit$iter, fit$chains))) &&
    identical(dim(fit$draws$concentration), as.integer(c(kept_draws(fit$iter, fit), fit$chains)))
  if (!whole) {
    stop_input("fit", "has been changed since it was made: its chains, sweeps and draws do not agree")
  }
  progress <- if (is.null(progress)) interactive() else check_flag(progress, "progress")
  run <- resolve_run(backend, threads)
  fit$backend <- run$backend
  fit$threads <- run$threads
  advance_chains(fit, iter, run, progress, threads)
}

check_warmup <- function(warmup, iter, call = sys.call(-1L)) {
  warmup <- check_count(warmup, "warmup", min = 0, call = call)
  if (warmup >= iter) {
    stop_input("warmup", sprintf("is %s, but must be less than `iter`, which is %s", format(warmup), format(iter)), call = call)
  }
  warmup
}

check_keep <- function(keep, call = sys.call(-1L)) {
  choices <- c("weights", "means", "covariances", "labels")
  if (!is.character(keep) || !length(keep) || !all(keep %in% choices)) {
    wrong <- if (is.character(keep) && length(keep)) dQuote(setdiff(keep, choices)[[1L]], FALSE) else show_value(keep)
    stop_input("keep", "must be some of ", paste(dQuote(choices, FALSE), collapse = ", "), ", not ", wrong, call = call)
  }
  choices[choices %in% keep]
}

check_init <- function(init, rows, components, call = sys.call(-1L)) {
  if (is.null(init)) {
    return(NULL)
  }
  if (!is.numeric(init) && !(is.logical(init) && all(is.na(init))) || is.factor(init) || length(init) != rows) {
    stop_input("init", sprintf("must be NULL or one component for each of the %s rows, not ", format(rows)), show_value(init), call = call)
  }
  outside <- which(!is.na(init) & (init < 1 | init > components | init != floor(init)))
  if (length(outside)) {
    stop_input("init", sprintf("has the component %s at row %d; components are 1 to %s", format(init[[outside[[1L]]]]), outside[[1L]], format(components)), call = call)
  }
  as.integer(init)
}

# Five rows spread over the data: the density there does not depend on labels.
probe_rows <- function(rows) {
  pmin(rows, floor((seq_len(5L) - 0.5) / 5 * rows) + 1)
}

# Sweeps -------------------------------------------------------------------

# Runs `iter` more sweeps of all chains, side by side, in slices that end where a
# draw is kept or after a fifth of a second, so that interrupts and progress are
# seen between slices, when nothing is half done.
advance <- function(fit, iter, run, progress) {
  total <- fit$iter + iter
  prior <- compiled_prior(fit$prior)
  store <- open_store(fit, total)
  session <- native(C_mixture_open, fit$x, fit$center, 1 / fit$scale, as.integer(fit$precision == "single"), run)
  on.exit(.Call(C_mixture_close, session))
  tick <- progress_signal(iter * fit$chains, progress)
  on.exit(tick(NULL), add = TRUE)
  probe <- (t(fit$probe) - fit$center) / fit$scale
  started <- proc.time()[["elapsed"]]
  seconds <- 0.02

  step <- function(chain, sweeps) {
    state <- fit$state[[chain]]
    last <- state$sweep + sweeps
    prior$values <- state$prior
    slice <- native(
      C_mixture_sweep, session, prior, state$statistics, state$concentration, state$key,
      state$sweep + 1, as.integer(sweeps), fit$moves, "labels" %in% fit$keep && is_kept(last, fit), probe
    )
    store_slice(store, fit, chain, state$sweep + seq_len(sweeps), slice)
    state$statistics <- slice$statistics
    state$concentration <- slice$concentration
    state$prior <- slice$prior
    state$sweep <- last
    fit$state[[chain]] <<- state
    tick(sweeps)
  }
  together <- fit$state
  fit$interrupted <- tryCatch(
    {
      suspendInterrupts(while ((done <- fit$state[[1L]]$sweep) < total) {
        together <- fit$state
        slice_started <- proc.time()[["elapsed"]]
        sweeps <- min(total - done, sweeps_to_kept(done, fit), max(1, floor(0.2 / seconds)))
        for (chain in seq_len(fit$chains)) {
          step(chain, sweeps)
          allowInterrupts(Sys.sleep(0))
        }
        seconds <- max(1e-5, (proc.time()[["elapsed"]] - slice_started) / (sweeps * fit$chains))
      })
      FALSE
    },
    interrupt = function(condition) TRUE
  )
  # An interruption between chains undoes the slices that other chains lack.
  if (length(unique(vapply(fit$state, `[[`, 0, "sweep"))) > 1L) {
    fit$state <- together
  }
  fit$elapsed[["sweeps"]] <- fit$elapsed[["sweeps"]] + proc.time()[["elapsed"]] - started
  close_store(fit, store, total)
}

# The resolved prior as the entries read it. `values` is what may be learned: m,
# gamma, nu, and Phi packed by rows of its lower triangle.
compiled_prior <- function(prior) {
  list(
    values = c(prior$mean, prior$mean_scale, prior$df, pack(prior$scale)),
    concentration = prior$concentration,
    hyper = if (length(prior$learn)) resolve_hyperprior(prior)
  )
}

pack <- function(symmetric) t(symmetric)[upper.tri(symmetric, diag = TRUE)]

unpack <- function(packed, p) {
  symmetric <- matrix(0, p, p)
  symmetric[upper.tri(symmetric, diag = TRUE)] <- packed
  symmetric + t(symmetric) - diag(diag(symmetric), p)
}

is_kept <- function(sweep, fit) {
  sweep > fit$warmup && (sweep - fit$warmup) %% fit$thin == 0
}

# From sweep `sweep` (done) to the next of which a draw is kept.
sweeps_to_kept <- function(sweep, fit) {
  if (sweep < fit$warmup) fit$warmup + fit$thin - sweep else fit$thin - (sweep - fit$warmup) %% fit$thin
}

kept_draws <- function(sweeps, fit) {
  max(0, floor((sweeps - fit$warmup) / fit$thin))
}

# What is kept --------------------------------------------------------------

trace_names <- c("log_likelihood", "log_posterior", "concentration_trace", "occupied")

# An environment of arrays for all sweeps and draws up to `total`, those that the
# fit already has filled in.
open_store <- function(fit, total) {
  store <- new.env(parent = emptyenv())
  k <- fit$components
  p <- length(fit$markers)
  chains <- fit$chains
  draws <- kept_draws(total, fit)
  sizes <- list(weights = k, means = c(k, p), covariances = c(p, p, k), labels = fit$rows)[fit$keep]
  sizes <- c(sizes, list(
    prior_mean = p, prior_mean_scale = numeric(), prior_df = numeric(), prior_scale = c(p, p)
  )[learned_names(fit)])
  names <- list(
    means = list(NULL, fit$markers, NULL, NULL), covariances = list(fit$markers, fit$markers, NULL, NULL, NULL),
    prior_mean = list(fit$markers, NULL, NULL), prior_scale = list(fit$markers, fit$markers, NULL, NULL)
  )
  check_store_memory(sizes, draws, total, chains)
  for (name in names(sizes)) {
    blank <- if (name == "labels") NA_integer_ else NA_real_
    store[[name]] <- array(blank, c(sizes[[name]], draws, chains), names[[name]])
  }
  store$concentration <- matrix(NA_real_, draws, chains)
  for (name in trace_names) {
    store[[name]] <- matrix(if (name == "occupied") NA_integer_ else NA_real_, total, chains)
  }
  store$probe_density <- array(NA_real_, c(total, chains, nrow(fit$probe)))
  if (fit$iter > 0) {
    old <- seq_len(fit$iter)
    for (name in trace_names) {
      store[[name]][old, ] <- fit[[name]]
    }
    store$probe_density[old, , ] <- fit$probe_density
    old <- seq_len(kept_draws(fit$iter, fit))
    store$concentration[old, ] <- fit$draws$concentration
    # The old draws of each chain are the first of its new ones.
    for (name in names(sizes)) {
      for (chain in seq_len(chains)) {
        values <- fit$draws[[name]]
        size <- length(values) / chains
        if (size > 0) {
          native(C_mixture_keep, store[[name]], (chain - 1) * draws * prod(sizes[[name]]), values[seq_len(size) + (chain - 1) * size])
        }
      }
    }
  }
  store
}

# Refuses before the arrays are made: a system that promises more memory than it
# has would end the process later.
check_store_memory <- function(sizes, draws, sweeps, chains) {
  kept <- draws * chains * sum(vapply(sizes, prod, 0) * ifelse(names(sizes) == "labels", 4, 8))
  traces <- sweeps * chains * 8 * (length(trace_names) + 5)
  available <- memory_available()
  if (kept + traces > available) {
    stop_warpbayes("memory", sprintf(
      "the %s draws to keep take %s and the traces of all sweeps %s, but only %s of memory are available: keep less with `keep`, `thin` or a longer `warmup`, or run fewer sweeps",
      format(draws * chains, big.mark = ",", decimal.mark = ".", scientific = FALSE), show_bytes(kept), show_bytes(traces), show_bytes(available)
    ), call = NULL)
  }
}

# Log Jacobians from scaled units to the data's: of the cells, and of the
# components' means (1 for each marker) and covariances (p + 1) with the prior's mean
# and scale where these are learned.
unit_jacobian <- function(fit) {
  p <- length(fit$markers)
  log_unit <- sum(log(fit$scale))
  learned <- sum(c(mean = 1, scale = p + 1)[intersect(fit$prior$learn, c("mean", "scale"))])
  c(rows = -fit$rows * log_unit, parameters = -(fit$components * (p + 2) + learned) * log_unit)
}

store_slice <- function(store, fit, chain, sweeps, slice) {
  jacobian <- unit_jacobian(fit)
  total <- nrow(store$log_likelihood)
  at <- (chain - 1) * total + sweeps[[1L]] - 1
  trace <- function(name, values, point = 1) {
    native(C_mixture_keep, store[[name]], at + (point - 1) * total * fit$chains, values)
  }
  trace("log_likelihood", slice$log_likelihood + jacobian[["rows"]])
  trace("log_posterior", slice$log_likelihood + slice$log_prior + sum(jacobian))
  trace("concentration_trace", slice$concentration_trace)
  trace("occupied", slice$occupied)
  for (point in seq_len(nrow(fit$probe))) {
    trace("probe_density", slice$probe_density[, point] - sum(log(fit$scale)), point)
  }
  last <- sweeps[[length(sweeps)]]
  if (!is_kept(last, fit)) {
    return(invisible())
  }
  draw <- kept_draws(last, fit)
  # Draws are the last dimension but one, chains the last.
  place <- draw - 1 + (chain - 1) * nrow(store$concentration)
  put <- function(name, values) {
    if (!is.null(store[[name]])) native(C_mixture_keep, store[[name]], place * length(values), values)
  }
  put("concentration", slice$concentration)
  put("weights", exp(slice$log_weight))
  put("labels", slice$labels)
  if (any(c("means", "covariances") %in% fit$keep)) {
    moments <- native(C_mixture_moments, slice$mean, slice$factor, fit$center, fit$scale, "covariances" %in% fit$keep)
    put("means", moments$means)
    put("covariances", moments$covariances)
  }
  p <- length(fit$markers)
  put("prior_mean", slice$prior[seq_len(p)] * fit$scale + fit$center)
  put("prior_mean_scale", slice$prior[[p + 1]])
  put("prior_df", slice$prior[[p + 2]])
  put("prior_scale", unpack(slice$prior[-seq_len(p + 2)], p) * outer(fit$scale, fit$scale))
}

learned_names <- function(fit) {
  if (length(fit$prior$learn)) paste0("prior_", fit$prior$learn) else character()
}

# Moves the arrays into the fit; after an interruption cut to the sweeps that are done.
close_store <- function(fit, store, total) {
  done <- fit$state[[1L]]$sweep
  fit$iter <- done
  sweeps <- seq_len(done)
  draws <- seq_len(kept_draws(done, fit))
  whole <- done == total
  for (name in trace_names) {
    fit[[name]] <- if (whole) store[[name]] else store[[name]][sweeps, , drop = FALSE]
  }
  fit$probe_density <- if (whole) store$probe_density else store$probe_density[sweeps, , , drop = FALSE]
  fit$sizes <- vapply(fit$state, function(state) {
    as.integer(matrix(state$statistics, ncol = fit$components)[1L, ])
  }, integer(fit$components))
  dim(fit$sizes) <- c(fit$components, fit$chains)
  fit$draws <- lapply(mget(c(fit$keep, learned_names(fit), "concentration"), envir = store), function(values) {
    if (whole) values else first_draws(values, draws)
  })
  if (fit$interrupted) {
    warning(sprintf(
      "interrupted: %s of %s sweeps are done, %s draws per chain are kept; continue() goes on from here",
      format(done), format(total), format(length(draws))
    ), call. = FALSE)
  }
  fit
}

# The first draws of an array whose last dimensions are draws and chains.
first_draws <- function(values, draws) {
  switch(length(dim(values)) - 1L,
    values[draws, , drop = FALSE],
    values[, draws, , drop = FALSE],
    values[, , draws, , drop = FALSE],
    values[, , , draws, , drop = FALSE]
  )
}

# Evaluation ----------------------------------------------------------------

# A mixture with parameters in the data's units (weights k, means k x p,
# covariances p x p x k) at the rows of x: a list with `class`, `log_density` and
# `prob` (rows x k), each NULL unless in `what`.
mixture_evaluate_rows <- function(x, center, scale, weights, means, covariances, what, run, precision) {
  session <- native(C_mixture_open, x, as.double(center), 1 / scale, as.integer(precision == "single"), run)
  on.exit(.Call(C_mixture_close, session))
  result <- native(
    C_mixture_evaluate, session, as.double(weights), as.double(means), as.double(covariances),
    as.double(center), 1 / scale, 0, as.double(nrow(x)), c("class", "log_density", "prob") %in% what
  )
  if (!is.null(result$log_density)) {
    result$log_density <- result$log_density - sum(log(scale))
  }
  result
}
