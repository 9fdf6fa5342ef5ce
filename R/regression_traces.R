# What a regression stores of its chains, whether it is as it was made, and the draws by their names.

logit_plan <- function(fit) {
  parts <- regressions_of(fit)
  plans <- lapply(unname(parts), regression_plan)
  plan <- plans[[1L]]
  plan$traces$coefficient_trace <- stored(length(fit$coefficient_names))
  for (other in seq_along(plans)[-1L]) {
    own <- plans[[other]]
    own$traces[names(own$traces) %in% c("log_likelihood", "coefficient_trace")] <- NULL
    for (kind in c("traces", "draws")) {
      plan[[kind]][sprintf("%s_%s", names(parts)[[other]], names(own[[kind]]))] <- own[[kind]]
    }
  }
  plan
}

regression_plan <- function(fit) {
  traces <- list(log_likelihood = stored(), coefficient_trace = stored(length(fit$coefficient_names)))
  if (family_of(fit)$has_dispersion) traces$dispersion_trace <- stored()
  smooth_deviations <- length(smooth_deviation_names(fit))
  if (smooth_deviations > 0L) traces$smooth_deviation <- stored(smooth_deviations)
  terms <- outcome_terms(fit)
  stored_as <- function(names) stored(length(names), names = list(names))
  draws <- list()
  if (isTRUE(fit$design$single)) {
    traces$group_deviation <- stored()
    draws <- list(intercepts = stored_as(terms[[1L]]$levels))
  } else if (length(terms)) {
    draws <- list(effects = stored_as(effect_names(terms)))
    traces$group_deviation <- stored(length(deviation_names(terms)))
    correlations <- length(correlation_names(terms))
    if (correlations > 0L) traces$group_correlation <- stored(correlations)
  }
  list(traces = traces, draws = draws)
}

check_intact.bayes_logit <- function(x, argument) check_logit_fit(x, argument)

check_logit_fit <- function(fit, argument = "fit") {
  check_fit_class(fit, argument, "bayes_logit", "bayes_logit()")
  check_described(fit, argument, list(family = part_choice(names(logit_families)), coefficient_names = part_names()))
  check_chain_parts(fit, argument)
  lists <- c("prior", "design", "response", "xlevels")
  check_described(fit, argument, stats::setNames(rep(list(part_list()), 4L), lists), lists)
  family_of(fit)$check(fit, argument)
  others <- lengths(lapply(regressions_of(fit)[-1L], `[[`, "coefficient_names"))
  columns <- (length(fit$coefficient_names) - sum(others)) / outcomes_of(fit)
  levels <- part_is("grouping terms with the level of each row", function(terms) {
    all(vapply(terms, function(term) is.list(term) && length(term$level) == fit$rows, NA))
  })
  check_described(fit, argument, c(list(
    group_name = part_names(),
    offset = part_numbers(c(fit$rows, if (is.matrix(fit$offset)) length(fit$response$classes) - 1)),
    weights = part_numbers(fit$rows),
    `design$x` = part_is("the design of the fitted rows and coefficients", function(x) {
      identical(as.double(dim(x)), c(as.double(fit$rows), columns))
    })
  ), if (!is.null(fit$group_name)) list(`design$terms` = levels)), c("group_name", "weights", "offset"))
  check_stored(fit, argument, logit_plan(fit))
}

# Kept draws (`warmup`: all sweeps) x chains x parameters that are learned, without the groups' intercepts.
logit_draws <- function(fit, warmup = FALSE) {
  sweeps <- if (warmup) seq_len(fit$iter) else kept_sweeps(fit)
  values <- c(
    fit$coefficient_trace[sweeps, , , drop = FALSE], fit$dispersion_trace[sweeps, , drop = FALSE],
    unlist(lapply(regressions_of(fit), function(part) {
      each <- function(trace) if (!is.null(trace)) array(trace, c(dim(trace), 1L)[1:3])[sweeps, , , drop = FALSE]
      c(each(part$group_deviation), each(part$group_correlation))
    })),
    unlist(lapply(regressions_of(fit), function(part) part$smooth_deviation[sweeps, , , drop = FALSE]))
  )
  names <- c(fit$coefficient_names, if (!is.null(fit$dispersion_trace)) "dispersion",
    group_parameter_names(fit), smooth_deviation_names(fit))
  array(values, c(length(sweeps), fit$chains, length(names)), list(NULL, NULL, names))
}

group_parameter_names <- function(fit) {
  names_of_regressions(fit, function(fit) {
    terms <- outcome_terms(fit)
    c(deviation_names(terms), correlation_names(terms))
  })
}

coefficient_draws <- function(fit) {
  check_logit_fit(fit)
  coefficient_matrix(fit)
}

coefficient_matrix <- function(fit) {
  sweeps <- kept_sweeps(fit)
  if (length(sweeps) == 0L) stop_without_draws(fit)
  matrix(fit$coefficient_trace[sweeps, , ], ncol = length(fit$coefficient_names),
    dimnames = list(NULL, fit$coefficient_names))
}

# `all`: also the coefficients that summaries do not show.
logit_quantities <- function(fit, warmup = FALSE, all = FALSE, likelihood = !isTRUE(fit$prior_only)) {
  check_logit_fit(fit)
  draws <- logit_draws(fit, warmup)
  hidden <- if (!all) fit$coefficient_names[!is_shown_coefficient(fit)]
  draws <- draws[, , !(dimnames(draws)[[3L]] %in% hidden), drop = FALSE]
  sweeps <- if (warmup) seq_len(fit$iter) else kept_sweeps(fit)
  at <- stats::setNames(seq_len(dim(draws)[[3L]]), dimnames(draws)[[3L]])
  parts <- lapply(at, function(i) matrix(draws[, , i], dim(draws)[[1L]]))
  c(parts, if (likelihood) list(log_likelihood = fit$log_likelihood[sweeps, , drop = FALSE]))
}

draws_used <- function(fit, draws) {
  total <- nrow(coefficient_matrix(fit))
  if (is.null(draws)) return(seq_len(total))
  unique(round(seq(1, total, length.out = min(check_count(draws, "ndraws"), total))))
}

# The posterior mean of the dispersion, or its median if it has no mean.
dispersion_estimate <- function(fit) {
  if (!family_of(fit)$has_dispersion) return(NULL)
  (if (is_long_dispersion(fit)) stats::median else mean)(dispersion_used(fit, draws_used(fit, NULL)))
}

dispersion_used <- function(fit, used) as.vector(fit$dispersion_trace[kept_sweeps(fit), ])[used]

part_of <- function(fit, argument, part, ...) {
  check_method(fit, argument, ...)
  part(fit)
}

chosen_parameters <- function(parameters, names, default, argument = "parameters") {
  if (is.null(parameters)) return(default)
  at <- if (is.character(parameters)) match(parameters, names) else parameters
  if (!is.numeric(at) || length(at) == 0L || anyNA(at) || !all(at %in% seq_along(names))) {
    wrong <- if (is.character(parameters)) setdiff(parameters, names)
    stop_input(argument, "must be names or numbers of the fit's ", length(names), " parameters, such as ",
      dQuote(names[[1L]], FALSE), ", not ", show_value(if (length(wrong)) wrong[[1L]] else parameters))
  }
  names[at]
}
