# Fits and results at the end of a chunk of R Markdown or Quarto. Every character that Markdown could read is escaped.

# Text as Markdown, with entities: a backslash would not do, as \( begins mathematics.
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

# NULL for what the console shows, or `words`, `tables` (data frames with names), `verdict`, and how many `rows` of a
# table are shown if there are more than 60. A prior has only `sentences`.
in_chunk <- function(x) UseMethod("in_chunk")

in_chunk.default <- function(x) NULL

in_chunk.warpbayes_fit <- function(x) {
  content <- report_content(x)
  list(words = content$words, tables = list(content$main()), verdict = content$verdict, rows = content$rows)
}

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
  parts <- c("<div class=\"warpbayes\" style=\"overflow-x: auto\">",
    if (length(shown$words)) paste(escape_markdown(shown$words), collapse = "  \n"), unlist(tables),
    if (length(shown$verdict)) paste0("> ", paste(escape_markdown(as.character(shown$verdict)), collapse = " ")),
    "</div>")
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

plain_frame <- function(x) structure(unclass(x), class = "data.frame")
