# What missing values cost: one sweep of the mixture over rows with missing values, against the same rows complete.
# Either each value is missing with the same probability, which makes many patterns; or half of the rows lack the same
# two markers, as where panels differ.
#   cd bench && Rscript mixture-missing.R [cpu | cuda] [rows] [components] [markers]
source("common.R")
arguments <- commandArgs(TRUE)
choice <- function(i, default) if (length(arguments) >= i) arguments[[i]] else default
backend <- choice(1, "cpu")
source("mixture-pass.R")
n <- as.numeric(choice(2, "200000"))
k <- as.integer(choice(3, "64"))
p <- as.integer(choice(4, "14"))
threads <- 2

set.seed(1)
centers <- matrix(rnorm(k * p, sd = 3), k)
component <- sample.int(k, n, TRUE)
whole <- centers[component, ] + matrix(rnorm(n * p), n)
lacking <- function(share) replace(whole, runif(n * p) < share, NA)
panels <- whole
panels[seq_len(n %/% 2), 1:2] <- NA
sets <- list(whole = whole, `1%` = lacking(0.01), `5%` = lacking(0.05), `20%` = lacking(0.2), panels = panels)

prior <- default_prior(p)
key <- .Call(internal$C_chain_key, 1, 1L)
statistics <- internal$native(
  internal$C_mixture_start, whole, numeric(p), rep(1, p), prior, k, key, FALSE, matrix(0, 2, 0), component
)
state <- list(key = key, sweep = 0, statistics = statistics, concentration = 1, prior = prior$values)
sweeps <- lapply(sets, function(x) {
  session <- open_rows(x, "double", internal$resolve_run(backend, threads))
  function() elapsed(advance(session, p, prior, state, 1))
})
seconds <- medians(do.call(interleave, c(sweeps, list(times = 7))))
patterns <- vapply(sets, function(x) nrow(unique(is.na(x[rowSums(is.na(x)) > 0, , drop = FALSE]))), 0)
save_results(data.frame(
  data = names(sets), rows = n, markers = p, components = k, backend = backend, threads = threads,
  cells_that_lack = vapply(sets, function(x) mean(rowSums(is.na(x)) > 0), 0), patterns = patterns,
  seconds = unname(seconds[names(sets)]), times_whole = unname(seconds[names(sets)] / seconds[["whole"]])
), paste0("mixture-missing", if (backend == "cpu") "" else paste0("-", backend)))
