# The mean function beneath the copulas of a regression, and the log odds beneath those of a classification.

few <- data.frame(y = c(2, 1, 4, 3, 6, 5, 9, 4), a = c(1, 3, 2, 5, 4, 9, 7, 6))
few$class <- few$a %in% c(3, 4, 9, 7)
sd_n <- function(y) sqrt(mean((y - mean(y))^2))

test_that("the copulas of a regression start from the mean function, and agree with plain R", {
  fit <- predictive_resample(few, copula_regression(y ~ a, few[2:3, ], c(1, 5), 0.7, 0.6, permutations = 0,
    mean = "linear"), 3, 2, seed = 6)
  line <- lm(y ~ a, few)
  spread <- sd_n(residuals(line))
  expect_equal(fit$trend$slopes * sd_n(few$y) / sd_n(few$a), coef(line)[["a"]], ignore_attr = TRUE)
  x <- matrix(standardised(few$a))
  points_x <- x[rep(2:3, each = 2), , drop = FALSE]
  level <- rep(fitted(line)[2:3], each = 2)
  left <- (rep(c(1, 5), 2) - level) / spread
  expected <- reference_copula(matrix(standardised(residuals(line))), 0.7, matrix(left), x, 0.6, points_x)
  expect_equal(fit$cdf0, expected$u[, 1], tolerance = 1e-10)
  expect_equal(fit$density0, expected$p[, 1] / spread, tolerance = 1e-10)
  expect_equal(fit$score, mean(expected$score) - log(spread / sd_n(few$y)), tolerance = 1e-10)
  # A resample starts from another slope, about the centre where it is not correlated with the mean, and then takes
  # steps with less weight.
  slope <- fit$trend$drawn[2, 1] * sd_n(few$y) / spread
  common <- lm(residuals(line) ~ 0 + I(x * residuals(line) / (1 - hatvalues(line))))
  departure <- slope * (points_x[, 1] + coef(common)[[1]])
  now <- reference_copula(matrix(standardised(residuals(line))), 0.7, matrix(left - departure), x, 0.6, points_x)
  words <- reference_philox(key_words(.Call(C_chain_key, 6, 0L)), 0, 0:7, 162 * 65536, 1)
  weights <- -log((words[, 1:2] %*% c(0, 2^20) + words[, 1] %/% 2^12 + 0.5) / 2^52)
  rows <- findInterval(reference_step_uniforms(6, 161, 1, 3) * sum(weights), cumsum(weights)) + 1
  z <- qnorm(reference_step_uniforms(6, 160, 1, 3))
  most <- sqrt(1.21 - summary(common)$r.squared) / 0.7
  for (t in 1:3) {
    alpha <- min(2 - 1 / (8 + t), most) / (9 + t)
    now <- reference_update(now$u, now$p, z[[t]], reference_weight(alpha, points_x, x[rows[[t]], ], 0.6), 0.7)
  }
  expect_equal(fit$cdf[2, ], now$u[, 1], tolerance = 1e-10)
  expect_equal(fit$density[2, ], now$p[, 1] / spread, tolerance = 1e-10)
  again <- predict(fit, transform(few[2:3, ], y = 5), "density", 1)
  expect_identical(again$upper, apply(fit$density[, c(2, 4)], 2, max))
  expect_equal(unname(as.matrix(predict(fit, few[2:3, ], level = 1))),
    cbind(fit$mean0, apply(fit$draws, 2, min), apply(fit$draws, 2, max)), ignore_attr = TRUE)
})

test_that("classes start from their log odds, and agree with plain R", {
  fit <- predictive_resample(few, copula_classification(class ~ a, few[2:3, ], 0.7, 0.6, permutations = 0,
    mean = "linear"), 0, 3, seed = 6)
  x <- matrix(standardised(few$a))
  # The posterior mode under a normal prior of the slope.
  loss <- function(b) -sum(dbinom(few$class, 1, plogis(b[[1]] + b[[2]] * x), TRUE)) + b[[2]]^2 / 2 / slope_deviation^2
  mode <- optim(c(0, 0), loss, method = "BFGS", control = list(reltol = 1e-15))$par
  expect_equal(c(fit$trend$level, fit$trend$slopes), mode, tolerance = 1e-4, ignore_attr = TRUE)
  odds <- fit$trend$level + fit$trend$slopes * x[, 1]
  expected <- function(shift) {
    reference_binary(few$class, x, 0.7, 0.6, x[2:3, , drop = FALSE], plogis(odds), plogis(odds[2:3] + shift))
  }
  expect_equal(fit$probability0, expected(0)$q, tolerance = 1e-10)
  expect_equal(fit$score, mean(expected(0)$score), tolerance = 1e-10)
  drawn <- fit$trend$drawn[3, ]
  expect_equal(fit$probability[3, ], expected(drawn[[1]] + drawn[[2]] * x[2:3, 1])$q, tolerance = 1e-10)
  longer <- continue(fit, 3)
  expect_identical(longer$probability, predictive_resample(few, fit$model, 3, 3, seed = 6)$probability)
})

test_that("slopes of resamples have the deviations of their estimates", {
  skip_where_repeated()
  set.seed(1)
  frame <- data.frame(x = rexp(60), z = rnorm(60))
  frame$y <- frame$x - frame$z + rnorm(60) * (0.2 + frame$x)
  draws <- 2000
  slopes <- function(model) {
    fit <- predictive_resample(frame, model, 0, draws, seed = 2, threads = 2)
    list(fit = fit, sd = apply(fit$trend$drawn, 2, sd))
  }
  # HC3, by the definition.
  line <- lm(y ~ x + z, frame)
  x <- model.matrix(line)
  bread <- solve(crossprod(x))
  hc3 <- bread %*% crossprod(x * residuals(line) / (1 - hatvalues(line))) %*% bread
  found <- slopes(copula_regression(y ~ x + z, frame[1:2, ], 0, 0.7, 0.5, permutations = 1, mean = "linear"))
  # 2,000 draws: the standard error of a deviation is below 2.5% with exponential weights; false alarms below 1e-6. The
  # weights have the variance 1/(1 + 1/n).
  expect_equal(found$sd * sd_n(frame$y) / c(sd_n(frame$x), sd_n(frame$z)), sqrt(diag(hc3))[2:3], tolerance = 0.12,
    ignore_attr = TRUE)
  frame$class <- frame$y > 0
  glm <- glm(class ~ x + z, binomial, frame)
  found <- slopes(copula_classification(class ~ x + z, frame[1:2, ], 0.01, 0.5, permutations = 1, mean = "linear"))
  odds <- qlogis(found$fit$probability)
  expect_equal(apply(odds, 2, sd), predict(glm, frame[1:2, ], se.fit = TRUE)$se.fit, tolerance = 0.25,
    ignore_attr = TRUE)
  expect_equal(colMeans(odds), predict(glm, frame[1:2, ]), tolerance = 0.25, ignore_attr = TRUE)
})

test_that("curves span natural cubic splines", {
  x <- cbind(qnorm(sample_of(40)), rep(0:1, 20), sample_of(40)^3)
  knots <- mean_knots(list(design = list(data = x)), "smooth")
  expect_identical(lengths(knots[[3]]), c(9L, 0L, 9L))
  bent <- with_curves(x, knots[[1]])
  for (j in c(1, 3)) {
    y <- stats::splinefun(knots[[1]][[j]], c(2, -1, 3, 1), "natural")(x[, j])
    expect_equal(fitted(lm(y ~ bent)), y, tolerance = 1e-8, ignore_attr = TRUE)
  }
  expect_equal(ncol(bent), 7)
})

test_that("the data choose the mean function, in any unit, and the words say which", {
  skip_where_repeated()
  x <- seq(-3, 3, length.out = 40)
  set.seed(3)
  noise <- rnorm(40)
  quick <- function(y, rho = 0.7, ...) {
    frame <- data.frame(x = x, y = y)
    model <- if (is.logical(y)) copula_classification else copula_regression
    predictive_resample(frame, model(y ~ x, data.frame(x = 2), rho = rho, rho_x = 0.5, permutations = 1, ...), 5, 10,
      seed = 1, threads = 2)
  }
  said <- function(...) said_of(quick(...), "covariates")
  expect_match(said(10 * x + noise), "^The covariates raise the score .* a mean by straight lines, with 1 slope; with")
  expect_match(said(3 * sin(x) + noise), "natural cubic splines, with [358] slopes; without this .* lower by 0\\.")
  expect_no_match(said(3 * sin(x) + noise), "hardly speak")
  expect_match(said(noise), "hardly speak for a dependence")
  expect_match(said(x + 2 * noise > 0), "Beneath the copulas lie log odds by straight lines, with 1 slope; without")
  expect_match(said(x^2 + noise / 2 < 3), "log odds by natural cubic splines")
  expect_no_match(said(x + noise, mean = "none"), "Beneath")
  expect_no_match(said(x + noise, calibrate = FALSE), "Beneath")
  expect_match(said(x^2 + noise, mean = ~ I(x^2)), "a mean by ~I\\(x\\^2\\), with 1 slope\\.$")
  for (rho in c(0.01, 0.3)) {
    fit <- quick(x + 2 * noise > 0, rho, mean = "linear")
    said <- paste(said_of(fit, "bandwidth"))
    expect_identical(grepl("add little to the log odds, and", said), if (rho < 0.1) TRUE else logical())
  }
  # Separated classes have finite odds.
  expect_true(all(is.finite(qlogis(quick(x > 0.5)$probability))))
  wide <- data.frame(y = noise[1:12], matrix(sin(1:48), 12))
  words <- said_of(predictive_resample(wide, copula_regression(y ~ ., rho = 0.7, rho_x = 0.5, permutations = 1), 5, 3,
    seed = 1), "covariates")
  expect_match(words, "fewer than five observations for each of the 4 columns of covariates: no mean function")
  y <- 3 * sin(x) + noise
  expect_equal(quick(1000 * y + 7)$draws, 1000 * quick(y)$draws + 7, tolerance = 1e-8)
  # The width of a straight line's interval, which was 4.5 to 5.6 times too wide.
  frame <- data.frame(x = x, y = 10 * x + noise)
  fit <- predictive_resample(frame, copula_regression(y ~ x, data.frame(x = c(-2, 0, 2)), 0:1, permutations = 2), 300,
    300, seed = 1,
    threads = 2)
  exact <- predict(lm(y ~ x, frame), fit$points, se.fit = TRUE)$se.fit
  width <- apply(fit$draws, 2, sd) / exact
  expect_true(all(width > 0.8 & width < 1.35))
})

test_that("summary() says where a mean function is too smooth, and only there", {
  skip_where_repeated()
  x <- 6 * sample_of(60) - 3
  noise <- qnorm(sample_of(60)[order(cos(11 * seq_len(60)))])
  said <- function(y, x. = x, ...) {
    model <- copula_regression(y ~ x, data.frame(x = x.[[1]]), 0, 0.7, 0.5, permutations = 1, ...)
    found <- summary(predictive_resample(data.frame(x = x., y = y), model, 2000, 3, seed = 1, threads = 2))
    said <- said_of(found, "unsupported")
    if (!is.null(said)) expect_identical(verdict(found)$answer, "usable with reservations")
    paste(said)
  }
  step <- 3 * (x > 0.4) + noise
  peak <- 8 * exp(-12 * x^2) + noise / 2
  # Where nothing must be said: a line, a sine, a square, noise alone, skewed noise.
  for (y in list(10 * x + noise, 3 * sin(x) + noise, x^2 + noise, noise, x + exp(noise))) {
    expect_identical(said(y), character())
  }
  # Values lie on both sides of 0.4, 0.1 apart.
  expect_match(said(step), "^A jump of the mean at x = 0\\.[345] would raise the penalised log likelihood by [0-9]")
  expect_match(said(100 * step - 7, 2003 + x), "at x = 2003\\.[345] would")
  expect_match(said(peak),
    "The curve of x has the most knots that are tried, 13, about 0\\.4[0-9]* apart\\. Narrow peaks")
  expect_identical(said(step, mean = "none"), character())
})

test_that("mean functions that do not fit are refused", {
  expect_input <- function(call, pattern) expect_error(call, pattern, class = "warpbayes_error_input")
  expect_input(copula_regression(y ~ x, mean = y ~ x), "`mean` must be a formula without a response")
  expect_input(copula_classification(y ~ x, mean = "cubic"), "`mean`")
  quick <- function(mean, data = few, ...) {
    predictive_resample(data, copula_regression(y ~ a, ..., mean = mean), 1, 2, seed = 1, threads = 2)
  }
  expect_input(quick(~ class), "has \"class\", which is no covariate")
  expect_input(quick(~ b), "cannot be evaluated with `y`")
  expect_input(quick(~ 1), "has no covariates")
  expect_input(quick(~ a + offset(a)), "but this model has no offsets")
  expect_input(quick("linear", transform(few, y = 2 * a)), "leaves nothing of the response")
  expect_input(quick("smooth", few[1:5, ]), "slopes that the data do not determine")
  expect_input(quick(~ log(a), points = data.frame(a = 0)), "infinite value in row 1 of \"log\\(a\\)\"")
})

test_that("the deviation of a regression's mean is that of errors whose variance differs", {
  skip_where_repeated()
  x <- 2 * sample_of(100)
  frame <- data.frame(x = x, y = 1 + x + (0.2 + x) * qnorm(sample_of(100)[order(cos(7 * seq_len(100)))]))
  at <- data.frame(x = c(0, 0.5, 1, 1.5, 2))
  fit <- predictive_resample(frame, copula_regression(y ~ x, at, 0:1, 0.7, 0.7, permutations = 1, mean = "linear"), 0,
    1000, seed = 1, threads = 2)
  line <- lm(y ~ x, frame)
  design <- cbind(1, at$x)
  influence <- cbind(1, x) * residuals(line) / (1 - hatvalues(line))
  inverse <- summary(line)$cov.unscaled
  exact <- sqrt(rowSums((design %*% inverse %*% crossprod(influence) %*% inverse) * design))
  # Horizon 0 has the part that comes with the slopes; the steps give the rest of the level's variance.
  steps <- (most_of(fit) * fit$rho)^2 * mean(residuals(line)^2) / 100
  expect_equal(sqrt(apply(fit$draws, 2, var) + steps) / exact, rep(1.05, 5), tolerance = 0.12, ignore_attr = TRUE)
})

test_that("products of covariates join the mean function where they raise the score, for responses and classes", {
  skip_where_repeated()
  u <- qnorm(sample_of(60))
  orders <- apply(matrix(rpolyagamma(120, 1, seed = 4), 60), 2, order)
  rows <- data.frame(x = u, z = u[orders[, 1]])
  noise <- u[orders[, 2]]
  rows$y <- rows$x * rows$z + 0.5 * noise
  rows$class <- rows$x * rows$z + 0.2 * noise > 0
  new <- data.frame(x = c(1, -1), z = 1)
  fit <- function(formula, model = copula_regression) {
    predictive_resample(rows, model(formula, new), 50, 60, seed = 1, threads = 2)
  }
  product <- fit(y ~ x + z)
  expect_identical(product$trend$pairs, cbind(1L, 2L))
  expect_match(said_of(product, "covariates"), "straight lines and x \\* z, with 3 slopes")
  expect_null(said_of(product, "data"))
  expect_lt(max(abs(colMeans(product$draws) - c(1, -1))), 0.4)
  classes <- fit(class ~ x + z, copula_classification)
  expect_identical(classes$trend$pairs, cbind(1L, 2L))
  expect_gt(diff(rev(colMeans(classes$draws))), 0.5)
  rows$y <- rows$x - rows$z + noise
  expect_null(fit(y ~ x + z)$trend$pairs)
})

test_that("far beyond the covariates bands grow as the slopes of resamples do, and the place is named", {
  skip_where_repeated()
  x <- qnorm(ppoints(60))
  rows <- data.frame(x = x, y = sin(2 * x) + 0.5 * qnorm(sample_of(60)))
  new <- data.frame(x = c(0, 2, 40, 80))
  fit <- predictive_resample(rows, copula_regression(y ~ x, new, mean = "smooth"), 30, 100, seed = 1, threads = 2)
  width <- apply(fit$draws, 2, function(draws) diff(quantile(draws, c(0.05, 0.95))))
  expect_equal(unname(width[[4]] / width[[3]]), 2, tolerance = 0.1)
  expect_match(said_of(fit, "covariates"), paste0("2 of the points lie outside of the covariates of the ",
    "data \\(row 3, 4: x = 40, in the data -2.394 to 2.394\\)"))
  # predict() repeats the resamples.
  found <- predict(fit, new, threads = 2)
  expect_match(said_of(found, "covariates"), "\\(row 3, 4: x = 40, in the data")
  expect_null(said_of(predict(fit, new[1:2, , drop = FALSE], threads = 2), "covariates_beyond"))
  expect_equal(found$upper - found$lower, unname(width), tolerance = 1e-8)
  # Without a slope that raises the score, the points beyond still have one.
  rows$y <- qnorm(sample_of(60))
  level <- predictive_resample(rows, copula_regression(y ~ x, new[c(1, 3, 4), , drop = FALSE]), 30, 100, seed = 1,
    threads = 2)
  expect_gt(sd(level$draws[, 3]) / sd(level$draws[, 1]), 10)
  expect_error(predict(fit, new[0, , drop = FALSE]), "has no rows", class = "warpbayes_error_input")
})
