# autoplot() for ggplot2: the pictures of plot() as ggplot objects. They show the same parts, which the files of plot()
# compute, and differ only in how these are drawn. The methods are registered when ggplot2 is loaded.

#' Pictures as ggplot objects
#'
#' Every picture that `plot()` draws in base graphics is also available as a ggplot object: `autoplot()` takes the same
#' arguments, shows the same numbers, and can be extended with `+`, saved with `ggsave()`, or put into a report. Package
#' ggplot2 must be loaded; it is not needed for `plot()`.
#'
#' @param object a fit or result, as `x` of the `plot()` methods: [plot.bayes_logit()], [plot.dp_mixture()],
#'   [relabel.dp_mixture()], [plot.cell_types()], [plot.type_proportions()], [plot.differential_abundance()],
#'   [plot.topic_model()], [compare_topics()], [plot.martingale_posterior()], [plot.pmf()].
#' @param type which picture.
#' @param main title, `NULL` for none.
#' @param y,log,lower.tail,xlim,ylim,xlab,ylab,col,legend for a distribution, as in [plot.pmf()]. `xlim` chooses the
#'   values that are computed.
#' @param data,min_weight,backend,threads for a mixture, as in [plot.dp_mixture()].
#' @param parameters,standardise for a regression, as in [plot.bayes_logit()].
#' @param markers,components,specks for mixtures and cell types, as in their `plot()` methods.
#' @param group,types,effect for tables of types, as in their `plot()` methods.
#' @param topics,n,by for topic models, as in [plot.topic_model()].
#' @param probs,paths for martingale posteriors, as in [plot.martingale_posterior()].
#' @param ... must be empty; for a relabelled mixture, arguments of the method for mixtures.
#' @return A ggplot object.
#' @section Differences from `plot()`:
#' Legends stand outside of the panels. A map of topics has its list of terms beside it, and a heat map of a mixture has
#' weights beside the numbers of components. Cells are an image here too, so a picture of a million cells stays small.
#' @section Errors:
#' `warpbayes_error_input` as in the `plot()` methods.
#' @examples
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'   library(ggplot2)
#'   fit <- bayes_logit(am ~ wt + hp, mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#'   autoplot(fit)
#'   autoplot(fit, "trace") + ggtitle("Two chains")
#'   die <- pmf(rep(1 / 6, 6), from = 1)
#'   autoplot(die + die, 2 * die, legend = c("two dice", "one die doubled"))
#' }
#' @name autoplot.warpbayes
NULL

# aes() of columns by name: aes_of(x = "value").
aes_of <- function(...) do.call(ggplot2::aes, lapply(list(...), as.name))

# An empty picture with our theme and labels.
gg_picture <- function(main = NULL, xlab = NULL, ylab = NULL) {
  ggplot2::ggplot() +
    ggplot2::labs(title = main, x = xlab, y = ylab) +
    gg_theme()
}

gg_theme <- function() {
  ggplot2::theme_bw(base_size = 12) +
    ggplot2::theme(
      panel.grid.minor = ggplot2::element_blank(), panel.grid = ggplot2::element_line(colour = "#EEEEEE"),
      strip.background = ggplot2::element_blank(), strip.text = ggplot2::element_text(hjust = 0, face = "bold"),
      legend.position = "bottom", legend.title = ggplot2::element_text(size = 10),
      axis.text = ggplot2::element_text(colour = "black"), plot.title.position = "plot"
    )
}

without_grid <- function() {
  ggplot2::theme(panel.grid = ggplot2::element_blank())
}

# A matrix of colours over part of one panel. `panel` is a data frame with the values of the facets.
gg_image <- function(image, xlim, ylim, panel = NULL, interpolate = FALSE) {
  ggplot2::layer(
    data = if (is.null(panel)) data.frame(x = NA) else panel, mapping = NULL, stat = ggplot2::StatIdentity,
    position = ggplot2::PositionIdentity, geom = ggplot2::GeomRasterAnn, inherit.aes = FALSE, show.legend = FALSE,
    params = list(raster = grDevices::as.raster(image), xmin = xlim[[1L]], xmax = xlim[[2L]], ymin = ylim[[1L]],
      ymax = ylim[[2L]], interpolate = interpolate)
  )
}

# Rows with a name, a point and an interval, from the first at the top. `rows` has name, estimate, lower and upper, and
# may have `group`, a factor with the `colours`, and `right`, words for the right margin.
gg_intervals <- function(rows, main, xlab, colours = chain_colours[[1L]], key = NULL, log = FALSE, limits = NULL) {
  count <- nrow(rows)
  rows$at <- -seq_len(count)
  rows$name <- short_names(as.character(rows$name), 30L)
  if (is.null(rows$group)) {
    rows$group <- factor("all")
  }
  second <- if (is.null(rows$right)) ggplot2::waiver() else {
    ggplot2::sec_axis(~., breaks = rows$at, labels = rows$right)
  }
  gg_picture(main, xlab) +
    (if (!log) ggplot2::geom_vline(xintercept = 0, colour = "#888888")) +
    ggplot2::geom_segment(aes_of(x = "lower", xend = "upper", y = "at", yend = "at", colour = "group"), rows,
      linewidth = 1.3, na.rm = TRUE) +
    ggplot2::geom_point(aes_of(x = "estimate", y = "at", fill = "group"), rows, shape = 21, size = 2.6, na.rm = TRUE) +
    ggplot2::scale_colour_manual(values = colours, name = key, drop = FALSE, aesthetics = c("colour", "fill")) +
    ggplot2::scale_y_continuous(breaks = rows$at, labels = rows$name, sec.axis = second,
      expand = ggplot2::expansion(add = 0.6)) +
    (if (log) {
      ggplot2::scale_x_log10(breaks = share_ticks, labels = percent_labels)
    } else if (!is.null(limits)) {
      ggplot2::coord_cartesian(xlim = limits)
    }) +
    ggplot2::ylab(NULL) +
    ggplot2::theme(panel.grid.major.y = ggplot2::element_blank(), axis.ticks.y = ggplot2::element_blank(),
      axis.text.y = ggplot2::element_text(size = max(6, min(11, 260 / count))),
      legend.position = if (is.null(key)) "none" else "bottom")
}

# A heat map of a matrix, its first row on top, with the key of paint_heat().
gg_heat <- function(values, rows, columns, limit, title, main) {
  cells <- data.frame(
    x = rep(seq_len(ncol(values)), each = nrow(values)), y = rep(-seq_len(nrow(values)), ncol(values)),
    value = pmin(pmax(as.vector(values), -limit), limit)
  )
  beyond <- any(abs(values) > limit, na.rm = TRUE)
  gg_picture(main) +
    ggplot2::geom_tile(aes_of(x = "x", y = "y", fill = "value"), cells, colour = "white",
      linewidth = min(0.4, 8 / nrow(values))) +
    ggplot2::scale_fill_gradientn(colours = diverging_colours(101L), limits = c(-limit, limit), na.value = "#DDDDDD",
      name = paste0(title, if (beyond) "; the ends also stand for what lies beyond")) +
    ggplot2::scale_x_continuous(breaks = seq_len(ncol(values)), labels = short_names(columns), expand = c(0, 0)) +
    ggplot2::scale_y_continuous(breaks = -seq_len(nrow(values)), labels = short_names(rows, 30L), expand = c(0, 0)) +
    ggplot2::theme(legend.position = "top", legend.key.width = ggplot2::unit(2.4, "lines"),
      legend.key.height = ggplot2::unit(0.7, "lines"), panel.border = ggplot2::element_blank(),
      axis.ticks = ggplot2::element_blank(),
      axis.text.y = ggplot2::element_text(size = max(5, min(11, 300 / nrow(values)))),
      axis.text.x = if (max(nchar(columns)) > 2L || ncol(values) > 40L) {
        ggplot2::element_text(angle = 90, hjust = 1, vjust = 0.5, size = max(6, min(11, 240 / ncol(values))))
      }
    ) +
    ggplot2::guides(fill = ggplot2::guide_colourbar(title.position = "top", title.hjust = 0.5)) +
    without_grid()
}

# Traces of several quantities, from trace_parts(). Values of the early warm-up outside the range are left out.
gg_traces <- function(parts, main) {
  titles <- vapply(seq_along(parts$draws), function(i) {
    title <- if (is.character(parts$titles[[i]])) parts$titles[[i]] else "Concentration"
    rhat <- parts$rhat[[i]]
    paste0(title, if (!is.na(rhat)) paste0("    Rhat ", format_rhat(rhat)), if (parts$differs[[i]]) " (chains differ)")
  }, "")
  panels <- factor(titles, unique(titles))
  lines <- do.call(rbind, lapply(seq_along(parts$draws), function(i) {
    range <- grDevices::extendrange(parts$range[[i]], f = 0.06)
    do.call(rbind, lapply(seq_len(parts$chains), function(chain) {
      line <- chain_line(parts$draws[[i]][, chain])
      if (!length(line$sweep)) {
        return(NULL)
      }
      value <- ifelse(line$value >= range[[1L]] & line$value <= range[[2L]], line$value, NA)
      inside <- function(bound) if (is.null(bound)) value else pmin(pmax(bound, range[[1L]]), range[[2L]])
      data.frame(panel = panels[[i]], chain = factor(chain, seq_len(parts$chains)), sweep = line$sweep, value = value,
        low = inside(line$low), high = inside(line$high))
    }))
  }))
  shade <- data.frame(panel = panels, start = -Inf, end = parts$warmup + 0.5)
  several <- parts$chains > 1
  plot <- gg_picture(main, parts$axis) +
    (if (parts$warmup > 0) {
      ggplot2::geom_rect(aes_of(xmin = "start", xmax = "end"), shade, ymin = -Inf, ymax = Inf, fill = "#EEEEEE")
    })
  if (!is.null(lines)) {
    banded <- length(lines$sweep) && any(lines$low != lines$high, na.rm = TRUE)
    plot <- plot +
      (if (banded) {
        ggplot2::geom_ribbon(aes_of(x = "sweep", ymin = "low", ymax = "high", fill = "chain"), lines, alpha = 0.2,
          show.legend = FALSE, na.rm = TRUE)
      }) +
      ggplot2::geom_line(aes_of(x = "sweep", y = "value", colour = "chain"), lines, linewidth = 0.35, na.rm = TRUE) +
      ggplot2::scale_colour_manual(values = rep_len(chain_colours, parts$chains), name = "Chain",
        aesthetics = c("colour", "fill")) +
      ggplot2::guides(colour = ggplot2::guide_legend(nrow = 1L + (parts$chains > 12), override.aes =
        list(linewidth = 1.2)))
  }
  plot + ggplot2::facet_wrap(~panel, ncol = 1L, scales = "free_y") + ggplot2::ylab(NULL) + without_grid() +
    ggplot2::labs(caption = if (parts$warmup > 0) "Shaded: the warm-up") +
    ggplot2::theme(legend.position = if (several) "bottom" else "none")
}

# Ticks of markers in the data's units, as `breaks` and `labels` of a scale. Facets with scales of their own share these
# functions, so they find the marker by its limits.
# `extra` has the ticks of a last panel that is no marker.
marker_scale <- function(fit, markers, limits, extra = NULL) {
  ticks <- Map(function(marker, ends) {
    if (type_of_marker(fit$transform, marker) != "none") {
      return(transformed_ticks(ends, fit$transform, marker)[c("at", "labels")])
    }
    at <- pretty(ends, 4)
    at <- at[at >= ends[[1L]] & at <= ends[[2L]]]
    list(at = at, labels = as.list(format(at, trim = TRUE)))
  }, markers, limits[seq_along(markers)])
  ticks <- c(ticks, if (!is.null(extra)) list(extra))
  all_at <- unlist(lapply(ticks, `[[`, "at"))
  all_labels <- unlist(lapply(ticks, `[[`, "labels"), recursive = FALSE)
  list(
    breaks = function(range) {
      off <- vapply(limits, function(ends) sum(abs(ends - range)), 0)
      ticks[[which.min(off)]]$at
    },
    labels = function(at) {
      as.expression(lapply(at, function(one) {
        if (is.na(one)) "" else all_labels[[which.min(abs(all_at - one))]]
      }))
    }
  )
}
