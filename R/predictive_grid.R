# Quantities of distribution functions on a grid.

# A matrix, draws x quantities. `points` are sorted: a vector, or a matrix with a row for each draw. `cdf` is draws x
# points. Between two points the probability is spread evenly. The probability beyond the first or last point counts as
# lying on that point. Where a point is repeated, the distribution function jumps.
grid_functional <- function(points, cdf, functional) {
  m <- ncol(cdf)
  if (!is.matrix(points)) points <- matrix(points, nrow(cdf), m, byrow = TRUE)
  low <- points[, -m, drop = FALSE]
  high <- points[, -1L, drop = FALSE]
  mass <- cdf[, -1L, drop = FALSE] - cdf[, -m, drop = FALSE]
  moment <- function(first, between, last) {
    # No matrix product: in some libraries its last bits depend on the number of resamples.
    rowSums(mass * between) + cdf[, 1L] * first + (1 - cdf[, m]) * last
  }
  kinds <- kinds_of(functional)
  mean <- if (any(kinds %in% c("mean", "variance", "sd", "gini"))) moment(points[, 1L], (low + high) / 2, points[, m])
  # Values such as 1e200 have no squares, so squares are in a unit of theirs. A power of 2 rounds nothing.
  unit <- 2^floor(log2(max(abs(points), 1e-300)))
  variance <- if (any(kinds %in% c("variance", "sd"))) {
    about <- (points[, 1L] + points[, m]) / 2
    above <- function(y) (y - about) / unit
    square <- moment(above(points[, 1L])^2, (above(low)^2 + above(low) * above(high) + above(high)^2) / 3,
      above(points[, m])^2)
    square - above(mean)^2
  }
  quantiles <- function(probs) {
    value <- vapply(seq_len(nrow(cdf)), function(r) grid_quantiles(cdf[r, ], points[r, ], probs), probs)
    t(matrix(value, length(probs)))
  }
  columns <- lapply(functional, function(part) {
    value <- switch(part$kind,
      mean = mean,
      variance = unit^2 * variance,
      sd = unit * sqrt(pmax(variance, 0)),
      median = quantiles(0.5),
      quantiles = quantiles(part$probs),
      probability = vapply(seq_len(nrow(cdf)), function(r) {
        grid_cdf(points[r, ], cdf[r, ], part$upper) - grid_cdf(points[r, ], cdf[r, ], part$lower, TRUE)
      }, 0),
      tail_mean = vapply(seq_len(nrow(cdf)), function(r) grid_tail_mean(points[r, ], cdf[r, ], part$prob), 0),
      # The integral of F (1 - F), with F linear between points.
      gini = {
        left <- cdf[, -m, drop = FALSE]
        right <- cdf[, -1L, drop = FALSE]
        rowSums((high - low) * ((left + right) / 2 - (left^2 + left * right + right^2) / 3)) / mean
      }
    )
    names <- if (part$kind == "quantiles") quantile_names(part$probs) else functional_label(part)
    matrix(value, nrow(cdf), dimnames = list(NULL, names))
  })
  do.call(cbind, columns)
}

# The distribution function at a value, or its limit from the left.
grid_cdf <- function(points, cdf, value, left = FALSE) {
  if (is.infinite(value)) return(as.double(value > 0))
  at <- findInterval(value, points, left.open = left)
  if (at == 0L) return(if (left || value < points[[1L]]) 0 else cdf[[1L]])
  if (at == length(points)) return(1)
  low <- points[[at]]
  cdf[[at]] + (value - low) / (points[[at + 1L]] - low) * (cdf[[at + 1L]] - cdf[[at]])
}

grid_quantiles <- function(cdf, points, probs) {
  cdf <- cummax(cdf)
  at <- findInterval(probs, cdf, left.open = TRUE)
  inner <- at > 0L & at < length(points)
  value <- points[pmin(at + 1L, length(points))]
  low <- at[inner]
  share <- (probs[inner] - cdf[low]) / (cdf[low + 1L] - cdf[low])
  value[inner] <- points[low] + share * (points[low + 1L] - points[low])
  value
}

# The mean of the share 1 - prob of largest values.
grid_tail_mean <- function(points, cdf, prob) {
  m <- length(points)
  edge <- grid_quantiles(cdf, points, prob)
  cdf <- pmax(cummax(cdf), prob)
  middle <- (pmax(points[-m], edge) + pmax(points[-1L], edge)) / 2
  (sum(diff(cdf) * middle) + (1 - cdf[[m]]) * points[[m]] + (cdf[[1L]] - prob) * points[[1L]]) / (1 - prob)
}
