# K-fold cross-validation: fits in which the rows of a fold have weight 0.

#' K-fold cross-validation of a regression
#'
#' For fits whose `loo()` warns of high Pareto k, and for leaving out whole groups. For each fold the model is fitted to
#' the other rows, and predicts the responses of the fold.
#' @param x a fit from [bayes_logit()]. Its data must still have the name that they had when it was made.
#' @param K number of folds, at least 2.
#' @param group `NULL`, or a variable (its name, or a value for each fitted row): rows with one value are left out
#'   together.
#' @param folds `NULL` for random folds of equal size, or the number of the fold of each row, from 1.
#' @param seed for the random folds, as in [predict.bayes_logit()].
#' @param ... must be empty.
#' @return An object of class `kfold` and `loo`, for `loo::loo_compare()`. `pointwise` has `elpd_kfold`, `p_kfold`
#'   and `kfoldic` of each row or group, `estimates` their sums. The attribute `folds` has the fold of each row.
#' @examples
#' if (requireNamespace("loo", quietly = TRUE)) {
#'   fit <- bayes_logit(am ~ wt, mtcars, chains = 2, iter = 200, seed = 1, threads = 2)
#'   loo::kfold(fit, K = 3, seed = 1)
#' }
#' @name kfold.bayes_logit
#' @method kfold bayes_logit
#' @exportS3Method loo::kfold bayes_logit
kfold.bayes_logit <- function(x, K = 10, group = NULL, folds = NULL, seed = NULL, ...) {
  check_method(x, "x", ...)
  if (isTRUE(x$prior_only)) stop_input("x", "has draws of the prior alone, which no row changes")
  used <- draws_used(x, NULL)
  refit <- refit_with_weights(x, parent.frame())
  has_part <- x$response$information > 0
  point <- if (is.null(group)) seq_len(x$rows) else kfold_groups(x, group, refit$data)
  if (is.null(folds)) {
    points <- unique(point[has_part])
    if (length(points) < 2L) stop_input("x", "has fewer than two rows or groups, so that none can be left out")
    K <- min(check_count(K, "K", min = 2), length(points))
    folds <- as.vector(draw_with_seed(seed, sample(rep_len(seq_len(K), length(points)))))[match(point, points)]
    folds[is.na(folds)] <- 1L
  } else folds <- check_folds(folds, x, point, has_part)
  elpd <- numeric(x$rows)
  verdicts <- list(verdict(x))
  for (fold in unique(folds[has_part])) {
    left_out <- which(folds == fold & has_part)
    fit <- refit$fit(ifelse(folds == fold, 0, x$weights))
    elpd[left_out] <- log_mean_densities(fit, left_out, x)
    verdicts <- c(verdicts, list(verdict(fit)))
  }
  differences <- log_mean_densities(x, which(has_part), x) - elpd[has_part]
  sums <- unname(rowsum(cbind(elpd[has_part], differences), point[has_part], reorder = FALSE))
  pointwise <- cbind(elpd_kfold = sums[, 1L], p_kfold = sums[, 2L], kfoldic = -2 * sums[, 1L])
  n <- nrow(pointwise)
  estimates <- cbind(Estimate = colSums(pointwise), SE = sqrt(n * apply(pointwise, 2L, stats::var)))
  judged(structure(list(
    estimates = estimates, pointwise = pointwise, elpd_kfold = estimates[[1L, 1L]], se_elpd_kfold = estimates[[1L, 2L]],
    p_kfold = estimates[[2L, 1L]], se_p_kfold = estimates[[2L, 2L]]),
    class = c("kfold", "loo"), K = length(unique(folds[has_part])), dims = c(length(used), n), folds = folds),
    "the cross-validation", unique(verdicts))
}

refit_with_weights <- function(fit, frame) {
  call <- fit$call
  call[[1L]] <- quote(warpbayes::bayes_logit)
  envir <- environment_of_call(call, list(frame, environment(fit$formula)))
  lost <- function(error = NULL) {
    stop_input("x", "cannot be fitted again, because its data are not as they were: ",
      because = if (is.null(error)) simpleError("they have other rows") else error)
  }
  rows <- tryCatch({
    data <- eval(call$data, envir)
    size <- NROW(eval(fit$formula[[2L]], data, environment(fit$formula)))
    match(rownames(fit$frame), if (is.data.frame(data)) rownames(data) else seq_len(size))
  }, error = lost)
  if (anyNA(rows)) lost()
  all <- if (is.data.frame(data)) nrow(data) else size
  settings <- list(formula = fit$formula, iter = fit$iter, warmup = fit$warmup, chains = fit$chains,
    seed = fit$seed, progress = FALSE, weights = quote(.kfold_weights),
    control = warp_control(thin = fit$thin, sparse = if (is.null(fit$given$sparse)) FALSE else fit$given$sparse))
  call[names(settings)] <- settings
  list(data = if (is.data.frame(data)) data[rows, , drop = FALSE] else data, fit = function(weights) {
    # A column of the data is left out with the rows that `subset` and `na.action` leave out.
    data[[".kfold_weights"]] <- replace(numeric(all), rows, weights)
    call$data <- as.name(".kfold_data")
    again <- eval(call, list(.kfold_data = data), envir)
    if (!identical(again$response$observed, fit$response$observed)) lost()
    if (isTRUE(again$interrupted)) stop_input("x", "was not fitted to all folds, because of an interrupt")
    again
  })
}

kfold_groups <- function(fit, group, data) {
  if (is.character(group) && length(group) == 1L) {
    known <- if (group %in% names(data)) data else fit$frame
    if (!group %in% names(known)) stop_input("group", "is ", show_value(group), ", which is no variable of the data")
    group <- known[[group]]
  }
  group <- by_rows(group, fit$frame, "group")
  if (!is.atomic(group) || length(group) != fit$rows || anyNA(group)) {
    stop_input("group", "must be the name of a variable, or a value for each of the ", fit$rows,
      " rows that were fitted, not ", show_value(group))
  }
  match(group, unique(group))
}

check_folds <- function(folds, fit, point, has_part) {
  folds <- by_rows(folds, fit$frame, "folds")
  if (!is.numeric(folds) || length(folds) != fit$rows || anyNA(folds) || any(folds != floor(folds) | folds < 1)) {
    stop_input("folds", "must be whole numbers from 1, one for each of the ", fit$rows, " rows that were fitted, not ",
      show_value(folds))
  }
  if (length(unique(folds[has_part])) < 2L) stop_input("folds", "must have at least two folds with rows that count")
  if (any(folds != folds[match(point, point)])) stop_input("folds", "divides a group between folds")
  as.integer(folds)
}

# The log of the mean likelihood of rows over the draws of `fit`, with the weights of `original`.
log_mean_densities <- function(fit, rows, original) {
  used <- draws_used(fit, NULL)
  unlist(for_blocks(fit, prediction_rows(fit, NULL), used, rows, function(linear, block) {
    values <- matrix(row_log_likelihood(fit, linear, used, block, original$response, original$weights), length(used))
    most <- apply(values, 2L, max)
    most[!is.finite(most)] <- 0
    most + log(colMeans(exp(values - rep(most, each = length(used)))))
  }), use.names = FALSE)
}
