#' The distribution of a sum of a random number of variables
#'
#' Gives the distribution of \eqn{S = X_1 + \dots + X_N}{S = X_1 + ... + X_N}, the sum of a random number N of
#' independent copies of one variable, such as the total of all claims in a year.
#'
#' Entries of at least 1e-290 have relative errors of about 1e-16 times the typical number of variables. The fast method
#' of [convolve_pmf()] adds at most `accuracy`, or 1e-13 times the number of variables if that is more.
#'
#' @param number `"poisson"`, `"binomial"`, `"negative_binomial"`, `"geometric"` or `"logarithmic"`, with the parameters
#'   below; or a distribution on 0, 1, 2, ... made by [pmf()].
#' @param size the distribution of one variable, made by [pmf()]: not negative.
#' @param lambda the mean of a Poisson number.
#' @param trials,prob number of trials and probability of success, as in [pmf_families].
#' @param successes,mu as in [pmf_negative_binomial()]; `mu` is the mean instead of `prob`.
#' @param zero if given, the probability that the number is 0. The other probabilities are scaled accordingly.
#' @param tail the probability of larger values that may be left out: 1e-300 to 1e-8, or 0 for all doubles.
#' @inheritParams convolve_pmf
#' @return A [pmf()] of probabilities (not logarithms).
#' @inheritSection pmf_functions Errors
#' @references
#' Panjer, H. H. (1981). Recursive evaluation of a family of compound distributions. *ASTIN Bulletin* 12(1), 22-26.
#' \doi{10.1017/S0515036100006796}
#' @examples
#' size <- pmf(c(0.4, 0.3, 0.2, 0.1), values = c(100, 250, 500, 5000))
#' year <- compound_pmf("poisson", size, lambda = 30, threads = 2)
#' stop_loss_premium(year, 25000)
#' @export
compound_pmf <- function(number, size, lambda, trials, successes, prob, mu, zero = NULL, tail = 1e-15, accuracy = 1e-12,
                         backend = NULL, threads = NULL) {
  require_arguments("number", "size")
  check_pmf(size, "size")
  tail <- check_tail(tail)
  accuracy <- check_accuracy(accuracy)
  run <- resolve_run(backend, threads)
  if (!is.null(zero)) zero <- check_number(zero, "zero", min = 0, max = 1, open = FALSE)
  given <- c(lambda = !missing(lambda), trials = !missing(trials), successes = !missing(successes),
    prob = !missing(prob), mu = !missing(mu))
  given_size <- size
  size <- size_on_lattice(size)
  if (inherits(number, "pmf")) {
    check_pmf(number, "number")
    refuse_parameters(given, character(), "a distribution")
    if (!is.null(zero)) number <- zero_modify_pmf(number, zero)
    total <- compound_of_any(number_weights(number), size, tail, accuracy, run)
    return(leave_out(total, left_out_compound(total, number, given_size, mean(number))))
  }
  number <- check_choice(number, "number", c("poisson", "binomial", "negative_binomial", "geometric", "logarithmic"))
  taken <- switch(number, poisson = "lambda", binomial = c("trials", "prob"),
    negative_binomial = c("successes", if (given[["mu"]]) "mu" else "prob"), "prob")
  refuse_parameters(given, taken, dQuote(number, FALSE))
  counting <- switch(number,
    poisson = counting_poisson(check_number(lambda, "lambda", min = 0, max = 2^50, open = FALSE), size),
    binomial = counting_binomial(check_count(trials, "trials", min = 0, max = 2^50),
      check_probability(prob, "prob"), size),
    negative_binomial = , geometric = {
      failures <- if (number == "geometric") 1 else check_number(successes, "successes", min = 0)
      odds <- if (given[["mu"]]) check_number(mu, "mu", min = 0, open = FALSE) / failures else {
        (1 - check_probability(prob, "prob", zero = FALSE)) / prob
      }
      if (odds == Inf) stop_input(taken[[length(taken)]], "is so extreme that the odds of a failure are beyond 1.8e308")
      counting_negative_binomial(failures, odds, size)
    },
    logarithmic = counting_logarithmic(check_probability(prob, "prob", zero = FALSE, one = FALSE), size)
  )
  if (!is.null(zero) && zero < 1 && counting$certain_zero) {
    stop_input("zero", "is ", show_value(zero), ", but the number is always 0 and has no other probabilities to scale")
  }
  total <- compound_by_name(counting, size, zero, tail, accuracy, run)
  if (is.null(total)) {
    share <- if (tail == 0) 0 else max(tail / 4, 1e-300)
    law <- switch(number, poisson = pmf_poisson(lambda, share), binomial = pmf_binomial(trials, prob, share),
      negative_binomial = pmf_negative_binomial(successes, prob, mu, share), geometric = pmf_geometric(prob, share),
      logarithmic = pmf_logarithmic(prob, share))
    if (!is.null(zero)) law <- zero_modify_pmf(law, zero)
    total <- compound_of_few(number_weights(law), size, tail)
    return(leave_out(total, left_out_compound(total, law, given_size, mean(law))))
  }
  expected <- counting$mean / max(size$some, 1e-300) * if (is.null(zero)) 1 else (1 - zero) / counting$some
  leave_out(total, left_out_compound(total, NULL, given_size, expected))
}

# What the total, the number, and each of the `expected` variables leave out.
left_out_compound <- function(total, number, size, expected) {
  bounds <- left_out_of(total)
  if (!is.null(number)) bounds[[2L]] <- log_of_sum(c(bounds[[2L]], left_out_of(number)))
  add_logs(bounds, left_out_of(size) + log(expected))
}

refuse_parameters <- function(given, taken, of_what) {
  unknown <- setdiff(names(given)[given], taken)
  if (length(unknown) > 0L) stop_input(unknown[[1L]], "is not a parameter of ", of_what)
  absent <- setdiff(taken, names(given)[given])
  if (length(absent) > 0L) stop_input(absent[[1L]], "is missing: ", of_what, " needs it")
}

# One variable on a lattice that begins with 0: `none` is the probability of zero, and `some` that of other values.
# These have the positions `at`, and the probabilities `weights` given that the variable is not zero.
size_on_lattice <- function(size) {
  weights <- prob_of(size)
  possible <- which(weights > 0)
  if (length(possible) == 0L || values_of(size, possible[[1L]]) < 0) {
    stop_input("size",
      if (length(possible) == 0L) "has no probability that a double can hold" else "has negative values", ", such as ",
      show_value(size$from))
  }
  lattice <- lattice_of(size)
  whole <- lattice$origin + lattice$step * positions_of(size, possible)
  # A step that divides the first value, too.
  step <- common_divisor(c(if (length(possible) > 1L) lattice$step, whole[[1L]]))
  if (step == 0) step <- lattice$parts
  at <- whole / step
  none <- if (at[[1L]] == 0) weights[[possible[[1L]]]] else 0
  others <- possible[at > 0]
  total <- if (length(others) > 0L) total_weight(weights[others], FALSE) else 0
  list(at = at[at > 0], weights = weights[others] / total, lattice = new_lattice(0, step, lattice$parts),
    none = none / (none + total), some = total / (none + total))
}

# The same with `code`, the positions `at` with shorter gaps if most positions are impossible and at most `most`
# variables are not zero. `value` gives the positions of sums of codes, and `last` is the largest code.
code_size <- function(size, most) {
  code <- list(at = size$at, value = identity)
  if (!wants_dense(max(size$at, 0) + 1, length(size$at)) && is.finite(most)) code <- encode_gaps(size$at, most)
  c(size, list(code = code$at, value = code$value, last = max(code$at, 0)))
}

# The weights of the first `outputs` codes, given that the variable is not zero.
weights_of_codes <- function(size, outputs = Inf) {
  f <- numeric(min(size$last + 1, outputs))
  used <- size$code < length(f)
  f[size$code[used] + 1] <- size$weights[used]
  f
}

number_weights <- function(number) {
  possible <- which(prob_of(number) > 0)
  value <- values_of(number, possible)
  bad <- value < 0 | value != floor(value)
  if (any(bad)) stop_input("number", "must be a distribution on 0, 1, 2, ..., without ", show_value(value[bad][[1L]]))
  check_result_size(max(value) + 1, NULL, "probabilities")
  weights <- numeric(max(value) + 1)
  weights[value + 1] <- prob_of(number)[possible]
  weights
}

compound_by_name <- function(counting, size, zero, tail, accuracy, run) {
  if (size$some == 0 || counting$certain_zero || identical(zero, 1)) return(new_pmf(1, 0, FALSE))
  largest <- if (is.null(counting$trial)) Inf else counting$parts
  # Modifying the probability of zero scales the tail, too.
  scale <- if (is.null(zero)) 1 else (1 - zero) / counting$some
  # More variables than this have a probability below 1e-320.
  size <- code_size(size, outputs_to_tail(counting, largest, 1, 1, log_tail(0)))
  least <- log_tail(tail) - log(2) - log(max(scale, 1))
  outputs <- outputs_to_tail(counting, largest, size$code, size$weights, least)
  most <- outputs_to_tail(counting, largest, 1, 1, least)
  if (compound_way(outputs, most, size, accuracy) == "sparse") return(NULL)
  f <- weights_of_codes(size, outputs)
  # All but the widest eighth of the steps of the recursion are direct sums.
  reach <- if (accuracy == 0) length(f) else min(length(f), outputs / 8)
  check_operations(if (is.null(counting$trial)) outputs * reach / 2 else outputs, "size")
  g <- if (is.null(counting$trial)) {
    part <- native(C_pmf_compound, f, counting$panjer, outputs, accuracy, fourier_cache(), run)
    first_of_power(part, counting$parts, outputs, accuracy, run)
  } else {
    power_of_trial(counting, f, outputs, accuracy, run)
  }
  if (!is.null(zero)) g <- c(zero + scale * counting$moved, scale * g[-1L])
  trim_compound(g, size, tail, outputs <= largest * size$last)
}

# "dense" or "sparse": whether `outputs` weights are computed, or those of possible values only. Sums of up to `most` of
# k values have at most choose(most + k, k) different values.
compound_way <- function(outputs, most, size, accuracy) {
  kinds <- length(size$at)
  values <- min(choose(most + kinds, kinds), outputs)
  fastest_way(c(dense = outputs * (1e-7 + 2e-10 * min(size$last + 1, outputs, if (accuracy > 0) 1e3 else Inf)),
      sparse = 1e-4 * most + 1e-7 * kinds * values * if (values < outputs) most / (kinds + 1) + 1 else most),
    c(dense = outputs, sparse = values), "tail", copies = c(dense = result_copies(FALSE, accuracy), sparse = 8 * kinds))
}

# sum_n p_n f^n by Horner's rule, for few values far apart. Each step leaves out the least probable values.
compound_of_few <- function(p, size, tail) {
  share <- tail / (4 * length(p))
  f_at <- c(if (size$none > 0) 0, size$at)
  f <- c(if (size$none > 0) size$none, size$some * size$weights)
  sum <- list(at = 0, weights = p[[length(p)]])
  lost <- 0
  for (n in rev(seq_len(length(p) - 1))) {
    heed_interrupt()
    check_result_size(as.double(length(sum$at)) * length(f), "size", "pairs of values", copies = 6)
    sum <- gather_positions(c(0, outer(sum$at, f_at, "+")), c(p[[n]], outer(sum$weights, f)), FALSE)
    sorted <- order(sum$weights)
    dropped <- findInterval(share, cumsum(sum$weights[sorted]))
    if (dropped > 0L) {
      dropped <- sorted[seq_len(dropped)]
      lost <- lost + sum(sum$weights[dropped])
      sum <- lapply(sum, `[`, -dropped)
    }
  }
  leave_out(from_positions(sum$at, sum$weights, size$lattice, FALSE), rep(log(lost), 2L))
}

# The `accuracy` of a convolution whose error enters the result `times` times; at least 1e-13, for Fourier transforms.
shared_accuracy <- function(accuracy, times) {
  max(accuracy / max(times, 1), min(accuracy, 1e-13))
}

first_of_power <- function(g, times, outputs, accuracy, run) {
  result <- NULL
  share <- shared_accuracy(accuracy, times - 1)
  repeat {
    if (times %% 2 == 1) {
      result <- if (is.null(result)) g else first_of_sum(result, g, outputs, share, run)
    }
    times <- times %/% 2
    if (times == 0) return(result)
    g <- first_of_sum(g, g, outputs, share, run)
  }
}

# The same for a binomial number. The rounding error of a probability near 1 would enter the power as often as there are
# trials, so each trial is divided by its probability of zero. Powers of such quotients stay below e^500.
power_of_trial <- function(counting, f, outputs, accuracy, run) {
  trials <- counting$parts
  none <- counting$trial[[1L]]
  some <- counting$trial[[2L]] * f[-1L]
  if (trials <= 50 || counting$trial[[2L]] > none) return(first_of_power(c(none, some), trials, outputs, accuracy, run))
  power <- function(times) {
    first_of_power(c(1, some / none), times, outputs, accuracy, run) * exp(counting$log_none * (times / trials))
  }
  parts <- copies_of(-counting$log_none)
  g <- first_of_power(power(trials %/% parts), parts, outputs, accuracy, run)
  if (trials %% parts > 0) first_of_sum(g, power(trials %% parts), outputs, accuracy, run) else g
}

first_of_sum <- function(x, y, outputs, accuracy, run) {
  if (max(x) == 0 || max(y) == 0) return(0)
  native(C_pmf_first, x, y, min(outputs, length(x) + length(y) - 1), accuracy, fourier_cache(), run)
}

# The distribution without upper tail and leading impossible values. `cut`: `g` ends before the last possible value.
trim_compound <- function(g, size, tail, cut) {
  upper <- cumulate(g, FALSE, TRUE)
  last <- max(which(upper > tail / 2))
  beyond <- log_of_sum(c(if (cut) log_tail(tail) - log(2), if (last < length(g)) log(upper[[last + 1L]]) else -Inf))
  possible <- which(g[seq_len(last)] > 0)
  law <- pmf_at(g[possible], size$value(possible - 1), size$lattice, FALSE)
  # The last codes need not be the largest values.
  leave_out(law, c(if (identical(size$value, identity)) -Inf else beyond, beyond))
}

# sum_n p_n f^n for any p, by blocks of powers (Paterson and Stockmeyer 1973): the powers of f up to b are
# computed once, and blocks of b terms are joined by Horner's rule in f^b.
compound_of_any <- function(p, size, tail, accuracy, run) {
  if (size$some == 0 || length(p) == 1L) return(new_pmf(1, 0, FALSE))
  most <- length(p) - 1
  size <- code_size(size, most)
  n <- seq_along(p) - 1
  log_p <- log(p)
  log_generating <- function(excess) log_of_sum(log_p + n * log1p(size$some * excess))
  counting <- list(log_generating = log_generating, log_none = -Inf, mean = sum(n * p))
  outputs <- outputs_to_tail(counting, most, size$code, size$weights, log_tail(tail) - log(2))
  if (compound_way(outputs, most, size, accuracy) == "sparse") return(compound_of_few(p, size, tail))
  f <- weights_of_codes(size, outputs) * size$some
  f[[1L]] <- size$none
  # sqrt(most) powers are fastest; fewer are kept if they would take more than 200 MB.
  block <- max(1, min(ceiling(sqrt(most)), floor(2.5e7 / outputs)))
  check_result_size(outputs * (block + 1), "tail", "probabilities of powers")
  check_operations(2 * sqrt(most) * outputs * (if (accuracy == 0) length(f) / 2 else 1), "number")
  share <- shared_accuracy(accuracy, most)
  power <- list(f)
  for (j in seq_len(block)[-1L]) {
    power[[j]] <- first_of_sum(power[[j %/% 2]], power[[j - j %/% 2]], outputs, share, run)
  }
  result <- 0
  for (first in rev(seq(0, most, by = block))) {
    if (max(result) > 0) result <- first_of_sum(result, power[[block]], outputs, share, run)
    for (j in seq_len(min(block, most - first + 1)) - 1) {
      term <- p[[first + j + 1]] * if (j == 0) 1 else power[[j]]
      result <- c(result, numeric(max(length(term) - length(result), 0)))
      result[seq_along(term)] <- result[seq_along(term)] + term
    }
  }
  trim_compound(result, size, tail, outputs <= most * size$last)
}
