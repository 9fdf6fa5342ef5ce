# The class of a distribution on whole numbers, or on multiples of another step: constructor, checks and printing.

#' The distribution of a discrete random variable
#'
#' `pmf()` makes a probability mass function from a vector of probabilities. Its values are `from`, `from + by`,
#' `from + 2 * by` and so on: whole numbers unless you set `by`. `x + y` is then the distribution of the sum of two
#' independent variables, and `x - y` the distribution of their difference.
#'
#' [convolve_pmf()], [sum_pmf()] and [rep_sum_pmf()] add distributions too, and have more options. Every entry of a sum
#' has a small relative error, however far in the tail it lies: see [convolve_pmf()].
#'
#' @section Operators:
#' \describe{
#'   \item{`x + y`, `x - y`}{sum and difference of independent variables.}
#'   \item{`x + 3`, `x - 3`}{the variable shifted.}
#'   \item{`2 * x`, `x / 2`, `-x`}{the variable scaled, or with the other sign. `2 * x` is twice one variable; `x + x`
#'     is the sum of two independent ones.}
#'   \item{`max(x, y)`, `min(x, y)`}{the largest and the smallest of independent variables.}
#'   \item{`c(x, y)`, `rep(x, 3)`}{lists of variables, which [sum_pmf()] adds.}
#' }
#'
#' @section Steps:
#' The sum of variables with different steps lies on the longest step that divides both steps. With the steps 0.5 and
#' 0.2 this is 0.1.
#'
#' Values are exact. A number that you give is read as the decimal fraction or the ratio that it is up to rounding:
#' 0.1 + 0.2 is 0.3, and 1 / 3 is a third. All functions then compute with whole numbers, so `x + 0.1 + 0.2` and
#' `x + 0.3` are [identical()]. Steps such as pi and e have no common step that doubles can count. Their ratio is taken
#' to 13 digits.
#'
#' With `values`, the distribution is on any numbers whose distances are multiples of some step. A few values far
#' apart are kept as they are, without the impossible values in between. So are their sums. The argument `tail` of
#' [sum_pmf()] and [rep_sum_pmf()] leaves out improbable values.
#'
#' @section Tables, names and data frames:
#' `pmf()` takes the values from `prob` if neither `from` nor `values` is given and `prob` is
#' \itemize{
#'   \item a table with one dimension, such as `table(x)`: its names are the values;
#'   \item a vector whose names are numbers, such as `c("1" = 0.2, "5" = 0.8)`. Names of which none is a number are
#'     labels and are ignored;
#'   \item a data frame of two columns: the values, then the probabilities or counts. `as.data.frame()` of a
#'     distribution or a table is one. If only the first column is called `prob`, `log_prob`, `probability`, `p`,
#'     `count`, `n` or `Freq`, the second one has the values.
#' }
#' Counts need `normalize = TRUE`. With `from` or `values`, names that are not all numbers are labels. Numbers that
#' contradict `from` or `values` are an error.
#'
#' @section The sum of the probabilities:
#' `pmf()` makes sure that the probabilities sum to 1 to within 1e-8. `tolerance` and `normalize` say what it does
#' otherwise. From then on all functions of this package take the probabilities as they are, with these exceptions:
#' \itemize{
#'   \item Moments, expected values, draws and the sizes of [compound_pmf()] divide by the sum.
#'   \item [ppmf()] gives 1 where a sum passes 1.
#' }
#'
#' A plain vector or matrix counts as weights, whose sum need not be 1, in two cases: in [convolve_pmf()], [sum_pmf()]
#' and [rep_sum_pmf()] if no argument is a distribution (the result is then a vector or matrix of weights), and in
#' [condition_on_sum_pmf()], whose result sums to 1 in any case. Elsewhere a vector is a distribution and must sum to 1.
#'
#' Functions that leave out a tail say how probable it is. They do not add it to other values.
#'
#' Probabilities below 1e-308 become zero in doubles. A distribution made with `log = TRUE` holds logarithms instead,
#' and so does every sum with such a distribution.
#'
#' @param prob the probabilities of `from`, `from + by`, ...: finite numbers from 0 whose sum differs from 1 by at
#'   most `tolerance`. With `log = TRUE` their natural logarithms, `-Inf` for zero. Or a table, a named vector or a data
#'   frame, which has the values too: see below.
#' @param from the value whose probability is `prob[1]`: a number of at most 2^52 steps in absolute value.
#' @param log whether `prob` holds logarithms.
#' @param normalize whether to divide `prob` by its sum. The sum then only has to be positive and finite.
#' @param tolerance without `normalize`, how far the sum may be from 1 (with `log = TRUE`: its logarithm from 0). Up
#'   to 1e-8 the probabilities are kept as they are; between 1e-8 and `tolerance` they are divided by their sum.
#' @param by the step from one value to the next, a positive number.
#' @param values instead of `from` and `by`: the values whose probabilities are in `prob`. Either whole numbers or
#'   decimal fractions of up to 15 digits, or, with `by`, any numbers whose distances are multiples of `by`.
#'   Probabilities of equal values are added.
#' @param x,object a distribution.
#' @param times,each,length.out as in [rep()]: `x` is repeated `times * each` times, or `length.out` times.
#' @param na.rm not used: a distribution has no missing values.
#' @param row.names,optional,... as in [as.data.frame()]. For `c()` distributions; otherwise
#'   must be empty.
#'
#' @return An object of class `pmf`: a list of `prob` (or of `log_prob`, natural logarithms) and `from`. It also has
#'   `by` if the step is not 1, `parts` if `from` and `by` are fractions (both are whole numbers divided by it), and,
#'   for a few values far apart, `at`: their distances from `from` in steps. A distribution that was cut has `left_out`,
#'   logarithms of the bounds that [left_out()] gives, and one of [pmf_families] has `family`, its name and parameters.
#'
#'   `as.data.frame()` and `as.matrix()` give the columns `value` and `prob` or `log_prob`.
#'
#'   `summary()` gives a list of class `summary_pmf` with `support` (first and last value), `mean`, `sd`, `skewness`
#'   and `kurtosis` (0 for a normal variable; both `NA` for a constant), `quantiles` (at 0, 1, 25, 50, 75, 99 and
#'   100%) and `mode` (the first of the most probable values).
#' @section Errors:
#' `warpbayes_error_input` for
#' \itemize{
#'   \item `prob` that is not a numeric vector, is empty, has negative, missing or infinite entries (the message names
#'     the first), is all zero, or does not sum to 1;
#'   \item `from`, `by` and `values` that are not such numbers;
#'   \item a table whose names are not numbers, and a vector of whose names only some are numbers (the message shows
#'     the first that is not);
#'   \item `+` or `-` with anything but a distribution or one number;
#'   \item sums of variables whose steps have no common step of which 2^53 reach all values;
#'   \item any other operator, and functions of numbers such as `exp()`.
#' }
#' @seealso [pmf_functions] lists all functions of distributions. [convolve_pmf()], [sum_pmf()], [rep_sum_pmf()] and
#'   [condition_on_sum_pmf()] for sums; [dpmf()] for probabilities, quantiles and draws; [pmf_families] for
#'   distributions by name; [mix_pmf()] and [expected_value()] for what else can be done with distributions;
#'   [compound_pmf()] for random numbers of summands; [plot.pmf()].
#' @examples
#' die <- pmf(rep(1 / 6, 6), from = 1)
#' die
#' die + die
#' summary(die - die)
#' mean(2 * die + 1)
#' as.data.frame(die + die)
#'
#' # Prices that end in 50 or 95 cents, and 100,000 values far apart.
#' prices <- pmf(c(0.3, 0.5, 0.2), values = c(1.5, 1.95, 2.5))
#' rep_sum_pmf(prices, 100)
#' losses <- pmf(c(0.9, 0.09, 0.01), values = c(0, 25000, 1e9))
#' losses + losses
#'
#' # The distribution of a sample.
#' pmf(table(c(1, 1, 2, 5)), normalize = TRUE)
#'
#' # Too small for doubles, not for logarithms.
#' rare <- pmf(dpois(0:2000, 1, log = TRUE), log = TRUE)
#' ppmf(1500, rare, lower.tail = FALSE, log.p = TRUE)
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
    lattice <- read_lattice(check_first(from, by), by)
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
      if (log) "0" else "1", " to within ", format(tolerance), "; normalize = TRUE divides by the sum"
    )
  }
  if (is.null(values)) on_lattice(prob, lattice, log) else pmf_at(prob, found$at, found$lattice, log)
}

# How far the sum of a distribution's probabilities may be from 1. All functions take the probabilities as they
# are, so results are right to within this tolerance.
sum_tolerance <- 1e-8

check_first <- function(from, by) {
  if (!is.numeric(from) || length(from) != 1L || !is.finite(from) || abs(from) > 2^52 * min(by, 1)) {
    stop_input("from", "must be one number of at most 2^52 steps in absolute value, not ", show_value(from))
  }
  as.double(from)
}

# `argument` names what held the values: the argument `values`, or a part of `prob`.
check_pmf_values <- function(values, size, argument = "values") {
  values <- without_integer64(values)
  if (!is.numeric(values) || is.data.frame(values) || length(values) != size ||
    any(!is.finite(values)) || max(abs(values)) > 2^52) {
    stop_input(argument,
      sprintf("must be numbers of at most 2^52 in absolute value, as many as probabilities (%d), not ", size),
      show_value(values))
  }
  as.double(values)
}

# The lattice of these values, and their positions. Without a step the values must be whole numbers or decimal
# fractions, and the step is the longest that divides all their distances.
lattice_of_values <- function(values, by = NULL, argument = "values") {
  first <- min(values)
  if (!is.null(by)) return(list(lattice = read_lattice(first, by), at = positions_on_step(values, first, by, argument)))
  distance <- values - first
  for (scale in 10^(0:9)) {
    whole <- round(distance * scale)
    slack <- 8 * .Machine$double.eps * scale * max(abs(values), distance)
    if (max(whole) < 2^52 && all(abs(whole - distance * scale) <= slack)) {
      step <- common_divisor(whole)
      if (step == 0) return(list(lattice = read_lattice(first, 1), at = whole))
      return(list(lattice = read_lattice(first, step / scale), at = whole / step))
    }
  }
  # More decimals, if the values are exactly what they print with 15 digits. Rounding errors of positions up to 2^47 are
  # less than a tenth, so that none becomes its neighbour.
  for (scale in 10^(10:15)) {
    whole <- round(values * scale)
    if (max(abs(whole)) > 1e15) break
    if (all(whole / scale == values)) {
      origin <- min(whole)
      step <- common_divisor(whole - origin)
      if (max(abs(whole)) <= 2^47 * step) {
        return(list(lattice = new_lattice(origin, step, scale), at = (whole - origin) / step))
      }
    }
  }
  stop_input(argument, "are neither whole numbers nor decimal fractions: give the step, `by`")
}

positions_on_step <- function(values, first, by, argument) {
  at <- (values - first) / by
  off <- which(abs(at - round(at)) > 1e-6 + 8 * .Machine$double.eps * (abs(values) + abs(first)) / by)
  if (length(off) > 0L || max(at) > 2^52 || abs(first) > 2^52 * min(by, 1)) {
    stop_input(argument, "must be multiples of `by`, ", format(by, digits = 15),
      ", apart, and at most 2^52 of them, which ",
      format(if (length(off) > 0L) values[[off[[1L]]]] else max(values), digits = 15), " is not")
  }
  round(at)
}

# A distribution from weights at positions in any order.
pmf_at <- function(weights, at, lattice, log) {
  gathered <- gather_positions(at, weights, log)
  from_positions(gathered$at, gathered$weights, lattice, log)
}

# A double vector without attributes. If `weights` is one already, it is returned unchecked: the compiled code finds
# weights that cannot be used, and check_weights() then says what is wrong. Any other vector is checked here.
plain_weights <- function(weights, argument, log) {
  plain <- is.double(weights) && is.null(attributes(weights)) && length(weights) > 0L
  if (plain) return(weights)
  # Such a vector or table would count as weights of 0, 1, ...
  if (is.numeric(weights) && !is.null(names(weights)) && all(is_number_text(names(weights)))) {
    stop_input(argument, "has values in its names: pmf() makes a distribution of it")
  }
  check_weights(weights, argument, log)
}

# A double vector of usable weights (or logarithms), or an error that names the first unusable entry.
check_weights <- function(weights, argument, log) {
  if (is.double(weights) && is.null(attributes(weights)) && .Call(C_pmf_usable, weights, log)) return(weights)
  weights <- without_integer64(weights)
  if (!is.numeric(weights) || (!is.null(dim(weights)) && length(dim(weights)) != 1L)) {
    stop_input(argument, "must be a numeric vector, not ", show_value(weights))
  }
  if (length(weights) == 0L) stop_input(argument, "is empty: a distribution has at least one value")
  weights <- as.double(weights)
  bad <- bad_weight(weights, log)
  if (bad > 0) {
    stop_input(argument, sprintf("has the entry %s at position %.0f; ", format(weights[[bad]], digits = 15), bad),
      weight_rule(log))
  }
  if (max(weights) <= if (log) -Inf else 0) stop_input(argument, "is all zero: at least one value must be possible")
  weights
}

# Logarithms below this are refused: the compiled code keeps numbers as mantissas and binary
# exponents of up to 2^50 (src/numeric/wide.h).
least_log <- -2^49

# The position of the first entry that is not a weight, or 0.
bad_weight <- function(weights, log) {
  range <- range(weights)
  if (log) {
    if (!anyNA(range) && range[[2L]] < Inf && range[[2L]] <= -least_log && (range[[1L]] >= least_log)) return(0)
    bad <- which(is.na(weights) | weights > -least_log | (weights < least_log & weights > -Inf))
  } else {
    if (!anyNA(range) && range[[1L]] >= 0 && range[[2L]] < Inf) return(0)
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

# Probabilities, or with log = TRUE their logarithms. The distribution may hold either.
prob_of <- function(x, log = FALSE) {
  if (is_log(x)) {
    if (log) x$log_prob else exp_of(x$log_prob)
  } else {
    if (log) log_of(x$prob) else x$prob
  }
}

# Weights in proportion to the probabilities, for moments and draws. For a distribution on the log scale the largest
# weight is 1, so that only negligible entries underflow.
relative_weights <- function(x) {
  if (!is_log(x)) return(x$prob)
  largest <- max(x$log_prob)
  by_blocks(length(x$log_prob), function(at) exp(x$log_prob[at] - largest))
}

total_weight <- function(weights, log) {
  if (length(weights) == 1L) return(weights)
  native(C_pmf_cumulate, weights, log, FALSE, resolve_run("cpu", work = 0))[[length(weights)]]
}

#' @rdname pmf
#' @export
format.pmf <- function(x, ...) {
  check_pmf(x, "x")
  sprintf("pmf on %s%s", format_values(x), if (is_log(x)) ", log scale" else "")
}

format_values <- function(x) {
  support <- format_support(x$from, last_of(x))
  if (is_sparse(x)) {
    sprintf("%d values in %s", size_of(x), support)
  } else if (step_of(x) != 1 && size_of(x) > 1L) {
    paste(support, "by", format(step_of(x), digits = 15))
  } else {
    support
  }
}

# Values as text: whole numbers with all digits.
format_value <- function(value) {
  format(value, digits = if (all(value == floor(value))) 17 else 15, scientific = FALSE, trim = TRUE)
}

format_support <- function(from, to) {
  if (from == to) format_value(from) else paste0(format_value(from), "..", format_value(to))
}

in_console.pmf <- function(x, digits = 4, ...) {
  check_pmf(x, "x")
  check_dots_empty(...)
  digits <- check_count(digits, "digits", max = 22)
  summary <- summary(x)
  cat("Distribution of a random variable on ", format_values(x),
    if (is_log(x)) ", probabilities as logarithms", "\n",
    sep = ""
  )
  number <- function(value) format(value, digits = digits, trim = TRUE)
  cat("mean ", number(summary$mean), ", sd ", number(summary$sd), "; quartiles ",
    paste(vapply(summary$quantiles[3:5], format_value, ""), collapse = ", "), "\n",
    sep = ""
  )
  left_out <- format_left_out(x)
  if (!is.null(left_out)) cat(left_out, "\n", sep = "")
  most <- 10L
  size <- size_of(x)
  # Ten values about the mode, or all values if there are no more.
  first <- if (size <= most) 1 else min(max(1, which.max(weights_of(x)) - most %/% 2), size - most + 1)
  shown <- first + seq_len(min(size, most)) - 1
  row <- weights_of(x)[shown]
  names(row) <- format_value(values_of(x, shown))
  if (length(row) < size) {
    cat(if (is_log(x)) "log probabilities" else "probabilities", " about the mode:\n", sep = "")
  }
  print(row, digits = digits)
}

#' @rdname pmf
#' @export
summary.pmf <- function(object, ...) {
  check_pmf(object, "object")
  check_dots_empty(...)
  moments <- central_moments(object)
  weights <- weights_of(object)
  structure(
    list(
      support = c(object$from, last_of(object)), mean = moments$mean, sd = sqrt(moments$second),
      skewness = if (moments$second > 0) moments$third / moments$second^1.5 else NA_real_,
      kurtosis = if (moments$second > 0) moments$fourth / moments$second^2 - 3 else NA_real_,
      quantiles = stats::quantile(object, c(0, 0.01, 0.25, 0.5, 0.75, 0.99, 1)),
      mode = values_of(object, which.max(weights))
    ),
    class = c("summary_pmf", "warpbayes")
  )
}

in_console.summary_pmf <- function(x, digits = 4, ...) {
  check_dots_empty(...)
  digits <- check_count(digits, "digits", max = 22)
  line <- function(label, value) cat(formatC(label, width = -10L), value, "\n", sep = "")
  number <- function(value) format(value, digits = digits, trim = TRUE)
  line("support", format_support(x$support[[1L]], x$support[[2L]]))
  line("mean", number(x$mean))
  line("sd", number(x$sd))
  line("skewness", number(x$skewness))
  line("kurtosis", number(x$kurtosis))
  line("mode", format_value(x$mode))
  cat("quantiles\n")
  print(x$quantiles)
}

#' @rdname pmf
#' @export
as.data.frame.pmf <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_pmf(x, "x")
  optional <- check_flag(optional, "optional")
  usable <- is.null(row.names) || ((is.character(row.names) || is.numeric(row.names)) &&
    length(row.names) == size_of(x) && !anyNA(row.names) && !anyDuplicated(row.names))
  if (!usable) {
    stop_input("row.names", sprintf("must be NULL or %.0f different names, not ", size_of(x)), show_value(row.names))
  }
  value <- values_of(x)
  columns <- if (is_log(x)) list(value = value, log_prob = x$log_prob) else list(value = value, prob = x$prob)
  as.data.frame(columns, row.names = row.names, optional = optional, ...)
}

#' @rdname pmf
#' @export
as.matrix.pmf <- function(x, ...) {
  as.matrix(as.data.frame.pmf(x, ...))
}
