# The columns of a matrix of cells: which markers they are, and the scan of their values.

# The columns that `markers` chooses by name, number, flags, or description (`described`, named by column).
select_markers <- function(x, markers, described, argument, from_fit = FALSE) {
  if (is.logical(markers) && length(markers) == ncol(x) && !anyNA(markers)) markers <- which(markers)
  index <- if (is.numeric(markers) && !from_fit) {
    columns_by_number(markers, ncol(x), argument)
  } else if (is.character(markers)) {
    columns_by_name(markers, colnames(x), described, argument, from_fit)
  } else {
    stop_input("markers", "must be names or numbers of columns, or TRUE or FALSE for each, not ", show_value(markers))
  }
  if (length(index) == 0L) stop_input("markers", "selects no column")
  if (anyDuplicated(index)) stop_input("markers", "selects column ", index[anyDuplicated(index)], " twice")
  # A name that two columns have does not choose one of them.
  given <- colnames(x)
  twice <- is.character(markers) & given[index] %in% given[duplicated(given)]
  if (any(twice)) stop_input(argument, "has two columns named ", dQuote(given[index][twice][[1L]], FALSE))
  if (!identical(index, seq_len(ncol(x)))) x <- x[, index, drop = FALSE]
  if (is.character(markers) && !identical(markers, colnames(x))) colnames(x) <- markers
  x
}

columns_by_number <- function(markers, count, argument) {
  outside <- !is.finite(markers) | markers != floor(markers) | markers < 1 | markers > count
  if (any(outside)) {
    stop_input("markers", sprintf("has %s, but `%s` has columns 1 to %d", format(markers[outside][[1L]]), argument,
      count))
  }
  as.integer(markers)
}

columns_by_name <- function(markers, given, described, argument, from_fit) {
  index <- match(markers, given)
  by_description <- is.na(index) & markers %in% described
  index[by_description] <- match(names(described)[match(markers[by_description], described)], given)
  if (!anyNA(index)) return(index)
  missing <- markers[is.na(index)]
  known <- c(given, setdiff(described[!is.na(described)], given))
  text <- if (is.null(known)) "has no column names" else paste("has", list_some(known))
  if (from_fit) {
    stop_input(argument, "lacks the marker", if (length(missing) > 1L) "s", " of the fit ", list_some(missing), "; it ",
      text)
  }
  stop_input("markers", "names ", dQuote(missing[[1L]], FALSE), ", which is not there; `", argument, "` ", text)
}

marker_names <- function(x, argument) {
  given <- colnames(x)
  if (is.null(given)) return(paste0("V", seq_len(ncol(x))))
  given <- complete_names(given)
  if (anyDuplicated(given)) stop_input(argument, "has two columns named ", dQuote(given[anyDuplicated(given)], FALSE))
  given
}

# A column without a name is called V and its number, as in a data frame.
complete_names <- function(given) {
  empty <- is.na(given) | !nzchar(given)
  given[empty] <- paste0("V", which(empty))
  given
}

scan_columns <- function(x, markers, argument, missing = NULL, advice = NULL, parts = NULL, threads = 1L) {
  scan <- if (identical(missing, "model") && anyNA(x)) scan_known(x) else native(C_matrix_scan, x, threads)
  check_scan(scan, if (scan$count > 0) x[scan$first[[1L]], scan$first[[2L]]], markers, argument, advice, parts)
}

check_scan <- function(scan, value, markers, argument, advice = NULL, parts = NULL) {
  if (scan$count > 0) {
    row <- scan$first[[1L]]
    within <- ""
    if (!is.null(parts)) {
      within <- sprintf(" of sample %s", dQuote(levels(parts)[[parts[[row]]]], FALSE))
      row <- row - match(parts[[row]], parts) + 1
    }
    column <- scan$first[[2L]]
    stop_warpbayes("input", paste0(sprintf("`%s` has %s in row %.0f%s, column %.0f (%s)", argument, format(value), row,
      within, column, dQuote(markers[[column]], FALSE)),
      if (scan$count > 1) sprintf(", the first of %.0f values that are not finite", scan$count),
      if (is.na(value) && !is.null(advice)) paste0("; ", advice)), argument = argument, row = row, column = column)
  }
  # The squares of larger values overflow.
  large <- which(pmax(abs(scan$min), abs(scan$max)) > 1e150)
  if (length(large)) {
    stop_input(argument, "has values beyond 1e150 in column ", large[[1L]], " (",
      dQuote(markers[[large[[1L]]]], FALSE), "), too large to be squared")
  }
  scan[c("mean", "sd", "min", "max")]
}

# Up to 10,000 known values of a column, spread over the rows.
some_values <- function(x, j) {
  values <- x[spread_over(nrow(x)), j]
  if (!anyNA(values)) return(values)
  known <- which(!is.na(x[, j]))
  x[known[spread_over(length(known))], j]
}

spread_over <- function(rows) unique(floor(seq(1, rows, length.out = min(rows, 10000L))))

# As C_matrix_scan, over the values that are not NA.
scan_known <- function(x) {
  columns <- vapply(seq_len(ncol(x)), function(j) {
    known <- x[!is.na(x[, j]), j]
    if (!length(known)) return(c(0, NA, NA, NA, NA))
    scan <- native(C_matrix_scan, matrix(known), 1L)
    c(scan$count, scan$mean, scan$sd, scan$min, scan$max)
  }, numeric(5L))
  # Most data have no infinite values: then `x` is not read again.
  bad <- which(columns[1L, ] > 0)
  infinite <- which(is.infinite(x[, bad, drop = FALSE]), arr.ind = TRUE)
  infinite <- infinite[order(infinite[, 1L], infinite[, 2L])[1L], ]
  # Columns without values pass the checks of their size, which cannot compare NA.
  columns[4:5, is.na(columns[3L, ])] <- 0
  list(first = as.double(c(infinite[[1L]], bad[infinite[[2L]]])), count = sum(columns[1L, ]),
    mean = columns[2L, ], sd = columns[3L, ], min = columns[4L, ], max = columns[5L, ])
}
