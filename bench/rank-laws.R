# Laws of rank statistics and of pools: seconds of one call, against the seconds of wilcox.test()'s own exact law where
# R has one (without ties).
#   cd bench && Rscript rank-laws.R
source("common.R")
pool <- lapply(1 + 1:20, function(sides) pmf_uniform(1, sides))
cases <- list(
  list("rank sum, 30 and 30 values with ties", function() pmf_rank_sum(1:30, c(30:58, 58)), NULL),
  list("rank sum, 100 and 100 values", function() pmf_rank_sum(1:100, 101:200), function() dwilcox(0:10000, 100, 100)),
  list("signed rank, 60 values with ties", function() pmf_signed_rank(c(1, 1:59)), NULL),
  list("normal scores, 30 of 60", function() suppressMessages(pmf_linear_rank(qnorm(1:60 / 61), 30)), NULL),
  list("sum of the 10 highest of 20 different dice", function() sum_of_highest_pmf(pool, 10), NULL)
)
results <- do.call(rbind, lapply(cases, function(case) {
  time <- function(run) if (is.null(run)) NA else median(vapply(1:5, function(i) elapsed(run()), 0))
  data.frame(law = case[[1L]], seconds = time(case[[2L]]), r = time(case[[3L]]))
}))
save_results(results, "rank-laws")
