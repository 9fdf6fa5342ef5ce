# Dirichlet and Pitman-Yor processes: urns that also draw new values from a base measure. Their limit is drawn at once.

is_urn <- function(model) {
  model$kind %in% c("bayesian_bootstrap", "pitman_yor")
}

#' Urns with a base measure
#'
#' Models for [predictive_resample()] that predict that the next observation is one of those before or a new value.
#' `dirichlet_process()` is the rule of the Dirichlet process, and `pitman_yor()` that of the Pitman-Yor process.
#'
#' After n observations with k distinct values, the next one is a new value with probability
#' \eqn{(\theta + \sigma k)/(\theta + n)}, where \eqn{\theta} is the concentration and \eqn{\sigma} the discount. It is
#' the value j, seen \eqn{n_j} times, with probability \eqn{(n_j - \sigma)/(\theta + n)}. New values come from the base
#' measure. As the concentration and the discount go to 0, this is the [bayesian_bootstrap()].
#'
#' The limit of the urn is known (Pitman 1996) and is drawn at once. The values seen and all new ones together have
#' Dirichlet masses, and the mass of the new ones is broken into sticks. There are as many sticks as leave a
#' thousandth of the new values' mass to the last of them on average, and at most 2,000.
#'
#' @param concentration the concentration \eqn{\theta}, above 0.
#' @param discount the discount \eqn{\sigma}, at least 0 and below 1.
#' @param base the base measure: its quantile function, such as `function(p) qnorm(p, 30, 15)`. It is called with a
#'   vector of probabilities.
#' @return A list of class `predictive_model`. The data of [predictive_resample()] are then a numeric vector, the
#'   horizon is infinite, and a function as `functional` is called with the values and their weights.
#' @references
#' Pitman, J. (1996). Some developments of the Blackwell-MacQueen urn scheme. *Statistics, Probability and Game Theory*,
#' IMS Lecture Notes 30, 245-267.
#' @seealso [predictive_resample()], [predictive_models]
#' @examples
#' base <- function(p) qnorm(p, 30, 15)
#' fit <- predictive_resample(precip, dirichlet_process(5, base),
#'   functional = c("mean", "median"), draws = 200, seed = 1, threads = 2
#' )
#' summary(fit)
#' @name pitman_yor
NULL

#' @rdname pitman_yor
#' @export
dirichlet_process <- function(concentration, base) {
  check_present(!missing(concentration), "concentration")
  check_present(!missing(base), "base")
  new_urn(check_number(concentration, "concentration", min = 0, max = 1e8), 0, base)
}

#' @rdname pitman_yor
#' @export
pitman_yor <- function(concentration, discount, base) {
  check_present(!missing(concentration), "concentration")
  check_present(!missing(discount), "discount")
  check_present(!missing(base), "base")
  concentration <- check_number(concentration, "concentration", min = 0, max = 1e8)
  if (!is.numeric(discount) || length(discount) != 1L || !isTRUE(discount >= 0 && discount < 1)) {
    stop_input("discount", "must be one number of at least 0 and below 1, not ", show_value(discount))
  }
  new_urn(concentration, as.double(discount), base)
}

new_urn <- function(concentration, discount, base, call = sys.call(-1L)) {
  if (!is.function(base)) {
    stop_input("base", "must be a quantile function, not ", show_value(base), call = call)
  }
  base_values(base, c(0.25, 0.75), call)
  new_predictive_model("pitman_yor", list(concentration = concentration, discount = discount, base = base))
}

base_values <- function(base, u, call) {
  value <- tryCatch(base(u), error = function(error) {
    stop_input("base", "failed: ", conditionMessage(error), call = call)
  })
  if (!is.numeric(value) || length(value) != length(u) || !all(is.finite(value))) {
    stop_input("base", sprintf("must return a finite number for each of %d probabilities, not ", length(u)),
      show_value(value), call = call)
  }
  as.double(value)
}

start_urn <- function(fit, y, call) {
  y <- check_numeric_vector(y, "y", call = call)
  model <- fit$model
  fit$n <- length(y)
  fit$y <- sort(unique(y))
  check_bootstrap_functional(fit, call)
  fit$start <- list(shape = tabulate(match(y, fit$y)) - model$discount,
    rest = model$concentration + model$discount * length(fit$y))
  fit$start$sticks <- sticks_for(fit$start$rest, model$discount)
  fit
}

# The least number of sticks that leave a thousandth on average. Stick i leaves (rest + i discount)/(rest + 1 +
# (i - 1) discount) of what there is.
sticks_for <- function(rest, discount, most = 2000L) {
  i <- seq_len(most)
  left <- cumsum(log((rest + i * discount) / (rest + 1 + (i - 1) * discount)))
  min(most, match(TRUE, left <= log(0.001), nomatch = most) + 1L)
}

urn_draws <- function(fit, first, count) {
  .Call(C_predictive_urn, fit$start$shape, fit$start$rest, fit$model$discount, fit$start$sticks, first, count, fit$seed)
}

urn_quantities <- function(fit, run, progress, call) {
  all <- list()
  size <- length(fit$y) + fit$start$sticks
  outcome <- in_slices(fit$count, 2e5 / size, progress, function(done, count) {
    drawn <- urn_draws(fit, done, count)
    all[[length(all) + 1L]] <<- each_resample(done + seq_len(count), call, function(r) {
      values <- c(fit$y, base_values(fit$model$base, drawn$uniform[, r - done], call))
      weighted_functional(list(y = values, functional = fit$functional), call)(drawn$weight[, r - done])
    })
  })
  if (length(all) == 0L) {
    stop_warpbayes("input", "interrupted before the first resamples were complete", call = call)
  }
  list(draws = bind_quantities(all, call), interrupted = outcome$interrupted)
}

simulate_urn <- function(fit, r) {
  drawn <- urn_draws(fit, r - 1, 1)
  values <- c(fit$y, base_values(fit$model$base, drop(drawn$uniform), NULL))
  values[sample.int(length(values), fit$n, TRUE, drop(drawn$weight))]
}
