# Moves of zero-inflated and hurdle counts that need no completed data: elliptical slice moves (Nishihara, Murray and
# Adams 2014, Journal of Machine Learning Research 15, 2087-2112) of all coefficients and of the log dispersion, along
# ellipses of a Student t distribution about the mode of the posterior. They leave effects of groups as they are. They
# draw from the same posterior, and mix where sweeps of completed data do not: excess zeros and a small dispersion
# explain the same zeros.

# The degrees of freedom, and the most coefficients.
zero_degrees <- 6
most_moved <- 100L

# The bound of the log dispersion in src/regression/draws.h.
most_log_dispersion <- 30

# Coefficients of the horseshoe and of Student t priors have scales that only sweeps draw.
can_move <- function(model) {
  is_normal <- is.null(model$count$prior$law) && is.null(model$zero$prior$law)
  is_normal && ncol(model$count$scaled) + ncol(model$zero$scaled) <= most_moved
}

has_dispersion <- function(model) model$count$family == "negbinomial"

position_of <- function(model, state) {
  c(state$count$coefficients, state$zero$coefficients, if (has_dispersion(model)) log(state$count$scalars[[1L]]))
}

with_position <- function(model, state, position) {
  counts <- ncol(model$count$scaled)
  zeros <- ncol(model$zero$scaled)
  state$count$coefficients <- position[seq_len(counts)]
  state$zero$coefficients <- position[counts + seq_len(zeros)]
  if (has_dispersion(model)) state$count$scalars[[1L]] <- exp(position[[counts + zeros + 1L]])
  state
}

# Linear predictors at a position (or of a direction, from `base` 0), and the log dispersion.
linear_at <- function(model, position, base = list(count = 0, zero = 0)) {
  counts <- ncol(model$count$scaled)
  zeros <- ncol(model$zero$scaled)
  c(list(
    count = scaled_sum(model$count$scaled, position[seq_len(counts)], base$count),
    zero = scaled_sum(model$zero$scaled, position[counts + seq_len(zeros)], base$zero)
  ), if (has_dispersion(model)) list(log_size = position[[counts + zeros + 1L]]))
}

# What offsets and effects of groups add.
linear_base <- function(model, state) {
  state$count$coefficients[] <- 0
  state$zero$coefficients[] <- 0
  zero_linears(model, state)
}

size_at <- function(linear) if (!is.null(linear$log_size)) exp(linear$log_size)

row_log_density <- function(model, linear) {
  zero_log_likelihood(model$kind, model$y, linear$count, linear$zero, size_at(linear))
}

log_prior_at <- function(model, position) {
  away <- position[seq_along(model$prior_mean)] - model$prior_mean
  value <- -sum(away * scaled_sum(model$prior_precision, away)) / 2
  if (!has_dispersion(model)) return(value)
  value + log_dispersion_prior(model$count$prior, position[[length(position)]])
}

# As wb_regression_log_dispersion().
log_dispersion_prior <- function(prior, log_size) {
  if (prior$dispersion_scale > 0) return(-log_size / 2 - log(prior$dispersion_scale^2 + exp(-log_size)))
  prior$dispersion[[1L]] * log_size - prior$dispersion[[2L]] * exp(log_size)
}

log_posterior_at <- function(model, position, linear) {
  log_size <- linear$log_size
  if (!is.null(log_size) && abs(log_size) > most_log_dispersion) return(-Inf)
  value <- sum_log_likelihood(model, linear) + log_prior_at(model, position)
  if (is.nan(value)) -Inf else value
}

# The sum of row_log_density(), several times as fast.
sum_log_likelihood <- function(model, linear) {
  none <- model$is_none
  some <- model$is_some
  y <- model$y[some]
  log_mean <- linear$count[some]
  mean <- exp(linear$count)
  if (is.null(linear$log_size)) {
    no_count <- -mean
    counted <- y * log_mean - mean[some]
    constant <- -model$log_factorials
  } else {
    size <- exp(linear$log_size)
    shrunk <- log1p(mean / size)
    no_count <- -size * shrunk
    counted <- y * log_mean - (y + size) * shrunk[some]
    values <- model$values
    constant <- -sum(values$count * (log(values$value) + lbeta(values$value, size) + values$value * linear$log_size))
  }
  if (model$kind == "hu") {
    of_zeros <- linear$zero[none]
    counted <- counted - log_rest(no_count[some])
  } else {
    of_zeros <- log_sum_of_two(linear$zero[none], no_count[none])
  }
  sum(stats::plogis(linear$zero, lower.tail = FALSE, log.p = TRUE)) + sum(of_zeros) + sum(counted) + constant
}

# log(exp(a) + exp(b)).
log_sum_of_two <- function(a, b) pmax(a, b) + log1p(exp(-abs(a - b)))

# What sum_log_likelihood() reads.
with_counted <- function(model) {
  model$is_none <- which(model$y == 0)
  model$is_some <- which(model$y > 0)
  y <- model$y[model$is_some]
  value <- sort(unique(y))
  model$values <- list(value = value, count = tabulate(match(y, value), length(value)))
  model$log_factorials <- sum(lgamma(y + 1))
  model
}

# The coefficients' prior of both regressions together.
with_normal_prior <- function(model) {
  counts <- ncol(model$count$scaled)
  all <- counts + ncol(model$zero$scaled)
  precision <- matrix(0, all, all)
  precision[seq_len(counts), seq_len(counts)] <- unpack(model$count$prior$precision, counts)
  precision[-seq_len(counts), -seq_len(counts)] <- unpack(model$zero$prior$precision, all - counts)
  model$prior_mean <- c(model$count$prior$mean, model$zero$prior$mean)
  model$prior_precision <- precision
  model
}

# Gradient and negative Hessian of the log posterior. Derivatives of rows in their two linear predictors and in the log
# dispersion are differences.
derivatives_at <- function(model, position, base, step = 1e-3) {
  linear <- linear_at(model, position, base)
  at <- function(moves) {
    for (name in names(moves)) linear[[name]] <- linear[[name]] + step * moves[[name]]
    row_log_density(model, linear)
  }
  names <- c("count", "zero", if (has_dispersion(model)) "log_size")
  columns <- list(count = model$count$scaled, zero = model$zero$scaled, log_size = matrix(1, length(model$y), 1L))
  one <- function(name, by) stats::setNames(list(by), name)
  middle <- at(list())
  up <- lapply(names, function(name) at(one(name, 1)))
  down <- lapply(names, function(name) at(one(name, -1)))
  gradient <- NULL
  rows <- lapply(seq_along(names), function(i) {
    gradient <<- c(gradient, crossprod(columns[[names[[i]]]], (up[[i]] - down[[i]]) / (2 * step)))
    do.call(cbind, lapply(seq_along(names), function(j) {
      second <- if (i == j) {
        up[[i]] - 2 * middle + down[[i]]
      } else {
        both <- function(a, b) at(c(one(names[[i]], a), one(names[[j]], b)))
        (both(1, 1) - both(1, -1) - both(-1, 1) + both(-1, -1)) / 4
      }
      crossprod(columns[[names[[i]]]], columns[[names[[j]]]] * (-second / step^2))
    }))
  })
  precision <- do.call(rbind, rows)
  own <- seq_along(model$prior_mean)
  gradient[own] <- gradient[own] - drop(model$prior_precision %*% (position[own] - model$prior_mean))
  precision[own, own] <- precision[own, own] + model$prior_precision
  if (has_dispersion(model)) {
    last <- length(position)
    prior <- vapply(c(-1, 0, 1) * step, function(by) log_dispersion_prior(model$count$prior, position[[last]] + by), 0)
    gradient[[last]] <- gradient[[last]] + (prior[[3L]] - prior[[1L]]) / (2 * step)
    precision[last, last] <- precision[last, last] - (prior[[3L]] - 2 * prior[[2L]] + prior[[1L]]) / step^2
  }
  list(gradient = gradient, precision = precision)
}

# The inverse of the Cholesky factor. Directions without information, in which the mode may be far away, have a standard
# deviation of 5 at most.
inverse_root <- function(precision) {
  precision <- (precision + t(precision)) / 2
  parts <- eigen(precision, symmetric = TRUE)
  if (min(parts$values) < 1 / 25) {
    precision <- tcrossprod(parts$vectors * rep(sqrt(pmax(parts$values, 1 / 25)), each = nrow(precision)))
  }
  backsolve(chol(precision), diag(nrow(precision)))
}

# The mode by Newton's method from where the EM algorithm stopped, and a matrix R with R R' the covariance there. Both
# are rounded, so that they are the same on every machine.
zero_ellipse <- function(model, state) {
  base <- linear_base(model, state)
  position <- position_of(model, state)
  value <- log_posterior_at(model, position, linear_at(model, position, base))
  for (iteration in 1:20) {
    derivatives <- derivatives_at(model, position, base)
    root <- inverse_root(derivatives$precision)
    move <- drop(root %*% crossprod(root, derivatives$gradient))
    share <- 1
    repeat {
      proposed <- position + share * move
      found <- log_posterior_at(model, proposed, linear_at(model, proposed, base))
      if (found > value || share < 1e-3) break
      share <- share / 2
    }
    if (found > value) position <- proposed
    if (!(found > value + 1e-6)) break
    value <- found
  }
  root <- inverse_root(derivatives_at(model, position, base)$precision)
  list(mode = signif(position, 6), root = signif(root, 6))
}

# One move. `ellipse$inverse` is the inverse of its root.
move_along_ellipse <- function(model, state, ellipse, base) {
  mode <- ellipse$mode
  d <- length(mode)
  scaled_square <- function(away) sum(scaled_sum(ellipse$inverse, away)^2)
  log_t <- function(away) -(zero_degrees + d) / 2 * log1p(scaled_square(away) / zero_degrees)
  away <- position_of(model, state) - mode
  # Given its scale the t distribution is normal.
  scale <- 1 / stats::rgamma(1L, (zero_degrees + d) / 2, (zero_degrees + scaled_square(away)) / 2)
  other <- sqrt(scale) * scaled_sum(ellipse$root, stats::rnorm(d))
  centre <- linear_at(model, mode, base)
  first <- linear_at(model, away)
  second <- linear_at(model, other)
  log_ratio <- function(angle) {
    moved <- cos(angle) * away + sin(angle) * other
    linear <- Map(function(a, b, c) a + cos(angle) * b + sin(angle) * c, centre, first, second)
    log_posterior_at(model, mode + moved, linear) - log_t(moved)
  }
  level <- log_ratio(0) - stats::rexp(1L)
  angle <- stats::runif(1L, 0, 2 * pi)
  low <- angle - 2 * pi
  high <- angle
  repeat {
    if (log_ratio(angle) > level) return(with_position(model, state, mode + cos(angle) * away + sin(angle) * other))
    if (angle < 0) low <- angle else high <- angle
    if (high - low < 1e-12) return(state)
    angle <- stats::runif(1L, low, high)
  }
}
