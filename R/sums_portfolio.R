#' The total loss of a portfolio
#'
#' `portfolio_pmf()` gives the distribution of the sum of the losses of many independent policies. `mix_over_pmf()`
#' makes losses dependent through a common factor, such as the weather: it averages the distributions given each value
#' of the factor. `map_pmf()` gives the distribution of a function of a variable, and `layer_pmf()` the part of a loss
#' in a layer, as reinsurers cover it. Probabilities of `portfolio_pmf()` are too small by at most `tail`.
#'
#' @param size the sizes of claims: one number above 0 for each policy; or a distribution made by [pmf()] for all; or a
#'   list of distributions.
#' @param prob the probability of a claim of each policy, or its mean number of claims; or one number for all policies.
#' @param class for a list of sizes, the index of each policy's size in this list.
#' @param number the number of claims of a policy: `"bernoulli"` for at most one, or `"poisson"`.
#' @param tail the probability that may be left out at either end: 1e-300 to 1e-8, or 0 for the whole range of doubles.
#' @inheritParams convolve_pmf
#' @param factor the distribution of the common factor.
#' @param given a function of one value of the factor that gives a distribution.
#' @param x a distribution.
#' @param f a function that takes a vector of values and gives a number for each.
#' @param by the step of the result; by default the longest that fits.
#' @param retention,limit the layer: the part of the loss above `retention`, at most `limit`.
#' @return A [pmf()].
#' @inheritSection pmf_functions Errors
#' @references
#' De Pril, N. (1989). The aggregate claims distribution in the individual model with arbitrary positive claims. *ASTIN
#' Bulletin* 19(1), 9-24. \doi{10.2143/AST.19.1.2014912}
#' @examples
#' set.seed(1)
#' sums_insured <- 10 * sample(1:20, 2000, replace = TRUE)
#' death <- runif(2000, 0.001, 0.02)
#' total <- portfolio_pmf(sums_insured, death, threads = 2)
#' # A reinsurer pays what exceeds 3000, up to 1000.
#' year <- pmf(c(0.5, 0.5), values = c(0.5, 1.5))
#' shaken <- mix_over_pmf(year, function(v) portfolio_pmf(sums_insured, death * v, threads = 2))
#' mean(layer_pmf(shaken, 3000, 1000))
#' @export
portfolio_pmf <- function(size, prob, class = NULL, number = c("bernoulli", "poisson"), tail = 1e-15, accuracy = 1e-12,
                          backend = NULL, threads = NULL) {
  require_arguments("size", "prob")
  number <- check_choice(number, "number", c("bernoulli", "poisson"))
  tail <- check_tail(tail)
  accuracy <- check_accuracy(accuracy)
  run <- resolve_run(backend, threads)
  prob <- check_claims(prob, number)
  groups <- policy_groups(size, class, length(prob))
  prob <- rep_len(prob, groups$policies)
  used <- split(prob, factor(groups$of, levels = seq_along(groups$size)))
  keep <- vapply(used, function(p) any(p > 0), NA)
  if (!any(keep)) return(certain_zero(FALSE))
  used <- used[keep]
  sizes <- groups$size[keep]
  mean <- vapply(used, sum, 0)
  if (number == "poisson") {
    return(compound_pmf("poisson", mix_pmf(sizes, mean / sum(mean)), lambda = sum(mean), tail = tail,
      accuracy = accuracy, backend = backend, threads = threads))
  }
  # Each group, each number of claims in it, and each of the sums leaves out a share.
  share <- if (tail == 0) 0 else max(tail / (4 * length(sizes)), 1e-300)
  totals <- lapply(seq_along(sizes), function(i) {
    heed_interrupt()
    p <- used[[i]][used[[i]] > 0]
    claims <- if (length(p) == 1L) c(1 - p, p) else sum_rows_of(cbind(1 - p, p), FALSE, accuracy, run)
    claims <- without_improbable(new_pmf(claims, 0, FALSE), share)
    if (size_of(sizes[[i]]) == 1L) {
      one <- lattice_of(sizes[[i]])
      return(on_lattice(claims$prob, new_lattice(claims$from * one$origin, one$origin, one$parts), FALSE))
    }
    without_improbable(compound_pmf(claims, sizes[[i]], tail = min(share, 1e-8), accuracy = accuracy,
      backend = backend, threads = threads), share)
  })
  total <- add_many_positions(totals, FALSE, shared_accuracy(accuracy, length(totals)), run, 2 * share * length(totals))
  total$left_out <- NULL
  leave_out(total, add_logs(log_tail(tail), left_out_together(sizes, log(mean))))
}

check_claims <- function(prob, number) {
  most <- if (number == "poisson") 2^50 else 1
  must_be(is.numeric(prob) && length(prob) > 0L, "prob",
    paste("a vector of", if (most == 1) "probabilities" else "mean numbers"), prob)
  refuse_entries(prob, which(!(is.finite(prob) & prob >= 0 & prob <= most)), "prob",
    if (most == 1) "probabilities lie between 0 and 1" else "mean numbers are at least 0")
  as.double(prob)
}

# The different sizes of claims, as distributions, and for each policy the index of its size.
policy_groups <- function(size, class, probabilities) {
  agreed <- function(policies) {
    if (probabilities != 1L && probabilities != policies) {
      stop_input("prob", sprintf("has %.0f entries for %.0f policies", probabilities, policies))
    }
  }
  if (inherits(size, "pmf")) {
    check_pmf(size, "size")
    if (!is.null(class)) stop_input("class", "is for a list of sizes")
    return(list(size = list(size), of = rep(1L, probabilities), policies = probabilities))
  }
  if (is.list(size) && length(size) > 0L) {
    check_pool(size, "size")
    must_be(is.numeric(class) && length(class) > 0L && all(class %in% seq_along(size)), "class",
      sprintf("the index of each policy's size, from 1 to %d", length(size)), class)
    agreed(length(class))
    return(list(size = size, of = as.integer(class), policies = length(class)))
  }
  must_be(is.numeric(size) && length(size) > 0L, "size",
    "a number for each policy, a distribution or a list of distributions", size)
  if (!is.null(class)) stop_input("class", "is for a list of sizes")
  refuse_entries(size, which(!(is.finite(size) & size > 0 & size <= 2^52)), "size", "sizes are numbers above 0")
  agreed(length(size))
  different <- sort(unique(as.double(size)))
  list(size = lapply(different, function(one) new_pmf(1, one, FALSE)), of = match(size, different),
    policies = length(size))
}

#' @rdname portfolio_pmf
#' @export
mix_over_pmf <- function(factor, given) {
  check_pmf(factor, "factor")
  check_is_function(given, "given")
  possible <- which(is_possible(factor))
  parts <- lapply(values_of(factor, possible), function(value) {
    heed_interrupt()
    part <- given(value)
    if (!inherits(part, "pmf")) {
      stop_input("given", "must give a distribution for each value of the factor; for ", format(value), " it gives ",
        show_value(part))
    }
    part
  })
  weights <- relative_weights(factor)[possible]
  mix_pmf(parts, weights / sum(weights))
}

#' @rdname portfolio_pmf
#' @export
map_pmf <- function(x, f, by = NULL) {
  check_pmf(x, "x")
  check_is_function(f, "f")
  possible <- which(is_possible(x))
  value <- check_function_values(f(values_of(x, possible)), length(possible))
  if (any(!is.finite(value))) stop_input("f", "gives the value ", show_value(value[!is.finite(value)][[1L]]))
  if (max(abs(value)) > 2^52) stop_input("f", "gives values beyond 2^52")
  found <- if (!is.null(by)) {
    lattice_of_values(value, check_number(by, "by", min = 0))
  } else {
    tryCatch(lattice_of_values(value, operands = values_of(x, possible)), warpbayes_error_input = function(error) {
      stop_input("f", "gives values that are neither whole numbers nor decimal fractions: give their step, `by`")
    })
  }
  leave_out(pmf_at(weights_of(x)[possible], found$at, found$lattice, is_log(x)), on_both_sides(left_out_of(x)))
}

#' @rdname portfolio_pmf
#' @export
layer_pmf <- function(x, retention, limit = Inf) {
  check_pmf(x, "x")
  retention <- check_number(retention, "retention", min = -2^52, max = 2^52)
  limit <- check_bound(limit, "limit")
  must_be(limit > 0, "limit", "one number above 0", limit)
  excess <- max(shift_pmf(x, -retention), 0)
  if (is.finite(limit)) min(excess, check_shift(limit, "limit")) else excess
}
