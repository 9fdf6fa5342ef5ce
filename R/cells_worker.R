# What a worker of a cluster does for a mixture: R/cells_cluster.R calls answer_manager() in its process.

# What the worker holds, by names of the manager: cells (lists with `x`) and sessions of the compiled code.
worker_data <- new.env(parent = emptyenv())

# Ctrl-C may reach all processes of a machine, but only the manager heeds it. A worker ignores it (or suspends it, where
# the system cannot) from the first contact until it holds nothing more.
ignore_interrupts <- function() .Call(C_interrupts_ignore, TRUE)

answer_manager <- function(sealed) {
  asked <- unseal(sealed)
  if (is.null(asked)) return(seal(list(number = NA_real_)))
  undivided({
    value <- tryCatch(do.call(worker_tasks[[asked$task]], asked$arguments, quote = TRUE), error = as_failure)
    tryCatch(let_stop(), interrupt = function(condition) NULL)
    seal(list(number = asked$number, value = value))
  })
}

worker_tasks <- list(
  greet = function(where) list(build = worker_build(), backend = worker_run(where)$backend),
  hold = function(data, rows, columns) {
    worker_data[[data]] <- list(store = room_for_rows(rows, columns))
    NULL
  },
  # Stores cells from number `first` on, counted from 0.
  put = function(data, first, values) {
    put_rows(worker_data[[data]]$store, first, values)
    NULL
  },
  read = function(data, reader, first, last, markers) {
    held <- read_rows(reader, first, last, markers)
    worker_data[[data]] <- held
    held$markers
  },
  scan = function(data, moments, first_row) {
    x <- held_rows(data)
    scan <- native(C_matrix_scan_part, x, moments, first_row)
    if (scan$count > 0) scan$value <- x[scan$first[[1L]] - first_row, scan$first[[2L]]]
    scan
  },
  transform = function(data, transform) {
    worker_data[[data]]$x <- transform_columns(held_rows(data), transform)
    NULL
  },
  collect = function(data, rows) held_rows(data)[rows, , drop = FALSE],
  begin = function(session, data, worker, first_row, piece, center, inverse_scale, single, keep_labels, sample,
                   samples, where) {
    worker_data[[session]] <- native(C_mixture_open_worker, held_rows(data), worker, first_row, piece, center,
      inverse_scale, single, keep_labels, sample, samples, worker_run(where))
    NULL
  },
  answer = function(session, request) .Call(C_mixture_answer, worker_data[[session]], request),
  close = function(names) {
    for (name in intersect(names, ls(worker_data))) {
      if (typeof(worker_data[[name]]) == "externalptr") .Call(C_session_close, worker_data[[name]])
      rm(list = name, envir = worker_data)
    }
    if (!length(ls(worker_data))) .Call(C_interrupts_ignore, FALSE)
    NULL
  }
)

room_for_rows <- function(rows, columns) {
  list(pointer = native(C_store_open, list(x = 0), list(c(rows, columns)), list(NULL)), rows = rows)
}

put_rows <- function(store, first, values) {
  fill_store(store, first, store$rows, list(values), nrow(values), nrow(values))
}

held_rows <- function(data) {
  held <- worker_data[[data]]
  if (!is.null(held$store)) held <- worker_data[[data]] <- native(C_store_close, held$store$pointer)
  held$x
}

read_rows <- function(reader, first, last, markers) {
  held <- NULL
  for (from in seq(first, last, by = reader$block)) {
    to <- min(last, from + reader$block - 1)
    values <- tryCatch(reader$read(from, to), error = function(error) {
      stop_input("x", sprintf("cannot read rows %.0f to %.0f: ", from, to), because = error)
    })
    values <- expression_matrix(values, markers, "x")
    storage.mode(values) <- "double"
    names <- marker_names(values, "x")
    if (nrow(values) != to - from + 1) {
      stop_input("x", sprintf("has read %s for rows %.0f to %.0f", count_words(nrow(values), "row"), from, to))
    }
    if (is.null(held)) {
      held <- list(store = room_for_rows(last - first + 1, ncol(values)), markers = names)
    } else if (!identical(names, held$markers)) {
      stop_input("x", sprintf("has read other columns for rows %.0f to %.0f, ", from, to), list_some(names),
        ", than before, ", list_some(held$markers))
    }
    put_rows(held$store, from - first, values)
  }
  held$x <- native(C_store_close, held$store$pointer)$x
  held[c("x", "markers")]
}

worker_run <- function(where) {
  run <- resolve_run(where$backend, where$threads, devices = where$devices)
  if (is.null(where$threads) && is.null(getOption("warpbayes.threads"))) {
    run$threads <- as.integer(max(1, floor(run$threads / where$share)))
  }
  spread_over_devices(run, where$devices, where$work)
}
