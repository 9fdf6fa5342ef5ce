# Predictive resampling on a graphics card: grid updates of a copula density and steps of
# a normal mean a second, and the share of the card's multiply-adds that the counted floor
# of an update makes. Prints a table in Markdown.
library(warpbayes)
options(warpbayes.backend = "cuda")
if (nzchar(plugin <- Sys.getenv("WARPBAYES_TEST_PLUGIN"))) {
  options(warpbayes.plugin = plugin)
}
# The emulator takes a thousandth of the work.
small <- nzchar(Sys.getenv("WARPBAYES_TEST_PLUGIN"))
run <- warpbayes:::resolve_run()
rate <- warpbayes:::measure_multiply_add_rate()

seconds <- function(call, times = 5) {
  call()
  median(vapply(seq_len(times), function(i) system.time(call())[["elapsed"]], numeric(1)))
}
line <- function(...) cat("| ", paste(..., sep = " | "), " |\n", sep = "")
number <- function(x) format(signif(x, 3))

# Multiplications, additions and fused multiply-adds of one update of one coordinate, a
# division or square root counted as one: 81 for the normal score, 55 for the
# distribution function, 24 for the exponential and 10 for the rest.
operations <- 170

set.seed(1)
y <- rnorm(100)
line("grid updates", "seconds", "updates per second", "share of multiply-adds")
line("---", "---", "---", "---")
for (points in if (small) 64 else c(200, 2000)) {
  draws <- if (small) 2 else 2e6 / points
  steps <- if (small) 10 else 5000
  fit <- predictive_resample(y, copula_density(0.9, seq(-4, 4, length.out = points)), 0, draws, seed = 1)
  s <- seconds(function() {
    warpbayes:::native(warpbayes:::C_predictive_resample, fit$data, fit$bandwidth, fit$at[c("y", "x")], fit$state, 1,
      list(resample = 0, step = 0), steps, run)
  })
  done <- points * draws * steps
  line(sprintf("%d points, %d resamples, %d steps", points, draws, steps), number(s), number(done / s), number(done * operations / s / rate))
}
cat("\n")
line("normal mean", "seconds", "steps per second")
line("---", "---", "---")
for (known in c(TRUE, FALSE)) {
  count <- if (small) 64 else 1e6
  steps <- if (small) 20 else if (known) 1e4 else 1e3
  s <- seconds(function() {
    warpbayes:::native(warpbayes:::C_predictive_normal, list(weight = 11, shape = 5, sd = 1),
      list(mean = rep(0, count), scale = if (!known) rep(5, count)), 1, 0, 0, steps, 0, run)
  })
  line(sprintf("%s variance, %d chains, %d steps", if (known) "known" else "unknown", count, steps), number(s), number(count * steps / s))
}
s <- seconds(function() predictive_resample(rnorm(10), normal_mean(), 1000, 4096, seed = 1), times = 3)
line("the source's experiment, 4096 chains of 1000 steps, whole call", number(s), number(4096e3 / s))
