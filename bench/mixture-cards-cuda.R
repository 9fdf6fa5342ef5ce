# A sweep of the mixture on one, two, four, ... graphics cards that share the cells: 2e7 cells, 14 markers, 256
# components; the slope over 20 sweeps, so that sending the cells does not count. Prints a table in
# Markdown; tools/gpu-test runs it. With the emulator named in WARPBAYES_TEST_PLUGIN, at sizes for a rehearsal.
suppressMessages(library(warpbayes))
options(warpbayes.backend = "cuda")
if (nzchar(plugin <- Sys.getenv("WARPBAYES_TEST_PLUGIN"))) options(warpbayes.plugin = plugin)
rehearsal <- nzchar(plugin)
cards <- warp_info()$cuda$devices$device
n <- if (rehearsal) 6000 else 2e7
p <- if (rehearsal) 3 else 14
k <- if (rehearsal) 5 else 256

set.seed(1)
# Cells that overlap: every component's density is needed. Random numbers are used again: that many take minutes.
x <- matrix(rep_len(rnorm(1e6 + 7), n * p), n)
x <- x + rep_len(rnorm(997, sd = 2), n)
init <- rep_len(sample.int(k, 1e5 + 3, TRUE), n)

measure <- function(devices, precision, moves) {
  fit <- dp_mixture(x, k, iter = 1, warmup = 0, keep = "weights", init = init, moves = moves, precision = precision,
    devices = devices, seed = 1, progress = FALSE)
  seconds <- function(sweeps) {
    before <- fit$elapsed[["sweeps"]]
    fit <<- continue(fit, sweeps, progress = FALSE)
    fit$elapsed[["sweeps"]] - before
  }
  short <- seconds(5)
  list(sweep = (seconds(25) - short) / 20, trace = fit$log_likelihood)
}

cat(sprintf("One sweep of %s cells, %d markers, %d components, shared by graphics cards.\n\n", format(n, big.mark = ",", scientific = FALSE), p, k))
cat("| precision | splits and joins | cards | ms a sweep | times as fast as one | identical |\n| --- | --- | --- | --- | --- | --- |\n")
for (precision in c("double", "single")) {
  for (moves in c(FALSE, TRUE)) {
    one <- NULL
    for (count in unique(c(1, 2, 4, 8, length(cards)))) {
      if (count > length(cards)) next
      this <- measure(cards[seq_len(count)], precision, moves)
      if (is.null(one)) one <- this
      cat(sprintf("| %s | %s | %d | %s | %s | %s |\n", precision, if (moves) "in each" else "none", count, format(signif(1e3 * this$sweep, 3)),
        format(signif(one$sweep / this$sweep, 3)), identical(one$trace, this$trace)))
    }
  }
}
