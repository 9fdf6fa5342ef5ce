#' Probabilities of statements about coefficients
#'
#' Gives the posterior probability of statements such as `"wt < 0"`, and the posterior of the difference of their sides.
#' A statement has names of parameters as [summary()][summary.bayes_logit()] shows them, numbers, `+`, `-`, `*`, `/`,
#' `^`, parentheses, `exp`, `log`, `sqrt`, `abs`, `plogis` and `qlogis`, and at most one of `<`, `<=`, `>` and `>=`.
#' Other names than those of R stand in backticks: `` "`factor(cyl)8` > 0" ``. `Intercept` means `(Intercept)`.
#' @param x a fit from [bayes_logit()].
#' @param statement one or several statements, as text. Names of the vector name the rows.
#' @param level probability of the interval.
#' @param ... must be empty.
#' @return A data frame with a row for each `statement`: `mean`, `sd`, `lower`, `median`, `upper`, `rhat` and `ess_bulk`
#'   of the left side minus the right side; `probability` (`NA` without a comparison); `mcse`, its Monte Carlo standard
#'   error; `evidence_ratio`, the odds of the statement.
#' @examples
#' fit <- bayes_logit(am ~ wt + hp, mtcars, chains = 2, iter = 400, seed = 1, threads = 2)
#' hypothesis(fit, c("wt < 0", "exp(10 * hp) > 1.5", "wt + 100 * hp"))
#' @export
hypothesis <- function(x, ...) UseMethod("hypothesis")

# If this package is attached after brms, its generic hides that of brms.
#' @export
hypothesis.default <- function(x, ...) {
  check_present(!missing(x), "x")
  if (has_foreign_method("hypothesis", "brms", x)) return(getExportedValue("brms", "hypothesis")(x, ...))
  stop_input("x", "must come from bayes_logit(), not ", show_value(x))
}

#' @rdname hypothesis
#' @export
hypothesis.bayes_logit <- function(x, statement, level = 0.9, ...) {
  check_method(x, "x", ...)
  check_present(!missing(statement), "statement")
  level <- check_number(level, "level", min = 0, max = 1)
  if (!is.character(statement) || length(statement) == 0L || anyNA(statement)) {
    stop_input("statement", "must be text, such as \"x > 0\", not ", show_value(statement))
  }
  coefficient_draws(x)
  quantities <- logit_quantities(x, all = TRUE, likelihood = FALSE)
  if (is.null(quantities$Intercept)) quantities$Intercept <- quantities[["(Intercept)"]]
  read <- lapply(statement, read_statement, quantities)
  differences <- lapply(read, `[[`, "difference")
  table <- diagnose_quantities(stats::setNames(differences, statement))
  bounds <- vapply(differences, stats::quantile, c(0, 0), interval_ends(level), names = FALSE)
  long <- long_tailed(x)
  if ("(Intercept)" %in% long) long <- c(long, "Intercept")
  table[vapply(read, function(one) any(one$names %in% long), NA), c("mean", "sd")] <- NA_real_
  of_holds <- function(what) vapply(read, function(one) if (is.null(one$holds)) NA_real_ else what(one$holds), 0)
  probability <- of_holds(mean)
  error <- of_holds(function(holds) {
    halves <- split_chains(holds + 0)
    if (nrow(holds) < fewest_sweeps || is_constant(halves)) return(NA_real_)
    sqrt(mean(holds) * (1 - mean(holds)) / effective_size(halves))
  })
  result <- data.frame(statement = statement, mean = table$mean, sd = table$sd, lower = bounds[1L, ],
    median = table$median, upper = bounds[2L, ], probability = probability, mcse = error,
    evidence_ratio = probability / (1 - probability), rhat = table$rhat, ess_bulk = table$ess_bulk)
  labels <- names(statement)
  if (!is.null(labels)) rownames(result) <- make.unique(ifelse(nzchar(labels), labels, seq_along(labels)))
  names(differences) <- table$quantity <- make.unique(statement)
  judged(result, "the statement", list(x), 
    Filter(function(one) one$answer != answers[[1L]], judge_convergence(differences, table, identity)))
}

statement_functions <- list(`+` = 1:2, `-` = 1:2, `*` = 2L, `/` = 2L, `^` = 2L, `(` = 1L, exp = 1L, log = 1L,
  sqrt = 1L, abs = 1L, plogis = 1L, qlogis = 1L)

# Draws of the left side minus the right side of a statement. Only the functions above are called.
read_statement <- function(text, quantities) {
  refuse <- function(...) stop_input("statement", sprintf("has \"%s\", ", shorten(text, 60L)), ...)
  # Expressions of many levels would overflow the stack.
  if (nchar(text) > 1000L) refuse("which has more than 1,000 characters")
  parsed <- tryCatch(parse(text = text, keep.source = FALSE), error = function(error) NULL)
  if (length(parsed) != 1L) refuse("which cannot be read as one statement, such as \"x > 0\"")
  used <- character()
  value <- function(part, depth) {
    if (depth > 100) refuse("with more than 100 levels of nesting")
    if (is.numeric(part) && length(part) == 1L) return(as.double(part))
    head <- if (is.call(part) && is.symbol(part[[1L]])) as.character(part[[1L]]) else ""
    is_operator <- head %in% names(statement_functions)[1:6]
    name <- if (is.symbol(part)) as.character(part) else if (is.call(part) && !is_operator) deparse1(part) else ""
    at <- match(gsub("`", "", name), gsub("`", "", names(quantities)))
    if (!is.na(at)) {
      used <<- c(used, names(quantities)[[at]])
      return(quantities[[at]])
    }
    if (head %in% names(statement_functions)) {
      arguments <- as.list(part)[-1L]
      if (!length(arguments) %in% statement_functions[[head]] || !is.null(names(arguments))) {
        refuse("where ", head, " takes ", count_words(max(statement_functions[[head]]), "argument"), ", without names")
      }
      package <- if (endsWith(head, "logis")) "stats" else "base"
      # Computed one after the other: within suppressWarnings() each level would take more of the stack.
      for (i in seq_along(arguments)) arguments[[i]] <- value(arguments[[i]], depth + 1)
      return(suppressWarnings(do.call(getExportedValue(package, head), arguments)))
    }
    if (head %in% c("<", ">", "<=", ">=")) refuse("with a comparison within an expression")
    if (head %in% c("==", "=")) refuse("but the probability of an equality is 0")
    refuse("but ", dQuote(shorten(if (nzchar(name)) name else deparse1(part), 60L), FALSE), " is no parameter of the ",
      "fit, such as ", dQuote(names(quantities)[[1L]], FALSE), ", and no function of ?hypothesis")
  }
  whole <- parsed[[1L]]
  is_compared <- is.call(whole) && is.symbol(whole[[1L]]) && as.character(whole[[1L]]) %in% c("<", ">", "<=", ">=")
  sides <- if (is_compared) lapply(as.list(whole)[-1L], value, 0) else list(value(whole, 0), 0)
  difference <- sides[[1L]] - sides[[2L]]
  if (length(used) == 0L) refuse("which has no parameter of the fit")
  if (!all(is.finite(difference))) refuse("which is not a finite number in each draw")
  holds <- if (is_compared) do.call(getExportedValue("base", as.character(whole[[1L]])), sides)
  list(difference = difference, holds = holds, names = used)
}
