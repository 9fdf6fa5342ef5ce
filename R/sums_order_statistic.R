#' The highest and lowest of several independent variables
#'
#' `order_statistic_pmf()` is the distribution of the k-th smallest or k-th largest of several independent variables.
#' `sum_of_highest_pmf()` and `sum_of_lowest_pmf()` are the distributions of the sum of the k largest and of the k
#' smallest. `opposed_pools_pmf()` compares two pools: the highest of one with the highest of the other, the second with
#' the second, and so on. `sorted_pool()` is the joint distribution of the k highest.
#'
#' Probabilities have relative errors below 1e-14 for up to 50 variables. Pools of `opposed_pools_pmf()` with n kinds of
#' variables have 2^n states.
#'
#' @param x,y a list of distributions made by [pmf()], one for each variable, such as `c(rep(die, 4), third)`.
#' @param k how many are summed or sorted; for `order_statistic_pmf()` which one is asked for.
#' @param highest whether to count from the largest variable rather than from the smallest.
#' @param pairs how many pairs are compared, beginning with the highest. The default is the size of the smaller pool.
#' @param ties whether x loses or wins a pair of equal values.
#' @inheritParams convolve_pmf
#' @return A [pmf()]; for `opposed_pools_pmf()` of the number of pairs that x wins. `sorted_pool()` gives a data frame
#'   with the columns `x1` (the highest), `x2`, ..., `prob`, and a row for each sorted outcome.
#' @inheritSection pmf_functions Errors
#' @examples
#' die <- pmf_uniform(1, 6)
#' # Four dice, of which the highest three count.
#' sum_of_highest_pmf(rep(die, 4), 3)
#' # The lifetime, in months, of a system that needs two of its three parts.
#' lifetimes <- list(pmf_geometric(0.02), pmf_geometric(0.02), pmf_geometric(0.05))
#' order_statistic_pmf(lifetimes, 2, highest = TRUE)
#' # Three dice attack two, and equal dice are won by the defence.
#' opposed_pools_pmf(rep(die, 3), rep(die, 2))
#' sorted_pool(rep(die, 5), 2)
#' @export
order_statistic_pmf <- function(x, k, highest = FALSE) {
  x <- check_pool(x, "x")
  n <- length(x)
  k <- check_count(k, "k", max = n)
  highest <- check_flag(highest, "highest")
  if (highest) k <- n + 1 - k
  upper <- k > (n + 1) / 2
  if (upper) k <- n + 1 - k
  pool <- pool_on_lattice(x)
  check_operations(4 * length(pool$at) * n * k, "x")
  weights <- by_blocks(length(pool$at), function(at) kth_weights(pool, at, k, upper), block = ceiling(1e6 / k))
  leave_out_of_pool(pmf_at(weights, pool$at, pool$lattice, pool$log), x)
}

# P(the k-th variable from one end is at each of the values `at`). `waiting[v, c]`: the probability that of the
# variables so far, c - 1 lie beyond v. `chosen[v, c]`: the same, and one of them, at v, is number k.
kth_weights <- function(pool, at, k, upper) {
  numbers <- scale_of_weights(pool$log)
  waiting <- chosen <- matrix(numbers$zero, length(at), k)
  waiting[, 1L] <- numbers$one
  one_more <- function(states) cbind(numbers$zero, states[, -k, drop = FALSE])
  for (variable in pool$variables) {
    heed_interrupt()
    # With `upper`, the values in the other direction.
    if (upper) names(variable) <- c("here", "from", "up_to", "after", "before")
    part <- lapply(variable, `[`, at)
    # Of equal values the later one counts as farther from this end.
    chosen <- numbers$plus(numbers$plus(numbers$times(chosen, part$from), numbers$times(one_more(chosen), part$before)),
      numbers$times(waiting, part$here))
    waiting <- numbers$plus(numbers$times(waiting, part$after), numbers$times(one_more(waiting), part$up_to))
  }
  chosen[, k]
}

#' @rdname order_statistic_pmf
#' @export
sum_of_highest_pmf <- function(x, k, backend = NULL, threads = NULL) {
  x <- check_pool(x, "x")
  k <- check_count(k, "k", max = length(x))
  resolve_run(backend, threads)
  if (k == length(x)) return(sum_pmf(x, accuracy = 0, backend = backend, threads = threads))
  if (k == 1) return(order_statistic_pmf(x, 1, highest = TRUE))
  pool <- pool_on_lattice(x)
  code <- encode_gaps(pool$at, k)
  at <- pool$at <- code$at
  most <- at[[length(at)]]
  check_result_size(2 * k * (k * most + 1), "x", "probabilities", copies = 4)
  check_operations(length(x) * sum(2 * k * (k * (at[[length(at)]] - at) + 1) * rev(seq_along(at))), "x")
  add_row <- function(rows, kernel) {
    convolve_pmf(rows, kernel, log = pool$log, accuracy = 0, backend = backend, threads = threads)
  }
  same <- length(x) > 1L && all(vapply(x[-1L], identical, NA, x[[1L]]))
  numbers <- scale_of_weights(pool$log)
  total <- rep(numbers$zero, k * most + 1)
  for (i in seq_along(at)) {
    heed_interrupt()
    sums <- (if (same) sums_of_same else sums_of_mixed)(pool, i, k, length(x), numbers, add_row)
    if (is.null(sums)) next
    # Sums of the excess over the value number i, counted from k times the lowest value.
    index <- k * at[[i]] + seq_along(sums)
    total[index] <- numbers$plus(total[index], sums)
  }
  lattice <- sum_lattice(k * pool$lattice$origin, pool$lattice$step, pool$lattice$parts)
  leave_out_of_pool(pmf_at(total, code$value(seq_along(total) - 1), lattice, pool$log), x)
}

#' @rdname order_statistic_pmf
#' @export
sum_of_lowest_pmf <- function(x, k, backend = NULL, threads = NULL) {
  x <- check_pool(x, "x")
  k <- check_count(k, "k", max = length(x))
  -sum_of_highest_pmf(lapply(x, function(one) -one), k, backend, threads)
}

# The probabilities of each excess of a variable over the value number i: of one step, of two, and so on.
excess_over <- function(variable, at, i, numbers) {
  weights <- rep(numbers$zero, at[[length(at)]] - at[[i]] + 1)
  weights[at[i:length(at)] - at[[i]] + 1] <- variable$here[i:length(at)]
  weights[seq_len(max(which(weights > numbers$zero), 1L))][-1L]
}

# The weights of the sums of k excesses over the value number i, where the k-th highest variable has this value. The
# rows of `waiting` and `chosen` are for 0, 1, ..., k - 1 variables that count as higher.
sums_of_mixed <- function(pool, i, k, n, numbers, add_row) {
  waiting <- chosen <- matrix(numbers$zero, k, 1L)
  waiting[[1L]] <- numbers$one
  most <- (k - 1) * (pool$at[[length(pool$at)]] - pool$at[[i]]) + 1
  for (variable in pool$variables) {
    excess <- excess_over(variable, pool$at, i, numbers)
    here <- variable$here[[i]]
    rows <- rbind(waiting[-k, , drop = FALSE], chosen[-k, , drop = FALSE])
    columns <- min(ncol(rows) + length(excess), most)
    usable <- which(rowSums(rows > numbers$zero) > 0)
    raised <- matrix(numbers$zero, 2L * k, columns)
    if (length(excess) > 0L && length(usable) > 0L) {
      sums <- add_row(rows[usable, , drop = FALSE], excess)
      raised[c(2:k, k + 2:k)[usable], -1L] <- sums[, seq_len(columns - 1L), drop = FALSE]
    }
    wider <- matrix(numbers$zero, k, columns - ncol(rows))
    waiting <- cbind(waiting, wider)
    chosen <- cbind(chosen, wider)
    # An equal value that comes after the chosen one counts as higher.
    one_more <- rbind(numbers$zero, chosen[-k, , drop = FALSE])
    chosen <- numbers$plus(numbers$plus(numbers$times(chosen, variable$before[[i]]), numbers$times(one_more, here)),
      numbers$times(waiting, here))
    waiting <- numbers$plus(numbers$times(waiting, variable$up_to[[i]]), raised[seq_len(k), , drop = FALSE])
    chosen <- numbers$plus(chosen, raised[k + seq_len(k), , drop = FALSE])
  }
  sums <- chosen[k, ]
  if (any(sums > numbers$zero)) sums
}

# The same for n variables with one distribution: of them, a are higher, at least k - a are equal, the others are lower.
sums_of_same <- function(pool, i, k, n, numbers, add_row) {
  variable <- pool$variables[[1L]]
  at_value <- function(p, times) if (times == 0) numbers$one else if (pool$log) p * times else p^times
  excess <- excess_over(variable, pool$at, i, numbers)
  above <- numbers$one
  sums <- NULL
  for (a in seq_len(if (length(excess) > 0L) k else 1L) - 1) {
    if (a > 0) above <- c(numbers$zero, as.vector(add_row(above, excess)))
    equal <- seq(k - a, n - a)
    ways <- choose(n, a) * choose(n - a, equal)
    if (pool$log) ways <- log(ways)
    ties <- Reduce(numbers$plus, lapply(seq_along(equal), function(j) {
      numbers$times(numbers$times(at_value(variable$here[[i]], equal[[j]]),
        at_value(variable$before[[i]], n - a - equal[[j]])), ways[[j]])
    }))
    sums <- numbers$plus(c(sums, rep(numbers$zero, length(above) - length(sums))), numbers$times(above, ties))
  }
  if (any(sums > numbers$zero)) sums
}

check_pool <- function(x, argument) {
  check_present(!missing(x), argument)
  if (inherits(x, "pmf")) x <- list(x)
  must_be(is.list(x) && !is.data.frame(x) && length(x) > 0L, argument, "a list of distributions made by pmf()", x)
  lapply(seq_along(x), function(i) check_pmf(x[[i]], sprintf("%s[[%d]]", argument, i)))
}

# All possible values of several variables, at positions `at` of a common lattice. For each variable, probabilities of
# a value (here), of lower values (before; up_to: with it) and of higher ones (after; from: with it).
pool_on_lattice <- function(x) {
  log <- any(vapply(x, is_log, NA))
  nothing <- if (log) -Inf else 0
  shared <- positions_together(x)
  weights <- lapply(x, prob_of, log)
  at <- sort(unique(unlist(Map(function(at, weights) at[weights > nothing], shared$at, weights))))
  variables <- Map(function(own, weights) {
    here <- weights[match(at, own)]
    here[is.na(here)] <- nothing
    up_to <- cumulate(here, log)
    from <- cumulate(here, log, TRUE)
    list(here = here, up_to = up_to, from = from, before = c(nothing, up_to[-length(at)]),
      after = c(from[-1L], nothing))
  }, shared$at, weights)
  list(lattice = shared$lattice, at = at, variables = variables, log = log)
}

leave_out_of_pool <- function(result, pool) leave_out(result, on_both_sides(left_out_together(pool)))

#' @rdname order_statistic_pmf
#' @export
opposed_pools_pmf <- function(x, y, pairs = NULL, ties = c("lose", "win")) {
  x <- check_pool(x, "x")
  y <- check_pool(y, "y")
  most <- min(length(x), length(y))
  pairs <- if (is.null(pairs)) most else check_count(pairs, "pairs", max = most)
  ties <- check_choice(ties, "ties", c("lose", "win"))
  both <- pool_on_lattice(lapply(c(x, y), as_log, log = FALSE))
  own <- pool_states(x, both$variables[seq_along(x)])
  other <- pool_states(y, both$variables[-seq_along(x)])
  states <- c(length(own$met), length(other$met))
  check_result_size(prod(states) * (pairs + 1), c("x", "y"), "states", copies = 4)
  check_result_size(max(states)^2, c("x", "y"), "pairs of states", copies = 4)
  # reached[i, j, w]: states i and j of the pools, w - 1 pairs won.
  reached <- array(0, c(states, pairs + 1))
  reached[[1L]] <- 1
  for (i in rev(seq_along(both$at))) {
    heed_interrupt()
    move_other <- function() aperm(move(aperm(reached, c(2, 1, 3)), other, Inf, i), c(2, 1, 3))
    if (ties == "lose") reached <- move_other()
    reached <- move(reached, own, other$met, i)
    if (ties == "win") reached <- move_other()
  }
  leave_out_of_pool(pmf_at(reached[states[[1L]], states[[2L]], ], NULL, whole_lattice, FALSE), c(x, y))
}

# How many variables have been `met` in each state: counts of each kind, of which the first varies fastest.
pool_states <- function(pool, variables) {
  kind <- integer(0)
  for (i in seq_along(pool)) {
    same <- Find(function(j) identical(pool[[i]], pool[[j]]), seq_len(i - 1L))
    kind[[i]] <- if (is.null(same)) i else kind[[same]]
  }
  first <- unique(kind)
  size <- tabulate(match(kind, first))
  check_result_size(prod(size + 1), NULL, "states of a pool", copies = 2 * length(size))
  list(met = rowSums(expand.grid(lapply(size, function(n) 0:n))), size = size, variables = variables[first])
}

# Moves from state to state, with their probabilities: some variables of each kind have the value number i.
pool_moves <- function(states, i) {
  moves <- matrix(1, 1L, 1L)
  for (g in seq_along(states$size)) {
    n <- states$size[[g]]
    p <- states$variables[[g]]$here[[i]]
    more <- outer(0:n, 0:n, function(before, after) {
      ifelse(after < before, 0, choose(n - before, pmax(after - before, 0)) * p^pmax(after - before, 0))
    })
    moves <- kronecker(more, moves)
  }
  which <- which(moves > 0, arr.ind = TRUE)
  list(from = which[, 1L], to = which[, 2L], weight = moves[which])
}

# `reached` after the moves of its rows' pool. A variable with this value wins if its partner was not met: pairs after
# the first max(a, b), where a and b variables of the pools were met. `met`: b for each column, Inf where none wins.
move <- function(reached, states, met, i) {
  moves <- pool_moves(states, i)
  pairs <- dim(reached)[[3L]] - 1
  met <- rep_len(met, ncol(reached))
  result <- array(0, dim(reached))
  for (m in seq_along(moves$weight)) {
    from <- moves$from[[m]]
    to <- moves$to[[m]]
    won <- pmax(pmin(states$met[[to]], pairs) - pmax(states$met[[from]], met), 0)
    for (more in unique(won)) {
      here <- which(won == more)
      kept <- seq_len(pairs + 1 - more)
      result[to, here, kept + more] <- result[to, here, kept + more] + reached[from, here, kept] * moves$weight[[m]]
    }
  }
  result
}

#' @rdname order_statistic_pmf
#' @export
sorted_pool <- function(x, k = length(x), highest = TRUE) {
  x <- check_pool(x, "x")
  k <- check_count(k, "k", max = length(x))
  highest <- check_flag(highest, "highest")
  pool <- pool_on_lattice(lapply(x, as_log, log = FALSE))
  size <- length(pool$at)
  check_result_size(choose(size + k - 1, k) * k * size, "k", "sorted outcomes", copies = 4)
  if ((size + 1)^k > 2^52) stop_input("k", "is ", show_value(k), sprintf(": with %d values that is too many", size))
  # The indices of the k most extreme values so far, in a row for each outcome; 0 for none.
  outcomes <- list(index = matrix(0, 1L, k), prob = 1)
  for (variable in pool$variables) {
    heed_interrupt()
    outcomes <- one_more_sorted(outcomes, if (highest) variable$here else rev(variable$here), size)
  }
  index <- if (highest) outcomes$index else size + 1 - outcomes$index
  value <- lattice_value(pool$lattice, pool$at)
  columns <- lapply(seq_len(k), function(j) value[index[, j]])
  data.frame(stats::setNames(columns, paste0("x", seq_len(k))), prob = outcomes$prob)
}

# The sorted outcomes after one more variable. Each is a number with the base size + 1, whose digits are the indices.
one_more_sorted <- function(outcomes, here, size) {
  k <- ncol(outcomes$index)
  possible <- which(here > 0)
  rows <- rep(seq_len(nrow(outcomes$index)), length(possible))
  new <- rep(possible, each = nrow(outcomes$index))
  code <- 0
  for (j in seq_len(k)) {
    old <- outcomes$index[rows, j]
    code <- code * (size + 1) + pmax(old, new)
    new <- pmin(old, new)
  }
  # A distribution on these numbers adds the probabilities of equal outcomes.
  prob <- outcomes$prob[rows] * rep(here[possible], each = nrow(outcomes$index))
  law <- as.data.frame(pmf(prob, values = code, by = 1, tolerance = changed_tolerance))
  law <- law[law$prob > 0, ]
  digits <- vapply(rev(seq_len(k)), function(j) (law$value %/% (size + 1)^(j - 1)) %% (size + 1), law$value)
  list(index = matrix(digits, ncol = k), prob = law$prob)
}
