#' Expected values and risk measures of a distribution
#'
#' `expected_value()` is the expected value of any function of a variable, and `probability()` the probability of any
#' event. The risk measures are `stop_loss_premium(x, d)`, the expected excess \eqn{E(X - d)_+}{E max(X - d, 0)};
#' `value_at_risk(x, p)`, the quantile `qpmf(x, p)`; and `tail_value_at_risk(x, p)`, the mean of the worst share 1 - p
#' of outcomes (expected shortfall): \eqn{q + E(X - q)_+ / (1 - p)}{q + E max(X - q, 0) / (1 - p)}, where q is the value
#' at risk. `lorenz_share(x, p)` is the part of the smallest share p of the outcomes in the expected total.
#'
#' @param x a distribution made by [pmf()].
#' @param f a function that takes a vector of values and gives a number for each.
#' @param event a function that takes a vector of values and gives `TRUE` or `FALSE` for each; or a vector of values.
#' @param log whether to give the natural logarithm of the probability.
#' @param p,retention levels from 0 to below 1 (for `lorenz_share()` to 1), or numbers.
#' @param ... further arguments of `f`.
#' @return One number for `expected_value()` and `probability()`; otherwise one for each level or retention. Missing
#'   values stay missing.
#' @inheritSection pmf_functions Errors
#' @references
#' Acerbi, C. and Tasche, D. (2002). On the coherence of expected shortfall. *Journal of Banking & Finance* 26(7),
#' 1487-1503. \doi{10.1016/S0378-4266(02)00283-2}
#' @examples
#' dice <- rep_sum_pmf(pmf_uniform(1, 6), 10)
#' probability(dice, function(x) x %% 2 == 0)
#' loss <- pmf_negative_binomial(2, 0.01)
#' value_at_risk(loss, 0.995)
#' tail_value_at_risk(loss, c(0.95, 0.995))
#' 1 - lorenz_share(loss, 0.99)
#' @export
expected_value <- function(x, f, ...) {
  check_pmf(x, "x")
  check_is_function(f, "f")
  weights <- relative_weights(x)
  possible <- which(weights > 0)
  sum(weights[possible] / sum(weights) * check_function_values(f(values_of(x, possible), ...), length(possible)))
}

#' @rdname expected_value
#' @export
probability <- function(x, event, log = FALSE) {
  require_arguments("x", "event")
  check_pmf(x, "x")
  log <- check_flag(log, "log")
  if (is.function(event)) {
    happens <- event(values_of(x))
    if (!is.logical(happens) || length(happens) != size_of(x) || anyNA(happens)) {
      stop_input("event", sprintf("must give TRUE or FALSE for each of %.0f values, not ", size_of(x)),
        show_value(happens))
    }
    index <- which(happens)
  } else {
    must_be(is.numeric(event), "event", "a function or a vector of values", event)
    index <- sort(unique(entry_of_value(x, as.double(event))))
  }
  if (length(index) == 0L) return(if (log) -Inf else 0)
  total <- total_weight(weights_of(x)[index], is_log(x))
  total <- if (is_log(x)) min(total, 0) else min(total, 1)
  if (is_log(x) == log) total else if (log) base::log(total) else exp(total)
}

#' @rdname expected_value
#' @export
value_at_risk <- function(x, p) {
  qpmf(x, check_levels(p))
}

check_levels <- function(p) {
  p <- check_probabilities(p, "p", FALSE)
  if (any(p == 1, na.rm = TRUE)) stop_input("p", "has the entry 1: levels are below 1")
  p
}

#' @rdname expected_value
#' @export
lorenz_share <- function(x, p) {
  check_pmf(x, "x")
  p <- check_probabilities(p, "p", FALSE)
  total <- mean(x)
  if (possible_weights(x)$value[[1L]] < 0 || total == 0) {
    stop_input("x", if (total == 0) "is always 0" else "has negative values", ": nothing is shared")
  }
  result <- rep(NA_real_, length(p))
  result[which(p == 1)] <- 1
  # The worst share 1 - p of the outcomes contributes (1 - p) times the tail value at risk.
  inside <- which(p < 1)
  at_risk <- qpmf(x, p[inside])
  result[inside] <- pmax(1 - ((1 - p[inside]) * at_risk + stop_loss_premium(x, at_risk)) / total, 0)
  result
}

#' @rdname expected_value
#' @export
tail_value_at_risk <- function(x, p) {
  check_pmf(x, "x")
  p <- check_levels(p)
  at_risk <- qpmf(x, p)
  at_risk + stop_loss_premium(x, at_risk) / (1 - p)
}

#' @rdname expected_value
#' @export
stop_loss_premium <- function(x, retention) {
  check_pmf(x, "x")
  retention <- check_values(retention, "retention")
  value <- values_of(x)
  upper <- cumulative_weights(x, upper = TRUE, log = FALSE)
  # Entry i is the expected excess over value i.
  size <- length(value)
  excess <- c(if (size > 1L) cumulate(upper[-1L] * diff(value), FALSE, TRUE), 0)
  following <- pmin(findInterval(retention, value) + 1L, size)
  result <- excess[following] + upper[following] * (value[following] - retention)
  result[which(retention >= value[[size]])] <- 0
  result
}
