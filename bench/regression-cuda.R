# Logistic regression on a graphics card: sweeps of n rows and p columns, with the seconds of a sweep on the card and, for the
# smaller sizes, on all cores of the processor; draws are compared.
#   Rscript regression-cuda.R
source("common.R")
sizes <- data.frame(n = c(1e5, 1e6, 1e7, 1e7), p = c(10, 10, 10, 50))
rows <- lapply(seq_len(nrow(sizes)), function(i) {
  n <- sizes$n[[i]]
  p <- sizes$p[[i]]
  set.seed(1)
  x <- matrix(rnorm(n * p), n)
  y <- rbinom(n, 1, plogis(x %*% rnorm(p, 0, 0.5)))
  fit <- function(backend, sweeps) {
    warpbayes::bayes_logit(y ~ x, chains = 1, iter = sweeps, warmup = 1, seed = 1, backend = backend, progress = FALSE)
  }
  # The difference of two lengths leaves out the copy of the rows to the card.
  few <- fit("cuda", 5)
  many <- fit("cuda", 55)
  card <- (many$elapsed[["sweeps"]] - few$elapsed[["sweeps"]]) / 50
  small <- n * p <= 1e7
  processor <- if (small) fit("cpu", 5)
  data.frame(rows = n, columns = p, card_seconds_a_sweep = card, card_start_seconds = few$elapsed[["sweeps"]] - 5 * card,
    processor_seconds_a_sweep = if (small) processor$elapsed[["sweeps"]] / 5 else NA,
    same_draws = if (small) identical(processor$coefficient_trace, few$coefficient_trace) else NA)
})
save_results(do.call(rbind, rows), "regression-cuda")
