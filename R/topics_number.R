# The number of topics that a hierarchical Dirichlet process uses.

#' The number of topics that was learned
#'
#' Gives the posterior of the number of topics of a fit with `alpha = "hdp"`. In each draw a topic counts if it has at
#' least a tenth of the tokens of an average topic that counts. Chains seldom join or split topics, so compare the rows
#' of several chains. [compare_topics()] answers how many topics predict best.
#' @section Model:
#' `alpha = "hdp"` is a hierarchical Dirichlet process (Teh and others 2006, *JASA* 101, 1566-1581), truncated at
#' `topics` by the approximation of Ishwaran and Zarepour (2002, *Canadian Journal of Statistics* 30, 269-283):
#' \eqn{\alpha_k \sim \mathrm{Ga}(s/K, rate)}{alpha_k ~ Ga(s/K, rate)}, where \eqn{s} is `shape` times one of 1/4, 1/2,
#' 1, 2, ..., 64, equally probable a priori. Choose `topics` at least twice as large as the number that you expect.
#' @param fit a fit from [topic_model()] with `alpha = "hdp"`.
#' @param ... must be empty: a misspelt argument is an error.
#' @return A data frame with a row for each number and chain in which it occurs: `chain`, `topics` and `probability`,
#'   the share of the chain's draws.
#' @examples
#' weights <- function(d) rep(if (d %% 2) c(3, 0.1) else c(0.1, 3), each = 10)
#' x <- t(sapply(1:60, function(d) rmultinom(1, 40, weights(d))))
#' fit <- topic_model(x, topics = 8, alpha = "hdp", iter = 200, seed = 1, threads = 2)
#' number_of_topics(fit)
#' @export
number_of_topics <- function(fit, ...) {
  check_method(fit, "fit", ...)
  if (!kind_of(fit)$number_learned) stop_input("fit", "has a given number of topics: alpha = \"hdp\" learns it")
  do.call(rbind, lapply(seq_len(fit$chains), function(chain) {
    share <- table(used_numbers(fit, chain))
    data.frame(chain = chain, topics = as.integer(names(share)), probability = as.vector(share) / sum(share))
  }))
}

# The number of topics in each kept draw of a chain, or in its last sweep if none was kept.
used_numbers <- function(fit, chain) {
  tokens <- if (length(fit$draws$tokens)) fit$draws$tokens[, , chain] else fit$tokens[, chain]
  apply(matrix(tokens, fit$topics), 2L, used_number)
}

# The largest number of topics of which each has at least a tenth of their mean size.
used_number <- function(tokens) {
  size <- sort(tokens, decreasing = TRUE)
  max(which(size >= 0.1 * cumsum(size) / seq_along(size)))
}

used_topics <- function(fit) {
  order <- order(-topic_prevalence(fit))
  if (!kind_of(fit)$number_learned) return(order)
  utils::head(order, round(stats::median(used_numbers(fit, fit$reference))))
}

learned_number_words <- function(fit) {
  numbers <- lapply(seq_len(fit$chains), used_numbers, fit = fit)
  range <- range(vapply(numbers, stats::quantile, c(0, 0), c(0.05, 0.95), type = 1, names = FALSE))
  used <- length(used_topics(fit))
  c(
    sprintf("the number of topics is learned: %s, 90%% interval %s to %s%s", whole_words(used),
      whole_words(range[[1L]]), whole_words(range[[2L]]), if (fit$chains > 1) " over all chains" else ""),
    if (used == fit$topics) "all topics that were allowed are used, so the limit decides: choose more `topics`"
  )
}
