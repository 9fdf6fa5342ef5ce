# Priors of topic models that differ between terms, topics and groups of documents: the same bits everywhere, their
# laws, seed words, and bad input.

input <- "warpbayes_error_input"

# Few sweeps of few tokens do not hold their seeds, which is warned of.
structured <- function(..., x = small_counts(), iter = 5, warmup = 2, threads = 2) {
  suppressWarnings(topic_model(x, 20, iter = iter, warmup = warmup, seed = 1, threads = threads, ...))
}

test_that("fits with prior counts and groups do not depend on threads, instruction set or backend", {
  skip_on_cran()
  groups <- rep(c("a", "b", "c"), c(5, 6, 1))
  cases <- list(
    list(seed_words = list(c("w1", "w9"), "w6*"), groups = groups),
    list(beta = seq_len(70) / 70, alpha = "symmetric", groups = groups),
    list(beta = matrix(seq_len(1400) %% 7 / 4 + 0.1, 20), method = "mean_for_mode", groups = groups),
    list(alpha = matrix(seq_len(60) / 20, 3), groups = groups, keep = c("phi", "theta"), seed_words = list("w1"),
      beta = 0.2)
  )
  parts <- c(topic_parts, "group_alpha")
  for (case in cases) {
    reference <- do.call(structured, c(case, list(threads = 1, backend = "cpu")))
    expect_same_topics(do.call(structured, c(case, list(threads = 3))), reference, parts)
    expect_same_topics(do.call(structured, case), reference, parts)
    for (isa in instruction_sets()) {
      expect_same_topics(with_options(list(warpbayes.isa = isa), do.call(structured, case)), reference, parts)
    }
  }
  single <- do.call(structured, c(cases[[1L]], list(precision = "single", backend = "cpu", threads = 1)))
  expect_same_topics(do.call(structured, c(cases[[1L]], list(precision = "single", backend = "cpu"))), single, parts)
  whole <- do.call(structured, c(cases[[1L]], list(iter = 9)))
  expect_same_topics(continue(do.call(structured, cases[[1L]]), 4, threads = 2), whole, parts)
})

# All numbers of topics of the tokens of a toy corpus, and their log probability jointly with the words.
toy <- list(
  x = rbind(c(a = 2, b = 0, c = 1), c(0, 2, 0), c(1, 0, 1)),
  beta = rbind(c(0.3, 0.2, 1), c(0.1, 1.5, 0.4)), alpha = rbind(c(0.4, 0.9), c(1.3, 0.2)), group = c(1, 1, 2)
)
toy_states <- function(toy) {
  tokens <- tokens_of(toy$x)
  z <- as.matrix(expand.grid(rep(list(1:2), nrow(tokens))))
  list(tokens = tokens, z = z, count = function(k, of, value) {
    rowSums(z[, tokens[[of]] == value, drop = FALSE] == k)
  })
}
log_rising <- function(shape, count) lgamma(shape + count) - lgamma(shape)

# log p(z of the documents) + log p(words given z).
toy_log_words <- function(states, beta) {
  total <- 0
  for (k in 1:2) {
    size <- rowSums(states$z == k)
    total <- total - log_rising(sum(beta[k, ]), size)
    for (w in 1:3) total <- total + log_rising(beta[k, w], states$count(k, "term", w))
  }
  total
}
toy_log_topics <- function(states, alpha, group) {
  total <- 0
  for (d in seq_along(group)) {
    own <- alpha[group[[d]], ]
    total <- total - log_rising(sum(own), sum(states$tokens$document == d))
    for (k in 1:2) total <- total + log_rising(own[[k]], states$count(k, "document", d))
  }
  total
}
state_weights <- function(log_weight) {
  weight <- exp(log_weight - max(log_weight))
  weight / sum(weight)
}

# The distances of a chain's means from the truth, in standard errors from 40 means of batches. With the bound below a
# right sampler fails one of `comparisons` with probability 1e-6.
batch_z <- function(draws, truth) {
  batches <- apply(as.matrix(draws), 2L, function(x) colMeans(matrix(x[seq_len(40 * (length(x) %/% 40))], ncol = 40)))
  (colMeans(batches) - truth) / sqrt(apply(batches, 2L, var) / 40)
}
batch_bound <- function(comparisons) qt(1 - 1e-6 / (2 * comparisons), 39)

toy_fit <- function(toy, sweeps, ...) {
  topic_model(toy$x, 2, iter = sweeps, warmup = 100, thin = 4, seed = 3, threads = 1, ...)
}

test_that("theta and phi under given priors of terms and groups are those of an enumeration", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "the emulator's draws are identical to these")
  states <- toy_states(toy)
  weight <- state_weights(toy_log_words(states, toy$beta) + toy_log_topics(states, toy$alpha, toy$group))
  theta <- vapply(1:3, function(d) {
    own <- toy$alpha[toy$group[[d]], ]
    sum(weight * (own[[1L]] + states$count(1, "document", d)) / (sum(own) + sum(toy$x[d, ])))
  }, 0)
  phi <- vapply(1:3, function(w) {
    sum(weight * (toy$beta[1L, w] + states$count(1, "term", w)) / (sum(toy$beta[1L, ]) + rowSums(states$z == 1)))
  }, 0)
  sweeps <- if (extended()) 4e5 else 8000
  fit <- toy_fit(toy, sweeps, alpha = toy$alpha, beta = toy$beta, groups = toy$group, keep = c("phi", "theta"))
  z <- c(batch_z(t(fit$draws$theta[1L, , , 1L]), theta), batch_z(t(fit$draws$phi[1L, , , 1L]), phi))
  expect_lt(max(abs(z)), batch_bound(6))
  # The averages of the fit are the same means, more exactly.
  expect_lt(max(abs(c(fit$theta[, 1L] - theta, fit$phi[1L, ] - phi))), if (extended()) 0.005 else 0.02)
  # Power: the groups exchanged, and one prior count less.
  wrong <- toy_fit(toy, sweeps, alpha = toy$alpha[2:1, ], beta = toy$beta, groups = toy$group, keep = "theta")
  expect_gt(max(abs(batch_z(t(wrong$draws$theta[1L, , , 1L]), theta))), batch_bound(6))
  wrong <- toy_fit(toy, sweeps, alpha = toy$alpha, beta = pmin(toy$beta, 0.5), groups = toy$group, keep = "phi")
  expect_gt(max(abs(batch_z(t(wrong$draws$phi[1L, , , 1L]), phi))), batch_bound(6))
})

test_that("beta is learned beside prior counts as in an enumeration", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "the emulator's draws are identical to these")
  states <- toy_states(toy)
  # A seed word counts twice its tokens in topic 1; seed word b in topic 2.
  extra <- rbind(c(6, 0, 0), c(0, 4, 0))
  grid <- seq(-7, 3, length.out = 200)
  topics <- toy_log_topics(states, rbind(c(0.5, 0.5)), rep(1, 3))
  joint <- vapply(grid, function(log_beta) {
    toy_log_words(states, exp(log_beta) + extra) + topics + dgamma(exp(log_beta), 2, 3, log = TRUE) + log_beta
  }, topics)
  weight <- state_weights(joint)
  truth <- c(sum(colSums(weight) * grid), sum(colSums(weight) * grid^2))
  sweeps <- if (extended()) 4e5 else 10000
  fit <- toy_fit(toy, sweeps, alpha = 0.5, seed_words = list("a", "b"), seed_weight = 2, beta_prior = c(2, 3))
  log_beta <- log(fit$draws$beta[, 1L])
  expect_lt(max(abs(batch_z(cbind(log_beta, log_beta^2), truth))), batch_bound(2))
  # Power: another prior.
  wrong <- toy_fit(toy, sweeps, alpha = 0.5, seed_words = list("a", "b"), seed_weight = 2, beta_prior = c(3, 3))
  expect_gt(abs(batch_z(log(wrong$draws$beta[, 1L]), truth[[1L]])), batch_bound(2))
})

test_that("one alpha a group is learned as in an enumeration", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "the emulator's draws are identical to these")
  states <- toy_states(toy)
  words <- toy_log_words(states, toy$beta)
  grid <- seq(-6, 4, length.out = 60)
  # Of each group, the probability of z by alpha: states x grid.
  by_group <- lapply(1:2, function(group) {
    vapply(grid, function(log_alpha) {
      total <- 0
      for (d in which(toy$group == group)) {
        total <- total - log_rising(2 * exp(log_alpha), sum(toy$x[d, ]))
        for (k in 1:2) total <- total + log_rising(exp(log_alpha), states$count(k, "document", d))
      }
      exp(total)
    }, words)
  })
  sums <- numeric(6)
  for (likeness in 2^(0:6)) {
    prior <- vapply(grid, function(m) dgamma(exp(grid), likeness, likeness / exp(m)) * exp(grid), grid)
    of_mean <- dgamma(exp(grid), 2, 2) * exp(grid)
    given <- lapply(by_group, function(p) p %*% prior)
    first <- (by_group[[1L]] %*% (grid * prior)) * given[[2L]]
    second <- given[[1L]] * (by_group[[2L]] %*% (grid * prior))
    both <- given[[1L]] * given[[2L]]
    total <- function(value) sum(exp(words) * (value %*% of_mean))
    sums <- sums + c(total(both), total(first), total(second), sum(exp(words) * (both %*% (grid * of_mean))),
      likeness^c(-1, 1) * total(both))
  }
  truth <- sums[-1L] / sums[[1L]]
  sweeps <- if (extended()) 4e5 else 12000
  learn <- function(prior) {
    fit <- toy_fit(toy, sweeps, alpha = "symmetric", beta = toy$beta, groups = toy$group, alpha_prior = prior)
    draws <- fit$draws
    cbind(log(t(draws$group_alpha[1L, , , 1L])), log(draws$alpha[1L, , 1L]), 1 / draws$likeness[, 1L],
      draws$likeness[, 1L])
  }
  expect_lt(max(abs(batch_z(learn(c(2, 2)), truth))), batch_bound(5))
  expect_gt(max(abs(batch_z(learn(c(3, 2)), truth))), batch_bound(5))
})

test_that("with one topic the alphas of groups, their mean and their likeness have the law of their prior", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "the emulator's draws are identical to these")
  x <- matrix(c(4, 3, 9, 1), 4)
  sweeps <- if (extended()) 4e5 else 12000
  learn <- function(prior) {
    fit <- topic_model(x, 1, iter = sweeps, warmup = 100, thin = 4, seed = 2, threads = 1, beta = 1,
      groups = c(1, 2, 2, 3), alpha_prior = prior)
    draws <- fit$draws
    cbind(draws$alpha[1L, , 1L], draws$alpha[1L, , 1L]^2, log2(draws$likeness[, 1L]), log2(draws$likeness[, 1L])^2,
      t(draws$group_alpha[1L, , , 1L]))
  }
  # m ~ Ga(3, 2); log2 of the likeness is uniform on 0, ..., 6; the mean of alpha given m is m.
  truth <- c(1.5, 3, 3, mean((0:6)^2), 1.5, 1.5, 1.5)
  expect_lt(max(abs(batch_z(learn(c(3, 2)), truth))), batch_bound(7))
  expect_gt(max(abs(batch_z(learn(c(4, 2)), truth))), batch_bound(7))
})

test_that("small groups borrow from the others, large ones have their own alpha, and predictions use it", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "the emulator's draws are identical to these")
  phi <- block_topics(3, 10)
  one <- simulate_documents(80, 30, phi, c(2, 0.3, 0.1), seed = 1)$x
  two <- simulate_documents(80, 30, phi, c(0.1, 0.3, 2), seed = 2)$x
  x <- rbind(one, two, replace(one[1, ] * 0, 11, 1))
  rownames(x) <- NULL
  group <- rep(c("one", "two", "new"), c(80, 80, 1))
  fit <- topic_model(x, 3, groups = group, iter = 400, seed = 1, threads = 2, seed_words = list(
    first = c("w1", "w2"), second = c("w11", "w12"), third = c("w21", "w22")))
  expect_lt(max(diag(variation_distance(phi, unname(fit$phi)))), 0.25)
  expect_identical(rownames(fit$phi), c("first", "second", "third"))
  share <- fit$group_alpha / rowSums(fit$group_alpha)
  expect_lt(max(abs(share["one", ] - c(2, 0.3, 0.1) / 2.4)), 0.12)
  expect_lt(max(abs(share["two", ] - c(0.1, 0.3, 2) / 2.4)), 0.12)
  middle <- fit$alpha[[1L]] / sum(fit$alpha)
  expect_lt(abs(share["new", 1L] - middle), 0.3 * min(share["one", 1L] - middle, middle - share["two", 1L]))
  means <- summary(fit)$groups
  expect_equal(means["one", ], colSums(fit$theta[1:80, ] * fit$document_tokens[1:80]) / sum(fit$document_tokens[1:80]))
  expect_output(print(summary(fit)), "Mean of theta by group")
  # A document of one word tells little, so its group decides; without a group the mean does.
  word <- x[c(1, 1, 1, 1), ] * 0
  word[, "w11"] <- 1
  expect_message(
    guess <- predict(fit, word, groups = c("one", "two", NA, "other"), iter = 2000, seed = 1, threads = 2),
    "does not know 1 group, such as \"other\": the mean over groups")
  expect_gt(guess[1, "first"], 2 * guess[2, "first"])
  expect_gt(guess[2, "third"], 2 * guess[1, "third"])
  expect_equal(guess[3, ], guess[4, ], tolerance = 0.15)
  empty <- predict(fit, word[1:2, ] * 0 + c(0, 1) * word[1:2, ], groups = c("two", "one"), seed = 1, threads = 2)
  expect_equal(unname(empty[1, ]), unname(share["two", ]))
})

test_that("seed words lead topics, name them, and say what they cover", {
  skip_on_sanitized_emulator()
  phi <- block_topics(4, 10)
  x <- simulate_documents(60, 40, phi, rep(0.2, 4), seed = 5)$x
  fit <- topic_model(x, 5, seed_words = list(fourth = c("w31", "w32"), second = "w1?"), iter = 60, seed = 1,
    threads = 2)
  expect_identical(topic_names(fit), c("fourth", "second", "other1", "other2", "other3"))
  expect_gt(sum(fit$phi["fourth", 31:40]), 0.7)
  expect_gt(sum(fit$phi["second", 11:20]), 0.7)
  expect_identical(fit$seed_words$second, paste0("w", 10:19))
  expect_equal(fit$prior_counts[[2L, "w12"]], fit$seed_weight[[2L]] * sum(x[, "w12"]))
  covered <- sum(x[, c("w31", "w32", paste0("w", 10:19))])
  expect_output(print(fit), sprintf("seed words: 12 terms of 2 topics, which are %s of 2,400 tokens", covered))
  # Seeded topics keep their numbers in every chain.
  several <- topic_model(x, 5, seed_words = list("w31", "w11"), iter = 20, chains = 3, seed = 2, threads = 2)
  expect_null(several$topic_names)
  expect_identical(relabel(several)$match[1:2, ], matrix(1:2, 2, 3))
  expect_s3_class(continue(relabel(several), 2, threads = 2), "topic_model")
})

test_that("seeds hold, what they hold is told, and what they lose is warned of", {
  skip_on_sanitized_emulator()
  x <- simulate_documents(100, 50, block_topics(5, 8), rep(0.2, 5), seed = 6)$x
  lists <- list(one = c("w1", "w2"), two = c("w9", "w10", "absent"), three = "w17")
  expect_message(fit <- topic_model(x, 5, seed_words = lists, iter = 60, seed = 1, threads = 2),
    "no document has 1 seed word, which is left out: \"absent\"")
  expect_identical(fit$seed_words$two, c("w9", "w10"))
  # By hand: the topics of the tokens after the last sweep.
  tokens <- tokens_of(x)
  topic <- topics_of(fit$state[[1L]])
  shares <- c(mean(topic[tokens$term %in% 1:2] == 1), mean(topic[tokens$term %in% 9:10] == 2),
    mean(topic[tokens$term == 17] == 3))
  expect_equal(unname(seed_shares(fit)), shares)
  expect_gt(min(shares), 0.8)
  # Words that topics share by themselves need no large weight.
  expect_identical(fit$seed_weight, rep(0.1, 3))
  expect_output(print(fit), sprintf("stay in their topics: one %.0f%%", 100 * shares[[1L]]))
  # Seeds take merged topics: the start is not that of random topics, and finds the planted topics.
  expect_lt(max(matched_distance(block_topics(5, 8), fit$phi)), 0.3)
  random <- topic_model(x, 5, seed_words = lists[-2], start = "random", iter = 2, seed = 1, threads = 2)
  merged <- topic_model(x, 5, seed_words = lists[-2], iter = 2, seed = 1, threads = 2)
  expect_false(identical(random$state, merged$state))
  # Two lists of words that are of one subject: the lighter one cannot hold its words.
  torn <- list(a = c("w1", "w3", "w5"), b = c("w2", "w4", "w9"), c = c("w10", "w17"))
  expect_warning(topic_model(x, 5, seed_words = torn, seed_weight = 0.001, start = "random", iter = 60, seed = 1,
    threads = 2), "less than half of (its|their) seed tokens: .*\\(\\d+%\\)")
  strong <- suppressWarnings(topic_model(x, 5, seed_words = torn, iter = 60, seed = 1, threads = 2))
  expect_gt(max(strong$seed_weight), 0.1)
})

test_that("priors of terms are matched by name, and equal ones are the same as one number", {
  skip_on_sanitized_emulator()
  x <- small_counts()[, c(1:4, 9, 6)]
  colnames(x) <- paste0("w", 1:6)
  beta <- c(w6 = 6, w1 = 1, w2 = 2, w3 = 3, w4 = 4, w5 = 5)
  fit <- function(...) topic_model(x, 2, iter = 4, seed = 1, threads = 2, ...)
  expect_same_topics(fit(beta = beta), fit(beta = rbind(1:6, 1:6)))
  expect_same_topics(fit(beta = rep(0.3, 6)), fit(beta = 0.3))
  expect_same_topics(fit(groups = rep("one", 12)), fit())
  groups <- structure(rep(1:2, 6), names = paste0("d", 1:12))
  rownames(x) <- names(groups)
  expect_same_topics(fit(groups = rev(groups)), fit(groups = groups))
})

test_that("bad priors of terms, seed words and groups are refused", {
  skip_on_sanitized_emulator()
  x <- small_counts()[, 1:6]
  fit <- function(...) suppressWarnings(topic_model(x, 2, ..., iter = 2, seed = 1, threads = 2))
  expect_error(fit(beta = 1:5), "one for each of 6 terms or a matrix of 2 topics x 6 terms", class = input)
  expect_error(fit(beta = c(1:5, 0)), "`beta` must be positive numbers .* 0 for topic 1 and term \"w6\"", class = input)
  expect_error(fit(beta = matrix(1, 3, 6)), "must have 2 topics x 6 terms, but has 3 x 6", class = input)
  expect_error(fit(beta = matrix(c(1, NA), 2, 6)), "NA for topic 2 and term \"w1\"", class = input)
  expect_error(fit(beta = c(w1 = 1, w2 = 1, w3 = 1, w4 = 1, w5 = 1, x = 1)), "none or several for term \"w6\"",
    class = input)
  expect_error(fit(seed_words = "w1"), "`seed_words` must be a list", class = input)
  expect_error(fit(seed_words = list("w1", "w2", "w3")), "words of 3 topics, but the model has 2", class = input)
  expect_error(fit(seed_words = list(a = "w1", b = c("x*", "nowhere"))), "for topic \"b\": .*nowhere", class = input)
  expect_error(fit(seed_words = list("w5")), "no word that a document has for topic 1: \"w5\"", class = input)
  expect_error(fit(seed_words = list(a = "w1", a = "w2")), "a name of its own", class = input)
  expect_error(fit(seed_words = list("w1", character())), "no word for topic 2", class = input)
  expect_error(fit(seed_words = list("w1"), seed_weight = 0), "`seed_weight` must be", class = input)
  expect_error(topic_model(unname(x), 2, seed_words = list("w1")), "terms of `x` have no names", class = input)
  expect_error(fit(groups = 1:3), "`groups` has 3 values, but there are 12 documents", class = input)
  expect_error(fit(groups = 1:13), "12 documents: documents without words need a row of `x` too", class = input)
  # A missing value may also be a level.
  for (missing in list(rep(c("a", NA), 6), addNA(rep(c("a", NA), 6)))) {
    expect_error(fit(groups = missing), "`groups` has no value for 6 documents, such as .*\"unknown\"", class = input)
  }
  expect_error(fit(groups = c(NA, 1:11)), "no value for 1 document, such as", class = input)
  expect_error(fit(groups = list(1)), "`groups` must be a factor", class = input)
  groups <- rep(c("a", "b"), 6)
  expect_error(fit(groups = groups, alpha = matrix(1, 3, 2)), "2 groups x 2 topics, but has 3 x 2", class = input)
  expect_error(fit(groups = groups, alpha = matrix(c(1, 0), 2, 2)), "0 for group \"b\" and topic 1", class = input)
  expect_error(fit(groups = groups, alpha = matrix(1, 2, 2, dimnames = list(c("a", "c"), NULL))), "rows named",
    class = input)
  expect_error(fit(alpha = matrix(1, 2, 2)), "`alpha` must be", class = input)
  expect_error(topic_model(x, c(2, 3)), "compare_topics\\(\\) fits several", class = input)
  expect_error(predict(fit(), x, groups = groups), "not fitted in groups", class = input)
  expect_error(predict(fit(groups = groups), x, groups = "a"), "has 1 value, but there are 12", class = input)
  # A fit that was changed.
  good <- fit(groups = groups, seed_words = list("w1"))
  broken <- good
  broken$groups <- broken$groups[-1L]
  expect_error(continue(broken, 1), "`groups` that is not a factor", class = input)
  broken <- good
  broken$prior_counts[1L] <- -1
  expect_error(continue(broken, 1), "`prior_counts` that is not", class = input)
  broken <- good
  broken$state[[1L]]$common <- 1
  expect_error(continue(broken, 1), class = "warpbayes_error")
  broken <- good
  broken$group_alpha <- NULL
  expect_error(predict(broken, x), "`group_alpha` that is not", class = input)
})
