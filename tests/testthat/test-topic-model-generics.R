# perplexity() of fits of topic_model() when another package of topic models masks it. These packages are not among the
# suggested ones, so stand-ins take their places: packages of the same name with the same generic and a model of their
# own, and nothing else.

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
  script <- file.path(library, "script.R")
  writeLines(c(sprintf(".libPaths(c(%s))", toString(shQuote(c(library, .libPaths()), "cmd"))), ...,
    "x <- matrix(c(5, 4, 0, 0, 1, 0, 5, 6), 4, 2)",
    "fit <- warpbayes::topic_model(x, 2, iter = 10, seed = 1, backend = 'cpu', threads = 1)",
    "expected <- warpbayes::perplexity(fit, x, share = 0.4, seed = 2, threads = 1)",
    "cat(environmentName(topenv(environment(perplexity))), perplexity(model), '')",
    "cat(identical(perplexity(fit, x, share = 0.4, seed = 2, threads = 1), expected), '')",
    "cat(identical(perplexity(fit, x, 0.4, seed = 2, threads = 1), expected), '')",
    "cat(identical(perplexity(fit), warpbayes::perplexity(fit)), '')",
    "cat(tryCatch(perplexity(fit, x, shares = 1), warpbayes_error_input = function(e) 'refused'))"), script)
  system2(file.path(R.home("bin"), "Rscript"), c("--no-init-file", shQuote(script)), stdout = TRUE)
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
      "setMethod('perplexity', signature(object = 'VEM', newdata = 'missing'), function(object, newdata, ...) object@n)"
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
