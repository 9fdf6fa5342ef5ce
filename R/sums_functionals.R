#' Entropy, cumulants, modes and generating function of a distribution
#'
#' `shannon_entropy()` is the Shannon entropy, `cumulants()` gives the first cumulants, `modes()` the most probable
#' values, and `generating_function()` the probability generating function \eqn{E(z^X)}{E z^X}; with `log = TRUE` and
#' `z = exp(t)` it is the cumulant generating function at t.
#'
#' @param x a distribution made by [pmf()].
#' @param base the base of the logarithm: the entropy is in nats for `exp(1)` and in bits for 2.
#' @param order how many cumulants: from 1 to 20. Almost normal laws lose a digit with each order above 4.
#' @param z numbers. Below 0 the values of `x` must be whole numbers.
#' @param log whether to give the natural logarithm. `z` must then not be negative.
#' @return A number for `shannon_entropy()`; a vector of `order` cumulants; for `modes()` all most
#'   probable values, up to a relative difference of 1e-12; for `generating_function()` a number for each `z`.
#' @inheritSection pmf_functions Errors
#' @examples
#' die <- pmf(rep(1 / 6, 6), from = 1)
#' shannon_entropy(die, base = 2)
#' cumulants(pmf_poisson(3), 4)
#' modes(die + die)
#' generating_function(pmf_poisson(1.2), c(0, 0.5))
#' @export
shannon_entropy <- function(x, base = exp(1)) {
  check_pmf(x, "x")
  base <- check_number(base, "base", min = 0)
  if (base == 1) stop_input("base", "must not be 1: there are no logarithms to the base 1")
  weights <- possible_weights(x)
  # Adding 0 turns -0 into 0.
  -sum(weights$share * weights$log_share) / log(base) + 0
}

# The possible values, their probabilities and the logarithms of these, divided by the sum.
possible_weights <- function(x) {
  frame <- as.data.frame(x)[is_possible(x), ]
  log_share <- if (is_log(x)) frame$log_prob else log(frame$prob)
  log_share <- log_share - log_of_sum(log_share)
  list(value = frame$value, share = exp(log_share), log_share = log_share)
}

#' @rdname shannon_entropy
#' @export
cumulants <- function(x, order = 4) {
  check_pmf(x, "x")
  order <- check_count(order, "order", max = 20)
  weights <- possible_weights(x)
  mean <- mean(x)
  deviation <- sqrt(variance(x))
  if (deviation == 0) return(c(mean, numeric(order - 1)))
  # Central moments of the variable divided by its deviation, so that high powers stay small.
  moments <- vapply(seq_len(order), function(k) sum(weights$share * ((weights$value - mean) / deviation)^k), 0)
  cumulants <- moments
  cumulants[[1L]] <- 0
  for (k in seq_len(order)[-(1:3)]) {
    lower <- 2:(k - 2)
    cumulants[[k]] <- moments[[k]] - sum(choose(k - 1, lower - 1) * cumulants[lower] * moments[k - lower])
  }
  c(mean, (cumulants * deviation^seq_len(order))[-1L])
}

#' @rdname shannon_entropy
#' @export
modes <- function(x) {
  check_pmf(x, "x")
  frame <- as.data.frame(x)
  largest <- max(frame[[2L]])
  frame$value[frame[[2L]] >= if (is_log(x)) largest - 1e-12 else largest * (1 - 1e-12)]
}

#' @rdname shannon_entropy
#' @export
generating_function <- function(x, z, log = FALSE) {
  check_pmf(x, "x")
  log <- check_flag(log, "log")
  z <- check_values(z, "z")
  weights <- possible_weights(x)
  if (any(z < 0, na.rm = TRUE)) {
    first <- show_value(z[which(z < 0)[[1L]]])
    if (log) stop_input("z", "has the entry ", first, ", and with `log` it must be at least 0")
    if (any(weights$value != floor(weights$value))) {
      stop_input("z", "has the entry ", first, ", but not all values of `x` are whole numbers")
    }
  }
  vapply(z, function(one) {
    if (is.na(one)) return(NA_real_)
    terms <- weights$log_share + ifelse(weights$value == 0, 0, weights$value * base::log(abs(one)))
    if (one >= 0) return(if (log) log_of_sum(terms) else exp(log_of_sum(terms)))
    odd <- weights$value %% 2 == 1
    exp(log_of_sum(c(terms[!odd], -Inf))) - exp(log_of_sum(c(terms[odd], -Inf)))
  }, 0)
}
