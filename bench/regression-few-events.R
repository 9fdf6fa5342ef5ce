# Groups with few events, y ~ x + (1 | g): effective draws in 1,000 sweeps by Polya-Gamma sweeps ("before") and by the
# moves that take their place ("after"), and how far means are from quadrature, in Monte Carlo standard errors. The
# quadrature has 36 x 49 points of the deviation and the coefficients, and 15 nodes a group. regression-groups.R runs
# this file, too.
#   cd bench && Rscript regression-few-events.R    two minutes
source("common.R")

few_events <- function(seed, rows, groups, intercept) {
  set.seed(seed)
  g <- sample(groups, rows, TRUE)
  x <- rnorm(rows)
  u <- rnorm(groups)
  d <- data.frame(g = g, x = x, y = rbinom(rows, 1, plogis(intercept + 0.5 * x + u[g])))
  d$x <- (d$x - mean(d$x)) / sqrt(mean((d$x - mean(d$x))^2))
  d
}
cases <- list(
  list(few_events(1, 3000, 300, -4.8), c(-4.7507, 0.4514, 0.8400)),
  list(few_events(2, 10000, 1000, -6.3), c(-6.4295, 0.6526, 1.3239)),
  list(few_events(4, 10000, 1000, -5), c(-4.6421, 0.4336, 0.5037)),
  list(few_events(3, 20000, 200, -5.8), c(-6.2613, 0.5703, 1.2248)),
  list(few_events(5, 33600, 4197, -6), c(-5.8838, 0.4754, 0.9248))
)
few_events_row <- function(case, sampler) {
  d <- case[[1]]
  utils::assignInNamespace("level_moves", if (sampler == "before") 0 else 1, "warpbayes")
  on.exit(utils::assignInNamespace("level_moves", 1, "warpbayes"))
  seconds <- processor_seconds(fit <- bayes_logit(y ~ x + (1 | g), d, chains = 2, iter = 3000, warmup = 1000, seed = 1,
    threads = 1, backend = "cpu", progress = FALSE))
  table <- summary(fit)$coefficients[1:3, ]
  away <- (table$mean - case[[2]]) / (table$sd / sqrt(table$ess_bulk))
  data.frame(
    rows = nrow(d), groups = length(unique(d$g)), events = sum(d$y), sampler = sampler,
    intercept = round(table$ess_bulk[[1]] / 4), slope = round(table$ess_bulk[[2]] / 4),
    deviation = round(table$ess_bulk[[3]] / 4), furthest_mean = round(max(abs(away)), 1),
    milliseconds_a_sweep = signif(1000 * seconds / 6000, 3)
  )
}
save_results(do.call(rbind, lapply(cases, function(case) {
  rbind(few_events_row(case, "before"), few_events_row(case, "after"))
})), "regression-few-events")
