# The mean function beneath the copulas of a regression, or the log odds beneath those of a classification. The copulas
# start from it, and predict what it leaves. It is linear in the columns of a design: the covariates, curves of them, or
# the terms of the user's formula. Each resample has slopes of its own; the steps of a regression move the level.

# The deviation of the log odds of a class that a covariate makes, as expected before the data. It keeps the slopes
# finite where the covariates separate the classes.
slope_deviation <- 2.5

check_mean <- function(mean) {
  if (!inherits(mean, "formula")) return(check_choice(mean, "mean", c("auto", "linear", "smooth", "none")))
  check_formula(mean, "mean", response = FALSE)
}

# The user's terms, which are centred, and what new points must know of them.
mean_frame <- function(fit, data) {
  frame <- covariate_frame(fit$model$mean, data, "mean", "y")
  terms <- stats::terms(frame)
  others <- setdiff(intersect(all.vars(terms), names(data)), all.vars(fit$frame$terms))
  if (length(others)) stop_input("mean", "has ", dQuote(others[[1L]], FALSE), ", which is no covariate of `formula`")
  if (length(attr(terms, "term.labels")) == 0L) stop_input("mean", "has no covariates: \"none\" stands for that")
  check_factors(frame, terms, source = "y")
  attr(terms, "intercept") <- 1L
  fitted_frame(fit$model$mean, frame, terms)
}

# `x`: the covariates' columns at points.
mean_design <- function(fit, x, points, argument) {
  found <- fit$frame$mean
  if (is.null(found)) return(x)
  frame <- new_frame(found, found$terms, points, argument)
  check_frame(frame, argument)
  unname(stats::model.matrix(found$terms, frame)[, -1L, drop = FALSE])
}

# Chooses the mean function and the bandwidth. Of the designs with enough data the one with the best penalised
# likelihood is taken, and by default it is used unless the prequential score is better without it. Of a regression's
# curves it is the next one, with more knots: the best one for prediction has a bias as large as its deviation. So 90%
# intervals covered y = x^2 at the 10%, 50% and 90% points of x in 68, 80 and 70% of 200 data sets of 200 values.
fit_with_mean <- function(fit, run) {
  wanted <- fit$model$mean
  auto <- identical(wanted, "auto")
  if (is.null(wanted) || identical(wanted, "none") || auto && !(fit$model$calibrate && fit$model$standardize)) {
    return(fit_bandwidth(fit, run))
  }
  plain <- if (auto) fit_bandwidth(fit, run)
  trends <- Filter(Negate(is.null), lapply(mean_knots(fit, wanted), function(knots) fit_trend(fit, knots, auto)))
  if (length(trends) == 0L) {
    if (!auto) stop_input("mean", "has slopes that the data do not determine")
    plain$columns <- ncol(fit$design$data)
    return(plain)
  }
  best <- which.max(vapply(trends, `[[`, 0, "criterion"))
  if (auto && trends[[best]]$spread < 1e-8) return(plain)
  jump <- best_jump(fit, trends[[best]], trends[[1L]])
  curved <- !fit$data$binary && !is.null(trends[[best]]$knots)
  trend <- trends[[if (curved) min(best + 1L, length(trends)) else best]]
  # Few data have few knots in any case.
  trend$most_knots <- curved && best == length(trends) && max(lengths(trend$knots)) >= 9L
  plain$jump <- jump
  other <- fit_bandwidth(with_trend(fit, trend), run)
  other$jump <- jump
  if (auto) {
    other$trend$gain <- other$score - plain$score
    if (other$trend$gain <= 0) return(plain)
  }
  if (isTRUE(fit$model$calibrate)) other$most <- min(2, sqrt(calibrated_width^2 - other$trend$common) / other$rho)
  draw_slopes(other, run)
}

# The jump of a regression's mean at one value of a covariate that raises the penalised likelihood most, added to the
# columns of the chosen mean function, of the simplest or of none: list(gain, column, at), `at` as in the data of the
# copulas. Its place counts as two slopes more. NULL if it adds no unit, with a log of the number of columns for their
# choice. In 100 data sets of 60 (40 of 200) of bench/predictive-regression.R one was found for the step in 73% (100%),
# for the peak in 57% (85%), and for the others in 1 to 7% (0 to 7%).
best_jump <- function(fit, trend, simplest) {
  n <- fit$n
  x <- fit$data$x
  if (fit$data$binary || n < 20L || trend$rank + 3 > n - 3) return(NULL)
  best <- list(gain = 1 + log(ncol(x)))
  level <- list(rank = 0, spread = sqrt(mean((fit$data$y - mean(fit$data$y))^2)))
  for (start in unique(list(trend, simplest, level))) {
    solved <- qr(cbind(rep(1, n), if (start$rank > 0) scaled_design(start, fit$design$data)), tol = 1e-7)
    left <- qr.resid(solved, drop(fit$data$y))
    for (j in seq_len(ncol(x))) {
      values <- sort(x[, j])
      if (length(unique(values)) < 20L) next
      cuts <- unique(stats::quantile(values, seq(5 / n, 1 - 5 / n, length.out = min(n - 9L, 100L)), names = FALSE))
      step <- qr.resid(solved, outer(x[, j], cuts, ">") + 0)
      size <- colSums(step^2)
      share <- ifelse(size > 1e-8 * n, colSums(step * left)^2 / pmax(size, 1e-300), 0) / sum(left^2)
      k <- which.max(share)
      gain <- -n * log(start$spread * sqrt(max(1 - share[[k]], 1e-12))) - penalty(start$rank + 3, n) - trend$criterion
      if (gain > best$gain) best <- list(gain = gain, column = j, at = cuts[[k]])
    }
  }
  if (!is.null(best$column)) best
}

# The numbers of knots of the natural cubic splines that are tried.
knot_counts <- c(4L, 6L, 9L, 13L)
mean_knots <- function(fit, wanted) {
  if (inherits(wanted, "formula") || wanted == "linear") return(list(NULL))
  x <- fit$design$data
  curves <- lapply(knot_counts, function(count) {
    knots <- lapply(seq_len(ncol(x)), function(j) {
      if (length(unique(x[, j])) >= 2 * count) {
        stats::quantile(unique(x[, j]), c(0.02, seq_len(count - 2L) / (count - 1L), 0.98), names = FALSE)
      }
    })
    if (any(lengths(knots) > 0L)) knots
  })
  c(if (wanted == "auto") list(NULL), Filter(Negate(is.null), curves))
}

# Slopes of centred columns of unit deviation, what each observation adds to them (and, of classes, to the level) if its
# weight grows by 1, and the penalised likelihood. Slopes of a regression are by least squares, with the deviations of
# MacKinnon & White (1985, Journal of Econometrics 29, 305-325), which hold for errors of any variance. Those of classes
# have a normal prior. The penalty is Akaike's for few observations (Hurvich & Tsai 1989, Biometrika 76, 297-307), times
# 1.5: without that, curves were taken in a fifth of samples from straight lines. NULL if `only_with_many` and there are
# fewer than 5 observations, or members of the rarer class, for each slope. A prior needs one.
fit_trend <- function(fit, knots, only_with_many) {
  design <- with_curves(fit$design$data, knots)
  y <- drop(fit$data$y)
  n <- length(y)
  cases <- if (fit$data$binary) min(sum(y), n - sum(y)) else n
  if (only_with_many && cases < (if (fit$data$binary && is.null(knots)) 1 else 5) * ncol(design)) return(NULL)
  center <- colMeans(design)
  scale <- sqrt(colMeans(sweep(design, 2L, center)^2))
  scale[!is.finite(scale) | scale <= 1e-10 * abs(center)] <- Inf
  trend <- list(knots = knots, center = center, scale = scale, whole = fit$data$y, level = 0, spread = 1,
    common = 0)
  x <- scaled_design(trend, fit$design$data)
  solved <- qr(x, tol = 1e-7)
  trend$rank <- solved$rank
  line <- function(slopes) rowSums(x * rep(slopes, each = n))
  if (fit$data$binary) {
    both <- cbind(1, x)
    # The prior is that of uncorrelated columns. The last term makes it proper if columns determine others.
    half <- cbind(0, chol(crossprod(x) / (n * slope_deviation^2) + diag(1e-6, ncol(x))))
    prior <- crossprod(half)
    found <- tryCatch(logistic_coefficients(both, y, rep(1, n), numeric(ncol(both)), prior), error = pass_on)
    if (is.null(found)) return(NULL)
    trend$level <- found[[1L]]
    trend$slopes <- found[-1L]
    p <- stats::plogis(trend$level + line(trend$slopes))
    weight <- p * (1 - p)
    # Signs alternate, since the sum of the weights cannot grow.
    trend$influence <- rbind(c(1, -1)[1L + seq_along(y) %% 2L] * sqrt(weight) * both, half) %*%
      solve(crossprod(both, weight * both) + prior)
    trend$criterion <- sum(log(ifelse(y > 0.5, p, 1 - p))) - penalty(trend$rank, n)
    return(trend)
  }
  kept <- solved$pivot[seq_len(solved$rank)]
  trend$slopes <- numeric(ncol(x))
  trend$influence <- matrix(0, n, ncol(x))
  trend$pivot <- numeric(ncol(x))
  if (solved$rank > 0L) {
    used <- x[, kept, drop = FALSE]
    weights <- used %*% chol2inv(qr.R(solved), solved$rank)
    trend$slopes[kept] <- colSums(weights * y)
    left <- y - line(trend$slopes)
    leverage <- 1 / n + rowSums(weights * used)
    trend$influence[, kept] <- weights * (left / pmax(1 - leverage, 1 / n))
    # Where deviations differ, the mean's is correlated with those of the slopes. This part of it comes with the slopes,
    # as if columns had another centre, and the steps give the rest of its variance.
    together <- qr(trend$influence[, kept, drop = FALSE], tol = 1e-7)
    known <- seq_len(together$rank)
    trend$pivot[kept[together$pivot[known]]] <- qr.coef(together, left)[together$pivot[known]] / n
    trend$common <- 1 - sum(qr.resid(together, left)^2) / max(sum(left^2), 1e-300)
    trend$spread <- sqrt(mean((left - mean(left))^2))
  }
  trend$criterion <- -n * log(trend$spread) - penalty(trend$rank, n)
  trend
}

penalty <- function(slopes, n) 1.5 * slopes * n / max(n - slopes - 2, 0.1)

scaled_design <- function(trend, design) {
  sweep(sweep(with_curves(design, trend$knots), 2L, trend$center), 2L, trend$scale, "/")
}

# The mean function at rows of a design, in the units of the response (or as log odds). No matrix product: in some
# libraries its last bits depend on the number of rows.
trend_at <- function(fit, design) {
  if (is.null(fit$trend)) return(numeric(nrow(design)))
  x <- scaled_design(fit$trend, design)
  fit$trend$unit * (fit$trend$level + rowSums(x * rep(fit$trend$slopes, each = nrow(x))))
}

# By how much the mean functions of resamples differ from it, in the units of the copulas: points x draws.
trend_departures <- function(fit, at) {
  x <- scaled_design(fit$trend, at$design)
  x <- if (fit$data$binary) cbind(1, x) else x + rep(fit$trend$pivot, each = nrow(x))
  sum <- 0
  for (j in seq_len(ncol(x))) sum <- sum + outer(x[, j], fit$trend$drawn[, j])
  if (fit$data$binary) -sum else sum / fit$trend$spread
}

# Slopes of resamples: the observations get the weights of a Bayesian bootstrap.
draw_slopes <- function(fit, run) {
  fit$trend$drawn <- bootstrap_sums(fit, fit$trend$influence, run)
  fit$trend$influence <- NULL
  fit
}

# For each resample, the sums of the columns of `influence` over the observations, weighted by a Bayesian bootstrap's
# weights, of mean 1, less 1: a matrix, draws x columns.
bootstrap_sums <- function(fit, influence, run) {
  rows <- nrow(influence)
  first <- seq(0, fit$count - 1, by = max(1, floor(8e6 / rows)))
  drawn <- lapply(first, function(from) {
    count <- min(fit$count - from, max(1, floor(8e6 / rows)))
    weight <- rows * native(C_predictive_bootstrap, rows, from, count, 0, fit$seed, run) - 1
    vapply(seq_len(ncol(influence)), function(j) colSums(weight * influence[, j]), numeric(count))
  })
  do.call(rbind, lapply(drawn, matrix, ncol = ncol(influence)))
}

# The data and points of the copulas beneath which a mean function lies.
with_trend <- function(fit, trend) {
  x <- fit$at$x
  if (!fit$data$binary) x <- x[seq(1L, nrow(x), by = values_each(fit)), , drop = FALSE]
  trend$unit <- if (fit$data$binary) 1 else fit$standard$scale
  fit$trend <- trend
  beneath <- trend_at(fit, fit$design$data) / trend$unit
  if (fit$data$binary) fit$data$start <- beneath else {
    if (trend$spread < 1e-8) stop_input("mean", "leaves nothing of the response: it needs no copula")
    if (!fit$model$standardize) trend$spread <- fit$trend$spread <- 1
    fit$data$y <- (fit$data$y - beneath) / trend$spread
    fit$standard$scale <- fit$standard$scale * trend$spread
    fit$inner_at <- inner_response(fit)
  }
  fit$at <- grid_points(fit, x, fit$design$points)
  fit
}

# The data as they were.
without_trend <- function(fit) {
  if (is.null(fit$trend)) return(fit)
  fit$data$y <- fit$trend$whole
  fit$data$start <- NULL
  if (!fit$data$binary) fit$standard$scale <- fit$standard$scale / fit$trend$spread
  fit$trend <- NULL
  fit
}

# What the data predict at their own rows, for each resample of a classification.
row_states <- function(fit, run) {
  start <- if (is.null(fit$data$start)) numeric(fit$n) else fit$data$start
  found <- .Call(C_predictive_average, state_at(fit, list(y = matrix(start), x = fit$data$x), run))
  matrix(found$conditional, fit$n, fit$count)
}

# Points -------------------------------------------------------------------------

# How many values of the response a regression has for each point.
values_each <- function(fit) length(fit$response_at) + length(fit$inner_at)

# Rows of covariates `x`. For a regression `y` has a column of values of the response for each of them.
formula_points <- function(fit, x, design, y = NULL) {
  trend <- trend_at(fit, design)
  if (fit$data$binary) return(list(y = matrix(trend), x = x, design = design, trend = trend))
  rows <- rep(seq_len(nrow(x)), each = nrow(y))
  y <- (as.vector(y) - fit$standard$center - trend[rows]) / fit$standard$scale
  list(y = matrix(y), x = x[rows, , drop = FALSE], design = if (!is.null(fit$trend)) design[rows, , drop = FALSE],
    trend = trend, density = stats::dnorm(y) / fit$standard$scale,
    log_density = stats::dnorm(y, log = TRUE) - log(fit$standard$scale))
}

# The same with the values that the user wants to see, and the inner ones, which move with the mean function.
grid_points <- function(fit, x, design, shown = fit$response_at) {
  if (fit$data$binary) return(formula_points(fit, x, design))
  y <- rbind(matrix(shown, length(shown), nrow(x)), outer(fit$inner_at, trend_at(fit, design), "+"))
  formula_points(fit, x, design, y)
}

# Values of what the mean function leaves of the response, for computing a regression's quantities whatever the user
# wants to see.
inner_response <- function(fit) {
  y <- fit$data$y[, 1L]
  ends <- range(y) + c(-1, 1)
  tail <- c(0.3, 0.7, 1.3, 2, 3, 4)
  standardised <- c(ends[[1L]] - tail, seq(ends[[1L]], ends[[2L]], length.out = 50L), ends[[2L]] + tail)
  sort(fit$standard$center + fit$standard$scale * standardised)
}
