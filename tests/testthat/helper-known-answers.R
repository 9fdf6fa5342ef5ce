# Data and digests of test-known-answers.R. The data come from whole numbers and from operations that IEEE 754 rounds in
# one way. They depend on neither R's generator nor the C library, so the digests hold on every machine.

# `count` whole numbers from 0 to `below` - 1: the minimal standard generator of Park and Miller (1988), Communications
# of the ACM 31(10), 1192-1201, without its first 20 numbers. All products are below 2^53.
known_integers <- function(count, below, seed) {
  modulus <- 2147483647
  multiply <- function(x, y) ((x * (y %/% 65536)) %% modulus * 65536 + x * (y %% 65536)) %% modulus
  # `step` is the multiplier that leads from each number to the one length(state) places later.
  step <- 16807
  state <- multiply(1 + seed, step)
  while (length(state) < count + 20) {
    state <- c(state, multiply(state, step))
    step <- multiply(step, step)
  }
  floor(state[20 + seq_len(count)] * below / modulus)
}

# Whole numbers a, b, c, d with a^2 + b^2 + c^2 + d^2 = `total`.
four_squares <- function(total) {
  for (a in seq(floor(sqrt(total)), 0)) {
    for (b in seq(floor(sqrt(total - a^2)), 0)) {
      rest <- total - a^2 - b^2
      c <- seq(0, floor(sqrt(rest)))
      d <- floor(sqrt(rest - c^2))
      found <- which(c^2 + d^2 == rest)
      if (length(found)) return(c(a, b, c[[found[[1L]]]], d[[found[[1L]]]]))
    }
  }
}

# Numbers near the given whole ones, up to scale: multiples of 2^-12 with mean 0 and standard deviation 1. Both moments
# are exact. So R's logarithms of standard deviations are 0, and its sums need no rounding. The package scans 2048
# values at a time, so each of these blocks has mean 0. The last eight values, in pairs of opposite sign, make the sum
# of squares exact.
exact_moments <- function(values) {
  n <- length(values)
  unit <- 4096
  first <- seq_len(n - 8)
  blocks <- split(first, (first - 1) %/% 2048)
  squares <- (n - 1) * unit^2
  values[n - 7:0] <- 0
  for (block in blocks) {
    values[block] <- values[block] - floor(sum(values[block]) / length(block))
  }
  values <- floor(values * floor(sqrt(squares / sum(values^2)) * 0.98 * 65536) / 65536)
  for (block in blocks) {
    last <- block[[length(block)]]
    values[[last]] <- values[[last]] - sum(values[block])
  }
  pairs <- four_squares((squares - sum(values^2)) / 2)
  values[n - 7:0] <- c(pairs, -pairs)
  values / unit
}

# Cells of a few clusters. The mean of marker j is exactly 3 j. `atoms`: a third of the values of the first marker are
# equal. `missing`: about every seventh value is NA.
known_cells <- function(rows, markers, seed, clusters = 4, atoms = FALSE, missing = FALSE) {
  cluster <- known_integers(rows, clusters, seed) + 1
  centre <- matrix(4096 * known_integers(clusters * markers, 6, seed + 1), clusters)
  noise <- rowSums(matrix(known_integers(4 * rows * markers, 2048, seed + 2), rows * markers))
  values <- centre[cluster, , drop = FALSE] + noise
  if (atoms) values[seq(1, rows - 9, by = 3), 1L] <- 4096
  if (missing) values[seq(4, length(values) - rows, by = 7)] <- NA
  for (j in seq_len(markers)) {
    known <- !is.na(values[, j])
    values[known, j] <- exact_moments(values[known, j]) + 3 * j
  }
  dimnames(values) <- list(NULL, paste0("m", seq_len(markers)))
  values
}

known_counts <- function(documents, terms, seed) {
  counts <- matrix(pmax(0, known_integers(documents * terms, 7, seed) - 3), documents)
  dimnames(counts) <- list(paste0("d", seq_len(documents)), paste0("w", seq_len(terms)))
  counts
}

# Many documents and many terms; most pairs of them have no tokens.
sparse_counts <- function(documents, terms, pairs, seed) {
  # Each document and each term occurs at least once.
  document <- c(seq_len(documents), 1 + known_integers(pairs, documents, seed))
  term <- c(rep_len(seq_len(terms), documents), 1 + known_integers(pairs, terms, seed + 1))
  data.frame(document, term, count = 1 + known_integers(documents + pairs, 3, seed + 2))
}

# Weights of a distribution, multiples of 2^-30 whose sum is exactly 1.
known_weights <- function(size, seed) {
  weights <- known_integers(size, 2^20, seed)
  weights <- floor(weights * 2^30 / sum(weights))
  weights[[1L]] <- weights[[1L]] + 2^30 - sum(weights)
  weights / 2^30
}

# Rows of a regression. The predictors have exact moments, and the responses come in equal numbers, so that R's
# logarithms of odds are 0.
answer_rows <- function(rows, seed) {
  x <- known_cells(rows, 6, seed)
  score <- rank(x[, 1L] + x[, 2L] / 2 + known_integers(rows, 3, seed), ties.method = "first") - 1
  data.frame(
    x, f = factor(letters[1 + known_integers(rows, 4, seed + 1)]), g = factor(1 + known_integers(rows, 12, seed + 2)),
    y = as.integer(score >= rows / 2), k = floor(score * 5 / rows), class = factor(floor(score * 3 / rows)),
    count = floor(score * 4 / rows), rare = c(0, 0, 0, 0, 0, 1, 1, 2)[1 + floor(score * 8 / rows)]
  )
}

# The first 16 digits of the MD5 sum of all numbers in a list, or in lists of lists: little-endian bytes.
known_digest <- function(values) {
  file <- tempfile()
  on.exit(unlink(file))
  connection <- file(file, "wb")
  write_numbers <- function(part) {
    if (is.list(part)) {
      for (one in part) write_numbers(one)
    } else if (is.numeric(part) || is.logical(part)) {
      # The bits of NA differ between machines.
      stopifnot(!anyNA(part))
      part <- as.vector(unclass(part))
      writeBin(length(part), connection, endian = "little")
      writeBin(if (is.double(part)) part else as.integer(part), connection, endian = "little")
    }
  }
  write_numbers(unclass(values))
  close(connection)
  substr(unname(tools::md5sum(file)), 1L, 16L)
}
