# How data come in: given_data() refuses containers that are not what they seem, and reads numbers of class "integer64"
# (package bit64), doubles whose bits are those of a 64-bit integer. is.numeric() of this package refuses what is left.

# Vectors with integers beyond 2^53, which doubles cannot tell apart, stay as they are: they may be identifiers.
given_data <- function(x, argument) {
  check_container(x, argument)
  if (inherits(x, "integer64")) return(integer64_numbers(x))
  if (is.data.frame(x) || is.list(x) && !is.object(x)) {
    for (j in which(vapply(x, inherits, NA, "integer64"))) x[[j]] <- integer64_numbers(x[[j]])
  }
  x
}

container_faults <- list(
  data.frame = function(x) {
    columns <- unclass(x)
    rows <- as.double(.row_names_info(x, 2L))
    if (!is.list(columns) || length(columns) && is.null(names(columns))) return("has no columns with names")
    of <- vapply(columns, function(column) as.double(NROW(column)), 0)
    odd <- which(of != rows)
    if (length(odd)) {
      return(sprintf("has %s and %.0f values in column %s", count_words(rows, "row"), of[[odd[[1L]]]],
        dQuote(shorten(names(columns)[[odd[[1L]]]]), FALSE)))
    }
    lies <- !identical(as.double(dim(x)), c(rows, length(columns))) || !is.data.frame(x[min(1L, length(columns))]) ||
      length(columns) && !identical(x[[1L]], columns[[1L]])
    if (lies) "is a data frame whose dim() or `[` do not give its columns"
  },
  factor = function(x) {
    codes <- unclass(x)
    if (!is.integer(codes) || !is.character(levels(x)) || anyDuplicated(levels(x)) ||
      any(codes < 1L | codes > nlevels(x), na.rm = TRUE)) "is a factor with codes that are none of its levels"
  },
  Matrix = function(x) {
    valid <- methods::validObject(x, test = TRUE)
    if (!isTRUE(valid)) paste0("is not a valid ", class(x)[[1L]], ": ", valid[[1L]])
  },
  simple_triplet_matrix = function(x) {
    x <- unclass(x)
    within <- function(index, size) {
      base::is.numeric(index) && base::is.numeric(size) && length(size) == 1L && length(index) == length(x$v) &&
        !is.na(size) && !anyNA(index) && (!length(index) || min(index) >= 1 && max(index) <= size)
    }
    if (!is.list(x) || !within(x$i, x$nrow) || !within(x$j, x$ncol)) {
      "has elements i, j, v, nrow and ncol that do not agree: lengths differ, or a place lies outside"
    }
  }
)

# Elements of data frames and lists are checked too.
check_container <- function(x, argument, place = "") {
  texts <- c(names(x), if (is.matrix(x)) colnames(x), if (is.factor(x)) levels(x) else if (is.character(x)) x)
  if ("bytes" %in% Encoding(as.character(texts))) {
    stop_input(argument, place, "has a text in the encoding \"bytes\": iconv() gives it one that can be read")
  }
  if (is.object(x) && !inherits(x, "warpbayes")) {
    kind <- if (!isS4(x)) intersect(class(x), names(container_faults)) else if (methods::is(x, "Matrix")) "Matrix"
    wrong <- if (length(kind)) {
      tryCatch(container_faults[[kind[[1L]]]](x), error = function(error) {
        pass_on(error)
        paste("cannot be read:", short_message(error))
      })
    }
    if (is.null(wrong) && place == "" && base::is.numeric(x) && !isS4(x) && !is_honest(x)) {
      wrong <- sprintf("is of class %s, whose dim(), length() or `[` do not give its values",
        dQuote(class(x)[[1L]], FALSE))
    }
    if (!is.null(wrong)) stop_input(argument, place, wrong)
  }
  if (!is.data.frame(x) && (!is.list(x) || is.object(x))) return(invisible())
  elements <- unclass(x)
  for (i in which(vapply(elements, function(element) is.object(element) || is.character(element), NA))) {
    name <- c(names(elements)[i], "")[[1L]]
    check_container(elements[[i]], argument, sprintf("has the element %s, which ",
      if (nzchar(name)) dQuote(shorten(name), FALSE) else i))
  }
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

# FALSE for what base R calls numeric, and every check of an argument refuses: units, and classes that lie.
is.numeric <- function(x) {
  base::is.numeric(x) && (!is.object(x) || !inherits(x, c("integer64", "units", "ITime")) && (isS4(x) || is_honest(x)))
}

is_honest <- function(x) {
  if (!is.atomic(x)) return(TRUE) # Package slam calls its lists numeric.
  own <- unclass(x)
  first <- function(x) as.vector(unclass(x[1L]))
  tryCatch(identical(dim(x), dim(own)) && length(x) == length(own) && (!length(own) || identical(first(x), first(own))),
    error = function(error) FALSE)
}

# Stops if a variable of an expression is still integer64. With `envir = NULL` only `data` have variables.
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
