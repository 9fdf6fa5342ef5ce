# tidy() and glance() of results that are no fits of their own, and what all tables of package generics share.

#' Tables in the form of broom
#'
#' All fits and results have methods for the generics `tidy()`, `glance()` and `augment()` of package generics, which
#' broom and the tidymodels packages re-export. `tidy()` gives a row for each parameter or part, `glance()` one row for
#' the whole, `augment()` the data with new columns.
#'
#' Columns have broom's names: `term`, `estimate` (posterior mean), `std.error` (posterior standard deviation),
#' `conf.low` and `conf.high` (ends of a credible interval with equal tails). If package tibble is loaded, the tables
#' are tibbles. Otherwise they are data frames.
#'
#' | what was fitted | `tidy()` | `glance()` | `augment()` |
#' |---|---|---|---|
#' | [bayes_logit()] | coefficients | yes | rows: [tidy.bayes_logit()] |
#' | [dp_mixture()] | components and markers | yes | cells: [tidy.dp_mixture()] |
#' | [relabel()] of a mixture | components with intervals | yes | cells: [tidy.dp_mixture()] |
#' | [cell_types()] | types | yes | cells: [tidy.dp_mixture()] |
#' | [type_proportions()], [type_differences()] | their rows | no | no |
#' | [differential_abundance()] | types and effects | yes | no: [summary.differential_abundance()] |
#' | [topic_model()] | terms or topics | yes | words: [tidy.topic_model()] |
#' | [compare_topics()] | numbers of topics | yes | no |
#' | [predictive_resample()] | quantities | yes | no |
#' | [pmf()] | values | yes | no |
#'
#' @param x for these methods: cell types, a table of proportions or differences, a relabelled mixture, a martingale
#'   posterior, or a distribution.
#' @param conf.level probability of the intervals; `NULL`: the table's. Only tables that keep their draws can be given
#'   another.
#' @param ... must be empty.
#' @return A data frame or tibble.
#'   * Cell types: `type`, `estimate` (share of the cells), `conf.low`, `conf.high`, `cells`, `components`, `rhat`,
#'     `ess`. `glance()`: `nobs`, `types`, `specks` (number of specks), `overlap` (the largest between two types),
#'     `apart` and `stability` (the smallest of the types that are no specks).
#'   * Proportions: `type`, `sample`, `cells`, `estimate`, `conf.low`, `conf.high`. Differences: `type`, `contrast`
#'     (such as `"patient - control"`), `estimate`, `conf.low`, `conf.high`, `above` (probability of being above 0).
#'   * A relabelled mixture: `component`, `term` (`"weight"` or the marker, for the mean), `estimate`, `conf.low`,
#'     `conf.high` (90%), `present` and `stability` as in [relabel.dp_mixture()].
#'   * A martingale posterior, `glance()`: `nobs`, `quantities`, `draws`, `horizon`, `remaining` (the largest share of
#'     the variance that the horizon leaves out), `seconds`.
#'   * A distribution: `value` and `prob`. `glance()`: `mean`, `std.dev`, `median`, `lowest`, `highest`, `values`.
#' @section Errors:
#' `warpbayes_error_input` for an argument that cannot be used.
#' @examples
#' set.seed(1)
#' x <- list(a = matrix(rnorm(400), 200), b = matrix(rnorm(400, mean = rep(c(0, 5), 100)), 200))
#' types <- cell_types(dp_mixture(x, components = 6, iter = 200, seed = 1, threads = 2), threads = 2)
#' if (requireNamespace("generics", quietly = TRUE)) {
#'   generics::tidy(types)
#'   generics::glance(types)
#'   generics::tidy(type_differences(types, group = c("control", "patient")))
#'   generics::glance(pmf(rep(1 / 6, 6), from = 1))
#' }
#' @name tidiers
NULL

# Tables are tibbles in sessions that have loaded package tibble.
as_table <- function(table) {
  if (isNamespaceLoaded("tibble")) tibble::as_tibble(table) else table
}

# The one row of glance() for a result.
glance_of <- function(x) UseMethod("glance_of")

glance_of.default <- function(x) stop_refused("glance", x)

#' @rdname tidiers
#' @method glance warpbayes
#' @exportS3Method generics::glance warpbayes
glance.warpbayes <- function(x, ...) {
  check_dots_empty(...)
  as_table(glance_of(x))
}

# The smallest or largest of some values, NA if all of them are.
extreme <- function(values, of) if (all(is.na(values))) NA_real_ else of(values, na.rm = TRUE)

#' @rdname tidiers
#' @method tidy cell_types
#' @exportS3Method generics::tidy cell_types
tidy.cell_types <- function(x, conf.level = 0.9, ...) {
  check_method(x, "x", ...)
  conf.level <- check_number(conf.level, "conf.level", min = 0, max = 1)
  types <- x$types
  ends <- types[c("lower", "upper")]
  if (conf.level != 0.9 && !anyNA(ends)) {
    tail <- (1 - conf.level) / 2
    ends[] <- t(apply(x$proportions, 2L, stats::quantile, c(tail, 1 - tail), names = FALSE))
  }
  as_table(data.frame(
    type = types$type, estimate = types$proportion, conf.low = ends[[1L]], conf.high = ends[[2L]],
    cells = types$cells, components = types$components, rhat = types$rhat, ess = types$ess
  ))
}

glance_of.cell_types <- function(x) {
  check_cell_types(x, "x")
  types <- x$types
  own <- types[!types$speck, ]
  data.frame(
    nobs = length(x$type), types = nrow(types), specks = sum(types$speck), overlap = extreme(types$overlap, max),
    apart = extreme(own$apart, min), stability = extreme(own$stability, min)
  )
}

#' @rdname tidiers
#' @method tidy type_proportions
#' @exportS3Method generics::tidy type_proportions
tidy.type_proportions <- function(x, conf.level = NULL, ...) {
  check_dots_empty(...)
  check_share_table(x)
  draws <- attr(x, "draws")
  ends <- unclass(x)[c("lower", "upper")]
  if (!is.null(conf.level)) {
    conf.level <- check_number(conf.level, "conf.level", min = 0, max = 1)
    if (!is.numeric(draws) || length(dim(draws)) != 3L || prod(dim(draws)[-1L]) != nrow(x)) {
      stop_input("conf.level", "cannot be changed: rows of the table were removed, so its draws do not fit")
    }
    interval <- interval_over_draws(draws, conf.level)
    ends <- list(zap_share(as.vector(interval$lower)), zap_share(as.vector(interval$upper)))
  }
  as_table(data.frame(
    type = x$type, sample = x$sample, cells = x$cells, estimate = x$proportion, conf.low = ends[[1L]],
    conf.high = ends[[2L]]
  ))
}

#' @rdname tidiers
#' @method tidy type_differences
#' @exportS3Method generics::tidy type_differences
tidy.type_differences <- function(x, ...) {
  check_dots_empty(...)
  check_share_table(x)
  as_table(data.frame(
    type = x$type, contrast = paste(x$group, x$against, sep = " - "), estimate = x$difference, conf.low = x$lower,
    conf.high = x$upper, above = x$above
  ))
}

#' @rdname tidiers
#' @method tidy relabelled_mixture
#' @exportS3Method generics::tidy relabelled_mixture
tidy.relabelled_mixture <- function(x, ...) {
  check_method(x, "x", ...)
  check_component_tables(x)
  weights <- x$component_weights
  means <- x$component_means
  own <- match(means$component, weights$component)
  table <- data.frame(
    component = c(weights$component, means$component), term = c(rep("weight", nrow(weights)), means$marker),
    estimate = c(weights$mean, means$mean), conf.low = c(weights$lower, means$lower),
    conf.high = c(weights$upper, means$upper), present = weights$present[c(seq_len(nrow(weights)), own)],
    stability = weights$stability[c(seq_len(nrow(weights)), own)]
  )
  table <- table[order(match(table$component, weights$component)), ]
  rownames(table) <- NULL
  as_table(table)
}

glance_of.martingale_posterior <- function(x) {
  check_parts(x, "x")
  data.frame(
    nobs = x$n, quantities = ncol(x$draws), draws = nrow(x$draws), horizon = as.double(x$horizon),
    remaining = if (length(x$remaining)) max(x$remaining) else NA_real_, seconds = elapsed_seconds(x$elapsed)
  )
}

#' @rdname tidiers
#' @method tidy pmf
#' @exportS3Method generics::tidy pmf
tidy.pmf <- function(x, ...) {
  check_dots_empty(...)
  as_table(as.data.frame.pmf(x))
}

glance_of.pmf <- function(x) {
  check_pmf(x, "x")
  data.frame(
    mean = mean(x), std.dev = sqrt(variance(x)), median = median(x), lowest = x$from, highest = last_of(x),
    values = size_of(x)
  )
}

frame_of.cell_types <- function(x, ...) {
  check_method(x, "x", ...)
  x$types
}
