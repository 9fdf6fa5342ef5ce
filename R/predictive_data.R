# The data of predictive models as numbers: checks, columns, centres and scales.

check_numeric_vector <- function(y, argument = "y", least = 1L) {
  if (!is.numeric(y) || !is.null(dim(y))) stop_input(argument, "must be a numeric vector, not ", show_value(y))
  if (length(y) < least) {
    stop_input(argument,
      sprintf("must have at least %d value%s, not %d", least, if (least > 1L) "s" else "", length(y)))
  }
  bad <- which(!is.finite(y))
  if (length(bad)) {
    stop_input(argument, "has the value ", format(y[[bad[[1L]]]]), " at position ", bad[[1L]],
      "; values must be finite")
  }
  as.double(y)
}

check_coordinates <- function(y, argument = "y") {
  if (!is.numeric(y)) stop_input(argument, "must be numeric, not ", show_value(y))
  bad <- which(!is.finite(y))
  if (length(bad)) {
    stop_input(argument, sprintf(
      "has the value %s in row %d, column %d; values must be finite", format(y[[bad[[1L]]]]),
      (bad[[1L]] - 1L) %% nrow(y) + 1L, (bad[[1L]] - 1L) %/% nrow(y) + 1L
    ))
  }
  storage.mode(y) <- "double"
  y
}

as_columns <- function(y, argument) {
  y <- given_data(y, argument)
  if (is.data.frame(y)) {
    odd <- which(!vapply(y, function(column) is.numeric(column) && is.null(dim(column)), NA))
    if (length(odd)) {
      name <- names(y)[[odd[[1L]]]]
      stop_input(argument, "must have numeric columns; column ",
        if (is.na(name) || !nzchar(name)) odd[[1L]] else dQuote(name, FALSE), " is ", show_value(y[[odd[[1L]]]]))
    }
    y <- as.matrix(y)
  }
  if (is.matrix(y)) {
    if (ncol(y) == 0L || nrow(y) == 0L) stop_input(argument, "is empty: ", show_value(y))
    return(check_coordinates(y, argument))
  }
  matrix(check_numeric_vector(y, argument))
}

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
  for (j in extreme) {
    unit <- max(abs(y[, j]))
    if (unit > 0) {
      small <- y[, j] / unit
      center[[j]] <- mean(small) * unit
      scale[[j]] <- sqrt(mean((small - mean(small))^2)) * unit
    }
  }
  constant <- which(scale <= 1e-13 * abs(center) | scale == 0)
  if (length(constant)) {
    name <- colnames(y)[constant[[1L]]]
    column <- if (is.null(name) || !nzchar(name)) constant[[1L]] else dQuote(name, FALSE)
    column <- if (ncol(y) > 1L) paste(" in column", column)
    stop_input(argument, if (nrow(y) == 1L) "has one observation" else paste0("is constant", column),
      ": it cannot be standardised")
  }
  list(center = center, scale = scale)
}

apply_standard <- function(y, standard) {
  sweep(sweep(y, 2L, standard$center), 2L, standard$scale, "/")
}
