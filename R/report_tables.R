# report() of tables: proportions of cell types and their differences, differential states, effects on topics, and
# comparisons of topic models.

# Rows of a table without its columns are a plain table, of which there is nothing to report.
check_report_table <- function(fit, columns) {
  if (!is.data.frame(fit) || !all(columns %in% names(fit)) || !nrow(fit)) {
    stop_input("fit", "has been changed since it was made: its columns do not agree")
  }
}

# Content with one section. `note`: sentences below the table that hold for all such tables.
table_content <- function(title, words, table, caption, picture = NULL, note = NULL, verdict = NULL, converged = NA,
                          seed = NULL) {
  list(
    title = title, words = words, converged = converged, verdict = verdict, main = function() table,
    sections = function() {
      list(list(title = "Result", parts = list(
        picture, if (nrow(table)) table_part(table, caption), if (length(note)) paragraphs(note, "note")
      )))
    },
    made = made_words(list(seed = seed)), prior = NULL, code = NULL, rows = 200L
  )
}

interval_name <- function(level) if (is.null(level)) "interval" else paste(percent(level, 0), "interval")

samples_alone <- paste("These intervals are about these samples alone. differential_abundance() compares the groups of",
  "patients that the samples come from.")

report_content.type_proportions <- function(fit, ...) {
  check_dots_empty(...)
  check_report_table(fit, c("type", "sample", "cells", "proportion", "lower", "upper"))
  table <- in_chunk.type_proportions(fit)$tables[[1L]]
  names(table)[names(table) == "interval"] <- interval_name(attr(fit, "level"))
  types <- length(unique(fit$type))
  samples <- length(unique(fit$sample))
  panels <- ceiling(sqrt(min(12, types)))
  rows <- panels * samples
  picture <- picture_part("Share of each type in each sample, with intervals. At most the first twelve types.",
    function() plot.type_proportions(fit), c(min(2.5, 0.35 + 0.03 * rows), min(2.5, 0.5 + 0.045 * rows)))
  words <- sprintf("%s in %s", count_words(types, "type"), count_words(samples, "sample"))
  table_content("Proportions of cell types", words, table, "Share of each type in each sample", picture, samples_alone)
}

report_content.type_differences <- function(fit, ...) {
  check_dots_empty(...)
  check_report_table(fit, c("type", "group", "against", "difference", "lower", "upper", "above"))
  words <- sprintf("%s against %s: %s", paste(unique(fit$group), collapse = ", "), fit$against[[1L]],
    if (identical(attr(fit, "scale"), "log_ratio")) "differences of log proportions" else "differences of proportions")
  rows <- min(12, length(unique(fit$type))) * length(unique(fit$group))
  picture <- picture_part("Differences with intervals. At most the first twelve types.",
    function() plot.type_differences(fit), c(min(2, 0.3 + 0.035 * rows), min(2.5, 0.45 + 0.06 * rows)))
  note <- c(paste("lower, upper:", interval_name(attr(fit, "level")), "of the difference; above: the probability that",
    "it is above 0; within: standard deviation between samples of a group."), attr(fit, "words"), samples_alone)
  table_content("Differences between groups of samples", words, in_chunk.type_differences(fit)$tables[[1L]],
    "Mean proportions, and their difference", picture, note)
}

report_content.differential_state <- function(fit, ...) {
  check_dots_empty(...)
  if (!is_state_table(fit) || !nrow(fit)) {
    stop_input("fit", "has been changed since it was made: its columns do not agree")
  }
  table_content("Differential states of cell types", state_words(fit), state_table(fit),
    "Changes, the smallest tail probability first",
    note = "fdr: the smallest false discovery rate at which the change is reported.",
    verdict = state_verdict(fit), converged = state_usable(fit))
}

report_content.topic_effects <- function(fit, ...) {
  check_dots_empty(...)
  check_report_table(fit, c("topic", "term", "estimate", "lower", "upper"))
  expected <- isTRUE(attr(fit, "expected"))
  words <- sprintf("%s in %s", if (expected) "Expected shares of topics" else "Effects on the shares of topics",
    count_words(attr(fit, "documents"), "document"))
  picture <- picture_part("Means and intervals.", function() plot.topic_effects(fit),
    c(min(2, 0.35 + 0.03 * nrow(fit)), min(2.5, 0.5 + 0.05 * nrow(fit))))
  table_content(if (expected) "Expected shares of topics" else "Effects on topics", words, plain_frame(fit),
    paste("lower, upper:", interval_name(attr(fit, "level"))), picture, attr(fit, "star"))
}

report_content.topic_comparison <- function(fit, ...) {
  check_dots_empty(...)
  if (!is.data.frame(fit$table) || !is_text(fit$verdict)) {
    stop_input("fit", "has been changed since it was made: its parts do not agree")
  }
  table_content("Comparison of numbers of topics", comparison_title(fit), shown_comparison(fit),
    "Perplexity of documents that were left out, and standard errors",
    picture_part("Log probability of a word left out, less that of the best, and coherence, with two standard errors.",
      function() plot.topic_comparison(fit)),
    verdict = fit$verdict, seed = fit$seed)
}
