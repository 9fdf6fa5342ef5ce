# Sweeps of the mixture on a graphics card by the number of markers: seconds and multiply-adds per second, from 14
# markers to 100. Prints a table in Markdown.
#   Rscript mixture-markers-cuda.R
source("common.R")
rehearsal <- use_card()
set.seed(1)
n <- if (rehearsal) 3000 else 5e5
k <- if (rehearsal) 20 else 256
all <- matrix(rnorm(n * 100), n) + rnorm(5, sd = 2)[sample(5, n, TRUE)]
seconds <- function(x, iter, precision) {
  dp_mixture(
    x, k, iter = iter, warmup = 0, seed = 1, progress = FALSE,
    control = warp_control(keep = "weights", start = rep_len(seq_len(k), n), moves = FALSE, precision = precision)
  )$elapsed[["sweeps"]]
}
more <- if (rehearsal) 1 else 10
cat(format(n, scientific = FALSE), " cells, ", k, " components; one sweep of ", more, ".\n\n", sep = "")
header("markers", "precision", "milliseconds", "10^12 multiply-adds per second")
for (p in if (rehearsal) c(40, 49) else c(14, 24, 30, 40, 41, 48, 50, 64, 80, 100)) {
  x <- all[, seq_len(p)]
  for (precision in c("double", "single")) {
    # The first fit is not counted.
    runs <- vapply(1:3, function(i) (seconds(x, 2 + more, precision) - seconds(x, 2, precision)) / more, 1)[-1L]
    line(p, precision, number(1e3 * mean(runs)), number(n * k * p * (p + 3) / 2 / mean(runs) / 1e12))
  }
}
