# The verdict of topic models: what is sure of documents, which seed words the data pull away, and what rests on a fit.

input <- "warpbayes_error_input"
planted <- simulate_documents(60, 30, block_topics(3, 6), rep(0.3, 3), seed = 3)$x
delayedAssign("fit", topic_model(planted, 3, iter = 60, chains = 3, seed = 1, threads = 2))

test_that("a document is sure if its first topic is that of nine tenths of all chains' draws", {
  skip_where_repeated()
  # Two chains of ten draws: topics x documents, the share of draws in which the topic is the first one.
  one <- cbind(c(1, 0, 0), c(0.8, 0.2, 0), c(0, 1, 0), c(1, 0, 0))
  two <- cbind(c(1, 0, 0), c(0.8, 0.2, 0), c(0, 1, 0), c(0, 0, 1))
  known <- certainty_of(list(one, two))
  expect_identical(known$first[1:3], c(1L, 1L, 2L))
  expect_equal(known$probability, c(1, 0.8, 1, 0.5))
  # Of documents that one chain is sure of (1, 3, 4), the other one gives document 4 another topic.
  expect_equal(known$wrong, 2 / 6)
  expect_equal(certainty_of(list(one, two), c(TRUE, TRUE, TRUE, FALSE))$wrong, 0)
  expect_identical(certainty_of(list(one))$probability, c(1, 0.8, 1, 1))
})

test_that("first topics are counted as plain R counts them", {
  kept <- fit_topics(planted[1:12, ], 3, iter = 9, warmup = 4, chains = 2, alpha = 0.5, beta = 0.1, keep = "theta",
    seed = 4, threads = 2)
  for (chain in 1:2) {
    first <- matrix(kept$state[[chain]]$sums$first, 3)
    expect_equal(colSums(first), rep(5, 12))
    # The last sweep alone.
    last <- matrix(0, 3, 12)
    counts <- table(factor(topics_of(kept$state[[chain]]), 1:3), tokens_of(planted[1:12, ])$document)
    for (d in 1:12) last[, d] <- (counts[, d] == max(counts[, d])) / sum(counts[, d] == max(counts[, d]))
    before <- fit_topics(planted[1:12, ], 3, iter = 8, warmup = 4, chains = 2, alpha = 0.5, beta = 0.1, keep = "theta",
      seed = 4, threads = 2)
    expect_equal(first - matrix(before$state[[chain]]$sums$first, 3), last)
  }
})

test_that("predictions and tables say how sure first topics are", {
  skip_where_repeated()
  known <- document_certainty(fit)
  class <- predict(fit, type = "class")
  certainty <- attr(class, "certainty")
  expect_equal(unname(certainty[known$first == class]), known$probability[known$first == class])
  new <- predict(fit, planted[1:4, ], type = "class", seed = 1, threads = 2)
  expect_true(all(attr(new, "certainty") > 1 / 3 & attr(new, "certainty") <= 1))
  expect_s3_class(verdict(new), "verdict")
  # How sure such documents are is what other chains show.
  expect_match(as.character(verdict(new)), sprintf(": another chain gives %s of the sure documents that were fitted",
    percent(known$wrong)), all = FALSE)
  expect_match(as.character(verdict(fit)), sprintf("first topic of %s of the documents is sure",
    percent(mean(known$probability > 0.9), 0)), all = FALSE)
  skip_if_not_installed("generics")
  words <- generics::augment(fit)
  expect_identical(words$.certainty[words$document == "d7"][[1]], certainty[["d7"]])
  expect_identical(generics::glance(fit)$verdict, verdict(fit)$answer)
})

test_that("what rests on a fit is never said to be better than the fit", {
  skip_where_repeated()
  rank <- function(x) match(verdict(x)$answer, answers)
  day <- data.frame(day = 1:60)
  for (iter in c(2, 30, 400)) {
    parent <- topic_model(planted, 3, prevalence = ~ day, data = day, iter = iter, chains = 2, seed = 5, threads = 2)
    made <- list(
      topic_effects(parent, ~ day, day, ndraws = 4, seed = 1, threads = 2), topic_stability(parent, restarts = 0),
      predict(parent, planted[1:2, ], data = day[1:2, , drop = FALSE], seed = 1, threads = 2),
      perplexity(parent, planted[1:9, ], data = day[1:9, , drop = FALSE], seed = 1, threads = 2),
      suppressMessages(add_documents(parent, planted[1:9, ], iter = 200, seed = 1, threads = 2))
    )
    for (one in made) expect_gte(rank(one), rank(parent))
    expect_output(print(made[[1]]), opening_words(verdict(made[[1]])), fixed = TRUE)
    expect_output(print(made[[2]]), opening_words(verdict(made[[2]])), fixed = TRUE)
    expect_identical(report_content(made[[1]])$verdict, verdict(made[[1]]))
    expect_identical(report_content(made[[2]])$verdict, verdict(made[[2]]))
    caption <- plain_picture(made[[1]], NULL)$caption
    expect_identical(caption, if (verdict(made[[1]])$answer != "usable") opening_words(verdict(made[[1]])))
    expect_identical(verdict(summary(parent)), verdict(parent))
  }
  expect_true(is_usable(verdict(parent)))
})

test_that("seed words that the data pull away are named, with the topic that has them", {
  skip_where_repeated()
  # w1 belongs to the first planted topic, w7 and w8 to the second.
  seeds <- list(one = c("w1", "w2"), two = c("w7", "w8", "w3"), weight = 0.01)
  seeded <- topic_model(planted, 3, seed_words = seeds, iter = 60, seed = 1, threads = 2)
  expect_match(pulled_words(seeded), "^w3 of two: [0-9]+% to one$")
  expect_output(print(seeded), "the data pull away \"w3 of two: [0-9]+% to one\"")
  expect_match(as.character(verdict(seeded)), "The data pull away 1 of 5 seed words", all = FALSE)
  held <- topic_model(planted, 3, seed_words = list(one = c("w1", "w2")), iter = 60, seed = 1, threads = 2)
  expect_no_match(utils::capture.output(print(held)), "pull away")
})

test_that("shares of topics have intervals over the chains that find them", {
  skip_where_repeated()
  # By hand: the mean of theta over tokens in each kept sweep.
  kept <- fit_topics(planted, 3, iter = 30, warmup = 10, chains = 2, keep = "theta", seed = 6, threads = 2)
  length <- rowSums(planted)
  for (chain in 1:2) {
    by_hand <- vapply(2:20, function(n) {
      topic <- fit_topics(planted, 3, iter = 10 + n, warmup = 10, chains = 2, keep = "theta", seed = 6, threads = 1)
      n * colSums(t(matrix(topic$state[[chain]]$sums$theta, 3)) / n * length) / sum(length)
    }, numeric(3))
    share <- matrix(kept$state[[chain]]$sums$share, 3)
    expect_equal(share[, 3:20], t(apply(by_hand, 1L, diff)))
    expect_equal(rowMeans(share), as.vector(matrix(kept$state[[chain]]$sums$theta, 3) %*% length / sum(length) / 20))
  }
  expect_identical(finding_chains(kept, 2), 1:2)
  draws <- c(matrix(kept$state[[1]]$sums$share, 3)[kept$agreement$match[2, 1], ],
    matrix(kept$state[[2]]$sums$share, 3)[kept$agreement$match[2, 2], ])
  ends <- unname(quantile(draws, c(0.05, 0.95), type = 6))
  expect_equal(unlist(share_intervals(kept, 2)), c(lower = ends[[1]], upper = ends[[2]]))
  table <- summary(kept)$topics
  expect_true(all(table$lower < table$prevalence & table$prevalence < table$upper))
  expect_output(print(summary(kept)), "% \\([0-9.]+ to [0-9.]+\\)")
  expect_match(topic_rows(table)$prevalence, "^[0-9.]+% \\([0-9.]+ to [0-9.]+\\)$")
  expect_equal(share_intervals(relabel(kept, average = FALSE), 1:3), share_intervals(kept, 1:3))
  expect_true(all(is.na(share_intervals(fit_topics(planted, 3, estimate = "mean", iter = 4, threads = 2), 1:3))))
  begun <- summary(topic_model(planted, 3, iter = 2, warmup = 1, threads = 2))
  expect_no_match(capture.output(print(begun)), "\\([0-9.]+ to")
  skip_if_not_installed("generics")
  expect_equal(generics::tidy(kept, "share")[2, c("conf.low", "conf.high")], data.frame(conf.low = ends[[1]],
    conf.high = ends[[2]], row.names = 2L), ignore_attr = TRUE)
})

test_that("a verdict says on which shares chains differ", {
  skip_where_repeated()
  expect_match(as.character(verdict(fit)), "differs between chains by at most [0-9.]+ percentage points", all = FALSE)
  apart <- fit
  other <- if (fit$reference == 1) 2 else 1
  share <- matrix(apart$state[[other]]$sums$share, 3)
  share[apart$agreement$match[1, other], ] <- share[apart$agreement$match[1, other], ] + 0.2
  apart$state[[other]]$sums$share <- as.vector(share)
  expect_match(as.character(verdict(apart)), "Chains differ in the share of topic 1, by up to", all = FALSE)
  reasons <- verdict(apart)$reasons
  expect_identical(reasons$answer[reasons$code == "shares_differ"], "usable with reservations")
})

test_that("two disjoint topics are usable, and topics of noise are one topic", {
  skip_where_repeated()
  disjoint <- function(d) rep(c(d %% 2, 1 - d %% 2), each = 20)
  set.seed(1)
  two <- t(vapply(1:200, function(d) as.double(rmultinom(1, 50, disjoint(d))), numeric(40)))
  group <- rep(1:4, 50)
  for (covariates in list(NULL, ~ group)) {
    known <- topic_model(two, 2, prevalence = covariates, iter = 400, chains = 4, seed = 7, threads = 2)
    expect_match(opening_words(verdict(known)), "^Usable(, with rough intervals of .*)?\\.$")
    expect_gt(bulk_size(known$alpha_sum[201:400, ]), 80)
  }
  noise <- t(vapply(1:200, function(d) as.double(rmultinom(1, 50, rep(1, 100))), numeric(100)))
  none <- topic_model(noise, 3, iter = 400, chains = 2, seed = 7, threads = 2)
  expect_identical(verdict(none)$answer, "not yet")
  expect_match(as.character(verdict(none))[[2]], "^Topics 1, 2, 3 have nearly the terms of another topic")
  expect_no_match(as.character(verdict(none)), "Too few draws")
  expect_no_match(as.character(verdict(known)), "have nearly the terms")
  # Sweeps that have only begun say nothing about topics.
  begun <- fit_topics(noise, 3, iter = 4, start = "random", chains = 2, seed = 7, threads = 2)
  expect_no_match(as.character(verdict(begun)), "have nearly the terms")
})

test_that("documents that no topic explains are told of", {
  skip_where_repeated()
  said <- "No topic explains the words of"
  for (length in c(12, 60)) {
    whole <- simulate_documents(200, length, block_topics(4, 25), rep(0.3, 4), seed = 8)$x
    usual <- topic_model(whole, 4, iter = 100, chains = 2, seed = 1, threads = 2)
    expect_no_match(as.character(verdict(usual)), said)
  }
  # Documents of all terms alike, which have hardly more in common with each other than with the others.
  odd <- c(3, 50, 120, 121, 180)
  for (d in odd) whole[d, ] <- rmultinom(1, 60, rep(1, 100))
  some <- topic_model(whole, 4, iter = 100, chains = 2, seed = 1, threads = 2)
  expect_setequal(some$unexplained$documents, paste0("d", odd))
  expect_match(as.character(verdict(some)), paste(said, "2.5% of the documents, such as d3, d50, d120:"), all = FALSE)
  expect_match(opening_words(verdict(some)), "except documents that no topic explains")
  # By hand, from the fit's own averages.
  p <- some$theta[3, ] %*% some$phi
  z <- (60 * sum(p * log(p)) - sum(whole[3, ] * log(p))) / sqrt(60 * (sum(p * log(p)^2) - sum(p * log(p))^2))
  expect_gt(z, 4)
})

# The score without the prior of what is learned, token by token. `alpha`: documents x topics; `beta`: topics x terms.
plain_score <- function(topics, x, alpha, beta) {
  tokens <- tokens_of(x)
  k <- ncol(alpha)
  nd <- unclass(table(factor(tokens$document, seq_len(nrow(x))), factor(topics, seq_len(k))))
  nw <- unclass(table(factor(topics, seq_len(k)), factor(tokens$term, seq_len(ncol(x)))))
  joint <- sum(lgamma(rowSums(alpha)) - lgamma(rowSums(alpha + nd))) + sum(lgamma(alpha + nd) - lgamma(alpha)) +
    sum(lgamma(rowSums(beta)) - lgamma(rowSums(beta + nw))) + sum(lgamma(beta + nw) - lgamma(beta))
  conditional <- vapply(seq_along(topics), function(i) {
    own <- seq_len(k) == topics[[i]]
    d <- tokens$document[[i]]
    w <- tokens$term[[i]]
    weight <- (nd[d, ] - own + alpha[d, ]) * (nw[, w] - own + beta[, w]) / (rowSums(nw + beta) - own)
    log(weight[own] / sum(weight))
  }, 0)
  joint - sum(conditional)
}

test_that("the score is that of plain R, with prior counts and groups, on any number of threads", {
  x <- planted[1:20, ]
  beta <- matrix(0.2 + (1:54 %% 7) / 5, 3, dimnames = list(NULL, colnames(x)))
  group <- data.frame(group = rep(c("a", "b"), 10))
  sampled <- function(...) fit_topics(x, 3, iter = 14, warmup = 6, start = "random", seed = 2, ...)
  given <- sampled(alpha = c(0.3, 0.5, 0.9), beta = beta, chains = 2, threads = 1)
  expect_identical(sampled(alpha = c(0.3, 0.5, 0.9), beta = beta, chains = 2, threads = 2)$score, given$score)
  expect_identical(dim(given$score), c(2L, 2L))
  for (chain in 1:2) {
    expect_equal(given$score[2, chain], plain_score(topics_of(given$state[[chain]]), x,
      matrix(c(0.3, 0.5, 0.9), 20, 3, byrow = TRUE), beta))
  }
  # Of what is learned, the log of its prior density comes in, on the scale of logarithms.
  grouped <- sampled(prevalence = ~ group, data = group, chains = 1, threads = 2)
  state <- grouped$state[[1]]
  prior <- sum(stats::dnorm(state$coefficients / c(5, 2.5), log = TRUE) + log(2 * pi) / 2) +
    stats::dgamma(state$beta, 1, 1, log = TRUE) + log(state$beta)
  expect_equal(grouped$score[2, 1] - prior, plain_score(topics_of(state), x,
    t(matrix(state$alpha, 3))[as.integer(grouped$prevalence$group), ], matrix(state$beta, 3, 18)))
  for (alpha in c("asymmetric", "symmetric", "hdp")) {
    learned <- sampled(alpha = alpha, beta = 0.1, chains = 1, threads = 2)
    state <- learned$state[[1]]
    density <- function(shape) sum(stats::dgamma(state$alpha, shape, 1, log = TRUE) + log(state$alpha))
    prior <- switch(alpha, asymmetric = density(1), symmetric = density(1) / 3,
      hdp = log(sum(vapply(2^(-2:6), function(s) exp(density(s / 3)), 0))))
    expect_equal(learned$score[2, 1] - prior, plain_score(topics_of(state), x,
      matrix(state$alpha, 20, 3, byrow = TRUE), matrix(0.1, 3, 18)))
  }
  expect_null(sampled(alpha = "mixture", threads = 2)$score)
  expect_null(sampled(estimate = "mean", threads = 2)$score)
  # Scores go on where a fit goes on.
  longer <- fit_topics(x, 3, iter = 19, warmup = 6, start = "random", seed = 2, threads = 2)
  expect_identical(continue(sampled(threads = 2), 5)$score, longer$score)
})

test_that("the mean score is a lower bound of the log probability of the words", {
  skip_where_repeated()
  x <- rbind(c(2, 1, 0), c(0, 1, 2))
  alpha <- matrix(c(0.6, 0.4), 2, 2, byrow = TRUE)
  beta <- matrix(0.5, 2, 3)
  # All 64 topics of six tokens: the score plus the conditionals is the log of the joint probability.
  all <- as.matrix(expand.grid(rep(list(1:2), 6)))
  tokens <- tokens_of(x)
  joint <- apply(all, 1L, function(topics) {
    nd <- unclass(table(factor(tokens$document, 1:2), factor(topics, 1:2)))
    nw <- unclass(table(factor(topics, 1:2), factor(tokens$term, 1:3)))
    sum(lgamma(alpha + nd) - lgamma(alpha)) - 2 * (lgamma(4) - lgamma(1)) + sum(lgamma(beta + nw) - lgamma(beta)) -
      sum(lgamma(rowSums(beta + nw)) - lgamma(1.5))
  })
  exact <- log(sum(exp(joint)))
  mean <- sum(exp(joint - exact) * apply(all, 1L, plain_score, x = x, alpha = alpha, beta = beta))
  expect_lt(mean, exact)
  sampled <- topic_model(x, 2, alpha = c(0.6, 0.4), beta = 0.5, iter = 4000, warmup = 0, chains = 4, seed = 1,
    threads = 2)
  expect_equal(mean(sampled$score), mean, tolerance = 0.02)
})

test_that("chains at different modes are told by the masses of the modes, and the best one is the reference", {
  skip_where_repeated()
  fit <- topic_model(planted, 3, iter = 500, chains = 2, seed = 1, threads = 2)
  expect_identical(fit$reference, which.max(colMeans(fit$score)))
  set.seed(1)
  apart <- fit
  apart$log_likelihood[] <- -2000 + rnorm(1000) + rep(c(0, 500), each = 500)
  expect_match(as.character(verdict(apart)), "modes of about the same posterior mass: its log differs by", all = FALSE)
  expect_true(verdict(apart)$answer != "not yet")
  apart$score[, 2] <- apart$score[, 2] - 200
  said <- "mass around chain 2 is about [0-9]+ below that around chain 1"
  expect_match(as.character(verdict(apart)), said, all = FALSE)
  expect_match(opening_words(verdict(apart)), "except in what chains differ")
  # Few sweeps, and a level that still changes, say nothing of modes.
  apart$log_likelihood[] <- -2000 + rnorm(1000) + rep(1:500, 2)
  expect_identical(verdict(apart)$answer, "not yet")
})

test_that("one chain says that another start may change what it found", {
  skip_where_repeated()
  one <- topic_model(planted, 3, iter = 400, chains = 1, seed = 1, threads = 2)
  expect_match(opening_words(verdict(one)), "except what another start would change")
  expect_no_match(as.character(verdict(fit)), "One chain was run")
})

test_that("topics that no document is about are told of, and noise of skewed words is one topic", {
  skip_where_repeated()
  set.seed(1)
  noise <- t(replicate(150, rmultinom(1, 40, 1 / (1:100))[, 1]))
  colnames(noise) <- paste0("w", 1:100)
  fit <- topic_model(noise, 2, iter = 200, chains = 2, seed = 1, threads = 2)
  expect_match(as.character(verdict(fit)), "^All documents have the same first topic, and [12] is that of none",
    all = FALSE)
  expect_identical(verdict(fit)$answer, "not yet")
  expect_identical(verdict(predict(fit, noise[1:4, ], seed = 1, threads = 2))$answer, "not yet")
  # Half of the documents have other words: two topics of three or more are used.
  mixed <- cbind(noise, noise)
  colnames(mixed) <- paste0("w", 1:200)
  mixed[1:75, 1:100] <- 0
  mixed[76:150, 101:200] <- 0
  some <- topic_model(mixed, 3, iter = 200, chains = 2, seed = 1, threads = 2)
  expect_match(as.character(verdict(some)), "^Topic [1-3] is the first topic of no document", all = FALSE)
  expect_no_match(as.character(verdict(topic_model(planted, 3, iter = 60, chains = 2, seed = 1, threads = 2))),
    "first topic of no document")
})

test_that("texts of one word have one token", {
  skip_where_repeated()
  fit <- topic_model(diag(30)[rep(1:30, 4), ], 2, iter = 20, chains = 1, seed = 1, threads = 1)
  expect_match(as.character(verdict(fit)), "Documents have 1 token on average", all = FALSE)
})
