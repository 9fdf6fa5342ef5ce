#' The distribution of a loss on multiples of a step
#'
#' Puts a continuous loss, such as a gamma or Pareto claim, or observed losses onto the values 0, `by`, `2 * by`, ...,
#' so that sums of it can be computed. With a deductible d and a limit u, a loss x is first replaced by its payment:
#' \eqn{\min(x, u) - d}{min(x, u) - d} if it exceeds d, and otherwise 0.
#'
#' Upper tails keep their relative accuracy if the distribution function has an argument `lower.tail`.
#'
#' @param x the distribution function of the loss, such as [pgamma], called as `x(q, ...)`; or a numeric vector of
#'   observed losses; or a distribution made by [pmf()].
#' @param by the step.
#' @param method where probability between two values goes: `"rounding"` to the nearest; `"up"` or `"down"` to the
#'   larger or the smaller, which over- or understates losses; `"unbiased"` to both, so that (limited) means stay.
#' @param deductible,limit the part of the loss that counts. A limit less the deductible is a multiple of `by`.
#' @param per `"loss"`: the payment for each loss, 0 for those below the deductible. `"payment"`: the payment given that
#'   the loss exceeds the deductible.
#' @param to for a distribution function without a limit, the last value, which all larger payments become, with a
#'   warning if their probability exceeds `tail`. The default is the first value beyond which it does not.
#' @param tail the probability of larger values that may be moved to the last value, from 1e-300 to 1e-8.
#' @param weights for observed losses, their weights: numbers from 0.
#' @param ... further arguments of the distribution function.
#' @return A [pmf()] from 0.
#' @inheritSection pmf_functions Errors
#' @references
#' Klugman, S. A., Panjer, H. H. and Willmot, G. E. (2012). *Loss Models: From Data to Decisions*, 4th edition. Wiley.
#' @examples
#' # Gamma claims above a deductible of 1, counted up to 20.
#' claim <- discretize_pmf(pgamma, by = 0.5, shape = 2, method = "unbiased", deductible = 1,
#'   limit = 20)
#' year <- compound_pmf("poisson", claim, lambda = 10, threads = 2)
#' value_at_risk(year, 0.995)
#' discretize_pmf(c(120, 455, 460, 2300), by = 100)
#' @export
discretize_pmf <- function(x, by, method = c("rounding", "up", "down", "unbiased"), deductible = 0, limit = Inf,
                           per = c("loss", "payment"), to = NULL, tail = 1e-10, weights = NULL, ...) {
  require_arguments("x", "by")
  by <- check_number(by, "by", min = 0)
  method <- check_choice(method, "method", c("rounding", "up", "down", "unbiased"))
  per <- check_choice(per, "per", c("loss", "payment"))
  deductible <- check_number(deductible, "deductible", min = 0, open = FALSE)
  tail <- check_tail(tail, FALSE)
  last <- check_limit(limit, deductible, by)
  if (is.function(x)) {
    if (!is.null(weights)) stop_input("weights", "are for observed losses, not for a distribution function")
    loss <- loss_function(x, deductible, per, ...)
    if (is.finite(last)) {
      if (!is.null(to)) stop_input("to", "and `limit` are both given: the limit says which value is the last")
    } else {
      last <- last_step(loss, to, by, tail)
    }
    return(discretize_function(loss, last, by, method))
  }
  check_dots_empty(...)
  left_out <- nothing_left_out
  if (!is.null(to)) stop_input("to", "is for distribution functions; `limit` limits observed losses")
  if (inherits(x, "pmf")) {
    check_pmf(x, "x")
    left_out <- on_both_sides(left_out_of(x))
    if (!is.null(weights)) stop_input("weights", "are for observed losses, not for a distribution")
    weights <- relative_weights(x)
    x <- values_of(x)
  } else {
    weights <- by_names(weights, names(x), "weights", "observation")
    must_be(is.numeric(x) && length(x) > 0L, "x", "a distribution function, a vector of losses or a distribution", x)
    refuse_entries(x, which(!is.finite(x) | x < 0), "x", "losses are numbers from 0")
    x <- as.double(x)
    weights <- weights_of_sample(weights, length(x), "losses")
  }
  leave_out(discretize_losses(x, weights, last, by, method, deductible, per), left_out)
}

check_limit <- function(limit, deductible, by) {
  limit <- check_bound(limit, "limit")
  if (limit <= deductible) {
    stop_input("limit", "is ", show_value(limit), ", not above `deductible`, ", show_value(deductible))
  }
  if (limit == Inf) return(Inf)
  near <- nearest_position(read_lattice(deductible, by), limit)
  if (!near$there) {
    stop_input("limit", "less `deductible` must be a multiple of `by`; it is ",
      show_value(signif((limit - deductible) / by, 10)), " steps")
  }
  near$position
}

# A payment without its limit: `up_to(y)` is P(Y <= y) and `beyond(y)` is P(Y > y), for y from 0.
loss_function <- function(x, deductible, per, ...) {
  evaluate <- function(q, ...) {
    p <- x(q, ...)
    if (!is.numeric(p) || length(p) != length(q) || anyNA(p) || any(p < 0 | p > 1)) {
      stop_input("x", "must be a distribution function: it must give a probability for each of ", length(q),
        " values, not ", if (is.numeric(p) && length(p) == length(q)) "numbers outside 0 and 1" else show_value(p))
    }
    as.double(p)
  }
  has_tail <- "lower.tail" %in% names(formals(args(x)))
  up_to <- function(q) evaluate(q, ...)
  beyond <- if (has_tail) function(q) evaluate(q, ..., lower.tail = FALSE) else function(q) 1 - evaluate(q, ...)
  below <- up_to(-.Machine$double.xmin)
  if (below > 1e-12) stop_input("x", "gives the probability ", format(below, digits = 6), " to losses below 0")
  scale <- if (per == "payment") beyond(deductible) else 1
  if (scale == 0) stop_input("deductible", "is ", show_value(deductible), ", which no loss exceeds")
  less <- if (per == "payment") up_to(deductible) else 0
  list(up_to = function(y) (up_to(y + deductible) - less) / scale,
    beyond = function(y) beyond(y + deductible) / scale)
}

last_step <- function(loss, to, by, tail) {
  if (!is.null(to)) {
    to <- check_number(to, "to", min = 0)
    last <- max(round(to / by), 1)
    moved <- loss$beyond(last * by)
    if (moved > tail) {
      warning("discretize_pmf(): payments above `to`, ", format(to), ", have the probability ",
        format(moved, digits = 3), ". They are counted as `to`; `limit` would say that this is meant.", call. = FALSE)
    }
    return(last)
  }
  last <- first_whole(function(steps) loss$beyond(steps * by) <= tail, 1, Inf)
  if (last > 2^52) stop_input("tail", "is not reached within 2^52 steps: give `to`, `limit`, or a longer step")
  last
}

# Probabilities of 0, by, ..., last * by: differences of the distribution function on the side of the smaller tail.
discretize_function <- function(loss, last, by, method) {
  check_result_size(last + 1, "by", "probabilities", copies = 8)
  between <- function(low, high) {
    lower <- loss$up_to(low)
    ifelse(lower > 0.5, loss$beyond(low) - loss$beyond(high), loss$up_to(high) - lower)
  }
  # How much of a step below each value its probability begins: one number, or several with weights.
  offset <- switch(method, rounding = 0.5, up = 1, down = 0, unbiased = 1 - gauss_legendre$at)
  weight <- if (method == "unbiased") gauss_legendre$weight else 1
  over <- function(part) Reduce(`+`, Map(function(below, weight) weight * part(below), offset, weight))
  prob <- by_blocks(last + 1, function(at) {
    result <- numeric(length(at))
    inside <- at > 1 & at <= last
    value <- at[inside] - 1
    result[inside] <- over(function(below) between((value - below) * by, (value + 1 - below) * by))
    result[at == 1] <- over(function(below) loss$up_to((1 - below) * by))
    result[at == last + 1] <- over(function(below) loss$beyond((last - below) * by))
    result
  }, block = 2^16)
  if (any(prob < 0)) {
    stop_input("x", "is not a distribution function: it falls near ", format((which(prob < 0)[[1L]] - 1) * by))
  }
  total <- sum(prob)
  if (abs(total - 1) > 1e-6) {
    stop_input("x", "is not a distribution function that rises to 1: its probabilities sum to ",
      format(total, digits = 8))
  }
  on_lattice(prob / total, read_lattice(0, by), FALSE)
}

# Points and weights on (0, 1) of the rule of Gauss and Legendre with eight points: eigenvalues of a matrix (Golub and
# Welsch 1969, Mathematics of Computation 23, 221-230). The mean of P(t < Y <= t + by) over t up to v is a sum of
# positive terms for (2 E min(Y, v) - E min(Y, v - by) - E min(Y, v + by)) / by.
gauss_legendre_rule <- function(points) {
  k <- seq_len(points - 1)
  jacobi <- matrix(0, points, points)
  jacobi[cbind(k, k + 1)] <- jacobi[cbind(k + 1, k)] <- k / sqrt(4 * k^2 - 1)
  eigen <- eigen(jacobi, symmetric = TRUE)
  list(at = (1 + eigen$values) / 2, weight = eigen$vectors[1L, ]^2)
}

gauss_legendre <- gauss_legendre_rule(8)

discretize_losses <- function(x, weights, last, by, method, deductible, per) {
  if (any(x < 0 & weights > 0)) {
    stop_input("x", "has the value ", format(min(x[weights > 0])), "; losses are numbers from 0")
  }
  if (per == "payment") {
    weights <- weights[x > deductible]
    x <- x[x > deductible]
    if (length(x) == 0L || !any(weights > 0)) {
      stop_input("deductible", "is ", show_value(deductible), ", which no loss exceeds")
    }
  }
  near <- nearest_position(read_lattice(deductible, by), x)
  steps <- pmin(pmax(ifelse(near$there, near$position, (x - deductible) / by), 0), last)
  below <- floor(steps)
  at <- switch(method, rounding = floor(steps + 0.5), up = ceiling(steps), down = below,
    unbiased = c(below, below + 1))
  if (method == "unbiased") {
    share <- steps - below
    weights <- c(weights * (1 - share), weights * share)
  }
  gathered <- gather_positions(at, weights / sum(weights), FALSE)
  zero <- if (gathered$at[[1L]] > 0) 0
  from_positions(c(zero, gathered$at), c(zero, gathered$weights), read_lattice(0, by), FALSE)
}
