# Classes, probabilities and densities of new cells under a fitted mixture.

#' Classify new cells, or give their density
#'
#' Gives each cell's component, cell type, probabilities of all components, or density.
#' @param object a fit from [dp_mixture()] that kept weights, means and covariances.
#' @param newdata the cells, in any form that [dp_mixture()] takes; `NULL`: those that were fitted. Markers are found by
#'   name or, without column names, by position. The fit's transformation is applied.
#' @param type what to return; see below.
#' @param ndraws for `"log_density"` and `"type"`: the number of kept draws to average over, evenly spaced over all
#'   chains; `NULL`: all, or 50 for `"type"`.
#' @param sample for a fit of [several samples][mixture_samples]: the sample of the cells, one name or one for each
#'   cell. `NULL`: for fitted cells their own, otherwise all together. `FALSE`: all together, as for `type = "type"`.
#' @inheritParams computing_arguments
#' @return One entry or row per cell, named as the rows of `newdata`:
#' * `"class"`: the most probable component in the reference draw.
#' * `"prob"`: a matrix, cells x components: the probabilities in the reference draw.
#' * `"type"`: the number of the most probable type of [cell_types()] with its defaults. 1 is the most frequent.
#' * `"log_density"`: the log of the posterior predictive density, per unit of the transformed values.
#'
#' The **reference draw** is the kept draw with the highest log posterior of all chains.
#' @section Errors:
#' `warpbayes_error_input` if `newdata` lacks a marker or has a value that is not finite, or if draws were not kept.
#' @examples
#' set.seed(1)
#' x <- rbind(matrix(rnorm(600), ncol = 2), matrix(rnorm(400, mean = 4), ncol = 2))
#' fit <- dp_mixture(x, components = 10, iter = 200, seed = 1, threads = 2)
#' table(predict(fit, threads = 2))
#' @importFrom stats predict
#' @export
predict.dp_mixture <- function(object, newdata = NULL, type = c("class", "type", "prob", "log_density"), ndraws = NULL,
                               sample = NULL, backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  type <- check_choice(type, "type", c("class", "type", "prob", "log_density"))
  need_draws(object)
  ndraws <- check_ndraws(ndraws)
  x <- cells_of(object, newdata)
  used <- if (type == "class" || type == "prob") 1 else nrow(spaced_draws(object, ndraws))
  run <- resolve_run(backend, threads, cost = density_cost(nrow(x), ncol(x), object$components, used))
  sample <- sample_of_cells(object, sample, x, is.null(newdata))
  if (type == "prob") check_result_size(as.double(nrow(x)) * object$components, NULL, "probabilities", copies = 2)
  result <- switch(type,
    type = most_probable_type(object, default_types(object, ndraws, run), x, run)$type,
    log_density = mean_log_density(object, spaced_draws(object, ndraws), x, run, sample),
    evaluate_slices(object, x, type, run, sample)
  )
  if (type != "prob") return(stats::setNames(result, rownames(x)))
  dimnames(result) <- list(rownames(x), seq_len(object$components))
  result
}

evaluate_slices <- function(fit, cells, what, run, sample) {
  reference <- reference_draw(fit)
  fill <- function(evaluate) {
    result <- if (what == "prob") matrix(0, nrow(cells), fit$components) else integer(nrow(cells))
    for (slice in row_slices(nrow(cells))) {
      part <- if (is.null(sample)) evaluate(reference, what, list(first = slice[[1L]], rows = length(slice)))[[what]]
      if (is.null(part)) part <- evaluate_mixture(fit, reference, cells_in(cells, slice), what, run, sample[slice])
      if (what == "prob") result[slice, ] <- part else result[slice] <- part
    }
    result
  }
  if (is.null(sample) && nrow(cells)) evaluate_cells(fit, cells, run, fill) else fill()
}
