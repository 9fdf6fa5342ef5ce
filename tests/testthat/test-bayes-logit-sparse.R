# Regressions whose design is a sparse matrix.

skip_if_not_installed("Matrix")

sparse_rows_of <- function(n, p, density = 0.2) {
  set.seed(8)
  x <- matrix(rnorm(n * p) * rbinom(n * p, 1, density), n, dimnames = list(NULL, paste0("v", seq_len(p))))
  x[1, ] <- 0
  list(dense = x, sparse = methods::as(x, "CsparseMatrix"), y = rbinom(n, 1, plogis(x[, 1] - 1)), offset = rnorm(n))
}
input <- "warpbayes_error_input"

test_that("a step gives the same bits for a sparse and a dense matrix", {
  d <- sparse_rows_of(2300, 9)
  beta <- seq(-1, 1, length.out = 9)
  step <- function(x, ...) {
    polyagamma_step(x, d$y, beta, offset = d$offset, prior_precision = 0.1, iteration = 3, seed = 2, ...)
  }
  reference <- step(d$dense, threads = 1)
  expect_identical(step(d$sparse, threads = 2), reference)
  old <- options(warpbayes.isa = NULL)
  on.exit(options(old))
  for (isa in instruction_sets()) {
    options(warpbayes.isa = isa)
    expect_identical(step(d$sparse, threads = 2, backend = "cpu"), reference, label = isa)
  }
  empty <- polyagamma_step(0 * d$sparse, d$y, beta, prior_precision = 1, seed = 2, threads = 2)
  expect_identical(empty$precision, diag(9))
  # All classes of the package Matrix.
  indicators <- methods::as(d$sparse != 0, "RsparseMatrix")
  expect_identical(step(indicators, threads = 2)$beta, step((d$dense != 0) + 0, threads = 2)$beta)
  d$sparse[2, 3] <- NaN
  expect_error(step(d$sparse), "`x` has values that are not finite", class = input)
})

test_that("sparse and dense designs give the same fit, up to centring, on all backends", {
  d <- sparse_rows_of(2300, 6)
  data <- data.frame(y = d$y, f = factor(rep_len(c("a", "b", "c"), 2300)), g = rep_len(1:5, 2300), k = rpois(2300, 2))
  few <- function(formula, ...) {
    fit <- bayes_logit(formula, data, ..., chains = 1, iter = 4, warmup = 2, seed = 1, progress = FALSE)
    unclass(fit)[c("coefficient_trace", "log_likelihood", "draws", "state")]
  }
  # A dense design without intercept is not centred either.
  dense <- d$dense
  with_sparse <- warp_control(sparse = d$sparse)
  expect_equal(few(y ~ 0 + dense, threads = 2)[1:2], few(y ~ 0, control = with_sparse, threads = 1)[1:2],
    tolerance = 1e-12)
  fits <- function(...) {
    list(
      few(y ~ f + (1 | g), control = with_sparse, ...),
      few(k ~ f, family = "negbinomial", control = warp_control(sparse = TRUE), ...),
      few(f ~ 1, family = "multinomial", control = with_sparse, prior = logit_prior("horseshoe"), ...)
    )
  }
  reference <- fits(backend = "cpu", threads = 1)
  expect_identical(fits(threads = 2), reference)
})

test_that("a sparse and a dense design of the same model give the same posterior", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "many sweeps")
  d <- sparse_rows_of(300, 2)
  data <- data.frame(y = d$y, f = factor(rep_len(c("a", "b"), 300)))
  # With such wide priors centring does not matter.
  wide <- logit_prior(scale = 50, intercept_scale = 50)
  fit <- function(...) {
    bayes_logit(...,
      data = data, prior = wide, chains = 2, iter = 4000, warmup = 200, seed = 1, threads = 2, progress = FALSE
    )
  }
  dense <- fit(y ~ f + d$dense)
  sparse <- fit(y ~ f, control = warp_control(sparse = d$sparse))
  draws_worth <- function(fit, i) effective_size(split_chains(logit_draws(fit)[, , i]))
  size <- vapply(seq_len(4), function(i) min(draws_worth(dense, i), draws_worth(sparse, i)), 1)
  # Four comparisons. |z| exceeds 5.5 in one of 6e6 runs.
  expect_true(all(abs(coef(dense) - coef(sparse)) < 5.5 * sqrt(diag(vcov(dense)) * 2 / size)))
  expect_s4_class(sparse$design$x, "dgCMatrix")
})

test_that("sparse fits predict, and refuse matrices that do not fit", {
  d <- sparse_rows_of(60, 3)
  data <- data.frame(y = d$y, z = rnorm(60), f = factor(rep_len(c("a", "b", "c"), 60)))
  quick <- function(...) bayes_logit(..., chains = 1, iter = 30, warmup = 10, seed = 1, threads = 2, progress = FALSE)
  fit <- quick(y ~ z + f, data, control = warp_control(sparse = d$sparse))
  expect_identical(fit$coefficient_names, c("(Intercept)", "z", "fb", "fc", "v1", "v2", "v3"))
  x <- cbind(model.matrix(~ z + f, data), d$dense)
  draws <- coefficient_draws(fit)
  expect_equal(unname(fitted(fit)), unname(colMeans(plogis(draws %*% t(x)))), tolerance = 1e-12)
  expect_equal(as.vector(rowSums(log_lik(fit))), as.vector(fit$log_likelihood[11:30, ]), tolerance = 1e-10)
  new <- predict(fit, transform(data[1:4, ], z = c(NA, z[2:4]), f = factor(c("a", NA, "b", "c"))),
    sparse = d$sparse[1:4, ]
  )
  expect_identical(unname(is.na(new[, "mean"])), c(TRUE, TRUE, FALSE, FALSE))
  expect_equal(predict(fit, data, sparse = d$sparse)[4, ], predict(fit)[4, ])
  expect_error(predict(fit, data),
    "`sparse` must be a sparse matrix with the 60 rows of the new data and the 3 columns", class = input
  )
  expect_output(print(fit$prior), "intercept, where predictors are 0")
  sparse <- warp_control(sparse = TRUE)
  expect_output(print(quick(y ~ z, data, control = sparse, prior = logit_prior("zellner"))), "Logistic regression")
  holes <- quick(y ~ z, transform(data, z = replace(z, 7, NA)), control = warp_control(sparse = d$sparse))
  expect_identical(as.vector(holes$design$x[, "v1"]), unname(d$dense[-7, 1]))
  expect_error(quick(y ~ z, data, control = warp_control(sparse = d$sparse[-1, ])),
    "`sparse` has 59 rows, but the data have 60", class = input)
  expect_error(quick(y ~ z, data, control = warp_control(sparse = "yes")),
    "`sparse` must be TRUE, FALSE or a sparse matrix", class = input)
  expect_error(quick(y ~ 0, data, control = sparse), "neither an intercept nor predictors", class = input)
  d$sparse[4, 2] <- Inf
  expect_error(quick(y ~ z, data, control = warp_control(sparse = d$sparse)),
    "has the value Inf of predictor \"v2\" in row 4", class = input)
  # Matrices that compiled code would misread are refused: column indices out of range or not increasing.
  run <- resolve_run("cpu", 1)
  for (column in list(99L, c(1L, 1L), -1L)) {
    changed <- regression_data(fit)
    changed$column[10 + seq_along(column)] <- column
    expect_error(native(C_regression_open, changed, run), "changed since it was made", class = input)
  }
})

test_that("predict() refuses a sparse matrix that compiled code would misread", {
  set.seed(1)
  data <- data.frame(y = rep(0:1, 10), z = rnorm(20))
  more <- Matrix::rsparsematrix(20, 2, 0.3)
  fit <- bayes_logit(y ~ z, data, chains = 1, iter = 20, seed = 1, threads = 2)
  expect_error(predict(fit, data, sparse = more), "the fit had no matrix", class = "warpbayes_error_input")
  fit <- bayes_logit(y ~ z, data, control = warp_control(sparse = more), chains = 1, iter = 20, seed = 1, threads = 2)
  expect_error(predict(fit, sparse = more), "`newdata` is not", class = "warpbayes_error_input")
  expect_identical(nrow(predict(fit, data, sparse = more)), 20L)
})
