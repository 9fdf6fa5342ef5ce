# What a regression tells about rows: predict(), fitted() and simulate().

#' Predictions of a fitted regression
#'
#' Posterior means, standard deviations and intervals of mean responses or linear predictors.
#' @param object a fit from [bayes_logit()].
#' @param newdata a data frame with all variables of the formula; `NULL` for the rows that were fitted. A group that is
#'   not in the fit gets, in each draw, effects from the distribution of groups, by R's generator.
#' @param sparse if the fit had a matrix as `sparse`: one for the rows of `newdata`.
#' @param type `"response"`: the probability of success, the mean count, or the probabilities of the classes. `"link"`:
#'   the linear predictor, for `"cratio"` the log odds of each step. `"count"`, `"zero"`: see [zero_inflated_counts].
#' @param level probability of the equal-tailed interval of the mean.
#' @param re_formula `NULL`: with the effects of groups. `NA`: these are 0. A formula such as `~ (1 | g)` keeps these
#'   terms, or parts of terms, and sets other effects to 0.
#' @param ndraws how many of the kept draws to use, evenly spaced; `NULL` for all.
#' @param nsim number of simulated responses.
#' @param seed passed to [set.seed()] if not `NULL`; R's generator is then left as it was.
#' @inheritParams computing_arguments
#' @param ... must be empty, or names of packages lme4 and brms: `re.form` for `re_formula`, and `allow_new_levels =
#'   FALSE` to refuse groups that are not in the fit.
#' @return `predict()`: a matrix, rows x (`mean`, `sd`, `lower`, `upper`), or for classes an array, rows x classes x
#'   these four. Rows with missing values are `NA`. The mean count of a group, an area or a time without data does not
#'   exist: `mean` and `sd` are `NA`, and there is a column `median`. An argument `offset` of the fit is evaluated in
#'   the new data. `fitted()`: the means as a vector, or for classes as a matrix. `simulate()`: a data frame of `nsim`
#'   responses from the posterior predictive distribution, or for classes with more than one trial a list of matrices.
#'   For draws see [posterior_predict.bayes_logit()].
#' @examples
#' fit <- bayes_logit(am ~ wt, mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#' predict(fit, data.frame(wt = c(2, 3, 4)))
#' @export
predict.bayes_logit <- function(object, newdata = NULL, type = c("response", "link", "count", "zero"), level = 0.9,
                                ndraws = NULL, sparse = NULL, re_formula = NULL, backend = NULL, threads = NULL,
                                ...) {
  check_logit_fit(object, "object")
  type <- check_choice(if (missing(type)) "response" else type, "type", names(family_of(object)$types))
  level <- check_number(level, "level", min = 0, max = 1)
  rows <- prediction_rows(object, newdata, sparse, check_re_formula(re_formula, object, ...))
  used <- draws_used(object, ndraws)
  no_mean <- lacks_mean(object, rows, type)
  out <- summarise_rows(object, rows, used, type, c(interval_ends(level), if (any(no_mean)) 0.5), backend, threads)
  classes <- object$response$classes
  statistics <- c("mean", "sd", "lower", "upper", if (any(no_mean)) "median")
  if (is.null(classes)) {
    dim(out) <- dim(out)[-2L]
    dimnames(out) <- list(rownames(rows$x), statistics)
    if (any(no_mean)) {
      out[no_mean, c("mean", "sd")] <- NA
      out <- out[, c("mean", "sd", "median", "lower", "upper"), drop = FALSE]
    }
  } else {
    dimnames(out) <- list(rownames(rows$x), utils::tail(classes, dim(out)[[2L]]), statistics)
  }
  judged(if (is.null(newdata)) pad_rows(object, out) else out, "the prediction", list(object),
    if (any(no_mean)) {
      rows <- which(no_mean)
      reason("no_mean", n = length(rows), shown = c(utils::head(rows, 5L), if (length(rows) > 5L) "..."),
        what = if (type == "link") "a part of it" else "a group, an area or a time without data")
    }, heading = if (type == "response") modelled_words(object))
}

# TRUE for all effects of groups, FALSE for none, or by grouping the columns. `only_known`: new groups are an error.
check_re_formula <- function(re_formula, fit, ...) {
  given <- list(...)
  names(given) <- chartr(".", "_", names(given))
  if ("re_form" %in% names(given) && is.null(re_formula)) re_formula <- given$re_form
  known <- given$allow_new_levels
  given[c("re_form", "allow_new_levels")] <- NULL
  if (length(given) || ...length() > 0L && is.null(...names())) check_dots_empty(...)
  kept <- kept_effects(re_formula, fit)
  if (!is.null(known) && !check_flag(known, "allow_new_levels")) attr(kept, "only_known") <- TRUE
  kept
}

kept_effects <- function(re_formula, fit) {
  if (is.null(re_formula)) return(TRUE)
  if (is.atomic(re_formula) && length(re_formula) == 1L && is.na(re_formula)) return(FALSE)
  if (length(regressions_of(fit)) > 1L) {
    stop_input("re_formula", "must be NULL or NA for a regression of counts with a regression of zeros, not ",
      show_value(re_formula))
  }
  if (!inherits(re_formula, "formula")) {
    stop_input("re_formula", "must be NULL for predictions with all effects of groups, NA for predictions without, ",
      "or a formula of the terms to keep, such as ~ (1 | g), not ", show_value(re_formula))
  }
  side <- re_formula[[length(re_formula)]]
  if (identical(side, 0) || identical(side, 1)) return(FALSE)
  parts <- split_formula(re_formula, "re_formula")
  if (length(all.vars(parts$fixed[[length(re_formula)]])) > 0L || length(parts$bars) == 0L) {
    stop_input("re_formula", "must have grouping terms alone, such as ~ (1 | g), not ",
      dQuote(deparse1(re_formula), FALSE))
  }
  terms <- outcome_terms(fit)
  kept <- list()
  for (bar in parts$bars) {
    group <- deparse1(bar$group)
    words <- dQuote(sprintf("(%s)", bar_words(bar)), FALSE)
    stop_at <- function(...) stop_input("re_formula", "has the term ", words, ...)
    columns <- if (is_intercept_bar(bar)) "(Intercept)" else tryCatch(
      colnames(stats::model.matrix(bar_terms(bar, fit$frame), fit$frame)),
      error = function(error) stop_at(", which the fit does not have")
    )
    has <- unlist(lapply(terms, function(term) if (term$group == group) term$columns))
    if (!all(columns %in% has)) {
      labels <- unique(vapply(terms, function(term) sprintf("(%s)", term$label), ""))
      stop_at(", but the fit has ", if (length(labels)) paste(labels, collapse = " + ") else "no grouping terms")
    }
    kept[[group]] <- union(kept[[group]], columns)
  }
  kept
}

#' @rdname predict.bayes_logit
#' @export
fitted.bayes_logit <- function(object, re_formula = NULL, ...) {
  check_logit_fit(object, "object")
  pad_rows(object, fitted_means(object, check_re_formula(re_formula, object, ...)))
}

fitted_means <- function(object, groups = TRUE) {
  rows <- prediction_rows(object, NULL, groups = groups)
  out <- summarise_rows(object, rows, draws_used(object, NULL), "response")
  classes <- object$response$classes
  out <- matrix(out[, , 1L], object$rows, dimnames = list(rownames(rows$x), classes))
  if (is.null(classes)) out[, 1L] else out
}

# The means of a prediction, or the medians where they do not exist.
predicted_means <- function(values) {
  if (!is.matrix(values)) return(matrix(values[, , "mean"], nrow(values), dimnames = dimnames(values)[1:2]))
  means <- values[, "mean"]
  if ("median" %in% colnames(values)) ifelse(is.na(means), values[, "median"], means) else means
}

#' @rdname predict.bayes_logit
#' @export
simulate.bayes_logit <- function(object, nsim = 1, seed = NULL, ...) {
  check_dots_empty(...)
  nsim <- check_count(nsim, "nsim")
  check_logit_fit(object, "object")
  check_result_size(nsim * object$rows * max(1L, length(object$response$classes)), "nsim", "simulated responses",
    copies = 2)
  draw_with_seed(seed, {
    total <- nrow(coefficient_draws(object))
    used <- sample(total, nsim, replace = nsim > total)
    rows <- prediction_rows(object, NULL)
    trials <- object$response$trials
    classes <- object$response$classes
    simulated <- lapply(used, function(draw) {
      linear <- linear_draws(object, rows, draw, seq_len(object$rows))
      drawn <- family_of(object)$respond(linear, trials, dispersion_used(object, draw), any(trials != 1))
      if (is.null(classes)) return(as.vector(drawn))
      if (any(trials != 1)) return(matrix(drawn, object$rows, dimnames = list(NULL, classes)))
      factor(classes[drawn], classes, ordered = isTRUE(object$response$ordered))
    })
    names(simulated) <- paste0("sim_", seq_len(nsim))
    if (is.matrix(simulated[[1L]])) simulated else as.data.frame(simulated, optional = TRUE)
  })
}
