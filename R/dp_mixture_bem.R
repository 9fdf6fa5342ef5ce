# Bayesian EM: modes of the posterior in place of its draws. The starts are chains of
# R/chains.R, whose steps stop where the log posterior gains too little; R/dp_mixture.R has
# the arguments.

#' Bayesian EM: modes of a mixture's posterior
#'
#' `dp_mixture(x, method = "bem")` climbs to a mode of the posterior instead of sampling from it. It is much faster than
#' sampling. Use it where one good mixture is enough, or to find a start for the sampler: `dp_mixture(x, init = fit)`.
#'
#' @section How it works:
#' A step weighs each cell by its probabilities of all components. Probabilities below
#' \eqn{2^{-40}} count as zero. Given these weights, the step sets means, covariances, component weights and
#' concentration to their most probable values. A component that has lost all its cells is left out of the following
#' steps.
#'
#' With `estimate = "mode"`, the log posterior never falls, except by rounding. A start has converged when a step
#' changes the log posterior by no more than `tolerance` per cell. It also stops after `iter` steps.
#'
#' The log posterior is the density in the coordinates \eqn{\mu_j}, the entries of \eqn{\Sigma_j},
#' \eqn{-\log(1 - v_j)} for each stick \eqn{v_j}, and \eqn{\alpha}. The sticks have a mode in these coordinates. It
#' therefore differs from the log posterior of Gibbs sampling by the sum of the \eqn{\log(1 - v_j)}.
#'
#' @section Starts:
#' `chains` is the number of starts. Different starts end at different modes. Each begins from its own clustering with
#' `warmup` Gibbs sweeps (100 by default, none if `init` is a fit).
#'
#' The parts of the prior that [dp_prior()] learns are held fixed during the steps. The Gibbs sweeps of the first
#' start learn them: each part is set to its average over the second half of these sweeps (the geometric mean for
#' `mean_scale` and `df`). All starts use the same values, so that their log posteriors can be compared. Fixing
#' `scale` also keeps the log posterior bounded. Without Gibbs sweeps, the parts have the values at which learning
#' would begin, or their values in `init` if that is a fit of the same cells.
#'
#' @section What the fit can do:
#' Functions that need a single mixture, or average over draws, take the start with the highest log posterior:
#' [predict.dp_mixture()], [cell_types()], [simulate()], `logLik()`, `tidy()` and `plot()`.
#'
#' There are no draws from the posterior. Intervals, \eqn{\hat R} and effective sample sizes are therefore `NA`.
#' [relabel()], [co_clustering()], [drop_warmup()] and the conversions to packages posterior and coda give an error.
#'
#' [continue()] makes more steps of the starts that have not converged. If all have converged, it returns the fit as
#' it is.
#'
#' One sample without missing values is required.
#'
#' @section Accuracy and time:
#' On held-out cells of five samples, the log density of a mode was 0.04 to 0.20 nats per cell below the average over
#' draws of a sampled fit. With four starts the difference was 0.02 to 0.05. The modes were better than mclust
#' (`bench/mixture-bem-density.R`). With fewer Gibbs sweeps at the start, a mode can be far worse.
#'
#' A step takes about as long as a sweep without `moves`. It takes up to twice as long if the components overlap so
#' much that most of them count for a cell (`bench/mixture-bem.R`). Beside the data, a graphics card needs up to 512
#' MB of its memory, or 16 kB for each component if that is more.
#'
#' @section The fit:
#' `dp_mixture(method = "bem")` returns the object that [dp_mixture()] describes, with these differences:
#' \describe{
#'   \item{sweeps and chains}{Sweeps are steps, and chains are starts. After a start has stopped, its traces repeat the
#'     last value.}
#'   \item{`draws`}{One draw for each start: the mixture after its last step.}
#'   \item{`sizes`}{The expected numbers of cells, rounded.}
#'   \item{`occupied`}{The number of components that hold half a cell or more.}
#'   \item{`prior`}{The prior with the learned parts fixed.}
#'   \item{`steps`, `converged`}{One value for each start: how many steps it made, and whether it converged.}
#'   \item{`start_sweeps`, `tolerance`, `estimate`}{How the fit was made.}
#' }
#' The Gibbs sweeps at the start are not kept: if you interrupt the fit among them, it returns nothing.
#'
#' @references
#' Lin, L., Chan, C. and West, M. (2010). Discriminative information analysis for variable selection in mixture
#' modelling. Technical report, Department of Statistical Science, Duke University.
#' @seealso [dp_mixture()], whose arguments `tolerance`, `estimate`, `chains` and `warmup` apply
#' @examples
#' set.seed(1)
#' population <- sample(3, 2000, replace = TRUE, prob = c(5, 3, 2))
#' x <- matrix(rnorm(4000), ncol = 2) + 5 * cbind(population == 2, population == 3)
#' # The best of three modes of the posterior.
#' mode <- dp_mixture(x, components = 8, method = "bem", chains = 3, seed = 1, threads = 2)
#' mode
#' table(population, predict(mode, threads = 2))
#' # A sampler that starts there.
#' dp_mixture(x, components = 8, iter = 50, init = mode, seed = 1, threads = 2)
#' @name bayesian_em
NULL

is_bem <- function(fit) identical(fit$method, "bem")

# What only one of the two methods has.
check_method_arguments <- function(method, given, call = sys.call(-1L)) {
  other <- if (method == "bem") c("thin", "keep") else c("tolerance", "estimate")
  wrong <- intersect(other, given)
  if (length(wrong)) {
    stop_input(wrong[[1L]], "is given, but ", switch(wrong[[1L]],
      thin = , keep = "method = \"bem\" has one result per start, the weights, means and covariances of the last step",
      "only method = \"bem\" has it"
    ), call = call)
  }
}

# Cells that only the sampler takes.
check_bem_cells <- function(sample, x, call = sys.call(-1L)) {
  if (!is.null(sample)) {
    stop_input("method", "is \"bem\", which fits one sample: sample = FALSE takes the cells of all samples together", call = call)
  }
  if (anyNA(x)) {
    stop_input("method", "is \"bem\", which takes no missing values: with method = \"gibbs\" they are drawn", call = call)
  }
}

# Starts ---------------------------------------------------------------------------

# The statistics from which chain number `chain` starts: start(key, chain). `init` is NULL, labels,
# or a fit.
mixture_start <- function(fit, init, merge, atoms, run, call = sys.call(-1L)) {
  prior <- compiled_prior(start_prior(fit$prior))
  force(call)
  from_labels <- function(labels) {
    force(labels)
    if (!is.null(fit$reader)) {
      return(start_from_reader(fit, labels, prior, merge, atoms, run, call))
    }
    function(key, chain) {
      native(C_mixture_start, fit$x, fit$center, 1 / fit$scale, prior, as.integer(fit$components), key, merge == 0, atoms, labels)
    }
  }
  if (!inherits(init, "dp_mixture")) {
    return(from_labels(init))
  }
  check_init_fit(init, fit, call)
  if (!same_cells(init, fit)) {
    return(from_labels(labels_from_fit(init, fit, run, call)))
  }
  statistics <- lapply(init$state, statistics_for, fit = fit, call = call)
  function(key, chain) statistics[[(chain - 1) %% length(statistics) + 1]]
}

# Cells that workers have read: those of the subsample come here.
start_from_reader <- function(fit, labels, prior, merge, atoms, run, call) {
  if (!is.null(labels)) {
    stop_input("init", "has labels, which need the cells in this process: a row_reader() takes NULL, or a fit of the same cells", call = call)
  }
  k <- as.integer(fit$components)
  function(key, chain) {
    cells <- collect_cells(run$cluster, native(C_mixture_start_rows, as.double(fit$rows), k, key))
    native(C_mixture_start_from, cells, fit$center, 1 / fit$scale, prior, k, key, merge == 0, atoms, as.double(fit$rows))
  }
}

check_init_fit <- function(init, fit, call) {
  if (!identical(init$markers, fit$markers)) {
    stop_input("init", "was fitted to other markers, ", list_some(init$markers), ", than ", list_some(fit$markers), call = call)
  }
  if (!identical(init$transform, fit$transform)) {
    stop_input("init", "was fitted on another scale: its `transform` or `cofactor` differs", call = call)
  }
}

# Whether both are fits of the same cells, as far as their number, means and deviations tell.
same_cells <- function(init, fit) {
  identical(as.double(init$rows), as.double(fit$rows)) && identical(init$center, fit$center) &&
    identical(init$scale, fit$scale) && length(init$state) >= 1L
}

too_many_components <- function(count, fit, call) {
  stop_input("init", sprintf("has cells in %s components, but `components` is %s", format(count), format(fit$components)), call = call)
}

# Statistics of another fit's last state; components without half a cell make room where there are too many.
statistics_for <- function(state, fit, call) {
  p <- length(fit$markers)
  size <- 1 + p + p * (p + 1) / 2
  values <- state$statistics
  if (!is.double(values) || length(values) %% size != 0 || !all(is.finite(values))) {
    stop_input("init", "has been changed since it was made: its state does not agree with its markers", call = call)
  }
  values <- matrix(values, size)
  if (ncol(values) > fit$components) {
    values <- values[, values[1L, ] >= 0.5, drop = FALSE]
  }
  if (ncol(values) > fit$components) {
    too_many_components(ncol(values), fit, call)
  }
  c(values, numeric(size * (fit$components - ncol(values))))
}

# Most probable classes of other cells, numbered from 1 without gaps where there are too many.
labels_from_fit <- function(init, fit, run, call) {
  if (!is.null(fit$reader)) {
    stop_input("init", "was fitted to other cells, whose components need the cells in this process: a row_reader() takes a fit of the same cells", call = call)
  }
  reference <- reference_draw(init, call)
  labels <- evaluate_mixture(init, reference, fit$x, "class", run)
  if (init$components > fit$components) {
    labels <- match(labels, sort(unique(labels)))
  }
  if (max(labels) > fit$components) {
    too_many_components(max(labels), fit, call)
  }
  labels
}

# The states in which the steps begin, and the prior that they hold. What the prior has to learn is
# learned by the first start, from its second half of the Gibbs sweeps, or taken from `init`.
start_bem <- function(fit, init, start, run) {
  prior <- compiled_prior(fit$prior)
  held <- held_prior(fit, init)
  sweeps <- fit$start_sweeps
  merge <- if (is.null(init)) merge_after(sweeps, fit$moves) else 0
  session <- NULL
  on.exit(if (!is.null(session)) close_fit(session))
  if (sweeps > 0) {
    session <- open_fit(fit, run)
  }
  atoms <- find_atoms(fit)
  chain <- 0
  fit <- start_chains(fit, function(key) {
    chain <<- chain + 1
    state <- list(
      key = key, sweep = 0, merge = if (merge > 0) merge + 1 else 0, statistics = start(key, chain),
      concentration = prior$concentration[["shape"]] / prior$concentration[["rate"]],
      prior = if (is.null(held)) prior$values else held
    )
    if (sweeps > 0) {
      if (!is.null(held)) {
        prior["hyper"] <- list(NULL)
      }
      found <- sweep_start(fit, session, state, prior, atoms, sweeps)
      state <- found$state
      held <<- if (is.null(held)) found$prior else held
    } else if (is.null(held)) {
      held <<- prior$values
    }
    list(
      statistics = order_by_size(state$statistics, length(fit$markers)), concentration = state$concentration,
      prior = held, log_posterior = NaN, stopped = FALSE, steps = 0
    )
  })
  fit$prior <- hold_prior(fit$prior, held)
  fit
}

# The prior with the parts that `fit` would learn as the chain of `init` with the highest log posterior has
# them; NULL where they are to be learned.
held_prior <- function(fit, init) {
  values <- compiled_prior(fit$prior)$values
  if (!length(fit$prior$learn)) {
    return(values)
  }
  if (!inherits(init, "dp_mixture") || !same_cells(init, fit)) {
    return(NULL)
  }
  best <- if (init$iter > 0) which.max(init$log_posterior[init$iter, ]) else 1L
  known <- init$state[[best]]$prior
  if (!is.double(known) || length(known) != length(values) || !all(is.finite(known))) {
    return(NULL)
  }
  ifelse(is_learned(fit$prior), known, values)
}

# Which of the values of compiled_prior() are learned.
is_learned <- function(prior) {
  p <- length(prior$mean)
  c(rep("mean", p), "mean_scale", "df", rep("scale", p * (p + 1) / 2)) %in% prior$learn
}

hold_prior <- function(prior, values) {
  p <- length(prior$mean)
  prior$mean <- values[seq_len(p)]
  prior$mean_scale <- values[[p + 1]]
  prior$df <- values[[p + 2]]
  prior$scale <- unpack(values[-seq_len(p + 2)], p)
  prior$learn <- character()
  prior
}

# Gibbs sweeps from a state. `prior` is the average of its learned parts over the second half of the
# sweeps: the mean of m and Phi, the geometric mean of gamma and nu.
sweep_start <- function(fit, session, state, prior, atoms, sweeps) {
  p <- length(fit$markers)
  probe <- (t(fit$probe) - fit$center) / fit$scale
  positive <- p + 1:2
  total <- 0
  for (sweep in seq_len(sweeps)) {
    # An interrupt waits for the end of the sweep, whose replies may be on their way from the workers of a cluster.
    slice <- suspendInterrupts(native(
      C_mixture_sweep, session, prior, state, 1L, fit$moves, atoms, probe[, 0L, drop = FALSE], logical(3), fit$center, fit$scale
    ))
    state[c("statistics", "concentration", "prior")] <- slice[c("statistics", "concentration", "prior")]
    state$sweep <- as.double(sweep)
    if (sweep > sweeps / 2) {
      values <- slice$prior
      values[positive] <- log(values[positive])
      total <- total + values
    }
  }
  average <- total / (sweeps - floor(sweeps / 2))
  average[positive] <- exp(average[positive])
  list(state = state, prior = ifelse(is_learned(fit$prior), average, prior$values))
}

# The sticks favour components in order of size.
order_by_size <- function(statistics, p) {
  statistics <- matrix(statistics, 1 + p + p * (p + 1) / 2)
  c(statistics[, order(-statistics[1L, ])])
}

# Steps ------------------------------------------------------------------------------

bem_sampler <- function(fit) {
  list(
    traces = list(
      log_likelihood = stored(), log_posterior = stored(), concentration_trace = stored(),
      occupied = stored(type = "integer"), probe_density = stored(nrow(fit$probe))
    ),
    draws = list(),
    open = function(run) open_fit(fit, run, FALSE),
    close = close_fit,
    step = bem_step(fit),
    interrupted = function(done, total) {
      sprintf("interrupted: %s of at most %s steps are done; the mixtures where they ended are returned, and continue() goes on from there",
        whole_words(done), whole_words(total))
    },
    finish = finish_bem
  )
}

bem_step <- function(fit) {
  prior <- compiled_prior(fit$prior)
  probe <- (t(fit$probe) - fit$center) / fit$scale
  jacobian <- unit_jacobian(fit)
  log_unit <- sum(log(fit$scale))
  function(session, state, sweeps, keep) {
    made <- NULL
    if (!isTRUE(state$stopped)) {
      slice <- native(
        C_mixture_climb, session, prior, state, as.integer(sweeps), fit$estimate == "mean", fit$tolerance * fit$rows, probe,
        fit$center, fit$scale
      )
      done <- seq_len(slice$done)
      made <- cbind(
        slice$log_likelihood + jacobian[["rows"]], slice$log_likelihood + slice$log_prior + sum(jacobian),
        slice$concentration_trace, slice$occupied, slice$probe_density - log_unit
      )[done, , drop = FALSE]
      state[c("statistics", "concentration", "log_posterior", "sizes")] <- slice[c("statistics", "concentration", "log_posterior", "sizes")]
      state$stopped <- slice$converged
      state$steps <- state$steps + slice$done
      state$last <- made[slice$done, ]
      state$mode <- list(weights = exp(slice$log_weight), means = slice$means, covariances = slice$covariances)
    }
    # A start that has stopped stays where it is.
    rest <- matrix(rep(state$last, each = sweeps - NROW(made)), sweeps - NROW(made), 4 + ncol(probe))
    all <- rbind(made, rest)
    list(state = state, traces = list(
      log_likelihood = all[, 1L], log_posterior = all[, 2L], concentration_trace = all[, 3L],
      occupied = as.integer(all[, 4L]), probe_density = all[, -(1:4), drop = FALSE]
    ))
  }
}

# Cuts what follows the last step of all starts, and gathers the modes.
finish_bem <- function(fit) {
  steps <- vapply(fit$state, `[[`, 0, "steps")
  last <- max(steps)
  for (name in c("log_likelihood", "log_posterior", "concentration_trace", "occupied")) {
    fit[[name]] <- fit[[name]][seq_len(last), , drop = FALSE]
  }
  fit$probe_density <- fit$probe_density[seq_len(last), , , drop = FALSE]
  fit$iter <- last
  fit$state <- lapply(fit$state, function(state) {
    state$sweep <- last
    state
  })
  fit$steps <- steps
  fit$converged <- vapply(fit$state, `[[`, NA, "stopped")
  k <- fit$components
  p <- length(fit$markers)
  markers <- fit$markers
  draws <- if (last > 0) 1 else 0
  gather <- function(part) unlist(lapply(fit$state, function(state) state$mode[[part]]), use.names = FALSE)
  shape <- function(values, dim, names) array(as.double(values), c(dim, draws, fit$chains), c(names, list(NULL, NULL)))
  fit$draws <- list(
    weights = shape(gather("weights"), k, list(NULL)),
    means = shape(gather("means"), c(k, p), list(NULL, markers)),
    covariances = shape(gather("covariances"), c(p, p, k), list(markers, markers, NULL)),
    concentration = matrix(as.double(if (draws) fit$concentration_trace[last, ]), draws, fit$chains)
  )
  sizes <- vapply(fit$state, function(state) if (is.null(state$sizes)) numeric(k) else state$sizes, numeric(k))
  fit$sizes <- matrix(as.integer(round(sizes)), k, fit$chains)
  fit
}

# What a mode cannot give ---------------------------------------------------------------

need_sampler <- function(fit, what, call = sys.call(-1L)) {
  if (is_bem(fit)) {
    stop_input("fit", "has modes of the posterior, by method = \"bem\", and no draws from it: ", what,
      "; dp_mixture(..., init = fit) samples from there", call = call)
  }
}

# In words --------------------------------------------------------------------------------

# One row for each start.
bem_starts <- function(fit) {
  last <- function(trace) if (fit$iter > 0) trace[fit$iter, ] else rep(NA_real_, fit$chains)
  data.frame(
    start = seq_len(fit$chains), steps = fit$steps, converged = fit$converged, log_posterior = last(fit$log_posterior),
    log_likelihood = last(fit$log_likelihood), occupied = last(fit$occupied)
  )
}

bem_words <- function(fit) {
  c(
    sprintf("Dirichlet-process mixture of Gaussians: %s x %s, up to %s",
      count_words(fit$rows, "cell"), count_words(length(fit$markers), "marker"), count_words(fit$components, "component")),
    sprintf("%s by Bayesian EM%s: %s%s, %s on %s, %s precision, seed %s",
      if (fit$estimate == "mean") "Conditional means" else "Mode of the posterior", if (isTRUE(fit$interrupted)) ", interrupted" else "",
      count_words(fit$chains, "start"),
      if (fit$start_sweeps > 0) sprintf("%s after %s", if (fit$chains > 1) ", each" else "", count_words(fit$start_sweeps, "Gibbs sweep")) else "",
      elapsed_words(fit$elapsed), backend_words(fit), fit$precision, format(fit$seed, digits = 16))
  )
}

# What happened, in sentences: steps, where the starts ended, and what cannot be said.
bem_verdict <- function(fit) {
  if (fit$iter == 0) {
    return("No step was made; continue(fit, iter) makes some.")
  }
  starts <- bem_starts(fit)
  best <- which.max(starts$log_posterior)
  number <- function(value) formatC(value, format = "f", digits = 1, big.mark = ",", decimal.mark = ".")
  threshold <- format(fit$tolerance, scientific = TRUE)
  stopped <- if (starts$converged[[best]]) {
    sprintf("It stopped after %s, the last of which changed the log posterior by less than %s a cell.", count_words(starts$steps[[best]], "step"), threshold)
  } else {
    sprintf("It has not converged: after %s, the last one still changed the log posterior by %s a cell; continue(fit, iter) goes on.",
      count_words(starts$steps[[best]], "step"),
      if (fit$iter > 1) format(signif(abs(diff(fit$log_posterior[fit$iter - 1:0, best])) / fit$rows, 2)) else "an unknown amount")
  }
  others <- starts[-best, ]
  c(
    if (fit$chains == 1) {
      sprintf("Log posterior %s.", number(starts$log_posterior[[best]]))
    } else {
      sprintf("Start %d of %d has the highest log posterior, %s.", best, fit$chains, number(starts$log_posterior[[best]]))
    },
    stopped,
    if (nrow(others)) {
      sprintf("The %s %s below it%s.", if (nrow(others) == 1L) "other ends" else "others end",
        paste(number(starts$log_posterior[[best]] - utils::head(others$log_posterior, 8L)), collapse = ", "),
        if (all(others$converged)) "" else sprintf("; %s of them had not converged", whole_words(sum(!others$converged))))
    },
    if (fit$components > 1 && fit$components < fit$rows && starts$occupied[[best]] == fit$components) {
      sprintf("All %s components hold cells: the data may need more; fit again with components = %s.", format(fit$components), format(2 * fit$components))
    },
    "A mode has no spread: intervals, Rhat and effective sample sizes need draws, which dp_mixture(..., init = fit) takes from here."
  )
}

print_bem <- function(fit) {
  cat(bem_words(fit), sep = "\n")
  if (fit$iter > 0) {
    best <- which.max(bem_starts(fit)$log_posterior)
    cat(sprintf("Components that hold half a cell or more: %s\n", fit$occupied[fit$iter, best]))
    largest <- sort(fit$sizes[, best], decreasing = TRUE)
    largest <- utils::head(largest[largest > 0], 8L)
    cat(sprintf("Largest: %s of the cells\n", paste0(format(round(100 * largest / fit$rows, 1), trim = TRUE), "%", collapse = ", ")))
  }
  print_sentences(bem_verdict(fit))
}

# The largest components of the best mode.
reference_components <- function(reference) {
  order <- order(-reference$weights)
  data.frame(component = order, weight = reference$weights[order], reference$means[order, , drop = FALSE], check.names = FALSE)
}

summarise_bem <- function(fit) {
  reference <- if (fit$iter > 0) reference_draw(fit)
  structure(
    list(
      words = bem_words(fit), prior = fit$prior, starts = bem_starts(fit), best = reference$chain,
      converged = if (fit$iter > 0) fit$converged[[reference$chain]] else NA, verdict = bem_verdict(fit),
      components = if (fit$iter > 0) reference_components(reference), reference = reference[c("draw", "chain")],
      rows = fit$rows, transform = fit$transform
    ),
    class = c("summary.dp_mixture_bem", "summary.dp_mixture")
  )
}

glance_bem <- function(fit) {
  best <- bem_starts(fit)[reference_draw(fit)$chain, ]
  data.frame(
    rows = fit$rows, markers = length(fit$markers), components = fit$components, occupied = best$occupied,
    concentration = fit$draws$concentration[1L, best$start], log_likelihood = best$log_likelihood, chains = fit$chains,
    draws = 0, rhat = NA_real_, ess_bulk = NA_real_, converged = best$converged, seconds = elapsed_seconds(fit$elapsed)
  )
}

#' @rdname summary.dp_mixture
#' @export
print.summary.dp_mixture_bem <- function(x, components = 12, digits = 2, ...) {
  components <- check_count(components, "components", min = 0)
  digits <- check_count(digits, "digits", max = 15)
  cat(x$words, sep = "\n")
  cat("\n")
  print(x$prior)
  print_components(x, sprintf("start %d", x$best), components, digits)
  cat("\nStarts:\n")
  print(format(x$starts, digits = 10), row.names = FALSE)
  print_sentences(x$verdict)
  invisible(x)
}
