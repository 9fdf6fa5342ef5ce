#' Tables in the form of broom
#'
#' `tidy()` gives a row for each parameter or part, `glance()` one row for the whole, `augment()` the data with new
#' columns. Columns have broom's names: `term`, `estimate` (posterior mean), `std.error` (posterior standard deviation),
#' `conf.low` and `conf.high` (credible interval with equal tails). With package tibble loaded, tables are tibbles.
#'
#' | what was fitted | `tidy()` | `glance()` | `augment()` |
#' |---|---|---|---|
#' | [bayes_logit()] | coefficients | yes | rows: [tidy.bayes_logit()] |
#' | [dp_mixture()] | components and markers | yes | cells: [tidy.dp_mixture()] |
#' | [relabel()] of a mixture | components with intervals | yes | cells: [tidy.dp_mixture()] |
#' | [cell_types()] | types | yes | cells: [tidy.dp_mixture()] |
#' | [type_proportions()] | its rows | no | no |
#' | [differential_abundance()] | types and effects | yes | no: [summary.differential_abundance()] |
#' | [topic_model()] | terms or topics | yes | words: [tidy.topic_model()] |
#' | [compare_topics()] | numbers of topics | yes | no |
#' | [predictive_resample()] | quantities | yes | no |
#' | [pmf()] | values | yes | no |
#'
#' @param x cell types, a table of proportions, a relabelled mixture, a martingale posterior, or a distribution.
#' @param conf.level probability of the intervals; `NULL`: the table's.
#' @param ... must be empty.
#' @return A data frame or tibble.
#'   * Cell types: `type`, `speck`, `estimate` (share of the cells), `conf.low`, `conf.high`, `cells`, `components`,
#'     `rhat`, `ess`. `glance()`: `nobs`, `types` (without specks), `specks`, `overlap` (the largest between two types),
#'     `apart` and `stability` (the smallest of the types that are no specks).
#'   * Proportions: `type`, `sample`, `cells`, `estimate`, `conf.low`, `conf.high`.
#'   * A relabelled mixture: `component`, `term` (`"weight"` or the marker, for the mean), `estimate`, `conf.low`,
#'     `conf.high` (90%), `present` and `stability` as in [relabel.dp_mixture()].
#'   * A martingale posterior, `glance()`: `nobs`, `quantities`, `draws`, `horizon`, `remaining` (the largest share of
#'     the variance that the horizon leaves out), `seconds`.
#'   * A distribution: `value` and `prob`. `glance()`: `mean`, `std.dev`, `median`, `lowest`, `highest`, `values`.
#' @examples
#' if (requireNamespace("generics", quietly = TRUE)) {
#'   fit <- bayes_logit(am ~ wt, mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#'   generics::tidy(fit)
#'   generics::glance(fit)
#' }
#' @name tidiers
NULL

as_table <- function(table) if (isNamespaceLoaded("tibble")) tibble::as_tibble(table) else table

glance_of <- function(x) UseMethod("glance_of")

glance_of.default <- function(x) stop_refused("glance", x)

#' @rdname tidiers
#' @method glance warpbayes
#' @exportS3Method generics::glance warpbayes
glance.warpbayes <- function(x, ...) {
  check_dots_empty(...)
  as_table(glance_of(x))
}

extreme <- function(values, of) if (all(is.na(values))) NA_real_ else of(values, na.rm = TRUE)
