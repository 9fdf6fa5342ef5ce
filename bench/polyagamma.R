# Polya-Gamma draws per second of one thread, at tilt 0 and 2 and with a tilt of its own for each element, against
# BayesLogit::rpg() and pgdraw::pgdraw() where they are installed. Medians of repetitions that take turns, in
# processor time; a minute or two.
#   cd bench && Rscript polyagamma.R
source("common.R")
options(warpbayes.backend = "cpu")

shapes <- c(1, 4, 4.5, 20, 200)
n <- 1e6
peers <- list(
  BayesLogit = if (requireNamespace("BayesLogit", quietly = TRUE)) {
    function(m, b, c) BayesLogit::rpg(m, b, rep_len(c, m))
  },
  # Its shapes are whole numbers.
  pgdraw = if (requireNamespace("pgdraw", quietly = TRUE)) {
    function(m, b, c) if (b == floor(b)) pgdraw::pgdraw(rep_len(b, m), rep_len(c, m))
  }
)
peers <- peers[!vapply(peers, is.null, NA)]

# How many draws of a peer take a tenth of a second or so.
enough <- function(draw, b, c) {
  m <- 200
  while (m < n && processor_seconds(draw(m, b, c)) < 0.05) {
    m <- min(4 * m, n)
  }
  m
}

rows <- list()
for (b in shapes) {
  for (tilt in c("0", "2", "N(0, 2)")) {
    set.seed(1)
    c <- if (tilt == "N(0, 2)") rnorm(n, 0, 2) else as.numeric(tilt)
    counts <- c(warpbayes = n, vapply(peers, enough, numeric(1), b = b, c = c))
    runs <- c(
      list(warpbayes = function() processor_seconds(rpolyagamma(n, b, c, seed = 1, threads = 1))),
      lapply(stats::setNames(names(peers), names(peers)), function(name) {
        force(name)
        function() processor_seconds(peers[[name]](counts[[name]], b, c))
      })
    )
    seconds <- medians(do.call(interleave, c(runs, times = 7)))
    rate <- counts[names(seconds)] / seconds
    if (b != floor(b)) rate[names(rate) == "pgdraw"] <- NA
    rows[[length(rows) + 1L]] <- data.frame(
      shape = b, tilt = tilt, warpbayes = rate[["warpbayes"]],
      BayesLogit = if ("BayesLogit" %in% names(rate)) rate[["BayesLogit"]] else NA,
      pgdraw = if ("pgdraw" %in% names(rate)) rate[["pgdraw"]] else NA
    )
  }
}
results <- do.call(rbind, rows)
results$times_best_peer <- results$warpbayes / pmax(results$BayesLogit, results$pgdraw, na.rm = TRUE)
save_results(results, "polyagamma-peers")
