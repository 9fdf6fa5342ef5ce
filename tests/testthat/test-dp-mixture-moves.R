# Splits and joins of components: what they find, and that all backends agree. Geweke's test (tests/geweke) checks that
# they leave the posterior invariant.

# Three populations. A fifth of the cells have the same value of the second marker.
piled_cells <- function(n = 3000) {
  set.seed(1)
  x <- matrix(rnorm(3 * n), n) + 3 * sample(0:2, n, TRUE)
  x[sample(n, n / 5), 2] <- 0
  dimnames(x) <- list(NULL, c("a", "b", "c"))
  x
}

test_that("components for piled-up cells are found, and components of one population are joined", {
  x <- piled_cells()
  fit <- dp_mixture(
    x, 16, iter = 60, seed = 2, threads = 2, backend = "cpu",
    control = warp_control(keep = c("weights", "means", "covariances", "labels"))
  )
  piled <- x[, 2] == 0
  labels <- fit$draws$labels[, 30, 1]
  # A population lies around the pile, so single cells are on the wrong side.
  share <- tapply(piled, labels, mean)[as.character(labels)]
  expect_gt(mean(share[piled] > 0.9), 0.97)
  expect_lt(mean(share[!piled] > 0.9), 0.03)
  # Three populations in the pile and three outside it, and perhaps two more.
  expect_lte(sum(tabulate(labels, 16) > 60), 8)
})

test_that("there are atoms only if values are piled up", {
  x <- piled_cells(500)
  atoms <- function(x) {
    find_atoms(list(x = x, rows = nrow(x), markers = colnames(x), center = c(0, 0, 0), scale = c(1, 2, 1)))
  }
  expect_identical(atoms(x), rbind(1, 0))
  expect_identical(dim(atoms(x[x[, 2] != 0, ])), c(2L, 0L))
  # Repeated whole numbers are not atoms, but the least of them is.
  counts <- floor(100 * abs(x))
  counts[counts[, 3] < 100, 3] <- 0
  expect_identical(atoms(counts)[, atoms(counts)[1, ] == 2], c(2, 0))
  # Whole numbers with a long tail, as of scatter: the most frequent ones are not atoms, but a pile among them is.
  scatter <- round(exp(4 + 0.6 * stats::qnorm(stats::ppoints(5000))))
  expect_gt(max(table(scatter)), 5 * stats::median(table(scatter)))
  expect_identical(dim(atoms(cbind(a = scatter, b = 1, c = 0:1))), c(2L, 0L))
  scatter[1:1000] <- 100
  expect_identical(atoms(cbind(a = scatter, b = 1, c = 0:1)), rbind(0, 100))
})

test_that("a learned scale starts narrow in markers with piled values only", {
  fit <- dp_mixture(piled_cells(500), 4, iter = 2, seed = 1, threads = 2, backend = "cpu")
  expect_equal(diag(narrow_prior(fit$prior, find_atoms(fit))$scale), c(0.25, 0.01, 0.25), tolerance = 1e-12)
  for (prior in list(dp_prior(scale = 1), dp_prior(scale = 1, learn = "scale"), dp_prior(learn = "mean"))) {
    fit <- dp_mixture(piled_cells(500), 4, iter = 2, seed = 1, threads = 2, backend = "cpu", prior = prior)
    expect_identical(narrow_prior(fit$prior, find_atoms(fit)), fit$prior)
  }
})

test_that("fits with splits and joins are the same on any number of threads", {
  x <- piled_cells()
  fits <- lapply(c(1, 2, 5), function(threads) {
    fit_result(dp_mixture(x, 12, iter = 12, warmup = 4, seed = 3, threads = threads, backend = "cpu"))
  })
  expect_identical(fits[[2]], fits[[1]])
  expect_identical(fits[[3]], fits[[1]])
})

test_that("fits with splits and joins are the same on a card", {
  skip_if_not(on_cuda(), "no card")
  x <- piled_cells()
  fit <- function(backend, precision) {
    fit_result(dp_mixture(
      x, 12, iter = 12, warmup = 4, seed = 3, threads = 2, backend = backend,
      control = warp_control(precision = precision)
    ))
  }
  expect_identical(fit("cuda", "double"), fit("cpu", "double"))
  # Rows that do not stay on the device.
  old <- options(warpbayes.device_memory = 3e5)
  on.exit(options(old))
  expect_identical(fit("cuda", "double"), fit("cpu", "double"))
})

test_that("an atom in a missing column is refused", {
  session <- native(C_mixture_open, matrix(0, 3, 2), c(0, 0), c(1, 1), 0L, TRUE, resolve_run(NULL, 1))
  on.exit(.Call(C_session_close, session))
  state <- sampler_state(sampler_prior(2), numeric(2 * statistics_size(2)), 1, .Call(C_chain_key, 1, 1L), 1)
  expect_error(
    native_one(
      C_mixture_sweeps, session, sampler_prior(2), state, 1L, TRUE, rbind(2, 0), matrix(0, 2, 1), rep(FALSE, 3),
      c(0, 0), c(1, 1)
    ),
    "changed since it was made"
  )
})
