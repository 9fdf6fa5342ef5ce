# The interface of topic models: classes of counts, bad input, names, prediction, tables, plots.

input <- "warpbayes_error_input"

set.seed(5)
subjects <- block_topics(3, 6)
news <- simulate_documents(40, 30, subjects, rep(0.2, 3), seed = 6)$x
small <- fit_topics(news, 3, iter = 60, chains = 2, seed = 1, threads = 2, keep = c("phi", "theta"))

test_that("a fit has the parts that its help page names", {
  expect_s3_class(small, "topic_model")
  expect_identical(dim(small$phi), c(3L, 18L))
  expect_identical(dimnames(small$phi), list(NULL, colnames(news)))
  expect_identical(dimnames(small$theta), list(rownames(news), NULL))
  expect_equal(rowSums(small$phi), rep(1, 3))
  expect_equal(unname(rowSums(small$theta)), rep(1, 40))
  expect_identical(dim(small$log_likelihood), c(60L, 2L))
  expect_identical(dim(small$draws$phi), c(3L, 18L, 30L, 2L))
  expect_identical(dim(small$draws$theta), c(3L, 40L, 30L, 2L))
  expect_identical(dim(small$draws$alpha), c(3L, 30L, 2L))
  expect_equal(as.vector(apply(small$draws$phi, c(1, 3, 4), sum)), rep(1, 180))
  expect_equal(colSums(small$tokens), rep(sum(news), 2))
  # Averages of conditional means are near the averages of draws.
  reference <- small$reference
  expect_lt(max(abs(apply(small$draws$phi[, , , reference], 1:2, mean) - small$phi)), 0.03)
  expect_lt(max(abs(apply(small$draws$theta[, , , reference], 1:2, mean) - t(small$theta))), 0.12)
})

test_that("averages are the conditional means given the topics of the kept sweeps", {
  one <- topic_model(news, 3, alpha = c(0.1, 0.2, 0.3), beta = 0.05, iter = 5, warmup = 4, seed = 1, threads = 2)
  tokens <- tokens_of(news)
  topic <- topics_of(one$state[[1L]])
  document_counts <- table(factor(tokens$document, 1:40), factor(topic, 1:3))
  term_counts <- table(factor(topic, 1:3), factor(tokens$term, 1:18))
  theta <- t((t(matrix(document_counts, 40)) + c(0.1, 0.2, 0.3)) / rep(rowSums(news) + 0.6, each = 3))
  expect_equal(unname(one$theta), theta)
  expect_equal(unname(one$phi), (matrix(term_counts, 3) + 0.05) / (rowSums(term_counts) + 18 * 0.05))
  # With two kept sweeps.
  both <- topic_model(news, 3, alpha = c(0.1, 0.2, 0.3), beta = 0.05, iter = 6, warmup = 4, seed = 1, threads = 2)
  last <- topic_model(news, 3, alpha = c(0.1, 0.2, 0.3), beta = 0.05, iter = 6, warmup = 5, seed = 1, threads = 2)
  expect_equal(both$phi, (one$phi + last$phi) / 2)
  expect_equal(both$theta, (one$theta + last$theta) / 2)
})

test_that("counts of every class give the same fit", {
  fit <- function(x) fit_topics(x, 2, iter = 4, start = "random", seed = 1, threads = 2)
  expected <- fit(news)
  check <- function(x) {
    other <- fit(x)
    expect_identical(other$phi, expected$phi)
    expect_identical(other$theta, expected$theta)
  }
  storage <- news
  storage.mode(storage) <- "integer"
  check(storage)
  at <- which(news > 0, arr.ind = TRUE)
  table <- data.frame(document = rownames(news)[at[, 1]], term = colnames(news)[at[, 2]], count = news[at])
  table <- table[order(match(table$document, rownames(news))), ]
  table$document <- factor(table$document, rownames(news))
  table$term <- factor(table$term, colnames(news))
  check(table)
  check(stats::setNames(table, c("doc", "word", "n")))
  check(stats::setNames(table[c(2, 1, 3)], c("Word", "Doc_ID", "Freq")))
  check(cbind(id = 1, doc = "unused", table))
  # Two rows of one pair add up to one count.
  split <- rbind(transform(table[table$count > 1, ], count = 1),
    transform(table, count = ifelse(count > 1, count - 1, count))
  )
  check(split)
  triplets <- list(i = at[, 1], j = at[, 2], v = news[at], nrow = 40L, ncol = 18L, dimnames = dimnames(news))
  check(structure(triplets, class = "simple_triplet_matrix"))
  check(structure(triplets, class = c("DocumentTermMatrix", "simple_triplet_matrix")))
  turned <- list(i = at[, 2], j = at[, 1], v = news[at], nrow = 18L, ncol = 40L, dimnames = rev(dimnames(news)))
  check(structure(turned, class = c("TermDocumentMatrix", "simple_triplet_matrix")))
  skip_if_not_installed("Matrix")
  sparse <- methods::as(methods::as(news, "dMatrix"), "generalMatrix")
  for (class in c("CsparseMatrix", "TsparseMatrix", "RsparseMatrix")) {
    check(methods::as(sparse, class))
  }
  # The class as quanteda defines it.
  methods::setClass("dfm", contains = "dgCMatrix", slots = c(meta = "list"), where = environment())
  dfm <- methods::new("dfm", methods::as(sparse, "CsparseMatrix"))
  check(dfm)
  expect_identical(fit(Matrix::Matrix(news > 0, sparse = TRUE))$phi, fit((news > 0) + 0)$phi)
  expect_identical(fit(news > 0)$phi, fit((news > 0) + 0)$phi)
})

test_that("matrices made by tm and slam are accepted", {
  skip_if_not_installed("slam")
  dtm <- slam::as.simple_triplet_matrix(news)
  expect_identical(fit_topics(dtm, 2, iter = 4, start = "random", seed = 1, threads = 2)$phi,
    fit_topics(news, 2, iter = 4, start = "random", seed = 1, threads = 2)$phi
  )
})

test_that("invalid counts are refused, and the message gives their place", {
  fit <- function(x, topics = 2, ...) fit_topics(x, topics, iter = 4, threads = 2, seed = 1, ...)
  wrong <- news
  wrong[3, 2] <- -1
  expect_error(fit(wrong), "whole numbers from 0 on, but has -1 for document \"d3\" and term \"w2\"", class = input)
  wrong[3, 2] <- 0.5
  expect_error(fit(wrong), "but has 0.5 for document \"d3\" and term \"w2\"", class = input)
  wrong[1, 7] <- NA
  expect_error(fit(wrong), "but has NA for document \"d1\" and term \"w7\"", class = input)
  wrong[1, 7] <- Inf
  expect_error(fit(unname(wrong)), "but has Inf for document 1 and term 7", class = input)
  expect_error(fit(matrix(0, 3, 2)), "has no tokens: all its counts are 0", class = input)
  expect_error(fit(matrix(0, 0, 2)), "has 0 documents and 2 terms: it is empty", class = input)
  expect_error(fit(matrix(0, 2, 0)), "has 2 documents and 0 terms", class = input)
  twice <- news
  colnames(twice)[4] <- "w1"
  expect_error(fit(twice), "has two terms named \"w1\"", class = input)
  rownames(wrong)[2] <- "d1"
  expect_error(fit(replace(wrong, 1:720, 1)), "has two documents named \"d1\"", class = input)
  colnames(twice)[4] <- NA
  expect_error(fit(twice), "has a missing name among its terms: number 4", class = input)
  expect_error(fit(matrix(2^30, 2, 1)), "has 2147483648 tokens; at most 2147483647", class = input)
  expect_error(fit("text"), "`x` must be counts of documents x terms.*not \"text\": DocumentTermMatrix", class = input)
  expect_error(fit(list("text")), "`x` must be counts of documents x terms.*not a list", class = input)
  expect_error(fit(data.frame(a = 1, b = 2)),
    "data frame without a column \"document\" \\(it has \"a\", \"b\"\\). Name its columns document, term and count",
    class = input
  )
  # A wide table of three terms is not a table of documents, terms and counts.
  expect_error(fit(data.frame(tax = c(1, 0), vote = c(2, 1), war = c(0, 1))),
    "give as.matrix\\(\\) of it", class = input
  )
  expect_error(fit(data.frame(doc = "a", doc_id = "b", word = "c", n = 1)),
    "several columns that may be the document: \"doc\", \"doc_id\"", class = input
  )
  expect_error(fit(data.frame(doc = "a", word = I(list("b")), n = 1)), "has no names in column term", class = input)
  expect_error(fit(data.frame(document = c("a", NA), term = "b", count = 1)), "has no document in row 2", class = input)
  expect_error(fit(data.frame(document = "a", term = "b", count = "1")), "counts that are not numbers", class = input)
  expect_error(fit(structure(list(i = 1), class = "simple_triplet_matrix")),
    "has elements i, j, v, nrow and ncol that do not agree", class = input
  )
  outside <- structure(list(i = 3L, j = 1L, v = 1, nrow = 2L, ncol = 2L, dimnames = NULL),
    class = "simple_triplet_matrix"
  )
  expect_error(fit(outside), "a place lies outside", class = input)
})

test_that("other invalid arguments are refused", {
  fit <- function(...) fit_topics(news, ..., threads = 2)
  expect_error(fit(0), "`topics` must be one whole number from 1 to 16384, not 0", class = input)
  expect_error(fit(20000), "`topics` must be", class = input)
  expect_error(fit(2, alpha = 0), "`alpha` must be one positive number, 2 of them, .* not 0", class = input)
  expect_error(fit(2, alpha = c(1, NA)), "not NA for topic 2", class = input)
  expect_error(fit(2, alpha = 1:3), "not an integer of length 3", class = input)
  expect_error(fit(2, alpha = "learn"), "not \"learn\"", class = input)
  expect_error(fit(2, beta = -1), "`beta` must be one positive number.* or \"learn\", not -1", class = input)
  expect_error(fit(2, beta = "x"), "`beta` must be", class = input)
  expect_error(fit(2, beta = 1e308), "at most 1e15, or \"learn\", not 1e\\+308", class = input)
  expect_error(fit(2, alpha = c(1, 1e300)), "not 1e\\+300 for topic 2", class = input)
  expect_error(fit(2, alpha = list("symmetric", shape = 1)), "`alpha` as a list must have a word", class = input)
  expect_error(fit(2, beta = list("learn", shape = 1, rate = 0)), "`beta` as a list must have a word", class = input)
  expect_error(fit(2, moves = FALSE), "`control` sets `moves`, which this sampler does not have", class = input)
  expect_error(fit(2, keep = "z"), "`keep` must be some of \"phi\", \"theta\", not \"z\"", class = input)
  expect_error(fit(2, iter = 10, warmup = 10), "`warmup`", class = input)
  expect_error(fit(2, iter = 10, thin = 9), "`thin`", class = input)
  expect_error(fit(2, chians = 2), "unused argument: `chians` is not known here", class = input)
  expect_warning(fit_topics(matrix(c(1, 0, 1, 1), 2), 5, iter = 4, start = "random", seed = 1, threads = 2),
    "more topics \\(5\\) than tokens \\(3\\)"
  )
  expect_error(perplexity(1), "`fit` must come from topic_model\\(\\), not 1", class = input)
  expect_error(relabel(1), "`fit` must come from dp_mixture\\(\\) or topic_model\\(\\), not 1", class = input)
  expect_error(continue(small, 5, thraeds = 2), "unused argument", class = input)
  broken <- small
  broken$x <- NULL
  expect_error(continue(broken, 5), "has a part `x` that is not the counts", class = input)
  broken <- small
  broken$state[[1L]]$topics <- raw(4)
  expect_error(continue(broken, 5, threads = 2), "has been changed since it was made", class = input)
})

test_that("one topic, one document, one term and an empty document work", {
  one <- fit_topics(news, 1, iter = 4, start = "random", seed = 1, threads = 2)
  expect_equal(unname(one$theta), matrix(1, 40, 1))
  single <- fit_topics(news[1, , drop = FALSE], 3, iter = 4, start = "random", seed = 1, threads = 2)
  expect_identical(dim(single$theta), c(1L, 3L))
  term <- fit_topics(matrix(1:3, 3), 2, iter = 4, start = "random", seed = 1, threads = 2)
  expect_equal(unname(term$phi), matrix(1, 2, 1))
  empty <- news
  empty[7, ] <- 0
  empty[, 3] <- 0
  fit <- fit_topics(empty, 3, alpha = c(1, 2, 5), beta = 0.1, iter = 6, start = "random", seed = 1, threads = 2)
  expect_equal(unname(fit$theta[7, ]), c(1, 2, 5) / 8)
  expect_identical(rownames(fit$theta), rownames(news))
  expect_true(all(fit$phi[, 3] < 0.01))
  # One pair with more tokens than a pass takes at a time.
  many <- matrix(c(5000, 3, 2, 1), 2)
  expect_equal(colSums(fit_topics(many, 2, iter = 4, start = "random", seed = 1, threads = 2)$tokens), 5006)
})

test_that("new documents: terms are matched by name, unknown terms are counted, empty documents get the prior", {
  expect_equal(predict(small), small$theta, ignore_attr = "verdict")
  again <- predict(small, news, seed = 1, threads = 2)
  expect_gt(mean(max.col(again) == max.col(small$theta)), 0.9)
  shuffled <- news[, sample(18)]
  expect_identical(unclass(predict(small, shuffled, seed = 1, threads = 2)), unclass(again))
  more <- cbind(news[1:3, ], other = c(0, 4, 1))
  expect_message(found <- predict(small, more, seed = 1, threads = 2),
    "5 of 95 tokens \\(5.3%\\) are of terms that the fit does not know"
  )
  expect_identical(attr(found, "unknown"), c(0, 4, 1))
  empty <- rbind(none = numeric(18), news[1, ])
  colnames(empty) <- colnames(news)
  expect_equal(unname(predict(small, empty, seed = 1, threads = 2)[1, ]), small$alpha / sum(small$alpha))
  expect_identical(dim(predict(small, unname(news[1:2, ]), seed = 1, threads = 2)), c(2L, 3L))
  class <- predict(small, news, type = "class", seed = 1, threads = 2)
  expect_identical(names(class), rownames(news))
  expect_identical(predict(small, empty, type = "class", seed = 1, threads = 2)[[1]], NA_integer_)
  zebra <- matrix(1, 1, 1, dimnames = list("z", "zebra"))
  expect_message(alone <- predict(small, zebra), "1 of 1 tokens \\(100%\\) are of terms that the fit does not know")
  expect_equal(alone[1, ], small$alpha / sum(small$alpha))
  named <- small
  topic_names(named) <- c("sports", "markets", "weather")
  expect_message(alone <- predict(named, zebra), "does not know")
  expect_identical(colnames(alone), topic_names(named))
  expect_error(predict(small, rbind(zebra, zebra[1, ])),
    "`newdata` shares no term with the fit: of its 2 tokens", class = input
  )
  expect_error(perplexity(small, zebra), "shares no term with the fit", class = input)
  expect_error(predict(small, matrix(1, 1, 4)), "`newdata` has 4 terms without names, the fit has 18", class = input)
})

test_that("perplexity is computed from the words left out", {
  own <- perplexity(small, threads = 2)
  expect_equal(as.numeric(own), exp(-sum(news * log(small$theta %*% small$phi)) / sum(news)))
  set.seed(1)
  before <- runif(1)
  set.seed(1)
  new <- simulate_documents(60, 40, subjects, rep(0.2, 3), seed = 60)$x
  value <- perplexity(small, new, seed = 3, threads = 2)
  expect_identical(perplexity(small, new, seed = 3, threads = 1), value)
  # The perplexity lies between that of the truth and that of a fit that knows nothing.
  expect_gt(as.numeric(value), 5)
  expect_lt(as.numeric(value), 13)
  flat <- fit_topics(news, 1, iter = 4, start = "random", seed = 1, threads = 2)
  expect_lt(as.numeric(value), as.numeric(perplexity(flat, new, seed = 3, threads = 2)))
  expect_output(print(value), "perplexity .* tokens in 60 documents")
  # R's generator has not moved.
  set.seed(9)
  first <- runif(2)
  set.seed(9)
  expect_identical(runif(1), first[[1]])
  perplexity(small, new, seed = 3, threads = 2)
  expect_identical(runif(1), first[[2]])
  expect_error(perplexity(small, news, share = 0), "`share`", class = input)
  expect_error(perplexity(small, news[1, , drop = FALSE], share = 1e-9, seed = 1),
    "none of the 30 tokens", class = input
  )
})

test_that("messages name sums and counts of draws that were changed by hand", {
  fit <- topic_model(news, 2, iter = 6, warmup = 2, chains = 2, seed = 1, threads = 2)
  refuse <- function(part, value, of = "sums") {
    if (of == "sums") fit$state[[2L]]$sums[part] <- list(value) else fit$state[[2L]][part] <- list(value)
    name <- paste0(if (of == "sums") "sums$", part)
    pattern <- paste0("`fit` has a part `state[[2]]$", name, "` that is not ")
    error <- expect_error(continue(fit, 4, threads = 2), pattern, fixed = TRUE, class = "warpbayes_error_input")
    expect_match(conditionMessage(error), "it has been changed since it was made")
  }
  for (value in list(NULL, "a", NaN, Inf, -1, 1.5, 7, c(1, 2))) {
    refuse("kept", value, of = "state")
    refuse("added", value)
  }
  refuse("added", 5)
  for (part in c("theta", "phi")) {
    sums <- fit$state[[2L]]$sums[[part]]
    for (value in list(NULL, "a", numeric(), sums[-1L], integer(length(sums)))) refuse(part, value)
  }
  refuse("sums", 1, of = "state")
  refuse("sums", "a", of = "state")
  broken <- fit
  broken$state[[1L]] <- 1
  expect_error(continue(broken, 4, threads = 2),
    "`state[[1]]` that is not a list", fixed = TRUE, class = "warpbayes_error_input"
  )
  broken$topics <- NULL
  expect_error(continue(broken, 4, threads = 2),
    "`topics` that is not a number of topics, but NULL", fixed = TRUE, class = "warpbayes_error_input"
  )
  broken <- fit
  broken$state <- 1
  expect_error(continue(broken, 4, threads = 2),
    "`state` that is not a list", fixed = TRUE, class = "warpbayes_error_input"
  )
})

test_that("top terms and coherence agree with a computation by hand", {
  top <- top_terms(small, 4)
  expect_identical(names(top), c("topic", "rank", "term", "probability", "score"))
  expect_identical(top$term[top$topic == 2], colnames(news)[order(-small$phi[2, ])[1:4]])
  lift <- small$phi[1, ] / (colSums(news) / sum(news))
  expect_identical(top_terms(small, 3, "lift")$term[1:3], colnames(news)[order(-lift)[1:3]])
  expect_true(all(top_terms(small, 3, "frex")$score <= 1))
  one_term <- topic_model(matrix(3, 5, 1), 2, iter = 4, chains = 1, seed = 1, threads = 1)
  for (by in term_rankings) expect_identical(top_terms(one_term, 3, by)$topic, 1:2)
  expect_identical(top_terms(small, 3, "frex", weight = 0)$term[1:3], top$term[1:3])
  order <- order(-small$phi[1, ])[1:3]
  with <- news[, order] > 0
  together <- function(i, j) sum(with[, i] & with[, j])
  score <- function(i, j) log((together(i, j) + 1) / together(j, j))
  umass <- mean(c(score(2, 1), score(3, 1), score(3, 2)))
  expect_equal(coherence(small, n = 3)[[1L]], umass)
  npmi <- function(i, j) {
    p <- together(i, j) / 40
    if (p == 0) -1 else log(p * 1600 / together(i, i) / together(j, j)) / -log(p)
  }
  expect_equal(coherence(small, n = 3, measure = "npmi")[[1L]], mean(c(npmi(1, 2), npmi(1, 3), npmi(2, 3))))
  expect_equal(coherence(small, newdata = news, n = 3), coherence(small, n = 3))
})

test_that("the assignment has the least cost", {
  permutations <- function(n) if (n == 1) matrix(1) else do.call(rbind, lapply(1:n, function(i) {
    rest <- permutations(n - 1)
    cbind(i, rest + (rest >= i))
  }))
  set.seed(2)
  for (n in c(1, 2, 5, 6)) {
    for (i in 1:8) {
      cost <- matrix(sample(0:5, n * n, TRUE) + runif(1), n)
      all <- permutations(n)
      least <- min(apply(all, 1L, function(columns) sum(cost[cbind(1:n, columns)])))
      found <- solve_assignment(cost)
      expect_identical(sort(found), 1:n)
      expect_equal(sum(cost[cbind(1:n, found)]), least)
    }
  }
})

test_that("relabel() numbers the topics of all chains as in the reference", {
  matched <- relabel(small)
  expect_identical(matched$found, c(1, 1, 1))
  expect_lt(max(matched$agreement$distance), 0.2)
  expect_identical(matched$match[, small$reference], 1:3)
  other <- 3L - small$reference
  expect_lt(max(variation_distance(matched$chain_phi[[other]], small$phi)[cbind(1:3, 1:3)]), 0.2)
  expect_equal(unname(rowSums(matched$theta)), rep(1, 40))
  averaged <- average_chains(matched, rep(TRUE, 3))
  expect_equal(averaged$phi, unname(apply(matched$draws$phi, 1:2, mean)), ignore_attr = TRUE)
  expect_equal(averaged$alpha, apply(matched$draws$alpha, 1, mean))
  expect_identical(sort(matched$tokens[, other]), sort(small$tokens[, other]))
  # A match that is not its own inverse: column `other` has the distances of the topics in their new order.
  turned <- small
  turned$chain_phi[[other]] <- matched$chain_phi[[other]][c(2, 3, 1), ]
  turned <- relabel(turned)
  expect_identical(turned$match[, other], c(3L, 1L, 2L))
  expect_equal(turned$agreement$distance, matched$agreement$distance)
  # The states are renumbered too, so the chains can be continued.
  longer <- continue(matched, 5, threads = 2)
  expect_identical(longer$iter, 65)
  few <- topic_model(news, 3, iter = 20, chains = 2, seed = 1, threads = 2)
  expect_equal(rowSums(relabel(few)$phi), rep(1, 3))
  expect_identical(relabel(few, average = FALSE)$phi, few$phi)
})

test_that("tables of tidy() and draws for posterior have the right form", {
  skip_if_not_installed("generics")
  beta <- generics::tidy(small)
  expect_identical(dim(beta), c(54L, 4L))
  expect_true(all(beta$found == 1))
  expect_equal(beta$beta[beta$topic == 2 & beta$term == "w5"], small$phi[[2, 5]])
  gamma <- generics::tidy(small, matrix = "gamma")
  expect_equal(gamma$gamma[gamma$document == "d3" & gamma$topic == 1], small$theta[[3, 1]])
  expect_identical(nrow(generics::glance(small)), 1L)
  words <- generics::augment(small)
  expect_identical(sum(words$count), as.integer(sum(news)))
  expect_identical(words$.topic[[5]], which.max(small$theta[words$document[[5]], ] * small$phi[, words$term[[5]]]))
  skip_if_not_installed("posterior")
  expect_identical(posterior::variables(posterior::as_draws(small)), c("log_likelihood", "alpha_sum", "beta"))
  expect_identical(dim(posterior::as_draws_matrix(small)), c(60L, 3L))
  with_topics <- posterior::as_draws_df(small, topics = TRUE)
  expect_true(all(c("alpha[3]", "phi[2,w18]") %in% posterior::variables(with_topics)))
})

test_that("print and summary describe the fit", {
  expect_output(print(small), "Topic model: 3 topics of 18 terms, 1,200 tokens in 40 documents")
  expect_output(print(small, n = 1), "and 2 more topics; print\\(fit, n = 3\\) shows all")
  summary <- summary(small)
  expect_equal(sum(summary$topics$prevalence), 1)
  expect_output(print(summary), "Topics by prevalence")
  expect_match(as.character(summary(fit_topics(news, 2, estimate = "mean", iter = 4, seed = 1, threads = 2))$verdict),
    "not draws from the posterior", all = FALSE
  )
  expect_match(as.character(summary(fit_topics(news, 2, iter = 4, start = "random", seed = 1, threads = 2))$verdict),
    "cannot be judged: there are 2 sweeps", all = FALSE
  )
  expect_match(as.character(summary(topic_model(news, 2, iter = 60, seed = 1, threads = 2))$verdict),
    "chain|Not converged", all = FALSE
  )
})

test_that("every type of plot works", {
  skip_where_repeated()
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  four <- fit_topics(news, 4, iter = 4, start = "random", seed = 1, threads = 2)
  named <- four
  topic_names(named) <- c("sports", "markets", "weather", "war")
  for (type in c("terms", "prevalence", "log_likelihood", "correlation", "map")) {
    expect_invisible(plot(four, type))
    expect_invisible(plot(named, type, main = "title"))
  }
  plot(small, "terms", topics = 1, n = 100, by = "frex")
  expect_error(plot(small, "words"), "`type` must be one of", class = input)
  expect_error(plot(fit_topics(news, 2, iter = 4, start = "random", seed = 1, threads = 2), "correlation"),
    "at least four topics", class = input
  )
  expect_error(plot(fit_topics(news, 2, iter = 4, start = "random", seed = 1, threads = 2), "map"),
    "at least three topics", class = input
  )
})

test_that("the key of correlations has each number beside its colour", {
  skip_where_repeated()
  file <- tempfile(fileext = ".pdf")
  on.exit(unlink(file))
  grDevices::pdf(file, compress = FALSE, useKerning = FALSE)
  graphics::par(mar = c(2, 2, 6, 2))
  graphics::plot.new()
  graphics::plot.window(c(0, 1), c(0, 1))
  paint_key(grDevices::grey(0:100 / 100), 0.2, FALSE, 1, 0.9, "correlation")
  # The key goes from a quarter to three quarters of the frame.
  place <- graphics::grconvertX(0.5 + 0.25 * c(-1, -0.5, 0, 0.5, 1), "user", "device")
  widths <- 72 * graphics::strwidth(c("-0.2", "-0.1", "0", "0.1", "0.2"), units = "inches", cex = 0.75)
  grDevices::dev.off()
  text <- grep("Tm [(]-?0([.][12])?[)] Tj", readLines(file, warn = FALSE), value = TRUE, useBytes = TRUE)
  expect_identical(sub(".*[(](.*)[)] Tj$", "\\1", text), c("-0.2", "-0.1", "0", "0.1", "0.2"))
  left <- as.numeric(sub(".* ([0-9.]+) [0-9.]+ Tm .*", "\\1", text))
  expect_equal(left + widths / 2, place, tolerance = 0.005)
})

test_that("correlations of topics are near zero if topics are independent, and near the truth if they are not", {
  set.seed(2)
  logs <- matrix(rnorm(4000 * 8), 4000)
  shares <- function(logs) exp(logs) / rowSums(exp(logs))
  independent <- topic_correlation(shares(logs))
  expect_lt(max(abs(independent[lower.tri(independent)])), 0.1)
  # The measure that centred logarithms give is -1/7 on average.
  centred <- cor(logs - rowMeans(logs))
  expect_lt(mean(centred[lower.tri(centred)]), -0.1)
  logs[, 2] <- 0.8 * logs[, 1] + 0.6 * logs[, 2]
  found <- topic_correlation(shares(logs))
  expect_equal(found[1, 2], 0.8, tolerance = 0.1)
  fit <- fit_topics(news, 4, iter = 10, seed = 1, threads = 2)
  fit$theta[] <- rep(fit$theta[1, ], each = nrow(fit$theta))
  expect_error(plot(fit, "correlation"), "all documents have the same shares", class = "warpbayes_error_input")
})

test_that("topics have names, which stay", {
  one <- fit_topics(news, 3, iter = 10, seed = 1, threads = 2, keep = "theta")
  expect_identical(topic_names(one, 2), make.unique(term_lines(one, 1:3, 2, by = "relevance")))
  expect_null(rownames(one$phi))
  names <- c("sports", "markets", "weather")
  named <- one
  topic_names(named) <- names
  expect_identical(topic_names(named), names)
  expect_identical(rownames(named$phi), names)
  expect_identical(colnames(predict(named, news[1:2, ], seed = 1, threads = 2)), names)
  expect_identical(rownames(continue(named, 4, threads = 2)$phi), names)
  expect_identical(colnames(relabel(named)$theta), names)
  expect_identical(unique(tidy.topic_model(named)$name), names)
  expect_identical(top_terms(named, 1)$name, names)
  expect_output(print(named), "markets")
  expect_output(print(summary(named)), "weather")
  topic_names(named) <- NULL
  expect_identical(named, one)
  expect_error(topic_names(one) <- names[1:2], "`value` must be NULL or 3 names", class = input)
  expect_error(topic_names(one) <- c("a", "b", "a"), "that of topic 3 is \"a\"", class = input)
})

test_that("the topics of new documents can be interrupted", {
  x <- matrix(c(3L, 1L, 2L, 4L), 2)
  fit <- topic_model(x, 2, iter = 4, seed = 1, threads = 1, progress = FALSE)
  # R looks for time limits where it looks for interrupts.
  endless <- function() {
    on.exit(setTimeLimit())
    setTimeLimit(elapsed = 0.5)
    predict(fit, x, iter = 1e9, seed = 1, threads = 1)
  }
  expect_error(endless(), "reached elapsed time limit")
})

test_that("a fit that was changed is refused, whatever was changed", {
  skip_where_repeated()
  broken <- function(part, value) {
    fit <- small
    fit[[part]] <- value
    fit
  }
  cases <- list(
    broken("topics", 0), broken("topics", 1e9), broken("topics", NA_real_), broken("topics", 2), broken("phi", 1),
    broken("theta", small$phi), broken("x", list()), broken("documents", "a"), broken("alpha", c(1, 0, 1)),
    broken("alpha", 1), broken("log_likelihood", 1:3), broken("document_tokens", "a"), broken("topic_names", "a")
  )
  for (fit in cases) {
    for (use in list(predict, print, summary, coherence, top_terms, tidy.topic_model, augment.topic_model, plot,
      function(fit) predict(fit, news, threads = 2), function(fit) perplexity(fit, news, threads = 2))) {
      expect_error(use(fit), "has a part `[a-z_]+` that is not .*: it has been changed", class = input)
    }
  }
  expect_error(open_topics(small$x, 0, "double", resolve_run("cpu", 1)), "changed", class = input)
})

test_that("threads, which change the groups of documents, and instructions do not change a fit of few terms", {
  skip_on_cran()
  skip_if(on_cuda(), "loops of the processor")
  set.seed(5)
  for (case in list(c(2, 3), c(9, 1), c(16, 2), c(40, 5), c(33, 17), c(70, 40))) {
    counts <- matrix(rpois(prod(case), 2) + 1L, case[[1L]])
    for (precision in c("double", "single")) {
      for (topics in c(2, 20, 70)) {
        fit <- function(threads) {
          suppressWarnings(fit_topics(counts, topics,
            iter = 4, start = if (topics == 20) "merged" else "random", seed = 1, threads = threads,
            precision = precision, progress = FALSE
          ))$state
        }
        one <- fit(1)
        expect_identical(fit(2),
          one, label = sprintf("%d x %d, %d topics, %s, 2 threads", case[[1L]], case[[2L]], topics, precision)
        )
        expect_identical(fit(5), one)
        for (isa in instruction_sets()) {
          expect_identical(with_options(list(warpbayes.isa = isa), fit(1)), one, label = isa)
        }
      }
    }
  }
})

test_that("a document without tokens does not change the log likelihood, however small alpha is", {
  # Nearly all gammas of shape 1e-4 are too small for a double, so the sum of two of them is 0.
  counts <- matrix(c(3, 0, 2, 0, 0, 4, 0, 1), 4)
  fit <- function(x, precision) {
    fit_topics(x, 2, alpha = 1e-4, beta = 0.1, iter = 20, chains = 2, start = "random", seed = 1, threads = 1,
      precision = precision)
  }
  for (precision in c("double", "single")) {
    alone <- fit(counts, precision)
    with_empty <- fit(rbind(counts, 0, 0), precision)
    expect_true(all(is.finite(alone$log_likelihood)))
    expect_identical(with_empty$log_likelihood, alone$log_likelihood)
    expect_equal(unname(with_empty$theta[5, ]), c(0.5, 0.5))
  }
})

test_that("documents and terms in another order give the same topics, documents and effects, up to numbers", {
  skip_where_repeated()
  sim <- simulate_documents(100, 40, block_topics(3, 8), rep(0.2, 3), seed = 5)
  meta <- data.frame(high = sim$theta[, 1] > 0.4, row.names = rownames(sim$x))
  set.seed(3)
  documents <- sample(100)
  terms <- sample(24)
  one <- topic_model(sim$x, 3, iter = 200, chains = 2, seed = 1, threads = 1)
  two <- topic_model(sim$x[documents, terms], 3, iter = 200, chains = 2, seed = 1, threads = 1)
  match <- solve_assignment(variation_distance(one$phi, two$phi[, colnames(sim$x)]))
  expect_lt(max(abs(one$phi - two$phi[match, colnames(sim$x)])), 0.02)
  expect_lt(mean(abs(one$theta - two$theta[rownames(sim$x), match])), 0.02)
  effects <- lapply(list(one, two), function(fit) {
    table <- suppressMessages(topic_effects(fit, ~ high, meta[documents, , drop = FALSE], seed = 1, threads = 1))
    matrix(table$estimate, 2L)
  })
  expect_lt(max(abs(effects[[1L]] - effects[[2L]][, match])), 0.03)
})
