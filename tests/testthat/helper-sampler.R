# Shared by the tests of the mixture sampler: the generator and the draw of labels in plain R, and statistical
# comparisons with a known false-alarm rate.

# Philox4x32-10 (Salmon et al. 2011) on doubles that hold 32-bit words. Counter words c0..c3 are recycled. Returns a
# matrix with the four words in columns.
reference_philox <- function(key, c0, c1, c2, c3) {
  xor <- function(a, b) {
    high <- bitwXor(as.integer(a %/% 65536), as.integer(b %/% 65536))
    high * 65536 + bitwXor(as.integer(a %% 65536), as.integer(b %% 65536))
  }
  # The 64-bit product of two words, as a high and a low word.
  multiply <- function(a, b) {
    low <- (a %% 65536) * (b %% 65536)
    cross1 <- (a %% 65536) * (b %/% 65536)
    cross2 <- (a %/% 65536) * (b %% 65536)
    middle <- low %/% 65536 + cross1 %% 65536 + cross2 %% 65536
    list(
      high = (a %/% 65536) * (b %/% 65536) + cross1 %/% 65536 + cross2 %/% 65536 + middle %/% 65536,
      low = (middle %% 65536) * 65536 + low %% 65536
    )
  }
  counter <- data.frame(c0, c1, c2, c3)
  k0 <- key[[1L]]
  k1 <- key[[2L]]
  for (round in 1:10) {
    first <- multiply(0xD2511F53, counter[[1L]])
    second <- multiply(0xCD9E8D57, counter[[3L]])
    counter <- list(
      xor(second$high, xor(counter[[2L]], rep(k0, length(second$high)))), second$low,
      xor(first$high, xor(counter[[4L]], rep(k1, length(first$high)))), first$low
    )
    k0 <- (k0 + 0x9E3779B9) %% 2^32
    k1 <- (k1 + 0xBB67AE85) %% 2^32
  }
  unname(do.call(cbind, counter))
}

# The two words of a key given as raw(8), lowest byte first.
key_words <- function(key) {
  bytes <- as.integer(key)
  c(sum(bytes[1:4] * 256^(0:3)), sum(bytes[5:8] * 256^(0:3)))
}

# Uniforms of rows 0..n - 1 for blocks 0..blocks - 1 of 16 components: n x blocks. Purpose 16 is the draw of labels.
reference_uniforms <- function(key, iteration, n, blocks, precision) {
  vapply(seq_len(blocks) - 1, function(block) {
    per_group <- if (precision == "double") 2 else 4
    words <- reference_philox(key_words(key), block %/% per_group, seq_len(n) - 1, 16 * 65536, iteration)
    if (precision == "double") {
      low <- words[, 1L + 2L * (block %% 2)]
      high <- words[, 2L + 2L * (block %% 2)]
      (high * 2^20 + low %/% 2^12 + 0.5) / 2^52
    } else {
      (words[, 1L + block %% 4] %/% 2^9 + 0.5) / 2^23
    }
  }, numeric(n))
}

# Labels (from 1) of rows with log weights `joint` (n x k), drawn block by block of 16 components. A block takes over
# from the blocks before it with probability sum / (before + sum).
reference_labels <- function(joint, key, iteration, precision = "double") {
  n <- nrow(joint)
  k <- ncol(joint)
  blocks <- ceiling(k / 16)
  uniform <- matrix(reference_uniforms(key, iteration, n, blocks, precision), n)
  weight <- exp(joint - apply(joint, 1L, max))
  label <- integer(n)
  before <- numeric(n)
  for (block in seq_len(blocks)) {
    columns <- seq(16 * block - 15, min(16 * block, k))
    prefix <- t(apply(weight[, columns, drop = FALSE], 1L, cumsum))
    if (length(columns) == 1L) prefix <- t(prefix)
    sum <- prefix[, ncol(prefix)]
    position <- uniform[, block] * (before + sum) - before
    inside <- position >= 0 & sum > 0
    label[inside] <- columns[[1L]] + rowSums(prefix <= position)[inside]
    before <- before + sum
  }
  label
}

# A prior in the form that the entries read.
sampler_prior <- function(p, mean = numeric(p), mean_scale = 2, df = 6, scale = diag(p), concentration = c(3, 2)) {
  compiled_prior(list(
    mean = mean, mean_scale = mean_scale, df = df, scale = scale, concentration = concentration, learn = character()
  ))
}

# A prior of which all parts are learned.
learned_prior <- function(p) compiled_prior(resolve_prior(dp_prior(), numeric(p), rep(1, p), paste0("m", seq_len(p))))

statistics_size <- function(p) 1 + p + p * (p + 1) / 2

# The state of a chain before sweep `iteration`, in the form that the entries read.
sampler_state <- function(prior, statistics, concentration, key, iteration) {
  list(key = key, sweep = iteration - 1, statistics = statistics, concentration = concentration, prior = prior$values)
}

# Runs sweeps on an open session of p columns, in the units of its rows. `keep` says whether labels, means and
# covariances are kept.
run_sweeps <- function(session, prior, statistics, concentration, key, p, iteration = 1, sweeps = 1L, moves = FALSE,
                       keep = TRUE) {
  native_one(
    C_mixture_sweeps, session, prior, sampler_state(prior, statistics, concentration, key, iteration), sweeps, moves,
    matrix(0, 2L, 0L), matrix(0, p, 1L), rep(keep, 3L), numeric(p), rep(1, p)
  )
}

# One sweep on rows x, in their own units, from given statistics. Returns the result of the entry with the parameters
# unpacked: `means` (k x p), `covariances` (p x p x k), and `joint`, the log weights of all rows in plain R.
sweep_once <- function(x, components, seed, statistics = NULL, prior = sampler_prior(ncol(x)), concentration = 1.5,
                       iteration = 1, moves = FALSE, precision = "double", backend = "cpu") {
  p <- ncol(x)
  if (is.null(statistics)) statistics <- numeric(components * statistics_size(p))
  run <- resolve_run(backend, 2)
  session <- native(C_mixture_open, x, numeric(p), rep(1, p), as.integer(precision == "single"), FALSE, run)
  on.exit(.Call(C_session_close, session))
  key <- .Call(C_chain_key, seed, 1L)
  out <- run_sweeps(session, prior, statistics, concentration, key, p, iteration, moves = moves)
  out$joint <- matrix(reference_joint(x, rep(1, components), out$means, out$covariances), nrow(x))
  out$joint <- out$joint + rep(out$log_weight, each = nrow(x))
  out$key <- key
  out
}

# Comparisons ---------------------------------------------------------------

# The probability that at least one comparison of a test fails although everything is right.
false_alarm <- 1e-6

# Compares the column means of `draws`, which are independent, with `expected`. The largest |z| must stay within a
# normal bound that holds for all of them together.
expect_means <- function(draws, expected) {
  draws <- as.matrix(draws)
  z <- (colMeans(draws) - expected) / (apply(draws, 2L, stats::sd) / sqrt(nrow(draws)))
  worst <- which.max(abs(z))
  testthat::expect_lt(
    abs(z[[worst]]), stats::qnorm(1 - false_alarm / (2 * length(z))),
    label = sprintf("|z| of %s", if (is.null(names(z))) worst else names(z)[[worst]])
  )
}

# Compares independent draws with a distribution function: Kolmogorov's distance with the bound of Dvoretzky, Kiefer &
# Wolfowitz (Massart 1990).
expect_distribution <- function(draws, cdf, comparisons = 1) {
  n <- length(draws)
  u <- cdf(sort(draws))
  distance <- max(seq_len(n) / n - u, u - (seq_len(n) - 1) / n)
  testthat::expect_lt(distance, sqrt(log(2 * comparisons / false_alarm) / (2 * n)))
}

adjusted_rand <- function(a, b) {
  pairs <- function(counts) sum(counts * (counts - 1) / 2)
  counts <- table(a, b)
  expected <- pairs(rowSums(counts)) * pairs(colSums(counts)) / pairs(length(a))
  (pairs(counts) - expected) / ((pairs(rowSums(counts)) + pairs(colSums(counts))) / 2 - expected)
}

# Two fits must be identical in everything except how and when they were made.
fit_result <- function(fit) {
  unclass(fit)[setdiff(names(fit), c("elapsed", "call", "threads", "backend", "interrupted", "keep", "x"))]
}
