# The verdict of a regression, and of what is made from it.

logit_words <- function(name) {
  ifelse(name == "log_likelihood", "the log likelihood", ifelse(name == "dispersion", "the dispersion", name))
}

#' @export
verdict.bayes_logit <- function(x, ...) {
  check_method(x, "x", ...)
  logit_verdict(x)
}

# The last verdicts, with what tells their fits: predictions ask often, and a verdict can take seconds.
last_verdicts <- new.env(parent = emptyenv())

logit_verdict <- function(fit, table = logit_table(fit, quantities), quantities = logit_quantities(fit)) {
  of_fit <- list(unclass(fit)[c("seed", "iter", "warmup", "thin", "log_likelihood")],
    if (fit$iter > 0) fit$coefficient_trace[fit$iter, , ])
  for (one in last_verdicts$kept) if (identical(one$fit, of_fit)) return(one$verdict)
  chains <- judge_convergence(quantities, table, logit_words)
  of_data <- tryCatch(support_reasons(fit), error = function(error) {
    pass_on(error)
    stop_input("fit", "has a part that was changed since it was made: ", because = error)
  })
  # How many more sweeps give 100 effective draws a chain, if chains go on as fast.
  least <- suppressWarnings(min(table$ess_bulk, na.rm = TRUE))
  wanted <- ess_wanted * fit$chains
  longer <- if (chains[[1L]]$answer != "not yet" && is.finite(least) && least < wanted) {
    more <- (fit$iter - fit$warmup) * (wanted / max(least, 1) - 1)
    unit <- 10^max(1, floor(log10(more)) - 1)
    reason("more_sweeps", figure = least, wanted = whole_words(wanted),
      more = format(unit * ceiling(more / unit), scientific = FALSE))
  }
  verdict <- new_verdict("the regression", chains, longer, of_data)
  last_verdicts$kept <- utils::head(c(list(list(fit = of_fit, verdict = verdict)), last_verdicts$kept), 8L)
  verdict
}

# The table of quantities for users. Means that may not exist are NA.
logit_table <- function(fit, quantities = logit_quantities(fit), tail = FALSE, probs = NULL) {
  table <- diagnose_quantities(quantities, tail)
  if (!is.null(probs)) {
    if (!is.numeric(probs) || length(probs) == 0L || anyNA(probs) || any(probs < 0 | probs > 1)) {
      stop_input("probs", "must be probabilities, not ", show_value(probs))
    }
    own <- t(matrix(vapply(quantities, stats::quantile, probs + 0, probs, names = FALSE), length(probs)))
    colnames(own) <- paste0("q", 100 * probs)
    at <- match("q5", names(table))
    table <- cbind(table[seq_len(at - 1L)], own, table[setdiff(names(table)[-seq_len(at - 1L)], c("q5", "q95"))])
  }
  table[table$quantity %in% long_tailed(fit), c("mean", "sd")] <- NA
  table
}

#' @exportS3Method loo::loo_compare
loo_compare.judged <- function(x, ...) {
  fits <- Filter(function(one) inherits(one, "judged"), list(x, ...))
  bare <- lapply(list(x, ...), function(one) {
    class(one) <- setdiff(class(one), "judged")
    one
  })
  judged(do.call(loo::loo_compare, bare), "the comparison", fits)
}

modelled_words <- function(fit) {
  levels <- fit$response$levels
  if (length(levels) != 2L) return(NULL)
  sprintf("Modelled is the probability of \"%s\", the second level of %s.", levels[[2L]], deparse1(fit$formula[[2L]]))
}

# Effects of a group, area or time without data have the tail of the prior of their deviation.
lacks_mean <- function(fit, rows, type) {
  part <- regressions_of(fit)[[1L]]
  n <- nrow(rows$x)
  is_mean_count <- family_of(fit)$is_count && type %in% c("response", "count")
  if (!is_mean_count && type != "link") return(logical(n))
  long <- long_deviations(part)
  counts <- fit$weights > 0
  terms <- part$design$terms
  unseen <- lapply(seq_along(rows$terms), function(i) {
    level <- rows$terms[[i]]$level
    new <- level %in% setdiff(c(0L, unique(level)), terms[[i]]$level[counts])
    new & level >= 0L & any(rows$terms[[i]]$kept) & (is_mean_count || any(deviation_names(terms[i]) %in% long))
  })
  if (is_mean_count) {
    unseen <- c(unseen, list(rows$unseen), lapply(rows$paths, function(path) path$level > 0L))
  } else {
    unseen <- c(unseen, list(rep(any(colnames(part$design$x) %in% sub("^.*:", "", long_coefficients(part))), n)))
  }
  Reduce(`|`, Filter(length, unseen), logical(n)) & rows$complete
}
