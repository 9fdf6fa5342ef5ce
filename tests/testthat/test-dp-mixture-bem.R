# Bayesian EM: one step against plain R, the closed form of one component, a log posterior that never falls, identical
# numbers on all backends, and the methods of a fit by Bayesian EM.

set.seed(41)
population <- sample(3, 600, replace = TRUE, prob = c(5, 3, 2))
cells <- matrix(rnorm(1200), ncol = 2, dimnames = list(NULL, c("a", "b"))) + 4 * cbind(population == 2, population == 3)
bem <- function(x = cells, components = 6, seed = 1, ..., threads = 2) {
  fit_mixture(x, components = components, method = "bem", seed = seed, ..., threads = threads, progress = FALSE)
}

# One step in plain R, in the units of the sampler: parameters from weights r (rows x components) and alpha.
reference_step <- function(z, r, alpha, prior, estimate) {
  p <- ncol(z)
  k <- ncol(r)
  n <- colSums(r)
  behind <- rev(cumsum(rev(n))) - n
  extra <- if (estimate == "mean") 1 else 0
  v <- (n + extra) / (n + extra + alpha + behind)
  v[[k]] <- 1
  rest <- log1p(-v[-k])
  if (k > 1) alpha <- (prior$concentration[["shape"]] + k - 2 + extra) / (prior$concentration[["rate"]] - sum(rest))
  gamma <- prior$mean_scale
  means <- matrix(0, k, p)
  covariances <- array(0, c(p, p, k))
  for (j in seq_len(k)) {
    total <- colSums(r[, j] * z)
    average <- if (n[[j]] > 0) total / n[[j]] else prior$mean
    deviation <- z - rep(average, each = nrow(z))
    scatter <- crossprod(deviation, r[, j] * deviation)
    pull <- n[[j]] / (1 + gamma * n[[j]]) * tcrossprod(average - prior$mean)
    posterior <- prior$df * prior$scale + scatter + diag(n[[j]] * prior$floor, p) + pull
    means[j, ] <- (prior$mean + gamma * total) / (1 + gamma * n[[j]])
    covariances[, , j] <- posterior / (prior$df + n[[j]] + if (estimate == "mean") 0 else 2 * p + 3)
  }
  list(v = v, rest = rest, alpha = alpha, weights = v * exp(c(0, cumsum(rest))), means = means,
    covariances = covariances
  )
}

# Log weights with the floor, rows x components.
reference_weights <- function(z, step, prior) {
  traces <- apply(step$covariances, 3L, function(covariance) sum(diag(solve(covariance)) * prior$floor))
  matrix(reference_joint(z, step$weights, step$means, step$covariances), nrow(z)) - rep(traces / 2, each = nrow(z))
}

reference_log_prior <- function(step, prior) {
  p <- ncol(step$means)
  df <- prior$df + p + 1
  shape <- prior$concentration[["shape"]]
  rate <- prior$concentration[["rate"]]
  components <- vapply(seq_along(step$weights), function(j) {
    covariance <- as.matrix(step$covariances[, , j])
    deviation <- step$means[j, ] - prior$mean
    df / 2 * (p * log(prior$df) + log(det(prior$scale))) -
      df * p / 2 * log(2) - p * (p - 1) / 4 * log(pi) - sum(lgamma((df + 1 - seq_len(p)) / 2)) -
      (df + p + 1) / 2 * log(det(covariance)) - prior$df / 2 * sum(diag(prior$scale %*% solve(covariance))) -
      p / 2 * log(2 * pi * prior$mean_scale) - log(det(covariance)) / 2 -
      sum(deviation * solve(covariance, deviation)) / (2 * prior$mean_scale)
  }, 0)
  sum(components) + sum(log(step$alpha) + step$alpha * step$rest) + dgamma(step$alpha, shape, rate, log = TRUE)
}

test_that("steps agree with plain R, with modes and with means", {
  cases <- list(list(p = 2, k = 4, n = 150), list(p = 1, k = 3, n = 40), list(p = 3, k = 2, n = 90),
    list(p = 2, k = 1, n = 50)
  )
  for (case in cases) {
    for (estimate in c("mode", "mean")) {
      set.seed(case$p + 10 * case$k)
      x <- matrix(rnorm(case$n * case$p, 100, 15), ncol = case$p)
      init <- sample(c(seq_len(case$k), NA), case$n, replace = TRUE)
      fit <- bem(x, case$k, start = init, warmup = 0, iter = 3, tolerance = 0, estimate = estimate)
      z <- t((t(x) - fit$center) / fit$scale)
      prior <- fit$prior
      r <- outer(init, seq_len(case$k), function(a, b) ifelse(is.na(a), 0, a == b))
      r <- r[, order(-colSums(r)), drop = FALSE]
      alpha <- prior$concentration[["shape"]] / prior$concentration[["rate"]]
      for (i in 1:3) {
        step <- reference_step(z, r, alpha, prior, estimate)
        alpha <- step$alpha
        log_weight <- reference_weights(z, step, prior)
        top <- apply(log_weight, 1L, max)
        density <- top + log(rowSums(exp(log_weight - top)))
        r <- exp(log_weight - density)
        log_unit <- sum(log(fit$scale))
        expect_equal(fit$log_likelihood[[i, 1]], sum(density) - case$n * log_unit, tolerance = 1e-11)
        log_posterior <- sum(density) + reference_log_prior(step, prior) - (case$n + case$k * (case$p + 2)) * log_unit
        expect_equal(fit$log_posterior[[i, 1]], log_posterior, tolerance = 1e-11)
        expect_equal(fit$concentration_trace[[i, 1]], alpha, tolerance = 1e-10)
      }
      expect_equal(fit$draws$weights[, 1, 1], step$weights, tolerance = 1e-9)
      expect_equal(fit$draws$means[, , 1, 1],
        t(t(step$means) * fit$scale + fit$center), tolerance = 1e-9, ignore_attr = TRUE
      )
      expect_equal(as.vector(fit$draws$covariances),
        as.vector(step$covariances) * as.vector(outer(fit$scale, fit$scale)), tolerance = 1e-9
      )
      expect_equal(fit$probe_density[3, 1, ], reference_log_density(fit$probe, fit$draws$weights[, 1, 1],
        matrix(fit$draws$means, case$k), array(fit$draws$covariances, c(case$p, case$p, case$k))), tolerance = 1e-9)
      expect_equal(sum(fit$state[[1]]$sizes), case$n, tolerance = 1e-9)
    }
  }
})

test_that("one component reaches the closed form in one step", {
  fit <- bem(components = 1, warmup = 0, prior = dp_prior(mean_scale = 2, df = 5, scale = 1, mean = 0, floor = 0),
    tolerance = 0
  )
  n <- 600
  center <- colMeans(cells)
  posterior <- 5 * diag(2) + crossprod(cells - rep(center, each = n)) + n / (1 + 2 * n) * tcrossprod(center)
  expect_equal(fit$draws$means[1, , 1, 1], 2 * n * center / (1 + 2 * n), tolerance = 1e-12)
  expect_equal(fit$draws$covariances[, , 1, 1, 1], posterior / (5 + n + 7), tolerance = 1e-12, ignore_attr = TRUE)
  expect_identical(fit$draws$weights[1, 1, 1], 1)
  expect_identical(unname(fit$steps), 2)
  expect_true(fit$converged)
  mean <- bem(components = 1, warmup = 0, estimate = "mean", prior = fit$prior)
  expect_equal(mean$draws$covariances * (5 + n), fit$draws$covariances * (5 + n + 7), tolerance = 1e-12)
})

test_that("the log posterior never falls with modes, and may fall with means", {
  # 150 random problems. Rounding may lower the value by at most 1e-12 of it.
  problems <- if (repeated() || on_cuda()) 12 else 150
  largest_fall <- function(estimate) {
    vapply(seq_len(problems), function(seed) {
      set.seed(seed)
      p <- sample(4, 1)
      k <- sample(8, 1)
      n <- sample(c(5, 30, 200), 1)
      x <- matrix(rnorm(n * p), n) * exp(rnorm(n))
      if (seed %% 3 == 0) x <- round(x)
      prior <- dp_prior(
        concentration = rgamma(2, 1) + 0.05, df = exp(rnorm(1, 1)), mean_scale = exp(rnorm(1)),
        scale = exp(rnorm(1, -1)),
        floor = if (seed %% 2) 0.01 else 0
      )
      fit <- suppressWarnings(bem(x, k,
        start = sample(k, n, replace = TRUE), warmup = 0, prior = prior, iter = 60, tolerance = 0, estimate = estimate
      ))
      if (fit$iter == 1) 0 else max(-diff(fit$log_posterior[, 1])) / max(abs(fit$log_posterior))
    }, 0)
  }
  expect_lt(max(largest_fall("mode")), 1e-12)
  if (problems > 100) expect_gt(sum(largest_fall("mean") > 1e-9), 20)
})

test_that("a component without cells is dropped and stays at its prior's mode", {
  fit <- bem(start = rep(1:2, 300), warmup = 0, iter = 5, tolerance = 0)
  weights <- fit$draws$weights[, 1, 1]
  # The last component has the rest of the stick.
  expect_identical(weights == 0, c(FALSE, FALSE, TRUE, TRUE, TRUE, FALSE))
  expect_equal(fit$draws$means[3, , 1, 1],
    fit$prior$mean * fit$scale + fit$center, tolerance = 1e-12, ignore_attr = TRUE
  )
  expect_equal(fit$draws$covariances[, , 3, 1, 1],
    fit$prior$df * fit$prior$scale / (fit$prior$df + 7) * outer(fit$scale, fit$scale),
    tolerance = 1e-12, ignore_attr = TRUE)
  expect_true(all(is.finite(fit$log_posterior)))
})

# The parts of a fit other than how it was made.
mode_of <- function(fit) {
  fit[c(
    "draws", "log_likelihood", "log_posterior", "concentration_trace", "occupied", "probe_density", "sizes", "state",
    "iter", "steps", "converged", "prior"
  )]
}

test_that("threads and vector instructions do not change a fit", {
  skip_on_cran()
  set.seed(5)
  many <- matrix(rnorm(5 * 5000), ncol = 5)
  widest <- .Call(C_backend_processor)$isa
  for (precision in c("double", "single")) {
    fit <- function(threads, isa = widest) {
      previous <- options(warpbayes.isa = isa_names[[isa + 1L]])
      on.exit(options(previous))
      mode_of(bem(many, 40,
        warmup = 0, iter = 4, threads = threads, precision = precision, backend = "cpu", start = rep_len(1:40, 5000)
      ))
    }
    one <- fit(1)
    expect_identical(fit(2), one)
    expect_identical(fit(5), one)
    for (isa in setdiff(available_isa(.Call(C_backend_processor)), widest)) {
      expect_identical(fit(2, isa), one)
    }
  }
  # Rows, columns and components leave all remainders modulo the vector length, four and sixteen.
  for (case in list(c(97, 1, 2), c(130, 2, 17), c(64, 3, 1), c(65, 4, 3), c(70, 7, 33))) {
    x <- many[seq_len(case[[1L]]), rep_len(1:5, case[[2L]]), drop = FALSE]
    colnames(x) <- NULL
    fits <- lapply(instruction_sets(), function(isa) {
      previous <- options(warpbayes.isa = isa)
      on.exit(options(previous))
      mode_of(bem(x + rep(1e-3 * seq_len(ncol(x)), each = nrow(x)), case[[3L]], warmup = 2, iter = 3, backend = "cpu"))
    })
    for (other in fits[-1L]) expect_identical(other, fits[[1L]])
  }
})

test_that("a continued fit equals a longer one, and a fit that has stopped does not change", {
  part <- function(iter) bem(chains = 3, warmup = 4, iter = iter, tolerance = 1e-4)
  whole <- part(40)
  expect_true(all(whole$converged))
  expect_gt(length(unique(whole$steps)), 1)
  expect_identical(whole$iter, max(whole$steps))
  for (first in c(1, min(whole$steps), max(whole$steps) - 1)) {
    expect_identical(mode_of(continue(part(first), 40 - first, threads = 2)), mode_of(whole))
  }
  expect_identical(mode_of(continue(whole, 5, threads = 2)), mode_of(whole))
  # After a start has stopped, its last value is repeated.
  early <- which.min(whole$steps)
  expect_identical(unique(whole$log_posterior[whole$steps[[early]]:whole$iter, early]),
    whole$log_posterior[[whole$iter, early]]
  )
  # Steps end when the log posterior gains too little, and not before.
  gains <- diff(whole$log_posterior[seq_len(whole$steps[[early]]), early]) / 600
  expect_lte(gains[[length(gains)]], 1e-4)
  expect_true(all(gains[-length(gains)] > 1e-4))
  changed <- whole
  changed$state[[2]]$statistics <- 1
  changed$state[[2]]$stopped <- FALSE
  expect_error(continue(changed, 2, threads = 2), "has been changed since it was made", class = "warpbayes_error_input")
})

test_that("an interrupt gives a fit with a warning, and continuing gives the same result", {
  skip_if_uninterruptible()
  whole <- bem(chains = 2, warmup = 3, iter = 200, tolerance = 0)
  for (at in 1:3) {
    expect_warning(
      part <- then_interrupted(after_slice(at, interrupt, bem(chains = 2, warmup = 3, iter = 200, tolerance = 0))),
      "interrupted: [0-9]+ of at most 200 steps are done; the mixtures")
    expect_true(part$interrupted)
    if (at == 1) {
      # An interrupt in the first slice of the first start undoes that slice.
      expect_identical(part$iter, 0)
      expect_error(predict(part), "the fit has no kept draws", class = "warpbayes_error_input")
      expect_output(print(part), "No step was made; continue\\(fit, more\\) makes some")
      expect_output(print(summary(part)), "interrupted")
    }
    expect_identical(mode_of(continue(part, 200 - part$iter, threads = 2)), mode_of(whole))
  }
})

test_that("chains on the workers of a future plan end at the same modes", {
  skip_where_repeated()
  skip_if_not_installed("future.apply")
  skip_on_cran()
  skip_if(identical(getOption("warpbayes.backend"), "cuda"))
  here <- bem(chains = 3, warmup = 4, iter = 30, tolerance = 1e-4)
  old <- future::plan(future::multisession, workers = 2)
  on.exit(future::plan(old))
  expect_identical(mode_of(bem(chains = 3, warmup = 4, iter = 30, tolerance = 1e-4)), mode_of(here))
})

test_that("the prior is fixed at what the first start learned", {
  fit <- bem(chains = 2, warmup = 10, iter = 5)
  expect_identical(fit$prior$learn, character())
  values <- compiled_prior(fit$prior)$values
  for (state in fit$state) expect_identical(state$prior, values)
  expect_false(identical(fit$prior$scale, diag(0.25, 2)))
  # The average over the second half of the sweeps of a chain with this seed.
  chain <- dp_mixture(
    cells, components = 6, seed = 1, iter = 10, warmup = 0, threads = 2, progress = FALSE,
    control = warp_control(thin = 1)
  )
  expect_false(identical(chain$prior$df, fit$prior$df))
  alone <- bem(chains = 1, warmup = 10, iter = 5)
  expect_identical(alone$log_posterior[, 1], fit$log_posterior[seq_len(alone$iter), 1])
  # Without sweeps the prior is fixed where learning would start. A part that is given is always fixed.
  held <- bem(warmup = 0, iter = 2)$prior
  expect_identical(held$scale, diag(0.25, 2))
  given <- bem(warmup = 10, iter = 2, prior = dp_prior(df = 9))$prior
  expect_identical(given$df, 9)
  expect_false(identical(given$mean_scale, held$mean_scale))
})

test_that("a fit by either method can start either method", {
  # None of the draws is needed.
  gibbs <- dp_mixture(
    cells, components = 6, iter = 20, chains = 2, seed = 3, threads = 2, progress = FALSE,
    control = warp_control(keep = "weights")
  )
  fit <- bem(start = gibbs, iter = 3, chains = 3, tolerance = 0)
  expect_identical(fit$start_sweeps, 0)
  # Starts take the last states of the chains in turn, with the components in the order of their sizes.
  sorted <- function(state) order_by_size(state$statistics, 2)
  first <- function(chain) {
    session <- native(C_mixture_open, fit$x, fit$center, 1 / fit$scale, 0L, FALSE, resolve_run(NULL, 2))
    on.exit(.Call(C_session_close, session))
    state <- list(key = gibbs$state[[1]]$key, sweep = 0, statistics = sorted(gibbs$state[[chain]]), concentration = 1,
      prior = compiled_prior(fit$prior)$values, log_posterior = NaN
    )
    climbed <- native(
      C_mixture_climb, session, compiled_prior(fit$prior), state, 1L, FALSE, 0, t(fit$x[1, , drop = FALSE]), fit$center,
      fit$scale
    )
    climbed$log_likelihood - 600 * sum(log(fit$scale))
  }
  expect_identical(fit$log_likelihood[1, ], c(first(1), first(2), first(1)))
  # The prior is that of the chain with the highest log posterior.
  expect_identical(fit$state[[1]]$prior, gibbs$state[[which.max(gibbs$log_posterior[20, ])]]$prior)
  # Back to Gibbs: the log likelihood starts near the mode's.
  mode <- bem(iter = 60, warmup = 10)
  sampled <- dp_mixture(
    cells, components = 8, iter = 4, seed = 1, threads = 2, progress = FALSE,
    control = warp_control(start = mode)
  )
  expect_gt(sampled$log_likelihood[[1, 1]], max(mode$log_likelihood) - 60)
  # Fewer components are enough if they hold all cells.
  few <- bem(start = population, warmup = 0, iter = 2, components = 3)
  wide <- few
  wide$components <- 9
  wide$state[[1]]$statistics <- c(numeric(18), few$state[[1]]$statistics, numeric(18))
  expect_identical(bem(components = 3, start = wide)$log_posterior, bem(components = 3, start = few)$log_posterior)
  # Other cells start from their most probable classes.
  half <- bem(cells[1:300, ], start = mode, warmup = 0, iter = 2)
  classes <- predict(mode, cells[1:300, ])
  expect_identical(half$log_likelihood, bem(cells[1:300, ], start = classes, warmup = 0, iter = 2)$log_likelihood)
  packed <- bem(cells[1:300, ], start = mode, warmup = 0, iter = 2, components = 5)
  expect_true(all(is.finite(packed$log_likelihood)))

  refuse <- function(message, ...) expect_error(bem(...), message, class = "warpbayes_error_input")
  refuse("`start` was fitted to other markers, \"a\", \"b\", than \"b\", \"a\"", cells[, 2:1], start = mode)
  refuse("`start` was fitted on another scale", transform = "arcsinh", start = mode)
  refuse("`start` has cells in 6 components, but `components` is 2",
    components = 2, start = bem(start = rep(1:6, 100), warmup = 0, iter = 1)
  )
  refuse("`start` has cells in [0-9] components, but `components` is 1", cells[1:300, ], components = 1, start = mode)
  mode$state[[1]]$statistics <- 1:7 / 2
  refuse("`start` has been changed since it was made", start = mode)
})

test_that("of many cells, evenly spaced ones find where to start, and the steps take all", {
  set.seed(3)
  large <- cells[sample(600, 50400, replace = TRUE), ] + rnorm(100800, sd = 0.1)
  one <- function(x, ...) bem(x, components = 3, iter = 1, warmup = 2, ...)
  fit <- one(large)
  expect_equal(sum(fit$state[[1]]$sizes), 50400)
  some <- some_cells(list(x = large, rows = 50400))
  expect_identical(dim(some$x), c(50000L, 2L))
  expect_identical(some$x[c(1, 50000), ], large[c(1, 50400), ])
  expect_identical(some_cells(list(x = cells, rows = 600))$x, cells)
  expect_identical(one(large, threads = 1)$log_likelihood, fit$log_likelihood)
})

test_that("functions that need draws refuse a mode, and all others work", {
  fit <- bem(chains = 3, warmup = 5, tolerance = 1e-5)
  best <- which.max(fit$log_posterior[fit$iter, ])
  reference <- reference_draw(fit)
  expect_identical(reference$chain, best)
  expect_identical(predict(fit, type = "log_density", threads = 2),
    evaluate_mixture(fit, reference, cells, "log_density", resolve_run(NULL, 2))
  )
  expect_identical(predict(fit, threads = 2), evaluate_mixture(fit, reference, cells, "class", resolve_run(NULL, 2)))
  expect_equal(as.double(logLik(fit, threads = 2)),
    sum(predict(fit, type = "log_density", threads = 2)), tolerance = 1e-12
  )
  expect_identical(dim(log_lik(fit, threads = 2)), c(1L, 600L))
  expect_identical(dim(simulate(fit, seed = 1)[[1]]), c(600L, 2L))
  types <- cell_types(fit, threads = 2)
  expect_true(all(is.na(types$types[c("lower", "upper")])))
  expect_match(paste(as.character(verdict(types)), collapse = " "),
    "a mode has no spread: intervals, Rhat and effective sample sizes need draws")
  small <- dp_mixture(cells, components = 3, method = "bem", warmup = 0, iter = 3, seed = 1, threads = 2,
    progress = FALSE
  )
  expect_identical(update(small, control = warp_control(estimate = "mean"))$estimate, "mean")
  for (type in c("pairs", "trace", "weights", "heatmap")) {
    file <- tempfile(fileext = ".pdf")
    grDevices::pdf(file)
    plot(fit, type = type, threads = 2)
    grDevices::dev.off()
    expect_gt(file.size(file), 1000)
    unlink(file)
  }
  refuse <- function(expression, why) {
    expect_error(expression,
      paste0("has modes of the posterior, by method = \"bem\", and no draws from it: ", why),
      class = "warpbayes_error_input"
    )
  }
  refuse(relabel(fit), "there is nothing to match")
  refuse(co_clustering(fit, 1:3), "there is nothing to average over")
  refuse(drop_warmup(fit), "there are none to drop")
  if (requireNamespace("posterior", quietly = TRUE)) {
    refuse(as_draws_array.warpbayes_fit(fit), "there is nothing to make a table of")
  }
  if (requireNamespace("coda", quietly = TRUE)) {
    refuse(as.mcmc.list.warpbayes_fit(fit), "there is nothing to make a table of")
  }
  table <- glance_of(fit)
  expect_identical(table$log_likelihood, fit$log_likelihood[[fit$iter, best]])
  expect_identical(table$converged, fit$converged[[best]])
  expect_true(is.na(table$rhat))
  expect_identical(nrow(tidy.dp_mixture(fit)), 12L)

  words <- function(of) gsub("[[:space:]]+", " ", paste(utils::capture.output(print(of)), collapse = " "))
  expect_match(words(fit), "Mode of the posterior by Bayesian EM: 3 starts, each after 5 Gibbs sweeps")
  said <- function(of) paste(as.character(verdict(of)), collapse = " ")
  expect_match(said(fit), sprintf("Start %d of 3 has the highest log posterior", best))
  expect_match(words(fit), "changed the log posterior by less than 1e-05 a cell")
  expect_match(words(fit), "A mode has no spread")
  made <- summary(fit)
  expect_identical(made$starts$steps, fit$steps)
  expect_identical(made$best, best)
  expect_match(words(made), "Starts:")
  short <- bem(warmup = 0, iter = 2, components = 2, estimate = "mean")
  expect_match(words(short), "Conditional means by Bayesian EM: 1 start,")
  expect_match(words(short), "has not converged: after 2 steps, the last one still changed")
  expect_match(words(short), "All 2 components hold cells")
  expect_match(words(bem(warmup = 0, iter = 1)), "changed the log posterior by an unknown amount")
  expect_match(said(bem(chains = 2, warmup = 0, iter = 2)),
    "The other ends [0-9.]+ below it; 1 of them had not converged"
  )
})

test_that("arguments of one method are refused by the other", {
  refuse <- function(message, ...) {
    expect_error(fit_mixture(cells, components = 3, threads = 2, progress = FALSE, ...),
      message, class = "warpbayes_error_input"
    )
  }
  refuse("`control` sets `tolerance`, which this sampler does not have", tolerance = 1)
  refuse("`control` sets `estimate`, which this sampler does not have", estimate = "mean")
  refuse("`control` sets `thin`, which this sampler does not have", method = "bem", thin = 2)
  refuse("`control` sets `keep`, which this sampler does not have", method = "bem", keep = "weights")
  refuse("`tolerance` must be one finite number of at least 0, not -1", method = "bem", tolerance = -1)
  refuse("`estimate` must be one of \"mode\", \"mean\", not \"median\"", method = "bem", estimate = "median")
  refuse("`warmup` must be one whole number from 0 to", method = "bem", warmup = -1)
})

test_that("failures of the compiled code become R conditions", {
  prior <- sampler_prior(2)
  statistics <- numeric(2 * statistics_size(2))
  statistics[c(7, 10)] <- c(5, Inf)
  session <- native(C_mixture_open, cells, c(0, 0), c(1, 1), 0L, FALSE, resolve_run(NULL, 1))
  state <- c(sampler_state(prior, statistics, 1, .Call(C_chain_key, 1, 1L), 1), log_posterior = NaN)
  climb <- function(state) {
    native(C_mixture_climb, session, prior, state, 1L, FALSE, 0, matrix(0, 2, 1), c(0, 0), c(1, 1))
  }
  expect_error(climb(state),
    "the covariance of component 2 could not be drawn: its scale matrix is not finite", class = "warpbayes_error_input"
  )
  for (part in c("statistics", "log_posterior", "prior", "concentration")) {
    changed <- state
    changed[[part]] <- "a"
    expect_error(climb(changed), "has been changed since it was made", class = "warpbayes_error_input")
  }
  expect_error(climb(1), "has been changed since it was made", class = "warpbayes_error_input")
  .Call(C_session_close, session)
  expect_error(climb(state), "the mixture session is closed", class = "warpbayes_error_input")
})

test_that("the mode for the GvHD cells describes new cells as well as a sampled fit does", {
  skip_where_repeated()
  skip_on_other_days(0L)
  skip_if_not_installed("mclust")
  skip_if(identical(getOption("warpbayes.backend"), "cuda"))
  utils::data(GvHD, package = "mclust", envir = environment())
  x <- as.matrix(GvHD.pos)
  set.seed(7)
  chosen <- sample(nrow(x), if (extended()) nrow(x) else 6000)
  # Of fewer cells, a mode with as many components knows too much.
  train <- utils::head(chosen, 3000)
  new <- setdiff(chosen, train)
  score <- function(...) {
    fit <- fit_mixture(x[train, ], seed = 1, threads = 2, progress = FALSE, ...)
    mean(predict(fit, x[new, ], type = "log_density", ndraws = 40, threads = 2))
  }
  expect_gt(score(method = "bem"), score(iter = 150) - 0.06)
})
