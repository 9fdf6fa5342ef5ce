# The verdict of a martingale posterior. A model's record has the functions that give its reasons.

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
    return(if (record(fit)$limit == "never") {
      reason("horizon_stopped", Why = why, steps = format(fit$horizon, big.mark = ","))
    } else {
      reason("horizon_broken", Why = why, count = whole_words(fit$count), asked = whole_words(fit$asked))
    })
  }
  capped <- fit$capped
  if (isTRUE(capped > 0)) {
    return(reason("horizon_capped", figure = capped, capped = whole_words(capped), count = whole_words(fit$count)))
  }
  if (fit$remaining == 0) return(reason("horizon_limit"))
  is_short <- !isTRUE(fit$remaining <= 0.05)
  if (fit$horizon == 0) {
    drawn <- if (is_placed(fit)) "location and scale" else if (!is.null(fit$trend)) "slopes"
    what <- paste0(if (is.null(drawn)) "all" else "the", " resamples are the prediction after the data",
      if (!is.null(drawn)) sprintf(", with %s drawn", drawn))
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

width_reasons <- function(fit) {
  width <- fit$calibration$width
  on_scale <- if (isTRUE(fit$scale$bends) || any(is.finite(fit$scale$support))) " on that scale" else ""
  words <- sprintf("about %s times as wide as s/sqrt(n)%s", paste(unique(figure(range(width))), collapse = " to "),
    on_scale)
  n <- nrow(fit$data$y)
  if (is_placed(fit)) {
    # Student's t of so few degrees of freedom has no fourth moment.
    return(c(if (n < 5L) reason("unsupported_few", figure = n, count = count_words(n, "value")),
      reason("bandwidth_width", figure = max(width), means = length(width), width = words)))
  }
  code <- if (width < 0.8) "bandwidth_narrow" else if (width > 1.25) "bandwidth_wide" else "bandwidth_right"
  reason(code, figure = width, width = words, rho = figure(fit$rho))
}

densities_bandwidth <- function(fit) {
  if (is_placed(fit)) return(width_reasons(fit))
  c(reason("bandwidth_uncalibrated", figure = 2 * max(fit$rho),
    of = if (ncol(fit$data$y) < 4L) "" else " of more than three variables",
    times = paste(figure(unique(2 * range(fit$rho))), collapse = " to ")),
  small_reason(fit), large_reason(fit))
}

few_values_reason <- function(fit, least = 10L) {
  if (fit$n < least) reason("unsupported_within", figure = fit$n, count = count_words(fit$n, "value"))
}

small_reason <- function(fit) {
  least <- min(fit$rho)
  if (!is.null(fit$data$start)) {
    if (least < 0.1) reason("bandwidth_odds", figure = least, rho = figure(least))
  } else if (least < 0.4) {
    reason("bandwidth_small", figure = least, rho = figure(least),
      what = if (is.null(fit$classes)) "a mean" else "a probability")
  }
}

large_reason <- function(fit) {
  chosen <- c(if (is.null(fit$model$rho)) fit$rho, if (is.null(fit$model$rho_x)) fit$rho_x)
  if (any(chosen >= rho_ends[[2L]] - 1e-4)) reason("bandwidth_large", figure = max(chosen))
}

points_reason <- function(fit) {
  # A point mass on the first point does not lie beyond it.
  beyond <- 1 - diff(range(fit$cdf0)) - sum(predicted_atoms(fit)$weight[fit$atoms$value == min(fit$points)])
  if (length(fit$points) > 1L && beyond >= 0.01) reason("beyond_points", figure = beyond, share = figure(100 * beyond))
}

axes_reason <- function(fit) {
  bend <- if (is.null(fit$bend)) "" else {
    sprintf(", one of them less a quadratic curve in %s", fit$standard$names[[fit$bend$from]])
  }
  bent <- fit$standard$names[lengths(fit$scales) > 0L]
  c(if (length(bent)) {
    reason("scale_bent", figure = fit$scales_gain, gain = figure(fit$scales_gain),
      scale = paste("asinh scales of", paste(bent, collapse = " and ")))
  }, if (!is.null(fit$axes)) reason("scale_axes", figure = fit$axes_gain, gain = figure(fit$axes_gain), bend = bend))
}

atoms_reasons <- function(fit) {
  atoms <- fit$atoms
  if (is.null(atoms)) return(NULL)
  ends <- pointwise(atoms$weight, 0.9)
  of_each <- lapply(seq_len(min(3L, length(atoms$value))), function(j) {
    reason("scale_atom", figure = atoms$count[[j]], count = whole_words(atoms$count[[j]]), all = whole_words(fit$n),
      value = format(atoms$value[[j]]), low = figure(ends[1L, j]), high = figure(ends[2L, j]))
  })
  more <- length(atoms$value) - 3L
  c(unlist(of_each, recursive = FALSE), if (more > 0L) reason("scale_atoms", figure = more, more = more),
    reason("scale_rest"))
}

density_scale_reason <- function(fit) {
  scale <- fit$scale
  if (is.null(scale$gain)) return(NULL)
  words <- if (!is.null(scale$groups)) {
    # Exact if nothing but a straight line comes before the groups.
    at <- scale_layers(scale)[[1L]]$from(scale$groups[2:3])
    share <- 100 * stats::plogis(c(1, -1) * scale$groups[[1L]])
    sprintf("the scale of two groups, %s%% about %s and %s%% about %s", figure(share[[1L]]), figure(at[[1L]]),
      figure(share[[2L]]), figure(at[[2L]]))
  } else {
    sprintf("the scale asinh((y %s %s)/%s)", if (scale$center < 0) "+" else "-", figure(abs(scale$center)),
      figure(scale$width))
  }
  reason("scale_bent", figure = scale$gain, gain = figure(scale$gain), scale = words)
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

# The parts of mean deviation and variance in the 5% of values farthest from the mean that make intervals too narrow.
tail_limits <- c(deviation = 0.25, variance = 0.45)

density_unsupported <- function(fit) {
  if (!is_placed(fit) || is.function(fit$functional)) return(NULL)
  names <- colnames(fit$draws)
  # What far values decide: moments, and the quantiles that they may be, since so large could their share be.
  far <- far_values(c(own_units(fit), rep(fit$atoms$value, fit$atoms$count)), fit$scale$support, 4)
  share <- stats::qbeta(0.95, far + 1, fit$n - far) * (far > 0)
  quantiles <- grep("^(median|q[0-9.]+)$", names, value = TRUE)
  probs <- as.double(sub("q", "", sub("median", "50", quantiles))) / 100
  named <- c(grep(paste(tail_moments, collapse = "|"), names, value = TRUE),
    quantiles[probs <= share[[1L]] | probs >= 1 - share[[2L]]])
  if (sum(far) && length(named)) {
    return(reason("unsupported_far", quantity = named, figure = sum(far), far = sum(far), count = whole_words(fit$n)))
  }
  # Of the prediction after the data.
  grid <- grid_with_atoms(predicted_atoms(fit), inner_places(as_one(fit)), rbind(fit$inner$cdf0))
  m <- ncol(grid$points)
  mass <- pmax(diff(drop(grid$cdf)), 0)
  tail_reasons(names, share_of_tails((grid$points[-1L] + grid$points[-m]) / 2, mass), fit$n, "predicted ")
}

tail_moments <- c(deviation = "^(mean|gini|tail_mean)", variance = "^(sd|variance|correlation)")
tail_reasons <- function(names, share, n, of = "") {
  unlist(lapply(c("deviation", "variance"), function(part) {
    found <- grep(tail_moments[[part]], names, value = TRUE)
    if (!length(found) || share[[part]] <= tail_limits[[part]]) return(NULL)
    reason("unsupported_tail", quantity = found, figure = share[[part]], share = figure(100 * share[[part]]),
      what = paste0(of, if (part == "deviation") "mean ", part), count = whole_words(n))
  }), recursive = FALSE)
}

# The same for each of several variables, by the shares of the data: their copulas are on no scale that has the tails.
several_unsupported <- function(fit) {
  if (!is_placed(fit) || is.function(fit$functional)) return(NULL)
  names <- colnames(fit$draws)
  if (is.null(fit$functional)) return(smoothed_reasons(fit, names))
  of <- sub("^[^[]*", "", names)
  y <- off_axes(fit, fit$data$y)
  columns <- fit$standard$names
  unlist(lapply(seq_along(columns), function(j) {
    # A correlation of two variables has no columns in its name.
    pairs <- c("", sprintf("[%s,%s]", columns[[j]], columns), sprintf("[%s,%s]", columns, columns[[j]]))
    tail_reasons(names[of %in% c(pairs, sprintf("[%s]", columns[[j]]))], share_of_tails(y[, j]), fit$n)
  }), recursive = FALSE)
}

smoothed_reasons <- function(fit, names) {
  smoothed <- fit$calibration$smoothed
  found <- which(!is.na(smoothed$expected))
  groups <- fit$calibration$split
  c(if (length(found)) {
    reason("unsupported_smooth", quantity = names[found], figure = max(smoothed$expected[found]),
      shown = first_three(names[found]), expected = figure(smoothed$expected[utils::head(found, 3L)]),
      near = whole_words(smoothed$near))
  }, if (groups$few) {
    reason("unsupported_split", figure = groups$share, sizes = paste(groups$size, collapse = " and "),
      share = figure(100 * groups$share), predicted = figure(100 * groups$predicted))
  })
}

first_three <- function(names) paste0(paste(utils::head(names, 3L), collapse = ", "), if (length(names) > 3L) ", ...")

share_of_tails <- function(y, mass = rep(1 / length(y), length(y))) {
  distance <- abs(y - sum(mass * y) / sum(mass))
  order <- order(distance, decreasing = TRUE)
  before <- cumsum(mass[order]) - mass[order]
  tail <- pmin(mass[order], pmax(0, 0.05 - before))
  distance <- distance / max(distance)
  c(deviation = sum(tail * distance[order]) / sum(mass * distance),
    variance = sum(tail * distance[order]^2) / sum(mass * distance^2))
}

covariates_reason <- function(fit) {
  gain <- fit$covariate_gain
  reason("covariates_gain", figure = gain, gain = figure(max(gain, 0)),
    end = if (gain * fit$n < 2) ": the data hardly speak for a dependence on them." else ".")
}

# `points` at which a fit predicts, with the columns `x` of covariates, as standardised as the data's.
beyond_reason <- function(fit, x = point_rows(fit, fit$at, NROW(fit$points))) {
  rows <- rows_beyond(fit, x)
  if (!length(rows)) return(NULL)
  reason("covariates_beyond", quantity = rows, figure = length(rows), count = whole_words(length(rows)),
    shown = first_three(rows), where = beyond_words(fit, x[rows[[1L]], ]),
    band = if (is.null(fit$trend)) "does not grow there" else "grows as the slopes say, if its shape goes on")
}

beyond_words <- function(fit, x) {
  own <- function(x, j) format(signif(fit$standard_x$center[[j]] + fit$standard_x$scale[[j]] * x, 4), trim = TRUE)
  ends <- apply(fit$data$x, 2L, range)
  out <- which(x < ends[1L, ] | x > ends[2L, ])
  if (!length(out)) return("each covariate within its range, but not together")
  paste(sprintf("%s = %s, in the data %s to %s", colnames(fit$data$x)[out], mapply(own, x[out], out),
    mapply(own, ends[1L, out], out), mapply(own, ends[2L, out], out)), collapse = "; ")
}

smoothed_mean_reasons <- function(fit) {
  names <- colnames(fit$data$x)
  jump <- fit$jump
  c(if (!is.null(jump)) {
    unit <- fit$standard_x$scale[[jump$column]]
    at <- round(fit$standard_x$center[[jump$column]] + unit * jump$at, 1 - floor(log10(unit)))
    reason("unsupported_jump", quantity = names[[jump$column]], figure = at, at = format(at, digits = 12),
      gain = figure(jump$gain))
  }, if (isTRUE(fit$trend$most_knots)) {
    most <- which.max(lengths(fit$trend$knots))
    knots <- fit$trend$knots[[most]]
    reason("unsupported_curve", quantity = names[[most]], figure = length(knots), knots = length(knots),
      apart = figure(diff(range(knots)) / (length(knots) - 1) * fit$standard_x$scale[[most]]))
  })
}

mean_reason <- function(fit) {
  trend <- fit$trend
  is_class <- !is.null(fit$classes)
  if (!is.null(fit$columns)) {
    few <- if (is_class) "members of the rarer class than" else "than five observations for each of the"
    return(reason("covariates_many", figure = fit$columns, few = few, columns = fit$columns))
  }
  if (is.null(trend)) return(NULL)
  names <- colnames(fit$data$x)
  curves <- if (inherits(fit$model$mean, "formula")) deparse1(fit$model$mean) else {
    paste(c(if (is.null(trend$knots)) "straight lines" else "natural cubic splines",
      sprintf("and %s * %s", names[trend$pairs[, 1L]], names[trend$pairs[, 2L]])), collapse = " ")
  }
  reason("covariates_mean", what = if (is_class) "lie log odds" else "lies a mean", curves = curves,
    slopes = count_words(trend$rank, "slope"),
    without = if (is.null(trend$gain)) "" else sprintf("; without this the score is lower by %s", figure(trend$gain)))
}

joint_reason <- function(fit) {
  distinct <- apply(fit$data$x, 2L, function(x) length(unique(x)))
  few <- match(TRUE, distinct <= min(20, fit$n / 2))
  if (!is.na(few)) {
    reason("covariates_distinct", quantity = colnames(fit$data$x)[[few]], figure = distinct[[few]],
      distinct = distinct[[few]])
  }
}
