# Judges the convergence of chains by rank-normalised split Rhat and bulk effective sample size (Vehtari et al. 2021). A
# topic gives the quantities, a named list of matrices of sweeps x chains, and a function from their names to words.

#' How convergence is judged
#'
#' Each quantity has the rank-normalised split \eqn{\hat R} and the bulk effective sample size of Vehtari et al. (2021).
#'
#' @section The verdict:
#' "Usable": converged, with enough effective draws. "With reservations": later sentences restrict what the result says.
#' "Not yet": not converged. "Cannot tell": an effective sample size is below 20 per chain. Below 100 per chain,
#' intervals are called rough. A fit has not converged if an \eqn{\hat R} exceeds 1.05 and chance does not explain it,
#' or if several chains drift in the same direction and \eqn{\hat R} exceeds 1.5. Chance is judged by an analysis of
#' variance of normal scores, of halves of chains against five batches of sweeps in each, at the level \eqn{0.03 / (2
#' q)} for \eqn{q} quantities.
#'
#' @references Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. and Buerkner, P.-C. (2021). Rank-normalization,
#'   folding, and localization: an improved \eqn{\hat R} for assessing convergence of MCMC. *Bayesian Analysis* **16**,
#'   667-718.
#' @seealso [continue()] for more sweeps, [drop_warmup()] for a longer warm-up
#' @examples
#' x <- cbind(a = c(rnorm(300), rnorm(200, 4)), b = rnorm(500))
#' fit <- dp_mixture(x, components = 10, iter = 200, chains = 2, seed = 1, threads = 2)
#' summary(fit)$diagnostics
#' @name convergence
NULL

# Chains have not converged if an Rhat is above rhat_limit and the test of chance has a p-value below false_alarms.
rhat_limit <- 1.05
false_alarms <- 0.03
# Effective draws per chain: with fewer than these, there is no verdict, and intervals are rough.
ess_needed <- 20
ess_wanted <- 100
# Autocorrelations cannot be estimated from fewer sweeps.
fewest_sweeps <- 12

# Draws of several quantities are an array, sweeps x chains x quantities: faster than one by one.

quantities_in <- function(draws) if (length(dim(draws)) == 3L) dim(draws)[[3L]] else 1L

split_chains <- function(draws) {
  size <- dim(draws)
  half <- size[[1L]] %/% 2L
  parts <- array(draws, c(size[1:2], quantities_in(draws)))
  last <- size[[1L]] - half + seq_len(half)
  halves <- array(parts[0L], c(half, 2L * size[[2L]], dim(parts)[[3L]]))
  halves[, seq_len(size[[2L]]), ] <- parts[seq_len(half), , ]
  halves[, size[[2L]] + seq_len(size[[2L]]), ] <- parts[last, , ]
  if (length(size) == 2L) dim(halves) <- dim(halves)[1:2]
  halves
}

is_constant <- function(draws) {
  values <- matrix(draws, ncol = quantities_in(draws))
  colSums(values != rep(values[1L, ], each = nrow(values))) == 0
}

normal_scores <- function(draws) {
  count <- quantities_in(draws)
  each <- length(draws) / count
  order <- if (count == 1L) order(draws, method = "radix") else order(rep(seq_len(count), each = each), draws,
    method = "radix")
  score <- function(rank) stats::qnorm((rank - 3 / 8) / (each + 1 / 4))
  sorted <- draws[order]
  is_tied <- sorted[-1L] == sorted[-length(sorted)]
  is_tied[each * seq_len(count - 1L)] <- FALSE
  scores <- numeric(length(draws))
  if (any(is_tied)) {
    # Draws that are equal share the mean of their ranks.
    is_first <- c(TRUE, !is_tied)
    first <- which(is_first)
    last <- c(first[-1L] - 1, length(sorted))
    twice <- first + last - 2 * each * ((first - 1) %/% each)
    scores[order] <- score(seq_len(2 * each) / 2)[twice][cumsum(is_first)]
  } else {
    scores[order] <- rep(score(seq_len(each)), count)
  }
  dim(scores) <- dim(draws)
  scores
}

# Variances of columns. The shift makes those of constant columns exactly 0.
column_variances <- function(x) {
  x <- x - rep(x[1L, ], each = nrow(x))
  colSums((x - rep(colMeans(x), each = nrow(x)))^2) / (nrow(x) - 1)
}

variance_ratio <- function(draws) {
  n <- dim(draws)[[1L]]
  columns <- matrix(draws, n)
  of_chains <- function(values) matrix(values, dim(draws)[[2L]])
  within <- colMeans(of_chains(column_variances(columns)))
  sqrt((n - 1) / n + column_variances(of_chains(colMeans(columns))) / within)
}

# Inf if the quantity is constant in each chain but differs between chains. `middle`: the medians.
rhat_of_scores <- function(draws, scores, middle) {
  # Chains that differ in spread differ in location when they are folded at the median.
  folded <- split_chains(abs(draws - rep(middle, each = length(draws) / length(middle))))
  spread <- ifelse(is_constant(folded), 1, variance_ratio(normal_scores(folded)))
  pmax(variance_ratio(scores), spread)
}

# Autocovariances, averaged over the chains: lags x quantities, by padded FFTs of two chains each.
autocovariances <- function(draws) {
  n <- dim(draws)[[1L]]
  chains <- dim(draws)[[2L]]
  columns <- matrix(draws, n)
  columns <- columns - rep(colMeans(columns), each = n)
  padded <- stats::nextn(2L * n)
  # The real part of the inverse transform has what is even in the power: the sum of the two chains' powers.
  power <- 0
  for (chain in seq(1L, chains, by = 2L)) {
    own <- seq(chain, ncol(columns), by = chains)
    both <- matrix(0i, padded, length(own))
    both[seq_len(n), ] <- complex(real = columns[, own], imaginary = if (chain < chains) columns[, own + 1L] else 0)
    power <- power + Mod(stats::mvfft(both))^2
  }
  Re(stats::mvfft(power, inverse = TRUE))[seq_len(n), , drop = FALSE] / padded / n / chains
}

# Geyer's (1992) initial monotone sequence on the autocorrelations of all chains combined.
effective_size <- function(draws) {
  n <- nrow(draws)
  chains <- ncol(draws)
  if (n < 3L) return(rep(NA_real_, quantities_in(draws)))
  covariance <- autocovariances(draws)
  within <- covariance[1L, ] * n / (n - 1)
  means <- matrix(colMeans(draws), chains)
  pooled <- covariance[1L, ] + if (chains > 1L) column_variances(means) else 0
  total <- n * chains
  # Lags in pairs (0, 1), (2, 3), ... The last lags are left out, because their estimates are sums of few products.
  last <- max(0L, ceiling((n - 5) / 2)) + 1L
  odd <- 2L * seq_len(last)
  vapply(seq_along(within), function(i) {
    correlation <- 1 - (within[[i]] - covariance[, i]) / pooled[[i]]
    correlation[[1L]] <- 1
    even <- correlation[odd - 1L]
    pairs <- even + correlation[odd]
    end <- which(pairs <= 0)
    end <- if (length(end)) end[[1L]] else last
    half_pair <- if (pairs[[end]] > 0) even[[end]] else max(even[[end]], 0)
    time <- 2 * sum(cummin(pairs[seq_len(end - 1L)])) - 1 + half_pair
    total / max(time, 1 / log10(total))
  }, 0)
}

# Of one quantity, as diagnose_draws() has them of several.
split_rhat <- function(draws) diagnose_draws(array(draws, c(dim(draws), 1L)), FALSE)[[1L, "rhat"]]

bulk_size <- function(draws) diagnose_draws(array(draws, c(dim(draws), 1L)), FALSE)[[1L, "ess_bulk"]]

# Batches of half a chain, whose means show how much the means of parts vary by chance.
half_batches <- 5L

# The number of sweeps that are worth one independent draw, at least 1. It does not grow if chains differ.
correlation_time <- function(draws) {
  n <- nrow(draws)
  covariance <- autocovariances(draws)[, 1L]
  if (covariance[[1L]] <= 0) return(1)
  # Geyer's initial monotone sequence.
  time_of <- function(covariance) {
    correlation <- covariance / covariance[[1L]]
    even <- seq(1L, by = 2L, length.out = n %/% 2L)
    pairs <- correlation[even] + correlation[even + 1L]
    positive <- cumprod(pairs > 0) == 1
    max(1, 2 * sum(cummin(pairs[positive])) - 1)
  }
  time <- time_of(covariance)
  # Autocovariances around a chain's own mean are too small by the variance of that mean.
  for (correction in 1:2) time <- time_of(covariance + time * covariance[[1L]] / n)
  time
}

# Autocorrelations exp(-lag / c) with the correlation time `time` raise the ratio of variances in halves_test() by this
# factor. The mean of x c sweeps has the variance 2 (x - 1 + exp(-x)) / x^2.
batch_correction <- function(time, length) {
  if (time < 1.001) return(1)
  mean_variance <- function(x) if (x < 1e-3) 1 - x / 3 else 2 * (x - 1 + exp(-x)) / x^2
  x <- -log((time - 1) / (time + 1)) * length
  of_batch <- mean_variance(x)
  of_half <- mean_variance(half_batches * x)
  max(1, (half_batches - 1) * of_half / (of_batch - of_half))
}

# The chance that halves of chains differ so much: an analysis of variance of the means of batches of sweeps.
halves_test <- function(draws) {
  n <- nrow(draws)
  half <- n %/% 2L
  batch <- ceiling(seq_len(half) * half_batches / half)
  means <- rowsum(split_chains(draws), batch) / tabulate(batch)
  groups <- ncol(means)
  between <- half_batches * stats::var(colMeans(means))
  within <- sum((means - rep(colMeans(means), each = half_batches))^2) / (groups * (half_batches - 1))
  if (between <= 1e-20) return(1)
  ratio <- between / within / batch_correction(correlation_time(draws), half / half_batches)
  stats::pf(ratio, groups - 1, groups * (half_batches - 1), lower.tail = FALSE)
}

# For location and for spread. 1 if there are too few sweeps to tell.
chance_of_difference <- function(draws) {
  if (nrow(draws) < fewest_sweeps || any(!is.finite(draws)) || all(draws == draws[[1L]])) return(1)
  folded <- abs(draws - stats::median(draws))
  min(1, 2 * halves_test(normal_scores(draws)), 2 * halves_test(normal_scores(folded)))
}

# Which quantities differ by more than chance explains. A drift of a whole run looks like a long correlation time, but a
# drift of several chains in one direction is not chance.
differing <- function(quantities, table) {
  varying <- !is.na(table$rhat)
  high <- varying & table$rhat > rhat_limit
  adrift <- function(row) ncol(quantities[[row]]) > 1L && table$rhat[[row]] > 1.5 && drift_of(quantities[[row]]) != 0
  high[high] <- vapply(which(high), function(row) {
    chance_of_difference(quantities[[row]]) < false_alarms / sum(varying) || adrift(row)
  }, NA)
  high
}

# So many draws are diagnosed at a time.
diagnosed_at_once <- 2^18

# `tail`: also the smaller effective size of two quantiles.
diagnose_quantities <- function(quantities, tail = FALSE) {
  size <- dim(quantities[[1L]])
  block <- ceiling(seq_along(quantities) * max(1, prod(size)) / diagnosed_at_once)
  table <- do.call(rbind, lapply(unname(split(quantities, block)), function(some) {
    diagnose_draws(array(unlist(some, use.names = FALSE), c(size, length(some))), tail)
  }))
  data.frame(quantity = names(quantities), table, row.names = NULL)
}

diagnose_draws <- function(draws, tail) {
  size <- dim(draws)
  columns <- c("mean", "sd", "q5", "median", "q95", "rhat", "ess_bulk", if (tail) "ess_tail")
  out <- matrix(NA_real_, size[[3L]], length(columns), dimnames = list(NULL, columns))
  values <- matrix(draws, ncol = size[[3L]])
  if (nrow(values) == 0L) return(out)
  is_finite <- is.finite(colSums(values))
  for (i in which(!is_finite)) {
    points <- stats::quantile(values[, i], c(0.05, 0.5, 0.95), names = FALSE, na.rm = TRUE)
    out[i, 1:5] <- c(mean(values[, i]), stats::sd(values[, i]), points)
  }
  if (!any(is_finite)) return(out)
  values <- values[, is_finite, drop = FALSE]
  points <- column_quantiles(values, c(0.05, 0.5, 0.95))
  out[is_finite, 1:5] <- cbind(colMeans(values), if (nrow(values) > 1L) sqrt(column_variances(values)) else NA, points)
  if (size[[1L]] < 4L) return(out)
  draws <- draws[, , is_finite, drop = FALSE]
  halves <- split_chains(draws)
  varies <- !is_constant(halves)
  if (!any(varies)) return(out)
  rows <- which(is_finite)[varies]
  draws <- draws[, , varies, drop = FALSE]
  points <- points[varies, , drop = FALSE]
  scores <- normal_scores(halves[, , varies, drop = FALSE])
  out[rows, "rhat"] <- rhat_of_scores(draws, scores, points[, 2L])
  if (size[[1L]] < fewest_sweeps) return(out)
  out[rows, "ess_bulk"] <- effective_size(scores)
  if (tail) out[rows, "ess_tail"] <- pmin(quantile_size(draws, points[, 1L]), quantile_size(draws, points[, 3L]))
  out
}

# Effective sizes of quantiles: of whether draws are below them (Vehtari and others 2021).
quantile_size <- function(draws, at) {
  below <- split_chains((draws <= rep(at, each = length(draws) / length(at))) + 0)
  out <- rep(NA_real_, length(at))
  varies <- !is_constant(below)
  if (any(varies)) out[varies] <- effective_size(below[, , varies, drop = FALSE])
  out
}

# As stats::quantile(), of each column: columns x probabilities.
column_quantiles <- function(values, probabilities) {
  n <- nrow(values)
  sorted <- matrix(values[order(col(values), values, method = "radix")], n)
  place <- 1 + (n - 1) * probabilities
  low <- floor(place + 4 * .Machine$double.eps)
  share <- rep(pmax(place - low, 0), each = ncol(values))
  share[share < 4 * .Machine$double.eps] <- 0
  (1 - share) * t(sorted[low, , drop = FALSE]) + share * t(sorted[pmin(low + 1, n), , drop = FALSE])
}

# The reasons of a verdict that lie in the chains. Quantities named in `secondary` are mentioned, but do not decide.
judge_convergence <- function(quantities, table, words, secondary = character(),
                              drift_advice = "drop_warmup(fit) makes it half of all sweeps") {
  sweeps <- nrow(quantities[[1L]])
  chains <- ncol(quantities[[1L]])
  if (sweeps < fewest_sweeps) {
    count <- if (sweeps <= 0L) "no sweep" else if (sweeps == 1L) "one sweep" else sprintf("%d sweeps", sweeps)
    return(reason("no_sweeps", figure = max(sweeps, 1L), sweeps = count))
  }
  sizes <- function(size) sprintf("%.0f", size)
  differs <- differing(quantities, table)
  decides <- !table$quantity %in% secondary
  slow <- !decides & (differs | (!is.na(table$ess_bulk) & table$ess_bulk < ess_needed * chains))
  # Quantities that do not decide, if they move slowly or differ between chains.
  apart <- table[slow, , drop = FALSE]
  rest <- if (any(slow)) {
    reason("rest_slow", quantity = paste(words(apart$quantity), collapse = " and "), figure = min(apart$ess_bulk),
      shown = paste0(words(apart$quantity), " (Rhat ", format_rhat(apart$rhat), ", effective sample size ",
        sizes(apart$ess_bulk), ")", collapse = " and "), rows = nrow(apart))
  }
  high <- table[decides & differs, , drop = FALSE]
  if (nrow(high)) return(c(differing_reasons(quantities, high, words, drift_advice), rest))
  other <- table$rhat[!decides]
  shown <- table[!slow, , drop = FALSE]
  table <- table[decides, , drop = FALSE]
  if (all(is.na(table$rhat))) return(c(reason("nothing_varies"), rest))
  least <- table[which.min(table$ess_bulk), ]
  worst <- table[which.max(table$rhat), ]
  if (least$ess_bulk < ess_needed * chains) {
    # Another sentence may name a quantity that does not decide and has a higher Rhat.
    more <- any(other > worst$rhat, na.rm = TRUE)
    return(c(
      reason("too_few_draws", quantity = words(least$quantity), figure = least$ess_bulk, size = sizes(least$ess_bulk),
        needed = ess_needed * chains, each = ess_needed, rhat = format_rhat(worst$rhat), worst = words(worst$quantity),
        among = if (more) "Among the quantities that decide, the" else "The"),
      drifting(quantities, worst$quantity, words, drift_advice), rest
    ))
  }
  worst <- shown[which.max(shown$rhat), ]
  is_rough <- least$ess_bulk < ess_wanted * chains
  if (!is_rough) least <- shown[which.min(shown$ess_bulk), ]
  few <- shown[!shown$quantity %in% table$quantity & shown$ess_bulk < ess_wanted * chains & !is.na(shown$ess_bulk), ]
  draws <- sweeps * chains
  c(
    rest,
    reason(if (is_rough) "rough" else "chains_agree", quantity = words(least$quantity), figure = least$ess_bulk,
      elsewhere = if (any(slow)) " elsewhere" else "", rhat = format_rhat(worst$rhat), worst = words(worst$quantity),
      chance = if (worst$rhat > rhat_limit) ", which so few draws reach by chance" else "",
      size = sizes(least$ess_bulk), chains = chains, draws = whole_words(draws), wanted = ess_wanted * chains,
      each = ess_wanted, why = if (least$ess_bulk < draws / 4) "they move slowly" else "there are few draws"),
    if (nrow(few) && !is_rough) {
      reason("rest_rough", quantity = paste(words(few$quantity), collapse = " and "), figure = min(few$ess_bulk),
        size = paste(sizes(few$ess_bulk), collapse = " and "))
    },
    if (chains == 1L) reason("one_chain", figure = 1)
  )
}

differing_reasons <- function(quantities, high, words, drift_advice) {
  high <- high[order(-high$rhat), , drop = FALSE]
  shown <- utils::head(high, 3L)
  more <- nrow(high) - nrow(shown)
  c(
    reason("chains_differ", quantity = words(high$quantity[[1L]]), figure = high$rhat[[1L]], limit = format(rhat_limit),
      shown = paste0(paste0(words(shown$quantity), " (", format_rhat(shown$rhat), ")", collapse = ", "),
        if (more) sprintf(" and %d more", more))),
    outlying_chain(quantities, high$quantity[[1L]], words),
    drifting(quantities, high$quantity[[1L]], words, drift_advice)
  )
}

format_rhat <- function(value) {
  ifelse(is.finite(value), formatC(value, format = "f", digits = 2), "infinite")
}

outlying_chain <- function(quantities, quantity, words) {
  draws <- quantities[[quantity]]
  if (ncol(draws) < 3L) return(NULL)
  place <- apply(draws, 2L, stats::median)
  distance <- abs(place - stats::median(place))
  apart <- which.max(distance)
  spread <- stats::median(apply(draws, 2L, stats::mad))
  if (distance[[apart]] < 2 * spread || max(distance[-apart]) > distance[[apart]] / 3) return(NULL)
  reason("chain_apart", quantity = words(quantity), figure = place[[apart]], chain = apart,
    median = format_to_spread(place[[apart]], spread), low = format_to_spread(min(place[-apart]), spread),
    high = format_to_spread(max(place[-apart]), spread))
}

# 1 if the second half of the draws lies above the first in every chain, -1 if it lies below, otherwise 0.
drift_of <- function(draws) {
  half <- nrow(draws) %/% 2L
  change <- colMeans(draws[half + seq_len(half), , drop = FALSE]) - colMeans(draws[seq_len(half), , drop = FALSE])
  spread <- stats::median(apply(draws, 2L, stats::sd))
  if (spread == 0 || !all(abs(change) > spread / 2) || abs(sum(sign(change))) < ncol(draws)) 0 else sign(change[[1L]])
}

drifting <- function(quantities, quantity, words, advice) {
  drift <- drift_of(quantities[[quantity]])
  if (drift == 0) return(NULL)
  reason("drifts", quantity = words(quantity), Quantity = sub("^the ", "The ", words(quantity)),
    way = if (drift > 0) "rising" else "falling", advice = advice)
}

rhat_words <- function(rhat) ifelse(is.na(rhat), "-", format_rhat(rhat))

ess_words <- function(ess) ifelse(is.na(ess), "-", formatC(ess, format = "f", digits = 0))
