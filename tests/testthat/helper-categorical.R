# Shared by the tests of categorical draws: the draws in plain R, and the comparison of counts with weights.

# The key of a seed's chain 0, as two words of 32 bits.
reference_categorical_key <- function(seed) {
  reference_philox(c(seed %% 2^32, seed %/% 2^32), 0, 0, 65536, 0)[1L, 1:2]
}

# Double-precision uniforms: one row for each of `blocks`, with the two uniforms of that block of the generator.
reference_pairs <- function(key, blocks, row, purpose) {
  words <- reference_philox(key, blocks, row, purpose * 65536, 0)
  cbind(words[, 2L] * 2^20 + words[, 1L] %/% 2^12 + 0.5, words[, 4L] * 2^20 + words[, 3L] %/% 2^12 + 0.5) / 2^52
}

# Draws 1 and 2, 3, ... of a row of weights (`row` counts from 0), in double precision.
reference_categorical <- function(weights, seed, row, draws) {
  key <- reference_categorical_key(seed)
  blocks <- ceiling(length(weights) / 16)
  uniform <- as.vector(t(reference_pairs(key, seq_len(ceiling(blocks / 2)) - 1, row, 80)))
  before <- 0
  first <- NA
  for (block in seq_len(blocks)) {
    items <- seq(16 * block - 15, min(16 * block, length(weights)))
    prefix <- Reduce(`+`, weights[items], accumulate = TRUE)
    sum <- prefix[[length(prefix)]]
    position <- uniform[[block]] * (before + sum) - before
    if (sum > 0 && position >= 0) first <- items[[which(prefix > position)[[1L]]]]
    before <- before + sum
  }
  prefix <- Reduce(`+`, weights, accumulate = TRUE)
  uniform <- as.vector(t(reference_pairs(key, seq_len(draws %/% 2 + 1) - 1, row, 81)))
  others <- vapply(uniform[seq_len(draws)[-1L]], function(u) which(prefix > u * prefix[[length(prefix)]])[[1L]], 1L)
  c(first, others)
}

# Compares the counts of items with their weights. Items without weight must never be drawn. The others get a
# chi-squared test, in which neighbours are pooled until at least 10 are expected. False-alarm rate 1e-7 a call.
expect_law <- function(items, weights) {
  count <- tabulate(items, length(weights))
  expect_identical(sum(count[weights == 0]), 0L)
  expect_identical(sum(count), length(items))
  expected <- weights / sum(weights) * length(items)
  cell <- integer(length(weights))
  sum <- 0
  at <- 1L
  for (j in seq_along(weights)) {
    cell[[j]] <- at
    sum <- sum + expected[[j]]
    if (sum >= 10) {
      at <- at + 1L
      sum <- 0
    }
  }
  if (sum < 10) cell[cell == at] <- max(at - 1L, 1L)
  observed <- rowsum(count, cell)
  expected <- rowsum(expected, cell)
  if (length(expected) > 1L) {
    p <- pchisq(sum((observed - expected)^2 / expected), length(expected) - 1, lower.tail = FALSE)
    expect_gt(p, 1e-7)
  }
}
