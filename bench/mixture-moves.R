# What moves that split, join and exchange components gain: four chains of the default mixture, with and without them.
# There are three quantities: the log likelihood, the number of occupied components, and the density at that of five
# cells where it mixes worst. For each: the mean, Rhat and effective draws of the sweeps after the warm-up, and how
# far the means of the chains are apart. The GvHD cells of mclust are always used. `folder` adds
# flowcap1-gvhd-samples-1-6.csv.gz and hipc-tcell-12828.csv.gz if they are there.
#   cd bench && Rscript mixture-moves.R [folder] [sweeps] [data sets]
source("common.R")
source("flow-data.R")
arguments <- commandArgs(TRUE)
folder <- if (length(arguments)) arguments[[1L]] else ""
sweeps <- if (length(arguments) > 1L) as.integer(arguments[[2L]]) else 2000L
wanted <- if (length(arguments) > 2L) strsplit(arguments[[3L]], ",")[[1L]]

sets <- flow_sets(folder)
if (!is.null(wanted)) sets <- sets[wanted]

rows <- list()
for (name in names(sets)) {
  for (moves in c(FALSE, TRUE)) {
    fit <- dp_mixture(
      sets[[name]], chains = 4, iter = sweeps, seed = 1, threads = 2, backend = "cpu", progress = FALSE,
      control = warp_control(keep = "weights", thin = sweeps %/% 2L, moves = moves)
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
