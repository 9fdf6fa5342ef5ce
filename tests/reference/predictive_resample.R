# Urns, one draw after the other (Blackwell and MacQueen 1973, Annals of Statistics 1, 353-355; Pitman and Yor 1997,
# Annals of Probability 25, 855-900). The next value is the new one with probability (theta + discount types)/(theta +
# n), and otherwise of a type with probability proportional to its count less the discount. theta = discount = 0 is the
# Bayesian bootstrap (Rubin 1981). Returns the mean and the share of the first value, draws x 2, after `steps` draws.
# With theta = 0, `y` counts one type for each observation.
reference_urn <- function(y, theta, discount, base, steps, draws) {
  t(vapply(seq_len(draws), function(draw) {
    value <- if (theta == 0) y else unique(y)
    count <- c(if (theta == 0) rep(1, length(y)) else tabulate(match(y, value)), numeric(steps))
    value <- c(value, numeric(steps))
    types <- sum(count > 0)
    for (n in length(y) + seq_len(steps) - 1) {
      if (runif(1) * (theta + n) < theta + discount * types) {
        types <- types + 1
        at <- types
        value[[at]] <- base()
      } else {
        at <- sample.int(types, 1, prob = count[seq_len(types)] - discount)
      }
      count[[at]] <- count[[at]] + 1
    }
    c(sum(value * count), count[[1]]) / sum(count)
  }, numeric(2)))
}
