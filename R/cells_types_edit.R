# Types that are joined and split by hand.

#' Join and split cell types by hand
#'
#' `join_types()` makes one type of several. `split_type()` splits a type at a valley that most draws have. Other types
#' keep their names. Intervals of split types do not include the uncertainty of the cut.
#' @param types cell types from [cell_types()].
#' @param ... for `join_types()`: two or more types, each by its name or, if no type has that name, its row in
#'   `types$types`.
#' @param type the type to split, in the same way.
#' @param name the name of the joined type; `NULL`: the name of the most frequent of the joined types.
#' @param names two names, the larger part first; `NULL`: the old name with `"a"` and `"b"`.
#' @inheritParams computing_arguments
#' @return Cell types, as from [cell_types()], with all parts computed again.
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(1500), ncol = 2) + rep(c(0, 5, 10), c(350, 250, 150))
#' types <- cell_types(dp_mixture(x, components = 10, iter = 200, seed = 1, threads = 2), threads = 2)
#' joined <- join_types(types, 1, 2, name = "both", threads = 2)
#' joined
#' split_type(joined, "both", threads = 2)
#' @export
join_types <- function(types, ..., name = NULL, backend = NULL, threads = NULL) {
  check_cell_types(types)
  chosen <- unique(vapply(list(...), type_number, 0L, types = types, argument = "..."))
  if (length(chosen) < 2L) stop_input("...", "must be two or more different types, as in join_types(types, 3, 5)")
  run <- resolve_run(backend, threads)
  into <- min(chosen)
  labels <- types$types$type
  if (!is.null(name)) {
    check_type_names(name, "name", 1L)
    labels[[into]] <- name
  }
  group <- types$map$group
  fixed <- types$map$fixed
  fixed[[into]] <- any(fixed[chosen])
  group[group %in% chosen] <- into
  regroup(types, group, fixed, labels, "name", run)
}

#' @rdname join_types
#' @export
split_type <- function(types, type, names = NULL, backend = NULL, threads = NULL) {
  check_cell_types(types)
  chosen <- type_number(type, types, "type")
  old <- types$types$type[[chosen]]
  parts <- halves_of_type(types, chosen)
  if (is.null(parts)) {
    stop_input("type", "is ", dQuote(old, FALSE), ", which has one peak: there is no valley to split at")
  }
  run <- resolve_run(backend, threads)
  names <- if (is.null(names)) paste0(old, c("a", "b")) else check_type_names(names, "names", 2L)
  count <- nrow(types$types)
  group <- types$map$group
  group[parts[[2L]]] <- count + 1L
  fixed <- c(types$map$fixed, TRUE)
  fixed[[chosen]] <- TRUE
  labels <- c(types$types$type, names[[2L]])
  labels[[chosen]] <- names[[1L]]
  regroup(types, group, fixed, labels, "names", run)
}

check_cell_types <- function(types, argument = "types") {
  check_present(!missing(types), argument)
  check_fit_class(types, argument, "cell_types", "cell_types()")
  check_mixture_fit(types$fit, paste0(argument, "$fit"))
  check_described(types, argument, cell_type_parts(types), c("requested", "map$class"))
}

cell_type_parts <- function(types) {
  fit <- types$fit
  table <- types$types
  count <- if (is.data.frame(table)) nrow(table) else 0L
  in_draws <- c(fit$components, nrow(types$map$used))
  list(types = part_table("proportion lower upper cells components apart", type = is.character, speck = is.logical),
    type = part_is("a factor", function(value) {
      is.factor(value) && identical(levels(value), table$type) && length(value) == fit$rows
    }), probability = part_numbers(fit$rows),
    proportions = part_numbers(c(NA, count)), medians = part_numbers(c(count, length(fit$markers))),
    chain = part_whole(1, fit$chains), draw = part_whole(1), requested = part_whole(1),
    map = part_list(), `map$used` = part_table("draw chain"),
    `map$count` = part_whole(count, count), `map$tree` = part_list(), `map$leaf` = part_numbers(c(fit$components, NA)),
    `map$type_of` = part_numbers_that(in_draws, part_numbers(in_draws)$words(),
      function(value) all(value %in% c(NA, seq_len(count)))))
}

need_samples <- function(types) {
  if (is.null(types$fit$samples)) {
    stop_input("types", "are of a fit of one sample; give dp_mixture() a list of samples or `sample`")
  }
}

type_number <- function(type, types, argument) {
  check_present(!missing(type), argument)
  names <- types$types$type
  if (length(type) == 1L && (is.character(type) || is.numeric(type)) && !is.na(type)) {
    row <- match(as.character(type), names)
    if (!is.na(row)) return(row)
    if (is.numeric(type) && type %in% seq_along(names)) return(as.integer(type))
  }
  stop_input(argument, "must name types among ", list_some(names), ", not ", show_value(type))
}

# For each draw, the weight of each leaf (columns) in each branch of the draw's own cut.
cuts_of_draws <- function(x) {
  map <- x$map
  weights <- matrix(x$fit$draws$weights, x$fit$components)
  weights <- weights[, draw_positions(x$fit, rbind(map$used, map$cell_draws)), drop = FALSE]
  lapply(seq_len(ncol(weights)), function(i) {
    tapply(weights[, i], list(map$own[, i], factor(map$leaf[, i], seq_along(map$group))), sum, default = 0)
  })
}

# In which share of the draws that have both, two sets of leaves have most of their weight in different branches.
apart_in_draws <- function(pair, cuts) {
  branch_of <- function(weight) if (any(weight > 0)) which.max(weight) else NA
  mean(vapply(cuts, function(cut) {
    branch <- vapply(pair, function(leaves) branch_of(rowSums(cut[, leaves, drop = FALSE])), 0L)
    branch[[1L]] != branch[[2L]]
  }, NA), na.rm = TRUE)
}

# The two sets of leaves of the join within a type that most draws cut, the larger first; of equal ones the last. Specks
# are cut off where there is nothing else. NULL for one leaf.
halves_of_type <- function(x, type) {
  tree <- x$map$tree
  own <- which(x$map$group == type)
  size <- function(leaves) sum(tree$size[leaves])
  halves <- lapply(seq_along(tree$first), function(joins) {
    before <- group_after(tree, joins - 1L)
    sides <- lapply(c(tree$first[[joins]], tree$second[[joins]]), function(leaf) own[before[own] == before[[leaf]]])
    off <- sides[[which.min(vapply(sides, size, 0))]]
    if (all(lengths(sides) > 0L)) list(setdiff(own, off), off)
  })
  halves <- Filter(length, halves)
  if (!length(halves)) return(NULL)
  score <- vapply(halves, apart_in_draws, 0, cuts_of_draws(x))
  score <- ifelse(is.na(score), 0, score) + vapply(halves, function(half) min(vapply(half, size, 0)) >= x$speck, NA)
  halves <- halves[[max(which(score == max(score)))]]
  halves[order(-vapply(halves, size, 0))]
}

# The types with other groups of leaves. `group`: the type of each leaf, as positions in `labels` and `fixed`.
regroup <- function(types, group, fixed, labels, argument, run) {
  kept <- sort(unique(group))
  labels <- labels[kept]
  if (anyDuplicated(labels)) {
    stop_input(argument, "has ", dQuote(labels[duplicated(labels)][[1L]], FALSE), ", the name of another type")
  }
  fit <- types$fit
  group <- match(group, kept)
  map <- group_types(types$map, fit, group, fixed[kept])
  # Types are numbered by frequency; a leaf of each tells its name.
  labels <- labels[group[match(seq_len(map$count), map$group)]]
  parts <- c("limit", "requested", "specks", "call")
  how <- c(stats::setNames(unclass(types)[parts], parts), edited = TRUE)
  summarise_types(fit, map, most_probable_type(fit, map, fit$x, run), labels, types$speck, how, run$threads)
}

check_intact.cell_types <- function(x, argument) check_cell_types(x, argument)
