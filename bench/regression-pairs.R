# Groups with few events, families by terms: the least effective draws in 1,000 sweeps, of all parameters that
# summary() shows, and the sampler. Groups have one to three events.
#   cd bench && Rscript regression-pairs.R [groups [family]]    a minute with 300 groups
source("common.R")

groups_of_few <- function(groups) {
  set.seed(1)
  n <- 6 * groups
  d <- data.frame(g = rep(seq_len(groups), 6), h = sample(40, n, TRUE), x = rnorm(n), z = runif(n), w = rnorm(n))
  d$k <- factor(sample(3, n, TRUE))
  linear <- 0.5 * d$x + rnorm(groups)[d$g] + sin(5 * d$z) / 2
  d$y <- rbinom(n, 1, plogis(linear - 1.7))
  d$n <- rpois(n, exp(linear - 1.9))
  d$nb <- rnbinom(n, mu = exp(linear - 1.9), size = 1)
  d$zip <- d$n * rbinom(n, 1, 0.8)
  class <- cbind(0, linear - 2, linear[rev(seq_len(n))] - 2.5)
  d$class <- factor(max.col(class - log(-log(matrix(runif(3 * n), n)))), 1:3)
  d$step <- ordered(d$class)
  d
}
families <- list(
  binomial = list("y"), poisson = list("n"), negbinomial = list("nb"), multinomial = list("class"),
  cratio = list("step"), "zi poisson" = list("zip", zi = ~ 1 + (1 | g)), "hu poisson" = list("zip", hu = ~ 1 + (1 | g))
)
terms <- list(
  groups = list("x + (1 | g)"), smooth = list("x + s(z, k = 5) + (1 | g)"),
  horseshoe = list("x + z + w + k + (1 | g)", prior = logit_prior("horseshoe")),
  slopes = list("x + (x | g)"), crossed = list("x + (1 | g) + (1 | h)"),
  wide = list("x + factor(h) + (1 | g)")
)
least_effective <- function(d, family, term) {
  own <- families[[family]]
  count <- if (family %in% c("zi poisson", "hu poisson")) "poisson" else family
  given <- c(list(stats::as.formula(paste(own[[1]], "~", terms[[term]][[1]])), d, count, chains = 1, iter = 1500,
    warmup = 500, seed = 1, threads = 1, backend = "cpu", progress = FALSE), own[-1], terms[[term]][-1])
  seconds <- processor_seconds(fit <- tryCatch(suppressWarnings(do.call(bayes_logit, given)), error = identity))
  if (inherits(fit, "error")) return(data.frame(family = family, term = term, least = NA, of = conditionMessage(fit),
    median = NA, milliseconds_a_sweep = NA, sampler = ""))
  effective <- apply(internal$logit_draws(fit), 3, function(draws) internal$effective_size(as.matrix(draws)))
  names(effective) <- dimnames(internal$logit_draws(fit))[[3]]
  data.frame(
    family = family, term = term, least = round(min(effective)), of = names(which.min(effective)),
    median = round(median(effective)), milliseconds_a_sweep = signif(1000 * seconds / 1500, 3),
    sampler = substr(internal$logit_sampler_words(fit), 1, 30)
  )
}
given <- commandArgs(TRUE)
d <- groups_of_few(if (length(given)) as.integer(given[[1]]) else 300)
if (length(given) > 1) families <- families[given[[2]]]
if (length(given) > 2) terms <- terms[given[[3]]]
options(width = 200)
rows <- list()
for (family in names(families)) for (term in names(terms)) {
  rows[[length(rows) + 1]] <- least_effective(d, family, term)
  print(rows[[length(rows)]], row.names = FALSE)
}
if (length(given) == 0) save_results(do.call(rbind, rows), "regression-pairs")
