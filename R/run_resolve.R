# Resolves where a call runs. The last answers are kept, because a call may take microseconds.

# Multiply-adds of a call that a second thread would not make faster.
short_work <- 4e6

# The user's choice as the list that the compiled code reads (wb_call_from_list() of src/entry/entry.h).
#   work     multiply-adds of the whole call; with at most short_work it runs on one thread, and with backend "auto" on
#            the processor;
#   cost     from call_cost(): with backend "auto" the call runs where it is estimated to take less time;
#   devices  the graphics cards that share the work, from 0, or NULL;
#   cluster  NULL, or a cluster whose workers have the data; the list then has the connection to them as `cluster`.
resolve_run <- function(backend = NULL, threads = NULL, work = Inf, devices = NULL, cluster = NULL, cost = NULL) {
  if (!is.null(cluster)) {
    run <- resolve_run("cpu", threads)
    run$cluster <- connect_cluster(cluster, backend, threads, devices)
    return(run)
  }
  key <- list(backend, .Call(C_backend_options))
  if (work <= short_work && (is.null(threads) || is_thread_count(threads))) {
    # A short call has one thread, so the settings of threads are not looked up.
    kept <- kept_runs$short
    threads <- 1L
    name <- "short"
  } else {
    kept <- kept_runs$long
    key <- c(key, list(threads, getOption("warpbayes.threads"), Sys.getpid(),
      Sys.getenv(c("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "SLURM_CPUS_PER_TASK", "_R_CHECK_LIMIT_CORES_"))))
    name <- "long"
  }
  # A forked child cannot use the graphics card. It asks again, and resolve_backend() raises the error.
  if (!identical(key, kept$key) || (kept$run$backend != "cpu" && kept$process != Sys.getpid())) {
    chosen <- resolve_backend(backend)
    processor <- .Call(C_backend_processor)
    run <- c(chosen[c("backend", "automatic", "pointer", "device")], threads = resolve_threads(threads, processor),
      isa = resolve_isa(processor), memory_limit = resolve_device_memory())
    if (name == "short" && run$automatic) run <- on_processor(run)
    kept <- list(key = key, run = run, process = Sys.getpid())
    assign(name, kept, envir = kept_runs)
  }
  run <- if (is.null(devices)) kept$run else run_on_devices(kept$run, devices)
  if (missing(cost)) run else faster_run(run, cost)
}

faster_run <- function(run, cost, precision = "double") {
  if (!isTRUE(run$automatic) || run$backend != "cuda" || !is.null(run$devices)) return(run)
  card <- backend_state$devices[match(run$device, backend_state$devices$device), ]
  is_slower <- card_seconds(cost, card, run$threads, precision) < processor_seconds(cost, run$threads, run$isa)
  if (is_slower) run else on_processor(run)
}

on_processor <- function(run) {
  run[c("backend", "pointer", "device")] <- list("cpu", .Call(C_backend_cpu), 0L)
  run
}

is_thread_count <- function(threads) {
  is_one_number(threads) && threads >= 1 && threads <= 4096 && threads == floor(threads)
}

run_on_devices <- function(run, devices) {
  must_be(is.numeric(devices) && length(devices) && all(devices >= 0 & devices == floor(devices)) &&
    !anyDuplicated(devices), "devices", "NULL or indices of graphics cards, from 0, each of them once", devices)
  if (run$backend != "cuda") {
    stop_input("devices", sprintf("names graphics cards, but the backend is %s", dQuote(run$backend, FALSE)))
  }
  absent <- setdiff(devices, backend_state$devices$device)
  if (length(absent)) {
    stop_warpbayes("backend", sprintf("`devices`: there is no CUDA device %s; this machine has %s",
      format(absent[[1L]]), device_list(backend_state$devices)))
  }
  if (length(devices) > most_devices) {
    stop_input("devices", sprintf("has %d graphics cards: at most %d share a fit", length(devices), most_devices))
  }
  run$devices <- as.integer(devices)
  run$device <- run$devices[[1L]]
  run
}

most_devices <- 16L

# The least multiply-adds of a card in a sweep: 4 ms of a data centre's card. The exchange of sums takes 1 ms.
device_work <- 3e10

# On the `devices` of the fit. If this machine lacks one, or for NULL, on one card for each device_work of `work`.
spread_over_devices <- function(run, devices, work) {
  here <- if (run$backend == "cuda") backend_state$devices$device
  if (is.null(devices) || !all(devices %in% here)) {
    count <- min(length(here), most_devices, floor(work / device_work))
    devices <- if (count > 1 && is.null(getOption("warpbayes.device"))) here[seq_len(count)]
  }
  if (is.null(devices)) run else run_on_devices(run, devices)
}

run_backend <- function(run) if (is.null(run$cluster)) run$backend else run$cluster$backend
