# Operators of distributions, and R functions that would otherwise treat a distribution as a list.

#' @rdname pmf
#' @param e1,e2 distributions, or a distribution and one number.
#' @export
Ops.warpbayes <- function(e1, e2) {
  operator <- .Generic
  if (!inherits(e1, "pmf") && (missing(e2) || !inherits(e2, "pmf"))) {
    x <- if (inherits(e1, "warpbayes")) e1 else e2
    return(if (is.atomic(x)) NextMethod() else stop_refused(operator, x))
  }
  if (inherits(e1, "pmf")) check_pmf(e1, "e1")
  if (!missing(e2) && inherits(e2, "pmf")) check_pmf(e2, "e2")
  if (missing(e2)) {
    if (!operator %in% c("+", "-")) stop_operator(operator)
    return(if (operator == "-") negate_pmf(e1) else e1)
  }
  switch(operator,
    "+" = add_or_shift(e1, e2),
    "-" = add_or_shift(e1, if (inherits(e2, "pmf")) negate_pmf(e2) else -check_shift(e2, "e2")),
    "*" = if (inherits(e1, "pmf")) scale_pmf(e1, e2, "e2", operator) else scale_pmf(e2, e1, "e1", operator),
    "/" = scale_pmf(e1, e2, "e2", operator),
    stop_operator(operator)
  )
}

add_or_shift <- function(e1, e2) {
  if (!inherits(e1, "pmf")) return(shift_pmf(e2, check_shift(e1, "e1")))
  if (!inherits(e2, "pmf")) return(shift_pmf(e1, check_shift(e2, "e2")))
  convolve_pmf(e1, e2)
}

stop_operator <- function(operator) {
  # pmin() and pmax() of R compare their arguments.
  instead <- if (operator %in% c("<", ">", "<=", ">=", "==", "!=")) {
    "; probability() gives the probability of an event, and min() and max() take the place of pmin() and pmax()"
  }
  stop_warpbayes("input", paste0(
    sprintf("`%s` is not known for distributions: only + and -, and * and / with a number, are", operator), instead
  ))
}

check_shift <- function(by, argument) {
  if (!is.numeric(by) || length(by) != 1L || !is.finite(by) || abs(by) > 2^52) {
    stop_input(argument, "must be a distribution or one number of at most 2^52, not ", show_value(by))
  }
  as.double(by)
}

negate_pmf <- function(x) {
  lattice <- lattice_of(x)
  lattice$origin <- -(lattice$origin + lattice$step * last_position(x))
  at <- if (is_sparse(x)) last_position(x) - rev(x$at)
  leave_out(on_lattice(rev(weights_of(x)), lattice, is_log(x), at), rev(left_out_of(x)))
}

shift_pmf <- function(x, by) {
  lattice <- shifted_lattice(lattice_of(x), by)
  from <- lattice$origin / lattice$parts
  if (abs(from) > 2^52 * min(step_of(x), 1)) {
    stop_input("from", "of the shifted distribution would be ", show_value(from), ", beyond 2^52",
      if (step_of(x) < 1) " of its steps")
  }
  leave_out(on_lattice(weights_of(x), lattice, is_log(x), x$at), left_out_of(x))
}

shifted_lattice <- function(lattice, by) {
  ratio <- as_ratio(by)
  parts <- common_multiple(c(lattice$parts, ratio[[2L]]))
  origin <- lattice$origin * (parts / lattice$parts)
  step <- lattice$step * (parts / lattice$parts)
  moved <- ratio[[1L]] * (parts / ratio[[2L]])
  if (is_exact(parts, origin, step, moved)) return(new_lattice(origin + moved, step, parts))
  read_lattice(lattice$origin / lattice$parts + by, lattice$step / lattice$parts)
}

scale_pmf <- function(x, times, argument, operator) {
  usable <- inherits(x, "pmf") && is.numeric(times) && length(times) == 1L && is.finite(times) &&
    (operator == "*" || times != 0)
  if (!usable) {
    stop_input(argument, sprintf("of %s must be one number%s, and the other a distribution, not ", operator,
      if (operator == "/") " other than 0" else ""), show_value(times))
  }
  times <- as.double(times)
  if (times == 0) {
    return(new_pmf(if (is_log(x)) 0 else 1, 0, is_log(x)))
  }
  if (times < 0) {
    x <- negate_pmf(x)
    times <- -times
  }
  scale <- function(value) if (operator == "*") value * times else value / times
  step <- scale(step_of(x))
  from <- scale(x$from)
  if (!is.finite(step) || step < 1e-300 || abs(from) > 2^52 * min(step, 1) || last_position(x) * step > 2^1000) {
    stop_input(argument, "is ", show_value(times), ": the values would be beyond 2^52 steps or what doubles hold")
  }
  ratio <- as_ratio(times)
  if (operator == "/") ratio <- rev(ratio)
  lattice <- scaled_lattice(lattice_of(x), ratio, from, step)
  leave_out(on_lattice(weights_of(x), lattice, is_log(x), x$at), left_out_of(x))
}

# Rounded to `from` and `by` if numerator and denominator have no common parts below 2^53.
scaled_lattice <- function(lattice, ratio, from, by) {
  lattice <- new_lattice(lattice$origin * ratio[[1L]], lattice$step * ratio[[1L]], lattice$parts * ratio[[2L]])
  if (is_exact(unlist(lattice))) lattice else read_lattice(from, by)
}

# A distribution is a list. Without these methods max() would return the largest of its probabilities and `from`, and
# c() of two distributions would be a list of four vectors.

#' @rdname pmf
#' @export
Summary.pmf <- function(..., na.rm = FALSE) {
  if (!.Generic %in% c("max", "min")) stop_refused(.Generic, ..1)
  extreme_pmf(list(...), .Generic)
}

#' @rdname pmf
#' @export
c.pmf <- function(...) {
  structure(list(...), class = c("pmf_list", "warpbayes"))
}

#' @rdname pmf
#' @export
rep.pmf <- function(x, times = 1, each = 1, length.out = NULL, ...) {
  check_method(x, "x", ...)
  times <- check_count(times, "times", min = 0, max = 2^52)
  each <- check_count(each, "each", min = 0, max = 2^52)
  count <- if (is.null(length.out)) times * each else check_count(length.out, "length.out", min = 0, max = 2^52)
  given <- if (!is.null(length.out)) "length.out" else if (each > times) "each" else "times"
  check_result_size(count, given, "elements", copies = 2)
  structure(rep(list(x), count), class = c("pmf_list", "warpbayes"))
}

in_console.pmf_list <- function(x, ...) {
  check_dots_empty(...)
  cat(length(x), if (length(x) == 1L) "distribution" else "distributions", "\n")
  shown <- seq_len(min(length(x), 10L))
  for (i in shown) {
    cat(sprintf("[[%d]] %s\n", i, if (inherits(x[[i]], "pmf")) format(x[[i]]) else show_value(x[[i]])))
  }
  if (length(x) > length(shown)) cat("...\n")
}

#' @noRd
#' @export
`[.pmf` <- function(x, ...) {
  stop_warpbayes("input", "`[` is not known for distributions; dpmf(x, values) gives probabilities")
}
