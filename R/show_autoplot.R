# autoplot() for ggplot2: the pictures of R/show_picture.R as ggplot objects.

#' Pictures as ggplot objects
#'
#' `autoplot()` draws every picture of `plot()` with ggplot2, from the same arguments. Load package ggplot2 first.
#'
#' @param object a fit or result that has a `plot()` method, such as [plot.dp_mixture()] or [plot.cell_types()].
#' @param type which picture.
#' @param main title, `NULL` for none.
#' @param y,log,lower.tail,xlim,ylim,xlab,ylab,col,legend for a distribution, as in [plot.pmf()].
#' @param topics,n,by for topic models, as in [plot.topic_model()].
#' @param ... further arguments of the `plot()` method.
#' @return A ggplot object.
#' @examples
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'   library(ggplot2)
#'   fit <- bayes_logit(am ~ wt + hp, mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#'   autoplot(fit, "trace") + ggtitle("Two chains")
#' }
#' @name autoplot.warpbayes
#' @aliases autoplot.bayes_logit autoplot.martingale_posterior autoplot.dp_mixture autoplot.relabelled_mixture
#'   autoplot.cell_types autoplot.type_proportions autoplot.differential_abundance autoplot.differential_state
NULL

# `columns`: names of aesthetics that columns of the data have too.
aes_of <- function(columns, ...) {
  do.call(ggplot2::aes, lapply(c(stats::setNames(nm = strsplit(columns, " ")[[1L]]), ...), as.name))
}

gg_picture <- function(main, xlab, ylab) {
  ggplot2::ggplot() +
    ggplot2::labs(title = main, x = xlab, y = ylab) +
    ggplot2::theme_bw(base_size = 12) +
    ggplot2::theme(panel.grid.minor = ggplot2::element_blank(), panel.grid = ggplot2::element_line(colour = "#EEEEEE"),
      strip.background = ggplot2::element_blank(), strip.text = ggplot2::element_text(hjust = 0, face = "bold"),
      legend.position = "bottom", legend.title = ggplot2::element_text(size = 10),
      axis.text = ggplot2::element_text(colour = "black"), plot.title.position = "plot")
}

gg_heat <- function(values, rows, columns, limit, title, main, ylab) {
  cells <- data.frame(x = rep(seq_len(ncol(values)), each = nrow(values)),
    y = rep(-seq_len(nrow(values)), ncol(values)), value = pmin(pmax(as.vector(values), -limit), limit))
  beyond <- any(abs(values) > limit, na.rm = TRUE)
  gg_picture(main, NULL, ylab) +
    ggplot2::geom_tile(aes_of("x y", fill = "value"), cells, colour = "white",
      linewidth = min(0.4, 8 / nrow(values))) +
    ggplot2::scale_fill_gradientn(colours = diverging_colours(101L), limits = c(-limit, limit), na.value = "#DDDDDD",
      name = paste0(title, if (beyond) "; the ends also stand for what lies beyond")) +
    ggplot2::scale_x_continuous(breaks = seq_len(ncol(values)), labels = short_names(columns), expand = c(0, 0)) +
    ggplot2::scale_y_continuous(breaks = -seq_len(nrow(values)), labels = short_names(rows, 30L), expand = c(0, 0)) +
    ggplot2::theme(legend.position = "top", legend.key.width = ggplot2::unit(2.4, "lines"),
      legend.key.height = ggplot2::unit(0.7, "lines"), panel.border = ggplot2::element_blank(),
      panel.grid = ggplot2::element_blank(), axis.ticks = ggplot2::element_blank(),
      axis.text.y = ggplot2::element_text(size = max(5, min(11, 300 / nrow(values)))),
      axis.text.x = if (max(nchar(columns)) > 2L || ncol(values) > 40L) {
        ggplot2::element_text(angle = 90, hjust = 1, vjust = 0.5, size = max(6, min(11, 240 / ncol(values))))
      }
    ) +
    ggplot2::guides(fill = ggplot2::guide_colourbar(title.position = "top", title.hjust = 0.5))
}

gg_draw <- function(picture) {
  if (!is.null(picture$heat)) return(do.call(gg_heat, picture$heat, quote = TRUE))
  panels <- picture$panels
  shown <- which(!vapply(panels, is.null, NA))
  places <- lapply(shown, function(i) {
    if (is.null(picture$names)) return(data.frame(panel = factor(i, shown)))
    data.frame(row = factor(picture$names[[panels[[i]]$row]], picture$names),
      column = factor(picture$names[[panels[[i]]$column]], picture$names))
  })
  panels <- panels[shown]
  # Scales find the axis of a panel by its limits, and a label by its tick. So all are moved by billionths.
  apart <- function(i, values, limits) values + i * 1e-9 * diff(panels[[i]][[limits]])
  scale <- function(which, limits, continuous, second = ggplot2::waiver()) {
    ends <- lapply(seq_along(panels), function(i) apart(i, panels[[i]][[limits]], limits))
    at <- lapply(seq_along(panels), function(i) apart(i, panels[[i]][[which]]$at, limits))
    labels <- unlist(lapply(panels, function(one) one[[which]]$labels), recursive = FALSE)
    continuous(
      expand = c(0, 0), sec.axis = second, guide = ggplot2::guide_axis(check.overlap = which == "x"),
      breaks = function(range) sort(at[[which.min(vapply(ends, function(one) sum(abs(one - range)), 0))]]),
      labels = function(here) {
        own <- lapply(here, function(one) if (is.na(one)) "" else labels[[which.min(abs(unlist(at) - one))]])
        if (is.character(labels)) unlist(own) else as.expression(own)
      }
    )
  }
  corners <- do.call(rbind, lapply(seq_along(panels), function(i) {
    data.frame(places[[i]], x = apart(i, panels[[i]]$xlim, "xlim"), y = apart(i, panels[[i]]$ylim, "ylim"),
      row.names = NULL)
  }))
  layers <- unlist(lapply(seq_along(panels), function(i) lapply(seq_along(panels[[i]]$layers), function(j) {
    one <- panels[[i]]$layers[[j]]
    one$data <- cbind(places[[i]], one$data, row.names = NULL)
    one$data$group <- paste(i, j, one$data$group)
    one$place <- places[[i]]
    one
  })), recursive = FALSE)
  # Images are below all else.
  layers <- layers[order(vapply(layers, function(one) is.null(one$image), NA))]
  style <- vapply(layers, function(one) paste(c(one$shape, unlist(one$style), one$data$group[!is.null(one$image)]),
    collapse = " "), "")
  right <- panels[[1L]]$right
  names <- length(panels[[1L]]$y$at) * isTRUE(panels[[1L]]$y$names) * ceiling(length(panels) / picture$columns)
  titles <- vapply(panels, function(one) if (is.null(one$title)) "" else one$title, "")
  gg_picture(picture$main, picture$xlab, picture$ylab) +
    lapply(split(layers, factor(style, unique(style))), function(same) {
      gg_layer(same[[1L]], do.call(rbind, lapply(same, `[[`, "data")))
    }) +
    scale("x", "xlim", ggplot2::scale_x_continuous) +
    scale("y", "ylim", ggplot2::scale_y_continuous, if (is.null(right)) ggplot2::waiver() else {
      ggplot2::sec_axis(~., breaks = right$at, labels = right$labels)
    }) +
    ggplot2::geom_blank(aes_of("x y"), corners) +
    ggplot2::scale_fill_identity() +
    gg_key(picture$key, corners[1L, ]) +
    (if (!is.null(picture$names)) {
      list(ggplot2::facet_grid(row ~ column, scales = "free"), ggplot2::theme(panel.grid = ggplot2::element_blank(),
        panel.spacing = ggplot2::unit(0.3, "lines"), axis.text = ggplot2::element_text(size = 8),
        strip.text = ggplot2::element_text(hjust = 0.5)))
    } else if (length(panels) > 1L || nzchar(titles)) {
      free <- c("free", "free_y", "free_x")[[1L + picture$one_x + 2L * picture$one_y]]
      ggplot2::facet_wrap(~panel, ncol = picture$columns, scales = free,
        labeller = ggplot2::as_labeller(stats::setNames(titles, shown)))
    }) +
    (if (!is.null(picture$aspect)) ggplot2::coord_fixed(picture$aspect)) +
    ggplot2::labs(caption = picture$caption) +
    (if (length(panels) < length(picture$panels)) {
      list(ggplot2::theme(panel.border = ggplot2::element_blank()), ggplot2::geom_rect(data = do.call(rbind, places),
        xmin = -Inf, xmax = Inf, ymin = -Inf, ymax = Inf, fill = NA, colour = quiet_text_colour))
    } else if (is.null(panels[[1L]]$x) && is.null(panels[[1L]]$y)) {
      ggplot2::theme(panel.border = ggplot2::element_blank())
    }) +
    (if (names) {
      ggplot2::theme(panel.grid.major.y = ggplot2::element_blank(), axis.ticks.y = ggplot2::element_blank(),
        axis.text.y = ggplot2::element_text(size = max(4, min(11, 260 / names))))
    })
}

# A legend, whose colours are drawn, invisibly, at one corner.
gg_key <- function(key, corner) {
  if (is.null(key)) return(ggplot2::scale_colour_identity())
  rows <- data.frame(corner[rep(1L, length(key$text)), ], colour = key$colours, row.names = NULL)
  list(ggplot2::geom_point(aes_of("x y colour"), rows, alpha = 0, show.legend = TRUE),
    ggplot2::scale_colour_identity(limits = unique(key$colours), labels = key$text, name = key$title,
      guide = ggplot2::guide_legend(title.position = "top", nrow = key_rows(key), byrow = TRUE,
        override.aes = list(alpha = 1, shape = 15, size = 4))))
}

gg_layer <- function(layer, data) {
  style <- layer$style
  draw <- function(geom, columns, params = list(linewidth = 0.45 * style$width, linetype = style$dash), ...) {
    ggplot2::layer(data = data, mapping = aes_of(columns, ...), stat = "identity", position = "identity", geom = geom,
      show.legend = FALSE, params = c(list(na.rm = TRUE), params))
  }
  switch(layer$shape,
    points = draw("point", "x y fill colour", list(shape = style$pch, size = 2.2 * style$size)),
    segments = draw("segment", "x y xend yend colour"),
    hline = draw("hline", "colour", yintercept = "y"),
    vline = draw("vline", "colour", xintercept = "x"),
    lines = draw("path", "x y group colour"),
    ribbon = draw("ribbon", "x ymin ymax group fill", NULL),
    polygons = draw("polygon", "x y group fill colour"),
    rects = draw("rect", "xmin ymin xmax ymax fill colour", list(linewidth = 0.2)),
    text = draw("text", "x y label hjust vjust colour",
      list(size = 3 * style$size, fontface = if (style$bold) "bold" else "plain")),
    rug = draw("rug", "x", list(sides = if (style$side == 1L) "b" else "t", alpha = 0.6)),
    image = ggplot2::layer(data = layer$place, mapping = NULL, stat = ggplot2::StatIdentity,
      position = ggplot2::PositionIdentity, geom = ggplot2::GeomRasterAnn, inherit.aes = FALSE, show.legend = FALSE,
      params = c(list(raster = grDevices::as.raster(layer$image), interpolate = FALSE),
        data[c("xmin", "xmax", "ymin", "ymax")])),
    regions = ggplot2::geom_contour_filled(do.call(ggplot2::aes, list(x = quote(x), y = quote(y), z = quote(z),
      fill = quote(ggplot2::after_stat(region_colours[as.integer(level)])))), data, breaks = c(-region_mass, 0),
      show.legend = FALSE)
  )
}
