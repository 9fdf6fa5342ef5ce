# Draws in the classes of package coda.

# An array of draws x chains x variables as an mcmc.list. `start` is the sweep of the first draw.
coda_chains <- function(draws, start, thin) {
  coda::mcmc.list(lapply(seq_len(dim(draws)[[2L]]), function(chain) {
    values <- matrix(draws[, chain, ], dim(draws)[[1L]], dimnames = list(NULL, dimnames(draws)[[3L]]))
    coda::mcmc(values, start = start, thin = thin)
  }))
}

# The only chain of an mcmc.list. as.mcmc() has no place for several.
one_coda_chain <- function(chains) {
  if (length(chains) != 1L) {
    stop_input("x", sprintf("has %d chains: use coda::as.mcmc.list()", length(chains)))
  }
  chains[[1L]]
}
