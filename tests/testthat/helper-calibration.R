# Simulation-based calibration of bayes_logit() through what users call (Talts, Betancourt, Simpson, Vehtari and Gelman
# 2018, arXiv 1804.06788). Parameters are drawn from the prior by the formulas of the help pages, in plain R, and data
# from the model given them. The rank of a parameter among posterior draws is then uniform. The log likelihood of the
# data is ranked too, which finds a posterior that ignores data (Modrak et al. 2023, Bayesian Analysis, arXiv
# 2211.02383). Data sets that chains of few sweeps cannot fit are drawn again, as has_few_extremes() says. That depends
# on the data alone, so ranks stay uniform.

# A model of 40 rows. `groups` is "none", "one", "slopes" or "crossed". `planted` names an error of the simulation: data
# are drawn with it and fitted without.
calibration_model <- function(family, groups = "none", prior = "normal", planted = "") {
  set.seed(20)
  d <- data.frame(x = rnorm(40, 3, 2), z = rnorm(40, -1, 0.5), g = rep(1:8, each = 5), h = rep(1:5, 8))
  is_count <- is_count_family(family)
  horseshoe <- startsWith(prior, "horseshoe") || startsWith(prior, "regularised")
  settings <- list(
    type = if (horseshoe) "horseshoe" else prior, location = if (horseshoe) 0 else c(0.1, -0.2),
    scale = if (is_count) 0.3 else 0.6, df = 3, intercept_location = if (is_count) 1 else 0.3,
    intercept_scale = if (is_count) 0.5 else 1, global_scale = if (is_count) 0.2 else 0.6,
    slab_scale = if (prior == "regularised") 0.7, slab_df = 4, group_scale = if (is_count) 0.2 else 0.6,
    dispersion = c(4, 2)
  )
  term <- switch(groups, none = "", one = " + (1 | g)", slopes = " + (x | g)", crossed = " + (1 | g) + (1 | h)")
  response <- if (family == "binomial") "cbind(y, 2 - y)" else "y"
  list(
    family = family, groups = groups, data = d, settings = settings, planted = planted, horseshoe = horseshoe,
    prior = do.call(logit_prior, settings), formula = stats::as.formula(paste(response, "~ x + z", term))
  )
}

# Standard deviations of predictors over observations: a row of two trials counts twice. A Poisson row counts by its
# exposure, and the sum of squares is divided by their sum.
calibration_units <- function(model, x) {
  squares <- colSums(scale(x, scale = FALSE)^2)
  sqrt(squares / switch(model$family, negbinomial = 39, poisson = 40, 79 / 2))
}

# The coefficients of one outcome in the units of the data: the intercept is for predictors at their means. Those of the
# outcome `before`, as this function returned them, have the correlation 1/2 with them, if they are normal.
draw_calibration_coefficients <- function(model, before = NULL) {
  prior <- model$settings
  x <- as.matrix(model$data[c("x", "z")])
  unit <- calibration_units(model, x)
  wide <- if (model$planted == "scale") 1.5 else 1
  if (model$horseshoe) {
    deviation <- abs(rcauchy(2)) * abs(rcauchy(1, 0, prior$global_scale * if (model$planted == "global") 5 else 1))
    if (!is.null(prior$slab_scale)) {
      slab <- prior$slab_scale^2 * prior$slab_df / rchisq(1, prior$slab_df)
      deviation <- 1 / sqrt(1 / deviation^2 + 1 / slab)
    }
    slopes <- rnorm(2) * deviation / unit
  } else {
    df <- if (prior$type == "student_t") if (model$planted == "df") 1 else prior$df else Inf
    slopes <- prior$location + prior$scale * wide / unit * rt(2, df)
  }
  centre <- if (model$planted == "centre") 0 else colMeans(x)
  drawn <- c(rnorm(1, prior$intercept_location, prior$intercept_scale), slopes)
  if (!is.null(before)) {
    location <- c(prior$intercept_location, prior$location)
    correlated <- location + (attr(before, "centred") - location) / 2 + sqrt(3 / 4) * (drawn - location)
    drawn <- ifelse(c(TRUE, rep(prior$type == "normal", 2)), correlated, drawn)
  }
  structure(c("(Intercept)" = drawn[[1]] - sum(drawn[-1] * centre), x = drawn[[2]], z = drawn[[3]]), centred = drawn)
}

# The effects of groups on one outcome: the part of the linear predictor, and the parameters by their names in a fit.
draw_calibration_groups <- function(model) {
  d <- model$data
  scale <- model$settings$group_scale * if (model$planted == "group") 1.5 else 1
  if (model$groups == "none") return(list(linear = numeric(nrow(d)), values = NULL))
  if (model$groups == "slopes") {
    # Huang and Wand (2013) with nu = 2, in units of predictors of deviation 1.
    auxiliary <- 1 / rgamma(2, 0.5, scale^-2)
    degrees <- if (model$planted == "degrees") 6 else 3
    covariance <- solve(rWishart(1, degrees, diag(auxiliary / 4))[, , 1])
    if (model$planted == "correlation") covariance <- diag(diag(covariance))
    unit <- c(1, calibration_units(model, d$x))
    effects <- t(chol(covariance)) %*% matrix(rnorm(16), 2) / unit
    deviation <- sqrt(diag(covariance)) / unit
    return(list(linear = effects[1, d$g] + effects[2, d$g] * d$x, values = c(
      "sd(g)" = deviation[[1]], "sd(x | g)" = deviation[[2]], "cor((Intercept), x | g)" = cov2cor(covariance)[1, 2],
      "b[(Intercept) g:1]" = effects[1, 1], "b[x g:1]" = effects[2, 1]
    )))
  }
  # Half-t with 5 degrees of freedom is what a wrong shape in the update of a half-Cauchy deviation would give.
  deviation <- abs(scale * rt(2, if (model$planted == "shape") 5 else 1))
  of_g <- rnorm(8) * deviation[[1]]
  of_h <- rnorm(5) * deviation[[2]]
  if (model$groups == "one") {
    name <- if (model$family == "multinomial") "b[(Intercept) g:1]" else "intercept[1]"
    return(list(linear = of_g[d$g], values = stats::setNames(c(deviation[[1]], of_g[[1]]), c("sd(g)", name))))
  }
  list(linear = of_g[d$g] + of_h[d$h], values = c(
    "sd(g)" = deviation[[1]], "sd(h)" = deviation[[2]], "b[(Intercept) g:1]" = of_g[[1]],
    "b[(Intercept) h:1]" = of_h[[1]]
  ))
}

# Data with a response, and the values of all parameters.
draw_calibration_set <- function(model) {
  repeat {
    d <- model$data
    classes <- if (model$family == "multinomial") c("b:", "c:") else ""
    values <- coefficients <- NULL
    linear <- vapply(classes, function(class) {
      coefficients <<- draw_calibration_coefficients(model, coefficients)
      groups <- draw_calibration_groups(model)
      values <<- c(values, stats::setNames(c(coefficients, groups$values),
        paste0(class, c(names(coefficients), names(groups$values)))))
      coefficients[[1]] + coefficients[[2]] * d$x + coefficients[[3]] * d$z + groups$linear
    }, numeric(nrow(d)))
    if (model$family == "binomial") {
      d$y <- rbinom(40, 2, plogis(linear))
      log_likelihood <- sum(dbinom(d$y, 2, plogis(linear), log = TRUE))
    } else if (model$family == "poisson") {
      linear <- pmin(linear, 20)
      d$y <- rpois(40, exp(linear))
      log_likelihood <- sum(dpois(d$y, exp(linear), log = TRUE))
    } else if (model$family == "negbinomial") {
      values[["dispersion"]] <- r <- rgamma(1, 4, if (model$planted == "dispersion") 0.8 else 2)
      linear <- pmin(linear, 500)
      d$y <- suppressWarnings(rnbinom(40, size = r, mu = exp(linear)))
      log_likelihood <- sum(dnbinom(d$y, size = r, mu = exp(linear), log = TRUE))
    } else {
      if (model$family == "cratio") {
        # Intercepts of steps have the same prior, each about predictors at their means.
        second <- rnorm(1, model$settings$intercept_location, model$settings$intercept_scale)
        first <- values[["(Intercept)"]] + sum(values[c("x", "z")] * colMeans(d[c("x", "z")]))
        names(values)[names(values) == "(Intercept)"] <- "(Intercept):a"
        values[["(Intercept):b"]] <- values[["(Intercept):a"]] + second - first
        on <- plogis(drop(linear) + cbind(0, rep(second - first, 40)) * if (model$planted == "steps") -1 else 1)
        share <- cbind(1 - on[, 1], on[, 1] * (1 - on[, 2]), on[, 1] * on[, 2])
      } else {
        weight <- exp(cbind(0, linear) - pmax(0, linear[, 1], linear[, 2]))
        share <- weight / rowSums(weight)
      }
      d$y <- t(apply(share, 1, rmultinom, n = 1, size = 2))
      colnames(d$y) <- c("a", "b", "c")
      log_likelihood <- sum(vapply(1:40, function(i) dmultinom(d$y[i, ], prob = share[i, ], log = TRUE), 0))
    }
    if (has_few_extremes(model$family, d$y)) return(list(data = d, values = c(values, log_likelihood = log_likelihood)))
  }
}

# Counts above 60 make effects of groups slow. Classes that predictors separate leave the horseshoe's coefficients with
# the tails of a Cauchy distribution: at least two rows must have trials in both classes of each pair.
has_few_extremes <- function(family, y) {
  switch(family,
    binomial = sum(y == 1) >= 2,
    poisson = , negbinomial = !anyNA(y) && max(y) <= 60,
    multinomial = , cratio = min(crossprod(y > 0)[upper.tri(diag(ncol(y)))]) >= 2
  )
}

# The ranks of the parameters of data set `i` as numbers between 0 and 1, and the effective sample sizes. A chain whose
# smallest effective size is below `least` goes on with four times as many sweeps, up to `longest`.
calibration_ranks <- function(model, i, iter = 900, least = 60, longest = 64 * iter) {
  set.seed(i)
  set <- if (is.null(model$zero)) draw_calibration_set(model) else draw_zero_set(model)
  fit <- do.call(bayes_logit, c(list(model$formula, set$data, model$family, model$prior, chains = 1, iter = iter,
    warmup = iter / 3, seed = i, threads = 1, progress = FALSE), model$zero))
  repeat {
    draws <- warpbayes:::array_of_draws(fit, groups = TRUE)[, 1, names(set$values)]
    # Effective sizes of no more than 2,000 draws, which is fast: these are ranked.
    at <- unique(round(seq(1, nrow(draws), length.out = 2000)))
    draws <- draws[at, ]
    size <- apply(draws, 2, function(x) warpbayes:::effective_size(warpbayes:::split_chains(
      warpbayes:::normal_scores(matrix(x)))))
    if (min(size) >= least || fit$iter >= longest) break
    fit <- continue(fit, 3 * fit$iter)
  }
  ranks <- vapply(names(set$values), function(name) {
    kept <- max(1, min(99, floor(size[[name]])))
    thinned <- draws[round(seq(nrow(draws) / kept, nrow(draws), length.out = kept)), name]
    rank <- sum(thinned < set$values[[name]]) + sum(thinned == set$values[[name]]) * runif(1)
    (rank + runif(1)) / (kept + 1)
  }, 0)
  list(ranks = ranks, size = size)
}

# A row for each parameter: the shares of 50% and 90% intervals that cover, and the smaller of two p-values, times two.
# Kolmogorov's test sees ranks that are too high or too low. The sum of squared normal scores of the ranks, which is
# chi-squared, sees posteriors that are too narrow or too wide.
calibration_table <- function(sets) {
  ranks <- vapply(sets, function(set) set$ranks, sets[[1]]$ranks)
  size <- vapply(sets, function(set) set$size, sets[[1]]$size)
  n <- ncol(ranks)
  inside <- function(share) rowMeans(abs(ranks - 0.5) < share / 2)
  # The exact law takes minutes where many ranks are far from uniform.
  uniform <- apply(ranks, 1, function(u) ks.test(u, "punif", exact = n < 1000)$p.value)
  squares <- rowSums(qnorm(ranks)^2)
  spread <- 2 * pmin(pchisq(squares, n), pchisq(squares, n, lower.tail = FALSE))
  data.frame(
    parameter = rownames(ranks), sets = n, cover50 = inside(0.5), cover90 = inside(0.9), mean_rank = rowMeans(ranks),
    p = pmin(1, 2 * pmin(uniform, spread)), ess_median = apply(size, 1, median), ess_least = apply(size, 1, min),
    row.names = NULL
  )
}

# Counts with zeros of kind "zi" or "hu", whose log odds depend on x. With "kind" data are drawn with the other one.
zero_calibration_model <- function(kind, family, planted = "") {
  model <- calibration_model(family, planted = planted)
  model$formula <- y ~ x + z
  model$prior <- list(count = model$prior, zero = logit_prior(scale = 0.6, intercept_scale = 1))
  model$zero <- stats::setNames(list(~x), kind)
  model
}

draw_zero_set <- function(model) {
  d <- model$data
  kind <- names(model$zero)
  is_hurdle <- (kind == "hu") != (model$planted == "kind")
  repeat {
    values <- draw_calibration_coefficients(model)
    mean <- exp(pmin(values[[1]] + values[[2]] * d$x + values[[3]] * d$z, 20))
    slope <- rnorm(1, 0, 0.6 / sd(d$x))
    intercept <- rnorm(1) - slope * mean(d$x)
    values[paste0(kind, c("_(Intercept)", "_x"))] <- c(intercept, slope)
    if (model$family == "negbinomial") values[["dispersion"]] <- rgamma(1, 4, 2)
    size <- if (model$family == "negbinomial") values[["dispersion"]] else Inf
    none <- if (is.infinite(size)) exp(-mean) else dnbinom(0, size = size, mu = mean)
    u <- runif(40)
    if (is_hurdle) u <- none + (1 - none) * u
    y <- if (is.infinite(size)) qpois(u, mean) else qnbinom(u, size = size, mu = mean)
    d$y <- ifelse(runif(40) < plogis(intercept + slope * d$x), 0, y)
    if (has_few_extremes(model$family, d$y) && sum(d$y > 0) >= 5) return(list(data = d, values = values))
  }
}
