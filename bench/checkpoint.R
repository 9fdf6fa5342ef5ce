# What a checkpoint costs, for fits of several sizes: seconds to write one, to check and read one, and to digest the
# data. Writing includes `fsync`, so that it depends on the disk. Then a whole fit with a checkpoint every second and
# without. Checkpoints are written into `folder`, or into a temporary one.
#   cd bench && Rscript checkpoint.R [folder]
source("common.R")
arguments <- commandArgs(TRUE)
folder <- if (length(arguments)) arguments[[1L]] else tempdir()
file <- file.path(folder, "bench.checkpoint")
set.seed(1)
markers <- 14
cells <- function(n) matrix(rnorm(n * markers), n)

# A fit whose arrays are as large as those of `draws` kept draws. What is in them does not matter.
enlarged <- function(fit, draws, sampler) {
  fit$iter <- 2 * draws
  fit$warmup <- draws
  fit$state <- lapply(fit$state, function(state) {
    state$sweep <- fit$iter
    state
  })
  plan <- sampler(fit)
  store <- internal$blank_store(plan, fit$iter, draws, fit$chains)
  list(fit = fit, plan = plan, store = store)
}

measure <- function(what, large, sampler, x) {
  checkpoint <- internal$check_checkpoint(file, 60)
  write <- function() {
    save <- internal$checkpoint_writer(large$fit, large$plan, large$fit$iter + 1, checkpoint)
    elapsed(save(large$fit, large$store, 0, always = TRUE))
  }
  fingerprint <- internal$resumable(class(large$fit))$fingerprint
  digest <- median(vapply(1:5, function(i) elapsed(fingerprint(large$fit)), 0))
  written <- median(vapply(1:5, function(i) write(), 0))
  read <- median(vapply(1:3, function(i) elapsed(internal$read_checkpoint(file, file)), 0))
  megabytes <- file.size(file) / 1e6
  unlink(file)
  data.frame(
    fit = what, megabytes = megabytes, write_seconds = written, write_mb_per_second = megabytes / written,
    read_seconds = read, data_megabytes = as.double(object.size(x)) / 1e6, digest_seconds = digest,
    least_seconds_between = max(60, 20 * written)
  )
}

mixture <- function(n, components, draws, keep = c("weights", "means", "covariances")) {
  x <- cells(n)
  fit <- dp_mixture(
    x, components = components, iter = 2, warmup = 1, seed = 1, threads = 2, backend = "cpu",
    progress = FALSE, control = warp_control(keep = keep)
  )
  what <- sprintf("mixture, %s cells, %d components, %d draws", count(n), components, draws)
  if ("labels" %in% keep) what <- paste(what, "with labels")
  measure(what, enlarged(fit, draws, internal$mixture_sampler), internal$mixture_sampler, x)
}
topics <- function(documents, terms, topics) {
  x <- Matrix::rsparsematrix(documents, terms, 0.01, rand.x = function(n) 1 + rpois(n, 1))
  fit <- topic_model(x, topics, iter = 2, seed = 1, threads = 2, backend = "cpu", progress = FALSE)
  what <- sprintf("topic model, %d topics, %s documents, %s terms", topics, count(documents), count(terms))
  measure(what, enlarged(fit, 250, internal$topic_sampler), internal$topic_sampler, x)
}

results <- rbind(
  mixture(1e4, 64, 500), mixture(1e6, 64, 500), mixture(1e5, 256, 1000),
  mixture(1e6, 64, 100, c("weights", "means", "covariances", "labels")), topics(20000, 10000, 100)
)
save_results(results, "checkpoint")

x <- cells(20000)
fit <- function(...) {
  dp_mixture(x, components = 64, iter = 150, seed = 1, threads = 2, backend = "cpu", progress = FALSE, ...)
}
kept <- warp_control(checkpoint = file, checkpoint_every = 1)
seconds <- medians(interleave(
  without = function() elapsed(fit()), with = function() elapsed(fit(control = kept)),
  times = 3
))
unlink(file)
save_results(
  data.frame(checkpoint = names(seconds), seconds = seconds, ratio = seconds / seconds[["without"]]), "checkpoint-fit"
)
