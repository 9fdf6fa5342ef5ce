# Seeds. All randomness is a function of one whole number in [0, 2^53): given
# back, it repeats the result on any machine, backend and number of threads.

check_seed <- function(seed, call = sys.call(-1L)) {
  if (is.null(seed)) {
    # Two draws of R's generator, so that set.seed() governs: 26 + 27 bits.
    high <- floor(stats::runif(1L) * 2^26)
    low <- floor(stats::runif(1L) * 2^27)
    return(high * 2^27 + low)
  }
  check_count(seed, "seed", min = 0, max = 2^53 - 1, call = call)
}

# The key of a chain's random numbers, which depends on the seed and the chain's number.
chain_key <- function(seed, chain) {
  native(C_chain_key, seed, as.integer(chain))
}
