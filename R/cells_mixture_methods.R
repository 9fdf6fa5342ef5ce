# The methods of dp_mixture() by their names: see R/cells_base.R.

at_load(function() {
  mixture_methods$gibbs <- list(name = "gibbs", settings = c("thin", "keep"), schedule = gibbs_schedule,
    start = start_gibbs, sampler = mixture_sampler, sampled = TRUE, spread = TRUE, parts = gibbs_parts,
    draws = function(fit) kept_draws(fit$iter, fit), words = fit_words, verdict = gibbs_verdict,
    kept = function(fit) fit$warmup + fit$thin * seq_len(dim(fit$draws$concentration)[[1L]]),
    held = held_words, summary = gibbs_summary, glance = gibbs_glance, title = "Mixture of Gaussians", axis = "Sweep")
  mixture_methods$bem <- list(name = "bem", settings = c("tolerance", "estimate"), schedule = bem_schedule,
    start = start_bem, sampler = bem_sampler, starts = 1, sampled = FALSE, spread = FALSE,
    parts = function(fit) c("weights", "means", "covariances", "concentration"),
    draws = function(fit) min(1, fit$iter), kept = function(fit) if (fit$iter > 0) fit$iter else integer(),
    words = bem_words, verdict = bem_verdict, held = bem_held, summary = bem_summary, glance = bem_glance,
    title = "Modes of a mixture of Gaussians", axis = "Step")
})
