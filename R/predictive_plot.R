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
  paths <- check_count(paths, "paths")
  if (!is.numeric(probs) || length(probs) != 2L || anyNA(probs) || any(probs < 0 | probs > 1)) {
    stop_input("probs", "must be two probabilities, not ", show_value(probs))
  }
  probs <- sort(probs)
  kind <- if (type == "model") x$model$kind else type
  if (type == "trajectories") {
    if (is.null(x$trajectories)) {
      stop_input("type", "is \"trajectories\", and none were kept: ask predictive_resample() for them")
    }
    plot_trajectories(x, paths, main)
    return(invisible(x))
  }
  numeric_points <- function(count) {
    is.data.frame(x$points) && ncol(x$points) == count && all(vapply(x$points, is.numeric, NA))
  }
  if (kind == "normal_mean" && !is.function(x$functional)) {
    plot_normal_mean(x, paths, main)
  } else if (kind == "copula_density" && NCOL(x$points) == 1L && length(x$points) > 1L) {
    plot_density(x, probs, main)
  } else if (kind == "copula_regression" && numeric_points(1L) && length(x$response_at) > 1L) {
    plot_curve(x, probs, main)
  } else if (kind == "copula_classification" && numeric_points(1L)) {
    plot_probability(x, probs, main)
  } else if (kind == "copula_classification" && numeric_points(2L)) {
    plot_boundary(x, paths, main)
  } else {
    plot_histograms(x, main)
  }
  invisible(x)
}

shade <- function(colour, alpha) grDevices::adjustcolor(colour, alpha)

plot_normal_mean <- function(fit, paths, main) {
  final <- fit$state$mean
  limits <- range(final, fit$trajectories)
  if (limits[[1L]] == limits[[2L]]) {
    limits <- limits + c(-1, 1)
  }
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
  bars <- graphics::hist(final, breaks = 40, plot = FALSE)
  grid <- seq(limits[[1L]], limits[[2L]], length.out = 200L)
  exact <- exact_density(fit, grid)
  top <- max(bars$density, exact)
  last <- length(bars$breaks)
  if (sideways) {
    graphics::plot(NULL, xlim = c(0, top), ylim = limits, xlab = "density", ylab = "")
    graphics::rect(0, bars$breaks[-last], bars$density, bars$breaks[-1L], col = "grey80", border = "white")
    graphics::lines(exact, grid, lty = 2, lwd = 1.5)
  } else {
    graphics::plot(NULL, ylim = c(0, top), xlim = limits, ylab = "density", xlab = "mean", main = main)
    graphics::rect(bars$breaks[-last], 0, bars$breaks[-1L], bars$density, col = "grey80", border = "white")
    graphics::lines(grid, exact, lty = 2, lwd = 1.5)
  }
}

plot_trajectories <- function(fit, paths, main) {
  if (fit$model$kind == "normal_mean") {
    return(plot_normal_mean(fit, paths, main))
  }
  names <- utils::head(colnames(fit$draws), 9L)
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
  graphics::par(mfrow = c(ceiling(count / columns), columns), mar = c(4, 4, 2, 1), las = 1)
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

draw_band <- function(x, band) {
  graphics::polygon(c(x, rev(x)), c(band[1L, ], rev(band[2L, ])), col = shade("steelblue", 0.3), border = NA)
}

plot_density <- function(fit, probs, main) {
  order <- order(fit$points)
  x <- fit$points[order]
  band <- pointwise(fit$density[, order, drop = FALSE], probs)
  graphics::plot(NULL,
    xlim = range(x), ylim = c(0, max(band, fit$density0)), xlab = "", ylab = "density", main = main, las = 1
  )
  draw_band(x, band)
  graphics::lines(x, fit$density0[order], lwd = 2)
  graphics::rug(fit$data$y * fit$standard$scale + fit$standard$center)
}

plot_curve <- function(fit, probs, main) {
  order <- order(fit$points[[1L]])
  x <- fit$points[[1L]][order]
  band <- pointwise(regression_quantities(fit, "mean")[, order, drop = FALSE], probs)
  data_x <- fit$data$x[, 1L] * fit$standard_x$scale + fit$standard_x$center
  data_y <- fit$data$y[, 1L] * fit$standard$scale + fit$standard$center
  graphics::plot(data_x, data_y,
    xlab = names(fit$points), ylab = deparse1(fit$model$formula[[2L]]), main = main, las = 1,
    pch = 16, cex = 0.6, col = "grey50", xlim = range(data_x, x), ylim = range(data_y, band)
  )
  draw_band(x, band)
  graphics::lines(x, fit$mean0[order], lwd = 2)
}

plot_probability <- function(fit, probs, main) {
  order <- order(fit$points[[1L]])
  x <- fit$points[[1L]][order]
  graphics::plot(NULL, xlim = range(x), ylim = c(0, 1), xlab = names(fit$points), main = main, las = 1,
    ylab = sprintf("probability of %s", fit$classes[[2L]]))
  draw_band(x, pointwise(fit$probability[, order, drop = FALSE], probs))
  graphics::lines(x, fit$probability0[order], lwd = 2)
  graphics::rug(fit$data$x[fit$data$y > 0.5, 1L] * fit$standard_x$scale + fit$standard_x$center, side = 3L)
  graphics::rug(fit$data$x[fit$data$y < 0.5, 1L] * fit$standard_x$scale + fit$standard_x$center, side = 1L)
}

# Points on a rectangular grid are drawn as an image with contours, scattered points as coloured points.
plot_boundary <- function(fit, paths, main) {
  x <- sort(unique(fit$points[[1L]]))
  y <- sort(unique(fit$points[[2L]]))
  colours <- grDevices::hcl.colors(20L, "Blue-Red 2")
  data <- sweep(sweep(fit$data$x, 2L, fit$standard_x$scale, "*"), 2L, fit$standard_x$center, "+")
  if (length(x) > 1L && length(y) > 1L && nrow(fit$points) == length(x) * length(y)) {
    cell <- cbind(match(fit$points[[1L]], x), match(fit$points[[2L]], y))
    surface <- function(value) {
      z <- matrix(NA_real_, length(x), length(y))
      z[cell] <- value
      z
    }
    graphics::image(x, y, surface(fit$probability0),
      zlim = c(0, 1), col = shade(colours, 0.6), xlab = names(fit$points)[[1L]], ylab = names(fit$points)[[2L]],
      main = main, las = 1
    )
    for (r in seq_len(min(paths, fit$count))) {
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
      breaks = 40, freq = FALSE, col = "grey80", border = "white", xlab = colnames(fit$draws)[[j]],
      main = if (j == 1L) main
    )
  }
}
