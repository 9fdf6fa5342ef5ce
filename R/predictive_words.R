# What the summary of a copula model says. Each sentence has the figure that it is derived from.

figure <- function(value) format(signif(value, 2), scientific = FALSE, trim = TRUE)
sentences <- function(...) if (length(c(...))) paste(c(...), collapse = " ")
is_at <- function(value, bound) abs(value - bound) < 1e-6

# Bandwidths ---------------------------------------------------------------------

# The width of the posterior of a calibrated density, or of one variable.
width_verdict <- function(fit) {
  width <- fit$calibration$width
  on_scale <- if (isTRUE(fit$scale$bends) || any(is.finite(fit$scale$support))) " on that scale" else ""
  words <- sprintf("about %s times as wide as s/sqrt(n)%s", paste(unique(figure(range(width))), collapse = " to "),
    on_scale)
  if (is_placed(fit)) {
    words <- sprintf("Calibrated resampling: the posterior of %s mean is %s.",
      if (length(width) > 1L) "each" else "the", words)
    at <- if (is.null(fit$model$rho)) match(TRUE, is_at(fit$rho[[1L]], record(fit)$ends(fit))) else NA
    y <- apply(fit$data$y, 1L, paste, collapse = " ")
    return(sentences(words, if (identical(at, 1L)) {
      sprintf("The chosen rho is the lower bound, %s: with a smaller one resamples would hardly differ in shape.",
        figure(fit$rho[[1L]]))
    } else if (identical(at, 2L)) {
      sprintf("The chosen rho is the upper bound, %s; %s of %s values are distinct.", figure(fit$rho[[1L]]),
        whole_words(length(unique(y))), whole_words(length(y)))
    }))
  }
  if (width < 0.8) {
    return(paste(sprintf("The posterior of the mean is only %s:", words),
      sprintf("with rho = %s the resamples hardly differ. Intervals are too narrow; calibrate = TRUE widens them.",
        figure(fit$rho))))
  }
  paste0("The posterior of the mean is ", words, ".", if (width > 1.25) {
    " Intervals are wider than the data ask for; calibrate = TRUE narrows them."
  })
}

# Near a normal law: see the head of R/predictive_calibration.R.
densities_bandwidth <- function(fit) {
  if (is_placed(fit)) return(width_verdict(fit))
  sentences(sprintf(paste("This density%s is not calibrated: for normal data a mean's posterior would be 2 rho, about",
    "%s, times as wide as s/sqrt(n)."), if (ncol(fit$data$y) < 4L) "" else " of more than three variables",
  paste(figure(unique(2 * range(fit$rho))), collapse = " to ")), small_words(fit, "a mean"), large_words(fit))
}

regression_bandwidth <- function(fit) {
  sentences(bound_words(fit), small_words(fit, "a mean"), large_words(fit))
}

classes_bandwidth <- function(fit) {
  small <- if (is.null(fit$data$start)) small_words(fit, "a probability") else if (fit$rho < 0.1) {
    sprintf("With rho = %s the copulas add little to the log odds, and intervals are those of their coefficients.",
      figure(fit$rho))
  }
  sentences(bound_words(fit), small, large_words(fit))
}

bound_words <- function(fit) {
  bound <- record(fit)$ends(fit)[[1L]]
  if (is.null(fit$model$rho) && is_at(fit$rho, bound) && bound > 0.4) {
    sprintf("The chosen rho is the lower bound, %s: with a smaller one resamples would hardly differ.", figure(bound))
  }
}

small_words <- function(fit, what) {
  if (min(fit$rho) < 0.4) {
    sprintf("With rho = %s the resamples hardly differ: a step moves %s by its share of rho. Intervals are too narrow.",
      figure(min(fit$rho)), what)
  }
}

large_words <- function(fit) {
  chosen <- c(if (is.null(fit$model$rho)) fit$rho, if (is.null(fit$model$rho_x)) fit$rho_x)
  if (any(chosen >= rho_ends[[2L]] - 1e-4)) {
    "A chosen correlation is at its upper bound of 0.999: predictions follow single observations."
  }
}

# How much of the predicted density lies beyond the points that the user chose.
points_verdict <- function(fit) {
  if (length(fit$points) < 2L) return(NULL)
  # A point mass on the first point does not lie beyond it.
  beyond <- 1 - diff(range(fit$cdf0)) - sum(predicted_atoms(fit)$weight[fit$atoms$value == min(fit$points)])
  if (beyond < 0.01) return(NULL)
  paste(sprintf("%s%% of the predicted distribution lies beyond `points`.", figure(100 * beyond)),
    "Means, standard deviations and quantiles count it.")
}

# Scales -------------------------------------------------------------------------

axes_verdict <- function(fit) {
  if (is.null(fit$axes)) return(NULL)
  share <- if (!is.null(fit$first)) figure(100 * stats::plogis(fit$first$scale$groups[[1L]] * c(1, -1)))
  sprintf("The copulas work on axes without correlation%s: the score per observation rises by %s.",
    if (is.null(share)) "" else {
      sprintf(", the first with the scale of two groups of %s%% and %s%%", share[[1L]], share[[2L]])
    }, figure(fit$axes_gain))
}

# The scale of a density of one variable, its atoms, and what the support could be.
scale_verdict <- function(fit) {
  sentences(atoms_words(fit), density_scale_words(fit$scale), density_support_words(fit), ties_words(fit))
}

atoms_words <- function(fit) {
  atoms <- fit$atoms
  if (is.null(atoms)) return(NULL)
  ends <- apply(atoms$weight, 2L, stats::quantile, probs = c(0.05, 0.95), names = FALSE)
  shown <- utils::head(seq_along(atoms$value), 3L)
  words <- sprintf("%s of %s values are %s: a point mass of probability %s to %s (90%%).",
    whole_words(atoms$count[shown]), whole_words(fit$n), format(atoms$value[shown], trim = TRUE),
    figure(ends[1L, shown]), figure(ends[2L, shown]))
  c(words, if (length(atoms$value) > 3L) sprintf("There are %d more point masses.", length(atoms$value) - 3L),
    "The density is that of the other values.")
}

density_scale_words <- function(scale) {
  if (is.null(scale$gain)) return(NULL)
  far <- "the space before far outliers shortened"
  sprintf("The copulas work on %s: the score per observation rises by %s.",
    if (!is.null(scale$groups)) {
      group_words(scale)
    } else if (scale$bends) {
      sprintf("the scale asinh((y - %s)/%s)%s", figure(scale$center), figure(scale$width),
        if (is.null(scale$knots)) "" else paste(", with", far))
    } else paste("a scale with", far), figure(scale$gain))
}

# A bound that all data respect and the prediction does not.
density_support_words <- function(fit) {
  if (any(is.finite(fit$model$support)) || nrow(fit$data$y) < 2L) return(NULL)
  y <- range(own_units(fit), fit$atoms$value)
  if (y[[1L]] < 0) return(NULL)
  places <- drop(inner_places(as_one(fit)))
  below <- function(bound) grid_cdf(places, fit$inner$cdf0, bound)
  in_unit <- y[[2L]] <= 1
  outside <- below(0) + (if (in_unit) 1 - below(1) else 0)
  if (!is.null(fit$atoms)) outside <- outside * predicted_atoms(fit)$density
  if (outside < 0.01) return(NULL)
  sprintf("All values are %s, and %s%% of the predicted distribution is not: support = c(0, %s) excludes that.",
    if (in_unit) "in [0, 1]" else "at least 0", figure(100 * outside), if (in_unit) "1" else "Inf")
}

# Data with few different values are not from a density.
ties_words <- function(fit) {
  n <- nrow(fit$data$y)
  distinct <- length(unique(drop(fit$data$y)))
  if (distinct > min(20, n / 2)) return(NULL)
  sprintf("Only %d of %s values%s are distinct: a density spreads each of them, and bayesian_bootstrap() does not.",
    distinct, whole_words(n), if (is.null(fit$atoms)) "" else " beside the point masses")
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
  knots <- fit$scale$knots$x
  if (is.null(knots)) return(unsupported_words(linear, square, tail_share(fit), fit$n))
  layer <- support_layer(fit$scale)
  x <- layer$to(own_units(fit))
  # Data lie before the first or beyond the last pair of knots.
  far <- c(sum(x <= knots[[1L]]), sum(x > knots[[length(knots)]]))
  if (length(knots) == 2L) far[[if (far[[1L]] < far[[2L]]) 2L else 1L]] <- 0
  quantiles <- names[grepl("^(median|q[0-9.]+)$", names)]
  probs <- ifelse(quantiles == "median", 50, suppressWarnings(as.numeric(sub("q", "", quantiles)))) / 100
  # So large could the share of such values be, and with it these quantiles are far values.
  share <- stats::qbeta(0.95, far + 1, fit$n - far) * (far > 0)
  ends <- apply(fit$draws[, quantiles, drop = FALSE], 2L, stats::quantile, probs = c(0.05, 0.95), names = FALSE,
    na.rm = TRUE)
  astride <- vapply(seq_along(quantiles), function(j) {
    end <- layer$to(ends[, j])
    any(end[[1L]] < knots & knots < end[[2L]])
  }, NA)
  named <- c(linear, square, quantiles[astride | probs <= share[[1L]] | probs >= 1 - share[[2L]]])
  if (!length(named)) return(NULL)
  sprintf("%s: %s of %s values %s far from the others, and how often such values occur the data hardly say.",
    paste(named, collapse = ", "), whole_words(sum(far)), whole_words(fit$n), if (sum(far) == 1L) "is" else "are")
}

unsupported_words <- function(linear, square, share, n, of = "predicted ") {
  words <- function(named, part, what) {
    if (!length(named) || share[[part]] <= tail_limits[[part]]) return(NULL)
    sprintf(paste("%s: %s%% of the %s%s comes from the 5%% of values farthest from the mean, of which %s data show",
      "little. Intervals are too narrow."), paste(named, collapse = ", "), figure(100 * share[[part]]), of, what,
    whole_words(n))
  }
  found <- c(words(linear, "deviation", "mean deviation"), words(square, "variance", "variance"))
  if (length(found)) paste(found, collapse = " ")
}

# The same for each of several variables, by the shares of the data: their copulas are on no scale that has the tails.
several_unsupported <- function(fit) {
  if (!is_placed(fit) || is.function(fit$functional)) return(NULL)
  names <- colnames(fit$draws)
  if (is.null(fit$functional)) return(sentences(smoothed_words(fit, names), split_words(fit$calibration$split)))
  of <- sub("^[^[]*", "", names)
  y <- off_axes(fit, fit$data$y)
  columns <- fit$standard$names
  sentences(unlist(lapply(seq_along(columns), function(j) {
    # A correlation of two variables has no columns in its name.
    pairs <- c("", sprintf("[%s,%s]", columns[[j]], columns), sprintf("[%s,%s]", columns, columns[[j]]))
    own <- names[of %in% c(pairs, sprintf("[%s]", columns[[j]]))]
    unsupported_words(grep("^(mean|gini|tail_mean)", own, value = TRUE),
      grep("^(sd|variance|correlation)", own, value = TRUE), share_of_tails(y[, j], rep(1 / fit$n, fit$n)), fit$n, "")
  })))
}

smoothed_words <- function(fit, names) {
  smoothed <- fit$calibration$smoothed
  found <- which(!is.na(smoothed$expected))
  shown <- utils::head(found, 3L)
  if (length(shown)) {
    sprintf(paste("%s%s: about %s data are predicted where the nearest %s lie. The copulas smooth too much there, and",
      "intervals do not count that."), paste(names[shown], collapse = ", "), if (length(found) > 3L) ", ..." else "",
    paste(figure(smoothed$expected[shown]), collapse = ", "), whole_words(smoothed$near))
  }
}

split_words <- function(groups) {
  if (isTRUE(groups$few)) {
    sprintf(paste("Along one direction the data fall into groups of %s: %s%% of the variance is within them, of the",
      "prediction %s%%. The copulas fill the space between, and intervals of densities do not count that."),
    paste(groups$size, collapse = " and "), figure(100 * groups$share), figure(100 * groups$predicted))
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

# Mean functions -----------------------------------------------------------------

# What the covariates and the mean function add to the score.
covariates_verdict <- function(fit) {
  gain <- fit$covariate_gain
  end <- if (gain * fit$n < 2) ": the data hardly speak for a dependence on them." else "."
  sentences(sprintf("The covariates raise the score per observation by %s%s", figure(max(gain, 0)), end),
    mean_words(fit))
}

# Where the mean function is too smooth for the data.
smoothed_mean_words <- function(fit) {
  names <- colnames(fit$data$x)
  most <- if (isTRUE(fit$trend$most_knots)) which.max(lengths(fit$trend$knots))
  jump <- fit$jump
  words <- c(if (!is.null(jump)) {
    unit <- fit$standard_x$scale[[jump$column]]
    at <- round(fit$standard_x$center[[jump$column]] + unit * jump$at, 1 - floor(log10(unit)))
    sprintf("A jump of the mean at %s = %s would raise the penalised log likelihood by %s.", names[[jump$column]],
      format(at, digits = 12), figure(jump$gain))
  }, if (length(most)) {
    j <- most[[1L]]
    knots <- fit$trend$knots[[j]]
    sprintf("The curve of %s has the most knots that are tried, %d, about %s apart.", names[[j]], length(knots),
      figure(diff(range(knots)) / (length(knots) - 1) * fit$standard_x$scale[[j]]))
  })
  if (length(words)) paste(c(words, "Jumps and narrow peaks are smoothed, and intervals do not count that."),
    collapse = " ")
}

mean_words <- function(fit) {
  trend <- fit$trend
  is_class <- !is.null(fit$classes)
  if (!is.null(fit$columns)) {
    few <- if (is_class) "members of the rarer class than" else "than five observations for each of the"
    return(sprintf(paste("There are fewer %s %d columns of covariates: no mean function lies beneath the copulas, and",
      "intervals are too narrow where the response depends on the covariates."), few, fit$columns))
  }
  if (is.null(trend)) return(NULL)
  sprintf("Beneath the copulas %s by %s, with %s%s.", if (is_class) "lie log odds" else "lies a mean",
    if (inherits(fit$model$mean, "formula")) deparse1(fit$model$mean) else {
      if (is.null(trend$knots)) "straight lines" else "natural cubic splines"
    }, count_words(trend$rank, "slope"),
    if (is.null(trend$gain)) "" else sprintf("; without this the score is lower by %s", figure(trend$gain)))
}

joint_words <- function(fit) {
  distinct <- apply(fit$data$x, 2L, function(x) length(unique(x)))
  few <- which(distinct <= min(20, fit$n / 2))
  if (length(few) == 0L) return(NULL)
  sprintf(paste("%s has only %d distinct values, and the joint method models a density of it: method = \"conditional\"",
    "does not."), colnames(fit$data$x)[[few[[1L]]]], distinct[[few[[1L]]]])
}

# Where the groups lie: exact if nothing but a straight line comes before them.
group_words <- function(scale) {
  groups <- drop(scale$groups)
  at <- back_through(scale_layers(scale)[1:2], groups[2:3])
  share <- 100 * stats::plogis(c(1, -1) * groups[[1L]])
  sprintf("the scale of two groups, %s%% about %s and %s%% about %s", figure(share[[1L]]), figure(at[[1L]]),
    figure(share[[2L]]), figure(at[[2L]]))
}
