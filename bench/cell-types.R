# Cell types against manual gates, with the defaults of dp_mixture() and cell_types(). F is the mean over populations,
# weighted by size, of the best F over types; ARI is the adjusted Rand index. Cells without a gate do not count.
# FOLDER has flowcap1-gvhd-samples-1-6.csv.gz, hipc-tcell-12828.csv.gz, flowsom-68983.fcs and
# flowsom-68983-labels.csv.
#   cd bench && Rscript cell-types.R FOLDER [backend]
source("common.R")
source("flow-data.R")
arguments <- commandArgs(TRUE)
folder <- arguments[[1]]
backend <- c(arguments[-1], "cpu")[[1]]

f_measure <- function(gate, type) {
  both <- table(gate, type)
  precision <- t(t(both) / colSums(both))
  recall <- both / rowSums(both)
  f <- ifelse(both > 0, 2 * precision * recall / (precision + recall), 0)
  sum(apply(f, 1, max) * rowSums(both)) / sum(both)
}

adjusted_rand <- function(gate, type) {
  both <- table(gate, type)
  pairs <- function(n) sum(choose(n, 2))
  expected <- pairs(rowSums(both)) * pairs(colSums(both)) / choose(sum(both), 2)
  (pairs(both) - expected) / ((pairs(rowSums(both)) + pairs(colSums(both))) / 2 - expected)
}

gvhd <- read.csv(file.path(folder, "flowcap1-gvhd-samples-1-6.csv.gz"))
hipc <- read.csv(file.path(folder, "hipc-tcell-12828.csv.gz"))
gates <- tail(gsub("\"", "", readLines(file.path(folder, "flowsom-68983-labels.csv"))), 19225)
sets <- lapply(split(gvhd, gvhd$sample), function(cells) {
  list(x = as.matrix(cells[1:6]), gate = ifelse(cells$label == 0, NA, cells$label))
})
names(sets) <- paste("GvHD sample", names(sets))
sets$HIPC <- list(x = as.matrix(hipc[1:6]), gate = hipc$label)
# The channels that its authors use, as asinh(x / 150).
sets$FlowSOM <- list(x = asinh(read_fcs(file.path(folder, "flowsom-68983.fcs"))[, c(9, 12, 14:18)] / 150),
  gate = ifelse(gates == "Unlabeled", NA, gates))

rows <- list()
for (name in names(sets)) {
  gate <- sets[[name]]$gate
  gated <- !is.na(gate)
  fit <- dp_mixture(sets[[name]]$x,
    components = 64, iter = 400, thin = 4, seed = 1, backend = backend, progress = FALSE
  )
  class <- predict(fit, backend = backend)
  add <- function(way, type, seconds, types, specks) {
    rows[[length(rows) + 1]] <<- data.frame(
      data = name, way = way, F = f_measure(gate[gated], type[gated]), ARI = adjusted_rand(gate[gated], type[gated]),
      types = types, specks = specks, seconds = seconds
    )
  }
  add("components", class, NA, length(unique(class)), NA)
  for (overlap in c(0.18, 0.2, 0.22)) {
    seconds <- elapsed(types <- cell_types(fit, overlap = overlap, backend = backend))
    add(paste("overlap", overlap), types$type, seconds, nrow(types$types), sum(types$types$speck))
  }
  joined <- cell_types(fit, specks = "join", backend = backend)
  add("specks joined", joined$type, NA, nrow(joined$types), sum(joined$types$speck))
}
results <- do.call(rbind, rows)
samples <- results[startsWith(results$data, "GvHD"), ]
mean_of <- aggregate(cbind(F, ARI, types) ~ way, samples, mean)
results <- rbind(
  results, data.frame(data = "GvHD mean of 6", mean_of[c("way", "F", "ARI", "types")], specks = NA, seconds = NA)
)
results$prior <- "default"
save_results(results, "cell-types")
