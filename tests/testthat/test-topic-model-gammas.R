# Gammas from tables (core/random_gamma_strips.h) as the topic model draws them: a million for each base, with and
# without counts, compared with R's distribution function.

# phi of one sweep from given topics. Term w of 1..200 has (k - 1) %% 23 tokens of topic k <= 46. So all counts that
# tables serve occur, and some that they do not serve. A row of phi times its own gamma sum, drawn by R, is a row of
# independent gammas. Returns the values of their distribution functions, and the counts.
gamma_probabilities <- function(base, topics = 1000L, terms = 1000L, documents = 100L, wrong = 1) {
  count <- matrix(0L, topics, terms)
  count[1:46, 1:200] <- (0:45) %% 23L
  tokens <- colSums(count)
  used <- which(tokens > 0)
  session <- native(C_topic_open, c(0L, cumsum(as.integer(tokens > 0))), (used - 1L) %% documents,
    as.integer(tokens[used]), documents,
    topics, 0L, NULL, resolve_run(threads = 2))
  on.exit(.Call(C_session_close, session))
  # By document, then by term; the tokens of a pair by topic.
  topic <- rep(rep(0:45, length(used)), count[1:46, used[order((used - 1L) %% documents, used)]])
  sweep <- one_topic_sweep(session, writeBin(topic, raw(), size = 2L), rep(base, topics), base, NULL,
    chain_key(7, 1), 1, c(0L, 0L, 0L), c(1, 1, 1, 1), c(FALSE, TRUE))
  shape <- base * wrong + count
  set.seed(1)
  value <- matrix(sweep$kept$phi, topics) * rgamma(topics, rowSums(base + count))
  p <- pgamma(value, shape)
  # The sampler takes weights below 2^-500 as 0.
  zero <- value == 0
  p[zero] <- runif(sum(zero)) * pgamma(2^-500, shape[zero])
  list(p = p, count = count)
}

test_that("gammas of many shapes from tables have their laws", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "the emulator's draws are identical to these")
  bases <- c(1e-3, 0.01, 0.1, 0.5, 1, 1.1, 5, 50)
  comparisons <- length(bases) * 5
  for (base in bases) {
    drawn <- gamma_probabilities(base)
    for (those in list(drawn$count == 0, drawn$count > 0 & drawn$count < 16, drawn$count >= 16)) {
      expect_distribution(drawn$p[those], identity, comparisons)
    }
    # Both tails on a log scale, and the middle in 200 parts.
    p <- drawn$p[drawn$count == 0]
    limits <- c(0, 10^(-6:-1), 1 - 10^(-1:-6), 1)
    for (breaks in list(limits, seq(0, 1, 0.005))) {
      seen <- tabulate(findInterval(p, breaks, all.inside = TRUE), length(breaks) - 1L)
      expected <- diff(breaks) * length(p)
      # Parts with an expected count below 5 are pooled with a neighbour.
      few <- cumsum(expected >= 5)
      few[few == 0] <- 1
      seen <- tapply(seen, few, sum)
      expected <- tapply(expected, few, sum)
      expect_lt(sum((seen - expected)^2 / expected),
        qchisq(false_alarm / comparisons, length(seen) - 1, lower.tail = FALSE)
      )
    }
  }
  # Planted errors: bases that are wrong by 2% are found.
  for (base in c(1e-3, 0.1, 1.1)) {
    p <- gamma_probabilities(base, wrong = 1.02)$p
    distance <- max(abs(sort(p) - seq_along(p) / length(p)))
    expect_gt(distance, sqrt(log(2 * comparisons / false_alarm) / (2 * length(p))))
  }
})

test_that("gammas from tables do not depend on threads, instruction set or backend", {
  skip_on_cran()
  # With 101 topics, rows also begin at odd elements.
  x <- small_counts(documents = 1000, terms = 1000, mean = 0.005)
  topics <- 101
  case <- function(...) fit_topics(x, topics, alpha = 0.1, beta = 0.05, iter = 2, warmup = 1, start = "random",
    seed = 4, ...)
  reference <- case(threads = 1, backend = "cpu")
  if (resolve_run()$backend != "cpu") return(expect_same_topics(case(threads = 2), reference))
  expect_same_topics(case(threads = 3), reference)
  for (isa in instruction_sets()) {
    expect_same_topics(with_options(list(warpbayes.isa = isa), case(threads = 2)), reference)
  }
  # A learned base has tables of its own in each sweep.
  learned <- function(...) {
    fit_topics(x, 1010, start = "random", alpha = "symmetric", beta = "learn", iter = 3, warmup = 1, seed = 4, ...)
  }
  if (!extended()) return(expect_same_topics(learned(threads = 2), learned(threads = 1)))
  reference <- learned(threads = 1)
  for (isa in instruction_sets()) {
    expect_same_topics(with_options(list(warpbayes.isa = isa), learned(threads = 2)), reference)
  }
})
