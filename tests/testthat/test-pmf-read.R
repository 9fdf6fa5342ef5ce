# pmf() of tables, named vectors and data frames, and the decimals of values.

test_that("a table has its values in its names", {
  x <- pmf(table(c(1, 1, 2, 5)), normalize = TRUE)
  expect_identical(mean(x), 2.25)
  expect_identical(dpmf(x, 1:5), c(0.5, 0.25, 0, 0, 0.25))
  expect_identical(pmf(proportions(table(c(1, 1, 2, 5)))), x)
  expect_identical(pmf(table(factor(c("5", "1", "2", "1"))), normalize = TRUE), x)
  expect_identical(pmf(stats::xtabs(~v, data.frame(v = c(1, 1, 2, 5))), normalize = TRUE), x)
  expect_identical(dpmf(pmf(table(c(-0.5, 1e5)), normalize = TRUE), c(-0.5, 1e5)), c(0.5, 0.5))
  expect_identical(pmf(table(c(0, 1, 2) / 3), by = 1 / 3, normalize = TRUE)$by, 1 / 3)
  expect_identical(exp(pmf(log(proportions(table(c(1, 1, 2, 5)))), log = TRUE)$log_prob[[1]]), 0.5)
  expect_input_error(pmf(table(c("a", "b")), normalize = TRUE),
    "`names\\(prob\\)` has the entry \"a\" at position 1, which is not a number")
  expect_input_error(pmf(table(c(1, NA), useNA = "always"), normalize = TRUE), "has the entry NA at position 2")
  expect_input_error(pmf(table(c(1, Inf)), normalize = TRUE), "has the entry \"Inf\" at position 2")
  expect_input_error(pmf(table(cut(1:4, 2)), normalize = TRUE), "`names\\(prob\\)` has the entry")
  expect_input_error(pmf(table(c(0, 1, 2) / 3), normalize = TRUE), "`names\\(prob\\)` are neither whole numbers nor")
  expect_input_error(pmf(table(c(1, 2)), by = 2, normalize = TRUE), "`names\\(prob\\)` must be multiples of `by`, 2")
  expect_input_error(pmf(table(c(1, 2))), "`prob` sums to 2, not 1 to within 1e-08; normalize = TRUE")
  expect_input_error(pmf(table(1:2, 1:2)), "`prob` must be a numeric vector, not a 2 x 2 table")
  expect_input_error(pmf(factor(c(1, 1, 2))), "`prob` must be probabilities or counts, not a factor of length 3: pmf")
})

test_that("names that are numbers are values, and others are labels", {
  expect_identical(pmf(c("1" = 0.25, "3" = 0.75)), pmf(c(0.25, 0.75), values = c(1, 3)))
  expect_identical(pmf(c(" 9" = 0.25, "10" = 0.75)), pmf(c(0.25, 0.75), from = 9))
  expect_identical(pmf(c("2" = 0.25, "1" = 0.25, "2" = 0.5)), pmf(c(0.25, 0.75), from = 1))
  expect_identical(pmf(c(lose = 0.25, win = 0.75)), pmf(c(0.25, 0.75)))
  expect_identical(pmf(c("1d6" = 0.25, "0x1" = 0.75)), pmf(c(0.25, 0.75)))
  expect_input_error(pmf(c("1" = 0.25, "2+" = 0.75)), "`names\\(prob\\)` has the entry \"2\\+\" at position 2")
  expect_input_error(pmf(c("1" = 0.25, 0.75)), "`names\\(prob\\)` has the entry \"\" at position 2")
  expect_input_error(pmf(c("0" = 0.5, "1e300" = 0.5)), "`names\\(prob\\)` must be numbers of at most 2\\^52")
})

test_that("`from` and `values` may repeat the names, and name what has labels, but not contradict", {
  x <- c("1" = 0.25, "2" = 0.75)
  expect_identical(pmf(x, from = 1), pmf(c(0.25, 0.75), from = 1))
  expect_identical(pmf(x, values = 1:2), pmf(c(0.25, 0.75), from = 1))
  thirds <- table(c(0, 1, 2) / 3)
  expect_identical(pmf(thirds, from = 0, by = 1 / 3, normalize = TRUE)$by, 1 / 3)
  for (labels in list(c("a", "b"), c("1", "2+"))) {
    expect_identical(pmf(structure(c(0.25, 0.75), names = labels), from = 1), pmf(c(0.25, 0.75), from = 1))
  }
  expect_identical(pmf(table(c("a", "b")), values = c(0, 9), normalize = TRUE), pmf(c(0.5, 0.5), values = c(0, 9)))
  expect_input_error(pmf(x, from = 0), "`from` says that entry 1 of `prob` belongs to 0, but `names\\(prob\\)` says 1")
  expect_input_error(pmf(table(c(1, 1, 3)), from = 1, normalize = TRUE), "`from` says that entry 2 .* says 3")
  expect_input_error(pmf(x, values = c(1, 5)), "`values` says that entry 2 of `prob` belongs to 5, .* says 2")
  expect_input_error(pmf(data.frame(v = 1:2, n = c(0.5, 0.5)), from = 0), "`from` .* but `prob\\$v` says 1")
  expect_input_error(pmf(x, values = 1), "`values` must be numbers of at most 2\\^52 in absolute value, as many")
})

test_that("a data frame has a column of values and a column of weights", {
  x <- pmf(c(0.25, 0.75), values = c(2, 7))
  expect_identical(pmf(as.data.frame(x)), x)
  expect_identical(pmf(data.frame(prob = c(0.25, 0.75), size = c(2, 7))), x)
  expect_identical(pmf(data.frame(n = c(2, 7), prob = c(0.25, 0.75))), x)
  expect_identical(pmf(as.data.frame(table(c(2, 7, 7, 7))), normalize = TRUE), x)
  expect_identical(pmf(data.frame(a = c("2", "7"), b = c(1, 3)), normalize = TRUE), x)
  expect_identical(pmf(structure(data.frame(c(2, 7), c(0.25, 0.75)), names = NULL)), x)
  l <- pmf(log(c(0.25, 0.75)), from = 3, log = TRUE)
  expect_identical(pmf(as.data.frame(l), log = TRUE), l)
  expect_input_error(pmf(data.frame(a = 1, b = 1, c = 1)), "a data frame of two columns, .* not a 1 x 3 data.frame")
  expect_input_error(pmf(data.frame(a = c("x", "y"), b = 0.5)), "`prob\\$a` has the entry \"x\" at position 1")
  expect_input_error(pmf(data.frame(a = 1:2, b = c("x", "y"))), "`prob\\$b` must be a numeric vector, not a character")
  expect_input_error(pmf(data.frame(a = 1:2, b = c(2, -1))), "`prob\\$b` has the entry -1 at position 2")
  expect_input_error(pmf(data.frame(a = c(1, NA), b = 0.5)), "`prob\\$a` must be numbers of at most 2\\^52")
  expect_input_error(pmf(data.frame(a = as.Date("2020-01-01"), b = 1)), "`prob\\$a` has the entry \"2020-01-01\"")
})

test_that("values may have all decimals that a double prints with", {
  cases <- list(c(12, 13.0033548378), c(1.00782503223, 2.01410177812, 3.1), c(-2.5e-12, 0, 7e-13))
  for (values in cases) {
    prob <- seq_along(values) / sum(seq_along(values))
    x <- pmf(prob, values = values)
    expect_identical(dpmf(x, values), prob)
    expect_identical(dpmf(x + x, sum(values[1:2])) > 0, TRUE)
    expect_lte(max(abs(as.data.frame(x)$value[as.data.frame(x)$prob > 0] - sort(values))), 4e-16 * max(abs(values)))
  }
  set.seed(3)
  for (decimals in rep(10:12, 20)) {
    values <- round(runif(50, -50, 50), decimals)
    at <- round(10^decimals * (values - min(values)))
    x <- tryCatch(pmf(rep(0.02, 50), values = values), error = function(error) NULL)
    if (!is.null(x)) expect_identical(round(x$at * x$by * 10^decimals), sort(at))
    expect_identical(is.null(x), max(abs(values)) * 10^decimals > 2^47)
  }
  for (values in list(c(0, sqrt(2)), c(0, 1 / 3), c(0.1 + 0.2, pi), c(0, 0.111111111111111, 5.55555555555555))) {
    expect_input_error(pmf(rep(1, length(values)), values = values, normalize = TRUE),
      "`values` are neither whole numbers nor decimal fractions: give the step")
  }
})

test_that("bars of few values far apart stay near their values", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  shown <- function(...) {
    plot(...)
    graphics::par("usr")[1:2]
  }
  far <- pmf(c(0.5, 0.5), values = c(0, 1e6))
  for (type in c("auto", "distribution")) {
    ends <- shown(far, type = type)
    expect_true(ends[[1]] > -2e5 && ends[[2]] < 1.2e6)
  }
  expect_true(diff(shown(far, xlim = c(0, 10))) < 15)
  expect_true(diff(shown(pmf(1, from = 1e6, by = 1e6))) < 2)
  die <- pmf(rep(1 / 6, 6), from = 1)
  expect_equal(shown(die), c(0.5, 6.5) + c(-1, 1) * 0.04 * 6)
  expect_silent(plot(far, 2 * far))
  skip_if_not_installed("ggplot2")
  bars <- ggplot2::layer_data(ggplot2::autoplot(far))
  expect_equal(bars$xmax - bars$xmin, c(1.6e5, 1.6e5))
})

test_that("other functions read values with tables and names, or refuse them", {
  die <- pmf(rep(1 / 6, 6), from = 1)
  counted <- table(c(1, 1, 2, 5)) / 4
  expect_identical(convolve_pmf(die, counted), die + pmf(counted))
  expect_identical(convolve_pmf(c("0.5" = 0.5, "2" = 0.5), die), die + pmf(c(0.5, 0.5), values = c(0.5, 2)))
  expect_identical(sum_pmf(list(die, counted, die), threads = 1), sum_pmf(list(die, pmf(counted), die), threads = 1))
  expect_identical(convolve_pmf(die, data.frame(value = c(2, 9), prob = c(0.25, 0.75))),
    die + pmf(c(0.25, 0.75), values = c(2, 9)))
  expect_identical(joint_table(die, counted), joint_table(die, pmf(counted)))
  # Names that are labels stay labels.
  expect_identical(convolve_pmf(die, c(a = 0.5, b = 0.5)), die + pmf(c(0.5, 0.5)))
  expect_input_error(convolve_pmf(die, table(c(1, 1, 2))), "`y` is a vector that sums to 3, not 1")
  expect_input_error(convolve_pmf(counted, counted), "`x` has values in its names: pmf\\(\\) makes a distribution")
  expect_input_error(rep_sum_pmf(counted, 3), "`x` has values in its names")
  expect_input_error(sum_pmf(list(c(0.5, 0.5), c("1" = 1, "5" = 2))), "`x\\[\\[2\\]\\]` has values in its names")
  expect_input_error(condition_on_sum_pmf(counted, die, 3), "`x` has values in its names")
  expect_input_error(convolve_pmf(die, factor(c("a", "b"))), "`y` must be probabilities or counts")
})
