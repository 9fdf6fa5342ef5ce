# plot() of cell types in base graphics: the tree of joins, the cells, medians, proportions.

#' Plot cell types
#'
#' Four pictures of cell types. The nine most frequent types have colours that colour-blind readers can distinguish; the
#' others are grey.
#'
#' @param x cell types from [cell_types()].
#' @param type which picture; see below.
#' @param markers for `"cells"`: names or numbers of two or more markers. `NULL`: all, or of more than five the five
#'   in which components differ most.
#' @param specks for `"heatmap"` and `"proportions"`: whether to show specks too.
#' @param main title, `NULL` for none.
#' @param ... not used.
#' @return `x`, invisibly.
#' @section The pictures:
#' \describe{
#'   \item{`"tree"`}{The joins of the finest branches of the density, from the bottom up, by the overlap of their means,
#'     on a log scale. Branches of one type join before types do. A dashed line shows the `overlap` of the rule. Colours
#'     at the leaves are those of the types. If types join close to the line, they may as well be one.}
#'   \item{`"cells"`}{Markers against each other, with cells coloured by type and darker where there are more.}
#'   \item{`"heatmap"`}{Type by marker: how many standard deviations of the marker the type's median lies above or below
#'     the mean of all cells. If the key ends in a triangle, colours there stand for larger values too.}
#'   \item{`"proportions"`}{The share of each type, on a log scale, with the 90% interval.}
#' }
#' @section Errors:
#' `warpbayes_error_input` for an argument that cannot be used.
#' @examples
#' set.seed(1)
#' x <- rbind(matrix(rnorm(3000), ncol = 3), matrix(rnorm(1500, mean = 4), ncol = 3))
#' colnames(x) <- c("CD3", "CD4", "CD8")
#' types <- cell_types(dp_mixture(x, components = 10, iter = 200, seed = 1, threads = 2), threads = 2)
#' plot(types)
#' plot(types, type = "cells")
#' plot(types, type = "heatmap")
#' plot(types, type = "proportions")
#' @export
plot.cell_types <- function(x, type = c("tree", "cells", "heatmap", "proportions"), markers = NULL, specks = FALSE,
                            main = NULL, ...) {
  check_dots_empty(...)
  check_title(main)
  check_cell_types(x, "x")
  type <- check_choice(type, "type", c("tree", "cells", "heatmap", "proportions"))
  shown <- shown_types(x, specks)
  switch(type,
    tree = plot_type_tree(x, main),
    cells = plot_type_cells(x, markers, main),
    heatmap = plot_type_heatmap(x, shown, main),
    proportions = plot_type_proportions(x, shown, main)
  )
  invisible(x)
}

shown_types <- function(x, specks) {
  specks <- check_flag(specks, "specks")
  if (specks || all(x$types$speck)) seq_len(nrow(x$types)) else which(!x$types$speck)
}

type_colours <- function(x) {
  colours <- c(component_colours, rep(other_colour, max(0L, nrow(x$types) - length(component_colours))))
  colours[seq_len(nrow(x$types))]
}

# The horizontal and vertical place of each join. Leaves are at 1, 2, ... in the tree's order.
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

# The lines of the tree (from, to), its leaves from left to right with their types, and the top and the bottom of the
# frame. `above`: joins that lie above the frame.
tree_parts <- function(x) {
  tree <- x$tree
  top <- min(max(2, tree$height) + 0.3, 6.3)
  place <- tree_places(tree)
  height <- pmin(pmax(tree$height, 0), top)
  below <- function(value) pmin(pmax(value, 0), top)
  left <- place[, "left"]
  right <- place[, "right"]
  list(
    x0 = c(left, right, left), y0 = c(below(place[, "left_height"]), below(place[, "right_height"]), height),
    x1 = c(left, right, right), y1 = c(height, height, height), type = x$leaf_type[tree$order], top = top,
    bottom = -0.16 * top, above = any(tree$height > top),
    label = sprintf("%s of the density, coloured by type", count_words(length(tree$order), "branch", "finest branches"))
  )
}

plot_type_tree <- function(x, main) {
  parts <- tree_parts(x)
  leaves <- length(parts$type)
  top <- parts$top
  bottom <- parts$bottom
  old <- graphics::par(
    mar = c(2.6, 5.3, if (is.null(main)) 1.6 else 2.8, 1), las = 1, mgp = c(4.1, 0.6, 0), tcl = -0.25
  )
  on.exit(graphics::par(old))
  graphics::plot.new()
  graphics::plot.window(c(0.5, leaves + 0.5), c(bottom, top), xaxs = "i", yaxs = "i")
  graphics::segments(parts$x0, parts$y0, parts$x1, parts$y1)
  if (parts$above) {
    graphics::mtext("Joins above the frame have a smaller overlap",
      side = 3L, line = 0.1, cex = 0.7, adj = 1, col = "#555555"
    )
  }
  if (is.null(x$requested)) {
    graphics::abline(h = -log10(x$limit), lty = 2, col = signal_colour)
  }
  paint_leaves(x, bottom)
  ticks <- seq(0, floor(top))
  graphics::axis(2L, at = ticks, labels = percent_labels(10^-ticks))
  graphics::mtext("Overlap at which types join", side = 2L, line = 4.2, las = 0, adj = 0.6)
  graphics::mtext(parts$label, side = 1L, line = 0.8, cex = 0.9)
  if (!is.null(main)) {
    graphics::mtext(main, side = 3L, line = 1, font = 2L, adj = 0)
  }
}

# The bars below the tree, in the colours and with the names of the types.
paint_leaves <- function(x, bottom) {
  tree <- x$tree
  leaves <- length(tree$order)
  type <- x$leaf_type[tree$order]
  graphics::rect(seq_len(leaves) - 0.5, 0.75 * bottom, seq_len(leaves) + 0.5, 0.15 * bottom,
    col = type_colours(x)[type], border = NA)
  at <- tapply(seq_len(leaves), factor(type, unique(type)), mean)
  width <- table(factor(type, unique(type)))
  for (i in which(width >= leaves / 30)) {
    name <- x$types$type[[unique(type)[[i]]]]
    size_of <- function(name) fitting_size(name, 0.95 * width[[i]], 0.75, font = 2L)
    if (size_of(name) < 0.45) {
      name <- short_names(name, 12L)
    }
    graphics::text(at[[i]], 0.45 * bottom, name, col = "white", cex = size_of(name), font = 2L)
  }
}

# Ticks of a logarithmic axis of shares: 1, 2 and 5 times powers of ten, or the powers alone if these are many.
share_ticks <- function(ends) {
  ticks <- as.vector(outer(c(1, 2, 5), 10^(-9:0)))
  ticks <- ticks[ticks >= ends[[1L]] & ticks <= ends[[2L]] & ticks <= 1]
  if (length(ticks) < 3L) {
    ticks <- pretty(ends, 4)
    return(ticks[ticks > 0 & ticks <= 1])
  }
  if (length(ticks) > 8L) ticks[abs(log10(ticks) - round(log10(ticks))) < 1e-9] else ticks
}

percent_labels <- function(shares) {
  paste0(format(100 * shares, scientific = FALSE, drop0trailing = TRUE, trim = TRUE), "%")
}

# The chosen markers with their limits, the pixels of the cells, the colour of each cell, and the legend.
type_cells_parts <- function(x, markers) {
  fit <- x$fit
  if (is.null(fit$x)) {
    stop_input("x", "has lost its cells, `x$fit$x`")
  }
  reference <- mixture_of_draw(fit, x$draw, x$chain)
  chosen <- choose_markers(fit, markers, reference)
  if (length(chosen) < 2L) {
    stop_input("markers",
      "must be two or more markers for this picture; with one marker, see plot(x, type = \"proportions\")"
    )
  }
  panels <- length(chosen)
  limits <- lapply(chosen, function(marker) marker_range(reference, marker, fit$x[, marker]))
  bins <- pixels_of(panels)
  position <- lapply(seq_len(panels), function(i) bin_of(fit$x[, chosen[[i]]], limits[[i]], bins))
  colours <- c(component_colours[seq_len(min(nrow(x$types), length(component_colours)))], other_colour)
  list(
    chosen = chosen, limits = limits, bins = bins, position = position, colours = colours,
    colour = pmin(as.integer(x$type), length(colours)), text = type_key(x, length(colours) - 1L)
  )
}

plot_type_cells <- function(x, markers, main) {
  fit <- x$fit
  parts <- type_cells_parts(x, markers)
  chosen <- parts$chosen
  limits <- parts$limits
  panels <- length(chosen)
  old <- graphics::par(
    mfrow = c(panels - 1L, panels - 1L), mar = rep(0.25, 4L), oma = c(3.6, 3.8, if (is.null(main)) 1 else 3, 1),
    las = 1, mgp = c(2, 0.4, 0), tcl = -0.2, xaxs = "i", yaxs = "i"
  )
  on.exit(graphics::par(old))
  for (row in 2:panels) {
    for (column in seq_len(panels - 1L)) {
      graphics::plot.new()
      if (column >= row) {
        next
      }
      graphics::plot.window(limits[[column]], limits[[row]])
      paint_cells(parts$position[[column]], parts$position[[row]], parts$colour, parts$colours, parts$bins)
      if (column == 1L) {
        marker_axis(2L, fit, chosen[[row]])
        name <- short_names(fit$markers[[chosen[[row]]]])
        graphics::mtext(name, side = 2L, line = 2.4, las = 0, cex = 0.75, font = 2L)
      }
      if (row == panels) {
        marker_axis(1L, fit, chosen[[column]])
        name <- short_names(fit$markers[[chosen[[column]]]])
        graphics::mtext(name, side = 1L, line = 1.8, cex = 0.75, font = 2L)
      }
      graphics::box(col = "#555555")
    }
  }
  paint_type_legend(parts$text, parts$colours, panels)
  if (!is.null(main)) {
    graphics::mtext(main, side = 3L, outer = TRUE, line = 1, font = 2L)
  }
}

# The names of the coloured types with their shares, and of the others.
type_key <- function(x, coloured) {
  named <- seq_len(coloured)
  text <- paste0(short_names(x$types$type[named]), " (", percent(x$types$proportion[named]), ")")
  if (nrow(x$types) > coloured) {
    others <- count_words(nrow(x$types) - coloured, "other")
    text <- c(text, sprintf("%s (%s)", others, percent(sum(x$types$proportion[-named]))))
  }
  text
}

# The legend in the empty upper right of the panels, or in the corner of a single panel.
paint_type_legend <- function(text, colours, panels) {
  old <- graphics::par(fig = c(0, 1, 0, 1), oma = rep(0, 4L), mar = c(3.8, 4, 1.4, 1.4), new = TRUE)
  on.exit(graphics::par(old))
  graphics::plot.new()
  graphics::legend("topright",
    legend = text, fill = colours[seq_along(text)], border = NA, bty = if (panels > 2L) "n" else "o",
    bg = "#FFFFFFCC", box.col = NA, cex = 0.8, title = "Type (share of cells)"
  )
}

# Medians of types in standard deviations of the marker from the mean of all cells.
standard_medians <- function(x, shown) {
  sweep(sweep(x$medians[shown, , drop = FALSE], 2L, x$fit$center), 2L, x$fit$scale, "/")
}

plot_type_heatmap <- function(x, shown, main) {
  fit <- x$fit
  value <- standard_medians(x, shown)
  names <- names_in_margin(x$types$type[shown], graphics::par("din")[[1L]], min(0.9, 22 / nrow(value)))
  markers <- names_in_margin(fit$markers, graphics::par("din")[[2L]], min(1, 14 / ncol(value)))
  old <- graphics::par(
    mar = c(markers$lines, names$lines + 1, if (is.null(main)) 3.4 else 4.8, 1), las = 1, mgp = c(2.6, 0.4, 0),
    tcl = -0.2, xaxs = "i", yaxs = "i"
  )
  on.exit(graphics::par(old))
  # The most frequent type is on top.
  paint_heat(value, markers, names, "Median (marker's sd from the mean)")
  if (!is.null(main)) {
    graphics::mtext(main, side = 3L, line = 3.4, font = 2L)
  }
}

# The least share on a logarithmic axis, and the axis's label.
least_share <- function(types) max(min(types$lower[types$lower > 0], types$proportion, na.rm = TRUE), 1e-6)

share_label <- function(types) {
  paste0("Share of the cells", if (!anyNA(types$lower)) ", and 90% interval")
}

plot_type_proportions <- function(x, shown, main) {
  types <- x$types[shown, ]
  rows <- nrow(types)
  names <- names_in_margin(types$type, graphics::par("din")[[1L]], min(0.9, 22 / rows))
  least <- least_share(types)
  old <- graphics::par(
    mar = c(3.6, 0.6 + names$lines, if (is.null(main)) 1 else 2.6, 5), las = 1, mgp = c(2.2, 0.5, 0), tcl = -0.25
  )
  on.exit(graphics::par(old))
  graphics::plot.new()
  ends <- c(0.8 * least, min(1, 1.2 * max(types$upper, types$proportion, na.rm = TRUE)))
  graphics::plot.window(ends, c(rows + 0.5, 0.5), log = "x")
  ticks <- share_ticks(ends)
  graphics::abline(v = ticks, col = "#EEEEEE")
  at <- seq_len(rows)
  colours <- type_colours(x)[shown]
  graphics::segments(pmax(types$lower, 0.8 * least), at, types$upper, at, col = colours, lwd = 3)
  graphics::points(types$proportion, at, pch = 21, bg = colours, col = "black")
  graphics::axis(1L, at = ticks, labels = percent_labels(ticks))
  graphics::axis(2L, at = at, labels = names$names, tick = FALSE, cex.axis = names$cex, gap.axis = -1)
  shares <- percent(types$proportion)
  graphics::axis(4L, at = at, labels = shares, tick = FALSE, cex.axis = min(0.8, 20 / rows), gap.axis = -1)
  graphics::title(xlab = share_label(types))
  if (!is.null(main)) {
    graphics::mtext(main, side = 3L, line = 1, font = 2L, adj = 0)
  }
}
