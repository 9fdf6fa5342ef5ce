# K-fold cross-validation.
skip_where_repeated()

set.seed(11)
people <- data.frame(x = rnorm(90), g = gl(9, 10))
people$y <- rbinom(90, 1, plogis(people$x + rnorm(9)[people$g]))
people$k <- rpois(90, 2)
people$x[c(4, 50)] <- NA
few <- function(formula, iter = 100, ...) {
  bayes_logit(formula, data = people, chains = 2, iter = iter, seed = 1, threads = 1, progress = FALSE, ...)
}
input <- "warpbayes_error_input"

test_that("each fold is predicted by a fit to the other rows", {
  skip_if_not_installed("loo")
  fit <- bayes_logit(y ~ scale(x) + (1 | g), people, subset = x < 2, chains = 2, iter = 400, seed = 1, threads = 1,
    progress = FALSE)
  folded <- loo::kfold(fit, K = 3, seed = 1)
  folds <- attr(folded, "folds")
  expect_lte(diff(range(table(folds))), 1)
  own <- people[match(rownames(fit$frame), rownames(people)), ]
  # Another design, as `x` is scaled by the other rows alone, and other draws: the difference is 0.03 with these seeds.
  # A fit that had seen the rows would predict them better by p_kfold.
  by_hand <- vapply(1:3, function(fold) {
    others <- update(fit, data = own[folds != fold, ])
    sum(log(colMeans(exp(log_lik(others, own[folds == fold, ])))))
  }, 0)
  expect_lt(abs(sum(by_hand) - folded$elpd_kfold), 0.5)
  expect_gt(folded$p_kfold, 4)
  # What a fit with weights 0 says of these rows.
  own$w <- as.numeric(folds != 1)
  rows <- which(folds == 1)
  weighted <- bayes_logit(y ~ scale(x) + (1 | g), own, chains = 2, iter = 400, seed = 1, threads = 1, weights = w,
    progress = FALSE)
  weighted$weights[] <- 1
  in_fold <- log(colMeans(exp(log_lik(weighted))))[rows]
  expect_equal(folded$pointwise[rows, "elpd_kfold"], in_fold, tolerance = 0.02, ignore_attr = TRUE)
  expect_output(print(folded), "Based on 3-fold cross-validation")
  null <- update(fit, . ~ scale(x))
  compared <- loo::loo_compare(folded, loo::kfold(null, folds = folds))
  expect_identical(dim(compared)[[1L]], 2L)
})

test_that("groups are left out together, and their sums are the points", {
  skip_if_not_installed("loo")
  fit <- few(y ~ x + (1 | g))
  folded <- loo::kfold(fit, K = 20, group = "g")
  expect_identical(dim(folded$pointwise), c(9L, 3L))
  expect_identical(attr(folded, "K"), 9L)
  folds <- attr(folded, "folds")
  expect_true(all(tapply(folds, fit$frame$g, function(own) length(unique(own))) == 1))
  expect_equal(folded$se_elpd_kfold, sqrt(9) * sd(folded$pointwise[, 1]))
  # The same folds without groups: the same rows.
  by_row <- loo::kfold(fit, folds = folds)
  expect_equal(by_row$elpd_kfold, folded$elpd_kfold)
  expect_equal(unname(rowsum(by_row$pointwise, fit$frame$g)), unname(folded$pointwise))
  expect_identical(attr(loo::kfold(fit, K = 2, group = people$g[-c(4, 50)], seed = 4), "K"), 2L)
})

test_that("rows without weight have no part, and other families and weights are as in loo()", {
  skip_if_not_installed("loo")
  w <- rep(c(0, 1, 2), 30)
  fit <- few(k ~ x, family = "poisson", weights = w)
  folded <- loo::kfold(fit, K = 2, seed = 1)
  expect_identical(nrow(folded$pointwise), sum(fit$weights > 0))
  single <- few(k ~ x, family = "poisson", weights = (w > 0) + 0)
  expect_lt(folded$elpd_kfold, loo::kfold(single, K = 2, seed = 1)$elpd_kfold)
  expect_true(all(is.finite(loo::kfold(few(factor(k > 2) ~ x, family = "multinomial"), K = 2, seed = 1)$pointwise)))
})

test_that("what cannot be folded is an error that says why", {
  skip_if_not_installed("loo")
  fit <- few(y ~ x)
  expect_error(loo::kfold(fit, K = 1), "`K` must be one whole number from 2", class = input)
  expect_error(loo::kfold(fit, group = "house"), "no variable of the data", class = input)
  expect_error(loo::kfold(fit, group = 1:3), "a value for each of the 88 rows", class = input)
  expect_error(loo::kfold(fit, folds = rep(1, 88)), "at least two folds", class = input)
  expect_error(loo::kfold(fit, folds = 1:3), "one for each of the 88 rows", class = input)
  expect_error(loo::kfold(fit, group = "g", folds = rep(1:2, 44)), "divides a group", class = input)
  expect_error(loo::kfold(few(y ~ x, control = warp_control(prior_only = TRUE))), "prior alone", class = input)
  expect_error(loo::kfold(few(k ~ x, family = "poisson", zi = ~1), 2), "is a fit with `zi`", class = input)
  lost <- local({
    mine <- people
    bayes_logit(y ~ x, mine, chains = 1, iter = 40, seed = 1, threads = 1, progress = FALSE)
  })
  lost$call$data <- quote(gone_away)
  expect_error(loo::kfold(lost, 2), "data are not as they were", class = input)
})
