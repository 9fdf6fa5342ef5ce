# The sampler of mislabelled.c by calls from R.
mislabelled <- function(x, y, sweeps, seed, threads = 1) {
  n <- nrow(x)
  p <- ncol(x)
  beta <- numeric(p)
  error <- c(0.1, 0.1)
  draws <- matrix(0, sweeps, p + 2)
  set.seed(seed)
  for (s in seq_len(sweeps)) {
    eta <- drop(x %*% beta)
    ratio <- ifelse(y == 1, (1 - error[2]) / error[1],
                    error[2] / (1 - error[1]))
    z <- as.integer(runif(n) * (1 + exp(-eta) / ratio) < 1)
    omega <- rpolyagamma(n, 1, eta, threads = threads)
    root <- chol(crossprod(x, omega * x) + diag(0.16, p))
    mean <- backsolve(root, crossprod(x, z - 0.5), transpose = TRUE)
    beta <- drop(backsolve(root, mean + rnorm(p)))
    error <- rbeta(2, 1 + c(sum(y > z), sum(y < z)),
                   9 + c(sum(y + z == 0), sum(y + z == 2)))
    draws[s, ] <- c(beta, error)
  }
  draws
}
