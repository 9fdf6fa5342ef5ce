# How fits and results look at the end of a chunk of R Markdown or Quarto: the words, the main table and the verdict, as
# Markdown. Every character of a text that Markdown could read as its own is escaped.

# Text as Markdown, with entities for what Markdown, its extensions for mathematics, or HTML could read. Backslashes
# would not do: \( begins mathematics. Points and hyphens within words and numbers stay.
escape_markdown <- function(text) {
  text <- gsub("[[:cntrl:]]+", " ", enc2utf8(as.character(text)))
  # The ampersand is first, since the others bring ampersands. Those that bring # and ; are not escaped again.
  for (character in c("&", strsplit("\\`*_{}[]()<>+!|$~^\"'@=:", "")[[1L]])) {
    text <- gsub(character, sprintf("&#%d;", utf8ToInt(character)), text, fixed = TRUE)
  }
  text <- gsub("(?<!&)#", "&#35;", text, perl = TRUE)
  text <- gsub("(?<![A-Za-z0-9])-|-(?![A-Za-z0-9])", "&#45;", text, perl = TRUE)
  gsub("\\.(?![A-Za-z0-9])", "&#46;", text, perl = TRUE)
}

# What a chunk shows of a result, or NULL for what the console shows: a list of `words`, `tables` (data frames, whose
# names stand above them) and `verdict`, and how many `rows` of a table are shown if there are more than 60. A prior has
# only `sentences`.
in_chunk <- function(x) UseMethod("in_chunk")

in_chunk.default <- function(x) NULL

in_chunk.warpbayes_fit <- function(x) {
  content <- report_content(x)
  list(words = content$words, tables = list(content$main()), verdict = content$verdict, rows = content$rows)
}

in_chunk.cell_types <- in_chunk.warpbayes_fit

# The division ends the last paragraph, whatever follows the chunk, and lets wide tables scroll.
#' @exportS3Method knitr::knit_print
knit_print.warpbayes <- function(x, ...) {
  shown <- in_chunk(x)
  if (is.null(shown)) return(NextMethod())
  if (!is.null(shown$sentences)) {
    lines <- paste0("- ", escape_markdown(trimws(shown$sentences)), collapse = "\n")
    return(knitr::asis_output(paste0("\n\n", lines, "\n\n")))
  }
  tables <- Filter(function(table) !is.null(table) && nrow(table), shown$tables)
  titles <- if (is.null(names(tables))) rep("", length(tables)) else names(tables)
  tables <- Map(function(title, table) {
    c(if (nzchar(title)) paste0(escape_markdown(title), "&#58;"),
      markdown_table(table, if (is.null(shown$rows)) 60L else shown$rows))
  }, titles, tables)
  parts <- c(
    "<div class=\"warpbayes\" style=\"overflow-x: auto\">",
    if (length(shown$words)) paste(escape_markdown(shown$words), collapse = "  \n"), unlist(tables),
    if (length(shown$verdict)) paste0("> ", paste(escape_markdown(shown$verdict), collapse = " ")), "</div>"
  )
  knitr::asis_output(paste0("\n\n", paste(parts, collapse = "\n\n"), "\n\n"))
}

# A pipe table, with columns of numbers to the right. The lengths of its dashes are the relative widths of its columns.
markdown_table <- function(frame, most) {
  rest <- nrow(frame) - most
  frame <- utils::head(frame, most)
  columns <- lapply(frame, cell_words)
  numbers <- vapply(columns, function(column) all(grepl(number_pattern, column)), NA)
  width <- vapply(seq_along(columns), function(i) {
    min(40, max(3, nchar(c(names(frame)[[i]], columns[[i]]), allowNA = TRUE), na.rm = TRUE))
  }, 0)
  row <- function(cells) paste0("| ", paste(cells, collapse = " | "), " |")
  rule <- paste0(ifelse(numbers, "", ":"), strrep("-", width), ifelse(numbers, ":", ""))
  cells <- do.call(paste, c(lapply(unname(columns), escape_markdown), sep = " | "))
  lines <- c(row(escape_markdown(names(frame))), row(rule), paste("|", cells, "|"))
  c(paste(lines, collapse = "\n"), if (rest > 0) paste("and", count_words(rest, "more row")))
}

# Summaries ------------------------------------------------------------------------------

in_chunk.summary.dp_mixture <- function(x) {
  bem <- inherits(x, "summary.dp_mixture_bem")
  components <- components_words(x, 12L)
  tables <- list(
    components$table, if (!is.null(x$learned)) learned_words(x$learned),
    if (!is.null(x$piled) && nrow(x$piled)) piled_rows(x$piled),
    if (bem) starts_words(x$starts) else diagnostics_words(x$diagnostics, 2)
  )
  names(tables) <- c(if (is.null(components$table)) "" else components$caption,
    "Learned of the prior (mean, and 90% of the draws)", "Values that many cells share at an end of a marker",
    if (bem) "Starts" else "Convergence, over the sweeps after the warmup")
  list(words = c(x$words, prior_words(x$prior)), tables = tables, verdict = x$verdict)
}

in_chunk.summary.cell_types <- function(x) {
  types <- x$types[!x$types$speck | x$types$cells > 0, ]
  medians <- x$medians[types$type, , drop = FALSE]
  tables <- list(types_table(types), data.frame(type = types$type, format_medians(medians), check.names = FALSE))
  names(tables) <- c("Types", paste("Medians,", scale_words(x$transform)))
  list(words = x$words, tables = tables, verdict = c(x$verdict, if (any(types$speck)) "* a speck."))
}

in_chunk.summary.bayes_logit <- function(x) {
  table <- logit_table_words(x$coefficients, 2L)
  names(table)[[1L]] <- "quantity"
  words <- c(x$words, join_indented(logit_prior_words(x$prior)))
  list(words = words, tables = list(table), verdict = x$verdict)
}

in_chunk.summary.topic_model <- function(x) {
  tables <- list(`Topics by prevalence (coherence: UMass)` = topic_rows(x$topics),
    `Mean share of each topic by group` = if (!is.null(x$groups)) group_rows(x),
    Convergence = topic_diagnostics_words(x$diagnostics))
  list(words = x$words, tables = tables, verdict = x$verdict, rows = 20L)
}

in_chunk.summary.differential_abundance <- function(x) {
  words <- paste("Standard deviation of log odds, typical of the types (geometric mean),", deviation_lines(x))
  list(words = c(x$words, words, no_effect_words(x)), verdict = x$verdict, rows = 200L,
    tables = list(`Odds ratios` = abundance_table(x)))
}

in_chunk.summary.martingale_posterior <- function(x) {
  list(words = x$words, tables = list(x$table), verdict = resample_sentences(x), rows = 20L)
}

# Distributions: those of pmf() as their report begins.
in_chunk.pmf <- function(x) {
  content <- report_content.pmf(x)
  list(words = c(paste("Distribution of a random variable on", format_values(x)), format_left_out(x)),
    tables = list(content$main()))
}

in_chunk.summary_pmf <- function(x) {
  rows <- data.frame(probability = names(x$quantiles), quantile = format_value(unname(x$quantiles)))
  list(words = paste("Distribution of a random variable on", format_support(x$support[[1L]], x$support[[2L]])),
    tables = list(moments_table(x), `Quantiles` = rows))
}

in_chunk.pmf_list <- function(x) {
  list(words = count_words(length(x), "distribution"), rows = 20L, tables = list(data.frame(number = seq_along(x),
    distribution = vapply(x, function(x) if (inherits(x, "pmf")) format(x) else show_value(x), ""))))
}

# Tables and priors ----------------------------------------------------------------------

in_chunk.type_proportions <- function(x) {
  if (!all(c("type", "sample", "cells", "proportion", "lower", "upper") %in% names(x))) {
    return(list(tables = list(plain_frame(x))))
  }
  shown <- data.frame(type = x$type, sample = x$sample, cells = x$cells, proportion = percent(x$proportion, 2),
    interval = interval_words(x, 2))
  list(tables = list(shown), rows = 200L)
}

in_chunk.type_differences <- function(x) list(words = attr(x, "words"), tables = list(plain_frame(x)))

in_chunk.group_covariances <- function(x) list(tables = list(frame_of(x)))

in_chunk.topic_effects <- function(x) list(tables = list(plain_frame(x)), rows = 200L)

in_chunk.topic_comparison <- function(x) {
  list(words = comparison_title(x), tables = list(shown_comparison(x)), verdict = x$verdict)
}

in_chunk.summary.topic_comparison <- in_chunk.topic_comparison

in_chunk.differential_state <- function(x) {
  if (!is_state_table(x)) return(list(tables = list(plain_frame(x))))
  list(words = state_words(x), tables = list(state_table(x)), verdict = state_verdict(x))
}

in_chunk.dp_prior <- function(x) list(sentences = prior_words(x))

in_chunk.logit_prior <- function(x) list(sentences = join_indented(logit_prior_words(x)))

plain_frame <- function(x) structure(unclass(x), class = "data.frame")
