# The checks of the data beneath a martingale posterior: where they must speak, and where they must not. Their rates on
# many kinds of data are in bench/predictive-checks.R.

codes_of <- function(y, model = copula_density(0.8, permutations = 1), ...) {
  reasons <- verdict(predictive_resample(y, model, draws = 2, seed = 1, threads = 2, ...))$reasons
  setdiff(grep("^(order|copies|data)_", reasons$code, value = TRUE), "")
}
u <- sample_of(60)
# Orders without a pattern.
orders <- apply(matrix(rpolyagamma(180, 1, seed = 4), 60), 2, order)
shuffled <- u[orders[, 1]]

test_that("data that suit the model are left alone, in any unit and order", {
  skip_where_repeated()
  for (y in list(qnorm(shuffled), qgamma(shuffled, 3), qt(shuffled, 5), 170 + 8 * round(qnorm(shuffled), 1))) {
    changed <- list(1e6 * y - 3, -y / 7, y[orders[, 2]])
    for (units in c(list(y), if (full_run()) changed else changed[test_part %% 3L + 1L])) {
      expect_identical(codes_of(units), character())
    }
  }
  expect_identical(codes_of(sort(qnorm(u))), character())
  expect_identical(codes_of(qnorm(shuffled), normal_mean()), character())
  expect_identical(codes_of(c(1.5, 2.5)), character())
})

test_that("what order, copies, few values, islands and ends show is said, with its figure", {
  skip_where_repeated()
  walk <- as.vector(stats::filter(qnorm(shuffled), 0.9, "recursive"))
  expect_identical(codes_of(walk), "order_alike")
  expect_identical(codes_of(walk, normal_mean()), "order_alike")
  expect_identical(codes_of(walk, bayesian_bootstrap()), "order_alike")
  expect_true("order_trend" %in% codes_of(0.6 * qnorm(shuffled) + seq_len(60) / 60))
  expect_identical(codes_of(c(qnorm(shuffled), qnorm(u[orders[, 2]]))), "copies_found")
  expect_identical(codes_of(findInterval(shuffled, c(0.1, 0.3, 0.7, 0.9)) + 1), "data_ties")
  expect_true("data_island" %in% codes_of(replace(qnorm(shuffled), 1:4, c(20, 20.5, 19, 21))))
  expect_identical(codes_of(qbeta(shuffled, 0.3, 0.3)), "data_ends")
  expect_identical(codes_of(qbeta(shuffled, 0.3, 0.3), copula_density(0.8, permutations = 1, support = c(0, 1))),
    character())
  fit <- predictive_resample(walk, normal_mean(), draws = 2, seed = 1)
  said <- verdict(fit)
  expect_match(said$reasons$words[said$reasons$code == "order_alike"], "lag-1 correlation 0\\.[5-9]")
  expect_identical(said$answer, "usable with reservations")
})

test_that("pairs and regressions name the columns that do not suit the model", {
  x <- qnorm(shuffled)
  noise <- qnorm(u[orders[, 2]])
  pairs <- copula_density(0.7, permutations = 1)
  expect_identical(codes_of(cbind(a = x, b = 0.5 * x + noise), pairs), character())
  bent <- function(...) {
    predictive_resample(cbind(a = x, b = x^2 + noise / 3), copula_density(0.7, permutations = 1, ...), 5, 2, seed = 1,
      threads = 2)
  }
  expect_match(said_of(bent(scale = "data"), "data"), "^a and b: one bends with the other")
  expect_null(said_of(bent(), "data"))
  third <- qnorm(u[orders[, 3]])
  rows <- data.frame(y = x * third + noise / 2, x = x, z = third)
  lines <- function(rows, mean = "linear") {
    model <- copula_regression(y ~ x + z, rows[1:2, ], 0, 0.7, 0.5, permutations = 1, mean = mean)
    predictive_resample(rows, model, 5, 2, seed = 1, threads = 2)
  }
  expect_match(said_of(lines(rows), "data"), "^The product of x and z would explain more .*mean = ~ x \\* z has it")
  expect_null(said_of(lines(rows, "auto"), "data"))
  expect_null(said_of(lines(transform(rows, y = x - z + noise)), "data"))
})
