# report() of tables and comparisons, and how these look in R Markdown.
skip_where_repeated()

test_that("laws, matched components and what a machine has knit as tables", {
  skip_if_not_installed("knitr")
  results <- one_of_each_class()
  knitted <- function(x) as.character(knitr::knit_print(x))
  expect_match(knitted(results$pmf), "\n| mean | 3.5 |", fixed = TRUE)
  expect_match(knitted(pmf_poisson(3)), "leaves out at most", fixed = TRUE)
  expect_match(knitted(results$summary_pmf), "\n| 99% | 6 |", fixed = TRUE)
  expect_match(knitted(results$pmf_list), "\n| 2 | pmf on 1", fixed = TRUE)
  expect_match(knitted(results$warp_info), paste0("\n| warpbayes | ", results$warp_info$version), fixed = TRUE)
  expect_match(knitted(results$group_covariances), "\n| cyl | ", fixed = TRUE)
  matched <- results$relabelled_mixture
  expect_match(knitted(matched), "are in the same component", fixed = TRUE)
  expect_match(knitted(matched), "| stability |", fixed = TRUE)
  expect_no_match(knitted(results$dp_mixture), "stability")
  page <- paste(readLines(report(matched, open = FALSE)), collapse = "\n")
  expect_match(page, "Components that are matched between draws", fixed = TRUE)
  expect_match(page, escape_html(relabelled_words(matched)), fixed = TRUE)
  expect_output(print(matched), "stability")
})

test_that("each table and comparison has a page with its words, table and picture", {
  skip_if(on_cuda())
  results <- one_of_each_class()
  kinds <- c("type_proportions", "differential_state", "topic_effects", "topic_comparison")
  for (kind in kinds) {
    result <- results[[kind]]
    content <- report_content(result)
    file <- tempfile(fileext = ".html")
    expect_identical(basename(report(result, file, open = FALSE)), basename(file), label = kind)
    text <- paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
    unlink(file)
    expect_no_match(text, "cannot be drawn", label = kind)
    expect_identical(grepl("<img alt=", text, fixed = TRUE), TRUE, label = kind)
    for (words in c(content$words, as.character(content$verdict), names(content$main()))) {
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
  expect_match(paste(capture.output(print(untested)), collapse = " "), "g: no change is reported.* Cannot tell\\.")
  text <- paste(readLines(report(untested, open = FALSE)), collapse = "\n")
  expect_match(text, "No change can be tested", fixed = TRUE)
  expect_no_match(text, "<table><thead>")
  expect_identical(in_chunk(summary(results$topic_comparison)), in_chunk(results$topic_comparison))
})
