# The verdict of a martingale posterior. A model's record has the functions that give its reasons; the first word of a
# code is what the reason is about.

figure <- function(value) format(signif(value, 2), scientific = FALSE, trim = TRUE)

#' @export
verdict.martingale_posterior <- function(x, ...) {
  check_method(x, "x", ...)
  of_model <- lapply(record(x)$reasons, function(reasons) reasons(x))
  new_verdict("the martingale posterior", horizon_reason(x), unlist(of_model, recursive = FALSE), missing_reason(x))
}

# Intervals are too narrow if more than 5% of the variance is left out.
horizon_reason <- function(fit) {
  if (has_stopped(fit)) {
    why <- if (is_text(fit$failure, 1L)) sprintf("Stopped by an error (%s)", fit$failure) else "Interrupted"
    if (record(fit)$limit == "never") {
      return(reason("horizon_stopped", Why = why, steps = format(fit$horizon, big.mark = ",")))
    }
    return(reason("horizon_broken", Why = why, count = whole_words(fit$count), asked = whole_words(fit$asked)))
  }
  if (isTRUE(fit$capped > 0)) {
    return(reason("horizon_capped", figure = fit$capped, capped = whole_words(fit$capped),
      count = whole_words(fit$count)))
  }
  if (fit$remaining == 0) return(reason("horizon_limit"))
  is_short <- !isTRUE(fit$remaining <= 0.05)
  if (fit$horizon == 0) {
    drawn <- c(if (!is.null(fit$calibration$stretch)) "location and scale", if (!is.null(fit$trend)) "slopes")
    what <- paste0(if (is.null(drawn)) "all" else "the", " resamples are the prediction after the data",
      if (!is.null(drawn)) sprintf(", with %s drawn", drawn[[1L]]))
    return(reason(if (is_short) "horizon_zero" else "horizon_drawn", what = what))
  }
  reason(if (is_short) "horizon_short" else "horizon_long", figure = fit$remaining,
    share = format(100 * signif(fit$remaining, 2), trim = TRUE))
}

missing_reason <- function(fit) {
  lacking <- sum(rowSums(is.na(fit$draws)) > 0)
  if (lacking > 0) {
    reason("missing_draws", figure = lacking, lacking = whole_words(lacking), count = whole_words(nrow(fit$draws)))
  }
}

# The width of the posterior of a calibrated density, or of one variable.
width_reasons <- function(fit) {
  width <- fit$calibration$width
  on_scale <- if (isTRUE(fit$scale$bends) || any(is.finite(fit$scale$support))) " on that scale" else ""
  words <- sprintf("about %s times as wide as s/sqrt(n)%s", paste(unique(figure(range(width))), collapse = " to "),
    on_scale)
  if (is_placed(fit)) {
    return(c(few_reason(fit), reason("bandwidth_width", figure = max(width), means = length(width), width = words)))
  }
  code <- if (width < 0.8) "bandwidth_narrow" else if (width > 1.25) "bandwidth_wide" else "bandwidth_right"
  reason(code, figure = width, width = words, rho = figure(fit$rho))
}

# Near a normal law: see the head of R/predictive_calibration.R.
densities_bandwidth <- function(fit) {
  if (is_placed(fit)) return(width_reasons(fit))
  c(reason("bandwidth_uncalibrated", figure = 2 * max(fit$rho),
    of = if (ncol(fit$data$y) < 4L) "" else " of more than three variables",
    times = paste(figure(unique(2 * range(fit$rho))), collapse = " to ")),
  small_reason(fit, "a mean"), large_reason(fit))
}

regression_bandwidth <- function(fit) c(small_reason(fit, "a mean"), large_reason(fit))

classes_bandwidth <- function(fit) {
  c(
    if (is.null(fit$data$start)) small_reason(fit, "a probability") else if (fit$rho < 0.1) {
      reason("bandwidth_odds", figure = fit$rho, rho = figure(fit$rho))
    },
    large_reason(fit)
  )
}

bootstrap_reasons <- function(fit) {
  if (fit$n < 10L) reason("unsupported_within", figure = fit$n, count = count_words(fit$n, "value"))
}

# Student's t of so few degrees of freedom has no fourth moment.
few_reason <- function(fit) {
  n <- nrow(fit$data$y)
  if (n < 5L) reason("unsupported_few", figure = n, count = count_words(n, "value"))
}

small_reason <- function(fit, what) {
  least <- min(fit$rho)
  if (least < 0.4) reason("bandwidth_small", figure = least, rho = figure(least), what = what)
}

large_reason <- function(fit) {
  chosen <- c(if (is.null(fit$model$rho)) fit$rho, if (is.null(fit$model$rho_x)) fit$rho_x)
  if (any(chosen >= rho_ends[[2L]] - 1e-4)) reason("bandwidth_large", figure = max(chosen))
}

# How much of the predicted density lies beyond the points that the user chose.
points_reason <- function(fit) {
  if (length(fit$points) < 2L) return(NULL)
  # A point mass on the first point does not lie beyond it.
  beyond <- 1 - diff(range(fit$cdf0)) - sum(predicted_atoms(fit)$weight[fit$atoms$value == min(fit$points)])
  if (beyond < 0.01) return(NULL)
  reason("beyond_points", figure = beyond, share = figure(100 * beyond))
}

axes_reason <- function(fit) {
  if (is.null(fit$axes)) return(NULL)
  reason("scale_axes", figure = fit$axes_gain, gain = figure(fit$axes_gain), bend = if (!is.null(fit$bend)) {
    sprintf(", one of them less a quadratic curve in %s", fit$standard$names[[fit$bend$from]])
  } else "")
}

# The scale of a density of one variable, its atoms, and what the support could be.
scale_reasons <- function(fit) {
  c(atoms_reasons(fit), density_scale_reason(fit$scale), density_support_reason(fit))
}

atoms_reasons <- function(fit) {
  atoms <- fit$atoms
  if (is.null(atoms)) return(NULL)
  ends <- apply(atoms$weight, 2L, stats::quantile, probs = c(0.05, 0.95), names = FALSE)
  shown <- utils::head(seq_along(atoms$value), 3L)
  of_each <- lapply(shown, function(j) {
    reason("scale_atom", figure = atoms$count[[j]], count = whole_words(atoms$count[[j]]), all = whole_words(fit$n),
      value = format(atoms$value[[j]]), low = figure(ends[1L, j]), high = figure(ends[2L, j]))
  })
  more <- length(atoms$value) - 3L
  c(unlist(of_each, recursive = FALSE), if (more > 0L) reason("scale_atoms", figure = more, more = more),
    reason("scale_rest"))
}

density_scale_reason <- function(scale) {
  if (is.null(scale$gain)) return(NULL)
  reason("scale_bent", figure = scale$gain, gain = figure(scale$gain),
    scale = if (!is.null(scale$groups)) group_words(scale) else {
      sprintf("the scale asinh((y %s %s)/%s)", if (scale$center < 0) "+" else "-", figure(abs(scale$center)),
        figure(scale$width))
    })
}

# A bound that all data respect and the prediction does not.
density_support_reason <- function(fit) {
  if (any(is.finite(fit$scale$support)) || nrow(fit$data$y) < 2L) return(NULL)
  y <- range(own_units(fit), fit$atoms$value)
  if (y[[1L]] < 0) return(NULL)
  places <- drop(inner_places(as_one(fit)))
  below <- function(bound) grid_cdf(places, fit$inner$cdf0, bound)
  in_unit <- y[[2L]] <= 1
  outside <- below(0) + (if (in_unit) 1 - below(1) else 0)
  if (!is.null(fit$atoms)) outside <- outside * predicted_atoms(fit)$density
  if (outside < 0.01) return(NULL)
  reason("scale_support", figure = outside, share = figure(100 * outside),
    where = if (in_unit) "in [0, 1]" else "at least 0", end = if (in_unit) "1" else "Inf")
}

# Quantities that tails decide which the data hardly show. `tail_share`: of the predicted mean deviation and variance,
# the parts of the 5% of values that are farthest from the mean. Above these limits intervals are too narrow: those of
# the standard deviation covered 72% for a lognormal law, where the share is above its limit in 98% of 100 sets.
tail_limits <- c(deviation = 0.25, variance = 0.45)

density_unsupported <- function(fit) {
  if (!is_placed(fit) || is.function(fit$functional)) return(NULL)
  names <- colnames(fit$draws)
  linear <- names[grepl("^(mean|gini|tail_mean.*)$", names)]
  square <- intersect(c("sd", "variance"), names)
  far <- far_reason(fit, c(linear, square))
  if (is.null(far)) tail_reasons(linear, square, tail_share(fit), fit$n) else far
}

# What such values decide: moments, and the quantiles that they may be, since so large could their share be.
far_reason <- function(fit, moments) {
  far <- far_values(c(own_units(fit), rep(fit$atoms$value, fit$atoms$count)), fit$scale$support, 4)
  share <- stats::qbeta(0.95, far + 1, fit$n - far) * (far > 0)
  names <- grep("^(median|q[0-9.]+)$", colnames(fit$draws), value = TRUE)
  probs <- as.double(sub("q", "", sub("median", "50", names))) / 100
  named <- c(moments, names[probs <= share[[1L]] | probs >= 1 - share[[2L]]])
  if (sum(far) && length(named)) {
    reason("unsupported_far", quantity = named, figure = sum(far), far = sum(far), count = whole_words(fit$n))
  }
}

tail_reasons <- function(linear, square, share, n, of = "predicted ") {
  named <- function(names, part, what) {
    if (!length(names) || share[[part]] <= tail_limits[[part]]) return(NULL)
    reason("unsupported_tail", quantity = names, figure = share[[part]], share = figure(100 * share[[part]]),
      what = paste0(of, what), count = whole_words(n))
  }
  c(named(linear, "deviation", "mean deviation"), named(square, "variance", "variance"))
}

# The same for each of several variables, by the shares of the data: their copulas are on no scale that has the tails.
several_unsupported <- function(fit) {
  if (!is_placed(fit) || is.function(fit$functional)) return(NULL)
  names <- colnames(fit$draws)
  if (is.null(fit$functional)) return(c(smoothed_reason(fit, names), split_reason(fit$calibration$split)))
  of <- sub("^[^[]*", "", names)
  y <- off_axes(fit, fit$data$y)
  columns <- fit$standard$names
  unlist(lapply(seq_along(columns), function(j) {
    # A correlation of two variables has no columns in its name.
    pairs <- c("", sprintf("[%s,%s]", columns[[j]], columns), sprintf("[%s,%s]", columns, columns[[j]]))
    own <- names[of %in% c(pairs, sprintf("[%s]", columns[[j]]))]
    tail_reasons(grep("^(mean|gini|tail_mean)", own, value = TRUE),
      grep("^(sd|variance|correlation)", own, value = TRUE), share_of_tails(y[, j], rep(1 / fit$n, fit$n)), fit$n, "")
  }), recursive = FALSE)
}

smoothed_reason <- function(fit, names) {
  smoothed <- fit$calibration$smoothed
  found <- which(!is.na(smoothed$expected))
  shown <- utils::head(found, 3L)
  if (!length(shown)) return(NULL)
  reason("unsupported_smooth", quantity = names[found], figure = max(smoothed$expected[found]),
    shown = paste0(paste(names[shown], collapse = ", "), if (length(found) > 3L) ", ..."),
    expected = figure(smoothed$expected[shown]), near = whole_words(smoothed$near))
}

split_reason <- function(groups) {
  if (isTRUE(groups$few)) {
    reason("unsupported_split", figure = groups$share, sizes = paste(groups$size, collapse = " and "),
      share = figure(100 * groups$share), predicted = figure(100 * groups$predicted))
  }
}

# Of the prediction after the data, and of values with a probability `mass` each.
tail_share <- function(fit) {
  grid <- grid_with_atoms(predicted_atoms(fit), inner_places(as_one(fit)), rbind(fit$inner$cdf0))
  m <- ncol(grid$points)
  share_of_tails((grid$points[-1L] + grid$points[-m]) / 2, pmax(diff(drop(grid$cdf)), 0))
}

share_of_tails <- function(y, mass) {
  distance <- abs(y - sum(mass * y) / sum(mass))
  order <- order(distance, decreasing = TRUE)
  before <- cumsum(mass[order]) - mass[order]
  tail <- pmin(mass[order], pmax(0, 0.05 - before))
  distance <- distance / max(distance)
  c(deviation = sum(tail * distance[order]) / sum(mass * distance),
    variance = sum(tail * distance[order]^2) / sum(mass * distance^2))
}

# What the covariates and the mean function add to the score.
covariates_reasons <- function(fit) {
  gain <- fit$covariate_gain
  c(reason("covariates_gain", figure = gain, gain = figure(max(gain, 0)),
    end = if (gain * fit$n < 2) ": the data hardly speak for a dependence on them." else "."), mean_reason(fit),
  beyond_reason(fit))
}

# `points` at which a fit predicts, with the columns `x` of covariates, as standardised as the data's.
beyond_reason <- function(fit, x = point_rows(fit, fit$at, NROW(fit$points))) {
  rows <- rows_beyond(fit, x)
  if (!length(rows)) return(NULL)
  reason("covariates_beyond", quantity = rows, figure = length(rows), count = whole_words(length(rows)),
    shown = paste0(paste(utils::head(rows, 3L), collapse = ", "), if (length(rows) > 3L) ", ..."),
    where = beyond_words(fit, x[rows[[1L]], ]),
    band = if (is.null(fit$trend)) "does not grow there" else "grows as the slopes say, if its shape goes on")
}

# The covariates that lie outside of their range, at one point.
beyond_words <- function(fit, x) {
  own <- function(x, j) format(signif(fit$standard_x$center[[j]] + fit$standard_x$scale[[j]] * x, 4), trim = TRUE)
  ends <- apply(fit$data$x, 2L, range)
  out <- which(x < ends[1L, ] | x > ends[2L, ])
  if (!length(out)) return("each covariate within its range, but not together")
  paste(sprintf("%s = %s, in the data %s to %s", colnames(fit$data$x)[out], mapply(own, x[out], out),
    mapply(own, ends[1L, out], out), mapply(own, ends[2L, out], out)), collapse = "; ")
}

# Where the mean function is too smooth for the data.
smoothed_mean_reasons <- function(fit) {
  names <- colnames(fit$data$x)
  most <- if (isTRUE(fit$trend$most_knots)) which.max(lengths(fit$trend$knots))
  jump <- fit$jump
  c(
    if (!is.null(jump)) {
      unit <- fit$standard_x$scale[[jump$column]]
      at <- round(fit$standard_x$center[[jump$column]] + unit * jump$at, 1 - floor(log10(unit)))
      reason("unsupported_jump", quantity = names[[jump$column]], figure = at, at = format(at, digits = 12),
        gain = figure(jump$gain))
    },
    if (length(most)) {
      knots <- fit$trend$knots[[most]]
      reason("unsupported_curve", quantity = names[[most]], figure = length(knots), knots = length(knots),
        apart = figure(diff(range(knots)) / (length(knots) - 1) * fit$standard_x$scale[[most]]))
    }
  )
}

mean_reason <- function(fit) {
  trend <- fit$trend
  is_class <- !is.null(fit$classes)
  if (!is.null(fit$columns)) {
    few <- if (is_class) "members of the rarer class than" else "than five observations for each of the"
    return(reason("covariates_many", figure = fit$columns, few = few, columns = fit$columns))
  }
  if (is.null(trend)) return(NULL)
  reason("covariates_mean", what = if (is_class) "lie log odds" else "lies a mean",
    curves = if (inherits(fit$model$mean, "formula")) deparse1(fit$model$mean) else {
      paste0(if (is.null(trend$knots)) "straight lines" else "natural cubic splines", paste(sprintf(" and %s * %s",
        colnames(fit$data$x)[trend$pairs[, 1L]], colnames(fit$data$x)[trend$pairs[, 2L]]), collapse = ""))
    }, slopes = count_words(trend$rank, "slope"),
    without = if (is.null(trend$gain)) "" else sprintf("; without this the score is lower by %s", figure(trend$gain)))
}

joint_reason <- function(fit) {
  distinct <- apply(fit$data$x, 2L, function(x) length(unique(x)))
  few <- which(distinct <= min(20, fit$n / 2))
  if (length(few) == 0L) return(NULL)
  few <- few[[1L]]
  reason("covariates_distinct", quantity = colnames(fit$data$x)[[few]], figure = distinct[[few]],
    distinct = distinct[[few]])
}

# Where the groups lie: exact if nothing but a straight line comes before them.
group_words <- function(scale) {
  groups <- drop(scale$groups)
  at <- scale_layers(scale)[[1L]]$from(groups[2:3])
  share <- 100 * stats::plogis(c(1, -1) * groups[[1L]])
  sprintf("the scale of two groups, %s%% about %s and %s%% about %s", figure(share[[1L]]), figure(at[[1L]]),
    figure(share[[2L]]), figure(at[[2L]]))
}
