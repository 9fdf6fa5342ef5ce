# Calls every entry on small inputs while R collects garbage at every tenth
# allocation: an object that an entry did not protect is gone, and overwritten.
# With the argument "once" it calls them once, for valgrind to watch; with the
# name of a file besides, it keeps the results there.
library(warpbayes)
options(warpbayes.threads = 2)

set.seed(1)
x <- cbind(a = c(rnorm(15), rnorm(15, 5)), b = rnorm(30))

results <- function() {
  fit <- dp_mixture(x, components = 3, iter = 4, warmup = 2, seed = 1)
  matched <- relabel(fit)$match
  types <- cell_types(fit)[c("types", "type", "probability", "tree")]
  fit$elapsed <- NULL
  die <- pmf(rep(1 / 6, 6), from = 1)
  l <- pmf(dpois(0:200, 3, log = TRUE), log = TRUE)
  rows <- matrix(1:12, 3)
  sums <- list(
    die + die, l - die, convolve_pmf(rows, rows), convolve_pmf(log(rows), log(rows), log = TRUE), sum_pmf(list(1:3, 4:5)),
    sum_pmf(rows), rep_sum(die, 5), rep_sum(l, 3), condition_on_sum(die, l, 9), ppmf(3, l, log.p = TRUE),
    rpmf(10, die, seed = 1), tryCatch(condition_on_sum(c(1, 0, 1), c(1, 0, 1), 1), error = conditionMessage),
    convolve_pmf(1:9000 + 0, 9000:1 + 0, threads = 2)
  )
  sparse <- if (requireNamespace("Matrix", quietly = TRUE)) methods::as(rows + 0, "CsparseMatrix") else rows
  items <- list(
    rcategorical(rows, 3, seed = 1), rcategorical(log(rows), log = TRUE, seed = 1), rcategorical(1:3, 100, seed = 1),
    rcategorical(sparse, 2, seed = 1), rcategorical(rows, 2, seed = 1, precision = "single"),
    tryCatch(rcategorical(-rows), error = conditionMessage), warpbayes:::measure_categorical(rows + 0)$index,
    warpbayes:::measure_categorical(rows + 0, way = "butterfly")$index
  )
  list(items = items, sums = sums, info = unclass(warp_info())[c("isa", "threads", "backend")], matched = matched, types = types, fit = fit)
  classes <- data.frame(y = x[, "a"] > 2, a = x[, "a"], b = x[, "b"])[1:9, ]
  resamples <- list(
    predictive_resample(x[1:5, "a"], normal_mean(), 5, 4, trajectories = 2, seed = 1), predictive_resample(x[1:5, "a"], normal_mean(NULL), 5, 4, seed = 1),
    predictive_resample(x[1:5, "a"], bayesian_bootstrap(), draws = 4, seed = 1),
    predictive_resample(x[1:5, ], copula_density(0.5, permutations = 2), 3, 2, seed = 1),
    predictive_resample(classes, copula_regression(a ~ b, at = 1:3, rho = 0.5, rho_x = 0.5, permutations = 2), 3, 2, seed = 1),
    predictive_resample(x[1:5, "a"], copula_density(points = 1:3, permutations = 2), 3, 2, seed = 1)
  )
  resamples <- lapply(resamples, function(fit) fit[setdiff(names(fit), c("elapsed", "model", "frame"))])
  list(sums = sums, resamples = resamples, info = unclass(warp_info())[c("isa", "threads", "backend")], fit = fit)
}

calm <- results()
arguments <- commandArgs(TRUE)
if ("once" %in% arguments) {
  if (length(arguments) > 1L) {
    saveRDS(calm, arguments[[2L]])
  }
  quit()
}
gctorture2(10, inhibit_release = TRUE)
tortured <- results()
invisible(gctorture(FALSE))
stopifnot(identical(calm, tortured))
cat("the same results with garbage collected all the time\n")
