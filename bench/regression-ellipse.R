# Elliptical slice moves after each Polya-Gamma sweep, against the sweeps alone: effective draws of the worst quantity
# for each second of processor time, on one thread. `chosen` says what bayes_logit() does by itself. Without package
# MASS its data sets are left out.
#   cd bench && Rscript regression-ellipse.R          all cases, about 4 minutes
#   cd bench && Rscript regression-ellipse.R quick    the small ones
source("common.R")
quick <- "quick" %in% commandArgs(TRUE)

counts <- function(log_mean, n, p) {
  x <- matrix(rnorm(n * (p - 1)), n)
  y <- rnbinom(n, mu = exp(log_mean + x %*% rep(0.5 / sqrt(p - 1), p - 1)), size = 2)
  list(y ~ ., data.frame(y = y, x), "negbinomial")
}
events <- function(n, trials, logit, p = 2) {
  x <- matrix(rnorm(n * (p - 1)), n)
  y <- rbinom(n, trials, plogis(logit + 0.3 * x[, 1]))
  list(cbind(y, trials - y) ~ . - trials, data.frame(y = y, x, trials = trials), "binomial")
}
grouped <- function(groups, rows, log_mean) {
  d <- data.frame(g = rep(seq_len(groups), each = rows), x = rnorm(groups * rows))
  d$y <- rnbinom(nrow(d), mu = exp(log_mean + 0.5 * d$x + 0.7 * rnorm(groups)[d$g]), size = 2)
  list(y ~ x + (1 | g), d, "negbinomial")
}
classes <- function(n, trials, weights, slopes) {
  x <- rnorm(n)
  share <- exp(outer(x, slopes)) * rep(weights, each = n)
  y <- t(apply(share, 1, function(p) rmultinom(1, trials, p)))
  colnames(y) <- letters[seq_along(weights)]
  d <- data.frame(x = x)
  d$y <- y
  list(y ~ x, d, "multinomial")
}
set.seed(1)
cases <- list()
for (n in if (quick) 200 else c(200, 5000)) {
  for (log_mean in c(2, 5, 9, 12)) {
    for (p in c(2, 10)) {
      cases[[sprintf("counts of log mean %g, n = %g, p = %d", log_mean, n, p)]] <- counts(log_mean, n, p)
    }
  }
}
cases[["1e4 trials at logit -7, n = 200, p = 2"]] <- events(200, 1e4, -7)
cases[["1e4 rows, about 20 events, p = 5"]] <- events(1e4, 1, -6.3, 5)
if (!quick) cases[["1e5 rows, about 100 events, p = 5"]] <- events(1e5, 1, -7, 5)
if (!quick) cases[["1e4 rows, classes of half, half and about 20"]] <- classes(1e4, 1, c(1, 1, 0.004), c(0, 0.3, 0.5))
cases[["200 rows, 5 classes of 200 trials, one rare"]] <-
  classes(200, 200, c(1, 0.01, 0.5, 0.05, 0.2), c(0, 0.3, 0.1, -1, 0))
cases[["50 rows, 3 classes of 1e4 trials"]] <- classes(50, 1e4, c(1, 1.2, 0.7), c(0, 0.3, 0.5))
three <- classes(50, 1000, c(1, 1.2, 0.7), c(0, 0.3, 0.5))
three[[2]]$g <- rep(1:10, 5)
cases[["50 rows, 3 classes of 1e3 trials, 10 groups"]] <- list(y ~ x + (1 | g), three[[2]], "multinomial")
cases[["iris, 2 predictors"]] <- list(Species ~ Sepal.Length + Sepal.Width, datasets::iris, "multinomial")
cases[["counts of log mean 9, 8 groups of 20"]] <- grouped(8, 20, 9)
cases[["counts of log mean 5, 40 groups of 5"]] <- grouped(40, 5, 5)
cases[["counts of log mean 2, 200 groups of 5"]] <- grouped(200, 5, 2)
if (requireNamespace("MASS", quietly = TRUE)) {
  cases[["birthwt"]] <- list(low ~ age + lwt + factor(race) + smoke + ptl + ht + ui + ftv, MASS::birthwt, "binomial")
  cases[["quine"]] <- list(Days ~ Eth * Sex + Age + Lrn, MASS::quine, "negbinomial")
}

# Effective draws of the worst quantity, and seconds. The moves are switched after two sweeps.
measure <- function(case, moves) {
  fit <- bayes_logit(case[[1]], case[[2]], case[[3]],
    chains = 2, iter = 2, warmup = 1, seed = 1, threads = 1, backend = "cpu", progress = FALSE
  )
  chosen <- fit$state[[1]]$ellipse[1:2]
  for (chain in 1:2) fit$state[[chain]]$ellipse[[1]] <- moves
  warmup <- 300
  fit <- continue(fit, warmup, threads = 1, progress = FALSE)
  iter <- if (nrow(case[[2]]) > 2e4) 400 else if (nrow(case[[2]]) > 2000) 1000 else 1500
  seconds <- sum(system.time(fit <- continue(fit, iter, threads = 1, progress = FALSE))[1:2])
  table <- summary(drop_warmup(fit, warmup + 1))$coefficients
  c(ess = min(table$ess_bulk) / (2 * iter), rate = min(table$ess_bulk) / seconds, rhat = max(table$rhat),
    lambda = chosen[[2]], chosen = chosen[[1]])
}
results <- do.call(rbind, lapply(names(cases), function(name) {
  alone <- measure(cases[[name]], 0)
  moved <- measure(cases[[name]], 3)
  data.frame(
    case = name, lambda = moved[["lambda"]], chosen = if (moved[["chosen"]] > 0) "moves" else "sweeps alone",
    effective_a_sweep_alone = alone[["ess"]], effective_a_sweep = moved[["ess"]],
    rhat_alone = alone[["rhat"]], rhat = moved[["rhat"]],
    effective_a_second_alone = alone[["rate"]], effective_a_second = moved[["rate"]],
    times = moved[["rate"]] / alone[["rate"]]
  )
}))
save_results(results, "regression-ellipse")
