# Classes, probabilities and densities of new cells under a fitted mixture.

#' Classify new cells, or give their density
#'
#' Classes and probabilities are computed from one draw, cell types and densities from many.
#'
#' The same population may have different numbers in different draws, so classes cannot be
#' averaged over draws. They come from the **reference draw**: the kept draw with the highest
#' log posterior of all chains. `type = "class"` is the component with the highest probability
#' for the cell in that draw, `type = "prob"` the probabilities of all components.
#' [relabel()] gives components the same numbers in all draws; its result predicts averages.
#' `type = "type"` is the most probable of the types that [cell_types()] finds with its defaults.
#' The density does not depend on how components are numbered: `type = "log_density"` is the log
#' of the mixture density averaged over draws, \eqn{\log \frac1D \sum_d g(x \mid \theta_d)},
#' the posterior predictive density.
#'
#' Markers are found by name: `newdata` may have them in any order and may have other columns too.
#' Where `newdata` has no column names they are taken by position. The transformation of the fit
#' is applied. Densities are per unit of the transformed
#' values.
#'
#' Beyond the cells, memory is needed for the result and, for `"class"` and `"prob"`, for a copy of 262,144 cells at a
#' time. Only the result of `type = "prob"` is of size cells x components. `"class"` and `"prob"` take the time of
#' about one sweep, and `"log_density"` that of about one sweep for each draw: use fewer `draws` where that is too
#' long.
#'
#' @param object a fit from [dp_mixture()] that kept weights, means and covariances.
#' @param newdata the cells, in any of the forms that [dp_mixture()] takes; `NULL` for
#'   those that were fitted.
#' @param type what to return.
#' @param draws for `"log_density"` and `"type"`: average over this many kept draws, evenly
#'   spaced over all chains; `NULL` for all of them, or for 50 with `"type"`.
#' @param sample for a fit of several samples: the sample of the cells, one name, or one for each cell. `NULL`: the
#'   fitted cells are of their own samples, and other cells of the mixture of all samples, each weighted by its number
#'   of cells; with `FALSE` the fitted cells too. Types, `type = "type"`, are always those of the mixture of all
#'   samples.
#' @inheritParams dp_mixture
#' @param ... not used.
#' @return One entry or row per cell, named as the rows of `newdata` are:
#'   `"class"`: an integer vector, 1 to the number of components;
#'   `"type"`: an integer vector, 1 for the most frequent type;
#'   `"prob"`: a matrix, cells x components, rows summing to one;
#'   `"log_density"`: a numeric vector.
#' @section Errors:
#' `warpbayes_error_input` where `newdata` cannot be read, lacks a marker of the fit or has a value
#' that is not finite (the message names the marker, or the row and column), and where the fit did
#' not keep the draws that are needed; `warpbayes_error_memory`
#' where the probabilities, cells x components, need more memory than there is.
#' @examples
#' set.seed(1)
#' x <- rbind(matrix(rnorm(600), ncol = 2), matrix(rnorm(400, mean = 4), ncol = 2))
#' fit <- dp_mixture(x, components = 10, iter = 200, seed = 1, threads = 2)
#' table(predict(fit, threads = 2))
#' predict(fit, rbind(c(0, 0), c(4, 4), c(40, 40)), type = "log_density", threads = 2)
#' @importFrom stats predict
#' @export
predict.dp_mixture <- function(object, newdata = NULL, type = c("class", "type", "prob", "log_density"), draws = NULL, sample = NULL,
                               backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  type <- check_choice(type, "type", c("class", "type", "prob", "log_density"))
  need_draws(object, c("weights", "means", "covariances"))
  if (!is.null(draws)) {
    draws <- check_count(draws, "draws")
  }
  call <- sys.call()
  x <- cells_of(object, newdata, call = call)
  run <- resolve_run(backend, threads, call = call)
  sample <- sample_of_cells(object, sample, nrow(x), is.null(newdata), call)
  if (type == "type") {
    types <- default_types(object, draws, run, call)
    result <- most_probable_type(object, types, x, run)$type
    names(result) <- rownames(x)
    return(result)
  }
  if (type == "log_density") {
    result <- mean_log_density(object, spaced_draws(object, draws), x, run, sample)
    names(result) <- rownames(x)
    return(result)
  }
  reference <- reference_draw(object)
  rows <- nrow(x)
  if (type == "prob") {
    check_result_size(as.double(rows) * object$components, NULL, "probabilities", call, copies = 2)
  }
  result <- switch(type,
    class = integer(rows),
    prob = matrix(0, rows, object$components, dimnames = list(NULL, seq_len(object$components)))
  )
  for (slice in row_slices(rows)) {
    cells <- cells_in(x, slice)
    if (type == "prob") {
      result[slice, ] <- evaluate_mixture(object, reference, cells, "prob", run, sample[slice])
    } else {
      result[slice] <- evaluate_mixture(object, reference, cells, "class", run, sample[slice])
    }
  }
  if (!is.null(rownames(x))) {
    if (type == "prob") rownames(result) <- rownames(x) else names(result) <- rownames(x)
  }
  result
}
