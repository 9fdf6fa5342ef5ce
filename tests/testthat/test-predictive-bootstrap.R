# The Bayesian bootstrap, and functionals of weighted data.

test_that("weights have the uniform Dirichlet law", {
  # Each of three weights is beta(1, 2). False alarms 1e-6.
  draws <- if (on_cuda()) 300 else 1e4
  fit <- predictive_resample(c(1, 2, 3), bayesian_bootstrap(), draws = draws, functional = function(y, weights) weights,
    seed = 1, threads = 2
  )
  expect_equal(unname(rowSums(fit$draws)), rep(1, draws))
  for (j in 1:3) {
    expect_gt(suppressWarnings(ks.test(fit$draws[, j], "pbeta", 1, 2))$p.value, 1e-6)
  }
  expect_identical(fit$remaining, 0)
})

test_that("with a finite horizon the weights have the law of Polya's urn", {
  draws <- if (on_cuda()) 400 else 8e3
  y <- c(-1, 0.5, 2, 2, 7)
  fit <- predictive_resample(y, bayesian_bootstrap(), 20, draws = draws, seed = 1, threads = 2)
  expect_mean(fit$draws[, "mean"], mean(y))
  # The variance of the mean is s^2/(n + 1) N/(n + N), as for any martingale of this urn.
  expect_mean((fit$draws[, "mean"] - mean(y))^2, mean((y - mean(y))^2) / 6 * 20 / 25)
  counts <- predictive_resample(y, bayesian_bootstrap(), 20, draws = 50, functional = function(y, weights) weights * 25,
    seed = 1
  )
  expect_equal(counts$draws, round(counts$draws))
  expect_gte(min(counts$draws), 1 - 1e-12)
  expect_equal(fit$remaining, 5 / 25)
  longer <- continue(predictive_resample(y, bayesian_bootstrap(), 5, draws = 9, seed = 1), 15)
  expect_identical(longer$draws, predictive_resample(y, bayesian_bootstrap(), 20, draws = 9, seed = 1)$draws)
})

test_that("built-in quantities agree with plain R", {
  x <- as.matrix(mtcars[1:12, c("mpg", "wt", "hp")])
  all <- predictive_resample(x, bayesian_bootstrap(), draws = 5, seed = 4,
    functional = function(y, weights) weights
  )$draws
  fit <- predictive_resample(x, bayesian_bootstrap(), draws = 5, seed = 4,
    functional = c("mean", "sd", "variance", "median", "correlation")
  )
  for (r in 1:5) {
    w <- all[r, ]
    moments <- cov.wt(x, w, cor = TRUE, method = "ML")
    expect_equal(unname(fit$draws[r, 1:3]), unname(moments$center))
    expect_equal(unname(fit$draws[r, 4:6]), unname(sqrt(diag(moments$cov))))
    expect_equal(unname(fit$draws[r, "correlation[mpg,wt]"]), moments$cor[1, 2])
    median <- vapply(1:3, function(j) sort(x[, j])[[which(cumsum(w[order(x[, j])]) >= 0.5)[[1]]]], 0)
    expect_equal(unname(fit$draws[r, paste0("median[", colnames(x), "]")]), median)
  }
  part <- predictive_resample(x[, 1], bayesian_bootstrap(), draws = 5, seed = 4, functional = probability_of(20, Inf))
  expect_equal(part$draws[, 1], unname(drop(all %*% (x[, 1] >= 20))))
  # Both ends belong to the interval.
  ends <- sort(x[, 1])[c(2, 6)]
  part <- predictive_resample(x[, 1], bayesian_bootstrap(), draws = 5, seed = 4,
    functional = probability_of(ends[[1]], ends[[2]])
  )
  expect_equal(part$draws[, 1], unname(drop(all %*% (x[, 1] >= ends[[1]] & x[, 1] <= ends[[2]]))))
  quantiles <- predictive_resample(x[, 1], bayesian_bootstrap(), draws = 5, seed = 4,
    functional = quantiles_of(c(0, 0.5, 1))
  )
  expect_equal(unname(quantiles$draws[1, c(1, 3)]), range(x[, 1]))
})

test_that("several quantities of weighted data are computed at once, and none means something else", {
  y <- c(3, 1, 4, 1, 5, 9, 2, 6)
  draws <- function(functional, y, model = bayesian_bootstrap()) {
    predictive_resample(y, model, draws = 5, seed = 4, functional = functional)$draws
  }
  weights <- draws(function(weights, y) weights, y)
  expect_identical(weights, draws(function(y, weights) weights, y))
  several <- draws(list("mean", quantiles_of(c(0.1, 0.9)), "gini", tail_mean_of(0.6), "tail_mean", "quantile",
    probability_of(2, 5), "mean"), y)
  expect_identical(colnames(several), c("mean", "q10", "q90", "gini", "tail_mean60", "tail_mean95", "q25", "q50", "q75",
    "probability"))
  expect_identical(several[, "mean"], draws("mean", y)[, 1])
  expect_identical(several[, 2:3], draws(quantiles_of(c(0.1, 0.9)), y))
  for (r in 1:5) {
    w <- weights[r, ]
    pairs <- outer(w, w) * abs(outer(y, y, "-"))
    expect_equal(several[[r, "gini"]], sum(pairs) / 2 / sum(w * y))
    # A fine sample of the weighted law: the mean of its largest 40%.
    copies <- sort(rep(y, round(1e6 * w)), decreasing = TRUE)
    expect_equal(several[[r, "tail_mean60"]], mean(copies[seq_len(4e5)]), tolerance = 1e-4)
  }
  # Equal weights give the quantities of the data, in any units, and of aggregated rows.
  of_data <- function(y) {
    predictive_resample(y, bayesian_bootstrap(), 0, 1, functional = c("gini", "tail_mean", "sd"))$draws
  }
  expect_equal(of_data(1000 * y), of_data(y) * c(1, 1000, 1000))
  expect_equal(of_data(rep(y, 3)), of_data(y))
  both <- draws(list("correlation", coefficients_of(mpg ~ wt), "mean"), mtcars[c("mpg", "wt")])
  expect_identical(colnames(both), c("correlation", "(Intercept)", "wt", "mean[mpg]", "mean[wt]"))
  expect_identical(both[, 2:3], draws(coefficients_of(mpg ~ wt), mtcars[c("mpg", "wt")]))
  expect_identical(colnames(draws(c("gini", "mean"), y, pitman_yor(2, base = stats::qexp))), c("gini", "mean"))
  # The population of a normal mean has equal weights.
  population <- predictive_resample(y, normal_mean(), 3, 5, seed = 1, functional = function(y) y)$draws
  of <- predictive_resample(y, normal_mean(), 3, 5, seed = 1,
    functional = list("tail_mean", "variance", quantiles_of(0.5)))$draws
  expect_identical(colnames(of), c("tail_mean95", "variance", "q50"))
  expect_equal(of[, "tail_mean95"], apply(population, 1, max))
  expect_input <- function(call, pattern) expect_error(call, pattern, class = "warpbayes_error_input")
  # var(data, weights) would be a covariance, and mad() takes its second argument for a centre.
  for (wrong in list(var, mad, range, max, quantile, mean, function(y) 1, function(y, w) 1, function(y, ...) 1)) {
    expect_input(draws(wrong, y), "must have an argument `weights`: it is called as functional\\(data, weights = \\)")
    expect_input(draws(wrong, y, gnedin(0.5, qnorm)), "must have an argument `weights`")
    expect_input(predictive_resample(y, copula_density(), 1, 2, functional = wrong), "must have an argument `points`")
  }
  expect_input(draws(function(weights) 1, y), "an argument for the data")
  expect_input(draws(function(y, z, weights) 1, y), "needs the argument `z`, which it is not given")
  expect_input(predictive_resample(y, normal_mean(), functional = function(y, a, b = 1) 1), "needs the argument `a`")
  expect_input(predictive_resample(mtcars, copula_classification(am ~ wt), functional = function(points, p) 1),
    "must have an argument `probability`: it is called as functional\\(points =, probability =\\)")
  expect_input(draws("regression", mtcars), "needs a formula: coefficients_of")
  expect_input(draws(list("mean", mean), y), "is a list with a function")
  expect_input(draws(list("mean", 3), y), "or a list of these, not 3")
  expect_input(draws(list(), y), "or a list of these")
  expect_input(draws("gini", y - 3), "needs values of at least 0, not -2")
  expect_input(tail_mean_of(1), "`prob`")
})

test_that("coefficients minimise their losses", {
  frame <- mtcars[c("mpg", "wt", "am", "cyl")]
  frame$cyl <- factor(frame$cyl)
  weight <- predictive_resample(frame, bayesian_bootstrap(), draws = 6, seed = 2,
    functional = function(y, weights) weights
  )$draws
  squares <- predictive_resample(frame, bayesian_bootstrap(), draws = 6, seed = 2,
    functional = coefficients_of(mpg ~ wt + cyl)
  )
  logistic <- predictive_resample(frame, bayesian_bootstrap(), draws = 6, seed = 2,
    functional = coefficients_of(am ~ mpg, "logistic")
  )
  check <- predictive_resample(frame, bayesian_bootstrap(), draws = 6, seed = 2,
    functional = coefficients_of(mpg ~ wt + cyl, "quantile", tau = 0.3))
  x <- model.matrix(mpg ~ wt + cyl, frame)
  loss <- function(beta, w) {
    residual <- drop(frame$mpg - x %*% beta)
    sum(w * residual * (0.3 - (residual < 0)))
  }
  for (r in 1:6) {
    frame$w <- weight[r, ]
    expect_equal(squares$draws[r, ], coef(lm(mpg ~ wt + cyl, frame, weights = w)))
    expect_equal(logistic$draws[r, ], coef(suppressWarnings(glm(am ~ mpg, binomial, frame, weights = w,
      control = list(epsilon = 1e-14)))), tolerance = 1e-6)
    # Four residuals are zero, and the loss falls in no direction.
    beta <- check$draws[r, ]
    expect_gte(sum(abs(frame$mpg - x %*% beta) < 1e-9), 4)
    set.seed(r)
    best <- min(replicate(2000, loss(beta + rnorm(4) * 10^runif(1, -6, 0), frame$w)))
    expect_gte(best, loss(beta, frame$w) - 1e-12)
  }
})

test_that("bad functionals are refused, and the message names the resample", {
  y <- c(1, 2, 3)
  expect_input <- function(call, pattern) expect_error(call, pattern, class = "warpbayes_error_input")
  growing <- local({
    count <- 0
    function(y, weights) {
      count <<- count + 1
      seq_len(1 + (count == 4))
    }
  })
  expect_input(predictive_resample(y, bayesian_bootstrap(), draws = 9, functional = growing),
    "2 values on resample 4 and 1 on resample 1"
  )
  failing <- function(y, weights) if (weights[[1]] > 0.5) stop("too heavy") else 1
  weights <- predictive_resample(y, bayesian_bootstrap(), draws = 50, seed = 1,
    functional = function(y, weights) weights)$draws
  first <- which(weights[, 1] > 0.5)[[1]]
  # A resample on which it fails is NA, and is counted.
  expect_warning(
    fit <- predictive_resample(y, bayesian_bootstrap(), draws = 50, seed = 1, functional = failing),
    sprintf("failed on %d of 50 resamples, which are NA; on resample %d: too heavy", sum(weights[, 1] > 0.5), first))
  expect_identical(is.na(fit$draws[, "value"]), weights[, 1] > 0.5)
  expect_match(said_of(fit, "missing"), sprintf("^%d of 50 resamples lack a quantity", sum(weights[, 1] > 0.5)))
  expect_output(print(fit), "lack\\s+a\\s+quantity")
  expect_identical(summary(fit)$table$mean, 1)
  expect_null(said_of(predictive_resample(y, bayesian_bootstrap(), draws = 5, seed = 1), "missing"))
  # So is one that returns a single NA, without a warning.
  some <- function(y, weights) if (weights[[1]] > 0.5) NA else weights
  expect_silent(fit <- predictive_resample(y, bayesian_bootstrap(), draws = 50, seed = 1, functional = some))
  expect_identical(which(is.na(fit$draws[, 2])), which(weights[, 1] > 0.5))
  expect_identical(fit$draws[weights[, 1] <= 0.5, ], weights[weights[, 1] <= 0.5, ])
  never <- function(y, weights) stop("never")
  expect_input(predictive_resample(y, bayesian_bootstrap(), draws = 50, functional = never),
    "failed on resample 1: never; it failed on all of the first 10")
  expect_input(predictive_resample(y, bayesian_bootstrap(), functional = function(y, weights) NULL),
    "must return numbers")
  expect_identical(predictive_resample(y, normal_mean(), 2, 3, functional = max, seed = 1)$draws,
    predictive_resample(y, normal_mean(), 2, 3, functional = function(y, ...) max(y), seed = 1)$draws)
  expect_input(predictive_resample(y, bayesian_bootstrap(), functional = function(y, weights) "a"),
    "must return numbers; on resample 1"
  )
  expect_input(predictive_resample(y, bayesian_bootstrap(), functional = "mode"), "`functional`.*\"mode\"")
  expect_input(predictive_resample(y, bayesian_bootstrap(), functional = "correlation"), "at least two columns")
  expect_input(predictive_resample(y, bayesian_bootstrap(), functional = coefficients_of(y ~ x)),
    "must be a data frame"
  )
  expect_input(predictive_resample(mtcars, bayesian_bootstrap(), functional = coefficients_of(mpg ~ absent)), "absent")
  expect_input(predictive_resample(iris, bayesian_bootstrap()), "not numeric")
  three_classes <- coefficients_of(Species ~ Petal.Width, "logistic")
  expect_input(predictive_resample(iris, bayesian_bootstrap(), functional = three_classes), "two classes; it has 3")
  expect_input(predictive_resample(iris, bayesian_bootstrap(), functional = coefficients_of(Species ~ Petal.Width)),
    "not numeric"
  )
  expect_input(predictive_resample(mtcars[1:2, ], bayesian_bootstrap(), functional = coefficients_of(mpg ~ wt + hp)),
    "do not determine"
  )
  separated <- data.frame(y = c(0, 0, 1, 1), x = 1:4)
  logistic <- coefficients_of(y ~ x, "logistic")
  expect_input(predictive_resample(separated, bayesian_bootstrap(), draws = 3, functional = logistic),
    "resample 1: the classes are separated")
  expect_input(quantiles_of(2), "`probs`")
  expect_input(probability_of(3, 1), "`lower`")
  expect_input(coefficients_of("y ~ x"), "`formula`")
  expect_input(coefficients_of(y ~ x, "absolute"), "`loss`")
  expect_input(coefficients_of(y ~ x, tau = 1), "`tau`")
})

test_that("data that cannot be used are refused", {
  expect_input <- function(call, pattern) expect_error(call, pattern, class = "warpbayes_error_input")
  expect_input(predictive_resample(c(1, NA, 3), bayesian_bootstrap()), "NA at position 2")
  expect_input(predictive_resample(matrix(c(1, Inf), 1), bayesian_bootstrap()), "Inf in row 1, column 2")
  incomplete <- data.frame(a = c(1, 2), b = c("x", NA))
  nothing <- function(y, weights) 1
  expect_input(predictive_resample(incomplete, bayesian_bootstrap(), functional = nothing), "row 2, column b")
  expect_input(predictive_resample(numeric(), bayesian_bootstrap()), "at least 1 value")
  expect_input(predictive_resample(letters, bayesian_bootstrap()), "numeric vector")
  expect_input(predictive_resample(1:3, bayesian_bootstrap(), horizon = -1), "`horizon`")
  expect_input(predictive_resample(1:3, bayesian_bootstrap(), horizon = "long"), "`horizon`")
  expect_input(predictive_resample(1:3, bayesian_bootstrap(), draws = 0), "`draws`")
  expect_input(predictive_resample(1:3, "mean"), "`model`")
  expect_input(predictive_resample(1:3, bayesian_bootstrap(), trajectories = 4), "`trajectories`")
  expect_input(predictive_resample(1:3, bayesian_bootstrap(), horizons = 4), "unused argument")
  expect_input(predictive_resample(c(2, 2), normal_mean(NULL)), "constant")
  expect_input(predictive_resample(2, normal_mean(NULL)), "one value")
  expect_input(predictive_resample(2, normal_mean(1), functional = "variance"), "this model has \"mean\"")
  expect_input(normal_mean(-1), "`variance`")
  expect_input(normal_mean(prior = c(variance = 4)), "needs a known `variance`.*`weight` says")
  expect_input(normal_mean(prior = c(mean = 4)), "counts nothing with the weight 0: give the weight")
  expect_input(normal_mean(1, c(mean = 4)), "counts nothing with the variance Inf: give the variance")
  expect_input(normal_mean(1, c(mean = Inf, variance = 1)), "`mean` is not")
  expect_input(normal_mean(prior = c(weight = Inf)), "`weight` is not")
  expect_input(normal_mean(1, c(mena = 1)), "`prior`")
  expect_input(normal_mean(1, c(mean = NA)), "`prior`")
  expect_input(normal_mean(1, c(variance = 0)), "positive variance")
  expect_input(normal_mean(NULL, c(shape = -2)), "shape")
  # With one observation, or with horizon 0, the draws do not vary.
  expect_equal(predictive_resample(5, bayesian_bootstrap(), draws = 3)$draws[, 1], rep(5, 3))
  expect_equal(predictive_resample(1:3, bayesian_bootstrap(), horizon = 0, draws = 3)$draws[, 1], rep(2, 3))
})

test_that("an interrupted bootstrap keeps what is done", {
  skip_if_uninterruptible()
  # The first slice has 1,000 resamples of 1,000 weights.
  calls <- 0
  stopping <- function(y, weights) {
    calls <<- calls + 1
    if (calls == 1200) {
      interrupt()
      Sys.sleep(0.1)
    }
    c(first = weights[[1]])
  }
  y <- seq_len(1000) + 0
  fit <- then_interrupted(predictive_resample(y, bayesian_bootstrap(), draws = 20000, functional = stopping, seed = 1))
  expect_true(fit$interrupted)
  expect_identical(c(nrow(fit$draws), fit$count), c(1199L, 1199L))
  expect_output(print(fit), "Interrupted after 1,199 of 20,000 resamples, which are kept")
  whole <- predictive_resample(y, bayesian_bootstrap(), draws = 3, seed = 1,
    functional = function(y, weights) c(first = weights[[1]]))
  expect_identical(fit$draws[1:3, , drop = FALSE], whole$draws)
  # A slow functional keeps the resamples of its first slice, and so does an urn.
  for (model in list(bayesian_bootstrap(), gnedin(0.5, qnorm))) {
    calls <- 1196
    slow <- then_interrupted(predictive_resample(y, model, draws = 20000, functional = stopping, seed = 1))
    expect_identical(c(nrow(slow$draws), slow$count), c(3L, 3L))
  }
  at_once <- function(y, weights) {
    interrupt()
    Sys.sleep(0.1)
  }
  expect_error(predictive_resample(y, bayesian_bootstrap(), draws = 20, functional = at_once),
    "interrupted before the first resamples were complete", class = "warpbayes_error_input")
})

# Failures of other packages that somebody reported.
test_that("medians of quantised data have intervals (DABEST-python issue 129)", {
  skip_where_repeated()
  # Its BCa intervals of differences of medians were not defined for hundreds of skewed values on a grid.
  grid <- function(u, step) step * round(qlnorm(u, 0, 0.6) / step)
  for (model in list(bayesian_bootstrap(), copula_density())) {
    medians <- vapply(list(sample_of(301), sample_of(287)^1.2), function(u) {
      fit <- predictive_resample(grid(u, 0.25), model, functional = "median", draws = 200, seed = 1, threads = 2)
      quantile(fit, c(0.025, 0.975))
    }, numeric(2))
    expect_true(all(is.finite(medians)) && all(medians[1, ] <= medians[2, ]))
    expect_true(all(medians >= 0.75 & medians <= 1.25))
  }
})

test_that("shapes near 0 give weights, not missing values (extraDistr issue 7)", {
  # There log weights of shape 1e-18 underflowed.
  fit <- predictive_resample(c(1, 2, 3), pitman_yor(2.8e-18, base = qnorm), draws = 200, seed = 1, threads = 2,
    functional = function(y, weights) c(sum(weights), min(weights), max(weights[-(1:3)])))
  expect_equal(unname(fit$draws[, 1]), rep(1, 200))
  expect_true(all(fit$draws[, 2] >= 0) && all(fit$draws[, 3] < 1e-6))
})

test_that("few values are a reservation of a bootstrap, and negative amounts an error of a Gini coefficient", {
  expect_match(said_of(predictive_resample(c(1, 4), bayesian_bootstrap(), draws = 9), "unsupported"),
    "Resamples only repeat the 2 values: intervals lie within their range")
  expect_null(said_of(predictive_resample(sample_of(10), bayesian_bootstrap(), draws = 9), "unsupported"))
  below <- c(-1, 2, 3.5, 4)
  for (model in list(bayesian_bootstrap(), copula_density(), normal_mean(), pitman_yor(1, base = qexp))) {
    expect_error(predictive_resample(below, model, functional = "gini", draws = 5), "values of at least 0, not -1",
      class = "warpbayes_error_input")
  }
  expect_error(predictive_resample(cbind(below, 1:4), copula_density(), 5, functional = "gini", draws = 5), "not -1",
    class = "warpbayes_error_input")
})
