# Several samples in one fit: which cells are of which sample.

#' Mixtures of several samples
#'
#' [dp_mixture()] fits several samples together: they have the same components, and each has its own weights. So a
#' sample with few cells borrows strength from the others (hierarchical Dirichlet process; see [mixture_model]).
#' @section How to give the samples:
#' Either `x` is a list of matrices, data frames or frames, a `flowSet` or a `cytoset`; or `sample` has the sample of
#' each cell, or the name of the column of `x` or its `colData()` that does. `sample = FALSE`: a plain mixture.
#' @section What comes back:
#' The fit has `samples` (names) and `sample` (the number of each cell's sample). If `"weights"` are kept, its draws
#' also have `sample_weights` and `sample_sizes` (components x samples x draws x chains): the weights of each sample,
#' and how many of its cells each component has. `weights`, the samples' weights averaged by their numbers of cells, are
#' used wherever no sample is named.
#' @seealso [type_proportions()], [differential_abundance()]
#' @examples
#' set.seed(1)
#' draw <- function(n, share) cbind(CD4 = rnorm(n) + 5 * (runif(n) < share), CD8 = rnorm(n))
#' samples <- list(one = draw(1000, 0.2), two = draw(600, 0.5))
#' fit <- dp_mixture(samples, components = 8, iter = 100, seed = 1, threads = 2)
#' round(apply(fit$draws$sample_weights, 1:2, mean), 2)
#' @name mixture_samples
NULL

# Reads `x` and `sample` of dp_mixture(). Returns `x`, `markers` and `assay` for as_marker_matrix(); `sample` of each
# cell, or NULL; and `parts`: a factor with each cell's part of `x`, or NULL for a single matrix.
read_samples <- function(x, sample, markers, argument = "x", assay = NULL) {
  if (is.list(x) && !is.data.frame(x)) {
    stacked <- stack_samples(x, markers, argument, assay)
    own <- stacked$sample
    x <- stacked$x
    markers <- NULL
  } else {
    own <- frame_samples(x, argument)
  }
  if (is.null(sample) || identical(sample, FALSE)) {
    sample <- if (is.null(sample)) own
  } else if (names_column(sample, x)) {
    sample <- cell_column(x, sample, argument, "sample")
    if (is.null(markers)) x <- sample$others
    sample <- sample$values
  }
  list(x = x, markers = markers, sample = sample, parts = own, assay = assay)
}

names_column <- function(values, x) is.character(values) && length(values) == 1L && !identical(dim(x)[1L], 1L)

# The column of cells or of their colData() that `by` names, and the cells without it.
cell_column <- function(x, column, argument, by) {
  of <- sprintf("`%s`", argument)
  columns <- x
  if (isS4(x) && methods::is(x, "SummarizedExperiment")) {
    read <- accessor("SummarizedExperiment", "colData")
    if (is.null(read)) assay_cells(x, argument)
    columns <- read(x)
    of <- sprintf("colData(%s)", argument)
  }
  found <- match(column, colnames(columns))
  if (is.na(found) || isS4(columns) && identical(columns, x)) {
    stop_input(by, "names ", dQuote(column, FALSE), ", which is no column of ", of,
      if (length(colnames(columns))) paste("; it has", list_some(colnames(columns))))
  }
  if (!identical(columns, x)) return(list(values = columns[[column]], others = x))
  list(values = x[, column, drop = TRUE], others = x[, -found, drop = FALSE])
}

check_samples <- function(sample, rows, cells = NULL, argument = "sample",
                          choices = "must be NULL, FALSE, the name of a column, or") {
  if (is.null(sample)) return(NULL)
  wrong <- function(...) stop_input(argument, ...)
  sample <- by_names(sample, cells, argument, "cell")
  known <- is.factor(sample) || is.character(sample) || is.numeric(sample) || is.logical(sample)
  if (!known || !is.null(dim(sample))) wrong(choices, " one value for each cell, not ", show_value(sample))
  if (length(sample) != rows) {
    wrong(sprintf("has %s for %s", count_words(length(sample), "value"), count_words(rows, "cell")))
  }
  if (anyNA(sample)) wrong("is missing for row ", format(which(is.na(sample))[[1L]]))
  if (!is.factor(sample)) sample <- factor(sample, unique(sample))
  droplevels(sample)
}

stack_samples <- function(x, markers, argument, assay = NULL) {
  wrong <- function(...) stop_input(argument, ...)
  if (!length(x)) wrong("is an empty list; it should have a matrix for each sample")
  names <- sample_names(names(x), length(x), argument)
  shown <- function(i) sprintf("sample %d (%s)", i, dQuote(names[[i]], FALSE))
  values <- lapply(seq_along(x), function(i) {
    part <- expression_matrix(x[[i]], markers, sprintf("%s[[%d]]", argument, i), assay = assay)
    if (!nrow(part)) wrong("has no cells in ", shown(i))
    part
  })
  first <- values[[1L]]
  columns <- colnames(first)
  columns_of <- function(part) {
    if (is.null(colnames(part))) count_words(ncol(part), "column") else list_some(colnames(part))
  }
  for (i in seq_along(values)[-1L]) {
    own <- colnames(values[[i]])
    # In any order.
    if (ncol(values[[i]]) != ncol(first) || is.null(own) != is.null(columns) || !setequal(own, columns) ||
      anyDuplicated(own)) {
      wrong("has samples with different columns: ", shown(i), " has ", columns_of(values[[i]]),
        ", ", shown(1L), " has ", columns_of(first))
    }
    if (!identical(own, columns)) values[[i]] <- values[[i]][, columns, drop = FALSE]
  }
  sizes <- vapply(values, nrow, 0L)
  list(x = do.call(rbind, unname(values)), sample = factor(rep(seq_along(x), sizes), seq_along(x), names))
}

sample_names <- function(names, count, argument) {
  if (is.null(names)) names <- character(count)
  unnamed <- is.na(names) | !nzchar(names)
  names[unnamed] <- as.character(seq_len(count))[unnamed]
  if (anyDuplicated(names)) stop_input(argument, "has two samples named ", dQuote(names[anyDuplicated(names)], FALSE))
  names
}

frame_samples <- function(x, argument) {
  if (!isS4(x) || !methods::is(x, "flowSet")) return(NULL)
  frames <- cytometry_frames(x)
  read <- accessor("Biobase", "sampleNames")
  names <- names(frames)
  if (is.null(names) && !is.null(read)) names <- read(x)
  names <- sample_names(names, length(frames), argument)
  sizes <- vapply(frames, function(frame) nrow(frame_values(frame, argument)), 0L)
  if (any(sizes == 0L)) stop_input(argument, "has no cells in sample ", dQuote(names[sizes == 0L][[1L]], FALSE))
  factor(rep(seq_along(sizes), sizes), seq_along(sizes), names)
}
