# Microseconds of a sweep of small logistic regressions on a graphics card, of all chains, by rows and chains. What a
# sweep waits for is launches and chains of additions, not memory: 1e5 rows of 10 columns are 5 us of its bandwidth.
# Prints a table in Markdown.
source("common.R")
rehearsal <- use_card()
sweeps <- if (rehearsal) 10 else 4000
header("rows", "chains", "us a sweep", "one core, us a sweep", "same draws")
for (n in if (rehearsal) 300 else c(1e3, 1e4, 1e5)) {
  set.seed(1)
  x <- matrix(rnorm(n * 10), n)
  y <- rbinom(n, 1, plogis(x %*% rnorm(10, 0, 0.5)))
  fit <- function(chains, sweeps, backend = "cuda") {
    bayes_logit(y ~ x, chains = chains, iter = sweeps, warmup = 1, seed = 1, backend = backend, progress = FALSE)
  }
  seconds <- function(fit) fit$elapsed[["sweeps"]]
  few <- fit(1, 10)
  processor <- fit(1, 10, "cpu")
  for (chains in c(1, 8)) {
    # The difference of two lengths leaves out the copy of the rows to the card. The median of three.
    us <- replicate(3, seconds(fit(chains, 1.25 * sweeps)) - seconds(fit(chains, 0.25 * sweeps))) / sweeps * 1e6
    line(number(n), chains, number(stats::median(us)), number(seconds(processor) / 10 * 1e6),
      identical(processor$coefficient_trace, few$coefficient_trace))
  }
}
