# Grouping terms (x | g) as in lme4: how they are read, what the sampler reads, and their draws.

predictor_classes <- function(response) if (!isTRUE(response$ordered)) response$classes
outcomes_of <- function(fit) max(1L, length(predictor_classes(fit$response)) - 1L)

# A term has the `level` of each row, `z` in the data's units (NULL: 1) with `scale`, the sampler's unit of each column,
# and the `terms` and `contrasts` that make z from new data.
grouping_terms <- function(frame, bars, contrasts, sizes) {
  terms <- lapply(bars, grouping_term, frame = frame, contrasts = contrasts, sizes = sizes)
  pairs <- unlist(lapply(terms, function(term) paste(term$columns, "|", term$group)))
  if (anyDuplicated(pairs)) {
    stop_input("formula", "has two terms with the effect ", dQuote(pairs[duplicated(pairs)][[1L]], FALSE),
      ", which the data cannot tell apart: leave it out of one of them, as in (1 | g) + (0 + x | g)")
  }
  if (length(terms) > 16L) stop_input("formula", sprintf("has %d grouping terms; at most 16 are known", length(terms)))
  with_parents(terms)
}

grouping_term <- function(bar, frame, contrasts, sizes) {
  group <- group_factor(frame, bar$group)
  term <- list(label = bar_words(bar), group = deparse1(bar$group), expression = bar$group, columns = "(Intercept)",
    levels = levels(group), level = as.integer(group), z = NULL, scale = 1, independent = TRUE, terms = NULL,
    contrasts = NULL)
  if (is_intercept_bar(bar)) return(term)
  complain <- function(...) {
    stop_input("formula", "has the grouping term ", dQuote(paste0("(", term$label, ")"), FALSE), " ", ...)
  }
  term$terms <- tryCatch(bar_terms(bar, frame), error = function(error) {
    complain("whose left side is not a formula of effects: ", because = error)
  })
  known <- contrasts[intersect(names(contrasts), all.vars(bar$left))]
  z <- design_matrix(term$terms, frame, if (length(known)) known)
  if (ncol(z) == 0L || ncol(z) > 16L) {
    complain(sprintf("with %s; 1 to 16 are known", count_words(ncol(z), "effect")), " for each level")
  }
  deviation <- if (all(sizes$of_rows == 1)) apply(z, 2L, stats::sd) else column_moments(z, sizes)$sd
  check_squares(deviation, colnames(z))
  term$scale <- unname(ifelse(deviation > 0 & is.finite(1 / deviation), deviation, 1))
  term$contrasts <- attr(z, "contrasts")
  term$columns <- colnames(z)
  term$independent <- bar$independent || ncol(z) == 1L
  term$z <- if (!all(z == 1) || ncol(z) > 1L) matrix(as.double(z), nrow(z))
  if (is.null(term$z)) term$scale <- 1
  term
}

bar_terms <- function(bar, frame) {
  with_bases(stats::terms(stats::as.formula(call("~", bar$left), environment(attr(frame, "terms")))), frame)
}

# A parent has the same effects, and unions of the term's levels. The sampler moves what both share.
with_parents <- function(terms) {
  sizes <- lengths(lapply(terms, `[[`, "levels"))
  for (i in seq_along(terms)) {
    own <- terms[[i]]
    smaller <- which(sizes < sizes[[i]] | sizes == sizes[[i]] & seq_along(sizes) < i)
    for (j in smaller[order(-sizes[smaller])]) {
      level <- terms[[j]]$level[match(seq_along(own$levels), own$level)]
      if (identical(own$columns, terms[[j]]$columns) && all(level[own$level] == terms[[j]]$level)) {
        terms[[i]][c("parent_level", "parent")] <- list(level, j)
        break
      }
    }
  }
  terms
}

regression_terms <- function(terms, order) {
  lapply(terms, function(term) {
    z <- term$z
    list(
      z = if (!is.null(z)) z[order, , drop = FALSE] / rep(term$scale, each = nrow(z)),
      level = term$level[order] - 1L, levels = length(term$levels), independent = term$independent,
      parent = if (!is.null(term$parent)) term$parent - 1L,
      parent_level = if (!is.null(term$parent)) term$parent_level - 1L
    )
  })
}

effect_scales <- function(fit) {
  of_terms <- lapply(if (!isTRUE(fit$design$single)) fit$design$terms, function(term) {
    fit$prior$group_scale * if (fit$prior$autoscale) rep(1, length(term$scale)) else term$scale
  })
  as.double(c(unlist(of_terms), rep(fit$prior$smooth_scale, length(banded_smooths(fit$design)))))
}

start_terms <- function(fit) {
  banded <- banded_smooths(fit$design)
  terms <- if (!isTRUE(fit$design$single)) fit$design$terms
  if (length(terms) + length(banded) == 0L) return(NULL)
  covariances <- lapply(terms, function(term) {
    unit <- pack(diag(length(term$columns)))
    c(unit, unit, rep(1, length(term$columns)))
  })
  effects <- sum(vapply(terms, function(term) length(term$levels) * length(term$columns), 0),
    vapply(banded, function(smooth) length(smooth$columns), 0))
  list(effects = numeric(outcomes_of(fit) * effects),
    covariances = rep(as.double(c(unlist(covariances), rep(c(1, 1, 0), length(banded)))), outcomes_of(fit)))
}

sort_groups <- function(design) {
  if (length(design$terms) == 0L) return(design)
  # The term of most levels has contiguous rows; rows of other terms are read through an index.
  sizes <- vapply(design$terms, function(term) length(term$levels), 0L)
  level <- design$terms[[which.max(sizes)]]$level
  design$order <- order(level, seq_along(level))
  if (isTRUE(design$single)) design$group_start <- as.double(c(0, cumsum(tabulate(level, sizes))))
  design
}

# The terms of each linear predictor. Those of a multinomial have the `class` and its `outcome`, from 0.
outcome_terms <- function(fit) {
  terms <- fit$design$terms
  classes <- predictor_classes(fit$response)[-1L]
  if (length(classes) == 0L || length(terms) == 0L) return(terms)
  unlist(lapply(seq_along(classes), function(k) lapply(terms, c, list(class = classes[[k]], outcome = k - 1L))),
    recursive = FALSE)
}

of_class <- function(term, names) if (is.null(term$class)) names else sprintf("%s:%s", term$class, names)

of_each_class <- function(names, classes) {
  if (length(names) == 0L || length(classes) == 0L) return(names)
  as.vector(outer(names, classes, function(name, class) paste0(class, ":", name)))
}

deviation_names <- function(terms) {
  unlist(lapply(terms, function(term) {
    slopes <- sprintf("sd(%s | %s)", term$columns, term$group)
    of_class(term, ifelse(term$columns == "(Intercept)", sprintf("sd(%s)", term$group), slopes))
  }))
}

correlation_names <- function(terms) {
  unlist(lapply(terms, function(term) {
    pairs <- correlated_pairs(term)
    of_class(term, sprintf("cor(%s, %s | %s)", term$columns[pairs[, 2L]], term$columns[pairs[, 1L]],
      rep(term$group, nrow(pairs))))
  }))
}

effect_names <- function(terms) {
  unlist(lapply(terms, function(term) {
    levels <- rep(term$levels, each = length(term$columns))
    of_class(term, sprintf("b[%s %s:%s]", rep(term$columns, length(term$levels)), term$group, levels))
  }))
}

# Rows and columns of the correlations of a term, below the diagonal, row by row.
correlated_pairs <- function(term) {
  q <- length(term$columns)
  if (term$independent || q < 2L) return(matrix(0L, 0L, 2L))
  do.call(rbind, lapply(2:q, function(row) cbind(row, seq_len(row - 1L))))
}

# Deviations and correlations in the data's units, from sweeps x packed covariances.
deviations_and_correlations <- function(covariances, terms) {
  deviations <- correlations <- NULL
  first <- 0L
  for (term in terms) {
    q <- length(term$columns)
    at <- function(row, column) first + row * (row - 1L) / 2L + column
    deviation <- sqrt(covariances[, at(seq_len(q), seq_len(q)), drop = FALSE])
    pairs <- correlated_pairs(term)
    deviations <- cbind(deviations, deviation / rep(term$scale, each = nrow(covariances)))
    correlations <- cbind(correlations, covariances[, at(pairs[, 1L], pairs[, 2L]), drop = FALSE] /
      (deviation[, pairs[, 1L], drop = FALSE] * deviation[, pairs[, 2L], drop = FALSE]))
    first <- first + q * (q + 1L) / 2L
  }
  list(deviations = deviations, correlations = correlations)
}

of_terms <- function(fit, values) {
  count <- length(values) / outcomes_of(fit)
  lapply(seq_len(count), function(i) values[seq(i, length(values), by = count)])
}

stored_effects <- function(fit) if (is.null(fit$group_name)) fit$draws$effects else fit$draws$intercepts

effect_draws <- function(fit) {
  values <- stored_effects(fit)
  kept <- dim(values)[2:3]
  values <- matrix(values, dim(values)[[1L]])
  first <- 0L
  lapply(outcome_terms(fit), function(term) {
    count <- length(term$columns) * length(term$levels)
    own <- values[first + seq_len(count), , drop = FALSE]
    first <<- first + count
    array(own, c(length(term$columns), length(term$levels), kept), list(term$columns, term$levels, NULL, NULL))
  })
}

# The covariance of each term's effects in the kept draws, chain by chain: columns x columns x draws.
covariance_draws <- function(fit) {
  flat <- function(trace) if (!is.null(trace)) matrix(trace, fit$iter * fit$chains)
  rows <- as.vector(outer(kept_sweeps(fit), fit$iter * (seq_len(fit$chains) - 1), `+`))
  deviations <- flat(fit$group_deviation)[rows, , drop = FALSE]
  correlations <- if (!is.null(fit$group_correlation)) flat(fit$group_correlation)[rows, , drop = FALSE]
  used <- c(0L, 0L)
  lapply(outcome_terms(fit), function(term) {
    q <- length(term$columns)
    pairs <- correlated_pairs(term)
    deviation <- deviations[, used[[1L]] + seq_len(q), drop = FALSE]
    out <- array(0, c(q, q, length(rows)), list(term$columns, term$columns, NULL))
    for (k in seq_len(q)) out[k, k, ] <- deviation[, k]^2
    for (i in seq_len(nrow(pairs))) {
      out[pairs[i, 1L], pairs[i, 2L], ] <- out[pairs[i, 2L], pairs[i, 1L], ] <-
        correlations[, used[[2L]] + i] * deviation[, pairs[i, 1L]] * deviation[, pairs[i, 2L]]
    }
    used <<- used + c(q, nrow(pairs))
    out
  })
}

# The terms of new rows: `level` (0: unknown), `new_level` (numbers the values), `z`, and the `kept` effects.
new_term_rows <- function(fit, newdata, kept) {
  Map(function(term, kept) {
    if (!any(kept)) return(list(level = rep(-1L, nrow(newdata)), new_level = rep(1L, nrow(newdata)), kept = kept))
    known <- term$group %in% names(newdata) || all(all.vars(term$expression) %in% names(newdata))
    values <- tryCatch(if (known) group_values(term$expression, newdata, environment(fit$formula)), error = pass_on)
    values <- as.character(as_groups(values))
    if (length(values) != nrow(newdata)) stop_input("newdata", "lacks the groups ", dQuote(term$group, FALSE))
    level <- match(values, term$levels, nomatch = 0L)
    level[is.na(values)] <- NA
    z <- if (!is.null(term$z)) {
      stats::model.matrix(term$terms, new_frame(fit, term$terms, newdata), contrasts.arg = term$contrasts)
    }
    list(level = level, new_level = match(values, unique(values)), z = z, kept = kept)
  }, fit$design$terms, kept)
}

# Effects of `count` new levels from each draw's covariance: for each column draws x levels.
new_effects <- function(covariances, count) {
  q <- dim(covariances)[[1L]]
  draws <- dim(covariances)[[3L]]
  normal <- replicate(q, matrix(stats::rnorm(draws * count), draws), simplify = FALSE)
  roots <- vapply(seq_len(draws), function(draw) covariance_root(matrix(covariances[, , draw], q)), numeric(q * q))
  roots <- array(roots, c(q, q, draws))
  lapply(seq_len(q), function(row) {
    Reduce(`+`, lapply(seq_len(q), function(column) normal[[column]] * roots[row, column, ]))
  })
}

# A matrix R with R R' = covariance. A correlation that rounds to 1 makes a covariance singular.
covariance_root <- function(covariance) {
  tryCatch(t(chol(covariance)), error = function(error) {
    parts <- eigen(covariance, symmetric = TRUE)
    parts$vectors * rep(sqrt(pmax(parts$values, 0)), each = nrow(covariance))
  })
}

#' Grouping terms of regressions
#'
#' Effects of groups of rows in [bayes_logit()], written as in package lme4.
#'
#' | term | adds to the linear predictor |
#' |---|---|
#' | \code{(1 | g)} | an intercept for each level of `g` |
#' | \code{(x | g)} | an intercept and a slope of `x` for each level of `g`, which are correlated |
#' | \code{(x || g)} | the same, uncorrelated |
#' | \code{(0 + x | g)} | a slope of `x` for each level of `g` |
#' | \code{(1 | g:h)} | an intercept for each combination of levels that the data have |
#' | \code{(1 | g/h)} | the same as \code{(1 | g) + (1 | h:g)}: levels of `h` within levels of `g` |
#'
#' The left side is a formula of up to 16 effects, such as `x + I(x^2)` or a factor. A model has up to 16 terms. Two
#' terms must not have the same effect of the same groups.
#' @section Model and prior:
#' The effects of a level are normal with mean 0 and a learned covariance matrix. Let \eqn{s}{s} be `group_scale` of
#' [logit_prior()], divided by the standard deviation of the predictor if `autoscale = TRUE`. The standard deviation of
#' one effect, or of uncorrelated effects, is half-Cauchy of scale \eqn{s}{s}. Correlated effects have the prior of
#' Huang and Wand (2013): each standard deviation is half-t with 2 degrees of freedom and scale \eqn{s}{s}, and each
#' correlation is uniform between -1 and 1. With `"multinomial"` each class except the reference has independent effects
#' and a covariance matrix of its own.
#' @section Parts of a fit:
#' A fit with one term `(1 | g)` has the parts described in [bayes_logit()], unless the family is multinomial. Other
#' fits have `draws$effects` (effects x kept draws x chains) in the data's units, with names such as `b[x g:a]` for the
#' slope of `x` in level `a` of `g`; `group_deviation`, with names such as `sd(g)` and `sd(x | g)`; and, if there are
#' any, `group_correlation`. Names of a multinomial have the class before them.
#' @references Huang, A. and Wand, M. P. (2013). Simple marginally noninformative prior distributions for covariance
#' matrices. *Bayesian Analysis* **8**, 439-452.
#' @examples
#' fit <- bayes_logit(am ~ wt + (1 | cyl), mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#' predict(fit, data.frame(wt = 3, cyl = c(4, 5)))
#' @name grouping_terms
NULL
