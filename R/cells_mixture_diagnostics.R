# Convergence of the mixture's chains, judged by quantities that do not depend on how components are numbered.
# R/run_diagnostics.R has the rest.

# The quantities that judge convergence: sweeps x chains each.
trace_quantities <- function(fit, warmup = FALSE) {
  sweeps <- seq_len(nrow(fit$log_likelihood))
  if (!warmup) sweeps <- sweeps[sweeps > fit$warmup]
  quantities <- list(
    log_likelihood = fit$log_likelihood[sweeps, , drop = FALSE],
    occupied = fit$occupied[sweeps, , drop = FALSE],
    concentration = fit$concentration_trace[sweeps, , drop = FALSE]
  )
  for (point in seq_len(dim(fit$probe_density)[[3L]])) {
    values <- fit$probe_density[sweeps, , point, drop = FALSE]
    quantities[[sprintf("log_density[%d]", point)]] <- matrix(values, length(sweeps), fit$chains)
  }
  quantities
}

quantity_words <- function(name) {
  words <- c(
    log_likelihood = "the log likelihood", occupied = "the number of occupied components",
    concentration = "the concentration"
  )
  density <- sub("log_density\\[(\\d+)\\]", "the log density at point \\1", name)
  ifelse(name %in% names(words), words[name], density)
}

diagnose <- function(fit) {
  table <- diagnose_quantities(trace_quantities(fit))
  if (is_bem(fit)) table[c("rhat", "ess_bulk")] <- NA_real_
  table
}

# The fit is judged by what it says about the data. The number of components that hold cells and the concentration
# depend on components of a few cells, which come and go more slowly than the density changes.
convergence_verdict <- function(fit, table) {
  judge_convergence(trace_quantities(fit), table, quantity_words, c("occupied", "concentration"))
}

# Says if the truncation binds: all components hold cells in more than 5% of the sweeps.
truncation_words <- function(fit) {
  occupied <- trace_quantities(fit)$occupied
  share <- mean(occupied == fit$components)
  if (nrow(occupied) < fewest_sweeps || fit$components == 1 || fit$components >= fit$rows || share <= 0.05) return(NULL)
  more_components(sprintf(" in %.0f%% of the sweeps", 100 * share), fit)
}

more_components <- function(when, fit) {
  sprintf("All %s components hold cells%s: the data may need more; fit again with components = %s.",
    format(fit$components), when, format(2 * fit$components))
}
