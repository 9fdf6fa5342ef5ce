# The generic continue(), which runs more sweeps of a fit. Its methods are in the topics' files.

#' Continue a fit
#'
#' Runs more sweeps of every chain. The result is the same, to the last bit, as one run of the whole length gives.
#'
#' If a topic model has the default warm-up and you add at least as many sweeps as it has, all sweeps so far become
#' warm-up.
#'
#' @param fit a fit from [dp_mixture()], [topic_model()], [bayes_logit()] or [predictive_resample()].
#' @param more how many more sweeps each chain runs; steps of Bayesian EM or of a martingale posterior's horizon.
#' @param warmup for a topic model: sweeps not used: the present warm-up, or at least the number of sweeps so far.
#' @param ... must be empty.
#' @return The longer fit, of the same class. Errors are those of the function that made the fit.
#' @seealso [drop_warmup()], and [resume()] for a run that was killed.
#' @examples
#' x <- cbind(a = c(rnorm(200), rnorm(100, 6)), b = rnorm(300))
#' fit <- dp_mixture(x, components = 4, iter = 50, seed = 1, threads = 2)
#' longer <- continue(fit, 50, threads = 2)
#' @export
continue <- function(fit, more, ...) {
  check_present(!missing(more) || "iter" %in% names(list(...)), "more")
  UseMethod("continue")
}

#' @export
continue.default <- function(fit, more, ...) {
  check_present(!missing(fit), "fit")
  stop_input("fit", "must come from dp_mixture(), topic_model(), bayes_logit() or predictive_resample(), not ",
    show_value(fit))
}
