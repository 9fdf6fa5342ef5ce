# Bayesian EM: modes of the posterior. Its starts are chains of R/run_chains.R that stop at `tolerance`.

#' Bayesian EM: modes of a mixture's posterior
#'
#' `dp_mixture(x, method = "bem")` climbs to a mode of the posterior, which can also start the sampler.
#' @section How it works:
#' A step weighs each cell by its probabilities of all components, and sets the parameters to their most probable values
#' given these. A start ends after `iter` steps, or when a step changes the log posterior by no more than `tolerance`
#' (default: 1e-3) per cell. The log posterior is the density in \eqn{\mu_j}, \eqn{\Sigma_j}, \eqn{-\log(1 - v_j)} for
#' each stick \eqn{v_j}, and \eqn{\alpha}.
#' @section Starts:
#' `chains` is the number of starts, which end at different modes. Each begins from its own clustering with `warmup`
#' Gibbs sweeps (50 by default, none from a fit). Of more than 50,000 cells, these sweeps take 50,000 that are evenly
#' spaced, unless you give `start` or a [row_reader()]. The first start learns the parts of the prior in these sweeps;
#' their average over the second half is then fixed in all starts.
#' @section The fit:
#' It is as [dp_mixture()] describes, but sweeps are steps, and chains are starts. `draws` has one mixture, and `steps`
#' and `converged` have one value, for each start. Functions of the fit take the start with the highest log posterior.
#' Intervals and diagnostics are `NA`; functions that need draws give an error.
#' @references
#' Lin, L., Chan, C. and West, M. (2010). Discriminative information analysis for variable selection in mixture
#' modelling. Technical report, Department of Statistical Science, Duke University.
#' @examples
#' set.seed(1)
#' population <- sample(3, 2000, replace = TRUE, prob = c(5, 3, 2))
#' x <- matrix(rnorm(4000), ncol = 2) + 5 * cbind(population == 2, population == 3)
#' mode <- dp_mixture(x, components = 8, method = "bem", chains = 3, seed = 1, threads = 2)
#' mode
#' dp_mixture(x, components = 8, iter = 50, threads = 2, control = warp_control(start = mode))
#' @name bayesian_em
NULL

bem_schedule <- function(iter, warmup, control) {
  sweeps <- if (inherits(control$start, "dp_mixture")) 0 else 50
  list(warmup = 0, thin = 1, start_sweeps = if (is.null(warmup)) sweeps else check_count(warmup, "warmup", min = 0),
    tolerance = check_number(or_else(control$tolerance, 1e-3), "tolerance", min = 0, open = FALSE),
    estimate = control$estimate)
}

start_bem <- function(fit, start, run, atoms) {
  if (identical(start, "search")) stop_input("start", "is \"search\", which method = \"bem\" does not have")
  if (!is.null(fit$samples)) {
    stop_input("method", "is \"bem\", which fits one sample: sample = FALSE takes the cells of all samples together")
  }
  if (anyNA(fit$x)) {
    stop_input("method", "is \"bem\", which takes no missing values: with method = \"gibbs\" they are drawn")
  }
  few <- if (is.null(start)) some_cells(fit) else fit
  if (few$rows < fit$rows) run$cluster <- NULL
  first <- first_states(few, start, fit$start_sweeps, run, atoms)
  held <- held_prior(fit, start)
  sweep <- function(state, held) list(state = state, prior = if (is.null(held)) state$prior else held)
  if (fit$start_sweeps > 0) {
    session <- open_fit(few, run)
    on.exit(close_fit(session))
    sweep <- start_sweeps(few, session, atoms)
  }
  fit <- start_chains(fit, function(key) {
    swept <- sweep(c(list(key = key, sweep = 0), first(key)), held)
    held <<- swept$prior
    list(statistics = order_by_size(swept$state$statistics, length(fit$markers)) * (fit$rows / few$rows),
      concentration = swept$state$concentration, prior = held, log_posterior = NaN, stopped = FALSE, steps = 0)
  })
  fit$prior <- hold_prior(fit$prior, held)
  fit
}

some_cells <- function(fit, most = 50000) {
  if (fit$rows <= most || !is.null(fit$reader)) return(fit)
  fit$x <- fit$x[round(seq(1, fit$rows, length.out = most)), , drop = FALSE]
  fit$rows <- most
  fit
}

# The values of compiled_prior(), from the chain of `start` with the highest log posterior. NULL: not learned yet.
held_prior <- function(fit, start) {
  values <- compiled_prior(fit$prior)$values
  if (!length(fit$prior$learn)) return(values)
  if (!inherits(start, "dp_mixture") || !same_cells(start, fit)) return(NULL)
  best <- if (start$iter > 0) which.max(start$log_posterior[start$iter, ]) else 1L
  known <- start$state[[best]]$prior
  if (!is.double(known) || length(known) != length(values) || !all(is.finite(known))) return(NULL)
  ifelse(is_learned(fit$prior), known, values)
}

is_learned <- function(prior) {
  p <- length(prior$mean)
  c(rep("mean", p), "mean_scale", "df", rep("scale", p * (p + 1) / 2)) %in% prior$learn
}

hold_prior <- function(prior, values) {
  p <- length(prior$mean)
  utils::modifyList(prior, list(mean = values[seq_len(p)], mean_scale = values[[p + 1]], df = values[[p + 2]],
    scale = unpack(values[-seq_len(p + 2)], p), learn = character()))
}

# function(state, held): the state after Gibbs sweeps, and the `prior` that the steps hold: `held` or, if NULL, the
# average over the second half of the sweeps (m, Phi: mean; gamma, nu: geometric mean).
start_sweeps <- function(fit, session, atoms) {
  prior <- compiled_prior(fit$prior)
  no_probe <- matrix(0, length(fit$markers), 0L)
  carried <- c("statistics", "concentration", "prior")
  sweeps <- fit$start_sweeps
  positive <- length(fit$markers) + 1:2
  function(state, held) {
    if (!is.null(held)) {
      prior["hyper"] <- list(NULL)
      state$prior <- held
    }
    total <- 0
    for (sweep in seq_len(sweeps)) {
      # An interrupt waits for the end of the sweep: a cluster's replies may be on their way.
      let_stop()
      slice <- undivided(native_one(C_mixture_sweeps, session, prior, state, 1L, fit$moves, atoms, no_probe, logical(3),
        fit$center, fit$scale))
      state[carried] <- slice[carried]
      state$sweep <- as.double(sweep)
      if (sweep > sweeps / 2) {
        values <- slice$prior
        values[positive] <- log(values[positive])
        total <- total + values
      }
    }
    if (is.null(held)) {
      average <- total / (sweeps - floor(sweeps / 2))
      average[positive] <- exp(average[positive])
      held <- ifelse(is_learned(fit$prior), average, prior$values)
    }
    list(state = state, prior = held)
  }
}

order_by_size <- function(statistics, p) {
  statistics <- matrix(statistics, 1 + p + p * (p + 1) / 2)
  c(statistics[, order(-statistics[1L, ])])
}

bem_sampler <- function(fit, atoms = NULL) {
  c(mixture_plan(fit)["traces"], list(
    draws = list(),
    open = function(run) open_fit(fit, run, FALSE),
    close = close_fit,
    step = bem_step(fit),
    interrupted = function(done, total) sprintf(
      "interrupted: %s of at most %s steps are done; the mixtures so far are returned, and continue() makes more",
      whole_words(done), whole_words(total)),
    finish = finish_bem
  ))
}

bem_step <- function(fit) {
  prior <- compiled_prior(fit$prior)
  probe <- (t(fit$probe) - fit$center) / fit$scale
  jacobian <- unit_jacobian(fit)
  log_unit <- sum(log(fit$scale))
  one_start <- function(session, state, sweeps) {
    made <- NULL
    if (!isTRUE(state$stopped)) {
      slice <- native(C_mixture_climb, session, prior, state, as.integer(sweeps), fit$estimate == "mean",
        fit$tolerance * fit$rows, probe, fit$center, fit$scale)
      made <- cbind(slice$log_likelihood + jacobian[["rows"]], slice$log_likelihood + slice$log_prior + sum(jacobian),
        slice$concentration_trace, slice$occupied, slice$probe_density - log_unit)[seq_len(slice$done), , drop = FALSE]
      carried <- c("statistics", "concentration", "log_posterior", "sizes")
      state[carried] <- slice[carried]
      state$stopped <- slice$converged
      state$steps <- state$steps + slice$done
      state$last <- made[slice$done, ]
      state$mode <- list(weights = exp(slice$log_weight), means = slice$means, covariances = slice$covariances)
    }
    all <- rbind(made, matrix(rep(state$last, each = sweeps - NROW(made)), sweeps - NROW(made), 4 + ncol(probe)))
    list(state = state, traces = list(log_likelihood = all[, 1L], log_posterior = all[, 2L],
      concentration_trace = all[, 3L], occupied = as.integer(all[, 4L]), probe_density = all[, -(1:4), drop = FALSE]))
  }
  function(sessions, states, sweeps, keep) Map(one_start, sessions, states, sweeps)
}

finish_bem <- function(fit) {
  fit$steps <- vapply(fit$state, `[[`, 0, "steps")
  fit$converged <- vapply(fit$state, `[[`, NA, "stopped")
  last <- max(fit$steps)
  for (name in c("log_likelihood", "log_posterior", "concentration_trace", "occupied")) {
    fit[[name]] <- fit[[name]][seq_len(last), , drop = FALSE]
  }
  fit$probe_density <- fit$probe_density[seq_len(last), , , drop = FALSE]
  fit$iter <- last
  fit$state <- lapply(fit$state, replace, "sweep", last)
  fit$draws <- gather_modes(fit)
  k <- fit$components
  sizes <- vapply(fit$state, function(state) if (is.null(state$sizes)) numeric(k) else state$sizes, numeric(k))
  fit$sizes <- matrix(as.integer(round(sizes)), k, fit$chains)
  fit
}

gather_modes <- function(fit) {
  draws <- if (fit$iter > 0) 1 else 0
  plan <- mixture_plan(fit)$draws[mixture_parts]
  modes <- lapply(stats::setNames(nm = names(plan)), function(name) {
    values <- unlist(lapply(fit$state, function(state) state$mode[[name]]), use.names = FALSE)
    names <- if (is.null(plan[[name]]$names)) list(NULL) else plan[[name]]$names
    array(as.double(values), c(plan[[name]]$dim, draws, fit$chains), c(names, list(NULL, NULL)))
  })
  modes$concentration <- matrix(as.double(if (draws) fit$concentration_trace[fit$iter, ]), draws, fit$chains)
  modes
}

bem_starts <- function(fit) {
  last <- function(trace) if (fit$iter > 0) trace[fit$iter, ] else rep(NA_real_, fit$chains)
  data.frame(start = seq_len(fit$chains), steps = fit$steps, converged = fit$converged,
    log_posterior = last(fit$log_posterior), log_likelihood = last(fit$log_likelihood), occupied = last(fit$occupied))
}

bem_words <- function(fit) {
  sweeps <- paste(if (fit$chains > 1) ", each" else "", "after", count_words(fit$start_sweeps, "Gibbs sweep"))
  c(size_words(fit), sprintf("%s by Bayesian EM%s: %s%s, %s",
    if (fit$estimate == "mean") "Conditional means" else "Mode of the posterior",
    if (isTRUE(fit$interrupted)) ", interrupted" else "", count_words(fit$chains, "start"),
    if (fit$start_sweeps > 0) sweeps else "", where_words(fit)))
}

bem_held <- function(fit) {
  if (fit$iter == 0) return(NULL)
  best <- which.max(bem_starts(fit)$log_posterior)
  c(sprintf("Components that hold half a cell or more: %s", fit$occupied[fit$iter, best]),
    largest_words("Largest", fit$sizes[, best], fit$rows))
}

bem_summary <- function(fit, reference) {
  said <- verdict(fit)
  list(starts = bem_starts(fit), best = reference$chain, converged = is_usable(said), verdict = said)
}

bem_glance <- function(fit) {
  best <- bem_starts(fit)[reference_draw(fit)$chain, ]
  list(occupied = best$occupied, concentration = fit$draws$concentration[1L, best$start],
    log_likelihood = best$log_likelihood, draws = 0, rhat = NA_real_, ess_bulk = NA_real_, converged = best$converged,
    verdict = verdict(fit)$answer)
}
