# The fit of a Dirichlet-process mixture: its arguments, and a new or continued fit.

#' Dirichlet-process mixture of Gaussians
#'
#' Fits a truncated Dirichlet-process mixture of multivariate normal distributions
#' by blocked Gibbs sampling, or finds modes of its posterior by Bayesian EM. Made for flow cytometry: up to tens of millions of
#' cells, tens of markers, hundreds of components.
#'
#' The model is that of [dp_prior()]. Each sweep draws means, covariances, weights
#' and the concentration given the cells of each component, then the component of
#' every cell given these. The cells-by-components matrix of probabilities is never
#' stored. Inside, the data are centred and scaled; all results are in the data's
#' units (after the transformation, if there is one).
#'
#' The same `seed` gives the same draws on any number of threads, any processor and,
#' with `precision = "double"`, on a graphics card.
#'
#' @section Bayesian EM:
#' `method = "bem"` climbs to a mode of the posterior in place of sampling from it: faster by far, where one good mixture is
#' enough, or for a start of the sampler, `dp_mixture(x, init = fit)`. A step weighs every cell by its probabilities
#' of all components (those below \eqn{2^{-40}} count as zero) and sets means, covariances, weights and concentration to their
#' most probable values given these; a component that has lost all cells is left out from then on. With `estimate = "mode"` the log posterior never falls, but
#' for rounding. It is the density in the coordinates \eqn{\mu_j}, the entries of \eqn{\Sigma_j}, \eqn{-\log(1 - v_j)} of each stick
#' and \eqn{\alpha}, in which the sticks have a mode, so it differs from that of Gibbs sampling by the sum of the \eqn{\log(1 - v_j)}. Steps end where the log posterior
#' changes by no more than `tolerance` a cell, or after `iter` steps.
#'
#' `chains` is the number of starts, which end at different modes. Each begins with `warmup` Gibbs sweeps from its own
#' clustering. What [dp_prior()] learns along with the mixture is learned by these sweeps of the first start, and held afterwards in all starts at the averages of their second half (geometric for
#' `mean_scale` and `df`): the log posterior is then the same function for all starts, and it is bounded, which it is not where `scale` follows the mode. Without sweeps it is held
#' where learning would begin, or where `init`, a fit, had it.
#'
#' Everything that needs a single mixture, or averages over draws, takes the start with the highest log posterior: [predict.dp_mixture()],
#' [cell_types()], `simulate()`, `logLik()`, `tidy()`, `plot()`. There are no draws from the posterior, so that intervals,
#' \eqn{\hat R} and effective sample sizes, [relabel()], [co_clustering()], [drop_warmup()] and the tables of packages posterior and coda are
#' refused or `NA`. [continue()] makes more steps of the starts that had not converged; once all have, it gives the fit back as it is.
#'
#' On held-out cells of five samples a mode was 0.04 to 0.20 nats a cell below the average over draws of a sampled fit, with four starts 0.02 to 0.05, and above
#' mclust (`bench/mixture-bem-density.R`). With fewer Gibbs sweeps at the start it may be far worse. A step takes
#' about as long as a sweep without `moves`, up to twice as long where the components overlap so much that a cell counts for most of them (`bench/mixture-bem.R`). A graphics
#' card takes up to 512 MB of its memory beside the data, or 16 kB a component if that is more.
#'
#' @section Missing values:
#' With `missing = "model"`, values of `x` that are NA are unknowns like the parameters, and all that is known
#' about a cell counts: its component is drawn by the density of the values that it has, then those that it lacks from their
#' normal law given these and the component (Little and Rubin 2019). This is right if values are missing at
#' random: whether one is missing may depend on values that are known, but not on itself. Events below a detector's threshold, for example, are
#' not missing at random. A marker without any value is an error. Cells without any value are kept, with a
#' warning: their components are drawn by the weights alone, up to the floor of [dp_prior()], which counts for them as for other cells.
#'
#' Then `log_likelihood` is that of the values that are known; [predict.dp_mixture()], [log_lik()], [cell_types()], [relabel()]
#' and the rest take cells with missing values, of the fit or new ones, by the density of what is known of them; pictures leave
#' out a cell where one of its two markers is missing; and [simulate()] gives whole cells. Cells that lack the same markers
#' share their matrices. A cell that lacks values takes three times as long as a whole one, or up to six times where few
#' cells lack the same markers (`bench/mixture-missing.R`). Memory grows by 24 bytes for each cell that lacks a value and 8 for each value. On a graphics card
#' the cells have to fit into its memory.
#'
#' @section Memory:
#' Beyond the data, the sampler takes 4 bytes a cell for `moves`, 4 if labels are kept, and a few
#' buffers of about \eqn{10 k p^2} bytes each. Kept draws take
#' \eqn{8 k} bytes each for the weights, \eqn{8 k p} for the means,
#' \eqn{8 k p^2} for the covariances and 4 bytes a cell for the labels: with 256
#' components and 14 markers 0.4 MB a draw, or 200 MB for 500 draws. Ask for less
#' with `keep` or `thin`. The fit refers to the data; this takes no
#' further memory as long as the data themselves are kept.
#'
#' A graphics card holds the cells, scaled: \eqn{8 p} bytes each, or \eqn{4 p} with `precision = "single"`, and up to a tenth of that,
#' or 32 MB, for a sweep. As many cells stay there as it has room for, or as `options(warpbayes.device_memory)` allows; the others travel to it in each sweep, while
#' those before them are computed. For them some 500 MB and a sixteenth of its memory are left free. A sweep then takes at least as long as the bus needs for the bytes of these cells, and
#' one in which `moves` are proposed several times as long. In single precision a copy of the cells that travel is kept on the host, page-locked, \eqn{4 p} bytes each, if that is no more than
#' half of the memory that is available. Otherwise, and in double precision, the data are page-locked where they are for as long as sweeps run, which takes no
#' further memory, but twice the bytes on the bus in single precision. With 14 markers and single precision, 100 million cells take 5.6 GB of the card;
#' 400 million take 22.4 GB of the card, or as much of the host where all of them travel, beside the 44.8 GB of the data.
#'
#' @section Clusters:
#' With `cluster = parallel::makeCluster(4)`, or any other cluster that package parallel can talk to (of machines, or by MPI through package snow), each worker
#' holds some of the cells and goes through them with its threads or its graphics card. In each sweep the components' statistics go to
#' the workers, and sums over their cells come back, which are added in one order: the fit is `identical()` to that without a cluster, for any number of workers, in double precision
#' also where some have graphics cards. What travels
#' in a sweep does not depend on the number of cells: about \eqn{4 k p^2} bytes down to each worker and at most twelve times that up. A sweep in
#' which `moves` are proposed takes besides as much as five sweeps of \eqn{\min(k, 64)} components. Labels that are kept take 4 bytes a cell besides.
#' Chains run one after the other, all workers together on one sweep of one chain; a plan of package future is not used.
#'
#' The cells of a matrix are sent once, when the fit begins. Cells that no machine could hold are read by the workers: `x` is then a [row_reader()].
#' The workers load warpbayes from their own library, which must have the same version. This process draws nothing but parameters, and writes the checkpoint:
#' [resume()] and [continue()] take a `cluster` or none, whatever the fit began with, and always one where
#' its workers read the cells.
#'
#' If a worker ends, that is an error which names it, or, where sweeps are done, a warning which does so, and they are returned; the cluster cannot be used any more. An interrupt
#' waits for the replies of the sweep, and the cluster can be used again.
#'
#' Sockets of R put a message off for about 0.04 seconds where it is neither short nor long, which is as much as a small sweep takes. A cluster made by
#' `options(socketOptions = "no-delay")` and `makePSOCKcluster(2, rscript_args = c("-e", shQuote("options(socketOptions = 'no-delay')")))` does not (`bench/mixture-cluster.R`).
#' @section Several samples:
#' Given a list of samples, a `flowSet`, a `cytoset` or `sample`, all samples have the same components and each its own weights (the
#' hierarchical Dirichlet process of Teh et al. 2006; see [dp_prior()]). So a population has the same number in all samples, and a sample
#' of few cells borrows strength from the others. [cell_types()], [type_proportions()] and [type_differences()] give the proportions of
#' cell types in each sample, with intervals, and compare groups of samples.
#'
#' `weights` are then the mean of the samples' weights, each sample counted by its cells: those of a cell drawn from all cells. They serve
#' wherever no sample is named. A list with a single sample is fitted in the same way; for a plain mixture give the matrix itself.
#'
#' In the first half of the warm-up (at least one sweep) all samples are one, with all moves; splits and joins are made there only,
#' since they are steps of the mixture of one sample. In the sweeps after that labels are still exchanged.
#' A sweep of several samples takes somewhat longer than one of a single sample, most where their cells are
#' mixed (`bench/mixture-samples.R`). Beyond the data, 8 bytes a cell are needed for the samples, and kept weights take \eqn{8 k} bytes a draw for each sample.
#'
#' Where samples should have nothing in common, fit them one by one: `lapply(samples, dp_mixture, seed = 1)`, or on several processes
#' with package future.apply: `future::plan("multisession"); future.apply::future_lapply(samples, dp_mixture, seed = 1, threads = 1,
#' future.seed = NULL)`. The components of such fits have nothing to do with each other.
#'
#' @param x cells by markers: a numeric matrix or data frame, or an object of class
#'   `flowFrame`, `flowSet`, `cytoframe`, `cytoset` or `SummarizedExperiment`; or a list of such matrices, data frames or frames, one for each
#'   sample, with the same columns. The names of the list are those of the samples. Or a [row_reader()], whose cells the workers of `cluster` read.
#' @param components \eqn{k}, the truncation of the Dirichlet process: at most this
#'   many components. May exceed the number of cells.
#' @param method `"gibbs"`: blocked Gibbs sampling. `"bem"`: Bayesian EM, see below.
#' @param prior a prior from [dp_prior()], or the `prior` of another fit to the same markers.
#' @param chains number of chains; each starts from its own clustering of its own
#'   subsample of the cells, in which cells that share one value of a marker with many others lie
#'   apart. In the first 20 sweeps, or half of the warm-up if that is less,
#'   components that share a population are joined. All threads work together on one sweep of one chain. Where
#'   the future.apply package is installed and `future::plan()` has several workers, each
#'   worker runs whole chains instead, which is faster if there are few cells (not with a `cluster`). The draws
#'   are the same.
#' @param iter number of sweeps of each chain, including those of the warm-up; with `method = "bem"` the most steps of a start.
#' @param warmup number of sweeps at the start of each chain; none of their draws is kept. `NULL` for half of
#'   `iter`. With `method = "bem"` the number of Gibbs sweeps before the first step, which `iter` does not count: `NULL`
#'   for 100, or none where `init` is a fit.
#' @param thin after the warm-up, every `thin`-th draw is kept. Not for `method = "bem"`.
#' @param init `NULL`, or the labels from which every chain starts: for each cell a component, one
#'   whole number from 1 to `components`, or `NA` for a cell that the start leaves out. Or a fit from `dp_mixture()` to the same markers, by either
#'   method: of the same cells, chains start from the last states of its chains in turn; other cells start from their most probable
#'   components. It may have more components than this fit where no more than `components` of them hold cells.
#' @param keep which draws are kept: any of `"weights"`, `"means"`, `"covariances"`,
#'   `"labels"`. Prediction needs the first three. Not for `method = "bem"`, which keeps these three of the last step.
#' @param markers columns of `x` to use, by name or number; `NULL` for all.
#' @param sample the sample of each cell: a vector or factor with an entry for each cell, in any order, or the name of a column of `x`, which is then
#'   no marker. `NULL`: the elements of a list, `flowSet` or `cytoset`, and otherwise one sample. `FALSE`: one sample in any case.
#' @param transform `"none"`, or `"arcsinh"` to fit asinh(x / cofactor).
#' @param cofactor of the arcsinh transformation: one number, or one per marker. An error where it
#'   is given without `transform = "arcsinh"`.
#' @param missing `"error"`: a missing value in `x` is an error. `"model"`: NA and NaN are values missing at random; see the section on
#'   missing values. Infinite values are errors with both.
#' @param moves whether each sweep also proposes to split components in two and to join two to
#'   one (Jain and Neal 2004), and to exchange the labels of components. This leaves the posterior as it is
#'   and takes a chain where cells that change their component one by one do not come: without it, chains of
#'   cytometry data often stay in different modes. A sweep of 10,000 cells under 64 components takes
#'   2.2 to 2.6 times as long (`bench/mixture-moves.R`); after
#'   100 sweeps and with more than 125,000 cells only some sweeps have such proposals, every eighth from 875,000 cells on.
#' @param seed one whole number in \eqn{[0, 2^{53})}, or `NULL` to draw it from R's
#'   generator, so that `set.seed()` governs.
#' @param backend `"cpu"`, `"cuda"`, `"auto"`, or `NULL` for
#'   `getOption("warpbayes.backend", "auto")`. See [warp_info()].
#' @param threads number of CPU threads; `NULL` for all that this process may use. More threads than
#'   there are cores are used only up to eight.
#' @param devices for `backend = "cuda"`: the indices of the graphics cards, from 0, that share the cells; `NULL` for as many
#'   as repay it, or for the one that `options(warpbayes.device)` names. Each card takes some of the cells and draws all components;
#'   their sums are added in one order, so that results do not depend on the cards. Each needs memory for its cells only. Cells with
#'   missing values, and Bayesian EM, stay on the first.
#' @param precision of log densities and weights: `"double"` or `"single"`. Sums over cells are
#'   always in double precision.
#' @param checkpoint `NULL`, or the name of a file from which [resume()] goes on if the process is killed. A file of
#'   that name is overwritten if it is a checkpoint, otherwise it is an error.
#' @param checkpoint_every seconds from one checkpoint to the next.
#' @param progress whether to show a progress bar; `NULL` shows one in interactive sessions
#'   only. If the progressr package is installed, progress is always signalled to it.
#' @param cluster `NULL`, or a cluster of package parallel that shares the cells; see the section on clusters. Then `backend`, `threads` and `devices` are
#'   those of each worker, `NULL` for what its own options say; workers on one machine share its cores.
#' @param tolerance with `method = "bem"` only: a start has converged where a step changes the log posterior by no more than this
#'   for each cell.
#' @param estimate with `method = "bem"` only: `"mode"`, or `"mean"` to set the parameters to their conditional means in
#'   each step. These have wider covariances and weights for components without cells. The log posterior may then fall.
#' @param ... must be empty: a misspelt argument is an error.
#'
#' @return An object of class `dp_mixture`. Let S be the sweeps, D the draws kept per chain,
#'   C the chains, k the components, p the markers, n the cells. It has
#'   \item{draws}{`weights` (k x D x C), `means` (k x p x D x C), `covariances`
#'     (p x p x k x D x C), `labels` (n x D x C, from 1), as far as `keep` names them;
#'     `concentration` (D x C); and the parts of the prior that are learned, `prior_mean`
#'     (p x D x C), `prior_mean_scale` and `prior_df` (D x C), `prior_scale`
#'     (p x p x D x C). With several samples also `sample_weights` (k x samples x D x C, with `weights`) and
#'     `sample_concentration` (D x C).}
#'   \item{log_likelihood, log_posterior}{S x C: the log density of the data given the
#'     parameters of each sweep, with the factor of the floor (see [dp_prior()]), and the sum of that and the log prior density of the
#'     parameters.}
#'   \item{concentration_trace, occupied}{S x C: the concentration, and the number of
#'     components that hold cells, after each sweep.}
#'   \item{probe, probe_density}{five cells (5 x p), and the log density of the mixture
#'     there (S x C x 5).}
#'   \item{sizes}{k x C: number of cells of each component after the last sweep.}
#'   \item{prior}{the prior, with the parts that were set from the data. It is printed in the data's
#'     units; its elements are in the units of the sampler, (x - `prior$center`) / `prior$unit`. As the
#'     `prior` of another fit it means the same in the data's units.}
#'   \item{workers, reader}{with a `cluster`: how many workers had cells; and the [row_reader()] with some of its cells, where `x` was one, and is `NULL` in the fit.}
#'   \item{samples, sample}{the names of the samples, and the number of each cell's sample; `NULL` where there is one.}
#'   \item{components, chains, iter, warmup, thin, keep, method, missing, moves, seed, backend, precision, threads, devices,
#'     elapsed, interrupted, markers, rows, center, scale, transform, x, call}{how the fit was made;
#'     `elapsed` is in seconds, `x` is the matrix of cells that was fitted.}
#'   \item{state}{what [continue()] needs to run more sweeps.}
#'   With `method = "bem"`, sweeps are steps, chains are starts, and there is one draw for each, the mixture of its last step; after a
#'   start has stopped, its traces repeat the last value. `sizes` are expected numbers of cells, rounded; `occupied` counts components of
#'   half a cell or more. `prior` is as it was held. It has further
#'   \item{steps, converged}{C: how many steps each start made, and whether it stopped because the last changed too little.}
#'   \item{start_sweeps, tolerance, estimate}{how the fit was made.}
#' @section Interruption:
#' If the fit is interrupted from the keyboard, the sweeps that are done are returned as
#' a fit, with a warning; [continue()] runs the other sweeps. In a loop or a function, the next fit of the same
#' command does not start, and the command ends there. If a sweep fails, those before it are
#' returned in the same way; an error in the first sweep of a call is an error. The Gibbs sweeps with which Bayesian EM starts are not
#' kept: an interruption among them leaves no fit. With a `checkpoint`, [resume()] goes on
#' after the process was killed.
#' @section Saving:
#' A fit holds the data. To save it without them, `fit$x <- NULL`; `saveRDS(fit, file)`. Then `summary()`, pictures, draws, `predict()` of new cells
#' and `simulate()` work as before; [continue()], [relabel()], [cell_types()] and `logLik()` need the data, which can be put back: `fit$x <- x`, where `x` is the
#' matrix that was fitted: the chosen markers as doubles, after the transformation if there was one. The draws can be made smaller by `keep` and `thin`.
#' @section Errors:
#' `warpbayes_error_input` for an argument that cannot be used: the message names it and, for
#' values that are not finite, the first row and column; with `missing = "model"` also for a marker without any value.
#' `warpbayes_error_memory` when memory runs out; `warpbayes_error_backend` or
#' `warpbayes_error_device` when a graphics card was asked for and fails, or a worker of the cluster has another warpbayes or ends. There is a warning if
#' there are more than 100 markers but fewer cells than markers: the matrix may be transposed.
#' @references
#' Ishwaran, H. and James, L. F. (2001). Gibbs sampling methods for stick-breaking
#' priors. *Journal of the American Statistical Association* **96**, 161-173.
#'
#' Jain, S. and Neal, R. M. (2004). A split-merge Markov chain Monte Carlo procedure for the
#' Dirichlet process mixture model. *Journal of Computational and Graphical Statistics* **13**, 158-182.
#'
#' Lin, L., Chan, C. and West, M. (2010). Discriminative information analysis for variable selection in mixture modelling. Technical
#' report, Department of Statistical Science, Duke University.
#'
#' Suchard, M. A., Wang, Q., Chan, C., Frelinger, J., Cron, A. and West, M. (2010).
#' Understanding GPU programming for statistical computation: studies in massively
#' parallel massive mixtures. *Journal of Computational and Graphical Statistics*
#' **19**, 419-438.
#'
#' Teh, Y. W., Jordan, M. I., Beal, M. J. and Blei, D. M. (2006). Hierarchical Dirichlet processes. *Journal of the American
#' Statistical Association* **101**, 1566-1581.
#'
#' Little, R. J. A. and Rubin, D. B. (2019). *Statistical Analysis with Missing Data*, third edition. Wiley.
#' @seealso [dp_prior()], [row_reader()] for cells that workers read, [type_proportions()] for several samples, [predict.dp_mixture()], [plot.dp_mixture()], [continue()]
#' @examples
#' # Three populations in two markers.
#' set.seed(1)
#' population <- sample(3, 2000, replace = TRUE, prob = c(5, 3, 2))
#' x <- matrix(rnorm(4000), ncol = 2, dimnames = list(NULL, c("CD4", "CD8")))
#' x <- x + 5 * cbind(population == 2, population == 3)
#' fit <- dp_mixture(x, components = 8, iter = 200, threads = 2)
#' fit
#' table(population, predict(fit))
#' # Two samples with the same components.
#' half <- rep(c("one", "two"), each = 1000)
#' both <- dp_mixture(x, components = 8, iter = 100, sample = half, threads = 2)
#' round(apply(both$draws$sample_weights, 1:2, mean), 2)
#'
#' # The best of three modes of the posterior, and a sampler that starts from it.
#' mode <- dp_mixture(x, components = 8, method = "bem", chains = 3, seed = 1, threads = 2)
#' mode
#' sampled <- dp_mixture(x, components = 8, iter = 50, init = mode, seed = 1, threads = 2)
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
