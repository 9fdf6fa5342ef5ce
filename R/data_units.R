# Units of dates, times and durations.

# New dates, times or durations, in the units that the fit had. As numbers, dates are days and times are seconds.
in_fitted_units <- function(values, fitted, name, argument) {
  if (!any(class(values) %in% class(fitted))) {
    stop_input(argument, sprintf("has %s as %s, but the fit had %s", dQuote(name, FALSE), class_words("other", values),
      class_words("other", fitted)))
  }
  if (inherits(values, "difftime")) units(values) <- units(fitted)
  values
}
