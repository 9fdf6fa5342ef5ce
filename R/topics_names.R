# Names of topics: given by the user, or made from the terms of the topics.

#' Names of topics
#'
#' `topic_names(fit)` gives a name for each topic: the name that you have set, or the most relevant terms of the topic.
#' `topic_names(fit) <- value` sets the names. They then stand in the rows of `phi`, the columns of `theta` and of
#' [predict()][predict.topic_model()], the tables, the printed fit and the pictures. [continue()] and [relabel()] keep
#' them.
#'
#' @param fit a fit from [topic_model()].
#' @param n how many terms make a name, where you have set none. Terms are ranked by relevance, see [top_terms()].
#' @param ... must be empty: a misspelt argument is an error.
#' @param value a name for each topic, in the order of their numbers, all different; `NULL` removes the names.
#' @return A character vector with a name for each topic.
#' @section Errors:
#' `warpbayes_error_input` for names that are missing, empty or not one for each topic.
#' @examples
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' colnames(x) <- c("goal", "team", "price", "trade")
#' fit <- topic_model(x, topics = 2, iter = 60, seed = 1, threads = 2)
#' topic_names(fit, 2)
#' topic_names(fit) <- ifelse(fit$phi[, "goal"] > fit$phi[, "price"], "sports", "markets")
#' fit
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
    value <- if (is.factor(value)) as.character(value) else value
    if (!is.character(value) || length(value) != fit$topics) {
      stop_input("value", sprintf("must be NULL or %d names, one for each topic, not ", fit$topics), show_value(value))
    }
    value <- unname(value)
    bad <- which(is.na(value) | !nzchar(value) | duplicated(value))
    if (length(bad)) {
      stop_input("value", sprintf("must have a name of its own for each topic, but that of topic %d is %s",
        bad[[1L]], show_value(value[[bad[[1L]]]])))
    }
  }
  fit$topic_names <- value
  rownames(fit$phi) <- value
  if (!is.null(fit$group_alpha)) colnames(fit$group_alpha) <- value
  colnames(fit$theta) <- value
  fit
}

# How texts refer to topics: by name if they have one, otherwise by number.
topic_labels <- function(fit, topics, prefix = "") {
  if (is.null(fit$topic_names)) paste0(prefix, topics) else fit$topic_names[topics]
}

# Checks that the parts of a fit have the sizes that the methods and the compiled code rely on. A fit is a list, and
# anybody can change it.
check_topic_fit <- function(fit, argument = "fit") {
  check_present(!missing(fit), argument)
  check_fit_class(fit, argument, "topic_model", "topic_model()")
  refuse <- function(part, ...) {
    stop_input(argument, "has a part `", part, "` that is not ", ..., ": it has been changed since it was made")
  }
  is_whole <- function(value) is.numeric(value) && length(value) == 1L && value %in% seq_len(16384)
  check <- part_checks(fit, argument)
  check$count("chains", 1, 1e4)
  for (part in c("iter", "warmup")) check$count(part, 0)
  check$count("thin", 1)
  for (part in c("draws", "learn", "state")) check$list(part)
  check$choice("method", c("gibbs", "mean_for_mode"))
  if (!is_whole(fit$topics)) refuse("topics", "a number of topics, but ", show_value(fit$topics))
  if (!inherits(fit$x, "count_matrix")) refuse("x", "the counts that were fitted, but ", show_value(fit$x))
  size <- c(fit$topics, length(fit$documents), length(fit$terms))
  if (!is.character(fit$documents) || !is.character(fit$terms) ||
    !identical(as.double(fit$x$size), as.double(size[2:3]))) {
    refuse("x", "of as many documents and terms as `documents` and `terms` name")
  }
  shape <- function(part, rows, columns) {
    value <- fit[[part]]
    if (!is.double(value) || !identical(as.double(dim(value)), as.double(c(rows, columns)))) {
      refuse(part, "a matrix of ", whole_words(rows), " x ", whole_words(columns), " numbers, but ", show_value(value))
    }
  }
  shape("phi", size[[1L]], size[[3L]])
  shape("theta", size[[2L]], size[[1L]])
  check$stored(topic_plan(fit), absent = FALSE)
  check$count("reference", 1, fit$chains)
  check$numbers("elapsed", 2L)
  if (!is.numeric(fit$alpha) || length(fit$alpha) != size[[1L]] || !all(is.finite(fit$alpha) & fit$alpha > 0)) {
    refuse("alpha", "a positive number for each topic")
  }
  check_structure_parts(fit, refuse)
  check$numbers("earlier", 1L)
  if (nlevels(fit$groups) > 1L) {
    shape("group_alpha", nlevels(fit$groups), size[[1L]])
    if (!all(is.finite(fit$group_alpha) & fit$group_alpha > 0)) refuse("group_alpha", "positive")
  }
  if (!is.numeric(fit$document_tokens) || length(fit$document_tokens) != size[[2L]]) {
    refuse("document_tokens", "a number of tokens for each document")
  }
  if (!is.null(fit$agreement)) {
    for (part in c("match", "distance")) {
      value <- if (is.list(fit$agreement)) fit$agreement[[part]]
      if (!is.numeric(value) || !identical(as.double(dim(value)), c(size[[1L]], fit$chains)) || anyNA(value)) {
        refuse("agreement", "a list of `match` and `distance`, topics x chains")
      }
    }
  }
  if (!is.null(fit$topic_names) && (!is.character(fit$topic_names) || length(fit$topic_names) != size[[1L]])) {
    refuse("topic_names", "a name for each topic")
  }
}

check_intact.topic_model <- function(x, argument) check_topic_fit(x, argument)
