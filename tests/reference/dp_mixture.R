# The blocked Gibbs sampler of a truncated Dirichlet-process mixture, in plain R and one cell at a time: Ishwaran and
# James (2001, Journal of the American Statistical Association 96, 161-173) with the prior of Suchard et al. (2010,
# Journal of Computational and Graphical Statistics 19, 419-438). It has no moves. Given labels, the weights of samples
# are integrated out, and sticks, concentrations and nu have Metropolis steps, which the package does not use.

inverse_wishart <- function(df, scale) solve(rWishart(1, df, solve(scale))[, , 1])

metropolis <- function(value, log_density, width) {
  proposal <- value + width * rnorm(length(value))
  if (log(runif(1)) < log_density(proposal) - log_density(value)) proposal else value
}

# x: cells x markers, with mean 0 and standard deviation 1 if `learn` is TRUE. prior: mean, mean_scale, df, scale,
# concentration, sample_concentration. floor: standard deviations. Returns what mixture_quantities() says of each sweep.
reference_mixture <- function(x, k, sweeps, prior, learn = FALSE, floor = 0, sample = rep(1, nrow(x))) {
  n <- nrow(x)
  p <- ncol(x)
  samples <- max(sample)
  m <- rep_len(prior$mean, p)
  gamma <- prior$mean_scale
  nu <- prior$df
  phi <- prior$scale
  error <- diag(floor^2, p)
  alpha <- prior$concentration[[1]] / prior$concentration[[2]]
  a <- 1
  logit <- numeric(k - 1)
  z <- sample.int(k, n, TRUE)
  mean <- matrix(0, k, p)
  covariance <- replicate(k, diag(p), simplify = FALSE)
  nus <- exp(seq(log(1 / 4), log(8 * (p + 2)), length.out = 25))
  shares <- function(logit) {
    v <- c(plogis(logit), 1)
    v * cumprod(c(1, plogis(-logit)))
  }
  out <- NULL
  for (sweep in seq_len(sweeps)) {
    for (j in seq_len(k)) {
      own <- x[z == j, , drop = FALSE]
      size <- nrow(own)
      # Scatter about the posterior mean of mu, and what the prior mean adds: completing the square.
      centre <- (m / gamma + colSums(own)) / (1 / gamma + size)
      about <- sweep(own, 2, centre)
      scale <- nu * phi + crossprod(about) + tcrossprod(m - centre) / gamma + size * error
      covariance[[j]] <- inverse_wishart(nu + p + 1 + size, scale)
      mean[j, ] <- centre + t(chol(covariance[[j]] / (1 / gamma + size))) %*% rnorm(p)
    }
    count <- matrix(tabulate(z + k * (sample - 1), k * samples), k)
    log_alpha_density <- function(u, logit) {
      sum(dbeta(plogis(logit), 1, exp(u), log = TRUE)) +
        dgamma(exp(u), prior$concentration[[1]], prior$concentration[[2]], log = TRUE) + u
    }
    for (again in 1:3) alpha <- exp(metropolis(log(alpha), function(u) log_alpha_density(u, logit), 1.5))
    if (samples == 1) {
      behind <- sum(count) - cumsum(count)
      v <- rbeta(k - 1, 1 + count[-k], alpha + behind[-k])
      logit <- qlogis(pmin(pmax(v, 1e-15), 1 - 1e-15))
      weights <- cbind(shares(logit))
    } else {
      # Dirichlet-multinomial probability of the labels, times the prior of sticks and a.
      target <- function(u) {
        a <- exp(u[[k]])
        base <- pmax(a * shares(u[-k]), 1e-300)
        sum(lgamma(base + count) - lgamma(base)) + sum(lgamma(a) - lgamma(a + colSums(count))) +
          sum(dbeta(plogis(u[-k]), 1, alpha, log = TRUE) + dlogis(u[-k], log = TRUE)) +
          dgamma(a, prior$sample_concentration[[1]], prior$sample_concentration[[2]], log = TRUE) + u[[k]]
      }
      u <- c(logit, log(a))
      for (again in 1:4) u <- metropolis(u, target, c(0.3, 0.6, 1.2, 2)[[again]])
      logit <- u[-k]
      a <- exp(u[[k]])
      weights <- matrix(rgamma(k * samples, pmax(a * shares(logit), 1e-300) + count), k) + 1e-300
      weights <- sweep(weights, 2, colSums(weights), "/")
    }
    if (learn) {
      inverse <- lapply(covariance, solve)
      total <- Reduce(`+`, inverse)
      variance <- solve(diag(p) + total / gamma)
      weighted <- Reduce(`+`, lapply(seq_len(k), function(j) inverse[[j]] %*% mean[j, ]))
      m <- drop(variance %*% (prior$mean + weighted / gamma) + t(chol(variance)) %*% rnorm(p))
      distance <- sum(vapply(seq_len(k), function(j) sum((mean[j, ] - m) * (inverse[[j]] %*% (mean[j, ] - m))), 0))
      gamma <- 1 / rgamma(1, 2 + k * p / 2, prior$mean_scale + distance / 2)
      rate <- (p + 2) * solve(prior$scale) + nu * total
      phi <- rWishart(1, p + 2 + k * (nu + p + 1), solve(rate))[, , 1]
      # The inverse Wishart density of all covariances as a function of nu.
      determinants <- sum(vapply(covariance, function(s) log(det(s)), 0))
      traces <- sum(diag(phi %*% total))
      log_nu <- vapply(nus, function(nu) {
        df <- nu + p + 1
        k * (df / 2 * log(det(nu * phi)) - df * p / 2 * log(2) - sum(lgamma((df + 1 - seq_len(p)) / 2))) -
          df / 2 * determinants - nu * traces / 2
      }, 0)
      nu <- nus[[sample.int(length(nus), 1, prob = exp(log_nu - max(log_nu)))]]
    }
    log_weight <- vapply(seq_len(k), function(j) {
      root <- chol(covariance[[j]])
      about <- backsolve(root, t(x) - mean[j, ], transpose = TRUE)
      log(weights[j, sample]) - sum(log(diag(root))) - colSums(about^2) / 2 -
        sum(diag(solve(covariance[[j]], error))) / 2
    }, numeric(n))
    for (i in seq_len(n)) z[[i]] <- sample.int(k, 1, prob = exp(log_weight[i, ] - max(log_weight[i, ])))
    quantities <- mixture_quantities(z, drop(weights %*% tabulate(sample)) / n, mean, covariance, alpha,
      if (samples > 1) a, if (learn) c(m[[1]], gamma, nu, phi[1, 1]))
    if (is.null(out)) out <- matrix(0, sweeps, length(quantities))
    out[sweep, ] <- quantities
  }
  out
}

# Quantities that do not depend on the numbers of the components. `a` and `learned` may be
# NULL.
mixture_quantities <- function(z, weights, mean, covariance, alpha, a, learned) {
  first <- vapply(covariance, function(s) s[1, 1], 0)
  c(log(alpha), length(unique(z)), z[[1]] == z[[2]], z[[1]] == z[[length(z)]], sum(weights^2),
    tanh(sum(weights * mean[, 1])), log(sum(weights * first)), if (!is.null(a)) log(a),
    if (!is.null(learned)) c(learned[[1]], log(learned[-1])))
}
