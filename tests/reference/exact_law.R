# Discrete distributions in exact arithmetic. A law is a list: `value` has whole numbers, of which the values are the
# quotients by `parts`; `weight` has big numbers, of which the probabilities are the quotients by 2^bits. Big numbers
# are the rows of a matrix: digits in base 2^20, the lowest first. All sums and products are exact.

big_base <- 2^20

# Doubles times 2^bits, which must be whole numbers.
big_from <- function(x, bits) {
  x <- x * 2^bits
  size <- max(1, ceiling((log2(max(x, 1)) + 1) / 20))
  digits <- matrix(0, length(x), size)
  for (place in rev(seq_len(size))) {
    digits[, place] <- floor(x / big_base^(place - 1))
    x <- x - digits[, place] * big_base^(place - 1)
  }
  digits
}

big_carry <- function(digits) {
  place <- 1
  while (place <= ncol(digits)) {
    over <- floor(digits[, place] / big_base)
    if (any(over > 0)) {
      if (place == ncol(digits)) digits <- cbind(digits, 0)
      digits[, place] <- digits[, place] - over * big_base
      digits[, place + 1] <- digits[, place + 1] + over
    }
    place <- place + 1
  }
  digits
}

# Products row by row.
big_times <- function(a, b) {
  product <- matrix(0, nrow(a), ncol(a) + ncol(b))
  for (i in seq_len(ncol(a))) {
    for (j in seq_len(ncol(b))) {
      product[, i + j - 1] <- product[, i + j - 1] + a[, i] * b[, j]
    }
  }
  big_carry(product)
}

big_widen <- function(a, size) cbind(a, matrix(0, nrow(a), max(size - ncol(a), 0)))

# The doubles nearest to rows divided by 2^bits, up to one part in 2^52.
big_to_double <- function(a, bits) {
  a <- cbind(matrix(0, nrow(a), 3), a)
  top <- pmax(max.col(matrix(as.numeric(a > 0), nrow(a)) * col(a), ties.method = "first"), 4)
  digit <- function(below) a[cbind(seq_len(nrow(a)), top - below)]
  leading <- (digit(0) * big_base + digit(1)) * big_base^2 + (digit(2) * big_base + digit(3))
  exponent <- 20 * (top - 7) - bits
  leading * 2^(exponent %/% 2) * 2^(exponent - exponent %/% 2)
}

# A law from doubles.
exact_law <- function(value, parts, prob) {
  bits <- 53 + ceiling(-log2(min(prob[prob > 0])))
  exact_gather(value[prob > 0], parts, big_from(prob[prob > 0], bits), bits)
}

exact_gather <- function(value, parts, weight, bits) {
  values <- sort(unique(value))
  list(value = values, parts = parts, weight = big_carry(unname(rowsum(weight, match(value, values)))), bits = bits)
}

exact_prob <- function(x) big_to_double(x$weight, x$bits)

exact_in_parts <- function(x, parts) {
  x$value <- x$value * (parts / x$parts)
  x$parts <- parts
  x
}

# The law of f of two independent variables, where f commutes with multiples.
exact_pair <- function(x, y, f) {
  parts <- x$parts * y$parts
  x <- exact_in_parts(x, parts)
  y <- exact_in_parts(y, parts)
  i <- rep(seq_along(x$value), length(y$value))
  j <- rep(seq_along(y$value), each = length(x$value))
  weight <- big_times(x$weight[i, , drop = FALSE], y$weight[j, , drop = FALSE])
  exact_gather(f(x$value[i], y$value[j]), parts, weight, x$bits + y$bits)
}

# One of two laws, with the probabilities `share` (doubles).
exact_mix <- function(x, y, share) {
  parts <- x$parts * y$parts
  bits <- max(x$bits, y$bits)
  scaled <- function(one, share) {
    big_times(one$weight, big_from(rep(share * 2^(bits - one$bits), nrow(one$weight)), 80))
  }
  x <- exact_in_parts(x, parts)
  y <- exact_in_parts(y, parts)
  a <- scaled(x, share[[1L]])
  b <- scaled(y, share[[2L]])
  size <- max(ncol(a), ncol(b))
  exact_gather(c(x$value, y$value), parts, rbind(big_widen(a, size), big_widen(b, size)), bits + 80)
}

exact_map <- function(x, f) exact_gather(f(x$value), x$parts, x$weight, x$bits)

exact_keep <- function(x, index) {
  x$value <- x$value[index]
  x$weight <- x$weight[index, , drop = FALSE]
  x
}

# The sums of the first weights, or of the last.
exact_sums <- function(x, upper = FALSE) {
  weight <- if (upper) x$weight[rev(seq_along(x$value)), , drop = FALSE] else x$weight
  sums <- big_to_double(big_carry(matrix(apply(weight, 2, cumsum), nrow(weight))), x$bits)
  if (upper) rev(sums) else sums
}
