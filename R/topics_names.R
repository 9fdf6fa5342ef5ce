# Names of topics: given by the user, or made from the terms of the topics.

#' Names of topics
#'
#' `topic_names(fit)` gives a name for each topic: the name that you have set, or the most relevant terms of the topic.
#' `topic_names(fit) <- value` sets the names, which then stand in `phi`, `theta`, tables, printed fits and pictures.
#'
#' @param fit a fit from [topic_model()].
#' @param n how many terms make a name, where you have set none. Terms are ranked by relevance, see [top_terms()].
#' @param ... must be empty: a misspelt argument is an error.
#' @param value a name for each topic, in the order of their numbers, all different; `NULL` removes the names.
#' @return A character vector with a name for each topic.
#' @examples
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' colnames(x) <- c("goal", "team", "price", "trade")
#' fit <- topic_model(x, topics = 2, iter = 60, seed = 1, threads = 2)
#' topic_names(fit, 2)
#' topic_names(fit) <- ifelse(fit$phi[, "goal"] > fit$phi[, "price"], "sports", "markets")
#' @export
topic_names <- function(fit, n = 3, ...) {
  check_method(fit, "fit", ...)
  n <- check_count(n, "n")
  if (!is.null(fit$topic_names)) return(fit$topic_names)
  make.unique(term_lines(fit, seq_len(fit$topics), n, by = "relevance"))
}

#' @rdname topic_names
#' @export
`topic_names<-` <- function(fit, value) {
  check_present(!missing(value), "value")
  check_topic_fit(fit)
  if (!is.null(value)) {
    if (is.factor(value)) value <- as.character(value)
    if (!is.character(value) || length(value) != fit$topics) {
      stop_input("value", sprintf("must be NULL or %d names, one for each topic, not ", fit$topics), show_value(value))
    }
    value <- unname(by_names(value, topic_labels(fit, seq_len(fit$topics)), "value", "topic"))
    bad <- which(is.na(value) | !nzchar(value) | duplicated(value))
    if (length(bad)) {
      stop_input("value", sprintf("must have a name of its own for each topic, but that of topic %d is %s",
        bad[[1L]], show_value(value[[bad[[1L]]]])))
    }
  }
  fit$topic_names <- value
  rownames(fit$phi) <- colnames(fit$theta) <- value
  fit
}

topic_labels <- function(fit, topics, prefix = "") {
  if (is.null(fit$topic_names)) paste0(prefix, topics, recycle0 = TRUE) else fit$topic_names[topics]
}

with_names <- function(table, fit) {
  if (!is.null(fit$topic_names)) table$name <- fit$topic_names[table$topic]
  table
}

columns_first <- function(table, first) table[union(intersect(first, names(table)), names(table))]

topic_prevalence <- function(fit) colSums(fit$theta * fit$document_tokens) / sum(fit$document_tokens)

# Whole percents, or with a decimal if one is below ten percent.
percent_words <- function(shares) format(percent(shares, if (isTRUE(any(shares < 0.1))) 1 else 0), justify = "right")
