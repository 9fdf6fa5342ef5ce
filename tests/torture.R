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
  b <- c(0.3, 1, 4.5, 20, 200)
  polyagamma <- list(
    rpolyagamma(50, b, -2:5, seed = 1), rpolyagamma(5, 20, 1, "saddlepoint", seed = 1), dpolyagamma(0.4, b), ppolyagamma(0.4, b, 3),
    qpolyagamma(0.4, b), polyagamma_cumulant(b, 1, 3), tryCatch(rpolyagamma(1, -1), error = conditionMessage)
  )
  list(sums = sums, polyagamma = polyagamma, info = unclass(warp_info())[c("isa", "threads", "backend")], fit = fit)
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
