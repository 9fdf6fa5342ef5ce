# Sums of many pairs on a graphics card: milliseconds of whole calls, beside the bus (one way after the other, at the
# rate of this run) and beside what the host takes for new memory of the result. That is the time in which all threads
# of the processor write as many numbers, each multiplied by 1, to a new matrix. Writes card-pairs.csv.
#   cd bench && Rscript card-pairs.R
source("common.R")
use_card()
set.seed(1)
bus <- measure_bus_rate()
results <- do.call(rbind, lapply(c(8, 16, 32, 64, 128, 256), function(n) {
  rows <- ceiling(2^28 / n^2 / 8) * 8
  x <- matrix(runif(rows * n), rows)
  y <- x + 0
  one <- matrix(1, rows, 1)
  wide <- matrix(runif(rows * (2 * n - 1)), rows)
  data.frame(pairs = rows, length = n,
    ms = 1e3 * median_seconds(function() convolve_pmf(x, y, accuracy = 0), 9),
    bus_ms = 1e3 * (2 * length(x) * 8 / bus[["to_device"]] + length(wide) * 8 / bus[["from_device"]]),
    memory_ms = 1e3 * median_seconds(function() convolve_pmf(wide, one, accuracy = 0, backend = "cpu"), 9),
    processor_ms = 1e3 * median_seconds(function() convolve_pmf(x, y, accuracy = 0, backend = "cpu"), 9))
}))
results$times_bus <- results$ms / results$bus_ms
results$times_floor <- results$ms / pmax(results$bus_ms, results$memory_ms)
results$threads <- warp_info()$threads
results$device <- warp_info()$cuda$devices$name[1]
save_results(results, "card-pairs")
