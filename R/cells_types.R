# Cell types: components are joined where no valley lies between them (R/cells_types_tree.R, R/cells_types_map.R).

#' Join the components of a mixture into cell types
#'
#' A population of cells is rarely Gaussian, so a mixture describes it by several components. `cell_types()` joins
#' components unless a valley of the density lies between them and their means are far enough apart (see
#' [cell_types_method]). [join_types()] and [split_type()] change types by hand.
#' @param fit a fit from [dp_mixture()] that kept weights, means and covariances, and its data.
#' @param types `NULL`: the rule decides. Or the number of types; specks count only with `specks = "keep"`.
#' @param overlap how close two types may be: if the best plane would take more than this share of either for the
#'   other, they become one. Between 0 and 0.5; a larger value gives more types.
#' @param specks what to do with specks. `"keep"`: they stay types, shown apart. `"join"`: each joins the nearest type.
#'   `"auto"`: `"keep"` if `types` is `NULL`, otherwise `"join"`.
#' @param speck a type with a smaller share of the cells is a speck, unless 95% of the draws and 20 cells confirm it.
#' @param names names of the types, the most frequent first; there may be fewer. `levels(x) <- value` renames types.
#' @param ndraws number of kept draws for the shares, evenly spaced over all chains; `NULL`: all.
#' @inheritParams computing_arguments
#' @return An object of class `cell_types`. With T types, D draws, n cells and p markers, it has
#'   \item{types}{a data frame, the most frequent type first. `type`: the name. `proportion`, `lower`, `upper`:
#'     posterior mean and 90% interval of its share of the cells; `rhat`, `ess`: of that share. `cells`, `components`:
#'     how many cells, and components of the chosen draw, it has. `nearest`, `overlap`: the nearest type that is no
#'     speck, and their overlap. `apart`: in which share of the draws it is a type of its own. `stability`: from 0 to 1:
#'     how well the draws agree on its cells. `speck`: whether it is one.}
#'   \item{type, probability}{n: the most probable type of each fitted cell (a factor), and its probability.}
#'   \item{proportions}{D x T: the share of each type in each draw.}
#'   \item{medians}{T x p: medians of the cells of a type, in the units of the fit (after its transformation).}
#'   \item{tree}{an object of class `hclust`. Heights are \eqn{-\log_{10}} of the overlaps at which branches join.}
#'   \item{draw, chain}{the chosen draw, which agrees best with the others.}
#' @section Errors:
#' `warpbayes_error_input`, also for more `types` than the density has peaks.
#' @seealso [predict.cell_types()], [plot.cell_types()], [type_proportions()], [relabel()]
#' @examples
#' set.seed(1)
#' bent <- rnorm(1500)
#' x <- cbind(CD4 = c(bent, rnorm(500, 4, 0.5)),
#'   CD8 = c(bent^2 + rnorm(1500, sd = 0.3), rnorm(500, -4, 0.5)))
#' fit <- dp_mixture(x, components = 16, iter = 200, seed = 1, threads = 2)
#' types <- cell_types(fit, threads = 2)
#' types
#' levels(types) <- c("bent", "round")
#' plot(types, type = "cells")
#' @export
cell_types <- function(fit, types = NULL, overlap = 0.04, specks = c("auto", "keep", "join"), speck = 0.005,
                       names = NULL, ndraws = 50, backend = NULL, threads = NULL, ...) {
  check_dots_empty(...)
  check_present(!missing(fit), "fit")
  if (!inherits(fit, "dp_mixture")) stop_input("fit", "must come from dp_mixture(), not ", show_value(fit))
  if (!is.null(types)) types <- check_count(types, "types")
  overlap <- check_number(overlap, "overlap", min = 0, max = 0.5)
  specks <- check_choice(specks, "specks", c("auto", "keep", "join"))
  if (specks == "auto") specks <- if (is.null(types)) "keep" else "join"
  speck <- check_number(speck, "speck", min = 0, max = 1, open = FALSE)
  ndraws <- check_ndraws(ndraws)
  if (!is.null(names)) names <- check_type_names(names, "names")
  if (!is.null(fit$reader)) {
    stop_input("fit", "does not hold its cells, which a row_reader() reads: ",
      "predict(fit, newdata, type = \"type\") gives the types of some of them")
  }
  run <- resolve_run(backend, threads)
  map <- map_types(fit, types, overlap, if (specks == "join") speck else 0, ndraws, run)
  if (length(names) > map$count) {
    stop_input("names", sprintf("has %d names, but there %s only %s", length(names),
      if (map$count == 1L) "is" else "are", count_words(map$count, "type")))
  }
  labels <- as.character(seq_len(map$count))
  labels[seq_along(names)] <- names
  if (anyDuplicated(labels)) {
    stop_input("names", "has ", dQuote(labels[duplicated(labels)][[1L]], FALSE),
      ", the name of a type that was not given one")
  }
  how <- list(limit = overlap, requested = types, specks = specks, call = short_call(match.call(), "cell_types"))
  summarise_types(fit, map, most_probable_type(fit, map, fit$x, run), labels, speck, how, run$threads)
}

check_type_names <- function(names, argument, count = NULL) {
  different <- is.character(names) && !anyNA(names) && all(nzchar(names)) && !anyDuplicated(names)
  if (!different || !is.null(count) && length(names) != count) {
    stop_input(argument, "must be different names, ",
      if (is.null(count)) "the most frequent type first" else paste("one for each of the", count_words(count, "type")),
      ", not ", if (is.character(names) && length(names)) list_some(names) else show_value(names))
  }
  names
}

summarise_types <- function(fit, map, own, labels, least, how, threads) {
  count <- map$count
  proportion <- colMeans(map$proportions)
  interval <- share_interval(map$proportions, map$used$chain)
  # One mode has no spread.
  if (is_bem(fit)) interval[] <- NA_real_
  chains <- if (!is_bem(fit)) diagnose_quantities(shares_by_chain(map))
  draw <- map$used$draw[[map$chosen]]
  chain <- map$used$chain[[map$chosen]]
  component_type <- map$averaged[, map$chosen]
  held <- fit$draws$weights[, draw, chain] * fit$rows >= 1
  cells <- tabulate(own$type, count)
  colnames(map$proportions) <- labels
  speck <- are_specks(proportion, cells, map, least, length(fit$markers))
  speck[edge_types(fit, own$type)] <- TRUE
  apart <- type_distances(map$tree, map$group)
  if (!all(speck)) apart[, speck] <- Inf
  nearest <- replace(max.col(-apart, "first"), rowSums(is.finite(apart)) == 0, NA)
  types <- data.frame(
    type = labels, proportion = zap_share(proportion), lower = zap_share(interval[, 1L]),
    upper = zap_share(interval[, 2L]),
    rhat = if (is.null(chains)) NA_real_ else chains$rhat, ess = if (is.null(chains)) NA_real_ else chains$ess_bulk,
    cells = cells, components = tabulate(component_type[held], count),
    nearest = labels[nearest], overlap = stats::pnorm(-apart[cbind(seq_len(count), nearest)] / 2),
    apart = map$apart, stability = map$stability, speck = speck
  )
  medians <- medians_of_types(fit, own$type, map, threads)
  rownames(medians) <- labels
  structure(c(list(
    types = types, type = structure(own$type, levels = labels, class = "factor"), probability = own$probability,
    proportions = map$proportions, medians = medians, tree = as_hclust(map$tree), leaf_type = map$group,
    component_type = component_type, draw = draw, chain = chain
  ), how, list(speck = least, fit = fit, map = map)), class = c("cell_types", "warpbayes"))
}

# Small types that draws or too few cells do not confirm, and phantoms. The draws of a cut by the user confirm nothing.
are_specks <- function(proportion, cells, map, speck, markers) {
  confirmed <- map$apart >= 0.95 & cells >= max(20, markers + 1) & !map$fixed
  proportion < speck & !confirmed | cells == 0 & proportion < 1 | map$apart < 0.5
}

kinds_of_types <- function(types) ifelse(!types$speck, "type", ifelse(types$cells > 0, "speck", "phantom"))

are_shown <- function(types) if (all(types$types$speck)) rep(TRUE, nrow(types$types)) else !types$types$speck

zap_share <- function(share) ifelse(!is.na(share) & share < 1e-12, 0, share)

shares_by_chain <- function(map) {
  rows <- split(seq_len(nrow(map$used)), map$used$chain)
  fewest <- min(lengths(rows))
  rows <- vapply(rows, utils::head, integer(fewest), fewest)
  shares <- lapply(seq_len(map$count), function(t) matrix(map$proportions[rows, t], fewest))
  stats::setNames(shares, seq_len(map$count))
}

# types x markers. Without values, the mean of a type's components in the chosen draw or else the first that has any.
medians_of_types <- function(fit, type, map, threads) {
  all <- seq_along(fit$markers)
  medians <- group_statistics(fit$x, all, rep(1L, fit$rows), type, c(map$count, 1L), "median", 1, threads)$value
  medians <- matrix(medians, map$count)
  every <- rbind(map$used, map$cell_draws)
  for (t in which(rowSums(is.na(medians)) > 0)) {
    draws <- c(map$chosen, seq_len(ncol(map$averaged)))
    i <- draws[colSums(map$averaged[, draws, drop = FALSE] == t) > 0][[1L]]
    mixture <- mixture_of_draw(fit, every$draw[[i]], every$chain[[i]])
    among <- which(map$averaged[, i] == t)
    mean <- colSums(mixture$weights[among] * mixture$means[among, , drop = FALSE]) / sum(mixture$weights[among])
    medians[t, ] <- ifelse(is.na(medians[t, ]), mean, medians[t, ])
  }
  dimnames(medians) <- list(NULL, fit$markers)
  medians
}

# Medians or means, and their variances, of columns of x: `value` and `variance`, groups x parts x draws x columns.
# part: of each row, from 1; group: rows x draws, from 1; shape: numbers of groups and parts. Below `least` values: NaN.
group_statistics <- function(x, columns, part, group, shape, statistic, least, threads) {
  order <- order(part, method = "radix")
  end <- cumsum(tabulate(part, shape[[2L]]))
  threads <- min(threads, max(1, length(x) %/% (2 * max(diff(c(0, end))))))
  pieces <- length(end) * (length(group) / nrow(x))
  size <- max(ceiling(threads / pieces), floor(2^25 * threads / length(group)))
  found <- lapply(row_slices(length(columns), size), function(some) {
    native(C_matrix_group_statistics, x, columns[some], order, end, group, shape[[1L]],
      as.double(c(statistic == "mean", least)), threads)
  })
  list(value = unlist(lapply(found, `[[`, "value")), variance = unlist(lapply(found, `[[`, "variance")))
}
