# The search for a better start in the warm-up: when it runs, what it finds, and that threads and backends agree.

# One curved population, whose chains keep too many components without a search.
curved_cells <- function(n = 1500) {
  set.seed(2)
  z <- matrix(rnorm(4 * n), n)
  cbind(a = z[, 1], b = z[, 2] + z[, 1]^2, c = z[, 3] - abs(z[, 1]), d = exp(z[, 4] / 2))
}

test_that("a search runs where a sweep is short, and where it is asked for", {
  x <- curved_cells(1000)
  window <- function(x, iter, ...) {
    fit <- dp_mixture(x, 4, iter = iter, warmup = iter - 1, seed = 1, threads = 2, backend = "cpu", ...)
    fit$state[[1L]]$search[1:2]
  }
  expect_identical(window(x, 260), c(120, 181))
  expect_null(window(x, 200))
  expect_null(window(x[1:300, ], 260))
  expect_identical(window(x[1:300, ], 260, control = warp_control(start = "search")), c(120, 181))
  expect_identical(window(x[1:300, ], 260, sample = rep(1:2, 150), control = warp_control(start = "search")),
    c(120, 128))
  expect_null(window(x, 260, control = warp_control(moves = FALSE)))
  expect_null(window(x, 260, control = warp_control(start = rep(1:4, 250))))
  expect_error(dp_mixture(x, 4, method = "bem", control = warp_control(start = "search")), "`start` is \"search\"",
    class = "warpbayes_error_input")
})

test_that("a search raises the score of every chain and leaves fewer components", {
  skip_where_repeated()
  x <- curved_cells()
  run <- function(...) dp_mixture(x, 32, chains = 3, iter = 500, seed = 1, threads = 2, backend = "cpu", ...)
  searched <- run()
  # With labels as a start there is no search.
  plain <- run(control = warp_control(start = kmeans(x, 32, iter.max = 50)$cluster))
  last <- function(values) colMeans(values[251:500, ])
  expect_gt(min(last(searched$score)), max(last(plain$score)))
  expect_lt(max(last(searched$occupied)), min(last(plain$occupied)))
})

test_that("a search that was changed is refused", {
  fit <- dp_mixture(curved_cells(100), 4, iter = 20, seed = 1, threads = 1, backend = "cpu")
  for (wrong in list(c(1e300, 5, 0), c(9, 5, 0), c(NaN, 5, 0), c(1, 1e300, 0), 1)) {
    fit$state[[1L]]$search <- wrong
    expect_error(continue(fit, 2, threads = 1), "has been changed", class = "warpbayes_error_input")
  }
})

test_that("a search does not depend on slices, threads or the backend", {
  x <- curved_cells(120)[, 1:2]
  fit <- function(backend = "cpu", ...) {
    dp_mixture(x, 5, iter = 140, warmup = 135, seed = 1, backend = backend,
      control = warp_control(start = "search"), ...)
  }
  reference <- fit(threads = 1)
  expect_identical(reference$state[[1L]]$search[1:2], c(87, 94))
  same <- c("draws", "score", "log_likelihood", "state")
  expect_identical(fit(threads = 2)[same], reference[same])
  # Chains side by side.
  one <- fit(threads = 1, chains = 2)
  expect_identical(one$draws$means[, , , 1], reference$draws$means[, , , 1])
  skip_without_cuda()
  expect_identical(fit("cuda", threads = 1)[same], reference[same])
})
