# What a worker of a cluster does for a mixture: R/dp_mixture_cluster.R calls answer_manager() in its process.

# The open sessions: lists of `x`, the worker's cells, and `pointer`, the session of the compiled code.
worker_sessions <- new.env(parent = emptyenv())

# An interrupt from the keyboard may reach all processes of a machine. A worker that heeds it would give no reply, for which
# the manager would wait: the manager decides.
answer_manager <- function(number, task, arguments) {
  value <- suspendInterrupts({
    value <- tryCatch(do.call(worker_tasks[[task]], arguments, quote = TRUE), error = as_failure)
    tryCatch(allowInterrupts(Sys.sleep(0)), interrupt = function(condition) NULL)
    value
  })
  list(number = number, value = value)
}

worker_tasks <- list(
  greet = function(where) list(build = worker_build(), backend = worker_run(where)$backend),
  # Room for so many cells.
  hold = function(session, rows, columns) {
    assign(session, list(x = matrix(0, rows, columns)), envir = worker_sessions)
    NULL
  },
  # Cells from number `first`, which counts from 0, on.
  put = function(session, first, values) {
    held <- get(session, envir = worker_sessions)
    rows <- nrow(held$x)
    keep_values(list(held$x), first, rows, list(values), nrow(values), nrow(values))
    NULL
  },
  begin = function(session, worker, first_row, piece, center, inverse_scale, single, keep_labels, sample, samples, where) {
    held <- get(session, envir = worker_sessions)
    held$pointer <- native(
      C_mixture_open_worker, held$x, worker, first_row, piece, center, inverse_scale, single, keep_labels, sample, samples, worker_run(where)
    )
    assign(session, held, envir = worker_sessions)
    NULL
  },
  answer = function(session, request) {
    .Call(C_mixture_answer, get0(session, envir = worker_sessions)$pointer, request)
  },
  close = function(session) {
    held <- get0(session, envir = worker_sessions)
    if (!is.null(held$pointer)) {
      .Call(C_mixture_close_worker, held$pointer)
    }
    rm(list = intersect(session, ls(worker_sessions)), envir = worker_sessions)
    NULL
  }
)

# Where a worker computes: as its own options say where the manager's user did not.
worker_run <- function(where) {
  run <- resolve_run(where$backend, where$threads, call = NULL)
  if (is.null(where$threads) && is.null(getOption("warpbayes.threads"))) {
    run$threads <- as.integer(max(1, floor(run$threads / where$share)))
  }
  share_run(run, where$devices, where$work, call = NULL)
}
