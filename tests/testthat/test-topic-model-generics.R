# Functions of other packages of topic models that take fits of topic_model() or mask functions of ours. These packages
# are not among the suggested ones, so stand-ins take their places: packages of the same name with the same generics and
# a model of their own, and nothing else. Where the packages are installed, they are tested too.

# Installs a stand-in into a temporary library.
install_stand_in <- function(name, namespace, code, library) {
  source <- file.path(library, "sources", name)
  dir.create(file.path(source, "R"), recursive = TRUE)
  writeLines(c(paste("Package:", name), "Version: 0.0.1", "Title: Stand-In", "Description: A generic.", "Author: None",
    "Maintainer: None <none@example.org>", "License: MIT", "Imports: methods"), file.path(source, "DESCRIPTION"))
  writeLines(namespace, file.path(source, "NAMESPACE"))
  writeLines(code, file.path(source, "R", "code.R"))
  system2(file.path(R.home("bin"), "R"), c("CMD", "INSTALL", "--no-test-load", "--no-byte-compile", "--no-docs",
    "--no-multiarch", shQuote(paste0("--library=", library)), shQuote(source)), stdout = FALSE, stderr = FALSE)
}

# Runs the lines, which mask perplexity() and make a `model` of the stand-in, in a process of its own.
run_masked <- function(library, ...) {
  run_lines(library, ...,
    "x <- matrix(c(5, 4, 0, 0, 1, 0, 5, 6), 4, 2)",
    "fit <- warpbayes::topic_model(x, 2, iter = 10, seed = 1, backend = 'cpu', threads = 1)",
    "expected <- warpbayes::perplexity(fit, x, share = 0.4, seed = 2, threads = 1)",
    "cat(environmentName(topenv(environment(perplexity))), perplexity(model), '')",
    "cat(identical(perplexity(fit, x, share = 0.4, seed = 2, threads = 1), expected), '')",
    "cat(identical(perplexity(fit, x, 0.4, seed = 2, threads = 1), expected), '')",
    "cat(identical(perplexity(fit), warpbayes::perplexity(fit)), '')",
    "cat(tryCatch(perplexity(fit, x, shares = 1), warpbayes_error_input = function(e) 'refused'))")
}

# What a process that runs these lines prints, messages included.
run_lines <- function(library, ...) {
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  writeLines(c(sprintf(".libPaths(c(%s))", toString(shQuote(c(library, .libPaths()), "cmd"))), ...), script)
  system2(file.path(R.home("bin"), "Rscript"), c("--no-init-file", shQuote(script)), stdout = TRUE, stderr = TRUE)
}

test_that("perplexity() of topicmodels and of seededlda, attached last, knows fits of topic_model()", {
  skip_on_cran()
  skip_where_repeated()
  library <- tempfile("library")
  on.exit(unlink(library, recursive = TRUE))
  expect_identical(0L, install_stand_in(
    "topicmodels", c("import(methods)", "exportMethods(perplexity)", "exportClasses(VEM)"), c(
      "setClass('VEM', representation(n = 'numeric'))",
      "setGeneric('perplexity', function(object, newdata, ...) standardGeneric('perplexity'))",
      "setMethod('perplexity', signature(object = 'VEM', newdata = 'missing'),",
      "  function(object, newdata, ...) object@n)",
      # topicmodels has this method, with which the choice for a fit of ours would be ambiguous.
      "setMethod('perplexity', signature(object = 'ANY', newdata = 'matrix'), function(object, newdata, ...) 'wrong')"
    ), library))
  expect_identical(0L, install_stand_in("seededlda", c("export(perplexity)", "S3method(perplexity, textmodel_lda)"), c(
    "perplexity <- function(x, newdata = NULL, ...) UseMethod('perplexity')",
    "perplexity.textmodel_lda <- function(x, newdata = NULL, ...) x$n"
  ), library))
  vem <- "model <- new('VEM', n = 7)"
  expect_identical(run_masked(library, "library(warpbayes)", "suppressMessages(library(topicmodels))", vem),
    "topicmodels 7 TRUE TRUE TRUE refused")
  # topicmodels is loaded before warpbayes, which is not attached.
  expect_identical(run_masked(library, "library(topicmodels)", "invisible(loadNamespace('warpbayes'))", vem),
    "topicmodels 7 TRUE TRUE TRUE refused")
  expect_identical(run_masked(library, "library(warpbayes)", "suppressMessages(library(seededlda))",
    "model <- structure(list(n = 8), class = 'textmodel_lda')"), "seededlda 8 TRUE TRUE TRUE refused")
})

# Fits of ours in functions of topicmodels, as lines that print.
topicmodels_lines <- c(
  "x <- matrix(c(5, 4, 0, 0, 0, 1, 0, 0, 5, 6), 5, 2, dimnames = list(paste0('d', 1:5), c('goal', 'price')))",
  "x['d3', ] <- 0",
  "fit <- warpbayes::topic_model(x, 2, 0.1, 0.1, iter = 100, seed = 1, backend = 'cpu', threads = 1)",
  "cat(identical(posterior(fit), list(terms = fit$phi, topics = fit$theta)), '')",
  "new <- posterior(fit, x, seed = 2, iter = 10)$topics",
  "cat(isTRUE(all.equal(new, predict(fit, x, seed = 2, iter = 10), check.attributes = FALSE)), '')",
  "goal <- unname(which.max(fit$phi[, 'goal']))",
  "cat(identical(terms(fit)[[goal]], 'goal'), identical(terms(fit, 2)[, goal], c('goal', 'price')), '')",
  "cat(identical(unname(topics(fit)), c(goal, goal, NA, 3L - goal, 3L - goal)), dim(topics(fit, 2)), '')",
  "cat(identical(terms(fit, threshold = 0.5)[[goal]], 'goal'), names(terms(fit, 1)), '')",
  "cat(grepl('`n`', tryCatch(topics(fit, n = 3), error = conditionMessage), fixed = TRUE))"
)
topicmodels_answer <- "TRUE TRUE TRUE TRUE TRUE 2 5 TRUE Topic 1 Topic 2 TRUE"

test_that("posterior(), terms() and topics() of topicmodels know fits of topic_model()", {
  skip_on_cran()
  skip_where_repeated()
  library <- tempfile("library")
  on.exit(unlink(library, recursive = TRUE))
  expect_identical(0L, install_stand_in(
    "topicmodels", c("import(methods)", "importFrom(stats, terms)", "exportMethods(posterior, terms, topics)",
      "exportClasses(VEM)"), c(
      "setClass('VEM', representation(n = 'numeric'))",
      "setGeneric('posterior', function(object, newdata, ...) standardGeneric('posterior'))",
      "setGeneric('terms')",
      "setGeneric('topics', function(x, ...) standardGeneric('topics'))",
      sprintf("setMethod('%s', 'VEM', function(%s, ...) 7)", c("posterior", "terms", "topics"),
        c("object, newdata", "x", "x"))
    ), library))
  for (attached in list(c("warpbayes", "topicmodels"), c("topicmodels", "warpbayes"))) {
    expect_identical(run_lines(library, sprintf("suppressMessages(library(%s))", attached), topicmodels_lines),
      topicmodels_answer)
  }
})

test_that("topicmodels itself takes fits of topic_model(), and we its counts", {
  skip_on_cran()
  skip_where_repeated()
  skip_if(!nzchar(system.file(package = "topicmodels")), "topicmodels is not installed")
  for (attached in list(c("warpbayes", "topicmodels"), c("topicmodels", "warpbayes"))) {
    lines <- sprintf("suppressMessages(library(%s))", attached)
    expect_identical(run_lines(character(), lines, topicmodels_lines), topicmodels_answer)
    # A message about an ambiguous method would stand before the answers.
    expect_identical(run_lines(character(), lines,
      "data(AssociatedPress, package = 'topicmodels')",
      "x <- AssociatedPress[1:20, ]",
      "fit <- topic_model(x, 2, iter = 10, seed = 1, backend = 'cpu', threads = 1)",
      "own <- warpbayes::perplexity(fit, x, seed = 2, threads = 1)",
      "cat(identical(topicmodels::perplexity(fit, x, seed = 2, threads = 1), own), '')",
      "cat(identical(topicmodels::perplexity(fit, as.matrix(x), seed = 2, threads = 1), own), '')",
      "m <- LDA(x[, slam::col_sums(x) > 0], 2, control = list(seed = 1, em = list(iter.max = 2)))",
      "cat(is.numeric(topicmodels::perplexity(m)), '')",
      "cat(tryCatch(warpbayes::perplexity(m), error = conditionMessage))"),
    paste("TRUE TRUE TRUE `fit` must come from topic_model(), not a LDA_VEM of length 1: for objects of other packages",
      "write topicmodels::perplexity()"))
  }
})

test_that("text2vec takes what topic_model() makes, and we its counts", {
  skip_on_cran()
  skip_where_repeated()
  skip_if(!nzchar(system.file(package = "text2vec")), "text2vec is not installed")
  lines <- c("words <- strsplit(c('goal team goal', 'team goal', '', 'price trade', 'trade price price'), ' ')",
    "seen <- text2vec::itoken(words, progressbar = FALSE)",
    "x <- text2vec::create_dtm(seen, text2vec::vocab_vectorizer(text2vec::create_vocabulary(seen)))",
    "fit <- warpbayes::topic_model(x, 2, iter = 50, seed = 1, backend = 'cpu', threads = 1)",
    "cat(dim(fit$theta), '')",
    "full <- Matrix::rowSums(x) > 0",
    "theirs <- text2vec::perplexity(x[full, ], fit$phi, fit$theta[full, ])",
    "cat(isTRUE(all.equal(theirs, as.numeric(warpbayes::perplexity(fit)))), '')",
    "top <- matrix(warpbayes::top_terms(fit, 2)$term, 2)")
  expect_identical(run_lines(character(), "library(text2vec)", "suppressMessages(library(warpbayes))", lines,
    "cat(length(coherence(fit, n = 2)), '')",
    "cat(tryCatch(coherence(top, tcm = Matrix::crossprod(x)), error = conditionMessage))"),
  paste("5 2 TRUE 2 `fit` must come from topic_model(), not a 2 x 2 matrix: for objects of other packages write",
    "text2vec::coherence()"))
  expect_identical(run_lines(character(), "library(warpbayes)", "suppressMessages(library(text2vec))", lines,
    "cat(dim(coherence(top, tcm = Matrix::crossprod(sign(x)), n_doc_tcm = 5)), '')",
    "cat(grepl('warpbayes::coherence(x)', tryCatch(coherence(fit), error = conditionMessage), fixed = TRUE))"),
  "5 2 TRUE 2 6 TRUE")
})
