# One variable with few distinct values: an urn of them in place of a density (copula_density() chooses it).
#
# The fit is a Bayesian bootstrap of the data, with the same draws. `weight`: the probability of each of its `values`.

add_kind("discrete_density", function() {
  with_parts(record(bayesian_bootstrap()),
    words = function(model) "urn of the distinct values, with their counts (Polya's urn)", name = "an urn",
    arguments = c("points", "cdf", "density"), places = function(fit) fit$points, quantities = discrete_quantities,
    own = discrete_own, types = c("density", "cdf", "log_density"), predict = predict_discrete,
    picture = discrete_picture, reasons = list(discrete_reasons))
})

# Of discrete values with a long tail, such as counts, those that occur four times, and all before them, are point
# masses, and a density has the tail of at least five others: list(value, count, support of the tail), or NULL.
before_tail <- function(y) {
  values <- sort(unique(y))
  count <- tabulate(match(y, values))
  often <- which(count >= 4L)
  k <- length(values)
  if (!length(often) || max(often[[1L]] - 1L, k - max(often)) < 5L) return(NULL)
  is_upper <- k - max(often) >= often[[1L]] - 1L
  last <- if (is_upper) max(often) else often[[1L]]
  atom <- if (is_upper) seq_len(last) else last:k
  bound <- mean(values[last + if (is_upper) 0:1 else -1:0])
  list(value = values[atom], count = count[atom], support = if (is_upper) c(bound, Inf) else c(-Inf, bound))
}

start_discrete <- function(fit, y) {
  refuse_kinds(fit$functional)
  fit <- with_parts(fit, kind = "discrete_density", n = length(y), y = y, values = sort(unique(y)))
  points <- if (is.null(fit$model$points)) fit$values else drop(as_columns(fit$model$points, "points"))
  count <- rbind(tabulate(match(y, fit$values)) / fit$n)
  with_parts(fit, points = points, cdf0 = drop(values_cdf(fit, count, points)),
    density0 = drop(values_density(fit, count, points)))
}

# Sums of probabilities (draws x values) up to points, and their probabilities: draws x points.
values_cdf <- function(fit, weight, points) {
  for (j in seq_len(ncol(weight))[-1L]) weight[, j] <- weight[, j - 1L] + weight[, j]
  cbind(0, weight)[, findInterval(points, fit$values) + 1L, drop = FALSE]
}
values_density <- function(fit, weight, points) {
  cbind(weight, 0)[, match(points, fit$values, nomatch = ncol(weight) + 1L), drop = FALSE]
}

discrete_quantities <- function(fit, run, progress) {
  place <- match(fit$y, fit$values)
  of_values <- function(y, weights) drop(rowsum(weights, place))
  found <- bootstrap_quantities(with_parts(fit, functional = of_values), run, progress)
  weight <- unname(found$draws)
  found <- c(found, list(weight = weight, cdf = values_cdf(fit, weight, fit$points),
    density = values_density(fit, weight, fit$points)))
  replace(found, "draws", list(copula_quantities(with_parts(fit, parts = found))))
}

discrete_own <- function(fit, functional) {
  if (is.null(functional)) functional <- lapply(c("mean", "sd", "median"), new_functional)
  compute <- weighted_functional(fit$values, functional)
  bind_quantities(list(each_resample(seq_len(fit$count), function(r) compute(fit$weight[r, ]))))
}

predict_discrete <- function(fit, newdata, type, level, run) {
  points <- drop(as_columns(if (is.null(newdata)) fit$points else newdata, "newdata"))
  of <- if (type == "cdf") values_cdf else values_density
  estimate <- drop(of(fit, rbind(tabulate(match(fit$y, fit$values)) / fit$n), points))
  if (type == "log_density") return(log(estimate))
  predicted_rows(fit, estimate, if (!is.null(level)) pointwise(of(fit, fit$weight, points), level))
}

discrete_picture <- function(fit, level, paths, main, type) {
  band <- pointwise(fit$weight, level)
  picture(list(panel(around(fit$values), c(0, 1.04 * max(band)),
    bar_layers(fit$values, colMeans(fit$weight), band[1L, ], band[2L, ]))), main, "value", "probability")
}

discrete_reasons <- function(fit) {
  names <- colnames(fit$draws)
  unseen <- names == "probability" & colSums(fit$draws != 0) == 0
  c(few_values_reason(fit, 25L),
    if (any(unseen, na.rm = TRUE)) {
      reason("unsupported_unseen", quantity = "probability", figure = 3 / fit$n, most = figure(3 / fit$n))
    },
    reason("scale_values", figure = length(fit$values), count = whole_words(fit$n)),
    tail_reasons(names, share_of_tails(fit$y), fit$n), order_reason(fit$y), copies_reason(fit$y))
}
