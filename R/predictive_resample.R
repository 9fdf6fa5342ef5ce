#' Posteriors by predictive resampling
#'
#' Each resample draws the rest of the population from predictions that are updated after each draw. The quantities of
#' the whole population follow a posterior, without a likelihood and without a Markov chain.
#'
#' | model | posterior |
#' |---|---|
#' | [normal_mean()] | the ordinary posterior, as the horizon grows |
#' | [copula_density()] | of distributions, nonparametric |
#' | [copula_regression()], [copula_classification()] | of a response given covariates, nonparametric |
#' | [bayesian_bootstrap()] | Rubin's posterior of weights |
#' | [pitman_yor()], [gnedin()] | urns with a base measure |
#'
#' A horizon of N steps leaves out a share of about n/(n + N) of the variance, for n observations.
#'
#' @section Functions:
#' A function as `functional` is called once for each resample, with these arguments:
#' \describe{
#'   \item{[bayesian_bootstrap()] and urns}{`functional(data, weights = )`: data and their weights, which sum to 1.}
#'   \item{[normal_mean()]}{`functional(population)`: the data and the `horizon` values drawn after them.}
#'   \item{[copula_density()], [copula_regression()]}{`functional(points =, cdf =, density =)`, at the points.}
#'   \item{[copula_classification()]}{`functional(points =, probability =)`.}
#' }
#'
#' @param y the data: a numeric vector; for [copula_density()] and [bayesian_bootstrap()] also a numeric table; for
#'   models with a formula a data frame. A list of data sets gives a list of fits, set i with `seed` + i - 1.
#' @param model one of the models in the table.
#' @param horizon number of observations to draw in each resample, or `"auto"`: by `tolerance`. [bayesian_bootstrap()]
#'   also takes `Inf`, which is its `"auto"`.
#' @param draws number of resamples.
#' @param functional what to compute from each resample: `NULL` for the model's own quantities; names among `"mean"`,
#'   `"variance"`, `"sd"`, `"median"`, `"quantile"` (the quartiles), `"tail_mean"` (of the largest 5%), `"gini"` and
#'   `"correlation"`; [quantiles_of()] and its kin; a list of these; or a function that returns a numeric vector.
#' @param trajectories number of points in time at which to keep the paths of the quantities; 0 for none. Not for urns.
#' @param tolerance for `horizon = "auto"`: the share of the variance that may be left out.
#' @inheritParams computing_arguments
#' @param ... must be empty.
#' @return An object of class `martingale_posterior`, a list with
#' \describe{
#'   \item{`draws`}{draws x quantities, a matrix with column names.}
#'   \item{`points`}{where distributions were evaluated, in the data's units.}
#'   \item{`cdf`, `density`, `probability`}{draws x points. For several coordinates `cdf` is for the last one given the
#'     others; `probability` is that of the second class.}
#'   \item{`cdf0`, `density0`, `probability0`}{the same before resampling: what the data predict.}
#'   \item{`score`}{the mean log density (or log probability) of an observation, predicted from those before it.}
#'   \item{`rho`, `rho_x`}{the correlations in use.}
#'   \item{`horizon`, `n`, `remaining`}{steps done, observations, and the share of the variance that is left out.}
#'   \item{`trajectories`, `times`}{draws x times of a normal mean, or draws x times x quantities of a copula model.}
#' }
#' A run that is interrupted or fails keeps what is completed, and `failure` is the reason. A `functional` that fails on
#' some resamples gives `NA` for these, with a warning.
#' @references Fong, E., Holmes, C. and Walker, S. G. (2023). Martingale posterior distributions. *Journal of the Royal
#'   Statistical Society B* 85, 1357-1391. \doi{10.1093/jrsssb/qkad005}
#' @seealso [summary.martingale_posterior()], [predict.martingale_posterior()], [continue()]
#' @examples
#' fit <- predictive_resample(precip, copula_density(rho = 0.9), horizon = 300, draws = 50, seed = 1,
#'   threads = 2)
#' plot(fit)
#' @aliases predictive_models
#' @export
predictive_resample <- function(y, model, horizon = "auto", draws = 1000, functional = NULL, trajectories = 0,
                                tolerance = 0.02, seed = NULL, backend = NULL, threads = NULL, progress = NULL, ...) {
  check_dots_empty(...)
  check_present(!missing(model), "model")
  if (is.list(y) && !is.object(y)) {
    return(resample_sets(y, list(model, horizon, draws, functional, trajectories, tolerance), check_seed(seed),
      resolve_run(backend, threads)))
  }
  check_model(model)
  kind <- record(model)
  y <- given_data(y, "y")
  draws <- check_count(draws, "draws")
  tolerance <- check_number(tolerance, "tolerance", min = 0, max = 1)
  trajectories <- check_count(trajectories, "trajectories", min = 0, max = 1e6)
  seed <- check_seed(seed)
  progress <- check_progress(progress)
  # The horizon "auto" is not known yet; it is often about 2,000.
  steps <- if (is.numeric(horizon) && length(horizon) == 1L) horizon else 2000
  run <- resolve_run(backend, threads, cost = kind$cost(model, y, draws, steps))
  fit <- structure(list(
    model = model, kind = model$kind, draws = NULL, n = NA_real_, horizon = 0, count = draws, tolerance = tolerance,
    functional = check_functional(functional, kind), seed = seed, backend = run$backend, threads = run$threads,
    elapsed = 0, interrupted = FALSE, given = y, call = short_call(match.call(), "predictive_resample")
  ), class = c("martingale_posterior", "warpbayes_fit", "warpbayes"))
  start <- proc.time()[[3L]]
  fit <- kind$start(fit, y, run)
  kind <- record(fit)
  if (trajectories > 0 && kind$limit != "never") {
    stop_input("trajectories", "are not kept for ", kind$name, ", whose weights are drawn at once")
  }
  auto <- identical(horizon, "auto")
  steps <- if (auto) horizon_for(fit, tolerance) else check_horizon(horizon, kind$limit)
  fit <- with_parts(fit, every = if (trajectories > 0) max(1, floor(steps / trajectories)) else 0)
  fit <- advance_resamples(fit, steps, run, progress)
  while (auto && !has_stopped(fit) && fit$remaining > tolerance && fit$horizon < longest_horizon) {
    # The share falls as that of the mean does; 2% more, since it also varies by chance.
    wanted <- horizon_for(fit, 0.98 * kind$left(fit)(fit$horizon) * tolerance / fit$remaining)
    fit <- tryCatch(advance_resamples(fit, max(wanted, fit$horizon + 1) - fit$horizon, run, progress),
      warpbayes_error = function(error) {
        if (inherits(error, "warpbayes_error_input")) stop(error)
        with_parts(fit, interrupted = FALSE, failure = conditionMessage(error))
      })
  }
  finish_resamples(fit, start)
}

# Many sets of data, as many at a time as there are threads, each as on its own. The graphics card takes one at a time.
resample_sets <- function(sets, arguments, seed, run) {
  if (length(sets) == 0L) stop_input("y", "is an empty list of data sets")
  one <- function(i) {
    own <- c(list(sets[[i]]), arguments, list(seed + i - 1, run$backend, 1, FALSE))
    tryCatch(do.call(predictive_resample, own), error = function(error) error)
  }
  side_by_side <- run$backend == "cpu" && .Platform$OS.type != "windows"
  each <- function(cores) parallel::mclapply(seq_along(sets), one, mc.cores = cores)
  fits <- if (side_by_side && run$threads > 1L) suppressWarnings(each(run$threads)) else each(1L)
  failed <- match(FALSE, vapply(fits, inherits, NA, "martingale_posterior"))
  if (!is.na(failed)) {
    # A process that the system ended, for want of memory say, returns nothing.
    why <- if (inherits(fits[[failed]], "error")) fits[[failed]] else simpleError("its process ended")
    stop_input("y", sprintf("has a set of data, number %d, with an error: ", failed), because = why)
  }
  stats::setNames(fits, names(sets))
}

longest_horizon <- 1e6

check_horizon <- function(horizon, limit) {
  if (limit != "never" && identical(horizon, Inf)) return(Inf)
  must_be(limit != "always", "horizon", "\"auto\" or Inf for this model, whose limit is drawn", horizon)
  must_be(is.numeric(horizon), "horizon", "a whole number of observations or \"auto\"", horizon)
  check_count(horizon, "horizon", min = 0)
}

# The least horizon that leaves out no more than `tolerance`.
horizon_for <- function(fit, tolerance) {
  kind <- record(fit)
  if (kind$limit != "never") return(Inf)
  left <- kind$left(fit)
  first <- function(horizons) horizons[match(TRUE, left(horizons) <= tolerance, nomatch = length(horizons))]
  high <- first(2^(0:20))
  min(first(seq(floor(high / 2) + 1, high)), longest_horizon)
}

advance_resamples <- function(fit, steps, run, progress) {
  kind <- record(fit)
  fit <- kind$advance(fit, steps, run, progress)
  # The card may be lost. The processor gives the same bits.
  if (!is.null(fit$failure)) run <- on_processor(run)
  shown <- if (!is.null(kind$remaining) && fit$count > 1 && fit$horizon > 0) kind$remaining(fit)
  fit <- with_parts(fit, remaining = if (is.null(shown)) kind$left(fit)(fit$horizon) else shown)
  fit <- with_parts(fit, parts = kind$quantities(fit, run, progress))
  with_parts(fit, sizes = sizes_of_parts(fit))
}

finish_resamples <- function(fit, start) {
  fit <- with_parts(fit, elapsed = fit$elapsed + proc.time()[[3L]] - start)
  if (!is.null(fit$failure)) warning(horizon_reason(fit)[[1L]]$words, call. = FALSE)
  if (fit$interrupted) pass_interrupt_on()
  fit
}
