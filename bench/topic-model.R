# Topic models on the AssociatedPress counts (2,246 documents, 10,473 terms, 435,838 tokens) with 50, 100 and 1,000
# topics, alpha 50 / topics, beta 0.1: tokens x sweeps per second of one thread, by instruction set, beside text2vec
# (WarpLDA), topicmodels and lda (both collapsed Gibbs sampling) where they are installed. Medians of processor time.
# How far a sweep comes differs between samplers: topic-model-curves.R has perplexity against seconds.
#   cd bench && Rscript topic-model.R COUNTS.csv.gz [TOPICS...]    (columns document, term, count)
#
# The peers are compiled as R compiles packages, for the baseline of the processor's family: their loops do not change
# with the instruction set. They were installed from their sources to a library of their own, which R_LIBS names:
#   apt-get install libgsl-dev r-cran-slam r-cran-tm r-cran-modeltools
#   mkdir peers; R CMD INSTALL --library=peers topicmodels_0.2-16.tar.gz lda_1.5.2.tar.gz text2vec_0.6.4.tar.gz
# lda 1.5.2 asks for R 4.3, and its code runs on R 4.2 too.
source("common.R")
arguments <- commandArgs(TRUE)
if (!length(arguments)) stop("the counts: Rscript topic-model.R associated-press-counts.csv.gz")
counts <- read.csv(arguments[[1L]])
sizes <- if (length(arguments) > 1L) as.numeric(arguments[-1L]) else c(50, 100, 1000)
x <- Matrix::sparseMatrix(counts$document, counts$term, x = as.double(counts$count))
colnames(x) <- paste0("w", seq_len(ncol(x)))
tokens <- sum(x)

sweeps_of <- function(topics) if (topics >= 1000) 10 else 20

# Seconds of a sweep: the time of a run less that of a short one, which begins like it.
ours <- function(topics, set, ...) {
  sweeps <- sweeps_of(topics)
  function() {
    options(warpbayes.isa = set)
    run <- function(n) {
      processor_seconds(topic_model(x, topics, 50 / topics, 0.1, iter = n, warmup = n - 1, seed = 1,
        control = warp_control(start = "random", ...), threads = 1, backend = "cpu", progress = FALSE))
    }
    short <- run(2)
    (run(2 + sweeps) - short) / sweeps
  }
}
# Its sweeps are called by themselves, since fit_transform() adds as many for inference.
text2vec <- function(topics) {
  lgr::lgr$set_threshold("warn")
  model <- text2vec::LDA$new(n_topics = topics, doc_topic_prior = 50 / topics, topic_word_prior = 0.1)
  own <- model$.__enclos_env__$private
  create <- getFromNamespace("warplda_create", "text2vec")
  state <- create(n_topics = topics, doc_topic_prior = 50 / topics, topic_word_prior = 0.1)
  own$init_model_dtm(x, state)
  function() {
    processor_seconds(for (i in seq_len(sweeps_of(topics))) {
      own$run_iter_doc(TRUE, state)
      own$run_iter_word(TRUE, state)
    }) / sweeps_of(topics)
  }
}
# One sweep, which takes several seconds with 1,000 topics.
topicmodels <- function(topics) {
  data <- slam::as.simple_triplet_matrix(x)
  class(data) <- c("DocumentTermMatrix", "simple_triplet_matrix")
  attr(data, "weighting") <- c("term frequency", "tf")
  run <- function(n) {
    control <- list(alpha = 50 / topics, delta = 0.1, iter = n, burnin = 0, thin = n, seed = 1)
    processor_seconds(topicmodels::LDA(data, topics, "Gibbs", control = control))
  }
  function() run(2) - run(1)
}
lda <- function(topics) {
  documents <- lapply(split(counts, counts$document), function(d) rbind(d$term - 1L, d$count))
  run <- function(n) {
    set.seed(1)
    processor_seconds(lda::lda.collapsed.gibbs.sampler(documents, topics, colnames(x), n, 50 / topics, 0.1))
  }
  function() (run(4) - run(1)) / 3
}

speed <- NULL
for (topics in sizes) {
  runs <- list()
  for (set in instruction_sets()) {
    here <- list(
      ours(topics, set), ours(topics, set, precision = "single"), ours(topics, set, estimate = "mean"),
      ours(topics, set, estimate = "mean", precision = "single")
    )
    names(here) <- paste0(c("gibbs, double", "gibbs, single", "mean for mode, double", "mean for mode, single"), ", ",
      set_names[[set]])
    runs <- c(runs, here)
  }
  if (requireNamespace("text2vec", quietly = TRUE)) runs$text2vec <- text2vec(topics)
  if (requireNamespace("topicmodels", quietly = TRUE)) runs[["topicmodels, collapsed Gibbs"]] <- topicmodels(topics)
  if (requireNamespace("lda", quietly = TRUE)) runs[["lda, collapsed Gibbs"]] <- lda(topics)
  seconds <- medians(do.call(interleave, c(runs, times = 3)))
  out <- data.frame(sampler = names(seconds), topics = topics, tokens_per_second = signif(tokens / seconds, 3))
  if ("text2vec" %in% out$sampler) {
    out$times_text2vec <- signif(out$tokens_per_second / out$tokens_per_second[out$sampler == "text2vec"], 3)
  }
  speed <- rbind(speed, out)
  save_results(speed, "topic-model-speed")
}
