# The first topics of all tokens: topics for the same words from many, then merged.

# Before a chain begins, sweeps of mean-for-mode estimation run with three times as many topics as wanted. Then the most
# similar topics are merged in steps, with some sweeps after each step that mend wrong merges. How often chains then
# find planted topics is in bench/results/topic-model-start.csv.
topic_start_factors <- c(3, 2.5, 2, 1.6, 1.35, 1.2, 1.1)
topic_start_sweeps <- c(25, 5, 5, 5, 5, 5, 5)

# Alpha and beta of these sweeps.
topic_start_prior <- 0.1

# With more topics than this, random topics come to the same perplexity sooner.
topic_start_most <- 200

# Sweeps of the start have numbers from this one on, so that they share no random numbers with sweeps of the chain.
topic_start_iteration <- 2^31

check_topic_start <- function(start) check_choice(start, "start", c("merged", "random"))

# Merged topics have arbitrary numbers, so nothing given may tell one topic from another.
merges_topics <- function(fit, alpha) {
  fit$start == "merged" && fit$topics > 1 && fit$topics <= topic_start_most && is.null(fit$prior_counts) &&
    length(unique(alpha)) == 1L
}

# The sizes of the steps. The last one is the number of topics.
topic_start_steps <- function(topics) {
  c(unique(pmax(ceiling(topics * topic_start_factors), topics + 1)), topics)
}

merged_topic_start <- function(fit, key, run) {
  steps <- topic_start_steps(fit$topics)
  assigned <- NULL
  iteration <- topic_start_iteration
  for (i in seq_len(length(steps) - 1L)) {
    sweeps <- topic_start_sweeps[[i]]
    assigned <- topic_start_step(fit, steps[[i]], steps[[i + 1L]], assigned, key, iteration, sweeps, run)
    iteration <- iteration + sweeps
  }
  assigned
}

# Sweeps with `topics` topics, from random ones if `assigned` is NULL, merged to `left` topics. Five sweeps a call,
# because interrupts come between calls.
topic_start_step <- function(fit, topics, left, assigned, key, iteration, sweeps, run) {
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
  native(C_topic_merge, session, assigned, as.integer(left))
}
