# Which tests belong to a file. The first pattern of paths that matches counts. It is followed by a pattern of test
# files, without "test-" and ".R", and by topics of test-known-answers.R.
topics <- list(
  c("autoplot|_plot|colours|plot_parts",
    paste0("plot|report|^(bayes-logit|topic-model|cell-types|relabel|differential-abundance)$|bem|diag|generics|pmf|",
      "predictive-(arguments|copula)"),
    ""),
  c("/report", "report", ""),
  c("tidiers|refused_generics", "generics|dp-mixture-(print|bem)|differential-abundance$|topic-model$", ""),
  c("cluster/|cluster_entry", "dp-mixture-cluster", "dp_mixture"),
  c("pmf|convol|condition_on_sum_pmf|scaled_value", "pmf|convolve|condition-on-sum", "pmf"),
  c("numeric/(fft|wide|log_add)", "pmf|convolve|condition-on-sum", "pmf"),
  c("abundance", "differential-abundance", "differential"),
  c("polyagamma", "polyagamma|bayes-logit", "polyagamma|logit"),
  c("bayes_logit|logit_prior|grouping_terms|sparse_design|regression[/_]", "bayes-logit|refused-generics|chains",
    "bayes_logit"),
  c("topic", "topic-model|compare-topics|relabel", "topic_model"),
  c("predictive|copula", "predictive", "predictive"),
  c("categorical", "categorical|topic-model-sampler", "categorical"),
  c("dp_prior", "dp-prior|dp-mixture", "dp_mixture"),
  c("bem", "dp-mixture-(bem|missing|arguments)|cell-types", "bem"),
  c("cell_types|add_types|type_|marker_|branches|peaks",
    "cell-types|add-types|type-names|marker|dp-mixture-(bem|samples|print|plot)", "dp_mixture|bem"),
  c("co_clustering|/relabel|assignment", "relabel|assignment|dp-mixture-(draws|predict|print)|topic-model$",
    "dp_mixture"),
  c("mixture|block_draw|random_tables|weight_look", "dp-mixture|cell-types-c|assignment|chains", "dp_mixture|bem"),
  c("random_(beta|wishart)|linear_algebra|team", "dp-mixture|bayes-logit|differential",
    "dp_mixture|bem|logit|differential"),
  c("checkpoint|resume|store_entry", "checkpoint|chains", "dp_mixture"),
  c("/chains|continue|drop_warmup|diagnostics|coda",
    "chains|drop-warmup|checkpoint|diagnostics|dp-mixture-draws|generics", "dp_mixture"),
  c("(run|backend|backend_cost|backend_entry)[.][Rc]", "backend|devices|chains", "rcategorical"),
  c("row_reader|count_matrix|matrix_scan|matrix_entry",
    "marker|topic-model$|dp-mixture-(arguments|missing)|checkpoint|sparse", "dp_mixture"),
  c("R/(random|computing|progress|memory|interruption)", "chains|backend|checkpoint|rcategorical|sampler", "."),
  c("fit_parts", "fit-parts|refused|checkpoint", ""),
  c(".", ".", ".")
)

words_of <- function(name) strsplit(tolower(name), "[-_.]")[[1L]]

# The tests of a file, in the order in which they run: known answers first if it is compiled, then those whose names
# share most words with the file's, and of these the fastest first. `seconds` is named by tests.
tests_of <- function(path, seconds, names, known_topics) {
  row <- Find(function(row) grepl(row[[1L]], path), topics)
  own <- words_of(sub("[.]\\w+$", "", basename(path)))
  chosen <- grep(row[[2L]], setdiff(names, "known-answers"), value = TRUE)
  shared <- vapply(chosen, function(name) {
    words <- words_of(name)
    sum(own %in% words) - 0.1 * sum(!words %in% own)
  }, 0)
  time <- seconds[chosen]
  time[is.na(time)] <- 10
  chosen <- chosen[order(-pmax(0, shared), time)]
  known <- if (nzchar(row[[3L]])) paste0("known-answers:", grep(row[[3L]], known_topics, value = TRUE))
  if (startsWith(path, "src/")) c(known, chosen) else c(chosen[seq_len(min(2L, length(chosen)))], known, chosen[-(1:2)])
}
