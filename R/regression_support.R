# Reasons of the verdict of a regression. The priors are proper, so a posterior exists, but they decide what is named.

support_reasons <- function(fit) {
  if (isTRUE(fit$prior_only)) return(NULL)
  whole <- fit
  first <- regressions_of(fit)[[1L]]
  family <- family_of(first)
  fit <- family$rows(first)
  counts <- fit$weights > 0
  rows <- row_events(first)
  events <- colSums(rows)
  of_responses <- if (!family$has_classes) equal_responses(fit, events) else {
    unlist(lapply(first$response$classes[events == 0], function(class) reason("absent_class", quantity = class)), FALSE)
  }
  few <- rare_events(first, events[events > 0 & events < 10], "The estimates")
  if (is.null(c(few, of_responses))) few <- rare_events(first, few_at_levels(first, rows), "Estimates of rare levels")
  c(of_responses, few, separation(fit, counts)$reasons, dependence(fit, counts), long_tail(whole),
    levels_alone(fit, counts), misfit(whole), family_of(whole)$support(whole))
}

# Responses of each kind in rows with weight: failures and successes, classes, or counts.
row_events <- function(fit) {
  family <- family_of(fit)
  y <- as.matrix(fit$response$observed)
  kinds <- if (family$has_classes) sprintf("of class `%s`", fit$response$classes) else outcome_words(fit)
  if (family$is_count) kinds <- "counted events"
  if (ncol(y) < length(kinds)) y <- cbind(fit$response$trials - y, y)
  `colnames<-`(fit$weights * y, kinds)[fit$weights > 0, , drop = FALSE]
}

# Fewer than ten events say little. They are named if rare too: then rows do not tell how few they are.
rare_events <- function(fit, events, who) {
  family <- family_of(fit)
  all <- sum(fit$weights * family$trials(fit$response))
  few <- events[events < all / 20]
  n <- length(few)
  if (n == 0L) return(NULL)
  one <- sub("^(.*?(success|failure|event|response|count))(es|s)\\b", "\\1", names(few), perl = TRUE)
  shown <- paste(signif(few, 2), ifelse(few == 1, one, names(few)))
  reason("few_events", quantity = names(few), figure = min(few), who = who,
    shown = c(utils::head(shown, 5L), if (n > 5L) sprintf("and %d more", n - 5L)),
    all = paste(whole_words(round(all)), if (family$is_count) "counts" else "responses"))
}

# The rarest kind of response at each level or cell of fewer than 1 in 20 responses. A term has levels if its columns
# have at most as many different rows as columns and one. Steps share coefficients.
few_at_levels <- function(fit, events) {
  x <- fit$design$x
  counts <- fit$weights > 0
  size <- (fit$weights * family_of(fit)$trials(fit$response))[counts]
  if (isTRUE(fit$response$ordered)) events <- cbind(responses = size)
  named <- logical(length(size))
  used <- attr(fit$terms, "factors")
  if (is_sparse_matrix(x) || length(used) == 0L) return(NULL)
  unlist(lapply(seq_len(ncol(used)), function(term) {
    columns <- which(attr(x, "assign") == term)
    most <- length(columns) + 1L
    key <- 0 * size
    for (i in seq_along(columns)) key <- key + cos(i) * x[counts, columns[[i]]]
    if (length(unique(utils::head(key, 1000L))) > most) return(NULL)
    cell <- match(key, unique(key))
    if (max(cell) > most) return(NULL)
    at <- rowsum(events, cell)
    few <- rowsum(size, cell) < sum(size) / 20 & apply(at, 1L, min) < 10
    frame <- fit$frame[counts, which(used[, term] > 0), drop = FALSE]
    lapply(which(few), function(i) {
      if (all(named[cell == i])) return(NULL)
      named[cell == i] <<- TRUE
      values <- lapply(frame[cell == i, , drop = FALSE], function(of) unique(as.character(of)))
      values <- values[lengths(values) == 1L]
      where <- paste(sprintf("`%s` is \"%s\"", names(values), values), collapse = " and ")
      if (nzchar(where)) stats::setNames(min(at[i, ]), paste(colnames(at)[[which.min(at[i, ])]], "where", where))
    })
  }))
}

equal_responses <- function(fit, events) {
  if (all(events > 0)) return(NULL)
  if (family_of(fit)$is_count) return(reason("zero_counts", figure = 0))
  levels <- fit$response$levels
  first <- if (length(levels) == 1L) sprintf(" (`%s` is the first level, which counts as failure.)", levels) else ""
  reason("equal_responses", kind = names(events)[[if (events[[2L]] == 0) 1L else 2L]], first = first)
}

# Separation (Albert and Anderson 1984): the likelihood grows without end along a direction. Only two signs are found:
# the posterior means tell the classes of all rows, or a class does not occur at a value of a binary predictor. Effects
# of groups do not limit such a direction.
separation <- function(fit, counts) {
  x <- fit$design$x
  occurs <- class_occurs(fit, counts)
  if (is_sparse_matrix(x) || length(x) > 1e7 || sum(colSums(occurs) > 0) < 2L) return(list())
  if (!all(counts)) x <- x[counts, , drop = FALSE]
  family <- family_of(fit)
  if (!family$is_count && is_separated(fit, x, occurs)) {
    is_two <- !family$has_classes && !isTRUE(fit$response$steps)
    classes <- "the classes of all rows"
    if (is_two) classes <- sprintf("all %s from all %s", outcome_words(fit)[[2L]], outcome_words(fit)[[1L]])
    return(list(reasons = reason("separated", classes = classes), columns = colnames(x)))
  }
  unlimited <- unlimited_columns(fit, x, occurs)
  n <- length(unlimited)
  if (n == 0L) return(list())
  shown <- c(utils::head(unlimited, 5L), if (n > 5L) sprintf("and %d more", n - 5L))
  list(reasons = reason("unlimited", quantity = names(unlimited), n = n, shown = shown), columns = names(unlimited))
}

# Quantities without posterior mean or standard deviation: coefficients that the data do not limit, dispersions (large
# ones are like Poisson counts), and deviations of groups of which fewer than two have several kinds of responses.
long_tailed <- function(fit) {
  names_of_regressions(fit, function(part) {
    c(long_coefficients(part), long_deviations(part), if (is_long_dispersion(part)) "dispersion",
      if (isTRUE(fit$prior_only)) grep("^sd|:sd", smooth_deviation_names(part), value = TRUE))
  })
}

is_long_dispersion <- function(fit) family_of(fit)$has_dispersion && is.null(fit$prior$dispersion)

long_coefficients <- function(fit) {
  prior <- fit$prior
  is_long <- prior$types == "horseshoe" & is.null(prior$slab_scale) |
    prior$types %in% c("student_t", "cauchy") & prior$df <= 2
  columns <- names(prior$types)[is_long]
  if (length(columns) == 0L) return(character())
  if (!isTRUE(fit$prior_only)) {
    rows <- family_of(fit)$rows(fit)
    columns <- intersect(columns, separation(rows, rows$weights > 0)$columns)
  }
  # The intercept in the data's units has the means of predictors times coefficients.
  if (length(columns)) columns <- c(colnames(fit$design$x)[fit$design$is_intercept], columns)
  if (outcomes_of(fit) == 1L) columns else of_each_class(columns, fit$response$classes[-1L])
}

long_deviations <- function(fit) {
  terms <- outcome_terms(fit)
  if (length(terms) == 0L || isTRUE(fit$prior_only)) return(deviation_names(terms))
  rows <- family_of(fit)$rows(fit)
  levels <- lapply(rows$design$terms, `[[`, "level")
  counts <- rows$weights > 0
  occurs <- class_occurs(rows, counts)
  if (family_of(rows)$is_count) occurs <- cbind(occurs[, 2L], occurs[, 2L])
  is_long <- vapply(levels, function(level) sum(rowSums(rowsum(occurs + 0, level[counts]) > 0) > 1) < 2, NA)
  deviation_names(terms[rep_len(is_long, length(terms))])
}

long_tail <- function(fit) {
  names <- names_of_regressions(fit, long_coefficients)
  n <- length(names)
  shown <- c(sprintf("`%s`", utils::head(names, 3L)), if (n > 3L) sprintf("%d more", n - 3L))
  if (n > 0L) reason("long_tail", quantity = names, n = n, shown = paste(shown, collapse = ", "))
}

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

dependence <- function(fit, counts) {
  columns <- dependent_columns(fit, counts)
  n <- length(columns)
  if (n == 0L) return(NULL)
  p <- sum(is_shown_coefficient(fit)) / outcomes_of(fit)
  shown <- if (n > 5L) sprintf("%d columns", n) else sprintf("`%s`", columns)
  reason("rank_deficient", quantity = columns, figure = p - n, rank = p - n, columns = p, shown = shown)
}

class_occurs <- function(fit, counts) family_of(fit)$occurs(fit$response)[counts, , drop = FALSE]

# Whether posterior means give each row its class. With an intercept any threshold will do for two classes.
is_separated <- function(fit, x, occurs) {
  if (kept_draws(fit$iter, fit) == 0 || any(rowSums(occurs) > 1)) return(FALSE)
  linear <- x %*% matrix(colMeans(coefficient_matrix(fit)), ncol(x))
  if (ncol(occurs) == 2L) {
    between <- c(max(linear[occurs[, 1L]]), min(linear[occurs[, 2L]]))
    return(between[[1L]] < between[[2L]] && (any(fit$design$is_intercept) || between[[1L]] < 0 && between[[2L]] > 0))
  }
  linear <- cbind(0, linear)
  own <- rowSums(linear * occurs)
  linear[occurs] <- -Inf
  all(own > do.call(pmax, lapply(seq_len(ncol(linear)), function(k) linear[, k])) | rowSums(occurs) == 0)
}

# With an intercept, linear predictors of rows with one value can change alone; without, if the other value is 0.
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
          paste("no response of class", sprintf("`%s`", colnames(occurs)[lacks][[1L]]))
        } else {
          paste("only", if (family$is_count) "counts of 0" else outcome_words(fit)[[if (lacks[[2L]]) 1L else 2L]])
        }
        name <- colnames(x)[[column]]
        words <- sprintf("`%s` (%s where %s)", name, kind, predictor_words(fit, name, pair[[i]], pair))
        return(stats::setNames(words, name))
      }
    }
  })
  unlist(words)
}

outcome_words <- function(fit) {
  if (is.null(fit$response$outcomes)) c("failures", "successes") else fit$response$outcomes
}

predictor_words <- function(fit, name, value, pair) {
  is_logical <- vapply(fit$frame, is.logical, NA)
  factors <- c(fit$xlevels, lapply(fit$frame[is_logical], function(values) c("FALSE", "TRUE")))
  for (variable in names(factors)) {
    is_level <- paste0(variable, factors[[variable]]) == name
    if (sum(is_level) == 1L && identical(unname(pair), c(0, 1))) {
      here <- factors[[variable]][is_level == value]
      if (length(here) > 1L) here <- factors[[variable]][is_level]
      return(sprintf("`%s` is %s\"%s\"", variable, if (sum(is_level == value) > 1L) "not " else "", here))
    }
  }
  sprintf("`%s` is %s", name, format(value, digits = 6))
}

# Groupings of one level; and those of a logistic regression without a level of both successes and failures: as their
# deviation grows, the likelihood tends to a limit above 0.
levels_alone <- function(fit, counts) {
  occurs <- class_occurs(fit, counts) + 0
  of_terms <- lapply(fit$design$terms, function(term) {
    if (length(term$levels) == 1L) return(reason("one_level", quantity = term$group, figure = 1))
    sums <- rowsum(occurs, term$level[counts]) > 0
    is_pure <- ncol(sums) == 2L && !family_of(fit)$is_count && "(Intercept)" %in% term$columns && nrow(sums) > 1L &&
      all(colSums(sums) > 0) && !any(sums[, 1L] & sums[, 2L])
    words <- outcome_words(fit)
    if (is_pure) reason("pure_levels", quantity = term$group, success = words[[2L]], failure = words[[1L]])
  })
  unique(unlist(of_terms, recursive = FALSE))
}

# Compares the data with drawn responses: how much they vary about their means, how many counts are 0, and the shares of
# successes in ten groups of rows. What is named is large, and beyond six standard deviations of what is drawn.
misfit <- function(fit, draws = 50L, most = 20000L) {
  family <- family_of(fit)
  trials <- family$trials(fit$response)
  rows <- which(fit$weights > 0 & trials > 0)
  if (kept_draws(fit$iter, fit) == 0 || family$has_classes || length(rows) == 0L) return(NULL)
  rows <- rows[unique(round(seq(1, length(rows), length.out = min(length(rows), most))))]
  used <- draws_used(fit, draws)
  linear <- linear_draws(fit, prediction_rows(fit, NULL), used, rows)
  size <- dispersion_used(fit, used)
  trials <- trials[rows]
  weight <- fit$weights[rows]
  each <- rep(trials, each = length(used))
  mean <- colMeans(matrix(family$mean(linear), length(used)))
  variance <- colMeans(matrix(family$spread(linear, size), length(used))) / trials
  drawn <- draw_with_seed(1, matrix(family$respond(linear, each, size, TRUE) / each, length(used)))
  observed <- fit$response$observed[rows] / trials
  compare <- function(statistic, least = 0) {
    of_drawn <- apply(drawn, 1L, statistic)
    own <- statistic(observed)
    list(own = own, expected = mean(of_drawn), beyond = (own - mean(of_drawn)) / max(stats::sd(of_drawn), least))
  }
  varies <- if (any(trials > 1) || family$is_count) {
    compare(function(y) sum(weight * (y - mean)^2 / variance), sqrt(sum(weight * (2 + 1 / (trials * mean)))))
  }
  ratio <- varies$own / (varies$expected * (max(sum(weight) - sum(is_shown_coefficient(fit)), 1) / sum(weight)))
  if (isTRUE(ratio >= 2 && varies$beyond > 6)) {
    return(reason("overdispersed", figure = ratio, responses = family$observations, law = family$law,
      so = family$wider, ratio = format(signif(ratio, 2), scientific = FALSE)))
  }
  if (family$is_count && length(regressions_of(fit)) == 1L) {
    zeros <- compare(function(y) sum(weight * (y == 0)), 1)
    is_far <- abs(log((zeros$own + 1) / (zeros$expected + 1))) >= log(1.5)
    if (!isTRUE(abs(zeros$beyond) > 6 && is_far)) return(NULL)
    return(reason("other_zeros", figure = zeros$own, rows = whole_words(length(rows)), law = family$law,
      expected = whole_words(round(zeros$expected))))
  }
  if (family$is_count || length(rows) < 10L) return(NULL)
  part <- ceiling(10 * rank(mean, ties.method = "first") / length(rows))
  size <- rowsum(weight * trials, part)
  share <- function(y) rowsum(weight * trials * y, part) / size
  expected <- share(mean)
  variance <- rowsum((weight * trials)^2 * variance, part) / size^2
  off <- compare(function(y) sum((share(y) - expected)^2 / variance), sqrt(20))
  logit <- function(share) stats::qlogis((size * share + 1) / (size + 2))
  far <- abs(logit(share(observed)) - logit(expected))
  if (!isTRUE(off$beyond > 6 && max(far) >= log(1.5))) return(NULL)
  shown <- function(share) format_to_spread(share[[which.max(far)]], 0.1)
  reason("miscalibrated", success = outcome_words(fit)[[2L]], figure = shown(share(observed)),
    expected = shown(expected))
}
