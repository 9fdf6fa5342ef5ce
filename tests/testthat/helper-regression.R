# Shared by the tests of regressions. The test of exactness draws parameters from the prior and responses given them,
# and runs some sweeps of the sampler on these responses from these parameters. If each sweep leaves the posterior
# invariant, parameters and responses together have the same law after the sweeps as before. Replicates are independent,
# so Kolmogorov's bounds hold (Gandy & Scott 2020, "Unit testing for MCMC and other Monte Carlo methods", arXiv
# 2001.06465; the joint test of Geweke 2004 with independent replicates).

# The sentences of a verdict that lie in the data.
support_said <- function(fit) vapply(support_reasons(fit), `[[`, "", "words")

half_cauchy <- function(n, scale) abs(rcauchy(n, 0, scale))

# The square of a half-Cauchy variable, and its auxiliary variable as in the sampler.
half_cauchy_pair <- function(scale) {
  auxiliary <- 1 / rgamma(1, 0.5, 1 / scale^2)
  c(1 / rgamma(1, 0.5, 1 / auxiliary), auxiliary)
}

# A toy problem of `rows` rows, with `moves` after each sweep (NULL: as the sampler decides), or with moves of levels in
# place of sweeps if `levels`. With more `columns` than rows, sweeps solve a system of the rows. Tests vary the
# arguments; `wrong` plants an error. Means of counts are limited to 1e6, because the tails of the horseshoe exceed that
# once in hundreds of replicates.
regression_toy <- function(family = "binomial", prior = "normal", groups = 0, rows = 8, trials = 2, wrong = "",
                           moves = NULL, terms = NULL, offset = FALSE, dispersion_scale = 0, levels = FALSE,
                           columns = 3) {
  set.seed(20)
  x <- cbind(1, matrix(rnorm((columns - 1) * rows), rows))
  p <- ncol(x)
  outcomes <- if (family == "multinomial") 2 else 1
  list(
    family = family, prior = prior, rows = rows, trials = trials, wrong = wrong, moves = moves,
    levels = levels, x = x, p = p, outcomes = outcomes, groups = groups,
    terms = if (!is.null(terms)) toy_terms(terms, x), offset = if (offset) matrix(2 * rnorm(rows * outcomes), rows),
    group = if (groups > 0) rep(seq_len(groups), each = rows / groups),
    global_scale = if (is_count_family(family)) 0.02 else 0.5,
    dispersion_scale = dispersion_scale,
    group_scale = if (is_count_family(family) && (groups > 0 || !is.null(terms))) 0.1 else 1, dispersion = c(3, 2),
    df = 5, scale = if (grepl("^block|^auto", prior) && is_count_family(family)) 0.1 else 0.7,
    gap = if (prior == "autoregression") c(0, 1, 0.5, 0, 2)[seq_len(columns - 1)],
    precision = switch(prior, zellner = crossprod(x) / 6, block = cbind(c(1, 0, 0), c(0, 1, 0.4), c(0, 0.4, 0.6)),
      diag(c(1, if (columns > 3) rep(0.5, columns - 1) else c(1, 1.5))^-2))
  )
}

# Grouping terms of a toy problem of 8 rows. `slopes` has intercepts and slopes of four levels. `times` has a lattice
# too, the effects of three times, which are an autoregression.
toy_terms <- function(which, x) {
  term <- function(level, z = NULL, independent = is.null(z), parent = NULL, parent_level = NULL) {
    list(z = z, level = level - 1L, levels = max(level), independent = independent, parent = parent,
      parent_level = parent_level)
  }
  pairs <- rep(1:4, each = 2)
  switch(which,
    one = list(term(pairs)),
    slopes = list(term(pairs, x[, 1:2])),
    independent = list(term(pairs, x[, 1:2], TRUE)),
    crossed = list(term(pairs), term(rep(1:2, 4))),
    nested = list(term(pairs, parent = 1L, parent_level = c(0L, 0L, 1L, 1L)), term(rep(1:2, each = 4))),
    times = list(term(pairs), c(term(rep(1:3, length.out = 8)), list(gap = c(0, 1, 0.5)))),
    both = list(term(rep(1:2, 4), x[, c(1, 3)]), term(rep(1:2, each = 4), x[, 1:2]))
  )
}

# Effects and covariances from the prior, as the state has them (Huang & Wand 2013, with nu = 2).
draw_toy_effects <- function(toy) {
  effects <- covariances <- NULL
  for (term in rep(toy$terms, toy$outcomes)) {
    q <- if (is.null(term$z)) 1 else ncol(term$z)
    auxiliary <- 1 / rgamma(q, 0.5, 1 / toy$group_scale^2)
    if (!is.null(term$gap)) {
      variance <- half_cauchy(1, toy$group_scale)^2
      logit <- rlogis(1)
      covariances <- c(covariances, variance, 1 / variance, logit)
      effects <- c(effects, sqrt(variance) * t(toy_autoregression(term, logit)) %*% rnorm(term$levels))
      next
    }
    if (term$independent) {
      sigma <- diag(1 / rgamma(q, 0.5, 1 / auxiliary), q)
    } else {
      sigma <- solve(rWishart(1, q + 1, diag(auxiliary / 4, q))[, , 1])
    }
    covariances <- c(covariances, warpbayes:::pack(sigma), warpbayes:::pack(solve(sigma)), auxiliary)
    effects <- c(effects, t(chol(sigma)) %*% matrix(rnorm(q * term$levels), q))
  }
  list(effects = effects, covariances = covariances)
}

# What effects add to the linear predictors, rows x outcomes.
toy_term_sums <- function(toy, effects) {
  first <- 0
  vapply(seq_len(toy$outcomes), function(k) {
    sum <- numeric(toy$rows)
    for (term in toy$terms) {
      z <- if (is.null(term$z)) matrix(1, toy$rows) else term$z
      own <- matrix(effects[first + seq_len(ncol(z) * term$levels)], ncol(z))
      sum <- sum + rowSums(z * t(own)[term$level + 1, , drop = FALSE])
      first <<- first + length(own)
    }
    sum
  }, numeric(toy$rows))
}

# Effects, deviations and correlations as probabilities under the prior.
toy_term_levels <- function(toy, state) {
  levels <- NULL
  effect <- covariance <- 0
  for (term in rep(toy$terms, toy$outcomes)) {
    q <- if (is.null(term$z)) 1 else ncol(term$z)
    sigma <- matrix(0, q, q)
    sigma[upper.tri(sigma, TRUE)] <- state$covariances[covariance + seq_len(q * (q + 1) / 2)]
    sigma <- sigma + t(sigma * upper.tri(sigma))
    own <- matrix(state$effects[effect + seq_len(q * term$levels)], q)
    deviation <- sqrt(diag(sigma))
    if (!is.null(term$gap)) {
      logit <- state$covariances[covariance + 3]
      own <- backsolve(toy_autoregression(term, logit), t(own), transpose = TRUE)
      levels <- c(levels, plogis(logit))
    }
    levels <- c(levels, pnorm(backsolve(chol(sigma), matrix(own, q), transpose = TRUE)),
      2 * pt(deviation / toy$group_scale, if (term$independent) 1 else 2) - 1,
      if (!term$independent) (sigma[1, 2] / prod(deviation) + 1) / 2
    )
    effect <- effect + length(own)
    covariance <- covariance + q * (q + 1) + q
  }
  levels
}

# The precision of the normal coefficients of one outcome, not given the others.
toy_precision <- function(toy) toy$precision * (toy$outcomes + 1) / (2 * toy$outcomes)

toy_unit <- function(toy) sqrt(toy_precision(toy)[1, 1])

# Parameters from the prior, in the form of a chain's state. Normal coefficients of outcomes are differences from the
# coefficients of the reference class, which have the same law.
draw_toy_parameters <- function(toy) {
  shrinkage <- rep(1, toy$outcomes * (2 * toy$p + 3))
  coefficients <- NULL
  root <- chol(toy_precision(toy) * if (toy$outcomes > 1) 2 else 1)
  reference <- if (toy$outcomes > 1) backsolve(root, rnorm(toy$p)) else 0
  for (k in seq_len(toy$outcomes)) {
    beta <- backsolve(root, rnorm(toy$p)) - reference
    at <- (k - 1) * (2 * toy$p + 3)
    slab <- toy$scale^2 * toy$df / rchisq(1, toy$df)
    if (toy$prior == "student") {
      shrinkage[at + 2:toy$p] <- toy$scale^2 * toy$df / rchisq(toy$p - 1, toy$df)
      beta[-1] <- rnorm(toy$p - 1) * sqrt(shrinkage[at + 2:toy$p])
    }
    if (toy$prior == "autoregression") {
      logit <- rlogis(1)
      shrinkage[at + 2:toy$p] <- half_cauchy(1, toy$scale)^2
      shrinkage[at + toy$p + 2:toy$p] <- logit
      beta[-1] <- sqrt(shrinkage[at + 2]) * t(toy_autoregression(toy, logit)) %*% rnorm(toy$p - 1)
    }
    for (own in toy_blocks(toy)) {
      shrinkage[at + own] <- half_cauchy(1, toy$scale)^2
      beta[own] <- sqrt(shrinkage[at + own]) * backsolve(chol(toy$precision[own, own]), rnorm(length(own)))
    }
    if (toy$prior %in% c("horseshoe", "regularised")) {
      local <- vapply(2:toy$p, function(c) half_cauchy_pair(1), numeric(2))
      global <- half_cauchy_pair(toy$global_scale)
      shrinkage[at + 2:toy$p] <- local[1, ]
      shrinkage[at + toy$p + 2:toy$p] <- local[2, ]
      shrinkage[at + 2 * toy$p + 1:2] <- global
      shrinkage[at + 2 * toy$p + 3] <- slab
      precision <- 1 / (local[1, ] * global[1]) + if (toy$prior == "regularised") 1 / slab else 0
      beta[-1] <- rnorm(toy$p - 1) / sqrt(precision)
    }
    coefficients <- c(coefficients, beta)
  }
  group <- if (toy$groups > 0) half_cauchy_pair(toy$group_scale) else c(1, 1)
  r <- if (toy$family != "negbinomial") {
    0
  } else if (toy$dispersion_scale > 0) {
    half_cauchy(1, toy$dispersion_scale)^-2
  } else {
    rgamma(1, toy$dispersion[1], toy$dispersion[2])
  }
  c(list(
    coefficients = coefficients,
    statistics = numeric(if (toy$p > toy$rows) 2 * toy$rows else toy$p * (toy$p + 1) / 2 + toy$p),
    intercepts = rnorm(toy$groups) * sqrt(group[1]),
    group_statistics = numeric(toy$groups * (if (toy$p > toy$rows) 2 else toy$p + 2)), shrinkage = shrinkage,
    scalars = c(r, group),
    ellipse = numeric(toy_ellipse_size(toy))
  ), if (!is.null(toy$terms)) draw_toy_effects(toy))
}

toy_ellipse_size <- function(toy) {
  if (toy$p > toy$rows) return(2 + toy$rows)
  if (any(vapply(toy$terms, function(term) !is.null(term$gap), NA))) return(2)
  if (is.null(toy$terms)) return(ellipse_size(toy$p, toy$groups, outcomes = toy$outcomes))
  ellipse_size(toy$p, vapply(toy$terms, function(term) term$levels, 0),
    vapply(toy$terms, function(term) max(1, ncol(term$z)), 0), is_group = FALSE, outcomes = toy$outcomes)
}

draw_toy_responses <- function(toy, state) {
  linear <- toy$x %*% matrix(state$coefficients, toy$p)
  if (toy$groups > 0) linear <- linear + state$intercepts[toy$group]
  if (!is.null(toy$terms)) linear <- linear + toy_term_sums(toy, state$effects)
  if (!is.null(toy$offset)) linear <- linear + toy$offset
  switch(toy$family,
    binomial = matrix(rbinom(toy$rows, toy$trials, plogis(linear))),
    poisson = matrix(rpois(toy$rows, pmin(exp(linear), 1e6))),
    negbinomial = matrix(rnbinom(toy$rows, size = state$scalars[1], mu = pmin(exp(linear), 1e6))),
    multinomial = t(apply(cbind(0, linear), 1, function(w) rmultinom(1, toy$trials, exp(w - max(w)))))[, -1]
  )
}

toy_data <- function(toy, y) {
  n <- rep(toy$trials, toy$rows)
  is_counts <- toy$family == "negbinomial"
  shape <- if (is_counts) y[, 1] else n
  kappa <- if (is_counts) y / 2 else y - toy$trials / 2
  offset <- if (toy$wrong != "offset") toy$offset
  is_poisson <- toy$family == "poisson"
  if (is_poisson) {
    # Surrogates of a small r: many of their draws are not taken.
    r <- 0.5 * pmax(y[, 1], 1)
    shape <- y[, 1] + r
    kappa <- (y - r) / 2
    offset <- (if (is.null(offset)) 0 else offset) - matrix(log(r))
  }
  if (toy$wrong == "kappa") kappa <- kappa + 0.2
  if (toy$wrong == "shape") shape <- shape * 1.6
  list(
    x = toy$x, center = numeric(toy$p), inverse_scale = rep(1, toy$p), offset = offset,
    shape = shape + 0, kappa = kappa + 0,
    dispersed = if (is_counts) rep(1, toy$rows), poisson = if (is_poisson && toy$wrong != "surrogate") 1L,
    group_start = if (toy$groups > 0) seq(0, toy$rows, length.out = toy$groups + 1),
    terms = toy_terms_with_error(toy)
  )
}

toy_terms_with_error <- function(toy) {
  terms <- toy$terms
  if (toy$wrong == "parent") terms[[1]]$parent_level <- c(0L, 1L, 0L, 1L)
  if (toy$wrong == "independent") terms[[1]]$independent <- !terms[[1]]$independent
  terms
}

# The upper root of the covariance of an autoregression whose deviation is 1.
toy_autoregression <- function(toy, logit) {
  time <- cumsum(toy$gap)
  chol(plogis(logit)^abs(outer(time, time, `-`)) * outer(cumsum(toy$gap == 0), cumsum(toy$gap == 0), `==`))
}

# The coefficients of each block.
toy_blocks <- function(toy) switch(toy$prior, block = list(2:3), blocks = list(2, 3))

toy_prior <- function(toy, y) {
  counts <- if (toy$family == "negbinomial") {
    value <- sort(unique(y[, 1])) + 0
    rows <- toy$rows * if (toy$wrong == "counts") 1.5 else 1
    list(value = value, weight = as.double(table(factor(y[, 1], value))), rows = rows)
  }
  factor <- if (toy$wrong == "prior") 0.3 else 1
  list(
    mean = numeric(toy$p * toy$outcomes),
    precision = if (toy$p > toy$rows) factor * diag(toy$precision) else warpbayes:::pack(toy$precision * factor),
    law = if (toy$prior %in% c("horseshoe", "regularised", "student")) {
      c(0L, rep(if (toy$prior == "student") 2L else 1L, toy$p - 1))
    } else if (startsWith(toy$prior, "block")) {
      c(0L, 3L, if (toy$prior == "block") 3L else 4L)
    } else if (toy$prior == "autoregression") {
      c(0L, rep(3L, toy$p - 1))
    },
    gap = if (toy$prior == "autoregression") c(-1, toy$gap * if (toy$wrong == "gap") 8 else 1),
    df = rep(toy$df * if (toy$wrong == "df") 0.4 else 1, toy$p),
    scale = rep(toy$scale * if (toy$wrong == "scale") 3 else 1, toy$p),
    slab = c(if (toy$prior == "regularised") toy$scale * if (toy$wrong == "slab") 3 else 1 else 0, toy$df),
    global_scale = toy$global_scale * if (toy$wrong == "global") 2 else 1,
    group_scale = toy$group_scale * if (toy$wrong == "group") 2 else 1,
    effect_scale = rep(toy$group_scale * if (toy$wrong == "group") 2 else 1,
      sum(vapply(toy$terms, function(term) max(1, ncol(term$z)), 0))),
    dispersion = toy$dispersion * if (toy$wrong == "dispersion") c(1, 1.5) else c(1, 1),
    dispersion_scale = toy$dispersion_scale * if (toy$wrong == "dispersion") 4 else 1, counts = counts,
    moves = if (toy$levels) c(0, 2)
  )
}

# The approximation of the log likelihood about the mode, on which the moves rely, and what the moves of levels rely on.
# They depend on the responses alone: the search begins at the same state in all replicates.
toy_start <- function(toy, session, prior, state) {
  state$coefficients[] <- 0
  state$intercepts[] <- 0
  if (!is.null(toy$terms)) {
    state$effects[] <- 0
    unit <- lapply(toy$terms, function(term) {
      q <- max(1, ncol(term$z))
      c(rep(warpbayes:::pack(diag(q)), 2), rep(1, q))
    })
    state$covariances <- unlist(rep(unit, toy$outcomes))
  }
  state$shrinkage[] <- 1
  state$scalars <- c(if (toy$family == "negbinomial") 1 else 0, 1, 1)
  start <- native(C_regression_start, session, prior, state, 1)
  if (!is.null(toy$moves)) start$ellipse[[1L]] <- toy$moves
  start
}

# The moves of levels, whose map must not depend on the effects. Here it does.
toy_moves_with_error <- function(toy, state) {
  shift <- 2 * tanh(state$intercepts)
  term <- toy$p + toy$p * (toy$p + 1) / 2 + 2 * (toy$p + 1) + (toy$p + 1) * (toy$p + 2)
  record <- (length(state$moves) - 3 - term) / toy$groups
  at <- length(state$moves) - record * toy$groups + record * (seq_len(toy$groups) - 1)
  state$moves[at + 3] <- shift
  state$moves
}

# The state of one chain after sweeps of which none is kept.
sweep_chain <- function(session, prior, state, sweeps) {
  native(C_regression_sweeps, list(list(session, prior, state, as.integer(sweeps))))[[1L]]
}

# One replicate: parameters and responses before the sweeps, and parameters after `sweeps` sweeps.
toy_replicate <- function(toy, seed, sweeps, run) {
  before <- draw_toy_parameters(toy)
  y <- draw_toy_responses(toy, before)
  session <- native(C_regression_open, toy_data(toy, y), run)
  on.exit(.Call(C_session_close, session))
  state <- c(list(key = .Call(C_chain_key, seed, 1L), sweep = 0), before)
  parts <- names(before)
  prior <- toy_prior(toy, y)
  start <- toy_start(toy, session, prior, state)
  state$ellipse <- start$ellipse
  if (toy$levels) state$moves <- start$moves
  state[parts] <- native(C_regression_start, session, prior, state, 0)[parts]
  if (toy$wrong == "map") {
    for (i in seq_len(sweeps)) {
      state$moves <- toy_moves_with_error(toy, state)
      state[parts] <- sweep_chain(session, prior, state, 1)[parts]
      state$sweep <- as.double(i)
    }
  } else {
    state[parts] <- sweep_chain(session, prior, state, sweeps)[parts]
  }
  list(y = y, before = before, after = state)
}

# Functions with a known law under the prior, each transformed to a probability. They are uniform if the sampler is
# right.
toy_levels <- function(toy, state) {
  p <- toy$p
  levels <- NULL
  for (k in seq_len(toy$outcomes)) {
    beta <- state$coefficients[(k - 1) * p + seq_len(p)]
    own <- state$shrinkage[(k - 1) * (2 * p + 3) + seq_len(2 * p + 3)]
    inverse_gamma <- function(value) pchisq(toy$df * toy$scale^2 / value, toy$df)
    if (startsWith(toy$prior, "block")) {
      levels <- c(levels, pnorm(toy_unit(toy) * beta[1]), unlist(lapply(toy_blocks(toy), function(block) {
        deviation <- sqrt(own[block])
        c(pnorm(chol(toy$precision[block, block]) %*% (beta[block] / deviation)),
          2 * pcauchy(deviation[1] / toy$scale) - 1)
      })))
    } else if (toy$prior == "autoregression") {
      effects <- backsolve(toy_autoregression(toy, own[p + 2]), beta[-1], transpose = TRUE)
      levels <- c(levels, pnorm(toy_unit(toy) * beta[1]), pnorm(effects / sqrt(own[2])),
        2 * pcauchy(sqrt(own[2]) / toy$scale) - 1,
        plogis(own[p + 2]))
    } else if (toy$prior == "student") {
      levels <- c(levels, pnorm(toy_unit(toy) * beta[1]), pt(beta[-1] / toy$scale, toy$df), inverse_gamma(own[2:p]))
    } else if (toy$prior %in% c("horseshoe", "regularised")) {
      slab <- if (toy$prior == "regularised") own[2 * p + 3] else Inf
      levels <- c(levels, pnorm(toy_unit(toy) * beta[1]),
        pnorm(beta[-1] * sqrt(1 / (own[2:p] * own[2 * p + 1]) + 1 / slab)),
        2 * pcauchy(sqrt(own[2:p])) - 1,
        2 * pcauchy(sqrt(own[2 * p + 1]) / toy$global_scale) - 1, if (is.finite(slab)) inverse_gamma(slab))
    } else {
      levels <- c(levels, pnorm(chol(toy_precision(toy)) %*% beta))
    }
  }
  if (toy$groups > 0) {
    levels <- c(levels, pnorm(state$intercepts / sqrt(state$scalars[2])),
      2 * pcauchy(sqrt(state$scalars[2]) / toy$group_scale) - 1
    )
  }
  levels <- c(levels, toy_term_levels(toy, state))
  if (toy$family == "negbinomial") {
    levels <- c(levels, if (toy$dispersion_scale > 0) {
      2 * pcauchy(state$scalars[1]^-0.5 / toy$dispersion_scale) - 1
    } else {
      pgamma(state$scalars[1], toy$dispersion[1], toy$dispersion[2])
    })
  }
  levels
}

# Joint functions of parameters and responses, bounded and monotone in each.
toy_ties <- function(toy, state, y) {
  linear <- toy$x %*% matrix(state$coefficients, toy$p)
  shares <- if (is_count_family(toy$family)) y / (1 + y) else y / toy$trials
  c(sum(plogis(linear) * shares), sum(toy$x[, 2] * shares) * tanh(state$coefficients[2]),
    sum(toy$x[, 3] * shares) * tanh(state$coefficients[3])
  )
}

# The largest ratio of a Kolmogorov distance to its bound. The bounds have a false-alarm rate of `false_alarm` for all
# comparisons together. A ratio above 1 means that the sampler is wrong.
toy_distance <- function(toy, replicates, sweeps, seed = 1) {
  run <- resolve_run(threads = 1)
  set.seed(seed)
  drawn <- lapply(seq_len(replicates), function(i) toy_replicate(toy, 1000 * seed + i, sweeps, run))
  levels <- do.call(rbind, lapply(drawn, function(one) toy_levels(toy, one$after)))
  half <- seq_len(replicates) <= replicates / 2
  after <- do.call(rbind, lapply(drawn[half], function(one) toy_ties(toy, one$after, one$y)))
  before <- do.call(rbind, lapply(drawn[!half], function(one) toy_ties(toy, one$before, one$y)))
  comparisons <- ncol(levels) + 2 * ncol(after)
  bound <- function(n) sqrt(log(2 * comparisons / false_alarm) / (2 * n))
  uniform <- apply(levels, 2, function(u) {
    u <- sort(u)
    max(seq_along(u) / length(u) - u, u - (seq_along(u) - 1) / length(u))
  })
  # Each sample has its own bound around their common law.
  tied <- vapply(seq_len(ncol(after)), function(j) {
    at <- sort(c(after[, j], before[, j]))
    max(abs(ecdf(after[, j])(at) - ecdf(before[, j])(at)))
  }, 0)
  max(uniform / bound(replicates), tied / (2 * bound(replicates / 2)))
}

# Sweeps of each toy problem leave the joint law invariant. False alarms: 1e-6 for each model.
expect_joint_laws <- function(toys, replicates, sweeps = 5) {
  for (name in names(toys)) {
    testthat::expect_lt(toy_distance(toys[[name]], replicates, sweeps), 1, label = name)
  }
}

# Posterior means and quartiles of two parameters by quadrature on a grid.
expect_posterior <- function(draws, log_density, range, label) {
  grid <- lapply(range, function(r) seq(r[[1]], r[[2]], length.out = 121))
  values <- outer(grid[[1]], grid[[2]], Vectorize(log_density))
  weights <- exp(values - max(values))
  for (i in 1:2) {
    marginal <- if (i == 1) rowSums(weights) else colSums(weights)
    marginal <- marginal / sum(marginal)
    cdf <- cumsum(marginal) - marginal / 2
    at <- approx(cdf, grid[[i]], c(0.1, 0.5, 0.9), ties = "ordered")$y
    for (q in 1:3) {
      below <- (draws[, , i] <= at[[q]]) + 0
      # Six standard errors (2e-9 a comparison), and a margin for the error of the effective size.
      error <- sd(below) / sqrt(effective_size(split_chains(below)))
      expect_lt(abs(mean(below) - c(0.1, 0.5, 0.9)[[q]]) / error, 6, label = paste(label, i, q))
    }
  }
}

# The distance of joint laws if the sampler has a planted error.
planted_distance <- function(toy, error, sweeps = 15, replicates = 1000) {
  toy$wrong <- error
  toy_distance(toy, replicates, sweeps)
}
