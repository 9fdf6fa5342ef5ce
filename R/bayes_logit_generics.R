# Generics of packages rstantools, nlme, coda and stats for fitted regressions, so that no inherited method takes the
# fit for a plain list.

#' Draws and parts of a fitted regression under the names of other packages
#'
#' `posterior_linpred()`, `posterior_epred()` and `posterior_predict()` are methods of the generics in package
#' rstantools: draws of the linear predictors, of the means of the response, and of responses. `fixef()`, `ranef()` and
#' `VarCorr()` are those of package nlme.
#'
#' @param object,x a fit from [bayes_logit()].
#' @param newdata,re_formula,draws as in [predict.bayes_logit()]. New data have one trial in each row.
#' @param seed for `posterior_predict()`: passed to [set.seed()] if not `NULL`. R's generator is then left as it was.
#' @param ... must be empty.
#' @return `posterior_linpred()` and `posterior_epred()` give a matrix, draws x rows, or for a multinomial an array,
#'   draws x rows x classes. The rows must be complete. `posterior_predict()` gives a matrix of successes or counts. For
#'   a multinomial it is not defined: see [simulate()][predict.bayes_logit()].
#'
#'   `as.matrix()` gives the kept draws, with a column for each coefficient and other parameter. `fixef()` gives the
#'   posterior means of the coefficients. `ranef()` gives a list with a data frame of the groups' posterior means for
#'   each term, and `VarCorr()` a list with the posterior mean of the covariance of its effects. `prior_summary()` gives
#'   the prior, `family()` the name of the family, and `model.matrix()` the design.
#'   `sigma()` is an error: these families have no residual standard deviation.
#' @section Errors:
#' `warpbayes_error_input` as in [predict.bayes_logit()], and for rows with missing values.
#' @examples
#' fit <- bayes_logit(am ~ wt, mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#' dim(as.matrix(fit))
#' if (requireNamespace("rstantools", quietly = TRUE)) {
#'   rstantools::posterior_epred(fit, data.frame(wt = c(2, 3)), draws = 4)
#' }
#' @name posterior_predict.bayes_logit
NULL

drawn_rows <- function(object, newdata, re_formula, draws, response, call) {
  rows <- prediction_rows(object, newdata, call, groups = check_re_formula(re_formula, call))
  if (!all(rows$complete)) {
    stop_input("newdata", "has missing values in row ", which(!rows$complete)[[1L]], call = call)
  }
  used <- draws_used(object, draws, call)
  n <- nrow(rows$x)
  check_result_size(as.double(n) * length(used) * outcomes_of(object), "draws", "draws of rows", call)
  values <- linear_draws(object, rows, used, seq_len(n))
  values <- if (response) response_draws(object, values) else values
  classes <- object$response$classes
  if (is.null(classes)) {
    values <- matrix(values, length(used), n, dimnames = list(NULL, rownames(rows$x)))
  } else {
    dimnames(values) <- list(NULL, rownames(rows$x), utils::tail(classes, dim(values)[[3L]]))
  }
  list(values = values, used = used)
}

#' @rdname posterior_predict.bayes_logit
#' @exportS3Method rstantools::posterior_linpred
posterior_linpred.bayes_logit <- function(object, newdata = NULL, re_formula = NULL, draws = NULL, ...) {
  check_dots_empty(...)
  drawn_rows(object, newdata, re_formula, draws, FALSE, sys.call())$values
}

#' @rdname posterior_predict.bayes_logit
#' @exportS3Method rstantools::posterior_epred
posterior_epred.bayes_logit <- function(object, newdata = NULL, re_formula = NULL, draws = NULL, ...) {
  check_dots_empty(...)
  drawn_rows(object, newdata, re_formula, draws, TRUE, sys.call())$values
}

#' @rdname posterior_predict.bayes_logit
#' @exportS3Method rstantools::posterior_predict
posterior_predict.bayes_logit <- function(object, newdata = NULL, re_formula = NULL, draws = NULL, seed = NULL, ...) {
  check_dots_empty(...)
  if (object$family == "multinomial") {
    stop_input("object", "is a multinomial regression, for which simulate() gives responses")
  }
  mean <- drawn_rows(object, newdata, re_formula, draws, TRUE, sys.call())
  if (!is.null(seed)) {
    seed <- check_simulation_seed(seed)
    stats::runif(1L)
    before <- get(".Random.seed", globalenv(), inherits = FALSE)
    on.exit(assign(".Random.seed", before, globalenv()))
    set.seed(seed)
  }
  count <- length(mean$values)
  trials <- if (is.null(newdata)) rep(object$response$trials, each = length(mean$used)) else 1
  mean$values[] <- if (object$family == "binomial") {
    stats::rbinom(count, trials, mean$values)
  } else {
    stats::rnbinom(count, size = rep(dispersion_used(object, mean$used), length.out = count), mu = mean$values)
  }
  mean$values
}

#' @rdname posterior_predict.bayes_logit
#' @exportS3Method rstantools::prior_summary
prior_summary.bayes_logit <- function(object, ...) {
  object$prior
}

#' @rdname posterior_predict.bayes_logit
#' @export
as.matrix.bayes_logit <- function(x, ...) {
  coefficient_draws(x)
  draws <- logit_draws(x)
  matrix(draws, ncol = dim(draws)[[3L]], dimnames = list(NULL, dimnames(draws)[[3L]]))
}

#' @rdname posterior_predict.bayes_logit
#' @exportS3Method coda::as.mcmc
as.mcmc.bayes_logit <- function(x, ...) {
  if (x$chains > 1) {
    stop_input("x", "has ", x$chains, " chains: as.mcmc.list() keeps them apart")
  }
  as.mcmc.list.bayes_logit(x)[[1L]]
}

#' @rdname posterior_predict.bayes_logit
#' @exportS3Method nlme::fixef
fixef.bayes_logit <- function(object, ...) {
  coef(object)
}

#' @rdname posterior_predict.bayes_logit
#' @exportS3Method nlme::ranef
ranef.bayes_logit <- function(object, ...) {
  terms <- fit_terms(object)
  if (length(terms) == 0L) {
    stop_input("object", "has no grouping terms")
  }
  values <- Map(function(draws) as.data.frame(t(rowMeans(draws, dims = 2L)), optional = TRUE), effect_draws(object))
  stats::setNames(values, vapply(terms, function(term) term$group, ""))
}

#' @rdname posterior_predict.bayes_logit
#' @param sigma not used.
#' @exportS3Method nlme::VarCorr
VarCorr.bayes_logit <- function(x, sigma = 1, ...) {
  terms <- fit_terms(x)
  if (length(terms) == 0L) {
    stop_input("x", "has no grouping terms")
  }
  means <- lapply(covariance_draws(x), function(draws) rowMeans(draws, dims = 2L))
  stats::setNames(means, vapply(terms, function(term) term$group, ""))
}

#' @rdname posterior_predict.bayes_logit
#' @importFrom stats family
#' @export
family.bayes_logit <- function(object, ...) {
  object$family
}

#' @rdname posterior_predict.bayes_logit
#' @importFrom stats model.matrix
#' @export
model.matrix.bayes_logit <- function(object, ...) {
  object$design$x
}

#' @rdname posterior_predict.bayes_logit
#' @importFrom stats sigma
#' @export
sigma.bayes_logit <- function(object, ...) {
  stop_input("object", "is a ", object$family, " regression, which has no residual standard deviation")
}
