# The quantities that are computed from a resampled population.

#' Quantities of a resampled population
#'
#' These functions describe quantities of a population. They are given as `functional` to [predictive_resample()],
#' which computes them from each resample: one of them, or a list of several, which may also have the names that
#' `functional` takes. `quantiles_of()` are quantiles, `probability_of()` is the probability of an interval with both
#' its ends, `tail_mean_of()` is the mean of the largest values (the expected shortfall), and `coefficients_of()` are
#' the coefficients that minimise a loss.
#'
#' @section Losses:
#' The coefficients minimise the population's mean loss: squared residuals, the negative log likelihood of a logistic
#' regression, or the check loss of the quantile `tau`. No model is assumed to be true: the coefficients are what a fit
#' to the whole population would give.
#'
#' @param probs probabilities.
#' @param lower,upper ends of an interval, in the data's units. They may be infinite.
#' @param prob a probability: the mean is that of the share `1 - prob` of largest values.
#' @param formula response and covariates, among the columns of the data.
#' @param loss the loss that the coefficients minimise.
#' @param tau for `loss = "quantile"`: the probability of the quantile.
#' @return A list of class `resample_functional`.
#' @examples
#' fit <- predictive_resample(mtcars, bayesian_bootstrap(),
#'   functional = coefficients_of(mpg ~ wt), draws = 200, seed = 1, threads = 2
#' )
#' summary(fit)
#'
#' several <- predictive_resample(precip, bayesian_bootstrap(),
#'   functional = list("mean", "gini", quantiles_of(0.9), tail_mean_of(0.9)),
#'   draws = 200, seed = 1, threads = 2
#' )
#' summary(several)
#' @export
quantiles_of <- function(probs = c(0.25, 0.5, 0.75)) {
  if (!is.numeric(probs) || length(probs) == 0L || anyNA(probs) || any(probs < 0 | probs > 1)) {
    stop_input("probs", "must be probabilities between 0 and 1, not ", show_value(probs))
  }
  new_functional("quantiles", list(probs = as.double(probs)))
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
  new_functional("probability", list(lower = lower, upper = upper))
}

#' @rdname quantiles_of
#' @export
tail_mean_of <- function(prob = 0.95) {
  new_functional("tail_mean", list(prob = check_number(prob, "prob", min = 0, max = 1)))
}

#' @rdname quantiles_of
#' @export
coefficients_of <- function(formula, loss = c("least_squares", "logistic", "quantile"), tau = 0.5) {
  fields <- list(
    formula = check_formula(formula),
    loss = check_choice(loss, "loss", c("least_squares", "logistic", "quantile")),
    tau = check_number(tau, "tau", min = 0, max = 1)
  )
  new_functional("coefficients", fields)
}

new_functional <- function(kind, fields = list()) {
  structure(c(list(kind = kind), fields), class = c("resample_functional", "warpbayes"))
}

quantile_names <- function(probs) paste0("q", format(100 * probs, trim = TRUE, digits = 4))

# The column of a quantity that is one number.
functional_label <- function(part) {
  if (part$kind == "tail_mean") paste0("tail_mean", format(100 * part$prob, digits = 4)) else part$kind
}

functional_names <- c("mean", "variance", "sd", "median", "quantile", "tail_mean", "gini", "correlation")

# NULL, a function, or a list of descriptions of class "resample_functional".
check_functional <- function(functional, model) {
  if (is.null(functional)) return(NULL)
  if (is.function(functional)) return(check_function(functional, model))
  parts <- if (inherits(functional, "resample_functional")) list(functional) else as.list(functional)
  if (length(parts) == 0L || !(is.character(functional) || is.list(functional))) refuse_functional(functional)
  parts <- unlist(lapply(parts, function(part) {
    if (inherits(part, "resample_functional") && is.list(part) && is.character(part$kind)) return(list(part))
    if (!is.character(part) || length(part) == 0L || !all(part %in% functional_names)) refuse_functional(part)
    lapply(part, function(name) {
      switch(name, quantile = quantiles_of(), tail_mean = tail_mean_of(), new_functional(name))
    })
  }), recursive = FALSE)
  parts[!duplicated(parts)]
}

refuse_functional <- function(functional) {
  if (is.function(functional)) {
    stop_input("functional", "is a list with a function: give the function alone, which may return several values")
  }
  if (identical(functional, "regression")) {
    stop_input("functional", "is \"regression\", which needs a formula: coefficients_of(y ~ x)")
  }
  stop_input("functional", "must be a function, quantiles_of(), probability_of(), tail_mean_of(), coefficients_of(), ",
    "or among ", paste(dQuote(functional_names, FALSE), collapse = ", "), ", or a list of these, not ",
    show_value(functional))
}

kinds_of <- function(functional) {
  if (is.list(functional)) vapply(functional, `[[`, "", "kind") else character()
}

# Quantities of weighted data ---------------------------------------------------

check_bootstrap_functional <- function(fit) {
  if (is.function(fit$functional)) return(invisible())
  frame <- is.data.frame(fit$y)
  numeric <- if (frame) all(vapply(fit$y, is.numeric, NA)) else TRUE
  kinds <- if (is.null(fit$functional)) "mean" else kinds_of(fit$functional)
  if ("coefficients" %in% kinds && !frame) {
    stop_input("y", "must be a data frame for coefficients_of(), not ", show_value(fit$y))
  }
  if (!numeric && !all(kinds == "coefficients")) {
    stop_input("y", "has columns that are not numeric: give coefficients_of() or a function as `functional`")
  }
  if ("correlation" %in% kinds && NCOL(fit$y) < 2L) {
    stop_input("functional", "is \"correlation\", which needs at least two columns")
  }
}

# A Gini coefficient compares amounts, which are not negative.
check_gini <- function(y) {
  if (min(y) < 0) stop_input("functional", "is \"gini\", which needs values of at least 0, not ", format(min(y)))
}

# The functional as a function of the weights alone.
weighted_functional <- function(fit) {
  functional <- fit$functional
  if (is.function(functional)) return(function(weight) functional(fit$y, weights = weight))
  if (is.null(functional)) functional <- list(new_functional("mean"))
  parts <- lapply(functional, weighted_part, fit$y)
  if (length(parts) == 1L) return(parts[[1L]])
  function(weight) unlist(lapply(parts, function(part) part(weight)))
}

# The names of columns, or their numbers.
column_labels <- function(y) {
  columns <- if (is.null(colnames(y))) as.character(seq_len(ncol(y))) else colnames(y)
  unnamed <- is.na(columns) | !nzchar(columns)
  replace(columns, unnamed, which(unnamed))
}

weighted_part <- function(part, y) {
  if (part$kind == "coefficients") return(weighted_coefficients(y, part))
  y <- as.matrix(y)
  storage.mode(y) <- "double"
  if (part$kind == "gini") check_gini(y)
  columns <- column_labels(y)
  label <- function(what) if (ncol(y) == 1L) what else paste0(what, "[", columns, "]")
  sorted <- if (part$kind %in% c("median", "quantiles", "tail_mean", "gini")) {
    lapply(seq_len(ncol(y)), function(j) {
      order <- order(y[, j])
      list(order = order, y = y[order, j])
    })
  }
  # of(values, their weights) for each column, sorted.
  by_column <- function(of) function(weight) unlist(lapply(sorted, function(column) of(column$y, weight[column$order])))
  centred <- function(weight) sweep(y, 2L, colSums(weight * y))
  one <- label(functional_label(part))
  named <- function(of, names = one) function(weight) stats::setNames(of(weight), names)
  switch(part$kind,
    mean = named(function(weight) colSums(weight * y)),
    variance = named(function(weight) colSums(weight * centred(weight)^2)),
    sd = named(function(weight) sqrt(colSums(weight * centred(weight)^2))),
    median = named(by_column(function(y, weight) weighted_quantile(y, weight, 0.5))),
    tail_mean = named(by_column(function(y, weight) weighted_tail_mean(y, weight, part$prob))),
    gini = named(by_column(weighted_gini)),
    probability = {
      inside <- y >= part$lower & y <= part$upper
      named(function(weight) colSums(weight * inside))
    },
    quantiles = named(function(weight) {
      value <- by_column(function(y, weight) weighted_quantile(y, weight, part$probs))(weight)
      as.vector(t(matrix(value, length(part$probs))))
    }, unlist(lapply(quantile_names(part$probs), label))),
    correlation = {
      pairs <- which(upper.tri(diag(ncol(y))), arr.ind = TRUE)
      named(function(weight) {
        centred <- centred(weight)
        variance <- colSums(weight * centred^2)
        value <- colSums(weight * centred[, pairs[, 1L], drop = FALSE] * centred[, pairs[, 2L], drop = FALSE])
        value / sqrt(variance[pairs[, 1L]] * variance[pairs[, 2L]])
      }, if (nrow(pairs) == 1L) "correlation" else {
        paste0("correlation[", columns[pairs[, 1L]], ",", columns[pairs[, 2L]], "]")
      })
    }
  )
}

# The least value whose cumulative weight reaches `probs`. `y` is sorted. The tolerance of 1e-14 covers the rounding of
# the cumulative weights: a tie goes to the smaller value.
weighted_quantile <- function(y, weight, probs) {
  cumulative <- cumsum(weight)
  y[pmin(findInterval(probs - 1e-14, cumulative, left.open = TRUE) + 1L, length(y))]
}

# The mean of the share 1 - prob of largest values; the value at its edge counts with a part of its weight. `y` is
# sorted.
weighted_tail_mean <- function(y, weight, prob) {
  cumulative <- cumsum(weight)
  above <- pmin(weight, pmax(0, cumulative - prob))
  sum(above * y) / sum(above)
}

# Half the mean difference of two values over the mean. `y` is sorted.
weighted_gini <- function(y, weight) {
  sum(weight * y * (2 * cumsum(weight) - weight - 1)) / sum(weight * y)
}

weighted_coefficients <- function(data, functional) {
  frame <- covariate_frame(functional$formula, data, "functional", "y")
  x <- design_matrix(attr(frame, "terms"), frame, source = "y")
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
# minimum, which is an error, unless a normal prior of this `precision` is added to the loss.
logistic_coefficients <- function(x, y, weight, beta, precision = matrix(0, ncol(x), ncol(x))) {
  loss <- function(beta) {
    eta <- drop(x %*% beta)
    sum(weight * (pmax(eta, 0) + log1p(exp(-abs(eta))) - y * eta)) + sum(beta * precision %*% beta) / 2
  }
  now <- loss(beta)
  for (iteration in seq_len(100)) {
    p <- stats::plogis(drop(x %*% beta))
    gradient <- colSums(x * (weight * (y - p))) - drop(precision %*% beta)
    information <- crossprod(x, x * (weight * p * (1 - p))) + precision
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
