# report() of tables and comparisons, and how these look in R Markdown.

test_that("each table and comparison has a page with its words, table and picture", {
  skip_where_repeated()
  skip_if(on_cuda())
  results <- one_of_each_class()
  kinds <- c("type_proportions", "type_differences", "differential_state", "topic_effects", "topic_comparison")
  for (kind in kinds) {
    result <- results[[kind]]
    content <- report_content(result)
    file <- tempfile(fileext = ".html")
    expect_identical(basename(report(result, file, open = FALSE)), basename(file), label = kind)
    text <- paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
    unlink(file)
    expect_no_match(text, "cannot be drawn", label = kind)
    expect_identical(grepl("<img alt=", text, fixed = TRUE), kind != "differential_state", label = kind)
    for (words in c(content$words, content$verdict, names(content$main()))) {
      expect_match(text, escape_html(words), fixed = TRUE, label = kind)
    }
    table <- content$main()
    expect_gt(nrow(table), 0, label = kind)
    expect_match(text, escape_html(cell_words(table[[1]])[[1]]), fixed = TRUE, label = kind)
    expect_error(report(result, file, oops = 1, open = FALSE), "`oops`", class = "warpbayes_error_input")
    shown <- in_chunk(result)
    expect_identical(nrow(shown$tables[[1]]), nrow(table), label = kind)
    if (is.data.frame(result)) {
      less <- result
      less$lower <- NULL
      expect_error(report(less, file, open = FALSE), "`fit` has been changed", class = "warpbayes_error_input")
      expect_error(report(result[0, ], file, open = FALSE), "`fit` has been changed", class = "warpbayes_error_input")
      # Some of its rows are a result, too.
      expect_identical(nrow(report_content(result[1, ])$main()), 1L, label = kind)
    }
  }
  changed <- results$topic_comparison
  changed$table <- NULL
  expect_error(report(changed, open = FALSE), "`fit` has been changed", class = "warpbayes_error_input")
  # Nothing could be tested.
  untested <- results$differential_state
  untested$p <- NA_real_
  untested$reported <- FALSE
  expect_match(paste(capture.output(print(untested)), collapse = " "), "Cannot tell\\. No change is reported")
  text <- paste(readLines(report(untested, open = FALSE)), collapse = "\n")
  expect_match(text, "Cannot tell. No change", fixed = TRUE)
  expect_no_match(text, "<table><thead>")
  expect_identical(in_chunk(summary(results$topic_comparison)), in_chunk(results$topic_comparison))
})
