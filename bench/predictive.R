# Predictive resampling on one thread: grid updates and steps per second, beside plain R (vectorised over resamples
# and points) and package copre where it is installed, all in the same run. Then the galaxy setting of Fong, Holmes &
# Walker (2023, section 5.1): 1,000 resamples of 5,000 steps at 200 points, 1e9 updates. Medians of repetitions that
# take turns; two minutes in all.
#   cd bench && Rscript predictive.R
source("common.R")
options(warpbayes.backend = "cpu", warpbayes.threads = 1)

y <- MASS::galaxies / 1000
y <- (y - mean(y)) / sqrt(mean((y - mean(y))^2))
grid <- seq(-3, 3, length.out = 200)
published <- copula_density(0.93, grid, standardize = FALSE, calibrate = FALSE)
start <- predictive_resample(y, published, horizon = 0, draws = 100, seed = 1)
# Without the points from which quantities are computed.
start$state <- lapply(start$state, function(part) if (!is.null(part)) part[seq_along(grid), , , drop = FALSE])
run <- internal$resolve_run("cpu", 1)

updates <- function(steps, start) {
  internal$native(
    internal$C_predictive_resample, start$data, start$bandwidth, start$at[c("y", "x")], start$state, 1,
    list(resample = 0, step = 0, most = 2), steps, run
  )
}
# The same updates in R: a matrix of points x resamples.
plain <- function(steps, draws) {
  u <- matrix(start$cdf0, 200, draws)
  p <- matrix(start$density0, 200, draws)
  rho <- 0.93
  s <- sqrt(1 - rho^2)
  for (i in seq_len(steps)) {
    a <- (2 - 1 / (82 + i)) / (83 + i)
    w <- qnorm(pmin(pmax(u, 1e-6), 1 - 1e-6))
    r <- (w - rep(rho * qnorm(runif(draws)), each = 200)) / s
    u <- u + a * (pnorm(r) - u)
    p <- p * (1 - a + a * exp((w^2 - r^2) / 2) / s)
  }
  u
}
chains <- function(steps, count) {
  internal$native(
    internal$C_predictive_normal, list(weight = 11, shape = 0, sd = 1), list(mean = rep(0, count), scale = NULL),
    1, 0, 0, steps, 0, run
  )
}
unknown <- function(steps, count) {
  internal$native(
    internal$C_predictive_normal, list(weight = 11, shape = 5, sd = 0),
    list(mean = rep(0, count), scale = rep(5, count)), 1, 0, 0, steps, 0, run
  )
}
plain_chains <- function(steps, count) {
  theta <- rep(0, count)
  for (i in seq_len(steps)) {
    theta <- theta + sqrt(1 + 1 / (10 + i)) / (11 + i) * rnorm(count)
  }
  theta
}
rates <- numeric()
calls <- list(
  rate = function() {
    rates <<- c(rates, rate(1))
    1
  },
  updates_avx512 = function() {
    if (warp_info()$isa_widest != "avx512") return(NA_real_)
    run$isa <<- 2L
    elapsed(updates(2000, start)) / (2000 * 200 * 100)
  },
  updates_avx2 = function() {
    if (warp_info()$isa_widest == "baseline") return(NA_real_)
    run$isa <<- 1L
    on.exit(run$isa <<- internal$resolve_run("cpu", 1)$isa)
    elapsed(updates(1000, start)) / (1000 * 200 * 100)
  },
  updates_R = function() elapsed(plain(50, 100)) / (50 * 200 * 100),
  steps = function() elapsed(chains(10000, 4096)) / (10000 * 4096),
  steps_unknown_variance = function() elapsed(unknown(1000, 4096)) / (1000 * 4096),
  steps_R = function() elapsed(plain_chains(500, 4096)) / (500 * 4096)
)
if (requireNamespace("copre", quietly = TRUE)) {
  # It updates the distribution function, without densities, by the data in an order of its own for each draw, and by
  # 918 steps.
  calls$updates_copre <- function() {
    elapsed(copre::copre(y, 918, 50, rho = 0.93, grd_res = 200, nthreads = 1)) / (1000 * 50 * 200)
  }
}
seconds <- do.call(interleave, c(calls, times = 5))
speed <- 1 / medians(seconds)[-1]
results <- data.frame(what = names(speed), per_second = unname(speed), multiply_adds_per_second = median(rates))
# An update takes about 190 vector operations.
results$operations_share <- ifelse(results$what %in% c("updates_avx512"), results$per_second * 190 / median(rates), NA)
save_results(results, "predictive")

seconds <- vapply(1:3, function(i) {
  elapsed(predictive_resample(y, published, horizon = 5000, draws = 1000, seed = i))
}, 0)
# Quantities are computed from points of their own.
updates <- 5e6 * (length(grid) + length(start$inner$y))
save_results(data.frame(
  setting = "galaxies, 1000 x 5000 x 200", seconds = median(seconds), updates_per_second = updates / median(seconds)
), "predictive-galaxies")
