# Pictures of martingale posteriors.

#' Plot a martingale posterior
#'
#' By default the model decides what is drawn: a normal mean's distribution, with the exact posterior dashed, and its
#' paths; a density with a band; a curve of means, or of probabilities of the second class, for each covariate, the
#' others at their medians or most frequent levels; otherwise histograms of the quantities.
#'
#' @param x a fit from [predictive_resample()].
#' @param type `"model"` as above; `"draws"` for histograms; `"trajectories"` for kept paths. At most nine are drawn.
#' @param level the probability of the bands, pointwise.
#' @param paths the largest number of paths or contours to draw.
#' @param main title.
#' @param ... must be empty.
#' @return `x`, invisibly.
#' @examples
#' fit <- predictive_resample(rnorm(10, 2), normal_mean(), horizon = 500, draws = 200, seed = 1,
#'   threads = 2)
#' plot(fit)
#' @export
plot.martingale_posterior <- function(x, type = c("model", "draws", "trajectories"), level = 0.9, paths = 200,
                                      main = NULL, ...) {
  check_method(x, "x", ...)
  picture <- resample_picture(x, type, level, paths, main)
  # Panels go into a layout of the user, one after the other.
  if (prod(graphics::par("mfrow")) == 1L) paint_picture(picture) else {
    for (one in picture$panels) {
      title <- if (length(picture$panels) == 1L) picture$main
      paint_picture(picture(list(one), title, picture$xlab, picture$ylab, caption = picture$caption, plain = TRUE))
    }
  }
  invisible(x)
}

#' @method autoplot martingale_posterior
#' @exportS3Method ggplot2::autoplot martingale_posterior
autoplot.martingale_posterior <- function(object, type = c("model", "draws", "trajectories"), level = 0.9,
                                          paths = 200, main = NULL, ...) {
  check_method(object, "object", ...)
  gg_draw(resample_picture(object, type, level, paths, main))
}

resample_picture <- function(x, type, level, paths, main) {
  check_title(main)
  type <- check_choice(type, "type", c("model", "draws", "trajectories"))
  paths <- check_count(paths, "paths")
  level <- check_number(level, "level", min = 0, max = 1, open = FALSE)
  if (type == "trajectories" && is.null(x$trajectories)) {
    stop_input("type", "is \"trajectories\", and none were kept: ask predictive_resample() for them")
  }
  if (type == "trajectories" && length(dim(x$trajectories)) == 3L) {
    names <- utils::head(colnames(x$draws), 9L)
    return(picture(lapply(seq_along(names), function(j) {
      path_panel(x, matrix(x$trajectories[, , j], nrow(x$trajectories)), paths, names[[j]])
    }), main, "observations drawn"))
  }
  own <- record(x)$picture
  found <- if (type != "draws" && !is.null(own)) own(x, level, paths, main, type)
  if (is.null(found)) histogram_picture(x, main) else found
}

path_panel <- function(fit, values, paths, title, ylim = around(values)) {
  shown <- seq_len(min(paths, nrow(values)))
  values <- values[shown, , drop = FALSE]
  panel(around(fit$times), ylim, list(
    layer("lines", x = rep(fit$times, each = length(shown)), y = as.vector(values), group = rep(shown, ncol(values)),
      colour = shade("black", max(0.05, min(1, 12 / length(shown)))))
  ), title = title)
}

normal_mean_picture <- function(fit, level, paths, main, type) {
  if (type == "model" && is.function(fit$functional)) return(NULL)
  final <- fit$state$mean
  ends <- around(c(final, fit$trajectories))
  bars <- graphics::hist(final, breaks = 40, plot = FALSE)
  at <- seq(ends[[1L]], ends[[2L]], length.out = 200L)
  start <- fit$start
  exact <- if (is.null(start$scale)) stats::dnorm(at, start$mean, start$sd / sqrt(start$weight)) else {
    spread <- sqrt(start$scale / start$shape / start$weight)
    stats::dt((at - start$mean) / spread, 2 * start$shape) / spread
  }
  heights <- c(0, 1.04 * max(bars$density, exact))
  layers <- c(histogram_layers(bars), list(layer("lines", x = at, y = exact, dash = 2, width = 1.5)))
  caption <- "Dashed: the exact posterior"
  if (is.null(fit$trajectories)) {
    return(picture(list(panel(ends, heights, layers)), main, "mean", "density", caption = caption))
  }
  turn <- c(x = "y", y = "x", xmin = "ymin", xmax = "ymax", ymin = "xmin", ymax = "xmax")
  layers <- lapply(layers, function(layer) {
    turned <- names(layer$data) %in% names(turn)
    names(layer$data)[turned] <- turn[names(layer$data)[turned]]
    layer
  })
  picture(list(path_panel(fit, fit$trajectories, paths, "mean, by observations drawn", ends),
    panel(heights, ends, layers, title = "density")), main, NULL, "mean", columns = 2L, caption = caption)
}

histogram_layers <- function(bars) {
  last <- length(bars$breaks)
  list(layer("rects", xmin = bars$breaks[-last], xmax = bars$breaks[-1L], ymin = 0, ymax = bars$density,
    fill = histogram_colour, colour = "white"))
}

pointwise <- function(draws, level) {
  apply(draws, 2L, stats::quantile, probs = interval_ends(level), names = FALSE)
}

band_layers <- function(x, line, lower, upper) {
  list(layer("ribbon", x = x, ymin = lower, ymax = upper, fill = shade(bar_colour, 0.3)),
    layer("lines", x = x, y = line, width = 2))
}
bar_layers <- function(x, middle, lower, upper) {
  list(layer("segments", x = x, y = lower, xend = x, yend = upper, colour = bar_colour, width = 3),
    layer("points", x = x, y = middle, fill = "white"))
}

# A line with a band of `draws`, and the data as points or as rugs at the `bottom` and the `top`. `ylim`: of the band.
band_picture <- function(main, x, draws, level, line, xlab, ylab, ylim, points = NULL, bottom = NULL, top = NULL,
                         caption = NULL) {
  order <- order(x)
  band <- pointwise(draws[, order, drop = FALSE], level)
  picture(list(panel(around(c(points$x, x)), ylim(band), c(
    list(layer("points", x = points$x, y = points$y, pch = 16, size = 0.6, colour = "grey50")),
    band_layers(x[order], line[order], band[1L, ], band[2L, ]),
    list(layer("rug", x = bottom), layer("rug", x = top, side = 3L))
  ))), main, xlab, ylab, caption = caption, plain = TRUE)
}

density_picture <- function(fit, level, paths, main, type) {
  if (length(fit$points) < 2L) return(NULL)
  atoms <- predicted_atoms(fit)
  caption <- if (!is.null(atoms)) {
    paste(sprintf("P(%s) = %s", format(atoms$value, trim = TRUE), figure(drop(atoms$weight))), collapse = ", ")
  }
  band_picture(main, fit$points, fit$density, level, fit$density0, "value", "density",
    function(band) c(0, 1.04 * max(band, fit$density0)), caption = caption, bottom = own_units(fit))
}

numeric_covariates <- function(fit) if (all(vapply(fit$points, is.numeric, NA))) ncol(fit$points) else 0L

regression_picture <- function(fit, level, paths, main, type) {
  response <- deparse1(fit$model$formula[[2L]])
  if (numeric_covariates(fit) != 1L || length(fit$response_at) < 2L) return(effects_picture(fit, level, main, response))
  whole <- without_mean(fit)
  data <- list(x = in_units(fit$data$x, fit$standard_x)[, 1L], y = drop(in_units(whole$data$y, whole$standard)))
  band_picture(main, fit$points[[1L]], regression_quantities(fit, list(new_functional("mean"))), level, fit$mean0,
    names(fit$points), response, function(band) around(c(data$y, band)), data)
}

classes_picture <- function(fit, level, paths, main, type) {
  label <- sprintf("probability of %s", fit$classes[[2L]])
  count <- numeric_covariates(fit)
  if (count == 2L) return(boundary_picture(fit, paths, main))
  if (count != 1L) return(effects_picture(fit, level, main, label, c(-0.04, 1.04)))
  x <- in_units(fit$data$x, fit$standard_x)[, 1L]
  band_picture(main, fit$points[[1L]], fit$probability, level, fit$probability0, names(fit$points), label,
    function(band) c(-0.04, 1.04), bottom = x[fit$data$y < 0.5], top = x[fit$data$y > 0.5])
}

effects_picture <- function(fit, level, main, response, ylim = NULL) {
  if (length(fit$points) < 2L) return(NULL)
  shown <- utils::head(names(fit$points), 9L)
  usual <- fit$points[1L, , drop = FALSE]
  usual[] <- lapply(fit$points, function(column) {
    if (is.numeric(column)) stats::median(column) else {
      column[[match(names(which.max(table(as.character(column)))), as.character(column))]]
    }
  })
  values <- lapply(fit$points[shown], function(column) {
    if (is.numeric(column)) unique(seq(min(column), max(column), length.out = 15L)) else {
      column[!duplicated(as.character(column))]
    }
  })
  rows <- rep(seq_along(shown), lengths(values))
  new <- usual[rep(1L, length(rows)), , drop = FALSE]
  for (j in seq_along(shown)) new[rows == j, shown[[j]]] <- values[[j]]
  found <- stats::predict(fit, new, level = level, backend = fit$backend, threads = fit$threads)
  if (is.null(ylim)) ylim <- around(as.matrix(found))
  panels <- lapply(seq_along(shown), function(j) {
    at <- values[[j]]
    mean <- found[rows == j, ]
    if (is.numeric(at)) {
      return(panel(around(at), ylim, band_layers(at, mean$estimate, mean$lower, mean$upper), title = shown[[j]]))
    }
    place <- seq_along(at)
    panel(c(0.5, length(at) + 0.5), ylim, bar_layers(place, mean$estimate, mean$lower, mean$upper),
      x = list(at = place, labels = as.character(at)), title = shown[[j]])
  })
  picture(panels, main, NULL, response, caption = "Other covariates at their medians or most frequent levels")
}

boundary_picture <- function(fit, paths, main) {
  x <- sort(unique(fit$points[[1L]]))
  y <- sort(unique(fit$points[[2L]]))
  cell <- cbind(match(fit$points[[1L]], x), match(fit$points[[2L]], y))
  data <- in_units(fit$data$x, fit$standard_x)
  second <- fit$data$y > 0.5
  colours <- shade(diverging_colours(20L), 0.6)
  colour <- colours[pmin(20L, 1L + floor(20 * fit$probability0))]
  contours <- function(value, ...) {
    z <- matrix(NA_real_, length(x), length(y))
    z[cell] <- value
    lapply(grDevices::contourLines(x, y, z, levels = 0.5), function(line) layer("lines", x = line$x, y = line$y, ...))
  }
  points <- if (length(x) > 1L && length(y) > 1L && nrow(fit$points) == length(x) * length(y)) {
    between <- function(at) c(1.5 * at[[1L]] - at[[2L]] / 2, (at[-1L] + at[-length(at)]) / 2,
      1.5 * at[[length(at)]] - at[[length(at) - 1L]] / 2)
    bounds <- list(between(x), between(y))
    drawn <- lapply(seq_len(min(paths, fit$count)), function(r) {
      contours(fit$probability[r, ], colour = shade("black", 0.1))
    })
    c(list(layer("rects", xmin = bounds[[1L]][cell[, 1L]], xmax = bounds[[1L]][cell[, 1L] + 1L],
      ymin = bounds[[2L]][cell[, 2L]], ymax = bounds[[2L]][cell[, 2L] + 1L], fill = colour)),
    unlist(drawn, recursive = FALSE), contours(fit$probability0, width = 2))
  } else {
    bounds <- fit$points
    list(layer("points", x = fit$points[[1L]], y = fit$points[[2L]], pch = 15, size = 1.3, colour = colour))
  }
  key <- c(0.05, 0.5, 0.95)
  picture(list(panel(around(c(bounds[[1L]], data[, 1L])), around(c(bounds[[2L]], data[, 2L])), c(points, list(
    layer("points", x = data[!second, 1L], y = data[!second, 2L], pch = 1, size = 0.8),
    layer("points", x = data[second, 1L], y = data[second, 2L], pch = 17, size = 0.8)
  )))), main, names(fit$points)[[1L]], names(fit$points)[[2L]],
  caption = sprintf("Circles: %s, triangles: %s", fit$classes[[1L]], fit$classes[[2L]]),
  key = list(title = sprintf("Probability of %s", fit$classes[[2L]]), text = paste0(100 * key, "%"),
    colours = colours[ceiling(20 * key)]), plain = TRUE)
}

histogram_picture <- function(fit, main) {
  panels <- lapply(seq_len(min(9L, ncol(fit$draws))), function(j) {
    bars <- graphics::hist(fit$draws[is.finite(fit$draws[, j]), j], breaks = 40, plot = FALSE)
    panel(around(bars$breaks), c(0, 1.04 * max(bars$density)), histogram_layers(bars), title = colnames(fit$draws)[[j]])
  })
  picture(panels, main, NULL, "density")
}
