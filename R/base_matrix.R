# Symmetric matrices as vectors of their lower triangles, which the compiled code reads.

pack <- function(symmetric) t(symmetric)[upper.tri(symmetric, diag = TRUE)]

unpack <- function(packed, p) {
  symmetric <- matrix(0, p, p)
  symmetric[upper.tri(symmetric, diag = TRUE)] <- packed
  symmetric + t(symmetric) - diag(diag(symmetric), p)
}
