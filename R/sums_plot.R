# Pictures of distributions.

#' Plot a distribution, or two
#'
#' By default, draws the probabilities: as bars if there are at most 100 values, as a line if there are more. A bar
#' is as wide as the step allows, but at most a fifth of the range of values. `type` asks for the distribution function
#' or the quantiles instead. A logarithmic axis also shows probabilities that are too small for doubles. Two
#' distributions are drawn side by side, or their quantiles against each other.
#'
#' @param x a distribution made by [pmf()].
#' @param y `NULL`, or a second distribution for the same picture.
#' @param type `"auto"` for bars or a line, as above; `"bars"`; `"line"`; `"distribution"` for the distribution
#'   function; `"quantile"` for the quantiles, or with `y` for quantiles of `y` against quantiles of `x`; `"lorenz"` for
#'   [lorenz_share()] at all levels; `"stop_loss"` for [stop_loss_premium()] at all retentions.
#' @param log whether the axis of probabilities is logarithmic. The default is `TRUE` for a distribution on the log
#'   scale and `FALSE` otherwise. For quantiles it is always linear.
#' @param lower.tail for the distribution function: `TRUE` draws \eqn{P(X \le x)}{P(X <= x)}, `FALSE` draws
#'   \eqn{P(X > x)}.
#' @param xlim the range of values; for quantiles the range of the horizontal axis. By default all values with `log`,
#'   and otherwise the values between the quantiles at 1e-6 and 1 - 1e-6. For the distribution function 1e-3 is used
#'   instead of 1e-6, also with `log` at the end where the curve is near 1.
#' @param ylim the range of probabilities, with `log` of their logarithms to base 10; for quantiles the range of values.
#' @param xlab,ylab,main labels; by default what the axes show.
#' @param col colour, or two colours.
#' @param border colour of the bars' borders, `NA` for none.
#' @param legend the names of two distributions, or `NULL` for a picture without a legend.
#' @param add whether to add to the last plot, whose axis must have the same scale.
#' @param ... further graphical parameters for the bars or the lines, such as `lwd`. For `lines()` also the arguments
#'   above.
#' @return `x`, invisibly.
#' @details `lines()` adds to the last plot: a line, or what `type` says.
#' @section Errors:
#' `warpbayes_error_input` for arguments that cannot be used, and for what R cannot draw.
#' @examples
#' die <- pmf(rep(1 / 6, 6), from = 1)
#' plot(die + die, 2 * die, legend = c("two dice", "one die doubled"))
#' bets <- pmf(c(0.6, 0.3, 0.1), from = -1)
#' plot(rep_sum_pmf(bets, 500), log = TRUE)
#'
#' claims <- compound_pmf("poisson", pmf_geometric(0.02), lambda = 5, threads = 2)
#' plot(claims, type = "distribution", log = TRUE, lower.tail = FALSE)
#' same_mean <- pmf_poisson(mean(claims))
#' plot(claims, ylim = c(0, 0.04))
#' lines(same_mean, col = "#D55E00")
#' plot(claims, same_mean, type = "quantile")
#' @export
plot.pmf <- function(x, y = NULL, type = c("auto", "bars", "line", "distribution", "quantile", "lorenz", "stop_loss"),
                     log = NULL, lower.tail = TRUE, xlim = NULL, ylim = NULL, xlab = NULL, ylab = NULL, main = NULL,
                     col = c("#0072B2", "#D55E00"), border = NA, legend = c("x", "y"), add = FALSE, ...) {
  type <- check_choice(type, "type", c("auto", "bars", "line", "distribution", "quantile", "lorenz", "stop_loss"))
  check_pmf(x, "x")
  if (!is.null(y)) check_pmf(y, "y")
  add <- check_flag(add, "add")
  border <- check_colours(border, "border")
  picture <- pmf_picture(x, y, type, log, lower.tail, xlim, ylim, xlab, ylab, main, col, legend)
  drawing(draw_pmf(picture, border, add, ...))
  invisible(x)
}

# What a picture of one or two distributions shows: its `type`; `curves`, each with x and y (for bars also their width);
# the limits, NULL where the curves decide; the labels, and which axes show whole numbers.
pmf_picture <- function(x, y, type, log, lower.tail, xlim, ylim, xlab, ylab, main, col, legend) {
  all <- if (is.null(y)) list(x) else list(x, y)
  log <- if (is.null(log)) type != "quantile" && any(vapply(all, is_log, NA)) else check_flag(log, "log")
  lower.tail <- check_flag(lower.tail, "lower.tail")
  xlim <- check_limits(xlim, "xlim")
  ylim <- check_limits(ylim, "ylim")
  check_label(xlab, "xlab")
  check_label(ylab, "ylab")
  check_label(main, "main")
  if (!is.null(legend) && !(is.character(legend) && length(legend) == 2L)) {
    stop_input("legend", "must be two names, or NULL for none, not ", show_value(legend))
  }
  labelled <- function(own) list(xlab = if (is.null(xlab)) own[[1L]] else xlab,
    ylab = if (is.null(ylab)) own[[2L]] else ylab)
  shared <- list(all = all, log = log, lower.tail = lower.tail, ylim = ylim, main = main,
    col = rep_len(check_colours(col, "col"), 2L), legend = legend)
  if (type == "quantile") {
    if (log) stop_input("log", "is TRUE, but probabilities of quantiles are on a linear axis")
    line <- quantile_line(all)
    own <- list(type = type, xlim = xlim, line = line[c("x", "y")], whole = line$whole)
    return(c(shared, own, labelled(line$labels)))
  }
  if (type %in% c("lorenz", "stop_loss")) {
    labels <- if (type == "lorenz") {
      c("share of the outcomes, from the smallest", "share of the expected total")
    } else {
      c("retention", "expected excess")
    }
    curves <- risk_curves(all, type, xlim)
    xlim <- if (!is.null(xlim)) xlim else if (type == "lorenz") c(0, 1) else range(curves[[1L]]$x)
    return(c(shared, list(type = type, xlim = xlim, curves = curves), labelled(labels)))
  }
  if (is.null(xlim)) xlim <- range(vapply(all, function(one) shown_range(one, type, log, lower.tail), numeric(2)))
  if (type == "distribution") {
    # If there are few steps, leave room for the first and the last.
    if (max(vapply(all, function(one) length(entries_within(one, xlim)), 0L)) <= 100L) {
      xlim <- xlim + c(-0.5, 0.5) * shown_width(min(vapply(all, step_of, 0)), xlim)
    }
    curves <- lapply(all, distribution_curve, xlim, log, lower.tail)
  } else {
    curves <- lapply(all, probability_curve, xlim, log)
    most <- max(vapply(curves, function(curve) length(curve$x), 0L))
    type <- if (type == "auto") if (most <= 100L) "bars" else "line" else type
    width <- shown_width(min(vapply(curves, function(curve) curve$width, 0)), xlim)
    curves <- lapply(curves, function(curve) utils::modifyList(curve, list(width = width)))
  }
  height <- if (type != "distribution") "probability" else if (lower.tail) {
    "probability up to the value"
  } else {
    "probability beyond the value"
  }
  c(shared, list(type = type, xlim = xlim, curves = curves, whole = all(vapply(all, on_whole_numbers, NA))),
    labelled(c("value", height)))
}

draw_pmf <- function(picture, border, add, ...) {
  if (picture$type == "quantile") return(draw_quantiles(picture, add, ...))
  if (picture$type %in% c("lorenz", "stop_loss")) return(draw_risk(picture, add, ...))
  draw_curves(picture, border, add, ...)
}

draw_curves <- function(picture, border, add, ...) {
  curves <- picture$curves
  type <- picture$type
  log <- picture$log
  col <- picture$col
  width <- min(vapply(curves, function(curve) curve$width, 0))
  if (!add) {
    height <- unlist(lapply(curves, function(curve) curve$y))
    # Two distributions have a legend. Headroom keeps it from hiding bars or lines.
    headroom <- if (length(curves) == 2L && !is.null(picture$legend) && type != "distribution") 0.2 else 0
    draw_frame(
      picture$xlim + if (type == "bars") c(-0.5, 0.5) * width else 0, picture$ylim, height, log,
      type == "distribution", headroom, picture$whole, picture$xlab, picture$ylab, picture$main
    )
  }
  base <- if (log) graphics::par("usr")[[3L]] else 0
  for (i in seq_along(curves)) {
    if (type == "bars") {
      draw_bars(curves[[i]], width, i, length(curves), base, col[[i]], border, ...)
    } else {
      draw_line(if (type == "distribution") curves[[i]] else thin_line(curves[[i]]$x, curves[[i]]$y), col[[i]], ...)
    }
  }
  draw_legend(picture$legend, length(curves), type == "bars", type == "distribution" && picture$lower.tail, col)
}

#' @rdname plot.pmf
#' @export
lines.pmf <- function(x, type = "line", ...) {
  plot.pmf(x, type = type, add = TRUE, ...)
}

# The range of values with something to see. A distribution function is flat where it is near 0 or 1, unless the axis is
# logarithmic and it is near 0.
shown_range <- function(x, type, log, lower.tail) {
  if (type != "distribution") {
    return(if (log) c(x$from, last_of(x)) else qpmf(c(1e-6, 1 - 1e-6), x))
  }
  if (!log) return(qpmf(c(1e-3, 1 - 1e-3), x))
  if (lower.tail) c(x$from, qpmf(1 - 1e-3, x)) else c(qpmf(1e-3, x), last_of(x))
}

on_whole_numbers <- function(x) step_of(x) == floor(step_of(x)) && x$from == floor(x$from)

# The entries within limits.
entries_within <- function(x, xlim) {
  below <- entries_up_to(x, xlim[[1L]])
  below <- below - (below > 0 && values_of(x, below) == xlim[[1L]])
  below + seq_len(max(entries_up_to(x, xlim[[2L]]) - below, 0))
}

# Values, heights, and the width available to each bar.
probability_curve <- function(x, xlim, log) {
  index <- entries_within(x, xlim)
  value <- values_of(x, index)
  height <- prob_of(x, log)[index]
  width <- if (is_sparse(x)) min(diff(positions_of(x))) * step_of(x) else step_of(x)
  list(x = value, y = if (log) height / base::log(10) else height, width = width)
}

# The width of a bar: a step, but at most a fifth of the picture. Otherwise the bars of two values far apart would reach
# half their distance beyond both.
shown_width <- function(step, xlim) {
  shown <- xlim[[2L]] - xlim[[1L]]
  min(step, if (shown > 0) shown / 5 else 1)
}

# The corners of the steps of the distribution function. Long distributions have a point for each value instead.
distribution_curve <- function(x, xlim, log, lower.tail) {
  index <- entries_within(x, xlim)
  value <- values_of(x, index)
  height <- tails_of(value, x, lower.tail, log)
  before <- tails_of(xlim[[1L]], x, lower.tail, log)
  if (length(index) > 0L && value[[1L]] == xlim[[1L]]) {
    before <- if (index[[1L]] == 1L) {
      edge_of(lower.tail, log)
    } else {
      tails_of(values_of(x, index[[1L]] - 1), x, lower.tail, log)
    }
  }
  if (log) {
    height <- height / base::log(10)
    before <- before / base::log(10)
  }
  if (length(index) <= 1000L) {
    corner_x <- c(xlim[[1L]], rep(value, each = 2L), xlim[[2L]])
    corner_y <- rep(c(before, height), each = 2L)
    return(list(x = corner_x, y = corner_y, width = step_of(x)))
  }
  c(thin_line(value, height), width = step_of(x))
}

# The distribution function before the first value.
edge_of <- function(lower.tail, log) {
  if (lower.tail) (if (log) -Inf else 0) else (if (log) 0 else 1)
}

draw_frame <- function(xlim, ylim, height, log, whole, headroom, on_whole, xlab, ylab, main) {
  ylim <- height_limits(ylim, height, log, whole, headroom)
  graphics::plot.default(xlim, ylim, type = "n", xlab = xlab, ylab = ylab, main = main, axes = FALSE)
  graphics::box()
  value_axis(1L, on_whole)
  probability_axis(log)
}

height_limits <- function(ylim, height, log, whole, headroom) {
  finite <- is.finite(height)
  if (is.null(ylim)) {
    ylim <- if (!any(finite)) {
      c(0, 1)
    } else if (log) {
      range(height[finite])
    } else {
      c(0, if (whole) 1 else max(height[finite]))
    }
    ylim[[2L]] <- ylim[[2L]] + headroom * (ylim[[2L]] - ylim[[1L]])
  }
  ylim
}

value_axis <- function(side, on_whole) {
  ticks <- if (on_whole) whole_ticks(side) else graphics::axTicks(side)
  graphics::axis(side, at = ticks, labels = format(ticks, digits = 15, scientific = FALSE, trim = TRUE))
}

# The bars of distribution i of `count`, beside the others' bars. Bars too narrow to be seen become lines.
draw_bars <- function(curve, width, i, count, base, col, border, ...) {
  finite <- is.finite(curve$y)
  if (!any(finite)) return(invisible())
  here <- 0.8 * width / count
  left <- curve$x[finite] - 0.4 * width + (i - 1) * here
  limits <- graphics::par("usr")
  if (here < (limits[[2L]] - limits[[1L]]) / 500) {
    graphics::segments(left + here / 2, base, y1 = curve$y[finite], col = col, ...)
  } else {
    graphics::rect(left, base, left + here, curve$y[finite], col = col, border = border, ...)
  }
}

draw_legend <- function(legend, count, bars, rising, col) {
  if (!is.null(legend) && count == 2L) {
    graphics::legend(if (rising) "bottomright" else "topright", legend,
      pch = if (bars) 15, lty = if (!bars) 1, col = col, bty = "n"
    )
  }
}

# The quantiles of one distribution as a step line, or the quantiles of two against each other. Two are compared midway
# between the levels where a quantile steps. At most about two thousand levels are drawn.
quantile_line <- function(all) {
  one <- all[[1L]]
  if (length(all) == 1L) {
    sums <- cumulative_weights(one, FALSE, FALSE)
    value <- values_of(one)
    shown <- which(diff(c(0, sums)) > 0)
    if (length(shown) > 2000L) {
      shown <- unique(pmin(findInterval(seq(0, 1, length.out = 2000L), sums) + 1L, length(sums)))
    }
    level <- as.vector(rbind(c(0, sums)[shown], sums[shown]))
    line <- list(x = level, y = rep(value[shown], each = 2L))
    whole <- c(FALSE, on_whole_numbers(one))
    labels <- c("probability", "quantile")
  } else {
    # The levels at which either quantile steps. Quantiles are compared midway between them.
    levels <- sort(unique(c(0, unlist(lapply(all, function(x) {
      sums <- cumulative_weights(x, FALSE, FALSE)
      sums[unique(findInterval(seq(0, 1, length.out = 1001L), sums, all.inside = TRUE))]
    })), 1)))
    middle <- (levels[-1L] + levels[-length(levels)]) / 2
    middle <- middle[middle > 1e-6 & middle < 1 - 1e-6]
    line <- list(x = qpmf(middle, one), y = qpmf(middle, all[[2L]]))
    whole <- vapply(all, on_whole_numbers, NA)
    labels <- c("quantiles of x", "quantiles of y")
  }
  c(line, list(whole = whole, labels = labels))
}

draw_quantiles <- function(picture, add, ...) {
  line <- picture$line
  if (!add) {
    limits <- function(given, values) if (is.null(given)) range(values) else given
    graphics::plot.default(limits(picture$xlim, line$x), limits(picture$ylim, line$y), type = "n", xlab = picture$xlab,
      ylab = picture$ylab, main = picture$main, axes = FALSE)
    graphics::box()
    for (side in 1:2) {
      value_axis(side, picture$whole[[side]])
    }
  }
  if (length(picture$all) == 1L) {
    graphics::lines(line, col = picture$col[[1L]], ...)
  } else {
    graphics::abline(0, 1, col = "grey60", lty = 2)
    graphics::points(line, col = picture$col[[1L]], pch = 20, cex = 0.6, ...)
  }
}

# Lorenz curves, or expected excesses over all retentions.
risk_curves <- function(all, type, xlim) {
  if (type == "lorenz") {
    level <- seq(0, 1, length.out = 501)
    return(lapply(all, function(one) list(x = level, y = lorenz_share(one, level))))
  }
  if (is.null(xlim)) xlim <- range(vapply(all, function(one) qpmf(c(0, 1 - 1e-6), one), numeric(2)))
  retention <- seq(xlim[[1L]], xlim[[2L]], length.out = 501)
  lapply(all, function(one) list(x = retention, y = stop_loss_premium(one, retention)))
}

draw_risk <- function(picture, add, ...) {
  curves <- picture$curves
  if (!add) {
    highest <- max(vapply(curves, function(curve) max(curve$y), 0))
    ylim <- if (is.null(picture$ylim)) c(0, highest) else picture$ylim
    graphics::plot.default(picture$xlim, ylim, type = "n", xlab = picture$xlab, ylab = picture$ylab,
      main = picture$main)
    if (picture$type == "lorenz") graphics::abline(0, 1, col = "grey60", lty = 2)
  }
  for (i in seq_along(curves)) {
    graphics::lines(curves[[i]], col = picture$col[[i]], ...)
  }
  if (!is.null(picture$legend) && length(curves) == 2L) {
    graphics::legend(if (picture$type == "lorenz") "topleft" else "topright", picture$legend, lty = 1,
      col = picture$col, bty = "n")
  }
}

# Whole numbers to mark on an axis: R's own ticks that are whole. If there is at most one of them and the axis is
# short, every whole number on it.
whole_ticks <- function(side) {
  ticks <- graphics::axTicks(side)
  ticks <- ticks[ticks == floor(ticks)]
  limits <- graphics::par("usr")[if (side == 1L) 1:2 else 3:4]
  within <- c(ceiling(limits[[1L]]), floor(limits[[2L]]))
  if (length(ticks) >= 2L || within[[2L]] - within[[1L]] > 10 || within[[2L]] < within[[1L]]) return(ticks)
  seq(within[[1L]], within[[2L]])
}

probability_axis <- function(log) {
  if (!log) {
    graphics::axis(2)
    return()
  }
  powers <- whole_ticks(2L)
  limits <- graphics::par("usr")[3:4]
  if (length(powers) < 2L && limits[[1L]] > -300) {
    # The axis spans less than a power of ten: mark probabilities, not powers.
    marks <- pretty(10^limits)
    marks <- marks[marks > 0]
    graphics::axis(2, at = log10(marks), labels = format(marks, trim = TRUE))
    return()
  }
  if (length(powers) < 2L) powers <- graphics::axTicks(2)
  # Labels run along the axis, with exponents in smaller print. If they do not all fit, every second, third, ... power
  # is labelled, counted from the highest.
  inches <- function(text) graphics::strwidth(text, units = "inches")
  width <- inches("10 ") + 0.7 * max(inches(paste0("-", abs(powers))))
  every <- ceiling(width * length(powers) / graphics::par("pin")[[2L]])
  powers <- powers[(length(powers) - seq_along(powers)) %% every == 0]
  labels <- lapply(powers, function(power) bquote(10^.(format(power, scientific = FALSE))))
  graphics::axis(2, at = powers, labels = as.expression(labels))
}

# On a logarithmic axis a line breaks at impossible values. A possible value between two impossible ones is drawn as
# a point.
draw_line <- function(line, col, ...) {
  graphics::lines(line, col = col, ...)
  seen <- is.finite(line$y)
  alone <- seen & !c(FALSE, seen[-length(seen)]) & !c(seen[-1L], FALSE)
  if (any(alone)) graphics::points(line$x[alone], line$y[alone], pch = 20, cex = 0.4, col = col)
}

# A line through a million points looks like a line through the lowest and the highest point of each of two thousand
# stretches, and takes less time to draw.
thin_line <- function(value, height, stretches = 2000L) {
  if (length(value) <= 4L * stretches) return(list(x = value, y = height))
  stretch <- ceiling(seq_along(value) / length(value) * stretches)
  extremes <- function(find) tapply(seq_along(value), stretch, function(at) at[[find(height[at])]])
  first_finite <- function(find) {
    function(h) {
      at <- find(h)
      if (length(at) == 0L) 1L else at
    }
  }
  keep <- sort(unique(c(1L, extremes(first_finite(which.min)), extremes(first_finite(which.max)), length(value))))
  list(x = value[keep], y = height[keep])
}

check_colours <- function(col, argument) {
  known <- is.atomic(col) && length(col) > 0L &&
    !is.null(tryCatch(grDevices::col2rgb(col), error = function(error) NULL, warning = function(warning) NULL))
  if (!known) stop_input(argument, "must be colours, not ", show_value(col))
  col
}

# Labels are text, or expressions and calls, which R draws as formulas.
check_label <- function(label, argument) {
  if (!is.null(label) && !is.character(label) && !is.numeric(label) && !is.language(label)) {
    stop_input(argument, "must be text, not ", show_value(label))
  }
}

# Draws. What R refuses to draw, such as an unknown line type in `...`, is an error about the picture.
drawing <- function(code) {
  tryCatch(code, error = function(error) {
    if (inherits(error, "warpbayes_error")) stop(error)
    pass_on(error)
    stop_warpbayes("input", paste0("R cannot draw the picture: ", conditionMessage(error)))
  })
}

check_limits <- function(limits, argument) {
  if (is.null(limits)) return(NULL)
  if (!is.numeric(limits) || length(limits) != 2L || any(!is.finite(limits)) || limits[[1L]] > limits[[2L]]) {
    stop_input(argument, "must be two increasing numbers, not ", show_value(limits))
  }
  as.double(limits)
}
