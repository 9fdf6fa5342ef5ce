# Seconds of sums of a random number of variables. The peer is aggregateDist() of package actuar, by Panjer's recursion
# and by convolutions; where actuar is not installed, it is Panjer's recursion in plain R. Takes about five minutes,
# most of them the peer's. tests/testthat/test-compound-pmf.R compares with laws that are known.
#   cd bench && Rscript compound.R
source("common.R")
options(warpbayes.backend = "cpu", warpbayes.threads = 1)
has_actuar <- requireNamespace("actuar", quietly = TRUE)
peer_name <- if (has_actuar) "actuar, recursive" else "plain R"

# The recursion for a Poisson number, with R's vectors for the inner sum.
plain_panjer <- function(f, lambda, outputs) {
  weights <- lambda * seq_len(length(f) - 1) * f[-1L]
  g <- numeric(outputs)
  g[[1L]] <- exp(-lambda * (1 - f[[1L]]))
  for (s in seq_len(outputs - 1)) {
    j <- seq_len(min(s, length(weights)))
    g[[s + 1L]] <- sum(weights[j] * g[s + 1L - j]) / s
  }
  g
}

peer <- if (has_actuar) {
  function(f, lambda, outputs) {
    suppressWarnings(actuar::aggregateDist("recursive",
      model.freq = "poisson", model.sev = f, lambda = lambda, x.scale = 1, tol = 1e-15, maxit = outputs - 1
    ))
  }
} else {
  plain_panjer
}

cases <- list(
  `Poisson(10), sizes to 1e5, negative binomial` = list(f = dnbinom(0:99999, 2, mu = 3000), lambda = 10),
  `Poisson(10), sizes to 1e5, power tail` = list(f = c(0, (1:99999)^-2.5), lambda = 10),
  `Poisson(100), sizes to 1e4` = list(f = dnbinom(0:9999, 2, mu = 600), lambda = 100),
  `Poisson(500), sizes to 1000` = list(f = dnbinom(0:999, 2, mu = 150), lambda = 500)
)
outputs <- 1e5
rows <- lapply(names(cases), function(name) {
  case <- cases[[name]]
  f <- case$f / sum(case$f)
  size <- pmf(f)
  result <- NULL
  compound <- function() result <<- compound_pmf("poisson", size, lambda = case$lambda)
  ours <- interleave(ours = function() elapsed(compound()), times = 5)
  # The peer always gets 1e5 points, however many the package computes.
  seconds <- elapsed(peer(f, case$lambda, outputs))
  points <- length(result$prob)
  data.frame(
    task = name, points = points, seconds = medians(ours)[[1L]], peer = peer_name, peer_points = outputs,
    peer_seconds = seconds, times_faster = seconds / medians(ours)[[1L]]
  )
})
# Convolutions take one pass for each possible number.
if (has_actuar) {
  f <- dnbinom(0:999, 2, mu = 150)
  f <- f / sum(f)
  number <- pmf_poisson(5)
  size <- pmf(f)
  ours <- interleave(ours = function() elapsed(compound_pmf("poisson", size, lambda = 5)), times = 5)
  frequencies <- number$prob / sum(number$prob)
  seconds <- elapsed(actuar::aggregateDist("convolution", model.freq = frequencies, model.sev = f, x.scale = 1))
  rows <- c(rows, list(data.frame(
    task = "Poisson(5), sizes to 1000", points = length(compound_pmf("poisson", size, lambda = 5)$prob),
    seconds = medians(ours)[[1L]], peer = "actuar, convolution", peer_points = (length(number$prob) - 1) * 999 + 1,
    peer_seconds = seconds, times_faster = seconds / medians(ours)[[1L]]
  )))
}
save_results(do.call(rbind, rows), "compound-times")
