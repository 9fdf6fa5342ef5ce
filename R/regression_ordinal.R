# Family "cratio". An observation is a binomial row for each step that it reached: step k asks whether the response is
# above class k, given that it is at least class k. The fit keeps observations; the sampler reads the rows of steps.

reached_counts <- function(counts) {
  above <- counts
  for (k in rev(seq_len(ncol(counts) - 1L))) above[, k] <- above[, k] + above[, k + 1L]
  above[, -ncol(counts), drop = FALSE]
}

# The columns of the steps' intercepts are 0: rows_of_steps() puts the 1 of each step there.
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
  design$x <- structure(x, assign = c(integer(steps), attr(design$x, "assign")[slopes]),
    contrasts = attr(design$x, "contrasts"))
  of_steps <- list(center = 0, scale = 1, prior_unit = 1, is_intercept = TRUE, block = if (length(design$smooths)) 0L)
  for (name in names(of_steps)) design[[name]] <- c(rep(of_steps[[name]], steps), design[[name]][slopes])
  design$primal <- TRUE
  for (i in seq_along(design$smooths)) design$smooths[[i]]$columns <- design$smooths[[i]]$columns + steps - 1L
  design
}

# Each observation has its first step even without responses: no group is without rows.
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
  design$x <- design$x[row, , drop = FALSE]
  design$x[cbind(seq_along(row), step)] <- 1
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
