# The mean function beneath a regression's copulas, or a classification's log odds, linear in the columns of a design:
# the covariates, curves of them, or the terms of the user's formula. Each resample has its own slopes; steps of a
# regression move the level. A record has as its `line`
#   enough(y, knots, slopes)          whether there are enough data for the slopes
#   larger                            whether curves take the next larger number of knots
#   solve(trend, x, y, solved)        `trend` with slopes, or NULL; `solved`: a decomposition of the design x
#   lay(fit, trend)                   the data and points of the copulas beneath which it lies
#   without(fit)                      the data as they were
#   points(fit, x, design)            points as the loops read them
#   drawn(fit, x)                     by how much resamples differ at rows of a design, in units of the copulas

# The prior deviation of the log odds that a covariate makes keeps slopes finite where covariates separate the classes.
slope_deviation <- 2.5

choose_mean <- function(fit, run) {
  fit <- fit_with_mean(fit, run)
  alone <- record(fit)$line$without(fit)
  bandwidth <- list(rho = fit$rho, rho_x = rep(rho_ends[[1L]], ncol(fit$data$x)))
  gain <- fit$score - start_score(alone) - mean(prequential(alone, bandwidth, run)$log_score)
  with_parts(fit, design = NULL, covariate_gain = gain)
}

# Takes the design with the best penalised likelihood, by default unless the prequential score is better without it. Of
# curves it is the next one, with more knots: the best one for prediction has a bias as large as its deviation.
fit_with_mean <- function(fit, run) {
  wanted <- fit$model$mean
  auto <- identical(wanted, "auto")
  if (identical(wanted, "none") || auto && !(fit$model$calibrate && fit$model$standardize)) {
    return(fit_bandwidth(fit, run))
  }
  line <- record(fit)$line
  plain <- if (auto) fit_bandwidth(fit, run)
  trends <- Filter(length, lapply(mean_knots(fit, wanted), function(knots) fit_trend(fit, knots, auto)))
  if (length(trends) == 0L) {
    if (!auto) stop_input("mean", "has slopes that the data do not determine")
    return(with_parts(plain, columns = ncol(fit$design$data)))
  }
  best <- which.max(vapply(trends, `[[`, 0, "criterion"))
  if (auto && trends[[best]]$spread < 1e-8) return(plain)
  jump <- if (line$larger) best_jump(fit, trends[[best]], trends[[1L]])
  curved <- line$larger && !is.null(trends[[best]]$knots)
  trend <- trends[[if (curved) min(best + 1L, length(trends)) else best]]
  trend$most_knots <- curved && best == length(trends) && max(lengths(trend$knots)) >= 9L
  if (auto) trend <- with_products(fit, trend)
  other <- fit_bandwidth(line$lay(fit, trend), run)
  gain <- if (auto) other$score - plain$score
  # Beyond the covariates only a mean function says that slopes are not known.
  beyond <- rows_beyond(fit, point_rows(fit, fit$at, NROW(fit$points)))
  if (auto && gain <= 0 && !length(beyond)) return(with_parts(plain, jump = jump))
  trend <- with_parts(other$trend, gain = gain, drawn = bootstrap_sums(fit, other$trend$influence, run),
    influence = NULL)
  with_parts(other, jump = jump, trend = trend, calibration = if (isTRUE(fit$model$calibrate)) {
    list(most = min(2, sqrt(calibrated_width^2 - trend$common) / other$rho))
  })
}

with_products <- function(fit, trend) {
  columns <- ncol(fit$data$x)
  pairs <- which(upper.tri(diag(columns)) & outer(fit$group, fit$group, "!="), arr.ind = TRUE)
  repeat {
    others <- lapply(seq_len(nrow(pairs)), function(k) {
      fit_trend(fit, trend$knots, TRUE, rbind(trend$pairs, unname(pairs[k, , drop = FALSE])))
    })
    gain <- vapply(others, function(other) if (is.null(other)) -Inf else other$criterion - trend$criterion, 0)
    if (!any(gain > 1 + log(nrow(pairs)))) return(trend)
    trend <- replace(others[[which.max(gain)]], "most_knots", list(trend$most_knots))
  }
}

rows_beyond <- function(fit, x) {
  inverse <- chol2inv(chol(crossprod(fit$data$x) / fit$n + diag(1e-6, ncol(x))))
  leverage <- function(x) 1 + rowSums((x %*% inverse) * x)
  which(leverage(x) > 3 * max(leverage(fit$data$x)))
}

# The covariates of `count` points, each of which the loops may have several times.
point_rows <- function(fit, at, count) at$x[seq(1L, nrow(at$x), length.out = count), , drop = FALSE]

# The best jump at one value of a covariate, added to the chosen mean function, the simplest or none: list(gain, column,
# at), `at` as in the copulas' data. Its place counts as two slopes more. NULL if the penalised likelihood rises by less
# than a unit and the log of the number of columns.
best_jump <- function(fit, trend, simplest) {
  n <- fit$n
  x <- fit$data$x
  if (n < 20L || trend$rank + 3 > n - 3) return(NULL)
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

spread_knots <- function(x, count) {
  stats::quantile(unique(x), c(0.02, seq_len(count - 2L) / (count - 1L), 0.98), names = FALSE)
}

mean_knots <- function(fit, wanted) {
  if (inherits(wanted, "formula") || wanted == "linear") return(list(NULL))
  x <- fit$design$data
  curves <- lapply(c(4L, 6L, 9L, 13L), function(count) {
    knots <- lapply(seq_len(ncol(x)), function(j) {
      if (length(unique(x[, j])) >= 2 * count) spread_knots(x[, j], count)
    })
    if (any(lengths(knots) > 0L)) knots
  })
  c(if (wanted == "auto") list(NULL), Filter(length, curves))
}

# Slopes of centred columns of unit deviation, what each observation adds to them (and, of classes, to the level) if its
# weight grows by 1, and the penalised likelihood. NULL if `only_with_many` and there are too few observations.
fit_trend <- function(fit, knots, only_with_many, pairs = NULL) {
  line <- record(fit)$line
  design <- mean_columns(fit$design$data, knots, pairs)
  y <- drop(fit$data$y)
  if (only_with_many && !line$enough(y, knots, ncol(design))) return(NULL)
  center <- colMeans(design)
  scale <- sqrt(colMeans(sweep(design, 2L, center)^2))
  scale[!is.finite(scale) | scale <= 1e-10 * abs(center)] <- Inf
  trend <- list(knots = knots, pairs = pairs, center = center, scale = scale, whole = fit$data$y, level = 0, spread = 1,
    common = 0)
  x <- scaled_design(trend, fit$design$data)
  solved <- qr(x, tol = 1e-7)
  trend$rank <- solved$rank
  line$solve(trend, x, y, solved)
}

# Akaike's penalty for few observations (Hurvich & Tsai 1989, Biometrika 76, 297-307), times 1.5: fewer false curves.
penalty <- function(slopes, n) 1.5 * slopes * n / max(n - slopes - 2, 0.1)

scaled_design <- function(trend, design) {
  sweep(sweep(mean_columns(design, trend$knots, trend$pairs), 2L, trend$center), 2L, trend$scale, "/")
}

mean_columns <- function(design, knots, pairs) {
  columns <- with_curves(design, knots)
  if (is.null(pairs)) columns else cbind(columns, design[, pairs[, 1L]] * design[, pairs[, 2L]])
}

row_products <- function(x, slopes) rowSums(x * rep(slopes, each = nrow(x)))

# In the units of the response (or as log odds). No matrix product: its last bits may depend on the number of rows.
trend_at <- function(fit, design) {
  trend <- fit$trend
  if (is.null(trend)) return(numeric(nrow(design)))
  trend$unit * (trend$level + row_products(scaled_design(trend, design), trend$slopes))
}

unplaced_trend <- function(fit, at) {
  moves <- record(fit)$line$drawn(fit, scaled_design(fit$trend, at$design))
  inner <- if (!is.null(at$shown)) setdiff(seq_len(nrow(moves)), at$shown)
  moves[inner, ] <- held_moves(moves[inner, ])
  drop(at$y) - moves
}

# Far from the data, inner values are moved so many deviations at most, and means by the rest: mean functions x draws.
held_moves <- function(moves) pmin(pmax(moves, -3), 3)
further_moves <- function(fit, at) {
  if (is.null(fit$trend)) return(matrix(0, length(at$trend), fit$count))
  last <- seq_along(at$trend) * (nrow(at$y) / length(at$trend))
  moves <- record(fit)$line$drawn(fit, scaled_design(fit$trend, at$design[last, , drop = FALSE]))
  (moves - held_moves(moves)) * fit$standard$scale
}

drawn_lines <- function(fit, x) {
  Reduce(`+`, lapply(seq_len(ncol(x)), function(j) outer(x[, j], fit$trend$drawn[, j])))
}

# By least squares, with deviations for errors of any variance (MacKinnon & White 1985, J. Econometrics 29, 305-325).
solve_mean <- function(trend, x, y, solved) {
  n <- length(y)
  kept <- solved$pivot[seq_len(solved$rank)]
  trend$slopes <- numeric(ncol(x))
  trend$influence <- matrix(0, n, ncol(x))
  trend$pivot <- numeric(ncol(x))
  if (solved$rank > 0L) {
    used <- x[, kept, drop = FALSE]
    weights <- used %*% chol2inv(qr.R(solved), solved$rank)
    trend$slopes[kept] <- colSums(weights * y)
    left <- y - row_products(x, trend$slopes)
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

lay_mean <- function(fit, trend) {
  x <- fit$at$x[seq(1L, nrow(fit$at$x), by = values_each(fit)), , drop = FALSE]
  if (trend$spread < 1e-8) stop_input("mean", "leaves nothing of the response: it needs no copula")
  if (!fit$model$standardize) trend$spread <- 1
  trend$unit <- fit$standard$scale
  fit <- with_parts(fit, trend = trend)
  beneath <- trend_at(fit, fit$design$data) / trend$unit
  fit$data$y <- (fit$data$y - beneath) / trend$spread
  fit$standard$scale <- trend$unit * trend$spread
  fit <- with_parts(fit, inner_at = inner_response(fit))
  with_parts(fit, at = grid_points(fit, x, fit$design$points))
}

without_mean <- function(fit) {
  trend <- fit$trend
  if (is.null(trend)) return(fit)
  fit$data$y <- trend$whole
  fit$standard$scale <- fit$standard$scale / trend$spread
  with_parts(fit, trend = NULL)
}

regression_line <- list(
  enough = function(y, knots, slopes) length(y) >= 5 * slopes, larger = TRUE, solve = solve_mean, lay = lay_mean,
  without = without_mean, points = function(fit, x, design) grid_points(fit, x, design),
  drawn = function(fit, x) drawn_lines(fit, x + rep(fit$trend$pivot, each = nrow(x))) / fit$trend$spread
)

values_each <- function(fit) length(fit$response_at) + length(fit$inner_at)

formula_points <- function(fit, x, design, y) {
  trend <- trend_at(fit, design)
  rows <- rep(seq_len(nrow(x)), each = nrow(y))
  y <- (as.vector(y) - fit$standard$center - trend[rows]) / fit$standard$scale
  list(y = matrix(y), x = x[rows, , drop = FALSE], design = if (!is.null(fit$trend)) design[rows, , drop = FALSE],
    trend = trend, density = stats::dnorm(y) / fit$standard$scale,
    log_density = stats::dnorm(y, log = TRUE) - log(fit$standard$scale))
}

# The same with the values that the user wants to see, and the inner ones, which move with the mean function.
grid_points <- function(fit, x, design, shown = fit$response_at) {
  y <- rbind(matrix(shown, length(shown), nrow(x)), outer(fit$inner_at, trend_at(fit, design), "+"))
  rows <- as.vector(outer(seq_along(shown), (seq_len(nrow(x)) - 1L) * nrow(y), "+"))
  c(formula_points(fit, x, design, y), list(shown = rows))
}

inner_response <- function(fit) {
  fit$standard$center + fit$standard$scale * sort(points_beyond(fit$data$y, 1, 50L, c(0.3, 0.7, 1.3, 2, 3, 4)))
}

# Their slopes have a normal prior, that of uncorrelated columns.
solve_odds <- function(trend, x, y, solved) {
  n <- length(y)
  both <- cbind(1, x)
  # The last term makes the prior proper if columns determine others.
  half <- cbind(0, chol(crossprod(x) / (n * slope_deviation^2) + diag(1e-6, ncol(x))))
  prior <- crossprod(half)
  found <- tryCatch(logistic_coefficients(both, y, rep(1, n), numeric(ncol(both)), prior), error = pass_on)
  if (is.null(found)) return(NULL)
  trend$level <- found[[1L]]
  trend$slopes <- found[-1L]
  p <- stats::plogis(trend$level + row_products(x, trend$slopes))
  weight <- p * (1 - p)
  # Signs alternate, since the sum of the weights cannot grow.
  trend$influence <- rbind(c(1, -1)[1L + seq_along(y) %% 2L] * sqrt(weight) * both, half) %*%
    solve(crossprod(both, weight * both) + prior)
  trend$criterion <- sum(log(ifelse(y > 0.5, p, 1 - p))) - penalty(trend$rank, n)
  trend
}

odds_points <- function(fit, x, design) {
  trend <- trend_at(fit, design)
  list(y = matrix(trend), x = x, design = design, trend = trend)
}

classes_line <- list(
  # A prior needs one member of the rarer class for each slope of a line.
  enough = function(y, knots, slopes) min(sum(y), length(y) - sum(y)) >= (if (is.null(knots)) 1 else 5) * slopes,
  larger = FALSE, solve = solve_odds, points = odds_points,
  lay = function(fit, trend) {
    trend$unit <- 1
    fit <- with_parts(fit, trend = trend)
    fit$data$start <- trend_at(fit, fit$design$data)
    with_parts(fit, at = odds_points(fit, fit$at$x, fit$design$points))
  },
  # Classes start from their frequencies then.
  without = function(fit) {
    if (!is.null(fit$data$start)) fit$data$start <- rep(stats::qlogis(mean(fit$data$y)), fit$n)
    with_parts(fit, trend = NULL)
  },
  drawn = function(fit, x) -drawn_lines(fit, cbind(1, x))
)

regression_quantities <- function(fit, functional) {
  refuse_kinds(functional)
  if (is.null(functional)) {
    if (length(fit$response_at) < 2L) return(indexed("cdf", fit$cdf))
    functional <- list(new_functional("mean"))
  }
  cdf <- draws_by_points(record(fit)$loops$response(fit$state)$conditional, 1L)
  each <- values_each(fit)
  inner <- seq(length(fit$response_at) + 1L, each)
  further <- further_moves(fit, fit$at)
  do.call(cbind, lapply(seq_len(nrow(fit$points)), function(i) {
    at <- outer(further[i, ], fit$inner_at + fit$at$trend[[i]], "+")
    value <- grid_functional(at, cdf[, (i - 1L) * each + inner, drop = FALSE], functional)
    colnames(value) <- sprintf("%s[%d]", colnames(value), i)
    value
  }))
}
