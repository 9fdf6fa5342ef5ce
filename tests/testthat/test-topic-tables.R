# Counts back from a fit, top documents, and other small things of topic models.

input <- "warpbayes_error_input"
planted <- simulate_documents(30, 25, block_topics(3, 6), rep(0.2, 3), seed = 3)$x
delayedAssign("fit", topic_model(rbind(planted, nothing = 0), 3, iter = 30, seed = 1, threads = 2))

test_that("counts come back as a matrix, and do not flood the console", {
  skip_where_repeated()
  expect_output(print(fit$x), "<750 tokens of 18 terms in 31 documents")
  skip_if_not_installed("Matrix")
  counts <- term_counts(fit)
  expect_s4_class(counts, "dgCMatrix")
  expect_identical(as.matrix(counts), rbind(planted, nothing = 0))
  expect_identical(topic_model(counts, 3, iter = 30, seed = 1, threads = 2)$phi, fit$phi)
  expect_error(term_counts(1), "must be a result", class = input)
})

test_that("top documents have the largest shares, and short ones can be left out", {
  skip_where_repeated()
  top <- top_documents(fit, 4)
  expect_identical(nrow(top), 12L)
  first <- top[top$topic == 2, ]
  expect_identical(first$document, names(sort(-fit$theta[1:30, 2]))[1:4])
  expect_equal(first$share, unname(sort(fit$theta[1:30, 2], decreasing = TRUE)[1:4]))
  expect_identical(first$tokens, rep(25, 4))
  # A document without tokens has the prior mean, and is never a top document.
  expect_false("nothing" %in% top_documents(fit, 31)$document)
  named <- fit
  topic_names(named) <- c("a", "b", "c")
  expect_identical(top_documents(named, 1)$name, c("a", "b", "c"))
  expect_error(top_documents(fit, tokens = 26), "longest document has 25 tokens", class = input)
})

test_that("a named vector is one document, and an empty name of a term is shown", {
  skip_where_repeated()
  one <- predict(fit, c(w1 = 5, w2 = 4, w9 = 0), iter = 20, seed = 1, threads = 2)
  expect_identical(one, predict(fit, rbind(c(w1 = 5, w2 = 4, w9 = 0)), iter = 20, seed = 1, threads = 2))
  expect_error(predict(fit, c(5, 4)), "must be counts of documents x terms", class = input)
  colnames(planted)[[1L]] <- ""
  expect_output(print(topic_model(planted, 2, iter = 4, seed = 1, threads = 2), terms = 18), "\\(empty\\)")
  expect_error(topic_model(matrix(1, 2, 2, dimnames = list(NULL, c("a", NA))), 2), "its terms: number 2", class = input)
})

test_that("a picture says how many topics it leaves out, and that of a comparison has paired differences", {
  skip_where_repeated()
  eight <- topic_model(planted, 8, iter = 4, seed = 1, threads = 2)
  expect_identical(topic_picture(eight, "terms", NULL, 4, "probability", NULL)$caption,
    "The 6 most prevalent of 8 topics; Cannot tell.")
  expect_identical(topic_picture(eight, "terms", 8, 4, "probability", NULL)$caption, "Cannot tell.")
  compared <- compare_topics(planted, c(1, 3), folds = 3, iter = 20, n = 3, seed = 1, threads = 2)
  layers <- plain_picture(compared, NULL)$panels[[1L]]$layers
  points <- Filter(function(one) one$shape == "points", layers)
  expect_equal(points[[1L]]$data$y, compared$table$difference)
  expect_identical(points[[2L]]$data$y, 0)
  # Parts leave out a third of the documents, whose topics are planted: three are found by all fits.
  expect_identical(compared$table$found[[1L]], 1)
  expect_true(all(compared$table$found >= 0 & compared$table$found <= 1))
})

test_that("sparse matrices with the slots of quanteda's class are read", {
  skip_where_repeated()
  skip_if_not_installed("Matrix")
  where <- new.env()
  methods::setClass("stand_in_dfm", contains = "dgCMatrix", slots = c(docvars = "data.frame", meta = "list"),
    where = where)
  on.exit(methods::removeClass("stand_in_dfm", where = where))
  sparse <- methods::new("stand_in_dfm", methods::as(Matrix::Matrix(planted, sparse = TRUE), "CsparseMatrix"),
    docvars = data.frame(row = seq_len(30)), meta = list(a = 1))
  expect_identical(topic_model(sparse, 3, iter = 4, seed = 1, threads = 2)$phi,
    topic_model(planted, 3, iter = 4, seed = 1, threads = 2)$phi)
})

test_that("terms that never or always meet, and a page of two topics with terms of any script", {
  skip_where_repeated()
  apart <- diag(6) * 3
  together <- matrix(2, 6, 6)
  colnames(apart) <- colnames(together) <- c("na\u00efve", "\u65e5\u672c", "<b>", "d", "e", "f")
  of <- function(x) topic_model(x, 2, iter = 10, seed = 1, threads = 1)
  expect_equal(coherence(of(apart), n = 3, measure = "npmi"), c(-1, -1), ignore_attr = TRUE)
  expect_equal(coherence(of(apart), n = 3, measure = "umass"), c(0, 0), ignore_attr = TRUE)
  expect_equal(coherence(of(together), n = 3, measure = "npmi"), c(1, 1), ignore_attr = TRUE)
  page <- as.character(topic_explorer(of(together), 100, 6))
  for (term in c("na\u00efve", "\u65e5\u672c", "&lt;b&gt;")) expect_match(page, term, fixed = TRUE)
  expect_no_match(page, "<b>", fixed = TRUE)
})

test_that("tf-idf is refused, and a document of two million tokens is fitted", {
  skip_where_repeated()
  skip_if(resolve_run()$backend != "cpu", "the emulator takes seconds for so many tokens")
  weighted <- planted
  weighted[weighted > 0] <- weighted[weighted > 0] * log(1.5)
  expect_error(topic_model(weighted, 2), "whole numbers from 0 on, but has .* for document \"d1\" and term \"w",
    class = input)
  long <- fit_topics(matrix(c(1e6, 6e5, 4e5), 1), 2, iter = 2, start = "random", seed = 1, threads = 2)
  expect_equal(colSums(long$tokens), 2e6)
  expect_equal(sum(long$theta), 1)
})

# A large table of few counts, and the bytes that R allocates for an expression, in vectors of more than 10 KB.
wide_counts <- function(documents, terms, pairs) {
  set.seed(1)
  Matrix::sparseMatrix(sample(documents, pairs, TRUE), sample(terms, pairs, TRUE), x = 1, dims = c(documents, terms),
    dimnames = list(paste0("d", seq_len(documents)), paste0("w", seq_len(terms))))
}
allocated_bytes <- function(code) {
  log <- tempfile()
  on.exit(unlink(log))
  utils::Rprofmem(log, threshold = 1e4)
  force(code)
  utils::Rprofmem(NULL)
  sizes <- sub(" .*", "", readLines(log))
  sum(as.double(sizes[grepl("^[0-9]+$", sizes)]))
}

test_that("reading a sparse table allocates little more than its counts take", {
  skip_where_repeated()
  skip_if_not_installed("Matrix")
  skip_if_not(capabilities("profmem"))
  x <- wide_counts(5000, 8000, 1e5)
  pairs <- length(x@x)
  # 19 bytes a pair, of which 8 are the result's; 214 when rows, columns and values were made and sorted.
  expect_lt(allocated_bytes(counts <- count_matrix(x)) / pairs, 25)
  # 83 bytes a pair, because they are sorted.
  at <- methods::as(x, "TsparseMatrix")
  triplets <- list(i = at@i + 1L, j = at@j + 1L, v = at@x, nrow = 5000L, ncol = 8000L, dimnames = dimnames(x))
  class(triplets) <- c("DocumentTermMatrix", "simple_triplet_matrix")
  expect_lt(allocated_bytes(same <- count_matrix(triplets)) / pairs, 95)
  expect_identical(same, counts)
  expect_equal(document_sizes(counts), Matrix::rowSums(x), ignore_attr = TRUE)
  expect_equal(term_sizes(counts), Matrix::colSums(x), ignore_attr = TRUE)
  # Zeros that are stored, and counts above 1.
  x@x[c(1, 7, pairs)] <- c(0, 5, 0)
  counts <- count_matrix(x)
  expect_identical(counts$tokens, sum(x))
  expect_equal(document_sizes(counts), Matrix::rowSums(x), ignore_attr = TRUE)
  expect_equal(Matrix::sparseMatrix(i = counts$i, p = counts$p, x = counts$count, dims = counts$size, index1 = FALSE,
    dimnames = list(counts$documents, counts$terms)), Matrix::drop0(x))
  x@x[c(3, 5)] <- c(-1, 0.5)
  at <- methods::as(x, "TsparseMatrix")
  first <- c(3, 5)[order(at@i[c(3, 5)])][[1L]]
  expect_error(count_matrix(x), sprintf("but has %s for document \"d%d\" and term \"w%d\"", x@x[[first]],
    at@i[[first]] + 1L, at@j[[first]] + 1L), class = input)
})

test_that("200,000 documents x 300,000 terms are fitted in less than 500 MB", {
  skip_if_not(extended() && file.exists("/proc/self/status") && resolve_run()$backend == "cpu")
  skip_if_not_installed("Matrix")
  # 462 MB, of which 196 are R with Matrix and 57 the table; 619 MB when tables and sessions held copies.
  table <- tempfile(fileext = ".rds")
  saveRDS(wide_counts(2e5, 3e5, 2e6), table, compress = FALSE)
  ready <- tempfile()
  start_child(list(run = c(
    sprintf("x <- readRDS(%s)", deparse(table)),
    "fit <- topic_model(x, 10, iter = 4, chains = 1, seed = 1, threads = 2, progress = FALSE)",
    "line <- grep('^VmHWM', readLines('/proc/self/status'), value = TRUE)",
    sprintf("writeLines(gsub('[^0-9]', '', line), %s)", deparse(paste0(ready, ".peak")))
  )), ready)
  wait_for(function() file.exists(paste0(ready, ".peak")), paste0(ready, ".log"))
  Sys.sleep(0.2)
  expect_lt(as.double(readLines(paste0(ready, ".peak"))) / 1024, 500)
})

test_that("more topics than documents are fitted", {
  skip_where_repeated()
  many <- topic_model(planted[1:4, ], 12, iter = 4, seed = 1, threads = 2)
  expect_identical(dim(many$theta), c(4L, 12L))
  expect_equal(colSums(many$tokens), sum(planted[1:4, ]))
})

test_that("a class whose package is absent is named with it", {
  skip_if_not_installed("Matrix")
  away <- methods::as(Matrix::Matrix(planted, sparse = TRUE), "CsparseMatrix")
  class(away) <- structure("dfm", package = "nowhere.installed")
  expect_error(topic_model(away, 2), "`x` is a dfm of package nowhere.installed, which is not installed here",
    class = "warpbayes_error_input")
})

test_that("terms that differ in their Unicode form alone are told of", {
  skip_if_not_installed("stringi")
  one <- "caf\u00e9"
  two <- "cafe\u0301"
  x <- matrix(c(5, 1, 2, 5, 3, 3), 2, dimnames = list(NULL, c(one, two, "tea")))
  said <- "differ(s)? from others in Unicode form alone, such as \"caf.*stri_trans_nfc\\(\\) makes them one"
  expect_message(count_matrix(x), paste("2 terms", said))
  expect_silent(count_matrix(x[, -1]))
  expect_silent(count_matrix(x[, -2]))
  fit <- topic_model(x[, -2], 1, iter = 4, chains = 1, seed = 1, threads = 2)
  expect_message(predict(fit, x[, -1], seed = 1, threads = 2), paste("1 unknown term", said))
  expect_message(topic_model(x[, -2], 1, seed_words = list(c(two, "tea")), iter = 4, seed = 1, threads = 2),
    paste("1 seed word", said))
})

test_that("a perplexity leaves the session's random state as it was, and leaves none where there was none", {
  skip_where_repeated()
  old <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(if (!is.null(old)) assign(".Random.seed", old, globalenv()))
  set.seed(1)
  before <- get(".Random.seed", globalenv())
  perplexity(fit, planted, iter = 4, seed = 1, threads = 1)
  expect_identical(get(".Random.seed", globalenv()), before)
  rm(".Random.seed", envir = globalenv())
  perplexity(fit, planted, iter = 4, seed = 1, threads = 1)
  expect_false(exists(".Random.seed", globalenv(), inherits = FALSE))
})
