#' Distributions by name
#'
#' These functions make well-known discrete distributions as [pmf()] objects, ready for sums. Parameters are as in R's
#' own functions. `pmf_geometric()` counts the failures before the first success, `pmf_negative_binomial()` those before
#' success number `successes`, which need not be whole. `pmf_logarithmic()` is on 1, 2, ... with probabilities in
#' proportion to \eqn{p^k / k}. `pmf_poisson_binomial()` is the number of independent events that happen.
#'
#' The relative error of a probability p is below 5e-15 (1 + |log p|), of a tail beyond the range 5e-13 (1 + |log p|).
#'
#' @param lambda,mu the mean; `mu` instead of `prob`.
#' @param trials,successes the number of trials, or of successes, above 0.
#' @param prob the probability of success; for `pmf_poisson_binomial()` a vector, with one for each kind of event.
#' @param m,n,k the numbers of white balls and of black balls in the urn, and of balls drawn.
#' @param from,to the first and the last value.
#' @param weights how many events of each kind there are: whole numbers from 0.
#' @param tail the probability that may be left out at either end, from 1e-300 to 1e-8; see [left_out()]. 0 keeps all
#'   values up to a tail below 5e-324, the smallest double.
#' @param log whether the result is on the log scale.
#' @param ... must be empty.
#' @inheritParams sum_pmf
#' @return A [pmf()].
#' @inheritSection pmf_functions Errors
#' @references
#' Hong, Y. (2013). On computing the distribution function for the Poisson binomial distribution. *Computational
#' Statistics & Data Analysis* 59, 41-51. \doi{10.1016/j.csda.2012.10.006}
#' @examples
#' pmf_poisson(3) + pmf_binomial(10, 0.3)
#' summary(pmf_poisson_binomial(c(0.1, 0.5, 0.9), weights = c(100, 20, 3), threads = 2))
#' @name pmf_families
NULL

families_of_r <- c(poisson = "pois", binomial = "binom", negative_binomial = "nbinom",
  negative_binomial_mean = "nbinom", geometric = "geom", hypergeometric = "hyper")

# density(value, log) and tail_of(value, lower, log), which is P(X <= value) or P(X > value), of a distribution by name.
family_functions <- function(family) {
  p <- as.list(family$parameters)
  name <- family$name
  if (name == "logarithmic") return(logarithmic_functions(p[[1L]]))
  if (name == "negative_binomial_mean") names(p) <- c("size", "mu")
  of_r <- function(letter, x, ...) {
    its <- getExportedValue("stats", paste0(letter, families_of_r[[name]]))
    # R warns of values so far in the tail that they are 0.
    suppressWarnings(do.call(its, c(list(x), p, list(...))))
  }
  list(
    density = function(x, log) {
      # R's own functions are right for small parameters.
      if (name == "geometric" || max(family$parameters) <= 100) return(of_r("d", x, log = log))
      ends <- switch(name, binomial = c(0, p[[1L]]), hypergeometric = hypergeometric_ends(p[[1L]], p[[2L]], p[[3L]]),
        c(0, Inf))
      result <- rep_len(-Inf, length(x))
      inside <- which(x >= ends[[1L]] & x <= ends[[2L]])
      result[inside] <- log_density(name, x[inside], p)
      if (log) result else exp(result)
    },
    tail_of = function(x, lower, log) of_r("p", x, lower.tail = lower, log.p = log)
  )
}

hypergeometric_ends <- function(m, n, k) c(max(0, k - n), min(k, m))

# P(X > k) is below prob^(k + 1) / ((k + 1) (1 - prob) scale).
logarithmic_functions <- function(prob) {
  scale <- -log1p(-prob)
  list(
    density = function(x, log) {
      logarithm <- x * base::log(prob) - base::log(x) - base::log(scale)
      if (log) logarithm else prob^x / (x * scale)
    },
    tail_of = function(x, lower, log) {
      bound <- if (lower) 0 else (x + 1) * base::log(prob) - base::log((x + 1) * (1 - prob) * scale)
      if (log) bound else exp(bound)
    }
  )
}

# Below and above the result lies a probability of at most `tail`. That of logarithmic numbers has only a bound.
family_pmf <- function(name, parameters, lowest, highest, tail, log, argument) {
  family <- list(name = name, parameters = parameters)
  of <- family_functions(family)
  from <- lowest
  to <- highest
  if (tail > 0 || highest == Inf) {
    limit <- log_tail(tail)
    to <- first_whole(function(x) of$tail_of(x, FALSE, TRUE) <= limit, lowest, highest)
    from <- first_whole(function(x) of$tail_of(x, TRUE, TRUE) > limit, lowest, to)
  }
  if (to > 2^52) stop_input(argument, "gives a range of values that passes 2^52")
  count <- to - from + 1
  check_result_size(count, argument, "probabilities", copies = 2)
  x <- new_pmf(by_blocks(count, function(at) of$density(from - 1 + at, log)), from, log)
  if (from == lowest && to == highest) return(x)
  x <- leave_out(x, c(if (from == lowest) -Inf else of$tail_of(from - 1, TRUE, TRUE),
    if (to == highest) -Inf else of$tail_of(to, FALSE, TRUE)))
  if (name != "logarithmic") x$family <- family
  x
}

# The first whole number in [lowest, highest] from which on holds(number) is TRUE: doubling steps, then bisection.
first_whole <- function(holds, lowest, highest) {
  high <- lowest
  step <- 1
  low <- lowest - 1
  while (high < highest && high <= 2^53 && !holds(high)) {
    low <- high
    high <- min(high + step, highest)
    step <- 2 * step
  }
  while (high - low > 1 && high <= 2^53) {
    middle <- low + floor((high - low) / 2)
    if (holds(middle)) high <- middle else low <- middle
  }
  high
}

check_probability <- function(value, argument, zero = TRUE, one = TRUE) {
  check_present(!missing(value), argument)
  must_be(is_one_number(value) && value >= 0 && value <= 1 && (zero || value > 0) && (one || value < 1), argument,
    paste("one number", if (zero) "from 0" else "above 0", if (one) "to 1" else "and below 1"), value)
  as.double(value)
}

#' @rdname pmf_families
#' @export
pmf_poisson <- function(lambda, tail = 1e-15, log = FALSE) {
  lambda <- check_number(lambda, "lambda", min = 0, max = 2^50, open = FALSE)
  family_pmf("poisson", lambda, 0, Inf, check_tail(tail), check_flag(log, "log"), "lambda")
}

#' @rdname pmf_families
#' @export
pmf_binomial <- function(trials, prob, tail = 1e-15, log = FALSE, ...) {
  check_dots_empty(...)
  trials <- check_count(trials, "trials", min = 0, max = 2^50)
  prob <- check_probability(prob, "prob")
  family_pmf("binomial", c(trials, prob), 0, trials, check_tail(tail), check_flag(log, "log"), "trials")
}

#' @rdname pmf_families
#' @export
pmf_negative_binomial <- function(successes, prob, mu, tail = 1e-15, log = FALSE, ...) {
  check_dots_empty(...)
  successes <- check_number(successes, "successes", min = 0)
  if (missing(prob) == missing(mu)) stop_input("prob", "or `mu` must be given, and not both")
  if (missing(mu)) {
    parameters <- c(successes, check_probability(prob, "prob", zero = FALSE))
    return(family_pmf("negative_binomial", parameters, 0, Inf, check_tail(tail), check_flag(log, "log"), "successes"))
  }
  mu <- check_number(mu, "mu", min = 0, open = FALSE)
  if (mu / successes == Inf) {
    stop_input("successes", "is ", show_value(successes),
      ", so much smaller than `mu` that successes / (successes + mu) is 0")
  }
  family_pmf("negative_binomial_mean", c(successes, mu), 0, Inf, check_tail(tail), check_flag(log, "log"), "successes")
}

#' @rdname pmf_families
#' @export
pmf_geometric <- function(prob, tail = 1e-15, log = FALSE) {
  prob <- check_probability(prob, "prob", zero = FALSE)
  family_pmf("geometric", prob, 0, Inf, check_tail(tail), check_flag(log, "log"), "prob")
}

#' @rdname pmf_families
#' @export
pmf_hypergeometric <- function(m, n, k, tail = 1e-15, log = FALSE) {
  m <- check_count(m, "m", min = 0)
  n <- check_count(n, "n", min = 0)
  k <- check_count(k, "k", min = 0, max = m + n)
  ends <- hypergeometric_ends(m, n, k)
  family_pmf("hypergeometric", c(m, n, k), ends[[1L]], ends[[2L]], check_tail(tail), check_flag(log, "log"), "k")
}

#' @rdname pmf_families
#' @export
pmf_logarithmic <- function(prob, tail = 1e-15, log = FALSE) {
  prob <- check_probability(prob, "prob", zero = FALSE, one = FALSE)
  family_pmf("logarithmic", prob, 1, Inf, check_tail(tail), check_flag(log, "log"), "prob")
}

#' @rdname pmf_families
#' @export
pmf_uniform <- function(from, to, log = FALSE) {
  from <- check_count(from, "from", min = -2^52, max = 2^52)
  to <- check_count(to, "to", min = from, max = 2^52)
  log <- check_flag(log, "log")
  size <- to - from + 1
  check_result_size(size, "to", "probabilities")
  new_pmf(by_blocks(size, function(at) rep(if (log) -base::log(size) else 1 / size, length(at))), from, log)
}

#' @rdname pmf_families
#' @export
pmf_poisson_binomial <- function(prob, weights = NULL, log = FALSE, accuracy = 1e-12, backend = NULL, threads = NULL) {
  require_arguments("prob")
  weights <- by_names(weights, names(prob), "weights", "trial")
  prob <- check_probabilities(prob, "prob", FALSE)
  log <- check_flag(log, "log")
  if (length(prob) == 0L || anyNA(prob)) {
    stop_input("prob", if (length(prob) == 0L) "is empty" else "has missing entries")
  }
  if (is.null(weights)) weights <- rep(1, length(prob))
  must_be(is.numeric(weights) && length(weights) == length(prob) && all(is.finite(weights)) &&
    all(weights >= 0 & weights == floor(weights) & weights <= 2^50), "weights",
    sprintf("whole numbers from 0, as many as probabilities (%d)", length(prob)), weights)
  event <- function(p) if (log) base::log(cbind(1 - p, p)) else cbind(1 - p, p)
  # Many events of one kind are binomial, few events are rows of a matrix.
  many <- weights > 100
  add <- function(x) sum_pmf(x, log = log, accuracy = accuracy, backend = backend, threads = threads)
  parts <- Map(function(p, n) prob_of(family_pmf("binomial", c(n, p), 0, n, 0, log, "weights"), log),
    prob[many], weights[many])
  few <- rep(prob[!many], weights[!many])
  if (length(few) > 0L) parts <- c(list(add(event(few))), parts)
  if (length(parts) > 0L) new_pmf(add(unname(parts)), 0, log) else certain_zero(log)
}
