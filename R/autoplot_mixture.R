# autoplot() of mixtures, relabelled mixtures and cell types.

#' @rdname autoplot.warpbayes
#' @method autoplot dp_mixture
#' @exportS3Method ggplot2::autoplot dp_mixture
autoplot.dp_mixture <- function(object, data = NULL, type = c("pairs", "trace", "weights", "heatmap"), markers = NULL,
                                min_weight = 0.005, main = NULL, backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  min_weight <- check_mixture_picture(object, "object", data, min_weight, main)
  type <- check_choice(type, "type", c("pairs", "trace", "weights", "heatmap"))
  switch(type,
    pairs = gg_pairs(object, pairs_parts(object, data, markers, min_weight, backend, threads), min_weight, main),
    trace = gg_traces(trace_parts(object), main),
    weights = gg_weights(weight_points(object), main),
    heatmap = {
      parts <- heat_parts(object, min_weight)
      # The first row is at the bottom, as in plot().
      up <- rev(seq_along(parts$labels))
      names <- paste0(parts$labels, " (", percent(parts$weights), ")")[up]
      gg_heat(parts$means[up, , drop = FALSE], names, object$markers, heat_limit(parts$means),
        "Mean (marker's sd from that of all cells)", main) + ggplot2::labs(x = NULL, y = "Component (weight)")
    }
  )
}

gg_weights <- function(points, main) {
  rows <- data.frame(points[c("rank", "lower", "median", "upper")])
  decades <- 10^(ceiling(log10(points$lowest)):0)
  gg_picture(main, "Components by weight", "Weight: median and 90% interval") +
    ggplot2::geom_hline(yintercept = points$one, linetype = 2, colour = "#777777") +
    ggplot2::annotate("text", x = 0.5, y = points$one, label = "one cell", hjust = 0, vjust = -0.4, size = 3.4,
      colour = "#555555") +
    ggplot2::geom_segment(aes_of(x = "rank", xend = "rank", y = "lower", yend = "upper"), rows, linewidth = 1.3,
      colour = component_colours[[4L]]) +
    ggplot2::geom_point(aes_of(x = "rank", y = "median"), rows, colour = component_colours[[1L]], size = 1.8) +
    ggplot2::scale_y_log10(breaks = decades, labels = percent_labels(decades), limits = c(points$lowest, 1)) +
    ggplot2::scale_x_continuous(breaks = function(ends) {
      ticks <- pretty(ends)
      ticks[ticks >= 1 & ticks == floor(ticks)]
    })
}

# The corners of panels, which fix the limits of their scales.
panel_corners <- function(panels, names, limits) {
  do.call(rbind, lapply(panels, function(panel) {
    data.frame(
      row = factor(names[[panel[[1L]]]], names), column = factor(names[[panel[[2L]]]], names),
      x = limits[[panel[[2L]]]], y = limits[[panel[[1L]]]]
    )
  }))
}

gg_markers <- function(fit, chosen, limits) {
  scale <- marker_scale(fit, chosen, limits)
  list(
    ggplot2::scale_x_continuous(breaks = scale$breaks, labels = scale$labels, expand = c(0, 0),
      guide = ggplot2::guide_axis(check.overlap = TRUE)),
    ggplot2::scale_y_continuous(breaks = scale$breaks, labels = scale$labels, expand = c(0, 0),
      guide = ggplot2::guide_axis(check.overlap = TRUE))
  )
}

# Colours, and their order in the legend.
gg_key <- function(colours, text, title) {
  ggplot2::scale_colour_manual(values = colours, labels = text, name = title, drop = FALSE,
    guide = ggplot2::guide_legend(title.position = "top", nrow = ceiling(length(text) / 4), byrow = TRUE, order = 1,
      override.aes = list(linewidth = 2.5)))
}

gg_pairs <- function(fit, parts, min_weight, main) {
  chosen <- parts$chosen
  limits <- parts$limits
  reference <- parts$reference
  count <- length(chosen)
  if (count == 1L) {
    return(gg_marker(fit, parts, main))
  }
  names <- short_names(fit$markers[chosen])
  if (anyDuplicated(names)) {
    names <- fit$markers[chosen]
  }
  at <- expand.grid(row = seq_len(count), column = seq_len(count))
  place <- function(row, column) {
    data.frame(row = factor(names[[row]], names), column = factor(names[[column]], names))
  }
  colouring <- parts$colouring
  key <- component_key(reference, colouring)
  images <- list()
  ellipses <- regions <- bars <- lines <- spikes <- NULL
  for (i in seq_len(nrow(at))) {
    row <- at$row[[i]]
    column <- at$column[[i]]
    here <- place(row, column)
    pair <- chosen[c(column, row)]
    if (row > column) {
      image <- if (!is.null(parts$cells)) {
        cell_image(parts$position[[column]], parts$position[[row]], colouring$of[parts$class], colouring$colours,
          parts$bins)
      }
      if (!is.null(image)) images <- c(images, list(gg_image(image, limits[[column]], limits[[row]], here)))
      for (ellipse in ellipses_of(reference, pair, colouring, min_weight)) {
        line <- ellipse$outline
        line[line[, 1L] < limits[[column]][[1L]] | line[, 1L] > limits[[column]][[2L]] |
          line[, 2L] < limits[[row]][[1L]] | line[, 2L] > limits[[row]][[2L]], ] <- NA
        ellipses <- rbind(ellipses, data.frame(here, x = line[, 1L], y = line[, 2L], colour = ellipse$colour,
          group = paste(i, NROW(ellipses)), row.names = NULL))
      }
    } else if (row < column) {
      region <- regions_of(reference, pair, limits[c(column, row)])
      if (!is.null(region)) regions <- rbind(regions, data.frame(here, region_shares(region)))
    } else {
      own <- marker_parts(fit, reference, chosen[[row]], limits[[row]], if (!is.null(parts$cells)) parts$cells[, row])
      # The diagonal has the height of the frame, whatever the scale of the row.
      height <- function(value) limits[[row]][[1L]] + pmin(value / own$top, 1) * diff(limits[[row]])
      if (!is.null(own$bars)) {
        bars <- rbind(bars, data.frame(here, xmin = own$bars$left, xmax = own$bars$right, ymin = limits[[row]][[1L]],
          ymax = height(own$bars$height)))
      }
      lines <- rbind(lines, data.frame(here, x = own$at, y = height(own$density)))
      if (length(own$spikes$at)) {
        spikes <- rbind(spikes, data.frame(here, x = own$spikes$at, y = limits[[row]][[1L]],
          yend = height(0.6 * own$top), label = percent_words(own$spikes$share)))
      }
    }
  }
  title <- sprintf("Component (weight); its ellipse holds %g%%", 100 * ellipse_mass)
  # The legend has all coloured components, the others last.
  is_other <- key$colours == other_colour
  line_colours <- vapply(ifelse(is_other, "#AAAAAA", key$colours), darken, "")
  ellipses$colour <- factor(ellipses$colour, line_colours)
  corners <- panel_corners(split(as.matrix(at), seq_len(nrow(at))), names, limits)
  gg_picture(main) +
    ggplot2::geom_blank(aes_of(x = "x", y = "y"), corners) +
    images +
    (if (!is.null(regions)) {
      ggplot2::geom_contour_filled(aes_of(x = "x", y = "y", z = "inside"), regions, breaks = c(-region_mass, 0))
    }) +
    (if (!is.null(bars)) {
      ggplot2::geom_rect(aes_of(xmin = "xmin", xmax = "xmax", ymin = "ymin", ymax = "ymax"), bars,
        fill = histogram_colour)
    }) +
    ggplot2::geom_line(aes_of(x = "x", y = "y"), lines, colour = density_colour) +
    (if (!is.null(spikes)) {
      list(
        ggplot2::geom_segment(aes_of(x = "x", xend = "x", y = "y", yend = "yend"), spikes, colour = signal_colour,
          linewidth = 1),
        ggplot2::geom_text(aes_of(x = "x", y = "yend", label = "label"), spikes, colour = signal_colour, size = 2.8,
          hjust = -0.1, vjust = 0)
      )
    }) +
    ggplot2::geom_path(aes_of(x = "x", y = "y", group = "group", colour = "colour"), ellipses, na.rm = TRUE,
      linewidth = 0.5) +
    gg_key(stats::setNames(key$colours, line_colours), key$text, title) +
    ggplot2::scale_fill_manual(values = region_colours, labels = paste0(100 * region_mass, "%"), drop = FALSE,
      name = "Region of the mixture", guide = ggplot2::guide_legend(title.position = "top", order = 2, nrow = 1)) +
    gg_markers(fit, chosen, limits) +
    ggplot2::facet_grid(row ~ column, scales = "free") +
    ggplot2::labs(x = NULL, y = NULL) +
    gg_panels()
}

gg_panels <- function() {
  ggplot2::theme(panel.grid = ggplot2::element_blank(), panel.spacing = ggplot2::unit(0.3, "lines"),
    axis.text = ggplot2::element_text(size = 8), legend.key.size = ggplot2::unit(0.9, "lines"),
    legend.text = ggplot2::element_text(size = 9), strip.text = ggplot2::element_text(hjust = 0.5))
}

# The share of the mass that lies at points of higher density, with its sign changed: larger inside.
region_shares <- function(region) {
  density <- as.vector(region$density)
  order <- order(-density)
  share <- numeric(length(density))
  share[order] <- cumsum(density[order]) / sum(density)
  size <- lengths(region$grid)
  data.frame(x = rep(region$grid[[1L]], size[[2L]]), y = rep(region$grid[[2L]], each = size[[1L]]), inside = -share)
}

gg_marker <- function(fit, parts, main) {
  limits <- parts$limits[[1L]]
  own <- marker_parts(fit, parts$reference, parts$chosen, limits, if (!is.null(parts$cells)) parts$cells[, 1L])
  scale <- marker_scale(fit, parts$chosen, list(limits))
  lines <- data.frame(x = own$at, y = pmin(own$density, own$top), what = "mixture")
  some <- !is.null(own$bars)
  bars <- if (some) {
    data.frame(xmin = own$bars$left, xmax = own$bars$right, ymax = pmin(own$bars$height, own$top), what = "cells")
  }
  plot <- gg_picture(main, short_names(fit$markers[[parts$chosen]], 60L), "Density") +
    (if (some) {
      ggplot2::geom_rect(aes_of(xmin = "xmin", xmax = "xmax", ymax = "ymax", fill = "what"), bars, ymin = 0)
    }) +
    ggplot2::geom_line(aes_of(x = "x", y = "y", colour = "what"), lines) +
    ggplot2::scale_fill_manual(values = c(cells = histogram_colour), name = NULL) +
    ggplot2::scale_colour_manual(values = c(mixture = density_colour), name = NULL) +
    ggplot2::scale_x_continuous(breaks = scale$breaks, labels = scale$labels, expand = c(0, 0)) +
    ggplot2::scale_y_continuous(expand = c(0, 0)) +
    ggplot2::coord_cartesian(xlim = limits, ylim = c(0, own$top)) +
    without_grid()
  if (length(own$spikes$at)) {
    words <- percent_words(own$spikes$share)
    plot <- plot +
      ggplot2::annotate("segment", x = own$spikes$at, xend = own$spikes$at, y = 0, yend = 0.6 * own$top,
        colour = signal_colour, linewidth = 1) +
      ggplot2::annotate("text", x = own$spikes$at, y = 0.6 * own$top, label = words, colour = signal_colour,
        hjust = -0.1, vjust = 0, size = 3.2)
  }
  plot
}

#' @rdname autoplot.warpbayes
#' @method autoplot relabelled_mixture
#' @exportS3Method ggplot2::autoplot relabelled_mixture
autoplot.relabelled_mixture <- function(object, type = c("components", "pairs", "trace", "weights", "heatmap"),
                                        components = 12, markers = NULL, main = NULL, ...) {
  type <- check_choice(type, "type", c("components", "pairs", "trace", "weights", "heatmap"))
  if (type != "components") {
    return(autoplot.dp_mixture(object, type = type, markers = markers, main = main, ...))
  }
  check_dots_empty(...)
  check_title(main)
  parts <- component_parts(object, components, markers)
  shown <- parts$shown
  names <- short_names(object$markers[parts$chosen])
  panels <- c(names, "Weight")
  levels <- rev(as.character(shown$component))
  rows <- do.call(rbind, Map(function(values, panel) {
    data.frame(panel = factor(panel, panels), component = factor(shown$component, levels), values[c("mean", "lower",
      "upper")], colour = parts$colours)
  }, c(parts$means, list(shown)), panels))
  limits <- lapply(c(parts$means, list(shown)), function(values) {
    grDevices::extendrange(range(values$lower, values$upper, na.rm = TRUE), f = 0.06)
  })
  # All panels share one scale, whose labels are found by their places. So weights are drawn far from the markers.
  last <- length(limits)
  far <- 10 * max(1, abs(unlist(limits)))
  weights <- pretty(limits[[last]], 3)
  weights <- weights[weights >= limits[[last]][[1L]] & weights <= limits[[last]][[2L]]]
  limits[[last]] <- limits[[last]] + far
  is_weight <- rows$panel == "Weight" & seq_len(nrow(rows)) > nrow(rows) - nrow(shown)
  rows[is_weight, c("mean", "lower", "upper")] <- rows[is_weight, c("mean", "lower", "upper")] + far
  shares <- list(at = weights + far, labels = as.list(percent_labels(weights)))
  scale <- marker_scale(object, parts$chosen, limits, shares)
  corners <- do.call(rbind, Map(function(ends, panel) {
    data.frame(panel = factor(panel, panels), mean = ends, component = factor(levels[[1L]], levels))
  }, limits, panels))
  gg_picture(main, NULL, "Component") +
    ggplot2::geom_blank(aes_of(x = "mean", y = "component"), corners) +
    ggplot2::geom_segment(aes_of(x = "lower", xend = "upper", y = "component", yend = "component", colour = "colour"),
      rows, linewidth = 1.3, na.rm = TRUE) +
    ggplot2::geom_point(aes_of(x = "mean", y = "component", fill = "colour"), rows, shape = 21, size = 2.4,
      na.rm = TRUE) +
    ggplot2::scale_colour_identity(aesthetics = c("colour", "fill")) +
    ggplot2::scale_x_continuous(expand = c(0, 0),
      breaks = scale$breaks, labels = scale$labels, guide = ggplot2::guide_axis(check.overlap = TRUE)) +
    ggplot2::scale_y_discrete(limits = levels) +
    ggplot2::facet_wrap(~panel, nrow = 1L, scales = "free_x") +
    ggplot2::theme(panel.grid.major.x = ggplot2::element_blank())
}

#' @rdname autoplot.warpbayes
#' @method autoplot cell_types
#' @exportS3Method ggplot2::autoplot cell_types
autoplot.cell_types <- function(object, type = c("tree", "cells", "heatmap", "proportions"), markers = NULL,
                                specks = FALSE, main = NULL, ...) {
  check_dots_empty(...)
  check_title(main)
  check_cell_types(object, "object")
  type <- check_choice(type, "type", c("tree", "cells", "heatmap", "proportions"))
  shown <- shown_types(object, specks)
  types <- object$types[shown, ]
  switch(type,
    tree = gg_type_tree(object, main),
    cells = gg_type_cells(object, markers, main),
    heatmap = {
      values <- standard_medians(object, shown)
      gg_heat(values, types$type, object$fit$markers, heat_limit(values), "Median (marker's sd from the mean)", main)
    },
    proportions = {
      least <- least_share(types)
      rows <- data.frame(name = types$type, estimate = types$proportion, lower = pmax(types$lower, 0.8 * least),
        upper = types$upper, group = factor(seq_along(shown)), right = percent(types$proportion))
      gg_intervals(rows, main, share_label(types), type_colours(object)[shown], log = TRUE)
    }
  )
}

gg_type_tree <- function(x, main) {
  parts <- tree_parts(x)
  lines <- data.frame(parts[c("x0", "y0", "x1", "y1")])
  types <- unique(parts$type)
  at <- seq_along(parts$type)
  leaves <- data.frame(xmin = at - 0.5, xmax = at + 0.5, type = factor(x$types$type[parts$type], x$types$type))
  ticks <- seq(0, floor(parts$top))
  text <- type_key(x, min(nrow(x$types), length(component_colours)))
  named <- seq_len(min(nrow(x$types), length(component_colours)))
  gg_picture(main, parts$label, "Overlap at which types join") +
    ggplot2::geom_segment(aes_of(x = "x0", y = "y0", xend = "x1", yend = "y1"), lines) +
    ggplot2::geom_rect(aes_of(xmin = "xmin", xmax = "xmax", fill = "type"), leaves, ymin = 0.75 * parts$bottom,
      ymax = 0.15 * parts$bottom) +
    ggplot2::scale_fill_manual(values = type_colours(x), breaks = x$types$type[named], labels = text[named],
      name = "Type (share of cells)", drop = FALSE,
      guide = ggplot2::guide_legend(title.position = "top", nrow = ceiling(length(named) / 4), byrow = TRUE)) +
    (if (is.null(x$requested)) {
      ggplot2::geom_hline(yintercept = -log10(x$limit), linetype = 2, colour = signal_colour)
    }) +
    ggplot2::scale_y_continuous(breaks = ticks, labels = percent_labels(10^-ticks), limits = c(parts$bottom, parts$top),
      expand = c(0, 0)) +
    ggplot2::scale_x_continuous(breaks = NULL, expand = c(0.01, 0)) +
    ggplot2::labs(caption = if (parts$above) "Joins above the frame have a smaller overlap")
}

gg_type_cells <- function(x, markers, main) {
  parts <- type_cells_parts(x, markers)
  count <- length(parts$chosen)
  names <- short_names(x$fit$markers[parts$chosen])
  if (anyDuplicated(names)) {
    names <- x$fit$markers[parts$chosen]
  }
  at <- expand.grid(row = seq_len(count), column = seq_len(count))
  at <- at[at$row > at$column, ]
  images <- lapply(seq_len(nrow(at)), function(i) {
    row <- at$row[[i]]
    column <- at$column[[i]]
    image <- cell_image(parts$position[[column]], parts$position[[row]], parts$colour, parts$colours, parts$bins)
    here <- data.frame(row = factor(names[[row]], names), column = factor(names[[column]], names))
    if (!is.null(image)) gg_image(image, parts$limits[[column]], parts$limits[[row]], here)
  })
  corners <- panel_corners(split(as.matrix(at), seq_len(nrow(at))), names, parts$limits)
  boxes <- data.frame(corners[c(TRUE, FALSE), ], xend = corners$x[c(FALSE, TRUE)], yend = corners$y[c(FALSE, TRUE)])
  boxes$colour <- factor(1L, seq_along(parts$text))
  boxes <- boxes[c(seq_len(nrow(boxes)), rep(1L, length(parts$text))), ]
  key <- utils::tail(seq_len(nrow(boxes)), length(parts$text))
  boxes$colour[key] <- factor(seq_along(parts$text))
  gg_picture(main) +
    ggplot2::geom_blank(aes_of(x = "x", y = "y"), corners) +
    images +
    # Points outside the frame, which only the legend shows.
    ggplot2::geom_point(aes_of(x = "x", y = "y", colour = "colour"), boxes[key, ], alpha = 0) +
    ggplot2::geom_rect(aes_of(xmin = "x", ymin = "y", xmax = "xend", ymax = "yend"), boxes, fill = NA,
      colour = "#555555", linewidth = 0.4) +
    ggplot2::scale_colour_manual(values = parts$colours, labels = parts$text, name = "Type (share of cells)",
      drop = FALSE, guide = ggplot2::guide_legend(title.position = "top", nrow = ceiling(length(parts$text) / 4),
        byrow = TRUE, override.aes = list(alpha = 1, shape = 15, size = 4))) +
    gg_markers(x$fit, parts$chosen, parts$limits) +
    ggplot2::facet_grid(row ~ column, scales = "free", switch = "both") +
    ggplot2::labs(x = NULL, y = NULL) +
    gg_panels() +
    ggplot2::theme(panel.border = ggplot2::element_blank(), strip.placement = "outside")
}
