# One R process that repeats fits, predictions, checkpoints, interrupts, clusters of two workers and errors, and
# measures itself each minute. Memory must stay flat, and so must open files, connections, threads and temporary files.
#
#   Rscript tests/campaigns/soak/soak.R [MINUTES [TABLE.csv [LEAK]]]
#
# It runs for 60 minutes if none are given. LEAK is the number of bytes that each round keeps, to plant a leak. It needs
# Linux.
library(warpbayes)
arguments <- commandArgs(TRUE)
minutes <- if (length(arguments) > 0L) as.numeric(arguments[[1L]]) else 60
file <- if (length(arguments) > 1L) arguments[[2L]] else "build/soak.csv"
leak <- if (length(arguments) > 2L) as.numeric(arguments[[3L]]) else 0
options(warpbayes.progress = FALSE, warpbayes.threads = 2, warpbayes.chains = 1)
set.seed(1)
cells <- cbind(a = c(rnorm(600), rnorm(300, 6)), b = rnorm(900))
rows <- data.frame(y = rbinom(200, 1, 0.4), x = rnorm(200), g = rep(1:10, 20))
words <- matrix(rpois(600, 1), 30, dimnames = list(NULL, letters[1:20]))
checkpoint <- tempfile()

# A fit that an interrupt from outside ends: with draws, or before the first one.
interrupted <- function(fit) {
  system(sprintf("(sleep 0.%02d; kill -INT %d) &", sample(5:30, 1L), Sys.getpid()))
  ended <- FALSE
  tryCatch({
    suppressWarnings(fit())
    for (i in 1:1e6) (i)
    Sys.sleep(20)
  }, interrupt = function(condition) ended <<- TRUE)
  stopifnot(ended)
}

refused <- function(code) {
  error <- tryCatch(code, error = identity)
  stopifnot(inherits(error, "warpbayes_error"))
}

kept <- parallel::makeCluster(2L)
invisible(parallel::clusterCall(kept, function(paths) .libPaths(paths), .libPaths()))
workers <- unlist(parallel::clusterCall(kept, Sys.getpid))
in_cluster <- function(cluster, seed) {
  dp_mixture(cells, 4, iter = 20, seed = seed, control = warp_control(cluster = cluster))
}

tasks <- list(
  fits = function(seed) {
    mix <- dp_mixture(
      cells, 4, iter = 60, chains = 2, seed = seed,
      control = warp_control(keep = c("weights", "means", "covariances"))
    )
    predict(mix, cells[1:50, ])
    print(summary(mix))
    print(cell_types(mix))
    dp_mixture(cells, 4, method = "bem", iter = 20, seed = seed)
    logit <- bayes_logit(y ~ x + (x | g), rows, iter = 200, seed = seed)
    predict(logit, rows[1:20, ], type = "response")
    print(summary(continue(logit, 50)))
    topics <- topic_model(words, 3, iter = 60, seed = seed)
    predict(topics, words[1:5, ], iter = 20, seed = seed)
    perplexity(topics, words, iter = 10, seed = seed)
    predictive_resample(cells[1:100, 1], bayesian_bootstrap(), draws = 200, seed = seed)
    predictive_resample(cells[1:30, 1], copula_density(0.5, permutations = 2), 20, 10, seed = seed)
    compound_pmf("poisson", pmf(rep(1 / 6, 6), from = 1), lambda = 50)
    rpolyagamma(1e5, 2.5, 1, seed = seed)
    rcategorical(matrix(1, 1e4, 10), seed = seed)
    picture <- tempfile(fileext = ".pdf")
    pdf(picture)
    plot(mix)
    plot(logit)
    dev.off()
    unlink(picture)
  },
  checkpoints = function(seed) {
    dp_mixture(
      cells, 4, iter = 40, seed = seed, control = warp_control(checkpoint = checkpoint, checkpoint_every = 0)
    )
    interrupted(function() {
      dp_mixture(
        cells, 4, iter = 1e5, seed = seed,
        control = warp_control(thin = 50, checkpoint = checkpoint, checkpoint_every = 0)
      )
    })
    if (file.exists(checkpoint)) interrupted(function() resume(checkpoint, cells))
    unlink(checkpoint)
  },
  interrupts = function(seed) {
    interrupted(function() dp_mixture(cells, 5, iter = 1e5, seed = seed, control = warp_control(thin = 50)))
    few <- warp_control(thin = 100)
    interrupted(function() bayes_logit(y ~ x + (1 | g), rows, iter = 1e6, control = few, seed = seed))
    interrupted(function() topic_model(words, 3, iter = 1e6, control = few, seed = seed))
    interrupted(function() rpolyagamma(1e8, 2.5, 1, seed = seed))
  },
  clusters = function(seed) {
    in_cluster(kept, seed)
    own <- parallel::makeCluster(2L)
    on.exit(parallel::stopCluster(own))
    parallel::clusterCall(own, function(paths) .libPaths(paths), .libPaths())
    in_cluster(own, seed)
  },
  errors = function(seed) {
    refused(dp_mixture(cells, 0))
    refused(dp_mixture("a", 4))
    refused(bayes_logit(y ~ missing, rows))
    refused(topic_model(-words, 3))
    refused(resume(tempfile()))
    refused(rpolyagamma(10, -1, 0))
    refused(pmf(c(0.2, NA)))
    refused(predictive_resample(cells, "a"))
    refused(dp_mixture(cells, 4, iter = 1e6, chains = 2, seed = seed, control = warp_control(start = "nowhere")))
  }
)

number_of <- function(process, field) {
  line <- grep(paste0("^", field, ":"), readLines(sprintf("/proc/%d/status", process)), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line))
}

measure <- function(minute, rounds) {
  gc()
  self <- Sys.getpid()
  data.frame(
    minute = round(minute, 1), rounds = rounds, resident_kb = number_of(self, "VmRSS"),
    workers_kb = sum(vapply(workers, number_of, 0, "VmRSS")),
    r_kb = round(sum(gc()[, 2L]) * 1024), open_files = length(list.files("/proc/self/fd")),
    threads = number_of(self, "Threads"), connections = nrow(showConnections()),
    temporary_files = length(list.files(tempdir(), all.files = TRUE, recursive = TRUE))
  )
}

kept_bytes <- list()
table <- NULL
rounds <- 0
began <- proc.time()[["elapsed"]]
elapsed <- function() (proc.time()[["elapsed"]] - began) / 60
silent <- file(if (nzchar(Sys.getenv("SOAK_LOUD"))) "/dev/stderr" else "/dev/null", "w")
while (elapsed() < minutes) {
  rounds <- rounds + 1
  sink(silent)
  for (name in sample(names(tasks))) tasks[[name]](rounds)
  sink()
  if (leak > 0) kept_bytes[[rounds]] <- raw(leak)
  if (elapsed() >= NROW(table)) {
    table <- rbind(table, measure(elapsed(), rounds))
    write.csv(table, file, row.names = FALSE)
    print(table[nrow(table), ], row.names = FALSE)
  }
}
table <- rbind(table, measure(elapsed(), rounds))
write.csv(table, file, row.names = FALSE)
parallel::stopCluster(kept)
close(silent)

# Growth over the last five sixths of the time, as a share. The system's counts of memory move up and down, so their
# growth is the slope of a line by least squares. R's own objects grow from the median of the first tenth of this time
# to the median of the last tenth.
late <- table[table$minute >= minutes / 6, ]
line <- function(kb) coef(lm(kb ~ late$minute))[[2L]] * diff(range(late$minute)) / mean(kb)
tenth <- ceiling(nrow(late) / 10)
grown <- c(
  resident = line(late$resident_kb), workers = line(late$workers_kb),
  r = median(tail(late$r_kb, tenth)) / median(head(late$r_kb, tenth)) - 1
)
most <- c(resident = 0.03, workers = 0.03, r = 0.01)
counts <- c("open_files", "threads", "connections", "temporary_files")
more <- counts[unlist(tail(late[counts], 1L)) > unlist(head(late[counts], 1L))]
cat(sprintf("%d rounds in %.0f minutes; growth: %s\n", rounds, elapsed(),
  paste(sprintf("%s %.2f%% of at most %.0f%%", names(grown), 100 * grown, 100 * most), collapse = ", ")))
wrong <- c(names(grown)[grown > most], more)
if (length(wrong)) cat("not flat:", wrong, "\n")
cat(sprintf("%d passed, %d failed\n", length(grown) + length(counts) - length(wrong), length(wrong)))
quit(status = as.integer(length(wrong) > 0))
