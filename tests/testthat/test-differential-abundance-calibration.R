# Simulation-based calibration (Talts et al. 2018) of the sampler: parameters and counts are drawn from the model, and
# the rank of each parameter among its draws must be uniform. Two samples of each of four patients, three types.
skip_where_repeated()

law <- list(mean = c(-1, 0), sd = c(1, 1), level = c(-1, 0.5), spread = 0.5)
design <- cbind(1, rep(c(-1, 1), 4))
patient <- rep(1:4, each = 2)

# The rarity of a type depends on the counts, so the slope of the log deviations is 0 here, with a small variance.
simulate_counts <- function() {
  level <- rnorm(2, law$level[[1]], law$level[[2]])
  spread <- abs(rnorm(2, 0, law$spread))
  coefficients <- matrix(rnorm(6, law$mean, law$sd), 2)
  deviation <- matrix(exp(rnorm(6, level, spread)), 2)
  patients <- matrix(rnorm(12, 0, rep(deviation[2, ], each = 4)), 4)
  logit <- design %*% coefficients + patients[patient, ] + matrix(rnorm(24, 0, rep(deviation[1, ], each = 8)), 8)
  totals <- c(20, 50, 400, 3000, 30, 1000, 200, 60)
  counts <- matrix(rbinom(24, totals, plogis(logit)), 8)
  list(counts = t(counts) + 0, totals = totals,
    truth = c(coefficients[2, 1] + 2 * coefficients[1, 1], deviation[, 1], level, log(spread)))
}

rank_of_truth <- function(seed) {
  set.seed(seed)
  data <- simulate_counts()
  prior <- list(mean = law$mean, precision = 1 / law$sd^2, deviation = c(law$level, 0, 1e-6, law$spread))
  part <- native(C_abundance_run, array(data$counts, c(dim(data$counts), 1L)), data$totals, design, cbind(c(2, 1)),
    patient - 1L, prior, list(chain_key(seed, 1)), c(60L, 1470L), resolve_run("cpu", 1))[[1L]]
  draws <- cbind(part$contrast[1, 1, ], t(part$deviation[, 1, ]), t(part$scale[c(1, 4, 3, 6), ]))[30 * (1:49), ]
  # Planted error: deviations a third too small.
  small <- draws[, 2] / 1.5
  c(colSums(draws < rep(data$truth, each = 49)), small = sum(small < data$truth[[2]]))
}

test_that("the sampler is calibrated", {
  ranks <- vapply(seq_len(if (extended()) 5000 else 100), rank_of_truth, numeric(8))
  found <- apply(ranks, 1L, unevenness)
  # False alarms 1e-6 for all seven.
  expect_lt(max(found[1:7]), stats::qchisq(1.4e-7, 9, lower.tail = FALSE))
  expect_gt(found[["small"]], stats::qchisq(1.4e-7, 9, lower.tail = FALSE))
})

# Samples of one Dirichlet law in two groups. The intervals know that samples differ.
null_rate <- function(each, sets, ...) {
  shares <- c(0.4, 0.2, 0.15, 0.1, 0.08, 0.05, 0.02)
  found <- vapply(seq_len(sets), function(i) {
    set.seed(i)
    counts <- vapply(seq_len(2 * each), function(s) {
      p <- rgamma(7, 100 * shares)
      drop(rmultinom(1, 2000, p / sum(p))) + 0
    }, shares)
    group <- rep(0:1, each = each)
    effects <- differential_abundance(counts, ~ group, seed = i, threads = 1, ...)$effects
    # Intervals that know only how cells are counted.
    odds <- (rowsum(t(counts), group) + 0.5) / (2000 * each - rowsum(t(counts), group) + 0.5)
    error <- sqrt(colSums(1 / (rowsum(t(counts), group) + 0.5)))
    c(
      right = mean(effects$lower > 0 | effects$upper < 0),
      naive = mean(abs(log(odds[1, ] / odds[2, ])) > 1.645 * error),
      reported = any(effects$fdr <= 0.1, na.rm = TRUE)
    )
  }, numeric(3))
  rowMeans(found)
}

test_that("under the null, about a tenth of the 90% intervals exclude zero", {
  long <- extended()
  for (each in c(3, if (long) 10)) {
    sets <- if (long) 500 else 25
    rates <- null_rate(each, sets, chains = 2, iter = 300)
    # The rate is at most 0.125. Its standard deviation is at most 1.5 times that of independent intervals; false
    # alarms 1e-6. Intervals of counting alone exclude zero in most cases, which is always found.
    expect_lt(rates[["right"]], 0.125 + 4.8 * 1.5 * sqrt(0.1 / (7 * sets)))
    expect_gt(rates[["right"]], if (long) 0.06 else 0.005)
    expect_gt(rates[["naive"]], 0.5)
    # At a false discovery rate of 10%, at most that share of the null data sets has a report.
    expect_lt(rates[["reported"]], 0.1 + 4.8 * sqrt(0.1 / sets))
  }
})
