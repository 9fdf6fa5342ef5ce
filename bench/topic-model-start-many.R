# Many topics from merged and split ones, and from random ones. Two questions, one thread, single precision:
#   counts    how many processor seconds until a held-out perplexity of 2,700 with 1,000 topics, alpha and beta learned.
#             Each point is a run of its own, and its perplexity is that of the means over its second half;
#   planted   what share of planted topics one chain has found after the same number of sweeps. Each document has few
#             topics. A topic is found if its Hellinger affinity with a fitted one is above 0.8.
#   cd bench && Rscript topic-model-start-many.R COUNTS.csv.gz        (columns document, term, count)
source("common.R")
arguments <- commandArgs(TRUE)
if (!length(arguments)) stop("the counts: Rscript topic-model-start-many.R associated-press-counts.csv.gz")
options(warpbayes.backend = "cpu", warpbayes.threads = 1)

fit_topics <- function(x, topics, start, sweeps, seed) {
  topic_model(x, topics, iter = sweeps, warmup = sweeps %/% 2, seed = seed, progress = FALSE,
    control = warp_control(start = start, precision = "single"))
}

counts <- read.csv(arguments[[1L]])
set.seed(1)
x <- Matrix::sparseMatrix(counts$document, counts$term, x = as.double(counts$count))
colnames(x) <- paste0("w", seq_len(ncol(x)))
held_out <- sample(nrow(x), 200)
x <- x[, Matrix::colSums(x[-held_out, ]) > 0]
point <- function(start, sweeps, seed) {
  seconds <- processor_seconds(fit <- fit_topics(x[-held_out, ], 1000, start, sweeps, seed))
  found <- as.numeric(perplexity(fit, x[held_out, ], seed = 1))
  data.frame(data = "AssociatedPress", topics = 1000, start, seed, sweeps, seconds = round(seconds, 2),
    log_likelihood = NA, perplexity = round(found, 1), found = NA)
}

# `each`: tokens of a document; `alpha_sum`: its topics' alpha together.
plant <- function(topics, documents, terms, each, alpha_sum, seed) {
  set.seed(seed)
  phi <- matrix(rgamma(topics * terms, 0.03), topics) + 1e-300
  phi <- phi / rowSums(phi)
  words <- lapply(seq_len(documents), function(d) {
    theta <- rgamma(topics, alpha_sum / topics) + 1e-300
    rep(seq_len(terms), rowSums(vapply(which(table(factor(sample.int(topics, each, TRUE, theta), seq_len(topics))) > 0),
      function(k) as.double(rmultinom(1, max(1, round(each * theta[[k]] / sum(theta))), phi[k, ])), numeric(terms))))
  })
  x <- Matrix::sparseMatrix(rep(seq_len(documents), lengths(words)), unlist(words), x = 1, dims = c(documents, terms))
  colnames(x) <- paste0("w", seq_len(terms))
  seen <- Matrix::colSums(x) > 0
  list(x = x[, seen], phi = phi[, seen])
}
planted <- function(topics, alpha_sum, sweeps, start, seed) {
  data <- plant(topics, 4000, 5000, 150, alpha_sum, seed)
  seconds <- processor_seconds(fit <- fit_topics(data$x, topics, start, sweeps, seed))
  affinity <- sqrt(data$phi / rowSums(data$phi)) %*% t(sqrt(fit$phi))
  data.frame(data = sprintf("planted, sum of alpha %g", alpha_sum), topics, start, seed, sweeps,
    seconds = round(seconds, 2), log_likelihood = round(mean(tail(fit$log_likelihood[, 1], sweeps %/% 2))),
    perplexity = NA, found = round(mean(apply(affinity, 1, max) > 0.8), 3))
}

rows <- NULL
record <- function(row) {
  print(row, row.names = FALSE)
  rows <<- rbind(rows, row)
  save_results(rows, "topic-model-start-many")
}
for (start in c("merged", "random")) {
  for (sweeps in if (start == "merged") c(2, 4, 6, 10, 20, 40, 80) else c(20, 30, 40, 50, 60, 80)) {
    record(point(start, sweeps, 1))
  }
}
for (seed in 1:3) {
  for (start in c("merged", "random")) {
    record(planted(250, 1, 120, start, seed))
    record(planted(400, 2, 120, start, seed))
  }
}
