# print() of all results. Each class says what it shows in a method of in_console().

#' Print results
#'
#' Shows a result in a few lines. In chunks of R Markdown or Quarto, fits and summaries show text and tables instead.
#'
#' | what | arguments |
#' |---|---|
#' | [dp_mixture()], its summary | for the summary `all = TRUE` (all tables), `components = 12`, `digits = 2` of sd |
#' | [relabel.dp_mixture()] | `components = 12`, how many of the heaviest components to show |
#' | [cell_types()], its summary | for the summary `digits = 3`, the significant digits of medians |
#' | [differential_abundance()] | `types = 12`, how many of the types to show, the smallest false discovery rate first |
#' | [bayes_logit()], its summary | `digits = 2` of standard deviations, `n = 50` coefficients and other quantities |
#' | [differential_state()] | `types = 12`, how many rows to show, the smallest tail probability first |
#' | [topic_model()] | `n = 10` and `terms = 6`, how many of the largest topics, and of their terms |
#' | summary of [topic_model()] | `n = 20`, how many of the largest topics |
#' | [topic_effects()] | `n = 40`, how many rows |
#' | [pmf()], its summary | `digits = 4`, the significant digits |
#'
#' @param x a fit, a summary, a prior, a distribution, or another result of this package.
#' @param ... how much to show, as the table says.
#' @return `x`, invisibly.
#' @section Errors:
#' `warpbayes_error_input` if a part of `x` was changed, so that it cannot be printed.
#' @examples
#' print(pmf(c(1, 2, 3) / 6), digits = 2)
#' @export
print.warpbayes <- function(x, ...) {
  shown <- utils::capture.output(tryCatch(in_console(x, ...), error = function(error) {
    if (inherits(error, "warpbayes_error")) stop(error)
    stop_input("x", "cannot be printed, because a part of it was changed since it was made: ", because = error)
  }))
  cat(show_directions(shown), sep = "\n")
  invisible(x)
}

in_console <- function(x, ...) UseMethod("in_console")

in_console.default <- function(x, ...) print.default(x, ...)

chain_words <- function(fit, draws, where) {
  sprintf("%s of %s (%s warmup%s)%s: %s kept, %s", count_words(fit$chains, "chain"), count_words(fit$iter, "sweep"),
    whole_words(fit$warmup), if (fit$thin > 1) sprintf(", 1 sweep in %s kept", whole_words(fit$thin)) else "",
    if (isTRUE(fit$interrupted)) ", interrupted" else "", count_words(draws, "draw"), where)
}

print_sentences <- function(sentences) {
  cat(strwrap(paste(sentences, collapse = " "), width = 0.95 * getOption("width")), sep = "\n")
}

print_verdict <- function(verdict, most = 3L) {
  said <- as.character(verdict)
  rest <- length(said) - 1L - most
  print_sentences(c(utils::head(said, most + 1L), if (rest > 0) {
    sprintf("(verdict() gives %s.)", count_words(rest, "more reason"))
  }))
}

in_console.verdict <- function(x, ...) {
  check_dots_empty(...)
  print_verdict(x, Inf)
}

in_chunk.verdict <- function(x) list(verdict = as.character(x))

print_lines <- function(lines) {
  wrapped <- function(line) {
    indent <- attr(regexpr("^ *", line), "match.length")
    strwrap(line, width = getOption("width") + 1, indent = indent, exdent = indent + 2)
  }
  cat(unlist(lapply(lines, function(line) if (nchar(line) > getOption("width")) wrapped(line) else line)), sep = "\n")
}

# How many items a print leaves out. `n`: the argument that shows all.
print_rest <- function(all, shown, how, item = "more topic", n = all) {
  how <- sprintf(how, format(n, scientific = FALSE))
  if (shown < all) cat(sprintf("  and %s; %s\n", count_words(all - shown, item), how))
}

# Tables below their names, as summaries have them. A table may have an attribute `below`: a line that follows it.
print_tables <- function(tables) {
  for (title in names(tables)[vapply(tables, NROW, 0L) > 0L]) {
    cat("\n", title, ":\n", sep = "")
    print(tables[[title]], row.names = FALSE, right = TRUE)
    writeLines(as.character(attr(tables[[title]], "below")))
  }
}
