# The draw of all labels on one thread as a share of the processor's rate of multiply-adds, for few and
# many components, in one build or in several side by side.
# Run in bench/: Rscript mixture-processors.R [folder with an installed warpbayes] ...
#
# For machines that have other work too: where a core is shared by two threads, a busy neighbour takes up to half of the
# time and hardly shows in the rate of multiply-adds. Hence sweeps are short, and those count before and after which a
# loop in R took at most 8% longer than it did at best. `alone` says how many these were, of how many; if there are
# fewer than five, the figures are missing. The rate is the highest that any build saw in a case.
#
# p(p+3)/2 multiply-adds count for each row and component. With few columns or components other work dominates: about 27
# operations for a weight and its draw, and for each row what does not depend on components.
arguments <- commandArgs(TRUE)
if (length(arguments) > 0 && arguments[[1]] == "--case") {
  .libPaths(c(arguments[[2]], .libPaths()))
  source("common.R")
  backend <- "cpu"
  source("mixture-pass.R")
  elapsed <- function(expression) { # to microseconds
    start <- Sys.time()
    force(expression)
    as.numeric(Sys.time() - start, units = "secs")
  }
  p <- as.integer(arguments[[3]])
  k <- as.integer(arguments[[4]])
  n <- max(16384, ceiling(2e8 / (k * operations(p) + 25 * k + 1000)))
  set.seed(1)
  case <- prepare(n, p, k, 1, arguments[[5]])
  case$sweep()
  probe <- compiler::cmpfun(function() {
    x <- 0
    elapsed(for (i in 1:40000) x <- x + i)
  })
  begin <- Sys.time()
  probes <- probe()
  rates <- sweeps <- numeric()
  passed <- function() as.numeric(Sys.time() - begin, units = "secs")
  while (length(sweeps) < 20 || passed() < 3 || sum(probes < 1.08 * min(probes)) < 60 && passed() < 15) {
    if (length(sweeps) %% 40 == 0) rates <- c(rates, rate(1, arguments[[5]]))
    sweeps <- c(sweeps, case$sweep())
    probes <- c(probes, probe())
  }
  cat("rates", rates, "\nsweeps", sweeps, "\nprobes", probes, "\nrows", n, "\n")
  quit()
}
libraries <- if (length(arguments) > 0) normalizePath(arguments) else .libPaths()[[1]]
.libPaths(c(libraries, .libPaths()))
source("common.R")

run_case <- function(library, p, k, precision) {
  output <- system2(file.path(R.home("bin"), "Rscript"), c("mixture-processors.R", "--case", library, p, k, precision), stdout = TRUE)
  sapply(c("rates", "sweeps", "probes", "rows"), function(name) {
    scan(text = sub(name, "", grep(paste0("^", name, " "), output, value = TRUE)), quiet = TRUE)
  })
}

measure_case <- function(p, k, precision) {
  runs <- lapply(libraries, run_case, p = p, k = k, precision = precision)
  rate <- max(sapply(runs, function(run) max(run$rates)))
  fastest <- min(sapply(runs, function(run) min(run$probes)))
  do.call(rbind, lapply(seq_along(libraries), function(i) {
    run <- runs[[i]]
    quiet <- run$probes < 1.08 * fastest
    alone <- quiet[-1] & quiet[-length(quiet)]
    seconds <- if (sum(alone) >= 5) median(run$sweeps[alone]) else NA
    data.frame(
      build = basename(libraries[[i]]), p = p, k = k, precision = precision, rows = run$rows,
      alone = sum(alone), of = length(alone), gigarate = rate / 1e9,
      ns_per_row = 1e9 * seconds / run$rows, share = run$rows * k * operations(p) / rate / seconds
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
