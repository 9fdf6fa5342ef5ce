# Topic models with several numbers of topics: how well each predicts words that it has not seen.

#' Compare numbers of topics
#'
#' Fits a topic model with each of several numbers of topics. The documents are divided at random into `folds` parts.
#' Each of the first `held_out` parts is left out once, and [perplexity()] says how well a fit to the others predicts
#' it (Wallach and others 2009, *ICML*, 1105-1112). One more fit, to all documents, has [coherence()].
#' @param x counts, documents by terms, as in [topic_model()].
#' @param topics the numbers of topics, at least two.
#' @param folds number of parts, 2 to the number of documents.
#' @param held_out how many of the parts are left out, one after the other. One is enough for a large collection.
#' @param measure,n measure and number of terms of [coherence()].
#' @param share share of the words of a left-out document that is predicted, as in [perplexity()].
#' @param prevalence,data covariates of the documents, as in [topic_model()].
#' @param ... further arguments of [topic_model()], such as `iter` or `alpha`.
#' @param chains number of chains of each fit.
#' @param i one of the numbers of topics, such as `20` or `"20"`.
#' @param object a comparison.
#' @param main title of the picture.
#' @inheritParams computing_arguments
#' @return An object of class `topic_comparison`: a list with
#'   \item{table}{a data frame with a row for each number of topics: `topics`; `perplexity` and its standard error
#'     `perplexity_se`; `difference`, the mean log probability of a predicted word minus that of the best number of
#'     topics, and `difference_se`; `coherence` and `coherence_se`; `found`, the share of topics that other fits find,
#'     as in [topic_stability()]; `seconds`.}
#'   \item{best, alike}{the number of topics with the lowest perplexity; those with `difference` within two standard
#'     errors of zero.}
#'   \item{verdict, fits}{an object of [verdict()]; the fits to all documents. `x[[20]]` gives the fit with 20 topics.}
#'   \item{log_likelihood, tokens}{left-out documents by numbers of topics: the log probability of the predicted words,
#'     and their number.}
#'
#' `plot()` and `autoplot()` show `difference` and `coherence` with bars of two standard errors.
#' @examples
#' x <- t(sapply(1:60, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' compared <- compare_topics(x, c(1, 2, 4), folds = 3, iter = 60, n = 3, seed = 1, threads = 2)
#' compared
#' @export
compare_topics <- function(x, topics, folds = 5, held_out = folds, measure = c("npmi", "umass", "cv"), n = 10,
                           share = 0.5, prevalence = NULL, data = NULL, ..., chains = 1, seed = NULL,
                           backend = NULL, threads = NULL, progress = NULL) {
  require_arguments("x", "topics")
  counts <- count_matrix(x)
  wrong <- if (is.numeric(topics)) setdiff(topics, seq_len(16384))
  if (!is.numeric(topics) || length(unique(topics)) < 2L || length(wrong)) {
    stop_input("topics", "must be at least two whole numbers from 1 to 16384, such as c(10, 20, 50), not ",
      show_value(if (length(wrong)) wrong[[1L]] else topics))
  }
  topics <- sort(unique(as.double(topics)))
  if (counts$size[[1L]] < 2) stop_input("x", "has one document: at least two are needed, because some are left out")
  folds <- check_count(folds, "folds", min = 2, max = counts$size[[1L]])
  held_out <- check_count(held_out, "held_out", max = folds)
  measure <- check_choice(measure, "measure", names(coherence_names))
  n <- check_count(n, "n", min = 2)
  share <- check_number(share, "share", 0, 1)
  if (!is.null(list(...)$control$checkpoint)) {
    stop_input("control", "has a checkpoint, which cannot be used here: there are several fits, and one file")
  }
  if (!is.null(prevalence)) {
    check_formula(prevalence, "prevalence", response = FALSE, takes = "smooth", example = "~ party")
    data <- join_variables(prevalence, data, document_names(counts), counts$size[[1L]], "document")$data
  }
  rows <- function(documents) if (is.null(prevalence)) data else data[documents, , drop = FALSE]
  seed <- check_seed(seed)
  part <- with_seed(seed, sample(rep_len(seq_len(folds), counts$size[[1L]])))
  seeds <- with_seed(seed, sample.int(.Machine$integer.max, held_out + 1))
  fit_to <- function(documents, number, run) {
    topic_model(take_documents(counts, documents), number, ..., prevalence = prevalence, data = rows(documents),
      chains = chains, seed = seeds[[run]], backend = backend, threads = threads, progress = progress)
  }
  # The fit to all documents has told of the data.
  quietly <- function(value) tryCatch(suppressMessages(value), warpbayes_error_input = function(error) {
    stop_input("folds", "leaves out documents without which there is no fit: ", because = error)
  })
  of_number <- lapply(topics, function(number) {
    started <- proc.time()[["elapsed"]]
    told <- if (number > topics[[1L]]) suppressMessages else identity
    fit <- told(fit_to(seq_len(counts$size[[1L]]), number, held_out + 1))
    matched <- number^2 * counts$size[[2L]] * held_out <= most_matched
    parts <- lapply(seq_len(held_out), function(run) {
      out <- which(part == run)
      other <- quietly(fit_to(which(part != run), number, run))
      list(score = quietly(score_part(other, take_documents(counts, out), share, rows(out), seed, backend, threads)),
        found = if (matched) mean(share_found(match_topics(fit, list(other$phi)))) else NA_real_)
    })
    coherent <- stats::na.omit(coherence(fit, n = n, measure = measure))
    list(fit = fit, score = do.call(rbind, lapply(parts, `[[`, "score")), columns = data.frame(
      coherence = mean(coherent), coherence_se = stats::sd(coherent) / sqrt(length(coherent)),
      found = mean(vapply(parts, `[[`, 0, "found")), seconds = proc.time()[["elapsed"]] - started))
  })
  left_out <- order(part)[seq_len(sum(part <= held_out))]
  log_likelihood <- matrix(vapply(of_number, function(one) one$score[, 1L], numeric(length(left_out))),
    ncol = length(topics), dimnames = list(counts$documents[left_out], as.character(topics)))
  tokens <- stats::setNames(of_number[[1L]]$score[, 2L], counts$documents[left_out])
  if (sum(tokens) == 0) stop_input("x", "has too few tokens: none of the documents left out has a word to predict")
  table <- data.frame(topics = topics, compare_scores(log_likelihood, tokens, part[left_out]),
    do.call(rbind, lapply(of_number, `[[`, "columns")))
  fits <- lapply(of_number, `[[`, "fit")
  best <- which.max(table$difference)
  alike <- abs(table$difference) <= 2 * table$difference_se | seq_along(topics) == best
  structure(list(
    table = table, best = topics[[best]], alike = topics[which(alike)],
    verdict = comparison_verdict(topics, best, alike, table, fits), measure = measure, documents = length(left_out),
    fits = fits, log_likelihood = log_likelihood, tokens = tokens, seed = seed
  ), class = c("topic_comparison", "warpbayes"))
}

coherence_names <- c(npmi = "NPMI", umass = "UMass", cv = "C_v")

score_part <- function(fit, counts, share, data, seed, backend, threads) {
  if (split_tokens(counts, share, seed)$predicted$tokens == 0) return(matrix(0, counts$size[[1L]], 2L))
  score <- perplexity(fit, counts, share, data = data, seed = seed, backend = backend, threads = threads)
  cbind(attr(score, "log_likelihood"), attr(score, "tokens"))
}

# The means over tokens, with their errors: documents (rows) are the independent units, and parts of documents too.
compare_scores <- function(log_likelihood, tokens, part) {
  total <- sum(tokens)
  means <- colSums(log_likelihood) / total
  best <- which.max(means)
  error <- function(values) {
    rest <- values - sum(values) / total * tokens
    of_sums <- function(rest) {
      if (length(rest) > 1L) sqrt(sum(rest^2) * length(rest) / (length(rest) - 1)) / total else NA_real_
    }
    max(of_sums(rest), if (length(unique(part)) > 2L) of_sums(as.vector(rowsum(rest, part))))
  }
  errors <- apply(log_likelihood, 2L, error)
  data.frame(perplexity = exp(-means), perplexity_se = exp(-means) * errors, difference = means - means[[best]],
    difference_se = apply(log_likelihood - log_likelihood[, best], 2L, error), row.names = NULL)
}

comparison_verdict <- function(topics, best, alike, table, fits) {
  others <- topics[setdiff(which(alike), best)]
  worse <- topics[which(!alike)]
  of_fits <- lapply(fits, verdict)
  weakest <- which.max(match(vapply(of_fits, `[[`, "", "answer"), answers))
  new_verdict("the comparison",
    reason("number_best", figure = topics[[best]], topics = whole_words(topics[[best]]),
      perplexity = format(signif(table$perplexity[[best]], 4))),
    if (length(others)) {
      reason("number_alike", quantity = others, figure = min(others), smallest = if (min(others) < topics[[best]]) {
        sprintf(" The smallest number that is not worse is %s.", whole_words(min(others)))
      })
    },
    if (length(worse)) reason("number_worse", quantity = worse, figure = length(worse)),
    if (anyNA(alike)) reason("number_errors"),
    if (best == length(topics)) reason("number_largest", figure = topics[[best]]), rests_on = of_fits[weakest]
  )
}

comparison_title <- function(x) {
  sprintf("Topic models with %s numbers of topics, compared on %s that they had not seen", nrow(x$table),
    count_words(x$documents, "document"))
}

in_console.topic_comparison <- function(x, ...) {
  check_dots_empty(...)
  print_lines(comparison_title(x))
  print(shown_comparison(x), row.names = FALSE)
  print_verdict(x$verdict)
}

shown_comparison <- function(x) {
  table <- x$table
  digits <- max(0, 3 - floor(log10(max(table$perplexity, 1))))
  text <- function(values, digits) formatC(values, digits = digits, format = "f", big.mark = ",")
  with_error <- function(column, digits) {
    errors <- table[[paste0(column, "_se")]]
    paste0(text(table[[column]], digits), ifelse(is.finite(errors), paste0(" (", text(errors, digits), ")"), ""))
  }
  shown <- data.frame(table$topics, with_error("perplexity", digits), with_error("difference", 4),
    with_error("coherence", 3), percent(table$found), text(table$seconds, 1))
  stats::setNames(shown, c("topics", "perplexity (SE)", "log difference (SE)", sprintf("%s (SE)", x$measure), "found",
    "seconds"))
}

#' @rdname compare_topics
#' @export
summary.topic_comparison <- function(object, ...) {
  check_dots_empty(...)
  structure(unclass(object)[c("table", "best", "alike", "verdict", "measure", "documents")],
    class = c("summary.topic_comparison", "warpbayes"))
}

in_console.summary.topic_comparison <- in_console.topic_comparison

# str() and lapply() go through the parts of a list by their places, which are numbers of topics in x[[20]].
#' @rdname compare_topics
#' @importFrom utils str
#' @export
str.topic_comparison <- function(object, ...) utils::str(unclass(object), ...)

#' @rdname compare_topics
#' @export
as.list.topic_comparison <- function(x, ...) unclass(x)

#' @rdname compare_topics
#' @method tidy topic_comparison
#' @exportS3Method generics::tidy topic_comparison
tidy.topic_comparison <- function(x, ...) {
  check_dots_empty(...)
  as_table(x$table)
}

glance_of.topic_comparison <- function(x) {
  data.frame(documents = x$documents, tokens = sum(x$tokens), best = x$best, smallest_alike = min(x$alike),
    perplexity = min(x$table$perplexity), seconds = sum(x$table$seconds), verdict = x$verdict$answer)
}

#' @rdname compare_topics
#' @export
`[[.topic_comparison` <- function(x, i) {
  check_present(!missing(i), "i")
  parts <- unclass(x)
  if (is.character(i) && length(i) == 1L && i %in% names(parts)) return(parts[[i]])
  at <- if (length(i) == 1L && (is.numeric(i) || is.character(i))) match(as.character(i), parts$table$topics) else NA
  if (is.na(at)) {
    stop_input("i", "must be one of the numbers of topics, ", paste(parts$table$topics, collapse = ", "), ", not ",
      show_value(i))
  }
  parts$fits[[at]]
}

plain_picture.topic_comparison <- function(x, main) {
  table <- x$table
  at <- log10(table$topics)
  line <- function(column, title, ring = integer()) {
    rows <- which(is.finite(table[[column]]))
    value <- table[[column]][rows]
    error <- table[[paste0(column, "_se")]][rows]
    width <- ifelse(is.finite(error), 2 * error, 0)
    panel(around(at), if (length(rows)) around(c(value - width, value + width)) else 0:1, list(
      if (length(ring)) layer("hline", y = 0, colour = "#DDDDDD"),
      layer("lines", x = at[rows], y = value, colour = bar_colour),
      layer("segments", x = at[rows], y = value - width, xend = at[rows], yend = value + width, colour = bar_colour),
      layer("points", x = at[rows], y = value, colour = bar_colour, fill = bar_colour),
      if (length(ring)) layer("points", x = at[ring], y = table[[column]][ring], size = 2.2)
    ), list(at = at, labels = as.character(table$topics)), title = title)
  }
  panels <- list(line("difference", "Log score, less the best", match(x$best, table$topics)),
    line("coherence", sprintf("Coherence (%s)", coherence_names[[x$measure]])))
  with_answer_below(picture(panels, main, "Topics", columns = 2L), x$verdict)
}
