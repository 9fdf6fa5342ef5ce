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

# Words, tables and sentences as the output of a chunk. `tables`: data frames, whose names stand above them. The
# division ends the last paragraph, whatever follows the chunk, and lets wide tables scroll.
knit_parts <- function(words, tables, verdict = NULL, most = 60L) {
  tables <- Filter(function(table) !is.null(table) && nrow(table), tables)
  titles <- names(tables)
  shown <- lapply(seq_along(tables), function(i) {
    c(if (length(titles) && nzchar(titles[[i]])) paste0(escape_markdown(titles[[i]]), "&#58;"),
      markdown_table(tables[[i]], most))
  })
  parts <- c(
    "<div class=\"warpbayes\" style=\"overflow-x: auto\">",
    if (length(words)) paste(escape_markdown(words), collapse = "  \n"), unlist(shown),
    if (length(verdict)) paste0("> ", paste(escape_markdown(verdict), collapse = " ")), "</div>"
  )
  knitr::asis_output(paste0("\n\n", paste(parts, collapse = "\n\n"), "\n\n"))
}

# `content` is described in R/report.R.
knit_content <- function(content, most = 60L) {
  knit_parts(content$words, list(content$main()), content$verdict, most)
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

#' @exportS3Method knitr::knit_print
knit_print.dp_mixture <- function(x, ...) {
  check_mixture_fit(x, "x")
  knit_content(mixture_content(x), 12L)
}

#' @exportS3Method knitr::knit_print
knit_print.cell_types <- function(x, ...) {
  check_cell_types(x, "x")
  knit_content(types_content(x))
}

#' @exportS3Method knitr::knit_print
knit_print.bayes_logit <- function(x, ...) {
  check_logit_fit(x, "x")
  knit_content(logit_content(x))
}

#' @exportS3Method knitr::knit_print
knit_print.topic_model <- function(x, ...) {
  check_topic_fit(x, "x")
  knit_content(topic_content(x), 12L)
}

#' @exportS3Method knitr::knit_print
knit_print.differential_abundance <- function(x, ...) {
  check_abundance(x, "x")
  knit_content(abundance_content(x), 20L)
}

#' @exportS3Method knitr::knit_print
knit_print.martingale_posterior <- function(x, ...) {
  check_parts(x, "x")
  knit_content(resample_content(x), 20L)
}

# Summaries ------------------------------------------------------------------------------

#' @exportS3Method knitr::knit_print
knit_print.summary.dp_mixture <- function(x, ...) {
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
  knit_parts(c(x$words, prior_words(x$prior)), tables, x$verdict)
}

#' @exportS3Method knitr::knit_print
knit_print.summary.cell_types <- function(x, ...) {
  types <- x$types[!x$types$speck | x$types$cells > 0, ]
  medians <- x$medians[types$type, , drop = FALSE]
  tables <- list(types_table(types), data.frame(type = types$type, format_medians(medians), check.names = FALSE))
  names(tables) <- c("Types", paste("Medians,", scale_words(x$transform)))
  knit_parts(x$words, tables, c(if (any(types$speck)) "* a speck.", x$verdict))
}

#' @exportS3Method knitr::knit_print
knit_print.summary.bayes_logit <- function(x, ...) {
  table <- logit_table_words(x$coefficients, 2L)
  names(table)[[1L]] <- "quantity"
  knit_parts(c(x$words, join_indented(logit_prior_words(x$prior))), list(table), x$verdict)
}

#' @exportS3Method knitr::knit_print
knit_print.summary.topic_model <- function(x, ...) {
  tables <- list(`Topics by prevalence (coherence: UMass)` = topic_rows(x$topics),
    `Mean share of each topic by group` = if (!is.null(x$groups)) group_rows(x),
    Convergence = topic_diagnostics_words(x$diagnostics))
  knit_parts(x$words, tables, x$verdict, 20L)
}

#' @exportS3Method knitr::knit_print
knit_print.summary.differential_abundance <- function(x, ...) {
  words <- paste("Standard deviation of log odds, typical of the types (geometric mean),", deviation_lines(x))
  knit_parts(c(x$words, words, no_effect_words(x)), list(`Odds ratios` = abundance_table(x$effects, x$level)),
    x$verdict, 200L)
}

#' @exportS3Method knitr::knit_print
knit_print.summary.martingale_posterior <- function(x, ...) {
  knit_parts(x$words, list(x$table), c(x$verdict, x$bandwidth, x$beyond, x$missing), 20L)
}

# Tables and priors ----------------------------------------------------------------------

#' @exportS3Method knitr::knit_print
knit_print.type_proportions <- function(x, ...) {
  if (!all(c("type", "sample", "cells", "proportion", "lower", "upper") %in% names(x))) {
    return(knit_parts(NULL, list(plain_frame(x))))
  }
  shown <- data.frame(type = x$type, sample = x$sample, cells = x$cells, proportion = percent(x$proportion, 2),
    interval = interval_words(x, 2))
  knit_parts(NULL, list(shown), most = 200L)
}

#' @exportS3Method knitr::knit_print
knit_print.type_differences <- function(x, ...) {
  knit_parts(NULL, list(plain_frame(x)))
}

#' @exportS3Method knitr::knit_print
knit_print.dp_prior <- function(x, ...) knit_sentences(prior_words(x))

#' @exportS3Method knitr::knit_print
knit_print.logit_prior <- function(x, ...) knit_sentences(join_indented(logit_prior_words(x)))

plain_frame <- function(x) structure(unclass(x), class = "data.frame")

knit_sentences <- function(sentences) {
  knitr::asis_output(paste0("\n\n", paste0("- ", escape_markdown(trimws(sentences)), collapse = "\n"), "\n\n"))
}
