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
  list(info = unclass(warp_info())[c("isa", "threads", "backend")], fit = fit)
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
