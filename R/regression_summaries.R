# Summaries of rows over the draws of a fit, and the draws themselves.

# Mean, standard deviation and the quantiles `tails`: rows x (1, classes or linear predictors) x 4 or 5.
summarise_rows <- function(fit, rows, used, type, tails = c(0.05, 0.95), backend = NULL, threads = NULL) {
  family <- family_of(fit)
  shown <- max(1L, length(fit$response$classes) - (type == "link"))
  if (is.null(family$kernel) || length(tails) > 2L) {
    return(summarise_by_blocks(fit, rows, used, shown, tails, family$types[[type]]))
  }
  coefficients <- coefficient_matrix(fit)[used, , drop = FALSE]
  n <- nrow(rows$x)
  check_result_size(4 * n * shown, "newdata", "summaries", copies = 2)
  run <- resolve_run(backend, threads, work = as.double(n) * length(coefficients))
  draws <- list(coefficients = coefficients, outcomes = outcomes_of(fit),
    kind = if (type == "link") 0L else family$kernel, probability = tails)
  blocks <- effect_blocks(rows, length(used))
  summaries <- function(of_block) summarise_block(fit, of_block, draws, used, shown, run)
  out <- if (length(blocks) == 1L) summaries(rows) else array(NA_real_, c(n, shown, 4L))
  for (block in blocks[length(blocks) > 1L]) out[block, , ] <- summaries(subset_rows(rows, block))
  if (!all(rows$complete)) out[!rows$complete, , ] <- NA
  if (anyNA(out)) out[is.nan(out)] <- NA
  out
}

summarise_by_blocks <- function(fit, rows, used, shown, tails, values_of) {
  check_result_size(4 * as.double(nrow(rows$x)) * shown, "newdata", "summaries", copies = 2)
  out <- array(NA_real_, c(nrow(rows$x), shown, 2L + length(tails)))
  for_blocks(fit, rows, used, which(rows$complete), function(linear, block) {
    out[block, , ] <<- summaries_of_columns(matrix(values_of(linear), length(used)), tails)
  }, shown)
  out
}

# Mean, standard deviation and quantiles (type 7) of each column.
summaries_of_columns <- function(values, tails) {
  draws <- nrow(values)
  mean <- colMeans(values)
  deviation <- if (draws > 1L) sqrt(colSums((values - rep(mean, each = draws))^2) / (draws - 1)) else NA_real_
  sorted <- matrix(values[order(rep(seq_along(mean), each = draws), values)], draws)
  quantile <- function(p) {
    at <- 1 + (draws - 1) * p
    low <- floor(at)
    sorted[low, ] + (at - low) * (sorted[min(low + 1, draws), ] - sorted[low, ])
  }
  cbind(mean, deviation, matrix(vapply(tails, quantile, mean), length(mean)), deparse.level = 0L)
}

# New groups need draws: rows come in blocks of 64 MB that share no group of the term with most new groups.
effect_blocks <- function(rows, draws) {
  n <- nrow(rows$x)
  at_once <- max(1, floor(2^23 / draws))
  new <- lapply(rows$terms, function(term) ifelse(term$level %in% 0L, term$new_level, 0L))
  counts <- vapply(new, function(values) length(unique(values)), 0)
  if (n == 0L || all(counts <= at_once)) return(list(seq_len(n)))
  new <- new[[which.max(counts)]]
  unname(split(seq_len(n), ceiling(match(new, sort(unique(new))) / at_once)))
}

subset_rows <- function(rows, block) {
  rows$complete <- rows$complete[block]
  rows$offset <- offset_rows(rows$offset, block)
  rows$x <- rows$x[block, , drop = FALSE]
  rows$paths <- lapply(rows$paths, function(path) replace(path, "level", list(path$level[block])))
  rows$terms <- lapply(rows$terms, function(term) {
    list(level = term$level[block], new_level = term$new_level[block], z = term$z[block, , drop = FALSE],
      kept = term$kept)
  })
  rows
}

# Multiply-adds of the compiled code between which R can be interrupted.
slice_work <- c(cpu = 2^28, cuda = 2^33)

summarise_block <- function(fit, rows, draws, used, shown, run) {
  x <- rows$x
  n <- nrow(x)
  is_sparse <- is_sparse_matrix(x)
  data <- c(if (is_sparse) sparse_rows(x, rep(1, ncol(x))), list(
    x = if (!is_sparse) unname(x), rows = as.double(n), effects = regression_effects(fit, rows, used),
    offset = if (any(rows$offset != 0, na.rm = TRUE)) rep_len(rows$offset, n * draws$outcomes)
  ))
  if (!is_sparse && !is.double(data$x)) storage.mode(data$x) <- "double"
  size <- max(1000, floor(slice_work[[run$backend]] / length(draws$coefficients)))
  predict <- function(first, count) native(C_regression_predict, data, draws, first, count, run)
  if (n <= size) return(`dim<-`(predict(0, as.double(n)), c(n, shown, 4L)))
  out <- array(0, c(n, shown, 4L))
  for (first in size * (seq_len(ceiling(n / size)) - 1)) {
    count <- min(size, n - first)
    out[first + seq_len(count), , ] <- predict(first, count)
  }
  out
}

row_effects <- function(fit, rows, used) {
  Map(function(part, rows) regression_effects(part, rows, used), regressions_of(fit), c(list(rows), rows$others))
}

# For each effect the `level` of each row, from 0 (negative: none), its `multiple` (NULL: 1), and draws x levels.
regression_effects <- function(fit, rows, used) {
  terms <- rows$terms
  paths <- path_effects(fit, rows$paths, used)
  if (length(terms) == 0L) return(paths)
  fitted <- outcome_terms(fit)
  values <- stored_effects(fit)
  covariances <- if (any(vapply(terms, function(term) any(term$level %in% 0L), NA))) covariance_draws(fit)
  first <- c(0, cumsum(vapply(fitted, function(term) length(term$columns) * as.double(length(term$levels)), 0)))
  draw <- (used - 1) * dim(values)[[1L]]
  of_terms <- unlist(lapply(seq_along(fitted), function(i) {
    row <- terms[[(i - 1L) %% length(terms) + 1L]]
    q <- length(fitted[[i]]$columns)
    shown <- if (is.null(row$kept)) seq_len(q) else which(row$kept)
    if (length(shown) == 0L) return(list())
    known <- sort(unique(row$level[row$level > 0L]))
    level <- match(row$level, known)
    fresh <- which(row$level == 0L)
    groups <- unique(row$new_level[fresh])
    level[fresh] <- length(known) + match(row$new_level[fresh], groups)
    new <- if (length(fresh)) new_effects(covariances[[i]][, , used, drop = FALSE], length(groups))
    lapply(shown, function(k) {
      own <- values[as.vector(outer(draw, first[[i]] + (known - 1) * q + k, `+`))]
      list(outcome = if (is.null(fitted[[i]]$outcome)) 0L else fitted[[i]]$outcome, level = level - 1L,
        multiple = if (!is.null(row$z)) as.double(row$z[, k]),
        draw = matrix(c(own, if (length(fresh)) new[[k]]), length(used)))
    })
  }), recursive = FALSE)
  c(paths, of_terms)
}

# Linear predictors: draws x rows x outcomes. `effects`: of row_effects().
linear_draws <- function(fit, rows, used, block, effects = row_effects(fit, rows, used)) {
  each <- Map(function(part, rows, effects) regression_linear(part, rows, used, block, effects),
    regressions_of(fit), c(list(rows), rows$others), effects)
  family_of(fit)$join(each, dispersion_used(fit, used))
}

regression_linear <- function(fit, rows, used, block, effects) {
  coefficients <- coefficient_matrix(fit)[used, , drop = FALSE]
  p <- ncol(fit$design$x)
  outcomes <- outcomes_of(fit)
  x <- rows$x[block, , drop = FALSE]
  linear <- array(0, c(length(used), length(block), outcomes))
  for (k in seq_len(outcomes)) {
    of_class <- coefficients[, (k - 1) * p + seq_len(p), drop = FALSE]
    linear[, , k] <- if (is_sparse_matrix(x)) t(as.matrix(x %*% t(of_class))) else tcrossprod(of_class, x)
  }
  linear <- linear + rep(offset_rows(rows$offset, block), each = length(used))
  for (effect in effects) {
    level <- effect$level[block] + 1L
    known <- which(level > 0L)
    added <- effect$draw[, level[known], drop = FALSE]
    if (!is.null(effect$multiple)) added <- added * rep(effect$multiple[block][known], each = length(used))
    linear[, known, effect$outcome + 1L] <- linear[, known, effect$outcome + 1L] + as.vector(added)
  }
  family_of(fit)$steps(linear, coefficients[, fit$design$is_intercept, drop = FALSE])
}

# What `values_of` makes of linear predictors of blocks of rows, whose draws of `each` values take at most 64 MB.
for_blocks <- function(fit, rows, used, which, values_of, each = 1) {
  effects <- row_effects(fit, rows, used)
  lapply(split(which, ceiling(seq_along(which) / max(1, floor(2^23 / (length(used) * each))))), function(block) {
    values_of(linear_draws(fit, rows, used, block, effects), block)
  })
}

# Effects at new times, given those at the times of the unit that the fit has seen.
path_effects <- function(fit, paths, used) {
  if (length(paths) == 0L) return(list())
  sweeps <- kept_sweeps(fit)
  outcomes <- outcomes_of(fit)
  unlist(lapply(paths, function(path) {
    smooth <- fit$design$smooths[[path$smooth]]
    lattice <- smooth$lattice
    time <- lattice$at$place
    unit <- lattice$at$unit
    lapply(seq_len(outcomes), function(k) {
      effects <- coefficient_matrix(fit)[used, (k - 1L) * ncol(fit$design$x) + smooth$columns, drop = FALSE]
      first <- (k - 1L) * length(smooth_deviation_names(fit)) / outcomes + match(smooth$block_names[[1L]],
        unlist(lapply(fit$design$smooths, `[[`, "block_names")))
      parameters <- lapply(first + 0:1, function(j) as.vector(fit$smooth_deviation[sweeps, , j])[used])
      draw <- matrix(0, length(used), length(path$time))
      for (one in unique(path$unit)) {
        at <- path$unit == one
        draw[, at] <- draw_path(time[unit == one], effects[, unit == one, drop = FALSE], path$time[at],
          parameters[[1L]], parameters[[2L]], lattice$step)
      }
      list(outcome = k - 1L, level = path$level - 1L, multiple = NULL, draw = draw)
    })
  }), recursive = FALSE)
}

# Draws at the times `to`, each normal given its neighbours in time. `known`: draws at the times `from`, draws x times.
draw_path <- function(from, known, to, deviation, correlation, step) {
  time <- c(from, to)
  values <- cbind(known, matrix(0, length(deviation), length(to)))
  for (i in length(from) + seq_along(to)) {
    side <- function(sign) {
      distance <- sign * (time[seq_len(i - 1L)] - time[[i]])
      j <- which(distance > 0 & distance == min(distance[distance > 0], Inf))
      if (length(j) == 0L) return(list(weight = numeric(length(deviation)), value = 0))
      list(weight = correlation^(distance[[j]] / step), value = values[, j])
    }
    before <- side(-1)
    after <- side(1)
    left <- (1 - before$weight) * (1 + before$weight)
    right <- (1 - after$weight) * (1 + after$weight)
    whole <- left + right - left * right
    mean <- (right * before$weight * before$value + left * after$weight * after$value) / whole
    # A correlation may round to 1.
    mean[whole == 0] <- before$value[whole == 0]
    variance <- ifelse(whole > 0, left * right / whole, 0)
    values[, i] <- mean + deviation * sqrt(variance) * stats::rnorm(length(mean))
  }
  values[, length(from) + seq_along(to), drop = FALSE]
}
