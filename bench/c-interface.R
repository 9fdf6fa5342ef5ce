# Times of the sampler of vignettes/c-interface.Rmd in C and in R: medians of repetitions that take turns, processor
# time and time by the clock of 100 sweeps. Needs the package of tests/client, with vignettes/mislabelled.c in its src.
#   Rscript bench/c-interface.R            writes vignettes/c-interface-times.csv
#   OUT=folder Rscript bench/c-interface.R  writes it there
library(warpbayes)
invisible(loadNamespace("warpclient"))
in_c <- getDLLRegisteredRoutines("warpclient")$.Call[["mislabelled"]]
source(textConnection(readLines("vignettes/mislabelled.R")))

# "AMD EPYC, 2 cores", where the system tells.
model <- sub(".*: ", "", grep("^model name", readLines("/proc/cpuinfo"), value = TRUE)[1])
machine <- sprintf("%s, %d cores", model, warp_info()$cores)

rows <- list()
for (n in c(300, 3000, 30000)) {
  set.seed(1)
  x <- cbind(1, matrix(rnorm(4 * n), n))
  truth <- rbinom(n, 1, plogis(x %*% c(-0.5, 2, -1, 0.5, 0)))
  y <- ifelse(truth == 1, rbinom(n, 1, 0.85), rbinom(n, 1, 0.05))
  sweeps <- if (n > 3000) 20L else if (n > 300) 200L else 1000L
  runs <- list(
    "C, 1 thread" = function() .Call(in_c, x, y, sweeps, 1L, 1L),
    "C, 2 threads" = function() .Call(in_c, x, y, sweeps, 1L, 2L),
    "R, 1 thread" = function() mislabelled(x, y, sweeps, 1, threads = 1)
  )
  times <- lapply(runs, function(run) matrix(0, 0, 2))
  for (repetition in 1:7) {
    for (name in names(runs)) {
      spent <- system.time(runs[[name]](), gcFirst = FALSE)
      times[[name]] <- rbind(times[[name]], c(spent[["user.self"]] + spent[["sys.self"]], spent[["elapsed"]]))
    }
  }
  per_100 <- lapply(times, function(t) apply(t, 2, median) * 100 / sweeps)
  rows[[length(rows) + 1]] <- data.frame(
    n = n, p = ncol(x), run = names(runs), processor = sapply(per_100, `[`, 1), clock = sapply(per_100, `[`, 2),
    machine = machine, date = format(Sys.Date()), row.names = NULL
  )
}
result <- do.call(rbind, rows)
print(result)
folder <- Sys.getenv("OUT", "vignettes")
write.csv(result, file.path(folder, "c-interface-times.csv"), row.names = FALSE)
