# The mixture on a graphics card: a sweep against the multiply-add rate of the card measured in the same run, a
# hundred sweeps with the data already there, and the device memory beyond the data. Prints tables in Markdown.
source("common.R")
backend <- "cuda"
source("mixture-pass.R")
rehearsal <- use_card()

set.seed(1)
cat("One sweep, the mean of 20 in one call: draws and statistics of n cells, p markers, k components.\n\n")
header("n", "p", "k", "precision", "seconds", "ps per cell and component", "10^12 multiply-adds per second of the card",
  "share of it")
sizes <- list(c(5e6, 14, 256), c(1e6, 14, 256), c(1e6, 14, 64), c(1e6, 30, 256))
for (size in if (rehearsal) list(c(3000, 5, 40)) else sizes) {
  for (precision in c("double", "single")) {
    m <- measure(size[[1]], size[[2]], size[[3]], precision = precision, times = if (rehearsal) 1 else 5,
      sweeps = if (rehearsal) 2 else 20)
    line(m$n, m$p, m$k, precision, number(m$seconds), number(1e3 * m$ns_per_cell), number(m$gigarate / 1e3),
      percent(m$share))
  }
}

size <- if (rehearsal) c(3000, 5, 40) else c(5e6, 14, 256)
free <- function() {
  run <- internal$resolve_run(backend)
  internal$native(internal$C_backend_devices, run$pointer)$memory_free[[run$device + 1L]]
}
cat("\nAfter the data have been sent, n = ", size[[1]], ", p = ", size[[2]], ", k = ", size[[3]], ":\n\n", sep = "")
header("precision", "sending, seconds", "100 sweeps, seconds", "device memory, MB", "of it beyond the data",
  "one sweep on the CPU, seconds")
for (precision in c("double", "single")) {
  before <- free()
  case <- prepare(size[[1]], size[[2]], size[[3]], precision = precision)
  case$sweep()
  taken <- before - free()
  sweeps <- if (rehearsal) 2 else 100
  seconds <- sum(vapply(seq_len(sweeps), function(i) case$sweep(), numeric(1))) * 100 / sweeps
  case$close()
  data <- size[[1]] * size[[2]] * if (precision == "double") 8 else 4
  backend <- "cpu"
  cpu <- prepare(size[[1]], size[[2]], size[[3]], threads = NULL, precision = precision)
  cpu_seconds <- cpu$sweep()
  cpu$close()
  backend <- "cuda"
  line(
    precision, number(case$opening), number(seconds), number(taken / 1e6), sprintf("%.1f%%", 100 * (taken / data - 1)),
    sprintf("%s (%d threads)", number(cpu_seconds), cpu$threads)
  )
}
