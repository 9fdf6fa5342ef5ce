# Seeds, whole numbers in [0, 2^53). All randomness is a function of the seed.

check_seed <- function(seed) {
  if (is.null(seed)) {
    # 26 + 27 bits from R's generator, so that set.seed() makes the result repeatable.
    parts <- floor(stats::runif(2L) * c(2^26, 2^27))
    return(parts[[1L]] * 2^27 + parts[[2L]])
  }
  check_count(seed, "seed", min = 0, max = 2^53 - 1)
}

# As stats::simulate(): with a seed, R's generator is put back afterwards. The result has the seed as an attribute.
draw_with_seed <- function(seed, draws) {
  if (!exists(".Random.seed", globalenv(), inherits = FALSE)) stats::runif(1L)
  before <- get(".Random.seed", globalenv(), inherits = FALSE)
  if (is.null(seed)) return(structure(draws, seed = before))
  most <- .Machine$integer.max
  seed <- as.integer(check_count(seed, "seed", min = -most, max = most))
  on.exit(assign(".Random.seed", before, globalenv()))
  set.seed(seed)
  structure(draws, seed = structure(seed, kind = as.list(RNGkind())))
}

chain_key <- function(seed, chain) native(C_chain_key, seed, as.integer(chain))
