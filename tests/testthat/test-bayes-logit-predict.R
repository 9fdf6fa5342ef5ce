# Predictions of bayes_logit(): what new data must have, offsets, rows left out, and arguments of the methods.

set.seed(12)
small <- data.frame(x = rnorm(60), e = runif(60, 1, 3), f = sample(c("a", "b", "c"), 60, TRUE), g = rep(1:6, 10))
small$o <- factor(small$f, ordered = TRUE)
small$l <- small$x > 0
small$y <- rbinom(60, 1, plogis(small$x))
small$c <- rnbinom(60, mu = small$e * exp(small$x / 2), size = 3)
holes <- small
holes$x[3] <- NA
quick <- function(formula, data = small, ...) {
  eval(substitute(bayes_logit(formula, data, ...,
    chains = 1, iter = 60, warmup = 20, seed = 1, threads = 2, progress = FALSE
  )), parent.frame())
}
input <- "warpbayes_error_input"

test_that("functions of the predictors are evaluated in new data with what they took from the data of the fit", {
  fit <- quick(y ~ poly(x, 2) + scale(e))
  expect_equal(predict(fit, small[5:9, ]), predict(fit)[5:9, ], tolerance = 1e-12)
  # Also where one such function is inside another, where predict.glm() is wrong.
  fit <- quick(y ~ scale(poly(x, 2)) + I(scale(e)^2))
  expect_equal(predict(fit, small[5:9, ]), predict(fit)[5:9, ], tolerance = 1e-12)
  fit <- quick(y ~ o + f + l, contrasts = list(f = "contr.sum"))
  expect_equal(predict(fit, small[5:9, ]), predict(fit)[5:9, ], tolerance = 1e-12)
})

test_that("new data of another type, or without a variable, are errors", {
  x <- 1:60
  fit <- quick(y ~ x)
  of_days <- quick(y ~ I(as.Date("2020-01-01") + x))
  expect_error(predict(of_days, data.frame(x = "a")), class = input)
  expect_error(predict(fit, data.frame(x = as.Date("2020-01-01"))), "as an object of class Date, but", class = input)
  expect_error(predict(fit, data.frame(x = "a")), "has \"x\" as text, but the fit had numbers",
    class = "warpbayes_error_input")
  expect_error(predict(fit, data.frame(x = factor(c(5, 9)))), "has \"x\" as a factor, but the fit had numbers",
    class = input
  )
  expect_error(predict(fit, data.frame(z = 1:60)), "lacks \"x\"", class = input)
  expect_error(predict(fit, data.frame(x = TRUE)), "as logical values", class = input)
  expect_true(all(is.na(predict(fit, data.frame(x = NA)))))
  fit <- quick(y ~ f)
  expect_error(predict(fit, data.frame(f = 1)), "has \"f\" as numbers, but the fit had a factor", class = input)
  expect_error(predict(fit, data.frame(f = c("a", "d"))), "new level \"d\"", class = input)
  expect_identical(predict(fit, data.frame(f = factor("b"))), predict(fit, data.frame(f = "b")))
  expect_error(predict(quick(y ~ l), data.frame(l = 1)), "numbers, but the fit had logical values", class = input)
  m <- 1
  fit <- quick(y ~ I(x - m))
  expect_identical(predict(fit, small), predict(fit))
  g <- rep(1:2, 30)
  expect_error(predict(quick(y ~ x + (1 | g)), data.frame(x = 1)), "lacks the groups \"g\"", class = input)
})

test_that("an argument `offset` is evaluated in new data, or refused", {
  fit <- quick(c ~ x, family = "negbinomial", offset = log(e))
  formula <- quick(c ~ x + offset(log(e)), family = "negbinomial")
  expect_identical(predict(fit, small), predict(fit))
  expect_identical(predict(fit, small[1:3, ]), predict(formula, small[1:3, ]))
  expect_error(predict(fit, data.frame(x = 1)), "lacks \"e\"", class = input)
  elsewhere <- log(small$e)
  fit <- quick(c ~ x, family = "negbinomial", offset = elsewhere)
  expect_error(predict(fit, small), "lacks \"elsewhere\"", class = input)
  fit <- quick(c ~ x, family = "negbinomial", offset = rep(1, 60))
  expect_error(predict(fit, small), "names no variable", class = input)
})

test_that("na.exclude keeps the place of rows that were left out", {
  fit <- quick(y ~ x, holes, na.action = na.exclude)
  plain <- quick(y ~ x, holes)
  expect_identical(length(fitted(plain)), 59L)
  for (values in list(fitted(fit), residuals(fit), predict(fit)[, "mean"])) {
    expect_identical(names(values), as.character(1:60))
    expect_identical(unname(which(is.na(values))), 3L)
  }
  expect_identical(fitted(fit)[-3], fitted(plain))
  classes <- quick(f ~ x, holes, na.action = na.exclude, family = "multinomial")
  expect_identical(dim(predict(classes)), c(60L, 3L, 4L))
  expect_true(all(is.na(fitted(classes)[3, ])))
  skip_if_not_installed("generics")
  expect_identical(which(is.na(generics::augment(fit, holes)$.fitted)), 3L)
  expect_identical(nrow(generics::augment(fit)), 59L)
  expect_identical(generics::augment(fit, newdata = holes[4:5, ])$.fitted, unname(fitted(fit)[4:5]))
})

test_that("factors of one level and contrasts that do not fit are errors of this package", {
  expect_error(quick(y ~ f, transform(small, f = "a")), "only the level \"a\"", class = input)
  expect_error(quick(y ~ f, contrasts = list(1)), "`contrasts` must be a list with names", class = input)
  expect_error(quick(y ~ f, contrasts = "a"), "`contrasts` must be a list with names", class = input)
  expect_error(quick(y ~ f, contrasts = list(x = "contr.sum")), "the name \"x\"", class = input)
  expect_error(quick(y ~ f, contrasts = list(f = "nope")), "`contrasts` cannot be used for \"f\"", class = input)
  expect_identical(quick(c ~ x, family = poisson)$family, "poisson")
  expect_error(quick(c ~ x, family = poisson("identity")), "must have the link \"log\"", class = input)
  expect_error(quick(c ~ x, family = quasipoisson), "cannot be \"quasipoisson\": .*negbinomial", class = input)
  expect_error(bayes_logit(), "`formula` is missing", class = input)
})

test_that("update() finds the data of a fit that was made inside a function", {
  skip_where_repeated()
  make <- function() {
    rows <- data.frame(z = 1:9, answer = c(0, 1, 0, 0, 1, 0, 1, 1, 1))
    answer <- rows$answer
    list(bayes_logit(answer ~ z, rows, chains = 1, iter = 20, seed = 1),
      bayes_logit(answer ~ 1, chains = 1, iter = 20, seed = 1))
  }
  fits <- make()
  expect_identical(coef(update(fits[[1L]], . ~ 1)), coef(fits[[2L]]))
  expect_identical(coef(update(fits[[2L]], iter = 20)), coef(fits[[2L]]))
})

test_that("update() of a fit from a wrapper with `...` finds what was passed on", {
  data <- data.frame(x = 1:12, y = rep(0:1, 6))
  wrapper <- function(data, ...) bayes_logit(y ~ x, data, chains = 1, iter = 10, seed = 1, ...)
  shift <- rep(0.1, 12)
  fit <- wrapper(data, offset = shift, prior = logit_prior(scale = 2))
  expect_identical(fit$call$offset, quote(shift))
  expect_identical(fit$call$prior, quote(logit_prior(scale = 2)))
  expect_identical(coef(update(fit, iter = 10)), coef(fit))
  expect_identical(coef(fit), coef(bayes_logit(y ~ x, data, offset = shift, prior = logit_prior(scale = 2),
    chains = 1, iter = 10, seed = 1)))
})

test_that("arguments of confint(), update() and simulate() are checked", {
  fit <- quick(y ~ x)
  for (parm in list(logical(0), NULL, list(1), TRUE, NA, 3)) expect_error(confint(fit, parm), "`parm`", class = input)
  expect_error(update(fit, 5), "`formula.` must be a formula", class = input)
  expect_error(update(fit, "y ~"), "`formula.` cannot change", class = input)
  expect_error(update(fit, . ~ ., 5), "must have names", class = input)
  for (seed in list("a", NA, 1e10)) expect_error(simulate(fit, 1, seed = seed), "`seed` must be one", class = input)
  expect_error(simulate(fit, NA), "`nsim` must be one", class = input)
  expect_error(simulate(fit, 2e9), "simulated responses", class = "warpbayes_error_memory")
  set.seed(1)
  before <- .Random.seed
  expect_identical(attr(simulate(fit), "seed"), before)
  before <- .Random.seed
  first <- simulate(fit, seed = 4)
  expect_identical(.Random.seed, before)
  expect_identical(attr(first, "seed"), structure(4L, kind = as.list(RNGkind())))
  expect_identical(simulate(fit, seed = 4), first)
})

# What summarise_rows() computes, by R.
by_hand <- function(fit, newdata, type, tails) {
  rows <- prediction_rows(fit, newdata)
  linear <- linear_draws(fit, rows, draws_used(fit, NULL), seq_len(nrow(rows$x)))
  values <- if (type == "link") linear else family_of(fit)$mean(linear)
  describe <- function(v) c(mean(v), sd(v), quantile(v, tails, names = FALSE))
  aperm(apply(values, 2:3, describe), c(2, 3, 1))
}
all_kinds <- function() {
  list(
    quick(y ~ x + f), quick(c ~ x + offset(log(e)), family = "negbinomial"), quick(f ~ x + e, family = "multinomial"),
    quick(y ~ x + (1 | g)), quick(y ~ x + (x | g) + (1 | f)),
    if (requireNamespace("Matrix", quietly = TRUE)) quick(y ~ x + f, control = warp_control(sparse = TRUE))
  )
}

test_that("means, standard deviations and quantiles of rows are those of R", {
  for (fit in Filter(length, all_kinds())) {
    for (type in c("link", "response")) {
      for (interval in c(0.9, 0.5, 1, 1e-9)) {
        tails <- c((1 - interval) / 2, (1 + interval) / 2)
        rows <- prediction_rows(fit, small[c(7, 3, 9:60), ])
        found <- summarise_rows(fit, rows, draws_used(fit, NULL), type, tails)
        expect_equal(found, by_hand(fit, small[c(7, 3, 9:60), ], type, tails), tolerance = 1e-11)
      }
    }
  }
})

test_that("quantiles are exact for ties, skewed draws, outliers and single draws", {
  fit <- quick(y ~ x)
  exact <- function(draws) {
    total <- length(draws)
    fit$warmup <- 0
    fit$iter <- total
    fit$coefficient_trace <- array(c(draws, numeric(total)), c(total, 1, 2))
    fit$log_likelihood <- matrix(0, total, 1)
    for (tails in list(c(0.05, 0.95), c(0, 1), c(0.25, 0.3), c(0.5, 0.5), c(0.01, 0.999))) {
      found <- summarise_rows(fit, prediction_rows(fit, small[1:5, ]), seq_len(total), "link", tails)
      expect_equal(found[2, 1, 3:4], quantile(draws, tails, names = FALSE), tolerance = 1e-14)
      expect_equal(found[5, 1, 1], mean(draws), tolerance = 1e-13)
      expect_equal(found[5, 1, 2], sd(draws), tolerance = 1e-11)
    }
  }
  set.seed(3)
  for (draws in list(rexp(500)^3, rep(0.1, 100), rep(1:2, 60), c(rnorm(300), 1e9), rcauchy(1003), round(rnorm(700), 1),
    c(-rexp(257), 0, -0.0), 3, c(2, 1), rnorm(17))) {
    exact(as.double(draws))
  }
})

test_that("predictions are the same on all backends, instruction sets and threads, and in blocks", {
  many <- small[rep(1:60, 20), ]
  for (fit in Filter(length, all_kinds())) {
    rows <- prediction_rows(fit, many)
    summary <- function(...) summarise_rows(fit, rows, draws_used(fit, NULL), "response", ...)
    first <- summary(threads = 1)
    expect_identical(summary(threads = 3), first)
    expect_identical(summary(threads = 2, backend = "cpu"), first)
    for (isa in instruction_sets()) {
      old <- options(warpbayes.isa = isa)
      again <- summary(backend = "cpu")
      options(old)
      expect_identical(again, first)
    }
    expect_identical(first[61:1200, , ], first[1:1140, , ])
  }
})

test_that("groups that are new get draws of their own, in blocks too, and re_formula = NA leaves groups out", {
  fit <- quick(y ~ x + (x | g))
  new <- data.frame(x = 0.5, g = c("a", "b", "a", "1"))
  set.seed(1)
  p <- predict(fit, new)
  expect_identical(p[1, ], p[3, ])
  expect_false(identical(p[1, "mean"], p[2, "mean"]))
  set.seed(1)
  expect_identical(predict(fit, new), p)
  rows <- prediction_rows(fit, new)
  expect_identical(effect_blocks(rows, 2^23), list(4L, c(1L, 3L), 2L))
  without <- predict(fit, data.frame(x = 0.5), type = "link", re_formula = NA)
  expect_equal(without[[1, "mean"]], sum(coef(fit) * c(1, 0.5)))
  expect_error(predict(fit, new, re_formula = 5), "`re_formula` must be NULL", class = input)
  expect_true(all(is.na(predict(quick(y ~ x), data.frame(x = c(NA, 1)))[1, ])))
  far <- predict(quick(c ~ x, family = "negbinomial"), data.frame(x = c(1e308, 1)))
  expect_true(all(is.na(far[1, ])) || all(far[1, ] %in% c(0, Inf, NA)))
  expect_false(anyNA(far[2, ]))
})
