# Pictures of cell types: the tree of joins, the cells, medians, proportions.

#' Plot cell types
#'
#' The nine most frequent types have colours; the others are grey.
#' @param x cell types from [cell_types()].
#' @param type which picture; see below.
#' @param markers for `"cells"`: names or numbers of two or more. `NULL`: at most five, as in [plot.dp_mixture()].
#' @param specks for `"heatmap"` and `"proportions"`: whether to show specks too.
#' @inheritParams computing_arguments
#' @return `x`, invisibly.
#' @section The pictures:
#' * `"tree"`: the joins of the finest branches, from the bottom up, by the overlap of their means, on a log scale. The
#'   dashed line: the rule's `overlap`.
#' * `"cells"`: markers against each other, with cells coloured by type.
#' * `"heatmap"`: how many standard deviations a type's median lies above or below the mean of all cells.
#' * `"proportions"`: the share of each type, on a log scale, with the 90% interval.
#' @examples
#' set.seed(1)
#' x <- rbind(matrix(rnorm(3000), ncol = 3), matrix(rnorm(1500, mean = 4), ncol = 3))
#' types <- cell_types(dp_mixture(x, components = 10, iter = 200, seed = 1, threads = 2), threads = 2)
#' plot(types)
#' plot(types, type = "cells")
#' @export
plot.cell_types <- function(x, type = c("tree", "cells", "heatmap", "proportions"), markers = NULL, specks = FALSE,
                            main = NULL, ...) {
  check_dots_empty(...)
  paint_picture(picture_of(x, type, markers, specks, main, argument = "x"))
  invisible(x)
}

picture_of.cell_types <- function(x, type = types, markers = NULL, specks = FALSE, main = NULL, ...,
                                  argument = "object") {
  check_dots_empty(...)
  check_title(main)
  check_cell_types(x, argument)
  types <- c("tree", "cells", "heatmap", "proportions")
  shown <- which(check_flag(specks, "specks") | are_shown(x))
  switch(check_choice(type, "type", types),
    heatmap = {
      values <- sweep(sweep(x$medians[shown, , drop = FALSE], 2L, x$fit$center), 2L, x$fit$scale, "/")
      heat_picture(values, picture_names(x$types$type, Inf)[shown], x$fit$markers, heat_limit(values),
        "Median (marker's sd from the mean)", main)
    },
    tree = tree_picture(x, main),
    cells = type_cells_picture(x, markers, main),
    proportions = type_share_picture(x, shown, main)
  )
}

type_colours <- function(count) c(component_colours, rep(other_colour, count))[seq_len(count)]

tree_places <- function(tree) {
  leaf <- order(tree$order)
  joins <- length(tree$height)
  place <- matrix(0, joins, 4L, dimnames = list(NULL, c("left", "right", "left_height", "right_height")))
  middle <- numeric(joins)
  for (i in seq_len(joins)) {
    node <- tree$merge[i, ]
    at <- ifelse(node < 0, leaf[abs(node)], middle[abs(node)])
    below <- ifelse(node < 0, -Inf, tree$height[abs(node)])
    sides <- order(at)
    place[i, ] <- c(at[sides], below[sides])
    middle[[i]] <- mean(at)
  }
  place
}

tree_picture <- function(x, main) {
  tree <- x$tree
  top <- min(max(2, tree$height) + 0.3, 6.3)
  place <- tree_places(tree)
  inside <- function(value) pmin(pmax(value, 0), top)
  height <- inside(tree$height)
  left <- place[, "left"]
  right <- place[, "right"]
  type <- x$leaf_type[tree$order]
  at <- seq_along(type)
  run <- factor(type, unique(type))
  middle <- tapply(at, run, mean)
  size_of <- function(names) pmin(1, 70 * tabulate(run) / length(at) / nchar(names))
  names <- picture_names(x$types$type, Inf)[unique(type)]
  names <- ifelse(size_of(names) < 0.45, short_names(names, 12L), names)
  size <- size_of(names)
  colours <- type_colours(nrow(x$types))
  ticks <- seq(0, floor(top))
  named <- seq_len(min(nrow(x$types), length(component_colours)))
  picture(list(panel(c(0.5, length(at) + 0.5), c(-0.16 * top, top), list(
    layer("segments", x = c(left, right, left), xend = c(left, right, right), yend = rep(height, 3L),
      y = c(inside(place[, "left_height"]), inside(place[, "right_height"]), height)),
    layer("rects", xmin = at - 0.5, xmax = at + 0.5, ymin = -0.12 * top, ymax = -0.024 * top, fill = colours[type]),
    layer("text", x = middle[size >= 0.45], y = -0.072 * top, label = names[size >= 0.45], hjust = 0.5, vjust = 0.5,
      colour = text_on(colours[unique(type)[size >= 0.45]]), bold = TRUE, size = size[size >= 0.45]),
    if (is.null(x$requested)) layer("hline", y = -log10(x$limit), dash = 2, colour = signal_colour)
  ), NULL, list(at = ticks, labels = percent_labels(10^-ticks)))), main,
  sprintf("%s of the density, coloured by type", count_words(length(at), "branch", "finest branches")),
  "Overlap at which types join", caption = if (any(tree$height > top)) "Joins above the frame have a smaller overlap",
  key = list(title = "Type (share of cells)", text = type_key(x, length(named))[named], colours = colours[named]))
}

type_cells_picture <- function(x, markers, main) {
  fit <- x$fit
  if (is.null(fit$x)) stop_input("x", "has lost its cells, `x$fit$x`")
  reference <- mixture_of_draw(fit, x$draw, x$chain)
  chosen <- choose_markers(fit, markers, reference)
  if (length(chosen) < 2L) {
    stop_input("markers", "must be two or more for this picture; with one, see plot(x, type = \"proportions\")")
  }
  parts <- placed_cells(reference, chosen, fit$x[, chosen, drop = FALSE])
  colours <- c(component_colours[seq_len(min(nrow(x$types), length(component_colours)))], other_colour)
  axes <- Map(function(marker, ends) marker_axis(fit, marker, ends), chosen, parts$limits)
  text <- type_key(x, length(colours) - 1L)
  key <- list(title = "Type (share of cells)", text = text, colours = colours[seq_along(text)])
  marker_matrix_picture(fit, chosen, axes, parts$limits, main, key, function(row, column) {
    list(cell_layer(parts, row, column, pmin(as.integer(x$type), length(colours)), colours))
  }, diagonal = FALSE)
}

type_key <- function(x, coloured) {
  named <- seq_len(coloured)
  text <- paste0(picture_names(x$types$type)[named], " (", percent(x$types$proportion[named]), ")")
  if (nrow(x$types) > coloured) {
    others <- count_words(nrow(x$types) - coloured, "other")
    text <- c(text, sprintf("%s (%s)", others, percent(sum(x$types$proportion[-named]))))
  }
  text
}

type_share_picture <- function(x, shown, main) {
  types <- x$types[shown, ]
  least <- 0.8 * max(min(types$lower[types$lower > 0], types$proportion, na.rm = TRUE), 1e-6)
  xlim <- log10(c(least, min(1, 1.2 * max(types$upper, types$proportion, na.rm = TRUE))))
  names <- picture_names(x$types$type, 30L)[shown]
  rows <- data.frame(name = names, estimate = log10(types$proportion), lower = log10(pmax(types$lower, least)),
    upper = log10(types$upper), colour = type_colours(nrow(x$types))[shown], right = percent(types$proportion))
  label <- paste0("Share of the cells", if (!anyNA(types$lower)) ", and 90% interval")
  interval_picture(rows, main, label, xlim, share_axis(xlim))
}
