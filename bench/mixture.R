# The mixture's allocation pass (draws of the components of all rows, and their
# sufficient statistics) against the machine's multiply-add rate measured in the
# same run. Run in bench/: Rscript mixture.R [backend]
#
# Floor: p(p+3)/2 fused multiply-adds for each (row, component). The weight and
# its draw take about 27 further vector operations, most of them multiply-adds:
# `share` counts the former alone, `share_all` both.
#
# The data are one Gaussian cloud allocated at random: all components overlap, so
# that no block of components can be passed over. Separated components are faster.
source("common.R")
backend <- c(commandArgs(TRUE), "cpu")[[1]]
internal <- asNamespace("warpbayes")

# A session with a state in which every component holds rows; `sweep()` returns the
# seconds of one allocation pass.
prepare <- function(n, p, k, threads = 1, precision = "double") {
  x <- matrix(rnorm(n * p), n)
  run <- internal$resolve_run(backend, threads)
  prior <- internal$compiled_prior(internal$resolve_prior(dp_prior(), numeric(p), rep(1, p), paste0("m", seq_len(p))))
  key <- .Call(internal$C_mixture_key, 1, 1L)
  session <- internal$native(internal$C_mixture_open, x, numeric(p), rep(1, p), as.integer(precision == "single"), run)
  statistics <- internal$native(internal$C_mixture_start, x, numeric(p), rep(1, p), prior, as.integer(k), key, sample.int(k, n, TRUE))
  draw <- internal$native(internal$C_mixture_draw, prior, statistics, 1, p, key, 1, FALSE)
  moments <- internal$native(internal$C_mixture_moments, draw$mean, draw$factor, numeric(p), rep(1, p), TRUE)
  list(
    sweep = function() elapsed(internal$native(
      internal$C_mixture_sweep, session, prior, statistics, 1, key, 1, 1L, FALSE, FALSE, matrix(0, p, 1)
    )),
    parameters = function() elapsed(internal$native(internal$C_mixture_draw, prior, statistics, 1, p, key, 1, FALSE)),
    close = function() .Call(internal$C_mixture_close, session)
  )
}

operations <- function(p) p * (p + 3) / 2

# One case: median seconds of a sweep, and its shares of the rate measured alongside.
measure <- function(n, p, k, threads = 1, precision = "double", times = 5) {
  case <- prepare(n, p, k, threads, precision)
  on.exit(case$close())
  rates <- numeric()
  seconds <- medians(interleave(
    sweep = case$sweep,
    parameters = case$parameters,
    rate = function() {
      rates <<- c(rates, rate(threads, precision, backend))
      0
    },
    times = times
  ))
  cells <- n * k
  data.frame(
    n = n, p = p, k = k, threads = threads, precision = precision, seconds = seconds[["sweep"]],
    ns_per_cell = 1e9 * seconds[["sweep"]] / cells, gigarate = median(rates) / 1e9,
    share = cells * operations(p) / median(rates) / seconds[["sweep"]],
    share_all = cells * (operations(p) + 27) / median(rates) / seconds[["sweep"]],
    parameters = seconds[["parameters"]] / seconds[["sweep"]]
  )
}

set.seed(1)
headline <- rbind(
  measure(1e6, 14, 256),
  measure(1e6, 14, 256, precision = "single"),
  measure(1e6, 14, 256, threads = 2),
  measure(1e6, 14, 256, threads = 2, precision = "single")
)
save_results(headline, paste0("mixture-headline-", backend))

markers <- do.call(rbind, lapply(1:40, function(p) measure(5e4, p, 128, times = 3)))
save_results(markers, paste0("mixture-markers-", backend))
figure(paste0("mixture-markers-", backend), function() {
  floor <- (operations(markers$p) + 27) / markers$gigarate
  matplot(markers$p, cbind(markers$ns_per_cell, floor, 1.7 * floor),
    type = "l", lty = c(1, 2, 3), lwd = 2, col = c("#0072B2", "#D55E00", "grey40"),
    xlab = "markers p", ylab = "ns per cell and component", bty = "l"
  )
  legend("topleft", c("measured", "floor: (p(p+3)/2 + 27) / multiply-add rate", "1.7 times the floor"),
    lty = 1:3, lwd = 2, col = c("#0072B2", "#D55E00", "grey40"), bty = "n"
  )
})

rows <- do.call(rbind, lapply(c(1e4, 3e4, 1e5, 3e5, 1e6), measure, p = 14, k = 64, times = 3))
components <- do.call(rbind, lapply(c(8, 16, 32, 64, 128, 256, 512), function(k) measure(5e4, 14, k, times = 3)))
save_results(rbind(rows, components), paste0("mixture-scaling-", backend))
figure(paste0("mixture-scaling-", backend), function() {
  par(mfrow = c(1, 2))
  line <- function(x, seconds, label) {
    plot(x, 1e3 * seconds, log = "xy", pch = 19, col = "#0072B2", xlab = label, ylab = "ms per sweep", bty = "l")
    slope <- exp(mean(log(seconds / x)))
    lines(x, 1e3 * slope * x, lty = 2, col = "#D55E00", lwd = 2)
    legend("topleft", "proportional", lty = 2, lwd = 2, col = "#D55E00", bty = "n")
  }
  line(rows$n, rows$seconds, "cells (64 components)")
  line(components$k, components$seconds, "components (50,000 cells)")
}, height = 800)
