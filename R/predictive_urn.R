# Dirichlet and Pitman-Yor processes and Gnedin's urn, which also draw new values from a base measure. Their limits are
# drawn at once.

is_urn <- function(model) {
  model$kind == "bayesian_bootstrap" || has_base(model)
}

has_base <- function(model) {
  model$kind %in% c("pitman_yor", "gnedin")
}

#' Urns with a base measure
#'
#' Models for [predictive_resample()]: the next observation repeats an earlier one or is a new value.
#' `dirichlet_process()` and `pitman_yor()` are the rules of these processes, and `gnedin()` is the rule of a population
#' with finitely many types.
#'
#' After n observations with k distinct values, the next one is a new value with probability
#' \eqn{(\theta + \sigma k)/(\theta + n)}, where \eqn{\theta} is the concentration and \eqn{\sigma} the discount. It is
#' the value j, seen \eqn{n_j} times, with probability \eqn{(n_j - \sigma)/(\theta + n)}. New values come from the base
#' measure. As the concentration and the discount go to 0, this is the [bayesian_bootstrap()].
#'
#' The limit of this urn is known (Pitman 1996) and is drawn at once. The values seen and all new ones together have
#' Dirichlet masses, and the mass of the new ones is broken into sticks. There are as many sticks as leave a
#' thousandth of the new values' mass to the last of them on average, and at most 2,000.
#'
#' @section Gnedin's urn:
#' With `gnedin()` the next observation is a new value with probability
#' \eqn{k(k - \gamma)/(n(n + \gamma))}, and the value j with probability
#' \eqn{(n_j + 1)(n - k + \gamma)/(n(n + \gamma))}. New values stop to appear: the number of types K is finite. Before
#' any data it is \eqn{\kappa} with probability \eqn{\gamma (1 - \gamma) \cdots (\kappa - 1 - \gamma)/\kappa!}, and its
#' mean is infinite. A larger \eqn{\gamma} gives fewer types.
#'
#' Each resample draws K from its law given the data. Then the masses of the K types are drawn: they are Dirichlet, with
#' \eqn{n_j + 1} for a value seen and 1 for a new one. A function as `functional` is called with K values, so that
#' `function(y, weights) length(y)` gives the posterior of the number of types. At most 2,000 new values are drawn. If K
#' asks for more, each of the 2,000 stands for equally many types, and together they have the mass of all. That happens
#' if nearly all data are distinct, which speaks for infinitely many types: then take `pitman_yor()`.
#'
#' @param concentration the concentration \eqn{\theta}, above 0.
#' @param discount the discount \eqn{\sigma}, at least 0 and below 1.
#' @param gamma Gnedin's \eqn{\gamma}, strictly between 0 and 1.
#' @param base the base measure: its quantile function, such as `function(p) qnorm(p, 30, 15)`. It is called with a
#'   vector of probabilities.
#' @return A list of class `predictive_model`. The data of [predictive_resample()] are then a numeric vector, the
#'   horizon is infinite, and a function as `functional` is called with the values and their weights.
#' @references
#' Gnedin, A. (2010). A species sampling model with finitely many types. *Electronic Communications in Probability* 15,
#' 79-88. \doi{10.1214/ECP.v15-1532}
#'
#' Pitman, J. (1996). Some developments of the Blackwell-MacQueen urn scheme. *Statistics, Probability and Game Theory*,
#' IMS Lecture Notes 30, 245-267.
#' @seealso [predictive_resample()], [predictive_models]
#' @examples
#' base <- function(p) qnorm(p, 30, 15)
#' fit <- predictive_resample(precip, dirichlet_process(5, base),
#'   functional = c("mean", "median"), draws = 200, seed = 1, threads = 2
#' )
#' summary(fit)
#'
#' # How many types are there, after 10 observations of 4 types?
#' types <- predictive_resample(c(1, 1, 1, 1, 2, 2, 2, 3, 3, 4), gnedin(0.5, qnorm),
#'   functional = function(y, weights) c(types = length(y)), draws = 200, seed = 1, threads = 2
#' )
#' quantile(types)
#' @name pitman_yor
NULL

#' @rdname pitman_yor
#' @export
dirichlet_process <- function(concentration, base) {
  check_present(!missing(concentration), "concentration")
  check_present(!missing(base), "base")
  concentration <- check_number(concentration, "concentration", min = 0, max = 1e8)
  new_urn("pitman_yor", list(concentration = concentration, discount = 0), base)
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
  new_urn("pitman_yor", list(concentration = concentration, discount = as.double(discount)), base)
}

#' @rdname pitman_yor
#' @export
gnedin <- function(gamma, base) {
  check_present(!missing(gamma), "gamma")
  check_present(!missing(base), "base")
  if (!is.numeric(gamma) || length(gamma) != 1L || !isTRUE(gamma > 0 && gamma < 1)) {
    stop_input("gamma", "must be one number strictly between 0 and 1, not ", show_value(gamma))
  }
  new_urn("gnedin", list(gamma = as.double(gamma)), base)
}

new_urn <- function(kind, fields, base) {
  if (!is.function(base)) stop_input("base", "must be a quantile function, not ", show_value(base))
  base_values(base, c(0.25, 0.75))
  new_predictive_model(kind, c(fields, base = base))
}

base_values <- function(base, u) {
  value <- tryCatch(base(u), error = function(error) {
    stop_input("base", "failed: ", because = error)
  })
  if (!is.numeric(value) || length(value) != length(u) || !all(is.finite(value))) {
    stop_input("base", sprintf("must return a finite number for each of %d probabilities, not ", length(u)),
      show_value(value))
  }
  as.double(value)
}

start_urn <- function(fit, y) {
  y <- check_numeric_vector(y, "y")
  model <- fit$model
  fit$n <- length(y)
  fit$y <- sort(unique(y))
  check_bootstrap_functional(fit)
  counts <- tabulate(match(y, fit$y))
  if (model$kind == "gnedin") {
    fit$start <- list(shape = counts + 1, sticks = 2000L)
    return(fit)
  }
  fit$start <- list(shape = counts - model$discount,
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
  if (fit$model$kind == "gnedin") {
    return(.Call(C_predictive_gnedin, fit$start$shape, fit$n, fit$model$gamma, fit$start$sticks, first, count,
      fit$seed))
  }
  .Call(C_predictive_urn, fit$start$shape, fit$start$rest, fit$model$discount, fit$start$sticks, first, count, fit$seed)
}

# The values and weights of one of the resamples that were drawn. Gnedin's urn may have fewer new values than sticks.
urn_population <- function(fit, drawn, r) {
  new <- if (is.null(drawn$unseen)) fit$start$sticks else min(drawn$unseen[[r]], fit$start$sticks)
  at <- drawn$uniform[seq_len(new), r]
  list(values = c(fit$y, if (new > 0) base_values(fit$model$base, at)),
    weight = drawn$weight[seq_len(length(fit$y) + new), r])
}

urn_quantities <- function(fit, run, progress) {
  all <- list()
  capped <- 0
  size <- length(fit$y) + fit$start$sticks
  outcome <- in_slices(fit$count, 2e5 / size, progress, function(done, count) {
    drawn <- urn_draws(fit, done, count)
    capped <<- capped + sum(drawn$unseen > fit$start$sticks)
    keep <- function(found) all[[length(all) + 1L]] <<- found
    keep(each_resample(done + seq_len(count), function(r) {
      population <- urn_population(fit, drawn, r - done)
      weighted_functional(list(y = population$values, functional = fit$functional))(population$weight)
    }, keep))
  })
  if (length(all) == 0L) stop_warpbayes("input", "interrupted before the first resamples were complete")
  list(draws = bind_quantities(all), interrupted = outcome$interrupted, failure = outcome$failure, capped = capped)
}

simulate_urn <- function(fit, r) {
  population <- urn_population(fit, urn_draws(fit, r - 1, 1), 1L)
  population$values[sample.int(length(population$values), fit$n, TRUE, population$weight)]
}
