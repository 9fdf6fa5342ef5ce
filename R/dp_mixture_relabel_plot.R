# plot() of a relabelled mixture: means and weights of components with intervals.

#' @rdname relabel.dp_mixture
#' @param markers for `"components"`: names or numbers of markers, as in [plot.dp_mixture()].
#' @param main title, `NULL` for none.
#' @param ... for `plot()`: further arguments of [plot.dp_mixture()].
#' @export
plot.relabelled_mixture <- function(x, type = c("components", "pairs", "trace", "weights", "heatmap"), components = 12,
                                    markers = NULL, main = NULL, ...) {
  check_title(main)
  type <- check_choice(type, "type", c("components", "pairs", "trace", "weights", "heatmap"))
  if (type != "components") {
    return(plot.dp_mixture(x, type = type, markers = markers, main = main, ...))
  }
  check_dots_empty(...)
  parts <- component_parts(x, components, markers)
  shown <- parts$shown
  chosen <- parts$chosen
  colours <- parts$colours
  rows <- nrow(shown)
  at <- rev(seq_len(rows))
  panels <- length(chosen)
  size <- min(1, 16 / rows)
  old <- graphics::par(
    mfrow = c(1L, panels + 1L), mar = c(3.4, 0.6, if (is.null(main)) 2 else 3.4, 0.4), oma = c(0, 4, 0, 0.4), las = 1,
    mgp = c(2, 0.5, 0), tcl = -0.25
  )
  on.exit(graphics::par(old))
  interval_panel <- function(values, title, paint_axis) {
    range <- grDevices::extendrange(unlist(values[c("lower", "upper")]), f = 0.06)
    graphics::plot.new()
    graphics::plot.window(range, c(0.5, rows + 0.5), yaxs = "i")
    graphics::abline(h = at, col = "#EEEEEE")
    graphics::segments(values$lower, at, values$upper, at, col = colours, lwd = 3, lend = 1)
    graphics::points(values$mean, at, pch = 21, bg = colours, col = "black")
    paint_axis()
    graphics::box(col = "#555555")
    graphics::mtext(short_names(title), side = 3L, line = 0.4, cex = 0.75, font = 2L)
  }
  for (i in seq_len(panels)) {
    marker <- chosen[[i]]
    interval_panel(parts$means[[i]], x$markers[[marker]], function() marker_axis(1L, x, marker, 0.9))
    if (i == 1L) {
      graphics::axis(2L, at = at, labels = shown$component, tick = FALSE, cex.axis = size, gap.axis = -1)
      graphics::mtext("Component", side = 2L, line = 2.4, las = 0, cex = 0.75)
    }
  }
  interval_panel(shown, "Weight", function() {
    ticks <- graphics::axTicks(1L)
    graphics::axis(1L, at = ticks, labels = paste0(format(100 * ticks, trim = TRUE), "%"), cex.axis = 0.9)
  })
  if (!is.null(main)) {
    graphics::mtext(main, side = 3L, outer = TRUE, line = -1.4, font = 2L)
  }
  invisible(x)
}

# Checks that the tables of components have the columns that pictures and tidy() rely on.
check_component_tables <- function(x) {
  for (part in c("component_weights", "component_means")) {
    table <- x[[part]]
    columns <- c("component", "mean", "lower", "upper", if (part == "component_weights") c("present", "stability"))
    if (!is.data.frame(table) || !all(vapply(columns, function(column) is.numeric(table[[column]]), NA)) ||
      part == "component_means" && !is.character(table$marker)) {
      stop_changed("x", part, "a table of components", table)
    }
  }
}

# The shown components with their weights, the chosen markers, the components' means of each of these, and colours.
component_parts <- function(x, components, markers) {
  components <- check_count(components, "components")
  check_component_tables(x)
  held <- x$component_weights[x$component_weights$present > 0, ]
  shown <- held[seq_len(min(components, nrow(held))), ]
  chosen <- choose_markers(x, markers, reference_draw(x))
  rows <- nrow(shown)
  list(
    shown = shown, chosen = chosen,
    means = lapply(chosen, function(marker) {
      means <- x$component_means[x$component_means$marker == x$markers[[marker]], ]
      means[match(shown$component, means$component), ]
    }),
    colours = rep_len(c(component_colours, rep(other_colour, max(0L, rows - length(component_colours)))), rows)
  )
}
