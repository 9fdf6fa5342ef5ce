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
  if (fit$iter == 0) {
    return(new_verdict("the mode", worded("mode_not_reached", "No step was made; continue(fit, more) makes some."),
      worded("mixture_reservation", data_words(fit))))
  }
  starts <- bem_starts(fit)
  best <- which.max(starts$log_posterior)
  number <- function(value) formatC(value, format = "f", digits = 1, big.mark = ",", decimal.mark = ".")
  highest <- number(starts$log_posterior[[best]])
  words <- c(
    if (fit$chains == 1) {
      sprintf("Log posterior %s.", highest)
    } else {
      sprintf("Start %d of %d has the highest log posterior, %s.", best, fit$chains, highest)
    },
    stopped_words(fit, starts[best, ]),
    others_words(starts[-best, ], starts$log_posterior[[best]], number),
    if (fit$components > 1 && fit$components < fit$rows && starts$occupied[[best]] == fit$components) {
      more_components("", fit)
    },
    paste(
      "A mode has no spread: intervals, Rhat and effective sample sizes need draws;",
      "warp_control(start = fit) samples from here."
    )
  )
  new_verdict("the mode", worded(if (bem_usable(fit)) "mode_reached" else "mode_not_reached", words),
    worded("mixture_reservation", data_words(fit)))
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

bem_held <- function(fit) {
  if (fit$iter == 0) return(NULL)
  best <- which.max(bem_starts(fit)$log_posterior)
  c(sprintf("Components that hold half a cell or more: %s", fit$occupied[fit$iter, best]),
    largest_words("Largest", fit$sizes[, best], fit$rows))
}

bem_summary <- function(fit, reference) {
  list(
    starts = bem_starts(fit), best = reference$chain,
    converged = if (fit$iter > 0) fit$converged[[reference$chain]] else NA, verdict = bem_verdict(fit)
  )
}

bem_glance <- function(fit) {
  best <- bem_starts(fit)[reference_draw(fit)$chain, ]
  list(
    occupied = best$occupied, concentration = fit$draws$concentration[1L, best$start],
    log_likelihood = best$log_likelihood, draws = 0, rhat = NA_real_, ess_bulk = NA_real_, converged = best$converged
  )
}

add_method("bem", words = bem_words, held = bem_held, verdict = bem_verdict, summary = bem_summary,
  glance = bem_glance, title = "Modes of a mixture of Gaussians", axis = "Step"
)
