# Convergence of chains: rank-normalised split Rhat and bulk effective sample size
# (Vehtari, Gelman, Simpson, Carpenter & Buerkner 2021, Bayesian Analysis 16, 667-718), a
# table of them, and a verdict in sentences. A topic gives the quantities, a named list of
# matrices of sweeps x chains, and a function from their names to words.


# If Rhat is above this, the chains have not converged. With fewer effective draws per
# chain than this, the estimates of Rhat and of quantiles are not reliable.
rhat_limit <- 1.05
ess_wanted <- 100
# From fewer sweeps autocorrelations cannot be estimated.
fewest_sweeps <- 12

# Halves of every chain as chains of their own. draws: sweeps x chains.
split_chains <- function(draws) {
  half <- nrow(draws) %/% 2L
  cbind(draws[seq_len(half), , drop = FALSE], draws[nrow(draws) - half + seq_len(half), , drop = FALSE])
}

normal_scores <- function(draws) {
  scores <- stats::qnorm((rank(draws) - 3 / 8) / (length(draws) + 1 / 4))
  dim(scores) <- dim(draws)
  scores
}

# Square root of the ratio of the pooled to the within-chain variance.
variance_ratio <- function(draws) {
  n <- nrow(draws)
  within <- mean(apply(draws, 2L, stats::var))
  between <- stats::var(colMeans(draws))
  sqrt((n - 1) / n + between / within)
}

# NA where the quantity never varies; Inf where it is constant in each chain but differs
# between chains.
split_rhat <- function(draws) {
  if (nrow(draws) < 4L || anyNA(draws) || any(is.infinite(draws))) {
    return(NA_real_)
  }
  halves <- split_chains(draws)
  if (all(halves == halves[[1L]])) {
    return(NA_real_)
  }
  # Folded at the median, chains differ in place if they differ in spread.
  folded <- split_chains(abs(draws - stats::median(draws)))
  place <- variance_ratio(normal_scores(halves))
  spread <- if (all(folded == folded[[1L]])) 1 else variance_ratio(normal_scores(folded))
  max(place, spread)
}

# Autocovariances of a chain with divisor n, lags 0..n-1, by one FFT padded so
# that the ends do not wrap around.
autocovariance <- function(x) {
  n <- length(x)
  padded <- stats::nextn(2L * n)
  transform <- stats::fft(c(x - mean(x), numeric(padded - n)))
  Re(stats::fft(Mod(transform)^2, inverse = TRUE))[seq_len(n)] / padded / n
}

# Geyer's (1992) initial monotone sequence on the autocorrelations of the chains
# combined.
effective_size <- function(draws) {
  n <- nrow(draws)
  if (n < 3L) {
    return(NA_real_)
  }
  covariance <- rowMeans(apply(draws, 2L, autocovariance))
  within <- covariance[[1L]] * n / (n - 1)
  pooled <- covariance[[1L]] + if (ncol(draws) > 1L) stats::var(colMeans(draws)) else 0
  correlation <- 1 - (within - covariance) / pooled
  correlation[[1L]] <- 1
  # Lags in pairs (0, 1), (2, 3), ... The last lags are left out: their estimates are sums
  # of a handful of products.
  last <- max(0L, ceiling((n - 5) / 2)) + 1L
  even <- correlation[2L * seq_len(last) - 1L]
  pairs <- even + correlation[2L * seq_len(last)]
  end <- which(pairs <= 0)
  end <- if (length(end)) end[[1L]] else last
  half_pair <- if (pairs[[end]] > 0) even[[end]] else max(even[[end]], 0)
  time <- 2 * sum(cummin(pairs[seq_len(end - 1L)])) - 1 + half_pair
  total <- n * ncol(draws)
  total / max(time, 1 / log10(total))
}

bulk_size <- function(draws) {
  if (nrow(draws) < fewest_sweeps || anyNA(draws) || any(is.infinite(draws))) {
    return(NA_real_)
  }
  halves <- split_chains(draws)
  if (all(halves == halves[[1L]])) {
    return(NA_real_)
  }
  effective_size(normal_scores(halves))
}

# One row per quantity: mean, sd, 5, 50 and 95% points, rhat, ess_bulk.
diagnose_quantities <- function(quantities) {
  rows <- lapply(quantities, function(draws) {
    points <- if (length(draws)) {
      stats::quantile(draws, c(0.05, 0.5, 0.95), names = FALSE, na.rm = TRUE)
    } else {
      rep(NA_real_, 3L)
    }
    data.frame(
      mean = if (length(draws)) mean(draws) else NA_real_,
      sd = if (length(draws) > 1L) stats::sd(draws) else NA_real_,
      q5 = points[[1L]], median = points[[2L]], q95 = points[[3L]],
      rhat = split_rhat(draws), ess_bulk = bulk_size(draws)
    )
  })
  table <- do.call(rbind, rows)
  cbind(quantity = names(rows), table, row.names = NULL)
}

# The verdict on convergence in sentences, and as `converged`: NA where it cannot be judged.
judge_convergence <- function(quantities, table, words) {
  sweeps <- nrow(quantities[[1L]])
  chains <- ncol(quantities[[1L]])
  verdict <- function(converged, ...) list(converged = converged, sentences = c(...))
  if (sweeps < fewest_sweeps) {
    return(verdict(NA, sprintf(
      "Convergence cannot be judged: %s after the warmup.",
      if (sweeps <= 0L) "there is no sweep" else if (sweeps == 1L) "there is one sweep" else sprintf("there are %d sweeps", sweeps)
    )))
  }
  high <- table[!is.na(table$rhat) & table$rhat > rhat_limit, , drop = FALSE]
  if (nrow(high)) {
    high <- high[order(-high$rhat), , drop = FALSE]
    shown <- utils::head(high, 3L)
    list_of <- paste0(words(shown$quantity), " (", format_rhat(shown$rhat), ")", collapse = ", ")
    more <- nrow(high) - nrow(shown)
    return(verdict(FALSE,
      sprintf("Not converged: Rhat is above %s for %s%s.", format(rhat_limit), list_of,
        if (more) sprintf(" and %d more", more) else ""),
      outlying_chain(quantities, high$quantity[[1L]], words),
      drifting(quantities, high$quantity[[1L]], words),
      "Estimates differ between chains or parts of them; continue(fit, iter) runs on from here."
    ))
  }
  low <- table[!is.na(table$ess_bulk) & table$ess_bulk < ess_wanted * chains, , drop = FALSE]
  if (nrow(low)) {
    worst <- low[which.min(low$ess_bulk), ]
    return(verdict(FALSE, sprintf(
      "Too few draws to be sure: %s has an effective sample size of %.0f; %.0f (100 per chain) are wanted. continue(fit, iter) adds more.",
      words(worst$quantity), worst$ess_bulk, ess_wanted * chains
    )))
  }
  if (all(is.na(table$rhat))) {
    return(verdict(NA, "Convergence cannot be judged: no quantity varies."))
  }
  worst <- which.max(table$rhat)
  verdict(TRUE, sprintf(
    "No sign against convergence: Rhat is at most %s (%s), the effective sample size at least %.0f.",
    format_rhat(table$rhat[[worst]]), words(table$quantity[[worst]]), min(table$ess_bulk, na.rm = TRUE)
  ), if (chains == 1L) "With one chain, its halves are compared; chains = 4 from different starts would say more.")
}

format_rhat <- function(value) {
  ifelse(is.finite(value), formatC(value, format = "f", digits = 2), "infinite")
}

# With three or more chains: the one that stays away from all others, if any.
outlying_chain <- function(quantities, quantity, words) {
  draws <- quantities[[quantity]]
  if (ncol(draws) < 3L) {
    return(NULL)
  }
  place <- apply(draws, 2L, stats::median)
  distance <- abs(place - stats::median(place))
  apart <- which.max(distance)
  spread <- stats::median(apply(draws, 2L, stats::mad))
  if (distance[[apart]] < 2 * spread || max(distance[-apart]) > distance[[apart]] / 3) {
    return(NULL)
  }
  sprintf("Chain %d stands apart: its median of %s is %s, the others' are between %s and %s.", apart,
    words(quantity), format_to_spread(place[[apart]], spread),
    format_to_spread(min(place[-apart]), spread), format_to_spread(max(place[-apart]), spread)
  )
}

# Says when the second half of the draws lies above or below the first in every chain.
drifting <- function(quantities, quantity, words) {
  draws <- quantities[[quantity]]
  half <- nrow(draws) %/% 2L
  change <- colMeans(draws[half + seq_len(half), , drop = FALSE]) - colMeans(draws[seq_len(half), , drop = FALSE])
  spread <- stats::median(apply(draws, 2L, stats::sd))
  if (spread == 0 || !all(abs(change) > spread / 2) || abs(sum(sign(change))) < ncol(draws)) {
    return(NULL)
  }
  quantity <- words(quantity)
  sprintf("%s%s is still %s: a longer warmup is needed.", toupper(substr(quantity, 1L, 1L)),
    substring(quantity, 2L), if (change[[1L]] > 0) "rising" else "falling")
}
