# Topics of new documents, and how well the words of new documents are predicted.

#' Topics of new documents
#'
#' Estimates the topics of new documents by Gibbs sampling, with \eqn{\phi} as in the fit. Terms are matched by name or,
#' without names, by position. The prior of \eqn{\theta} is \eqn{\mathrm{Dir}(\alpha)} with the average \eqn{\alpha} of
#' the fit. A document without known terms has the mean of this prior.
#' @param object a fit from [topic_model()].
#' @param newdata counts in any of the forms that [topic_model()] takes. `NULL`: `theta` of the documents that were
#'   fitted.
#' @param type `"topics"`: probabilities of all topics; `"class"`: the most probable topic.
#' @param iter number of sweeps. The first half is not used.
#' @param data if the fit has `prevalence`: a data frame with the covariates of the new documents, a row for each, found
#'   by its [name][joining]. `NULL`, missing or unknown values: the mean of the covariates is taken.
#' @param ... must be empty: a misspelt argument is an error.
#' @inheritParams computing_arguments
#' @return For `"topics"` a matrix, documents x topics, whose rows sum to one. For `"class"` an integer vector, `NA` for
#'   a document without known terms. The attribute `unknown` has the number of tokens of each document that are not
#'   terms of the fit. For `"class"` the attribute `certainty` has the share of the draws of all chains, with topics
#'   matched, in which the topic is the document's first one.
#' @examples
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' colnames(x) <- c("goal", "team", "price", "trade")
#' fit <- topic_model(x, topics = 2, iter = 60, seed = 1, threads = 2)
#' predict(fit, rbind(c(goal = 4, team = 2), c(0, 0)), seed = 1, threads = 2)
#' @export
predict.topic_model <- function(object, newdata = NULL, type = c("topics", "class"), iter = 100, data = NULL,
                                seed = NULL, backend = NULL, threads = NULL, ...) {
  check_method(object, "object", ...)
  type <- check_choice(type, "type", c("topics", "class"))
  iter <- check_count(iter, "iter", min = 2)
  counts <- if (!is.null(newdata)) known_terms(object, newdata)
  prior <- if (!is.null(counts)) new_document_prior(object, data, counts)
  known <- topics_of_documents(object, counts, iter, prior, seed, backend, threads, type == "class")
  if (!is.null(counts)) report_unknown(counts)
  unknown <- sum(counts$unknown) / max(1, sum(counts$unknown) + counts$tokens)
  verdict <- new_verdict("the topics of these documents", if (unknown > most_unknown) {
    reason("words_unknown", figure = unknown, share = percent(unknown, 0))
  }, prior$outside, certainty_reason(object, known$certainty), rests_on = list(verdict(object)))
  value <- known$theta
  if (type == "class") {
    value <- structure(max.col(value, "first"), names = rownames(value))
    value[if (is.null(counts)) object$document_tokens == 0 else document_sizes(counts) == 0] <- NA
    attr(value, "certainty") <- known$certainty
  }
  structure(value, unknown = counts$unknown, verdict = verdict)
}

# With a larger share of unknown words a prediction has reservations.
most_unknown <- 0.2

certainty_reason <- function(fit, certainty) {
  sure <- mean(certainty > sure_share, na.rm = TRUE)
  wrong <- document_certainty(fit)$wrong
  if (is.finite(sure)) {
    reason("first_topics", figure = sure, share = percent(sure, 0), wrong = if (isTRUE(is.finite(wrong))) {
      sprintf(": another chain gives %s of the sure documents that were fitted another one", percent(wrong))
    })
  }
}

# `theta` of documents (`counts` NULL: of the fit), and if wanted the `certainty` of first topics over all chains.
topics_of_documents <- function(fit, counts, iter, prior, seed, backend, threads, certain) {
  if (is.null(counts)) {
    known <- if (certain) document_certainty(fit)
    return(list(theta = fit$theta, certainty = certainty_at(known$shares, fit$theta, fit$document_tokens)))
  }
  run <- resolve_run(backend, threads)
  seed <- check_seed(seed)
  own <- infer_topics(fit, counts, iter, seed, run, prior)
  others <- if (certain && !is.null(fit$agreement)) setdiff(seq_len(fit$chains), fit$reference)
  first <- Reduce(`+`, lapply(others, function(chain) {
    fit$phi <- fit$chain_phi[[chain]][matched_topics(fit, chain), , drop = FALSE]
    infer_topics(fit, counts, iter, seed, run, prior)$first
  }), own$first)
  certainty <- if (certain) certainty_at(first / (length(others) + 1), own$theta, document_sizes(counts))
  list(theta = own$theta, certainty = certainty)
}

certainty_at <- function(shares, theta, tokens) {
  if (is.null(shares)) return(NULL)
  value <- shares[cbind(max.col(theta, "first"), seq_len(nrow(theta)))]
  stats::setNames(ifelse(tokens > 0, value, NA_real_), rownames(theta))
}

# The groups of new documents, and their alphas, groups x topics; and the reason if values lie `outside` the fitted.
new_document_prior <- function(fit, data, counts) {
  if (is.null(data)) list(groups = NULL, alpha = rbind(fit$alpha)) else prevalence_prior(fit, data, counts)
}

# Topics of documents: `theta`, documents x topics, averaged over the second half of the sweeps; and `first`, topics x
# documents, the share of sweeps in which the topic is first. `prior` is from new_document_prior().
infer_topics <- function(fit, counts, iter, seed, run, prior) {
  if (kind_of(fit)$one_topic || counts$tokens == 0) {
    theta <- if (kind_of(fit)$one_topic) {
      unigram_weights(counts, fit$phi, fit$alpha)
    } else {
      prior$alpha[if (is.null(prior$groups)) rep(1L, counts$size[[1L]]) else as.integer(prior$groups), , drop = FALSE]
    }
    theta <- structure(theta / rowSums(theta), dimnames = list(counts$documents, fit$topic_names))
    return(list(theta = theta, first = t(theta)))
  }
  session <- open_topics(counts, fit$topics, fit$precision, run, topic_structure(prior$groups, NULL, fit$terms))
  on.exit(.Call(C_session_close, session))
  native(C_topic_set_phi, session, fit$phi)
  # The chains of a fit count from 1, so chain 0 shares no random numbers with a fit of the same seed.
  key <- chain_key(seed, 0)
  topics <- native(C_topic_start, session, key)
  mean <- fit$method == "mean_for_mode"
  size <- fit$topics * counts$size[[1L]]
  sums <- new_sums(c(theta = size, first = size))
  alpha <- as.double(t(prior$alpha))
  warmup <- iter %/% 2
  topics <- native(C_topic_infer, session, topics, alpha, key, 1, as.integer(warmup), mean)
  for (sweep in seq(warmup + 1, iter)) {
    topics <- native(C_topic_infer, session, topics, alpha, key, sweep, 1L, mean)
    native(C_topic_add_means, list(list(session, topics, alpha, 1, sums, 0)))
  }
  means <- lapply(native(C_store_close, sums), function(sum) {
    matrix(sum / (iter - warmup), fit$topics, dimnames = list(fit$topic_names, counts$documents))
  })
  list(theta = t(means$theta), first = means$first)
}

#' Perplexity of held-out words
#'
#' Measures how well a fit predicts words that it has not seen (Wallach and others 2009; see [compare_topics()]).
#' Lower is better: a fit that knows nothing has the number of terms as its perplexity.
#'
#' Each token of a new document belongs at random to the predicted part, with probability `share`. \eqn{\theta} is
#' estimated from the other part (document completion). The perplexity is \eqn{\exp(-\sum \log p(w) / n)} over the
#' \eqn{n} predicted tokens, with \eqn{p(w) = \sum_k \theta_{dk} \phi_{kw}}.
#' @param fit a fit from [topic_model()].
#' @param newdata counts of documents that were not fitted, in any of the forms that [topic_model()] takes.
#' @param share the share of the tokens that is predicted.
#' @param iter number of sweeps to estimate \eqn{\theta}.
#' @inheritParams predict.topic_model
#' @return A number of class `perplexity`. Its attributes have a value for each document: `log_likelihood` of the
#'   predicted tokens, `tokens` (how many were predicted), and `unknown` (how many tokens are not terms of the fit).
#' @examples
#' x <- t(sapply(1:60, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' fit <- topic_model(x[1:40, ], topics = 2, iter = 60, seed = 1, threads = 2)
#' perplexity(fit, x[41:60, ], seed = 1, threads = 2)
#' @export
perplexity <- function(fit, newdata = NULL, share = 0.5, iter = 100, data = NULL, seed = NULL, backend = NULL,
                       threads = NULL, ...) {
  check_masking_fit(fit, "perplexity")
  check_dots_empty(...)
  share <- check_number(share, "share", 0, 1)
  iter <- check_count(iter, "iter", min = 2)
  run <- resolve_run(backend, threads)
  if (is.null(newdata)) return(structure(score_words(fit, fit$x, fit$theta, run), verdict = verdict(fit)))
  counts <- known_terms(fit, newdata)
  if (counts$tokens == 0) stop_input("newdata", "shares no term with the fit: there is nothing to predict")
  prior <- new_document_prior(fit, data, counts)
  seed <- check_seed(seed)
  halves <- split_tokens(counts, share, seed)
  if (halves$predicted$tokens == 0) {
    stop_input("share", sprintf("is %s, and none of the %d tokens of `newdata` fell into the part to predict",
      format(share), counts$tokens))
  }
  theta <- infer_topics(fit, halves$seen, iter, seed, run, prior)$theta
  structure(score_words(fit, halves$predicted, theta, run),
    verdict = new_verdict("the perplexity", prior$outside, rests_on = list(verdict(fit))))
}

in_console.perplexity <- function(x, ...) {
  check_dots_empty(...)
  unknown <- sum(attr(x, "unknown"))
  left_out <- if (unknown > 0) sprintf(" (%s of unknown terms left out)", count_words(unknown, "token")) else ""
  cat(sprintf("perplexity %s of %s in %s%s\n", format(signif(as.numeric(x), 5)),
    count_words(sum(attr(x, "tokens")), "token"), count_words(length(attr(x, "tokens")), "document"), left_out))
  if (verdict(x)$answer != answers[[1L]]) print_verdict(verdict(x), 1L)
}
