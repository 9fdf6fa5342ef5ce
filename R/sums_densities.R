# Densities of distributions by name, by Loader (2000), "Fast and accurate computation of binomial probabilities". R's
# own functions lose up to nine digits at large parameters or probabilities near 1: they subtract a rounded mean from a
# value. Here this difference is exact. The error of a logarithm l is below 5e-15 (1 + |l|).

# log(n!) less Stirling's approximation of it, for n above 0.
stirling_error <- function(n) {
  error <- numeric(length(n))
  small <- which(n < 15)
  at <- n[small]
  for (k in seq_len(15)) {
    error[small] <- error[small] + ((at + 0.5) * (log1p(at) - log(at)) - 1)
    at <- at + 1
  }
  n[small] <- at
  square <- 1 / n^2
  rest <- (1 / 1680 - (1 / 1188 - 691 / 360360 * square) * square) * square
  error + (1 / 12 - (1 / 360 - (1 / 1260 - rest) * square) * square) / n
}

# x log(x / mean) - d, where d is x - mean, to all digits of d.
deviance_part <- function(x, mean, d) {
  v <- d / (x + mean)
  square <- v^2
  near <- abs(v) < 0.1
  sum <- 0
  for (j in 8:1) {
    sum <- square * (1 / (2 * j + 1) + sum)
  }
  ifelse(near, d * v + 2 * x * v * sum, x * log(x / mean) - d)
}

# A product and its rounding error (Dekker 1971).
exact_product <- function(a, b) {
  high <- function(x) {
    scaled <- 134217729 * x
    scaled - (scaled - x)
  }
  product <- a * b
  list(value = product,
    error = ((high(a) * high(b) - product) + high(a) * (b - high(b)) + (a - high(a)) * high(b)) +
      (a - high(a)) * (b - high(b)))
}

# Log densities of the values x, all possible, of a family with the parameters p.
log_density <- function(name, x, p) {
  switch(name, poisson = log_poisson(x, p[[1L]]), binomial = log_binomial(x, p[[1L]], p[[2L]]),
    hypergeometric = log_hypergeometric(x, p[[1L]], p[[2L]], p[[3L]]),
    negative_binomial = log_negative_binomial(x, p[[1L]], (1 - p[[2L]]) / p[[2L]],
      function(x) apart_by_probability(x, p[[1L]], p[[2L]])),
    negative_binomial_mean = log_negative_binomial(x, p[[1L]], p[[2L]] / p[[1L]],
      function(x) (x - p[[2L]]) / (1 + p[[2L]] / p[[1L]])))
}

log_poisson <- function(x, mean) {
  result <- rep_len(-mean, length(x))
  some <- which(x > 0)
  at <- x[some]
  result[some] <- if (mean == 0) -Inf else {
    -stirling_error(at) - deviance_part(at, mean, at - mean) - 0.5 * log(2 * pi * at)
  }
  result
}

log_binomial <- function(x, n, p) {
  result <- ifelse(x == 0, n * log1p(-p), n * log(p))
  result[x == 0 & n == 0 | x == 0 & p == 0 | x == n & p == 1] <- 0
  inside <- which(x > 0 & x < n)
  at <- x[inside]
  mean <- exact_product(n, p)
  d <- (at - mean$value) - mean$error
  result[inside] <- if (p == 0 || p == 1) -Inf else {
    stirling_error(n) - stirling_error(at) - stirling_error(n - at) - deviance_part(at, mean$value, d) -
      deviance_part(n - at, n * (1 - p), -d) + 0.5 * (log(n / (n - at)) - log(2 * pi * at))
  }
  result
}

# `odds` is the mean divided by r; `apart(x)` is x - (r + x) q, where q is the probability of failure.
log_negative_binomial <- function(x, r, odds, apart) {
  result <- rep_len(-r * log1p(odds), length(x))
  some <- which(x > 0)
  at <- x[some]
  n <- r + at
  d <- apart(at)
  result[some] <- if (odds == 0) -Inf else {
    stirling_error(n) - stirling_error(r) - stirling_error(at) - deviance_part(at, n * (odds / (1 + odds)), d) -
      deviance_part(r, n / (1 + odds), -d) + 0.5 * (log(r / n) - log(2 * pi * at))
  }
  result
}

# With the probability of success p: x - (r + x) q = x p + r p - r.
apart_by_probability <- function(x, r, p) {
  one <- exact_product(x, p)
  other <- exact_product(r, p)
  sum <- one$value + other$value
  later <- sum - one$value
  error <- (one$value - (sum - later)) + (other$value - later)
  ((sum - r) + error) + (one$error + other$error)
}

# An identity for every p; at this one all three are near their largest value.
log_hypergeometric <- function(x, m, n, k) {
  p <- if (m + n > 0) k / (m + n) else 0
  log_binomial(x, m, p) + log_binomial(k - x, n, p) - log_binomial(k, m + n, p)
}
