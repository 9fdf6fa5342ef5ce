# add_documents(): the prior that it takes from a fit, known answers, and bad input.

input <- "warpbayes_error_input"

old <- simulate_documents(60, 40, block_topics(3, 8), rep(0.2, 3), seed = 1)$x
new <- simulate_documents(40, 40, block_topics(3, 8), rep(0.2, 3), seed = 2)$x
rownames(new) <- paste0("new", 1:40)
# Made when a test first needs it: never where all of them are skipped.
delayedAssign("start", local({
  fit <- topic_model(old, 3, iter = 60, seed = 1, threads = 2)
  topic_names(fit) <- c("first", "second", "third")
  fit
}))

# Topics x terms: the tokens after the last sweep.
counts_of <- function(fit, x) {
  table(factor(topics_of(fit$state[[fit$reference]]), seq_len(fit$topics)),
    factor(tokens_of(x)$term, seq_len(ncol(x))))
}

test_that("an update has the counts of the fit as its prior", {
  fit <- add_documents(start, new, weight = 0.25, iter = 30, seed = 3, threads = 2)
  expected <- 0.25 * unclass(counts_of(start, old))
  expect_equal(unname(fit$prior_counts), unname(expected)[, colSums(expected) > 0])
  expect_equal(fit$earlier, 0.25 * sum(old))
  expect_identical(fit$documents, rownames(new))
  expect_identical(rownames(fit$phi), c("first", "second", "third"))
  expect_output(print(fit), "counts of 600 earlier tokens")
  # The same prior given as a matrix. Its least value is beta plus the least count.
  direct <- topic_model(new, 3, alpha = start$alpha, beta = start$beta + unname(expected), iter = 30, seed = 3,
    threads = 2)
  expect_equal(unname(fit$phi), unname(direct$phi))
  expect_equal(unname(fit$theta), unname(direct$theta))
  # A further update discounts the first fit again.
  again <- add_documents(fit, old[1:10, ], weight = 0.5, iter = 4, seed = 4, threads = 2)
  expect_equal(again$earlier, 0.5 * (sum(new) + fit$earlier))
  both <- 0.5 * (expected + unclass(counts_of(fit, new)))
  expect_equal(unname(again$prior_counts), unname(both)[, match(colnames(again$prior_counts), colnames(old))])
  expect_same_topics(
    continue(add_documents(start, new, iter = 20, warmup = 15, seed = 3, threads = 2), 10, threads = 2),
    add_documents(start, new, iter = 30, warmup = 15, seed = 3, threads = 1))
  # Draws of several chains, and relevant terms that only earlier documents have.
  several <- add_documents(start, new[, -1], chains = 2, iter = 10, seed = 5, threads = 2)
  expect_identical(relabel(several)$match, matrix(1:3, 3, 2))
  size <- colSums(new) * (colnames(new) != "w1") + colSums(counts_of(start, old))
  lift <- top_terms(several, 24, by = "lift")
  expect_equal(lift$score, lift$probability / unname(size / sum(size))[match(lift$term, colnames(new))])
})

test_that("an update comes near a fit to all documents, and nearer than the new documents alone", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "the emulator's draws are identical to these")
  truth <- block_topics(3, 8)
  few <- new[1:8, ]
  updated <- add_documents(start, few, iter = 100, seed = 1, threads = 2)
  whole <- topic_model(rbind(old, few), 3, iter = 300, chains = 2, seed = 1, threads = 2)
  alone <- topic_model(few, 3, iter = 300, chains = 2, seed = 1, threads = 2)
  expect_lt(mean(matched_distance(unname(whole$phi), updated$phi)), 0.05)
  expect_lt(mean(matched_distance(truth, updated$phi)), 0.5 * mean(matched_distance(truth, alone$phi)))
  # Topics keep their numbers.
  expect_identical(max.col(-variation_distance(unname(start$phi), unname(updated$phi))), 1:3)
})

# The toy corpus is split: the topics of its first document are given, those of the others are enumerated.
test_that("an update has the law of the posterior given the topics of the earlier tokens", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "the emulator's draws are identical to these")
  x <- rbind(c(a = 2, b = 0, c = 1), c(0, 2, 0), c(1, 0, 1))
  earlier <- topic_model(rbind(c(a = 3, b = 1, c = 2), c(0, 2, 1)), 2, alpha = 0.5, beta = 0.4, iter = 5, seed = 2,
    threads = 1)
  given <- unclass(counts_of(earlier, earlier_counts <- rbind(c(a = 3, b = 1, c = 2), c(0, 2, 1))))
  beta <- 0.4 + 0.5 * given
  tokens <- tokens_of(x)
  z <- as.matrix(expand.grid(rep(list(1:2), nrow(tokens))))
  rising <- function(shape, count) lgamma(shape + count) - lgamma(shape)
  log_weight <- 0
  term <- function(k, w) rowSums(z[, tokens$term == w, drop = FALSE] == k)
  share <- function(k, d) rowSums(z[, tokens$document == d, drop = FALSE] == k)
  for (k in 1:2) {
    log_weight <- log_weight - rising(sum(beta[k, ]), rowSums(z == k))
    for (w in 1:3) log_weight <- log_weight + rising(beta[k, w], term(k, w))
    for (d in 1:3) log_weight <- log_weight + rising(0.5, share(k, d))
  }
  weight <- exp(log_weight - max(log_weight))
  weight <- weight / sum(weight)
  phi <- vapply(1:3, function(w) sum(weight * (beta[1, w] + term(1, w)) / (sum(beta[1, ]) + rowSums(z == 1))), 0)
  theta <- vapply(1:3, function(d) sum(weight * (0.5 + share(1, d)) / (1 + sum(x[d, ]))), 0)
  sweeps <- if (extended()) 2e5 else 8000
  errors <- function(...) {
    fit <- add_documents(earlier, x, iter = sweeps, warmup = 100, seed = 3, threads = 1,
      control = warp_control(thin = 4, keep = c("phi", "theta")), ...)
    draws <- cbind(t(fit$draws$phi[1L, , , 1L]), t(fit$draws$theta[1L, , , 1L]))
    means <- apply(draws, 2L, function(x) colMeans(matrix(x[seq_len(40 * (length(x) %/% 40))], ncol = 40)))
    max(abs(colMeans(means) - c(phi, theta)) / sqrt(apply(means, 2L, var) / 40))
  }
  # A right update fails with probability 1e-6. Another weight is found.
  bound <- qt(1 - 1e-6 / 12, 39)
  expect_lt(errors(weight = 0.5), bound)
  expect_gt(errors(weight = 1), bound)
})

test_that("bad arguments of an update are refused", {
  go <- function(...) add_documents(start, ..., iter = 2, seed = 1, threads = 2)
  expect_error(go(), "call topic_model\\(\\) again", class = input)
  expect_error(go(topics = 5), "call topic_model\\(\\) again", class = input)
  expect_error(go(new, topics = 5), "topics", class = input)
  expect_error(go(new, weight = 0), "above 0 and at most 1, not 0", class = input)
  expect_error(go(new, weight = 1.5), "above 0 and at most 1, not 1.5", class = input)
  expect_error(go(matrix(1, 2, 2, dimnames = list(NULL, c("x", "y")))), "shares no term", class = input)
  expect_error(go(matrix(1, 1, 2, dimnames = list(NULL, c("x", "y")))), "shares no term", class = input)
  expect_message(go(cbind(new, unknown = 1)), "40 of 1,640 tokens")
  broken <- start
  broken$state[[1L]]$topics <- raw(4)
  expect_error(add_documents(broken, new), "`state` that is not the topics of all tokens", class = input)
  broken <- start
  broken$beta <- -1
  expect_error(add_documents(broken, new), "`beta` that is not a positive number", class = input)
})
