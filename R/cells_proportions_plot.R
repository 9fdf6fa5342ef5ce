# Pictures of the proportions of cell types in samples.

#' Plot proportions of cell types by sample
#'
#' A panel for each type shows the proportion and interval of each sample, in the colour of its group. All panels have
#' the same log scale. Shares below its lower end are drawn there.
#' @param x from [type_proportions()].
#' @param group the group of each sample, in their order or by name; `NA`: grey. `NULL`: one colour.
#' @param types which types: names or numbers; `NULL`: the twelve most frequent.
#' @inheritParams computing_arguments
#' @return `x`, invisibly.
#' @examples
#' set.seed(1)
#' x <- list(a = matrix(rnorm(400), 200), b = matrix(rnorm(400, mean = rep(c(0, 5), 100)), 200))
#' types <- cell_types(dp_mixture(x, components = 6, iter = 200, seed = 1, threads = 2), threads = 2)
#' plot(type_proportions(types), group = c("control", "patient"))
#' @export
plot.type_proportions <- function(x, group = NULL, types = NULL, main = NULL, ...) {
  check_dots_empty(...)
  paint_picture(share_picture(x, "x", group, types, main))
  invisible(x)
}

share_picture <- function(x, argument, group, types, main) {
  check_table(x, argument, type_share_table())
  samples <- levels(x$sample)
  if (!is.null(group)) group <- sample_groups(group, samples)
  shown <- chosen_types(types, levels(x$type))
  groups <- levels(group)
  colours <- rep_len(chain_colours, max(1L, length(groups)))
  labels <- stats::setNames(picture_names(levels(x$type)), levels(x$type))
  # One axis for all, on which twice the share is as far everywhere. A type may be absent from a sample.
  own <- x[x$type %in% shown, ]
  least <- max(1e-6, min(own$lower[own$lower > 0], own$proportion[own$proportion > 0]) * 0.8)
  xlim <- log10(c(least, min(1, 1.2 * max(own$upper, own$proportion, 2 * least))))
  place <- function(share) log10(pmax(share, least))
  panels <- lapply(shown, function(type) {
    rows <- x[x$type == type, ]
    colour <- if (is.null(group)) colours else colours[as.integer(group)[match(rows$sample, samples)]]
    colour[is.na(colour)] <- other_colour
    at <- length(samples) + 1L - match(rows$sample, samples)
    panel(xlim, c(0.4, length(samples) + 0.6), list(
      layer("segments", x = place(rows$lower), y = at, xend = place(rows$upper), yend = at, colour = colour, width = 3),
      layer("points", x = place(rows$proportion), y = at, fill = colour)
    ), share_axis(xlim), name_axis(samples), labels[[type]])
  })
  picture(panels, main, "Share of the cells of the sample (log scale)",
    key = if (!is.null(group)) list(title = NULL, text = groups, colours = colours))
}

#' @exportS3Method ggplot2::autoplot type_proportions
autoplot.type_proportions <- function(object, group = NULL, types = NULL, main = NULL, ...) {
  check_dots_empty(...)
  gg_draw(share_picture(object, "object", group, types, main))
}
