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
#' At most eight draws together give an averaged density, whose branches are types. Of three such sets, the set that
#' agrees best with the others gives the types. The draws of all sets classify the cells.
#'
#' Each draw is also cut alone: a branch belongs to the type that has most of its weight. A type that most draws lack
#' joins another. `stability` is the mean over draws of the largest Jaccard index of a type and a branch.
#'
#' Chains stay at different modes. So the interval of a share joins the quantiles of all draws with the interval by
#' Student's t for a further chain's mean. `common`: twice the cells of a type in two chains by the sum of the cells in
#' each, the smallest over pairs of chains.
#' @section The tree:
#' The leaves are the finest branches that valleys separate. The leaves of each type join first, then the types, always
#' the two whose means are closest. The overlap of two branches at the distance \eqn{d} is \eqn{\Phi(-d/2)}.
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

# Each of `averaged_sets` sets gives an averaged density, of so many draws, or as have so many components together.
averaged_sets <- 3
averaged_draws <- 8
averaged_components <- 640

# What does not depend on the draws `used`: `type`, `mass` and `place` (leaves x markers, in W) of each leaf, and
# `cell_draws`. Then `own` and `leaf`: components x draws, those `used` before the cell_draws.
find_branches <- function(fit, used, overlap, run) {
  weights <- matrix(fit$draws$weights, fit$components)
  held <- max(1, sum(weights * fit$rows >= 1) / ncol(weights))
  averaged <- spaced_draws(fit, averaged_sets * min(averaged_draws, max(2, floor(averaged_components / held))))
  set <- rep_len(seq_len(averaged_sets), nrow(averaged))
  which <- draw_positions(fit, rbind(averaged, used))
  weights <- weights[, which, drop = FALSE]
  rule <- c(peak_floor, log(valley_depth), -2 * stats::qnorm(overlap))
  found <- lapply(unique(set), function(s) {
    native(C_mixture_types, weights, fit$draws$means, fit$draws$covariances, length(fit$markers),
      as.integer(which - 1), 1 / fit$rows, as.integer(which(set == s) - 1), rule, s == 1L, run)
  })
  first <- seq_along(set)
  weights <- weights[, first]
  type <- vapply(found, function(one) one$type[one$leaf[, first]], integer(length(weights)))
  central <- central_partition(type[rep(seq_along(weights), round(1000 * weights)), , drop = FALSE])
  chosen <- found[[central]]
  some <- draws_for_cells(fit, nrow(averaged))
  kept <- c(seq_along(which)[-first], some)
  list(own = found[[1L]]$own[, kept, drop = FALSE], leaf = chosen$leaf[, kept, drop = FALSE], type = chosen$type,
    mass = chosen$mass, place = t(matrix(chosen$place, length(fit$markers))), cell_draws = averaged[some, ])
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
    sizes <- as.vector(rowsum(tree$size, group))
    small <- which.min(sizes)
    if (sizes[[small]] >= speck || length(sizes) == 1L) return(group)
    group[group == small] <- which.min(type_distances(tree, group)[small, ])
    group <- match(group, unique(group))
  }
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
