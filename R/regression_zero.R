# Zero-inflated and hurdle counts. `fit$zero` has the `kind` ("zi" or "hu") and the `part`, a logistic regression of
# zeros without draws. The fit's design, prior and response are of the counts. Its traces hold coefficients of counts,
# then of zeros. count_view() and zero_view() give each as a fit.

zero_kinds <- c(zi = "zero-inflated", hu = "hurdle")

check_zero <- function(zi, hu, formula, family, call) {
  if (is.null(zi) && is.null(hu)) return(NULL)
  if (!is.null(zi) && !is.null(hu)) {
    stop_input("hu", "is given besides `zi`: counts are zero-inflated (`zi`) or have a hurdle (`hu`)")
  }
  kind <- if (is.null(hu)) "zi" else "hu"
  given <- if (is.null(hu)) zi else hu
  check_formula(given, kind, response = FALSE, takes = names(special_terms), example = "~ 1 or ~ x")
  if (!is_count_family(family)) {
    stop_input(kind, "is for counts, but `family` is ", dQuote(family, FALSE),
      ": use family = \"poisson\" or \"negbinomial\"")
  }
  is_given <- vapply(as.list(call), function(value) !is.null(value) && !isFALSE(value), NA)
  refused <- intersect(names(call)[is_given], c("na.action", "sparse", "prior_only", "checkpoint"))
  if (length(refused)) stop_input(refused[[1L]], "cannot be used with `", kind, "`: see ?zero_inflated_counts")
  check_formula(formula, takes = names(special_terms))
  whole <- stats::as.formula(call("~", call("==", formula[[2L]], 0), given[[2L]]), environment(given))
  list(kind = kind, formula = whole, given = given)
}

rows_of_both <- function(given, data, formula, zero) {
  if (!is.data.frame(data)) return(list(data = data, given = given))
  value <- function(name) eval(given[[name]], data, environment(formula))
  rows <- seq_len(nrow(data))
  if (!is.null(given$subset)) rows <- rows[tryCatch(value("subset"), error = function(error) {
    stop_input("subset", "cannot be evaluated with `data`: ", because = error)
  })]
  variables <- intersect(unique(c(all.vars(formula), all.vars(zero$formula))), names(data))
  # model.frame() refuses data that complete.cases() cannot read.
  rows <- rows[!is.na(rows) & tryCatch(stats::complete.cases(data[rows, variables]), error = function(error) {
    pass_on(error)
    TRUE
  })]
  for (name in intersect(c("weights", "offset"), names(given))) {
    # model.frame() says what is wrong with others.
    values <- tryCatch(value(name), error = pass_on)
    if (NROW(values) == nrow(data) && is.atomic(values) && !is.matrix(values)) given[[name]] <- values[rows]
  }
  list(data = data[rows, , drop = FALSE], given = given[names(given) != "subset"])
}

# The mean of Poisson counts whose positive ones have the mean of those in the data.
untruncated_mean <- function(y, weights) {
  some <- y > 0 & weights > 0
  if (!any(some)) stop_input("formula", "has a response without a count above 0")
  above <- stats::weighted.mean(y[some], weights[some])
  if (above < 1.05) return(0.1)
  stats::uniroot(function(mu) mu / -expm1(-mu) - above, c(1e-3, above))$root
}

with_zero_part <- function(fit, zero, data, contrasts, prior, envir) {
  # The sampler completes one observation after the other.
  if (any(fit$weights != floor(fit$weights) | fit$weights > 1e6)) {
    stop_input("weights", sprintf("must be whole numbers up to 1,000,000 with `%s`, not ", zero$kind),
      show_value(fit$weights))
  }
  own <- contrasts[intersect(names(contrasts), all.vars(zero$given))]
  given <- fit$given[intersect(c("weights", "subset"), names(fit$given))]
  parts <- logit_data(given, zero$formula, data, "binomial", if (length(own)) own, FALSE, envir)
  if (nrow(parts$frame) != fit$rows) {
    stop_input(zero$kind, sprintf("has %d rows of data, but the counts have %d", nrow(parts$frame), fit$rows))
  }
  names <- colnames(parts$design$x)
  parts$response$outcomes <- c("counts above 0", "counts of 0")
  # The rows that are 0 beyond a hurdle, or beyond the zeros of counts with the mean of those above 0.
  size <- sum(fit$weights)
  zeros <- sum(fit$weights * parts$response$observed)
  if (zero$kind == "zi") zeros <- max(0, (zeros - size * exp(-fit$response$mean)) / -expm1(-fit$response$mean))
  centre <- logit_of_share(fit$weights * zeros / size, fit$weights, parts$offset)
  fit$zero <- list(kind = zero$kind, part = structure(c(list(
    draws = NULL, family = "binomial", formula = zero$formula, contrasts = parts$design$contrasts,
    prior = resolve_logit_prior(prior, parts$design, "binomial", centre), coefficient_names = names
  ), parts), class = class(fit)))
  fit$prior$zero <- fit$zero$part$prior
  fit$coefficient_names <- c(fit$coefficient_names, paste0(zero$kind, "_", names))
  fit
}

count_view <- function(fit) {
  kept <- seq_len(ncol(fit$design$x))
  # Beyond a hurdle, rows of 0 tell nothing of the counts.
  if (identical(fit$zero$kind, "hu")) fit$weights <- fit$weights * (fit$response$observed > 0)
  fit["zero"] <- NULL
  fit$prior["zero"] <- NULL
  fit$coefficient_names <- fit$coefficient_names[kept]
  if (!is.null(fit$coefficient_trace)) fit$coefficient_trace <- fit$coefficient_trace[, , kept, drop = FALSE]
  fit
}

zero_view <- function(fit) {
  part <- fit$zero$part
  shared <- c("chains", "iter", "warmup", "thin", "seed", "elapsed", "state", "rows", "log_likelihood", "backend")
  part[shared] <- fit[shared]
  part$prefix <- paste0(fit$zero$kind, "_")
  if (is.null(fit$coefficient_trace)) return(part)
  part$coefficient_trace <- fit$coefficient_trace[, , -seq_len(ncol(fit$design$x)), drop = FALSE]
  own <- c("group_deviation", "group_correlation", "smooth_deviation")
  part[own] <- fit[paste0("zero_", own)]
  of_zero <- grep("^zero_", names(fit$draws), value = TRUE)
  part$draws <- stats::setNames(fit$draws[of_zero], substring(of_zero, 6L))
  part
}

check_zero_parts <- function(fit, argument) {
  if (!is.matrix(fit$design$x)) stop_changed(argument, "design$x", "the design of the counts", fit$design$x)
  is_whole <- is.list(fit$zero) && isTRUE(fit$zero$kind %in% names(zero_kinds)) && is.list(fit$zero$part) &&
    is.list(fit$zero$part$design)
  if (!is_whole) stop_changed(argument, "zero", "the regression of zeros", fit$zero)
  order <- part_is("an order of the rows", function(order) setequal(order, seq_len(fit$rows)))
  for (part in list(fit, fit$zero$part)) check_described(part, argument, list(`design$order` = order), "design$order")
  check_logit_fit(zero_view(fit), argument)
}

# The log probability of 0 of the counts, from log means and dispersions.
log_no_count <- function(log_mean, size) {
  if (identical(size, Inf)) -exp(log_mean) else -size * log1p(exp(log_mean) / size)
}

# Linear predictors as vectors. Poisson counts are negative binomial ones of infinite `size`.
zero_values <- function(linear) {
  list(log_mean = as.vector(linear[, , 1L]), mean = exp(as.vector(linear[, , 1L])),
    zero = as.vector(linear[, , 2L]), size = if (dim(linear)[[3L]] == 3L) as.vector(linear[, , 3L]) else Inf)
}

zero_moments <- function(fit, linear, variance = FALSE) {
  at <- zero_values(linear)
  other <- stats::plogis(at$zero, lower.tail = FALSE)
  square <- at$mean + at$mean^2 + at$mean^2 / at$size
  if (fit$zero$kind == "hu") other <- other / -expm1(log_no_count(log(at$mean), at$size))
  array(if (variance) other * square - (other * at$mean)^2 else other * at$mean, c(dim(linear)[1:2], 1L))
}

draw_zero_responses <- function(fit, linear) {
  values <- zero_values(linear)
  count <- length(values$mean)
  is_hurdle <- fit$zero$kind == "hu"
  is_zero <- stats::runif(count) < stats::plogis(values$zero)
  # Beyond a hurdle: the quantile of a uniform number above the probability of 0.
  at <- stats::runif(count)
  if (is_hurdle) at <- at * -expm1(log_no_count(log(values$mean), values$size))
  y <- stats::qnbinom(at, size = values$size, mu = values$mean, lower.tail = FALSE)
  if (is_hurdle) y <- pmax(y, 1)
  array(ifelse(is_zero, 0, y), dim(linear)[1:2])
}

zero_support <- function(fit) {
  zeros <- zero_view(fit)
  counts <- zeros$weights > 0
  is_hurdle <- fit$zero$kind == "hu"
  # Where predictors separate zeros from other counts, the likelihood of excess zeros grows without end too.
  reasons <- if (is_hurdle) {
    support_reasons(zeros)
  } else {
    c(separation(zeros, counts)$reasons, dependence(zeros, counts), levels_alone(zeros, counts),
      if (all(fit$response$observed > 0)) reason("no_excess", figure = 0))
  }
  what <- if (is_hurdle) "how small the mean of the counts is" else "which zeros are excess zeros"
  c(if (max(fit$response$observed) == 1) reason("no_count_above_1", figure = 1, what = what),
    lapply(reasons, function(one) replace(one, "words", paste("Regression of zeros:", one$words))))
}

family_wrappers$zero <- function(record, fit) {
  # Before check_zero_parts() `zero` may be anything.
  kind <- zero_kinds[[if (identical(as.list(fit$zero)$kind, "hu")) "hu" else "zi"]]
  moments <- function(linear) zero_moments(fit, linear)
  of_counts <- function(linear) linear[, , 1L, drop = FALSE]
  spread <- function(linear, ...) zero_moments(fit, linear, variance = TRUE)
  own <- list(
    title = paste(sub("^(.)", "\\U\\1", kind, perl = TRUE), sub("^Negative", "negative", record$title)),
    mean = moments, link = of_counts,
    respond = function(linear, ...) draw_zero_responses(fit, linear),
    log_likelihood = function(linear, y, ...) {
      at <- zero_values(linear)
      log_zero <- stats::plogis(at$zero, log.p = TRUE)
      log_other <- stats::plogis(at$zero, lower.tail = FALSE, log.p = TRUE)
      none <- log_no_count(at$log_mean, at$size)
      counted <- log_other + stats::dnbinom(y, size = at$size, mu = at$mean, log = TRUE)
      if (fit$zero$kind == "hu") return(ifelse(y == 0, log_zero, counted - log(-expm1(none))))
      ifelse(y == 0, pmax(log_zero, log_other + none) + log1p(exp(-abs(log_zero - (log_other + none)))), counted)
    },
    types = list(response = moments, link = of_counts, count = function(linear) exp(of_counts(linear)),
      zero = function(linear) stats::plogis(linear[, , 2L])),
    residual_weights = function(fit, trials) 1,
    variance = function(...) {
      summarise_by_blocks(fit, prediction_rows(fit, NULL), draws_used(fit, NULL), 1L, c(0, 1), spread)[, 1L, 1L]
    },
    lost = function(...) stop_input("object", "has ", kind, " counts, which have no deviance"),
    object = function(size) {
      stop_input("object", "has a regression of zeros besides the counts, and no family object has two")
    },
    regressions = function(fit) list(count_view(fit), zero = zero_view(fit)),
    # Linear predictors of the counts, of zeros, and the dispersion if there is one: draws x rows x 3.
    join = function(linear, size) {
      size <- if (!is.null(size)) matrix(size, length(size), ncol(linear[[1L]]))
      parts <- c(unname(linear), list(size)[!is.null(size)])
      array(unlist(parts), c(dim(linear[[1L]])[1:2], length(parts)))
    },
    sampling = list(sampler = zero_sampler, start = function(fit) {
      start <- list(count = logit_start(count_view(fit)), zero = logit_start(zero_view(fit)), ellipse = 0)
      # Surrogates of Poisson rows have the dispersions of `unit`.
      if (record$has_surrogates) start$count$scalars[[1L]] <- 1
      start
    }, words = zero_sampler_words), check = check_zero_parts,
    formula_words = function(fit) sprintf(", %s = ~ %s", fit$zero$kind, deparse1(fit$zero$part$formula[[3L]])),
    support = zero_support, law = paste(kind, record$law), spread = spread
  )
  record[names(own)] <- own
  record["kernel"] <- list(NULL)
  record
}
