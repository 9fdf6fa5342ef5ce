# Exact lattices. Values are (origin + step * position) / parts, of whole numbers. Only lattice_value() forms values, by
# one division: equal values are equal doubles.

whole_limit <- 2^53

# The greatest common divisor of whole numbers; 0 if all are 0.
common_divisor <- function(whole) {
  divisor <- 0
  for (one in unique(abs(whole))) {
    while (one > 0) {
      rest <- divisor %% one
      divisor <- one
      one <- rest
    }
    if (divisor == 1) break
  }
  divisor
}

common_multiple <- function(whole) {
  Reduce(function(a, b) if (max(a, b) > whole_limit) Inf else a / common_divisor(c(a, b)) * b, unique(whole))
}

# A double as a ratio of whole numbers c(p, q): the decimal fraction or the simple ratio that it is up to rounding, such
# as 0.1 + 0.2; otherwise the first convergent of its continued fraction that rounds to it.
as_ratio <- function(x) {
  if (x == floor(x)) return(c(x, 1))
  if (x < 0) return(c(-1, 1) * as_ratio(-x))
  slack <- 8 * .Machine$double.eps
  scale <- 10^(1:22)
  whole <- round(x * scale)
  close <- whole > 0 & abs(x * scale - whole) <= slack * whole
  decimal <- which((whole <= 1e12 & close) | (whole < 1e15 & whole / scale == x))
  if (length(decimal) > 0L) {
    ratio <- c(whole[[decimal[[1L]]]], scale[[decimal[[1L]]]])
    return(ratio / common_divisor(ratio))
  }
  p <- c(1, floor(x))
  q <- c(0, 1)
  rest <- x - floor(x)
  while (rest > 0 && max(p, q) < whole_limit) {
    next_term <- floor(1 / rest)
    rest <- 1 / rest - next_term
    p <- c(p[[2L]], next_term * p[[2L]] + p[[1L]])
    q <- c(q[[2L]], next_term * q[[2L]] + q[[1L]])
    simple <- p[[2L]] * q[[2L]] <= 2^40 && abs(p[[2L]] / q[[2L]] - x) <= slack * x
    if (max(p, q) < whole_limit && (simple || p[[2L]] / q[[2L]] == x)) return(c(p[[2L]], q[[2L]]))
  }
  # The double itself.
  q <- 2^min(52 - floor(log2(x)), 1023)
  p <- round(x * q)
  while (p %% 2 == 0 && q > 1) {
    p <- p / 2
    q <- q / 2
  }
  c(p, q)
}

is_exact <- function(...) all(abs(c(...)) <= whole_limit)

new_lattice <- function(origin, step, parts) {
  divisor <- if (parts == 1 || !is_exact(origin, step, parts)) 1 else common_divisor(c(parts, step, origin))
  list(origin = origin / divisor, step = step / divisor, parts = parts / divisor)
}

whole_lattice <- list(origin = 0, step = 1, parts = 1)

# The lattice with this first value and step. A first value that is a multiple of the step's parts up to rounding is
# one. Without common parts below 2^53, the first value is rounded to its last digit, or if too small, the others are.
read_lattice <- function(from, by) {
  step <- as_ratio(by)
  origin <- round(from * step[[2L]])
  if (abs(origin / step[[2L]] - from) <= 4 * .Machine$double.eps * abs(from)) {
    return(new_lattice(origin, step[[1L]], step[[2L]]))
  }
  first <- as_ratio(from)
  parts <- common_multiple(c(first[[2L]], step[[2L]]))
  numbers <- c(first[[1L]] * (parts / first[[2L]]), step[[1L]] * (parts / step[[2L]]))
  if (is_exact(parts, numbers)) return(new_lattice(numbers[[1L]], numbers[[2L]], parts))
  times <- max(1, floor(2^52 / max(step[[2L]], step[[1L]], abs(from) * step[[2L]])))
  origin <- round(from * step[[2L]] * times)
  if (parts < Inf && abs(origin / (step[[2L]] * times) - from) > 2 * .Machine$double.eps * abs(from)) {
    return(new_lattice(numbers[[1L]], numbers[[2L]], parts))
  }
  new_lattice(origin, step[[1L]] * times, step[[2L]] * times)
}

# The whole number of which `value` is the quotient by `parts`; NA if there is none.
parts_in <- function(value, parts) {
  whole <- round(value * parts) + c(0, -1, 1)
  whole[which(whole / parts == value)[1L]]
}

lattice_value <- function(lattice, position) {
  whole <- lattice$origin + lattice$step * position
  if (lattice$parts == 1) return(whole)
  whole / lattice$parts
}

# Several lattices with the same parts: `origin` of each in these parts, the longest `step` that divides all steps and,
# if `apart`, all distances of their origins, and how many `times` it is contained in each step. `last` are the last
# positions: a lattice with the last position 0 has no step.
common_lattice <- function(lattices, last, apart = TRUE) {
  field <- function(name) vapply(lattices, `[[`, 0, name)
  parts <- common_multiple(field("parts"))
  factor <- parts / field("parts")
  origin <- field("origin") * factor
  steps <- field("step") * factor
  steps[last == 0] <- 0
  exact <- is_exact(parts, origin, steps)
  step <- if (exact) common_divisor(c(steps, if (apart) origin - min(origin))) else 0
  if (!exact || (step > 0 && (diff(range(origin)) * apart + sum(steps * last)) / step > whole_limit)) {
    return(nearest_lattice(lattices, last, apart))
  }
  if (step == 0) step <- parts
  list(origin = origin, step = step, parts = parts, times = pmax(steps / step, 1))
}

# The same without a common lattice below 2^53, as for the steps pi and e: ratios of steps are taken to 13 digits.
nearest_lattice <- function(lattices, last, apart) {
  from <- vapply(lattices, function(one) one$origin / one$parts, 0)
  steps <- vapply(lattices, function(one) one$step / one$parts, 0)
  used <- c(steps[last > 0], if (apart) setdiff(from - min(from), 0))
  by <- if (length(used) > 0L) common_step(used) else 1
  if ((diff(range(from)) * apart + sum(steps * last)) / by > whole_limit) {
    stop_warpbayes("input", sprintf(paste("the values of the distributions would be more than",
      "2^53 common steps, %s, apart; round them to a step, as round(x, 2) does"), format(by, digits = 15)))
  }
  lattice <- read_lattice(min(from), by)
  moved <- if (apart) round((from - min(from)) / by) * lattice$step else round((from - min(from)) * lattice$parts)
  list(origin = lattice$origin + moved, step = lattice$step, parts = lattice$parts,
    times = ifelse(last > 0, round(steps / by), 1))
}

common_step <- function(steps) {
  Reduce(function(common, step) {
    found <- common_step_of_two(common, step)
    if (!is.null(found)) return(found)
    stop_warpbayes("input", sprintf(
      "the steps %s and %s of the distributions have no common step; round the values to one, as round(x, 2) does",
      format(common, digits = 15), format(step, digits = 15)))
  }, unique(steps))
}

# By the continued fraction of a / b, until it is right to 13 digits. Then even 1 and pi have a common step.
common_step_of_two <- function(a, b) {
  if (a < b) return(common_step_of_two(b, a))
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

# Codes of whole numbers `at`, so that sums of at most `most` of them need few positions: long gaps between numbers
# become shorter, but are still longer than the codes of all that smaller gaps can add up to. `value(code)` is the sum
# that a sum of codes stands for. Their orders may differ.
encode_gaps <- function(at, most) {
  values <- sort(unique(c(0, at)))
  gap <- diff(values)
  by_length <- order(gap)
  longer <- gap[by_length]
  whole <- cumsum(longer)
  short <- longer
  base <- 0
  fixed <- 0
  for (k in seq_along(longer)) {
    if (longer[[k]] > most * base + 1) {
      short[[k]] <- most * base + 1
      base <- base + short[[k]]
    } else {
      # This gap cannot be told from sums of smaller ones, which all keep their lengths.
      fixed <- k
      base <- whole[[k]]
    }
  }
  short[seq_len(fixed)] <- longer[seq_len(fixed)]
  short[by_length] <- short
  changed <- rev(by_length[seq_along(by_length) > fixed])
  changed <- changed[short[changed] < gap[changed]]
  code <- c(0, cumsum(short))[match(at, values)]
  value <- function(code) {
    sum <- 0
    for (i in changed) {
      times <- code %/% short[[i]]
      sum <- sum + times * gap[[i]]
      code <- code - times * short[[i]]
    }
    sum + code
  }
  list(at = code, value = if (length(changed) > 0L) value else identity)
}
