# The distributions of the number of variables that compound_pmf() knows by name, and how far their sums reach.

# How many variables are not zero. `size` is what size_on_lattice() returns. No nearly equal numbers are subtracted, so
# extreme parameters are right too. Each function returns a list:
#   log_generating  the log of the generating function at 1 + excess
#   log_none        the log of the probability that no variable differs from zero
#   parts           the number is the sum of this many independent numbers
#   panjer, trial   for each part either Panjer's a, a + b, p_0 and c, or (binomial) its probabilities to be 0 and 1
#   moved           how much more probable "no variable" became because zeros are not counted
#   some            the probability that the original number is not 0
#   mean            the mean of the number
#   certain_zero    whether the original number is always 0
counting_poisson <- function(lambda, size) {
  mean <- lambda * size$some
  parts <- copies_of(mean)
  list(log_generating = function(excess) mean * excess, log_none = -mean, parts = parts,
    panjer = c(0, mean / parts, exp(-mean / parts), 0), moved = -exp(-mean) * expm1(-lambda * size$none),
    some = -expm1(-lambda), mean = mean, certain_zero = lambda == 0)
}

# `odds` is the mean of a geometric number: the probability of failure divided by the probability of success.
counting_negative_binomial <- function(successes, odds, size) {
  # Each failure counts with the probability size$some, so the odds shrink by this factor.
  kept <- odds * size$some
  q <- kept / (1 + kept)
  log_none <- -successes * log1p(kept)
  parts <- copies_of(-log_none)
  share <- successes / parts
  list(log_generating = function(excess) {
    rest <- excess * kept
    if (rest >= 1) Inf else -successes * log1p(-rest)
  },
    log_none = log_none, parts = parts, panjer = c(q, q * share, exp(log_none / parts), 0),
    moved = -exp(log_none) * expm1(successes * log_share(1 + kept, odds * size$none)),
    some = -expm1(-successes * log1p(odds)), mean = successes * kept, certain_zero = odds == 0)
}

counting_logarithmic <- function(prob, size) {
  # 1 - prob is exact for all prob from 0.5 on. `away` is 1 - prob * size$none as a sum of positive terms.
  away <- (1 - prob) + prob * size$some
  q <- prob * size$some / away
  whole <- -log1p(-prob)
  none <- if (size$none == 0) 0 else -log1p(-prob * size$none) / whole
  list(log_generating = function(excess) {
    inside <- prob * (1 + size$some * excess)
    left <- (1 - prob) - prob * size$some * excess
    if (left <= 0) Inf else log((if (inside < 0.5) -log1p(-inside) else -log(left)) / whole)
  },
    log_none = log(none), parts = 1, panjer = c(q, 0, none, q / whole), moved = none, some = 1,
    mean = prob * size$some / ((1 - prob) * whole), certain_zero = FALSE)
}

counting_binomial <- function(trials, prob, size) {
  power <- prob * size$some
  log_without <- log_share(1 - prob, prob)
  without <- (1 - prob) + prob * size$none
  log_none <- if (trials == 0) 0 else trials * log_share(without, power)
  list(log_generating = function(excess) trials * log1p(power * excess), log_none = log_none, parts = trials,
    trial = c(without, power),
    moved = if (size$none == 0) 0 else -exp(log_none) * expm1(trials * log_share(1 - prob, prob * size$none)),
    some = if (trials == 0) 0 else -expm1(trials * log_without), mean = trials * power,
    certain_zero = trials == 0 || prob == 0)
}

# log(part / (part + rest)), with all digits whichever of the two is larger.
log_share <- function(part, rest) {
  if (part < rest) log(part / (part + rest)) else log1p(-rest / (part + rest))
}

# log(1 - exp(x)) for x <= 0, and log(exp(x) - exp(y)) for x >= 0 >= y.
log1m_exp <- function(x) if (x > -0.7) log(-expm1(x)) else log1p(-exp(x))

log_less <- function(x, y) if (x - y > 0.7) x + log1p(-exp(y - x)) else y + log(expm1(x - y))

# The number of independent parts, a power of two: each is 0 with a probability of at least e^-500, far from underflow.
copies_of <- function(log_none) 2^max(0, ceiling(log2(log_none / 500)))

# The number of entries, at least 1, after which a sum S has less than exp(log_tail) of its probability. One variable
# that is not zero has the values `at` with these weights.
outputs_to_tail <- function(counting, largest, at, weights, log_tail) {
  if (!is.finite(counting$mean)) return(Inf)
  if (log1m_exp(counting$log_none) <= log_tail) return(1)
  last <- at[[length(at)]]
  log_moment <- function(t) log_less(counting$log_generating(sum(weights * expm1(t * at))), counting$log_none)
  min(chernoff_reach(log_moment, counting$mean * sum(at * weights), last, log_tail), largest * last) + 1
}

# A whole number that S reaches with a probability of at most exp(log_tail), by Chernoff's bound: P(S >= s) <= tail if
# E(e^(t S); S > 0) <= e^(t s) tail for some t > 0. `log_moment(t)` is the log of this expected value, or of E(e^(t S));
# `last` is the largest value of one variable. As a function of t, s falls, then rises, and beyond some t is infinite.
chernoff_reach <- function(log_moment, mean, last, log_tail) {
  bound <- function(log_t) {
    t <- exp(log_t)
    if (t * last > 700) Inf else (log_moment(t) - log_tail) / t
  }
  # At t = 1e-4 / E S the bound is far beyond the mean, and past 700 / max X it is infinite. The best t lies between
  # these limits, or between the largest t with a finite bound and a tenth of it.
  high <- log(700 / last)
  low <- min(log(1e-4) - log(max(mean, last, 1)), high)
  while (bound(low) == Inf && low > -700) {
    high <- low
    low <- low - 2
  }
  if (bound(high) == Inf) {
    finite <- low
    while (high - finite > 1e-4) {
      middle <- (finite + high) / 2
      if (bound(middle) < Inf) finite <- middle else high <- middle
    }
    high <- finite
  }
  found <- stats::optimize(function(log_t) min(bound(log_t), 1e300), c(min(low, high - 5), high), tol = 0.01)
  floor(max(min(found$objective, bound(high)), 0))
}
