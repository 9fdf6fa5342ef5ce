# What benches of coverage read: CORES and OUT of the environment, and the arguments [n ...] [sets=N].
library(warpbayes)
options(warpbayes.backend = "cpu", warpbayes.threads = 1)
cores <- as.integer(Sys.getenv("CORES", "2"))
folder <- Sys.getenv("OUT", "results")

coverage_arguments <- function(sizes, sets) {
  arguments <- commandArgs(TRUE)
  is_sets <- grepl("^sets=", arguments)
  list(sizes = if (all(is_sets)) sizes else as.integer(arguments[!is_sets]),
    sets = if (any(is_sets)) as.integer(sub("sets=", "", arguments[is_sets])) else sets)
}
