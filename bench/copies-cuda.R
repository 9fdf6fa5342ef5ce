# Whole calls on a graphics card whose data take longer to travel than to compute, compared with the time of the same
# bytes on the bus between page-locked memory and the card, one way after the other, at the rate measured in the same
# run. The time of a call includes that in which the system clears new memory for the result. Prints a table in
# Markdown.
source("common.R")
source("mixture-pass.R")
rehearsal <- use_card()
size <- function(n) if (rehearsal) n / 1e4 else n

bus <- measure_bus_rate()
cat(sprintf("Bus: %.1f GB/s to the card, %.1f GB/s from it.\n\n", bus[[1]] / 1e9, bus[[2]] / 1e9))

# Milliseconds of a call that sends `to` bytes and fetches `from`. `processor`: the same call there.
compare <- function(name, to, from, call, processor = TRUE) {
  travel <- to / bus[["to_device"]] + from / bus[["from_device"]]
  internal$native(internal$C_backend_release, internal$resolve_run("cuda"))
  first <- elapsed(call("cuda"))
  s <- median_seconds(function() call("cuda"), times = if (rehearsal) 1 else 7)
  line(name, number((to + from) / 1e6), number(1e3 * travel), number(1e3 * s), number(s / travel), number(1e3 * first),
    if (processor) number(1e3 * median_seconds(function() call("cpu"), times = if (rehearsal) 1 else 5)) else "")
}

header("call", "MB that travel", "ms on the bus", "ms", "times that", "ms of the first call", "ms on the processor")
for (n in size(c(1e6, 1e7, 1e8))) {
  compare(paste("Polya-Gamma", count(n)), 0, 8 * n, function(backend) rpolyagamma(n, seed = 1, backend = backend))
}
n <- size(1e7)
tilt <- rnorm(n)
compare(paste("Polya-Gamma", count(n), "own tilts"), 8 * n, 8 * n,
  function(backend) rpolyagamma(n, 1, tilt, seed = 1, backend = backend))
rm(tilt)
for (shape in list(c(size(1e5), 100, 1), c(size(65536), 1000, 1), c(size(1e5), 100, 100), c(1, 1000, size(1e7)))) {
  weights <- matrix(runif(ceiling(shape[[1]]) * shape[[2]]), ncol = shape[[2]])
  compare(paste("categorical", nrow(weights), "x", ncol(weights), count(shape[[3]]), "draws"), 8 * length(weights),
    4 * nrow(weights) * shape[[3]],
    function(backend) rcategorical(weights, ceiling(shape[[3]]), seed = 1, backend = backend))
}
rm(weights)
for (m in c(8, 16, 32, 64)) {
  x <- matrix(runif(m * ceiling(size(2^28) / m^2)), ncol = m)
  compare(paste(nrow(x), "convolutions of", m), 16 * length(x), 8 * nrow(x) * (2 * m - 1),
    function(backend) convolve_pmf(x, x, accuracy = 0, backend = backend), FALSE)
}
x <- matrix(rnorm(14 * size(5e6)), ncol = 14)
for (precision in c("double", "single")) {
  compare(paste("cells", nrow(x), "x 14 of a mixture,", precision), 8 * length(x), 0, function(backend) {
    .Call(internal$C_session_close, open_rows(x, precision, internal$resolve_run(backend)))
  }, FALSE)
}
