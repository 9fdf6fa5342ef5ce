#' Draws from many discrete distributions
#'
#' Draws one item from each row of a matrix of weights, or many items from one vector of weights (Steele and Tristan
#' 2017, \doi{10.1145/3018743.3018757}). Draw `d` of row `i` depends only on the seed, `i`, `d` and the row's weights,
#' and with `precision = "double"` is the same on a graphics card.
#'
#' @param weights a numeric, integer or logical matrix (also a sparse one of Matrix) whose rows are distributions, or
#'   a vector for one distribution. Weights are finite, from 0, in no row all 0. They need not sum to 1.
#' @param draws number of draws from each distribution.
#' @param log whether `weights` are logarithms, `-Inf` for a weight of zero. Not for sparse matrices.
#' @inheritParams computing_arguments
#' @param precision `"double"` or `"single"`: the precision of sums and uniform numbers. In single precision, items less
#'   probable than about 1e-7 may never be drawn.
#' @param ... must be empty.
#' @return Items as integers from 1: for a vector, a vector of length `draws`; for a matrix, a vector with an item for
#'   each row, or for more draws a matrix with a column for each. Row names are kept.
#' @examples
#' weights <- rbind(c(1, 0, 0), c(0, 1, 1), c(5, 3, 2))
#' rcategorical(weights, seed = 1, threads = 2)
#' table(rcategorical(c(a = 5, b = 3, c = 2), draws = 1000, seed = 1, threads = 2))
#' @export
rcategorical <- function(weights, draws = 1, log = FALSE, seed = NULL, backend = NULL, threads = NULL,
                         precision = c("double", "single"), ...) {
  # For a short vector the checks below take longer than the draws. They are made only if the entry refuses it.
  if (!missing(weights) && missing(log) && missing(precision) && ...length() == 0L) {
    items <- .Call(C_categorical_draw_few, weights, draws, seed, resolve_run(backend, threads, work = 0))
    if (is.integer(items)) return(items)
  }
  check_dots_empty(...)
  require_arguments("weights")
  draws <- check_count(draws, "draws", min = 0, max = 2^52)
  log <- check_flag(log, "log")
  precision <- check_precision(precision)
  weights <- as_categorical_weights(weights, log)
  shape <- dim(weights)
  rows <- if (is.null(shape)) 1 else shape[[1L]]
  if (!is.null(shape) && draws > .Machine$integer.max) {
    stop_input("draws", sprintf("is %.0f: a matrix can have 2147483647 columns", draws))
  }
  check_result_size(rows * draws, "draws", "draws", copies = 1, size = 4)
  seed <- check_seed(seed)
  columns <- if (is.null(shape)) length(weights) else shape[[2L]]
  run <- resolve_run(backend, threads, cost = categorical_cost(rows, columns, draws))
  single <- as.integer(precision == "single")
  items <- if (rows * draws == 0) integer() else draw_categorical(weights, draws, log, seed, single, run)
  labels <- if (rows > 0 && !is.null(shape)) rownames(weights)
  if (is.null(shape) || draws == 1) {
    names(items) <- labels
  } else {
    dim(items) <- c(rows, draws)
    rownames(items) <- labels
  }
  items
}

# A double matrix, a double vector, or a "dgCMatrix". The weights themselves are checked while drawing.
as_categorical_weights <- function(weights, log) {
  weights <- given_data(weights, "weights")
  if (is_sparse_matrix(weights)) {
    if (!requireNamespace("Matrix", quietly = TRUE)) {
      stop_input("weights", "is a ", class(weights)[[1L]], ", and the package Matrix, which knows it, is not installed")
    }
    is_sparse <- methods::is(weights, "sparseMatrix")
    if (is_sparse && log) {
      stop_input("weights", "is a sparse matrix: with `log = TRUE` what is not stored would be log weights of 0, ",
        "not weights of 0")
    }
    weights <- if (is_sparse) as_sparse_columns(weights) else as.matrix(weights)
  }
  if (!inherits(weights, "dgCMatrix")) {
    must_be((is.numeric(weights) || is.logical(weights)) && length(dim(weights)) <= 2L, "weights",
      "a numeric matrix with a distribution in each row, or a vector", weights)
    if (length(dim(weights)) == 1L) weights <- as.vector(weights)
    if (!is.double(weights)) storage.mode(weights) <- "double"
  }
  columns <- if (is.null(dim(weights))) length(weights) else ncol(weights)
  if (columns == 0 && !identical(nrow(weights), 0L)) {
    stop_input("weights", "is empty: there is nothing to draw", if (!is.null(dim(weights))) " from in its rows")
  }
  if (columns > .Machine$integer.max) {
    stop_input("weights", sprintf("has %.0f weights in a row, more than R's integers can tell apart", columns))
  }
  weights
}
