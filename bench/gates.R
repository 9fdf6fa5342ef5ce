# Agreement of types with manual gates, for the benchmarks of cell types.

f_measure <- function(gate, type) {
  both <- table(gate, type)
  precision <- t(t(both) / colSums(both))
  recall <- both / rowSums(both)
  f <- ifelse(both > 0, 2 * precision * recall / (precision + recall), 0)
  sum(apply(f, 1, max) * rowSums(both)) / sum(both)
}

adjusted_rand <- function(gate, type) {
  both <- table(gate, type)
  pairs <- function(n) sum(choose(n, 2))
  expected <- pairs(rowSums(both)) * pairs(colSums(both)) / choose(sum(both), 2)
  (pairs(both) - expected) / ((pairs(rowSums(both)) + pairs(colSums(both))) / 2 - expected)
}
