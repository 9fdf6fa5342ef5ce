# Values that many cells share at an end of a marker, and too few cells for the markers.

#' Values that many cells share at an end of a marker
#'
#' A cytometer writes one value, often zero, for everything that it cannot see, and its largest value for everything
#' that is too bright. `print()` and `summary()` of a fit name markers with such piled values, and `plot(fit)` draws
#' spikes. A value is piled if at least 0.5% of the cells have it, no more than 1% of the cells lie beyond it, and it is
#' five times as frequent as any of the ten next values.
#'
#' Thin components describe piled values, and may lie across several populations.
#' @name piled_values
NULL

# A row for each piled value: `marker`, `end` ("low" or "high"), `value` in the data's units, the `share` of the known
# values, and `at`, on the scale of the fit. `cells`: from read_mixture_cells().
find_piled <- function(cells) {
  found <- lapply(seq_along(cells$markers), function(j) {
    some <- some_values(cells$x, j)
    if (!anyDuplicated(some)) return(NULL)
    piles <- rbind(piled_at_low_end(some), -piled_at_low_end(-some))
    if (nrow(piles) == 0L) return(NULL)
    share <- abs(piles[, 2L])
    if (is.null(cells$reader)) share <- vapply(piles[, 1L], function(at) mean(cells$x[, j] == at, na.rm = TRUE), 0)
    data.frame(marker = cells$markers[[j]], end = ifelse(piles[, 2L] > 0, "low", "high"),
      value = data_values(piles[, 1L], cells$transform, j), share = share, at = piles[, 1L])
  })
  none <- data.frame(marker = character(), end = character(), value = numeric(), share = numeric(), at = numeric())
  do.call(rbind, c(list(none), found))
}

# The value and its share: a matrix of at most one row.
piled_at_low_end <- function(values) {
  none <- matrix(0, 0L, 2L)
  n <- length(values)
  distinct <- sort(unique(values))
  if (n < 50L || length(distinct) < 11L) return(none)
  counts <- tabulate(match(values, distinct), length(distinct))
  below <- cumsum(counts) - counts
  at <- which.max(ifelse(below <= 0.01 * n, counts, 0L))
  after <- counts[at + seq_len(min(10L, length(distinct) - at))]
  piled <- counts[[at]] >= max(10, 0.005 * n) && length(after) == 10L && counts[[at]] >= 5 * max(after)
  if (piled) matrix(c(distinct[[at]], counts[[at]] / n), 1L) else none
}

# Numbers of types nearly all of whose cells lie at a rare piled value: saturated events of several populations.
edge_types <- function(fit, type) {
  piled <- fit$piled[fit$piled$share <= 0.05, ]
  if (is.null(fit$x) || !NROW(piled)) return(integer())
  at_edge <- Reduce(`|`, Map(function(j, at) fit$x[, j] %in% at, match(piled$marker, fit$markers), piled$at))
  cells <- tabulate(type)
  which(cells > 0 & tabulate(type[at_edge], length(cells)) >= 0.9 * cells)
}

# How far a sample, or its part above a valley, lies from the others: samples x markers, or NULL if none lies apart.
sample_shifts <- function(fit, most = 500L) {
  count <- length(fit$samples)
  if (is.null(fit$x) || count < 2L) return(NULL)
  cells <- tabulate(fit$sample, count)
  rows <- unlist(spaced_rows(fit$sample, pmin(cells, most)))
  of <- factor(fit$sample[rows], seq_len(count))
  shifts <- vapply(seq_along(fit$markers), function(j) {
    x <- fit$x[rows, j]
    known <- which(!is.na(x))
    # A pile stays where it is in every sample.
    free <- known[!is_piled(x[known])]
    valley <- deepest_valley(x[free], rep(1, length(free)), stats::quantile(x[free], c(0.05, 0.95)), 0.5)
    moves <- function(some) sample_moves(split(x[some], of[some]), cells, fit$scale[[j]])
    whole <- moves(free)
    # Other units change a spread by far more than other shares of types do.
    spread <- vapply(split(x[free], of[free]), function(own) diff(stats::quantile(own, c(0.05, 0.95))), 0)
    usual <- stats::median(spread[cells >= 50], na.rm = TRUE)
    whole <- ifelse((cells >= 50 & spread * usual > 0 & abs(log(spread / usual)) > 3) %in% TRUE, spread - usual, whole)
    if (is.na(valley)) whole else ifelse(whole == 0, moves(free[x[free] > valley]), whole)
  }, numeric(count))
  if (any(shifts != 0)) shifts
}

# Densities are moved to where they overlap that of the largest sample most (Bhattacharyya coefficient, of which a
# normal population loses 0.12 by its standard deviation).
sample_moves <- function(values, cells, scale, least = 0.1) {
  large <- which(lengths(values) >= 50L)
  all <- unlist(values[large])
  width <- if (length(large) > 1L) stats::bw.nrd0(all) / 2 else 0
  if (!(width > 0)) return(numeric(length(cells)))
  ends <- stats::quantile(all, c(0.001, 0.999), names = FALSE) + c(-2, 2) * scale
  step <- diff(ends) / 255
  bins <- function(own) tabulate(round((own - ends[[1L]]) / step) + 1, 256L) / length(own)
  near <- min(ceiling(4 * width / step), 127)
  kernel <- prop.table(stats::dnorm(seq(-near, near) * step, sd = width))
  roots <- sqrt(stats::filter(vapply(values[large], bins, numeric(256L)), kernel, circular = TRUE) / step)
  far <- floor(1.5 * scale / step)
  overlap <- vapply(seq(-far, far), function(move) {
    at <- seq_len(256L) + move
    inside <- at >= 1L & at <= 256L
    colSums(roots[at[inside], , drop = FALSE] * roots[inside, which.max(cells[large])]) * step
  }, numeric(length(large)))
  best <- max.col(overlap, "first")
  # A sample stays if it moves with the lower median of all.
  middle <- sort(best)[[ceiling(length(best) / 2)]]
  stays <- overlap[, middle]
  moved <- stays < 1 - least & overlap[cbind(seq_along(best), best)] - stays > least
  replace(numeric(length(cells)), large[moved], (best[moved] - middle) * step)
}

piled_words <- function(piled) vapply(ifelse(abs(piled$value) < 1e-9, 0, piled$value), format, "", digits = 4)

piled_rows <- function(piled) {
  if (!nrow(piled)) return(NULL)
  data.frame(marker = piled$marker, end = piled$end, value = piled_words(piled), cells = percent(piled$share))
}

check_enough_cells <- function(prior, rows, markers) {
  if (rows < length(markers) && inherits(prior, "dp_prior") && is.null(prior$scale)) {
    stop_input("x", sprintf(paste(
      "has %d rows and %d columns; rows are cells and columns are markers: is t(x) meant?",
      "From fewer cells than markers no covariance can be learned: choose fewer `markers`,",
      "or give dp_prior(scale = ), the covariance of a component"
    ), as.integer(rows), length(markers)))
  }
}
