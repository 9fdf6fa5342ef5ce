# Do the data look like draws of the model? Each check is a statistic with a limit, which suitable data exceed in at
# most 3% of the sets (bench/predictive-checks.R). Checks with p values use -log10 p.

rank_scores <- function(y) stats::qnorm((rank(y) - 0.5) / length(y))
minus_log10 <- function(log_p) -log_p / log(10)
two_sided <- function(z) minus_log10(stats::pnorm(-abs(z), log.p = TRUE) + log(2))
above_chi <- function(value, free) minus_log10(stats::pchisq(value, free, lower.tail = FALSE, log.p = TRUE))
two_sided_t <- function(t, free) minus_log10(log(2) + stats::pt(-abs(t), free, log.p = TRUE))
p_words <- function(minus_log) format(signif(10^-min(minus_log, 300), 1))

# By normal scores of the ranks. Sorted values tell nothing: somebody sorted them. `columns`: how many are looked at.
order_reason <- function(y, columns = 1L) {
  limit <- 2.5 + log10(columns)
  n <- length(y)
  if (n < 10L || length(unique(y)) < 3L || !is.unsorted(y) || !is.unsorted(-y)) return(NULL)
  z <- rank_scores(y)
  z <- (z - mean(z)) / sqrt(mean((z - mean(z))^2))
  lags <- seq_len(min(13L, n %/% 3L))
  r <- vapply(lags, function(lag) sum(z[-seq_len(lag)] * z[seq_len(n - lag)]) / n, 0)
  drift <- stats::cor(z, seq_len(n))
  chance <- above_chi(n * (n + 2) * sum(r^2 / (n - lags)), length(r))
  if (two_sided((r[[1L]] + 1 / n) * sqrt(n * (n + 1) / (n - 1))) > limit && r[[1L]] > 0) {
    reason("order_alike", figure = r[[1L]], shown = figure(r[[1L]]))
  } else if (two_sided(drift * sqrt(n - 1)) > limit) {
    reason("order_trend", figure = drift, shown = figure(drift))
  } else if (chance > limit + 0.5) {
    reason("order_season", figure = chance, shown = p_words(chance))
  }
}

tied_pairs <- function(keys) {
  count <- tabulate(match(keys, unique(keys)))
  sum(count * (count - 1) / 2)
}

# Rounding that ties so many pairs puts no different values nearer together than its step; copies do not stop them. The
# statistic is the number of pairs of a tied value and a different one within half of that step, over that of tied
# pairs. Where every value occurs twice (or a multiple of some number), all are copies.
copies_reason <- function(y) {
  count <- tabulate(match(y, unique(y)))
  tied <- tied_pairs(y)
  spread <- stats::IQR(y) / 1.349
  if (tied <= 3 || !(spread > 0)) return(NULL)
  all_copied <- length(count) >= 8L && any(vapply(2:5, function(k) all(count %% k == 0), NA))
  sorted <- sort(y)
  within <- function(at, distance) {
    sum(findInterval(at + distance, sorted) - findInterval(at - distance, sorted, left.open = TRUE))
  }
  # Tied pairs for each unit of distance, if values were spread evenly over 0.6 deviations about each.
  rate <- (within(sorted, 0.3 * spread) - length(y)) / 2 / (0.6 * spread)
  again <- sorted[duplicated(sorted) | duplicated(sorted, fromLast = TRUE)]
  near <- (within(again, tied / rate / 2) - within(again, 1e-9 * spread)) / 2
  if (all_copied || near > 0.5 * tied) copies_found(y)
}

copies_found <- function(keys) {
  copies <- sum(duplicated(keys))
  reason("copies_found", figure = copies, shown = whole_words(copies))
}

# Rows: pairs alike in x and y, against those alike in x whose y lie one rounding step apart.
row_copies_reason <- function(y, x) {
  x <- do.call(paste, as.data.frame(x))
  rows <- paste(y, x)
  tied <- tied_pairs(rows)
  if (tied <= 3) return(NULL)
  step <- 1.5 * rounding_step(y)
  near <- if (is.finite(step)) {
    vapply(split(y, x), function(y) sum(findInterval(y + step, sort(y)) - rank(y, ties.method = "max")), 0)
  }
  if ((tied - 1.5 * sum(near) - 3) / sqrt(tied + 1) > 1) copies_found(rows)
}

# The least difference of two values that is more than noise in their last digits.
rounding_step <- function(y) {
  gaps <- diff(sort(unique(y)))
  min(gaps[gaps > 1e-9 * diff(range(y))], Inf)
}

is_discrete <- function(y) {
  n <- length(y)
  n > 2L && (length(unique(y)) <= min(20, n / 2) || tied_pairs(y) > 0.1 * choose(n, 2) || is_heaped(y))
}

# Whether values on a lattice prefer every second, fifth or tenth place, as ages do: their counts less the mean of the
# counts between them and the next such places on both sides must be 5 deviations and a fourth of the counts.
is_heaped <- function(y) {
  y <- sort(as.double(y))
  step <- rounding_step(y)
  if (is.infinite(step)) return(FALSE)
  place <- round((y - y[[1L]]) / step)
  last <- max(place)
  if (!anyDuplicated(place) || max(abs(y - y[[1L]] - place * step)) > 1e-6 * step) return(FALSE)
  for (by in c(2, 5, 10)) {
    inner <- function(heap) heap >= by - 1 & heap <= last - by + 1
    for (first in if (last >= 4 * by) seq_len(by) - 1) {
      below <- place - (place - first) %% by
      weight <- ifelse(below == place, inner(place), -(inner(below) + inner(below + by)) / (2 * (by - 1)))
      heaped <- sum(below == place & inner(place))
      if (sum(weight) > max(5 * sqrt(sum(weight^2)), heaped / 4)) return(TRUE)
    }
  }
  FALSE
}

ties_reason <- function(y, beside = "") {
  if (is_discrete(y)) reason("data_ties", figure = length(unique(y)), count = whole_words(length(y)), beside = beside)
}

# For tails no heavier than exponential, k times the gap before the k farthest values, over a deviation, is exponential.
island_reason <- function(y) {
  y <- sort(y)
  n <- length(y)
  spread <- stats::mad(y)
  if (n < 10L || !(spread > 0)) return(NULL)
  k <- 2:max(2L, n %/% 4L)
  gaps <- c(k * (y[k + 1L] - y[k]), k * (y[n - k + 1L] - y[n - k]))
  if (max(gaps) / spread > 12) {
    count <- c(k, k)[[which.max(gaps)]]
    reason("data_island", figure = count, shown = whole_words(count))
  }
}

ends_reason <- function(y) {
  place <- (y - min(y)) / diff(range(y))
  excess <- (min(sum(place < 0.1), sum(place > 0.9)) - 1 - 0.1 * length(y)) / sqrt(0.09 * length(y))
  if (isTRUE(excess > 1)) reason("data_ends", figure = excess)
}

pair_reason <- function(code, columns, chance, limit) {
  best <- which.max(chance)
  value <- chance[[best]] - log10(length(chance))
  names <- columns[, best]
  if (value > limit) {
    reason(code, quantity = paste(names, collapse = " and "), figure = value, shown = p_words(value),
      product = paste(names, collapse = " * "))
  }
}

columns_reason <- function(code, z, statistic) {
  pairs <- t(which(diag(ncol(z)) == 0, arr.ind = TRUE))
  pair_reason(code, array(colnames(z)[pairs], dim(pairs)),
    apply(pairs, 2L, function(pair) statistic(z[, pair[[1L]]], z[, pair[[2L]]])), 2.7)
}

# The square of a normal score against what a line in it leaves of another.
curve_statistic <- function(x, y) {
  line <- qr(cbind(1, x))
  bend <- qr.resid(line, x^2)
  left <- qr.resid(line, y)
  r <- sum(bend * left) / sqrt(sum(bend^2) * sum(left^2))
  free <- length(x) - 3
  two_sided_t(r * sqrt(free / max(1e-12, 1 - r^2)), free)
}

# Chi-squared of equal cells of the ranks of x and of what a line in it leaves of y, five data a cell.
cells_statistic <- function(x, y) {
  n <- length(x)
  across <- max(2, min(6, floor(sqrt(n / 5))))
  cell <- function(values) factor(ceiling(rank(values, ties.method = "first") * across / n), seq_len(across))
  count <- table(cell(x), cell(qr.resid(qr(cbind(1, x)), y)))
  expected <- outer(rowSums(count), colSums(count)) / n
  above_chi(sum((count - expected)^2 / expected), (across - 1)^2)
}

additive_rest <- function(y, x, knots) {
  knots <- lapply(seq_len(ncol(x)), function(j) {
    count <- if (j <= length(knots)) length(knots[[j]]) else 0L
    if (count > 2L && length(unique(x[, j])) > count + 1L) spread_knots(x[, j], count)
  })
  design <- qr(cbind(1, with_curves(x, knots)))
  list(left = drop(qr.resid(design, y)), design = design)
}

# The best product of two covariates on the rest, with variances that may differ. `group`: the covariate of a column.
products_reason <- function(rest, x, group) {
  free <- nrow(x) - rest$design$rank - 1L
  if (ncol(x) < 2L || free < 3L) return(NULL)
  pairs <- utils::combn(ncol(x), 2L)
  pairs <- pairs[, group[pairs[1L, ]] != group[pairs[2L, ]], drop = FALSE]
  chance <- apply(pairs, 2L, function(pair) {
    centred <- x[, pair] - rep(colMeans(x[, pair]), each = nrow(x))
    product <- qr.resid(rest$design, centred[, 1L] * centred[, 2L])
    size <- sum(product^2)
    if (size < 1e-10 * nrow(x)) return(0)
    slope <- sum(product * rest$left) / size
    squares <- (rest$left - slope * product)^2
    error <- max(sqrt(sum(product^2 * squares) * nrow(x) / free) / size, sqrt(sum(squares) / free / size))
    two_sided_t(slope / error, free)
  })
  if (length(chance)) pair_reason("data_products", array(colnames(x)[pairs], dim(pairs)), chance, 2.3)
}

# Standardising there and back leaves noise in the last digits.
as_given <- function(y, digits = 11L) signif(y, digits)

values_checks <- function(fit) if (is.numeric(fit$y)) order_reason(fit$y)

density_checks <- function(fit) {
  y <- as_given(drop(fit$data$y))
  # On the data's scale: one that bends hides islands, and intervals still miss. Far outliers are point masses.
  own <- c(own_units(fit), fit$atoms$value[fit$atoms$count == 1L])
  ties <- ties_reason(y, if (is.null(fit$atoms)) "" else " beside the point masses")
  # Between few values there are always gaps.
  c(order_reason(y), copies_reason(y), ties, if (is.null(ties)) island_reason(own),
    if (!any(is.finite(fit$scale$support))) ends_reason(own))
}

several_checks <- function(fit) {
  y <- as_given(off_axes(fit, fit$data$y))
  colnames(y) <- fit$standard$names
  if (nrow(y) < 10L || any(apply(y, 2L, function(y) length(unique(y)) < 3L))) return(NULL)
  orders <- unlist(lapply(seq_len(ncol(y)), function(j) order_reason(y[, j], ncol(y))), recursive = FALSE)
  # A curve that the copulas have is none that they lack.
  z <- if (is.null(fit$bend)) y else fit$data$y
  z <- apply(`colnames<-`(z, colnames(y)), 2L, rank_scores)
  c(utils::head(orders, 1L), row_copies_reason(y[, 1L], y[, -1L]),
    columns_reason("data_curve", z, curve_statistic), columns_reason("data_cells", z, cells_statistic))
}

regression_checks <- function(fit) {
  x <- fit$data$x
  whole <- drop(without_mean(fit)$data$y)
  rest <- additive_rest(whole, x, fit$trend$knots)
  c(order_reason(as_given(rest$left, 8L)), row_copies_reason(as_given(whole), as_given(x)),
    ties_reason(as_given(whole)),
    if (!inherits(fit$model$mean, "formula") && is.null(fit$trend$pairs)) products_reason(rest, x, fit$group))
}
