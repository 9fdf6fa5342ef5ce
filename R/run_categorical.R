# Draws of categories by rows of weights, which several topics make.

# `first` rows of a dense matrix come before those of `weights`.
draw_categorical <- function(weights, draws, log, seed, single, run, first = 0) {
  if (isS4(weights)) {
    return(native(C_categorical_draw_sparse, weights@Dim, weights@p, weights@i, weights@x, draws, seed, single, run))
  }
  native(C_categorical_draw, weights, draws, log, seed, single, first, run)
}

categorical_cost <- function(rows, columns, draws) {
  weights <- as.double(rows) * columns
  total <- as.double(rows) * draws
  call_cost(serial = 2e-4, parallel = weights * 1.1e-9 + total * (if (rows > 1) 5e-8 else 2e-8), fixed = 1e-3,
    up = 8 * weights, down = 4 * total, memory = total * 2e-10)
}
