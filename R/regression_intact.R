# Whether the parts of a regression are as bayes_logit() made them.

check_intact.bayes_logit <- function(x, argument) check_logit_fit(x, argument)

check_logit_fit <- function(fit, argument = "fit") {
  check_fit_class(fit, argument, "bayes_logit", "bayes_logit()")
  check <- part_checks(fit, argument)
  check$choice("family", names(logit_families))
  check$names("coefficient_names")
  check_chain_parts(fit, check)
  for (part in c("prior", "design", "response", "xlevels")) check$list(part)
  if (!is.null(fit$group_name)) check$names("group_name")
  coefficients <- length(fit$coefficient_names)
  if (is_zero_fit(fit)) {
    check_zero_parts(fit, argument)
    coefficients <- coefficients - length(fit$zero$part$coefficient_names)
  }
  if (is.matrix(fit$offset)) {
    check$array("offset", c(fit$rows, length(fit$response$classes) - 1))
  } else {
    check$numbers("offset", fit$rows)
  }
  check$numbers("weights", fit$rows)
  x <- fit$design$x
  if (!identical(as.double(dim(x)), c(as.double(fit$rows), coefficients / outcomes_of(fit)))) {
    stop_changed(argument, "design$x", "the design of the fitted rows and coefficients", x)
  }
  if (!is.null(fit$group_name) && (!is.factor(fit$design$group) || length(fit$design$group) != fit$rows)) {
    stop_changed(argument, "design$group", "the group of each row", fit$design$group)
  }
  check$stored(logit_plan(fit))
}
