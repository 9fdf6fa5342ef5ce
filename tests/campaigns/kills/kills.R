# Kills and interrupts runs with checkpoints at random moments, and resumes them. Each run must end with the fit of a
# run that was never stopped, and leave no file behind. A run is stopped at most ten times, so that all kinds of run end
# even where they make little way between two stops.
#
#   Rscript tests/campaigns/kills/kills.R KILLS INTERRUPTS [SEED [SECONDS]]    SECONDS: how long new kills are begun
library(warpbayes)
arguments <- as.numeric(commandArgs(TRUE))
left <- c(kill = arguments[[1L]], interrupt = arguments[[2L]])
set.seed(if (length(arguments) > 2L) arguments[[3L]] else 1)
until <- Sys.time() + if (length(arguments) > 3L) arguments[[4L]] else 1e6
source("tests/testthat/helper-processes.R")
folder <- tempfile()
dir.create(folder)
file <- file.path(folder, "run")
result <- file.path(folder, "result")
ready <- file.path(folder, "ready")
x <- cbind(a = c(rnorm(600), rnorm(300, 6)), b = rnorm(900))
saveRDS(x, paste0(file, ".x"))
words <- matrix(rpois(600, 1), 30, dimnames = list(NULL, letters[1:20]))
saveRDS(words, paste0(file, ".words"))
kinds <- list(
  mixture = paste("dp_mixture(x, 5, chains = 2, iter = 1500, warmup = 500, seed = 4, threads = 1,",
    "control = warp_control(thin = 7, %s))"),
  topics = "topic_model(words, 3, iter = 4000, warmup = 1000, seed = 4, threads = 1,
    control = warp_control(thin = 50, %s))",
  logit = paste("bayes_logit(am ~ wt + (1 | cyl), mtcars, chains = 2, iter = 20000, seed = 4, threads = 1,",
    "control = warp_control(thin = 100, %s))")
)
data <- c(mixture = "x", topics = "words", logit = "mtcars")
whole <- lapply(kinds, function(text) eval(parse(text = sprintf(text, "checkpoint = NULL")), globalenv()))

same <- function(fit, expected) {
  parts <- setdiff(names(expected), c("elapsed", "call"))
  identical(fit[parts], expected[parts], ignore.environment = TRUE)
}
done <- wrong <- 0
stopped <- c(kill = 0, interrupt = 0)
runs <- c(mixture = 0, topics = 0, logit = 0)
while (any(left > 0)) {
  kind <- sample(names(kinds), 1L)
  unlink(c(file, result))
  stops <- sample(10L, 1L)
  while (!file.exists(result)) {
    child <- start_child(list(
      before = sprintf("x <- readRDS('%s.x'); words <- readRDS('%s.words'); file <- '%s'", file, file, file),
      run = c(
        sprintf("fit <- if (file.exists(file)) resume(file, %s, threads = 1) else %s", data[[kind]],
          sprintf(kinds[[kind]], "checkpoint = file, checkpoint_every = 0")),
        sprintf("if (!fit$interrupted) { saveRDS(fit, '%s.new'); file.rename('%s.new', '%s') }", result, result, result)
      )
    ), ready, "env --default-signal=INT")
    if (Sys.time() > until) left[] <- 0
    how <- if (stops > 0 && any(left > 0)) sample(names(left), 1L, prob = pmax(left, 0))
    if (!is.null(how)) {
      Sys.sleep(runif(1L, 0, 0.25))
      tools::pskill(child, if (how == "kill") 9L else 2L)
    }
    wait_for(function() !is_running(child), paste0(ready, ".log"))
    if (!file.exists(result)) {
      if (is.null(how)) stop(paste(readLines(paste0(ready, ".log")), collapse = "\n"))
      left[[how]] <- left[[how]] - 1
      stops <- stops - 1
      stopped[[how]] <- stopped[[how]] + 1
    }
  }
  done <- done + 1
  runs[[kind]] <- runs[[kind]] + 1
  right <- same(readRDS(result), whole[[kind]]) &&
    identical(sort(list.files(folder, "^run")), c("run", "run.words", "run.x"))
  if (!right) {
    wrong <- wrong + 1
    cat("wrong:", kind, list.files(folder), "\n")
  }
}
unlink(folder, recursive = TRUE)
cat(sprintf("%d kills and %d interrupts in %d runs: %s\n", stopped[["kill"]], stopped[["interrupt"]], done,
  paste(runs, names(runs), collapse = ", ")))
cat(sprintf("%d passed, %d failed\n", done - wrong, wrong))
quit(status = as.integer(wrong > 0))
