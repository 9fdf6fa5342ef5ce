# pmf(): moments, d, p, q and r functions, printing and plots.

die <- pmf(rep(1 / 6, 6), from = 1)

test_that("pmf() keeps what it is given", {
  x <- pmf(c(a = 0.25, b = 0.75), from = -2L)
  expect_identical(unclass(x), list(prob = c(0.25, 0.75), from = -2))
  l <- pmf(log(c(0.25, 0.75)), log = TRUE)
  expect_identical(unclass(l), list(log_prob = log(c(0.25, 0.75)), from = 0))
  expect_identical(pmf(table(c(1, 1, 2)), normalize = TRUE)$prob, c(2 / 3, 1 / 3))
  expect_equal(pmf(c(1000, 999), log = TRUE, normalize = TRUE)$log_prob, c(-log1p(exp(-1)), -1 - log1p(exp(-1))))
  expect_identical(pmf(c(0.5, 0.5 + 1e-9))$prob, c(0.5, 0.5 + 1e-9))
  expect_identical(pmf(1)$prob, 1)
})

test_that("each bad distribution has its message", {
  expect_input_error(pmf(c(0.5, -0.1, 0.6)), "`prob` has the entry -0.1 at position 2")
  expect_input_error(pmf(c(0.5, NaN)), "`prob` has the entry NaN at position 2")
  expect_input_error(pmf(c(NA, 0.5)), "`prob` has the entry NA at position 1")
  expect_input_error(pmf(c(Inf, 0.5)), "`prob` has the entry Inf at position 1")
  expect_input_error(pmf(c(0, 0)), "`prob` is all zero")
  expect_input_error(pmf(c(-Inf, -Inf), log = TRUE), "`prob` is all zero")
  expect_input_error(pmf(numeric()), "`prob` is empty")
  expect_input_error(pmf(NULL), "`prob` must be a numeric vector, not NULL")
  expect_input_error(pmf(matrix(0.25, 2, 2)), "`prob` must be a numeric vector, not a 2 x 2 matrix")
  expect_input_error(pmf(c(0.5, 0.6)), "`prob` sums to 1.1, not 1 to within 1e-08; normalize = TRUE")
  expect_input_error(pmf(c(0, 0), log = TRUE), "the log of its sum 0.693147\\d*, not 0")
  expect_input_error(pmf(c(1e308, 1e308), normalize = TRUE), "`prob` has an infinite sum")
  expect_input_error(pmf(1, from = 2^53),
    "`from` must be one number of at most 2\\^52 steps in absolute value, not 9007199254740992"
  )
  expect_input_error(pmf(1, from = 1:2), "`from` must be one number")
  expect_input_error(pmf(1, log = "yes"), "`log` must be TRUE or FALSE")
  expect_input_error(pmf(1, normalize = NA), "`normalize` must be TRUE or FALSE")
  expect_input_error(pmf(1, tolerance = -1), "`tolerance` must be one finite number of at least 0")
})

test_that("sums, differences and shifts", {
  expect_identical((die + 3)$from, 4)
  expect_identical((3 + die)$from, 4)
  expect_identical((die - 3)$from, -2)
  expect_identical((-die)$from, -6)
  expect_identical(+die, die)
  skewed <- pmf(c(0.5, 0.3, 0.2), from = 2)
  expect_identical((-skewed)$prob, c(0.2, 0.3, 0.5))
  expect_identical((5 - skewed)$from, 1)
  expect_identical((5 - skewed)$prob, c(0.2, 0.3, 0.5))
  expect_equal((die + die)$prob, c(1:6, 5:1) / 36)
  expect_identical((die + die)$from, 2)
  difference <- die - skewed
  expect_identical(difference$from, -3)
  expect_equal(mean(difference), 3.5 - mean(skewed))
  expect_equal(variance(difference), variance(die) + variance(skewed))
  expect_equal(difference$prob, reference_convolve(rep(1 / 6, 6), c(0.2, 0.3, 0.5)))
  l <- pmf(log(c(0.5, 0.5)), log = TRUE)
  expect_equal((die - l)$log_prob, log(reference_convolve(rep(1 / 6, 6), c(0.5, 0.5))))

  expect_input_error(die^2, "`\\^` is not known for distributions: only \\+ and -, and \\* and / with a number, are")
  expect_input_error(!die, "`!` is not known for distributions")
  expect_input_error(die > die, "`>` is not known")
  expect_input_error(die + Inf, "`e2` must be a distribution or one number of at most 2\\^52, not Inf")
  expect_input_error("a" + die, "`e1` must be a distribution or one number of at most 2\\^52, not \"a\"")
  expect_input_error(die - 1:2, "`e2` must be a distribution or one number")
  expect_input_error(pmf(1, from = 2^52) + 1, "beyond 2\\^52")
})

test_that("moments agree with the definitions", {
  expect_equal(mean(die), 3.5)
  expect_equal(variance(die), 35 / 12)
  b <- pmf(dbinom(0:50, 50, 0.3), from = 1e9)
  expect_equal(mean(b), 1e9 + 15, tolerance = 1e-15)
  expect_equal(variance(b), 10.5)
  l <- pmf(dpois(0:3000, 100, log = TRUE), log = TRUE)
  expect_equal(mean(l), 100)
  expect_equal(variance(l), 100)
  expect_equal(summary(l)$skewness, 0.1)
  expect_input_error(mean(die, 3), "unused argument")
  expect_input_error(variance(die, na.rm = TRUE), "unused argument: `na.rm`")
})

test_that("probabilities, cumulative probabilities and quantiles agree with R", {
  n <- 60
  d <- pmf(dbinom(0:n, n, 0.3))
  at <- c(-3, 0, 7.5, 18, 60, 61, NA, Inf, -Inf)
  whole <- at[at == floor(at) | is.na(at)]
  expect_equal(dpmf(d, whole), dbinom(whole, n, 0.3))
  expect_identical(dpmf(d, 7.5), 0)
  expect_equal(dpmf(d, whole, log = TRUE), dbinom(whole, n, 0.3, log = TRUE))
  for (lower in c(TRUE, FALSE)) {
    expect_equal(ppmf(d, at, lower.tail = lower), pbinom(at, n, 0.3, lower))
    expect_equal(ppmf(d, at, lower.tail = lower, log.p = TRUE), pbinom(at, n, 0.3, lower, TRUE))
    p <- c(0, 1e-12, 0.1, 0.5, 0.9, 1 - 1e-12, 1, NA)
    expect_equal(qpmf(d, p, lower.tail = lower), qbinom(p, n, 0.3, lower))
    expect_equal(qpmf(d, log(p), lower.tail = lower, log.p = TRUE), qbinom(log(p), n, 0.3, lower, TRUE))
  }
  expect_identical(ppmf(d, numeric()), numeric())
  # The quantile of a cumulative probability is the original value.
  expect_identical(qpmf(d, ppmf(d, 0:40)), as.double(0:40))
  gaps <- pmf(c(0, 0.5, 0, 0.5, 0))
  expect_identical(qpmf(gaps, c(0, 0.5, 0.6, 1)), c(1, 1, 3, 3))
  expect_identical(quantile(die), c("0%" = 1, "25%" = 2, "50%" = 3, "75%" = 5, "100%" = 6))
  expect_identical(quantile(die, 0.5, names = FALSE), 3)
})

test_that("tails below the range of doubles have right logarithms", {
  l <- pmf(dpois(0:4000, 5, log = TRUE), log = TRUE)
  q <- c(100, 1000, 3000)
  # The tail is cut at 4000. The part beyond is 1e-300 of the tail.
  expect_equal(ppmf(l, q, lower.tail = FALSE, log.p = TRUE), ppois(q, 5, FALSE, TRUE), tolerance = 1e-12)
  mirrored <- -l
  expect_equal(ppmf(mirrored, -q - 1, log.p = TRUE), ppois(q, 5, FALSE, TRUE), tolerance = 1e-12)
  expect_identical(qpmf(l, ppois(2000, 5, FALSE, TRUE), lower.tail = FALSE, log.p = TRUE), 2000)
})

test_that("cumulative sums are exact to the last places for long distributions", {
  n <- 1e6
  d <- pmf(rep(1 / n, n))
  expect_equal(ppmf(d, c(0, 499999, 999999)), c(1e-6, 0.5, 1), tolerance = 1e-15)
  expect_equal(ppmf(d, 999998, lower.tail = FALSE), 1e-6, tolerance = 1e-15)
})

test_that("draws follow the distribution and depend on the seed alone", {
  d <- pmf(c(0.5, 0, 0.3, 0.2), from = 10)
  n <- 1e5
  x <- rpmf(d, n, seed = 1)
  # False alarm 1e-6.
  expect_gt(chisq.test(table(factor(x, c(10, 12, 13))), p = c(0.5, 0.3, 0.2))$p.value, 1e-6)
  expect_false(any(x == 11))
  expect_identical(rpmf(d, n, seed = 1), x)
  expect_identical(rpmf(d, 10, seed = 1), x[1:10])
  expect_false(identical(rpmf(d, n, seed = 2), x))
  set.seed(7)
  a <- rpmf(d, 5)
  set.seed(7)
  expect_identical(rpmf(d, 5), a)
  expect_identical(rpmf(d, 0), numeric())
  expect_identical(rpmf(pmf(1, from = 4), 3, seed = 1), c(4, 4, 4))
  l <- pmf(dpois(0:3000, 1500, log = TRUE), log = TRUE)
  y <- rpmf(l, n, seed = 3)
  # Five standard errors of the mean and of the variance: 1e-6.
  expect_lt(abs(mean(y) - 1500), 5 * sqrt(1500 / n))
  expect_lt(abs(var(y) / 1500 - 1), 5 * sqrt(2 / n))
})

test_that("each bad argument of the d, p, q and r functions has its message", {
  expect_input_error(dpmf(die, "a"), "`x` must be a numeric vector, not \"a\"")
  expect_input_error(dpmf(2, 1), "`dist` must be a distribution made by pmf\\(\\), not 2")
  expect_input_error(dpmf(die, 1, log = 2), "`log` must be TRUE or FALSE")
  expect_input_error(ppmf(die, list()), "`q` must be a numeric vector")
  expect_input_error(ppmf(die, 1, lower.tail = NA), "`lower.tail` must be")
  expect_input_error(ppmf(die, 1, log.p = NA), "`log.p` must be")
  expect_input_error(qpmf(die, 1.5), "`p` has the entry 1.5: probabilities lie between 0 and 1")
  expect_input_error(qpmf(die, 0.5, log.p = TRUE), "logarithms of probabilities are at most 0")
  expect_input_error(quantile(die, -1), "`probs` has the entry -1")
  expect_input_error(quantile(die, type = 7), "unused argument: `type`")
  expect_input_error(rpmf(die, -1), "`n` must be one whole number")
  expect_input_error(rpmf(die, 1, seed = 0.5), "`seed` must be one whole number")
  expect_error(rpmf(die, 1e14), "the result would have .* draws", class = "warpbayes_error_memory")
})

test_that("distributions are printed, summarised and turned into data frames", {
  expect_output(print(die), "on 1..6\nmean 3.5, sd 1.708; quartiles 2, 3, 5\n")
  many <- rep_sum_pmf(die, 10, threads = 2)
  expect_output(print(many), "probabilities about the mode:.*35")
  l <- pmf(dpois(0:2000, 100, log = TRUE), log = TRUE)
  expect_output(print(l), "probabilities as logarithms.*log probabilities about the mode")
  expect_output(print(pmf(1, from = -7)), "on -7\nmean -7, sd 0")
  expect_invisible(print(die))
  expect_identical(format(die), "pmf on 1..6")
  expect_identical(format(l), "pmf on 0..2000, log scale")
  s <- summary(many)
  expect_s3_class(s, "summary_pmf")
  expect_equal(s$mean, 35)
  expect_equal(s$sd, sqrt(10 * 35 / 12))
  expect_equal(s$skewness, 0)
  expect_identical(s$support, c(10, 60))
  expect_identical(s$mode, 35)
  expect_output(print(s), "support +10..60.*quantiles")
  expect_true(is.na(summary(pmf(1))$skewness))
  frame <- as.data.frame(die)
  expect_identical(frame, data.frame(value = as.double(1:6), prob = rep(1 / 6, 6)))
  expect_named(as.data.frame(l), c("value", "log_prob"))
})

test_that("plots are drawn on every scale", {
  skip_where_repeated()
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  on.exit({
    grDevices::dev.off()
    unlink(file)
  })
  l <- pmf(dpois(0:2000, 100, log = TRUE), log = TRUE)
  expect_invisible(plot(die))
  expect_identical(plot(die), die)
  plot(die, type = "line", main = "a die")
  plot(die, log = TRUE)
  plot(l)
  plot(l, log = FALSE)
  plot(l, xlim = c(50, 90), type = "bars")
  plot(l, xlim = c(5000, 6000))
  plot(pmf(1))
  plot(pmf(c(0, 1, 0)), log = TRUE)
  plot(die, add = TRUE, col = "red")
  expect_length(warpbayes:::thin_line(1:100000, sin(1:100000))$x,
    length(warpbayes:::thin_line(1:100000, sin(1:100000))$y)
  )
  expect_lt(length(warpbayes:::thin_line(1:100000, sin(1:100000))$x), 5000)
  expect_input_error(plot(die, type = "pie"), "`type` must be one of")
  expect_input_error(plot(die, log = "y"), "`log` must be TRUE or FALSE")
  expect_input_error(plot(die, xlim = 3), "`xlim` must be two increasing numbers")
  expect_input_error(plot(die, ylim = c(1, NA)), "`ylim` must be two increasing numbers")
  expect_input_error(plot(die, add = NULL), "`add` must be TRUE or FALSE")
})

test_that("two distributions, distribution functions and quantiles are drawn", {
  skip_where_repeated()
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  long <- pmf(dpois(0:3000, 1000, log = TRUE), log = TRUE)
  sparse <- pmf(c(0.5, 0.3, 0.2), values = c(0, 123456789, 987654321))
  several <- list(die, long, sparse, die / 4 - 1, pmf(1))
  for (x in several) {
    for (y in c(list(NULL), several)) {
      expect_identical(plot(x, y, type = "bars"), x)
      expect_identical(plot(x, y, log = TRUE), x)
      for (lower in c(TRUE, FALSE)) {
        for (log in c(TRUE, FALSE)) {
          expect_identical(plot(x, y, type = "distribution", log = log, lower.tail = lower), x)
        }
      }
      expect_silent(plot(x, y, type = "quantile"))
    }
  }
  plot(die, legend = NULL)
  expect_identical(lines(die + 1, col = "red", lwd = 2), die + 1)
  lines(die, type = "distribution")
  lines(die, type = "quantile")
  # All steps of up to 2,000 values are drawn, however rare, and about 2,000 of more.
  rare <- pmf(c(1, 1e-9, 1e-9, 1) / (2 + 2e-9))
  expect_identical(unique(warpbayes:::quantile_curves(list(rare), FALSE)$curves[[1L]]$y), c(0, 1, 2, 3))
  many <- warpbayes:::quantile_curves(list(pmf(rep(1 / 5000, 5000))), FALSE)$curves[[1L]]
  expect_lte(length(unique(many$y)), 2000)
  # The corners of the steps of a distribution function.
  curve <- function(...) warpbayes:::distribution_curves(list(die), ...)$curves[[1L]]
  expect_equal(curve(c(0, 3), FALSE, TRUE), list(x = c(-0.3, 1, 1, 2, 2, 3, 3, 3.3), y = c(0, 0, 1, 1, 2, 2, 3, 3) / 6))
  expect_equal(curve(c(2, 4), FALSE, FALSE)$y, c(5, 5, 4, 4, 3, 3, 2, 2) / 6)
  expect_equal(curve(c(1, 1), TRUE, FALSE)$y, log10(c(1, 1, 5 / 6, 5 / 6)))
  expect_input_error(plot(die, 3), "`y` must be a distribution made by pmf\\(\\), not 3")
  expect_input_error(plot(die, legend = "x"), "`legend` must be two names, or NULL for none, not \"x\"")
  expect_input_error(plot(die, type = "quantile", log = TRUE), "`log` is TRUE, but probabilities of quantiles")
  expect_input_error(plot(die, lower.tail = 1), "`lower.tail` must be TRUE or FALSE")
})

test_that("c() and rep() make lists of distributions", {
  expect_identical(unclass(c(die, x = die)), list(die, x = die))
  expect_identical(unclass(rep(die, 2)), list(die, die))
  expect_length(rep(die, times = 2, each = 3), 6)
  expect_length(rep(die, length.out = 4), 4)
  expect_identical(sum_pmf(c(die, die), threads = 2), sum_pmf(list(die, die), threads = 2))
  expect_identical(mix_pmf(rep(die, 2), c(0.5, 0.5)), die)
  expect_identical(do.call(max, rep(die, 2)), max(die, die))
  expect_output(print(c(die, -die)), "2 distributions.*\\[\\[1\\]\\] pmf on 1..6.*\\[\\[2\\]\\] pmf on -6..-1")
  expect_output(print(rep(die, 12)), "12 distributions.*\\[\\[10\\]\\] pmf on 1..6\n\\.\\.\\.")
  expect_input_error(sum(c(die, die)), "`sum\\(\\)` is not known for lists of distributions: sum_pmf\\(\\) adds")
  expect_input_error(max(c(die, die)), ": do.call\\(max, x\\) takes its variables one by one")
  expect_input_error(rep(die, times = NULL), "`times` must be one whole number from 0 to .*, not NULL")
  expect_input_error(rep(die, -1), "`times` must be one whole number")
  expect_input_error(rep(die, 3, each = "a"), "`each` must be one whole number")
  expect_input_error(rep(die, length.out = NA), "`length.out` must be one whole number")
  expect_input_error(rep(die, 3, more = 2), "unused argument: `more`")
})

test_that("objects that are not as pmf() makes them are recognised", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  cut <- unfinished <- textual <- shifted <- negative <- die
  cut$prob <- cut$prob[1:3]
  unfinished$from <- NULL
  textual$from <- "1"
  shifted$by <- 0
  negative$prob[[2]] <- -1
  logs <- pmf(log(die$prob), log = TRUE)
  logs$log_prob <- logs$log_prob[1:2]
  far <- pmf(c(0.5, 0.3, 0.2), values = c(0, 1, 1e9))
  far$at <- rev(far$at)
  with_class <- function(x) structure(x, class = class(die))
  bad <- list(
    "its probabilities sum to 0.5, not 1" = cut, "`from` is missing" = unfinished, "`from` is \"1\"" = textual,
    "`by` is 0" = shifted, "`prob` has entries that are not probabilities" = negative,
    "its probabilities sum to 0.333333, not 1" = logs, "`at` does not fit to the probabilities" = far,
    "it is 1 instead of a list" = with_class(1), "`prob` is missing" = with_class(list()),
    "`prob` is not a vector of doubles: an integer of length 2" = with_class(list(prob = 1:2, from = 0)),
    "it lacks the class \"warpbayes\"" = structure(unclass(die), class = "pmf")
  )
  uses <- list(
    mean, variance, median, summary, print, format, plot, lines, as.data.frame, quantile, truncate,
    function(x) die + x, function(x) x - 1, function(x) 2 * x, function(x) max(die, x), function(x) min(x, 3),
    function(x) rep(x, 2), function(x) plot(die, x), function(x) dpmf(x, 1), function(x) ppmf(x, 1),
    function(x) qpmf(x, 0.5), function(x) rpmf(x, 1), function(x) convolve_pmf(x, die), function(x) rep_sum_pmf(x, 2),
    function(x) sum_pmf(list(die, x)), function(x) condition_on_sum_pmf(die, x, 2), function(x) joint_table(die, x),
    function(x) compound_pmf(x, die), function(x) compound_pmf("poisson", x, lambda = 2),
    function(x) mix_pmf(list(die, x), c(0.5, 0.5)), function(x) zero_modify_pmf(x, 0.5),
    function(x) expected_value(x, identity), function(x) probability(x, 1), function(x) tail_value_at_risk(x, 0.9),
    function(x) stop_loss_premium(x, 1)
  )
  for (use in uses) {
    expect_input_error(use(cut), "is not a distribution as pmf\\(\\) makes it: its probabilities sum to 0.5, not 1")
  }
  for (message in names(bad)) {
    expect_input_error(mean(bad[[message]]), message)
    expect_input_error(die + bad[[message]], paste("`e2` is not a distribution as pmf\\(\\) makes it:", message))
  }
  # Small errors of the given probabilities add up in sums of many variables, and are no damage.
  expect_gt(mean(rep_sum_pmf(pmf(c(0.5, 0.5 - 9e-9)), 1e5, threads = 2)), 49900)
})

test_that("missing arguments are named", {
  required <- list(
    dpmf = c("x", "dist"), ppmf = c("q", "dist"), qpmf = c("p", "dist"), rpmf = c("n", "dist"), pmf = "prob",
    convolve_pmf = c("x", "y"), sum_pmf = "x", rep_sum_pmf = c("x", "times"),
    condition_on_sum_pmf = c("x", "y", "total"), joint_table = c("x", "y"),
    compound_pmf = c("number", "size"), mix_pmf = c("x", "weights"),
    zero_modify_pmf = c("x", "prob"), expected_value = c("x", "f"), probability = c("x", "event"),
    tail_value_at_risk = c("x", "p"), stop_loss_premium = c("x", "retention"), pmf_poisson = "lambda",
    pmf_binomial = c("trials", "prob"), pmf_negative_binomial = "successes", pmf_geometric = "prob",
    pmf_hypergeometric = c("m", "n", "k"), pmf_logarithmic = "prob", pmf_uniform = c("from", "to"),
    pmf_poisson_binomial = "prob", variance = "x"
  )
  numbers <- list(trials = 3, m = 3, n = 3, k = 2, from = 0, to = 3)
  for (name in names(required)) {
    for (argument in required[[name]]) {
      others <- setdiff(required[[name]], argument)
      given <- stats::setNames(rep(list(die), length(others)), others)
      given[names(given) %in% names(numbers)] <- numbers[intersect(names(given), names(numbers))]
      expect_input_error(do.call(name, given), sprintf("`%s` is missing", argument))
    }
  }
})

test_that("what R cannot draw is an error about the picture", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (colour in list(sum, NULL, character(), "nope", list("red"))) {
    expect_input_error(plot(die, col = colour), "`col` must be colours")
    expect_input_error(lines(die, col = colour), "`col` must be colours")
  }
  expect_input_error(plot(die, main = sum), "`main` must be text, not a function")
  expect_input_error(plot(die, type = "line", lty = "nope"), "R cannot draw the picture: invalid")
  expect_input_error(plot(die, type = "quantile", lty = "nope"), "R cannot draw the picture: invalid")
  expect_input_error(plot(die, border = 1), "`border` is not known here")
  expect_silent(plot(die, main = quote(X[1]), xlab = expression(x^2)))
  expect_input_error(as.data.frame(die, row.names = 0), "`row.names` must be NULL or 6 different names, not 0")
  expect_input_error(as.data.frame(die, row.names = rep("a", 6)), "`row.names` must be NULL or 6 different names")
  expect_identical(row.names(as.data.frame(die, row.names = letters[1:6])), letters[1:6])
})

test_that("functions of numbers are refused with a suggestion", {
  expect_input_error(sum(die, die), "`sum\\(\\)` is not known for distributions: sum_pmf\\(\\) adds")
  expect_input_error(range(die), "`range\\(\\)` is not known for distributions: quantile")
  expect_input_error(any(die), "`any\\(\\)` is not known for distributions: use mean")
  expect_input_error(exp(die), "`exp\\(\\)` is not known for distributions: use mean")
  expect_input_error(variance(1:3), "`x` must be a distribution made by pmf\\(\\), not an integer of length 3")
})

test_that("the median is the quantile at one half", {
  expect_identical(median(die), 3)
  expect_identical(median(pmf(log(c(0.2, 0.8)), from = -1, log = TRUE)), 0)
  expect_input_error(median(die, type = 7), "`type` is not known here")
})

test_that("digits are checked", {
  expect_input_error(print(die, digits = "a"), "`digits` must be one whole number from 1 to 22, not \"a\"")
  expect_input_error(print(summary(die), digits = 0), "`digits` must be one whole number from 1 to 22, not 0")
})

test_that("errors show the call that was made", {
  call_of <- function(code) conditionCall(tryCatch(code, error = identity))[[1L]]
  expect_identical(call_of(convolve_pmf(c(1, NA), 1)), quote(convolve_pmf))
  expect_identical(call_of(rep_sum_pmf(NULL, 2)), quote(rep_sum_pmf))
  expect_identical(call_of(sum_pmf(list(NULL))), quote(sum_pmf))
  expect_identical(call_of(sum_pmf(list(die, NULL))), quote(sum_pmf))
  expect_identical(call_of(rpmf(die, 1e15)), quote(rpmf))
  expect_identical(call_of(die + 2^52), quote(`+`))
})

test_that("probabilities are normalised everywhere if `tolerance` allows a sum far from 1", {
  x <- pmf(c(0.5, 0.4, 0.3), tolerance = 0.5)
  expect_equal(x$prob, c(5, 4, 3) / 12)
  expect_equal(ppmf(x, 0:2), cumsum(c(5, 4, 3)) / 12)
  expect_equal(mean(x), 10 / 12)
  expect_equal(exp(pmf(log(c(0.5, 0.4, 0.3)), log = TRUE, tolerance = 0.5)$log_prob), c(5, 4, 3) / 12)
  close <- c(0.5, 0.5 + 1e-9)
  expect_identical(pmf(close)$prob, close)
})

test_that("quantiles of log probabilities invert cumulative log probabilities", {
  x <- pmf(dpois(0:2500, 1000, log = TRUE), log = TRUE)
  for (lower in c(TRUE, FALSE)) {
    l <- ppmf(x, 0:2500, lower.tail = lower, log.p = TRUE)
    # If less than 1e-13 is left in the other tail, rounding makes values indistinguishable.
    apart <- l < -1e-13 & l > -Inf
    expect_gt(sum(apart), 1000)
    expect_identical(qpmf(x, l, lower.tail = lower, log.p = TRUE)[apart], as.double(0:2500)[apart])
  }
})

test_that("the printed digits are right", {
  expect_output(print(die + die), "0.02778 0.05556 0.08333 0.11111 0.13889 0.16667")
})

test_that("a distribution differs from a list that holds it", {
  expect_input_error(die[1], "`\\[` is not known for distributions; dpmf\\(x, values\\)")
  expect_input_error(rev(die), "`rev\\(\\)` is not known for distributions: -x")
})

test_that("moments of long distributions are summed in blocks", {
  x <- pmf(dpois(0:3000, 1000))
  l <- pmf(dpois(0:3000, 1000, log = TRUE), log = TRUE)
  for (one in list(x, l)) {
    expect_equal(warpbayes:::central_moments(one, block = 100), warpbayes:::central_moments(one), tolerance = 1e-12)
  }
})

test_that("axes of plots have labels, and impossible values do not hide the others", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  gaps <- numeric(401)
  gaps[c(TRUE, FALSE)] <- dbinom(0:200, 200, 0.3)
  expect_silent(plot(pmf(gaps), log = TRUE))
  expect_silent(plot(pmf(c(0.3, 0.5, 0.2)), log = TRUE))
  expect_silent(plot(pmf(c(0.5, 0.5), from = 2^40)))
  expect_identical(warpbayes:::value_axis(2^40 + c(-0.5, 1.5), TRUE), list(at = 2^40 + 0:1,
    labels = c("1099511627776", "1099511627777")))
  expect_silent(plot(pmf(c(0, -1000, -1000.5), log = TRUE), xlim = c(1, 2)))
})

test_that("variance() works together with that of package posterior, in either order of attaching", {
  skip_if_not_installed("posterior")
  values <- matrix(c(1, 2, 4, 7), 2)
  expect_equal(variance(posterior::rvar(values)), posterior::variance(posterior::rvar(values)))
  expect_equal(posterior::variance(die), variance(die))
  expect_input_error(variance(1:3), "`x` must be a distribution made by pmf")
})
