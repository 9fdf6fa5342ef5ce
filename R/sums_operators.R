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
  stop_warpbayes("input", paste0("`", operator,
    "` is not known for distributions: only + and -, and * and / with a number, are", instead))
}

check_shift <- function(by, argument, most = " of at most 2^52") {
  must_be(is_one_number(by) && abs(by) <= 2^52, argument, paste0("a distribution or one number", most), by)
  as.double(by)
}

negate_pmf <- function(x) {
  lattice <- lattice_of(x)
  lattice$origin <- -(lattice$origin + lattice$step * last_position(x))
  at <- if (is_sparse(x)) last_position(x) - rev(x$at)
  leave_out(on_lattice(rev(weights_of(x)), lattice, is_log(x), at), rev(left_out_of(x)))
}

shift_pmf <- function(x, by) {
  lattice <- lattice_of(x)
  ratio <- as_ratio(by)
  parts <- common_multiple(c(lattice$parts, ratio[[2L]]))
  origin <- lattice$origin * (parts / lattice$parts)
  step <- lattice$step * (parts / lattice$parts)
  moved <- ratio[[1L]] * (parts / ratio[[2L]])
  exact <- is_exact(parts, origin, step, moved)
  lattice <- if (exact) new_lattice(origin + moved, step, parts) else read_lattice(x$from + by, step_of(x))
  from <- lattice$origin / lattice$parts
  if (abs(from) > 2^52 * min(step_of(x), 1)) {
    stop_input("from", "of the shifted distribution would be ", show_value(from), ", beyond 2^52",
      if (step_of(x) < 1) " of its steps")
  }
  leave_out(on_lattice(weights_of(x), lattice, is_log(x), x$at), left_out_of(x))
}

scale_pmf <- function(x, times, argument, operator) {
  usable <- inherits(x, "pmf") && is.numeric(times) && length(times) == 1L && is.finite(times) &&
    (operator == "*" || times != 0)
  if (!usable) {
    stop_input(argument, sprintf("of %s must be one number%s, and the other a distribution, not ", operator,
      if (operator == "/") " other than 0" else ""), show_value(times))
  }
  times <- as.double(times)
  if (times == 0) return(certain_zero(is_log(x)))
  if (times < 0) return(scale_pmf(negate_pmf(x), -times, argument, operator))
  scale <- function(value) if (operator == "*") value * times else value / times
  step <- scale(step_of(x))
  from <- scale(x$from)
  if (!is.finite(step) || step < 1e-300 || abs(from) > 2^52 * min(step, 1) || last_position(x) * step > 2^1000) {
    stop_input(argument, "is ", show_value(times), ": the values would be beyond 2^52 steps or what doubles hold")
  }
  ratio <- as_ratio(times)
  if (operator == "/") ratio <- rev(ratio)
  own <- lattice_of(x)
  lattice <- new_lattice(own$origin * ratio[[1L]], own$step * ratio[[1L]], own$parts * ratio[[2L]])
  # Rounded if numerator and denominator have no common parts below 2^53.
  if (!is_exact(unlist(lattice))) lattice <- read_lattice(from, step)
  leave_out(on_lattice(weights_of(x), lattice, is_log(x), x$at), left_out_of(x))
}

# A distribution is a list: without these methods max() and c() would work on its parts.

#' @rdname pmf
#' @export
Summary.pmf <- function(..., na.rm = FALSE) {
  which <- .Generic
  if (!which %in% c("max", "min")) stop_refused(which, ..1)
  all <- lapply(seq_len(...length()), function(i) {
    x <- ...elt(i)
    name <- sprintf("argument %d of %s()", i, which)
    if (inherits(x, "pmf")) check_pmf(x, name) else on_lattice(1, read_lattice(check_shift(x, name, ""), 1), FALSE)
  })
  Reduce(function(x, y) extreme_of_two(x, y, which), all)
}

#' @rdname pmf
#' @export
c.pmf <- function(...) {
  structure(list(...), class = c("pmf_list", "warpbayes"))
}

#' @noRd
#' @export
c.pmf_list <- function(...) {
  # A distribution is a list, too, which c() of lists would take apart.
  parts <- lapply(list(...), function(part) if (inherits(part, "pmf") || !is.list(part)) list(part) else unclass(part))
  structure(do.call(c, parts), class = c("pmf_list", "warpbayes"))
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
  words <- element_words(x[seq_len(min(length(x), 10L))])
  cat(sprintf("[[%d]] %s\n", seq_along(words), words), if (length(x) > 10L) "...\n", sep = "")
}

element_words <- function(x) vapply(x, function(x) if (inherits(x, "pmf")) format(x) else show_value(x), "")

#' @noRd
#' @export
`[.pmf` <- function(x, ...) {
  stop_warpbayes("input", "`[` is not known for distributions; dpmf(x, values) gives probabilities")
}
