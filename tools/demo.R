# Fits eruptions of a geyser (R's data faithful), the GvHD cells of package mclust (patient and control) and a simulated
# sample of 100,000 cells x 14 markers.
# Prints the results and the times, and draws pictures.
# Usage: Rscript tools/demo.R FOLDER-OF-THE-PICTURES

library(warpbayes)

folder <- c(commandArgs(TRUE), ".")[[1]]
started <- proc.time()[["elapsed"]]
heading <- function(...) cat("\n", strrep("-", 78), "\n", ..., "\n", strrep("-", 78), "\n", sep = "")

picture <- function(name, code) {
  file <- file.path(folder, paste0(name, ".png"))
  png(file, width = 7, height = 7, units = "in", res = 300)
  code
  dev.off()
  cat(sprintf("%-28s %4.0f kB\n", file, file.size(file) / 1000))
}

adjusted_rand <- function(a, b) {
  pairs <- function(count) sum(choose(count, 2))
  both <- pairs(table(a, b))
  expected <- pairs(table(a)) * pairs(table(b)) / choose(length(a), 2)
  (both - expected) / ((pairs(table(a)) + pairs(table(b))) / 2 - expected)
}

heading("This machine")
print(warp_info())

# A fit that converges -------------------------------------------------------

heading("Eruptions of a geyser (data of R): 272 rows, four chains")
geyser <- dp_mixture(faithful, components = 10, chains = 4, iter = 12000, seed = 1,
  control = warp_control(thin = 5))
print(summary(geyser))
print(cell_types(geyser))

# Real cells, whose sweeps move slowly ------------------------------------------

data(GvHD, package = "mclust")
samples <- list(patient = GvHD.pos, control = GvHD.control)
fits <- lapply(names(samples), function(name) {
  heading("GvHD ", name, ": Dirichlet-process mixture, four chains")
  fit <- dp_mixture(samples[[name]], components = 64, chains = 4, iter = 2000, seed = 1,
    control = warp_control(thin = 4))
  print(summary(fit))
  fit
})
names(fits) <- names(samples)

# A sample whose populations are known --------------------------------------

heading("Simulated: 100,000 cells x 14 markers, 64 populations, 128 components")
set.seed(1)
cells <- 1e5
markers <- 14
populations <- 64
centres <- matrix(rnorm(populations * markers, sd = 3), populations)
colnames(centres) <- paste0("M", seq_len(markers))
weights <- rgamma(populations, 1)
population <- sample.int(populations, cells, replace = TRUE, prob = weights)
x <- centres[population, ] + matrix(rnorm(cells * markers), cells)

components <- 128
sweeps <- 200
simulated <- dp_mixture(x, components = components, chains = 1, iter = sweeps, seed = 1,
  control = warp_control(thin = 10))
print(simulated)
class <- predict(simulated)
seconds <- simulated$elapsed[["sweeps"]]
per_pair <- seconds / sweeps / cells / components
cat(sprintf("\nPopulations with cells: %d; components with cells: %d\n",
  length(unique(population)), length(unique(class))))
cat(sprintf("Adjusted Rand index of the classes against the truth: %.4f\n", adjusted_rand(population, class)))
cat(sprintf("Time: %.2f s for %d sweeps on %s, %.2f ns per cell and component\n", seconds, sweeps,
  if (simulated$backend == "cpu") sprintf("%d CPU threads", simulated$threads) else simulated$backend, 1e9 * per_pair))
if (simulated$backend == "cpu") {
  # A sweep computes at least the quadratic form of every cell and component.
  multiply_adds <- markers * (markers + 3) / 2
  cat(sprintf("The quadratic forms alone, with %d multiply-adds each, took %.1f billion multiply-adds a second.\n",
    as.integer(multiply_adds), multiply_adds / per_pair / 1e9))
}

heading("Pictures")
for (name in names(fits)) {
  picture(paste0("gvhd-", name, "-pairs"), plot(fits[[name]], main = paste("GvHD,", name)))
}
picture("gvhd-patient-trace", plot(fits$patient, type = "trace", main = "GvHD, patient"))
picture("gvhd-patient-weights", plot(fits$patient, type = "weights", main = "GvHD, patient"))
picture("gvhd-patient-heatmap", plot(fits$patient, type = "heatmap", main = "GvHD, patient"))
picture("simulated-pairs", plot(simulated, main = "Simulated: five of 14 markers"))
picture("simulated-heatmap", plot(simulated, type = "heatmap", main = "Simulated"))
cat(sprintf("\nAll of this took %.0f s.\n", proc.time()[["elapsed"]] - started))
