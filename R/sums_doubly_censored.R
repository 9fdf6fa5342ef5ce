#' The delay between two events that are known to the day
#'
#' Gives the distribution of the number of days between two events, such as infection and symptoms, where the exact
#' delay is continuous and only the day of each event is recorded (doubly interval-censored delays, primary event
#' censoring). `sum(log(dpmf(law, days)))` is the log likelihood of recorded delays, where `law` is the result.
#'
#' The first event happens at some time U of its day, the second after the delay T. The recorded delay is the whole
#' number of days in U + T. The density of U is uniform, or proportional to \eqn{e^{growth\,u}}{exp(growth u)} if first
#' events grow by `growth` a day. With `truncation` the distribution is for delays that end before the data do.
#' Relative errors are 2e-8 for log-normal delays, and larger on day 0 for densities that are infinite at 0.
#'
#' @param x the distribution function of the exact delay, from 0, such as [plnorm], called as `x(q, ...)`.
#' @param by the length of a day in the units of `x`.
#' @param growth the rate of exponential growth of first events per unit of time, from -20 to 20 a day.
#' @param truncation the time from the beginning of the first event's day to the end of the data: a multiple of `by`.
#' @inheritParams discretize_pmf
#' @return A [pmf()] from 0 in steps of `by`.
#' @inheritSection pmf_functions Errors
#' @references
#' Charniga, K. and others (2024). Best practices for estimating and reporting epidemiological delay distributions of
#' infectious diseases. *PLOS Computational Biology* 20(10), e1012520. \doi{10.1371/journal.pcbi.1012520}
#' @examples
#' # In a growing epidemic whose data end 14 days after the day of infection.
#' pmf_doubly_censored(plnorm, growth = 0.2, truncation = 14, meanlog = 1.6, sdlog = 0.5)
#' @aliases doubly_interval_censored primary_event_censoring
#' @export
pmf_doubly_censored <- function(x, by = 1, growth = 0, truncation = Inf, tail = 1e-10, ...) {
  check_is_function(x, "x", "the distribution function of the delay")
  by <- check_number(by, "by", min = 0)
  growth <- check_number(growth, "growth")
  if (abs(growth * by) > 20) stop_input("growth", "is ", show_value(growth), ": more than 20 in a day")
  truncation <- check_bound(truncation, "truncation")
  days <- truncation / by
  must_be(days >= 1 && (is.infinite(days) || abs(days - round(days)) <= 8 * .Machine$double.eps * days), "truncation",
    paste("a multiple of `by`,", show_value(by)), truncation)
  law <- if (growth == 0) {
    discretize_pmf(x, by, "unbiased", tail = tail, ...)
  } else {
    mix_over_primary_times(x, by, growth * by, tail, ...)
  }
  if (is.finite(days)) truncate_pmf(law, upper = (round(days) - 0.5) * by) else law
}

# The recorded delay for each of eight times of the day (Gauss and Legendre), weighted by the density of this time.
mix_over_primary_times <- function(x, by, growth, tail, ...) {
  rule <- gauss_legendre_rule(if (abs(growth) > 2) 24 else 8)
  weights <- rule$weight * exp(growth * (rule$at - if (growth > 0) 1 else 0))
  given <- lapply(rule$at, function(at) {
    later <- at * by
    shifted <- if ("lower.tail" %in% names(formals(args(x)))) {
      function(q, ..., lower.tail = TRUE) x(q - later, ..., lower.tail = lower.tail)
    } else {
      function(q, ...) x(q - later, ...)
    }
    discretize_pmf(shifted, by, "down", tail = tail, ...)
  })
  mix_pmf(given, weights / sum(weights))
}
