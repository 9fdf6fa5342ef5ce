# Which topics do not depend on the start: the topics of chains are matched, and compared.

#' Which topics another start finds
#'
#' Compares the topics of a fit with those of its other chains, and of further chains that are run for this purpose. A
#' topic that some of them do not find belongs to this run: do not build on it alone.
#'
#' The topics of each chain are matched one to one to the topics of the fit, as [relabel()][relabel.topic_model()] does.
#' A chain finds a topic if the total variation distance between the terms of the topic and of its match is below 0.5,
#' and below three quarters of the distance to the nearest other topic of the fit.
#'
#' The further chains have the same data, priors and sweeps as the fit, and other starts.
#'
#' @param fit a fit from [topic_model()], which may be relabelled.
#' @param restarts how many further chains are run. `NULL`: as many as make six chains in all.
#' @param iter sweeps of each further chain. `NULL`: as many as the fit has.
#' @param ... must be empty: a misspelt argument is an error.
#' @inheritParams computing_arguments
#' @return A data frame with a row for each topic, the most prevalent first: `topic`; `name`, if you have set
#'   [topic_names()]; `prevalence` (share of all tokens); `found` (the share of the other chains that find the topic,
#'   `NA` without other chains); `terms`.
#' @section Errors:
#' `warpbayes_error_input` for arguments that cannot be used, and for restarts of a fit from [add_documents()], whose
#' start is the earlier fit.
#' @seealso [relabel()][relabel.topic_model()], [compare_topics()]
#' @examples
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' fit <- topic_model(x, topics = 2, iter = 60, seed = 1, threads = 2)
#' topic_stability(fit, threads = 2)
#' @export
topic_stability <- function(fit, restarts = NULL, iter = NULL, backend = NULL, threads = NULL, ...) {
  check_method(fit, "fit", ...)
  earlier <- fit$start == "earlier"
  restarts <- if (is.null(restarts)) {
    if (earlier) 0 else max(0, 6 - fit$chains)
  } else {
    check_count(restarts, "restarts", min = 0, max = 1000)
  }
  if (earlier && restarts > 0) {
    stop_input("restarts", "cannot be used: the fit is from add_documents(), and starts from an earlier fit")
  }
  iter <- if (is.null(iter)) fit$iter else check_count(iter, "iter")
  agreement <- agreement_of(fit)
  found <- if (fit$chains > 1) share_found(agreement, -fit$reference) else NA
  if (restarts > 0) {
    others <- share_found(match_topics(fit, restarted_topics(fit, restarts, iter, backend, threads)$phi))
    own <- fit$chains - 1
    found <- (if (own > 0) own * found else 0) / (own + restarts) + others * restarts / (own + restarts)
  }
  order <- used_topics(fit)
  data.frame(with_names(data.frame(topic = order), fit), prevalence = topic_prevalence(fit)[order],
    found = rep_len(found, fit$topics)[order], terms = term_lines(fit, order, 6))
}

# The averages of further chains, numbered after those of the fit: a list of phi, topics x terms, for each.
restarted_topics <- function(fit, restarts, iter, backend, threads) {
  check_topic_state(fit)
  run <- resolve_run(backend, threads, cost = topic_cost(length(fit$documents), length(fit$x$count), fit$topics,
    iter * restarts))
  state <- fit$state[[1L]]
  alpha <- if (fit$learn$alpha == "none") state$alpha else first_alpha(fit$topics)
  beta <- if (fit$learn$beta) first_beta else state$beta
  other <- fit
  other$chains <- restarts
  other$iter <- 0
  other$warmup <- min(fit$warmup, floor(iter / 2))
  other$keep <- character()
  other$elapsed <- c(start = 0, sweeps = 0)
  other[names(topic_plan(fit)$traces)] <- NULL
  other["draws"] <- list(NULL)
  other <- start_chains(other, topic_start(other, alpha, beta, run), fit$chains)
  other <- advance_chains(other, iter, topic_sampler, run, FALSE, threads)
  list(phi = if (restarts > 1) other$chain_phi else list(other$phi))
}

# The labels of topics, with a star for those that some chain does not find.
marked_labels <- function(fit, topics, prefix = "") {
  found <- found_topics(fit)
  paste0(topic_labels(fit, topics, prefix), if (!is.null(found)) ifelse(found[topics] < 1, "*", ""))
}

star_words <- function(fit, topics) {
  if (any(found_topics(fit)[topics] < 1)) "* not found by all chains: another start may not find it"
}

all_chains <- function(fit) if (fit$chains == 2) "both chains" else sprintf("all %s chains", whole_words(fit$chains))

# Sentences on what the chains share: topics, perplexity, and shares of topics in all tokens.
agreement_sentences <- function(fit) {
  if (fit$chains == 1) {
    return(if (fit$start != "earlier") {
      "One chain was run, so no topic was compared with another start: topic_stability(fit) runs further chains."
    })
  }
  used <- used_topics(fit)
  # Topics that are not used are none that another start could find.
  shared <- if (!is.null(found_topics(fit))) found_topics(fit) == 1
  if (!is.null(shared)) shared[-used] <- NA
  found <- which(shared)
  chains <- sub("^(.)", "\\U\\1", all_chains(fit), perl = TRUE)
  c(
    if (is.null(shared)) {
      "The topics of the chains were not compared, because there are many: topic_stability(fit) does."
    } else if (length(found) == length(used)) {
      sprintf("%s find %s.", chains,
        if (length(used) == 1L) "the topic" else sprintf("each of the %s topics", whole_words(length(used))))
    } else {
      missed <- which(!shared)
      sprintf("%s find %s of the %s topics. Another start may not find %s%s.", chains, whole_words(length(found)),
        whole_words(length(used)),
        paste(topic_labels(fit, utils::head(missed, 12L)), collapse = ", "),
        if (length(missed) > 12L) sprintf(" and %d more", length(missed) - 12L) else "")
    },
    alike_topic_words(fit, which(!shared)),
    sprintf("The perplexity of the fitted words is %s in the chains.", range_words(chain_perplexity(fit), 4)),
    if (length(found)) {
      apart <- shares_apart(fit)[found]
      sprintf("The share of a topic that all find differs between chains by at most %s percentage points (topic %s).",
        format(signif(100 * max(apart), 2)), topic_labels(fit, found[[which.max(apart)]]))
    }
  )
}

# Topics that are not found and could not be told from their neighbours.
alike_topic_words <- function(fit, missed) {
  alike <- sum(fit$agreement$limit[missed] < found_limit)
  if (alike > 0) {
    sprintf(paste("%s of these %s more than half of the probability of %s terms with another topic: the documents may",
      "show fewer topics."),
    whole_words(alike), if (alike == 1L) "shares" else "share", if (alike == 1L) "its" else "their")
  }
}

range_words <- function(values, digits) {
  ends <- unique(format(signif(range(values), digits), trim = TRUE))
  paste(ends, collapse = " to ")
}

# The perplexity of the fitted words in each chain, over the sweeps after the warm-up.
chain_perplexity <- function(fit) {
  after <- seq_len(fit$iter) > fit$warmup
  exp(-colMeans(fit$log_likelihood[if (any(after)) after else TRUE, , drop = FALSE]) / fit$x$tokens)
}

# By how much the share of each topic in all tokens differs between chains.
shares_apart <- function(fit) {
  weight <- fit$document_tokens / sum(fit$document_tokens)
  shares <- vapply(seq_len(fit$chains), function(chain) {
    sums <- fit$state[[chain]]$sums
    own <- as.vector(matrix(sums$theta, fit$topics) %*% weight)
    # Before the first kept sweep there are the topics of the last sweep.
    own <- if (sums$added > 0) own / sums$added else fit$tokens[, chain] / sum(fit$tokens[, chain])
    own[fit$agreement$match[, chain]]
  }, numeric(fit$topics))
  shares <- matrix(shares, fit$topics)
  apply(shares, 1L, max) - apply(shares, 1L, min)
}
