# Do the columns of topic_stability() predict whether a fresh seed finds a topic? Two seeds of each collection of texts,
# with 20 and 50 topics and four chains of 300 sweeps each: the flags of one seed are compared with the chains of the
# other, which have not been seen.
#   auc_*            the probability that a topic that a fresh chain finds has the larger value, for each pair of topic
#                    and chain;
#   auc_chance_seed  the same, where the other seed finds a topic if at least two of its four chains do;
#   bound            the AUC of the true probability, if the probabilities of the topics have the beta law that fits the
#                    numbers of the other seed's chains that find them: for a chain, no column can be expected to do
#                    better.
#   cd bench && CORES=16 OUT=results Rscript topic-model-flags.R TEXTS.rds    (of topic-model-data.R)
library(Matrix)
library(warpbayes)
internal <- asNamespace("warpbayes")
options(warpbayes.backend = "cpu", warpbayes.threads = 1)
cores <- as.integer(Sys.getenv("CORES", "2"))
folder <- Sys.getenv("OUT", "results")
texts <- readRDS(commandArgs(TRUE)[[1]])
sweeps <- as.integer(Sys.getenv("SWEEPS", "300"))

jobs <- expand.grid(seed = 1:2, topics = c(50, 20), texts = names(texts), stringsAsFactors = FALSE)
fit_one <- function(i) {
  job <- jobs[i, ]
  fit <- topic_model(texts[[job$texts]], job$topics, iter = sweeps, chains = 4, seed = job$seed, progress = FALSE)
  list(phi = fit$phi, chains = fit$chain_phi, limit = internal$find_limits(fit), reference = fit$reference,
    flags = topic_stability(fit), seconds = sum(fit$elapsed))
}
fits <- parallel::mclapply(seq_len(nrow(jobs)), fit_one, mc.cores = cores, mc.preschedule = FALSE)

auc <- function(value, found) {
  rank <- rank(value)
  ones <- as.double(sum(found))
  (sum(rank[found]) - ones * (ones + 1) / 2) / (ones * sum(!found))
}
# Topics x chains: whether each chain of `other` finds a topic of `fit`.
finds <- function(fit, other) {
  distance <- vapply(other$chains, function(phi) {
    between <- internal$variation_distance(fit$phi, phi)
    between[cbind(seq_len(nrow(between)), internal$solve_assignment(between))]
  }, numeric(nrow(fit$phi)))
  distance < fit$limit
}
bound <- function(count, of) {
  minus <- function(par) -sum(lbeta(exp(par[1]) + count, exp(par[2]) + of - count) - lbeta(exp(par[1]), exp(par[2])))
  shapes <- exp(optim(c(0, 0), minus)$par)
  set.seed(1)
  p <- rbeta(1e5, shapes[1], shapes[2])
  auc(p, runif(1e5) < p)
}

pairs <- NULL
for (i in seq_along(fits)) {
  other <- which(jobs$texts == jobs$texts[i] & jobs$topics == jobs$topics[i] & jobs$seed != jobs$seed[i])
  found <- finds(fits[[i]], fits[[other]])
  flags <- fits[[i]]$flags
  at <- rep(seq_len(nrow(flags)), ncol(found))
  pairs <- rbind(pairs, data.frame(texts = jobs$texts[i], topics = jobs$topics[i], seed = jobs$seed[i],
    flags[at, c("topic", "prevalence", "found")], chain = rep(seq_len(ncol(found)),
      each = nrow(flags)), fresh = as.vector(found[flags$topic, ]), row.names = NULL))
}
one_row <- function(set) {
  topic <- paste(set$seed, set$topic)
  count <- as.vector(rowsum(as.integer(set$fresh), topic))
  of_topic <- as.vector(tapply(set$found, topic, mean))
  shared <- set$found == 1
  data.frame(texts = set$texts[1], topics = set$topics[1], fresh_chains_find = mean(set$fresh),
    auc_found = auc(set$found, set$fresh), bound = bound(count, 4), auc_found_seed = auc(of_topic, count >= 2),
    marked_shared = mean(shared), shared_are_found = mean(set$fresh[shared]),
    others_are_found = mean(set$fresh[!shared]))
}
groups <- split(pairs, paste(factor(pairs$texts, unique(pairs$texts)), pairs$topics))
rows <- do.call(rbind, lapply(groups, one_row))
rows[-(1:2)] <- signif(rows[-(1:2)], 3)
print(rows, digits = 3, row.names = FALSE)
write.csv(rows, file.path(folder, "topic-model-flags.csv"), row.names = FALSE)
cat("seconds of a fit:", range(vapply(fits, `[[`, 0, "seconds")), "\n")
