# What the tests of mixtures on a graphics card share.

skip_without_cuda <- function() {
  info <- warp_info()$cuda
  skip_if(!info$available, paste("no CUDA:", info$reason))
}

# Rows in a few clusters, so that some blocks of components matter and some do not.
clustered <- function(n, p, seed) {
  set.seed(seed)
  x <- matrix(rnorm(n * p), n)
  x + 6 * (sample(3, n, replace = TRUE) - 2)
}
