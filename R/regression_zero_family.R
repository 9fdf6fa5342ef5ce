# How a regression of zeros changes the record of a family of counts (R/regression_families.R).

family_wrappers$zero <- function(record, fit) {
  moments <- function(linear) zero_moments(fit, linear)
  of_counts <- function(linear) linear[, , 1L, drop = FALSE]
  own <- list(
    title = zero_title(fit), mean = moments, link = of_counts,
    respond = function(linear, ...) draw_zero_responses(fit, linear),
    log_likelihood = function(linear, observed, ...) zero_row_log_likelihood(fit, linear, observed),
    types = list(
      response = moments, link = of_counts, count = function(linear) exp(of_counts(linear)),
      zero = function(linear) stats::plogis(linear[, , 2L])
    )
  )
  record[names(own)] <- own
  record["kernel"] <- list(NULL)
  record
}
