# Topic models on the AssociatedPress counts (2,246 documents, 10,473 terms, 435,838 tokens), alpha 0.5, beta 0.1:
# tokens x sweeps per second of one thread and two, beside text2vec where it is installed. With one thread medians of
# processor time; with two, of elapsed time, next to the elapsed time of one. topic-model-curves.R has perplexity
# against seconds.
#   cd bench && Rscript topic-model.R COUNTS.csv.gz    (columns document, term, count)
source("common.R")
arguments <- commandArgs(TRUE)
if (!length(arguments)) stop("the counts: Rscript topic-model.R associated-press-counts.csv.gz")
counts <- read.csv(arguments[[1L]])
x <- Matrix::sparseMatrix(counts$document, counts$term, x = as.double(counts$count))
colnames(x) <- paste0("w", seq_len(ncol(x)))
tokens <- sum(x)

sweeps_of <- function(topics) if (topics >= 1000) 4 else 40

# Seconds of a sweep: the time of a run less that of a short one, which begins like it.
ours <- function(topics, ..., clock = processor_seconds) {
  sweeps <- sweeps_of(topics)
  function() {
    run <- function(n) {
      clock(topic_model(x, topics, 0.5, 0.1,
        iter = n, warmup = n - 1, seed = 1, backend = "cpu", progress = FALSE, ...
      ))
    }
    short <- run(2)
    (run(2 + sweeps) - short) / sweeps
  }
}
# Its sweeps are called by themselves, since fit_transform() adds as many for inference.
text2vec <- function(topics) {
  lgr::lgr$set_threshold("warn")
  model <- text2vec::LDA$new(n_topics = topics, doc_topic_prior = 0.5, topic_word_prior = 0.1)
  own <- model$.__enclos_env__$private
  create <- getFromNamespace("warplda_create", "text2vec")
  state <- create(n_topics = topics, doc_topic_prior = 0.5, topic_word_prior = 0.1)
  own$init_model_dtm(x, state)
  function() {
    processor_seconds(for (i in seq_len(sweeps_of(topics))) {
      own$run_iter_doc(TRUE, state)
      own$run_iter_word(TRUE, state)
    }) / sweeps_of(topics)
  }
}

speed <- do.call(rbind, lapply(c(100, 1000), function(topics) {
  runs <- list(
    "gibbs, double" = ours(topics, threads = 1), "gibbs, single" = ours(topics, threads = 1, precision = "single"),
    "mean for mode, double" = ours(topics, method = "mean_for_mode", threads = 1),
    "mean for mode, single" = ours(topics, method = "mean_for_mode", threads = 1, precision = "single"),
    "gibbs, double, elapsed" = ours(topics, threads = 1, clock = elapsed),
    "gibbs, double, two threads, elapsed" = ours(topics, threads = 2, clock = elapsed)
  )
  if (requireNamespace("text2vec", quietly = TRUE)) runs$text2vec <- text2vec(topics)
  seconds <- medians(do.call(interleave, c(runs, times = 5)))
  out <- data.frame(sampler = names(seconds), topics = topics, tokens_per_second = tokens / seconds)
  if ("text2vec" %in% out$sampler) {
    out$times_text2vec <- out$tokens_per_second / out$tokens_per_second[out$sampler == "text2vec"]
  }
  out
}))
save_results(speed, "topic-model-speed")
