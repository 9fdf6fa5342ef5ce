# Sweeps of small data on a graphics card beside the least time of their calls: of kernels that do nothing and of waits
# for a few numbers, for one chain and for several at the same time (card-calls.cu). Needs nvcc. Writes card-calls.csv
# and card-small.csv.
#   cd bench && Rscript card-calls.R
source("common.R")
use_card()
nvcc <- Filter(nzchar, c(Sys.which("nvcc"), Sys.glob("/usr/local/cuda*/bin/nvcc")))[[1L]]
program <- tempfile()
stopifnot(system2(nvcc, c("-O2", "-o", program, "card-calls.cu")) == 0)
calls <- utils::read.csv(text = system2(program, stdout = TRUE))
calls$device <- warp_info()$cuda$devices$name[1]
save_results(calls, "card-calls")

set.seed(1)
counts <- function(terms) t(stats::rmultinom(40, 100, 1 / (10 + seq_len(terms))))
rows <- data.frame(matrix(rnorm(600), 100), y = rbinom(100, 1, 0.4), group = gl(5, 20))
topics <- function(terms, ...) {
  x <- counts(terms)
  function(sweeps, chains) {
    topic_model(x, 20, ..., chains = chains, iter = sweeps, warmup = sweeps - 1, seed = 1, progress = FALSE)
  }
}
regression <- function(formula) {
  function(sweeps, chains) bayes_logit(formula, rows, chains = chains, iter = sweeps, seed = 1, progress = FALSE)
}
fits <- list(
  "topics, 40 documents, 30 words, alpha and beta given" = topics(30, alpha = 0.5, beta = 0.1),
  "topics, 40 documents, 30 words" = topics(30), "topics, 40 documents, 1,000 words" = topics(1000),
  "logistic regression, 100 rows" = regression(y ~ . - group),
  "logistic regression, 100 rows, 5 groups" = regression(y ~ . - group + (1 | group))
)
measured <- do.call(rbind, lapply(names(fits), function(name) {
  seconds <- function(chains) {
    run <- function(sweeps) fits[[name]](sweeps, chains)$elapsed[["sweeps"]]
    run(500)
    median(vapply(1:3, function(i) (run(2500) - run(500)) / 2000, 1))
  }
  took <- 1e6 * vapply(c(1, 4, 8), seconds, 1)
  data.frame(fit = name, one = took[[1L]], four = took[[2L]], eight = took[[3L]])
}))
measured$threads <- warp_info()$threads
measured$device <- warp_info()$cuda$devices$name[1]
save_results(measured, "card-small")
