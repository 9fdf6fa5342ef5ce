# autoplot() of distributions.

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
  if (!is.null(y)) check_pmf(y, "y")
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
  if (anyDuplicated(names)) names <- as.character(seq_len(count))
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
