# Differential abundance: arguments and results; the model is in R/cells_abundance_model.R.

#' Compare the abundance of cell types between groups of samples
#'
#' Says which cell types are more or less frequent in one group of patients than in another.
#' @param types cell types from [cell_types()] of a fit of several samples. Or counts, types x samples: a matrix, data
#'   frame, `DataFrame`, `SummarizedExperiment` or `DGEList`, or `table(cluster, sample)` of cells.
#' @param formula what the abundance depends on: `~ group`, `~ group + age` or, for patients with several samples each,
#'   `~ group + (1 | patient)`. At most one term `(1 | g)`.
#' @param data a data frame with the variables of the formula and a row for each sample, which is found by its [name
#'   ][joining]. Samples with missing values are left out. `NULL`: the variables are where the formula was written.
#' @param effect what is compared: terms, coefficients, or combinations such as `c("C - B" = "groupC - groupB")`.
#'   `NULL`: the first term.
#' @param level probability of the intervals.
#' @param fdr types are reported at this false discovery rate.
#' @param totals for counts: the number of cells of each sample. `NULL`: the sums of the columns.
#' @param ndraws for cell types: how many draws of the fit give counts.
#' @param chains number of chains for each draw of the counts. `NULL`: 2, or 4 for a matrix.
#' @param iter,warmup sweeps of a chain, and how many of them are left out.
#' @param change which changes are tested: of `"absolute"` numbers or of the `"share"`. `"auto"`: `"absolute"` for at
#'   least four tested types, otherwise `"share"`.
#' @inheritParams computing_arguments
#' @return An object of class `differential_abundance`. `as.data.frame()`, `tidy()` and `glance()` give tables.
#'   \item{effects}{a row for each `type` and `effect`, such as `grouppatient`. `share`: the mean share in the samples.
#'     `tested`: `FALSE` for specks and types with none or all of the cells. `estimate`, `lower`, `upper`: posterior
#'     median and interval of the effect on the log odds; `above`: the probability that it is above 0. `change`,
#'     `change_lower`, `change_upper`: the same of the tested change, on the log scale. `p`: twice the probability of
#'     the less probable sign. `fdr`: the smallest false discovery rate at which the type is reported (Benjamini and
#'     Hochberg, with the learned share of unchanged types). `null`, `lfsr`: the probabilities of no change, and of that
#'     or the other sign (Stephens 2017). `deviation`: median standard deviation between samples, in log odds.
#'     `rhat`, `ess`: see [convergence].}
#'   \item{counts, totals}{the counts, types x samples (mean over draws), and all cells of each sample.}
#'   \item{draws}{`effects` (draws x chains x tested types x coefficients), `deviation` (draws x chains x tested types),
#'     and `group_deviation` if the formula has groups.}
#'   \item{converged}{whether every \eqn{\hat R} is at most 1.05 and every effective sample size at least 100.}
#' @section Model:
#' The number of cells of a type in a sample is binomial. The log odds are the sum of the predictors, an intercept of
#' the patient (with `(1 | patient)`) and a deviation of the sample, whose standard deviation is learned from all types.
#' Coefficients of predictors with standard deviation 1 are normal with standard deviation 2.5.
#'
#' If a frequent type trebles, all other shares fall. So each effect has a common shift of the logs of all shares, and
#' the change beyond it is absolute, if most types do not change in one direction.
#' @section Errors:
#' `warpbayes_error_input` for arguments that cannot be used, dependent predictors, and too few samples.
#' @references
#' Stephens, M. (2017). False discovery rates: a new deal. *Biostatistics* **18**, 275-294.
#' @seealso [type_proportions()], [differential_state()] for markers
#' @examples
#' counts <- rbind(T = c(510, 480, 450, 400, 380, 440), B = c(40, 52, 45, 160, 120, 143))
#' patients <- data.frame(group = rep(c("control", "patient"), each = 3))
#' result <- differential_abundance(counts, ~ group, patients, totals = rep(1000, 6), seed = 1)
#' result
#' summary(result)
#' plot(result)
#' @export
differential_abundance <- function(types, formula, data = NULL, effect = NULL, level = 0.9, fdr = 0.1, totals = NULL,
                                   ndraws = 10, chains = NULL, iter = 600, warmup = 150, seed = NULL, backend = NULL,
                                   threads = NULL, ..., change = c("auto", "absolute", "share")) {
  check_dots_empty(...)
  level <- check_number(level, "level", min = 0, max = 1)
  fdr <- check_number(fdr, "fdr", min = 0, max = 1)
  ndraws <- check_count(ndraws, "ndraws", max = 1e4)
  chains <- if (!is.null(chains)) check_count(chains, "chains", max = 1000)
  iter <- check_count(iter, "iter", max = 1e6)
  warmup <- check_count(warmup, "warmup", min = 0, max = max(0, iter - fewest_sweeps))
  change <- check_choice(change, "change", c("auto", "absolute", "share"))
  seed <- check_seed(seed)
  run <- resolve_run(backend, threads)
  check_present(!missing(types), "types")
  own <- inherits(types, "cell_types")
  if (own) {
    check_cell_types(types)
    if (!is.null(totals)) stop_input("totals", "is for a matrix of counts; cell types know the cells of their samples")
    counts <- draw_type_counts(types, ndraws)
    totals <- tabulate(types$fit$sample, length(types$fit$samples))
  } else {
    given <- samples_of_table(types)
    if (is.null(data)) data <- given
    if (is.null(totals)) totals <- given$lib.size
    counts <- check_type_counts(plain_table(types, "types"))
    check_turned(counts, data)
    totals <- check_totals(totals, counts)
    counts <- array(counts, c(dim(counts), 1L), c(dimnames(counts), list(NULL)))
  }
  if (is.null(chains)) chains <- if (own) 2 else 4
  model <- abundance_model(formula, data, dimnames(counts)[[2L]], effect, own || !is.null(colnames(types)))
  kept <- model$kept
  mean <- rowMeans(counts, dims = 2L)
  share <- rowMeans(mean[, kept, drop = FALSE] / rep(totals[kept], each = nrow(mean)))
  # A speck is no type. A type with none or all of the cells tells nothing.
  tested <- share > 0 & share < 1
  if (own) tested <- tested & !types$types$speck
  if (!any(tested)) stop_input("types", "has only types with none or all of the cells of these samples")
  if (change == "auto") change <- if (sum(tested) >= fewest_references) "absolute" else "share"
  fitted <- fit_abundance(counts[tested, kept, , drop = FALSE], as.double(totals[kept]), model, chains, iter, warmup,
    seed, run)
  compared <- compare_effects(fitted, level, chains, share[tested], change == "absolute")
  names <- dimnames(counts)[[1L]]
  before <- (seq_len(ncol(model$contrasts)) - 1L) * sum(tested)
  place <- c(outer(match(names, names[tested]), before, "+"))
  effects <- data.frame(type = factor(names, names), effect = rep(colnames(model$contrasts), each = length(names)),
    share = share, tested = tested, compared$effects[place, -(1:2)], row.names = NULL)
  structure(c(list(
    effects = effects, counts = mean, totals = stats::setNames(totals, colnames(mean)), change = change,
    draws = fitted[c("effects", "deviation", if (!is.null(model$group)) "group_deviation")]
  ), compared[c("shift", "no_effect", "converged", "rhat")], list(
    formula = formula, design = model$x, contrasts = model$contrasts, effect_labels = model$labels,
    samples = rownames(model$x), omitted = colnames(mean)[!kept], level = level, limit = fdr, seed = seed,
    chains = chains, iter = iter, warmup = warmup, tables = dim(counts)[[3L]], group_name = model$group_name,
    design_reasons = design_reasons(model),
    rests_on = if (own) list(verdict(types)), call = short_call(match.call(), "differential_abundance")
  )), class = c("differential_abundance", "warpbayes_fit", "warpbayes"))
}

# With fewer types, no majority of them tells which ones have not changed.
fewest_references <- 4L

check_type_counts <- function(counts) {
  counts <- given_data(counts, "types")
  if (is.data.frame(counts)) counts <- numbers_of_table(counts)
  if (is_sparse_matrix(counts)) counts <- as.matrix(counts)
  if (!is.matrix(counts) || !is.numeric(counts) || !length(counts)) {
    stop_input("types", "must come from cell_types() or be a matrix of counts, not ", show_value(counts),
      if (is.atomic(counts) && is.null(dim(counts))) ": table(cluster, sample) counts cells")
  }
  bad <- is.na(counts) | counts < 0 | counts != floor(counts) | counts > 2^53
  if (any(bad)) {
    at <- which(bad, arr.ind = TRUE)[1L, ]
    value <- counts[[at[[1L]], at[[2L]]]]
    stop_input("types", sprintf("must have whole numbers of cells from 0, but row %d has %s in column %d", at[[1L]],
      format(value), at[[2L]]),
      if (!is.na(value) && value > 0 && value < 2^53) {
        "; shares and concentrations do not tell how many cells were counted"
      })
  }
  names <- list(names_or(rownames(counts), nrow(counts)), names_or(colnames(counts), ncol(counts)))
  check_unique(names[[1L]], "rows", "types")
  check_unique(names[[2L]], "columns", "types")
  matrix(as.double(counts), nrow(counts), dimnames = names)
}

# A table of counts may have the names of its rows in a column.
numbers_of_table <- function(table) {
  is_name <- vapply(table, function(values) is.factor(values) || is.character(values), NA)
  if (sum(is_name) == 2L && length(is_name) == 3L) {
    stop_input("types", sprintf("has a row for each type and sample: xtabs(%s ~ %s + %s) makes types x samples",
      names(table)[!is_name], names(table)[is_name][[1L]], names(table)[is_name][[2L]]))
  }
  numbers <- as.matrix(as.data.frame(table)[sum(is_name) != 1L | !is_name])
  if (sum(is_name) == 1L) rownames(numbers) <- as.character(table[[which(is_name)]])
  numbers
}

# Whether rows are samples, by their names or number.
check_turned <- function(counts, data) {
  data <- plain_table(data, "data")
  if (!is.data.frame(data)) return(invisible())
  named <- function(names) length(match_names(names, row_keys(data, names)$values)) > 0L
  if (named(colnames(counts))) return(invisible())
  known <- unlist(row_keys(data, colnames(counts))$values)
  as_long <- nrow(data) == nrow(counts) && nrow(data) > ncol(counts) && !any(colnames(counts) %in% known)
  if (as_long || named(rownames(counts))) stop_input("types", "has samples in its rows: t() makes them columns")
}

check_totals <- function(totals, counts) {
  if (is.null(totals)) {
    empty <- colnames(counts)[colSums(counts) == 0]
    if (length(empty)) stop_input("types", "has no cell in ", list_some(empty), ": leave such samples out")
    return(unname(colSums(counts)))
  }
  totals <- by_names(totals, colnames(counts), "totals", "sample")
  if (!is.numeric(totals) || length(totals) != ncol(counts) || any(!is.finite(totals))) {
    stop_input("totals", sprintf("must have a number of cells for each of the %s, not ",
      count_words(ncol(counts), "sample")), show_value(totals))
  }
  least <- apply(counts, 2L, max)
  for (sample in utils::head(which(totals < pmax(1, least)), 1L)) {
    stop_input("totals", sprintf("has %s for sample %s, which has %s of one type",
      count_words(totals[[sample]], "cell"), dQuote(colnames(counts)[[sample]], FALSE), whole_words(least[[sample]])))
  }
  unname(totals)
}
