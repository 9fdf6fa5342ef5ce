# Cells that the workers of a cluster read, each its own, so that no machine ever holds all.

#' Cells that workers read
#'
#' Describes data that are too large for one machine, as `x` of [dp_mixture()]: each worker of its `cluster` calls
#' `read()` for its own share of the rows, and no other process ever has them.
#'
#' A worker calls `read()` in its own process, where the function must find what it needs: it gets the function with
#' the environment in which that was made (not what is in the global environment), so packages are best named, as in
#' `data.table::fread()`, and files must be where the worker runs. The same rows must come whenever they are asked
#' for: at the start, and again by [continue()] and [resume()].
#'
#' The fit is `identical()` to that of the whole matrix, and so are its prior, start and draws. It does not hold the
#' cells: `fit$x` is `NULL` and `fit$reader` says how they are read. What needs all cells, for instance `logLik()` or
#' `predict()` without new data, says so; give `predict()` some cells at a time, with `type = "type"` for their cell
#' types. Missing values, `init` with labels or a fit of other cells, and `sample` as the name of a column are
#' refused.
#'
#' @param rows how many rows there are in all.
#' @param read a function of two numbers, `first` and `last`, that returns rows `first` to `last`, counted from 1: a
#'   numeric matrix or data frame with the same columns, in the same order, every time. Columns are markers.
#' @param block at most so many rows are asked for at a time.
#' @return An object of class `row_reader`.
#' @section Errors:
#' `warpbayes_error_input` for arguments that cannot be used. If `read()` fails or returns something else, so does
#' [dp_mixture()], with an error that names the worker and the rows.
#' @examples
#' x <- cbind(a = c(rnorm(3000), rnorm(3000, 6)), b = rnorm(6000))
#' file <- tempfile()
#' writeBin(as.double(t(x)), file)
#' # A binary file with two numbers for each row.
#' reader <- row_reader(6000, local({
#'   path <- file
#'   function(first, last) {
#'     connection <- file(path, "rb")
#'     on.exit(close(connection))
#'     seek(connection, 16 * (first - 1))
#'     values <- readBin(connection, "double", 2 * (last - first + 1))
#'     matrix(values, ncol = 2, byrow = TRUE, dimnames = list(NULL, c("a", "b")))
#'   }
#' }))
#' reader
#' \dontrun{
#' cluster <- parallel::makeCluster(2)
#' fit <- dp_mixture(reader, components = 8, iter = 100, cluster = cluster)
#' parallel::stopCluster(cluster)
#' }
#' unlink(file)
#' @export
row_reader <- function(rows, read, block = 1e5) {
  rows <- check_count(rows, "rows", min = 2, max = 2^53)
  if (!is.function(read)) {
    stop_input("read", "must be a function of the first and the last row, not ", show_value(read))
  }
  structure(list(rows = rows, read = read, block = check_count(block, "block", max = 2^31 - 1)), class = "row_reader")
}

#' @param x a reader.
#' @param ... not used.
#' @rdname row_reader
#' @export
print.row_reader <- function(x, ...) {
  cat("Reader of ", count_words(x$rows, "row"), ", at most ", whole_words(x$block), " at a time\n", sep = "")
  invisible(x)
}

is_reader <- function(x) inherits(x, "row_reader")

# What as_marker_matrix() gives, of cells that stay on the workers: `x` has some of them, and `reader` is
# complete_reader()'s.
read_marker_cells <- function(reader, run, markers, transform, cofactor, call) {
  connection <- run$cluster
  if (is.null(connection)) {
    stop_input("x", "is a row_reader(), which the workers of a cluster read: give `cluster`", call = call)
  }
  names <- read_cells(reader, connection, markers = markers, call = call)
  transform <- resolve_transform(transform, cofactor, names, call)
  columns <- scan_cells(connection, names, call)
  if (!is.null(transform)) {
    ask_workers(connection, "transform", list(connection$data, transform$cofactor), call = call)
    columns <- scan_cells(connection, names, call)
  }
  check_spread(columns, names, "x", call)
  reader <- complete_reader(reader, connection, markers)
  c(list(x = reader$some, reader = reader, markers = names), columns, list(transform = transform))
}

# Has each worker read its cells, and returns the markers. With `transform`, the cells are transformed too.
read_cells <- function(reader, connection, transform = NULL, markers = reader$markers, call = NULL) {
  split_cells(connection, reader$rows)
  first <- connection$split$first_row
  plain <- reader[c("read", "block")]
  read <- ask_workers(connection, "read", each = lapply(seq_along(connection$cluster), function(i) {
    list(connection$data, plain, first[[i]] + 1, first[[i + 1L]], markers)
  }), call = call)
  for (i in seq_along(read)) {
    if (!identical(read[[i]], read[[1L]])) {
      stop_input("x", "has other columns on ", connection$names[[i]], ", ", list_some(read[[i]]), ", than on the first, ", list_some(read[[1L]]), call = call)
    }
  }
  if (!is.null(transform)) {
    ask_workers(connection, "transform", list(connection$data, transform$cofactor), call = call)
  }
  read[[1L]]
}

# The reader of a fit that goes on from its checkpoint.
reader_again <- function(reader, fit, markers, call) {
  connection <- reader$connection
  if (is.null(connection)) {
    stop_input("x", "is a row_reader(), which the workers of a cluster read: give `cluster`", call = call)
  }
  reader$connection <- NULL
  names <- read_cells(reader, connection, markers = markers, call = call)
  if (!identical(names, fit$markers)) {
    stop_input("x", "has the columns ", list_some(names), "; the checkpoint was made with ", list_some(fit$markers), call = call)
  }
  if (!is.null(fit$transform)) {
    ask_workers(connection, "transform", list(connection$data, fit$transform$cofactor), call = call)
  }
  complete_reader(reader, connection, markers)
}

# With what this process needs of the cells: `some`, those that some_values() takes, and `probe`, those of probe_rows().
complete_reader <- function(reader, connection, markers) {
  reader["markers"] <- list(markers)
  reader$some <- collect_cells(connection, spread_over(reader$rows))
  reader$probe <- collect_cells(connection, probe_rows(reader$rows))
  reader
}

# As scan_columns(), worker after worker: the order of the sums is that of the rows.
scan_cells <- function(connection, markers, call) {
  moments <- NULL
  for (i in seq_along(connection$cluster)) {
    scan <- ask_workers(connection, "scan", list(connection$data, moments, connection$split$first_row[[i]]), workers = i, call = call)[[1L]]
    if (scan$count > 0) {
      break
    }
    moments <- scan$moments
  }
  check_scan(c(scan[c("first", "count")], native(C_matrix_scan_finish, scan$moments)), scan$value, markers, "x", call)
}

# Cells by their numbers, increasing.
collect_cells <- function(connection, rows) {
  first <- connection$split$first_row
  worker <- findInterval(rows - 1, first[-length(first)])
  parts <- ask_workers(connection, "collect", each = lapply(seq_along(connection$cluster), function(i) {
    list(connection$data, rows[worker == i] - first[[i]])
  }))
  do.call(rbind, parts)
}
