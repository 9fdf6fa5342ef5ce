# What the data of a regression cannot say, in words. A posterior exists in all these cases, because the priors are
# proper, but the prior decides what is named.

# Sentences about `fit`, character() if there is nothing to say.
support_words <- function(fit) {
  if (isTRUE(fit$prior_only)) {
    return(character())
  }
  counts <- fit$weights > 0
  c(response_words(fit, counts), if (fit$family == "binomial") separation_words(fit, counts), level_words(fit))
}

response_words <- function(fit, counts) {
  observed <- fit$response$observed
  if (fit$family == "multinomial") {
    absent <- colSums(observed[counts, , drop = FALSE]) == 0
    return(sprintf("No response is of class %s: the prior decides what is said of it.",
      show_name(colnames(observed)[absent])))
  }
  observed <- observed[counts]
  if (fit$family == "negbinomial") {
    return(if (all(observed == 0)) "All counts are 0: the prior decides how small their mean is.")
  }
  trials <- fit$response$trials[counts]
  if (all(observed == 0) || all(observed == trials)) {
    levels <- fit$response$levels
    first <- if (length(levels) == 1L) sprintf(" (%s is the first level, which counts as failure.)", show_name(levels))
    kind <- if (all(observed == 0)) "failures" else "successes"
    paste0("All responses are ", kind, ": the prior decides how far the coefficients lie from 0.", first)
  }
}

# Separation (Albert and Anderson 1984): the likelihood grows without end along a direction, so the prior decides how
# far the coefficients lie from 0. Two kinds are looked for, which are proved where they are found: the posterior means
# order all successes above all failures, and a predictor of two values has no failures or no successes at one of them.
separation_words <- function(fit, counts) {
  y <- fit$response$observed[counts]
  trials <- fit$response$trials[counts]
  mixed <- y > 0 & y < trials
  x <- fit$design$x
  if (is_sparse_matrix(x) || length(x) > 1e7 || all(y == 0) || all(y == trials)) {
    return(character())
  }
  x <- x[counts, , drop = FALSE]
  if (!any(mixed)) {
    linear <- drop(x %*% unname(stats::coef(fit)))
    between <- c(max(linear[y == 0]), min(linear[y > 0]))
    has_intercept <- any(fit$design$is_intercept)
    if (between[[1L]] < between[[2L]] && (has_intercept || between[[1L]] < 0 && between[[2L]] > 0)) {
      return(paste("The predictors separate all successes from all failures: the data set no limit to the",
        "coefficients, and the prior decides how large they are."))
    }
  }
  empty <- vapply(which(!fit$design$is_intercept), function(column) {
    values <- x[, column]
    low <- min(values)
    high <- max(values)
    if (low == high || !all(values == low | values == high)) {
      return("")
    }
    for (value in c(low, high)) {
      here <- values == value
      kind <- if (all(y[here] == 0)) "failures" else if (all(y[here] == trials[here])) "successes" else next
      return(sprintf("%s (only %s where it is %s)", show_name(colnames(x)[[column]]), kind, format(value, digits = 6)))
    }
    ""
  }, "")
  empty <- empty[nzchar(empty)]
  if (length(empty) == 0L) {
    return(character())
  }
  sprintf("The data do not limit the coefficient%s of %s in one direction: the prior decides how large %s.",
    if (length(empty) > 1L) "s" else "", paste(empty, collapse = ", "), if (length(empty) > 1L) "they are" else "it is")
}

# A grouping with one level says nothing about differences between levels.
level_words <- function(fit) {
  design <- fit$design
  names <- c(if (!is.null(design$group) && nlevels(design$group) == 1L) fit$group_name,
    vapply(design$terms, function(term) if (length(term$levels) == 1L) term$group else "", ""))
  sprintf("The grouping %s has one level: the prior alone decides about its effects and their deviation.",
    unique(show_name(names[nzchar(names)])))
}

show_name <- function(name) if (length(name)) paste0("`", name, "`") else character()
