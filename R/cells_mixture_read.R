# The cells of a new fit: a matrix in this process, or rows that the workers of a cluster read.

# Returns what as_marker_matrix() does, and `rows`, `sample` (a factor with an entry for each cell, NULL for one
# sample), `unit` (the scale of each marker in the sampler) and `probe` (five cells). With a row_reader(), `x` has
# some of the cells only, and `reader` is complete_reader()'s.
read_mixture_cells <- function(x, sample, markers, transform, cofactor, missing, piled, run, assay = NULL) {
  if (!is.null(assay) && !has_assays(x)) {
    stop_input("assay", "is given, but `x` is no SummarizedExperiment or SingleCellExperiment")
  }
  cells <- if (is_reader(x)) {
    cells_of_reader(x, sample, markers, transform, cofactor, missing, piled, run)
  } else {
    cells_of_matrix(x, sample, markers, transform, cofactor, missing, piled, run$threads, assay)
  }
  cells["sample"] <- list(check_samples(cells$sample, cells$rows))
  cells$unit <- ifelse(cells$sd > 0 & is.finite(1 / cells$sd), cells$sd, 1)
  dimnames(cells$probe) <- list(NULL, cells$markers)
  cells
}

cells_of_matrix <- function(x, sample, markers, transform, cofactor, missing, piled, threads, assay) {
  given <- read_samples(x, sample, markers, assay = assay)
  cells <- as_marker_matrix(
    given$x, given$markers, transform, cofactor, missing = missing, parts = given$parts, threads = threads,
    assay = given$assay
  )
  if (missing == "model") warn_empty_rows(cells$x)
  # The grid of the values is found before piled values leave it.
  cells$resolution <- resolution(cells)
  cells$piled <- with_widths(find_piled(cells), cells, piled)
  cells$x <- spread_piled(cells$x, cells$piled, cells$markers)
  c(cells, list(rows = nrow(cells$x), sample = given$sample, probe = probe_cells(cells$x, cells$mean)))
}

cells_of_reader <- function(reader, sample, markers, transform, cofactor, missing, piled, run) {
  if (missing == "model") {
    stop_input("missing", "is \"model\", which a row_reader() does not take: its cells must have all values")
  }
  if (piled == "spread") {
    stop_input("piled", "is \"spread\", which a row_reader() does not take: spread the values where they are read")
  }
  cells <- read_marker_cells(reader, run, markers, transform, cofactor)
  sample <- if (!identical(sample, FALSE)) sample
  cells$resolution <- resolution(cells)
  cells$piled <- with_widths(find_piled(cells), cells, piled)
  c(cells, list(rows = reader$rows, sample = sample, probe = cells$reader$probe))
}

# The prior in the units of the sampler, with the parts that are set from the cells.
prior_of_cells <- function(prior, cells) {
  check_enough_cells(prior, cells$rows, cells$markers)
  prior <- resolve_prior(prior, cells$mean, cells$unit, cells$markers, cells$resolution)
  if (is.null(cells$sample)) prior["sample_concentration"] <- list(NULL)
  prior
}

# Five rows spread over the data. The trace of the density there does not depend on how components are numbered.
probe_rows <- function(rows) {
  pmin(rows, floor((seq_len(5L) - 0.5) / 5 * rows) + 1)
}

# Five rows without missing values. If there are none, means stand for the missing values.
probe_cells <- function(x, center) {
  probe <- x[probe_rows(nrow(x)), , drop = FALSE]
  if (!anyNA(probe)) return(probe)
  known <- which(known_rows(x))
  if (length(known)) return(x[known[probe_rows(length(known))], , drop = FALSE])
  gaps <- which(is.na(probe), arr.ind = TRUE)
  probe[gaps] <- center[gaps[, 2L]]
  probe
}
