# What the benchmarks share: times as medians of interleaved repetitions, the
# machine's own rate measured between them, results as CSV.
library(warpbayes)

# The seconds of several functions, which are called in turn, `times` times each, so that
# a disturbance of the machine slows all of them: a matrix with one row for each.
interleave <- function(..., times = 5) {
  runs <- list(...)
  vapply(runs, function(run) run(), numeric(1)) # warm-up, not counted
  seconds <- vapply(seq_len(times), function(i) {
    vapply(runs, function(run) run(), numeric(1))
  }, numeric(length(runs)))
  matrix(seconds, length(runs), dimnames = list(names(runs), NULL))
}

medians <- function(seconds) apply(seconds, 1, median)

elapsed <- function(expression) system.time(expression)[["elapsed"]]

# Fused multiply-adds per second of this machine now.
rate <- function(threads = 1, precision = "double", backend = "cpu") {
  warpbayes:::measure_multiply_add_rate(threads, precision, backend)
}

machine <- function() {
  model <- if (file.exists("/proc/cpuinfo")) {
    sub(".*: *", "", grep("^model name", readLines("/proc/cpuinfo"), value = TRUE)[1])
  } else {
    R.version$platform
  }
  sprintf("%s, %d cores", model, parallel::detectCores())
}

# results/<name>.csv, with the machine and the date in every row.
save_results <- function(results, name) {
  dir.create("results", showWarnings = FALSE)
  results$machine <- machine()
  results$date <- format(Sys.Date())
  write.csv(results, file.path("results", paste0(name, ".csv")), row.names = FALSE)
  print(results[setdiff(names(results), c("machine", "date"))], digits = 3)
}

figure <- function(name, plot, width = 1600, height = 1100) {
  png(file.path("results", paste0(name, ".png")), width, height, res = 200)
  on.exit(dev.off())
  par(mar = c(4, 4, 2, 1), las = 1)
  plot()
}

# Tables in Markdown, as tools/gpu-test puts them into its results.
line <- function(...) cat("| ", paste(c(...), collapse = " | "), " |\n", sep = "")
header <- function(...) {
  line(...)
  line(rep("---", length(c(...))))
}
number <- function(x) format(signif(x, 3))
