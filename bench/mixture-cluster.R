# Two workers of a cluster on this machine, one thread each, against two threads of this process: a sweep of the
# mixture with and without splits and joins, and how many bytes travel in it. The sockets are as package parallel
# makes them, or without delay. Fits take turns; times are medians.
#   cd bench && Rscript mixture-cluster.R [cells] [rounds]
source("common.R")
arguments <- as.numeric(commandArgs(TRUE))
n <- if (length(arguments)) arguments[[1L]] else 1e6
rounds <- if (length(arguments) > 1L) arguments[[2L]] else 5
p <- 14
k <- 64
sweeps <- 5

start_cluster <- function(delay) {
  options(socketOptions = if (!delay) "no-delay")
  no_delay <- c("-e", shQuote("options(socketOptions = 'no-delay')"))
  cluster <- parallel::makePSOCKcluster(2, rscript_args = if (!delay) no_delay)
  parallel::clusterCall(cluster, function(paths) .libPaths(paths), .libPaths())
  cluster
}

# Bytes of all requests and replies of a fit.
count_bytes <- function(code) {
  namespace <- asNamespace("warpbayes")
  original <- namespace$exchange
  bytes <- c(down = 0, up = 0)
  set <- function(value) {
    unlockBinding("exchange", namespace)
    assign("exchange", value, envir = namespace)
    lockBinding("exchange", namespace)
  }
  on.exit(set(original))
  set(function(connection, request) {
    replies <- original(connection, request)
    bytes <<- bytes + c(length(request) * length(replies), sum(lengths(replies)))
    replies
  })
  code
  bytes
}

set.seed(1)
x <- matrix(rnorm(n * p), n) + 3 * (runif(n) < 0.3)
start <- rep_len(seq_len(k), n)
fit <- function(moves, ..., iter = sweeps) {
  dp_mixture(
    x, k, iter = iter, warmup = iter - 1, seed = 3, backend = "cpu", progress = FALSE, ...,
    control = warp_control(start = start, moves = moves)
  )
}
rows <- list()
for (delay in c(FALSE, TRUE)) {
  cluster <- start_cluster(delay)
  for (moves in c(FALSE, TRUE)) {
    alone <- both <- numeric(rounds)
    for (round in seq_len(rounds)) {
      one <- fit(moves, threads = 2)
      other <- fit(moves, threads = 1, cluster = cluster)
      stopifnot(identical(one$state, other$state))
      alone[[round]] <- one$elapsed[["sweeps"]] / sweeps
      both[[round]] <- other$elapsed[["sweeps"]] / sweeps
    }
    bytes <- count_bytes(fit(moves, threads = 1, cluster = cluster, iter = 2)) / 2
    rows[[length(rows) + 1L]] <- data.frame(
      cells = n, markers = p, components = k, moves = moves, sockets = if (delay) "as made" else "no delay",
      threads_s = round(median(alone), 3), workers_s = round(median(both), 3), ratio = round(median(both / alone), 3),
      down_kB = round(bytes[["down"]] / 1e3), up_kB = round(bytes[["up"]] / 1e3),
      load = round(as.numeric(sub(" .*", "", readLines("/proc/loadavg"))), 1)
    )
    print(rows[[length(rows)]])
  }
  parallel::stopCluster(cluster)
}
save_results(do.call(rbind, rows), "mixture-cluster")
