# One topic a document: a mixture of unigrams, see ?topic_model_structure. A chain's alpha is this number times pi, the
# shares of topics, so averages and topics of tokens are those of any topic model.
unigram_alpha <- 1e-12

# Probabilities of topics, documents x topics, up to a factor of the document, given terms and shares of topics.
unigram_weights <- function(counts, phi, share) {
  term <- term_columns(counts)
  weight <- matrix(log(pmax(share, 1e-300)), counts$size[[1L]], nrow(phi), byrow = TRUE)
  for (k in seq_len(nrow(phi))) {
    sums <- rowsum(counts$count * log(pmax(phi[k, ], 1e-300))[term], counts$i)
    document <- as.integer(rownames(sums)) + 1L
    weight[document, k] <- weight[document, k] + sums
  }
  exp(weight - weight[cbind(seq_len(nrow(weight)), max.col(weight, "first"))])
}
