# Held-out perplexity against processor time on the AssociatedPress counts, with 200 documents held out, alpha
# 50 / topics (the default of both peers), beta 0.1 and one thread each: topic_model() by both methods and by
# instruction set, text2vec (WarpLDA) and topicmodels (variational EM, collapsed Gibbs sampling) where they are
# installed.
#   cd bench && Rscript topic-model-curves.R COUNTS.csv.gz [TOPICS...]    (columns document, term, count)
# Topics that are not named keep their rows of the results.
#
# The topics of every sampler are scored by the same function, perplexity(): phi is fixed, theta of a held-out
# document comes from one half of its words, and the other half is predicted. Halves and random numbers are the same
# for all. Seconds are of the process, without reading the counts and scoring. topic_model() also offers the mean of
# phi over sweeps, here over the second half; the peers have their last sweep. The peers are compiled as R compiles
# packages, for the baseline of the processor's family, so their loops do not change with the instruction set.
source("common.R")
arguments <- commandArgs(TRUE)
if (!length(arguments)) stop("the counts: Rscript topic-model-curves.R associated-press-counts.csv.gz")
counts <- read.csv(arguments[[1L]])
sizes <- if (length(arguments) > 1L) as.numeric(arguments[-1L]) else c(50, 100, 1000)
beta <- 0.1
# Seconds of a sampler after which no further point is begun.
budget <- function(topics) if (topics < 1000) 3 else 20

set.seed(1)
x <- Matrix::sparseMatrix(counts$document, counts$term, x = as.double(counts$count))
colnames(x) <- paste0("w", seq_len(ncol(x)))
held_out <- sample(nrow(x), 200)
# Terms of fitted documents only: what an unseen term has is a question of the prior alone.
x <- x[, Matrix::colSums(x[-held_out, ]) > 0]
train <- x[-held_out, ]
test <- x[held_out, ]

fit_ours <- function(topics, ...) {
  topic_model(train, topics, 50 / topics, beta, seed = 1, threads = 1, backend = "cpu", progress = FALSE, ...)
}
shells <- new.env()
# phi: topics x terms.
score <- function(phi, topics) {
  name <- as.character(topics)
  if (is.null(shells[[name]])) shells[[name]] <- fit_ours(topics, iter = 2, warmup = 1)
  shell <- shells[[name]]
  shell$phi[] <- phi / rowSums(phi)
  as.numeric(perplexity(shell, test, seed = 1, threads = 1, backend = "cpu"))
}
point <- function(sampler, topics, sweeps, seconds, phi) {
  row <- data.frame(sampler, instructions = "", topics, sweeps, seconds, perplexity = score(phi, topics))
  cat(sprintf("%s, %d topics, %d sweeps, %.2f s: %.1f\n", sampler, topics, sweeps, seconds, row$perplexity))
  row
}

# Counts of the last sweep and beta. Tokens lie by document, then term.
last_phi <- function(fit) {
  topic <- readBin(fit$state[[1L]]$topics, "integer", fit$x$tokens, size = 2L, signed = FALSE) + 1L
  term <- rep(seq_len(fit$x$size[[2L]]), diff(fit$x$p))
  order <- order(fit$x$i, term)
  term <- rep(term[order], fit$x$count[order])
  as.matrix(Matrix::sparseMatrix(topic, term, x = 1, dims = dim(fit$phi))) + beta
}
# Every step is run with each instruction set in turn, from the same fit to the same fit.
our_curve <- function(topics, method, precision) {
  name <- sprintf("warpbayes %s, %s", sub("mean_for_mode", "mean for mode", method), precision)
  sets <- instruction_sets()
  seconds <- setNames(numeric(length(sets)), sets)
  fit <- NULL
  step <- function(run) {
    for (set in sets) {
      options(warpbayes.isa = set)
      seconds[[set]] <<- seconds[[set]] + processor_seconds(new <- run(fit))
      if (set != sets[[1L]]) stopifnot(identical(new$phi, first$phi)) else first <- new
    }
    fit <<- first
  }
  points <- function(what, phi) {
    row <- point(paste0(name, what), topics, fit$iter, seconds[[1L]], phi)
    do.call(rbind, lapply(sets, function(set) {
      row$instructions <- set_names[[set]]
      row$seconds <- seconds[[set]]
      row
    }))
  }
  step(function(fit) {
    fit_ours(topics, iter = 5, warmup = 0, control = warp_control(thin = 5, precision = precision,
      estimate = if (method == "gibbs") "mode" else "mean"))
  })
  out <- NULL
  repeat {
    out <- rbind(out, points(", last sweep", last_phi(fit)))
    if (seconds[[1L]] > budget(topics)) break
    before <- fit$state[[1L]]$sums$phi + 0
    step(function(fit) continue(fit, fit$iter, threads = 1, backend = "cpu", progress = FALSE))
    half <- matrix(fit$state[[1L]]$sums$phi - before, topics)
    out <- rbind(out, points(", mean of the second half", half))
  }
  out
}

# Its sweeps are called by themselves, since fit_transform() adds as many for inference.
text2vec_curve <- function(topics) {
  lgr::lgr$set_threshold("warn")
  model <- text2vec::LDA$new(n_topics = topics, doc_topic_prior = 50 / topics, topic_word_prior = beta)
  own <- model$.__enclos_env__$private
  state <- NULL
  seconds <- processor_seconds({
    create <- getFromNamespace("warplda_create", "text2vec")
    state <- create(n_topics = topics, doc_topic_prior = 50 / topics, topic_word_prior = beta)
    own$init_model_dtm(train, state)
  })
  own$ptr <- state
  out <- NULL
  sweeps <- 0
  repeat {
    more <- max(5, sweeps)
    seconds <- seconds + processor_seconds(for (i in seq_len(more)) {
      own$run_iter_doc(TRUE, state)
      own$run_iter_word(TRUE, state)
    })
    sweeps <- sweeps + more
    out <- rbind(out, point("text2vec", topics, sweeps, seconds, own$get_topic_word_count() + beta))
    if (seconds > budget(topics)) break
  }
  out
}

# Each point is a run of its own.
topicmodels_curve <- function(topics, method) {
  data <- slam::as.simple_triplet_matrix(train)
  class(data) <- c("DocumentTermMatrix", "simple_triplet_matrix")
  dimnames(data) <- list(Docs = NULL, Terms = colnames(train))
  attr(data, "weighting") <- c("term frequency", "tf")
  sweeps <- if (method == "Gibbs") 10 else 1
  out <- NULL
  repeat {
    control <- if (method == "Gibbs") {
      list(alpha = 50 / topics, delta = beta, iter = sweeps, burnin = 0, thin = sweeps, seed = 1)
    } else {
      list(alpha = 50 / topics, estimate.alpha = FALSE, em = list(iter.max = sweeps, tol = 1e-9), seed = 1)
    }
    seconds <- processor_seconds(fit <- topicmodels::LDA(data, topics, method, control = control))
    phi <- exp(fit@beta)
    if (nrow(phi) != topics || ncol(phi) != ncol(train)) stop("topicmodels: phi has an unexpected shape")
    sampler <- if (method == "VEM") "topicmodels, variational EM" else "topicmodels, collapsed Gibbs"
    out <- rbind(out, point(sampler, topics, sweeps, seconds, phi))
    if (2 * seconds > budget(topics)) break
    sweeps <- 2 * sweeps
  }
  out
}

# Written down after each sampler.
file <- "results/topic-model-curves.csv"
curves <- NULL
if (length(arguments) > 1L && file.exists(file)) {
  curves <- read.csv(file)
  curves <- curves[!curves$topics %in% sizes, setdiff(names(curves), c("machine", "date"))]
}
record <- function(rows) {
  rows$seconds <- round(rows$seconds, 3)
  rows$perplexity <- round(rows$perplexity, 1)
  curves <<- rbind(curves, rows)
  save_results(curves, "topic-model-curves")
}
for (topics in sizes) {
  record(our_curve(topics, "gibbs", "double"))
  record(our_curve(topics, "gibbs", "single"))
  record(our_curve(topics, "mean_for_mode", "single"))
  if (requireNamespace("text2vec", quietly = TRUE)) record(text2vec_curve(topics))
  if (requireNamespace("topicmodels", quietly = TRUE)) {
    record(topicmodels_curve(topics, "Gibbs"))
    if (topics < 1000) record(topicmodels_curve(topics, "VEM"))
  }
}

shown <- curves[!grepl("warpbayes.*last sweep|AVX2", paste(curves$sampler, curves$instructions)), ]
figure("topic-model-curves", width = 2600, function() {
  all <- sort(unique(shown$topics))
  par(mfrow = c(1, length(all)), las = 0)
  names <- unique(shown$sampler)
  colours <- setNames(palette.colors(length(names)), names)
  for (topics in all) {
    here <- shown[shown$topics == topics, ]
    plot(here$seconds, here$perplexity,
      log = "xy", type = "n", xlab = "processor seconds", ylab = "perplexity of held-out words",
      main = sprintf("%d topics", topics)
    )
    for (name in names) {
      one <- here[here$sampler == name, ]
      lines(one$seconds, one$perplexity, type = "b", pch = 19, col = colours[[name]])
    }
    if (topics == all[[1L]]) {
      legend("topright", sub(", mean of the second half", "", names), col = colours, lwd = 2, bty = "n", cex = 0.7)
    }
  }
})
