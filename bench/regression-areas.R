# Effects of many areas or times: milliseconds of processor time a sweep, with one thread, and the width of the band.
#   cd bench && Rscript regression-areas.R [levels...]    half a minute
source("common.R")

map_of <- function(side, levels) {
  id <- matrix(seq_len(levels), side)
  ends <- rbind(cbind(c(id[-1, ]), c(id[-side, ])), cbind(c(id[, -1]), c(id[, -ncol(id)])))
  names <- sprintf("a%06d", seq_len(levels))
  Matrix::sparseMatrix(c(ends), c(ends[, 2:1]), x = 1, dims = c(levels, levels), dimnames = list(names, names))
}
areas_and_times <- function(levels, term) {
  set.seed(1)
  side <- 2^floor(log2(sqrt(levels)))
  map <- map_of(side, levels <- levels %/% side * side)
  d <- data.frame(time = rep(seq_len(levels), 3), area = rep(rownames(map), 3), x = rnorm(3 * levels))
  d$y <- rbinom(nrow(d), 1, plogis(sin(d$time / 50) + d$x / 2))
  formula <- stats::as.formula(paste("y ~ x +", term))
  fit <- suppressWarnings(bayes_logit(formula, d, chains = 1, iter = 20, seed = 1, threads = 1, backend = "cpu",
    progress = FALSE))
  seconds <- processor_seconds(suppressWarnings(continue(fit, 100, progress = FALSE)))
  data.frame(levels = levels, term = term, band = max(1L, nrow(fit$design$smooths[[1]]$band$precision) - 1L),
    milliseconds_a_sweep = signif(10 * seconds, 3))
}
given <- commandArgs(TRUE)
levels <- if (length(given)) as.integer(given) else c(1024L, 10240L)
rows <- do.call(rbind, Map(areas_and_times, rep(levels, each = 3), c("rw(time)", "ar1(time)", "car(area, map)")))
print(rows, row.names = FALSE)
if (length(given) == 0) save_results(rows, "regression-areas")
