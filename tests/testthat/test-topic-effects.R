# topic_effects(): the regression by hand, its rows and words, and bad input.

input <- "warpbayes_error_input"

set.seed(11)
party <- rep(c("left", "right"), each = 30)
day <- rep(1:30, 2)
planted <- local({
  phi <- block_topics(3, 8)
  alpha <- rbind(c(0.6, 0.2, 0.2), c(0.2, 0.2, 0.6))
  theta <- t(vapply(party, function(one) rgamma(3, alpha[1L + (one == "right"), ]), numeric(3)))
  x <- t(vapply(1:60, function(d) as.double(rmultinom(1, 30, theta[d, ] %*% phi)), numeric(24)))
  dimnames(x) <- list(paste0("d", 1:60), paste0("w", 1:24))
  x
})
delayedAssign("fit", topic_model(planted, 3, iter = 60, seed = 1, threads = 2))

test_that("effects are weighted least squares of each draw", {
  skip_where_repeated()
  skip_on_sanitized_emulator()
  table <- topic_effects(fit, ~ party + day, ndraws = 30, level = 0.8, seed = 5)
  by_hand <- array(0, c(3, 3, 30))
  with_seed(5, each_theta(fit, effect_design(fit, ~ party + day, NULL), 30, resolve_run("cpu", 1),
    function(theta, draw) by_hand[, , draw] <<- coef(lm(theta ~ party + day, weights = rexp(60)))))
  expect_equal(table$estimate, as.vector(apply(by_hand, 1:2, mean)))
  expect_equal(table$se, as.vector(apply(by_hand, 1:2, sd)))
  expect_equal(table$lower, as.vector(apply(by_hand, 1:2, quantile, 0.1, type = 6)))
  expect_equal(table$upper, as.vector(apply(by_hand, 1:2, quantile, 0.9, type = 6)))
  expect_identical(table$term, rep(c("(Intercept)", "partyright", "day"), 3))
  # Shares sum to one, so effects sum to zero.
  expect_equal(sum(table$estimate[table$term == "partyright"]), 0)
  # Expected shares are rows of the design times coefficients, and a basis keeps its knots.
  at <- data.frame(party = c("right", "left"), day = c(3, 20))
  expected <- topic_effects(fit, ~ party + day, at = at, topics = 2, ndraws = 30, seed = 5)
  rows <- cbind(1, c(1, 0), c(3, 20))
  expect_equal(expected$estimate, as.vector(rows %*% apply(by_hand, 1:2, mean)[, 2]))
  expect_identical(expected$term, c("party = right, day = 3", "party = left, day = 20"))
  curve <- function(days) {
    topic_effects(fit, ~ poly(day, 2), data.frame(day), at = data.frame(day = days), topics = 1, ndraws = 30, seed = 5)
  }
  expect_equal(curve(7)$estimate, curve(1:30)$estimate[[7L]])
})

test_that("effects do not depend on units, threads or documents without covariates", {
  skip_where_repeated()
  skip_on_sanitized_emulator()
  one <- topic_effects(fit, ~ party + day, ndraws = 4, seed = 1, threads = 2)
  expect_equal(as.data.frame(one), as.data.frame(topic_effects(fit, ~ party + day, ndraws = 4, seed = 1, threads = 1)))
  expect_equal(one$estimate[one$term == "day"],
    1000 * topic_effects(fit, ~ party + I(1000 * day), ndraws = 4, seed = 1, threads = 2)$estimate[c(3, 6, 9)])
  x <- prevalence_basis(effect_design(fit, ~ day, data.frame(day = c(NA, NA, 3:60))), 60)
  expect_identical(x[1:2, ], cbind(c(1, 1), 0))
  expect_equal(colMeans(x), c(1, 0))
  # A basis of all levels has no more columns than with one left out.
  expect_identical(dim(prevalence_basis(effect_design(fit, ~ 0 + party, NULL), 60)), c(60L, 2L))
  expect_identical(prevalence_basis(effect_design(fit, ~ 1, NULL), 60), matrix(1, 60))
})

# The law on a grid: two intercepts, of which the topics' counts in each document depend on.
test_that("coefficients of the prior have their law", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "nothing here depends on the backend")
  counts <- cbind(c(3, 0, 1, 5, 0), c(0, 2, 1, 1, 0))
  basis <- matrix(1, 5, 1)
  grid <- seq(-12, 12, 0.1)
  a <- exp(grid)
  of_topic <- function(k) rowSums(vapply(counts[, k], function(n) lgamma(a + n) - lgamma(a), a)) - grid^2 / 50
  both <- outer(a, a, `+`)
  density <- outer(of_topic(1), of_topic(2), `+`)
  for (n in rowSums(counts)) density <- density + lgamma(both) - lgamma(both + n)
  density <- exp(density - max(density))
  first <- cumsum(rowSums(density)) / sum(density)
  set.seed(1)
  value <- matrix(0, 1, 2)
  n <- if (extended()) 40000 else 4000
  draws <- vapply(seq_len(n), function(i) (value <<- draw_prevalence(value, basis, counts, 1:5))[[1L]], 0)
  at <- c(-1, 0, 1, 2, 4)
  expected <- stats::approx(grid + 0.05, first, at)$y
  seen <- vapply(at, function(limit) mean(draws <= limit), 0)
  size <- vapply(at, function(limit) effective_size(matrix(as.numeric(draws <= limit))), 0)
  expect_lt(max(abs(seen - expected) / sqrt(expected * (1 - expected) / size)), 5)
})

# Coefficients from their prior, and topics given them: after a draw the coefficients still have their prior.
test_that("coefficients and topics have their joint distribution", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "nothing here depends on the backend")
  n <- if (extended()) 2e4 else 600
  basis <- cbind(1, c(-1, -0.5, -0.5, 0.5, 0.5, 1))
  scale <- c(intercept_scale, slope_scale)
  set.seed(2)
  drawn <- vapply(seq_len(n), function(i) {
    value <- matrix(rnorm(4, 0, scale), 2)
    alpha <- prevalence_alpha(value, basis)
    share <- matrix(rgamma(12, alpha) + 1e-300, 6)
    counts <- t(vapply(1:6, function(d) as.double(rmultinom(1, 8, share[d, ])), numeric(2)))
    for (step in 1:3) value <- draw_prevalence(value, basis, counts, 1:6)
    c(value / scale, value[2, 2] - value[2, 1])
  }, numeric(5))
  for (i in 1:4) expect_distribution(drawn[i, ], pnorm, 5)
  expect_distribution(drawn[5, ], function(q) pnorm(q, 0, slope_scale * sqrt(2)), 5)
})

test_that("groups of a fit have intervals, and names, stars and missing values are heeded", {
  skip_where_repeated()
  skip_on_sanitized_emulator()
  grouped <- topic_model(planted, 3, groups = party, iter = 60, chains = 2, seed = 1, threads = 2)
  topic_names(grouped) <- c("a", "b", "c")
  table <- topic_effects(grouped, ndraws = 40, seed = 1, threads = 2)
  expect_identical(table$term, rep(c("group = left", "group = right"), 3))
  expect_lt(max(abs(table$estimate - as.vector(group_theta(grouped)))), 0.05)
  expect_true(all(table$lower < table$estimate & table$estimate < table$upper))
  some <- topic_effects(grouped, ~ party, topics = c("c", "a"), ndraws = 4, threads = 2)
  expect_identical(unique(some$topic), c(3L, 1L))
  expect_message(some <- topic_effects(fit, ~ day, data.frame(day = c(NA, 2:60)), ndraws = 4),
    "1 document with missing")
  expect_output(print(some), "Effects on the shares of topics in 59 documents, with intervals of 90%")
  empty <- topic_model(rbind(planted, none = 0), 3, iter = 10, seed = 1, threads = 2)
  expect_output(print(topic_effects(empty, ~ 1, ndraws = 4, threads = 2)), "in 60 documents")
  expect_message(topic_model(planted, 2, groups = 1:60, iter = 2, seed = 1, threads = 2), "60 groups of documents")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(table), table)
  rows <- topic_effects_picture(topic_effects(fit, ~ party, ndraws = 4), NULL)$panels[[1L]]
  expect_no_match(rows$y$labels, "Intercept")
})

test_that("bad formulas and data are refused", {
  skip_where_repeated()
  skip_on_sanitized_emulator()
  expect_error(topic_effects(fit), "`formula` is missing", class = input)
  expect_error(topic_effects(fit, y ~ party), "without a response", class = input)
  expect_error(topic_effects(fit, ~ nowhere), "cannot be evaluated: .*nowhere", class = input)
  expect_error(topic_effects(fit, ~ a, data.frame(a = 1:3)), "a row for each of 60 documents", class = input)
  short <- 1:3
  expect_error(topic_effects(fit, ~ short), "variables of 3 values, but there are 60 documents", class = input)
  expect_error(topic_effects(fit, ~ party + I(party == "left")), "do not tell apart", class = input)
  expect_error(topic_effects(fit, ~ factor(paste(party, day))), "60 coefficients, but only 60 documents", class = input)
  expect_error(topic_effects(fit, ~ party, at = data.frame(party = "green")), "`at` cannot be used", class = input)
  expect_error(topic_effects(fit, ~ party, at = 1), "must be a data frame with values", class = input)
  expect_error(topic_effects(fit, ~ party, topics = 4), "numbers or names of the fit's 3 topics, not 4", class = input)
  expect_error(topic_effects(fit, ~ party, level = 1.5), "level", class = input)
})
