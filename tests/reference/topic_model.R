# The collapsed Gibbs sampler of latent Dirichlet allocation, in plain R and one token at a time (Griffiths and Steyvers
# 2004, PNAS 101, 5228-5235), with Metropolis steps for alpha and beta. The package draws all tokens at once given theta
# and phi, which this sampler integrates out.

# x: documents x terms. alpha: K numbers, beta: one. learn: any of "symmetric", "asymmetric" and "beta"; priors are
# shape and rate. Returns the squared norms of theta and phi, theta of the first document and term (with the number of
# the topic), and log alpha and log beta, of each sweep.
reference_topic_model <- function(x, topics, sweeps, alpha, beta, learn = character(), alpha_prior = c(1, 1),
                                  beta_prior = c(1, 1)) {
  document <- rep(row(x), x)
  term <- rep(col(x), x)
  alpha <- rep_len(alpha, topics)
  z <- sample.int(topics, length(term), TRUE)
  in_document <- matrix(0, nrow(x), topics)
  in_term <- matrix(0, topics, ncol(x))
  for (i in seq_along(z)) {
    in_document[document[[i]], z[[i]]] <- in_document[document[[i]], z[[i]]] + 1
    in_term[z[[i]], term[[i]]] <- in_term[z[[i]], term[[i]]] + 1
  }
  # The log probability of counts whose probabilities are Dirichlet.
  polya <- function(count, shape) sum(lgamma(shape + count) - lgamma(shape)) + lgamma(sum(shape)) -
    lgamma(sum(shape) + sum(count))
  of_alpha <- function(u) sum(vapply(seq_len(nrow(x)), function(d) polya(in_document[d, ], exp(u)), 0))
  of_beta <- function(u) sum(vapply(seq_len(topics), function(k) polya(in_term[k, ], rep(exp(u), ncol(x))), 0))
  log_gamma <- function(u, prior) sum(dgamma(exp(u), prior[[1]], prior[[2]], log = TRUE) + u)
  step <- function(u, target) {
    proposal <- u + 1.2 * rnorm(length(u))
    if (log(runif(1)) < target(proposal) - target(u)) proposal else u
  }
  dirichlet <- function(shape) {
    g <- rgamma(length(shape), shape) + 1e-300
    g / sum(g)
  }
  t(vapply(seq_len(sweeps), function(sweep) {
    for (i in seq_along(z)) {
      d <- document[[i]]
      w <- term[[i]]
      in_document[d, z[[i]]] <<- in_document[d, z[[i]]] - 1
      in_term[z[[i]], w] <<- in_term[z[[i]], w] - 1
      weight <- (in_document[d, ] + alpha) * (in_term[, w] + beta) / (rowSums(in_term) + ncol(x) * beta)
      z[[i]] <<- sample.int(topics, 1, prob = weight)
      in_document[d, z[[i]]] <<- in_document[d, z[[i]]] + 1
      in_term[z[[i]], w] <<- in_term[z[[i]], w] + 1
    }
    if ("symmetric" %in% learn) {
      target <- function(u) of_alpha(rep(u, topics)) + log_gamma(u, alpha_prior)
      alpha <<- rep(exp(step(log(alpha[[1]]), target)), topics)
    }
    if ("asymmetric" %in% learn) alpha <<- exp(step(log(alpha), function(u) of_alpha(u) + log_gamma(u, alpha_prior)))
    if ("beta" %in% learn) beta <<- exp(step(log(beta), function(u) of_beta(u) + log_gamma(u, beta_prior)))
    theta <- t(vapply(seq_len(nrow(x)), function(d) dirichlet(alpha + in_document[d, ]), alpha))
    phi <- t(vapply(seq_len(topics), function(k) dirichlet(beta + in_term[k, ]), numeric(ncol(x))))
    c(rowSums(theta^2), sum(phi^2), sum(theta[1, ] * phi[, 1]), theta[1, 1], phi[1, 1], log(sum(alpha)), log(beta))
  }, numeric(nrow(x) + 6)))
}
