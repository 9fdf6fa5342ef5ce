# Regressions with more coefficients than rows, whose sweeps solve a system of the rows. The long form passed on
# 2026-11-26 in 76 s of processor time.

dual_toy <- function(...) regression_toy(..., columns = 11)
toys <- list(
  binomial = dual_toy(), "binomial, Student t, groups" = dual_toy(prior = "student", groups = 4),
  "binomial, regularised horseshoe" = dual_toy(prior = "regularised", groups = 4),
  "Poisson, horseshoe, crossed terms" = dual_toy("poisson", "horseshoe", terms = "crossed"),
  "Poisson, groups, offset" = dual_toy("poisson", groups = 4, offset = TRUE),
  "negative binomial, regularised horseshoe" = dual_toy("negbinomial", "regularised", dispersion_scale = 1),
  "negative binomial, groups" = dual_toy("negbinomial", groups = 4),
  "negative binomial, slopes, offset" = dual_toy("negbinomial", terms = "slopes", offset = TRUE, dispersion_scale = 1),
  "multinomial, horseshoe" = dual_toy("multinomial", "horseshoe"),
  "multinomial, two terms with slopes" = dual_toy("multinomial", terms = "both"),
  "binomial, nested terms" = dual_toy(terms = "nested"), "Poisson, slopes" = dual_toy("poisson", terms = "slopes")
)

test_that("sweeps leave the joint law of parameters and responses invariant", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "many sweeps")
  expect_joint_laws(toys, if (extended()) 10000 else 200)
})

test_that("the dispersion mixes though the coefficients could explain all of it", {
  skip_where_repeated()
  set.seed(10)
  d <- data.frame(g = rep(1:10, 6))
  d$x <- matrix(rnorm(60 * 90), 60)
  d$y <- rnbinom(60, size = 5, mu = exp(6 + d$x[, 1] / 2))
  for (formula in list(y ~ x, y ~ x + (1 | g))) {
    fit <- bayes_logit(formula, d, "negbinomial", prior = logit_prior(scale = 0.1), chains = 1, iter = 1300,
      warmup = 300, seed = 1, threads = 1, progress = FALSE)
    # Draws of the dispersion given the coefficients alone have 19 to 35; with effects of groups, which stay, 66 to 285.
    expect_gt(effective_size(as.matrix(log(logit_draws(fit)[, 1, "dispersion"]))), 50)
  }
})

test_that("the comparison of joint laws finds planted errors", {
  skip_if(!extended(), "a test of the test")
  skip_if(resolve_run()$backend != "cpu", "many sweeps")
  expect_gt(planted_distance(toys$binomial, "kappa"), 1)
  expect_gt(planted_distance(dual_toy(prior = "regularised"), "slab", 10), 1)
  expect_gt(planted_distance(toys$binomial, "prior"), 1)
  expect_gt(planted_distance(dual_toy(prior = "horseshoe"), "global", 40), 1)
  expect_gt(planted_distance(dual_toy(prior = "student"), "df", 10), 1)
  expect_gt(planted_distance(dual_toy(groups = 4), "group", 40), 1)
  expect_gt(planted_distance(dual_toy(terms = "slopes"), "group", 30), 1)
  expect_gt(planted_distance(toys[["Poisson, slopes"]], "surrogate"), 1)
})

test_that("given Polya-Gamma variables, the coefficients have the law of the dense solution", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "many sweeps")
  # One weight is 0, and one is smaller than doubles can square.
  omega <- c(10, 20, 0, 50, 30, 1e-200, 60, 40)
  z <- c(1, -2, 0.5, 3, 0, 1e-3, -1, 10)
  for (groups in c(0, 4)) {
    toy <- dual_toy(groups = groups)
    session <- native(C_regression_open, toy_data(toy, matrix(rep(0:1, 4))), resolve_run(threads = 1))
    set.seed(1)
    state <- c(list(key = .Call(C_chain_key, 1, 1L), sweep = 0), draw_toy_parameters(toy))
    state$statistics <- c(omega, z)
    state$scalars[2] <- variance <- 0.7
    prior <- toy_prior(toy, NULL)
    prior$mean <- rep_len(c(0.5, -1, 0), toy$p)
    x <- toy$x
    precision <- crossprod(x, x * omega) + toy$precision
    linear <- crossprod(x, z) + toy$precision %*% prior$mean
    if (groups > 0) {
      # The groups' intercepts are integrated out.
      of_group <- outer(toy$group, 1:4, "==") + 0
      tied <- crossprod(of_group, of_group * omega) + diag(1 / variance, 4)
      cross <- crossprod(of_group, x * omega)
      precision <- precision - crossprod(cross, solve(tied, cross))
      linear <- linear - crossprod(cross, solve(tied, crossprod(of_group, z)))
    }
    draws <- t(vapply(seq_len(if (extended()) 40000 else 2000), function(i) {
      state$sweep <- as.double(i)
      sweep_chain(session, prior, state, 1)$coefficients
    }, numeric(toy$p)))
    .Call(C_session_close, session)
    axes <- eigen(precision, symmetric = TRUE)
    white <- (draws - rep(solve(precision, linear), each = nrow(draws))) %*% axes$vectors %*% diag(sqrt(axes$values))
    # False alarms: 1e-8 for each, by the normal law of means, and by the chi-square law of squares.
    expect_lt(max(abs(colMeans(white))) * sqrt(nrow(draws)), 6.2)
    squares <- colSums(white^2)
    expect_gt(min(pchisq(squares, nrow(draws))), 1e-9)
    expect_gt(min(pchisq(squares, nrow(draws), lower.tail = FALSE)), 1e-9)
    correlations <- cor(white)[upper.tri(diag(toy$p))]
    expect_lt(max(abs(correlations)) * sqrt(nrow(draws)), 6.2)
  }
})

test_that("aggregated rows, fewer than coefficients, have the posterior of single rows", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "many sweeps")
  set.seed(4)
  few <- data.frame(matrix(rnorm(30), 5), k = c(0, 3, 2, 5, 1), n = c(4, 3, 6, 5, 2))
  at <- rep(1:5, few$n)
  many <- few[at, ]
  many$y <- as.numeric(sequence(few$n) <= rep(few$k, few$n))
  for (prior in list(logit_prior(scale = 1), logit_prior("student_t", scale = 0.5))) {
    draws <- function(formula, data) {
      fit <- bayes_logit(formula, data, prior = prior, chains = 2, iter = 2500, warmup = 500, seed = 1, threads = 1,
        progress = FALSE)
      list(of = logit_draws(fit), dual = is_dual(fit$design), fit = fit)
    }
    one <- draws(cbind(k, n - k) ~ X1 + X2 + X3 + X4 + X5 + X6, few)
    other <- draws(y ~ X1 + X2 + X3 + X4 + X5 + X6, many)
    expect_true(one$dual)
    expect_false(other$dual)
    for (i in 1:7) {
      mean_of <- function(values) c(mean(values), sd(values) / sqrt(effective_size(split_chains(values))))
      for (f in list(identity, abs)) {
        a <- mean_of(f(one$of[, , i]))
        b <- mean_of(f(other$of[, , i]))
        # Six standard errors: 2e-9 a comparison.
        expect_lt(abs(a[[1]] - b[[1]]) / sqrt(a[[2]]^2 + b[[2]]^2), 6)
      }
    }
  }
  expect_output(print(one$fit), "by a system of\\s+5 equations")
})

dual_fits <- function(n, p, ...) {
  set.seed(8)
  d <- data.frame(
    y = rbinom(n, 1, 0.5), c = rpois(n, 5), m = factor(sample(3, n, TRUE)), g = factor(sample(4, n, TRUE)),
    h = factor(sample(3, n, TRUE)), z = rnorm(n), o = rnorm(n)
  )
  d$x <- matrix(rnorm(n * p), n, dimnames = list(NULL, paste0("x", 1:p)))
  d$s <- d$x * rbinom(n * p, 1, 0.2)
  few <- function(...) bayes_logit(..., data = d, seed = 1, iter = 3, warmup = 1, chains = 1, progress = FALSE)
  fits <- list(
    few(y ~ x + (1 | g) + offset(o), ..., prior = logit_prior("cauchy")),
    few(c ~ x + (z | g) + (1 | h), ..., family = "poisson", prior = logit_prior("horseshoe")),
    few(c ~ x, ..., family = "negbinomial", prior = logit_prior("horseshoe", slab_scale = 2)),
    few(m ~ x + (1 | g), ..., family = "multinomial"),
    if (requireNamespace("Matrix", quietly = TRUE)) few(y ~ s + (1 | g), ..., control = warp_control(sparse = TRUE))
  )
  parts <- c("coefficient_trace", "log_likelihood", "group_deviation", "draws", "state")
  lapply(fits, function(fit) unclass(fit)[parts])
}

test_that("threads, vector instructions and the device do not change a fit", {
  skip_on_cran()
  if (resolve_run()$backend == "cuda") {
    return(expect_identical(dual_fits(21, 45, backend = "cuda"), dual_fits(21, 45, backend = "cpu", threads = 2)))
  }
  reference <- dual_fits(41, 75, backend = "cpu", threads = 1)
  old <- options(warpbayes.isa = NULL)
  on.exit(options(old))
  for (isa in instruction_sets()) {
    options(warpbayes.isa = isa)
    expect_identical(dual_fits(41, 75, backend = "cpu", threads = 2), reference, label = isa)
  }
})

test_that("a fit is continued, and more coefficients than rows are refused where they cannot be drawn", {
  skip_where_repeated()
  set.seed(2)
  d <- data.frame(y = rbinom(10, 1, 0.5))
  d$x <- matrix(rnorm(200), 10)
  fit <- function(...) bayes_logit(y ~ x, d, chains = 1, seed = 1, threads = 1, progress = FALSE, ...)
  longer <- continue(fit(iter = 4, warmup = 2, prior = logit_prior("horseshoe")), 3, threads = 1, progress = FALSE)
  expect_identical(
    longer$coefficient_trace, fit(iter = 7, warmup = 2, prior = logit_prior("horseshoe"))$coefficient_trace
  )
  expect_error(fit(iter = 4, prior = logit_prior(scale = 1e160)), "the system of the rows is not positive in sweep 1",
    class = "warpbayes_error_input")
  skip_if_not_installed("Matrix")
  d$w <- d$x[, 1:10]
  expect_error(
    bayes_logit(y ~ w, d, prior = logit_prior("zellner"), control = warp_control(sparse = TRUE), iter = 4, threads = 1,
      progress = FALSE),
    "\"zellner\" needs as many rows as coefficients, but has 10 for 11", class = "warpbayes_error_input"
  )
})
