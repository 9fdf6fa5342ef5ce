# The quantities that are computed from a resampled population.

#' Quantities of a resampled population
#'
#' These functions describe quantities of a population. They are given as `functional` to [predictive_resample()],
#' which computes them from each resample. `quantiles_of()` are quantiles, `probability_of()` is the probability of an
#' interval, and `coefficients_of()` are the coefficients that minimise a loss.
#'
#' @section Losses:
#' The coefficients minimise the population's mean loss: squared residuals, the negative log likelihood of a logistic
#' regression, or the check loss of the quantile `tau`. No model is assumed to be true: the coefficients are what a fit
#' to the whole population would give.
#'
#' @param probs probabilities.
#' @param lower,upper ends of an interval, in the data's units. They may be infinite.
#' @param formula response and covariates, among the columns of the data.
#' @param loss the loss that the coefficients minimise.
#' @param tau for `loss = "quantile"`: the probability of the quantile.
#' @return A list of class `resample_functional`.
#' @examples
#' fit <- predictive_resample(mtcars, bayesian_bootstrap(),
#'   functional = coefficients_of(mpg ~ wt), draws = 200, seed = 1, threads = 2
#' )
#' summary(fit)
#' @export
quantiles_of <- function(probs = c(0.25, 0.5, 0.75)) {
  if (!is.numeric(probs) || length(probs) == 0L || anyNA(probs) || any(probs < 0 | probs > 1)) {
    stop_input("probs", "must be probabilities between 0 and 1, not ", show_value(probs))
  }
  structure(list(kind = "quantiles", probs = as.double(probs)), class = c("resample_functional", "warpbayes"))
}

#' @rdname quantiles_of
#' @export
probability_of <- function(lower = -Inf, upper = Inf) {
  ends <- is.numeric(lower) && is.numeric(upper) && length(lower) == 1L && length(upper) == 1L && isTRUE(lower < upper)
  if (!ends) {
    stop_input("lower", "and `upper` must be numbers, the first the smaller, not ", show_value(lower), " and ",
      show_value(upper)
    )
  }
  structure(list(kind = "probability", lower = lower, upper = upper), class = c("resample_functional", "warpbayes"))
}

#' @rdname quantiles_of
#' @export
coefficients_of <- function(formula, loss = c("least_squares", "logistic", "quantile"), tau = 0.5) {
  structure(list(
    kind = "coefficients", formula = check_formula(formula),
    loss = check_choice(loss, "loss", c("least_squares", "logistic", "quantile")),
    tau = check_number(tau, "tau", min = 0, max = 1)
  ), class = c("resample_functional", "warpbayes"))
}

quantile_names <- function(probs) paste0("q", format(100 * probs, trim = TRUE, digits = 4))

functional_names <- c("mean", "variance", "sd", "median", "correlation")

check_functional <- function(functional, model) {
  if (is.function(functional)) return(check_function(functional, model))
  if (is.null(functional) || inherits(functional, "resample_functional")) return(functional)
  if (!is.character(functional) || length(functional) == 0L || !all(functional %in% functional_names)) {
    stop_input("functional", "must be a function, quantiles_of(), probability_of(), coefficients_of(), or among ",
      paste(dQuote(functional_names, FALSE), collapse = ", "), ", not ", show_value(functional))
  }
  unique(functional)
}

# Quantities of weighted data ---------------------------------------------------

check_bootstrap_functional <- function(fit) {
  functional <- fit$functional
  frame <- is.data.frame(fit$y)
  numeric <- if (frame) all(vapply(fit$y, is.numeric, NA)) else TRUE
  if (is.function(functional)) return(invisible())
  if (inherits(functional, "resample_functional") && functional$kind == "coefficients") {
    if (!frame) stop_input("y", "must be a data frame for coefficients_of(), not ", show_value(fit$y))
    return(invisible())
  }
  if (!numeric) {
    stop_input("y", "has columns that are not numeric: give coefficients_of() or a function as `functional`")
  }
  if (is.character(functional) && "correlation" %in% functional && NCOL(fit$y) < 2L) {
    stop_input("functional", "is \"correlation\", which needs at least two columns")
  }
}

# The functional as a function of the weights alone.
weighted_functional <- function(fit) {
  functional <- fit$functional
  if (is.function(functional)) return(function(weight) functional(fit$y, weight))
  if (inherits(functional, "resample_functional") && functional$kind == "coefficients") {
    return(weighted_coefficients(fit$y, functional))
  }
  y <- as.matrix(fit$y)
  storage.mode(y) <- "double"
  if (is.null(functional)) functional <- "mean"
  columns <- if (is.null(colnames(y))) seq_len(ncol(y)) else colnames(y)
  unnamed <- is.na(columns) | !nzchar(columns)
  columns[unnamed] <- which(unnamed)
  label <- function(what) if (ncol(y) == 1L) what else paste0(what, "[", columns, "]")
  if (inherits(functional, "resample_functional")) return(weighted_distribution(y, functional, label))
  order <- if ("median" %in% functional) apply(y, 2L, order)
  pairs <- if ("correlation" %in% functional) which(upper.tri(diag(ncol(y))), arr.ind = TRUE)
  function(weight) {
    mean <- colSums(weight * y)
    centred <- sweep(y, 2L, mean)
    variance <- colSums(weight * centred^2)
    unlist(lapply(functional, function(what) {
      switch(what,
        mean = stats::setNames(mean, label("mean")),
        variance = stats::setNames(variance, label("variance")),
        sd = stats::setNames(sqrt(variance), label("sd")),
        median = stats::setNames(vapply(seq_len(ncol(y)), function(j) {
          weighted_quantile(y[order[, j], j], weight[order[, j]], 0.5)
        }, 0), label("median")),
        correlation = {
          value <- colSums(weight * centred[, pairs[, 1L], drop = FALSE] * centred[, pairs[, 2L], drop = FALSE])
          value <- value / sqrt(variance[pairs[, 1L]] * variance[pairs[, 2L]])
          stats::setNames(value, if (nrow(pairs) == 1L) "correlation" else {
            paste0("correlation[", columns[pairs[, 1L]], ",", columns[pairs[, 2L]], "]")
          })
        }
      )
    }))
  }
}

weighted_distribution <- function(y, functional, label) {
  order <- apply(y, 2L, order)
  dim(order) <- dim(y)
  if (functional$kind == "quantiles") {
    probs <- functional$probs
    names <- unlist(lapply(quantile_names(probs), label))
    return(function(weight) {
      of_column <- function(j) weighted_quantile(y[order[, j], j], weight[order[, j]], probs)
      value <- vapply(seq_len(ncol(y)), of_column, probs)
      stats::setNames(as.vector(t(matrix(value, length(probs)))), names)
    })
  }
  inside <- y >= functional$lower & y <= functional$upper
  function(weight) stats::setNames(colSums(weight * inside), label("probability"))
}

# The least value whose cumulative weight reaches `probs`. `y` is sorted. The tolerance of 1e-14 covers the rounding of
# the cumulative weights: a tie goes to the smaller value.
weighted_quantile <- function(y, weight, probs) {
  cumulative <- cumsum(weight)
  y[pmin(findInterval(probs - 1e-14, cumulative, left.open = TRUE) + 1L, length(y))]
}

weighted_coefficients <- function(data, functional) {
  check_no_integer64(functional$formula, data, "functional")
  frame <- tryCatch(
    stats::model.frame(functional$formula, data, na.action = stats::na.pass),
    error = function(error) {
      stop_input("functional", "cannot be evaluated in the data: ", because = error)
    }
  )
  x <- stats::model.matrix(attr(frame, "terms"), frame)
  y <- stats::model.response(frame)
  if (functional$loss == "logistic") {
    y <- two_classes(y, "functional")$y
  } else if (!is.numeric(y)) {
    stop_input("functional", "has a response that is not numeric: ", show_value(y))
  }
  if (nrow(x) < ncol(x) || qr(x)$rank < ncol(x)) {
    stop_input("functional", sprintf("has %d coefficients that %d rows of the data do not determine", ncol(x), nrow(x)))
  }
  names <- colnames(x)
  start <- switch(functional$loss, logistic = rep(0, ncol(x)), stats::lm.fit(x, as.double(y))$coefficients)
  function(weight) {
    value <- switch(functional$loss,
      least_squares = stats::lm.wfit(x, as.double(y), weight)$coefficients,
      logistic = logistic_coefficients(x, y, weight, start),
      quantile = quantile_coefficients(x, as.double(y), weight, functional$tau, start)
    )
    stats::setNames(value, names)
  }
}

# Logistic coefficients by Newton's method. A step that does not lower the loss is halved. Separated classes have no
# minimum, which is an error.
logistic_coefficients <- function(x, y, weight, beta) {
  loss <- function(beta) {
    eta <- drop(x %*% beta)
    sum(weight * (pmax(eta, 0) + log1p(exp(-abs(eta))) - y * eta))
  }
  now <- loss(beta)
  for (iteration in seq_len(100)) {
    p <- stats::plogis(drop(x %*% beta))
    gradient <- colSums(x * (weight * (y - p)))
    information <- crossprod(x, x * (weight * p * (1 - p)))
    step <- tryCatch(solve(information, gradient), error = pass_on)
    if (is.null(step) || max(abs(beta)) > 1e4) {
      stop("the classes are separated: logistic coefficients have no finite minimum")
    }
    size <- 1
    repeat {
      next_loss <- loss(beta + size * step)
      if (next_loss <= now || size < 1e-8) break
      size <- size / 2
    }
    beta <- beta + size * step
    if (abs(now - next_loss) <= 1e-14 * (1 + abs(now)) && max(abs(size * step)) < 1e-8 * (1 + max(abs(beta)))) {
      return(beta)
    }
    now <- next_loss
  }
  stop("logistic coefficients were not found in 100 steps")
}

# The check loss has a minimum where as many residuals are 0 as there are coefficients. From such a point, all but one
# of these residuals stay 0 along an edge. It is followed to the lowest point of the loss on it, a weighted quantile of
# ratios. This is repeated until no edge descends.
quantile_coefficients <- function(x, y, weight, tau, start) {
  p <- ncol(x)
  # The first basis: the rows with the smallest residuals at the start that determine the coefficients.
  near <- order(abs(y - drop(x %*% start)))
  basis <- near[qr(t(x[near, , drop = FALSE]), LAPACK = FALSE)$pivot[seq_len(p)]]
  for (iteration in seq_len(50L * (p + 1L) * ceiling(log2(nrow(x) + 2)))) {
    inverse <- solve(x[basis, , drop = FALSE])
    beta <- drop(inverse %*% y[basis])
    residual <- y - drop(x %*% beta)
    residual[basis] <- 0
    slope <- x %*% inverse
    slope[basis, ] <- diag(p)
    # Slopes of the loss along plus and minus each edge.
    push <- weight * ifelse(residual > 0, tau, ifelse(residual < 0, tau - 1, 0))
    zero <- residual == 0
    along <- function(direction) {
      rate <- direction * slope
      at_zero <- rate[zero, , drop = FALSE]
      -colSums(push * rate) + colSums(weight[zero] * (pmax(-at_zero, 0) * tau + pmax(at_zero, 0) * (1 - tau)))
    }
    descent <- cbind(along(1), along(-1))
    if (min(descent) >= -1e-12 * sum(weight * abs(slope)) / p) return(beta)
    best <- which(descent == min(descent), arr.ind = TRUE)[1L, ]
    rate <- (if (best[[2L]] == 1L) 1 else -1) * slope[, best[[1L]]]
    # Residuals change sign at these distances; each adds to the slope of the loss.
    distance <- residual / rate
    ahead <- which(rate != 0 & distance > 0)
    ahead <- ahead[order(distance[ahead])]
    reached <- which(cumsum(weight[ahead] * abs(rate[ahead])) + min(descent) >= 0)
    if (length(reached) == 0L) return(beta)
    basis[[best[[1L]]]] <- ahead[[reached[[1L]]]]
  }
  stop("quantile coefficients were not found")
}

# Quantities of a distribution function on a grid ---------------------------------

# `points` are sorted, and `cdf` is draws x points. Between two points the probability is spread evenly. The probability
# beyond the first or last point counts as lying on that point.
grid_functional <- function(points, cdf, functional) {
  m <- length(points)
  if (inherits(functional, "resample_functional")) {
    return(switch(functional$kind,
      quantiles = {
        values <- t(apply(cdf, 1L, grid_quantiles, points = points, probs = functional$probs))
        matrix(values, nrow(cdf), dimnames = list(NULL, quantile_names(functional$probs)))
      },
      probability = {
        ends <- lapply(functional[c("lower", "upper")], rep_len, nrow(cdf))
        grid_probability(points, cdf, ends$lower, ends$upper)
      }
    ))
  }
  low <- points[-m]
  high <- points[-1L]
  mass <- cdf[, -1L, drop = FALSE] - cdf[, -m, drop = FALSE]
  moment <- function(first, between, last) {
    # No matrix product: in some libraries its last bits depend on the number of resamples.
    rowSums(mass * rep(between, each = nrow(mass))) + cdf[, 1L] * first + (1 - cdf[, m]) * last
  }
  mean <- moment(points[[1L]], (low + high) / 2, points[[m]])
  about <- mean(range(points))
  square <- moment((points[[1L]] - about)^2, ((low - about)^2 + (low - about) * (high - about) + (high - about)^2) / 3,
    (points[[m]] - about)^2)
  variance <- square - (mean - about)^2
  columns <- lapply(functional, function(what) {
    switch(what,
      mean = mean,
      variance = variance,
      sd = sqrt(pmax(variance, 0)),
      median = apply(cdf, 1L, grid_quantiles, points = points, probs = 0.5)
    )
  })
  matrix(unlist(columns), nrow(cdf), dimnames = list(NULL, functional))
}

# `lower` and `upper` have a value for each row of `cdf`.
grid_probability <- function(points, cdf, lower, upper) {
  at <- function(value, r) {
    if (is.infinite(value)) as.double(value > 0) else stats::approx(points, cdf[r, ], value, rule = 2)$y
  }
  cbind(probability = vapply(seq_len(nrow(cdf)), function(r) at(upper[[r]], r) - at(lower[[r]], r), 0))
}

grid_quantiles <- function(cdf, points, probs) {
  cdf <- cummax(cdf)
  at <- findInterval(probs, cdf, left.open = TRUE)
  inner <- at > 0L & at < length(points)
  value <- points[pmin(at + 1L, length(points))]
  low <- at[inner]
  share <- (probs[inner] - cdf[low]) / (cdf[low + 1L] - cdf[low])
  value[inner] <- points[low] + share * (points[low + 1L] - points[low])
  value
}
