# report() of martingale posteriors, and how knitr shows their summaries.

report_content.martingale_posterior <- function(fit, ...) {
  check_method(fit, "fit", ...)
  summary <- summary.martingale_posterior(fit)
  draw <- function(...) function() plot.martingale_posterior(fit, ...)
  list(
    title = "Martingale posterior", words = summary$words,
    converged = resample_usable(fit),
    verdict = resample_sentences(summary),
    main = function() summary$table,
    sections = function() {
      several <- ncol(fit$draws) > 1L
      list(
        list(title = "Result", parts = list(
          picture_part("What the resamples say, with pointwise 90% bands where there are curves.", draw("model"),
            c(0.62, 0.95)),
          table_part(summary$table, "Mean, standard deviation and quantiles of the draws")
        )),
        if (fit$model$kind != "bayesian_bootstrap" && !is_urn(fit$model)) {
          list(title = "Draws", parts = list(
            picture_part(if (several) "Draws of the first quantities." else "Draws.", draw("draws"),
              if (several) c(0.8, 1.2) else c(0.5, 0.8)),
            if (!is.null(fit$trajectories) && fit$model$kind != "normal_mean") {
              picture_part("Paths of the resamples.", draw("trajectories"))
            }
          ))
        }
      )
    },
    made = made_words(fit, c(Model = model_words(fit$model))),
    prior = resample_prior_words(fit$model),
    code = resample_code(fit), rows = 20L
  )
}

# A normal mean has a prior in the usual sense, and an urn has one by its parameters.
resample_prior_words <- function(model) {
  if (model$kind == "normal_mean" || is_urn(model) && model$kind != "bayesian_bootstrap") return(model_words(model))
  paste("There is no prior and no likelihood: the predictions of the model take their place. The quantities are",
    "computed from populations that the model predicts.")
}

resample_code <- function(fit) {
  c(
    needed_words(needed_objects(fit$call, "y")),
    repeating_code(fit$call, "predictive_resample", "fit", list(seed = fit$seed))
  )
}

in_chunk.summary.martingale_posterior <- function(x) {
  list(words = x$words, tables = list(x$table), verdict = resample_sentences(x), rows = 20L)
}
