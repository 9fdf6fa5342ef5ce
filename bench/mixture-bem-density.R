# How well modes found by Bayesian EM describe new cells: the mean held-out log density per cell of 4,000 cells fitted, and
# the seconds, beside a sampled fit (400 sweeps, average over its 200 draws) and mclust. "from gibbs": from the sampled fit's last state.
#
#   Rscript mixture-bem-density.R [folder] [splits]
#
# The GvHD cells of mclust are always there; `folder` adds samples 1 to 3 of flowcap1-gvhd-samples-1-6.csv.gz where it lies there.
source("common.R")
arguments <- commandArgs(TRUE)
folder <- if (length(arguments)) arguments[[1L]] else ""
splits <- if (length(arguments) > 1L) as.integer(arguments[[2L]]) else 1L
suppressMessages(library(mclust))
data(GvHD, package = "mclust")
sets <- list(GvHD.pos = as.matrix(GvHD.pos), GvHD.control = as.matrix(GvHD.control))
file <- file.path(folder, "flowcap1-gvhd-samples-1-6.csv.gz")
if (file.exists(file)) {
  cells <- read.csv(file)
  for (sample in 1:3) sets[[paste("GvHD sample", sample)]] <- as.matrix(cells[cells$sample == sample, 1:6])
}

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
      rows[[length(rows) + 1L]] <<- data.frame(data = name, split = split, how = how, density = mean(predict(fit, test, type = "log_density", threads = 2)), steps = steps, seconds = sum(fit$elapsed))
      fit
    }
    fit <- function(...) dp_mixture(train, seed = split, threads = 2, backend = "cpu", progress = FALSE, ...)
    sampled <- add("gibbs", fit(iter = 400))
    add("bem", fit(method = "bem"))
    add("bem, 4 starts", fit(method = "bem", chains = 4))
    add("bem, means", fit(method = "bem", estimate = "mean"))
    add("bem, no sweeps", fit(method = "bem", warmup = 0))
    add("bem, from gibbs", fit(method = "bem", init = sampled))
    seconds <- elapsed(best <- densityMclust(train, G = 1:20, modelNames = c("VVV", "VVE", "EVV"), verbose = FALSE, plot = FALSE))
    rows[[length(rows) + 1L]] <- data.frame(data = name, split = split, how = "mclust", density = mean(log(predict(best, test))), steps = NA, seconds = seconds)
    message(name)
  }
}
save_results(do.call(rbind, rows), "mixture-bem-density")
