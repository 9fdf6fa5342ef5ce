# Whether tempered chains with exchanges give small collections the same first topics more often than the default does,
# at equal processor time: the share of documents to which two runs give another first topic, of all and of those sure
# in one run (above 0.9 of its draws). The ladder has eight levels, spaced by 1.3 standard deviations of the log joint
# density; tuning it is not counted. In three runs a collection it pays for gadarian alone (3.7% of documents differ,
# 14% by default). For the other five more documents differ, and for four of these 7% to 39% of the documents that a
# ladder calls sure (0% to 10% by default), so topic_model() has no ladder.
#   R CMD SHLIB topic-tempering.c   # with CFLAGS = -O3 -march=native -ffast-math -fno-finite-math-only
#   cd bench && Rscript topic-tempering.R TEXTS.rds [runs=3] [name=topics ...]
# TEXTS.rds is a list of sparse matrices, as from topic-model-data.R. Measured were gadarian (package stm), reuters
# (tm), jss (abstracts, package topicmodels), press (300 of AssociatedPress), austen (400 passages of 60 lines, package
# janeaustenr), and short (simulated: 800 documents of 12 words, 5 topics).
source("common.R")
options(warpbayes.backend = "cpu", warpbayes.threads = 1, warpbayes.chains = NULL)
dyn.load(paste0("topic-tempering", .Platform$dynlib.ext))
arguments <- commandArgs(TRUE)
texts <- readRDS(arguments[[1]])
value <- as.numeric(sub(".*=", "", arguments))
name <- sub("=.*", "", arguments)
runs <- if ("runs" %in% name) value[name == "runs"] else 3
topics <- c(gadarian = 3, reuters = 4, short = 5, jss = 8, press = 10, austen = 6)
given <- !is.na(value) & name %in% names(texts)
topics[name[given]] <- value[given]
chosen <- if (any(given)) name[given] else intersect(names(topics), names(texts))

temper <- function(tokens, k, tau, sweeps, seed, beta, start = 20, every = 5) {
  states <- sweeps %/% every
  size <- as.integer(c(tokens$size, length(tokens$term), k, length(tau), sweeps, seed, start, every))
  made <- .C("ladder", size, tokens$document, tokens$term, as.double(tau), beta,
    kept = integer(length(tokens$term) * states), alphas = double(k * states), energies = double(length(tau) * sweeps))
  list(topic = matrix(made$kept, ncol = states), alpha = matrix(made$alphas, k),
    energy = matrix(made$energies, length(tau)))
}

spaced_levels <- function(tokens, k, beta, levels = 8) {
  grid <- seq(1, 0.86, by = -0.02)
  spread <- vapply(grid, function(tau) sd(temper(tokens, k, tau, 150, 1, beta, 60)$energy), 0)
  tau <- 1
  while (length(tau) < levels) {
    last <- tau[[length(tau)]]
    tau <- c(tau, last - 1.3 / max(1, approx(grid, spread, last, rule = 2)$y))
  }
  tau
}

# The first topics of documents over the last two thirds of the states, topics matched.
first_topics <- function(tokens, k, made) {
  states <- seq(ncol(made$topic) %/% 3 + 1, ncol(made$topic))
  counts <- function(place, size, state) {
    matrix(tabulate(place + 1 + size * made$topic[, state], size * k), size)
  }
  terms <- function(state) {
    table <- counts(tokens$term, tokens$size[[2]], state)
    t(table) / pmax(colSums(table), 1)
  }
  phi <- terms(ncol(made$topic))
  for (pass in 1:2) {
    sum <- 0
    share <- matrix(0, k, tokens$size[[1]])
    for (state in states) {
      own <- terms(state)
      match <- internal$solve_assignment(internal$variation_distance(phi, own))
      sum <- sum + own[match, ]
      amount <- t(counts(tokens$document, tokens$size[[1]], state)) + made$alpha[, state]
      at <- cbind(max.col(t(amount[match, ]), "first"), seq_len(ncol(share)))
      share[at] <- share[at] + 1
    }
    phi <- sum / length(states)
  }
  share <- share / length(states)
  list(phi = phi, first = max.col(t(share), "first"), probability = apply(share, 2, max))
}

first_of_fit <- function(fit) {
  known <- internal$document_certainty(fit)
  matched <- lapply(seq_len(fit$chains), function(chain) fit$chain_phi[[chain]][internal$matched_topics(fit, chain), ])
  list(phi = Reduce(`+`, matched) / fit$chains, first = known$first, probability = known$probability)
}

compare <- function(found) {
  of_pairs <- apply(combn(length(found), 2), 2, function(pair) {
    one <- found[[pair[[1]]]]
    two <- found[[pair[[2]]]]
    match <- internal$solve_assignment(internal$variation_distance(one$phi, two$phi))
    differ <- one$first != match(two$first, match)
    c(mean(differ), mean(differ[one$probability > 0.9]), mean(differ[two$probability > 0.9]))
  })
  sure <- mean(vapply(found, function(one) mean(one$probability > 0.9), 0))
  data.frame(differ = mean(of_pairs[1, ]), sure = sure, sure_differ = mean(of_pairs[-1, ], na.rm = TRUE))
}

rows <- lapply(chosen, function(of) {
  x <- as(as(as(texts[[of]], "dMatrix"), "generalMatrix"), "TsparseMatrix")
  order <- order(x@i, x@j)
  tokens <- list(document = rep(x@i[order], x@x[order]), term = rep(x@j[order], x@x[order]), size = dim(x))
  k <- topics[[of]]
  seconds <- numeric(runs)
  fits <- lapply(seq_len(runs), function(seed) {
    seconds[[seed]] <<- processor_seconds(fit <- suppressMessages(topic_model(texts[[of]], k, seed = seed)))
    fit
  })
  beta <- fits[[1]]$beta
  tau <- spaced_levels(tokens, k, beta)
  each <- processor_seconds(temper(tokens, k, tau, 20, 1, beta, 0)) / 20
  sweeps <- max(30, 5 * (mean(seconds) / each) %/% 5 - 20)
  tempered <- numeric(runs)
  ladders <- lapply(seq_len(runs), function(seed) {
    tempered[[seed]] <<- processor_seconds(made <- temper(tokens, k, tau, sweeps, seed, beta))
    first_topics(tokens, k, made)
  })
  row <- cbind(collection = of, documents = nrow(x), tokens = length(tokens$term), topics = k,
    method = c("default", "ladder"), sweeps = c(500, sweeps), hottest = c(NA, min(tau)),
    seconds = c(mean(seconds), mean(tempered)), rbind(compare(lapply(fits, first_of_fit)), compare(ladders)))
  print(row, digits = 3)
  row
})
save_results(do.call(rbind, rows), "topic-tempering")
