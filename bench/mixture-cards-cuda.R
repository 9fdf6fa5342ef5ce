# A sweep of the mixture on one, two, four, ... graphics cards that share the cells: 2e7 cells, 14 markers, 256
# components. The time is the slope over 20 sweeps, which leaves out sending the cells. Prints a table in Markdown.
source("common.R")
rehearsal <- use_card()
cards <- warp_info()$cuda$devices$device
n <- if (rehearsal) 6000 else 2e7
p <- if (rehearsal) 3 else 14
k <- if (rehearsal) 5 else 256

set.seed(1)
# Cells that overlap: every component's density is needed. Random numbers are used again, since so many take minutes.
x <- matrix(rep_len(rnorm(1e6 + 7), n * p), n)
x <- x + rep_len(rnorm(997, sd = 2), n)
init <- rep_len(sample.int(k, 1e5 + 3, TRUE), n)

measure <- function(devices, precision, moves) {
  fit <- dp_mixture(
    x, k, iter = 1, warmup = 0, seed = 1, progress = FALSE,
    control = warp_control(keep = "weights", start = init, moves = moves, precision = precision, devices = devices)
  )
  seconds_of <- function(sweeps) {
    before <- fit$elapsed[["sweeps"]]
    fit <<- continue(fit, sweeps, progress = FALSE)
    fit$elapsed[["sweeps"]] - before
  }
  short <- seconds_of(5)
  list(sweep = (seconds_of(25) - short) / 20, trace = fit$log_likelihood)
}

cat(sprintf("One sweep of %s cells, %d markers, %d components, shared by graphics cards.\n\n", count(n), p, k))
header("precision", "splits and joins", "cards", "ms a sweep", "times as fast as one", "identical")
counts <- unique(c(1, 2, 4, 8, length(cards)))
for (precision in c("double", "single")) {
  for (moves in c(FALSE, TRUE)) {
    one <- NULL
    for (used in counts[counts <= length(cards)]) {
      this <- measure(cards[seq_len(used)], precision, moves)
      if (is.null(one)) one <- this
      line(precision, if (moves) "in each" else "none", used, number(1e3 * this$sweep), number(one$sweep / this$sweep),
        identical(one$trace, this$trace))
    }
  }
}
