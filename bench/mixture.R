# The draw of the labels of all rows with their sufficient statistics, compared with the machine's rate of
# multiply-adds measured in the same run.
#   cd bench && Rscript mixture.R [backend]
#
# Each row and component needs at least p(p+3)/2 fused multiply-adds; `share` is the time that these would take, as a
# share of the time measured. The weight and the draw take about 27 further vector operations, most of them
# multiply-adds, which `share_all` counts too.
#
# The data are one Gaussian cloud with random labels: all components overlap, so that no block of components can be
# skipped. Separated components are faster.
source("common.R")
backend <- c(commandArgs(TRUE), "cpu")[[1]]
source("mixture-pass.R")

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
