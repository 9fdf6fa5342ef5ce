# Counts of documents by terms, read from the classes of text packages.

# Counts in compressed columns: integers `p` (terms + 1 entries), `i` (rows from 0, ascending in a column) and `count`
# (at least 1); the names `documents` and `terms`; `size` (their numbers); and `tokens`.
count_matrix <- function(x, argument = "x") {
  # Without the package of its class, R cannot even ask what x inherits from.
  home <- attr(class(x), "package")
  if (isS4(x) && !is.null(home) && !home %in% c("", ".GlobalEnv") && !load_package_of(x)) {
    stop_input(argument, sprintf("is a %s of package %s, which is not installed here", class(x)[[1L]], home))
  }
  x <- given_data(x, argument)
  if (inherits(x, "count_matrix")) return(x)
  # One document: a vector of counts named by terms.
  if (is.numeric(x) && !is.object(x) && is.null(dim(x)) && !is.null(names(x))) x <- t(x)
  parts <- if (inherits(x, c("simple_triplet_matrix", "DocumentTermMatrix", "TermDocumentMatrix"))) {
    from_triplets(x, argument)
  } else if (is.data.frame(x)) {
    from_table(x, argument)
  } else if (is_sparse_matrix(x)) {
    x <- as_sparse_columns(x)
    list(p = x@p, i = x@i, value = x@x, size = dim(x), documents = rownames(x), terms = colnames(x))
  } else if (is.matrix(x) && (is.numeric(x) || is.logical(x))) {
    at <- which(x != 0 | is.na(x))
    list(row = (at - 1L) %% nrow(x) + 1L, column = (at - 1L) %/% nrow(x) + 1L, value = as.double(x[at]), size = dim(x),
      documents = rownames(x), terms = colnames(x))
  } else if (is.character(x) || is.factor(x) || inherits(x, c("Corpus", "corpus", "tokens"))) {
    stop_input(argument, "must be counts of documents x terms, not ", show_value(x), ": DocumentTermMatrix() of ",
      "package tm, or dfm() of quanteda, counts the words of texts")
  } else {
    stop_input(argument, "must be counts of documents x terms: a Matrix, dfm, DocumentTermMatrix, ",
      "simple_triplet_matrix, numeric matrix or data frame, not ", show_value(x))
  }
  pack_counts(parts, argument)
}

from_triplets <- function(x, argument) {
  order <- if (inherits(x, "TermDocumentMatrix")) 2:1 else 1:2
  c(list(value = as.double(given_data(x$v, argument)), size = as.integer(c(x$nrow, x$ncol))[order]),
    stats::setNames(list(as.integer(x$i), as.integer(x$j)), c("row", "column")[order]),
    stats::setNames(list(x$dimnames[[1L]], x$dimnames[[2L]]), c("documents", "terms")[order]))
}

table_columns <- list(document = c("document", "doc", "doc_id", "docid", "document_id", "doc.id", "document.id"),
  term = c("term", "word", "token", "feature", "lemma", "stem"), count = c("count", "n", "freq", "frequency", "tf"))

from_table <- function(x, argument) {
  x <- x[vapply(names(table_columns), find_column, 1L, x = x, argument = argument)]
  names(x) <- names(table_columns)
  for (column in c("document", "term")) {
    if (is.list(x[[column]]) || length(dim(x[[column]])) > 1L || inherits(x[[column]], "integer64")) {
      stop_input(argument, sprintf("has no names in column %s, but %s", column, show_value(x[[column]])))
    }
    if (anyNA(x[[column]])) {
      stop_input(argument, sprintf("has no %s in row %d", column, which(is.na(x[[column]]))[[1L]]))
    }
  }
  if (!is.numeric(x$count) || length(dim(x$count)) > 1L) {
    stop_input(argument, "has counts that are not numbers: column count is ", show_value(x$count))
  }
  as_levels <- function(values) if (is.factor(values)) droplevels(values) else factor(values, unique(values))
  document <- as_levels(x$document)
  term <- as_levels(x$term)
  list(row = as.integer(document), column = as.integer(term), value = as.double(x$count),
    size = c(nlevels(document), nlevels(term)), documents = levels(document), terms = levels(term))
}

# Positions are not used: count(word, doc) gives words before documents.
find_column <- function(column, x, argument) {
  found <- which(names(x) == column)
  if (length(found) != 1L) found <- which(tolower(names(x)) %in% table_columns[[column]])
  if (length(found) == 1L) return(found)
  if (length(found)) {
    stop_input(argument, sprintf("has several columns that may be the %s: %s. Name one of them %s", column,
      list_some(names(x)[found]), list_some(column)))
  }
  stop_input(argument, "is a data frame without a column ", list_some(column), " (it has ",
    if (length(names(x))) list_some(names(x), 6L) else "no columns", "). Name its columns document, term and ",
    "count. If its rows are documents and its columns terms, give as.matrix() of it. If it has whole texts, ",
    "DocumentTermMatrix() of package tm counts their words")
}

pack_counts <- function(parts, argument) {
  size <- as.integer(parts$size)
  if (length(size) != 2L || anyNA(size) || any(size < 1L)) {
    stop_input(argument, "has ", paste(size, c("documents", "terms"), collapse = " and "), ": it is empty")
  }
  # NA for what is no integer.
  parts$count <- suppressWarnings(as.integer(parts$value))
  if (anyNA(parts$count) || any(parts$count != parts$value) || any(parts$count < 0L)) refuse_values(parts, argument)
  check_unique(parts$documents, "documents", argument)
  check_unique(parts$terms, "terms", argument)
  tell_forms(parts$terms, NULL, "term")
  tokens <- sum(parts$value)
  if (tokens >= 2^31) {
    stop_input(argument, sprintf("has %s tokens; at most 2147483647 can be fitted", exact_words(tokens)))
  }
  # New documents may be empty.
  if (tokens == 0 && argument == "x") stop_input(argument, "has no tokens: all its counts are 0")
  if (is.null(parts$p)) parts <- by_columns(parts, size)
  if (any(parts$count == 0L)) parts <- pick_counts(parts, parts$count, parts$count > 0L)
  structure(list(
    p = parts$p, i = parts$i, count = parts$count,
    documents = as.character(names_or(parts$documents, size[[1L]])),
    terms = as.character(names_or(parts$terms, size[[2L]])),
    named = c(documents = !is.null(parts$documents), terms = !is.null(parts$terms)), size = size, tokens = tokens
  ), class = "count_matrix")
}

refuse_values <- function(parts, argument) {
  value <- parts$value
  bad <- which(!is.finite(value) | value < 0 | value != floor(value))
  if (length(bad) == 0L) return(invisible())
  row <- if (is.null(parts$p)) parts$row[bad] else parts$i[bad] + 1L
  column <- if (is.null(parts$p)) parts$column[bad] else findInterval(bad - 1L, parts$p)
  first <- order(row, column)[[1L]]
  stop_input(argument, sprintf("must hold counts, whole numbers from 0 on, but has %s for document %s and term %s",
    exact_words(value[[bad[[first]]]]), shown_name(parts$documents, row[[first]]),
    shown_name(parts$terms, column[[first]])))
}

# Sorts rows and columns, both from 1, into compressed columns. Counts of the same document and term are added.
by_columns <- function(parts, size) {
  sorted <- order(parts$column, parts$row)
  row <- parts$row[sorted]
  column <- parts$column[sorted]
  count <- parts$count[sorted]
  again <- which(diff(row) == 0L) + 1L
  again <- again[column[again] == column[again - 1L]]
  if (length(again)) {
    first <- replace(rep(TRUE, length(row)), again, FALSE)
    count <- as.integer(rowsum(as.double(count), cumsum(first), reorder = FALSE))
    row <- row[first]
    column <- column[first]
  }
  parts[c("p", "i", "count")] <- list(c(0L, cumsum(tabulate(column, size[[2L]]))), as.integer(row) - 1L, count)
  parts
}

names_or <- function(names, count) if (is.null(names)) as.character(seq_len(count)) else names

shown_name <- function(names, at) if (is.null(names)) as.character(at) else dQuote(names[[at]], FALSE)

check_unique <- function(names, what, argument) {
  if (anyNA(names)) {
    stop_input(argument, sprintf("has a missing name among its %s: number %d", what, which(is.na(names))[[1L]]))
  }
  twice <- anyDuplicated(names)
  if (twice) stop_input(argument, sprintf("has two %s named %s", what, dQuote(names[[twice]], FALSE)))
}

document_sizes <- function(counts) sums_of(counts$count, counts$i + 1L, counts$size[[1L]])

term_columns <- function(counts) rep(seq_len(counts$size[[2L]]), diff(counts$p))

term_sizes <- function(counts) sums_of(counts$count, term_columns(counts), counts$size[[2L]])

# The sum of the counts at each of the places 1 to `size`. Most counts are 1, and rowsum() takes much memory.
sums_of <- function(count, place, size) {
  sizes <- as.double(tabulate(place, size))
  more <- which(count > 1L)
  sums <- rowsum(count[more] - 1, place[more])
  at <- as.integer(rownames(sums))
  sizes[at] <- sizes[at] + sums
  sizes
}

# The same documents with exactly the given terms. `unknown`: the other tokens of each document.
match_terms <- function(counts, terms) {
  tell_forms(setdiff(counts$terms, terms), terms, "unknown term")
  to <- match(counts$terms, terms)[term_columns(counts)]
  lost <- is.na(to)
  counts$unknown <- sums_of(counts$count[lost], counts$i[lost] + 1L, counts$size[[1L]])
  counts$terms <- terms
  counts$size[[2L]] <- length(terms)
  known <- list(row = counts$i[!lost] + 1L, column = to[!lost], count = counts$count[!lost])
  counts[c("p", "i", "count")] <- by_columns(known, counts$size)[c("p", "i", "count")]
  replace(counts, "tokens", sum(counts$count))
}

pick_counts <- function(counts, values, entries) {
  counts$p <- c(0L, cumsum(tabulate(term_columns(counts)[entries], counts$size[[2L]])))
  counts$i <- counts$i[entries]
  counts$count <- as.integer(values[entries])
  counts$tokens <- sum(counts$count)
  counts
}

#' Counts of a topic model
#'
#' @param fit a fit from [topic_model()].
#' @param ... must be empty: a misspelt argument is an error.
#' @return A sparse `dgCMatrix`, documents x terms, or without package Matrix a data frame of `document`, `term`,
#'   `count`.
#' @examples
#' x <- t(sapply(1:20, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' fit <- topic_model(x, topics = 2, iter = 20, seed = 1, threads = 2)
#' term_counts(fit)[1:3, ]
#' @export
term_counts <- function(fit, ...) {
  check_method(fit, "fit", ...)
  counts <- fit$x
  if (!requireNamespace("Matrix", quietly = TRUE)) {
    return(data.frame(document = counts$documents[counts$i + 1L], term = counts$terms[term_columns(counts)],
      count = counts$count))
  }
  Matrix::sparseMatrix(i = counts$i, p = counts$p, x = as.double(counts$count), dims = counts$size, index1 = FALSE,
    dimnames = list(counts$documents, counts$terms))
}

# A list of long vectors would flood the console.
#' @export
print.count_matrix <- function(x, ...) {
  cat(sprintf("<%s of %s terms in %s; term_counts(fit) gives a matrix>\n", count_words(x$tokens, "token"),
    whole_words(x$size[[2L]]), count_words(x$size[[1L]], "document")))
  invisible(x)
}
