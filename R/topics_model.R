# The fit of a topic model: its arguments, its chains, and what is averaged and kept.

#' Topic model (latent Dirichlet allocation)
#'
#' Fits latent Dirichlet allocation to counts of terms in documents, by uncollapsed Gibbs sampling or by mean-for-mode
#' estimation. All tokens are drawn in parallel, by all threads or on a graphics card. The same seed gives the same
#' topics on any number of threads.
#'
#' @section Model:
#' A token of document \eqn{d} has topic \eqn{k} with probability \eqn{\theta_{dk}}, and is then term \eqn{w} with
#' probability \eqn{\phi_{kw}}. The priors are \eqn{\theta_d \sim \mathrm{Dir}(\alpha_1, \dots, \alpha_K)}{theta_d ~
#' Dir(alpha_1, ..., alpha_K)} and \eqn{\phi_k \sim \mathrm{Dir}(\beta, \dots, \beta)}{phi_k ~ Dir(beta, ..., beta)}.
#'
#' A sweep draws \eqn{\theta} and \eqn{\phi} given the topics of all tokens, and then the topics given \eqn{\theta}
#' and \eqn{\phi}. A term that occurs five times in a document is five tokens, and the topic of each is drawn.
#'
#' @section Methods:
#' `method = "gibbs"` draws from the posterior. `method = "mean_for_mode"` takes the means of \eqn{\theta} and
#' \eqn{\phi} given the topics instead of draws. This is a stochastic form of EM. It comes to a good model in fewer and
#' cheaper sweeps, but its draws do not show how uncertain the model is.
#'
#' @section What is averaged:
#' `phi` and `theta` are averages over the kept sweeps of one chain, the reference chain. They average the means of
#' \eqn{\phi} and \eqn{\theta} given the topics of each sweep. The reference chain is the one with the highest mean log
#' likelihood after the warm-up.
#'
#' Only one chain is averaged because topics have no fixed numbers. Within one long chain they seldom change places, but
#' another chain numbers them differently. The other chains show how far the topics depend on the start: [relabel()]
#' matches their topics to the topics of the reference chain.
#'
#' @section Start:
#' A chain from random topics can end with one topic for two subjects and two topics for another. With
#' `start = "merged"` short runs of mean-for-mode estimation begin with three times as many topics. The most similar
#' topics are merged, in steps, until there are as many as you asked for, and the chain begins there. If you ask for
#' more than 200 topics, at most 200 come from merging. These are split at random into halves, with some sweeps after
#' each step, until there are enough. If topics differ by given `alpha` or `beta`, the start is always random. Seed
#' words take the merged topics that have most of their tokens.
#'
#' In 120 simulated sets of documents with 8 topics, all chains with the merged start found all topics, and 95 of the
#' chains with the random start did. In 20 sets with 40 topics no chain found all of them with either start.
#' In 3 sets with 250 topics chains with the merged start found 86% of the topics after 120 sweeps, and chains with the
#' random start 67%.
#'
#' @section Learning alpha and beta:
#' With `alpha = "symmetric"` all \eqn{\alpha_k} are one number with a gamma prior. With `"asymmetric"` each
#' \eqn{\alpha_k} is a number of its own. `beta = "learn"` learns \eqn{\beta}, one number for all terms. Topics that
#' differ in size are better described by an asymmetric \eqn{\alpha}, and \eqn{\beta} is best common to all terms
#' (Wallach, Mimno and McCallum 2009).
#'
#' `alpha` and `beta` are drawn with \eqn{\theta} and \eqn{\phi} integrated out, by the auxiliary variables of Escobar
#' and West (1995) and Teh and others (2006). So the chain as a whole still has the posterior as its law.
#' Mean-for-mode estimation sets them to the mean of the same gamma distribution.
#'
#' @section Memory:
#' \itemize{
#'   \item \eqn{\phi} takes 8 bytes (4 in single precision) a term and topic, with three times the topics at the start.
#'   \item A token takes 2 bytes. On processors the order of drawing takes 5 more bytes a token, and 36 bytes a pair of
#'     document and term.
#'   \item The sums of the averages take 8 bytes for each topic and term and for each topic and document, per chain.
#'     `phi` and `theta` themselves take as much.
#' }
#' 200,000 documents x 300,000 terms, 2 million counts and 10 topics take 210 MB more than their sparse matrix.
#'
#' @param x counts, documents by terms: a `dgCMatrix` or any other matrix of package Matrix, a quanteda `dfm`, a tm
#'   `DocumentTermMatrix` (or `TermDocumentMatrix`), a `simple_triplet_matrix`, a numeric matrix, or a data frame with
#'   columns `document`, `term` and `count`. Other usual names of these columns, such as `doc_id`, `word` and `n`, are
#'   known too; positions are not used. Documents without tokens keep their row.
#' @param topics number of topics \eqn{K}, 1 to 16384; with `alpha = "hdp"` the most topics that there may be.
#' @param alpha one positive number of at most 1e15, one for each topic, or `"asymmetric"` or `"symmetric"` to learn it,
#'   or `"hdp"` to learn the number of topics too, see [number_of_topics()]. With `groups` also a matrix of groups x
#'   topics. `"mixture"`: each document has one topic, see [topic_model_structure].
#' @param beta one positive number of at most 1e15, one for each term, a matrix of topics x terms, or `"learn"`.
#' @param method `"gibbs"` or `"mean_for_mode"`.
#' @param iter sweeps per chain, including the warm-up.
#' @param warmup sweeps at the start of each chain that are not used; see [continue()] for its meaning later.
#' @param thin after the warm-up, every `thin`-th sweep is kept.
#' @param chains number of chains, each from a start of its own; `NULL`: four for small data, and one for large data;
#'   see [computing].
#' @param keep which draws to keep besides the averages: any of `"phi"` (topics x terms x draws x chains) and
#'   `"theta"` (topics x documents x draws x chains). They take much memory.
#' @param alpha_prior,beta_prior `shape` and `rate` of the gamma priors of learned parameters.
#' @param seed_words a list with the words of some topics, such as `list(sport = c("goal", "match"))`, which names them;
#'   see [topic_model_structure].
#' @param seed_weight prior counts of a seed word in its topic, as a multiple of its tokens in `x`. `NULL`: for each
#'   list as much as holds its tokens, see [topic_model_structure].
#' @param groups a factor with the group of each document, such as its author or year. Each group then has its own
#'   \eqn{\alpha}; see [topic_model_structure].
#' @param prevalence covariates of the documents that the prior of their topics depends on, such as `~ party + s(day)`;
#'   see [topic_model_structure].
#' @param data a data frame with the variables of `prevalence` and a row for each document, in the order of `x`.
#' @param start how each chain begins: `"merged"`, see the section on the start, or `"random"` topics for all tokens.
#' @param ... must be empty: a misspelt argument is an error.
#' @inheritParams computing_arguments
#' @return An object of class `topic_model`. With D documents, V terms, K topics, S sweeps, C chains and N kept draws:
#'   \item{phi}{K x V: the terms of each topic; rows sum to one.}
#'   \item{theta}{D x K: the topics of each document; rows sum to one. A document without tokens has the mean of its
#'     prior.}
#'   \item{alpha, beta}{the given values, or the means over the kept sweeps of the reference chain.}
#'   \item{log_likelihood}{S x C: log probability of the words given \eqn{\theta} and \eqn{\phi} of each sweep.}
#'   \item{alpha_sum, beta_trace}{S x C: the sum of the \eqn{\alpha_k}, and \eqn{\beta}, after each sweep.}
#'   \item{draws}{`beta` (N x C); `alpha` (K x N x C) if learned, and with `"hdp"` also `tokens` (K x N x C); `phi`
#'     (K x V x N x C) and `theta` (K x D x N x C) if kept.}
#'   \item{chain_phi}{if there are several chains, a list with the average of each: K x V.}
#'   \item{agreement}{if there are several chains: `match` and `distance` of [relabel()][relabel.topic_model()].}
#'   \item{tokens}{K x C: the number of tokens of each topic in the last sweep of each chain.}
#'   \item{reference}{the number of the reference chain.}
#'   \item{x}{the counts.}
#'   \item{seed_words, prior_counts, groups, group_alpha, prevalence}{if given; see [topic_model_structure].}
#'   \item{state}{where [continue()] goes on.}
#'
#'   The other elements say how the fit was made: `topics`, `documents`, `terms`, `document_tokens`, `chains`, `iter`,
#'   `warmup`, `thin`, `method`, `start`, `seed`, `backend`, `precision`, `threads`, `elapsed`, `interrupted`, `call`.
#' @section Interruption:
#' An interrupt from the keyboard returns the completed sweeps as a fit, with a warning. [continue()] goes on where it
#' stopped. With a `checkpoint`, [resume()] goes on after the process was killed.
#' @section Errors:
#' `warpbayes_error_input` for arguments that cannot be used; the message names the argument and, for counts, the
#' document and term. `warpbayes_error_memory` if memory runs out. `warpbayes_error_backend` or
#' `warpbayes_error_device` if a graphics card was asked for and fails. More topics than tokens give a warning.
#' @references
#' Blei, D. M., Ng, A. Y. and Jordan, M. I. (2003). Latent Dirichlet allocation. *Journal of Machine Learning
#' Research* **3**, 993-1022.
#'
#' Escobar, M. D. and West, M. (1995). Bayesian density estimation and inference using mixtures. *Journal of the
#' American Statistical Association* **90**, 577-588.
#'
#' Teh, Y. W., Jordan, M. I., Beal, M. J. and Blei, D. M. (2006). Hierarchical Dirichlet processes. *Journal of the
#' American Statistical Association* **101**, 1566-1581.
#'
#' Tristan, J.-B., Tassarotti, J. and Steele, G. L. (2015). Efficient training of LDA on a GPU by mean-for-mode
#' estimation. *Proceedings of the 32nd International Conference on Machine Learning*, 59-68.
#'
#' Wallach, H. M., Mimno, D. and McCallum, A. (2009). Rethinking LDA: why priors matter. *Advances in Neural
#' Information Processing Systems* **22**, 1973-1981.
#' @seealso [compare_topics()], which fits several numbers of topics; [add_documents()], which goes on
#'   with new documents; [topic_model_peers], for users of topicmodels and text2vec; [predict.topic_model()],
#'   [perplexity()], [topic_effects()], [topic_names()], [top_terms()], [coherence()], [relabel()],
#'   [plot.topic_model()], [continue()]
#' @examples
#' # Two subjects that share one word.
#' set.seed(1)
#' words <- c("ball", "goal", "team", "market", "price", "trade", "win")
#' subject <- rbind(c(3, 3, 3, 0, 0, 0, 1), c(0, 0, 0, 3, 3, 3, 1))
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, subject[1 + d %% 2, ])))
#' colnames(x) <- words
#' fit <- topic_model(x, topics = 2, iter = 100, seed = 1, threads = 2)
#' fit
#' top_terms(fit, 3)
#' @export
topic_model <- function(x, topics, alpha = "asymmetric", beta = "learn", method = c("gibbs", "mean_for_mode"),
                        iter = 500, warmup = floor(iter / 2), thin = 1, chains = NULL, keep = character(),
                        alpha_prior = c(shape = 1, rate = 1), beta_prior = c(shape = 1, rate = 1),
                        start = c("merged", "random"), seed_words = NULL, seed_weight = NULL, groups = NULL,
                        prevalence = NULL, data = NULL, seed = NULL, backend = NULL, threads = NULL,
                        precision = c("double", "single"), checkpoint = NULL, checkpoint_every = 60,
                        progress = NULL, ...) {
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
  method <- check_choice(method, "method", c("gibbs", "mean_for_mode"))
  groups <- check_document_groups(groups, counts$documents)
  prevalence <- check_prevalence(prevalence, data, counts, groups, method, alpha)
  if (nlevels(groups) > most_expected_groups) {
    message(sprintf("there are %s of documents, each with an alpha of its own: for a covariate with many values, %s",
      count_words(nlevels(groups), "group"), "such as a date, see topic_effects()"))
  }
  alpha <- if (is.null(prevalence)) check_alpha(alpha, topics, groups) else prevalence_start(prevalence, topics)
  check_mixture(alpha, groups, method)
  beta <- check_beta(beta, topics, counts$terms)
  seed_words <- check_seed_words(seed_words, topics, counts)
  if (!is.null(seed_weight)) seed_weight <- check_number(seed_weight, "seed_weight", 0, 1e6)
  prior <- c(check_gamma(alpha_prior, "alpha_prior"), check_gamma(beta_prior, "beta_prior"))
  start <- check_topic_start(start)
  sweeps <- check_topic_sweeps(iter, warmup, thin, chains, keep, counts, topics)
  precision <- check_precision(precision)
  progress <- check_progress(progress)
  checkpoint <- check_checkpoint(checkpoint, checkpoint_every)
  run <- resolve_run(backend, threads,
    cost = topic_cost(counts$size[[1L]], length(counts$count), topics, sweeps$iter * sweeps$chains))
  seed <- check_seed(seed)

  fit <- structure(list(
    draws = NULL, topics = topics, chains = sweeps$chains, iter = 0, warmup = sweeps$warmup, thin = sweeps$thin,
    keep = sweeps$keep, seed = seed, method = method, start = start,
    learn = list(alpha = alpha$learn, beta = beta$learn), prior = prior, backend = run$backend,
    precision = precision, threads = run$threads, documents = counts$documents, terms = counts$terms,
    document_tokens = document_sizes(counts), groups = groups, prevalence = prevalence, seed_words = seed_words,
    x = counts, elapsed = c(start = 0, sweeps = 0), interrupted = FALSE, call = match.call(),
    default_warmup = missing(warmup), seeds_alone = !is.null(seed_words) && is.null(beta$prior_counts)
  ), class = c("topic_model", "warpbayes_fit", "warpbayes"))
  fit$topic_names <- seed_names(seed_words, topics)
  if (!is.null(seed_words)) {
    fit$seed_weight <- if (is.null(seed_weight)) choose_seed_weights(fit, run) else seed_weight
  }
  fit$prior_counts <- add_prior(beta$prior_counts, seed_prior(seed_words, fit$seed_weight, topics, counts))
  check_store_memory(topic_sampler(fit), fit, sweeps$iter)
  fit <- start_chains(fit, topic_start(fit, alpha$start, beta$start, run))
  fit <- advance_chains(fit, sweeps$iter, topic_sampler, run, progress, threads, checkpoint)
  warn_of_lost_seeds(fit)
  fit
}

# The arguments about sweeps that topic_model() and add_documents() share.
check_topic_sweeps <- function(iter, warmup, thin, chains, keep, counts, topics) {
  iter <- check_count(iter, "iter")
  warmup <- check_warmup(warmup, iter)
  thin <- check_thin(thin, iter, warmup)
  keep <- check_topic_keep(keep)
  size <- c(theta = counts$size[[1L]], phi = counts$size[[2L]])
  values <- topics * sum(size[keep]) * (iter - warmup) / thin
  chains <- check_chains(chains, topic_cost(counts$size[[1L]], length(counts$count), topics, 1), values)
  list(iter = iter, warmup = warmup, thin = thin, chains = chains, keep = keep)
}

#' @rdname continue
#' @export
continue.topic_model <- function(fit, more, backend = NULL, threads = NULL, checkpoint = NULL, checkpoint_every = 60,
                                 progress = NULL, warmup = NULL, ...) {
  check_dots_empty(...)
  if (!inherits(fit$x, "count_matrix") || !identical(fit$x$size, c(length(fit$documents), length(fit$terms)))) {
    stop_input("fit", "has lost its counts, `fit$x`, or has other counts than were fitted: more sweeps need them")
  }
  check_topic_state(fit)
  fit <- average_anew(fit, check_count(more, "more"), warmup)
  checkpoint <- check_checkpoint(checkpoint, checkpoint_every)
  continue_chains(fit, more, topic_sampler, backend, threads, progress, checkpoint)
}

# The fit with a longer warm-up, whose sums and draws are dropped. Sums hold all kept sweeps together, so a warm-up that
# ends among them is refused. By default the warm-up is as it was, or, if it was not given, the sweeps so far, if at
# least as many follow.
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
    dims <- dim(values)
    kept <- length(dims) - 1L
    array(values[0L], replace(dims, kept, 0L), dimnames(values))
  })
  fit$state <- lapply(fit$state, function(state) {
    state[c("sums", "pending")] <- list(NULL)
    state[c("kept", "added")] <- 0
    state
  })
  fit
}

# Checks the parts of the chains' states that R code reads. The entries check the other parts.
check_topic_state <- function(fit) {
  refuse <- function(part, ...) {
    stop_input("fit", "has a part `", part, "` that is not ", ..., ": it has been changed since it was made")
  }
  is_count <- function(value, most) {
    is.numeric(value) && length(value) == 1L && !is.na(value) && value >= 0 && value <= most && value == floor(value)
  }
  for (part in c("topics", "iter")) {
    if (!is_count(fit[[part]], 2^31)) refuse(part, "a whole number, but ", show_value(fit[[part]]))
  }
  check_structure_parts(fit, refuse)
  if (!is.list(fit$state)) refuse("state", "a list with one state for each chain")
  size <- fit$topics * c(theta = length(fit$documents), phi = length(fit$terms))
  for (chain in seq_along(fit$state)) {
    state <- fit$state[[chain]]
    name <- paste0("state[[", chain, "]]")
    if (!is.list(state)) refuse(name, "a list")
    if (!is_count(state$kept, fit$iter)) {
      refuse(paste0(name, "$kept"), "the number of draws kept so far, but ", show_value(state$kept))
    }
    if (!is.null(state$pending) && !is.list(state$pending)) refuse(paste0(name, "$pending"), "a list")
    if (!is.null(fit$prevalence) && !is_number_matrix(state$coefficients, ncol(fit$prevalence$basis), fit$topics)) {
      refuse(paste0(name, "$coefficients"), "a matrix with a column for each topic")
    }
    if (is.null(state$sums)) next
    if (!is.list(state$sums)) {
      refuse(paste0(name, "$sums"), "a list of theta, phi and added, but ", show_value(state$sums))
    }
    for (part in names(size)) {
      sum <- state$sums[[part]]
      if (!is.double(sum) || length(sum) != size[[part]]) {
        refuse(paste0(name, "$sums$", part), "a vector of ", format(size[[part]], big.mark = ","), " numbers, but ",
          show_value(sum)
        )
      }
    }
    if (!is_count(state$sums$added, state$kept)) {
      refuse(paste0(name, "$sums$added"), "the number of draws in the sums, but ", show_value(state$sums$added))
    }
  }
}

# Above so many groups, what was meant is probably a covariate.
most_expected_groups <- 50

# With a larger alpha or beta, a count would no longer change their sum.
most_prior <- 1e15

# How alpha is learned, in the order of wb_topic_alpha.
alpha_kinds <- c("none", "symmetric", "asymmetric", "hdp", "mixture")

# `start` has the alphas of one group after the other.
check_alpha <- function(alpha, topics, groups = NULL) {
  learned <- setdiff(alpha_kinds, "none")
  several <- max(1L, nlevels(groups))
  if (is.character(alpha) && length(alpha) == 1L && alpha %in% learned) {
    if (alpha == "hdp" && several > 1L) stop_input("alpha", "is \"hdp\", which has no `groups`: use \"asymmetric\"")
    return(list(learn = alpha, start = rep(min(1, 5 / topics), topics * several)))
  }
  if (is.matrix(alpha) && is.numeric(alpha) && !is.null(groups)) {
    return(list(learn = "none", start = check_group_alpha(alpha, topics, groups)))
  }
  usable <- is.numeric(alpha) && length(alpha) %in% c(1, topics) && all(is.finite(alpha)) &&
    all(alpha > 0 & alpha <= most_prior)
  if (!usable) {
    shown <- if (is.numeric(alpha) && length(alpha) %in% c(1, topics)) {
      at <- which(!is.finite(alpha) | alpha <= 0 | alpha > most_prior)[[1L]]
      paste(format(alpha[[at]]), if (length(alpha) > 1L) sprintf("for topic %d", at))
    } else {
      show_value(alpha)
    }
    stop_input("alpha",
      sprintf("must be one positive number, %d of them, \"symmetric\", \"asymmetric\", \"hdp\" or \"mixture\", not ",
        topics),
      trimws(shown)
    )
  }
  list(learn = "none", start = rep(rep(as.double(alpha), length.out = topics), several))
}

check_gamma <- function(prior, argument) {
  if (!is.numeric(prior) || length(prior) != 2L || !all(is.finite(prior)) || any(prior <= 0)) {
    stop_input(argument, "must be two positive numbers, shape and rate, not ", show_value(prior))
  }
  if (all(c("shape", "rate") %in% names(prior))) prior <- prior[c("shape", "rate")]
  as.double(prior)
}

check_topic_keep <- function(keep) {
  choices <- c("phi", "theta")
  if (is.null(keep)) return(character())
  if (!is.character(keep) || !all(keep %in% choices)) {
    wrong <- if (is.character(keep)) dQuote(setdiff(keep, choices)[[1L]], FALSE) else show_value(keep)
    stop_input("keep", "must be some of ", paste(dQuote(choices, FALSE), collapse = ", "), ", not ", wrong)
  }
  choices[choices %in% keep]
}

# The sampler ---------------------------------------------------------------------

open_topics <- function(counts, topics, precision, run, structure = NULL) {
  native(
    C_topic_open, counts$p, counts$i, counts$count, counts$size[[1L]], as.integer(topics),
    as.integer(precision == "single"), structure, run
  )
}

# `mean` is the alpha of documents of no group; NULL for the mean over groups.
topic_start <- function(fit, alpha, beta, run, mean = NULL) {
  function(key) {
    if (fit$learn$alpha == "hdp" && merges_topics(fit, alpha) && is.null(fit$prior_counts)) {
      number <- process_start_number(fit, key, run)
      # The other topics are empty.
      alpha[] <- ifelse(seq_len(fit$topics) <= number, min(1, 5 / number), 1e-3)
      fit$topics <- number
      return(list(topics = merged_topic_start(fit, key, run), alpha = alpha, beta = beta, common = NULL, sums = NULL,
        kept = 0, added = 0))
    }
    merged <- if (merges_topics(fit, alpha)) merged_topic_start(fit, key, run)
    topics <- if (!is.null(merged) && is.null(fit$prior_counts)) {
      merged
    } else {
      with_topics(fit, run, fit_structure(fit), function(session) {
        known <- !is.null(merged)
        first <- if (known) numbered_by_seeds(fit, merged) else native(C_topic_start, session, key)
        if (is.null(fit$prior_counts)) first else informed_start(session, fit, key, first, alpha, beta, known)
      })
    }
    # The means of alpha over groups, and their likeness.
    if (is.null(mean)) mean <- rowMeans(matrix(alpha, fit$topics))
    common <- if (nlevels(sampler_groups(fit)) > 1L) c(mean, 4)
    state <- list(topics = topics, alpha = alpha, beta = beta, common = common, sums = NULL, kept = 0, added = 0)
    if (fit$learn$alpha == "mixture") state$alpha <- rep(unigram_alpha / fit$topics, fit$topics)
    if (!is.null(fit$prevalence)) state$coefficients <- first_coefficients(fit$prevalence, mean)
    state
  }
}

topic_plan <- function(fit) {
  k <- fit$topics
  several <- nlevels(fit$groups) > 1L && fit$learn$alpha != "none"
  parts <- list(
    group_alpha = if (several) stored(c(k, nlevels(fit$groups)), names = list(NULL, levels(fit$groups))),
    likeness = if (several) stored(),
    alpha = if (fit$learn$alpha != "none") stored(k),
    tokens = if (fit$learn$alpha == "hdp") stored(k),
    effects = if (!is.null(fit$prevalence)) {
      stored(c(ncol(fit$prevalence$x), k), names = list(colnames(fit$prevalence$x), NULL))
    },
    coefficients = if (!is.null(fit$prevalence)) stored(c(ncol(fit$prevalence$basis), k)),
    # beta is always stored, because sweeps are averaged only if there are draws to keep.
    beta = stored(),
    phi = if ("phi" %in% fit$keep) stored(c(k, length(fit$terms)), names = list(NULL, fit$terms)),
    theta = if ("theta" %in% fit$keep) stored(c(k, length(fit$documents)), names = list(NULL, fit$documents))
  )
  list(
    traces = list(log_likelihood = stored(), alpha_sum = stored(), beta_trace = stored()),
    draws = parts[!vapply(parts, is.null, NA)]
  )
}

topic_sampler <- function(fit) {
  k <- fit$topics
  c(topic_plan(fit), list(
    # The sums of theta and phi, and each token's topic.
    state_bytes = 8 * as.double(k) * (length(fit$documents) + length(fit$terms)) + 2 * sum(fit$document_tokens),
    open = function(run) open_topics(fit$x, k, fit$precision, run, fit_structure(fit)),
    close = function(session) .Call(C_topic_close, session),
    step = topic_step(fit),
    together = TRUE,
    several = topic_kept_together(fit),
    finish = topic_finish
  ))
}

# A slice holds what it keeps until it ends, and the topics of its kept sweeps until the next one. So they may take so
# many bytes, unless one draw takes more.
topic_slice_bytes <- 4e6

topic_kept_together <- function(fit) {
  size <- c(theta = length(fit$documents), phi = length(fit$terms))
  bytes <- 2 * sum(fit$document_tokens) +
    8 * fit$topics * (sum(size[fit$keep]) + max(1, nlevels(sampler_groups(fit))) + 1)
  max(1, floor(topic_slice_bytes / bytes))
}

# The sums of a chain are in a store that entries add to. Each run has a store of its own, in an environment of the
# state, so the fit that it continues keeps its sums. Kept sweeps are added lazily: when the chain goes on, or at the
# end. Until then their topics, alpha and beta are the state's `pending`. `added` prevents double counting after a
# rollback.
topic_step <- function(fit) {
  # Given covariates, alpha is not learned by the sweeps.
  method <- as.integer(c(
    fit$method == "mean_for_mode", match(fit$learn$alpha, alpha_kinds, nomatch = 1L) - 1L, fit$learn$beta
  ))
  want <- c("theta", "phi") %in% c(fit$keep, if (!is.null(fit$prevalence)) "theta")
  grouped <- nlevels(sampler_groups(fit)) > 1L
  step <- function(sessions, states, sweeps, keep) {
    states <- add_pending(sessions, fit, states)
    numbers <- c(sweeps, kept_in_slice(fit, states, sweeps))
    count <- numbers[[4L]]
    slices <- native(C_topic_sweeps, Map(function(session, state) {
      list(session, state$topics, state$alpha, state$beta, state$common, state$key, state$sweep + 1,
        as.integer(numbers), method, fit$prior, want)
    }, sessions, states))
    # Averaged are means given the topics, alpha and beta at the end of a sweep. The alpha and beta that the topics were
    # drawn with would do as well: both have the same law.
    last <- c("topics", "alpha", "beta", if (grouped) "common")
    Map(function(state, slice) {
      state[last] <- slice[last]
      kept <- slice$kept
      # Added to the sums when the chain goes on.
      state$pending <- if (keep) kept[c("topics", "alpha", "beta")]
      state$kept <- state$kept + count
      draw <- kept[c("alpha", "beta", "phi", "theta")]
      if (fit$learn$alpha == "mixture") {
        draw$alpha <- draw$alpha / unigram_alpha
        slice$alpha_sum[] <- 1
      }
      if (grouped && keep) {
        common <- matrix(kept$common, ncol = count)
        draw$group_alpha <- kept$alpha
        draw$alpha <- as.double(common[seq_len(fit$topics), ])
        draw$likeness <- common[fit$topics + 1, ]
      }
      if (fit$learn$alpha == "hdp" && keep) {
        topics <- matrix(kept$topics, ncol = count)
        draw$tokens <- as.double(vapply(seq_len(count), function(i) topic_sizes(topics[, i], fit$topics),
          numeric(fit$topics)))
      }
      list(state = state, traces = slice[c("log_likelihood", "alpha_sum", "beta_trace")], draw = if (keep) draw)
    }, states, slices)
  }
  if (is.null(fit$prevalence)) step else prevalence_step(fit, step)
}

# Several sessions add at the same time.
add_pending <- function(sessions, fit, states) {
  states <- lapply(states, with_open_sums, fit)
  due <- which(vapply(states, function(state) state$sums$added < state$kept, NA))
  if (length(due)) {
    native(C_topic_add_means, Map(function(session, state) {
      # Checkpoints of earlier versions have one pending sweep, the last one.
      pending <- if (is.null(state$pending)) state else state$pending
      list(session, pending$topics, pending$alpha, pending$beta, state$sums$store)
    }, sessions[due], states[due]))
  }
  lapply(states, function(state) {
    state$sums$added <- state$kept
    state$pending <- NULL
    state
  })
}

with_open_sums <- function(state, fit) {
  if (is.environment(state$sums)) return(state)
  old <- state$sums
  state$sums <- new.env(parent = emptyenv())
  size <- fit$topics * c(length(fit$documents), length(fit$terms))
  state$sums$store <- new_sums(theta = size[[1L]], phi = size[[2L]])
  state$sums$added <- 0
  if (!is.null(old)) {
    fill_store(list(pointer = state$sums$store), 0, size, old[c("theta", "phi")], size, size)
    state$sums$added <- old$added
  }
  state
}

# Sums that start at 0, of so many numbers each: a store that C_topic_add_means adds to.
new_sums <- function(...) {
  size <- list(...)
  native(C_store_open, lapply(size, function(length) 0), size, lapply(size, function(length) NULL))
}

# Adds to the fit its averages, its reference chain and the sizes of its topics.
topic_finish <- function(fit) {
  session <- open_topics(fit$x, fit$topics, fit$precision, resolve_run("cpu", 1), fit_structure(fit))
  on.exit(.Call(C_topic_close, session))
  fit$state <- lapply(fit$state, function(state) {
    state <- add_pending(list(session), fit, list(state))[[1L]]
    state$sums <- c(native(C_store_close, state$sums$store), added = state$sums$added)
    state
  })
  after <- seq_len(fit$iter) > fit$warmup
  mean_likelihood <- colMeans(fit$log_likelihood[if (any(after)) after else TRUE, , drop = FALSE])
  fit$reference <- if (fit$chains == 1) 1L else which.max(mean_likelihood)
  sums <- lapply(fit$state, function(state) sums_to_average(session, state))
  # The session may hold more than the averages need.
  .Call(C_topic_close, session)
  averages <- lapply(sums, topic_averages, fit = fit)
  reference <- averages[[fit$reference]]
  fit$phi <- reference$phi
  fit$theta <- reference$theta
  state <- fit$state[[fit$reference]]
  drawn <- fit$learn$alpha != "none" && length(fit$draws$alpha)
  fit$alpha <- if (drawn) {
    rowMeans(matrix(fit$draws$alpha[, , fit$reference], fit$topics))
  } else if (!is.null(state$common)) {
    state$common[seq_len(fit$topics)]
  } else {
    state$alpha
  }
  if (nlevels(fit$groups) > 1L) {
    own <- if (drawn) rowMeans(matrix(fit$draws$group_alpha[, , , fit$reference], length(state$alpha))) else state$alpha
    names <- list(levels(fit$groups), fit$topic_names)
    fit$group_alpha <- matrix(own, ncol = fit$topics, byrow = TRUE, dimnames = names)
  }
  fit$beta <- if (fit$learn$beta && length(fit$draws$beta)) {
    mean(fit$draws$beta[, fit$reference])
  } else {
    fit$state[[fit$reference]]$beta
  }
  fit$chain_phi <- if (fit$chains > 1) lapply(averages, `[[`, "phi")
  fit$tokens <- matrix(unlist(lapply(fit$state, function(state) topic_sizes(state$topics, fit$topics))), fit$topics)
  # What relabel() added is of fewer sweeps.
  fit[c("agreement", "match", "distance", "shared", "stable", "averaged")] <- NULL
  if (fit$chains > 1) fit$agreement <- agreement_of(fit, most_matched)
  fit
}

# The sums of one chain, and of how many sweeps they are. Before its first kept sweep these are the means given its
# present topics.
sums_to_average <- function(session, state) {
  sums <- state$sums
  if (sums$added > 0) return(sums)
  means <- new_sums(theta = length(sums$theta), phi = length(sums$phi))
  native(C_topic_add_means, list(list(session, state$topics, state$alpha, state$beta, means)))
  c(native(C_store_close, means), added = 1)
}

topic_averages <- function(sums, fit) {
  # Not by matrix(), which copies.
  mean_of <- function(sum, names) {
    mean <- sum / sums$added
    dim(mean) <- c(fit$topics, length(names))
    dimnames(mean) <- list(fit$topic_names, names)
    mean
  }
  list(phi = mean_of(sums$phi, fit$terms), theta = t(mean_of(sums$theta, fit$documents)))
}

# The number of tokens of each topic. `topics` has two bytes for each token.
topic_sizes <- function(topics, count) {
  tabulate(readBin(topics, "integer", length(topics) / 2, size = 2L, signed = FALSE) + 1L, count)
}
