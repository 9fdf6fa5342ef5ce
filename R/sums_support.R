# The values of a distribution are from + by * at, where the positions `at` are whole numbers that begin with 0. Most
# distributions have all positions 0, 1, 2, ... and store no `at`. A distribution of few values far apart ("sparse")
# stores `at`. `by` is stored only if it is not 1. `from` and `by` are rounded if they are fractions: they are whole
# numbers divided by `parts`, which is stored only if it is not 1 (pmf_lattice.R).

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
  lattice <- lattice_of(x)
  if (is.null(index)) return(by_blocks(size_of(x), function(at) lattice_value(lattice, positions_of(x, at))))
  lattice_value(lattice, positions_of(x, index))
}

last_of <- function(x) lattice_value(lattice_of(x), last_position(x))

# The position nearest to each value, and whether the value is `there`. Values that users computed are rounded, so
# fractions may differ by some rounding errors. Whole numbers may not.
nearest_position <- function(lattice, value) {
  position <- round((value * lattice$parts - lattice$origin) / lattice$step)
  nearest <- lattice_value(lattice, position)
  apart <- abs(nearest - value)
  slack <- 0
  if (lattice$parts > 1) {
    by <- lattice$step / lattice$parts
    scale <- abs(value) + abs(lattice$origin / lattice$parts) + ifelse(nearest == 0, by, 0)
    slack <- pmin(by / 4, 64 * .Machine$double.eps * scale)
  }
  list(position = position, there = apart <= slack)
}

# Whether each entry is a possible value.
is_possible <- function(x) weights_of(x) > if (is_log(x)) -Inf else 0

# How many entries lie at or below each value.
entries_up_to <- function(x, value) {
  lattice <- lattice_of(x)
  near <- nearest_position(lattice, value)
  below <- which(!near$there)
  position <- near$position
  position[below] <- floor((value[below] * lattice$parts - lattice$origin) / lattice$step)
  position[which(value == Inf)] <- Inf
  position[which(value == -Inf)] <- -Inf
  if (is_sparse(x)) findInterval(position, x$at) else pmin(pmax(position + 1, 0), size_of(x))
}

# The index of the entry of each value, NA for values that have none.
entry_of_value <- function(x, value) {
  near <- nearest_position(lattice_of(x), value)
  near$position[which(!near$there)] <- NA
  entry_at(x, near$position)
}

entry_at <- function(x, position) {
  if (is_sparse(x)) return(match(position, x$at))
  index <- position + 1
  index[which(index < 1 | index > size_of(x))] <- NA
  index
}

# The index of the entry at each position, where positions count steps of which the distribution's own has `times`.
entry_by <- function(x, position, times) {
  if (times > 1) {
    position[which(position %% times != 0)] <- NA
    position <- position / times
  }
  entry_at(x, position)
}

# The lattice of a sum that begins `origin` parts from 0. Up to 2^52 steps from 0, all values are exact.
sum_lattice <- function(origin, step, parts) {
  lattice <- new_lattice(origin, step, parts)
  from <- lattice$origin / lattice$parts
  by <- lattice$step / lattice$parts
  if (abs(from) > 2^52 * min(by, 1)) {
    stop_warpbayes("input", paste0("the sum would begin at ", show_value(from), ", beyond 2^52",
      if (by < 1) " of its steps"))
  }
  lattice
}

# The lattice of the sum of distributions, with the number of `times` that its step is contained in each of theirs.
lattice_of_sum <- function(all) {
  # Most sums are of whole numbers. Dice are added in microseconds.
  origin <- 0
  simple <- TRUE
  for (x in all) {
    simple <- is.null(x$by) && is.null(x$parts) && x$from == floor(x$from)
    if (!simple) break
    origin <- origin + x$from
  }
  if (simple) return(list(lattice = sum_lattice(origin, 1, 1), times = rep(1, length(all))))
  shared <- common_lattice(lapply(all, lattice_of), vapply(all, last_position, 0), apart = FALSE)
  list(lattice = sum_lattice(sum(shared$origin), shared$step, shared$parts), times = shared$times)
}

# The values of several distributions as positions on one lattice, which begins with the first value of all. `at` is a
# list with a vector of positions for each distribution.
positions_together <- function(all) {
  shared <- common_lattice(lapply(all, lattice_of), vapply(all, last_position, 0))
  first <- min(shared$origin)
  list(
    lattice = new_lattice(first, shared$step, shared$parts),
    at = lapply(seq_along(all), function(i) {
      (shared$origin[[i]] - first) / shared$step + positions_of(all[[i]]) * shared$times[[i]]
    })
  )
}

# The weights of all positions up to the last, counted in steps of which the distribution's own has `times`.
dense_weights <- function(x, times, log) {
  weights <- prob_of(x, log)
  if (!is_sparse(x) && times == 1) return(weights)
  at <- positions_of(x) * times
  spread <- rep(if (log) -Inf else 0, at[[length(at)]] + 1)
  spread[at + 1] <- weights
  spread
}

# Whether to store a distribution densely, with an entry for each of its positions. At most `values` of the positions
# are possible values. A dense distribution is faster, but its impossible values take memory and time.
wants_dense <- function(positions, values) positions <= max(1000, 4 * values)

# Estimated seconds for a sum of two distributions: value by value, which sorts the products of all pairs, or over all
# positions by a direct sum. Fourier transforms rarely serve distributions with gaps.
sparse_seconds <- function(products) 3e-5 + 2.5e-7 * products

dense_seconds <- function(x_positions, y_positions) {
  2e-5 + 1.5e-10 * x_positions * y_positions + 2e-8 * (x_positions + y_positions)
}

# More products than this would take too much memory.
most_products <- 2e8

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

# A distribution from weights at increasing positions of a lattice: dense if that is cheaper, otherwise sparse.
from_positions <- function(at, weights, lattice, log) {
  first <- at[[1L]]
  at <- at - first
  lattice <- new_lattice(lattice$origin + lattice$step * first, lattice$step, lattice$parts)
  positions <- at[[length(at)]] + 1
  if (positions == length(at)) return(on_lattice(weights, lattice, log))
  if (wants_dense(positions, length(at))) {
    spread <- rep(if (log) -Inf else 0, positions)
    spread[at + 1] <- weights
    return(on_lattice(spread, lattice, log))
  }
  on_lattice(weights, lattice, log, at)
}

# The sum of two distributions that have different steps, or gaps in at least one. A probability of at most `tail` may
# be left out.
add_positions <- function(x, y, log, accuracy, run, tail = 0) {
  shared <- lattice_of_sum(list(x, y))
  left_out <- left_out_together(list(x, y))
  times <- shared$times
  x_positions <- last_position(x) * times[[1L]] + 1
  y_positions <- last_position(y) * times[[2L]] + 1
  products <- as.double(size_of(x)) * size_of(y)
  if (dense_seconds(x_positions, y_positions) <= sparse_seconds(products) || products > most_products) {
    check_result_size(x_positions + y_positions - 1, NULL, "probabilities", copies = result_copies(log, accuracy))
    parts <- list(dense_weights(x, times[[1L]], log), dense_weights(y, times[[2L]], log))
    weights <- sum_vectors(parts, log, accuracy, run)
    sum <- list(at = which(weights > if (log) -Inf else 0))
    if (wants_dense(length(weights), length(sum$at))) {
      return(without_improbable(leave_out(on_lattice(weights, shared$lattice, log), left_out), tail))
    }
    sum <- list(at = sum$at - 1, weights = weights[sum$at])
  } else {
    check_result_size(products, NULL, "products of probabilities", copies = 12)
    combine <- if (log) "+" else "*"
    at <- as.vector(outer(positions_of(x) * times[[1L]], positions_of(y) * times[[2L]], "+"))
    sum <- gather_positions(at, as.vector(outer(prob_of(x, log), prob_of(y, log), combine)), log)
  }
  if (length(sum$at) == 0L) {
    stop_warpbayes("input", "all probabilities of the sum are below 5e-324: log = TRUE gives their logarithms")
  }
  without_improbable(leave_out(from_positions(sum$at, sum$weights, shared$lattice, log), left_out), tail)
}

# The sum of many distributions. The two with the fewest values are added first.
add_many_positions <- function(all, log, accuracy, run, tail) {
  share <- tail / (2 * length(all))
  all <- lapply(all, without_improbable, share)
  while (length(all) > 1L) {
    heed_interrupt()
    shortest <- order(vapply(all, size_of, 0L))[1:2]
    sum <- add_positions(all[[shortest[[1L]]]], all[[shortest[[2L]]]], log, accuracy, run, share)
    all <- c(all[-shortest], list(sum))
  }
  all[[1L]]
}

# The distribution without values whose probabilities sum to at most `tail`: a dense one without its ends, a sparse one
# without its least probable values.
without_improbable <- function(x, tail) {
  if (tail == 0 || size_of(x) == 1L) return(x)
  log <- is_log(x)
  weights <- weights_of(x)
  limit <- if (log) log(tail / 2) else tail / 2
  if (is_sparse(x)) {
    sorted <- order(weights)
    sums <- native(C_pmf_cumulate, weights[sorted], log, FALSE, resolve_run("cpu", work = 0))
    limit <- limit + if (log) log(2) else limit
    dropped <- min(findInterval(limit, sums), length(sums) - 1L)
    if (dropped == 0L) return(x)
    kept <- sort(sorted[-seq_len(dropped)])
    left_out <- rep(sums[[dropped]], 2L)
  } else {
    sums <- function(upper) native(C_pmf_cumulate, weights, log, upper, resolve_run("cpu", work = 0))
    below <- sums(FALSE)
    above <- sums(TRUE)
    first <- findInterval(limit, below) + 1L
    last <- length(weights) - findInterval(limit, rev(above))
    if (first == 1L && last == length(weights)) return(x)
    kept <- seq(min(first, last), last)
    left_out <- c(if (first > 1L) below[[first - 1L]] else NA, if (last < length(weights)) above[[last + 1L]] else NA)
    left_out[is.na(left_out)] <- if (log) -Inf else 0
  }
  before <- left_out_of(x)
  left_out <- if (log) left_out else base::log(left_out)
  leave_out(from_positions(positions_of(x, kept), weights[kept], lattice_of(x), log), c(
    log_of_sum(c(before[[1L]], left_out[[1L]])), log_of_sum(c(before[[2L]], left_out[[2L]]))
  ))
}

# The same distribution on the log scale, or not.
as_log <- function(x, log) {
  if (is_log(x) == log) return(x)
  result <- on_lattice(prob_of(x, log), lattice_of(x), log, x$at)
  result$left_out <- x$left_out
  result$family <- x$family
  result
}
