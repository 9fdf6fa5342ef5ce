#' Regressions and classifications by copulas as predictive models
#'
#' Nonparametric models for [predictive_resample()], of a response given covariates or of a response with two classes.
#' Observations are mixed in as in [copula_density()], and those with close covariates weigh more, through copulas of
#' correlation `rho_x`. Copulas predict what a mean function (of a classification: its log odds) leaves. `mean = "auto"`
#' takes straight lines, natural cubic splines of each covariate or none, whichever predicts best.
#'
#' @section The joint method:
#' `method = "joint"` models the covariates and the response together (Fong, Holmes and Walker 2023,
#' \doi{10.1093/jrsssb/qkad005}). Prefer it to predict new observations from skewed covariates. It needs numeric
#' covariates and takes about twice as long.
#'
#' @param formula response and covariates, as for [stats::lm()]. The levels of an ordered factor are numbered.
#' @param points where distributions are evaluated: a data frame with the covariates. `NULL` takes those of the data.
#' @param at values of the response where its distribution is evaluated. `NULL` takes 50 over the range of the data.
#' @param rho the correlation of the copula of the response, as in [copula_density()].
#' @param rho_x the same for the covariates: one number, or one for each covariate or each of their columns.
#' @param bandwidths if `rho_x` is chosen: `"one"` for all covariates, or one for `"each"`.
#' @param calibrate whether `rho` stays within \[0.7, 0.999\] and there is a mean function by default.
#' @param mean the mean function: `"auto"`, `"linear"`, `"smooth"`, `"none"`, or a formula such as `~ poly(x, 2)`.
#' @param method `"conditional"` models the response given the covariates, `"joint"` both.
#' @inheritParams copula_density
#' @return A list of class `predictive_model`.
#' @examples
#' model <- copula_regression(dist ~ speed, data.frame(speed = c(10, 20)), rho = 0.7, rho_x = 0.6)
#' fit <- predictive_resample(cars, model, horizon = 200, draws = 50, seed = 1, threads = 2)
#' quantile(fit)
#' @export
copula_regression <- function(formula, points = NULL, at = NULL, rho = NULL, rho_x = NULL, standardize = TRUE,
                              permutations = 10, bandwidths = c("each", "one"), calibrate = TRUE,
                              mean = c("auto", "linear", "smooth", "none"), method = c("conditional", "joint")) {
  kind <- c(conditional = "copula_regression", joint = "joint_regression")
  method <- check_choice(method, "method", names(kind))
  formula_model(kind[[method]], formula, points, rho, rho_x, standardize, permutations, bandwidths, calibrate, mean,
    at = given_data(at, "at"), method = method)
}

#' @rdname copula_regression
#' @export
copula_classification <- function(formula, points = NULL, rho = NULL, rho_x = NULL, standardize = TRUE,
                                  permutations = 10, bandwidths = c("each", "one"), calibrate = TRUE,
                                  mean = c("auto", "linear", "smooth", "none")) {
  formula_model("copula_classification", formula, points, rho, rho_x, standardize, permutations, bandwidths, calibrate,
    mean)
}

formula_model <- function(kind, formula, points, rho, rho_x, standardize, permutations, bandwidths, calibrate, mean,
                          ...) {
  must_be(is.null(points) || is.data.frame(points), "points", "a data frame of covariates, or NULL", points)
  formula <- check_formula(formula)
  mean <- if (inherits(mean, "formula")) check_formula(mean, "mean", response = FALSE) else {
    check_choice(mean, "mean", c("auto", "linear", "smooth", "none"))
  }
  copula_model(kind, formula = formula, mean = mean, points = given_data(points, "points"),
    rho_x = check_rho(rho_x, "rho_x"), ..., rho = rho, length = 1L, standardize = standardize,
    permutations = permutations, bandwidths = bandwidths, choices = c("each", "one"), calibrate = calibrate)
}

formula_kind <- function(what, ...) {
  copula_kind(
    words = function(model) copula_words(model, paste0(what, " copula updates: ", deparse1(model$formula))),
    read = formula_data, choose = choose_mean, unplaced = unplaced_trend, new_points = formula_new_points,
    # Without the lower bound, responses that do not depend on covariates choose the smallest rho: bands are too narrow.
    ends = function(fit) {
      bounded <- isTRUE(fit$model$calibrate) && is.null(fit$data$start)
      if (bounded) c(calibrated_ends[[1L]], rho_ends[[2L]]) else rho_ends
    }, ...
  )
}

regression_kind <- function(what = "regression by", ...) {
  formula_kind(what, read_response = read_numbers, line = regression_line,
    predicted = function(fit, start) {
      cdf <- matrix(start$conditional, values_each(fit))[-seq_along(fit$response_at), , drop = FALSE]
      c(copula_predictions(fit, start), list(mean0 = grid_means(fit$inner_at, cdf) + fit$at$trend))
    },
    base = function(fit, at) {
      if (is.null(fit$trend)) at$density else stats::dnorm(unplaced_trend(fit, at)) / fit$standard$scale
    },
    own = regression_quantities, places = regression_points, simulate = simulate_regression,
    types = c("mean", "density", "cdf", "log_density"), picture = regression_picture,
    reasons = list(smoothed_mean_reasons, small_reason, large_reason, covariates_reason, mean_reason, beyond_reason,
      regression_checks), ...)
}

add_kind("copula_regression", regression_kind)

add_kind("joint_regression", function() {
  kind <- regression_kind("regression by joint")
  kind[c("loops", "check_covariates", "reasons")] <- list(joint_loops, check_joint, c(kind$reasons, joint_reason))
  kind
})

add_kind("copula_classification", function() {
  formula_kind("classification by", line = classes_line, arguments = c("points", "probability"),
    base = function(fit, at) NULL,
    read_response = function(fit, response, x) {
      classes <- two_classes(response, "y")
      with_parts(fit, classes = classes$labels, data = list(binary = TRUE, y = matrix(classes$y), x = x))
    },
    rows = function(fit, run) {
      start <- if (is.null(fit$data$start)) numeric(fit$n) else fit$data$start
      matrix(average_at(fit, list(y = matrix(start), x = fit$data$x), run)$conditional, fit$n, fit$count)
    },
    predicted = function(fit, start) list(probability0 = drop(start$conditional)),
    values = function(fit) list(probability = draws_by_points(fit$state$conditional, 1L)),
    own = function(fit, functional) {
      if (!is.null(functional)) stop_input("functional", "must be NULL or a function for classification")
      indexed("probability", fit$probability)
    },
    simulate = function(fit, r) {
      p <- fit$probability[r, ]
      factor(fit$classes[1L + (stats::runif(length(p)) < p)], fit$classes)
    },
    types = c("probability", "class", "log_density"), picture = classes_picture,
    reasons = list(smoothed_mean_reasons, small_reason, large_reason, covariates_reason, mean_reason, beyond_reason))
})

read_numbers <- function(fit, response, x) {
  if (!is.numeric(response) || !is.null(dim(response))) {
    is_class <- is.factor(response) || is.character(response) || is.logical(response)
    stop_input("y", "must have a numeric response, not ", show_value(response),
      if (is_class) ": use copula_classification() for classes")
  }
  y <- matrix(as.double(response))
  check_gini(y, fit$functional)
  standard <- standard_of(y, fit$model$standardize, "y")
  at <- fit$model$at
  fit <- with_parts(fit, standard = standard, data = list(binary = FALSE, y = apply_standard(y, standard), x = x),
    response_at = if (!is.null(at)) sort(unique(check_numeric_vector(at, "at"))) else {
      seq(min(y) - standard$scale, max(y) + standard$scale, length.out = 50L)
    })
  with_parts(fit, inner_at = inner_response(fit))
}

check_joint <- function(frame, terms) {
  classes <- vapply(frame[covariate_names(frame, terms)], stats::.MFclass, "")
  name <- names(classes)[classes %in% c("factor", "ordered", "character", "logical")]
  if (length(name)) {
    stop_input("method", "is \"joint\", which models a density of the covariates, and ", dQuote(name[[1L]], FALSE),
      " has levels: use the method \"conditional\"")
  }
}

regression_points <- function(fit) {
  points <- fit$points[rep(seq_len(nrow(fit$points)), each = length(fit$response_at)), , drop = FALSE]
  points[[deparse1(fit$model$formula[[2L]])]] <- rep(fit$response_at, nrow(fit$points))
  rownames(points) <- NULL
  points
}

simulate_regression <- function(fit, r) {
  last <- dim(fit$state$conditional)[[2L]]
  cdf <- matrix(fit$state$conditional[, last, r], values_each(fit))[-seq_along(fit$response_at), , drop = FALSE]
  u <- stats::runif(ncol(cdf))
  vapply(seq_along(u), function(i) invert_cdf(fit$inner_at, cdf[, i], u[[i]]), 0) + fit$at$trend
}

formula_new_points <- function(fit, newdata, type) {
  must_be(is.null(newdata) || is.data.frame(newdata), "newdata", "a data frame", newdata)
  points <- if (type %in% c("density", "cdf")) regression_points(fit) else fit$points
  if (!is.null(newdata)) points <- newdata
  covariates <- point_covariates(fit, points, "newdata")
  design <- mean_design(fit, covariates, points, "newdata")
  line <- record(fit)$line
  if (type == "mean") return(list(at = grid_points(fit, covariates, design, numeric())))
  if (type %in% c("probability", "class")) return(list(at = line$points(fit, covariates, design)))
  response <- tryCatch(eval(fit$model$formula[[2L]], points, environment(fit$model$formula)),
    error = function(error) stop_input("newdata", "lacks the response: ", because = error))
  if (is.null(fit$classes)) {
    response <- check_numeric_vector(response, "newdata")
    return(list(at = formula_points(fit, covariates, design, rbind(response))))
  }
  label <- as.character(response)
  known <- label %in% fit$classes
  if (length(label) != nrow(points) || !all(known)) {
    stop_input("newdata", "has a response in row ", which(!known)[[1L]], " that is none of the classes")
  }
  list(at = line$points(fit, covariates, design), outcome = as.double(label == fit$classes[[2L]]))
}
