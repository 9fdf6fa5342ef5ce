# A new fit of a Dirichlet-process mixture, and more sweeps of a fit.

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
#' [missing values][mixture_missing], [transformations][marker_transform], [piled values][piled_values],
#' [clusters][mixture_clusters], [memory, and saving a fit][mixture_memory], and the [arguments about
#' computing][computing].
#'
#' @param x cells by markers: a numeric matrix or data frame, or an object of class `flowFrame`, `flowSet`, `cytoframe`,
#'   `cytoset`, `SummarizedExperiment` or `SingleCellExperiment`. For [several samples][mixture_samples] also
#'   a list of matrices, data frames or frames with the same columns, one for each sample. Or a [row_reader()], whose
#'   cells the workers of `cluster` read.
#' @param components \eqn{k}, the truncation of the Dirichlet process: the largest number of components. It may exceed
#'   the number of cells.
#' @param method `"gibbs"`: blocked Gibbs sampling. `"bem"`: [Bayesian EM][bayesian_em].
#' @param prior a prior from [dp_prior()], or the `prior` of another fit to the same markers.
#' @param chains number of chains; `NULL`: four for small data, and one for large data or `"bem"`; see [computing]. Each
#'   starts from its own clustering of its own subsample of the cells. The last 20 of the first 100 sweeps, or of the
#'   first half of the warm-up if that is less, join components that share a population. If package future.apply is
#'   installed and `future::plan()` has several workers, each worker runs whole chains (without a `cluster`). The draws
#'   are the same.
#' @param iter number of sweeps of each chain, including the warm-up. For `"bem"`: the largest number of steps.
#' @param warmup number of sweeps at the start of each chain whose draws are not kept; `NULL`: half of `iter`. For
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
#' @param transform `"none"`, `"arcsinh"` or `"logicle"` for all markers, or a [transformation][marker_transform] for
#'   each by name: `c(CD3 = "logicle", CD4 = "arcsinh")`. Markers that it does not name are not transformed.
#' @param cofactor of the arcsinh transformation, asinh(x / cofactor): one number, or one per marker.
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
#' @param piled what to do with [values that many cells share][piled_values] at an end of a marker. `"as is"`: they are
#'   values like others. `"spread"`: they are spread beyond that end before the fit. `"auto"`: what gave the better cell
#'   types in measurements, which is `"as is"`. The fit reports them in any case.
#' @param assay the assay of a `SummarizedExperiment` or `SingleCellExperiment` to fit, by name or number. `NULL`: the
#'   assay `exprs`, or the first if no assay has that name. [cell_types()], [predict()][predict.dp_mixture()] and
#'   [add_types()] read the same assay of such objects.
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
#'   \item{piled}{the [values that many cells share][piled_values] at an end of a marker.}
#'   \item{state}{what [continue()] needs to run more sweeps.}
#'
#' The other arguments are elements of the same name. [mixture_samples] and [bayesian_em] describe what is different in
#' fits of several samples and of modes.
#'
#' If you interrupt the fit from the keyboard, or a sweep fails, the completed sweeps are returned as a fit, with a
#' warning. [continue()] runs the remaining sweeps. An interrupt also ends a loop around the fit, once the fit has been
#' assigned (see [computing]). If no sweep was completed, a failure is an error.
#'
#' @section Errors:
#' `warpbayes_error_input` for an argument that cannot be used. The message names it and, for values that are not
#' finite, the first row and column. `warpbayes_error_memory` if memory runs out. `warpbayes_error_backend` or
#' `warpbayes_error_device` if a graphics card was asked for and fails, or if a worker of the cluster ends or has
#' another version of warpbayes. Fewer cells than markers are an error unless the prior has a `scale`: no covariance
#' could be learned, and the matrix may be transposed.
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
dp_mixture <- function(x, components = 64, method = c("gibbs", "bem"), prior = dp_prior(), chains = NULL,
                       iter = 1000, warmup = NULL, thin = 1, init = NULL,
                       keep = c("weights", "means", "covariances"), markers = NULL, sample = NULL,
                       transform = "none", cofactor = 5, missing = c("error", "model"), moves = TRUE,
                       seed = NULL, backend = NULL, threads = NULL, devices = NULL, precision = c("double", "single"),
                       checkpoint = NULL, checkpoint_every = 60, progress = NULL, ..., cluster = NULL,
                       tolerance = 1e-5, estimate = c("mode", "mean"), piled = c("auto", "as is", "spread"),
                       assay = NULL) {
  check_dots_empty(...)
  require_arguments("x")
  method <- mixture_method(check_choice(method, "method", c("gibbs", "bem")))
  missing <- check_choice(missing, "missing", c("error", "model"))
  piled <- check_choice(piled, "piled", c("auto", "as is", "spread"))
  check_given(names(match.call())[-1L], method$name, transform)

  run <- resolve_run(backend, threads, devices = devices, cluster = cluster)
  if (!is.null(cluster)) {
    # The workers hold the cells until the end of this call.
    run$cluster$keeps <- TRUE
    on.exit(leave_cluster(run$cluster))
  }
  cells <- read_mixture_cells(x, sample, markers, transform, cofactor, missing, piled, run, assay)

  components <- check_count(components, "components", max = 1e5)
  iter <- check_count(iter, "iter")
  schedule <- method$schedule(
    iter = iter, warmup = warmup, thin = thin, init = init, tolerance = tolerance, estimate = estimate
  )
  keep <- check_keep(keep)
  chains <- mixture_chains(chains, method$name, cells, components, iter, schedule, keep)
  init <- check_init(init, cells$rows, components)
  moves <- check_flag(moves, "moves")
  precision <- check_precision(precision)
  run <- faster_run(run, mixture_cost(cells$rows, length(cells$markers), components, iter * chains), precision)
  progress <- check_progress(progress)
  given <- list(markers = markers, sample = if (length(sample) == 1L) sample)
  checkpoint <- check_checkpoint(checkpoint, checkpoint_every, given)
  prior <- prior_of_cells(prior, cells)
  seed <- check_seed(seed)

  settings <- list(
    components = components, chains = chains, keep = keep, seed = seed, method = method$name, missing = missing,
    moves = moves, precision = precision, assay = assay, devices = if (!is.null(devices)) as.integer(devices),
    prior = prior, call = short_call(match.call())
  )
  fit <- new_mixture(settings, schedule, cells, run)
  check_store_memory(method$sampler(fit), fit, iter)
  fit <- method$start(fit, init, run)
  advance_chains(fit, iter, method$sampler, run, progress, threads, checkpoint)
}

# Bayesian EM climbs from one start unless the user asks for more.
mixture_chains <- function(chains, method, cells, components, iter, schedule, keep) {
  if (is.null(chains) && method == "bem") return(1)
  p <- length(cells$markers)
  each <- components * (p + 1)^2 + if ("labels" %in% keep) cells$rows else 0
  check_chains(chains, mixture_cost(cells$rows, p, components, 1), each * (iter - schedule$warmup) / schedule$thin)
}

#' @rdname continue
#' @inheritParams computing_arguments
#' @export
continue.dp_mixture <- function(fit, more, backend = NULL, threads = NULL, checkpoint = NULL, checkpoint_every = 60,
                                progress = NULL, ..., cluster = NULL) {
  check_dots_empty(...)
  check_own_cells(fit, cluster)
  if (is_bem(fit)) check_mixture_fit(fit)
  checkpoint <- check_checkpoint(checkpoint, checkpoint_every)
  sampler <- if (is_bem(fit)) bem_sampler else mixture_sampler
  continue_chains(fit, more, sampler, backend, threads, progress, checkpoint, cluster)
}

# The user may have taken the cells out of the fit, or put others in.
check_own_cells <- function(fit, cluster) {
  if (!is.null(fit$reader)) {
    if (is.null(cluster)) stop_input("cluster", "is NULL, but the cells of `fit` are read by the workers of a cluster")
  } else if (is.null(fit$x)) {
    stop_input("fit", "has lost its data, `fit$x`: more sweeps need them")
  } else if (!is.double(fit$x) || !identical(dim(fit$x), c(as.integer(fit$rows), length(fit$markers)))) {
    stop_input("fit", sprintf(
      "has other data, `fit$x`, than the %s x %d matrix that was fitted: ", format(fit$rows), length(fit$markers)
    ), show_value(fit$x))
  }
  if (!is.null(fit$samples) && !are_samples(fit$sample, fit)) {
    stop_input("fit", "has been changed since it was made: its `sample` is not the sample of each cell")
  }
}

#' @export
drop_warmup.dp_mixture <- function(fit, n = NULL, ...) {
  check_dots_empty(...)
  need_sampler(fit, "there are none to drop")
  lengthen_warmup(fit, n)
}
