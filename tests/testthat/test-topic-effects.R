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

covariates <- data.frame(party, day)
delayedAssign("within", fit_topics(planted, 3, prevalence = ~ party + day, data = covariates, iter = 40, warmup = 10,
  thin = 3, chains = 2, keep = "theta", seed = 1, threads = 2))

test_that("effects are weighted least squares of each draw", {
  skip_where_repeated()
  # The weights of the documents: exponential draws of streams with the number of the document.
  weights_of <- function(sweep, chain) {
    words <- reference_philox(key_words(within$state[[chain]]$key), 0, 0:59, 108 * 65536, sweep)
    -log((words[, 2L] * 2^20 + words[, 1L] %/% 2^12 + 0.5) / 2^52)
  }
  # Both chains find all topics, which are matched.
  expect_identical(topic_effects(within)$chains, rep(2L, 9))
  by_hand <- unlist(lapply(1:2, function(chain) {
    vapply(1:10, function(draw) {
      theta <- t(within$draws$theta[within$agreement$match[, chain], , draw, chain])
      coef(lm(theta ~ party + day, weights = weights_of(10 + 3 * draw, chain)))
    }, matrix(0, 3, 3))
  }))
  by_hand <- array(by_hand, c(3, 3, 20))
  table <- topic_effects(within, level = 0.8)
  expect_equal(table$estimate, as.vector(apply(by_hand, 1:2, mean)))
  expect_equal(table$se, as.vector(apply(by_hand, 1:2, sd)))
  expect_equal(table$lower, as.vector(apply(by_hand, 1:2, quantile, 0.1, type = 6)))
  expect_equal(table$upper, as.vector(apply(by_hand, 1:2, quantile, 0.9, type = 6)))
  expect_identical(table$term, rep(c("(Intercept)", "partyright", "day"), 3))
  # Shares sum to one, so effects sum to zero.
  expect_equal(sum(table$estimate[table$term == "partyright"]), 0)
  # Expected shares are rows of the design times coefficients, and a basis keeps its knots.
  at <- data.frame(party = c("right", "left"), day = c(3, 20))
  expected <- topic_effects(within, at = at, topics = 2)
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
  one <- topic_effects(fit, ~ party + day, ndraws = 4, seed = 1, threads = 2)
  expect_equal(as.data.frame(one), as.data.frame(topic_effects(fit, ~ party + day, ndraws = 4, seed = 1, threads = 1)))
  expect_equal(one$estimate[one$term == "day"],
    1000 * topic_effects(fit, ~ party + I(1000 * day), ndraws = 4, seed = 1, threads = 2)$estimate[c(3, 6, 9)])
  # Seconds since 1970 are far from zero.
  expect_equal(topic_effects(fit, ~ I(1e9 + day), ndraws = 4, seed = 1, threads = 1)$estimate[c(2, 4, 6)],
    topic_effects(fit, ~ day, ndraws = 4, seed = 1, threads = 1)$estimate[c(2, 4, 6)], tolerance = 1e-6)
  basis <- function(formula, data = NULL, of = fit) covariate_design(formula, data, of, "formula")$basis
  expect_message(x <- basis(~ day, data.frame(day = c(NA, NA, 3:60))), "2 documents with missing")
  expect_identical(x[1:2, ], cbind(c(1, 1), 0))
  expect_equal(colMeans(x), c(1, 0))
  # A basis of all levels has no more columns than with one left out.
  expect_identical(dim(basis(~ 0 + party)), c(60L, 2L))
  expect_identical(basis(~ 1), matrix(1, 60))
  # Documents without tokens have covariates too.
  empty <- list(documents = 1:60, document_tokens = c(0, rep(5, 59)))
  expect_equal(basis(~ party, of = empty)[1, 2] - basis(~ party, of = empty)[60, 2], -1)
})

test_that("s() is a natural cubic spline with the same knots for new values", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "nothing here depends on the backend")
  design <- function(formula, data = NULL) covariate_design(formula, data, fit, "formula")
  set.seed(1)
  # Zeros, ties and an outlier.
  ugly <- data.frame(x = c(rep(0, 30), rexp(29), 1e4))
  made <- design(~ s(x), ugly)
  expect_identical(colnames(made$x), c("(Intercept)", paste0("s(x)", 1:4)))
  natural <- splines::ns(ugly$x, knots = quantile(unique(ugly$x), 1:3 / 4), Boundary.knots = range(ugly$x))
  expect_equal(unname(fitted(lm(made$x[, 3] ~ natural))), unname(made$x[, 3]), tolerance = 1e-5)
  # The same in other units, and of dates.
  expect_equal(unname(design(~ s(I(60 * x + 7)), ugly)$basis), made$basis, tolerance = 1e-6)
  dates <- data.frame(day = as.Date("2024-01-01") + day)
  expect_equal(design(~ s(day), dates)$basis, design(~ s(day), data.frame(day))$basis)
  rows <- effect_rows(made, data.frame(x = c(3, 1)))
  expect_equal(rows[2, ], effect_rows(made, data.frame(x = 1))[1, ])
  # Few values have fewer columns, two of them one.
  expect_identical(ncol(design(~ s(x, k = 9), data.frame(x = rep(1:3, 20)))$x), 3L)
  expect_equal(design(~ s(x), data.frame(x = rep(0:1, 30)))$basis, design(~ x, data.frame(x = rep(0:1, 30)))$basis)
  expect_error(design(~ s(party)), "s\\(party\\), whose variable is not numeric", class = input)
  expect_error(design(~ s(x), data.frame(x = rep(1, 60))), "does not vary", class = input)
  expect_error(design(~ s(day, bs = "cr")), "one variable and `k`", class = input)
  expect_error(design(~ s(day, party)), "`k` is not a whole number", class = input)
  expect_error(design(~ s(nowhere)), "cannot be evaluated with `data`: .*nowhere", class = input)
})

test_that("a fit with prevalence goes on, predicts, is relabelled and says what it is", {
  skip_where_repeated()
  formula <- ~ party + s(day, k = 3)
  model <- function(iter, ...) {
    fit_topics(planted, 3, prevalence = formula, data = covariates, iter = iter, warmup = 6, thin = 2, chains = 2,
      seed = 3, ...)
  }
  file <- tempfile()
  whole <- model(17, threads = 1)
  part <- model(9, threads = 2, checkpoint = file, checkpoint_every = 0)
  expect_same_topics(continue(part, 8, threads = 2), whole)
  expect_identical(resume(file, planted, threads = 2)$draws, part$draws)
  expect_output(print(whole), "alpha depends on ~party \\+ s\\(day, k = 3\\): topic_effects\\(fit\\)")
  expect_output(print(whole), "alpha at their mean sums to .*learned: effects of covariates")
  expect_true(all(is.na(topic_effects(whole, ~ party, ndraws = 2, threads = 2)$rhat)))
  # The alpha of each document is that of its covariates: a document without tokens has the mean of its prior.
  empty <- topic_model(rbind(planted, 0), 3, prevalence = formula, data = covariates[c(1:60, 35), ], iter = 12,
    chains = 1, seed = 1)
  draws <- empty$draws$coefficients[, , , 1]
  shares <- vapply(1:6, function(draw) {
    alpha <- prevalence_alpha(matrix(draws[, , draw], 4), empty$prevalence$basis[61, , drop = FALSE])
    alpha / sum(alpha)
  }, numeric(3))
  expect_equal(unname(empty$theta[61, ]), rowMeans(shares))
  expect_equal(empty$draws$alpha[, , 1], exp(draws[1, , ]))
  # Chains are compared for topics that both find.
  same <- topic_model(planted, 3, prevalence = ~ party + day, data = covariates, iter = 60, warmup = 20, chains = 2,
    seed = 1, threads = 2)
  same$agreement <- list(match = cbind(1:3, 1:3), distance = matrix(0, 3, 2), limit = rep(0.5, 3))
  same$draws$effects <- array(rnorm(3 * 3 * 40 * 2), c(3, 3, 40, 2), dimnames(same$draws$effects))
  values <- same$draws$effects[2, 3, , ]
  table <- topic_effects(same)
  expect_equal(table$rhat[[8]], split_rhat(values))
  expect_false(any(table$differ))
  expect_match(as.character(verdict(table)), "Chains agree on effects: Rhat is at most", all = FALSE)
  # An effect on which chains differ says so in its row, and the verdict of the fit and of the effects.
  same$draws$effects[2, 3, , 1] <- 10 + same$draws$effects[2, 3, , 1]
  table <- topic_effects(same)
  expect_identical(which(table$differ), 8L)
  expect_equal(table$estimate[[8]], mean(same$draws$effects[2, 3, , ]))
  expect_match(utils::capture.output(print(table)), "3 +partyright .* chains differ$", all = FALSE)
  expect_identical(plain_picture(table, NULL)$panels[[1]]$right$labels, c("", "", "", "", "chains differ", ""))
  for (said in list(verdict(table), verdict(same))) {
    expect_match(as.character(said), "Chains differ in 1 of 9 effects, most in topic 3, partyright", all = FALSE)
  }
  # A chain that does not find a topic tells nothing of it.
  other <- 3L - same$reference
  same$agreement$distance[3, other] <- 0.9
  table <- topic_effects(same)
  expect_identical(table$chains, rep(c(2L, 2L, 1L), each = 3))
  expect_equal(table$estimate[[8]], mean(same$draws$effects[2, 3, , same$reference]))
  expect_match(as.character(verdict(table)), "Effects on topic 3 are of the chains that find it", all = FALSE)
  # New documents have the prior of their covariates, also if they are empty.
  none <- matrix(0, 2, 24, dimnames = list(NULL, colnames(planted)))
  one <- rbind(none[1, ], planted[1, ])
  prior <- predict(whole, one, data = data.frame(party = "right", day = c(4, 4)), seed = 1)[1, ]
  draws <- whole$draws$coefficients[, , , whole$reference]
  basis <- whole$prevalence$basis[34, , drop = FALSE]
  alpha <- rowMeans(apply(draws, 3, function(draw) prevalence_alpha(matrix(draw, 4), basis)))
  expect_equal(unname(prior), alpha / sum(alpha))
  expect_message(odd <- predict(whole, one, data = data.frame(party = c("green", NA), day = 1), seed = 1), "unknown")
  expect_lt(perplexity(whole, planted, data = covariates, seed = 1), 24)
  expect_error(predict(whole, one, data = data.frame(day = 1:2)), "`data` lacks \"party\"",
    class = input)
  expect_error(predict(fit, one, data = data.frame(day = 1:2)), "the fit has no `prevalence`", class = input)
  # Topics are renumbered with their effects.
  order <- c(2L, 3L, 1L)
  turned <- renumber_chain(whole, 1, order)
  expect_identical(unname(turned$draws$effects[, 1, , 1]), unname(whole$draws$effects[, 2, , 1]))
  expect_identical(turned$state[[1]]$coefficients, whole$state[[1]]$coefficients[, order])
  expect_identical(nrow(topic_stability(whole, 1, iter = 4, threads = 2)), 3L)
  expect_message(add_documents(whole, planted[1:5, ], iter = 4, threads = 2), "alpha of the mean of the covariates")
  changed <- whole
  changed$prevalence$basis <- 1
  expect_error(print(changed), "has been changed since", class = input)
  changed <- whole
  changed$state[[1]]$coefficients[[1]] <- NA
  expect_error(continue(changed, 1), "coefficients", class = input)
})

test_that("prevalence that cannot be used is refused", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "nothing here depends on the backend")
  model <- function(...) fit_topics(planted, 2, ..., iter = 2)
  expect_error(model(data = covariates), "of no use without `prevalence`", class = input)
  expect_error(model(prevalence = ~ 1), "has no covariates", class = input)
  expect_error(model(prevalence = ~ log(day - 1)), "infinite value in row 1 of \"log\\(day - 1\\)\"", class = input)
  expect_error(model(prevalence = ~ party + offset(day)), "but this model has no offsets", class = input)
  expect_error(topic_effects(within, at = data.frame(party = "left", day = Inf)), "missing or infinite", class = input)
  expect_error(model(prevalence = "party"), "`prevalence` must be a formula without a response", class = input)
  expect_error(model(prevalence = ~ party, estimate = "mean"), "which `prevalence` does not have", class = input)
  expect_error(model(prevalence = ~ party, alpha = 1), "says how alpha depends", class = input)
  expect_error(model(prevalence = ~ party, data = covariates[1:3, ]), "a row for each of 60 documents", class = input)
  expect_error(model(prevalence = ~ day + (1 | party)),
    "has the term \"\\(1 \\| party\\)\", but this model has no grouping",
    class = input)
  expect_error(topic_effects(fit, ~ (1 | party)), "has the term \"\\(1 \\| party\\)\"", class = input)
  expect_error(topic_effects(within, data = covariates), "of no use without `formula`", class = input)
})

# function(value, counts, i) draws the coefficients given counts of documents x 2 topics: the sampler does so at the
# beginning of sweeps with odd numbers.
# `group`: which documents have the same row of the basis.
prevalence_sampler <- function(sizes, basis, group = seq_along(sizes)) {
  documents <- length(sizes)
  x <- count_matrix(matrix(sizes))
  design <- list(basis = basis, x = matrix(1, documents, 1L), used = seq_len(documents),
    first = which(!duplicated(group)), group = factor(group))
  session <- open_topics(x, 2, "double", resolve_run("cpu", 1),
    topic_structure(design$group, NULL, x$terms, covariate_structure(design)))
  function(value, counts, i) {
    topics <- writeBin(unlist(lapply(seq_len(documents), function(d) rep(0:1, counts[d, ]))), raw(), size = 2L)
    alpha <- as.vector(t(prevalence_alpha(value, basis[design$first, , drop = FALSE])))
    sweep <- one_topic_sweep(session, topics, alpha, 1, value, chain_key(3, 1), 2 * i - 1, c(0L, 0L, 0L),
      rep(1, 4), c(TRUE, FALSE))
    matrix(sweep$coefficients, nrow(value))
  }
}

# The law on a grid: two intercepts, on which the topics' counts in each document depend. Documents of one of two topics
# leave the level of both free.
test_that("coefficients of the prior have their law, and their level mixes", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "nothing here depends on the backend")
  grid <- seq(-26, 14, 0.1)
  a <- exp(grid)
  rising <- function(a, counts) {
    Reduce(`+`, lapply(unique(counts), function(n) sum(counts == n) * (lgamma(a + n) - lgamma(a))))
  }
  n <- if (extended()) 40000 else 4000
  cases <- list(list(counts = cbind(c(3, 0, 1, 5, 0), c(0, 2, 1, 1, 0)), group = 1:5),
    list(counts = rbind(cbind(rep(30, 40), 0), cbind(0, rep(c(30, 7), c(25, 5)))), group = rep(1, 70)))
  for (case in cases) {
    counts <- case$counts
    of_topic <- function(k) rising(a, counts[, k]) - grid^2 / 50
    density <- outer(of_topic(1), of_topic(2), `+`) - rising(outer(a, a, `+`), rowSums(counts))
    density <- exp(density - max(density))
    first <- cumsum(rowSums(density)) / sum(density)
    draw <- prevalence_sampler(rowSums(counts), matrix(1, nrow(counts), 1), case$group)
    value <- matrix(0, 1, 2)
    draws <- vapply(seq_len(n), function(i) (value <<- draw(value, counts, i))[[1L]], 0)
    expected <- c(0.1, 0.25, 0.5, 0.75, 0.9)
    at <- stats::approx(first, grid + 0.05, expected, ties = "ordered")$y
    seen <- vapply(at, function(limit) mean(draws <= limit), 0)
    size <- vapply(at, function(limit) effective_size(matrix(as.numeric(draws <= limit))), 0)
    expect_lt(max(abs(seen - expected) / sqrt(expected * (1 - expected) / size)), 5)
    expect_gt(effective_size(matrix(draws)), n / 4)
  }
})

# Coefficients from their prior, and topics given them: after a draw the coefficients still have their prior.
test_that("coefficients and topics have their joint distribution", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "nothing here depends on the backend")
  n <- if (extended()) 2e4 else 600
  basis <- cbind(1, c(-1, -0.5, -0.5, 0.5, 0.5, 1))
  scale <- c(5, 2.5)
  draw <- prevalence_sampler(rep(8, 6), basis, c(1, 2, 2, 3, 3, 4))
  set.seed(2)
  drawn <- vapply(seq_len(n), function(i) {
    value <- matrix(rnorm(4, 0, scale), 2)
    alpha <- prevalence_alpha(value, basis)
    share <- matrix(rgamma(12, alpha) + 1e-300, 6)
    counts <- t(vapply(1:6, function(d) as.double(rmultinom(1, 8, share[d, ])), numeric(2)))
    for (step in 1:3) value <- draw(value, counts, 3 * i + step)
    c(value / scale, value[2, 2] - value[2, 1])
  }, numeric(5))
  for (i in 1:4) expect_distribution(drawn[i, ], pnorm, 5)
  expect_distribution(drawn[5, ], function(q) pnorm(q, 0, 2.5 * sqrt(2)), 5)
})

test_that("groups have intervals, and names, stars and missing values are heeded", {
  skip_where_repeated()
  grouped <- topic_model(planted, 3, prevalence = ~ party, iter = 60, chains = 2, seed = 1, threads = 2)
  topic_names(grouped) <- c("a", "b", "c")
  table <- topic_effects(grouped, at = data.frame(party = c("left", "right")))
  expect_identical(table$term, rep(c("party = left", "party = right"), 3))
  means <- rowsum(grouped$theta, party) / 30
  expect_lt(max(abs(table$estimate - as.vector(means))), 0.05)
  expect_true(all(table$lower < table$estimate & table$estimate < table$upper))
  some <- topic_effects(grouped, ~ party, topics = c("c", "a"), ndraws = 4, threads = 2)
  expect_identical(unique(some$topic), c(3L, 1L))
  expect_message(some <- topic_effects(fit, ~ day, data.frame(day = c(NA, 2:60)), ndraws = 4),
    "1 document with missing")
  expect_output(print(some), "Effects on the shares of topics in 59 documents, with intervals of 90%")
  empty <- topic_model(rbind(planted, none = 0), 3, iter = 10, seed = 1, threads = 2)
  expect_output(print(topic_effects(empty, ~ 1, ndraws = 4, threads = 2)), "in 60 documents")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(table), table)
  rows <- plain_picture(topic_effects(fit, ~ party, ndraws = 4), NULL)$panels[[1L]]
  expect_no_match(rows$y$labels, "Intercept")
})

test_that("expected shares lie in [0, 1] and sum to one, and values outside the data are named", {
  skip_where_repeated()
  far <- topic_effects(within, at = data.frame(party = "left", day = c(3, 300, -50)))
  expect_true(all(far$lower >= 0 & far$upper <= 1))
  expect_equal(as.vector(tapply(far$estimate, far$term, sum)), c(1, 1, 1))
  expect_match(as.character(verdict(far)), "are extrapolated: day = 300, -50 \\(1 to 30\\)", all = FALSE)
  expect_false(verdict(far)$answer == "usable")
  near <- topic_effects(within, at = data.frame(party = "left", day = 3))
  expect_no_match(as.character(verdict(near)), "extrapolated")
  skip_if_not_installed("generics")
  tidied <- generics::tidy(near)
  expect_true(all(c("estimate", "std.error", "conf.low", "conf.high") %in% names(tidied)))
  expect_identical(generics::glance(near)$verdict, verdict(near)$answer)
  # What is left of the table is a data frame, and lines fit into the console.
  expect_output(print(near[, c("topic", "estimate")]), "topic +estimate")
  expect_output(print(subset(near, topic == 2)), "party = left, day = 3")
  with_options(list(width = 60), {
    lines <- c(utils::capture.output(print(near)), utils::capture.output(print(within)),
      utils::capture.output(print(summary(within))))
    expect_lte(max(nchar(lines)), 60)
  })
})

test_that("bad formulas and data are refused", {
  skip_where_repeated()
  expect_error(topic_effects(fit), "`formula` is missing", class = input)
  expect_error(topic_effects(fit, y ~ party), "without a response", class = input)
  expect_error(topic_effects(fit, ~ nowhere), "cannot be evaluated with `data`: .*nowhere", class = input)
  expect_error(topic_effects(fit, ~ a, data.frame(a = 1:3)), "a row for each of 60 documents", class = input)
  short <- 1:3
  expect_error(topic_effects(fit, ~ short), "variables of 3 values, but there are 60 documents", class = input)
  expect_error(topic_effects(fit, ~ party + I(party == "left")), "do not tell apart", class = input)
  expect_error(topic_effects(fit, ~ factor(paste(party, day))), "60 coefficients, but only 60 documents", class = input)
  expect_error(topic_effects(fit, ~ party, at = data.frame(party = "green")), "the new level \"green\"", class = input)
  expect_error(topic_effects(fit, ~ party, at = 1), "must be a data frame with values", class = input)
  expect_error(topic_effects(fit, ~ party, topics = 4), "numbers or names of the fit's 3 topics, not 4", class = input)
  expect_error(topic_effects(fit, ~ party, level = 1.5), "level", class = input)
})

test_that("each door reads each class of covariates alike", {
  skip_where_repeated()
  k <- rep(1:4, 15)
  time <- as.POSIXct("2024-01-01", tz = "UTC") + 3600 * k
  for (value in list(k, letters[k], factor(letters[k], ordered = TRUE), k > 2, as.Date(time) + k, time,
    as.difftime(k, units = "hours"), cbind(k, k^2), array(k, 60), I(k))) {
    data <- data.frame(row.names = rownames(planted))
    data$value <- value
    model <- function(...) topic_model(planted, 3, prevalence = ~ value, iter = 8, chains = 1, seed = 1, ...)
    known <- model(data = data)
    outside <- model()
    expect_identical(outside$phi, known$phi)
    expect_equal(unname(effect_rows(known$prevalence, data[8:1, , drop = FALSE])), unname(known$prevalence$x[8:1, ]),
      ignore_attr = TRUE)
    prior <- prevalence_prior(known, data[60:1, , drop = FALSE], known$x)
    mean <- Reduce(`+`, lapply(1:4, function(draw) {
      coefficients <- matrix(known$draws$coefficients[, , draw, 1], ncol(known$prevalence$basis))
      prevalence_alpha(coefficients, known$prevalence$basis)
    })) / 4
    expect_equal(prior$alpha[as.integer(prior$groups), ], mean)
    expect_null(prior$outside)
    expect_silent(topic_effects(known, at = data[1:3, , drop = FALSE]))
  }
})

test_that("values outside the data are named by every door for new documents", {
  skip_where_repeated()
  date <- data.frame(date = as.Date("2024-01-01") + day, party)
  known <- topic_model(planted, 3, prevalence = ~ party + date, data = date, iter = 20, chains = 1, seed = 1)
  new <- data.frame(date = as.Date(c("2024-01-09", "2025-06-01")), party = "left")
  far <- "are extrapolated: date = 2025-06-01 \\(2024-01-02 to 2024-01-31\\)"
  two <- planted[1:2, ]
  rownames(two) <- NULL
  expect_match(as.character(verdict(predict(known, two, data = new, seed = 1, threads = 2))), far, all = FALSE)
  expect_match(as.character(verdict(perplexity(known, two, data = new, seed = 1, threads = 2))), far, all = FALSE)
  expect_match(as.character(verdict(topic_effects(known, at = new))), far, all = FALSE)
  near <- new[c(1, 1), ]
  expect_no_match(as.character(verdict(predict(known, two, data = near, seed = 1, threads = 2))), "extrapolated")
  # An update has the alphas of the covariates, and knows them for further documents.
  later <- add_documents(known, two, data = new, iter = 6, chains = 1, seed = 2, threads = 2)
  expect_match(as.character(verdict(later)), "extrapolated", all = FALSE)
  prior <- prevalence_prior(known, new, known_terms(known, two))
  expect_identical(later$state[[1]]$alpha, as.vector(t(prior$alpha)))
  expect_identical(later$alpha, known$alpha)
  empty <- replace(two, cbind(2, seq_len(ncol(two))), 0)
  expect_equal(predict(later, empty, data = new, seed = 1, threads = 2)[2, ], prior$alpha[2, ] / sum(prior$alpha[2, ]))
  expect_identical(continue(later, 4)$iter, 10)
  expect_message(add_documents(later, two, iter = 4, chains = 1), "alpha of the mean of the covariates: `data` has")
  expect_message(none <- add_documents(known, two, iter = 4, chains = 1, seed = 2, threads = 2), "alpha of the mean")
  expect_false(identical(none$theta, later$theta))
  expect_error(add_documents(fit, two, data = new), "the fit has no `prevalence`", class = input)
})

test_that("expected shares at the documents' own values are the regression's, whatever the covariates are", {
  skip_where_repeated()
  x <- simulate_documents(40, 20, block_topics(2, 4), c(0.3, 0.3), seed = 2)$x
  meta <- data.frame(day = as.Date("2020-01-01") + 1:40, span = as.difftime(1:40, units = "days"),
    size = factor(rep(c("low", "mid", "high", "mid"), 10), c("low", "mid", "high"), ordered = TRUE),
    flag = rep(c(TRUE, FALSE, FALSE, TRUE), 10), unused = factor(rep(c("u", "v"), 20), c("u", "v", "w")), z = 1:40)
  meta$both <- cbind(a = sin(1:40), b = cos(1:40))
  fit <- topic_model(x, 2, iter = 40, chains = 1, seed = 1, threads = 1)
  for (formula in list(~ day, ~ span, ~ size, ~ flag, ~ unused, ~ both, ~ poly(z, 2), ~ splines::ns(z, 3), ~ s(day),
    ~ flag * scale(z), ~ 0 + size)) {
    effects <- function(...) {
      suppressMessages(topic_effects(fit, formula, meta, ndraws = 4, seed = 1, threads = 1, topics = 1, ...))
    }
    design <- suppressMessages(covariate_design(formula, meta, fit, "formula"))
    values <- design$x[5:8, ] %*% effects()$estimate
    at <- effects(at = meta[5:8, ])
    # Shares of single draws are within [0, 1].
    inside <- at$lower > 0 & at$upper < 1
    expect_equal(at$estimate[inside], values[inside], tolerance = 1e-6)
    expect_true(any(inside))
  }
  refused <- function(formula, words) {
    expect_error(suppressMessages(topic_effects(fit, formula, meta, threads = 1)), words, class = input)
  }
  refused(~ 0, "`formula` has no covariates")
  meta$constant <- 3
  refused(~ z + constant, "do not tell apart: \"constant\"")
  refused(~ 0 + z + I(2 * z), "do not tell apart: \"I\\(2 \\* z\\)\"")
  refused(~ z + I(z + 1) + flag, "do not tell apart: \"I\\(z \\+ 1\\)\"")
})
