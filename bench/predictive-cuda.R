# Predictive resampling on a graphics card: grid updates of a copula density and steps of a normal mean per second,
# and the share of the card's multiply-adds that the operations counted for an update make. Prints tables in Markdown.
source("common.R")
rehearsal <- use_card()
run <- internal$resolve_run()
card <- rate(NULL, backend = "cuda")

# Multiplications, additions and fused multiply-adds of one update of one coordinate, a division or square root counted
# as one: 81 for the normal score, 55 for the distribution function, 24 for the exponential and 10 for the rest.
operations <- 170

set.seed(1)
y <- rnorm(100)
header("grid updates", "seconds", "updates per second", "share of multiply-adds")
for (points in if (rehearsal) 64 else c(200, 2000)) {
  draws <- if (rehearsal) 2 else 2e6 / points
  steps <- if (rehearsal) 10 else 5000
  fit <- predictive_resample(y, copula_density(0.9, seq(-4, 4, length.out = points)), 0, draws, seed = 1)
  # Without the points from which quantities are computed.
  state <- lapply(fit$state, function(part) if (!is.null(part)) part[seq_len(points), , , drop = FALSE])
  s <- median_seconds(function() {
    internal$native(internal$C_predictive_resample, fit$data, fit$bandwidth, fit$at[c("y", "x")], state, 1,
      list(resample = 0, step = 0, most = 2), steps, run)
  })
  done <- points * draws * steps
  line(sprintf("%d points, %d resamples, %d steps", points, draws, steps), number(s), number(done / s),
    number(done * operations / s / card))
}
cat("\n")
header("normal mean", "seconds", "steps per second")
for (known in c(TRUE, FALSE)) {
  chains <- if (rehearsal) 64 else 1e6
  steps <- if (rehearsal) 20 else if (known) 1e4 else 1e3
  s <- median_seconds(function() {
    internal$native(internal$C_predictive_normal, list(weight = 11, shape = 5, sd = 1),
      list(mean = rep(0, chains), scale = if (!known) rep(5, chains)), 1, 0, 0, steps, 0, run)
  })
  line(sprintf("%s variance, %d chains, %d steps", if (known) "known" else "unknown", chains, steps), number(s),
    number(chains * steps / s))
}
s <- median_seconds(function() predictive_resample(rnorm(10), normal_mean(1), 1000, 4096, seed = 1), times = 3)
line("the source's experiment, 4096 chains of 1000 steps, whole call", number(s), number(4096e3 / s))
