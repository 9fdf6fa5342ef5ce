# The fit of a topic model: its arguments, its chains, and what is averaged and kept.

#' Topic model (latent Dirichlet allocation)
#'
#' Fits latent Dirichlet allocation (Blei, Ng and Jordan 2003, *JMLR* 3, 993-1022) to counts of terms in documents.
#' @section Model:
#' A token of document \eqn{d} has topic \eqn{k} with probability \eqn{\theta_{dk}}, and is then term
#' \eqn{w} with probability \eqn{\phi_{kw}}. The priors are \eqn{\theta_d \sim \mathrm{Dir}(\alpha_1, \dots,
#' \alpha_K)}{theta_d ~ Dir(alpha_1, ..., alpha_K)} and \eqn{\phi_k \sim \mathrm{Dir}(\beta, \dots, \beta)}{phi_k ~
#' Dir(beta, ..., beta)}. Learned \eqn{\alpha} and \eqn{\beta} have gamma priors with shape and rate 1: change these by
#' `list("symmetric", shape = 2, rate = 1)`. An asymmetric \eqn{\alpha} suits topics of different sizes (Wallach, Mimno
#' and McCallum 2009, *NeurIPS* 22, 1973-1981).
#' @param x counts, documents by terms: any matrix of package Matrix, a quanteda `dfm`, a tm `DocumentTermMatrix` or
#'   `TermDocumentMatrix`, a `simple_triplet_matrix`, a numeric matrix, or a data frame with columns `document`, `term`
#'   and `count` (or usual names of these, such as `doc_id`, `word` and `n`).
#' @param topics number of topics \eqn{K}, 1 to 16384; with `alpha = "hdp"` the largest number.
#' @param alpha one positive number, one for each topic, or how it is learned: `"asymmetric"`, `"symmetric"`, `"hdp"`
#'   (the number of topics too, see [number_of_topics()]), or `"mixture"` (one topic a document, see
#'   [topic_model_structure]).
#' @param beta one positive number, one for each term, a matrix of topics x terms, or `"learn"`.
#' @param iter sweeps per chain, including the warm-up.
#' @param warmup sweeps at the start of each chain that are not used.
#' @param chains number of chains; `NULL`: four for small data, and one for large data; see [computing].
#' @param seed_words a list with the words of some topics, such as `list(sport = c("goal", "match"))`, which names them;
#'   see [topic_model_structure].
#' @param prevalence covariates of the documents that the prior of their topics depends on, such as `~ party + s(day)`;
#'   see [topic_effects()].
#' @param data a data frame with the variables of `prevalence` and a row for each document, found by [name][joining].
#' @param control settings by [warp_control()]: `thin`, `precision`, `checkpoint`, `checkpoint_every`; `keep`, any of
#'   `"phi"` and `"theta"`, whose draws are kept; `start`, `"merged"` (default) or `"random"` topics; `estimate`,
#'   `"mean"` for mean-for-mode estimation (Tristan and others 2015, *ICML*, 59-68), faster, but without uncertainty.
#' @param ... must be empty: a misspelt argument is an error.
#' @inheritParams computing_arguments
#' @return An object of class `topic_model`. With D documents, V terms, K topics, S sweeps, C chains and N kept draws:
#'   \item{phi}{K x V: the terms of each topic; rows sum to one.}
#'   \item{theta}{D x K: the topics of each document; rows sum to one. A document without tokens has the prior mean.}
#'   \item{alpha, beta}{the given values, or the means over the kept sweeps of the reference chain.}
#'   \item{log_likelihood}{S x C: log probability of the words given \eqn{\theta} and \eqn{\phi} of each sweep.}
#'   \item{alpha_sum, beta_trace}{S x C: the sum of the \eqn{\alpha_k}, and \eqn{\beta}, after each sweep.}
#'   \item{score}{N/4 x C: of every fourth kept sweep, a lower bound of the log posterior mass around it, up to a
#'     constant, which ranks chains.}
#'   \item{draws}{`beta` (N x C); `alpha` (K x N x C) if learned; `phi` (K x V x N x C) and `theta` (K x D x N x C) if
#'     kept; with `prevalence` also `effects` and `coefficients`.}
#'   \item{chain_phi, tokens}{the average `phi` of each chain; K x C: the tokens of each topic in its last sweep.}
#'   \item{reference}{the number of the chain with the highest mean score; with fewer than twelve scores, of the chain
#'     with the highest mean log likelihood. `phi` and `theta` average its kept sweeps.}
#'
#' Arguments that cannot be used are errors of class `warpbayes_error_input`.
#' @seealso [compare_topics()], [add_documents()], [topic_model_peers], [predict.topic_model()], [top_terms()],
#'   [coherence()], [plot.topic_model()]
#' @examples
#' words <- function(odd) if (odd) c(3, 3, 3, 0, 0, 0, 1) else c(0, 0, 0, 3, 3, 3, 1)
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, words(d %% 2))))
#' colnames(x) <- c("ball", "goal", "team", "market", "price", "trade", "win")
#' fit <- topic_model(x, topics = 2, iter = 100, seed = 1, threads = 2)
#' fit
#' top_terms(fit, 3)
#' @export
topic_model <- function(x, topics, alpha = "asymmetric", beta = "learn", iter = 500, warmup = floor(iter / 2),
                        chains = NULL, seed_words = NULL, prevalence = NULL, data = NULL, seed = NULL, backend = NULL,
                        threads = NULL, progress = NULL, control = NULL, ...) {
  check_dots_empty(...)
  require_arguments("x")
  if (missing(topics)) stop_input("topics", "is missing: it is the number of topics, such as topics = 10")
  counts <- count_matrix(x)
  if (is.numeric(topics) && length(topics) > 1L) {
    stop_input("topics", "must be one whole number, not ", show_value(topics),
      ": compare_topics() fits several numbers of topics and compares them")
  }
  topics <- check_count(topics, "topics", max = 16384)
  if (topics > counts$tokens) {
    warning(sprintf("there are more topics (%d) than tokens (%d): most topics are draws from their prior", topics,
      counts$tokens), call. = FALSE)
  }
  control <- check_control(control, c(topic_settings, "start", "estimate", "precision", "checkpoint",
    "checkpoint_every"))
  method <- if (control$estimate == "mean") "mean_for_mode" else "gibbs"
  prevalence <- check_prevalence(prevalence, data, counts, method, alpha)
  seed_words <- check_seed_words(seed_words, topics, counts)
  names <- seed_names(seed_words$words, topics)
  labels <- if (is.null(names)) as.character(seq_len(topics)) else names
  alpha <- check_alpha(alpha, topics, labels)
  if (!is.null(prevalence)) alpha$learn <- "prevalence"
  if (alpha$learn == "mixture" && method != "gibbs") {
    stop_input("control", "has estimate = \"mean\", which alpha = \"mixture\" does not have")
  }
  beta <- check_beta(beta, topics, counts$terms, labels)
  start <- if (is.null(control$start)) "merged" else check_choice(control$start, "start", c("merged", "random"))
  sweeps <- check_topic_sweeps(iter, warmup, chains, control, counts, topics)
  progress <- check_progress(progress)
  checkpoint <- check_checkpoint(control$checkpoint, control$checkpoint_every)
  run <- resolve_run(backend, threads, cost = sweeps$cost)

  fit <- new_topics(counts, topics, sweeps, run, seed, precision = control$precision, method = method, start = start,
    learn = list(alpha = alpha$learn, beta = beta$learn), prior = c(alpha$prior, beta$prior), prevalence = prevalence,
    seed_words = seed_words$words, call = match.call(), default_warmup = missing(warmup),
    seeds_alone = !is.null(seed_words) && is.null(beta$prior_counts))
  fit$topic_names <- names
  if (!is.null(seed_words)) {
    fit$seed_weight <- if (is.null(seed_words$weight)) choose_seed_weights(fit, run) else seed_words$weight
  }
  fit$prior_counts <- add_prior(beta$prior_counts, seed_prior(fit$seed_words, fit$seed_weight, topics, counts))
  check_store_memory(topic_sampler(fit), fit, sweeps$iter)
  fit <- start_chains(fit, topic_start(fit, alpha$start, beta$start, run))
  fit <- advance_chains(fit, sweeps$iter, topic_sampler, run, progress, threads, checkpoint)
  seeds <- seed_reasons(fit)
  if ("seeds_lost" %in% lapply(seeds, `[[`, "code")) {
    warning(paste(lapply(seeds, `[[`, "words"), collapse = " "), call. = FALSE)
  }
  fit
}

topic_settings <- c("thin", "keep")

check_topic_sweeps <- function(iter, warmup, chains, control, counts, topics) {
  iter <- check_count(iter, "iter")
  warmup <- check_warmup(warmup, iter)
  thin <- check_thin(control$thin, iter, warmup)
  keep <- if (is.null(control$keep)) character() else check_some(control$keep, "keep", c("phi", "theta"))
  size <- c(theta = counts$size[[1L]], phi = counts$size[[2L]])
  cost <- function(sweeps) topic_cost(counts$size[[1L]], length(counts$count), topics, sweeps)
  chains <- check_chains(chains, cost(1), topics * sum(size[keep]) * (iter - warmup) / thin)
  list(iter = iter, warmup = warmup, thin = thin, chains = chains, keep = keep, cost = cost(iter * chains))
}

new_topics <- function(counts, topics, sweeps, run, seed, ...) {
  structure(c(list(draws = NULL, topics = topics, iter = 0), sweeps[c("chains", "warmup", "thin", "keep")], list(
    seed = check_seed(seed), backend = run$backend, threads = run$threads, documents = counts$documents,
    terms = counts$terms, document_tokens = document_sizes(counts), x = counts, elapsed = c(start = 0, sweeps = 0),
    interrupted = FALSE, ...
  )), class = c("topic_model", "warpbayes_fit", "warpbayes"))
}

#' @rdname continue
#' @export
continue.topic_model <- function(fit, more, backend = NULL, threads = NULL, checkpoint = NULL, checkpoint_every = 60,
                                 progress = NULL, warmup = NULL, ...) {
  check_method(fit, "fit", ...)
  check_topic_state(fit)
  fit <- average_anew(fit, check_count(more, "more"), warmup)
  checkpoint <- check_checkpoint(checkpoint, checkpoint_every)
  continue_chains(fit, more, topic_sampler, backend, threads, progress, checkpoint)
}

# The fit with a longer warm-up, without sums and draws.
average_anew <- function(fit, more, warmup) {
  if (is.null(warmup)) {
    warmup <- if (isTRUE(fit$default_warmup) && more >= fit$iter) max(fit$warmup, fit$iter) else fit$warmup
  }
  warmup <- check_count(warmup, "warmup", min = 0)
  if (warmup == fit$warmup) return(fit)
  if (warmup < fit$iter) {
    stop_input("warmup", sprintf("is %s, but must be %s, as it was, or at least %s, the sweeps so far: ",
      whole_words(warmup), whole_words(fit$warmup), whole_words(fit$iter)), "averages cannot be taken back in part")
  }
  check_warmup(warmup, fit$iter + more)
  fit$warmup <- warmup
  fit$draws <- lapply(fit$draws, function(values) {
    array(values[0L], replace(dim(values), length(dim(values)) - 1L, 0L), dimnames(values))
  })
  fit$state <- lapply(fit$state, function(state) {
    state[c("sums", "pending")] <- list(NULL)
    state[c("kept", "added")] <- 0
    state
  })
  fit
}
