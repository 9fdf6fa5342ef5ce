# plot() of the proportions of cell types in samples, and of their differences between groups.

#' Plot proportions of cell types by sample, or their differences between groups
#'
#' Proportions have a panel for each type. It shows the proportion and interval of each sample, in the colour of the
#' sample's group. Differences have a row for each type and group, and a line at zero.
#'
#' @param x from [type_proportions()] or [type_differences()].
#' @param group the group of each sample, as in [type_differences()]; `NULL`: one colour.
#' @param types which types: names or numbers; `NULL`: the twelve most frequent.
#' @param main title, `NULL` for none.
#' @param ... not used.
#' @return `x`, invisibly.
#' @section Errors:
#' `warpbayes_error_input` for an argument that cannot be used.
#' @examples
#' set.seed(1)
#' x <- list(a = matrix(rnorm(400), 200), b = matrix(rnorm(400, mean = rep(c(0, 5), 100)), 200))
#' types <- cell_types(dp_mixture(x, components = 6, iter = 200, seed = 1, threads = 2), threads = 2)
#' plot(type_proportions(types))
#' plot(type_differences(types, group = c("control", "patient")))
#' @export
plot.type_proportions <- function(x, group = NULL, types = NULL, main = NULL, ...) {
  check_dots_empty(...)
  check_title(main)
  check_share_table(x)
  samples <- levels(x$sample)
  if (!is.null(group)) {
    group <- check_groups(group, samples)
  }
  shown <- chosen_types(types, levels(x$type))
  colours <- rep_len(chain_colours, max(1L, nlevels(group)))
  colour <- rep(colours[[1L]], length(samples))
  if (!is.null(group)) {
    colour <- ifelse(is.na(group), other_colour, colours[as.integer(group)])
  }
  columns <- ceiling(sqrt(length(shown)))
  cex <- min(0.9, 16 / length(samples))
  names <- names_in_margin(samples, graphics::par("din")[[1L]] / columns, cex)
  old <- graphics::par(
    mfrow = c(ceiling(length(shown) / columns), columns), mar = c(2.6, 0.6 + names$lines, 1.8, 0.8), las = 1,
    mgp = c(1.6, 0.4, 0), tcl = -0.25, oma = c(if (is.null(group)) 0 else 1.6, 0, if (is.null(main)) 0 else 2, 0)
  )
  on.exit(graphics::par(old))
  at <- seq_along(samples)
  for (type in shown) {
    rows <- x[x$type == type, ]
    graphics::plot.new()
    # A type may be absent from all samples.
    highest <- max(rows$upper, rows$proportion)
    graphics::plot.window(c(0, if (highest > 0) highest else 0.01), c(length(samples) + 0.5, 0.5))
    ticks <- graphics::axTicks(1L)
    graphics::abline(v = ticks, col = "#EEEEEE")
    graphics::segments(rows$lower, at, rows$upper, at, col = colour, lwd = 3)
    graphics::points(rows$proportion, at, pch = 21, bg = colour, col = "black")
    graphics::axis(1L, at = ticks, labels = percent_labels(ticks), cex.axis = 0.8)
    graphics::axis(2L, at = at, labels = names$names, tick = FALSE, cex.axis = names$cex, gap.axis = -1)
    graphics::title(short_names(type), cex.main = 1, line = 0.5)
  }
  if (!is.null(group)) {
    # The names have the colours of their groups, because not every device has a character for a dot.
    graphics::mtext(levels(group), side = 1L, outer = TRUE, line = 0.3, col = colours[seq_len(nlevels(group))],
      at = (seq_len(nlevels(group)) - 0.5) / nlevels(group), cex = 0.8, font = 2L)
  }
  if (!is.null(main)) {
    graphics::mtext(main, side = 3L, outer = TRUE, line = 0.5, font = 2L)
  }
  invisible(x)
}

#' @rdname plot.type_proportions
#' @export
plot.type_differences <- function(x, types = NULL, main = NULL, ...) {
  check_dots_empty(...)
  check_title(main)
  check_share_table(x)
  parts <- difference_parts(x, types)
  groups <- parts$groups
  rows <- parts$rows
  count <- nrow(rows)
  names <- names_in_margin(parts$names, graphics::par("din")[[1L]], min(0.9, 22 / count))
  old <- graphics::par(
    mar = c(3.6, 0.6 + names$lines, if (is.null(main)) 1 else 2.6, 4), las = 1, mgp = c(2.2, 0.5, 0), tcl = -0.25
  )
  on.exit(graphics::par(old))
  graphics::plot.new()
  graphics::plot.window(range(0, rows$lower, rows$upper), c(count + 0.5, 0.5))
  graphics::abline(v = 0, col = "#888888")
  at <- seq_len(count)
  colour <- chain_colours[1L + (match(rows$group, groups) - 1L) %% length(chain_colours)]
  graphics::segments(rows$lower, at, rows$upper, at, col = colour, lwd = 3)
  graphics::points(rows$difference, at, pch = 21, bg = colour, col = "black")
  graphics::axis(1L)
  graphics::axis(2L, at = at, labels = names$names, tick = FALSE, cex.axis = names$cex, gap.axis = -1)
  above <- percent(rows$above, 0)
  graphics::axis(4L, at = at, labels = above, tick = FALSE, cex.axis = min(0.8, 20 / count), gap.axis = -1)
  graphics::title(xlab = parts$xlab)
  if (!is.null(main)) {
    graphics::mtext(main, side = 3L, line = 1, font = 2L, adj = 0)
  }
  invisible(x)
}

# The rows of the chosen types, their names, and the label of the axis.
difference_parts <- function(x, types) {
  shown <- chosen_types(types, levels(x$type))
  groups <- unique(x$group)
  rows <- x[x$type %in% shown, ]
  rows <- rows[order(match(rows$type, shown)), ]
  scale <- if (identical(attr(x, "scale"), "log_ratio")) "Log proportion" else "Proportion"
  list(
    rows = rows, groups = groups,
    names = if (length(groups) > 1L) paste(rows$type, rows$group, sep = ", ") else as.character(rows$type),
    xlab = sprintf("%s, %s minus %s (right: probability of being above 0)", scale, paste(groups, collapse = ", "),
      x$against[[1L]])
  )
}

chosen_types <- function(types, known) {
  if (is.null(types)) {
    return(utils::head(known, 12L))
  }
  if (is.numeric(types)) {
    types <- known[types]
  }
  if (!is.character(types) || !length(types) || !all(types %in% known)) {
    stop_input("types", "must be some of ", list_some(known))
  }
  types
}

# Checks that the columns of a table of shares or differences are of the kinds that its methods rely on.
check_share_table <- function(x) {
  columns <- unclass(x)
  words <- c("type", "sample", "group", "against")
  right <- vapply(names(columns), function(name) {
    value <- columns[[name]]
    length(value) == nrow(x) && is.null(dim(value)) &&
      if (name %in% words) is.factor(value) || is.character(value) else is.numeric(value)
  }, NA)
  if (!is.data.frame(x) || !is.factor(columns$type) || !nrow(x) || !all(right) || !is.numeric(x$lower) ||
    !is.numeric(x$upper)) {
    stop_input("x", "has been changed since it was made: its columns do not agree")
  }
}
