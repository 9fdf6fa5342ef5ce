# Models whose predictions are resampled: lists of class "predictive_model".

new_predictive_model <- function(kind, fields = list()) {
  structure(c(list(kind = kind), fields), class = c(kind, "predictive_model", "warpbayes"))
}

#' Models for predictive resampling
#'
#' The models that [predictive_resample()] resamples from. Each predicts the next observation from those before.
#'
#' @section Normal mean:
#' `normal_mean()` is the conjugate model of independent normal observations.
#' \itemize{
#'   \item By default the mean and the variance are unknown. The prior is normal-inverse-gamma,
#'     `c(mean = 0, weight = 0, shape = -0.5, rate = 0)`: the variance s2 is inverse gamma with that shape and rate,
#'     and given s2 the mean is normal with variance s2/weight. The default is the reference prior 1/s2. The next
#'     observation is then Student's t with n - 1 degrees of freedom, and the interval of the mean is the t interval.
#'   \item With a known `variance` the mean has a normal prior, `c(mean = 0, variance = Inf)`. The default is flat, and
#'     the interval of the mean is the z interval. The next observation is normal about the mean so far.
#' }
#' Neither default depends on units. `summary()` says if the data disagree with a variance or a prior mean that you
#' give.
#'
#' @section Copulas:
#' The copula models predict nonparametrically. The prediction starts from a standard normal distribution of the
#' standardised data. Each observation i is mixed in with the weight \eqn{\alpha_i = (2 - 1/i)/(i + 1)}, through a
#' Gaussian copula of correlation `rho`. A larger `rho` is a smaller bandwidth.
#' \itemize{
#'   \item `copula_density()` updates several coordinates one after the other, each given those before it.
#'   \item `copula_regression()` predicts the response given covariates. Observations with close covariates weigh
#'     more, through copulas of correlation `rho_x`.
#'   \item `copula_classification()` does the same for a response with two classes.
#' }
#' The result depends on the order of the data. It is averaged over `permutations` random orders (0: as given).
#'
#' @section Calibration:
#' With the published settings the posterior of a mean is about 2 `rho` times as wide as s/sqrt(n). Data that look
#' normal or uniform choose the smallest `rho`, and the posterior is then almost a point. Therefore `copula_density()`
#' of one variable is calibrated:
#' \itemize{
#'   \item `rho` is chosen within \[0.7, 0.95\].
#'   \item The weights of the drawn observations are at most c/(i + 1), with c such that the steps give the mean 1.1
#'     times the deviation s/sqrt(n). Without the tenth, intervals of the median are too narrow.
#'   \item Their copulas have a correlation with which the steps give densities the variance of the prediction's error.
#'   \item Each resample starts from the prediction with another location and scale. They are centred at the mean and
#'     the standard deviation of the data, and have the variance that the steps do not give: up to s^2/(n - 1) for the
#'     mean, and for the standard deviation 1.35 times what the kurtosis of the data says.
#' }
#' In 500 data sets of n = 15, 50 and 200 from each of eight laws (`bench/predictive-coverage.R`), 90% intervals of the
#' median covered 87 to 97%, and those of the 5% and 95% quantiles 81 to 100%, except the 95% quantile of 15 or 50
#' normal values of which one is replaced by 1000: 65 and 75%. `summary()` names quantiles that such values may decide.
#' Intervals of the mean and the standard deviation covered 85 to 98% for normal, gamma and two-mode data and for data
#' with zeros. If tails are heavy, `summary()` mostly says that the data do not support them. Where it does not, they
#' cover less: the standard deviation of a t law with 3 degrees of freedom 61 to 79%, of lognormal data below 45%, and
#' the mean of lognormal data 55 to 66%.
#'
#' Regressions and classifications have a mean function instead: see below. Without one they choose the `rho` of the
#' response within \[0.7, 0.999\], and are otherwise as published. `calibrate = FALSE` takes the published settings.
#'
#' Densities of two and three variables are calibrated in the same way, with `rho` within \[0.5, 0.95\], on axes without
#' correlation if that raises the prequential score. 90% intervals of densities of normal and gamma data covered 76 to
#' 98% (n = 25 and 60, 60 sets, `bench/predictive-several.R`) and 70 to 93% (n = 200, 40 sets), least at the mode, where
#' the prediction is too low. If data fall into two groups along a direction, this is the first axis, with the scale of
#' two groups (see below), and densities covered 62 to 95%. `summary()` says if the prediction fills the space between,
#' and names points where far more or fewer data are predicted than lie there. More variables are as published.
#'
#' @section Scale and point masses:
#' `copula_density()` of one variable predicts on a scale where its data look more like a normal law. The candidates are
#' the data's own scale, one that shortens the empty space before far outliers, asinh((y - centre)/width), which is
#' straight about the centre and logarithmic in the tails, and for data in two groups the normal quantile of the
#' distribution function of two normal laws. Each resample has two such laws of its own, by a Bayesian bootstrap. The
#' one with the best prequential score is taken, if it wins by two units of log likelihood; `scale = "data"` takes the
#' data's own. With `support` the data are first mapped to the line: between two bounds by a logit, and with one by a
#' log of the distance y from it, or by log(exp(y/s) - 1), which is straight beyond s, if the prequential score is
#' better. Densities, quantiles and all other quantities are in the units of the data.
#'
#' In 100 or more sets (`bench/predictive-groups.R`) 90% intervals of the density in and between two groups covered
#' 84 to 91% if their means are 5.7 deviations apart (n = 25 to 200). At 4 deviations they covered 70 to 79% (n = 60)
#' and 36 to 57% (n = 25), and at 3 deviations 26 to 76% (n = 60): the scale of groups is seldom taken there, and
#' without it copulas fill the space between. Those of quantities covered 78 to 98%. Without groups, densities at three
#' points covered 83 to 95% for normal and gamma data and 78% for uniform data (100 sets, n = 60).
#'
#' A value that is far more frequent than others, such as 0 in amounts, is a point mass. So is a value on a bound of
#' `support`. Its probability has the law of Polya's urn, a beta distribution, and the density is that of the other
#' values. `summary()` says what scale and which point masses were found.
#'
#' @section Mean functions:
#' Copulas smooth over the covariates. Therefore a mean function lies beneath those of `copula_regression()`, and log
#' odds beneath those of `copula_classification()`. The copulas predict what it leaves.
#' \itemize{
#'   \item `mean = "auto"` fits straight lines and natural cubic splines of each covariate with 4, 6, 9 and 13 knots, by
#'     least squares or logistic regression. It takes the one with the best penalised likelihood, and of a regression's
#'     splines the next larger one, whose bias is small beside its deviation. It takes none if the prequential score is
#'     better without a mean function. Lines need 5 observations for each slope (classes: 1 of the rarer class), and
#'     splines 5 of either. `"linear"`, `"smooth"`, `"none"` or a formula, such as `~ poly(x, 2)`, fix it.
#'   \item Each resample has slopes of its own. Those of a regression are from a Bayesian bootstrap, for errors of any
#'     variance. Those of a classification are nearly normal, with a weak normal prior that keeps them finite.
#'   \item The steps of a regression then move the level, so that with the slopes its deviation is 1.1 s/sqrt(n), as in
#'     a calibrated density. If errors differ in variance, part of this comes with the slopes. The copulas of a
#'     classification may be switched off by a `rho` near 0.
#' }
#' 90% intervals of the probability of a class covered 83 to 95% at five points (`bench/predictive-regression.R`), and
#' those of a mean 82 to 91% for a parabola and a peak and 76 to 96% for a line with errors that grow. Jumps are
#' smoothed: beside one they covered 54 and 57%. `summary()` says if one would raise the penalised likelihood by a unit
#' or more, if the best curve has the most knots, what lies beneath the copulas, and by how much the score is lower
#' without it. With `calibrate = FALSE` or `standardize = FALSE`, `"auto"` is `"none"`.
#'
#' @section Bayesian bootstrap:
#' `bayesian_bootstrap()` predicts that the next observation repeats an earlier one, each equally likely (Polya's urn).
#' Its limit is known: weights from a uniform Dirichlet distribution. With the horizon `Inf` they are drawn at once.
#'
#' @param variance the variance of an observation; `NULL`: it is unknown, and estimated from the data.
#' @param prior a named numeric vector: see the section on the normal mean. Entries that are not named keep their
#'   defaults.
#' @param rho the correlation of the copula, strictly between 0 and 1: one number, or one for each coordinate of the
#'   response. `NULL` chooses the correlation with the largest prequential log score within \[0.001, 0.999\], by a
#'   quasi-Newton method. Calibrated models choose it within narrower bounds.
#' @param rho_x the same for the covariates: one number, or one for each covariate or each of their columns.
#' @param bandwidths if correlations are chosen: `"one"` for all coordinates, or one for `"each"`. For regressions
#'   this concerns `rho_x`, and the columns of a factor share one.
#' @param points where distributions are evaluated, in the data's units. For `copula_density()` a vector, or a matrix
#'   with a row for each point and the data's columns. `NULL` takes 200 values that cover the data with a margin of one
#'   standard deviation or, if the data have several columns, the rows of the data. For regression and classification a
#'   data frame with the covariates; `NULL` takes the covariates of the data.
#' @param at values of the response, in its units, where the distribution given each row of `points` is evaluated.
#'   `NULL` takes 50 values that cover the data with a margin of one standard deviation.
#' @param support ends of the values that are possible, for one variable, such as `c(0, Inf)` for amounts and `c(0, 1)`
#'   for shares. `summary()` proposes them if all data are within and more than 1% of the prediction is not.
#' @param scale `"auto"` chooses the scale of one variable: see the section on scales. `"data"` keeps the data's scale.
#'   With `calibrate = FALSE` it is always kept.
#' @param standardize whether to subtract the means and to divide columns by their standard deviations (with divisor
#'   n) first. Without this, the data should look like draws from a standard normal distribution.
#' @param calibrate whether to give posteriors the width that the data ask for: see the section on calibration.
#'   `FALSE` chooses `rho` and resamples as published.
#' @param mean the mean function beneath the copulas: see the section on mean functions.
#' @param method `"conditional"` models the response given the covariates, `"joint"` both: see [joint_regression].
#' @param permutations number of random orders; 0 for the order as given.
#' @param formula response and covariates, as for [stats::lm()]. Covariates of different kinds can be mixed. A factor
#'   (or a character vector) has an indicator column for each level, so that the order of its levels does not matter; a
#'   factor with two levels has one. The levels of an ordered factor are numbered, and it is one column.
#' @return A list of class `predictive_model`.
#' @references
#' Fong, E., Holmes, C. and Walker, S. G. (2023). Martingale posterior distributions. *Journal of the Royal Statistical
#' Society B* 85, 1357-1391. \doi{10.1093/jrsssb/qkad005}
#'
#' Bonett, D. G. (2006). Approximate confidence interval for standard deviation of nonnormal distributions.
#' *Computational Statistics & Data Analysis* 50, 775-782. \doi{10.1016/j.csda.2004.10.003}
#'
#' Rubin, D. B. (1981). The Bayesian bootstrap. *The Annals of Statistics* 9, 130-134. \doi{10.1214/aos/1176345338}
#' @seealso [predictive_resample()]; [dirichlet_process()], [pitman_yor()] and [gnedin()] for urns with a base measure
#' @examples
#' normal_mean()
#' normal_mean(variance = 4, prior = c(mean = 10, variance = 100))
#' copula_density(rho = 0.9)
#' copula_regression(dist ~ speed)
#' @name predictive_models
NULL

#' @rdname predictive_models
#' @export
normal_mean <- function(variance = NULL, prior = NULL) {
  if (is.null(variance)) {
    if ("variance" %in% names(prior)) {
      stop_input("prior", "has the entry \"variance\", the variance of the prior of the mean, which needs a known ",
        "`variance` of an observation; if that is unknown, `weight` says how many observations the prior mean counts")
    }
    prior <- check_prior(prior, c(mean = 0, weight = 0, shape = -0.5, rate = 0), "weight", 0)
    if (prior[["weight"]] < 0 || prior[["rate"]] < 0 || prior[["shape"]] < -0.5) {
      stop_input("prior", "must have a weight and a rate of at least 0 and a shape of at least -0.5")
    }
  } else {
    variance <- check_number(variance, "variance", min = 0)
    prior <- check_prior(prior, c(mean = 0, variance = Inf), "variance", Inf)
    if (prior[["variance"]] <= 0) {
      stop_input("prior", "must have a positive variance, not ", show_value(prior[["variance"]]))
    }
  }
  new_predictive_model("normal_mean", list(variance = variance, prior = prior))
}

# A prior from a named vector. Entries that are not named keep their defaults. Without `strength` other than `none` the
# prior mean counts nothing.
check_prior <- function(prior, default, strength, none) {
  if (is.null(prior)) return(default)
  named <- is.numeric(prior) && length(prior) > 0L && !is.null(names(prior)) && !anyDuplicated(names(prior)) &&
    all(names(prior) %in% names(default))
  if (!named) {
    stop_input("prior", "must be a numeric vector with names among ",
      paste(dQuote(names(default), FALSE), collapse = ", "), ", not ", show_value(prior))
  }
  # A prior of infinite weight would leave nothing to learn. One of infinite variance is flat.
  bad <- !is.finite(prior) & !(names(prior) == "variance" & prior %in% Inf)
  if (any(bad)) stop_input("prior", "must be finite; `", names(prior)[bad][[1L]], "` is not")
  default[names(prior)] <- as.double(prior)
  if (default[["mean"]] != 0 && default[[strength]] == none) {
    stop_input("prior", "has a mean, which counts nothing with the ", strength, " ", format(none), ": give the ",
      strength, ", too")
  }
  default
}

#' @rdname predictive_models
#' @export
copula_density <- function(rho = NULL, points = NULL, standardize = TRUE, permutations = 10,
                           bandwidths = c("one", "each"), calibrate = TRUE, support = c(-Inf, Inf),
                           scale = c("auto", "data")) {
  # The checks run here, not within new_predictive_model(), so that errors name the call of this function.
  if (!is.numeric(support) || length(support) != 2L || anyNA(support) || support[[1L]] >= support[[2L]]) {
    stop_input("support", "must be two numbers, the first the smaller, not ", show_value(support))
  }
  fields <- list(
    support = as.double(support), scale = check_choice(scale, "scale", c("auto", "data")),
    rho = check_rho(rho, "rho"), points = without_integer64(points),
    standardize = check_flag(standardize, "standardize"),
    permutations = check_count(permutations, "permutations", min = 0, max = 1e4),
    bandwidths = check_choice(bandwidths, "bandwidths", c("one", "each")),
    calibrate = check_flag(calibrate, "calibrate")
  )
  new_predictive_model("copula_density", fields)
}

#' @rdname predictive_models
#' @export
copula_regression <- function(formula, points = NULL, at = NULL, rho = NULL, rho_x = NULL, standardize = TRUE,
                              permutations = 10, bandwidths = c("each", "one"), calibrate = TRUE,
                              mean = c("auto", "linear", "smooth", "none"), method = c("conditional", "joint")) {
  # The checks run here, not within new_predictive_model(), so that errors name the call of this function.
  fields <- list(
    formula = check_formula(formula), mean = check_mean(mean),
    method = check_choice(method, "method", c("conditional", "joint")),
    points = check_points_frame(points), at = without_integer64(at),
    rho = check_rho(rho, "rho", 1L),
    rho_x = check_rho(rho_x, "rho_x"), standardize = check_flag(standardize, "standardize"),
    permutations = check_count(permutations, "permutations", min = 0, max = 1e4),
    bandwidths = check_choice(bandwidths, "bandwidths", c("each", "one")),
    calibrate = check_flag(calibrate, "calibrate")
  )
  new_predictive_model("copula_regression", fields)
}

#' @rdname predictive_models
#' @export
copula_classification <- function(formula, points = NULL, rho = NULL, rho_x = NULL, standardize = TRUE,
                                  permutations = 10, bandwidths = c("each", "one"), calibrate = TRUE,
                                  mean = c("auto", "linear", "smooth", "none")) {
  # The checks run here, not within new_predictive_model(), so that errors name the call of this function.
  fields <- list(
    formula = check_formula(formula), mean = check_mean(mean),
    points = check_points_frame(points), rho = check_rho(rho, "rho", 1L),
    rho_x = check_rho(rho_x, "rho_x"), standardize = check_flag(standardize, "standardize"),
    permutations = check_count(permutations, "permutations", min = 0, max = 1e4),
    bandwidths = check_choice(bandwidths, "bandwidths", c("each", "one")),
    calibrate = check_flag(calibrate, "calibrate")
  )
  new_predictive_model("copula_classification", fields)
}

#' @rdname predictive_models
#' @export
bayesian_bootstrap <- function() {
  new_predictive_model("bayesian_bootstrap")
}

check_rho <- function(rho, argument, length = NULL) {
  if (is.null(rho)) return(NULL)
  if (!is.numeric(rho) || is.data.frame(rho) || length(rho) == 0L || (!is.null(length) && length(rho) != length)) {
    stop_input(argument, "must be ", if (is.null(length)) "numbers" else "one number",
      " strictly between 0 and 1, or NULL, not ", show_value(rho))
  }
  bad <- which(is.na(rho) | rho <= 0 | rho >= 1)
  if (length(bad)) {
    stop_input(argument, "must be strictly between 0 and 1; it is ", show_value(rho[[bad[[1L]]]]),
      if (length(rho) > 1L) paste(" at position", bad[[1L]]))
  }
  as.double(rho)
}

check_points_frame <- function(points) {
  if (!is.null(points) && !is.data.frame(points)) {
    stop_input("points", "must be a data frame of covariates, or NULL, not ", show_value(points))
  }
  without_integer64(points)
}

model_words <- function(model) {
  number <- function(value) paste(format(signif(value, 4)), collapse = ", ")
  orders <- function() {
    if (model$permutations == 0) return("data in the order given")
    sprintf("averaged over %.0f orders of the data", model$permutations)
  }
  rho <- function() if (is.null(model$rho)) "rho chosen by prequential log score" else paste("rho =", number(model$rho))
  switch(model$kind,
    normal_mean = if (is.null(model$variance) && identical(model$prior, normal_mean()$prior)) {
      "normal mean, unknown variance; reference prior 1/variance"
    } else if (is.null(model$variance)) {
      sprintf("normal mean, unknown variance; prior: mean %s with weight %s, inverse gamma shape %s, rate %s",
        number(model$prior[["mean"]]), number(model$prior[["weight"]]), number(model$prior[["shape"]]),
        number(model$prior[["rate"]]))
    } else if (is.infinite(model$prior[["variance"]])) {
      sprintf("normal mean, variance %s; flat prior", number(model$variance))
    } else {
      sprintf("normal mean, variance %s; prior N(%s, %s)", number(model$variance), number(model$prior[["mean"]]),
        number(model$prior[["variance"]]))
    },
    copula_density = paste0("density by copula updates, ", rho(), "; ", orders(),
      if (!isTRUE(model$calibrate)) "; published settings"),
    copula_regression = paste0("regression by ", if (identical(model$method, "joint")) "joint ", "copula updates: ",
      deparse1(model$formula), ", ", rho(), "; ", orders()),
    copula_classification = paste0(
      "classification by copula updates: ", deparse1(model$formula), ", ", rho(), "; ", orders()
    ),
    pitman_yor = paste0(if (model$discount == 0) "Dirichlet process" else "Pitman-Yor process", ", concentration ",
      number(model$concentration), if (model$discount > 0) paste(", discount", number(model$discount))),
    gnedin = paste0("Gnedin's urn, gamma ", number(model$gamma)),
    bayesian_bootstrap = "Bayesian bootstrap (Polya's urn)"
  )
}

in_console.predictive_model <- function(x, ...) {
  cat("<predictive model> ", model_words(x), "\n", sep = "")
}
