# plot() of a fitted mixture in base graphics: the traces, the weights and the heat map. R/dp_mixture_pairs.R has the
# picture of cells.

#' Plot a fitted mixture
#'
#' Four pictures in base graphics, in colours that colour-blind readers can distinguish. Cells are drawn as an image and
#' not as points, so that a picture of a million cells takes seconds and its file is small.
#'
#' @param x a fit from [dp_mixture()].
#' @param data for `"pairs"`: the cells, as `newdata` of [predict.dp_mixture()]; `NULL`: those that were fitted.
#' @param type which picture; see below.
#' @param markers for `"pairs"`: names or numbers of two or more markers (one gives its histogram). `NULL`: all, or of
#'   more than five the five in which components differ most.
#' @param min_weight for `"heatmap"` and the ellipses: components with a smaller weight are left out.
#' @param main title, `NULL` for none.
#' @param ... not used.
#' @inheritParams computing_arguments
#' @return `x`, invisibly.
#'
#' @section The pictures:
#' \describe{
#'   \item{`"pairs"`}{Markers against each other, in the reference draw (see [predict.dp_mixture()]). Below the
#'     diagonal: the cells, coloured by component and darker where there are more, with the ellipses that hold 90% of
#'     each component. Above the diagonal: the regions of highest density that hold 50, 80, 95 and 99% of the mixture.
#'     On the diagonal: the histogram of each marker with the density of the mixture. Without cells, only the mixture
#'     is drawn. The nine heaviest components have colours. The others are grey, as are the ellipses of the next
#'     twelve. After an arcsinh transformation, axes show the values before it.}
#'   \item{`"trace"`}{The log likelihood, the number of occupied components, the concentration and the log density at
#'     a fixed cell over the sweeps. There is one line per chain, the warm-up is shaded, and \eqn{\hat R} is in the
#'     margin. Values of the early warm-up may lie outside the frame. With more than 600 sweeps, the line shows means
#'     of blocks of sweeps, and a band shows the range of each block.}
#'   \item{`"weights"`}{The weights in order of size, with the median and the interval that holds 90% of the draws. In
#'     this order, weights can be compared between draws, although the numbers of components cannot. A weight below the
#'     dashed line is worth less than one cell.}
#'   \item{`"heatmap"`}{Component by marker in the reference draw: how many standard deviations of the marker the
#'     component's mean lies above or below the mean of all cells. Similar components are neighbours, and bars show the
#'     weights. If the key ends in a triangle, colours there stand for larger values too.}
#' }
#' @section Errors:
#' `warpbayes_error_input` as in [predict.dp_mixture()], and for `markers` that the fit does not have.
#' @examples
#' set.seed(1)
#' x <- rbind(matrix(rnorm(3000), ncol = 3), matrix(rnorm(1500, mean = 4), ncol = 3))
#' colnames(x) <- c("CD3", "CD4", "CD8")
#' fit <- dp_mixture(x, components = 10, iter = 200, chains = 2, seed = 1, threads = 2)
#' plot(fit)
#' plot(fit, type = "trace")
#' plot(fit, type = "weights")
#' plot(fit, type = "heatmap")
#' @export
plot.dp_mixture <- function(x, data = NULL, type = c("pairs", "trace", "weights", "heatmap"), markers = NULL,
                            min_weight = 0.005, main = NULL, backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  min_weight <- check_mixture_picture(x, "x", data, min_weight, main)
  type <- check_choice(type, "type", c("pairs", "trace", "weights", "heatmap"))
  switch(type,
    pairs = plot_pairs(x, data, markers, min_weight, main, backend, threads),
    trace = plot_trace(trace_parts(x), main),
    weights = plot_weights(x, main),
    heatmap = plot_heatmap(x, min_weight, main)
  )
  invisible(x)
}

# Checks what plot() and autoplot() of mixtures share, and returns `min_weight`.
check_mixture_picture <- function(x, argument, data, min_weight, main) {
  check_title(main)
  check_mixture_fit(x, argument)
  if (is.character(data) && any(data %in% c("pairs", "trace", "weights", "heatmap"))) {
    stop_input("data", "must be cells, not ", show_value(data), "; the kind of picture is `type`")
  }
  check_number(min_weight, "min_weight", min = 0, max = 1, open = FALSE)
}

# What traces show: `draws`, matrices of sweeps x chains; their `titles` (formulas or texts) and `range`, without the
# early warm-up; `rhat`, NA where there is none; and whether the chains differ.
trace_parts <- function(fit) {
  shown <- trace_quantities(fit, warmup = TRUE)[c("log_likelihood", "occupied", "concentration", "log_density[1]")]
  table <- diagnose(fit)
  rows <- match(names(shown), table$quantity)
  sweeps <- nrow(fit$log_likelihood)
  list(
    draws = shown, sweeps = sweeps, warmup = min(fit$warmup, sweeps), chains = fit$chains,
    titles = c("Log likelihood", "Occupied components", expression(paste("Concentration ", alpha)),
      "Log density at point 1"),
    range = lapply(shown, settled_range, min(fit$warmup, sweeps)), rhat = table$rhat[rows],
    differs = differing(trace_quantities(fit), table)[rows], axis = if (is_bem(fit)) "Step" else "Sweep"
  )
}

# The range of draws after the first third of the warm-up.
settled_range <- function(draws, warmup) {
  settled <- draws[seq_len(nrow(draws)) > warmup / 3, , drop = FALSE]
  settled <- settled[is.finite(settled)]
  if (length(settled)) range(settled) else c(0, 1)
}

plot_trace <- function(parts, main) {
  old <- graphics::par(
    mfrow = c(length(parts$draws), 1L), mar = c(0.4, 5.4, 1.7, 4.2), oma = c(3.6, 0, if (is.null(main)) 0 else 2, 0),
    las = 1, mgp = c(3.4, 0.6, 0), tcl = -0.25
  )
  on.exit(graphics::par(old))
  colours <- rep_len(chain_colours, parts$chains)
  for (i in seq_along(parts$draws)) {
    range <- parts$range[[i]]
    graphics::plot.new()
    graphics::plot.window(c(1, max(parts$sweeps, 2)), grDevices::extendrange(range, f = 0.06))
    usr <- graphics::par("usr")
    if (parts$warmup > 0) {
      graphics::rect(usr[[1L]], usr[[3L]], parts$warmup + 0.5, usr[[4L]], col = "#EEEEEE", border = NA)
      if (i == 1L) {
        graphics::text(parts$warmup / 2, usr[[3L]] + 0.12 * diff(usr[3:4]), "warm-up", col = "#555555")
      }
    }
    for (chain in seq_len(parts$chains)) {
      paint_chain(parts$draws[[i]][, chain], colours[[chain]])
    }
    ticks <- pretty(range, 4)
    labels <- format(ticks, big.mark = ",", decimal.mark = ".", trim = TRUE, scientific = any(abs(ticks) >= 1e7))
    graphics::axis(2, at = ticks, labels = labels)
    graphics::box()
    graphics::mtext(parts$titles[[i]], side = 3L, line = 0.3, adj = 0, cex = 0.75)
    if (!is.na(parts$rhat[[i]])) {
      graphics::mtext("Rhat", side = 4L, line = 0.5, las = 1, cex = 0.65, padj = -0.8)
      graphics::mtext(format_rhat(parts$rhat[[i]]), side = 4L, line = 0.5, las = 1, cex = 0.75, padj = 0.8,
        col = if (parts$differs[[i]]) signal_colour else "black", font = if (parts$differs[[i]]) 2L else 1L)
    }
  }
  graphics::axis(1)
  graphics::mtext(parts$axis, side = 1L, line = 2.2, cex = 0.8)
  if (!is.null(main)) {
    graphics::mtext(main, side = 3L, outer = TRUE, line = 0.5, font = 2L)
  }
  paint_chain_key(parts$chains)
}

# A key of the chains' colours, below the frame at the left; nothing for a single chain.
paint_chain_key <- function(chains) {
  if (chains == 1) {
    return(invisible())
  }
  shown <- seq_len(min(chains, length(chain_colours)))
  names <- vapply(shown, function(chain) paste(seq(chain, chains, by = length(chain_colours)), collapse = ", "), "")
  old <- graphics::par(fig = c(0, 1, 0, 1), oma = rep(0, 4L), mar = rep(0, 4L), new = TRUE)
  on.exit(graphics::par(old))
  graphics::plot.new()
  graphics::legend("bottomleft",
    legend = c("Chain", names), lty = c(0, rep(1, length(shown))), lwd = 2, col = c(NA, chain_colours[shown]),
    horiz = TRUE, bty = "n", cex = if (chains > 12) 0.6 else 0.8, seg.len = 1.2, x.intersp = 0.6
  )
}

# A chain as a line. With more than 600 sweeps, the line shows the means of 150 blocks of sweeps, over a band from the
# smallest to the largest value of each block. So chains do not hide each other.
paint_chain <- function(values, colour) {
  line <- chain_line(values)
  if (is.null(line$low)) {
    graphics::lines(line$sweep, line$value, col = grDevices::adjustcolor(colour, 0.8), lwd = 0.8)
    return()
  }
  known <- !is.na(line$low)
  graphics::polygon(c(line$sweep[known], rev(line$sweep[known])), c(line$low[known], rev(line$high[known])),
    col = grDevices::adjustcolor(colour, 0.2), border = NA
  )
  graphics::lines(line$sweep, line$value, col = colour, lwd = 1.4)
}

chain_line <- function(values, blocks = 150L) {
  sweeps <- seq_along(values)
  if (length(values) <= 4L * blocks) {
    return(list(sweep = sweeps, value = values))
  }
  block <- ceiling(sweeps / length(values) * blocks)
  of <- function(statistic, values) as.vector(tapply(values, block, statistic))
  values[!is.finite(values)] <- NA
  list(sweep = of(mean, sweeps), value = of(mean, values), low = of(min, values), high = of(max, values))
}

# The median and the ends of the interval of the ordered weights, down to half a cell; `lowest` is that half.
weight_points <- function(fit) {
  need_draws(fit, "weights")
  k <- fit$components
  sorted <- apply(matrix(fit$draws$weights, k), 2L, sort, decreasing = TRUE)
  points <- apply(matrix(sorted, k), 1L, stats::quantile, c(0.05, 0.5, 0.95), names = FALSE)
  lowest <- 0.5 / fit$rows
  shown <- seq_len(max(1L, sum(points[2L, ] > lowest)))
  points <- pmax(points[, shown, drop = FALSE], lowest)
  list(rank = shown, lower = points[1L, ], median = points[2L, ], upper = points[3L, ], lowest = lowest,
    one = 1 / fit$rows)
}

plot_weights <- function(fit, main) {
  points <- weight_points(fit)
  shown <- points$rank
  lowest <- points$lowest
  old <- graphics::par(mar = c(3.6, 5, if (is.null(main)) 1 else 2.6, 1), las = 1, mgp = c(3.6, 0.6, 0), tcl = -0.25)
  on.exit(graphics::par(old))
  graphics::plot.new()
  graphics::plot.window(c(0.5, length(shown) + 0.5), c(lowest, 1), log = "y")
  one <- points$one
  decades <- 10^(ceiling(log10(lowest)):0)
  graphics::abline(h = decades, col = "#EEEEEE")
  graphics::abline(h = one, lty = 2, col = "#777777")
  graphics::text(0.5, one, "one cell", adj = c(0, -0.4), cex = 0.8, col = "#555555")
  graphics::segments(shown, points$lower, shown, points$upper, lwd = 2.5, col = "#88CCEE", lend = 1)
  graphics::points(shown, points$median, pch = 19, cex = 0.7, col = "#332288")
  graphics::axis(2, at = decades, labels = percent_labels(decades))
  ticks <- pretty(shown)
  graphics::axis(1, at = ticks[ticks >= 1 & ticks == floor(ticks)])
  graphics::box()
  graphics::mtext("Components by weight", side = 1L, line = 2.2)
  graphics::mtext("Weight: median and 90% interval", side = 2L, line = 3.6, las = 0)
  if (!is.null(main)) {
    graphics::title(main)
  }
}

# The means of the components in standard deviations of the marker, similar components together, with their weights.
heat_parts <- function(fit, min_weight) {
  reference <- reference_draw(fit)
  shown <- which(reference$weights >= min(min_weight, max(reference$weights)))
  means <- sweep(sweep(reference$means[shown, , drop = FALSE], 2L, fit$center), 2L, fit$scale, "/")
  order <- if (length(shown) > 2L) stats::hclust(stats::dist(means), "average")$order else seq_along(shown)
  list(means = means[order, , drop = FALSE], weights = reference$weights[shown][order], labels = shown[order])
}

plot_heatmap <- function(fit, min_weight, main) {
  parts <- heat_parts(fit, min_weight)
  means <- parts$means
  weights <- parts$weights
  labels <- parts$labels
  rows <- length(labels)
  p <- ncol(means)
  text_size <- max(0.35, min(0.85, 20 / rows))
  markers <- names_in_margin(fit$markers, graphics::par("din")[[2L]], min(1.1, 14 / p))
  old <- graphics::par(no.readonly = TRUE)
  # layout(1) would fail after a picture for which there was no room, and hide that error.
  on.exit(graphics::par(old[c("mfrow", "mar", "las", "mgp", "tcl", "xaxs", "yaxs", "oma")]))
  graphics::layout(matrix(1:2, 1L), widths = c(1, 0.35))
  top <- if (is.null(main)) 4 else 5.6
  bottom <- max(2.5, markers$lines)
  graphics::par(
    mar = c(bottom, 4, top, 0.5), las = 1, mgp = c(2.6, 0.5, 0), tcl = -0.2, xaxs = "i", yaxs = "i", cex = 0.83
  )
  # The first row is at the bottom.
  upwards <- rev(seq_len(rows))
  paint_heat(means[upwards, , drop = FALSE], markers, list(names = labels[upwards], cex = 1.2 * text_size),
    "Mean (marker's sd from that of all cells)", line = -0.5, lwd = min(1, 20 / rows))
  graphics::mtext("Component", side = 2L, line = 2.6, las = 0, cex = 0.8)
  if (!is.null(main)) {
    graphics::mtext(main, side = 3L, line = 3.8, font = 2L, adj = 0)
  }

  graphics::par(mar = c(bottom, 0, top, 2.5))
  graphics::plot.new()
  graphics::plot.window(c(0, 1.15 * max(weights)), c(0, rows))
  graphics::rect(0, seq_len(rows) - 0.85, weights, seq_len(rows) - 0.15, col = "#777777", border = NA)
  graphics::text(weights, seq_len(rows) - 0.5, paste0(" ", format(100 * weights, digits = 1), "%"), adj = 0,
    cex = 1.2 * text_size, xpd = NA)
  graphics::mtext("Weight", side = 1L, line = 0.6, cex = 0.8, adj = 0)
}
