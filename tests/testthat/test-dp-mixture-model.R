# log_lik(), logLik(), nobs(), simulate(), update() and augment() of mixtures.

fit <- simulate_fit(n = 300, k = 4, p = 2, chains = 2, sweeps = 56)
x <- fit$x

test_that("log_lik() is the log density of every cell under every draw", {
  found <- log_lik(fit, threads = 2)
  expect_identical(dim(found), c(12L, 300L))
  for (at in list(c(1, 1), c(6, 1), c(2, 2))) {
    one <- mixture_of_draw(fit, at[[1]], at[[2]])
    expect_equal(found[at[[1]] + 6 * (at[[2]] - 1), ],
      reference_log_density(x, one$weights, one$means, one$covariances), tolerance = 1e-9, ignore_attr = TRUE
    )
  }
  # predict() gives the log of the mean density.
  expect_equal(log(colMeans(exp(found))),
    predict(fit, type = "log_density", threads = 2), tolerance = 1e-9, ignore_attr = TRUE
  )
  expect_identical(log_lik(fit, x[3:5, ], ndraws = 2, threads = 2), found[c(3, 9), 3:5], ignore_attr = TRUE)
  # Small chunks of rows give the same log likelihoods.
  reference <- reference_draw(fit)
  best <- reference$draw + 6 * (reference$chain - 1)
  expect_equal(as.double(logLik(fit, threads = 2)), sum(found[best, ]), tolerance = 1e-12)
  expect_identical(attr(logLik(fit, threads = 2), "df"), sum(reference$weights * 300 >= 1) * 6 - 1)
  expect_identical(nobs(fit), 300)
  expect_equal(BIC(fit), -2 * sum(found[best, ]) + attr(logLik(fit), "df") * log(300))
})

test_that("simulated samples have the moments of the mixture, in the data's units", {
  fit <- simulate_fit(n = 20000, k = 3, p = 2, sweeps = 52)
  sims <- simulate(fit, 2, seed = 3)
  expect_named(sims, c("sim_1", "sim_2"))
  expect_identical(sims, simulate(fit, 2, seed = 3))
  one <- simulate(fit, seed = 3)[[1]]
  expect_identical(dimnames(one), list(NULL, fit$markers))
  # All draws are near the parameters that generated the data.
  error <- sqrt(2) * apply(fit$x, 2, sd) / sqrt(20000)
  expect_true(all(abs(colMeans(one) - colMeans(fit$x)) < 5.5 * error + 0.05))
  expect_equal(cov(one), cov(fit$x), tolerance = 0.1, ignore_attr = TRUE)
  curved <- fit
  curved$transform <- list(type = "arcsinh", cofactor = c(5, 150))
  expect_equal(simulate(curved, seed = 3)[[1]], t(t(sinh(one)) * c(5, 150)), ignore_attr = TRUE)
  expect_gt(length(simulate(fit, 5, seed = 1)), 4)
  expect_error(simulate(fit, 0), "`nsim` must be one whole number", class = "warpbayes_error_input")
})

test_that("update() fits the same cells again", {
  local({
    y <- x
    small <<- dp_mixture(y, components = 3, iter = 12, seed = 4, threads = 2, markers = c(2, 1))
  })
  longer <- update(small, iter = 20)
  expect_identical(longer$iter, 20)
  expect_identical(longer$markers, c("CD2", "CD1"))
  expect_identical(longer$call$x, quote(y))
  expect_identical(update(small)$draws, small$draws)
  expect_identical(update(small, components = 2, evaluate = FALSE)$components, 2)
  expect_identical(update(small, x = x[1:100, ])$rows, 100L)
  curved <- dp_mixture(x, components = 3, iter = 12, seed = 4, threads = 2, transform = "arcsinh")
  expect_identical(update(curved)$draws, curved$draws)
  expect_error(update(small, 3),
    "must be arguments of dp_mixture\\(\\) with their names", class = "warpbayes_error_input"
  )
})

test_that("augment() keeps all columns and agrees with predict()", {
  skip_if_not_installed("generics")
  data <- data.frame(id = letters[1:20], CD2 = x[1:20, 2], CD1 = x[1:20, 1])
  cells <- generics::augment(fit, data, threads = 2)
  expect_identical(as.data.frame(cells[1:3]), data)
  expect_identical(cells$.class, predict(fit, data, threads = 2), ignore_attr = TRUE)
  expect_identical(cells$.log_density, predict(fit, data, type = "log_density", threads = 2), ignore_attr = TRUE)
  expect_named(generics::augment(fit, cbind(x[1:3, ], extra = 1), threads = 2),
    c("CD1", "CD2", "extra", ".class", ".prob", ".log_density")
  )
  expect_named(generics::augment(fit, unname(x[1:3, ]), threads = 2),
    c("CD1", "CD2", ".class", ".prob", ".log_density")
  )
  matched <- relabel(fit, threads = 2)
  cells <- generics::augment(matched, data, threads = 2)
  expect_identical(cells$.class, predict(matched, data, threads = 2), ignore_attr = TRUE)
  expect_equal(cells$.prob, 1 - predict(matched, data, type = "uncertainty", threads = 2), ignore_attr = TRUE)
  types <- cell_types(fit, threads = 2)
  cells <- generics::augment(types, data, threads = 2)
  expect_identical(cells$.type, predict(types, data, threads = 2), ignore_attr = TRUE)
  expect_identical(generics::augment(types, threads = 2)$.type, types$type)
})

test_that("without the data, the functions that do not need data work", {
  light <- fit
  light$x <- NULL
  expect_identical(predict(light, x, threads = 2), predict(fit, threads = 2))
  expect_identical(summary(light), summary(fit))
  expect_identical(simulate(light, seed = 1), simulate(fit, seed = 1))
  error <- "warpbayes_error_input"
  expect_error(logLik(light), "has lost its own cells", class = error)
  expect_error(log_lik(light), "has lost its own cells", class = error)
  expect_error(cell_types(light), "has lost its data", class = error)
  light$x <- x
  expect_identical(cell_types(light, threads = 2)$type, cell_types(fit, threads = 2)$type)
  expect_error(log_lik(1), "`object` must come from bayes_logit\\(\\) or dp_mixture\\(\\)", class = error)
})
