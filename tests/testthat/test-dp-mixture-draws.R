# Draws for posterior and coda; tidy(), glance(), augment().

fit <- simulate_fit(k = 4, p = 2, chains = 3)
x <- fit$x

test_that("posterior's formats hold the kept sweeps of every chain", {
  skip_if_not_installed("posterior")
  draws <- posterior::as_draws_array(fit)
  expect_identical(dim(draws), c(50L, 3L, 10L))
  expect_equal(as.vector(draws[, 2, "log_likelihood"]), fit$log_likelihood[51:100, 2])
  expect_equal(as.vector(draws[, 3, "log_density[5]"]), fit$probe_density[51:100, 3, 5])
  expect_s3_class(posterior::as_draws(fit), "draws_array")
  expect_s3_class(posterior::as_draws_df(fit), "draws_df")
  expect_s3_class(posterior::as_draws_list(fit), "draws_list")
  expect_s3_class(posterior::as_draws_rvars(fit), "draws_rvars")
  matrix <- posterior::as_draws_matrix(fit, components = TRUE)
  expect_identical(dim(matrix), c(150L, 10L + 4L + 8L))
  expect_equal(as.vector(matrix[101:150, "mean[4,CD2]"]), fit$draws$means[4, "CD2", , 3])
  expect_equal(as.vector(matrix[1:50, "weight[2]"]), fit$draws$weights[2, , 1])
  summary <- posterior::summarise_draws(posterior::as_draws(fit), "rhat")
  mine <- diagnose(fit)
  for (name in c("concentration", "log_density[5]")) {
    expect_equal(as.double(summary$rhat)[summary$variable == name], mine$rhat[mine$quantity == name])
  }
})

test_that("thinned draws keep their sweep numbers", {
  thinned <- fit
  thinned$thin <- 5
  thinned$draws <- lapply(fit$draws, function(draws) {
    if (is.matrix(draws)) draws[5 * 1:10, ] else if (length(dim(draws)) == 3) draws[, 5 * 1:10, ]
  })
  expect_identical(method_of(thinned)$kept(thinned), 50 + 5 * 1:10)
  expect_identical(array_of_draws(thinned)[, 1, "concentration"], thinned$draws$concentration[, 1])
})

test_that("the draws include the learned parts of the prior", {
  learned <- dp_mixture(x[1:200, ], components = 4, iter = 20, chains = 2, seed = 1, threads = 2,
    prior = dp_prior(learn = c("mean", "mean_scale", "df", "scale")))
  draws <- array_of_draws(learned)
  expect_identical(draws[, 2, "prior_df"], learned$draws$prior_df[, 2])
  expect_identical(draws[, 1, "prior_mean_scale"], learned$draws$prior_mean_scale[, 1])
  expect_identical(draws[, 2, "prior_mean[CD2]"], unname(learned$draws$prior_mean[2, , 2]))
})

test_that("coda's chains keep their sweep numbers", {
  skip_if_not_installed("coda")
  chains <- coda::as.mcmc.list(fit)
  expect_length(chains, 3)
  expect_equal(as.vector(chains[[2]][, "occupied"]), fit$occupied[51:100, 2])
  expect_equal(start(chains), 51)
})

test_that("parts that were not kept, and misspelt arguments, are refused", {
  without <- fit
  without$draws$means <- NULL
  expect_error(array_of_draws(without, TRUE), "needs the draws of means", class = "warpbayes_error_input")
  expect_error(array_of_draws(fit, NA), "`components` must be TRUE or FALSE", class = "warpbayes_error_input")
  skip_if_not_installed("posterior")
  expect_error(posterior::as_draws_df(fit, parts = TRUE), "not known here", class = "warpbayes_error_input")
})

test_that("tidy, glance and augment give tables", {
  skip_if_not_installed("generics")
  reference <- reference_draw(fit)
  table <- generics::tidy(fit)
  expect_identical(dim(table), c(8L, 5L))
  first <- table$component[[1]]
  expect_identical(table$weight[1:2], rep(max(reference$weights), 2))
  expect_identical(table$mean[1:2], unname(reference$means[first, ]))
  expect_identical(table$sd[1:2], unname(sqrt(diag(reference$covariances[, , first]))))

  one <- generics::glance(fit)
  expect_identical(nrow(one), 1L)
  expect_identical(one$draws, 150L)
  expect_identical(one$rhat, max(diagnose(fit)$rhat))
  expect_identical(one$seconds, 1.5)

  cells <- generics::augment(fit, x, threads = 2)
  expect_identical(as.matrix(cells[fit$markers]), x, ignore_attr = TRUE)
  expect_identical(cells$.class, predict(fit, x, threads = 2))
  expect_equal(cells$.prob, apply(predict(fit, x, type = "prob", threads = 2), 1, max))
  expect_identical(generics::augment(fit, threads = 2), cells)
  expect_error(generics::augment(fit, x[, 1]), "`data` is a vector")
  transformed <- fit
  transformed$transform <- list(type = "arcsinh", cofactor = c(5, 150))
  raw <- t(t(sinh(x)) * c(5, 150))
  expect_equal(as.matrix(generics::augment(transformed, raw, threads = 2)[1:2]),
    raw, ignore_attr = TRUE, tolerance = 1e-8
  )
})

test_that("coda's chains need draws", {
  skip_if_not_installed("coda")
  set.seed(1)
  fit <- dp_mixture(matrix(rnorm(40), 20), components = 2, iter = 2, seed = 1, threads = 2)
  # As after an interruption before the first kept draw.
  sampler <- mixture_sampler(fit)
  fit$draws <- native(C_store_close, blank_store(sampler, 0, 0, 1)$pointer)[names(sampler$draws)]
  expect_error(coda::as.mcmc.list(fit),
    "has no kept draws: it ended after 2 sweeps, and the first draw is kept after 2", class = "warpbayes_error_input"
  )
})
