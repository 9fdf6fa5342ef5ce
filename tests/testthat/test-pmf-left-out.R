# What distributions that were cut say about the rest.
skip_where_repeated()

test_that("distributions by name are exact beyond their range", {
  x <- pmf_poisson(475507, tail = 1e-300, log = TRUE)
  expect_equal(ppmf(x, 560072, lower.tail = FALSE, log.p = TRUE), ppois(560072, 475507, FALSE, TRUE))
  expect_equal(ppmf(x, 560072, lower.tail = FALSE, log.p = TRUE), -7115.49, tolerance = 1e-6)
  q <- c(0:60, 1000)
  families <- list(
    list(pmf_poisson(3), dpois(q, 3), ppois(q, 3), ppois(q, 3, FALSE)),
    list(pmf_binomial(1000, 0.01), dbinom(q, 1000, 0.01), pbinom(q, 1000, 0.01), pbinom(q, 1000, 0.01, FALSE)),
    list(pmf_negative_binomial(2, mu = 3), dnbinom(q, 2, mu = 3), pnbinom(q, 2, mu = 3),
      pnbinom(q, 2, mu = 3, lower.tail = FALSE)),
    list(pmf_geometric(0.3), dgeom(q, 0.3), pgeom(q, 0.3), pgeom(q, 0.3, FALSE)),
    list(pmf_hypergeometric(300, 400, 90), dhyper(q, 300, 400, 90), phyper(q, 300, 400, 90),
      phyper(q, 300, 400, 90, FALSE))
  )
  for (one in families) {
    expect_no_warning({
      # The upper tail of the last values contains what lies beyond the range.
      expect_equal(dpmf(one[[1]], q), one[[2]], tolerance = 1e-12)
      relative <- function(x, exact) max(abs(x / exact - 1)[exact > 0])
      expect_lt(relative(ppmf(one[[1]], q), one[[3]]), 1e-11)
      expect_lt(relative(ppmf(one[[1]], q, lower.tail = FALSE), one[[4]]), 1e-11)
      far <- one[[4]] > 0 & one[[4]] < 0.5
      logs <- ppmf(one[[1]], q, lower.tail = FALSE, log.p = TRUE)
      expect_lt(max(abs(logs[far] / log(one[[4]][far]) - 1)), 1e-11)
    })
    bounds <- left_out(one[[1]])
    expect_true(all(bounds <= 1e-15) && bounds[["above"]] > 0)
  }
  expect_identical(dpmf(pmf_poisson(3), c(2.5, -1, NA, Inf)), c(0, 0, NA, 0))
})

test_that("tail = 0 keeps the whole range of doubles", {
  x <- pmf_poisson(3, tail = 0)
  last <- max(as.data.frame(x)$value)
  expect_gt(dpois(last, 3), 0)
  expect_lt(ppois(last, 3, FALSE, TRUE), -744)
  expect_identical(left_out(pmf_binomial(10, 0.5, tail = 0)), c(below = 0, above = 0))
  total <- compound_pmf("poisson", pmf_geometric(0.5, tail = 0), lambda = 2, tail = 0, threads = 2)
  reached <- as.data.frame(total)
  expect_lt(min(reached$prob), 1e-300)
  expect_lt(left_out(total)[["above"]], 1e-322)
  expect_gt(max(as.data.frame(portfolio_pmf(c(1, 2), c(1e-200, 1e-110), tail = 0, threads = 2))$value), 2)
})

test_that("sums, extremes and mixtures say what they leave out, and no more than that is missing", {
  short <- function(x) suppressWarnings(sum(as.data.frame(x)$prob))
  x <- pmf_poisson(3, tail = 1e-8)
  y <- pmf_negative_binomial(2, mu = 5, tail = 1e-9)
  count <- pmf_poisson(40, tail = 1e-8)
  made <- list(
    x + y, x - y, sum_pmf(list(x, y, x), threads = 2), rep_sum_pmf(x, 5, threads = 2), 3 * x, x + 0.5, max(x, y),
    min(x, count), mix_pmf(list(x, y), c(0.2, 0.8)), map_pmf(x, function(v) v^2), compound_pmf(x, y, threads = 2),
    compound_pmf("poisson", y, lambda = 3, tail = 1e-8, threads = 2), portfolio_pmf(list(x + 1), 0.1, class = 1)
  )
  for (one in made) {
    bounds <- left_out(one)
    # The bounds hold, and are not far too large.
    missing <- 1 - short(one)
    expect_gte(sum(bounds), missing - 1e-15)
    expect_lt(sum(bounds), 1e-6)
  }
  expect_equal(left_out(x + y), left_out(x) + left_out(y))
  expect_equal(unname(left_out(-x)), unname(rev(left_out(x))))
  expect_equal(left_out(rep_sum_pmf(x, 5, threads = 2)), 5 * left_out(x))
  expect_equal(left_out(x + y, log = TRUE)[["above"]], log(sum(left_out(x), left_out(y))))
  given <- condition_on_sum_pmf(x, y, 20)$x
  expect_equal(left_out(given)[["below"]], sum(left_out(x + y)) / dpmf(x + y, 20))
  rare <- truncate(x, lower = 10)
  expect_equal(left_out(rare)[["above"]], left_out(x)[["above"]] / sum(dpmf(x, 10:40)[dpmf(x, 10:40) > 1e-9]),
    tolerance = 1e-3)
})

test_that("words appear where something is left out, and only there", {
  x <- pmf_poisson(3) + pmf_poisson(4)
  expect_output(print(x), "leaves out at most 1.\\de-15 above")
  expect_output(print(pmf_poisson(1e5)), "leaves out at most .* below and .* above")
  expect_output(print(pmf_poisson(5, tail = 1e-300, log = TRUE)), "leaves out at most \\S+e-30\\d above")
  for (whole in list(pmf_binomial(10, 0.5, tail = 0), pmf(1), truncate(pmf(rep(0.1, 10)), 3, 5))) {
    expect_false(any(grepl("leaves out", capture.output(print(whole)))))
    expect_no_warning(ppmf(whole, c(-5, 0, 100), lower.tail = FALSE))
  }
  expect_warning(ppmf(x, 200, lower.tail = FALSE, log.p = TRUE),
    "leaves out values above its range, with a probability of at most 1.\\de-15. Tails beyond the range are given as -"
  )
  expect_no_warning(ppmf(x, c(-1, 0, 10, 200, Inf)))
  expect_no_warning(ppmf(x, c(-1, 0, 10, Inf, NA), lower.tail = FALSE))
  expect_warning(ppmf(-x, -200), "below its range")
  expect_no_warning(print(x))
  expect_input_error(left_out(3), "`x` must be a distribution")
  x$left_out <- "a"
  expect_input_error(mean(x), "`left_out` is \"a\"")
})
