# What a regression says about itself: print(), summary() and accessors.

# The groupings of a fit: " in 6 groups of g and 12 of h".
term_words <- function(fit) {
  counts <- vapply(fit$design$terms, function(term) length(term$levels), 0)
  names <- vapply(fit$design$terms, `[[`, "", "group")
  counts <- counts[!duplicated(names)]
  if (length(counts) == 0L) return("")
  each <- sprintf("%s of %s", c(count_words(counts[[1L]], "group"), whole_words(counts[-1L])), unique(names))
  last <- length(each)
  paste0(" in ", if (last > 1L) paste(paste(each[-last], collapse = ", "), "and "), each[[last]])
}

logit_fit_words <- function(fit) {
  removed <- length(fit$na.action)
  c(
    paste0(family_of(fit)$title, ": ", deparse1(fit$formula), family_of(fit)$formula_words(fit)),
    sprintf("%s%s%s", count_words(fit$rows, "row"),
      if (removed) sprintf(" (%d more with missing values left out)", removed) else "", term_words(fit)),
    chain_words(fit, fit$chains * kept_draws(fit$iter, fit), sprintf("%s on %s, seed %s", elapsed_words(fit$elapsed),
      fit$backend, format(fit$seed, digits = 16))),
    logit_sampler_words(fit), modelled_words(fit)
  )
}

#' Print or summarise a fitted regression
#'
#' `summary()` adds the prior and effective sizes of tails to what `print()` shows. The [verdict] follows [convergence],
#' says where the data leave the answer to the prior, for example if predictors separate the classes, and compares drawn
#' responses with the data: how much they vary, how many are 0, and the shares of successes in ten groups of rows.
#' @param object,x a fit from [bayes_logit()], or its summary.
#' @param parm names or numbers of coefficients; all if missing.
#' @param pars names of parameters; `NULL` for all.
#' @param level,prob probability of the interval.
#' @param probs `NULL`, or the probabilities of quantiles in the place of 0.05 and 0.95.
#' @param complete not used.
#' @param formula.,evaluate,... for `update()`: as in [stats::update()]. Otherwise `...` is not used.
#' @return `summary()`: a list of class `summary.bayes_logit`. Its data frame `coefficients` has `quantity`, `mean`,
#'   `sd` (both `NA` where they may not exist), `q5`, `median`, `q95`, `rhat`, `ess_bulk` and `ess_tail`; other
#'   parameters follow the coefficients. `converged` is `TRUE`, `FALSE`, or `NA` if it cannot be judged. `coef()`:
#'   posterior means (medians where they may not exist). `vcov()`: the posterior covariance matrix. `confint()` and
#'   `posterior_interval()`: a matrix of equal-tailed intervals. There is no `logLik()`: see [log_lik()].
#' @examples
#' summary(bayes_logit(am ~ wt, mtcars, chains = 2, iter = 400, seed = 1, threads = 2))
#' @name summary.bayes_logit
NULL

logit_table_words <- function(table, digits) {
  is_long <- is.na(table$mean) & !is.na(table$median)
  quantiles <- grep("^q[0-9.]+$", names(table), value = TRUE)
  below <- as.numeric(sub("q", "", quantiles)) < 50
  with_median <- any(is_long) && !"q50" %in% quantiles
  shown <- c("mean", "sd", quantiles[below], if (with_median) "median", quantiles[!below])
  numbers <- t(vapply(seq_len(nrow(table)), function(i) {
    values <- unlist(table[i, shown])
    spread <- if (is_long[[i]]) diff(range(values, na.rm = TRUE)) / 3.29 else table$sd[[i]]
    ifelse(is.na(values), "-", format_to_spread(values, spread, digits))
  }, character(length(shown))))
  colnames(numbers) <- sub("^q(.*)$", "\\1%", sub("median", "q50", shown))
  sizes <- function(values) ifelse(is.na(values), "-", formatC(values, format = "f", digits = 0))
  words <- data.frame(` ` = sub("^the ", "", logit_words(table$quantity)), numbers,
    Rhat = ifelse(is.na(table$rhat), "-", format_rhat(table$rhat)), ESS = sizes(table$ess_bulk),
    check.names = FALSE)
  if (!is.null(table$ess_tail)) words[["tail ESS"]] <- sizes(table$ess_tail)
  words
}

in_console.bayes_logit <- function(x, digits = 2, n = 50, ...) {
  digits <- check_count(digits, "digits", max = 15)
  n <- check_count(n, "n", min = 0)
  check_logit_fit(x, "x")
  print_lines(logit_fit_words(x))
  quantities <- logit_quantities(x)
  table <- logit_table(x, quantities)
  print_logit_table(table[table$quantity != "log_likelihood", ], sum(is_shown_coefficient(x)), digits, n, "fit")
  print_verdict(logit_verdict(x, table, quantities))
}

print_logit_table <- function(table, coefficients, digits, n, name) {
  is_coefficient <- seq_len(nrow(table)) <= coefficients
  shown <- c(utils::head(which(is_coefficient), n), utils::head(which(!is_coefficient), n))
  words <- logit_table_words(table[shown, ], digits)
  # By default, R leaves out rows of large data frames.
  if (length(shown)) print(words, row.names = FALSE, max = length(words) * nrow(words))
  item <- if (all(is_coefficient[!seq_along(is_coefficient) %in% shown])) "more coefficient" else "more row"
  print_rest(nrow(table), length(shown), sprintf("print(%s, n = %%s) shows all", name), item,
    max(coefficients, nrow(table) - coefficients))
}

#' @rdname summary.bayes_logit
#' @export
summary.bayes_logit <- function(object, probs = NULL, ...) {
  check_dots_empty(...)
  quantities <- logit_quantities(object)
  table <- logit_table(object, quantities, tail = TRUE, probs = probs)
  verdict <- logit_verdict(object, table, quantities)
  structure(list(words = logit_fit_words(object), prior = object$prior, coefficients = table,
    converged = is_usable(verdict), verdict = verdict, shown = sum(is_shown_coefficient(object))),
    class = c("summary.bayes_logit", "warpbayes"))
}

in_console.summary.bayes_logit <- function(x, digits = 2, n = 50, ...) {
  digits <- check_count(digits, "digits", max = 15)
  n <- check_count(n, "n", min = 0)
  print_lines(x$words)
  cat("\n")
  print(x$prior)
  cat("\n")
  print_logit_table(x$coefficients, x$shown, digits, n, "summary(fit)")
  print_verdict(x$verdict)
}

#' @rdname summary.bayes_logit
#' @export
coef.bayes_logit <- function(object, ...) {
  check_dots_empty(...)
  draws <- coefficient_draws(object)
  means <- colMeans(draws)
  for (name in names_of_regressions(object, long_coefficients)) means[[name]] <- stats::median(draws[, name])
  means
}

#' @rdname summary.bayes_logit
#' @export
vcov.bayes_logit <- function(object, complete = TRUE, ...) {
  check_dots_empty(...)
  covariance <- stats::var(coefficient_draws(object))
  long <- names_of_regressions(object, long_coefficients)
  covariance[long, ] <- covariance[, long] <- NA
  covariance
}

#' @rdname summary.bayes_logit
#' @export
coef.summary.bayes_logit <- function(object, ...) {
  check_dots_empty(...)
  table <- utils::head(object$coefficients, object$shown)
  estimate <- ifelse(is.na(table$mean), table$median, table$mean)
  matrix(c(estimate, table$sd), ncol = 2L, dimnames = list(table$quantity, c("Estimate", "Std. Error")))
}

#' @export
`==.bayes_logit` <- function(e1, e2) identical(e1, e2)

#' @rdname summary.bayes_logit
#' @export
confint.bayes_logit <- function(object, parm, level = 0.9, ...) {
  check_dots_empty(...)
  level <- check_number(level, "level", min = 0, max = 1)
  draws <- coefficient_draws(object)
  chosen <- colnames(draws)
  if (!missing(parm)) chosen <- chosen_parameters(if (is.null(parm)) list() else parm, chosen, NULL, "parm")
  interval_of_draws(draws[, chosen, drop = FALSE], level, "level")
}

interval_of_draws <- function(draws, prob, argument = "prob") {
  tails <- interval_ends(check_number(prob, argument, min = 0, max = 1))
  bounds <- t(apply(draws, 2L, stats::quantile, tails, names = FALSE))
  dimnames(bounds) <- list(colnames(draws), paste0(format(100 * tails, trim = TRUE, digits = 3), "%"))
  bounds
}

#' @rdname summary.bayes_logit
#' @export
nobs.bayes_logit <- function(object, ...) part_of(object, "object", function(fit) fit$rows)

#' @rdname summary.bayes_logit
#' @export
formula.bayes_logit <- function(x, ...) x$formula

#' @rdname summary.bayes_logit
#' @export
update.bayes_logit <- function(object, formula., ..., evaluate = TRUE) {
  call <- object$call
  changed <- match.call(expand.dots = FALSE)$...
  unnamed <- length(changed) > 0L && (is.null(names(changed)) || !all(nzchar(names(changed))))
  if (unnamed) stop_input("...", "must have names: arguments of bayes_logit() to change")
  if (!missing(formula.)) {
    if (!inherits(formula., "formula") && !(is.character(formula.) && length(formula.) == 1L)) {
      stop_input("formula.", "must be a formula, such as . ~ . + x, not ", show_value(formula.))
    }
    call$formula <- tryCatch(stats::update(object$formula, formula.), error = function(error) {
      stop_input("formula.", "cannot change the formula: ", because = error)
    })
  }
  evaluate <- check_flag(evaluate, "evaluate")
  for (name in names(changed)) call[[name]] <- changed[[name]]
  if (evaluate) eval(call, environment_of_call(call, list(parent.frame(), environment(object$formula)))) else call
}

# A fit made in a function has its data, such as `data`, where its formula was written.
environment_of_call <- function(call, environments) {
  arguments <- as.list(call)[-1L]
  needed <- unique(unlist(lapply(arguments[!(names(arguments) %in% "formula" & !is.null(call$data))], all.vars)))
  is_value <- function(name, envir) !is.function(get0(name, envir, ifnotfound = stop))
  found <- vapply(environments, function(envir) sum(vapply(needed, is_value, NA, envir)), 0L)
  environments[[which.max(found)]]
}
