#' Distributions from other objects, and for other packages
#'
#' `as_pmf()` makes a [pmf()] from a table, a vector with names, a data frame, a sample with or without weights, or a
#' distribution of package distributional. The generics of that package work for the result.
#' A numeric vector without names is a *sample*: `as_pmf(c(1, 1, 2, 5))` has the values 1, 2 and 5. If all its names are
#' numbers, these are the values, and the vector has their probabilities or counts. Weights and counts are divided by
#' their sum. A distribution on whole numbers is taken value by value, any other one by [discretize_pmf()]. Package
#' distributional has no upper tails, so probabilities near 1e-16 have no correct digits.
#'
#' @param x what to convert; for the other functions a distribution made by [pmf()].
#' @param weights for a sample, the weights of its values: numbers from 0.
#' @param by the step that values are rounded to. Samples have the longest that fits; continuous distributions need one.
#' @param tail for a distribution, the probability that may be left out at either end, from 1e-15 to 1e-8.
#' @param method where probability between two values goes: see [discretize_pmf()].
#' @param at,q values whose probabilities, or cumulative probabilities, are asked for.
#' @param log whether to give natural logarithms.
#' @param times,seed number of draws, and their seed as in [rpmf()].
#' @param ... must be empty.
#' @return A [pmf()]; for several distributions a list of them. `density()`, `cdf()` and `generate()` give what
#'   [dpmf()], [ppmf()] and [rpmf()] do, `support()` all possible values. The kurtosis of a normal variable is 0.
#' @inheritSection pmf_functions Errors
#' @examples
#' as_pmf(table(c(1, 1, 2, 5)))
#' if (requireNamespace("distributional", quietly = TRUE)) {
#'   claims <- as_pmf(distributional::dist_poisson(3))
#'   delay <- as_pmf(distributional::dist_gamma(2, 0.5), by = 0.1)
#'   claims + delay
#'   distributional::cdf(claims, 5)
#' }
#' @export
as_pmf <- function(x, ...) {
  require_arguments("x")
  UseMethod("as_pmf")
}

#' @export
as_pmf.default <- function(x, ...) {
  stop_input("x", "must be a table, a data frame, a numeric vector or a distribution of package distributional, not ",
    show_value(x))
}

#' @export
as_pmf.pmf <- function(x, ...) {
  check_method(x, "x", ...)
  x
}

#' @export
as_pmf.table <- function(x, ...) {
  check_dots_empty(...)
  pmf(x, normalize = TRUE)
}

#' @export
as_pmf.data.frame <- function(x, ...) {
  check_dots_empty(...)
  pmf(x, normalize = TRUE, log = identical(names(x)[-1L], "log_prob"))
}

#' @rdname as_pmf
#' @export
as_pmf.numeric <- function(x, weights = NULL, by = NULL, ...) {
  check_dots_empty(...)
  labels <- names(x)
  if (is.null(weights) && is.null(by) && !is.null(labels) && !anyNA(suppressWarnings(as.numeric(labels)))) {
    return(pmf(x, normalize = TRUE))
  }
  sample_pmf(x, weights, by)
}

#' @export
as_pmf.integer64 <- as_pmf.numeric

sample_pmf <- function(x, weights, by) {
  values <- check_values(x, "x")
  refuse_entries(values, which(!is.finite(values)), "x", "a sample has finite numbers")
  if (length(values) == 0L) stop_input("x", "is empty: a sample has at least one value")
  weights <- weights_of_sample(weights, length(values), "values")
  if (!is.null(by)) {
    by <- check_number(by, "by", min = 0)
    return(pmf(weights, values = round(values / by) * by, by = by, normalize = TRUE))
  }
  tryCatch(pmf(weights, values = values, normalize = TRUE), warpbayes_error_input = function(error) {
    stop_input("x", "has values that are neither whole numbers nor decimal fractions: give the step `by`, to which ",
      "they are rounded")
  })
}

weights_of_sample <- function(weights, count, what) {
  weights <- if (is.null(weights)) rep(1, count) else check_weights(weights, "weights", FALSE)
  if (length(weights) != count) {
    stop_input("weights", sprintf("has %.0f entries for %.0f %s", length(weights), count, what))
  }
  weights
}

#' @rdname as_pmf
#' @export
as_pmf.distribution <- function(x, by = NULL, tail = 1e-10, method = c("rounding", "up", "down", "unbiased"), ...) {
  check_dots_empty(...)
  tail <- check_number(tail, "tail", min = 1e-15, max = 1e-8, open = FALSE)
  method <- check_choice(method, "method", c("rounding", "up", "down", "unbiased"))
  if (!is.null(by)) by <- check_number(by, "by", min = 0)
  if (!requireNamespace("distributional", quietly = TRUE)) {
    stop_input("x", "is a distribution of package distributional, which is not installed")
  }
  if (length(x) == 0L) stop_input("x", "has no distributions")
  laws <- lapply(seq_along(x), function(i) {
    tryCatch(law_of_distribution(x[i], by, tail, method), error = function(error) {
      if (inherits(error, "warpbayes_error")) stop(error)
      stop_input("x", "cannot be read: ", because = error)
    })
  })
  if (length(laws) == 1L) laws[[1L]] else do.call(c, laws)
}

# One distribution of package distributional, whose functions give a list with a vector for each distribution.
law_of_distribution <- function(x, by, tail, method) {
  name <- format(x)
  if (anyNA(name) || is.na(x)) stop_input("x", "has a missing distribution")
  made <- if (is.null(by) || by == 1) law_of_parts(x, tail, method)
  if (!is.null(made)) return(made)
  cdf <- function(q) as.double(unlist(distributional::cdf(x, q)))
  # It is unknown for some distributions.
  support <- tryCatch(unclass(distributional::support(x)), error = pass_on)
  ends <- if (is.numeric(support$lim[[1L]]) && length(support$lim[[1L]]) == 2L) support$lim[[1L]] else c(-Inf, Inf)
  if (is.integer(support$x[[1L]]) && (is.null(by) || by == 1) && is.finite(ends[[1L]])) {
    last <- first_whole(function(value) 1 - cdf(value) <= tail, ends[[1L]], min(ends[[2L]], 2^52))
    prob <- as.double(unlist(stats::density(x, seq(ends[[1L]], last))))
    total <- sum(prob)
    if (is.finite(total) && abs(total - 1) <= 1e-6) {
      return(leave_out(pmf(prob / total, from = ends[[1L]]), c(-Inf, if (last < ends[[2L]]) log(tail) else -Inf)))
    }
  }
  if (is.finite(ends[[1L]]) && ends[[1L]] == ends[[2L]]) return(pmf(1, from = ends[[1L]]))
  if (is.null(by)) stop_input("by", "is missing: ", name, " is not on whole numbers, so the step must be given")
  if (length(cdf(0)) != 1L || !is.finite(cdf(0))) stop_input("x", "is ", name, ", which has no distribution function")
  # Values are counted from a multiple of the step. Less than `tail` lies below it.
  low <- -1
  while (cdf(low * by) > tail) low <- 2 * low
  first <- by * (first_whole(function(steps) cdf(steps * by) > tail, low, 2^52) - 1)
  if (ends[[1L]] >= 0 && first < 1e6 * by) first <- 0
  shifted <- function(q) ifelse(q < 0, 0, cdf(q + first))
  truncate_pmf(discretize_pmf(shifted, by, method, tail = tail) + first)
}

# A distribution that is made of others on whole numbers, or of given values; NULL for any other one.
law_of_parts <- function(x, tail, method) {
  of <- unclass(x)[[1L]]
  # Without a step only distributions on whole numbers have a law.
  law_within <- function(one) {
    null_if_refused(law_of_distribution(structure(list(one), class = class(x)), NULL, tail, method))
  }
  switch(class(of)[[1L]],
    dist_bernoulli = pmf(c(1 - of$p, of$p)),
    dist_categorical = {
      values <- if (is.null(of$x)) seq_along(of$p) else of$x
      if (is.numeric(values)) pmf(of$p, values = values, normalize = TRUE)
    },
    dist_sample = if (is.numeric(of$x)) null_if_refused(sample_pmf(of$x, NULL, NULL)),
    dist_mixture = {
      laws <- lapply(of$dist, law_within)
      if (!any(vapply(laws, is.null, NA))) mix_pmf(laws, of$w / sum(of$w))
    },
    dist_truncated = if (!is.null(law <- law_within(of$dist))) truncate_pmf(law, of$lower, of$upper),
    dist_inflated = if (!is.null(law <- law_within(of$dist))) {
      mix_pmf(list(pmf(1, from = of$x), law), c(of$p, 1 - of$p))
    },
    dist_transformed = if (!is.null(law <- law_within(of$dist))) null_if_refused(map_pmf(law, of$transform))
  )
}

#' @rdname as_pmf
#' @importFrom stats density
#' @export
density.pmf <- function(x, at, log = FALSE, ...) {
  check_method(x, "x", ...)
  require_arguments("at")
  dpmf(x, at, log)
}

#' @rdname as_pmf
#' @rawNamespace S3method(distributional::cdf, pmf)
cdf.pmf <- function(x, q, ...) {
  check_method(x, "x", ...)
  require_arguments("q")
  ppmf(x, q)
}

#' @rdname as_pmf
#' @method generate pmf
#' @exportS3Method generics::generate pmf
generate.pmf <- function(x, times, seed = NULL, ...) {
  check_method(x, "x", ...)
  require_arguments("times")
  rpmf(x, times, seed)
}

#' @rdname as_pmf
#' @rawNamespace S3method(distributional::support, pmf)
support.pmf <- function(x, ...) {
  check_method(x, "x", ...)
  as.data.frame(x)$value[is_possible(x)]
}

#' @rdname as_pmf
#' @rawNamespace S3method(distributional::skewness, pmf)
skewness.pmf <- function(x, ...) {
  check_method(x, "x", ...)
  summary(x)$skewness
}

#' @rdname as_pmf
#' @rawNamespace S3method(distributional::kurtosis, pmf)
kurtosis.pmf <- function(x, ...) {
  check_method(x, "x", ...)
  summary(x)$kurtosis
}

# Methods for generics of packages that this package does not call.
at_load(function() {
  add <- function(package, generic, class, method) {
    when_loaded(package, function(namespace) {
      if (exists(generic, namespace, inherits = FALSE)) registerS3method(generic, class, method, envir = namespace)
    })
  }
  add("distributional", "log_cdf", "pmf", function(x, q, ...) ppmf(x, q, log.p = TRUE))
  add("pillar", "obj_sum", "pmf", function(x) format(x))
  add("vctrs", "vec_proxy", "pmf_list", function(x, ...) unclass(x))
  add("vctrs", "vec_restore", "pmf_list", function(x, to, ...) structure(x, class = class(to)))
  add("vctrs", "vec_ptype_abbr", "pmf_list", function(x, ...) "pmf")
  add("pillar", "pillar_shaft", "pmf_list", function(x, ...) {
    pillar::new_pillar_shaft_simple(vapply(x, format, ""), align = "left")
  })
})
