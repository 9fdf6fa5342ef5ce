# Pictures of a fitted topic model.

#' Plot a topic model
#'
#' Draws one of five pictures. If the fit has several chains, a star marks topics that some chain does not find; see
#' [topic_stability()].
#' @param x a fit from [topic_model()].
#' @param type `"terms"`: the top terms of the most prevalent topics. `"prevalence"`: the share of each topic in all
#'   tokens. `"log_likelihood"`: the log likelihood of each sweep and chain. `"correlation"`: correlations between the
#'   logarithms of the amounts of topics in documents (Friedman and Alm 2012, *PLOS Computational Biology* 8, e1002687).
#'   `"map"`: topics with similar terms are close to each other, and the area of a circle is the share of the topic in
#'   all tokens.
#' @param topics how many of the most prevalent topics to show.
#' @param n how many terms of each topic to show.
#' @param by how terms are ranked, as in [top_terms()].
#' @param main title.
#' @param ... must be empty: a misspelt argument is an error.
#' @return `x`, invisibly.
#' @examples
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' fit <- topic_model(x, topics = 2, iter = 60, seed = 1, threads = 2)
#' plot(fit, n = 3)
#' @export
plot.topic_model <- function(x, type = c("terms", "prevalence", "log_likelihood", "correlation", "map"),
                             topics = NULL, n = 8, by = c("probability", "lift", "frex", "relevance"), main = NULL,
                             ...) {
  check_method(x, "x", ...)
  paint_picture(topic_picture(x, type, topics, n, by, main))
  invisible(x)
}

topic_picture <- function(fit, type, topics, n, by, main) {
  type <- check_choice(type, "type", eval(formals(plot.topic_model)$type))
  by <- check_choice(by, "by", term_rankings)
  n <- check_count(n, "n")
  room <- c(terms = 6, prevalence = 50, log_likelihood = 1, correlation = 30, map = 40)
  shown <- utils::head(used_topics(fit), if (is.null(topics)) room[[type]] else check_count(topics, "topics"))
  with_answer_below(switch(type,
    correlation = correlation_heat(fit, shown, main), terms = term_picture(fit, shown, n, by, main),
    prevalence = prevalence_picture(fit, shown, n, main),
    log_likelihood = {
      values <- fit$log_likelihood / fit$x$tokens
      # After a random start the first 2% of the sweeps lie so low that the others would look like one line.
      visible <- range(values[seq_len(nrow(values)) > nrow(values) / 50, ])
      trace_picture(list(draws = list(values), sweeps = nrow(values), warmup = fit$warmup, chains = ncol(values),
        titles = "Log likelihood per token", range = list(visible), rhat = NA, differs = FALSE, axis = "Sweep"), main)
    },
    map = map_picture(fit, shown, n, main)
  ), verdict(fit))
}

with_answer_below <- function(picture, verdict) {
  if (verdict$answer != answers[[1L]] && is.null(picture$heat)) {
    picture$caption <- paste(c(picture$caption, opening_words(verdict)), collapse = "; ")
  }
  picture
}

term_picture <- function(fit, shown, n, by, main) {
  terms <- top_terms(fit, n, by)
  panels <- lapply(shown, function(topic) {
    own <- terms[terms$topic == topic, ]
    at <- rev(seq_along(own$score))
    xlim <- c(0, max(1.04 * own$score, .Machine$double.eps))
    panel(xlim, c(0.4, length(at) + 0.6), list(
      layer("rects", xmin = 0, xmax = own$score, ymin = at - 0.35, ymax = at + 0.35, fill = bar_colour)
    ), axis_of(xlim, count = 3L), name_axis(own$term), sprintf("%s (%s)", marked_labels(fit, topic, "Topic "),
      percent_words(topic_prevalence(fit)[[topic]])))
  })
  all <- length(used_topics(fit))
  picture(panels, main, switch(by, probability = "Probability of the term", lift = "Lift", frex = "FREX score",
    relevance = "Relevance"), caption = if (length(shown) < all) {
    sprintf("The %s most prevalent of %s topics", whole_words(length(shown)), whole_words(all))
  })
}

prevalence_picture <- function(fit, shown, n, main) {
  share <- topic_prevalence(fit)[shown]
  at <- rev(seq_along(shown))
  labels <- paste0(" ", marked_labels(fit, shown), "  ", term_lines(fit, shown, min(n, 4)))
  # To the right of the bars there is room for the labels.
  picture(list(panel(c(0, 1.9 * max(share)), c(0.4, length(at) + 0.6), list(
    layer("rects", xmin = 0, xmax = share, ymin = at - 0.35, ymax = at + 0.35, fill = bar_colour),
    layer("text", x = share, y = at, label = labels, hjust = 0, vjust = 0.5, size = max(0.5, min(1.1, 26 / length(at))))
  ), axis_of(c(0, max(share)), percent_labels), NULL)), main, "Share of all tokens")
}

# Correlations of the logarithms of amounts of topics (Friedman and Alm 2012). t_jk = Var(log theta_j - log theta_k) =
# w_j + w_k - 2 c_jk has variances w and covariances c. The w follow from row sums if correlations average to zero.
topic_correlation <- function(theta) {
  k <- ncol(theta)
  covariance <- stats::cov(log(pmax(theta, 1e-12)))
  t <- outer(diag(covariance), diag(covariance), `+`) - 2 * covariance
  total <- rowSums(t)
  w <- (total - sum(total) / (2 * (k - 1))) / (k - 2)
  w <- pmax(w, 1e-4 * max(w))
  pmin(pmax((outer(w, w, `+`) - t) / (2 * sqrt(outer(w, w))), -1), 1)
}

correlation_heat <- function(fit, shown, main) {
  if (length(shown) < 4L || nrow(fit$theta) < 3L) {
    stop_input("type", "is \"correlation\", for which at least four topics and three documents are needed")
  }
  theta <- unname(fit$theta[, shown, drop = FALSE])
  if (all(apply(theta, 2L, stats::sd) < 1e-10)) {
    stop_input("type", "is \"correlation\", but all documents have the same shares of topics")
  }
  correlation <- topic_correlation(theta)
  # The first is at the bottom.
  order <- stats::hclust(stats::as.dist(1 - correlation), "average")$order
  correlation <- correlation[rev(order), order]
  diag(correlation[rev(seq_along(order)), ]) <- NA
  limit <- max(0.2, ceiling(10 * max(abs(correlation), na.rm = TRUE)) / 10)
  labels <- marked_labels(fit, shown[order])
  heat_picture(correlation, rev(paste(labels, term_lines(fit, shown[order], 2))), labels, limit,
    "Correlation of the amounts of topics", main)
}

# Positions of topics: classical scaling of root Jensen-Shannon divergences (Sievert and Shirley 2014).
topic_positions <- function(phi) {
  k <- nrow(phi)
  entropy <- function(p) -sum(p[p > 0] * log(p[p > 0]))
  own <- apply(phi, 1L, entropy)
  divergence <- utils::combn(k, 2L, function(pair) entropy(colMeans(phi[pair, ])) - mean(own[pair]))
  distance <- structure(sqrt(pmax(divergence, 0)), Size = k, class = "dist")
  # The sign of an axis is arbitrary: the first topic is on the positive side.
  at <- suppressWarnings(stats::cmdscale(distance, 2L))
  at <- cbind(at, matrix(0, k, 2L - ncol(at)))
  at * rep(ifelse(at[1L, ] < 0, -1, 1), each = k)
}

map_picture <- function(fit, shown, n, main) {
  if (length(shown) < 3L) stop_input("type", "is \"map\", for which at least three topics are needed")
  at <- topic_positions(fit$phi[shown, , drop = FALSE])
  prevalence <- topic_prevalence(fit)[shown]
  listed <- utils::head(shown, 25L)
  list <- paste0(marked_labels(fit, listed), "  ", term_lines(fit, listed, min(n, 3)))
  span <- max(apply(at, 2L, function(values) diff(range(values))), 1e-9)
  radius <- 0.1 * span * sqrt(prevalence / max(prevalence))
  angle <- seq(0, 2 * pi, length.out = 61L)
  ylim <- around(c(at[, 2L] - radius, at[, 2L] + radius))
  ylim <- mean(ylim) + c(-0.5, 0.5) * max(diff(ylim), 0.5 * span)
  right <- max(at[, 1L] + radius) + 0.08 * span
  rows <- ylim[[2L]] - diff(ylim) * (seq_along(list) - 0.5) / max(14, length(list))
  picture(list(panel(c(min(at[, 1L] - radius), right + 0.03 * span * max(nchar(list))), ylim, list(
    layer("hline", y = 0, colour = "#DDDDDD"), layer("vline", x = 0, colour = "#DDDDDD"),
    layer("polygons", x = rep(at[, 1L], each = 61L) + as.vector(outer(cos(angle), radius)),
      y = rep(at[, 2L], each = 61L) + as.vector(outer(sin(angle), radius)), group = rep(seq_along(radius), each = 61L),
      fill = grDevices::adjustcolor(bar_colour, 1 / 3), colour = bar_colour),
    layer("text", x = at[, 1L], y = at[, 2L], label = topic_labels(fit, shown), hjust = 0.5, vjust = 0.5, bold = TRUE),
    layer("text", x = right, y = rows, label = list, hjust = 0, vjust = 0.5)
  ), NULL, NULL)), main, caption = "Near topics have similar terms; areas are shares of all tokens", aspect = 1)
}

#' @rdname autoplot.warpbayes
#' @method autoplot topic_model
#' @exportS3Method ggplot2::autoplot topic_model
autoplot.topic_model <- function(object, type = c("terms", "prevalence", "log_likelihood", "correlation", "map"),
                                 topics = NULL, n = 8, by = c("probability", "lift", "frex", "relevance"),
                                 main = NULL, ...) {
  check_method(object, "object", ...)
  gg_draw(topic_picture(object, type, topics, n, by, main))
}

# A picture of a result that has one.
plain_picture <- function(x, main) UseMethod("plain_picture")

#' @rdname compare_topics
#' @export
plot.topic_comparison <- function(x, main = NULL, ...) {
  check_dots_empty(...)
  paint_picture(plain_picture(x, main))
  invisible(x)
}

#' @rdname autoplot.warpbayes
#' @method autoplot topic_comparison
#' @exportS3Method ggplot2::autoplot topic_comparison
autoplot.topic_comparison <- function(object, main = NULL, ...) {
  check_dots_empty(...)
  gg_draw(plain_picture(object, main))
}

#' @rdname topic_effects
#' @export
plot.topic_effects <- plot.topic_comparison

#' @rdname autoplot.warpbayes
#' @method autoplot topic_effects
#' @exportS3Method ggplot2::autoplot topic_effects
autoplot.topic_effects <- autoplot.topic_comparison
