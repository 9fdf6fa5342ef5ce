# The tree of one draw: its components are joined, pair by pair, by how often they are mistaken for each other.

#' How cell types are found
#'
#' [cell_types()] joins the components of each draw, and averages over draws. This page has the formulas.
#'
#' @section Joining:
#' Let \eqn{w_j}, \eqn{m_j}, \eqn{S_j} be the weights, means and covariances of a draw, and \eqn{W = \sum_j w_j S_j} the
#' pooled covariance. Two normal distributions with that covariance, whose means lie
#' \eqn{\delta_{hj} = \sqrt{(m_h - m_j)' W^{-1} (m_h - m_j)}} apart, are best told apart by a plane. It takes
#' \deqn{A_{hj} = w_j \Phi(-\delta_{hj}/2 + \log(w_h/w_j)/\delta_{hj})}
#' of the mass of \eqn{j} for \eqn{h}. The overlap of two types is the larger share of one that is taken for the other,
#' \eqn{\max(A_{hj}/w_j, A_{jh}/w_h)}. When types are joined, their weights are added, and so are the rows and columns
#' of \eqn{A}. Components that would hold less than one cell join their nearest neighbour.
#'
#' @section Averaging over draws:
#' Each draw has its own tree, cut at the same overlap or number of types. The types shown are those of the draw that
#' agrees best with all others: it has the smallest mean variation of information (Wade and Ghahramani 2018), over at
#' most 10,000 cells. In each other draw, a component belongs to the type that has most of its cells. So each draw
#' gives the proportion of each type and the probabilities of each cell, and these are averaged.
#'
#' If the draws do not agree on which types there are, `stability` is low. `print()` says by how much the shares of
#' the types differ between chains. They often agree even if the chains have not converged on the components.
#'
#' @section Several samples:
#' Types are found, and cells classified, under the mixture of all samples, in which each sample counts by its number
#' of cells. So the type of a cell does not depend on its sample. [type_proportions()] gives the proportions of each
#' sample.
#'
#' @section Specks:
#' Small clusters that lie far from all others overlap with nothing, and stay types of their own. Some are rare
#' populations, others are debris. Types with less than `speck` of the cells are called specks. With
#' `specks = "join"`, each joins the type with which it overlaps most or, if all overlaps are zero, the nearest type.
#' If a number of `types` is asked for, there are then as many types that are not specks, unless no cut of the tree
#' has so many.
#'
#' @references
#' Chan, C., Feng, F., Ottinger, J., Foster, D., West, M. and Kepler, T. B. (2008). Statistical mixture
#' modeling for cell subtype identification in flow cytometry. *Cytometry A* **73**, 693-701.
#'
#' Hennig, C. (2010). Methods for merging Gaussian mixture components. *Advances in Data Analysis and Classification*
#' **4**, 3-34.
#'
#' Wade, S. and Ghahramani, Z. (2018). Bayesian cluster analysis: point estimation and credible balls. *Bayesian
#' Analysis* **13**, 559-626.
#' @seealso [cell_types()], [plot.cell_types()] for the tree
#' @name cell_types_method
NULL

# The tree of a mixture: a list of
#   used                  the components that hold a cell or more;
#   first, second, level  the joins, as numbers within `used`, and the overlap of each;
#   overlap               used x used: the mass of one component that is taken for another;
#   size                  the shares of the used components;
#   separation            the distances of all components.
type_tree <- function(mixture, rows) {
  separation <- native(C_mixture_separation, as.double(mixture$weights), mixture$means, mixture$covariances)
  used <- which(mixture$weights * rows >= 1)
  if (!length(used)) {
    used <- which.max(mixture$weights)
  }
  size <- mixture$weights[used]
  size <- size / sum(size)
  k <- length(used)
  distance <- pmax(separation[used, used, drop = FALSE], 1e-8)
  log_ratio <- outer(log(size), log(size), "-")
  taken <- matrix(rep(size, each = k) * stats::pnorm(-distance / 2 + log_ratio / distance), k)
  diag(taken) <- 0
  c(native(C_mixture_join_types, taken, size),
    list(used = used, overlap = taken, size = size, separation = separation))
}

# The type of each of the `used` components after `joins` joins, numbered as they first appear.
group_after <- function(tree, joins) {
  group <- seq_along(tree$used)
  for (step in seq_len(joins)) {
    group[group == tree$second[[step]]] <- tree$first[[step]]
  }
  match(group, unique(group))
}

# The type of each of the `used` components when the tree is cut before the first join at an overlap below `limit`, or
# into `types` types. Types with less than `speck` of the mass join others. They do not count among `types` if enough
# others are left.
cut_tree <- function(tree, types, limit, speck) {
  if (is.null(types)) {
    return(join_specks(tree, group_after(tree, sum(cumprod(tree$level >= limit))), speck))
  }
  k <- length(tree$used)
  if (speck > 0) {
    for (count in seq(min(types, k), k)) {
      group <- group_after(tree, k - count)
      if (sum(rowsum(tree$size, group) >= speck) == types) {
        return(join_specks(tree, group, speck))
      }
    }
  }
  group_after(tree, max(0, k - types))
}

# The overlap of each pair of types: the larger of the two shares. `group` is from cut_tree().
type_overlap <- function(tree, group) {
  mass <- rowsum(t(rowsum(tree$overlap, group)), group)
  share <- mass / as.vector(rowsum(tree$size, group))
  share <- pmax(share, t(share))
  diag(share) <- -1
  share
}

# Types with less than `speck` of the mass, the smallest first, join the type with which they overlap most or, without
# any overlap, the nearest.
join_specks <- function(tree, group, speck) {
  repeat {
    size <- as.vector(rowsum(tree$size, group))
    small <- which.min(size)
    if (size[[small]] >= speck || length(size) == 1L) {
      return(group)
    }
    share <- type_overlap(tree, group)[small, ]
    target <- which.max(share)
    if (share[[target]] == 0) {
      distance <- tree$separation[tree$used, tree$used]
      own <- group == small
      nearest <- apply(distance[own, !own, drop = FALSE], 2L, min)
      target <- group[!own][[which.min(nearest)]]
    }
    group[group == small] <- target
    group <- match(group, unique(group))
  }
}

# The types of all components, of which some are `known`. The others have the type of the nearest known component.
spread_types <- function(separation, known, type) {
  all <- integer(nrow(separation))
  all[known] <- type
  for (j in setdiff(seq_along(all), known)) {
    all[[j]] <- type[[which.min(separation[j, known])]]
  }
  all
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
