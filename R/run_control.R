# What few users set of a sampler, as one list that all samplers share.

#' Settings of samplers that few users change
#'
#' For the argument `control` of [dp_mixture()], [bayes_logit()] and [topic_model()]. Each takes only its own settings.
#'
#' @param thin keep the draws of every `thin`-th sweep.
#' @param keep,start names of the quantities whose draws are kept, and how chains begin: see the sampler's help page.
#' @param moves whether sweeps also propose larger changes, such as to split and join components.
#' @param tolerance relative change below which a search for a mode ends; `NULL`: the sampler's default.
#' @param estimate for a search for modes: `"mode"`, or `"mean"` of the conditional posterior; see also [topic_model()].
#' @param missing what missing values of markers are: an `"error"`, or part of the `"model"`.
#' @param assay the assay that is read of an object with several, by name or number; `NULL`: `exprs`, or else the first.
#' @param sparse whether the design of a regression is a sparse matrix, or a sparse matrix of more predictors.
#' @param prior_only whether draws come from the prior alone.
#' @param ... must be empty: a misspelt setting is an error.
#' @inheritParams computing_arguments
#' @return A list of class `"warp_control"`.
#' @examples
#' x <- cbind(a = c(rnorm(100), rnorm(100, 5)))
#' dp_mixture(x, components = 4, iter = 100, seed = 1, threads = 2, control = warp_control(thin = 2))
#' @export
warp_control <- function(thin = 1, keep = NULL, start = NULL, moves = TRUE, tolerance = NULL,
                         estimate = c("mode", "mean"), missing = c("error", "model"), assay = NULL, sparse = FALSE,
                         prior_only = FALSE, precision = c("double", "single"), devices = NULL, cluster = NULL,
                         checkpoint = NULL, checkpoint_every = 60, ...) {
  check_dots_empty(...)
  control <- mget(setdiff(names(formals(warp_control)), "..."))
  control$estimate <- check_choice(estimate, "estimate", c("mode", "mean"))
  control$missing <- check_choice(missing, "missing", c("error", "model"))
  control$precision <- check_precision(precision)
  for (name in c("moves", "prior_only")) control[[name]] <- check_flag(control[[name]], name)
  structure(control, class = "warp_control")
}

# The settings as a list, checked again, because it may have been changed. `takes` names those that the sampler of the
# user's call has; the others must have their defaults.
check_control <- function(control, takes) {
  if (is.null(control)) control <- warp_control()
  must_be(inherits(control, "warp_control"), "control", "made by warp_control()", control)
  control <- unclass(do.call(warp_control, unclass(control)))
  is_default <- mapply(identical, control, unclass(warp_control())[names(control)])
  others <- setdiff(names(control)[!is_default], takes)
  if (length(others)) {
    stop_input("control", sprintf("sets `%s`, which this sampler does not have. It has %s", others[[1L]],
      list_some(takes, 20L)))
  }
  control
}
