# Cell types: components that are often mistaken for each other are joined in each draw (R/cell_types_tree.R), and the
# types of all draws are matched (R/cell_types_map.R).

#' Join the components of a mixture into cell types
#'
#' A population of cells is rarely Gaussian, so a mixture describes it by several components. `cell_types()` joins
#' these components: as long as more than `overlap` of one type would be mistaken for another, the two types that are
#' mistaken most often become one. The result has the proportion of each type with a credible interval, the type of
#' each cell with its probability, and the tree of all joins. [cell_types_method] explains how types are found.
#'
#' @param fit a fit from [dp_mixture()] that kept weights, means and covariances, and its data.
#' @param types `NULL`: the tree is cut at `overlap`. Or the number of types. Specks count only with `specks = "keep"`.
#' @param overlap the share of a type, between 0 and 1, that may be mistaken for another. A larger value gives more
#'   types. Between 0.18 and 0.22, the agreement with manual gates changed little in the eight samples on which the
#'   default was chosen, under the prior that is learned.
#' @param specks what to do with types that have less than `speck` of the cells. `"keep"`: they stay types, which
#'   `print()` and `plot()` show apart. `"join"`: each joins the type with which it overlaps most. `"auto"`: `"keep"`
#'   if `types` is `NULL`, otherwise `"join"`.
#' @param speck a type with a smaller share of the cells is a speck.
#' @param names names of the types, the most frequent first. There may be fewer names than types. `levels(x) <-` names
#'   the types later.
#' @param draws number of kept draws to use, evenly spaced over all chains; `NULL`: all. Each takes about as long as one
#'   sweep.
#' @param ... not used.
#' @inheritParams computing_arguments
#' @return An object of class `cell_types`. Let T be the types, D the draws, n the cells, p the markers:
#'   \item{types}{a data frame with a row for each type, the most frequent first:
#'     \describe{
#'       \item{`type`}{the name;}
#'       \item{`proportion`, `lower`, `upper`}{the posterior mean of its share of the cells, and the 90% interval
#'         (`NA` for Bayesian EM);}
#'       \item{`cells`}{how many fitted cells have this as their most probable type;}
#'       \item{`components`}{how many components of the chosen draw it has;}
#'       \item{`nearest`, `overlap`}{the type with which it overlaps most, and by how much;}
#'       \item{`stability`}{from 0 to 1: the mean over draws of the largest Jaccard index (cells in both by cells in
#'         either) of this type and a type of that draw's own tree. It is low if the draws do not agree on the type;}
#'       \item{`speck`}{whether it is a speck.}
#'     }}
#'   \item{type}{a factor of length n: the most probable type of each fitted cell.}
#'   \item{probability}{n: the probability of that type, averaged over draws.}
#'   \item{proportions}{D x T: the share of each type in each draw.}
#'   \item{medians}{T x p: medians of the cells of a type, in the units of the fit (after its transformation). If a
#'     type has no cells, the mean of its components.}
#'   \item{tree}{an object of class `hclust`. Its leaves are the components of the chosen draw (`tree$labels`), and
#'     its heights are \eqn{-\log_{10}} of the overlaps at which they join, made non-decreasing. `tree$level` has the
#'     overlaps themselves.}
#'   \item{component_type}{for each component of the chosen draw, the number of its type.}
#'   \item{draw, chain}{the chosen draw.}
#'   \item{limit, requested, specks, speck, fit, map}{how it was made: `overlap`, `types`, `specks` and `speck` as
#'     given, the fit, and the type of each component in all `draws`.}
#' @section Errors:
#' `warpbayes_error_input` for an argument that cannot be used, for a fit without draws or data, and for more `types`
#' than there are components that hold a cell.
#' @seealso [predict.cell_types()], [plot.cell_types()], [type_proportions()] for several samples, [relabel()] for
#'   components
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
cell_types <- function(fit, types = NULL, overlap = 0.2, specks = c("auto", "keep", "join"), speck = 0.005,
                       names = NULL, draws = 50, backend = NULL, threads = NULL, ...) {
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
    stop_input("fit", "does not hold its cells, which a row_reader() reads: ",
      "predict(fit, newdata, type = \"type\") gives the types of some of them")
  }
  run <- resolve_run(backend, threads)
  map <- map_types(fit, types, overlap, if (specks == "join") speck else 0, draws, run, call)
  if (length(names) > map$count) {
    stop_input("names", sprintf("has %d names, but there are only %s", length(names), count_words(map$count, "type")))
  }
  labels <- as.character(seq_len(map$count))
  labels[seq_along(names)] <- names
  if (anyDuplicated(labels)) {
    stop_input("names", "has ", dQuote(labels[duplicated(labels)][[1L]], FALSE),
      ", the name of a type that was not given one")
  }
  own <- most_probable_type(fit, map, fit$x, run)
  summarise_types(fit, map, own, labels, speck, list(limit = overlap, requested = types, specks = specks))
}

check_type_names <- function(names, argument, count = NULL, call = sys.call(-1L)) {
  different <- is.character(names) && !anyNA(names) && all(nzchar(names)) && !anyDuplicated(names)
  if (!different || !is.null(count) && length(names) != count) {
    stop_input(argument, "must be different names, ",
      if (is.null(count)) "the most frequent type first" else paste("one for each of the", count_words(count, "type")),
      ", not ", if (is.character(names) && length(names)) list_some(names) else show_value(names),
      call = call
    )
  }
  names
}

# `own`: from most_probable_type(), of the fitted cells. `how`: the arguments.
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
  draw <- map$used$draw[[map$chosen]]
  chain <- map$used$chain[[map$chosen]]
  component_type <- map$type_of[, map$chosen]
  cells <- split(seq_along(own$type), factor(own$type, seq_len(count)))
  colnames(map$proportions) <- labels
  types <- data.frame(
    type = labels, proportion = proportion, lower = interval[1L, ], upper = interval[2L, ],
    cells = lengths(cells, use.names = FALSE), components = tabulate(map$group, count), nearest = labels[nearest],
    overlap = if (count > 1L) share[cbind(seq_len(count), nearest)] else NA_real_, stability = map$stability,
    speck = proportion < speck
  )
  medians <- medians_of_types(fit, cells, component_type, mixture_of_draw(fit, draw, chain))
  rownames(medians) <- labels
  structure(c(list(
    types = types, type = factor(own$type, seq_len(count), labels), probability = own$probability,
    proportions = map$proportions, medians = medians, tree = as_hclust(map$tree), component_type = component_type,
    draw = draw, chain = chain
  ), how, list(speck = speck, fit = fit, map = map)), class = "cell_types")
}

# types x markers. `cells`: the rows of each type. If no cell of a type has a value, the mean of its components.
medians_of_types <- function(fit, cells, component_type, mixture) {
  medians <- vapply(seq_along(cells), function(t) {
    median <- apply(fit$x[cells[[t]], , drop = FALSE], 2L, stats::median, na.rm = TRUE)
    if (!anyNA(median)) {
      return(median)
    }
    among <- which(component_type == t)
    mean <- colSums(mixture$weights[among] * mixture$means[among, , drop = FALSE]) / sum(mixture$weights[among])
    ifelse(is.na(median), mean, median)
  }, numeric(length(fit$markers)))
  matrix(t(medians), length(cells), dimnames = list(NULL, fit$markers))
}
