# What went wrong for users of other packages by their public threads, rebuilt small: each with the right value.

skip_where_repeated()
skip_if(resolve_run()$backend != "cpu", "what R does")
set.seed(8)
d <- data.frame(x = rnorm(60), z = runif(60, 1, 9), size = runif(60, 1, 4), g = rep(c("a", "b", "c"), 20))
d$on <- d$x > 0
d$k <- rpois(60, d$size * exp(0.3 * d$x))
d$y <- rbinom(60, 1, plogis(d$x))
d$class <- factor(sample(c("High", "Low", "Mid"), 60, TRUE), c("Low", "Mid", "High"))
d$ordered <- factor(d$class, ordered = TRUE)
fits <- function(formula, data = d, family = "poisson", ..., chains = 1, iter = 60, seed = 1) {
  suppressWarnings(bayes_logit(formula, data, family, ..., chains = chains, iter = iter, seed = seed, threads = 1,
    progress = FALSE))
}
expect_rows <- function(found, whole, rows) {
  whole <- if (is.matrix(whole)) whole[rows, ] else whole[rows, , ]
  expect_equal(as.vector(found), as.vector(whole), tolerance = 1e-12)
}

# emmeans 424, glmmTMB 334
test_that("an offset or weights that cannot be found are an error, and wrappers read them in the data", {
  elsewhere <- `environment<-`(k ~ x, globalenv())
  unseen <- log(d$size)
  expect_input_error(bayes_logit(elsewhere, d, "poisson", offset = unseen), "`offset` is \"unseen\", which is not in")
  expect_input_error(bayes_logit(k ~ x, d, "poisson", weights = no_such), "`weights` is \"no_such\"")
  expect_input_error(bayes_logit(k ~ x, d, "poisson", zi = ~1, weights = no_such), "`weights` is \"no_such\"")
  direct <- fits(k ~ x + offset(log(size)))
  size <- rep(1, 60)
  for (fit in list(fits(k ~ x, offset = log(size)), fits(elsewhere, offset = log(size)),
    fits(elsewhere, offset = unseen))) {
    expect_identical(fit$draws, direct$draws)
    expect_identical(fit$coefficient_trace, direct$coefficient_trace)
  }
  weight <- rep(2, 60)
  expect_identical(fits(k ~ x, weights = size)$weights, d$size)
  expect_identical(fits(k ~ x, weights = weight)$weights, weight)
})

# brms 1859, brms 562, gratia 37
test_that("smooths without a linear part, or by text, logical values or ordered factors, predict single rows", {
  skip_if_not_installed("mgcv")
  d$o <- factor(d$g, c("c", "a", "b", "unused"), ordered = TRUE)
  for (formula in c(k ~ z + s(z, m = c(2, 0)), k ~ g + s(z, by = g), k ~ on + s(z, by = on), k ~ o + s(z, by = o),
    k ~ s(on, bs = "re"))) {
    fit <- fits(formula, d)
    whole <- predict(fit)
    for (rows in list(7, c(9, 3))) {
      new <- transform(d[rows, ], g = factor(g), o = as.character(o))
      expect_rows(predict(fit, new), whole, rows)
    }
  }
})

families <- c(y = "binomial", k = "poisson", k = "negbinomial", class = "multinomial", ordered = "cratio")

# brms 306, glmmTMB 402, sdmTMB 77, lme4 143
test_that("one row of new data, with its own levels and bases of the data, has its prediction in every family", {
  new <- transform(d[5, ], g = factor(g), z = z + 0)[c("x", "z", "g")]
  others <- transform(d[c(5, 9, 3), ], g = factor(g, c("c", "b", "a")))
  for (i in seq_along(families)) {
    formula <- reformulate(c("poly(x, 2) * g", "(scale(z) | g)"), names(families)[[i]])
    fit <- fits(formula, family = families[[i]])
    whole <- predict(fit)
    expect_rows(predict(fit, new), whole, 5)
    expect_rows(predict(fit, others), whole, c(5, 9, 3))
    drawn <- posterior_epred.bayes_logit(fit, new)
    expect_identical(dim(drawn)[1:2], c(30L, 1L))
    expect_equal(colMeans(matrix(drawn, 30)), as.vector(array(whole, c(60, length(whole) / 240, 4))[5, , 1]))
  }
})

# brms 1536
test_that("levels that no row has change nothing, and cannot be predicted", {
  d$g <- factor(d$g, ordered = TRUE)
  fit <- fits(k ~ g + x, d)
  more <- fits(k ~ g + x, transform(d, g = factor(g, c("first", "a", "b", "between", "c"), ordered = TRUE)))
  expect_identical(more$coefficient_trace, fit$coefficient_trace)
  expect_input_error(predict(more, data.frame(x = 0, g = "between")), "new level \"between\"")
})

test_that("a numeric group is the same as integer, double or text, in new data too", {
  groups <- transform(d, id = 1e5 * rep(1:3, 20))
  for (term in c("(1 | id)", "(1 | id:g)", "(x | id)")) {
    fit <- fits(reformulate(c("x", term), "k"), groups)
    whole <- predict(fit)
    for (change in list(identity, as.integer, function(id) sprintf("%d", as.integer(id)))) {
      expect_rows(predict(fit, transform(groups[4:6, ], id = change(id))), whole, 4:6)
    }
  }
})

test_that("areas may be numbers whose text R would write as 1e+05", {
  groups <- transform(d, id = 1e5 * rep(1:3, 20))
  names <- c("100000", "200000", "300000")
  near <- matrix(c(0, 1, 0, 1, 0, 1, 0, 1, 0), 3, dimnames = list(names, names))
  fit <- fits(k ~ x + car(id, near), groups)
  expect_identical(fits(k ~ x + car(id, near), transform(groups, id = as.integer(id)))$draws, fit$draws)
  expect_rows(predict(fit, transform(groups[4:6, ], id = as.integer(id))), predict(fit), 4:6)
})

# parsnip 491, statsmodels 5535
test_that("the modelled response is the same in every form, and print() names it", {
  forms <- transform(d, yes = y == 1, word = ifelse(y == 1, "yes", "no"), f = factor(y), unused = factor(y, 0:2),
    o = factor(ifelse(y == 1, "won", "lost"), c("lost", "won"), ordered = TRUE))
  draws <- fits(y ~ x, family = "binomial")$coefficient_trace
  for (name in c("yes", "word", "f", "unused", "o", "cbind(y, 1 - y)", "word == \"yes\"")) {
    fit <- fits(reformulate("x", str2lang(name)), forms, "binomial")
    expect_identical(unname(fit$coefficient_trace), unname(draws), label = name)
  }
  first <- fits(relevel(factor(word), "yes") ~ x, forms, "binomial")
  expect_output(print(first), "probability of \"no\", the second level")
  expect_lt(mean(first$coefficient_trace[, , 2]) * mean(draws[, , 2]), 0)
})

# glmmTMB 625, ggeffects 170
test_that("a formula of an offset alone has the posterior of quadrature, and means follow the exposure", {
  fit <- fits(k ~ offset(log(size)), chains = 4, iter = 1500)
  rate <- seq(-1, 1.5, length.out = 4001)
  density <- sum(d$k) * rate - sum(d$size) * exp(rate) + dnorm(rate, fit$prior$intercept_location, 2.5, log = TRUE)
  weight <- exp(density - max(density))
  draws <- as.array(fit)[, , "(Intercept)"]
  # Six standard errors: a false alarm has probability 2e-9.
  expect_lt(abs(mean(draws) - weighted.mean(rate, weight)) / (sd(draws) / sqrt(effective_size(split_chains(draws)))), 6)
  one <- function(fit, size) predict(fit, data.frame(x = 0, size = size))[, "mean"]
  expect_equal(predict(fit, data.frame(size = 3))[, "mean"], 3 * exp(mean(draws)) * mean(exp(draws - mean(draws))),
    ignore_attr = TRUE)
  zeros <- transform(d, k = k * rep(c(0, 1, 1), 20))
  for (hu in list(NULL, ~x)) {
    zi <- if (is.null(hu)) ~x
    inside <- fits(k ~ x + offset(log(size)), zeros, zi = zi, hu = hu)
    outside <- fits(k ~ x, zeros, zi = zi, hu = hu, offset = log(size))
    expect_identical(outside$coefficient_trace, inside$coefficient_trace)
    expect_identical(predict(outside, d[1:2, ]), predict(inside, d[1:2, ]))
    if (!is.null(zi)) expect_equal(one(outside, 4), 4 * one(inside, 1))
  }
})

# emmeans 424, emmeans 179, emmeans 83, emmeans 104
test_that("emmeans has glm()'s grid for offsets of the formula and of the argument, and classes in their order", {
  skip_if_not_installed("emmeans")
  skip_if_not_installed("coda")
  for (inside in c(TRUE, FALSE)) {
    formula <- if (inside) k ~ g + offset(log(size)) else k ~ g
    fit <- if (inside) fits(formula) else fits(formula, offset = log(size))
    peer <- if (inside) glm(formula, poisson, d) else glm(k ~ g, poisson, d, offset = log(size))
    # Given data, package emmeans 1.10.7 does not find the variables of the argument, of glm() neither.
    means <- function(...) if (inside) emmeans::emmeans(fit, ..., data = d) else emmeans::emmeans(fit, ...)
    for (weights in c("equal", "proportional")) {
      found <- means(~g, weights = weights)
      expected <- emmeans::emmeans(peer, ~g, weights = weights)
      expect_equal(found@linfct, expected@linfct, ignore_attr = TRUE)
      expect_equal(found@grid, expected@grid, ignore_attr = TRUE)
    }
    new <- data.frame(g = c("a", "b", "c"), size = 1)
    none <- summary(means(list(pairwise ~ g), offset = 0)[[1]], point.est = mean)
    expect_equal(none$emmean, predict(fit, new, type = "link")[, "mean"], ignore_attr = TRUE)
  }
  for (name in c("class", "ordered")) {
    fit <- fits(reformulate("g * on", name), family = families[[name]])
    table <- summary(emmeans::emmeans(fit, c(name, "g", "on"), mode = "prob", data = d), point.est = mean)
    expect_identical(as.character(table[[name]][1:3]), c("Low", "Mid", "High"))
    new <- expand.grid(g = c("a", "b", "c"), on = c(FALSE, TRUE))
    expect_equal(table$prob, as.vector(t(predict(fit, new)[, , "mean"])), tolerance = 1e-6)
  }
})

# A wrapper often names its data `data`, as a function of package utils is called.
test_that("a fit from a wrapper is updated and cross-validated with its own data", {
  wrapper <- function(data, ...) bayes_logit(k ~ x, data, "poisson", ..., chains = 1, iter = 30, seed = 1, threads = 1,
    progress = FALSE)
  fit <- suppressWarnings(wrapper(d, offset = log(size)))
  expect_identical(suppressWarnings(update(fit, iter = 30))$coefficient_trace, fit$coefficient_trace)
  skip_if_not_installed("loo")
  expect_true(is.finite(suppressWarnings(loo::kfold(fit, K = 2, seed = 1))$estimates[1, 1]))
})
