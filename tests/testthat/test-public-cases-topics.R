# Cases that users of other packages reported in public, rebuilt small: what went wrong there must not go wrong here.

input <- "warpbayes_error_input"
planted <- simulate_documents(80, 30, block_topics(4, 8), rep(0.2, 4), seed = 12)$x

test_that("metadata keep to their documents if some documents are gone (stm 247, 272)", {
  skip_where_repeated()
  meta <- data.frame(doc_id = rownames(planted), first = planted[, "w1"] > 0)
  left <- planted[-c(3, 4, 50), ]
  model <- function(data) {
    suppressMessages(topic_model(left, 4, prevalence = ~ first, data = data, iter = 20, chains = 1, seed = 1))
  }
  expect_identical(model(meta)$phi, model(meta[rownames(left), ])$phi)
  expect_identical(model(meta[80:1, ])$theta, model(meta)$theta)
  expect_error(model(meta[-10, ]), "none for the document \"d10\"", class = input)
  # Without names, other numbers of rows are refused, not recycled.
  expect_error(suppressMessages(topic_model(unname(left), 4, prevalence = ~ first, data = meta["first"])),
    "a row for each of 77 documents", class = input)
})

test_that("tidy tables have all topics, in order, also of a fit that was saved (tidytext 101, 166)", {
  skip_where_repeated()
  skip_if_not_installed("generics")
  group <- rep(c("a", "b"), 40)
  fit <- topic_model(planted, 12, prevalence = ~ group, iter = 40, chains = 1, seed = 1, threads = 2)
  file <- tempfile(fileext = ".rds")
  saveRDS(fit, file)
  again <- readRDS(file)
  expect_identical(generics::tidy(again), generics::tidy(fit))
  effects <- generics::tidy(topic_effects(again))
  expect_identical(effects$topic, rep(1:12, each = 2))
  expect_true(all(is.finite(as.matrix(effects[c("estimate", "std.error", "conf.low", "conf.high")]))))
})

test_that("keywords that are missing or absent are told in words (keyATM 177)", {
  skip_where_repeated()
  expect_error(topic_model(planted, 4, seed_words = list(one = c("w1", NA), two = "w9")),
    "a missing or empty word for topic 1", class = input)
  absent <- list(one = c("w1", "interest_rates", "net_margins"), two = "w9")
  expect_message(topic_model(planted, 4, seed_words = absent, iter = 20, chains = 1, seed = 1, threads = 2),
    "no document has 2 seed words, which are left out: \"interest_rates\", \"net_margins\"")
})

test_that("shares of new documents are finite and sum to one, whatever their words (gensim 2306)", {
  skip_where_repeated()
  fit <- topic_model(cbind(planted, rare = c(1, rep(0, 79))), 4, iter = 40, chains = 1, seed = 1, threads = 2)
  rare <- matrix(0, 3, 33, dimnames = list(NULL, fit$terms))
  rare[1, "rare"] <- 1e5
  rare[2, ] <- 1
  theta <- predict(fit, rare, seed = 1, threads = 2)
  expect_true(all(is.finite(theta) & theta > 0))
  expect_equal(unname(rowSums(theta)), rep(1, 3))
})

test_that("held-out perplexity is below that of the words' frequencies (scikit-learn 8943, gensim 2443)", {
  skip_where_repeated()
  new <- simulate_documents(40, 30, block_topics(4, 8), rep(0.2, 4), seed = 13)$x
  share <- colSums(planted) / sum(planted)
  baseline <- exp(-sum(new * log(rep(share, each = 40))) / sum(new))
  for (topics in c(4, 60)) {
    fit <- topic_model(planted, topics, iter = 60, chains = 1, seed = 1, threads = 2)
    expect_lt(as.numeric(perplexity(fit, new, seed = 1, threads = 2)), baseline)
  }
})
