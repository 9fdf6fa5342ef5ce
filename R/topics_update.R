# A fitted topic model goes on with new documents.

#' Go on with new documents
#'
#' Fits the topic model to new documents and keeps what it learned from the earlier ones, which are not read again: the
#' topics keep their numbers, names and terms, and move as far as the new words say.
#' @section The posterior:
#' Let \eqn{n_{kw}} be the tokens of term \eqn{w} with topic \eqn{k} after the last sweep of the reference chain, and
#' \eqn{c_{kw}} the prior counts of the fit, for example from seed words. The new documents are fitted with the priors
#' \eqn{\phi_k \sim \mathrm{Dir}(\beta + a (c_{kw} + n_{kw}))_w}{phi_k ~ Dir(beta + a (c_kw + n_kw)) over w} and
#' \eqn{\theta_d \sim \mathrm{Dir}(\alpha)}{theta_d ~ Dir(alpha)}, where \eqn{a} is `weight`, and
#' \eqn{\alpha} and \eqn{\beta} are the averages of the fit (Banerjee and Basu 2007, *SIAM International Conference on
#' Data Mining*, 431-436).
#' @param object a fit from [topic_model()], which may be an update itself.
#' @param newdata counts of the new documents, in any of the forms that [topic_model()] takes.
#' @param data as in [predict.topic_model()].
#' @param weight the weight of the earlier counts, above 0 and at most 1.
#' @param iter,warmup,chains as in [topic_model()]. Few sweeps are needed, because the topics are known.
#' @param control settings by [warp_control()]: `thin` and `keep`, as in [topic_model()].
#' @param ... must be empty: a misspelt argument is an error.
#' @inheritParams computing_arguments
#' @return A fit of class `topic_model` with the `documents`, `theta`, `x` and `tokens` of the new documents, and with
#'   `phi` from the posterior above. `prior_counts` has the weighted earlier counts, and `earlier` their sum.
#' @examples
#' x <- t(sapply(1:60, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' colnames(x) <- c("goal", "team", "price", "trade")
#' fit <- topic_model(x[1:30, ], topics = 2, iter = 100, seed = 1, threads = 2)
#' fit <- add_documents(fit, x[31:60, ], iter = 20, seed = 2, threads = 2)
#' @export
add_documents <- function(object, newdata, weight = 1, iter = 100, warmup = floor(iter / 2), chains = NULL,
                          data = NULL, seed = NULL, backend = NULL, threads = NULL, progress = NULL, control = NULL,
                          ...) {
  check_topic_fit(object, "object")
  if (missing(newdata)) {
    stop_input("newdata", "is missing: add_documents() goes on with new documents. To change arguments of the fit, ",
      "call topic_model() again")
  }
  check_dots_empty(...)
  refuse_mixture(object, "object", "predict() has the topics of new ones")
  if (!is.numeric(weight) || length(weight) != 1L || !isTRUE(weight > 0 & weight <= 1)) {
    stop_input("weight", "must be one number above 0 and at most 1, not ", show_value(weight))
  }
  counts <- known_terms(object, newdata)
  if (counts$tokens == 0) stop_input("newdata", "shares no term with the fit: there is nothing to learn from")
  report_unknown(counts)
  counts$unknown <- NULL
  prior <- new_document_prior(object, data, counts)
  if (is.null(data) && !is.null(known_covariates(object))) {
    message("the new documents have the alpha of the mean of the covariates: `data` has their own")
  }
  control <- check_control(control, topic_settings)
  sweeps <- check_topic_sweeps(iter, warmup, chains, control, counts, object$topics)
  progress <- check_progress(progress)
  run <- resolve_run(backend, threads, cost = sweeps$cost)

  earlier <- add_prior(pack_prior(topic_counts(object), object$terms), object$prior_counts)
  fit <- new_topics(counts, object$topics, sweeps, run, seed, precision = object$precision, method = object$method,
    start = "earlier", learn = list(alpha = "none", beta = FALSE), prior = object$prior,
    prior_counts = weight * earlier, earlier = weight * sum(earlier), call = match.call(), alpha = object$alpha,
    groups = prior$groups, covariates = known_covariates(object),
    rests_on = c(list(verdict(object)), if (length(prior$outside)) {
      list(new_verdict("the prior of the documents", prior$outside))
    }))
  fit$topic_names <- object$topic_names
  check_store_memory(topic_sampler(fit), fit, sweeps$iter)
  fit <- start_chains(fit, topic_start(fit, as.vector(t(prior$alpha)), object$beta, run))
  advance_chains(fit, sweeps$iter, topic_sampler, run, progress, threads)
}
