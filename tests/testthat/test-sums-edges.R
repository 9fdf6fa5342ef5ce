# Properties of sums and ranks at the edges: ties, cancellation, values far apart, tiny weights.

test_that("ranks do not change under monotone maps", {
  set.seed(1)
  for (i in 1:5) {
    x <- sample(12, 6, TRUE)
    y <- sample(12, 7, TRUE)
    p <- rank_test(x, y)$p.value
    maps <- list(exp, log, function(v) v + 1e9, function(v) v * 1e-300, function(v) v * 1e300,
      function(v) 1.7e9 + v * 1e-5,
      function(v) 10^(25 * (v - 12)))
    for (map in maps) expect_identical(rank_test(map(x), map(y))$p.value, p)
  }
  expect_equal(rank_test(11:17, c(1:5, 1e15))$p.value, 0.0512820512820513)
  # Subtraction rounds: these differences are equal.
  expect_identical(rank_test(c(0.3, 0.2, 0.7), c(0.2, 0.1, 0.2), paired = TRUE)$p.value,
    rank_test(c(1, 1, 5))$p.value)
})

test_that("rank tests take formulas and blocks, and intervals agree with wilcox.test()", {
  skip_where_repeated()
  d <- data.frame(v = c(1.1, 2.3, 3.7, 4.2, 0.4, 5.9, 6.1), g = c("a", "b", "a", "b", "a", "b", "b"))
  a <- d$v[d$g == "a"]
  b <- d$v[d$g == "b"]
  for (alternative in c("two.sided", "less", "greater")) {
    mine <- rank_test(v ~ g, d, alternative = alternative, level = 0.8)
    r <- wilcox.test(a, b, alternative = alternative, conf.int = TRUE, conf.level = 0.8)
    expect_equal(mine$p.value, r$p.value)
    expect_equal(unname(mine$estimate), unname(r$estimate), tolerance = 1e-4)
    expect_equal(as.vector(mine$conf.int), as.vector(r$conf.int), tolerance = 1e-4)
  }
  # Blocks: the statistics add, and each block is permuted on its own.
  block <- rep(1:2, c(4, 3))
  parts <- lapply(1:2, function(k) pmf_rank_sum(d$v[block == k & d$g == "a"], d$v[block == k & d$g == "b"]))
  test <- rank_test(v ~ g | block, d)
  expect_equal(test$distribution$prob, (parts[[1L]] + parts[[2L]])$prob)
  expect_error(rank_test(v ~ v, d), "must have two groups", class = "warpbayes_error_input")
})

# families-exact.csv: parameters drawn over their whole ranges (means of 1e-8 to 1e12, sizes of 1e-3 to 1e15), values
# from far below the mean to far above it. Log densities are by log gamma functions of 50 digits (mpmath), and
# logarithms of P(X <= x) and P(X > x) by sums of them.
test_that("densities by name have the stated error over the whole range of parameters", {
  exact <- utils::read.csv(test_path("families-exact.csv"))
  found <- vapply(seq_len(nrow(exact)), function(i) {
    parameters <- unlist(exact[i, c("first", "second", "third")], use.names = FALSE)
    family <- list(name = exact$family[[i]], parameters = parameters[!is.na(parameters)])
    of <- family_functions(family)
    x <- exact$x[[i]]
    # R would add billions of hypergeometric terms for some.
    slow <- is.na(exact$log_lower[[i]]) || (family$name == "hypergeometric" && max(family$parameters) > 1e6)
    tails <- if (slow) c(NA, NA) else c(of$tail_of(x, TRUE, TRUE), of$tail_of(x, FALSE, TRUE))
    c(of$density(x, TRUE), tails)
  }, numeric(3))
  expect_lt(max(abs(found[1L, ] - exact$log_density) / (1 + abs(exact$log_density))), 5e-15)
  for (tail in 2:3) {
    log_tail <- exact[[c("log_lower", "log_upper")[[tail - 1]]]]
    known <- which(is.finite(log_tail) & exact$family != "logarithmic" & !is.na(found[tail, ]))
    expect_gt(length(known), 60)
    expect_lt(max(abs(found[tail, known] - log_tail[known]) / (1 + abs(log_tail[known]))), 5e-13)
  }
  # Of logarithmic numbers an upper bound is known.
  bounded <- which(exact$family == "logarithmic" & is.finite(exact$log_upper))
  expect_true(all(found[3L, bounded] >= exact$log_upper[bounded] - 1e-13))
  expect_no_warning(x <- pmf_negative_binomial(1e15, mu = 10))
  expect_equal(mean(x), 10, tolerance = 1e-13)
  expect_equal(dpmf(pmf_negative_binomial(1e8, mu = 1e-8), 1), 1e-8, tolerance = 1e-7)
})

test_that("rare events in many trials keep their digits in sums", {
  one <- pmf(1, from = 1)
  for (trials in 10^c(2, 3, 6, 9, 15)) {
    by_name <- dpmf(pmf_binomial(trials, 2 / trials), 0:6)
    claims <- compound_pmf("binomial", one, trials = trials, prob = 2 / trials)
    expect_lt(max(abs(dpmf(claims, 0:6) / by_name - 1)), 2e-14)
    # A claim of size 0 or 1 is one with half the probability.
    halves <- compound_pmf("binomial", pmf(c(0.5, 0.5)), trials = trials, prob = 4 / trials)
    expect_lt(max(abs(dpmf(halves, 0:6) / by_name - 1)), 2e-14)
    none <- compound_pmf("binomial", one, trials = trials, prob = 2 / trials, zero = 0)
    expect_equal(dpmf(none, 0:6), c(0, by_name[-1L] / (1 - by_name[[1L]])), tolerance = 1e-13)
  }
  many <- compound_pmf("binomial", one, trials = 1e6 + 7, prob = 0.01)
  expect_lt(max(abs(dpmf(many, 9800:10200) / dpmf(pmf_binomial(1e6 + 7, 0.01), 9800:10200) - 1)), 1e-11)
  events <- pmf_poisson_binomial(1e-6, weights = 1e6)
  expect_lt(max(abs(dpmf(events, 0:6) / dpmf(pmf_binomial(1e6, 1e-6), 0:6) - 1)), 1e-14)
  mixed <- pmf_poisson_binomial(c(1e-6, 0.25), weights = c(1e6, 2), log = TRUE)
  expect_equal(dpmf(mixed, 0), 0.75^2 * dbinom(0, 1e6, 1e-6), tolerance = 1e-13)
})

test_that("values far apart stay few", {
  policies <- portfolio_pmf(c(19.99, 249.95, 100000.01), c(0.1, 0.1, 0.001))
  parts <- sum_pmf(pmf(c(0.9, 0.1), values = c(0, 19.99)), pmf(c(0.9, 0.1), values = c(0, 249.95)),
    pmf(c(0.999, 0.001), values = c(0, 100000.01)))
  expect_equal(as.data.frame(policies), as.data.frame(parts), tolerance = 1e-14)
  expect_output(print(policies), "100269.95")
  claims <- compound_pmf("poisson", pmf(c(0.7, 0.3), values = c(1, 1e9)), lambda = 3)
  grid <- expand.grid(i = 0:8, j = 0:8)
  expect_lt(max(abs(dpmf(claims, grid$i + 1e9 * grid$j) / (dpois(grid$i, 2.1) * dpois(grid$j, 0.9)) - 1)), 1e-13)
  both <- compound_table(pmf_poisson(2), pmf(c(0.5, 0.5), values = c(1, 1e4)), pmf_uniform(1, 2))
  expect_equal(sum(both), 1, tolerance = 1e-13)
  law <- pmf_linear_rank(c(1:10, 1e9), 5)
  expect_identical(range(as.data.frame(law)$value), c(15, 1e9 + 34))
  expect_equal(ppmf(law, 1e6), 6 / 11)
})

test_that("subnormal weights are drawn in proportion", {
  weights <- c(3, 2, 1) * 5e-324
  for (precision in c("double", "single")) {
    one <- rcategorical(matrix(weights, 6000, 3, byrow = TRUE), seed = 1, precision = precision, threads = 2)
    many <- rcategorical(weights, draws = 6000, seed = 2, precision = precision, threads = 2)
    # False alarms: 1e-9 for each.
    for (items in list(one, many)) expect_gt(chisq.test(tabulate(items, 3), p = c(3, 2, 1) / 6)$p.value, 1e-9)
  }
})

test_that("distributions on whole numbers convert without a step", {
  skip_if_not_installed("distributional")
  count <- distributional::dist_poisson(2)
  expect_equal(as_pmf(distributional::dist_bernoulli(0.3))$prob, c(0.7, 0.3))
  expect_equal(dpmf(as_pmf(distributional::dist_inflated(count, 0.3)), 0), 0.3 + 0.7 * exp(-2), tolerance = 1e-9)
  mixed <- as_pmf(distributional::dist_mixture(count, distributional::dist_binomial(4, 0.3), weights = c(0.4, 0.6)))
  expect_equal(dpmf(mixed, 2), 0.4 * dpois(2, 2) + 0.6 * dbinom(2, 4, 0.3), tolerance = 1e-9)
  expect_equal(as_pmf(distributional::dist_sample(list(c(1, 2, 2, 5))))$prob, c(0.25, 0.5, 0, 0, 0.25))
})

test_that("one way each: sums and quantiles by any of their names are one law", {
  x <- pmf(c(0.2, 0.5, 0.3), from = 3, by = 0.5)
  for (y in list(pmf_poisson(2), pmf(c(0.9, 0.1), values = c(0, 1e6)), pmf_poisson(2, log = TRUE))) {
    expect_identical(sum_pmf(x, y), x + y)
    expect_identical(convolve_pmf(x, y), x + y)
    expect_identical(sum_pmf(list(x, y)), x + y)
  }
  p <- c(0, 1e-9, 0.2, 0.5, 0.7, 1 - 1e-9)
  expect_identical(unname(quantile(x, p)), qpmf(x, p))
  expect_identical(value_at_risk(x, p), qpmf(x, p))
  expect_identical(median(x), qpmf(x, 0.5))
})

test_that("the way is chosen by work, and refusals say how many entries would be needed", {
  size <- pmf(c(0.5, 0.5), values = c(1, 1e9))
  expect_true(is_sparse(compound_pmf("poisson", size, lambda = 1)))
  # All powers of ten: no gap can be told from sums of smaller sizes.
  powers <- pmf(rep(0.2, 5), values = 10^c(0:3, 8))
  few <- compound_pmf("binomial", powers, trials = 3, prob = 0.5)
  expect_equal(dpmf(few, c(1e8, 3e8, 1110)), c(3 * 0.1 * 0.25, 0.001, 6 * 0.001), tolerance = 1e-13)
  by_law <- compound_pmf(pmf_binomial(3, 0.5), powers)
  expect_equal(as.data.frame(few), as.data.frame(by_law), tolerance = 1e-13)
  expect_error(compound_pmf("poisson", pmf(rep(0.1, 10), values = 10^(0:9)), lambda = 200),
    "would have [0-9,]+ probabilities", class = "warpbayes_error_memory")
  # 200 sums in cents: one shift of all positions for each.
  set.seed(1)
  sums <- sample(1e5, 200) / 100
  p <- runif(200, 0.001, 0.02)
  total <- portfolio_pmf(sums, p, tail = 1e-10)
  expect_false(is_sparse(total))
  expect_equal(mean(total), sum(sums * p), tolerance = 1e-9)
  expect_equal(variance(total), sum(sums^2 * p * (1 - p)), tolerance = 1e-7)
  expect_equal(dpmf(total, 0), prod(1 - p), tolerance = 1e-13)
  expect_equal(dpmf(total, min(sums)), prod(1 - p) * (p / (1 - p))[which.min(sums)], tolerance = 1e-12)
})

test_that("a far value changes neither the lattice nor the ties of the others", {
  far <- pmf(rep(0.25, 4), values = c(-1e13, 0.25, 0.75, 1))
  expect_identical(as.data.frame(far)$value, c(-1e13, 0.25, 0.75, 1))
  expect_identical(dpmf(far, c(0.2, 0.25, 0.250001, 0.3, 1)), c(0, 0.25, 0, 0, 0.25))
  expect_identical(ppmf(far, c(0.2, 0.249, 0.25)), c(0.25, 0.25, 0.5))
  # Distances from the mean are equal only if they are.
  law <- pmf(c(0.25, 0.25, 0.25, 0.25), values = c(0, 1, 2, 5))
  expect_identical(exact_p_value(law, c(0, 5), method = "distance"), c(0.5, 0.25))
})

test_that("an interval computes the law of untied ranks once", {
  laws <- 0
  law <- remembering(function(lattice, size) laws <<- laws + 1)
  for (at in list(c(1, 2, 3), c(3, 2, 1), c(2, 1, 3))) law(list(at = at, first = 0, by = 1), 2)
  expect_identical(laws, 1)
  law(list(at = c(1, 1, 3), first = 0, by = 1), 2)
  law(list(at = c(1, 1, 3), first = 0, by = 1), 1)
  expect_identical(laws, 3)
  # Bad samples have messages, and one observation each is enough.
  expect_error(rank_test(c(1, NaN), numeric()), "`y` has no values", class = "warpbayes_error_input")
  for (bad in list(c(1, Inf), factor("a"), Sys.Date(), "1")) {
    expect_error(rank_test(1:3, bad), "`y` must be a vector of finite numbers", class = "warpbayes_error_input")
  }
  expect_identical(rank_test(1, 2, level = 0.5)$p.value, 1)
  expect_error(rank_test(1:3, 4:6, scores = function(r) r / 0), "must give a finite number", class =
    "warpbayes_error_input")
})

test_that("functions have the errors that their pages state, next to whole numbers", {
  # Probabilities are whole numbers divided by 2^20, so that plain sums are exact.
  set.seed(5)
  n <- c(sample(2e4, 40), 0)
  n[[41]] <- 2^20 - sum(n)
  x <- pmf(n / 2^20, from = -3, by = 0.25)
  v <- seq_along(n) - 13
  m <- sum(v * n) / 2^20
  two <- vapply(2:82, function(s) sum(n[pmax(1, s - 41):pmin(41, s - 1)] * n[s - pmax(1, s - 41):pmin(41, s - 1)]), 0)
  excess <- sum(pmax(v - 4, 0) * n) / 2^20 / 4
  at_risk <- which(cumsum(n) >= 0.9 * 2^20)[[1]]
  up_to <- cumsum(n)
  log_n <- log(n) - 20 * log(2)
  checked <- list(
    dpmf = list(dpmf(x, v / 4), n / 2^20), ppmf = list(ppmf(x, v / 4), up_to / 2^20),
    upper = list(ppmf(x, v[-41] / 4, lower.tail = FALSE), (2^20 - up_to[-41]) / 2^20),
    sum = list((x + x)$prob, two / 2^40), rep_sum = list(rep_sum_pmf(x, 2)$prob, two / 2^40),
    sum_pmf = list(sum_pmf(x, x, accuracy = 0)$prob, two / 2^40), mean = list(mean(x), m / 4),
    variance = list(variance(x), (sum(v^2 * n) / 2^20 - m^2) / 16), premium = list(stop_loss_premium(x, 1), excess),
    expected = list(expected_value(x, function(x) x^2), sum(v^2 * n) / 2^24),
    probability = list(probability(x, function(x) x > 1), sum(n[v > 4]) / 2^20),
    tail_value = list(tail_value_at_risk(x, 0.9),
      v[at_risk] / 4 + sum(pmax(v - v[at_risk], 0) * n) / 2^22 / (1 - 0.9)),
    entropy = list(shannon_entropy(x), -sum(n * log_n) / 2^20),
    generating = list(generating_function(x, 16), sum(n * 2^v) / 2^20),
    cumulants = list(cumulants(x, 2)[[2]], (sum(v^2 * n) / 2^20 - m^2) / 16),
    mixture = list(mix_pmf(list(x, -x), c(0.25, 0.75))$prob[1:16], 0.75 * rev(n)[1:16] / 2^20),
    largest = list(max(x, x)$prob, (2 * up_to * n - n^2) / 2^40),
    median = list(order_statistic_pmf(list(x, x, x), 3)$prob, (up_to^3 - c(0, up_to[-41])^3) / 2^60),
    truncated = list(truncate_pmf(x, 0)$prob, n[13:41] / sum(n[13:41])),
    given = list(condition_on_sum_pmf(x, x, 0)$x$prob, n[1:25] * n[25:1] / sum(n[1:25] * n[25:1])),
    compound = list(compound_pmf(pmf(c(0.5, 0.25, 0.25)), x + 3)$prob[2:41], n[2:41] / 2^22 + two[2:41] / 2^42),
    joint = list(as.vector(joint_table(x, x)[41, 41:81]), n[41] * n / 2^40)
  )
  for (name in names(checked)) {
    expect_lt(max(abs(checked[[name]][[1]] / checked[[name]][[2]] - 1)), 1e-14, label = name)
  }
})

test_that("sums, highest values and tables of values far apart take their few values alone", {
  far <- pmf(c(0.5, 0.3, 0.2), values = c(0, 1, 1e9))
  total <- rep_sum_pmf(far, 200)
  expect_lt(abs(dpmf(total, 60 + 40e9) / dmultinom(c(100, 60, 40), prob = c(5, 3, 2)) - 1), 1e-12)
  logs <- rep_sum_pmf(pmf(log(c(0.5, 0.3, 0.2)), values = c(0, 1, 1e9), log = TRUE), 20)
  expect_equal(dpmf(logs, 6 + 4e9), dmultinom(c(10, 6, 4), prob = c(5, 3, 2)), tolerance = 1e-12)
  expect_equal(mean(sum_of_highest_pmf(rep(far, 3), 2)) + mean(min(far, far, far)), 3 * mean(far))
  expect_identical(dim(joint_table(far, far)), c(3L, 6L))
  # Two values have one step, and are far apart on the other's.
  two <- joint_table(pmf(c(0.25, 0.75), values = c(0.01, 1e8)), pmf(c(0.5, 0.5), values = c(-1e12, 3)))
  expect_identical(c(unclass(two)), c(0.125, 0, 0, 0.375, 0.125, 0, 0, 0.375))
  expect_equal(as.data.frame(discretize_pmf(far, 1))$prob, c(0.5, 0.3, 0.2))
  # Gaps of nearly one length: sums of codes do not have the order of the values.
  near <- pmf(c(0.5, 0.3, 0.2), values = c(100003, 200425, 1e9 + 7))
  by_law <- mix_pmf(lapply(0:6, function(k) Reduce(`+`, rep(near, k), pmf(1))), dbinom(0:6, 6, 0.5))
  expect_equal(as.data.frame(compound_pmf(pmf_binomial(6, 0.5), near)), as.data.frame(by_law), tolerance = 1e-13)
  table <- compound_table(pmf_binomial(6, 0.5), near, pmf(1))
  expect_equal(as.vector(table), as.data.frame(by_law)$prob, tolerance = 1e-13)
  expect_identical(format_value(c(0, 1 / 3, 1e9 / 3)), c("0", "0.333333333333333", "333333333.333333"))
})

test_that("rank tests keep their p-values under shuffles, and mirrored samples mirror them", {
  set.seed(2)
  x <- sample(9, 8, TRUE)
  y <- sample(9, 9, TRUE)
  for (method in c("doubled", "distance", "likelihood")) {
    p <- rank_test(x, y, method = method)$p.value
    expect_equal(rank_test(rev(x), sample(y), method = method)$p.value, p)
    expect_equal(rank_test(y, x, method = method)$p.value, p)
    expect_equal(rank_test(-x, -y, method = method)$p.value, p)
  }
  shifted <- rank_test(x + 10, y, level = 0.9)
  plain <- rank_test(x, y, level = 0.9)
  expect_equal(c(shifted$estimate, shifted$conf.int), c(plain$estimate, plain$conf.int) + 10, ignore_attr = TRUE)
  expect_equal(rank_test(7 * x, 7 * y, level = 0.9)$conf.int, 7 * plain$conf.int, ignore_attr = TRUE)
  expect_identical(rank_test(x, y, alternative = "less")$p.value, rank_test(y, x, alternative = "greater")$p.value)
})

test_that("shifts shorter and longer than a block of the compiled code add the same", {
  set.seed(8)
  at <- list(c(0, 1, 5000), c(0, 3000), c(0, 2048, 2049), c(0, 7), c(0, 2047))
  weights <- lapply(at, function(one) runif(length(one)))
  x <- runif(5000)
  counts <- 5000 + cumsum(vapply(at, max, 0))
  all <- Reduce(function(sum, k) {
    convolve_pmf(sum, replace(numeric(max(at[[k]]) + 1), at[[k]] + 1, weights[[k]]), accuracy = 0)
  }, seq_along(at), x)
  expect_equal(shifted_sums(x, at, weights, counts), all, tolerance = 1e-14)
  expect_identical(shifted_sums(x, at, weights, pmin(counts, 9000)), shifted_sums(x, at, weights, counts)[1:9000])
})

test_that("intervals scale with values of any size", {
  x <- c(3, -1, 4, 1, 5, -9, 2, 6)
  one <- rank_test(x, level = 0.9)
  two <- rank_test(x, c(0, 2, 7, 1), level = 0.9)
  for (scale in c(1e-300, 1e-9, 1e9, 1e300)) {
    expect_equal(rank_test(x * scale, level = 0.9)$conf.int / scale, one$conf.int)
    expect_equal(rank_test(x * scale, c(0, 2, 7, 1) * scale, level = 0.9)$conf.int / scale, two$conf.int)
  }
})
