# autoplot() of mixtures, relabelled mixtures and cell types.

#' @exportS3Method ggplot2::autoplot dp_mixture
autoplot.dp_mixture <- function(object, data = NULL, type = c("pairs", "trace", "weights", "heatmap"), markers = NULL,
                                min_weight = 0.005, main = NULL, backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  gg_draw(mixture_picture(object, "object", data, type, markers, min_weight, main, backend, threads))
}

#' @exportS3Method ggplot2::autoplot relabelled_mixture
autoplot.relabelled_mixture <- function(object, type = c("components", "pairs", "trace", "weights", "heatmap"),
                                        components = 12, markers = NULL, main = NULL, ...) {
  type <- check_choice(type, "type", c("components", "pairs", "trace", "weights", "heatmap"))
  if (type != "components") return(autoplot.dp_mixture(object, type = type, markers = markers, main = main, ...))
  check_dots_empty(...)
  gg_draw(component_picture(object, components, markers, main))
}

#' @exportS3Method ggplot2::autoplot cell_types
autoplot.cell_types <- function(object, type = c("tree", "cells", "heatmap", "proportions"), markers = NULL,
                                specks = FALSE, main = NULL, ...) {
  check_dots_empty(...)
  gg_draw(type_picture(object, "object", type, markers, specks, main))
}
