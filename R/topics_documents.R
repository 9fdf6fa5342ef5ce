# Counts of new documents, and how well a model predicts their words.

known_terms <- function(fit, newdata) {
  counts <- count_matrix(newdata, "newdata")
  if (counts$named[["terms"]] && fit$x$named[["terms"]]) {
    counts <- match_terms(counts, fit$terms)
    if (counts$tokens > 0 || sum(counts$unknown) == 0 || counts$size[[1L]] <= 1L) return(counts)
    stop_input("newdata", sprintf("shares no term with the fit: of its %d tokens none is among the %d terms ",
      sum(counts$unknown), length(fit$terms)), "that were fitted")
  }
  if (counts$size[[2L]] != length(fit$terms)) {
    stop_input("newdata", sprintf("has %d terms without names, the fit has %d", counts$size[[2L]], length(fit$terms)))
  }
  replace(counts, c("terms", "unknown"), list(fit$terms, numeric(counts$size[[1L]])))
}

report_unknown <- function(counts) {
  lost <- sum(counts$unknown)
  if (lost > 0) {
    message(sprintf("%s of %s tokens (%s%%) are of terms that the fit does not know", format(lost, big.mark = ","),
      format(lost + counts$tokens, big.mark = ","), format(100 * lost / (lost + counts$tokens), digits = 2)))
  }
}

take_documents <- function(counts, documents) {
  counts$i <- match(seq_len(counts$size[[1L]]), documents)[counts$i + 1L] - 1L
  counts$documents <- counts$documents[documents]
  counts$size[[1L]] <- length(documents)
  pick_counts(counts, counts$count, order(term_columns(counts), counts$i, na.last = NA))
}

split_tokens <- function(counts, share, seed) {
  predicted <- with_seed(seed, stats::rbinom(length(counts$count), counts$count, share))
  seen <- counts$count - predicted
  list(seen = pick_counts(counts, seen, seen > 0), predicted = pick_counts(counts, predicted, predicted > 0))
}

# No topic explains a document whose words have a log probability so many standard deviations below its mean under theta
# and phi. With more probabilities than this, evenly spaced documents are looked at.
unexplained_limit <- 4
most_checked <- 4e6

unexplained_documents <- function(fit) {
  some <- which(fit$document_tokens > 0)
  most <- max(1, floor(most_checked / length(fit$terms)))
  if (length(some) > most) some <- some[round(seq(1, length(some), length.out = most))]
  probability <- fit$theta[some, , drop = FALSE] %*% fit$phi
  log_probability <- log(pmax(probability, 1e-300))
  mean <- rowSums(probability * log_probability)
  deviation <- sqrt(pmax(rowSums(probability * log_probability^2) - mean^2, 0))
  own <- take_documents(fit$x, some)
  words <- rowsum(own$count * log_probability[cbind(own$i + 1L, term_columns(own))], own$i)[, 1L]
  tokens <- fit$document_tokens[some]
  far <- which(tokens * mean - words > unexplained_limit * sqrt(tokens) * deviation & deviation > 1e-9)
  list(checked = length(some), documents = fit$documents[some[far]])
}

score_words <- function(fit, counts, theta, run) {
  session <- open_topics(counts, fit$topics, fit$precision, run)
  on.exit(.Call(C_session_close, session))
  native(C_topic_set_phi, session, fit$phi)
  log_likelihood <- native(C_topic_score, session, t(theta))
  names(log_likelihood) <- counts$documents
  structure(exp(-sum(log_likelihood) / counts$tokens), log_likelihood = log_likelihood, tokens = document_sizes(counts),
    unknown = counts$unknown, class = c("perplexity", "warpbayes"))
}

with_seed <- function(seed, expression) {
  before <- get0(".Random.seed", globalenv(), inherits = FALSE)
  kinds <- RNGkind()
  # A session without a state keeps its kinds of generators, and has no state afterwards.
  on.exit(if (is.null(before)) {
    suppressWarnings(do.call(RNGkind, as.list(kinds)))
    rm(".Random.seed", envir = globalenv())
  } else {
    assign(".Random.seed", before, globalenv())
  })
  set.seed(as.integer(seed %% 2147483647), "Mersenne-Twister", "Inversion", "Rejection")
  expression
}
