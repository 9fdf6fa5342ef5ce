# Regressions by Polya-Gamma variables: arguments, chains, what a fit consists of.

#' Logistic, negative binomial and multinomial regression
#'
#' Bayesian regressions with a logit link by the Gibbs sampler of Polson, Scott and Windle (2013): given Polya-Gamma variables, one for each row,
#' the coefficients are normal. Nothing has to be tuned, and every sweep is one pass over the rows.
#'
#' \describe{
#'   \item{`"binomial"`}{the number of successes of a row is binomial with the logit of its probability linear in the predictors.}
#'   \item{`"negbinomial"`}{the count of a row is negative binomial with the log of its mean linear in the predictors, and variance
#'     mean + mean\eqn{^2/r}{^2/r}. The dispersion \eqn{r} is learned, by slice sampling without the Polya-Gamma variables.}
#'   \item{`"multinomial"`}{the log odds of every class against the first are linear in the predictors, each class with coefficients of its own;
#'     in each sweep they are drawn class by class.}
#' }
#' With a term `(1 | g)` the linear predictor has besides one intercept for each group of rows, normal with mean 0 and a standard
#' deviation that is learned. In each sweep coefficients and intercepts are drawn together.
#'
#' The same `seed` gives the same draws on any number of threads, any processor and on a graphics card.
#'
#' @param formula the response and the predictors, as for [stats::glm()], with at most one term `(1 | g)`. Responses of `"binomial"`: a logical,
#'   numbers 0 and 1, a factor whose first level is failure, or `cbind(successes, failures)`; of `"negbinomial"`: counts; of `"multinomial"`: a
#'   factor or a matrix of counts with a column for each class, the first the reference.
#' @param data a data frame.
#' @param family a name as above, or [stats::binomial()].
#' @param prior from [logit_prior()].
#' @param weights `NULL`, or numbers of at least 0: the likelihood of a row to that power.
#' @param offset `NULL`, or what is added to the linear predictor of each row. Offsets in the formula are added too.
#' @param subset,na.action,contrasts as for [stats::glm()]: which rows, what to do about missing values, the coding of factors. Levels without rows
#'   are dropped.
#' @param sparse whether the design is a sparse matrix of package Matrix, for predictors that are mostly 0, such as factors of many levels. Or
#'   such a matrix, with a row for each row of the data: its columns are predictors besides those of the formula. A sparse design is never made dense
#'   and not centred, so that its intercept, and the intercept's prior, are those where all predictors are 0.
#' @param chains number of chains, each from a start of its own. With the future.apply package and a `future::plan()` of several workers, chains run on these.
#' @param iter sweeps per chain, those of the warm-up included.
#' @param warmup sweeps at the start of each chain of which no draws are kept.
#' @param thin after the warm-up, every `thin`-th draw is kept.
#' @param seed one whole number in \eqn{[0, 2^{53})}, or `NULL` to draw it from R's generator, so that `set.seed()` governs.
#' @param backend `"cpu"`, `"cuda"`, `"auto"`, or `NULL` for `getOption("warpbayes.backend", "auto")`. See [warp_info()].
#' @param threads CPU threads; `NULL` for all that this process may use.
#' @param checkpoint `NULL`, or the name of a file from which [resume()] goes on if the process is killed. A file of that name is overwritten
#'   if it is a checkpoint, otherwise it is an error.
#' @param checkpoint_every seconds from one checkpoint to the next.
#' @param progress whether to show a progress bar; `NULL` for interactive sessions only. Progress is signalled to the progressr package, if
#'   installed, in any case.
#' @param ... must be empty: a misspelt argument is an error.
#'
#' @return An object of class `bayes_logit`. Let S be the sweeps, D the draws kept per chain, C the chains, p the coefficients, G the groups. It has
#'   \item{coefficient_trace}{S x C x p: the coefficients after each sweep, in the data's units; `coefficient_names` says which.}
#'   \item{log_likelihood}{S x C.}
#'   \item{dispersion_trace, group_deviation}{S x C: the dispersion, and the standard deviation of groups' intercepts.}
#'   \item{draws}{with groups: `intercepts`, G x D x C.}
#'   \item{prior}{the prior with what the data decided.}
#'   \item{family, formula, terms, xlevels, contrasts, frame, design, response, weights, offset, rows, na.action, chains, iter, warmup, thin,
#'     seed, backend, threads, elapsed, interrupted, call}{how the fit was made; `elapsed` in seconds.}
#'   \item{state}{from which [continue()] runs on.}
#'   See [summary.bayes_logit()], [predict.bayes_logit()], [plot.bayes_logit()], [as_draws.bayes_logit()], [tidy.bayes_logit()].
#' @section Interruption:
#' When the fit is interrupted from the keyboard, the sweeps done so far come back as a fit, with a warning; [continue()] takes it up where it
#' stopped. With a `checkpoint`, [resume()] goes on after the process was killed.
#' @section Errors:
#' `warpbayes_error_input` for arguments that cannot be used, naming the argument, and for values of predictors that are not finite;
#' `warpbayes_error_memory` when memory runs out; `warpbayes_error_backend` or `warpbayes_error_device` when a graphics card was asked for and fails.
#' @references
#' Polson, N. G., Scott, J. G. and Windle, J. (2013). Bayesian inference for logistic models using Polya-Gamma latent variables. *Journal of the
#' American Statistical Association* **108**, 1339-1349. \doi{10.1080/01621459.2013.829001}
#'
#' Makalic, E. and Schmidt, D. F. (2016). A simple sampler for the horseshoe estimator. *IEEE Signal Processing Letters* **23**, 179-182.
#' @seealso [logit_prior()], [rpolyagamma()], [continue()]
#' @examples
#' fit <- bayes_logit(am ~ wt, mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#' fit
#'
#' # Insects that died of six doses, in batches.
#' set.seed(1)
#' dose <- rep(1:6, 5)
#' batch <- rep(letters[1:5], each = 6)
#' died <- rbinom(30, 20, plogis(dose - 3.5 + rnorm(5)[factor(batch)]))
#' bayes_logit(cbind(died, 20 - died) ~ dose + (1 | batch),
#'   chains = 2, iter = 400, seed = 1, threads = 2
#' )
#' @export
bayes_logit <- function(formula, data = NULL, family = c("binomial", "negbinomial", "multinomial"), prior = logit_prior(),
                        weights = NULL, offset = NULL, subset = NULL, na.action = NULL, contrasts = NULL, sparse = FALSE,
                        chains = 4, iter = 2000, warmup = floor(iter / 2), thin = 1, seed = NULL, backend = NULL, threads = NULL,
                        checkpoint = NULL, checkpoint_every = 60, progress = NULL, ...) {
  check_dots_empty(...)
  call <- match.call()
  family <- check_family(family)
  chains <- check_count(chains, "chains", max = 1e4)
  iter <- check_count(iter, "iter")
  warmup <- check_warmup(warmup, iter)
  thin <- check_thin(thin, iter, warmup)
  progress <- check_progress(progress)
  sparse <- check_sparse(sparse)
  checkpoint <- check_checkpoint(checkpoint, checkpoint_every)
  parts <- logit_data(call, formula, data, family, contrasts, sparse, parent.frame(), sys.call())
  response <- parts$response
  design <- parts$design
  prior <- resolve_logit_prior(prior, design, family, response$mean)
  run <- resolve_run(backend, threads)
  seed <- check_seed(seed)

  fit <- structure(list(
    draws = NULL, family = family, formula = formula, terms = parts$terms, xlevels = parts$xlevels,
    contrasts = design$contrasts, group_name = parts$group_name, prior = prior,
    chains = chains, iter = 0, warmup = warmup, thin = thin, seed = seed, backend = run$backend, threads = run$threads,
    coefficient_names = coefficient_names(design, response), rows = nrow(parts$frame), weights = parts$weights, offset = parts$offset,
    response = response, design = design, na.action = parts$na.action, frame = parts$frame,
    elapsed = c(start = 0, sweeps = 0), interrupted = FALSE, call = call
  ), class = "bayes_logit")
  fit <- start_chains(fit, function(key) logit_start(fit))
  advance_chains(fit, iter, logit_sampler, run, progress, threads, checkpoint)
}

# The user's rows as the sampler and the methods of the fit need them. `call` is that of bayes_logit(), whose weights, offset and
# subset are evaluated in `data` and `envir`; `caller` is named in errors.
logit_data <- function(call, formula, data, family, contrasts, sparse, envir, caller) {
  parts <- split_groups(formula, caller)
  given <- names(call) %in% c("data", "weights", "offset", "subset", "na.action")
  given[[1L]] <- TRUE
  frame <- logit_frame(call[given], parts, envir, caller)
  if (!is.null(parts$group) && family == "multinomial") {
    stop_input("formula", "has a term (1 | g), which family \"multinomial\" does not take", call = caller)
  }
  weights <- check_row_weights(stats::model.weights(frame), nrow(frame), caller)
  offset <- check_row_offset(stats::model.offset(frame), nrow(frame), family, caller)
  terms <- stats::terms(parts$fixed, data = if (is.data.frame(data)) data else NULL)
  response <- logit_response(stats::model.response(frame), family, weights, caller)
  if (sum(response$shape) == 0 && family != "negbinomial") {
    stop_input("weights", "leave nothing to fit: all rows have weight 0 or no trials", call = caller)
  }
  group <- if (!is.null(parts$group)) group_factor(frame, parts$group, caller)
  design <- logit_design(frame, terms, contrasts, group, sparse, caller)
  design$information <- response$information
  list(
    frame = frame, weights = weights, offset = offset, terms = terms, xlevels = stats::.getXlevels(terms, frame), response = response,
    design = sort_groups(design), group_name = if (!is.null(parts$group)) deparse1(parts$group), na.action = attr(frame, "na.action")
  )
}

check_row_weights <- function(weights, rows, call = sys.call(-1L)) {
  if (is.null(weights)) {
    return(rep(1, rows))
  }
  if (!is.numeric(weights) || is.matrix(weights) || any(!is.finite(weights) | weights < 0)) {
    stop_input("weights", "must be finite numbers of at least 0, one for each row, not ", show_value(weights), call = call)
  }
  as.double(weights)
}

check_row_offset <- function(offset, rows, family, call = sys.call(-1L)) {
  if (is.null(offset)) {
    return(numeric(rows))
  }
  if (!is.numeric(offset) || any(!is.finite(offset))) {
    stop_input("offset", "must be finite numbers, one for each row, not ", show_value(offset), call = call)
  }
  if (family == "multinomial") {
    stop_input("offset", "is not known to family \"multinomial\"", call = call)
  }
  as.double(offset)
}

coefficient_names <- function(design, response) {
  names <- colnames(design$x)
  if (is.null(response$classes)) names else as.vector(outer(names, response$classes[-1L], function(name, class) paste0(class, ":", name)))
}

#' @rdname continue
#' @export
continue.bayes_logit <- function(fit, iter, backend = NULL, threads = NULL, checkpoint = NULL, checkpoint_every = 60, progress = NULL, ...) {
  check_dots_empty(...)
  checkpoint <- check_checkpoint(checkpoint, checkpoint_every)
  continue_chains(fit, iter, logit_sampler, backend, threads, progress, checkpoint)
}
