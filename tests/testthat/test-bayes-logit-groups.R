# Regressions with grouping terms (x | g). See helper-regression.R for the test of joint laws.

term_toys <- list(
  one = regression_toy(terms = "one"), slopes = regression_toy(terms = "slopes"),
  independent = regression_toy(terms = "independent"), crossed = regression_toy(terms = "crossed"),
  nested = regression_toy(terms = "nested", moves = 0), both = regression_toy(terms = "both", moves = 1),
  "negative binomial, slopes" = regression_toy("negbinomial", terms = "slopes", moves = 0),
  "negative binomial, both, moves" = regression_toy("negbinomial", terms = "both", moves = 1),
  "horseshoe, crossed" = regression_toy(prior = "horseshoe", terms = "crossed"),
  "multinomial, slopes" = regression_toy("multinomial", terms = "slopes", offset = TRUE),
  "multinomial, nested" = regression_toy("multinomial", terms = "nested", trials = 5, moves = 0),
  "multinomial, both, moves" = regression_toy("multinomial", terms = "both", moves = 1),
  "Poisson, slopes" = regression_toy("poisson", terms = "slopes", moves = 0),
  "Poisson, independent" = regression_toy("poisson", terms = "independent", moves = 0, offset = TRUE),
  "Poisson, nested" = regression_toy("poisson", terms = "nested", moves = 0),
  "Poisson, both, moves" = regression_toy("poisson", terms = "both", moves = 1)
)
term_replicates <- if (extended()) 20000 else 400

test_that("sweeps with grouping terms leave the joint law of parameters and responses invariant", {
  skip_where_repeated()
  expect_joint_laws(term_toys, if (resolve_run()$backend != "cpu") 40 else term_replicates)
})

test_that("the comparison of joint laws finds planted errors in grouping terms", {
  skip_if(!extended(), "a test of the test")
  skip_if(resolve_run()$backend != "cpu", "many sweeps")
  wrong <- function(name, error, sweeps = 15, trials = 2, replicates = 1000) {
    toy <- term_toys[[name]]
    toy$trials <- trials
    planted_distance(toy, error, sweeps, replicates)
  }
  expect_gt(wrong("one", "group", 40), 1)
  expect_gt(wrong("slopes", "group", 40), 1)
  expect_gt(wrong("slopes", "independent", 40), 1)
  expect_gt(wrong("crossed", "kappa"), 1)
  expect_gt(wrong("nested", "parent", 30, trials = 30), 1)
  expect_gt(wrong("Poisson, slopes", "surrogate", replicates = 500), 1)
  expect_gt(wrong("Poisson, slopes", "group", 40), 1)
  # Only the moves read the counts' own part of the likelihood.
  expect_gt(wrong("negative binomial, both, moves", "counts", replicates = 500), 1)
  expect_gt(wrong("multinomial, slopes", "group", 20, replicates = 500), 1)
  expect_gt(wrong("multinomial, slopes", "offset", replicates = 500), 1)
})

set.seed(5)
people <- data.frame(g = rep(letters[1:8], each = 12), h = rep(1:4, 24), x = rnorm(96), f = rep(c("u", "v", "w"), 32))
people$y <- rbinom(96, 1, plogis(people$x / 2 + rnorm(8)[factor(people$g)] + rnorm(4)[people$h]))
people$n <- rnbinom(96, mu = exp(1 + people$x / 2 + rnorm(8)[factor(people$g)] / 2), size = 3)
quick <- function(formula, data = people, ...) {
  eval(substitute(bayes_logit(formula, data, ...,
    chains = 2, iter = 40, warmup = 20, seed = 1, threads = 2, progress = FALSE
  )), parent.frame())
}
input <- "warpbayes_error_input"

test_that("grouping terms are read as lme4 reads them", {
  names <- function(formula) dimnames(logit_draws(quick(formula)))[[3]][-1]
  expect_identical(names(y ~ 1 + (1 | g)), "sd(g)")
  expect_identical(names(y ~ 1 + (1 || g)), "sd(g)")
  expect_identical(names(y ~ (x | g)), c("sd(g)", "sd(x | g)", "cor((Intercept), x | g)"))
  expect_identical(names(y ~ (x || g)), c("sd(g)", "sd(x | g)"))
  expect_identical(names(y ~ (1 | g) + (1 | h)), c("sd(g)", "sd(h)"))
  expect_identical(names(y ~ (1 | g / h)), c("sd(h:g)", "sd(g)"))
  expect_identical(names(y ~ (1 | g / h / f)), c("sd(f:h:g)", "sd(h:g)", "sd(g)"))
  expect_identical(names(y ~ (1 | g:h)), "sd(g:h)")
  expect_identical(names(y ~ (0 + x | g) + (1 | h)), c("sd(x | g)", "sd(h)"))
  expect_identical(names(y ~ (x - 1 | g) + (1 | g)), c("sd(x | g)", "sd(g)"))
  expect_length(names(y ~ (f | g)), 6)
  fit <- quick(y ~ x + (x | g) + (1 | h:f))
  expect_identical(dim(fit$draws$effects), c(28L, 20L, 2L))
  expect_identical(rownames(fit$draws$effects)[c(1:3, 17)], c("b[(Intercept) g:a]", "b[x g:a]", "b[(Intercept) g:b]",
    "b[(Intercept) h:f:1:u]"))
  expect_output(print(fit), "96 rows in 8 groups of g and 12 of h:f", fixed = TRUE)
  expect_output(print(summary(fit)), "half-t with 2 degrees of freedom, scale 2.5, divided by", width = 200)
  expect_output(print(summary(fit)), "independent effects of groups: half-Cauchy of scale 2.5", width = 200)
})

test_that("grouping terms that cannot be fitted are errors", {
  expect_error(quick(y ~ x | g), "written in parentheses and added", class = input)
  expect_error(quick(y ~ (1 | g + h)), "groupings are added one by one", class = input)
  expect_error(quick(y ~ (1 | g) * x), "written in parentheses and added", class = input)
  expect_error(quick(y ~ (1 | g | h)), "with more than one \\|", class = input)
  expect_error(quick(y ~ (1 | g) + (x | g)), "two terms with the effect \"\\(Intercept\\) \\| g\"", class = input)
  expect_error(quick(y ~ (0 | g)), "with 0 effects; 1 to 16 are known", class = input)
  expect_error(quick(y ~ (1 | nowhere)), "cannot be evaluated", class = input)
  expect_error(quick(y ~ (I(x / 0) | g)), "has the value -?Inf of \"I\\(x/0\\)\"", class = input)
  holes <- people
  holes$g[3] <- NA
  expect_error(quick(y ~ (x | g), holes, na.action = na.pass), "no value of the grouping \"g\" in row 3", class = input)
  expect_identical(quick(y ~ (x | g), holes)$rows, 95L)
})

test_that("predictions add the effects of known levels and draw those of new ones", {
  fit <- quick(y ~ poly(x, 2) + (poly(x, 2) | g) + (f || h) + offset(x / 5))
  expect_equal(predict(fit, people[5:9, ]), predict(fit)[5:9, ], tolerance = 1e-12)
  fit <- quick(n ~ x + (x | g) + (1 | h), family = "negbinomial")
  linear <- coefficient_draws(fit) %*% c(1, 0.7)
  b <- matrix(fit$draws$effects, dim(fit$draws$effects)[[1L]], dimnames = list(rownames(fit$draws$effects), NULL))
  linear <- linear + b["b[(Intercept) g:c]", ] + 0.7 * b["b[x g:c]", ] + b["b[(Intercept) h:2]", ]
  expect_equal(predict(fit, data.frame(x = 0.7, g = "c", h = 2), "link")[[1, "mean"]], mean(linear), tolerance = 1e-12)
  # Rows of one new level share its effects; a row without a level has no prediction.
  set.seed(1)
  new <- predict(fit, data.frame(x = c(1, 1, 1, 1), g = c("new", "new", "c", NA), h = 1), "link")
  expect_identical(new[1, ], new[2, ])
  expect_gt(new[1, "sd"], new[3, "sd"])
  expect_true(all(is.na(new[4, ])))
  expect_error(predict(fit, data.frame(x = 1, g = "c")), "lacks the groups \"h\"", class = input)
  expect_error(predict(fit, data.frame(g = "c", h = 1)), "lacks \"x\"", class = input)
})

test_that("new levels have the law of the groups", {
  fit <- quick(y ~ x + (x | g) + (1 | h))
  fit$group_deviation[] <- rep(c(0.5, 2, 1), each = 80)
  fit$group_correlation[] <- 0.8
  covariances <- covariance_draws(fit)
  expect_equal(unname(covariances[[1]][, , 3]), matrix(c(0.25, 0.8, 0.8, 4), 2))
  expect_equal(dim(covariances[[2]]), c(1, 1, 40))
  set.seed(1)
  drawn <- new_effects(covariances[[1]], 500)
  # 20,000 draws: six standard errors of a variance or covariance are at most 0.06 times the product of deviations.
  expect_lt(abs(var(as.vector(drawn[[1]])) - 0.25), 0.06 * 0.25)
  expect_lt(abs(var(as.vector(drawn[[2]])) - 4), 0.06 * 4)
  expect_lt(abs(cov(as.vector(drawn[[1]]), as.vector(drawn[[2]])) - 0.8), 0.06)
  singular <- matrix(c(1, 2, 2, 4), 2)
  root <- covariance_root(singular)
  expect_equal(tcrossprod(root), singular, tolerance = 1e-12)
})

test_that("fits with grouping terms go on, resume and are drawn in other packages' forms", {
  whole <- quick(y ~ x + (x | g) + (1 | g:h))
  half <- bayes_logit(y ~ x + (x | g) + (1 | g:h), people,
    chains = 2, iter = 25, warmup = 20, seed = 1, threads = 2, progress = FALSE
  )
  expect_identical(continue(half, 15)[c("coefficient_trace", "group_correlation", "draws")],
    whole[c("coefficient_trace", "group_correlation", "draws")])
  file <- tempfile(fileext = ".checkpoint")
  quick(y ~ x + (x | g) + (1 | g:h), control = warp_control(checkpoint = file))
  again <- resume(file, people)
  expect_identical(again$draws, whole$draws)
  skip_if_not_installed("posterior")
  draws <- posterior::as_draws_matrix(whole, groups = TRUE)
  expect_true(all(c("cor((Intercept), x | g)", "b[x g:a]", "b[(Intercept) g:h:a:1]") %in% colnames(draws)))
})

test_that("a model of too many effects has no moves", {
  d <- data.frame(y = rep(c(0, 0, 0, 1), 50), h = rep_len(1:65, 200), k = rep_len(1:66, 200), x = 1:4)
  fit <- quick(cbind(y, 1e5 - y) ~ (0 + x | h) + (0 + x | k), d)
  expect_length(fit$state[[1]]$ellipse, 2)
  expect_output(print(fit), "Polya-Gamma sweeps\n", fixed = TRUE)
  fit <- quick(cbind(y, 1e5 - y) ~ (0 + x | h) + (0 + x | k), transform(d, h = h %% 64))
  expect_identical(length(fit$state[[1]]$ellipse), as.integer(ellipse_size(1, c(64, 66), c(1, 1), FALSE)))
  expect_output(print(fit), "each followed by 3 elliptical slice moves")
})

test_that("posterior means of deviations and effects agree with quadrature", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "many sweeps")
  # Two crossed groupings of one level each: the sum of their effects is all that the data tell.
  d <- data.frame(y = c(1, 1, 0, 1, 1, 1, 1), g = 1, h = 1, x = 1)
  fit <- bayes_logit(y ~ 0 + x + (1 | g) + (0 + x | h), d,
    prior = logit_prior(scale = 0.5, autoscale = FALSE, group_scale = 1),
    chains = 2, iter = 3500, warmup = 500, seed = 1, threads = 1, progress = FALSE
  )
  # Effects of deviations s and t with a coefficient of deviation 0.5 sum to a normal of variance s^2 + t^2 + 0.25.
  at <- tan(pi / 2 * (seq_len(150) - 0.5) / 150)
  nodes <- seq(-8, 8, length.out = 201)
  likelihood <- function(variance) {
    vapply(variance, function(v) sum(dnorm(nodes) * plogis(sqrt(v) * nodes)^6 * plogis(-sqrt(v) * nodes)), 0)
  }
  weight <- outer(at, at, function(s, t) likelihood(s^2 + t^2 + 0.25))
  weight <- weight / sum(weight)
  cdf <- cumsum(rowSums(weight)) - rowSums(weight) / 2
  quartile <- approx(cdf, at, c(0.25, 0.5, 0.75), ties = "ordered")$y
  for (i in 1:2) {
    deviation <- fit$group_deviation[501:3500, , i]
    for (q in 1:3) {
      below <- (deviation <= quartile[[q]]) + 0
      error <- sd(below) / sqrt(effective_size(split_chains(below)))
      expect_lt(abs(mean(below) - q / 4) / error, 6)
    }
  }
})

test_that("a grouping variable may have any name, and what is printed fits the screen", {
  data <- data.frame(y = rep(0:1, 10), x = sin(1:20), g = rep(letters[1:4], each = 5))
  named <- stats::setNames(data, c("y", "x", "1-g"))
  fit <- function(formula, data) bayes_logit(formula, data, chains = 2, iter = 20, seed = 1, threads = 2)
  plain <- fit(y ~ x + (1 | g), data)
  odd <- fit(y ~ x + (1 | `1-g`), named)
  expect_identical(unname(predict(odd, named[3:7, ])), unname(predict(plain, data[3:7, ])))
  skip_if_not_installed("nlme")
  # The package is not among those suggested, so it is named by a string.
  effects_of <- getExportedValue("nlme", "ranef")
  expect_identical(unname(effects_of(odd)), unname(effects_of(plain)))
  expect_named(effects_of(odd), "1-g")
  expect_true(all(nchar(capture.output(print(odd))) <= getOption("width")))
})
