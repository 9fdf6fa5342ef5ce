# The log density of held-out cells, in nats per cell and in the data's own units, on several splits of each data set:
# with the default prior, with everything in the prior fixed, and by package mclust, which takes the better of the
# models VVV and VEV by BIC, up to 15 components. The GvHD cells of mclust are always used. `folder` adds
# flowcap1-gvhd-samples-1-6.csv.gz, hipc-tcell-12828.csv.gz and flowsom-68983.fcs if they are there. "floored" is
# GvHD.pos with the lower 40% of two markers raised to one value, and jitter of width one.
#   cd bench && Rscript mixture-density.R [folder] [splits] [iter] [data sets]
source("common.R")
source("flow-data.R")
library(mclust)
arguments <- commandArgs(TRUE)
folder <- if (length(arguments)) arguments[[1L]] else ""
splits <- if (length(arguments) > 1L) as.integer(arguments[[2L]]) else 4L
iter <- if (length(arguments) > 2L) as.integer(arguments[[3L]]) else 400L
wanted <- if (length(arguments) > 3L) strsplit(arguments[[4L]], ",")[[1L]]
most <- 3000L # cells to fit, and cells held out

read_sets <- function() {
  sets <- flow_sets(folder)
  set.seed(7)
  floored <- sets$GvHD.pos
  for (marker in 2:3) {
    bottom <- stats::quantile(floored[, marker], 0.4, names = FALSE)
    low <- floored[, marker] <= bottom
    floored[low, marker] <- bottom + stats::runif(sum(low), -0.5, 0.5)
  }
  sets <- append(sets, list(floored = floored), 2)
  file <- file.path(folder, "flowsom-68983.fcs")
  if (file.exists(file)) {
    cells <- read_fcs(file)
    sets$FlowSOM <- asinh(cells[, attr(cells, "stained")] / 150)
  }
  sets
}

held_out <- function(prior) {
  function(train, test, seed) {
    fit <- dp_mixture(train,
      components = 64, prior = prior, iter = iter, seed = seed, backend = "cpu", threads = 2, progress = FALSE
    )
    density <- mean(predict(fit, test, type = "log_density", ndraws = 50, threads = 2))
    list(density = density, components = stats::median(fit$occupied[-seq_len(fit$warmup), ]))
  }
}

models <- list(
  default = held_out(dp_prior()),
  fixed = held_out(dp_prior(df = 50, floor = 0, learn = character())),
  mclust = function(train, test, seed) {
    fit <- Mclust(train, G = 1:15, modelNames = c("VVV", "VEV"), verbose = FALSE)
    density <- dens(test, modelName = fit$modelName, parameters = fit$parameters, logarithm = TRUE)
    list(density = mean(density), components = fit$G)
  }
)

sets <- read_sets()
if (!is.null(wanted)) sets <- sets[wanted]
results <- list()
for (split in seq_len(splits)) {
  for (name in names(sets)) {
    set.seed(split)
    x <- sets[[name]]
    chosen <- sample.int(nrow(x), min(nrow(x), 2L * most))
    train <- seq_len(length(chosen) %/% 2L)
    for (model in names(models)) {
      seconds <- elapsed(one <- models[[model]](x[chosen[train], ], x[chosen[-train], ], split))
      results[[length(results) + 1L]] <- data.frame(
        data = name, cells = length(train), markers = ncol(x), split = split, model = model,
        log_density = one$density, components = one$components, seconds = round(seconds, 1)
      )
      message(name, ", split ", split, ", ", model, ": ", format(one$density, digits = 5))
    }
  }
}
results <- do.call(rbind, results)
save_results(results, "mixture-density")
cat("\nMeans over splits, less mclust's:\n")
mean_density <- tapply(results$log_density, results[c("data", "model")], mean)
print(round(mean_density - mean_density[, "mclust"], 3))
