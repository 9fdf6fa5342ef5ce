# The sampler of topic models: one pass against plain R, the laws of theta and phi, the joint distribution (Geweke
# 2004), and that threads and instructions change nothing.

fit_small <- function(x = small_counts(), topics = 20, iter = 6, warmup = 2, seed = 1, threads = 2, ...) {
  fit_topics(x, topics, start = "random", iter = iter, warmup = warmup, seed = seed, threads = threads, ...)
}

test_that("a sweep draws the same topics as plain R from the same theta and phi", {
  x <- small_counts()
  for (topics in c(1, 2, 15, 16, 17, 31, 32, 33, 64, 65, 100, 130, 260)) {
    fit <- fit_topics(x, topics, alpha = 0.3, beta = 0.2, iter = 3, warmup = 2, keep = c("phi", "theta"),
      start = "random", seed = topics, threads = 2
    )
    expected <- reference_topics(x, t(matrix(fit$draws$theta[, , 1, 1], topics)),
      matrix(fit$draws$phi[, , 1, 1], topics), fit$state[[1L]]$key, 3
    )
    expect_equal(topics_of(fit$state[[1L]]), expected)
    # The log likelihood of these theta and phi.
    theta <- matrix(fit$draws$theta[, , 1, 1], topics)
    probability <- crossprod(theta, matrix(fit$draws$phi[, , 1, 1], topics))
    expect_equal(fit$log_likelihood[3, 1], sum(x * log(probability)), tolerance = 1e-10)
  }
})

test_that("a topic of weight zero is never drawn", {
  # With such a small alpha nearly all weights are 0 in single precision, but the weight of a token's own topic is not.
  x <- small_counts()
  fit <- fit_topics(x, 40, alpha = 1e-4, beta = 1e-4, iter = 40, warmup = 39, keep = c("phi", "theta"), seed = 3,
    start = "random", threads = 2, precision = "single"
  )
  tokens <- tokens_of(x)
  topic <- topics_of(fit$state[[1L]])
  weight <- fit$draws$theta[, , 1, 1][cbind(topic, tokens$document)] *
    fit$draws$phi[, , 1, 1][cbind(topic, tokens$term)]
  expect_true(all(weight > 0))
  expect_true(mean(fit$draws$phi == 0) > 0.5)
})

test_that("results do not depend on threads, instruction set or backend", {
  skip_on_cran()
  cases <- list(
    list(), list(topics = 3, chains = 2), list(estimate = "mean", topics = 33),
    list(alpha = "symmetric", beta = 0.1), list(alpha = "hdp", topics = 9),
    list(alpha = 0.2, topics = 150, keep = c("phi", "theta")), list(alpha = 5, beta = 3)
  )
  for (case in cases) {
    reference <- do.call(fit_small, c(case, list(threads = 1, backend = "cpu")))
    for (threads in c(2, 3)) {
      expect_same_topics(do.call(fit_small, c(case, list(threads = threads))), reference)
    }
    for (isa in instruction_sets()) {
      expect_same_topics(with_options(list(warpbayes.isa = isa), do.call(fit_small, case)), reference)
    }
  }
  single <- do.call(fit_small, list(precision = "single", backend = "cpu"))
  for (isa in instruction_sets()) {
    fit <- with_options(list(warpbayes.isa = isa), fit_small(precision = "single", backend = "cpu", threads = 1))
    expect_same_topics(fit, single)
  }
})

test_that("a continued run equals a longer run, also if a fit is continued twice", {
  x <- small_counts()
  whole <- fit_small(x, iter = 20, warmup = 5, thin = 2, chains = 2)
  half <- fit_small(x, iter = 8, warmup = 5, thin = 2, chains = 2)
  expect_same_topics(continue(half, 12, threads = 2), whole)
  expect_same_topics(continue(half, 12, threads = 2), whole)
  expect_same_topics(continue(continue(half, 1, threads = 1), 11, threads = 2), whole)
  expect_identical(whole$iter, 20)
  expect_identical(dim(whole$draws$beta), c(7L, 2L))
  expect_same_topics(fit_small(x, iter = 20, warmup = 5, thin = 2, chains = 2, progress = FALSE), whole)
})

test_that("slices over several kept draws give what slices of one sweep give", {
  x <- small_counts()
  for (case in list(list(), list(alpha = "symmetric", topics = 4), list(estimate = "mean", alpha = 0.3))) {
    fit <- function(iter) {
      do.call(fit_small, c(list(x, iter = iter, warmup = 3, thin = 2, chains = 2, keep = c("phi", "theta")), case))
    }
    whole <- fit(15)
    expect_gt(topic_kept_together(whole), 6)
    steps <- fit(5)
    for (sweep in 6:15) steps <- continue(steps, 1, threads = 1)
    expect_same_topics(steps, whole)
  }
})

test_that("the same seed repeats a fit, and NULL uses R's generator", {
  x <- small_counts()
  expect_identical(fit_small(x, seed = 5)$phi, fit_small(x, seed = 5)$phi)
  expect_false(identical(fit_small(x, seed = 5)$phi, fit_small(x, seed = 6)$phi))
  set.seed(3)
  first <- fit_small(x, seed = NULL)
  set.seed(3)
  expect_identical(fit_small(x, seed = NULL)$seed, first$seed)
  expect_identical(fit_small(x, seed = first$seed)$phi, first$phi)
})

# With one topic all tokens have it, so draws of phi are independent with a known Dirichlet law. So are draws of theta
# for a document without tokens.
test_that("phi and theta have the laws of their Dirichlets", {
  skip_where_repeated()
  draws <- if (resolve_run()$backend == "cpu") 4000 else 100
  x <- rbind(c(0, 1, 3, 40, 900, 0), 0)
  comparisons <- 3 * 6
  for (beta in c(0.02, 0.4, 1.3)) {
    fit <- fit_topics(x, 1, alpha = 1, beta = beta, iter = draws + 1, warmup = 1, keep = "phi", seed = 1, threads = 2)
    shape <- beta + x[1, ]
    for (w in seq_along(shape)) {
      expect_distribution(fit$draws$phi[1, w, , 1], function(q) pbeta(q, shape[[w]], sum(shape) - shape[[w]]),
        comparisons
      )
    }
  }
  alpha <- c(0.01, 0.1, 0.5, 0.99, 1, 2.5, 30)
  fit <- fit_topics(x, 7, alpha = alpha, beta = 1, iter = draws + 1, warmup = 1, keep = "theta", seed = 2, threads = 2)
  for (k in seq_along(alpha)) {
    expect_distribution(fit$draws$theta[k, 2, , 1], function(q) pbeta(q, alpha[[k]], sum(alpha) - alpha[[k]]),
      length(alpha)
    )
  }
})

# Geweke (2004): two ways to draw alpha, beta, topics and words must agree. One draws directly from the joint
# distribution. The other is a chain of sweeps, each followed by new words given topics and beta, which are those of a
# new phi from its prior. The sweep's own phi would not do: it was drawn before beta, which the sweep draws from its law
# without phi. The sampler takes the words of a document in the order of their terms, so topics are sorted with them.
geweke_direct <- function(n, lengths, v, k, prior, shape = function() prior[[1L]]) {
  t(vapply(seq_len(n), function(i) {
    alpha <- pmax(rgamma(k, shape(), prior[[2L]]), 1e-100)
    beta <- rgamma(1, prior[[3L]], prior[[4L]])
    phi <- matrix(rgamma(k * v, beta), k) + 1e-300
    phi <- phi / rowSums(phi)
    words <- lapply(lengths, function(length) {
      theta <- rgamma(k, alpha) + 1e-300
      z <- sample.int(k, length, TRUE, theta)
      list(z = z, w = vapply(z, function(z) sample.int(v, 1L, prob = phi[z, ]), 0L))
    })
    geweke_quantities(alpha, beta, words, v)
  }, numeric(10)))
}

geweke_quantities <- function(alpha, beta, words, v) {
  w <- unlist(lapply(words, `[[`, "w"))
  z <- unlist(lapply(words, `[[`, "z"))
  first <- words[[1L]]
  c(
    log(alpha[[1L]]), log(alpha[[2L]]), log(beta), log(sum(alpha)), sum(first$z == 1L), length(unique(w)),
    length(unique(z)),
    sum(tabulate(z)^2), sum(tabulate(first$w, v)^2), sum(table(z, w)^2)
  )
}

geweke_chain <- function(n, lengths, v, k, prior, method = c(0L, 2L, 1L), change = identity) {
  run <- resolve_run("cpu", 1)
  key <- chain_key(99, 1)
  alpha <- rep(prior[[1L]] / prior[[2L]], k)
  beta <- prior[[3L]] / prior[[4L]]
  words <- lapply(lengths,
    function(length) list(z = rep_len(seq_len(k), length), w = sort(rep_len(seq_len(v), length)))
  )
  of <- rep(seq_along(lengths), lengths)
  out <- matrix(0, n, 10)
  for (i in seq_len(n)) {
    x <- t(vapply(words, function(document) tabulate(document$w, v), integer(v)))
    at <- which(x > 0)
    session <- native(C_topic_open, c(0L, cumsum(as.integer(colSums(x > 0)))), as.integer((at - 1) %% nrow(x)),
      as.integer(x[at]), nrow(x),
      as.integer(k), 0L, NULL, run)
    z <- unlist(lapply(words, `[[`, "z"))
    sweep <- one_topic_sweep(session, writeBin(z - 1L, raw(), size = 2L), change(alpha), beta, NULL, key, i, method,
      prior, c(FALSE, FALSE))
    .Call(C_session_close, session)
    alpha <- sweep$alpha
    beta <- sweep$beta
    z <- readBin(sweep$topics, "integer", length(z), size = 2L, signed = FALSE) + 1L
    cumulative <- matrix(rgamma(k * v, beta), k) + 1e-300
    for (w in seq_len(v)[-1L]) cumulative[, w] <- cumulative[, w - 1L] + cumulative[, w]
    w <- rowSums(cumulative[z, , drop = FALSE] < runif(length(z)) * cumulative[z, v]) + 1L
    w <- pmin(w, v)
    order <- order(of, w)
    words <- Map(function(z, w) list(z = z, w = w), split(z[order], of), split(w[order], of))
    out[i, ] <- geweke_quantities(alpha, beta, words, v)
  }
  out
}

# Batch means give the chain's error. If all is right, one of the ten comparisons fails with probability 1e-6 / 10.
geweke_z <- function(chain, direct) {
  batches <- 50
  size <- nrow(chain) %/% batches
  means <- apply(chain[seq_len(batches * size), ], 2L, function(x) colMeans(matrix(x, size)))
  (colMeans(means) - colMeans(direct)) / sqrt(apply(means, 2L, var) / batches + apply(direct, 2L, var) / nrow(direct))
}

test_that("words and parameters have their joint distribution, and planted errors are found", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "thousands of sessions: the emulator's draws are identical to these")
  n <- if (extended()) 2e5 else 2500
  lengths <- c(4, 3, 5)
  prior <- c(3, 3, 3, 3)
  set.seed(10)
  direct <- geweke_direct(2 * n, lengths, 3, 2, prior)
  bound <- qt(1 - 1e-6 / 20, 49)
  expect_lt(max(abs(geweke_z(geweke_chain(n, lengths, 3, 2, prior), direct))), bound)
  # The hierarchical Dirichlet process: a gamma prior whose shape is learned.
  process <- geweke_direct(2 * n, lengths, 3, 2, prior, function() prior[[1L]] / 2 * 2^sample(-2:6, 1L))
  chain <- geweke_chain(n, lengths, 3, 2, prior, c(0L, 3L, 1L))
  expect_lt(max(abs(geweke_z(chain, process))), bound)
  skip_if(!extended(), "planted errors are a test of the test")
  # Planted errors: means instead of draws; alpha a third too large in each sweep; another prior of beta.
  expect_gt(max(abs(geweke_z(geweke_chain(n, lengths, 3, 2, prior, c(1L, 2L, 1L)), direct))), bound)
  expect_gt(max(abs(geweke_z(geweke_chain(n, lengths, 3, 2, prior, change = function(alpha) 1.33 * alpha), direct))),
    bound
  )
  expect_gt(max(abs(geweke_z(geweke_chain(n, lengths, 3, 2, c(3, 3, 4, 3)), direct))), bound)
  # Shapes 16 times as large.
  wrong <- geweke_direct(2 * n, lengths, 3, 2, prior, function() prior[[1L]] / 2 * 2^sample(2:10, 1L))
  expect_gt(max(abs(geweke_z(chain, wrong))), bound)
})

test_that("the number of topics is learned, and unused topics are left out", {
  skip_where_repeated()
  data <- simulate_documents(200, 60, block_topics(4, 20), c(0.4, 0.3, 0.2, 0.2), seed = 4)
  fit <- topic_model(data$x, 12, alpha = "hdp", iter = 200, chains = 2, seed = 2, threads = 1)
  table <- number_of_topics(fit)
  expect_identical(names(table), c("chain", "topics", "probability"))
  expect_equal(as.vector(tapply(table$probability, table$chain, sum)), c(1, 1))
  expect_identical(as.vector(tapply(seq_len(nrow(table)), table$chain,
    function(rows) table$topics[rows][[which.max(table$probability[rows])]])), c(4L, 4L))
  words <- summary(fit)
  expect_identical(nrow(words$topics), 4L)
  expect_output(print(fit), "at most 12 topics.*number of topics is learned: 4, 90% interval 4 to .*of the 4\\s+topics")
  expect_no_match(words$words, "the limit decides")
  few <- topic_model(data$x, 3, alpha = "hdp", iter = 10, seed = 2, threads = 1)
  expect_match(topic_words(few), "is learned: 3, 90% interval 3 to 3$", all = FALSE)
  expect_match(topic_words(few), "all topics that were allowed are used, so the limit decides", all = FALSE)
  expect_match(paste(as.character(words$verdict), collapse = " "), "Both chains find each of the 4 topics")
  expect_identical(nrow(topic_stability(fit, restarts = 0)), 4L)
  expect_identical(chosen_topics(fit, NULL), sort(used_topics(fit)))
  expect_identical(apply(cbind(c(90, 9, 1), c(50, 46, 4), c(100, 0, 0), 5), 2L, used_number), c(2L, 3L, 1L, 3L))
  expect_identical(apply(fit$draws$tokens, 2:3, sum), matrix(12000, 100, 2))
  again <- relabel(fit, average = FALSE)
  expect_equal(again$draws$tokens[, 1, 2], fit$draws$tokens[again$match[, 2], 1, 2])
  # The start leaves topics empty, also where nothing is left to predict.
  expect_lt(process_start_number(fit, chain_key(2, 1), resolve_run("cpu", 1)), 12)
  tiny <- topic_model(diag(3), 3, alpha = "hdp", iter = 4, seed = 1, threads = 1)
  expect_true(all(number_of_topics(tiny)$topics %in% 1:3))
  expect_error(number_of_topics(topic_model(data$x, 2, iter = 2, threads = 1)), "has a given number",
    class = "warpbayes_error_input")
})

test_that("known topics are found, and learned alpha and beta are near the truth", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "the emulator's draws are identical to these")
  phi <- block_topics(5, 20)
  alpha <- c(0.5, 0.3, 0.2, 0.1, 0.1)
  data <- simulate_documents(400, 80, phi, alpha, seed = 4)
  for (estimate in c("mode", "mean")) {
    # The better of two chains, because one may end in a lower mode. One thread costs least processor time.
    fit <- fit_topics(data$x, 5, estimate = estimate, iter = 100, chains = 2, seed = 2, threads = 1)
    expect_lt(mean(matched_distance(phi, fit$phi)), 0.08)
    order <- solve_assignment(variation_distance(phi, unname(fit$phi)))
    expect_lt(mean(abs(data$theta - fit$theta[, order])), 0.04)
    expect_lt(max(abs(log(fit$alpha[order] / alpha))), if (estimate == "mode") 0.6 else 1)
  }
  # Topics drawn from their prior.
  set.seed(8)
  phi <- matrix(rgamma(8 * 200, 0.1), 8)
  data <- simulate_documents(500, 100, phi / rowSums(phi), rep(0.2, 8), seed = 9)
  fit <- topic_model(data$x, 8, alpha = "symmetric", iter = 120, seed = 1, threads = 1)
  expect_lt(abs(log(fit$alpha[[1L]] / 0.2)), 0.25)
  expect_lt(abs(log(fit$beta / 0.1)), 0.25)
})

# The law of alpha given the topics, on a grid. Documents of one of two topics leave the sum of alpha nearly free, which
# tables and sticks move in hundreds of sweeps.
test_that("learned alpha has its law given the topics, and its sum mixes", {
  skip_where_repeated()
  x <- rbind(cbind(rep(c(50, 7), c(60, 5)), 0), cbind(0, rep(50, 70)), c(20, 30))
  size <- rowSums(x)
  topics <- writeBin(unlist(lapply(seq_along(size), function(d) rep(0:1, x[d, ]))), raw(), size = 2L)
  session <- open_topics(count_matrix(x), 2, "double", resolve_run(NULL, 1))
  on.exit(.Call(C_session_close, session))
  n <- if (extended()) 20000 else 1500
  # Beta is so small that each term stays in its topic.
  draws_of <- function(kind) {
    alpha <- c(0.5, 0.5)
    t(vapply(seq_len(n), function(i) {
      sweep <- one_topic_sweep(session, topics, alpha, 1e-8, NULL, chain_key(7, 1), i, c(0L, kind, 0L),
        c(1.5, 0.7, 1, 1), c(FALSE, FALSE))
      if (!identical(sweep$topics, topics)) stop("topics have moved")
      alpha <<- sweep$alpha
    }, c(0, 0)))
  }
  grid <- seq(-30, 4, 0.05)
  a <- exp(grid)
  total <- outer(a, a, `+`)
  rising <- function(a, count) {
    Reduce(`+`, lapply(unique(count[count > 0]), function(n) sum(count == n) * (lgamma(a + n) - lgamma(a))))
  }
  likelihood <- outer(rising(a, x[, 1L]), rising(a, x[, 2L]), `+`) - rising(total, size)
  # The density of log alpha.
  gamma <- function(shape) shape * grid - 0.7 * a + shape * log(0.7) - lgamma(shape)
  pair <- function(shape) exp(outer(gamma(shape), gamma(shape), `+`) + likelihood - max(likelihood))
  common <- exp(gamma(1.5) + diag(likelihood) - max(diag(likelihood)))
  process <- Reduce(`+`, lapply(1.5 * 2^(-2:6) / 2, pair))
  check <- function(values, probability) {
    at <- c(0.1, 0.25, 0.5, 0.75, 0.9)
    limits <- stats::approx(cumsum(probability) / sum(probability), grid + 0.025, at, ties = "ordered")$y
    seen <- vapply(limits, function(limit) mean(values <= limit), 0)
    worth <- vapply(limits, function(limit) effective_size(matrix(as.numeric(values <= limit))), 0)
    # Five limits within 4.5 standard errors: a false alarm in 3e-5.
    expect_lt(max(abs(seen - at) / sqrt(at * (1 - at) / worth)), 4.5)
  }
  each <- draws_of(2L)
  check(log(each[, 1L]), rowSums(pair(1.5)))
  check(log(each[, 2L]), colSums(pair(1.5)))
  expect_gt(effective_size(matrix(log(rowSums(each)))), n / 3)
  check(log(draws_of(1L)[, 1L]), common)
  check(log(draws_of(3L)[, 1L]), rowSums(process))
})
