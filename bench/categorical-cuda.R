# Categorical draws on a graphics card, with the weights already there: bytes of weights
# per second and their share of the rate at which the card reads its memory, by rows,
# columns, precision and lanes that share a row; and the comparison of Steele & Tristan
# (2017, figure 7), three ways to draw from rows that lie one after the other. Prints tables in Markdown;
# tools/gpu-test runs it. With the emulator named in WARPBAYES_TEST_PLUGIN, at sizes
# for a rehearsal.
local({
  # The other scripts of this folder are read from here.
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  if (length(file)) setwd(dirname(file))
})
source("common.R")
options(warpbayes.backend = "cuda")
plugin <- Sys.getenv("WARPBAYES_TEST_PLUGIN")
rehearsal <- nzchar(plugin)
if (rehearsal) {
  options(warpbayes.plugin = plugin)
}
internal <- asNamespace("warpbayes")

set.seed(1)
# Half a gigabyte of weights, in different shapes.
weights <- runif(if (rehearsal) 2^12 else 2^26)
shaped <- function(rows, columns) {
  used <- rows * columns
  matrix(if (used == length(weights)) weights else weights[seq_len(used)], rows)
}
bytes_of <- c(double = 8, single = 4)
repeats <- if (rehearsal) 1 else 7

read <- internal$measure_read_rate()
cat("The card reads ", number(read / 1e9), " GB of its memory per second.\n\nOne pass over the rows of a matrix, ",
  "weights on the card; lanes 0: as chosen.\n\n", sep = "")
header("rows", "columns", "precision", "lanes", "seconds", "GB of weights per second", "share of the read rate")
sizes <- lapply(c(4, 16, 32, 64, 100, 256, 1000, 1024, 4096), function(columns) c(length(weights) %/% columns, columns))
# Few rows.
sizes <- c(sizes, if (!rehearsal) list(c(100, 4096), c(1000, 4096), c(4000, 4096), c(1000, 1000), c(10000, 1000), c(40000, 1000)))
for (size in if (rehearsal) sizes[c(2, 5)] else sizes) {
  x <- shaped(size[[1]], size[[2]])
  for (precision in c("double", "single")) {
    for (lanes in c(0, 1, 4, 32)) {
      s <- internal$measure_categorical(x, precision, lanes = lanes, repeats = repeats)$seconds
      rate <- bytes_of[[precision]] * length(x) / s
      line(size[[1]], size[[2]], precision, lanes, number(s), number(rate / 1e9), sprintf("%.0f%%", 100 * rate / read))
    }
  }
}

cat("\nRows one after the other, seconds by way (Steele & Tristan 2017, figure 7: each lane reads its own row; weights are\n",
  "transposed between lanes; partial sums in the butterfly's pattern), and the share of the read rate.\n\n", sep = "")
columns <- if (rehearsal) c(4, 40) else c(seq(4, 32, 4), 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
ways <- c("naive", "transposition", "butterfly")
figure7 <- do.call(rbind, lapply(columns, function(k) {
  x <- shaped(k, length(weights) %/% k)
  do.call(rbind, lapply(names(bytes_of), function(precision) {
    s <- vapply(ways, function(way) internal$measure_categorical(x, precision, way, repeats = repeats)$seconds, numeric(1))
    data.frame(columns = k, rows = ncol(x), bits = 8 * bytes_of[[precision]], t(s),
      t(structure(bytes_of[[precision]] * length(x) / s / read, names = paste0(ways, "_share"))))
  }))
}))
header("columns", "rows", "bits", ways, paste(ways, "share"))
for (i in seq_len(nrow(figure7))) {
  line(unlist(figure7[i, 1:3]), vapply(figure7[i, 4:6], number, ""), sprintf("%.0f%%", 100 * unlist(figure7[i, 7:9])))
}
if (!rehearsal && capabilities("png")) {
  figure("categorical-ways", function() {
    par(mfrow = c(1, 2))
    for (bits in c(32, 64)) {
      one <- figure7[figure7$bits == bits, ]
      per_draw <- 1e9 * one[ways] / one$rows
      matplot(one$columns, per_draw, type = "l", lty = 1, lwd = 2, col = c("grey50", "steelblue", "firebrick"), xlab = "weights of a row",
        ylab = "ns per draw", main = paste(bits, "bits"), ylim = c(0, max(per_draw)))
      legend("topleft", c("own row", "transposition", "butterfly"), lty = 1, lwd = 2, col = c("grey50", "steelblue", "firebrick"), bty = "n")
    }
  })
}

cat("\nWhole calls of rcategorical(), copies to the card and back included, and on the processor.\n\n")
header("rows", "columns", "draws", "seconds on the card", "seconds on the processor, all threads")
for (size in if (rehearsal) list(c(50, 20, 1)) else list(c(1e5, 100, 1), c(65536, 1000, 1), c(1e5, 100, 100), c(1, 1000, 1e8))) {
  x <- shaped(size[[1]], size[[2]])
  s <- medians(interleave(
    card = function() elapsed(rcategorical(x, size[[3]], seed = 1)),
    processor = function() elapsed(rcategorical(x, size[[3]], seed = 1, backend = "cpu")), times = if (rehearsal) 1 else 3
  ))
  line(size[[1]], size[[2]], format(size[[3]], scientific = FALSE), number(s[["card"]]), number(s[["processor"]]))
}
