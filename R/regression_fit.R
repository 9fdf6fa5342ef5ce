# Regressions by Polya-Gamma variables: arguments, chains, and parts of a fit.

#' Logistic, ordinal, multinomial, Poisson and negative binomial regression
#'
#' Fits Bayesian regressions with a logit or log link by the Gibbs sampler of Polson, Scott and Windle (2013). Nothing
#' has to be tuned. Terms such as `(1 | g)` add effects of groups: see [grouping_terms]. Smooth functions `s(x)`, and
#' effects of areas and times, are in [smooth_terms].
#' @section Families:
#' \describe{
#'   \item{`"binomial"`}{Successes of a row. The logit of their probability is linear in the predictors.}
#'   \item{`"poisson"`, `"negbinomial"`}{Counts. The log of their mean is linear in the predictors. The variance of
#'     `"negbinomial"` is mean + mean\eqn{^2/r}{^2/r}, with a dispersion \eqn{r} that is learned.}
#'   \item{`"multinomial"`}{Classes. The log odds of every class against the first are linear in the predictors.}
#'   \item{`"cratio"`}{Ordered classes. A response that is at least class k goes on to a higher class with a probability
#'     whose logit is the intercept of step k plus a linear predictor that all steps share. A positive coefficient means
#'     higher classes. This is not the cumulative model of `MASS::polr()`.}
#' }
#' @param formula as for [stats::glm()]. The response of `"binomial"` is a logical, numbers 0 and 1, a factor whose
#'   first level is failure, or `cbind(successes, failures)`. That of `"multinomial"` is a factor, or a matrix of counts
#'   with a column for each class; the first class is the reference. That of `"cratio"` is an ordered factor, or such a
#'   matrix.
#' @param data a data frame. Dates, times and durations are used as numbers.
#' @param family one of the families, [stats::binomial()] or [stats::poisson()].
#' @param prior a prior from [logit_prior()]. With `zi` or `hu` also a list of two, named `count` and `zero`.
#' @param weights `NULL`, or numbers of at least 0: the likelihood of each row is raised to this power.
#' @param zi,hu `NULL`, or a formula for zero-inflated or hurdle counts: see [zero_inflated_counts].
#' @param chains number of chains. They run on the workers of `future::plan()`, if package future.apply is installed.
#' @param iter sweeps per chain, including the warm-up.
#' @param warmup sweeps at the start of each chain whose draws are not kept.
#' @param control [warp_control()]: `thin`, `sparse`, `prior_only`, `checkpoint` and `checkpoint_every`. `sparse = TRUE`
#'   is not for `"cratio"`. A sparse matrix with a row for each row of the data adds its columns to the predictors.
#' @param ... `offset`, `subset`, `na.action` and `contrasts`, as for [stats::glm()]. The offset of a multinomial of
#'   more than two classes is a matrix with a column for each class, or for each class except the reference.
#' @inheritParams computing_arguments
#' @return An object of class `bayes_logit`. With S sweeps, D kept draws per chain, C chains and G groups:
#'   \item{coefficient_trace}{S x C x coefficients: their values after each sweep, in the data's units.}
#'   \item{log_likelihood, dispersion_trace, group_deviation}{S x C: the log likelihood, the dispersion, and the
#'     standard deviation of groups' intercepts.}
#'   \item{smooth_deviation}{S x C x smooths: their standard deviations, and the correlations of `ar1()`.}
#'   \item{draws}{with groups: `intercepts`, G x D x C. For other terms than one `(1 | g)` see [grouping_terms].}
#'   \item{prior}{the prior, including what the data decided.}
#'
#' Where Polya-Gamma sweeps mix slowly, slice moves are added (Murray and Graham 2016, *PMLR* **51**, 911-919). An
#' interrupt returns the completed sweeps with a warning; [continue()] runs more.
#' @references Polson, N. G., Scott, J. G. and Windle, J. (2013). Bayesian inference for logistic models using
#' Polya-Gamma latent variables. *JASA* **108**, 1339-1349. \doi{10.1080/01621459.2013.829001}
#' @seealso [summary.bayes_logit()], [plot.bayes_logit()], [predict.bayes_logit()], [tidy.bayes_logit()], [resume()]
#' @examples
#' bayes_logit(am ~ wt, mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#' @importFrom stats case.names coef confint deviance df.residual family fitted formula model.frame model.matrix
#'   nobs predict residuals sigma simulate terms update variable.names vcov weights
#' @export
bayes_logit <- function(formula, data = NULL, family = c("binomial", "poisson", "negbinomial", "multinomial", "cratio"),
                        prior = logit_prior(), weights = NULL, zi = NULL, hu = NULL, chains = 4, iter = 2000,
                        warmup = floor(iter / 2), seed = NULL, backend = NULL, threads = NULL, progress = NULL,
                        control = warp_control(), ...) {
  contrasts <- check_row_arguments(...)$contrasts
  check_present(!missing(formula), "formula")
  call <- match.call()
  family <- check_family(family)
  chains <- check_count(chains, "chains", max = 1e4)
  iter <- check_count(iter, "iter")
  warmup <- check_warmup(warmup, iter)
  control <- check_control(control, c("thin", "sparse", "prior_only", "checkpoint", "checkpoint_every"))
  thin <- check_thin(control$thin, iter, warmup)
  progress <- check_progress(progress)
  sparse <- check_sparse(control$sparse)
  checkpoint <- check_checkpoint(control$checkpoint, control$checkpoint_every)
  data <- given_data(data, "data")
  zero <- check_zero(zi, hu, formula, family, c(as.list(without_dots(call, parent.frame())), control))
  given <- given_rows(call, formula, data, parent.frame())
  if (!is.null(zero)) {
    priors <- if (inherits(prior, "logit_prior")) list(count = prior, zero = prior) else prior
    must_be(is.list(priors) && setequal(names(priors), c("count", "zero")), "prior",
      "what logit_prior() gives, or a list of two such priors named count and zero", prior)
    prior <- priors$count
    chosen <- rows_of_both(given, data, formula, zero)
    given <- chosen$given
    data <- chosen$data
  }
  if (!isFALSE(sparse)) given$sparse <- sparse
  parts <- logit_data(given, formula, data, family, contrasts, sparse, parent.frame())
  response <- parts$response
  design <- parts$design
  centre <- if (is.null(zero)) {
    logit_families[[family]]$centre(response, parts$weights, parts$offset)
  } else {
    response$mean <- untruncated_mean(response$observed, parts$weights)
    log(response$mean) - log_mean_exposure(parts$offset, parts$weights)
  }
  prior <- resolve_logit_prior(prior, design, family, centre, outcomes_of(list(response = response)))
  names <- coefficient_names(design, response)
  rows <- nrow(parts$frame)
  run <- resolve_run(backend, threads, cost = logit_cost(rows, length(names), family, response, iter * chains))
  parts$response <- response
  fit <- structure(c(list(draws = NULL, family = family, formula = formula), parts, list(
    contrasts = design$contrasts, prior = prior, prior_only = control$prior_only, chains = chains, iter = 0,
    warmup = warmup, thin = thin, seed = check_seed(seed), backend = run$backend, threads = run$threads,
    coefficient_names = names, rows = rows, given = given, elapsed = c(start = 0, sweeps = 0), interrupted = FALSE,
    call = without_dots(call, parent.frame()))), class = c("bayes_logit", "warpbayes_fit", "warpbayes"))
  if (!is.null(zero)) fit <- with_zero_part(fit, zero, data, contrasts, priors$zero, parent.frame())
  check_store_memory(logit_sampler(fit), fit, iter)
  fit <- start_chains(fit, function(key) logit_start(fit))
  advance_chains(fit, iter, logit_sampler, run, progress, threads, checkpoint)
}

# The arguments of `...`, as those of glm(). Only `contrasts` is evaluated: given_rows() reads the others.
check_row_arguments <- function(...) {
  names <- if (...length() > 0L) ...names()
  if (length(names) < ...length()) refuse_dots("", parent.frame())
  wrong <- !names %in% c("offset", "subset", "na.action", "contrasts") | duplicated(names)
  if (any(wrong)) refuse_dots(names[wrong], parent.frame())
  at <- match("contrasts", names)
  list(contrasts = if (!is.na(at)) ...elt(at))
}

# Replaces the `..1` of match.call() by the expression that the caller of the caller gave.
without_dots <- function(call, frame) {
  for (i in seq_along(call)) {
    if (is_dots_element(call[[i]])) {
      passed <- as.list(eval(quote(substitute(list(...))), frame))[-1L]
      call[i] <- passed[as.integer(substring(as.character(call[[i]]), 3L))]
    }
  }
  call
}

is_dots_element <- function(expression) {
  !missing(expression) && is.symbol(expression) && grepl("^[.]{2}[0-9]+$", expression)
}

# Other expressions than names become values: resume() must not run code from a file. What a wrapper passed on as
# `...` is looked up in the data, and otherwise where the wrapper was called.
given_rows <- function(call, formula, data, envir) {
  whole <- without_dots(call, envir)
  evaluate <- function(name) {
    expression <- whole[[name]]
    is_dots <- is_dots_element(call[[name]])
    is_column <- is.name(expression) && (!is_dots || as.character(expression) %in% names(data))
    if (!is.language(expression) || is_column) return(expression)
    passed <- function(...) eval(call[[name]], envir)
    is_of_rows <- is.call(expression) && name != "na.action" && inherits(formula, "formula")
    tryCatch(
      if (!is_of_rows) passed()
      else tryCatch(eval(expression, data, environment(formula)), error = if (is_dots) passed else stop),
      error = function(error) stop_input(name, "cannot be evaluated with `data`: ", because = error)
    )
  }
  sapply(intersect(c("weights", "offset", "subset", "na.action"), names(call)), evaluate, simplify = FALSE)
}

#' @rdname continue
#' @export
continue.bayes_logit <- function(fit, more, backend = NULL, threads = NULL, checkpoint = NULL, checkpoint_every = 60,
                                 progress = NULL, ...) {
  check_dots_empty(...)
  checkpoint <- check_checkpoint(checkpoint, checkpoint_every)
  check_logit_fit(fit)
  continue_chains(fit, more, logit_sampler, backend, threads, progress, checkpoint)
}

#' @export
drop_warmup.bayes_logit <- function(fit, n = NULL, ...) {
  check_method(fit, "fit", ...)
  lengthen_warmup(fit, n)
}
