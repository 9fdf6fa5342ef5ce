# Covariates of documents in the prior of their topics: the columns that a formula makes, and what the sampler
# (src/topic_model/covariates.c) takes and gives.

# The design of `prevalence`, or NULL.
check_prevalence <- function(prevalence, data, counts, method, alpha) {
  if (is.null(prevalence)) {
    if (!is.null(data)) stop_input("data", "is of no use without `prevalence`, such as prevalence = ~ party")
    return(NULL)
  }
  fit <- list(documents = counts$documents, document_tokens = document_sizes(counts))
  design <- covariate_design(prevalence, data, fit, "prevalence")
  if (length(design$first) < 2L) stop_input("prevalence", "has no covariates: it is a formula such as ~ party")
  if (method != "gibbs") stop_input("control", "has estimate = \"mean\", which `prevalence` does not have")
  if (!identical(alpha, "asymmetric")) {
    stop_input("alpha", "cannot be used with `prevalence`, which says how alpha depends on covariates")
  }
  design
}

prevalence_words <- function(fit) deparse1(fit$prevalence$formula)

# The columns of a formula for all documents, with what makes them for new ones. `x`: of the documents that are `used`,
# those with tokens and all covariates; `basis`: of all documents, on a common scale.
covariate_design <- function(formula, data, fit, argument) {
  if (!inherits(formula, "formula") || length(formula) != 2L) {
    stop_input(argument, "must be a formula without a response, such as ~ party, not ",
      if (inherits(formula, "formula")) dQuote(deparse1(formula), FALSE) else show_value(formula))
  }
  documents <- length(fit$documents)
  if (!is.null(data) && (!is.data.frame(data) || nrow(data) != documents)) {
    stop_input("data", sprintf("must be a data frame with a row for each of %s, not ",
      count_words(documents, "document")), show_value(data))
  }
  given <- formula
  environment(formula) <- with_splines(formula, data, argument)
  frame <- tryCatch(stats::model.frame(formula, data, na.action = stats::na.pass, drop.unused.levels = TRUE),
    error = function(error) stop_input(argument, "cannot be evaluated: ", because = error))
  # ~ 1 has no variables, and so no rows.
  if (length(frame) == 0L) {
    frame <- data.frame(row.names = seq_len(documents))
    attr(frame, "terms") <- stats::terms(formula)
  }
  if (nrow(frame) != documents) {
    stop_input(argument, sprintf("has variables of %s, but there are %s", count_words(nrow(frame), "value"),
      count_words(documents, "document")))
  }
  if (!is.null(stats::model.offset(frame))) stop_input(argument, "has an offset, which shares of topics do not have")
  endless <- vapply(frame, function(values) is.numeric(values) && any(is.infinite(values)), NA)
  if (any(endless)) stop_input(argument, "has infinite values of ", names(frame)[endless][[1L]])
  known <- stats::complete.cases(frame) | length(frame) == 0L
  used <- which(known & fit$document_tokens > 0)
  if (any(!known)) message(sprintf("%s with missing covariates left out", count_words(sum(!known), "document")))
  own <- droplevels(frame[used, , drop = FALSE])
  terms <- attr(frame, "terms")
  x <- if (length(frame)) stats::model.matrix(terms, own) else matrix(1, length(used), 1L)
  if (length(frame) == 0L) colnames(x) <- "(Intercept)"
  if (nrow(x) <= ncol(x)) {
    stop_input(argument, sprintf("has %s, but only %s can be used", count_words(ncol(x), "coefficient"),
      count_words(nrow(x), "document")))
  }
  if (qr(x)$rank < ncol(x)) stop_input(argument, "has coefficients that the documents do not tell apart: leave one out")
  design <- list(formula = given, variables = formula_variables(given, data, documents), terms = terms,
    levels = stats::.getXlevels(terms, own), contrasts = attr(x, "contrasts"), used = used, x = x,
    scaling = covariate_scaling(x))
  design$basis <- covariate_basis(design, prevalence_columns(design, frame))
  kind <- do.call(paste, as.data.frame(design$basis))
  # Documents with the same covariates are one group of the sampler.
  design$first <- which(!duplicated(kind))
  design$group <- factor(match(kind, kind[design$first]), seq_along(design$first))
  design
}

# The variables of a formula that have a value for each document.
formula_variables <- function(formula, data, documents) {
  values <- lapply(stats::setNames(nm = all.vars(formula)), function(name) {
    value <- if (name %in% names(data)) data[[name]] else get0(name, environment(formula))
    if (is.atomic(value) && NROW(value) == documents) value
  })
  structure(Filter(Negate(is.null), values), class = "data.frame", row.names = seq_len(documents))
}

# The environment of a formula, in which s(day) makes the columns of a natural cubic spline with the same knots for new
# values.
with_splines <- function(formula, data, argument) {
  around <- environment(formula)
  calls <- spline_calls(formula[[2L]])
  if (length(calls) == 0L) return(around)
  splines <- lapply(calls, function(call) {
    text <- deparse1(call)
    plain <- length(call) > 1L && length(call) < 4L && is.null(names(call)) ||
      identical(setdiff(names(call), ""), "k") && length(call) == 3L
    if (!plain) stop_input(argument, "has ", text, ", but s() here has one variable and `k`, such as s(day, k = 5)")
    values <- tryCatch(eval(call[[2L]], data, around),
      error = function(error) stop_input(argument, "cannot be evaluated: ", because = error))
    size <- if (length(call) == 3L) tryCatch(eval(call[[3L]], data, around), error = pass_on) else spline_size
    if (!is.numeric(size) || length(size) != 1L || !isTRUE(size >= 2 && size == floor(size))) {
      stop_input(argument, "has ", text, ", whose `k` is not a whole number from 2 on")
    }
    if (is.factor(values) || is.character(values) || is.logical(values) || !is.null(dim(values))) {
      stop_input(argument, "has ", text, ", whose variable is not numeric: use it without s()")
    }
    spline_of(as.numeric(values), size, argument, text)
  })
  names(splines) <- vapply(calls, deparse1, "")
  inner <- new.env(parent = around)
  inner$s <- spline_reader(splines)
  inner
}

spline_size <- 5

spline_calls <- function(part) {
  if (!is.call(part)) return(NULL)
  if (identical(part[[1L]], quote(s))) return(list(part))
  unlist(lapply(as.list(part)[-1L], spline_calls), recursive = FALSE)
}

# Knots at quantiles of the values that differ, so that ties do no harm. The columns are orthogonal there.
spline_of <- function(values, size, argument, text) {
  distinct <- sort(unique(values[is.finite(values)]))
  if (length(distinct) < 2L) stop_input(argument, "has ", text, ", whose variable does not vary")
  size <- min(size, length(distinct))
  ends <- range(distinct)
  knots <- stats::quantile((distinct - ends[[1L]]) / diff(ends), seq(0, 1, length.out = size), names = FALSE)
  spline <- list(ends = ends, knots = knots, root = diag(size))
  spline$root <- qr.R(qr(cbind(1, spline_columns(spline, distinct)) / sqrt(length(distinct)), LAPACK = FALSE))
  spline
}

spline_columns <- function(spline, values) {
  place <- (as.numeric(values) - spline$ends[[1L]]) / diff(spline$ends)
  columns <- cbind(1, with_curves(matrix(place), list(spline$knots)))
  (columns %*% backsolve(spline$root, diag(ncol(columns))))[, -1L, drop = FALSE]
}

# A closure that carries nothing but the splines.
spline_reader <- function(splines) {
  force(splines)
  function(x, k) {
    columns <- spline_columns(splines[[deparse1(sys.call())]], x)
    colnames(columns) <- seq_len(ncol(columns))
    columns
  }
}

# The model matrix for a model frame that may have missing values and new levels: rows of NA where it has.
prevalence_columns <- function(design, frame) {
  for (name in names(design$levels)) {
    frame[[name]] <- factor(as.character(frame[[name]]), design$levels[[name]])
  }
  x <- matrix(NA_real_, nrow(frame), ncol(design$x), dimnames = list(NULL, colnames(design$x)))
  known <- stats::complete.cases(frame) | length(frame) == 0L
  x[known, ] <- if (length(frame)) {
    stats::model.matrix(design$terms, frame[known, , drop = FALSE], contrasts.arg = design$contrasts)
  } else {
    1
  }
  x
}

# Columns are centred, and divided by their range if they have two values, and otherwise by two standard deviations.
# Columns that others determine are left out.
covariate_scaling <- function(x) {
  centre <- colMeans(x)
  scale <- vapply(seq_len(ncol(x)), function(j) {
    if (length(unique(x[, j])) == 2L) diff(range(x[, j])) else 2 * stats::sd(x[, j])
  }, 0)
  scale[!(scale > 0)] <- 1
  known <- qr(cbind(1, sweep(sweep(x, 2L, centre), 2L, scale, "/")))
  list(centre = centre, scale = scale, columns = sort(known$pivot[seq_len(known$rank)]))
}

# Documents without covariates are at the mean.
covariate_basis <- function(design, x) {
  scaling <- design$scaling
  scaled <- sweep(sweep(x, 2L, scaling$centre), 2L, scaling$scale, "/")
  scaled[is.na(scaled)] <- 0
  cbind(1, unname(scaled))[, scaling$columns, drop = FALSE]
}

# The groups of new documents and their alphas, groups x topics: the means of the draws.
prevalence_prior <- function(fit, data, documents) {
  design <- fit$prevalence
  if (is.null(design)) stop_input("data", "cannot be used: the fit has no `prevalence`")
  if (!is.data.frame(data) || nrow(data) != documents) {
    stop_input("data", sprintf("must be a data frame with a row for each of %s, not ",
      count_words(documents, "new document")), show_value(data))
  }
  missing <- setdiff(names(design$variables), names(data))
  if (length(missing)) stop_input("data", "has no variable ", dQuote(missing[[1L]], FALSE), ", which the fit has")
  frame <- tryCatch(stats::model.frame(design$terms, data, na.action = stats::na.pass),
    error = function(error) stop_input("data", "cannot be used with `prevalence`: ", because = error))
  x <- prevalence_columns(design, frame)
  x[rowSums(!is.finite(x)) > 0, ] <- NA
  if (anyNA(x)) {
    message(sprintf("%s with missing or unknown covariates: the mean of the covariates is taken",
      count_words(sum(!stats::complete.cases(x)), "document")))
  }
  basis <- covariate_basis(design, x)
  kind <- do.call(paste, as.data.frame(basis))
  first <- which(!duplicated(kind))
  draws <- fit$draws$coefficients
  count <- if (length(draws)) dim(draws)[[3L]] else 0
  some <- unique(round(seq(1, count, length.out = min(count, 100))))
  of_draw <- function(coefficients) {
    prevalence_alpha(matrix(coefficients, ncol(basis)), basis[first, , drop = FALSE])
  }
  alpha <- if (count == 0) {
    of_draw(fit$state[[fit$reference]]$coefficients)
  } else {
    Reduce(`+`, lapply(some, function(draw) of_draw(draws[, , draw, fit$reference]))) / length(some)
  }
  list(groups = factor(match(kind, kind[first]), seq_along(first)), alpha = alpha)
}

# What the sampler takes of a design. The columns of `frame` are an orthonormal basis of those of `x`.
covariate_structure <- function(design) {
  frame <- matrix(0, ncol(design$x), length(design$group))
  frame[, design$used] <- t(qr.Q(qr(design$x)))
  list(basis = as.vector(t(design$basis[design$first, , drop = FALSE])),
    used = as.integer(seq_along(design$group) %in% design$used), frame = as.vector(frame))
}

# The kept draws of alpha of a document with mean covariates, of the coefficients, and of the effects, which come as
# coefficients of the frame.
covariate_draws <- function(design, kept) {
  coefficients <- matrix(kept$coefficients, ncol(design$basis))
  effects <- backsolve(qr.R(qr(design$x)), matrix(kept$effects, ncol(design$x)))
  list(prevalence_alpha(coefficients[1L, ]), kept$coefficients, as.vector(effects))
}

# With several rows of a basis, documents x topics.
prevalence_alpha <- function(coefficients, basis = NULL) {
  exp(pmin(pmax(if (is.null(basis)) coefficients else basis %*% coefficients, -200), 15))
}

# The coefficients of a chain that starts with these alphas.
first_coefficients <- function(design, alpha) {
  rbind(pmax(log(alpha), -10), matrix(0, ncol(design$basis) - 1L, length(alpha)))
}
