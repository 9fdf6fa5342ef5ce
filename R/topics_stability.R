# Which topics do not depend on the start: the topics of chains are matched, and compared.

#' Which topics another start finds
#'
#' Compares the topics of a fit with those of its other chains, and of further chains, which have the same data, priors
#' and sweeps, and other starts. A topic that some of them do not find belongs to this run: do not build on it alone.
#' Topics are matched as by [relabel()][relabel.topic_model()]. A chain finds a topic if the total variation distance to
#' its match is below 0.5, and below three quarters of the distance to the nearest other topic of the fit.
#' @inheritParams topic_names
#' @param restarts how many further chains are run. `NULL`: as many as make six chains in all.
#' @param iter sweeps of each further chain. `NULL`: as many as the fit has.
#' @inheritParams computing_arguments
#' @return A data frame of class `topic_stability` with a row for each topic, the most prevalent first: `topic`; `name`,
#'   if you have set [topic_names()]; `prevalence` (share of all tokens); `found` (the share of the other chains that
#'   find the topic, `NA` without other chains); `terms`.
#' @examples
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' fit <- topic_model(x, topics = 2, iter = 60, seed = 1, threads = 2)
#' topic_stability(fit, threads = 2)
#' @export
topic_stability <- function(fit, restarts = NULL, iter = NULL, backend = NULL, threads = NULL, ...) {
  check_method(fit, "fit", ...)
  earlier <- fit$start == "earlier"
  if (is.null(restarts)) restarts <- if (earlier) 0 else max(0, 6 - fit$chains)
  restarts <- check_count(restarts, "restarts", min = 0, max = 1000)
  if (earlier && restarts > 0) {
    stop_input("restarts", "cannot be used: the fit is from add_documents(), and starts from an earlier fit")
  }
  iter <- if (is.null(iter)) fit$iter else check_count(iter, "iter")
  agreement <- agreement_of(fit)
  others <- fit$chains - 1 + restarts
  found <- if (fit$chains > 1) (fit$chains - 1) * share_found(agreement, -fit$reference) else 0
  if (restarts > 0) {
    found <- found + restarts * share_found(match_topics(fit, restarted_topics(fit, restarts, iter, backend, threads)))
  }
  found <- if (others > 0) round(found / others, 12) else NA_real_
  order <- used_topics(fit)
  table <- data.frame(with_names(data.frame(topic = order), fit), prevalence = topic_prevalence(fit)[order],
    found = rep_len(found, fit$topics)[order], terms = term_lines(fit, order, 6))
  missed <- topic_labels(fit, sort(order[table$found < 1]))
  code <- if (length(missed)) "stability_missed" else "stability_found"
  reason <- if (others == 0) reason("stability_unknown") else reason(code, quantity = missed, figure = others)
  structure(table, verdict = new_verdict("the topics", reason, rests_on = list(verdict(fit))),
    class = c("topic_stability", "warpbayes", "data.frame"))
}

in_console.topic_stability <- function(x, ...) {
  check_dots_empty(...)
  table <- plain_frame(x)
  if (is.null(attr(x, "verdict"))) return(print(table))
  table[c("prevalence", "found")] <- lapply(table[c("prevalence", "found")], percent, 0)
  table$terms <- fitting_terms(table$terms, getOption("width") - 30)
  print(table, row.names = FALSE, right = FALSE)
  print_verdict(verdict(x))
}

in_chunk.topic_stability <- function(x) list(tables = list(plain_frame(x)), verdict = attr(x, "verdict"))

report_content.topic_stability <- function(fit, ...) {
  check_dots_empty(...)
  check_table(fit, "fit", part_table("prevalence found", topic = is.atomic))
  table_content("Stability of topics", "Topics that other chains find", plain_frame(fit),
    "found: the share of other chains that find the topic", verdict = verdict(fit))
}

glance_of.topic_stability <- function(x) {
  data.frame(topics = nrow(x), found = sum(x$found == 1), verdict = verdict(x)$answer)
}

# The averages of further chains, numbered after those of the fit: phi of each, topics x terms.
restarted_topics <- function(fit, restarts, iter, backend, threads) {
  check_topic_state(fit)
  state <- fit$state[[1L]]
  alpha <- if (fit$learn$alpha == "none") state$alpha else first_alpha(fit$topics)
  beta <- if (fit$learn$beta) first_beta else state$beta
  other <- fit
  other[c("chains", "iter", "warmup", "keep", "elapsed", "draws")] <- list(restarts, 0,
    min(fit$warmup, floor(iter / 2)), character(), c(start = 0, sweeps = 0), NULL)
  other[names(topic_plan(fit)$traces)] <- NULL
  run <- resolve_run(backend, threads, cost = fit_cost(other, iter))
  other <- start_chains(other, topic_start(other, alpha, beta, run), fit$chains)
  other <- advance_chains(other, iter, topic_sampler, run, FALSE, threads)
  if (restarts > 1) other$chain_phi else list(other$phi)
}

marked_labels <- function(fit, topics, prefix = "") {
  found <- found_topics(fit)
  paste0(topic_labels(fit, topics, prefix), if (!is.null(found)) ifelse(found[topics] < 1, "*", ""))
}

star_words <- function(fit, topics) {
  if (any(found_topics(fit)[topics] < 1)) "* not found by all chains: another start may not find it"
}
