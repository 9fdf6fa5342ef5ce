# Differential abundance: a hierarchical model of the numbers of cells by type and sample. Here are the arguments and
# what comes back; the model is in R/differential_abundance_model.R.

#' Compare the abundance of cell types between groups of samples
#'
#' Says which cell types are more or less frequent in one group of patients than in another. The result has an interval
#' for each type, about the population that the samples come from, and a false discovery rate over all types.
#'
#' @param types cell types from [cell_types()] of a fit of several samples. Or a matrix of counts with a row for each
#'   type and a column for each sample.
#' @param formula what the abundance depends on, without a response: `~ group`, `~ group + age`, or, for patients with
#'   several samples each, `~ group + (1 | patient)`. At most one term `(1 | g)` is known.
#' @param data a data frame with the variables of the formula, and a row for each sample. If its row names, or a column
#'   `sample`, are the names of the samples, rows may have any order. Otherwise they are in the order of the samples.
#'   Samples with missing values are left out. `NULL`: the variables are where the formula was written.
#' @param effect which terms of the formula are compared: names of terms or of their coefficients. `NULL`: the first
#'   term.
#' @param level probability of the intervals, between 0 and 1.
#' @param fdr types are reported as long as their expected false discovery rate is at most this, between 0 and 1.
#' @param totals for a matrix of counts: the number of cells of each sample. `NULL`: the sums of its columns.
#' @param ndraws for cell types: how many draws of the fit give counts. More draws describe better how unsure the types
#'   of the cells are.
#' @param chains number of chains for each draw of the counts. `NULL`: 2, or 4 for a matrix.
#' @param iter,warmup sweeps of a chain, and how many of them are left out.
#' @param ... not used.
#' @inheritParams computing_arguments
#' @return An object of class `differential_abundance`:
#'   \item{effects}{a data frame with a row for each type and coefficient, in the order of the types:
#'     \describe{
#'       \item{`type`, `effect`}{the type, and the coefficient of the formula, such as `grouppatient`;}
#'       \item{`share`}{the mean share of the type in the samples;}
#'       \item{`estimate`, `lower`, `upper`}{the posterior median of the effect on the log odds of the type, and its
#'         interval. `exp(estimate)` is an odds ratio;}
#'       \item{`above`}{the posterior probability that the effect is above 0;}
#'       \item{`null`}{the probability that the type has no effect;}
#'       \item{`lfsr`}{the local false sign rate: the probability that the effect is 0 or has the other sign;}
#'       \item{`fdr`}{the expected share of false reports if this type and all with a smaller `lfsr` are reported;}
#'       \item{`deviation`}{the posterior median of the standard deviation between samples, in log odds;}
#'       \item{`rhat`, `ess`}{\eqn{\hat R} and the effective sample size of the effect.}
#'     }}
#'   \item{counts, totals}{the counts of cells, types x samples (the mean over draws), and all cells of each sample.}
#'   \item{draws}{the kept draws of all chains: `effects` (draws x chains x types x coefficients), `deviation` (draws x
#'     chains x types), and `group_deviation` if the formula has groups.}
#'   \item{no_effect}{for each coefficient, the posterior mean of the share of types without an effect.}
#'   \item{converged}{whether all \eqn{\hat R} are at most 1.05, and all effective sample sizes at least 100.}
#'
#'   The other elements say how it was made: `formula`, `design`, `samples`, `omitted`, `level`, `limit`, `seed`,
#'   `chains`, `iter`, `warmup`, `tables` (draws of the counts), `group_name`, `call`. The methods
#'   `as.data.frame()`, `tidy()` and `glance()` give tables.
#' @section Model:
#' The number of cells of a type in a sample is binomial, out of all cells of the sample. The log odds are the sum of
#' the predictors of the formula, an intercept of the patient (if the formula has a term `(1 | patient)`), and a
#' deviation of the sample. So samples of the same group differ by more than the counting of cells explains. The
#' standard deviation between samples, \eqn{\sigma_t}, is learned for each type \eqn{t}. It is half-t with 4 degrees of
#' freedom, and its scale is learned from all types together, with a trend in their frequency: rare types vary more.
#' With three samples in a group, one type alone could not tell its standard deviation. The scale has a log-normal
#' prior with median 0.5. Coefficients of predictors with standard deviation 1 are normal with standard deviation 2.5.
#'
#' Counts enter, not shares, so a type that is absent from some samples needs no correction. Cells whose type is
#' uncertain are counted differently in each draw of the fit, and the intervals include this. If a type has no cell at
#' all in a draw, the other draws speak for it.
#'
#' @section False discovery rate:
#' Among many types, some intervals exclude 0 by chance. So a second model looks at all types together: a share of the
#' types has no effect, and the effects of the others are normal. The share and the variance are learned from all types.
#' `lfsr` is the local false sign rate in this model (Stephens 2017): the probability that the effect is 0 or has the
#' other sign. `fdr` is its mean over the reported types, which is at least their posterior expected false discovery
#' rate (Newton et al. 2004). The sign counts because a type without cells says nothing: its `lfsr` is above one half,
#' even if nearly all other types have effects. Without a point mass at 0, a local false sign rate would not depend on
#' how many types are compared.
#'
#' Intervals, `estimate` and `above` describe each type by itself. They are not drawn towards 0.
#'
#' Shares add up to 1. If one frequent type grows, all others shrink a little in their log odds. So several small
#' effects in one direction may be the shadow of a large one.
#' @section How exact it is:
#' `bench/type-groups.R` measures it. With 3 against 3 and 10 against 10 samples of one Dirichlet law, about a tenth of
#' the 90% intervals exclude 0.
#' @section Errors:
#' `warpbayes_error_input` for an argument that cannot be used, for variables that do not fit the samples, for
#' predictors that depend on each other, and for no more samples than coefficients.
#' @references
#' Newton, M. A., Noueiry, A., Sarkar, D. and Ahlquist, P. (2004). Detecting differential gene expression with a
#' semiparametric hierarchical mixture method. *Biostatistics* **5**, 155-176.
#'
#' Stephens, M. (2017). False discovery rates: a new deal. *Biostatistics* **18**, 275-294.
#'
#' Weber, L. M., Nowicka, M., Soneson, C. and Robinson, M. D. (2019). diffcyt: Differential discovery in
#' high-dimensional cytometry via high-resolution clustering. *Communications Biology* **2**, 183.
#' @seealso [type_proportions()] for the proportions themselves; [type_differences()] for differences between these
#'   samples alone
#' @examples
#' # Numbers of cells of three types in six samples. The second type grows.
#' counts <- rbind(
#'   T = c(510, 480, 450, 400, 380, 440), B = c(40, 52, 45, 160, 120, 143), NK = c(12, 0, 9, 4, 11, 7)
#' )
#' colnames(counts) <- paste0("s", 1:6)
#' patients <- data.frame(group = rep(c("control", "patient"), each = 3))
#' result <- differential_abundance(counts, ~ group, patients, totals = rep(1000, 6), seed = 1)
#' result
#' plot(result)
#' @export
differential_abundance <- function(types, formula, data = NULL, effect = NULL, level = 0.9, fdr = 0.1, totals = NULL,
                                   ndraws = 10, chains = NULL, iter = 600, warmup = 150, seed = NULL, backend = NULL,
                                   threads = NULL, ...) {
  check_dots_empty(...)
  level <- check_number(level, "level", min = 0, max = 1)
  fdr <- check_number(fdr, "fdr", min = 0, max = 1)
  ndraws <- check_count(ndraws, "ndraws", max = 1e4)
  chains <- if (!is.null(chains)) check_count(chains, "chains", max = 1000)
  iter <- check_count(iter, "iter", max = 1e6)
  warmup <- check_count(warmup, "warmup", min = 0, max = max(0, iter - fewest_sweeps))
  seed <- check_seed(seed)
  run <- resolve_run(backend, threads)
  check_present(!missing(types), "types")
  if (inherits(types, "cell_types")) {
    check_cell_types(types)
    if (!is.null(totals)) stop_input("totals", "is for a matrix of counts; cell types know the cells of their samples")
    counts <- draw_type_counts(types, ndraws, seed, run)
    totals <- tabulate(types$fit$sample, length(types$fit$samples))
  } else {
    counts <- check_type_counts(types)
    totals <- check_totals(totals, counts)
    counts <- array(counts, c(dim(counts), 1L), c(dimnames(counts), list(NULL)))
  }
  if (is.null(chains)) {
    chains <- if (dim(counts)[[3L]] > 1L || inherits(types, "cell_types")) 2 else 4
  }
  model <- abundance_model(formula, data, dimnames(counts)[[2L]], effect)
  kept <- model$kept
  some <- counts[, kept, , drop = FALSE]
  fitted <- fit_abundance(some, as.double(totals[kept]), model, chains, iter, warmup, seed, run)
  compared <- compare_effects(fitted, model, level, chains)
  mean <- rowMeans(counts, dims = 2L)
  share <- rowMeans(mean[, kept, drop = FALSE] / rep(totals[kept], each = nrow(mean)))
  effects <- cbind(compared$effects[c("type", "effect")], share = rep(share, length(model$compared)),
    compared$effects[-(1:2)], row.names = NULL)
  structure(list(
    effects = effects, counts = mean, totals = stats::setNames(totals, colnames(mean)),
    draws = list(
      effects = fitted$effects, deviation = fitted$deviation,
      group_deviation = if (!is.null(model$group)) fitted$group_deviation
    ), no_effect = compared$no_effect, converged = compared$converged, formula = formula, design = model$x,
    samples = rownames(model$x), omitted = colnames(mean)[!kept], level = level, limit = fdr, seed = seed,
    chains = chains, iter = iter, warmup = warmup, tables = dim(counts)[[3L]], group_name = model$group_name,
    call = short_call(match.call(), "differential_abundance")
  ), class = c("differential_abundance", "warpbayes"))
}

check_type_counts <- function(counts) {
  counts <- without_integer64(counts)
  if (is.data.frame(counts)) counts <- as.matrix(counts)
  if (!is.matrix(counts) || !is.numeric(counts) || !length(counts)) {
    stop_input("types", "must come from cell_types() or be a matrix of counts, not ", show_value(counts))
  }
  bad <- is.na(counts) | counts < 0 | counts != floor(counts) | counts > 2^53
  if (any(bad)) {
    at <- which(bad, arr.ind = TRUE)[1L, ]
    stop_input("types", sprintf("must have whole numbers of cells from 0, but row %d has %s in column %d", at[[1L]],
      format(counts[[at[[1L]], at[[2L]]]]), at[[2L]]))
  }
  names <- list(rownames(counts), colnames(counts))
  for (i in 1:2) {
    if (is.null(names[[i]])) names[[i]] <- as.character(seq_len(dim(counts)[[i]]))
    if (anyDuplicated(names[[i]])) {
      stop_input("types", "has two ", c("rows", "columns")[[i]], " named ",
        dQuote(names[[i]][duplicated(names[[i]])][[1L]], FALSE))
    }
  }
  matrix(as.double(counts), nrow(counts), dimnames = names)
}

check_totals <- function(totals, counts) {
  totals <- if (is.null(totals)) colSums(counts) else without_integer64(totals)
  if (!is.numeric(totals) || length(totals) != ncol(counts) || any(!is.finite(totals) | totals != floor(totals))) {
    stop_input("totals", sprintf("must have a number of cells for each of the %s, not ",
      count_words(ncol(counts), "sample")), show_value(totals))
  }
  if (!is.null(names(totals)) && setequal(names(totals), colnames(counts))) totals <- totals[colnames(counts)]
  least <- apply(counts, 2L, max)
  if (any(totals < pmax(1, least))) {
    sample <- which(totals < pmax(1, least))[[1L]]
    stop_input("totals", sprintf("has %s for sample %s, which has %s of one type",
      count_words(totals[[sample]], "cell"), dQuote(colnames(counts)[[sample]], FALSE), whole_words(least[[sample]])))
  }
  unname(totals)
}
