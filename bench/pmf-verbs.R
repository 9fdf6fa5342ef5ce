# Operations on distributions against what one would write in plain R: seconds, as medians of repetitions that take
# turns. For differences of cumulative probabilities also the largest relative error that they make. A minute in all.
#   cd bench && Rscript pmf-verbs.R
source("common.R")
options(warpbayes.backend = "cpu", warpbayes.threads = 1)

set.seed(1)
few <- 1e3
at <- sort(sample(1e9, few))
weights <- rexp(few)
weights <- weights / sum(weights)
sparse <- pmf(weights, values = at)
n <- 1e5
x <- pmf_geometric(1 / 4000, tail = 1e-15)
y <- pmf_negative_binomial(3, mu = 9000, tail = 1e-15)
size <- max(length(x$prob), length(y$prob))
p <- c(x$prob, numeric(size - length(x$prob)))
q <- c(y$prob, numeric(size - length(y$prob)))
retention <- seq(0, 5e4, length.out = 1000)
value <- seq_along(y$prob) - 1
steps <- 2 * pmf_poisson(500) + pmf_poisson(700) / 2

each <- function(call) function() elapsed(call())
calls <- list(
  ours_sparse = each(function() sparse + sparse),
  plain_sparse = each(function() tapply(as.vector(outer(weights, weights)), as.vector(outer(at, at, "+")), sum)),
  ours_max = each(function() max(x, y)),
  plain_max = each(function() diff(c(0, cumsum(p) * cumsum(q)))),
  ours_premium = each(function() stop_loss_premium(y, retention)),
  plain_premium = each(function() vapply(retention, function(d) sum(y$prob * pmax(value - d, 0)), 0)),
  ours_joint = each(function() joint_table(steps, x, totals = 100:199)),
  plain_joint = each(function() {
    vapply(100:199, function(total) {
      at <- as.data.frame(steps)$value
      dpmf(at, steps) * dpmf(total - at, x)
    }, numeric(length(steps$prob)))
  })
)
m <- medians(do.call(interleave, c(calls, times = 3)))
ours <- m[c("ours_sparse", "ours_max", "ours_premium", "ours_joint")]
plain <- m[c("plain_sparse", "plain_max", "plain_premium", "plain_joint")]
# The tail of a minimum of geometric variables is known.
together <- 1 - 0.999^2
g <- pmf(dgeom(0:79999, 0.001), normalize = FALSE, tolerance = 1)
exact <- dgeom(0:14999, together)
upper <- function(prob) rev(cumsum(rev(prob)))
error <- c(
  NA, max(abs(min(g, g)$prob[1:15000] / exact - 1)), NA, NA
)
plain_error <- c(NA, max(abs(diff(c(0, 1 - (1 - cumsum(g$prob))^2))[1:15000] / exact - 1)), NA, NA)
save_results(data.frame(
  task = c(
    "sum, 1,000 values over 1e9 twice", "largest of two variables on 1e5 values", "1,000 stop-loss premiums",
    "joint table, 100 totals"
  ),
  seconds = ours,
  peer = c("tapply(outer())", "differences of products of cumsum()", "sums over all values", "products of dpmf()"),
  peer_seconds = plain, times_faster = plain / ours, error = error, peer_error = plain_error
), "pmf-verbs")
