# Natural cubic splines: the curves that a model draws without a penalty.

# The columns of a design, and for those with knots the curved columns of natural cubic splines (Hastie, Tibshirani &
# Friedman 2009, The Elements of Statistical Learning, 5.2.1).
with_curves <- function(design, knots) {
  bends <- lapply(which(lengths(knots) > 0L), function(j) {
    knot <- knots[[j]]
    last <- length(knot)
    cube <- function(k) pmax(design[, j] - knot[[k]], 0)^3
    slope <- function(k) (cube(k) - cube(last)) / (knot[[last]] - knot[[k]])
    vapply(seq_len(last - 2L), function(k) slope(k) - slope(last - 1L), numeric(nrow(design)))
  })
  do.call(cbind, c(list(design), lapply(bends, matrix, nrow = nrow(design))))
}

natural_spline <- function(x, k = 5, ..., spline = NULL) {
  text <- deparse1(sys.call())
  refuse <- function(why) stop(text, why, call. = FALSE)
  if (...length()) refuse(" has one variable and `k`, such as s(day, k = 5)")
  if (!is_one_number(k) || k < 2 || k != floor(k)) refuse(", whose `k` is not a whole number from 2 on")
  if (is.factor(x) || is.character(x) || is.logical(x) || !is.null(dim(x))) {
    refuse(", whose variable is not numeric: use it without s()")
  }
  x <- as.numeric(x)
  if (is.null(spline)) {
    distinct <- sort(unique(x[is.finite(x)]))
    if (length(distinct) < 2L) refuse(", whose variable does not vary")
    k <- min(k, length(distinct))
    ends <- range(distinct)
    knots <- stats::quantile((distinct - ends[[1L]]) / diff(ends), seq(0, 1, length.out = k), names = FALSE)
    spline <- list(ends = ends, knots = knots, root = diag(k))
    root <- orthonormal(cbind(1, spline_columns(spline, distinct)) / sqrt(length(distinct)))$r
    # Below this the columns are rounding errors.
    if (!isTRUE(all(diag(root) > 1e-13 * sqrt(colSums(root^2))))) {
      refuse(", whose values lie too far apart for curves: take its logarithm")
    }
    spline$root <- root
  }
  columns <- spline_columns(spline, x)
  colnames(columns) <- seq_len(ncol(columns))
  structure(columns, spline = spline, class = "natural_spline")
}

spline_columns <- function(spline, values) {
  columns <- cbind(1, with_curves(matrix((values - spline$ends[[1L]]) / diff(spline$ends)), list(spline$knots)))
  product(columns, solve_upper(spline$root, diag(ncol(columns))))[, -1L, drop = FALSE]
}

#' @importFrom stats makepredictcall
#' @export
makepredictcall.natural_spline <- function(var, call) {
  call$spline <- attr(var, "spline")
  call
}
