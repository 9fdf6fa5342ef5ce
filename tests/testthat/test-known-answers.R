# Digests of small fits and draws of every topic: an unintended change of a number shows here, with its topic, case and
# precision. After an intended change `WARPBAYES_WRITE_KNOWN_ANSWERS=true WARPBAYES_TEST_FILTER=known-answers Rscript
# tools/run-tests.R` writes known-answers.csv again. A row holds for all processors, compilers and both backends.
#
# A case is an expression whose value contains only what the package promises bit for bit. Results of R's C library or
# of sums in extended precision are left out, such as weights of components and mean log scores. If R's logarithm or
# exponential is unavoidable, its exact value is not near the middle of two doubles, so that every C library rounds it
# to the same double.

# R's exp() makes the values that a learned `df` can take.
mixture <- function(x, components, precision, ..., prior = dp_prior(learn = c("mean", "mean_scale", "scale")),
                    iter = 6, warmup = 3, seed = 11) {
  fit <- fit_mixture(x, components,
    prior = prior, iter = iter, warmup = warmup, seed = seed, precision = precision, ...
  )
  stopifnot(fit$scale == 1)
  fit
}

# The weights of draws come from R's exp().
mixture_values <- function(fit) {
  list(
    fit[c("log_likelihood", "log_posterior", "concentration_trace", "occupied", "probe_density", "sizes")],
    fit$draws[sort(setdiff(names(fit$draws), c("weights", "sample_weights", "sample_sizes")))]
  )
}

# The fit with other weights, whose sums are exact.
with_known_weights <- function(fit) {
  weights <- known_weights(fit$components, 5)
  fit$draws$weights[] <- weights
  if (!is.null(fit$draws$sample_weights)) fit$draws$sample_weights[] <- c(weights, rev(weights))
  fit
}

small_mixture <- function(precision, ...) {
  with_known_weights(mixture(known_cells(256, 3, 8), 8, precision, chains = 2, ...))
}

# At most two draws, because R subtracts the logarithm of their number, and log(2) is not near the middle of two
# doubles.
predicted <- function(fit, newdata = NULL) {
  list(
    lapply(c("class", "prob"), function(type) predict(fit, newdata, type = type)),
    lapply(1:2, function(draws) predict(fit, newdata, type = "log_density", ndraws = draws)),
    log_lik(fit, newdata)
  )
}

all_learned <- function() {
  prior <- dp_prior(learn = c("mean", "mean_scale", "df", "scale"))
  # As in the prior of a fit.
  prior$df_grid <- seq_len(25) * 1.5
  prior
}

given_prior <- function(markers = 7) dp_prior(mean_scale = 4, df = markers + 2, scale = 0.25, learn = character())

mixture_cases <- alist(
  "1 marker" = mixture_values(mixture(known_cells(300, 1, 1), 5, precision, chains = 2)),
  "2 markers, labels" = {
    keep <- c("means", "covariances", "labels")
    mixture_values(mixture(known_cells(300, 2, 2), 17, precision, keep = keep, thin = 2, iter = 9))
  },
  "14 markers" = mixture_values(mixture(known_cells(300, 14, 3), 6, precision)),
  "every number of markers to 40" = {
    x <- known_cells(72, 40, 34)
    lapply(seq_len(40), function(markers) {
      own <- x[, seq_len(markers), drop = FALSE]
      mixture_values(mixture(own, 3, precision, prior = given_prior(markers), iter = 2, warmup = 1))
    })
  },
  "every number of components to 34" = {
    x <- known_cells(72, 2, 35)
    lapply(seq_len(34), function(components) mixture_values(mixture(x, components, precision, iter = 2, warmup = 1)))
  },
  "26 markers" = mixture_values(mixture(known_cells(300, 26, 4), 4, precision, iter = 20, warmup = 10, thin = 5)),
  "30 markers" = mixture_values(mixture(known_cells(300, 30, 5), 3, precision, moves = FALSE)),
  "splits and joins" = {
    mixture_values(mixture(known_cells(400, 2, 6, clusters = 6), 12, precision, iter = 40, warmup = 10, thin = 10))
  },
  "without moves" = mixture_values(mixture(known_cells(300, 3, 7), 33, precision, moves = FALSE)),
  "several leaves" = mixture_values(mixture(known_cells(4500, 2, 9), 3, precision, iter = 3, warmup = 1)),
  "20 leaves" = mixture_values(mixture(known_cells(40000, 1, 37), 2, precision, iter = 2, warmup = 1)),
  "values that repeat" = {
    mixture_values(mixture(known_cells(300, 2, 10, atoms = TRUE), 8, precision, iter = 60, warmup = 30, thin = 10))
  },
  "missing values" = mixture_values(mixture(known_cells(300, 4, 11, missing = TRUE), 6, precision, missing = "model")),
  "missing values, 14 markers" = {
    mixture_values(mixture(known_cells(300, 14, 29, missing = TRUE), 4, precision, missing = "model", moves = FALSE))
  },
  "missing values in samples" = {
    x <- known_cells(300, 3, 30, missing = TRUE)
    mixture_values(mixture(x, 6, precision, missing = "model", sample = known_integers(300, 2, 6)))
  },
  "learned prior" = {
    x <- known_cells(300, 3, 12)
    mixture_values(mixture(x, 6, precision, prior = all_learned(), iter = 12, warmup = 6, thin = 3))
  },
  "given prior" = {
    prior <- dp_prior(
      mean = c(3, 5), mean_scale = 2, df = 7, scale = rbind(c(1, 0.25), c(0.25, 0.5)), concentration = c(2, 0.5),
      floor = 0.125
    )
    mixture_values(mixture(known_cells(300, 2, 13), 6, precision, prior = prior))
  },
  "samples" = {
    sample <- known_integers(300, 3, 3)
    mixture_values(mixture(known_cells(300, 2, 14), 6, precision, sample = sample, iter = 12, warmup = 8))
  },
  "20 samples, 14 markers" = {
    mixture_values(mixture(known_cells(300, 14, 31), 20, precision, sample = known_integers(300, 20, 7)))
  },
  "given labels" = {
    mixture_values(mixture(known_cells(300, 2, 15), 6, precision, start = c(NA, 1 + known_integers(299, 5, 4))))
  },
  "more components than cells" = mixture_values(mixture(known_cells(60, 2, 16), 300, precision)),
  "continued" = {
    fit <- mixture(known_cells(300, 2, 17), 6, precision, chains = 2)
    mixture_values(continue(fit, 5))
  },
  "predicted" = {
    fit <- small_mixture(precision)
    list(predicted(fit, known_cells(64, 3, 18)), predict(fit, type = "type"))
  },
  "predicted, 30 markers" = {
    predicted(with_known_weights(mixture(known_cells(128, 30, 32), 17, precision, iter = 4, warmup = 2)))
  },
  "predicted with missing values" = {
    fit <- with_known_weights(mixture(known_cells(300, 3, 19, missing = TRUE), 8, precision, missing = "model"))
    predicted(fit)
  },
  "predicted for samples" = {
    fit <- with_known_weights(mixture(known_cells(300, 2, 20), 8, precision, sample = known_integers(300, 2, 3)))
    predicted(fit)
  },
  "cell types" = {
    types <- cell_types(small_mixture(precision))
    list(
      types$types[c("cells", "components")], as.integer(types$type), types$probability, types$proportions,
      types$component_type, types$tree$merge, types$draw, types$chain,
      as.integer(predict(types, known_cells(64, 3, 18)))
    )
  },
  "relabelled" = {
    fit <- relabel(small_mixture(precision))
    new <- known_cells(64, 3, 18)
    list(
      fit$match, fit$agreement, fit$draws$means, fit$draws$covariances,
      lapply(c("class", "prob"), function(type) predict(fit, new, type = type))
    )
  }
)

bem <- function(x, components, precision, ..., iter = 6, warmup = 4, tolerance = 1e-5) {
  mixture(x, components, precision, method = "bem", iter = iter, warmup = warmup, tolerance = tolerance, ...)
}

bem_cases <- alist(
  "1 marker" = mixture_values(bem(known_cells(300, 1, 21), 4, precision, prior = given_prior())),
  "3 markers, two starts" = {
    prior <- dp_prior(learn = c("mean", "scale"))
    fit <- bem(known_cells(300, 3, 22), 8, precision, prior = prior, chains = 2, iter = 40)
    list(mixture_values(fit), fit$steps, fit$converged)
  },
  "14 markers, means" = {
    mixture_values(bem(known_cells(300, 14, 23), 6, precision, prior = given_prior(), estimate = "mean"))
  },
  "30 markers" = mixture_values(bem(known_cells(200, 30, 24), 3, precision, prior = given_prior(), iter = 3)),
  "every number of markers to 40" = {
    x <- known_cells(72, 40, 36)
    lapply(seq_len(40), function(markers) {
      own <- x[, seq_len(markers), drop = FALSE]
      mixture_values(bem(own, 3, precision, prior = given_prior(markers), iter = 2, warmup = 1))
    })
  },
  "40 components" = mixture_values(bem(known_cells(300, 2, 33), 40, precision, prior = given_prior())),
  "several leaves" = mixture_values(bem(known_cells(4500, 2, 25), 3, precision, warmup = 0, iter = 3)),
  "continued" = {
    fit <- bem(known_cells(300, 3, 26), 8, precision, prior = given_prior(), iter = 2, tolerance = 0)
    mixture_values(continue(fit, 3))
  },
  "start of the sampler" = {
    x <- known_cells(300, 3, 27)
    mode <- bem(x, 8, precision, prior = given_prior(), iter = 3)
    mixture_values(mixture(x, 8, precision, start = mode, iter = 3, warmup = 1))
  },
  "predicted" = {
    fit <- with_known_weights(bem(known_cells(256, 3, 28), 8, precision, prior = given_prior(), chains = 2))
    predicted(fit, known_cells(64, 3, 18))
  }
)

# The draws of phi and theta are kept, because the averages depend on the draws only through the topics: they are
# averages of conditional means.
topics <- function(counts, topics, precision, ..., keep = c("phi", "theta"), iter = 6, warmup = 3, start = "random") {
  suppressWarnings(fit_topics(
    counts, topics, keep = keep, iter = iter, warmup = warmup, start = start, seed = 5, precision = precision, ...
  ))
}

topic_values <- function(fit) fit[c("phi", "theta", "log_likelihood", "alpha_sum", "beta_trace", "draws", "tokens")]

topic_cases <- alist(
  "3 topics" = {
    topic_values(topics(known_counts(20, 30, 1), 3, precision, chains = 2, thin = 2, iter = 8))
  },
  "hierarchical Dirichlet process" = topic_values(topics(known_counts(20, 30, 2), 9, precision, alpha = "hdp")),
  "one topic a document" = topic_values(topics(known_counts(20, 30, 2), 17, precision, alpha = "mixture")),
  "symmetric alpha" = topic_values(topics(known_counts(20, 30, 2), 17, precision, alpha = "symmetric")),
  "merged start" = topic_values(topics(known_counts(20, 30, 1), 6, precision, chains = 2, start = "merged")),
  "given alpha and beta" = {
    topic_values(topics(known_counts(20, 30, 3), 4, precision, alpha = c(0.5, 0.25, 1, 2), beta = 0.125))
  },
  "64 topics" = topic_values(topics(known_counts(12, 40, 4), 64, precision, iter = 4, warmup = 2)),
  "65 topics" = topic_values(topics(known_counts(12, 40, 5), 65, precision, iter = 4, warmup = 2)),
  "256 topics" = topic_values(topics(known_counts(8, 20, 6), 256, precision, iter = 4, warmup = 2)),
  "300 topics" = topic_values(topics(known_counts(8, 20, 7), 300, precision, iter = 4, warmup = 2)),
  "1100 topics" = topic_values(topics(known_counts(5, 12, 8), 1100, precision, iter = 3, warmup = 1)),
  "tables of gammas" = {
    counts <- sparse_counts(500, 500, 500, 18)
    counts$count[[3L]] <- 4000
    fit <- topics(counts, 200, precision, alpha = 0.125, beta = 0.0625, iter = 3, warmup = 1)
    topic_values(fit)
  },
  "mean for mode" = {
    topic_values(topics(known_counts(20, 30, 9), 5, precision, estimate = "mean", chains = 2))
  },
  "mean for mode, 80 topics" = {
    topic_values(topics(known_counts(12, 30, 10), 80, precision, estimate = "mean", iter = 4, warmup = 2))
  },
  "mean for mode, 300 topics" = {
    topic_values(topics(known_counts(8, 20, 11), 300, precision, estimate = "mean", iter = 4, warmup = 2))
  },
  "continued" = topic_values(continue(topics(known_counts(20, 30, 12), 5, precision, chains = 2), 4)),
  "predicted" = {
    fit <- topics(known_counts(20, 30, 13), 5, precision, alpha = 0.5)
    new <- known_counts(7, 30, 14)
    list(
      unclass(predict(fit, new, iter = 6, seed = 2)), attr(perplexity(fit), "log_likelihood"),
      attr(perplexity(fit, new, iter = 6, seed = 3), "log_likelihood")
    )
  },
  "predicted, 300 topics" = {
    counts <- known_counts(8, 20, 15)
    fit <- topics(counts, 300, precision, alpha = 0.125, estimate = "mean", iter = 3, warmup = 1)
    new <- known_counts(5, 20, 16)
    list(
      unclass(predict(fit, new, iter = 4, seed = 2)), attr(perplexity(fit), "log_likelihood")
    )
  },
  "relabelled" = {
    fit <- relabel(topics(known_counts(20, 30, 17), 4, precision, chains = 3, alpha = 0.5, keep = NULL))
    c(fit["match"], stable = sum(fit$found == 1), fit[c("phi", "theta", "chain_phi", "tokens")])
  },
  "prior counts and covariates" = {
    counts <- known_counts(20, 70, 18)
    colnames(counts) <- paste0("w", seq_len(70))
    fit <- topics(counts, 5, precision, seed_words = list(one = c("w3", "w70"), two = "w4*", weight = 0.5),
      prevalence = ~ kind, data = data.frame(kind = factor(rep(1:3, c(9, 9, 2)))), chains = 2)
    new <- data.frame(kind = factor(c(2, NA, 1, 4)))
    list(topic_values(fit), predict(fit, counts[1:4, ], iter = 4, data = new, seed = 1))
  },
  "prior counts, mean for mode" = {
    counts <- known_counts(20, 30, 19)
    topic_values(topics(counts, 4, precision, alpha = "symmetric", beta = 1 / (1:30), estimate = "mean"))
  },
  "updated" = {
    fit <- topics(known_counts(20, 30, 20), 4, precision)
    topic_values(add_documents(fit, known_counts(6, 30, 21), weight = 0.5, iter = 4, seed = 6,
      control = warp_control(keep = "phi")))
  }
)

categorical_cases <- alist(
  "one draw of each row" = {
    lapply(c(1, 2, 5, 16, 17, 64, 100, 1000), function(size) {
      weights <- matrix(known_integers(37 * size, 50, size), 37)
      weights[, size] <- 1
      rcategorical(weights, seed = 4, precision = precision)
    })
  },
  "many draws of each row" = {
    weights <- matrix(known_integers(20 * 75, 50, 3), 20)
    lapply(c(2, 7, 200), function(draws) rcategorical(weights, draws, seed = 5, precision = precision))
  },
  "a vector" = {
    lapply(c(1, 3, 700, 5000), function(size) {
      rcategorical(1 + known_integers(size, 1000, size), 3000, seed = 6, precision = precision)
    })
  },
  "logarithms" = {
    weights <- matrix(-known_integers(30 * 40, 200, 7) / 8, 30)
    weights[cbind(1:30, 1:30)] <- -Inf
    c(
      lapply(c(1, 9), function(draws) rcategorical(weights, draws, log = TRUE, seed = 7, precision = precision)),
      list(rcategorical(seq_len(700) / 8, 50, log = TRUE, seed = 7, precision = precision))
    )
  },
  "weights far apart" = {
    huge <- matrix(2^(1023 - known_integers(20 * 40, 12, 9)), 20)
    tiny <- matrix(known_integers(20 * 40, 9, 10) * 2^-1070, 20)
    tiny[, 1] <- 2^-1071
    logs <- matrix(seq_len(800) * 3 - 2000, 20)
    lapply(c(1, 5), function(draws) {
      list(
        lapply(list(huge, tiny), rcategorical, draws, seed = 9, precision = precision),
        rcategorical(logs, draws, log = TRUE, seed = 9, precision = precision)
      )
    })
  },
  "a sparse matrix" = {
    skip_if_not_installed("Matrix")
    weights <- matrix(pmax(0, known_integers(30 * 90, 40, 8) - 30), 30)
    weights[, 90] <- 1
    lapply(c(1, 2^1019, 2^-1070), function(unit) {
      sparse <- Matrix::Matrix(weights * unit, sparse = TRUE)
      lapply(c(1, 9), function(draws) rcategorical(sparse, draws, seed = 8, precision = precision))
    })
  }
)

polyagamma_grid <- function(shapes) {
  expand.grid(tilt = c(0, 0.125, -1, 2.375, 2.5, 7, 14.5, 16, 40, 1000), shape = shapes)
}

draw_polyagamma <- function(shapes, method = "auto", each = 20) {
  grid <- polyagamma_grid(shapes)
  rpolyagamma(each * nrow(grid), grid$shape, grid$tilt, method, seed = 21)
}

polyagamma_cases <- alist(
  "shapes below 12" = draw_polyagamma(c(0.015625, 0.5, 1, 1.5, 2, 3.75, 4, 4.25, 7, 11.875)),
  "shapes from 12" = draw_polyagamma(c(12, 13.5, 29, 30, 100, 171, 1000, 1e6)),
  "equal shapes and tilts" = {
    lapply(c(0.5, 1, 2.5, 6, 13, 50, 500), function(shape) {
      lapply(c(0, 3, 30), function(tilt) rpolyagamma(1100, shape, tilt, seed = 22))
    })
  },
  "method devroye" = draw_polyagamma(1, "devroye", 200),
  "method sum" = draw_polyagamma(c(1, 2, 13), "sum"),
  "method alternate" = draw_polyagamma(c(0.25, 1, 2.5, 4), "alternate", 20),
  "method saddlepoint" = draw_polyagamma(c(1, 1.5, 14, 171), "saddlepoint"),
  "method normal" = draw_polyagamma(c(171, 1000), "normal"),
  "density" = {
    grid <- expand.grid(x = c(2^-440, 0.0078125, 0.125, 0.25, 1, 4), tilt = c(0, 1, 6), shape = c(0.5, 1, 3, 20))
    list(
      dpolyagamma(grid$x, grid$shape, grid$tilt), dpolyagamma(grid$x, grid$shape, grid$tilt, log = TRUE)
    )
  },
  "probabilities" = {
    grid <- expand.grid(x = c(2^-440, 0.0078125, 0.125, 0.25, 1, 4), tilt = c(0, 1, 6), shape = c(0.5, 1, 3, 20))
    list(
      ppolyagamma(grid$x, grid$shape, grid$tilt), ppolyagamma(grid$x, grid$shape, grid$tilt, FALSE),
      ppolyagamma(grid$x, grid$shape, grid$tilt, FALSE, TRUE)
    )
  },
  "quantiles" = {
    grid <- expand.grid(p = c(0.0078125, 0.5, 0.875), tilt = c(0, 2), shape = c(0.5, 1, 20))
    qpolyagamma(grid$p, grid$shape, grid$tilt)
  },
  "cumulants" = {
    grid <- expand.grid(order = c(1:6, 12, 20), tilt = c(0, 0.125, 1, 30), shape = c(0.5, 3))
    polyagamma_cumulant(grid$shape, grid$tilt, grid$order)
  },
  "step of a regression" = {
    d <- answer_rows(300, 31)
    x <- cbind(1, as.matrix(d[c("m1", "m2", "m3")]))
    list(
      polyagamma_step(x, d$y, c(0.5, -0.25, 0, 1), prior_precision = 0.25, seed = 3),
      polyagamma_step(x, d$k, c(0.5, -0.25, 0, 1), trials = 4, offset = d$m4, prior_precision = 0.25, seed = 4)
    )
  }
)

by_sparse <- warp_control(sparse = TRUE)
regression <- function(formula, data, ..., iter = 5, warmup = 2) {
  bayes_logit(formula, data, iter = iter, warmup = warmup, seed = 9, chains = 2, ...)
}

# The log likelihood has a constant from R's lgamma(). It is 0 for responses of one trial and for counts up to 1.
regression_values <- function(fit, log_likelihood = TRUE) {
  parts <- c("coefficient_trace", "dispersion_trace", "group_deviation", "group_correlation",
    "draws", if (log_likelihood) "log_likelihood")
  fit[sort(intersect(parts, names(fit)))]
}

regression_cases <- alist(
  "binomial" = regression_values(regression(y ~ m1 + m2 + m3 + f, answer_rows(320, 41))),
  "binomial, one predictor" = regression_values(regression(y ~ 0 + m1, answer_rows(320, 42))),
  "binomial of several trials, offset" = {
    regression_values(regression(cbind(k, 4 - k) ~ m1 + m2 + offset(m3 / 4), answer_rows(320, 43)), FALSE)
  },
  "binomial, weights" = {
    d <- answer_rows(320, 44)
    d$w <- known_integers(320, 3, 1)
    fit <- bayes_logit(y ~ 0 + m1 + m2, d, weights = w, chains = 1, iter = 5, warmup = 2, seed = 9)
    regression_values(fit)
  },
  "binomial, several leaves" = regression_values(regression(y ~ m1, answer_rows(4500, 45), iter = 3, warmup = 1)),
  "binomial, slopes and crossed groups" =
    regression_values(regression(y ~ m1 + (m1 + m2 | g) + (1 | h), transform(answer_rows(320, 61), h = rep(1:10, 32)))),
  "negbinomial, nested groups and independent slopes" = {
    d <- transform(answer_rows(320, 62), h = rep(1:2, 160))
    regression_values(regression(count ~ m1 + (1 | g / h) + (0 + m1 || g), d, family = "negbinomial"), FALSE)
  },
  "negbinomial, excess zeros" = {
    zeros <- transform(answer_rows(320, 64), count = count * (seq_len(320) %% 3 > 0))
    regression_values(regression(count ~ m1 + (1 | g), zeros, family = "negbinomial", zi = ~ m2 + (1 | f)), FALSE)
  },
  "poisson, hurdle, several leaves" = {
    zeros <- transform(answer_rows(4500, 65), count = count * (seq_len(4500) %% 2), h = rep(1:9, 500))
    regression_values(regression(count ~ m1, zeros, family = "poisson", hu = ~ m2 + (m2 | h), iter = 3, warmup = 1),
      FALSE)
  },
  "binomial, sparse, several leaves of one level" = {
    d <- transform(answer_rows(4500, 63), h = rep(1:9, 500))
    regression_values(regression(y ~ f + (1 | g) + (m1 | h), d, control = by_sparse, iter = 3, warmup = 1))
  },
  "binomial, groups" = regression_values(regression(y ~ m1 + m2 + (1 | g), answer_rows(320, 46))),
  "binomial, horseshoe" = {
    d <- answer_rows(320, 47)
    regression_values(regression(y ~ m1 + m2 + m3 + m4 + m5 + m6 + f, d, prior = logit_prior("horseshoe")))
  },
  "binomial, zellner" = {
    regression_values(regression(y ~ m1 + m2 + m3, answer_rows(320, 48), prior = logit_prior("zellner")))
  },
  "binomial, Student t" = {
    regression_values(regression(y ~ m1 + m2, answer_rows(320, 47), prior = logit_prior("student_t")))
  },
  "binomial, regularised horseshoe and Cauchy" = {
    prior <- logit_prior(c("horseshoe", m2 = "cauchy"), slab_scale = 2)
    regression_values(regression(y ~ m1 + m2 + m3, answer_rows(320, 47), prior = prior))
  },
  "binomial, moves" = {
    # One success in 4,096 trials.
    trials <- rep(c(0, 0, 0, 1), 8)
    regression_values(regression(cbind(trials, 1024 - trials) ~ m1, cbind(answer_rows(32, 60), trials = trials)))
  },
  "binomial, sparse" = {
    skip_if_not_installed("Matrix")
    regression_values(regression(y ~ f + g, answer_rows(256, 49), control = by_sparse))
  },
  "binomial, sparse horseshoe" = {
    skip_if_not_installed("Matrix")
    regression_values(regression(y ~ f + g, answer_rows(256, 50), prior = logit_prior("horseshoe"),
      control = by_sparse))
  },
  "binomial, a sparse matrix and groups" = {
    skip_if_not_installed("Matrix")
    sparse <- Matrix::Matrix(matrix(pmax(0, known_integers(256 * 20, 12, 2) - 8) / 4, 256), sparse = TRUE)
    regression_values(regression(y ~ 0 + f + (1 | g), answer_rows(256, 56), control = warp_control(sparse = sparse)))
  },
  # Prior and start take the logarithm of 0.5, the mean of the counts, and of 0.6. Neither is near the middle of two
  # doubles.
  "negbinomial" = regression_values(regression(rare ~ m1 + m2, answer_rows(256, 57), family = "negbinomial"), FALSE),
  "negbinomial, counts 0 and 1" = regression_values(regression(y ~ m1, answer_rows(256, 71), family = "negbinomial")),
  "negbinomial without intercept" = {
    regression_values(regression(count ~ 0 + m1 + m2, answer_rows(320, 51), family = "negbinomial"), FALSE)
  },
  "negbinomial, sparse" = {
    skip_if_not_installed("Matrix")
    regression_values(regression(rare ~ f, answer_rows(256, 58), family = "negbinomial", control = by_sparse), FALSE)
  },
  "negbinomial, groups" = {
    regression_values(regression(count ~ 0 + m1 + (1 | g), answer_rows(320, 52), family = "negbinomial"), FALSE)
  },
  "Poisson" = regression_values(regression(rare ~ m1 + m2, answer_rows(256, 57), family = "poisson"), FALSE),
  "Poisson, groups" = {
    regression_values(regression(count ~ 0 + m1 + (1 | g), answer_rows(320, 52), family = "poisson"), FALSE)
  },
  "Poisson, slopes and crossed groups" = {
    d <- transform(answer_rows(320, 62), h = rep(1:4, 80))
    regression_values(regression(count ~ m1 + (m1 | g) + (1 | h), d, family = "poisson"), FALSE)
  },
  "multinomial" = regression_values(regression(class ~ m1 + m2, answer_rows(300, 53), family = "multinomial")),
  "multinomial, sparse" = {
    skip_if_not_installed("Matrix")
    d <- answer_rows(256, 59)
    regression_values(regression(factor(rep_len(1:4, 256)) ~ f, d, family = "multinomial", control = by_sparse))
  },
  "multinomial, nested and crossed groups, offsets" = {
    d <- transform(answer_rows(300, 64), h = rep(1:4, 75))
    regression_values(regression(class ~ m1 + (1 | g / h) + (0 + m1 + m2 | h) + offset(cbind(m3, -m3 / 2)), d,
      family = "multinomial"))
  },
  "every number of predictors to 20" = {
    x <- known_cells(128, 20, 60)
    y <- rep_len(0:1, 128)
    lapply(seq_len(20), function(predictors) {
      own <- x[, seq_len(predictors), drop = FALSE]
      regression_values(regression(y ~ own, NULL, iter = 2, warmup = 1))
    })
  },
  "multinomial, horseshoe" = {
    prior <- logit_prior("horseshoe")
    regression_values(regression(class ~ m1 + m2 + m3, answer_rows(300, 54), family = "multinomial", prior = prior))
  },
  "continued" = regression_values(continue(regression(y ~ m1 + (1 | g), answer_rows(320, 55)), 4))
)

resample <- function(y, model, ..., draws = 20, horizon = 30) {
  predictive_resample(y, model, horizon, draws, seed = 17, ...)
}

predictive_cases <- alist(
  "normal mean" = {
    fit <- resample(known_cells(64, 1, 61)[, 1], normal_mean(1, c(variance = 1)), trajectories = 10)
    list(fit$draws, fit$trajectories)
  },
  "normal mean, unknown variance" = {
    fit <- resample(known_cells(64, 1, 62)[, 1], normal_mean(), trajectories = 10)
    list(fit$draws, fit$trajectories, continue(fit, 11)$draws)
  },
  "many draws of a normal mean" = {
    y <- known_cells(64, 1, 69)[, 1]
    lapply(list(normal_mean(1, c(variance = 1)), normal_mean()), function(model) {
      resample(y, model, draws = 700, horizon = 300)$draws
    })
  },
  "values of a normal mean" = {
    resample(known_cells(64, 1, 63)[, 1], normal_mean(1, c(variance = 1)), functional = function(y) y, draws = 6)$draws
  },
  "bayesian bootstrap" = {
    y <- known_integers(40, 100, 1)
    lapply(c(Inf, 25), function(horizon) {
      resample(y, bayesian_bootstrap(), functional = function(y, weights) weights, horizon = horizon)$draws
    })
  },
  "Dirichlet and Pitman-Yor processes" = {
    y <- known_integers(40, 20, 1) + 0
    lapply(list(pitman_yor(2, base = identity), pitman_yor(0.5, 0.25, identity)), function(model) {
      resample(y, model, functional = function(y, weights) c(y[1:12], weights[1:30]), horizon = Inf)$draws
    })
  },
  "Gnedin's urn" = {
    lapply(list(known_integers(40, 20, 1) + 0, 1:12), function(y) {
      resample(y, gnedin(0.75, identity), functional = function(y, weights) c(length(y), y[2:13], weights[1:12]),
        horizon = Inf)$draws
    })
  },
  # Points at which the normal density, by R's exp(), is not near the middle of two doubles.
  "density" = {
    points <- c(-2.25, -1, -0.375, 0.25, 1.1875, 2)
    model <- copula_density(rho = 0.75, points = points, permutations = 3, standardize = FALSE, calibrate = FALSE)
    fit <- resample(known_cells(64, 1, 64)[, 1] - 3, model)
    list(fit[c("cdf", "cdf0", "density", "density0")], continue(fit, 11)$cdf)
  },
  "density, 200 values in the order given" = {
    y <- known_cells(256, 1, 70)[, 1] - 3
    model <- copula_density(rho = 0.5, points = seq(-3, 3, length.out = 193), permutations = 0, standardize = FALSE,
      calibrate = FALSE)
    resample(y, model, draws = 5, horizon = 20)[c("cdf", "cdf0")]
  },
  # R's functions choose width and location, so the last digits are left out.
  "calibrated density" = {
    fit <- resample(known_cells(64, 1, 64)[, 1], copula_density(points = c(1, 2.5, 4), permutations = 3))
    lapply(fit[c("draws", "cdf", "density")], signif, 6)
  },
  "density of two variables" = {
    model <- copula_density(c(0.75, 0.5), known_cells(16, 2, 66), permutations = 2, calibrate = FALSE)
    fit <- resample(known_cells(64, 2, 65), model)
    list(fit$cdf, fit$cdf0)
  },
  "regression" = {
    d <- answer_rows(64, 67)
    d[1:3] <- d[1:3] - rep(c(3, 6, 9), each = 64)
    model <- copula_regression(m1 ~ m2 + m3, d[1:5, ], at = c(-1, 0, 0.75), rho = 0.75, rho_x = 0.5, permutations = 2,
      standardize = FALSE
    )
    fit <- resample(d, model)
    list(fit$density, fit$density0, fit$cdf, fit$cdf0, predict(fit, d[6:9, ], type = "cdf", level = NULL)$estimate)
  },
  "joint regression" = {
    d <- answer_rows(64, 67)
    d[1:3] <- d[1:3] - rep(c(3, 6, 9), each = 64)
    model <- copula_regression(m1 ~ m2 + m3, d[1:5, ], c(-1, 0, 0.75), 0.75, 0.5, standardize = FALSE, permutations = 2,
      method = "joint")
    fit <- resample(d, model)
    list(fit$density, fit$density0, fit$cdf, fit$cdf0, fit$score)
  },
  # R's functions fit mean functions, so the last digits are left out.
  "regression and classification with mean functions" = {
    d <- answer_rows(64, 67)
    means <- list(copula_regression(m1 ~ m2 + m3, d[1:5, ], 4:5, 0.75, 0.5, permutations = 2, mean = "linear"),
      copula_classification(y ~ m2 + m3, d[1:5, ], 0.75, 0.5, permutations = 2, mean = "linear"))
    lapply(means, function(model) signif(resample(d, model)$draws, 6))
  },
  "classification" = {
    d <- answer_rows(64, 68)
    fit <- resample(d, copula_classification(y ~ m2 + m3, d[1:5, ], rho = 0.75, rho_x = c(0.5, 0.25), permutations = 2,
      mean = "none"))
    list(
      fit$probability, fit$probability0, fit$orders$score,
      predict(fit, d[6:9, ], type = "probability", level = NULL)$estimate
    )
  }
)

on_both_scales <- function(compute) lapply(c(FALSE, TRUE), compute)

# Weights, or whole numbers as their logarithms.
weights_or_logs <- function(size, log, seed) {
  if (log) -known_integers(size, 400, seed) / 16 else known_weights(size, seed)
}

pmf_cases <- alist(
  "convolve" = {
    on_both_scales(function(log) {
      lapply(list(c(1, 5), c(40, 7), c(300, 300), c(900, 700), c(2000, 1500)), function(size) {
        convolve_pmf(weights_or_logs(size[[1L]], log, 1), weights_or_logs(size[[2L]], log, 2), log = log)
      })
    })
  },
  "convolve, long" = {
    x <- known_weights(9000, 3)
    y <- rev(x)[1:8000]
    tails <- x * 2^-(abs(seq_len(9000) - 4500) / 8 - (abs(seq_len(9000) - 4500) / 8) %% 1)
    list(convolve_pmf(x, y), convolve_pmf(tails, tails), convolve_pmf(tails, y, accuracy = 1e-6))
  },
  "convolve, very long" = {
    x <- known_weights(70000, 16)
    convolve_pmf(x, x[60000:1])
  },
  "convolve, with gaps" = {
    x <- known_weights(9000, 17)
    x[c(500:3000, 5000:8800)] <- 0
    logs <- -known_integers(3000, 200000, 18)
    logs[c(200:1300, 1500:2900)] <- -Inf
    list(convolve_pmf(x, x), convolve_pmf(logs, rev(logs), log = TRUE))
  },
  "convolve, small tails" = {
    x <- known_weights(900, 3) * 2^-(0:899)
    lapply(list(rev(x), x), function(y) {
      lapply(c(0, 1e-12, 1e-6), function(accuracy) convolve_pmf(x, y, accuracy = accuracy))
    })
  },
  "convolve rows" = {
    on_both_scales(function(log) {
      lapply(list(c(20, 30), c(40, 100), c(4, 500), c(3, 700)), function(size) {
        x <- matrix(weights_or_logs(prod(size), log, 4), size[[1L]])
        list(convolve_pmf(x, x[size[[1L]]:1, 1:11], log = log), convolve_pmf(x, x[, size[[2L]]:1], log = log))
      })
    })
  },
  "sum" = {
    on_both_scales(function(log) {
      list(
        sum_pmf(lapply(c(3, 50, 1, 400, 20), function(size) weights_or_logs(size, log, size)), log = log),
        sum_pmf(lapply(c(1700, 900), function(size) weights_or_logs(size, log, size)), log = log),
        sum_pmf(lapply(c(4000, 3000), function(size) weights_or_logs(size, log, size)), log = log, accuracy = 0),
        sum_pmf(matrix(weights_or_logs(120 * 9, log, 5), 120), log = log)
      )
    })
  },
  "sum of large weights" = rep_sum_pmf(c(1000, 1, 3) * 2^20, 33),
  "repeated sum" = {
    on_both_scales(function(log) {
      lapply(c(1, 2, 13, 700), function(times) rep_sum_pmf(weights_or_logs(6, log, 6), times, log = log))
    })
  },
  "condition on sum" = {
    on_both_scales(function(log) {
      found <- condition_on_sum_pmf(weights_or_logs(30, log, 7), weights_or_logs(50, log, 8), 40, log = log)
      lapply(found, unclass)
    })
  },
  "compound" = {
    size <- pmf(c(0, known_weights(15, 9)))
    # exp(-5), the probability of no summand, is not near the middle of two doubles; nor is exp(-0.5) below.
    list(
      unclass(compound_pmf(pmf(known_weights(12, 10)), size)), unclass(compound_pmf("poisson", size, lambda = 5)),
      unclass(compound_pmf("geometric", size, prob = 0.5)),
      unclass(compound_pmf("binomial", size, trials = 37, prob = 0.25))
    )
  },
  "compound, long" = {
    skip_where_repeated()
    unclass(compound_pmf("poisson", pmf(c(0, known_weights(49000, 19))), lambda = 0.5, tail = 1e-8))
  },
  "poisson binomial" = {
    on_both_scales(function(log) {
      if (log) NULL else unclass(pmf_poisson_binomial(known_integers(60, 256, 11) / 256))
    })
  },
  "distributions" = {
    x <- pmf(known_weights(40, 12), from = -3)
    y <- pmf(known_weights(9, 13), from = 2)
    list(
      lapply(list(x + y, x - y, max(x, y), min(x, y), 2 * x + y), unclass), ppmf(x, -4:40),
      ppmf(x, -4:40, lower.tail = FALSE),
      qpmf(x, c(0.125, 0.5, 0.875)), rpmf(x, 500, seed = 3)
    )
  },
  "logarithms" = {
    x <- pmf(weights_or_logs(40, TRUE, 14), log = TRUE, normalize = TRUE)
    list(unclass(x), unclass(x + x), ppmf(x, 0:40, log.p = TRUE))
  }
)

abundance_cases <- alist(
  "differential abundance" = {
    counts <- matrix(known_integers(24, 300, 81), 4)
    fit <- function(formula, ...) {
      d <- data.frame(g = c(0, 0, 0, 1, 1, 1), p = c(1, 2, 3, 1, 2, 3))
      fit <- differential_abundance(
        counts, formula, d, totals = rep(1000, 6), chains = 2, iter = 15, warmup = 3, seed = 1
      )
      fit$draws
    }
    list(fit(~ g), fit(~ g + (1 | p)))
  }
)

known_topics <- list(
  dp_mixture = list(cases = mixture_cases, precisions = c("double", "single")),
  bem = list(cases = bem_cases, precisions = c("double", "single")),
  topic_model = list(cases = topic_cases, precisions = c("double", "single")),
  rcategorical = list(cases = categorical_cases, precisions = c("double", "single")),
  polyagamma = list(cases = polyagamma_cases, precisions = "double"),
  bayes_logit = list(cases = regression_cases, precisions = "double"),
  differential_abundance = list(cases = abundance_cases, precisions = "double"),
  predictive_resample = list(cases = predictive_cases, precisions = "double"),
  pmf = list(cases = pmf_cases, precisions = "double")
)

known_cases <- do.call(rbind, lapply(names(known_topics), function(topic) {
  own <- known_topics[[topic]]
  expand.grid(topic = topic, case = names(own$cases), precision = own$precisions, stringsAsFactors = FALSE)
}))

# NA for a case that is skipped. An error is a result that is not in the table.
known_result <- function(topic, case, precision) {
  scope <- list2env(list(precision = precision), parent = parent.env(environment()))
  tryCatch(
    with_options(list(warpbayes.threads = 2, warpbayes.chains = 1), {
      known_digest(eval(known_topics[[topic]]$cases[[case]], scope))
    }),
    skip = function(condition) NA_character_,
    error = function(error) paste("an error:", conditionMessage(error))
  )
}

known_file <- test_path("known-answers.csv")
known_table <- utils::read.csv(known_file, colClasses = "character")
known_row <- function(of) paste(of$topic, of$case, of$precision, sep = ", ")
known_cases$digest <- known_table$digest[match(known_row(known_cases), known_row(known_table))]
write_known <- identical(Sys.getenv("WARPBAYES_WRITE_KNOWN_ANSWERS"), "true")

for (topic in names(known_topics)) {
  test_that(paste("known answers:", topic), {
    for (i in which(known_cases$topic == topic)) {
      row <- known_cases[i, ]
      found <- known_result(row$topic, row$case, row$precision)
      if (is.na(found)) next
      is_digest <- !startsWith(found, "an error")
      if (write_known && is_digest) known_cases$digest[[i]] <<- found
      expect(
        is_digest && (write_known || identical(found, row$digest)),
        sprintf("%s precision: the result is %s, the known answer is %s", known_row(row), found, row$digest)
      )
    }
  })
}

if (write_known) utils::write.csv(known_cases, known_file, row.names = FALSE)

test_that("the table of known answers has each case once", {
  skip_if(write_known, "written")
  expect_setequal(known_row(known_table), known_row(known_cases))
  expect_identical(anyDuplicated(known_row(known_table)), 0L)
})
