# Pictures of a fitted topic model.

#' Plot a topic model
#'
#' Draws the top terms of topics, how prevalent the topics are, the log likelihood of the chains, or the correlations
#' between topics.
#'
#' @param x a fit from [topic_model()].
#' @param type `"terms"`: the top terms of the most prevalent topics. `"prevalence"`: the share of each topic in all
#'   tokens. `"log_likelihood"`: the log likelihood of each sweep and chain. `"correlation"`: correlations between the
#'   topics' shares of the documents, on the centred log scale.
#' @param topics how many of the most prevalent topics to show.
#' @param n how many terms of each topic to show.
#' @param by how terms are ranked, as in [top_terms()].
#' @param main title.
#' @param ... must be empty: a misspelt argument is an error.
#' @return `x`, invisibly.
#' @section Errors:
#' `warpbayes_error_input` for arguments that cannot be used.
#' @examples
#' x <- t(sapply(1:40, function(d) rmultinom(1, 30, if (d %% 2) c(3, 3, 0, 1) else c(0, 1, 3, 3))))
#' colnames(x) <- c("goal", "team", "price", "trade")
#' fit <- topic_model(x, topics = 2, iter = 60, seed = 1, threads = 2)
#' plot(fit, n = 3)
#' plot(fit, "log_likelihood")
#' @export
plot.topic_model <- function(x, type = c("terms", "prevalence", "log_likelihood", "correlation"), topics = NULL, n = 8,
                             by = c("probability", "lift", "frex"), main = NULL, ...) {
  check_dots_empty(...)
  type <- check_choice(type, "type", c("terms", "prevalence", "log_likelihood", "correlation"))
  by <- check_choice(by, "by", c("probability", "lift", "frex"))
  n <- check_count(n, "n")
  most <- if (is.null(topics)) {
    c(terms = 6, prevalence = 50, log_likelihood = 1, correlation = 30)[[type]]
  } else {
    check_count(topics, "topics")
  }
  shown <- utils::head(order(-topic_prevalence(x)), most)
  switch(type,
    terms = plot_topic_terms(x, shown, n, by, main),
    prevalence = plot_prevalence(x, shown, n, main),
    log_likelihood = plot_topic_trace(x, main),
    correlation = plot_topic_correlation(x, shown, main)
  )
  invisible(x)
}

topic_title <- function(fit, topic) {
  sprintf("Topic %d (%s%%)", topic, format(100 * topic_prevalence(fit)[[topic]], digits = 2))
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
    graphics::rect(0, at - 0.35, score, at + 0.35, col = "#4477AA", border = NA)
    graphics::text(-0.02 * top, at, rev(own$term), adj = 1, cex = 0.9, xpd = NA)
    ticks <- pretty(c(0, top), 3)
    graphics::axis(1, at = ticks[ticks <= top], cex.axis = 0.8)
    graphics::title(topic_title(fit, topic), cex.main = 1)
  }
  if (!is.null(main)) graphics::mtext(main, outer = TRUE, font = 2L)
}

plot_prevalence <- function(fit, shown, n, main) {
  prevalence <- topic_prevalence(fit)[shown]
  labels <- paste0(shown, "  ", term_lines(fit, shown, min(n, 4)))
  at <- rev(seq_along(shown))
  size <- max(0.4, min(1, 24 / length(shown)))
  old <- graphics::par(mar = c(3.2, 0.5, if (is.null(main)) 0.8 else 2.6, 1), las = 1, mgp = c(2, 0.5, 0), tcl = -0.2)
  on.exit(graphics::par(old))
  graphics::plot.new()
  top <- max(prevalence)
  graphics::plot.window(c(0, 1.9 * top), c(0.4, length(at) + 0.6), yaxs = "i")
  graphics::rect(0, at - 0.35, prevalence, at + 0.35, col = "#4477AA", border = NA)
  graphics::text(prevalence + 0.02 * top, at, labels, adj = 0, cex = 0.85 * size, xpd = NA)
  ticks <- pretty(c(0, top), 4)
  ticks <- ticks[ticks <= top]
  graphics::axis(1, at = ticks, labels = paste0(100 * ticks, "%"))
  graphics::mtext("Share of all tokens", side = 1L, line = 2, adj = 0)
  if (!is.null(main)) graphics::title(main)
}

plot_topic_trace <- function(fit, main) {
  values <- fit$log_likelihood / fit$x$tokens
  # The first 2% of the sweeps are left out of the range: after a random start they lie so low that the others would
  # look like one line.
  visible <- values[seq_len(nrow(values)) > nrow(values) / 50, ]
  colours <- rep_len(c("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377"), ncol(values))
  old <- graphics::par(mar = c(3.4, 4.4, if (is.null(main)) 1 else 2.6, 1), las = 1, mgp = c(3.2, 0.6, 0), tcl = -0.25)
  on.exit(graphics::par(old))
  graphics::matplot(values,
    type = "l", lty = 1, col = colours, ylim = range(visible), xlab = "", ylab = "Log likelihood per token"
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

plot_topic_correlation <- function(fit, shown, main) {
  if (length(shown) < 3L || nrow(fit$theta) < 3L) {
    stop_input("type", "is \"correlation\", for which at least three topics and three documents are needed",
      call = NULL
    )
  }
  logs <- log(pmax(fit$theta, 1e-12))
  logs <- logs - rowMeans(logs)
  correlation <- stats::cor(logs[, shown])
  order <- stats::hclust(stats::as.dist(1 - correlation), "average")$order
  correlation <- correlation[order, order]
  labels <- paste(shown[order], term_lines(fit, shown[order], 2))
  k <- length(shown)
  palette <- grDevices::hcl.colors(101L, "Blue-Red 3")
  diag(correlation) <- NA
  limit <- max(abs(correlation), na.rm = TRUE)
  colour <- palette[1L + round(100 * (correlation / limit + 1) / 2)]
  colour[is.na(colour)] <- "#DDDDDD"
  width <- 0.5 * max(nchar(labels)) * max(0.45, min(1, 16 / k)) + 1
  old <- graphics::par(mar = c(1.5, width, if (is.null(main)) 1 else 2.6, 1), las = 1, xaxs = "i", yaxs = "i")
  on.exit(graphics::par(old))
  graphics::plot.new()
  graphics::plot.window(c(0, k), c(0, k))
  graphics::rasterImage(matrix(colour, k)[rev(seq_len(k)), ], 0, 0, k, k, interpolate = FALSE)
  graphics::axis(2,
    at = seq_len(k) - 0.5, labels = labels, tick = FALSE, line = -0.6, cex.axis = max(0.45, min(1, 16 / k))
  )
  graphics::mtext(sprintf("blue %s to red %s", format(-limit, digits = 2), format(limit, digits = 2)),
    side = 1L, line = 0.3, cex = 0.8
  )
  if (!is.null(main)) graphics::title(main)
}
