# Functions that the benchmarks share. They time calls as medians of repetitions that take turns, measure the rates of
# the machine, and write results as CSV files or as tables in Markdown. Every script of this folder runs in this folder.
library(warpbayes)
# Calls that name no chains time one.
options(warpbayes.chains = 1)
if (!nzchar(Sys.getenv("WARPBAYES_MEASURE"))) Sys.setenv(WARPBAYES_MEASURE = "../build/measure")
source("../tests/measure/measure.R")
internal <- asNamespace("warpbayes")

# Seconds of wall-clock time.
elapsed <- function(expression) {
  gc(FALSE)
  start <- Sys.time()
  force(expression)
  as.double(Sys.time() - start, units = "secs")
}

# Seconds of processor time of all threads. Other work on the machine matters less than for elapsed().
processor_seconds <- function(expression) sum(system.time(expression)[c("user.self", "sys.self")])

# The seconds that several functions return: a matrix with one row for each function and `times` columns. The functions
# are called in turn, so that a disturbance of the machine slows all of them. The first call of each is not counted.
interleave <- function(..., times = 5) {
  runs <- list(...)
  vapply(runs, function(run) run(), numeric(1))
  seconds <- vapply(seq_len(times), function(i) {
    vapply(runs, function(run) run(), numeric(1))
  }, numeric(length(runs)))
  matrix(seconds, length(runs), dimnames = list(names(runs), NULL))
}

medians <- function(seconds) apply(seconds, 1, median)

# The median of the seconds of `times` calls of one function, after a first call that is not counted.
median_seconds <- function(call, times = 5) {
  medians(interleave(call = function() elapsed(call()), times = times))[["call"]]
}

# The vector instruction sets of this processor, the widest first, as values of options(warpbayes.isa).
set_names <- c(avx512 = "AVX-512", avx2 = "AVX2", neon = "NEON")
instruction_sets <- function() {
  old <- options(warpbayes.isa = NULL)
  on.exit(options(old))
  Filter(function(set) {
    options(warpbayes.isa = set)
    tryCatch(warp_info()$isa == set, error = function(e) FALSE)
  }, names(set_names))
}

# Fused multiply-adds per second of this machine now.
rate <- function(threads = 1, precision = "double", backend = "cpu") {
  measure_multiply_add_rate(threads, precision, backend)
}

# Makes everything run on the graphics card. If WARPBAYES_TEST_PLUGIN names the emulator's plugin, everything runs on
# the emulator instead. The result is then TRUE, and scripts choose small sizes.
use_card <- function() {
  plugin <- Sys.getenv("WARPBAYES_TEST_PLUGIN")
  options(warpbayes.backend = "cuda")
  if (nzchar(plugin)) options(warpbayes.plugin = plugin)
  nzchar(plugin)
}

machine <- function() {
  model <- if (file.exists("/proc/cpuinfo")) {
    sub(".*: *", "", grep("^model name", readLines("/proc/cpuinfo"), value = TRUE)[1])
  } else {
    R.version$platform
  }
  sprintf("%s, %d cores", model, warp_info()$cores)
}

# Writes results/<name>.csv, with the machine and the date in every row.
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

# Tables in Markdown, which tools/gpu-test puts into its results.
line <- function(...) cat("| ", paste(c(...), collapse = " | "), " |\n", sep = "")
header <- function(...) {
  line(...)
  line(rep("---", length(c(...))))
}
number <- function(x) format(signif(x, 3))
count <- function(x) format(x, big.mark = ",", scientific = FALSE)
percent <- function(share) sprintf("%.0f%%", 100 * share)
