#' The distribution of a discrete random variable
#'
#' `pmf()` makes a probability mass function from a vector of probabilities of `from`, `from + by`, and so on: whole
#' numbers unless you set `by`. [pmf_functions] lists what can be done with it.
#'
#' @section Operators:
#' `x + y` and `x - y` are the sum and the difference of independent variables, `max(x, y)` and `min(x, y)` the largest
#' and the smallest. `2 * x` is twice one variable, `x + x` the sum of two. `c(x, y)` and `rep(x, 3)` are lists.
#' @section Values:
#' A number is read as the decimal fraction or the ratio that it is up to rounding: 0.1 + 0.2 is 0.3, and 1 / 3 is a
#' third. The sum of variables with different steps lies on the longest step that divides both. Without `from` and
#' `values`, `prob` may have the values with it: as a table with one dimension, a vector whose names are numbers, such
#' as `c("1" = 0.2, "5" = 0.8)`, or a data frame of two columns (values, then probabilities or counts).
#' @section The sum of the probabilities:
#' Moments, expected values, draws and the sizes of [compound_pmf()] divide by the sum of the probabilities. All other
#' functions take the probabilities as they are. A plain vector next to a distribution is one on 0, 1, ... and must sum
#' to 1; vectors alone are weights.
#'
#' @param prob probabilities, with `log = TRUE` natural logarithms; or a table, a named vector or a data frame.
#' @param from the value whose probability is `prob[1]`.
#' @param log whether `prob` holds logarithms. Then so does every sum with this distribution.
#' @param normalize whether to divide `prob` by its sum, for example for counts.
#' @param tolerance without `normalize`, how far the sum (with `log = TRUE`: the logarithm of the sum from 0) may be
#'   from 1. Beyond 1e-8 the probabilities are divided by it.
#' @param by the step from one value to the next, a positive number.
#' @param values instead of `from`: the values of `prob`, whole numbers or decimal fractions of up to 15 digits, or with
#'   `by` any numbers whose distances are multiples of `by`. Probabilities of equal values are added.
#' @param x,object a distribution.
#' @param times,each,length.out as in [rep()].
#' @param na.rm not used: a distribution has no missing values.
#' @param row.names,optional,... as in [as.data.frame()]. For `c()` distributions; otherwise must be empty.
#' @return An object of class `pmf`: a list of `prob` (or `log_prob`) and `from`, and where needed `by`, `parts` (`from`
#'   and `by` are divided by it), `at` (for a few values far apart: their distances from `from` in steps), `left_out`
#'   (logarithms of the bounds of [left_out()]) and `family`. `as.data.frame()` and `as.matrix()` give the columns
#'   `value` and `prob` or `log_prob`, `summary()` a list whose kurtosis is 0 for a normal variable.
#' @inheritSection pmf_functions Errors
#' @examples
#' die <- pmf(rep(1 / 6, 6), from = 1)
#' die + die
#' mean(2 * die + 1)
#' rep_sum_pmf(pmf(c(0.3, 0.5, 0.2), values = c(1.5, 1.95, 2.5)), 100)
#' # Too small for doubles, not for logarithms.
#' rare <- pmf(dpois(0:2000, 1, log = TRUE), log = TRUE)
#' ppmf(rare, 1500, lower.tail = FALSE, log.p = TRUE)
#' @export
pmf <- function(prob, from = 0, log = FALSE, normalize = FALSE, tolerance = 1e-8, by = 1, values = NULL) {
  require_arguments("prob")
  log <- check_flag(log, "log")
  normalize <- check_flag(normalize, "normalize")
  tolerance <- check_number(tolerance, "tolerance", min = 0, open = FALSE)
  placed <- !missing(from) || !is.null(values)
  read <- read_weights(prob, placed)
  prob <- check_weights(read$weights, read$argument, log)
  if (!placed) values <- read$values
  if (is.null(values)) {
    by <- check_number(by, "by", min = 0)
    must_be(is_one_number(from) && abs(from) <= 2^52 * min(by, 1), "from",
      "one number of at most 2^52 steps in absolute value", from)
    lattice <- read_lattice(as.double(from), by)
    if (placed) check_values_agree("from", lattice_value(lattice, seq_along(prob) - 1), read)
  } else {
    if (!missing(from)) stop_input("from", "and `values` are both given: the values say where they begin")
    source <- if (placed) "values" else read$source
    values <- check_pmf_values(values, length(prob), source)
    if (placed) check_values_agree("values", values, read)
    found <- lattice_of_values(values, if (!missing(by)) check_number(by, "by", min = 0), source)
  }
  total <- total_weight(prob, log)
  distance <- abs(total - !log)
  if (normalize && !is.finite(total)) stop_input("prob", "has an infinite sum and cannot be normalized")
  if (normalize || (distance > sum_tolerance && distance <= tolerance)) {
    prob <- if (log) prob - total else prob / total
  } else if (distance > tolerance) {
    stop_input("prob", if (log) "has the log of its sum " else "sums to ", format(total, digits = 10), ", not ",
      if (log) "0" else "1", " to within ", format(tolerance), "; normalize = TRUE divides by the sum")
  }
  if (is.null(values)) on_lattice(prob, lattice, log) else pmf_at(prob, found$at, found$lattice, log)
}

#' @noRd
#' @export
format.pmf <- function(x, ...) {
  check_pmf(x, "x")
  sprintf("pmf on %s%s", format_values(x), if (is_log(x)) ", log scale" else "")
}

format_values <- function(x) {
  support <- format_support(x$from, last_of(x))
  if (is_sparse(x)) return(sprintf("%d values in %s", size_of(x), support))
  if (step_of(x) != 1 && size_of(x) > 1L) paste(support, "by", format(step_of(x), digits = 15)) else support
}

format_support <- function(from, to) {
  if (from == to) format_value(from) else paste0(format_value(from), "..", format_value(to))
}

in_console.pmf <- function(x, digits = 4, ...) {
  check_pmf(x, "x")
  check_dots_empty(...)
  digits <- check_count(digits, "digits", max = 22)
  summary <- summary(x)
  number <- function(value) format(value, digits = digits, trim = TRUE)
  writeLines(c(
    paste0("Distribution of a random variable on ", format_values(x), if (is_log(x)) ", probabilities as logarithms"),
    paste0("mean ", number(summary$mean), ", sd ", number(summary$sd), "; quartiles ",
      paste(vapply(summary$quantiles[3:5], format_value, ""), collapse = ", ")), format_left_out(x)))
  most <- 10L
  possible <- which(is_possible(x))
  size <- length(possible)
  # Ten possible values about the mode, or all if there are no more.
  first <- if (size <= most) 1 else min(max(1, which.max(weights_of(x)[possible]) - most %/% 2), size - most + 1)
  shown <- possible[first + seq_len(min(size, most)) - 1]
  if (size > most) cat(if (is_log(x)) "log probabilities" else "probabilities", "about the mode:\n")
  print(stats::setNames(weights_of(x)[shown], format_value(values_of(x, shown))), digits = digits)
}

#' @rdname pmf
#' @export
summary.pmf <- function(object, ...) {
  check_pmf(object, "object")
  check_dots_empty(...)
  moments <- central_moments(object)
  structure(list(
    support = c(object$from, last_of(object)), mean = moments$mean, sd = sqrt(moments$second),
    skewness = if (moments$second > 0) moments$third / moments$second^1.5 else NA_real_,
    kurtosis = if (moments$second > 0) moments$fourth / moments$second^2 - 3 else NA_real_,
    quantiles = stats::quantile(object, c(0, 0.01, 0.25, 0.5, 0.75, 0.99, 1)),
    mode = values_of(object, which.max(weights_of(object)))
  ), class = c("summary_pmf", "warpbayes"))
}

in_console.summary_pmf <- function(x, digits = 4, ...) {
  check_dots_empty(...)
  digits <- check_count(digits, "digits", max = 22)
  number <- function(name) format(x[[name]], digits = digits, trim = TRUE)
  names <- c("support", "mean", "sd", "skewness", "kurtosis", "mode")
  values <- c(format_support(x$support[[1L]], x$support[[2L]]), vapply(names[2:5], number, ""), format_value(x$mode))
  cat(paste0(formatC(names, width = -10L), values, "\n"), "quantiles\n", sep = "")
  print(x$quantiles)
}

#' @rdname pmf
#' @export
as.data.frame.pmf <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_pmf(x, "x")
  optional <- check_flag(optional, "optional")
  must_be(is.null(row.names) || ((is.character(row.names) || is.numeric(row.names)) &&
    length(row.names) == size_of(x) && !anyNA(row.names) && !anyDuplicated(row.names)), "row.names",
    sprintf("NULL or %.0f different names", size_of(x)), row.names)
  value <- values_of(x)
  columns <- if (is_log(x)) list(value = value, log_prob = x$log_prob) else list(value = value, prob = x$prob)
  as.data.frame(columns, row.names = row.names, optional = optional, ...)
}

#' @rdname pmf
#' @export
as.matrix.pmf <- function(x, ...) {
  as.matrix(as.data.frame.pmf(x, ...))
}
