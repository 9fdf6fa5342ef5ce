# Polya-Gamma draws a second on a graphics card: by its kernels alone, and with the copies to R. Prints a table in
# Markdown. With WARPBAYES_TEST_PLUGIN on that plugin, with fewer draws.
library(warpbayes)
options(warpbayes.backend = "cuda")
if (nzchar(plugin <- Sys.getenv("WARPBAYES_TEST_PLUGIN"))) {
  options(warpbayes.plugin = plugin)
}
small <- nzchar(Sys.getenv("WARPBAYES_TEST_PLUGIN"))
n <- if (small) 1e4 else 2e7
run <- warpbayes:::resolve_run()
number <- function(x) format(signif(x, 3))
line <- function(...) cat("| ", paste(..., sep = " | "), " |\n", sep = "")
line("shape", "tilt", "draws per second, kernels", "with copies to R", "of its own tilt each, with copies")
line("---", "---", "---", "---", "---")
median_of <- function(call) median(vapply(1:5, function(i) call(), numeric(1)))
elapsed <- function(expression) system.time(expression)[["elapsed"]]
for (shape in c(1, 4, 4.5, 20, 200)) {
  for (tilt in c(0, 2)) {
    kernel <- function() warpbayes:::native(warpbayes:::C_polyagamma_kernel_seconds, n, shape, tilt, run)
    kernel()
    tilts <- rep(tilt, n)
    line(shape, tilt, number(n / median_of(kernel)), number(n / median_of(function() elapsed(rpolyagamma(n, shape, tilt, seed = 1)))),
      number(n / median_of(function() elapsed(rpolyagamma(n, shape, tilts, seed = 1))))
    )
  }
}
# The same numbers as the processor's.
set.seed(1)
b <- exp(rnorm(1e4))
c <- rnorm(1e4, 0, 5)
same <- identical(rpolyagamma(1e4, b, c, seed = 1), rpolyagamma(1e4, b, c, seed = 1, backend = "cpu"))
cat("\nidentical to the processor:", same, "\n")
stopifnot(same)
