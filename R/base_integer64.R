# Numbers of class "integer64" (package bit64), such as columns that data.table::fread() reads: a double vector whose
# bits are those of a 64-bit integer. R's own functions take these bits for the bits of doubles. So data come in through
# without_integer64(), and is.numeric() of this package refuses what is left.

# `x`, with integer64 values as doubles. In a data frame or a list this concerns the elements. Vectors with integers
# beyond 2^53, which doubles cannot tell apart, stay as they are: they may be identifiers that nobody reads as numbers.
without_integer64 <- function(x) {
  if (inherits(x, "integer64")) return(integer64_numbers(x))
  if (is.data.frame(x) || is.list(x) && !is.object(x)) {
    for (j in which(vapply(x, inherits, NA, "integer64"))) {
      x[[j]] <- integer64_numbers(x[[j]])
    }
  }
  x
}

# Works without package bit64. A missing value is the least 64-bit integer.
integer64_numbers <- function(x) {
  bits <- as.vector(unclass(x))
  values <- numeric(length(bits))
  # writeBin() writes less than 2^31 bytes.
  for (first in seq(1, by = 2^20, length.out = ceiling(length(bits) / 2^20))) {
    rows <- first:min(first + 2^20 - 1, length(bits))
    halves <- readBin(writeBin(bits[rows], raw(), endian = "little"), "integer", 2 * length(rows), endian = "little")
    # R reads the bits of -2^31 as NA.
    halves <- matrix(ifelse(is.na(halves), -2^31, halves), 2L)
    low <- halves[1L, ] %% 2^32
    values[rows] <- ifelse(halves[2L, ] == -2^31 & low == 0, NA, halves[2L, ] * 2^32 + low)
  }
  if (any(abs(values) > 2^53, na.rm = TRUE)) return(x)
  attributes(values) <- attributes(x)
  class(values) <- setdiff(oldClass(x), "integer64")
  values
}

# Base R calls integer64 numeric, and numbers with a unit. Here they are not, so that every check of an argument refuses
# them; R/data_new_rows.R reads columns with units.
is.numeric <- function(x) base::is.numeric(x) && !inherits(x, c("integer64", "units", "ITime"))

# Stops if a variable of a formula or an expression is still integer64: with values beyond 2^53, or from outside `data`.
# With `envir = NULL` only `data` have variables.
check_no_integer64 <- function(expression, data, argument, envir = environment(expression)) {
  names <- all.vars(expression)
  for (name in c(names, if ("." %in% names) names(data))) {
    find <- function() {
      if (name %in% names(data)) data[[name]] else if (is.environment(envir)) get0(name, envir)
    }
    # A variable that cannot be evaluated is left to model.frame().
    if (isTRUE(tryCatch(inherits(find(), "integer64"), error = pass_on))) {
      stop_input(argument, "needs the variable ", dQuote(shorten(name), FALSE), ", which is ", show_value(find()))
    }
  }
}
