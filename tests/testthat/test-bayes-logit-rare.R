# Few events: what the default priors say of intercepts and of effects of rare levels.
skip_where_repeated()

quick <- function(...) {
  suppressWarnings(bayes_logit(..., chains = 1, iter = 2500, warmup = 500, seed = 1, threads = 1, progress = FALSE))
}

test_that("intercepts lie about the rate of their own data in every family, and none has an upper end near 3 / n", {
  at <- function(...) quick(..., control = warp_control(prior_only = TRUE))$prior$intercept_location
  expect_equal(at(cbind(5, 995) ~ 1, data.frame(y = 1)), qlogis(0.005))
  few <- cbind(a = 5, b = 100, c = 895)
  expect_equal(at(few ~ 1, NULL, "multinomial"), log(c(100, 895) / 5))
  expect_equal(at(few ~ 1, NULL, "cratio"), qlogis(1 - c(5 / 1000, 100 / 995)))
  expect_equal(at(y ~ 1, data.frame(y = rep(0:1, c(95, 5))), "negbinomial"), log(0.05))
  zeros <- data.frame(y = rep(0:3, c(5, 40, 30, 25)))
  expect_equal(quick(y ~ 1, zeros, "poisson", hu = ~1)$prior$zero$intercept_location, qlogis(0.05))
  # Rows with offsets have the events together.
  apart <- data.frame(y = rep(0:1, c(95, 5)), o = rep(c(-2, 2), 50))
  expect_equal(mean(plogis(at(y ~ 1 + offset(o), apart) + apart$o)), 0.05, tolerance = 1e-5)
  upper <- c(
    1e6 * predict(quick(cbind(0, 1e6) ~ 1, data.frame(y = 0)))[, "upper"],
    1e4 * predict(quick(y ~ 1 + offset(log(e)), data.frame(y = 0, e = 1e4), "poisson"), data.frame(e = 1))[, "upper"],
    1e6 * predict(quick(cbind(a = 0, b = 1e5, c = 9e5) ~ 1, NULL, "multinomial"))[1, "a", "upper"]
  )
  expect_true(all(upper > 2 & upper < 4))
})

test_that("intervals of few events are those of quadrature under the stated prior, for any number of trials", {
  rate <- log(seq(1e-3, 40, length.out = 40001))
  for (y in c(1, 5)) {
    density <- exp(y * rate - exp(rate) - rate + dnorm(rate, log(max(y, 2)), 2.5, log = TRUE))
    ends <- exp(approx(cumsum(density) / sum(density), rate, c(0.05, 0.95))$y)
    for (n in c(1e4, 1e7)) {
      found <- n * predict(quick(cbind(y, n - y) ~ 1, data.frame(y = y)))[1, c("lower", "upper")]
      expect_lt(max(abs(log(found / ends))), 0.15)
    }
  }
})

test_that("the reference class changes no prediction", {
  count <- c(a = 2, b = 60, c = 438)
  share <- function(order, formula = class ~ 1, new = data.frame(x = 1), ...) {
    d <- data.frame(class = factor(rep(names(count), count), order), x = sin(seq_len(500)))
    predict(quick(formula, d, "multinomial", ...), new)[1, names(count), c("mean", "lower", "upper")]
  }
  for (formula in c(class ~ 1, class ~ x)) {
    first <- share(c("a", "b", "c"), formula)
    for (order in list(c("b", "a", "c"), c("c", "a", "b"))) {
      expect_lt(max(abs(log(share(order, formula) / first))), 0.2)
    }
  }
})

test_that("the effect of a rare level is limited, and well supported effects are as without a prior", {
  d <- data.frame(x = rep(0:1, c(996, 4)), z = rep(0:1, 500))
  d$y <- as.numeric(seq_len(1000) %% 7 == 3) * (1 - d$x)
  fit <- quick(y ~ x + z, d)
  expect_equal(unname(fit$prior$deviation), c(5, 2.5 / sd(d$z)))
  expect_gt(predict(fit, data.frame(x = 1, z = 0), type = "link")[, "lower"], -16)
  usual <- summary(glm(y ~ z, binomial, d))$coefficients
  expect_lt(abs(coef(fit)[["z"]] - usual["z", 1]) / usual["z", 2], 0.15)
  # Rows and their counts have the same prior, and so has a sparse design.
  whole <- aggregate(cbind(y, n = 1) ~ x + z, d, sum)
  expect_equal(quick(cbind(y, n - y) ~ x + z, whole)$prior$deviation, fit$prior$deviation, tolerance = 1e-3)
  skip_if_not_installed("Matrix")
  expect_equal(quick(y ~ x + z, d, control = warp_control(sparse = TRUE))$prior$deviation, fit$prior$deviation)
})
