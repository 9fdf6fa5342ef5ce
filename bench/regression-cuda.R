# Logistic regression on a graphics card: seconds of a sweep by rows and columns, on the card and, for the smaller
# sizes, on all cores of the processor, whose draws must be the same. Prints a table in Markdown.
source("common.R")
rehearsal <- use_card()
sizes <- if (rehearsal) data.frame(n = 300, p = 3) else data.frame(n = c(1e5, 1e6, 1e7), p = c(10, 10, 50))
header("rows", "columns", "seconds a sweep, card", "seconds before the first", "seconds a sweep, processor",
  "same draws")
for (i in seq_len(nrow(sizes))) {
  n <- sizes$n[[i]]
  p <- sizes$p[[i]]
  set.seed(1)
  x <- matrix(rnorm(n * p), n)
  y <- rbinom(n, 1, plogis(x %*% rnorm(p, 0, 0.5)))
  fit <- function(backend, sweeps) {
    bayes_logit(y ~ x, chains = 1, iter = sweeps, warmup = 1, seed = 1, backend = backend, progress = FALSE)
  }
  # The difference of two lengths leaves out the copy of the rows to the card.
  few <- fit("cuda", 5)
  many <- fit("cuda", 55)
  card <- (many$elapsed[["sweeps"]] - few$elapsed[["sweeps"]]) / 50
  compared <- n * p <= 1e7
  processor <- if (compared) fit("cpu", 5)
  line(number(n), p, number(card), number(few$elapsed[["sweeps"]] - 5 * card),
    if (compared) number(processor$elapsed[["sweeps"]] / 5) else "",
    if (compared) identical(processor$coefficient_trace, few$coefficient_trace) else "")
}
