# Direct sums on a graphics card: seconds and multiply-adds per second of large pairs, and
# of batches of small ones by each of the two kernels; the faster one is what
# src/cuda/pmf/direct_sum.cu must choose. Batches are compared with the time that their numbers take on the bus,
# one way after the other, between page-locked memory and the card, at the rate measured in the same
# run; a copy in R, on one thread, shows what new memory for a result costs. Prints tables in Markdown.
library(warpbayes)
options(warpbayes.backend = "cuda")
if (nzchar(plugin <- Sys.getenv("WARPBAYES_TEST_PLUGIN"))) {
  options(warpbayes.plugin = plugin)
}
# The emulator takes a millionth of the work.
small <- nzchar(Sys.getenv("WARPBAYES_TEST_PLUGIN"))

clock <- function(call) {
  gc(FALSE)
  start <- Sys.time()
  call()
  as.double(Sys.time() - start, units = "secs")
}
seconds <- function(call, times = 5) {
  call()
  median(vapply(seq_len(times), function(i) clock(call), numeric(1)))
}
line <- function(...) cat("| ", paste(..., sep = " | "), " |\n", sep = "")
number <- function(x) format(signif(x, 3))

set.seed(1)
line("large pairs, direct, copies included", "seconds", "multiply-adds per second")
line("---", "---", "---")
for (n in if (small) 1000 else c(1e4, 1e5, 3e5, 1e6)) {
  x <- runif(n)
  s <- seconds(function() convolve_pmf(x, x, accuracy = 0), times = 3)
  line(paste(n, "x", n), number(s), number(n^2 / s))
}
cat("\n")
internal <- asNamespace("warpbayes")
bus <- internal$measure_bus_rate("cuda")
cat(sprintf("Bus: %.1f GB/s to the card, %.1f GB/s from it.\n\n", bus[["to_device"]] / 1e9, bus[["from_device"]] / 1e9))
line("batches", "kernel", "ms", "ms on the bus", "times that", "ms of the first call", "ms of a copy of the result in R", "multiply-adds per second")
line(paste(rep("---", 8), collapse = " | "))
for (n in c(8, 16, 32, 64, 128, 256)) {
  rows <- if (small) 16 else ceiling(2^28 / n^2 / 8) * 8
  x <- matrix(runif(rows * n), rows)
  y <- x + 0
  transfer <- 2 * length(x) * 8 / bus[["to_device"]] + rows * (2 * n - 1) * 8 / bus[["from_device"]]
  result <- convolve_pmf(x, y, accuracy = 0)
  copy <- seconds(function() result + 0, times = 3)
  rm(result)
  for (kernel in c("skew", "tiled")) {
    Sys.setenv(WARPBAYES_CONVOLVE_KERNEL = kernel)
    internal$native(internal$C_backend_release, internal$resolve_run("cuda"))
    first <- clock(function() convolve_pmf(x, y, accuracy = 0))
    s <- seconds(function() convolve_pmf(x, y, accuracy = 0), times = 7)
    line(paste(rows, "of", n, "x", n), kernel, number(1e3 * s), number(1e3 * transfer), number(s / transfer), number(1e3 * first),
      number(1e3 * copy), number(rows * n^2 / s))
  }
  Sys.unsetenv("WARPBAYES_CONVOLVE_KERNEL")
}
