# Multinomial regressions with grouping terms and offsets. test-bayes-logit-groups.R has the test of joint laws.

set.seed(6)
choices <- data.frame(x = rnorm(120), g = rep(letters[1:6], 20), h = rep(1:4, each = 30), o = rnorm(120))
choices$y <- factor(c("u", "v", "w")[apply(cbind(0, choices$x, rnorm(6)[factor(choices$g)]), 1, function(e) {
  sample(3, 1, prob = exp(e))
})])
quick <- function(formula, data = choices, ...) {
  eval(substitute(bayes_logit(formula, data, "multinomial", ...,
    chains = 2, iter = 40, warmup = 20, seed = 1, threads = 2, progress = FALSE
  )), parent.frame())
}
input <- "warpbayes_error_input"

test_that("each class has effects of its own, in draws, summaries and the generics of other packages", {
  fit <- quick(y ~ x + (x | g) + (1 | h))
  expect_identical(dimnames(logit_draws(fit))[[3]], c(
    "v:(Intercept)", "v:x", "w:(Intercept)", "w:x", "v:sd(g)", "v:sd(x | g)", "v:sd(h)", "w:sd(g)", "w:sd(x | g)",
    "w:sd(h)", "v:cor((Intercept), x | g)", "w:cor((Intercept), x | g)"
  ))
  expect_identical(rownames(fit$draws$effects)[c(1:2, 13, 17:18, 32)], c("v:b[(Intercept) g:a]", "v:b[x g:a]",
    "v:b[(Intercept) h:1]", "w:b[(Intercept) g:a]", "w:b[x g:a]", "w:b[(Intercept) h:4]"))
  expect_identical(dimnames(logit_draws(quick(y ~ x + (1 | g))))[[3]][5:6], c("v:sd(g)", "w:sd(g)"))
  expect_output(print(fit), "120 rows in 6 groups of g and 4 of h", fixed = TRUE)
  mean <- function(name) base::mean(fit$draws$effects[name, , ])
  effects <- ranef.bayes_logit(fit)
  expect_identical(names(effects), c("g", "h"))
  expect_identical(names(effects$g), c("v:(Intercept)", "v:x", "w:(Intercept)", "w:x"))
  expect_equal(effects$g["c", "w:x"], mean("w:b[x g:c]"), tolerance = 1e-12)
  expect_equal(effects$h["2", "v:(Intercept)"], mean("v:b[(Intercept) h:2]"), tolerance = 1e-12)
  covariances <- VarCorr.bayes_logit(fit)
  expect_identical(rownames(covariances$g), names(effects$g))
  expect_identical(unname(covariances$g[1:2, 3:4]), matrix(0, 2, 2))
  expect_equal(diag(covariances$g), colMeans(apply(fit$group_deviation[21:40, , c(1:2, 4:5)], 3, c)^2),
    ignore_attr = TRUE, tolerance = 1e-12)
  half <- bayes_logit(y ~ x + (x | g) + (1 | h), choices, "multinomial",
    chains = 2, iter = 25, warmup = 20, seed = 1, threads = 2, progress = FALSE
  )
  parts <- c("coefficient_trace", "group_deviation", "group_correlation", "draws", "state")
  expect_identical(continue(half, 15)[parts], fit[parts])
})

test_that("probabilities, log likelihoods and simulations have the effects and offsets of their class", {
  fit <- quick(y ~ x + (x | g) + offset(cbind(o, -o)))
  beta <- coefficient_draws(fit)
  b <- matrix(fit$draws$effects, dim(fit$draws$effects)[[1L]], dimnames = list(rownames(fit$draws$effects), NULL))
  new <- data.frame(x = 0.7, g = "c", o = 0.3, y = "w")
  weight <- function(class, offset) {
    effect <- function(name) b[sprintf("%s:b[%s g:c]", class, name), ]
    exp(beta[, paste0(class, ":(Intercept)")] + 0.7 * beta[, paste0(class, ":x")] + effect("(Intercept)") +
      0.7 * effect("x") + offset)
  }
  odds <- cbind(u = 1, v = weight("v", 0.3), w = weight("w", -0.3))
  share <- odds / rowSums(odds)
  expect_equal(predict(fit, new)[1, , "mean"], colMeans(share), tolerance = 1e-12)
  expect_equal(posterior_epred.bayes_logit(fit, new)[, 1, ], share, ignore_attr = TRUE, tolerance = 1e-12)
  expect_equal(log_lik(fit, new)[, 1], log(share[, "w"]), ignore_attr = TRUE, tolerance = 1e-12)
  expect_equal(predict(fit, choices[5:9, ]), predict(fit)[5:9, , ], tolerance = 1e-12)
  expect_equal(fit$log_likelihood[21:40, ], matrix(rowSums(log_lik(fit)), 20), tolerance = 1e-10)
  expect_identical(dim(simulate(fit, 2, seed = 1)), c(120L, 2L))
  expect_identical(dim(posterior_predict.bayes_logit(fit, seed = 1)), c(40L, 120L))
  # Rows of one new level share its effects. Without groups, levels do not matter.
  set.seed(1)
  other <- predict(fit, data.frame(x = c(1, 1, 1, 1), g = c("new", "new", "c", NA), o = 0), "link")
  expect_identical(other[1, , ], other[2, , ])
  expect_true(all(other[1, , "sd"] > other[3, , "sd"]) && all(is.na(other[4, , ])))
  expect_equal(predict(fit, new, re_formula = NA), predict(fit, transform(new, g = "z"), re_formula = NA))
  expect_error(predict(fit, data.frame(x = 1, o = 0)), "lacks the groups \"g\"", class = input)
})

# Compiled code goes through the rows in leaves of 2,048. A loop over a whole leaf must not reach the predictor of the
# next class.
test_that("the log likelihood of a multinomial of more rows than a leaf is that of its draws", {
  rows <- data.frame(x = sin(1:2060), y = factor(c("u", "v", "w")[(1:2060 * 7) %% 5 %% 3 + 1]))
  fit <- quick(y ~ x, rows)
  expect_equal(fit$log_likelihood[21:40, ], matrix(rowSums(log_lik(fit)), 20), tolerance = 1e-12)
})

test_that("a multinomial takes an offset for each class, and refuses others", {
  two <- cbind(v = choices$o, w = -choices$o)
  fit <- quick(y ~ x, offset = two)
  expect_identical(quick(y ~ x, offset = unname(two))$coefficient_trace, fit$coefficient_trace)
  # Offsets of all classes count from the reference.
  expect_equal(quick(y ~ x, offset = cbind(1, two + 1))$offset, unname(two), tolerance = 1e-12)
  expect_equal(quick(y ~ x + offset(two / 2), offset = two / 2)$coefficient_trace, fit$coefficient_trace)
  expect_identical(dim(predict(fit)), c(120L, 3L, 4L))
  expect_error(predict(fit, choices), "lacks \"two\"", class = input)
  expect_error(quick(y ~ x, offset = o), "`offset` must be a matrix for family \"multinomial\", with a column for each",
    class = input)
  expect_error(quick(y ~ x + offset(cbind(o, o, o, o))), "`offset` must be a matrix", class = input)
  expect_error(quick(y ~ x, offset = two[, 2:1]), "has the column \"w\" where that of class \"v\" belongs",
    class = input)
  expect_error(quick(y ~ x, offset = two / 0), "`offset` must be finite", class = input)
  expect_error(bayes_logit(I(x > 0) ~ 1, choices, offset = two), "one number for each row", class = input)
  # Two classes have one linear predictor, whose offset may be a vector.
  pair <- quick(I(y == "u") ~ x, offset = o)
  expect_identical(pair$offset, choices$o)
  holes <- transform(choices, o = replace(o, 3, NA))
  expect_identical(quick(y ~ x + offset(cbind(o, 0)), holes)$rows, 119L)
  expect_true(all(is.na(predict(quick(y ~ x + offset(cbind(o, 0))), holes)[3, , ])))
})

test_that("classes that offsets keep apart are separate binomial regressions", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "many sweeps")
  # In rows of the first half class w has the offset -40, in the others class v: each half has two classes.
  set.seed(8)
  d <- data.frame(x = rnorm(120), g = rep(1:6, 20), half = rep(1:2, each = 60))
  one <- rbinom(120, 1, plogis(0.5 * d$x + rnorm(12)[d$g + 6 * (d$half - 1)])) == 1
  d$y <- factor(ifelse(one, c("v", "w")[d$half], "u"))
  d$away <- cbind(v = ifelse(d$half == 2, -40, 0), w = ifelse(d$half == 1, -40, 0))
  # The priors are for predictors in the data's units.
  prior <- logit_prior(autoscale = FALSE, scale = 1)
  draws <- function(formula, data, family) {
    logit_draws(bayes_logit(formula, data, family, prior,
      chains = 2, iter = 1500, warmup = 300, seed = 1, threads = 2, progress = FALSE
    ))
  }
  both <- draws(y ~ 0 + x + (1 | g) + offset(away), d, "multinomial")
  for (k in 1:2) {
    class <- c("v", "w")[[k]]
    own <- draws((y != "u") ~ 0 + x + (1 | g), d[d$half == k, ], "binomial")
    for (name in c("x", "sd(g)")) {
      parts <- list(both[, , paste0(class, ":", name)], own[, , name])
      error <- sqrt(sum(vapply(parts, function(x) stats::var(as.vector(x)) / effective_size(split_chains(x)), 0)))
      # Five standard errors: a false alarm in 1e6.
      expect_lt(abs(base::mean(parts[[1]]) - base::mean(parts[[2]])) / error, 5, label = paste(class, name))
    }
  }
})

test_that("deviations of classes agree with quadrature", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "many sweeps")
  # One level: the data tell only the sum of its effect and the coefficient, whose deviations are s and 0.5.
  d <- data.frame(y = factor(c("u", "v", "w", "w", "w", "w", "w", "w", "w", "w")), g = 1, x = 1)
  fit <- bayes_logit(y ~ 0 + x + (1 | g), d, "multinomial",
    prior = logit_prior(scale = 0.5, autoscale = FALSE, group_scale = 1),
    chains = 2, iter = 3500, warmup = 500, seed = 1, threads = 1, progress = FALSE
  )
  at <- tan(pi / 2 * (seq_len(150) - 0.5) / 150)
  sums <- sinh(seq(-5, 5, length.out = 301))
  step <- sqrt(1 + sums^2)
  likelihood <- outer(sums, sums, function(v, w) {
    most <- pmax(0, v, w)
    exp(v + 8 * w - 10 * (most + log(exp(-most) + exp(v - most) + exp(w - most))))
  })
  density <- t(vapply(at, function(s) dnorm(sums, 0, sqrt(s^2 + 0.25)) * step, sums))
  weight <- density %*% likelihood %*% t(density)
  for (k in 1:2) {
    cdf <- if (k == 1) rowSums(weight) else colSums(weight)
    cdf <- cumsum(cdf / sum(cdf)) - cdf / sum(cdf) / 2
    quartile <- approx(cdf, at, c(0.25, 0.5, 0.75), ties = "ordered")$y
    for (q in 1:3) {
      below <- (fit$group_deviation[501:3500, , k] <= quartile[[q]]) + 0
      error <- sd(below) / sqrt(effective_size(split_chains(below)))
      expect_lt(abs(base::mean(below) - q / 4) / error, 6, label = paste(k, q))
    }
  }
})
