#' Draws of predictions of a fitted regression
#'
#' Methods of generics of package rstantools. [predict.bayes_logit()] gives summaries.
#' @param object a fit from [bayes_logit()].
#' @param newdata,re_formula,ndraws,seed as in [predict.bayes_logit()].
#' @param trials trials of each row of `newdata`, or one number; `NULL` for the row sums of its response.
#' @param prob the probability of each interval.
#' @param ... must be empty.
#' @return `posterior_linpred()` and `posterior_epred()`: draws of linear predictors and of means, draws x rows, or for
#'   classes draws x rows x classes. `posterior_predict()`: draws of responses, a matrix of successes, counts or class
#'   numbers (their names are the attribute `levels`), or for counts of classes an array. `predictive_error()`: observed
#'   minus drawn responses. `predictive_interval()`: a matrix, rows x the two ends of central intervals.
#' @examples
#' fit <- bayes_logit(am ~ wt, mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#' if (requireNamespace("rstantools", quietly = TRUE)) {
#'   rstantools::posterior_epred(fit, ndraws = 2)[, 1:3]
#' }
#' @name posterior_predict.bayes_logit
NULL

drawn_rows <- function(object, newdata, re_formula, draws, values_of, ...) {
  check_logit_fit(object, "object")
  rows <- prediction_rows(object, newdata, groups = check_re_formula(re_formula, object, ...))
  if (!all(rows$complete)) stop_input("newdata", "has missing values in row ", which(!rows$complete)[[1L]])
  used <- draws_used(object, draws)
  n <- nrow(rows$x)
  check_result_size(as.double(n) * length(used) * outcomes_of(object), "ndraws", "draws of rows")
  values <- values_of(linear_draws(object, rows, used, seq_len(n)), used)
  classes <- object$response$classes
  if (is.null(classes) || is.matrix(values)) {
    values <- matrix(values, length(used), n, dimnames = list(NULL, rownames(rows$x)))
  } else {
    dimnames(values) <- list(NULL, rownames(rows$x), utils::tail(classes, dim(values)[[3L]]))
  }
  judged(values, "the prediction", list(object))
}

#' @rdname posterior_predict.bayes_logit
#' @method posterior_linpred bayes_logit
#' @exportS3Method rstantools::posterior_linpred bayes_logit
posterior_linpred.bayes_logit <- function(object, newdata = NULL, re_formula = NULL, ndraws = NULL, ...) {
  drawn_rows(object, newdata, re_formula, ndraws, function(linear, used) family_of(object)$link(linear), ...)
}

#' @rdname posterior_predict.bayes_logit
#' @method posterior_epred bayes_logit
#' @exportS3Method rstantools::posterior_epred bayes_logit
posterior_epred.bayes_logit <- function(object, newdata = NULL, re_formula = NULL, ndraws = NULL, ...) {
  drawn_rows(object, newdata, re_formula, ndraws, function(linear, used) family_of(object)$mean(linear), ...)
}

#' @rdname posterior_predict.bayes_logit
#' @method posterior_predict bayes_logit
#' @exportS3Method rstantools::posterior_predict bayes_logit
posterior_predict.bayes_logit <- function(object, newdata = NULL, re_formula = NULL, ndraws = NULL, seed = NULL,
                                          trials = NULL, ...) {
  drawn <- draw_with_seed(seed, {
    drawn_rows(object, newdata, re_formula, ndraws, function(linear, used) {
      trials <- trials_of_rows(object, newdata, trials)
      family_of(object)$respond(linear, rep(trials, each = length(used)), dispersion_used(object, used),
        any(object$response$trials != 1, trials != 1))
    }, ...)
  })
  attr(drawn, "seed") <- NULL
  if (is.matrix(drawn) && family_of(object)$has_classes) attr(drawn, "levels") <- object$response$classes
  drawn
}

#' @rdname summary.bayes_logit
#' @method posterior_interval bayes_logit
#' @exportS3Method rstantools::posterior_interval bayes_logit
posterior_interval.bayes_logit <- function(object, prob = 0.9, pars = NULL, ...) {
  check_dots_empty(...)
  interval_of_draws(as.matrix(object, pars = pars), prob)
}

#' @rdname posterior_predict.bayes_logit
#' @method predictive_interval bayes_logit
#' @exportS3Method rstantools::predictive_interval bayes_logit
predictive_interval.bayes_logit <- function(object, prob = 0.9, newdata = NULL, re_formula = NULL, ndraws = NULL,
                                            seed = NULL, trials = NULL, ...) {
  check_dots_empty(...)
  if (family_of(object)$has_outcomes) {
    stop_input("object", "is a multinomial regression, whose classes have no order: use predict()")
  }
  drawn <- posterior_predict.bayes_logit(object, newdata, re_formula, ndraws, seed, trials)
  if (!is.matrix(drawn)) stop_input("object", "has counts of classes, which have no order: use predict()")
  interval_of_draws(drawn, prob)
}

trials_of_rows <- function(fit, newdata, trials) {
  response <- stats::model.response(fit$frame)
  if (is.null(trials)) {
    if (is.null(newdata)) return(fit$response$trials)
    if (!is.matrix(response)) return(rep(1, nrow(newdata)))
    return(new_response(fit, newdata, ". The numbers of trials come from the response or from `trials`")$trials)
  }
  if (!is.matrix(response)) {
    stop_input("trials", "is ", show_value(trials), ", but the response of the fit, ", show_value(response),
      ", has no numbers of trials")
  }
  if (is.null(newdata)) {
    stop_input("trials", "is ", show_value(trials), ", but is for `newdata`: the rows that were fitted have their own")
  }
  is_one_each <- is.numeric(trials) && length(trials) %in% c(1L, nrow(newdata))
  bad <- if (is_one_each) which(is.na(trials) | trials != floor(trials) | trials < 0 | trials > .Machine$integer.max)
  if (!is_one_each || length(bad)) {
    stop_input("trials", "must be one whole number from 0, or one for each of the ", nrow(newdata), " rows of ",
      "`newdata`, not ", show_value(trials), if (length(bad) && length(trials) > 1L) {
        sprintf(" with %s in row %d", exact_words(trials[[bad[[1L]]]]), bad[[1L]])
      })
  }
  rep_len(as.double(trials), nrow(newdata))
}

#' @rdname plot.bayes_logit
#' @method pp_check bayes_logit
#' @exportS3Method bayesplot::pp_check bayes_logit
pp_check.bayes_logit <- function(object, type = NULL, ndraws = 50, seed = NULL, ...) {
  trials <- object$response$trials
  family <- family_of(object)
  is_counted <- family$is_count || any(trials != 1)
  if (family$has_classes && is_counted) {
    stop_input("object", "has counts of classes, which no function of package bayesplot shows. ",
      "posterior_predict() gives the draws")
  }
  if (is.null(type)) {
    type <- if (is_counted) "ecdf_overlay" else "bars"
  } else if (!is.character(type) || !isTRUE(paste0("ppc_", type) %in% getNamespaceExports("bayesplot"))) {
    stop_input("type", "must be the name of a function of package bayesplot without its ppc_, such as \"stat\", not ",
      show_value(type))
  }
  replicated <- posterior_predict.bayes_logit(object, ndraws = ndraws, seed = seed)
  observed <- object$response$observed
  if (family$has_classes) observed <- max.col(observed, "first")
  observed <- observed[object$weights > 0]
  replicated <- unname(replicated[, object$weights > 0, drop = FALSE])
  plot <- getExportedValue("bayesplot", paste0("ppc_", type))
  if (type != "ecdf_overlay" || "discrete" %in% names(list(...))) return(plot(observed, replicated, ...))
  plot(observed, replicated, discrete = TRUE, ...)
}

#' @rdname summary.bayes_logit
#' @method prior_summary bayes_logit
#' @exportS3Method rstantools::prior_summary bayes_logit
prior_summary.bayes_logit <- function(object, ...) object$prior

#' @export
as.array.bayes_logit <- function(x, ...) {
  coefficient_draws(x)
  draws <- array_of_draws(x, ...)
  draws[, , dimnames(draws)[[3L]] != "log_likelihood", drop = FALSE]
}

#' @rdname ranef.bayes_logit
#' @method fixef bayes_logit
#' @exportS3Method nlme::fixef bayes_logit
fixef.bayes_logit <- function(object, ...) coef(object)

#' @rdname ranef.bayes_logit
#' @export
model.matrix.bayes_logit <- function(object, ...) part_of(object, "object", function(fit) fit$design$x)

#' @rdname ranef.bayes_logit
#' @export
model.frame.bayes_logit <- function(formula, ...) part_of(formula, "formula", function(fit) fit$frame)

#' @rdname ranef.bayes_logit
#' @export
terms.bayes_logit <- function(x, ...) part_of(x, "x", function(fit) fit$terms)

# As in lme4: no family has a scale of its own.
#' @rdname ranef.bayes_logit
#' @export
sigma.bayes_logit <- function(object, ...) part_of(object, "object", function(fit) 1, ...)

#' @rdname ranef.bayes_logit
#' @export
weights.bayes_logit <- function(object, ...) {
  part_of(object, "object", function(fit) pad_rows(fit, stats::setNames(fit$weights, rownames(fit$frame))), ...)
}

#' @rdname ranef.bayes_logit
#' @export
case.names.bayes_logit <- function(object, ...) part_of(object, "object", function(fit) rownames(fit$frame), ...)

#' @rdname ranef.bayes_logit
#' @export
variable.names.bayes_logit <- function(object, ...) part_of(object, "object", function(fit) fit$coefficient_names, ...)
