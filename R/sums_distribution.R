#' Probabilities, quantiles, draws and moments of a distribution
#'
#' `dpmf()` gives probabilities, `ppmf()` cumulative probabilities, `qpmf()` quantiles and `rpmf()` random draws. The
#' distribution is the first argument. Upper tails (`lower.tail = FALSE`) keep their digits, however small they are.
#' Draw `i` depends only on the seed and on `i`.
#'
#' @param dist,x a distribution made by [pmf()]; the `x` of `dpmf()` are values.
#' @param q,p,probs,n values, probabilities, or the number of draws.
#' @param log,log.p whether probabilities are natural logarithms.
#' @param lower.tail `TRUE` for the probabilities \eqn{P(X \le x)}{P(X <= x)}, `FALSE` for \eqn{P(X > x)}.
#' @param names whether to name the result of `quantile()` by the probabilities.
#' @inheritParams computing_arguments
#' @param na.rm not used: a distribution has no missing values.
#' @param ... must be empty.
#' @return A numeric vector of the length of `x`, `q` or `p`, or of length `n`. Missing values stay missing. Quantiles
#'   are the smallest value whose cumulative probability is at least `p`, up to rounding; with `lower.tail = FALSE` the
#'   smallest value whose upper tail is at most `p`. 0 and 1 give the first and the last possible value.
#' @inheritSection pmf_functions Errors
#' @examples
#' dice <- rep_sum_pmf(pmf_uniform(1, 6), 10)
#' dpmf(dice, c(10, 35, 60))
#' ppmf(dice, 54, lower.tail = FALSE)
#' c(qpmf(dice, 0.99), mean(dice), variance(dice))
#' rpmf(dice, 5, seed = 1)
#' @name pmf_distribution
NULL

#' @rdname pmf_distribution
#' @export
dpmf <- function(dist, x, log = FALSE) {
  check_pmf(dist, "dist")
  log <- check_flag(log, "log")
  x <- check_values(x, "x")
  weights <- prob_of(dist, log)
  at <- entry_of_value(dist, x)
  inside <- !is.na(at)
  result <- rep(if (log) -Inf else 0, length(x))
  result[is.na(x)] <- NA_real_
  result[inside] <- weights[at[inside]]
  if (!is.null(dist$family)) {
    outside <- which(!inside & x == floor(x) & is.finite(x) & (x < dist$from | x > last_of(dist)))
    result[outside] <- family_functions(dist$family)$density(x[outside], log)
  }
  result
}

#' @rdname pmf_distribution
#' @export
ppmf <- function(dist, q, lower.tail = TRUE, log.p = FALSE) {
  check_pmf(dist, "dist")
  lower.tail <- check_flag(lower.tail, "lower.tail")
  log.p <- check_flag(log.p, "log.p")
  q <- check_values(q, "q")
  result <- tails_of(q, dist, lower.tail, log.p)
  bound <- left_out_of(dist)[[if (lower.tail) 1L else 2L]]
  beyond <- is.finite(q) & (if (lower.tail) q < dist$from else q >= last_of(dist))
  if (is.null(dist$family) && bound > -Inf && any(beyond)) {
    warning("ppmf(): `dist` leaves out values ", if (lower.tail) "below" else "above",
      " its range, with a probability of at most ", format_bound(bound), ". Tails beyond the range are given as ",
      if (log.p) "-Inf" else "0", ".", call. = FALSE)
  }
  result
}

# The same without a warning. Beyond the range of a distribution by name its tails are exact.
tails_of <- function(q, dist, lower.tail, log.p) {
  # Entry i is the probability of the first i - 1 values, or with an upper tail the probability of the other values.
  tail <- cumulative_weights(dist, upper = !lower.tail, log = log.p)
  nothing <- if (log.p) -Inf else 0
  tail <- if (lower.tail) c(nothing, tail) else c(tail, nothing)
  result <- tail[entries_up_to(dist, q) + 1]
  if (!is.null(dist$family)) {
    beyond <- which(is.finite(q) & (q < dist$from | q >= last_of(dist)))
    result[beyond] <- family_functions(dist$family)$tail_of(q[beyond], lower.tail, log.p)
  }
  result
}

# Sums up to or from each value, at most 1. Those of a distribution by name begin with what lies beyond its range.
cumulative_weights <- function(dist, upper, log) {
  own_log <- is_log(dist)
  weights <- weights_of(dist)
  outside <- if (!is.null(dist$family)) {
    family_functions(dist$family)$tail_of(if (upper) last_of(dist) else dist$from - 1, !upper, own_log)
  }
  if (!is.null(outside)) weights <- if (upper) c(weights, outside) else c(outside, weights)
  sums <- cumulate(weights, own_log, upper)
  if (!is.null(outside)) sums <- if (upper) sums[-length(sums)] else sums[-1L]
  by_blocks(length(sums), function(at) {
    here <- pmin(sums[at], if (own_log) 0 else 1)
    if (own_log == log) here else if (log) base::log(here) else exp(here)
  })
}

#' @rdname pmf_distribution
#' @export
qpmf <- function(dist, p, lower.tail = TRUE, log.p = FALSE) {
  check_pmf(dist, "dist")
  lower.tail <- check_flag(lower.tail, "lower.tail")
  log.p <- check_flag(log.p, "log.p")
  p <- check_probabilities(p, "p", log.p)
  ends <- range(which(is_possible(dist)))
  whole <- p == if (lower.tail) !log.p else if (log.p) -Inf else 0
  # A relative tolerance for the rounding of p and of the sums.
  slack <- 64 * .Machine$double.eps
  sums <- cumulative_weights(dist, upper = !lower.tail, log = log.p)
  sign <- if (lower.tail) 1 else -1
  p <- if (log.p) p - sign * slack * pmax(1, abs(p)) else p * (1 - sign * slack)
  at <- if (lower.tail) {
    findInterval(p, sums, left.open = TRUE) + 1
  } else {
    # sums[i] = P(X >= i): the first i with P(X > i) = sums[i + 1] <= p.
    length(sums) - findInterval(p, rev(sums[-1L]))
  }
  # If all probability is asked for, the answer is the last possible value.
  at[whole] <- ends[[2L]]
  values_of(dist, pmin(pmax(at, ends[[1L]]), ends[[2L]]))
}

#' @rdname pmf_distribution
#' @export
rpmf <- function(dist, n, seed = NULL) {
  check_pmf(dist, "dist")
  n <- check_count(n, "n", min = 0, max = 2^52)
  check_result_size(n, "n", "draws")
  values_of(dist, native(C_pmf_draw, cumulate(relative_weights(dist), FALSE), n, check_seed(seed)) + 1)
}

#' @rdname pmf_distribution
#' @importFrom stats quantile
#' @export
quantile.pmf <- function(x, probs = seq(0, 1, 0.25), names = TRUE, ...) {
  check_method(x, "x", ...)
  names <- check_flag(names, "names")
  probs <- check_probabilities(probs, "probs", FALSE)
  result <- qpmf(x, probs)
  if (names) names(result) <- ifelse(is.na(probs), "", paste0(format(100 * probs, trim = TRUE, digits = 7), "%"))
  result
}

#' @rdname pmf_distribution
#' @importFrom stats median
#' @export
median.pmf <- function(x, na.rm = FALSE, ...) {
  check_method(x, "x", ...)
  qpmf(x, 0.5)
}

# The mean, and the second to fourth moment about the mean, by blocks, so that intermediate vectors stay small.
central_moments <- function(x, block = 2^20) {
  weights <- relative_weights(x)
  size <- length(weights)
  sums <- function(term) {
    sum(vapply(seq(1, size, by = block), function(first) sum(term(seq(first, min(first + block - 1, size)))), 0))
  }
  total <- sums(function(at) weights[at])
  mean <- sums(function(at) positions_of(x, at) * (weights[at] / total))
  about_mean <- function(power) {
    step_of(x)^power * sums(function(at) (positions_of(x, at) - mean)^power * (weights[at] / total))
  }
  list(mean = x$from + step_of(x) * mean, second = about_mean(2), third = about_mean(3), fourth = about_mean(4))
}

#' @rdname pmf_distribution
#' @export
mean.pmf <- function(x, ...) {
  check_method(x, "x", ...)
  central_moments(x)$mean
}

#' @rdname pmf_distribution
#' @export
variance <- function(x, ...) {
  require_arguments("x")
  UseMethod("variance")
}

#' @rdname pmf_distribution
#' @export
variance.default <- function(x, ...) {
  # Attached after posterior or distributional, this hides their generics, so other objects are passed on to them.
  check_present(!missing(x), "x")
  if (has_foreign_method("variance", "posterior", x)) return(posterior::variance(x, ...))
  if (has_foreign_method("variance", "distributional", x)) return(distributional::variance(x, ...))
  check_pmf(x, "x")
}

#' @rdname pmf_distribution
#' @rawNamespace S3method(posterior::variance, pmf)
#' @rawNamespace S3method(distributional::variance, pmf)
#' @export
variance.pmf <- function(x, ...) {
  check_method(x, "x", ...)
  central_moments(x)$second
}
