# report() of regressions, comparisons of groups of samples, martingale posteriors, and distributions.

# Regressions --------------------------------------------------------------------------

report_content.bayes_logit <- function(fit, ...) {
  check_method(fit, "fit", ...)
  summary <- summary.bayes_logit(fit)
  draw <- function(...) function() plot.bayes_logit(fit, ...)
  table <- function() {
    rows <- logit_table_words(summary$coefficients, 2L)
    names(rows)[[1L]] <- "quantity"
    rows
  }
  list(
    title = logit_title(fit), words = summary$words, converged = summary$converged,
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
    made = made_words(fit), prior = join_indented(logit_prior_words(fit$prior)), code = logit_code(fit)
  )
}

# Lines that begin with blanks go on with the line before.
join_indented <- function(lines) {
  sentence <- cumsum(!startsWith(lines, " "))
  as.vector(tapply(trimws(lines), sentence, paste, collapse = "; "))
}

logit_code <- function(fit) {
  c(
    needed_words(needed_objects(fit$call, "data")),
    repeating_code(fit$call, "bayes_logit", "fit", list(formula = fit$formula, seed = fit$seed)),
    lengthened_code(fit, list(iter = formals(bayes_logit)$iter))
  )
}

# Differential abundance ---------------------------------------------------------------

report_content.differential_abundance <- function(fit, ...) {
  check_method(fit, "fit", ...)
  list(
    title = "Differential abundance of cell types", words = abundance_words(fit), converged = isTRUE(fit$converged),
    verdict = abundance_verdict(fit),
    main = function() abundance_table(fit, fit$effects[order(fit$effects$fdr), ]),
    sections = function() abundance_sections(fit),
    made = made_words(fit), prior = abundance_prior_words(), code = abundance_code(fit), rows = 20L
  )
}

abundance_sections <- function(fit) {
  summary <- summary.differential_abundance(fit)
  effects <- unique(fit$effects$effect)
  types <- min(12L, nrow(fit$counts))
  pictures <- lapply(utils::head(effects, 8L), function(effect) {
    what <- if (fit$change == "absolute") "absolute changes" else "odds ratios"
    picture_part(sprintf("%s: logs of %s with %s intervals. Types that are reported are filled.",
      effect_words(fit$effect_labels, effect), what, percent(fit$level, 0)),
      function() plot.differential_abundance(fit, effect = effect), c(0.25 + 0.03 * types, 0.45 + 0.05 * types))
  })
  counts <- data.frame(sample = colnames(fit$counts), `all cells` = whole_words(fit$totals),
    t(round(fit$counts)), check.names = FALSE)
  names(counts)[-(1:2)] <- rownames(fit$counts)
  list(
    list(title = "Effects", parts = c(
      list(table_part(abundance_table(fit, fit$effects[order(fit$effects$fdr), ]),
        "Odds ratios of shares and absolute changes, the type with the smallest false discovery rate first")),
      list(paragraphs(paste("absolute: the factor by which the absolute number changes; fdr: the smallest false",
        "discovery rate at which the type is reported; sd: standard deviation between samples, in log odds."), "note")),
      pictures
    )),
    list(title = "How samples differ", parts = list(paragraphs(c(
      paste("Standard deviation of log odds, typical of the types (geometric mean),", deviation_lines(summary)),
      no_effect_words(summary)
    )))),
    list(title = "Counts", parts = list(
      table_part(counts, "Cells by sample and type, averaged over draws"),
      table_part(data.frame(sample = rownames(fit$design), fit$design, check.names = FALSE), "Design")
    ))
  )
}

# The prior is the same for all: see ?differential_abundance.
abundance_prior_words <- function() {
  c(
    "Coefficients of predictors with standard deviation 1: normal with mean 0 and standard deviation 2.5.",
    paste("Standard deviation between samples, of each type: log-normal. Its median, a trend with the frequency of the",
      "type, and how alike types are is learned from all types together; the median has a log-normal prior with median",
      "0.5."),
    "Share of types without an effect: uniform. Common shift of the logs of all shares: Cauchy."
  )
}

abundance_code <- function(fit) {
  c(
    needed_words(needed_objects(fit$call, c("types", "data", "totals"))),
    repeating_code(fit$call, "differential_abundance", "result", list(seed = fit$seed))
  )
}

# Martingale posteriors ----------------------------------------------------------------

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

# Distributions ------------------------------------------------------------------------

moments_table <- function(summary) {
  number <- function(value) format(value, digits = 6)
  data.frame(
    quantity = c("mean", "standard deviation", "skewness", "kurtosis", "mode"),
    value = c(number(summary$mean), number(summary$sd), number(summary$skewness), number(summary$kurtosis),
      format_value(summary$mode))
  )
}

report_content.pmf <- function(fit, ...) {
  check_method(fit, "fit", ...)
  summary <- summary.pmf(fit)
  table <- function() moments_table(summary)
  list(
    title = "Distribution of a random variable", words = paste("On", format_values(fit)), converged = NA,
    verdict = NULL, main = table,
    sections = function() {
      levels <- c(0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999, 1)
      shares <- paste0(format(100 * levels, trim = TRUE, drop0trailing = TRUE), "%")
      quantiles <- data.frame(probability = shares, quantile = format_value(stats::quantile(fit, levels)))
      list(list(title = "Probabilities", parts = list(
        picture_part("Probabilities.", function() plot.pmf(fit)), table_part(table()),
        picture_part("Probability that the variable exceeds a value, on a logarithmic scale.",
          function() plot.pmf(fit, type = "distribution", lower.tail = FALSE, log = TRUE)),
        table_part(quantiles, "Quantiles: the smallest value whose distribution function reaches the probability"),
        if (size_of(fit) <= 100) table_part(as.data.frame(fit), "All values")
      )))
    },
    made = made_words(list()),
    prior = NULL, code = NULL
  )
}
