# A new fit of a Dirichlet-process mixture, and more sweeps of a fit.

#' Dirichlet-process mixture of Gaussians
#'
#' Fits a Dirichlet-process mixture of multivariate normal distributions to cells, for example of flow cytometry. The
#' default draws from the posterior by blocked Gibbs sampling. For a first look, `method = "bem"` finds a mode.
#' [mixture_model] has the formulas.
#' @param x cells by markers: a numeric matrix, data frame, `flowFrame`, `flowSet`, `cytoframe`, `cytoset`,
#'   `SummarizedExperiment` or `SingleCellExperiment`; a list of these for [several samples][mixture_samples]; a
#'   [row_reader()].
#' @param components \eqn{k}: the largest number of components.
#' @param method `"gibbs"`: blocked Gibbs sampling. `"bem"`: [Bayesian EM][bayesian_em].
#' @param prior a prior from [dp_prior()], or the `prior` of another fit to the same markers.
#' @param chains number of chains; `NULL`: four for small data, one for large data or `"bem"`; see [computing].
#' @param iter,warmup number of sweeps of each chain, and how many of these, at its start, are not kept; `NULL`: half.
#'   For `"bem"`: the largest number of steps, and the number of Gibbs sweeps before the first step.
#' @param markers columns of `x` to use, by name, number or flags; `NULL`: all.
#' @param sample the [sample][mixture_samples] of each cell: a vector or factor, or the name of a column of `x`. `NULL`:
#'   the elements of a list, `flowSet` or `cytoset`; otherwise one sample. `FALSE`: one sample.
#' @param transform `"none"`, `"logicle"`, or arcsinh with a cofactor, `c(arcsinh = 150)`; or one of these for each
#'   [marker][marker_transform] by name: `c(CD3 = "logicle", CD4 = 150)`.
#' @param control rare settings, from [warp_control()]; see below.
#' @inheritParams computing_arguments
#' @section Settings of `control`:
#' * `start`: where chains start. `NULL`: each from its own clustering. Or a fit to the same markers, or for each cell
#'   the number of a component (`NA`: leave it out). With 500 sweeps and 1,000 cells or more, each chain searches in its
#'   warm-up for more posterior mass, by some 2,000 sweeps without draws. `"search"`: also in short runs and many cells.
#' * `moves`: whether sweeps also propose to split and join components (Jain and Neal 2004).
#' * `thin`, `keep` (for `"gibbs"`): which sweeps and draws are kept. `keep` is any of `"weights"`, `"means"`,
#'   `"covariances"` (the default: prediction needs these) and `"labels"`.
#' * `missing`: `"model"` takes `NA` as [values missing at random][mixture_missing]; `"error"` refuses them.
#' * `cluster`: a [cluster][mixture_clusters] whose workers share the cells. [warp_control()] has the others.
#' @return An object of class `dp_mixture`, in the (transformed) data's units. With S sweeps, D kept draws of each of C
#'   chains, k components, p markers and n cells, it has
#'   \item{draws}{`weights` (k x D x C), `means` (k x p x D x C), `covariances` (p x p x k x D x C), `labels` (n x D x
#'     C), if kept; `concentration` (D x C); and the learned parts of the prior: `prior_mean` (p x D x C),
#'     `prior_mean_scale` and `prior_df` (D x C), `prior_scale` (p x p x D x C).}
#'   \item{log_likelihood, log_posterior}{S x C: the log density of the data, and its sum with the log prior density.}
#'   \item{score}{S x C: a lower bound of the log posterior mass around a sweep, to rank chains. Often `NA`.}
#'   \item{concentration_trace, occupied}{S x C: the concentration, and the number of components that hold cells.}
#'   \item{probe_density}{S x C x 5: the log density of the mixture at five cells, `probe`.}
#'   \item{prior}{the prior with all parts, in the units of the sampler, (x - `prior$center`) / `prior$unit`.}
#'   \item{x, markers, samples, sample}{the fitted cells, and the names and numbers of their samples.}
#'   \item{piled}{the [values that many cells share][piled_values] at an end of a marker.}
#'
#' @section Errors:
#' `warpbayes_error_input`, also for fewer cells than markers unless the prior has a `scale`; `warpbayes_error_memory`;
#' `warpbayes_error_backend` or `warpbayes_error_device` if a card or a worker fails.
#' @references
#' Ishwaran, H. and James, L. F. (2001). Gibbs sampling methods for stick-breaking priors. *Journal of the American
#' Statistical Association* **96**, 161-173.
#'
#' Jain, S. and Neal, R. M. (2004). A split-merge Markov chain Monte Carlo procedure for the Dirichlet process mixture
#' model. *Journal of Computational and Graphical Statistics* **13**, 158-182.
#' @seealso [predict.dp_mixture()], [plot.dp_mixture()], [cell_types()], [relabel()], [continue()], [mixture_memory]
#' @examples
#' set.seed(1)
#' population <- sample(3, 2000, replace = TRUE, prob = c(5, 3, 2))
#' x <- matrix(rnorm(4000), ncol = 2, dimnames = list(NULL, c("CD4", "CD8")))
#' x <- x + 5 * cbind(population == 2, population == 3)
#' fit <- dp_mixture(x, components = 8, iter = 200, threads = 2)
#' summary(fit)
#' table(population, predict(fit, threads = 2))
#' @export
dp_mixture <- function(x, components = 64, method = c("gibbs", "bem"), prior = dp_prior(), chains = NULL, iter = 1000,
                       warmup = NULL, markers = NULL, sample = NULL, transform = "none", seed = NULL, backend = NULL,
                       threads = NULL, progress = NULL, control = warp_control(), ...) {
  check_dots_empty(...)
  require_arguments("x")
  method <- mixture_methods[[check_choice(method, "method", c("gibbs", "bem"))]]
  control <- check_control(control, c(mixture_settings, method$settings))

  run <- resolve_run(backend, threads, devices = control$devices, cluster = control$cluster)
  if (!is.null(run$cluster)) {
    run$cluster$keeps <- TRUE
    on.exit(leave_cluster(run$cluster))
  }
  cells <- read_mixture_cells(x, sample, markers, transform, control, run)

  components <- check_count(components, "components", max = 1e5)
  iter <- check_count(iter, "iter")
  schedule <- method$schedule(iter, warmup, control)
  if (is.null(control$keep)) control$keep <- mixture_parts
  control$keep <- check_some(control$keep, "keep", c(mixture_parts, "labels"), 1L)
  if (is.null(chains)) chains <- method$starts
  chains <- mixture_chains(chains, cells, components, iter, schedule, control$keep)
  start <- check_start(control$start, cells, components)
  run <- faster_run(run, mixture_cost(cells$rows, length(cells$markers), components, iter * chains), control$precision)
  progress <- check_progress(progress)
  given <- list(markers = markers, sample = if (length(sample) == 1L) sample)
  checkpoint <- check_checkpoint(control$checkpoint, control$checkpoint_every, given)
  check_enough_cells(prior, cells$rows, cells$markers)
  prior <- resolve_prior(prior, cells$mean, cells$unit, cells$markers, cells$resolution)
  if (is.null(cells$sample)) prior["sample_concentration"] <- list(NULL)

  fit <- c(list(
    draws = NULL, components = components, chains = chains, keep = control$keep, seed = check_seed(seed),
    method = method$name, missing = control$missing, moves = control$moves, precision = control$precision,
    assay = control$assay, devices = if (!is.null(control$devices)) as.integer(control$devices), prior = prior,
    call = short_call(match.call()), iter = 0
  ), schedule, list(
    backend = run_backend(run), threads = run$threads, markers = cells$markers, rows = cells$rows,
    samples = levels(cells$sample), sample = if (!is.null(cells$sample)) as.integer(cells$sample),
    center = unname(cells$mean), scale = unname(cells$unit), transform = cells$transform, piled = cells$piled,
    x = if (is.null(cells$reader)) cells$x, probe = cells$probe, elapsed = c(start = 0, sweeps = 0), interrupted = FALSE
  ))
  fit$reader <- cells$reader
  class(fit) <- c("dp_mixture", "warpbayes_fit", "warpbayes")
  atoms <- find_atoms(fit)
  sampler <- with_atoms(method$sampler, atoms)
  check_store_memory(sampler(fit), fit, iter)
  fit <- method$start(fit, start, run, atoms)
  advance_chains(fit, iter, sampler, run, progress, threads, checkpoint)
}

mixture_settings <- c("start", "moves", "missing", "assay", "precision", "devices", "cluster", "checkpoint",
  "checkpoint_every")

mixture_chains <- function(chains, cells, components, iter, schedule, keep) {
  p <- length(cells$markers)
  each <- components * (p + 1)^2 + if ("labels" %in% keep) cells$rows else 0
  check_chains(chains, mixture_cost(cells$rows, p, components, 1), each * (iter - schedule$warmup) / schedule$thin)
}

check_start <- function(start, cells, components) {
  if (is.null(start) || identical(start, "search") || inherits(start, "dp_mixture")) return(start)
  rows <- cells$rows
  start <- by_names(start, rownames(cells$x), "start", "cell")
  if (!is.numeric(start) && !(is.logical(start) && all(is.na(start))) || is.factor(start) || length(start) != rows) {
    stop_input("start", "must be NULL, a fit from dp_mixture(), or one component for each of the ", format(rows),
      " rows, not ", show_value(start))
  }
  outside <- match(TRUE, !is.na(start) & (start < 1 | start > components | start != floor(start)))
  if (!is.na(outside)) {
    stop_input("start", sprintf("has the component %s at row %d; components are 1 to %s", format(start[[outside]]),
      outside, format(components)))
  }
  as.integer(start)
}

# As as_marker_matrix(), with `rows`, `sample` (a factor or NULL), `unit` (the scale of each marker in the sampler) and
# `probe` (five cells). With a row_reader(), `x` has some of the cells, and `reader` is complete_reader()'s.
read_mixture_cells <- function(x, sample, markers, transform, control, run) {
  if (!is.null(control$assay) && !has_assays(x)) {
    stop_input("assay", "is given, but `x` is no SummarizedExperiment or SingleCellExperiment")
  }
  if (is_reader(x)) {
    if (control$missing == "model") {
      stop_input("missing", "is \"model\", which a row_reader() does not take: its cells must have all values")
    }
    cells <- read_marker_cells(x, run, markers, transform)
    cells <- c(cells, list(rows = x$rows, sample = if (!identical(sample, FALSE)) sample, probe = cells$reader$probe))
  } else {
    given <- read_samples(x, sample, markers, assay = control$assay)
    cells <- as_marker_matrix(given$x, given$markers, transform, missing = control$missing, parts = given$parts,
      threads = run$threads, assay = given$assay)
    empty <- if (control$missing == "model" && anyNA(cells$x)) which(!known_rows(cells$x, any = TRUE))
    if (length(empty)) {
      warning(sprintf("`x` has %s without any value%s row %.0f: nothing is learned from %s",
        count_words(length(empty), "row"), if (length(empty) > 1L) ", the first of them" else ",", empty[[1L]],
        if (length(empty) > 1L) "them" else "it"), call. = FALSE)
    }
    cells <- c(cells, list(rows = nrow(cells$x), sample = given$sample, probe = probe_cells(cells$x, cells$mean)))
  }
  cells["sample"] <- list(check_samples(cells$sample, cells$rows, rownames(cells$x)))
  cells$unit <- ifelse(cells$sd > 0 & is.finite(1 / cells$sd), cells$sd, 1)
  dimnames(cells$probe) <- list(NULL, cells$markers)
  c(cells, list(resolution = resolution(cells), piled = find_piled(cells)))
}

probe_rows <- function(rows) pmin(rows, floor((seq_len(5L) - 0.5) / 5 * rows) + 1)

probe_cells <- function(x, center) {
  probe <- x[probe_rows(nrow(x)), , drop = FALSE]
  if (!anyNA(probe)) return(probe)
  known <- which(known_rows(x))
  if (length(known)) return(x[known[probe_rows(length(known))], , drop = FALSE])
  gaps <- which(is.na(probe), arr.ind = TRUE)
  probe[gaps] <- center[gaps[, 2L]]
  probe
}

#' Mixtures of cells with missing values
#'
#' With `control = warp_control(missing = "model")`, [dp_mixture()] takes cells with values that are `NA` or `NaN`. The
#' component of a cell is drawn by the density of its known values, and the missing values given these and the component
#' (Little and Rubin 2019). `log_likelihood`, [predict.dp_mixture()] and [cell_types()] use the density of the known
#' values.
#'
#' This is right if values are *missing at random*: whether a value is missing may depend on known values, but not on
#' the missing value itself. Values below a detector's threshold are not missing at random. A graphics card must hold
#' all cells. A marker without values and an infinite value are errors; a cell without values gives a warning.
#' @references
#' Little, R. J. A. and Rubin, D. B. (2019). *Statistical Analysis with Missing Data*, third edition. Wiley.
#' @examples
#' set.seed(1)
#' x <- cbind(CD4 = c(rnorm(300), rnorm(200, 5)), CD8 = c(rnorm(300), rnorm(200, 5)))
#' x[sample(length(x), 100)] <- NA
#' dp_mixture(x, components = 6, iter = 100, threads = 2, control = warp_control(missing = "model"))
#' @name mixture_missing
NULL

# Which rows lack no value or, with `any = TRUE`, have some value; column by column to save memory.
known_rows <- function(x, any = FALSE) {
  found <- rep(!any, nrow(x))
  for (j in seq_len(ncol(x))) {
    known <- !is.na(x[, j])
    found <- if (any) found | known else found & known
  }
  found
}

#' @rdname continue
#' @inheritParams computing_arguments
#' @export
continue.dp_mixture <- function(fit, more, backend = NULL, threads = NULL, checkpoint = NULL, checkpoint_every = 60,
                                progress = NULL, ..., cluster = NULL) {
  check_dots_empty(...)
  if (!is.null(fit$reader)) {
    if (is.null(cluster)) stop_input("cluster", "is NULL, but the cells of `fit` are read by the workers of a cluster")
  } else if (is.null(fit$x)) {
    stop_input("fit", "has lost its data, `fit$x`: more sweeps need them")
  } else if (!is.double(fit$x) || !identical(dim(fit$x), c(as.integer(fit$rows), length(fit$markers)))) {
    stop_input("fit", sprintf("has other data, `fit$x`, than the %s x %d matrix that was fitted: ", format(fit$rows),
      length(fit$markers)), show_value(fit$x))
  }
  check_mixture_fit(fit)
  checkpoint <- check_checkpoint(checkpoint, checkpoint_every)
  continue_chains(fit, more, method_of(fit)$sampler, backend, threads, progress, checkpoint, cluster)
}

#' @export
drop_warmup.dp_mixture <- function(fit, n = NULL, ...) {
  check_dots_empty(...)
  need_sampler(fit, "there are none to drop")
  lengthen_warmup(fit, n)
}
