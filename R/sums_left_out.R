# What distributions leave out: `left_out` has logarithms of upper bounds for the probability left out below and above.

nothing_left_out <- c(-Inf, -Inf)

left_out_of <- function(x) if (is.null(x$left_out)) nothing_left_out else x$left_out

log_of_sum <- function(logs) {
  largest <- max(logs)
  if (is.finite(largest)) largest + log(sum(exp(logs - largest))) else largest
}

# The bounds of several distributions together, each times exp(log_weights).
left_out_together <- function(all, log_weights = numeric(length(all))) {
  if (all(vapply(all, function(x) is.null(x$left_out), NA))) return(nothing_left_out)
  bounds <- mapply(function(x, weight) left_out_of(x) + weight, all, log_weights)
  c(log_of_sum(bounds[1L, ]), log_of_sum(bounds[2L, ]))
}

on_both_sides <- function(bounds) rep(log_of_sum(bounds), 2L)

leave_out <- function(x, bounds) {
  if (any(bounds > -Inf)) x$left_out <- pmin(bounds, 0)
  x
}

# A bound as text, rounded up to two digits.
format_bound <- function(log_bound) {
  if (log_bound < -700) return(sprintf("1e%.0f", ceiling(log_bound / log(10))))
  bound <- exp(log_bound)
  digit <- 10^(floor(log10(bound)) - 1)
  format(ceiling(bound / digit - 1e-9) * digit, digits = 2)
}

format_left_out <- function(x) {
  bounds <- left_out_of(x)
  parts <- sprintf("%s %s", vapply(bounds, format_bound, ""), c("below", "above"))[bounds > -Inf]
  if (length(parts) > 0L) paste0("leaves out at most ", paste(parts, collapse = " and "))
}

#' What a distribution leaves out
#'
#' Distributions with infinitely many values are cut where their tails are small, and [sum_pmf()] can leave out
#' improbable values. The probability of any event is right to within the sum of both numbers, apart from rounding.
#' Distributions by name ([pmf_families]) know the exact probabilities beyond their range. For others `ppmf()` warns if
#' it is asked for a tail there.
#'
#' @param x a distribution made by [pmf()].
#' @param log whether to give natural logarithms.
#' @return Two numbers, `below` and `above`: upper bounds for what was left out at either end. A sum leaves out what any
#'   of its variables leaves out. What is left out in the midst of a distribution counts on both sides.
#' @inheritSection pmf_functions Errors
#' @examples
#' left_out(pmf_poisson(3) + pmf_poisson(4))
#' left_out(pmf_binomial(10, 0.5))
#' @export
left_out <- function(x, log = FALSE) {
  check_pmf(x, "x")
  log <- check_flag(log, "log")
  bounds <- c(below = left_out_of(x)[[1L]], above = left_out_of(x)[[2L]])
  if (log) bounds else exp(bounds)
}
