# What topics are about, and how well their terms go together.

#' Top terms of topics
#'
#' Gives the terms that characterise each topic, by one of four scores.
#' @inheritParams topic_names
#' @param n how many terms of each topic.
#' @param by the score. `"probability"`: \eqn{\phi_{kw}}, which favours words that are common everywhere. `"lift"`:
#'   \eqn{\phi_{kw}} divided by the term's share of all tokens, which favours rare words. `"frex"` (Bischof and Airoldi
#'   2012, *ICML*, 201-208): the weighted harmonic mean of two ranks from 0 to 1, of \eqn{\phi_{kw}} within the topic
#'   (frequency), and of \eqn{\phi_{kw} / \sum_j \phi_{jw}} (exclusivity). `"relevance"` (Sievert and Shirley 2014,
#'   *Workshop on Interactive Language Learning, Visualization, and Interfaces*, 63-70): the weighted mean of the
#'   logarithms of probability and lift.
#' @param weight the weight of exclusivity in `"frex"`, and of lift in `"relevance"`.
#' @return A data frame with `topic`, `rank`, `term`, `probability` and `score`; with `name` if you have set
#'   [topic_names()].
#' @examples
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' colnames(x) <- c("goal", "team", "price", "trade")
#' fit <- topic_model(x, topics = 2, iter = 60, seed = 1, threads = 2)
#' top_terms(fit, 2, by = "frex")
#' @export
top_terms <- function(fit, n = 10, by = c("probability", "lift", "frex", "relevance"), weight = 0.5, ...) {
  check_method(fit, "fit", ...)
  n <- min(check_count(n, "n"), length(fit$terms))
  by <- check_choice(by, "by", term_rankings)
  weight <- check_number(weight, "weight", 0, 1, open = FALSE)
  score <- term_scores(fit, by, weight)
  term <- as.vector(apply(score, 1L, function(values) order(-values)[seq_len(n)]))
  topic <- rep(seq_len(fit$topics), each = n)
  at <- cbind(topic, term)
  with_names(data.frame(topic = topic, rank = rep(seq_len(n), fit$topics), term = fit$terms[term],
    probability = fit$phi[at], score = score[at]), fit)
}

#' Top documents of topics
#'
#' Gives the documents that a topic is about: those with the largest share of it.
#' @inheritParams topic_names
#' @param n how many documents of each topic.
#' @param tokens only documents of at least so many tokens are taken. In a short document a large share is chance.
#' @return A data frame with `topic`, `rank`, `document`, `share` (\eqn{\theta_{dk}}) and `tokens` (of the document);
#'   with `name` if you have set [topic_names()]. Documents without tokens are left out.
#' @examples
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' fit <- topic_model(x, topics = 2, iter = 60, seed = 1, threads = 2)
#' top_documents(fit, 3)
#' @export
top_documents <- function(fit, n = 5, tokens = 1, ...) {
  check_method(fit, "fit", ...)
  n <- check_count(n, "n")
  tokens <- check_count(tokens, "tokens")
  some <- which(fit$document_tokens >= tokens)
  if (!length(some)) {
    stop_input("tokens", sprintf("is %s, but the longest document has %s", whole_words(tokens),
      count_words(max(fit$document_tokens), "token")))
  }
  n <- min(n, length(some))
  at <- as.vector(apply(fit$theta[some, , drop = FALSE], 2L, function(share) some[order(-share)[seq_len(n)]]))
  topic <- rep(seq_len(fit$topics), each = n)
  with_names(data.frame(topic = topic, rank = rep(seq_len(n), fit$topics), document = fit$documents[at],
    share = unname(fit$theta[cbind(at, topic)]), tokens = unname(fit$document_tokens[at])), fit)
}

term_rankings <- c("probability", "lift", "frex", "relevance")

term_scores <- function(fit, by, weight = 0.5) {
  phi <- unname(fit$phi)
  if (by == "probability") return(phi)
  # A term that never occurs counts as half a token. Those of earlier documents count too.
  size <- term_sizes(fit$x)
  if (!is.null(fit$earlier)) {
    own <- match(colnames(fit$prior_counts), fit$terms)
    size[own] <- size[own] + colSums(fit$prior_counts)
  }
  share <- rep(pmax(size, 0.5) / sum(size), each = nrow(phi))
  if (by == "lift") return(phi / share)
  if (by == "relevance") return(log(pmax(phi, 1e-300)) - weight * log(share))
  ranks <- function(x) matrix(apply(x, 1L, rank) / ncol(x), nrow(x), byrow = TRUE)
  frequency <- ranks(phi)
  exclusivity <- ranks(phi / rep(colSums(phi), each = nrow(phi)))
  1 / (weight / exclusivity + (1 - weight) / frequency)
}

#' Coherence of topics
#'
#' Measures how often the top terms of a topic occur in the same documents. Let \eqn{D(w)} be the number of documents
#' with term \eqn{w}, and \eqn{D(v, w)} the number of documents with both terms. The top terms are taken in order of
#' probability.
#' \itemize{
#'   \item `"umass"` is the mean over pairs \eqn{i > j} of \eqn{\log [(D(w_i, w_j) + 1) / D(w_j)]}{log((D(w_i, w_j) + 1)
#'   / D(w_j))} (Mimno and others 2011, *EMNLP*, 262-272). At best it is close to 0.
#'   \item `"npmi"` is the mean of the normalised pointwise mutual information \eqn{\log[p(v, w) / (p(v) p(w))] / (-\log
#'   p(v, w))}{log(p(v, w) / (p(v) p(w))) / -log(p(v, w))} over documents (Bouma 2009, *GSCL*, 31-40), from -1 (never
#'   together) to 1 (always together).
#'   \item `"cv"` is \eqn{C_v} of Roeder and others (2015, *WSDM*, 399-408), in whole documents, not windows of 110
#'   words. Each top term has a vector: its normalised pointwise mutual information with all top terms, which is 1 with
#'   itself. \eqn{C_v} is the mean cosine between the vector of a term and the sum of all vectors.
#' }
#' @inheritParams topic_names
#' @param newdata counts for looking up documents with both terms, in any form that [topic_model()] takes; `NULL` for
#'   the fitted counts.
#' @param n number of top terms of each topic, at least 2.
#' @param measure `"umass"`, `"npmi"` or `"cv"`.
#' @return A numeric vector, one value for each topic. `NA` for topics with fewer than two top terms in the documents.
#' @examples
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' fit <- topic_model(x, topics = 2, iter = 60, seed = 1, threads = 2)
#' coherence(fit, n = 3, measure = "npmi")
#' @export
coherence <- function(fit, newdata = NULL, n = 10, measure = c("umass", "npmi", "cv"), ...) {
  check_masking_fit(fit, "coherence")
  check_dots_empty(...)
  n <- min(check_count(n, "n", min = 2), length(fit$terms))
  measure <- check_choice(measure, "measure", c("umass", "npmi", "cv"))
  counts <- if (is.null(newdata)) fit$x else known_terms(fit, newdata)
  documents <- counts$size[[1L]]
  vapply(seq_len(fit$topics), function(topic) {
    present <- vapply(order(-fit$phi[topic, ])[seq_len(n)], function(term) {
      entries <- counts$p[[term]] + seq_len(counts$p[[term + 1L]] - counts$p[[term]])
      replace(numeric(documents), counts$i[entries] + 1L, 1)
    }, numeric(documents))
    pair_coherence(crossprod(matrix(present, documents)), documents, measure)
  }, 0)
}

pair_coherence <- function(together, documents, measure) {
  alone <- diag(together)
  use <- which(alone > 0)
  if (length(use) < 2L) return(NA_real_)
  together <- together[use, use]
  alone <- alone[use]
  below <- lower.tri(together)
  if (measure == "umass") return(mean((log(together + 1) - rep(log(alone), each = length(alone)))[below]))
  p <- together / documents
  product <- outer(alone, alone) / documents^2
  npmi <- ifelse(p == 0, -1, ifelse(p == 1, 1, log(p / product) / -log(p)))
  if (measure == "npmi") return(mean(npmi[below]))
  whole <- rowSums(npmi)
  cosine <- as.vector(npmi %*% whole) / sqrt(rowSums(npmi^2) * sum(whole^2))
  # The vectors of terms that are never together may have the sum 0, which is similar to no vector.
  mean(ifelse(is.finite(cosine), cosine, 0))
}

term_lines <- function(fit, topics, n, by = "relevance") {
  terms <- top_terms(fit, n, by)
  terms$term[!nzchar(terms$term)] <- "(empty)"
  vapply(topics, function(k) paste(terms$term[terms$topic == k], collapse = ", "), "")
}

# The first terms of lines that are not longer than `most`.
fitting_terms <- function(lines, most) {
  vapply(strsplit(lines, ", ", fixed = TRUE), function(terms) {
    fits <- cumsum(nchar(terms, "width") + 2) - 2 <= most[[1L]]
    if (any(fits)) paste(terms[fits], collapse = ", ") else substr(c(terms, "")[[1L]], 1L, max(most[[1L]], 3))
  }, "")
}
