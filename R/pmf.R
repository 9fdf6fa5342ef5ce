# The class of a distribution on whole numbers: its constructor, checks, operators, and how it
# is printed.

#' The distribution of a whole-number random variable
#'
#' `pmf()` makes a probability mass function on the whole numbers `from`, `from + 1`,
#' ... out of a vector of probabilities. Distributions of independent variables are then added with `+` and
#' subtracted with `-`; [convolve_pmf()], [sum_pmf()] and [rep_sum()] do the same and have more options.
#'
#' `x + y` and `x - y` are the sum and the difference of independent variables, `x + 3`
#' and `x - 3` shift by a whole number, `-x` changes the sign. `c(x, y)` and `rep(x, 3)` are lists of
#' variables, which [sum_pmf()] adds. Every entry of a sum has a small relative error, however far in the tail it
#' lies: see [convolve_pmf()].
#'
#' Probabilities below 1e-308 become zero in doubles. A distribution made with `log = TRUE` holds logarithms, and so
#' does every sum to which it is added.
#'
#' @param prob the probabilities of `from`, `from + 1`, ...: numbers that are finite and not negative and whose sum
#'   differs from 1 by at most `tolerance`. With `log = TRUE` their natural logarithms, `-Inf` for zero.
#' @param from the value whose probability is `prob[1]`: a whole number of at most 2^52 in absolute value.
#' @param log whether `prob` holds logarithms.
#' @param normalize whether to divide `prob` by its sum, which then only has to be positive and finite.
#' @param tolerance without `normalize`, how far the sum may be from 1, or with `log = TRUE` its logarithm from 0. If it
#'   is within 1e-8 the probabilities are kept as they are; if it is farther off but within `tolerance` they are divided
#'   by it.
#' @param x,object a distribution.
#' @param digits significant digits to show.
#' @param row.names,optional,... as in [as.data.frame()]; for `c()` distributions, for `rep()` as in [rep()];
#'   otherwise not used.
#'
#' @return An object of class `pmf`, a list of `prob` (or of `log_prob`, natural logarithms)
#'   and `from`. `as.data.frame()` gives the columns `value` and `prob` or `log_prob`;
#'   `summary()` a list of class `summary_pmf` with `support` (first and last value), `mean`,
#'   `sd`, `skewness` (`NA` for a constant), `quantiles` (at 0, 1, 25, 50, 75, 99 and 100%) and `mode` (the first of the most
#'   probable values).
#' @section Errors:
#' `warpbayes_error_input` for `prob` that is not a numeric vector, is empty, has negative, missing or infinite
#' entries (the message names the first), is all zero, or does not sum to 1; for `from` that is not a whole
#' number; for `+` or `-` with anything but a distribution or one whole number; and for any other operator or
#' function of numbers, such as `max()` or `exp()`.
#' @seealso [convolve_pmf()], [sum_pmf()], [rep_sum()], [condition_on_sum()]; [dpmf()] for probabilities,
#'   quantiles and draws; [plot.pmf()].
#' @examples
#' die <- pmf(rep(1 / 6, 6), from = 1)
#' die
#' die + die
#' summary(die - die)
#' mean(die + 1)
#' as.data.frame(die + die)
#'
#' # Too small for doubles, not for logarithms.
#' rare <- pmf(dpois(0:2000, 1, log = TRUE), log = TRUE)
#' ppmf(1500, rare, lower.tail = FALSE, log.p = TRUE)
#' @export
pmf <- function(prob, from = 0, log = FALSE, normalize = FALSE, tolerance = 1e-8) {
  log <- check_flag(log, "log")
  normalize <- check_flag(normalize, "normalize")
  tolerance <- check_number(tolerance, "tolerance", min = 0, open = FALSE)
  prob <- check_weights(prob, "prob", log)
  from <- check_count(from, "from", min = -2^52, max = 2^52)
  total <- total_weight(prob, log)
  distance <- abs(total - !log)
  if (normalize && !is.finite(total)) {
    stop_input("prob", "has an infinite sum and cannot be normalized")
  }
  if (normalize || (distance > sum_tolerance && distance <= tolerance)) {
    prob <- if (log) prob - total else prob / total
  } else if (distance > tolerance) {
    stop_input("prob", if (log) "has the log of its sum " else "sums to ", format(total, digits = 10), ", not ",
      if (log) "0" else "1", " to within ", format(tolerance), "; normalize = TRUE divides by the sum"
    )
  }
  new_pmf(prob, from, log)
}

# How far the sum of a distribution's probabilities may be from 1. All functions take a
# distribution's probabilities as they are, which is right to within this.
sum_tolerance <- 1e-8

new_pmf <- function(prob, from, log) {
  structure(if (log) list(log_prob = prob, from = from) else list(prob = prob, from = from), class = "pmf")
}

# A double vector without attributes. Whether its weights can be used is for the entry to find
# out, which leaves it to check_weights() to say what is wrong with them. Other vectors
# are checked here.
plain_weights <- function(weights, argument, log, call = sys.call(-1L)) {
  plain <- is.double(weights) && is.null(attributes(weights)) && length(weights) > 0L
  if (plain) weights else check_weights(weights, argument, log, call)
}

# A double vector of weights, or of logarithms, that can be used; or an error that names
# the first entry which cannot.
check_weights <- function(weights, argument, log, call = sys.call(-1L)) {
  if (is.double(weights) && is.null(attributes(weights)) && .Call(C_pmf_usable, weights, log)) {
    return(weights)
  }
  if (!is.numeric(weights) || (!is.null(dim(weights)) && length(dim(weights)) != 1L)) {
    stop_input(argument, "must be a numeric vector, not ", show_value(weights), call = call)
  }
  if (length(weights) == 0L) {
    stop_input(argument, "is empty: a distribution has at least one value", call = call)
  }
  weights <- as.double(weights)
  bad <- bad_weight(weights, log)
  if (bad > 0) {
    stop_input(argument, sprintf("has the entry %s at position %.0f; ", format(weights[[bad]], digits = 15), bad),
      weight_rule(log), call = call
    )
  }
  if (max(weights) <= if (log) -Inf else 0) {
    stop_input(argument, "is all zero: at least one value must be possible", call = call)
  }
  weights
}

# Logarithms below this are refused: the compiled code keeps numbers as mantissas and binary
# exponents of up to 2^50 (src/numeric/wide.h).
least_log <- -2^49

# The position of the first entry that is not a weight, or 0.
bad_weight <- function(weights, log) {
  range <- range(weights)
  if (log) {
    if (!anyNA(range) && range[[2L]] < Inf && range[[2L]] <= -least_log && (range[[1L]] >= least_log)) {
      return(0)
    }
    bad <- which(is.na(weights) | weights > -least_log | (weights < least_log & weights > -Inf))
  } else {
    if (!anyNA(range) && range[[1L]] >= 0 && range[[2L]] < Inf) {
      return(0)
    }
    bad <- which(is.na(weights) | weights < 0 | weights == Inf)
  }
  if (length(bad) > 0L) bad[[1L]] else 0
}

weight_rule <- function(log) {
  if (log) {
    "logarithms of probabilities must be numbers or -Inf, and not beyond 2^49"
  } else {
    "probabilities must be numbers from 0"
  }
}

is_log <- function(x) !is.null(x$log_prob)

weights_of <- function(x) if (is_log(x)) x$log_prob else x$prob

size_of <- function(x) length(weights_of(x))

last_of <- function(x) x$from + size_of(x) - 1

check_pmf <- function(x, argument, call = sys.call(-1L)) {
  if (!inherits(x, "pmf")) {
    stop_input(argument, "must be a distribution made by pmf(), not ", show_value(x), call = call)
  }
  x
}

# Probabilities, or with log = TRUE their logarithms, whichever of them the distribution holds.
prob_of <- function(x, log = FALSE) {
  if (is_log(x)) {
    if (log) x$log_prob else exp(x$log_prob)
  } else {
    if (log) log(x$prob) else x$prob
  }
}

# Weights in proportion to the probabilities, the largest of them 1 on the log scale: for moments
# and draws, to which entries that underflow then contribute nothing.
relative_weights <- function(x) {
  if (is_log(x)) exp(x$log_prob - max(x$log_prob)) else x$prob
}

total_weight <- function(weights, log) {
  if (length(weights) == 1L) {
    return(weights)
  }
  native(C_pmf_cumulate, weights, log, FALSE, short_run("cpu"))[[length(weights)]]
}

#' @rdname pmf
#' @export
format.pmf <- function(x, ...) {
  sprintf("pmf on %s%s", format_support(x$from, last_of(x)), if (is_log(x)) ", log scale" else "")
}

format_support <- function(from, to) {
  show <- function(value) format(value, digits = 17, scientific = FALSE, trim = TRUE)
  if (from == to) show(from) else paste0(show(from), "..", show(to))
}

#' @rdname pmf
#' @export
print.pmf <- function(x, digits = 4, ...) {
  check_dots_empty(...)
  digits <- check_count(digits, "digits", max = 22)
  summary <- summary(x)
  cat("Distribution of a random variable on ", format_support(x$from, last_of(x)),
    if (is_log(x)) ", probabilities as logarithms", "\n",
    sep = ""
  )
  number <- function(value) format(value, digits = digits, trim = TRUE)
  cat("mean ", number(summary$mean), ", sd ", number(summary$sd), "; quartiles ",
    paste(format(summary$quantiles[3:5], trim = TRUE, scientific = FALSE), collapse = ", "), "\n",
    sep = ""
  )
  most <- 10L
  size <- size_of(x)
  # Ten values about the mode, or all values if there are no more.
  first <- if (size <= most) 1 else min(max(1, summary$mode - x$from + 1 - most %/% 2), size - most + 1)
  shown <- first + seq_len(min(size, most)) - 1
  row <- weights_of(x)[shown]
  names(row) <- format(x$from + shown - 1, scientific = FALSE, trim = TRUE)
  if (length(row) < size) {
    cat(if (is_log(x)) "log probabilities" else "probabilities", " about the mode:\n", sep = "")
  }
  print(row, digits = digits)
  invisible(x)
}

#' @rdname pmf
#' @export
summary.pmf <- function(object, ...) {
  check_dots_empty(...)
  moments <- central_moments(object)
  weights <- weights_of(object)
  structure(
    list(
      support = c(object$from, last_of(object)), mean = moments$mean, sd = sqrt(moments$second),
      skewness = if (moments$second > 0) moments$third / moments$second^1.5 else NA_real_,
      quantiles = stats::quantile(object, c(0, 0.01, 0.25, 0.5, 0.75, 0.99, 1)),
      mode = object$from + which.max(weights) - 1
    ),
    class = "summary_pmf"
  )
}

#' @rdname pmf
#' @export
print.summary_pmf <- function(x, digits = 4, ...) {
  check_dots_empty(...)
  digits <- check_count(digits, "digits", max = 22)
  line <- function(label, value) cat(formatC(label, width = -10L), value, "\n", sep = "")
  number <- function(value) format(value, digits = digits, trim = TRUE)
  line("support", format_support(x$support[[1L]], x$support[[2L]]))
  line("mean", number(x$mean))
  line("sd", number(x$sd))
  line("skewness", number(x$skewness))
  line("mode", format(x$mode, scientific = FALSE, trim = TRUE, digits = 17))
  cat("quantiles\n")
  print(x$quantiles)
  invisible(x)
}

#' @rdname pmf
#' @export
as.data.frame.pmf <- function(x, row.names = NULL, optional = FALSE, ...) {
  value <- x$from + seq_len(size_of(x)) - 1
  columns <- if (is_log(x)) list(value = value, log_prob = x$log_prob) else list(value = value, prob = x$prob)
  as.data.frame(columns, row.names = row.names, optional = optional, ...)
}

#' @rdname pmf
#' @param e1,e2 distributions, or a distribution and one whole number.
#' @export
Ops.pmf <- function(e1, e2) {
  operator <- .Generic
  if (!operator %in% c("+", "-")) {
    stop_warpbayes("input", sprintf("`%s` is not known for distributions: only + and - are", operator), call = sys.call())
  }
  if (missing(e2)) {
    return(if (operator == "-") negate_pmf(e1) else e1)
  }
  if (operator == "-") {
    e2 <- if (inherits(e2, "pmf")) negate_pmf(e2) else -check_shift(e2, "e2", sys.call())
  }
  if (!inherits(e1, "pmf")) {
    return(shift_pmf(e2, check_shift(e1, "e1", sys.call())))
  }
  if (!inherits(e2, "pmf")) {
    return(shift_pmf(e1, check_shift(e2, "e2", sys.call())))
  }
  convolve_pmf(e1, e2)
}

# Without these, R would work on the list that a distribution is: max() would be the largest of
# its probabilities and `from`, and c() of two distributions a list of four vectors.

#' @noRd
#' @export
Math.pmf <- function(x, ...) stop_function(.Generic, sys.call())

#' @noRd
#' @export
Summary.pmf <- function(..., na.rm = FALSE) stop_function(.Generic, sys.call())

stop_function <- function(name, call) {
  instead <- switch(name,
    sum = "; sum_pmf() adds variables", max = , min = , range = "; quantile(x, c(0, 1)) gives the first and the last possible value"
  )
  stop_warpbayes("input", sprintf("`%s()` is not known for distributions%s", name, if (is.null(instead)) "" else instead), call = call)
}

#' @rdname pmf
#' @export
c.pmf <- function(...) list(...)

#' @rdname pmf
#' @export
rep.pmf <- function(x, ...) rep(list(x), ...)

#' @noRd
#' @export
`[.pmf` <- function(x, ...) {
  stop_warpbayes("input", "`[` is not known for distributions; dpmf(values, x) gives probabilities", call = sys.call())
}

#' @noRd
#' @export
rev.pmf <- function(x) {
  stop_warpbayes("input", "`rev()` is not known for distributions; -x changes the sign of a variable", call = sys.call())
}

negate_pmf <- function(x) {
  new_pmf(rev(weights_of(x)), -last_of(x), is_log(x))
}

shift_pmf <- function(x, by) {
  x$from <- x$from + by
  if (abs(x$from) > 2^52) {
    stop_input("from", "of the shifted distribution would be ", show_value(x$from), ", beyond 2^52", call = sys.call(-1L))
  }
  x
}

check_shift <- function(by, argument, call) {
  if (!is.numeric(by) || length(by) != 1L || !is.finite(by) || by != floor(by) || abs(by) > 2^52) {
    stop_input(argument, "must be a distribution or one whole number, not ", show_value(by), call = call)
  }
  as.double(by)
}
