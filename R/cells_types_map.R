# The types in all draws, and the types of cells.

# Rows times components times operations that a pass over the cells may take, unless that leaves too few draws.
cell_work <- 2.5e10
fewest_cell_draws <- 4

# The types in each of `draws` draws, numbered by decreasing mean proportion: a list of
#   used         draw and chain of each; class: components of some cells x draws;
#   cell_draws   draw and chain of those that classify cells; cell_types: the type of each component in them;
#   leaf, own    components x draws, then x cell_draws: the leaf (R/cells_types_tree.R), and the branch by its own cut;
#   tree, group  the tree of leaves, and the type of each leaf; fixed: whether a user chose the cut of the type;
#   averaged     the type of each leaf, group[leaf]; type_of: components x draws: the type by the cut of each draw;
#   proportions  draws x types, by type_of; apart: the share of draws in which each type is a type;
#   chosen       the draw that agrees best with the others; stability, count: of each type, and the number of types.
map_types <- function(fit, types, limit, join_below, draws, run) {
  need_draws(fit)
  cells <- cells_at_hand(fit)
  if (is.null(cells)) stop_input("fit", "has lost its data, `fit$x`: cell types need them")
  used <- spaced_draws(fit, draws)
  found <- find_branches(fit, used, limit, run)
  tree <- leaf_tree(found)
  peaks <- length(tree$used)
  if (!is.null(types) && types > peaks) {
    stop_input("types", "is ", format(types), ", but the density of the draws has only ", count_words(peaks, "peak"))
  }
  map <- c(list(used = used, tree = tree, class = compared_classes(fit, cells, used, run)),
    found[c("leaf", "own", "cell_draws")])
  group <- cut_tree(tree, types, join_below)
  some <- cells[compared_rows(nrow(cells)), , drop = FALSE]
  weights <- matrix(fit$draws$weights, fit$components)[, draw_positions(fit, map$cell_draws), drop = FALSE]
  repeat {
    map <- group_types(map, fit, group, rep(!is.null(types), max(group)))
    # Types that most draws lack, or that are no cell's most probable one, join the types of their components.
    all <- seq_len(map$count)
    share <- vapply(all, function(t) sum(weights[map$cell_types == t]), 0) / sum(weights)
    apart <- vapply(all, function(t) mean(colSums(map$cell_types == t) > 0), 0)
    seen <- tabulate(most_probable_type(fit, map, some, run)$type, map$count)
    weak <- apart == 0 | !map$fixed & (apart < 0.5 | seen == 0 & share * nrow(some) >= 10)
    if (!any(weak) || all(weak)) return(map)
    distance <- type_distances(tree, map$group)
    into <- vapply(all, function(t) {
      there <- map$averaged[, -seq_len(nrow(used))] == t
      held <- vapply(all, function(other) if (weak[[other]]) 0 else sum(weights[there & map$cell_types == other]), 0)
      if (!weak[[t]]) t else if (any(held > 0)) which.max(held) else which.min(ifelse(weak, Inf, distance[t, ]))
    }, 0L)
    group <- match(into[map$group], sort(unique(into)))
  }
}

group_types <- function(map, fit, group, fixed) {
  count <- max(group)
  numbers <- seq_len(nrow(map$used))
  weights <- matrix(fit$draws$weights, fit$components)
  weights <- weights[, draw_positions(fit, rbind(map$used, map$cell_draws)), drop = FALSE]
  averaged <- matrix(group[map$leaf], nrow(map$leaf))
  type_of <- matrix(vapply(seq_len(ncol(averaged)), function(i) {
    cut_of_draw(averaged[, i], map$own[, i], weights[, i], count, fixed)
  }, integer(nrow(averaged))), nrow(averaged))
  share <- matrix(vapply(numbers, function(i) {
    vapply(seq_len(count), function(t) sum(weights[type_of[, i] == t, i]), 0) / sum(weights[, i])
  }, numeric(count)), count)
  of_cells <- types_of_cells(map$class, averaged)
  chosen <- central_partition(of_cells)
  cut <- types_of_cells(map$class, map$own)
  stability <- vapply(numbers, function(i) best_jaccard(of_cells[, chosen], cut[, i], count), numeric(count))
  order <- order(-rowMeans(share))
  rank <- order(order)
  ranked <- function(type) matrix(rank[type], nrow(averaged))
  map$group <- rank[group]
  map$fixed <- fixed[order]
  map$averaged <- ranked(averaged)
  map$type_of <- ranked(type_of[, numbers])
  map$cell_types <- ranked(type_of[, -numbers])
  map$proportions <- t(share[order, , drop = FALSE])
  map$apart <- vapply(seq_len(count), function(t) mean(colSums(map$type_of == t) > 0), 0)
  map$chosen <- chosen
  map$stability <- rowMeans(matrix(stability, count))[order]
  map$stability[map$fixed] <- NA_real_
  map$count <- count
  map
}

types_of_cells <- function(class, type) {
  matrix(vapply(seq_len(ncol(class)), function(i) type[class[, i], i], integer(nrow(class))), nrow(class))
}

# For each pair of chains, the compared cells by their types (of most draws) in both: count x count.
chain_pairs <- function(map) {
  draws <- split(seq_len(nrow(map$used)), map$used$chain)
  if (length(draws) < 2L || is.null(map$class)) return(list())
  type <- types_of_cells(map$class, map$type_of)
  of_chain <- lapply(draws, function(some) {
    votes <- vapply(seq_len(map$count), function(t) rowSums(type[, some, drop = FALSE] == t, na.rm = TRUE),
      numeric(nrow(type)))
    max.col(matrix(votes, nrow(type)), "first")
  })
  utils::combn(of_chain, 2L, function(pair) {
    matrix(tabulate(pair[[1L]] + (pair[[2L]] - 1L) * map$count, map$count^2), map$count)
  }, simplify = FALSE)
}

# The share of each type's cells that chains have in common (Dice), the smallest over pairs; NA if none can be.
cells_in_common <- function(map, pairs = chain_pairs(map)) {
  common <- vapply(pairs, function(both) 2 * diag(both) / (rowSums(both) + colSums(both)), numeric(map$count))
  least <- suppressWarnings(apply(matrix(unlist(common), map$count), 1L, min, na.rm = TRUE))
  ifelse(is.finite(least), least, NA_real_)
}

# Each own branch has the type that has most of its weight. Components of fixed types keep them.
cut_of_draw <- function(averaged, own, weights, count, fixed) {
  free <- !fixed[averaged]
  if (!any(free)) return(averaged)
  mass <- matrix(0, max(own), count)
  sums <- rowsum(weights[free], own[free] + (averaged[free] - 1) * max(own))
  mass[as.integer(rownames(sums))] <- sums
  averaged[free] <- max.col(mass, "first")[own[free]]
  averaged
}

draw_positions <- function(fit, used) used$draw + (used$chain - 1) * dim(fit$draws$weights)[[2L]]

draws_for_cells <- function(fit, count) {
  p <- length(fit$markers)
  most <- floor(cell_work / (fit$rows * fit$components * (p * (p + 3) / 2 + 27)))
  unique(round(seq(1, count, length.out = min(count, max(fewest_cell_draws, most)))))
}

default_types <- function(fit, draws, run) {
  default <- formals(cell_types)
  map_types(fit, NULL, default$overlap, 0, if (is.null(draws)) default$ndraws else draws, run)
}

# The column of `partitions` (cells x draws) with the smallest mean variation of information.
central_partition <- function(partitions) {
  draws <- seq_len(ncol(partitions))
  count <- max(partitions)
  # -sum p log p of each set of `bins` values. Those of set i lie (i - 1) * bins higher.
  entropies <- function(values, bins, sets = draws) {
    share <- matrix(tabulate(values, bins * length(sets)) / nrow(partitions), bins)
    -colSums(ifelse(share > 0, share * log(share), 0))
  }
  higher <- partitions + rep(count * (draws - 1L), each = nrow(partitions))
  entropy <- entropies(higher, count)
  total <- numeric(length(draws))
  for (i in draws[-1L]) {
    before <- draws[draws < i]
    joint <- entropies(partitions[, i] + (higher[, before] - 1L) * count, count^2, before)
    distance <- 2 * joint - entropy[before] - entropy[[i]]
    total[before] <- total[before] + distance
    total[[i]] <- sum(distance)
  }
  which.min(round(total, 10))
}

# For each type the largest Jaccard index with a type of another partition; 0 if it has no cell.
best_jaccard <- function(target, other, count) {
  both <- matrix(tabulate(target + (other - 1L) * count, count * max(other)), count)
  either <- outer(rowSums(both), colSums(both), "+") - both
  apply(ifelse(either > 0, both / either, 0), 1L, max)
}

mixtures_of_types <- function(fit, map) {
  parts <- lapply(seq_len(nrow(map$cell_draws)), function(i) {
    mixture <- mixture_of_draw(fit, map$cell_draws$draw[[i]], map$cell_draws$chain[[i]])
    held <- which(mixture$weights * fit$rows >= 1)
    if (!length(held)) held <- which.max(mixture$weights)
    list(weights = mixture$weights[held], means = mixture$means[held, , drop = FALSE],
      covariances = matrix(mixture$covariances[, , held], ncol = length(held)), type = map$cell_types[held, i])
  })
  lapply(seq_len(map$count), function(t) {
    own <- lapply(parts, function(part) part$type == t)
    pick <- function(how) Map(how, parts, own)
    list(weights = unlist(pick(function(part, own) part$weights[own])),
      means = do.call(rbind, pick(function(part, own) part$means[own, , drop = FALSE])),
      covariances = unlist(pick(function(part, own) part$covariances[, own])))
  })
}

# Calls use(slice, log_density) for slices of cells: a list of the logs of the densities of each type.
each_slice_of_types <- function(fit, map, cells, run, use) {
  if (!nrow(cells)) return(invisible())
  mixtures <- mixtures_of_types(fit, map)
  there <- which(lengths(lapply(mixtures, `[[`, "weights")) > 0L)
  session <- open_cells(fit, cells, run)
  on.exit(.Call(C_session_close, session))
  p <- length(fit$markers)
  # No longer than an interrupt can wait; on the processor, all types see a slice while it is in the cache.
  call_work <- if (run$backend == "cuda") 2e12 else 4e9 * run$threads
  most <- max(vapply(mixtures, function(mixture) length(mixture$weights), 0L))
  size <- min(if (run$backend == "cuda") 2^20 else 2^15 * run$threads, call_work / (most * (p * (p + 3) / 2 + 27)))
  for (slice in row_slices(nrow(cells), max(2^12, floor(size)))) {
    none <- rep(-Inf, length(slice))
    log_density <- rep(list(none), map$count)
    for (t in there) {
      log_density[[t]] <- native(C_mixture_add_densities, session, mixtures[[t]]$weights, mixtures[[t]]$means,
        mixtures[[t]]$covariances, 0L, as.double(fit$center), 1 / fit$scale, slice[[1L]] - 1, none, 0, run)
    }
    use(slice, log_density)
  }
}

most_probable_type <- function(fit, map, cells, run) {
  type <- integer(nrow(cells))
  probability <- numeric(nrow(cells))
  each_slice_of_types(fit, map, cells, run, function(slice, log_density) {
    found <- native(C_mixture_most_probable, log_density, run)
    type[slice] <<- found$type
    probability[slice] <<- found$probability
  })
  list(type = type, probability = probability)
}

predict_types <- function(fit, map, cells, what, names, run) {
  if (what == "prob") {
    check_result_size(as.double(nrow(cells)) * map$count, NULL, "probabilities", copies = 2)
    result <- matrix(0, nrow(cells), map$count, dimnames = list(rownames(cells), names))
    each_slice_of_types(fit, map, cells, run, function(slice, log_density) {
      density <- matrix(exp(unlist(log_density) - do.call(pmax, log_density)), length(slice))
      result[slice, ] <<- density / rowSums(density)
    })
    return(result)
  }
  found <- most_probable_type(fit, map, cells, run)
  stats::setNames(if (what == "uncertainty") 1 - found$probability else found$type, rownames(cells))
}
