# The data of predictive models as numbers: checks, columns, centres and scales.

check_numeric_vector <- function(y, argument = "y") {
  must_be(is.numeric(y) && is.null(dim(y)), argument, "a numeric vector", y)
  if (length(y) == 0L) stop_input(argument, "must have at least 1 value, not 0")
  as.double(check_coordinates(y, argument))
}

check_coordinates <- function(y, argument = "y") {
  must_be(is.numeric(y), argument, "numeric", y)
  bad <- match(FALSE, is.finite(y))
  if (!is.na(bad)) {
    place <- if (is.null(dim(y))) paste("at position", bad) else {
      sprintf("in row %d, column %d", row(y)[[bad]], col(y)[[bad]])
    }
    stop_input(argument, sprintf("has the value %s %s; values must be finite", format(y[[bad]]), place))
  }
  storage.mode(y) <- "double"
  y
}

as_columns <- function(y, argument) {
  y <- given_data(y, argument)
  if (is.data.frame(y)) {
    odd <- match(FALSE, vapply(y, function(column) is.numeric(column) && is.null(dim(column)), NA))
    if (!is.na(odd)) {
      stop_input(argument, "must have numeric columns; column ", quoted_column(names(y), odd), " is ",
        show_value(y[[odd]]))
    }
    y <- as.matrix(y)
  }
  if (is.matrix(y)) {
    if (ncol(y) == 0L || nrow(y) == 0L) stop_input(argument, "is empty: ", show_value(y))
    return(check_coordinates(y, argument))
  }
  matrix(check_numeric_vector(y, argument))
}

quoted_column <- function(names, j) if (isTRUE(nzchar(names[j], keepNA = TRUE))) dQuote(names[[j]], FALSE) else j

column_labels <- function(y) {
  columns <- if (is.null(colnames(y))) as.character(seq_len(ncol(y))) else colnames(y)
  unnamed <- is.na(columns) | !nzchar(columns)
  replace(columns, unnamed, which(unnamed))
}

# The centre and scale of each column. A constant column has no scale, which is an error.
standard_of <- function(y, wanted, argument) {
  if (!wanted) return(list(center = rep(0, ncol(y)), scale = rep(1, ncol(y))))
  center <- colMeans(y)
  scale <- sqrt(colMeans(sweep(y, 2L, center)^2))
  # Squares of values such as 1e300 or 1e-200 are not numbers, or 0.
  extreme <- which(!is.finite(scale) | scale < 1e-150)
  for (j in extreme[colSums(y[, extreme, drop = FALSE] != 0) > 0]) {
    unit <- max(abs(y[, j]))
    small <- y[, j] / unit
    center[[j]] <- mean(small) * unit
    scale[[j]] <- sqrt(mean((small - mean(small))^2)) * unit
  }
  constant <- match(TRUE, scale <= 1e-13 * abs(center) | scale == 0)
  if (!is.na(constant)) {
    stop_input(argument, if (nrow(y) == 1L) "has one observation" else {
      paste0("is constant", if (ncol(y) > 1L) paste(" in column", quoted_column(colnames(y), constant)))
    }, ": it cannot be standardised")
  }
  list(center = center, scale = scale)
}

apply_standard <- function(y, standard) sweep(sweep(y, 2L, standard$center), 2L, standard$scale, "/")
in_units <- function(z, standard) sweep(sweep(z, 2L, standard$scale, "*"), 2L, standard$center, "+")
