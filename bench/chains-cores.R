# Four chains of small data on the processor beside one: seconds of the sweeps of one chain on 1, 2, 4, ... threads, and
# of four chains on all. Four chains are four times the work. So `least` is the time that they would take if all cores
# did all of it as fast as one thread does, or the time of one chain on a quarter of the threads if that is longer.
# Writes chains-cores.csv.
#   cd bench && Rscript chains-cores.R
source("common.R")
options(warpbayes.backend = "cpu")
Sys.setenv(WARPBAYES_FIXED_THREADS = "yes")
cores <- warp_info()$cores
threads <- unique(c(2^(0:floor(log2(cores))), cores))
fits <- list(
  "logistic regression, 10 predictors" = function(n) {
    data <- data.frame(matrix(rnorm(n * 10), n))
    data$y <- rbinom(n, 1, plogis(data$X1))
    function(...) bayes_logit(y ~ ., data, ...)
  },
  "topics of documents of 80 words, 20 topics" = function(n) {
    words <- sample(3000, n * 80, TRUE, 1 / (10 + 1:3000))
    x <- Matrix::sparseMatrix(rep(seq_len(n), each = 80), words, x = 1, dims = c(n, 3000))
    function(...) topic_model(x, 20, ...)
  },
  "mixture, 4 markers, 64 components" = function(n) {
    x <- matrix(rnorm(20 * 4, sd = 4), 20)[sample.int(20, n, TRUE), ] + matrix(rnorm(n * 4), n)
    function(...) dp_mixture(x, 64, ..., control = warp_control(thin = 10))
  }
)
rows <- list()
for (n in c(1000, 3000, 10000)) for (name in names(fits)) {
  set.seed(1)
  fit <- fits[[name]](n)
  seconds <- function(sweeps, chains, threads) {
    fit(iter = sweeps, warmup = sweeps %/% 2, chains = chains, threads = threads, seed = 1,
      progress = FALSE)$elapsed[["sweeps"]]
  }
  # Sweeps that take one thread about two seconds.
  sweeps <- 20 * max(5, min(1000, ceiling(2 / (seconds(100, 1, 1) / 100) / 20)))
  one <- vapply(threads, function(k) median(replicate(2, seconds(sweeps, 1, k))), 1)
  four <- median(replicate(3, seconds(sweeps, 4, cores)))
  quarter <- one[max(which(threads <= max(1, cores / 4)))]
  best <- min(one)
  rows[[length(rows) + 1L]] <- data.frame(fit = name, n = n, sweeps = sweeps,
    as.list(stats::setNames(one, paste0("one_on_", threads))), four = four, four_to_one = four / one[length(one)],
    four_to_best = four / best, four_to_quarter = four / quarter, least = max(4 * one[[1L]] / cores, quarter),
    cores = cores)
  print(rows[[length(rows)]], digits = 3)
}
save_results(do.call(rbind, rows), "chains-cores")
