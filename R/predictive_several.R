# Densities of two and three variables: axes without correlation, calibrated resampling, and quantities.
#
# Coordinates are calibrated as single variables. A resample's location is a vector, its scale lower triangular.

# Rows y as z with y = L z, and back. No matrix product: in some libraries its last bits depend on the number of rows.
solve_lower <- function(lower, y) {
  for (j in seq_len(ncol(y))) {
    for (k in seq_len(j - 1L)) y[, j] <- y[, j] - lower[j, k] * y[, k]
    y[, j] <- y[, j] / lower[j, j]
  }
  y
}

times_lower <- function(lower, z) {
  for (j in rev(seq_len(ncol(z)))) {
    z[, j] <- lower[j, j] * z[, j]
    for (k in seq_len(j - 1L)) z[, j] <- z[, j] + lower[j, k] * z[, k]
  }
  z
}

on_better_axes <- function(fit, run) {
  fit <- fit_bandwidth(fit, run)
  if (!is_calibrated(fit) || fit$model$scale == "data" || !fit$model$standardize) return(fit)
  best <- on_axes(fit, run)
  scales <- bent_scales(fit$data$y)
  bent <- sum(lengths(scales) > 0L)
  if (bent > 0L) {
    other <- on_axes(on_scales(fit, scales, run), run)
    gain <- other$score - best$score
    if (gain * fit$n > 2 * bent) best <- with_parts(other, scales_gain = gain)
  }
  if (!is.null(best$bend)) best$bend$drawn <- drop(bootstrap_sums(best, matrix(best$bend$influence), run))
  best
}

# A scale gains without end where it is steep at values that repeat, so columns with frequent values have none.
bent_scales <- function(y) {
  lapply(seq_len(ncol(y)), function(j) {
    scale <- if (max(tabulate(match(y[, j], y[, j]))) <= nrow(y) / 10) find_bend(new_scale(), y[, j])
    if (is.null(scale)) return(NULL)
    scale <- with_ends(scale, y[, j])
    list(scale = scale, standard = standard_of(matrix(to_scale(scale, y[, j])), TRUE, "y"))
  })
}

on_columns <- function(scales, y, to) {
  for (j in which(lengths(scales) > 0L)) y[, j] <- to(scales[[j]]$scale, scales[[j]]$standard, y[, j, drop = FALSE])
  y
}
to_scales <- function(scales, y) {
  on_columns(scales, y, function(scale, standard, y) apply_standard(matrix(to_scale(scale, drop(y))), standard))
}
from_scales <- function(scales, y) {
  on_columns(scales, y, function(scale, standard, y) from_scale(scale, drop(in_units(y, standard))))
}
scales_slope <- function(scales, y) {
  bent <- lengths(scales) > 0L
  slopes <- on_columns(scales, y, function(scale, standard, y) log_slope(scale, drop(y)) - log(standard$scale))
  rowSums(slopes[, bent, drop = FALSE])
}

on_scales <- function(fit, scales, run) {
  slope <- mean(scales_slope(scales, fit$data$y))
  fit <- with_parts(fit, scales = scales, scales_slope = slope,
    data = replace(fit$data, "y", list(to_scales(scales, fit$data$y))))
  fit <- fit_bandwidth(fit, run)
  with_parts(fit, score = fit$score + slope, orders = list(score = fit$orders$score + slope),
    at = density_points(fit, as_columns(fit$points, "points")))
}

# The fit on axes without correlation, and with a curve between two, if the prequential score repays them.
on_axes <- function(fit, run) {
  d <- ncol(fit$data$y)
  lower <- t(chol(crossprod(fit$data$y) / fit$n))
  start <- fit$score
  better <- function(y, bend, cost) {
    other <- with_parts(fit, axes = lower, bend = bend, data = replace(fit$data, "y", list(y)))
    other <- fit_bandwidth(other, run)
    slope <- sum(fit$scales_slope) - sum(log(diag(lower))) - (if (is.null(bend)) 0 else log(bend$spread))
    gain <- other$score + slope - start
    if ((gain - max(0, fit$axes_gain)) * fit$n <= cost) return(fit)
    with_parts(other, axes_gain = gain, score = start + gain, orders = list(score = other$orders$score + slope),
      at = density_points(other, as_columns(fit$points, "points")))
  }
  y <- solve_lower(lower, fit$data$y)
  fit <- better(y, NULL, d * (d - 1) / 2)
  bend <- find_bent_pair(y)
  if (is.null(bend)) fit else better(straight_pair(bend, y), bend, 6)
}

# Of axes without correlation, the pair of which the one bends most with the other: the numbers of both, the `curve`, a
# coefficient of what a line leaves of the square, and the deviation of what this leaves. A shear has the Jacobian 1.
find_bent_pair <- function(y) {
  pairs <- which(diag(ncol(y)) == 0, arr.ind = TRUE)
  bends <- lapply(seq_len(nrow(pairs)), function(k) {
    bend <- list(from = pairs[[k, 1L]], to = pairs[[k, 2L]], skew = mean(y[, pairs[k, 1L]]^3))
    square <- bent_square(bend, y)
    if (!(sum(square^2) > 1e-8 * nrow(y))) return(list(spread = 1))
    bend$curve <- sum(square * y[, bend$to]) / sum(square^2)
    left <- y[, bend$to] - bend$curve * square
    leverage <- square^2 / sum(square^2)
    c(bend, list(spread = sqrt(mean(left^2)), influence = square * left / pmax(1 - leverage, 0.1) / sum(square^2)))
  })
  best <- bends[[which.min(vapply(bends, `[[`, 0, "spread"))]]
  if (best$spread < 1 && best$spread > 1e-6) best
}

bent_square <- function(bend, y) y[, bend$from]^2 - 1 - bend$skew * y[, bend$from]
straight_pair <- function(bend, y) {
  y[, bend$to] <- (y[, bend$to] - bend$curve * bent_square(bend, y)) / bend$spread
  y
}

off_axes <- function(fit, y, curve = fit$bend$curve) {
  bend <- fit$bend
  if (!is.null(bend)) y[, bend$to] <- bend$spread * y[, bend$to] + curve * bent_square(bend, y)
  from_scales(fit$scales, if (is.null(fit$axes)) y else times_lower(fit$axes, y))
}

# Points for integrals, with their log density: half by a normal law, half about the data, by a Kronecker sequence.
several_points <- function(fit, count) {
  y <- fit$data$y
  d <- ncol(y)
  # The generalised golden ratio: the root of g^(d + 1) = g + 1.
  golden <- stats::uniroot(function(g) g^(d + 1) - g - 1, c(1, 2), tol = 1e-15)$root
  even <- stats::qnorm((0.5 + outer(seq_len(count), golden^-seq_len(d))) %% 1)
  about <- seq_len(count) %% 2L == 0L
  row <- 1L + ((seq_len(count) %/% 2L - 1L) * max(1, floor(nrow(y) / (count / 2)))) %% nrow(y)
  width <- 0.5
  spread <- 1.5 * sqrt(colMeans(y^2))
  nodes <- sweep(even, 2L, spread, "*")
  nodes[about, ] <- y[row[about], ] + width * even[about, ]
  near <- lapply(parts_of(count, 100), function(part) {
    distance <- rowSums((y[rep(row[about], length(part)), ] - nodes[rep(part, each = sum(about)), ])^2)
    colMeans(matrix(exp(-distance / (2 * width^2)), sum(about)))
  })
  near <- unlist(near) / (width * sqrt(2 * pi))^d
  far <- exp(rowSums(stats::dnorm(sweep(nodes, 2L, spread, "/"), log = TRUE))) / prod(spread)
  list(y = unname(nodes), x = matrix(0, count, 0L), log_density = log((near + far) / 2))
}

# The probabilities of these points, given by how much the densities there have grown: points x laws.
point_weights <- function(points, gain) {
  weight <- gain * exp(rowSums(stats::dnorm(points$y, log = TRUE)) - points$log_density)
  weight / rep(colSums(weight), each = nrow(weight))
}

# As calibrate_one(). `b`: what a resample adds to the regression of each coordinate on the ones before it.
calibrate_several <- function(fit, inner, run) {
  if (!is_calibrated(fit)) return(list())
  y <- fit$data$y
  n <- nrow(y)
  d <- ncol(y)
  rho <- step_rho(n, rep_len(fit$rho, d))
  points <- several_points(fit, 2000L)
  weight <- drop(point_weights(points, average_at(fit, points, run)$gain[, d, drop = FALSE]))
  center <- colSums(weight * points$y)
  law <- crossprod(sweep(points$y, 2L, center) * sqrt(weight))
  moments <- lapply(seq_len(d), function(j) {
    order <- order(points$y[, j])
    law_moments(points$y[order, j], cumsum(weight[order]), rho[[j]])
  })
  r1 <- vapply(moments, `[[`, 0, "r1")
  most <- min(2, calibrated_width / max(r1))
  to <- t(chol(stats::var(y)))
  z <- solve_lower(to, sweep(y, 2L, colMeans(y)))
  pairs <- which(lower.tri(to), arr.ind = TRUE)
  parts <- d + nrow(pairs)
  drawn <- function(part, df, variance) {
    place <- .Call(C_predictive_places, fit$seed, fit$count * parts, df, sqrt(variance))
    place[(seq_len(fit$count) - 1L) * parts + part, , drop = FALSE]
  }
  mean_left <- pmax(0, 1 / (n - 1) - (most * r1)^2 / n)
  places <- lapply(seq_len(d), function(j) drawn(j, stretch_df(z[, j], moments[[j]], most), mean_left[[j]]))
  b <- lapply(seq_len(nrow(pairs)), function(k) {
    both <- pairs[k, ]
    spread <- mean((z[, both[[1L]]] * z[, both[[2L]]])^2)
    drawn(d + k, 0, max(0, spread * (1 / (n - 1) - (most * prod(r1[both]))^2 / n)))
  })
  columns <- function(places, k) do.call(cbind, lapply(places, function(place) place[, k]))
  list(calibration = list(smoothed = smoothed_points(fit, points$y, weight), split = find_groups(fit, points$y, weight),
    most = most, rho = rho, width = sqrt((most * r1)^2 + n * mean_left), center = center, from = t(chol(law)), to = to,
    middle = colMeans(y), shift = columns(places, 1L), stretch = columns(places, 2L), b = columns(b, 1L),
    pairs = pairs))
}

# How many data the copulas predict where the `near` ones next to each of the user's points lie. If they predict well,
# it has a gamma law of shape `near`. NA for a number that this law or a third more or less can explain.
smoothed_points <- function(fit, nodes, weight) {
  near <- ceiling(max(sqrt(fit$n), 0.05 * fit$n))
  expected <- apply(fit$at$y, 1L, function(point) {
    distance <- function(y) rowSums(sweep(y, 2L, point)^2)
    fit$n * sum(weight[distance(nodes) < sort(distance(fit$data$y), partial = near)[[near]]])
  })
  chance <- stats::pgamma(expected, near)
  rare <- 0.015 / max(3, length(chance))
  fine <- chance > rare & chance < 1 - rare | abs(log(expected / near)) < log(4 / 3)
  list(near = near, expected = replace(expected, fine, NA))
}

# The direction, of even ones, along which two groups of at least 15% of the rows z leave the smallest share of the
# variance within them, and split_share() there. Of a normal law the share is 1 - 2/pi, of a uniform law 1/4.
group_direction <- function(z) {
  d <- ncol(z)
  turn <- if (d == 2L) pi * (0:15) / 16 else pi * (1 + sqrt(5)) * (0:47)
  height <- if (d == 2L) numeric(16L) else (0:47 + 0.5) / 48
  level <- sqrt(1 - height^2)
  directions <- cbind(level * cos(turn), level * sin(turn), height)[, seq_len(d)]
  splits <- apply(directions, 1L, function(along) split_share(row_products(z, along)))
  k <- which.min(splits[1L, ])
  list(along = directions[k, ], split = splits[, k])
}

# Such groups on axes without correlation, so that units do not matter, and the share within them that is `predicted`.
# `few`: the share is below its limits, and 1.3 times as much is predicted.
find_groups <- function(fit, nodes, weight) {
  n <- fit$n
  lower <- t(chol(stats::var(fit$data$y)))
  found <- group_direction(solve_lower(lower, fit$data$y))
  share <- found$split[[1L]]
  predicted <- split_share(row_products(solve_lower(lower, nodes), found$along), weight)[[1L]]
  list(share = share, predicted = predicted, size = round(n * c(found$split[[2L]], 1 - found$split[[2L]])),
    few = share < min(0.2, group_limit(n, ncol(nodes))) && predicted > 1.3 * share)
}

# Where the law of the data has what each resample has at the points: points x draws x coordinates.
several_unplaced <- function(fit, at) {
  place <- fit$calibration
  y <- at$y
  d <- ncol(y)
  m <- nrow(y)
  if (!is.null(fit$bend)) {
    y <- y[rep(seq_len(m), fit$count), , drop = FALSE]
    moved <- rep(fit$bend$drawn, each = m) * bent_square(fit$bend, y)
    y[, fit$bend$to] <- y[, fit$bend$to] - moved / fit$bend$spread
  }
  v <- solve_lower(place$to, sweep(y, 2L, place$middle))
  x <- array(0, c(m, fit$count, d))
  each <- rep(seq_len(fit$count), each = m)
  for (j in seq_len(d)) {
    now <- v[, j] - place$shift[each, j]
    for (k in which(place$pairs[, 1L] == j)) now <- now - place$b[each, k] * as.vector(x[, , place$pairs[k, 2L]])
    x[, , j] <- now / place$stretch[each, j]
  }
  array(times_lower(place$from, matrix(x, ncol = d)) + rep(place$center, each = m * fit$count), dim(x))
}

several_base <- function(fit, at) {
  if (!is_placed(fit)) return(at$density)
  place <- fit$calibration
  x <- matrix(several_unplaced(fit, at), ncol = ncol(at$y))
  shrink <- rowSums(log(place$stretch)) + sum(log(diag(place$to) / diag(place$from)))
  log_density <- matrix(rowSums(stats::dnorm(x, log = TRUE)), nrow(at$y)) + at$slope - sum(log(fit$standard$scale))
  exp(log_density - rep(shrink, each = nrow(at$y)))
}

# Where the inner points lie in a resample, standardised.
several_places <- function(fit, r) {
  y <- fit$inner$y
  if (is_placed(fit)) {
    place <- fit$calibration
    stretch <- diag(place$stretch[r, ])
    stretch[place$pairs] <- place$b[r, ]
    y <- times_lower(stretch, solve_lower(place$from, sweep(y, 2L, place$center)))
    y <- sweep(times_lower(place$to, sweep(y, 2L, place$shift[r, ], "+")), 2L, place$middle, "+")
  }
  y <- off_axes(fit, y, if (!is.null(fit$bend)) fit$bend$curve + fit$bend$drawn[[r]])
  colnames(y) <- fit$standard$names
  y
}

several_quantities <- function(fit, functional) {
  refuse_kinds(functional, "coefficients")
  if (is.null(functional)) return(indexed("density", fit$density))
  if (is.null(fit$inner)) {
    stop_input("functional", "must be NULL or a function for a density of more than three variables")
  }
  d <- ncol(fit$data$y)
  gain <- matrix(fit$state$gain[-seq_len(nrow(fit$at$y)), d, ], ncol = fit$count)
  weight <- point_weights(fit$inner, gain)
  values <- lapply(seq_len(fit$count), function(r) {
    z <- several_places(fit, r)
    y <- in_units(z, fit$standard)
    unlist(lapply(functional, function(part) {
      # Values such as 1e200 have no squares.
      value <- weighted_part(part, if (part$kind %in% c("sd", "correlation")) z else y)(weight[, r])
      if (part$kind == "sd") value * fit$standard$scale else value
    }))
  })
  do.call(rbind, values)
}

# Points as the loops read them. `density` is the density before any data. It is multiplied by the gains from the loops.
# Points outside of the support are far away. With the scale of groups, `before` and `slope_before` are what enters it.
density_points <- function(fit, points) {
  far <- function(y) pmin(pmax(y, -1e300), 1e300)
  slope <- if (is.null(fit$scale)) 0 else log_slope(fit$scale, drop(points))
  y <- far(apply_standard(if (is.null(fit$scale)) points else matrix(to_scale(fit$scale, drop(points))), fit$standard))
  if (!is.null(fit$scales)) {
    slope <- slope + scales_slope(fit$scales, y)
    y <- to_scales(fit$scales, y)
  }
  if (!is.null(fit$axes)) {
    y <- solve_lower(fit$axes, y)
    slope <- slope - sum(log(diag(fit$axes)))
  }
  if (!is.null(fit$bend)) {
    y <- straight_pair(fit$bend, y)
    slope <- slope - log(fit$bend$spread)
  }
  bare <- if (!is.null(fit$scale$groups)) replace(fit$scale, "groups", list(NULL))
  log_density <- rowSums(stats::dnorm(y, log = TRUE)) - sum(log(fit$standard$scale)) + slope
  list(y = unname(y), x = matrix(0, nrow(y), 0L), shown = seq_len(nrow(y)), slope = slope, log_density = log_density,
    density = exp(log_density), before = if (!is.null(bare)) far(to_scale(bare, drop(points))),
    slope_before = if (!is.null(bare)) log_slope(bare, drop(points)))
}
