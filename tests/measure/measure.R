# Functions with which bench/ and tests/ measure. They call the libraries that build.sh has put into the folder
# WARPBAYES_MEASURE.

measure_library <- function(name) {
  path <- file.path(Sys.getenv("WARPBAYES_MEASURE"), paste0(name, ".so"))
  if (!file.exists(path)) {
    stop("there is no ", path, ": build it with tests/measure/build.sh and name its folder in WARPBAYES_MEASURE")
  }
  dyn.load(normalizePath(path))
}

# Calls an entry of measure.c. `device_function` names the function of measure_cuda.so for a run on a graphics card.
call_measure <- function(entry, ..., run, device_function = NULL) {
  address <- if (!is.null(device_function) && run$backend == "cuda") {
    getNativeSymbolInfo(device_function, measure_library("measure_cuda"))$address
  }
  last <- if (!is.null(device_function)) list(address)
  do.call(.Call, c(list(getNativeSymbolInfo(entry, measure_library("measure")), ..., run), last))
}

# The bytes per second that the run's threads, or its graphics card, read from memory.
measure_read_rate <- function(threads = NULL, backend = NULL) {
  call_measure("read_rate", run = warpbayes:::resolve_run(backend, threads), device_function = "wb_measure_read_rate")
}

# The fused multiply-adds per second of `threads` threads, or of the graphics card. No computation takes less time than
# its multiply-adds divided by this rate.
measure_multiply_add_rate <- function(threads = NULL, precision = c("double", "single"), backend = NULL) {
  call_measure("multiply_add_rate", match.arg(precision) == "single", run = warpbayes:::resolve_run(backend, threads),
    device_function = "wb_measure_multiply_add_rate"
  )
}

# The bytes per second from page-locked memory to the graphics card, and back. No copy is faster.
measure_bus_rate <- function() {
  rates <- call_measure("bus_rate", run = warpbayes:::resolve_run("cuda", 1), device_function = "wb_measure_bus_rate")
  c(to_device = rates[[1L]], from_device = rates[[2L]])
}

# Makes one draw from each distribution. Returns the items, and the shortest of `times` times of the kernel in seconds
# (NA on a processor). With `way` NULL the distributions are the rows. A graphics card then draws in one pass with
# `lanes` lanes of a warp for each row (0: as the package chooses). Otherwise the distributions are the columns, drawn
# from by trees in that way, on the processor too.
measure_categorical <- function(weights, precision = "double", way = NULL, lanes = 0, times = 1, seed = 1,
                                backend = NULL) {
  run <- warpbayes:::resolve_run(backend, 1)
  trees <- !is.null(way)
  stopifnot(trees || run$backend == "cuda", !trees || way %in% categorical_ways)
  option <- if (trees) match(way, categorical_ways) - 1L else as.integer(lanes)
  call_measure("categorical", weights, seed, precision == "single", trees, option, as.integer(times), run = run,
    device_function = if (trees) "wb_measure_trees" else "wb_measure_lanes"
  )
}
categorical_ways <- c("butterfly", "transposition", "naive") # in the order of measure_way in measure.h

# The shortest of `times` times in seconds that a graphics card's kernels take for `count` draws of PG(shape, tilt).
measure_polyagamma <- function(count, shape, tilt, times = 1) {
  call_measure("polyagamma", count, shape, tilt, as.integer(times),
    run = warpbayes:::resolve_run("cuda", 1), device_function = "wb_measure_polyagamma"
  )
}

# The shortest of `times` times in seconds of one of the two kernels for direct sums, for `pairs` pairs of n weights.
measure_convolution <- function(pairs, n, kernel = c("skew", "tiled"), times = 1) {
  call_measure("convolution", pairs, n, match.arg(kernel) == "skew", as.integer(times),
    run = warpbayes:::resolve_run("cuda", 1), device_function = "wb_measure_convolution"
  )
}

# Outputs first..first + count - 1, from 0, of the direct sum of two vectors. x must not be longer than y. They are
# computed `times` times, so that a timing hardly includes the call from R.
direct_sum <- function(x, y, first = 0, count = length(x) + length(y) - 1, times = 1, threads = 1, backend = NULL) {
  stopifnot(length(x) <= length(y))
  call_measure("direct_sum", x, y, first, count, as.integer(times), run = warpbayes:::resolve_run(backend, threads))
}
