# What each row counts for and where its linear predictor starts: weights, sizes and offsets.

check_row_weights <- function(weights, rows) {
  if (is.null(weights)) return(rep(1, rows))
  if (!is.numeric(weights) || is.matrix(weights) || any(!is.finite(weights) | weights < 0)) {
    stop_input("weights", "must be finite numbers of at least 0, one for each row, not ", show_value(weights))
  }
  if (!any(weights > 0)) stop_input("weights", "leave nothing to fit: all rows have weight 0")
  as.double(weights)
}

# The observations of each row, so that aggregated rows have the same default priors. No prior may depend on the unit of
# Poisson exposures: their variance is divided by the sum of sizes itself.
row_sizes <- function(response, family, weights, offset) {
  size <- family$sizes(response, weights, offset)
  if (!any(size > 0)) size[] <- 1
  total <- sum(size)
  list(of_rows = size, total = total, degrees = if (family$has_surrogates) total else max(total - 1, total / 2))
}

are_single_rows <- function(sizes) all(sizes$of_rows %in% c(0, 1)) && sizes$degrees == sizes$total - 1

# Mean and deviation of columns over the observations. The first row is the origin: constant columns get deviation 0.
column_moments <- function(x, sizes) {
  moments <- vapply(seq_len(ncol(x)), function(column) {
    away <- x[, column] - x[[1L, column]]
    shift <- sum(sizes$of_rows * away) / sizes$total
    c(x[[1L, column]] + shift, sqrt(sum(sizes$of_rows * (away - shift)^2) / sizes$degrees))
  }, numeric(2L))
  list(mean = moments[1L, ], sd = moments[2L, ])
}

row_offset <- function(frame, classes) {
  Reduce(`+`, lapply(frame_offsets(frame), function(values) {
    bad <- if (is.numeric(values)) which(!is.finite(values) | abs(values) > 1e8)
    if (length(bad)) {
      row <- (bad[[1L]] - 1L) %% nrow(frame) + 1L
      stop_input("offset", "must be finite numbers up to 1e8, but is ", format(values[[bad[[1L]]]]), " in row ",
        dQuote(rownames(frame)[[row]], FALSE), if (identical(values[[bad[[1L]]]], -Inf)) ": is it the log of 0?")
    }
    if (!is.numeric(values)) {
      stop_input("offset", "must be numbers, ", if (is.null(classes)) "one for each row, ", "not ", show_value(values))
    }
    one_offset(values, classes, "offset")
  }), numeric(nrow(frame)))
}

frame_offsets <- function(frame) {
  given <- if ("(offset)" %in% names(frame)) list(frame[["(offset)"]])
  c(given, lapply(attr(attr(frame, "terms"), "offset"), function(i) frame[[i]]))
}

# A column for every class is for their log probabilities up to a constant, as in nnet::multinom().
one_offset <- function(values, classes, argument) {
  if (is.null(classes) || (length(classes) == 2L && !is.matrix(values))) {
    if (is.matrix(values) && ncol(values) != 1L) {
      stop_input(argument, "must be one number for each row, not ", show_value(values))
    }
    return(as.double(values))
  }
  others <- classes[-1L]
  of_columns <- if (is.matrix(values) && ncol(values) == length(classes)) classes else others
  if (!is.matrix(values) || ncol(values) != length(of_columns)) {
    stop_input(argument, "must be a matrix for family \"multinomial\", with a column for each class except the ",
      "reference, or for each class, not ", show_value(values))
  }
  misplaced <- which(colnames(values) %in% classes & colnames(values) != of_columns)
  if (length(misplaced)) {
    stop_input(argument, sprintf("has the column %s where that of class %s belongs",
      dQuote(colnames(values)[[misplaced[[1L]]]], FALSE), dQuote(of_columns[[misplaced[[1L]]]], FALSE)))
  }
  first <- if (identical(of_columns, classes)) as.double(values[, 1L]) else 0
  values <- values[, seq_along(of_columns)[of_columns %in% others], drop = FALSE]
  matrix(as.double(values) - first, nrow(values))
}

offset_rows <- function(offset, rows) if (is.matrix(offset)) offset[rows, , drop = FALSE] else offset[rows]
