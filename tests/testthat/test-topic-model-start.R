# The start of topic models from merged topics.

planted <- function(seed) {
  set.seed(seed)
  phi <- matrix(rgamma(6 * 150, 0.05), 6)
  phi <- phi / rowSums(phi)
  c(list(phi = phi), simulate_documents(150, 40, phi, rep(0.15, 6), seed))
}
least_cosine <- function(phi, estimate) {
  estimate <- unname(estimate)
  cosine <- tcrossprod(phi / sqrt(rowSums(phi^2)), estimate / sqrt(rowSums(estimate^2)))
  min(cosine[cbind(seq_len(nrow(phi)), solve_assignment(1 - cosine))])
}

test_that("single chains from merged topics find all planted topics", {
  skip_where_repeated()
  # With seeds 1 to 100, 100 chains from merged topics found all six topics, and 70 from random topics. So without the
  # start the first check would fail with probability 1 - 0.7^10 = 0.97. The seeds are fixed: no false alarm.
  found <- function(seed, start) {
    data <- planted(seed)
    fit <- fit_topics(data$x, 6, iter = 60, start = start, seed = seed, threads = 1)
    least_cosine(data$phi, fit$phi) > 0.8
  }
  expect_true(all(vapply(1:10, found, NA, "merged")))
  expect_false(all(vapply(1:10, found, NA, "random")))
})

test_that("the cheapest pairs of topics are merged", {
  x <- small_counts(mean = 2)
  counts <- count_matrix(x)
  session <- open_topics(counts, 7, "double", resolve_run("cpu", 1))
  on.exit(.Call(C_session_close, session))
  topics <- native(C_topic_start, session, chain_key(5, 1))
  # Topic 6 has no tokens, and merging it costs nothing.
  number <- readBin(topics, "integer", counts$tokens, 2L, signed = FALSE)
  number[number == 5L] <- 0L
  merged <- readBin(
    native(C_topic_merge, session, writeBin(number, raw(), size = 2L), 5L), "integer", counts$tokens, 2L, signed = FALSE
  )
  of <- unclass(table(factor(number, 0:6), tokens_of(x)$term))
  entropy <- function(count) sum(ifelse(count > 0, count * log(count), 0))
  loss <- function(count) entropy(count) - entropy(sum(count))
  cost <- matrix(Inf, 7, 7)
  for (a in 1:6) {
    for (b in (a + 1):7) {
      size <- c(sum(of[a, ]), sum(of[b, ]))
      cost[a, b] <- (loss(of[a, ]) + loss(of[b, ]) - loss(of[a, ] + of[b, ])) / sqrt(prod(size) / (sum(size) + 1) + 1)
    }
  }
  to <- 1:7
  for (i in 1:2) {
    pair <- arrayInd(which.min(cost), dim(cost))
    to[[pair[[2L]]]] <- to[[pair[[1L]]]]
    cost[pair, ] <- Inf
    cost[, pair] <- Inf
  }
  expect_identical(merged + 1L, match(to, sort(unique(to)))[number + 1L])
  expect_true(6L %in% which(duplicated(to) | duplicated(to, fromLast = TRUE)))
})

test_that("more than 200 topics come from halves of merged topics", {
  expect_identical(topic_start_steps(1000), c(375, 313, 250, 200, 169, 150, 138, 125, 250, 500, 1000))
  expect_identical(tail(topic_start_steps(801), 4), c(101, 201, 401, 801))
  expect_identical(topic_start_steps(4), c(12, 10, 8, 7, 6, 5, 4))
  expect_identical(tail(topic_start_steps(200), 1), 200)
})

test_that("each token of a split topic goes to any of its parts with the same probability", {
  x <- matrix(c(3000, 0, 2000, 4000), 2)
  counts <- count_matrix(x)
  session <- open_topics(counts, 3, "double", resolve_run("cpu", 1))
  on.exit(.Call(C_session_close, session))
  topics <- native(C_topic_start, session, chain_key(5, 1))
  read <- function(raw) readBin(raw, "integer", counts$tokens, 2L, signed = FALSE)
  split <- function(to, iteration) read(native(C_topic_split, session, topics, to, chain_key(5, 1), iteration))
  # Ranges of 8 topics that the parts of the 3 have. All six comparisons together fail with probability 1e-6.
  first <- floor((0:3) * 8 / 3)
  for (iteration in 1:2) {
    parts <- split(8L, iteration)
    expect_identical(findInterval(parts, first) - 1L, read(topics))
    for (k in 1:3) {
      of <- table(factor(parts[read(topics) == k - 1L], first[[k]]:(first[[k + 1]] - 1)))
      expect_gt(stats::chisq.test(of)$p.value, 1e-6 / 6)
    }
  }
  expect_false(identical(split(8L, 1), split(8L, 2)))
  expect_identical(split(3L, 1), read(topics))
  expect_error(split(2L, 1), class = "warpbayes_error")
  expect_error(split(65537L, 1), class = "warpbayes_error")
})

test_that("many topics that were planted are found sooner than from random topics", {
  skip_where_repeated()
  # With seeds 1 to 8 the log likelihood after these few sweeps was 59,047 to 63,146 higher.
  set.seed(4)
  phi <- matrix(rgamma(220 * 900, 0.02), 220) + 1e-300
  data <- simulate_documents(1200, 60, phi / rowSums(phi), rep(0.01, 220), seed = 4)
  fit <- function(start) {
    fit_topics(data$x, 220, iter = 12, warmup = 8, start = start, seed = 3, threads = 2, precision = "single")
  }
  merged <- fit("merged")
  expect_gt(mean(merged$log_likelihood[9:12, 1]), mean(fit("random")$log_likelihood[9:12, 1]) + 4e4)
  # Whatever the threads, and on any backend.
  expect_same_topics(
    fit_topics(data$x, 220, iter = 12, warmup = 8, seed = 3, threads = 1, precision = "single"), merged
  )
})

test_that("topics that differ by what is given, and one topic, start at random", {
  x <- planted(1)$x
  start <- function(topics, ...) fit_topics(x, topics, iter = 1, warmup = 0, seed = 2, threads = 2, ...)$state
  expect_identical(start(3, alpha = c(1, 2, 3)), start(3, alpha = c(1, 2, 3), start = "random"))
  expect_identical(start(1), start(1, start = "random"))
  expect_false(identical(start(3), start(3, start = "random")))
  expect_error(fit_topics(x, 3, start = "spectral"), "`start` must be", class = "warpbayes_error_input")
})

test_that("documents without tokens and fewer tokens than topics have a start", {
  nothing <- topic_model(rbind(0, c(2, 1, 1), 0), 2, iter = 2, seed = 1, threads = 1)
  expect_equal(rowSums(nothing$theta), rep(1, 3), ignore_attr = TRUE)
  expect_warning(few <- topic_model(diag(2), 5, iter = 2, seed = 1, threads = 1), "more topics")
  expect_identical(dim(few$phi), c(5L, 2L))
})
