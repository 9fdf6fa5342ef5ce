# Sparse designs of regressions, as matrices of package Matrix. They are never made dense.

is_sparse_matrix <- function(x) isS4(x) && methods::is(x, "Matrix")

as_sparse_columns <- function(x) {
  if (methods::is(x, "nMatrix") || methods::is(x, "lMatrix") || methods::is(x, "indMatrix")) {
    x <- methods::as(x, "dMatrix")
  }
  methods::as(methods::as(x, "generalMatrix"), "CsparseMatrix")
}

# Takes away the means of the first columns, which become dense; the other means are 0.
centred_sparse <- function(x, center) {
  dense <- seq_len(max(which(center != 0)))
  first <- as.matrix(x[, dense, drop = FALSE]) - rep(center[dense], each = nrow(x))
  methods::cbind2(as_sparse_columns(Matrix::Matrix(first, sparse = TRUE)), x[, -dense, drop = FALSE])
}

sparse_rows <- function(x, scale) {
  x <- Matrix::t(x)
  list(row_start = x@p, column = x@i, value = x@x / scale[x@i + 1L])
}

sparse_design <- function(frame, terms, contrasts, sparse) {
  x <- Matrix::sparse.model.matrix(terms, frame, contrasts.arg = contrasts)
  assigned <- x@assign
  used <- x@contrasts
  x <- as_sparse_columns(x)
  if (is_sparse_matrix(sparse)) {
    more <- sparse_predictors(sparse, frame)
    assigned <- c(assigned, rep(max(0L, assigned) + 1L, ncol(more)))
    x <- methods::cbind2(x, more)
  }
  if (ncol(x) == 0L) stop_input("formula", "has neither an intercept nor predictors")
  check_design_values(x)
  list(x = x, assigned = assigned, contrasts = if (length(used)) used, sd = sparse_deviation(x))
}

sparse_predictors <- function(sparse, frame) {
  left_out <- stats::na.action(frame)
  if (length(left_out) > 0L && nrow(sparse) == nrow(frame) + length(left_out)) {
    sparse <- sparse[-as.integer(left_out), , drop = FALSE]
  }
  if (nrow(sparse) != nrow(frame)) {
    stop_input("sparse", sprintf("has %d rows, but the data have %d", nrow(sparse), nrow(frame)))
  }
  sparse <- as_sparse_columns(sparse)
  if (is.null(colnames(sparse))) colnames(sparse) <- paste0("x", seq_len(ncol(sparse)))
  given_data(sparse, "sparse")
}

# Standard deviations of columns. `sizes` of row_sizes() counts each row so often.
sparse_deviation <- function(x, sizes = NULL) {
  rows <- nrow(x)
  if (is.null(sizes)) sizes <- list(of_rows = rep(1, rows), total = rows, degrees = max(1, rows - 1))
  of_entry <- sizes$of_rows[x@i + 1L]
  each <- function(values) {
    x@x <- values
    Matrix::colSums(x)
  }
  mean <- each(of_entry * x@x) / sizes$total
  squares <- each(of_entry * (x@x - rep(mean, diff(x@p)))^2) + (sizes$total - each(of_entry)) * mean^2
  sqrt(pmax(squares, 0) / sizes$degrees)
}

check_sparse <- function(sparse) {
  must_be(is_sparse_matrix(sparse) || is_flag(sparse), "sparse",
    "TRUE, FALSE or a sparse matrix of package Matrix", sparse)
  if (isFALSE(sparse)) return(FALSE)
  if (!requireNamespace("Matrix", quietly = TRUE)) {
    stop_input("sparse", "needs the package Matrix, which is not installed")
  }
  given_data(sparse, "sparse")
}

check_design_values <- function(x, source = "data") {
  row <- which(!complete_rows(x))[1L]
  if (!is.na(row)) {
    column <- which(!is.finite(x[row, ]))[[1L]]
    stop_input(source, sprintf("has the value %s of predictor %s in row %d of the design", format(x[row, column]),
      dQuote(colnames(x)[[column]], FALSE), row))
  }
  x
}

complete_rows <- function(x) {
  if (is_sparse_matrix(x)) return(!(seq_len(nrow(x)) %in% (x@i[!is.finite(x@x)] + 1L)))
  # Numbers whose sum is finite are finite. To ask each of them is slow.
  if (all(is.finite(colSums(x)))) rep(TRUE, nrow(x)) else rowSums(!is.finite(x)) == 0
}
