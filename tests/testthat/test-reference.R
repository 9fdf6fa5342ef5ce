# Each sampler against an independent slow implementation in plain R (tests/reference), written from the papers. The
# data are tiny, so that both chains mix. If everything is right, a test fails with probability 1e-6. Short forms find
# large errors only, which are planted here. The long form has the power that tests/statistical-validation.md states.

references <- test_path("..", "reference")
skip_if_not(dir.exists(references), "the tests were not installed with tests/reference")
for (file in list.files(references, "[.]R$", full.names = TRUE)) source(file, local = TRUE)

# The largest difference of two chains over the bound for all quantities together: of the means of ranks, and of their
# squared distance from the middle, by 40 means of batches. Above 1, the chains have different laws.
disagreement <- function(ours, theirs, batches = 40) {
  varies <- apply(rbind(ours, theirs), 2, sd) > 1e-12
  means <- function(u, rows) colMeans(matrix(u[rows][seq_len(batches * (length(rows) %/% batches))], ncol = batches))
  z <- vapply(which(varies), function(j) {
    u <- rank(c(ours[, j], theirs[, j])) / (nrow(ours) + nrow(theirs)) - 0.5
    first <- seq_len(nrow(ours))
    second <- nrow(ours) + seq_len(nrow(theirs))
    vapply(list(u, u^2), function(u) {
      a <- means(u, first)
      b <- means(u, second)
      (mean(a) - mean(b)) / sqrt((var(a) + var(b)) / batches)
    }, 0)
  }, numeric(2))
  max(abs(z), na.rm = TRUE) / qt(1 - false_alarm / (2 * length(z)), batches - 1)
}

slow <- function() {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "other tests compare the backends")
}
more <- if (extended()) 20 else 1

mixture_cells <- local({
  set.seed(7)
  scale(rbind(matrix(rnorm(12), 6), matrix(rnorm(12, 2), 6)))[, 1:2]
})

package_mixture <- function(x, k, sweeps, prior, ...) {
  fit <- fit_mixture(x, components = k, prior = do.call(dp_prior, prior), iter = sweeps + 200, warmup = 200, seed = 1,
    threads = 1, progress = FALSE, keep = c("weights", "means", "covariances", "labels"), ...)
  d <- fit$draws
  do.call(rbind, lapply(seq_len(sweeps), function(s) {
    mixture_quantities(d$labels[, s, 1], d$weights[, s, 1], array(d$means[, , s, 1], c(k, ncol(x))),
      lapply(seq_len(k), function(j) matrix(d$covariances[, , j, s, 1], ncol(x))), d$concentration[s, 1],
      if (!is.null(d$sample_concentration)) d$sample_concentration[s, 1],
      if (!is.null(d$prior_df)) {
        c(d$prior_mean[1, s, 1], d$prior_mean_scale[s, 1], d$prior_df[s, 1], d$prior_scale[1, 1, s, 1])
      })
  }))
}

test_that("mixtures agree with blocked Gibbs sampling in plain R", {
  slow()
  x <- mixture_cells
  k <- 3
  values <- list(mean = 0, mean_scale = 3, df = 4, scale = diag(0.4, 2), concentration = c(2, 1),
    sample_concentration = c(2, 0.5), floor = 0, learn = character())
  compare <- function(change = list(), wrong = list(), sweeps = 250 * more, ...) {
    prior <- modifyList(values, change)
    set.seed(1)
    theirs <- modifyList(prior, wrong)
    reference <- reference_mixture(x, k, sweeps, theirs, length(theirs$learn) > 0, theirs$floor, ...)
    sample <- list(...)$sample
    disagreement(package_mixture(x, k, 2 * sweeps, prior, sample = if (!is.null(sample)) factor(sample)),
      reference[-seq_len(sweeps %/% 20), ])
  }
  all <- c("mean", "mean_scale", "df", "scale")
  expect_lt(compare(list(floor = 0.3)), 1)
  expect_gt(compare(wrong = list(concentration = c(8, 1))), 1)
  skip_if_not(extended(), "the long form has learned priors, samples and finer errors")
  expect_lt(compare(list(learn = all)), 1)
  expect_lt(compare(list(learn = all, floor = 0.2), sample = rep(1:2, 6)), 1)
  expect_gt(compare(wrong = list(concentration = c(2.5, 1))), 1)
  expect_gt(compare(wrong = list(floor = 0.3)), 1)
  expect_gt(compare(wrong = list(df = 6)), 1)
  expect_gt(compare(list(learn = all), list(mean_scale = 6)), 1)
  expect_gt(compare(wrong = list(sample_concentration = c(4, 0.5)), sample = rep(1:2, 6)), 1)
})

test_that("topic models agree with collapsed Gibbs sampling in plain R", {
  slow()
  x <- rbind(c(3, 0, 1, 0), c(0, 2, 0, 2), c(1, 1, 1, 0))
  with_prior <- function(value, shape, rate) {
    if (is.character(value)) list(value, shape = shape, rate = rate) else value
  }
  ours <- function(sweeps, alpha, beta) {
    fit <- fit_topics(x, 2, with_prior(alpha, 2, 2), with_prior(beta, 2, 3), iter = sweeps + 200, warmup = 200,
      keep = c("phi", "theta"), start = "random", seed = 1, threads = 1, progress = FALSE)
    d <- fit$draws
    alpha <- if (is.null(d$alpha)) sum(fit$alpha) else colSums(d$alpha[, , 1])
    cbind(t(apply(d$theta[, , , 1]^2, 2:3, sum)), apply(d$phi[, , , 1]^2, 3, sum),
      colSums(d$theta[, 1, , 1] * d$phi[, 1, , 1]), d$theta[1, 1, , 1], d$phi[1, 1, , 1], log(alpha),
      log(if (is.character(beta)) d$beta[, 1] else beta))
  }
  compare <- function(alpha, beta, learn = character(), wrong_alpha = alpha, prior = c(2, 2), sweeps = 300 * more) {
    set.seed(2)
    number <- function(value) if (is.character(value)) 1 else value
    theirs <- reference_topic_model(x, 2, sweeps, number(wrong_alpha), number(beta), learn, prior, c(2, 3))
    disagreement(ours(4 * sweeps, alpha, beta), theirs[-seq_len(sweeps %/% 20), ])
  }
  expect_lt(compare(c(0.4, 1.2), 0.5), 1)
  expect_lt(compare("symmetric", "learn", c("symmetric", "beta")), 1)
  expect_gt(compare(c(0.4, 1.2), 0.5, wrong_alpha = c(1.2, 0.4)), 1)
  skip_if_not(extended(), "the long form has more options and finer errors")
  expect_lt(compare("asymmetric", "learn", c("asymmetric", "beta")), 1)
  expect_gt(compare(c(0.4, 1.2), 0.5, wrong_alpha = c(0.5, 1.2)), 1)
  expect_gt(compare("asymmetric", "learn", c("asymmetric", "beta"), prior = c(2.5, 2)), 1)
})

# The distance of two samples over the bound of Dvoretzky, Kiefer and Wolfowitz, for all cases together.
two_samples <- function(a, b, comparisons) {
  at <- sort(c(a, b))
  bound <- function(n) sqrt(log(4 * comparisons / false_alarm) / (2 * n))
  max(abs(ecdf(a)(at) - ecdf(b)(at))) / (bound(length(a)) + bound(length(b)))
}

test_that("Polya-Gamma variables agree with the sum that defines them", {
  slow()
  cases <- expand.grid(shape = c(0.3, 1, 2.7, 13, 40, 200), tilt = c(0, 2, 18))
  n <- if (extended()) 50000 else 500
  set.seed(3)
  far <- function(change) {
    vapply(seq_len(nrow(cases)), function(i) {
      b <- cases$shape[[i]]
      c <- cases$tilt[[i]]
      two_samples(rpolyagamma(20 * n, b * change, c, seed = i, threads = 1), reference_polyagamma(n, b, c), nrow(cases))
    }, 0)
  }
  expect_lt(max(far(1)), 1)
  # A shape that is too large, by an amount that every case finds where the shape is large.
  expect_gt(min(far(if (extended()) 1.1 else 1.8)[cases$shape >= 2.7]), 1)
})

test_that("categorical draws agree with a race of exponential variables", {
  slow()
  weights <- c(5, 0, 1, 0.01, 2, rep(0.1, 20))
  n <- if (extended()) 2e6 else 20000
  set.seed(4)
  many <- matrix(weights, n, 25, byrow = TRUE)
  theirs <- tabulate(reference_race(many), 25)
  p <- function(...) {
    ours <- tabulate(rcategorical(..., seed = 1, threads = 1), 25)
    keep <- ours + theirs > 20
    c(zero = ours[[2]], p = chisq.test(rbind(ours, theirs)[, keep])$p.value)
  }
  for (result in list(p(many), p(weights, n), p(log(many), log = TRUE), p(many, precision = "single"))) {
    expect_identical(result[["zero"]], 0)
    expect_gt(result[["p"]], false_alarm / 4)
  }
  many[, 5] <- if (extended()) 2.04 else 3
  expect_lt(p(many)[["p"]], false_alarm / 4)
})

test_that("the bootstrap and processes agree with urns in plain R", {
  slow()
  y <- c(1, 4, 4, 6, 9)
  steps <- if (extended()) 1000 else 200
  draws <- if (extended()) 2000 else 150
  set.seed(5)
  far <- function(model, theta, discount, base, horizon = "auto") {
    ours <- predictive_resample(y, model, horizon, 10 * draws, seed = 1, threads = 1, progress = FALSE,
      functional = function(y, weights) c(sum(y * weights), weights[[1]]) / sum(weights))$draws
    theirs <- reference_urn(y, theta, discount, base, steps, draws)
    max(vapply(1:2, function(j) two_samples(ours[, j], theirs[, j], 6), 0))
  }
  normal <- function(p) qnorm(p, 10, 3)
  expect_lt(far(bayesian_bootstrap(), 0, 0, NULL, steps), 1)
  expect_lt(far(pitman_yor(3, base = normal), 3, 0, function() rnorm(1, 10, 3)), 1)
  expect_lt(far(pitman_yor(1, 0.3, normal), 1, 0.3, function() rnorm(1, 10, 3)), 1)
  expect_gt(far(pitman_yor(3, base = normal), if (extended()) 2 else 1, 0, function() rnorm(1, 10, 3)), 1)
})

# The largest difference of a chain from weighted draws, over the bound for all of them together. Compared are the
# distribution functions of the parameters, at four points each.
weighted_disagreement <- function(ours, theirs, batches = 40) {
  at <- apply(theirs$parameters, 2, quantile, c(0.1, 0.4, 0.7, 0.9))
  below <- function(u) do.call(cbind, lapply(seq_len(ncol(u)), function(j) outer(u[, j], at[, j], `<`) + 0))
  ours <- below(ours[seq_len(batches * (nrow(ours) %/% batches)), ])
  means <- apply(ours, 2, function(inside) colMeans(matrix(inside, ncol = batches)))
  weight <- theirs$weight / sum(theirs$weight)
  inside <- below(theirs$parameters)
  expected <- colSums(weight * inside)
  variance <- colSums((weight * (inside - rep(expected, each = nrow(inside))))^2)
  z <- (colMeans(means) - expected) / sqrt(variance + apply(means, 2, var) / batches)
  max(abs(z)) / qt(1 - false_alarm / (2 * length(z)), batches - 1)
}

test_that("regressions with correlated effects agree with weighted draws from the prior", {
  slow()
  set.seed(6)
  x <- as.vector(scale(rnorm(12)))
  g <- rep(1:4, each = 3)
  y <- rbinom(12, 3, plogis(x))
  n <- if (extended()) 5e5 else 30000
  prior <- list(scale = 1, intercept_location = 0.2, intercept_scale = 1, group_scale = 0.7)
  fit <- bayes_logit(cbind(y, 3 - y) ~ x + (x | g), prior = do.call(logit_prior, prior), chains = 1, iter = n + 200,
    warmup = 200, seed = 1, threads = 1, progress = FALSE)
  ours <- logit_draws(fit)[, 1, ]
  ours[, 3:4] <- log(ours[, 3:4])
  compare <- function(wrong = list(), nu = 2) {
    set.seed(8)
    weighted_disagreement(ours, reference_weighted(y, x, n, modifyList(prior, wrong), 3, g, nu = nu))
  }
  expect_lt(compare(), 1)
  expect_gt(compare(list(group_scale = if (extended()) 0.8 else 1.4)), 1)
  expect_gt(compare(nu = if (extended()) 1 else 4), 1)
})

test_that("regressions agree with Metropolis steps in plain R", {
  slow()
  set.seed(6)
  x <- as.vector(scale(rnorm(12)))
  g <- rep(1:4, each = 3)
  y <- list(binomial = rbinom(12, 3, plogis(x)), negbinomial = rnbinom(12, size = 2, mu = exp(1 + x / 2)),
    multinomial = rep(c(1, 2, 3, 2), 3))
  values <- list(type = "normal", scale = 1, df = 3, intercept_location = 0.2, intercept_scale = 1, global_scale = 0.5,
    slab_scale = 1.5, slab_df = 4, group_scale = 0.7, dispersion = c(4, 2))
  compare <- function(family, terms = "none", type = "normal", wrong = list(), sweeps = 250 * more) {
    prior <- modifyList(values, list(type = type))
    y <- y[[family]]
    trials <- if (family == "binomial") 3 else 1
    response <- switch(family, binomial = cbind(y, 3 - y), negbinomial = y, multinomial = factor(letters[y]))
    used <- prior[c("type", "intercept_location", "intercept_scale", "group_scale", "dispersion",
      if (type == "horseshoe") c("global_scale", "slab_scale", "slab_df"), if (type != "horseshoe") "scale",
      if (type == "student_t") "df")]
    formula <- switch(terms, none = response ~ x, one = response ~ x + (1 | g), slopes = response ~ x + (x | g))
    fit <- bayes_logit(formula, family = family, prior = do.call(logit_prior, used), chains = 1,
      iter = 8 * sweeps + 200, warmup = 200, seed = 1, threads = 1, progress = FALSE)
    ours <- logit_draws(fit)[, 1, ]
    logs <- dimnames(ours)[[2]] %in% c("dispersion", "r") | startsWith(dimnames(ours)[[2]], "sd(")
    ours[, logs] <- log(ours[, logs])
    set.seed(7)
    theirs <- reference_logit(y, x, sweeps, modifyList(prior, wrong), family, trials, if (terms != "none") g, terms)
    stopifnot(ncol(ours) == ncol(theirs))
    disagreement(ours, theirs)
  }
  expect_lt(compare("binomial", "one"), 1)
  expect_gt(compare("binomial", wrong = list(scale = 0.3)), 1)
  skip_if_not(extended(), "the long form has all families, terms and priors, and finer errors")
  for (family in names(y)) {
    for (type in c("normal", "student_t")) expect_lt(compare(family, type = type), 1, label = paste(family, type))
  }
  for (family in c("binomial", "negbinomial")) {
    expect_lt(compare(family, type = "horseshoe"), 1, label = paste(family, "horseshoe"))
    for (terms in c("one", "slopes")) expect_lt(compare(family, terms), 1, label = paste(family, terms))
  }
  expect_gt(compare("binomial", wrong = list(scale = 0.65)), 1)
  expect_gt(compare("negbinomial", wrong = list(dispersion = c(4, 1.7))), 1)
  expect_gt(compare("binomial", "one", wrong = list(group_scale = 3)), 1)
  expect_gt(compare("binomial", "slopes", wrong = list(group_scale = 1.4)), 1)
})

test_that("noise of the size of rounding does not change results", {
  skip_where_repeated()
  set.seed(8)
  x <- cbind(a = rnorm(60), b = rnorm(60))
  noisy <- x * (1 + .Machine$double.eps * matrix(sample(c(-1, 1), 120, TRUE), 60))
  y <- rbinom(60, 1, plogis(x[, "a"]))
  ends <- lapply(list(x, noisy), function(x) {
    fit <- dp_mixture(x, components = 2, method = "bem", iter = 50, seed = 1, threads = 1, progress = FALSE)
    fit[c("log_posterior", "sizes")]
  })
  expect_true(is.numeric(ends[[1]]$log_posterior) && length(ends[[1]]$log_posterior) > 0)
  expect_equal(ends[[1]], ends[[2]], tolerance = 1e-8)
  draws <- lapply(list(x, noisy), function(x) {
    logit_draws(bayes_logit(y ~ ., data.frame(x), iter = 60, chains = 1, seed = 1, threads = 1, progress = FALSE))
  })
  expect_equal(draws[[1]], draws[[2]], tolerance = 1e-8)
})
