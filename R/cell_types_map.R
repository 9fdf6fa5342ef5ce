# The types in all draws: which component is of which type in each draw, and the types of cells averaged over draws.

# The largest number of cells on which draws are compared.
compared_cells <- 10000

# The types in each of `draws` draws, numbered by decreasing mean proportion: a list of
#   used         draw and chain of each;
#   type_of      components x draws: the type of each component;
#   proportions  draws x types;
#   chosen, tree, group  the draw that agrees best with the others, its tree, and the types of tree$used;
#   stability, count     of each type, and the number of types.
map_types <- function(fit, types, limit, join_below, draws, run, call) {
  need_draws(fit, c("weights", "means", "covariances"), call)
  cells <- if (is.null(fit$reader)) fit$x else fit$reader$some
  if (is.null(cells)) {
    stop_input("fit", "has lost its data, `fit$x`: cell types need them", call = call)
  }
  used <- spaced_draws(fit, draws)
  numbers <- seq_len(nrow(used))
  mixture_number <- function(i) mixture_of_draw(fit, used$draw[[i]], used$chain[[i]])
  trees <- lapply(numbers, function(i) type_tree(mixture_number(i), fit$rows))
  check_types_there(types, trees, call)
  groups <- lapply(trees, cut_tree, types = types, limit = limit, speck = join_below)
  some <- cells[unique(round(seq(1, nrow(cells), length.out = min(nrow(cells), compared_cells)))), , drop = FALSE]
  class <- evaluate_cells(fit, some, run, function(evaluate) {
    vapply(numbers, function(i) evaluate(mixture_number(i), "class")$class, integer(nrow(some)))
  })
  own <- lapply(numbers, function(i) spread_types(trees[[i]]$separation, trees[[i]]$used, groups[[i]]))
  partitions <- matrix(vapply(numbers, function(i) own[[i]][class[, i]], integer(nrow(some))), nrow(some))
  counts <- vapply(groups, max, 0L)
  chosen <- central_partition(partitions, if (is.null(types)) numbers else which(counts == max(counts)))
  count <- counts[[chosen]]
  target <- partitions[, chosen]
  type_of <- matrix(vapply(numbers, function(i) {
    if (i == chosen) own[[i]] else follow_types(class[, i], target, count, trees[[i]]$separation)
  }, integer(fit$components)), fit$components)
  share <- matrix(vapply(numbers, function(i) {
    sum_by_type(mixture_number(i)$weights, type_of[, i], count)
  }, numeric(count)), count)
  stability <- vapply(numbers, function(i) best_jaccard(target, partitions[, i], count), numeric(count))
  order <- order(-rowMeans(share))
  rank <- order(order)
  list(
    used = used, type_of = matrix(rank[type_of], nrow(type_of)), proportions = t(share[order, , drop = FALSE]),
    chosen = chosen, tree = trees[[chosen]], group = rank[groups[[chosen]]],
    stability = rowMeans(matrix(stability, count))[order], count = count
  )
}

check_types_there <- function(types, trees, call) {
  most <- max(vapply(trees, function(tree) length(tree$used), 0L))
  if (!is.null(types) && types > most) {
    stop_input("types", sprintf(
      "is %s, but no draw has more than %s that %s a cell", format(types), count_words(most, "component"),
      if (most == 1L) "holds" else "hold"
    ), call = call)
  }
}

# The types of cell_types() with its defaults.
default_types <- function(fit, draws, run, call) {
  default <- formals(cell_types)
  map_types(fit, NULL, default$overlap, 0, if (is.null(draws)) default$draws else draws, run, call)
}

sum_by_type <- function(weights, type, count) {
  vapply(seq_len(count), function(t) sum(weights[type == t]), 0) / sum(weights)
}

# The components of a draw by the type that has most of their cells. Components without cells have the type of the
# nearest component with cells.
follow_types <- function(class, target, count, separation) {
  cells <- matrix(tabulate(class + (target - 1L) * nrow(separation), nrow(separation) * count), nrow(separation))
  known <- which(rowSums(cells) > 0)
  spread_types(separation, known, max.col(cells[known, , drop = FALSE], ties.method = "first"))
}

# Which of the `eligible` columns of `partitions` (cells x draws, types from 1) has the smallest mean variation of
# information from all columns.
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
  # Rounding errors must not decide between identical partitions.
  eligible[[which.min(round(total[eligible], 10))]]
}

# For each of `count` types, the largest Jaccard index with a type of another partition; 0 if it has no cell.
best_jaccard <- function(target, other, count) {
  both <- matrix(tabulate(target + (other - 1L) * count, count * max(other)), count)
  either <- outer(rowSums(both), colSums(both), "+") - both
  apply(ifelse(either > 0, both / either, 0), 1L, max)
}

# Cells --------------------------------------------------------------------------------

# Probabilities of the types, averaged over draws: calls use(slice, probabilities) for slices of rows, each of at most
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

# What predict() returns: "prob", "uncertainty", or else the number of the type. `names`: of the types.
predict_types <- function(fit, map, cells, what, names, run, call) {
  if (what == "prob") {
    check_result_size(as.double(nrow(cells)) * map$count, NULL, "probabilities", call, copies = 2)
    result <- matrix(0, nrow(cells), map$count, dimnames = list(rownames(cells), names))
    each_slice_of_types(fit, map, cells, run, function(slice, prob) result[slice, ] <<- prob)
    return(result)
  }
  found <- most_probable_type(fit, map, cells, run)
  result <- if (what == "uncertainty") 1 - found$probability else found$type
  stats::setNames(result, rownames(cells))
}
