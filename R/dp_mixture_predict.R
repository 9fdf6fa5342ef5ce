# Classes, probabilities and densities of new cells under a fitted mixture.

# Cells that are worked on at a time: bounds the memory of a slice, and how long R
# cannot be interrupted.
predict_slice <- 2^18

#' Classify new cells, or give their density
#'
#' Classes and probabilities come from one draw, densities from all that were kept.
#'
#' Components have no fixed numbers over draws, so classes cannot be averaged. They
#' come from the **reference draw**: the kept draw with the highest log posterior
#' among all chains. `type = "class"` is the component with the highest probability
#' for the cell in that draw, `type = "prob"` the probabilities of all components.
#' The density does not depend on numbers: `type = "log_density"` is the log of the
#' mixture density averaged over draws, \eqn{\log \frac1D \sum_d g(x \mid \theta_d)},
#' the posterior predictive density.
#'
#' Cells are read as [dp_mixture()] read them: markers are found by name, in any
#' order and among others, or by position where `newdata` has no column names; the
#' transformation of the fit is applied. Densities are per unit of the transformed
#' values.
#'
#' Memory beyond the cells is that of the result, a slice of 262,144 cells, and a
#' double for each of its values. Only `type = "prob"` needs cells x components.
#' Time is that of one sweep for `"class"` and `"prob"`, and of one sweep per draw
#' for `"log_density"`: give `draws` where that is too long.
#'
#' @param object a fit from [dp_mixture()] that kept weights, means and covariances.
#' @param newdata the cells, in any of the forms that [dp_mixture()] takes; `NULL` for
#'   those that were fitted.
#' @param type what to return.
#' @param draws for `"log_density"`: average over this many kept draws, evenly
#'   spaced over all chains; `NULL` for all.
#' @inheritParams dp_mixture
#' @param ... not used.
#' @return One entry or row per cell, named as the rows of `newdata` are:
#'   `"class"`: an integer vector, 1 to the number of components;
#'   `"prob"`: a matrix, cells x components, rows summing to one;
#'   `"log_density"`: a numeric vector.
#' @section Errors:
#' `warpbayes_error_input` where `newdata` cannot be read, lacks a
#' marker of the fit (named) or has a value that is not finite (row and column
#' named), and where the fit did not keep the draws that are needed; `warpbayes_error_memory`
#' where the cells x components probabilities exceed memory.
#' @examples
#' set.seed(1)
#' x <- rbind(matrix(rnorm(600), ncol = 2), matrix(rnorm(400, mean = 4), ncol = 2))
#' fit <- dp_mixture(x, components = 10, iter = 200, seed = 1, threads = 2)
#' table(predict(fit, threads = 2))
#' predict(fit, rbind(c(0, 0), c(4, 4), c(40, 40)), type = "log_density", threads = 2)
#' @importFrom stats predict
#' @export
predict.dp_mixture <- function(object, newdata = NULL, type = c("class", "prob", "log_density"), draws = NULL,
                               backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  type <- check_choice(type, "type", c("class", "prob", "log_density"))
  need_draws(object, c("weights", "means", "covariances"))
  if (!is.null(draws)) {
    draws <- check_count(draws, "draws")
  }
  call <- sys.call()
  x <- cells_of(object, newdata, call = call)
  run <- resolve_run(backend, threads, call = call)
  if (type == "log_density") {
    used <- spaced_draws(object, draws)
  } else {
    reference <- reference_draw(object)
    used <- data.frame(draw = reference$draw, chain = reference$chain)
  }
  rows <- nrow(x)
  if (type == "prob") {
    check_result_size(as.double(rows) * object$components, NULL, "probabilities", call, copies = 2)
  }
  result <- switch(type,
    class = integer(rows),
    prob = matrix(0, rows, object$components, dimnames = list(NULL, seq_len(object$components))),
    log_density = numeric(rows)
  )
  for (first in seq(1, length.out = ceiling(rows / predict_slice), by = predict_slice)) {
    slice <- seq(first, min(rows, first + predict_slice - 1))
    cells <- if (length(slice) == rows) x else x[slice, , drop = FALSE]
    if (type == "prob") {
      result[slice, ] <- evaluate_draw(object, used, 1L, cells, "prob", run)
    } else if (type == "class") {
      result[slice] <- evaluate_draw(object, used, 1L, cells, "class", run)
    } else {
      result[slice] <- mean_log_density(object, used, cells, run)
    }
  }
  if (!is.null(rownames(x))) {
    if (type == "prob") rownames(result) <- rownames(x) else names(result) <- rownames(x)
  }
  result
}

evaluate_draw <- function(fit, used, i, cells, what, run) {
  draw <- draw_parameters(fit, used$draw[[i]], used$chain[[i]])
  mixture_evaluate_rows(
    cells, fit$center, fit$scale, draw$weights, draw$means, draw$covariances, what, run, fit$precision
  )[[what]]
}

# log of the mean over draws of the density, one draw at a time.
mean_log_density <- function(fit, used, cells, run) {
  top <- rep(-Inf, nrow(cells))
  total <- numeric(nrow(cells))
  for (i in seq_len(nrow(used))) {
    value <- evaluate_draw(fit, used, i, cells, "log_density", run)
    higher <- pmax(top, value)
    # A cell so far out that its log density is -Inf in all draws so far.
    unseen <- higher == -Inf
    total <- ifelse(unseen, 0, total * exp(top - higher) + exp(value - higher))
    top <- higher
  }
  top + log(total) - log(nrow(used))
}

# `count` of the kept draws, evenly spaced over the chains laid end to end.
spaced_draws <- function(fit, count = NULL) {
  all <- expand.grid(draw = seq_len(nrow(fit$draws$concentration)), chain = seq_len(ncol(fit$draws$concentration)))
  if (is.null(count) || count >= nrow(all)) {
    return(all)
  }
  all[ceiling((seq_len(count) - 0.5) * nrow(all) / count), ]
}
