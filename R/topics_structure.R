# Priors of topic models that differ between terms and topics: seed words and prior counts.

#' Seed words and priors of terms in topic models
#'
#' [topic_model()] can be told words that belong to a topic (`seed_words`), how probable each term is (`beta`), and what
#' is known of the documents (`prevalence`, see [topic_effects()]).
#' @section Seed words:
#' `seed_words = list(sport = c("goal", "match"), money = c("price", "market"))` makes topic 1 the topic `sport` and
#' topic 2 the topic `money` (Jagarlamudi and others 2012, *EACL*, 204-213). Topics beyond the list are named `other1`,
#' `other2`, and so on. A word with `*` or `?` stands for all terms that match it.
#'
#' Let \eqn{n_w} be the number of tokens of term \eqn{w}. A seed word adds \eqn{s n_w}{s n_w} prior counts of \eqn{w} to
#' its topic, with a weight \eqn{s}: the prior of \eqn{\phi_k} is Dirichlet with \eqn{\beta + c_{kw}}, where
#' \eqn{c_{kw}} are the prior counts. The data can still give the words to another topic. By default each list has its
#' own weight: the least of 0.1, 0.3 and 0.9 with which at least four fifths of its tokens stay in its topic in short
#' trial sweeps. `seed_words = list(sport = "goal", weight = 0.5)` gives one weight to all lists. The fit has the
#' weights as `seed_weight`.
#' @section Priors of terms:
#' `beta` may be a vector with a number for each term, or a matrix of topics x terms, all positive, with names or column
#' names that are matched with the terms. In the fit, `beta` is its least value, and `prior_counts` has what is above
#' it. With seed words `beta = "learn"` learns the one number \eqn{\beta}; the prior counts \eqn{c_{kw}} stay fixed.
#' @section One topic a document:
#' With `alpha = "mixture"` all tokens of a document have one topic, which is \eqn{k} with probability \eqn{\pi_k}, and
#' \eqn{\pi \sim \mathrm{Dir}(1, \dots, 1)}{pi ~ Dir(1, ..., 1)}: a mixture of unigrams (Nigam and others 2000, *Machine
#' Learning* 39, 103-134), for texts of under ten words. `theta` is the probability of each topic, and `alpha` the
#' average of \eqn{\pi}.
#' @examples
#' set.seed(1)
#' words <- function(odd) if (odd) c(3, 3, 3, 0, 0, 0, 1) else c(0, 0, 0, 3, 3, 3, 1)
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, words(d %% 2))))
#' colnames(x) <- c("ball", "goal", "team", "market", "price", "trade", "win")
#' fit <- topic_model(x, topics = 2, seed_words = list(money = "price", sport = c("goal", "team")),
#'   iter = 60, seed = 1, threads = 2)
#' summary(fit)
#' @name topic_model_structure
NULL

first_beta <- 0.1

check_beta <- function(beta, topics, terms, labels) {
  given <- with_gamma(beta, "beta")
  beta <- given$value
  if (identical(beta, "learn")) return(list(learn = TRUE, start = first_beta, prior = given$prior))
  one <- length(beta) == 1L && !is.matrix(beta)
  bad_one <- one && is.numeric(beta) && !isTRUE(beta > 0 & beta <= most_prior)
  if (!is.numeric(beta) || !(is.matrix(beta) || length(beta) %in% c(1L, length(terms))) || bad_one) {
    stop_input("beta", sprintf("must be one positive number, one for each of %d terms or a matrix of %d topics x ",
      length(terms), topics), length(terms), " terms, at most 1e15, or \"learn\", not ", show_value(beta))
  }
  if (one) return(list(learn = FALSE, start = as.double(beta), prior = given$prior))
  if (!is.matrix(beta)) {
    beta <- matrix(rep(beta, each = topics), topics, dimnames = if (!is.null(names(beta))) list(NULL, names(beta)))
  }
  if (!identical(dim(beta), c(as.integer(topics), length(terms)))) {
    stop_input("beta", sprintf("must have %d topics x %d terms, but has %d x %d", topics, length(terms), nrow(beta),
      ncol(beta)))
  }
  beta <- by_dimnames(beta, list(labels, terms), "beta", c("topic", "term"))
  storage.mode(beta) <- "double"
  bad <- which(!is.finite(beta) | beta <= 0 | beta > most_prior, arr.ind = TRUE)
  if (length(bad)) {
    stop_input("beta", sprintf("must be positive numbers of at most 1e15, but is %s for topic %d and term %s",
      format(beta[bad[1L, , drop = FALSE]]), bad[[1L, 1L]], show_value(terms[[bad[[1L, 2L]]]])))
  }
  least <- min(beta)
  list(learn = FALSE, start = as.double(least), prior = given$prior, prior_counts = pack_prior(beta - least, terms))
}

pack_prior <- function(prior, terms) {
  dimnames(prior) <- list(NULL, terms)
  some <- colSums(prior) > 0
  if (any(some)) prior[, some, drop = FALSE]
}

add_prior <- function(one, two) {
  if (is.null(one)) return(two)
  if (is.null(two)) return(one)
  more <- setdiff(colnames(two), colnames(one))
  one <- cbind(one, matrix(0, nrow(one), length(more), dimnames = list(NULL, more)))
  one[, colnames(two)] <- one[, colnames(two)] + two
  one
}

# `words`: terms of each seeded topic, named like `seed_words`; `weight`, if given. NULL without seed words.
check_seed_words <- function(seed_words, topics, counts) {
  if (is.null(seed_words)) return(NULL)
  weight <- if (is.list(seed_words) && is.numeric(seed_words$weight)) seed_words$weight
  if (!is.null(weight)) {
    weight <- check_number(weight, "seed_words$weight", 0, 1e6)
    seed_words$weight <- NULL
  }
  if (isS4(seed_words) && methods::is(seed_words, "list")) {
    seed_words <- lapply(as.list(seed_words), function(words) as.character(unlist(words)))
  }
  refuse <- function(...) stop_input("seed_words", ...)
  is_list <- is.list(seed_words) && !is.object(seed_words) && length(seed_words) > 0L
  if (is_list) seed_words <- rapply(seed_words, as.character, "factor", how = "replace")
  other <- if (is_list) Filter(Negate(is.character), seed_words) else list(seed_words)
  if (length(other)) {
    refuse("must be a list with the words of each topic, such as list(sport = c(\"goal\", \"match\")), not ",
      if (is_list) "a list that has ", show_value(other[[1L]]))
  }
  if (length(seed_words) > topics) {
    refuse(sprintf("has words of %d topics, but the model has %s", length(seed_words), count_words(topics, "topic")))
  }
  name <- names(seed_words)
  if (!any(nzchar(name))) name <- names(seed_words) <- NULL
  if (anyNA(name) || !all(nzchar(name)) || anyDuplicated(name)) {
    refuse("must have a name of its own for each topic, or no names")
  }
  if (!counts$named[["terms"]]) refuse("cannot be found: the terms of `x` have no names")
  refuse_first <- function(bad, ...) if (any(bad)) refuse(..., which(bad)[[1L]])
  refuse_first(vapply(seed_words, function(words) anyNA(words) || !all(nzchar(words)), NA),
    "has a missing or empty word for topic ")
  present <- counts$terms[diff(counts$p) > 0]
  found <- lapply(seed_words, lapply, function(word) {
    if (word %in% present || !grepl("[*?]", word)) return(intersect(word, present))
    grep(utils::glob2rx(word), present, value = TRUE)
  })
  refuse_first(lengths(seed_words) == 0L, "has no word for topic ")
  lost <- Map(function(words, terms) words[lengths(terms) == 0L], seed_words, found)
  nothing <- which(lengths(lost) == lengths(seed_words))
  if (length(nothing)) {
    refuse("has no word that a document has for topic ", shown_name(name, nothing[[1L]]), ": ",
      list_some(lost[[nothing[[1L]]]]))
  }
  lost <- unique(unlist(lost))
  if (length(lost)) {
    tell_forms(lost, present, "seed word")
    many <- count_words(length(lost), "seed word, which is", "seed words, which are")
    message("no document has ", many, " left out: ", list_some(lost))
  }
  list(words = lapply(found, function(terms) unique(unlist(terms))), weight = weight)
}

seed_prior <- function(seed_words, weight, topics, counts) {
  if (is.null(seed_words)) return(NULL)
  terms <- unique(unlist(seed_words))
  size <- term_sizes(counts)[match(terms, counts$terms)]
  prior <- matrix(0, topics, length(terms), dimnames = list(NULL, terms))
  prior[seq_along(seed_words), ] <- weight * t(size * listed_terms(seed_words, terms))
  prior
}

# Which terms each list of seed words has: terms x lists.
listed_terms <- function(seed_words, terms) {
  matrix(vapply(seed_words, `%in%`, logical(length(terms)), x = terms), length(terms))
}

seed_names <- function(seed_words, topics) {
  name <- names(seed_words)
  if (!is.null(name)) make.unique(c(name, paste0("other", seq_len(topics - length(name)), recycle0 = TRUE)))
}

seed_words_of <- function(fit) {
  if (is.null(fit$seed_words)) return(NULL)
  terms <- unique(unlist(fit$seed_words))
  tokens <- sum(term_sizes(fit$x)[match(terms, fit$terms)])
  shares <- seed_shares(fit)
  pulled <- pulled_words(fit)
  c(
    sprintf("seed words: %s of %s, which are %s of %s tokens (%s%%)", count_words(length(terms), "term"),
      count_words(length(fit$seed_words), "topic"), whole_words(tokens), whole_words(fit$x$tokens),
      format(100 * tokens / fit$x$tokens, digits = 2)),
    paste0("seed tokens that stay in their topics: ", paste0(names(shares), " ", percent(shares, 0),
      if (length(fit$seed_weight) == length(shares)) paste0(" (weight ", format(fit$seed_weight, trim = TRUE), ")"),
      collapse = ", ")),
    if (length(pulled)) paste("the data pull away", list_some(pulled))
  )
}

# First topics if the prior knows something of them: one draw of theta and of the topics, with phi at its mean given
# evenly spread tokens, or merged topics. Tokens of seed words are in the topics of these words alone, whatever their
# weight: a start without them can be far from a mode that has them.
informed_start <- function(session, fit, key, topics, alpha, beta, merged = FALSE) {
  counts <- if (merged) {
    count_topics(fit, topics)
  } else {
    matrix(rep(term_sizes(fit$x) / fit$topics, each = fit$topics), fit$topics)
  }
  terms <- unique(unlist(fit$seed_words))
  seeds <- match(terms, fit$terms)
  size <- colSums(counts)[seeds]
  counts[, seeds] <- 0
  counts[seq_along(fit$seed_words), seeds] <- t(size * listed_terms(fit$seed_words, terms))
  own <- match(colnames(fit$prior_counts), fit$terms)
  phi <- beta + counts
  phi[, own] <- phi[, own] + fit$prior_counts
  native(C_topic_set_phi, session, phi / rowSums(phi))
  native(C_topic_infer, session, topics, alpha, key, 0, 1L, fit$method == "mean_for_mode")
}

tried_weights <- 0.1 * 3^(0:2)

# The least weights that hold the tokens of each list: only weights of lists that lose tokens rise. Prior counts of few
# words make all others less probable, so that with topics to spare a large weight can empty its topic: larger weights
# must hold more in sweeps of the sampler than the least one did.
choose_seed_weights <- function(fit, run) {
  # Chains count from 1.
  key <- chain_key(fit$seed, 0)
  at <- rep(1L, length(fit$seed_words))
  fit$prevalence <- NULL
  topics <- if (fit$start == "merged" && fit$topics > 1) numbered_by_seeds(fit, merged_topic_start(fit, key, run))
  alpha <- rep(topic_start_prior, fit$topics)
  # The tokens that stay after so many sweeps.
  held <- function(number, sweeps, ...) {
    fit$prior_counts <- seed_prior(fit$seed_words, tried_weights[at], fit$topics, fit$x)
    topics <<- with_topics(fit, run, function(session) {
      if (is.null(topics)) topics <- native(C_topic_start, session, key)
      if (number == 1) topics <- informed_start(session, fit, key, topics, alpha, topic_start_prior)
      trial_sweeps(session, topics, alpha, key, topic_start_iteration + 1000 * number, c(sweeps, sweeps - 1, 1, 1), ...)
    })$topics
    seed_shares(fit, topics)
  }
  first <- share <- held(1, 15)
  # Above the four fifths of the help page: draws scatter more than means of the trial.
  for (number in seq_along(tried_weights)[-1L]) {
    weak <- share < 0.88
    at[weak] <- at[weak] + 1L
    if (any(weak)) share <- held(number, 15)
  }
  larger <- at > 1L
  if (any(larger) && any((held(4, 100, method = c(0L, 2L, 1L)) < first + 0.05)[larger])) at[] <- 1L
  tried_weights[at]
}

# Merged topics, numbered so that each list of seed words has the topic with the largest share of its tokens.
numbered_by_seeds <- function(fit, topics) {
  counts <- count_topics(fit, topics)
  share <- matrix(0, fit$topics, fit$topics)
  for (k in seq_along(fit$seed_words)) share[k, ] <- proportions(rowSums(counts[, fit$seed_words[[k]], drop = FALSE]))
  renumbered(topics, solve_assignment(-share))
}

seed_shares <- function(fit, topics = NULL) {
  words <- fit$seed_words
  terms <- unique(unlist(words))
  counts <- if (is.null(topics)) topic_counts(fit) else count_topics(fit, topics)
  counts <- t(counts[, match(terms, fit$terms), drop = FALSE])
  own <- listed_terms(words, terms)
  kept <- rowSums(counts[, seq_along(words), drop = FALSE] * own)
  stats::setNames(colSums(own * kept) / colSums(own * rowSums(counts)), topic_labels(fit, seq_along(words)))
}

pulled_words <- function(fit) {
  counts <- topic_counts(fit)
  pulled <- unlist(lapply(seq_along(fit$seed_words), function(k) {
    vapply(fit$seed_words[[k]], function(word) {
      own <- counts[, word] / max(1, sum(counts[, word]))
      most <- which.max(own)
      if (own[[k]] >= 0.5 || word %in% unlist(fit$seed_words[most])) return(NA_character_)
      sprintf("%s of %s: %s to %s", word, topic_labels(fit, k, "topic "), percent(own[[most]], 0),
        topic_labels(fit, most, "topic "))
    }, "")
  }))
  pulled[!is.na(pulled)]
}
