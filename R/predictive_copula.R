# Copula predictions. Beside what all records have (R/predictive_kinds.R), the record of a copula model has
#   read(fit, y)                      the fit with its data and points
#   loops                             what the compiled loops read: conditional_loops or joint_loops
#   choose(fit, run)                  the fit with the scale, axes or mean function and the bandwidth that it chooses
#   ends(fit)                         bounds of the response's correlation
#   inner(fit)                        list(y, x): points for computing quantities, or NULL
#   calibrate(fit, inner, run)        `calibration` and other parts of the fit; `inner`: what the data predict there
#   unplaced(fit, at)                 where the law of the data has what each resample has at the points: points x draws
#   base(fit, at)                     the densities that multiply gains, for all resamples or points x draws
#   rows(fit, run)                    of classes: the resamples' predictions for the data's rows
#   predicted(fit, start)             parts of the fit: what the data predict at the points
#   values(fit)                       parts of the fit: what the resamples predict at the points
#   own(fit, functional)              quantities
#   places(fit)                       the points for a function as `functional`
#   new_points(fit, newdata, type)    list(at): points of predict()

copula_kind <- function(...) {
  with_parts(list(
    limit = "never", has_prior = FALSE, arguments = c("points", "cdf", "density"), leading = 0L, cost = copula_cost,
    start = start_copula, advance = advance_copula,
    quantities = function(fit, run, progress) list(draws = copula_quantities(fit)), left = copula_left,
    loops = conditional_loops, inner = function(fit) NULL, calibrate = function(fit, inner, run) list(),
    predicted = copula_predictions, values = copula_values, predict = predict_copula,
    places = function(fit) fit$points
  ), ...)
}

copula_cost <- function(model, y, draws, steps) {
  points <- if (is.numeric(model$points)) length(model$points) else 100
  updates <- as.double(points) * draws * (steps + NROW(y))
  call_cost(serial = 2e-2, parallel = updates * 6e-8, fixed = 3e-2, down = 8 * as.double(points) * draws,
    compute = updates * 1.2e-9)
}

copula_words <- function(model, what, after = NULL) {
  paste0(what, ", ", if (is.null(model$rho)) "rho chosen by prequential log score" else {
    paste("rho =", paste(four_digits(model$rho), collapse = ", "))
  }, "; ", if (model$permutations == 0) "data in the order given" else {
    sprintf("averaged over %.0f orders of the data", model$permutations)
  }, after)
}

copula_model <- function(kind, ..., rho, standardize, permutations, bandwidths, choices, calibrate, length = NULL) {
  new_predictive_model(kind, ..., rho = check_rho(rho, "rho", length),
    standardize = check_flag(standardize, "standardize"),
    permutations = check_count(permutations, "permutations", min = 0, max = 1e4),
    bandwidths = check_choice(bandwidths, "bandwidths", choices), calibrate = check_flag(calibrate, "calibrate"))
}

check_rho <- function(rho, argument, length = NULL) {
  if (is.null(rho)) return(NULL)
  must_be(is.numeric(rho) && length(rho) && (is.null(length) || length(rho) == length), argument,
    paste(if (is.null(length)) "numbers" else "one number", "strictly between 0 and 1, or NULL"), rho)
  bad <- match(FALSE, rho > 0 & rho < 1 & !is.na(rho))
  if (!is.na(bad)) {
    stop_input(argument, "must be strictly between 0 and 1; it is ", show_value(rho[[bad]]),
      if (length(rho) > 1L) paste(" at position", bad))
  }
  stats::setNames(as.double(rho), names(rho))
}

start_copula <- function(fit, y, run) {
  fit <- record(fit)$read(fit, y)
  if (!is.null(fit$values)) return(fit)
  kind <- record(fit)
  n <- nrow(fit$data$y)
  size <- as.double(length(fit$at$y)) * kind$loops$coordinates(fit) + length(kind$inner(fit)$y)
  check_result_size(fit$count * size, "draws", "values", copies = 6)
  permutations <- fit$model$permutations
  fit <- with_parts(fit, order = if (permutations == 0) matrix(seq_len(n) - 1L) else {
    .Call(C_predictive_orders, fit$seed, n, permutations)
  })
  fit <- kind$choose(fit, run)
  inner <- kind$inner(fit)
  at_inner <- if (!is.null(inner)) average_at(fit, inner, run)
  fit <- with_parts(fit, inner = inner)
  fit <- with_parts(fit, parts = kind$calibrate(fit, at_inner, run))
  start <- average_at(fit, fit$at, run)
  fit <- with_parts(fit, state = start_states(fit, fit$at, run, start))
  if (!is.null(inner)) fit <- with_inner(fit, at_inner)
  with_parts(fit, parts = kind$predicted(fit, kind$loops$response(start)))
}

# `bandwidth`: vectors, or matrices with a column each. `response`: of the response given the covariates, its
# distribution function, and by how much its density has grown: points x coordinates (x draws).
conditional_loops <- list(
  coordinates = function(fit) 1, data = function(fit) fit$data, points = function(at) at[c("y", "x")],
  bandwidth = identity, response = identity)
joint_loops <- list(
  coordinates = function(fit) ncol(fit$data$x) + 1,
  data = function(fit) {
    data <- fit$data
    list(binary = FALSE, y = unname(cbind(data$x, data$y)), x = matrix(0, nrow(data$y), 0L), given = ncol(data$x))
  },
  points = function(at) list(y = unname(cbind(at$x, at$y)), x = matrix(0, nrow(at$y), 0L)),
  bandwidth = function(bandwidth) {
    list(rho = unname(rbind(as.matrix(bandwidth$rho_x), as.matrix(bandwidth$rho))), rho_x = numeric())
  },
  response = function(state) {
    last <- dim(state$gain)[[2L]]
    coordinate <- function(value, j) {
      if (length(dim(value)) == 3L) value[, j, , drop = FALSE] else value[, j, drop = FALSE]
    }
    list(conditional = coordinate(state$conditional, last),
      gain = coordinate(state$gain, last) / coordinate(state$gain, last - 1L))
  }
)

prequential <- function(fit, bandwidth, run) {
  loops <- record(fit)$loops
  native(C_predictive_fit, loops$data(fit), loops$bandwidth(bandwidth), fit$order, run)
}

state_at <- function(fit, at, run) {
  loops <- record(fit)$loops
  native(C_predictive_state, loops$data(fit), loops$bandwidth(fit$bandwidth), fit$order, fit$normal_score,
    loops$points(at), run)
}
average_at <- function(fit, at, run) .Call(C_predictive_average, state_at(fit, at, run))

resample_state <- function(fit, at, state, first, steps, run) {
  loops <- record(fit)$loops
  native(C_predictive_resample, loops$data(fit), loops$bandwidth(step_bandwidth(fit)), loops$points(at), state,
    fit$seed, list(resample = 0, step = first, most = most_of(fit)), steps, run)
}

most_of <- function(fit) if (is.null(fit$calibration$most)) 2 else fit$calibration$most

step_bandwidth <- function(fit) {
  if (is.null(fit$calibration$rho)) return(fit$bandwidth)
  list(rho = fit$calibration$rho, rho_x = fit$bandwidth$rho_x)
}

fit_bandwidth <- function(fit, run) {
  bandwidth <- choose_bandwidth(fit, run)
  found <- prequential(fit, bandwidth, run)
  start <- start_score(fit)
  with_parts(fit, bandwidth = bandwidth, rho = bandwidth$rho,
    rho_x = if (ncol(fit$data$x)) stats::setNames(bandwidth$rho_x, colnames(fit$data$x)), normal_score = found$score,
    score = mean(found$log_score) + start, orders = list(score = drop(found$log_score) + start))
}

# The part of the score that the compiled fit leaves out: the mean log density of the standardised data at the start.
start_score <- function(fit) {
  if (fit$data$binary) return(0)
  mean(rowSums(stats::dnorm(fit$data$y, log = TRUE))) - (if (is.null(fit$trend)) 0 else log(fit$trend$spread))
}

rho_ends <- c(0.001, 0.999)

# Densities of many variables grow beyond the largest number where rows repeat. Their score is this.
overflowed <- -1e6
stop_overflow <- function() {
  stop_input("y", "has rows that repeat so often that densities of its columns are beyond the largest number: use ",
    "smaller correlations or fewer columns")
}

choose_bandwidth <- function(fit, run) {
  model <- fit$model
  d <- ncol(fit$data$y)
  q <- ncol(fit$data$x)
  one <- model$bandwidths == "one"
  # The number of the free parameter that each correlation is, or 0 if the correlation is given.
  free <- if (!is.null(model$rho)) rep(0L, d) else if (one) rep(1L, d) else seq_len(d)
  free_x <- if (q > 0L && is.null(model$rho_x)) max(free) + if (one) rep(1L, q) else fit$group else rep(0L, q)
  rho_x <- if (is.null(model$rho_x)) 0.5 else model$rho_x
  given <- c(rep_len(if (is.null(model$rho)) 0.5 else model$rho, d),
    if (q > 0L && length(rho_x) != q) rep_len(rho_x, max(fit$group))[fit$group] else rep_len(rho_x, q))
  index <- c(free, free_x)
  spread <- function(parameter) {
    value <- matrix(given, d + q, nrow(parameter))
    value[index > 0L, ] <- t(parameter[, index, drop = FALSE])
    list(rho = value[seq_len(d), , drop = FALSE], rho_x = value[d + seq_len(q), , drop = FALSE])
  }
  count <- max(index)
  if (count == 0L) return(lapply(spread(matrix(0, 1L, 0L)), drop))
  if (nrow(fit$data$y) < 2) stop_input("rho", "must be given: one observation does not say what it should be")
  # The score of each row of `parameter`, a matrix of sets x count correlations. Fits run in batches of 64 MB.
  scores <- function(parameter) {
    each <- 8 * ncol(fit$order) * nrow(fit$data$y) * (3 * d + 3 + 3 * q)
    value <- unlist(lapply(parts_of(nrow(parameter), 64e6 / each), function(sets) {
      colMeans(prequential(fit, spread(parameter[sets, , drop = FALSE]), run)$log_score)
    }))
    replace(value, !is.finite(value), overflowed)
  }
  is_x <- seq_len(count) > max(free)
  ends <- matrix(rho_ends, 2L, count)
  ends[, !is_x] <- record(fit)$ends(fit)
  coarse <- c(0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
  grid <- if (any(is_x) && !all(is_x)) as.matrix(expand.grid(coarse, coarse)) else cbind(coarse, coarse)
  if (!all(is_x)) grid <- grid[grid[, 1L] >= ends[[1L]] & grid[, 1L] <= ends[[2L]], , drop = FALSE]
  trial <- grid[, 1L + is_x, drop = FALSE]
  tried <- scores(trial)
  best <- which.max(tried)
  if (tried[[best]] == overflowed) stop_overflow()
  loss <- function(logits) -scores(stats::plogis(rbind(logits)))
  slopes <- function(logit) {
    rows <- outer(rep(1, count), logit)
    values <- loss(rbind(rows + diag(1e-4, count), rows - diag(1e-4, count)))
    (values[seq_len(count)] - values[count + seq_len(count)]) / 2e-4
  }
  found <- stats::optim(unname(stats::qlogis(trial[best, ])), loss, slopes, method = "L-BFGS-B",
    lower = stats::qlogis(ends[1L, ]), upper = stats::qlogis(ends[2L, ]), control = list(maxit = 100L, factr = 1e6))
  lapply(spread(rbind(stats::plogis(found$par))), drop)
}

# The first states of resamples. `found` is what the data predict at the points.
start_states <- function(fit, at, run, found) {
  state <- if (is_placed(fit) || !is.null(fit$trend)) placed_states(fit, at, run) else {
    lapply(found[c("conditional", "gain")], function(x) array(x, c(dim(x), fit$count)))
  }
  rows <- record(fit)$rows
  c(state, list(rows = if (!is.null(rows)) rows(fit, run)))
}

is_placed <- function(fit) !is.null(fit$calibration$stretch)

# Of resamples that are placed or have their own mean function: each has the points elsewhere in the law of the data.
placed_states <- function(fit, at, run) {
  d <- ncol(at$y)
  y <- matrix(record(fit)$unplaced(fit, at), ncol = d)
  x <- at$x[rep_len(seq_len(nrow(at$y)), nrow(y)), , drop = FALSE]
  # All orders of the data at once, in parts of 64 MB.
  found <- lapply(parts_of(nrow(y), 2e6 / ncol(fit$order) / d), function(part) {
    average_at(fit, list(y = y[part, , drop = FALSE], x = x[part, , drop = FALSE]), run)
  })
  lapply(c(conditional = "conditional", gain = "gain"), function(what) {
    value <- do.call(rbind, lapply(found, `[[`, what))
    aperm(array(value, c(nrow(at$y), fit$count, ncol(value))), c(1L, 3L, 2L))
  })
}

# States at the inner points come after those of the user's points.
with_inner <- function(fit, found) {
  for (part in c("conditional", "gain")) {
    own <- fit$state[[part]]
    value <- array(0, dim(own) + c(nrow(found[[part]]), 0L, 0L))
    value[seq_len(nrow(own)), , ] <- own
    value[-seq_len(nrow(own)), , ] <- found[[part]]
    fit$state[[part]] <- value
  }
  fit
}

inner_cdf <- function(fit) draws_by_points(fit$state$conditional, 1L)[, -seq_len(nrow(fit$at$y)), drop = FALSE]

advance_copula <- function(fit, steps, run, progress) {
  values <- length(fit$state$conditional) + length(fit$state$rows)
  records <- list()
  keep <- function() records[[length(records) + 1L]] <<- copula_quantities(with_values(fit))
  if (fit$every > 0 && is.null(fit$trajectories)) {
    keep()
    check_result_size(length(records[[1L]]) * (steps / fit$every + 1), "trajectories", "points of trajectories",
      copies = 2)
  }
  outcome <- in_slices(steps, max(1, 4e6 / values), progress, function(done, steps) {
    end <- fit$horizon + steps
    while (fit$horizon < end) {
      now <- if (fit$every > 0) min(end - fit$horizon, fit$every - fit$horizon %% fit$every) else steps
      fit <<- with_parts(fit, state = resample_state(fit, fit$at, fit$state, fit$horizon, now, run),
        horizon = fit$horizon + now)
      if (fit$every > 0 && fit$horizon %% fit$every == 0) keep()
    }
  })
  fit <- with_values(with_parts(fit, parts = outcome))
  if (!length(records)) return(fit)
  # The trajectories are an array of draws x times x quantities.
  joined <- c(if (!is.null(fit$trajectories)) aperm(fit$trajectories, c(1L, 3L, 2L)), unlist(records))
  size <- dim(records[[1L]])
  joined <- array(joined, c(size, length(joined) / prod(size)), list(NULL, colnames(records[[1L]]), NULL))
  with_parts(fit, trajectories = aperm(joined, c(1L, 3L, 2L)), times = (seq_len(dim(joined)[[3L]]) - 1) * fit$every)
}

# One coordinate of an array points x coordinates x draws, as a matrix of draws x points.
draws_by_points <- function(array, last) t(matrix(array[, last, ], dim(array)[[1L]], dim(array)[[3L]]))

copula_predictions <- function(fit, start) {
  if (!all(is.finite(start$gain))) stop_overflow()
  last <- ncol(start$conditional)
  shown <- fit$at$shown
  atoms <- predicted_atoms(fit)
  density <- fit$at$density[shown] * (if (is.null(atoms)) 1 else atoms$density)
  list(cdf0 = drop(complete_cdf(fit, rbind(start$conditional[shown, last]), fit$points, atoms)),
    density0 = start$gain[shown, last] * density)
}

with_values <- function(fit) with_parts(fit, parts = record(fit)$values(fit))

copula_values <- function(fit) {
  kind <- record(fit)
  state <- kind$loops$response(fit$state)
  last <- dim(state$conditional)[[2L]]
  shown <- fit$at$shown
  base <- kind$base(fit, fit$at)
  base <- if (is.matrix(base)) t(base[shown, , drop = FALSE]) else rep(base[shown], each = fit$count)
  density <- draws_by_points(state$gain, last)[, shown, drop = FALSE] * base
  cdf <- draws_by_points(state$conditional, last)[, shown, drop = FALSE]
  list(cdf = complete_cdf(fit, cdf, fit$points),
    density = if (is.null(fit$atoms)) density else density * fit$atoms$density)
}

copula_quantities <- function(fit) {
  kind <- record(fit)
  if (!is.function(fit$functional)) return(kind$own(fit, fit$functional))
  points <- kind$places(fit)
  bind_quantities(list(each_resample(seq_len(fit$count), function(r) {
    values <- lapply(unclass(fit)[kind$arguments[-1L]], function(value) value[r, ])
    do.call(fit$functional, c(list(points = points), values))
  })))
}

indexed <- function(what, value) {
  matrix(value, nrow(value), dimnames = list(NULL, sprintf("%s[%d]", what, seq_len(ncol(value)))))
}

# The sum over i > m of alpha_i^2, where alpha_i = (2 - 1/i)/(i + 1) = 3/(i + 1) - 1/i. With a numerator of
# at most `most` < 2, alpha_i = most/(i + 1) from i = 1/(2 - most) on.
copula_tail <- function(m, most = 2) {
  published <- function(m) 9 * trigamma(m + 2) + trigamma(m + 1) - 6 / (m + 1)
  if (most >= 2) return(published(m))
  from <- pmax(m, floor(1 / (2 - most)))
  most^2 * trigamma(from + 2) + published(m) - published(from)
}

copula_left <- function(fit) {
  tail <- function(horizon) copula_tail(nrow(fit$data$y) + horizon, most_of(fit))
  function(horizon) tail(horizon) / tail(0)
}

predict_copula <- function(fit, newdata, type, level, run) {
  kind <- record(fit)
  new <- kind$new_points(fit, newdata, type)
  start <- average_at(fit, new$at, run)
  found <- kind$loops$response(start)
  last <- ncol(found$conditional)
  is_class <- !is.null(new$outcome)
  value <- function(conditional, gain, density, atoms) {
    if (type == "mean") return(grid_means(fit$inner_at, conditional) + new$at$trend)
    if (type == "density") return(gain * density * (if (is.null(atoms)) 1 else atoms$density))
    drop(complete_cdf(fit, rbind(conditional), drop(new$points), atoms))
  }
  predicted <- predicted_atoms(fit)
  estimate <- value(found$conditional[, last], found$gain[, last], new$at$density, predicted)
  if (type == "class") return(factor(fit$classes[1L + (estimate > 0.5)], fit$classes))
  if (type == "log_density") {
    if (is_class) return(log(ifelse(new$outcome > 0.5, estimate, 1 - estimate)))
    log_density <- log(found$gain[, last]) + new$at$log_density
    if (is.null(predicted)) return(log_density)
    at <- match(drop(new$points), predicted$value)
    return(ifelse(is.na(at), log_density + log(predicted$density), log(drop(predicted$weight))[at]))
  }
  beyond <- if (ncol(fit$data$x)) beyond_reason(fit, point_rows(fit, new$at, length(estimate)))
  if (is.null(level)) return(predicted_rows(fit, estimate, NULL, beyond))
  state <- kind$loops$response(resamples_at(fit, new$at, start, run))
  base <- kind$base(fit, new$at)
  further <- if (type == "mean") further_moves(fit, new$at) else matrix(0, 1L, fit$count)
  draws <- vapply(seq_len(fit$count), function(r) {
    value(state$conditional[, last, r], state$gain[, last, r], if (is.matrix(base)) base[, r] else base,
      atoms_of(fit$atoms, r)) + further[, r]
  }, numeric(length(estimate)))
  predicted_rows(fit, estimate, pointwise(t(matrix(draws, length(estimate))), level), beyond)
}

resamples_at <- function(fit, at, start, run) {
  check_result_size(fit$count * as.double(length(start$conditional)), "newdata", "values", copies = 4)
  state <- start_states(fit, at, run, start)
  in_slices(fit$horizon, 4e6 / length(state$conditional), FALSE, function(done, steps) {
    state <<- resample_state(fit, at, state, done, steps, run)
  })
  state
}

# The sums of the columns of `influence` with a Bayesian bootstrap's weights, of mean 1, less 1: draws x columns.
bootstrap_sums <- function(fit, influence, run) {
  rows <- nrow(influence)
  drawn <- lapply(parts_of(fit$count, 8e6 / rows), function(r) {
    weight <- rows * native(C_predictive_bootstrap, rows, r[[1L]] - 1, length(r), 0, fit$seed, run) - 1
    do.call(cbind, lapply(seq_len(ncol(influence)), function(j) colSums(weight * influence[, j])))
  })
  do.call(rbind, drawn)
}

is_calibrated <- function(fit) {
  y <- fit$data$y
  d <- ncol(y)
  if (!isTRUE(fit$model$calibrate) || nrow(y) <= d || d > 3L) return(FALSE)
  if (d == 1L) diff(range(y)) > 0 else qr(sweep(y, 2L, colMeans(y)), tol = 1e-5)$rank == d
}

# `ends`: of the band, a matrix with two rows.
predicted_rows <- function(fit, estimate, ends = NULL, ...) {
  table <- data.frame(estimate = estimate)
  if (!is.null(ends)) table[c("lower", "upper")] <- list(ends[1L, ], ends[2L, ])
  class(table) <- c("predicted_rows", "data.frame")
  judged(table, "the predictions", list(fit), ...)
}

#' @export
print.predicted_rows <- function(x, ...) {
  shown <- utils::head(as.data.frame(unclass(x)), if (nrow(x) > 20L) 6L else 20L)
  print(shown, ...)
  if (nrow(x) > nrow(shown)) cat(sprintf("and %s more rows\n", whole_words(nrow(x) - nrow(shown))))
  invisible(x)
}
