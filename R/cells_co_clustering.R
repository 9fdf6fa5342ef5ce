# Pairs of cells that are of the same component or type.

#' How probably pairs of cells belong together
#'
#' Gives the posterior probability that two cells belong to the same component or, given [cell_types()], to the same
#' type: the mean over draws \eqn{d} of \eqn{\sum_j p_{dj}(x) p_{dj}(y)} with their probabilities \eqn{p_{dj}}.
#' @param fit a fit from [dp_mixture()] that kept weights, means and covariances, or cell types from [cell_types()].
#' @param cells which rows of the fitted data, or of `newdata`; `NULL`: all.
#' @param newdata other cells, as in [predict.dp_mixture()]; `NULL`: those that were fitted.
#' @param ndraws number of kept draws to average over; `NULL`: all. Cell types have their own draws.
#' @inheritParams computing_arguments
#' @return A symmetric matrix of class `co_clustering` with 1 on the diagonal. Its [verdict()] is that of `fit`.
#' @examples
#' set.seed(1)
#' x <- rbind(matrix(rnorm(600), ncol = 2), matrix(rnorm(400, mean = 5), ncol = 2))
#' fit <- dp_mixture(x, components = 6, iter = 200, seed = 1, threads = 2)
#' round(co_clustering(fit, cells = c(1, 2, 301, 302), threads = 2), 2)
#' @export
co_clustering <- function(fit, cells = NULL, newdata = NULL, ndraws = 50, backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  require_arguments("fit")
  types <- if (inherits(fit, "cell_types")) fit
  if (!is.null(types)) fit <- types$fit
  if (!inherits(fit, "dp_mixture")) {
    stop_input("fit", "must come from dp_mixture() or cell_types(), not ", show_value(fit))
  }
  need_sampler(fit, "there is nothing to average over")
  need_draws(fit)
  ndraws <- check_ndraws(ndraws)
  x <- cells_of(fit, newdata)
  if (!is.null(cells)) {
    if (!is.numeric(cells) || anyNA(cells) || any(cells < 1 | cells > nrow(x) | cells != floor(cells))) {
      stop_input("cells", sprintf("must be rows from 1 to %s, not ", format(nrow(x))), show_value(cells))
    }
    x <- x[cells, , drop = FALSE]
  }
  check_result_size(as.double(nrow(x))^2, "cells", "probabilities", copies = 3)
  run <- resolve_run(backend, threads)
  used <- if (is.null(types)) spaced_draws(fit, ndraws) else types$map$used
  names <- if (is.null(rownames(x))) cells else rownames(x)
  # Some columns at a time: R heeds time limits and interrupts only between products.
  parts <- split(seq_len(nrow(x)), ceiling(seq_len(nrow(x)) * nrow(x) / 1e7))
  same <- rep(list(0), length(parts))
  evaluate_cells(fit, x, run, function(evaluate) {
    for (i in seq_len(nrow(used))) {
      prob <- evaluate(mixture_of_draw(fit, used$draw[[i]], used$chain[[i]]), "prob")$prob
      if (!is.null(types)) prob <- t(rowsum(t(prob), types$map$type_of[, i]))
      for (part in seq_along(parts)) {
        let_stop()
        products <- if (length(parts) == 1L) tcrossprod(prob) else tcrossprod(prob, prob[parts[[part]], , drop = FALSE])
        same[[part]] <<- pmin(same[[part]] + products / nrow(used), 1)
      }
    }
  })
  same <- matrix(as.double(unlist(same)), nrow(x))
  dimnames(same) <- if (!is.null(names)) list(names, names)
  diag(same) <- 1
  structure(same, class = c("co_clustering", "matrix", "array"),
    verdict = new_verdict("the probabilities", rests_on = list(verdict(if (is.null(types)) fit else types))))
}

#' @export
print.co_clustering <- function(x, ...) {
  print(structure(unclass(x), verdict = NULL), ...)
  print_verdict(verdict(x))
  invisible(x)
}
