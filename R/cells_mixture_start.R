# Where the chains of a mixture start: a clustering of their own, labels, or another fit.

start_gibbs <- function(fit, start, run, atoms) {
  search <- searched_sweeps(fit, start)
  if (identical(start, "search")) start <- NULL
  first <- first_states(fit, start, fit$warmup, run, atoms)
  start_chains(fit, function(key) {
    state <- c(first(key), search)
    if (is.null(fit$samples)) return(state)
    law <- fit$prior$sample_concentration
    c(state, list(pooled = max(1, state$merge, floor(fit$warmup / 2)), log_share = numeric(fit$components),
      sample_sizes = numeric(length(fit$samples) * fit$components), sample_concentration = law[[1L]] / law[[2L]]))
  })
}

# function(key): the first state of the next chain. Components may be joined in the first of its `sweeps` sweeps.
first_states <- function(fit, start, sweeps, run, atoms) {
  merge <- if (is.null(start)) merge_after(sweeps, fit$moves) else 0
  statistics <- first_statistics(fit, start, merge, run, atoms)
  values <- compiled_prior(narrow_prior(fit$prior, atoms))$values
  function(key) {
    list(merge = if (merge > 0) merge + 1 else 0, statistics = statistics(key),
      concentration = fit$prior$concentration[["shape"]] / fit$prior$concentration[["rate"]], prior = values)
  }
}

# The last sweep in which components that share a population are joined; 0: in the start. With moves, each of the 20
# sweeps up to it joins some. Earlier sweeps sort the cells. No kept draw may come before.
merge_after <- function(warmup, moves) min(if (moves) 100 else 50, floor(warmup / 2))

# The sweeps after which each chain searches for a better start (src/mixture/search.c): up to 200 of the warm-up, after
# components were joined, and while samples are one. A search takes as long as some 2,000 sweeps.
searched_sweeps <- function(fit, start) {
  first <- merge_after(fit$warmup, fit$moves) + 20
  last <- min(first + 199, if (is.null(fit$samples)) floor(0.7 * fit$warmup) else floor(fit$warmup / 2) - 1)
  by_default <- is.null(start) && fit$rows >= 1000 && sweep_work(fit, fit$rows) <= 1e8 && last >= first + 49
  if (fit$moves && last >= first && (by_default || identical(start, "search"))) list(search = c(first, last, 0))
}

# The prior with a narrow scale in markers with piled values, to which no component could shrink by the default.
narrow_prior <- function(prior, atoms) {
  narrow <- if ("scale" %in% setdiff(prior$learn, prior$given)) unique(atoms[1L, ]) + 1
  diag(prior$scale)[narrow] <- prior_defaults$piled_sd^2
  prior
}

# The statistics of the first states: function(key). `start` is NULL, labels, or a fit.
first_statistics <- function(fit, start, merge, run, atoms) {
  if (!inherits(start, "dp_mixture")) return(from_clusters(fit, start, merge, run, atoms))
  if (!identical(start$markers, fit$markers)) {
    stop_input("start", "was fitted to other markers, ", list_some(start$markers), ", than ", list_some(fit$markers))
  }
  if (!identical(start$transform, fit$transform)) {
    stop_input("start", "was fitted on another scale: its `transform` differs")
  }
  if (!same_cells(start, fit)) return(from_clusters(fit, labels_from_fit(start, fit, run), merge, run, atoms))
  statistics <- lapply(start$state, statistics_for, fit = fit)
  chain <- 0
  function(key) {
    chain <<- chain + 1
    statistics[[(chain - 1) %% length(statistics) + 1]]
  }
}

# From `labels` or, if NULL, from a different clustering of some cells for each chain.
from_clusters <- function(fit, labels, merge, run, atoms) {
  # With fewer degrees of freedom, for many markers and few cells per cluster, distant clusters would be joined.
  prior <- compiled_prior(replace(fit$prior, "df", max(fit$prior$df, 50)))
  k <- as.integer(fit$components)
  inverse <- 1 / fit$scale
  if (is.null(fit$reader)) {
    return(function(key) {
      native(C_mixture_start, fit$x, fit$center, inverse, prior, k, key, merge == 0, atoms, labels)
    })
  }
  if (!is.null(labels)) {
    stop_input("start", "has labels, which need the cells in this process: a row_reader() takes NULL, or a fit of the ",
      "same cells")
  }
  function(key) {
    cells <- collect_cells(run$cluster, native(C_mixture_start_rows, as.double(fit$rows), k, key))
    native(C_mixture_start, cells, fit$center, inverse, prior, k, key, merge == 0, atoms, as.double(fit$rows))
  }
}

same_cells <- function(start, fit) {
  identical(as.double(start$rows), as.double(fit$rows)) && identical(start$center, fit$center) &&
    identical(start$scale, fit$scale) && length(start$state) >= 1L
}

too_many_components <- function(count, fit) {
  stop_input("start", "has cells in ", format(count), " components, but `components` is ", format(fit$components))
}

statistics_for <- function(state, fit) {
  p <- length(fit$markers)
  size <- 1 + p + p * (p + 1) / 2
  values <- state$statistics
  if (!is.double(values) || length(values) %% size != 0 || !all(is.finite(values))) {
    stop_input("start", "has been changed since it was made: its state does not agree with its markers")
  }
  values <- matrix(values, size)
  if (ncol(values) > fit$components) values <- values[, values[1L, ] >= 0.5, drop = FALSE]
  if (ncol(values) > fit$components) too_many_components(ncol(values), fit)
  c(values, numeric(size * (fit$components - ncol(values))))
}

labels_from_fit <- function(start, fit, run) {
  if (!is.null(fit$reader)) {
    stop_input("start", "was fitted to other cells, whose components need the cells in this process: ",
      "a row_reader() takes a fit of the same cells")
  }
  reference <- reference_draw(start)
  labels <- evaluate_mixture(start, reference, fit$x, "class", run)
  if (start$components > fit$components) labels <- match(labels, sort(unique(labels)))
  if (max(labels) > fit$components) too_many_components(max(labels), fit)
  labels
}

gibbs_schedule <- function(iter, warmup, control) {
  warmup <- check_warmup(if (is.null(warmup)) floor(iter / 2) else warmup, iter)
  list(warmup = warmup, thin = check_thin(control$thin, iter, warmup))
}

gibbs_parts <- function(fit) {
  of_samples <- c(if ("weights" %in% fit$keep) c("sample_weights", "sample_sizes"), "sample_concentration")
  c(fit$keep, sprintf("prior_%s", fit$prior$learn), "concentration", if (!is.null(fit$samples)) of_samples)
}
