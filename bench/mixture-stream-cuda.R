# Cells that do not fit on a graphics card, which is told to use little of its memory: a sweep, and what of the bus it uses,
# whose rate is measured between the sweeps. "In all" is what the cells that travel make of a sweep: their bytes
# by its time; the share is of the bus's rate. Prints tables in Markdown; tools/gpu-test runs it. With the emulator named in
# WARPBAYES_TEST_PLUGIN, at sizes for a rehearsal.
# WARPBAYES_STREAM_ROWS=4e8 adds one case of so many cells, which takes 45 GB of the host's memory for R's
# matrix, 22 for its copy in single precision, and some minutes.
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  if (length(file)) setwd(dirname(file))
})
source("common.R")
internal <- asNamespace("warpbayes")
options(warpbayes.backend = "cuda")
plugin <- Sys.getenv("WARPBAYES_TEST_PLUGIN")
rehearsal <- nzchar(plugin)
if (rehearsal) options(warpbayes.plugin = plugin)
p <- if (rehearsal) 3 else 14
prior <- internal$compiled_prior(internal$resolve_prior(dp_prior(), numeric(p), rep(1, p), paste0("m", seq_len(p))))
key <- .Call(internal$C_chain_key, 1, 1L)

# Random numbers are used again: so many take minutes. dim<- does not copy.
set.seed(1)
cells <- function(n) {
  x <- rep_len(rnorm(1e6 + 7) + rep_len(c(0, 0, 3), 1e6 + 7), n * p)
  dim(x) <- c(n, p)
  x
}

free <- function(run) internal$native(internal$C_backend_devices, run$pointer)$memory_free[[run$device + 1L]]

# Opens a session within `limit` bytes of device memory and runs sweeps: the seconds of opening, of the first sweep beyond those of another, and of a
# sweep; the bytes that travel in each; the trace of log likelihoods.
measure <- function(x, k, precision, limit, sweeps, times) {
  options(warpbayes.device_memory = limit)
  run <- internal$allow_copies(internal$resolve_run())
  before <- free(run)
  opening <- elapsed(session <- internal$native(internal$C_mixture_open, x, numeric(p), rep(1, p), as.integer(precision == "single"), FALSE, run))
  on.exit(.Call(internal$C_mixture_close, session))
  bytes <- length(x) * if (precision == "single") 4 else 8
  travel <- max(0, bytes - (before - free(run)))
  state <- list(key = key, sweep = 0, statistics = numeric(k * (1 + p + p * (p + 1) / 2)), concentration = 1, prior = prior$values)
  trace <- NULL
  advance <- function(sweeps) {
    seconds <- elapsed(slice <- internal$native(
      internal$C_mixture_sweep, session, prior, state, as.integer(sweeps), FALSE, matrix(0, 2, 0), matrix(0, p, 1), c(FALSE, FALSE, FALSE),
      numeric(p), rep(1, p)
    ))
    state$statistics <<- slice$statistics
    state$concentration <<- slice$concentration
    state$prior <<- slice$prior
    state$sweep <<- state$sweep + sweeps
    trace <<- c(trace, slice$log_likelihood)
    seconds
  }
  first <- advance(1)
  bus <- NULL
  seconds <- vapply(seq_len(times), function(i) {
    # A call draws its first parameters anew; the slope does not count that.
    short <- advance(1)
    bus <<- c(bus, internal$measure_bus_rate()[["to_device"]])
    max(1e-9, (advance(1 + sweeps) - short) / sweeps)
  }, numeric(1))
  list(opening = opening, first = first - median(seconds), sweep = median(seconds), travel = travel, bus = median(bus), trace = trace)
}

table_of <- function(x, components, precisions, limits, sweeps, times) {
  header("precision", "k", "device memory, MB", "GB that travel", "opening, s", "before the first sweep, s", "ms a sweep", "GB/s in all",
    "GB/s of the bus", "share", "times the resident sweep", "identical")
  for (precision in precisions) {
    for (k in components) {
      resident <- NULL
      for (limit in limits[[precision]]) {
        this <- measure(x, k, precision, limit, sweeps, times)
        if (is.null(resident)) resident <- this
        rate <- this$travel / this$sweep
        line(
          precision, k, if (limit > 0) number(limit / 1e6) else "all", number(this$travel / 1e9), number(this$opening), number(max(0, this$first)),
          number(1e3 * this$sweep), if (this$travel > 0) number(rate / 1e9) else "-", number(this$bus / 1e9),
          if (this$travel > 0) sprintf("%.0f%%", 100 * rate / this$bus) else "-", number(this$sweep / resident$sweep),
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
  format(n, big.mark = ",", scientific = FALSE), p, number(gigabyte)))
# All cells on the card, few of them, and most of them.
limits <- if (rehearsal) {
  list(double = c(0, 8e5, 1.8e6), single = c(0, 6e5, 1e6))
} else {
  list(double = c(0, 6e8, 2.2e9), single = c(0, 4e8, 1.15e9))
}
table_of(x, if (rehearsal) 4 else c(16, 64), c("double", "single"), limits, if (rehearsal) 1 else 10, if (rehearsal) 1 else 3)

rows <- Sys.getenv("WARPBAYES_STREAM_ROWS")
if (nzchar(rows)) {
  rm(x)
  invisible(gc())
  n <- as.numeric(rows)
  started <- proc.time()[["elapsed"]]
  x <- cells(n)
  cat(sprintf("\n%s cells, made in %s s.\n\n", format(n, big.mark = ",", scientific = FALSE), number(proc.time()[["elapsed"]] - started)))
  table_of(x, 16, c("single", "double"), list(double = c(0, 2e9), single = c(0, 2e9)), 3, 1)
  peak <- grep("^VmHWM", readLines("/proc/self/status"), value = TRUE)
  cat("\nThe most memory of the host that this process had: ", number(as.numeric(gsub("[^0-9]", "", peak)) / 1024^2), " GiB\n", sep = "")
}
