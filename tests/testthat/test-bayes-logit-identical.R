# A fit must not depend on threads, vector instructions, the device, slices or interruption.

rows_for_regression <- function(n) {
  set.seed(5)
  d <- data.frame(
    x1 = rnorm(n), x2 = rnorm(n, 5, 2), f = factor(sample(letters[1:3], n, TRUE)), g = factor(sample(1:20, n, TRUE)),
    o = rnorm(n), w = sample(0:2, n, TRUE)
  )
  linear <- -1 + 0.7 * d$x1 - 0.3 * d$x2
  d$y <- rbinom(n, 1, plogis(linear))
  d$k <- rbinom(n, 30, plogis(linear))
  d$c <- rnbinom(n, size = 2, mu = exp(linear / 2 + 1))
  d$m <- factor(apply(cbind(1, exp(linear), exp(d$x1)), 1, function(w) sample(3, 1, prob = w)))
  d
}

regression_fits <- function(n = 4500, ...) {
  d <- rows_for_regression(n)
  few <- function(..., iter = 4) bayes_logit(..., data = d, seed = 1, iter = iter, warmup = 2, progress = FALSE)
  fits <- list(
    few(y ~ x1 + x2 + f + offset(o), chains = 2, ...),
    bayes_logit(cbind(k, 30 - k) ~ x1 + (1 | g), d,
      weights = w, chains = 1, iter = 4, warmup = 2, seed = 1, progress = FALSE, ...
    ),
    few(c ~ x1 + x2 + f, family = "negbinomial", chains = 1, ...),
    few(c ~ x1 + x2 + offset(o), family = "poisson", chains = 1, ...),
    few(c ~ x1 + (1 | g), family = "poisson", chains = 1, ...),
    few(c ~ x1 + rw(w) + car(f, list(a = "b", b = c("a", "c"), c = "b")) + (1 | g), family = "poisson", chains = 1,
      ...),
    few(c ~ x1 + (x1 | g) + (1 | f), family = "poisson", chains = 1, ...),
    few(m ~ x1 + x2, family = "multinomial", chains = 1, ...),
    few(m ~ x1 + (x1 | g) + (1 | f) + offset(cbind(o, x2 / 5)), family = "multinomial", chains = 1, ...),
    few(y ~ poly(x1, 4) + poly(x2, 5) + (poly(x1, 8) | g) + (1 | f), chains = 1, ...),
    few(y ~ poly(x1, 14) + poly(x2, 14), prior = logit_prior("horseshoe"), chains = 1, ...)
  )
  parts <- c("coefficient_trace", "log_likelihood", "dispersion_trace", "group_deviation", "smooth_deviation", "draws",
    "state")
  lapply(fits, function(fit) unclass(fit)[parts])
}

test_that("threads and vector instructions do not change a fit", {
  skip_on_cran()
  skip_if(resolve_run()$backend != "cpu", "loops of the processor")
  reference <- regression_fits(backend = "cpu", threads = 1)
  old <- options(warpbayes.isa = NULL)
  on.exit(options(old))
  for (isa in instruction_sets()) {
    options(warpbayes.isa = isa)
    expect_identical(regression_fits(backend = "cpu", threads = 2), reference, label = isa)
  }
})

test_that("GPU and CPU give the same bits", {
  skip_if(resolve_run()$backend != "cuda", "needs a graphics card or its emulator")
  expect_identical(regression_fits(2300, backend = "cuda"), regression_fits(2300, backend = "cpu", threads = 2))
})

test_that("a continued fit equals a fit of the whole length", {
  d <- rows_for_regression(200)
  parts <- c("coefficient_trace", "log_likelihood", "dispersion_trace", "group_deviation", "draws", "state", "iter")
  for (formula in list(y ~ x1, y ~ x1 + (1 | g), c ~ x1)) {
    family <- if (formula[[2]] == "c") "negbinomial" else "binomial"
    by_two <- warp_control(thin = 2)
    at_once <- bayes_logit(formula, d, family, chains = 2, iter = 20, warmup = 5, control = by_two, seed = 3,
      threads = 2,
      progress = FALSE
    )
    half <- bayes_logit(formula, d, family, chains = 2, iter = 8, warmup = 5, control = by_two, seed = 3,
      threads = 2,
      progress = FALSE
    )
    longer <- continue(half, 12, threads = 1, progress = FALSE)
    expect_identical(unclass(longer)[parts[parts %in% names(longer)]],
      unclass(at_once)[parts[parts %in% names(at_once)]]
    )
    expect_identical(coef(longer), coef(at_once))
  }
  half$state[[1]]$coefficients <- 1
  expect_error(continue(half, 2, threads = 2), "changed since it was made", class = "warpbayes_error_input")
  half$state <- NULL
  expect_error(continue(half, 2, threads = 2), "changed since it was made", class = "warpbayes_error_input")
})

test_that("an interrupted fit continues as if it had not been interrupted", {
  skip_if(resolve_run()$backend != "cpu", "the clock of the emulator")
  d <- rows_for_regression(3000)
  fit <- bayes_logit(y ~ x1, d, chains = 2, iter = 10, warmup = 2, seed = 4, threads = 2, progress = FALSE)
  stopped <- fit
  stopped$interrupted <- TRUE
  expect_output(print(stopped), "interrupted")
  # test-chains.R interrupts advance() itself. Here its result must be one that continue() accepts.
  longer <- continue(stopped, 5, threads = 2, progress = FALSE)
  expect_identical(longer$coefficient_trace[1:10, , ], fit$coefficient_trace[, , ])
  expect_false(longer$interrupted)
})

test_that("scaling and the order of sums agree with plain R", {
  d <- rows_for_regression(3000)
  fit <- bayes_logit(y ~ x1 + x2, d, chains = 1, iter = 3, warmup = 1, seed = 1, threads = 2, progress = FALSE)
  beta <- fit$coefficient_trace[3, 1, ]
  linear <- as.vector(cbind(1, d$x1, d$x2) %*% beta)
  expect_equal(fit$log_likelihood[3, 1], sum(dbinom(d$y, 1, plogis(linear), log = TRUE)), tolerance = 1e-12)
  # The variables of the last sweep are those of rpolyagamma's generator with the chain's key: their sums have the means
  # of X'WX and X'z.
  statistics <- fit$state[[1]]$statistics
  scaled <- cbind(1, (d$x1 - mean(d$x1)) / sd(d$x1), (d$x2 - mean(d$x2)) / sd(d$x2))
  expect_equal(statistics[7:9], as.vector(crossprod(scaled, d$y - 0.5)), tolerance = 1e-10)
  mean_weight <- tanh(linear / 2) / (2 * linear)
  expect_lt(abs(statistics[[1]] - sum(mean_weight)) / sqrt(3000 / 24), 6)
})

test_that("draws of groups are kept for the same sweeps, however the sweeps are cut into slices", {
  set.seed(5)
  d <- data.frame(g = rep(1:6, 10), h = rep(1:5, each = 12), x = rnorm(60), y = rbinom(60, 3, 0.4))
  for (formula in list(cbind(y, 3 - y) ~ x + (1 | g), cbind(y, 3 - y) ~ x + (x | g) + (1 | h))) {
    fit <- function(iter) {
      bayes_logit(formula, d, chains = 2, iter = iter, warmup = 7, control = warp_control(thin = 3), seed = 1,
        threads = 1, progress = FALSE)
    }
    whole <- fit(40)
    cut <- fit(10)
    for (iter in c(1, 1, 2, 5, 21)) cut <- continue(cut, iter, threads = 1, progress = FALSE)
    expect_identical(cut$draws, whole$draws)
    expect_identical(dim(whole$draws[[1L]])[2:3], c(11L, 2L))
    # Sweep 40 is the last, and kept.
    if (!is.null(whole$draws$intercepts)) {
      expect_identical(unname(whole$draws$intercepts[, 11L, 2L]), whole$state[[2L]]$intercepts)
    }
  }
})
