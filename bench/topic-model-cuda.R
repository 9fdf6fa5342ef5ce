# Topic models on a graphics card and on the processor. The corpus is simulated and has the shape of that of Steele &
# Tristan (2017): 43,556 documents, 37,286 words and 3,072,662 tokens, with 1,024 topics. Prints the seconds of a
# sweep, tokens per second, and two lower limits of a sweep's time. One is reading memory, if the row of phi of each
# pair of a document and a term came from there; the other is one multiply-add for each topic of a pair. Prints a
# table in Markdown.
#   Rscript topic-model-cuda.R    after tests/measure/build.sh ../build/measure --card
source("common.R")
rehearsal <- use_card()

# Every document has five subjects of 200. The commonest words are shared, every other word belongs to a subject. The
# frequencies of words follow Zipf's law, and every document and word occurs.
corpus <- function(documents, words, tokens, subjects = 200, shared = words %/% 20) {
  set.seed(1)
  document <- c(seq_len(documents), sample.int(documents, tokens - documents, TRUE, rgamma(documents, 2)))
  word <- sample.int(words, tokens, TRUE, 1 / (10 + seq_len(words)))
  own <- matrix(sample.int(subjects, 5 * documents, TRUE), documents)
  subject <- own[cbind(document, sample.int(5, tokens, TRUE))]
  special <- word > shared
  word[special] <- shared + 1 + (word[special] + subject[special] * ((words - shared) %/% subjects)) %% (words - shared)
  word[sample.int(tokens, words)] <- seq_len(words)
  x <- Matrix::sparseMatrix(document, word, x = 1, dims = c(documents, words))
  colnames(x) <- paste0("w", seq_len(words))
  x
}

# Of the sweeps alone: the difference between a long run and a short one.
seconds_of <- function(x, topics, sweeps, ..., backend = NULL) {
  run <- function(n) {
    fit <- topic_model(x, topics, 0.5, 0.1, iter = n, warmup = n - 1, seed = 1, backend = backend,
      progress = FALSE, control = warp_control(...))
    fit$elapsed[["sweeps"]]
  }
  # The first runs take longer: memory and kernels are prepared.
  for (i in 1:2) run(2)
  median(vapply(1:3, function(i) run(2 + sweeps) - run(2), 0)) / sweeps
}

topics <- if (rehearsal) 20 else 1024
x <- if (rehearsal) corpus(30, 200, 1000, subjects = 10) else corpus(43556, 37286, 3072662)
pairs <- length(x@x)
tokens <- sum(x)
# Topics lie in rows of 16.
width <- 16 * ceiling(topics / 16)
bytes_of <- c(double = 8, single = 4)
gammas <- sum(dim(x)) * topics
read <- measure_read_rate()
cat(count(nrow(x)), " documents, ", count(ncol(x)), " words, ", count(tokens), " tokens in ", count(pairs), " pairs, ",
  count(topics), " topics; ", count(gammas), " gammas a sweep of Gibbs sampling.\nThe card reads ", number(read / 1e9),
  " GB of its memory per second.\n\n", sep = "")
header("device", "method", "precision", "seconds a sweep", "tokens per second", "limit of memory, seconds",
  "limit of multiply-adds, seconds", "share of the limit that binds", "gammas per second")
for (precision in names(bytes_of)) {
  memory <- (pairs + ncol(x)) * width * bytes_of[[precision]] / read
  adds <- pairs * width / rate(NULL, precision, "cuda")
  for (method in c("gibbs", "mean_for_mode")) {
    estimate <- if (method == "gibbs") "mode" else "mean"
    s <- seconds_of(x, topics, if (rehearsal) 1 else 60, estimate = estimate, precision = precision)
    line("card", method, precision, number(s), number(tokens / s), number(memory), number(adds),
      percent(max(memory, adds) / s), if (method == "gibbs") number(gammas / s) else "")
  }
}
for (precision in names(bytes_of)) {
  s <- seconds_of(x, topics, if (rehearsal) 1 else 2, precision = precision, backend = "cpu")
  line("processor, all threads", "gibbs", precision, number(s), number(tokens / s), "", "", "", number(gammas / s))
}

# The same numbers as the processor's, from a small corpus.
small <- corpus(30, 200, 1000, subjects = 10)
fits <- lapply(c("cuda", "cpu"), function(backend) {
  topic_model(small, 20, iter = 8, seed = 1, backend = backend, progress = FALSE)
})
same <- identical(fits[[1L]]$phi, fits[[2L]]$phi) && identical(fits[[1L]]$log_likelihood, fits[[2L]]$log_likelihood)
cat("\nidentical to the processor:", same, "\n")
stopifnot(same)
