# The first topics of all tokens: topics for the same words from many, then merged; more than 200 topics by splitting
# these.

# Before a chain begins, sweeps of mean-for-mode estimation run with three times as many topics as wanted. Then the most
# similar topics are merged in steps, with some sweeps after each step that mend wrong merges. How often chains then
# find planted topics is in bench/results/topic-model-start.csv.
topic_start_factors <- c(3, 2.5, 2, 1.6, 1.35, 1.2, 1.1)
# Sweeps before the first step, and before each later one.
topic_start_sweeps <- c(25, 5)

# Merging compares all pairs of topics, so at most this many topics come from it. They are split in halves, with some
# sweeps after each step, until there are enough. bench/results/topic-model-start-many.csv has what this gains.
topic_start_most <- 200

# Alpha and beta of these sweeps.
topic_start_prior <- 0.1

# Sweeps of the start have numbers from this one on, so that they share no random numbers with sweeps of the chain.
topic_start_iteration <- 2^31

check_topic_start <- function(start) check_choice(start, "start", c("merged", "random"))

# Merged topics have arbitrary numbers, so nothing given may tell one topic from another but seed words, which number
# the merged topics.
merges_topics <- function(fit, alpha) {
  fit$start == "merged" && fit$topics > 1 && (is.null(fit$prior_counts) || isTRUE(fit$seeds_alone)) &&
    length(unique(alpha)) == 1L
}

# The numbers of topics, in order: three times as many as the first that comes from merging, ..., and the last is
# `topics`.
topic_start_steps <- function(topics) {
  halves <- topics
  while (halves[[1L]] > topic_start_most) halves <- c(ceiling(halves[[1L]] / 2), halves)
  c(unique(pmax(ceiling(halves[[1L]] * topic_start_factors), halves[[1L]] + 1)), halves)
}

merged_topic_start <- function(fit, key, run) {
  steps <- topic_start_steps(fit$topics)
  assigned <- NULL
  iteration <- topic_start_iteration
  for (i in seq_len(length(steps) - 1L)) {
    sweeps <- if (i == 1L) topic_start_sweeps[[1L]] else topic_start_sweeps[[2L]]
    assigned <- topic_start_step(fit, steps[[i]], steps[[i + 1L]], assigned, key, iteration, sweeps, run)
    iteration <- iteration + sweeps
  }
  assigned
}

# Sweeps with `topics` topics, from random ones if `assigned` is NULL, merged or split to `next_topics`. Five sweeps a
# call, because interrupts come between calls.
topic_start_step <- function(fit, topics, next_topics, assigned, key, iteration, sweeps, run) {
  session <- open_topics(fit$x, topics, fit$precision, run)
  on.exit(.Call(C_topic_close, session))
  if (is.null(assigned)) assigned <- native(C_topic_start, session, key)
  alpha <- rep(topic_start_prior, topics)
  for (first in seq(0, sweeps - 1, by = 5)) {
    assigned <- native(
      C_topic_sweep, session, assigned, alpha, topic_start_prior, NULL, key, iteration + first, 5L, c(1L, 0L, 0L),
      rep(1, 4), c(FALSE, FALSE)
    )$topics
  }
  if (next_topics < topics) {
    native(C_topic_merge, session, assigned, as.integer(next_topics))
  } else {
    native(C_topic_split, session, assigned, as.integer(next_topics), key, iteration)
  }
}
