# Densities in two groups. The copulas start from a normal law and fill the space between groups for a
# long time: 200 values from two normal laws of deviation 1 whose means are 5.7 apart were given 6 times the true
# density halfway. So the scale is Phi^-1 of the distribution function of two normal laws, on which such data look
# normal. Each resample has groups of its own, from the weights of a Bayesian bootstrap.

# Groups: a matrix with the columns of group_columns and a row for each resample. The values of a layer belong to the
# rows in turn, as many to each.
group_columns <- c("odds", "mean1", "mean2", "log_sd1", "log_sd2")

# As the layers of R/predictive_scale.R, straight beyond `ends`.
group_layer <- function(groups, ends) {
  each <- function(y, of) lapply(seq_len(ncol(of)), function(j) rep(of[, j], each = length(y) / nrow(of)))
  parts <- function(y) {
    of <- each(y, groups)
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
  inside <- function(y) pmin(pmax(y, ends[[1L]]), ends[[2L]])
  list(
    to = function(y) {
      near <- inside(y)
      at <- curve(near)
      at$to + ifelse(near == y, 0, (y - near) * exp(at$log_slope))
    },
    log_slope = function(y) curve(inside(y))$log_slope,
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
      near <- inside(y)
      at <- curve(near)
      ifelse(near == y, y, near + (z - at$to) / exp(at$log_slope))
    }
  )
}

# Two normal laws for data that fall into two groups, by the EM algorithm, or NULL. There are groups if two of at least
# 15% of the data leave a smaller share of the variance within them than `limit`.
find_mixture <- function(scale, y, limit = group_limit(length(y))) {
  n <- length(y)
  x <- sorted_data(through(scale_layers(scale)[1:2], y))
  middle <- stats::median(x)
  unit <- quartile_deviation(x)
  if (n < 20L || !(unit > 1e-12 * max(abs(x)))) return(NULL)
  t <- (x - middle) / unit
  split <- split_share(t, rep(1 / length(t), length(t)))
  if (split[[1L]] >= limit) return(NULL)
  first <- as.double(seq_along(t) <= round(length(t) * split[[2L]]))
  found <- NULL
  for (i in seq_len(500L)) {
    share <- mean(first)
    if (share < 0.1 || share > 0.9) return(NULL)
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
  scale$groups <- matrix(found * c(1, unit, unit, 1, 1) + c(0, middle, middle, log(unit), log(unit)), 1L,
    dimnames = list(NULL, group_columns))
  scale
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

# The groups of resamples: one step of Newton's method from those of the data x, with the weights of a Bayesian
# bootstrap. Five estimated parameters make their deviations sqrt(n/(n - 5)) times as large.
draw_groups <- function(fit, groups, x, run) {
  groups <- drop(groups)
  n <- length(x)
  # In units in which all five are near 1.
  unit <- c(1, exp(groups[4:5]), 1, 1)
  information <- vapply(seq_along(groups), function(j) {
    step <- 1e-4 * unit[[j]] * (seq_along(groups) == j)
    (colSums(group_scores(groups - step, x)) - colSums(group_scores(groups + step, x))) * unit / 2e-4
  }, groups)
  inverse <- tryCatch(chol2inv(chol(information)), error = pass_on)
  if (is.null(inverse)) return(NULL)
  influence <- sweep(group_scores(groups, x), 2L, unit, "*") %*% inverse
  drawn <- bootstrap_sums(fit, sqrt(n / (n - 5)) * influence, run)
  # At most 400 quantiles stood for the data before.
  groups <- groups + unit * colSums(influence)
  drawn <- sweep(sweep(drawn, 2L, unit, "*"), 2L, groups, "+")
  colnames(drawn) <- group_columns
  drawn
}

# The user's points in each resample, and the log of the slope there, points x draws.
group_places <- function(fit, scale, at) {
  by_groups <- function(what) {
    in_parts(fit, at$before, function(before, groups) group_layer(groups, scale$bend_ends)[[what]](before))
  }
  list(to = pmin(pmax(by_groups("to"), -1e300), 1e300), slope = at$slope_before + by_groups("log_slope"))
}

# The values of `compute(values, groups)` for each resample's groups, values x draws; a few resamples at a time, since
# the layer needs many times its values.
in_parts <- function(fit, values, compute) {
  draws <- seq_len(fit$count)
  parts <- split(draws, (draws - 1L) %/% max(1, floor(4e5 / length(values))))
  found <- lapply(unname(parts), function(r) {
    matrix(compute(rep(values, length(r)), fit$calibration$groups[r, , drop = FALSE]), ncol = length(r))
  })
  do.call(cbind, found)
}

# Where the groups lie: exact if nothing but a straight line comes before them.
group_words <- function(scale) {
  groups <- drop(scale$groups)
  at <- back_through(scale_layers(scale)[1:2], groups[2:3])
  share <- 100 * stats::plogis(c(1, -1) * groups[[1L]])
  sprintf("the scale of two groups, %s%% about %s and %s%% about %s", figure(share[[1L]]), figure(at[[1L]]),
    figure(share[[2L]]), figure(at[[2L]]))
}
