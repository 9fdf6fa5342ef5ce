# Covariates of regressions and classifications: from a formula and a data frame to columns of numbers.

# The data of a regression or classification, from the model frame.
formula_data <- function(fit, y) {
  if (!is.data.frame(y)) stop_input("y", "must be a data frame for a model with a formula, not ", show_value(y))
  model <- fit$model
  check_no_integer64(model$formula, y, "y")
  frame <- tryCatch(
    stats::model.frame(model$formula, y, na.action = stats::na.pass, drop.unused.levels = TRUE),
    error = function(error) {
      stop_input("formula", "cannot be evaluated in the data: ", because = error)
    }
  )
  check_frame(frame, "y")
  if (nrow(frame) == 0L) stop_input("y", "has no rows")
  terms <- stats::delete.response(stats::terms(frame))
  check_coded(frame, terms)
  is_other <- vapply(frame, stats::.MFclass, "") == "other"
  x <- covariate_columns(frame, terms)
  if (ncol(x) == 0L) stop_input("formula", "has no covariates: use copula_density()")
  kind <- record(fit)
  if (!is.null(kind$check_covariates)) kind$check_covariates(frame, terms)
  group <- attr(x, "group")
  groups <- max(group)
  if (!is.null(model$rho_x) && !length(model$rho_x) %in% c(1L, groups, ncol(x))) {
    stop_input("rho_x", sprintf("has %d values; there are %d covariates%s", length(model$rho_x), groups,
      if (groups < ncol(x)) sprintf(" in %d columns", ncol(x)) else ""))
  }
  standard <- standard_of(x, model$standardize, "y")
  # Classes and units of other columns, for new points.
  others <- if (any(is_other)) lapply(as.list(frame)[is_other], function(column) column[1L])
  fit <- with_parts(fit, n = nrow(x), group = group, standard_x = standard,
    frame = list(terms = terms, levels = stats::.getXlevels(terms, frame), others = others))
  if (inherits(model$mean, "formula")) fit$frame$mean <- mean_frame(fit, y)
  fit <- kind$read_response(fit, stats::model.response(frame), apply_standard(x, standard))
  points <- if (is.null(model$points)) y else model$points
  covariates <- point_covariates(fit, points, "points")
  fit <- with_parts(fit, points = points[all.vars(terms)])
  fit <- with_parts(fit, design = list(data = mean_design(fit, fit$data$x, y, "y"),
    points = mean_design(fit, covariates, fit$points, "points")))
  with_parts(fit, at = kind$line$points(fit, covariates, fit$design$points))
}

check_frame <- function(frame, argument) {
  for (name in names(frame)) {
    column <- frame[[name]]
    bad <- if (is.numeric(column)) !is.finite(column) else is.na(column)
    if (any(bad)) {
      stop_input(argument, sprintf("has a missing or infinite value in row %d of %s",
        as.integer((which(bad)[[1L]] - 1L) %% nrow(frame) + 1L), dQuote(name, FALSE)))
    }
  }
}

# Covariates that no column could stand for, with what to do instead.
check_coded <- function(frame, terms) {
  if (!is.null(attr(terms, "offset"))) {
    stop_input("formula", "has an offset, which this model does not have: subtract it from the response")
  }
  for (name in covariate_names(frame, terms)) {
    column <- frame[[name]]
    if ((is.factor(column) || is.character(column)) && length(unique(column)) < 2L) {
      stop_input("y", "has one level only in ", dQuote(name, FALSE), ": leave it out of the formula")
    }
  }
}

levels_of <- function(column) if (is.factor(column)) levels(column) else sort(unique(column))

covariate_names <- function(frame, terms) {
  intersect(rownames(attr(terms, "factors")), names(frame))
}

# Covariates as columns of numbers, with the covariate that each column belongs to as attribute "group". A factor has an
# indicator for each level, so that the result does not depend on which level is the first; two levels need one
# indicator. Ordered levels are numbered. The columns of a factor are one group; each numeric column is a group.
covariate_columns <- function(frame, terms) {
  coding <- NULL
  for (name in covariate_names(frame, terms)) {
    # The classes of the data, since new points may have characters for their levels.
    class <- attr(terms, "dataClasses")[[name]]
    if (class == "ordered") {
      frame[[name]] <- as.double(frame[[name]])
    } else if (class %in% c("factor", "character")) {
      frame[[name]] <- factor(frame[[name]], levels_of(frame[[name]]))
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

point_covariates <- function(fit, points, argument) {
  points <- without_integer64(points)
  check_no_integer64(fit$frame$terms, points, argument, NULL)
  absent <- setdiff(all.vars(fit$frame$terms), names(points))
  if (length(absent)) stop_input(argument, "lacks the covariate ", dQuote(absent[[1L]], FALSE))
  for (name in intersect(names(fit$frame$levels), names(points))) {
    if (!is.factor(points[[name]]) && !is.character(points[[name]])) {
      stop_input(argument, "must have levels in ", dQuote(name, FALSE), ", which is a factor in the data, such as ",
        dQuote(fit$frame$levels[[name]][[1L]], FALSE), ", not ", show_value(points[[name]]))
    }
  }
  unusable <- function(error) stop_input(argument, "cannot be used: ", because = error)
  frame <- tryCatch(
    stats::model.frame(fit$frame$terms, points, na.action = stats::na.pass, xlev = fit$frame$levels),
    error = unusable
  )
  check_frame(frame, argument)
  tryCatch(stats::.checkMFClasses(attr(fit$frame$terms, "dataClasses"), frame), error = unusable)
  for (name in intersect(names(frame), names(fit$frame$others))) {
    frame[[name]] <- in_fitted_units(frame[[name]], fit$frame$others[[name]], name, argument)
  }
  x <- covariate_columns(frame, fit$frame$terms)
  attr(x, "group") <- NULL
  unname(apply_standard(x, fit$standard_x))
}

# A response with two classes as 0 and 1, and the labels of both classes.
two_classes <- function(response, argument) {
  if (is.logical(response)) response <- factor(response, c(FALSE, TRUE))
  values <- if (is.factor(response)) levels(droplevels(response)) else sort(unique(response))
  if (!is.null(dim(response)) || length(values) != 2L) {
    stop_input(argument, sprintf("must have a response with two classes; it has %d", length(values)),
      if (length(values) > 2L && is.factor(response)) {
        paste0(": a class against the others is a logical response, such as (response == ", dQuote(values[[1L]], FALSE),
          ")")
      })
  }
  list(y = as.double(as.character(response) == as.character(values[[2L]])), labels = as.character(values))
}

# The user's terms, and the levels of their factors.
mean_frame <- function(fit, data) {
  frame <- tryCatch(
    stats::model.frame(fit$model$mean, data, na.action = stats::na.pass, drop.unused.levels = TRUE),
    error = function(error) stop_input("mean", "cannot be evaluated in the data: ", because = error)
  )
  terms <- stats::terms(frame)
  others <- setdiff(intersect(all.vars(terms), names(data)), all.vars(fit$frame$terms))
  if (length(others)) stop_input("mean", "has ", dQuote(others[[1L]], FALSE), ", which is no covariate of `formula`")
  if (!is.null(attr(terms, "offset"))) stop_input("mean", "has an offset, which this model does not have")
  if (length(attr(terms, "term.labels")) == 0L) stop_input("mean", "has no covariates: \"none\" stands for that")
  attr(terms, "intercept") <- 1L
  list(terms = terms, levels = stats::.getXlevels(terms, frame))
}

# `x`: the covariates' columns at points.
mean_design <- function(fit, x, points, argument) {
  if (is.null(fit$frame$mean)) return(x)
  found <- fit$frame$mean
  frame <- tryCatch(stats::model.frame(found$terms, points, na.action = stats::na.pass, xlev = found$levels),
    error = function(error) stop_input(argument, "cannot be used for `mean`: ", because = error))
  check_frame(frame, argument)
  unname(stats::model.matrix(found$terms, frame)[, -1L, drop = FALSE])
}

# The columns of a design, and for those with knots the curved columns of natural cubic splines (Hastie, Tibshirani &
# Friedman 2009, The Elements of Statistical Learning, 5.2.1).
with_curves <- function(design, knots) {
  bends <- lapply(which(lengths(knots) > 0L), function(j) {
    knot <- knots[[j]]
    last <- length(knot)
    cube <- function(k) pmax(design[, j] - knot[[k]], 0)^3
    slope <- function(k) (cube(k) - cube(last)) / (knot[[last]] - knot[[k]])
    vapply(seq_len(last - 2L), function(k) slope(k) - slope(last - 1L), numeric(nrow(design)))
  })
  do.call(cbind, c(list(design), lapply(bends, matrix, nrow = nrow(design))))
}
