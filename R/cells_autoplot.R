# autoplot() draws the pictures of plot().

# What plot() and autoplot() draw. `argument`: what the user calls `x`, for errors.
picture_of <- function(x, ...) UseMethod("picture_of")

#' @exportS3Method ggplot2::autoplot dp_mixture
#' @exportS3Method ggplot2::autoplot relabelled_mixture
#' @exportS3Method ggplot2::autoplot cell_types
#' @exportS3Method ggplot2::autoplot type_proportions
#' @exportS3Method ggplot2::autoplot differential_abundance
#' @exportS3Method ggplot2::autoplot differential_state
autoplot.dp_mixture <- function(object, ...) {
  inner <- intersect(c("x", "argument"), ...names())
  if (length(inner)) refuse_dots(inner, environment())
  gg_draw(picture_of(object, ...))
}

autoplot.relabelled_mixture <- autoplot.cell_types <- autoplot.type_proportions <- autoplot.dp_mixture
autoplot.differential_abundance <- autoplot.differential_state <- autoplot.dp_mixture
