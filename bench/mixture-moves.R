# What is gained by exchanging labels: effective draws per second of the concentration
# and of the number of occupied components, on the GvHD cells of mclust, with and
# without. Four chains of 4,000 sweeps each.
source("common.R")
data(GvHD, package = "mclust")
samples <- list(patient = GvHD.pos, control = GvHD.control)
rows <- list()
for (name in names(samples)) {
  for (moves in c(FALSE, TRUE)) {
    fit <- dp_mixture(samples[[name]],
      components = 32, chains = 4, iter = 4000, keep = "weights", thin = 100,
      moves = moves, seed = 1, threads = 1, backend = "cpu", progress = FALSE
    )
    after <- -seq_len(fit$warmup)
    seconds <- fit$elapsed[["sweeps"]] / 2
    for (quantity in c("concentration_trace", "occupied", "log_likelihood")) {
      values <- fit[[quantity]][after, ]
      rows[[length(rows) + 1]] <- data.frame(
        sample = name, moves = moves, quantity = quantity, mean = mean(values),
        rhat = posterior::rhat(values), ess = posterior::ess_bulk(values),
        ess_per_second = posterior::ess_bulk(values) / seconds, ms_per_sweep = 1e3 * fit$elapsed[["sweeps"]] / 16000
      )
    }
  }
}
save_results(do.call(rbind, rows), "mixture-moves")
