# Arguments of bayes_logit(), difficult data, and methods of fits.

set.seed(11)
small <- data.frame(
  x = rnorm(60), z = rnorm(60, 100, 5), f = factor(sample(c("a", "b", "c"), 60, TRUE)), g = factor(rep(1:6, 10))
)
small$y <- rbinom(60, 1, plogis(small$x))
small$k <- rbinom(60, 7, plogis(small$x))
small$c <- rnbinom(60, mu = exp(1 + 0.5 * small$x), size = 3)
small$m <- factor(sample(c("u", "v", "w"), 60, TRUE))
# Evaluated in the test's frame, where model.frame() looks for weights and the like.
quick <- function(formula, data = small, ..., chains = 1, iter = 60, warmup = 20) {
  eval(substitute(bayes_logit(formula, data, ...,
    chains = chains, iter = iter, warmup = warmup, seed = 1, threads = 2, progress = FALSE
  )), parent.frame())
}
input <- "warpbayes_error_input"

test_that("all forms of a binary response are the same", {
  reference <- coef(quick(y ~ x))
  expect_identical(coef(quick(y == 1 ~ x)), reference)
  expect_identical(coef(quick(factor(y, 0:1, c("no", "yes")) ~ x)), reference)
  expect_identical(coef(quick(ifelse(y == 1, "yes", "no") ~ x)), reference)
  expect_identical(coef(quick(cbind(y, 1 - y) ~ x)), reference)
  expect_identical(coef(quick(y ~ x, family = binomial)), reference)
  expect_identical(coef(quick(y ~ x, family = binomial())), reference)
  # A row of weight 0 has no influence, whatever its response.
  out <- small
  out$y[1:5] <- 1 - out$y[1:5]
  expect_equal(
    quick(y ~ x, out, weights = rep(0:1, c(5, 55)))$state[[1]]$statistics[[4]],
    quick(y ~ x, weights = rep(0:1, c(5, 55)))$state[[1]]$statistics[[4]]
  )
})

test_that("messages name the arguments that cannot be used", {
  expect_error(quick(y ~ x, iterr = 5), "`iterr` is not known here", class = input)
  expect_error(quick(y ~ x, family = "gaussian"), "`family` must be one of", class = input)
  expect_error(quick(y ~ x, family = binomial("probit")), "link \"logit\", not \"probit\"", class = input)
  expect_error(quick(~x), "`formula` must be a formula with a response", class = input)
  expect_error(quick("y ~ x"), "`formula` must be a formula", class = input)
  expect_error(quick(y ~ nothing), "`formula` cannot be evaluated with `data`: .*nothing", class = input)
  expect_error(quick(k ~ x), "not binary: row", class = input)
  expect_error(quick(f ~ x), "has 3 levels", class = input)
  expect_error(quick(cbind(y, k, c) ~ x), "two columns", class = input)
  expect_error(quick(cbind(y - 1, k) ~ x), "not whole numbers from 0", class = input)
  expect_error(quick(I(c + 0.5) ~ x, family = "negbinomial"), "row 1 has", class = input)
  expect_error(quick(f ~ x, family = "negbinomial"), "not a vector of counts", class = input)
  expect_error(quick(cbind(c, -1) ~ x, family = "multinomial"), "not whole numbers", class = input)
  expect_error(quick(x ~ z, family = "multinomial"), "a factor or a matrix", class = input)
  expect_error(quick(factor(rep("u", 60)) ~ z, family = "multinomial"), "has 1 class, but", class = input)
  expect_error(quick(y ~ 0), "neither an intercept nor predictors", class = input)
  expect_error(quick(y ~ x, weights = rep(-1, 60)), "`weights` must be finite numbers of at least 0", class = input)
  expect_error(quick(y ~ x, family = gaussian), "one of \"binomial\", .* not \"gaussian\"", class = input)
  expect_error(quick(y ~ x, family = binomial("probit")), "the link \"logit\", not \"probit\"", class = input)
  expect_error(quick(y ~ as.complex(x)), "predictors that give no design", class = input)
  expect_error(quick(y ~ x, weights = 1:3), "`weights` must have one number for each row", class = input)
  for (family in names(logit_families)) {
    expect_error(quick(y ~ x, family = family, weights = rep(0, 60)), "`weights` leave nothing to fit", class = input)
  }
  expect_error(quick(y ~ x, family = "poisson", zi = ~1, weights = rep(0, 60)), "leave nothing to fit", class = input)
  expect_error(quick(y ~ x, offset = rep(Inf, 60)), "`offset` must be finite", class = input)
  expect_error(quick(m ~ x, family = "multinomial", offset = rep(1, 60)), "`offset` must be a matrix", class = input)
  expect_error(quick(y ~ x, prior = 1), "`prior` must come from logit_prior\\(\\), not 1", class = input)
  expect_error(quick(y ~ x + f, prior = logit_prior(scale = 1:2)),
    "has 2 numbers as `scale` for 3 coefficients besides", class = input
  )
  expect_error(quick(y ~ x + I(2 * x), prior = logit_prior("zellner")),
    "only 1 of these 2 are independent", class = input
  )
  expect_error(quick(y ~ x, subset = x > 1e9), "`data` has no rows left", class = input)
  expect_error(quick(y ~ x, transform(small, x = ifelse(x > 1, Inf, x))),
    "has the value Inf of predictor \"x\" in row", class = input
  )
  expect_error(logit_prior("flat"), "`type` must be one of", class = input)
  expect_error(logit_prior(location = NA), "`location` must be", class = input)
  expect_error(logit_prior(scale = 0), "`scale` must be", class = input)
  expect_error(logit_prior(dispersion = 1), "`dispersion` must be", class = input)
  expect_error(logit_prior(g = -1), "`g` must be", class = input)
})

test_that("perfect separation, dependent columns, more columns than rows and equal responses can be fitted", {
  skip_if(on_cuda(), "many sweeps")
  separated <- data.frame(x = 1:20, y = rep(0:1, each = 10))
  fit <- quick(y ~ x, separated, iter = 2000, warmup = 200)
  expect_true(all(is.finite(coef(fit))) && coef(fit)[["x"]] > 0.3 && coef(fit)[["x"]] < 3)
  twice <- quick(y ~ x + I(2 * x), iter = 2000, warmup = 200)
  once <- quick(y ~ x, iter = 2000, warmup = 200)
  expect_lt(abs(sum(coef(twice)[2:3] * 1:2) - coef(once)[["x"]]), 0.1)
  set.seed(1)
  wide <- matrix(rnorm(10 * 30), 10)
  fit <- quick(rep(0:1, 5) ~ wide, iter = 300)
  expect_true(all(is.finite(coef(fit))))
  equal <- quick(rep(1, 60) ~ x, iter = 3000, warmup = 300)
  # Mean of the intercept by quadrature. All 60 rows are successes, and there is no predictor.
  a <- seq(-5, 15, 0.01)
  weight <- exp(60 * plogis(a, log.p = TRUE) + dnorm(a, log(60 / 61), 2.5, log = TRUE))
  alone <- quick(rep(1, 60) ~ 1, iter = 20000, warmup = 500)
  draws <- logit_draws(alone)[, , 1, drop = FALSE]
  error <- sd(draws) / sqrt(effective_size(split_chains(matrix(draws))))
  expect_lt(abs(mean(draws) - sum(a * weight) / sum(weight)) / error, 6)
})

test_that("posteriors with extreme offsets are right", {
  skip_if(on_cuda(), "many sweeps")
  # With an offset of 700 on half of the rows, the other half decides.
  far <- quick(ifelse(o > 0, 1, y) ~ 1 + offset(o), transform(small, o = rep(c(0, 700), 30)), iter = 4000, warmup = 500)
  half <- quick(y ~ 1, small[rep(c(TRUE, FALSE), 30), ], iter = 4000, warmup = 500)
  expect_lt(abs(coef(far) - coef(half)), 0.1)
  expect_true(all(is.finite(far$log_likelihood)))
})

test_that("posteriors of rare events are right", {
  skip_if(on_cuda(), "many sweeps")
  skip_where_repeated()
  # 0 successes in 1e6 trials: the posterior's lower tail is nearly log-gamma. Its mean and quartiles come from
  # quadrature. Polya-Gamma sweeps alone would have one effective draw in some thousands.
  none <- quick(cbind(0, 1e6) ~ 1, data.frame(o = 1), iter = 2e4, warmup = 500)
  a <- seq(-40, -5, 0.001)
  weight <- exp(-1e6 * log1p(exp(a)) + dnorm(a, log(100 / 1e6), 2.5, log = TRUE))
  draws <- matrix(logit_draws(none)[, , 1])
  size <- effective_size(split_chains(draws))
  expect_lt(abs(mean(draws) - sum(a * weight) / sum(weight)) / (sd(draws) / sqrt(size)), 6)
  expect_gt(size, nrow(draws) / 4)
})

test_that("the default prior of the intercept of counts follows the unit of an exposure", {
  small$e <- exp(rnorm(60, 13))
  small$w <- rep(c(0, 1, 2), 20)
  location <- function(...) quick(..., family = "negbinomial", iter = 30)$prior$intercept_location
  rate <- log(sum(small$c) / sum(small$e))
  expect_equal(location(c ~ x + offset(log(e))), rate, tolerance = 1e-12)
  expect_equal(location(c ~ x, offset = log(e)), rate, tolerance = 1e-12)
  expect_equal(location(c ~ x + offset(log(e / 1e6))) - rate, log(1e6), tolerance = 1e-12)
  expect_equal(location(c ~ x + offset(log(e) + 800)) - rate, -800, tolerance = 1e-12)
  expect_equal(location(c ~ x + (1 | g) + offset(log(e / 2)), offset = rep(log(2), 60)), rate, tolerance = 1e-12)
  # Rows of weight 0 have no part, and without any event the unit still counts.
  weighted <- log(sum(small$w * small$c) / sum(small$w * small$e))
  small$far <- ifelse(small$w == 0, 600, log(small$e))
  expect_equal(location(c ~ x + offset(far), weights = w), weighted, tolerance = 1e-12)
  none <- location(0 * c ~ x + offset(log(e)))
  expect_equal(location(0 * c ~ x + offset(log(e / 1e6))) - none, log(1e6), tolerance = 1e-12)
  # Without an offset it is the log of the mean, to the bit, and what the user gives stays.
  expect_identical(location(c ~ x), log(mean(small$c)))
  expect_identical(location(c ~ x + offset(0 * e)), log(mean(small$c)))
  expect_identical(location(c ~ x + offset(log(e)), prior = logit_prior(intercept_location = 2)), 2)
  at <- quick(y ~ x + offset(e / 1e7))$prior$intercept_location
  expect_equal(mean(plogis(at + small$e / 1e7)), mean(small$y), tolerance = 1e-5)

  skip_if(on_cuda(), "many sweeps")
  skip_where_repeated()
  fit <- function(formula) quick(formula, family = "negbinomial", iter = 4000, warmup = 500)
  persons <- fit(c ~ 1 + offset(log(e)))
  millions <- fit(c ~ 1 + offset(log(e / 1e6)))
  # The Monte Carlo standard error of a mean is about 0.002. Locations that ignore the offset move the means 0.14 apart.
  expect_lt(abs(coef(persons) + log(1e6) - coef(millions)), 0.012)
})

test_that("missing values, empty levels and rows without trials are as in glm", {
  holes <- small
  holes$x[3] <- NA
  holes$y[4] <- NA
  fit <- quick(y ~ x, holes)
  expect_identical(nobs(fit), 58L)
  expect_output(print(fit), "2 more with missing values left out")
  expect_error(quick(y ~ x, holes, na.action = na.fail), "missing values", class = input)
  expect_identical(quick(y ~ f, small, subset = f != "b")$coefficient_names, c("(Intercept)", "fc"))
  zero <- quick(cbind(k, 7 - k) * (x > 0) ~ x)
  expect_true(all(is.finite(coef(zero))))
  expect_identical(sum(is.na(residuals(zero))), sum(small$x <= 0))
})

test_that("without likelihood the draws come from the prior", {
  skip_if(on_cuda(), "many sweeps")
  draw <- function(prior) {
    quick(cbind(y, 1 - y) ~ x, small, prior = prior, control = warp_control(prior_only = TRUE), iter = 4500,
      warmup = 500)
  }
  fit <- draw(logit_prior(location = 1, intercept_location = -2))
  draws <- coefficient_draws(fit)
  expect_distribution(draws[, 2], function(b) pnorm(b, 1, 2.5 / sd(small$x)), 2)
  expect_distribution(draws[, 1] + draws[, 2] * mean(small$x), function(a) pnorm(a, -2, 2.5), 2)
  expect_output(print(fit), "draws from the prior: the responses were not used")
  expect_true(all(fit$log_likelihood == 0))
  # Every tenth draw, since the scales of the t keep draws near each other.
  slope <- function(prior) coefficient_draws(draw(prior))[seq(1, 4000, 10), 2] * sd(small$x)
  expect_distribution(slope(logit_prior("student_t", scale = 2, df = 3)), function(b) pt(b / 2, 3), 2)
  expect_distribution(slope(logit_prior(c("horseshoe", x = "cauchy"), scale = 2)), function(b) pcauchy(b, 0, 2), 2)
})

test_that("priors are given for single coefficients, in words that say so", {
  several <- logit_prior(c("normal", x = "cauchy"), scale = c(2, x = 1), location = c(x = 0.5))
  expect_output(print(several), "coefficients: normal for the others, Cauchy for x")
  fit <- quick(y ~ x + f, prior = several)
  expect_output(print(fit$prior), sprintf("x: Cauchy with location 0.5 and scale %s",
    format(signif(1 / sd(small$x), 3))))
  expect_output(print(fit$prior), "fb: normal with mean 0 and standard deviation")
  expect_output(print(logit_prior("horseshoe", slab_scale = 2)),
    "regularised: large ones are Student t with 4 degrees of freedom and scale 2")
  expect_output(print(logit_prior("student_t", df = 3)), "coefficients: Student t with 3 degrees of freedom")
  # A large coefficient is not shrunk beyond the slab.
  separated <- data.frame(x = 1:20, y = rep(0:1, each = 10))
  slope <- function(...) {
    fit <- quick(y ~ x, separated, prior = logit_prior("horseshoe", ...), iter = 4000, warmup = 400)
    coef(fit)[["x"]]
  }
  expect_lt(slope(slab_scale = 0.5, slab_df = 20), slope() / 2)
  expect_error(logit_prior(c("normal", x = "zellner")), "all coefficients together", class = input)
  expect_error(logit_prior(c("normal", x = "flat")), "`type` must be among .*, not \"flat\"", class = input)
  expect_error(logit_prior(df = 0), "`df` must be", class = input)
  expect_error(logit_prior(slab_scale = 0), "`slab_scale` must be", class = input)
  expect_error(quick(y ~ x, prior = logit_prior(scale = c(1, w = 2))), "has `scale` for \"w\", which is no coefficient",
    class = input)
  expect_error(quick(y ~ x, prior = logit_prior(scale = c(x = 1, x = 2))), "several values for one coefficient",
    class = input)
  expect_error(quick(y ~ x, control = warp_control(prior_only = NA)), "`prior_only` must be", class = input)
})

test_that("rows of weight zero do not change a fit", {
  far <- rbind(small, transform(small[rep(1, 30), ], x = 1e3, y = 1, k = 7))
  far$w <- rep(c(1, 0), c(nrow(small), 30))
  for (prior in list(logit_prior(), logit_prior("zellner"), logit_prior("horseshoe"))) {
    expect_identical(coef(quick(y ~ x, far, weights = w, prior = prior)), coef(quick(y ~ x, small, prior = prior)))
  }
  expect_identical(coef(quick(k ~ x, far, "negbinomial", weights = w)), coef(quick(k ~ x, small, "negbinomial")))
  skip_if_not_installed("Matrix")
  sparse <- warp_control(sparse = TRUE)
  expect_identical(coef(quick(y ~ x, far, weights = w, control = sparse)), coef(quick(y ~ x, small, control = sparse)))
})

test_that("accessors agree with the draws", {
  fit <- quick(cbind(k, 7 - k) ~ x + f, chains = 2)
  draws <- rbind(fit$coefficient_trace[21:60, 1, ], fit$coefficient_trace[21:60, 2, ])
  expect_equal(unname(coef(fit)), colMeans(draws))
  expect_equal(unname(vcov(fit)), var(draws))
  expect_equal(unname(confint(fit, "x", level = 0.5)), unname(t(quantile(draws[, 2], c(0.25, 0.75)))))
  expect_error(confint(fit, "q"), "`parm` must be names or numbers of the fit's 4 parameters", class = input)
  expect_identical(nobs(fit), 60L)
  expect_equal(as.vector(t(rowSums(log_lik(fit)))), as.vector(fit$log_likelihood[21:60, ]), tolerance = 1e-10)
  x <- model.matrix(~ x + f, small)
  expect_equal(fitted(fit), colMeans(plogis(draws %*% t(x))), tolerance = 1e-12)
  expect_equal(unname(residuals(fit)), small$k / 7 - unname(fitted(fit)))
  link <- predict(fit, small[1:3, ], type = "link", level = 0.5)
  expect_equal(link[, "mean"], colMeans(draws %*% t(x[1:3, ])), tolerance = 1e-12)
  expect_equal(unname(link[2, "lower"]), quantile(draws %*% x[2, ], 0.25, names = FALSE))
  expect_identical(predict(fit)[5, ], predict(fit, small)[5, ])
  expect_true(all(is.na(predict(fit, transform(small[1:2, ], x = c(NA, 1)))[1, ])))
  expect_error(predict(fit, transform(small[1, ], f = "new")),
    "`newdata` has the new level \"new\" of \"f\"", class = input
  )
  expect_error(predict(fit, data.frame(q = 1)), "`newdata` lacks \"x\"", class = input)
  expect_error(predict(fit, 1), "`newdata` must be a data frame", class = input)
  expect_identical(dim(simulate(fit, 3, seed = 1)), c(60L, 3L))
  expect_identical(simulate(fit, 3, seed = 1), simulate(fit, 3, seed = 1))
  expect_identical(coef(update(fit, . ~ . - f)), coef(quick(cbind(k, 7 - k) ~ x, chains = 2)))
  early <- quick(y ~ x, iter = 3, warmup = 2)
  early$warmup <- 3
  expect_error(coef(early), "no kept draws", class = input)
})

test_that("predictions of groups, counts and classes agree with the draws", {
  grouped <- quick(y ~ x + (1 | g))
  used <- 21:60
  at <- predict(grouped, data.frame(x = 0.5, g = c("3", "new")), type = "link")
  by_hand <- grouped$coefficient_trace[used, 1, 1] + 0.5 * grouped$coefficient_trace[used, 1, 2] +
    grouped$draws$intercepts["3", , 1]
  expect_equal(at[[1, "mean"]], mean(by_hand))
  expect_gt(at[[2, "sd"]], 0)
  expect_error(predict(grouped, data.frame(x = 1)), "lacks the groups", class = input)
  expect_equal(as.vector(rowSums(log_lik(grouped))), as.vector(grouped$log_likelihood[used, ]), tolerance = 1e-10)
  counts <- quick(c ~ x, family = "negbinomial")
  expect_equal(unname(fitted(counts)), colMeans(exp(counts$coefficient_trace[used, 1, ] %*% t(cbind(1, small$x)))))
  expect_equal(as.vector(rowSums(log_lik(counts))), as.vector(counts$log_likelihood[used, ]), tolerance = 1e-10)
  classes <- quick(m ~ x, family = "multinomial")
  expect_identical(classes$coefficient_names, c("v:(Intercept)", "v:x", "w:(Intercept)", "w:x"))
  expect_equal(rowSums(fitted(classes)), rep(1, 60), ignore_attr = TRUE)
  expect_equal(as.vector(rowSums(log_lik(classes))), as.vector(classes$log_likelihood[used, ]), tolerance = 1e-10)
  expect_identical(dim(predict(classes, type = "link")), c(60L, 2L, 4L))
  expect_s3_class(simulate(classes, 2)[[1]], "factor")
  table <- quick(cbind(u = k, v = 7 - k, w = c) ~ x, family = "multinomial")
  expect_identical(colnames(simulate(table, 1)[[1]]), c("u", "v", "w"))
  expect_equal(as.vector(rowSums(log_lik(table))), as.vector(table$log_likelihood[used, ]), tolerance = 1e-10)
})

test_that("methods for printing, summaries, plots and other packages work", {
  fits <- list(quick(y ~ x + (1 | g), chains = 2), quick(c ~ x, family = "negbinomial"),
    quick(m ~ x, family = "multinomial")
  )
  for (fit in fits) {
    expect_output(print(fit), "regression")
    expect_output(print(summary(fit)), "Prior of a regression")
    file <- tempfile(fileext = ".pdf")
    pdf(file)
    for (type in c("coefficients", "trace", "calibration")) expect_identical(plot(fit, type), fit)
    dev.off()
    unlink(file)
  }
  expect_error(plot(fits[[1]], standardize = NA), "`standardize` must be TRUE or FALSE", class = input)
  expect_error(plot(fits[[1]], parameters = "q"), "`parameters` must be", class = input)
  old <- options(width = 80)
  on.exit(options(old))
  expect_lte(max(nchar(capture.output(print(logit_prior())))), 80)
  expect_output(print(logit_prior()), "normal with mean 0 and standard deviation 2.5, divided by that of",
    width = 120)
  expect_output(print(quick(y ~ x, prior = logit_prior("horseshoe"))$prior),
    "horseshoe, global scale half-Cauchy of scale 1", width = 120)
  expect_output(print(quick(y ~ x, prior = logit_prior("zellner"))$prior), "Zellner's g = 60")
  skip_if_not_installed("generics")
  expect_identical(generics::tidy(fits[[1]])$term, c("(Intercept)", "x", "sd(g)"))
  expect_identical(generics::glance(fits[[2]])$nobs, 60L)
  expect_identical(nrow(generics::augment(fits[[3]])), 60L)
  expect_error(generics::augment(fits[[1]], small[1:3, ]), "`data` must be a data frame of the 60 rows", class = input)
  skip_if_not_installed("posterior")
  expect_identical(posterior::variables(posterior::as_draws_df(fits[[1]], groups = TRUE))[4:5],
    c("log_likelihood", "intercept[1]")
  )
  expect_identical(dim(posterior::as_draws_matrix(fits[[1]])), c(80L, 4L))
})

test_that("a fit can be saved and read again", {
  fit <- quick(y ~ x + (1 | g), chains = 2)
  file <- tempfile()
  saveRDS(fit, file)
  expect_identical(continue(readRDS(file), 3, threads = 1, progress = FALSE)$coefficient_trace,
    continue(fit, 3, threads = 2, progress = FALSE)$coefficient_trace
  )
  unlink(file)
})

test_that("chains on the workers of a future plan give the same draws", {
  skip_where_repeated()
  skip_if_not_installed("future")
  skip_if_not_installed("future.apply")
  skip_on_cran()
  fit <- function() quick(y ~ x + (1 | g), chains = 3, backend = "cpu")
  parts <- c("coefficient_trace", "log_likelihood", "group_deviation", "draws", "state")
  here <- fit()
  longer <- continue(here, 3, backend = "cpu", threads = 2, progress = FALSE)
  plan <- future::plan(future::multisession, workers = 2)
  on.exit(future::plan(plan))
  expect_identical(unclass(fit())[parts], unclass(here)[parts])
  expect_identical(unclass(continue(here, 3, backend = "cpu", threads = 1, progress = FALSE))[parts],
    unclass(longer)[parts]
  )
})
