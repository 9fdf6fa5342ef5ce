# Digests of small fits and draws of every topic: a number that changes without intent is seen here, with its topic,
# case and precision. After an intended change WARPBAYES_WRITE_KNOWN_ANSWERS=true WARPBAYES_TEST_FILTER=known-answers
# Rscript tools/run-tests.R writes known-answers.csv again.
#
# A case returns only what the package promises bit for bit. What R computes by its C library, or by sums in extended
# precision, is left out: weights of components and mean log scores, for example.

mixture <- function(x, components, precision, ..., iter = 6, warmup = 3, seed = 11) {
  fit <- dp_mixture(x, components, iter = iter, warmup = warmup, seed = seed, precision = precision, threads = 2, progress = FALSE, ...)
  stopifnot(fit$scale == 1)
  fit
}

# The weights of draws are exponentials by R.
mixture_values <- function(fit) {
  list(
    fit[c("log_likelihood", "log_posterior", "concentration_trace", "occupied", "probe_density", "sizes")],
    fit$draws[sort(setdiff(names(fit$draws), c("weights", "sample_weights")))]
  )
}

# The fit with other weights, whose sums are exact.
with_known_weights <- function(fit) {
  weights <- known_weights(fit$components, 5)
  fit$draws$weights[] <- weights
  if (!is.null(fit$draws$sample_weights)) {
    fit$draws$sample_weights[] <- c(weights, rev(weights))
  }
  fit
}

small_mixture <- function(precision, ...) {
  with_known_weights(mixture(known_cells(256, 3, 8), 8, precision, chains = 2, ...))
}

all_learned <- function() {
  prior <- dp_prior(learn = c("mean", "mean_scale", "df", "scale"))
  # Otherwise made by R's exp().
  prior$df_grid <- seq_len(25) * 1.5
  prior
}

given_prior <- function() dp_prior(mean_scale = 4, df = 9, scale = 0.25, learn = character())

mixture_cases <- list(
  "1 marker" = function(precision) mixture_values(mixture(known_cells(300, 1, 1), 5, precision, chains = 2)),
  "2 markers, labels" = function(precision) {
    mixture_values(mixture(known_cells(300, 2, 2), 17, precision, keep = c("means", "covariances", "labels"), thin = 2, iter = 9))
  },
  "14 markers" = function(precision) mixture_values(mixture(known_cells(300, 14, 3), 6, precision)),
  "26 markers" = function(precision) mixture_values(mixture(known_cells(200, 26, 4), 4, precision, prior = given_prior())),
  "30 markers" = function(precision) mixture_values(mixture(known_cells(200, 30, 5), 3, precision, prior = given_prior(), moves = FALSE)),
  "splits and joins" = function(precision) {
    mixture_values(mixture(known_cells(400, 2, 6, clusters = 6), 12, precision, iter = 40, warmup = 10, thin = 10))
  },
  "without moves" = function(precision) mixture_values(mixture(known_cells(300, 3, 7), 33, precision, moves = FALSE)),
  "several leaves" = function(precision) mixture_values(mixture(known_cells(4500, 2, 9), 3, precision, iter = 3, warmup = 1)),
  "values that repeat" = function(precision) mixture_values(mixture(known_cells(300, 2, 10, atoms = TRUE), 8, precision)),
  "missing values" = function(precision) {
    mixture_values(mixture(known_cells(300, 4, 11, missing = TRUE), 6, precision, missing = "model"))
  },
  "learned prior" = function(precision) mixture_values(mixture(known_cells(300, 3, 12), 6, precision, prior = all_learned())),
  "given prior" = function(precision) {
    prior <- dp_prior(
      mean = c(3, 5), mean_scale = 2, df = 7, scale = rbind(c(1, 0.25), c(0.25, 0.5)), concentration = c(2, 0.5), floor = 0.125
    )
    mixture_values(mixture(known_cells(300, 2, 13), 6, precision, prior = prior))
  },
  "samples" = function(precision) {
    mixture_values(mixture(known_cells(300, 2, 14), 6, precision, sample = known_integers(300, 3, 3)))
  },
  "given labels" = function(precision) {
    mixture_values(mixture(known_cells(300, 2, 15), 6, precision, init = c(NA, 1 + known_integers(299, 5, 4))))
  },
  "more components than cells" = function(precision) mixture_values(mixture(known_cells(40, 2, 16), 70, precision)),
  "continued" = function(precision) {
    fit <- mixture(known_cells(300, 2, 17), 6, precision, chains = 2)
    mixture_values(continue(fit, 5, threads = 2, progress = FALSE))
  },
  "predicted" = function(precision) {
    fit <- small_mixture(precision)
    new <- known_cells(64, 3, 18)
    lapply(c("class", "prob", "log_density"), function(type) predict(fit, new, type = type, threads = 2))
  },
  "predicted with missing values" = function(precision) {
    fit <- with_known_weights(mixture(known_cells(300, 3, 19, missing = TRUE), 8, precision, missing = "model"))
    lapply(c("class", "prob", "log_density"), function(type) predict(fit, type = type, threads = 2))
  },
  "predicted for samples" = function(precision) {
    fit <- with_known_weights(mixture(known_cells(300, 2, 20), 8, precision, sample = known_integers(300, 2, 3)))
    lapply(c("class", "prob", "log_density"), function(type) predict(fit, type = type, threads = 2))
  },
  "cell types" = function(precision) {
    types <- cell_types(small_mixture(precision), threads = 2)
    list(
      types$types[c("cells", "components")], as.integer(types$type), types$probability, types$proportions, types$component_type,
      types$tree$merge, types$draw, types$chain, as.integer(predict(types, known_cells(64, 3, 18), threads = 2))
    )
  },
  "relabelled" = function(precision) {
    fit <- relabel(small_mixture(precision), threads = 2)
    new <- known_cells(64, 3, 18)
    list(
      fit$match, fit$agreement, fit$draws$means, fit$draws$covariances,
      lapply(c("class", "prob"), function(type) predict(fit, new, type = type, threads = 2))
    )
  }
)

bem_values <- function(fit) {
  mixture_values(fit)
}

bem <- function(x, components, precision, ..., iter = 6, warmup = 4) {
  mixture(x, components, precision, method = "bem", iter = iter, warmup = warmup, ...)
}

bem_cases <- list(
  "1 marker" = function(precision) bem_values(bem(known_cells(300, 1, 21), 4, precision, prior = given_prior())),
  "3 markers, two starts" = function(precision) {
    fit <- bem(known_cells(300, 3, 22), 8, precision, prior = dp_prior(learn = c("mean", "scale")), chains = 2, iter = 40)
    list(bem_values(fit), fit$steps, fit$converged)
  },
  "14 markers, means" = function(precision) bem_values(bem(known_cells(300, 14, 23), 6, precision, prior = given_prior(), estimate = "mean")),
  "30 markers" = function(precision) bem_values(bem(known_cells(200, 30, 24), 3, precision, prior = given_prior(), iter = 3)),
  "several leaves" = function(precision) bem_values(bem(known_cells(4500, 2, 25), 3, precision, warmup = 0, iter = 3)),
  "continued" = function(precision) {
    fit <- bem(known_cells(300, 3, 26), 8, precision, prior = given_prior(), iter = 2, tolerance = 0)
    bem_values(continue(fit, 3, threads = 2, progress = FALSE))
  },
  "start of the sampler" = function(precision) {
    x <- known_cells(300, 3, 27)
    mode <- bem(x, 8, precision, prior = given_prior(), iter = 3)
    mixture_values(mixture(x, 8, precision, init = mode, iter = 3, warmup = 1))
  },
  "predicted" = function(precision) {
    fit <- with_known_weights(bem(known_cells(256, 3, 28), 8, precision, prior = given_prior(), chains = 2))
    new <- known_cells(64, 3, 18)
    lapply(c("class", "prob", "log_density"), function(type) predict(fit, new, type = type, threads = 2))
  }
)

topics <- function(counts, topics, precision, ..., iter = 6, warmup = 3, seed = 5) {
  suppressWarnings(
    topic_model(counts, topics, iter = iter, warmup = warmup, seed = seed, precision = precision, threads = 2, progress = FALSE, ...)
  )
}

topic_values <- function(fit) fit[c("phi", "theta", "log_likelihood", "alpha_sum", "beta_trace", "draws", "tokens")]

topic_cases <- list(
  "3 topics" = function(precision) {
    topic_values(topics(known_counts(20, 30, 1), 3, precision, chains = 2, keep = c("phi", "theta"), thin = 2, iter = 8))
  },
  "symmetric alpha" = function(precision) topic_values(topics(known_counts(20, 30, 2), 17, precision, alpha = "symmetric")),
  "given alpha and beta" = function(precision) {
    topic_values(topics(known_counts(20, 30, 3), 4, precision, alpha = c(0.5, 0.25, 1, 2), beta = 0.125))
  },
  "64 topics" = function(precision) topic_values(topics(known_counts(12, 40, 4), 64, precision, iter = 4, warmup = 2)),
  "65 topics" = function(precision) topic_values(topics(known_counts(12, 40, 5), 65, precision, iter = 4, warmup = 2)),
  "256 topics" = function(precision) topic_values(topics(known_counts(8, 20, 6), 256, precision, iter = 4, warmup = 2)),
  "300 topics" = function(precision) topic_values(topics(known_counts(8, 20, 7), 300, precision, iter = 4, warmup = 2)),
  "1100 topics" = function(precision) topic_values(topics(known_counts(5, 12, 8), 1100, precision, iter = 3, warmup = 1)),
  "mean for mode" = function(precision) {
    topic_values(topics(known_counts(20, 30, 9), 5, precision, method = "mean_for_mode", chains = 2, keep = c("phi", "theta")))
  },
  "mean for mode, 80 topics" = function(precision) {
    topic_values(topics(known_counts(12, 30, 10), 80, precision, method = "mean_for_mode", iter = 4, warmup = 2))
  },
  "mean for mode, 300 topics" = function(precision) {
    topic_values(topics(known_counts(8, 20, 11), 300, precision, method = "mean_for_mode", iter = 4, warmup = 2))
  },
  "continued" = function(precision) {
    topic_values(continue(topics(known_counts(20, 30, 12), 5, precision, chains = 2), 4, threads = 2, progress = FALSE))
  },
  "predicted" = function(precision) {
    fit <- topics(known_counts(20, 30, 13), 5, precision, alpha = 0.5)
    new <- known_counts(7, 30, 14)
    list(
      unclass(predict(fit, new, iter = 6, seed = 2, threads = 2)), attr(perplexity(fit, threads = 2), "log_likelihood"),
      attr(perplexity(fit, new, iter = 6, seed = 3, threads = 2), "log_likelihood")
    )
  },
  "predicted, 300 topics" = function(precision) {
    fit <- topics(known_counts(8, 20, 15), 300, precision, alpha = 0.125, method = "mean_for_mode", iter = 3, warmup = 1)
    new <- known_counts(5, 20, 16)
    list(
      unclass(predict(fit, new, iter = 4, seed = 2, threads = 2)), attr(perplexity(fit, threads = 2), "log_likelihood")
    )
  },
  "relabelled" = function(precision) {
    fit <- relabel(topics(known_counts(20, 30, 17), 4, precision, chains = 3, alpha = 0.5))
    fit[c("match", "stable", "phi", "theta", "chain_phi", "tokens")]
  }
)

categorical_cases <- list(
  "one draw of each row" = function(precision) {
    lapply(c(1, 2, 5, 16, 17, 64, 100, 1000), function(size) {
      weights <- matrix(known_integers(37 * size, 50, size), 37)
      weights[, size] <- 1
      rcategorical(weights, seed = 4, precision = precision, threads = 2)
    })
  },
  "many draws of each row" = function(precision) {
    weights <- matrix(known_integers(20 * 75, 50, 3), 20)
    lapply(c(2, 7, 200), function(draws) rcategorical(weights, draws, seed = 5, precision = precision, threads = 2))
  },
  "a vector" = function(precision) {
    lapply(c(1, 3, 700, 5000), function(size) {
      rcategorical(1 + known_integers(size, 1000, size), 3000, seed = 6, precision = precision, threads = 2)
    })
  },
  "logarithms" = function(precision) {
    weights <- matrix(-known_integers(30 * 40, 200, 7) / 8, 30)
    weights[cbind(1:30, 1:30)] <- -Inf
    lapply(c(1, 9), function(draws) rcategorical(weights, draws, log = TRUE, seed = 7, precision = precision, threads = 2))
  },
  "a sparse matrix" = function(precision) {
    skip_if_not_installed("Matrix")
    weights <- matrix(pmax(0, known_integers(30 * 90, 40, 8) - 30), 30)
    weights[, 90] <- 1
    weights <- Matrix::Matrix(weights, sparse = TRUE)
    lapply(c(1, 9), function(draws) rcategorical(weights, draws, seed = 8, precision = precision, threads = 2))
  }
)

polyagamma_grid <- function(shapes) {
  expand.grid(tilt = c(0, 0.125, -1, 2.375, 2.5, 7, 14.5, 16, 40, 1000), shape = shapes)
}

draw_polyagamma <- function(shapes, method = "auto", each = 20) {
  grid <- polyagamma_grid(shapes)
  rpolyagamma(each * nrow(grid), grid$shape, grid$tilt, method, seed = 21, threads = 2)
}

polyagamma_cases <- list(
  "shapes below 12" = function(precision) draw_polyagamma(c(0.015625, 0.5, 1, 1.5, 2, 3.75, 4, 4.25, 7, 11.875)),
  "shapes from 12" = function(precision) draw_polyagamma(c(12, 13.5, 29, 30, 100, 171, 1000, 1e6)),
  "method devroye" = function(precision) draw_polyagamma(1, "devroye", 200),
  "method sum" = function(precision) draw_polyagamma(c(1, 2, 13), "sum"),
  "method alternate" = function(precision) draw_polyagamma(c(0.25, 1, 2.5, 4), "alternate", 20),
  "method saddlepoint" = function(precision) draw_polyagamma(c(1, 1.5, 14, 171), "saddlepoint"),
  "method normal" = function(precision) draw_polyagamma(c(171, 1000), "normal"),
  "density" = function(precision) {
    grid <- expand.grid(x = c(0.0078125, 0.125, 0.25, 1, 4), tilt = c(0, 1, 6), shape = c(0.5, 1, 3, 20))
    list(
      dpolyagamma(grid$x, grid$shape, grid$tilt, threads = 2), dpolyagamma(grid$x, grid$shape, grid$tilt, log = TRUE, threads = 2)
    )
  },
  "probabilities" = function(precision) {
    grid <- expand.grid(x = c(0.0078125, 0.125, 0.25, 1, 4), tilt = c(0, 1, 6), shape = c(0.5, 1, 3, 20))
    list(
      ppolyagamma(grid$x, grid$shape, grid$tilt, threads = 2), ppolyagamma(grid$x, grid$shape, grid$tilt, FALSE, threads = 2),
      ppolyagamma(grid$x, grid$shape, grid$tilt, FALSE, TRUE, threads = 2)
    )
  },
  "quantiles" = function(precision) {
    grid <- expand.grid(p = c(0.0078125, 0.5, 0.875), tilt = c(0, 2), shape = c(0.5, 1, 20))
    qpolyagamma(grid$p, grid$shape, grid$tilt, threads = 2)
  },
  "cumulants" = function(precision) {
    grid <- expand.grid(order = c(1:6, 12, 20), tilt = c(0, 0.125, 1, 30), shape = c(0.5, 3))
    polyagamma_cumulant(grid$shape, grid$tilt, grid$order)
  },
  "step of a regression" = function(precision) {
    d <- known_rows(300, 31)
    x <- cbind(1, as.matrix(d[c("m1", "m2", "m3")]))
    polyagamma_step(x, d$y, c(0.5, -0.25, 0, 1), prior_precision = 0.25, seed = 3, threads = 2)
  }
)

regression <- function(formula, data, ..., iter = 5, warmup = 2) {
  bayes_logit(formula, data, iter = iter, warmup = warmup, seed = 9, chains = 2, threads = 2, progress = FALSE, ...)
}

# The log likelihood has a constant by R's lgamma(), which is 0 for responses of one trial.
regression_values <- function(fit, log_likelihood = TRUE) {
  parts <- c("coefficient_trace", "dispersion_trace", "group_deviation", "draws", if (log_likelihood) "log_likelihood")
  fit[sort(intersect(parts, names(fit)))]
}

regression_cases <- list(
  "binomial" = function(precision) regression_values(regression(y ~ m1 + m2 + m3 + f, known_rows(320, 41))),
  "binomial, one predictor" = function(precision) regression_values(regression(y ~ 0 + m1, known_rows(320, 42))),
  "binomial of several trials, offset" = function(precision) {
    regression_values(regression(cbind(k, 4 - k) ~ m1 + m2 + offset(m3 / 4), known_rows(320, 43)), FALSE)
  },
  "binomial, weights" = function(precision) {
    d <- known_rows(320, 44)
    d$w <- known_integers(320, 3, 1)
    fit <- bayes_logit(y ~ 0 + m1 + m2, d, weights = w, chains = 1, iter = 5, warmup = 2, seed = 9, threads = 2, progress = FALSE)
    regression_values(fit, FALSE)
  },
  "binomial, several leaves" = function(precision) regression_values(regression(y ~ m1, known_rows(4500, 45), iter = 3, warmup = 1)),
  "binomial, groups" = function(precision) regression_values(regression(y ~ m1 + m2 + (1 | g), known_rows(320, 46), thin = 1)),
  "binomial, horseshoe" = function(precision) {
    regression_values(regression(y ~ m1 + m2 + m3 + m4 + m5 + m6 + f, known_rows(320, 47), prior = logit_prior("horseshoe")))
  },
  "binomial, zellner" = function(precision) {
    regression_values(regression(y ~ m1 + m2 + m3, known_rows(320, 48), prior = logit_prior("zellner")))
  },
  "binomial, sparse" = function(precision) {
    skip_if_not_installed("Matrix")
    regression_values(regression(y ~ f + g, known_rows(256, 49), sparse = TRUE))
  },
  "binomial, sparse horseshoe" = function(precision) {
    skip_if_not_installed("Matrix")
    regression_values(regression(y ~ f + g, known_rows(256, 50), sparse = TRUE, prior = logit_prior("horseshoe")))
  },
  "negbinomial" = function(precision) {
    regression_values(regression(count ~ 0 + m1 + m2, known_rows(320, 51), family = "negbinomial"), FALSE)
  },
  "negbinomial, groups" = function(precision) {
    regression_values(regression(count ~ 0 + m1 + (1 | g), known_rows(320, 52), family = "negbinomial"), FALSE)
  },
  "multinomial" = function(precision) {
    regression_values(regression(class ~ m1 + m2, known_rows(300, 53), family = "multinomial"))
  },
  "multinomial, horseshoe" = function(precision) {
    regression_values(regression(class ~ m1 + m2 + m3, known_rows(300, 54), family = "multinomial", prior = logit_prior("horseshoe")))
  },
  "continued" = function(precision) {
    regression_values(continue(regression(y ~ m1 + (1 | g), known_rows(320, 55)), 4, threads = 2, progress = FALSE))
  }
)

resample <- function(y, model, ..., draws = 20, horizon = 30) {
  predictive_resample(y, model, horizon, draws, seed = 17, threads = 2, progress = FALSE, ...)
}

predictive_cases <- list(
  "normal mean" = function(precision) {
    fit <- resample(known_cells(64, 1, 61)[, 1], normal_mean(), trajectories = 10)
    list(fit$draws, fit$trajectories)
  },
  "normal mean, unknown variance" = function(precision) {
    fit <- resample(known_cells(64, 1, 62)[, 1], normal_mean(NULL), trajectories = 10)
    list(fit$draws, fit$trajectories, continue(fit, 11, threads = 2, progress = FALSE)$draws)
  },
  "values of a normal mean" = function(precision) {
    resample(known_cells(64, 1, 63)[, 1], normal_mean(), functional = function(y) y, draws = 6)$draws
  },
  "bayesian bootstrap" = function(precision) {
    y <- known_integers(40, 100, 1)
    lapply(c(Inf, 25), function(horizon) {
      resample(y, bayesian_bootstrap(), functional = function(y, weight) weight, horizon = horizon)$draws
    })
  },
  "density" = function(precision) {
    fit <- resample(known_cells(64, 1, 64)[, 1], copula_density(rho = 0.75, points = seq(1, 5, by = 0.5), permutations = 3))
    list(fit$cdf, fit$cdf0, continue(fit, 11, threads = 2, progress = FALSE)$cdf)
  },
  "density of two variables" = function(precision) {
    fit <- resample(known_cells(64, 2, 65), copula_density(rho = c(0.75, 0.5), points = known_cells(16, 2, 66), permutations = 2))
    list(fit$cdf, fit$cdf0)
  },
  "regression" = function(precision) {
    d <- known_rows(64, 67)
    fit <- resample(d, copula_regression(m1 ~ m2 + m3, d[1:5, ], at = c(2, 3, 4), rho = 0.75, rho_x = 0.5, permutations = 2))
    list(fit$cdf, fit$cdf0, predict(fit, d[6:9, ], type = "cdf", probs = NULL, threads = 2)$estimate)
  },
  "classification" = function(precision) {
    d <- known_rows(64, 68)
    fit <- resample(d, copula_classification(y ~ m2 + m3, d[1:5, ], rho = 0.75, rho_x = c(0.5, 0.25), permutations = 2))
    list(
      fit$probability, fit$probability0, fit$orders$score,
      predict(fit, d[6:9, ], type = "probability", probs = NULL, threads = 2)$estimate
    )
  }
)

on_both_scales <- function(compute) lapply(c(FALSE, TRUE), compute)

# Weights, or whole numbers in place of their logarithms.
weights_or_logs <- function(size, log, seed) if (log) -known_integers(size, 400, seed) / 16 else known_weights(size, seed)

pmf_cases <- list(
  "convolve" = function(precision) {
    on_both_scales(function(log) {
      lapply(list(c(1, 5), c(40, 7), c(300, 300), c(2000, 1500)), function(size) {
        convolve_pmf(weights_or_logs(size[[1L]], log, 1), weights_or_logs(size[[2L]], log, 2), log = log, threads = 2)
      })
    })
  },
  "convolve, small tails" = function(precision) {
    x <- known_weights(900, 3) * 2^-(0:899)
    list(convolve_pmf(x, rev(x), threads = 2), convolve_pmf(x, x, accuracy = 0, threads = 2), convolve_pmf(x, x, accuracy = 1e-6, threads = 2))
  },
  "convolve rows" = function(precision) {
    on_both_scales(function(log) {
      x <- matrix(weights_or_logs(600, log, 4), 20)
      convolve_pmf(x, x[20:1, 1:11], log = log, threads = 2)
    })
  },
  "sum" = function(precision) {
    on_both_scales(function(log) {
      list(
        sum_pmf(lapply(c(3, 50, 1, 400, 20), function(size) weights_or_logs(size, log, size)), log = log, threads = 2),
        sum_pmf(matrix(weights_or_logs(120 * 9, log, 5), 120), log = log, threads = 2)
      )
    })
  },
  "repeated sum" = function(precision) {
    on_both_scales(function(log) {
      lapply(c(1, 2, 13, 700), function(times) rep_sum(weights_or_logs(6, log, 6), times, log = log, threads = 2))
    })
  },
  "condition on sum" = function(precision) {
    on_both_scales(function(log) {
      found <- condition_on_sum(weights_or_logs(30, log, 7), weights_or_logs(50, log, 8), 40, log = log)
      lapply(found, unclass)
    })
  },
  "compound" = function(precision) {
    size <- pmf(c(0, known_weights(15, 9)))
    list(
      unclass(compound_pmf(pmf(known_weights(12, 10)), size, threads = 2)), unclass(compound_pmf("poisson", size, lambda = 1, threads = 2)),
      unclass(compound_pmf("geometric", size, prob = 0.5, threads = 2)),
      unclass(compound_pmf("binomial", size, trials = 37, prob = 0.25, threads = 2))
    )
  },
  "poisson binomial" = function(precision) {
    on_both_scales(function(log) {
      if (log) NULL else unclass(pmf_poisson_binomial(known_integers(60, 256, 11) / 256, threads = 2))
    })
  },
  "distributions" = function(precision) {
    x <- pmf(known_weights(40, 12), from = -3)
    y <- pmf(known_weights(9, 13), from = 2)
    list(
      lapply(list(x + y, x - y, max(x, y), min(x, y), 2 * x + y), unclass), ppmf(-4:40, x), ppmf(-4:40, x, lower.tail = FALSE),
      qpmf(c(0.125, 0.5, 0.875), x), rpmf(500, x, seed = 3)
    )
  },
  "logarithms" = function(precision) {
    x <- pmf(weights_or_logs(40, TRUE, 14), log = TRUE, normalize = TRUE)
    list(unclass(x), unclass(x + x), ppmf(0:40, x, log.p = TRUE))
  }
)

known_topics <- list(
  dp_mixture = list(cases = mixture_cases, precisions = c("double", "single")),
  bem = list(cases = bem_cases, precisions = c("double", "single")),
  topic_model = list(cases = topic_cases, precisions = c("double", "single")),
  rcategorical = list(cases = categorical_cases, precisions = c("double", "single")),
  polyagamma = list(cases = polyagamma_cases, precisions = "double"),
  bayes_logit = list(cases = regression_cases, precisions = "double"),
  predictive_resample = list(cases = predictive_cases, precisions = "double"),
  pmf = list(cases = pmf_cases, precisions = "double")
)

known_file <- test_path("known-answers.csv")
write_known <- identical(Sys.getenv("WARPBAYES_WRITE_KNOWN_ANSWERS"), "true")
known_table <- if (!write_known) utils::read.csv(known_file, colClasses = "character")
written <- list()

for (topic in names(known_topics)) {
  test_that(paste("known answers:", topic), {
    skip_on_sanitized_emulator()
    for (precision in known_topics[[topic]]$precisions) {
      for (case in names(known_topics[[topic]]$cases)) {
        digest <- tryCatch(
          known_digest(known_topics[[topic]]$cases[[case]](precision)),
          error = function(error) paste("an error:", conditionMessage(error))
        )
        if (write_known) {
          written[[length(written) + 1L]] <<- data.frame(topic, case, precision, digest)
          next
        }
        expected <- known_table$digest[known_table$topic == topic & known_table$case == case & known_table$precision == precision]
        expect(
          identical(digest, expected),
          sprintf("%s, %s, %s precision: the result is %s, the known answer %s", topic, case, precision, digest, toString(expected))
        )
      }
    }
  })
}

test_that("the table of known answers has each case once", {
  skip_if(write_known, "written")
  cases <- unlist(lapply(names(known_topics), function(topic) {
    outer(names(known_topics[[topic]]$cases), known_topics[[topic]]$precisions, function(case, precision) paste(topic, case, precision))
  }))
  expect_setequal(paste(known_table$topic, known_table$case, known_table$precision), cases)
  expect_identical(anyDuplicated(known_table[c("topic", "case", "precision")]), 0L)
})

if (write_known) {
  utils::write.csv(do.call(rbind, written), known_file, row.names = FALSE)
}
