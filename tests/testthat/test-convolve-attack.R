# Pairs of shapes that are difficult for transforms, tilts and floating point. Every entry that is compared must be
# right to 1e-12, and none may be zero or NaN by mistake. The long form (WARPBAYES_EXTENDED_TESTS) has 20,000 pairs and
# lengths up to a million.

# The entries of x as mantissas in [1, 2) and whole exponents, exact also for subnormal numbers.
split_binary <- function(x) {
  lifted <- x * 2^ifelse(x < 1e-290, 200, 0)
  exponent <- floor(log2(lifted))
  mantissa <- lifted / 2^exponent
  list(mantissa = mantissa, exponent = exponent - ifelse(x < 1e-290, 200, 0))
}

# log2 of entry i of a convolution. A product is off by 2^-53 of itself, and sum() adds in extended precision, so that
# the relative error of a sum of positive products stays below 1e-13 for a million of them.
reference_log2 <- function(x, y, i) {
  first <- max(1, i - length(y$mantissa) + 1)
  j <- seq(first, min(i, length(x$mantissa)))
  k <- i - j + 1
  exponent <- x$exponent[j] + y$exponent[k]
  possible <- is.finite(exponent)
  if (!any(possible)) return(c(0, -Inf))
  largest <- max(exponent[possible])
  near <- which(possible & exponent > largest - 900)
  c(sum(x$mantissa[j][near] * y$mantissa[k][near] * 2^(exponent[near] - largest)), largest)
}

shapes <- list(
  uniform = function(n) runif(n),
  spikes = function(n) ifelse(runif(n) < 0.02, 1, 1e-12 * runif(n)),
  gaps = function(n) ifelse(runif(n) < 0.3, runif(n), 0),
  far_modes = function(n) {
    at <- seq_len(n) / n
    exp(-500 * (at - 0.1)^2) + 1e-30 * exp(-900 * (at - 0.9)^2) + 1e-60 * (at > 0.45 & at < 0.5)
  },
  cauchy_steps = function(n) exp(pmin(pmax(cumsum(rcauchy(n)), -600), 300)),
  alternating = function(n) rep_len(c(1, 1e-200), n),
  denormals = function(n) ifelse(runif(n) < 0.5, 2^-1074 * floor(1e4 * runif(n)), runif(n)),
  tiny = function(n) 1e-160 * runif(n),
  steep = function(n) exp(-700 * seq_len(n) / n),
  rising = function(n) exp(600 * seq_len(n) / n - 650),
  bell = function(n) dnorm(seq_len(n), n / 2, n / 20 + 1),
  power = function(n) seq_len(n)^-2.5,
  wild = function(n) exp(-600 * runif(n)),
  one = function(n) replace(numeric(n), sample(n, 1), runif(1))
)

# The number of wrong entries, of about `looks` compared entries in each of `pairs` pairs.
attack <- function(pairs, longest, looks = 12L) {
  wrong <- 0
  worst <- 0
  for (pair in seq_len(pairs)) {
    lengths <- pmax(1, floor(exp(runif(2, 0, log(longest)))))
    names <- sample(names(shapes), 2, replace = TRUE)
    x <- shapes[[names[[1]]]](lengths[[1]])
    y <- shapes[[names[[2]]]](lengths[[2]])
    if (max(x) <= 0) x[[1]] <- 1
    if (max(y) <= 0) y[[1]] <- 1
    result <- convolve_pmf(x, y, threads = 2)
    logs <- pair %% 5 == 0 && length(x) * as.double(length(y)) < 1e7
    on_log <- if (logs) convolve_pmf(log(x), log(y), log = TRUE, threads = 2)
    ends <- c(1, length(result), which.max(result), which.min(result))
    looked <- unique(c(ends, ceiling(runif(looks) * length(result))))
    x_split <- split_binary(x)
    y_split <- split_binary(y)
    if (anyNA(result) || any(result < 0)) wrong <- wrong + 1
    for (i in looked) {
      exact <- reference_log2(x_split, y_split, i)
      lift <- max(exact[[2]], -1000)
      off <- abs(result[[i]] / 2^lift / (exact[[1]] * 2^(exact[[2]] - lift)) - 1)
      size <- exact[[2]] + log2(exact[[1]])
      if (exact[[2]] == -Inf) {
        fine <- result[[i]] == 0
      } else if (size >= -1020) {
        fine <- off < 1e-12
        worst <- max(worst, off)
      } else {
        # For subnormal numbers each term adds an error in the last place.
        fine <- abs(result[[i]] - 2^size) <= 1e-12 * 2^size + (4 + min(length(x), length(y))) * 2^-1074
      }
      if (logs) {
        log_exact <- log(exact[[1]]) + exact[[2]] * log(2)
        fine <- fine && if (exact[[2]] == -Inf) {
          on_log[[i]] == -Inf
        } else {
          abs(on_log[[i]] - log_exact) < 1e-12 + 4e-16 * abs(log_exact)
        }
      }
      if (!isTRUE(fine)) {
        wrong <- wrong + 1
        message(sprintf(
          "%s (%d) and %s (%d), entry %d: %g off by %g",
          names[[1]], length(x), names[[2]], length(y), i, result[[i]], off
        ))
      }
    }
  }
  c(wrong = wrong, worst = worst)
}

test_that("difficult pairs have no wrong entry", {
  set.seed(11)
  pairs <- if (on_cuda() || sanitized()) 40 else 300
  expect_identical(attack(pairs, 2000)[["wrong"]], 0)
})

test_that("twenty thousand difficult pairs, and a few as long as a million, have no wrong entry", {
  skip_if_not(extended(), "a long run")
  skip_if(on_cuda(), "the emulator would take days")
  set.seed(12)
  expect_identical(attack(20000, 3000)[["wrong"]], 0)
  expect_identical(attack(60, 1e6)[["wrong"]], 0)
})
