# More sweeps of a fit: the generic. Its methods are in the topics' files.

#' Continue a fit
#'
#' Runs more sweeps of every chain, or more steps of every resample. The result is the same, to
#' the last bit, as that of one run of the whole length.
#'
#' @param fit a fit: from [dp_mixture()], [topic_model()], [bayes_logit()] or [predictive_resample()].
#' @param iter how many more sweeps each chain runs, at most how many more steps of Bayesian EM each start makes, or
#'   by how many steps the horizon of each resample grows.
#' @param ... must be empty: a misspelt argument is an error.
#' @seealso [drop_warmup()], which makes the warm-up longer, and [resume()] for a run that was killed.
#' @return The longer fit, of the same class. Errors are those of the function that made
#'   the fit.
#' @examples
#' x <- cbind(a = c(rnorm(200), rnorm(100, 6)), b = rnorm(300))
#' fit <- dp_mixture(x, components = 4, iter = 50, seed = 1, threads = 2)
#' longer <- continue(fit, 50, threads = 2)
#' at_once <- dp_mixture(x, components = 4, iter = 100, warmup = 25, seed = 1, threads = 2)
#' identical(longer$draws, at_once$draws)
#' @export
continue <- function(fit, iter, ...) {
  UseMethod("continue")
}

#' @export
continue.default <- function(fit, iter, ...) {
  stop_input("fit", "must come from dp_mixture(), topic_model(), bayes_logit() or predictive_resample(), not ",
    show_value(fit))
}
