# Types of a mode of Bayesian EM against manual gates, and the processor time of fit and types, with the default sweeps
# and tolerance and with more of both; then the time of a mode of a million cells of 30 markers, in 20 populations that
# overlap and have long tails. One thread. FOLDER is as for gated_sets() of flow-data.R.
#   cd bench && Rscript mixture-bem-types.R FOLDER
source("common.R")
source("flow-data.R")
source("gates.R")
sets <- gated_sets(commandArgs(TRUE)[[1]])
settings <- list("50 sweeps, 1e-3" = c(50, 1e-3), "50 sweeps, 1e-4" = c(50, 1e-4), "100 sweeps, 1e-5" = c(100, 1e-5))

rows <- list()
for (seed in 1:2) {
  for (name in names(sets)) {
    gate <- sets[[name]]$gate
    gated <- !is.na(gate)
    for (setting in names(settings)) {
      seconds <- processor_seconds({
        mode <- dp_mixture(sets[[name]]$x, method = "bem", warmup = settings[[setting]][[1]], seed = seed, threads = 1,
          backend = "cpu", progress = FALSE, control = warp_control(tolerance = settings[[setting]][[2]]))
        type <- cell_types(mode, threads = 1, backend = "cpu")$type
      })
      rows[[length(rows) + 1]] <- data.frame(data = name, seed = seed, setting = setting, cells = nrow(sets[[name]]$x),
        F = f_measure(gate[gated], type[gated]), ARI = adjusted_rand(gate[gated], type[gated]), seconds = seconds)
    }
  }
}
results <- do.call(rbind, rows)
print(aggregate(cbind(F, ARI, seconds) ~ setting + data, results, mean), digits = 3)

set.seed(1)
n <- 1e6
p <- 30
x <- matrix(rnorm(20 * p), 20)[sample(20, n, TRUE), ] + matrix(rt(n * p, 5), n)
seconds <- processor_seconds(dp_mixture(x, method = "bem", seed = 1, threads = 1, backend = "cpu", progress = FALSE))
print(seconds)
save_results(rbind(results, data.frame(data = "simulated, 30 markers", seed = 1, setting = names(settings)[[1]],
  cells = n, F = NA, ARI = NA, seconds = seconds)), "mixture-bem-types")
