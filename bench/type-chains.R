# Do chains agree on cell types, and do the intervals hold where they do not? Four chains of public samples of flow
# cytometry: Rhat of the shares above 1%, the range of these shares between chains, and how many cells of the type the
# two chains that differ most have in common. Then the same of four chains with another seed and four times as many
# sweeps: `long_proportion` and `long_rhat` are of the type with the best F, and `covered` says whether the interval
# contains this proportion. FOLDER has flowcap1-gvhd-samples-1-6.csv.gz and hipc-tcell-12828.csv.gz. Takes half an hour
# of one core. Writes type-chains.csv.
#   cd bench && [CORES=16] [OUT=folder] Rscript type-chains.R FOLDER [sweeps]
source("common.R")
source("flow-data.R")
arguments <- commandArgs(TRUE)
sets <- flow_sets(arguments[[1]])
sweeps <- as.integer(c(arguments[-1], "2000")[[1]])

types_of <- function(name, sweeps, seed) {
  fit <- dp_mixture(sets[[name]], components = 64, chains = 4, iter = sweeps, thin = sweeps %/% 400, seed = seed,
    threads = 1, progress = FALSE)
  types <- cell_types(fit, ndraws = 800, threads = 1)
  shares <- internal$shares_by_chain(types$map)
  after <- fit$log_likelihood[-seq_len(fit$warmup), ]
  table <- data.frame(set = name, cells = fit$rows, sweeps = sweeps,
    types$types[c("type", "proportion", "lower", "upper", "rhat", "ess", "apart")],
    range = vapply(shares, function(share) diff(range(colMeans(share))), 0),
    common = internal$cells_in_common(types$map),
    log_likelihood_rhat = internal$split_rhat(after), log_likelihood_range = diff(range(colMeans(after))),
    log_likelihood_sd = mean(apply(after, 2, sd)))
  list(table = table, type = as.integer(types$type))
}

runs <- expand.grid(name = names(sets), long = c(TRUE, FALSE), stringsAsFactors = FALSE)
found <- parallel::mclapply(seq_len(nrow(runs)), function(i) {
  long <- runs$long[[i]]
  types_of(runs$name[[i]], if (long) 4L * sweeps else sweeps, if (long) 2 else 1)
}, mc.cores = as.integer(Sys.getenv("CORES", "2")), mc.preschedule = FALSE)

results <- do.call(rbind, lapply(names(sets), function(name) {
  own <- found[runs$name == name]
  long <- own[[1]]$table
  short <- own[[2]]$table
  both <- table(factor(own[[2]]$type, seq_len(nrow(short))), factor(own[[1]]$type, seq_len(nrow(long))))
  f <- 2 * both / outer(rowSums(both), colSums(both), "+")
  f[is.na(f)] <- 0
  match <- max.col(f, "first")
  short$f <- f[cbind(seq_len(nrow(f)), match)]
  short$long_proportion <- long$proportion[match]
  short$long_rhat <- long$rhat[match]
  short$covered <- short$long_proportion >= short$lower & short$long_proportion <= short$upper
  short[short$proportion >= 0.01, ]
}))
save_results(results, "type-chains")
out <- Sys.getenv("OUT")
if (nzchar(out)) file.copy("results/type-chains.csv", out, overwrite = TRUE)
print(colMeans(results["covered"]))
