# Held-out log density per cell of the default prior, of the prior with everything fixed,
# and of package mclust (the better of the models VVV and VEV by BIC, up to 15 components),
# on several splits of each data set. Nats per cell, in the data's own units.
#
#   Rscript mixture-density.R [folder] [splits] [iter] [data sets]
#
# The GvHD cells of mclust are always used. `folder` adds flowcap1-gvhd-samples-1-6.csv.gz,
# hipc-tcell-12828.csv.gz and flowsom-68983.fcs where they lie there. "floored" is GvHD.pos
# with the lower 40% of two markers raised to one value, and jitter of width one.
source("common.R")
library(mclust)
arguments <- commandArgs(TRUE)
folder <- if (length(arguments)) arguments[[1L]] else ""
splits <- if (length(arguments) > 1L) as.integer(arguments[[2L]]) else 4L
iter <- if (length(arguments) > 2L) as.integer(arguments[[3L]]) else 400L
wanted <- if (length(arguments) > 3L) strsplit(arguments[[4L]], ",")[[1L]]
most <- 3000L # cells to fit, and cells held out

# The fluorescences of an FCS 3.0 file of big-endian floats, compensated, arcsinh(x / 150).
read_fcs <- function(file) {
  raw <- readBin(file, "raw", file.size(file))
  offset <- function(at) as.integer(rawToChar(raw[at + 1:8]))
  text <- rawToChar(raw[(offset(10) + 1L):(offset(18) + 1L)])
  fields <- strsplit(substring(text, 2L), substr(text, 1L, 1L), fixed = TRUE)[[1L]]
  value <- stats::setNames(fields[c(FALSE, TRUE)], fields[c(TRUE, FALSE)])
  columns <- as.integer(value[["$PAR"]])
  cells <- as.integer(value[["$TOT"]])
  numbers <- readBin(raw[-seq_len(offset(26))], "numeric", columns * cells, size = 4L, endian = "big")
  x <- matrix(numbers, cells, columns, byrow = TRUE, dimnames = list(NULL, value[sprintf("$P%dN", seq_len(columns))]))
  spill <- strsplit(value[["SPILL"]], ",")[[1L]]
  channels <- spill[1L + seq_len(as.integer(spill[[1L]]))]
  mixing <- matrix(as.numeric(spill[-seq_len(1L + length(channels))]), length(channels), byrow = TRUE)
  asinh(x[, channels] %*% solve(mixing) / 150)
}

read_sets <- function() {
  data(GvHD, package = "mclust", envir = environment())
  sets <- list(GvHD.pos = as.matrix(GvHD.pos), GvHD.control = as.matrix(GvHD.control))
  set.seed(7)
  floored <- sets$GvHD.pos
  for (marker in 2:3) {
    bottom <- stats::quantile(floored[, marker], 0.4, names = FALSE)
    low <- floored[, marker] <= bottom
    floored[low, marker] <- bottom + stats::runif(sum(low), -0.5, 0.5)
  }
  sets$floored <- floored
  file <- function(name) file.path(folder, name)
  if (file.exists(file("flowcap1-gvhd-samples-1-6.csv.gz"))) {
    cells <- read.csv(file("flowcap1-gvhd-samples-1-6.csv.gz"))
    for (sample in 1:6) {
      sets[[paste("GvHD sample", sample)]] <- as.matrix(cells[cells$sample == sample, 1:6])
    }
  }
  if (file.exists(file("hipc-tcell-12828.csv.gz"))) {
    sets$HIPC <- as.matrix(read.csv(file("hipc-tcell-12828.csv.gz"))[, 1:6])
  }
  if (file.exists(file("flowsom-68983.fcs"))) {
    sets$FlowSOM <- read_fcs(file("flowsom-68983.fcs"))
  }
  sets
}

held_out <- function(prior) {
  function(train, test, seed) {
    fit <- dp_mixture(train, components = 64, prior = prior, iter = iter, seed = seed, backend = "cpu", threads = 2, progress = FALSE)
    list(density = mean(predict(fit, test, type = "log_density", draws = 50, threads = 2)), components = stats::median(fit$occupied[-seq_len(fit$warmup), ]))
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
if (!is.null(wanted)) {
  sets <- sets[wanted]
}
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
