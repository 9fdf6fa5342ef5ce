# Package emmeans computes marginal means of fits from their draws.

skip_where_repeated()
skip_if_not_installed("emmeans")
skip_if_not_installed("coda")
set.seed(6)
d <- data.frame(x = rnorm(60, 2), f = gl(3, 1, 60, labels = c("u", "v", "w")), g = gl(6, 10), log_size = runif(60))
d$y <- rbinom(60, 1, plogis(d$x - 2))
d$n <- rnbinom(60, mu = exp(d$x / 2 + d$log_size), size = 3)
d$m <- factor(sample(c("a", "b", "c"), 60, TRUE))
fits <- function(formula, family, ...) {
  eval.parent(substitute(bayes_logit(formula, d, family, ..., chains = 2, iter = 60, seed = 1, threads = 1)))
}
draws_of <- function(grid) unname(tcrossprod(grid@post.beta, grid@linfct))

test_that("means are averages of predictions over the grid", {
  fit <- fits(y ~ poly(x, 2) * f + (1 | g), "binomial")
  new <- data.frame(x = 1, f = levels(d$f))
  linear <- unname(posterior_linpred.bayes_logit(fit, new, re_formula = NA))
  means <- emmeans::emmeans(fit, "f", at = list(x = 1))
  expect_equal(draws_of(means), linear, ignore_attr = TRUE)
  table <- summary(means, type = "response")
  expect_equal(table$prob, apply(plogis(linear), 2, median))
  expect_named(table, c("f", "prob", "lower.HPD", "upper.HPD"))

  fit <- fits(n ~ f + offset(log_size), "negbinomial")
  means <- emmeans::emmeans(fit, "f")
  linear <- posterior_linpred.bayes_logit(fit, data.frame(f = levels(d$f), log_size = mean(d$log_size)))
  shown <- summary(means, type = "response")$response
  expect_equal(shown, unname(apply(exp(linear), 2, median)))
})

test_that("means of a multinomial are probabilities of its classes", {
  fit <- fits(m ~ x + f, "multinomial")
  means <- emmeans::emmeans(fit, c("f", "m"), at = list(x = 1))
  new <- data.frame(x = 1, f = levels(d$f))
  probability <- posterior_epred.bayes_logit(fit, new)
  expect_equal(draws_of(means), matrix(probability, nrow(probability)))
  expect_identical(as.character(summary(means)$m), rep(c("a", "b", "c"), each = 3))
  latent <- emmeans::emmeans(fit, c("m", "f"), at = list(x = 1), mode = "latent")
  odds <- posterior_linpred.bayes_logit(fit, new[1, , drop = FALSE])[, 1, ]
  expect_equal(draws_of(latent)[, 2:3] - draws_of(latent)[, 1], odds, ignore_attr = TRUE)
  expect_equal(rowSums(draws_of(latent)[, 1:3]), numeric(60))
})

test_that("fits without a grid are errors", {
  more <- Matrix::Matrix(matrix(rbinom(120, 1, 0.5), 60), sparse = TRUE)
  fit <- fits(y ~ x, "binomial", control = warp_control(sparse = more))
  expect_error(emmeans::emmeans(fit, "x"), "has 4 coefficients, but its formula gives 2",
    class = "warpbayes_error_input")
  fit <- fits(m ~ x, "multinomial")
  fit$offset[[3]] <- 1
  expect_error(emmeans::emmeans(fit, "x"), "multinomial regression with offsets", class = "warpbayes_error_input")
})

test_that("cells that the data do not determine are not estimable", {
  skip_if_not_installed("emmeans")
  cells <- subset(expand.grid(a = c("1", "2"), b = c("p", "q", "r"), row = 1:6), !(a == "2" & b == "r"))
  cells$y <- rep(0:1, 15)
  fit <- bayes_logit(y ~ a * b, cells, chains = 1, iter = 60, seed = 1, threads = 1, progress = FALSE)
  table <- as.data.frame(emmeans::emmeans(fit, ~ a * b))
  expect_identical(is.na(table$emmean), table$a == "2" & table$b == "r")
  additive <- bayes_logit(y ~ a + b, cells, chains = 1, iter = 60, seed = 1, threads = 1, progress = FALSE)
  expect_false(anyNA(as.data.frame(emmeans::emmeans(additive, ~ a * b))$emmean))
})
