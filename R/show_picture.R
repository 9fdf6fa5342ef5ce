# What a picture shows, as plain lists, and how base graphics draws it. A picture has panels with linear axes, a panel
# has layers, and a layer has a shape, such as "segments", and a row of data for each of its marks.

# A layer: `...` are aesthetics of ggplot2; a line or polygon is a `group`. NULL if there is nothing to draw.
layer <- function(shape, ..., colour = if (shape == "rects") NA_character_ else "black",
                  fill = NA_character_, group = 1L, width = 1, dash = 1, size = 1, pch = 21, bold = FALSE, side = 1L) {
  if (!length(..1)) return(NULL)
  list(shape = shape, data = data.frame(..., colour = colour, fill = fill, group = group),
    style = list(width = width, dash = dash, size = size, pch = pch, bold = bold, side = side))
}

# A panel. `x` and `y` are axes: NULL, or places `at`, `labels`, which may be formulas, and `minor` ticks. `right` is an
# axis of words. `row` and `column` are places in a matrix of markers. An `alarm` colours the title.
panel <- function(xlim, ylim, layers, x = axis_of(xlim), y = axis_of(ylim), title = NULL, right = NULL, row = NULL,
                  column = NULL, alarm = FALSE) {
  list(xlim = xlim, ylim = ylim, layers = Filter(Negate(is.null), layers), x = x, y = y, title = title, right = right,
    row = row, column = column, alarm = alarm)
}

# A panel that is NULL stays empty. With `names` panels are a matrix of markers. `key`: `title`, `text` and `colours`.
# One `plain` panel has the margins of the device and no key, so that lines() and the like can add to it.
picture <- function(panels, main, xlab = NULL, ylab = NULL, columns = ceiling(sqrt(length(panels))), names = NULL,
                    key = NULL, caption = NULL, aspect = NULL, plain = FALSE) {
  check_title(main)
  several <- length(panels) > 1L
  same <- function(what) several && all(vapply(panels, function(one) identical(one[[what]], panels[[1L]][[what]]), NA))
  list(panels = panels, main = main, xlab = xlab, ylab = ylab, columns = columns, names = names, key = key,
    caption = caption, aspect = aspect, plain = plain, one_x = columns == 1 && same("x"),
    one_y = columns > 1 && same("y"))
}

# A heat map, the only picture without panels. The first row is on top; colours go from -limit to limit of `title`.
heat_picture <- function(values, rows, columns, limit, title, main, ylab = NULL) {
  check_title(main)
  list(heat = mget(names(formals(heat_picture))))
}

axis_of <- function(ends, labels = plain_labels, count = 4L) {
  at <- pretty(ends, count)
  at <- at[at >= ends[[1L]] & at <= ends[[2L]]]
  list(at = at, labels = labels(at))
}

plain_labels <- function(at) format(at, trim = TRUE, big.mark = ",", scientific = any(abs(at) >= 1e7))

whole_axis <- function(ends) {
  ticks <- axis_of(ends, count = 5L)
  lapply(ticks, `[`, ticks$at == floor(ticks$at))
}

marker_axis <- function(fit, marker, ends) {
  if (type_of_marker(fit$transform, marker) == "none") axis_of(ends) else transformed_ticks(ends, fit$transform, marker)
}

name_axis <- function(names) {
  list(at = rev(seq_along(names)), labels = short_names(as.character(names), 30L), names = TRUE)
}

share_axis <- function(ends, ticks = share_ticks(10^ends)) list(at = log10(ticks), labels = percent_labels(ticks))

around <- function(values, share = 0.04) {
  ends <- range(values, finite = TRUE)
  if (diff(ends) > 0) grDevices::extendrange(ends, f = share) else ends + c(-1, 1) * max(1, abs(ends)) / 2
}

# `rows` may have `right`, words for the right margin, and `inner_lower` and `inner_upper`, thicker intervals.
interval_picture <- function(rows, main, xlab, xlim = around(c(0, rows$lower, rows$upper)), x = axis_of(xlim),
                             key = NULL) {
  at <- rev(seq_len(nrow(rows)))
  inside <- function(values) pmin(pmax(values, xlim[[1L]]), xlim[[2L]])
  interval <- function(lower, upper, width) {
    layer("segments", x = inside(lower), y = at, xend = inside(upper), yend = at, colour = rows$colour, width = width)
  }
  thin <- !is.null(rows$inner_lower)
  picture(list(panel(xlim, c(0.4, nrow(rows) + 0.6), list(
    if (xlim[[1L]] <= 0 && xlim[[2L]] > 0) layer("vline", x = 0, colour = "#888888"),
    interval(rows$lower, rows$upper, if (thin) 1 else 3), if (thin) interval(rows$inner_lower, rows$inner_upper, 4),
    layer("points", x = rows$estimate, y = at, fill = if (thin) "white" else rows$colour)
  ), x, name_axis(rows$name), right = if (!is.null(rows$right)) list(at = at, labels = rows$right))), main, xlab,
  key = key)
}

paint_picture <- function(picture) {
  if (!is.null(picture$heat)) return(do.call(plot_heat, picture$heat, quote = TRUE))
  panels <- picture$panels
  if (picture$plain) {
    graphics::plot.new()
    paint_panel(panels[[1L]], picture, TRUE, TRUE, 1)
    graphics::title(picture$main, xlab = picture$xlab, ylab = picture$ylab)
    graphics::mtext(picture$caption, side = 3L, line = 0.2, adj = 1, cex = 0.7, col = quiet_text_colour)
    return(invisible())
  }
  matrix <- !is.null(picture$names)
  several <- length(panels) > 1L
  titled <- !is.null(panels[[1L]]$title)
  left <- name_lines(Filter(Negate(is.null), panels), picture$columns)
  right <- if (is.null(panels[[1L]]$right)) 1 else 1.5 + 0.5 * max(nchar(panels[[1L]]$right$labels))
  below <- (if (is.null(picture$key)) 0 else key_rows(picture$key) + 1.6) + (if (is.null(picture$caption)) 0 else 1)
  xlab_lines <- if (is.null(picture$xlab)) 0 else 1.3 + lengths(regmatches(picture$xlab, gregexpr("\n", picture$xlab)))
  outer_y <- if (picture$one_y) left$lines else 0
  old <- graphics::par(c("mfrow", "mar", "oma", "las", "mgp", "tcl", "xaxs", "yaxs"))
  on.exit(graphics::par(old))
  graphics::par(
    mfrow = c(ceiling(length(panels) / picture$columns), picture$columns),
    mar = if (matrix) rep(0.25, 4L) else c(if (picture$one_x) 0.4 else 2.2 + (if (several) 0 else xlab_lines),
      if (picture$one_y) 0.8 else left$lines + (if (is.null(picture$ylab) || several) 0 else 1.4),
      if (titled) 1.8 else 0.8, right),
    oma = c(below + (if (matrix) 2.6 else if (several) xlab_lines + (if (picture$one_x) 1.8 else 0) else 0),
      if (matrix) 3.4 else outer_y + (if (is.null(picture$ylab) || !several) 0 else 1.6),
      (if (matrix) 2.4 else 0) + (if (is.null(picture$main)) 0 else 1.7), if (matrix) 2.4 else 0),
    las = 1, mgp = c(2, if (matrix) 0.4 else 0.6, 0), tcl = -0.2, xaxs = "i", yaxs = "i"
  )
  for (i in seq_along(panels)) {
    graphics::plot.new()
    if (!is.null(panels[[i]])) {
      if (!is.null(left$most)) panels[[i]]$y$labels <- short_names(panels[[i]]$y$labels, left$most)
      paint_panel(panels[[i]], picture, i == 1L || !picture$one_y || (i - 1L) %% picture$columns == 0L,
        !picture$one_x || i == length(panels), left$cex)
    }
  }
  line <- if (several) below + xlab_lines - 1.2 else 1 + xlab_lines
  graphics::mtext(picture$xlab, side = 1L, outer = several, line = if (several) 1.8 * picture$one_x else line)
  graphics::mtext(picture$ylab, side = 2L, outer = several, line = if (several) outer_y else left$lines - 0.2, las = 0)
  graphics::mtext(picture$caption, side = 1L, outer = TRUE, line = below - 1.1, adj = 1, cex = 0.7,
    col = quiet_text_colour)
  graphics::mtext(picture$main, side = 3L, outer = TRUE, line = if (matrix) 2.3 else 0.2, font = 2L)
  if (!is.null(picture$key)) paint_legend(picture$key)
}

name_lines <- function(panels, columns) {
  ticks <- lapply(panels, `[[`, "y")
  labels <- lapply(ticks, function(one) if (is.list(one$labels)) rep("10000", length(one$labels)) else one$labels)
  most <- max(lengths(labels), 1L)
  widest <- max(nchar(paste(unlist(labels))), 1L)
  if (!isTRUE(ticks[[1L]]$names)) return(list(lines = 1 + 0.5 * widest, cex = 0.9))
  fitted <- names_in_margin(unlist(labels), graphics::par("din")[[1L]] / columns, min(0.9, 22 / most))
  list(lines = fitted$lines, cex = fitted$cex, most = max(nchar(fitted$names)))
}

# A line holds about a hundred letters.
key_rows <- function(key) ceiling(length(key$text) / max(1, min(5, 100 %/% (max(nchar(paste(key$text))) + 5))))

paint_legend <- function(key) {
  old <- graphics::par(fig = c(0, 1, 0, 1), oma = rep(0, 4L), mar = rep(0, 4L), new = TRUE)
  on.exit(graphics::par(old))
  graphics::plot.new()
  graphics::legend("bottom", key$text, fill = key$colours, border = NA, bty = "n", x.intersp = 0.5, cex = 0.8,
    ncol = ceiling(length(key$text) / key_rows(key)), title = key$title)
}

paint_panel <- function(panel, picture, with_y, with_x, cex) {
  graphics::plot.window(panel$xlim, panel$ylim, asp = if (is.null(picture$aspect)) NA else picture$aspect,
    xaxs = "i", yaxs = "i")
  for (layer in panel$layers) paint_layer(layer)
  if (is.null(picture$names)) {
    if (with_x) paint_axis(1L, panel$x, 0.9)
    if (with_y) paint_axis(2L, panel$y, cex)
    paint_axis(4L, panel$right, min(0.8, cex))
    graphics::mtext(panel$title, side = 3L, line = 0.3, adj = 0, cex = 0.8, font = 2L,
      col = if (panel$alarm) signal_colour else "black")
  } else if (panel$row != panel$column) {
    paint_sides(panel, picture)
  } else {
    graphics::text(mean(panel$xlim), panel$ylim[[2L]] - 0.1 * diff(panel$ylim), panel$title, font = 2L,
      cex = 1.2 * min(1, 0.94 * diff(panel$xlim) / graphics::strwidth(panel$title, cex = 1.2, font = 2L)))
  }
  if (!is.null(panel$x) || !is.null(panel$y)) graphics::box(col = "#555555")
}

# Axes of a matrix of markers, on all four sides; without a diagonal, which has names, at the left and below.
paint_sides <- function(panel, picture) {
  last <- length(picture$names)
  diagonal <- picture$columns == last
  for (side in 1:4) {
    odd <- side %% 2L == 1L
    outermost <- c(panel$row == last, panel$column == 1L, diagonal && panel$row == 1L,
      diagonal && panel$column == last)[[side]]
    if (outermost) {
      paint_axis(side, if (odd) panel$x else panel$y, 0.75)
      if (!diagonal) {
        graphics::mtext(picture$names[[if (odd) panel$column else panel$row]], side, line = if (odd) 1.6 else 2.2,
          las = 0, cex = 0.75, font = 2L)
      }
    }
  }
}

paint_axis <- function(side, ticks, cex) {
  if (is.null(ticks)) return(invisible())
  if (length(ticks$minor)) {
    graphics::axis(side, at = ticks$minor, labels = FALSE, tcl = 0.6 * graphics::par("tcl"), lwd = 0, lwd.ticks = 1)
  }
  words <- side == 4L && is.character(ticks$labels) || isTRUE(ticks$names)
  labels <- if (is.list(ticks$labels)) as.expression(ticks$labels) else ticks$labels
  graphics::axis(side, at = ticks$at, labels = labels, cex.axis = cex, tick = !words, las = 1,
    gap.axis = if (words) -1 else if (side %in% c(1L, 3L)) 0.3 else NA)
}

paint_layer <- function(layer) {
  style <- layer$style
  group <- if (layer$shape %in% c("lines", "polygons", "ribbon")) layer$data$group else rep(1L, nrow(layer$data))
  for (d in split(layer$data, factor(group, unique(group)))) {
    switch(layer$shape,
      points = graphics::points(d$x, d$y, pch = style$pch, bg = d$fill, col = d$colour, cex = style$size),
      segments = graphics::segments(d$x, d$y, d$xend, d$yend, col = d$colour, lwd = style$width, lty = style$dash,
        lend = 1),
      hline = graphics::abline(h = d$y, col = d$colour, lty = style$dash),
      vline = graphics::abline(v = d$x, col = d$colour, lty = style$dash),
      lines = graphics::lines(d$x, d$y, col = d$colour[[1L]], lwd = style$width, lty = style$dash),
      ribbon = {
        d <- d[!is.na(d$ymin), ]
        graphics::polygon(c(d$x, rev(d$x)), c(d$ymin, rev(d$ymax)), col = d$fill[[1L]], border = NA)
      },
      polygons = graphics::polygon(d$x, d$y, col = d$fill[[1L]], border = d$colour[[1L]]),
      rects = graphics::rect(d$xmin, d$ymin, d$xmax, d$ymax, col = d$fill, border = d$colour),
      text = for (i in seq_along(d$x)) {
        graphics::text(d$x[[i]], d$y[[i]], d$label[[i]], adj = c(d$hjust[[i]], d$vjust[[i]]), col = d$colour[[i]],
          cex = 0.8 * rep_len(style$size, i)[[i]], font = 1L + style$bold)
      },
      rug = graphics::rug(d$x, side = style$side, quiet = TRUE),
      image = graphics::rasterImage(layer$image, d$xmin, d$ymin, d$xmax, d$ymax, interpolate = FALSE),
      regions = graphics::.filled.contour(unique(d$x), unique(d$y), matrix(d$z, length(unique(d$x))),
        c(-region_mass, 0), region_colours)
    )
  }
}

ellipse_mass <- 0.9

region_mass <- c(0.99, 0.95, 0.8, 0.5)

percent_labels <- function(shares) {
  paste0(format(100 * shares, scientific = FALSE, drop0trailing = TRUE, trim = TRUE), "%")
}

# Ticks of a logarithmic axis of shares: 1, 2 and 5 times powers of ten, or the powers alone if these are many.
share_ticks <- function(ends) {
  ticks <- as.vector(outer(c(1, 2, 5), 10^(-9:0)))
  ticks <- ticks[ticks >= ends[[1L]] & ticks <= ends[[2L]] & ticks <= 1]
  if (length(ticks) < 3L) return(Filter(function(tick) tick > 0 && tick <= 1, pretty(ends, 4)))
  if (length(ticks) > 8L) ticks[abs(log10(ticks) - round(log10(ticks))) < 1e-9] else ticks
}
