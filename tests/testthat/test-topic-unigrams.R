# One topic a document: the law of the topics by enumeration, and what the fit says.

input <- "warpbayes_error_input"

tiny <- rbind(c(2, 0, 1), c(1, 1, 0), c(0, 2, 1), c(0, 0, 3), c(0, 0, 0))
colnames(tiny) <- c("a", "b", "c")

test_that("topics have their law, which is enumerated", {
  skip_where_repeated()
  # Prior counts of one topic keep topics apart.
  beta <- rbind(c(0.9, 0.4, 0.4), 0.4)
  n <- if (extended()) 60000 else 4000
  fit <- fit_topics(tiny, 2, alpha = "mixture", beta = beta, iter = n + 100, warmup = 100, chains = 1, keep = "theta",
    seed = 1, threads = 2)
  # log of the probability of the words of both topics, with phi and the shares integrated out.
  log_beta <- function(a) sum(lgamma(a)) - lgamma(sum(a))
  all <- as.matrix(expand.grid(rep(list(1:2), 4)))
  weight <- apply(all, 1, function(z) {
    words <- vapply(1:2, function(k) {
      log_beta(beta[k, ] + colSums(tiny[1:4, , drop = FALSE] * (z == k))) - log_beta(beta[k, ])
    }, 0)
    sum(words) + log_beta(1 + tabulate(z, 2))
  })
  weight <- exp(weight - max(weight)) / sum(exp(weight - max(weight)))
  expected <- drop(weight %*% (all == 1))
  # Probabilities given the terms are averaged too, and vary less. Fits average the topics themselves.
  draws <- fit$draws$theta[1, 1:4, , 1]
  error <- apply(draws, 1, sd) / sqrt(apply(draws, 1, function(one) effective_size(matrix(one))))
  expect_lt(max(abs(rowMeans(draws) - expected) / error), 4.5)
  expect_lt(max(abs(fit$theta[1:4, 1] - expected) / error), 9)
  # The shares of topics, and their spread.
  inside <- rowSums(all == 1)
  share <- fit$draws$alpha[1, , 1]
  for (power in 1:2) {
    seen <- share^power
    moment <- sum(weight * if (power == 1) (1 + inside) / 6 else (1 + inside) * (2 + inside) / 42)
    expect_lt(abs(mean(seen) - moment) / (sd(seen) / sqrt(effective_size(matrix(seen)))), 4.5)
  }
  expect_equal(fit$theta[5, 1], fit$alpha[[1]], ignore_attr = TRUE)
})

set.seed(2)
class <- rep(1:3, each = 40)
short <- t(vapply(class, function(k) as.double(rmultinom(1, 6, block_topics(3, 6)[k, ])), numeric(18)))
dimnames(short) <- list(NULL, paste0("w", 1:18))

test_that("short texts find their topic, and fits go on, predict and say what they are", {
  skip_where_repeated()
  fit <- topic_model(short, 3, alpha = "mixture", iter = 60, chains = 2, seed = 1, threads = 2)
  found <- predict(fit, type = "class")
  expect_gt(sum(apply(table(found, class), 2, max)) / 120, 0.95)
  part <- topic_model(short, 3, alpha = "mixture", iter = 41, warmup = 30, chains = 2, seed = 1, threads = 1)
  expect_same_topics(continue(part, 19, threads = 2), continue(continue(part, 10), 9))
  # Bayes' rule for new documents, in another order of terms.
  new <- short[c(5, 90), 18:1]
  weight <- exp(new[, 18:1] %*% t(log(fit$phi))) * rep(fit$alpha, each = 2)
  expect_equal(predict(fit, new), unname(weight / rowSums(weight)), tolerance = 1e-6, ignore_attr = TRUE)
  expect_lt(perplexity(fit, short, seed = 1), 10)
  expect_output(print(fit), "each document has one topic")
  expect_output(print(fit), "Both chains find each of the 3\\s+topics")
  expect_output(print(summary(fit)), "learned: shares of topics, beta")
  expect_false("alpha_sum" %in% summary(fit)$diagnostics$quantity)
  expect_identical(relabel(fit)$found, rep(1, 3))
  expect_identical(nrow(topic_stability(fit, 1, iter = 10, threads = 2)), 3L)
  # Other models are told of it where texts are short, and only there.
  plain <- topic_model(short, 3, iter = 20, chains = 1, seed = 1, threads = 2)
  expect_match(as.character(summary(plain)$verdict), "6 tokens on average.*alpha = \"mixture\"", all = FALSE)
  expect_no_match(as.character(summary(fit)$verdict), "on average")
  expect_no_match(as.character(verdict(topic_model(2 * short, 3, iter = 20, seed = 1, threads = 2))), "on average")
  expect_error(topic_effects(fit, ~ class), "documents have one topic", class = input)
  expect_error(add_documents(fit, short), "documents have one topic", class = input)
  expect_error(fit_topics(short, 3, alpha = "mixture", estimate = "mean"),
    "which alpha = \"mixture\" does not have", class = input)
})
