# R's functions for models: log_lik(), logLik(), nobs(), simulate(), update().

#' Log likelihoods, simulated cells and updates of a mixture
#'
#' `log_lik()` gives the log density of each cell under each draw, for package loo. `logLik()` is the log likelihood of
#' the reference draw (see [predict.dp_mixture()]). `simulate()` draws data sets of the fitted size, each from a random
#' kept draw. `update()` fits again with other arguments.
#' @inheritParams predict.dp_mixture
#' @param ndraws number of kept draws to use, evenly spaced over all chains; `NULL`: all.
#' @param nsim number of simulated data sets.
#' @param seed one whole number for [set.seed()], or `NULL`.
#' @param evaluate for `update()`: `FALSE` gives the call instead of the fit.
#' @param ... for `update()`: arguments of [dp_mixture()] to change. Otherwise not used.
#' @inheritParams computing_arguments
#' @return `log_lik()`: a matrix, draws (chain after chain) x cells, per unit of the transformed values. `logLik()`: a
#'   number. `nobs()`: the number of cells. `simulate()`: `nsim` matrices, cells x markers, in the data's units.
#' @examples
#' set.seed(1)
#' x <- rbind(matrix(rnorm(600), ncol = 2), matrix(rnorm(400, mean = 4), ncol = 2))
#' fit <- dp_mixture(x, components = 10, iter = 200, seed = 1, threads = 2)
#' dim(log_lik(fit, ndraws = 20, threads = 2))
#' BIC(fit)
#' colMeans(simulate(fit, seed = 1)[[1]])
#' @name log_lik.dp_mixture
NULL

#' @rdname log_lik.dp_mixture
#' @rawNamespace S3method(rstantools::log_lik, dp_mixture)
#' @export
log_lik.dp_mixture <- function(object, newdata = NULL, ndraws = NULL, sample = NULL, backend = NULL, threads = NULL,
                               ...) {
  check_dots_empty(...)
  need_draws(object)
  ndraws <- check_ndraws(ndraws)
  x <- cells_of(object, newdata)
  used <- spaced_draws(object, ndraws)
  run <- resolve_run(backend, threads, cost = density_cost(nrow(x), ncol(x), object$components, nrow(used)))
  check_result_size(as.double(nrow(used)) * nrow(x), "ndraws", "log densities", copies = 1)
  result <- matrix(0, nrow(used), nrow(x), dimnames = if (!is.null(rownames(x))) list(NULL, rownames(x)))
  sample <- sample_of_cells(object, sample, x, is.null(newdata))
  # 2^24 log densities at a time: 128 MB.
  for (slice in row_slices(nrow(x), max(1, floor(2^24 / nrow(used))))) {
    evaluate_sampled(object, cells_in(x, slice), sample[slice], run, function(evaluate) {
      for (i in seq_len(nrow(used))) {
        mixture <- mixture_of_draw(object, used$draw[[i]], used$chain[[i]])
        result[i, slice] <<- evaluate(mixture, "log_density")$log_density
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
  x <- cells_of(object, NULL, argument = "object")
  reference <- reference_draw(object)
  run <- resolve_run(backend, threads)
  p <- length(object$markers)
  density <- vapply(row_slices(nrow(x)), function(slice) {
    sum(evaluate_mixture(object, reference, cells_in(x, slice), "log_density", run, object$sample[slice]))
  }, 0)
  used <- max(1, sum(reference$weights * object$rows >= 1))
  weights <- max(1, length(object$samples)) * (used - 1)
  structure(sum(density), df = used * (p + p * (p + 1) / 2) + weights, nobs = object$rows, class = "logLik")
}

#' @rdname log_lik.dp_mixture
#' @importFrom stats nobs
#' @export
nobs.dp_mixture <- function(object, ...) {
  check_method(object, "object", ...)
  object$rows
}

#' @rdname log_lik.dp_mixture
#' @importFrom stats simulate
#' @export
simulate.dp_mixture <- function(object, nsim = 1, seed = NULL, ...) {
  check_dots_empty(...)
  nsim <- check_count(nsim, "nsim")
  need_draws(object)
  check_result_size(nsim * as.double(object$rows) * length(object$markers), "nsim", "simulated values")
  draw_with_seed(seed, {
    all <- spaced_draws(object)
    used <- sample(nrow(all), nsim, replace = nsim > nrow(all))
    stats::setNames(lapply(used, function(i) {
      simulate_cells(object, mixture_of_draw(object, all$draw[[i]], all$chain[[i]]))
    }), paste0("sim_", seq_len(nsim)))
  })
}

simulate_cells <- function(fit, mixture) {
  p <- length(fit$markers)
  draw <- function(count, weights) sample.int(fit$components, count, replace = TRUE, prob = weights)
  component <- if (is.null(fit$samples)) {
    draw(fit$rows, mixture$weights)
  } else {
    rows <- split(seq_len(fit$rows), fit$sample)
    unsplit(lapply(seq_along(rows), function(s) draw(length(rows[[s]]), mixture$sample_weights[, s])), fit$sample)
  }
  x <- matrix(stats::rnorm(fit$rows * p), fit$rows, p, dimnames = list(NULL, fit$markers))
  for (j in unique(component)) {
    rows <- which(component == j)
    root <- chol(as.matrix(mixture$covariances[, , j]))
    x[rows, ] <- x[rows, , drop = FALSE] %*% root + rep(mixture$means[j, ], each = length(rows))
  }
  in_data_units(fit, x)
}

in_data_units <- function(fit, x) {
  for (j in if (!is.null(fit$transform)) seq_len(ncol(x))) x[, j] <- data_values(x[, j], fit$transform, j)
  x
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
  if (!evaluate) return(call)
  frame <- parent.frame()
  if (is.null(object$x) || !is.null(object$transform) || "x" %in% names(changed)) return(eval(call, frame))
  if (!"markers" %in% names(changed)) call$markers <- NULL
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
