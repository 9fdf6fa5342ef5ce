# print() of the prior, in words.

in_console.dp_prior <- function(x, ...) {
  cat("Prior of a Dirichlet-process mixture of Gaussians\n")
  for (sentence in prior_words(x)) {
    cat(strwrap(sentence, width = 0.95 * getOption("width"), indent = 2L, exdent = 4L), sep = "\n")
  }
}

# One sentence each on means, covariances, weights, samples, what is learned, and the floor. The prior of a fit is
# shown in the units of the data.
prior_words <- function(prior) {
  resolved <- inherits(prior, "dp_prior_resolved")
  if (resolved) prior <- data_units(prior)
  choose <- function(given, default) if (is.null(given)) default else given
  spread <- choose(prior$mean_scale, prior_defaults$mean_scale)
  law <- choose(prior$concentration, prior_defaults$concentration)
  learn <- choose(prior$learn, prior_parts[vapply(unclass(prior)[prior_parts], is.null, NA)])
  c(
    sprintf("Means: normal around %s, with %s times the component's own covariance; the centre counts as %s.",
      if (is.null(prior$mean)) "the mean of each marker" else named_numbers(prior$mean), short_number(spread),
      cells_words(1 / spread)),
    sprintf("Covariances: inverse Wishart, expected standard deviation %s; the guess counts as %s.",
      deviation_words(prior$scale), df_words(prior$df)),
    sprintf("Weights: stick-breaking with concentration alpha, %s, 95%% of it between %s and %s).", gamma_words(law),
      short_number(stats::qgamma(0.025, law[["shape"]], law[["rate"]])),
      short_number(stats::qgamma(0.975, law[["shape"]], law[["rate"]]))),
    if (!is.null(prior$sample_concentration)) {
      sprintf("Samples: weights of each Dirichlet around the shared ones, with concentration a, %s).",
        gamma_words(prior$sample_concentration))
    },
    if (length(learn)) {
      sprintf("Learned along with the mixture: %s%s.", paste(learn, collapse = ", "),
        if (resolved) "; the values above are where it starts" else "")
    },
    if (any(prior$floor > 0)) {
      sprintf("Floor: values are known to within the standard deviation %s.", named_numbers(prior$floor))
    },
    if (is.null(prior$mean) || is.null(prior$scale)) {
      "What refers to the markers is set from the data when the mixture is fitted."
    }
  )
}

cells_words <- function(count) paste(short_number(count), if (count == 1) "cell" else "cells")

# Up to six numbers, with their names if they have any.
named_numbers <- function(values) {
  few <- utils::head(values, 6L)
  numbers <- short_number(unname(few))
  text <- paste(if (is.null(names(few))) numbers else paste(names(few), numbers), collapse = ", ")
  if (length(values) > 6L) paste0(text, ", ...") else text
}

deviation_words <- function(scale) {
  if (is.null(scale)) return(paste(short_number(prior_defaults$sd), "times that of each marker"))
  if (is.matrix(scale)) scale <- stats::setNames(diag(scale), rownames(scale))
  named_numbers(sqrt(scale))
}

df_words <- function(df) {
  if (is.null(df)) sprintf("p + %d cells, p being the markers", prior_defaults$extra_df) else cells_words(df)
}
