#' The distribution of the sum of many independent variables
#'
#' `sum_pmf()` adds many variables, `rep_sum_pmf()` independent copies of one. With `log = TRUE` nothing underflows.
#'
#' @param x for `sum_pmf()` a list of distributions made by [pmf()] and vectors of weights, or a matrix whose rows are
#'   weights of 0, 1, ...; for `rep_sum_pmf()` one distribution or vector.
#' @param ... for `sum_pmf()`: more distributions, if `x` is one, as in `sum_pmf(x, y, z)`.
#' @param times how many independent copies are added; 0 gives the constant 0.
#' @param accuracy the relative error that the fast method may make in an entry of the result; 0 for direct sums only.
#'   Direct sums add rounding errors of at worst about 1e-16 times the number of variables.
#' @param tail the probability that may be left out of a sum of distributions, from 1e-300 to 1e-8 (0: nothing), at the
#'   ends, or of a few values far apart the least probable ones. [left_out()] of the result says how much was.
#' @inheritParams convolve_pmf
#' @return A [pmf()] if one of the variables is one, otherwise a vector of weights (or logarithms) of 0, 1, ...
#' @inheritSection pmf_functions Errors
#' @examples
#' # Poisson-binomial: how many of 10,000 independent events happen.
#' set.seed(1)
#' p <- runif(1e4)
#' count <- sum_pmf(log(cbind(1 - p, p)), log = TRUE, threads = 2)
#' ppmf(pmf(count, log = TRUE), 9000, lower.tail = FALSE, log.p = TRUE)
#' # Damage by several causes.
#' sum_pmf(pmf_poisson(2), pmf_binomial(10, 0.1), pmf(c(0.9, 0, 0, 0.1)))
#' # Isotopes of hydrogen: values far apart.
#' rep_sum_pmf(pmf(c(0.999885, 0.000115), values = c(1.00783, 2.0141)), 2)
#' @export
sum_pmf <- function(x, ..., log = NULL, accuracy = 1e-12, tail = 0, backend = NULL, threads = NULL) {
  require_arguments("x")
  if (inherits(x, "pmf") || is.null(dim(x)) && is.numeric(x) && ...length() > 0L) {
    if (!is.null(names(list(...)))) check_dots_empty(...)
    x <- list(x, ...)
  } else {
    if (...length() > 0L && is.null(names(list(...))) && (is.list(x) || is.matrix(x)) &&
      (is.list(..1) || is.numeric(..1))) {
      stop_input("x", "is a ", if (is.matrix(x)) "matrix" else "list", ", which must hold all distributions: ",
        "put the others into it, or give each as an argument")
    }
    check_dots_empty(...)
  }
  if (!is.null(log)) log <- check_flag(log, "log")
  accuracy <- check_accuracy(accuracy)
  tail <- check_tail(tail)
  run <- resolve_run(backend, threads)
  if (is.matrix(x)) return(sum_rows_of(x, isTRUE(log), accuracy, run))
  must_be(is.list(x), "x", "a distribution, a list of distributions, or a matrix whose rows are distributions", x)
  if (is.data.frame(x)) {
    stop_input("x", "is a data frame; give as.matrix(x) if its rows are distributions, as.list(x) if its columns are")
  }
  if (length(x) == 0L) stop_input("x", "is an empty list: there is nothing to add")
  if (!any(vapply(x, inherits, NA, "pmf"))) {
    log <- isTRUE(log)
    values <- lapply(seq_along(x), function(i) plain_weights(x[[i]], element_name(i), log))
    return(sum_vectors(values, log, accuracy, run))
  }
  x <- lapply(seq_along(x), function(i) pmf_or_vector(x[[i]], element_name(i)))
  add_distributions(x, log, accuracy, tail, run)
}

add_distributions <- function(x, log, accuracy, tail, run) {
  inside <- any(vapply(x, is_log, NA)) || isTRUE(log)
  log <- if (is.null(log)) inside else log
  shared <- lattice_of_sum(x)
  if (any(vapply(x, is_sparse, NA)) || any(shared$times != 1)) {
    return(as_log(add_many_positions(x, inside, accuracy, run, tail), log))
  }
  result <- sum_vectors(lapply(x, prob_of, log = inside), inside, accuracy, run)
  result <- on_lattice(if (inside && !log) exp_of(result) else result, shared$lattice, log)
  without_improbable(leave_out(result, left_out_together(x)), tail)
}

element_name <- function(i) sprintf("x[[%d]]", i)

# The sum of a list of double vectors, which have these `names` in messages.
sum_vectors <- function(values, log, accuracy, run, names = element_name(seq_along(values))) {
  sizes <- as.double(lengths(values))
  length <- sum(sizes - 1) + 1
  # Whatever the order, direct sums multiply each weight of a distribution with each of every other one.
  check_sum(length, if (accuracy == 0) (length^2 - sum((sizes - 1)^2)) / 2 else length, NULL, log, accuracy)
  result <- if (length(values) == 2L) {
    .Call(C_pmf_convolve, values[[1L]], values[[2L]], log, accuracy, fourier_cache(), run)
  } else {
    .Call(C_pmf_sum, values, 0, length, log, accuracy, fourier_cache(), run)
  }
  usable_sum(result, Map(check_weights, values, names, log))
}

check_sum <- function(length, operations, argument, log, accuracy) {
  check_result_size(length, argument, "probabilities", copies = result_copies(log, accuracy))
  check_operations(operations, argument)
}

# The entry says only that weights cannot be used. `check` says which, and why.
usable_sum <- function(result, check) {
  if (!is_failure(result)) return(result)
  force(check)
  stop_failure(result)
}

sum_rows_of <- function(x, log, accuracy, run) {
  x <- plain_weight_rows(x, "x", log)
  length <- nrow(x) * (ncol(x) - 1) + 1
  check_sum(length, length, NULL, log, accuracy)
  usable_sum(.Call(C_pmf_sum, t(x), 0, length, log, accuracy, fourier_cache(), run), check_weight_rows(x, "x", log))
}

#' @rdname sum_pmf
#' @export
rep_sum_pmf <- function(x, times, log = NULL, accuracy = 1e-12, tail = 0, backend = NULL, threads = NULL) {
  require_arguments("x", "times")
  times <- check_count(times, "times", min = 0, max = 2^52)
  if (!is.null(log)) log <- check_flag(log, "log")
  accuracy <- check_accuracy(accuracy)
  tail <- check_tail(tail)
  run <- resolve_run(backend, threads)
  if (!inherits(x, "pmf")) {
    log <- isTRUE(log)
    x <- plain_weights(x, "x", log)
    return(repeat_vector(x, times, log, accuracy, run))
  }
  check_pmf(x, "x")
  inside <- is_log(x) || isTRUE(log)
  log <- if (is.null(log)) is_log(x) else log
  lattice <- lattice_of(x)
  lattice <- sum_lattice(lattice$origin * times, lattice$step, lattice$parts)
  if (is_sparse(x) && times > 0) return(as_log(repeat_positions(x, times, lattice, inside, accuracy, run, tail), log))
  result <- repeat_vector(prob_of(x, inside), times, inside, accuracy, run)
  result <- on_lattice(if (inside && !log) exp_of(result) else result, lattice, log)
  without_improbable(leave_out(result, left_out_of(x) + log(times)), tail)
}

repeat_vector <- function(x, times, log, accuracy, run) {
  if (times == 0) {
    check_weights(x, "x", log)
    return(if (log) 0 else 1)
  }
  length <- (length(x) - 1) * times + 1
  # The last doubling alone takes this many products.
  check_sum(length, if (accuracy == 0) length^2 / 4 else length, "times", log, accuracy)
  usable_sum(.Call(C_pmf_sum, list(x), times, length, log, accuracy, fourier_cache(), run), check_weights(x, "x", log))
}

repeat_positions <- function(x, times, lattice, log, accuracy, run, tail) {
  code <- encode_gaps(positions_of(x), times)
  last <- code$at[[length(code$at)]]
  if (last * times <= 1e7 || last * times < 0.1 * last_position(x)) {
    sums <- if (!log && 3.5e-10 * length(code$at) * times^2 * last < 60) {
      shifted_sums(1, rep(list(code$at), times), rep(list(prob_of(x)), times), seq_len(times) * last + 1)
    } else {
      repeat_vector(dense_weights(new_pmf(prob_of(x, log), 0, log, at = code$at), 1, log), times, log, accuracy, run)
    }
    possible <- which(sums > if (log) -Inf else 0)
    law <- pmf_at(sums[possible], code$value(possible - 1), lattice, log)
    return(without_improbable(leave_out(law, left_out_of(x) + log(times)), tail))
  }
  add_many_positions(rep(list(as_log(x, log)), times), log, accuracy, run, tail)
}

# The tables for Fourier transforms, up to 2 MB, which all sums of the session share.
fourier_cache <- function() {
  if (is.null(fourier_state$cache)) fourier_state$cache <- .Call(C_pmf_cache)
  fourier_state$cache
}
fourier_state <- keep_until_unload(new.env(parent = emptyenv()))

is_accuracy <- function(accuracy) is_one_number(accuracy) && accuracy >= 0 && accuracy <= 0.01

# The measured peak memory of a sum, as a multiple of the result's size. Direct sums copy both vectors.
result_copies <- function(log, accuracy) {
  if (log) 18 else if (accuracy > 0) 16 else 3
}

check_accuracy <- function(accuracy) {
  must_be(is_accuracy(accuracy), "accuracy", "one number from 0 to 0.01", accuracy)
  as.double(accuracy)
}

add_positions <- function(x, y, log, accuracy, run, tail = 0) {
  shared <- lattice_of_sum(list(x, y))
  times <- shared$times
  positions <- c(last_position(x), last_position(y)) * times + 1
  way <- way_to_add(positions, as.double(c(size_of(x), size_of(y))), log)
  if (way == "pairs") {
    at <- as.vector(outer(positions_of(x) * times[[1L]], positions_of(y) * times[[2L]], "+"))
    weights <- as.vector(outer(prob_of(x, log), prob_of(y, log), if (log) "+" else "*"))
  } else {
    check_result_size(sum(positions) - 1, NULL, "probabilities", copies = result_copies(log, accuracy))
    weights <- if (way == "shifts") {
      few <- which.min(c(size_of(x), size_of(y)))
      one <- list(x, y)[[few]]
      shifted_sums(dense_weights(list(x, y)[[3L - few]], times[[3L - few]], FALSE),
        list(positions_of(one) * times[[few]]), list(prob_of(one)), sum(positions) - 1)
    } else {
      sum_vectors(list(dense_weights(x, times[[1L]], log), dense_weights(y, times[[2L]], log)), log, accuracy, run)
    }
    at <- NULL
  }
  without_improbable(leave_out(pmf_at(weights, at, shared$lattice, log), left_out_together(list(x, y))), tail)
}

# The first weights of the sum of a variable with these weights and of variables with few values: their positions `at`,
# and the weights of these. The largest positions increase. `counts` says how many weights are kept after each variable.
shifted_sums <- function(weights, at, values, counts) {
  native(C_pmf_add_values, weights, at, values, rep_len(as.double(counts), length(at)), resolve_run("cpu", work = 0))
}

# How to add two distributions with so many `positions` and `values`: "pairs" of values, which are sorted; "shifts" of
# one by each of the few values of the other; or "dense", a direct sum over all positions.
way_to_add <- function(positions, values, log) {
  pairs <- prod(values)
  all <- sum(positions)
  fastest_way(c(dense = 2e-5 + 1.5e-10 * prod(positions) + 2e-8 * all, pairs = 3e-5 + 2.5e-7 * pairs,
      shifts = if (log || pairs < 1e4) Inf else 2e-5 + 1e-9 * min(values) * max(positions) + 2e-8 * all),
    c(dense = all, pairs = 6 * pairs, shifts = all))
}

# Distributions with few values are added by shifts if that is faster; of the others, the two with the fewest first.
add_many_positions <- function(all, log, accuracy, run, tail) {
  share <- tail / (2 * length(all))
  all <- lapply(all, without_improbable, share)
  few <- vapply(all, size_of, 0L) <= 100L
  shifted <- if (!log && sum(few) > 2L) add_by_shifts(all[few], tail / 4)
  if (!is.null(shifted)) all <- c(list(shifted), all[!few])
  while (length(all) > 1L) {
    heed_interrupt()
    shortest <- order(vapply(all, size_of, 0L))[1:2]
    sum <- add_positions(all[[shortest[[1L]]]], all[[shortest[[2L]]]], log, accuracy, run, share)
    all <- c(all[-shortest], list(sum))
  }
  all[[1L]]
}

# The sum of distributions with few values, by shifts of all positions; NULL if pairs of values are faster.
add_by_shifts <- function(all, tail) {
  shared <- lattice_of_sum(all)
  last <- vapply(all, last_position, 0) * shared$times
  all <- all[order(last)]
  at <- Map(function(x, times) positions_of(x) * times, all, shared$times[order(last)])
  weights <- lapply(all, prob_of)
  last <- sort(last)
  counts <- cumsum(last) + 1
  if (tail > 0 && sum(last) > 1000) counts <- pmin(counts, counts_to_tail(at, weights, last, log(tail)))
  outputs <- counts[[length(counts)]]
  pairs <- sum(2.5e-7 * pmin(cumprod(as.double(lengths(at))), counts))
  # Pairs may need far fewer entries, because improbable values are left out on the way.
  way <- fastest_way(c(shifts = 2e-5 + sum(7e-10 * lengths(at) * counts) + 2e-8 * outputs, pairs = pairs),
    c(shifts = outputs, pairs = if (pairs < 100) 0 else 8 * outputs))
  if (way == "pairs") return(NULL)
  law <- pmf_at(shifted_sums(1, at, weights, counts), NULL, shared$lattice, FALSE)
  left_out <- left_out_together(all)
  if (outputs < sum(last) + 1) left_out[[2L]] <- log_of_sum(c(left_out[[2L]], log(tail)))
  without_improbable(leave_out(law, left_out), tail)
}

# For each k the number of positions beyond which the sum of the first k variables lies with a probability of at most
# exp(log_tail), and much less for those before the last. The bound is found for sixteen k and used for the k before.
counts_to_tail <- function(at, weights, last, log_tail) {
  terms <- length(at)
  group <- rep(seq_len(terms), lengths(at))
  points <- unlist(at)
  each <- unlist(weights)
  ends <- unique(ceiling(terms * seq_len(16) / 16))
  reach <- vapply(ends, function(k) {
    used <- group <= k
    log_moment <- function(t) sum(log(rowsum(each[used] * exp(t * points[used]), group[used])))
    chernoff_reach(log_moment, sum(points[used] * each[used]), last[[k]], log_tail - if (k < terms) 12 else log(2))
  }, 0)
  cummax(reach[findInterval(seq_len(terms), ends, left.open = TRUE) + 1] + 1)
}

without_improbable <- function(x, tail) {
  if (tail == 0 || size_of(x) == 1L) return(x)
  log <- is_log(x)
  weights <- weights_of(x)
  limit <- if (log) log(tail / 2) else tail / 2
  if (is_sparse(x)) {
    sorted <- order(weights)
    sums <- cumulate(weights[sorted], log)
    limit <- limit + if (log) log(2) else limit
    dropped <- min(findInterval(limit, sums), length(sums) - 1L)
    if (dropped == 0L) return(x)
    kept <- sort(sorted[-seq_len(dropped)])
    left_out <- rep(sums[[dropped]], 2L)
  } else {
    ends <- lapply(c(FALSE, TRUE), function(upper) light_end(weights, limit, log, upper))
    dropped <- vapply(ends, `[[`, 0, "count")
    if (all(dropped == 0)) return(x)
    last <- length(weights) - dropped[[2L]]
    kept <- seq(min(dropped[[1L]] + 1, last), last)
    left_out <- vapply(ends, `[[`, 0, "sum")
  }
  leave_out(entries_of(x, kept, weights[kept]), add_logs(left_out_of(x), if (log) left_out else base::log(left_out)))
}

# How many weights at one end have a sum of at most `limit`, and this sum. The end is summed in longer and longer parts.
light_end <- function(weights, limit, log, upper) {
  size <- length(weights)
  length <- min(1024, size)
  repeat {
    part <- if (upper) weights[seq(size, size - length + 1)] else weights[seq_len(length)]
    sums <- if (log) cumulate(part, TRUE) else cumsum(part)
    if (sums[[length]] > limit || length == size) break
    length <- min(8 * length, size)
  }
  count <- findInterval(limit, sums)
  list(count = count, sum = c(if (log) -Inf else 0, sums)[[count + 1]])
}

as_log <- function(x, log) {
  if (is_log(x) == log) return(x)
  result <- on_lattice(prob_of(x, log), lattice_of(x), log, x$at)
  result$left_out <- x$left_out
  result$family <- x$family
  result
}
