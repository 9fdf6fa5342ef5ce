# print(), summary() and glance() of the modes that Bayesian EM finds.

bem_starts <- function(fit) {
  last <- function(trace) if (fit$iter > 0) trace[fit$iter, ] else rep(NA_real_, fit$chains)
  data.frame(
    start = seq_len(fit$chains), steps = fit$steps, converged = fit$converged,
    log_posterior = last(fit$log_posterior), log_likelihood = last(fit$log_likelihood), occupied = last(fit$occupied)
  )
}

bem_words <- function(fit) {
  sweeps <- paste(if (fit$chains > 1) ", each" else "", "after", count_words(fit$start_sweeps, "Gibbs sweep"))
  c(size_words(fit), sprintf("%s by Bayesian EM%s: %s%s, %s",
    if (fit$estimate == "mean") "Conditional means" else "Mode of the posterior",
    if (isTRUE(fit$interrupted)) ", interrupted" else "", count_words(fit$chains, "start"),
    if (fit$start_sweeps > 0) sweeps else "", where_words(fit)))
}

bem_held <- function(fit) {
  if (fit$iter == 0) return(NULL)
  best <- which.max(bem_starts(fit)$log_posterior)
  c(sprintf("Components that hold half a cell or more: %s", fit$occupied[fit$iter, best]),
    largest_words("Largest", fit$sizes[, best], fit$rows))
}

bem_summary <- function(fit, reference) {
  said <- verdict(fit)
  list(starts = bem_starts(fit), best = reference$chain, converged = is_usable(said), verdict = said)
}

bem_glance <- function(fit) {
  best <- bem_starts(fit)[reference_draw(fit)$chain, ]
  list(
    occupied = best$occupied, concentration = fit$draws$concentration[1L, best$start],
    log_likelihood = best$log_likelihood, draws = 0, rhat = NA_real_, ess_bulk = NA_real_, converged = best$converged,
    verdict = verdict(fit)$answer
  )
}
