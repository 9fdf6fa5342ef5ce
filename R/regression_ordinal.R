# Ordinal responses by continuation ratio (family "cratio"). An observation of class y is a binomial row for each step
# that it reached: step k asks whether the response is above class k, given that it is at least class k. The fit keeps
# observations; the sampler and what looks for separation read the rows of steps.

# Families whose response has classes.
has_classes <- function(fit) fit$family %in% c("multinomial", "cratio")

# Classes that have linear predictors with coefficients of their own.
predictor_classes <- function(response) if (!isTRUE(response$ordered)) response$classes

cratio_response <- function(response, weights, complain) {
  if (is.matrix(response) && is.numeric(response)) {
    counted <- class_counts(response, complain)
  } else if (is.ordered(response)) {
    counted <- outer(as.integer(response), seq_len(nlevels(response)), `==`) + 0
    colnames(counted) <- levels(response)
  } else {
    complain("is ", show_value(response), "; an ordinal one is an ordered factor, as ordered(y) makes it, or a matrix ",
      "of counts with a column for each class")
  }
  check_class_number(ncol(counted), complain)
  trials <- rowSums(counted)
  reached <- reached_counts(counted)
  list(
    shape = weights * trials, observed = counted, trials = trials, classes = colnames(counted), ordered = TRUE,
    constant = sum(weights * (lgamma(trials + 1) - rowSums(lgamma(counted + 1)))),
    mean = step_shares(colSums(weights * counted)), information = weights * rowSums(reached) / 4
  )
}

# How many of a row's responses reached each step: rows x (classes - 1).
reached_counts <- function(counts) {
  above <- counts
  for (k in rev(seq_len(ncol(counts) - 1L))) above[, k] <- above[, k] + above[, k + 1L]
  above[, -ncol(counts), drop = FALSE]
}

# The shares of responses that go on from each step.
step_shares <- function(totals) {
  at_least <- rev(cumsum(rev(totals)))
  (at_least[-1L] + 0.5) / (at_least[-length(totals)] + 1)
}

# The design with an intercept for each step in the place of the one of the formula. Rows are observations, whose
# intercepts are 0: rows_of_steps() puts the 1 of each step there.
with_step_intercepts <- function(design, classes) {
  if (is_sparse_matrix(design$x)) {
    if (length(design$smooths)) {
      stop_input("formula", "has effects of many areas or times, which are not known for family \"cratio\"")
    }
    stop_input("sparse", "is not known for family \"cratio\": its rows are made of a design that is not sparse")
  }
  if (!any(design$is_intercept)) {
    stop_input("formula", "has no intercept, but the steps of an ordinal response have intercepts")
  }
  steps <- length(classes) - 1L
  slopes <- !design$is_intercept
  x <- cbind(matrix(0, nrow(design$x), steps), design$x[, slopes, drop = FALSE])
  dimnames(x) <- list(rownames(design$x),
    c(sprintf("(Intercept):%s", classes[seq_len(steps)]), colnames(design$x)[slopes]))
  attr(x, "assign") <- c(integer(steps), attr(design$x, "assign")[slopes])
  attr(x, "contrasts") <- attr(design$x, "contrasts")
  design$x <- x
  design$center <- c(numeric(steps), design$center[slopes])
  design$scale <- c(rep(1, steps), design$scale[slopes])
  design$is_intercept <- seq_len(ncol(x)) <= steps
  design$primal <- TRUE
  if (length(design$smooths)) {
    design$block <- c(integer(steps), design$block[slopes])
    design$smooths <- lapply(design$smooths, function(smooth) {
      smooth$columns <- smooth$columns + steps - 1L
      smooth
    })
  }
  design
}

# The design of new rows in the form of the fitted one, or with the average of the steps' intercepts.
new_step_rows <- function(fit, x, average = FALSE) {
  steps <- sum(fit$design$is_intercept)
  cbind(matrix(if (average) 1 / steps else 0, nrow(x), steps), x[, attr(x, "assign") != 0L, drop = FALSE])
}

# A fit whose rows are the steps that observations reached, as a binomial regression. Each observation has its first
# step even without responses, so that no group is without rows.
rows_of_steps <- function(fit) {
  counts <- fit$response$observed
  steps <- ncol(counts) - 1L
  reached <- reached_counts(counts)
  above <- cbind(reached[, -1L, drop = FALSE], counts[, steps + 1L])
  kept <- which(t(reached > 0 | col(reached) == 1L))
  row <- (kept - 1L) %/% steps + 1L
  step <- (kept - 1L) %% steps + 1L
  at <- cbind(row, step)
  weights <- fit$weights[row]
  design <- fit$design
  x <- design$x[row, , drop = FALSE]
  x[cbind(seq_along(row), step)] <- 1
  design$x <- x
  design$group <- design$group[row]
  design$terms <- lapply(design$terms, function(term) {
    term$level <- term$level[row]
    if (!is.null(term$z)) term$z <- term$z[row, , drop = FALSE]
    term
  })
  design[c("group_start", "order")] <- list(NULL)
  fit$design <- sort_groups(design)
  y <- unname(above[at])
  n <- unname(reached[at])
  fit$response <- list(shape = weights * n, kappa = matrix(weights * (y - n / 2)), observed = y, trials = n,
    outcomes = c("the lowest class", "the highest class"), steps = TRUE)
  fit$family <- "binomial"
  fit$rows <- length(row)
  fit$weights <- weights
  fit$offset <- fit$offset[row]
  fit
}

# Linear predictors of all steps, draws x rows x steps, from the part that steps share. `used` are the draws.
step_linear <- function(fit, linear, used) {
  intercepts <- coefficient_draws(fit)[used, fit$design$is_intercept, drop = FALSE]
  array(as.vector(linear) + as.vector(intercepts[rep(seq_along(used), dim(linear)[[2L]]), ]),
    c(dim(linear)[1:2], ncol(intercepts)))
}

# Probabilities of classes from the linear predictors of steps: draws x rows x classes.
step_probabilities <- function(linear) {
  steps <- dim(linear)[[3L]]
  out <- array(0, dim(linear) + c(0, 0, 1))
  reached <- 0
  for (k in seq_len(steps)) {
    out[, , k] <- exp(reached + stats::plogis(linear[, , k], lower.tail = FALSE, log.p = TRUE))
    reached <- reached + stats::plogis(linear[, , k], log.p = TRUE)
  }
  out[, , steps + 1L] <- exp(reached)
  out
}

# As summarise_rows(). `tails` has the probabilities of the quantiles.
summarise_steps <- function(fit, rows, used, type, tails) {
  shown <- length(fit$response$classes) - (type == "link")
  summarise_by_blocks(fit, rows, used, shown, tails, function(linear) {
    if (type == "link") linear else response_draws(fit, linear)
  })
}

# Summaries of `shown` values of each row, which `values_of` makes of linear predictors: rows x shown x 4.
summarise_by_blocks <- function(fit, rows, used, shown, tails, values_of) {
  n <- nrow(rows$x)
  check_result_size(4 * as.double(n) * shown, "newdata", "summaries", copies = 2)
  out <- array(NA_real_, c(n, shown, 4L))
  effects <- row_effects(fit, rows, used)
  for (block in row_blocks(which(rows$complete), length(used) * shown)) {
    values <- values_of(linear_draws(fit, rows, used, block, effects))
    out[block, , ] <- summaries_of_columns(matrix(values, length(used)), tails)
  }
  out
}

# Mean, standard deviation and two quantiles (type 7) of each column.
summaries_of_columns <- function(values, tails) {
  draws <- nrow(values)
  mean <- colMeans(values)
  deviation <- if (draws > 1L) sqrt(colSums((values - rep(mean, each = draws))^2) / (draws - 1)) else NA_real_
  sorted <- matrix(values[order(rep(seq_along(mean), each = draws), values)], draws)
  quantile <- function(p) {
    at <- 1 + (draws - 1) * p
    low <- floor(at)
    high <- min(low + 1, draws)
    sorted[low, ] + (at - low) * (sorted[high, ] - sorted[low, ])
  }
  cbind(mean, deviation, quantile(tails[[1L]]), quantile(tails[[2L]]), deparse.level = 0L)
}

cratio_family <- function() {
  linkinv <- function(eta) {
    eta <- as.matrix(eta)
    matrix(step_probabilities(array(eta, c(1L, dim(eta)))), nrow(eta))
  }
  linkfun <- function(mu) {
    reached <- reached_counts(mu)
    stats::qlogis(1 - mu[, -ncol(mu), drop = FALSE] / reached)
  }
  list(family = "cratio", link = "logit", linkfun = linkfun, linkinv = linkinv, variance = function(mu) mu * (1 - mu))
}
