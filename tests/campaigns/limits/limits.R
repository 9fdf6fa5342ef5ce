# Gives calls that take long a limit of time, at random from 0.05 to 1 s. Each call must end within 2 s of processor
# time, and 10 s, after its limit: by an error about the limit, or with the sweeps that are done and a warning. Then the
# session must still give the right answers.
#
#   R_LIBS=LIBRARY Rscript tests/campaigns/limits/limits.R [TIMES [SEED]]     in the root of the tree; 3 and 1
#
# The calls into compiled code are those of tests/testthat/test-time-limits.R. This file adds methods, reports, files
# and clusters, one of which has a worker that does not answer.
library(warpbayes)
given <- as.numeric(commandArgs(TRUE))
times <- if (length(given) > 0L) given[[1L]] else 3
seed <- if (length(given) > 1L) given[[2L]] else 1
# R's compiler of functions catches every error, and so an error about a limit that ends while it compiles.
invisible(compiler::enableJIT(0))
options(warpbayes.threads = 1, warpbayes.backend = "cpu", warpbayes.progress = FALSE, warpbayes.chains = 1)
eval(parse("tests/testthat/test-time-limits.R")[[1L]])

set.seed(1)
cells <- matrix(rnorm(4e4), ncol = 4)
cells[1:4e3, ] <- cells[1:4e3, ] + 5
mix <- suppressWarnings(dp_mixture(cells, components = 20, iter = 6, seed = 1))
words <- matrix(rpois(4e5, 0.3), 400)
words[, 1] <- 1
topics <- topic_model(words, 20, iter = 6, chains = 2, seed = 1)
rows <- data.frame(y = rbinom(2e4, 1, 0.5), matrix(rnorm(2e5), 2e4))
logit <- bayes_logit(y ~ ., rows, chains = 2, iter = 60, seed = 1)
normal <- predictive_resample(rnorm(1000), copula_density(rho = 0.8, permutations = 2), 50, 50, seed = 1)
run <- tempfile()
invisible(dp_mixture(cells, components = 20, iter = 4, seed = 1, control = warp_control(checkpoint = run)))
cluster <- parallel::makePSOCKcluster(2)
methods <- c(
  predict = "for (i in 1:5000) predict(mix, cells)",
  density = "for (i in 1:200) log_lik(mix)",
  types = "for (i in 1:50) cell_types(mix)",
  relabel = "for (i in 1:200) relabel(mix)",
  together = "for (i in 1:50) co_clustering(mix, 1:2000)",
  report = "for (i in 1:50) report(mix, tempfile(fileext = \".html\"), open = FALSE)",
  continued = "continue(mix, 1e5)",
  resumed = "for (i in 1:500) resume(run, cells)",
  more_topics = "continue(topics, 1e6)",
  perplexity = "perplexity(topics, words, iter = 1e5, seed = 1)",
  compared = "compare_topics(words, 2:20, folds = 5, iter = 1e4, seed = 1)",
  regression_wide = "bayes_logit(y ~ ., rows, chains = 1, iter = 1e6, seed = 1)",
  likelihood = "for (i in 1:200) log_lik(logit)",
  predictions = "for (i in 1:200) predict(logit, rows)",
  copula = "predictive_resample(rnorm(2000), copula_density(), 1e6, 100, seed = 1)",
  bandwidth = "predictive_resample(rnorm(5000), copula_density(), draws = 10, seed = 1)",
  modes = "dp_mixture(cells, 60, method = \"bem\", chains = 20, iter = 1e5, seed = 1)",
  categories = "rcategorical(matrix(runif(2e7), 1e6), draws = 100, seed = 1)",
  functional = "predictive_resample(rnorm(100), bayesian_bootstrap(), draws = 1e5, seed = 1,
    functional = function(y, w) { Sys.sleep(0.01); 1 })",
  simulated = "simulate(normal, 1e4, seed = 1)",
  distribution = "discretize_pmf(function(x) { for (i in 1:1e8) NULL; pexp(x) }, by = 0.5)",
  on_workers = "dp_mixture(cells, components = 20, iter = 1e5, seed = 1, control = warp_control(cluster = cluster))",
  silent_worker = "{
    parallel:::sendCall(cluster[[2L]], Sys.sleep, list(60))
    dp_mixture(cells, components = 20, iter = 1e5, seed = 1, control = warp_control(cluster = cluster))
  }"
)
answer <- function() as.data.frame(bayes_logit(am ~ wt, mtcars, chains = 1, iter = 50, warmup = 10, seed = 1))
expected <- answer()

set.seed(seed)
calls <- c(long_calls, methods)
late <- judged <- 0
wrong <- character()
for (name in rep(names(calls), times)) {
  code <- parse(text = calls[[name]])
  limit <- exp(runif(1, log(0.05), 0))
  began <- proc.time()
  said <- NULL
  how <- tryCatch({
    setTimeLimit(elapsed = limit, transient = TRUE)
    withCallingHandlers(eval(code), warning = function(warning) {
      said <<- c(said, conditionMessage(warning))
      invokeRestart("muffleWarning")
    })
    "ended"
  }, warpbayes_error_memory = function(error) NULL, error = function(error) conditionMessage(error))
  setTimeLimit()
  # This machine has too little free memory for the call.
  if (is.null(how)) next
  judged <- judged + 1
  took <- proc.time() - began
  over <- took[["elapsed"]] - limit
  # On a busy machine the time that passes says little.
  used <- took[["user.self"]] + took[["sys.self"]] - limit
  late <- max(late, used)
  cat(sprintf("%-16s limit %.2f s, ended %.2f s later, %.2f s of processor time: %s\n", name, limit, over, used,
    substr(how, 1L, 60L)))
  problem <- c(
    if (used > 2 || over > 10) sprintf("%.1f s late, %.1f s of processor time", over, used),
    if (!grepl("reached elapsed time limit", how, fixed = TRUE) && !(how == "ended" && length(said))) how,
    if (!identical(answer(), expected)) "another answer afterwards"
  )
  if (length(problem)) wrong <- c(wrong, sprintf("%s, limit %.2f s: %s", name, limit, toString(problem)))
  # Workers that were left in the middle of a call are replaced, as users do.
  if (name %in% c("on_workers", "silent_worker")) {
    # A connection that broke off in the middle of a message is closed already.
    try(parallel::stopCluster(cluster), silent = TRUE)
    cluster <- parallel::makePSOCKcluster(2)
  }
}
parallel::stopCluster(cluster)
cat(substr(wrong, 1L, 300L), sep = "\n")
cat(sprintf("%d limits of time; the latest end was %.1f s of processor time after it\n", judged, late))
cat(sprintf("%d passed, %d failed\n", judged - length(wrong), length(wrong)))
quit(status = as.integer(length(wrong) > 0L))
