# Markers against each other: images of cells, the mixture's regions of highest density, and histograms.

pairs_parts <- function(fit, data, markers, min_weight, backend, threads, class = NULL) {
  reference <- reference_draw(fit)
  chosen <- choose_markers(fit, markers, reference)
  cells <- NULL
  if (!is.null(data) || !is.null(fit$x)) {
    cells <- cells_of(fit, data, argument = "data")
    if (nrow(cells) == 0L) stop_input("data", "has no rows")
    if (is.null(class)) class <- evaluate_slices(fit, cells, "class", resolve_run(backend, threads), NULL)
    if (!identical(chosen, seq_len(ncol(cells)))) cells <- cells[, chosen, drop = FALSE]
  }
  c(list(reference = reference, chosen = chosen, cells = cells, class = class,
    colouring = colour_components(reference, min_weight)), placed_cells(reference, chosen, cells))
}

# The limits of each panel, its pixels along a side, and the pixel of each cell. `cells`: the chosen markers.
placed_cells <- function(reference, chosen, cells) {
  panels <- seq_along(chosen)
  limits <- lapply(panels, function(i) marker_range(reference, chosen[[i]], cells, i))
  # About 400 pixels over all panels.
  bins <- as.integer(max(80, min(200, 420 / length(chosen))))
  list(limits = limits, bins = bins,
    position = if (!is.null(cells)) lapply(panels, function(i) bin_of(cells[, i], limits[[i]], bins)))
}

pairs_picture <- function(fit, parts, min_weight, main) {
  chosen <- parts$chosen
  limits <- parts$limits
  reference <- parts$reference
  count <- length(chosen)
  axes <- Map(function(marker, ends) marker_axis(fit, marker, ends), chosen, limits)
  histogram <- function(row, ends) {
    marker_layers(marker_parts(fit, reference, chosen[[row]], limits[[row]], parts$cells[, row]), ends)
  }
  if (count == 1L) {
    ends <- c(0, marker_parts(fit, reference, chosen, limits[[1L]], parts$cells[, 1L])$top)
    some <- any(!is.na(parts$cells))
    return(picture(list(panel(limits[[1L]], ends, histogram(1L, ends), axes[[1L]])), main,
      short_names(fit$markers[[chosen]], 60L), "Density", key = list(text = c(if (some) "cells", "mixture"),
        colours = c(if (some) histogram_colour, density_colour))))
  }
  key <- component_key(reference, parts$colouring)
  marker_matrix_picture(fit, chosen, axes, limits, main, key, function(row, column) {
    if (row == column) return(histogram(row, limits[[row]]))
    pair <- chosen[c(column, row)]
    if (row < column) return(list(region_layer(reference, pair, limits[c(column, row)])))
    cells <- if (!is.null(parts$cells)) cell_layer(parts, row, column, parts$colouring$of[parts$class],
      parts$colouring$colours)
    c(list(cells), ellipse_layers(reference, pair, limits[c(column, row)], parts$colouring, min_weight, count <= 4L))
  })
}

# A matrix of panels; `layers_of` has the layers of one. Without a `diagonal` there are only the panels below it.
marker_matrix_picture <- function(fit, chosen, axes, limits, main, key, layers_of, diagonal = TRUE) {
  count <- length(chosen)
  columns <- if (diagonal) count else count - 1L
  names <- short_names(fit$markers[chosen])
  if (anyDuplicated(names)) names <- fit$markers[chosen]
  panels <- lapply(seq_len(columns^2), function(i) {
    row <- (i - 1L) %/% columns + 1L + count - columns
    column <- (i - 1L) %% columns + 1L
    if (diagonal || row > column) {
      panel(limits[[column]], limits[[row]], layers_of(row, column), axes[[column]], axes[[row]],
        if (row == column) names[[row]], row = row, column = column)
    }
  })
  picture(panels, main, columns = columns, names = names, key = key)
}

cell_layer <- function(parts, row, column, colour, colours) {
  image <- cell_image(parts$position[[column]], parts$position[[row]], colour, colours, parts$bins)
  x <- parts$limits[[column]]
  y <- parts$limits[[row]]
  if (!is.null(image)) {
    c(layer("image", xmin = x[[1L]], xmax = x[[2L]], ymin = y[[1L]], ymax = y[[2L]]), list(image = image))
  }
}

colour_components <- function(reference, min_weight) {
  heavy <- order(-reference$weights)
  coloured <- utils::head(heavy[reference$weights[heavy] >= min_weight], length(component_colours))
  of <- rep(length(coloured) + 1L, length(reference$weights))
  of[coloured] <- seq_along(coloured)
  list(coloured = coloured, colours = c(component_colours[seq_along(coloured)], other_colour), of = of)
}

choose_markers <- function(fit, markers, reference, most = 5L) {
  p <- length(fit$markers)
  if (is.null(markers)) {
    if (p <= most) return(seq_len(p))
    deviation <- sweep(reference$means, 2L, colSums(reference$weights * reference$means))
    spread <- colSums(reference$weights * deviation^2) / fit$scale^2
    return(sort(order(-spread)[seq_len(most)]))
  }
  named <- is.character(markers) || is.factor(markers) && is.character(levels(markers))
  chosen <- if (named || is.numeric(markers)) match(markers, if (is.numeric(markers)) seq_len(p) else fit$markers)
  if (length(chosen) == 0L || anyNA(chosen) || anyDuplicated(chosen)) {
    stop_input("markers", "must be different names or numbers among the fit's markers ", list_some(fit$markers),
      ", not ", if (length(chosen)) list_some(as.character(markers)) else show_value(markers))
  }
  chosen
}

marker_range <- function(reference, marker, cells, column) {
  values <- if (NROW(cells)) cells[seq(1, nrow(cells), by = max(1, floor(nrow(cells) / 2e5))), column]
  values <- values[!is.na(values)]
  if (length(values) > 1L) {
    range <- stats::quantile(values, c(0.0002, 0.9998), names = FALSE)
  } else {
    sd <- sqrt(reference$covariances[marker, marker, ])
    heavy <- reference$weights >= min(0.01, max(reference$weights))
    mean <- reference$means[heavy, marker]
    range <- c(min(mean - 3 * sd[heavy]), max(mean + 3 * sd[heavy]))
  }
  if (diff(range) <= 0) range <- range + c(-1, 1) * max(1, abs(range[[1L]])) / 2
  grDevices::extendrange(range, f = 0.03)
}

bin_of <- function(values, limits, bins) {
  bin <- floor((values - limits[[1L]]) / diff(limits) * bins) + 1
  bin[bin < 1 | bin > bins] <- NA
  as.integer(bin)
}

# Each pixel has the colour that most of its cells have, and is darker the more there are.
cell_image <- function(x, y, colour, colours, bins) {
  pixels <- bins * bins
  # Row 1 of an image is its top.
  index <- (x - 1L) * bins + (bins + 1L - y)
  # tabulate() leaves out NA: the cells outside the limits.
  count <- matrix(tabulate(index + (colour - 1L) * pixels, pixels * length(colours)), pixels)
  total <- rowSums(count)
  filled <- which(total > 0)
  if (!length(filled)) return(NULL)
  majority <- max.col(count[filled, , drop = FALSE], "first")
  # Images with few shades make small files.
  depth <- 0.35 + 0.65 * round(4 * log1p(total[filled]) / log1p(max(total))) / 4
  rgb <- grDevices::col2rgb(colours)[, majority, drop = FALSE]
  rgb <- 255 - t(t(255 - rgb) * depth)
  image <- matrix("#FFFFFF", bins, bins)
  image[filled] <- grDevices::rgb(rgb[1L, ], rgb[2L, ], rgb[3L, ], maxColorValue = 255)
  image
}

# Ellipses of the coloured components and of twelve more, in two markers. `halo`: a white border, for large panels.
ellipse_layers <- function(reference, pair, limits, colouring, min_weight, halo) {
  angle <- seq(0, 2 * pi, length.out = 100L)
  circle <- sqrt(stats::qchisq(ellipse_mass, 2)) * cbind(cos(angle), sin(angle))
  heavy <- order(-reference$weights)
  heavy <- utils::head(heavy[reference$weights[heavy] >= min_weight], length(colouring$colours) + 11L)
  unlist(lapply(rev(heavy), function(j) {
    root <- tryCatch(chol(reference$covariances[pair, pair, j]), error = pass_on)
    if (is.null(root)) return(NULL)
    outline <- t(t(circle %*% root) + reference$means[j, pair])
    x <- outline[, 1L]
    y <- outline[, 2L]
    y[x < limits[[1L]][[1L]] | x > limits[[1L]][[2L]] | y < limits[[2L]][[1L]] | y > limits[[2L]][[2L]]] <- NA
    other <- !j %in% colouring$coloured
    rgb <- 0.65 * grDevices::col2rgb(if (other) "#AAAAAA" else colouring$colours[[colouring$of[[j]]]])
    list(
      if (halo && !other) layer("lines", x = x, y = y, colour = "white", width = 2.4),
      layer("lines", x = x, y = y, colour = grDevices::rgb(t(rgb), maxColorValue = 255),
        width = if (other) 0.6 else if (halo) 1.3 else 1)
    )
  }), recursive = FALSE)
}

region_layer <- function(reference, pair, limits, size = 100L) {
  grid <- lapply(limits, function(range) seq(range[[1L]], range[[2L]], length.out = size))
  density <- grid_density(reference, pair, grid)
  if (any(density > 0)) {
    order <- order(-density)
    share <- numeric(length(density))
    share[order] <- cumsum(density[order]) / sum(density)
    layer("regions", x = rep(grid[[1L]], size), y = rep(grid[[2L]], each = size), z = -share)
  }
}

grid_density <- function(reference, pair, grid) {
  density <- 0
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
  density
}

# Cells and density over the height of the frame. Piled values, too high for bars, are lines of 60% of this height.
marker_layers <- function(parts, ends) {
  height <- function(value) ends[[1L]] + pmin(value / parts$top, 1) * diff(ends)
  spikes <- parts$spikes
  beside <- ifelse(spikes$at < mean(range(parts$at)), -0.15, 1.15)
  list(
    layer("rects", xmin = parts$bars$left, xmax = parts$bars$right, ymin = ends[[1L]], ymax = height(parts$bars$height),
      fill = histogram_colour),
    layer("lines", x = parts$at, y = height(parts$density), colour = density_colour, width = 1.4),
    layer("segments", x = spikes$at, y = ends[[1L]], xend = spikes$at, yend = height(0.6 * parts$top),
      colour = signal_colour, width = 2.5),
    layer("text", x = spikes$at, y = height(0.6 * parts$top), label = percent(spikes$share), hjust = beside,
      vjust = -0.3, colour = signal_text_colour)
  )
}

marker_parts <- function(fit, reference, marker, limits, values) {
  at <- seq(limits[[1L]], limits[[2L]], length.out = 300L)
  density <- numeric(length(at))
  for (j in which(reference$weights > 1e-6)) {
    density <- density + reference$weights[[j]] *
      stats::dnorm(at, reference$means[j, marker], sqrt(reference$covariances[marker, marker, j]))
  }
  bars <- NULL
  spikes <- spikes_of(fit, marker, limits)
  if (anyNA(values)) values <- values[!is.na(values)]
  known <- length(values)
  if (length(spikes$at)) values <- values[!values %in% spikes$at]
  if (length(values)) {
    # About 60 bars, each with as many whole numbers inside.
    width <- diff(limits) / 60
    some <- utils::head(values, 1000L)
    if (all(some == floor(some))) width <- max(1, round(width))
    left <- seq(floor(limits[[1L]] / width) * width - width / 2, limits[[2L]], by = width)
    bin <- bin_of(values, left[[1L]] + c(0, width * length(left)), length(left))
    bars <- list(left = pmax(left, limits[[1L]]), right = pmin(left + width, limits[[2L]]),
      height = tabulate(bin, length(left)) / known / width)
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

component_key <- function(reference, colouring) {
  coloured <- colouring$coloured
  others <- 1 - sum(reference$weights[coloured])
  more <- length(reference$weights) > length(coloured) && others >= 5e-4
  text <- c(paste0(coloured, " (", percent(reference$weights[coloured]), ")", recycle0 = TRUE),
    if (more) paste0("others (", percent(others), ")"))
  list(text = text, colours = colouring$colours[seq_along(text)], title =
    sprintf("Component (weight); ellipses hold %g%%; regions 50, 80, 95, 99%%", 100 * ellipse_mass))
}
