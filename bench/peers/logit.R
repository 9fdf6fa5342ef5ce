# bayes_logit() on data of the law of logit_numpyro.py: seconds of four chains with the warm-up, and the least effective
# draws in a second, on the processor and on a graphics card if there is one. Adds the row of NumPyro if its script has
# run. Writes ../results/peers-logit.csv.
#   cd bench/peers && Rscript logit.R
setwd("..")
source("common.R")
arguments <- commandArgs(TRUE)
n <- if (length(arguments)) as.numeric(arguments[[1]]) else 1e5
set.seed(1)
x <- matrix(rnorm(10 * n), n)
data <- data.frame(y = rbinom(n, 1, plogis(x[, 1] - 1)), x)
rows <- lapply(c("cpu", if (warp_info()$cuda$available %in% TRUE) "cuda"), function(backend) {
  run <- function(iter) {
    bayes_logit(y ~ ., data, chains = 4, iter = iter, warmup = iter / 3, seed = 1, backend = backend, progress = FALSE)
  }
  run(30)
  seconds <- elapsed(fit <- run(1500))
  after <- fit$coefficient_trace[-seq_len(500), , , drop = FALSE]
  least <- min(apply(after, 3, function(draws) internal$bulk_size(matrix(draws, nrow(draws)))))
  data.frame(way = "bayes_logit()", device = if (backend == "cuda") warp_info()$cuda$devices$name[1] else machine(),
    n = n, seconds = seconds, least_ess = least, ess_a_second = least / seconds)
})
results <- do.call(rbind, rows)
if (file.exists("results/peers-numpyro.csv")) {
  nuts <- read.csv("results/peers-numpyro.csv")
  results <- rbind(results, data.frame(way = "NumPyro, NUTS", nuts[names(results)[-1]]))
}
save_results(results, "peers-logit")
