# The fit of a Dirichlet-process mixture: its arguments, and a new or continued fit.

#' Dirichlet-process mixture of Gaussians
#'
#' Fits a Dirichlet-process mixture of multivariate normal distributions to up to tens of millions of cells, tens of
#' markers and hundreds of components. It samples from the posterior by blocked Gibbs sampling, or finds modes of the
#' posterior by [Bayesian EM][bayesian_em]. It was made for flow cytometry.
#'
#' [dp_prior()] has the model. Each sweep draws means, covariances, weights and the concentration given the component of
#' each cell, then the component of each cell given these. The data are centred and scaled internally; all results are
#' in the data's units (after the transformation, if there is one).
#'
#' The same `seed` gives the same draws on any number of threads and any processor and, with `precision = "double"`, on
#' a graphics card.
#'
#' Details have pages of their own: [Bayesian EM][bayesian_em], [several samples][mixture_samples],
#' [missing values][mixture_missing], [clusters][mixture_clusters], [memory, and saving a fit][mixture_memory], and the
#' [arguments about computing][computing].
#'
#' @param x cells by markers: a numeric matrix or data frame, or an object of class `flowFrame`, `flowSet`, `cytoframe`,
#'   `cytoset` or `SummarizedExperiment`. For [several samples][mixture_samples] also a list of matrices, data frames or
#'   frames with the same columns, one for each sample. Or a [row_reader()], whose cells the workers of `cluster` read.
#' @param components \eqn{k}, the truncation of the Dirichlet process: the largest number of components. It may exceed
#'   the number of cells.
#' @param method `"gibbs"`: blocked Gibbs sampling. `"bem"`: [Bayesian EM][bayesian_em].
#' @param prior a prior from [dp_prior()], or the `prior` of another fit to the same markers.
#' @param chains number of chains. Each starts from its own clustering of its own subsample of the cells. In the first
#'   20 sweeps, or half of the warm-up if that is less, components that share a population are joined. All threads work
#'   together on one chain. If package future.apply is installed and `future::plan()` has several workers, each worker
#'   runs whole chains instead (without a `cluster`). That is faster if there are few cells. The draws are the same.
#' @param iter number of sweeps of each chain, including the warm-up. For `"bem"`: the largest number of steps.
#' @param warmup number of sweeps at the start of each chain of which no draw is kept; `NULL`: half of `iter`. For
#'   `"bem"`: the number of Gibbs sweeps before the first step.
#' @param thin every `thin`-th draw after the warm-up is kept. Not for `"bem"`.
#' @param init where the chains start. `NULL`: each from its own clustering. Labels: for each cell a component from 1 to
#'   `components`, or `NA` for a cell that the start leaves out. Or a fit from `dp_mixture()` to the same markers, by
#'   either method: if it is of the same cells, chains start from the last states of its chains in turn. Other cells
#'   start from their most probable components. At most `components` of the components of that fit may hold cells.
#' @param keep which draws are kept: any of `"weights"`, `"means"`, `"covariances"`, `"labels"`. Prediction needs the
#'   first three. Not for `"bem"`.
#' @param markers columns of `x` to use, by name or number; `NULL`: all.
#' @param sample the sample of each cell: a vector or factor with an entry for each cell, or the name of a column of
#'   `x`, which is then no marker. `NULL`: the elements of a list, `flowSet` or `cytoset`; otherwise one sample.
#'   `FALSE`: one sample in any case.
#' @param transform `"none"`, or `"arcsinh"` to fit asinh(x / cofactor).
#' @param cofactor of the arcsinh transformation: one number, or one per marker. Only for `transform = "arcsinh"`.
#' @param missing `"error"`: a missing value is an error. `"model"`: `NA` and `NaN` are
#'   [values missing at random][mixture_missing].
#' @param moves whether each sweep also proposes to split components, to join them (Jain and Neal 2004), and to exchange
#'   their labels. Moves do not change the posterior. Without them, chains of cytometry data often stay in different
#'   modes. For 10,000 cells and 64 components, they make a sweep 2.2 to 2.6 times as long (`bench/mixture-moves.R`).
#'   After 100 sweeps with more than 125,000 cells, only some sweeps propose moves: every eighth from 875,000 cells on.
#' @inheritParams computing_arguments
#' @param tolerance for `"bem"` only: a start has converged when a step changes the log posterior by no more than this
#'   per cell.
#' @param estimate for `"bem"` only: `"mode"`, or `"mean"` to set the parameters to their conditional means in each
#'   step. Conditional means have wider covariances, and weights for components without cells. With them, the log
#'   posterior may fall.
#' @param ... must be empty: a misspelt argument is an error.
#'
#' @return An object of class `dp_mixture`. Let S be the sweeps, D the kept draws per chain, C the chains, k the
#'   components, p the markers, n the cells. It has
#'   \item{draws}{`weights` (k x D x C), `means` (k x p x D x C), `covariances` (p x p x k x D x C), `labels` (n x D x
#'     C, from 1), if `keep` names them; `concentration` (D x C); and the learned parts of the prior: `prior_mean` (p x
#'     D x C), `prior_mean_scale` and `prior_df` (D x C), `prior_scale` (p x p x D x C).}
#'   \item{log_likelihood, log_posterior}{S x C: the log density of the data given the parameters of each sweep, with
#'     the factor of the floor (see [dp_prior()]), and the sum of that and the log prior density of the parameters.}
#'   \item{concentration_trace, occupied}{S x C: the concentration, and the number of components that hold cells, after
#'     each sweep.}
#'   \item{probe, probe_density}{five cells (5 x p), and the log density of the mixture there (S x C x 5).}
#'   \item{sizes}{k x C: number of cells of each component after the last sweep.}
#'   \item{prior}{the prior, with the parts that were set from the data. It prints in the data's units. Its elements are
#'     in the units of the sampler, (x - `prior$center`) / `prior$unit`. It can be the `prior` of another fit.}
#'   \item{samples, sample}{the names of the samples, and the number of each cell's sample; `NULL` for one sample.}
#'   \item{workers, reader}{with a `cluster`: the number of workers that had cells, and the [row_reader()] if there was
#'     one.}
#'   \item{call, backend, threads, elapsed, interrupted}{how the fit was run; `elapsed` is in seconds.}
#'   \item{x, rows, markers, center, scale, transform}{the matrix of cells that was fitted (`NULL` with a
#'     [row_reader()]), its size and names, and how it was scaled.}
#'   \item{state}{what [continue()] needs to run more sweeps.}
#' The other arguments are elements of the same name. [mixture_samples] and [bayesian_em] describe what is different in
#' fits of several samples and of modes.
#'
#' If you interrupt the fit from the keyboard, or a sweep fails, the completed sweeps are returned as a fit, with a
#' warning. [continue()] runs the remaining sweeps. In a loop or a function, an interrupt also ends the command when it
#' reaches the next fit. If no sweep was completed, a failure is an error.
#'
#' @section Errors:
#' `warpbayes_error_input` for an argument that cannot be used. The message names it and, for values that are not
#' finite, the first row and column. `warpbayes_error_memory` if memory runs out. `warpbayes_error_backend` or
#' `warpbayes_error_device` if a graphics card was asked for and fails, or if a worker of the cluster ends or has
#' another version of warpbayes. There is a warning if there are more than 100 markers but fewer cells than markers,
#' because the matrix may be transposed.
#' @references
#' Ishwaran, H. and James, L. F. (2001). Gibbs sampling methods for stick-breaking priors. *Journal of the American
#' Statistical Association* **96**, 161-173.
#'
#' Jain, S. and Neal, R. M. (2004). A split-merge Markov chain Monte Carlo procedure for the Dirichlet process mixture
#' model. *Journal of Computational and Graphical Statistics* **13**, 158-182.
#'
#' Suchard, M. A., Wang, Q., Chan, C., Frelinger, J., Cron, A. and West, M. (2010). Understanding GPU programming for
#' statistical computation: studies in massively parallel massive mixtures. *Journal of Computational and Graphical
#' Statistics* **19**, 419-438.
#' @seealso [predict.dp_mixture()], [summary.dp_mixture()], [plot.dp_mixture()], [cell_types()], [relabel()],
#'   [continue()], [drop_warmup()]
#' @examples
#' # Three populations in two markers.
#' set.seed(1)
#' population <- sample(3, 2000, replace = TRUE, prob = c(5, 3, 2))
#' x <- matrix(rnorm(4000), ncol = 2, dimnames = list(NULL, c("CD4", "CD8")))
#' x <- x + 5 * cbind(population == 2, population == 3)
#' fit <- dp_mixture(x, components = 8, iter = 200, threads = 2)
#' fit
#' table(population, predict(fit, threads = 2))
#' @export
dp_mixture <- function(x, components = 64, method = c("gibbs", "bem"), prior = dp_prior(), chains = 1,
                       iter = 1000, warmup = NULL, thin = 1, init = NULL,
                       keep = c("weights", "means", "covariances"), markers = NULL, sample = NULL,
                       transform = c("none", "arcsinh"), cofactor = 5, missing = c("error", "model"), moves = TRUE,
                       seed = NULL, backend = NULL, threads = NULL, devices = NULL,
                       precision = c("double", "single"), checkpoint = NULL, checkpoint_every = 60, progress = NULL, ..., cluster = NULL, tolerance = 1e-5,
                       estimate = c("mode", "mean")) {
  check_dots_empty(...)
  transform <- check_choice(transform, "transform", c("none", "arcsinh"))
  missing <- check_choice(missing, "missing", c("error", "model"))
  if (!base::missing(cofactor) && transform == "none") {
    stop_input("cofactor", "is given, but `transform` is \"none\": with transform = \"arcsinh\", asinh(x / cofactor) is fitted")
  }
  run <- if (!is.null(cluster)) resolve_fit_run(cluster, backend, threads, devices)
  if (!is.null(run)) {
    # Until the end of this call.
    run$cluster$keeps <- TRUE
    on.exit(leave_cluster(run$cluster))
  }
  sample_given <- sample
  if (is_reader(x)) {
    if (missing == "model") {
      stop_input("missing", "is \"model\", which a row_reader() does not take: its cells must have all values")
    }
    given <- list(x = x, sample = if (!identical(sample, FALSE)) sample)
    data <- read_marker_cells(x, run, markers, transform, cofactor, sys.call())
    rows <- x$rows
  } else {
    given <- read_samples(x, sample, markers)
    data <- as_marker_matrix(given$x, given$markers, transform, cofactor, missing = missing, parts = given$parts)
    if (identical(missing, "model")) {
      warn_empty_rows(data$x)
    }
    rows <- nrow(data$x)
  }
  sample <- check_samples(given$sample, rows)
  if (length(data$markers) > max(100, rows)) {
    warning(sprintf("`x` has %d rows and %d columns; rows are cells and columns are markers: is t(x) meant?", rows, ncol(data$x)), call. = FALSE)
  }
  components <- check_count(components, "components", max = 1e5)
  method <- check_choice(method, "method", c("gibbs", "bem"))
  check_method_arguments(method, names(match.call())[-1L])
  tolerance <- check_number(tolerance, "tolerance", min = 0, open = FALSE)
  estimate <- check_choice(estimate, "estimate", c("mode", "mean"))
  chains <- check_count(chains, "chains", max = 1e4)
  iter <- check_count(iter, "iter")
  if (method == "bem") {
    check_bem_cells(sample, data$x)
    start_sweeps <- if (!is.null(warmup)) check_count(warmup, "warmup", min = 0) else if (inherits(init, "dp_mixture")) 0 else 100
    warmup <- 0
  } else {
    warmup <- check_warmup(if (is.null(warmup)) floor(iter / 2) else warmup, iter)
    thin <- check_thin(thin, iter, warmup)
  }
  keep <- check_keep(keep)
  init <- check_init(init, rows, components)
  moves <- check_flag(moves, "moves")
  precision <- check_precision(precision)
  progress <- check_progress(progress)
  checkpoint <- check_checkpoint(checkpoint, checkpoint_every, list(markers = markers, sample = if (length(sample_given) == 1L) sample_given))
  unit <- ifelse(data$sd > 0 & is.finite(1 / data$sd), data$sd, 1)
  prior <- resolve_prior(prior, data$mean, unit, data$markers, resolution(data))
  if (is.null(sample)) {
    prior["sample_concentration"] <- list(NULL)
  }
  if (is.null(run)) {
    run <- resolve_run(backend, threads)
    share_run(run, devices, 0)
  }
  seed <- check_seed(seed)

  fit <- structure(list(
    draws = NULL, components = components, chains = chains, iter = 0, warmup = warmup, thin = thin,
    keep = keep, seed = seed, method = method, missing = missing, moves = moves, backend = run_backend(run),
    precision = precision, threads = run$threads, devices = if (!is.null(devices)) as.integer(devices), prior = prior, markers = data$markers,
    rows = rows, samples = levels(sample), sample = if (!is.null(sample)) as.integer(sample), center = unname(data$mean), scale = unname(unit), transform = data$transform,
    x = if (is.null(data$reader)) data$x, elapsed = c(start = 0, sweeps = 0), interrupted = FALSE, call = short_call(match.call())
  ), class = "dp_mixture")
  fit$reader <- data$reader
  fit$probe <- if (is.null(data$reader)) probe_cells(fit$x, fit$center) else data$reader$probe
  dimnames(fit$probe) <- list(NULL, fit$markers)

  merge <- if (is.null(init)) merge_after(if (method == "bem") start_sweeps else warmup, moves) else 0
  start <- mixture_start(fit, init, merge, find_atoms(fit), run)
  if (method == "bem") {
    fit[c("start_sweeps", "tolerance", "estimate")] <- list(start_sweeps, tolerance, estimate)
    fit <- start_bem(fit, init, start, run)
    return(advance_chains(fit, iter, bem_sampler, run, progress, threads, checkpoint))
  }
  chain <- 0
  fit <- start_chains(fit, function(key) {
    chain <<- chain + 1
    c(list(
      merge = if (merge > 0) merge + 1 else 0,
      statistics = start(key, chain),
      concentration = prior$concentration[["shape"]] / prior$concentration[["rate"]],
      prior = compiled_prior(prior)$values
    ), if (!is.null(fit$samples)) sample_state(fit, merge))
  })
  advance_chains(fit, iter, mixture_sampler, run, progress, threads, checkpoint)
}

#' @rdname continue
#' @inheritParams dp_mixture
#' @export
continue.dp_mixture <- function(fit, iter, backend = NULL, threads = NULL, checkpoint = NULL, checkpoint_every = 60, progress = NULL, ..., cluster = NULL) {
  check_dots_empty(...)
  if (!is.null(fit$reader) && is.null(cluster)) {
    stop_input("cluster", "is NULL, but the cells of `fit` are read by the workers of a cluster")
  }
  if (is.null(fit$x) && is.null(fit$reader)) {
    stop_input("fit", "has lost its data, `fit$x`: more sweeps need them")
  }
  if (is.null(fit$reader) && (!is.double(fit$x) || !identical(dim(fit$x), c(as.integer(fit$rows), length(fit$markers))))) {
    stop_input("fit", sprintf("has other data, `fit$x`, than the %s x %d matrix that was fitted: ", format(fit$rows), length(fit$markers)), show_value(fit$x))
  }
  if (!is.null(fit$samples) && !(is.integer(fit$sample) && length(fit$sample) == fit$rows && all(fit$sample %in% seq_along(fit$samples)))) {
    stop_input("fit", "has been changed since it was made: its `sample` is not the sample of each cell")
  }
  checkpoint <- check_checkpoint(checkpoint, checkpoint_every)
  continue_chains(fit, iter, if (is_bem(fit)) bem_sampler else mixture_sampler, backend, threads, progress, checkpoint, cluster)
}

# A call without the data: do.call() puts the values of its arguments in, not their names.
short_call <- function(call) {
  if (!is.name(call[[1L]]) && !is.call(call[[1L]])) {
    call[[1L]] <- quote(dp_mixture)
  }
  for (name in setdiff(names(call), "")) {
    value <- call[[name]]
    if (!is.null(value) && !is.language(value) && (length(value) > 20L || isS4(value) || is.list(value))) {
      call[[name]] <- as.name(name)
    }
  }
  call
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
  if (is.null(init) || inherits(init, "dp_mixture")) {
    return(init)
  }
  if (!is.numeric(init) && !(is.logical(init) && all(is.na(init))) || is.factor(init) || length(init) != rows) {
    stop_input("init", sprintf("must be NULL, a fit from dp_mixture(), or one component for each of the %s rows, not ", format(rows)), show_value(init), call = call)
  }
  outside <- which(!is.na(init) & (init < 1 | init > components | init != floor(init)))
  if (length(outside)) {
    stop_input("init", sprintf("has the component %s at row %d; components are 1 to %s", format(init[[outside[[1L]]]]), outside[[1L]], format(components)), call = call)
  }
  as.integer(init)
}

# The number of sweeps after which components that share a population have been joined: early
# in the warm-up, because no draw that is kept may come before. 0: in the start. With moves,
# each of these sweeps joins some; more of them would join too many where populations
# are not normal, and these come back one by one.
merge_after <- function(warmup, moves) {
  min(if (moves) 20 else 50, floor(warmup / 2))
}

# Five rows spread over the data: the density there does not depend on labels.
probe_rows <- function(rows) {
  pmin(rows, floor((seq_len(5L) - 0.5) / 5 * rows) + 1)
}

# Five rows without missing values; where there are none, with means in their place.
probe_cells <- function(x, center) {
  probe <- x[probe_rows(nrow(x)), , drop = FALSE]
  if (!anyNA(probe)) {
    return(probe)
  }
  known <- which(known_rows(x))
  if (length(known)) {
    return(x[known[probe_rows(length(known))], , drop = FALSE])
  }
  gaps <- which(is.na(probe), arr.ind = TRUE)
  probe[gaps] <- center[gaps[, 2L]]
  probe
}

warn_empty_rows <- function(x) {
  if (!anyNA(x)) {
    return(invisible())
  }
  empty <- which(!known_rows(x, any = TRUE))
  if (length(empty)) {
    warning(sprintf("`x` has %s without any value%s row %.0f: nothing is learned from %s",
      count_words(length(empty), "row"), if (length(empty) > 1L) ", the first of them" else ",", empty[[1L]],
      if (length(empty) > 1L) "them" else "it"
    ), call. = FALSE)
  }
}
