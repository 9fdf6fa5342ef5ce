# Copula predictions: the data as the compiled loops read them, the choice of the bandwidth, and the states of the
# resamples.

start_copula <- function(fit, y, run) {
  fit <- switch(fit$model$kind, copula_density = density_data(fit, y), formula_data(fit, y))
  model <- fit$model
  univariate <- model$kind == "copula_density" && ncol(fit$data$y) == 1L
  with_quantities <- !univariate && has_quantities(fit) && is.list(fit$functional)
  inner <- if (univariate) inner_points(drop(fit$data$y))
  values <- if (with_quantities) inner_count * (ncol(fit$data$y) + 1) else length(inner)
  size <- as.double(length(fit$at$y)) * (if (is_joint(fit)) ncol(fit$data$x) + 1 else 1)
  check_result_size(fit$count * (size + values), "draws", "values", copies = 6)
  fit$orders <- list()
  n <- nrow(fit$data$y)
  fit$order <- if (model$permutations == 0) {
    matrix(seq_len(n) - 1L)
  } else {
    .Call(C_predictive_orders, fit$seed, n, model$permutations)
  }
  fit <- fit_with_mean(fit, run)
  fit$design <- NULL
  if (ncol(fit$data$x)) fit$covariate_gain <- covariate_gain(fit, run)
  if (is_calibrated(fit)) {
    fit <- if (univariate) on_better_scale(fit, run) else on_better_axes(fit, run)
    if (univariate) inner <- inner_points(drop(fit$data$y))
  }
  by_order <- state_at(fit, fit$at, run)
  fit$orders <- list(score = fit$order_scores)
  fit$order_scores <- NULL
  if (!is.null(fit$atoms)) fit$atoms <- draw_atoms(fit)
  start <- .Call(C_predictive_average, by_order)
  if (univariate) {
    points <- list(y = matrix(inner), x = matrix(0, length(inner), 0L))
    at_inner <- .Call(C_predictive_average, state_at(fit, points, run))
    fit$inner <- list(y = inner, cdf0 = drop(at_inner$conditional))
    fit$calibration <- calibrate(fit, inner, fit$inner$cdf0, run)
  } else if (is_calibrated(fit)) {
    fit$calibration <- calibrate_several(fit, run)
  }
  fit$state <- start_states(fit, fit$at, run, start)
  by_order <- response_state(fit, by_order)
  start <- response_state(fit, start)
  if (!fit$data$binary && !all(is.finite(start$gain))) stop_overflow()
  if (with_quantities) {
    inner <- several_points(fit, inner_count)
    at_inner <- .Call(C_predictive_average, state_at(fit, inner, run))
    fit$inner <- inner
  }
  if (!is.null(fit[["inner"]])) fit <- with_inner(fit, at_inner)
  if (fit$data$binary) {
    fit$state$rows <- row_states(fit, run)
    fit$probability0 <- drop(start$conditional)
    fit$orders$probability <- t(by_order$conditional[, 1L, ])
  } else {
    last <- dim(by_order$conditional)[[2L]]
    shown <- shown_rows(fit)
    density <- fit$at$density[shown]
    predicted <- predicted_atoms(fit)
    if (!is.null(predicted)) density <- density * predicted$density
    complete <- function(cdf) complete_cdf(fit, cdf, fit$points, predicted)
    fit$cdf0 <- drop(complete(rbind(start$conditional[shown, last])))
    fit$density0 <- start$gain[shown, last] * density
    if (model$kind == "copula_regression") {
      cdf <- matrix(start$conditional, values_each(fit))[-seq_along(fit$response_at), , drop = FALSE]
      fit$mean0 <- drop(grid_functional(fit$inner_at, t(cdf), list(new_functional("mean")))) + fit$at$trend
    }
    fit$orders$cdf <- complete(orders_by_points(by_order$conditional, last)[, shown, drop = FALSE])
    fit$orders$density <- sweep(orders_by_points(by_order$gain, last)[, shown, drop = FALSE], 2L, density, "*")
  }
  fit
}

# Chooses the bandwidth, and scores it.
fit_bandwidth <- function(fit, run) {
  fit$bandwidth <- choose_bandwidth(fit, run)
  fit$rho <- fit$bandwidth$rho
  fit$rho_x <- if (ncol(fit$data$x)) stats::setNames(fit$bandwidth$rho_x, colnames(fit$data$x))
  found <- prequential(fit, fit$bandwidth, run)
  fit$normal_score <- found$score
  fit$score <- mean(found$log_score) + start_score(fit)
  fit$order_scores <- drop(found$log_score) + start_score(fit)
  fit
}

# By how much the score is better than without a mean function and with weights that hardly depend on the covariates.
covariate_gain <- function(fit, run) {
  alone <- without_trend(fit)
  # Classes start from their frequencies then.
  if (!is.null(fit$data$start)) alone$data$start <- rep(stats::qlogis(mean(fit$data$y)), fit$n)
  bandwidth <- list(rho = fit$rho, rho_x = rep(rho_ends[[1L]], ncol(fit$data$x)))
  fit$score - start_score(alone) - mean(prequential(alone, bandwidth, run)$log_score)
}

# The fit on another scale, if its prequential score is better there by more than what the two parameters of a scale
# cost. Scores are compared in the units of the data.
on_better_scale <- function(fit, run) {
  if (fit$model$scale == "data") return(fit)
  y <- from_scale(fit$scale, fit$standard$center + fit$standard$scale * drop(fit$data$y))
  score <- function(fit) fit$score - log(fit$standard$scale) + mean(log_slope(fit$scale, y))
  soft <- soften_log(fit$scale, y)
  if (!is.null(soft)) {
    other <- fit_bandwidth(on_scale(fit, y, soft), run)
    if (score(other) > score(fit)) fit <- other
  }
  base <- score(fit)
  shorter <- shorten_gaps(utils::modifyList(new_scale(fit$scale$support), fit$scale["softness"]), y)
  for (scale in list(if (!is.null(shorter$knots)) shorter, find_bend(shorter, y), find_mixture(shorter, y))) {
    if (is.null(scale)) next
    other <- fit_bandwidth(on_scale(fit, y, scale), run)
    gain <- score(other) - base
    if ((gain - max(0, fit$scale$gain)) * length(y) <= 2) next
    fit <- other
    fit$scale$gain <- gain
  }
  fit
}

# The rows of a state that belong to what the user sees. A regression's state also has values of the response that only
# its quantities use.
shown_rows <- function(fit) {
  if (fit$model$kind != "copula_regression") return(seq_len(nrow(fit$at$y)))
  as.vector(outer(seq_along(fit$response_at), (seq_len(nrow(fit$points)) - 1L) * values_each(fit), "+"))
}

# The first states of resamples. `found` is what the data predict at the points, if that is known.
start_states <- function(fit, at, run, found = NULL) {
  if (is_placed(fit) || !is.null(fit$trend)) return(c(placed_states(fit, at, run), list(rows = NULL)))
  several <- function(x) array(x, c(dim(x), fit$count))
  if (is.null(found)) found <- .Call(C_predictive_average, state_at(fit, at, run))
  list(conditional = several(found$conditional), gain = several(found$gain), rows = NULL)
}

# One coordinate of an array points x coordinates x orders (or draws), as a matrix of orders (or draws) x points.
orders_by_points <- function(array, last) {
  t(matrix(array[, last, ], dim(array)[[1L]], dim(array)[[3L]]))
}

state_at <- function(fit, at, run) {
  native(C_predictive_state, loop_data(fit), loop_bandwidth(fit, fit$bandwidth), fit$order, fit$normal_score,
    loop_points(fit, at), run)
}

# The part of the score that the compiled fit leaves out: the mean log density of the standardised data (or log
# probability) as predicted before the first observation.
start_score <- function(fit) {
  if (fit$data$binary) return(0)
  mean(rowSums(stats::dnorm(fit$data$y, log = TRUE))) - (if (is.null(fit$trend)) 0 else log(fit$trend$spread))
}

# Data ---------------------------------------------------------------------------

as_columns <- function(y, argument) {
  y <- without_integer64(y)
  if (is.data.frame(y)) {
    odd <- which(!vapply(y, is.numeric, NA))
    if (length(odd)) {
      name <- names(y)[[odd[[1L]]]]
      stop_input(argument, "must have numeric columns; column ",
        if (is.na(name) || !nzchar(name)) odd[[1L]] else dQuote(name, FALSE), " is ", show_value(y[[odd[[1L]]]]))
    }
    y <- as.matrix(y)
  }
  if (is.matrix(y)) {
    if (ncol(y) == 0L || nrow(y) == 0L) stop_input(argument, "is empty: ", show_value(y))
    return(check_coordinates(y, argument))
  }
  matrix(check_numeric_vector(y, argument))
}

# The centre and scale of each column. A constant column has no scale, which is an error.
standard_of <- function(y, wanted, argument) {
  if (!wanted) return(list(center = rep(0, ncol(y)), scale = rep(1, ncol(y))))
  center <- colMeans(y)
  scale <- sqrt(colMeans(sweep(y, 2L, center)^2))
  # Squares of values such as 1e300 or 1e-200 are not numbers, or 0.
  extreme <- which(!is.finite(scale) | scale < 1e-150)
  for (j in extreme) {
    unit <- max(abs(y[, j]))
    if (unit > 0) {
      small <- y[, j] / unit
      center[[j]] <- mean(small) * unit
      scale[[j]] <- sqrt(mean((small - mean(small))^2)) * unit
    }
  }
  constant <- which(scale <= 1e-13 * abs(center) | scale == 0)
  if (length(constant)) {
    name <- colnames(y)[constant[[1L]]]
    column <- if (is.null(name) || !nzchar(name)) constant[[1L]] else dQuote(name, FALSE)
    column <- if (ncol(y) > 1L) paste(" in column", column)
    stop_input(argument, if (nrow(y) == 1L) "has one observation" else paste0("is constant", column),
      ": it cannot be standardised")
  }
  list(center = center, scale = scale)
}

apply_standard <- function(y, standard) {
  sweep(sweep(y, 2L, standard$center), 2L, standard$scale, "/")
}

density_data <- function(fit, y) {
  y <- as_columns(y, "y")
  model <- fit$model
  if (!is.null(model$rho) && !length(model$rho) %in% c(1L, ncol(y))) {
    stop_input("rho", sprintf(
      "has %d values; the data have %d column%s", length(model$rho), ncol(y), if (ncol(y) > 1L) "s" else ""
    ))
  }
  fit$n <- nrow(y)
  points <- model$points
  if (ncol(y) > 1L) {
    if (any(is.finite(model$support))) {
      stop_input("support", sprintf("is for one variable; the data have %d columns", ncol(y)))
    }
    fit$standard <- standard_of(y, model$standardize, "y")
    fit$standard$names <- column_labels(y)
    fit$data <- list(binary = FALSE, y = apply_standard(y, fit$standard), x = matrix(0, nrow(y), 0L))
  } else {
    check_support(drop(y), model$support)
    if (isTRUE(model$calibrate)) fit$atoms <- find_point_masses(drop(y), model$support)
    y <- y[!y %in% c(fit$atoms$value), , drop = FALSE]
    if (nrow(y) == 0L) stop_input("y", "has only values on the bounds of `support`: bayesian_bootstrap() takes them")
  }
  if (is.null(points)) {
    points <- if (ncol(y) > 1L) unique(y) else {
      margin <- standard_of(y, model$standardize, "y")$scale
      seq(max(min(y) - margin, model$support[[1L]]), min(max(y) + margin, model$support[[2L]]), length.out = 200L)
    }
  }
  points <- as_columns(points, "points")
  if (ncol(points) != ncol(y)) {
    stop_input("points", sprintf(
      "has %d column%s; the data have %d", ncol(points), if (ncol(points) > 1L) "s" else "", ncol(y)
    ))
  }
  fit$points <- if (ncol(points) == 1L) drop(unname(points)) else points
  if (ncol(y) == 1L) return(on_scale(fit, drop(y), new_scale(model$support)))
  fit$at <- density_points(fit, points)
  fit
}

check_support <- function(y, support) {
  outside <- which(y < support[[1L]] | y > support[[2L]])
  if (length(outside)) {
    stop_input("support", sprintf("is %s to %s, and `y` has the value %s at position %d", format(support[[1L]]),
      format(support[[2L]]), format(y[[outside[[1L]]]]), outside[[1L]]))
  }
}

# The data and points of a density of one variable on a scale. `y`: the data without atoms.
on_scale <- function(fit, y, scale) {
  fit$scale <- with_ends(scale, y)
  y <- matrix(to_scale(fit$scale, y))
  fit$standard <- standard_of(y, fit$model$standardize, "y")
  fit$data <- list(binary = FALSE, y = apply_standard(y, fit$standard), x = matrix(0, nrow(y), 0L))
  fit$at <- density_points(fit, matrix(fit$points))
  fit
}

# Points as the loops read them. `density` is the density before any data. It is multiplied by the gains from the loops.
# Points outside of the support are far away.
density_points <- function(fit, points) {
  slope <- if (is.null(fit$scale)) 0 else log_slope(fit$scale, drop(points))
  y <- if (is.null(fit$scale)) points else matrix(to_scale(fit$scale, drop(points)))
  y <- apply_standard(y, fit$standard)
  y[] <- pmin(pmax(y, -1e300), 1e300)
  if (!is.null(fit$axes)) {
    y <- solve_lower(fit$axes, y)
    slope <- slope - sum(log(diag(fit$axes)))
  }
  if (!is.null(fit$first)) {
    y <- turned(fit$first$turn, y)
    before <- y[, 1L]
    slope_before <- slope
    slope <- slope + log_slope(fit$first$scale, before)
    y[, 1L] <- to_scale(fit$first$scale, before)
  }
  log_density <- rowSums(stats::dnorm(y, log = TRUE)) - sum(log(fit$standard$scale)) + slope
  at <- list(y = unname(y), x = matrix(0, nrow(y), 0L), slope = slope, log_density = log_density,
    density = exp(log_density))
  if (!is.null(fit$first)) at[c("before", "slope_before")] <- list(before, slope_before)
  if (!is.null(fit$scale$groups)) {
    scale <- fit$scale
    scale$groups <- NULL
    at$before <- pmin(pmax(to_scale(scale, drop(points)), -1e300), 1e300)
    at$slope_before <- log_slope(scale, drop(points))
  }
  at
}

# The data of a regression or classification, from the model frame.
formula_data <- function(fit, y) {
  if (!is.data.frame(y)) stop_input("y", "must be a data frame for a model with a formula, not ", show_value(y))
  model <- fit$model
  frame <- covariate_frame(model$formula, y, source = "y")
  check_frame(frame, "y")
  if (nrow(frame) == 0L) stop_input("y", "has no rows")
  terms <- stats::delete.response(stats::terms(frame))
  check_factors(frame, terms, source = "y")
  fit$frame <- fitted_frame(model$formula, frame, terms)
  x <- covariate_columns(frame, terms)
  if (ncol(x) == 0L) stop_input("formula", "has no covariates: use copula_density()")
  if (is_joint(fit)) check_joint(frame, terms)
  fit$group <- attr(x, "group")
  groups <- max(fit$group)
  if (!is.null(model$rho_x) && !length(model$rho_x) %in% c(1L, groups, ncol(x))) {
    stop_input("rho_x", sprintf("has %d values; there are %d covariates%s", length(model$rho_x), groups,
      if (groups < ncol(x)) sprintf(" in %d columns", ncol(x)) else ""))
  }
  fit$n <- nrow(x)
  fit$standard_x <- standard_of(x, model$standardize, "y")
  response <- stats::model.response(frame)
  points <- if (is.null(model$points)) y else model$points
  if (model$kind == "copula_classification") {
    classes <- two_classes(response, "y")
    fit$classes <- classes$labels
    fit$data <- list(binary = TRUE, y = matrix(classes$y), x = apply_standard(x, fit$standard_x))
  } else {
    if (!is.numeric(response) || !is.null(dim(response))) {
      stop_input("y", "must have a numeric response, not ", show_value(response),
        if (is.factor(response) || is.character(response) || is.logical(response)) {
          ": use copula_classification() for classes"
        })
    }
    response <- matrix(as.double(response))
    fit$standard <- standard_of(response, model$standardize, "y")
    fit$data <- list(binary = FALSE, y = apply_standard(response, fit$standard), x = apply_standard(x, fit$standard_x))
    fit$response_at <- if (is.null(model$at)) {
      margin <- fit$standard$scale
      seq(min(response) - margin, max(response) + margin, length.out = 50L)
    } else {
      sort(unique(check_numeric_vector(model$at, "at")))
    }
    fit$inner_at <- inner_response(fit)
  }
  if (inherits(model$mean, "formula")) fit$frame$mean <- mean_frame(fit, y)
  covariates <- point_covariates(fit, points, "points")
  fit$points <- points[intersect(all.vars(terms), names(points))]
  fit$design <- list(data = mean_design(fit, fit$data$x, y, "y"),
    points = mean_design(fit, covariates, fit$points, "points"))
  fit$at <- grid_points(fit, covariates, fit$design$points)
  fit
}

covariate_names <- function(frame, terms) {
  intersect(rownames(attr(terms, "factors")), names(frame))
}

# Covariates as columns of numbers, with the covariate that each column belongs to as attribute "group". A factor has an
# indicator for each level, so that the result does not depend on which level is the first; two levels need one
# indicator. Ordered levels are numbered. The columns of a factor are one group; each numeric column is a group.
covariate_columns <- function(frame, terms) {
  coding <- NULL
  for (name in covariate_names(frame, terms)) {
    # The classes of the data, since new points may have characters for their levels.
    class <- attr(terms, "dataClasses")[[name]]
    if (class == "ordered") {
      frame[[name]] <- as.double(frame[[name]])
    } else if (class %in% c("factor", "character")) {
      frame[[name]] <- as.factor(frame[[name]])
      coding[[name]] <- stats::contr.treatment(levels(frame[[name]]), contrasts = nlevels(frame[[name]]) < 3L)
    }
  }
  x <- stats::model.matrix(terms, frame, contrasts.arg = coding)
  term <- attr(x, "assign")
  coded <- logical(length(term))
  if (length(coding)) coded <- term %in% which(colSums(attr(terms, "factors")[names(coding), , drop = FALSE]) > 0)
  group <- ifelse(coded, -term, seq_along(term))[term > 0]
  x <- x[, term > 0, drop = FALSE]
  attr(x, "group") <- match(group, unique(group))
  x
}

# The columns of the covariates at points, in the units of the copulas.
point_covariates <- function(fit, points, argument) {
  frame <- new_frame(fit$frame, fit$frame$terms, points, argument)
  check_frame(frame, argument)
  x <- covariate_columns(frame, fit$frame$terms)
  attr(x, "group") <- NULL
  unname(apply_standard(x, fit$standard_x))
}

# A response with two classes as 0 and 1, and the labels of both classes.
two_classes <- function(response, argument) {
  if (is.logical(response)) response <- factor(response, c(FALSE, TRUE))
  values <- if (is.factor(response)) levels(droplevels(response)) else sort(unique(response))
  if (!is.null(dim(response)) || length(values) != 2L) {
    stop_input(argument, sprintf("must have a response with two classes; it has %d", length(values)),
      if (length(values) > 2L && is.factor(response)) {
        paste0(": a class against the others is a logical response, such as (response == ", dQuote(values[[1L]], FALSE),
          ")")
      })
  }
  list(y = as.double(as.character(response) == as.character(values[[2L]])), labels = as.character(values))
}

# Bandwidth ------------------------------------------------------------------------

rho_ends <- c(0.001, 0.999)

# Densities of many variables grow beyond the largest number where rows repeat. Their score is this.
overflowed <- -1e6
stop_overflow <- function() {
  stop_input("y", "has rows that repeat so often that densities of its columns are beyond the largest number: use ",
    "smaller correlations or fewer columns")
}

# Chooses the correlations that are not given. The prequential score is maximised over their logits by a quasi-Newton
# method with bounds (L-BFGS-B), from the best of a coarse grid of common values. Its gradient is computed by central
# differences, all of them in one batch of fits.
choose_bandwidth <- function(fit, run) {
  model <- fit$model
  d <- ncol(fit$data$y)
  q <- ncol(fit$data$x)
  one <- model$bandwidths == "one"
  # The number of the free parameter that each correlation is, or 0 if the correlation is given.
  free <- if (is.null(model$rho)) if (one || model$kind != "copula_density") rep(1L, d) else seq_len(d) else rep(0L, d)
  free_x <- if (q > 0L && is.null(model$rho_x)) max(free) + if (one) rep(1L, q) else fit$group else rep(0L, q)
  given <- rep_len(if (is.null(model$rho)) 0.5 else model$rho, d)
  given_x <- if (is.null(model$rho_x)) rep(0.5, q) else {
    if (length(model$rho_x) == q) model$rho_x else rep_len(model$rho_x, max(fit$group))[fit$group]
  }
  spread <- function(parameter) {
    parameter <- rbind(parameter)
    take <- function(index, fixed) {
      value <- matrix(fixed, length(fixed), nrow(parameter))
      value[index > 0L, ] <- t(parameter[, index[index > 0L], drop = FALSE])
      value
    }
    list(rho = take(free, given), rho_x = take(free_x, given_x))
  }
  count <- max(0L, free, free_x)
  if (count == 0L) return(list(rho = given, rho_x = given_x))
  if (nrow(fit$data$y) < 2) stop_input("rho", "must be given: one observation does not say what it should be")
  # The score of each row of `parameter`, a matrix of sets x count correlations. Fits run in batches of 64 MB.
  scores <- function(parameter) {
    each <- 8 * ncol(fit$order) * nrow(fit$data$y) * (3 * d + 3 + (if (is_joint(fit)) 3 else 2) * q)
    batches <- split(seq_len(nrow(parameter)), (seq_len(nrow(parameter)) - 1L) %/% max(1, floor(64e6 / each)))
    value <- unlist(lapply(batches, function(sets) {
      colMeans(prequential(fit, spread(parameter[sets, , drop = FALSE]), run)$log_score)
    }), use.names = FALSE)
    replace(value, !is.finite(value), overflowed)
  }
  coarse <- c(0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
  grid <- if (any(free > 0L) && any(free_x > 0L)) as.matrix(expand.grid(coarse, coarse)) else cbind(coarse, coarse)
  is_x <- seq_len(count) > max(free)
  # Ends of each free correlation.
  ends <- matrix(rho_ends, 2L, count)
  ends[, !is_x] <- response_ends(fit)
  if (!all(is_x)) {
    within <- grid[, 1L] >= ends[[1L]] & grid[, 1L] <= ends[[2L]]
    grid <- grid[within, , drop = FALSE]
  }
  trial <- matrix(0, nrow(grid), count)
  trial[, !is_x] <- grid[, 1L]
  trial[, is_x] <- grid[, 2L]
  tried <- scores(trial)
  best <- which.max(tried)
  if (tried[[best]] == overflowed) stop_overflow()
  last <- list(parameter = NULL)
  step <- 1e-4
  evaluate <- function(logit) {
    if (!identical(logit, last$parameter)) {
      rows <- outer(rep(1, count), logit)
      at <- rbind(logit, rows + diag(step, count), rows - diag(step, count))
      value <- scores(stats::plogis(at))
      last <<- list(parameter = logit, value = -value[[1L]],
        gradient = -(value[1L + seq_len(count)] - value[1L + count + seq_len(count)]) / (2 * step))
    }
    last
  }
  found <- stats::optim(
    stats::qlogis(trial[best, ]), function(logit) evaluate(logit)$value, function(logit) evaluate(logit)$gradient,
    method = "L-BFGS-B", lower = stats::qlogis(ends[1L, ]), upper = stats::qlogis(ends[2L, ]),
    control = list(maxit = 100L, factr = 1e6)
  )
  chosen <- spread(stats::plogis(found$par))
  list(rho = drop(chosen$rho), rho_x = drop(chosen$rho_x))
}

# Steps --------------------------------------------------------------------------

advance_copula <- function(fit, steps, run, progress) {
  values <- length(fit$state$conditional) + length(fit$state$rows)
  records <- list()
  record <- function() records[[length(records) + 1L]] <<- copula_quantities(copula_values(fit))
  if (fit$every > 0 && is.null(fit$trajectories)) {
    record()
    check_result_size(length(records[[1L]]) * (steps / fit$every + 1), "trajectories", "points of trajectories",
      copies = 2)
  }
  outcome <- in_slices(steps, max(1, 4e6 / values), progress, function(done, steps) {
    end <- fit$horizon + steps
    while (fit$horizon < end) {
      now <- if (fit$every > 0) min(end - fit$horizon, fit$every - fit$horizon %% fit$every) else steps
      fit$state <<- resample_state(fit, fit$at, fit$state, fit$horizon, now, run)
      fit$horizon <<- fit$horizon + now
      if (fit$every > 0 && fit$horizon %% fit$every == 0) record()
    }
  })
  fit <- ended(fit, outcome)
  copula_values(add_records(fit, records))
}

# A state after `steps` more steps.
resample_state <- function(fit, at, state, first, steps, run) {
  native(C_predictive_resample, loop_data(fit), loop_bandwidth(fit, step_bandwidth(fit)), loop_points(fit, at), state,
    fit$seed, list(resample = 0, step = first, most = most_of(fit)), steps, run)
}

# The numerator of the weights of the steps.
most_of <- function(fit) {
  if (!is.null(fit$calibration)) return(fit$calibration$most)
  if (is.null(fit$most)) 2 else fit$most
}

# The bandwidth of the steps.
step_bandwidth <- function(fit) {
  if (is.null(fit$calibration$rho)) return(fit$bandwidth)
  list(rho = fit$calibration$rho, rho_x = fit$bandwidth$rho_x)
}

# Adds records to the trajectories, an array of draws x times x quantities.
add_records <- function(fit, records) {
  if (length(records)) {
    before <- if (is.null(fit$trajectories)) 0L else dim(fit$trajectories)[[2L]]
    size <- c(dim(records[[1L]]), length(records))
    joined <- array(unlist(records), size, list(NULL, colnames(records[[1L]]), NULL))
    if (before > 0L) {
      size[[3L]] <- size[[3L]] + before
      joined <- array(c(aperm(fit$trajectories, c(1L, 3L, 2L)), joined), size, dimnames(joined))
    }
    fit$trajectories <- aperm(joined, c(1L, 3L, 2L))
    fit$times <- (seq_len(size[[3L]]) - 1) * fit$every
  }
  fit
}

# Computes what the resamples predict at the points from their states.
copula_values <- function(fit) {
  if (fit$data$binary) {
    fit$probability <- orders_by_points(fit$state$conditional, 1L)
    return(fit)
  }
  state <- response_state(fit, fit$state)
  last <- dim(state$conditional)[[2L]]
  shown <- shown_rows(fit)
  fit$cdf <- orders_by_points(state$conditional[shown, , , drop = FALSE], last)
  base <- base_densities(fit, fit$at)
  base <- if (is.matrix(base)) t(base[shown, , drop = FALSE]) else rep(base[shown], each = fit$count)
  fit$density <- orders_by_points(state$gain[shown, , , drop = FALSE], last) * base
  fit$cdf <- complete_cdf(fit, fit$cdf, fit$points)
  if (!is.null(fit$atoms)) fit$density <- fit$density * fit$atoms$density
  fit
}

copula_quantities <- function(fit) {
  functional <- fit$functional
  if (is.function(functional)) {
    points <- if (fit$model$kind == "copula_regression") regression_points(fit) else fit$points
    return(bind_quantities(list(each_resample(seq_len(fit$count), function(r) {
      if (fit$data$binary) {
        functional(points = points, probability = fit$probability[r, ])
      } else {
        functional(points = points, cdf = fit$cdf[r, ], density = fit$density[r, ])
      }
    }))))
  }
  if (fit$data$binary) {
    if (!is.null(functional)) stop_input("functional", "must be NULL or a function for classification")
    names <- indexed("probability", ncol(fit$probability))
    return(matrix(fit$probability, nrow(fit$probability), dimnames = list(NULL, names)))
  }
  several <- fit$model$kind == "copula_density" && NCOL(fit$points) > 1L
  if (any(kinds_of(functional) %in% c("coefficients", if (!several) "correlation"))) {
    stop_input("functional", "needs data with weights: use bayesian_bootstrap(), or a function")
  }
  if (fit$model$kind == "copula_regression") return(regression_quantities(fit, functional))
  if (several) {
    if (!is.null(functional)) return(several_quantities(fit, functional))
    return(matrix(fit$density, nrow(fit$density), dimnames = list(NULL, indexed("density", ncol(fit$density)))))
  }
  if (length(fit$points) < 2L && is.null(functional)) return(cbind(cdf = fit$cdf[, 1L], density = fit$density[, 1L]))
  if (is.null(functional)) functional <- check_functional(c("mean", "sd", "median"), fit$model)
  inner_quantities(fit, functional)
}

indexed <- function(what, count) {
  sprintf("%s[%d]", what, seq_len(count))
}

# The points of a regression as a data frame, with a row for each value of the response at each of them.
regression_points <- function(fit) {
  rows <- rep(seq_len(nrow(fit$points)), each = length(fit$response_at))
  response <- deparse1(fit$model$formula[[2L]])
  points <- fit$points[rows, , drop = FALSE]
  points[[response]] <- rep(fit$response_at, nrow(fit$points))
  rownames(points) <- NULL
  points
}

regression_quantities <- function(fit, functional) {
  if (length(fit$response_at) < 2L && is.null(functional)) {
    return(matrix(fit$cdf, nrow(fit$cdf), dimnames = list(NULL, indexed("cdf", ncol(fit$cdf)))))
  }
  functional <- if (is.null(functional)) list(new_functional("mean")) else functional
  cdf <- orders_by_points(response_state(fit, fit$state)$conditional, 1L)
  each <- values_each(fit)
  inner <- seq(length(fit$response_at) + 1L, each)
  parts <- lapply(seq_len(nrow(fit$points)), function(i) {
    at <- fit$inner_at + fit$at$trend[[i]]
    value <- grid_functional(at, cdf[, (i - 1L) * each + inner, drop = FALSE], functional)
    colnames(value) <- sprintf("%s[%d]", colnames(value), i)
    value
  })
  do.call(cbind, parts)
}
