# Categorical draws: against what R has otherwise, and against the rate at which this machine reads memory, in the
# same run. Medians of repetitions that take turns, one thread unless said. Takes two minutes and 3 GB of memory. The
# peers matrixStats and extraDistr are left out where they are not installed.
#   cd bench && ../tests/measure/build.sh ../build/measure && Rscript categorical.R
source("common.R")
options(warpbayes.backend = "cpu")
set.seed(1)

has <- function(package) requireNamespace(package, quietly = TRUE)

# One draw from each row.
rows <- 1e5
x <- matrix(runif(rows * 100), rows)
runs <- list(warpbayes = function() elapsed(rcategorical(x, seed = 1, threads = 1)))
if (has("matrixStats")) runs$matrixStats <- function() elapsed(1L + rowSums(matrixStats::rowCumsums(x) < runif(rows)))
if (has("extraDistr")) runs$extraDistr <- function() elapsed(extraDistr::rcat(rows, x))
seconds <- medians(do.call(interleave, c(runs, times = 9)))
save_results(data.frame(
  case = "one draw from each row of 1e5 x 100", by = names(seconds), seconds = seconds,
  draws_per_second = rows / seconds, times_slower = seconds / seconds[["warpbayes"]], row.names = NULL
), "categorical-rows")

# Many draws from one vector.
many <- do.call(rbind, lapply(c(10, 100, 1000, 1e5), function(items) {
  w <- runif(items)
  draws <- 2e6
  seconds <- medians(interleave(
    warpbayes = function() elapsed(rcategorical(w, draws, seed = 1, threads = 1)),
    sample.int = function() elapsed(sample.int(items, draws, replace = TRUE, prob = w)), times = 9
  ))
  data.frame(items, draws, warpbayes = seconds[["warpbayes"]], sample.int = seconds[["sample.int"]],
    times_faster = seconds[["sample.int"]] / seconds[["warpbayes"]])
}))
save_results(many, "categorical-vector")

# The pass over the matrix: bytes of weights per second, and their share of the rate of reading alone.
pass <- do.call(rbind, lapply(c(16, 64, 100, 1000, 4096), function(items) {
  x <- matrix(runif(ceiling(1e8 / items) * items), ncol = items)
  cases <- expand.grid(
    precision = c("double", "single"), threads = 1:2, log = c(FALSE, TRUE), stringsAsFactors = FALSE
  )
  cases <- cases[!cases$log | items %in% c(100, 1000), ]
  do.call(rbind, lapply(seq_len(nrow(cases)), function(i) {
    case <- cases[i, ]
    y <- if (case$log) log(x) else x
    seconds <- read <- numeric(7)
    for (j in seq_along(seconds)) {
      read[[j]] <- measure_read_rate(case$threads)
      seconds[[j]] <- elapsed(
        rcategorical(y, log = case$log, seed = 1, threads = case$threads, precision = case$precision)
      )
    }
    bytes <- 8 * length(y) / median(seconds)
    data.frame(
      rows = nrow(y), items, case, seconds = median(seconds), ns_per_weight = 1e9 * median(seconds) / length(y),
      gigabytes_per_second = bytes / 1e9, share_of_read_rate = bytes / median(read)
    )
  }))
}))
save_results(pass, "categorical-pass")
