# Direct sums on a graphics card: seconds and multiply-adds per second of large pairs, and
# of batches of small ones by each of the two kernels; the faster one is what
# src/cuda/pmf.cu must choose. Prints a table in Markdown.
library(warpbayes)
options(warpbayes.backend = "cuda")
if (nzchar(plugin <- Sys.getenv("WARPBAYES_TEST_PLUGIN"))) {
  options(warpbayes.plugin = plugin)
}
# The emulator takes a millionth of the work.
small <- nzchar(Sys.getenv("WARPBAYES_TEST_PLUGIN"))

seconds <- function(call, times = 5) {
  call()
  median(vapply(seq_len(times), function(i) system.time(call())[["elapsed"]], numeric(1)))
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
line("batches", "kernel", "seconds", "multiply-adds per second")
line("---", "---", "---", "---")
for (n in c(8, 16, 32, 64, 128, 256)) {
  rows <- if (small) 16 else ceiling(2^28 / n^2 / 8) * 8
  x <- matrix(runif(rows * n), rows)
  for (kernel in c("skew", "tiled")) {
    Sys.setenv(WARPBAYES_CONVOLVE_KERNEL = kernel)
    s <- seconds(function() convolve_pmf(x, x, accuracy = 0))
    line(paste(rows, "of", n, "x", n), kernel, number(s), number(rows * n^2 / s))
  }
  Sys.unsetenv("WARPBAYES_CONVOLVE_KERNEL")
}
