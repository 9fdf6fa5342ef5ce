# Markers against each other: cells as images coloured by component, the mixture's regions of highest density, and the
# histogram of each marker with the fitted density.

# The share of the mass that an ellipse (of a component) or a region (of the mixture) encloses.
ellipse_mass <- 0.9
region_mass <- c(0.99, 0.95, 0.8, 0.5)

# What the picture needs: the chosen markers with their limits, the cells of these markers with their pixels and their
# components, and the colours.
pairs_parts <- function(fit, data, markers, min_weight, backend, threads) {
  reference <- reference_draw(fit)
  chosen <- choose_markers(fit, markers, reference)
  cells <- class <- position <- NULL
  if (!is.null(data) || !is.null(fit$x)) {
    cells <- cells_of(fit, data, argument = "data")
    if (nrow(cells) == 0L) {
      stop_input("data", "has no rows")
    }
    run <- resolve_run(backend, threads)
    class <- evaluate_slices(fit, cells, "class", run, NULL)
    cells <- cells[, chosen, drop = FALSE]
  }
  panels <- length(chosen)
  limits <- lapply(seq_len(panels), function(i) marker_range(reference, chosen[[i]], cells[, i]))
  bins <- pixels_of(panels)
  if (!is.null(cells)) {
    position <- lapply(seq_len(panels), function(i) bin_of(cells[, i], limits[[i]], bins))
  }
  list(
    reference = reference, chosen = chosen, cells = cells, class = class, limits = limits, bins = bins,
    position = position, colouring = colour_components(reference, min_weight)
  )
}

plot_pairs <- function(fit, data, markers, min_weight, main, backend, threads) {
  parts <- pairs_parts(fit, data, markers, min_weight, backend, threads)
  reference <- parts$reference
  chosen <- parts$chosen
  limits <- parts$limits
  colouring <- parts$colouring
  cells <- parts$cells
  panels <- length(chosen)
  if (panels == 1L) {
    return(plot_single_marker(fit, reference, chosen, limits[[1L]], cells, main))
  }
  old <- graphics::par(
    mfrow = c(panels, panels), mar = rep(0.25, 4L), oma = c(5.6, 3.4, if (is.null(main)) 2.4 else 4, 2.4), las = 1,
    mgp = c(2, 0.4, 0), tcl = -0.2, xaxs = "i", yaxs = "i"
  )
  on.exit(graphics::par(old))
  for (row in seq_len(panels)) {
    for (column in seq_len(panels)) {
      graphics::plot.new()
      if (row == column) {
        paint_marker(fit, reference, chosen[[row]], limits[[row]], if (!is.null(cells)) cells[, row])
        next
      }
      graphics::plot.window(limits[[column]], limits[[row]])
      if (row > column) {
        if (!is.null(cells)) {
          paint_cells(parts$position[[column]], parts$position[[row]], colouring$of[parts$class], colouring$colours,
            parts$bins)
        }
        paint_ellipses(reference, chosen[c(column, row)], colouring, min_weight, halo = panels <= 4L)
      } else {
        paint_regions(reference, chosen[c(column, row)], limits[c(column, row)])
      }
      paint_axes(fit, chosen, row, column, panels)
      graphics::box(col = "#555555")
    }
  }
  paint_legend(reference, colouring)
  if (!is.null(main)) {
    graphics::mtext(main, side = 3L, outer = TRUE, line = 2.3, font = 2L)
  }
}

# The components that get a colour, the heaviest first; `colours`, of which the last is for all other components; and
# `of`, the number of the colour of each component.
colour_components <- function(reference, min_weight) {
  heavy <- order(-reference$weights)
  coloured <- utils::head(heavy[reference$weights[heavy] >= min_weight], length(component_colours))
  of <- rep(length(coloured) + 1L, length(reference$weights))
  of[coloured] <- seq_along(coloured)
  list(coloured = coloured, colours = c(component_colours[seq_along(coloured)], other_colour), of = of)
}

# Pixels along a side of a panel: about 400 over all panels. More would show no more, in a larger file.
pixels_of <- function(panels) as.integer(max(80, min(200, 420 / panels)))

# One marker: its histogram with an axis, and the density of the mixture.
plot_single_marker <- function(fit, reference, marker, limits, values, main) {
  old <- graphics::par(
    mar = c(4, 4.6, if (is.null(main)) 2.4 else 3.6, 1), las = 1, mgp = c(3, 0.6, 0), tcl = -0.25,
    xaxs = "i", yaxs = "i"
  )
  on.exit(graphics::par(old))
  graphics::plot.new()
  paint_marker(fit, reference, marker, limits, values, named = FALSE)
  marker_axis(1L, fit, marker, 1)
  graphics::axis(2L)
  graphics::mtext(short_names(fit$markers[[marker]], 60L), side = 1L, line = 2.4, font = 2L)
  graphics::mtext("Density", side = 2L, line = 3.4, las = 0)
  some <- length(values) > 0L
  graphics::legend("topright", c(if (some) "cells", "mixture"),
    inset = c(0, -2 * graphics::par("csi") / graphics::par("pin")[[2L]]), xpd = NA, horiz = TRUE, bty = "n",
    cex = 0.9, fill = c(if (some) histogram_colour, NA),
    border = NA, lty = c(if (some) NA, 1), col = c(if (some) NA, density_colour), lwd = 1.4
  )
  if (!is.null(main)) {
    graphics::mtext(main, side = 3L, line = 1.8, font = 2L, adj = 0)
  }
}

# The columns to show: those asked for, or the `most` in which the means of the components differ most.
choose_markers <- function(fit, markers, reference, most = 5L) {
  p <- length(fit$markers)
  if (is.null(markers)) {
    if (p <= most) {
      return(seq_len(p))
    }
    deviation <- sweep(reference$means, 2L, colSums(reference$weights * reference$means))
    spread <- colSums(reference$weights * deviation^2) / fit$scale^2
    return(sort(order(-spread)[seq_len(most)]))
  }
  named <- is.character(markers) || is.factor(markers) && is.character(levels(markers))
  chosen <- if (named || is.numeric(markers)) match(markers, if (is.numeric(markers)) seq_len(p) else fit$markers)
  if (length(chosen) == 0L || anyNA(chosen) || anyDuplicated(chosen)) {
    stop_input("markers",
      "must be different names or numbers among the fit's markers ", list_some(fit$markers), ", not ",
      if (length(chosen)) list_some(as.character(markers)) else show_value(markers)
    )
  }
  chosen
}

# The range of a marker that is shown, without the outermost 0.02% of the cells on either side. If there are no cells,
# three standard deviations around the mean of each component with 1% of the weight.
marker_range <- function(reference, marker, values) {
  values <- values[!is.na(values)]
  if (length(values) > 1L) {
    # About 2e5 values are enough for the quantiles.
    some <- values[seq(1, length(values), by = max(1, floor(length(values) / 2e5)))]
    range <- stats::quantile(some, c(0.0002, 0.9998), names = FALSE)
  } else {
    sd <- sqrt(reference$covariances[marker, marker, ])
    heavy <- reference$weights >= min(0.01, max(reference$weights))
    mean <- reference$means[heavy, marker]
    range <- c(min(mean - 3 * sd[heavy]), max(mean + 3 * sd[heavy]))
  }
  if (diff(range) <= 0) {
    range <- range + c(-1, 1) * max(1, abs(range[[1L]])) / 2
  }
  grDevices::extendrange(range, f = 0.03)
}

# Bin from 1, NA outside the limits.
bin_of <- function(values, limits, bins) {
  bin <- floor((values - limits[[1L]]) / diff(limits) * bins) + 1
  bin[bin < 1 | bin > bins] <- NA
  as.integer(bin)
}

# Each pixel has the colour that most of its cells have, and is darker the more there are.
paint_cells <- function(x, y, colour, colours, bins) {
  image <- cell_image(x, y, colour, colours, bins)
  usr <- graphics::par("usr")
  if (!is.null(image)) graphics::rasterImage(image, usr[[1L]], usr[[3L]], usr[[2L]], usr[[4L]], interpolate = FALSE)
}

cell_image <- function(x, y, colour, colours, bins) {
  pixels <- bins * bins
  # Row 1 of an image is its top.
  index <- (x - 1L) * bins + (bins + 1L - y)
  inside <- !is.na(index)
  index <- index[inside]
  count <- tabulate(index + (colour[inside] - 1L) * pixels, pixels * length(colours))
  dim(count) <- c(pixels, length(colours))
  total <- rowSums(count)
  filled <- which(total > 0)
  if (!length(filled)) {
    return(NULL)
  }
  majority <- max.col(count[filled, , drop = FALSE], ties.method = "first")
  # Images with few shades make small files.
  depth <- 0.35 + 0.65 * round(4 * log1p(total[filled]) / log1p(max(total))) / 4
  rgb <- grDevices::col2rgb(colours)[, majority, drop = FALSE]
  rgb <- 255 - t(t(255 - rgb) * depth)
  image <- matrix("#FFFFFF", bins, bins)
  image[filled] <- grDevices::rgb(rgb[1L, ], rgb[2L, ], rgb[3L, ], maxColorValue = 255)
  image
}

# Ellipses that hold ellipse_mass of each of the coloured components and of twelve more, in two markers. With `halo`
# they have a white border. It makes them easier to see in large panels, but doubles the curves, which take most of
# the bytes of a file.
paint_ellipses <- function(reference, pair, colouring, min_weight, halo) {
  for (ellipse in ellipses_of(reference, pair, colouring, min_weight)) {
    if (halo && !ellipse$other) {
      graphics::lines(ellipse$outline, col = "white", lwd = 2.4)
    }
    graphics::lines(ellipse$outline, col = ellipse$colour, lwd = if (ellipse$other) 0.6 else if (halo) 1.3 else 1)
  }
}

# The outline of each ellipse, its colour, and whether its component is one of those that share a colour.
ellipses_of <- function(reference, pair, colouring, min_weight) {
  radius <- sqrt(stats::qchisq(ellipse_mass, 2))
  angle <- seq(0, 2 * pi, length.out = 100L)
  circle <- radius * cbind(cos(angle), sin(angle))
  heavy <- order(-reference$weights)
  heavy <- utils::head(heavy[reference$weights[heavy] >= min_weight], length(colouring$colours) + 11L)
  # The heaviest is drawn last, on top of the others.
  ellipses <- lapply(rev(heavy), function(j) {
    root <- tryCatch(chol(reference$covariances[pair, pair, j]), error = function(error) NULL)
    if (is.null(root)) {
      return(NULL)
    }
    other <- !j %in% colouring$coloured
    colour <- darken(if (other) "#AAAAAA" else colouring$colours[[colouring$of[[j]]]])
    list(outline = t(t(circle %*% root) + reference$means[j, pair]), colour = colour, other = other)
  })
  Filter(Negate(is.null), ellipses)
}

darken <- function(colour) {
  rgb <- grDevices::col2rgb(colour) * 0.65
  grDevices::rgb(rgb[1L, ], rgb[2L, ], rgb[3L, ], maxColorValue = 255)
}

# The mixture's density of two markers on a grid, and the regions of highest density that hold region_mass of it.
# Returns for each point of the grid in how many of the regions it lies.
paint_regions <- function(reference, pair, limits, size = 100L) {
  regions <- regions_of(reference, pair, limits, size)
  if (is.null(regions)) {
    return(invisible(matrix(0L, size, size)))
  }
  graphics::.filled.contour(regions$grid[[1L]], regions$grid[[2L]], regions$density,
    c(regions$levels, 1.001 * max(regions$density)), region_colours)
  invisible(findInterval(regions$density, regions$levels))
}

regions_of <- function(reference, pair, limits, size = 100L) {
  grid <- lapply(limits, function(range) seq(range[[1L]], range[[2L]], length.out = size))
  density <- matrix(0, size, size)
  for (j in which(reference$weights > 1e-6)) {
    mean <- reference$means[j, pair]
    covariance <- reference$covariances[pair, pair, j]
    # N(x, y) as N(x) N(y | x): a vector and a matrix of normal densities.
    slope <- covariance[1L, 2L] / covariance[1L, 1L]
    residual <- max(covariance[2L, 2L] - slope * covariance[1L, 2L], 1e-12 * covariance[2L, 2L])
    sd <- sqrt(c(covariance[1L, 1L], residual))
    center <- mean[[2L]] + slope * (grid[[1L]] - mean[[1L]])
    density <- density + reference$weights[[j]] * stats::dnorm(grid[[1L]], mean[[1L]], sd[[1L]]) *
      stats::dnorm(outer(-center, grid[[2L]], "+"), 0, sd[[2L]])
  }
  if (!any(density > 0)) {
    return(NULL)
  }
  ranked <- sort(density, decreasing = TRUE)
  share <- cumsum(ranked) / sum(ranked)
  levels <- vapply(region_mass, function(mass) ranked[[which(share >= mass)[[1L]]]], 0)
  list(grid = grid, density = density, levels = levels)
}

# The histogram of the cells with the density of the mixture, and the name of the marker.
paint_marker <- function(fit, reference, marker, limits, values, named = TRUE) {
  parts <- marker_parts(fit, reference, marker, limits, values)
  graphics::plot.window(limits, c(0, parts$top))
  if (!is.null(parts$bars)) {
    graphics::rect(parts$bars$left, 0, parts$bars$right, parts$bars$height, col = histogram_colour, border = NA)
  }
  graphics::lines(parts$at, parts$density, lwd = 1.4, col = density_colour)
  paint_spikes(parts$spikes)
  usr <- graphics::par("usr")
  if (named) {
    name <- fit$markers[[marker]]
    size_of <- function(name) fitting_size(name, 0.94 * diff(limits), 1.2, font = 2L)
    name <- if (size_of(name) < 0.5) short_names(name) else name
    graphics::text(mean(usr[1:2]), usr[[4L]] - 0.1 * diff(usr[3:4]), name, font = 2L, cex = size_of(name))
  }
  graphics::box(col = "#555555")
}

# The density of the mixture of a marker, the bars of its cells, its piled values, and the top of the frame.
marker_parts <- function(fit, reference, marker, limits, values) {
  at <- seq(limits[[1L]], limits[[2L]], length.out = 300L)
  density <- numeric(length(at))
  for (j in which(reference$weights > 1e-6)) {
    density <- density + reference$weights[[j]] *
      stats::dnorm(at, reference$means[j, marker], sqrt(reference$covariances[marker, marker, j]))
  }
  bars <- NULL
  spikes <- spikes_of(fit, marker, limits)
  values <- values[!is.na(values)]
  known <- length(values)
  values <- values[!values %in% spikes$at]
  if (length(values)) {
    width <- bar_width(values, limits)
    # Bars begin at half a bar, so that whole numbers lie inside bars.
    left <- seq(floor(limits[[1L]] / width) * width - width / 2, limits[[2L]], by = width)
    bin <- bin_of(values, left[[1L]] + c(0, width * length(left)), length(left))
    bars <- list(
      left = pmax(left, limits[[1L]]), right = pmin(left + width, limits[[2L]]),
      height = tabulate(bin, length(left)) / known / width
    )
  }
  # The mixture's density has a spike at a piled value too, which is cut off.
  near <- outer(at, spikes$at, function(x, spike) abs(x - spike) < 0.02 * diff(limits))
  list(at = at, density = density, bars = bars, spikes = spikes,
    top = 1.25 * max(density[rowSums(near) == 0], bars$height))
}

# The piled values of a marker on its scale within `limits`, and their shares.
spikes_of <- function(fit, marker, limits) {
  piled <- fit$piled[fit$piled$marker == fit$markers[[marker]], ]
  at <- as.double(piled$at)
  shown <- at >= limits[[1L]] & at <= limits[[2L]]
  list(at = at[shown], share = piled$share[shown])
}

# Lines of 60% of the frame's height with the shares of the cells, because the bars would be too high.
paint_spikes <- function(spikes) {
  if (!length(spikes$at)) {
    return(invisible())
  }
  usr <- graphics::par("usr")
  top <- usr[[3L]] + 0.6 * diff(usr[3:4])
  graphics::segments(spikes$at, usr[[3L]], spikes$at, top, lwd = 2.5, col = signal_colour, lend = 1)
  beside <- ifelse(spikes$at < mean(usr[1:2]), -0.15, 1.15)
  for (i in seq_along(spikes$at)) {
    graphics::text(spikes$at[[i]], top, percent_words(spikes$share[[i]]), adj = c(beside[[i]], -0.3), cex = 0.75,
      col = signal_colour)
  }
}

# The width of a bar, of which there are about 60. All bars hold the same number of whole numbers. Otherwise
# neighbouring bars would differ in height for this reason alone.
bar_width <- function(values, limits) {
  width <- diff(limits) / 60
  some <- values[seq_len(min(length(values), 1000L))]
  if (all(some == floor(some))) max(1, round(width)) else width
}

# Axes only at the outer panels, on all four sides.
paint_axes <- function(fit, chosen, row, column, panels) {
  if (column == 1L) {
    marker_axis(2L, fit, chosen[[row]])
  }
  if (column == panels) {
    marker_axis(4L, fit, chosen[[row]])
  }
  if (row == panels) {
    marker_axis(1L, fit, chosen[[column]])
  }
  if (row == 1L) {
    marker_axis(3L, fit, chosen[[column]])
  }
}

# The names of the coloured components with their weights, and of the others if they have weight.
component_key <- function(reference, colouring) {
  coloured <- colouring$coloured
  others <- 1 - sum(reference$weights[coloured])
  text <- paste0(coloured, " (", percent(reference$weights[coloured]), ")")
  shown <- seq_along(coloured)
  if (length(reference$weights) > length(coloured) && others >= 5e-4) {
    text <- c(text, paste0("others (", percent(others), ")"))
    shown <- c(shown, length(colouring$colours))
  }
  list(text = text, colours = colouring$colours[shown], title =
    sprintf("Component (weight); ellipses hold %g%%; regions 50, 80, 95, 99%%", 100 * ellipse_mass))
}

paint_legend <- function(reference, colouring) {
  key <- component_key(reference, colouring)
  old <- graphics::par(fig = c(0, 1, 0, 1), oma = rep(0, 4L), mar = rep(0, 4L), new = TRUE)
  on.exit(graphics::par(old))
  graphics::plot.new()
  graphics::legend("bottom",
    legend = key$text, fill = key$colours, border = NA, bty = "n", ncol = ceiling(length(key$text) / 2), cex = 0.8,
    x.intersp = 0.5, title = key$title
  )
}
