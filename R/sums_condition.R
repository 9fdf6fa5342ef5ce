# Two independent variables given their sum.

#' Two independent variables given their sum
#'
#' `condition_on_sum_pmf()` says how probable each value of two variables is once their total is known. For independent
#' variables \eqn{P(X = i \mid X + Y = s)}{P(X = i | X + Y = s)} is proportional to \eqn{P(X = i) P(Y = s - i)}. The
#' result is right even if all products underflow as doubles.
#'
#' @param x,y distributions made by [pmf()], or vectors of non-negative weights for 0, 1, ...
#' @param total the observed value of the sum: one number.
#' @param log whether both results are on the log scale. For vectors it also says whether `x` and `y` are. The default
#'   is `TRUE` if `x` or `y` is a distribution on the log scale.
#' @return A list of the distributions of X and of Y given the sum, `x` and `y`.
#' @section Errors:
#' `warpbayes_error_input` for weights that [convolve_pmf()] refuses, for a `total` outside the range of the sum, and
#' for a `total` whose probability is zero.
#' @seealso [convolve_pmf()] for the distribution of the sum, [joint_table()].
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
  total <- check_total(total)
  if (is_sparse(x) || is_sparse(y) || step_of(x) != 1 || step_of(y) != 1 || any(c(x$from, y$from) %% 1 != 0)) {
    return(condition_positions(x, y, total, inside, log))
  }
  first <- x$from + y$from
  last <- last_of(x) + last_of(y)
  if (total != floor(total)) stop_input("total", "is ", show_value(total), ", but the sum is a whole number")
  if (total < first || total > last) {
    stop_input("total", sprintf("is %s, but the sum can only be from %s to %s", show_value(total),
      format(first, digits = 17, scientific = FALSE), format(last, digits = 17, scientific = FALSE)
    ))
  }
  low <- max(x$from, total - last_of(y))
  high <- min(last_of(x), total - y$from)
  x_at <- seq(low - x$from + 1, high - x$from + 1)
  y_at <- seq(total - low - y$from + 1, total - high - y$from + 1)
  result <- tryCatch(
    native(
      C_pmf_condition, prob_of(x, inside)[x_at], prob_of(y, inside)[y_at], inside, log, resolve_run("cpu", work = 0)
    ),
    warpbayes_error_input = function(error) {
      stop_input("total", "is ", show_value(total), ", a value that the sum takes with probability zero")
    }
  )
  left_out <- left_out_given(x, y, x_at, y_at)
  list(
    x = leave_out(new_pmf(result, low, log), left_out), y = leave_out(new_pmf(rev(result), total - high, log), left_out)
  )
}

# What is left out of either variable given the sum, which is the sum of these pairs of entries.
left_out_given <- function(x, y, x_at, y_at) {
  left_out <- left_out_together(list(x, y))
  if (all(left_out == -Inf)) return(left_out)
  on_both_sides(left_out) - total_weight(prob_of(x, TRUE)[x_at] + prob_of(y, TRUE)[y_at], TRUE)
}

# A vector holds the weights of 0, 1, ..., or their logarithms with log = TRUE.
as_weighted <- function(x, argument, log) {
  if (inherits(x, "pmf")) return(check_pmf(x, argument))
  new_pmf(check_weights(plain_weights(x, argument, isTRUE(log)), argument, isTRUE(log)), 0, isTRUE(log))
}

# The same for sparse distributions, and for other steps and first values than whole numbers: each value of x is
# paired with the value of y that is left of the total.
condition_positions <- function(x, y, total, inside, log) {
  shared <- lattice_of_sum(list(x, y))
  left <- positions_of_totals(shared$lattice, total) - positions_of(x) * shared$times[[1L]]
  pair <- entry_by(y, left, shared$times[[2L]])
  x_at <- which(!is.na(pair))
  y_at <- pair[x_at]
  result <- NULL
  if (length(x_at) > 0L) {
    result <- tryCatch(
      native(
        C_pmf_condition, prob_of(x, inside)[x_at], prob_of(y, inside)[y_at], inside, log, resolve_run("cpu", work = 0)
      ),
      warpbayes_error_input = function(error) NULL
    )
  }
  if (is.null(result)) {
    stop_input("total", "is ", show_value(total), ", a value that the sum takes with probability zero")
  }
  backward <- rev(seq_along(y_at))
  left_out <- left_out_given(x, y, x_at, y_at)
  list(
    x = leave_out(from_positions(positions_of(x, x_at), result, lattice_of(x), log), left_out),
    y = leave_out(from_positions(positions_of(y, y_at[backward]), result[backward], lattice_of(y), log), left_out)
  )
}

# The positions of totals on the lattice of the sum, NA for those that are not on it.
positions_of_totals <- function(lattice, totals) {
  near <- nearest_position(lattice, totals)
  near$position[which(!near$there)] <- NA
  near$position
}

check_total <- function(total) {
  if (!is.numeric(total) || length(total) != 1L || !is.finite(total)) {
    stop_input("total", "must be one number, not ", show_value(total))
  }
  as.double(total)
}

#' Two variables in a table
#'
#' A table of the joint probabilities of X and of the sum X + Y of two independent variables. With `given = TRUE` each
#' column is the distribution of X given the sum, as [condition_on_sum_pmf()] gives it for one total.
#'
#' @param x,y distributions made by [pmf()], or vectors of probabilities of 0, 1, ... that sum to 1.
#' @param totals the values of the sum that are columns. The default is all of them, with `given = TRUE` all that are
#'   possible.
#' @param given `FALSE` for joint probabilities, `TRUE` for the distribution of X given each total.
#' @return A matrix of class `table`: a row for each value of X, a column for each total. `addmargins()` adds the
#'   marginal distributions.
#' @section Errors:
#' `warpbayes_error_input` for what [condition_on_sum_pmf()] refuses. `warpbayes_error_memory` for a table that does not
#' fit in memory.
#' @seealso [condition_on_sum_pmf()], [convolve_pmf()].
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
  if (is.null(totals)) {
    at_x <- positions_of(x) * shared$times[[1L]]
    at_y <- positions_of(y) * shared$times[[2L]]
    last <- max(at_x) + max(at_y)
    check_result_size((last + 1) * size_of(x), NULL, "probabilities")
    positions <- seq_len(last + 1) - 1
    if (given) positions <- sort(unique(as.vector(outer(at_x[can_x], at_y[can_y], "+"))))
    totals <- lattice_value(shared$lattice, positions)
  } else {
    totals <- check_values(totals, "totals")
    if (any(!is.finite(totals))) stop_input("totals", "has the entry ", show_value(totals[!is.finite(totals)][[1L]]))
  }
  weight_x <- prob_of(x)
  weight_y <- prob_of(y)
  at <- positions_of(x) * shared$times[[1L]]
  position <- positions_of_totals(shared$lattice, totals)
  row <- function(i) {
    together <- weight_x[[i]] * weight_y[entry_by(y, position - at[[i]], shared$times[[2L]])]
    ifelse(is.na(together), 0, together)
  }
  column <- function(total) {
    pair <- entry_by(y, positions_of_totals(shared$lattice, total) - at, shared$times[[2L]])
    result <- numeric(length(at))
    met <- which(!is.na(pair))
    result[met] <- weight_x[met] * weight_y[pair[met]]
    if (!given) return(result)
    if (!any(can_x[met] & can_y[pair[met]])) {
      stop_input("totals", "has the entry ", show_value(total), ", a value that the sum takes with probability zero")
    }
    dpmf(condition_on_sum_pmf(x, y, total, log = FALSE)$x, values_of(x))
  }
  structure(
    if (given || length(at) > length(totals)) {
      vapply(totals, column, numeric(length(at)))
    } else {
      t(vapply(seq_along(at), row, numeric(length(totals))))
    },
    dim = c(length(at), length(totals)),
    dimnames = list(x = format_value(values_of(x)), total = format_value(totals)), class = "table"
  )
}
