# autoplot() of regressions, tables of types, comparisons of groups and topic models.

#' @rdname autoplot.warpbayes
#' @method autoplot bayes_logit
#' @exportS3Method ggplot2::autoplot bayes_logit
autoplot.bayes_logit <- function(object, type = c("coefficients", "trace", "calibration"), parameters = NULL,
                                 main = NULL, standardise = TRUE, ...) {
  check_dots_empty(...)
  check_title(main)
  type <- check_choice(type, "type", c("coefficients", "trace", "calibration"))
  standardise <- check_flag(standardise, "standardise")
  coefficient_draws(object)
  switch(type,
    coefficients = gg_coefficients(coefficient_parts(object, parameters, standardise), main),
    trace = gg_traces(logit_trace_parts(object, parameters), main),
    calibration = gg_calibration(calibration_parts(object), main)
  )
}

gg_coefficients <- function(parts, main) {
  rows <- data.frame(name = parts$names, lower = parts$points[1L, ], upper = parts$points[4L, ],
    estimate = parts$points[5L, ])
  inner <- data.frame(at = -seq_len(nrow(rows)), lower = parts$points[2L, ], upper = parts$points[3L, ])
  plot <- gg_intervals(rows, main, parts$xlab)
  # The thin interval is that of 90%, the thick one below the point that of 50%.
  plot$layers[[2L]]$aes_params$linewidth <- 0.6
  thick <- ggplot2::geom_segment(aes_of(x = "lower", xend = "upper", y = "at", yend = "at"), inner, linewidth = 2.2,
    colour = chain_colours[[1L]])
  plot$layers <- append(plot$layers, list(thick), after = 2L)
  plot
}

gg_calibration <- function(summaries, main) {
  groups <- data.frame(fitted = summaries[1L, ], observed = summaries[2L, ], low = summaries[2L, ] - summaries[3L, ],
    high = summaries[2L, ] + summaries[3L, ])
  range <- range(groups$fitted, groups$low, groups$high)
  gg_picture(main, "fitted", "observed, with two standard errors") +
    ggplot2::geom_abline(slope = 1, intercept = 0, colour = "#BBBBBB") +
    ggplot2::geom_segment(aes_of(x = "fitted", xend = "fitted", y = "low", yend = "high"), groups,
      colour = chain_colours[[1L]]) +
    ggplot2::geom_point(aes_of(x = "fitted", y = "observed"), groups, shape = 21, fill = "white", size = 2.2,
      colour = chain_colours[[1L]]) +
    ggplot2::coord_cartesian(xlim = range, ylim = range)
}

#' @rdname autoplot.warpbayes
#' @method autoplot type_proportions
#' @exportS3Method ggplot2::autoplot type_proportions
autoplot.type_proportions <- function(object, group = NULL, types = NULL, main = NULL, ...) {
  check_dots_empty(...)
  check_title(main)
  check_share_table(object)
  samples <- levels(object$sample)
  if (!is.null(group)) {
    group <- check_groups(group, samples)
  }
  shown <- chosen_types(types, levels(object$type))
  rows <- as.data.frame(unclass(object)[c("type", "sample", "proportion", "lower", "upper")])
  rows <- rows[rows$type %in% shown, ]
  rows$type <- factor(rows$type, shown, short_names(shown))
  rows$sample <- factor(rows$sample, rev(samples))
  rows$group <- if (is.null(group)) factor("all") else group[match(rows$sample, samples)]
  colours <- rep_len(chain_colours, nlevels(rows$group))
  gg_picture(main, "Share of the cells of the sample") +
    ggplot2::geom_segment(aes_of(x = "lower", xend = "upper", y = "sample", yend = "sample", colour = "group"), rows,
      linewidth = 1.3) +
    ggplot2::geom_point(aes_of(x = "proportion", y = "sample", fill = "group"), rows, shape = 21, size = 2.2) +
    ggplot2::facet_wrap(~type, scales = "free_x") +
    ggplot2::scale_x_continuous(labels = percent_labels, limits = c(0, NA), breaks = function(ends) pretty(ends, 3)) +
    ggplot2::scale_y_discrete(labels = short_names) +
    ggplot2::scale_colour_manual(values = colours, aesthetics = c("colour", "fill"), na.value = other_colour,
      name = NULL) +
    ggplot2::ylab(NULL) +
    ggplot2::theme(legend.position = if (is.null(group)) "none" else "bottom",
      panel.grid.major.y = ggplot2::element_blank(),
      axis.text.y = ggplot2::element_text(size = max(5, min(10, 200 / length(samples)))))
}

#' @rdname autoplot.warpbayes
#' @method autoplot type_differences
#' @exportS3Method ggplot2::autoplot type_differences
autoplot.type_differences <- function(object, types = NULL, main = NULL, ...) {
  check_dots_empty(...)
  check_title(main)
  check_share_table(object)
  parts <- difference_parts(object, types)
  rows <- data.frame(name = parts$names, estimate = parts$rows$difference, lower = parts$rows$lower,
    upper = parts$rows$upper, group = factor(parts$rows$group, parts$groups), right = percent(parts$rows$above, 0))
  several <- length(parts$groups) > 1L
  gg_intervals(rows, main, parts$xlab, rep_len(chain_colours, length(parts$groups)), if (several) "Group")
}

#' @rdname autoplot.warpbayes
#' @method autoplot differential_abundance
#' @exportS3Method ggplot2::autoplot differential_abundance
autoplot.differential_abundance <- function(object, types = NULL, effect = NULL, main = NULL, ...) {
  check_dots_empty(...)
  check_title(main)
  parts <- abundance_parts(object, types, effect)
  rows <- data.frame(name = parts$rows$type, estimate = parts$rows$estimate,
    lower = pmax(parts$rows$lower, parts$limits[[1L]]), upper = pmin(parts$rows$upper, parts$limits[[2L]]),
    group = factor(ifelse(parts$found, "reported", "not reported"), c("reported", "not reported")),
    right = probability_words(parts$rows$fdr))
  colours <- c(reported = signal_colour, `not reported` = other_colour)
  gg_intervals(rows, main, parts$xlab, colours, key = sprintf("At a false discovery rate of %s",
    percent(object$limit, 0)), limits = parts$limits)
}

#' @rdname autoplot.warpbayes
#' @method autoplot topic_model
#' @exportS3Method ggplot2::autoplot topic_model
autoplot.topic_model <- function(object, type = c("terms", "prevalence", "log_likelihood", "correlation", "map"),
                                 topics = NULL, n = 8, by = c("probability", "lift", "frex", "relevance"),
                                 main = NULL, ...) {
  check_dots_empty(...)
  check_title(main)
  check_topic_fit(object, "object")
  type <- check_choice(type, "type", c("terms", "prevalence", "log_likelihood", "correlation", "map"))
  by <- check_choice(by, "by", term_rankings)
  n <- check_count(n, "n")
  shown <- shown_topics(object, type, topics)
  switch(type,
    terms = gg_terms(object, shown, n, by, main),
    prevalence = gg_prevalence(object, shown, n, main),
    log_likelihood = gg_topic_trace(object, main),
    correlation = {
      parts <- correlation_parts(object, shown)
      # The base picture has its first row at the bottom.
      up <- rev(seq_along(parts$labels))
      gg_heat(parts$correlation[up, , drop = FALSE], parts$labels[up], parts$short, parts$limit,
        "Correlation of the amounts of topics", main) + ggplot2::labs(x = NULL, y = NULL)
    },
    map = gg_topic_map(map_parts(object, shown, n), main)
  )
}

gg_terms <- function(fit, shown, n, by, main) {
  terms <- top_terms(fit, n, by)
  terms <- terms[terms$topic %in% shown, ]
  titles <- vapply(shown, function(topic) topic_title(fit, topic), "")
  # Each panel has terms of its own; the number of the topic keeps those of several topics apart.
  rows <- data.frame(topic = factor(match(terms$topic, shown), seq_along(shown), titles), score = terms$score,
    term = paste(terms$topic, terms$term, sep = "\r"))
  rows$term <- factor(rows$term, rev(rows$term))
  gg_picture(main, switch(by, probability = "Probability of the term", lift = "Lift", frex = "FREX score",
    relevance = "Relevance")) +
    ggplot2::geom_col(aes_of(x = "score", y = "term"), rows, fill = bar_colour, width = 0.7) +
    ggplot2::facet_wrap(~topic, scales = "free") +
    ggplot2::scale_y_discrete(labels = function(names) short_names(sub("^[^\r]*\r", "", names))) +
    ggplot2::scale_x_continuous(breaks = function(ends) pretty(ends, 3)) +
    ggplot2::ylab(NULL) +
    ggplot2::theme(panel.grid.major.y = ggplot2::element_blank())
}

gg_prevalence <- function(fit, shown, n, main) {
  rows <- data.frame(at = -seq_along(shown), share = topic_prevalence(fit)[shown],
    label = paste0(" ", topic_labels(fit, shown), "  ", term_lines(fit, shown, min(n, 4))))
  rows$low <- rows$at - 0.35
  rows$high <- rows$at + 0.35
  top <- max(rows$share)
  ticks <- pretty(c(0, top), 4)
  gg_picture(main, "Share of all tokens") +
    ggplot2::geom_rect(aes_of(xmax = "share", ymin = "low", ymax = "high"), rows, xmin = 0, fill = bar_colour) +
    ggplot2::geom_text(aes_of(x = "share", y = "at", label = "label"), rows, hjust = 0,
      size = max(2, min(3.6, 90 / length(shown)))) +
    ggplot2::scale_x_continuous(breaks = ticks[ticks <= top], labels = percent_labels, limits = c(0, 1.9 * top)) +
    ggplot2::scale_y_continuous(breaks = NULL) +
    ggplot2::ylab(NULL)
}

#' @rdname autoplot.warpbayes
#' @method autoplot topic_comparison
#' @exportS3Method ggplot2::autoplot topic_comparison
autoplot.topic_comparison <- function(object, main = NULL, ...) {
  check_dots_empty(...)
  check_title(main)
  table <- object$table
  titles <- c("Perplexity of words left out", coherence_label(object))
  rows <- data.frame(
    panel = factor(rep(titles, each = nrow(table)), titles), topics = table$topics,
    value = c(table$perplexity, table$coherence), error = c(table$perplexity_se, table$coherence_se)
  )
  rows <- rows[is.finite(rows$value), ]
  rows$error[!is.finite(rows$error)] <- 0
  rows$low <- rows$value - 2 * rows$error
  rows$high <- rows$value + 2 * rows$error
  best <- rows[rows$panel == titles[[1L]] & rows$topics == object$best, ]
  gg_picture(main, "Topics") +
    ggplot2::geom_line(aes_of(x = "topics", y = "value"), rows, colour = bar_colour) +
    ggplot2::geom_segment(aes_of(x = "topics", xend = "topics", y = "low", yend = "high"), rows, colour = bar_colour) +
    ggplot2::geom_point(aes_of(x = "topics", y = "value"), rows, colour = bar_colour, size = 2.2) +
    ggplot2::geom_point(aes_of(x = "topics", y = "value"), best, shape = 1, size = 5) +
    ggplot2::facet_wrap(~panel, scales = "free_y") +
    ggplot2::scale_x_log10(breaks = table$topics, minor_breaks = NULL) +
    ggplot2::ylab(NULL)
}

gg_topic_trace <- function(fit, main) {
  values <- fit$log_likelihood / fit$x$tokens
  rows <- data.frame(sweep = rep(seq_len(nrow(values)), ncol(values)), value = as.vector(values),
    chain = factor(rep(seq_len(ncol(values)), each = nrow(values))))
  gg_picture(main, "Sweep", "Log likelihood per token") +
    (if (fit$warmup > 0) {
      list(
        ggplot2::geom_vline(xintercept = fit$warmup + 0.5, linetype = 2, colour = "#777777"),
        ggplot2::labs(caption = "Dashed: the end of the warm-up")
      )
    }) +
    ggplot2::geom_line(aes_of(x = "sweep", y = "value", colour = "chain"), rows, linewidth = 0.4) +
    ggplot2::scale_colour_manual(values = rep_len(chain_colours, ncol(values)), name = "Chain") +
    ggplot2::coord_cartesian(ylim = visible_range(values)) +
    ggplot2::theme(legend.position = if (ncol(values) > 1L) "bottom" else "none")
}

gg_topic_map <- function(parts, main) {
  at <- parts$at
  span <- max(apply(at, 2L, function(values) diff(range(values))), 1e-9)
  radius <- 0.1 * span * sqrt(parts$prevalence / max(parts$prevalence))
  angle <- seq(0, 2 * pi, length.out = 61L)
  circles <- do.call(rbind, lapply(seq_along(radius), function(i) {
    data.frame(x = at[i, 1L] + radius[[i]] * cos(angle), y = at[i, 2L] + radius[[i]] * sin(angle), topic = i)
  }))
  topics <- data.frame(x = at[, 1L], y = at[, 2L], label = parts$labels)
  ends <- range(circles$y)
  # The list of terms stands to the right of the map.
  right <- max(circles$x) + 0.08 * span
  rows <- data.frame(x = right, label = parts$list,
    y = ends[[2L]] - diff(ends) * (seq_along(parts$list) - 0.5) / max(14, length(parts$list)))
  room <- right + 0.028 * span * max(nchar(parts$list))
  gg_picture(main) +
    ggplot2::geom_hline(yintercept = 0, colour = "#DDDDDD") +
    ggplot2::geom_vline(xintercept = 0, colour = "#DDDDDD") +
    ggplot2::geom_polygon(aes_of(x = "x", y = "y", group = "topic"), circles, fill = bar_colour, colour = bar_colour,
      alpha = 0.33) +
    ggplot2::geom_text(aes_of(x = "x", y = "y", label = "label"), topics, fontface = "bold", size = 3.6) +
    ggplot2::geom_text(aes_of(x = "x", y = "y", label = "label"), rows, hjust = 0, size = 3) +
    ggplot2::coord_fixed(xlim = c(min(circles$x), room)) +
    ggplot2::labs(x = NULL, y = NULL, caption = "Near topics have similar terms; areas are shares of all tokens") +
    ggplot2::theme(axis.text = ggplot2::element_blank(), axis.ticks = ggplot2::element_blank(),
      panel.border = ggplot2::element_blank()) +
    without_grid()
}
