# Sessions of the compiled sampler, and the topics of tokens, which travel as two bytes each.

open_topics <- function(counts, topics, precision, run, structure = NULL) {
  native(C_topic_open, counts$p, counts$i, counts$count, counts$size[[1L]], as.integer(topics),
    as.integer(precision == "single"), structure, run)
}

# What differs between documents and terms, for C_topic_open; NULL if nothing does. `groups` is a factor of documents
# with the same alpha. `prior_counts`: topics x the terms that have some.
topic_structure <- function(groups, prior_counts, terms, covariates = NULL) {
  parts <- c(
    if (nlevels(groups) > 1L) list(groups = nlevels(groups), group = as.integer(groups) - 1L),
    if (!is.null(prior_counts)) {
      list(extra_of = match(terms, colnames(prior_counts), nomatch = 0L) - 1L, extra = as.vector(prior_counts))
    }, covariates)
  if (length(parts)) parts
}

document_groups <- function(fit) if (is.null(fit$prevalence)) fit$groups else fit$prevalence$group

fit_structure <- function(fit) {
  topic_structure(document_groups(fit), fit$prior_counts, fit$terms, covariate_structure(fit$prevalence))
}

with_topics <- function(fit, run, code) {
  session <- open_topics(fit$x, fit$topics, fit$precision, run, fit_structure(fit))
  on.exit(.Call(C_session_close, session))
  code(session)
}

new_sums <- function(size) {
  native(C_store_open, lapply(size, function(length) 0), as.list(size), lapply(size, function(length) NULL))
}

# The number of each token's topic, from two bytes a token. readBin() alone would open a file that a text names.
topic_numbers <- function(topics) readBin(as.raw(topics), "integer", length(topics) / 2, 2L, FALSE) + 1L

# Topics of tokens with new numbers: topic `order[k]` becomes topic k.
renumbered <- function(topics, order) writeBin(match(topic_numbers(topics), order) - 1L, raw(), size = 2L)

count_topics <- function(fit, topics) {
  # Tokens are ordered by document, then by term.
  column <- term_columns(fit$x)
  order <- order(fit$x$i, column)
  term <- rep(column[order], fit$x$count[order])
  table <- tabulate(topic_numbers(topics) + as.double(fit$topics) * (term - 1), fit$topics * length(fit$terms))
  matrix(as.double(table), fit$topics, dimnames = list(NULL, fit$terms))
}

# Topics x terms: the tokens after the last sweep of the reference chain.
topic_counts <- function(fit) {
  topics <- fit$state[[fit$reference]]$topics
  usable <- is.raw(topics) && length(topics) == 2 * fit$x$tokens && all(topic_numbers(topics) <= fit$topics)
  if (!usable) stop_changed("object", "state", "the topics of all tokens", topics)
  count_topics(fit, topics)
}
