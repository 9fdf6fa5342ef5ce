# Types that some draws join or split, and types with the same signs in every marker.

# Pairs of types that the cuts of 10% of the draws join, and types that as many split, if all parts have `least_share`,
# largest first. `see`: the call that shows the other joining; "" without a valley. NULL if the user chose the cut.
joining_edges <- function(x) {
  if (!is.null(x$requested) || is_bem(x$fit) || any(x$map$fixed)) return(NULL)
  shown <- which(are_shown(x) & x$types$cells > 0 & x$types$proportion >= least_share)
  first <- shown[row(diag(length(shown)))]
  second <- shown[col(diag(length(shown)))]
  leaves <- unname(split(seq_along(x$map$group), factor(x$map$group, seq_len(x$map$count))))
  cuts <- cuts_of_draws(x)
  share <- unlist(Map(function(a, b) {
    if (a < b) 1 - apart_in_draws(leaves[c(a, b)], cuts) else if (a == b) split_in_draws(leaves[[a]], cuts) else 0
  }, first, second))
  open <- which(share >= 0.1)
  open <- open[order(-x$types$proportion[second[open]])]
  if (!length(open)) return(NULL)
  given <- given_names(x)
  a <- given[first[open]]
  b <- given[second[open]]
  two <- a != b
  data.frame(types = ifelse(two, paste(a, "and", b), a), two, share = share[open],
    why = paste(percent(share[open], 0), "of the draws", ifelse(two, "join them", "split it")),
    see = ifelse(two, sprintf("join_types(types, %s, %s)", a, b),
      ifelse(lengths(leaves)[first[open]] > 1L, sprintf("split_type(types, %s)", a), "")))
}

given_names <- function(x) ifelse(grepl("^[0-9]+$", x$types$type), x$types$type, dQuote(x$types$type, FALSE))

# In which share of the draws two branches have a share of the cells and most of their weight in some leaves.
split_in_draws <- function(leaves, cuts) {
  mean(vapply(cuts, function(cut) {
    own <- rowSums(cut[, leaves, drop = FALSE])
    sum(own >= least_share & own >= rowSums(cut) / 2) > 1
  }, NA))
}

open_joins <- function(x) {
  edges <- joining_edges(x)
  alike <- alike_types(x)
  apart <- if (length(alike)) type_distances(x$map$tree, x$map$group)
  given <- vapply(alike, function(group) paste(given_names(x)[group], collapse = ", "), "")
  overlap <- vapply(alike, function(group) share_words(stats::pnorm(-max(setdiff(apart[group, group], Inf)) / 2)), "")
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
