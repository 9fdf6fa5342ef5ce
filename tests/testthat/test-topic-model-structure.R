# Priors of topic models that differ between terms, topics and documents: the same bits everywhere, their
# laws, seed words, and bad input.

input <- "warpbayes_error_input"

# Few sweeps of few tokens do not hold their seeds, which is warned of.
structured <- function(..., x = small_counts(), iter = 5, warmup = 2, threads = 2) {
  suppressWarnings(fit_topics(x, 20, iter = iter, warmup = warmup, seed = 1, threads = threads, ...))
}

test_that("fits with prior counts and covariates do not depend on threads, instruction set or backend", {
  skip_on_cran()
  groups <- rep(c("a", "b", "c"), c(5, 6, 1))
  cases <- list(
    list(seed_words = list(c("w1", "w9"), "w6*"), prevalence = ~ groups),
    list(beta = seq_len(70) / 70, alpha = "symmetric"),
    list(beta = matrix(seq_len(1400) %% 7 / 4 + 0.1, 20), estimate = "mean"),
    list(prevalence = ~ groups + seq_along(groups), keep = c("phi", "theta"), seed_words = list("w1"), beta = 0.2)
  )
  for (case in cases) {
    reference <- do.call(structured, c(case, list(threads = 1, backend = "cpu")))
    expect_same_topics(do.call(structured, c(case, list(threads = 3))), reference)
    expect_same_topics(do.call(structured, case), reference)
    for (isa in instruction_sets()) {
      expect_same_topics(with_options(list(warpbayes.isa = isa), do.call(structured, case)), reference)
    }
  }
  single <- do.call(structured, c(cases[[1L]], list(precision = "single", backend = "cpu", threads = 1)))
  expect_same_topics(do.call(structured, c(cases[[1L]], list(precision = "single", backend = "cpu"))), single)
  whole <- do.call(structured, c(cases[[1L]], list(iter = 9)))
  expect_same_topics(continue(do.call(structured, cases[[1L]]), 4, threads = 2), whole)
})

# All numbers of topics of the tokens of a toy corpus, and their log probability jointly with the words.
toy <- list(
  x = rbind(c(a = 2, b = 0, c = 1), c(0, 2, 0), c(1, 0, 1)),
  beta = rbind(c(0.3, 0.2, 1), c(0.1, 1.5, 0.4)), alpha = c(0.4, 0.9)
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
toy_log_topics <- function(states, alpha) {
  total <- 0
  for (d in 1:3) {
    total <- total - log_rising(sum(alpha), sum(states$tokens$document == d))
    for (k in 1:2) total <- total + log_rising(alpha[[k]], states$count(k, "document", d))
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
  fit_topics(toy$x, 2, iter = sweeps, warmup = 100, thin = 4, seed = 3, threads = 1, ...)
}

test_that("theta and phi under given priors of terms are those of an enumeration", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "the emulator's draws are identical to these")
  states <- toy_states(toy)
  weight <- state_weights(toy_log_words(states, toy$beta) + toy_log_topics(states, toy$alpha))
  theta <- vapply(1:3, function(d) {
    sum(weight * (toy$alpha[[1L]] + states$count(1, "document", d)) / (sum(toy$alpha) + sum(toy$x[d, ])))
  }, 0)
  phi <- vapply(1:3, function(w) {
    sum(weight * (toy$beta[1L, w] + states$count(1, "term", w)) / (sum(toy$beta[1L, ]) + rowSums(states$z == 1)))
  }, 0)
  sweeps <- if (extended()) 4e5 else 8000
  fit <- toy_fit(toy, sweeps, alpha = toy$alpha, beta = toy$beta, keep = c("phi", "theta"))
  z <- c(batch_z(t(fit$draws$theta[1L, , , 1L]), theta), batch_z(t(fit$draws$phi[1L, , , 1L]), phi))
  expect_lt(max(abs(z)), batch_bound(6))
  # The averages of the fit are the same means, more exactly.
  expect_lt(max(abs(c(fit$theta[, 1L] - theta, fit$phi[1L, ] - phi))), if (extended()) 0.005 else 0.02)
  # Power: the topics exchanged, and one prior count less.
  wrong <- toy_fit(toy, sweeps, alpha = toy$alpha[2:1], beta = toy$beta, keep = "theta")
  expect_gt(max(abs(batch_z(t(wrong$draws$theta[1L, , , 1L]), theta))), batch_bound(6))
  wrong <- toy_fit(toy, sweeps, alpha = toy$alpha, beta = pmin(toy$beta, 0.5), keep = "phi")
  expect_gt(max(abs(batch_z(t(wrong$draws$phi[1L, , , 1L]), phi))), batch_bound(6))
})

test_that("beta is learned beside prior counts as in an enumeration", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "the emulator's draws are identical to these")
  states <- toy_states(toy)
  # A seed word counts twice its tokens in topic 1; seed word b in topic 2.
  extra <- rbind(c(6, 0, 0), c(0, 4, 0))
  grid <- seq(-7, 3, length.out = 200)
  topics <- toy_log_topics(states, c(0.5, 0.5))
  joint <- vapply(grid, function(log_beta) {
    toy_log_words(states, exp(log_beta) + extra) + topics + dgamma(exp(log_beta), 2, 3, log = TRUE) + log_beta
  }, topics)
  weight <- state_weights(joint)
  truth <- c(sum(colSums(weight) * grid), sum(colSums(weight) * grid^2))
  sweeps <- if (extended()) 4e5 else 10000
  fit <- toy_fit(toy, sweeps, alpha = 0.5, beta = list("learn", shape = 2, rate = 3),
    seed_words = list("a", "b", weight = 2))
  log_beta <- log(fit$draws$beta[, 1L])
  expect_lt(max(abs(batch_z(cbind(log_beta, log_beta^2), truth))), batch_bound(2))
  # Power: another prior.
  wrong <- toy_fit(toy, sweeps, alpha = 0.5, beta = list("learn", shape = 3, rate = 3),
    seed_words = list("a", "b", weight = 2))
  expect_gt(abs(batch_z(log(wrong$draws$beta[, 1L]), truth[[1L]])), batch_bound(2))
})

test_that("seed words lead topics, name them, and say what they cover", {
  skip_where_repeated()
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
  skip_where_repeated()
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
  random <- fit_topics(x, 5, seed_words = lists[-2], start = "random", iter = 2, seed = 1, threads = 2)
  merged <- topic_model(x, 5, seed_words = lists[-2], iter = 2, seed = 1, threads = 2)
  expect_false(identical(random$state, merged$state))
  # Two lists of words that are of one subject: the lighter one cannot hold its words.
  torn <- list(a = c("w1", "w3", "w5"), b = c("w2", "w4", "w9"), c = c("w10", "w17"))
  expect_warning(fit_topics(x, 5, seed_words = c(torn, weight = 0.001), start = "random", iter = 60, seed = 1,
    threads = 2), "less than half of (its|their) seed tokens: .*\\(\\d+%\\)")
})

test_that("larger weights of seed words are taken only where they hold more, also with topics to spare", {
  set.seed(1)
  phi <- matrix(rgamma(4 * 80, 0.1), 4)
  x <- simulate_documents(200, 25, phi / rowSums(phi), rep(0.4, 4), seed = 5)$x
  top <- apply(phi, 1L, function(row) paste0("w", order(-row)[1:3]))
  seeded <- function(topics, lists, seed = 3) {
    topic_model(x, topics, seed_words = lists, iter = 60, chains = 1, seed = seed, threads = 2)
  }
  # The second list would keep 10 to 30% with the weight of 0.9 that holds it in the first trials.
  for (seed in 1:3) {
    spare <- seeded(7, list(a = top[, 1L], b = top[, 2L]), seed)
    expect_gt(min(seed_shares(spare)), 0.6)
    expect_identical(spare$seed_weight, c(0.1, 0.1))
  }
  # Words of two subjects in each list.
  mixed <- list(a = c(top[1:2, 1L], top[1L, 2L]), b = c(top[2:3, 2L], top[3L, 1L]))
  strong <- seeded(4, mixed)
  expect_gt(min(strong$seed_weight), 0.1)
  expect_gt(min(seed_shares(strong)), min(seed_shares(seeded(4, c(mixed, weight = 0.1)))))
})

test_that("priors of terms are matched by name, and equal ones are the same as one number", {
  x <- small_counts()[, c(1:4, 9, 6)]
  colnames(x) <- paste0("w", 1:6)
  beta <- c(w6 = 6, w1 = 1, w2 = 2, w3 = 3, w4 = 4, w5 = 5)
  fit <- function(...) fit_topics(x, 2, iter = 4, seed = 1, threads = 2, ...)
  expect_same_topics(fit(beta = beta), fit(beta = rbind(1:6, 1:6)))
  expect_same_topics(fit(beta = rep(0.3, 6)), fit(beta = 0.3))
})

test_that("bad priors of terms and seed words are refused", {
  x <- small_counts()[, 1:6]
  fit <- function(...) suppressWarnings(fit_topics(x, 2, ..., iter = 2, seed = 1, threads = 2))
  expect_error(fit(beta = 1:5), "one for each of 6 terms or a matrix of 2 topics x 6 terms", class = input)
  expect_error(fit(beta = c(1:5, 0)), "`beta` must be positive numbers .* 0 for topic 1 and term \"w6\"", class = input)
  expect_error(fit(beta = matrix(1, 3, 6)), "must have 2 topics x 6 terms, but has 3 x 6", class = input)
  expect_error(fit(beta = matrix(c(1, NA), 2, 6)), "NA for topic 2 and term \"w1\"", class = input)
  expect_error(fit(beta = c(w1 = 1, w2 = 1, w3 = 1, w4 = 1, w5 = 1, x = 1)), "other than the terms .*\"x\", \"w6\"",
    class = input)
  expect_error(fit(seed_words = "w1"), "`seed_words` must be a list", class = input)
  expect_error(fit(seed_words = list("w1", "w2", "w3")), "words of 3 topics, but the model has 2", class = input)
  expect_error(fit(seed_words = list(a = "w1", b = c("x*", "nowhere"))), "for topic \"b\": .*nowhere", class = input)
  expect_error(fit(seed_words = list("w5")), "no word that a document has for topic 1: \"w5\"", class = input)
  expect_error(fit(seed_words = list(a = "w1", a = "w2")), "a name of its own", class = input)
  expect_error(fit(seed_words = list("w1", character())), "no word for topic 2", class = input)
  expect_error(fit(seed_words = list("w1", c("w2", NA))), "a missing or empty word for topic 2", class = input)
  expect_error(fit(seed_words = list(c("", "w1"))), "a missing or empty word for topic 1", class = input)
  expect_error(fit(seed_words = list("w1", weight = 0)), "`seed_words\\$weight` must be", class = input)
  expect_error(topic_model(unname(x), 2, seed_words = list("w1")), "terms of `x` have no names", class = input)
  expect_error(fit(alpha = matrix(1, 2, 2)), "`alpha` must be", class = input)
  expect_error(topic_model(x, c(2, 3)), "compare_topics\\(\\) fits several", class = input)
  # A fit that was changed.
  good <- fit(prevalence = ~ rep(1:2, 6), seed_words = list("w1"))
  broken <- good
  broken$prior_counts[1L] <- -1
  expect_error(continue(broken, 1), "`prior_counts` that is not", class = input)
  broken <- good
  broken$state[[1L]]$coefficients <- NULL
  expect_error(continue(broken, 1), class = "warpbayes_error")
})

test_that("seed words may be factors, and what is no words is named", {
  x <- small_counts()
  fit <- function(seeds) topic_model(x, 3, seed_words = seeds, iter = 4, chains = 1, seed = 1, threads = 1)
  words <- list(a = c("w1", "w2"), b = "w3")
  expect_same_topics(fit(lapply(words, factor)), fit(words))
  for (wrong in list(NULL, 1, NA, list("w1"))) {
    expect_error(fit(list(a = "w1", b = wrong)), paste("not a list that has", show_value(wrong)), fixed = TRUE,
      class = input)
  }
})
