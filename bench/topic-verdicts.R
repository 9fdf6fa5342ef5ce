# Whether verdicts on topics are right: the share of sure documents to which another chain gives another first topic, as
# a fit at the defaults says it, beside the share to which fits with other seeds give one. `found`: the share of the
# fit's topics that all its chains find, which other fits find as well.
#   cd bench && Rscript topic-verdicts.R TEXTS.rds [seeds=10] [name=topics ...]
# TEXTS.rds is from topic-model-data.R. Two collections are simulated: two disjoint topics, and words without topics.
source("common.R")
options(warpbayes.backend = "cpu", warpbayes.threads = as.integer(Sys.getenv("CORES", "2")), warpbayes.chains = NULL)
arguments <- commandArgs(TRUE)
value <- as.numeric(sub(".*=", "", arguments))
name <- sub("=.*", "", arguments)
seeds <- if ("seeds" %in% name) value[name == "seeds"] else 10
set.seed(1)
words <- function(documents, tokens, p) t(vapply(seq_len(documents), function(d) rmultinom(1, tokens, p(d))[, 1], p(1)))
texts <- c(list(disjoint = words(200, 50, function(d) as.double(rep(0:1, each = 20) == d %% 2)),
  noise = words(300, 40, function(d) rep(1, 100))), readRDS(arguments[[1]]))
topics <- c(disjoint = 2, noise = 5, gadarian = 3, reuters = 4, AssociatedPress = 20, blogs = 20, reviews = 20,
  newsgroups = 20)
given <- !is.na(value) & name %in% names(texts)
topics[name[given]] <- value[given]
chosen <- if (any(given)) name[given] else intersect(names(texts), names(topics))

rows <- lapply(chosen, function(of) {
  x <- texts[[of]]
  fit <- suppressMessages(topic_model(x, topics[[of]], seed = 1))
  known <- internal$document_certainty(fit)
  answer <- verdict(fit)
  sure <- which(known$probability > internal$sure_share & fit$document_tokens > 0)
  found <- if (fit$chains > 1) which(internal$found_topics(fit) == 1) else integer()
  others <- vapply(1 + seq_len(seeds), function(seed) {
    other <- suppressMessages(topic_model(x, topics[[of]], chains = 1, seed = seed))
    matched <- internal$match_topics(fit, list(other$phi))
    first <- match(max.col(other$theta, "first"), matched$match[, 1])
    c(mean(first[sure] != known$first[sure]), mean(matched$distance[found, 1] < matched$limit[found]))
  }, c(0, 0))
  words <- paste(as.character(answer), collapse = " ")
  cat("\n", of, "\n", paste(strwrap(words, 118), collapse = "\n"), "\n", sep = "")
  data.frame(collection = of, documents = nrow(x), topics = topics[[of]], chains = fit$chains, answer = answer$answer,
    sure = length(sure) / sum(fit$document_tokens > 0), said = known$wrong, wrong = mean(others[1, ]),
    most_wrong = max(others[1, ]), all_find = length(found), found = mean(others[2, ]))
})
save_results(do.call(rbind, rows), "topic-verdicts")
