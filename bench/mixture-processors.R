# The draw of all labels on one thread as a share of the processor's rate of multiply-adds, for few and
# many components, in one build or in several side by side.
# Run in bench/: Rscript mixture-processors.R [folder with an installed warpbayes] ...
#
# For machines that have other work too: times are the processor's, not the clock's, every build and case has a
# process of its own, and the processes of the builds take turns. What other programs do to caches and, where two
# threads share a core, to its units stays in the times: hence `best`, from the fastest sweep, beside `share`, from the
# median. Both are relative to the highest rate that
# was measured between the sweeps of a case.
#
# p(p+3)/2 multiply-adds count for each row and component. With few columns or components other work dominates: about 27
# operations for a weight and its draw, and for each row what does not depend on components.
arguments <- commandArgs(TRUE)
if (length(arguments) > 0 && arguments[[1]] == "--case") {
  .libPaths(c(arguments[[2]], .libPaths()))
  source("common.R")
  backend <- "cpu"
  source("mixture-pass.R")
  elapsed <- function(expression) sum(system.time(expression)[c("user.self", "sys.self")])
  p <- as.integer(arguments[[3]])
  k <- as.integer(arguments[[4]])
  n <- ceiling(2e9 / (k * operations(p) + 25 * k + 1000))
  set.seed(1)
  case <- prepare(n, p, k, 1, arguments[[5]])
  seconds <- interleave(sweep = case$sweep, rate = function() rate(1, arguments[[5]]), times = 7)
  cat("result", n, seconds["sweep", ], seconds["rate", ], "\n")
  quit()
}
libraries <- if (length(arguments) > 0) normalizePath(arguments) else .libPaths()[[1]]
.libPaths(c(libraries, .libPaths()))
source("common.R")

run_case <- function(library, p, k, precision) {
  output <- system2(file.path(R.home("bin"), "Rscript"), c("mixture-processors.R", "--case", library, p, k, precision), stdout = TRUE)
  as.numeric(strsplit(sub("^result ", "", grep("^result", output, value = TRUE)), " ")[[1]])
}

measure_case <- function(p, k, precision) {
  runs <- lapply(rep(libraries, 2), run_case, p = p, k = k, precision = precision)
  rate <- max(sapply(runs, `[`, 9:15))
  n <- runs[[1]][[1]]
  floor <- n * k * p * (p + 3) / 2 / rate
  do.call(rbind, lapply(seq_along(libraries), function(i) {
    sweeps <- sapply(runs[c(i, i + length(libraries))], `[`, 2:8)
    data.frame(
      build = basename(libraries[[i]]), p = p, k = k, precision = precision, n = n, ns_per_row = 1e9 * median(sweeps) / n,
      gigarate = rate / 1e9, share = floor / median(sweeps), best = floor / min(sweeps)
    )
  }))
}

cases <- expand.grid(precision = c("double", "single"), k = c(8, 16, 32, 64, 256), p = c(4, 14, 30), stringsAsFactors = FALSE)
results <- do.call(rbind, Map(measure_case, cases$p, cases$k, cases$precision))
save_results(results, "mixture-processors")
