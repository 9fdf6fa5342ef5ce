# Moves of coefficients and deviations with the effects of groups (src/regression/level_moves.h), which take the place
# of Polya-Gamma sweeps where events are few and groups many. See helper-regression.R for the test of joint laws.

level_toys <- list(
  groups = regression_toy(groups = 4, levels = TRUE), one = regression_toy(terms = "one", levels = TRUE),
  slopes = regression_toy(terms = "slopes", levels = TRUE),
  independent = regression_toy(terms = "independent", levels = TRUE),
  crossed = regression_toy(terms = "crossed", levels = TRUE), nested = regression_toy(terms = "nested", levels = TRUE),
  "Student t, both" = regression_toy(prior = "student", terms = "both", levels = TRUE),
  "negative binomial, groups" = regression_toy("negbinomial", groups = 4, levels = TRUE),
  "negative binomial, slopes" = regression_toy("negbinomial", terms = "slopes", levels = TRUE),
  "Poisson, groups" = regression_toy("poisson", groups = 4, levels = TRUE),
  "Poisson, both" = regression_toy("poisson", terms = "both", levels = TRUE),
  horseshoe = regression_toy(prior = "horseshoe", groups = 4, levels = TRUE),
  "regularised horseshoe, crossed" = regression_toy(prior = "regularised", terms = "crossed", levels = TRUE),
  smooth = regression_toy(prior = "block", groups = 4, levels = TRUE),
  "autoregression, slopes" = regression_toy(prior = "autoregression", terms = "slopes", levels = TRUE),
  times = regression_toy(terms = "times", levels = TRUE),
  "negative binomial, times" = regression_toy("negbinomial", terms = "times", levels = TRUE),
  "multinomial, times" = regression_toy("multinomial", terms = "times", levels = TRUE),
  "multinomial, crossed" = regression_toy("multinomial", terms = "crossed", levels = TRUE),
  "multinomial, slopes" = regression_toy("multinomial", terms = "slopes", levels = TRUE),
  "multinomial, smooth" = regression_toy("multinomial", prior = "block", terms = "one", levels = TRUE),
  "many coefficients" = regression_toy(groups = 4, rows = 16, columns = 14, levels = TRUE)
)
# In the long form, 20 sweeps find that one proposal in thirty is accepted wrongly: 1.14 (half of the
# exponential draw in core/regression_level.h), where 1,500 replicates of 10 sweeps have 0.7.
level_replicates <- if (extended()) 20000 else 300
level_sweeps <- if (extended()) 20 else 4

test_that("moves of levels leave the joint law of parameters and responses invariant", {
  skip_where_repeated()
  expect_joint_laws(level_toys, if (resolve_run()$backend != "cpu") 40 else level_replicates, level_sweeps)
})

test_that("every one of these problems has the moves", {
  for (name in names(level_toys)) {
    toy <- level_toys[[name]]
    set.seed(1)
    state <- draw_toy_parameters(toy)
    y <- draw_toy_responses(toy, state)
    session <- native(C_regression_open, toy_data(toy, y), resolve_run(threads = 1))
    state <- c(list(key = .Call(C_chain_key, 1, 1L), sweep = 0), state)
    expect_true(has_level_moves(toy_start(toy, session, toy_prior(toy, y), state)), label = name)
    .Call(C_session_close, session)
  }
})

test_that("the comparison of joint laws finds planted errors in moves of levels", {
  skip_if(!extended(), "a test of the test")
  skip_if(resolve_run()$backend != "cpu", "many sweeps")
  wrong <- function(name, error, sweeps = 10) {
    planted_distance(level_toys[[name]], error, sweeps, 800)
  }
  expect_gt(wrong("groups", "map", 20), 1)
  expect_gt(wrong("groups", "group", 30), 1)
  expect_gt(wrong("slopes", "independent"), 1)
  expect_gt(wrong("negative binomial, groups", "counts"), 1)
})

# Few events in many groups: what Polya-Gamma sweeps do not mix on.
few_events <- function(rows, levels) {
  set.seed(6)
  d <- data.frame(g = sample(levels, rows, TRUE), h = sample(40, rows, TRUE), x = rnorm(rows), o = rnorm(rows))
  rate <- -4 + 0.5 * d$x + rnorm(levels)[d$g] + rnorm(40, 0, 0.5)[d$h]
  d$y <- rbinom(rows, 1, plogis(rate))
  d$n <- rnbinom(rows, mu = exp(rate), size = 2)
  d
}
level_fits <- function(rows, ...) {
  d <- few_events(rows, rows / 5)
  d$many <- rpois(rows, 2) * rbinom(rows, 1, 0.7)
  fit <- function(...) bayes_logit(..., data = d, chains = 1, seed = 1, progress = FALSE)
  models <- list(list(y ~ x + (1 | g) + offset(o / 5)), list(y ~ x + (x | g)), list(y ~ x + (1 | g) + (x || h)),
    list(n ~ x + (1 | g), "negbinomial"), list(many ~ x + (1 | g), "poisson", zi = ~ x + (x | g)),
    list(many ~ x + (1 | g) + (1 | h), "negbinomial", zi = ~ (1 | g)), list(many ~ x + (1 | g), "poisson", hu = ~x),
    list(many ~ x, "negbinomial", hu = ~ x + (1 | h)))
  lapply(models, function(model) {
    names(model)[seq_along(model) < 3] <- c("formula", "family")[seq_len(min(length(model), 2))]
    fit <- do.call(fit, c(model, iter = 13, warmup = 12, ...))
    state <- fit$state[[1L]]
    expect_true(has_level_moves(state) || any(vapply(state[c("count", "zero")], has_level_moves, NA)))
    parts <- c("coefficient_trace", "log_likelihood", "dispersion_trace", "group_deviation", "draws", "state")
    unclass(fit)[c(parts, if (length(model) > 2) "zero_group_deviation")]
  })
}

test_that("threads and vector instructions do not change moves of levels", {
  skip_on_cran()
  skip_if(resolve_run()$backend != "cpu", "loops of the processor")
  reference <- level_fits(400, backend = "cpu", threads = 1)
  old <- options(warpbayes.isa = NULL)
  on.exit(options(old))
  for (isa in instruction_sets()) {
    options(warpbayes.isa = isa)
    expect_identical(level_fits(400, backend = "cpu", threads = 2), reference, label = isa)
  }
})

test_that("GPU and CPU give the same bits with moves of levels", {
  skip_if(resolve_run()$backend != "cuda", "needs a graphics card or its emulator")
  expect_identical(level_fits(400, backend = "cuda"), level_fits(400, backend = "cpu", threads = 2))
})

test_that("few events in many groups mix and agree with quadrature, and the fit says which moves were used", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "many sweeps")
  # 60 groups of 30 trials: 7 have one event, 1 has two.
  d <- data.frame(g = 1:60, y = rep(c(0, 1, 2), c(52, 7, 1)))
  fit <- bayes_logit(cbind(y, 30 - y) ~ 1 + (1 | g), d, chains = 2, iter = 6500, warmup = 500, seed = 3, threads = 1,
    progress = FALSE)
  expect_output(print(fit), "elliptical slice moves of the coefficients and the groups' deviation", fixed = TRUE)
  draws <- logit_draws(fit)
  # In 12,000 draws; Polya-Gamma sweeps have some 400.
  expect_gt(min(summary(fit)$coefficients$ess_bulk), 2000)
  draws[, , 2] <- log(draws[, , 2])
  z <- seq(-8, 8, 0.1)
  expect_posterior(draws, function(a, s) {
    log_p <- plogis(a + exp(s) * z, log.p = TRUE)
    log_q <- plogis(-a - exp(s) * z, log.p = TRUE)
    by_count <- vapply(0:2, function(y) log(sum(dnorm(z) * exp(y * log_p + (30 - y) * log_q))), 0)
    sum(c(52, 7, 1) * by_count) + dnorm(a, qlogis(9 / 1800), 2.5, log = TRUE) + dcauchy(exp(s), 0, 2.5, log = TRUE) + s
  }, list(c(-9, -3), c(-9, 2)), "few events")
})

test_that("moves of levels are used where Polya-Gamma sweeps would not mix, and nowhere else", {
  skip_on_cran()
  skip_if(resolve_run()$backend != "cpu", "the same on a card")
  uses <- function(formula, d, ...) {
    fit <- bayes_logit(formula, d, ..., chains = 1, iter = 1, warmup = 0, seed = 1, threads = 1, progress = FALSE)
    has_level_moves(fit$state[[1L]])
  }
  d <- few_events(1500, 150)
  expect_true(uses(y ~ x + (1 | g), d))
  expect_true(uses(y ~ x + (x | g) + (1 | h), d))
  expect_true(uses(n ~ x + (1 | g), d, family = "negbinomial"))
  # The decision is for the posterior: aggregated rows have the same, and so have predictors in other units.
  totals <- stats::aggregate(cbind(y, n = 1) ~ g, d, sum)
  expect_true(uses(y ~ 1 + (1 | g), d))
  expect_true(uses(cbind(y, n - y) ~ 1 + (1 | g), totals))
  expect_true(uses(y ~ x + (x | g), transform(d, x = 1e6 * x + 1e7)))
  # Rows of weight 0, and levels without trials.
  expect_true(uses(y ~ x + (1 | g), d, weights = rep(0:1, length.out = 1500)))
  expect_true(uses(cbind(y, n - y) ~ 1 + (1 | g), transform(totals, n = ifelse(g %% 2 == 0 & y == 0, 0, n))))
  # Many coefficients, all priors, classes, and Poisson rows, whose surrogates mix slowly.
  d$noise <- matrix(rnorm(1500 * 126), 1500)
  expect_true(uses(y ~ noise + (1 | g), d))
  expect_true(uses(y ~ x + (1 | g), d, prior = logit_prior("horseshoe")))
  expect_true(uses(y ~ x + (1 | g), d, prior = logit_prior("cauchy")))
  expect_true(uses(y ~ x + s(o, k = 5) + (1 | g), d))
  expect_true(uses(factor(y + (x > 1)) ~ x + (1 | g), d, family = "multinomial"))
  expect_true(uses(n ~ x + (1 | g), d, family = "poisson"))
  # Many events; few groups; effects without an intercept; very many coefficients; no likelihood.
  d$often <- rbinom(1500, 1, plogis(d$x / 2 + rnorm(150)[d$g]))
  expect_false(uses(often ~ x + (1 | g), d))
  expect_false(uses(y ~ x + (1 | k), transform(d, k = g %% 12)))
  expect_false(uses(y ~ x + (0 + x | g), d))
  expect_false(uses(y ~ x + o + noise + (1 | g), d))
  expect_false(uses(y ~ x + (1 | g), d, control = warp_control(prior_only = TRUE)))
})

test_that("aggregated rows have the same draws", {
  skip_where_repeated()
  d <- few_events(600, 60)
  totals <- stats::aggregate(cbind(y, n = 1) ~ g, d, sum)
  fit <- function(...) bayes_logit(..., chains = 1, iter = 60, warmup = 40, seed = 1, threads = 1, progress = FALSE)
  rows <- fit(y ~ 1 + (1 | g), d)
  expect_true(has_level_moves(rows$state[[1L]]))
  expect_equal(logit_draws(fit(cbind(y, n - y) ~ 1 + (1 | g), totals)), logit_draws(rows), tolerance = 1e-5)
})

test_that("a fit with moves of levels goes on as a fit of the whole length, and earlier fits go on as they were", {
  skip_on_cran()
  d <- few_events(400, 80)
  fit <- function(iter) {
    bayes_logit(y ~ x + (1 | g), d, chains = 2, iter = iter, warmup = 20, seed = 1, threads = 1, progress = FALSE)
  }
  whole <- fit(30)
  parts <- c("coefficient_trace", "group_deviation", "log_likelihood", "draws", "state")
  expect_identical(unclass(continue(continue(fit(21), 3), 6))[parts], unclass(whole)[parts])
  # A fit of a version without these moves has no such part in its state.
  earlier <- whole
  for (i in 1:2) earlier$state[[i]]$moves <- NULL
  expect_output(print(continue(earlier, 5)), "Polya-Gamma sweeps")
  whole$state[[1L]]$moves <- whole$state[[1L]]$moves[-1L]
  expect_error(continue(whole, 5), "changed since it was made", class = "warpbayes_error_input")
})

test_that("slices of sweeps do not change what is learned in the warm-up", {
  toy <- level_toys$slopes
  set.seed(2)
  state <- draw_toy_parameters(toy)
  parts <- c(names(state), "moves")
  y <- draw_toy_responses(toy, state)
  state <- c(list(key = .Call(C_chain_key, 1, 1L), sweep = 0), state)
  session <- native(C_regression_open, toy_data(toy, y), resolve_run(threads = 1))
  on.exit(.Call(C_session_close, session))
  prior <- toy_prior(toy, y)
  prior$moves <- c(40, 2)
  state[c("ellipse", "moves")] <- toy_start(toy, session, prior, state)[c("ellipse", "moves")]
  after <- function(slices) {
    for (sweeps in slices) {
      state[parts] <- sweep_chain(session, prior, state, sweeps)[parts]
      state$sweep <- state$sweep + sweeps
    }
    state
  }
  expect_identical(after(c(1, 5, 13, 26)), after(45))
  expect_false(identical(after(45)$moves, state$moves))
})
