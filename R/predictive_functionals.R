# The quantities that are computed from a resampled population.

#' Quantities of a resampled population
#'
#' Values for the argument `functional` of [predictive_resample()]. Coefficients minimise the mean loss.
#'
#' @param probs probabilities.
#' @param lower,upper ends of an interval, in the data's units: infinite, or equal for the probability of one value.
#' @param prob a probability: the mean is that of the share `1 - prob` of largest values.
#' @param formula response and covariates, among the columns of the data.
#' @param loss squared residuals, the negative log likelihood of a logistic regression, or the check loss of `tau`.
#' @param tau for `loss = "quantile"`: the probability of the quantile.
#' @return A list of class `resample_functional`.
#' @examples
#' fit <- predictive_resample(mtcars, bayesian_bootstrap(), functional = coefficients_of(mpg ~ wt),
#'   draws = 200, seed = 1, threads = 2)
#' summary(fit)
#' @export
quantiles_of <- function(probs = c(0.25, 0.5, 0.75)) {
  check_probs(probs)
  new_functional("quantiles", list(probs = as.double(probs)))
}

#' @rdname quantiles_of
#' @export
probability_of <- function(lower = -Inf, upper = Inf) {
  if (!is_one_number(lower) || !is_one_number(upper) || lower > upper) {
    stop_input("lower", "and `upper` must be numbers, the first not the larger, not ", show_value(lower), " and ",
      show_value(upper))
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
  new_functional("coefficients", list(formula = check_formula(formula),
    loss = check_choice(loss, "loss", c("least_squares", "logistic", "quantile")),
    tau = check_number(tau, "tau", min = 0, max = 1)))
}

check_probs <- function(probs) {
  must_be(is.numeric(probs) && length(probs) && all(probs >= 0 & probs <= 1), "probs",
    "probabilities between 0 and 1", probs)
}

new_functional <- function(kind, fields = list()) {
  structure(c(list(kind = kind), fields), class = c("resample_functional", "warpbayes"))
}

functional_labels <- function(part) {
  switch(part$kind, tail_mean = paste0("tail_mean", format(100 * part$prob, digits = 4)),
    quantiles = paste0("q", format(100 * part$probs, trim = TRUE, digits = 4)), part$kind)
}

functional_names <- c("mean", "variance", "sd", "median", "quantile", "tail_mean", "gini", "correlation")

# NULL, a function, or a list of descriptions of class "resample_functional".
check_functional <- function(functional, kind) {
  if (is.null(functional)) return(NULL)
  if (is.function(functional)) return(check_function(functional, kind))
  parts <- if (inherits(functional, "resample_functional")) list(functional) else as.list(functional)
  if (length(parts) == 0L || !(is.character(functional) || is.list(functional))) refuse_functional(functional)
  parts <- unlist(lapply(parts, function(part) {
    if (inherits(part, "resample_functional") && is.list(part) && is.character(part$kind)) return(list(part))
    if (!is.character(part) || length(part) == 0L || !all(part %in% functional_names)) refuse_functional(part)
    lapply(part, function(one) switch(one, quantile = quantiles_of(), tail_mean = tail_mean_of(), new_functional(one)))
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

refuse_kinds <- function(functional, kinds = c("coefficients", "correlation")) {
  if (any(kinds_of(functional) %in% kinds)) {
    stop_input("functional", "needs data with weights: use bayesian_bootstrap(), or a function")
  }
}

kinds_of <- function(functional) if (is.list(functional)) vapply(functional, `[[`, "", "kind") else character()

check_weighted_functional <- function(y, functional) {
  if (is.function(functional)) return(invisible())
  kinds <- if (is.null(functional)) "mean" else kinds_of(functional)
  must_be(is.data.frame(y) || !"coefficients" %in% kinds, "y", "a data frame for coefficients_of()", y)
  if (is.data.frame(y) && !all(vapply(y, is.numeric, NA)) && !all(kinds == "coefficients")) {
    stop_input("y", "has columns that are not numeric: give coefficients_of() or a function as `functional`")
  }
  if ("correlation" %in% kinds && NCOL(y) < 2L) {
    stop_input("functional", "is \"correlation\", which needs at least two columns")
  }
  check_gini(y, functional)
}

check_gini <- function(y, functional) {
  if ("gini" %in% kinds_of(functional) && min(y) < 0) {
    stop_input("functional", "is \"gini\", which needs values of at least 0, not ", format(min(y)))
  }
}

weighted_functional <- function(y, functional) {
  if (is.function(functional)) return(function(weight) functional(y, weights = weight))
  parts <- lapply(if (is.null(functional)) list(new_functional("mean")) else functional, weighted_part, y)
  function(weight) unlist(lapply(parts, function(part) part(weight)))
}

weighted_part <- function(part, y) {
  if (part$kind == "coefficients") return(weighted_coefficients(y, part))
  y <- as.matrix(y)
  storage.mode(y) <- "double"
  columns <- column_labels(y)
  label <- function(what) if (ncol(y) == 1L) what else paste0(what, "[", columns, "]")
  # of(values, their weights) for each column, sorted.
  by_column <- function(of) {
    orders <- lapply(seq_len(ncol(y)), function(j) order(y[, j]))
    function(weight) unlist(Map(function(order, j) of(y[order, j], weight[order]), orders, seq_len(ncol(y))))
  }
  centred <- function(weight) sweep(y, 2L, colSums(weight * y))
  variance <- function(weight) colSums(weight * centred(weight)^2)
  labels <- unlist(lapply(functional_labels(part), label))
  named <- function(of, names = labels) function(weight) stats::setNames(of(weight), names)
  probs <- if (part$kind == "median") 0.5 else part$probs
  switch(part$kind,
    mean = named(function(weight) colSums(weight * y)), variance = named(variance),
    sd = named(function(weight) sqrt(variance(weight))),
    tail_mean = named(by_column(function(y, weight) weighted_tail_mean(y, weight, part$prob))),
    gini = named(by_column(weighted_gini)),
    probability = {
      inside <- y >= part$lower & y <= part$upper
      named(function(weight) colSums(weight * inside))
    },
    median = , quantiles = named(function(weight) {
      value <- by_column(function(y, weight) weighted_quantile(y, weight, probs))(weight)
      as.vector(t(matrix(value, length(probs))))
    }),
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

# `y` is sorted. The tolerance of 1e-14 covers the rounding of cumulative weights: a tie goes to the smaller value.
weighted_quantile <- function(y, weight, probs) {
  y[pmin(findInterval(probs - 1e-14, cumsum(weight), left.open = TRUE) + 1L, length(y))]
}

weighted_tail_mean <- function(y, weight, prob) {
  above <- pmin(weight, pmax(0, cumsum(weight) - prob))
  sum(above * y) / sum(above)
}

weighted_gini <- function(y, weight) sum(weight * y * (2 * cumsum(weight) - weight - 1)) / sum(weight * y)

equal_functional <- function(part, y) {
  weight <- rep(1 / length(y), length(y))
  stats::setNames(switch(part$kind,
    median = stats::median(y), probability = mean(y >= part$lower & y <= part$upper),
    quantiles = stats::quantile(y, part$probs, names = FALSE, type = 1L),
    tail_mean = weighted_tail_mean(y, weight, part$prob), gini = weighted_gini(y, weight)
  ), functional_labels(part))
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
  y <- as.double(y)
  start <- if (functional$loss == "logistic") rep(0, ncol(x)) else stats::lm.fit(x, y)$coefficients
  compute <- switch(functional$loss,
    least_squares = function(weight) stats::lm.wfit(x, y, weight)$coefficients,
    logistic = function(weight) logistic_coefficients(x, y, weight, start),
    quantile = function(weight) quantile_coefficients(x, y, weight, functional$tau, start))
  function(weight) stats::setNames(compute(weight), colnames(x))
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

# The check loss has a minimum where as many residuals are 0 as there are coefficients. All but one stay 0 along an
# edge, which is followed to its lowest point, a weighted quantile of ratios, until no edge descends.
quantile_coefficients <- function(x, y, weight, tau, start) {
  p <- ncol(x)
  near <- order(abs(y - drop(x %*% start)))
  basis <- near[qr(t(x[near, , drop = FALSE]), LAPACK = FALSE)$pivot[seq_len(p)]]
  for (iteration in seq_len(50L * (p + 1L) * ceiling(log2(nrow(x) + 2)))) {
    inverse <- solve(x[basis, , drop = FALSE])
    beta <- drop(inverse %*% y[basis])
    residual <- y - drop(x %*% beta)
    residual[basis] <- 0
    slope <- x %*% inverse
    slope[basis, ] <- diag(p)
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


are_failed <- function(values) vapply(values, inherits, NA, "error")
stop_failed <- function(values, ...) {
  first <- which(are_failed(values))[[1L]]
  stop_input("functional", sprintf("failed on resample %d: ", first), conditionMessage(values[[first]]), ...)
}

# A list of compute(r) for each resample r of `members`: NULL for a single NA, the error of one that fails. If the first
# ten fail, that is an error. An interrupt goes on after interrupted() was called with the values so far.
each_resample <- function(members, compute, interrupted = function(values) NULL) {
  values <- list()
  work <- function() {
    for (r in members) {
      value <- tryCatch(compute(r), error = function(error) {
        if (inherits(error, "warpbayes_error")) stop(error)
        pass_on(error)
        error
      })
      has_value <- !(length(value) == 1L && is.atomic(value) && is.na(value))
      if (has_value && !inherits(value, "error") && (!is.numeric(value) || length(value) == 0L)) {
        stop_input("functional", sprintf("must return numbers; on resample %d it returned ", r), show_value(value))
      }
      values[length(values) + 1L] <<- list(if (has_value) value)
      if (r == length(values) && r == min(10L, length(members)) && all(are_failed(values))) {
        stop_failed(values, if (r > 1L) sprintf("; it failed on all of the first %d resamples", r))
      }
    }
  }
  withCallingHandlers(work(), interrupt = function(condition) if (length(values)) interrupted(values))
  values
}

bind_quantities <- function(parts) {
  all <- do.call(c, parts)
  failed <- which(are_failed(all))
  values <- replace(all, failed, list(NULL))
  lengths <- lengths(values)
  with <- which(lengths > 0L)
  if (length(with) == 0L) {
    if (length(failed)) stop_failed(all, "; no resample has a value")
    return(matrix(NA_real_, length(values), 1L, dimnames = list(NULL, "value")))
  }
  one <- with[[1L]]
  odd <- with[lengths[with] != lengths[[one]]]
  if (length(odd)) {
    stop_input("functional", sprintf("returned %d values on resample %d and %d on resample %d", lengths[[odd[[1L]]]],
      odd[[1L]], lengths[[one]], one), ": there must be as many each time")
  }
  if (length(failed)) {
    warning(sprintf("`functional` failed on %s of %s resamples, which are NA; on resample %d: %s",
      whole_words(length(failed)), whole_words(length(values)), failed[[1L]],
      conditionMessage(all[[failed[[1L]]]])), call. = FALSE)
  }
  names <- names(values[[one]])
  if (is.null(names) || any(names %in% c(NA, ""))) {
    names <- if (lengths[[one]] == 1L) "value" else sprintf("value[%d]", seq_len(lengths[[one]]))
  }
  bound <- matrix(NA_real_, length(values), lengths[[one]], dimnames = list(NULL, names))
  bound[with, ] <- matrix(as.double(unlist(values[with], use.names = FALSE)), length(with), byrow = TRUE)
  bound
}

# A function such as var() would take weights for more data, so arguments are given by name.
check_function <- function(functional, kind) {
  named <- kind$arguments
  formals <- formals(args(functional))
  absent <- setdiff(named, names(formals))
  if (length(absent)) {
    has_weights <- identical(named, "weights")
    stop_input("functional", sprintf("must have an argument `%s`: it is called as functional(%s)", absent[[1L]],
      if (has_weights) "data, weights = " else paste(named, "=", collapse = ", ")),
      if (has_weights) sprintf(", and names such as %s are computed with weights",
        paste(dQuote(functional_names[1:3], FALSE), collapse = ", ")))
  }
  first <- kind$leading
  if (first == 1L && length(formals) == length(named)) stop_input("functional", "must have an argument for the data")
  needed <- vapply(formals, function(default) is.symbol(default) && !nzchar(as.character(default)), NA)
  needed <- setdiff(names(formals)[needed], c(named, "..."))
  if (length(needed) > first) {
    stop_input("functional", sprintf("needs the argument `%s`, which it is not given", needed[[first + 1L]]))
  }
  functional
}

# Draws x quantities. `points` are sorted: a vector, or draws x points as `cdf`. Between two points probability is
# spread evenly, beyond the first or last it lies on that point. At a repeated point the distribution function jumps.
grid_functional <- function(points, cdf, functional) {
  m <- ncol(cdf)
  if (!is.matrix(points)) points <- matrix(points, nrow(cdf), m, byrow = TRUE)
  low <- points[, -m, drop = FALSE]
  high <- points[, -1L, drop = FALSE]
  mass <- cdf[, -1L, drop = FALSE] - cdf[, -m, drop = FALSE]
  moment <- function(first, between, last) {
    # No matrix product: in some libraries its last bits depend on the number of resamples.
    rowSums(mass * between) + cdf[, 1L] * first + (1 - cdf[, m]) * last
  }
  mean <- moment(points[, 1L], (low + high) / 2, points[, m])
  # Values such as 1e200 have no squares, so squares are in a unit of theirs. A power of 2 rounds nothing.
  unit <- 2^floor(log2(max(abs(points), 1e-300)))
  variance <- function() {
    about <- (points[, 1L] + points[, m]) / 2
    above <- function(y) (y - about) / unit
    square <- moment(above(points[, 1L])^2, (above(low)^2 + above(low) * above(high) + above(high)^2) / 3,
      above(points[, m])^2)
    square - above(mean)^2
  }
  by_row <- function(of) unlist(lapply(seq_len(nrow(cdf)), function(r) of(points[r, ], cdf[r, ])))
  columns <- lapply(functional, function(part) {
    value <- switch(part$kind,
      mean = mean, variance = unit^2 * variance(), sd = unit * sqrt(pmax(variance(), 0)),
      median = by_row(function(y, p) grid_quantiles(y, p, 0.5)),
      quantiles = matrix(by_row(function(y, p) grid_quantiles(y, p, part$probs)), nrow(cdf), byrow = TRUE),
      probability = if (length(part$drawn)) part$drawn else {
        by_row(function(y, p) grid_cdf(y, p, part$upper) - grid_cdf(y, p, part$lower, TRUE))
      },
      tail_mean = by_row(function(y, p) grid_tail_mean(y, p, part$prob)),
      # The integral of F (1 - F), with F linear between points.
      gini = {
        left <- cdf[, -m, drop = FALSE]
        right <- cdf[, -1L, drop = FALSE]
        rowSums((high - low) * ((left + right) / 2 - (left^2 + left * right + right^2) / 3)) / mean
      }
    )
    matrix(value, nrow(cdf), dimnames = list(NULL, functional_labels(part)))
  })
  do.call(cbind, columns)
}

# The distribution function at a value, or its limit from the left.
grid_cdf <- function(points, cdf, value, left = FALSE) {
  if (is.infinite(value)) return(as.double(value > 0))
  at <- findInterval(value, points, left.open = left)
  if (at == 0L) return(if (left || value < points[[1L]]) 0 else cdf[[1L]])
  if (at == length(points)) return(1)
  low <- points[[at]]
  cdf[[at]] + (value - low) / (points[[at + 1L]] - low) * (cdf[[at + 1L]] - cdf[[at]])
}

grid_quantiles <- function(points, cdf, probs) {
  cdf <- cummax(cdf)
  at <- findInterval(probs, cdf, left.open = TRUE)
  inner <- at > 0L & at < length(points)
  value <- points[pmin(at + 1L, length(points))]
  low <- at[inner]
  share <- (probs[inner] - cdf[low]) / (cdf[low + 1L] - cdf[low])
  value[inner] <- points[low] + share * (points[low + 1L] - points[low])
  value
}

grid_tail_mean <- function(points, cdf, prob) {
  m <- length(points)
  edge <- grid_quantiles(points, cdf, prob)
  cdf <- pmax(cummax(cdf), prob)
  middle <- (pmax(points[-m], edge) + pmax(points[-1L], edge)) / 2
  (sum(diff(cdf) * middle) + (1 - cdf[[m]]) * points[[m]] + (cdf[[1L]] - prob) * points[[1L]]) / (1 - prob)
}

grid_means <- function(points, cdf) {
  unname(drop(grid_functional(points, t(matrix(cdf, length(points))), list(new_functional("mean")))))
}

# The values where a distribution function, given at sorted points, reaches uniforms.
invert_cdf <- function(points, cdf, u) {
  cdf <- cummax(cdf)
  stats::approx(cdf, points, pmin(pmax(u, cdf[[1L]]), cdf[[length(cdf)]]), ties = "ordered")$y
}
