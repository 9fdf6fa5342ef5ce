# Types with the same signs in every marker, which may be one population in several parts.

# Rows of x$types: any two types of a group have the same signs in every marker with a threshold, and no valley between.
alike_types <- function(x) {
  shown <- which(!x$types$speck & x$types$cells > 0)
  if (length(shown) < 2L || is.null(x$fit$x)) return(list())
  thresholds <- valleys_of_markers(x)
  known <- !is.na(thresholds)
  if (!any(known)) return(list())
  high <- x$medians[, known, drop = FALSE] > rep(thresholds[known], each = nrow(x$medians))
  signs <- apply(high, 1L, paste, collapse = " ")
  groups <- list()
  type <- as.integer(x$type)
  delayedAssign("rows", spaced_rows(type, pmin(tabulate(type, nrow(x$types)), 2000L)))
  for (t in shown[signs[shown] %in% signs[shown][duplicated(signs[shown])]]) {
    fits <- vapply(groups, function(group) {
      signs[[t]] == signs[[group[[1L]]]] && all(vapply(group, function(other) !valley_between(x, rows, t, other), NA))
    }, NA)
    at <- if (any(fits)) which(fits)[[1L]] else length(groups) + 1L
    groups[[at]] <- c(if (any(fits)) groups[[at]], t)
  }
  groups[lengths(groups) > 1L]
}

# Whether any marker has a valley between the medians of two types. Both count alike, by the `rows` of some cells of
# each type, without cells at a pile: see marker_thresholds().
valley_between <- function(x, rows, one, other) {
  rows <- rows[c(one, other)]
  weight <- rep(1 / lengths(rows), lengths(rows))
  for (j in seq_len(ncol(x$medians))) {
    values <- x$fit$x[unlist(rows), j]
    known <- !is.na(values)
    free <- !is_piled(values[known])
    between <- range(x$medians[c(one, other), j])
    if (!is.na(deepest_valley(values[known][free], weight[known][free], between))) return(TRUE)
  }
  FALSE
}

share_words <- function(share) {
  shown <- ifelse(share < 1e-4, "< 0.01%", paste0(formatC(100 * share, digits = 2, format = "fg"), "%"))
  ifelse(is.na(share), "-", shown)
}
