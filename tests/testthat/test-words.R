# Texts that cannot be shown as they are, and numbers that need all their digits.

test_that("texts in the encoding bytes are refused at the door", {
  bytes <- "a\xff"
  Encoding(bytes) <- "bytes"
  x <- matrix(c(1, 5, 2, 7, 3, 8, 4, 6), 4, dimnames = list(NULL, c(bytes, "b")))
  words <- "in the encoding \"bytes\""
  expect_input_error(dp_mixture(x, 2, iter = 2), paste("`x` has a text", words))
  expect_input_error(topic_model(x, 2, iter = 2), words)
  frame <- data.frame(y = c(0, 1, 0, 1), x[, 2, drop = FALSE])
  names(frame)[[2L]] <- bytes
  expect_input_error(bayes_logit(y ~ ., frame, iter = 2), paste("`data` has a text", words))
  expect_input_error(bayes_logit(y ~ g, data.frame(y = c(0, 1), g = c(bytes, "b")), iter = 2), words)
})

test_that("controls that change the direction of text are codes in prints and pages", {
  name <- "a\u202eb\u2066c"
  expect_identical(show_directions(c(name, "plain", NA)), c("a<U+202E>b<U+2066>c", "plain", NA))
  expect_identical(escape_html(name), "a&lt;U+202E&gt;b&lt;U+2066&gt;c")
  x <- matrix(c(3, 1, 2, 2, 1, 4), 2, dimnames = list(NULL, c(name, "b", "c")))
  fit <- topic_model(x, 2, iter = 4, chains = 1, seed = 1, threads = 2, progress = FALSE)
  skip_if_not(l10n_info()$`UTF-8`)
  shown <- capture.output(print(fit), print(summary(fit)))
  expect_false(any(grepl("\u202e", shown)))
  expect_true(any(grepl("<U+202E>", shown, fixed = TRUE)))
})

test_that("messages show as many digits as the fault needs", {
  above <- 1 + 2^-52
  expect_input_error(qpmf(pmf(1), above), "has the entry 1.0000000000000002: probabilities lie between 0 and 1")
  expect_input_error(pmf_binomial(5, above), "not 1.0000000000000002")
  expect_identical(exact_words(0.1), "0.1")
  expect_identical(exact_words(NaN), "NaN")
})

test_that("values at the ends of the whole numbers of doubles are read, and larger ones are shown", {
  wide <- pmf(c(0.5, 0.5), values = c(0, 2^52))
  expect_identical(dpmf(wide, c(0, 1, 2^52)), c(0.5, 0, 0.5))
  expect_input_error(pmf(c(0.5, 0.5), values = c(0, 1e308)), "at most 2\\^52 in absolute value.* not 1e\\+308")
})

test_that("raw bytes are no covariates, groups or responses", {
  data <- data.frame(y = c(0, 1, 0, 1), x = 1:4, r = as.raw(1:4))
  for (formula in list(y ~ r, r ~ x, y ~ x + (1 | r))) {
    expect_input_error(bayes_logit(formula, data, iter = 2), "reads \"r\", which is raw bytes")
  }
  expect_input_error(predictive_resample(data, copula_classification(r ~ x), 2, 2), "which is raw bytes")
})

test_that("a limit of the size of files ends a report in an error", {
  skip_on_cran()
  skip_on_os("windows")
  skip_if_not(nzchar(Sys.which("sh")))
  script <- tempfile(fileext = ".R")
  page <- tempfile(fileext = ".html")
  on.exit(unlink(c(script, page)))
  writeLines(c(
    sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")), "library(warpbayes)",
    sprintf("tryCatch(report(pmf(1:3 / 6), %s, open = FALSE), warpbayes_error = function(error) {", deparse(page)),
    "  cat(conditionMessage(error), sep = '\\n')", "})", "cat('alive\\n')"
  ), script)
  said <- suppressWarnings(system2("sh", c("-c", shQuote(sprintf("ulimit -f 8; exec %s --vanilla %s",
    shQuote(file.path(R.home("bin"), "Rscript")), shQuote(script)))), stdout = TRUE, stderr = TRUE))
  expect_true(any(grepl("`file` cannot be written to", said, fixed = TRUE)), info = said)
  expect_identical(utils::tail(said, 1L), "alive")
  expect_false(file.exists(page))
})
