# Covariates in the prior of topics: the columns of a formula, and what src/topic_model/covariates.c takes and gives.

check_prevalence <- function(prevalence, data, counts, method, alpha) {
  if (is.null(prevalence)) {
    if (!is.null(data)) stop_input("data", "is of no use without `prevalence`, such as prevalence = ~ party")
    return(NULL)
  }
  design <- covariate_design(prevalence, data, list(x = counts, document_tokens = document_sizes(counts)), "prevalence")
  if (length(design$first) < 2L) stop_input("prevalence", "has no covariates: it is a formula such as ~ party")
  if (method != "gibbs") stop_input("control", "has estimate = \"mean\", which `prevalence` does not have")
  if (!identical(alpha, "asymmetric")) {
    stop_input("alpha", "cannot be used with `prevalence`, which says how alpha depends on covariates")
  }
  design
}

# The columns of a formula for all documents, with what makes them for new ones. `x`: of the documents that are `used`,
# those with tokens and all covariates; `basis`: of all documents, on a common scale.
covariate_design <- function(formula, data, fit, argument) {
  check_formula(formula, argument, response = FALSE, takes = "smooth", example = "~ party")
  documents <- length(fit$document_tokens)
  joined <- join_variables(formula, data, document_names(fit$x), documents, "document")$data
  given <- formula
  if (!is.null(special_term(formula[[2L]], "smooth"))) {
    environment(formula) <- list2env(list(s = natural_spline), parent = environment(given))
  }
  frame <- covariate_frame(formula, joined, argument)
  # Without data ~ 1 has no rows.
  if (length(frame) == 0L) frame <- structure(data.frame(row.names = seq_len(documents)), terms = attr(frame, "terms"))
  if (nrow(frame) != documents) {
    stop_input(argument, sprintf("has variables of %s, but there are %s", count_words(nrow(frame), "value"),
      count_words(documents, "document")))
  }
  check_frame(frame, argument, missing = TRUE)
  known <- rowSums(is.na(frame)) == 0
  used <- which(known & fit$document_tokens > 0)
  if (any(!known)) message(sprintf("%s with missing covariates left out", count_words(sum(!known), "document")))
  own <- droplevels(frame[used, , drop = FALSE])
  terms <- attr(frame, "terms")
  check_factors(own, terms)
  x <- design_matrix(terms, own)
  if (ncol(x) == 0L) stop_input(argument, "has no covariates: it is a formula such as ~ party")
  if (nrow(x) <= ncol(x)) {
    stop_input(argument, sprintf("has %s, but only %s can be used", count_words(ncol(x), "coefficient"),
      count_words(nrow(x), "document")))
  }
  scaling <- covariate_scaling(x)
  known <- if (attr(terms, "intercept")) c(1L, scaling$columns - 1L) else qr(x)$pivot[seq_len(qr(x)$rank)]
  lost <- colnames(x)[setdiff(seq_len(ncol(x)), known)]
  if (length(lost)) stop_input(argument, "has coefficients that the documents do not tell apart: ", list_some(lost))
  design <- c(fitted_frame(given, own, terms), list(
    variables = joined["." %in% all.vars(given) | names(joined) %in% all.vars(given)],
    contrasts = attr(x, "contrasts"), used = used, x = x, scaling = scaling))
  design$basis <- covariate_basis(design, prevalence_columns(design, as_fitted_classes(design, frame, unknown = TRUE)))
  c(design, covariate_groups(design$basis))
}

# Documents with the same covariates are one `group` of the sampler, of which this is the `first`.
covariate_groups <- function(basis) {
  kind <- do.call(paste, as.data.frame(basis))
  first <- which(!duplicated(kind))
  list(first = first, group = factor(match(kind, kind[first]), seq_along(first)))
}

# NULL if documents have numbers instead of names.
document_names <- function(counts) if (isTRUE(counts$named[["documents"]])) counts$documents

prevalence_columns <- function(design, frame) {
  x <- stats::model.matrix(design$terms, frame, contrasts.arg = design$contrasts)
  x[!complete_rows(x), ] <- NA
  x
}

# Columns are scaled as topic_effects() documents. Columns that others determine are left out.
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

known_covariates <- function(fit) {
  if (is.null(fit$prevalence)) return(fit$covariates)
  draws <- fit$draws$coefficients
  coefficients <- if (length(draws)) {
    some <- unique(round(seq(1, dim(draws)[[3L]], length.out = min(dim(draws)[[3L]], 100))))
    lapply(some, function(draw) matrix(draws[, , draw, fit$reference], dim(draws)[[1L]]))
  } else {
    list(fit$state[[fit$reference]]$coefficients)
  }
  list(design = fit$prevalence, coefficients = coefficients)
}

# The groups of new documents and their alphas, groups x topics: the means of the draws.
prevalence_prior <- function(fit, data, counts) {
  known <- known_covariates(fit)
  design <- known$design
  if (is.null(design)) stop_input("data", "cannot be used: the fit has no `prevalence`")
  data <- join_variables(~ 1, data, document_names(counts), counts$size[[1L]], "new document")$data
  x <- prevalence_columns(design, new_frame(design, design$terms, data, "data", unknown = TRUE))
  if (anyNA(x)) {
    message(sprintf("%s with missing or unknown covariates: the mean of the covariates is taken",
      count_words(sum(!stats::complete.cases(x)), "document")))
  }
  basis <- covariate_basis(design, x)
  groups <- covariate_groups(basis)
  alpha <- lapply(known$coefficients, prevalence_alpha, basis[groups$first, , drop = FALSE])
  list(groups = groups$group, alpha = Reduce(`+`, alpha) / length(alpha),
    outside = outside_reason(design, data))
}

outside_reason <- function(design, data) {
  outside <- values_outside(design$variables[design$used, , drop = FALSE], data)
  if (length(outside)) reason("covariates_outside", quantity = outside)
}

# What the sampler takes of a design. The columns of `frame` are an orthonormal basis of those of `x`.
covariate_structure <- function(design) {
  if (is.null(design)) return(NULL)
  frame <- matrix(0, ncol(design$x), length(design$group))
  frame[, design$used] <- t(orthonormal(design$x)$q)
  list(basis = as.vector(t(design$basis[design$first, , drop = FALSE])),
    used = as.integer(seq_along(design$group) %in% design$used), frame = as.vector(frame))
}

# With several rows of a basis, documents x topics.
prevalence_alpha <- function(coefficients, basis = NULL) {
  exp(pmin(pmax(if (is.null(basis)) coefficients else product(basis, coefficients), -200), 15))
}
