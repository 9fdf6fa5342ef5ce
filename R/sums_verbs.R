# What can be done with distributions besides adding them.

# max() and min() of two independent variables, as P(X = v) P(Y <= v) + P(X < v) P(Y = v): all terms are positive.
extreme_of_two <- function(x, y, which) {
  log <- is_log(x) || is_log(y)
  shared <- positions_together(list(x, y))
  by <- shared$lattice$step / shared$lattice$parts
  same <- step_of(x) == by && step_of(y) == by && !is_sparse(x) && !is_sparse(y)
  ends <- range(vapply(shared$at, range, numeric(2)))
  dense <- same && wants_dense(diff(ends) + 1, size_of(x) + size_of(y))
  at <- if (dense) seq(ends[[1L]], ends[[2L]]) else sort(unique(unlist(shared$at)))
  x_part <- parts_at(x, shared$at[[1L]], at, which == "min", log)
  y_part <- parts_at(y, shared$at[[2L]], at, which == "min", log)
  numbers <- scale_of_weights(log)
  weights <- numbers$plus(numbers$times(x_part$here, y_part$with), numbers$times(x_part$beyond, y_part$here))
  possible <- range(which(weights > numbers$zero))
  index <- seq(possible[[1L]], possible[[2L]])
  leave_out(from_positions(at[index], weights[index], shared$lattice, log), left_out_together(list(x, y)))
}

# For each of the positions `at` its probability (here), the probability of all positions up to and including it
# (with), and of all positions before it (beyond). With `upper`, positions are counted from above.
parts_at <- function(x, positions, at, upper, log) {
  nothing <- if (log) -Inf else 0
  up_to <- findInterval(at, positions)
  inside <- up_to > 0L
  inside[inside] <- positions[up_to[inside]] == at[inside]
  here <- rep(nothing, length(at))
  here[inside] <- prob_of(x, log)[up_to[inside]]
  sums <- cumulative_weights(x, upper, log)
  if (upper) {
    sums <- c(sums, nothing)
    list(here = here, with = sums[up_to + 1L - inside], beyond = sums[up_to + 1L])
  } else {
    sums <- c(nothing, sums)
    list(here = here, with = sums[up_to + 1L], beyond = sums[up_to + 1L - inside])
  }
}

#' Truncate, mix, and modify distributions
#'
#' `truncate_pmf()` cuts a distribution off. `mix_pmf()` is the distribution of a variable that is drawn from one of
#' several distributions. `zero_modify_pmf()` gives the value zero another probability. `max(x, y)` and `min(x, y)` are
#' the largest and the smallest of independent variables and constants. Every probability keeps its relative error.
#'
#' @param con,x a distribution made by [pmf()]; for `mix_pmf()` a list of them. (R's generic names it `con`.)
#' @param lower,upper the least and the largest value that is kept.
#' @param outside whether values outside this range are excluded (`"condition"`), so that the others are divided by
#'   their sum, or become `lower` or `upper` (`"ends"`), as for claims above a limit.
#' @param weights the probability of each of the distributions: numbers from 0 that sum to 1 to within 1e-8.
#' @param prob the new probability of zero; 0 truncates the distribution at zero.
#' @param ... must be empty.
#' @return A [pmf()], on the log scale if one of the given distributions is.
#' @inheritSection pmf_functions Errors
#' @examples
#' mean(truncate_pmf(pmf_geometric(0.01), upper = 200, outside = "ends"))
#' die <- pmf_uniform(1, 6)
#' max(die - 3, 0)
#' mix_pmf(list(die, 2 * die), c(0.9, 0.1))
#' zero_modify_pmf(pmf_poisson(2), 0.5)
#' @name pmf_verbs
NULL

#' @rdname pmf_verbs
#' @export
truncate_pmf <- function(x, lower = -Inf, upper = Inf, outside = c("condition", "ends")) {
  check_pmf(x, "x")
  outside <- check_choice(outside, "outside", c("condition", "ends"))
  lower <- check_bound(lower, "lower")
  upper <- check_bound(upper, "upper")
  if (lower > upper) stop_input("lower", "is ", show_value(lower), ", above `upper`, ", show_value(upper))
  if (outside == "ends") {
    if (is.finite(upper)) x <- min(x, upper)
    return(if (is.finite(lower)) max(x, lower) else x)
  }
  value <- values_of(x)
  inside <- which(value >= lower & value <= upper & is_possible(x))
  if (length(inside) == 0L) {
    stop_input("lower", sprintf("to `upper`, %s to %s, has no possible value", show_value(lower), show_value(upper)))
  }
  given_entries(x, seq(inside[[1L]], inside[[length(inside)]]))
}

given_entries <- function(x, index) {
  log <- is_log(x)
  weights <- weights_of(x)[index]
  total <- total_weight(weights, log)
  law <- entries_of(x, index, if (log) weights - total else weights / total)
  leave_out(law, left_out_of(x) - if (log) total else base::log(total))
}

#' @rdname pmf_verbs
#' @export
truncate.pmf <- function(con, lower = -Inf, upper = Inf, outside = c("condition", "ends"), ...) {
  check_method(con, "con", ...)
  truncate_pmf(con, lower, upper, outside)
}

check_bound <- function(value, argument) {
  must_be(is_one_number(value), argument, "one number", value)
  as.double(value)
}

#' @rdname pmf_verbs
#' @export
mix_pmf <- function(x, weights) {
  require_arguments("x", "weights")
  must_be(!inherits(x, "pmf") && is.list(x) && length(x) > 0L && all(vapply(x, inherits, NA, "pmf")), "x",
    "a list of distributions made by pmf()", x)
  for (i in seq_along(x)) {
    check_pmf(x[[i]], element_name(i))
  }
  weights <- check_weights(by_names(weights, names(x), "weights", "distribution"), "weights", FALSE)
  if (length(weights) != length(x)) {
    stop_input("weights", sprintf("has %d entries for %d distributions", length(weights), length(x)))
  }
  if (abs(sum(weights) - 1) > sum_tolerance) {
    stop_input("weights", "sums to ", format(sum(weights), digits = 10), ", not 1 to within 1e-08")
  }
  x <- x[weights > 0]
  weights <- weights[weights > 0]
  log <- any(vapply(x, is_log, NA))
  shared <- positions_together(x)
  left_out <- left_out_together(x, base::log(weights))
  positions <- max(vapply(shared$at, max, 0)) + 1
  if (!log && wants_dense(positions, sum(vapply(x, size_of, 0L)))) {
    sums <- numeric(positions)
    for (i in seq_along(x)) {
      heed_interrupt()
      at <- shared$at[[i]] + 1
      sums[at] <- sums[at] + x[[i]]$prob * weights[[i]]
    }
    return(leave_out(pmf_at(sums, NULL, shared$lattice, FALSE), left_out))
  }
  parts <- Map(function(one, weight) if (log) prob_of(one, TRUE) + log(weight) else one$prob * weight, x, weights)
  leave_out(pmf_at(unlist(parts), unlist(shared$at), shared$lattice, log), left_out)
}

#' @rdname pmf_verbs
#' @export
zero_modify_pmf <- function(x, prob) {
  check_pmf(x, "x")
  prob <- check_number(prob, "prob", min = 0, max = 1, open = FALSE)
  zero <- entry_of_value(x, 0)
  if (!is.na(zero)) {
    index <- setdiff(which(is_possible(x)), zero)
    if (length(index) == 0L) stop_input("x", "is the constant 0: there are no other probabilities to scale")
    x <- given_entries(x, index)
  }
  mix_pmf(list(certain_zero(is_log(x)), x), c(prob, 1 - prob))
}
