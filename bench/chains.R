# Seconds of the sweeps of one, four and eight chains of small data, on the processor and on a graphics card if there is
# one. On the card also of eight chains one after the other (one thread), whose draws must be the same, as must be the
# processor's. Writes chains.csv.
#   cd bench && Rscript chains.R
source("common.R")
set.seed(1)
x <- matrix(rnorm(20 * 4, sd = 4), 20)[sample.int(20, 9083, TRUE), ] + matrix(rnorm(9083 * 4), 9083)
predictors <- matrix(rnorm(5000 * 6), 5000)
data <- data.frame(y = rbinom(5000, 1, plogis(predictors[, 1] - 1)), predictors)
data$group <- factor(sample.int(50, 5000, TRUE))
topic <- matrix(rgamma(20 * 1500, 0.05), 20)
words <- t(vapply(1:1000, function(d) rmultinom(1, 80, colSums(topic * rgamma(20, 0.1)) + 1e-9)[, 1], numeric(1500)))
fits <- list(
  "mixture 9,083 x 4 x 64, 1,000 sweeps" = function(...) dp_mixture(
    x, 64, iter = 1000, ..., control = warp_control(thin = 100, moves = FALSE)
  ),
  "the same with moves, 500 sweeps" = function(...) dp_mixture(
    x, 64, iter = 500, ..., control = warp_control(thin = 50)
  ),
  "logistic regression 5,000 x 6, 2,000 sweeps" = function(...) bayes_logit(y ~ . - group, data, iter = 2000, ...),
  "with 50 groups, 1,000 sweeps" = function(...) bayes_logit(y ~ . - group + (1 | group), data, iter = 1000, ...),
  "topics 1,000 x 1,500 x 20, 1,000 sweeps" = function(...) topic_model(words, 20, iter = 1000, ...)
)
parts <- c("draws", "log_likelihood", "coefficient_trace", "sizes", "theta", "phi")
rows <- draws <- list()
for (backend in c("cpu", if (warp_info()$cuda$available %in% TRUE) "cuda")) {
  for (name in names(fits)) {
    run <- function(...) fits[[name]](..., backend = backend, seed = 1, progress = FALSE)
    run(chains = 1)
    chosen <- lapply(c(1, 4, 8), function(chains) run(chains = chains))
    in_turn <- if (backend == "cuda") run(chains = 8, threads = 1)
    seconds <- vapply(c(chosen, list(in_turn)), function(fit) if (is.null(fit)) NA else fit$elapsed[["sweeps"]], 1)
    draws[[backend]][[name]] <- unclass(chosen[[3]])[parts]
    same <- c(list(unclass(in_turn)[parts]), lapply(draws, `[[`, name))
    rows[[length(rows) + 1L]] <- data.frame(fit = name, backend = backend, one = seconds[1], four = seconds[2],
      eight = seconds[3], eight_in_turn = seconds[4], four_to_one = seconds[2] / seconds[1],
      eight_to_one = seconds[3] / seconds[1],
      identical = if (backend == "cuda") all(vapply(same, identical, NA, same[[1]])) else NA)
  }
}
results <- do.call(rbind, rows)
results$threads <- warp_info()$threads
results$device <- ifelse(results$backend == "cuda", warp_info()$cuda$devices$name[1], "")
save_results(results, "chains")
