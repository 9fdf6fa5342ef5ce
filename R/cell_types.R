# Cell types: components of a mixture that are often mistaken for each other are joined,
# in each of many draws, and the draws are brought together.

#' Join the components of a mixture into cell types
#'
#' A population of cells is rarely Gaussian, so a mixture describes it by several
#' components. `cell_types()` joins them: as long as there are two types of which more than `overlap` of one
#' would be mistaken for the other, the two that are mistaken most often become one. The result has
#' the proportion of each type with a credible interval, for each cell its type and the probability of
#' that, and the tree of all joins.
#'
#' **Joining.** Let \eqn{w_j}, \eqn{m_j}, \eqn{S_j} be the weights, means and covariances of a draw, and
#' \eqn{W = \sum_j w_j S_j} the pooled covariance. Two normal distributions with that covariance, whose means lie
#' \eqn{\delta_{hj} = \sqrt{(m_h - m_j)' W^{-1} (m_h - m_j)}} apart, are told apart best by a plane, which takes
#' \deqn{A_{hj} = w_j \Phi(-\delta_{hj}/2 + \log(w_h/w_j)/\delta_{hj})}
#' of the mass of \eqn{j} for \eqn{h}. The overlap of two types is \eqn{\max(A_{hj}/w_j, A_{jh}/w_h)}: the share of one of
#' them that is taken for the other. When types are joined, their weights and the rows and columns of \eqn{A} are
#' added. Components that would hold less than one cell go with their nearest neighbour.
#'
#' **Averaging over draws.** Each of `draws` draws has its own tree, cut at the same overlap or number of types. The
#' types shown are those of the draw that agrees best with all others: the least mean variation of information (Wade
#' and Ghahramani 2018), over at most 10,000 cells. In the other draws a component belongs to the type that has most
#' of its cells. So each draw gives the proportion of each type and each cell's probabilities, and these are averaged.
#' Where the draws do not agree on which types there are, `stability` is low. `print()` says by how much the shares of
#' the types differ between chains: they often agree where the chains have not converged on the components.
#'
#' **Several samples.** Types are found and cells classified under the mixture of all samples, each weighted by its
#' cells, so that a cell's type does not depend on where it comes from; [type_proportions()] gives the proportions of
#' each sample.
#'
#' **Specks.** Small clusters that lie far from all others overlap with nothing and stay types of their own. Some are
#' rare populations, others debris. Types with less than `speck` of the cells are called specks. `specks = "keep"`
#' keeps them as types, which `print()` and `plot()` show apart; `"join"` gives each to the type it overlaps with most
#' (or, where all overlaps are zero, the nearest). By default they are kept where the tree is cut at `overlap`, and
#' joined where a number of `types` is asked for: there are then as many types that are not specks, unless no cut of
#' the tree has so many.
#'
#' @param fit a fit from [dp_mixture()] that kept weights, means and covariances, and its data.
#' @param types `NULL` to cut the tree at `overlap`, or how many types to cut it into. Specks are counted only with
#'   `specks = "keep"`.
#' @param overlap the share of a type, between 0 and 1, that may be mistaken for another. With a larger value
#'   there are more types. The default is the middle of the range, 0.18 to 0.22, over which the agreement with
#'   manual gates of the eight samples that it was chosen on changes little under the prior that is learned.
#' @param specks `"keep"`, `"join"`, or `"auto"` for `"keep"` if `types` is `NULL` and `"join"` otherwise.
#' @param speck a type with a smaller share of the cells is a speck.
#' @param names names of the types, the most frequent first; fewer than there are types will do. `levels(x) <-` names
#'   them later.
#' @param draws number of kept draws to use, evenly spaced over all chains; `NULL` for all. The time is that of about
#'   one sweep for each.
#' @inheritParams predict.dp_mixture
#' @return An object of class `cell_types`. Let T be the types, D the draws, n the cells, p the markers:
#'   \item{types}{a data frame with a row for each type, the most frequent first: `type`, its name; `proportion`,
#'     `lower` and `upper`, the posterior mean of its share of the cells and the interval that holds 90% of the draws,
#'     `NA` of a fit with `method = "bem"`, which has one draw; `cells`, for how many of the fitted cells this is the
#'     most probable type; `components` of the chosen draw; `nearest`, the type it overlaps with most, and `overlap`,
#'     by how much; `stability`, from 0 to 1: the mean over draws of the largest Jaccard index (cells in both by cells
#'     in either) of this type and a type of that draw's own tree; `speck`.}
#'   \item{type}{a factor of length n: the most probable type of each fitted cell.}
#'   \item{probability}{n: the probability of that type, averaged over draws.}
#'   \item{proportions}{D x T: the share of each type in each draw.}
#'   \item{medians}{T x p: medians of the cells of a type, in the units of the fit (after its transformation); the
#'     mean of its components where it has no cells.}
#'   \item{tree}{an object of class `hclust` whose leaves are the components of the chosen draw (`tree$labels`) and
#'     whose heights are \eqn{-\log_{10}} of the overlap at which they join; where a later pair overlaps more than an
#'     earlier one, that of the earlier. `tree$level` has the overlaps themselves.}
#'   \item{component_type}{for each component of the chosen draw, the number of its type.}
#'   \item{draw, chain}{the chosen draw.}
#'   \item{limit, requested, specks, speck, fit, map}{how it was made: `overlap`, `types`, `specks` and `speck` as
#'     given, the fit, and which component is of which type in all `draws`.}
#' @section Errors:
#' `warpbayes_error_input` for an argument that cannot be used, for a fit without draws or data, and for more `types`
#' than there are components that hold a cell.
#' @references
#' Chan, C., Feng, F., Ottinger, J., Foster, D., West, M. and Kepler, T. B. (2008). Statistical mixture modeling for
#' cell subtype identification in flow cytometry. *Cytometry A* **73**, 693-701.
#'
#' Hennig, C. (2010). Methods for merging Gaussian mixture components. *Advances in Data Analysis and Classification*
#' **4**, 3-34.
#'
#' Wade, S. and Ghahramani, Z. (2018). Bayesian cluster analysis: point estimation and credible balls. *Bayesian
#' Analysis* **13**, 559-626.
#' @seealso [predict.cell_types()] and [plot.cell_types()]; [relabel()] for components.
#' @examples
#' # Two populations, of which one is not Gaussian.
#' set.seed(1)
#' bent <- rnorm(1500)
#' x <- rbind(
#'   cbind(bent, bent^2 + rnorm(1500, sd = 0.3)),
#'   cbind(rnorm(500, 4, 0.5), rnorm(500, -4, 0.5))
#' )
#' colnames(x) <- c("CD4", "CD8")
#' fit <- dp_mixture(x, components = 16, iter = 200, seed = 1, threads = 2)
#' types <- cell_types(fit, threads = 2)
#' types
#' plot(types, type = "tree")
#' levels(cell_types(fit, types = 2, names = c("bent", "round"), threads = 2))
#' @export
cell_types <- function(fit, types = NULL, overlap = 0.2, specks = c("auto", "keep", "join"), speck = 0.005, names = NULL,
                       draws = 50, backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  call <- sys.call()
  if (!inherits(fit, "dp_mixture")) {
    stop_input("fit", "must come from dp_mixture(), not ", show_value(fit))
  }
  if (!is.null(types)) {
    types <- check_count(types, "types")
  }
  overlap <- check_number(overlap, "overlap", min = 0, max = 1)
  specks <- check_choice(specks, "specks", c("auto", "keep", "join"))
  if (specks == "auto") {
    specks <- if (is.null(types)) "keep" else "join"
  }
  speck <- check_number(speck, "speck", min = 0, max = 1, open = FALSE)
  if (!is.null(draws)) {
    draws <- check_count(draws, "draws")
  }
  if (!is.null(names)) {
    names <- check_type_names(names, "names", call = call)
  }
  if (!is.null(fit$reader)) {
    stop_input("fit", "does not hold its cells, which a row_reader() reads: predict(fit, newdata, type = \"type\") gives the types of some of them")
  }
  run <- resolve_run(backend, threads)
  map <- map_types(fit, types, overlap, if (specks == "join") speck else 0, draws, run, call)
  if (length(names) > map$count) {
    stop_input("names", sprintf("has %d names, but there are only %s", length(names), count_words(map$count, "type")))
  }
  labels <- as.character(seq_len(map$count))
  labels[seq_along(names)] <- names
  if (anyDuplicated(labels)) {
    stop_input("names", "has ", dQuote(labels[duplicated(labels)][[1L]], FALSE), ", the name of a type that was not given one")
  }
  own <- most_probable_type(fit, map, fit$x, run)
  summarise_types(fit, map, own, labels, speck, list(limit = overlap, requested = types, specks = specks))
}

check_type_names <- function(names, argument, count = NULL, call = sys.call(-1L)) {
  if (!is.character(names) || anyNA(names) || !all(nzchar(names)) || anyDuplicated(names) || !is.null(count) && length(names) != count) {
    stop_input(argument, "must be different names, ", if (is.null(count)) "the most frequent type first" else paste("one for each of the", count_words(count, "type")),
      ", not ", if (is.character(names) && length(names)) list_some(names) else show_value(names),
      call = call
    )
  }
  names
}

# One draw --------------------------------------------------------------------------

# The tree of a mixture. `used`: the components that hold a cell or more. `first`, `second`,
# `level`: the joins, as numbers within `used`; `overlap`: used x used, the mass of one that
# is taken for another; `size`; `separation`: of all components.
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
  taken <- matrix(rep(size, each = k) * stats::pnorm(-distance / 2 + outer(log(size), log(size), "-") / distance), k)
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

# The type of each of the `used` components when the tree is cut before the first join at an overlap
# below `limit`, or into `types` types. Types with less than `speck` of the mass join others, and are not
# counted among `types` where that leaves enough.
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

# Overlap of each pair of types: the larger of the two shares. `group` as from cut_tree().
type_overlap <- function(tree, group) {
  mass <- rowsum(t(rowsum(tree$overlap, group)), group)
  share <- mass / as.vector(rowsum(tree$size, group))
  share <- pmax(share, t(share))
  diag(share) <- -1
  share
}

# The types with less than `speck` of the mass go, the smallest first, to the type they
# overlap with most or, where there is no overlap at all, to the nearest.
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

# The types of all components from those of `known` ones: the others get that of the nearest.
spread_types <- function(separation, known, type) {
  all <- integer(nrow(separation))
  all[known] <- type
  for (j in setdiff(seq_along(all), known)) {
    all[[j]] <- type[[which.min(separation[j, known])]]
  }
  all
}

# All draws ----------------------------------------------------------------------------

# Cells on which draws are compared.
compared_cells <- 10000

# Types of the components in each of `draws` draws. Returns `used` (draw and chain), `type_of`
# (components x draws), `proportions` (draws x types), `chosen` (which of the draws), its `tree`, `group` (types
# of tree$used), `stability` of each type, and `count` of types. Types are numbered by decreasing
# mean proportion.
map_types <- function(fit, types, limit, join_below, draws, run, call) {
  need_draws(fit, c("weights", "means", "covariances"), call)
  cells <- if (is.null(fit$reader)) fit$x else fit$reader$some
  if (is.null(cells)) {
    stop_input("fit", "has lost its data, `fit$x`: cell types need them", call = call)
  }
  used <- spaced_draws(fit, draws)
  mixture_number <- function(i) mixture_of_draw(fit, used$draw[[i]], used$chain[[i]])
  numbers <- seq_len(nrow(used))
  trees <- lapply(numbers, function(i) type_tree(mixture_number(i), fit$rows))
  most <- max(vapply(trees, function(tree) length(tree$used), 0L))
  if (!is.null(types) && types > most) {
    stop_input("types", sprintf("is %s, but no draw has more than %s that %s a cell", format(types), count_words(most, "component"),
      if (most == 1L) "holds" else "hold"), call = call)
  }
  groups <- lapply(trees, cut_tree, types = types, limit = limit, speck = join_below)
  some <- cells[unique(round(seq(1, nrow(cells), length.out = min(nrow(cells), compared_cells)))), , drop = FALSE]
  class <- evaluate_cells(fit, some, run, function(evaluate) {
    vapply(numbers, function(i) evaluate(mixture_number(i), "class")$class, integer(nrow(some)))
  })
  own <- lapply(numbers, function(i) spread_types(trees[[i]]$separation, trees[[i]]$used, groups[[i]]))
  partitions <- matrix(vapply(numbers, function(i) own[[i]][class[, i]], integer(nrow(some))), nrow(some))
  chosen <- central_partition(partitions, if (is.null(types)) numbers else which(vapply(groups, max, 0L) == max(vapply(groups, max, 0L))))
  target <- partitions[, chosen]
  count <- max(groups[[chosen]])
  type_of <- matrix(vapply(numbers, function(i) {
    if (i == chosen) own[[i]] else follow_types(class[, i], target, count, trees[[i]]$separation)
  }, integer(fit$components)), fit$components)
  share <- matrix(vapply(numbers, function(i) {
    sum_by_type(mixture_number(i)$weights, type_of[, i], count)
  }, numeric(count)), count)
  stability <- rowMeans(matrix(vapply(numbers, function(i) best_jaccard(target, partitions[, i], count), numeric(count)), count))
  order <- order(-rowMeans(share))
  rank <- order(order)
  list(
    used = used, type_of = matrix(rank[type_of], nrow(type_of)), proportions = t(share[order, , drop = FALSE]), chosen = chosen,
    tree = trees[[chosen]], group = rank[groups[[chosen]]], stability = stability[order], count = count
  )
}

# The types of cell_types() with its defaults.
default_types <- function(fit, draws, run, call) {
  default <- formals(cell_types)
  map_types(fit, NULL, default$overlap, 0, if (is.null(draws)) default$draws else draws, run, call)
}

sum_by_type <- function(weights, type, count) {
  vapply(seq_len(count), function(t) sum(weights[type == t]), 0) / sum(weights)
}

# Components of a draw by the type that has most of their cells; those without cells by their
# nearest neighbour that has some.
follow_types <- function(class, target, count, separation) {
  cells <- matrix(tabulate(class + (target - 1L) * nrow(separation), nrow(separation) * count), nrow(separation))
  known <- which(rowSums(cells) > 0)
  spread_types(separation, known, max.col(cells[known, , drop = FALSE], ties.method = "first"))
}

# The column of `partitions` (cells x draws, types from 1) that has the least mean variation of
# information from all columns, among `eligible` ones.
central_partition <- function(partitions, eligible) {
  total <- numeric(ncol(partitions))
  entropy_of <- function(type) {
    share <- tabulate(type) / length(type)
    share <- share[share > 0]
    -sum(share * log(share))
  }
  entropy <- apply(partitions, 2L, entropy_of)
  for (i in seq_len(ncol(partitions) - 1L)) {
    for (j in seq(i + 1L, ncol(partitions))) {
      joint <- partitions[, i] + (partitions[, j] - 1L) * max(partitions[, i])
      distance <- 2 * entropy_of(joint) - entropy[[i]] - entropy[[j]]
      total[[i]] <- total[[i]] + distance
      total[[j]] <- total[[j]] + distance
    }
  }
  # Rounding must not decide between partitions that are the same.
  eligible[[which.min(round(total[eligible], 10))]]
}

# For each of `count` types the largest Jaccard index with a type of another partition; 0 where it
# has none of these cells.
best_jaccard <- function(target, other, count) {
  both <- matrix(tabulate(target + (other - 1L) * count, count * max(other)), count)
  either <- outer(rowSums(both), colSums(both), "+") - both
  apply(ifelse(either > 0, both / either, 0), 1L, max)
}

# Cells --------------------------------------------------------------------------------

# Probabilities of the types, averaged over draws: calls use(slice, probabilities) for slices of rows of at most
# 2^24 probabilities of components.
each_slice_of_types <- function(fit, map, cells, run, use) {
  for (slice in row_slices(nrow(cells), max(1, floor(2^24 / fit$components)))) {
    total <- evaluate_cells(fit, cells_in(cells, slice), run, function(evaluate) {
      sum <- matrix(0, length(slice), map$count)
      for (i in seq_len(nrow(map$used))) {
        prob <- evaluate(mixture_of_draw(fit, map$used$draw[[i]], map$used$chain[[i]]), "prob")$prob
        for (j in seq_len(fit$components)) {
          type <- map$type_of[j, i]
          sum[, type] <- sum[, type] + prob[, j]
        }
      }
      sum
    })
    use(slice, total / nrow(map$used))
  }
}

most_probable_type <- function(fit, map, cells, run) {
  type <- integer(nrow(cells))
  probability <- numeric(nrow(cells))
  each_slice_of_types(fit, map, cells, run, function(slice, prob) {
    type[slice] <<- max.col(prob, ties.method = "first")
    probability[slice] <<- prob[cbind(seq_along(slice), type[slice])]
  })
  list(type = type, probability = pmin(probability, 1))
}

# The result -----------------------------------------------------------------------------

summarise_types <- function(fit, map, own, labels, speck, how) {
  count <- map$count
  proportion <- colMeans(map$proportions)
  interval <- apply(map$proportions, 2L, stats::quantile, c(0.05, 0.95), names = FALSE)
  # One mode has no spread.
  if (is_bem(fit)) {
    interval[] <- NA_real_
  }
  share <- type_overlap(map$tree, map$group)
  nearest <- if (count > 1L) max.col(share, ties.method = "first") else NA_integer_
  mixture <- mixture_of_draw(fit, map$used$draw[[map$chosen]], map$used$chain[[map$chosen]])
  component_type <- map$type_of[, map$chosen]
  cells <- split(seq_along(own$type), factor(own$type, seq_len(count)))
  medians <- t(vapply(seq_len(count), function(t) {
    median <- apply(fit$x[cells[[t]], , drop = FALSE], 2L, stats::median, na.rm = TRUE)
    if (!anyNA(median)) {
      return(median)
    }
    # No cell has a value: the mean of the components.
    among <- which(component_type == t)
    mean <- colSums(mixture$weights[among] * mixture$means[among, , drop = FALSE]) / sum(mixture$weights[among])
    ifelse(is.na(median), mean, median)
  }, numeric(length(fit$markers))))
  medians <- matrix(medians, count, dimnames = list(labels, fit$markers))
  colnames(map$proportions) <- labels
  structure(c(list(
    types = data.frame(
      type = labels, proportion = proportion, lower = interval[1L, ], upper = interval[2L, ], cells = lengths(cells, use.names = FALSE),
      components = tabulate(map$group, count), nearest = labels[nearest],
      overlap = if (count > 1L) share[cbind(seq_len(count), nearest)] else NA_real_, stability = map$stability,
      speck = proportion < speck
    ),
    type = factor(own$type, seq_len(count), labels), probability = own$probability, proportions = map$proportions, medians = medians,
    tree = as_hclust(map$tree), component_type = component_type, draw = map$used$draw[[map$chosen]], chain = map$used$chain[[map$chosen]]
  ), how, list(speck = speck, fit = fit, map = map)), class = "cell_types")
}

# The joins in the form of stats::hclust(). A height is at least that before.
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
    merge = merge, height = -log10(pmax(cummin(tree$level), 1e-12)), order = leaves[[1L]], labels = as.character(tree$used),
    level = tree$level, method = "overlap", dist.method = "misclassification"
  ), class = "hclust")
}
