# Do chains agree on cell types? For four chains of public samples of flow cytometry: Rhat of the shares above 1%, the
# range of these shares between chains, and how many cells of the type the two chains that differ most have in common.
# FOLDER has flowcap1-gvhd-samples-1-6.csv.gz and hipc-tcell-12828.csv.gz. Takes ten minutes of one core. Writes
# type-chains.csv.
#   cd bench && [CORES=16] [OUT=folder] Rscript type-chains.R FOLDER [sweeps]
source("common.R")
source("flow-data.R")
arguments <- commandArgs(TRUE)
sets <- flow_sets(arguments[[1]])
sweeps <- as.integer(c(arguments[-1], "2000")[[1]])

of_set <- function(name) {
  fit <- dp_mixture(
    sets[[name]], components = 64, chains = 4, iter = sweeps, seed = 1, threads = 1, progress = FALSE,
    control = warp_control(thin = max(1, sweeps / 400))
  )
  types <- cell_types(fit, ndraws = 800, threads = 1)
  shares <- internal$shares_by_chain(types$map)
  after <- fit$log_likelihood[-seq_len(fit$warmup), ]
  table <- data.frame(set = name, cells = fit$rows, sweeps = sweeps,
    types$types[c("type", "proportion", "lower", "upper", "rhat", "ess", "apart")],
    range = vapply(shares, function(share) diff(range(colMeans(share))), 0),
    common = internal$cells_in_common(types$map),
    log_likelihood_rhat = internal$split_rhat(after), log_likelihood_range = diff(range(colMeans(after))),
    log_likelihood_sd = mean(apply(after, 2, sd)))
  table[table$proportion >= 0.01, ]
}

rows <- parallel::mclapply(names(sets), of_set, mc.cores = as.integer(Sys.getenv("CORES", "2")), mc.preschedule = FALSE)
results <- do.call(rbind, rows)
save_results(results, "type-chains")
out <- Sys.getenv("OUT")
if (nzchar(out)) file.copy("results/type-chains.csv", out, overwrite = TRUE)
