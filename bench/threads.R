# How much faster whole calls are with more threads, beside the machine's own multiply-adds and reads from memory. Takes
# some minutes. Run it on a quiet machine: Rscript threads.R > results/threads.md
source("common.R")
options(warpbayes.backend = "cpu")
Sys.setenv(WARPBAYES_FIXED_THREADS = "yes")
cores <- warp_info()$cores
threads <- unique(c(2^(0:floor(log2(cores))), cores))
set.seed(1)
sweeps <- function(fit) fit$elapsed[["sweeps"]]
regression <- function(n, p, iter) {
  data <- data.frame(matrix(rnorm(n * p), n))
  data$y <- rbinom(n, 1, plogis(data$X1))
  function(threads, chains = 1, seconds = sweeps) {
    seconds(bayes_logit(y ~ ., data, chains = chains, iter = iter, seed = 1, threads = threads, progress = FALSE))
  }
}
mixture <- function(n, p, k, iter) {
  x <- matrix(rnorm(n * p), n) + 3 * rbinom(n, 3, 0.5)
  function(threads, chains = 1, seconds = sweeps) {
    seconds(dp_mixture(x, k, chains = chains, iter = iter, seed = 1, threads = threads, progress = FALSE))
  }
}
topics <- function(n, terms, each, k, iter) {
  x <- Matrix::sparseMatrix(rep(seq_len(n), each = each), sample(terms, n * each, TRUE), x = 1, dims = c(n, terms))
  function(threads, chains = 1, seconds = sweeps) {
    seconds(topic_model(x, k, chains = chains, iter = iter, seed = 1, threads = threads, progress = FALSE))
  }
}
call <- function(run) function(threads) elapsed(run(threads))
weights <- matrix(rexp(65536 * 200), 65536)
y <- rnorm(100)
vector <- rexp(1e5)
calls <- list(
  "mixture 1e6 x 14 x 256" = mixture(1e6, 14, 256, 4),
  "mixture 1e5 x 10 x 64" = mixture(1e5, 10, 64, 20),
  "mixture 9,083 x 4 x 64" = mixture(9083, 4, 64, 100),
  "topics 10,000 x 500" = topics(10000, 10000, 100, 500, 6),
  "topics 10,000 x 20" = topics(10000, 10000, 100, 20, 30),
  "topics 300 x 20" = topics(300, 1000, 100, 20, 300),
  "regression 1e6 x 10" = regression(1e6, 10, 10),
  "regression 1e5 x 10" = regression(1e5, 10, 60),
  "regression 1e4 x 10" = regression(1e4, 10, 400),
  "regression 1e3 x 10" = regression(1e3, 10, 2000),
  "categorical 65,536 x 200 (reads)" = call(function(threads) rcategorical(weights, seed = 1, threads = threads)),
  "Polya-Gamma 1e7" = call(function(threads) rpolyagamma(1e7, 1, 1, seed = 1, threads = threads)),
  "density of Polya-Gamma 1e5" = call(function(threads) dpolyagamma(vector, 1, 1, threads = threads)),
  "copula, 300 resamples of 2,000 steps" = call(function(threads) {
    predictive_resample(y, copula_density(0.9, seq(-4, 4, length.out = 100)), 2000, 300, seed = 1, threads = threads,
      progress = FALSE)
  }),
  "bootstrap, 1e4 of 2e3" = call(function(threads) {
    predictive_resample(rep(y, 20), bayesian_bootstrap(), draws = 1e4, seed = 1, threads = threads)
  })
)
cat("# More threads\n\n", machine(), ", ", format(Sys.Date()), ". Seconds by threads, medians of three; the last\n",
  "column is the speed-up of all threads over one, as a share of that of the machine's multiply-adds, or of its\n",
  "reads from memory where a call is limited by them.\n\n", sep = "")
header("call", paste(threads, ifelse(threads == 1, "thread", "threads")), "all against one", "of the machine's")
machine_rates <- vapply(threads, function(k) rate(k), 1)
growth <- machine_rates[length(threads)] / machine_rates[[1L]]
line("multiply-adds, 1e9 a second", number(machine_rates / 1e9), number(growth), "100%")
read_rates <- vapply(threads, function(k) stats::median(replicate(3, measure_read_rate(k, "cpu"))), 1)
read_growth <- read_rates[length(threads)] / read_rates[[1L]]
line("reads, 1e9 bytes a second", number(read_rates / 1e9), number(read_growth), "100%")
for (name in names(calls)) {
  run <- calls[[name]]
  run(cores)
  seconds <- vapply(threads, function(k) stats::median(replicate(3, run(k))), 1)
  gain <- seconds[[1L]] / seconds[length(threads)]
  line(name, number(seconds), number(gain), percent(gain / if (endsWith(name, "(reads)")) read_growth else growth))
}

cat("\n# Several chains\n\nSeconds of a whole fit with all ", cores, " threads, medians of three, and how many\n",
  "times as long as one chain several chains take. Chains of small data run at the same time.\n\n", sep = "")
header("fit", "one chain", "four chains", "eight chains", "four to one", "eight to one")
fits <- list(
  "mixture 1,000 x 4 x 16, 2,000 sweeps" = mixture(1000, 4, 16, 2000),
  "mixture 9,083 x 4 x 64, 1,000 sweeps" = mixture(9083, 4, 64, 1000),
  "mixture 1e5 x 10 x 64, 50 sweeps" = mixture(1e5, 10, 64, 50),
  "topics 300 x 20, 1,000 sweeps" = topics(300, 1000, 100, 20, 1000),
  "topics 10,000 x 20, 100 sweeps" = topics(10000, 10000, 100, 20, 100),
  "regression 1e3 x 10, 10,000 sweeps" = regression(1e3, 10, 10000),
  "regression 1e4 x 10, 2,000 sweeps" = regression(1e4, 10, 2000)
)
for (name in names(fits)) {
  seconds <- vapply(c(1, 4, 8), function(chains) {
    stats::median(replicate(3, elapsed(fits[[name]](cores, chains, identity))))
  }, 1)
  line(name, number(seconds), number(seconds[-1L] / seconds[[1L]]))
}
