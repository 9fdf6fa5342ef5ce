# Collections of texts for the other scripts on topic models, as a list of sparse matrices, documents x terms: political
# blogs (package stm), newsgroups (package lda; 5,000 of them), film reviews (package text2vec), 70 news of Reuters
# (package tm), AssociatedPress, and simulated documents of 20 topics. A package that is not installed leaves its texts
# out. Stop words and rare terms are left out; the lists of words are of package tm.
#   cd bench && Rscript topic-model-data.R COUNTS.csv.gz TERMS.txt TEXTS.rds
# COUNTS.csv.gz has the columns document, term and count, and TERMS.txt the terms.
library(Matrix)
arguments <- commandArgs(TRUE)
stop_words <- unique(c(tm::stopwords("en"), tm::stopwords("SMART")))
stop_words <- unique(c(stop_words, gsub("'", "", stop_words)))
of_package <- function(name, package) {
  into <- new.env()
  data(list = name, package = package, envir = into)
  mget(ls(into), into)
}
trim <- function(x, least) {
  x <- x[, colSums(x > 0) >= least & !(colnames(x) %in% stop_words) & nchar(colnames(x)) > 2 &
    !grepl("^[0-9]+$", colnames(x))]
  x[rowSums(x) > 0, ]
}
# Documents as packages lda and stm have them: two rows, the numbers of terms and their counts.
from_lists <- function(documents, terms, base) {
  row <- rep(seq_along(documents), vapply(documents, ncol, 1L))
  both <- do.call(cbind, documents)
  sparseMatrix(row, both[1, ] + base, x = as.double(both[2, ]), dims = c(length(documents), length(terms)),
    dimnames = list(NULL, terms))
}
from_words <- function(words, least) {
  terms <- sort(unique(unlist(words)))
  trim(sparseMatrix(rep(seq_along(words), lengths(words)), match(unlist(words), terms), x = 1,
    dims = c(length(words), length(terms)), dimnames = list(NULL, terms)), least)
}

counts <- read.csv(arguments[[1]])
texts <- list(AssociatedPress = trim(sparseMatrix(counts$document, counts$term, x = as.double(counts$count),
  dimnames = list(NULL, readLines(arguments[[2]]))), 1))
news <- c(of_package("acq", "tm")$acq, of_package("crude", "tm")$crude)
news <- vapply(news, function(text) paste(NLP::content(text), collapse = " "), "")
texts$reuters <- from_words(strsplit(gsub("[^a-z]+", " ", tolower(news)), " +"), 2)
if (requireNamespace("lda", quietly = TRUE)) {
  news <- from_lists(of_package("newsgroup.train.documents", "lda")[[1]], of_package("newsgroup.vocab", "lda")[[1]], 1)
  set.seed(1)
  texts$newsgroups <- trim(news[sample(nrow(news), 5000), ], 10)
}
if (requireNamespace("text2vec", quietly = TRUE)) {
  reviews <- tolower(of_package("movie_review", "text2vec")$movie_review$review)
  words <- strsplit(gsub("[^a-z]+", " ", gsub("'", "", gsub("<[^>]*>", " ", reviews))), " +")
  texts$reviews <- from_words(words, 20)
}
# stm itself is not needed to read its data.
if (nzchar(system.file(package = "stm"))) {
  blogs <- of_package("poliblog5k", "stm")
  texts$blogs <- trim(from_lists(blogs$poliblog5k.docs, blogs$poliblog5k.voc, 0), 5)
}
# Topics of unequal size, on terms by Zipf's law.
set.seed(2)
base <- seq_len(4000)^-0.9
phi <- t(replicate(20, rgamma(4000, 400 * base / sum(base))))
phi <- phi / rowSums(phi)
alpha <- 0.15 * rgamma(20, 1)
simulated <- t(vapply(seq_len(5000), function(d) {
  theta <- rgamma(20, alpha)
  theta <- if (sum(theta) > 0) theta / sum(theta) else rep(0.05, 20)
  as.double(rmultinom(1, 20 + rpois(1, 60), theta %*% phi))
}, numeric(4000)))
colnames(simulated) <- paste0("w", seq_len(4000))
texts$simulated <- Matrix(simulated[, colSums(simulated) > 0], sparse = TRUE)
for (name in names(texts)) {
  cat(name, dim(texts[[name]]), "tokens", sum(texts[[name]]), "pairs", length(texts[[name]]@x), "\n")
}
saveRDS(texts, arguments[[3]], compress = "xz")
