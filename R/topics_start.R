# The first topics of all tokens: merged from many topics for the same words, and beyond 200 topics split from these.

# Merging compares all pairs of topics, so more come from halves: bench/results/topic-model-start-many.csv.
topic_start_most <- 200

topic_start_prior <- 0.1

# The first number of sweeps of the start, which share no random numbers with the chain.
topic_start_iteration <- 2^31

# Numbers of topics: three times the first that merging gives, ..., `topics` (bench/results/topic-model-start.csv).
topic_start_steps <- function(topics) {
  halves <- topics
  while (halves[[1L]] > topic_start_most) halves <- c(ceiling(halves[[1L]] / 2), halves)
  c(unique(pmax(ceiling(halves[[1L]] * c(3, 2.5, 2, 1.6, 1.35, 1.2, 1.1)), halves[[1L]] + 1)), halves)
}

merged_topic_start <- function(fit, key, run) {
  start_in_steps(fit, topic_start_steps(fit$topics), c(25, 5), key, topic_start_iteration, run)
}

# From each of the `numbers` of topics to the next. `sweeps`: in the first step, and in each later one.
start_in_steps <- function(fit, numbers, sweeps, key, iteration, run, look = function(step) NULL) {
  assigned <- NULL
  for (i in seq_len(length(numbers) - 1L)) {
    count <- sweeps[[min(i, 2L)]]
    assigned <- topic_start_step(fit, numbers[[i]], numbers[[i + 1L]], assigned, key, iteration, count, run, look(i))
    iteration <- iteration + count
  }
  assigned
}

# Sweeps with `topics` topics, from random ones if `assigned` is NULL, merged or split to `next_topics`. Five sweeps a
# call, because interrupts come between calls. look(theta, phi) is given averages over the last sweeps, up to five.
topic_start_step <- function(fit, topics, next_topics, assigned, key, iteration, sweeps, run, look) {
  session <- open_topics(fit$x, topics, fit$precision, run)
  on.exit(.Call(C_session_close, session))
  if (is.null(assigned)) assigned <- native(C_topic_start, session, key)
  alpha <- rep(topic_start_prior, topics)
  kept <- max(1, min(5, floor(2e7 / (topics * (length(fit$documents) + length(fit$terms))))))
  for (first in seq(0, sweeps - 1, by = 5)) {
    slice <- trial_sweeps(session, assigned, alpha, key, iteration + first, c(5, 5 - kept, 1, kept), !is.null(look))
    assigned <- slice$topics
  }
  mean_of <- function(draws) matrix(rowMeans(matrix(draws, ncol = kept)), topics)
  if (!is.null(look)) look(t(mean_of(slice$kept$theta)), mean_of(slice$kept$phi))
  if (next_topics == topics) return(assigned)
  if (next_topics < topics) return(native(C_topic_merge, session, assigned, as.integer(next_topics)))
  native(C_topic_split, session, assigned, as.integer(next_topics), key, iteration)
}

trial_sweeps <- function(session, topics, alpha, key, iteration, numbers, want = FALSE, method = c(1L, 0L, 0L)) {
  native_one(C_topic_sweeps, session, topics, alpha, topic_start_prior, NULL, key, iteration, as.integer(numbers),
    method, rep(1, 4), c(want, want))
}

# The number of topics that a hierarchical Dirichlet process starts with: the largest one that predicts a tenth of the
# tokens not worse than the best, by the standard error of the difference. Chains lose a topic sooner than they find
# one, but from a start with all topics they keep two for one subject for hundreds of sweeps.
process_start_number <- function(fit, key, run) {
  most <- min(fit$topics, topic_start_most)
  halves <- split_tokens(fit$x, 0.1, fit$seed)
  if (halves$seen$tokens == 0 || halves$predicted$tokens == 0) return(fit$topics)
  fit$x <- halves$seen
  tried <- most
  while (tried[[length(tried)]] > 1) tried <- c(tried, max(1, floor(0.85 * tried[[length(tried)]])))
  numbers <- unique(ceiling(c(c(3, 2, 1.4) * most, tried)))
  score <- matrix(-Inf, length(fit$documents), length(tried))
  look <- function(step) {
    at <- match(numbers[[step]], tried)
    if (!is.na(at)) function(theta, phi) {
      seen <- list(topics = tried[[at]], precision = fit$precision, phi = phi)
      score[, at] <<- attr(score_words(seen, halves$predicted, theta, run), "log_likelihood")
    }
  }
  start_in_steps(fit, c(numbers, 1), c(50, 25), key, topic_start_iteration + 1e6, run, look)
  worse <- score[, which.max(colSums(score))] - score
  number <- max(tried[colSums(worse) <= sqrt(nrow(worse) * apply(worse, 2L, stats::var))])
  if (number == most) fit$topics else number
}
