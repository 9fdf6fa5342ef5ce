# What a topic model can be used for: one verdict on its chains, topics, documents, effects and seed words.

# Chains whose perplexities differ by less than this share are of the same quality.
same_perplexity <- 0.01
# Scores rank modes whose means differ by more than so many standard deviations within chains.
most_lower <- 3
# After so many sweeps, chains that differ are at modes that they do not leave.
settled_run <- 250
# A larger share of draws with one first topic makes a document sure. Reservations if more of these differ in a chain.
sure_share <- 0.9
most_wrong <- 0.1
# Chains whose shares of a topic differ by chance, or by less than this, agree on it.
most_apart <- 0.02
# A verdict speaks of documents that no topic explains if they are at least this share.
most_unexplained <- 0.01
# Topics whose terms differ from those of another topic by less than this total variation are one topic.
same_limit <- 0.15
# Below so many tokens a document has hardly more than one topic.
short_text <- 10

#' @export
verdict.topic_model <- function(x, ...) {
  check_method(x, "x", ...)
  topic_verdict(x)
}

topic_verdict <- function(fit, diagnostics = topic_diagnostics(fit)) {
  used <- used_topics(fit)
  chains <- if (fit$method == "mean_for_mode") reason("topic_estimate") else chain_reasons(fit, diagnostics)
  effects <- if (!is.null(fit$prevalence)) {
    effect_convergence(topic_effect_draws(fit, fit$draws$effects, effect_rows(fit$prevalence), used))
  }
  tokens <- mean(fit$document_tokens[fit$document_tokens > 0])
  short <- tokens < short_text && fit$topics > 1 && !kind_of(fit)$one_topic
  same <- same_topics(fit, used)
  apart <- if (length(same)) {
    reason("topics_same", figure = length(same), quantity = topic_labels(fit, same))
  } else {
    lone_reason(fit, used)
  }
  # More sweeps do not tell apart what the documents do not.
  one <- "topics_but_one" %in% lapply(apart, `[[`, "code")
  if (one || length(same) && length(same) == length(used)) chains <- NULL
  new_verdict("the topics", apart, agreement_reasons(fit, used), document_reason(fit), unexplained_reason(fit),
    effect_reason(effects, fit), chains, seed_reasons(fit), difference_reasons(fit, used), if (short) {
    reason("short_texts", figure = tokens, tokens = count_words(signif(tokens, 2), "token"))
  }, rests_on = fit$rests_on)
}

same_topics <- function(fit, used) {
  level <- judged_traces(fit)$log_likelihood
  if (nrow(level) < fewest_sweeps || drift_of(level) != 0) return(NULL)
  near <- if (!is.null(fit$agreement)) {
    fit$agreement$limit < limit_share * same_limit
  } else if (fit$topics^2 * length(fit$terms) < most_matched / 10) {
    nearest_topic(fit$phi) < same_limit
  }
  intersect(which(near), used)
}

lone_reason <- function(fit, used) {
  lone <- sort(setdiff(used, max.col(fit$theta[fit$document_tokens > 0, , drop = FALSE], "first")))
  if (!length(lone) || nrow(judged_traces(fit)[[1L]]) < fewest_sweeps) return(NULL)
  reason(if (length(lone) < length(used) - 1L) "topics_lone" else "topics_but_one", figure = length(lone),
    quantity = topic_labels(fit, utils::head(lone, 12L)))
}

unexplained_reason <- function(fit) {
  known <- fit$unexplained
  share <- length(known$documents) / max(1, known$checked)
  if (share >= most_unexplained) {
    reason("documents_unexplained", quantity = utils::head(known$documents, 3L), figure = share, share = percent(share))
  }
}

topic_diagnostics <- function(fit) {
  traces <- judged_traces(fit)
  table <- diagnose_quantities(traces)[c("quantity", "mean", "sd", "rhat", "ess_bulk")]
  if (nrow(traces[[1L]]) < fewest_sweeps) table$rhat <- NA_real_
  table
}

topic_traces <- function(fit) {
  c(list(log_likelihood = fit$log_likelihood), if (kind_of(fit)$traced) list(alpha_sum = fit$alpha_sum),
    if (fit$learn$beta) list(beta = fit$beta_trace))
}

judged_traces <- function(fit) {
  lapply(topic_traces(fit), function(trace) trace[seq_len(fit$iter) > fit$warmup, , drop = FALSE])
}

topic_quantity_words <- function(name) {
  unname(c(log_likelihood = "the log likelihood", alpha_sum = "the sum of the alphas", beta = "beta")[name])
}

chain_reasons <- function(fit, diagnostics) {
  traces <- judged_traces(fit)
  more <- whole_words(fit$iter)
  chains <- judge_convergence(traces, diagnostics, topic_quantity_words, c("alpha_sum", "beta"),
    drift_advice = sprintf("continue(fit, %s, warmup = %s) adds as many sweeps and averages only these", more, more))
  # Chains that stay at different modes will not agree: a run that does not drift is judged by these modes.
  level <- traces$log_likelihood
  settled <- nrow(level) >= settled_run && chains[[1L]]$code == "too_few_draws" || chains[[1L]]$answer == "not yet"
  mode <- if (settled && fit$chains > 1 && drift_of(level) == 0) mode_reason(fit, nrow(level) >= settled_run)
  if (!is.null(mode)) return(c(mode, Filter(function(one) one$code == "rest_slow", chains)))
  # Nobody reads intervals of the log likelihood.
  lapply(chains, function(one) {
    if (!one$code %in% c("rough", "chains_agree")) return(one)
    own <- diagnostics[diagnostics$quantity == "log_likelihood", ]
    reason("long_enough", quantity = topic_quantity_words("log_likelihood"), figure = own$ess_bulk,
      rhat = format_rhat(own$rhat), size = round(own$ess_bulk))[[1L]]
  })
}

# Whether the modes of chains have about the same mass, by their scores, or otherwise the same quality.
mode_reason <- function(fit, by_score) {
  if (!by_score || is.null(fit$score)) {
    ends <- range(chain_perplexity(fit))
    return(if (diff(ends) < same_perplexity * ends[[1L]]) reason("same_quality"))
  }
  mass <- colMeans(fit$score)
  gap <- diff(range(mass))
  spread <- sqrt(mean(apply(fit$score, 2L, stats::var)))
  reason(if (gap <= most_lower * spread) "topic_modes_alike" else "topic_modes_differ", figure = gap,
    low = which.min(mass), high = which.max(mass), gap = whole_words(round(gap)), spread = format(signif(spread, 2)))
}

agreement_reasons <- function(fit, used) {
  if (fit$chains == 1) return(if (fit$start != "earlier") reason("topics_one_chain"))
  if (is.null(found_topics(fit))) return(reason("topics_uncompared"))
  # Topics that are not used are none that another start could find.
  missed <- sort(used[found_topics(fit)[used] < 1])
  chains <- if (fit$chains == 2) "Both chains" else sprintf("All %s chains", whole_words(fit$chains))
  if (!length(missed)) {
    return(reason("topics_found", figure = length(used), chains = chains,
    what = if (length(used) == 1L) "the topic" else sprintf("each of the %s topics", whole_words(length(used)))))
  }
  more <- length(missed) - 12L
  names <- c(topic_labels(fit, utils::head(missed, 12L)), if (more > 0L) paste(more, "more"))
  # Topics that could not be told from their neighbours.
  alike <- sum(fit$agreement$limit[missed] < found_limit)
  c(
    reason("topics_missed", quantity = names, figure = length(missed), chains = chains,
      found = whole_words(length(used) - length(missed)), all = whole_words(length(used))),
    if (alike) reason("topics_alike", figure = alike)
  )
}

difference_reasons <- function(fit, used) {
  if (fit$chains == 1) return(NULL)
  ends <- unique(format(signif(range(chain_perplexity(fit)), 4), trim = TRUE))
  quality <- reason("perplexity_range", range = paste(ends, collapse = " to "))
  found <- intersect(which(found_topics(fit) == 1), used)
  draws <- lapply(found, share_draws, fit = fit)
  if (!length(found) || nrow(draws[[1L]]) == 0L) return(quality)
  apart <- vapply(draws, function(shares) diff(range(colMeans(shares))), 0)
  points <- format(signif(100 * max(apart, 0.001), 2))
  rhat <- if (nrow(draws[[1L]]) >= fewest_sweeps) vapply(draws, split_rhat, 0) else NA_real_
  differ <- found[differing(draws, data.frame(rhat = rhat)) & apart > most_apart]
  shown <- if (length(differ)) differ else found[[which.max(apart)]]
  c(quality, reason(if (length(differ)) "shares_differ" else "shares_apart", quantity = topic_labels(fit, shown),
    figure = if (length(differ)) length(differ) else max(apart), points = points))
}

chain_perplexity <- function(fit) exp(-chain_levels(fit) / fit$x$tokens)

# The share of a topic in all tokens: kept sweeps x the chains that find it.
share_draws <- function(fit, topic) {
  do.call(cbind, lapply(finding_chains(fit, topic), function(chain) {
    matrix(fit$state[[chain]]$sums$share, fit$topics)[matched_topics(fit, chain)[[topic]], ]
  }))
}

# The ends of the 90% intervals of shares of topics; NA without draws.
share_intervals <- function(fit, topics) {
  ends <- vapply(topics, function(topic) {
    draws <- share_draws(fit, topic)
    if (fit$method != "gibbs" || nrow(draws) < 2L) return(c(NA_real_, NA_real_))
    stats::quantile(draws, interval_ends(0.9), names = FALSE, type = 6)
  }, c(0, 0))
  data.frame(lower = ends[1L, ], upper = ends[2L, ])
}

# How sure first topics are. `shares`: for each chain, topics x documents, the share of draws in which each topic is
# first. Returns the `first` topic and its share of all draws, `probability`; the `shares` of all topics; and `wrong`,
# the share of sure documents to which another chain gives another topic, NA for one chain.
certainty_of <- function(shares, counted = TRUE) {
  best <- function(share) max.col(t(share), "first")
  at <- function(share, topic) share[cbind(topic, seq_along(topic))]
  all <- Reduce(`+`, shares)
  first <- best(all)
  wrong <- vapply(shares, function(own) {
    others <- (all - own) / max(1, length(shares) - 1)
    topic <- best(others)
    sure <- at(others, topic) > sure_share & counted
    c(sum(topic[sure] != best(own)[sure]), sum(sure))
  }, c(0, 0))
  list(first = first, shares = all / length(shares), probability = at(all, first) / length(shares),
    wrong = if (sum(wrong[2L, ]) > 0) sum(wrong[1L, ]) / sum(wrong[2L, ]) else NA_real_)
}

# Of the documents of the fit; NULL if topics were not matched or no sweep was kept.
document_certainty <- function(fit) {
  sums <- lapply(fit$state, `[[`, "sums")
  if ((fit$chains > 1 && is.null(fit$agreement)) || any(vapply(sums, `[[`, 0, "added") == 0)) return(NULL)
  certainty_of(lapply(seq_len(fit$chains), function(chain) {
    matrix(sums[[chain]]$first, fit$topics)[matched_topics(fit, chain), , drop = FALSE] / sums[[chain]]$added
  }), fit$document_tokens > 0)
}

document_reason <- function(fit) {
  known <- if (fit$chains > 1 && fit$topics > 1 && fit$method == "gibbs") document_certainty(fit)
  if (is.null(known)) return(NULL)
  sure <- mean(known$probability[fit$document_tokens > 0] > sure_share)
  reason(if (known$wrong %in% NA || known$wrong <= most_wrong) "documents_sure" else "documents_differ", figure = sure,
    sure = percent(sure, 0), wrong = if (is.na(known$wrong)) "none" else percent(known$wrong))
}

seed_reasons <- function(fit) {
  if (is.null(fit$seed_words)) return(NULL)
  shares <- seed_shares(fit)
  lost <- shares[which(shares < 0.5)]
  pulled <- pulled_words(fit)
  c(
    if (length(lost)) reason("seeds_lost", figure = length(lost), quantity = names(lost),
      shares = paste0(names(lost), " (", percent(lost, 0), ")")),
    if (length(pulled)) reason("seeds_pulled", figure = length(pulled), all = sum(lengths(fit$seed_words)),
      words = list_some(pulled))
  )
}
