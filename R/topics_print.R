# What a fitted topic model says about itself: print() and summary().

topic_words <- function(fit) {
  kind <- kind_of(fit)
  learned <- c(kind$learned, if (fit$learn$beta) "beta")
  c(
    sprintf("Topic model: %s%s of %s terms, %s in %s", if (kind$number_learned) "at most " else "",
      count_words(fit$topics, "topic"), whole_words(length(fit$terms)), count_words(fit$x$tokens, "token"),
      count_words(length(fit$documents), "document")),
    sprintf("%s: %s of %s (%s warm-up)%s, %s on %s, %s precision, seed %s",
      if (fit$method == "gibbs") "Gibbs sampling" else "Mean-for-mode estimation", count_words(fit$chains, "chain"),
      count_words(fit$iter, "sweep"), whole_words(fit$warmup), if (isTRUE(fit$interrupted)) ", interrupted" else "",
      elapsed_words(fit$elapsed), fit$backend, fit$precision, format(fit$seed, digits = 16)),
    seed_words_of(fit),
    if (!is.null(fit$earlier)) {
      sprintf("an update: the prior has counts of %s earlier tokens", whole_words(round(fit$earlier)))
    },
    if (!is.null(fit$prevalence)) {
      sprintf("alpha depends on %s: topic_effects(fit) has the effects on shares", deparse1(fit$prevalence$formula))
    },
    if (kind$one_topic) "each document has one topic (mixture of unigrams)",
    sprintf("%s sums to %s, beta is %s%s", if (is.null(fit$prevalence)) "alpha" else "alpha at their mean",
      format(signif(sum(fit$alpha), 3)), format(signif(fit$beta, 3)),
      if (length(learned)) paste0("; learned: ", paste(learned, collapse = ", ")) else "; both given"),
    if (kind$number_learned) learned_number_words(fit),
    sprintf("log likelihood %s, perplexity of the fitted words %s", whole_words(round(mean_log_likelihood(fit))),
      format(signif(chain_perplexity(fit)[[fit$reference]], 4))),
    if (!is.null(fit$averaged) && fit$chains > 1) {
      sprintf("relabelled: %s of these averaged over chains, the others as in chain %d", whole_words(sum(fit$averaged)),
        as.integer(fit$reference))
    }
  )
}

#' Print or summarise a fitted topic model
#'
#' `print()` says in a few lines what was fitted, and shows the ten largest topics (`print(fit, n = 20)`: 20) and a
#' verdict in words. `summary()` shows all topics, and the convergence of the chains. Of a fit with `alpha = "hdp"` both
#' show only topics that are used; see [number_of_topics()].
#'
#' The [verdict()] says which topics all chains find, see [topic_stability()]; how many documents have a sure first
#' topic, the first one in more than 90% of the draws, and how often another chain gives them another one; which
#' documents no topic explains; and in which effects and shares chains differ.
#' @param object a fit from [topic_model()].
#' @param terms how many terms of each topic to show, the most relevant first; see [top_terms()].
#' @param ... not used.
#' @return `summary()`: a list of class `summary.topic_model`. `topics` is a data frame, most prevalent topic first:
#'   `topic`, `name` (its number if you have set no [topic_names()]), `prevalence` (share of all tokens), `lower` and
#'   `upper` (its 90% interval over all chains that find the topic), `alpha`, `coherence` (UMass), `terms`; with several
#'   chains also `found` (the share of the other chains that find it). `diagnostics` is a data frame: `quantity`,
#'   `mean`, `sd`, `rhat`, `ess_bulk`. `converged` is `TRUE`, `FALSE`, or `NA` if it cannot be judged.
#' @examples
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' fit <- topic_model(x, topics = 2, iter = 60, chains = 2, seed = 1, threads = 2)
#' summary(fit)
#' @name print.topic_model
NULL

in_console.topic_model <- function(x, n = 10, terms = 6, ...) {
  check_method(x, "x", ...)
  n <- check_count(n, "n", min = 0)
  terms <- check_count(terms, "terms")
  print_lines(topic_words(x))
  used <- used_topics(x)
  shown <- utils::head(used, n)
  print_topics(marked_labels(x, shown), percent_words(topic_prevalence(x)[shown]),
    terms = term_lines(x, shown, terms))
  print_rest(length(used), length(shown), "print(fit, n = %s) shows all")
  print_lines(star_words(x, shown))
  print_verdict(verdict(x))
}

print_topics <- function(..., terms) {
  start <- do.call(paste, c(lapply(list(...), format), sep = "  "))
  terms <- fitting_terms(terms, getOption("width") - nchar(start) - 4)
  cat(paste0("  ", start, "  ", terms, recycle0 = TRUE), sep = "\n")
}

# Shares with their intervals, such as 31% (28 to 35).
prevalence_ends <- function(table) {
  ends <- lapply(table[c("lower", "upper")], function(share) sub("%", "", trimws(percent_words(share))))
  ends <- ifelse(is.na(table$lower), "", sprintf(" (%s to %s)", ends$lower, ends$upper))
  paste0(percent_words(table$prevalence), ends)
}

#' @rdname print.topic_model
#' @export
summary.topic_model <- function(object, terms = 8, ...) {
  check_method(object, "object", ...)
  order <- used_topics(object)
  diagnostics <- topic_diagnostics(object)
  verdict <- topic_verdict(object, diagnostics)
  topics <- data.frame(topic = order, name = topic_labels(object, order), prevalence = topic_prevalence(object)[order],
    share_intervals(object, order), alpha = object$alpha[order], coherence = coherence(object)[order])
  topics$found <- found_topics(object)[order]
  topics$terms <- term_lines(object, order, terms)
  structure(list(words = topic_words(object), topics = topics, star = star_words(object, order),
    diagnostics = diagnostics, converged = is_usable(verdict), verdict = verdict),
    class = c("summary.topic_model", "warpbayes"))
}

in_console.summary.topic_model <- function(x, n = 20, ...) {
  check_dots_empty(...)
  shown <- utils::head(x$topics, check_count(n, "n", min = 0))
  print_lines(x$words)
  star <- if (is.null(shown$found)) "" else ifelse(shown$found < 1, "*", "")
  cat("\nTopics by prevalence, with 90% intervals (coherence: UMass)\n")
  print_topics(paste0(shown$name, star), prevalence_ends(shown), format(shown$coherence, digits = 2),
    terms = shown$terms)
  print_rest(nrow(x$topics), nrow(shown), "print(summary(fit), n = %s) shows all")
  if (any(star == "*")) print_lines(x$star)
  cat("\n")
  print(x$diagnostics, digits = 4, row.names = FALSE)
  cat("\n")
  print_verdict(x$verdict)
}
