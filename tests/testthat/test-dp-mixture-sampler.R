# Compares the mixture's Gibbs sampler with exact results: the posterior of one component, the prior, the law of the
# labels, and known populations. If everything is right, a statistical test fails with probability 1e-6; its seed is
# fixed. Geweke's test of the whole sampler is in tests/geweke. All tests run on the processor, because other tests
# compare the backends.

# Distribution functions and moments of the normal-inverse-Wishart law
# mu | Sigma ~ N(m, gamma Sigma), Sigma ~ IW(df, Psi).
t_cdf <- function(m, gamma, df, psi, p) {
  nu <- df - p + 1
  function(x) stats::pt((x - m) / sqrt(gamma * psi / nu), nu)
}
variance_cdf <- function(df, psi, p) function(x) stats::pgamma(psi / (2 * x), (df - p + 1) / 2, lower.tail = FALSE)

test_that("one component has the closed-form posterior, in the data's units", {
  skip_where_repeated()
  # 10,000 independent draws. A comparison of means finds a shift of 0.06 standard deviations, a comparison of
  # distributions a distance of 0.03.
  sweeps <- 10000
  set.seed(41)
  n <- 30
  x <- cbind(a = 1e3 + 20 * rnorm(n), b = 0.01 * rnorm(n), c = rnorm(n))
  x[, "c"] <- x[, "c"] + 50 * x[, "b"]
  m <- c(a = 1010, b = 0.01, c = 0.5)
  gamma <- 0.3
  nu <- 7
  phi <- outer(c(15, 0.02, 1), c(15, 0.02, 1)) * matrix(c(1, 0.4, 0, 0.4, 1, 0.2, 0, 0.2, 1), 3)
  prior <- dp_prior(mean = m, mean_scale = gamma, df = nu, scale = phi)
  fit <- dp_mixture(x, components = 1, prior = prior, iter = sweeps, warmup = 0, seed = 5, backend = "cpu", threads = 2)

  p <- 3
  gamma_n <- gamma / (1 + gamma * n)
  m_n <- (m + gamma * n * colMeans(x)) / (1 + gamma * n)
  deviation <- colMeans(x) - m
  psi <- nu * phi + crossprod(sweep(x, 2, colMeans(x))) + n / (1 + gamma * n) * tcrossprod(deviation)
  df <- nu + n + p + 1

  mu <- t(fit$draws$means[1, , , 1])
  sigma <- apply(fit$draws$covariances[, , 1, , 1], 3, function(s) s[lower.tri(s, diag = TRUE)])
  expect_identical(dim(mu), c(10000L, 3L))
  expect_true(all(fit$draws$weights == 1))
  psi_low <- psi[lower.tri(psi, diag = TRUE)]
  at <- which(lower.tri(psi, diag = TRUE), arr.ind = TRUE)
  mean_sigma <- psi_low / (df - p - 1)
  var_sigma <- ((df - p + 1) * psi_low^2 + (df - p - 1) * psi[at[, c(1, 1)]] * psi[at[, c(2, 2)]]) /
    ((df - p) * (df - p - 1)^2 * (df - p - 3))
  centred <- sweep(mu, 2, m_n)
  cov_mu <- gamma_n * mean_sigma
  log_det <- apply(fit$draws$covariances[, , 1, , 1], 3, function(s) determinant(s)$modulus)
  expected_log_det <- as.numeric(determinant(psi)$modulus) - p * log(2) - sum(digamma((df + 1 - 1:p) / 2))
  draws <- cbind(
    mu, products = centred[, at[, 1]] * centred[, at[, 2]], t(sigma), (t(sigma) - rep(mean_sigma, each = sweeps))^2,
    log_det, (log_det - expected_log_det)^2
  )
  expect_means(draws, c(
    m_n, cov_mu, mean_sigma, var_sigma, expected_log_det, sum(trigamma((df + 1 - 1:p) / 2))
  ))
  for (j in 1:p) {
    expect_distribution(mu[, j], t_cdf(m_n[[j]], gamma_n, df, psi[j, j], p), 2 * p)
    expect_distribution(fit$draws$covariances[j, j, 1, , 1], variance_cdf(df, psi[j, j], p), 2 * p)
  }
  # The concentration depends on the prior alone.
  expect_distribution(fit$draws$concentration[, 1], function(x) stats::pgamma(x, 1, 1))
  # Draws of different sweeps are independent, so lag-one correlations are normal with standard deviation
  # 1/sqrt(sweeps).
  lagged <- apply(cbind(mu, log_det), 2, function(y) stats::cor(y[-1], y[-sweeps]))
  expect_lt(max(abs(lagged)) * sqrt(sweeps), stats::qnorm(1 - false_alarm / 8))
})

test_that("without data the sampler draws from the prior", {
  skip_where_repeated()
  # 10,000 draws of alpha from the prior, then one sweep each. Afterwards v and alpha must have their prior laws. The
  # power is that of the test above.
  draws <- 10000
  p <- 2
  k <- 3
  prior <- sampler_prior(p,
    mean = c(1, -2), mean_scale = 0.5, df = 5, scale = matrix(c(2, 0.6, 0.6, 0.5), 2), concentration = c(4, 3)
  )
  key <- .Call(C_chain_key, 11, 1L)
  session <- native(C_mixture_open, matrix(0, 1, p), numeric(p), rep(1, p), 0L, FALSE, resolve_run(NULL, 1))
  on.exit(.Call(C_session_close, session))
  set.seed(11)
  before <- rgamma(draws, 4, 3)
  statistics <- numeric(k * statistics_size(p))
  for (moves in c(FALSE, TRUE)) {
    drawn <- vapply(seq_len(draws), function(i) {
      out <- run_sweeps(session, prior, statistics, before[[i]], key, p, i, moves = moves)
      c(out$concentration, out$log_weight, out$means[k, ], out$covariances[, , k][c(1, 2, 4)])
    }, numeric(4 + p + 3))
    expect_distribution(drawn[1, ], function(x) stats::pgamma(x, 4, 3), 6)
    # -log(1 - v_1) is exponential with rate alpha, and alpha is gamma: a Lomax law.
    expect_distribution(-log1p(-exp(drawn[2, ])), function(x) 1 - (3 / (3 + x))^4, 6)
    df <- 5 + p + 1
    expect_distribution(drawn[5, ], t_cdf(1, 0.5, df, 5 * 2, p), 6)
    expect_distribution(drawn[6, ], t_cdf(-2, 0.5, df, 5 * 0.5, p), 6)
    expect_distribution(drawn[7, ], variance_cdf(df, 5 * 2, p), 6)
    expect_distribution(drawn[9, ], variance_cdf(df, 5 * 0.5, p), 6)
    expect_means(t(drawn[c(8, 7, 9), ]), c(0.6, 2, 0.5))
    expect_equal(colSums(exp(drawn[2:4, ])), rep(1, draws), tolerance = 1e-14)
  }
})

test_that("labels have their exact law for every number of components", {
  skip_where_repeated()
  # Each of four rows occurs 20,000 times. A chi-squared test compares the frequencies of its labels with the
  # probabilities. Cells with an expected count below 25 are pooled. 20,000 draws find an error of 0.03 in a probability
  # of 0.5.
  each <- 20000L
  set.seed(3)
  for (k in c(1, 2, 15, 16, 17, 33)) {
    rows <- matrix(rnorm(4 * 3, sd = 1.5), 4)
    x <- rows[rep(1:4, times = each), ]
    for (precision in c("double", "single")) {
      out <- sweep_once(x, k, seed = 100 + k, concentration = 8, precision = precision)
      for (row in 1:4) {
        joint <- out$joint[row, ]
        probability <- exp(joint - max(joint))
        probability <- probability / sum(probability)
        count <- tabulate(out$labels[seq(row, by = 4, length.out = each)], k)
        expect_true(all(count[probability < 1e-30] == 0))
        rare <- probability * each < 25
        observed <- c(count[!rare], sum(count[rare]))
        expected <- each * c(probability[!rare], sum(probability[rare]))
        if (expected[[length(expected)]] < 25) {
          # Too rare for a test by itself, so pooled with the most probable label.
          top <- which.max(expected)
          expected[[top]] <- expected[[top]] + expected[[length(expected)]]
          observed[[top]] <- observed[[top]] + observed[[length(observed)]]
          expected <- expected[-length(expected)]
          observed <- observed[-length(observed)]
        }
        if (length(expected) > 1L) {
          statistic <- sum((observed - expected)^2 / expected)
          expect_lt(statistic, stats::qchisq(false_alarm / 48, length(expected) - 1, lower.tail = FALSE))
        } else {
          expect_identical(sum(observed), each)
        }
      }
    }
  }
})

test_that("rows draw independently of each other", {
  # Two copies of one row have the same component with probability sum p_j^2, at any distance: neighbours, a tile of 64
  # rows apart, or a leaf of 2,048 rows apart.
  n <- 40960
  x <- matrix(c(0.3, -0.2), n, 2, byrow = TRUE)
  out <- sweep_once(x, 20, seed = 9, concentration = 6)
  probability <- exp(out$joint[1, ] - max(out$joint[1, ]))
  probability <- probability / sum(probability)
  together <- sum(probability^2)
  for (lag in c(1, 2, 8, 16, 64, 2048)) {
    pairs <- seq(1, n - lag, by = 1)
    pairs <- pairs[((pairs - 1) %/% lag) %% 2 == 0]
    same <- mean(out$labels[pairs] == out$labels[pairs + lag])
    # The binomial bound holds because pairs do not overlap.
    expect_lt(
      abs(same - together) / sqrt(together * (1 - together) / length(pairs)),
      stats::qnorm(1 - false_alarm / 12)
    )
  }
})

test_that("components without weight are never drawn", {
  # With a concentration of 1e-3, the weights underflow after the first few components. The rows lie where components
  # without weight would fit best.
  set.seed(8)
  x <- matrix(rnorm(2 * 30000, sd = 3), ncol = 2)
  for (precision in c("double", "single")) {
    for (k in c(2, 16, 17, 40)) {
      out <- sweep_once(x, k, seed = k, concentration = 1e-3, precision = precision)
      best <- apply(out$joint, 1, max)
      nothing <- out$joint - best < -750
      expect_true(any(nothing))
      expect_false(any(nothing[cbind(seq_len(nrow(x)), out$labels)]))
    }
  }
})

test_that("six populations are found with each of ten seeds", {
  skip_where_repeated()
  for (seed in todays(1:10)) {
    set.seed(seed)
    n <- 20000
    p <- 10
    population <- sample(6, n, replace = TRUE, prob = c(35, 25, 15, 12, 8, 5))
    centre <- matrix(rnorm(6 * p, sd = 3), 6)
    root <- replicate(6, chol(stats::rWishart(1, 3 * p, diag(p) / (3 * p))[, , 1]), simplify = FALSE)
    x <- matrix(0, n, p)
    for (j in 1:6) {
      rows <- which(population == j)
      x[rows, ] <- matrix(rnorm(length(rows) * p), ncol = p) %*% root[[j]] + rep(centre[j, ], each = length(rows))
    }
    fit <- dp_mixture(x, components = 32, iter = 60, seed = seed, backend = "cpu", threads = 2)
    expect_gte(adjusted_rand(population, predict(fit, type = "class", backend = "cpu", threads = 2)), 0.99)
  }
})

# A fit of difficult data must be valid: finite draws, positive definite covariances, weights that sum to one.
expect_sound <- function(x, components = 6, iter = 30, ...) {
  fit <- fit_mixture(x, components = components, iter = iter, seed = 1, backend = "cpu", threads = 2,
    keep = c("weights", "means", "covariances", "labels"), ...
  )
  draws <- fit$draws
  expect_true(all(vapply(draws, function(values) all(is.finite(values)), NA)))
  expect_true(all(is.finite(fit$log_likelihood)))
  expect_true(all(is.finite(fit$log_posterior)))
  expect_equal(colSums(draws$weights[, , 1, drop = FALSE]), matrix(1, iter - floor(iter / 2), 1))
  expect_true(all(draws$labels >= 1 & draws$labels <= components))
  p <- ncol(x)
  unit <- fit$scale
  covariances <- matrix(draws$covariances, p * p)
  smallest <- apply(covariances, 2, function(s) {
    min(eigen(matrix(s, p) / outer(unit, unit), symmetric = TRUE, only.values = TRUE)$values)
  })
  expect_gt(min(smallest), 0)
  expect_identical(sum(fit$sizes), nrow(x))
  fit
}

test_that("constant, duplicated and dependent columns give valid fits", {
  set.seed(2)
  x <- matrix(rnorm(300), ncol = 2)
  expect_sound(cbind(x, 7))
  expect_sound(cbind(x, x))
  expect_sound(cbind(x, rowSums(x), 1e-9 * x[, 1]))
  expect_sound(matrix(3, 50, 2))
  expect_sound(matrix(0, 50, 1))
  expect_sound(cbind(x, c(1, rep(0, 149))))
  expect_sound(x[rep(1:3, each = 50), ])
})

test_that("few rows give valid fits", {
  set.seed(2)
  expect_sound(matrix(rnorm(4), 2))
  expect_sound(matrix(1, 2, 1))
  expect_sound(matrix(rnorm(20), 2), components = 40, prior = dp_prior(scale = 0.25))
  expect_sound(matrix(rnorm(21), 7), components = 50)
  expect_sound(matrix(rnorm(6), 2), components = 1, prior = dp_prior(scale = 0.25))
  expect_sound(matrix(1:20, 10), components = 3)
})

test_that("zero-inflated, rounded, binary and count channels give valid fits under the default prior", {
  skip_where_repeated()
  for (seed in 1:3) {
    set.seed(seed)
    n <- 1500
    channels <- cbind(
      half_zero = ifelse(runif(n) < 0.6, 0, rexp(n, 0.02)), counts = rpois(n, 2), rounded = round(rnorm(n), 1),
      binary = rbinom(n, 1, 0.3)
    )
    for (columns in list(1, 2, 3, 4, 1:4)) {
      fit <- expect_sound(channels[, columns, drop = FALSE], components = 12, iter = 100)
      # No learned value diverges, in units of the data's spread.
      expect_lt(max(fit$draws$prior_mean_scale), 1e3)
      scale <- apply(fit$draws$prior_scale, 3L, function(s) max(diag(as.matrix(s)) / fit$scale^2))
      expect_lt(max(scale), 100)
      # A component of many cells is at least as wide as the floor, apart from the spread of its draws.
      deviation <- apply(fit$draws$covariances, 3:5,
        function(s) min(sqrt(diag(as.matrix(s)) / fit$prior$floor) / fit$scale)
      )
      expect_gt(min(deviation[fit$draws$weights > 0.1]), 0.7)
    }
  }
})

test_that("populations that overlap in many markers are not joined into one by the start", {
  skip_where_repeated()
  # k-means finds clusters there that mix several populations.
  set.seed(32)
  p <- 20
  population <- sample.int(12, 1500, TRUE, prob = 2^-(1:12 / 3))
  centre <- matrix(rnorm(12 * p, sd = 0.5), 12)
  x <- matrix(0, 1500, p)
  for (j in 1:12) {
    rows <- which(population == j)
    root <- chol(stats::rWishart(1, 2 * p, diag(p) / (2 * p))[, , 1])
    x[rows, ] <- matrix(rnorm(length(rows) * p), ncol = p) %*% root + rep(centre[j, ], each = length(rows))
  }
  fit <- dp_mixture(x, components = 32, iter = 120, seed = 1, backend = "cpu", threads = 2)
  expect_gt(adjusted_rand(population, predict(fit, backend = "cpu", threads = 2)), 0.5)
})

test_that("far outliers give valid fits", {
  set.seed(2)
  x <- matrix(rnorm(400), ncol = 2)
  for (far in c(1e3, 1e10, 1e100, 1e149)) {
    outlying <- x
    outlying[7, 2] <- far
    expect_sound(outlying)
    expect_sound(outlying, precision = "single")
    outlying[8, ] <- -far
    expect_sound(outlying)
  }
  # A cell far from all components goes to the nearest one.
  fit <- expect_sound(x)
  far <- rbind(c(1e100, 0), c(0, -1e149), c(-1e12, 1e12))
  expect_true(all(is.finite(predict(fit, far, type = "class", backend = "cpu", threads = 2))))
  expect_equal(rowSums(predict(fit, far, type = "prob", backend = "cpu", threads = 2)), c(1, 1, 1))
})

test_that("the units of the data do not matter", {
  skip_where_repeated()
  set.seed(2)
  x <- matrix(rnorm(600), ncol = 2)
  fit <- expect_sound(x)
  # Powers of two are exact, so the fits must be equal up to the units.
  for (power in c(-490, -60, 60, 490)) {
    scaled <- expect_sound(x * 2^power)
    expect_identical(scaled$draws$labels, fit$draws$labels)
    expect_identical(scaled$draws$means, fit$draws$means * 2^power)
    expect_identical(scaled$draws$covariances, fit$draws$covariances * 2^(2 * power))
    expect_equal(scaled$log_likelihood, fit$log_likelihood - 600 * power * log(2))
  }
  expect_sound(cbind(1e-150 * x[, 1], 1e149 * x[, 2]))
  expect_sound(x + 1e8)
  # Squares of smaller differences underflow.
  expect_error(dp_mixture(x * 1e-165),
    "column 1 .* differ by .* at most, too little to be squared", class = "warpbayes_error_input"
  )
})

# Each component's weight times its factor of the floor, as in the likelihood that the sampler reports.
floored_weights <- function(fit, weights, covariances) {
  floor <- fit$prior$floor * fit$scale^2
  weights * apply(covariances, 3L, function(s) exp(-sum(diag(solve(s)) * floor) / 2))
}

# The log density of the parameters in draw number `draw` of chain 1, in the data's units, by the formulas of
# dp_prior().
reference_log_prior <- function(fit, draw, m, gamma, nu, phi, concentration) {
  draws <- fit$draws
  p <- length(m)
  k <- fit$components
  log_det <- function(s) as.numeric(determinant(as.matrix(s))$modulus)
  log_gamma_p <- function(x) p * (p - 1) / 4 * log(pi) + sum(lgamma(x + (1 - 1:p) / 2))
  total <- 0
  if ("mean" %in% fit$prior$learn) {
    center <- m
    m <- draws$prior_mean[, draw, 1]
    total <- total + sum(stats::dnorm(m, center, fit$scale, log = TRUE))
  }
  if ("mean_scale" %in% fit$prior$learn) {
    b <- gamma
    gamma <- draws$prior_mean_scale[draw, 1]
    total <- total + 2 * log(b) - 3 * log(gamma) - b / gamma
  }
  if ("df" %in% fit$prior$learn) nu <- draws$prior_df[draw, 1]
  if ("scale" %in% fit$prior$learn) {
    q <- p + 2
    r <- phi / q
    phi <- draws$prior_scale[, , draw, 1]
    total <- total + (q - p - 1) / 2 * log_det(phi) - sum(diag(solve(r, phi))) / 2 -
      q * p / 2 * log(2) - q / 2 * log_det(r) - log_gamma_p(q / 2)
  }
  df <- nu + p + 1
  constant <- df / 2 * log_det(nu * phi) - df * p / 2 * log(2) - log_gamma_p(df / 2)
  for (j in seq_len(k)) {
    s <- draws$covariances[, , j, draw, 1]
    y <- draws$means[j, , draw, 1] - m
    total <- total + constant - (df + p + 1) / 2 * log_det(s) - nu * sum(diag(phi %*% solve(s))) / 2 -
      p / 2 * log(2 * pi * gamma) - log_det(s) / 2 - sum(y * solve(s, y)) / (2 * gamma)
  }
  alpha <- draws$concentration[draw, 1]
  behind <- rev(cumsum(rev(draws$weights[, draw, 1])))
  log_1mv <- log(behind[-1] / behind[-k])
  total + stats::dgamma(alpha, concentration[[1]], concentration[[2]], log = TRUE) +
    sum(log(alpha) + (alpha - 1) * log_1mv)
}

test_that("log likelihood, log posterior and density agree with the draws", {
  set.seed(6)
  x <- cbind(a = 10 * rnorm(80), b = rnorm(80, sd = 0.1))
  m <- c(2, 0.1)
  phi <- matrix(c(40, 0.1, 0.1, 0.01), 2)
  for (learn in list(character(), c("mean", "mean_scale", "scale", "df"), "mean", c("scale", "df"))) {
    prior <- dp_prior(mean = m, mean_scale = 3, df = 4, scale = phi, concentration = c(2, 3), floor = c(2, 0.03),
      learn = learn
    )
    fit <- dp_mixture(x, components = 4, prior = prior, iter = 20, warmup = 0, seed = 6, backend = "cpu", threads = 2)
    for (draw in 1:20) {
      weights <- fit$draws$weights[, draw, 1]
      means <- fit$draws$means[, , draw, 1]
      covariances <- fit$draws$covariances[, , , draw, 1]
      log_likelihood <- sum(reference_log_density(x, floored_weights(fit, weights, covariances), means, covariances))
      expect_equal(fit$log_likelihood[draw, 1], log_likelihood, tolerance = 1e-10)
      expect_equal(
        fit$probe_density[draw, 1, ], reference_log_density(fit$probe, weights, means, covariances),
        tolerance = 1e-10, ignore_attr = TRUE
      )
      expect_equal(
        fit$log_posterior[draw, 1], log_likelihood + reference_log_prior(fit, draw, m, 3, 4, phi, c(2, 3)),
        tolerance = 1e-8
      )
    }
  }
})
