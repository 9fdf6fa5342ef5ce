# What a fitted topic model says about itself: print() and summary().

topic_words <- function(fit) {
  kind <- kind_of(fit)
  learned <- c(kind$learned, if (fit$learn$beta) "beta")
  c(
    sprintf("Topic model: %s%s of %s terms, %s in %s", if (kind$number_learned) "at most " else "",
      count_words(fit$topics, "topic"),
      format(length(fit$terms), big.mark = ","), count_words(fit$x$tokens, "token"),
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
      sprintf("alpha depends on %s: topic_effects(fit) has the effects on shares", prevalence_words(fit))
    },
    if (kind$one_topic) "each document has one topic (mixture of unigrams)",
    sprintf("%s sums to %s, beta is %s%s",
      if (is.null(fit$prevalence)) "alpha" else "alpha at their mean",
      format(signif(sum(fit$alpha), 3)), format(signif(fit$beta, 3)),
      if (length(learned)) paste0("; learned: ", paste(learned, collapse = ", ")) else "; both given"),
    if (kind$number_learned) learned_number_words(fit),
    sprintf("log likelihood %s, perplexity of the fitted words %s",
      format(round(mean_log_likelihood(fit)), big.mark = ","),
      format(signif(exp(-mean_log_likelihood(fit) / fit$x$tokens), 4))),
    if (!is.null(found_topics(fit))) {
      sprintf("found by %s: %s of %s topics", all_chains(fit),
        whole_words(sum(found_topics(fit)[used_topics(fit)] == 1)), whole_words(length(used_topics(fit))))
    },
    if (!is.null(fit$averaged) && fit$chains > 1) {
      sprintf("relabelled: %s of these averaged over chains, the others as in chain %d", whole_words(sum(fit$averaged)),
        as.integer(fit$reference))
    }
  )
}

#' Print or summarise a fitted topic model
#'
#' `print()` says in a few lines what was fitted and shows the ten largest topics; `print(fit, n = 20)` shows 20.
#' `summary()` shows all topics with their prevalence and coherence, the convergence of the chains, and a verdict in
#' words. Of a fit with `alpha = "hdp"` both show only topics that are used; see [number_of_topics()].
#'
#' @section Convergence:
#' The verdict says whether the run is long enough, by the log likelihood and the rule of [convergence]; which topics
#' all chains find, see [topic_stability()]; and how much the perplexity and the shares of topics differ between chains.
#'
#' `converged` is `TRUE` if the log likelihood does not drift, all chains find the same topics, and their perplexities
#' differ by less than 1%.
#'
#' @param object a fit from [topic_model()].
#' @param terms how many terms of each topic to show, the most relevant first; see [top_terms()].
#' @param ... not used.
#' @return `summary()` gives a list of class `summary.topic_model`:
#' \describe{
#'   \item{`topics`}{a data frame, most prevalent topic first: `topic`, `name` (its number if
#'     you have set no [topic_names()]), `prevalence` (share of all tokens), `alpha`,
#'     `coherence` (UMass), `terms`; with several chains also `found` (the share of the other chains that find it).}
#'   \item{`diagnostics`}{a data frame: `quantity`, `mean`, `sd`, `rhat`, `ess_bulk`. `rhat` and `ess_bulk` are `NA`
#'     if the quantity does not vary or if there are fewer than twelve sweeps after the warm-up.}
#'   \item{`converged`}{`TRUE`, `FALSE`, or `NA` if it cannot be judged.}
#'   \item{`verdict`}{sentences.}
#' }
#' `print()` returns its argument invisibly.
#' @examples
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' fit <- topic_model(x, topics = 2, iter = 60, chains = 2, seed = 1, threads = 2)
#' summary(fit)
#' @name print.topic_model
NULL

in_console.topic_model <- function(x, n = 10, terms = 6, ...) {
  check_method(x, "x", ...)
  topics <- check_count(n, "n", min = 0)
  terms <- check_count(terms, "terms")
  print_lines(topic_words(x))
  prevalence <- topic_prevalence(x)
  used <- used_topics(x)
  shown <- utils::head(used, topics)
  cat(sprintf("  %s  %s  %s", format(marked_labels(x, shown)),
    format(paste0(format(100 * prevalence[shown], digits = 2), "%")), term_lines(x, shown, terms)), sep = "\n")
  print_rest(length(used), length(shown), "print(fit, n = %s) shows all")
  print_lines(star_words(x, shown))
}

#' @rdname print.topic_model
#' @export
summary.topic_model <- function(object, terms = 8, ...) {
  check_method(object, "object", ...)
  prevalence <- topic_prevalence(object)
  order <- used_topics(object)
  diagnostics <- topic_diagnostics(object)
  verdict <- topic_verdict(object, diagnostics)
  topics <- data.frame(
    topic = order, name = topic_labels(object, order), prevalence = prevalence[order], alpha = object$alpha[order],
    coherence = coherence(object)[order]
  )
  topics$found <- found_topics(object)[order]
  topics$terms <- term_lines(object, order, terms)
  structure(list(
    words = topic_words(object), topics = topics, star = star_words(object, order),
    diagnostics = diagnostics, converged = is_usable(verdict), verdict = verdict
  ), class = c("summary.topic_model", "warpbayes"))
}

topic_diagnostics <- function(fit) {
  traces <- judged_traces(fit)
  usable <- function(draws) nrow(draws) >= 12L && stats::var(as.vector(draws)) > 0
  data.frame(
    quantity = names(traces),
    mean = vapply(traces, function(draws) if (length(draws)) mean(draws) else NA_real_, 0),
    sd = vapply(traces, function(draws) if (length(draws) > 1L) stats::sd(draws) else NA_real_, 0),
    rhat = vapply(traces, function(draws) if (usable(draws)) split_rhat(draws) else NA_real_, 0),
    ess_bulk = vapply(traces, function(draws) if (usable(draws)) bulk_size(draws) else NA_real_, 0),
    row.names = NULL
  )
}

judged_traces <- function(fit) {
  after <- seq_len(fit$iter) > fit$warmup
  lapply(topic_traces(fit), function(trace) trace[after, , drop = FALSE])
}

topic_quantity_words <- function(name) {
  words <- c(log_likelihood = "the log likelihood", alpha_sum = "the sum of the alphas", beta = "beta")
  unname(words[name])
}

# Chains whose perplexities differ by less than this share are of the same quality.
same_perplexity <- 0.01

add_rules(
  topic_estimate = rule("cannot tell", "Mean-for-mode estimation gives an estimate, not draws from the posterior."),
  same_quality = rule("usable",
    "The chains are of the same quality: their perplexities differ by less than 1%, each at a mode of its own."),
  topics_differ = rule("not yet", "The run is long enough, but the chains do not find the same topics."),
  topic_remark = rule("usable", "{words}")
)

#' @export
verdict.topic_model <- function(x, ...) {
  check_method(x, "x", ...)
  topic_verdict(x, topic_diagnostics(x))
}

topic_verdict <- function(fit, diagnostics) {
  agreement <- worded("topic_remark", c(agreement_sentences(fit), effect_agreement(fit), short_text_words(fit)))
  if (fit$method == "mean_for_mode") return(new_verdict("the estimate", reason("topic_estimate"), agreement))
  traces <- judged_traces(fit)
  chains <- judge_convergence(traces, diagnostics, topic_quantity_words, c("alpha_sum", "beta"),
    drift_advice = restart_advice(fit))
  ends <- range(chain_perplexity(fit))
  if (chains[[1L]]$answer == "not yet" && fit$chains > 1 && drift_of(traces$log_likelihood) == 0 &&
    diff(ends) < same_perplexity * ends[[1L]]) {
    chains <- c(reason("same_quality"), Filter(function(reason) reason$code == "rest_slow", chains))
  }
  if (is_usable(new_verdict("", chains)) %in% TRUE && any(found_topics(fit)[used_topics(fit)] < 1)) {
    chains <- c(reason("topics_differ"), chains)
  }
  new_verdict("the topics", chains, agreement)
}

# Below so many tokens a document has hardly more than one topic.
short_text <- 10

short_text_words <- function(fit) {
  mean <- mean(fit$document_tokens[fit$document_tokens > 0])
  if (mean < short_text && fit$topics > 1 && !kind_of(fit)$one_topic) {
    sprintf("Documents have %s tokens on average: topic_model() with alpha = \"mixture\" may describe them better.",
      format(signif(mean, 2)))
  }
}

# The averages of a topic model cannot be taken back, but they can begin anew.
restart_advice <- function(fit) {
  more <- whole_words(fit$iter)
  sprintf("continue(fit, %s, warmup = %s) adds as many sweeps and averages only these", more, more)
}

in_console.summary.topic_model <- function(x, n = 20, ...) {
  check_dots_empty(...)
  topics <- check_count(n, "n", min = 0)
  print_lines(x$words)
  shown <- utils::head(x$topics, topics)
  star <- if (is.null(shown$found)) "" else ifelse(shown$found < 1, "*", "")
  cat("\nTopics by prevalence (coherence: UMass)\n")
  cat(sprintf("  %s  %s  %s  %s", format(paste0(shown$name, star)),
    format(paste0(format(100 * shown$prevalence, digits = 2), "%")), format(shown$coherence, digits = 2), shown$terms),
  sep = "\n")
  print_rest(nrow(x$topics), nrow(shown), "print(summary(fit), n = %s) shows all")
  if (any(star == "*")) print_lines(x$star)
  cat("\n")
  print(x$diagnostics, digits = 4, row.names = FALSE)
  cat("\n")
  print_verdict(x$verdict)
}
