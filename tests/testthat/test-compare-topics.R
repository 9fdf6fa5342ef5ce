# compare_topics(): the arithmetic of the comparison, its words, its methods, and bad input.

input <- "warpbayes_error_input"

planted <- simulate_documents(60, 40, block_topics(3, 8), rep(0.1, 3), seed = 3)$x
# Made when a test first needs it: never where all of them are skipped.
delayedAssign("compared", compare_topics(planted, c(3, 1, 6), folds = 4, iter = 60, n = 5, seed = 2, threads = 2))

test_that("a comparison has the numbers of its parts, computed by hand", {
  skip_where_repeated()
  expect_identical(compared$table$topics, c(1, 3, 6))
  # The second part with three topics, again.
  part <- with_seed(2, sample(rep_len(1:4, 60)))
  seeds <- with_seed(2, sample.int(.Machine$integer.max, 5))
  fit <- topic_model(planted[part != 2, ], 3, iter = 60, seed = seeds[[2L]], threads = 2)
  score <- perplexity(fit, planted[part == 2, ], seed = 2, threads = 2)
  held_out <- rownames(planted)[part == 2]
  expect_identical(compared$log_likelihood[held_out, "3"], attr(score, "log_likelihood"))
  expect_equal(unname(compared$tokens[held_out]), attr(score, "tokens"))
  expect_setequal(rownames(compared$log_likelihood), rownames(planted))
  # Means and errors.
  of <- compared$log_likelihood
  size <- compared$tokens
  mean <- colSums(of) / sum(size)
  expect_equal(compared$table$perplexity, unname(exp(-mean)))
  expect_equal(compared$table$difference, unname(mean - max(mean)))
  rest <- of[, "1"] - of[, "3"] - (mean[["1"]] - mean[["3"]]) * size
  fold <- part[match(rownames(of), rownames(planted))]
  error <- function(rest) sqrt(length(rest) / (length(rest) - 1) * sum(rest^2)) / sum(size)
  expected <- max(error(rest), error(tapply(rest, fold, sum)))
  expect_equal(compared$best, 3)
  expect_equal(compared$table$difference_se[[1L]], expected)
  expect_equal(compared$table$difference_se[[2L]], 0)
  own <- coherence(compared[[3]], n = 5, measure = "npmi")
  expect_equal(compared$table$coherence[[2L]], mean(own))
  expect_equal(compared$table$coherence_se[[2L]], sd(own) / sqrt(3))
  expect_identical(compared[["3"]]$topics, 3)
  expect_identical(compared[["best"]], 3)
})

test_that("the words say what the documents can tell", {
  # One topic is worse by far.
  expect_match(as.character(compared$verdict), "3 topics predict the words left out best", all = FALSE)
  expect_match(as.character(compared$verdict), "Worse by more than two standard errors: 1(, 6)? topics", all = FALSE)
  expect_output(print(compared), "It rests on the topics, which")
  expect_identical(glance_of(compared)$verdict, verdict(compared)$answer)
  expect_output(print(summary(compared)), "log difference")
  expect_output(utils::str(compared, max.level = 1), "log_likelihood")
  table <- data.frame(perplexity = c(10, 9, 9.1), difference = c(-1, 0, -0.01), difference_se = c(0.1, 0, 0.1))
  words_of <- function(...) as.character(comparison_verdict(c(2, 4, 8), ..., list(compared[[3]])))
  words <- words_of(2, c(FALSE, TRUE, TRUE), table)
  expect_match(words, "Within two standard errors of that: 8 topics", all = FALSE)
  expect_no_match(words, "smallest number")
  expect_no_match(words, "larger ones may be better")
  words <- words_of(3, c(FALSE, TRUE, TRUE), table[c(1, 3, 2), ])
  expect_match(words, "smallest number that is not worse is 4", all = FALSE)
  expect_match(words, "larger ones may be better", all = FALSE)
})

test_that("a comparison can be plotted, and takes one part, groups and other arguments", {
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  expect_identical(plot(compared, main = "Numbers of topics"), compared)
  grDevices::dev.off()
  expect_gt(file.size(file), 1000)
  unlink(file)
  # Documents without tokens.
  x <- rbind(planted[1:10, ], 0)
  rownames(x) <- NULL
  one <- compare_topics(x, 1:2, folds = 11, held_out = 11, iter = 4, alpha = 0.5,
    measure = "cv", seed = 1, threads = 2)
  expect_true(all(is.finite(one$table$perplexity)))
  expect_identical(nrow(one$log_likelihood), 11L)
  one <- compare_topics(x, 1:2, held_out = 1, iter = 4, seed = 1, threads = 2)
  expect_lt(nrow(one$log_likelihood), 4)
})

test_that("differences that are noise are within error, at the stated rate", {
  skip_where_repeated()
  # compare_scores() alone: two models that are equally good. Of 400 comparisons, each by 30 documents of 3 parts,
  # beyond two standard errors should be about 5%; more than 12% has a probability below 1e-7.
  set.seed(7)
  beyond <- replicate(400, {
    tokens <- rpois(30, 40) + 1
    log_likelihood <- cbind(-3 * tokens + rnorm(30, 0, 5), -3 * tokens + rnorm(30, 0, 5))
    scores <- compare_scores(log_likelihood, tokens, rep(1, 30))
    min(scores$difference) < -2 * max(scores$difference_se)
  })
  expect_lt(mean(beyond), 0.12)
  expect_gt(mean(beyond), 0.01)
})

test_that("bad arguments of a comparison are refused", {
  compare <- function(...) compare_topics(planted, ..., iter = 2, seed = 1, threads = 2)
  expect_error(compare(), "`topics`", class = input)
  expect_error(compare(3), "at least two whole numbers", class = input)
  for (wrong in c(2.5, NA, 0, -1, 20000)) {
    expect_error(compare(c(2, wrong)), paste("at least two whole numbers .*, not", wrong), class = input)
  }
  expect_error(compare(1:2, folds = 61), "`folds` must be", class = input)
  expect_error(compare_topics(planted[1, , drop = FALSE], 1:2), "`x` has one document", class = input)
  expect_error(compare(1:2, held_out = 6), "`held_out` must be", class = input)
  expect_error(compare(1:2, measure = "x"), "`measure` must be", class = input)
  expect_error(compare(1:2, control = warp_control(checkpoint = tempfile())), "several fits", class = input)
  expect_error(compare(1:2, speed = 1), "speed", class = input)
  expect_error(compared[[2]], "one of the numbers of topics, 1, 3, 6, not 2", class = input)
  expect_error(compared[[NA]], "one of the numbers", class = input)
})

test_that("C_v and NPMI agree with a computation by hand", {
  fit <- compared[[3]]
  x <- planted > 0
  of_topic <- function(k, n) {
    top <- order(-fit$phi[k, ])[seq_len(n)]
    npmi <- matrix(0, n, n)
    for (i in seq_len(n)) for (j in seq_len(n)) {
      both <- mean(x[, top[[i]]] & x[, top[[j]]])
      npmi[i, j] <- if (both == 0) -1 else {
        log(both / (mean(x[, top[[i]]]) * mean(x[, top[[j]]]))) / -log(both)
      }
    }
    cosine <- function(a, b) sum(a * b) / sqrt(sum(a * a) * sum(b * b))
    whole <- apply(npmi, 2L, sum)
    c(mean(npmi[upper.tri(npmi)]), mean(apply(npmi, 1L, cosine, whole)))
  }
  for (n in c(2, 4, 8)) {
    expected <- vapply(1:3, of_topic, numeric(2), n = n)
    expect_equal(coherence(fit, n = n, measure = "npmi"), expected[1L, ])
    expect_equal(coherence(fit, n = n, measure = "cv"), expected[2L, ])
  }
  # All terms in all documents are as coherent as can be; terms that never meet are not.
  together <- topic_model(matrix(1, 5, 4), 1, iter = 2, seed = 1, threads = 2)
  expect_identical(coherence(together, measure = "cv"), 1)
  apart <- topic_model(diag(4), 1, iter = 2, seed = 1, threads = 2)
  expect_lt(coherence(apart, measure = "cv"), coherence(together, measure = "cv"))
})

test_that("one document left out has no errors, and the words say so", {
  one <- compare_topics(planted, 1:2, folds = 60, held_out = 1, iter = 4, n = 3, seed = 1, threads = 2)
  expect_true(all(is.na(one$table$difference_se)))
  expect_identical(one$alike, one$best)
  expect_match(paste(as.character(one$verdict), collapse = " "), "errors are not known")
  expect_no_match(paste(as.character(one$verdict), collapse = " "), "standard error")
  expect_no_match(paste(as.character(compared$verdict), collapse = " "), "not known")
  expect_error(compare_topics(planted, c(2, 2)), "`topics` must be at least two", class = input)
  expect_output(print(one), "on 1 document that")
})

test_that("a comparison can be looked into and has tables and a picture", {
  expect_output(str(compared), "verdict")
  expect_identical(as.list(compared)$best, compared$best)
  expect_identical(lapply(compared, identity)$best, compared$best)
  expect_true(all(nchar(capture.output(print(compared))) <= getOption("width")))
  skip_if_not_installed("generics")
  expect_equal(as.data.frame(generics::tidy(compared)), compared$table)
  row <- generics::glance(compared)
  expect_identical(row$smallest_alike, min(compared$alike))
  expect_equal(row$tokens, sum(compared$tokens))
  skip_if_not_installed("ggplot2", "3.4.0")
  skip_where_repeated()
  built <- ggplot2::ggplot_build(ggplot2::autoplot(compared, main = "A"))
  drawn <- lapply(built$data, `[[`, "y")
  expect_true(any(vapply(drawn, identical, NA, c(compared$table$difference, compared$table$coherence))))
  rings <- Filter(function(one) nrow(one) == 1L && !is.null(one$x), built$data)
  expect_equal(10^rings[[1L]]$x, compared$best)
})

test_that("numbers of topics are compared with covariates", {
  skip_where_repeated()
  set.seed(5)
  subject <- rbind(c(3, 3, 0, 1), c(0, 1, 3, 3))
  party <- rep(c("left", "right"), each = 30)
  x <- t(vapply(1:60, function(d) as.double(rmultinom(1, 12, subject[1 + (d > 30), ])), numeric(4)))
  dimnames(x) <- list(paste0("d", 1:60), paste0("w", 1:4))
  # By name, in another order.
  data <- data.frame(party, row.names = rownames(x))[60:1, , drop = FALSE]
  compare <- function(...) {
    suppressMessages(compare_topics(x, 1:2, folds = 3, iter = 40, n = 3, seed = 1, threads = 2, ...))
  }
  with <- compare(prevalence = ~ party, data = data)
  expect_identical(with$fits[[2]]$learn$alpha, "prevalence")
  expect_identical(compare(prevalence = ~ party)$table$perplexity, with$table$perplexity)
  # The covariates tell the topic of a document.
  expect_lt(with$table$perplexity[[2]], compare()$table$perplexity[[2]])
  expect_error(compare_topics(x, 1:2, prevalence = ~ (1 | party)), "no grouping terms",
    class = "warpbayes_error_input")
})
