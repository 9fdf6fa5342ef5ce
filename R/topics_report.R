# report() of topic models.

report_content.topic_model <- function(fit, topics = 100, terms = 15, ...) {
  check_method(fit, "fit", ...)
  topics <- check_count(topics, "topics", max = 500)
  terms <- check_count(terms, "terms", max = 200)
  summary <- summary.topic_model(fit)
  list(title = "Topic model", words = summary$words, converged = summary$converged, verdict = summary$verdict,
    main = function() topic_rows(summary$topics), sections = function() topic_sections(fit, summary, topics, terms),
    made = made_words(fit, c(Method = if (fit$method == "gibbs") "Gibbs sampling" else "mean-for-mode estimation")),
    prior = topic_prior_words(fit), code = topic_code(fit), rows = 12L)
}

topic_rows <- function(table) {
  table$prevalence <- prevalence_ends(table)
  table[c("lower", "upper")] <- NULL
  table$alpha <- format(signif(table$alpha, 2))
  table$coherence <- format(round(table$coherence, 2), nsmall = 2)
  if (!is.null(table$found)) table$found <- percent(table$found)
  if (identical(table$name, as.character(table$topic))) table$name <- NULL
  # A narrow screen shows the first columns.
  columns_first(table, c("topic", "name", "prevalence", "found", "terms"))
}

topic_sections <- function(fit, summary, topics, terms) {
  draw <- function(...) function() plot.topic_model(fit, ...)
  list(
    list(title = "Map of topics", parts = list(topic_explorer(fit, topics, terms))),
    list(title = "Topics", parts = list(
      table_part(topic_rows(summary$topics)),
      paragraphs(paste0("Prevalence: share of all tokens, with its 90% interval. Coherence: UMass, at best close to 0.",
        if (!is.null(summary$topics$found)) " Found: the share of the other chains that find the topic."), "note")
    )),
    if (fit$topics >= 4L && nrow(fit$theta) >= 3L) {
      list(title = "Which topics go together", parts = list(picture_part(paste("Correlations between the logarithms of",
        "the amounts of topics in documents. White: unrelated."), draw("correlation"), c(0.75, 1.1))))
    },
    list(title = "Convergence", parts = list(table_part(topic_diagnostics_words(summary$diagnostics)),
      picture_part("Log likelihood per token over the sweeps.", draw("log_likelihood"), c(0.5, 0.9))))
  )
}

topic_diagnostics_words <- function(table) {
  number <- function(value, sd) if (is.na(value)) "-" else format_to_spread(value, sd)
  data.frame(quantity = sub("^the ", "", topic_quantity_words(table$quantity)),
    mean = as.character(Map(number, table$mean, table$sd)), sd = as.character(Map(number, table$sd, table$sd)),
    Rhat = rhat_words(table$rhat), ESS = ess_words(table$ess_bulk))
}

topic_prior_words <- function(fit) {
  gamma <- function(at) gamma_words(stats::setNames(fit$prior[at], c("shape", "rate")))
  c(
    paste("Topics of a document: Dirichlet.", fill_template(kind_of(fit)$report,
      list(sum = format(signif(sum(fit$alpha), 3)), prior = gamma(1:2)))),
    paste("Terms of a topic: Dirichlet.", if (isTRUE(fit$learn$beta)) {
      sprintf("beta is one number, which is learned; its prior is %s).", gamma(3:4))
    } else {
      sprintf("beta was given, %s.", format(signif(fit$beta, 3)))
    }),
    if (!is.null(fit$prior_counts)) "Seed words, or a prior that differs between terms, add prior counts to beta."
  )
}

topic_code <- function(fit) {
  call <- fit$call
  # The variables are of the data frame.
  if (is.call(call) && !is.null(call$data)) call$prevalence <- NULL
  c(
    needed_words(needed_objects(call, c("x", "data"))),
    repeating_code(fit$call, "topic_model", "fit", list(seed = fit$seed)),
    lengthened_code(fit, list(iter = formals(topic_model)$iter)),
    if (!is.null(fit$topic_names)) {
      c("# The names of the topics:", deparse(call("<-", quote(topic_names(fit)), fit$topic_names), 80L))
    }
  )
}

report_content.topic_effects <- function(fit, ...) {
  check_dots_empty(...)
  check_table(fit, "fit", part_table("estimate lower upper", topic = is.atomic, term = is.atomic))
  picture <- picture_part("Means and intervals.", function() plot.topic_effects(fit),
    c(min(2, 0.35 + 0.03 * nrow(fit)), min(2.5, 0.5 + 0.05 * nrow(fit))))
  table_content(if (isTRUE(attr(fit, "expected"))) "Expected shares of topics" else "Effects on topics",
    effects_title(fit), shown_effects(fit), paste("lower, upper:", interval_name(attr(fit, "level"))), picture,
    attr(fit, "star"), verdict(fit))
}

report_content.topic_comparison <- function(fit, ...) {
  check_dots_empty(...)
  if (!is.data.frame(fit$table) || !inherits(fit$verdict, "verdict")) {
    stop_input("fit", "has been changed since it was made: its parts do not agree")
  }
  table_content("Comparison of numbers of topics", comparison_title(fit), shown_comparison(fit),
    "Perplexity of documents that were left out, and standard errors",
    picture_part("Log probability of a word left out, less that of the best, and coherence, with two standard errors.",
      function() plot.topic_comparison(fit)),
    verdict = fit$verdict, seed = fit$seed)
}

in_chunk.summary.topic_model <- function(x) {
  tables <- list(`Topics by prevalence, with 90% intervals (coherence: UMass)` = topic_rows(x$topics),
    Convergence = topic_diagnostics_words(x$diagnostics))
  list(words = x$words, tables = tables, verdict = x$verdict, rows = 20L)
}

in_chunk.topic_effects <- function(x) in_chunk.warpbayes_fit(x)

in_chunk.topic_comparison <- function(x) {
  list(words = comparison_title(x), tables = list(shown_comparison(x)), verdict = x$verdict)
}

in_chunk.summary.topic_comparison <- in_chunk.topic_comparison
