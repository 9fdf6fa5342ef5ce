# Logistic regression on a graphics card: sweeps of n rows and p columns, with the seconds of a sweep on the card and, for the
# smaller sizes, on all cores of the processor; draws are compared.
# Prints a table in Markdown. With WARPBAYES_TEST_PLUGIN on that plugin, with few rows.
#   Rscript regression-cuda.R
plugin <- Sys.getenv("WARPBAYES_TEST_PLUGIN")
if (nzchar(plugin)) {
  options(warpbayes.plugin = plugin)
}
line <- function(...) cat("| ", paste(..., sep = " | "), " |\n", sep = "")
number <- function(x) format(signif(x, 3))
sizes <- if (nzchar(plugin)) data.frame(n = 300, p = 3) else data.frame(n = c(1e5, 1e6, 1e7), p = c(10, 10, 50))
line("rows", "columns", "seconds a sweep, card", "seconds before the first", "seconds a sweep, processor", "same draws")
line("---", "---", "---", "---", "---", "---")
invisible(lapply(seq_len(nrow(sizes)), function(i) {
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
  line(number(n), p, number(card), number(few$elapsed[["sweeps"]] - 5 * card),
    if (small) number(processor$elapsed[["sweeps"]] / 5) else "", if (small) identical(processor$coefficient_trace, few$coefficient_trace) else "")
}))
