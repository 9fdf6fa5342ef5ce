# Types whose joining the data leave open: at the edge of the rule's distance, or with the same signs in every marker.

# How far apart the means of two types are by the rule that joins them; `NULL` if the user chose the cut.
edge_limit <- function(x) {
  if (is.null(x$requested) && !is_bem(x$fit) && !any(x$map$fixed)) -2 * stats::qnorm(x$limit)
}

# Pairs on both sides of the limit in the middle 90% of the draws: `types`, the median `distance` with `lower` and
# `upper`, and `see`, the call that shows the other joining. Pairs of types, and of the halves of a type.
joining_edges <- function(x) {
  limit <- edge_limit(x)
  if (is.null(limit)) return(NULL)
  map <- x$map
  shown <- which(are_shown(x) & x$types$cells > 0)
  leaves <- split(seq_along(map$group), factor(map$group, seq_len(map$count)))
  halves <- lapply(leaves[shown], halves_of_type, tree = map$tree)
  is_half <- vapply(halves, function(pair) length(pair) == 2L && sum(map$tree$size[pair[[2L]]]) >= x$speck, NA)
  apart <- type_distances(map$tree, map$group)
  # A pair that is far apart in the averaged density is far apart in each draw.
  near <- which(upper.tri(apart) & apart < limit + 1, arr.ind = TRUE)
  near <- near[near[, 1L] %in% shown & near[, 2L] %in% shown, , drop = FALSE]
  pairs <- c(lapply(seq_len(nrow(near)), function(i) leaves[near[i, ]]), halves[is_half])
  if (!length(pairs)) return(NULL)
  points <- quantiles_of_columns(distances_in_draws(x$fit, map, pairs), c(0.5, 0.05, 0.95))
  given <- ifelse(grepl("^[0-9]+$", x$types$type), x$types$type, dQuote(x$types$type, FALSE))
  of_two <- function(by) sprintf(by, given[near[, 1L]], given[near[, 2L]])
  found <- data.frame(
    types = c(of_two("%s and %s"), given[shown][is_half]), distance = points[, 1L], lower = points[, 2L],
    upper = points[, 3L],
    see = c(of_two("join_types(types, %s, %s)"), sprintf("split_type(types, %s)", given[shown][is_half]))
  )
  found[which(found$lower < limit & found$upper > limit), ]
}

# The distance between the means of two sets of leaves, in units of the pooled covariance: draws x pairs. Where a draw
# has no component of a set, as near as the nearest draw that has.
distances_in_draws <- function(fit, map, pairs) {
  found <- vapply(seq_len(nrow(map$used)), function(i) {
    mixture <- mixture_of_draw(fit, map$used$draw[[i]], map$used$chain[[i]])
    weights <- mixture$weights * (mixture$weights * fit$rows >= 1)
    p <- ncol(mixture$means)
    pooled <- solve(matrix(matrix(mixture$covariances, p^2) %*% weights, p) / sum(weights))
    mean_of <- function(leaves) {
      own <- weights * (map$leaf[, i] %in% leaves)
      colSums(own * mixture$means) / sum(own)
    }
    vapply(pairs, function(pair) {
      between <- mean_of(pair[[1L]]) - mean_of(pair[[2L]])
      sqrt(sum(between * (pooled %*% between)))
    }, 0)
  }, numeric(length(pairs)))
  found <- matrix(found, ncol = length(pairs), byrow = TRUE)
  apply(found, 2L, function(own) ifelse(is.finite(own), own, min(own, na.rm = TRUE)))
}

edge_reasons <- function(x, edges = joining_edges(x)) {
  unlist(lapply(seq_len(min(2L, NROW(edges))), function(i) {
    edge <- edges[i, ]
    shown <- format(round(unlist(edge[c("distance", "lower", "upper")]), 1), nsmall = 1)
    reason("joining_edge", quantity = edge$types, figure = edge$distance, distance = shown[[1L]], low = shown[[2L]],
      high = shown[[3L]], limit = format(round(edge_limit(x), 2)), see = edge$see,
      which = if (grepl("^split", edge$see)) sprintf("type %s is two types", edge$types) else {
        sprintf("types %s are one", edge$types)
      })
  }), recursive = FALSE)
}

# What summary() proposes to look at: the pairs above, and types with the same signs.
open_joins <- function(x) {
  edges <- joining_edges(x)
  edges <- if (NROW(edges)) {
    data.frame(types = edges$types, why = sprintf("%.1f apart (%.1f to %.1f): the rule joins below %.2f",
      edges$distance, edges$lower, edges$upper, edge_limit(x)), see = edges$see)
  }
  groups <- alike_types(x)
  apart <- if (length(groups)) type_distances(x$map$tree, x$map$group)
  alike <- lapply(groups, function(group) {
    names <- x$types$type[group]
    given <- paste(ifelse(grepl("^[0-9]+$", names), names, dQuote(names, FALSE)), collapse = ", ")
    within <- apart[group, group]
    overlap <- share_words(stats::pnorm(-max(within[is.finite(within)]) / 2))
    data.frame(types = given, why = sprintf("the same signs, no valley, overlap %s", overlap),
      see = sprintf("join_types(types, %s)", given))
  })
  do.call(rbind, c(list(edges), alike))
}
