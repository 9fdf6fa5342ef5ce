# What the data of a regression cannot say, in words. A posterior exists in all these cases, because the priors are
# proper, but the prior decides what is named.

# Sentences about `fit`, character() if there is nothing to say.
support_words <- function(fit) {
  if (isTRUE(fit$prior_only)) return(character())
  of_others <- family_of(fit)$support_words(fit)
  fit <- regressions_of(fit)[[1L]]
  family <- family_of(fit)
  of_classes <- if (family$has_classes) absent_class_words(fit)
  fit <- family$rows(fit)
  finds <- family_of(fit)$finds
  counts <- fit$weights > 0
  of_responses <- if (is.null(of_classes)) response_words(fit, counts) else of_classes
  c(of_responses, separation(fit, counts)$words, rank_words(fit, counts), tail_words(fit),
    if ("pure levels" %in% finds) pure_level_words(fit, counts), level_words(fit),
    if ("overdispersion" %in% finds) overdispersion_words(fit, counts), of_others)
}

# Counts that vary far more than Poisson counts of the fitted means do: Pearson's statistic per degree of freedom is at
# least 2, and chance does not explain it. Given its mean, a term of the statistic has mean 1 and variance 2 + 1/mean.
overdispersion_words <- function(fit, counts) {
  if (kept_draws(fit$iter, fit) == 0) return(character())
  used <- draws_used(fit, 50)
  mean <- summarise_rows(fit, prediction_rows(fit, NULL), used, "response")[counts, 1L, 1L]
  weight <- fit$weights[counts]
  statistic <- sum(weight * (fit$response$observed[counts] - mean)^2 / mean)
  freedom <- sum(weight) - sum(is_shown_coefficient(fit))
  ratio <- statistic / max(freedom, 1)
  if (!isTRUE(ratio >= 2 && statistic - sum(weight) > 6 * sqrt(sum(weight * (2 + 1 / mean))))) return(character())
  sprintf(paste("The counts vary %s times as much as Poisson counts with the fitted means, so intervals are too",
    "narrow: family = \"negbinomial\" learns how much counts vary."), format(signif(ratio, 2), scientific = FALSE))
}

absent_class_words <- function(fit) {
  totals <- colSums(fit$response$observed[fit$weights > 0, , drop = FALSE])
  sprintf("No response is of class %s: the prior decides what is said of it.", show_name(names(totals)[totals == 0]))
}

response_words <- function(fit, counts) {
  observed <- fit$response$observed[counts]
  if (family_of(fit)$is_count) {
    return(if (all(observed == 0)) "All counts are 0: the prior decides how small their mean is.")
  }
  trials <- fit$response$trials[counts]
  if (all(observed == 0) || all(observed == trials)) {
    levels <- fit$response$levels
    first <- if (length(levels) == 1L) sprintf(" (%s is the first level, which counts as failure.)", show_name(levels))
    kind <- outcome_words(fit)[[if (all(observed == 0)) 1L else 2L]]
    paste0("All responses are ", kind, ": the prior decides how far the coefficients lie from 0.", first)
  }
}

# Separation (Albert and Anderson 1984): the likelihood grows without end along a direction, so the prior decides how
# far the coefficients lie from 0. Two signs are looked for, and each proves separation: the posterior means tell the
# classes of all rows, or a class of response does not occur at one value of a predictor of two values. Other kinds of
# separation are not found. Effects of groups do not limit such a direction. 1e6 rows and 10 predictors of two values
# take 0.3 s.
separation <- function(fit, counts) {
  x <- fit$design$x
  occurs <- class_occurs(fit, counts)
  found <- function(words = character(), columns = character()) list(words = words, columns = columns)
  if (is_sparse_matrix(x) || length(x) > 1e7 || sum(colSums(occurs) > 0) < 2L) return(found())
  if (!all(counts)) x <- x[counts, , drop = FALSE]
  family <- family_of(fit)
  if (!family$is_count && is_separated(fit, x, occurs)) {
    is_two <- !family$has_classes && !isTRUE(fit$response$steps)
    classes <- "the classes of all rows"
    if (is_two) classes <- sprintf("all %s from all %s", outcome_words(fit)[[2L]], outcome_words(fit)[[1L]])
    return(found(sprintf("The predictors separate %s: %s", classes,
      "the data set no limit to the coefficients, and the prior decides how large they are."), colnames(x)))
  }
  unlimited <- unlimited_columns(fit, x, occurs)
  columns <- names(unlimited)
  several <- length(unlimited) > 1L
  if (length(unlimited) > 5L) unlimited <- c(unlimited[1:5], sprintf("and %d more", length(unlimited) - 5L))
  found(if (several) {
    paste0("The data do not limit some coefficients in one direction, and the prior decides how large they are: ",
      paste(unlimited, collapse = ", "), ".")
  } else {
    sprintf("The data do not limit the coefficient of %s in one direction: the prior decides how large it is.",
      unlimited)
  }, columns)
}

# Coefficients whose posterior has the tail of a prior without mean or variance, because the data do not limit them.
unlimited_tails <- function(fit) {
  fit <- regressions_of(fit)[[1L]]
  prior <- fit$prior
  types <- prior$types
  is_long <- vapply(seq_along(types), function(i) {
    coefficient_priors[[types[[i]]]]$is_long(prior$df[[i]], prior$slab_scale)
  }, NA)
  if (isTRUE(fit$prior_only) || !any(is_long)) return(character())
  fit <- family_of(fit)$rows(fit)
  columns <- intersect(names(types)[is_long], separation(fit, fit$weights > 0)$columns)
  # The intercept in the data's units has the means of the predictors times their coefficients.
  if (length(columns)) columns <- c(colnames(fit$design$x)[fit$design$is_intercept], columns)
  if (outcomes_of(fit) == 1L) return(columns)
  as.vector(outer(columns, fit$response$classes[-1L], function(name, class) paste0(class, ":", name)))
}

tail_words <- function(fit) {
  names <- unlimited_tails(fit)
  if (length(names) == 0L) return(character())
  shown <- show_name(utils::head(names, 3L))
  if (length(names) > 3L) shown <- c(shown, sprintf("%d more", length(names) - 3L))
  one <- length(names) == 1L
  sprintf(paste("The posterior of %s has the long tail of the prior: %s mean or standard deviation may not exist, so",
    "the median and quantiles are shown."), paste(shown, collapse = ", "), if (one) "its" else "their")
}

# Columns of the design that depend linearly on the columns before them, as lm() finds them. 1e5 rows of 50 columns take
# 0.3 s.
dependent_columns <- function(fit, counts = fit$weights > 0) {
  x <- fit$design$x
  if (is_sparse_matrix(x) || as.double(nrow(x)) * ncol(x)^2 > 2e9) return(character())
  design <- fit$design
  # Penalised columns of smooths may depend on each other.
  used <- if (is.null(design$block)) rep(TRUE, ncol(x)) else design$block == 0L
  scaled <- (x[counts, used, drop = FALSE] - rep(design$center[used], each = sum(counts))) /
    rep(design$scale[used], each = sum(counts))
  parts <- qr(scaled, tol = 1e-7)
  colnames(x)[parts$pivot[-seq_len(parts$rank)]]
}

rank_words <- function(fit, counts) {
  columns <- dependent_columns(fit, counts)
  if (length(columns) == 0L) return(character())
  p <- sum(is_shown_coefficient(fit)) / outcomes_of(fit)
  shown <- paste(show_name(columns), collapse = ", ")
  if (length(columns) > 5L) shown <- sprintf("%d columns", length(columns))
  sprintf(paste("The design is rank deficient (rank %d of %d columns): the data do not tell %s from the other columns,",
    "and the prior decides how they share what the data say. lm() gives NA there."), p - length(columns), p, shown)
}

# Whether a row has responses of each class: rows x classes. The classes of other families than multinomial are failures
# and successes, or counts of 0 and others.
class_occurs <- function(fit, counts) family_of(fit)$occurs(fit$response)[counts, , drop = FALSE]

# Whether the posterior means of the coefficients give each row the class that its responses have. With an intercept any
# threshold will do for two classes.
is_separated <- function(fit, x, occurs) {
  if (kept_draws(fit$iter, fit) == 0 || any(rowSums(occurs) > 1)) return(FALSE)
  linear <- x %*% matrix(stats::coef(fit), ncol(x))
  if (ncol(occurs) == 2L) {
    between <- c(max(linear[occurs[, 1L]]), min(linear[occurs[, 2L]]))
    return(between[[1L]] < between[[2L]] && (any(fit$design$is_intercept) || between[[1L]] < 0 && between[[2L]] > 0))
  }
  linear <- cbind(0, linear)
  own <- rowSums(linear * occurs)
  linear[occurs] <- -Inf
  all(own > do.call(pmax, lapply(seq_len(ncol(linear)), function(k) linear[, k])) | rowSums(occurs) == 0)
}

# Predictors of two values where a class does not occur at one value, in words. With an intercept, the linear predictors
# of the rows with this value can change alone. Without one they can if the other value is 0.
unlimited_columns <- function(fit, x, occurs) {
  family <- family_of(fit)
  has_intercept <- any(fit$design$is_intercept)
  occurs <- occurs + 0
  total <- colSums(occurs)
  words <- lapply(which(!fit$design$is_intercept & is_shown_coefficient(fit)[seq_len(ncol(x))]), function(column) {
    values <- x[, column]
    if (length(unique(utils::head(values, 100L))) > 2L) return(NULL)
    pair <- c(min(values), max(values))
    is_high <- values == pair[[2L]]
    if (pair[[1L]] == pair[[2L]] || sum(is_high) + sum(values == pair[[1L]]) < length(values)) return(NULL)
    at_high <- drop(crossprod(is_high, occurs))
    at <- list(total - at_high, at_high)
    for (i in 1:2) {
      lacks <- at[[i]] == 0 & total > 0
      # More counts of 0 do limit a coefficient of a regression of counts.
      if (family$is_count) lacks[[1L]] <- FALSE
      if (any(lacks) && !all(at[[i]] == 0) && (has_intercept || pair[[i]] != 0 && pair[[3L - i]] == 0)) {
        kind <- if (family$has_classes) {
          paste("no response of class", show_name(colnames(occurs)[lacks][[1L]]))
        } else {
          paste("only", if (family$is_count) "counts of 0" else outcome_words(fit)[[if (lacks[[2L]]) 1L else 2L]])
        }
        name <- colnames(x)[[column]]
        words <- sprintf("%s (%s where %s)", show_name(name), kind, predictor_words(fit, name, pair[[i]], pair))
        return(stats::setNames(words, name))
      }
    }
  })
  unlist(words)
}

# What a row of a binomial regression has without and with success. Steps of ordinal responses and regressions of zeros
# have words of their own.
outcome_words <- function(fit) {
  if (is.null(fit$response$outcomes)) c("failures", "successes") else fit$response$outcomes
}

# Where column `name` of the design has a value, in words. `pair` has its two values. A column of 0 and 1 for a level of
# a factor is named by the factor and its levels.
predictor_words <- function(fit, name, value, pair) {
  is_logical <- vapply(fit$frame, is.logical, NA)
  factors <- c(fit$xlevels, lapply(fit$frame[is_logical], function(values) c("FALSE", "TRUE")))
  for (variable in names(factors)) {
    level <- which(paste0(variable, factors[[variable]]) == name)
    if (length(level) == 1L && identical(unname(pair), c(0, 1))) {
      here <- if (value == 1) factors[[variable]][[level]] else factors[[variable]][-level]
      is_other <- length(here) > 1L
      return(sprintf("%s is %s\"%s\"", show_name(variable), if (is_other) "not " else "",
        if (is_other) factors[[variable]][[level]] else here))
    }
  }
  sprintf("%s is %s", show_name(name), format(value, digits = 6))
}

# Groupings of a logistic regression without a level that has both successes and failures. As their deviation grows, the
# likelihood tends to a limit above 0.
pure_level_words <- function(fit, counts) {
  occurs <- class_occurs(fit, counts)
  design <- fit$design
  groupings <- c(if (!is.null(design$group)) list(list(name = fit$group_name, level = as.integer(design$group))),
    lapply(design$terms, function(term) {
      if ("(Intercept)" %in% term$columns) list(name = term$group, level = term$level)
    }))
  is_pure <- vapply(groupings, function(grouping) {
    sums <- if (!is.null(grouping)) rowsum(occurs + 0, grouping$level[counts])
    !is.null(sums) && nrow(sums) > 1L && all(colSums(sums) > 0) && !any(sums[, 1L] > 0 & sums[, 2L] > 0)
  }, NA)
  names <- unique(vapply(groupings[is_pure], function(grouping) grouping$name, ""))
  sprintf(paste("Each level of %s has only %s or only %s: the data set no upper limit to the deviation of its effects,",
    "and the prior decides how large it is."), show_name(names), outcome_words(fit)[[2L]], outcome_words(fit)[[1L]])
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
