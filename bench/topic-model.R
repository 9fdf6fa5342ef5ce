# Topic models on the AssociatedPress counts (2,246 documents, 10,473 terms, 435,838
# tokens), alpha 0.5, beta 0.1: tokens x sweeps per second of one thread and two, and
# held-out perplexity against seconds, beside text2vec and topicmodels where installed.
#   Rscript topic-model.R COUNTS.csv.gz    (columns document, term, count)
source("common.R")
arguments <- commandArgs(TRUE)
if (!length(arguments)) stop("the counts: Rscript topic-model.R associated-press-counts.csv.gz")
counts <- read.csv(arguments[[1L]])
set.seed(1)
x <- Matrix::sparseMatrix(counts$document, counts$term, x = as.double(counts$count))
colnames(x) <- paste0("w", seq_len(ncol(x)))
held_out <- sample(nrow(x), 200)
train <- x[-held_out, ]
test <- x[held_out, ]
tokens <- sum(x)

sweeps_of <- function(topics) if (topics >= 1000) 4 else 20

ours <- function(topics, ...) {
  sweeps <- sweeps_of(topics)
  function() {
    fit <- topic_model(x, topics, 0.5, 0.1, iter = sweeps, warmup = sweeps - 1, seed = 1, backend = "cpu", progress = FALSE, ...)
    fit$elapsed[["sweeps"]] / sweeps
  }
}
text2vec <- function(topics) {
  sweeps <- sweeps_of(topics)
  function() {
    model <- text2vec::LDA$new(n_topics = topics, doc_topic_prior = 0.5, topic_word_prior = 0.1)
    # Without the sweeps of its inference, which follow the fit.
    run <- function(n) elapsed(model$fit_transform(x, n_iter = n, convergence_tol = -1, n_check_convergence = n + 1, progressbar = FALSE))
    (run(2 * sweeps) - run(sweeps)) / sweeps / 2
  }
}

speed <- do.call(rbind, lapply(c(100, 1000), function(topics) {
  runs <- list(
    "gibbs, double" = ours(topics, threads = 1), "gibbs, single" = ours(topics, threads = 1, precision = "single"),
    "mean for mode, double" = ours(topics, method = "mean_for_mode", threads = 1),
    "mean for mode, single" = ours(topics, method = "mean_for_mode", threads = 1, precision = "single"),
    "gibbs, double, two threads" = ours(topics, threads = 2)
  )
  if (requireNamespace("text2vec", quietly = TRUE)) runs$text2vec <- text2vec(topics)
  seconds <- medians(do.call(interleave, c(runs, times = 3)))
  data.frame(sampler = names(seconds), topics = topics, tokens_per_second = tokens / seconds)
}))
save_results(speed, "topic-model-speed")

# Perplexity of the second half of each held-out document's tokens against seconds of fitting.
curve_of <- function(topics, method, seconds = 60) {
  fit <- topic_model(train, topics, 0.5, 0.1, method, iter = 2, warmup = 1, seed = 1, threads = 1, backend = "cpu", progress = FALSE)
  out <- NULL
  repeat {
    # The last sweep alone, as a user who stops here would have it.
    state <- fit
    state$phi <- last_phi(fit)
    out <- rbind(out, data.frame(
      sampler = method, topics = topics, sweeps = fit$iter, seconds = fit$elapsed[["sweeps"]],
      perplexity = as.numeric(perplexity(state, test, seed = 1, threads = 1, backend = "cpu"))
    ))
    if (fit$elapsed[["sweeps"]] > seconds) break
    fit <- continue(fit, fit$iter, threads = 1, backend = "cpu", progress = FALSE)
  }
  out
}
last_phi <- function(fit) {
  topic <- readBin(fit$state[[1L]]$topics, "integer", fit$x$tokens, size = 2L, signed = FALSE) + 1L
  at <- rep(seq_along(fit$x$count), fit$x$count)
  # Tokens lie by document, then term.
  order <- order(fit$x$i[at], rep(seq_len(fit$x$size[[2L]]), diff(fit$x$p))[at])
  counts <- as.matrix(Matrix::sparseMatrix(topic, rep(seq_len(fit$x$size[[2L]]), diff(fit$x$p))[at][order], x = 1, dims = dim(fit$phi)))
  (counts + 0.1) / rowSums(counts + 0.1)
}
peer_curve <- function(topics, sweeps = c(10, 30, 100, 300)) {
  shell <- topic_model(train, topics, 0.5, 0.1, iter = 2, warmup = 1, seed = 1, threads = 1, backend = "cpu", progress = FALSE)
  do.call(rbind, lapply(sweeps, function(n) {
    model <- text2vec::LDA$new(n_topics = topics, doc_topic_prior = 0.5, topic_word_prior = 0.1)
    time <- elapsed(model$fit_transform(train, n_iter = n, convergence_tol = -1, n_check_convergence = n + 1, progressbar = FALSE))
    shell$phi <- (model$components + 0.1) / rowSums(model$components + 0.1)
    data.frame(sampler = "text2vec", topics = topics, sweeps = n, seconds = time,
      perplexity = as.numeric(perplexity(shell, test, seed = 1, threads = 1, backend = "cpu")))
  }))
}
curves <- do.call(rbind, lapply(c(100, 1000), function(topics) {
  out <- rbind(curve_of(topics, "gibbs"), curve_of(topics, "mean_for_mode"))
  if (requireNamespace("text2vec", quietly = TRUE)) out <- rbind(out, peer_curve(topics))
  out
}))
save_results(curves, "topic-model-perplexity")
