# The scale on which the copulas of one variable work, and values that carry a point mass.
#
# Copulas predict well where data look normal. `scale` has two layers. The first maps the support to the line (log or
# logit). The second is asinh((x - center)/width), or that of two groups (below). Both are straight lines beyond the
# data, which say nothing about the tails.


new_scale <- function(support = c(-Inf, Inf), softness = Inf) {
  list(support = support, softness = softness, bends = FALSE, ends = c(-Inf, Inf), bend_ends = c(-Inf, Inf))
}
flat_layer <- list(to = identity, from = identity, log_slope = function(y) 0 * y)

# Each layer is a list of functions of x: `to`, `from`, and the log of the slope of `to`. With one bound, the distance y
# from it goes to log(y) or, if the `softness` s is finite, to log(exp(y/s) - 1): a log near the bound, straight beyond.
support_layer <- function(scale) {
  lower <- scale$support[[1L]]
  upper <- scale$support[[2L]]
  if (is.finite(lower) && is.finite(upper)) {
    width <- upper - lower
    return(list(to = function(y) stats::qlogis((y - lower) / width),
      from = function(x) lower + width * stats::plogis(x),
      log_slope = function(y) log(width) - log(y - lower) - log(upper - y)))
  }
  if (!is.finite(lower) && !is.finite(upper)) return(flat_layer)
  s <- scale$softness
  bound <- if (is.finite(lower)) lower else upper
  sign <- if (is.finite(lower)) 1 else -1
  distance <- function(y) sign * (y - bound)
  if (is.infinite(s)) {
    return(list(to = function(y) sign * log(distance(y)), from = function(x) bound + sign * exp(sign * x),
      log_slope = function(y) -log(distance(y))))
  }
  list(to = function(y) sign * (distance(y) / s + log(-expm1(-distance(y) / s))),
    from = function(x) bound + sign * s * (pmax(sign * x, 0) + log1p(exp(-abs(x)))),
    log_slope = function(y) -log(-expm1(-distance(y) / s)) - log(s))
}

bend_layer <- function(scale) {
  if (!scale$bends) return(flat_layer)
  w <- function(x) (x - scale$center) / scale$width
  list(to = function(x) asinh(w(x)), from = function(z) scale$center + scale$width * sinh(z),
    log_slope = function(x) -log(scale$width) - log1p(w(x)^2) / 2)
}

# A layer with straight lines beyond the ends (in its own units) where they are finite.
straightened <- function(layer, ends) {
  inside <- function(y) pmin(pmax(y, ends[[1L]]), ends[[2L]])
  list(
    to = function(y) {
      near <- inside(y)
      layer$to(near) + ifelse(near == y, 0, (y - near) * exp(layer$log_slope(near)))
    },
    from = function(z) {
      y <- layer$from(z)
      near <- inside(y)
      ifelse(near == y, y, near + (z - layer$to(near)) / exp(layer$log_slope(near)))
    },
    log_slope = function(y) layer$log_slope(inside(y))
  )
}

scale_layers <- function(scale) {
  second <- if (is.null(scale$groups)) bend_layer(scale) else group_layer(scale$groups)
  list(straightened(support_layer(scale), scale$ends), straightened(second, scale$bend_ends))
}

to_scale <- function(scale, y) {
  inside <- y > scale$support[[1L]] & y < scale$support[[2L]]
  z <- ifelse(y <= scale$support[[1L]], -Inf, Inf)
  y <- y[inside]
  for (layer in scale_layers(scale)) y <- layer$to(y)
  z[inside] <- y
  z
}

from_scale <- function(scale, z) {
  for (layer in rev(scale_layers(scale))) z <- layer$from(z)
  z
}

# The log of the derivative of to_scale(); -Inf outside of the support.
log_slope <- function(scale, y) {
  inside <- y > scale$support[[1L]] & y < scale$support[[2L]]
  slope <- ifelse(inside, 0, -Inf)
  y <- y[inside]
  for (layer in scale_layers(scale)) {
    slope[inside] <- slope[inside] + layer$log_slope(y)
    y <- layer$to(y)
  }
  slope
}

# Sets how far the formulas go: one standard deviation beyond the data, on the side of a bound for ever.
with_ends <- function(scale, y) {
  layers <- scale_layers(scale)
  z <- to_scale(scale, y)
  margin <- sqrt(mean((z - mean(z))^2))
  bend_ends <- layers[[2L]]$from(range(z) + c(-margin, margin))
  bounded <- is.finite(scale$support)
  if (sum(bounded) == 1L) scale$ends[!bounded] <- layers[[1L]]$from(bend_ends)[!bounded]
  if (scale$bends || !is.null(scale$groups)) scale$bend_ends <- bend_ends
  scale
}

quartile_deviation <- function(y) diff(stats::quantile(y, c(0.25, 0.75), names = FALSE)) / (2 * stats::qnorm(0.75))

# At most 400 quantiles stand for the data, and the likelihood of a scale is that of a normal law on it.
sorted_data <- function(y) {
  if (length(y) > 400L) stats::quantile(y, stats::ppoints(400L), names = FALSE) else sort(y)
}
normal_likelihood <- function(z, log_slope) mean(log_slope) - log(sqrt(mean((z - mean(z))^2)))

# The softness at which the data look most like a normal law. On a log, gamma data get a right tail that is too long.
soften_log <- function(scale, y) {
  if (sum(is.finite(scale$support)) != 1L) return(NULL)
  y <- sorted_data(y)
  distance <- abs(y - scale$support[is.finite(scale$support)])
  value <- function(softness) {
    scale$softness <- softness
    layer <- support_layer(scale)
    normal_likelihood(layer$to(y), layer$log_slope(y))
  }
  tried <- c(Inf, stats::median(distance) * 2^(-3:3))
  scale$softness <- tried[[which.max(vapply(tried, value, 0))]]
  if (is.finite(scale$softness)) scale
}

# In units of their quartiles, so that the unit of the data does not matter. NULL for ties.
quartile_units <- function(scale, y) {
  y <- sorted_data(scale_layers(scale)[[1L]]$to(y))
  unit <- quartile_deviation(y)
  middle <- stats::median(y)
  if (unit > 1e-12 * max(abs(y))) list(t = (y - middle) / unit, middle = middle, unit = unit)
}

find_bend <- function(scale, y) {
  data <- quartile_units(scale, y)
  if (is.null(data)) return(NULL)
  tried <- expand.grid(center = seq(-4, 4, 0.25), width = 2^seq(-3, 2, 0.5))
  value <- mapply(function(center, width) {
    w <- (data$t - center) / width
    normal_likelihood(asinh(w), -log1p(w^2) / 2 - log(width))
  }, tried$center, tried$width)
  best <- which.max(value)
  if (value[[best]] > normal_likelihood(data$t, 0) + 2 / length(y)) {
    with_parts(scale, bends = TRUE, center = data$middle + data$unit * tried$center[[best]],
      width = data$unit * tried$width[[best]])
  }
}

# How many values lie far out at the lower and at the upper end: a tenth at most, and on the scale of the support more
# than `ratio` times as far from the median as the one before.
far_values <- function(y, support, ratio) {
  y <- y[y > support[[1L]] & y < support[[2L]]]
  y <- if (length(y)) sort(support_layer(new_scale(support))$to(y))
  n <- length(y)
  if (n < 3L || !(quartile_deviation(y) > 1e-12 * max(abs(y)))) return(c(0L, 0L))
  k <- seq_len(max(1L, n %/% 10L))
  vapply(c(-1, 1), function(sign) {
    distance <- sort(sign * (y - stats::median(y)))
    apart <- distance[n + 1L - k] / pmax(distance[n - k], quartile_deviation(y))
    if (max(apart) > ratio) which.max(apart) else 0L
  }, 0L)
}

# Values far more frequent than their neighbours, on a bound of the support, or far out: list(value, count), or NULL.
find_point_masses <- function(y, support) {
  values <- sort(unique(y))
  count <- tabulate(match(y, values), length(values))
  far <- far_values(y, support, 8)
  atom <- values %in% c(support, utils::head(sort(y), far[[1L]]), utils::tail(sort(y), far[[2L]]))
  repeat {
    rest <- which(!atom)
    if (length(rest) < 5L) break
    k <- length(rest)
    padded <- c(0, 0, count[rest], 0, 0)
    beside <- padded[seq_len(k)] + padded[seq_len(k) + 1L] + padded[seq_len(k) + 3L] + padded[seq_len(k) + 4L]
    near <- beside / (pmin(seq_len(k) - 1L, 2L) + pmin(k - seq_len(k), 2L))
    others <- (sum(count[rest]) - count[rest]) / (k - 1)
    found <- count[rest] >= pmax(6 * pmax(near, others) - 3, 0.05 * length(y))
    if (!any(found)) break
    atom[rest[found][[which.max(count[rest[found]])]]] <- TRUE
  }
  if (any(atom)) list(value = values[atom], count = count[atom])
}

draw_shares <- function(fit, count, rest) {
  .Call(C_predictive_urn, as.double(count), as.double(rest), 0, 1L, 0, fit$count, fit$seed)$weight
}

# The prediction after the data in place of the resamples.
predicted_atoms <- function(fit) {
  if (is.null(fit$atoms)) return(NULL)
  n <- sum(fit$atoms$count) + nrow(fit$data$y)
  list(value = fit$atoms$value, weight = rbind(fit$atoms$count / n), density = nrow(fit$data$y) / n)
}

atoms_of <- function(atoms, r) {
  if (is.null(atoms)) return(NULL)
  list(value = atoms$value, weight = atoms$weight[r, , drop = FALSE], density = atoms$density[r])
}

# Draws x points, with atoms. On a bound of the support exactly 0 or 1, where copulas' clipped probabilities leave 1e-6.
complete_cdf <- function(fit, cdf, points, atoms = fit$atoms) {
  if (is.null(fit$scale)) return(cdf)
  cdf[, points <= fit$scale$support[[1L]]] <- 0
  cdf[, points >= fit$scale$support[[2L]]] <- 1
  if (is.null(atoms)) return(cdf)
  cdf <- cdf * atoms$density
  for (j in seq_along(atoms$value)) {
    cdf <- cdf + outer(rep_len(atoms$weight[, j], nrow(cdf)), as.double(points >= atoms$value[[j]]))
  }
  cdf
}

# Grids with each atom as a repeated point: list(points, cdf), draws x points.
grid_with_atoms <- function(atoms, points, cdf) {
  if (is.null(atoms)) return(list(points = points, cdf = cdf))
  k <- length(atoms$value)
  m <- ncol(points) + 2L * k
  both <- vapply(seq_len(nrow(points)), function(r) {
    at <- c(points[r, ], rep(atoms$value, each = 2L))
    order <- order(at)
    below <- c(cdf[r, ], rep(vapply(atoms$value, grid_cdf, 0, points = points[r, ], cdf = cdf[r, ]), each = 2L))
    jump <- c(numeric(ncol(points)), as.vector(rbind(0, atoms$weight[r, ])))
    c(at[order], (below * atoms$density[[r]])[order] + cumsum(jump[order]))
  }, numeric(2L * m))
  list(points = t(both[seq_len(m), , drop = FALSE]), cdf = t(both[m + seq_len(m), , drop = FALSE]))
}

# Copulas start from a normal law and fill the space between groups slowly. So the scale is Phi^-1 of the distribution
# function of two normal laws. Each resample has groups of its own.

# Groups have a row for each resample. The values of a layer belong to the rows in turn, as many to each.
group_columns <- c("odds", "mean1", "mean2", "log_sd1", "log_sd2")

group_layer <- function(groups) {
  parts <- function(y) {
    of <- lapply(seq_len(ncol(groups)), function(j) rep(groups[, j], each = length(y) / nrow(groups)))
    sd <- lapply(of[4:5], exp)
    list(share = stats::plogis(of[[1L]]), mean = of[2:3], sd = sd, z = Map(function(m, s) (y - m) / s, of[2:3], sd))
  }
  mixed <- function(of, f) of$share * f(of$z[[1L]]) + (1 - of$share) * f(of$z[[2L]])
  curve <- function(y) {
    of <- parts(y)
    below <- mixed(of, stats::pnorm)
    above <- mixed(of, function(z) stats::pnorm(z, lower.tail = FALSE))
    z <- sign(below - above) * abs(stats::qnorm(pmin(below, above)))
    of$z <- Map(function(z, s) stats::dnorm(z, log = TRUE) - log(s), of$z, of$sd)
    largest <- pmax(of$z[[1L]], of$z[[2L]])
    list(to = z, log_slope = largest + log(mixed(of, function(log) exp(log - largest))) - stats::dnorm(z, log = TRUE))
  }
  list(to = function(y) curve(y)$to, log_slope = function(y) curve(y)$log_slope,
    from = function(z) {
      # The quantile of a mixture lies between those of its parts. Newton's steps are bisections where they leave that.
      of <- parts(z)
      low <- pmin(of$mean[[1L]] + of$sd[[1L]] * z, of$mean[[2L]] + of$sd[[2L]] * z)
      high <- pmax(of$mean[[1L]] + of$sd[[1L]] * z, of$mean[[2L]] + of$sd[[2L]] * z)
      y <- (low + high) / 2
      for (i in seq_len(100L)) {
        at <- curve(y)
        low <- ifelse(at$to <= z, y, low)
        high <- ifelse(at$to >= z, y, high)
        move <- (z - at$to) / exp(at$log_slope)
        now <- y + move
        now <- ifelse(is.finite(now) & now >= low & now <= high, now, (low + high) / 2)
        done <- all(abs(now - y) <= 1e-12 * (abs(low) + abs(high) + of$sd[[1L]]))
        y <- now
        if (done) break
      }
      y
    }
  )
}

# Two normal laws by EM; NULL unless groups leave a smaller share of the variance within them than normal samples do.
find_mixture <- function(scale, y) {
  n <- length(y)
  data <- quartile_units(scale, y)
  if (n < 20L || is.null(data)) return(NULL)
  t <- data$t
  least <- 2.5 / n
  split <- split_share(t, least = least)
  if (split[[1L]] >= group_limit(n)) return(NULL)
  first <- as.double(seq_along(t) <= round(length(t) * split[[2L]]))
  found <- NULL
  for (i in seq_len(500L)) {
    share <- mean(first)
    if (share < least || share > 1 - least) return(NULL)
    means <- c(mean(first * t) / share, mean((1 - first) * t) / (1 - share))
    sds <- sqrt(c(mean(first * (t - means[[1L]])^2) / share, mean((1 - first) * (t - means[[2L]])^2) / (1 - share)))
    # A group of ties is no normal law.
    if (min(sds) < 0.1 * max(sds) || min(sds) < 1e-6) return(NULL)
    now <- c(stats::qlogis(share), means, log(sds))
    if (!is.null(found) && max(abs(now - found)) < 1e-8) break
    found <- now
    first <- stats::plogis(found[[1L]] + stats::dnorm(t, means[[1L]], sds[[1L]], log = TRUE) -
      stats::dnorm(t, means[[2L]], sds[[2L]], log = TRUE))
  }
  unit <- rep(data$unit, 2L)
  found <- found * c(1, unit, 1, 1) + c(0, rep(data$middle, 2L), log(unit))
  with_parts(scale, groups = matrix(found, 1L, dimnames = list(NULL, group_columns)))
}

# The derivatives of each value's log density by the columns of groups, n x 5.
group_scores <- function(groups, x) {
  share <- stats::plogis(groups[[1L]])
  sd <- exp(groups[4:5])
  z <- cbind((x - groups[[2L]]) / sd[[1L]], (x - groups[[3L]]) / sd[[2L]])
  first <- stats::plogis(groups[[1L]] + stats::dnorm(z[, 1L], log = TRUE) - log(sd[[1L]]) -
    stats::dnorm(z[, 2L], log = TRUE) + log(sd[[2L]]))
  cbind(first - share, first * z[, 1L] / sd[[1L]], (1 - first) * z[, 2L] / sd[[2L]], first * (z[, 1L]^2 - 1),
    (1 - first) * (z[, 2L]^2 - 1))
}

# The share of the variance within the two groups of the best split, and the weight of the first.
split_share <- function(z, weight = rep(1 / length(z), length(z)), least = 0.15) {
  order <- order(z)
  below <- cumsum(weight[order])
  z <- z[order] - sum(weight * z)
  between <- cumsum(weight[order] * z)^2 / (below * (1 - below))
  between[below < least | below > 1 - least] <- 0
  best <- which.max(between)
  c(max(0, 1 - between[[best]] / sum(weight[order] * z^2)), below[[best]])
}

# 1% of normal samples of 25 or more have a smaller share, by the best of these directions for `d` variables.
group_limit <- function(n, d = 1L) 1 - 2 / pi - (if (d < 3L) 1 else 1.15) / sqrt(n)

# The data of one variable in its units, without point masses.
own_units <- function(fit) from_scale(fit$scale, fit$standard$center + fit$standard$scale * drop(fit$data$y))

# The fit as its prediction after the data, or as one of its resamples, for inner_places().
as_one <- function(fit, r = NULL) {
  calibration <- fit$calibration
  moved <- c("shift", "stretch")
  calibration[moved] <- if (is.null(r)) list(NULL) else lapply(calibration[moved], `[`, r)
  calibration["groups"] <- list(if (!is.null(r)) calibration$groups[r, , drop = FALSE])
  with_parts(fit, count = 1L, calibration = calibration)
}
