# How often 95% intervals of the effects of covariates on shares of topics cover the truth, and the mean ratio of
# estimate to truth: fits with `prevalence` ("argument"), and formulas given to topic_effects() ("afterwards"). Effects
# of 0.125 of a factor, of four groups or of a number, and a curve looked at in three places. `distance`: the total
# variation by which the topics are off. The number is skewed: with theta known, the Bayesian bootstrap covers its
# effect in 91% (100 documents, median of the largest leverage 0.3) and 92% (400, 0.17), and HC3 in 92%.
# Groups of few documents are not among these: the verdict tells of those of up to six.
#   cd bench && CORES=2 Rscript topic-effects.R [sets=21] [tokens=20,80] [documents=100,400]
source("common.R")
options(warpbayes.backend = "cpu", warpbayes.threads = 1)
cores <- as.integer(Sys.getenv("CORES", "2"))
given <- function(name, default) {
  text <- sub(".*=", "", grep(paste0("^", name, "="), commandArgs(TRUE), value = TRUE))
  if (length(text)) as.integer(strsplit(text, ",")[[1]]) else default
}

phi <- matrix(0.2 / 60, 3, 60)
for (k in 1:3) phi[k, 20 * k - 19:0] <- 0.2 / 60 + 0.8 / (1:20) / sum(1 / (1:20))
kinds <- c("factor", "groups", "number", "spline")
slope <- c(0.125, -0.125, 0)

covariate <- function(kind, documents) {
  if (kind == "factor") return(rep(0:1, length.out = documents))
  if (kind == "groups") return(rep(1:4, length.out = documents))
  if (kind == "spline") return(runif(documents, -1, 1))
  z <- exp(rnorm(documents))
  (z - mean(z)) / max(abs(z - mean(z)))
}
shift_of <- function(kind, z) {
  switch(kind, groups = c(0, 0.125, 0, -0.125)[z], spline = 0.125 * cos(pi * z), 0.125 * z)
}
# Rows: the terms of the formula, or places on the curve.
truth_of <- function(kind, places) {
  if (kind == "groups") return(rbind(1 / 3, slope, 0, -slope))
  if (kind != "spline") return(rbind(1 / 3, slope))
  1 / 3 + outer(shift_of(kind, places), c(1, -1, 0))
}
judge <- function(fit, effects, truth) {
  found <- fit$phi[, match(seq_len(60), as.integer(fit$terms))]
  distance <- outer(1:3, 1:3, Vectorize(function(a, b) sum(abs(found[b, ] - phi[a, ])) / 2))
  match <- internal$solve_assignment(distance)
  do.call(rbind, lapply(1:3, function(k) {
    own <- effects[effects$topic == match[[k]], ]
    data.frame(term = seq_len(nrow(own)), truth = truth[, k], estimate = own$estimate,
      covered = own$lower <= truth[, k] & truth[, k] <= own$upper, distance = max(distance[cbind(1:3, match)]))
  }))
}
one <- function(case) {
  set.seed(case$set * 100 + match(case$kind, kinds) + 7919 * case$documents + 31 * case$tokens)
  z <- covariate(case$kind, case$documents)
  mean <- 1 / 3 + outer(shift_of(case$kind, z), c(1, -1, 0))
  theta <- matrix(rgamma(length(mean), mean), case$documents)
  x <- t(apply(theta / rowSums(theta), 1, function(share) as.double(rmultinom(1, case$tokens, share %*% phi))))
  data <- data.frame(z = if (case$kind == "groups") factor(z) else z)
  formula <- if (case$kind == "spline") ~ s(z) else ~ z
  places <- c(-0.8, 0, 0.5)
  at <- if (case$kind == "spline") data.frame(z = places)
  truth <- truth_of(case$kind, places)
  within <- topic_model(x, 3, prevalence = formula, data = data, chains = 1, iter = 600, warmup = 200, seed = case$set)
  plain <- topic_model(x, 3, chains = 1, iter = 300, seed = case$set)
  after <- topic_effects(plain, formula, data, at = at, level = 0.95, ndraws = 200, seed = case$set)
  rbind(cbind(case, way = "argument", judge(within, topic_effects(within, at = at, level = 0.95), truth)),
    cbind(case, way = "afterwards", judge(plain, after, truth)))
}

cases <- expand.grid(kind = kinds, documents = given("documents", c(100, 400)),
  tokens = given("tokens", c(20, 80)), set = seq_len(given("sets", 21)),
  stringsAsFactors = FALSE)
rows <- do.call(rbind, parallel::mclapply(split(cases, seq_len(nrow(cases))), one, mc.cores = cores,
  mc.preschedule = FALSE))
rows <- rows[rows$kind == "spline" | rows$term > 1, ]
rows$ratio <- ifelse(rows$truth == 0 | rows$kind == "spline", NA, rows$estimate / rows$truth)
groups <- split(rows, rows[c("way", "kind", "tokens", "documents")])
save_results(do.call(rbind, lapply(groups, function(part) {
  data.frame(part[1, c("documents", "tokens", "kind", "way")], coverage = 100 * mean(part$covered),
    ratio = mean(part$ratio, na.rm = TRUE), distance = mean(part$distance), sets = length(unique(part$set)))
})), "topic-effects")
