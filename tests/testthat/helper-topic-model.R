# Shared by the tests of topic models: simulated documents, and the sampler in plain R.

# Few documents. One of them and one term have no tokens; one pair has many.
small_counts <- function(documents = 12, terms = 70, mean = 0.5, seed = 1) {
  set.seed(seed)
  x <- matrix(rpois(documents * terms, mean), documents, dimnames = list(NULL, paste0("w", seq_len(terms))))
  x[2, ] <- 0
  x[, 5] <- 0
  x[1, 9] <- 45
  x
}

# Expects two fits to be identical to the last bit.
topic_parts <- c("phi", "theta", "log_likelihood", "alpha_sum", "beta_trace", "draws", "alpha", "beta", "tokens")

expect_same_topics <- function(fit, reference, parts = topic_parts) {
  for (part in parts) {
    expect_identical(fit[[part]], reference[[part]], label = part)
  }
  expect_identical(lapply(fit$state, `[[`, "topics"), lapply(reference$state, `[[`, "topics"))
}

# Simulates counts, documents x terms, from given topics (K x V) and alpha.
simulate_documents <- function(documents, length, phi, alpha, seed) {
  set.seed(seed)
  k <- nrow(phi)
  theta <- matrix(rgamma(documents * k, rep(alpha, each = documents)), documents)
  theta <- theta / rowSums(theta)
  words_of <- function(d) as.double(rmultinom(1, length, theta[d, ] %*% phi))
  x <- t(vapply(seq_len(documents), words_of, numeric(ncol(phi))))
  colnames(x) <- paste0("w", seq_len(ncol(phi)))
  rownames(x) <- paste0("d", seq_len(documents))
  list(x = x, theta = theta)
}

# K topics; each has most of its weight on terms of its own.
block_topics <- function(topics, terms_each, within = 0.9) {
  v <- topics * terms_each
  phi <- matrix((1 - within) / v, topics, v)
  for (k in seq_len(topics)) {
    own <- (k - 1) * terms_each + seq_len(terms_each)
    weight <- 1 / seq_len(terms_each)
    phi[k, own] <- phi[k, own] + within * weight / sum(weight)
  }
  phi / rowSums(phi)
}

# Total variation between true topics and the estimated ones that are matched to them.
matched_distance <- function(true, estimate) {
  distance <- variation_distance(true, unname(estimate))
  distance[cbind(seq_len(nrow(true)), solve_assignment(distance))]
}

topics_of <- function(state) readBin(state$topics, "integer", length(state$topics) / 2, size = 2L, signed = FALSE) + 1L

# The document and the term of each token, in the order of the sampler.
tokens_of <- function(x) {
  at <- which(t(x) > 0)
  count <- t(x)[at]
  data.frame(document = rep((at - 1L) %/% ncol(x) + 1L, count), term = rep((at - 1L) %% ncol(x) + 1L, count))
}

# The topics that core/topic_draw.h draws, in its order: lanes of 16, then the tree from its halves down, then rows
# within the lane.
reference_topics <- function(x, theta, phi, key, iteration) {
  tokens <- tokens_of(x)
  n <- nrow(tokens)
  words <- reference_philox(key_words(key), 0, (seq_len(n) - 1) %/% 2, 96 * 65536, iteration)
  odd <- (seq_len(n) - 1) %% 2 == 1
  low <- ifelse(odd, words[, 3L], words[, 1L])
  high <- ifelse(odd, words[, 4L], words[, 2L])
  u <- (high * 2^20 + low %/% 2^12 + 0.5) / 2^52
  k <- nrow(phi)
  rows <- ceiling(k / 16)
  vapply(seq_len(n), function(i) {
    weight <- matrix(0, 16, rows)
    weight[seq_len(k)] <- theta[tokens$document[[i]], ] * phi[, tokens$term[[i]]]
    lanes <- rowSums(weight)
    at <- u[[i]] * sum(lanes)
    levels <- list(lanes)
    while (length(levels[[1L]]) > 1L) {
      half <- length(levels[[1L]]) / 2
      levels <- c(list(levels[[1L]][seq_len(half)] + levels[[1L]][half + seq_len(half)]), levels)
    }
    node <- 1L
    for (level in levels[-1L]) {
      left <- level[[node]]
      if (at >= left) {
        at <- at - left
        node <- node + length(level) / 2
      }
    }
    row <- sum(cumsum(weight[node, ]) <= at) + 1
    (row - 1) * 16 + node
  }, 0)
}

# topic_model() with the settings of warp_control() among its arguments.
fit_topics <- function(...) {
  given <- list(...)
  settings <- names(given) %in% names(formals(warp_control))
  do.call(topic_model, c(given[!settings], list(control = do.call(warp_control, given[settings]))))
}

# One sweep, which is kept.
one_topic_sweep <- function(session, topics, alpha, beta, coefficients, key, iteration, method, prior, want) {
  chain <- list(session, topics, alpha, beta, coefficients, key, iteration, c(1L, 0L, 1L, 1L), method, prior, want)
  native(C_topic_sweeps, list(chain))[[1L]]
}
