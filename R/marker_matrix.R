# The data of the mixture: any object that holds cells by markers is turned into a
# matrix of doubles with named columns, and checked for values that are not finite.

# x: matrix, data frame, flowFrame, flowSet, cytoframe, cytoset or
# SummarizedExperiment. markers: columns by name or number, NULL for all. parts: NULL, or a
# factor that says of which part of what the user gave each row is, for messages.
# Returns the matrix `x` (the very object given where nothing had to change), the
# names `markers`, per column `mean`, `sd`, `min`, `max`, and `transform` (NULL or
# a list with `type` and one `cofactor` per marker).
as_marker_matrix <- function(x, markers = NULL, transform = "none", cofactor = 5,
                             argument = "x", min_rows = 2, missing = "error", parts = NULL, call = sys.call(-1L)) {
  x <- expression_matrix(x, markers, argument, call)
  if (ncol(x) == 0L) {
    stop_input(argument, "has no columns", call = call)
  }
  if (nrow(x) < min_rows) {
    stop_input(argument, if (nrow(x) == 0L) "has no rows" else "has only one row",
      sprintf("; at least %d are needed", min_rows),
      call = call
    )
  }
  if (is.integer(x)) {
    storage.mode(x) <- "double"
  }
  names <- marker_names(x, argument, call)
  transform <- resolve_transform(transform, cofactor, names, call)
  columns <- scan_columns(x, names, argument, call, missing, "missing = \"model\" takes NA as missing at random", parts)
  if (!is.null(transform)) {
    x <- arcsinh_columns(x, transform$cofactor)
    columns <- scan_columns(x, names, argument, call, missing, parts = parts)
  }
  empty <- which(is.na(columns$sd))
  if (length(empty)) {
    stop_input(argument, "has no value in column ", empty[[1L]], " (", dQuote(names[[empty[[1L]]]], FALSE), ")", call = call)
  }
  check_spread(columns, names, argument, call)
  c(list(x = x, markers = names), columns, list(transform = transform))
}

# Columns that vary must do so by enough.
check_spread <- function(columns, names, argument, call) {
  small <- which(columns$max > columns$min & columns$max - columns$min < 1e-150)
  if (length(small)) {
    stop_input(argument, "has values in column ", small[[1L]], " (", dQuote(names[[small[[1L]]]], FALSE), ") that differ by ",
      format(columns$max[[small[[1L]]]] - columns$min[[small[[1L]]]], digits = 3),
      " at most, too little to be squared: use a smaller unit",
      call = call
    )
  }
}

# New rows for a fit. Its markers are found by name if the columns have names, else by
# position.
as_new_rows <- function(newdata, fit, argument = "newdata", call = sys.call(-1L)) {
  x <- expression_matrix(newdata, fit$markers, argument, call, from_fit = TRUE)
  if (ncol(x) != length(fit$markers)) {
    stop_input(argument, sprintf(
      "has %d columns without names; the fit has %d markers: %s", ncol(x),
      length(fit$markers), list_some(fit$markers)
    ), call = call)
  }
  if (is.integer(x)) {
    storage.mode(x) <- "double"
  }
  if (nrow(x) > 0L) {
    scan_columns(x, fit$markers, argument, call, fit$missing,
      "a fit with missing = \"model\" takes cells with missing values"
    )
  }
  dimnames(x) <- list(rownames(x), fit$markers)
  if (is.null(fit$transform)) x else arcsinh_columns(x, fit$transform$cofactor)
}

# The cells that the user gives, or those that were fitted.
cells_of <- function(fit, newdata, argument = "newdata", call = sys.call(-1L)) {
  if (!is.null(newdata)) {
    return(as_new_rows(newdata, fit, argument, call))
  }
  if (!is.null(fit$reader)) {
    stop_input(argument, "is NULL, and the cells of the fit are where its row_reader() reads them: give some of them at a time", call = call)
  }
  if (is.null(fit$x)) {
    stop_input(argument, "is NULL, and the fit has lost its own cells, `fit$x`", call = call)
  }
  fit$x
}

# Rows by markers -----------------------------------------------------------

# With `from_fit`, the markers are those of a fit: they are looked up if the columns have
# names.
expression_matrix <- function(x, markers, argument, call, from_fit = FALSE) {
  frames <- cytometry_frames(x)
  values <- if (!is.null(frames)) {
    stack_frames(frames, argument, call)
  } else if (methods::is(x, "SummarizedExperiment")) {
    assay_cells(x, argument, call)
  } else if (is.data.frame(x)) {
    x
  } else {
    check_matrix(x, argument, call)
  }
  if (!is.null(markers) && !(from_fit && is.null(colnames(values)))) {
    if (from_fit && !all(nzchar(colnames(values)) & !is.na(colnames(values)))) {
      # In the way in which columns of the fit without a name got theirs.
      colnames(values) <- complete_names(colnames(values))
    }
    values <- select_markers(values, markers, descriptions(x), argument, call, from_fit)
  }
  if (is.data.frame(values)) data_frame_matrix(values, argument, call) else values
}

check_matrix <- function(x, argument, call) {
  wrong <- function(...) stop_input(argument, ..., call = call)
  if (is.null(x)) {
    wrong("is NULL; give a matrix or data frame with one row per cell and one column per marker")
  }
  if (isS4(x) && methods::is(x, "sparseMatrix")) {
    wrong("is a sparse matrix (class ", dQuote(class(x)[[1L]], FALSE), "), which a Gaussian mixture cannot use; if its zeros are measurements, give as.matrix(", argument, ")")
  }
  if (isS4(x) && (methods::is(x, "Matrix") || methods::is(x, "DelayedMatrix"))) {
    x <- as.matrix(x)
  }
  if (is.list(x)) {
    wrong("is a list; bind its elements into one matrix or data frame, for instance with do.call(rbind, ", argument, ")")
  }
  if (is.matrix(x) && is.numeric(x) && !is.factor(x)) {
    return(x)
  }
  if (is.matrix(x)) {
    wrong("is a ", typeof(x), " matrix; its values must be numbers")
  }
  if (is.array(x) && length(dim(x)) != 1L) {
    wrong("is an array with ", length(dim(x)), " dimensions; a matrix has two")
  }
  if (is.numeric(x) && !is.factor(x)) {
    wrong("is a vector of ", length(x), " numbers; for one marker give matrix(", argument, ", ncol = 1), for one cell matrix(", argument, ", nrow = 1)")
  }
  wrong("must be a numeric matrix, a data frame or an object of class flowFrame, flowSet, cytoframe, cytoset or SummarizedExperiment, not ", show_value(x))
}

data_frame_matrix <- function(x, argument, call) {
  rows <- if (.row_names_info(x) > 0L) row.names(x)
  values <- matrix(0, nrow(x), ncol(x), dimnames = list(rows, names(x)))
  for (j in seq_along(x)) {
    column <- x[[j]]
    wrong <- if (is.factor(column)) {
      "a factor"
    } else if (!is.null(dim(column))) {
      "itself a matrix or data frame"
    } else if (!is.numeric(column) || inherits(column, "integer64")) {
      paste("of class", dQuote(class(column)[[1L]], FALSE))
    }
    if (!is.null(wrong)) {
      stop_input(argument, "has a column that is not plain numbers: ", dQuote(names(x)[[j]], FALSE),
        " is ", wrong, "; convert it, or choose other columns with `markers`",
        call = call
      )
    }
    values[, j] <- as.double(column)
  }
  values
}

# Bioconductor's classes, by their accessors --------------------------------

# A list of flowFrame or cytoframe objects, or NULL for another class. An object that was
# read from a file can be used without the package that defines its class: that is called
# only if it is installed.
cytometry_frames <- function(x) {
  if (!isS4(x)) {
    return(NULL)
  }
  if (methods::is(x, "flowFrame")) {
    return(list(x))
  }
  if (!methods::is(x, "flowSet")) {
    return(NULL)
  }
  if (load_package_of(x) || methods::is(x, "cytoset")) {
    return(lapply(seq_len(length(x)), function(i) x[[i]]))
  }
  samples <- rownames(methods::slot(methods::slot(x, "phenoData"), "data"))
  mget(samples, envir = methods::slot(x, "frames"))
}

frame_values <- function(frame, argument, call) {
  load_package_of(frame)
  exprs <- accessor("Biobase", "exprs")
  if (!is.null(exprs) && methods::hasMethod("exprs", class(frame), where = environment(exprs))) {
    return(exprs(frame))
  }
  values <- if (methods::.hasSlot(frame, "exprs")) methods::slot(frame, "exprs")
  # A cytoframe keeps its cells outside R: only flowWorkspace can reach them.
  if (methods::is(frame, "cytoframe") || !is.matrix(values)) {
    package <- attr(class(frame), "package")
    stop_input(argument, "is of class ", dQuote(class(frame)[[1L]], FALSE),
      ", whose cells can be read only where package ",
      if (is.null(package) || !nzchar(package)) "flowWorkspace" else package, " is installed",
      call = call
    )
  }
  values
}

stack_frames <- function(frames, argument, call) {
  values <- lapply(frames, frame_values, argument = argument, call = call)
  if (length(values) == 0L) {
    stop_input(argument, "holds no samples", call = call)
  }
  channels <- colnames(values[[1L]])
  for (i in seq_along(values)) {
    if (!identical(colnames(values[[i]]), channels)) {
      stop_input(argument, sprintf("holds samples with different channels: sample %d has %s, sample 1 has %s",
        i, list_some(colnames(values[[i]])), list_some(channels)
      ), call = call)
    }
  }
  values <- if (length(values) == 1L) values[[1L]] else do.call(rbind, values)
  # flowCore's names of channels have attributes, which as.character() removes.
  dimnames(values) <- list(NULL, as.character(channels))
  values
}

# What the channels of a flowFrame measure ("CD4" for "FL1-H"), named by channel.
descriptions <- function(x) {
  frames <- cytometry_frames(x)
  if (length(frames) == 0L || !methods::.hasSlot(frames[[1L]], "parameters")) {
    return(NULL)
  }
  table <- methods::slot(methods::slot(frames[[1L]], "parameters"), "data")
  stats::setNames(as.character(table$desc), as.character(table$name))
}

assay_cells <- function(x, argument, call) {
  assay <- accessor("SummarizedExperiment", "assay")
  if (is.null(assay)) {
    stop_input(argument, "is of class ", dQuote(class(x)[[1L]], FALSE),
      ", whose cells can be read only where package SummarizedExperiment is installed",
      call = call
    )
  }
  if (length(accessor("SummarizedExperiment", "assays")(x)) == 0L) {
    stop_input(argument, "is a SummarizedExperiment without an assay", call = call)
  }
  values <- t(check_matrix(assay(x), argument, call))
  dimnames(values) <- list(NULL, colnames(values))
  values
}

# An accessor of a package, or NULL if that is not installed.
accessor <- function(package, name) {
  if (requireNamespace(package, quietly = TRUE)) getExportedValue(package, name)
}

# Loads the package that defines the class of x, so that its methods can be called; TRUE
# if it is installed.
load_package_of <- function(x) {
  package <- attr(class(x), "package")
  !is.null(package) && nzchar(package) && package != ".GlobalEnv" &&
    requireNamespace(package, quietly = TRUE)
}

# Columns -------------------------------------------------------------------

select_markers <- function(x, markers, described, argument, call, from_fit = FALSE) {
  given <- colnames(x)
  if (is.numeric(markers) && !from_fit) {
    outside <- !is.finite(markers) | markers != floor(markers) | markers < 1 | markers > ncol(x)
    if (any(outside)) {
      stop_input("markers", sprintf("has %s, but `%s` has columns 1 to %d",
        format(markers[outside][[1L]]), argument, ncol(x)
      ), call = call)
    }
    index <- as.integer(markers)
  } else if (is.character(markers)) {
    index <- match(markers, given)
    by_description <- is.na(index) & markers %in% described
    index[by_description] <- match(names(described)[match(markers[by_description], described)], given)
    if (anyNA(index)) {
      missing <- markers[is.na(index)]
      known <- c(given, setdiff(described[!is.na(described)], given))
      text <- if (is.null(known)) "has no column names" else paste("has", list_some(known))
      if (from_fit) {
        stop_input(argument, "lacks the marker", if (length(missing) > 1L) "s", " of the fit ",
          list_some(missing), "; it ", text,
          call = call
        )
      }
      stop_input("markers", "names ", dQuote(missing[[1L]], FALSE), ", which is not there; `",
        argument, "` ", text,
        call = call
      )
    }
  } else {
    stop_input("markers", "must be names or numbers of columns, not ", show_value(markers), call = call)
  }
  if (length(index) == 0L) {
    stop_input("markers", "selects no column", call = call)
  }
  if (anyDuplicated(index)) {
    stop_input("markers", "selects column ", index[anyDuplicated(index)], " twice", call = call)
  }
  # If two columns have the same name, it does not say which of them is meant.
  twice <- is.character(markers) & given[index] %in% given[duplicated(given)]
  if (any(twice)) {
    stop_input(argument, "has two columns named ", dQuote(given[index][twice][[1L]], FALSE), call = call)
  }
  if (identical(index, seq_len(ncol(x)))) {
    if (is.character(markers) && !identical(markers, given)) {
      colnames(x) <- markers
    }
    return(x)
  }
  x <- x[, index, drop = FALSE]
  if (is.character(markers)) {
    colnames(x) <- markers
  }
  x
}

marker_names <- function(x, argument, call) {
  given <- colnames(x)
  if (is.null(given)) {
    return(paste0("V", seq_len(ncol(x))))
  }
  given <- complete_names(given)
  if (anyDuplicated(given)) {
    stop_input(argument, "has two columns named ", dQuote(given[anyDuplicated(given)], FALSE), call = call)
  }
  given
}

# Columns without a name are called V and their number, as in a data frame.
complete_names <- function(given) {
  empty <- is.na(given) | !nzchar(given)
  given[empty] <- paste0("V", which(empty))
  given
}

list_some <- function(values, most = 12L) {
  text <- paste(dQuote(utils::head(values, most), FALSE), collapse = ", ")
  if (length(values) > most) sprintf("%s and %d more", text, length(values) - most) else text
}

resolve_transform <- function(transform, cofactor, markers, call) {
  choices <- c("none", "arcsinh")
  if (!is.character(transform) || length(transform) != 1L || !transform %in% choices) {
    stop_input("transform", "must be one of ", paste(dQuote(choices, FALSE), collapse = ", "), ", not ",
      show_value(transform),
      call = call
    )
  }
  if (transform == "none") {
    return(NULL)
  }
  p <- length(markers)
  if (!is.numeric(cofactor) || !length(cofactor) %in% c(1L, p)) {
    stop_input("cofactor", sprintf("must be one number or one per marker (%d), not ", p),
      show_value(cofactor),
      call = call
    )
  }
  if (!all(is.finite(cofactor) & cofactor > 0)) {
    stop_input("cofactor", "must be positive and finite, not ",
      format(cofactor[!(is.finite(cofactor) & cofactor > 0)][[1L]]),
      call = call
    )
  }
  if (!is.null(names(cofactor)) && length(cofactor) > 1L) {
    if (!setequal(names(cofactor), markers)) {
      stop_input("cofactor", "has names other than the markers ", list_some(markers), ": ",
        list_some(setdiff(names(cofactor), markers)),
        call = call
      )
    }
    cofactor <- cofactor[markers]
  }
  list(type = "arcsinh", cofactor = stats::setNames(rep_len(as.double(cofactor), p), markers))
}

arcsinh_columns <- function(x, cofactor) {
  for (j in seq_len(ncol(x))) {
    x[, j] <- asinh(x[, j] / cofactor[[j]])
  }
  x
}

# Stops if a value is not finite; with `missing = "model"`, NA and NaN are missing values and no errors. Returns mean,
# sd, min and max of each column: of its known values, NA where there are none. `advice`: what to do about NA.
# `parts`: see as_marker_matrix().
scan_columns <- function(x, markers, argument, call, missing = NULL, advice = NULL, parts = NULL) {
  scan <- if (identical(missing, "model") && anyNA(x)) scan_known(x) else native(C_matrix_scan, x)
  check_scan(scan, if (scan$count > 0) x[scan$first[[1L]], scan$first[[2L]]], markers, argument, call, advice, parts)
}

# What a scan has found, which may be an error; `value` is the first that is not finite.
check_scan <- function(scan, value, markers, argument, call, advice = NULL, parts = NULL) {
  if (scan$count > 0) {
    row <- scan$first[[1L]]
    within <- ""
    if (!is.null(parts)) {
      within <- sprintf(" of sample %s", dQuote(levels(parts)[[parts[[row]]]], FALSE))
      row <- row - match(parts[[row]], parts) + 1
    }
    stop_warpbayes("input", sprintf(
      "`%s` has %s in row %.0f%s, column %.0f (%s)%s%s", argument, format(value), row, within,
      scan$first[[2L]], dQuote(markers[[scan$first[[2L]]]], FALSE),
      if (scan$count > 1) sprintf(", the first of %.0f values that are not finite", scan$count) else "",
      if (is.na(value) && !is.null(advice)) paste0("; ", advice) else ""
    ), argument = argument, row = row, column = scan$first[[2L]], call = call)
  }
  # Squares of larger values overflow.
  large <- which(pmax(abs(scan$min), abs(scan$max)) > 1e150)
  if (length(large)) {
    stop_input(argument, "has values beyond 1e150 in column ", large[[1L]], " (",
      dQuote(markers[[large[[1L]]]], FALSE), "), too large to be squared",
      call = call
    )
  }
  scan[c("mean", "sd", "min", "max")]
}

# Up to 10,000 values of a column, spread over the rows that have one.
some_values <- function(x, j) {
  values <- x[spread_over(nrow(x)), j]
  if (!anyNA(values)) {
    return(values)
  }
  known <- which(!is.na(x[, j]))
  x[known[spread_over(length(known))], j]
}

spread_over <- function(rows) {
  unique(floor(seq(1, rows, length.out = min(rows, 10000L))))
}

# Scales of the standardised data: 1 where a column does not vary.
standard_scale <- function(sd) {
  ifelse(sd > 1e-150, sd, 1)
}
