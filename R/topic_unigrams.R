# One topic a document: a mixture of unigrams (Nigam, McCallum, Thrun and Mitchell 2000, Machine Learning 39, 103-134).
# It is the limit of small alpha: theta_d ~ Dir(e pi) has all of its mass on one topic, k with probability pi_k, as e
# falls to 0. A chain's alpha is e pi, so averages and topics of tokens are those of any topic model.
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
  count <- counts$count[order]
  list(document = document, term = term[order], count = count, end = cumsum(tabulate(document, counts$size[[1L]])),
    token_document = rep(document, count), token_term = rep(term[order], count))
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

# The topic of each document, from the topics of tokens: the one that most tokens have.
document_topics <- function(fit, topics) {
  document <- rep(seq_along(fit$document_tokens), fit$document_tokens)
  count <- matrix(tabulate(document + length(fit$documents) * (topic_numbers(topics) - 1),
    length(fit$documents) * fit$topics), length(fit$documents))
  max.col(count, ties.method = "first")
}

token_topics <- function(fit, topic) writeBin(rep(topic, fit$document_tokens) - 1L, raw(), size = 2L)

# step() of the sampler. A sweep draws the terms of the topics and the shares of the topics given the topics of
# documents, then these topics, and then beta with the terms integrated out.
unigram_step <- function(fit) {
  k <- fit$topics
  tokens <- unigram_tokens(fit$x)
  terms <- length(fit$terms)
  prior <- matrix(0, k, terms)
  if (!is.null(fit$prior_counts)) prior[, match(colnames(fit$prior_counts), fit$terms)] <- fit$prior_counts
  has_tokens <- fit$document_tokens > 0
  count_terms <- function(topic) {
    matrix(tabulate(topic[tokens$token_document] + as.double(k) * (tokens$token_term - 1), k * terms), k)
  }
  sweep_once <- function(topic, beta) {
    phi <- matrix(stats::rgamma(k * terms, beta + prior + count_terms(topic)), k)
    phi <- phi / rowSums(phi)
    share <- stats::rgamma(k, 1 + tabulate(topic[has_tokens], k))
    share <- share / sum(share)
    weight <- matrix(unigram_weights(tokens, phi, share), ncol = k)
    top <- row_maxima(weight)
    log_likelihood <- sum(top + log(rowSums(exp(weight - top))))
    gumbel <- -log(-log(stats::runif(length(weight))))
    topic <- max.col(weight + gumbel, ties.method = "first")
    if (fit$learn$beta) beta <- draw_unigram_beta(beta, count_terms(topic), prior, fit$prior[3:4])
    list(topic = topic, beta = beta, phi = phi, share = share, weight = weight, log_likelihood = log_likelihood)
  }
  function(sessions, states, sweeps, keep) {
    numbers <- kept_in_slice(fit, states, sweeps)
    kept <- numbers[[1L]] + numbers[[2L]] * (seq_len(numbers[[3L]]) - 1) + 1
    Map(function(session, state) {
      state <- add_pending(list(session), fit, list(state))[[1L]]
      topic <- document_topics(fit, state$topics)
      slice <- lapply(seq_len(sweeps), function(i) {
        drawn <- with_seed(chain_seed(state, state$sweep + i), sweep_once(topic, state$beta))
        topic <<- drawn$topic
        state$beta <<- drawn$beta
        wanted <- if (i %in% kept) {
          c("topic", "share", if ("phi" %in% fit$keep) "phi", if ("theta" %in% fit$keep) "weight")
        }
        drawn[c("log_likelihood", "beta", wanted)]
      })
      part <- function(name, some = TRUE) unlist(lapply(slice[some], `[[`, name))
      state$topics <- token_topics(fit, topic)
      draw <- list()
      if (keep) {
        draw <- list(alpha = part("share", kept), beta = part("beta", kept), phi = part("phi", kept),
          theta = unlist(lapply(slice[kept], function(one) {
            if (!is.null(one$weight)) apply(one$weight, 1L, function(w) exp(w - max(w)) / sum(exp(w - max(w))))
          })))
        state$alpha <- unigram_alpha * draw$alpha[seq(to = length(draw$alpha), length.out = k)]
        state$pending <- list(topics = unlist(lapply(slice[kept], function(one) token_topics(fit, one$topic))),
          alpha = unigram_alpha * draw$alpha, beta = draw$beta)
      }
      state$kept <- state$kept + length(kept)
      list(state = state, draw = draw, traces = list(log_likelihood = part("log_likelihood"),
        alpha_sum = rep(1, sweeps), beta_trace = part("beta")))
    }, sessions, states)
  }
}

# beta given the topics of documents: slice sampling of its logarithm, stepped out and shrunk (Neal 2003).
draw_unigram_beta <- function(beta, counts, prior, gamma) {
  terms <- ncol(counts)
  sizes <- rowSums(counts)
  extra <- rowSums(prior)
  seen <- counts > 0
  # Most entries have no prior counts of their own, and few counts differ.
  plain <- tabulate(counts[seen & prior == 0])
  value <- which(plain > 0)
  own <- which(seen & prior > 0)
  density <- function(x) {
    b <- exp(x)
    sum(lgamma(terms * b + extra) - lgamma(terms * b + extra + sizes)) +
      sum(plain[value] * (lgamma(b + value) - lgamma(b))) +
      sum(lgamma(b + prior[own] + counts[own]) - lgamma(b + prior[own])) + gamma[[1L]] * x - gamma[[2L]] * b
  }
  x <- log(beta)
  level <- density(x) - stats::rexp(1L)
  ends <- x - stats::runif(1L) + 0:1
  while (density(ends[[1L]]) > level) ends[[1L]] <- ends[[1L]] - 1
  while (density(ends[[2L]]) > level) ends[[2L]] <- ends[[2L]] + 1
  repeat {
    y <- stats::runif(1L, ends[[1L]], ends[[2L]])
    if (density(y) > level) return(exp(y))
    ends[[if (y < x) 1L else 2L]] <- y
  }
}
