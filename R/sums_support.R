# The values of a distribution are from + by * at, where the positions `at` are whole numbers that begin with 0. Most
# distributions have all positions and store no `at`; "sparse" ones, of few values far apart, do. `from` and `by` are
# whole numbers divided by `parts` (sums_lattice.R). `by` or `parts` of 1 is left out.

new_pmf <- function(weights, from, log, by = 1, at = NULL) {
  x <- if (log) list(log_prob = weights, from = from) else list(prob = weights, from = from)
  if (by != 1) x$by <- by
  if (!is.null(at)) x$at <- at
  structure(x, class = c("pmf", "warpbayes"))
}

# values(1:count), block by block: R looks for interrupts only between its own vector functions, which may take seconds.
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

positions_of <- function(x, index = seq_len(size_of(x))) if (is_sparse(x)) x$at[index] else index - 1

last_position <- function(x) if (is_sparse(x)) x$at[[length(x$at)]] else size_of(x) - 1

values_of <- function(x, index = NULL) {
  lattice <- lattice_of(x)
  if (is.null(index)) return(by_blocks(size_of(x), function(at) lattice_value(lattice, positions_of(x, at))))
  lattice_value(lattice, positions_of(x, index))
}

last_of <- function(x) lattice_value(lattice_of(x), last_position(x))

# The position nearest to each value, and whether it is `there`: fractions up to rounding errors, whole numbers exactly.
nearest_position <- function(lattice, value) {
  position <- round((value * lattice$parts - lattice$origin) / lattice$step)
  nearest <- lattice_value(lattice, position)
  by <- lattice$step / lattice$parts
  rounding <- if (lattice$parts > 1) 64 * .Machine$double.eps else 0
  of_first <- rounding * (abs(lattice$origin / lattice$parts) + ifelse(nearest == 0, by, 0))
  slack <- pmin(by / 4, rounding * abs(value)) + pmin(1e-6 * by, of_first)
  list(position = position, there = abs(nearest - value) <= slack)
}

is_possible <- function(x) weights_of(x) > if (is_log(x)) -Inf else 0

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
  entry_at(x, exact_position(lattice_of(x), value))
}

# NA for values that are not on the lattice.
exact_position <- function(lattice, value) {
  near <- nearest_position(lattice, value)
  near$position[which(!near$there)] <- NA
  near$position
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

positions_together <- function(all) {
  shared <- common_lattice(lapply(all, lattice_of), vapply(all, last_position, 0))
  first <- min(shared$origin)
  at <- Map(function(x, origin, times) (origin - first) / shared$step + positions_of(x) * times, unname(all),
    shared$origin, shared$times)
  list(lattice = new_lattice(first, shared$step, shared$parts), at = at)
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

# The way with the fewest `seconds` of those whose `entries` fit in memory; both, and `copies`, are named by the ways.
fastest_way <- function(seconds, entries = 0 * seconds, argument = NULL, what = "probabilities", copies = 3) {
  if (max(entries) > 1e7) {
    copies <- copies + 0 * entries
    fits <- 8 * copies * entries <= memory_available()
    least <- which.min(copies * entries)
    if (!any(fits)) check_result_size(entries[[least]], argument, what, copies[[least]])
    seconds[!fits] <- Inf
  }
  names(which.min(seconds))
}

# Whether to store an entry for each position: it takes a quarter of the time of a possible value with its position.
wants_dense <- function(positions, values) positions <= max(1000, 4 * values)

scale_of_weights <- function(log) {
  if (log) return(list(zero = -Inf, one = 0, times = `+`, plus = add_logs))
  list(zero = 0, one = 1, times = `*`, plus = `+`)
}

add_logs <- function(x, y) {
  larger <- pmax(x, y)
  result <- larger + log1p(exp(pmin(x, y) - larger))
  result[larger == -Inf] <- -Inf
  result
}

cumulate <- function(weights, log, upper = FALSE) {
  native(C_pmf_cumulate, weights, log, upper, resolve_run("cpu", work = 0))
}

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
    if (log) {
      largest <- weights[order(group, -weights)][first]
      weights <- exp(weights - largest[group])
    }
    # Each pass adds one term to every group: first the first terms of all groups, then the second terms, and so on.
    rank <- sequence(size)
    by_rank <- order(rank)
    sums <- numeric(length(at))
    begin <- 0
    for (end in cumsum(tabulate(rank))) {
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
  lattice <- move_lattice(lattice, first)
  positions <- at[[length(at)]] - first + 1
  if (positions == length(at)) return(on_lattice(weights, lattice, log))
  if (!wants_dense(positions, length(at))) return(on_lattice(weights, lattice, log, at - first))
  spread <- rep(if (log) -Inf else 0, positions)
  spread[at - first + 1] <- weights
  on_lattice(spread, lattice, log)
}

# The lattice that begins so many steps later.
move_lattice <- function(lattice, steps) {
  new_lattice(lattice$origin + lattice$step * steps, lattice$step, lattice$parts)
}

# Some entries of a distribution, in increasing order, with new weights.
entries_of <- function(x, index, weights) {
  if (!is_sparse(x) && index[[length(index)]] - index[[1L]] + 1 == length(index)) {
    return(on_lattice(weights, move_lattice(lattice_of(x), index[[1L]] - 1), is_log(x)))
  }
  from_positions(positions_of(x, index), weights, lattice_of(x), is_log(x))
}

certain_zero <- function(log) new_pmf(if (log) 0 else 1, 0, log)

is_log <- function(x) !is.null(x$log_prob)

weights_of <- function(x) if (is_log(x)) x$log_prob else x$prob

size_of <- function(x) length(weights_of(x))

# Probabilities, or with log = TRUE their logarithms. The distribution may hold either.
prob_of <- function(x, log = FALSE) {
  if (is_log(x) == log) return(weights_of(x))
  if (log) log_of(x$prob) else exp_of(x$log_prob)
}

# Weights in proportion to the probabilities. On the log scale the largest is 1: only negligible entries underflow.
relative_weights <- function(x) {
  if (!is_log(x)) return(x$prob)
  largest <- max(x$log_prob)
  by_blocks(length(x$log_prob), function(at) exp(x$log_prob[at] - largest))
}

total_weight <- function(weights, log) {
  if (length(weights) == 1L) return(weights)
  cumulate(weights, log)[[length(weights)]]
}

# With the same number of decimals, unless that would be digits beyond the fifteenth.
format_value <- function(value) {
  number <- function(value) {
    format(value, digits = if (all(value == floor(value))) 17 else 15, scientific = FALSE, trim = TRUE)
  }
  text <- number(value)
  if (any(nchar(text) > 18L)) vapply(value, number, "") else text
}

# The lattice of a distribution. Objects that were changed by hand may have no `parts`, or others than their values.
lattice_of <- function(x) {
  by <- step_of(x)
  parts <- if (is.null(x$parts)) 1 else x$parts
  origin <- parts_in(x$from, parts)
  step <- parts_in(by, parts)
  if (is.na(origin) || is.na(step)) read_lattice(x$from, by) else list(origin = origin, step = step, parts = parts)
}

# A distribution from weights at the positions `at`, from 0; NULL for 0, 1, 2, ... A single value has no step.
on_lattice <- function(weights, lattice, log, at = NULL) {
  if (length(weights) == 1L) lattice <- new_lattice(lattice$origin, lattice$parts, lattice$parts)
  if (lattice$parts == 1) return(new_pmf(weights, lattice$origin, log, lattice$step, at))
  x <- new_pmf(weights, lattice$origin / lattice$parts, log, lattice$step / lattice$parts, at)
  x$parts <- lattice$parts
  x
}
