# Factors made by operations that IEEE 754 rounds in one way everywhere, and entries of their convolutions in quadruple
# precision. tests/vectors/convolution.c makes the same factors and wrote the file of entries.

convolution_reference <- function(case) {
  all <- utils::read.csv(testthat::test_path("convolution-reference.csv"))
  all[all$case == case, ]
}

# R's cumprod() may use extended precision; a loop does not.
binomial_half <- function(n) {
  x <- numeric(n + 1)
  x[[1L]] <- 2^-n
  for (k in seq_len(n) - 1) {
    x[[k + 2]] <- x[[k + 1]] * (n - k) / (k + 1)
  }
  x
}

# Proportional to the Poisson probabilities of 0..n - 1, with the value 1 at the mode.
poisson_factor <- function(n, mean) {
  x <- numeric(n)
  x[[mean + 1]] <- 1
  for (k in seq(mean, n - 2)) {
    x[[k + 2]] <- x[[k + 1]] * mean / (k + 1)
  }
  for (k in seq(mean, 1)) {
    x[[k]] <- x[[k + 1]] * k / mean
  }
  x
}

heavy_factor <- function(n) 1 / (seq_len(n) * as.double(seq_len(n)))

geometric_factor <- function(n, ratio) {
  x <- numeric(n)
  x[[1L]] <- 1
  for (k in seq_len(n - 1)) {
    x[[k + 1]] <- x[[k]] * ratio
  }
  x
}

random_factor <- function(n, seed) {
  saved <- RNGkind("Mersenne-Twister")
  on.exit(RNGkind(saved[[1L]]))
  set.seed(seed)
  runif(n)
}

# The convolution by plain sums in R. The order of the sums does not matter.
reference_convolve <- function(x, y) {
  r <- numeric(length(x) + length(y) - 1)
  for (j in seq_along(x)) {
    at <- seq_along(y) + j - 1
    r[at] <- r[at] + x[[j]] * y
  }
  r
}

worst_relative_error <- function(result, reference) {
  max(abs(result[reference$index + 1] / reference$value - 1))
}
