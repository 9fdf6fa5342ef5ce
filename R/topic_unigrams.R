# One topic a document: a mixture of unigrams (Nigam, McCallum, Thrun and Mitchell 2000, Machine Learning 39, 103-134).
# A chain's alpha is this number times pi, the shares of the topics, so averages and topics of tokens are those of any
# topic model.
unigram_alpha <- 1e-12

check_mixture <- function(alpha, groups, method) {
  if (alpha$learn != "mixture") return(invisible())
  if (!is.null(groups)) stop_input("groups", "cannot be used with alpha = \"mixture\"")
  if (method != "gibbs") stop_input("method", "must be \"gibbs\" with alpha = \"mixture\", not ", show_value(method))
}

refuse_mixture <- function(fit, argument, what) {
  if (fit$learn$alpha == "mixture") {
    stop_input(argument, "is a fit with alpha = \"mixture\", whose documents have one topic: ", what)
  }
}

# The tokens of a fit in the order of the sampler, and where each document's pairs of document and term end.
unigram_tokens <- function(counts) {
  term <- term_columns(counts)
  order <- order(counts$i, term)
  document <- counts$i[order] + 1L
  list(term = term[order], count = counts$count[order], end = cumsum(tabulate(document, counts$size[[1L]])))
}

# Documents x topics: log probabilities of the words of each document in each topic, and of the topic.
unigram_weights <- function(tokens, phi, share) {
  log_phi <- log(pmax(phi, 1e-300))
  log_share <- log(pmax(share, 1e-300))
  vapply(seq_len(nrow(phi)), function(k) {
    sums <- c(0, cumsum(tokens$count * log_phi[k, tokens$term]))[tokens$end + 1L]
    diff(c(0, sums)) + log_share[[k]]
  }, numeric(length(tokens$end)))
}

row_maxima <- function(x) x[cbind(seq_len(nrow(x)), max.col(x, ties.method = "first"))]

# Probabilities of the topics of documents, for given terms of the topics and shares of the topics.
unigram_theta <- function(tokens, phi, share) {
  weight <- matrix(unigram_weights(tokens, phi, share), ncol = nrow(phi))
  weight <- exp(weight - row_maxima(weight))
  weight / rowSums(weight)
}
