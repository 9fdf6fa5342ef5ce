# autoplot() of distributions and of martingale posteriors.

#' @rdname autoplot.warpbayes
#' @method autoplot pmf
#' @exportS3Method ggplot2::autoplot pmf
autoplot.pmf <- function(object, y = NULL,
                         type = c("auto", "bars", "line", "distribution", "quantile", "lorenz", "stop_loss"),
                         log = NULL, lower.tail = TRUE, xlim = NULL, ylim = NULL, xlab = NULL, ylab = NULL,
                         main = NULL, col = chain_colours[1:2], legend = c("x", "y"), ...) {
  check_dots_empty(...)
  type <- check_choice(type, "type", c("auto", "bars", "line", "distribution", "quantile", "lorenz", "stop_loss"))
  check_pmf(object, "object")
  if (!is.null(y)) {
    check_pmf(y, "y")
  }
  picture <- pmf_picture(object, y, type, log, lower.tail, xlim, ylim, xlab, ylab, main, col, legend)
  if (picture$type == "quantile") gg_quantiles(picture) else gg_curves(picture)
}

# Numbers with all digits, as on the axes of plot().
plain_numbers <- function(values) format(values, digits = 15, scientific = FALSE, trim = TRUE)

whole_breaks <- function(ends) {
  ticks <- pretty(ends)
  whole <- ticks[ticks == floor(ticks)]
  if (length(whole) > 1L) whole else ticks
}

gg_quantiles <- function(picture) {
  line <- as.data.frame(picture$line)
  breaks <- lapply(picture$whole, function(whole) if (whole) whole_breaks else ggplot2::waiver())
  gg_picture(picture$main, picture$xlab, picture$ylab) +
    (if (length(picture$all) == 1L) {
      ggplot2::geom_path(aes_of(x = "x", y = "y"), line, colour = picture$col[[1L]])
    } else {
      list(
        ggplot2::geom_abline(slope = 1, intercept = 0, linetype = 2, colour = "#999999"),
        ggplot2::geom_point(aes_of(x = "x", y = "y"), line, colour = picture$col[[1L]], size = 0.9)
      )
    }) +
    ggplot2::scale_x_continuous(breaks = breaks[[1L]]) +
    ggplot2::scale_y_continuous(breaks = breaks[[2L]]) +
    ggplot2::coord_cartesian(xlim = picture$xlim, ylim = picture$ylim)
}

gg_curves <- function(picture) {
  curves <- picture$curves
  type <- picture$type
  is_risk <- type %in% c("lorenz", "stop_loss")
  log <- picture$log && !is_risk
  count <- length(curves)
  names <- if (count == 2L && !is.null(picture$legend)) picture$legend else as.character(seq_len(count))
  if (anyDuplicated(names)) {
    names <- as.character(seq_len(count))
  }
  widths <- vapply(curves, function(curve) if (is.null(curve$width)) NA_real_ else curve$width, 0)
  rows <- do.call(rbind, lapply(seq_len(count), function(i) {
    curve <- if (type == "line") thin_line(curves[[i]]$x, curves[[i]]$y) else curves[[i]]
    data.frame(x = curve$x, y = curve$y, which = factor(names[[i]], names))
  }))
  # A line breaks at impossible values, whose logarithm is -Inf.
  rows$y[!is.finite(rows$y)] <- NA
  height <- if (is_risk) {
    if (is.null(picture$ylim)) c(0, max(rows$y)) else picture$ylim
  } else {
    height_limits(picture$ylim, rows$y, log, type == "distribution", 0)
  }
  if (type == "bars") {
    here <- 0.8 * min(widths) / count
    rows$left <- rows$x - 0.4 * min(widths) + (as.integer(rows$which) - 1) * here
    rows$right <- rows$left + here
    rows$base <- if (log) height[[1L]] - 0.04 * diff(height) else 0
    rows <- rows[!is.na(rows$y), ]
  }
  xlim <- picture$xlim + if (type == "bars") c(-0.5, 0.5) * min(widths) else 0
  powers <- log && diff(height) >= 1
  key <- if (count == 2L && !is.null(picture$legend)) "bottom" else "none"
  colours <- stats::setNames(picture$col[seq_len(count)], names)
  gg_picture(picture$main, picture$xlab, picture$ylab) +
    (if (type == "lorenz") {
      ggplot2::geom_abline(slope = 1, intercept = 0, linetype = 2, colour = "#999999")
    }) +
    (if (type == "bars") {
      ggplot2::geom_rect(aes_of(xmin = "left", xmax = "right", ymin = "base", ymax = "y", fill = "which"), rows)
    } else {
      ggplot2::geom_path(aes_of(x = "x", y = "y", colour = "which"), rows, na.rm = TRUE)
    }) +
    ggplot2::scale_colour_manual(values = colours, name = NULL, aesthetics = c("colour", "fill")) +
    ggplot2::scale_x_continuous(breaks = if (isTRUE(picture$whole)) whole_breaks else ggplot2::waiver(),
      labels = plain_numbers) +
    (if (powers) {
      ggplot2::scale_y_continuous(breaks = whole_breaks, labels = function(at) {
        as.expression(lapply(at, function(one) if (is.na(one)) "" else bquote(10^.(plain_numbers(one)))))
      })
    } else if (log) {
      ggplot2::scale_y_continuous(breaks = function(ends) log10(positive(pretty(10^ends))),
        labels = function(at) format(10^at, trim = TRUE, digits = 3))
    }) +
    ggplot2::coord_cartesian(xlim = xlim, ylim = height) +
    ggplot2::theme(legend.position = key)
}

positive <- function(values) values[values > 0]

#' @rdname autoplot.warpbayes
#' @method autoplot martingale_posterior
#' @exportS3Method ggplot2::autoplot martingale_posterior
autoplot.martingale_posterior <- function(object, type = c("model", "draws", "trajectories"), probs = c(0.05, 0.95),
                                          paths = 200, main = NULL, ...) {
  check_dots_empty(...)
  check_title(main)
  check_parts(object, "object")
  type <- check_choice(type, "type", c("model", "draws", "trajectories"))
  picture <- resample_picture(object, type, probs, paths)
  switch(picture$kind,
    normal_mean = gg_normal_mean(object, picture, main),
    trajectories = gg_trajectories(object, picture, main),
    band = gg_band(picture, main),
    boundary = gg_boundary(object, picture, main),
    draws = gg_histograms(object, main)
  )
}

# Paths of resamples, as rows of a data frame: `values` is resamples x times.
path_rows <- function(times, values, panel = NULL) {
  rows <- data.frame(time = rep(times, each = nrow(values)), value = as.vector(values),
    path = rep(seq_len(nrow(values)), length(times)))
  if (!is.null(panel)) rows$panel <- panel
  rows
}

path_alpha <- function(count) max(0.05, min(1, 12 / count))

gg_normal_mean <- function(fit, picture, main) {
  bars <- picture$bars
  last <- length(bars$breaks)
  boxes <- data.frame(low = bars$breaks[-last], high = bars$breaks[-1L], density = bars$density)
  exact <- data.frame(mean = picture$grid, density = picture$exact)
  if (is.null(fit$trajectories)) {
    return(gg_picture(main, "mean", "density") +
      ggplot2::geom_rect(aes_of(xmin = "low", xmax = "high", ymax = "density"), boxes, ymin = 0,
        fill = histogram_colour, colour = "white", linewidth = 0.2) +
      ggplot2::geom_line(aes_of(x = "mean", y = "density"), exact, linetype = 2) +
      ggplot2::labs(caption = "Dashed: the exact posterior"))
  }
  panels <- c("observations drawn", "density")
  boxes$panel <- exact$panel <- factor(panels[[2L]], panels)
  shown <- seq_len(min(picture$paths, nrow(fit$trajectories)))
  rows <- path_rows(fit$times, fit$trajectories[shown, , drop = FALSE], factor(panels[[1L]], panels))
  gg_picture(main, NULL, "mean") +
    ggplot2::geom_line(aes_of(x = "time", y = "value", group = "path"), rows, alpha = path_alpha(length(shown))) +
    ggplot2::geom_rect(aes_of(ymin = "low", ymax = "high", xmax = "density"), boxes, xmin = 0,
      fill = histogram_colour, colour = "white", linewidth = 0.2) +
    ggplot2::geom_path(aes_of(x = "density", y = "mean"), exact, linetype = 2) +
    ggplot2::facet_grid(~panel, scales = "free_x", switch = "x") +
    ggplot2::labs(caption = "Dashed: the exact posterior") +
    ggplot2::theme(strip.placement = "outside", strip.text = ggplot2::element_text(face = "plain", hjust = 0.5))
}

gg_trajectories <- function(fit, picture, main) {
  shown <- seq_len(min(picture$paths, nrow(fit$trajectories)))
  rows <- do.call(rbind, lapply(seq_along(picture$names), function(j) {
    path_rows(fit$times, matrix(fit$trajectories[shown, , j], length(shown)), factor(picture$names[[j]], picture$names))
  }))
  gg_picture(main, "observations drawn") +
    ggplot2::geom_line(aes_of(x = "time", y = "value", group = "path"), rows, alpha = path_alpha(length(shown))) +
    ggplot2::facet_wrap(~panel, scales = "free_y") +
    ggplot2::ylab(NULL)
}

gg_band <- function(picture, main) {
  rows <- data.frame(x = picture$x, low = picture$band[1L, ], high = picture$band[2L, ], line = picture$line)
  rug <- function(values, sides) {
    if (length(values)) {
      ggplot2::geom_rug(aes_of(x = "x"), data.frame(x = values), sides = sides, alpha = 0.6, na.rm = TRUE)
    }
  }
  gg_picture(main, picture$xlab, picture$ylab) +
    (if (!is.null(picture$points)) {
      ggplot2::geom_point(aes_of(x = "x", y = "y"), as.data.frame(picture$points), colour = "#777777", size = 1.2)
    }) +
    ggplot2::geom_ribbon(aes_of(x = "x", ymin = "low", ymax = "high"), rows, fill = bar_colour, alpha = 0.3) +
    ggplot2::geom_line(aes_of(x = "x", y = "line"), rows, linewidth = 0.9) +
    rug(picture$bottom, "b") +
    rug(picture$top, "t") +
    ggplot2::coord_cartesian(xlim = picture$xlim, ylim = picture$ylim)
}

gg_boundary <- function(fit, picture, main) {
  points <- data.frame(x = fit$points[[1L]], y = fit$points[[2L]], probability = fit$probability0)
  data <- data.frame(x = picture$data[, 1L], y = picture$data[, 2L],
    class = factor(fit$classes[1L + (fit$data$y > 0.5)], fit$classes))
  plot <- gg_picture(main, names(fit$points)[[1L]], names(fit$points)[[2L]])
  if (picture$grid) {
    contours <- do.call(rbind, lapply(seq_len(picture$paths), function(r) {
      data.frame(points[c("x", "y")], z = fit$probability[r, ], resample = r)
    }))
    plot <- plot +
      ggplot2::geom_tile(aes_of(x = "x", y = "y", fill = "probability"), points, alpha = 0.6) +
      ggplot2::geom_contour(aes_of(x = "x", y = "y", z = "z", group = "resample"), contours, breaks = 0.5,
        colour = "black", alpha = 0.12, linewidth = 0.3) +
      ggplot2::geom_contour(aes_of(x = "x", y = "y", z = "probability"), points, breaks = 0.5, colour = "black",
        linewidth = 0.9)
  } else {
    plot <- plot + ggplot2::geom_point(aes_of(x = "x", y = "y", fill = "probability"), points, shape = 22, size = 3,
      stroke = 0)
  }
  plot +
    ggplot2::geom_point(aes_of(x = "x", y = "y", shape = "class"), data, size = 1.8) +
    ggplot2::scale_shape_manual(values = c(1, 17), name = "Data") +
    ggplot2::scale_fill_gradientn(colours = diverging_colours(20L), limits = c(0, 1),
      breaks = c(0, 0.5, 1), name = sprintf("Probability of %s", fit$classes[[2L]])) +
    ggplot2::theme(legend.key.width = ggplot2::unit(1.6, "lines")) +
    without_grid()
}

gg_histograms <- function(fit, main) {
  shown <- seq_len(min(9L, ncol(fit$draws)))
  names <- colnames(fit$draws)[shown]
  rows <- do.call(rbind, lapply(shown, function(j) {
    values <- fit$draws[, j]
    bars <- graphics::hist(values[is.finite(values)], breaks = 40, plot = FALSE)
    last <- length(bars$breaks)
    data.frame(low = bars$breaks[-last], high = bars$breaks[-1L], density = bars$density,
      panel = factor(names[[j]], names))
  }))
  gg_picture(main, NULL, "density") +
    ggplot2::geom_rect(aes_of(xmin = "low", xmax = "high", ymax = "density"), rows, ymin = 0, fill = histogram_colour,
      colour = "white", linewidth = 0.2) +
    ggplot2::facet_wrap(~panel, scales = "free")
}
