# A made-up fit with known types: three populations far from each other, each with two overlapping components. With
# `permute`, components are numbered anew in every draw, and the attribute "numbers" (k x draws x chains) has the number
# of each component in each draw.

population_fit <- function(n = 400, kept = 6, chains = 2, permute = TRUE, speck = 0, seed = 3) {
  set.seed(seed)
  centres <- rbind(c(-0.6, 0), c(0.6, 0), c(11.4, 0), c(12.6, 0), c(0, 11.4), c(0, 12.6))
  weights <- c(0.3, 0.2, 0.15, 0.15, 0.12, 0.08)
  population <- c(1L, 1L, 2L, 2L, 3L, 3L)
  if (speck > 0) {
    centres <- rbind(centres, c(14, 60))
    weights <- c(weights * (1 - speck), speck)
    population <- c(population, 4L)
  }
  k <- length(weights)
  markers <- c("CD4", "CD8")
  component <- rep(seq_len(k), round(n * weights))
  x <- centres[component, ] + matrix(rnorm(2 * length(component)), ncol = 2)
  dimnames(x) <- list(NULL, markers)
  n <- nrow(x)
  fit <- simulate_fit(n = n, k = k, p = 2, sweeps = 50 + kept, warmup = 50, chains = chains)
  numbers <- array(0L, c(k, kept, chains))
  dimnames(fit$draws$means)[[2]] <- markers
  for (chain in seq_len(chains)) {
    for (draw in seq_len(kept)) {
      w <- rgamma(k, 1000 * weights)
      means <- centres + rnorm(2 * k, sd = 0.03)
      # number[j]: the number of component j in this draw.
      number <- if (permute) sample.int(k) else seq_len(k)
      numbers[, draw, chain] <- number
      fit$draws$weights[number, draw, chain] <- w / sum(w)
      fit$draws$means[number, , draw, chain] <- means
      for (j in seq_len(k)) {
        fit$draws$covariances[, , number[[j]], draw, chain] <- diag(2)
      }
    }
  }
  fit$markers <- markers
  fit$x <- x
  fit$rows <- n
  fit$center <- unname(colMeans(x))
  fit$scale <- unname(apply(x, 2L, sd))
  structure(fit, labels = component, population = population[component], numbers = numbers)
}

# The chi-squared statistic of ranks from 0 to 49, in ten classes.
unevenness <- function(ranks) sum((tabulate(ranks %/% 5 + 1, 10) - length(ranks) / 10)^2) / (length(ranks) / 10)
