# How well modes found by Bayesian EM describe new cells: the mean log density of held-out cells, in nats per cell,
# and the seconds, beside a sampled fit (400 sweeps, the average over its 200 draws) and mclust. 4,000 cells are
# fitted. "from gibbs" starts from the last state of the sampled fit. The GvHD cells of mclust are always used;
# `folder` adds flowcap1-gvhd-samples-1-6.csv.gz and hipc-tcell-12828.csv.gz if they are there. mclust takes a minute
# or more for each set, and is left out for GvHD samples 4 to 6 and HIPC.
#   cd bench && Rscript mixture-bem-density.R [folder] [splits]
source("common.R")
source("flow-data.R")
arguments <- commandArgs(TRUE)
folder <- if (length(arguments)) arguments[[1L]] else ""
splits <- if (length(arguments) > 1L) as.integer(arguments[[2L]]) else 1L
suppressMessages(library(mclust))
sets <- flow_sets(folder)
sets <- sets[intersect(c("GvHD.pos", "GvHD.control", paste("GvHD sample", 1:6), "HIPC"), names(sets))]

rows <- list()
for (name in names(sets)) {
  for (split in seq_len(splits)) {
    x <- sets[[name]]
    set.seed(split)
    order <- sample(nrow(x))
    train <- x[order[1:4000], ]
    test <- x[order[4001:min(nrow(x), 8000)], ]
    sampled <- NULL
    add <- function(how, fit, steps = fit$iter) {
      density <- mean(predict(fit, test, type = "log_density", threads = 2))
      rows[[length(rows) + 1L]] <<- data.frame(
        data = name, split = split, how = how, density = density, steps = steps, seconds = sum(fit$elapsed)
      )
      fit
    }
    fit <- function(...) dp_mixture(train, seed = split, threads = 2, backend = "cpu", progress = FALSE, ...)
    sampled <- add("gibbs", fit(iter = 400))
    add("bem", fit(method = "bem"))
    add("bem, 4 starts", fit(method = "bem", chains = 4))
    add("bem, means", fit(method = "bem", control = warp_control(estimate = "mean")))
    add("bem, no sweeps", fit(method = "bem", warmup = 0))
    add("bem, from gibbs", fit(method = "bem", control = warp_control(start = sampled)))
    message(name)
    if (name %in% c(paste("GvHD sample", 4:6), "HIPC")) next
    models <- c("VVV", "VVE", "EVV")
    seconds <- elapsed(best <- densityMclust(train, G = 1:20, modelNames = models, verbose = FALSE, plot = FALSE))
    density <- mean(log(predict(best, test)))
    rows[[length(rows) + 1L]] <- data.frame(
      data = name, split = split, how = "mclust", density = density, steps = NA, seconds = seconds
    )
  }
}
save_results(do.call(rbind, rows), "mixture-bem-density")
