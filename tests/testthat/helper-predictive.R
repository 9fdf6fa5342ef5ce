# Predictive resampling in plain R: the updates of Fong, Holmes & Walker (2023).

clip_probability <- function(u) pmin(pmax(u, 1e-6), 1 - 1e-6)

# u and p: points x d, the distribution functions given the preceding coordinates and the densities of the leading
# coordinates. z: normal scores of the observation. a: the observation's weight at each point.
reference_update <- function(u, p, z, a, rho) {
  product <- 1
  for (j in seq_along(z)) {
    w <- qnorm(clip_probability(u[, j]))
    residual <- (w - rho[[j]] * z[[j]]) / sqrt(1 - rho[[j]]^2)
    before <- product
    u[, j] <- ((1 - a) * u[, j] + a * before * pnorm(residual)) / (1 - a + a * before)
    product <- before * exp((w^2 - residual^2) / 2) / sqrt(1 - rho[[j]]^2)
    p[, j] <- p[, j] * (1 - a + a * product)
  }
  list(u = u, p = p)
}

reference_alpha <- function(i) (2 - 1 / i) / (i + 1)

# The weight of an observation with covariates x_new at points x.
reference_weight <- function(alpha, x, x_new, rho_x) {
  if (ncol(x) == 0L) return(rep(alpha, nrow(x)))
  log_k <- rowSums(vapply(seq_len(ncol(x)), function(c) {
    r <- rho_x[[c]]
    -0.5 * log(1 - r^2) - (r^2 * (x[, c]^2 + x_new[[c]]^2) - 2 * r * x[, c] * x_new[[c]]) / (2 * (1 - r^2))
  }, numeric(nrow(x))) |> matrix(nrow(x)))
  k <- exp(log_k)
  alpha * k / (1 - alpha + alpha * k)
}

# y: n x d standardised data in order; x: n x q. Returns the normal scores of the observations, the log density that was
# predicted for each, and u and p at the points after the last observation.
reference_copula <- function(y, rho, points = y, x = matrix(0, nrow(y), 0), rho_x = numeric(),
                             points_x = matrix(0, nrow(points), 0)) {
  n <- nrow(y)
  start <- function(y) list(u = pnorm(y), p = t(apply(dnorm(y), 1, cumprod)) |> matrix(nrow(y)))
  own <- start(y)
  at <- start(points)
  score <- numeric(n)
  z <- y
  for (i in seq_len(n)) {
    score[[i]] <- log(own$p[i, ncol(y)])
    z[i, ] <- qnorm(clip_probability(own$u[i, ]))
    own <- reference_update(own$u, own$p, z[i, ], reference_weight(reference_alpha(i), x, x[i, ], rho_x), rho)
    at <- reference_update(at$u, at$p, z[i, ], reference_weight(reference_alpha(i), points_x, x[i, ], rho_x), rho)
  }
  list(score = score, z = z, u = at$u, p = at$p)
}

# For binary responses y: probabilities of 1.
reference_binary <- function(y, x, rho, rho_x, points_x = x, start = 0.5, start_at = start) {
  own <- rep_len(start, length(y))
  at <- rep_len(start_at, nrow(points_x))
  score <- numeric(length(y))
  update <- function(q, r, y, a) {
    r <- clip_probability(r)
    ratio <- if (y == 1) pmin(q, r) / (q * r) else (q - pmin(q, r)) / (q * (1 - r))
    q * (1 - a + a * (1 - rho + rho * ratio))
  }
  for (i in seq_along(y)) {
    r <- own[[i]]
    score[[i]] <- log(if (y[[i]] == 1) r else 1 - r)
    alpha <- reference_alpha(i)
    own <- update(own, r, y[[i]], reference_weight(alpha, x, x[i, ], rho_x))
    at <- update(at, r, y[[i]], reference_weight(alpha, points_x, x[i, ], rho_x))
  }
  list(score = score, q = at)
}

standardised <- function(y) (y - mean(y)) / sqrt(mean((y - mean(y))^2))

# The uniforms of steps 0..steps - 1 of a resample for one purpose. `word`: the first or the second uniform of a block.
reference_step_uniforms <- function(seed, purpose, resample, steps, block = 0, word = 1) {
  bits <- reference_philox(key_words(.Call(C_chain_key, seed, 0L)), block, resample, purpose * 65536,
    seq_len(steps) - 1
  )
  (bits[, 2 * word] * 2^20 + bits[, 2 * word - 1] %/% 2^12 + 0.5) / 2^52
}

# Compares the mean of draws with its exact value by a two-sided test with a false-alarm rate of 1e-6.
expect_mean <- function(draws, value) {
  se <- stats::sd(draws) / sqrt(length(draws))
  expect_lt(abs(mean(draws) - value) / se, 4.9)
}

# Probabilities without a random number, in an order that tells nothing.
sample_of <- function(n) ppoints(n)[order(sin(37 * seq_len(n)))]

# What the verdict on a fit says of one part: the sentences whose codes begin with its name. NULL if it says nothing.
said_of <- function(fit, part) {
  reasons <- verdict(fit)$reasons
  words <- reasons$words[startsWith(reasons$code, part)]
  if (length(words)) paste(words, collapse = " ")
}
