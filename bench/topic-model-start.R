# How often one chain of topic_model() finds all planted topics, from merged topics and from random ones. Six designs of
# 8 topics, and one of 40; each data set has its own topics, and its own seed. A chain has found a topic if the cosine
# of the angle between the planted one and the one matched to it is above 0.8. `worst` is the least such cosine of all
# chains, and `found` counts chains. `start_share` is the time of the start over that of `sweeps` sweeps.
#   cd bench && CORES=16 OUT=results Rscript topic-model-start.R [sets=100] [design ...]
library(warpbayes)
internal <- asNamespace("warpbayes")
options(warpbayes.backend = "cpu", warpbayes.threads = 1)
cores <- as.integer(Sys.getenv("CORES", "2"))
folder <- Sys.getenv("OUT", "results")
arguments <- commandArgs(TRUE)
is_sets <- grepl("^sets=", arguments)
sets <- if (any(is_sets)) as.integer(sub("sets=", "", arguments[is_sets])) else 100L

# eta: of the topics' Dirichlet law over terms. common: the share of terms that all topics have in common.
design <- function(documents, terms, length, alpha, eta = 0.05, common = 0, sweeps = 500) {
  list(documents = documents, terms = terms, length = length, alpha = alpha, eta = eta, common = common,
    sweeps = sweeps)
}
designs <- list(
  plain = design(300, 400, 60, rep(0.3, 8)),
  "few topics a document" = design(1000, 800, 60, rep(0.1, 8)),
  "half the vocabulary in common" = design(600, 500, 80, rep(0.3, 8), common = 0.5),
  "unequal sizes" = design(600, 500, 80, 0.29 * c(4, 2, 1.5, 1, 1, 0.7, 0.5, 0.3), common = 0.2),
  "short documents" = design(1000, 300, 20, rep(0.15, 8)),
  "terms of their own" = design(300, 160, 50, rep(0.2, 8), eta = NA),
  "40 topics" = design(2000, 1000, 60, rep(0.05, 40), sweeps = 200)
)

dirichlet <- function(n, alpha) {
  x <- matrix(rgamma(n * length(alpha), rep(alpha, each = n)), n)
  x / rowSums(x)
}
# Topics that have nine tenths of their weight on terms of their own.
own_terms <- function(topics, terms) {
  each <- terms / topics
  phi <- matrix(0.1 / terms, topics, terms)
  for (k in seq_len(topics)) {
    own <- (k - 1) * each + seq_len(each)
    phi[k, own] <- phi[k, own] + 0.9 / seq_len(each) / sum(1 / seq_len(each))
  }
  phi
}
simulate <- function(design, seed) {
  set.seed(seed)
  topics <- length(design$alpha)
  phi <- if (is.na(design$eta)) {
    own_terms(topics, design$terms)
  } else {
    own <- dirichlet(topics, rep(design$eta, design$terms))
    common <- dirichlet(1, rep(0.3, design$terms))
    (1 - design$common) * own + design$common * common[rep(1, topics), ]
  }
  theta <- dirichlet(design$documents, design$alpha)
  tokens <- pmax(5, rpois(design$documents, design$length))
  x <- t(vapply(seq_len(design$documents), function(d) {
    as.double(rmultinom(1, tokens[[d]], theta[d, ] %*% phi))
  }, numeric(design$terms)))
  list(x = x, phi = phi)
}
# The least cosine between a planted topic and the fitted one that is matched to it.
least_cosine <- function(phi, estimate) {
  cosine <- tcrossprod(phi / sqrt(rowSums(phi^2)), estimate / sqrt(rowSums(estimate^2)))
  min(cosine[cbind(seq_len(nrow(phi)), internal$solve_assignment(1 - cosine))])
}

# One chain of each start for each data set, and the processor seconds of a data set.
count_found <- function(name) {
  of <- designs[[name]]
  jobs <- expand.grid(start = c("merged", "random"), set = seq_len(sets), stringsAsFactors = FALSE)
  rows <- parallel::mclapply(seq_len(nrow(jobs)), function(i) {
    clock <- proc.time()
    data <- simulate(of, 1000 + jobs$set[[i]])
    fit <- topic_model(data$x, length(of$alpha), iter = of$sweeps, seed = jobs$set[[i]], progress = FALSE,
      control = warp_control(start = jobs$start[[i]]))
    data.frame(jobs[i, ], cosine = least_cosine(data$phi, fit$phi), before = fit$elapsed[["start"]],
      sweeping = fit$elapsed[["sweeps"]], seconds = (proc.time() - clock)[["user.self"]])
  }, mc.cores = cores, mc.preschedule = FALSE)
  result <- do.call(rbind, rows)
  cat(sprintf("%s: %.2f processor seconds for a data set\n", name, sum(result$seconds) / sets))
  do.call(rbind, lapply(split(result, result$start), function(one) {
    data.frame(design = name, start = one$start[[1L]], chains = nrow(one), found = sum(one$cosine > 0.8),
      worst = round(min(one$cosine), 2), sweeps = of$sweeps,
      start_share = round(sum(one$before) / sum(one$sweeping), 3))
  }))
}

# Written after each design: a run that is ended loses one design only. Rows of other designs stay.
path <- file.path(folder, "topic-model-start.csv")
order_of_designs <- names(designs)
if (!all(is_sets)) {
  asked <- arguments[!is_sets]
  if (!all(asked %in% order_of_designs)) stop("the designs are: ", toString(order_of_designs))
} else {
  asked <- order_of_designs
}
for (name in asked) {
  rows <- count_found(name)
  print(rows, row.names = FALSE)
  table <- if (file.exists(path)) read.csv(path) else NULL
  table <- rbind(table[table$design != name, ], rows)
  write.csv(table[order(match(table$design, order_of_designs)), ], path, row.names = FALSE)
}
