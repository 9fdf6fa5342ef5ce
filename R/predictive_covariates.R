# Covariates of regressions and classifications: from a formula and a data frame to columns of numbers.

formula_data <- function(fit, y) {
  if (!is.data.frame(y)) stop_input("y", "must be a data frame for a model with a formula, not ", show_value(y))
  model <- fit$model
  frame <- covariate_frame(model$formula, y, source = "y")
  check_frame(frame, "y")
  if (nrow(frame) == 0L) stop_input("y", "has no rows")
  terms <- stats::delete.response(stats::terms(frame))
  check_factors(frame, terms, source = "y")
  x <- covariate_columns(frame, terms)
  if (ncol(x) == 0L) stop_input("formula", "has no covariates: use copula_density()")
  kind <- record(fit)
  if (!is.null(kind$check_covariates)) kind$check_covariates(frame, terms)
  group <- attr(x, "group")
  groups <- max(group)
  if (!length(model$rho_x) %in% c(0L, 1L, groups, ncol(x))) {
    stop_input("rho_x", sprintf("has %d values; there are %d covariates%s", length(model$rho_x), groups,
      if (groups < ncol(x)) sprintf(" in %d columns", ncol(x)) else ""))
  }
  of <- if (length(model$rho_x) == ncol(x)) colnames(x) else covariate_names(frame, terms)
  fit$model$rho_x <- by_names(model$rho_x, of, "rho_x", "covariate")
  standard <- standard_of(x, model$standardize, "y")
  fit <- with_parts(fit, n = nrow(x), group = group, standard_x = standard,
    frame = fitted_frame(model$formula, frame, terms))
  if (inherits(model$mean, "formula")) fit$frame$mean <- mean_frame(fit, y)
  fit <- kind$read_response(fit, stats::model.response(frame), apply_standard(x, standard))
  points <- if (is.null(model$points)) y else model$points
  covariates <- point_covariates(fit, points, "points")
  fit <- with_parts(fit, points = points[intersect(all.vars(terms), names(points))])
  fit <- with_parts(fit, design = list(data = mean_design(fit, fit$data$x, y, "y"),
    points = mean_design(fit, covariates, fit$points, "points")))
  with_parts(fit, at = kind$line$points(fit, covariates, fit$design$points))
}

covariate_names <- function(frame, terms) intersect(rownames(attr(terms, "factors")), names(frame))

# The attribute "group" is each column's covariate. A factor of over two levels has an indicator for each.
covariate_columns <- function(frame, terms) {
  coding <- NULL
  for (name in covariate_names(frame, terms)) {
    # The classes of the data, since new points may have characters for their levels.
    class <- attr(terms, "dataClasses")[[name]]
    if (class == "ordered") {
      frame[[name]] <- as.double(frame[[name]])
    } else if (class %in% c("factor", "character")) {
      frame[[name]] <- as.factor(frame[[name]])
      coding[[name]] <- stats::contr.treatment(levels(frame[[name]]), contrasts = nlevels(frame[[name]]) < 3L)
    }
  }
  x <- stats::model.matrix(terms, frame, contrasts.arg = coding)
  term <- attr(x, "assign")
  coded <- logical(length(term))
  if (length(coding)) coded <- term %in% which(colSums(attr(terms, "factors")[names(coding), , drop = FALSE]) > 0)
  group <- ifelse(coded, -term, seq_along(term))[term > 0]
  x <- x[, term > 0, drop = FALSE]
  attr(x, "group") <- match(group, unique(group))
  x
}

two_classes <- function(response, argument) {
  if (is.logical(response)) response <- factor(response, c(FALSE, TRUE))
  values <- if (is.factor(response)) levels(droplevels(response)) else sort(unique(response))
  if (!is.null(dim(response)) || length(values) != 2L) {
    advice <- ": a class against the others is a logical response, such as (response == \"%s\")"
    stop_input(argument, sprintf("must have a response with two classes; it has %d", length(values)),
      if (length(values) > 2L && is.factor(response)) sprintf(advice, values[[1L]]))
  }
  list(y = as.double(as.character(response) == as.character(values[[2L]])), labels = as.character(values))
}

point_covariates <- function(fit, points, argument) {
  frame <- new_frame(fit$frame, fit$frame$terms, points, argument)
  check_frame(frame, argument)
  if (nrow(frame) == 0L) stop_input(argument, "has no rows")
  x <- covariate_columns(frame, fit$frame$terms)
  attr(x, "group") <- NULL
  unname(apply_standard(x, fit$standard_x))
}

mean_frame <- function(fit, data) {
  frame <- covariate_frame(fit$model$mean, data, "mean", "y")
  terms <- stats::terms(frame)
  others <- setdiff(intersect(all.vars(terms), names(data)), all.vars(fit$frame$terms))
  if (length(others)) stop_input("mean", "has ", dQuote(others[[1L]], FALSE), ", which is no covariate of `formula`")
  if (length(attr(terms, "term.labels")) == 0L) stop_input("mean", "has no covariates: \"none\" stands for that")
  check_factors(frame, terms, source = "y")
  attr(terms, "intercept") <- 1L
  fitted_frame(fit$model$mean, frame, terms)
}

mean_design <- function(fit, x, points, argument) {
  found <- fit$frame$mean
  if (is.null(found)) return(x)
  frame <- new_frame(found, found$terms, points, argument)
  check_frame(frame, argument)
  unname(stats::model.matrix(found$terms, frame)[, -1L, drop = FALSE])
}
