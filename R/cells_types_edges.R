# Types whose joining the data leave open: at the edge of the rule's distance, or with the same signs in every marker.

# Pairs of types, and types, that only some sets of averaged draws join, or that (or whose halves) lie on both sides of
# the rule's limit in the middle 90% of the draws; the largest first. `see`: the call that shows the other joining, or
# "" without a valley to split at. NULL if the user chose the cut.
joining_edges <- function(x) {
  map <- x$map
  if (!is.null(x$requested) || is_bem(x$fit) || any(map$fixed)) return(NULL)
  limit <- -2 * stats::qnorm(x$limit)
  shown <- are_shown(x) & x$types$cells > 0
  leaves <- unname(split(seq_along(map$group), factor(map$group, seq_len(map$count))))
  others <- other_joinings(map, x$speck)
  # A pair that is far apart in the averaged density is far apart in each draw.
  near <- type_distances(map$tree, map$group) < limit + 1 | others > 0
  near <- which(near & upper.tri(near) & outer(shown, shown), arr.ind = TRUE)
  pairs <- c(lapply(seq_len(nrow(near)), function(i) leaves[near[i, ]]),
    lapply(leaves[shown], halves_of_type, tree = map$tree))
  size <- vapply(pairs, function(pair) min(1, vapply(pair, function(own) sum(map$tree$size[own]), 0)), 0)
  measured <- lengths(pairs) > 0L & size >= x$speck
  given <- given_names(x)
  two <- rep(c(TRUE, FALSE), c(nrow(near), sum(shown)))
  given_by <- function(two) c(sprintf(two, given[near[, 1L]], given[near[, 2L]]), given[shown])
  found <- data.frame(types = given_by("%s and %s"), two, distance = NA_real_, lower = NA_real_, upper = NA_real_,
    sets = c(others[near], diag(others)[shown]))
  if (any(measured)) {
    points <- column_quantiles(distances_in_draws(x$fit, map, pairs[measured]), c(0.5, 0.05, 0.95))
    found[measured, c("distance", "lower", "upper")] <- points
  }
  found$why <- ifelse(found$sets > 0,
    paste(found$sets, "of", length(map$others) + 1L, "sets of draws", ifelse(two, "join them", "split it")),
    sprintf("the means are %.1f apart (%.1f to %.1f in 90%% of the draws): the rule joins below %.2f",
      found$distance, found$lower, found$upper, limit))
  found$see <- sprintf("%s(types, %s)", ifelse(two, "join_types", "split_type"), given_by("%s, %s"))
  found$see[!two & !measured] <- ""
  kept <- which(found$sets > 0 | measured & found$lower < limit & found$upper > limit)
  if (length(kept)) found[kept[order(-size[kept])], ]
}

# How many of the other sets of draws join two types (types x types), and split a type in two (on the diagonal). Parts
# below a share of `least` count for nothing.
other_joinings <- function(map, least) {
  Reduce(`+`, lapply(map$others, function(weights) {
    weights <- rowsum(weights, map$group)
    into <- max.col(weights, "first")
    from <- max.col(t(weights), "first")
    together <- outer(into, into, "==")
    parts <- vapply(seq_len(map$count), function(t) sum(weights[t, from == t] >= least * sum(weights)), 0)
    diag(together) <- parts > 1
    together
  }), matrix(0, map$count, map$count))
}

given_names <- function(x) ifelse(grepl("^[0-9]+$", x$types$type), x$types$type, dQuote(x$types$type, FALSE))

# The distance between the means of two sets of leaves, in units of the pooled covariance: cell_draws x pairs. Where a
# draw has no component of a set, as near as in the draw where they are nearest.
distances_in_draws <- function(fit, map, pairs) {
  found <- vapply(seq_len(nrow(map$cell_draws)), function(i) {
    mixture <- mixture_of_draw(fit, map$cell_draws$draw[[i]], map$cell_draws$chain[[i]])
    weights <- mixture$weights * (mixture$weights * fit$rows >= 1)
    p <- ncol(mixture$means)
    pooled <- matrix(matrix(mixture$covariances, p^2) %*% weights, p) / sum(weights)
    mean_of <- function(leaves) {
      own <- weights * (map$leaf[, nrow(map$used) + i] %in% leaves)
      colSums(own * mixture$means) / sum(own)
    }
    vapply(pairs, function(pair) sqrt(stats::mahalanobis(mean_of(pair[[1L]]), mean_of(pair[[2L]]), pooled)), 0)
  }, numeric(length(pairs)))
  found <- matrix(found, ncol = length(pairs), byrow = TRUE)
  apply(found, 2L, function(own) ifelse(is.finite(own), own, min(own, na.rm = TRUE)))
}

open_joins <- function(x) {
  edges <- joining_edges(x)
  alike <- alike_types(x)
  apart <- if (length(alike)) type_distances(x$map$tree, x$map$group)
  given <- vapply(alike, function(group) paste(given_names(x)[group], collapse = ", "), "")
  overlap <- vapply(alike, function(group) {
    within <- apart[group, group]
    share_words(stats::pnorm(-max(within[is.finite(within)]) / 2))
  }, "")
  rbind(if (NROW(edges)) edges[c("types", "why", "see")], if (length(alike)) {
    data.frame(types = given, why = paste("the same signs, no valley, overlap", overlap),
      see = sprintf("join_types(types, %s)", given))
  })
}

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

# Whether any marker has a valley between the medians of two types, by the `rows` of some cells of each, without piles.
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
