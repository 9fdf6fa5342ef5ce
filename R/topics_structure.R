# Priors of topic models that differ between terms, topics or groups of documents.

#' Seed words, priors of terms, and groups of documents in topic models
#'
#' [topic_model()] can be told what is known beforehand: words that belong to a topic (`seed_words`), how probable each
#' term is (`beta`), and which documents are of one author or time (`groups`).
#'
#' @section Seed words:
#' `seed_words = list(sport = c("goal", "match"), money = c("price", "market"))` makes topic 1 the topic `sport` and
#' topic 2 the topic `money`. Topics beyond the list have no seed words and are named `other1`, `other2`, and so on. A
#' list without names gives topics without names. A dictionary of package quanteda serves too.
#'
#' A word with `*` or `?` stands for all terms that match it, such as `econom*`, unless it is a term itself. Words that
#' no document has are left out with a message that lists them. A topic without any other word is an error.
#'
#' Let \eqn{n_w} be the number of tokens of term \eqn{w}. A seed word adds `seed_weight` \eqn{n_w}{n_w} prior counts of
#' \eqn{w} to its topic: the prior of \eqn{\phi_k} is Dirichlet with \eqn{\beta + c_{kw}}, where \eqn{c_{kw}} are the
#' prior counts. A word may be a seed word of several topics. The prior only favours the words: the data can still give
#' them to another topic. The prior counts make the seed words larger in `phi`: by about a tenth with
#' `seed_weight = 0.1`, and to twice their size with `seed_weight = 1`.
#'
#' By default each list has a weight of its own: the least of 0.1, 0.3 and 0.9 with which at least four fifths
#' of the tokens of its words stay in its topic, as short trial sweeps tell. So the prior depends on the data, and the
#' fit has the weights as `seed_weight`. If the words of a list go with the words of another list in the documents, even
#' the largest weight may not hold them. Larger ones would give a topic of seed words and nothing else: choose other
#' words.
#'
#' With `start = "merged"` a chain begins with merged topics, of which each list of seed words takes the one that has
#' most of its tokens. Then the tokens of seed words go to the topics of these words. The printed fit says how many
#' tokens the seed words cover, and for each list the share of these tokens that stay in their topics. A share below one
#' half gives a warning: such a topic has another subject than its name.
#'
#' @section Priors of terms:
#' `beta` may be a vector with a number for each term, or a matrix of topics x terms, all positive. Names of the vector,
#' or column names of the matrix, are matched with the terms if there are any. This prior is used as given: nothing of
#' it is learned. In the fit, `beta` is its least value, and `prior_counts` has what is above it.
#'
#' With seed words `beta = "learn"` learns the one number \eqn{\beta} that is common to all terms and topics. The
#' prior counts \eqn{c_{kw}} stay fixed.
#'
#' @section Groups of documents:
#' With `groups`, a factor with a value for each document, each group \eqn{g} has its own \eqn{\alpha_g}. Names of
#' `groups` are matched with the documents if there are any. `alpha` may then be a matrix of groups x topics. Otherwise
#' given numbers are the same in all groups.
#'
#' If `alpha` is learned, the groups share a prior:
#' \deqn{\alpha_{gk} \sim \mathrm{Ga}(c, c / m_k), \quad m_k \sim \mathrm{Ga}(shape, rate)}{alpha_gk ~ Ga(c, c / m_k),
#' m_k ~ Ga(shape, rate)}
#' with the mean \eqn{m_k} and the standard deviation \eqn{m_k / \sqrt{c}}{m_k / sqrt(c)}. `alpha_prior` has shape and
#' rate. The likeness \eqn{c} of the groups is 1, 2, 4, 8, 16, 32 or 64, equally probable a priori. A group of few
#' documents stays near \eqn{m}. With `"symmetric"` all topics of a group have one \eqn{\alpha_g}, and there is one
#' \eqn{m}. A single group is the same as none.
#'
#' The fit has `group_alpha`, the average \eqn{\alpha_g} (groups x topics), and `groups`. Its `alpha` is the average of
#' \eqn{m}, or the mean of the groups if `alpha` was given. `alpha_sum` is its sum after each sweep. `draws` also has
#' `group_alpha` (topics x groups x draws x chains) and `likeness` (draws x chains) if \eqn{\alpha} was learned.
#' `summary()` shows the mean of `theta` in each group, weighted by the documents' tokens; [topic_effects()] has the
#' mean over documents with intervals.
#'
#' [predict()][predict.topic_model()] takes `groups` of the new documents. A document of an unknown group, or of none
#' (`NA`), has the prior mean `alpha`.
#'
#' @section Covariates of documents:
#' With `prevalence`, such as `~ party + s(day)`, the prior of the topics of a document depends on its covariates
#' \eqn{x_d}: \eqn{\theta_d \sim \mathrm{Dir}(\alpha_d)}{theta_d ~ Dir(alpha_d)} with \eqn{\log \alpha_{dk} = x_d'
#' \lambda_k}{log alpha_dk = x_d' lambda_k} (Mimno and McCallum 2008). [topic_effects()] then tells how the shares of
#' topics depend on the covariates, with intervals, from the draws of the fit; its help page has the priors. `predict()`
#' and [perplexity()] take `data` of new documents. A factor of groups is `prevalence = ~ group`, so `groups` cannot be
#' given too, nor `alpha` or `method`.
#'
#' `s(day)` is a natural cubic spline with `k = 5` knots at quantiles of the values that differ, and has `k - 1`
#' columns; `s(day, k = 8)` bends more often. A document with missing covariates has the mean of the covariates, and
#' does not count for the coefficients.
#'
#' The `draws` have `effects`, the coefficients of [topic_effects()] (coefficients x topics x draws x chains), and
#' `coefficients`, \eqn{\lambda} of the scaled covariates. `alpha` and `alpha_sum` belong to a document with the mean of
#' the covariates. The coefficients are drawn before every other sweep, by one thread. On the Associated Press's 2,246
#' articles with 20 topics a sweep on one thread took 2.7 times as long.
#'
#' @section One topic a document:
#' With `alpha = "mixture"` all tokens of a document have one topic, which is \eqn{k} with probability \eqn{\pi_k}, and
#' \eqn{\pi \sim \mathrm{Dir}(1, \dots, 1)}{pi ~ Dir(1, ..., 1)}: a mixture of unigrams (Nigam and others 2000). A text
#' of under ten words hardly shows more than one topic. `theta` is the probability of each topic, and `alpha` the
#' average of \eqn{\pi}.
#'
#' @references
#' Jagarlamudi, J., Daume III, H. and Udupa, R. (2012). Incorporating lexical priors into topic models. *Proceedings of
#' EACL*, 204-213.
#'
#' Mimno, D. and McCallum, A. (2008). Topic models conditioned on arbitrary features with Dirichlet-multinomial
#' regression. *Proceedings of UAI*, 411-418.
#'
#' Nigam, K., McCallum, A., Thrun, S. and Mitchell, T. (2000). Text classification from labeled and unlabeled documents
#' using EM. *Machine Learning* **39**, 103-134.
#'
#' Watanabe, K. and Baturo, A. (2024). Seeded sequential LDA: a semi-supervised algorithm for topic-specific analysis of
#' sentences. *Social Science Computer Review* **42**, 224-248.
#' @seealso [topic_model()]
#' @examples
#' set.seed(1)
#' words <- c("ball", "goal", "team", "market", "price", "trade", "win")
#' subject <- rbind(c(3, 3, 3, 0, 0, 0, 1), c(0, 0, 0, 3, 3, 3, 1))
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, subject[1 + d %% 2, ])))
#' colnames(x) <- words
#' fit <- topic_model(x, topics = 2, seed_words = list(money = "price", sport = c("goal", "team")),
#'   groups = rep(c("even", "odd"), each = 20), iter = 60, seed = 1, threads = 2)
#' summary(fit)
#' @name topic_model_structure
NULL

# What differs between documents and terms, for C_topic_open; NULL if nothing does. `prior_counts` has topics in rows,
# and columns for the terms that have prior counts of their own.
topic_structure <- function(groups, prior_counts, terms) {
  several <- nlevels(groups) > 1L
  if (!several && is.null(prior_counts)) return(NULL)
  own <- if (!is.null(prior_counts)) match(terms, colnames(prior_counts), nomatch = 0L) - 1L
  list(if (several) as.integer(groups) - 1L, max(1L, nlevels(groups)), own,
    if (!is.null(prior_counts)) as.vector(prior_counts))
}

fit_structure <- function(fit) topic_structure(sampler_groups(fit), fit$prior_counts, fit$terms)

# The groups of documents with the same alpha.
sampler_groups <- function(fit) if (is.null(fit$prevalence)) fit$groups else fit$prevalence$group

# A factor with the group of each document, or NULL. If `known` is given, other values become NA, and NA is allowed.
check_document_groups <- function(groups, documents, known = NULL, argument = "groups") {
  if (is.null(groups)) return(NULL)
  groups <- without_integer64(groups)
  usable <- is.factor(groups) || is.character(groups) || is.numeric(groups) || is.logical(groups) ||
    inherits(groups, "Date")
  if (!usable || !is.null(dim(groups))) {
    stop_input(argument, "must be a factor with a value for each document, not ", show_value(groups))
  }
  if (!is.null(names(groups)) && all(documents %in% names(groups))) groups <- groups[match(documents, names(groups))]
  if (length(groups) != length(documents)) {
    more <- if (length(groups) > length(documents)) ": documents without words need a row of `x` too"
    stop_input(argument, sprintf("has %s, but there are %s", count_words(length(groups), "value"),
      count_words(length(documents), "document")), more)
  }
  if (is.null(known)) {
    # NA may be a level, which factor() leaves out.
    groups <- factor(groups)
    if (anyNA(groups)) {
      stop_input(argument, sprintf("has no value for %s, such as %s: give these documents a group, such as \"unknown\"",
        count_words(sum(is.na(groups)), "document"), show_value(documents[[which(is.na(groups))[[1L]]]])))
    }
    return(unname(droplevels(groups)))
  }
  factor(as.character(groups), known)
}

# Stops unless all numbers are positive and at most `most_prior`. `label(i)` says to what entry i belongs.
check_term_prior <- function(value, argument, label) {
  bad <- which(!is.finite(value) | value <= 0 | value > most_prior)
  if (length(bad)) {
    stop_input(argument, "must be positive numbers of at most 1e15, but is ", format(value[[bad[[1L]]]]), " for ",
      label(bad[[1L]]))
  }
}

# Where a learned beta starts.
first_beta <- 0.1

check_beta <- function(beta, topics, terms) {
  if (identical(beta, "learn")) return(list(learn = TRUE, start = first_beta))
  one <- length(beta) == 1L && !is.matrix(beta)
  bad_one <- one && is.numeric(beta) && !isTRUE(beta > 0 & beta <= most_prior)
  if (!is.numeric(beta) || !(is.matrix(beta) || length(beta) %in% c(1L, length(terms))) || bad_one) {
    stop_input("beta", sprintf(
      "must be one positive number, one for each of %d terms or a matrix of %d topics x %d terms, at most 1e15, ",
      length(terms), topics, length(terms)
    ), "or \"learn\", not ", show_value(beta))
  }
  if (one) return(list(learn = FALSE, start = as.double(beta)))
  if (!is.matrix(beta)) {
    beta <- matrix(rep(beta, each = topics), topics, dimnames = if (!is.null(names(beta))) list(NULL, names(beta)))
  }
  if (!identical(dim(beta), c(as.integer(topics), length(terms)))) {
    stop_input("beta", sprintf("must have %d topics x %d terms, but has %d x %d", topics, length(terms), nrow(beta),
      ncol(beta)))
  }
  if (!is.null(colnames(beta))) {
    if (anyDuplicated(colnames(beta)) || !all(terms %in% colnames(beta))) {
      stop_input("beta", "has names, but none or several for term ",
        show_value(c(setdiff(terms, colnames(beta)), colnames(beta)[duplicated(colnames(beta))])[[1L]]))
    }
    beta <- beta[, terms, drop = FALSE]
  }
  storage.mode(beta) <- "double"
  check_term_prior(beta, "beta", function(i) {
    sprintf("topic %d and term %s", (i - 1L) %% nrow(beta) + 1L, show_value(terms[[(i - 1L) %/% nrow(beta) + 1L]]))
  })
  least <- min(beta)
  list(learn = FALSE, start = as.double(least), prior_counts = pack_prior(beta - least, terms))
}

# The columns that are not 0, named by their terms; NULL if there are none.
pack_prior <- function(prior, terms) {
  dimnames(prior) <- list(NULL, terms)
  some <- colSums(prior) > 0
  if (any(some)) prior[, some, drop = FALSE]
}

# Adds two sets of prior counts. Either may be NULL.
add_prior <- function(one, two) {
  if (is.null(one) || is.null(two)) {
    return(if (is.null(one)) two else one)
  }
  more <- setdiff(colnames(two), colnames(one))
  one <- cbind(one, matrix(0, nrow(one), length(more), dimnames = list(NULL, more)))
  one[, colnames(two)] <- one[, colnames(two)] + two
  one
}

# The terms of each seeded topic, as a list named like `seed_words`; NULL if there are none.
check_seed_words <- function(seed_words, topics, counts) {
  if (is.null(seed_words)) return(NULL)
  if (isS4(seed_words) && methods::is(seed_words, "list")) {
    seed_words <- lapply(as.list(seed_words), function(words) as.character(unlist(words)))
  }
  if (!is.list(seed_words) || is.object(seed_words) || length(seed_words) == 0L ||
    !all(vapply(seed_words, is.character, NA))) {
    stop_input("seed_words",
      "must be a list with the words of each topic, such as list(sport = c(\"goal\", \"match\")), not ",
      show_value(seed_words))
  }
  if (length(seed_words) > topics) {
    stop_input("seed_words", sprintf("has words of %d topics, but the model has %s", length(seed_words),
      count_words(topics, "topic")))
  }
  name <- names(seed_words)
  if (!is.null(name) && (anyNA(name) || !all(nzchar(name)) || anyDuplicated(name))) {
    stop_input("seed_words", "must have a name of its own for each topic, or no names")
  }
  if (!counts$named[["terms"]]) stop_input("seed_words", "cannot be found: the terms of `x` have no names")
  present <- counts$terms[diff(counts$p) > 0]
  found <- lapply(seed_words, function(words) lapply(words, find_word, terms = present))
  empty <- which(lengths(seed_words) == 0L)
  if (length(empty)) stop_input("seed_words", sprintf("has no word for topic %d", empty[[1L]]))
  lost <- Map(function(words, terms) words[lengths(terms) == 0L], seed_words, found)
  nothing <- which(lengths(lost) == lengths(seed_words))
  if (length(nothing)) {
    stop_input("seed_words", sprintf("has no word that a document has for topic %s: ",
      if (is.null(name)) nothing[[1L]] else dQuote(name[[nothing[[1L]]]], FALSE)), list_some(lost[[nothing[[1L]]]]))
  }
  lost <- unique(unlist(lost, use.names = FALSE))
  if (length(lost)) {
    message(sprintf("no document has %s, which %s left out: ", count_words(length(lost), "seed word"),
      if (length(lost) == 1L) "is" else "are"), list_some(lost))
  }
  lapply(found, function(terms) unique(unlist(terms, use.names = FALSE)))
}

# The terms that a seed word stands for.
find_word <- function(word, terms) {
  if (is.na(word) || word %in% terms || !grepl("[*?]", word)) return(intersect(word, terms))
  grep(utils::glob2rx(word), terms, value = TRUE)
}

# `weight` is of each list, or of all of them.
seed_prior <- function(seed_words, weight, topics, counts) {
  if (is.null(seed_words)) return(NULL)
  weight <- rep_len(weight, length(seed_words))
  terms <- unique(unlist(seed_words, use.names = FALSE))
  size <- term_sizes(counts)[match(terms, counts$terms)]
  prior <- matrix(0, topics, length(terms), dimnames = list(NULL, terms))
  for (k in seq_along(seed_words)) {
    own <- terms %in% seed_words[[k]]
    prior[k, own] <- weight[[k]] * size[own]
  }
  prior
}

seed_names <- function(seed_words, topics) {
  name <- names(seed_words)
  if (is.null(name)) return(NULL)
  others <- topics - length(name)
  make.unique(c(name, if (others > 0) paste0("other", seq_len(others))))
}

seed_words_of <- function(fit) {
  if (is.null(fit$seed_words)) return(NULL)
  terms <- unique(unlist(fit$seed_words, use.names = FALSE))
  tokens <- sum(term_sizes(fit$x)[match(terms, fit$terms)])
  shares <- seed_shares(fit)
  c(
    sprintf("seed words: %s of %s, which are %s of %s tokens (%s%%)", count_words(length(terms), "term"),
      count_words(length(fit$seed_words), "topic"), whole_words(tokens), whole_words(fit$x$tokens),
      format(100 * tokens / fit$x$tokens, digits = 2)),
    paste0("seed tokens that stay in their topics: ", paste0(names(shares), " ", percent(shares, 0),
      if (length(fit$seed_weight) == length(shares)) paste0(" (weight ", format(fit$seed_weight, trim = TRUE), ")"),
      collapse = ", "))
  )
}

# The first topics of tokens if the prior knows something of the topics: one draw of theta and of the topics, with phi
# at its mean given that the tokens of each term are spread evenly over the topics, or have merged topics. The tokens of
# seed words are in the topics of these words alone, whatever their weight. A start without them can be far from a mode
# that has them. From this start they seldom leave: in other topics their words hardly have probability.
informed_start <- function(session, fit, key, topics, alpha, beta, merged = FALSE) {
  counts <- if (merged) count_topics(fit, topics) else even_counts(fit)
  for (term in unique(unlist(fit$seed_words, use.names = FALSE))) {
    has <- vapply(fit$seed_words, function(list) term %in% list, NA)
    column <- match(term, fit$terms)
    size <- sum(counts[, column])
    counts[, column] <- 0
    counts[which(has), column] <- size
  }
  own <- match(colnames(fit$prior_counts), fit$terms)
  phi <- beta + counts
  phi[, own] <- phi[, own] + fit$prior_counts
  native(C_topic_set_phi, session, phi / rowSums(phi))
  native(C_topic_infer, session, topics, alpha, key, 0, 1L, fit$method == "mean_for_mode")
}

# Weights that are tried, and the share of the tokens of a list that must stay in its topic in trial sweeps. It is a
# little more than the four fifths that `seed_weight` promises, because draws scatter more than the means of the trial.
tried_weights <- 0.1 * 3^(0:2)
tried_share <- 0.88
tried_sweeps <- 15L

# The weight of each list of seed words: the least of those tried that holds its tokens. Sweeps of mean-for-mode
# estimation go on from weights to weights, and only those of lists that lose tokens rise.
choose_seed_weights <- function(fit, run) {
  # Chains count from 1.
  key <- chain_key(fit$seed, 0)
  at <- rep(1L, length(fit$seed_words))
  topics <- if (fit$start == "merged" && fit$topics > 1) numbered_by_seeds(fit, merged_topic_start(fit, key, run))
  alpha <- rep(topic_start_prior, fit$topics)
  for (round in seq_along(tried_weights)) {
    fit$prior_counts <- seed_prior(fit$seed_words, tried_weights[at], fit$topics, fit$x)
    topics <- with_topics(fit, run, topic_structure(NULL, fit$prior_counts, fit$terms), function(session) {
      if (is.null(topics)) topics <- native(C_topic_start, session, key)
      if (round == 1L) topics <- informed_start(session, fit, key, topics, alpha, topic_start_prior)
      native(C_topic_sweep, session, topics, alpha, topic_start_prior, NULL, key,
        topic_start_iteration + 1000 * round, tried_sweeps, c(1L, 0L, 0L), rep(1, 4), c(FALSE, FALSE))$topics
    })
    weak <- seed_shares(fit, topics) < tried_share
    if (!any(weak)) break
    at[weak] <- pmin(at[weak] + 1L, length(tried_weights))
  }
  tried_weights[at]
}

with_topics <- function(fit, run, structure, code) {
  session <- open_topics(fit$x, fit$topics, fit$precision, run, structure)
  on.exit(.Call(C_topic_close, session))
  code(session)
}

# The tokens of each term, spread evenly over the topics.
even_counts <- function(fit) matrix(rep(term_sizes(fit$x) / fit$topics, each = fit$topics), fit$topics)

# Merged topics, numbered so that each list of seed words has the topic with the largest share of its tokens.
numbered_by_seeds <- function(fit, topics) {
  counts <- count_topics(fit, topics)
  share <- matrix(0, fit$topics, fit$topics)
  for (k in seq_along(fit$seed_words)) {
    own <- rowSums(counts[, match(fit$seed_words[[k]], fit$terms), drop = FALSE])
    share[k, ] <- own / sum(own)
  }
  order <- solve_assignment(-share)
  numbers <- match(topic_numbers(topics), order) - 1L
  writeBin(numbers, raw(), size = 2L)
}

# The share of the tokens of each list of seed words that have a topic of their word after the last sweep.
seed_shares <- function(fit, topics = NULL) {
  words <- fit$seed_words
  terms <- unique(unlist(words, use.names = FALSE))
  counts <- if (is.null(topics)) topic_counts(fit) else count_topics(fit, topics)
  counts <- counts[, match(terms, fit$terms), drop = FALSE]
  own <- matrix(FALSE, fit$topics, length(terms))
  for (k in seq_along(words)) own[k, ] <- terms %in% words[[k]]
  kept <- colSums(counts * own)
  size <- colSums(counts)
  shares <- vapply(words, function(list) sum(kept[terms %in% list]) / sum(size[terms %in% list]), 0)
  stats::setNames(shares, topic_labels(fit, seq_along(words)))
}

# Warns of seed words that lead their topic only in name.
warn_of_lost_seeds <- function(fit) {
  if (is.null(fit$seed_words)) return(invisible())
  shares <- seed_shares(fit)
  weak <- which(shares < 0.5)
  if (length(weak)) {
    warning(sprintf("%s less than half of %s seed tokens: %s. The data give their words to other topics; a larger ",
      if (length(weak) == 1L) "one topic keeps" else sprintf("%d topics keep", length(weak)),
      if (length(weak) == 1L) "its" else "their",
      paste0(names(shares)[weak], " (", percent(shares[weak], 0), ")", collapse = ", ")),
      "`seed_weight` or other words hold more", call. = FALSE)
  }
}

# Group by group the mean of theta, weighted by the documents' tokens; groups without tokens have NaN.
group_theta <- function(fit) {
  if (is.null(fit$groups)) return(NULL)
  weight <- fit$document_tokens
  means <- rowsum(fit$theta * weight, fit$groups) / as.vector(rowsum(weight, fit$groups))
  colnames(means) <- topic_labels(fit, seq_len(fit$topics))
  means
}

# Given alphas of groups, groups x topics, as the alphas of one group after the other.
check_group_alpha <- function(alpha, topics, groups) {
  known <- levels(groups)
  if (!identical(dim(alpha), c(length(known), as.integer(topics)))) {
    stop_input("alpha", sprintf("must have %d groups x %d topics, but has %d x %d", length(known), topics, nrow(alpha),
      ncol(alpha)))
  }
  if (!is.null(rownames(alpha))) {
    if (!setequal(rownames(alpha), known)) {
      stop_input("alpha", "has rows named ", list_some(rownames(alpha)), ", but the groups are ", list_some(known))
    }
    alpha <- alpha[known, , drop = FALSE]
  }
  check_term_prior(alpha, "alpha", function(i) {
    sprintf("group %s and topic %d", show_value(known[[(i - 1L) %% nrow(alpha) + 1L]]), (i - 1L) %/% nrow(alpha) + 1L)
  })
  as.double(t(alpha))
}

# Checks the parts of a fit that topic_structure() reads. refuse(part, ...) stops.
check_structure_parts <- function(fit, refuse) {
  if (!is.null(fit$groups) && (!is.factor(fit$groups) || length(fit$groups) != length(fit$documents) ||
    anyNA(fit$groups))) {
    refuse("groups", "a factor with a value for each document, but ", show_value(fit$groups))
  }
  check_prevalence_parts(fit, refuse)
  prior <- fit$prior_counts
  if (!is.null(prior) && (!is.double(prior) || !is.matrix(prior) || nrow(prior) != fit$topics || ncol(prior) < 1L ||
    is.null(colnames(prior)) || anyDuplicated(colnames(prior)) || !all(colnames(prior) %in% fit$terms) ||
    !all(is.finite(prior) & prior >= 0))) {
    refuse("prior_counts", "a matrix of topics x terms with numbers from 0 on, but ", show_value(prior))
  }
}
