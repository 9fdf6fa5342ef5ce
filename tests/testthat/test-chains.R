# Three chains that keep all that can be kept, with a prior that is learned.
fit_chains <- function(...) {
  set.seed(1)
  x <- matrix(rnorm(1200), ncol = 3)
  dp_mixture(x,
    components = 5, chains = 3, iter = 30, seed = 4, threads = 1, progress = FALSE,
    keep = c("weights", "means", "covariances", "labels"),
    prior = dp_prior(learn = c("mean", "mean_scale", "df", "scale")), ...
  )
}

same <- function(a, b) {
  parts <- setdiff(names(a), c("elapsed", "call"))
  expect_identical(names(a), names(b))
  expect_identical(a[parts], b[parts])
}

test_that("a fit taken apart into chains and joined again is the same", {
  fit <- fit_chains()
  same(warpbayes:::join_chains(fit, warpbayes:::separate_chains(fit)), fit)
})

test_that("chains on the workers of a future plan give the same draws", {
  skip_if_not_installed("future")
  skip_if_not_installed("future.apply")
  skip_on_cran()
  here <- fit_chains(backend = "cpu")
  plan <- future::plan(future::multisession, workers = 2)
  on.exit(future::plan(plan))
  same(fit_chains(backend = "cpu"), here)
  longer <- continue(here, 7, backend = "cpu", threads = 1)
  future::plan(plan)
  same(continue(here, 7, backend = "cpu", threads = 1), longer)
})
