#' Marginal means of a fitted regression by package emmeans
#'
#' Package emmeans shows posterior medians with highest posterior density intervals. Effects of groups are 0, and a
#' smooth has its mean over the observations. `type = "response"` gives probabilities or mean counts. For
#' `"multinomial"`, and for `"cratio"` with `mode = "prob"`, the classes are a factor named after the response:
#' `emmeans(fit, ~ x | class)`.
#' @param object a fit from [bayes_logit()].
#' @param ... arguments that package emmeans passes on.
#' @return What package emmeans needs.
#' @examples
#' if (requireNamespace("emmeans", quietly = TRUE) && requireNamespace("coda", quietly = TRUE)) {
#'   fit <- bayes_logit(am ~ wt + factor(vs), mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#'   emmeans::emmeans(fit, ~ vs, type = "response")
#' }
#' @name emm_basis.bayes_logit
NULL

#' @rdname emm_basis.bayes_logit
#' @exportS3Method emmeans::recover_data
recover_data.bayes_logit <- function(object, ...) {
  check_logit_fit(object, "object")
  frame <- object$frame
  if (family_of(object)$has_outcomes) {
    # emm_basis() refuses offsets. Here package emmeans would hide the reason.
    frame[["(offset)"]] <- NULL
    attr(attr(frame, "terms"), "offset") <- NULL
  }
  emmeans::recover_data(object$call, prediction_terms(object), object$na.action, frame = frame, ...)
}

#' @rdname emm_basis.bayes_logit
#' @param trms,xlev,grid terms, levels of factors, and the grid of predictors, which package emmeans makes.
#' @param mode for `"multinomial"`: `"prob"`, or `"latent"` for the linear predictors of all classes minus their
#'   average. The default for `"cratio"` is `"latent"`: linear predictors, averaged over the steps.
#' @exportS3Method emmeans::emm_basis
emm_basis.bayes_logit <- function(object, trms, xlev, grid, mode = c("prob", "latent"), ...) {
  check_logit_fit(object, "object")
  object <- regressions_of(object)[[1L]]
  family <- family_of(object)
  # Other packages pass modes that are for other models.
  mode <- if (!family$has_classes || missing(mode) && !family$has_outcomes) "latent" else mode
  mode <- check_choice(mode, "mode", c("prob", "latent"))
  if (family$has_outcomes && any(object$offset != 0)) {
    stop_input("object", "is a multinomial regression with offsets, which package emmeans has no place for")
  }
  frame <- stats::model.frame(trms, grid, na.action = stats::na.pass, xlev = xlev)
  x <- stats::model.matrix(trms, frame, contrasts.arg = object$contrasts)
  x <- family$new_rows(object, x)
  of_smooths <- utils::tail(object$design$center, length(unlist(lapply(object$design$smooths, `[[`, "columns"))))
  x <- cbind(x, matrix(of_smooths, nrow(x), length(of_smooths), byrow = TRUE))
  if (ncol(x) != ncol(object$design$x)) {
    stop_input("object", sprintf("has %d coefficients, but its formula gives %d: predictors in `sparse` have no grid",
      ncol(object$design$x), ncol(x)))
  }
  draws <- structure(coefficient_draws(object), n.chains = object$chains)
  misc <- family$scale
  if (family$has_outcomes || mode == "prob") {
    misc$ylevs <- stats::setNames(list(object$response$classes), deparse1(object$formula[[2L]]))
  }
  if (family$has_classes) {
    x <- family$grid(x, length(object$response$classes), mode)
    colnames(x) <- colnames(draws)
    if (mode == "prob") misc$postGridHook <- function(grid, ...) grid_of_probabilities(grid, family)
  }
  list(X = x, bhat = colMeans(draws), nbasis = nonestimable_basis(object), V = stats::var(draws),
    dffun = function(k, dfargs) Inf, dfargs = list(), misc = misc, post.beta = draws)
}

# Directions that the data do not determine, on which package emmeans marks cells as nonEst.
nonestimable_basis <- function(fit) {
  fit <- family_of(fit)$rows(fit)
  if (length(dependent_columns(fit)) == 0L) return(matrix(NA))
  x <- fit$design$x[fit$weights > 0, , drop = FALSE]
  used <- is_shown_coefficient(fit)[seq_len(ncol(x))]
  basis <- svd(x[, used, drop = FALSE] / rep(fit$design$scale[used], each = nrow(x)), nu = 0L, nv = sum(used))
  rank <- sum(basis$d > 1e-7 * basis$d[[1L]])
  basis <- rbind(basis$v[, -seq_len(rank), drop = FALSE] / fit$design$scale[used],
    matrix(0, sum(!used), sum(used) - rank))
  kronecker(diag(outcomes_of(fit)), basis)
}

grid_of_probabilities <- function(grid, family) {
  linear <- tcrossprod(grid@post.beta, grid@linfct)
  classes <- length(grid@levels[[grid@roles$multresp]])
  # Probabilities depend on the differences from the first linear predictor, and for steps on all but the last.
  linear <- array(linear, c(nrow(linear), ncol(linear) / classes, classes))
  share <- matrix(family$mean(family$of_grid(linear)), dim(linear)[[1L]])
  grid@post.beta <- structure(share, n.chains = attr(grid@post.beta, "n.chains"))
  grid@bhat <- colMeans(share)
  grid@V <- stats::var(share)
  grid@linfct <- diag(ncol(share))
  grid@misc$estName <- "prob"
  grid
}
