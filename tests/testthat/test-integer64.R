# Data of class integer64, dates and durations: read as the numbers that they mean, or refused by name and class.

# data.frame() has no method for them.
wide_frame <- function(...) list2DF(list(...))
too_large <- int64(2^53 * c(1, 2, 1, -4))
refused <- "integer64 of length 4 \\(convert it with as.numeric\\(\\), or identifiers with as.character\\(\\)\\)"

test_that("integer64 is read from its bits, and stays where doubles cannot hold it", {
  values <- c(a = 0, b = 1, c = -1, d = 2^31, e = -2^31, f = 2^32 - 1, g = 2^53, h = -2^53, i = 1e15 + 1, j = NA)
  expect_identical(given_data(int64(values), "x"), values)
  expect_identical(given_data(int64(numeric()), "x"), numeric())
  long <- as.double(-5:(2^20 + 5))
  expect_identical(given_data(int64(long), "x"), long)
  counts <- matrix(as.double(1:6), 2, dimnames = list(NULL, c("a", "b", "c")))
  expect_identical(given_data(int64(counts), "x"), counts)
  expect_identical(given_data(too_large, "x"), too_large)
  frame <- wide_frame(id = too_large, n = int64(c(4, 5, NA, -7)), x = 1:4, d = as.Date("2020-01-01") + 1:4)
  read <- given_data(frame, "x")
  expect_identical(read$n, c(4, 5, NA, -7))
  expect_identical(read[c("id", "x", "d")], frame[c("id", "x", "d")])
  expect_identical(given_data(frame[3:4], "x"), frame[3:4])
  for (x in list(1:3, "a", NULL, factor("a"), list(1, "a"), pmf(1))) {
    expect_identical(given_data(x, "x"), x)
  }
})

set.seed(3)
rows <- data.frame(
  x = as.double(sample(-20:20, 40, TRUE)), w = as.double(rep(1:2, 20)), s = as.double(rbinom(40, 9, 0.4)),
  g = rep(c(11, 12, 13, 14), 10), o = as.double(rep(c(-1, 0), each = 20))
)
rows$n <- 9 - rows$s
rows$y <- as.double(rows$s > 3)
wide <- rows
wide[] <- lapply(rows, int64)
wide$id <- int64(rep(2^53 * c(1, 2, 1, -4), 10))
regression <- function(formula, data, ...) {
  eval(substitute(bayes_logit(formula, data, ..., chains = 1, iter = 40, warmup = 10, seed = 1, threads = 2,
    progress = FALSE)), parent.frame())
}

test_that("regressions read integer64 in all places of data, and refuse it elsewhere", {
  fit <- regression(cbind(s, n) ~ x + offset(o) + (1 | g), rows, weights = w)
  same <- regression(cbind(s, n) ~ x + offset(o) + (1 | g), wide, weights = w)
  expect_identical(same$draws, fit$draws)
  expect_identical(predict(same, wide), predict(fit, rows))
  expect_identical(as.data.frame(regression(y ~ log(x + 30), wide, weights = 2 * w)),
    as.data.frame(regression(y ~ log(x + 30), rows, weights = 2 * w)))
  expect_identical(log_lik(same, wide), log_lik(fit, rows))
  expect_identical(regression(s ~ x, wide, family = "negbinomial")$draws,
    regression(s ~ x, rows, family = "negbinomial")$draws)
  expect_identical(regression(s ~ x, wide, family = "negbinomial")$draws,
    regression(s ~ ., wide[c("s", "x")], family = "negbinomial")$draws)
  expect_input_error(regression(y ~ id, wide), "`data` needs the variable \"id\", which is an integer64 of length 40")
  expect_input_error(regression(y ~ ., wide), "`data` needs the variable \"id\"")
  expect_input_error(regression(y ~ x + (1 | id), wide), "as.character")
  outside <- wide$x
  expect_input_error(regression(y ~ outside, rows), "needs the variable \"outside\", which is an integer64")
  expect_input_error(regression(y ~ x, rows, weights = outside), "`weights` needs the variable \"outside\"")
  expect_input_error(regression(y ~ x, rows, offset = outside), "`offset` needs the variable \"outside\"")
  expect_identical(regression(y ~ x, rows, weights = int64(rows$w))$draws, regression(y ~ x, rows, weights = w)$draws)
  changed <- rows[1:4, ]
  changed$x <- too_large
  expect_input_error(predict(fit, changed), "`newdata` needs the variable \"x\"")
})

test_that("dates, times and durations are numbers in a regression, and keep their units in new data", {
  rows$d <- as.Date("2020-01-01") + rows$x
  rows$t <- as.POSIXct("2020-01-01", tz = "UTC") + rows$x
  rows$h <- as.difftime(rows$x, units = "days")
  rows$l <- as.list(rows$x)
  rows$lt <- as.POSIXlt(rows$t)
  plain <- regression(y ~ x, rows)
  fit <- regression(y ~ h, rows)
  expect_identical(unname(fit$draws), unname(plain$draws))
  minutes <- rows[1:5, ]
  units(minutes$h) <- "mins"
  expect_equal(predict(fit, minutes), predict(plain, rows[1:5, ]), tolerance = 1e-12)
  of_dates <- regression(y ~ d, rows)
  expect_identical(of_dates$draws[1:5], regression(y ~ as.numeric(d), rows)$draws[1:5])
  expect_silent(predict(of_dates, transform(rows, d = structure(d, class = c("IDate", "Date")))))
  expect_input_error(predict(of_dates, transform(rows, d = as.POSIXct(d))),
    "\"d\" as an object of class POSIXct, but the fit had an object of class Date")
  expect_silent(regression(y ~ t, rows))
  expect_input_error(regression(y ~ l, rows), "'l'")
  expect_input_error(regression(d ~ x, rows), "a Date of length 40")
  expect_input_error(regression(h ~ x, rows, family = "negbinomial"), "a difftime of length 40")
})

test_that("mixtures read integer64 markers and samples", {
  x <- matrix(round(rnorm(200, 1000, 90)), 100, dimnames = list(NULL, c("a", "b")))
  wide <- wide_frame(a = int64(x[, 1]), b = int64(x[, 2]), id = int64(rep(2^54, 100)), s = int64(rep(1:2, 50)))
  expect_identical(as_marker_matrix(wide, c("a", "b"))$x, as_marker_matrix(x)$x)
  expect_identical(as_marker_matrix(int64(x))$x, x)
  expect_input_error(as_marker_matrix(wide), "\"id\" is of class \"integer64\"")
  expect_input_error(as_marker_matrix(structure(too_large, dim = c(2L, 2L))), "is a 2 x 2 integer64")
  expect_identical(levels(check_samples(wide$s, 100)), c("1", "2"))
  expect_input_error(check_samples(too_large, 4), refused)
  for (column in list(as.Date("2020-01-01") + 1:100, as.difftime(x[, 1], units = "mins"), Sys.time() + 1:100)) {
    dated <- data.frame(a = x[, 1], d = column)
    expect_input_error(as_marker_matrix(dated), "\"d\" is of class \"(Date|difftime|POSIX)")
  }
  expect_input_error(as_marker_matrix(data.frame(a = x[, 1], l = I(as.list(x[, 1])))), "\"l\" is of class \"AsIs\"")
})

test_that("counts of topics and of types of cells are read", {
  table <- data.frame(document = c(1, 1, 2, 2), term = c("a", "b", "a", "c"), count = c(3, 1, 2, 5))
  wide <- wide_frame(document = int64(table$document), term = table$term, count = int64(table$count))
  expect_identical(count_matrix(wide), count_matrix(table))
  expect_input_error(count_matrix(wide_frame(document = too_large, term = table$term, count = 1:4)), refused)
  expect_input_error(count_matrix(wide_frame(document = 1:4, term = table$term, count = too_large)), refused)
  counts <- matrix(c(510, 40, 480, 52, 400, 120, 380, 160), 2, dimnames = list(c("T", "B"), paste0("s", 1:4)))
  of <- function(counts, totals, data, formula = ~ z) {
    differential_abundance(counts, formula, data, totals = totals, chains = 1, iter = 200, warmup = 50, seed = 1,
      threads = 2)
  }
  data <- data.frame(z = c(0, 1, 2, 4))
  fit <- of(counts, rep(1000, 4), data)
  expect_identical(of(int64(counts), int64(rep(1000, 4)), wide_frame(z = int64(data$z)))$effects, fit$effects)
  expect_input_error(of(counts, too_large, data), refused)
  expect_input_error(of(counts, rep(1000, 4), wide_frame(z = too_large)), refused)
})

test_that("predictive resampling reads integer64", {
  y <- c(3, 9, -4, 1, 7, 2)
  resample <- function(y, model) predictive_resample(y, model, 20, draws = 5, seed = 1, threads = 2)$draws
  for (model in list(normal_mean(), bayesian_bootstrap())) {
    expect_identical(resample(int64(y), model), resample(y, model))
    expect_input_error(resample(too_large, model), refused)
    expect_input_error(resample(as.Date("2020-01-01") + 1:5, model), "a Date of length 5")
  }
  expect_identical(resample(wide_frame(y = int64(y)), copula_density()), resample(data.frame(y), copula_density()))
  expect_input_error(resample(wide_frame(y = too_large), copula_density()), refused)
  expect_identical(resample(y, copula_density(points = int64(1:3))), resample(y, copula_density(points = 1:3)))
  expect_input_error(resample(y, copula_density(points = too_large)), refused)
  frame <- data.frame(y, x = c(1, 5, 2, 8, 3, 4))
  wide <- wide_frame(y = int64(y), x = int64(frame$x))
  expect_identical(resample(wide, copula_regression(y ~ x)), resample(frame, copula_regression(y ~ x)))
  at <- function(at) resample(frame, copula_regression(y ~ x, at = at))
  expect_identical(at(int64(c(1, 4))), at(c(1, 4)))
  expect_input_error(resample(wide_frame(y = 1:4, x = too_large), copula_regression(y ~ x)), refused)
})

test_that("vectors of numbers are read", {
  expect_identical(pmf(int64(c(0, 1, 0))), pmf(c(0, 1, 0)))
  expect_identical(pmf(c(0.5, 0.5), values = int64(c(-3, 4))), pmf(c(0.5, 0.5), values = c(-3, 4)))
  expect_input_error(pmf(too_large), refused)
  expect_identical(dpmf(pmf(c(0.5, 0.5)), int64(1)), 0.5)
  expect_identical(convolve_pmf(int64(c(1, 2)), c(1, 1), threads = 2), c(1, 3, 2))
  expect_input_error(convolve_pmf(too_large, c(1, 1), threads = 2), refused)
  rows <- rbind(c(0, 1), c(1, 0))
  expect_identical(convolve_pmf(int64(rows), rows, threads = 2), convolve_pmf(rows, rows, threads = 2))
  expect_identical(rcategorical(int64(rows), seed = 1, threads = 2), c(2L, 1L))
  expect_identical(rcategorical(int64(c(0, 0, 5)), seed = 1, threads = 2), 3L)
  expect_input_error(rcategorical(too_large), refused)
  expect_identical(rpolyagamma(3, int64(c(1, 2)), int64(-1), seed = 1, threads = 2),
    rpolyagamma(3, c(1, 2), -1, seed = 1, threads = 2))
  expect_input_error(rpolyagamma(3, too_large), refused)
  # Numbers of things are refused.
  expect_input_error(rpolyagamma(int64(3)), "an integer64 of length 1")
  expect_input_error(rcategorical(1:2, draws = int64(3)), "an integer64 of length 1")
  for (x in list(as.Date("2020-01-01"), Sys.time(), as.difftime(1, units = "mins"))) {
    expect_input_error(pmf(x), "not a (Date|POSIXct|difftime) of length 1")
    expect_input_error(rpolyagamma(1, x), "not a (Date|POSIXct|difftime) of length 1")
    expect_input_error(rcategorical(x), "not a (Date|POSIXct|difftime) of length 1")
  }
})

test_that("durations of new points have the units of the data", {
  data <- data.frame(y = c(3, 9, -4, 1, 7, 2), h = as.difftime(c(1, 5, 2, 8, 3, 4), units = "days"))
  fit <- function(points) {
    predictive_resample(data, copula_regression(y ~ h, points = points), 20, draws = 5, seed = 1, threads = 2)$draws
  }
  points <- data["h"]
  expected <- fit(points)
  units(points$h) <- "hours"
  expect_equal(unname(fit(points)), unname(expected), tolerance = 1e-12)
  expect_input_error(fit(data.frame(h = as.Date("2020-01-01") + 1:2)), "\"h\" as an object of class Date, but the fit")
})
