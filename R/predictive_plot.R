# Pictures of martingale posteriors.

#' Plot a martingale posterior
#'
#' By default the model decides what is drawn:
#' \itemize{
#'   \item A normal mean: the distribution of the mean, with the exact posterior dashed. If the paths of the mean were
#'     kept, they are drawn beside it.
#'   \item A density: the estimate with a band.
#'   \item A regression with one numeric covariate: the curve of means with a band, and the data.
#'   \item A classification with one numeric covariate: the probability of the second class with a band, and the data.
#'   \item A classification with two numeric covariates: the probability of the second class, the contour at one half
#'     of each resample, and the data.
#'   \item Everything else: histograms of the quantities.
#' }
#'
#' @param x a fit from [predictive_resample()].
#' @param type `"model"` for the picture above; `"draws"` for histograms; `"trajectories"` for the paths of the
#'   quantities of a copula model or of a normal mean, if they were kept. At most nine quantities are drawn.
#' @param probs ends of the bands, pointwise.
#' @param paths the largest number of paths or contours to draw.
#' @param main title.
#' @param ... must be empty.
#' @return `x`, invisibly.
#' @examples
#' fit <- predictive_resample(rnorm(10, 2), normal_mean(),
#'   horizon = 500, draws = 200, trajectories = 100, seed = 1, threads = 2
#' )
#' plot(fit)
#' @export
plot.martingale_posterior <- function(x, type = c("model", "draws", "trajectories"), probs = c(0.05, 0.95),
                                      paths = 200, main = NULL, ...) {
  check_dots_empty(...)
  check_title(main)
  check_parts(x, "x")
  type <- check_choice(type, "type", c("model", "draws", "trajectories"))
  picture <- resample_picture(x, type, probs, paths)
  switch(picture$kind,
    normal_mean = plot_normal_mean(x, picture, main),
    trajectories = plot_trajectories(x, picture, main),
    band = plot_band(picture, main),
    boundary = plot_boundary(x, picture, main),
    draws = plot_histograms(x, main)
  )
  invisible(x)
}

# What a picture shows. Its `kind` is how it is drawn; see plot().
resample_picture <- function(x, type, probs, paths) {
  paths <- check_count(paths, "paths")
  if (!is.numeric(probs) || length(probs) != 2L || anyNA(probs) || any(probs < 0 | probs > 1)) {
    stop_input("probs", "must be two probabilities, not ", show_value(probs))
  }
  probs <- sort(probs)
  model <- x$model$kind
  if (type == "trajectories" && is.null(x$trajectories)) {
    stop_input("type", "is \"trajectories\", and none were kept: ask predictive_resample() for them")
  }
  numeric_points <- function(count) {
    is.data.frame(x$points) && ncol(x$points) == count && all(vapply(x$points, is.numeric, NA))
  }
  if (model == "normal_mean" && (type == "trajectories" || type == "model" && !is.function(x$functional))) {
    return(c(list(kind = "normal_mean", paths = paths), normal_mean_parts(x)))
  }
  if (type == "trajectories") {
    return(list(kind = "trajectories", paths = paths, names = utils::head(colnames(x$draws), 9L)))
  }
  if (type == "draws") {
    return(list(kind = "draws"))
  }
  if (model == "copula_density" && NCOL(x$points) == 1L && length(x$points) > 1L) {
    density_parts(x, probs)
  } else if (model == "copula_regression" && numeric_points(1L) && length(x$response_at) > 1L) {
    curve_parts(x, probs)
  } else if (model == "copula_classification" && numeric_points(1L)) {
    probability_parts(x, probs)
  } else if (model == "copula_classification" && numeric_points(2L)) {
    boundary_parts(x, paths)
  } else {
    list(kind = "draws")
  }
}

shade <- function(colour, alpha) grDevices::adjustcolor(colour, alpha)

# The bars of the means, the exact density on a grid, and the limits of the axes.
normal_mean_parts <- function(fit) {
  final <- fit$state$mean
  limits <- range(final, fit$trajectories)
  if (limits[[1L]] == limits[[2L]]) {
    limits <- limits + c(-1, 1)
  }
  bars <- graphics::hist(final, breaks = 40, plot = FALSE)
  grid <- seq(limits[[1L]], limits[[2L]], length.out = 200L)
  exact <- exact_density(fit, grid)
  list(limits = limits, bars = bars, grid = grid, exact = exact, top = max(bars$density, exact))
}

plot_normal_mean <- function(fit, picture, main) {
  limits <- picture$limits
  bars <- picture$bars
  grid <- picture$grid
  exact <- picture$exact
  top <- picture$top
  paths <- picture$paths
  old <- graphics::par(mar = c(4, 4, if (is.null(main)) 1 else 2.5, 0.8), las = 1, mgp = c(2.5, 0.6, 0), tcl = -0.25)
  on.exit(graphics::par(old))
  sideways <- !is.null(fit$trajectories)
  if (sideways) {
    graphics::layout(matrix(1:2, 1L), widths = c(2, 1))
    on.exit(graphics::layout(1), add = TRUE)
    shown <- seq_len(min(paths, nrow(fit$trajectories)))
    graphics::matplot(fit$times, t(fit$trajectories[shown, , drop = FALSE]),
      type = "l", lty = 1, ylim = limits, col = shade("black", max(0.03, min(1, 10 / length(shown)))),
      xlab = "observations drawn", ylab = "mean", main = main
    )
  }
  last <- length(bars$breaks)
  if (sideways) {
    graphics::plot(NULL, xlim = c(0, top), ylim = limits, xlab = "density", ylab = "")
    graphics::rect(0, bars$breaks[-last], bars$density, bars$breaks[-1L], col = histogram_colour, border = "white")
    graphics::lines(exact, grid, lty = 2, lwd = 1.5)
  } else {
    graphics::plot(NULL, ylim = c(0, top), xlim = limits, ylab = "density", xlab = "mean", main = main)
    graphics::rect(bars$breaks[-last], 0, bars$breaks[-1L], bars$density, col = histogram_colour, border = "white")
    graphics::lines(grid, exact, lty = 2, lwd = 1.5)
  }
}

plot_trajectories <- function(fit, picture, main) {
  names <- picture$names
  paths <- picture$paths
  old <- panels(length(names))
  on.exit(graphics::par(old))
  shown <- seq_len(min(paths, nrow(fit$trajectories)))
  for (j in seq_along(names)) {
    graphics::matplot(fit$times, t(matrix(fit$trajectories[shown, , j], length(shown))), type = "l", lty = 1,
      col = shade("black", max(0.03, min(1, 10 / length(shown)))), xlab = "observations drawn", ylab = names[[j]],
      main = if (j == 1L) main)
  }
}

panels <- function(count) {
  columns <- ceiling(sqrt(count))
  graphics::par(mfrow = c(ceiling(count / columns), columns), mar = c(4, 4.6, 2, 1), las = 1,
    mgp = c(2.8, 0.6, 0), tcl = -0.3)
}

# The density of the ordinary posterior of a normal mean.
exact_density <- function(fit, at) {
  start <- fit$start
  if (is.null(start$scale)) {
    return(stats::dnorm(at, start$mean, start$sd / sqrt(start$weight)))
  }
  spread <- sqrt(start$scale / start$shape / start$weight)
  stats::dt((at - start$mean) / spread, 2 * start$shape) / spread
}

pointwise <- function(draws, probs) {
  apply(draws, 2L, stats::quantile, probs = probs, names = FALSE)
}

# A line with a band, and the data as points or as rugs at the `bottom` and the `top`.
density_parts <- function(fit, probs) {
  order <- order(fit$points)
  band <- pointwise(fit$density[, order, drop = FALSE], probs)
  list(
    kind = "band", x = fit$points[order], band = band, line = fit$density0[order], xlab = "value", ylab = "density",
    xlim = range(fit$points), ylim = c(0, max(band, fit$density0)),
    bottom = as.vector(fit$data$y) * fit$standard$scale + fit$standard$center
  )
}

curve_parts <- function(fit, probs) {
  order <- order(fit$points[[1L]])
  x <- fit$points[[1L]][order]
  band <- pointwise(regression_quantities(fit, "mean")[, order, drop = FALSE], probs)
  data_x <- fit$data$x[, 1L] * fit$standard_x$scale + fit$standard_x$center
  data_y <- fit$data$y[, 1L] * fit$standard$scale + fit$standard$center
  list(
    kind = "band", x = x, band = band, line = fit$mean0[order], xlab = names(fit$points),
    ylab = deparse1(fit$model$formula[[2L]]), points = list(x = data_x, y = data_y), xlim = range(data_x, x),
    ylim = range(data_y, band)
  )
}

probability_parts <- function(fit, probs) {
  order <- order(fit$points[[1L]])
  data_x <- fit$data$x[, 1L] * fit$standard_x$scale + fit$standard_x$center
  list(
    kind = "band", x = fit$points[[1L]][order], band = pointwise(fit$probability[, order, drop = FALSE], probs),
    line = fit$probability0[order], xlab = names(fit$points), ylab = sprintf("probability of %s", fit$classes[[2L]]),
    xlim = range(fit$points[[1L]]), ylim = c(0, 1), bottom = data_x[fit$data$y < 0.5], top = data_x[fit$data$y > 0.5]
  )
}

plot_band <- function(picture, main) {
  graphics::plot(NULL, xlim = picture$xlim, ylim = picture$ylim, xlab = picture$xlab, ylab = picture$ylab, main = main,
    las = 1)
  if (!is.null(picture$points)) {
    graphics::points(picture$points$x, picture$points$y, pch = 16, cex = 0.6, col = "grey50")
  }
  graphics::polygon(c(picture$x, rev(picture$x)), c(picture$band[1L, ], rev(picture$band[2L, ])),
    col = shade(bar_colour, 0.3), border = NA)
  graphics::lines(picture$x, picture$line, lwd = 2)
  if (length(picture$bottom)) graphics::rug(picture$bottom, side = 1L)
  if (length(picture$top)) graphics::rug(picture$top, side = 3L)
}

# The data and whether the points form a rectangular grid with the sides `x` and `y`; `cell`: the place of each point.
boundary_parts <- function(fit, paths) {
  x <- sort(unique(fit$points[[1L]]))
  y <- sort(unique(fit$points[[2L]]))
  list(
    kind = "boundary", x = x, y = y, paths = min(paths, fit$count),
    grid = length(x) > 1L && length(y) > 1L && nrow(fit$points) == length(x) * length(y),
    cell = cbind(match(fit$points[[1L]], x), match(fit$points[[2L]], y)),
    data = sweep(sweep(fit$data$x, 2L, fit$standard_x$scale, "*"), 2L, fit$standard_x$center, "+")
  )
}

# Points on a rectangular grid are drawn as an image with contours, scattered points as coloured points.
plot_boundary <- function(fit, picture, main) {
  x <- picture$x
  y <- picture$y
  colours <- diverging_colours(20L)
  data <- picture$data
  if (picture$grid) {
    cell <- picture$cell
    surface <- function(value) {
      z <- matrix(NA_real_, length(x), length(y))
      z[cell] <- value
      z
    }
    graphics::image(x, y, surface(fit$probability0),
      zlim = c(0, 1), col = shade(colours, 0.6), xlab = names(fit$points)[[1L]], ylab = names(fit$points)[[2L]],
      main = main, las = 1
    )
    for (r in seq_len(picture$paths)) {
      graphics::contour(x, y, surface(fit$probability[r, ]),
        levels = 0.5, add = TRUE, drawlabels = FALSE, col = shade("black", 0.08)
      )
    }
    graphics::contour(x, y, surface(fit$probability0), levels = 0.5, add = TRUE, drawlabels = FALSE, lwd = 2)
  } else {
    graphics::plot(fit$points[[1L]], fit$points[[2L]],
      pch = 15, xlab = names(fit$points)[[1L]], ylab = names(fit$points)[[2L]],
      col = colours[pmin(20L, 1L + floor(20 * fit$probability0))], main = main, las = 1
    )
  }
  graphics::points(data, pch = ifelse(fit$data$y > 0.5, 17, 1), cex = 0.7)
}

plot_histograms <- function(fit, main) {
  shown <- seq_len(min(9L, ncol(fit$draws)))
  old <- panels(length(shown))
  on.exit(graphics::par(old))
  for (j in shown) {
    graphics::hist(fit$draws[, j],
      breaks = 40, freq = FALSE, col = histogram_colour, border = "white", xlab = colnames(fit$draws)[[j]],
      main = if (j == 1L) main
    )
  }
}
