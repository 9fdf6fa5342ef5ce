# Sums of two variables, fast and direct, on the processor and on the graphics card: the time of backend = "auto" beside
# the best of the four, over a grid of lengths and shapes. Fast and direct sums differ in their last digits, and results
# are the same on every device. So the package chooses fast or direct by the weights alone, and "auto" chooses where the
# fast method runs. Writes auto-convolution.csv.
source("common.R")
rehearsal <- use_card()
set.seed(1)
shapes <- list(
  flat = function(n) rexp(n),
  normal = function(n) stats::dnorm(seq_len(n), n / 2, sqrt(n)),
  geometric = function(n) exp(-10 * seq_len(n) / n)
)
sizes <- if (rehearsal) list(c(30, 40), c(1000, 2000)) else list(
  c(100, 100), c(300, 300), c(1e3, 1e3), c(3e3, 3e3), c(1e4, 1e4), c(3e4, 3e4), c(1e5, 1e5), c(3e5, 3e5), c(1e6, 1e6),
  c(30, 1e6), c(1e3, 1e5), c(1e3, 1e6), c(1e4, 1e6)
)
rows <- list()
for (size in sizes) for (shape in names(shapes)) {
  x <- shapes[[shape]](size[[1L]])
  y <- shapes[[shape]](size[[2L]])
  x <- x / sum(x)
  y <- y / sum(y)
  run <- function(backend, accuracy) function() {
    # Many times over within a measurement, since a call takes microseconds.
    elapsed(for (i in seq_len(times)) convolve_pmf(x, y, accuracy = accuracy, backend = backend)) / times
  }
  times <- 1
  convolve_pmf(x, y, backend = "cuda")
  once <- max(elapsed(convolve_pmf(x, y, backend = "cpu")), elapsed(convolve_pmf(x, y, backend = "cuda")))
  times <- max(1, ceiling(2e-3 / once))
  calls <- list(auto = run("auto", 1e-12), fast_cpu = run("cpu", 1e-12), fast_cuda = run("cuda", 1e-12),
    direct_cuda = run("cuda", 0))
  # A direct sum of the longest vectors takes many seconds on the processor.
  if (prod(size) < 2e11) calls$direct_cpu <- run("cpu", 0)
  seconds <- medians(do.call(interleave, c(calls, times = if (once > 0.1) 3 else 7)))
  four <- c(seconds[-1L], direct_cpu = NA)[c("fast_cpu", "fast_cuda", "direct_cpu", "direct_cuda")]
  rows[[length(rows) + 1L]] <- data.frame(m = size[[1L]], n = size[[2L]], shape, t(1e3 * four),
    auto = 1e3 * seconds[["auto"]], best = names(four)[which.min(four)],
    to_best = seconds[["auto"]] / min(four, na.rm = TRUE),
    to_best_fast = seconds[["auto"]] / min(seconds[c("fast_cpu", "fast_cuda")]))
}
results <- do.call(rbind, rows)
results$device <- warp_info()$cuda$devices$name[1]
results$threads <- warp_info()$threads
save_results(results, "auto-convolution")
