# What R's functions for models say of a fitted mixture: log_lik(), logLik(), nobs(), simulate(), update().

#' Log likelihoods, simulated cells and other things that R has for models
#'
#' `log_lik()` gives the log density of each cell under each draw, as package loo takes it: `loo::loo(log_lik(fit))`
#' estimates how well the fit predicts new cells, for example to compare priors. It has a column for each cell, so for
#' large samples choose rows or draws.
#'
#' `logLik()` is that of the reference draw (see [predict.dp_mixture()]), for [stats::BIC()] and the like; its degrees
#' of freedom are those of the components that hold a cell or more, with weights for each sample. `simulate()` draws
#' new samples of the size of the fitted one, each from the mixture of a kept draw that is chosen at random; cells of
#' several samples have the weights of theirs, in the order of the fitted cells. Likewise `log_lik()` and `logLik()`
#' of the fitted cells. `update()` fits again with other arguments. It takes the cells from the fit where they were
#' not transformed, and from the call otherwise.
#'
#' @param object a fit from [dp_mixture()] that kept weights, means and covariances.
#' @param newdata the cells, as in [predict.dp_mixture()]; `NULL` for those that were fitted.
#' @param draws number of kept draws to use, evenly spaced over all chains; `NULL` for all.
#' @param nsim number of samples.
#' @param seed one whole number for [set.seed()], or `NULL`.
#' @param evaluate for `update()`: `FALSE` gives the call instead of the fit.
#' @param ... for `update()`: arguments of [dp_mixture()] to change. Otherwise not used.
#' @inheritParams predict.dp_mixture
#' @return `log_lik()`: a matrix, draws x cells; with all draws these are chain after chain, so that
#'   `rep(seq_len(fit$chains), each = nrow(.) / fit$chains)` are the chains. Densities are per unit of the transformed
#'   values. `logLik()`: a number of class `logLik`. `nobs()`: the number of cells. `simulate()`: a list of `nsim`
#'   matrices, cells x markers, in the data's units. `update()`: a fit.
#' @section Errors:
#' As in [predict.dp_mixture()]; `warpbayes_error_memory` where the matrix needs more memory than there is.
#' @examples
#' set.seed(1)
#' x <- rbind(matrix(rnorm(600), ncol = 2), matrix(rnorm(400, mean = 4), ncol = 2))
#' fit <- dp_mixture(x, components = 10, iter = 200, seed = 1, threads = 2)
#' dim(log_lik(fit, draws = 20, threads = 2))
#' BIC(fit)
#' colMeans(simulate(fit, seed = 1)[[1]])
#' update(fit, components = 4)
#' @name log_lik.dp_mixture
NULL

#' @rdname log_lik.dp_mixture
#' @rawNamespace S3method(rstantools::log_lik, dp_mixture)
#' @export
log_lik.dp_mixture <- function(object, newdata = NULL, draws = NULL, sample = NULL, backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  call <- sys.call()
  need_draws(object, c("weights", "means", "covariances"))
  if (!is.null(draws)) {
    draws <- check_count(draws, "draws")
  }
  x <- cells_of(object, newdata, call = call)
  run <- resolve_run(backend, threads, call = call)
  used <- spaced_draws(object, draws)
  check_result_size(as.double(nrow(used)) * nrow(x), "draws", "log densities", call, copies = 1)
  result <- matrix(0, nrow(used), nrow(x), dimnames = if (!is.null(rownames(x))) list(NULL, rownames(x)))
  sample <- sample_of_cells(object, sample, nrow(x), is.null(newdata), call)
  # 2^24 log densities at a time: 128 MB.
  for (slice in row_slices(nrow(x), max(1, floor(2^24 / nrow(used))))) {
    evaluate_sampled(object, cells_in(x, slice), sample[slice], run, function(evaluate) {
      for (i in seq_len(nrow(used))) {
        result[i, slice] <<- evaluate(mixture_of_draw(object, used$draw[[i]], used$chain[[i]]), "log_density")$log_density
      }
    })
  }
  result
}

#' @rdname log_lik.dp_mixture
#' @importFrom stats logLik
#' @export
logLik.dp_mixture <- function(object, backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  call <- sys.call()
  x <- cells_of(object, NULL, argument = "object", call = call)
  reference <- reference_draw(object)
  run <- resolve_run(backend, threads, call = call)
  p <- length(object$markers)
  density <- vapply(row_slices(nrow(x)), function(slice) sum(evaluate_mixture(object, reference, cells_in(x, slice), "log_density", run, object$sample[slice])), 0)
  used <- max(1, sum(reference$weights * object$rows >= 1))
  weights <- max(1, length(object$samples)) * (used - 1)
  structure(sum(density), df = used * (p + p * (p + 1) / 2) + weights, nobs = object$rows, class = "logLik")
}

#' @rdname log_lik.dp_mixture
#' @importFrom stats nobs
#' @export
nobs.dp_mixture <- function(object, ...) {
  check_dots_empty(...)
  object$rows
}

#' @rdname log_lik.dp_mixture
#' @importFrom stats simulate
#' @export
simulate.dp_mixture <- function(object, nsim = 1, seed = NULL, ...) {
  check_dots_empty(...)
  nsim <- check_count(nsim, "nsim")
  need_draws(object, c("weights", "means", "covariances"))
  if (!is.null(seed)) {
    set.seed(seed)
  }
  all <- spaced_draws(object)
  used <- sample(nrow(all), nsim, replace = nsim > nrow(all))
  simulated <- lapply(used, function(i) simulate_cells(object, mixture_of_draw(object, all$draw[[i]], all$chain[[i]])))
  stats::setNames(simulated, paste0("sim_", seq_len(nsim)))
}

simulate_cells <- function(fit, mixture) {
  p <- length(fit$markers)
  component <- if (is.null(fit$samples)) {
    sample.int(fit$components, fit$rows, replace = TRUE, prob = mixture$weights)
  } else {
    rows <- split(seq_len(fit$rows), fit$sample)
    drawn <- lapply(seq_along(rows), function(s) sample.int(fit$components, length(rows[[s]]), replace = TRUE, prob = mixture$sample_weights[, s]))
    unsplit(drawn, fit$sample)
  }
  x <- matrix(stats::rnorm(fit$rows * p), fit$rows, p, dimnames = list(NULL, fit$markers))
  for (j in unique(component)) {
    rows <- which(component == j)
    x[rows, ] <- x[rows, , drop = FALSE] %*% chol(as.matrix(mixture$covariances[, , j])) + rep(mixture$means[j, ], each = length(rows))
  }
  in_data_units(fit, x)
}

# Cells in the fit's units as they were before the transformation.
in_data_units <- function(fit, x) {
  if (is.null(fit$transform)) x else sinh(x) * rep(fit$transform$cofactor, each = nrow(x))
}

#' @rdname log_lik.dp_mixture
#' @importFrom stats update
#' @export
update.dp_mixture <- function(object, ..., evaluate = TRUE) {
  evaluate <- check_flag(evaluate, "evaluate")
  changed <- match.call(expand.dots = FALSE)$...
  if (length(changed) && (is.null(names(changed)) || !all(nzchar(names(changed))))) {
    stop_input("...", "must be arguments of dp_mixture() with their names")
  }
  call <- match.call(dp_mixture, object$call)
  call[names(changed)] <- changed
  if (!evaluate) {
    return(call)
  }
  frame <- parent.frame()
  if (is.null(object$x) || !is.null(object$transform) || "x" %in% names(changed)) {
    return(eval(call, frame))
  }
  # The fitted cells themselves, which have the chosen markers only.
  if (!"markers" %in% names(changed)) {
    call$markers <- NULL
  }
  shown <- call$x
  call$x <- object$x
  samples <- call$sample
  if (!is.null(object$samples) && !"sample" %in% names(changed)) {
    call$sample <- factor(object$sample, seq_along(object$samples), object$samples)
  }
  fit <- eval(call, frame)
  fit$call["x"] <- list(shown)
  fit$call["sample"] <- list(samples)
  fit
}
