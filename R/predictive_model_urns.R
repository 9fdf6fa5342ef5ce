#' Urns as predictive models
#'
#' Models for [predictive_resample()]: the next observation repeats an earlier one or is a new value.
#' `bayesian_bootstrap()` only repeats, which gives the data uniform Dirichlet weights (Rubin 1981). `gnedin()` has
#' finitely many types.
#'
#' @section Dirichlet and Pitman-Yor processes:
#' After n observations with k distinct values, the next one is a new value with probability \eqn{(\theta + \sigma
#' k)/(\theta + n)}, and the value j, seen \eqn{n_j} times, with probability \eqn{(n_j - \sigma)/(\theta + n)}.
#' Resamples draw from the limit (Pitman 1996), with at most 2,000 new values.
#'
#' @section Gnedin's urn:
#' The next observation is a new value with probability \eqn{k(k - \gamma)/(n(n + \gamma))}, and the value j with
#' probability \eqn{(n_j + 1)(n - k + \gamma)/(n(n + \gamma))}. The number of types K is finite; `functional =
#' function(y, weights) length(y)` gives its posterior. If nearly all data are distinct, take `pitman_yor()`.
#'
#' @param concentration the concentration \eqn{\theta}, above 0.
#' @param discount the discount \eqn{\sigma}, at least 0 and below 1; 0 is a Dirichlet process.
#' @param gamma Gnedin's \eqn{\gamma}, strictly between 0 and 1. A larger one gives fewer types.
#' @param base the base measure: its quantile function, such as `function(p) qnorm(p, 30, 15)`.
#' @return A list of class `predictive_model`. With a base measure the data are a numeric vector.
#' @references
#' Rubin, D. B. (1981). The Bayesian bootstrap. *The Annals of Statistics* 9, 130-134. \doi{10.1214/aos/1176345338}
#'
#' Gnedin, A. (2010). A species sampling model with finitely many types. *Electronic Communications in Probability* 15,
#' 79-88. \doi{10.1214/ECP.v15-1532}
#'
#' Pitman, J. (1996). Some developments of the Blackwell-MacQueen urn scheme. *Statistics, Probability and Game Theory*,
#' IMS Lecture Notes 30, 245-267.
#' @examples
#' fit <- predictive_resample(precip, pitman_yor(5, base = function(p) qnorm(p, 30, 15)),
#'   functional = "mean", draws = 200, seed = 1, threads = 2)
#' summary(fit)
#' @name pitman_yor
NULL

#' @rdname pitman_yor
#' @export
bayesian_bootstrap <- function() new_predictive_model("bayesian_bootstrap")

#' @rdname pitman_yor
#' @export
pitman_yor <- function(concentration, discount = 0, base) {
  concentration <- check_number(concentration, "concentration", min = 0, max = 1e8)
  must_be(is_one_number(discount) && discount >= 0 && discount < 1, "discount",
    "one number of at least 0 and below 1", discount)
  new_predictive_model("pitman_yor", concentration = concentration, discount = as.double(discount),
    base = check_base(base))
}

#' @rdname pitman_yor
#' @export
gnedin <- function(gamma, base) {
  new_predictive_model("gnedin", gamma = check_number(gamma, "gamma", min = 0, max = 1), base = check_base(base))
}

check_base <- function(base) {
  check_present(!missing(base), "base")
  must_be(is.function(base), "base", "a quantile function", base)
  base_values(base, c(0.25, 0.75))
  base
}

base_values <- function(base, u) {
  value <- tryCatch(base(u), error = function(error) stop_input("base", "failed: ", because = error))
  if (!is.numeric(value) || length(value) != length(u) || !all(is.finite(value))) {
    stop_input("base", sprintf("must return a finite number for each of %d probabilities, not ", length(u)),
      show_value(value))
  }
  as.double(value)
}

urn_kind <- list(
  cost = function(model, y, draws, steps) call_cost(), arguments = "weights", leading = 1L, types = NULL,
  advance = function(fit, steps, run, progress) with_parts(fit, horizon = fit$horizon + steps),
  left = function(fit) function(horizon) 0, reasons = list(values_checks)
)

add_kind("bayesian_bootstrap", function() with_parts(urn_kind,
  words = function(model) "Bayesian bootstrap (Polya's urn)", limit = "may", name = "the Bayesian bootstrap",
  has_prior = FALSE, no_prediction = "is a Bayesian bootstrap, which predicts nothing but the data again",
  start = start_bootstrap, quantities = bootstrap_quantities, simulate = simulate_bootstrap,
  left = function(fit) function(horizon) if (is.infinite(horizon)) 0 else fit$n / (fit$n + horizon),
  reasons = list(few_values_reason, values_checks)
))

base_kind <- function(...) {
  with_parts(urn_kind, limit = "always", name = "urns", has_prior = TRUE,
    no_prediction = "is the limit of an urn: simulate() draws what it predicts", quantities = urn_quantities,
    start = function(fit, y, run) {
      check_result_size(fit$count, "draws", "resamples", copies = 12)
      y <- check_numeric_vector(y)
      values <- sort(unique(y))
      check_weighted_functional(values, fit$functional)
      with_parts(fit, n = length(y), y = values, start = record(fit)$limits(fit$model, tabulate(match(y, values))))
    },
    simulate = function(fit, r) {
      population <- urn_population(fit, record(fit)$draw(fit, r - 1, 1), 1L)
      population$values[sample.int(length(population$values), fit$n, TRUE, population$weight)]
    }, ...)
}

add_kind("pitman_yor", function() base_kind(
  words = function(model) {
    paste0(if (model$discount == 0) "Dirichlet process" else "Pitman-Yor process", ", concentration ",
      four_digits(model$concentration), if (model$discount > 0) paste(", discount", four_digits(model$discount)))
  },
  limits = function(model, counts) {
    rest <- model$concentration + model$discount * length(counts)
    list(shape = counts - model$discount, rest = rest, sticks = sticks_for(rest, model$discount))
  },
  draw = function(fit, first, count) {
    .Call(C_predictive_urn, fit$start$shape, fit$start$rest, fit$model$discount, fit$start$sticks, first, count,
      fit$seed)
  }
))

add_kind("gnedin", function() base_kind(
  words = function(model) paste("Gnedin's urn, gamma", four_digits(model$gamma)),
  limits = function(model, counts) list(shape = counts + 1, sticks = 2000L),
  draw = function(fit, first, count) {
    .Call(C_predictive_gnedin, fit$start$shape, fit$n, fit$model$gamma, fit$start$sticks, first, count, fit$seed)
  }
))

start_bootstrap <- function(fit, y, run) {
  check_result_size(fit$count, "draws", "resamples", copies = 12)
  if (is.data.frame(y)) check_cells(y) else y <- if (is.matrix(y)) check_coordinates(y) else check_numeric_vector(y)
  if (NROW(y) < 1) stop_input("y", "has no rows")
  check_weighted_functional(y, fit$functional)
  with_parts(fit, n = NROW(y), y = y)
}

check_cells <- function(y) {
  bad <- vapply(y, function(one) match(TRUE, is.na(one) | if (is.numeric(one)) is.infinite(one) else FALSE), 0L)
  j <- match(FALSE, is.na(bad))
  if (!is.na(j)) {
    stop_input("y", sprintf("has a missing or infinite value in row %d, column %s", bad[[j]], column_labels(y)[[j]]))
  }
}

# The least sticks that leave a thousandth on average. Stick i leaves (rest + i discount)/(rest + 1 + (i - 1) discount).
sticks_for <- function(rest, discount, most = 2000L) {
  i <- seq_len(most)
  left <- cumsum(log((rest + i * discount) / (rest + 1 + (i - 1) * discount)))
  min(most, match(TRUE, left <= log(0.001), nomatch = most) + 1L)
}

# The values and weights of one of the resamples that were drawn. Gnedin's urn may have fewer new values than sticks.
urn_population <- function(fit, drawn, r) {
  new <- if (is.null(drawn$unseen)) fit$start$sticks else min(drawn$unseen[[r]], fit$start$sticks)
  at <- drawn$uniform[seq_len(new), r]
  list(values = c(fit$y, if (new > 0) base_values(fit$model$base, at)),
    weight = drawn$weight[seq_len(length(fit$y) + new), r])
}

drawn_quantities <- function(fit, unit, progress, draw) {
  all <- list()
  keep <- function(found) all[[length(all) + 1L]] <<- found
  outcome <- in_slices(fit$count, unit, progress, function(done, count) {
    keep(each_resample(done + seq_len(count), draw(done, count), keep))
  })
  if (length(all) == 0L) stop_warpbayes("input", "interrupted before the first resamples were complete")
  draws <- bind_quantities(all)
  c(list(draws = draws, asked = fit$count, count = nrow(draws)), outcome)
}

# The weights of resamples, observations x resamples.
bootstrap_weights <- function(fit, first, count, run) {
  if (fit$horizon == 0) return(matrix(1 / fit$n, fit$n, count))
  steps <- if (is.infinite(fit$horizon)) 0 else fit$horizon
  native(C_predictive_bootstrap, fit$n, first, count, steps, fit$seed, run)
}

urn_quantities <- function(fit, run, progress) {
  capped <- 0
  draw <- function(done, count) {
    drawn <- record(fit)$draw(fit, done, count)
    capped <<- capped + sum(drawn$unseen > fit$start$sticks)
    function(r) {
      population <- urn_population(fit, drawn, r - done)
      weighted_functional(population$values, fit$functional)(population$weight)
    }
  }
  c(drawn_quantities(fit, 2e5 / (length(fit$y) + fit$start$sticks), progress, draw), list(capped = capped))
}

bootstrap_quantities <- function(fit, run, progress) {
  compute <- weighted_functional(fit$y, fit$functional)
  steps <- if (is.infinite(fit$horizon)) 0 else fit$horizon
  drawn_quantities(fit, 1e6 / (fit$n + steps), progress, function(done, count) {
    weight <- bootstrap_weights(fit, done, count, run)
    function(r) compute(weight[, r - done])
  })
}

simulate_bootstrap <- function(fit, r) {
  weight <- if (fit$horizon > 0) drop(bootstrap_weights(fit, r - 1, 1, resolve_run(fit$backend, fit$threads)))
  rows <- sample.int(fit$n, fit$n, TRUE, weight)
  if (is.null(dim(fit$y))) fit$y[rows] else fit$y[rows, , drop = FALSE]
}
