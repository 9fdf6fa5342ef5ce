# New rows of covariates. They are read as predict.glm() reads them, but what predict.glm() only warns of, or takes from
# elsewhere, is an error. A `fit` has the `formula`, the model `frame` (or what fitted_frame() keeps of it), `xlevels`
# and `rows`.

# The model frame of new rows, with the classes, units and levels that the variables had in the fit. Missing values stay
# in it. `unknown`: levels that the fit has not seen are missing values.
new_frame <- function(fit, terms, newdata, argument = "newdata", unknown = FALSE) {
  newdata <- new_data(fit, newdata, argument)
  expressions <- attr(terms, "predvars")
  if (is.null(expressions)) expressions <- attr(terms, "variables")
  for (expression in as.list(expressions)[-1L]) {
    check_new_variables(expression, fit, newdata, argument)
  }
  frame <- tryCatch(
    stats::model.frame(terms, newdata, na.action = stats::na.pass),
    error = function(error) stop_input(argument, "cannot be predicted: ", because = error)
  )
  if (nrow(frame) != nrow(newdata)) {
    stop_input(argument, sprintf("has %d rows, but its predictors have %d", nrow(newdata), nrow(frame)))
  }
  as_fitted_classes(fit, frame, argument, unknown)
}

new_data <- function(fit, newdata, argument = "newdata") {
  if (!is.data.frame(newdata)) {
    stop_input(argument, "must be a data frame with values of the covariates, not ", show_value(newdata))
  }
  newdata <- without_integer64(newdata)
  check_no_integer64(fit$formula, newdata, argument, NULL)
  newdata
}

# A variable of the formula that `newdata` lacks must not be found elsewhere, since it would have the rows of the fit.
# Single numbers and the like, such as the m of I(x - m), may come from where the formula was written.
check_new_variables <- function(expression, fit, newdata, argument = "newdata", advice = "") {
  variables <- all.vars(expression)
  lacking <- setdiff(variables, names(newdata))
  if (length(lacking) == 0L) return(invisible())
  is_constant <- length(lacking) < length(variables) && all(vapply(lacking, function(name) {
    value <- get0(name, environment(fit$formula))
    !is.null(value) && (length(value) == 1L || length(value) < fit$rows)
  }, NA))
  if (!is_constant) {
    stop_input(argument, "lacks ", paste(dQuote(lacking, FALSE), collapse = ", "), ", which the fit reads in ",
      substr(deparse1(expression), 1L, 60L), advice)
  }
}

# The variables of the frame must be of the classes and the levels that they had in the fit. A variable whose values are
# all missing may be logical, as a bare NA is.
as_fitted_classes <- function(fit, frame, argument = "newdata", unknown = FALSE) {
  class_of <- function(class) if (class %in% c("ordered", "factor", "character")) "factor" else class
  classes <- attr(attr(fit$frame, "terms"), "dataClasses")
  for (name in intersect(names(frame), names(classes))) {
    values <- frame[[name]]
    before <- class_of(classes[[name]])
    now <- class_of(stats::.MFclass(values))
    if (now != before && !(is.logical(values) && all(is.na(values)))) {
      stop_input(argument, sprintf("has %s as %s, but the fit had %s", dQuote(name, FALSE),
        if (is.character(values)) "text" else class_words(now, values), class_words(before, fit$frame[[name]])))
    }
    if (now == "other" && before == "other") frame[[name]] <- in_fitted_units(values, fit$frame[[name]], name, argument)
    levels <- fit$xlevels[[name]]
    if (!is.null(levels)) {
      new <- setdiff(as.character(values), c(levels, NA))
      if (length(new) && !unknown) {
        stop_input(argument, sprintf("has the new level %s of %s, which the fit has not seen",
          dQuote(substr(new[[1L]], 1L, 60L), FALSE), dQuote(name, FALSE)))
      }
      frame[[name]] <- factor(as.character(values), levels, ordered = classes[[name]] == "ordered")
    } else if (now != before) {
      frame[[name]] <- if (startsWith(before, "nmatrix")) {
        matrix(NA_real_, nrow(frame), ncol(fit$frame[[name]]))
      } else {
        as.double(values)
      }
    }
  }
  frame
}

# New dates, times or durations, in the units that the fit had. As numbers, dates are days and times are seconds.
in_fitted_units <- function(values, fitted, name, argument) {
  if (!any(class(values) %in% class(fitted))) {
    stop_input(argument, sprintf("has %s as %s, but the fit had %s", dQuote(name, FALSE), class_words("other", values),
      class_words("other", fitted)))
  }
  if (inherits(values, "difftime")) units(values) <- units(fitted)
  values
}
