# A fitted topic model goes on with new documents.

#' Go on with new documents
#'
#' Fits the topic model to new documents and keeps what it learned from the earlier ones: the topics keep their numbers,
#' names and terms, and move as far as the new words say. The earlier documents are not read again.
#'
#' @section The posterior:
#' Let \eqn{n_{kw}} be the number of tokens of term \eqn{w} that had topic \eqn{k} after the last sweep of the reference
#' chain, and \eqn{c_{kw}} the prior counts that the fit had already, for example from seed words or from an earlier
#' update. The new documents are fitted with the priors
#' \deqn{\phi_k \sim \mathrm{Dir}(\beta + a (c_{kw} + n_{kw}))_w, \quad \theta_d \sim \mathrm{Dir}(\alpha)}{phi_k ~
#' Dir(beta + a (c_kw + n_kw)) over w, theta_d ~ Dir(alpha)}
#' where \eqn{a} is `weight`, and \eqn{\alpha} and \eqn{\beta} are the averages of the fit, which are fixed. With
#' `weight = 1` this is the posterior of \eqn{\phi}, of the new topics and of the new \eqn{\theta} in the model of all
#' documents, given the topics that the earlier tokens had in that sweep. A new fit to all documents has another
#' posterior, because it draws the topics of earlier tokens again, so that they learn from the new documents too.
#'
#' With `weight < 1` earlier documents count less, and still less after each further update: the topics follow a
#' language that changes. With a weight near 0 only the start is taken from the fit.
#'
#' The tokens start in topics that are drawn from this prior. Several chains have the same prior.
#'
#' @section Terms and groups:
#' The fit decides the terms. Tokens of other terms are left out, and a message tells their share. New documents without
#' any term of the fit are an error. To add terms, fit all documents again.
#'
#' If the fit has groups of documents, `groups` gives the groups of the new documents. Documents of no group or of a new
#' group get the prior mean of \eqn{\alpha}, and are in group `(other)`.
#'
#' @param object a fit from [topic_model()], which may be an update itself.
#' @param newdata counts of the new documents, in any of the forms that [topic_model()] takes.
#' @param weight the weight of the earlier counts, above 0 and at most 1.
#' @param groups the group of each new document, as in [predict.topic_model()].
#' @param iter,warmup,thin,chains,keep as in [topic_model()]. Few sweeps are needed, because the topics are known.
#' @param ... must be empty: a misspelt argument is an error.
#' @inheritParams computing_arguments
#' @return A fit of class `topic_model` with the `documents`, `theta`, `x` and `tokens` of the new documents, and with
#'   `phi` from the posterior above. `prior_counts` has the weighted earlier counts, and `earlier` their sum. All
#'   functions for fits take it: [continue()], [predict()][predict.topic_model()], and `add_documents()` again.
#' @section Errors:
#' `warpbayes_error_input` for arguments that cannot be used.
#' @references
#' Banerjee, A. and Basu, S. (2007). Topic models over text streams: a study of batch, online and hybrid algorithms.
#' *Proceedings of the SIAM International Conference on Data Mining*, 431-436.
#' @seealso [predict.topic_model()] for topics of new documents that leave the model as it is; [continue()] for more
#'   sweeps with the same documents.
#' @examples
#' set.seed(1)
#' words <- c("ball", "goal", "team", "market", "price", "trade", "win")
#' subject <- rbind(c(3, 3, 3, 0, 0, 0, 1), c(0, 0, 0, 3, 3, 3, 1))
#' x <- t(sapply(1:60, function(d) rmultinom(1, 30, subject[1 + d %% 2, ])))
#' colnames(x) <- words
#' fit <- topic_model(x[1:30, ], topics = 2, iter = 100, seed = 1, threads = 2)
#' fit <- add_documents(fit, x[31:60, ], iter = 20, seed = 2, threads = 2)
#' fit
#' @export
add_documents <- function(object, newdata, weight = 1, groups = NULL, iter = 100, warmup = floor(iter / 2), thin = 1,
                          chains = NULL, keep = character(), seed = NULL, backend = NULL, threads = NULL,
                          progress = NULL, ...) {
  require_arguments("object")
  check_topic_fit(object, "object")
  if (missing(newdata)) {
    stop_input("newdata", "is missing: add_documents() goes on with new documents. To change arguments of the fit, ",
      "call topic_model() again")
  }
  check_dots_empty(...)
  refuse_mixture(object, "object", "predict() has the topics of new ones")
  check_beta_part(object)
  if (!is.numeric(weight) || length(weight) != 1L || !isTRUE(weight > 0 & weight <= 1)) {
    stop_input("weight", "must be one number above 0 and at most 1, not ", show_value(weight))
  }
  counts <- known_terms(object, newdata)
  if (counts$tokens == 0) stop_input("newdata", "shares no term with the fit: there is nothing to learn from")
  report_unknown(counts)
  counts$unknown <- NULL
  if (!is.null(object$prevalence)) message("the new documents have the alpha of the mean of the covariates")
  grouped <- update_groups(object, check_new_groups(object, groups, counts$documents), counts)
  sweeps <- check_topic_sweeps(iter, warmup, thin, chains, keep, counts, object$topics)
  progress <- check_progress(progress)
  run <- resolve_run(backend, threads,
    cost = topic_cost(counts$size[[1L]], length(counts$count), object$topics, sweeps$iter * sweeps$chains))
  seed <- check_seed(seed)

  earlier <- add_prior(pack_prior(topic_counts(object), object$terms), object$prior_counts)
  alpha <- object$alpha
  if (!is.null(grouped)) {
    known <- rownames(object$group_alpha)
    alpha <- as.vector(t(rbind(object$group_alpha, if (nlevels(grouped) > length(known)) object$alpha)))
  }
  fit <- structure(list(
    draws = NULL, topics = object$topics, chains = sweeps$chains, iter = 0, warmup = sweeps$warmup,
    thin = sweeps$thin, keep = sweeps$keep, seed = seed, method = object$method, start = "earlier",
    learn = list(alpha = "none", beta = FALSE), prior = object$prior, backend = run$backend,
    precision = object$precision, threads = run$threads, documents = counts$documents, terms = counts$terms,
    document_tokens = document_sizes(counts), groups = grouped, seed_words = NULL,
    prior_counts = weight * earlier, earlier = weight * sum(earlier), x = counts,
    elapsed = c(start = 0, sweeps = 0), interrupted = FALSE, call = match.call()
  ), class = c("topic_model", "warpbayes_fit", "warpbayes"))
  fit$topic_names <- object$topic_names
  check_store_memory(topic_sampler(fit), fit, sweeps$iter)
  fit <- start_chains(fit, topic_start(fit, alpha, object$beta, run, object$alpha))
  advance_chains(fit, sweeps$iter, topic_sampler, run, progress, threads)
}

# The groups of the new documents, whose levels are all groups of the fit and `(other)`, for documents of none of them.
# NULL if the fit has no groups. `groups` is from check_new_groups().
update_groups <- function(fit, groups, counts) {
  force(groups)
  if (nlevels(fit$groups) < 2L) return(NULL)
  levels <- c(rownames(fit$group_alpha), "(other)")
  groups <- if (is.null(groups)) rep(length(levels), counts$size[[1L]]) else as.integer(groups)
  factor(levels[groups], unique(levels))
}

check_beta_part <- function(fit) {
  if (!is.numeric(fit$beta) || length(fit$beta) != 1L || !isTRUE(fit$beta > 0 & fit$beta <= most_prior)) {
    stop_changed("object", "beta", "a positive number", fit$beta)
  }
}

# Topics x terms: the tokens after the last sweep of the reference chain.
topic_counts <- function(fit) {
  topics <- fit$state[[fit$reference]]$topics
  usable <- is.raw(topics) && length(topics) == 2 * fit$x$tokens && all(topic_numbers(topics) <= fit$topics)
  if (!usable) stop_changed("object", "state", "the topics of all tokens", topics)
  count_topics(fit, topics)
}

# The number of each token's topic, from two bytes a token.
topic_numbers <- function(topics) readBin(topics, "integer", length(topics) / 2, 2L, FALSE) + 1L

count_topics <- function(fit, topics) {
  # Tokens are ordered by document, then by term.
  column <- term_columns(fit$x)
  order <- order(fit$x$i, column)
  term <- rep(column[order], fit$x$count[order])
  table <- tabulate(topic_numbers(topics) + as.double(fit$topics) * (term - 1), fit$topics * length(fit$terms))
  matrix(as.double(table), fit$topics, dimnames = list(NULL, fit$terms))
}
