# Smooths and effects of areas and times. test-bayes-logit-smooth-scales.R compares the sampler with the prior.

skip_where_repeated()
skip_if(resolve_run()$backend != "cpu", "what R does")
skip_if_not_installed("mgcv")
set.seed(7)
d <- data.frame(
  x = round(runif(200), 2), z = rnorm(200), f = gl(3, 1, 200, labels = c("u", "v", "w")), g = gl(10, 20),
  t = rep(c(1, 2, 4, 7), 50), area = sample(c("a", "b", "d"), 200, TRUE)
)
d$y <- rbinom(200, 1, plogis(2 * sin(6 * d$x)))
d$n <- rpois(200, exp(1 + sin(6 * d$x)))
neighbours <- list(a = "b", b = c("a", "c"), c = c("b", "d"), d = "c")
fits <- function(formula, data = d, family = "binomial", ..., iter = 60) {
  bayes_logit(formula, data, family, ..., chains = 2, iter = iter, seed = 1, threads = 1, progress = FALSE)
}

# Posterior means and deviations of the linear predictors and of the log of the smooth's deviation. Nodes are a grid of
# the log of its variance, and for each of them Gauss-Hermite nodes of the coefficients about their mode.
by_quadrature <- function(fit, log_likelihood) {
  design <- fit$design
  x <- (design$x - rep(design$center, each = fit$rows)) / rep(design$scale, each = fit$rows)
  p <- ncol(x)
  precision <- matrix(0, p, p)
  precision[upper.tri(precision, TRUE)] <- fit$prior$precision
  precision <- precision + t(precision * upper.tri(precision))
  block <- design$block > 0
  jacobi <- eigen(matrix(replace(numeric(81), c(2 + 10 * 0:7, 10 + 10 * 0:7), rep(sqrt(1:8), 2)), 9), TRUE)
  nodes <- t(expand.grid(rep(list(jacobi$values), p)))
  mass <- apply(expand.grid(rep(list(jacobi$vectors[1, ]^2), p)), 1, prod)
  log_variances <- -16:8
  parts <- lapply(log_variances, function(at) {
    tie <- precision
    tie[block, block] <- tie[block, block] / exp(at)
    log_density <- function(b) {
      log_likelihood(drop(x %*% b)) - sum((b - fit$prior$mean) * (tie %*% (b - fit$prior$mean))) / 2
    }
    mode <- optim(fit$prior$mean, function(b) -log_density(b), method = "BFGS", hessian = TRUE)
    b <- mode$par + backsolve(chol(mode$hessian), nodes)
    log_weight <- apply(b, 2, log_density) + colSums(nodes^2) / 2 + log(mass) +
      (determinant(tie)$modulus - determinant(mode$hessian)$modulus + at) / 2 - log(fit$prior$smooth_scale^2 + exp(at))
    list(log_weight = log_weight, values = rbind(x %*% b, at / 2))
  })
  log_weight <- unlist(lapply(parts, function(part) part$log_weight))
  weight <- exp(log_weight - max(log_weight))
  values <- do.call(cbind, lapply(parts, function(part) part$values))
  mean <- drop(values %*% weight) / sum(weight)
  list(mean = mean, sd = sqrt(drop((values - mean)^2 %*% weight) / sum(weight)))
}

test_that("posteriors of a smooth agree with quadrature", {
  small <- data.frame(x = seq(0, 1, length.out = 16), y = rep(c(0, 3, 1, 3), 4), n = rep(c(0, 2, 6, 2), each = 4))
  compare <- function(fit, exact) {
    draws <- cbind(posterior_linpred.bayes_logit(fit), log(as.vector(fit$smooth_deviation[-(1:fit$warmup), , 1])))
    # At 0.9 effective draws a draw or more, the standard error of a mean is at most 0.012 standard deviations.
    expect_lt(max(abs(colMeans(draws) - exact$mean) / exact$sd), 0.06)
    expect_lt(max(abs(log(apply(draws, 2, sd) / exact$sd))), 0.06)
  }
  fit <- fits(cbind(y, 3 - y) ~ s(x, k = 3), small, iter = 6000)
  compare(fit, by_quadrature(fit, function(linear) sum(small$y * linear - 3 * log1p(exp(linear)))))
  fit <- fits(n ~ s(x, k = 3), small, "poisson", iter = 6000)
  compare(fit, by_quadrature(fit, function(linear) sum(dpois(small$n, exp(linear), log = TRUE))))
})

# The prior covariance of the penalised part of the linear predictors, given sd = 1.
penalised_covariance <- function(fit) {
  design <- fit$design
  unname(tcrossprod(design$x[, design$block > 0, drop = FALSE]))
}

test_that("priors of smooths do not depend on units, on aggregation or on rows without weight", {
  fit <- fits(y ~ s(x))
  expect_equal(mean(diag(penalised_covariance(fit))), 1)
  expect_equal(colMeans(fit$design$x)[-1], 0 * colMeans(fit$design$x)[-1])
  expect_equal(unname(coef(fits(y ~ s(I(1e4 * x + 7))))), unname(coef(fit)), tolerance = 1e-5)
  counts <- aggregate(cbind(y, trials = 1) ~ x, d, sum)
  grouped <- fits(cbind(y, trials - y) ~ s(x), counts)
  expect_equal(penalised_covariance(grouped), penalised_covariance(fit)[match(counts$x, d$x), match(counts$x, d$x)])
  expect_equal(abs(cor(grouped$design$x[, 2], counts$x)), 1)
  more <- fits(y ~ s(x), rbind(d, transform(d, x = x + 5)), weights = rep(1:0, each = 200))
  expect_equal(coef(more), coef(fit))
  expect_equal(penalised_covariance(fits(n ~ s(x) + offset(log(x + 1) - 9), family = "poisson")),
    penalised_covariance(fits(n ~ s(x) + offset(log(x + 1)), family = "poisson")))
})

test_that("effects of areas and times have the covariance of their neighbours", {
  deviations <- function(covariance) {
    centred <- diag(nrow(covariance)) - 1 / nrow(covariance)
    centred <- centred %*% covariance %*% centred
    centred / sum(diag(centred))
  }
  at <- match(c("a", "b", "d"), d$area)
  fit <- fits(y ~ car(area, neighbours) + z)
  # Four areas in a row are a random walk; c has no rows.
  walk <- outer(c(1, 2, 4), c(1, 2, 4), pmin)
  expect_equal(deviations(penalised_covariance(fit)[at, at]), deviations(walk))
  weights <- matrix(c(0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0), 4, dimnames = list(letters[1:4], NULL))
  expect_identical(coef(fits(y ~ car(area, adjacency = weights) + z)), coef(fit))
  expect_identical(dim(predict(fit, data.frame(area = "c", z = 0))), c(1L, 4L))
  fit <- fits(n ~ rw(t), family = "poisson")
  expect_equal(deviations(penalised_covariance(fit)[1:4, 1:4]), deviations(outer(d$t[1:4], d$t[1:4], pmin)))
  of_unit <- fits(n ~ rw(t | f) + (1 | f), family = "poisson")
  effect <- predict(of_unit, type = "link", re_formula = NA)[, "mean"] - coef(of_unit)[[1]]
  expect_equal(unname(tapply(effect, d$f, mean)[1:3]), c(0, 0, 0), tolerance = 1e-10, ignore_attr = TRUE)
  # An area alone has a level of its own.
  alone <- fits(y ~ car(area, list(a = "b", b = "a", d = NULL)))
  expect_identical(names(coef(alone)), c("(Intercept)", "car(area).fixed1", "car(area).1"))
})

test_that("many areas or times are sparse columns with the same prior and posterior", {
  skip_if_not_installed("Matrix")
  areas <- sprintf("a%02d", 1:40)
  chain <- lapply(stats::setNames(1:40, areas), function(i) areas[setdiff(c(i - 1, i + 1), c(0, 41))])
  many <- transform(d, area = areas[1 + (1:200 * 7) %% 39], week = rep(1:20, 10))
  fit <- fits(cbind(y, 1 - y) ~ car(area, chain) + z, many, iter = 1000)
  expect_true(is_sparse_matrix(fit$design$x))
  weight <- tabulate(match(many$area, areas), 40) / 200
  centred <- diag(40) - matrix(weight, 40, 40, byrow = TRUE)
  walk <- centred %*% outer(1:40, 1:40, pmin) %*% t(centred)
  expected <- walk / sum(weight * diag(walk))
  expect_equal(unname(solve(fit$design$smooths[[1]]$structure)), expected, tolerance = 1e-4)
  # The basis of mgcv is dense.
  known <- lapply(chain[-40], setdiff, "a40")
  many$place <- factor(many$area)
  peer <- fits(cbind(y, 1 - y) ~ s(place, bs = "mrf", xt = list(nb = known)) + z, many, iter = 1000)
  expect_false(is_sparse_matrix(peer$design$x))
  means <- predict(fit, type = "link")
  expect_lt(max(abs(means - predict(peer, type = "link"))[, "mean"] / means[, "sd"]), 0.3)
  expect_equal(coef(fit)[["z"]], coef(peer)[["z"]], tolerance = 0.1)
  rows <- transform(many[1:3, ], area = c(areas[[40]], NA, area[[3]]))
  predicted <- predict(fit, rows, type = "link")
  expect_identical(is.na(predicted[, "mean"]), c(FALSE, TRUE, FALSE), ignore_attr = TRUE)
  expect_equal(predicted[3, ], means[3, ])
  of_units <- fits(n ~ rw(week | f) + x + (1 | f), many, "poisson")
  expect_identical(tail(names(coef(of_units)), 1), "rw(week | f).w.20")
  expect_equal(predict(of_units, many[7:9, ]), predict(of_units)[7:9, ], ignore_attr = TRUE)
  expect_equal(predict(of_units, data.frame(week = 3, f = "u", x = mean(d$x)), type = "link", re_formula = NA)[[1]],
    coef(of_units)[["(Intercept)"]] + coef(of_units)[["x"]] * mean(d$x) + coef(of_units)[["rw(week | f).u.3"]])
  pdf(NULL)
  on.exit(dev.off())
  expect_invisible(plot(of_units, "smooths"))
  expect_input_error(predict(fit, rows, sparse = fit$design$x), "`sparse` is given")
})

test_that("hundreds of areas or times have a banded precision, with the same prior and posterior", {
  skip_if_not_installed("Matrix")
  at <- expand.grid(1:6, 1:7)
  areas <- sprintf("a%02d", 1:42)
  beside <- as.matrix(stats::dist(at, "manhattan")) == 1
  dimnames(beside) <- list(areas, NULL)
  many <- transform(d, area = areas[1 + (1:200 * 7) %% 39], week = rep(1:20, 10))
  both <- function(formula, ..., iter = 1500) {
    on.exit(utils::assignInNamespace("fewest_banded", 300L, "warpbayes"))
    lapply(c(Inf, 1), function(fewest) {
      utils::assignInNamespace("fewest_banded", fewest, "warpbayes")
      fits(formula, many, ..., iter = iter)
    })
  }
  formulas <- list(cbind(y, 1 - y) ~ car(area, beside) + z, n ~ rw(week | f) + x + (1 | f), n ~ z + ar1(week | f))
  for (i in 1:3) {
    pair <- both(formulas[[i]], family = c("binomial", "poisson", "poisson")[[i]])
    smooths <- lapply(pair, function(fit) fit$design$smooths[[1]])
    draws <- lapply(pair, logit_draws)
    expect_identical(dimnames(draws[[2]]), dimnames(draws[[1]]))
    effective <- lapply(draws, function(one) apply(one, 3, effective_size))
    middle <- lapply(draws, function(one) apply(one, 3, mean))
    error <- sqrt(Reduce(`+`, Map(function(one, size) apply(one, 3, function(x) var(c(x))) / size, draws, effective)))
    expect_lt(max(abs(middle[[1]] - middle[[2]]) / error), 4.5)
    expect_equal(predict(pair[[2]], many[7:9, ]), predict(pair[[2]])[7:9, ], ignore_attr = TRUE)
    if (i == 3) next
    # The same precision but for the order of levels.
    band <- smooths[[2]]$band
    whole <- tcrossprod(band$share) * outer(band$unit, band$unit, `==`)
    for (j in seq_len(nrow(band$precision)) - 1L) {
      rows <- seq_len(ncol(whole) - j)
      to <- unique(rbind(cbind(rows, rows + j), cbind(rows + j, rows)))
      whole[to] <- whole[to] + band$precision[j + 1L, pmin(to[, 1], to[, 2])]
    }
    expect_equal(whole, unname(smooths[[1]]$structure[band$order, band$order]), tolerance = 1e-8)
  }
  expect_lt(nrow(band$precision), 10L)
  alone <- both(cbind(y, 1 - y) ~ z + car(area, beside), control = warp_control(prior_only = TRUE), iter = 1500)
  deviation <- lapply(alone, function(fit) fit$smooth_deviation[-(1:750), , 1] < 1)
  expect_lt(abs(mean(deviation[[2]]) - 0.5), 6 * sqrt(0.25 / effective_size(deviation[[2]] + 0)))
})

test_that("a thousand areas of a map are fitted, continued and predicted", {
  skip_if_not_installed("Matrix")
  n <- 1100
  pairs <- cbind(seq_len(n - 1), 2:n)
  near <- Matrix::sparseMatrix(pairs[, 1], pairs[, 2], x = 1, dims = c(n, n),
    dimnames = list(sprintf("a%04d", 1:n), NULL))
  near <- near + Matrix::t(near)
  set.seed(1)
  map <- data.frame(area = sample(rownames(near)), h = rep(1:110, 10))
  map$n <- rpois(n, exp(sin(match(map$area, rownames(near)) / 100)))
  fit <- fits(n ~ car(area, near) + (1 | h), map, "poisson", iter = 60, warmup = 30)
  # Along a chain of areas the band is narrow in whatever order the data have them.
  expect_lte(nrow(fit$design$smooths[[1]]$band$precision), 2L)
  expect_identical(dim(fit$draws$effects)[[1]], 110L)
  expect_identical(coef(continue(fits(n ~ car(area, near) + (1 | h), map, "poisson", iter = 40, warmup = 30), 20)),
    coef(fit))
  expect_gt(cor(coef(fit)[-1], sin(seq_len(n) / 100)), 0.9)
  expect_equal(predict(fit, map[5:6, ]), predict(fit)[5:6, ], ignore_attr = TRUE)
})

test_that("methods of a fit know its smooths", {
  fit <- fits(y ~ s(x, by = f, k = 4) + f + (1 | g))
  expect_identical(colnames(fit$design$x)[c(4, 7)], c("s(x):fu.fixed1", "s(x):fu.1"))
  rows <- d[c(5, 9), ]
  expect_equal(predict(fit, rows), predict(fit)[c(5, 9), ], ignore_attr = TRUE)
  expect_equal(log_lik.bayes_logit(fit, rows), log_lik.bayes_logit(fit)[, c(5, 9)], ignore_attr = TRUE)
  rows$x[[1]] <- NA
  expect_identical(is.na(predict(fit, rows)[, "mean"]), c(TRUE, FALSE), ignore_attr = TRUE)
  shown <- summary(fit)$coefficients$quantity
  expect_identical(shown[7:11], c("sd(g)", "sd(s(x):fu)", "sd(s(x):fv)", "sd(s(x):fw)", "log_likelihood"))
  expect_true(all(c("s(x):fw.2", "sd(s(x):fw)") %in% dimnames(as.array(fit))[[3]]))
  expect_output(print(fit$prior), "of each smooth over the observations.*half-Cauchy of scale 1")
  again <- continue(fits(y ~ s(x, k = 4), iter = 40, warmup = 10), 20)
  whole <- fits(y ~ s(x, k = 4), warmup = 10)
  expect_identical(again$smooth_deviation, whole$smooth_deviation)
  direct <- bayes_logit(y ~ s(x, k = 4), d, chains = 2, iter = 60, warmup = 10, seed = 1, threads = 1, progress = FALSE)
  expect_length(smooth_deviation_names(update(direct, . ~ . + s(z, k = 4))), 2L)
  expect_match(summary(fits(cbind(y, 1 - y) ~ s(f, bs = "re") + z))$words[[1]], "bs = \"re\"")
  classes <- fits(f ~ t2(x, z, k = 3), family = "multinomial")
  expect_identical(smooth_deviation_names(classes)[3:4], c("v:sd(t2(x,z).3)", "w:sd(t2(x,z).1)"))
  expect_identical(dim(predict(classes, d[1:2, ])), c(2L, 3L, 4L))
})

test_that("smooths are drawn by base graphics and by ggplot2", {
  fit <- fits(n ~ s(x, k = 4) + s(t, z, k = 5) + s(f, bs = "re") + rw(t | g), family = "poisson")
  parts <- smooth_picture(fit, NULL, NULL)
  expect_length(parts$panels, 12L)
  line <- parts$panels[[1]]$layers[[3]]$data
  values <- predict(fit, data.frame(x = line$x, z = 0, f = "u", t = 1, g = "1"), type = "link")[, "mean"]
  expect_equal(diff(line$y), diff(values), ignore_attr = TRUE)
  pdf(NULL)
  on.exit(dev.off())
  expect_invisible(plot(fit, "smooths", parameters = "s(x)"))
  expect_input_error(plot(fit, "smooths", "s(t,z)"), "`parameters` has a smooth of several variables")
  expect_input_error(plot(fits(y ~ z), "smooths"), "`type` is \"smooths\", but the formula of the fit has none")
})

test_that("marginal means are for smooths at their means", {
  skip_if_not_installed("emmeans")
  skip_if_not_installed("coda")
  fit <- fits(y ~ f + s(x, k = 4))
  means <- emmeans::emmeans(fit, "f")
  draws <- warpbayes:::coefficient_draws(fit)
  expect_equal(unname(tcrossprod(means@post.beta, means@linfct)[, 2]), unname(draws[, 1] + draws[, 2]))
})

test_that("smooths that cannot be used are refused", {
  refused <- function(formula, message, data = d) expect_input_error(fits(formula, data), message)
  refused(y ~ te(x, z), "whose penalties overlap: t2\\(\\) is for the same surfaces")
  refused(y ~ s(x) * f, "inside another term: smooths are added")
  refused(y ~ s(x, sp = 1), "with the argument `sp`")
  refused(y ~ s(x, k = 300), "mgcv cannot make from the data: A term has fewer unique")
  refused(y ~ s(), "which mgcv cannot read")
  refused(y ~ s(I(1e-200 * x)), "whose basis is not finite: change the units")
  refused(y ~ s(f), "whose variable \"f\" is not numeric")
  refused(y ~ s(cbind(x, z)), "whose variable \"cbind\\(x, z\\)\" is a matrix")
  refused(y ~ s(x) + s(x), "has the smooth \"s\\(x\\)\" twice")
  refused(y ~ s(x, by = zero), "which does not vary in the data", transform(d, zero = 0))
  expect_input_error(fits(y ~ s(x), control = warp_control(sparse = TRUE)), "must be FALSE for a formula with smooths")
  refused(y ~ car(area), "is written car\\(area, adjacency\\)")
  refused(y ~ rw(t, f), "is written rw\\(time\\)")
  refused(y ~ car(area, nowhere), "whose adjacency cannot be found: object 'nowhere' not found")
  refused(y ~ car(area, "b"), "must be a square matrix, or a list")
  refused(y ~ car(area, diag(3)), "has no row names")
  refused(y ~ car(area, list("b", "a")), "is a list without the names")
  refused(y ~ car(area, list(a = "b", b = "a")), "has \"d\" in car\\(area\\), which the adjacency lacks")
  refused(y ~ car(area, list(a = "b", b = "e")), "has a neighbour of \"b\" that is no area")
  refused(y ~ car(area, list(a = "b", b = c())), "is not symmetric")
  refused(y ~ car(area, list(a = NULL, b = NULL)), "has no neighbours")
  refused(y ~ car(area, list(a = "a", a = "a")), "has the area \"a\" twice")
  pairs <- split(as.character(1:1100 + c(1, -1)), 1:1100)
  refused(y ~ car(t, pairs), "has 1100 levels: more than 1024 need areas that are all connected")
  refused(y ~ rw(area), "must be times")
  refused(y ~ rw(t), "which has 2 times; at least 3 are needed", d[d$t < 3, ])
  fit <- fits(y ~ rw(t))
  expect_input_error(predict(fit, data.frame(t = 3)), "`newdata` has \"3\" in rw\\(t\\), which the fit has not seen")
  expect_input_error(predict(fit, d, re_formula = ~ rw(t)), "must have grouping terms alone")
  expect_input_error(logit_prior(smooth_scale = 0), "`smooth_scale`")
})

# Measured, with 12,000 draws: root mean square differences of .061, .088 and .078 standard errors. Where REML puts a
# variance at 0, the posterior mean over variances differs more: .32 for MASS::birthwt, low ~ s(age) + s(lwt).
test_that("posterior means agree with mgcv's where the data decide", {
  differences <- function(formula, data, family, of_mgcv) {
    fit <- bayes_logit(formula, data, family, chains = 2, iter = if (extended()) 6000 else 1000, seed = 1, threads = 1)
    peer <- predict(mgcv::gam(formula, of_mgcv, data, method = "REML"), se.fit = TRUE)
    sqrt(mean(((predict(fit, type = "link")[, "mean"] - peer$fit) / peer$se.fit)^2))
  }
  bound <- if (extended()) 0.1 else 0.14
  set.seed(1)
  waves <- data.frame(x = runif(1000), z = rnorm(1000))
  waves$y <- rbinom(1000, 1, plogis(1.5 * sin(6 * waves$x) + 0.5 * waves$z))
  expect_lt(differences(y ~ s(x) + z, waves, "binomial", binomial()), bound)
  cancer <- transform(esoph, age = as.numeric(agegp))
  cases <- cbind(ncases, ncontrols) ~ s(age, k = 5) + alcgp + tobgp
  expect_lt(differences(cases, cancer, "binomial", binomial()), bound)
  deaths <- data.frame(year = c(time(UKDriverDeaths)), month = c(cycle(UKDriverDeaths)), n = c(UKDriverDeaths))
  expect_lt(differences(n ~ s(year) + s(month, bs = "cc", k = 8), deaths, "negbinomial", mgcv::nb()), bound)
})

test_that("ordinal regressions have smooths, and zero-inflated counts refuse them", {
  skip_where_repeated()
  skip_if_not_installed("mgcv")
  set.seed(1)
  d <- data.frame(x = runif(400), a = rep(1:40, 10))
  linear <- 2 * sin(6 * d$x)
  d$y <- ordered(1 + (runif(400) < plogis(linear)) * (1 + (runif(400) < plogis(linear - 1))))
  d$n <- rpois(400, 2)
  fit <- bayes_logit(y ~ s(x), d, family = "cratio", chains = 1, iter = 300, seed = 1)
  means <- predict(fit, data.frame(x = c(0.25, 0.8)), type = "response")[, , "mean"]
  truth <- plogis(2 * sin(6 * c(0.25, 0.8)))
  expect_lt(max(abs(means[, 1] - (1 - truth))), 0.12)
  expect_error(bayes_logit(y ~ rw(a), d, family = "cratio", iter = 10), "many areas or times.*cratio")
  d$n <- ifelse(runif(400) < plogis(linear), 0, rpois(400, 4))
  zeros <- bayes_logit(n ~ s(x), d, family = "poisson", zi = ~ s(x), chains = 1, iter = 300, seed = 1, progress = FALSE)
  expect_identical(dimnames(logit_draws(zeros))[[3]][19:20 + 2], c("sd(s(x))", "zi_sd(s(x))"))
  probability <- predict(zeros, data.frame(x = c(0.25, 0.8)), type = "zero")[, "mean"]
  expect_lt(max(abs(probability - truth)), 0.15)
})
