#' Plot a distribution, or two
#'
#' Draws the probabilities: as bars if there are at most 100 values, as a line if there are more. Two distributions are
#' drawn side by side, or their quantiles against each other. `lines()` adds to the last plot.
#'
#' @param x a distribution made by [pmf()].
#' @param y `NULL`, or a second distribution for the same picture.
#' @param type `"auto"` for bars or a line, `"bars"`, `"line"`, or `"distribution"` for the distribution function;
#'   `"quantile"` for quantiles, with `y` those of `y` against those of `x`; `"lorenz"` for [lorenz_share()] at all
#'   levels; `"stop_loss"` for [stop_loss_premium()] at all retentions.
#' @param log whether the axis of probabilities is logarithmic; by default for a distribution on the log scale.
#' @param lower.tail for the distribution function: \eqn{P(X \le x)}{P(X <= x)} if `TRUE`, otherwise \eqn{P(X > x)}.
#' @param xlim,ylim ranges of the axes, on a logarithmic axis of logarithms to base 10. The default leaves out
#'   negligible values on linear axes.
#' @param xlab,ylab,main,col,lwd,lty labels; colours, width and type of the lines.
#' @param legend the names of two distributions, or `NULL` for none.
#' @param add whether to add to the last plot, whose axis must have the same scale.
#' @param ... must be empty. For `lines()` the arguments above.
#' @return `x`, invisibly.
#' @inheritSection pmf_functions Errors
#' @examples
#' die <- pmf(rep(1 / 6, 6), from = 1)
#' plot(die + die, 2 * die, legend = c("two dice", "one die doubled"))
#' claims <- compound_pmf("poisson", pmf_geometric(0.02), lambda = 5, threads = 2)
#' plot(claims, type = "distribution", log = TRUE, lower.tail = FALSE)
#' plot(claims, pmf_poisson(mean(claims)), type = "quantile")
#' @export
plot.pmf <- function(x, y = NULL, type = c("auto", "bars", "line", "distribution", "quantile", "lorenz", "stop_loss"),
                     log = NULL, lower.tail = TRUE, xlim = NULL, ylim = NULL, xlab = NULL, ylab = NULL, main = NULL,
                     col = chain_colours[1:2], legend = c("x", "y"), add = FALSE, lwd = 1, lty = 1, ...) {
  check_dots_empty(...)
  check_pmf(x, "x")
  add <- check_flag(add, "add")
  labels <- list(xlab = xlab, ylab = ylab, main = main)
  picture <- pmf_picture(x, y, type, log, lower.tail, xlim, ylim, labels, col, legend, list(width = lwd, dash = lty))
  drawing(if (add) {
    lapply(picture$panels[[1L]]$layers, paint_layer)
  } else {
    paint_picture(picture)
    key <- picture$key
    corner <- graphics::par("usr")
    if (!is.null(key)) {
      graphics::legend(mean(corner[1:2]), corner[[4L]], key$text, fill = key$colours, border = NA, bty = "n",
        horiz = TRUE, xjust = 0.5, yjust = 0, xpd = NA)
    }
  })
  invisible(x)
}

#' @rdname plot.pmf
#' @export
lines.pmf <- function(x, type = "line", ...) {
  plot.pmf(x, type = type, add = TRUE, ...)
}

#' @rdname autoplot.warpbayes
#' @method autoplot pmf
#' @exportS3Method ggplot2::autoplot pmf
autoplot.pmf <- function(object, y = NULL,
                         type = c("auto", "bars", "line", "distribution", "quantile", "lorenz", "stop_loss"),
                         log = NULL, lower.tail = TRUE, xlim = NULL, ylim = NULL, xlab = NULL, ylab = NULL,
                         main = NULL, col = chain_colours[1:2], legend = c("x", "y"), ...) {
  check_dots_empty(...)
  check_pmf(object, "object")
  labels <- list(xlab = xlab, ylab = ylab, main = main)
  gg_draw(pmf_picture(object, y, type, log, lower.tail, xlim, ylim, labels, col, legend))
}

pmf_picture <- function(x, y, type, log, lower.tail, xlim, ylim, labels, col, legend,
                        style = list(width = 1, dash = 1)) {
  type <- check_choice(type, "type", eval(formals(plot.pmf)$type))
  if (!is.null(y)) check_pmf(y, "y")
  all <- if (is.null(y)) list(x) else list(x, y)
  log <- if (is.null(log)) type != "quantile" && any(vapply(all, is_log, NA)) else check_flag(log, "log")
  lower.tail <- check_flag(lower.tail, "lower.tail")
  xlim <- check_limits(xlim, "xlim")
  ylim <- check_limits(ylim, "ylim")
  for (name in names(labels)) {
    label <- labels[[name]]
    # Expressions and calls are drawn by R as formulas.
    must_be(is.null(label) || is.character(label) || is.numeric(label) || is.language(label), name, "text", label)
  }
  must_be(is.null(legend) || is.character(legend) && length(legend) == 2L, "legend", "two names, or NULL for none",
    legend)
  must_be(is.atomic(col) && length(col) > 0L && !is.null(tryCatch(grDevices::col2rgb(col),
    error = function(error) NULL, warning = function(warning) NULL)), "col", "colours", col)
  col <- rep_len(col, 2L)
  shown <- switch(type, quantile = quantile_curves(all, log), lorenz = lorenz_curves(all),
    stop_loss = stop_loss_curves(all, xlim), distribution = distribution_curves(all, xlim, log, lower.tail),
    probability_curves(all, type, xlim, log))
  log <- log && !is.null(shown$powers)
  ylim <- grDevices::extendrange(if (is.null(ylim)) heights_of(shown$curves, if (!log) shown$fixed) else ylim, f = 0.04)
  xlim <- grDevices::extendrange(if (is.null(xlim)) shown$xlim else xlim, f = 0.04)
  layers <- Map(function(curve, i) {
    colour <- col[[i]]
    if (is.null(shown$width)) return(curve_layers(curve, colour, style, isTRUE(shown$points)))
    bar_layer(curve, i, length(all), shown$width, if (log) ylim[[1L]] else 0, colour, xlim)
  }, shown$curves, seq_along(shown$curves))
  if (isTRUE(shown$diagonal)) {
    ends <- c(max(xlim[[1L]], ylim[[1L]]), min(xlim[[2L]], ylim[[2L]]))
    layers <- c(list(list(layer("lines", x = ends, y = ends, colour = "#999999", dash = 2))), layers)
  }
  label <- function(name, own) if (is.null(labels[[name]])) own else labels[[name]]
  key <- if (length(shown$curves) == 2L && !is.null(legend)) list(text = legend, colours = col)
  panel <- panel(xlim, ylim, unlist(layers, recursive = FALSE), value_axis(xlim, shown$whole[[1L]]),
    if (log) power_axis(ylim) else value_axis(ylim, shown$whole[[2L]]))
  picture(list(panel), labels$main, label("xlab", shown$labels[[1L]]), label("ylab", shown$labels[[2L]]), key = key,
    plain = TRUE)
}

# What is drawn: `curves` of x and y (base 10 logarithms on such an axis); `xlim`; heights that a plain axis of y has in
# any case (`fixed`); whether x and y are `whole`; `labels` of axes; `width` of bars; whether there are `points`, a
# `diagonal`, and an axis that can be in `powers` of ten.
probability_curves <- function(all, type, xlim, log) {
  if (is.null(xlim)) {
    xlim <- range(vapply(all, function(x) if (log) c(x$from, last_of(x)) else qpmf(x, c(1e-6, 1 - 1e-6)), numeric(2)))
  }
  curves <- lapply(all, function(x) {
    index <- entries_within(x, xlim)
    list(x = values_of(x, index), y = prob_of(x, log)[index] / if (log) log(10) else 1)
  })
  if (type == "auto") type <- if (max(vapply(curves, function(one) length(one$x), 0L)) <= 100L) "bars" else "line"
  width <- if (type == "bars") shown_width(all, xlim)
  list(curves = curves, xlim = xlim + c(-0.5, 0.5) * if (is.null(width)) 0 else width, width = width, powers = TRUE,
    fixed = 0, whole = c(on_whole_numbers(all), FALSE), labels = c("value", "probability"))
}

distribution_curves <- function(all, xlim, log, lower.tail) {
  if (is.null(xlim)) {
    # It is flat where it is near 0 or 1, unless the axis is logarithmic and it is near 0.
    xlim <- range(vapply(all, function(x) {
      c(if (log && lower.tail) x$from else qpmf(x, 1e-3), if (log && !lower.tail) last_of(x) else qpmf(x, 1 - 1e-3))
    }, numeric(2)))
  }
  # If there are few steps, leave room for the first and the last.
  few <- max(vapply(all, function(one) length(entries_within(one, xlim)), 0L)) <= 100L
  if (few) xlim <- xlim + c(-0.5, 0.5) * shown_width(all, xlim)
  curves <- lapply(all, function(x) {
    index <- entries_within(x, xlim)
    value <- values_of(x, index)
    height <- tails_of(c(xlim[[1L]], value), x, lower.tail, log) / if (log) log(10) else 1
    if (length(index) > 1000L) return(list(x = value, y = height[-1L]))
    list(x = c(xlim[[1L]], rep(value, each = 2L), xlim[[2L]]), y = rep(height, each = 2L))
  })
  list(curves = curves, xlim = xlim, fixed = 0:1, powers = TRUE, whole = c(on_whole_numbers(all), FALSE),
    labels = c("value", if (lower.tail) "probability up to the value" else "probability beyond the value"))
}

# The quantiles of one distribution as a step line, or of two against each other, at about two thousand levels at most.
quantile_curves <- function(all, log) {
  if (log) stop_input("log", "is TRUE, but probabilities of quantiles are on a linear axis")
  one <- all[[1L]]
  if (length(all) == 1L) {
    sums <- cumulative_weights(one, FALSE, FALSE)
    shown <- which(diff(c(0, sums)) > 0)
    if (length(shown) > 2000L) {
      shown <- unique(pmin(findInterval(seq(0, 1, length.out = 2000L), sums) + 1L, length(sums)))
    }
    line <- list(x = as.vector(rbind(c(0, sums)[shown], sums[shown])), y = rep(values_of(one)[shown], each = 2L))
    return(list(curves = list(line), xlim = range(line$x), whole = c(FALSE, on_whole_numbers(all)),
      labels = c("probability", "quantile")))
  }
  levels <- sort(unique(c(0, unlist(lapply(all, function(x) {
    sums <- cumulative_weights(x, FALSE, FALSE)
    sums[unique(findInterval(seq(0, 1, length.out = 1001L), sums, all.inside = TRUE))]
  })), 1)))
  middle <- (levels[-1L] + levels[-length(levels)]) / 2
  middle <- middle[middle > 1e-6 & middle < 1 - 1e-6]
  points <- list(x = qpmf(one, middle), y = qpmf(all[[2L]], middle))
  list(curves = list(points), xlim = range(points$x), whole = vapply(1:2, function(i) on_whole_numbers(all[i]), NA),
    points = TRUE, diagonal = TRUE, labels = c("quantiles of x", "quantiles of y"))
}

lorenz_curves <- function(all) {
  level <- seq(0, 1, length.out = 501)
  list(curves = lapply(all, function(one) list(x = level, y = lorenz_share(one, level))), xlim = c(0, 1), fixed = 0:1,
    diagonal = TRUE, whole = c(FALSE, FALSE),
    labels = c("share of the outcomes, from the smallest", "share of the expected total"))
}

stop_loss_curves <- function(all, xlim) {
  if (is.null(xlim)) xlim <- range(vapply(all, function(one) qpmf(one, c(0, 1 - 1e-6)), numeric(2)))
  retention <- seq(xlim[[1L]], xlim[[2L]], length.out = 501)
  list(curves = lapply(all, function(one) list(x = retention, y = stop_loss_premium(one, retention))), xlim = xlim,
    fixed = 0, whole = c(FALSE, FALSE), labels = c("retention", "expected excess"))
}

heights_of <- function(curves, fixed) {
  height <- unlist(lapply(curves, `[[`, "y"))
  height <- height[is.finite(height)]
  if (length(height) == 0L) return(c(0, 1))
  ends <- range(height, fixed)
  if (diff(ends) > 0) ends else ends + c(-0.5, 0.5)
}

on_whole_numbers <- function(all) all(vapply(all, function(x) all(c(step_of(x), x$from) %% 1 == 0), NA))

entries_within <- function(x, xlim) {
  below <- entries_up_to(x, xlim[[1L]])
  below <- below - (below > 0 && values_of(x, below) == xlim[[1L]])
  below + seq_len(max(entries_up_to(x, xlim[[2L]]) - below, 0))
}

shown_width <- function(all, xlim) {
  step <- min(vapply(all, function(x) if (is_sparse(x)) min(diff(positions_of(x))) * step_of(x) else step_of(x), 0))
  min(step, if (diff(xlim) > 0) diff(xlim) / 5 else 1)
}

bar_layer <- function(curve, i, count, width, base, colour, xlim) {
  seen <- is.finite(curve$y)
  here <- 0.8 * width / count
  left <- curve$x[seen] - 0.4 * width + (i - 1) * here
  list(layer("rects", xmin = left, ymin = base, xmax = left + here, ymax = curve$y[seen], fill = colour,
    colour = if (here < diff(xlim) / 500) colour else NA_character_))
}

# A line breaks at impossible values, whose logarithm is -Inf. A possible value between two impossible ones is a point.
curve_layers <- function(curve, colour, style, points) {
  curve <- thin_line(curve$x, curve$y)
  seen <- is.finite(curve$y)
  curve$y[!seen] <- NA
  dots <- which(points | (seen & !c(FALSE, seen[-length(seen)]) & !c(seen[-1L], FALSE)))
  line <- if (!points && any(seen)) {
    layer("lines", x = curve$x, y = curve$y, colour = colour, width = style$width, dash = style$dash)
  }
  list(line, layer("points", x = curve$x[dots], y = curve$y[dots], colour = colour, fill = colour, size = 0.4))
}

# The lowest and the highest point of each of two thousand stretches: the line looks the same and is drawn faster.
thin_line <- function(value, height, stretches = 2000L) {
  if (length(value) <= 4L * stretches) return(list(x = value, y = height))
  stretch <- ceiling(seq_along(value) / length(value) * stretches)
  extremes <- function(height) {
    sorted <- order(stretch, height)
    sorted[!duplicated(stretch[sorted])]
  }
  keep <- sort(unique(c(1L, extremes(height), extremes(-height), length(value))))
  list(x = value[keep], y = height[keep])
}

value_axis <- function(ends, whole) {
  plain_numbers <- function(at) format(at, digits = 15, scientific = FALSE, trim = TRUE)
  ticks <- axis_of(ends, plain_numbers, 5L)
  if (!whole || !any(ticks$at != floor(ticks$at))) return(ticks)
  at <- seq(floor(ends[[1L]]), ceiling(ends[[2L]]))
  at <- at[at >= ends[[1L]] & at <= ends[[2L]]]
  list(at = at, labels = plain_numbers(at))
}

# Powers of ten, or probabilities if the axis spans less than one power.
power_axis <- function(ends) {
  ticks <- axis_of(ends, function(at) lapply(at, function(one) bquote(10^.(format(one, scientific = FALSE)))), 5L)
  whole <- ticks$at == floor(ticks$at)
  if (sum(whole) > 1L || ends[[1L]] < -300) return(if (sum(whole) > 1L) lapply(ticks, `[`, whole) else ticks)
  axis <- axis_of(10^ends, function(at) format(at, trim = TRUE))
  list(at = log10(axis$at[axis$at > 0]), labels = axis$labels[axis$at > 0])
}

# Draws. What R refuses to draw, such as an unknown line type, is an error about the picture.
drawing <- function(code) {
  tryCatch(code, error = function(error) {
    if (inherits(error, "warpbayes_error")) stop(error)
    pass_on(error)
    stop_warpbayes("input", paste0("R cannot draw the picture: ", conditionMessage(error)))
  })
}

check_limits <- function(limits, argument) {
  if (is.null(limits)) return(NULL)
  must_be(is.numeric(limits) && length(limits) == 2L && all(is.finite(limits)) && limits[[1L]] <= limits[[2L]],
    argument, "two increasing numbers", limits)
  as.double(limits)
}
