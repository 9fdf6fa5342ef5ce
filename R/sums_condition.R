#' Two independent variables given their sum
#'
#' Says how probable each value of two independent variables is once their total is known: \eqn{P(X = i \mid X + Y =
#' s)}{P(X = i | X + Y = s)} is proportional to \eqn{P(X = i) P(Y = s - i)}. Products may underflow.
#'
#' @param x,y distributions made by [pmf()], or vectors of non-negative weights for 0, 1, ...
#' @param total the observed value of the sum: one number.
#' @inheritParams convolve_pmf
#' @return A list of the distributions of X and of Y given the sum, `x` and `y`.
#' @inheritSection pmf_functions Errors
#' @examples
#' # 7 defects in two batches together: how many came from the first?
#' first <- pmf_binomial(100, 0.02)
#' second <- pmf_binomial(50, 0.06)
#' condition_on_sum_pmf(first, second, 7)$x
#' @export
condition_on_sum_pmf <- function(x, y, total, log = NULL) {
  require_arguments("x", "y", "total")
  if (!is.null(log)) log <- check_flag(log, "log")
  x <- as_weighted(x, "x", log)
  y <- as_weighted(y, "y", log)
  inside <- is_log(x) || is_log(y)
  log <- if (is.null(log)) inside else log
  total <- check_number(total, "total")
  # Each value of x is paired with the value of y that is left of the total.
  shared <- lattice_of_sum(list(x, y))
  left <- exact_position(shared$lattice, total) - positions_of(x) * shared$times[[1L]]
  pair <- entry_by(y, left, shared$times[[2L]])
  x_at <- which(!is.na(pair))
  y_at <- pair[x_at]
  result <- if (length(x_at) > 0L) {
    null_if_refused(native(C_pmf_condition, prob_of(x, inside)[x_at], prob_of(y, inside)[y_at], inside, log,
      resolve_run("cpu", work = 0)))
  }
  if (is.null(result)) {
    stop_input("total", "is ", show_value(total), ", a value that the sum takes with probability zero")
  }
  left_out <- left_out_together(list(x, y))
  if (any(left_out > -Inf)) {
    left_out <- on_both_sides(left_out) - total_weight(prob_of(x, TRUE)[x_at] + prob_of(y, TRUE)[y_at], TRUE)
  }
  law <- function(x, at, weights) leave_out(from_positions(positions_of(x, at), weights, lattice_of(x), log), left_out)
  list(x = law(x, x_at, result), y = law(y, rev(y_at), rev(result)))
}

as_weighted <- function(x, argument, log) {
  if (inherits(x, "pmf")) return(check_pmf(x, argument))
  new_pmf(check_weights(plain_weights(x, argument, isTRUE(log)), argument, isTRUE(log)), 0, isTRUE(log))
}

#' Two variables in a table
#'
#' The joint probabilities of X and of X + Y for independent variables, or the distributions of X given each sum.
#'
#' @param x,y distributions made by [pmf()], or vectors of probabilities of 0, 1, ... that sum to 1.
#' @param totals the values of the sum that are columns. The default is all, with `given = TRUE` or values far
#'   apart all that are possible.
#' @param given `FALSE` for joint probabilities, `TRUE` for the distribution of X given each total.
#' @return A matrix of class `table`: a row for each value of X, a column for each total. `addmargins()` adds margins.
#' @inheritSection pmf_functions Errors
#' @examples
#' die <- pmf(rep(1 / 6, 6), from = 1)
#' addmargins(joint_table(die, die))
#' round(joint_table(die, die, totals = c(4, 11), given = TRUE), 3)
#' @export
joint_table <- function(x, y, totals = NULL, given = FALSE) {
  require_arguments("x", "y")
  x <- pmf_or_vector(x, "x")
  y <- pmf_or_vector(y, "y")
  given <- check_flag(given, "given")
  shared <- lattice_of_sum(list(x, y))
  can_x <- is_possible(x)
  can_y <- is_possible(y)
  at <- positions_of(x) * shared$times[[1L]]
  if (is.null(totals)) {
    at_y <- positions_of(y) * shared$times[[2L]]
    all <- max(at) + max(at_y) + 1
    positions <- if (given || is_sparse(x) || is_sparse(y) || !wants_dense(all, sum(can_x) * sum(can_y))) {
      sort(unique(as.vector(outer(at[can_x], at_y[can_y], "+"))))
    } else {
      seq_len(all) - 1
    }
    check_result_size(as.double(length(positions)) * size_of(x), NULL, "probabilities")
    totals <- lattice_value(shared$lattice, positions)
  } else {
    totals <- check_values(totals, "totals")
    if (any(!is.finite(totals))) stop_input("totals", "has the entry ", show_value(totals[!is.finite(totals)][[1L]]))
  }
  weight_x <- prob_of(x)
  weight_y <- prob_of(y)
  position <- exact_position(shared$lattice, totals)
  column <- function(i) {
    pair <- entry_by(y, position[[i]] - at, shared$times[[2L]])
    if (!given) return(ifelse(is.na(pair), 0, weight_x * weight_y[pair]))
    if (!any(can_x & can_y[pair], na.rm = TRUE)) {
      stop_input("totals", "has the entry ", show_value(totals[[i]]),
        ", a value that the sum takes with probability zero")
    }
    dpmf(condition_on_sum_pmf(x, y, totals[[i]], log = FALSE)$x, values_of(x))
  }
  structure(vapply(seq_along(totals), column, numeric(length(at))), dim = c(length(at), length(totals)),
    dimnames = list(x = format_value(values_of(x)), total = format_value(totals)), class = "table")
}
