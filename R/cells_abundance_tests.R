# The effects on the share of each type, and its absolute change: that of the log share beyond a common shift.

# The table of effects, and a verdict. `share`: each type's mean share. `absolute`: whether absolute changes are tested.
compare_effects <- function(fitted, level, chains, share, absolute) {
  shape <- dim(fitted$effects)
  kept <- shape[[1L]]
  types <- seq_len(shape[[3L]])
  table <- (seq_len(shape[[2L]]) - 1L) %/% chains + 1L
  own <- lapply(types, function(t) {
    there <- fitted$present[t, table]
    which(if (any(there)) there else !there)
  })
  tables_of <- lapply(own, function(own) table[own])
  names <- dimnames(fitted$effects)
  no_effect <- stats::setNames(numeric(shape[[4L]]), names[[4L]])
  shift <- matrix(0, shape[[4L]], 3L, dimnames = list(names[[4L]], c("estimate", "lower", "upper")))
  deviation <- vapply(types, function(t) stats::median(fitted$deviation[, own[[t]], t]), 0)
  ends <- c(0.5, interval_ends(level))
  effects <- do.call(rbind, lapply(seq_len(shape[[4L]]), function(j) {
    each_type <- function(of, use) lapply(types, function(t) use(matrix(of[, own[[t]], t, j], kept)))
    chains_of <- each_type(fitted$effects, identity)
    points <- vapply(chains_of, stats::quantile, numeric(3), ends, names = FALSE)
    unit <- fitted$unit[[j]]
    tests <- test_changes(simplify2array(each_type(fitted$mean, spaced_values)),
      simplify2array(each_type(fitted$variance, spaced_values)), abundance_prior$coefficient * unit, 1 - share,
      if (absolute) abundance_prior$shift * unit else 0)
    no_effect[[j]] <<- tests$share
    shift[j, ] <<- tests$shift(ends)
    changes <- vapply(types, function(t) {
      # Over two deviations of the predictor around the share.
      half <- spaced_values(chains_of[[t]]) / unit
      side <- function(by) stats::plogis(stats::qlogis(share[[t]]) + by, log.p = TRUE)
      change <- (side(half) - side(-half)) * unit / 2
      stats::quantile(outer(change, tests$shift((seq_len(20) - 0.5) / 20, t), "-"), ends, names = FALSE)
    }, numeric(3))
    # Benjamini and Hochberg's rate times the share of unchanged types, if the smallest is below .9 of the limit.
    rate <- stats::p.adjust(tests$p, "BH")
    data.frame(
      type = factor(names[[3L]], names[[3L]]), effect = names[[4L]][[j]],
      estimate = points[1L, ], lower = points[2L, ], upper = points[3L, ],
      above = vapply(chains_of, function(draws) mean(draws > 0), 0),
      change = changes[1L, ], change_lower = changes[2L, ], change_upper = changes[3L, ],
      null = tests$null, lfsr = tests$lfsr, p = tests$p, fdr = pmax(rate * tests$share, min(1, rate / 0.9)),
      deviation = deviation, rhat = mapply(rhat_within, chains_of, tables_of),
      ess = mapply(size_within, chains_of, tables_of)
    )
  }))
  others <- lapply(types, function(t) log(matrix(fitted$deviation[, own[[t]], t], kept)))
  rhat <- c(effects$rhat, mapply(rhat_within, others, tables_of))
  list(effects = effects, no_effect = no_effect, shift = shift,
    rhat = if (all(is.finite(rhat))) max(rhat) else NA_real_,
    converged = all(is.finite(rhat) & rhat <= rhat_limit) && all(effects$ess >= ess_wanted))
}

# Chains of different draws of counts have different laws, so the variance between chains is that within `table`.
rhat_within <- function(draws, table) {
  scores <- split_chains(normal_scores(draws))
  means <- colMeans(scores)
  table <- c(table, table)
  freedom <- length(means) - length(unique(table))
  between <- sum((means - stats::ave(means, table))^2) / freedom
  sqrt((nrow(scores) - 1) / nrow(scores) + between / mean(apply(scores, 2L, stats::var)))
}

size_within <- function(draws, table) {
  sum(vapply(split(seq_along(table), table), function(own) bulk_size(draws[, own, drop = FALSE]), 0))
}

# Tests of the effects on the log odds, which are normal with these means and variances (draws x types) given all else,
# under a normal prior with standard deviation `prior`. `rest`: one minus the share of each type; an effect times `rest`
# is a change of log share. `shift_scale`: of the Cauchy prior of the common shift; 0: there is none. Returns
#   p      the two-sided tail probability of no change beyond the shift, which the other types tell;
#   null, lfsr  the probability of no change, and of no change or one of the other sign;
#   share  the posterior mean of the share of types without a change;
#   shift  a function: quantiles of the shift, and of what all types but `type` tell of it.
# On a grid: the share, with a beta law, and delta, the standard deviation of changes, uniform on the log scale.
test_changes <- function(mean, variance, prior, rest, shift_scale) {
  types <- ncol(mean)
  scaled <- matrix(rest, nrow(mean), types, byrow = TRUE)
  mean <- mean * scaled
  variance <- variance * scaled^2
  wide <- (prior * scaled)^2
  # The likelihood is the posterior density over the prior density: exp(height) times a normal density.
  few <- seq(1L, nrow(mean), by = 4L)
  open <- pmax(wide - variance, 1e-9 * wide)[few, , drop = FALSE]
  ratio <- wide[few, , drop = FALSE] / open
  centre <- mean[few, , drop = FALSE] * ratio
  spread <- variance[few, , drop = FALSE] * ratio
  height <- 0.5 * mean[few, , drop = FALSE]^2 / open + log(ratio) + 0.5 * log(open)
  at <- shift_points(mean, variance, shift_scale)
  ends <- log(abundance_prior$change)
  delta <- prior * exp(seq(ends[[1L]], ends[[2L]], length.out = 5L))
  # types x points of the shift x (no change, or each delta): log density, and the probability that a change is up.
  density <- up <- array(0, c(types, length(at$value), length(delta) + 1L))
  for (i in seq_along(at$value)) {
    apart <- centre - at$value[[i]]
    for (j in seq_len(length(delta) + 1L)) {
      extra <- if (j > 1L) delta[[j - 1L]]^2 else 0
      one <- height - 0.5 * apart^2 / (spread + extra) - 0.5 * log(spread + extra)
      density[, i, j] <- log_mean(one)
      if (j == 1L) next
      towards <- apart * sqrt(extra / (spread * (spread + extra)))
      up[, i, j] <- exp(log_mean(one + stats::pnorm(towards, log.p = TRUE)) - density[, i, j])
    }
  }
  shares <- seq(0.02, 0.98, by = 0.08)
  grid <- expand.grid(shift = seq_along(at$value), share = seq_along(shares), delta = seq_along(delta))
  zero <- matrix(density[, , 1L], types)[, grid$shift, drop = FALSE] + rep(log(shares)[grid$share], each = types)
  with <- function(of) matrix(of, types)[, grid$shift + length(at$value) * grid$delta, drop = FALSE]
  other <- with(density) + rep(log1p(-shares)[grid$share], each = types)
  high <- pmax(zero, other)
  total <- high + log(exp(zero - high) + exp(other - high))
  log_share <- stats::dbeta(shares, abundance_prior$unchanged[[1L]], abundance_prior$unchanged[[2L]], log = TRUE)
  known <- at$log_prior[grid$shift] + colSums(total) + log_share[grid$share]
  weight <- normalised(known)
  null <- drop(exp(zero - total) %*% weight)
  positive <- drop((exp(other - total) * with(up)) %*% weight)
  of_shift <- drop(rowsum(weight, grid$shift))
  # What the other types tell of the shift: a type must not be its own reference.
  others <- vapply(seq_len(types), function(t) drop(rowsum(normalised(known - total[t, ]), grid$shift)), of_shift)
  others <- matrix(others, ncol = types)
  above <- vapply(seq_len(types), function(t) {
    likely <- which(others[, t] > 1e-5)
    higher <- vapply(at$value[likely], function(shift) mean(stats::pnorm((mean[, t] - shift) / sqrt(variance[, t]))), 0)
    sum(others[likely, t] * higher) / sum(others[likely, t])
  }, 0)
  list(p = pmin(1, 2 * pmin(above, 1 - above)), null = null, lfsr = 1 - pmin(1, pmax(positive, 1 - null - positive)),
    share = sum(weight * shares[grid$share]), shift = function(p, type) {
      below <- cumsum(if (missing(type)) of_shift else others[, type]) * (1 - 1e-12)
      at$value[pmin(length(at$value), findInterval(p, below) + 1L)]
    })
}

# Where the common shift may be, with log prior probabilities: near the changes of types, and dense where many agree.
shift_points <- function(mean, variance, shift_scale, most = 60L) {
  if (!(shift_scale > 0)) return(list(value = 0, log_prior = 0))
  middle <- colMeans(mean)
  width <- sqrt(colMeans(variance) + apply(mean, 2L, stats::var))
  value <- c(outer(width, c(-2, -1.2, -0.6, -0.2, 0.2, 0.6, 1.2, 2)) + middle, shift_scale * seq(-2, 2, by = 0.5))
  value <- sort(unique(value[abs(value) < 50 * shift_scale]))
  value <- value[unique(round(seq(1, length(value), length.out = min(length(value), most))))]
  gap <- diff(value)
  list(value = value, log_prior = log((c(gap, 0) + c(0, gap)) / 2) - log1p((value / shift_scale)^2))
}

normalised <- function(log_weight) {
  weight <- exp(log_weight - max(log_weight))
  weight / sum(weight)
}

spaced_values <- function(values) values[round(seq(1, length(values), length.out = 1000))]

log_mean <- function(values) {
  most <- values[cbind(max.col(t(values), "first"), seq_len(ncol(values)))]
  most + log(colMeans(exp(values - rep(most, each = nrow(values)))))
}
