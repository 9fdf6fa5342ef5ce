# How the manager shares the cells among the workers of a cluster. R/cells_worker.R has what workers do.

#' Mixtures on a cluster
#'
#' With `control = warp_control(cluster = parallel::makeCluster(4))`, the workers of the cluster share the cells of one
#' fit of [dp_mixture()].
#' @section What to give it:
#' Any cluster of package parallel: on one machine, on several, or MPI through package snow. The workers need the same
#' version of warpbayes. `backend`, `threads` and `devices` apply to each worker; with `NULL`, workers follow their own
#' options and share the cores of their machine. With a [row_reader()], workers read the cells.
#' @section What comes back:
#' The fit is `identical()` to the fit without a cluster, in double precision also with graphics cards. [continue()] and
#' [resume()] need a `cluster` only if the workers read the cells.
#' @section Errors and interrupts:
#' If a worker ends, or sends nothing for an hour, the completed sweeps are returned with a warning that names the
#' worker. If no sweep was completed, it is an error of class `warpbayes_error_device`. Workers must be trusted.
#' @name mixture_clusters
NULL

open_on_cluster <- function(fit, run, keep_labels) {
  connection <- run$cluster
  opened <- FALSE
  on.exit(if (!opened) close_workers(connection))
  if (is.null(connection$data)) {
    if (is.null(fit$reader)) send_cells(fit$x, connection) else read_cells(fit$reader, connection, fit$transform)
  }
  split <- connection$split
  single <- as.integer(fit$precision == "single")
  samples <- length(fit$samples)
  spread <- method_of(fit)$spread
  connection$session <- new_name()
  begin <- lapply(seq_along(connection$cluster), function(i) {
    rows <- (split$first_row[[i]] + 1):split$first_row[[i + 1L]]
    where <- connection$where[[i]]
    if (!spread) where$devices <- utils::head(where$devices, 1L)
    where$work <- if (spread) sweep_work(fit, length(rows)) else 0
    list(connection$session, connection$data, i - 1L, split$first_row, split$piece, fit$center, 1 / fit$scale, single,
      keep_labels, if (samples) fit$sample[rows], samples, where)
  })
  ask_workers(connection, "begin", each = begin)
  # The compiled code calls this. It returns the bytes of all replies, or a failure.
  exchange <- function(request) {
    tryCatch(ask_workers(connection, "answer", list(connection$session, request)), error = as_failure)
  }
  session <- native(C_mixture_open_cluster, exchange, connection$names, split$first_row, split$piece, fit$center,
    1 / fit$scale, single, keep_labels, samples, run)
  opened <- TRUE
  attr(session, "cluster") <- connection
  session
}

split_cells <- function(connection, rows) {
  connection$split <- native(C_mixture_split, as.double(rows), length(connection$cluster))
  used <- seq_len(length(connection$split$first_row) - 1L)
  connection$cluster <- connection$cluster[used]
  connection$where <- connection$where[used]
  connection$data <- new_name()
}

send_cells <- function(x, connection) {
  split_cells(connection, nrow(x))
  step <- max(1, floor(cluster_block / ncol(x)))
  for (i in seq_along(connection$cluster)) {
    before <- connection$split$first_row[[i]]
    rows <- connection$split$first_row[[i + 1L]] - before
    ask_workers(connection, "hold", list(connection$data, rows, ncol(x)), workers = i)
    for (first in seq(0, rows - 1, by = step)) {
      values <- x[(before + first + 1):(before + min(rows, first + step)), , drop = FALSE]
      ask_workers(connection, "put", list(connection$data, first, unname(values)), workers = i)
    }
  }
}
