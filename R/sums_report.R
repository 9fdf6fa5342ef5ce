# report() of distributions, and how knitr shows them.

report_content.pmf <- function(fit, ...) {
  check_method(fit, "fit", ...)
  summary <- summary.pmf(fit)
  table <- function() moments_table(summary)
  list(title = "Distribution of a random variable", words = paste("On", format_values(fit)), converged = NA,
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
    made = made_words(list()), prior = NULL, code = NULL)
}

moments_table <- function(summary) {
  number <- function(value) format(value, digits = 6)
  data.frame(quantity = c("mean", "standard deviation", "skewness", "kurtosis", "mode"),
    value = c(number(summary$mean), number(summary$sd), number(summary$skewness), number(summary$kurtosis),
      format_value(summary$mode)))
}

in_chunk.pmf <- function(x) {
  list(words = c(paste("Distribution of a random variable on", format_values(x)), format_left_out(x)),
    tables = list(report_content.pmf(x)$main()))
}

in_chunk.summary_pmf <- function(x) {
  rows <- data.frame(probability = names(x$quantiles), quantile = format_value(unname(x$quantiles)))
  list(words = paste("Distribution of a random variable on", format_support(x$support[[1L]], x$support[[2L]])),
    tables = list(moments_table(x), `Quantiles` = rows))
}

in_chunk.pmf_list <- function(x) {
  list(words = count_words(length(x), "distribution"), rows = 20L, tables = list(data.frame(number = seq_along(x),
    distribution = element_words(x))))
}

#' @rdname tidiers
#' @method tidy pmf
#' @exportS3Method generics::tidy pmf
tidy.pmf <- function(x, ...) {
  check_dots_empty(...)
  as_table(as.data.frame.pmf(x))
}

glance_of.pmf <- function(x) {
  check_pmf(x, "x")
  data.frame(mean = mean(x), std.dev = sqrt(variance(x)), median = median(x), lowest = x$from, highest = last_of(x),
    values = size_of(x))
}
