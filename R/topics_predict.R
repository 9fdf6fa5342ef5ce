# Topics of new documents, and how well the words of new documents are predicted.

#' Topics of new documents
#'
#' Estimates the topics of new documents. The terms of the topics, \eqn{\phi}, are held at their averages in the fit.
#' \eqn{\theta} and the topics of the tokens are drawn in turn.
#'
#' Terms are matched by name, or by position if the fit or `newdata` has no names. Terms that the fit does not have
#' say nothing about the topics: they are left out, and a message tells their share. The prior of \eqn{\theta} is
#' \eqn{\mathrm{Dir}(\alpha)} with the average \eqn{\alpha} of the fit. A document without known terms has the mean of
#' this prior. If none of several documents has a known term, that is an error, because the names of the terms are
#' probably others.
#'
#' @param object a fit from [topic_model()].
#' @param newdata counts in any of the forms that [topic_model()] takes. `NULL` returns `theta` of the documents that
#'   were fitted.
#' @param type `"topics"`: probabilities of all topics; `"class"`: the most probable topic.
#' @param iter number of sweeps. The first half is not used.
#' @param groups if the documents were fitted in groups: the group of each new document, see [topic_model_structure].
#'   `NULL`, `NA` or an unknown group: the mean over groups is the prior.
#' @param data if the fit has `prevalence`: a data frame with the covariates of the new documents, a row for each.
#'   `NULL`, missing or unknown values: the mean of the covariates is taken.
#' @param ... must be empty: a misspelt argument is an error.
#' @inheritParams computing_arguments
#' @return For `"topics"` a matrix, documents x topics, whose rows sum to one and have the names of the documents. For
#'   `"class"` an integer vector, `NA` for a document without known terms. The attribute `unknown` has, for each
#'   document, the number of tokens that are not terms of the fit.
#' @section Errors:
#' `warpbayes_error_input` if `newdata` cannot be read, or if it has several documents and shares no term with the fit.
#' @examples
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' colnames(x) <- c("goal", "team", "price", "trade")
#' fit <- topic_model(x, topics = 2, iter = 60, seed = 1, threads = 2)
#' predict(fit, rbind(c(goal = 4, team = 2), c(0, 0)), seed = 1, threads = 2)
#' @export
predict.topic_model <- function(object, newdata = NULL, type = c("topics", "class"), iter = 100,
                                groups = NULL, data = NULL, seed = NULL, backend = NULL, threads = NULL, ...) {
  check_method(object, "object", ...)
  type <- check_choice(type, "type", c("topics", "class"))
  iter <- check_count(iter, "iter", min = 2)
  if (is.null(newdata)) {
    theta <- object$theta
    tokens <- object$document_tokens
  } else {
    counts <- known_terms(object, newdata)
    tokens <- document_sizes(counts)
    prior <- new_document_prior(object, groups, data, counts$documents)
    run <- resolve_run(backend, threads)
    theta <- infer_topics(object, counts, iter, check_seed(seed), run, prior)
    attr(theta, "unknown") <- counts$unknown
    report_unknown(counts)
  }
  if (type == "topics") return(theta)
  class <- max.col(theta, ties.method = "first")
  class[tokens == 0] <- NA
  structure(class, names = rownames(theta), unknown = attr(theta, "unknown"))
}

# A factor with the groups of new documents; the last level is for documents of no known group. NULL if there are no
# groups.
check_new_groups <- function(fit, groups, documents) {
  if (is.null(groups)) return(NULL)
  if (nlevels(fit$groups) < 2L) stop_input("groups", "cannot be used: the documents were not fitted in groups")
  known <- rownames(fit$group_alpha)
  number <- as.integer(check_document_groups(groups, documents, known))
  names <- as.character(groups)
  new <- setdiff(names[!is.na(names)], known)
  if (length(new)) {
    message(sprintf("the fit does not know %s, such as %s: the mean over groups is the prior of their documents",
      count_words(length(new), "group"), dQuote(shorten(new[[1L]]), FALSE)))
  }
  number[is.na(number)] <- length(known) + 1L
  factor(number, seq_len(length(known) + 1L))
}

# What the prior knows of new documents: their groups, and the alphas of the groups, groups x topics. Without groups the
# last alpha is that of all documents.
new_document_prior <- function(fit, groups, data, documents) {
  if (!is.null(data)) return(prevalence_prior(fit, data, length(documents)))
  list(groups = check_new_groups(fit, groups, documents), alpha = rbind(fit$group_alpha, fit$alpha))
}

known_terms <- function(fit, newdata) {
  counts <- count_matrix(newdata, "newdata")
  if (counts$named[["terms"]] && fit$x$named[["terms"]]) {
    counts <- match_terms(counts, fit$terms)
    if (counts$tokens == 0 && counts$size[[1L]] > 1L) {
      stop_input("newdata", sprintf(
        "shares no term with the fit: of its %d tokens none is among the %d terms that were fitted",
        sum(counts$unknown), length(fit$terms)
      ))
    }
    return(counts)
  }
  if (counts$size[[2L]] != length(fit$terms)) {
    stop_input("newdata", sprintf("has %d terms without names, the fit has %d", counts$size[[2L]], length(fit$terms)))
  }
  counts$terms <- fit$terms
  counts$unknown <- numeric(counts$size[[1L]])
  counts
}

report_unknown <- function(counts) {
  lost <- sum(counts$unknown)
  if (lost > 0) {
    message(sprintf("%s of %s tokens (%s%%) are of terms that the fit does not know", format(lost, big.mark = ","),
      format(lost + counts$tokens, big.mark = ","), format(100 * lost / (lost + counts$tokens), digits = 2)))
  }
}

# The topics of documents: the mean of theta given the topics of the tokens, over the second half of the sweeps.
# Returns documents x topics. `prior` is from new_document_prior().
infer_topics <- function(fit, counts, iter, seed, run, prior) {
  if (fit$learn$alpha == "mixture") {
    theta <- unigram_theta(counts, fit$phi, fit$alpha)
    return(structure(theta, dimnames = list(counts$documents, fit$topic_names)))
  }
  groups <- prior$groups
  alpha <- prior$alpha
  if (counts$tokens == 0) {
    own <- alpha[if (is.null(groups)) rep(nrow(alpha), counts$size[[1L]]) else as.integer(groups), , drop = FALSE]
    return(matrix(own / rowSums(own), counts$size[[1L]], dimnames = list(counts$documents, fit$topic_names)))
  }
  session <- open_topics(counts, fit$topics, fit$precision, run, topic_structure(groups, NULL, fit$terms))
  on.exit(.Call(C_topic_close, session))
  native(C_topic_set_phi, session, fit$phi)
  # The chains of a fit count from 1, so chain 0 shares no random numbers with a fit of the same seed.
  key <- chain_key(seed, 0)
  topics <- native(C_topic_start, session, key)
  mean <- fit$method == "mean_for_mode"
  sums <- new_sums(theta = fit$topics * counts$size[[1L]])
  alpha <- if (is.null(groups)) as.double(fit$alpha) else as.vector(t(alpha))
  warmup <- iter %/% 2
  topics <- native(C_topic_infer, session, topics, alpha, key, 1, as.integer(warmup), mean)
  for (sweep in seq(warmup + 1, iter)) {
    topics <- native(C_topic_infer, session, topics, alpha, key, sweep, 1L, mean)
    native(C_topic_add_means, list(list(session, topics, alpha, 1, sums)))
  }
  theta <- native(C_store_close, sums)$theta
  t(matrix(theta / (iter - warmup), fit$topics, dimnames = list(fit$topic_names, counts$documents)))
}

#' Perplexity of held-out words
#'
#' Measures how well a fit predicts words that it has not seen, by document completion: \eqn{\theta} of each new
#' document is estimated from one part of its words, and the other part is predicted. Lower is better. A fit that
#' knows nothing has the number of terms as its perplexity.
#'
#' The tokens of each document are split at random. Each token belongs to the predicted part with probability `share`,
#' independently of the others. The perplexity is \eqn{\exp(-\sum \log p(w) / n)} over the \eqn{n} predicted tokens,
#' with \eqn{p(w) = \sum_k \theta_{dk} \phi_{kw}}. Words used to estimate \eqn{\theta} are not scored, so more
#' topics do not win by themselves.
#'
#' Without `newdata` the words that were fitted are scored as they are. This does not measure prediction.
#' [compare_topics()] holds out documents and compares several numbers of topics.
#'
#' @section Other packages:
#' topicmodels, seededlda and text2vec have functions of the same name for their own models. Of packages that are
#' attached, R takes the one attached last. If that is topicmodels or seededlda, `perplexity(fit, x)` works as described
#' here: their generic functions get a method for fits of [topic_model()]. In this case do not name the argument `fit`.
#' The function of text2vec is not generic: if it was attached last, write `warpbayes::perplexity(fit, x)`. If this
#' package was attached last, write `topicmodels::perplexity(model)` for models of topicmodels. Their numbers cannot be
#' compared with those here: [topic_model_peers] says why.
#'
#' @param fit a fit from [topic_model()].
#' @param newdata counts of documents that were not fitted, in any of the forms that [topic_model()] takes.
#' @param share the share of the tokens that is predicted.
#' @param iter number of sweeps to estimate \eqn{\theta}.
#' @inheritParams predict.topic_model
#' @return A number of class `perplexity`. Its attributes have a value for each document: `log_likelihood` of the
#'   predicted tokens, `tokens` (how many were predicted), and `unknown` (how many tokens are not terms of the fit).
#' @section Errors:
#' `warpbayes_error_input` if `newdata` cannot be read or shares no term with the fit.
#' @references
#' Wallach, H. M., Murray, I., Salakhutdinov, R. and Mimno, D. (2009). Evaluation methods for topic models.
#' *Proceedings of the 26th International Conference on Machine Learning*, 1105-1112.
#' @examples
#' x <- t(sapply(1:60, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' fit <- topic_model(x[1:40, ], topics = 2, iter = 60, seed = 1, threads = 2)
#' perplexity(fit, x[41:60, ], seed = 1, threads = 2)
#' @export
perplexity <- function(fit, newdata = NULL, share = 0.5, iter = 100, groups = NULL, data = NULL, seed = NULL,
                       backend = NULL, threads = NULL, ...) {
  check_masking_fit(fit, "perplexity")
  check_dots_empty(...)
  share <- check_number(share, "share", 0, 1)
  iter <- check_count(iter, "iter", min = 2)
  run <- resolve_run(backend, threads)
  if (is.null(newdata)) return(score_words(fit, fit$x, fit$theta, run))
  counts <- known_terms(fit, newdata)
  if (counts$tokens == 0) stop_input("newdata", "shares no term with the fit: there is nothing to predict")
  prior <- new_document_prior(fit, groups, data, counts$documents)
  seed <- check_seed(seed)
  halves <- split_tokens(counts, share, seed)
  if (halves$predicted$tokens == 0) {
    stop_input("share", sprintf(
      "is %s, and none of the %d tokens of `newdata` fell into the part to predict", format(share), counts$tokens
    ))
  }
  theta <- infer_topics(fit, halves$seen, iter, seed, run, prior)
  score_words(fit, halves$predicted, theta, run)
}

# Splits the tokens at random into two parts. The draws are R's, from a generator that starts at the seed.
split_tokens <- function(counts, share, seed) {
  predicted <- with_seed(seed, stats::rbinom(length(counts$count), counts$count, share))
  part <- function(values) {
    some <- counts
    used <- values > 0
    some$count <- as.integer(values[used])
    some$i <- counts$i[used]
    some$p <- c(0L, cumsum(tabulate(term_columns(counts)[used], counts$size[[2L]])))
    some$tokens <- sum(some$count)
    some
  }
  list(seen = part(counts$count - predicted), predicted = part(predicted))
}

# The value of an expression with R's generator started from a seed. The generator's state is restored afterwards.
with_seed <- function(seed, expression) {
  old <- get0(".Random.seed", globalenv(), inherits = FALSE)
  kind <- RNGkind()
  on.exit({
    RNGkind(kind[[1L]], kind[[2L]], kind[[3L]])
    if (is.null(old)) {
      rm(list = ".Random.seed", envir = globalenv())
    } else {
      assign(".Random.seed", old, envir = globalenv())
    }
  })
  set.seed(as.integer(seed %% 2147483647), "Mersenne-Twister", "Inversion", "Rejection")
  expression
}

score_words <- function(fit, counts, theta, run) {
  session <- open_topics(counts, fit$topics, fit$precision, run)
  on.exit(.Call(C_topic_close, session))
  native(C_topic_set_phi, session, fit$phi)
  log_likelihood <- native(C_topic_score, session, t(theta))
  names(log_likelihood) <- counts$documents
  structure(exp(-sum(log_likelihood) / counts$tokens), log_likelihood = log_likelihood, tokens = document_sizes(counts),
    unknown = counts$unknown, class = c("perplexity", "warpbayes"))
}

in_console.perplexity <- function(x, ...) {
  check_dots_empty(...)
  unknown <- sum(attr(x, "unknown"))
  left_out <- if (unknown > 0) sprintf(" (%s of unknown terms left out)", count_words(unknown, "token")) else ""
  cat(sprintf(
    "perplexity %s of %s in %s%s\n", format(signif(as.numeric(x), 5)), count_words(sum(attr(x, "tokens")), "token"),
    count_words(length(attr(x, "tokens")), "document"), left_out
  ))
}
