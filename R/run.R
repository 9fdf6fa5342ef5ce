# Where a call runs, for functions whose calls may take microseconds: what resolve_run() of
# backend.R answered last time is kept as long as nothing changes that it depends on.

kept_runs <- new.env(parent = emptyenv())

# One call of options() for all of them takes less time than getOption() for each.
run_options <- function() {
  options("warpbayes.backend", "warpbayes.plugin", "warpbayes.isa", "warpbayes.device", "warpbayes.device_memory")
}

# Multiply-adds of a call that a second thread would not make faster.
short_work <- 4e6

# The run for work of so many multiply-adds. known_run() says what is wrong with `threads`.
run_for <- function(work, backend, threads, call = sys.call(-1L)) {
  short <- work <= short_work && (is.null(threads) || is_thread_count(threads))
  if (short) short_run(backend, call) else known_run(backend, threads, call)
}

is_thread_count <- function(threads) {
  is.numeric(threads) && length(threads) == 1L && isTRUE(threads >= 1 & threads <= 4096) && threads == floor(threads)
}

known_run <- function(backend, threads, call = sys.call(-1L)) {
  key <- list(
    backend, threads, run_options(), getOption("warpbayes.threads"), Sys.getpid(),
    Sys.getenv(c("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "_R_CHECK_LIMIT_CORES_"))
  )
  if (!identical(key, kept_runs$key)) {
    kept_runs$run <- with_tables(resolve_run(backend, threads, call))
    kept_runs$key <- key
  }
  kept_runs$run
}

# One thread, for short work. It takes less time to look up, since nothing that decides about
# threads is asked for.
short_run <- function(backend, call = sys.call(-1L)) {
  key <- list(backend, run_options())
  # A forked child cannot use the graphics card, and asks again to be told so.
  same <- identical(key, kept_runs$short_key) &&
    (kept_runs$short_run$backend == "cpu" || kept_runs$short_pid == Sys.getpid())
  if (!same) {
    kept_runs$short_run <- with_tables(resolve_run(backend, 1L, call))
    kept_runs$short_key <- key
    kept_runs$short_pid <- Sys.getpid()
  }
  kept_runs$short_run
}

# Adds the tables for Fourier transforms, up to 2 MB, which all runs of the session share.
with_tables <- function(run) {
  if (is.null(kept_runs$fft)) {
    kept_runs$fft <- .Call(C_pmf_cache)
  }
  c(run, fft = kept_runs$fft)
}
