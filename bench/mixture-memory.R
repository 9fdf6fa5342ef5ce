# The most memory that a fit takes beyond its data, as counted by the operating system: n = 1e6, k = 256, p = 14.
# Linux only. The count is reset once the data exist.
source("common.R")
resident <- function(which) {
  line <- grep(paste0("^", which), readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}
n <- 1e6
x <- matrix(0, n, 14)
for (j in 1:14) x[, j] <- rnorm(n)
invisible(gc())
cat("5", file = "/proc/self/clear_refs")
before <- resident("VmRSS")
fit <- dp_mixture(
  x, components = 256, iter = 3, warmup = 2, seed = 1, threads = 2, progress = FALSE,
  control = warp_control(keep = "weights")
)
peak <- resident("VmHWM") - before
save_results(
  data.frame(n = n, p = 14, k = 256, data_mb = 8 * n * 14 / 2^20, before_mb = before, peak_beyond_mb = peak),
  "mixture-memory"
)
