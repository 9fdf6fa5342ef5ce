# The cells whose markers differential_state() compares.

# A list: the matrix `x`, its compared `columns`, their names `markers` and standard deviations `scale`; the `sample` of
# each row, by its number among `samples`; `types`, and which are `shown`; `cluster` of each cell, if others made it.
state_cells <- function(types, x, sample, markers, threads) {
  own <- inherits(types, "cell_types")
  fit <- if (own) types$fit
  if (names_column(types, x) && !is.null(x)) {
    types <- cell_column(x, types, "x", "types")
    if (is.null(markers)) x <- types$others
    types <- types$values
  }
  if (own) {
    check_cell_types(types)
    need_samples(types)
    named <- list(types = types$types$type, shown = are_shown(types))
  } else if (!is.atomic(types) || is.null(types) || !is.null(dim(types))) {
    stop_input("types", "must come from cell_types() or have the cluster of each cell, not ", show_value(types))
  } else if (is.null(x)) {
    stop_input("x", "is NULL, but clusters have no markers of their own: give the cells, with the markers to compare")
  }
  if (!is.null(x)) {
    cells <- read_state_cells(x, sample, markers, fit, threads)
    markers <- cells$markers
  } else if (is.null(fit$x)) {
    stop_input("types", "are of a fit that has lost its data, `fit$x`, which are compared")
  } else {
    cells <- fit[c("x", "markers", "scale", "sample", "samples")]
    if (is.null(markers)) markers <- fit$markers
  }
  if (!is.character(markers) || !length(markers) || anyDuplicated(markers) || !all(markers %in% cells$markers)) {
    stop_input("markers", "must be different names among ", list_some(cells$markers), ", not ", show_value(markers),
      if (is.null(x)) "; `x` takes other markers of the cells")
  }
  cells$columns <- match(markers, cells$markers)
  if (!is.null(x)) cells$skewed <- skewed_reason(cells, cells$columns)
  cells$scale <- cells$scale[cells$columns]
  cells$markers <- markers
  if (own) return(c(cells, named))
  clusters <- check_samples(types, nrow(cells$x), rownames(cells$x), "types", "must have")
  c(cells, list(types = levels(clusters), shown = rep(TRUE, nlevels(clusters)), cluster = matrix(as.integer(clusters))))
}

# Cells with other markers. Those of a fit come in its order.
read_state_cells <- function(x, sample, markers, fit, threads) {
  given <- read_samples(x, sample, markers)
  values <- expression_matrix(given$x, given$markers, "x")
  names <- marker_names(values, "x")
  if (is.null(markers) && !all(names %in% fit$markers)) {
    values <- values[, !names %in% fit$markers, drop = FALSE]
    names <- setdiff(names, fit$markers)
  }
  transform <- transform_like(fit$transform, fit$markers, names)
  cells <- as_marker_matrix(values, NULL, transform, missing = "model", parts = given$parts, threads = threads)
  cells$scale <- ifelse(cells$sd > 0, cells$sd, 1)
  sample <- check_samples(given$sample, nrow(cells$x), rownames(cells$x))
  if (is.null(fit)) {
    if (is.null(sample)) stop_input("sample", "is NULL: which sample is each cell of?")
    cells[c("samples", "sample")] <- list(levels(sample), as.integer(sample))
    return(cells)
  }
  cells[c("samples", "sample")] <- fit[c("samples", "sample")]
  if (nrow(cells$x) != fit$rows) {
    stop_input("x", sprintf("has %s, but the fit has %s", count_words(nrow(cells$x), "cell"), whole_words(fit$rows)))
  }
  if (is.null(sample)) return(cells)
  row <- rows_of_fit(sample, fit)
  if (!identical(row, seq_along(row))) cells$x <- cells$x[row, , drop = FALSE]
  cells
}

rows_of_fit <- function(sample, fit) {
  at <- seq_along(fit$samples)
  given <- levels(sample)
  if (!identical(given, as.character(at))) {
    at <- by_names(stats::setNames(seq_along(given), given), fit$samples, "x", "sample")
  }
  own <- match(as.integer(sample), at)
  cells <- list(tabulate(own, length(at)), tabulate(fit$sample, length(at)))
  differs <- which(cells[[1L]] != cells[[2L]])
  if (length(differs)) {
    first <- differs[[1L]]
    stop_input("x", sprintf("has %s in sample %s, but the fit has %s", count_words(cells[[1L]][[first]], "cell"),
      dQuote(fit$samples[[first]], FALSE), whole_words(cells[[2L]][[first]])))
  }
  row <- integer(length(own))
  row[order(fit$sample)] <- order(own)
  row
}

transform_like <- function(transform, known, names) {
  if (is.null(transform)) return("none")
  type <- rep_len(transform$type, length(known))
  changed <- type != "none"
  way <- unique(ifelse(type == "arcsinh", format(transform$cofactor, digits = 15), type)[changed])
  if (length(way) > 1L) return("none")
  stats::setNames(ifelse(names %in% known[!changed], "none", trimws(way)), names)
}

# The type of each cell in the draws `some`, cells x draws, by kept components or else by drawn ones.
types_in_draws <- function(types, some, seed, run) {
  fit <- types$fit
  draw <- types$map$used$draw[some]
  chain <- types$map$used$chain[some]
  type <- matrix(0L, fit$rows, length(some))
  set <- function(rows, i, component) type[rows, i] <<- types$map$type_of[component, some[[i]]]
  if (!is.null(fit$draws$labels)) {
    for (i in seq_along(some)) set(seq_len(fit$rows), i, fit$draws$labels[, draw[[i]], chain[[i]]])
    return(type)
  }
  if (is.null(fit$x)) {
    stop_input("types", "are of a fit that has lost its data, `fit$x`, which are needed to count cells")
  }
  # On the processor, a part's probabilities have less than 32 MB: malloc() takes new pages for larger ones.
  on_card <- run$backend == "cuda"
  most <- if (on_card) Inf else max(1, floor(min(2^18 * run$threads, 3.5e6) / fit$components))
  parts <- do.call(rbind, lapply(row_slices(fit$rows, max(1, floor(2^23 / fit$components))), function(slice) {
    runs <- runs_of(fit$sample[slice], most)
    of_one <- vapply(runs, function(run) all(fit$sample[slice[run]] == fit$sample[slice[[run[[1L]]]]]), NA)
    start <- vapply(runs, `[[`, 1L, 1L) - 1
    cbind(slice = slice[[1L]], start = start, first = slice[[1L]] + start, rows = lengths(runs), of_one = of_one)
  }))
  choice <- function(i, at) rbind((seed + 1e6 * i + parts[at, "slice"]) %% 2^53, parts[at, "start"])
  # A card keeps the cells and draws where their probabilities are, a sample at a time.
  resident <- on_card & parts[, "of_one"]
  if (any(resident)) evaluate_cells(fit, fit$x, run, function(evaluate) {
    first <- parts[resident, "first"]
    at <- split(which(resident), list(fit$sample[first], first %/% 2^28), drop = TRUE)
    for (i in seq_along(some)) {
      mixture <- mixture_of_draw(fit, draw[[i]], chain[[i]])
      for (own in at) {
        mixture$weights <- mixture$sample_weights[, fit$sample[[parts[own[[1L]], "first"]]]]
        drawn <- list(first = parts[own, "first"], rows = parts[own, "rows"], choice = choice(i, own))
        set(sequence(drawn$rows, drawn$first), i, evaluate(mixture, "class", drawn)$class)
      }
    }
  })
  for (at in which(!resident)) {
    rows <- seq.int(parts[at, "first"], length.out = parts[at, "rows"])
    evaluate_sampled(fit, cells_in(fit$x, rows), fit$sample[rows], run, function(evaluate) {
      for (i in seq_along(some)) {
        prob <- evaluate(mixture_of_draw(fit, draw[[i]], chain[[i]]), "prob")$prob
        of <- choice(i, at)
        set(rows, i, draw_categorical(prob, 1, FALSE, of[[1L]], 0L, run, of[[2L]]))
      }
    })
  }
  type
}

# Positions of cells in parts of one sample each, of at most `most` cells; one part if samples change often.
runs_of <- function(sample, most = Inf) {
  starts <- c(1L, which(diff(sample) != 0L) + 1L)
  if (length(starts) > 100L) return(list(seq_along(sample)))
  runs <- Map(seq.int, starts, c(starts[-1L] - 1L, length(sample)))
  unlist(lapply(runs, function(run) {
    lapply(row_slices(length(run), min(most, length(run))), function(some) run[some])
  }), recursive = FALSE)
}
