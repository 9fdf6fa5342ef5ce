# Pictures of a fitted topic model.

#' Plot a topic model
#'
#' Draws the top terms of topics, how prevalent the topics are, the log likelihood of the chains, or the correlations
#' between topics, or maps the topics.
#'
#' @param x a fit from [topic_model()].
#' @param type `"terms"`: the top terms of the most prevalent topics. `"prevalence"`: the share of each topic in all
#'   tokens. `"log_likelihood"`: the log likelihood of each sweep and chain. `"correlation"`: correlations between the
#'   logarithms of the amounts of topics in documents. They are those of Friedman and Alm (2012), for which zero means
#'   unrelated although the shares of a document sum to one. `"map"`: topics with similar terms are close to each other,
#'   and the area of a circle is the share of the topic in all tokens (Sievert and Shirley 2014).
#' @param topics how many of the most prevalent topics to show.
#' @param n how many terms of each topic to show.
#' @param by how terms are ranked, as in [top_terms()].
#' @param main title.
#' @param ... must be empty: a misspelt argument is an error.
#' @return `x`, invisibly.
#' @section Errors:
#' `warpbayes_error_input` for arguments that cannot be used.
#' @references
#' Friedman, J. and Alm, E. J. (2012). Inferring correlation networks from genomic survey data. *PLOS Computational
#' Biology* **8**, e1002687.
#'
#' Sievert, C. and Shirley, K. E. (2014). LDAvis: a method for visualizing and interpreting topics. *Proceedings of the
#' Workshop on Interactive Language Learning, Visualization, and Interfaces*, 63-70.
#' @examples
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' colnames(x) <- c("goal", "team", "price", "trade")
#' fit <- topic_model(x, topics = 2, iter = 60, seed = 1, threads = 2)
#' plot(fit, n = 3)
#' plot(fit, "log_likelihood")
#' @export
plot.topic_model <- function(x, type = c("terms", "prevalence", "log_likelihood", "correlation", "map"),
                             topics = NULL, n = 8, by = c("probability", "lift", "frex", "relevance"), main = NULL,
                             ...) {
  check_dots_empty(...)
  check_title(main)
  check_topic_fit(x, "x")
  type <- check_choice(type, "type", c("terms", "prevalence", "log_likelihood", "correlation", "map"))
  by <- check_choice(by, "by", term_rankings)
  n <- check_count(n, "n")
  shown <- shown_topics(x, type, topics)
  switch(type,
    terms = plot_topic_terms(x, shown, n, by, main),
    prevalence = plot_prevalence(x, shown, n, main),
    log_likelihood = plot_topic_trace(x, main),
    correlation = plot_topic_correlation(x, shown, main),
    map = plot_topic_map(x, shown, n, main)
  )
  invisible(x)
}

# The most prevalent topics, as many as asked for or as the picture has room for.
shown_topics <- function(x, type, topics) {
  most <- if (is.null(topics)) {
    c(terms = 6, prevalence = 50, log_likelihood = 1, correlation = 30, map = 40)[[type]]
  } else {
    check_count(topics, "topics")
  }
  utils::head(order(-topic_prevalence(x)), most)
}

topic_title <- function(fit, topic) {
  sprintf("%s (%s%%)", topic_labels(fit, topic, "Topic "), format(100 * topic_prevalence(fit)[[topic]], digits = 2))
}

plot_topic_terms <- function(fit, shown, n, by, main) {
  terms <- top_terms(fit, n, by)
  columns <- ceiling(sqrt(length(shown)))
  rows <- ceiling(length(shown) / columns)
  old <- graphics::par(no.readonly = TRUE)
  on.exit(graphics::par(old[c("mfrow", "mar", "oma", "las", "mgp", "tcl")]))
  graphics::par(
    mfrow = c(rows, columns), mar = c(2.4, 0.5, 1.8, 0.8), oma = c(0, 0, if (is.null(main)) 0 else 2, 0), las = 1,
    mgp = c(1.6, 0.4, 0), tcl = -0.2
  )
  for (topic in shown) {
    own <- terms[terms$topic == topic, ]
    score <- rev(own$score)
    at <- seq_along(score)
    top <- max(score, .Machine$double.eps)
    graphics::plot.new()
    # The left third of the panel is for the names of the terms.
    graphics::plot.window(c(-0.55 * top, top), c(0.4, length(at) + 0.6))
    graphics::rect(0, at - 0.35, score, at + 0.35, col = bar_colour, border = NA)
    graphics::text(-0.02 * top, at, rev(own$term), adj = 1, cex = 0.9, xpd = NA)
    ticks <- pretty(c(0, top), 3)
    graphics::axis(1, at = ticks[ticks <= top], cex.axis = 0.8)
    graphics::title(topic_title(fit, topic), cex.main = 1)
  }
  if (!is.null(main)) graphics::mtext(main, outer = TRUE, font = 2L)
}

plot_prevalence <- function(fit, shown, n, main) {
  prevalence <- topic_prevalence(fit)[shown]
  labels <- paste0(topic_labels(fit, shown), "  ", term_lines(fit, shown, min(n, 4)))
  at <- rev(seq_along(shown))
  size <- max(0.4, min(1, 24 / length(shown)))
  old <- graphics::par(mar = c(3.2, 0.5, if (is.null(main)) 0.8 else 2.6, 1), las = 1, mgp = c(2, 0.5, 0), tcl = -0.2)
  on.exit(graphics::par(old))
  graphics::plot.new()
  top <- max(prevalence)
  graphics::plot.window(c(0, 1.9 * top), c(0.4, length(at) + 0.6), yaxs = "i")
  graphics::rect(0, at - 0.35, prevalence, at + 0.35, col = bar_colour, border = NA)
  graphics::text(prevalence + 0.02 * top, at, labels, adj = 0, cex = 0.85 * size, xpd = NA)
  ticks <- pretty(c(0, top), 4)
  ticks <- ticks[ticks <= top]
  graphics::axis(1, at = ticks, labels = paste0(100 * ticks, "%"))
  graphics::mtext("Share of all tokens", side = 1L, line = 2, adj = 0)
  if (!is.null(main)) graphics::title(main)
}

# The first 2% of the sweeps are left out of the range: after a random start they lie so low that the others would look
# like one line.
visible_range <- function(values) range(values[seq_len(nrow(values)) > nrow(values) / 50, ])

plot_topic_trace <- function(fit, main) {
  values <- fit$log_likelihood / fit$x$tokens
  limits <- visible_range(values)
  colours <- rep_len(chain_colours, ncol(values))
  old <- graphics::par(mar = c(3.4, 4.4, if (is.null(main)) 1 else 2.6, 1), las = 1, mgp = c(3.2, 0.6, 0), tcl = -0.25)
  on.exit(graphics::par(old))
  graphics::matplot(values,
    type = "l", lty = 1, col = colours, ylim = limits, xlab = "", ylab = "Log likelihood per token"
  )
  graphics::mtext("Sweep", side = 1L, line = 2)
  if (fit$warmup > 0) {
    graphics::abline(v = fit$warmup + 0.5, lty = 2, col = "#777777")
    graphics::text(fit$warmup, graphics::par("usr")[[3L]], "warm-up ", adj = c(1, -0.6), cex = 0.8, col = "#555555")
  }
  if (ncol(values) > 1) {
    graphics::legend("bottomright",
      legend = paste("chain", seq_len(ncol(values))), col = colours, lty = 1, bty = "n", cex = 0.8
    )
  }
  if (!is.null(main)) graphics::title(main)
}

# Correlations of the logarithms of the amounts of topics in documents, by the method of Friedman and Alm (2012). The
# shares of a document sum to one, so that shares of independent topics have correlation -1/(K - 1). Differences of
# their logarithms have no such constraint: t_jk = Var(log theta_j - log theta_k) = w_j + w_k - 2 c_jk, with the
# variances w and covariances c of the unconstrained logarithms. The w follow from the row sums of t if correlations
# average to zero.
topic_correlation <- function(theta) {
  k <- ncol(theta)
  covariance <- stats::cov(log(pmax(theta, 1e-12)))
  variance <- diag(covariance)
  t <- outer(variance, variance, `+`) - 2 * covariance
  total <- rowSums(t)
  w <- (total - sum(total) / (2 * (k - 1))) / (k - 2)
  w <- pmax(w, 1e-4 * max(w))
  result <- (outer(w, w, `+`) - t) / (2 * sqrt(outer(w, w)))
  result[] <- pmin(pmax(result, -1), 1)
  diag(result) <- 1
  result
}

# Correlations of the shown topics, similar ones together, their labels, and the end of the scale: a round number, the
# same on both sides, so that white is zero.
correlation_parts <- function(fit, shown) {
  if (length(shown) < 4L || nrow(fit$theta) < 3L) {
    stop_input("type", "is \"correlation\", for which at least four topics and three documents are needed")
  }
  correlation <- topic_correlation(unname(fit$theta[, shown, drop = FALSE]))
  order <- stats::hclust(stats::as.dist(1 - correlation), "average")$order
  correlation <- correlation[order, order]
  diag(correlation) <- NA
  list(
    correlation = correlation, limit = max(0.2, ceiling(10 * max(abs(correlation), na.rm = TRUE)) / 10),
    labels = paste(topic_labels(fit, shown[order]), term_lines(fit, shown[order], 2)),
    short = topic_labels(fit, shown[order])
  )
}

plot_topic_correlation <- function(fit, shown, main) {
  parts <- correlation_parts(fit, shown)
  correlation <- parts$correlation
  limit <- parts$limit
  k <- length(shown)
  size <- max(0.45, min(1, 16 / k))
  palette <- diverging_colours(101L)
  colour_of <- function(value) palette[1L + round(100 * (value + 1) / 2)]
  colour <- colour_of(correlation / limit)
  colour[is.na(colour)] <- "#DDDDDD"
  old <- graphics::par(no.readonly = TRUE)
  on.exit(graphics::par(old[c("mar", "las", "xaxs", "yaxs", "mgp", "tcl")]))
  rows <- names_in_margin(parts$labels, graphics::par("din")[[1L]], size)
  columns <- short_names(parts$short, 12L)
  below <- if (is.null(fit$topic_names)) 3.2 else max(3.2, 1.5 + 0.5 * max(nchar(columns)) * size)
  graphics::par(mar = c(below, rows$lines, if (is.null(main)) 1 else 2.6, 6), las = 1, xaxs = "i", yaxs = "i",
    mgp = c(2, 0.4, 0), tcl = -0.2)
  graphics::plot.new()
  graphics::plot.window(c(0, k), c(0, k))
  graphics::rasterImage(matrix(colour, k)[rev(seq_len(k)), ], 0, 0, k, k, interpolate = FALSE)
  graphics::axis(2, at = seq_len(k) - 0.5, labels = rows$names, tick = FALSE, line = -0.6, cex.axis = rows$cex,
    gap.axis = -1)
  graphics::axis(1,
    at = seq_len(k) - 0.5, labels = columns, tick = FALSE, line = -0.6, cex.axis = size,
    las = if (is.null(fit$topic_names)) 1 else 2
  )
  draw_colour_key(k * 1.06, k * 1.1, k * 0.25, k * 0.75, limit, colour_of, "correlation")
  if (!is.null(main)) graphics::title(main)
}

# A key beside the picture, from -limit to limit, between the given coordinates.
draw_colour_key <- function(left, right, bottom, top, limit, colour_of, title) {
  steps <- seq(-1, 1, length.out = 101L)
  graphics::rasterImage(matrix(colour_of(rev(steps))), left, bottom, right, top, interpolate = FALSE, xpd = NA)
  at <- c(-limit, 0, limit)
  graphics::text(right + (right - left) / 3, bottom + (top - bottom) * (at / limit + 1) / 2, format(at), adj = 0,
    cex = 0.8, xpd = NA)
  graphics::text(left, top + (top - bottom) * 0.07, title, adj = 0, cex = 0.8, xpd = NA)
}

# Positions of topics in the plane: classical scaling of the square roots of the Jensen-Shannon divergences between
# their terms, as in Sievert and Shirley (2014).
topic_positions <- function(phi) {
  k <- nrow(phi)
  entropy <- function(p) -sum(p[p > 0] * log(p[p > 0]))
  own <- apply(phi, 1L, entropy)
  distance <- matrix(0, k, k)
  for (a in seq_len(k - 1L)) {
    for (b in seq(a + 1L, k)) {
      divergence <- entropy((phi[a, ] + phi[b, ]) / 2) - (own[[a]] + own[[b]]) / 2
      distance[a, b] <- distance[b, a] <- sqrt(max(divergence, 0))
    }
  }
  # The sign of an axis is arbitrary: the first topic is on the positive side.
  at <- suppressWarnings(stats::cmdscale(distance, 2L))
  at <- cbind(at, matrix(0, k, 2L - ncol(at)))
  at * rep(ifelse(at[1L, ] < 0, -1, 1), each = k)
}

# The places, prevalences and labels of topics, and a list of their terms, which stands beside the map: labels of near
# topics would cover each other.
map_parts <- function(fit, shown, n) {
  if (length(shown) < 3L) {
    stop_input("type", "is \"map\", for which at least three topics are needed")
  }
  at <- topic_positions(fit$phi[shown, , drop = FALSE])
  prevalence <- topic_prevalence(fit)[shown]
  listed <- utils::head(seq_along(shown), 25L)
  terms <- term_lines(fit, shown[listed], min(n, 3), by = "relevance")
  list(
    at = at, prevalence = prevalence, labels = topic_labels(fit, shown),
    list = paste0(topic_labels(fit, shown[listed]), "  ", terms)
  )
}

plot_topic_map <- function(fit, shown, n, main) {
  parts <- map_parts(fit, shown, n)
  at <- parts$at
  prevalence <- parts$prevalence
  list <- parts$list
  old <- graphics::par(mar = c(1, 1, if (is.null(main)) 1 else 2.6, min(0.4 * max(nchar(list)), 20)))
  on.exit(graphics::par(old))
  span <- apply(at, 2L, function(values) max(diff(range(values)), 1e-9))
  graphics::plot(at,
    type = "n", asp = 1, axes = FALSE, xlab = "", ylab = "", xlim = range(at[, 1L]) + c(-0.12, 0.12) * max(span),
    ylim = range(at[, 2L]) + c(-0.12, 0.12) * max(span)
  )
  usr <- graphics::par("usr")
  graphics::segments(c(usr[[1L]], 0), c(0, usr[[3L]]), c(usr[[2L]], 0), c(0, usr[[4L]]), col = "#DDDDDD")
  # The area of a circle is the share of the topic in all tokens.
  radius <- 0.1 * max(span) * sqrt(prevalence / max(prevalence))
  pale <- grDevices::adjustcolor(bar_colour, 1 / 3)
  graphics::symbols(at, circles = radius, inches = FALSE, add = TRUE, bg = pale, fg = bar_colour)
  graphics::text(at, parts$labels, font = 2L, cex = 0.8)
  rows <- usr[[4L]] - (usr[[4L]] - usr[[3L]]) * seq_along(list) / max(20, length(list) + 1)
  graphics::text(usr[[2L]], rows, list, adj = 0, cex = 0.75, xpd = NA)
  if (!is.null(main)) graphics::title(main)
}
