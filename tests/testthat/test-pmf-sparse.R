# Distributions of few values far apart: exact masses of molecules, and what may be left out of their sums.

isotopes <- list(
  C = pmf(c(0.9893, 0.0107), values = c(12, 13.00335)),
  H = pmf(c(0.999885, 0.000115), values = c(1.00783, 2.0141)),
  N = pmf(c(0.99636, 0.00364), values = c(14.00307, 15.00011)),
  O = pmf(c(0.99757, 0.00038, 0.00205), values = c(15.99491, 16.99913, 17.99916)),
  S = pmf(c(0.9499, 0.0075, 0.0425, 0.0001), values = c(31.97207, 32.97146, 33.96787, 35.96708))
)

molecule <- function(atoms, tail = 0) {
  parts <- lapply(names(atoms), function(atom) rep_sum_pmf(isotopes[[atom]], atoms[[atom]], tail = tail, threads = 1))
  sum_pmf(parts, tail = tail, threads = 1)
}

test_that("the masses of glucose have as many entries as there are possible values", {
  glucose <- as.data.frame(molecule(c(C = 6, H = 12, O = 6)))
  # How many heavy carbons, deuteriums, and oxygens of either heavy kind.
  all <- expand.grid(c = 0:6, h = 0:12, o17 = 0:6, o18 = 0:6)
  all <- all[all$o17 + all$o18 <= 6, ]
  mass <- 18016542 + 100335 * all$c + 100627 * all$h + 100422 * all$o17 + 200425 * all$o18 - 10200
  prob <- dbinom(all$c, 6, 0.0107) * dbinom(all$h, 12, 0.000115) * mapply(function(a, b) {
    stats::dmultinom(c(6 - a - b, a, b), prob = c(0.99757, 0.00038, 0.00205))
  }, all$o17, all$o18)
  mass <- mass - min(mass) + 6 * 1200000 + 12 * 100783 + 6 * 1599491
  expect_identical(nrow(glucose), 2548L)
  expect_identical(glucose$value, sort(unique(mass)) / 1e5)
  expect_equal(glucose$prob, as.vector(rowsum(prob, mass)), tolerance = 1e-11)
  # In the log scale, too.
  logs <- lapply(isotopes[c("C", "H")], function(x) pmf(log(x$prob), values = as.data.frame(x)$value, log = TRUE))
  expect_equal(exp(rep_sum_pmf(logs$C, 5, threads = 1)$log_prob), rep_sum_pmf(isotopes$C, 5, threads = 1)$prob)
})

test_that("what is left out of a sum is at most what the sum says, and at most `tail` of each call", {
  atoms <- c(C = 20, H = 30, N = 5, O = 9, S = 1)
  whole <- as.data.frame(molecule(atoms))
  for (tail in c(1e-30, 1e-12, 1e-8)) {
    x <- molecule(atoms, tail)
    part <- as.data.frame(x)
    expect_true(all(part$value %in% whole$value))
    missing <- whole$prob[match(part$value, whole$value)] - part$prob
    # Probabilities of values that are kept may lack terms.
    expect_true(all(missing >= -1e-13 * part$prob))
    bound <- sum(left_out(x))
    expect_lte(sum(whole$prob[!whole$value %in% part$value]) + sum(pmax(missing, 0)), bound + 1e-14)
    expect_lte(bound, 2 * (length(atoms) + 1) * tail)
    expect_lt(nrow(part), nrow(whole))
  }
  # Dense distributions lose their ends.
  die <- pmf(rep(1 / 6, 6), from = 1)
  dice <- rep_sum_pmf(die, 300, threads = 1)
  for (log in c(FALSE, TRUE)) {
    x <- rep_sum_pmf(die, 300, log = log, tail = 1e-10, threads = 1)
    kept <- as.data.frame(x)
    bounds <- left_out(x)
    expect_equal(bounds[["below"]], ppmf(dice, min(kept$value) - 1), tolerance = 1e-10)
    expect_equal(bounds[["above"]], ppmf(dice, max(kept$value), lower.tail = FALSE), tolerance = 1e-10)
    expect_true(all(bounds > 2e-11 & bounds <= 5e-11))
    same <- sum_pmf(rep(list(die), 300), log = log, tail = 1e-10, threads = 1)
    expect_identical(as.data.frame(same)$value, kept$value)
  }
  expect_identical(left_out(rep_sum_pmf(die, 3, tail = 1e-10, threads = 1)), c(below = 0, above = 0))
  expect_identical(rep_sum_pmf(pmf(1, from = 3), 4, tail = 1e-10, threads = 1), pmf(1, from = 12))
  expect_input_error(rep_sum_pmf(die, 3, tail = 0.1), "`tail` must be one number from 1e-300 to 1e-08, or 0, not 0.1")
  expect_input_error(sum_pmf(die, die, tail = "a"), "`tail` must be one number")
})

test_that("a protein of 76 residues, with a bound on what is left out", {
  atoms <- c(C = 378, H = 629, N = 105, O = 118, S = 1)
  x <- molecule(atoms, 1e-12)
  # The moments are sums of those of the atoms.
  expect_equal(mean(x), sum(atoms * vapply(isotopes[names(atoms)], mean, 0)), tolerance = 1e-11)
  expect_equal(variance(x), sum(atoms * vapply(isotopes[names(atoms)], variance, 0)), tolerance = 1e-7)
  expect_lt(sum(left_out(x)), 1.2e-11)
  expect_lt(abs(1 - sum(x$prob)), 6.1e-12)
})

test_that("sums value by value and over all positions are the same", {
  set.seed(6)
  x <- pmf(rexp(400), by = 5, normalize = TRUE)
  for (step in c(0.5, 10, 1e4, 1e7)) {
    y <- pmf(rexp(60), values = step * sort(sample(2000, 60)), normalize = TRUE)
    frame <- as.data.frame(x + y)
    frame <- frame[frame$prob > 0, ]
    value <- as.vector(outer(as.data.frame(x)$value, as.data.frame(y)$value[as.data.frame(y)$prob > 0], "+"))
    prob <- as.vector(outer(x$prob, as.data.frame(y)$prob[as.data.frame(y)$prob > 0]))
    expect_identical(frame$value, sort(unique(value)))
    expect_equal(frame$prob, as.vector(rowsum(prob, value)), tolerance = 1e-12)
    # Impossible values are stored only where they are few.
    expect_true(length(prob) == 0 || length((x + y)$prob) <= max(1000, 4 * length(unique(value))))
  }
})
