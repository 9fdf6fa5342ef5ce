# Categorical draws on a graphics card, with the weights already there: bytes of weights per second and their share of
# the rate at which the card reads its memory, by rows, columns, precision and lanes that share a row. Then the
# comparison of Steele & Tristan (2017, figure 7): three ways to draw from rows that lie one after the other.
#   Rscript categorical-cuda.R    after tests/measure/build.sh ../build/measure --card
source("common.R")
rehearsal <- use_card()

set.seed(1)
# Half a gigabyte of weights, in different shapes.
weights <- runif(if (rehearsal) 2^12 else 2^26)
shaped <- function(rows, columns) {
  used <- rows * columns
  matrix(if (used == length(weights)) weights else weights[seq_len(used)], rows)
}
bytes_of <- c(double = 8, single = 4)
times <- if (rehearsal) 1 else 7

read <- measure_read_rate()
cat("The card reads ", number(read / 1e9), " GB of its memory per second.\n\n", sep = "")
cat("One pass over the rows of a matrix, weights on the card. Lanes 0: as many as the package chooses.\n\n")
header("rows", "columns", "precision", "lanes", "seconds", "GB of weights per second", "share of the read rate")
sizes <- lapply(c(4, 16, 32, 64, 100, 256, 1000, 1024, 4096), function(k) c(length(weights) %/% k, k))
few_rows <- list(c(100, 4096), c(1000, 4096), c(4000, 4096), c(1000, 1000), c(10000, 1000), c(40000, 1000))
for (size in if (rehearsal) sizes[c(2, 5)] else c(sizes, few_rows)) {
  x <- shaped(size[[1]], size[[2]])
  for (precision in c("double", "single")) {
    for (lanes in c(0, 1, 4, 32)) {
      s <- measure_categorical(x, precision, lanes = lanes, times = times)$seconds
      gigabytes <- bytes_of[[precision]] * length(x) / s / 1e9
      line(size[[1]], size[[2]], precision, lanes, number(s), number(gigabytes), percent(1e9 * gigabytes / read))
    }
  }
}

cat("\nRows one after the other, seconds by way (Steele & Tristan 2017, figure 7), and the share of the read rate.\n",
  "naive: each lane reads its own row; transposition: weights travel between lanes; butterfly: partial sums do.\n\n",
  sep = ""
)
columns <- if (rehearsal) c(4, 40) else c(seq(4, 32, 4), 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
ways <- c("naive", "transposition", "butterfly")
figure7 <- do.call(rbind, lapply(columns, function(k) {
  x <- shaped(k, length(weights) %/% k)
  do.call(rbind, lapply(names(bytes_of), function(precision) {
    s <- vapply(ways, function(way) measure_categorical(x, precision, way, times = times)$seconds, numeric(1))
    share <- bytes_of[[precision]] * length(x) / s / read
    data.frame(columns = k, rows = ncol(x), bits = 8 * bytes_of[[precision]], t(s),
      t(structure(share, names = paste0(ways, "_share"))))
  }))
}))
header("columns", "rows", "bits", ways, paste(ways, "share"))
for (i in seq_len(nrow(figure7))) {
  line(unlist(figure7[i, 1:3]), vapply(figure7[i, 4:6], number, ""), percent(unlist(figure7[i, 7:9])))
}

cat("\nWhole calls of rcategorical(), copies to the card and back included, and on the processor.\n\n")
header("rows", "columns", "draws", "seconds on the card", "seconds on the processor, all threads")
calls <- list(c(1e5, 100, 1), c(65536, 1000, 1), c(1e5, 100, 100), c(1, 1000, 1e8))
for (size in if (rehearsal) list(c(50, 20, 1)) else calls) {
  x <- shaped(size[[1]], size[[2]])
  s <- medians(interleave(
    card = function() elapsed(rcategorical(x, size[[3]], seed = 1)),
    processor = function() elapsed(rcategorical(x, size[[3]], seed = 1, backend = "cpu")),
    times = if (rehearsal) 1 else 3
  ))
  line(size[[1]], size[[2]], format(size[[3]], scientific = FALSE), number(s[["card"]]), number(s[["processor"]]))
}
