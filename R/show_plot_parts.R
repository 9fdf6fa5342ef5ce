# Parts of several pictures: ticks in the data's units, names that fit, heat maps.

check_title <- function(main) {
  must_be(is.null(main) || length(main) && is.null(dim(main)) && (is.character(main) || is.language(main) ||
    is.numeric(main) && !is.object(main)), "main", "NULL or a text", main)
}

# Ticks at zero and at powers of ten. Powers that would touch zero are left out.
transformed_ticks <- function(ends, transform, j) {
  place <- function(values) transform_values(values, transform, j)
  zero <- place(0)
  linear <- units_of_scale(0, transform, j)
  width <- if (type_of_marker(transform, j) == "logicle") linear / log(10) else linear
  largest <- max(abs(data_values(ends, transform, j)), width)
  powers <- as.double(seq(floor(log10(width)) - 1, floor(log10(largest))))
  decades <- 10^powers
  up <- place(decades) - zero
  labelled <- up > 0.09 * diff(ends)
  if (!any(labelled & up < max(abs(ends - zero)))) {
    values <- pretty(data_values(ends, transform, j), 4)
    at <- place(values)
    inside <- at >= ends[[1L]] & at <= ends[[2L]]
    return(list(at = at[inside], labels = as.list(format(values[inside], trim = TRUE)), minor = numeric()))
  }
  words <- function(power, minus) {
    if (power <= 3) return(paste0(if (minus) "-", format(10^power, scientific = FALSE)))
    if (minus) bquote(-10^.(power)) else bquote(10^.(power))
  }
  powers <- powers[labelled]
  labels <- c(lapply(rev(powers), words, minus = TRUE), "0", lapply(powers, words, minus = FALSE))
  minor <- place(as.vector(outer(2:9, decades))) - zero
  minor <- zero + c(-minor, minor)[rep(minor > 0.04 * diff(ends), 2L)]
  at <- zero + c(-rev(up[labelled]), 0, up[labelled])
  inside <- at >= ends[[1L]] & at <= ends[[2L]]
  list(at = at[inside], labels = labels[inside], minor = minor[minor >= ends[[1L]] & minor <= ends[[2L]]])
}

short_names <- function(names, most = 24L) {
  short <- ifelse(nchar(names) > most, paste0(substr(names, 1L, most - 3L), "..."), names)
  # Different names stay different.
  first <- !duplicated(names)
  number <- stats::ave(seq_len(sum(first)), short[first], FUN = seq_along)[match(names, names[first])]
  ifelse(number > 1L, paste0(substr(short, 1L, pmax(0L, pmin(nchar(short), most - 3L - nchar(number)))), "..", number),
    short)
}

# Names in a margin that takes at most the share `room` of the device. Long names become smaller and are then cut.
names_in_margin <- function(names, inches, cex, room = 0.4) {
  per_letter <- 0.55 * graphics::par("cin")[[2L]]
  longest <- max(nchar(names))
  size <- cex * max(0.65, min(1, room * inches / (longest * per_letter * cex)))
  names <- short_names(names, max(6L, floor(room * inches / (per_letter * size))))
  list(names = names, cex = size, lines = 1 + 0.55 * max(nchar(names)) * size)
}

# Colours of a heat map end at the 98% point: otherwise one extreme value would make all others pale.
heat_limit <- function(values) max(1, stats::quantile(abs(values), 0.98))

plot_heat <- function(values, rows, columns, limit, title, main, ylab) {
  count <- nrow(values)
  p <- ncol(values)
  rows <- names_in_margin(rows, graphics::par("din")[[1L]], min(0.9, 22 / count))
  columns <- names_in_margin(columns, graphics::par("din")[[2L]], min(1, 14 / p))
  palette <- diverging_colours(101L)
  colour <- palette[1L + round(100 * (pmin(pmax(values / limit, -1), 1) + 1) / 2)]
  colour[is.na(colour)] <- "#DDDDDD"
  old <- graphics::par(las = 1, mgp = c(2.6, 0.4, 0), tcl = -0.2, xaxs = "i", yaxs = "i",
    mar = c(columns$lines, rows$lines + if (is.null(ylab)) 1 else 1.6, if (is.null(main)) 3.4 else 4.8, 1))
  on.exit(graphics::par(old))
  graphics::plot.new()
  graphics::plot.window(c(0, p), c(0, count))
  graphics::rasterImage(matrix(colour, count), 0, 0, p, count, interpolate = FALSE)
  graphics::segments(0, 0:count, p, 0:count, col = "white", lwd = min(1, 20 / count))
  graphics::segments(0:p, 0, 0:p, count, col = "white")
  label <- function(side, at, names, ...) {
    graphics::axis(side, at = at, labels = names$names, tick = FALSE, cex.axis = names$cex, gap.axis = -1, ...)
  }
  label(1L, seq_len(p) - 0.5, columns, las = if (max(nchar(columns$names)) > 2L) 2 else 1)
  label(2L, count - seq_len(count) + 0.5, rows)
  paint_key(palette, limit, any(abs(values) > limit, na.rm = TRUE), p, count, title)
  graphics::mtext(main, side = 3L, line = 3.4, font = 2L)
  graphics::mtext(ylab, side = 2L, line = rows$lines + 0.2, las = 0)
}

paint_key <- function(palette, limit, beyond, p, top, title) {
  line <- diff(graphics::par("usr")[3:4]) / graphics::par("pin")[[2L]] * graphics::par("csi")
  low <- top + 0.5 * line
  high <- top + 1.1 * line
  # Wide enough for its numbers, even in a narrow picture.
  half <- max(0.25 * p, 4 * graphics::strwidth("-0.5", cex = 0.75))
  graphics::rasterImage(matrix(palette, 1L), 0.5 * p - half, low, 0.5 * p + half, high, interpolate = TRUE, xpd = NA)
  if (beyond) {
    width <- 0.08 * half
    middle <- (low + high) / 2
    triangle <- function(x, colour) graphics::polygon(x, c(low, high, middle), col = colour, border = NA, xpd = NA)
    triangle(0.5 * p - half - c(0, 0, width), palette[[1L]])
    triangle(0.5 * p + half + c(0, 0, width), palette[[length(palette)]])
  }
  ticks <- pretty(c(-limit, limit), 4)
  ticks <- ticks[abs(ticks) <= limit]
  graphics::text(0.5 * p + half * ticks / limit, high + 0.5 * line, ticks, cex = 0.75, xpd = NA)
  graphics::text(0.5 * p, high + 1.4 * line, title, cex = 0.8, xpd = NA)
}
