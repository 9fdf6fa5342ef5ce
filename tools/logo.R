# Draws the logo of the package: the 32 threads of a warp as the bars of a normal density, in a hexagon.
#   Rscript tools/logo.R                  man/figures/logo.png
#   Rscript tools/logo.R FILE WIDTH       another size in pixels; below 100 pixels without the name

arguments <- commandArgs(TRUE)
file <- c(arguments, "man/figures/logo.png")[[1]]
width <- as.integer(c(arguments[-1], 240)[[1]])
height <- round(width * 2 / sqrt(3))
with_name <- width >= 100

grDevices::png(file, width = width, height = height, bg = "transparent", type = "cairo", antialias = "gray")
graphics::par(mar = rep(0, 4), xaxs = "i", yaxs = "i")
graphics::plot.new()
graphics::plot.window(c(-sqrt(3) / 2, sqrt(3) / 2), c(-1, 1), asp = 1)
angle <- pi / 6 + pi / 3 * 0:5
hexagon <- function(size, ...) graphics::polygon(size * cos(angle), size * sin(angle), border = NA, ...)
hexagon(1, col = "#0072B2")
hexagon(0.95, col = "#0B1F33")

threads <- seq(-2.6, 2.6, length.out = 32)
shade <- grDevices::colorRampPalette(c("#56B4E9", "#F0E442", "#D55E00"))(32)
bottom <- if (with_name) -0.3 else -0.45
half <- 0.28 * diff(threads[1:2]) * 0.25
graphics::rect(threads * 0.25 - half, bottom, threads * 0.25 + half, bottom + 0.04 + 0.95 * exp(-threads^2 / 2),
  col = shade, border = NA
)
if (with_name) graphics::text(0, -0.52, "warpbayes", col = "white", font = 2, family = "sans", cex = width / 115)
invisible(grDevices::dev.off())
