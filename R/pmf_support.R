# The values of a distribution are from + by * at, where the positions `at` are whole numbers that begin with 0. Most
# distributions have all positions 0, 1, 2, ... and store no `at`. A distribution of few values far apart ("sparse")
# stores `at`. `by` is stored only if it is not 1.

new_pmf <- function(weights, from, log, by = 1, at = NULL) {
  x <- if (log) list(log_prob = weights, from = from) else list(prob = weights, from = from)
  if (by != 1) x$by <- by
  if (!is.null(at)) x$at <- at
  structure(x, class = c("pmf", "warpbayes"))
}

# The vector values(1:count), computed block by block. R looks for interrupts only between its own vector functions, and
# one of them may take seconds for a long vector.
by_blocks <- function(count, values, block = 2^20) {
  if (count <= block) return(values(seq_len(count)))
  result <- numeric(count)
  for (first in seq(1, count, by = block)) {
    at <- seq(first, min(first + block - 1, count))
    result[at] <- values(at)
    heed_interrupt()
  }
  result
}

# Ends the call if the user has interrupted it. R itself looks only once in about a thousand evaluations.
heed_interrupt <- function() Sys.sleep(0)

exp_of <- function(x) by_blocks(length(x), function(at) exp(x[at]))

log_of <- function(x) by_blocks(length(x), function(at) log(x[at]))

step_of <- function(x) if (is.null(x$by)) 1 else x$by

is_sparse <- function(x) !is.null(x$at)

# The positions of the entries with these indices.
positions_of <- function(x, index = seq_len(size_of(x))) if (is_sparse(x)) x$at[index] else index - 1

last_position <- function(x) if (is_sparse(x)) x$at[[length(x$at)]] else size_of(x) - 1

values_of <- function(x, index = NULL) {
  if (is.null(index)) return(by_blocks(size_of(x), function(at) lattice_value(x, positions_of(x, at))))
  lattice_value(x, positions_of(x, index))
}

last_of <- function(x) lattice_value(x, last_position(x))

lattice_value <- function(x, position) {
  by <- step_of(x)
  if (by == 1) return(x$from + position)
  value <- x$from + by * position
  # For a step of 1 / parts, dividing last gives the double that is nearest to the exact value, such as 0.3.
  parts <- round(1 / by)
  if (by < 1 && abs(parts * by - 1) < 1e-14 && parts < 2^20) {
    nearest <- round(value * parts) / parts
    close <- abs(nearest - value) <= 4 * .Machine$double.eps * (abs(value) + abs(x$from))
    value[close] <- nearest[close]
  }
  value
}

# Values and distributions are rounded. So a value counts as one of the distribution's values if it is off by no more
# than this many steps. Whole numbers are exact.
lattice_slack <- function(x, value) {
  if (step_of(x) == floor(step_of(x)) && x$from == floor(x$from)) return(0)
  pmin(0.25, 64 * .Machine$double.eps * (1 + (abs(value) + abs(x$from)) / step_of(x)))
}

# Whether each entry is a possible value.
is_possible <- function(x) weights_of(x) > if (is_log(x)) -Inf else 0

# How many entries lie at or below each value.
entries_up_to <- function(x, value) {
  position <- floor((value - x$from) / step_of(x) + lattice_slack(x, value))
  position[which(value == Inf)] <- Inf
  position[which(value == -Inf)] <- -Inf
  if (is_sparse(x)) findInterval(position, x$at) else pmin(pmax(position + 1, 0), size_of(x))
}

# The index of the entry of each value, NA for values that have none.
entry_of_value <- function(x, value) {
  at <- (value - x$from) / step_of(x)
  position <- round(at)
  position[which(abs(at - position) > lattice_slack(x, value))] <- NA
  entry_at(x, position)
}

entry_at <- function(x, position) {
  if (is_sparse(x)) return(match(position, x$at))
  index <- position + 1
  index[which(index < 1 | index > size_of(x))] <- NA
  index
}

# The index of the entry at each position, where positions count the steps `by`, a fraction of the distribution's own.
entry_by <- function(x, position, by) {
  times <- round(step_of(x) / by)
  if (times > 1) {
    position[which(position %% times != 0)] <- NA
    position <- position / times
  }
  entry_at(x, position)
}

# Up to 2^52 steps from 0, all values are exact.
check_from <- function(from, by = 1) {
  if (abs(from) > 2^52 * min(by, 1)) {
    stop_warpbayes("input", paste0("the sum would begin at ", show_value(from), ", beyond 2^52",
      if (by < 1) " of its steps"))
  }
  from
}

# The longest step that divides all steps.
common_step <- function(steps) {
  steps <- unique(steps)
  common <- steps[[1L]]
  for (step in steps[-1L]) {
    found <- common_step_of_two(common, step)
    if (is.null(found)) {
      stop_warpbayes("input", sprintf("the steps %s and %s of the distributions have no common step",
        format(common, digits = 15), format(step, digits = 15)
      ))
    }
    common <- found
  }
  common
}

common_step_of_two <- function(a, b) {
  if (a == floor(a) && b == floor(b)) {
    while (b > 0) {
      rest <- a %% b
      a <- b
      b <- rest
    }
    return(a)
  }
  # The continued fraction of a / b, until it is right to 13 digits. To that many digits even steps such as 1 and pi
  # have a common step.
  ratio <- a / b
  p <- c(1, floor(ratio))
  q <- c(0, 1)
  rest <- ratio - floor(ratio)
  while (abs(p[[2L]] / q[[2L]] - ratio) > 1e-13 * ratio) {
    if (rest < 1e-12) return(NULL)
    whole <- floor(1 / rest)
    rest <- 1 / rest - whole
    p <- c(p[[2L]], whole * p[[2L]] + p[[1L]])
    q <- c(q[[2L]], whole * q[[2L]] + q[[1L]])
  }
  b / q[[2L]]
}

# The positions of all entries, counted in the finer steps `by`.
positions_by <- function(x, by) {
  times <- round(step_of(x) / by)
  if (times == 1) positions_of(x) else positions_of(x) * times
}

# The weights of all positions up to the last, counted in the finer steps `by`.
dense_weights <- function(x, by, log) {
  weights <- prob_of(x, log)
  if (!is_sparse(x) && by == step_of(x)) return(weights)
  at <- positions_by(x, by)
  spread <- rep(if (log) -Inf else 0, at[[length(at)]] + 1)
  spread[at + 1] <- weights
  spread
}

# Whether to store a sum densely, with an entry for each of its positions. Dense distributions are faster but take
# more memory. At most `products` of the positions are possible values.
wants_dense <- function(positions, products) {
  positions <= 1e6 || positions <= 4 * products
}

# The sum of weights at each of the positions, which may repeat.
gather_positions <- function(position, weights, log) {
  possible <- weights > if (log) -Inf else 0
  if (!all(possible)) {
    position <- position[possible]
    weights <- weights[possible]
  }
  if (!is.unsorted(position, strictly = TRUE)) return(list(at = position, weights = weights))
  sorted <- order(position)
  position <- position[sorted]
  weights <- weights[sorted]
  first <- c(TRUE, diff(position) > 0)
  group <- cumsum(first)
  at <- position[first]
  if (length(at) < length(position)) {
    size <- tabulate(group, length(at))
    largest <- 0
    if (log) {
      largest <- rep(-Inf, length(at))
      by_weight <- order(group, -weights)
      largest <- weights[by_weight][first]
      weights <- exp(weights - largest[group])
    }
    # Each pass adds one term to every group: first the first terms of all groups, then the second terms, and so on.
    rank <- sequence(size)
    by_rank <- order(rank)
    ends <- cumsum(tabulate(rank))
    sums <- numeric(length(at))
    begin <- 0
    for (end in ends) {
      here <- by_rank[seq(begin + 1, end)]
      sums[group[here]] <- sums[group[here]] + weights[here]
      begin <- end
    }
    weights <- if (log) base::log(sums) + largest else sums
  }
  list(at = at, weights = weights)
}

# A distribution from weights at increasing positions: dense if that is cheaper, otherwise sparse.
from_positions <- function(at, weights, from, by, log) {
  first <- at[[1L]]
  at <- at - first
  from <- from + by * first
  positions <- at[[length(at)]] + 1
  if (positions == length(at)) return(new_pmf(weights, from, log, by))
  if (wants_dense(positions, length(at))) {
    spread <- rep(if (log) -Inf else 0, positions)
    spread[at + 1] <- weights
    return(new_pmf(spread, from, log, by))
  }
  new_pmf(weights, from, log, by, at)
}

# The sum of two distributions that have different steps, or gaps in at least one.
add_positions <- function(x, y, by, log, accuracy, run) {
  from <- check_from(x$from + y$from, by)
  positions <- round(last_position(x) * step_of(x) / by) + round(last_position(y) * step_of(y) / by) + 1
  products <- as.double(size_of(x)) * size_of(y)
  if (wants_dense(positions, products)) {
    check_result_size(positions, NULL, "probabilities", copies = result_copies(log, accuracy))
    result <- sum_vectors(list(dense_weights(x, by, log), dense_weights(y, by, log)), log, accuracy, run)
    return(new_pmf(result, from, log, by))
  }
  check_result_size(products, NULL, "products of probabilities", copies = 12)
  combine <- if (log) "+" else "*"
  at <- as.vector(outer(positions_by(x, by), positions_by(y, by), "+"))
  sum <- gather_positions(at, as.vector(outer(prob_of(x, log), prob_of(y, log), combine)), log)
  if (length(sum$at) == 0L) {
    stop_warpbayes("input", "all probabilities of the sum are below 5e-324: log = TRUE gives their logarithms")
  }
  from_positions(sum$at, sum$weights, from, by, log)
}

# The sum of many distributions. The two with the fewest values are added first.
add_many_positions <- function(all, log, accuracy, run) {
  by <- common_step(vapply(all, step_of, 0))
  while (length(all) > 1L) {
    shortest <- order(vapply(all, size_of, 0L))[1:2]
    sum <- add_positions(all[[shortest[[1L]]]], all[[shortest[[2L]]]], by, log, accuracy, run)
    all <- c(all[-shortest], list(sum))
  }
  all[[1L]]
}

# The same distribution on the log scale, or not.
as_log <- function(x, log) {
  if (is_log(x) == log) return(x)
  new_pmf(prob_of(x, log), x$from, log, step_of(x), x$at)
}
