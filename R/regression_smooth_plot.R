# Pictures of the smooths of a regression.

# The smooths, less their means over the observations, with intervals of 50% and 90%.
smooth_picture <- function(fit, parameters, main) {
  smooths <- fit$design$smooths
  if (length(smooths) == 0L) stop_input("type", "is \"smooths\", but the formula of the fit has none")
  labels <- vapply(smooths, `[[`, "", "label")
  grids <- lapply(smooths, smooth_grids, frame = fit$frame)
  drawn <- lengths(grids) > 0L
  shown <- match(chosen_parameters(parameters, labels, labels[drawn]), labels)
  if (length(shown) == 0L || !all(drawn[shown])) {
    stop_input(if (length(shown)) "parameters" else "type", "has a smooth of several variables, which predict() shows")
  }
  draws <- coefficient_draws(fit)
  p <- ncol(fit$design$x)
  classes <- predictor_classes(fit$response)[-1L]
  classes <- if (is.null(classes)) "" else paste0(classes, ": ")
  panels <- list()
  for (i in shown) {
    for (k in seq_along(classes)) {
      of_smooth <- draws[, (k - 1L) * p + smooths[[i]]$columns, drop = FALSE]
      panels <- c(panels, lapply(grids[[i]], function(grid) {
        values <- if (!has_level_columns(smooths[[i]])) tcrossprod(of_smooth, smooth_columns(smooths[[i]], grid$data))
        else of_smooth[, lattice_levels(smooths[[i]], grid$data), drop = FALSE]
        smooth_panel(grid, values, paste0(classes[[k]], labels[[i]], grid$title))
      }))
    }
  }
  picture(panels, main, NULL, "effect on the linear predictor, 50% and 90% intervals")
}

smooth_panel <- function(grid, values, title) {
  bounds <- apply(values, 2L, stats::quantile, c(0.05, 0.25, 0.75, 0.95), names = FALSE)
  mean <- colMeans(values)
  colour <- chain_colours[[1L]]
  x <- grid$x
  if (is.character(x)) {
    at <- seq_along(x)
    bar <- function(low, high, width) {
      layer("segments", x = at, y = bounds[low, ], xend = at, yend = bounds[high, ], colour = colour, width = width)
    }
    layers <- list(bar(1L, 4L, 1), bar(2L, 3L, 3), layer("points", x = at, y = mean, fill = "white", colour = colour))
    axis <- list(at = at, labels = short_names(x, 8L))
    return(panel(c(0.4, length(x) + 0.6), around(bounds), layers, x = axis, title = title))
  }
  ribbon <- function(low, high, strength) {
    layer("ribbon", x = x, ymin = bounds[low, ], ymax = bounds[high, ], fill = shade(colour, strength))
  }
  layers <- list(ribbon(1L, 4L, 0.25), ribbon(2L, 3L, 0.4),
    layer("lines", x = x, y = mean, colour = colour, width = 1.4), layer("rug", x = grid$rug))
  panel(around(x, 0.01), around(bounds), layers, title = title)
}

# For each panel of a smooth of one variable: `data`, values `x` (numbers or names), and a `title`.
smooth_grids <- function(smooth, frame) {
  data <- smooth_data(smooth, frame)
  lattice <- smooth$lattice
  if (!is.null(lattice)) {
    return(lapply(unique(lattice$at$unit), function(unit) {
      own <- lattice$at[lattice$at$unit == unit, c("place", if (lattice$has_unit) "unit"), drop = FALSE]
      list(data = stats::setNames(own, smooth$texts), x = own$place, rug = own$place,
        title = if (lattice$has_unit) paste(":", unit) else "")
    }))
  }
  if (length(smooth$spec$term) > 1L) return(list())
  values <- data[[1L]]
  ends <- if (!is.factor(values)) range(values)
  x <- if (is.null(ends)) factor(levels(values), levels(values)) else seq(ends[[1L]], ends[[2L]], length.out = 101L)
  grid <- stats::setNames(data.frame(x), smooth$spec$term)
  if (smooth$spec$by != "NA") {
    by <- data[[smooth$spec$by]]
    level <- smooth$spec$by.level
    grid[[smooth$spec$by]] <- if (is.factor(by)) factor(level, levels(by), ordered = is.ordered(by)) else 1
    if (is.factor(by)) values <- values[as.character(by) == level]
  }
  list(list(data = grid, x = if (is.factor(x)) levels(x) else x, title = "", rug = unique(values)))
}
