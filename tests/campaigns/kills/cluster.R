# Interrupts fits on a cluster of two workers at random moments, as Ctrl-C does in a terminal: this process and the
# workers get the signal at once. Afterwards the cluster must answer. Counts the clusters that do not, and makes new
# ones for the rest. Needs Unix, and the package in the library.
#
#   Rscript tests/campaigns/kills/cluster.R [TIMES] [SEED]
#
# An interrupt within the first 0.05 seconds of a fit may end a worker. A fit that waits longer than its turn, which is
# what a lost reply looks like, ends this script with an error.
library(warpbayes)
library(parallel)
arguments <- as.integer(commandArgs(TRUE))
times <- if (length(arguments)) arguments[[1L]] else 120L
seed <- if (length(arguments) > 1L) arguments[[2L]] else 1L
turn <- 60

set.seed(seed)
x <- matrix(rnorm(3 * 6144), ncol = 3) + 4 * (runif(6144) < 0.3)
start <- function() {
  cluster <- makePSOCKcluster(2)
  clusterCall(cluster, function(paths) .libPaths(paths), .libPaths())
  cluster
}
answers <- function(cluster) tryCatch(length(clusterCall(cluster, Sys.getpid)) == 2L, error = function(error) FALSE)

cluster <- start()
ended <- c(interrupted = 0, before = 0, broken = 0)
early <- late <- 0
for (i in seq_len(times)) {
  seconds <- runif(1, 0.02, 0.6)
  processes <- c(Sys.getpid(), unlist(clusterCall(cluster, Sys.getpid)))
  system(sprintf("(sleep %.3f; kill -INT %s)", seconds, paste(processes, collapse = " ")), wait = FALSE)
  said <- ""
  began <- Sys.time()
  how <- tryCatch({
    withCallingHandlers(
      dp_mixture(
        x, 8, iter = 1500, seed = 1, threads = 1, progress = FALSE, control = warp_control(cluster = cluster)
      ),
      warning = function(warning) {
        said <<- conditionMessage(warning)
        invokeRestart("muffleWarning")
      }
    )
    "broken"
  }, interrupt = function(condition) "before", error = function(error) "broken")
  if (startsWith(said, "interrupted: ")) how <- "interrupted"
  if (as.numeric(Sys.time() - began, units = "secs") > turn) stop("run ", i, " waited longer than ", turn, " seconds")
  ended[[how]] <- ended[[how]] + 1
  tryCatch(Sys.sleep(0.62), interrupt = function(condition) NULL)
  if (!answers(cluster)) {
    if (seconds < 0.05) early <- early + 1 else late <- late + 1
    try(stopCluster(cluster), silent = TRUE)
    cluster <- start()
  }
}
cat(sprintf("%d fits: %d returned their sweeps, %d were interrupted before the first, %d broke off\n", times,
  ended[["interrupted"]], ended[["before"]], ended[["broken"]]))
cat(sprintf("%d clusters lost within 0.05 seconds of the call, %d later\n", early, late))
quit(status = as.integer(late > 0))
