# Traces, weights and heat map of a mixture. R/cells_mixture_pairs.R has the picture of cells.

#' Plot a fitted mixture
#'
#' Four pictures in base graphics.
#' @param x a fit from [dp_mixture()].
#' @param data for `"pairs"`: the cells, as `newdata` of [predict.dp_mixture()]; `NULL`: those that were fitted.
#' @param type which picture; see below.
#' @param markers for `"pairs"`: names or numbers of markers. `NULL`: all, or of more than five the five in which
#'   components differ most.
#' @param min_weight for `"heatmap"` and the ellipses: components with a smaller weight are left out.
#' @inheritParams computing_arguments
#' @return `x`, invisibly.
#' @section The pictures:
#' * `"pairs"`: markers against each other, in the reference draw (see [predict.dp_mixture()]). Below the diagonal:
#'   cells coloured by component, with an ellipse around 90% of each component. Above: regions that hold 50, 80, 95 and
#'   99% of the mixture. On the diagonal: histograms. Axes show values before a transformation.
#' * `"trace"`: log likelihood, occupied components, concentration and a cell's log density by sweep; warm-up shaded.
#' * `"weights"`: weights by size, with median and 90% interval. The dashed line is worth one cell.
#' * `"heatmap"`: the distance of a component's mean from the mean of all cells, in the marker's standard deviations.
#' @examples
#' set.seed(1)
#' x <- rbind(matrix(rnorm(3000), ncol = 3), matrix(rnorm(1500, mean = 4), ncol = 3))
#' fit <- dp_mixture(x, components = 10, iter = 200, chains = 2, seed = 1, threads = 2)
#' plot(fit)
#' plot(fit, type = "trace")
#' @export
plot.dp_mixture <- function(x, data = NULL, type = c("pairs", "trace", "weights", "heatmap"), markers = NULL,
                            min_weight = 0.005, main = NULL, backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  paint_picture(picture_of.dp_mixture(x, data, type, markers, min_weight, main, backend, threads, argument = "x"))
  invisible(x)
}

picture_of.dp_mixture <- function(x, data = NULL, type = types, markers = NULL, min_weight = 0.005, main = NULL,
                                  backend = NULL, threads = NULL, ..., argument = "object") {
  check_dots_empty(...)
  check_title(main)
  check_mixture_fit(x, argument)
  types <- c("pairs", "trace", "weights", "heatmap")
  if (is.character(data) && any(data %in% types)) {
    stop_input("data", "must be cells, not ", show_value(data), "; the kind of picture is `type`")
  }
  min_weight <- check_number(min_weight, "min_weight", min = 0, max = 1, open = FALSE)
  switch(check_choice(type, "type", types),
    heatmap = mean_heat(x, min_weight, main),
    pairs = pairs_picture(x, pairs_parts(x, data, markers, min_weight, backend, threads), min_weight, main),
    trace = trace_picture(trace_parts(x), main),
    weights = weights_picture(x, main)
  )
}

trace_parts <- function(fit) {
  shown <- trace_quantities(fit, warmup = TRUE)[c("log_likelihood", "occupied", "concentration", "log_density[1]")]
  table <- diagnose(fit)
  rows <- match(names(shown), table$quantity)
  sweeps <- nrow(fit$log_likelihood)
  list(draws = shown, sweeps = sweeps, warmup = min(fit$warmup, sweeps), chains = fit$chains,
    titles = c("Log likelihood", "Occupied components", "Concentration", "Log density at point 1"),
    range = lapply(shown, settled_range, min(fit$warmup, sweeps)), rhat = table$rhat[rows],
    differs = differing(judged_quantities(fit), table)[rows] %in% TRUE, axis = method_of(fit)$axis)
}

# Down to half a cell, on a logarithmic axis.
weights_picture <- function(fit, main) {
  need_draws(fit, "weights")
  k <- fit$components
  sorted <- apply(matrix(fit$draws$weights, k), 2L, sort, decreasing = TRUE)
  points <- apply(matrix(sorted, k), 1L, stats::quantile, c(0.05, 0.5, 0.95), names = FALSE)
  lowest <- 0.5 / fit$rows
  shown <- seq_len(max(1L, sum(points[2L, ] > lowest)))
  points <- log10(pmax(points[, shown, drop = FALSE], lowest))
  one <- log10(1 / fit$rows)
  xlim <- c(0.5, length(shown) + 0.5)
  ylim <- log10(c(0.9 * lowest, 1.1))
  picture(list(panel(xlim, ylim, list(
    layer("hline", y = one, colour = "#777777", dash = 2),
    layer("text", x = 0.5, y = one, label = "one cell", hjust = -0.1, vjust = -0.4, colour = quiet_text_colour),
    layer("segments", x = shown, y = points[1L, ], xend = shown, yend = points[3L, ], width = 2.5,
      colour = component_colours[[4L]]),
    layer("points", x = shown, y = points[2L, ], pch = 19, size = 0.7, colour = component_colours[[1L]])
  ), whole_axis(xlim), share_axis(ylim, 10^(ceiling(log10(lowest)):0)))), main, "Components by weight",
  "Weight: median and 90% interval")
}

mean_heat <- function(fit, min_weight, main) {
  reference <- reference_draw(fit)
  shown <- which(reference$weights >= min(min_weight, max(reference$weights)))
  means <- sweep(sweep(reference$means[shown, , drop = FALSE], 2L, fit$center), 2L, fit$scale, "/")
  order <- rev(if (length(shown) > 2L) stats::hclust(stats::dist(means), "average")$order else seq_along(shown))
  names <- paste0(shown, " (", percent(reference$weights[shown]), ")")
  heat_picture(means[order, , drop = FALSE], names[order], fit$markers, heat_limit(means),
    "Mean (marker's sd from that of all cells)", main, "Component (weight)")
}
