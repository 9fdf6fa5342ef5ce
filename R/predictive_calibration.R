# Calibrated resampling of one variable: the posteriors of mean and standard deviation get the variance of the data.
#
# Near a normal law, a step of weight alpha moves the mean by alpha rho sd z and the variance by alpha rho^2 var
# (z^2 - 1). With the published weights, alpha_i about 2/i, the posterior variance of the mean is (2 rho)^2 var/n: none
# for rho near 0, 3.2 times too much for rho = .9. For any law 2 rho becomes 2 r1, r1 = sd_z(E[Y | z])/sd(Y), and for
# the variance 2 rho^2 becomes 2 r2, r2 = sd_z(E[(Y - m)^2 | z])/sd((Y - m)^2), both under the copula on the law.

# Bandwidths to choose from, of one and several variables, and the deviation of the mean over sd/sqrt(n) of the steps.
calibrated_ends <- c(0.7, 0.95)
several_ends <- c(0.5, 0.95)
calibrated_width <- 1.1

# The variance of the log of the standard deviation over what the kurtosis says: tails of resamples move with it alone.
calibrated_stretch <- 1.35

# The deviation of the mean that the steps give; groups have a part of it.
steps_width <- function(grouped) sqrt(calibrated_width^2 - grouped)

# Points for computing quantities, in standardised units: `count` as far as `margin` beyond the data, and a `tail`.
points_beyond <- function(y, margin, count, tail) {
  ends <- range(y) + c(-margin, margin)
  c(ends[[1L]] - tail, seq(ends[[1L]], ends[[2L]], length.out = count), ends[[2L]] + tail)
}

# r1 and r2 of the law with the distribution function `cdf` at sorted points `at`, and the copula of correlation `rho`.
law_moments <- function(at, cdf, rho) {
  m <- length(at)
  middle <- (at[-1L] + at[-m]) / 2
  share <- pmax(diff(cdf), 0)
  share <- share / sum(share)
  mean <- sum(share * middle)
  variance <- sum(share * (middle - mean)^2)
  fourth <- sum(share * (middle - mean)^4)
  score <- stats::qnorm(pmin(pmax(cdf, 1e-6), 1 - 1e-6))
  given <- diff(stats::pnorm(outer(score, rho * stats::qnorm(stats::ppoints(60L)), "-") / sqrt(1 - rho^2)))
  given <- sweep(given, 2L, colSums(given), "/")
  list(mean = mean, variance = variance, kurtosis = fourth / variance^2,
    r1 = sqrt(mean((colSums(given * middle) - mean)^2) / variance),
    r2 = sqrt(mean((colSums(given * (middle - mean)^2) - variance)^2) / (fourth - variance^2)))
}

# The correlations of the steps: rho^t. The weight of the data's kth Hermite coefficients in the prediction after n data
# is 1 - prod(1 - alpha_i rho^k), and a step moves them by alpha rho^k; with several variables rho^k is the product over
# them. t <= 1 is chosen such that the sum of these coefficients' variances is that of the prediction's error. With
# `grouped` resamples the parameters of their groups have a part of the variance.
step_rho <- function(n, rho, grouped = FALSE) {
  width <- steps_width(grouped)
  longest <- floor(1e6^(1 / length(rho)))
  powers <- lapply(rho, function(rho) rho^(0:min(longest, ceiling(log(0.01) / log(rho)))))
  powers <- Reduce(function(a, b) as.vector(outer(a, b)), powers)[-1L]
  i <- seq_len(n)
  at <- seq(log(1e-6), 0, length.out = 60L)
  weight <- vapply(exp(at), function(power) -expm1(sum(log1p(-power * (2 - 1 / i) / (i + 1)))), 0)
  wanted <- sum(stats::approx(at, weight, log(powers), rule = 2)$y^2) - grouped * length(group_columns)
  excess <- function(t) min(2, width / max(rho)^t)^2 * (1 / prod(1 - rho^(2 * t)) - 1) - wanted
  if (excess(1) >= 0) return(rho)
  rho^round(stats::uniroot(excess, c(1e-3, 1), tol = 1e-6)$root, 3)
}

# The degrees of freedom of the stretch of resamples: what the steps leave of the variance of the log of the standard
# deviation of y, as a law has it. 0 for none. That variance is about the trimmed mean, as by Bonett (2006,
# Computational Statistics & Data Analysis 50, 775-782). The kurtosis of few values is too low, so a normal law's, 2,
# counts as one more observation, and the last term is added.
stretch_df <- function(y, law, most) {
  n <- length(y)
  trim <- if (n > 5) 1 / (2 * sqrt(n - 4)) else 0
  excess <- n * sum((y - mean(y, trim = trim))^4) / sum((y - mean(y))^2)^2 - 1
  excess <- (n * excess + 2) / (n + 1)
  wanted <- calibrated_stretch * (excess + 10 * min(excess, 3)^2 / n) / (4 * (n - 1))
  left <- max(0, wanted - (most * law$r2)^2 * (law$kurtosis - 1) / (4 * n))
  if (left > 1e-8) 1 / (2 * left) else 0
}

# In standardised units: `most`, the numerator of the weights; the `center` of the law; each resample's `shift` and
# `stretch`. `width` is the posterior deviation of the mean over sd/sqrt(n) as the steps alone give it.
calibrate_one <- function(fit, inner, run) {
  y <- drop(fit$data$y)
  n <- length(y)
  cdf <- drop(inner$conditional)
  moments <- function(rho) law_moments(drop(fit$inner$y), cdf, rho)
  found <- function(...) list(inner = c(fit$inner, list(cdf0 = cdf)), calibration = list(...))
  if (!is_calibrated(fit)) return(found(most = 2, width = 2 * moments(fit$rho)$r1))
  groups <- if (!is.null(fit$scale$groups)) draw_groups(fit, run)
  grouped <- !is.null(groups)
  rho <- step_rho(n, fit$rho, grouped)
  law <- moments(rho)
  most <- min(2, steps_width(grouped) / law$r1)
  if (grouped) {
    return(found(most = most, rho = rho, center = 0, shift = numeric(fit$count), stretch = rep(1, fit$count),
      width = sqrt((most * law$r1)^2 + 1), groups = groups))
  }
  mean_left <- max(0, 1 / (n - 1) - (most * law$r1)^2 / n)
  place <- .Call(C_predictive_places, fit$seed, fit$count, stretch_df(y, law, most), sqrt(mean_left * stats::var(y)))
  found(most = most, rho = rho, center = law$mean, shift = mean(y) - law$mean + place[, 1L],
    stretch = place[, 2L] * sqrt(stats::var(y) / law$variance), width = sqrt((most * law$r1)^2 + n * mean_left))
}

unplaced_one <- function(fit, at) {
  place <- fit$calibration
  if (is.null(place$groups)) {
    return(outer(drop(at$y) - place$center, 1 / place$stretch) -
      rep(place$shift / place$stretch, each = length(at$y)) + place$center)
  }
  (pmin(pmax(group_places(fit, at, "to"), -1e300), 1e300) - fit$standard$center) / fit$standard$scale
}

# Where the inner points lie in each resample, in the data's units: draws x inner points.
inner_places <- function(fit) {
  y <- matrix(fit$inner$y, fit$count, length(fit$inner$y), byrow = TRUE)
  place <- fit$calibration
  if (is_placed(fit)) y <- place$center + place$shift + place$stretch * (y - place$center)
  y <- fit$standard$center + fit$standard$scale * y
  if (is.null(place$groups)) return(from_scale(fit$scale, y))
  t(in_parts(fit, y[1L, ], function(z, groups) from_scale(replace(fit$scale, "groups", list(groups)), z)))
}

# The groups of resamples: one step of Newton's method from those of the data, with the weights of a Bayesian bootstrap.
# Five estimated parameters make their deviations sqrt(n/(n - 5)) times as large.
draw_groups <- function(fit, run) {
  groups <- drop(fit$scale$groups)
  x <- scale_layers(fit$scale)[[1L]]$to(own_units(fit))
  n <- length(x)
  unit <- c(1, exp(groups[4:5]), 1, 1)
  information <- vapply(seq_along(groups), function(j) {
    step <- 1e-4 * unit[[j]] * (seq_along(groups) == j)
    (colSums(group_scores(groups - step, x)) - colSums(group_scores(groups + step, x))) * unit / 2e-4
  }, groups)
  inverse <- tryCatch(chol2inv(chol(information)), error = pass_on)
  if (is.null(inverse)) return(NULL)
  influence <- sweep(group_scores(groups, x), 2L, unit, "*") %*% inverse
  drawn <- bootstrap_sums(fit, sqrt(n / (n - 5)) * influence, run)
  groups <- groups + unit * colSums(influence)
  drawn <- sweep(sweep(drawn, 2L, unit, "*"), 2L, groups, "+")
  colnames(drawn) <- group_columns
  drawn
}

# The user's points in each resample ("to"), or the "log_slope" of their groups there: points x draws.
group_places <- function(fit, at, what) {
  in_parts(fit, at$before, function(y, groups) straightened(group_layer(groups), fit$scale$bend_ends)[[what]](y))
}

# compute(values, groups) for each resample, values x draws; a few at a time, since layers need much memory.
in_parts <- function(fit, values, compute) {
  do.call(cbind, lapply(parts_of(fit$count, 4e5 / length(values)), function(r) {
    matrix(compute(rep(values, length(r)), fit$calibration$groups[r, , drop = FALSE]), ncol = length(r))
  }))
}
