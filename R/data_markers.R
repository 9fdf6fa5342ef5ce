# The data of the mixture: cells by markers of any class become a checked matrix of doubles with named columns.

# `parts`: NULL, or the part of the user's data that each row comes from. Returns the matrix `x`, `markers`, `mean`,
# `sd`, `min` and `max` of each column, and `transform` (see R/data_marker_transform.R).
as_marker_matrix <- function(x, markers = NULL, transform = "none", argument = "x", min_rows = 2, missing = "error",
                             parts = NULL, threads = 1L, assay = NULL) {
  given <- x
  x <- expression_matrix(given, markers, argument, assay = assay)
  if (ncol(x) == 0L) stop_input(argument, "has no columns")
  if (nrow(x) < min_rows) {
    stop_input(argument, if (nrow(x) == 0L) "has no rows" else "has only one row",
      sprintf("; at least %d are needed", min_rows))
  }
  if (is.integer(x)) storage.mode(x) <- "double"
  names <- marker_names(x, argument)
  advice <- "warp_control(missing = \"model\") takes NA as missing at random"
  columns <- scan_columns(x, names, argument, missing, advice, parts, threads)
  transform <- resolve_transform(transform, names, function(j) x[, j], instrument_tops(given))
  if (!is.null(transform)) {
    x <- transform_columns(x, transform)
    columns <- scan_columns(x, names, argument, missing, parts = parts, threads = threads)
  }
  empty <- which(is.na(columns$sd))[1L]
  if (!is.na(empty)) stop_input(argument, "has no value in column ", empty, " (", dQuote(names[[empty]], FALSE), ")")
  check_spread(columns, names, argument)
  c(list(x = x, markers = names), columns, list(transform = transform))
}

check_spread <- function(columns, names, argument) {
  small <- which(columns$max > columns$min & columns$max - columns$min < 1e-150)
  if (length(small)) {
    j <- small[[1L]]
    stop_input(argument, "has values in column ", j, " (", dQuote(names[[j]], FALSE), ") that differ by ",
      format(columns$max[[j]] - columns$min[[j]], digits = 3), " at most, too little to be squared: use a smaller unit")
  }
}

# New rows for a fit. Its markers are found by name or, if the columns have no names, by position.
as_new_rows <- function(newdata, fit, argument = "newdata") {
  x <- expression_matrix(newdata, fit$markers, argument, from_fit = TRUE, assay = fit$assay)
  if (ncol(x) != length(fit$markers)) {
    stop_input(argument, sprintf("has %d columns without names; the fit has %d markers: %s", ncol(x),
      length(fit$markers), list_some(fit$markers)))
  }
  if (is.integer(x)) storage.mode(x) <- "double"
  if (nrow(x) > 0L) {
    scan_columns(x, fit$markers, argument, fit$missing,
      "a fit with warp_control(missing = \"model\") takes cells with missing values")
  }
  dimnames(x) <- list(rownames(x), fit$markers)
  transform_columns(x, fit$transform)
}

# All cells, or those that a reader keeps.
cells_at_hand <- function(fit) if (is.null(fit$reader)) fit$x else fit$reader$some

cells_of <- function(fit, newdata, argument = "newdata") {
  if (!is.null(newdata)) return(as_new_rows(newdata, fit, argument))
  if (!is.null(fit$reader)) {
    stop_input(argument, "is NULL, and the cells of the fit are where its row_reader() reads them: give some of them ",
      "at a time")
  }
  if (is.null(fit$x)) stop_input(argument, "is NULL, and the fit has lost its own cells, `fit$x`")
  fit$x
}

# With `from_fit`, the markers are a fit's, and are looked up if the columns have names.
expression_matrix <- function(x, markers, argument, from_fit = FALSE, assay = NULL) {
  x <- given_data(x, argument)
  frames <- cytometry_frames(x)
  values <- if (!is.null(frames)) {
    stack_frames(frames, argument)
  } else if (methods::is(x, "SummarizedExperiment")) {
    assay_cells(x, argument, assay)
  } else if (is.data.frame(x)) {
    x
  } else {
    check_matrix(x, argument)
  }
  if (!is.null(markers) && !(from_fit && is.null(colnames(values)))) {
    if (from_fit && !all(nzchar(colnames(values)) & !is.na(colnames(values)))) {
      # The fit named its columns without a name in the same way.
      colnames(values) <- complete_names(colnames(values))
    }
    # What channels measure, such as "CD4" for "FL1-H".
    channels <- channel_table(x)
    described <- if (!is.null(channels)) stats::setNames(as.character(channels$desc), as.character(channels$name))
    values <- select_markers(values, markers, described, argument, from_fit)
  }
  if (is.data.frame(values)) data_frame_matrix(values, argument) else values
}

check_matrix <- function(x, argument) {
  wrong <- function(...) stop_input(argument, ...)
  if (is.null(x)) wrong("is NULL; give a matrix or data frame with one row per cell and one column per marker")
  if (isS4(x) && methods::is(x, "sparseMatrix")) {
    wrong("is a sparse matrix (class ", dQuote(class(x)[[1L]], FALSE), "), which a Gaussian mixture cannot use; ",
      "if its zeros are measurements, give as.matrix(", argument, ")")
  }
  if (isS4(x) && (methods::is(x, "Matrix") || methods::is(x, "DelayedMatrix"))) x <- as.matrix(x)
  if (is.list(x)) {
    wrong("is a list; bind its elements into one matrix or data frame, for instance with do.call(rbind, ",
      argument, ")")
  }
  if (is.matrix(x) && is.numeric(x) && !is.factor(x)) return(x)
  if (is.matrix(x)) {
    wrong("is ", if (is.object(x)) show_value(x) else paste("a", typeof(x), "matrix"), "; its values must be numbers")
  }
  if (is.array(x) && length(dim(x)) != 1L) wrong("is an array with ", length(dim(x)), " dimensions; a matrix has two")
  if (is.numeric(x) && !is.factor(x)) {
    wrong("is a vector of ", length(x), " numbers; for one marker give matrix(", argument, ", ncol = 1), ",
      "for one cell matrix(", argument, ", nrow = 1)")
  }
  wrong("must be a numeric matrix, a data frame or an object of class flowFrame, flowSet, cytoframe, cytoset or ",
    "SummarizedExperiment, not ", show_value(x))
}

data_frame_matrix <- function(x, argument) {
  values <- matrix(0, nrow(x), ncol(x), dimnames = list(if (.row_names_info(x) > 0L) row.names(x), names(x)))
  for (j in seq_along(x)) {
    column <- x[[j]]
    wrong <- if (is.factor(column)) {
      "a factor"
    } else if (!is.null(dim(column))) {
      "itself a matrix or data frame"
    } else if (!is.numeric(column) && !(is.logical(column) && all(is.na(column)))) {
      paste("of class", dQuote(class(column)[[1L]], FALSE))
    }
    if (!is.null(wrong)) {
      stop_input(argument, "has a column that is not plain numbers: ", dQuote(names(x)[[j]], FALSE),
        " is ", wrong, "; convert it, or choose other columns with `markers`")
    }
    values[, j] <- as.double(column)
  }
  values
}
