# What pmf() reads besides plain vectors: tables, vectors named by their values, and data frames of two columns.

# A list of `weights` and of their `values`, NULL if `prob` has none; `argument` and `source` name both in messages.
# If `placed`, other arguments say the values, and names need not be numbers.
read_weights <- function(prob, placed, argument = "prob") {
  if (is.data.frame(prob)) return(read_weight_columns(prob, placed, argument))
  must_be(!is.factor(prob), argument, "probabilities or counts", prob,
    ": pmf(table(x), normalize = TRUE) counts the levels of a factor x")
  labels <- if (is.numeric(prob)) names(prob)
  source <- sprintf("names(%s)", argument)
  values <- if (!is.null(labels)) read_values(labels, source, inherits(prob, "table"), placed)
  list(weights = prob, argument = argument, values = values, source = source)
}

read_weight_columns <- function(frame, placed, argument) {
  must_be(length(frame) == 2L, argument,
    "a numeric vector, a table, or a data frame of two columns, the values and their probabilities or counts", frame)
  names <- if (is.null(names(frame))) 1:2 else names(frame)
  is_weight <- names %in% c("prob", "log_prob", "probability", "p", "count", "n", "Freq")
  columns <- if (is_weight[[1L]] && !is_weight[[2L]]) c(2L, 1L) else c(1L, 2L)
  shown <- paste0(argument, "$", names[columns])
  values <- frame[[columns[[1L]]]]
  if (!is.numeric(values)) values <- read_values(values, shown[[1L]], TRUE, placed)
  list(weights = frame[[columns[[2L]]]], argument = shown[[2L]], values = values, source = shown[[1L]])
}

# The numbers that labels are. NULL if they are only labels, which those of a table or a column (`required`) are not.
read_values <- function(labels, source, required, placed) {
  labels <- as.character(labels)
  is_number <- is_number_text(labels)
  if (all(is_number)) return(as.double(labels))
  if (placed || !(required || any(is_number))) return(NULL)
  first <- which(!is_number)[[1L]]
  stop_input(source, sprintf("has the entry %s at position %d, which is not a number: ", show_value(labels[[first]]),
    first), "name the values by numbers, or give them as `values`")
}

is_number_text <- function(text) grepl("^\\s*[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?\\s*$", text)

# Values by argument and values within `prob` must be the same, up to the 15 digits that names have.
check_values_agree <- function(argument, values, read) {
  named <- read$values
  if (is.null(named)) return(invisible())
  apart <- which(is.na(named) | abs(named - values) > 1e-12 * pmax(abs(named), abs(values)))
  if (length(apart) == 0L) return(invisible())
  at <- apart[[1L]]
  stop_input(argument, sprintf("says that entry %d of `%s` belongs to %s, but `%s` says %s: ", at, read$argument,
    format_value(values[[at]]), read$source, show_value(named[[at]])), "give one of them")
}

# How far the sum of probabilities may be from 1. They are taken as they are, so results are right to within this.
sum_tolerance <- 1e-8

check_pmf_values <- function(values, size, argument = "values") {
  values <- given_data(values, argument)
  if (!is.numeric(values) || is.data.frame(values) || length(values) != size ||
    any(!is.finite(values)) || max(abs(values)) > 2^52) {
    large <- if (is.numeric(values)) values[!(abs(values) <= 2^52)]
    stop_input(argument,
      sprintf("must be numbers of at most 2^52 in absolute value, as many as probabilities (%d), not ", size),
      show_value(if (length(large)) large[[1L]] else values))
  }
  as.double(values)
}

# The lattice of these values, and their positions. Without a step it is the longest that divides all distances.
lattice_of_values <- function(values, by = NULL, argument = "values", operands = 0) {
  first <- min(values)
  if (!is.null(by)) return(list(lattice = read_lattice(first, by), at = positions_on_step(values, first, by, argument)))
  # Values that are decimal fractions up to their own rounding, or else, such as pi and pi + 1, their distances.
  for (from in unique(c(0, first))) {
    sizes <- pmax(abs(values), abs(from), abs(operands))
    for (scale in 10^(0:9)) {
      exact <- (values - from) * scale
      whole <- round(exact)
      if (max(abs(whole)) <= 2^52 && all(abs(whole - exact) <= pmin(8 * .Machine$double.eps * scale * sizes, 0.01))) {
        origin <- min(whole)
        step <- common_divisor(whole - origin)
        lattice <- if (from == 0) new_lattice(origin, if (step == 0) scale else step, scale) else
          read_lattice(first, if (step == 0) 1 else step / scale)
        return(list(lattice = lattice, at = (whole - origin) / max(step, 1)))
      }
    }
  }
  # More decimals, if the values are exactly what they print with 15 digits. Rounding errors of positions up to 2^47 are
  # less than a tenth, so that none becomes its neighbour.
  for (scale in 10^(10:15)) {
    whole <- round(values * scale)
    if (max(abs(whole)) > 1e15) break
    if (all(whole / scale == values)) {
      origin <- min(whole)
      step <- common_divisor(whole - origin)
      if (max(abs(whole)) <= 2^47 * step) {
        return(list(lattice = new_lattice(origin, step, scale), at = (whole - origin) / step))
      }
    }
  }
  stop_input(argument, "are neither whole numbers nor decimal fractions: give the step, `by`")
}

positions_on_step <- function(values, first, by, argument) {
  at <- (values - first) / by
  off <- which(abs(at - round(at)) > 1e-6 + 8 * .Machine$double.eps * (abs(values) + abs(first)) / by)
  if (length(off) > 0L || max(at) > 2^52 || abs(first) > 2^52 * min(by, 1)) {
    stop_input(argument, "must be multiples of `by`, ", exact_words(by),
      ", apart, and at most 2^52 of them, which ",
      exact_words(if (length(off) > 0L) values[[off[[1L]]]] else max(values)), " is not")
  }
  round(at)
}

# A distribution from weights at the positions `at` of a lattice; NULL for 0, 1, ..., which are not formed for nothing.
pmf_at <- function(weights, at, lattice, log) {
  gathered <- if (!is.null(at)) gather_positions(at, weights, log)
  possible <- if (is.null(at)) which(weights > if (log) -Inf else 0) else gathered$at
  if (length(possible) == 0L) {
    stop_warpbayes("input", "all probabilities of the sum are below 5e-324: log = TRUE gives their logarithms")
  }
  if (!is.null(at)) return(from_positions(gathered$at, gathered$weights, lattice, log))
  first <- possible[[1L]]
  last <- possible[[length(possible)]]
  if (!wants_dense(last - first + 1, length(possible))) {
    return(from_positions(possible - 1, weights[possible], lattice, log))
  }
  if (last - first + 1 < length(weights)) weights <- weights[seq(first, last)]
  on_lattice(weights, move_lattice(lattice, first - 1), log)
}

# A double vector without attributes. One that is so already is left to the compiled code and to check_weights().
plain_weights <- function(weights, argument, log) {
  if (is.double(weights) && is.null(attributes(weights)) && length(weights) > 0L) return(weights)
  # Such a vector or table would count as weights of 0, 1, ...
  if (is.numeric(weights) && !is.null(names(weights)) && all(is_number_text(names(weights)))) {
    stop_input(argument, "has values in its names: pmf() makes a distribution of it")
  }
  check_weights(weights, argument, log)
}

check_weights <- function(weights, argument, log) {
  if (is.double(weights) && is.null(attributes(weights)) && .Call(C_pmf_usable, weights, log)) return(weights)
  weights <- given_data(weights, argument)
  must_be(is.numeric(weights) && length(dim(weights)) <= 1L, argument, "a numeric vector", weights)
  if (length(weights) == 0L) stop_input(argument, "is empty: a distribution has at least one value")
  weights <- as.double(weights)
  refuse_entries(weights, bad_weight(weights, log), argument, weight_rule(log))
  if (max(weights) <= if (log) -Inf else 0) stop_input(argument, "is all zero: at least one value must be possible")
  weights
}

# The compiled code keeps numbers as mantissas and binary exponents of up to 2^50 (src/numeric/wide.h).
bad_weight <- function(weights, log) {
  usable <- if (log) abs(weights) <= 2^49 | weights == -Inf else weights >= 0 & weights < Inf
  which(is.na(weights) | !usable)
}

weight_rule <- function(log) {
  if (!log) return("probabilities must be numbers from 0")
  "logarithms of probabilities must be numbers or -Inf, and not beyond 2^49"
}

# A vector next to a distribution is one on 0, 1, ..., unless it has its values with it, as a table has.
pmf_or_vector <- function(x, argument) {
  if (inherits(x, "pmf")) return(check_pmf(x, argument))
  read <- read_weights(x, FALSE, argument)
  x <- check_weights(read$weights, read$argument, FALSE)
  total <- total_weight(x, FALSE)
  if (abs(total - 1) > sum_tolerance) {
    stop_input(argument, "is a vector that sums to ", format(total, digits = 10),
      ", not 1: together with a distribution it must be one")
  }
  if (is.null(read$values)) return(new_pmf(x, 0, FALSE))
  found <- lattice_of_values(check_pmf_values(read$values, length(x), read$source), argument = read$source)
  pmf_at(x, found$at, found$lattice, FALSE)
}

# The same for matrices; a vector is a single row, and check_weight_rows() says what is wrong.
plain_weight_rows <- function(x, argument, log) {
  if (!is.matrix(x)) {
    x <- plain_weights(x, argument, log)
    dim(x) <- c(1L, length(x))
  }
  if (is.double(x) && !is.object(x) && length(x) > 0L) x else check_weight_rows(x, argument, log)
}

check_weight_rows <- function(x, argument, log) {
  x <- given_data(x, argument)
  must_be(is.numeric(x), argument, "numeric", x)
  if (length(x) == 0L) stop_input(argument, "is empty: a ", paste(dim(x), collapse = " x "), " matrix")
  dimensions <- dim(x)
  x <- as.double(x)
  bad <- bad_weight(x, log)[1L]
  if (!is.na(bad)) {
    stop_input(argument, sprintf("has the entry %s in row %.0f, column %.0f; ", exact_words(x[[bad]]),
      (bad - 1) %% dimensions[[1L]] + 1, (bad - 1) %/% dimensions[[1L]] + 1), weight_rule(log))
  }
  dim(x) <- dimensions
  positive <- if (log) rowSums(x > -Inf) else rowSums(x)
  if (any(positive == 0)) {
    stop_input(argument,
      sprintf("is all zero in row %d: at least one value must be possible", which(positive == 0)[[1L]]))
  }
  x
}
