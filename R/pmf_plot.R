# Pictures of distributions.

#' Plot a distribution
#'
#' Draws bars for few values and a line for many, on a linear or a logarithmic axis. The logarithmic axis also shows
#' probabilities that are too small for doubles.
#'
#' @param x a distribution made by [pmf()].
#' @param type `"bars"`, `"line"`, or `"auto"`, which draws bars if there are at most 100 values.
#' @param log whether the axis of probabilities is logarithmic. The default is `TRUE` for a distribution on the log
#'   scale.
#' @param xlim the range of values. By default all values with `log`, and otherwise the values between the quantiles at
#'   1e-6 and 1 - 1e-6.
#' @param ylim the range of probabilities; with `log`, of their logarithms to base 10.
#' @param xlab,ylab,main labels.
#' @param col colour.
#' @param border colour of the bars' borders, `NA` for none.
#' @param add whether to add to the last plot, whose axis must have the same scale.
#' @param ... further graphical parameters for the bars or the line, such as `lwd`.
#' @return `x`, invisibly.
#' @section Errors:
#' `warpbayes_error_input` for arguments that cannot be used.
#' @examples
#' die <- pmf(rep(1 / 6, 6), from = 1)
#' plot(die + die)
#' bets <- pmf(c(0.6, 0.3, 0.1), from = -1)
#' plot(rep_sum(bets, 500), log = TRUE)
#' @export
plot.pmf <- function(x, type = c("auto", "bars", "line"), log = NULL, xlim = NULL, ylim = NULL, xlab = "value",
                     ylab = "probability", main = NULL, col = "#0072B2", border = NA, add = FALSE, ...) {
  type <- check_choice(type, "type", c("auto", "bars", "line"))
  log <- if (is.null(log)) is_log(x) else check_flag(log, "log")
  add <- check_flag(add, "add")
  xlim <- check_limits(xlim, "xlim")
  ylim <- check_limits(ylim, "ylim")
  if (is.null(xlim)) {
    xlim <- if (log) c(x$from, last_of(x)) else qpmf(c(1e-6, 1 - 1e-6), x)
  }
  # From the first entry at or above the lower limit to the last at or below the upper one.
  below <- entries_up_to(x, xlim[[1L]])
  below <- below - (below > 0 && values_of(x, below) == xlim[[1L]])
  index <- below + seq_len(max(entries_up_to(x, xlim[[2L]]) - below, 0))
  value <- values_of(x, index)
  height <- prob_of(x, log)[index]
  if (log) {
    height <- height / base::log(10)
  }
  finite <- is.finite(height)
  bars <- type == "bars" || (type == "auto" && length(value) <= 100L)
  if (!add) {
    if (is.null(ylim)) {
      ylim <- if (!any(finite)) c(0, 1) else if (log) range(height[finite]) else c(0, max(height))
    }
    padding <- if (bars) 0.5 else 0
    graphics::plot.default(range(xlim) + c(-padding, padding), ylim,
      type = "n", xlab = xlab, ylab = ylab, main = main, axes = FALSE
    )
    graphics::box()
    ticks <- whole_ticks(1L)
    graphics::axis(1, at = ticks, labels = format(ticks, digits = 15, scientific = FALSE, trim = TRUE))
    probability_axis(log)
  }
  if (!bars) {
    draw_line(thin_line(value, height), col, ...)
  } else if (any(finite)) {
    base <- if (log) graphics::par("usr")[[3L]] else 0
    graphics::rect(value[finite] - 0.4, base, value[finite] + 0.4, height[finite], col = col, border = border, ...)
  }
  invisible(x)
}

# Whole numbers to mark on an axis. Where R's own ticks are fractions all that are in the picture,
# if they are few.
whole_ticks <- function(side) {
  ticks <- graphics::axTicks(side)
  ticks <- ticks[ticks == floor(ticks)]
  limits <- graphics::par("usr")[if (side == 1L) 1:2 else 3:4]
  within <- c(ceiling(limits[[1L]]), floor(limits[[2L]]))
  if (length(ticks) >= 2L || within[[2L]] - within[[1L]] > 10 || within[[2L]] < within[[1L]]) {
    return(ticks)
  }
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
    # Less than a power of ten: the probabilities themselves.
    marks <- pretty(10^limits)
    marks <- marks[marks > 0]
    graphics::axis(2, at = log10(marks), labels = format(marks, trim = TRUE))
    return()
  }
  if (length(powers) < 2L) {
    powers <- graphics::axTicks(2)
  }
  # Labels run along the axis, with exponents in smaller print. As many are drawn as have room,
  # beginning with the highest.
  inches <- function(text) graphics::strwidth(text, units = "inches")
  width <- inches("10 ") + 0.7 * max(inches(paste0("-", abs(powers))))
  every <- ceiling(width * length(powers) / graphics::par("pin")[[2L]])
  powers <- powers[(length(powers) - seq_along(powers)) %% every == 0]
  labels <- lapply(powers, function(power) bquote(10^.(format(power, scientific = FALSE))))
  graphics::axis(2, at = powers, labels = as.expression(labels))
}

# A line breaks at impossible values, which have no place on a logarithmic axis. A value
# between two of them is drawn as a point.
draw_line <- function(line, col, ...) {
  graphics::lines(line, col = col, ...)
  seen <- is.finite(line$y)
  alone <- seen & !c(FALSE, seen[-length(seen)]) & !c(seen[-1L], FALSE)
  if (any(alone)) {
    graphics::points(line$x[alone], line$y[alone], pch = 20, cex = 0.4, col = col)
  }
}

# A line through a million points looks like the line through the lowest and the highest
# point of each of two thousand stretches.
thin_line <- function(value, height, stretches = 2000L) {
  if (length(value) <= 4L * stretches) {
    return(list(x = value, y = height))
  }
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

check_limits <- function(limits, argument, call = sys.call(-1L)) {
  if (is.null(limits)) {
    return(NULL)
  }
  if (!is.numeric(limits) || length(limits) != 2L || any(!is.finite(limits)) || limits[[1L]] > limits[[2L]]) {
    stop_input(argument, "must be two increasing numbers, not ", show_value(limits), call = call)
  }
  as.double(limits)
}
