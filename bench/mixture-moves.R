# What is gained by moves that split, join and exchange components: four chains of the default
# mixture, with and without. For the log likelihood, the number of occupied components and the density at
# five cells (the worst of them): the mean, Rhat and effective draws of the sweeps after the warm-up,
# and how far the chains' means of the log likelihood are apart.
#
#   Rscript mixture-moves.R [folder] [sweeps] [data sets]
#
# The GvHD cells of mclust are always there. `folder` adds flowcap1-gvhd-samples-1-6.csv.gz and
# hipc-tcell-12828.csv.gz where they lie there.
source("common.R")
arguments <- commandArgs(TRUE)
folder <- if (length(arguments)) arguments[[1L]] else ""
sweeps <- if (length(arguments) > 1L) as.integer(arguments[[2L]]) else 2000L
wanted <- if (length(arguments) > 2L) strsplit(arguments[[3L]], ",")[[1L]]

data(GvHD, package = "mclust")
sets <- list(GvHD.pos = as.matrix(GvHD.pos), GvHD.control = as.matrix(GvHD.control))
file <- function(name) file.path(folder, name)
if (file.exists(file("flowcap1-gvhd-samples-1-6.csv.gz"))) {
  cells <- read.csv(file("flowcap1-gvhd-samples-1-6.csv.gz"))
  for (sample in 1:6) sets[[paste("GvHD sample", sample)]] <- as.matrix(cells[cells$sample == sample, 1:6])
}
if (file.exists(file("hipc-tcell-12828.csv.gz"))) {
  sets$HIPC <- as.matrix(read.csv(file("hipc-tcell-12828.csv.gz"))[, 1:6])
}
if (!is.null(wanted)) sets <- sets[wanted]

rows <- list()
for (name in names(sets)) {
  for (moves in c(FALSE, TRUE)) {
    fit <- dp_mixture(sets[[name]],
      chains = 4, iter = sweeps, keep = "weights", thin = sweeps %/% 2L, moves = moves, seed = 1, threads = 2, backend = "cpu", progress = FALSE
    )
    after <- -seq_len(fit$warmup)
    points <- lapply(1:5, function(point) fit$probe_density[after, , point])
    worst <- points[[which.max(vapply(points, posterior::rhat, 0))]]
    quantities <- list(log_likelihood = fit$log_likelihood[after, ], occupied = fit$occupied[after, ], density = worst)
    for (quantity in names(quantities)) {
      values <- quantities[[quantity]]
      rows[[length(rows) + 1L]] <- data.frame(
        data = name, cells = nrow(sets[[name]]), moves = moves, quantity = quantity, mean = mean(values),
        chains_apart = diff(range(colMeans(values))), rhat = posterior::rhat(values), ess = posterior::ess_bulk(values),
        seconds = round(fit$elapsed[["sweeps"]], 1), sweeps = sweeps
      )
    }
    message(name, if (moves) ", with moves" else ", without", ": ", fit$elapsed[["sweeps"]], " s")
  }
}
save_results(do.call(rbind, rows), "mixture-moves")
