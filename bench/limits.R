# How near hot loops come to what the machine allows. The floor of a loop is the time of its multiply-adds, or of the
# bytes that it must read, at the rates that are measured in the same run. Writes limits.csv, with rows of a graphics
# card where there is one, and of peers/mixture_torch.py where that has written peers-torch.csv.
#   tests/measure/build.sh build/measure [--card] && cd bench && Rscript limits.R
# The rate of a card's multiply-adds is that of ordinary ones; those of tensor cores are faster. LIMITS_ROWS is the
# number of rows, 1,000,000 if it is not set, and LIMITS_COMPONENTS of components, 256.
source("common.R")
cores <- warp_info()$cores
options(warpbayes.threads = cores)
set.seed(1)
n <- as.numeric(Sys.getenv("LIMITS_ROWS", "1e6"))
k <- as.numeric(Sys.getenv("LIMITS_COMPONENTS", "256"))
all <- matrix(rnorm(n * 40), n) + rnorm(5, sd = 2)[sample(5, n, TRUE)]
sweeps <- function(fit) fit$elapsed[["sweeps"]]
# Seconds of one of `more` sweeps, without what a run does once.
each <- function(run, more) median(vapply(1:3, function(i) (run(2 + more) - run(2)) / more, 1))

mixture <- function(p, k, precision, backend) {
  x <- all[, seq_len(p)]
  run <- function(iter) {
    sweeps(dp_mixture(
      x, k, iter = iter, warmup = 0, seed = 1, backend = backend, progress = FALSE,
      control = warp_control(keep = "weights", start = rep_len(seq_len(k), n), moves = FALSE, precision = precision)
    ))
  }
  run(2)
  each(run, if (backend == "cuda") 20 else 2)
}
regression <- function(p, backend) {
  data <- data.frame(all[, seq_len(p)], y = rbinom(n, 1, 0.4))
  run <- function(iter) {
    sweeps(bayes_logit(y ~ ., data, chains = 1, iter = iter, warmup = 0, seed = 1, backend = backend, progress = FALSE))
  }
  run(2)
  each(run, if (backend == "cuda") 20 else 4)
}
categorical <- function(columns, backend) {
  weights <- matrix(runif(n * columns), n)
  median_seconds(function() rcategorical(weights, seed = 1, backend = backend), 3)
}

rows <- list()
note <- function(loop, backend, precision, limit, floor, reached) {
  rows[[length(rows) + 1L]] <<- data.frame(loop = loop, backend = backend, precision = precision, limit = limit,
    floor_ms = 1e3 * floor, reached_ms = 1e3 * reached, share = floor / reached)
  print(rows[[length(rows)]], digits = 3)
}
for (backend in c("cpu", if (warp_info()$cuda$available %in% TRUE) "cuda")) {
  reads <- tryCatch(median(replicate(3, measure_read_rate(cores, backend))), error = function(e) NA)
  for (precision in c("double", "single")) {
    speed <- rate(cores, precision, backend)
    for (p in c(14, 30, 40)) {
      # Squared distances of all components, and the products of each cell for its own.
      products <- n * (k + 1) * p * (p + 3) / 2
      note(sprintf("mixture, %s x %d x %d", count(n), p, k), backend, precision, "multiply-adds", products / speed,
        mixture(p, k, precision, backend))
    }
  }
  # The design is read for the linear predictors and for the sums; six more numbers of a row are read or written.
  note(sprintf("logistic regression, %s x 10", count(n)), backend, "double", "bytes", 8 * n * (2 * 11 + 6) / reads,
    regression(10, backend))
  # Whole calls: on a card the weights cross the bus first.
  note(sprintf("rcategorical(), %s x 40", count(n)), backend, "double", "bytes", 8 * n * 40 / reads,
    categorical(40, backend))
}
results <- do.call(rbind, rows)
results$device <- ifelse(results$backend == "cuda", warp_info()$cuda$devices$name[1], sprintf("%d threads", cores))
results$peer <- NA_character_
results$peer_ms <- NA_real_
if (file.exists("results/peers-torch.csv")) {
  torch <- read.csv("results/peers-torch.csv")
  peer <- torch$ms[match(paste(results$loop, results$precision),
    paste(sprintf("mixture, %s x %d x %d", count(torch$n), torch$p, torch$k), torch$precision))]
  results$peer_ms <- ifelse(results$backend == "cuda", peer, NA)
  results$peer[!is.na(results$peer_ms)] <- "PyTorch"
}
save_results(results, "limits")
