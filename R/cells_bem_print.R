# print(), summary() and glance() of the modes that Bayesian EM finds.

# One row for each start.
bem_starts <- function(fit) {
  last <- function(trace) if (fit$iter > 0) trace[fit$iter, ] else rep(NA_real_, fit$chains)
  data.frame(
    start = seq_len(fit$chains), steps = fit$steps, converged = fit$converged,
    log_posterior = last(fit$log_posterior), log_likelihood = last(fit$log_likelihood), occupied = last(fit$occupied)
  )
}

bem_words <- function(fit) {
  sweeps <- if (fit$start_sweeps > 0) {
    paste(if (fit$chains > 1) ", each" else "", "after", count_words(fit$start_sweeps, "Gibbs sweep"))
  } else {
    ""
  }
  c(
    size_words(fit),
    sprintf("%s by Bayesian EM%s: %s%s, %s",
      if (fit$estimate == "mean") "Conditional means" else "Mode of the posterior",
      if (isTRUE(fit$interrupted)) ", interrupted" else "", count_words(fit$chains, "start"), sweeps, where_words(fit))
  )
}

# Whether the best start has converged.
bem_usable <- function(fit) {
  starts <- bem_starts(fit)
  isTRUE(starts$converged[which.max(starts$log_posterior)])
}

# What happened, in sentences: the steps, where the starts ended, and what a mode cannot say.
bem_verdict <- function(fit) {
  if (fit$iter == 0) return(paste(answer_words(FALSE), "No step was made; continue(fit, more) makes some."))
  starts <- bem_starts(fit)
  best <- which.max(starts$log_posterior)
  number <- function(value) formatC(value, format = "f", digits = 1, big.mark = ",", decimal.mark = ".")
  highest <- number(starts$log_posterior[[best]])
  c(
    paste(answer_words(bem_usable(fit), "without intervals"), if (fit$chains == 1) {
      sprintf("Log posterior %s.", highest)
    } else {
      sprintf("Start %d of %d has the highest log posterior, %s.", best, fit$chains, highest)
    }),
    stopped_words(fit, starts[best, ]),
    others_words(starts[-best, ], starts$log_posterior[[best]], number),
    if (fit$components > 1 && fit$components < fit$rows && starts$occupied[[best]] == fit$components) {
      more_components("", fit)
    },
    paste(
      "A mode has no spread: intervals, Rhat and effective sample sizes need draws;",
      "dp_mixture(..., init = fit) samples from here."
    )
  )
}

# Whether the best start has converged.
stopped_words <- function(fit, best) {
  steps <- count_words(best$steps, "step")
  if (best$converged) {
    return(sprintf("It stopped after %s, the last of which changed the log posterior by less than %s a cell.",
      steps, format(fit$tolerance, scientific = TRUE)))
  }
  change <- if (fit$iter > 1) {
    format(signif(abs(diff(fit$log_posterior[fit$iter - 1:0, best$start])) / fit$rows, 2))
  } else {
    "an unknown amount"
  }
  sprintf("It has not converged: after %s, the last one still changed the log posterior by %s a cell; %s",
    steps, change, "continue(fit, more) makes more steps.")
}

# How far the other starts end below the best.
others_words <- function(others, highest, number) {
  if (!nrow(others)) return(NULL)
  sprintf("The %s %s below it%s.", if (nrow(others) == 1L) "other ends" else "others end",
    paste(number(highest - utils::head(others$log_posterior, 8L)), collapse = ", "),
    if (all(others$converged)) "" else sprintf("; %s of them had not converged", whole_words(sum(!others$converged))))
}

print_bem <- function(fit) {
  print_lines(bem_words(fit))
  if (fit$iter > 0) {
    best <- which.max(bem_starts(fit)$log_posterior)
    cat(sprintf("Components that hold half a cell or more: %s\n", fit$occupied[fit$iter, best]))
    largest <- sort(fit$sizes[, best], decreasing = TRUE)
    largest <- utils::head(largest[largest > 0], 8L)
    cat(sprintf("Largest: %s of the cells\n", list_shares(largest / fit$rows)))
  }
  print_sentences(c(bem_verdict(fit), piled_words(fit), few_cells_words(fit)))
}

# The components of a draw, the heaviest first.
reference_components <- function(reference) {
  order <- order(-reference$weights)
  data.frame(
    component = order, weight = reference$weights[order], reference$means[order, , drop = FALSE], check.names = FALSE
  )
}

summarise_bem <- function(fit) {
  reference <- if (fit$iter > 0) reference_draw(fit)
  structure(
    list(
      words = bem_words(fit), prior = fit$prior, starts = bem_starts(fit), best = reference$chain,
      converged = if (fit$iter > 0) fit$converged[[reference$chain]] else NA,
      verdict = c(bem_verdict(fit), piled_words(fit), few_cells_words(fit)),
      components = if (fit$iter > 0) reference_components(reference), reference = reference[c("draw", "chain")],
      piled = fit$piled, rows = fit$rows, transform = fit$transform
    ),
    class = c("summary.dp_mixture_bem", "summary.dp_mixture", "warpbayes")
  )
}

glance_bem <- function(fit) {
  best <- bem_starts(fit)[reference_draw(fit)$chain, ]
  data.frame(
    rows = fit$rows, markers = length(fit$markers), components = fit$components, occupied = best$occupied,
    concentration = fit$draws$concentration[1L, best$start], log_likelihood = best$log_likelihood,
    chains = fit$chains, draws = 0, rhat = NA_real_, ess_bulk = NA_real_, converged = best$converged,
    seconds = elapsed_seconds(fit$elapsed)
  )
}
