# Direct sums on a graphics card: seconds and multiply-adds per second of large pairs and of batches of small ones. A
# batch is compared with the time that its numbers take on the bus, one way after the other, between page-locked
# memory and the card, at the rate measured in the same run. A copy in R, on one thread, shows what new memory for a
# result costs. The two kernels for batches are timed alone: the faster one is what src/cuda/pmf/direct_sum.cu must
# choose. Prints tables in Markdown.
#   Rscript convolution-cuda.R    after tests/measure/build.sh ../build/measure --card
source("common.R")
rehearsal <- use_card()

set.seed(1)
header("large pairs, direct, copies included", "seconds", "multiply-adds per second")
for (n in if (rehearsal) 1000 else c(1e4, 1e5, 3e5, 1e6)) {
  x <- runif(n)
  s <- median_seconds(function() convolve_pmf(x, x, accuracy = 0), times = 3)
  line(paste(n, "x", n), number(s), number(n^2 / s))
}
bus <- measure_bus_rate()
cat("\n", sprintf("Bus: %.1f GB/s to the card, %.1f GB/s from it.", bus[[1]] / 1e9, bus[[2]] / 1e9), "\n\n", sep = "")
header("batches", "ms", "ms on the bus", "times that", "ms of the first call", "ms of a copy of the result in R",
  "multiply-adds per second", "ms of the kernel, skew", "tiled")
for (n in c(8, 16, 32, 64, 128, 256)) {
  rows <- if (rehearsal) 16 else ceiling(2^28 / n^2 / 8) * 8
  x <- matrix(runif(rows * n), rows)
  y <- x + 0
  transfer <- 2 * length(x) * 8 / bus[["to_device"]] + rows * (2 * n - 1) * 8 / bus[["from_device"]]
  sum_rows <- function() convolve_pmf(x, y, accuracy = 0)
  result <- sum_rows()
  copy <- median_seconds(function() result + 0, times = 3)
  rm(result)
  internal$native(internal$C_backend_release, internal$resolve_run("cuda"))
  first <- elapsed(sum_rows())
  s <- median_seconds(sum_rows, times = 7)
  # The skew kernel holds its pairs in shared memory, which larger ones overflow.
  kernel <- function(kernel) number(1e3 * measure_convolution(rows, n, kernel, times = 7))
  line(paste(rows, "of", n, "x", n), number(1e3 * s), number(1e3 * transfer), number(s / transfer), number(1e3 * first),
    number(1e3 * copy), number(rows * n^2 / s), if (n <= 128) kernel("skew") else "", kernel("tiled"))
}
