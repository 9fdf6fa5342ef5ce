# Groups with few events mix with every family and term: bench/regression-pairs.R has the figures of more groups.
skip_where_repeated()
skip_if(resolve_run()$backend != "cpu", "many sweeps")

test_that("effective draws are many where groups have few events, in pairs of families and terms", {
  set.seed(1)
  n <- 240
  d <- data.frame(g = rep(1:60, 4), h = sample(10, n, TRUE), x = rnorm(n), z = runif(n))
  linear <- 0.5 * d$x + rnorm(60)[d$g] + sin(5 * d$z) / 2
  d$y <- rbinom(n, 1, plogis(linear - 1.7))
  d$n <- rpois(n, exp(linear - 1.9))
  d$size <- rnbinom(n, mu = exp(linear - 1.9), size = 1)
  d$class <- factor(1 + d$y * (1 + (d$z > 0.5)), 1:3)
  d$step <- ordered(d$class)
  d$many <- rpois(n, exp(linear + 1)) * rbinom(n, 1, plogis(1 + rnorm(60)[d$g]))
  families <- c(binomial = "y", poisson = "n", negbinomial = "size", multinomial = "class", cratio = "step",
    zi = "many", hu = "many")
  terms <- c("x + (1 | g)", "x + s(z, k = 4) + (1 | g)", "x + z + (1 | g)", "x + (x | g)", "x + (1 | g) + (1 | h)",
    "x + factor(h) + (1 | g)")
  pairs <- expand.grid(family = names(families), term = terms, stringsAsFactors = FALSE)
  # One in six is enough to see that moves run; each family has its term.
  some <- if (full_run()) seq_len(nrow(pairs)) else which(seq_len(nrow(pairs)) %% 6L == 1L)
  if (!requireNamespace("mgcv", quietly = TRUE)) some <- some[!grepl("s(", pairs$term[some], fixed = TRUE)]
  for (i in some) {
    family <- pairs$family[[i]]
    prior <- if (pairs$term[[i]] == terms[[3]]) logit_prior("horseshoe") else logit_prior()
    zeros <- if (family %in% c("zi", "hu")) stats::setNames(list(~ (1 | g)), family)
    fit <- suppressWarnings(do.call(bayes_logit, c(list(stats::as.formula(paste(families[[family]], "~",
      pairs$term[[i]])), d, if (is.null(zeros)) family else "poisson", prior, chains = 1, iter = 700, warmup = 300,
      seed = 1, threads = 1, progress = FALSE), zeros)))
    effective <- apply(logit_draws(fit), 3, function(draws) effective_size(as.matrix(draws)))
    # One chain tells the number only roughly: these bounds are low.
    expect_gt(min(effective), 12, label = paste(family, pairs$term[[i]]))
    expect_gt(stats::median(effective), 60, label = paste(family, pairs$term[[i]]))
  }
})
