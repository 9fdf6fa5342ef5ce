# Posteriors of regressions by Metropolis steps on one parameter after the other, in plain R. Nothing is augmented: the
# log posterior is the likelihood times the priors of the help pages logit_prior and grouping_terms.

# y: successes out of `trials`, counts, or classes 1 to 3 of one trial. x: a predictor with mean 0 and standard
# deviation 1, so that centring and autoscale change nothing. terms: "none", "one" for (1 | g) or "slopes" for (x | g).
# prior: a list of the arguments of logit_prior(). Returns the intercept and the slope of each outcome, log dispersion,
# and log deviations and the correlation of the groups: sweeps x parameters.
reference_logit <- function(y, x, sweeps, prior, family = "binomial", trials = 1, group = NULL, terms = "none") {
  outcomes <- if (family == "multinomial") 2 else 1
  levels <- if (is.null(group)) 0 else max(group)
  q <- c(none = 0, one = 1, slopes = 2)[[terms]]
  half_cauchy <- function(log_value, scale) dcauchy(exp(log_value), 0, scale, log = TRUE) + log_value
  size <- c(coefficient = 2 * outcomes, shrinkage = 3, dispersion = 1, deviation = q, correlation = 1,
    effect = q * levels)
  at <- split(seq_len(sum(size)), factor(rep(names(size), size), names(size)))
  log_posterior <- function(u) {
    b <- matrix(u[at$coefficient], 2)
    linear <- cbind(1, x) %*% b
    # Normal coefficients of the classes have the correlation 1/2.
    normal <- function(values, location, scale) {
      off <- (values - location) / scale
      if (outcomes == 1) return(-off^2 / 2)
      -(sum(off^2) - off[[1]] * off[[2]]) / 1.5
    }
    total <- normal(b[1, ], prior$intercept_location, prior$intercept_scale)
    if (prior$type == "horseshoe") {
      lambda <- u[at$shrinkage]
      slab <- exp(lambda[[3]])
      precision <- exp(-2 * lambda[[1]] - 2 * lambda[[2]]) + 1 / slab
      total <- total + half_cauchy(lambda[[1]], 1) + half_cauchy(lambda[[2]], prior$global_scale) +
        dgamma(1 / slab, prior$slab_df / 2, prior$slab_df * prior$slab_scale^2 / 2, log = TRUE) - lambda[[3]] +
        dnorm(b[2, ], 0, 1 / sqrt(precision), log = TRUE)
    } else if (prior$type == "normal") {
      total <- total + normal(b[2, ], 0, prior$scale)
    } else {
      total <- total + sum(dt(b[2, ] / prior$scale, prior$df, log = TRUE))
    }
    if (q > 0) {
      s <- exp(u[at$deviation])
      z <- matrix(u[at$effect], levels)
      total <- total + sum(dnorm(z, log = TRUE))
      if (q == 1) {
        total <- total + half_cauchy(log(s), prior$group_scale)
        linear <- linear + (s * z)[group]
      } else {
        # Huang and Wand (2013, equation 2) with nu = 2: deviations half-t, correlation r = tanh(v) uniform, but not
        # independent of each other. Then the Jacobian of log deviations and v.
        r <- tanh(u[at$correlation])
        total <- total - 3 * log(prod(s)^2 * (1 - r^2)) - 2 * sum(log(2 / (s^2 * (1 - r^2)) + prior$group_scale^-2)) +
          3 * sum(log(s)) + log1p(-r^2)
        linear <- linear + s[[1]] * z[group, 1] + s[[2]] * (r * z[group, 1] + sqrt(1 - r^2) * z[group, 2]) * x
      }
    }
    if (family == "binomial") return(total + sum(dbinom(y, trials, plogis(linear), log = TRUE)))
    if (family == "multinomial") {
      return(total + sum(cbind(0, linear)[cbind(seq_along(y), y)] - log(1 + rowSums(exp(linear)))))
    }
    r <- exp(u[[at$dispersion]])
    total + dgamma(r, prior$dispersion[[1]], prior$dispersion[[2]], log = TRUE) + log(r) +
      sum(dnbinom(y, size = r, mu = exp(linear), log = TRUE))
  }
  moving <- c(at$coefficient, if (prior$type == "horseshoe") at$shrinkage,
    if (family == "negbinomial") at$dispersion, at$deviation, if (q == 2) at$correlation, at$effect)
  u <- numeric(sum(size))
  width <- rep(1, length(u))
  out <- matrix(0, sweeps, length(u))
  now <- log_posterior(u)
  # Widths are chosen in the first sweeps, which are left out.
  warmup <- sweeps %/% 3
  for (sweep in seq_len(sweeps + warmup)) {
    for (j in moving) {
      proposal <- u
      proposal[[j]] <- u[[j]] + width[[j]] * rnorm(1)
      new <- log_posterior(proposal)
      accept <- log(runif(1)) < new - now
      if (accept) {
        u <- proposal
        now <- new
      }
      if (sweep <= warmup) width[[j]] <- width[[j]] * exp((accept - 0.4) / sqrt(sweep))
    }
    if (sweep > warmup) out[sweep - warmup, ] <- u
  }
  out <- out[, c(at$coefficient, if (family == "negbinomial") at$dispersion, at$deviation, if (q == 2) at$correlation)]
  if (q == 2) out[, ncol(out)] <- tanh(out[, ncol(out)])
  out
}

# A binomial regression with (x | g) without a chain: draws from the prior, weighted by the likelihood of the responses,
# which `inner` draws of each group's effects estimate without bias. The error of a weighted mean is that of independent
# draws. Arguments are as above. Returns the parameters, in the order above, and the weights.
reference_weighted <- function(y, x, draws, prior, trials, group, inner = 8, nu = 2) {
  # Huang and Wand (2013, equation 2): the inverse covariance is Wishart given the auxiliary variables. Bartlett's
  # factors of 2 x 2 matrices make draws at once.
  root <- lapply(1:2, function(i) sqrt(2 * nu * rgamma(draws, 0.5, rate = prior$group_scale^-2)))
  a <- sqrt(rchisq(draws, nu + 1))
  b <- rnorm(draws)
  c <- sqrt(rchisq(draws, nu))
  s <- cbind(root[[1]] * sqrt(b^2 + c^2) / (a * c), root[[2]] / c)
  r <- -b / sqrt(b^2 + c^2)
  intercept <- rnorm(draws, prior$intercept_location, prior$intercept_scale)
  slope <- rnorm(draws, 0, prior$scale)
  log_weight <- 0
  for (rows in split(seq_along(y), group)) {
    likelihood <- 0
    for (i in seq_len(inner)) {
      z <- rnorm(draws)
      first <- intercept + s[, 1] * z
      second <- slope + s[, 2] * (r * z + sqrt(1 - r^2) * rnorm(draws))
      terms <- lapply(rows, function(row) dbinom(y[[row]], trials, plogis(first + second * x[[row]]), log = TRUE))
      likelihood <- likelihood + exp(Reduce(`+`, terms))
    }
    log_weight <- log_weight + log(likelihood)
  }
  list(parameters = cbind(intercept, slope, log(s), r), weight = exp(log_weight - max(log_weight)))
}
