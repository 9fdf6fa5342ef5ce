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
  d <- data.frame(x = x[, 1], g = rep(1:3, 10), y = rep(0:1, 15), n = rep(0:4, 6), m = factor(rep(1:3, each = 10)))
  regress <- function(formula, ...) {
    fit <- bayes_logit(formula, d, ..., chains = 1, iter = 3, warmup = 1, seed = 1, progress = FALSE)
    unclass(fit)[c("coefficient_trace", "log_likelihood", "dispersion_trace", "draws", "state")]
  }
  regressions <- list(
    regress(y ~ x + (1 | g)), regress(n ~ x, family = "negbinomial"), regress(m ~ x, family = "multinomial", prior = logit_prior("horseshoe")),
    polyagamma_step(cbind(1, x), d$y, numeric(3), seed = 1)
  )
  die <- pmf(rep(1 / 6, 6), from = 1)
  l <- pmf(dpois(0:200, 3, log = TRUE), log = TRUE)
  rows <- matrix(1:12, 3)
  sums <- list(
    die + die, l - die, convolve_pmf(rows, rows), convolve_pmf(log(rows), log(rows), log = TRUE), sum_pmf(list(1:3, 4:5)),
    sum_pmf(rows), rep_sum(die, 5), rep_sum(l, 3), condition_on_sum(die, l, 9), ppmf(3, l, log.p = TRUE),
    rpmf(10, die, seed = 1), tryCatch(condition_on_sum(c(1, 0, 1), c(1, 0, 1), 1), error = conditionMessage),
    convolve_pmf(1:9000 + 0, 9000:1 + 0, threads = 2)
  )
  list(sums = sums, regressions = regressions, info = unclass(warp_info())[c("isa", "threads", "backend")], fit = fit)
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
