# The draw of all labels on one thread as a share of the processor's rate of multiply-adds, for few and many
# components, in one build or in several side by side.
#   cd bench && Rscript mixture-processors.R [folder with an installed warpbayes] ...
#
# Each build and case has processes of its own, and the builds take turns. Sweeps are short and many. On a machine
# with other work, `best`, which is from the fastest sweep, comes nearer than `share`, which is from the median, to
# what a core does alone. Where two threads share a core, a busy neighbour can take half of its time. That hardly
# shows in the rate of multiply-adds, which is the highest that any build saw in a case: rely on figures of a quiet
# machine only.
#
# p(p+3)/2 multiply-adds count for each row and component. With few columns or components other work dominates: about
# 27 operations for a weight and its draw, and for each row what does not depend on components.
arguments <- commandArgs(TRUE)
if (length(arguments) > 0 && arguments[[1]] == "--case") {
  .libPaths(c(arguments[[2]], .libPaths()))
  source("common.R")
  backend <- "cpu"
  source("mixture-pass.R")
  p <- as.integer(arguments[[3]])
  k <- as.integer(arguments[[4]])
  n <- max(16384, ceiling(2e8 / (k * operations(p) + 25 * k + 1000)))
  set.seed(1)
  case <- prepare(n, p, k, 1, arguments[[5]])
  case$sweep()
  rates <- sweeps <- numeric()
  for (round in 1:4) {
    rates <- c(rates, rate(1, arguments[[5]]))
    sweeps <- c(sweeps, replicate(25, case$sweep()))
  }
  cat("result", n, rates, sweeps, "\n")
  quit()
}
libraries <- if (length(arguments) > 0) normalizePath(arguments) else .libPaths()[[1]]
.libPaths(c(libraries, .libPaths()))
source("common.R")

run_case <- function(library, p, k, precision) {
  arguments <- c("mixture-processors.R", "--case", library, p, k, precision)
  output <- system2(file.path(R.home("bin"), "Rscript"), arguments, stdout = TRUE)
  values <- scan(text = sub("result", "", grep("^result", output, value = TRUE)), quiet = TRUE)
  list(rows = values[[1]], rates = values[2:5], sweeps = values[-(1:5)])
}

measure_case <- function(p, k, precision) {
  runs <- lapply(rep(libraries, 2), run_case, p = p, k = k, precision = precision)
  rate <- max(sapply(runs, function(run) run$rates))
  rows <- runs[[1]]$rows
  floor <- rows * k * operations(p) / rate
  do.call(rbind, lapply(seq_along(libraries), function(i) {
    sweeps <- sapply(runs[c(i, i + length(libraries))], function(run) run$sweeps)
    data.frame(
      build = basename(libraries[[i]]), p = p, k = k, precision = precision, rows = rows, gigarate = rate / 1e9,
      ns_per_row = 1e9 * median(sweeps) / rows, share = floor / median(sweeps),
      best_ns_per_row = 1e9 * min(sweeps) / rows, best = floor / min(sweeps)
    )
  }))
}

operations <- function(p) p * (p + 3) / 2
cases <- rbind(
  expand.grid(precision = c("double", "single"), k = c(8, 16, 32, 64, 256), p = 14, stringsAsFactors = FALSE),
  expand.grid(precision = c("double", "single"), k = c(16, 256), p = c(4, 30), stringsAsFactors = FALSE)
)
results <- do.call(rbind, Map(measure_case, cases$p, cases$k, cases$precision))
save_results(results, "mixture-processors")
