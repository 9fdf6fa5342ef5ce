# Calibrated resampling of one variable: the forward steps, the location and the scale of resamples are chosen so that
# the posterior of the mean and of the standard deviation has the variance that the data give it.
#
# Near a normal law, a step of weight alpha moves the mean by alpha rho sd z and the variance by alpha rho^2 var
# (z^2 - 1). With the published weights, alpha_i about 2/i, the posterior variance of the mean is (2 rho)^2 var/n: none
# for rho near 0, 3.2 times too much for rho = .9. For any law 2 rho becomes 2 r1, r1 = sd_z(E[Y | z])/sd(Y), and for
# the variance 2 rho^2 becomes 2 r2, r2 = sd_z(E[(Y - m)^2 | z])/sd((Y - m)^2), both under the copula on the law.

# The bandwidths among which calibrated resampling chooses, and the deviation of the mean, over sd/sqrt(n), that the
# steps are given: 1.05 gave 90% intervals that cover the median of 50 normal values in 82% of 120 data sets.
# bench/predictive-coverage.R measures the coverage of all this.
calibrated_ends <- c(0.7, 0.95)
calibrated_width <- 1.1

# Of several variables. With 0.7 the prediction of two normal variables was 13% too low at the mode for n = 60 and its
# score 0.12 lower.
several_ends <- c(0.5, calibrated_ends[[2L]])

# The variance of the log of the standard deviation is this many times what the kurtosis says, since the tails of a
# resample move with it alone.
calibrated_stretch <- 1.35

is_calibrated <- function(fit) {
  y <- fit$data$y
  fit$model$kind == "copula_density" && isTRUE(fit$model$calibrate) && nrow(y) > ncol(y) &&
    if (ncol(y) == 1L) diff(range(y)) > 0 else {
      has_quantities(fit) && qr(sweep(y, 2L, colMeans(y)), tol = 1e-5)$rank == ncol(y)
    }
}

# The ends of the response's correlation. Regressions and classifications have only the lower bound of a calibrated
# density: without it, responses that do not depend on the covariates choose the smallest rho, and 90% intervals of the
# mean given a covariate covered 13% (30 data sets, n = 50); with it 97%, for 0.04 of the log score.
response_ends <- function(fit) {
  if (is_calibrated(fit)) return(if (ncol(fit$data$y) > 1L) several_ends else calibrated_ends)
  bounded <- fit$model$kind != "copula_density" && isTRUE(fit$model$calibrate) && is.null(fit$data$start)
  if (bounded) c(calibrated_ends[[1L]], rho_ends[[2L]]) else rho_ends
}

# Points for computing quantities, in standardised units, whatever the user wants to see: even ones from a little
# outside the data, quantiles of the data, and tails.
inner_points <- function(y) {
  ends <- range(y) + c(-0.6, 0.6)
  tail <- c(0.4, 0.9, 1.5, 2.2, 3, 4)
  sort(unique(c(ends[[1L]] - tail, seq(ends[[1L]], ends[[2L]], length.out = 64L), ends[[2L]] + tail,
    stats::quantile(y, stats::ppoints(48L), names = FALSE))))
}

# Mean, variance, kurtosis, r1 and r2 (see above) of the law that has the distribution function `cdf` at the sorted
# points `at`, with the copula of correlation `rho`.
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
# t = 1 the deviation of log densities was 0.5 to 0.9 times that of their error for n = 200 (normal and uniform data,
# two normal variables), and intervals covered 59 to 86%; now it is 0.6 to 1.1 times. With `grouped` resamples the
# parameters of their groups have a part of the variance.
step_rho <- function(n, rho, grouped = FALSE) {
  width <- if (grouped) sqrt(calibrated_width^2 - 1) else calibrated_width
  longest <- floor(1e6^(1 / length(rho)))
  powers <- lapply(rho, function(rho) rho^(0:min(longest, ceiling(log(0.01) / log(rho)))))
  powers <- Reduce(function(a, b) as.vector(outer(a, b)), powers)[-1L]
  i <- seq_len(n)
  at <- seq(log(1e-6), 0, length.out = 60L)
  weight <- vapply(exp(at), function(power) -expm1(sum(log1p(-power * (2 - 1 / i) / (i + 1)))), 0)
  wanted <- sum(stats::approx(at, weight, log(powers), rule = 2)$y^2) - grouped * length(group_columns)
  excess <- function(t) min(2, width / max(rho)^t)^2 * (1 / prod(1 - rho^(2 * t)) - 1) - wanted
  if (excess(1) >= 0) return(rho)
  # Rounded, as libraries of mathematics differ in last digits.
  rho^round(stats::uniroot(excess, c(1e-3, 1), tol = 1e-6)$root, 3)
}

# n times the variance of the log of the sample variance. About the trimmed mean, as by Bonett (2006, Computational
# Statistics & Data Analysis 50, 775-782). The kurtosis of few values is too low, so a normal law's, 2, counts as one
# more observation, and the last term is added. 90% intervals of the standard deviation by this alone cover 86 to 97%
# for normal, gamma, exponential, t5, uniform and bimodal data of n = 10 to 200; by the kurtosis as it is, 72 to 92%.
log_variance_spread <- function(y) {
  n <- length(y)
  trim <- if (n > 5) 1 / (2 * sqrt(n - 4)) else 0
  excess <- n * sum((y - mean(y, trim = trim))^4) / sum((y - mean(y))^2)^2 - 1
  excess <- (n * excess + 2) / (n + 1)
  excess + 10 * min(excess, 3)^2 / n
}

# What calibrated resampling needs beside the bandwidth, in standardised units: `most`, the numerator of the weights;
# the `center` of the law; each resample's `shift` and `stretch`. `width` is the posterior deviation of the mean over
# sd/sqrt(n) as the steps alone give it; with published weights this is all that is done.
calibrate <- function(fit, at, cdf, run) {
  y <- drop(fit$data$y)
  n <- length(y)
  if (!is_calibrated(fit)) return(list(most = 2, width = 2 * law_moments(at, cdf, fit$rho)$r1))
  groups <- if (!is.null(fit$scale$groups)) {
    data <- from_scale(fit$scale, fit$standard$center + fit$standard$scale * y)
    draw_groups(fit, fit$scale$groups, through(scale_layers(fit$scale)[1:2], data), run)
  }
  rho <- step_rho(n, fit$rho, !is.null(groups))
  law <- law_moments(at, cdf, rho)
  if (!is.null(groups)) {
    # The groups of resamples have the variance that the data give, and the steps add the rest.
    most <- min(2, sqrt(calibrated_width^2 - 1) / law$r1)
    return(list(most = most, rho = rho, center = 0, shift = numeric(fit$count), stretch = rep(1, fit$count), df = 0,
      width = sqrt((most * law$r1)^2 + 1), groups = groups))
  }
  most <- min(2, calibrated_width / law$r1)
  # What the steps leave of the variance of the mean and of the log of the standard deviation.
  mean_left <- max(0, 1 / (n - 1) - (most * law$r1)^2 / n)
  wanted <- calibrated_stretch * log_variance_spread(y) / (4 * (n - 1))
  log_sd_left <- max(0, wanted - (most * law$r2)^2 * (law$kurtosis - 1) / (4 * n))
  df <- if (log_sd_left > 1e-8) 1 / (2 * log_sd_left) else 0
  place <- .Call(C_predictive_places, fit$seed, fit$count, df, sqrt(mean_left * stats::var(y)))
  list(most = most, rho = rho, center = law$mean, shift = mean(y) - law$mean + place[, 1L],
    stretch = place[, 2L] * sqrt(stats::var(y) / law$variance), df = df,
    width = sqrt((most * law$r1)^2 + n * mean_left))
}

is_placed <- function(fit) {
  !is.null(fit$calibration$stretch)
}

# Where the law of the data has what resample r has at the standardised points: a matrix, points x draws.
unplaced <- function(fit, at) {
  if (ncol(at$y) > 1L) return(several_unplaced(fit, at))
  y <- drop(at$y)
  if (!is.null(fit$trend)) return(y - trend_departures(fit, at))
  place <- fit$calibration
  if (!is.null(place$groups)) return((group_places(fit, fit$scale, at)$to - fit$standard$center) / fit$standard$scale)
  outer(y - place$center, 1 / place$stretch) - rep(place$shift / place$stretch, each = length(y)) + place$center
}

# The first states of placed resamples: each has the points elsewhere in the law of the data.
placed_states <- function(fit, at, run) {
  d <- ncol(at$y)
  y <- matrix(unplaced(fit, at), ncol = d)
  rows <- seq_len(nrow(y))
  x <- at$x[rep_len(seq_len(nrow(at$y)), nrow(y)), , drop = FALSE]
  # All orders of the data at once, in parts of 64 MB.
  parts <- split(rows, (rows - 1) %/% max(1, floor(2e6 / ncol(fit$order) / d)))
  found <- lapply(unname(parts), function(part) {
    .Call(C_predictive_average, state_at(fit, list(y = y[part, , drop = FALSE], x = x[part, , drop = FALSE]), run))
  })
  values <- function(what) {
    value <- do.call(rbind, lapply(found, `[[`, what))
    value <- array(value, c(nrow(at$y), fit$count, ncol(value)))
    aperm(value, c(1L, 3L, 2L))
  }
  list(conditional = values("conditional"), gain = values("gain"))
}

# The densities that multiply gains, in the data's units: for all resamples, or points x draws.
base_densities <- function(fit, at) {
  if (!is.null(fit$trend)) return(stats::dnorm(unplaced(fit, at)) / fit$standard$scale)
  if (!is_placed(fit)) return(at$density)
  if (ncol(at$y) > 1L) return(several_base_densities(fit, at))
  slope <- if (is.null(fit$calibration$groups)) at$slope else group_places(fit, fit$scale, at)$slope
  density <- stats::dnorm(unplaced(fit, at), log = TRUE) + slope
  exp(density - rep(log(fit$calibration$stretch * fit$standard$scale), each = nrow(density)))
}

# States at the inner points come after those of the user's points.
with_inner <- function(fit, found) {
  both <- function(own, inner) {
    several <- array(inner, c(dim(inner), fit$count))
    size <- dim(own)
    size[[1L]] <- size[[1L]] + nrow(inner)
    value <- array(0, size)
    value[seq_len(nrow(own)), , ] <- own
    value[-seq_len(nrow(own)), , ] <- several
    value
  }
  fit$state[c("conditional", "gain")] <- Map(both, fit$state[c("conditional", "gain")], found[c("conditional", "gain")])
  fit
}

# draws x inner points.
inner_cdf <- function(fit) {
  t(matrix(fit$state$conditional[-seq_len(nrow(fit$at$y)), 1L, ], length(fit$inner$y)))
}

# Where the inner points lie in each resample, in the data's units: draws x inner points.
inner_places <- function(fit) {
  y <- matrix(fit$inner$y, fit$count, length(fit$inner$y), byrow = TRUE)
  if (is_placed(fit)) {
    place <- fit$calibration
    if (!is.null(place$groups)) {
      z <- fit$standard$center + fit$standard$scale * fit$inner$y
      return(t(in_parts(fit, z, function(z, groups) from_scale(fit$scale, z, groups))))
    }
    y <- place$center + place$shift + place$stretch * (y - place$center)
  }
  y[] <- from_scale(fit$scale, fit$standard$center + fit$standard$scale * y)
  y
}

# Quantities of the resamples from their distribution functions at the inner points.
inner_quantities <- function(fit, functional) {
  grid <- grid_with_atoms(fit$atoms, inner_places(fit), inner_cdf(fit))
  grid_functional(grid$points, grid$cdf, functional)
}
