# Cells in objects of Bioconductor's classes, by their accessors.

# A list of flowFrame or cytoframe objects, or NULL for another class. The package of the class need not be installed.
cytometry_frames <- function(x) {
  if (!isS4(x)) return(NULL)
  if (methods::is(x, "flowFrame")) return(list(x))
  if (!methods::is(x, "flowSet")) return(NULL)
  if (load_package_of(x) || methods::is(x, "cytoset")) return(lapply(seq_len(length(x)), function(i) x[[i]]))
  mget(rownames(methods::slot(methods::slot(x, "phenoData"), "data")), envir = methods::slot(x, "frames"))
}

frame_values <- function(frame, argument) {
  load_package_of(frame)
  exprs <- accessor("Biobase", "exprs")
  if (!is.null(exprs) && methods::hasMethod("exprs", class(frame), where = environment(exprs))) return(exprs(frame))
  values <- if (methods::.hasSlot(frame, "exprs")) methods::slot(frame, "exprs")
  # A cytoframe keeps its cells outside R, where only flowWorkspace can reach them.
  if (methods::is(frame, "cytoframe") || !is.matrix(values)) {
    package <- attr(class(frame), "package")
    refuse_class(frame, argument, if (is.null(package) || !nzchar(package)) "flowWorkspace" else package)
  }
  values
}

refuse_class <- function(x, argument, package) {
  stop_input(argument, "is of class ", dQuote(class(x)[[1L]], FALSE), ", whose cells can be read only where package ",
    package, " is installed")
}

stack_frames <- function(frames, argument) {
  values <- lapply(frames, frame_values, argument = argument)
  if (length(values) == 0L) stop_input(argument, "holds no samples")
  channels <- colnames(values[[1L]])
  for (i in seq_along(values)) {
    if (!identical(colnames(values[[i]]), channels)) {
      stop_input(argument, sprintf("holds samples with different channels: sample %d has %s, sample 1 has %s",
        i, list_some(colnames(values[[i]])), list_some(channels)))
    }
  }
  values <- if (length(values) == 1L) values[[1L]] else do.call(rbind, values)
  # as.character() removes the attributes of flowCore's names of channels.
  dimnames(values) <- list(NULL, as.character(channels))
  values
}

channel_table <- function(x) {
  frames <- cytometry_frames(x)
  if (length(frames) && methods::.hasSlot(frames[[1L]], "parameters")) {
    methods::slot(methods::slot(frames[[1L]], "parameters"), "data")
  }
}

# The cells of one assay: `assay` by name or number; NULL: `exprs`, or else the first.
assay_cells <- function(x, argument, assay = NULL) {
  # Beside the counts CATALYST keeps transformed values in the assay `exprs`.
  values <- t(assay_matrix(x, argument, assay, "exprs"))
  dimnames(values) <- list(NULL, colnames(values))
  values
}

# An assay as it is, by name or number; NULL: `usual`, or else the first. Zeros of sparse ones are measurements.
assay_matrix <- function(x, argument, assay, usual) {
  read <- accessor("SummarizedExperiment", "assay")
  if (is.null(read)) refuse_class(x, argument, "SummarizedExperiment")
  assays <- accessor("SummarizedExperiment", "assays")(x)
  if (length(assays) == 0L) stop_input(argument, "is a SummarizedExperiment without an assay")
  if (is.null(assay)) assay <- if (usual %in% names(assays)) usual else 1L
  names <- names(assays)
  known <- if (length(names)) list_some(names) else paste(count_words(length(assays), "assay"), "without names")
  must_be(is_text(assay, 1L) || is_one_number(assay), "assay", "NULL, or the name or number of one assay", assay, "; `",
    argument, "` has ", known)
  if (!assay %in% if (is.character(assay)) names else seq_along(assays)) {
    stop_input(argument, "has no assay ", show_value(assay), "; it has ", known)
  }
  values <- read(x, assay)
  check_matrix(if (is_sparse_matrix(values)) as.matrix(values) else values, argument)
}

# Bioconductor's tables of numbers and of covariates in R's own classes. Other objects are as they were.
plain_table <- function(x, argument) {
  if (isS4(x) && methods::is(x, "DataFrame")) {
    columns <- methods::slot(x, "listData")
    names <- methods::slot(x, "rownames")
    rows <- if (is.null(names)) seq_len(methods::slot(x, "nrows")) else names
    return(structure(columns, row.names = rows, class = "data.frame"))
  }
  if (isS4(x) && methods::is(x, "SummarizedExperiment")) return(assay_matrix(x, argument, NULL, "counts"))
  if (inherits(x, "DGEList")) x[["counts"]] else x
}

samples_of_table <- function(x) {
  if (inherits(x, "DGEList")) return(x[["samples"]])
  if (!isS4(x) || !methods::is(x, "SummarizedExperiment")) return(NULL)
  samples <- accessor("SummarizedExperiment", "colData")(x)
  if (ncol(samples)) plain_table(samples, "types")
}

has_assays <- function(x) {
  is_experiment <- function(x) isS4(x) && methods::is(x, "SummarizedExperiment")
  if (is.list(x)) any(vapply(x, is_experiment, NA)) else is_experiment(x)
}

accessor <- function(package, name) {
  if (requireNamespace(package, quietly = TRUE)) getExportedValue(package, name)
}

load_package_of <- function(x) {
  package <- attr(class(x), "package")
  !is.null(package) && nzchar(package) && package != ".GlobalEnv" &&
    requireNamespace(package, quietly = TRUE)
}
