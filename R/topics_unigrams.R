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

# Probabilities of the topics of documents, documents x topics, for given terms and shares of the topics.
unigram_theta <- function(counts, phi, share) {
  term <- term_columns(counts)
  weight <- matrix(log(pmax(share, 1e-300)), counts$size[[1L]], nrow(phi), byrow = TRUE)
  for (k in seq_len(nrow(phi))) {
    sums <- rowsum(counts$count * log(pmax(phi[k, ], 1e-300))[term], counts$i)
    document <- as.integer(rownames(sums)) + 1L
    weight[document, k] <- weight[document, k] + sums
  }
  weight <- exp(weight - weight[cbind(seq_len(nrow(weight)), max.col(weight, ties.method = "first"))])
  weight / rowSums(weight)
}
