# report() of comparisons of groups of samples, and how knitr shows them.

report_content.differential_abundance <- function(fit, ...) {
  check_method(fit, "fit", ...)
  list(
    title = "Differential abundance of cell types", words = abundance_words(fit), verdict = verdict(fit),
    main = function() abundance_table(fit, fit$effects[order(fit$effects$fdr), ]),
    sections = function() abundance_sections(fit),
    made = made_words(fit), prior = abundance_prior_words(),
    code = c(needed_words(needed_objects(fit$call, c("types", "data", "totals"))),
      repeating_code(fit$call, "differential_abundance", "result", list(seed = fit$seed))), rows = 20L
  )
}

abundance_sections <- function(fit) {
  summary <- summary.differential_abundance(fit)
  effects <- unique(fit$effects$effect)
  types <- min(12L, nrow(fit$counts))
  pictures <- lapply(utils::head(effects, 8L), function(effect) {
    what <- if (fit$change == "absolute") "absolute changes" else "odds ratios"
    picture_part(sprintf("%s: logs of %s with %s intervals. Types that are reported are filled.",
      effect_words(fit$effect_labels, effect), what, percent(fit$level, 0)),
      function() plot.differential_abundance(fit, effect = effect), c(0.25 + 0.03 * types, 0.45 + 0.05 * types))
  })
  counts <- data.frame(sample = colnames(fit$counts), `all cells` = whole_words(fit$totals),
    t(round(fit$counts)), check.names = FALSE)
  names(counts)[-(1:2)] <- rownames(fit$counts)
  list(
    list(title = "Effects", parts = c(
      list(table_part(abundance_table(fit, fit$effects[order(fit$effects$fdr), ]),
        "Odds ratios of shares and absolute changes, the type with the smallest false discovery rate first")),
      list(paragraphs(paste("absolute: the factor by which the absolute number changes; fdr: the smallest false",
        "discovery rate at which the type is reported; sd: standard deviation between samples, in log odds."), "note")),
      pictures
    )),
    list(title = "How samples differ", parts = list(paragraphs(between_samples_words(summary)))),
    list(title = "Counts", parts = list(
      table_part(counts, "Cells by sample and type, averaged over draws"),
      table_part(data.frame(sample = rownames(fit$design), fit$design, check.names = FALSE), "Design")
    ))
  )
}

abundance_prior_words <- function() {
  c(
    "Coefficients of predictors with standard deviation 1: normal with mean 0 and standard deviation 2.5.",
    paste("Standard deviation between samples, of each type: log-normal. Its median, a trend with the frequency of the",
      "type, and how alike types are is learned from all types together; the median has a log-normal prior with median",
      "0.5."),
    "Share of types without an effect: beta(8, 1.5). Common shift of the logs of all shares: Cauchy."
  )
}

in_chunk.summary.differential_abundance <- function(x) {
  list(words = c(x$words, between_samples_words(x)), verdict = x$verdict, rows = 200L,
    tables = list(`Odds ratios` = abundance_table(x)))
}
