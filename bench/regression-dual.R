# Regressions with more coefficients than rows. A sweep solves a system of the n rows: the products of the rows take
# n^2 p/2 multiply-adds, once a sweep or, if all priors are normal, once a slice of sweeps; the root takes n^3/6, and
# products with vectors 4 n p. The floor is their number divided by the machine's rate. A design that no cache holds is
# also read three times a sweep, 24 n p bytes, and about ten times more often with a horseshoe, whose move evaluates the
# likelihood. The rate is measured on the clock: where other programs run, it is too low, and a share of the floor can
# exceed 1. On a card the system is solved by the processor, and a sweep waits for ten small copies.
# Then effective draws of the slowest quantity with a regularised horseshoe, a minute of one processor.
#   cd bench && Rscript regression-dual.R         on one thread
#   cd bench && Rscript regression-dual.R cuda    on a graphics card, and whether its draws are those of the processor
source("common.R")
on_card <- "cuda" %in% commandArgs(TRUE)
small <- on_card && use_card()
horseshoe <- logit_prior("horseshoe", global_scale = 0.05)
regularised <- logit_prior("horseshoe", global_scale = 0.05, slab_scale = 2)
case <- function(n, p, what, prior, family = "binomial", groups = FALSE) {
  list(n = n, p = p, what = what, prior = prior, family = family, groups = groups)
}
cases <- list(
  case(200, 500, "normal", logit_prior()), case(200, 500, "Cauchy", logit_prior("cauchy")),
  case(200, 500, "horseshoe", horseshoe), case(200, 500, "regularised horseshoe", regularised),
  case(200, 500, "normal, groups", logit_prior(), groups = TRUE),
  case(200, 500, "normal, Poisson", logit_prior(scale = 0.1), "poisson"),
  case(200, 500, "horseshoe, four classes", horseshoe, "multinomial"),
  case(200, 20000, "normal", logit_prior(scale = 0.1)), case(200, 20000, "horseshoe", horseshoe),
  case(1000, 5000, "horseshoe", horseshoe)
)
if (small) cases <- list(case(20, 50, "normal", logit_prior()), case(20, 50, "horseshoe", horseshoe))

data_of <- function(case) {
  set.seed(1)
  x <- matrix(rnorm(case$n * case$p), case$n)
  linear <- 2 * x[, 1] - 1.5 * x[, 2]
  y <- switch(case$family,
    binomial = rbinom(case$n, 1, plogis(linear)), poisson = rpois(case$n, exp(1 + linear / 4)),
    multinomial = factor(max.col(cbind(0, linear, x[, 3:4]) - log(-log(matrix(runif(4 * case$n), case$n)))))
  )
  d <- data.frame(y = y, g = rep_len(1:20, case$n))
  d$x <- x
  d
}
fit_of <- function(case, d, sweeps, ...) {
  bayes_logit(if (case$groups) y ~ x + (1 | g) else y ~ x, d, case$family, prior = case$prior, chains = 1, seed = 1,
    iter = sweeps, warmup = 1, threads = 1, progress = FALSE, ...)
}
# What sweeps add to a fit: processor time of the one thread, or time on the clock with a card.
sweep_seconds <- function(case) {
  d <- data_of(case)
  sweeps <- if (case$p > 1000) 40 else 300
  measure <- if (on_card) elapsed else processor_seconds
  times <- medians(interleave(
    long = function() measure(fit_of(case, d, sweeps + 2)), short = function() measure(fit_of(case, d, 2)), times = 3
  ))
  (times[["long"]] - times[["short"]]) / sweeps
}
floor_of <- function(case) {
  n <- case$n
  outcomes <- if (case$family == "multinomial") 3 else 1
  gram <- if (is.null(case$prior$law) && case$prior$type == "normal") 0 else n^2 * case$p / 2
  outcomes * (gram + n^3 / 6 + 4 * n * case$p)
}
seconds <- vapply(cases, sweep_seconds, 0)
floors <- vapply(cases, floor_of, 0) / max(replicate(5, rate(backend = if (on_card) "cuda" else "cpu")))
results <- data.frame(
  rows = vapply(cases, `[[`, 0, "n"), columns = vapply(cases, `[[`, 0, "p"),
  prior = vapply(cases, `[[`, "", "what"), milliseconds_a_sweep = 1000 * seconds,
  floor_milliseconds = 1000 * floors, share_of_floor = floors / seconds
)
if (on_card) {
  results$identical <- vapply(cases, function(case) {
    d <- data_of(case)
    here <- fit_of(case, d, 3, backend = "cpu")
    identical(fit_of(case, d, 3, backend = "cuda")$coefficient_trace, here$coefficient_trace)
  }, NA)
}
save_results(results, if (on_card) "regression-dual-cuda" else "regression-dual")

if (!on_card) {
  d <- data_of(cases[[4]])
  d$y <- with(list(x = d$x), rbinom(200, 1, plogis(2 * x[, 1] - 1.5 * x[, 2] + x[, 3])))
  ess <- lapply(c(0.05, 1), function(scale) {
    prior <- logit_prior("horseshoe", global_scale = scale, slab_scale = 2)
    minutes <- processor_seconds(fit <- bayes_logit(y ~ x, d, prior = prior, chains = 2, iter = 6000, warmup = 1000,
      seed = 1, threads = 1, progress = FALSE)) / 60
    table <- summary(fit)$coefficients
    data.frame(global_scale = scale, sweeps = 12000, minutes = minutes,
      bulk_a_minute = min(table$ess_bulk) / minutes, tail_a_minute = min(table$ess_tail) / minutes,
      median_bulk_a_minute = median(table$ess_bulk) / minutes)
  })
  save_results(do.call(rbind, ess), "regression-dual-horseshoe")
}
