# Cells that do not fit on a graphics card, which is told to use little of its memory: the time of a sweep, and the
# rate at which cells travel. The rate is the bytes that travel in a sweep by the time of the sweep; its share is of
# the rate of the bus, which is measured between the sweeps. Prints tables in Markdown. WARPBAYES_STREAM_ROWS=4e8 adds
# one case of so many cells. It takes some minutes, and 45 GB of the host's memory for R's matrix with 22 GB for its
# copy in single precision.
source("common.R")
source("mixture-pass.R")
rehearsal <- use_card()
p <- if (rehearsal) 3 else 14
prior <- default_prior(p)
key <- .Call(internal$C_chain_key, 1, 1L)

# Random numbers are used again, since so many take minutes. dim<- does not copy.
set.seed(1)
cells <- function(n) {
  x <- rep_len(rnorm(1e6 + 7) + rep_len(c(0, 0, 3), 1e6 + 7), n * p)
  dim(x) <- c(n, p)
  x
}

free <- function(run) internal$native(internal$C_backend_devices, run$pointer)$memory_free[[run$device + 1L]]

# Opens a session within `limit` bytes of device memory and runs sweeps. Seconds: of opening, of the first sweep beyond
# those of another, and of a sweep. Also the bytes that travel in each, and the trace of log likelihoods.
measure <- function(x, k, precision, limit, sweeps, times) {
  options(warpbayes.device_memory = limit)
  run <- internal$allow_copies(internal$resolve_run())
  before <- free(run)
  opening <- elapsed(session <- open_rows(x, precision, run))
  on.exit(.Call(internal$C_session_close, session))
  bytes <- length(x) * if (precision == "single") 4 else 8
  travel <- max(0, bytes - (before - free(run)))
  statistics <- numeric(k * (1 + p + p * (p + 1) / 2))
  state <- list(key = key, sweep = 0, statistics = statistics, concentration = 1, prior = prior$values)
  trace <- NULL
  seconds_of <- function(sweeps) {
    seconds <- elapsed(slice <- advance(session, p, prior, state, sweeps))
    state[c("statistics", "concentration", "prior")] <<- slice[c("statistics", "concentration", "prior")]
    state$sweep <<- state$sweep + sweeps
    trace <<- c(trace, slice$log_likelihood)
    seconds
  }
  first <- seconds_of(1)
  bus <- NULL
  seconds <- vapply(seq_len(times), function(i) {
    # A call draws its first parameters anew, which the slope leaves out.
    short <- seconds_of(1)
    bus <<- c(bus, measure_bus_rate()[["to_device"]])
    max(1e-9, (seconds_of(1 + sweeps) - short) / sweeps)
  }, numeric(1))
  list(
    opening = opening, first = first - median(seconds), sweep = median(seconds), travel = travel, bus = median(bus),
    trace = trace
  )
}

table_of <- function(x, components, precisions, limits, sweeps, times) {
  header("precision", "k", "device memory, MB", "GB that travel", "opening, s", "before the first sweep, s",
    "ms a sweep", "GB/s in all", "GB/s of the bus", "share", "times the resident sweep", "identical")
  for (precision in precisions) {
    for (k in components) {
      resident <- NULL
      for (limit in limits[[precision]]) {
        this <- measure(x, k, precision, limit, sweeps, times)
        if (is.null(resident)) resident <- this
        rate <- this$travel / this$sweep
        line(
          precision, k, if (limit > 0) number(limit / 1e6) else "all", number(this$travel / 1e9), number(this$opening),
          number(max(0, this$first)), number(1e3 * this$sweep), if (this$travel > 0) number(rate / 1e9) else "-",
          number(this$bus / 1e9), if (this$travel > 0) percent(rate / this$bus) else "-",
          number(this$sweep / resident$sweep),
          identical(this$trace, resident$trace)
        )
      }
    }
  }
}

n <- if (rehearsal) 2048 * 40 else 2e7
x <- cells(n)
gigabyte <- n * p * 8 / 1e9
cat(sprintf("One sweep of %s cells, %d markers (%s GB of doubles), by how much memory of the card may be used.\n\n",
  count(n), p, number(gigabyte)))
# All cells on the card, few of them, and most of them.
limits <- if (rehearsal) {
  list(double = c(0, 8e5, 1.8e6), single = c(0, 6e5, 1e6))
} else {
  list(double = c(0, 6e8, 2.2e9), single = c(0, 4e8, 1.15e9))
}
components <- if (rehearsal) 4 else c(16, 64)
table_of(x, components, c("double", "single"), limits, if (rehearsal) 1 else 10, if (rehearsal) 1 else 3)

rows <- Sys.getenv("WARPBAYES_STREAM_ROWS")
if (nzchar(rows)) {
  rm(x)
  invisible(gc())
  n <- as.numeric(rows)
  seconds <- elapsed(x <- cells(n))
  cat(sprintf("\n%s cells, made in %s s.\n\n", count(n), number(seconds)))
  table_of(x, 16, c("single", "double"), list(double = c(0, 2e9), single = c(0, 2e9)), 3, 1)
  peak <- grep("^VmHWM", readLines("/proc/self/status"), value = TRUE)
  gigabytes <- as.numeric(gsub("[^0-9]", "", peak)) / 1024^2
  cat("\nThe most memory of the host that this process had: ", number(gigabytes), " GiB\n", sep = "")
}
