# report() of regressions, and how knitr shows their summaries.

report_content.bayes_logit <- function(fit, ...) {
  check_method(fit, "fit", ...)
  summary <- summary.bayes_logit(fit)
  draw <- function(...) function() plot.bayes_logit(fit, ...)
  table <- function() table_of_quantities(summary)
  list(
    title = family_of(fit)$title, words = summary$words, converged = summary$converged,
    verdict = summary$verdict,
    main = function() utils::head(table(), -1L),
    sections = function() {
      rows <- table()
      count <- nrow(rows)
      list(
        list(title = "Coefficients", parts = list(
          table_part(rows, "Posterior mean and standard deviation, interval of 90% of the draws, and convergence"),
          picture_part(paste("Coefficients: means, 50% and 90% intervals. Per sd: for a standard deviation of a",
            "numeric predictor."),
            draw("coefficients"), c(min(1.4, 0.3 + 0.035 * count), min(2.5, 0.5 + 0.06 * count)))
        )),
        list(title = "Does it fit the data?", parts = list(
          picture_part(paste("Rows in ten groups by the response that the other rows predict: observed",
            "against predicted means, with two standard errors. The line is perfect agreement."),
          draw("calibration"), c(0.7, 1))
        )),
        list(title = "Convergence", parts = list(
          picture_part("The chains. The warm-up is shaded, and Rhat stands at the right.", draw("trace"), c(0.9, 1.5))
        ))
      )
    },
    made = made_words(fit), prior = join_indented(logit_prior_words(fit$prior)),
    code = c(
      needed_words(needed_objects(fit$call, "data")),
      repeating_code(fit$call, "bayes_logit", "fit", list(formula = fit$formula, seed = fit$seed)),
      lengthened_code(fit, list(iter = formals(bayes_logit)$iter))
    )
  )
}

table_of_quantities <- function(summary) {
  table <- logit_table_words(summary$coefficients, 2L)
  stats::setNames(table, replace(names(table), 1L, "quantity"))
}

in_chunk.summary.bayes_logit <- function(x) {
  words <- c(x$words, join_indented(logit_prior_words(x$prior)))
  list(words = words, tables = list(table_of_quantities(x)), verdict = x$verdict)
}

in_chunk.logit_prior <- function(x) list(sentences = join_indented(logit_prior_words(x)))

in_chunk.group_covariances <- function(x) list(tables = list(frame_of(x)))
