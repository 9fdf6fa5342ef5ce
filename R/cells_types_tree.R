# Leaves, the finest branches that valleys separate, and the tree in which they join.

#' How cell types are found
#'
#' [cell_types()] looks for the valleys of the mixture's density, and averages over draws. Let \eqn{w_j} and \eqn{S_j}
#' be the weights and covariances of components that hold cells. The pooled covariance \eqn{W = \sum_j w_j S_j / \sum_j
#' w_j} is the unit of all lengths. Eigenvalues of \eqn{S_j}, in units of \eqn{W}, are raised to at least \eqn{0.7^2}.
#' @section Peaks, saddles and branches:
#' Every component climbs from its mean to a peak of the density by modal EM (Li, Ray and Lindsay 2007). Straight lines
#' connect each mean with its peak, each mean and peak with the 12 nearest, and all peaks. The height of a line is the
#' least density on it. From the highest line down, two branches that a line connects become one
#' * if the height is at least 0.9 times the density at the lower of the two peaks: no valley lies between;
#' * or if their means are closer than \eqn{-2 \Phi^{-1}(}`overlap`\eqn{)} in units of \eqn{W}: 3.50 for 0.04. Of two
#'   normal populations so far apart, the best plane puts the share `overlap` on the wrong side.
#' @section Averaging over draws:
#' At most eight draws together give the averaged density, whose branches are the types. Every draw is also cut by
#' itself, and each of its branches belongs to the type that holds most of the weight of the branch. `stability` is the
#' mean over draws of the largest Jaccard index of the type and a branch of the draw.
#'
#' Chains stay at different modes, so each chain is one draw of a mode. The interval of a share joins the quantiles of
#' all draws with the interval by Student's t for a further chain's mean. If it reaches farther than one point and a
#' fifth of the share to either side, the verdict names the neighbours whose border is not determined. `common`: twice
#' the cells of a type in two chains by the sum of the cells in each, the smallest over pairs of chains.
#' @section The tree:
#' The leaves are the finest branches that valleys separate. The leaves of each type join first, then the types, always
#' the two whose means are closest. The overlap of two branches at the distance \eqn{d} is \eqn{\Phi(-d/2)}. A number of
#' `types` cuts the tree in all draws, so intervals do not include the uncertainty of the cut.
#' @references
#' Hennig, C. (2010). Methods for merging Gaussian mixture components. *Advances in Data Analysis and Classification*
#' **4**, 3-34.
#'
#' Li, J., Ray, S. and Lindsay, B. G. (2007). A nonparametric statistical approach to clustering via mode
#' identification. *Journal of Machine Learning Research* **8**, 1687-1723.
#' @name cell_types_method
NULL

# Least eigenvalue of covariances is peak_floor^2; a saddle below valley_depth times the lower peak is a valley.
peak_floor <- 0.7
valley_depth <- 0.9

# The averaged density has this many draws, or as many as have this many components together.
averaged_draws <- 8
averaged_components <- 640

# A list of `own` and `leaf` (components x draws), and of each leaf `type`, `mass` and `place` (leaves x markers, in W).
find_branches <- function(fit, used, overlap, run) {
  which <- draw_positions(fit, used)
  weights <- matrix(fit$draws$weights, fit$components)[, which, drop = FALSE]
  held <- max(1, sum(weights * fit$rows >= 1) / nrow(used))
  draws <- min(nrow(used), averaged_draws, max(2, floor(averaged_components / held)))
  averaged <- unique(round(seq(1, nrow(used), length.out = draws)))
  found <- native(
    C_mixture_types, weights, fit$draws$means, fit$draws$covariances, length(fit$markers), as.integer(which - 1),
    1 / fit$rows, as.integer(averaged - 1), c(peak_floor, log(valley_depth), -2 * stats::qnorm(overlap)), run
  )
  found$place <- t(matrix(found$place, length(fit$markers)))
  found
}

# The tree: `used` (leaves); the joins `first`, `second` (leaves) and `level` (overlap), the first `within` of them
# inside types; `type`, `size` (share of the cells) and `place` (mean in units of W) of each leaf.
leaf_tree <- function(found) {
  leaves <- length(found$mass)
  tree <- list(used = seq_len(leaves), type = found$type, size = found$mass, place = found$place,
    first = integer(), second = integer(), level = numeric(), within = leaves - max(found$type))
  place <- found$place
  mass <- found$mass
  apart <- as.matrix(stats::dist(place))
  diag(apart) <- Inf
  bound <- outer(found$type, found$type, "!=")
  for (join in seq_len(leaves - 1L)) {
    open <- if (join <= tree$within) ifelse(bound, Inf, apart) else apart
    pair <- sort(arrayInd(which.min(open), dim(open)))
    a <- pair[[1L]]
    b <- pair[[2L]]
    tree$first[[join]] <- a
    tree$second[[join]] <- b
    tree$level[[join]] <- stats::pnorm(-apart[a, b] / 2)
    place[a, ] <- (mass[[a]] * place[a, ] + mass[[b]] * place[b, ]) / (mass[[a]] + mass[[b]])
    mass[[a]] <- mass[[a]] + mass[[b]]
    apart[b, ] <- apart[, b] <- Inf
    left <- which(is.finite(apart[a, ]))
    apart[a, left] <- apart[left, a] <- sqrt(colSums((t(place[left, , drop = FALSE]) - place[a, ])^2))
  }
  tree
}

# The type of each leaf after `joins` joins, numbered as they first appear.
group_after <- function(tree, joins) {
  group <- seq_along(tree$used)
  for (step in seq_len(joins)) group[group == tree$second[[step]]] <- tree$first[[step]]
  match(group, unique(group))
}

# The types by the rule, or `types` of them. Those of less than `speck` join others, and count only if needed.
cut_tree <- function(tree, types, speck) {
  if (is.null(types)) return(join_specks(tree, tree$type, speck))
  k <- length(tree$used)
  if (speck > 0) {
    for (count in seq(min(types, k), k)) {
      group <- group_after(tree, k - count)
      if (sum(rowsum(tree$size, group) >= speck) == types) return(join_specks(tree, group, speck))
    }
  }
  group_after(tree, max(0, k - types))
}

# The distances of types, in units of W; Inf on the diagonal. `group`: the type of each leaf.
type_distances <- function(tree, group) {
  place <- rowsum(tree$size * tree$place, group) / as.vector(rowsum(tree$size, group))
  apart <- as.matrix(stats::dist(place))
  diag(apart) <- Inf
  unname(apart)
}

# Types with less than `speck` of the mass, the smallest first, join the nearest type.
join_specks <- function(tree, group, speck) {
  repeat {
    size <- as.vector(rowsum(tree$size, group))
    small <- which.min(size)
    if (size[[small]] >= speck || length(size) == 1L) return(group)
    group[group == small] <- which.min(type_distances(tree, group)[small, ])
    group <- match(group, unique(group))
  }
}

# Types without a component in any draw join the nearest used type. `present`: the leaves of components.
join_absent <- function(tree, group, present) {
  absent <- setdiff(group, group[present])
  if (!length(absent)) return(group)
  apart <- type_distances(tree, group)
  apart[, absent] <- Inf
  for (t in absent) group[group == t] <- which.min(apart[t, ])
  match(group, unique(group))
}

# The joins in the form of stats::hclust(), where no height is below the one before.
as_hclust <- function(tree) {
  k <- length(tree$used)
  merge <- matrix(0L, max(k - 1L, 0L), 2L)
  node <- -seq_len(k)
  leaves <- as.list(seq_len(k))
  for (step in seq_len(k - 1L)) {
    pair <- c(tree$first[[step]], tree$second[[step]])
    # Single leaves first, as hclust() has them.
    merge[step, ] <- sort(node[pair], decreasing = all(node[pair] < 0))
    leaves[[pair[[1L]]]] <- c(leaves[[pair[[1L]]]], leaves[[pair[[2L]]]])
    node[[pair[[1L]]]] <- step
  }
  structure(list(
    merge = merge, height = -log10(pmax(cummin(tree$level), 1e-12)), order = leaves[[1L]],
    labels = as.character(tree$used), level = tree$level, method = "overlap", dist.method = "misclassification"
  ), class = "hclust")
}
