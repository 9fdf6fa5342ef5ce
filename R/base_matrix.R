# Symmetric matrices as vectors of their lower triangles, which compiled code reads, and small products without BLAS.

pack <- function(symmetric) t(symmetric)[upper.tri(symmetric, diag = TRUE)]

unpack <- function(packed, p) {
  symmetric <- matrix(0, p, p)
  symmetric[upper.tri(symmetric, diag = TRUE)] <- packed
  symmetric + t(symmetric) - diag(diag(symmetric), p)
}

# BLAS rounds differently from machine to machine. What draws depend on is computed by these three, in a fixed order.

product <- function(a, b) {
  Reduce(`+`, lapply(seq_len(ncol(a)), function(j) a[, j] * rep(b[j, ], each = nrow(a))), matrix(0, nrow(a), ncol(b)))
}

# x = q r, with orthonormal columns of q and r upper triangular with a positive diagonal: Gram-Schmidt, twice.
orthonormal <- function(x) {
  r <- diag(0, ncol(x))
  for (j in seq_len(ncol(x))) {
    for (pass in 1:2) {
      for (i in seq_len(j - 1L)) {
        share <- sum(x[, i] * x[, j])
        r[i, j] <- r[i, j] + share
        x[, j] <- x[, j] - share * x[, i]
      }
    }
    r[j, j] <- sqrt(sum(x[, j]^2))
    x[, j] <- x[, j] / r[j, j]
  }
  list(q = x, r = r)
}

solve_upper <- function(r, b) {
  for (i in rev(seq_len(ncol(r)))) {
    b[i, ] <- b[i, ] / r[i, i]
    for (k in seq_len(i - 1L)) b[k, ] <- b[k, ] - r[k, i] * b[i, ]
  }
  b
}

# The column of each row of a square matrix of costs. Of several solutions, rows prefer the column of their number.
solve_assignment <- function(cost) {
  storage.mode(cost) <- "double"
  native(C_assignment_solve, cost)
}
