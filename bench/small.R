# What a sweep of small data costs: seconds of whole fits by number of sweeps, on one thread. The difference of two
# lengths is the cost of a sweep, what is left that of the call. Rscript small.R > results/small.md
source("common.R")
options(warpbayes.backend = "cpu", warpbayes.threads = 1)
set.seed(1)
regression <- function(n, p, formula = y ~ ., ...) {
  data <- data.frame(matrix(rnorm(n * p), n))
  data$y <- rbinom(n, 1, plogis(data$X1))
  data$g <- factor(rep_len(1:5, n))
  formula <- if (identical(formula, y ~ .)) stats::reformulate(paste0("X", seq_len(p)), "y") else formula
  function(iter) bayes_logit(formula, data, chains = 1, iter = iter, seed = 1, progress = FALSE, ...)
}
counts <- function(n, p) {
  data <- data.frame(matrix(rnorm(n * p), n))
  data$y <- rnbinom(n, mu = exp(1 + 0.3 * data$X1), size = 2)
  function(iter) bayes_logit(y ~ ., data, "negbinomial", chains = 1, iter = iter, seed = 1, progress = FALSE)
}
mixture <- function(n, p, k) {
  x <- matrix(rnorm(n * p), n) + 3 * rbinom(n, 3, 0.5)
  function(iter) dp_mixture(x, k, iter = iter, seed = 1, progress = FALSE)
}
topics <- function(n, terms, each, k) {
  x <- Matrix::sparseMatrix(rep(seq_len(n), each = each), sample(terms, n * each, TRUE), x = 1, dims = c(n, terms))
  function(iter) topic_model(x, k, iter = iter, seed = 1, progress = FALSE)
}
fits <- list(
  "regression 40 x 2" = regression(40, 2), "regression 40 x 2, (1 | g)" = regression(40, 2, y ~ X1 + X2 + (1 | g)),
  "regression 40 x 2, (X1 | g)" = regression(40, 2, y ~ X1 + X2 + (X1 | g)),
  "regression 1,000 x 5" = regression(1000, 5), "regression 1e4 x 10" = regression(1e4, 10),
  "negative binomial 40 x 2" = counts(40, 2), "negative binomial 1,000 x 5" = counts(1000, 5),
  "mixture 40 x 2 x 8" = mixture(40, 2, 8), "mixture 1,000 x 4 x 16" = mixture(1000, 4, 16),
  "mixture 9,083 x 4 x 64" = mixture(9083, 4, 64),
  "topics 40 documents, 5" = topics(40, 100, 30, 5), "topics 300 documents, 20" = topics(300, 1000, 100, 20)
)
cat("# Small data\n\n", machine(), ", ", format(Sys.Date()), ". One thread; medians of five.\n\n", sep = "")
header("fit", "microseconds a sweep", "milliseconds of the call without sweeps")
for (name in names(fits)) {
  fit <- fits[[name]]
  short <- 100
  long <- 1100
  seconds <- medians(interleave(short = function() elapsed(fit(short)), long = function() elapsed(fit(long))))
  sweep <- (seconds[["long"]] - seconds[["short"]]) / (long - short)
  line(name, number(1e6 * sweep), number(1e3 * (seconds[["short"]] - short * sweep)))
}
