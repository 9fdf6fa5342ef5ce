# New rows for a `fit` with `formula`, `frame`, `xlevels`, `rows`. What predict.glm() only warns of is an error.

new_frame <- function(fit, terms, newdata, argument = "newdata", unknown = FALSE) {
  newdata <- new_data(fit, newdata, argument)
  expressions <- attr(terms, "predvars")
  if (is.null(expressions)) expressions <- attr(terms, "variables")
  for (expression in as.list(expressions)[-1L]) check_new_variables(expression, fit, newdata, argument)
  frame <- tryCatch(stats::model.frame(terms, newdata, na.action = stats::na.pass),
    error = function(error) stop_input(argument, "cannot be predicted: ", because = error))
  if (nrow(frame) != nrow(newdata)) {
    stop_input(argument, sprintf("has %d rows, but its predictors have %d", nrow(newdata), nrow(frame)))
  }
  as_fitted_classes(fit, plain_columns(frame), argument, unknown)
}

new_data <- function(fit, newdata, argument = "newdata") {
  must_be(is.data.frame(newdata), argument, "a data frame with values of the covariates", newdata)
  newdata <- given_data(newdata, argument)
  check_no_integer64(fit$formula, newdata, argument, NULL)
  in_fitted_units(fit, newdata, argument)
}

# A variable that `newdata` lacks must not be found elsewhere. Single numbers, such as the m of I(x - m), may be.
check_new_variables <- function(expression, fit, newdata, argument = "newdata", advice = "") {
  variables <- all.vars(expression)
  lacking <- setdiff(variables, names(newdata))
  is_constant <- length(lacking) < length(variables) && all(vapply(lacking, function(name) {
    value <- get0(name, environment(fit$formula))
    !is.null(value) && (length(value) == 1L || length(value) < fit$rows)
  }, NA))
  if (length(lacking) && !is_constant) {
    stop_input(argument, "lacks ", paste(dQuote(lacking, FALSE), collapse = ", "), ", which the fit reads in ",
      substr(deparse1(expression), 1L, 60L), advice)
  }
}

# A variable whose values are all missing may be logical, as a bare NA is.
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
    if (now == "other" && before == "other") frame[[name]] <- in_unit(values, fit$frame[[name]], name, argument)
    levels <- fit$xlevels[[name]]
    if (!is.null(levels)) {
      new <- setdiff(as.character(values), c(levels, NA))
      tell_forms(new, levels, "new level")
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

# Classes of numbers with a unit. As numbers, dates are days and times are seconds.
unit_classes <- c("units", "mixed_units", "difftime", "ITime", "Date", "POSIXct")

has_unit <- function(values) inherits(values, unit_classes)

in_fitted_units <- function(fit, newdata, argument) {
  fitted <- attr(attr(fit$frame, "terms"), "units")
  used <- c(all.vars(fit$formula), all.vars(fit$call$offset))
  for (name in intersect(c(used, if ("." %in% used) names(fitted)), names(newdata))) {
    values <- newdata[[name]]
    before <- fitted[[name]]
    # as_fitted_classes() tells of the others.
    compared <- !is.null(before) || has_unit(values) && inherits(fit$frame[[name]], c("numeric", "integer", "NULL"))
    if (compared) newdata[[name]] <- in_unit(values, before, name, argument)
  }
  newdata
}

in_unit <- function(values, fitted, name, argument) {
  if (is.logical(values) && all(is.na(values))) return(values)
  unit <- attr(fitted, "units")
  same <- any(class(values) %in% class(fitted))
  if (same && !identical(unit, attr(values, "units"))) {
    # Its package has the method for class "units".
    if (inherits(values, "units")) accessor("units", "set_units")
    same <- tryCatch({
      units(values) <- unit
      TRUE
    }, error = function(error) FALSE)
  }
  if (same) return(values)
  words <- function(values) {
    if (is.character(values)) return("text")
    if (is.null(values) || is.numeric(values)) return(class_words("numeric"))
    unit <- attr(values, "units")
    if (is.list(unit)) unit <- paste(c(paste(unit$numerator, collapse = "*"), unit$denominator), collapse = "/")
    paste(c(class_words("other", values), unit), collapse = " in ")
  }
  stop_input(argument, sprintf("has %s as %s, but the fit had %s", dQuote(name, FALSE), words(values), words(fitted)))
}

# The predictors as numbers where R's own functions take a class for numbers and lose its unit.
plain_columns <- function(frame) {
  others <- c(attr(attr(frame, "terms"), "response"), match("(weights)", names(frame)))
  for (j in setdiff(which(vapply(frame, inherits, NA, c("units", "ITime"))), others)) {
    frame[[j]] <- as.double(unclass(frame[[j]]))
  }
  frame
}

values_outside <- function(known, new) {
  measured <- function(values) (is.numeric(values) || has_unit(values)) && is.null(dim(values))
  unlist(lapply(intersect(names(Filter(measured, known)), names(Filter(measured, new))), function(name) {
    values <- new[[name]]
    if (has_unit(known[[name]])) values <- in_unit(values, known[[name]], name, "data")
    ends <- range(known[[name]], na.rm = TRUE)
    out <- unique(values[which(values < ends[[1L]] | values > ends[[2L]])])
    words <- function(values) if (is.numeric(values)) format(signif(values, 4), trim = TRUE) else format(values)
    if (length(out)) {
      sprintf("%s = %s (%s)", name, paste(c(words(utils::head(out, 3L)), if (length(out) > 3L) {
        paste(length(out) - 3L, "more")
      }), collapse = ", "), paste(words(ends), collapse = " to "))
    }
  }))
}
