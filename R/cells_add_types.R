# Cell types written back into the objects that the cells came from.

#' Write cell types into the object that the cells came from
#'
#' Adds each cell's type, and its probability, to the object that was given to [dp_mixture()].
#' @param x the fitted object, with the same cells in the same order, in any form that [dp_mixture()] takes.
#' @param types cell types from [cell_types()] of the fit of `x`.
#' @param name the name of the new column. The probability's name is this and `_probability`.
#' @param check_values whether the values must be those of the fit. `FALSE`: only numbers of cells must agree.
#' @return An object of the class of `x`, with the type (a factor) and its probability; a matrix becomes a data frame. A
#'   `SummarizedExperiment` has them in its `colData()`. A `flowFrame` or `flowSet` has the number of the type, and all
#'   names in the channel's description.
#' @section FCS files with compensation:
#' Programs compensate the values of an FCS file, so write types into the frames that `read.flowSet()` gave:
#' ```
#' raw <- flowCore::read.flowSet("files")
#' compensated <- flowCore::compensate(raw, flowCore::spillover(raw[[1]])$SPILL)
#' types <- cell_types(dp_mixture(compensated, transform = "logicle"))
#' flowCore::write.flowSet(add_types(raw, types, check_values = FALSE), "files with types")
#' ```
#' @examples
#' set.seed(1)
#' draw <- function(n, share) cbind(CD4 = rnorm(n) + 5 * (runif(n) < share), CD8 = rnorm(n))
#' samples <- list(one = draw(400, 0.2), two = draw(300, 0.5))
#' fit <- dp_mixture(samples, components = 8, iter = 100, seed = 1, threads = 2)
#' with_types <- add_types(samples, cell_types(fit, threads = 2))
#' head(with_types$two)
#' @export
add_types <- function(x, types, name = "type", check_values = TRUE) {
  check_cell_types(types)
  check_values <- check_flag(check_values, "check_values")
  if (!check_values) types$fit["x"] <- list(NULL)
  must_be(is_text(name, 1L) && nzchar(name), "name", "one name", name)
  added <- stats::setNames(data.frame(types$type, types$probability), c(name, paste0(name, "_probability")))
  frames <- cytometry_frames(x)
  if (!is.null(frames)) return(add_types_to_frames(x, frames, added, types))
  if (isS4(x) && methods::is(x, "SummarizedExperiment")) return(add_types_to_experiment(x, added, types))
  several <- is.list(x) && !is.data.frame(x)
  parts <- if (several) x else list(x)
  if (several && any(vapply(x, isS4, TRUE))) {
    stop_input("x", "is a list of frames: give a flowSet, or the frames one by one")
  }
  values <- lapply(parts, function(part) if (is.data.frame(part)) part else check_matrix(part, "x"))
  sizes <- vapply(values, nrow, 0L)
  check_same_cells(sizes, types)
  marker <- utils::head(Reduce(intersect, lapply(values, colnames), types$fit$markers), 1L)
  check_same_values(do.call(rbind, lapply(unname(values), function(part) part[, marker, drop = FALSE])), types)
  done <- Map(function(part, rows) add_type_columns(part, added[rows, , drop = FALSE]), parts, ranges(sizes))
  if (several) done else done[[1L]]
}

ranges <- function(sizes) {
  ends <- cumsum(sizes)
  lapply(seq_along(sizes), function(i) seq_len(sizes[[i]]) + ends[[i]] - sizes[[i]])
}

# `sizes`: numbers of cells of the parts of `x`, with names if they have any.
check_same_cells <- function(sizes, types) {
  cells <- sum(sizes)
  if (cells != length(types$type)) {
    stop_input("x", sprintf("has %s, but the fit has %s", count_words(cells, "cell"), whole_words(length(types$type))))
  }
  samples <- types$fit$samples
  if (length(sizes) != length(samples) || is.unsorted(types$fit$sample)) return(invisible())
  named <- names(sizes)
  if (setequal(named, samples) && !identical(named, samples)) {
    stop_input("x", "has its samples in another order than the fit: ", list_some(named), ", not ", list_some(samples))
  }
  own <- tabulate(types$fit$sample, length(samples))
  at <- match(TRUE, own != sizes)
  if (!is.na(at)) {
    stop_input("x", "has other samples than the fit, or another order: part ", at, " has ",
      count_words(sizes[[at]], "cell"), ", sample ", dQuote(samples[[at]], FALSE), " of the fit has ",
      whole_words(own[[at]]))
  }
}

# Compares the first marker that `x` has, if the fit did not transform it: cells may be reordered.
check_same_values <- function(values, types) {
  fit <- types$fit
  marker <- intersect(fit$markers, colnames(values))
  if (is.null(fit$x) || !is.null(fit$transform) || !length(marker)) return(invisible())
  own <- as.double(values[, marker[[1L]], drop = TRUE])
  fitted <- as.double(fit$x[, match(marker[[1L]], fit$markers)])
  differs <- !is.na(own) & !is.na(fitted) & own != fitted
  if (any(differs)) {
    at <- which(differs)[[1L]]
    stop_input("x", sprintf("has other cells than the fit, or another order: row %s has %s of %s, the fit has %s",
      whole_words(at), format(own[[at]]), dQuote(marker[[1L]], FALSE), format(fitted[[at]])),
      "; check_values = FALSE takes the same cells on another scale")
  }
}

check_new_columns <- function(own, added) {
  taken <- intersect(own, names(added))
  if (length(taken)) stop_input("name", "gives ", list_some(taken), ", which `x` already has")
}

add_type_columns <- function(x, added) {
  x <- if (is.data.frame(x)) x else as.data.frame(x)
  check_new_columns(names(x), added)
  rownames(added) <- NULL
  x[names(added)] <- added
  x
}

add_types_to_experiment <- function(x, added, types) {
  check_same_cells(ncol(x), types)
  if (!is.null(types$fit$x)) check_same_values(assay_cells(x, "x", types$fit$assay), types)
  columns <- accessor("SummarizedExperiment", "colData")(x)
  check_new_columns(colnames(columns), added)
  for (column in names(added)) columns[[column]] <- added[[column]]
  accessor("SummarizedExperiment", "colData<-")(x, value = columns)
}

add_types_to_frames <- function(x, frames, added, types) {
  if (methods::is(x, "cytoset") || methods::is(x, "cytoframe")) {
    stop_input("x", "is of class ", dQuote(class(x)[[1L]], FALSE), ", which keeps its cells outside R: convert it by ",
      "flowWorkspace::cytoset_to_flowSet() or cytoframe_to_flowFrame()")
  }
  values <- stack_frames(frames, "x")
  sizes <- if (methods::is(x, "flowSet")) c(table(frame_samples(x, "x"))) else nrow(values)
  check_same_cells(sizes, types)
  check_same_values(values, types)
  check_new_columns(colnames(values), added)
  names <- sprintf("%d = %s", seq_along(levels(types)), levels(types))
  numbers <- cbind(as.double(as.integer(added[[1L]])), added[[2L]])
  colnames(numbers) <- names(added)
  # A bar separates the keywords of FCS files that flowCore writes.
  described <- c(gsub("|", "/", paste(names, collapse = "; "), fixed = TRUE), "probability of the type")
  add <- function(frame, rows) add_channels(frame, numbers[rows, , drop = FALSE], described)
  frames <- Map(add, frames, ranges(sizes))
  if (methods::is(x, "flowFrame")) return(frames[[1L]])
  data <- methods::slot(methods::slot(x, "phenoData"), "data")
  methods::slot(x, "frames") <- list2env(stats::setNames(frames, rownames(data)), parent = emptyenv())
  if (methods::.hasSlot(x, "colnames")) methods::slot(x, "colnames") <- c(methods::slot(x, "colnames"), names(added))
  x
}

add_channels <- function(frame, numbers, described) {
  append <- accessor("flowCore", "fr_append_cols")
  parameters <- methods::slot(frame, "parameters")
  table <- methods::slot(parameters, "data")
  added <- nrow(table) + seq_along(described)
  if (!is.null(append)) {
    frame <- append(frame, numbers)
    parameters <- methods::slot(frame, "parameters")
    table <- methods::slot(parameters, "data")
  } else {
    values <- methods::slot(frame, "exprs")
    methods::slot(frame, "exprs") <- cbind(values, numbers)
    colnames(methods::slot(frame, "exprs")) <- c(colnames(values), colnames(numbers))
    new <- table[rep(1L, ncol(numbers)), , drop = FALSE]
    new$name <- colnames(numbers)
    highest <- apply(numbers, 2L, max)
    if ("range" %in% names(new)) new$range <- highest
    if ("maxRange" %in% names(new)) new$maxRange <- highest
    if ("minRange" %in% names(new)) new$minRange <- 0
    # A frame whose channels were chosen among others keeps their numbers.
    used <- suppressWarnings(as.integer(sub("^\\$P", "", rownames(table))))
    rownames(new) <- paste0("$P", max(nrow(table), used, na.rm = TRUE) + seq_len(ncol(numbers)))
    table <- rbind(table, new)
  }
  table$desc <- replace(as.character(table$desc), added, described)
  methods::slot(parameters, "data") <- table
  methods::slot(frame, "parameters") <- parameters
  # Some versions of flowCore's write.FCS() take a channel's description from the table, others from the keyword $PnS.
  if (methods::.hasSlot(frame, "description") && is.list(methods::slot(frame, "description"))) {
    methods::slot(frame, "description")[paste0(rownames(table)[added], "S")] <- described
  }
  frame
}
