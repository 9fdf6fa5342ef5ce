# The joint method of a regression. For the compiled loops it is a density of several variables, the response last. All
# other code sees the response given the covariates, as with the conditional method.

#' The joint method of a copula regression
#'
#' [`copula_regression(method = "joint")`][copula_regression] models the covariates and the response together, as
#' [copula_density()] models several variables, and predicts the response given the covariates. It is one of the two
#' regressions of Fong, Holmes and Walker (2023). The other one, `method = "conditional"`, is the default.
#'
#' Both methods choose `rho` of the response and `rho_x` of the covariates by the prequential score of the response
#' given the covariates, and both can have a mean function beneath their copulas. They differ in three ways.
#' \itemize{
#'   \item Weights: an observation weighs more at close covariates. How close is measured by the predicted distribution
#'     of the covariates in the joint method, and by the normal distribution in the conditional one.
#'   \item Resamples: the joint method draws covariates from their predicted density. The conditional method draws
#'     those of the data again, with weights of a Bayesian bootstrap.
#'   \item Covariates: the joint method needs numeric ones, since a factor has no density. `summary()` names a covariate
#'     with few distinct values. The order of the covariates in `formula` matters a little.
#' }
#' With `calibrate = FALSE` it is the published method with a bandwidth for each variable. Their predictions for the
#' LIDAR data and ours differ as averages over ten orders of the data do (`bench/predictive-joint.R`).
#'
#' @section Which method:
#' The table is from 200 data sets of 60 values and 100 data sets of 200 (`bench/predictive-joint.R`): how often 90%
#' intervals cover the mean at five points, and the log score of new observations, joint less conditional, with its
#' standard error. "Published" stands for `calibrate = FALSE`.
#'
#' | mean | values | settings | joint | conditional | score |
#' |---|---|---|---|---|---|
#' | sine of a uniform covariate | 60 | published | 87% | 89% | 0.009 (0.002) |
#' | log of a lognormal covariate | 60 | published | 89% | 79% | 0.063 (0.006) |
#' | product of two covariates, r = 0.8 | 60 | published | 75% | 84% | 0.018 (0.003) |
#' | sine | 200 | published | 82% | 90% | 0.003 (0.002) |
#' | sine | 200 | default | 90% | 90% | -0.0001 (below 0.0001) |
#'
#' * Prefer the joint method to predict new observations from numeric covariates, above all if these are skewed.
#' * Prefer the conditional method for factors and covariates with few values, and for intervals with several covariates
#'   and published settings: the joint ones were 0.67 times as wide, too narrow.
#' * With a mean function beneath, which is the default, their intervals of the sine hardly differed.
#' * The joint method took 1.6 to 2.4 times as long, and every covariate adds to that.
#'
#' @references
#' Fong, E., Holmes, C. and Walker, S. G. (2023). Martingale posterior distributions. *Journal of the Royal Statistical
#' Society B* 85, 1357-1391. \doi{10.1093/jrsssb/qkad005}
#' @seealso [predictive_models], [predictive_resample()]
#' @examples
#' model <- copula_regression(dist ~ speed, data.frame(speed = c(10, 20)), rho = 0.7, rho_x = 0.6,
#'   method = "joint")
#' fit <- predictive_resample(cars, model, horizon = 200, draws = 50, seed = 1, threads = 2)
#' quantile(fit)
#' @name joint_regression
NULL

is_joint <- function(fit) identical(fit$model$method, "joint")

# What the loops read: data, points and bandwidths.
loop_data <- function(fit) {
  data <- fit$data
  if (!is_joint(fit)) return(data)
  list(binary = FALSE, y = unname(cbind(data$x, data$y)), x = matrix(0, nrow(data$y), 0L), given = ncol(data$x))
}

loop_points <- function(fit, at) {
  if (!is_joint(fit)) return(at[c("y", "x")])
  list(y = unname(cbind(at$x, at$y)), x = matrix(0, nrow(at$y), 0L))
}

# `bandwidth`: vectors, or matrices with a column for each bandwidth.
loop_bandwidth <- function(fit, bandwidth) {
  if (!is_joint(fit)) return(bandwidth)
  list(rho = unname(rbind(as.matrix(bandwidth$rho_x), as.matrix(bandwidth$rho))), rho_x = numeric())
}

# The prequential fit. In the joint method the score is that of the response given the covariates.
prequential <- function(fit, bandwidth, run) {
  native(C_predictive_fit, loop_data(fit), loop_bandwidth(fit, bandwidth), fit$order, run)
}

# The distribution function of the response given the covariates, and by how much its density has grown, from a state:
# arrays of points x coordinates, or of points x coordinates x orders or draws.
response_state <- function(fit, state) {
  if (!is_joint(fit)) return(state)
  last <- dim(state$gain)[[2L]]
  coordinate <- function(value, j) {
    if (length(dim(value)) == 3L) value[, j, , drop = FALSE] else value[, j, drop = FALSE]
  }
  list(conditional = coordinate(state$conditional, last),
    gain = coordinate(state$gain, last) / coordinate(state$gain, last - 1L))
}

# Covariates need a density.
check_joint <- function(frame, terms) {
  for (name in covariate_names(frame, terms)) {
    kind <- stats::.MFclass(frame[[name]])
    if (kind %in% c("factor", "ordered", "character", "logical")) {
      stop_input("method", "is \"joint\", which models a density of the covariates, and ", dQuote(name, FALSE),
        " has levels: use the method \"conditional\"")
    }
  }
}

joint_words <- function(fit) {
  if (!is_joint(fit)) return(NULL)
  distinct <- apply(fit$data$x, 2L, function(x) length(unique(x)))
  few <- which(distinct <= min(20, fit$n / 2))
  if (length(few) == 0L) return(NULL)
  sprintf(paste("%s has only %d distinct values, and the joint method models a density of it: method = \"conditional\"",
    "does not."), colnames(fit$data$x)[[few[[1L]]]], distinct[[few[[1L]]]])
}
