# A fitted topic model for other packages: the draws of posterior, and tidy(), glance() and augment().

array_of_draws.topic_model <- function(x, topics = FALSE, ...) {
  check_method(x, "x", ...)
  topics <- check_flag(topics, "topics")
  count <- kept_draws(x$iter, x)
  parts <- lapply(topic_traces(x), function(trace) trace[x$warmup + x$thin * seq_len(count), , drop = FALSE])
  for (part in if (topics) intersect(c("alpha", "phi", "effects", "theta"), names(x$draws))) {
    number <- seq_len(x$topics)
    terms <- rownames(x$draws$effects)
    names <- switch(part, alpha = sprintf("alpha[%d]", number),
      phi = sprintf("phi[%d,%s]", number, rep(x$terms, each = x$topics)),
      effects = sprintf("effects[%s,%d]", terms, rep(number, each = length(terms))),
      theta = sprintf("theta[%s,%d]", rep(x$documents, each = x$topics), number))
    # Draws and chains are the last two dimensions.
    entries <- matrix(x$draws[[part]], length(names))
    parts[names] <- lapply(seq_along(names), function(i) entries[i, ])
  }
  bind_draws(parts, count, x$chains)
}

#' Tables of a fitted topic model
#'
#' Methods for the generics of package generics. The columns are named as in package tidytext.
#' @param x a fit from [topic_model()].
#' @param matrix `"beta"`: the terms of the topics; `"gamma"`: the topics of the documents; `"share"`: the shares of the
#'   topics in all tokens.
#' @param data counts in any of the forms that [topic_model()] takes; `NULL` for the counts that were fitted.
#' @param seed,backend,threads as in [predict.topic_model()], which estimates the topics of new documents.
#' @param ... not used.
#' @return `tidy()`: a data frame with `topic`, `term` and `beta` (\eqn{\phi_{kw}}); or with `document`, `topic` and
#'   `gamma` (\eqn{\theta_{dk}}); or with `topic`, `estimate`, `conf.low`, `conf.high` (90%); `name` if you have set
#'   [topic_names()]; with several chains `found`, as in [topic_stability()]. `augment()`: a data frame with a row for
#'   each document and term that occurs in it: `document`, `term`, `count` and `.topic`, the most probable topic of
#'   these tokens; and of the document `.first`, its most probable topic, and `.certainty`, as in
#'   [predict.topic_model()]. `glance()`: among others `log_likelihood` (the mean over the kept sweeps of the reference
#'   chain) and `perplexity` of the fitted words.
#' @examples
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' fit <- topic_model(x, topics = 2, iter = 60, seed = 1, threads = 2)
#' if (requireNamespace("generics", quietly = TRUE)) generics::tidy(fit)
#' @name tidy.topic_model
NULL

#' @rdname tidy.topic_model
#' @method tidy topic_model
#' @exportS3Method generics::tidy topic_model
tidy.topic_model <- function(x, matrix = c("beta", "gamma", "share"), ...) {
  check_method(x, "x", ...)
  matrix <- check_choice(matrix, "matrix", c("beta", "gamma", "share"))
  k <- x$topics
  table <- switch(matrix,
    beta = data.frame(topic = rep(seq_len(k), length(x$terms)), term = rep(x$terms, each = k), beta = as.vector(x$phi)),
    gamma = data.frame(document = rep(x$documents, k), topic = rep(seq_len(k), each = length(x$documents)),
      gamma = as.vector(x$theta)),
    share = data.frame(topic = seq_len(k), estimate = unname(topic_prevalence(x)),
      stats::setNames(share_intervals(x, seq_len(k)), c("conf.low", "conf.high")))
  )
  table <- with_names(table, x)
  table$found <- found_topics(x)[table$topic]
  as_table(table)
}

#' @rdname tidy.topic_model
#' @method augment topic_model
#' @exportS3Method generics::augment topic_model
augment.topic_model <- function(x, data = NULL, seed = NULL, backend = NULL, threads = NULL, ...) {
  check_method(x, "x", ...)
  counts <- if (is.null(data)) x$x else known_terms(x, data)
  known <- topics_of_documents(x, if (!is.null(data)) counts, 100, new_document_prior(x, NULL), seed, backend, threads,
    certain = TRUE)
  document <- counts$i + 1L
  term <- term_columns(counts)
  topic <- integer(length(document))
  best <- rep(-1, length(document))
  for (k in seq_len(x$topics)) {
    weight <- known$theta[document, k] * x$phi[k, term]
    topic[weight > best] <- k
    best <- pmax(best, weight)
  }
  as_table(data.frame(document = counts$documents[document], term = counts$terms[term], count = counts$count,
    .topic = topic, .first = max.col(known$theta, "first")[document], .certainty = known$certainty[document]))
}

glance_of.topic_model <- function(x) {
  check_topic_fit(x, "x")
  data.frame(topics = x$topics, documents = length(x$documents), terms = length(x$terms), tokens = x$x$tokens,
    chains = x$chains, iter = x$iter, alpha_sum = sum(x$alpha), beta = x$beta, log_likelihood = mean_log_likelihood(x),
    perplexity = chain_perplexity(x)[[x$reference]], seconds = elapsed_seconds(x$elapsed), verdict = verdict(x)$answer)
}

mean_log_likelihood <- function(fit) chain_levels(fit)[[fit$reference]]
