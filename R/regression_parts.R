# Parts of a regression under the names of packages nlme, lme4 and rstantools.

#' @rdname ranef.bayes_logit
#' @export
family.bayes_logit <- function(object, ...) {
  check_logit_fit(object, "object")
  structure(family_of(object)$object(dispersion_estimate(object)), class = "family")
}

#' Effects of groups and other parts of a fitted regression
#'
#' `ranef()`, `VarCorr()` and `fixef()` are generics of package nlme.
#' @param object,x,formula a fit from [bayes_logit()].
#' @param prob `NULL`, or the probability of intervals of the effects.
#' @param sigma not used.
#' @param ... must be empty.
#' @return `ranef()`: for each [grouping term][grouping_terms] a data frame of the posterior means of the groups'
#'   effects, or with `prob` of `group`, `effect`, `mean`, `sd`, `lower` and `upper`. `VarCorr()`: for each term the
#'   posterior mean of the covariance matrix, with attributes `stddev` and `correlation`. `fixef()`: posterior means.
#'   `terms()`: without grouping terms. `sigma()`: 1. The others are as of [stats::glm()].
#' @examples
#' fit <- bayes_logit(am ~ wt + (1 | cyl), mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#' if (requireNamespace("nlme", quietly = TRUE)) nlme::ranef(fit, prob = 0.9)
#' @method ranef bayes_logit
#' @exportS3Method nlme::ranef bayes_logit
ranef.bayes_logit <- function(object, prob = NULL, ...) {
  check_method(object, "object", ...)
  if (!is.null(prob)) prob <- check_number(prob, "prob", min = 0, max = 1)
  of_groupings(object, "object", function(fit, terms) {
    values <- effect_draws(fit)
    if (!is.null(prob)) {
      tables <- Map(function(term, draws) {
        q <- length(term$columns)
        draws <- matrix(draws, q * length(term$levels))
        bounds <- apply(draws, 1L, stats::quantile, interval_ends(prob), names = FALSE)
        data.frame(group = rep(term$levels, each = q), effect = rep(of_class(term, term$columns), length(term$levels)),
          mean = rowMeans(draws), sd = apply(draws, 1L, stats::sd), lower = bounds[1L, ], upper = bounds[2L, ])
      }, terms, values)
      return(lapply(of_terms(fit, tables), function(parts) do.call(rbind, parts)))
    }
    means <- Map(function(term, draws) {
      mean <- t(rowMeans(draws, dims = 2L))
      colnames(mean) <- of_class(term, colnames(mean))
      mean
    }, terms, values)
    lapply(of_terms(fit, means), function(means) as.data.frame(do.call(cbind, means), optional = TRUE))
  })
}

of_groupings <- function(fit, argument, values_of) {
  values <- lapply(unname(regressions_of(fit)), function(part) {
    terms <- outcome_terms(part)
    if (length(terms) == 0L) return(list())
    by_term <- values_of(part, terms)
    stats::setNames(by_term, paste0(part$prefix, vapply(terms[seq_along(by_term)], `[[`, "", "group")))
  })
  values <- unlist(values, recursive = FALSE)
  if (length(values) == 0L) stop_input(argument, "has no grouping terms")
  values
}

#' @rdname ranef.bayes_logit
#' @method VarCorr bayes_logit
#' @exportS3Method nlme::VarCorr bayes_logit
VarCorr.bayes_logit <- function(x, sigma = 1, ...) {
  check_logit_fit(x, "x")
  by_term <- of_groupings(x, "x", function(fit, terms) {
    long <- vapply(terms, function(term) any(deviation_names(list(term)) %in% long_deviations(fit)), NA)
    middle <- function(draws, long) apply(draws, 1:2, if (long) stats::median else mean)
    means <- Map(middle, covariance_draws(fit), long)
    lapply(of_terms(fit, means), class_covariances, predictor_classes(fit$response))
  })
  structure(by_term, class = c("group_covariances", "warpbayes"))
}

class_covariances <- function(parts, classes) {
  whole <- diag(0, length(parts) * nrow(parts[[1L]]))
  for (k in seq_along(parts)) {
    own <- (k - 1L) * nrow(parts[[k]]) + seq_len(nrow(parts[[k]]))
    whole[own, own] <- parts[[k]]
  }
  names <- of_each_class(rownames(parts[[1L]]), classes[-1L])
  dimnames(whole) <- list(names, names)
  structure(whole, stddev = sqrt(diag(whole)), correlation = stats::cov2cor(whole))
}

in_console.group_covariances <- function(x, digits = 3, ...) {
  digits <- check_count(digits, "digits", max = 15)
  parts <- unclass(x)
  size <- max(vapply(parts, nrow, 0L))
  rows <- do.call(rbind, Map(function(part, name) {
    deviation <- attr(part, "stddev")
    pairs <- formatC(attr(part, "correlation"), digits = 2, format = "f")
    pairs[upper.tri(pairs, TRUE)] <- ""
    pairs <- cbind(pairs, matrix("", nrow(pairs), size))[, seq_len(size - 1L), drop = FALSE]
    cbind(c(name, rep("", length(deviation) - 1L)), names(deviation), format(deviation, digits = digits), pairs)
  }, parts, names(parts)))
  colnames(rows) <- c("Groups", "Name", "Std.Dev.", if (size > 1L) c("Corr", rep("", size - 2L)))
  rownames(rows) <- rep("", nrow(rows))
  print(rows, quote = FALSE)
}

frame_of.group_covariances <- function(x, ...) {
  check_dots_empty(...)
  parts <- unclass(x)
  rows <- lapply(seq_along(parts), function(i) {
    covariance <- parts[[i]]
    names <- rownames(covariance)
    pairs <- which(lower.tri(covariance), arr.ind = TRUE)
    data.frame(grp = names(parts)[[i]], var1 = c(names, names[pairs[, 2L]]),
      var2 = c(rep(NA_character_, length(names)), names[pairs[, 1L]]),
      vcov = c(diag(covariance), covariance[pairs]),
      sdcor = c(attr(covariance, "stddev"), attr(covariance, "correlation")[pairs]), row.names = NULL)
  })
  as_table(do.call(rbind, rows))
}

#' @rdname log_lik.bayes_logit
#' @method bayes_R2 bayes_logit
#' @exportS3Method rstantools::bayes_R2 bayes_logit
bayes_R2.bayes_logit <- function(object, re_formula = NULL, ndraws = NULL, ...) {
  check_method(object, "object", ...)
  refuse_classes(object, "variance")
  mean <- posterior_epred.bayes_logit(object, NULL, re_formula, ndraws)
  observed <- observed_shares(object)
  counts <- object$weights > 0 & !is.na(observed)
  mean <- mean[, counts, drop = FALSE]
  residual <- rep(observed[counts], each = nrow(mean)) - mean
  explained <- apply(mean, 1L, stats::var)
  explained / (explained + apply(residual, 1L, stats::var))
}
