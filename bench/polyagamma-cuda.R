# Polya-Gamma draws per second on a graphics card: by its kernels alone, and with the copies to R. Prints a table in
# Markdown.
#   Rscript polyagamma-cuda.R    after tests/measure/build.sh ../build/measure --card
source("common.R")
n <- if (use_card()) 1e4 else 2e7
header("shape", "tilt", "draws per second, kernels", "with copies to R", "of its own tilt each, with copies")
for (shape in c(1, 4, 4.5, 20, 200)) {
  for (tilt in c(0, 2)) {
    tilts <- rep(tilt, n)
    line(
      shape, tilt, number(n / measure_polyagamma(n, shape, tilt, times = 5)),
      number(n / median_seconds(function() rpolyagamma(n, shape, tilt, seed = 1))),
      number(n / median_seconds(function() rpolyagamma(n, shape, tilts, seed = 1)))
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
