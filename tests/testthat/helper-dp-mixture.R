# Data of a few clusters, mixture densities in plain R, and made-up fits in the form that dp_mixture() returns.

# Rows in a few clusters, so that only some blocks of components matter.
clustered <- function(n, p, seed) {
  set.seed(seed)
  x <- matrix(rnorm(n * p), n)
  x + 6 * (sample(3, n, replace = TRUE) - 2)
}

# Log weight plus log density of each component at the rows of x (n x p), as n x k.
# weights (k), means (k x p), covariances (p x p x k).
reference_joint <- function(x, weights, means, covariances) {
  vapply(seq_along(weights), function(j) {
    root <- chol(covariances[, , j])
    z <- backsolve(root, t(x) - means[j, ], transpose = TRUE)
    log(weights[[j]]) - sum(log(diag(root))) - ncol(x) / 2 * log(2 * pi) - colSums(z^2) / 2
  }, numeric(nrow(x)))
}

reference_log_density <- function(x, weights, means, covariances) {
  joint <- matrix(reference_joint(x, weights, means, covariances), nrow(x))
  top <- apply(joint, 1L, max)
  top + log(rowSums(exp(joint - top)))
}

# `shift` moves the log likelihood of the last chain, which then differs from the others.
simulate_fit <- function(n = 2000, k = 6, p = 3, sweeps = 100, warmup = 50, chains = 2, shift = 0, seed = 1) {
  set.seed(seed)
  markers <- paste0("CD", seq_len(p))
  kept <- sweeps - warmup
  centres <- matrix(rnorm(k * p, 10, 4), k, p)
  root <- lapply(seq_len(k), function(j) crossprod(matrix(rnorm(p * p, sd = 0.4), p)) + diag(0.3, p))
  weights <- sort(rgamma(k, 1), decreasing = TRUE)
  weights <- weights / sum(weights)
  labels <- sample.int(k, n, replace = TRUE, prob = weights)
  x <- matrix(0, n, p, dimnames = list(NULL, markers))
  for (j in seq_len(k)) {
    rows <- which(labels == j)
    x[rows, ] <- matrix(rnorm(length(rows) * p), ncol = p) %*% chol(root[[j]]) + rep(centres[j, ], each = length(rows))
  }
  draws <- list(
    weights = array(0, c(k, kept, chains)),
    means = array(0, c(k, p, kept, chains), dimnames = list(NULL, markers, NULL, NULL)),
    covariances = array(0, c(p, p, k, kept, chains)),
    concentration = matrix(rgamma(kept * chains, 20, 10), kept, chains)
  )
  for (chain in seq_len(chains)) {
    for (draw in seq_len(kept)) {
      w <- rgamma(k, 1000 * weights)
      draws$weights[, draw, chain] <- w / sum(w)
      draws$means[, , draw, chain] <- centres + rnorm(k * p, sd = 0.01)
      for (j in seq_len(k)) {
        draws$covariances[, , j, draw, chain] <- root[[j]] * exp(rnorm(1, sd = 0.02))
      }
    }
  }
  trace <- function(mean, sd) matrix(rnorm(sweeps * chains, mean, sd), sweeps, chains)
  log_likelihood <- trace(-n * p, 3) - 500 * exp(-seq_len(sweeps) / 5)
  log_likelihood[, chains] <- log_likelihood[, chains] + shift
  center <- colMeans(x)
  scale <- apply(x, 2L, sd)
  fit <- list(
    draws = draws, log_likelihood = log_likelihood, log_posterior = log_likelihood + trace(0, 2),
    concentration_trace = rbind(matrix(2, warmup, chains), draws$concentration),
    occupied = matrix(rbinom(sweeps * chains, k, 0.9), sweeps, chains),
    probe_density = array(rnorm(sweeps * chains * 5, -10), c(sweeps, chains, 5)), probe = x[1:5, , drop = FALSE],
    sizes = matrix(tabulate(labels, k), k, chains), components = k, chains = chains, iter = sweeps, warmup = warmup,
    thin = 1, keep = c("weights", "means", "covariances"), seed = 1, backend = "cpu", precision = "double",
    threads = 2L, prior = resolve_prior(dp_prior(), center, scale, markers), markers = markers, rows = n,
    center = center, scale = scale, elapsed = list(total = 1.5), interrupted = FALSE, transform = NULL,
    method = "gibbs", missing = "error", piled = find_piled(list()), x = x, call = quote(dp_mixture(x))
  )
  fit$score <- matrix(3 * fit$probe_density[, , 5], sweeps, chains)
  structure(fit, class = c("dp_mixture", "warpbayes_fit", "warpbayes"), labels = labels)
}

# dp_mixture() with settings of warp_control() among its arguments.
fit_mixture <- function(x, ...) {
  given <- list(...)
  settings <- names(given) %in% names(formals(warp_control))
  if (any(settings)) given <- c(given[!settings], list(control = do.call(warp_control, given[settings])))
  do.call(dp_mixture, c(if (!missing(x)) list(quote(x)), given))
}
