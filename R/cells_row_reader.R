# Cells that the workers of a cluster read, each its own.

#' Cells that workers read
#'
#' Describes data too large for one machine, as `x` of [dp_mixture()] with a [cluster][mixture_clusters]. Each worker
#' reads its own rows.
#' @param rows the number of rows of the data.
#' @param read a function of two numbers, `first` and `last`, that returns rows `first` to `last`, counted from 1: a
#'   numeric matrix or data frame with the same columns, in the same order, every time. Columns are markers.
#' @param block the largest number of rows to ask for at a time.
#' @return An object of class `row_reader`.
#' @section How to write `read()`:
#' A worker calls `read()` in its own process, with the environment of its definition but not the global environment. So
#' name packages, as in `data.table::fread()`. `read()` must always return the same rows.
#' @section The fit:
#' The fit is `identical()` to a fit of the whole matrix, but `fit$x` is `NULL`, so functions that need all cells fail.
#' @examples
#' x <- cbind(a = c(rnorm(3000), rnorm(3000, 6)), b = rnorm(6000))
#' file <- tempfile()
#' write.table(x, file, sep = ",", row.names = FALSE, col.names = FALSE)
#' reader <- row_reader(6000, local({
#'   path <- file
#'   function(first, last) {
#'     utils::read.csv(path, header = FALSE, skip = first - 1, nrows = last - first + 1,
#'       col.names = c("a", "b"))
#'   }
#' }))
#' reader
#' unlink(file)
#' @export
row_reader <- function(rows, read, block = 1e5) {
  require_arguments("rows", "read")
  rows <- check_count(rows, "rows", min = 2, max = 2^53)
  if (!is.function(read)) stop_input("read", "must be a function of the first and the last row, not ", show_value(read))
  block <- check_count(block, "block", max = 2^31 - 1)
  structure(list(rows = rows, read = read, block = block), class = c("row_reader", "warpbayes"))
}

in_console.row_reader <- function(x, ...) {
  cat("Reader of ", count_words(x$rows, "row"), ", at most ", whole_words(x$block), " at a time\n", sep = "")
}

is_reader <- function(x) inherits(x, "row_reader")

on_cluster.row_reader <- function(x, connection) {
  x$connection <- connection
  x
}

# As as_marker_matrix(); `x` has some of the cells, and `reader` is complete_reader()'s.
read_marker_cells <- function(reader, run, markers, transform) {
  connection <- run$cluster
  names <- read_cells(reader, connection, markers = markers)
  columns <- scan_cells(connection, names)
  transform <- resolve_transform(transform, names, function(j) {
    collect_cells(connection, spread_over(reader$rows))[, j]
  })
  if (!is.null(transform)) {
    ask_workers(connection, "transform", list(connection$data, transform))
    columns <- scan_cells(connection, names)
  }
  check_spread(columns, names, "x")
  reader <- complete_reader(reader, connection, markers)
  c(list(x = reader$some, reader = reader, markers = names), columns, list(transform = transform))
}

read_cells <- function(reader, connection, transform = NULL, markers = reader$markers) {
  if (is.null(connection)) stop_input("x", "is a row_reader(), which the workers of a cluster read: give `cluster`")
  split_cells(connection, reader$rows)
  first <- connection$split$first_row
  read <- ask_workers(connection, "read", each = lapply(seq_along(connection$cluster), function(i) {
    list(connection$data, reader[c("read", "block")], first[[i]] + 1, first[[i + 1L]], markers)
  }))
  other <- match(FALSE, vapply(read, identical, NA, read[[1L]]))
  if (!is.na(other)) {
    stop_input("x", "has other columns on ", connection$names[[other]], ", ", list_some(read[[other]]),
      ", than on the first, ", list_some(read[[1L]]))
  }
  if (!is.null(transform)) ask_workers(connection, "transform", list(connection$data, transform))
  read[[1L]]
}

reader_again <- function(reader, fit, markers) {
  connection <- reader$connection
  reader$connection <- NULL
  names <- read_cells(reader, connection, markers = markers)
  if (!identical(names, fit$markers)) {
    stop_input("x", "has the columns ", list_some(names), "; the checkpoint was made with ", list_some(fit$markers))
  }
  if (!is.null(fit$transform)) ask_workers(connection, "transform", list(connection$data, fit$transform))
  complete_reader(reader, connection, markers)
}

complete_reader <- function(reader, connection, markers) {
  reader["markers"] <- list(markers)
  reader$some <- collect_cells(connection, spread_over(reader$rows))
  reader$probe <- collect_cells(connection, probe_rows(reader$rows))
  reader
}

# As scan_columns(). The workers scan one after the other, so that sums are made in the order of the rows.
scan_cells <- function(connection, markers) {
  moments <- NULL
  for (i in seq_along(connection$cluster)) {
    given <- list(connection$data, moments, connection$split$first_row[[i]])
    scan <- ask_workers(connection, "scan", given, workers = i)[[1L]]
    if (scan$count > 0) break
    moments <- scan$moments
  }
  check_scan(c(scan[c("first", "count")], native(C_matrix_scan_finish, scan$moments)), scan$value, markers, "x")
}

# Cells by their numbers, which must increase.
collect_cells <- function(connection, rows) {
  first <- connection$split$first_row
  worker <- findInterval(rows - 1, first[-length(first)])
  do.call(rbind, ask_workers(connection, "collect", each = lapply(seq_along(connection$cluster), function(i) {
    list(connection$data, rows[worker == i] - first[[i]])
  })))
}
