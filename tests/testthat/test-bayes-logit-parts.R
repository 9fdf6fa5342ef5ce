# Family objects, effects of groups, terms of predictions and explained variance.

set.seed(7)
people <- data.frame(g = rep(letters[1:6], 20), h = rep(1:4, each = 30), x = rnorm(120))
people$y <- rbinom(120, 1, plogis(people$x + rnorm(6)[factor(people$g)]))
people$k <- rnbinom(120, mu = exp(people$x), size = 3)
people$m <- factor(sample(c("u", "v", "w"), 120, TRUE))
few <- function(...) {
  bayes_logit(..., data = people, chains = 2, iter = 80, warmup = 20, seed = 1, threads = 1, progress = FALSE)
}
input <- "warpbayes_error_input"
fit <- few(y ~ x + (x | g) + (1 | h))

test_that("family() is a family object that can be used", {
  expect_identical(family(few(k ~ x, family = "poisson"))$linkinv(2), exp(2))
  counts <- few(k ~ x, family = "negbinomial")
  expect_equal(family(counts)$variance(4), 4 + 16 / median(counts$dispersion_trace[21:80, ]))
  expect_output(print(family(counts)), "negbinomial.*log")
  expect_identical(few(k ~ x, family = family(counts))$family, "negbinomial")
  expect_equal(family(fit)$linkinv(0.3), plogis(0.3))
  classes <- family(few(m ~ x, family = "multinomial"))
  linear <- matrix(c(0, 800, -1, 2), 2)
  expect_equal(rowSums(classes$linkinv(linear)), c(1, 1))
  expect_equal(classes$linkfun(classes$linkinv(linear[1, , drop = FALSE])), linear[1, , drop = FALSE])
})

test_that("re_formula keeps the terms that it names", {
  new <- data.frame(x = c(0, 1, 2), g = c("a", "b", "c"), h = 2)
  link <- function(re_formula, newdata = new) posterior_linpred.bayes_logit(fit, newdata, re_formula = re_formula)
  none <- link(NA)
  expect_equal(link(~0), none)
  effects <- function(name) t(matrix(fit$draws$effects[name, , ], length(name)))
  intercepts <- effects(sprintf("b[(Intercept) g:%s]", new$g))
  slopes <- effects(sprintf("b[x g:%s]", new$g)) * rep(new$x, each = 120)
  of_h <- effects(rep("b[(Intercept) h:2]", 3))
  same <- function(one, other) expect_equal(one, other, ignore_attr = TRUE)
  same(link(~ (1 | g)), none + intercepts)
  same(link(~ (0 + x | g)), none + slopes)
  same(link(~ (x | g)), none + intercepts + slopes)
  same(link(~ (x | g) + (1 | h)), link(NULL))
  # The data need not have groups that have no part.
  same(link(~ (1 | h), new[c("x", "h")]), none + of_h)
  expect_equal(unname(fitted(fit, re_formula = NA)), unname(predict(fit, people, re_formula = NA)[, "mean"]))
  expect_equal(unname(fitted(fit, re_formula = ~ (1 | h))),
    unname(predict(fit, people, re_formula = ~ (1 | h))[, "mean"]))
  expect_equal(dim(log_lik(fit, re_formula = ~ (1 | g))), c(120L, 120L))
  single <- few(y ~ x + (1 | g))
  expect_equal(predict(single, re_formula = ~ (1 | g)), predict(single))
  expect_error(link(~ (1 | z)), "has the term \"\\(1 \\| z\\)\", but the fit has \\(x \\| g\\) \\+ \\(1 \\| h\\)",
    class = input)
  expect_error(link(~ (k | g)), "has the term \"\\(k \\| g\\)\", which the fit does not have", class = input)
  expect_error(link(~x), "must have grouping terms alone", class = input)
  expect_error(link("g"), "must be NULL for predictions", class = input)
})

test_that("ranef() has intervals, and VarCorr() is lme4's table", {
  table <- ranef.bayes_logit(fit, prob = 0.5)
  expect_named(table, c("g", "h"))
  expect_identical(dim(table$g), c(12L, 6L))
  draws <- as.vector(fit$draws$effects["b[x g:b]", , ])
  row <- table$g[table$g$group == "b" & table$g$effect == "x", ]
  expect_equal(unlist(row[3:6]), c(mean = mean(draws), sd = sd(draws),
    lower = quantile(draws, 0.25, names = FALSE), upper = quantile(draws, 0.75, names = FALSE)))
  expect_equal(table$h$mean, ranef.bayes_logit(fit)$h[[1]])
  expect_error(ranef.bayes_logit(fit, prob = 2), "`prob`", class = input)
  covariances <- VarCorr.bayes_logit(fit)
  expect_output(print(covariances), "Groups +Name +Std.Dev. +Corr.*g +\\(Intercept\\).*h +\\(Intercept\\)")
  frame <- as.data.frame(covariances)
  expect_identical(frame$grp, c("g", "g", "g", "h"))
  expect_equal(frame$vcov[[3]], covariances$g[2, 1])
  expect_equal(frame$sdcor[[1]]^2, frame$vcov[[1]])
  expect_equal(attr(covariances$g, "correlation")[2, 1], frame$sdcor[[3]])
})

test_that("bayes_R2() is the share of variance of the means, with residuals of the data", {
  share <- bayes_R2.bayes_logit(fit)
  mean <- posterior_epred.bayes_logit(fit)
  by_hand <- apply(mean, 1, function(m) var(m) / (var(m) + var(people$y - m)))
  expect_equal(share, by_hand)
  expect_lt(mean(bayes_R2.bayes_logit(fit, re_formula = NA)), mean(share))
  expect_length(bayes_R2.bayes_logit(fit, ndraws = 7), 7L)
  expect_error(bayes_R2.bayes_logit(few(m ~ x, family = "multinomial")), "multinomial", class = input)
})

test_that("tidy() has the effects that are asked for", {
  skip_where_repeated()
  table <- tidy.bayes_logit(fit, effects = c("fixed", "ran_pars", "ran_vals"))
  expect_identical(table$effect, rep(c("fixed", "ran_pars", "ran_vals"), c(2, 4, 16)))
  expect_identical(table$group[c(1, 3:6, 7, 19)], c(NA, "g", "g", "h", "g", "g", "h"))
  expect_identical(table$level[c(7:9, 22)], c("a", "a", "b", "4"))
  draws <- fit$draws$effects["b[x g:b]", , ]
  expect_identical(table$term[[10]], "b[x g:b]")
  expect_equal(table$estimate[[10]], mean(draws))
  expect_identical(tidy.bayes_logit(fit)$term, table$term[1:6])
  expect_identical(tidy.bayes_logit(few(k ~ x + (1 | g), family = "poisson"), effects = "ran_vals")$level, letters[1:6])
  expect_error(tidy.bayes_logit(fit, effects = "random"), "must be among \"fixed\"", class = input)
  expect_error(tidy.bayes_logit(few(y ~ x), effects = "ran_vals"), "has no grouping terms", class = input)
  expect_error(tidy.bayes_logit(few(y ~ x), effects = "ran_pars"), "no grouping terms and no smooths",
    class = input)
  expect_identical(tidy.bayes_logit(few(y ~ x + rw(h)), effects = "ran_pars")$term, "sd(rw(h))")
})

test_that("errors of predictions and the explained variance of left-out rows are as by hand", {
  skip_where_repeated()
  error <- predictive_error.bayes_logit(fit, seed = 3)
  expect_equal(error, rep(people$y, each = 120) - posterior_predict.bayes_logit(fit, seed = 3), ignore_attr = TRUE)
  expect_identical(dim(predictive_error.bayes_logit(fit, people[1:3, ], ndraws = 4)), c(4L, 3L))
  share <- loo_R2.bayes_logit(fit, ndraws = 500, seed = 1)
  expect_identical(loo_R2.bayes_logit(fit, ndraws = 500, seed = 1), share)
  left_out <- left_out_means(fit)[, 1]
  expect_equal(median(share), 1 - var(people$y - left_out) / var(people$y), tolerance = 0.1)
  expect_lt(mean(share), mean(bayes_R2.bayes_logit(fit)))
  classes <- few(m ~ x, family = "multinomial")
  expect_error(predictive_error.bayes_logit(classes), "classes have no errors", class = input)
  expect_error(loo_R2.bayes_logit(classes), "classes have no variance", class = input)
  expect_error(loo_R2.bayes_logit(few(y ~ x, control = warp_control(prior_only = TRUE))), "draws from the prior",
    class = input)
})
