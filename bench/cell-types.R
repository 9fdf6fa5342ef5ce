# Cell types against manual gates, with the defaults of dp_mixture() and cell_types(), and the time for many cells. F is
# the mean over populations, weighted by size, of the best F over types; ARI is the adjusted Rand index. Cells without a
# gate do not count. FOLDER has flowcap1-gvhd-samples-1-6.csv.gz, hipc-tcell-12828.csv.gz, flowsom-68983.fcs and
# flowsom-68983-labels.csv.
#   cd bench && Rscript cell-types.R FOLDER [backend]
source("common.R")
source("flow-data.R")
source("gates.R")
arguments <- commandArgs(TRUE)
folder <- arguments[[1]]
backend <- c(arguments[-1], "cpu")[[1]]

sets <- gated_sets(folder)

# Each component has the gate that most of its cells have: what the fit knows, however components are joined.
majority_gate <- function(gate, class) {
  both <- table(class, gate)
  colnames(both)[max.col(both, "first")][match(class, rownames(both))]
}

rows <- list()
for (seed in 1:2) {
  for (name in names(sets)) {
    gate <- sets[[name]]$gate
    gated <- !is.na(gate)
    fit <- dp_mixture(
      sets[[name]]$x, components = 64, iter = 400, seed = seed, backend = backend, progress = FALSE,
      control = warp_control(thin = 4)
    )
    class <- predict(fit, backend = backend)
    add <- function(way, type, seconds, types, specks) {
      rows[[length(rows) + 1]] <<- data.frame(
        data = name, seed = seed, way = way, F = f_measure(gate[gated], type[gated]),
        ARI = adjusted_rand(gate[gated], type[gated]), types = types, specks = specks, seconds = seconds
      )
    }
    add("components", class, NA, length(unique(class)), NA)
    add("gate with the majority", majority_gate(gate, class), NA, NA, NA)
    for (overlap in c(0.04, 0.05, 0.06)) {
      seconds <- elapsed(types <- cell_types(fit, overlap = overlap, backend = backend))
      add(paste("overlap", overlap), types$type, seconds, sum(!types$types$speck), sum(types$types$speck))
    }
  }
}
results <- do.call(rbind, rows)
results$set <- ifelse(startsWith(results$data, "GvHD"), "GvHD, mean of 6", results$data)
means <- aggregate(cbind(F, ARI) ~ way + set, results, mean)
print(means, digits = 3)
results <- rbind(results[names(results) != "set"], data.frame(data = means$set, seed = NA, means[c("way", "F", "ARI")],
  types = NA, specks = NA, seconds = NA))
save_results(results, "cell-types")

# A million cells of ten markers, in 15 skewed populations, on one thread.
if (backend == "cpu") {
  set.seed(1)
  n <- 1e6
  population <- sample(15, n, TRUE, (15:1)^2)
  x <- matrix(rnorm(150, sd = 3), 15)[population, ] + matrix(rgamma(10 * n, 3) - 3, n)
  fit <- dp_mixture(x, components = 64, iter = 60, warmup = 40, chains = 1, seed = 1, progress = FALSE)
  seconds <- replicate(3, processor_seconds(cell_types(fit, threads = 1)))
  print(seconds)
  save_results(data.frame(cells = n, markers = 10, components = 64, draws = dim(fit$draws$weights)[[2]],
    processor_seconds = median(seconds)), "cell-types-time")
}
