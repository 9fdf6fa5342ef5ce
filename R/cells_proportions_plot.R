# Pictures of the proportions of cell types in samples, and of their differences between groups.

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
  paint_picture(share_picture(x, group, types, main))
  invisible(x)
}

# A panel for each of the chosen types, in which each sample has a point with its interval.
share_picture <- function(x, group, types, main) {
  samples <- levels(x$sample)
  if (!is.null(group)) group <- check_groups(group, samples)
  shown <- chosen_types(types, levels(x$type))
  groups <- levels(group)
  colours <- rep_len(chain_colours, max(1L, length(groups)))
  labels <- stats::setNames(picture_names(levels(x$type)), levels(x$type))
  panels <- lapply(shown, function(type) {
    rows <- x[x$type == type, ]
    colour <- if (is.null(group)) colours else colours[as.integer(group)[match(rows$sample, samples)]]
    colour[is.na(colour)] <- other_colour
    at <- length(samples) + 1L - match(rows$sample, samples)
    # A type may be absent from all samples.
    xlim <- c(0, max(1.04 * rows$upper, rows$proportion, 1e-9))
    panel(xlim, c(0.4, length(samples) + 0.6), list(
      layer("segments", x = rows$lower, y = at, xend = rows$upper, yend = at, colour = colour, width = 3),
      layer("points", x = rows$proportion, y = at, fill = colour)
    ), axis_of(xlim, percent_labels, 3L), name_axis(samples), labels[[type]])
  })
  picture(panels, main, "Share of the cells of the sample",
    key = if (!is.null(group)) list(title = NULL, text = groups, colours = colours))
}

#' @rdname plot.type_proportions
#' @export
plot.type_differences <- function(x, types = NULL, main = NULL, ...) {
  check_dots_empty(...)
  check_title(main)
  check_share_table(x)
  paint_picture(difference_picture(x, types, main))
  invisible(x)
}

difference_picture <- function(x, types, main) {
  shown <- chosen_types(types, levels(x$type))
  groups <- unique(x$group)
  rows <- x[x$type %in% shown, ]
  rows <- rows[order(match(rows$type, shown)), ]
  scale <- if (identical(attr(x, "scale"), "log_ratio")) "Log proportion" else "Proportion"
  colours <- rep_len(chain_colours, length(groups))
  several <- length(groups) > 1L
  label <- picture_names(levels(x$type), 30L)[rows$type]
  rows <- data.frame(
    name = if (several) paste(label, rows$group, sep = ", ") else label, estimate = rows$difference,
    lower = rows$lower, upper = rows$upper, colour = colours[match(rows$group, groups)], right = percent(rows$above, 0)
  )
  interval_picture(rows, main, sprintf("%s, %s minus %s (right: probability of being above 0)", scale,
    paste(groups, collapse = ", "), x$against[[1L]]),
    key = if (several) list(title = "Group", text = as.character(groups), colours = colours))
}

chosen_types <- function(types, known) {
  if (is.null(types)) return(utils::head(known, 12L))
  if (is.numeric(types)) types <- known[match(types, seq_along(known))]
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

#' @rdname autoplot.warpbayes
#' @method autoplot type_proportions
#' @exportS3Method ggplot2::autoplot type_proportions
autoplot.type_proportions <- function(object, group = NULL, types = NULL, main = NULL, ...) {
  check_dots_empty(...)
  check_title(main)
  check_share_table(object)
  gg_draw(share_picture(object, group, types, main))
}

#' @rdname autoplot.warpbayes
#' @method autoplot type_differences
#' @exportS3Method ggplot2::autoplot type_differences
autoplot.type_differences <- function(object, types = NULL, main = NULL, ...) {
  check_dots_empty(...)
  check_title(main)
  check_share_table(object)
  gg_draw(difference_picture(object, types, main))
}
