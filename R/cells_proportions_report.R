# report() of proportions of cell types and their differences, and how knitr shows them.

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

in_chunk.type_proportions <- function(x) {
  if (!all(c("type", "sample", "cells", "proportion", "lower", "upper") %in% names(x))) {
    return(list(tables = list(plain_frame(x))))
  }
  shown <- data.frame(type = x$type, sample = x$sample, cells = x$cells, proportion = percent(x$proportion, 2),
    interval = interval_words(x, 2))
  list(tables = list(shown), rows = 200L)
}

in_chunk.type_differences <- function(x) list(words = attr(x, "words"), tables = list(plain_frame(x)))

samples_alone <- paste("These intervals are about these samples alone. differential_abundance() compares the groups of",
  "patients that the samples come from.")
