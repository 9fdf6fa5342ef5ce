# Cells with missing values: which they are, and the columns without them.

#' Mixtures of cells with missing values
#'
#' `dp_mixture(x, missing = "model")` takes cells with values that are `NA` or `NaN`. The missing values are unknowns of
#' the model, like the parameters. The known values of each cell are all used.
#'
#' @section The model:
#' The component of a cell is drawn by the density of the known values. Then the missing values are drawn from their
#' normal distribution given the known values and the component (Little and Rubin 2019).
#'
#' This is right if values are *missing at random*: whether a value is missing may depend on known values, but not on
#' the missing value itself. Values below a detector's threshold, for example, are not missing at random.
#'
#' A marker without any value is an error. Cells without any value are kept, with a warning. Their components are
#' drawn by the weights and the floor of [dp_prior()] alone. Infinite values are always errors.
#'
#' @section What comes back:
#' `log_likelihood`, [predict.dp_mixture()], [log_lik()], [cell_types()], [relabel()] and the other functions use the
#' density of the known values. They also take new cells with missing values. Plots leave out a cell if one of the two
#' markers is missing. [simulate()] gives cells without missing values.
#'
#' @section Time and memory:
#' Cells that lack the same markers share their matrices. A cell with missing values takes three times as long as a
#' whole cell, or up to six times if few cells lack the same markers (`bench/mixture-missing.R`). Memory grows by 24
#' bytes per cell with missing values, and 8 bytes per missing value. On a graphics card, all cells must fit into its
#' memory.
#'
#' @references
#' Little, R. J. A. and Rubin, D. B. (2019). *Statistical Analysis with Missing Data*, third edition. Wiley.
#' @seealso [dp_mixture()]
#' @examples
#' set.seed(1)
#' x <- cbind(CD4 = c(rnorm(300), rnorm(200, 5)), CD8 = c(rnorm(300), rnorm(200, 5)))
#' x[sample(length(x), 100)] <- NA
#' fit <- dp_mixture(x, components = 6, missing = "model", iter = 100, seed = 1, threads = 2)
#' fit
#' # A cell whose CD8 is not known.
#' predict(fit, cbind(CD4 = 5, CD8 = NA_real_), type = "log_density", threads = 2)
#' @name mixture_missing
NULL

warn_empty_rows <- function(x) {
  if (!anyNA(x)) return(invisible())
  empty <- which(!known_rows(x, any = TRUE))
  if (length(empty)) {
    warning(sprintf("`x` has %s without any value%s row %.0f: nothing is learned from %s",
      count_words(length(empty), "row"), if (length(empty) > 1L) ", the first of them" else ",", empty[[1L]],
      if (length(empty) > 1L) "them" else "it"
    ), call. = FALSE)
  }
}

# Which rows lack no value or, with `any = TRUE`, which rows have some value. This goes column by column to save memory.
known_rows <- function(x, any = FALSE) {
  found <- rep(!any, nrow(x))
  for (j in seq_len(ncol(x))) {
    known <- !is.na(x[, j])
    found <- if (any) found | known else found & known
  }
  found
}
