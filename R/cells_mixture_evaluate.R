# A mixture at given cells: classes, densities, probabilities.

# Cells that are evaluated at a time. This bounds memory and the time until an interrupt.
slice_rows <- 2^18

row_slices <- function(rows, size = slice_rows) {
  lapply(seq(1, length.out = ceiling(rows / size), by = size), function(first) first:min(rows, first + size - 1))
}

cells_in <- function(cells, slice) {
  if (length(slice) == nrow(cells)) cells else cells[slice, , drop = FALSE]
}

open_cells <- function(fit, cells, run) {
  native(C_mixture_open, cells, as.double(fit$center), 1 / fit$scale, as.integer(fit$precision == "single"), FALSE, run)
}

# Hands the cells to the backend and calls use(evaluate). evaluate(mixture, what) takes a mixture in the data's
# units: `weights` (k), `means` (k x p), `covariances` (p x p x k), and returns a list of `class`, `log_density` and
# `prob` (rows x k), NULL unless `what` names it. On a card it draws `class` for `parts`: the first rows, the numbers of
# rows, and a `choice`, with a column for each: a seed, and the number of the first row.
evaluate_cells <- function(fit, cells, run, use) {
  session <- open_cells(fit, cells, run)
  on.exit(.Call(C_session_close, session))
  delayedAssign("log_unit", log_units(cells, fit$scale))
  whole <- list(first = 1, rows = nrow(cells))
  use(function(mixture, what, parts = whole) {
    result <- native(C_mixture_evaluate, session, as.double(mixture$weights), as.double(mixture$means),
      as.double(mixture$covariances), as.double(fit$center), 1 / fit$scale, parts$first - 1, as.double(parts$rows),
      if (is.null(parts$choice)) c("class", "log_density", "prob") %in% what else as.double(parts$choice))
    if (!is.null(result$log_density)) result$log_density <- result$log_density - log_unit
    result
  })
}

# The log Jacobian of the scaling over the known values: one number, or one for each row if values are missing.
log_units <- function(x, scale) {
  if (!anyNA(x)) return(sum(log(scale)))
  total <- numeric(nrow(x))
  for (j in seq_len(ncol(x))) total <- total + ifelse(is.na(x[, j]), 0, log(scale[[j]]))
  total
}

evaluate_mixture <- function(fit, mixture, cells, what, run, sample = NULL) {
  evaluate_sampled(fit, cells, sample, run, function(evaluate) evaluate(mixture, what)[[what]])
}

mean_log_density <- function(fit, used, cells, run, sample = NULL) {
  if (is.null(sample)) return(sum_log_density(fit, used, fit$draws$weights, cells, run) - log(nrow(used)))
  total <- numeric(nrow(cells))
  rows <- split(seq_len(nrow(cells)), sample)
  for (i in seq_along(rows)) {
    weights <- fit$draws$sample_weights[, as.integer(names(rows)[[i]]), , , drop = FALSE]
    total[rows[[i]]] <- sum_log_density(fit, used, weights, cells_in(cells, rows[[i]]), run)
  }
  total - log(nrow(used))
}

sum_log_density <- function(fit, used, weights, cells, run) {
  if (!nrow(cells)) return(numeric())
  session <- open_cells(fit, cells, run)
  on.exit(.Call(C_session_close, session))
  k <- fit$components
  p <- length(fit$markers)
  which <- as.integer(used$draw + (used$chain - 1) * dim(fit$draws$means)[[3L]] - 1)
  weights <- matrix(weights, k)[, which + 1L, drop = FALSE]
  log_unit <- log_units(cells, fit$scale)
  total <- rep(-Inf, nrow(cells))
  # One call takes no longer than an interrupt can wait, and 64 MB of components.
  call_work <- if (run$backend == "cuda") 2e12 else 4e9 * run$threads
  row_work <- k * (p * (p + 3) / 2 + 27)
  slices <- row_slices(nrow(cells), max(2^16, floor(call_work / row_work)))
  together <- max(1, floor(min(call_work / (row_work * length(slices[[1L]])), 6.4e7 / (8 * k * (p + 2)^2))))
  for (slice in slices) {
    part <- if (length(slices) == 1L) total else total[slice]
    units <- if (length(log_unit) == 1L) log_unit else log_unit[slice]
    for (draws in row_slices(length(which), together)) {
      part <- native(C_mixture_add_densities, session, weights[, draws, drop = FALSE], fit$draws$means,
        fit$draws$covariances, which[draws], as.double(fit$center), 1 / fit$scale, slice[[1L]] - 1, part, units, run)
    }
    if (length(slices) == 1L) total <- part else total[slice] <- part
  }
  total
}

# The number of each cell's sample, or NULL for the mixture of all samples. `own`: whether `x` are the fitted cells.
sample_of_cells <- function(fit, sample, x, own) {
  if (is.null(sample)) return(if (own) fit$sample)
  if (identical(sample, FALSE)) return(NULL)
  if (is.null(fit$samples)) stop_input("sample", "is given, but the fit has one sample only")
  rows <- nrow(x)
  sample <- given_data(sample, "sample")
  if (length(sample) != 1L) sample <- by_names(sample, rownames(x), "sample", "cell")
  if (is.factor(sample)) sample <- as.character(sample)
  if (!length(sample) %in% c(1L, rows) || !is.atomic(sample)) {
    stop_input("sample", sprintf("must be one sample, or one for each of the %s, not ", count_words(rows, "cell")),
      show_value(sample))
  }
  number <- match(as.character(sample), fit$samples)
  if (anyNA(number)) {
    stop_input("sample", "has ", dQuote(as.character(sample)[is.na(number)][[1L]], FALSE),
      "; the samples of the fit are ", list_some(fit$samples))
  }
  rep_len(number, rows)
}

# As evaluate_cells(), with the weights of each cell's `sample`, from sample_of_cells(), a session after the other.
evaluate_sampled <- function(fit, cells, sample, run, use) {
  if (is.null(sample)) return(evaluate_cells(fit, cells, run, use))
  rows <- split(seq_len(nrow(cells)), sample)
  use(function(mixture, what) {
    result <- list()
    for (own in names(rows)) {
      mixture$weights <- mixture$sample_weights[, as.integer(own)]
      some <- rows[[own]]
      part <- evaluate_cells(fit, cells_in(cells, some), run, function(evaluate) evaluate(mixture, what))[what]
      if (length(rows) == 1L) return(part)
      for (name in what) {
        values <- part[[name]]
        if (is.matrix(values)) {
          if (is.null(result[[name]])) result[[name]] <- matrix(0, nrow(cells), ncol(values))
          result[[name]][some, ] <- values
        } else {
          result[[name]][some] <- values
        }
      }
    }
    result
  })
}

compared_cells <- 5000

compared_rows <- function(rows) unique(round(seq(1, rows, length.out = min(rows, compared_cells))))

# The component of at most compared_cells cells in each draw: cells x draws.
compared_classes <- function(fit, cells, draws, run) {
  some <- cells[compared_rows(nrow(cells)), , drop = FALSE]
  matrix(evaluate_cells(fit, some, run, function(evaluate) {
    vapply(seq_len(nrow(draws)), function(i) {
      evaluate(mixture_of_draw(fit, draws$draw[[i]], draws$chain[[i]]), "class")$class
    }, integer(nrow(some)))
  }), nrow(some))
}
