# The picture of a relabelled mixture: means and weights of components with intervals.

#' @rdname relabel.dp_mixture
#' @param markers for `"components"`: names or numbers of markers, as in [plot.dp_mixture()].
#' @param main title, `NULL` for none.
#' @param ... for `plot()`: further arguments of [plot.dp_mixture()].
#' @export
plot.relabelled_mixture <- function(x, type = c("components", "pairs", "trace", "weights", "heatmap"), components = 12,
                                    markers = NULL, main = NULL, ...) {
  check_title(main)
  type <- check_choice(type, "type", c("components", "pairs", "trace", "weights", "heatmap"))
  if (type != "components") return(plot.dp_mixture(x, type = type, markers = markers, main = main, ...))
  check_dots_empty(...)
  paint_picture(component_picture(x, components, markers, main))
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

# A panel with means and intervals of the shown components for each of the chosen markers, and one for their weights.
component_picture <- function(x, components, markers, main) {
  components <- check_count(components, "components")
  check_component_tables(x)
  held <- x$component_weights[x$component_weights$present > 0, ]
  shown <- held[seq_len(min(components, nrow(held))), ]
  chosen <- choose_markers(x, markers, reference_draw(x))
  rows <- nrow(shown)
  at <- rev(seq_len(rows))
  colours <- rep_len(c(component_colours, rep(other_colour, max(0L, rows - length(component_colours)))), rows)
  intervals <- function(values, title, axis) {
    xlim <- around(unlist(values[c("lower", "upper")]), 0.06)
    panel(xlim, c(0.4, rows + 0.6), list(
      layer("segments", x = values$lower, y = at, xend = values$upper, yend = at, colour = colours, width = 3),
      layer("points", x = values$mean, y = at, fill = colours)
    ), axis(xlim), name_axis(shown$component), short_names(title))
  }
  panels <- lapply(chosen, function(marker) {
    means <- x$component_means[x$component_means$marker == x$markers[[marker]], ]
    intervals(means[match(shown$component, means$component), ], x$markers[[marker]], function(ends) {
      marker_axis(x, marker, ends)
    })
  })
  weights <- intervals(shown, "Weight", function(ends) axis_of(ends, percent_labels, 3L))
  picture(c(panels, list(weights)), main, NULL, "Component", columns = length(chosen) + 1L)
}
